//! Counters of the datagrams by path, and the page that `hairpin stat` reads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::Thread;
use std::time::Duration;

use hairpin_mapped::{AnswerFile, CounterPage, CounterWriter, Unit};
use hairpin_stack::Stack;
use hairpin_time::Instant;

use crate::log::{self, Level};
use crate::{clock, guard, process, slots, socket_table, stream_counters, summary, unseen};

/// The datagrams and bytes of a socket by path.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PathCounters {
    pub(crate) received_bypass: u64,
    pub(crate) received_bypass_bytes: u64,
    pub(crate) received_kernel: u64,
    pub(crate) received_kernel_bytes: u64,
    pub(crate) sent_bypass: u64,
    pub(crate) sent_bypass_bytes: u64,
    pub(crate) sent_kernel: u64,
    /// Of those, datagrams whose next hop was not resolved yet.
    pub(crate) sent_unresolved: u64,
}

macro_rules! totals {
    ($($field:ident: $unit:ident,)*) => {
        /// The counters of closed sockets.
        #[derive(Debug, Default)]
        struct Totals {
            $($field: AtomicU64,)*
        }

        static CLOSED: Totals = Totals { $($field: AtomicU64::new(0),)* };

        impl PathCounters {
            fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }

            fn of_closed() -> Self {
                Self { $($field: CLOSED.$field.load(Ordering::Relaxed),)* }
            }

            /// Adds the counters of a socket that is being closed to the process's.
            pub(crate) fn close(&self) {
                $(CLOSED.$field.fetch_add(self.$field, Ordering::Relaxed);)*
            }

            fn write(&self, writer: &mut CounterWriter<'_>) {
                $(writer.counter("udp", stringify!($field), Unit::$unit, self.$field);)*
            }
        }
    };
}

totals! {
    received_bypass: Packets,
    received_bypass_bytes: Bytes,
    received_kernel: Packets,
    received_kernel_bytes: Bytes,
    sent_bypass: Packets,
    sent_bypass_bytes: Bytes,
    sent_kernel: Packets,
    sent_unresolved: Packets,
}

/// The sockets accelerated so far, and those returned to the kernel while open.
pub(crate) static ACCELERATED: AtomicU64 = AtomicU64::new(0);
pub(crate) static RETURNED: AtomicU64 = AtomicU64::new(0);
/// The sockets that stayed with the kernel although their address is on an interface.
pub(crate) static REFUSED: AtomicU64 = AtomicU64::new(0);

/// The interval of the page while values change, and otherwise.
const BUSY: Duration = Duration::from_millis(50);
const IDLE: Duration = Duration::from_secs(1);

static STARTED: AtomicBool = AtomicBool::new(false);
static THREAD: Mutex<Option<Thread>> = Mutex::new(None);
/// A socket is new, also if no counter shows it.
static NEW: AtomicBool = AtomicBool::new(true);

/// Starts the thread that updates the page and prints the stacks' events, once per process.
pub(crate) fn start() {
    if STARTED.swap(true, Ordering::Relaxed) {
        return;
    }
    // Before the first socket is accelerated: a question then waits for the thread.
    let answers = AnswerFile::create();
    if let Err(error) = &answers {
        let text =
            format_args!("hairpin stat --sockets shows wrong paths of this process: {error}");
        log::line(Level::Fallback, text);
    }
    let answers = answers.ok();
    process::set_answers(answers.as_ref());
    let thread = std::thread::Builder::new().name("hairpin-stat".to_owned());
    match thread.spawn(|| run(answers)) {
        Ok(handle) => {
            let thread = handle.thread().clone();
            // The lock may be held in a forked child, by a thread that does not exist.
            if let Ok(mut place) = THREAD.try_lock() {
                *place = Some(thread);
            }
        }
        Err(error) => {
            log::line(Level::Fallback, format_args!("cannot start the counters' thread: {error}"));
        }
    }
}

/// Makes the thread look soon for unseen waits for a socket that is accelerated from now on.
pub(crate) fn wake() {
    NEW.store(true, Ordering::Relaxed);
    if let Ok(thread) = THREAD.try_lock()
        && let Some(thread) = &*thread
    {
        thread.unpark();
    }
}

/// Allows another start, in a forked child.
pub(crate) fn forget() {
    STARTED.store(false, Ordering::Relaxed);
    unseen::forget();
}

fn run(mut answers: Option<AnswerFile>) {
    guard::enter_forever();
    process::block_signals();
    let command = std::fs::read_to_string("/proc/self/comm").unwrap_or_default();
    let title = format!("run {}", command.trim());
    let mut last = Snapshot::take();
    let page = CounterPage::create(&title, "sockets", |writer| last.write(writer));
    let mut page = match page {
        Ok(page) => page,
        Err(error) => {
            return log::line(Level::Fallback, format_args!("cannot publish counters: {error}"));
        }
    };
    process::set_page(&page);
    let mut is_searched = false;
    loop {
        let now = Snapshot::take();
        let changed = now.open.sum() != last.open.sum()
            || now.accelerated != last.accelerated
            || now.messages != last.messages;
        page.update(Instant::from_nanos(clock::now_ns()), |writer| now.write(writer));
        last = now;
        if let Some(answers) = &mut answers {
            let _ = answers.answer_if_asked(socket_table::text);
        }
        process::print_events();
        process::poll_left_frames();
        let is_due = unseen::is_due();
        process::leave_if(unseen::is_found_by_thread);
        summary::include_messages();
        let is_quiet = !changed && !NEW.swap(false, Ordering::Relaxed);
        // A program that waits unseen exchanges nothing.
        is_searched = is_quiet && (is_searched || is_due);
        std::thread::park_timeout(if is_searched { IDLE } else { BUSY });
    }
}

/// Returns the messages of this process so far: those that bypassed the kernel, and the others.
pub(crate) fn messages() -> [u64; 2] {
    let now = Snapshot::take();
    let udp = [
        now.open.received_bypass + now.open.sent_bypass,
        now.open.received_kernel + now.open.sent_kernel,
    ];
    let tcp = stream_counters::messages_by_path();
    [udp[0] + tcp[0], udp[1] + tcp[1]]
}

/// All values of the page.
struct Snapshot {
    open: PathCounters,
    sockets: u64,
    accelerated: u64,
    returned: u64,
    refused: u64,
    /// Those of TCP connections.
    messages: u64,
    /// The frames that the stacks have dropped, by cause.
    dropped: Vec<(&'static str, u64)>,
    dropped_tcp: Vec<(&'static str, u64)>,
}

/// The counters of dropped TCP frames.
const DROPPED_TCP: [&str; 5] =
    ["malformed", "wrong_checksum", "other_mac", "long_frames", "not_injected"];

/// Adds up the counters of the same name of all stacks.
fn sum_of_stacks<C: Iterator<Item = (&'static str, u64)>>(
    counters: impl Fn(&Stack) -> C,
) -> Vec<(&'static str, u64)> {
    let mut sum = Vec::new();
    for stack in process::open_stacks() {
        for (at, (name, value)) in counters(stack).enumerate() {
            match sum.get_mut(at) {
                None => sum.push((name, value)),
                Some((_, total)) => *total += value,
            }
        }
    }
    sum
}

impl Snapshot {
    fn take() -> Self {
        let mut open = PathCounters::of_closed();
        let mut sockets = 0;
        slots::for_each(|_, slot| {
            if let Some(socket) = slot.socket().as_deref() {
                open.add(&socket.counters);
                sockets += u64::from(socket.is_adopted());
            }
            if let Some(stream) = slot.stream.stream().as_deref_mut() {
                stream.unreported.report();
            }
        });
        Self {
            open,
            sockets,
            accelerated: ACCELERATED.load(Ordering::Relaxed),
            returned: RETURNED.load(Ordering::Relaxed),
            refused: REFUSED.load(Ordering::Relaxed),
            messages: stream_counters::messages(),
            dropped: sum_of_stacks(|stack| stack.drop_counters().iter()),
            dropped_tcp: sum_of_stacks(|stack| {
                let counters = stack.tcp_counters().iter();
                counters.filter(|(name, _)| DROPPED_TCP.contains(name))
            }),
        }
    }

    fn write(&self, writer: &mut CounterWriter<'_>) {
        self.open.write(writer);
        writer.gauge("sockets", "open", Unit::Count, self.sockets);
        writer.counter("sockets", "accelerated", Unit::Count, self.accelerated);
        writer.counter("sockets", "returned", Unit::Count, self.returned);
        writer.counter("sockets", "refused", Unit::Count, self.refused);
        stream_counters::write(writer);
        writer.counters("xdp.dropped", self.dropped.iter().copied());
        writer.counters("xdp.dropped_tcp", self.dropped_tcp.iter().copied());
    }
}

impl PathCounters {
    fn sum(&self) -> u64 {
        self.received_bypass + self.received_kernel + self.sent_bypass + self.sent_kernel
    }
}
