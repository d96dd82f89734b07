//! The messages between the parent of a `t2t` row and its two children.
//!
//! Each child reads its setup as one JSON document from standard input. The exchange prints two
//! lines on standard output, [`Ready`] and [`ExchangeOutcome`]; the trader prints one,
//! [`TraderOutcome`]. While a row runs, only packets pass between the two.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_feed_handler::{Addresses, Group, Lines, Multicast, TcpLines};
use hairpin_host::{Clock, ClockSource};
use hairpin_measure::{Kind, Row, Setting};
use hairpin_reactor::Wait;
use serde::{Deserialize, Serialize};

use crate::harness::args::FeedTransport;
use crate::harness::multicast_groups::MulticastGroups;
use crate::harness::secret_key::KeyArgs;
use crate::harness::transport::{self, Transport};

/// The firm (39007) of every benchmark account.
pub(crate) const FIRM: &str = "HPIN0";
/// The largest number of traders of one benchmark exchange.
pub(crate) const TRADERS_MAX: u32 = 16;

/// The account of a benchmark trader, as both sides configure it.
pub(crate) struct Account {
    pub(crate) access_key_id: String,
    /// The session (39006).
    pub(crate) session: String,
}

impl Account {
    /// Returns the account of trader `id`, 1 to [`TRADERS_MAX`].
    pub(crate) fn new(id: u32) -> Self {
        Self { access_key_id: format!("HAIRPIN-TRADER-{id:05}"), session: format!("H{id:02}") }
    }
}

/// The length of the order that ends each sample: NewOrderSingle514 with its framing header.
const ORDER_BYTES: u64 = 144;

/// Returns the settings of a row's two cases, with the clock they are read from.
pub(crate) fn settings(
    feed: &str,
    transport: Transport,
    wait: &str,
    load: &Load,
    source: ClockSource,
) -> [Setting; 2] {
    let clock = match source {
        ClockSource::Tsc => hairpin_measure::Clock::Tsc,
        ClockSource::Kernel => hairpin_measure::Clock::Monotonic,
    };
    ["intended to order", "sent to order"].map(|case| Setting {
        bench: "t2t".to_owned(),
        case: case.to_owned(),
        feed: Some(feed.to_owned()),
        transport: transport.name().to_owned(),
        wait: wait.to_owned(),
        protocol: format!("{feed}+tcp"),
        size_bytes: ORDER_BYTES,
        interval_us: load.interval_us,
        kind: Kind::Rtt,
        clock,
        rounds: 1,
    })
}

/// The transport and addresses of market data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum MarketData {
    /// UDP multicast.
    Multicast(MulticastGroups),
    /// TCP, one connection for each line [A, B]. Port 0 lets the kernel choose.
    Tcp([SocketAddrV4; 2]),
}

impl MarketData {
    /// Returns the addresses for a feed handler that receives on `interface`, from `sources` or
    /// any.
    pub(crate) fn addresses(&self, interface: Ipv4Addr, sources: &[Ipv4Addr]) -> Addresses {
        let group = |address| Group::new(address, sources);
        let lines = |[a, b]: [_; 2]| Lines::both(group(a), group(b));
        match *self {
            Self::Multicast(groups) => Addresses::Multicast(Multicast {
                incremental: lines(groups.incremental),
                instrument: lines(groups.instrument),
                snapshot: lines(groups.snapshot),
                snapshot_orders: Lines::default(),
                interface,
                transport: Default::default(),
                replay: None,
            }),
            Self::Tcp([a, b]) => Addresses::Tcp(TcpLines { a: Some(a), b: Some(b), interface }),
        }
    }

    /// Returns the transport.
    pub(crate) const fn transport(&self) -> FeedTransport {
        match self {
            Self::Multicast(_) => FeedTransport::Multicast,
            Self::Tcp(_) => FeedTransport::Tcp,
        }
    }
}

/// Formats the transport and its addresses for people.
impl fmt::Display for MarketData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Multicast(MulticastGroups { incremental: [a, b], .. }) => {
                write!(f, "multicast, {a} and {b}")
            }
            Self::Tcp([a, b]) => write!(f, "TCP, {a} and {b}"),
        }
    }
}

/// An outage of one feed line, injected by tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LineOutage {
    /// The tick after which the line is silent.
    pub(crate) from_tick: u64,
    /// The length of the outage in ticks.
    pub(crate) ticks: u64,
}

/// The spacing and number of the ticks of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Load {
    /// The interval between intended times of ticks, in microseconds.
    pub(crate) interval_us: u64,
    /// The number of ticks before recording starts.
    pub(crate) warm_up: u64,
    /// The number of ticks recorded.
    pub(crate) samples: u64,
    /// The seed of books and order flow.
    pub(crate) seed: u64,
    /// `false` if orders of the generator are not matched, so that there are no ticks.
    pub(crate) matching: bool,
    pub(crate) outage_a: Option<LineOutage>,
    pub(crate) outage_b: Option<LineOutage>,
}

/// The beginning of the TradingSystemName of `hairpin trader`; the name of its wait follows.
const SYSTEM_NAME: &str = "Hairpin, wait ";

/// Returns the TradingSystemName (1603) of a trader with this wait, at most 30 characters.
pub(crate) fn system_name(wait: &str) -> String {
    format!("{SYSTEM_NAME}{wait}")
}

/// Returns the wait in a TradingSystemName of [`system_name`].
pub(crate) fn wait_of(system_name: &[u8]) -> Option<Wait> {
    std::str::from_utf8(system_name).ok()?.strip_prefix(SYSTEM_NAME)?.parse().ok()
}

impl Load {
    /// The warm-up and samples of a round without an end, of which nothing is recorded.
    pub(crate) const UNMEASURED: (u64, u64) = (u64::MAX, 0);

    /// Returns `true` if ticks are recorded.
    pub(crate) fn is_measured(&self) -> bool {
        self.samples > 0
    }
}

/// The setup of the exchange.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ExchangeSetup {
    pub(crate) market_data: MarketData,
    /// The address that market data is sent from.
    pub(crate) interface: Ipv4Addr,
    /// The transport of market data and orders.
    pub(crate) transport: transport::TransportArgs,
    /// The address of the gateway; port 0 lets the kernel choose.
    pub(crate) gateway: SocketAddrV4,
    pub(crate) core: Option<usize>,
    /// The trader's wait, for the rows only.
    pub(crate) wait: String,
    pub(crate) load: Load,
    pub(crate) key: KeyArgs,
}

/// The setup of a trader without its market data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TraderSetup {
    /// The number of the benchmark account: 1 to [`TRADERS_MAX`].
    pub(crate) id: u32,
    /// The transport of market data and orders.
    pub(crate) transport: transport::TransportArgs,
    pub(crate) gateway: SocketAddrV4,
    pub(crate) wait: String,
    pub(crate) core: Option<usize>,
    pub(crate) key: KeyArgs,
    /// The size of the journal: the records of a whole row, if all must be kept.
    pub(crate) journal_bytes: usize,
}

/// The setup of the trader of a `t2t` row.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TraderChildSetup {
    pub(crate) trader: TraderSetup,
    pub(crate) market_data: MarketData,
    /// The address of the interface that joins the groups.
    pub(crate) interface: Ipv4Addr,
    /// The accepted senders; empty for any.
    pub(crate) sources: Vec<Ipv4Addr>,
}

/// The exchange's addresses, once it listens.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ready {
    pub(crate) gateway: SocketAddrV4,
    pub(crate) market_data: MarketData,
}

/// The startup times of the exchange, read from CLOCK_MONOTONIC, which all processes of a host
/// share.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExchangeStart {
    /// The time at which its setup was read.
    pub(crate) began_ns: u64,
    /// The time at which it listened.
    pub(crate) listened_ns: u64,
    /// The time at which the trader was logged on; `None` if it never was.
    pub(crate) joined_ns: Option<u64>,
}

/// The startup times of the trader, from the same clock.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TraderStart {
    /// The time at which its setup was read.
    pub(crate) began_ns: u64,
    /// The time at which its sockets were open.
    pub(crate) opened_ns: u64,
    /// The time at which its books were in sync; `None` if they never were.
    pub(crate) in_sync_ns: Option<u64>,
}

/// Reads the kernel's monotonic clock, for times before a process has calibrated a clock.
pub(crate) fn monotonic_ns() -> u64 {
    Clock::from_kernel().instant().as_nanos()
}

/// The results of the exchange.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ExchangeOutcome {
    /// The rows "intended to order" and "sent to order".
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
    /// Orders that named no tick or one that was already answered.
    pub(crate) unexpected_orders: u64,
    /// Samples that did not fit; the row is incomplete if there are any.
    pub(crate) refused_samples: u64,
    /// Market data packets that the kernel could not send, on either line.
    pub(crate) lost_datagrams: u64,
    /// Packets of lines A and B withheld by injected outages.
    pub(crate) muted_datagrams: [u64; 2],
    /// `true` if the parent stopped the row before its end.
    pub(crate) interrupted: bool,
    pub(crate) start: ExchangeStart,
}

/// The counts of the trader.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct TraderOutcome {
    pub(crate) orders: u64,
    pub(crate) acknowledgements: u64,
    pub(crate) cancels: u64,
    /// Business and session rejects received.
    pub(crate) rejects: u64,
    /// Gaps in the market data after the first synchronization.
    pub(crate) gaps: u64,
    /// The first of these gaps: the number of its first packet, and its length in packets.
    pub(crate) first_gap: Option<(u32, u32)>,
    /// Books that fell out of sync after the first synchronization.
    pub(crate) unsynced: u64,
    /// Packets and messages that could not be decoded, on either connection.
    pub(crate) errors: u64,
    /// The text of the first of these errors.
    pub(crate) first_error: Option<String>,
    /// Datagrams that the kernel dropped because a receive buffer was full.
    pub(crate) kernel_drops: u64,
    /// Incremental packets received on lines A and B.
    pub(crate) packets: [u64; 2],
    pub(crate) start: TraderStart,
}
