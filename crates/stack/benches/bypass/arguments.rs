//! The words of the benchmark.

use std::path::PathBuf;

use clap::ValueEnum;

/// A way for messages to travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// Sockets of the kernel
    KernelUdp,
    /// An AF_XDP socket with as little around it as can be
    Minimal,
    /// Raw frames of an interface of their own
    Raw,
    /// Raw frames of a stack, beside its other sockets
    RawShared,
    /// UDP sockets past the kernel
    Udp,
}

impl Way {
    /// The name on the command line and in tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::KernelUdp => "kernel-udp",
            Self::Minimal => "minimal",
            Self::Raw => "raw",
            Self::RawShared => "raw-shared",
            Self::Udp => "udp",
        }
    }
}

/// Half round trips of 64-byte messages over a veth, by the kernel and past it.
#[derive(clap::Parser, Debug)]
pub(crate) struct Arguments {
    /// Rounds of each way and mode
    #[arg(long, value_name = "N", default_value_t = 21)]
    pub(crate) rounds: usize,

    /// Round trips of each round
    #[arg(long, value_name = "N", default_value_t = 20_000,
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) samples: u32,

    /// Ways to measure [default: all]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) way: Vec<Way>,

    /// Frames of memory of the crate's ways [default: the crate's]
    #[arg(long, value_name = "N")]
    pub(crate) frames: Option<u32>,

    /// Where the results go, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Do N round trips by WAY on one thread, from both ends, and nothing else
    #[arg(long, num_args = 2, value_names = ["WAY", "N"])]
    count: Option<Vec<String>>,

    /// What `cargo bench` adds
    #[arg(long, hide = true)]
    bench: bool,
}

impl Arguments {
    /// The ways to measure.
    pub(crate) fn ways(&self) -> &[Way] {
        if self.way.is_empty() { Way::value_variants() } else { &self.way }
    }

    /// The way to count and how many round trips, if that is all there is to do.
    pub(crate) fn count(&self) -> Option<(Way, u32)> {
        let [way, count] = self.count.as_deref()? else { return None };
        let way = Way::from_str(way, false).expect("a way after --count");
        Some((way, count.parse().expect("a number after the way")))
    }
}
