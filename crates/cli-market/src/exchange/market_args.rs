//! The arguments for the market of `hairpin exchange` and for faults of its packets.

use std::net::{Ipv4Addr, SocketAddrV4};

use clap::ValueEnum;
use hairpin_exchange::{
    Capacity, Credentials, FaultSettings, FeedFaults, GatewayKind, GatewaySettings, Group, Groups,
    Instrument, LineFaults, PublisherSettings, ReplaySchema, ReplaySettings,
    SimulatedMarketSettings, Venue,
};
use hairpin_time::Duration;

/// The largest number of instruments, so that order numbers suffice.
const INSTRUMENTS_MAX: i64 = 20_000;
/// The default number of reports kept per session.
const KEPT_MESSAGES: u32 = 4_096;
/// The default rate of a loop: a hundred definitions take about 15 ms.
const LOOP_RATE: u32 = 2_000;
/// The default number of instruments.
const INSTRUMENTS: u32 = 100;
/// The default number of the channel.
const CHANNEL: i16 = 310;
/// The default market segment.
const MARKET_SEGMENT: u8 = 64;

/// The kind of the published group.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupKind {
    /// Every event, price levels only
    #[default]
    Levels,
    /// Every event, with all orders and statistics
    Premium,
    /// Conflated to 50 ms, with the ten best orders per side and statistics
    Brokertec,
    /// Conflated to 5 ms, with 64-bit quantities and statistics
    Ebs,
}

/// The CME rules that the gateway enforces.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GatewayRules {
    /// All rules, including at most 500 orders and 1,000 cancels per second, which a tick per
    /// millisecond exceeds
    Cme,
    /// All rules without message rate limits
    #[default]
    Unlimited,
    /// Like unlimited, but without port closures for bad logons and without cancel on disconnect
    Lenient,
}

impl GatewayRules {
    /// Describes the rules in a few words.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Cme => "with CME's limits",
            Self::Unlimited => "without rate limits",
            Self::Lenient => "without rate limits, lenient",
        }
    }
}

/// The kind of the gateway.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GatewayKindArg {
    /// Market segment gateway: no status request for all orders
    #[default]
    Msgw,
    /// Convenience gateway
    Cgw,
}

/// The schema of the replay service's logins and logouts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplaySchemaArg {
    /// The core schema
    #[default]
    Core,
    /// A schema of its own with made-up ids, like CME's Global TCP Recovery schema
    Foreign,
}

/// The venue whose rules for single fields the gateway enforces.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VenueArg {
    /// Futures and options
    #[default]
    Futures,
    /// BrokerTec: replacements and cancels require the OrderID
    Brokertec,
    /// EBS: operators have three characters
    Ebs,
}

/// The arguments for the market, its gateway, and network faults.
#[derive(clap::Args, Debug, Clone, Default)]
#[group(skip)]
pub(crate) struct MarketArgs {
    /// Number of instruments
    #[arg(long, value_name = "N", default_value_t = INSTRUMENTS,
          value_parser = clap::value_parser!(u32).range(1..=INSTRUMENTS_MAX))]
    instruments: u32,

    /// Publish one instrument for each way in which CME displays prices: ES, 6E, ZN, ZC and more
    #[arg(long, conflicts_with = "instruments")]
    display_formats: bool,

    /// Number of the channel, ApplID (1180)
    #[arg(long, value_name = "N", default_value_t = CHANNEL,
          value_parser = clap::value_parser!(i16).range(1..))]
    pub(super) channel: i16,

    /// MarketSegmentID (1300) of the instruments
    #[arg(long, value_name = "N", default_value_t = MARKET_SEGMENT)]
    market_segment: u8,

    /// Published group; ticks of conflated groups are not measured, because several form one event
    #[arg(long, value_enum, default_value_t = GroupKind::Levels)]
    group: GroupKind,

    /// CME rules that the gateway enforces
    #[arg(long, value_enum, default_value_t = GatewayRules::Unlimited)]
    pub(super) gateway_rules: GatewayRules,

    /// Kind of the gateway
    #[arg(long, value_enum, default_value_t = GatewayKindArg::Msgw)]
    gateway_kind: GatewayKindArg,

    /// Venue whose rules for single fields the gateway enforces
    #[arg(long, value_enum, default_value_t = VenueArg::Futures)]
    venue: VenueArg,

    /// Reports kept per session for retransmission
    #[arg(long, value_name = "N", default_value_t = KEPT_MESSAGES,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    kept_messages: u32,

    /// Faults on line A of multicast, in per cent of packets, times in ms:
    /// drop=1,duplicate=1,reorder=1,delay=1:5,silence=0.01:40000
    #[arg(long, value_name = "FAULTS", value_parser = parse_faults)]
    faults_a: Option<LineFaults>,

    /// Faults on line B, in the same form
    #[arg(long, value_name = "FAULTS", value_parser = parse_faults)]
    faults_b: Option<LineFaults>,

    /// Seed of the faults
    #[arg(long, value_name = "N", default_value_t = 1)]
    fault_seed: u64,

    /// Port of the TCP replay service, 0 for a free one [default: no replay service]
    #[arg(long, value_name = "PORT")]
    replay_port: Option<u16>,

    /// Schema of the replay service's logins and logouts
    #[arg(long, value_enum, default_value_t = ReplaySchemaArg::Core)]
    replay_schema: ReplaySchemaArg,

    /// Highest rate of each feed loop until the traders are in sync, in packets per second
    #[arg(long, value_name = "N", default_value_t = LOOP_RATE,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    loop_rate: u32,
}

impl MarketArgs {
    /// Returns the market of the benchmarks.
    pub(crate) fn benchmark() -> Self {
        let gateway_rules = GatewayRules::Lenient;
        let kept_messages = KEPT_MESSAGES;
        let loop_rate = LOOP_RATE;
        Self {
            instruments: INSTRUMENTS,
            channel: CHANNEL,
            market_segment: MARKET_SEGMENT,
            gateway_rules,
            kept_messages,
            loop_rate,
            ..Self::default()
        }
    }

    /// Returns the gateway settings for these accounts and this number of connections.
    pub(crate) fn gateway(&self, accounts: Vec<Credentials>, connections: u32) -> GatewaySettings {
        let orders = self.floor(0).capacity.orders;
        let settings = match self.gateway_rules {
            GatewayRules::Lenient => GatewaySettings::lenient(accounts, connections, orders),
            _ => GatewaySettings::new(accounts, connections, orders),
        };
        let limits = settings.limits.filter(|_| self.gateway_rules == GatewayRules::Cme);
        let kind = match self.gateway_kind {
            GatewayKindArg::Msgw => GatewayKind::Msgw,
            GatewayKindArg::Cgw => GatewayKind::Cgw,
        };
        let venue = match self.venue {
            VenueArg::Futures => Venue::FuturesAndOptions,
            VenueArg::Brokertec => Venue::BrokerTec,
            VenueArg::Ebs => Venue::Ebs,
        };
        GatewaySettings { limits, kind, venue, kept_messages: self.kept_messages, ..settings }
    }

    /// Returns the settings of the simulated market.
    pub(crate) fn floor(&self, seed: u64) -> SimulatedMarketSettings {
        let publisher = match self.group {
            GroupKind::Levels => PublisherSettings::default(),
            GroupKind::Premium => PublisherSettings::premium(),
            GroupKind::Brokertec => PublisherSettings::brokertec(),
            GroupKind::Ebs => PublisherSettings::ebs(),
        };
        let &Self { channel, market_segment, loop_rate, .. } = self;
        let loop_rate = Some(loop_rate);
        let publisher = PublisherSettings { channel, market_segment, loop_rate, ..publisher };
        // A seeded book has about 80 orders on 40 levels.
        let Capacity { orders, levels } = Capacity::default();
        let capacity = Capacity {
            orders: orders.max(120 * self.instruments),
            levels: levels.max(60 * self.instruments),
        };
        let instruments = match self.display_formats {
            true => Instrument::display_formats(),
            false => Instrument::numbered(self.instruments),
        };
        SimulatedMarketSettings {
            instruments,
            seed,
            capacity,
            publisher,
            ..SimulatedMarketSettings::default()
        }
    }

    /// Returns the groups of order snapshots, if published: the two groups after those of the other
    /// snapshots.
    pub(crate) fn order_snapshots(&self, snapshots: [SocketAddrV4; 2]) -> Option<Groups> {
        let group = self.floor(0).publisher.group;
        if !matches!(group, Group::Premium { orders: Some(_) }) {
            return None;
        }
        let behind =
            |of: SocketAddrV4| SocketAddrV4::new(Ipv4Addr::from(of.ip().to_bits() + 2), of.port());
        Some(Groups { a: behind(snapshots[0]), b: Some(behind(snapshots[1])) })
    }

    /// Returns the configured faults.
    pub(crate) fn faults(&self) -> Option<FeedFaults> {
        let (a, b) = (self.faults_a.unwrap_or_default(), self.faults_b.unwrap_or_default());
        let is_any = self.faults_a.is_some() || self.faults_b.is_some();
        is_any.then(|| FeedFaults::new(&FaultSettings { seed: self.fault_seed, a, b }))
    }

    /// Returns the configured replay service and its address.
    pub(crate) fn replay(&self, interface: Ipv4Addr) -> Option<(ReplaySettings, SocketAddrV4)> {
        let port = self.replay_port?;
        let schema = match self.replay_schema {
            ReplaySchemaArg::Core => ReplaySchema::Core,
            ReplaySchemaArg::Foreign => ReplaySchema::Foreign,
        };
        let channel = self.channel;
        let settings = ReplaySettings { channel, schema, ..ReplaySettings::default() };
        Some((settings, SocketAddrV4::new(interface, port)))
    }
}

/// Parses faults of one line: `name=PER CENT`, with `:MILLISECONDS` for those that take time.
fn parse_faults(text: &str) -> Result<LineFaults, String> {
    let mut faults = LineFaults::default();
    for word in text.split(',') {
        let (name, value) =
            word.split_once('=').ok_or("expected faults such as drop=1,delay=2:5")?;
        let (share, time) = match value.split_once(':') {
            Some((share, time)) => (share, Some(milliseconds(time)?)),
            None => (value, None),
        };
        let ppm = parts_per_million(share)?;
        match (name, time) {
            ("drop", None) => faults.drop_ppm = ppm,
            ("duplicate", None) => faults.duplicate_ppm = ppm,
            ("reorder", None) => faults.reorder_ppm = ppm,
            ("delay", Some(time)) => (faults.delay_ppm, faults.delay_max) = (ppm, time),
            ("silence", Some(time)) => (faults.silence_ppm, faults.silence) = (ppm, time),
            ("delay" | "silence", None) => {
                return Err(format!("{name} needs a time in milliseconds, such as {name}=1:5"));
            }
            _ => {
                let names = "drop=PERCENT, duplicate=PERCENT, reorder=PERCENT, delay=PERCENT:MS or \
                             silence=PERCENT:MS";
                return Err(format!("unknown fault {word}: use {names}"));
            }
        }
    }
    Ok(faults)
}

fn parts_per_million(percent: &str) -> Result<u32, String> {
    let share: f64 = percent.parse().map_err(|_| format!("{percent} is not a number"))?;
    if !(0.0..=100.0).contains(&share) {
        return Err(format!("{percent} is not from 0 to 100 percent"));
    }
    // At most a million.
    Ok((share * 10_000.0).round() as u32)
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .map(Duration::from_millis)
        .map_err(|_| format!("{text} is not a number of milliseconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_by_their_names() {
        let expected = LineFaults {
            drop_ppm: 10_000,
            duplicate_ppm: 5_000,
            reorder_ppm: 1_000_000,
            delay_ppm: 20_000,
            delay_max: Duration::from_millis(5),
            silence_ppm: 100,
            silence: Duration::from_secs(40),
        };
        let text = "drop=1,duplicate=0.5,reorder=100,delay=2:5,silence=0.01:40000";
        assert_eq!(parse_faults(text), Ok(expected));
    }

    #[test]
    fn rejects_unknown_faults() {
        for text in ["", "drop", "drop=x", "drop=101", "delay=1", "drop=1:5", "rain=1", "delay=1:x"]
        {
            assert!(parse_faults(text).is_err(), "{text}");
        }
    }

    #[test]
    fn reads_benchmark_floor() {
        let floor = MarketArgs::benchmark().floor(7);
        let usual = SimulatedMarketSettings { seed: 7, ..SimulatedMarketSettings::default() };
        assert_eq!(floor.instruments, usual.instruments);
        let publisher = PublisherSettings { loop_rate: Some(LOOP_RATE), ..usual.publisher };
        assert_eq!((floor.capacity, floor.publisher), (usual.capacity, publisher));
    }

    #[test]
    fn snapshots_of_orders_have_groups_behind_the_others() {
        let snapshots = [4, 5].map(|n| SocketAddrV4::new(Ipv4Addr::new(239, 1, 1, n), 9));
        assert_eq!(MarketArgs::benchmark().order_snapshots(snapshots), None);
        let premium = MarketArgs { group: GroupKind::Premium, ..MarketArgs::benchmark() };
        let groups = premium.order_snapshots(snapshots).unwrap();
        assert_eq!(groups.a, "239.1.1.6:9".parse().unwrap());
        assert_eq!(groups.b, Some("239.1.1.7:9".parse().unwrap()));
    }
}
