//! Counters of TCP connections: messages and bytes by path, takeovers, and handbacks by cause.

use std::fmt::Display;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use hairpin_mapped::{CounterWriter, Unit};
use hairpin_stack::HandbackReason;

use crate::log::{self, Level};

macro_rules! counters {
    ($($name:ident $group:literal $text:literal $unit:ident,)*) => {
        /// A counter of the process.
        #[derive(Debug, Clone, Copy)]
        pub(crate) enum Counter {
            $(#[doc = $text] $name,)*
        }

        const COUNTERS: &[(&str, &str, Unit)] = &[$(($group, $text, Unit::$unit),)*];
    };
}

counters! {
    ReceivedBypass "tcp" "received_bypass" Count,
    ReceivedBypassBytes "tcp" "received_bypass_bytes" Bytes,
    ReceivedKernel "tcp" "received_kernel" Count,
    ReceivedKernelBytes "tcp" "received_kernel_bytes" Bytes,
    SentBypass "tcp" "sent_bypass" Count,
    SentBypassBytes "tcp" "sent_bypass_bytes" Bytes,
    SentKernel "tcp" "sent_kernel" Count,
    SentKernelBytes "tcp" "sent_kernel_bytes" Bytes,
    TakenOver "connections" "taken_over" Count,
    Busy "connections" "busy" Count,
    Refused "connections" "refused" Count,
    Bypassing "connections" "bypassing" Count,
}

macro_rules! causes {
    ($($name:ident $counter:literal $text:literal,)*) => {
        /// The cause of a handback.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Cause {
            $(#[doc = $text] $name,)*
        }

        const CAUSES: &[(&str, &str)] = &[$(($counter, $text),)*];

        impl Cause {
            /// Returns the cause with this text.
            pub(crate) fn from_text(text: &str) -> Self {
                match text {
                    $($text => Self::$name,)*
                    _ => Self::Other,
                }
            }
        }
    };
}

causes! {
    Close "close" "the program closes it",
    Closed "closed_unseen" "the program has closed it by a direct system call",
    Shutdown "shutdown" "the program shuts it down",
    Exit "exit" "the process exits",
    Fork "fork" "the process forks",
    Exec "exec" "the process runs another program",
    Passed "passed" "the descriptor is passed to another process",
    Duplicated "duplicated" "the descriptor is duplicated",
    Stdio "stdio" "a stream uses it",
    Splice "splice" "sendfile or splice uses it",
    IoUring "io_uring" "the process uses io_uring",
    Flag "flag" "a flag is not supported",
    Option "option" "the program sets an option",
    Other "other" "the program needs the kernel",
    Fin "fin" "the peer has closed its side",
    Reset "reset" "the peer has reset the connection",
    Idle "idle" "the program does not read, or nothing arrives",
    Bulk "bulk" "bulk data, for which the kernel has segmentation offload",
    Crowded "crowded" "other programs use the cores, and a busy-polling thread loses its own",
    Timeouts "timeouts" "two retransmission timeouts in a row",
    ClosedWindow "closed_window" "window closed for 5 ms",
    Path "path" "the path has changed",
    Keeper "keeper" "the keeper has ended",
    FramesLost "frames_lost" "all received frames were dropped",
    NothingArrived "nothing_arrived" "no frame has arrived on the interface",
    Segment "segment" "a segment that only the kernel processes",
    Beside "beside" "the program writes to it by calls that the library does not see",
}

impl Cause {
    /// Returns the cause of a handback by the connection itself.
    pub(crate) fn from_reason(reason: Option<HandbackReason>) -> Self {
        match reason {
            None => Self::Idle,
            Some(HandbackReason::Fin) => Self::Fin,
            Some(HandbackReason::Reset) => Self::Reset,
            Some(HandbackReason::Bulk) => Self::Bulk,
            Some(HandbackReason::Timeouts) => Self::Timeouts,
            Some(HandbackReason::ClosedWindow) => Self::ClosedWindow,
            Some(HandbackReason::Path) => Self::Path,
            Some(HandbackReason::FramesLost) => Self::FramesLost,
            Some(HandbackReason::NothingArrived) => Self::NothingArrived,
            Some(_) => Self::Segment,
        }
    }

    /// Returns the name of its counter.
    pub(crate) fn name(self) -> &'static str {
        CAUSES[self as usize].0
    }

    /// Returns `true` for causes that are likely to return soon.
    pub(crate) fn is_trouble(self) -> bool {
        use Cause::{Bulk, ClosedWindow, FramesLost, NothingArrived, Path, Segment, Timeouts};
        matches!(
            self,
            Bulk | ClosedWindow | FramesLost | NothingArrived | Path | Segment | Timeouts
        )
    }
}

static VALUES: [AtomicU64; COUNTERS.len()] = [const { AtomicU64::new(0) }; COUNTERS.len()];
static HANDBACKS: [AtomicU64; CAUSES.len()] = [const { AtomicU64::new(0) }; CAUSES.len()];
/// The causes that were logged.
static LOGGED: AtomicU32 = AtomicU32::new(0);

/// Adds to a counter.
#[inline]
pub(crate) fn add(counter: Counter, count: u64) {
    VALUES[counter as usize].fetch_add(count, Ordering::Relaxed);
}

/// The messages of a connection that bypassed the kernel since the last
/// [`report`](Self::report). They are counted under the connection's lock, without atomic
/// operations.
#[derive(Debug, Default)]
pub(crate) struct Unreported {
    received: Traffic,
    sent: Traffic,
    /// The messages received and sent that were reported.
    reported: [u64; 2],
}

#[derive(Debug, Default)]
struct Traffic {
    messages: u64,
    bytes: u64,
}

impl Traffic {
    #[inline]
    fn count(&mut self, bytes: usize) {
        self.messages += u64::from(bytes > 0);
        self.bytes += bytes as u64;
    }

    fn report(&mut self, [messages, bytes]: [Counter; 2]) {
        let Self { messages: count, bytes: total } = std::mem::take(self);
        add(messages, count);
        add(bytes, total);
    }
}

impl Unreported {
    /// Counts a message received, unless it is empty.
    #[inline]
    pub(crate) fn count_received(&mut self, bytes: usize) {
        self.received.count(bytes);
    }

    /// Counts a message sent, unless it is empty.
    #[inline]
    pub(crate) fn count_sent(&mut self, bytes: usize) {
        self.sent.count(bytes);
    }

    /// Returns all messages of the connection, received and sent.
    pub(crate) fn total(&self) -> [u64; 2] {
        [self.reported[0] + self.received.messages, self.reported[1] + self.sent.messages]
    }

    /// Adds them to the counters of the process.
    pub(crate) fn report(&mut self) {
        self.reported = self.total();
        self.received.report([Counter::ReceivedBypass, Counter::ReceivedBypassBytes]);
        self.sent.report([Counter::SentBypass, Counter::SentBypassBytes]);
    }
}

impl Drop for Unreported {
    fn drop(&mut self) {
        self.report();
    }
}

/// Counts a handback, and logs the first of its cause.
pub(crate) fn count_handback(cause: Cause, connection: &dyn Display) {
    VALUES[Counter::Bypassing as usize].fetch_sub(1, Ordering::Relaxed);
    HANDBACKS[cause as usize].fetch_add(1, Ordering::Relaxed);
    let bit = 1 << cause as u32;
    let is_first = LOGGED.fetch_or(bit, Ordering::Relaxed) & bit == 0;
    let level = if is_first { Level::Fallback } else { Level::All };
    let text = CAUSES[cause as usize].1;
    log::line(level, format_args!("{connection} returns to the kernel: {text}"));
}

/// Returns a number that changes with each message.
pub(crate) fn messages() -> u64 {
    messages_by_path().iter().sum()
}

/// Returns the messages that bypassed the kernel, and the others.
pub(crate) fn messages_by_path() -> [u64; 2] {
    use Counter::{ReceivedBypass, ReceivedKernel, SentBypass, SentKernel};
    [[ReceivedBypass, SentBypass], [ReceivedKernel, SentKernel]].map(|counters| {
        counters.iter().map(|it| VALUES[*it as usize].load(Ordering::Relaxed)).sum()
    })
}

/// Resets what a forked child does not have.
pub(crate) fn forget() {
    VALUES.iter().chain(&HANDBACKS).for_each(|value| value.store(0, Ordering::Relaxed));
}

/// Writes the counters to the page that `hairpin stat` reads.
pub(crate) fn write(writer: &mut CounterWriter<'_>) {
    for (at, &(group, name, unit)) in COUNTERS.iter().enumerate() {
        let value = VALUES[at].load(Ordering::Relaxed);
        if at == Counter::Bypassing as usize {
            writer.gauge(group, name, unit, value);
        } else {
            writer.counter(group, name, unit, value);
        }
    }
    for (value, &(name, _)) in HANDBACKS.iter().zip(CAUSES) {
        writer.counter("handbacks", name, Unit::Count, value.load(Ordering::Relaxed));
    }
}
