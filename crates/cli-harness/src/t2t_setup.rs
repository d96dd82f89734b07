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

use crate::args::FeedTransport;
use crate::multicast_groups::MulticastGroups;
use crate::secret_key::KeyArgs;
use crate::transport::{self, Transport};

/// The firm (39007) of every benchmark account.
pub const FIRM: &str = "HPIN0";
/// The largest number of traders of one benchmark exchange.
pub const TRADERS_MAX: u32 = 16;

/// The account of a benchmark trader, as both sides configure it.
pub struct Account {
    /// The access key ID (39004).
    pub access_key_id: String,
    /// The session (39006).
    pub session: String,
}

impl Account {
    /// Returns the account of trader `id`, 1 to [`TRADERS_MAX`].
    pub fn new(id: u32) -> Self {
        Self { access_key_id: format!("HAIRPIN-TRADER-{id:05}"), session: format!("H{id:02}") }
    }
}

/// The length of the order that ends each sample: NewOrderSingle514 with its framing header.
const ORDER_BYTES: u64 = 144;

/// Returns the settings of a row's two cases, with the clock they are read from.
pub fn settings(
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
pub enum MarketData {
    /// UDP multicast.
    Multicast(MulticastGroups),
    /// TCP, one connection for each line [A, B]. Port 0 lets the kernel choose.
    Tcp([SocketAddrV4; 2]),
}

impl MarketData {
    /// Returns the addresses for a feed handler that receives on `interface`, from `sources` or
    /// any.
    pub fn addresses(&self, interface: Ipv4Addr, sources: &[Ipv4Addr]) -> Addresses {
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
    pub const fn transport(&self) -> FeedTransport {
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
pub struct LineOutage {
    /// The tick after which the line is silent.
    pub from_tick: u64,
    /// The length of the outage in ticks.
    pub ticks: u64,
}

/// The spacing and number of the ticks of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// The interval between intended times of ticks, in microseconds.
    pub interval_us: u64,
    /// The number of ticks before recording starts.
    pub warm_up: u64,
    /// The number of ticks recorded.
    pub samples: u64,
    /// The seed of books and order flow.
    pub seed: u64,
    /// `false` if orders of the generator are not matched, so that there are no ticks.
    pub matching: bool,
    /// The outage of line A, if any.
    pub outage_a: Option<LineOutage>,
    /// The outage of line B, if any.
    pub outage_b: Option<LineOutage>,
}

/// The beginning of the TradingSystemName of `hairpin trader`; the name of its wait follows.
const SYSTEM_NAME: &str = "Hairpin, wait ";

/// Returns the TradingSystemName (1603) of a trader with this wait, at most 30 characters.
pub fn system_name(wait: &str) -> String {
    format!("{SYSTEM_NAME}{wait}")
}

/// Returns the wait in a TradingSystemName of [`system_name`].
pub fn wait_of(system_name: &[u8]) -> Option<Wait> {
    std::str::from_utf8(system_name).ok()?.strip_prefix(SYSTEM_NAME)?.parse().ok()
}

impl Load {
    /// The warm-up and samples of a round without an end, of which nothing is recorded.
    pub const UNMEASURED: (u64, u64) = (u64::MAX, 0);

    /// Returns `true` if ticks are recorded.
    pub fn is_measured(&self) -> bool {
        self.samples > 0
    }
}

/// The setup of the exchange.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExchangeSetup {
    /// The transport and addresses of market data.
    pub market_data: MarketData,
    /// The address that market data is sent from.
    pub interface: Ipv4Addr,
    /// The transport of market data and orders.
    pub transport: transport::TransportArgs,
    /// The address of the gateway; port 0 lets the kernel choose.
    pub gateway: SocketAddrV4,
    /// The core to pin to, or `None`.
    pub core: Option<usize>,
    /// The trader's wait, for the rows only.
    pub wait: String,
    /// The ticks of the row.
    pub load: Load,
    /// The source of the secret key.
    pub key: KeyArgs,
}

/// The setup of a trader without its market data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TraderSetup {
    /// The number of the benchmark account: 1 to [`TRADERS_MAX`].
    pub id: u32,
    /// The transport of market data and orders.
    pub transport: transport::TransportArgs,
    /// The address of the gateway.
    pub gateway: SocketAddrV4,
    /// The name of the wait.
    pub wait: String,
    /// The core to pin to, or `None`.
    pub core: Option<usize>,
    /// The source of the secret key.
    pub key: KeyArgs,
    /// The size of the journal: the records of a whole row, if all must be kept.
    pub journal_bytes: usize,
}

/// The setup of the trader of a `t2t` row.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TraderChildSetup {
    /// The setup without market data.
    pub trader: TraderSetup,
    /// The transport and addresses of market data.
    pub market_data: MarketData,
    /// The address of the interface that joins the groups.
    pub interface: Ipv4Addr,
    /// The accepted senders; empty for any.
    pub sources: Vec<Ipv4Addr>,
}

/// The exchange's addresses, once it listens.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ready {
    /// The address of the gateway.
    pub gateway: SocketAddrV4,
    /// The transport and addresses of market data.
    pub market_data: MarketData,
}

/// The startup times of the exchange, read from CLOCK_MONOTONIC, which all processes of a host
/// share.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeStart {
    /// The time at which its setup was read.
    pub began_ns: u64,
    /// The time at which it listened.
    pub listened_ns: u64,
    /// The time at which the trader was logged on; `None` if it never was.
    pub joined_ns: Option<u64>,
}

/// The startup times of the trader, from the same clock.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraderStart {
    /// The time at which its setup was read.
    pub began_ns: u64,
    /// The time at which its sockets were open.
    pub opened_ns: u64,
    /// The time at which its books were in sync; `None` if they never were.
    pub in_sync_ns: Option<u64>,
}

/// Reads the kernel's monotonic clock, for times before a process has calibrated a clock.
pub fn monotonic_ns() -> u64 {
    Clock::from_kernel().instant().as_nanos()
}

/// The results of the exchange.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExchangeOutcome {
    /// The rows "intended to order" and "sent to order".
    pub rows: Vec<Row>,
    /// Matching events that changed a best price.
    pub ticks: u64,
    /// Ticks that no order answered in time.
    pub lost: u64,
    /// Orders that answered a tick.
    pub orders: u64,
    /// ExecutionReportNew sent.
    pub acknowledgements: u64,
    /// ExecutionReportCancel sent.
    pub cancels: u64,
    /// Session and business rejects sent.
    pub rejects: u64,
    /// Orders that named no tick or one that was already answered.
    pub unexpected_orders: u64,
    /// Samples that did not fit; the row is incomplete if there are any.
    pub refused_samples: u64,
    /// Market data packets that the kernel could not send, on either line.
    pub lost_datagrams: u64,
    /// Packets of lines A and B withheld by injected outages.
    pub muted_datagrams: [u64; 2],
    /// `true` if the parent stopped the row before its end.
    pub interrupted: bool,
    /// The startup times.
    pub start: ExchangeStart,
}

/// The counts of the trader.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct TraderOutcome {
    /// Orders sent.
    pub orders: u64,
    /// ExecutionReportNew received.
    pub acknowledgements: u64,
    /// ExecutionReportCancel received.
    pub cancels: u64,
    /// Business and session rejects received.
    pub rejects: u64,
    /// Gaps in the market data after the first synchronization.
    pub gaps: u64,
    /// The first of these gaps: the number of its first packet, and its length in packets.
    pub first_gap: Option<(u32, u32)>,
    /// Books that fell out of sync after the first synchronization.
    pub unsynced: u64,
    /// Packets and messages that could not be decoded, on either connection.
    pub errors: u64,
    /// The text of the first of these errors.
    pub first_error: Option<String>,
    /// Datagrams that the kernel dropped because a receive buffer was full.
    pub kernel_drops: u64,
    /// Incremental packets received on lines A and B.
    pub packets: [u64; 2],
    /// The startup times.
    pub start: TraderStart,
}
