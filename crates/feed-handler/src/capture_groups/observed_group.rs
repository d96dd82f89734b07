//! A destination of a capture, and what its packets contain.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;

use hairpin_cme_codecs::mdp3;
use hairpin_endpoint::capture::Interface;
use hairpin_mdp3::{Message, Messages, PacketHeader};
use hairpin_sbe::{Value, Visitor};

use crate::{Feed, FeedLine};

/// The packets of a group that are compared with another's to detect whether both are one feed:
/// minutes of a busy channel.
const COMPARED: usize = 1 << 16;
/// The largest step between packets of two lines that have none in common, as in the arbitration
/// of lines.
const MAX_STEP: u32 = 1_000;

/// Returns the packet's header and messages if the bytes are a packet of CME's market data: each
/// message is whole, and the first has its schema.
pub(super) fn market_data(bytes: &[u8]) -> Option<(PacketHeader, &[u8])> {
    let (header, messages) = PacketHeader::decode(bytes).ok()?;
    let mut first = None;
    for message in Messages::new(messages) {
        first = first.or(Some(message.ok()?.header.schema_id));
    }
    (first == Some(mdp3::SCHEMA_ID)).then_some((header, messages))
}

/// The kind of feed that a group's packets show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Incremental,
    Definitions,
    /// Snapshots of price books alone (52, 69).
    Prices,
    /// Snapshots of order books, alone or after those of the price books (53).
    Orders,
    /// Heartbeats whose numbers repeat: a loop without contents.
    EmptyLoop,
    /// Too little to tell.
    Unknown,
}

impl Kind {
    /// Returns the feed of the kind. Loops without contents are those of books.
    pub(super) fn feed(self) -> Feed {
        match self {
            Self::Incremental | Self::Unknown => Feed::Incremental,
            Self::Definitions => Feed::Instrument,
            Self::Prices | Self::EmptyLoop => Feed::Snapshot,
            Self::Orders => Feed::SnapshotOrders,
        }
    }
}

/// The relation of two groups of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    SameFeed,
    OtherFeeds,
}

/// A line of a feed, as the recorder names it: `310IA`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordedName {
    pub(super) channel: String,
    pub(super) feed: Feed,
    pub(super) line: FeedLine,
}

impl RecordedName {
    /// Returns the line that an interface names, if Hairpin's recorder described it.
    pub(super) fn new(interface: &Interface) -> Option<Self> {
        let rest = interface.name.strip_suffix(['A', 'B'])?;
        let line = if interface.name.ends_with('A') { FeedLine::A } else { FeedLine::B };
        let feeds = [
            ("SMBO", Feed::SnapshotOrders),
            ("I", Feed::Incremental),
            ("N", Feed::Instrument),
            ("S", Feed::Snapshot),
        ];
        let named =
            feeds.into_iter().find_map(|(code, feed)| Some((rest.strip_suffix(code)?, feed)));
        let (channel, feed) = named?;
        let described = interface.description.strip_prefix("channel ")?.strip_prefix(channel)?;
        let channel = channel.to_owned();
        described.starts_with(", ").then_some(Self { channel, feed, line })
    }
}

/// The number of messages of each kind.
#[derive(Debug, Default)]
struct Contents {
    /// Definitions with TotNumReports (911), which only the loop states, and without.
    loop_definitions: u64,
    definitions: u64,
    prices: u64,
    orders: u64,
    heartbeats: u64,
    others: u64,
}

/// The packets with one number: a hash of the messages of each, and the SendingTime of those with
/// heartbeats alone.
#[derive(Debug, Default)]
struct Numbered {
    contents: BTreeSet<u64>,
    heartbeats: BTreeSet<u64>,
}

/// A destination and its packets.
#[derive(Debug)]
pub(super) struct ObservedGroup {
    pub(super) address: SocketAddr,
    pub(super) packets: u64,
    /// What the recorder named the group; with an error if it gave it several names.
    pub(super) name: Option<Result<RecordedName, ()>>,
    contents: Contents,
    by_number: HashMap<u32, Numbered>,
    compared: usize,
    last: Option<(u32, u64)>,
    /// A number came again or fell, in a packet sent later.
    repeats: bool,
    /// The latest SendingTime.
    pub(super) last_sent: u64,
    /// The SendingTime of the first packet with book entries.
    pub(super) first_update: Option<u64>,
    /// Instruments that messages name.
    pub(super) security_ids: HashSet<i32>,
    /// ApplID (1180) of definitions.
    pub(super) channels: BTreeSet<i64>,
    /// The largest TotNumReports (911).
    pub(super) reports: u64,
    /// The lowest and highest LastMsgSeqNumProcessed (369).
    pub(super) processed: Option<(u32, u32)>,
}

impl ObservedGroup {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            packets: 0,
            name: None,
            contents: Contents::default(),
            by_number: HashMap::new(),
            compared: 0,
            last: None,
            repeats: false,
            last_sent: 0,
            first_update: None,
            security_ids: HashSet::new(),
            channels: BTreeSet::new(),
            reports: 0,
            processed: None,
        }
    }

    /// Records a packet that was captured on `interface`.
    pub(super) fn record(
        &mut self,
        header: PacketHeader,
        messages: &[u8],
        interface: Option<&Interface>,
    ) {
        let (number, sent) = (header.sequence, header.sending_time.as_nanos());
        self.packets += 1;
        self.record_name(interface);
        if let Some((last, last_sent)) = self.last {
            self.repeats |= number <= last && sent > last_sent;
        }
        self.last = Some((number, sent));
        self.last_sent = self.last_sent.max(sent);
        if self.compared == COMPARED {
            return;
        }
        self.compared += 1;
        let heartbeats = self.contents.heartbeats;
        let mut count = 0;
        for message in Messages::new(messages).flatten() {
            count += 1;
            self.record_message(&message);
            // Definitions and statuses precede the first orders of a week.
            if matches!(message.header.template_id, 32 | 37 | 42 | 43 | 46..=51 | 59 | 64..=67) {
                self.first_update = Some(self.first_update.map_or(sent, |first| first.min(sent)));
            }
        }
        let numbered = self.by_number.entry(number).or_default();
        if self.contents.heartbeats - heartbeats == count {
            numbered.heartbeats.insert(sent);
            return;
        }
        let mut hasher = DefaultHasher::new();
        messages.hash(&mut hasher);
        numbered.contents.insert(hasher.finish());
    }

    fn record_name(&mut self, interface: Option<&Interface>) {
        let name = interface.and_then(RecordedName::new);
        match (&self.name, name) {
            (None, Some(name)) if self.packets == 1 => self.name = Some(Ok(name)),
            (None, None) => {}
            (Some(Ok(known)), Some(name)) if *known == name => {}
            _ => self.name = Some(Err(())),
        }
    }

    fn record_message(&mut self, message: &Message<'_>) {
        let mut facts = Facts::default();
        // A message that cannot be decoded names nothing.
        let _ = mdp3::visit(&message.header, message.body, &mut facts);
        let count = match message.header.template_id {
            // Templates below 46 are of schemas before version 9.
            27 | 29 | 41 | 54..=58 | 63 if facts.reports.is_some() => {
                &mut self.contents.loop_definitions
            }
            27 | 29 | 41 | 54..=58 | 63 => &mut self.contents.definitions,
            38 | 52 | 69 => &mut self.contents.prices,
            44 | 53 => &mut self.contents.orders,
            12 => &mut self.contents.heartbeats,
            _ => &mut self.contents.others,
        };
        *count += 1;
        if matches!(message.header.template_id, 54..=58 | 63) {
            self.channels.extend(facts.channel);
        }
        self.security_ids.extend(facts.security_ids);
        self.reports = self.reports.max(facts.reports.unwrap_or(0));
        if let Some(number) = facts.processed {
            let (low, high) = self.processed.unwrap_or((number, number));
            self.processed = Some((low.min(number), high.max(number)));
        }
    }

    /// Returns the kind of feed. The incremental feed has definitions too, without TotNumReports
    /// (911), and rarely nothing else.
    pub(super) fn kind(&self) -> Kind {
        let Contents { loop_definitions, definitions, prices, orders, others, .. } = self.contents;
        let is_numbered_on = self.by_number.len() > 1 || !self.by_number.contains_key(&1);
        match (others, loop_definitions + definitions, prices, orders) {
            (1.., ..) => Kind::Incremental,
            (0, 1.., 0, 0) if loop_definitions > 0 || self.is_loop() => Kind::Definitions,
            (0, 1.., 0, 0) => Kind::Incremental,
            (0, 0, 1.., 0) => Kind::Prices,
            (0, 0, _, 1..) => Kind::Orders,
            (0, 1.., ..) => Kind::Unknown,
            (0, 0, 0, 0) if self.is_loop() => Kind::EmptyLoop,
            (0, 0, 0, 0) if is_numbered_on => Kind::Incremental,
            (0, 0, 0, 0) => Kind::Unknown,
        }
    }

    /// Returns `true` if numbers repeat as in a loop, not once as when numbering restarts.
    fn is_loop(&self) -> bool {
        self.repeats && self.by_number.len() * 2 <= self.compared
    }

    /// Returns `true` if packets of `feed` may have these contents.
    pub(super) fn may_be(&self, feed: Feed) -> bool {
        match self.kind() {
            Kind::Incremental => feed == Feed::Incremental,
            Kind::Definitions => matches!(feed, Feed::Instrument | Feed::Incremental),
            Kind::Prices | Kind::Orders => matches!(feed, Feed::Snapshot | Feed::SnapshotOrders),
            Kind::EmptyLoop | Kind::Unknown => true,
        }
    }

    /// Returns `true` if any message is not a heartbeat.
    pub(super) fn has_contents(&self) -> bool {
        let Contents { loop_definitions, definitions, prices, orders, others, .. } = self.contents;
        loop_definitions + definitions + prices + orders + others > 0
    }

    /// Returns `true` if the group has snapshots of price books.
    pub(super) fn has_prices(&self) -> bool {
        self.contents.prices > 0
    }

    /// Returns `true` if the group has definitions.
    pub(super) fn has_definitions(&self) -> bool {
        self.contents.loop_definitions + self.contents.definitions > 0
    }

    /// Returns `true` if the group has a packet with this number.
    pub(super) fn has_number(&self, number: u32) -> bool {
        self.by_number.contains_key(&number)
    }

    /// Returns the highest packet number, of those compared.
    pub(super) fn highest(&self) -> u32 {
        self.by_number.keys().copied().max().unwrap_or(0)
    }

    /// Returns `true` if all instruments of a loop were seen.
    pub(super) fn is_whole_loop(&self) -> bool {
        self.reports > 0 && self.security_ids.len() as u64 >= self.reports
    }

    /// Returns whether two groups of one kind are the lines of one feed: packets with the same
    /// number have the same messages. The lines may have their own SendingTime.
    pub(super) fn relation(&self, other: &Self) -> Relation {
        let (mut equal, mut different, mut equal_heartbeats) = (0_u32, 0_u32, 0_u32);
        for (number, one) in &self.by_number {
            let Some(two) = other.by_number.get(number) else { continue };
            match (one.contents.is_empty(), two.contents.is_empty()) {
                (true, true) => {
                    equal_heartbeats += u32::from(!one.heartbeats.is_disjoint(&two.heartbeats));
                }
                (false, false) if !one.contents.is_disjoint(&two.contents) => equal += 1,
                _ => different += 1,
            }
        }
        let is_same = match (equal, different) {
            _ if self.is_of_other_channel(other) => false,
            (0, 0) => equal_heartbeats > 0 || self.continues(other),
            // In a loop, the snapshots of the passes that one line has lost differ.
            (0, _) => self.is_same_loop(other),
            _ => equal >= different,
        };
        if is_same { Relation::SameFeed } else { Relation::OtherFeeds }
    }

    /// Returns `true` if the definitions of two groups are of different channels.
    pub(super) fn is_of_other_channel(&self, other: &Self) -> bool {
        let (one, two) = (&self.channels, &other.channels);
        !one.is_empty() && !two.is_empty() && one.is_disjoint(two)
    }

    /// Returns `true` if loops name the same instruments, in passes of which each line has lost
    /// others.
    fn is_same_loop(&self, other: &Self) -> bool {
        let is_loop = !matches!(self.kind(), Kind::Incremental);
        let shared = self.security_ids.intersection(&other.security_ids).count();
        let fewer = self.security_ids.len().min(other.security_ids.len());
        let overlaps = |(low, high): (u32, u32), (other_low, other_high): (u32, u32)| {
            low <= other_high && other_low <= high
        };
        let same_passes = match (self.processed, other.processed) {
            (Some(one), Some(two)) => overlaps(one, two),
            // Each definition states its channel.
            _ => !self.channels.is_disjoint(&other.channels),
        };
        let same_count = self.reports == other.reports;
        is_loop && same_count && same_passes && shared * 2 > fewer
    }

    /// Returns `true` if two groups without a common number are parts of one stream: together they
    /// have most of the numbers, without a large step, and later packets have higher numbers.
    fn continues(&self, other: &Self) -> bool {
        let has_heartbeats_alone =
            |group: &Self| group.contents.heartbeats == group.compared as u64;
        if has_heartbeats_alone(self) != has_heartbeats_alone(other) {
            return false;
        }
        let mut numbers: Vec<u32> =
            self.by_number.keys().chain(other.by_number.keys()).copied().collect();
        numbers.sort_unstable();
        let span = numbers.last().zip(numbers.first()).map_or(0, |(last, first)| last - first);
        let steps = numbers.windows(2).all(|pair| pair[1] - pair[0] <= MAX_STEP);
        let shared = self.by_number.keys().any(|number| other.by_number.contains_key(number));
        !shared && steps && span as usize <= 2 * numbers.len()
    }
}

/// Prints the address, the number of packets, and their contents.
impl fmt::Display for ObservedGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Contents { loop_definitions, definitions, prices, orders, heartbeats, others } =
            self.contents;
        let all = [
            ("definitions", loop_definitions + definitions),
            ("price snapshots", prices),
            ("order snapshots", orders),
            ("updates", others),
            ("heartbeats", heartbeats),
        ];
        let seen: Vec<_> =
            all.iter().filter(|(_, count)| *count > 0).map(|(name, _)| *name).collect();
        let repeats = if self.repeats { ", numbers repeat" } else { "" };
        let packets = if self.packets == 1 { "packet" } else { "packets" };
        let seen = seen.join(" and ");
        write!(f, "{} ({} {packets} of {seen}{repeats})", self.address, self.packets)
    }
}

/// The fields of a message that tell feeds apart.
#[derive(Debug, Default)]
struct Facts {
    security_ids: Vec<i32>,
    channel: Option<i64>,
    reports: Option<u64>,
    processed: Option<u32>,
    /// The current group does not name instruments of the channel.
    is_of_related: bool,
}

impl Visitor for Facts {
    fn field(&mut self, name: &str, value: Value<'_>) {
        match (name, value) {
            ("SecurityID", Value::Signed(id)) if !self.is_of_related => {
                self.security_ids.extend(i32::try_from(id));
            }
            ("ApplID", Value::Signed(channel)) => self.channel = Some(channel),
            ("TotNumReports", Value::Unsigned(reports)) => self.reports = Some(reports),
            ("LastMsgSeqNumProcessed", Value::Unsigned(number)) => {
                self.processed = u32::try_from(number).ok();
            }
            _ => {}
        }
    }

    fn group(&mut self, name: &str, _: usize) {
        // Legs and underlyings may be of other channels.
        self.is_of_related = !name.starts_with("NoMDEntries") && name != "NoRelatedSym";
    }

    fn end_group(&mut self) {
        self.is_of_related = false;
    }
}
