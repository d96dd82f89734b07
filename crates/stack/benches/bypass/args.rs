//! The benchmark's command line.

use std::path::PathBuf;

use clap::ValueEnum;

/// A transport to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    /// Kernel UDP sockets
    KernelUdp,
    /// A minimal AF_XDP socket
    Minimal,
    /// Raw frames of a dedicated interface
    Raw,
    /// Raw frames of a stack, in addition to its sockets
    RawShared,
    /// UDP sockets that bypass the kernel
    Udp,
    /// Kernel TCP sockets
    KernelTcp,
    /// TCP connections taken over from the kernel
    Tcp,
}

impl Transport {
    /// Returns `true` if messages take the kernel's path.
    pub(crate) const fn is_kernel(self) -> bool {
        matches!(self, Self::KernelUdp | Self::KernelTcp)
    }

    /// Returns the name on the command line and in tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::KernelUdp => "kernel-udp",
            Self::Minimal => "minimal",
            Self::Raw => "raw",
            Self::RawShared => "raw-shared",
            Self::Udp => "udp",
            Self::KernelTcp => "kernel-tcp",
            Self::Tcp => "tcp",
        }
    }
}

/// Measure half round trips of 64-byte messages over a veth, through the kernel and bypassing it
#[derive(clap::Parser, Debug)]
pub(crate) struct BenchArgs {
    /// Rounds of each transport and mode
    #[arg(long, value_name = "N", default_value_t = 21)]
    pub(crate) rounds: usize,

    /// Round trips per round
    #[arg(long, value_name = "N", default_value_t = 20_000,
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) samples: u32,

    /// Transports to measure [default: all]
    #[arg(long = "way", value_name = "WAY", value_enum, value_delimiter = ',')]
    pub(crate) transport: Vec<Transport>,

    /// Frames of the UMEM, except for `minimal` and the kernel [default: 2048]
    #[arg(long, value_name = "N")]
    pub(crate) frames: Option<u32>,

    /// Write the results to FILE as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Do N round trips over WAY on one thread, from both ends, and nothing else
    #[arg(long, num_args = 2, value_names = ["WAY", "N"])]
    count: Option<Vec<String>>,

    /// With `--count tcp`: poll N connections that are taken over with a `Poller`; one is active
    #[arg(long, value_name = "N", requires = "count",
          value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub(crate) connections: Option<u32>,

    /// Take a TCP connection over and hand it back N times in each mode, and nothing else
    #[arg(long, value_name = "N")]
    pub(crate) transitions: Option<u32>,

    /// Send 16 GiB N times to a kernel peer: without a program, and in each mode through the
    /// kernel and over a connection that was taken over; and nothing else
    #[arg(long, value_name = "N")]
    pub(crate) bulk: Option<u32>,

    /// Added by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

impl BenchArgs {
    /// Returns the transports to measure.
    pub(crate) fn transports(&self) -> &[Transport] {
        if self.transport.is_empty() { Transport::value_variants() } else { &self.transport }
    }

    /// Returns the transport and the number of round trips to count, if requested.
    pub(crate) fn count(&self) -> Option<(Transport, u32)> {
        let [transport, count] = self.count.as_deref()? else { return None };
        let transport =
            Transport::from_str(transport, false).expect("--count requires a transport");
        Some((transport, count.parse().expect("--count requires a number")))
    }
}
