//! A capture of a simulated channel with definitions, books by price and by order, trades,
//! statistics and statuses.

use std::fs::File;
use std::io::{self, BufWriter};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;

use hairpin_endpoint::capture::{CaptureClock, CaptureFormat, CaptureWriter};
use hairpin_exchange::{
    BackgroundFlow, Capacity, Feed, FullOrders, Group, Instrument, InstrumentKind, Leg,
    MAX_PAYLOAD, OptionRight, OrderPath, Pace, PublisherSettings, Side, SimulatedMarket,
    SimulatedMarketSettings, TradingStatus,
};
use hairpin_time::{Duration, Instant, Now, Utc};

/// When the capture begins: 30 seconds before 18:00 UTC on a Monday in 2026.
const BEGINNING: Utc = Utc::from_nanos(1_767_635_970_000_000_000);
/// The time between packets.
const STEP: Duration = Duration::from_micros(20);
/// The time between events.
const EVENT: Duration = Duration::from_millis(20);
/// The feeds' codes in names of interfaces.
const CODES: [&str; 4] = ["I", "N", "S", "SMBO"];

/// The size and the faults of a capture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Market {
    pub(crate) instruments: u32,
    pub(crate) events: u32,
    /// The event whose packets are missing, and some after it.
    pub(crate) lost: Option<u32>,
    pub(crate) seed: u64,
}

impl Market {
    /// A small channel whose events pass the hour.
    pub(crate) const SMALL: Self = Self { instruments: 10, events: 3_000, lost: None, seed: 1 };
}

struct Writing {
    market: SimulatedMarket,
    writer: CaptureWriter<BufWriter<File>>,
    lines: Vec<(SocketAddrV4, u32)>,
    now: Now,
    loses: bool,
}

/// Writes the capture.
pub(crate) fn write(path: &Path, settings: &Market) -> io::Result<()> {
    let file = BufWriter::new(File::create(path)?);
    let mut writer = CaptureWriter::new(file, CaptureFormat::from_path(path))?;
    let mut lines = Vec::new();
    for (feed, code) in CODES.iter().enumerate() {
        let group = SocketAddrV4::new(Ipv4Addr::new(224, 0, 31, 1 + 21 * feed as u8), 14_310);
        let description = format!("channel 310, feed {code}, side A, {group}");
        let name = format!("310{code}A");
        lines.push((group, writer.interface(&name, &description, CaptureClock::Software)?));
    }
    let now = Now { monotonic: Instant::from_nanos(1_000_000_000), utc: BEGINNING };
    let market = SimulatedMarket::new(&market_settings(settings), now);
    let mut writing = Writing { market, writer, lines, now, loses: false };
    writing.send_for(Duration::from_millis(400))?;
    writing.market.publisher_mut().set_pace(Pace::Paced, writing.now.monotonic);
    for event in 0..settings.events {
        writing.loses = settings.lost.is_some_and(|lost| (lost..lost + 20).contains(&event));
        let status = match event % 1_000 {
            0 => Some(TradingStatus::TradingHalt),
            1 => Some(TradingStatus::ReadyToTrade),
            _ => None,
        };
        match status {
            Some(status) => drop(writing.market.set_status(writing.now, Some(0), status)),
            None => drop(writing.market.step(writing.now)),
        }
        writing.send_for(EVENT)?;
    }
    writing.writer.flush()
}

impl Writing {
    /// Sends what is due, and passes so much time.
    fn send_for(&mut self, duration: Duration) -> io::Result<()> {
        let until = self.now.monotonic + duration;
        while self.now.monotonic < until {
            let is_idle = !self.send()?;
            if is_idle && self.market.is_deferred() {
                self.market.publish(self.now);
            } else if is_idle && duration == EVENT {
                self.pass(until.saturating_since(self.now.monotonic));
            } else {
                self.pass(STEP);
            }
        }
        Ok(())
    }

    fn send(&mut self) -> io::Result<bool> {
        let mut packet = [0; MAX_PAYLOAD];
        let transmit = self.market.publisher_mut().poll_transmit(self.now, &mut packet);
        let Some(transmit) = transmit else { return Ok(false) };
        let source = SocketAddrV4::new(Ipv4Addr::new(205, 209, 223, 70), 40_000);
        let (group, interface) = self.lines[transmit.feed as usize];
        if !(self.loses && transmit.feed == Feed::Incremental) {
            let at = self.now.utc + Duration::from_micros(1);
            let payload = &packet[..transmit.length];
            self.writer.datagram(interface, at, [source, group], payload)?;
        }
        Ok(true)
    }

    fn pass(&mut self, duration: Duration) {
        let Now { monotonic, utc } = self.now;
        self.now = Now { monotonic: monotonic + duration, utc: utc + duration };
    }
}

fn market_settings(settings: &Market) -> SimulatedMarketSettings {
    SimulatedMarketSettings {
        instruments: instruments(settings.instruments),
        seed: settings.seed,
        flow: BackgroundFlow::ALL,
        capacity: Capacity::default(),
        publisher: PublisherSettings {
            loop_period: Duration::from_secs(5),
            group: Group::Premium {
                orders: Some(FullOrders { path: OrderPath::WithLevels, chunk: 20 }),
            },
            statistics: true,
            ..PublisherSettings::default()
        },
    }
}

/// Returns futures, and of five instruments one option and one spread.
fn instruments(count: u32) -> Vec<Instrument> {
    let mut instruments = Instrument::numbered(count);
    for place in 2..instruments.len() {
        let of = |back: usize| instruments[place - back].security_id;
        let kind = match place % 5 {
            3 => InstrumentKind::Option {
                right: OptionRight::Put,
                strike: instruments[place].reference,
                underlying: (of(1), instruments[place - 1].symbol.clone()),
            },
            4 => {
                let leg = |back, side| Leg { security_id: of(back), side, ratio: 1 };
                InstrumentKind::Spread { legs: vec![leg(3, Side::Bid), leg(2, Side::Offer)] }
            }
            _ => continue,
        };
        instruments[place].kind = kind;
    }
    instruments
}
