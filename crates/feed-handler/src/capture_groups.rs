//! The groups of a capture, and the feeds and sides that they carry.

mod observed_group;
mod observed_groups;

use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr};

use hairpin_endpoint::capture::{CaptureReader, Payload};
use hairpin_time::Duration;

use observed_groups::ObservedGroups;

use crate::{
    Feed, FeedLine, FeedLines, Feeds, Group, LateJoin, Lines, Multicast, OrderBooks, Settings,
};

/// A capture may have long runs that are queued until a snapshot arrives.
const QUEUE_BYTES: usize = 64 << 20;

/// Destinations of datagrams in a capture, and the feeds and sides that they carry. If the groups
/// are known, as from a config.xml, create them with [`CaptureGroups::new`].
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CaptureGroups(Vec<(SocketAddr, Feed, FeedLine)>);

impl CaptureGroups {
    /// The number of instruments in [`CaptureGroups::settings`]: enough for the largest CME
    /// channel, in about 75 MB.
    pub const MAX_INSTRUMENTS: usize = 1 << 15;

    /// Creates a map of known groups.
    #[must_use]
    pub fn new(groups: impl IntoIterator<Item = (SocketAddr, Feed, FeedLine)>) -> Self {
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|&(group, feed, side)| (feed as u8, side as u8, group));
        Self(groups)
    }

    /// Detects the groups of a capture.
    ///
    /// A destination is a group if one of its datagrams is a packet of CME's market data. If
    /// Hairpin recorded the file, its interfaces name the feeds and lines. Otherwise the contents
    /// decide:
    ///
    /// - A loop has definitions with TotNumReports (911), snapshots of price books (52, 69), or
    ///   snapshots of order books (53). With several snapshot loops, the one without 53 is that of
    ///   the price books.
    /// - A loop without contents has heartbeats whose numbers repeat. It states that no book has
    ///   been active.
    /// - Every other group is the incremental feed.
    /// - Two groups are the lines of one feed if packets with the same number have the same
    ///   messages, whatever their SendingTime. Line A is the one that came first.
    ///
    /// # Errors
    /// If the file is not a capture or has no such group; if it has several channels, or groups
    /// whose feed or line is in doubt. The error lists each group with its packets and contents.
    pub fn detect(input: impl Read) -> io::Result<Self> {
        let (observed, wrong) = observe(input)?;
        let groups = observed.detect().map_err(|what| match wrong {
            // It may explain why there is nothing.
            Some(why) if observed.is_empty() => format!("{what}: {why}"),
            _ => what,
        });
        groups.map(Self::new).map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))
    }

    /// Returns `true` if a datagram is a packet of CME's market data: a packet header, then whole
    /// messages, the first of CME's schema.
    #[must_use]
    pub fn is_market_data(datagram: &[u8]) -> bool {
        observed_group::market_data(datagram).is_some()
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
            max_instruments: Self::MAX_INSTRUMENTS,
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

/// A feed of a capture that may have any number of channels.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CapturedFeed {
    /// The channel, if Hairpin recorded the capture.
    pub channel: Option<String>,
    /// The feed.
    pub feed: Feed,
    /// The group of line A, and that of line B if the capture has both. Unless the recorder named
    /// them, the lower address is A, as in CME's plan of addresses.
    pub groups: [Option<SocketAddr>; 2],
}

impl CapturedFeed {
    /// Creates a feed whose groups are known.
    #[must_use]
    pub fn new(channel: String, feed: Feed, groups: [Option<SocketAddr>; 2]) -> Self {
        Self { channel: Some(channel), feed, groups }
    }

    /// Detects the feeds of a capture, as [`CaptureGroups::detect`] does, without assigning them to
    /// channels. A group whose feed is in doubt is taken for an incremental feed.
    ///
    /// # Errors
    /// If the file is not a capture.
    pub fn detect(input: impl Read) -> io::Result<Vec<Self>> {
        Ok(observe(input)?.0.feeds())
    }
}

/// Reads the groups of a capture, and the first error in it.
fn observe(input: impl Read) -> io::Result<(ObservedGroups, Option<String>)> {
    let mut observed = ObservedGroups::default();
    let mut wrong = None;
    let mut reader = CaptureReader::new(input)?;
    let end = loop {
        match reader.advance() {
            Ok(true) => {}
            Ok(false) => break None,
            Err(error) => break Some(error.to_string()),
        }
        let Some(frame) = reader.frame() else { continue };
        match frame.payload() {
            Ok(Payload::Datagram { destination, bytes, .. }) => {
                let interface = reader.interfaces().get(frame.interface as usize);
                observed.record(destination, bytes, interface);
            }
            Ok(_) => {}
            Err(error) => wrong = wrong.take().or_else(|| Some(error.to_string())),
        }
    };
    Ok((observed, wrong.or(end)))
}

#[cfg(test)]
mod tests;
