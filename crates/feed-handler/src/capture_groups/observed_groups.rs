//! All groups of a capture, and the feeds and lines that they are.

use std::collections::HashMap;
use std::net::SocketAddr;

use hairpin_endpoint::capture::Interface;

use super::CapturedFeed;
use super::observed_group::{Kind, ObservedGroup, Relation, market_data};
use crate::{Feed, FeedLine};

/// The most groups that are observed: several times as many as CME has.
const MOST_GROUPS: usize = 2_048;

/// A group with its feed and line.
type Line = (SocketAddr, Feed, FeedLine);

/// The groups of a capture, in the order of their first packets.
#[derive(Debug, Default)]
pub(super) struct ObservedGroups {
    groups: Vec<ObservedGroup>,
    places: HashMap<SocketAddr, usize>,
}

impl ObservedGroups {
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Records a datagram if it is market data.
    pub(super) fn record(
        &mut self,
        destination: SocketAddr,
        bytes: &[u8],
        interface: Option<&Interface>,
    ) {
        let Some((header, messages)) = market_data(bytes) else { return };
        if self.groups.len() == MOST_GROUPS && !self.places.contains_key(&destination) {
            return;
        }
        let place = *self.places.entry(destination).or_insert_with(|| {
            self.groups.push(ObservedGroup::new(destination));
            self.groups.len() - 1
        });
        self.groups[place].record(header, messages, interface);
    }

    /// Returns the feed and line of each group.
    ///
    /// # Errors
    /// One line with the cause and the groups.
    pub(super) fn detect(&self) -> Result<Vec<Line>, String> {
        if self.groups.is_empty() {
            return Err("no market data over UDP in this capture".into());
        }
        let detected = match self.recorded() {
            Some(lines) => lines,
            None => self.assigned(),
        };
        detected.map_err(|cause| {
            let groups: Vec<_> = self.groups.iter().map(ToString::to_string).collect();
            let groups = groups.join(", ");
            format!(
                "{cause}; use a configuration file, or filter the capture by group; \
                 it has {groups}"
            )
        })
    }

    /// Returns the feeds of all channels, in the order of their first packets.
    pub(super) fn feeds(&self) -> Vec<CapturedFeed> {
        let mut feeds: Vec<(CapturedFeed, &ObservedGroup)> = Vec::new();
        for group in &self.groups {
            let name = group.name.as_ref().and_then(|name| name.as_ref().ok());
            let feed = name.map_or_else(|| group.kind().feed(), |name| name.feed);
            let channel = name.map(|name| name.channel.clone());
            let is_other_line = |(known, first): &&mut (CapturedFeed, &ObservedGroup)| {
                let is_free = known.groups.iter().filter(|it| it.is_some()).count() == 1;
                let is_same = match &channel {
                    Some(_) => known.channel == channel,
                    None => known.channel.is_none() && group.relation(first) == Relation::SameFeed,
                };
                is_free && known.feed == feed && is_same
            };
            let known = feeds.iter_mut().find(is_other_line);
            let line = match (&known, name) {
                (_, Some(name)) => name.line as usize,
                (Some((known, _)), None) => {
                    usize::from(known.groups[0].is_some_and(|first| first < group.address))
                }
                (None, None) => 0,
            };
            match known {
                Some((known, _)) => {
                    // A higher address came first, so it is line B.
                    if known.groups[line].is_some() {
                        known.groups.swap(0, 1);
                    }
                    known.groups[line] = Some(group.address);
                }
                None => {
                    let mut groups = [None; 2];
                    groups[line] = Some(group.address);
                    feeds.push((CapturedFeed { channel, feed, groups }, group));
                }
            }
        }
        feeds.into_iter().map(|(feed, _)| feed).collect()
    }

    /// Returns the feeds and lines that the recorder named, if it named all groups.
    fn recorded(&self) -> Option<Result<Vec<Line>, String>> {
        let names: Option<Vec<_>> = self.groups.iter().map(|group| group.name.as_ref()).collect();
        let mut lines = Vec::<Line>::new();
        let mut channel: Option<&str> = None;
        for (group, name) in self.groups.iter().zip(names?) {
            let address = group.address;
            let Ok(name) = name else {
                return Some(Err(format!("{address} is recorded as several lines")));
            };
            let first = *channel.get_or_insert(&name.channel);
            if first != name.channel {
                return Some(Err(format!("more than one channel: {first} and {}", name.channel)));
            }
            let (feed, line) = (name.feed, name.line);
            let twice = lines.iter().find(|&&(_, other, on)| (other, on) == (feed, line));
            if let Some((other, ..)) = twice {
                let cause = format!("{other} and {address} are both recorded as line {line}");
                return Some(Err(format!("{cause} of the {feed} feed")));
            }
            if !group.may_be(feed) {
                let cause = format!("{address} is recorded as the {feed} feed");
                return Some(Err(format!("{cause}, and its packets are of another")));
            }
            lines.push((address, feed, line));
        }
        Some(Ok(lines))
    }

    /// Returns the feeds and lines that the contents of the groups show.
    fn assigned(&self) -> Result<Vec<Line>, String> {
        let of = |kind| self.groups.iter().filter(move |group| group.kind() == kind);
        let incremental: Vec<_> = of(Kind::Incremental).collect();
        let definitions: Vec<_> = of(Kind::Definitions).collect();
        let (mut prices, mut orders): (Vec<_>, Vec<_>) =
            (of(Kind::Prices).collect(), of(Kind::Orders).collect());
        if prices.is_empty() && orders.iter().any(|group| group.has_prices()) {
            // One loop has both.
            (prices, orders) = (orders, prices);
        }
        let mut empty: Vec<_> = of(Kind::EmptyLoop).collect();
        for group in of(Kind::Unknown) {
            // One heartbeat with number 1 is a pass of a loop if it cannot be of a line of the
            // incremental feed.
            let may_be_line =
                incremental.len() < 2 && incremental.iter().all(|other| other.has_number(1));
            if group.has_contents() || may_be_line {
                return Err(format!("the feed of {} is in doubt", group.address));
            }
            empty.push(group);
        }
        let mut lines = Vec::new();
        for (feed, groups) in [
            (Feed::Incremental, &incremental),
            (Feed::Instrument, &definitions),
            (Feed::Snapshot, &prices),
            (Feed::SnapshotOrders, &orders),
        ] {
            lines.extend(sides(feed, groups)?);
        }
        self.check_channel(&incremental, &definitions, &[prices, orders].concat())?;
        lines.extend(empty_loops(&empty, &lines, &incremental)?);
        Ok(lines)
    }

    /// Checks that the feeds are of one channel.
    fn check_channel(
        &self,
        incremental: &[&ObservedGroup],
        definitions: &[&ObservedGroup],
        snapshots: &[&ObservedGroup],
    ) -> Result<(), String> {
        let differ = |one: &ObservedGroup, other: &ObservedGroup, cause: &str| {
            let (one, other) = (one.address, other.address);
            Err(format!("more than one channel: {one} and {other} {cause}"))
        };
        for definition in definitions {
            let mut all = self.groups.iter();
            if let Some(other) = all.find(|other| definition.is_of_other_channel(other)) {
                return differ(definition, other, "define instruments of different channels");
            }
            let names_others = |other: &&&ObservedGroup| {
                !other.security_ids.is_empty()
                    && other.security_ids.is_disjoint(&definition.security_ids)
            };
            if let Some(other) = snapshots.iter().chain(incremental).find(names_others)
                && definition.is_whole_loop()
                && !(other.kind() == Kind::Incremental && other.has_definitions())
            {
                return differ(definition, other, "have no instrument in common");
            }
        }
        // Snapshots of another channel state numbers that this one does not reach.
        let Some(other) = incremental.first() else { return Ok(()) };
        let highest = incremental.iter().map(|group| group.highest()).max().unwrap_or(0);
        let is_unrelated = |group: &&&ObservedGroup| {
            let lowest = group.processed.map_or(0, |(lowest, _)| lowest);
            lowest > highest.saturating_add(MAX_SNAPSHOT_LEAD)
        };
        match snapshots.iter().find(is_unrelated) {
            Some(one) => differ(other, one, "have unrelated packet numbers (369)"),
            None => Ok(()),
        }
    }
}

/// The most by which the lowest 369 of a loop may exceed the numbers of the incremental feed, whose
/// last packets the capture may lack.
const MAX_SNAPSHOT_LEAD: u32 = 1_000;

/// Returns the lines of a feed.
fn sides(feed: Feed, groups: &[&ObservedGroup]) -> Result<Vec<Line>, String> {
    match groups[..] {
        [] => Ok(Vec::new()),
        [one] => Ok(vec![(one.address, feed, FeedLine::A)]),
        [one, other] if one.relation(other) == Relation::SameFeed => {
            Ok(vec![(one.address, feed, FeedLine::A), (other.address, feed, FeedLine::B)])
        }
        _ => {
            let names: Vec<_> = groups.iter().map(|group| group.address.to_string()).collect();
            Err(format!("more than one channel: the {feed} feed is on {}", names.join(", ")))
        }
    }
}

/// Assigns loops without contents to the feeds that have no group yet. All of them state the same:
/// that no book has been active, so it does not matter which is which.
fn empty_loops(
    empty: &[&ObservedGroup],
    known: &[Line],
    incremental: &[&ObservedGroup],
) -> Result<Vec<Line>, String> {
    let Some(first) = empty.first() else { return Ok(Vec::new()) };
    let is_free = |feed| known.iter().all(|&(_, other, _)| other != feed);
    if !is_free(Feed::Snapshot) || !is_free(Feed::SnapshotOrders) {
        let address = first.address;
        return Err(format!("the feed of {address} is in doubt: other loops have snapshots"));
    }
    let last = empty.iter().map(|group| group.last_sent).max().unwrap_or(0);
    let is_active = |group: &&&ObservedGroup| group.first_update.is_some_and(|sent| sent < last);
    if let Some(group) = incremental.iter().find(is_active) {
        let (loops, updates) = (first.address, group.address);
        let cause = format!("the loop on {loops} is empty, and {updates} has updates before it");
        return Err(format!("more than one channel: {cause}"));
    }
    let feeds = [Feed::Snapshot, Feed::Instrument, Feed::SnapshotOrders];
    let free = feeds.into_iter().filter(|feed| is_free(*feed));
    let free: Vec<_> = free.flat_map(|feed| FeedLine::ALL.map(|line| (feed, line))).collect();
    if empty.len() > free.len() {
        return Err(format!("more than one channel: {} loops are empty", empty.len()));
    }
    Ok(empty.iter().zip(free).map(|(group, (feed, line))| (group.address, feed, line)).collect())
}
