//! Where a channel's feeds are.

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_mdp3::{Feed, LateJoin, Side};

use crate::FeedError;

/// The multicast groups of one feed. Either side may be missing.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// Group and port of side A.
    pub a: Option<SocketAddrV4>,
    /// Group and port of side B.
    pub b: Option<SocketAddrV4>,
}

impl Lines {
    /// A feed on both sides.
    #[must_use]
    pub const fn both(a: SocketAddrV4, b: SocketAddrV4) -> Self {
        Self { a: Some(a), b: Some(b) }
    }

    /// A feed on side A alone.
    #[must_use]
    pub const fn only_a(a: SocketAddrV4) -> Self {
        Self { a: Some(a), b: None }
    }

    const fn side(&self, side: Side) -> Option<SocketAddrV4> {
        match side {
            Side::A => self.a,
            Side::B => self.b,
        }
    }
}

/// The feeds of a channel, and the network they come by.
///
/// A feed that the channel's [`LateJoin`] never asks for may be missing on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// Feed I: everything as it happens.
    pub incremental: Lines,
    /// Feed N: the loop of definitions.
    pub instrument: Lines,
    /// Feed S: the loop of snapshots.
    pub snapshot: Lines,
    /// The local address of the interface to receive on.
    pub interface: Ipv4Addr,
    /// The only senders to receive from (source-specific multicast); empty: any.
    pub sources: Vec<Ipv4Addr>,
}

impl Addresses {
    /// The group of one side of a feed, if it is sent there.
    #[must_use]
    pub fn group(&self, feed: Feed, side: Side) -> Option<SocketAddrV4> {
        let lines = match feed {
            Feed::Incremental => self.incremental,
            Feed::Instrument => self.instrument,
            Feed::Snapshot => self.snapshot,
            _ => Lines::default(),
        };
        lines.side(side)
    }

    /// Each side of each feed with its group, the incremental feed first.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (Feed, Side, SocketAddrV4)> {
        let sides = Feed::ALL.into_iter().flat_map(|feed| Side::ALL.map(|side| (feed, side)));
        sides.filter_map(|(feed, side)| Some((feed, side, self.group(feed, side)?)))
    }

    /// Whether the addresses are enough for a kind of late join, and different.
    pub(crate) fn check(&self, late_join: LateJoin) -> Result<(), FeedError> {
        for &feed in needed(late_join) {
            if !self.groups().any(|(other, ..)| other == feed) {
                return Err(FeedError::MissingFeed { feed });
            }
        }
        for (position, (_, _, group)) in self.groups().enumerate() {
            if self.groups().take(position).any(|(_, _, other)| other == group) {
                return Err(FeedError::SameGroup { group });
            }
        }
        Ok(())
    }
}

/// The feeds a late join asks for.
fn needed(late_join: LateJoin) -> &'static [Feed] {
    match late_join {
        LateJoin::Nothing => &[Feed::Incremental],
        LateJoin::Books => &[Feed::Incremental, Feed::Snapshot],
        _ => &Feed::ALL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(text: &str) -> SocketAddrV4 {
        text.parse().unwrap()
    }

    fn addresses() -> Addresses {
        Addresses {
            incremental: Lines::both(group("239.192.0.1:1"), group("239.192.0.1:2")),
            instrument: Lines::only_a(group("239.192.0.2:1")),
            snapshot: Lines { a: None, b: Some(group("239.192.0.3:1")) },
            interface: Ipv4Addr::LOCALHOST,
            sources: vec![],
        }
    }

    #[test]
    fn one_side_of_each_feed_is_enough() {
        assert!(addresses().check(LateJoin::InstrumentsAndBooks).is_ok());
    }

    #[test]
    fn a_feed_that_the_late_join_needs_must_be_there() {
        let check = |feed, late_join| {
            let mut addresses = addresses();
            match feed {
                Feed::Incremental => addresses.incremental = Lines::default(),
                Feed::Instrument => addresses.instrument = Lines::default(),
                _ => addresses.snapshot = Lines::default(),
            }
            addresses.check(late_join)
        };
        for feed in Feed::ALL {
            let error = check(feed, LateJoin::InstrumentsAndBooks).unwrap_err();
            assert!(matches!(error, FeedError::MissingFeed { feed: missing } if missing == feed));
        }
        assert!(check(Feed::Instrument, LateJoin::Books).is_ok());
        assert!(check(Feed::Snapshot, LateJoin::Books).is_err());
        assert!(check(Feed::Snapshot, LateJoin::Nothing).is_ok());
        assert!(check(Feed::Incremental, LateJoin::Nothing).is_err());
    }

    #[test]
    fn two_sides_do_not_share_a_group_and_port() {
        let shared = group("239.192.0.1:1");
        let addresses = Addresses { snapshot: Lines::only_a(shared), ..addresses() };
        let error = addresses.check(LateJoin::InstrumentsAndBooks).unwrap_err();
        assert_eq!(error.to_string(), "239.192.0.1:1 is given for two sides");
    }
}
