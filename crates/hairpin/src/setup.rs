//! What the parent of a `t2t` row tells its two children, and what they tell it back.
//!
//! Each child reads its set-up as one JSON document from standard input. The exchange answers with
//! two lines on standard output, [`Ready`] and [`ExchangeOutcome`]; the trader with one,
//! [`TraderOutcome`]. While a row runs nothing passes between the two but packets.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

use anyhow::{Context, Result};
use hairpin_feed_handler::{Addresses, Group, Lines, Multicast, TcpLines};
use hairpin_host::{Clock, ClockSource};
use hairpin_mapped::{SharedCounterPage, Slot};
use hairpin_measure::{Kind, Row, Setting};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::groups::Groups;
use crate::transport::{self, Transport};
use crate::words::FeedTransport;

/// The counter by which the parent asks the child to end: not zero.
const STOP: &str = "stop";
/// The counter of ticks that have left, for the parent's progress bar.
const TICKS: &str = "ticks";
/// The counter by which the parent lets a child begin that waits for its other side: not zero.
const BEGIN: &str = "begin";

/// The page of counters that the parent shares with one child.
pub(crate) struct Page {
    control: SharedCounterPage,
    stop: Slot,
    ticks: Slot,
    begin: Slot,
}

impl Page {
    /// A new page: the parent's.
    pub(crate) fn create() -> Result<Self> {
        Self::over(SharedCounterPage::create(&[STOP, TICKS, BEGIN])?)
    }

    /// The page that the parent handed over as descriptor `number`.
    fn inherited(number: u32) -> Result<Self> {
        let path = format!("/proc/self/fd/{number}");
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.context("this subcommand is started by `hairpin` itself only")?;
        Self::over(SharedCounterPage::open(file.into())?)
    }

    fn over(control: SharedCounterPage) -> Result<Self> {
        let slot = |name| control.slot(name).context("not a page of counters of this program");
        let (stop, ticks, begin) = (slot(STOP)?, slot(TICKS)?, slot(BEGIN)?);
        Ok(Self { control, stop, ticks, begin })
    }

    /// What a child inherits.
    pub(crate) fn control(&self) -> &SharedCounterPage {
        &self.control
    }

    /// Asks the child to end.
    pub(crate) fn ask_to_stop(&self) {
        self.control.store(self.stop, 1);
    }

    /// Whether the parent has asked for the end.
    pub(crate) fn asked_to_stop(&self) -> bool {
        self.control.load(self.stop) != 0
    }

    /// Lets a child begin that waits for its other side.
    pub(crate) fn let_begin(&self) {
        self.control.store(self.begin, 1);
    }

    /// Whether the other side is there.
    pub(crate) fn may_begin(&self) -> bool {
        self.control.load(self.begin) != 0
    }

    /// Tells the parent how many ticks have left.
    pub(crate) fn tell_ticks(&self, ticks: u64) {
        self.control.store(self.ticks, ticks);
    }

    /// How many ticks have left.
    pub(crate) fn ticks(&self) -> u64 {
        self.control.load(self.ticks)
    }
}

/// How a child of `t2t` is started.
#[derive(clap::Args, Debug)]
pub(crate) struct ChildArguments {
    /// The descriptor of the page of counters shared with the parent
    #[arg(long, value_name = "FD")]
    control: u32,
}

impl ChildArguments {
    /// The set-up from standard input and the shared page.
    ///
    /// # Errors
    /// Either is not what a parent of this version hands over.
    pub(crate) fn receive<T: DeserializeOwned>(&self) -> Result<(T, Page)> {
        let page = Page::inherited(self.control)?;
        let setup = serde_json::from_reader(io::stdin().lock());
        Ok((setup.context("this subcommand is started by `hairpin` itself only")?, page))
    }
}

/// Says one line to the parent.
pub(crate) fn say(what: &impl Serialize) -> Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, what)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

/// Firm (39007) of every account of the benchmark.
pub(crate) const FIRM: &str = "HPIN0";
/// The most traders that one exchange of the benchmark lets in.
pub(crate) const TRADERS_MAX: u32 = 16;

/// The account of one of the benchmark's traders, as both sides know it.
pub(crate) struct Account {
    pub(crate) access_key_id: String,
    /// Session (39006).
    pub(crate) session: String,
}

impl Account {
    /// The account of trader `id`, 1 to [`TRADERS_MAX`].
    pub(crate) fn of(id: u32) -> Self {
        Self { access_key_id: format!("HAIRPIN-TRADER-{id:05}"), session: format!("H{id:02}") }
    }
}

/// Bytes of the order that ends each sample: NewOrderSingle514 with its framing header.
const ORDER_BYTES: u64 = 144;

/// What the two cases of a row measure, and with what clock; market data travels by `transport`.
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

/// How market data travels, and where it is to be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum MarketData {
    /// UDP multicast.
    Multicast(Groups),
    /// TCP, a connection a side: [A, B]. Port 0 has the kernel choose.
    Tcp([SocketAddrV4; 2]),
}

impl MarketData {
    /// The same for a feed handler, by way of `interface`; groups from `sources`, or from any.
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

    /// How it travels.
    pub(crate) const fn transport(&self) -> FeedTransport {
        match self {
            Self::Multicast(_) => FeedTransport::Multicast,
            Self::Tcp(_) => FeedTransport::Tcp,
        }
    }
}

/// For a person.
impl fmt::Display for MarketData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Multicast(Groups { incremental: [a, b], .. }) => {
                write!(f, "multicast, {a} and {b}")
            }
            Self::Tcp([a, b]) => write!(f, "TCP, {a} and {b}"),
        }
    }
}

/// One side of the market data that falls silent for a while: a fault for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mute {
    /// Ticks after which the side falls silent.
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
    pub(crate) mute_a: Option<Mute>,
    pub(crate) mute_b: Option<Mute>,
}

/// What the exchange needs to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ExchangeSetup {
    pub(crate) market_data: MarketData,
    /// The address market data leaves from.
    pub(crate) interface: Ipv4Addr,
    /// How it does.
    pub(crate) transport: transport::Arguments,
    /// Where the gateway listens; port 0 lets the kernel choose.
    pub(crate) gateway: SocketAddrV4,
    pub(crate) core: Option<usize>,
    /// The trader's wait, for the rows only.
    pub(crate) wait: String,
    pub(crate) load: Load,
    pub(crate) secret_key_file: Option<PathBuf>,
}

/// What a trader needs to know but for its market data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TraderSetup {
    /// Which account of the benchmark: 1 to [`TRADERS_MAX`].
    pub(crate) id: u32,
    /// How market data comes.
    pub(crate) transport: transport::Arguments,
    pub(crate) gateway: SocketAddrV4,
    pub(crate) wait: String,
    pub(crate) core: Option<usize>,
    pub(crate) secret_key_file: Option<PathBuf>,
    /// Room for records: those of a whole row, if none is to be forgotten.
    pub(crate) journal_bytes: usize,
}

/// What the trader of a `t2t` row needs to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TraderChildSetup {
    pub(crate) trader: TraderSetup,
    pub(crate) market_data: MarketData,
    /// The address of the interface that joins.
    pub(crate) interface: Ipv4Addr,
    /// Senders believed; empty for any.
    pub(crate) sources: Vec<Ipv4Addr>,
}

/// The exchange listens.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ready {
    pub(crate) gateway: SocketAddrV4,
    pub(crate) market_data: MarketData,
}

/// How the exchange came up: readings of CLOCK_MONOTONIC, which all processes of a host share.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExchangeStart {
    /// Its set-up had been read.
    pub(crate) began_ns: u64,
    /// It listened.
    pub(crate) listened_ns: u64,
    /// The trader was logged on; `None` if that never came.
    pub(crate) joined_ns: Option<u64>,
}

/// How the trader came up: readings of the same clock.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TraderStart {
    /// Its set-up had been read.
    pub(crate) began_ns: u64,
    /// Its sockets were open.
    pub(crate) opened_ns: u64,
    /// Its books were in sync; `None` if that never came.
    pub(crate) in_sync_ns: Option<u64>,
}

/// The kernel's monotonic clock, for what happens before a process has calibrated one of its own.
pub(crate) fn monotonic_ns() -> u64 {
    Clock::from_kernel().instant().as_nanos()
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
    /// Samples that had no room: none, or the row is not whole.
    pub(crate) refused_samples: u64,
    /// Market data packets that the kernel had no room for, on either side.
    pub(crate) lost_datagrams: u64,
    /// Packets of side A and of side B withheld on purpose.
    pub(crate) muted_datagrams: [u64; 2],
    /// True when the parent stopped the row before its end.
    pub(crate) interrupted: bool,
    pub(crate) start: ExchangeStart,
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
    /// The first of them: its first packet's number, and how many packets.
    pub(crate) first_gap: Option<(u32, u32)>,
    /// Times that a book fell out of sync after the first synchronisation.
    pub(crate) unsynced: u64,
    /// Packets and messages that could not be understood, on either connection.
    pub(crate) errors: u64,
    /// The first of those, in words.
    pub(crate) first_error: Option<String>,
    /// Datagrams the kernel dropped because a receive buffer was full.
    pub(crate) kernel_drops: u64,
    /// Incremental packets received on side A and on side B.
    pub(crate) packets: [u64; 2],
    pub(crate) start: TraderStart,
}
