//! `hairpin generate FILE`: writes a capture of the exchange's market data, without a network.
//!
//! It runs the exchange of `hairpin exchange` on a virtual clock that jumps from event to event: as
//! fast as packets can be built and written. The same arguments give the same file, byte for byte.
//! Intended for benchmarks that read gigabytes, and for tests.
//!
//! A file begins with whole loops of definitions and snapshots; then events follow at `--rate`,
//! with a pass of each loop every second. Instruments are futures, and some of them options,
//! spreads and currencies with their own definitions, some with implied books; the order flow has
//! every kind of order. Each packet is on both sides, B a few microseconds after A, unless `--sides
//! a`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use hairpin_cli_harness::output;
use hairpin_cli_harness::signals::Signals;
use hairpin_endpoint::capture::{CaptureClock, CaptureFormat, CaptureWriter};
use hairpin_exchange::{
    BackgroundFlow, Capacity, Feed, Instrument, InstrumentKind, Leg, MAX_PAYLOAD, OptionRight,
    Pace, PriceLevel, PublisherSettings, Side, SimulatedMarket, SimulatedMarketSettings,
    TradingStatus,
};
use hairpin_measure::counted;
use hairpin_sbe::Decimal;
use hairpin_time::{Duration, Instant, Now, Utc};

/// Write what an exchange publishes to a capture, as fast as possible, without a network
#[derive(clap::Args, Debug, Clone)]
pub struct GenerateArgs {
    /// Capture file: pcapng, or pcap if the name ends in .pcap
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Replace FILE if it exists
    #[arg(long)]
    force: bool,

    /// Size of the capture in megabytes, and at least whole loops of definitions and snapshots
    #[arg(long, value_name = "MB", default_value_t = 100,
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    megabytes: u64,

    /// Number of instruments
    #[arg(long, value_name = "N", default_value_t = 1_000,
          value_parser = clap::value_parser!(u32).range(1..=2_000))]
    instruments: u32,

    /// Events per second of market time
    #[arg(long, value_name = "N", default_value_t = 20_000,
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    rate: u64,

    /// Sides in the capture
    #[arg(long, value_enum, default_value_t = Sides::Both)]
    sides: Sides,

    /// Seed of the books and the order flow
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// The sides in a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sides {
    /// A alone
    A,
    /// A and B
    Both,
}

/// When the capture begins: a Monday in 2026, half an hour before noon in Chicago.
const BEGINNING: Utc = Utc::from_nanos(1_767_634_200_000_000_000);
/// The time between passes of a loop.
const LOOP_PERIOD: Duration = Duration::from_secs(1);
/// The time between packets of the loops at the beginning, and the shortest duration of these: a
/// receiver of the capture during its replay joins one loop after the other.
const LOOP_STEP: Duration = Duration::from_millis(1);
const LOOPS: Duration = Duration::from_millis(200);
/// The delay of B after A.
const BEHIND: Duration = Duration::from_micros(3);
/// The duration of a packet on a link of 10 Gbit/s.
const WIRE: Duration = Duration::from_micros(1);
/// Orders and levels of the flow per instrument, with some reserve.
const ORDERS: u32 = 100;
const LEVELS: u32 = 60;
/// One of so many events halts an instrument, and the next opens it again.
const STATUS_EVERY: u64 = 1_000;
/// One of so many events changes implied levels.
const IMPLIED_EVERY: u64 = 8;
/// Packets between two checks whether to stop.
const PACKETS_PER_POLL: u64 = 4_096;

/// Writes the capture.
///
/// # Errors
/// Those of the file system, with the path.
pub fn run(arguments: &GenerateArgs) -> Result<ExitCode> {
    let signals = Signals::take()?;
    let path = &arguments.file;
    let named = || format!("cannot write {}", path.display());
    if !arguments.force && path.is_file() {
        bail!("cannot write {}: it exists; --force replaces it", path.display());
    }
    let file = BufWriter::with_capacity(1 << 18, File::create(path).with_context(named)?);
    let writer = CaptureWriter::new(file, CaptureFormat::from_path(path)).with_context(named)?;
    let mut generation = Generation::new(arguments, writer).with_context(named)?;
    generation.run(&|| signals.stop_requested()).with_context(named)?;
    output::print(&format!(
        "{}: {}, {}, {} in {} s of market time\n",
        path.display(),
        counted(generation.writer.written(), "byte"),
        counted(generation.packets, "packet"),
        counted(generation.floor.publisher().events(), "event"),
        generation.now.utc.saturating_since(BEGINNING).as_millis() as f64 / 1e3,
    ))?;
    Ok(signals.exit_status().unwrap_or(ExitCode::SUCCESS))
}

/// An exchange whose packets are written to a file.
struct Generation<W> {
    floor: SimulatedMarket,
    instruments: Vec<Instrument>,
    /// Instruments with an implied book.
    implied: Vec<u32>,
    now: Now,
    writer: CaptureWriter<W>,
    /// Group and interface of each side of each feed.
    lines: [[(SocketAddrV4, u32); 2]; 3],
    sides: Sides,
    interval: Duration,
    bytes: u64,
    packets: u64,
}

impl<W: Write> Generation<W> {
    fn new(arguments: &GenerateArgs, mut writer: CaptureWriter<W>) -> std::io::Result<Self> {
        let now = Now { monotonic: Instant::from_nanos(1_000_000_000), utc: BEGINNING };
        let instruments = instruments(arguments.instruments);
        let implied = (0..).zip(&instruments).filter(|(_, it)| it.implied_book);
        let implied = implied.map(|(index, _)| index).collect();
        let settings = SimulatedMarketSettings {
            instruments: instruments.clone(),
            seed: arguments.seed,
            flow: BackgroundFlow::ALL,
            capacity: Capacity {
                orders: (arguments.instruments * ORDERS).max(Capacity::default().orders),
                levels: (arguments.instruments * LEVELS).max(Capacity::default().levels),
            },
            publisher: PublisherSettings {
                loop_period: LOOP_PERIOD,
                ..PublisherSettings::default()
            },
        };
        let mut lines = [[(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0), 0); 2]; 3];
        for (feed, code) in ["I", "N", "S"].into_iter().enumerate() {
            for (side, name) in ["A", "B"].into_iter().enumerate() {
                let ip = Ipv4Addr::new(224, 0, 31 + side as u8, 1 + 21 * feed as u8);
                let group = SocketAddrV4::new(ip, 14_310 + 1_000 * side as u16);
                let description = format!("channel 310, feed {code}, side {name}, {group}");
                let name = format!("310{code}{name}");
                let clock = CaptureClock::Software;
                lines[feed][side] = (group, writer.interface(&name, &description, clock)?);
            }
        }
        Ok(Self {
            floor: SimulatedMarket::new(&settings, now),
            instruments,
            implied,
            now,
            writer,
            lines,
            sides: arguments.sides,
            interval: Duration::from_nanos(1_000_000_000 / arguments.rate),
            bytes: arguments.megabytes * 1_000_000,
            packets: 0,
        })
    }

    /// Writes loops, and then events until the file has the requested size.
    fn run(&mut self, stop_requested: &dyn Fn() -> bool) -> std::io::Result<()> {
        self.loops()?;
        self.floor.publisher_mut().set_pace(Pace::Paced, self.now.monotonic);
        let mut due = self.now.monotonic;
        let mut steps = 0_u64;
        while self.writer.written() < self.bytes {
            steps += 1;
            if steps.is_multiple_of(PACKETS_PER_POLL) && stop_requested() {
                break;
            }
            due += self.interval;
            self.pass_to(due);
            self.event(steps);
            while self.send()? {}
            while self.floor.is_deferred() {
                self.floor.publish(self.now);
                while self.send()? {}
            }
        }
        self.writer.flush()
    }

    /// Runs one event: mostly of the order flow, sometimes implied levels of a spread or a status.
    fn event(&mut self, number: u64) {
        let count = self.instruments.len() as u64;
        let (which, now) = ((number / STATUS_EVERY % count) as u32, self.now);
        if number.is_multiple_of(STATUS_EVERY) {
            self.floor.set_status(now, Some(which), TradingStatus::TradingHalt);
        } else if number % STATUS_EVERY == 1 {
            self.floor.set_status(now, Some(which), TradingStatus::ReadyToTrade);
        } else if number.is_multiple_of(IMPLIED_EVERY) && !self.implied.is_empty() {
            let place = number / IMPLIED_EVERY;
            let instrument = self.implied[place as usize % self.implied.len()];
            let Instrument { reference, tick, .. } = self.instruments[instrument as usize];
            let level = |far: u64| PriceLevel {
                price: Decimal(reference.0 - tick.0 * (place % 5 + far) as i64),
                quantity: 1 + (place % 9) as u32,
                orders: 1,
            };
            self.floor.set_implied(now, instrument, Side::Bid, &[level(1), level(2)]);
        } else {
            // The flow always finds something to change.
            let _ = self.floor.step(now);
        }
    }

    /// Writes the initial books, and packets of both loops until each has begun again.
    fn loops(&mut self) -> std::io::Result<()> {
        let mut begun = [0; 3];
        let until = self.now.utc + LOOPS;
        let [instruments, snapshots] = [Feed::Instruments, Feed::Snapshots].map(|it| it as usize);
        while begun[instruments] < 2 || begun[snapshots] < 3 || self.now.utc < until {
            let Some((feed, sequence)) = self.send_packet()? else { break };
            begun[feed as usize] += u32::from(sequence == 1);
            if feed != Feed::Incremental {
                self.pass_to(self.now.monotonic + LOOP_STEP);
            }
        }
        Ok(())
    }

    fn send(&mut self) -> std::io::Result<bool> {
        Ok(self.send_packet()?.is_some())
    }

    /// Writes the next packet that is due, and returns its feed and number.
    fn send_packet(&mut self) -> std::io::Result<Option<(Feed, u32)>> {
        let mut packet = [0; MAX_PAYLOAD];
        let transmit = self.floor.publisher_mut().poll_transmit(self.now, &mut packet);
        let Some(transmit) = transmit else { return Ok(None) };
        let payload = &packet[..transmit.length];
        let source = SocketAddrV4::new(Ipv4Addr::new(205, 209, 223, 70), 40_000);
        let [a, b] = self.lines[transmit.feed as usize];
        let at = self.now.utc + WIRE;
        self.writer.datagram(a.1, at, [source, a.0], payload)?;
        self.packets += 1;
        if self.sides == Sides::Both {
            self.writer.datagram(b.1, at + BEHIND, [source, b.0], payload)?;
            self.packets += 1;
        }
        self.pass_to(self.now.monotonic + WIRE);
        Ok(Some((transmit.feed, transmit.sequence)))
    }

    /// Advances the clock, which never goes back.
    fn pass_to(&mut self, due: Instant) {
        let passed = due.saturating_since(self.now.monotonic);
        self.now = Now { monotonic: self.now.monotonic + passed, utc: self.now.utc + passed };
    }
}

/// Returns futures; of ten instruments one is an option on the one before, one a spread of the two
/// before that, with an implied book, and one a currency.
fn instruments(count: u32) -> Vec<Instrument> {
    let mut instruments = Instrument::numbered(count);
    for place in 0..instruments.len() {
        let of = |back: usize, all: &[Instrument]| {
            (all[place - back].security_id, all[place - back].symbol.clone())
        };
        let kind = match place % 10 {
            7 => InstrumentKind::Option {
                right: OptionRight::Call,
                strike: instruments[place].reference,
                underlying: of(1, &instruments),
            },
            8 => {
                let leg =
                    |back, side| Leg { security_id: of(back, &instruments).0, side, ratio: 1 };
                InstrumentKind::Spread { legs: vec![leg(3, Side::Bid), leg(2, Side::Offer)] }
            }
            9 => InstrumentKind::Fx { currency: *b"EUR", price_currency: *b"USD" },
            _ => continue,
        };
        instruments[place].implied_book = matches!(kind, InstrumentKind::Spread { .. });
        instruments[place].kind = kind;
    }
    instruments
}
