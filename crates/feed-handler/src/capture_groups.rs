//! The groups of a capture, and the feeds and sides that they carry.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr};

use hairpin_cme_codecs::mdp3;
use hairpin_endpoint::capture::{CaptureReader, Payload};
use hairpin_sbe::MessageHeader;
use hairpin_time::Duration;

use crate::{
    Feed, FeedLine, FeedLines, Feeds, Group, LateJoin, Lines, Multicast, OrderBooks, Settings,
};

/// The packets of a group that are compared with another's to detect whether both are one feed:
/// minutes of a busy channel.
const COMPARED: usize = 1 << 16;

/// Room for every instrument of the largest CME channel; about 25 MB.
const INSTRUMENTS_MAX: usize = 1 << 15;
/// A capture may have long runs that are queued until a snapshot arrives.
const QUEUE_BYTES: usize = 64 << 20;

/// Destinations of datagrams in a capture, and the feeds and sides that they carry. If the groups
/// are known, as from a config.xml, create them with [`CaptureGroups::new`].
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CaptureGroups(Vec<(SocketAddr, Feed, FeedLine)>);

impl CaptureGroups {
    /// Creates a map of known groups.
    #[must_use]
    pub fn new(groups: impl IntoIterator<Item = (SocketAddr, Feed, FeedLine)>) -> Self {
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|&(group, feed, side)| (feed as u8, side as u8, group));
        Self(groups)
    }

    /// Detects the groups of a capture.
    ///
    /// A destination is a group if one of its datagrams begins with a packet header and a message
    /// of CME's market data. The first messages of its packets determine the feed: with only
    /// definitions or only snapshots it is a loop. Two groups of one feed are its sides, A the one
    /// that came first; for the incremental feed only if packets with the same number are equal.
    ///
    /// # Errors
    /// If the file is not a capture, has no such group, or has several channels.
    pub fn detect(input: impl Read) -> io::Result<Self> {
        let mut seen = Vec::<Seen>::new();
        let mut places = HashMap::<SocketAddr, usize>::new();
        let mut wrong = None;
        let mut reader = CaptureReader::new(input)?;
        let end = loop {
            let frame = match reader.next_frame() {
                Ok(Some(frame)) => frame,
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            };
            match frame.payload() {
                Ok(Payload::Datagram { destination: to, bytes, .. }) => {
                    if let Some(first) = First::parse(bytes) {
                        let place = *places.entry(to).or_insert_with(|| {
                            seen.push(Seen::new(to));
                            seen.len() - 1
                        });
                        seen[place].record(first);
                    }
                }
                Ok(_) => {}
                Err(error) => wrong = wrong.take().or_else(|| Some(error.to_string())),
            }
        };
        let groups = Self::from_seen(&seen).map_err(|what| match wrong.or(end) {
            // It may explain why there is nothing.
            Some(why) if seen.is_empty() => format!("{what}: {why}"),
            _ => what,
        });
        groups.map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))
    }

    fn from_seen(seen: &[Seen]) -> Result<Self, String> {
        if seen.is_empty() {
            return Err("no market data over UDP in this capture".into());
        }
        let mut groups = Vec::new();
        for feed in Feed::ALL {
            let same: Vec<_> = seen.iter().filter(|group| group.feed() == feed).collect();
            match same[..] {
                [] => {}
                [one] => groups.push((one.group, feed, FeedLine::A)),
                [one, other] if feed != Feed::Incremental || one.may_be_side_of(other) => {
                    groups
                        .extend([(one.group, feed, FeedLine::A), (other.group, feed, FeedLine::B)]);
                }
                _ => {
                    let names: Vec<_> = same.iter().map(|group| group.group.to_string()).collect();
                    return Err(format!(
                        "more than one channel: the {feed} feed is on {}; \
                         filter the capture by group",
                        names.join(", ")
                    ));
                }
            }
        }
        Ok(Self::new(groups))
    }

    /// Returns the addresses of each feed for a receiver on the host and interface with this
    /// address. IPv6 groups are left out.
    #[must_use]
    pub fn multicast(&self, interface: Ipv4Addr) -> Multicast {
        let group = |feed, side| {
            let found = self.0.iter().find(|&&(_, of, on)| (of, on) == (feed, side));
            found.and_then(|(group, ..)| match group {
                SocketAddr::V4(group) => Some(Group::new(*group, &[interface])),
                SocketAddr::V6(_) => None,
            })
        };
        let lines = |feed| Lines { a: group(feed, FeedLine::A), b: group(feed, FeedLine::B) };
        Multicast {
            incremental: lines(Feed::Incremental),
            instrument: lines(Feed::Instrument),
            snapshot: lines(Feed::Snapshot),
            snapshot_orders: lines(Feed::SnapshotOrders),
            interface,
            transport: Default::default(),
            replay: None,
        }
    }

    /// Returns the settings of a channel that joins with the feeds of these groups.
    #[must_use]
    pub fn settings(&self, order_books: OrderBooks) -> Settings {
        let [incremental, definitions, prices, orders] =
            [Feed::Incremental, Feed::Instrument, Feed::Snapshot, Feed::SnapshotOrders]
                .map(|feed| self.has(feed));
        // The loop of order books may carry price books too. Without them, a book is not in sync.
        let snapshots = prices || orders;
        let late_join = match (definitions, snapshots) {
            (true, true) => LateJoin::InstrumentsAndBooks,
            (true, false) if !incremental => LateJoin::InstrumentsAndBooks,
            (false, true) => LateJoin::Books,
            _ => LateJoin::Nothing,
        };
        Settings {
            late_join,
            max_instruments: INSTRUMENTS_MAX,
            queue_bytes: QUEUE_BYTES,
            // A recording begins and ends at any time, and may contain pauses.
            silence: Duration::ZERO,
            order_books,
            order_snapshots: if orders { Feed::SnapshotOrders } else { Feed::Snapshot },
            feeds: Feeds {
                snapshot: FeedLines::new(prices || !orders, prices || !orders),
                ..Feeds::ALL
            },
            ..Settings::default()
        }
    }

    /// Returns what a destination carries. A channel has at most eight groups: a scan finds that of
    /// the incremental feed faster than a search in order.
    #[inline]
    #[must_use]
    pub fn find(&self, group: SocketAddr) -> Option<(Feed, FeedLine)> {
        self.0.iter().find(|(other, ..)| *other == group).map(|&(_, feed, side)| (feed, side))
    }

    /// Returns `true` if any group carries `feed`.
    #[must_use]
    pub fn has(&self, feed: Feed) -> bool {
        self.0.iter().any(|&(_, other, _)| other == feed)
    }
}

/// The beginning of a packet.
#[derive(Clone, Copy)]
struct First {
    sequence: u32,
    sending_time: u64,
    template_id: u16,
}

impl First {
    /// Reads a packet header and the header of the message after it, if that is what the bytes are.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (sequence, rest) = bytes.split_first_chunk()?;
        let (sending_time, messages) = rest.split_first_chunk()?;
        let (size, rest) = messages.split_first_chunk()?;
        let (header, _) = MessageHeader::decode(rest).ok()?;
        let size = usize::from(u16::from_le_bytes(*size));
        let is_sound = (2 + MessageHeader::LENGTH..=messages.len()).contains(&size);
        (is_sound && header.schema_id == mdp3::SCHEMA_ID).then_some(Self {
            sequence: u32::from_le_bytes(*sequence),
            sending_time: u64::from_le_bytes(*sending_time),
            template_id: header.template_id,
        })
    }
}

/// A destination and its observed packets.
struct Seen {
    group: SocketAddr,
    /// Packets that began with a definition, a snapshot, a heartbeat, or another message.
    definitions: u64,
    snapshots: u64,
    others: u64,
    /// Sending times by sequence number, of as many packets as are compared.
    packets: HashMap<u32, BTreeSet<u64>>,
    noted: usize,
}

impl Seen {
    fn new(group: SocketAddr) -> Self {
        Self { group, definitions: 0, snapshots: 0, others: 0, packets: HashMap::new(), noted: 0 }
    }

    fn record(&mut self, first: First) {
        match first.template_id {
            54..=58 | 63 => self.definitions += 1,
            52 | 53 | 69 => self.snapshots += 1,
            // Heartbeats identify no feed: a loop may have them too.
            12 => {}
            _ => self.others += 1,
        }
        if self.noted < COMPARED {
            self.noted += 1;
            self.packets.entry(first.sequence).or_default().insert(first.sending_time);
        }
    }

    /// Returns the feed. The incremental feed has definitions too, but never nothing else for long.
    fn feed(&self) -> Feed {
        match (self.others, self.definitions, self.snapshots) {
            (1.., _, _) | (0, 0, 0) => Feed::Incremental,
            (0, definitions, snapshots) if definitions >= snapshots => Feed::Instrument,
            _ => Feed::Snapshot,
        }
    }

    /// Returns `true` if two groups may be sides of one feed: they have an equal packet, or no
    /// sequence numbers in common.
    fn may_be_side_of(&self, other: &Self) -> bool {
        let shared = self.packets.iter().filter_map(|(sequence, times)| {
            other.packets.get(sequence).map(|others| !times.is_disjoint(others))
        });
        let (same, different): (Vec<_>, Vec<_>) = shared.partition(|is_same| *is_same);
        !same.is_empty() || different.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(port: u16) -> SocketAddr {
        SocketAddr::from(([239, 1, 1, 1], port))
    }

    fn seen(port: u16, packets: &[(u32, u64, u16)]) -> Seen {
        let mut seen = Seen::new(group(port));
        for &(sequence, sending_time, template_id) in packets {
            seen.record(First { sequence, sending_time, template_id });
        }
        seen
    }

    #[test]
    fn feeds_follow_from_templates_and_sides_from_equal_packets() {
        let groups = CaptureGroups::from_seen(&[
            seen(1, &[(7, 70, 54), (8, 80, 46), (9, 90, 12)]),
            seen(2, &[(1, 10, 54), (2, 20, 63)]),
            seen(3, &[(1, 30, 52), (1, 40, 53)]),
            seen(4, &[(8, 80, 46), (10, 100, 12)]),
            seen(5, &[(1, 50, 56)]),
        ]);
        let expected = CaptureGroups::new([
            (group(1), Feed::Incremental, FeedLine::A),
            (group(4), Feed::Incremental, FeedLine::B),
            (group(2), Feed::Instrument, FeedLine::A),
            (group(5), Feed::Instrument, FeedLine::B),
            (group(3), Feed::Snapshot, FeedLine::A),
        ]);
        assert_eq!(groups.unwrap(), expected);
    }

    #[test]
    fn equal_numbers_of_different_packets_are_two_channels() {
        let error = CaptureGroups::from_seen(&[seen(1, &[(7, 70, 46)]), seen(2, &[(7, 71, 46)])])
            .unwrap_err();
        assert!(error.starts_with("more than one channel: the incremental feed"), "{error}");
        assert!(error.contains("239.1.1.1:1, 239.1.1.1:2"), "{error}");
        let sides = CaptureGroups::from_seen(&[seen(1, &[(7, 70, 46)]), seen(2, &[(8, 80, 46)])]);
        assert!(sides.is_ok());
    }

    #[test]
    fn detects_groups_of_market_data_only() {
        let heartbeat = [[0; 12].as_slice(), &[10, 0, 0, 0, 12, 0, 1, 0, 13, 0]].concat();
        assert!(First::parse(&heartbeat).is_some());
        for (at, value) in [(12, 9), (12, 11), (18, 2)] {
            let mut other = heartbeat.clone();
            other[at] = value;
            assert!(First::parse(&other).is_none(), "{at}");
        }
        assert!((0..heartbeat.len()).all(|length| First::parse(&heartbeat[..length]).is_none()));
        assert!(CaptureGroups::from_seen(&[]).is_err());
    }
}
