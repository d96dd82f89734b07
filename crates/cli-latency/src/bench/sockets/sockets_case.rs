//! A column of `hairpin bench sockets`.

use clap::ValueEnum;
use hairpin_measure::{Clock, Kind, Setting};
use hairpin_reactor::Wait;

use crate::bench::bench_case::{self, Load};

/// The measured program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    /// sockperf; the server and the client are accelerated or not.
    Sockperf([bool; 2]),
    /// Frames of the same length over the minimal AF_XDP socket: the lower bound.
    MinimalEcho,
    /// The same, with what any program with messages of its own does: it copies each message into
    /// the frame and out of it, and sums the bytes that a checksum covers.
    CopyingEcho,
}

impl Program {
    /// sockperf over kernel sockets.
    pub(super) const KERNEL: Self = Self::Sockperf([false, false]);
    pub(super) const CLIENT: Self = Self::Sockperf([false, true]);
    pub(super) const SERVER: Self = Self::Sockperf([true, false]);
    pub(super) const BOTH: Self = Self::Sockperf([true, true]);

    /// Returns the case and the transport in a results file.
    pub(super) const fn names(self) -> [&'static str; 2] {
        match self {
            Self::KERNEL => ["sockperf", "kernel"],
            Self::CLIENT => ["sockperf, client accelerated", "preload"],
            Self::SERVER => ["sockperf, server accelerated", "preload"],
            Self::Sockperf(_) => ["sockperf", "preload"],
            Self::MinimalEcho => ["minimal echo", "xdp"],
            Self::CopyingEcho => ["copying echo", "xdp"],
        }
    }
}

/// The protocol of the program's sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Protocol {
    /// Datagrams
    Udp,
    /// A connection
    Tcp,
}

impl Protocol {
    pub(super) const ALL: [Self; 2] = [Self::Udp, Self::Tcp];

    /// Returns the name in a results file.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
        }
    }

    /// Returns the length of the Ethernet, IPv4 and UDP or TCP headers; TCP with timestamps.
    pub(super) const fn headers(self) -> usize {
        match self {
            Self::Udp => 14 + 20 + 8,
            Self::Tcp => 14 + 20 + 32,
        }
    }
}

/// A program, its protocol, its wait and the message size.
#[derive(Debug, Clone, Copy)]
pub(super) struct SocketsCase {
    pub(super) program: Program,
    pub(super) protocol: Protocol,
    pub(super) wait: Wait,
    pub(super) size: usize,
    /// The duration of a round of sockperf, in seconds.
    pub(super) seconds: u32,
    /// The number of samples of an echo. sockperf runs for a time instead.
    pub(super) load: Load,
}

impl SocketsCase {
    /// Returns the setting of its rows.
    pub(super) fn setting(&self) -> Setting {
        let [case, transport] = self.program.names();
        Setting {
            bench: "sockets".to_owned(),
            case: case.to_owned(),
            feed: None,
            transport: transport.to_owned(),
            wait: self.wait.to_string(),
            protocol: self.protocol.name().to_owned(),
            size_bytes: self.size as u64,
            interval_us: 0,
            kind: Kind::Rtt,
            clock: match hairpin_host::Clock::new().source() {
                hairpin_host::ClockSource::Tsc => Clock::Tsc,
                hairpin_host::ClockSource::Kernel => Clock::Monotonic,
            },
            rounds: 1,
        }
    }
}

impl bench_case::BenchCase for SocketsCase {
    fn load(&self) -> Load {
        self.load
    }

    fn with_load(&self, load: Load) -> Self {
        Self { load, ..*self }
    }

    fn wait(&self) -> Wait {
        self.wait
    }

    fn name(&self) -> String {
        let [case, transport] = self.program.names();
        let Self { protocol, wait, size, .. } = self;
        format!("{case}, {transport}, {}, wait {wait}, {size} bytes", protocol.name())
    }
}
