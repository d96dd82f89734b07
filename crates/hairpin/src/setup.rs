//! What the parent of a `t2t` row tells its two children, and what they tell it back.
//!
//! Each child reads its set-up as one JSON document from standard input. The exchange answers with
//! two lines on standard output, [`Ready`] and [`ExchangeOutcome`]; the trader with one,
//! [`TraderOutcome`]. While a row runs nothing passes between the two but packets.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

use hairpin_measure::Row;
use serde::{Deserialize, Serialize};

/// Where a channel's six streams go: [A, B] of each feed.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Groups {
    pub(crate) incremental: [SocketAddrV4; 2],
    pub(crate) instrument: [SocketAddrV4; 2],
    pub(crate) snapshot: [SocketAddrV4; 2],
}

/// One side of the market data that falls silent for a while: a fault for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mute {
    /// Ticks after which side B falls silent.
    pub(crate) from_tick: u64,
    /// Ticks for which it stays so.
    pub(crate) ticks: u64,
}

/// How the ticks of a row are spaced and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Load {
    /// Between intended times of ticks, in microseconds.
    pub(crate) interval_us: u64,
    /// Ticks before recording starts.
    pub(crate) warm_up: u64,
    /// Ticks recorded.
    pub(crate) samples: u64,
    /// Seed of books and order flow.
    pub(crate) seed: u64,
    /// Off: orders of the generator are not matched, so nothing ticks.
    pub(crate) matching: bool,
    pub(crate) mute_b: Option<Mute>,
}

/// What the exchange needs to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ExchangeSetup {
    pub(crate) groups: Groups,
    /// The address market data leaves from.
    pub(crate) interface: Ipv4Addr,
    /// Where the gateway listens; port 0 lets the kernel choose.
    pub(crate) gateway: SocketAddrV4,
    pub(crate) core: Option<usize>,
    /// The trader's wait, for the rows only.
    pub(crate) wait: String,
    pub(crate) load: Load,
    pub(crate) secret_key_file: Option<PathBuf>,
}

/// What the trader needs to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TraderSetup {
    pub(crate) groups: Groups,
    /// The address of the interface that joins.
    pub(crate) interface: Ipv4Addr,
    /// Senders believed; empty for any.
    pub(crate) sources: Vec<Ipv4Addr>,
    pub(crate) gateway: SocketAddrV4,
    pub(crate) wait: String,
    pub(crate) core: Option<usize>,
    pub(crate) secret_key_file: Option<PathBuf>,
}

/// The exchange listens.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ready {
    pub(crate) gateway: SocketAddrV4,
}

/// What the exchange measured and counted.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ExchangeOutcome {
    /// "intended to order" and "sent to order".
    pub(crate) rows: Vec<Row>,
    /// Matching events that changed a best price.
    pub(crate) ticks: u64,
    /// Ticks that no order answered in time.
    pub(crate) lost: u64,
    /// Orders that answered a tick.
    pub(crate) orders: u64,
    /// ExecutionReportNew sent.
    pub(crate) acknowledgements: u64,
    /// ExecutionReportCancel sent.
    pub(crate) cancels: u64,
    /// Session and business rejects sent.
    pub(crate) rejects: u64,
    /// Orders that named no tick, or one answered already.
    pub(crate) unexpected_orders: u64,
    /// True when the parent stopped the row before its end.
    pub(crate) interrupted: bool,
}

/// What the trader counted.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct TraderOutcome {
    pub(crate) orders: u64,
    pub(crate) acknowledgements: u64,
    pub(crate) cancels: u64,
    /// Business and session rejects received.
    pub(crate) rejects: u64,
    /// Gaps in the market data after the first synchronisation.
    pub(crate) gaps: u64,
    /// Times that a book fell out of sync after the first synchronisation.
    pub(crate) unsynced: u64,
    /// Packets and messages that could not be understood, on either connection.
    pub(crate) errors: u64,
    /// Datagrams the kernel dropped because a receive buffer was full.
    pub(crate) kernel_drops: u64,
}
