//! Where a channel's feeds are.

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_mdp3::{Feed, LateJoin, Side};

use crate::{FeedError, LineAddress};

/// The feeds of a channel: a multicast group for each side of each feed, or a TCP connection for
/// each side, which brings all feeds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there is one for a channel, when it is made")]
pub enum Addresses {
    /// As CME sends them.
    Multicast(Multicast),
    /// As Hairpin's exchange can send them; see `docs/wire-formats.md`.
    Tcp(TcpLines),
}

/// The feeds of a channel by multicast, and the network they come by.
///
/// A feed that the channel's [`LateJoin`] never asks for may be missing on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Multicast {
    /// Feed I: everything as it happens.
    pub incremental: Lines,
    /// Feed N: the loop of definitions.
    pub instrument: Lines,
    /// Feed S: the loop of snapshots.
    pub snapshot: Lines,
    /// Feed SMBO: the loop of snapshots of orders, where they have one of their own and the channel
    /// keeps orders.
    pub snapshot_orders: Lines,
    /// The local address of the interface to receive on; unspecified (0.0.0.0): the kernel's
    /// choice. A group may have another: [`Group::interface`].
    pub interface: Ipv4Addr,
}

/// The multicast groups of one feed. Either side may be missing.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Lines {
    /// Side A.
    pub a: Option<Group>,
    /// Side B.
    pub b: Option<Group>,
}

/// The multicast group of one side of one feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Group and port.
    pub address: SocketAddrV4,
    /// The only senders to receive from (source-specific multicast), ten at most unless the host
    /// says otherwise (`net.ipv4.igmp_max_msf`); empty: any.
    pub sources: Vec<Ipv4Addr>,
    /// The local address of the interface to receive this group on, if it is not that of
    /// [`Multicast::interface`]: sides may come by networks of their own.
    pub interface: Option<Ipv4Addr>,
}

/// The connections of a channel by TCP. One side alone is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpLines {
    /// Where side A listens.
    pub a: Option<SocketAddrV4>,
    /// Where side B listens.
    pub b: Option<SocketAddrV4>,
    /// The local address to connect from; unspecified (0.0.0.0): the kernel's choice.
    pub interface: Ipv4Addr,
}

impl Group {
    /// A group that is received from these senders alone; with none, from any.
    #[must_use]
    pub fn new(address: SocketAddrV4, sources: &[Ipv4Addr]) -> Self {
        Self { address, sources: sources.to_vec(), interface: None }
    }

    /// The same group, received on the interface with this local address.
    #[must_use]
    pub fn on(self, interface: Ipv4Addr) -> Self {
        Self { interface: Some(interface), ..self }
    }
}

/// A group received from any sender.
impl From<SocketAddrV4> for Group {
    fn from(address: SocketAddrV4) -> Self {
        Self::new(address, &[])
    }
}

impl Lines {
    /// A feed on both sides.
    #[must_use]
    pub fn both(a: impl Into<Group>, b: impl Into<Group>) -> Self {
        Self { a: Some(a.into()), b: Some(b.into()) }
    }

    /// A feed on side A alone.
    #[must_use]
    pub fn only_a(a: impl Into<Group>) -> Self {
        Self { a: Some(a.into()), b: None }
    }

    const fn side(&self, side: Side) -> Option<&Group> {
        match side {
            Side::A => self.a.as_ref(),
            Side::B => self.b.as_ref(),
        }
    }
}

impl TcpLines {
    /// Both sides, by whatever interface leads there.
    #[must_use]
    pub const fn both(a: SocketAddrV4, b: SocketAddrV4) -> Self {
        Self { a: Some(a), b: Some(b), interface: Ipv4Addr::UNSPECIFIED }
    }

    /// The sides that there are, A first.
    pub(crate) fn sides(&self) -> impl Iterator<Item = (Side, SocketAddrV4)> + use<> {
        let sides = [(Side::A, self.a), (Side::B, self.b)];
        sides.into_iter().filter_map(|(side, address)| Some((side, address?)))
    }
}

impl Multicast {
    /// The group of one side of a feed, if it is sent there.
    #[must_use]
    pub fn group(&self, feed: Feed, side: Side) -> Option<&Group> {
        match feed {
            Feed::Incremental => self.incremental.side(side),
            Feed::Instrument => self.instrument.side(side),
            Feed::Snapshot => self.snapshot.side(side),
            Feed::SnapshotOrders => self.snapshot_orders.side(side),
            _ => None,
        }
    }

    /// Each side of each feed with its group, the incremental feed first.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (Feed, Side, &Group)> {
        let sides = Feed::ALL.into_iter().flat_map(|feed| Side::ALL.map(|side| (feed, side)));
        sides.filter_map(|(feed, side)| Some((feed, side, self.group(feed, side)?)))
    }

    /// Whether the groups are enough for a kind of late join, and different.
    pub(crate) fn check(&self, late_join: LateJoin) -> Result<(), FeedError> {
        for &feed in needed(late_join) {
            if !self.groups().any(|(other, ..)| other == feed) {
                return Err(FeedError::MissingFeed { feed });
            }
        }
        for (position, (feed, side, group)) in self.groups().enumerate() {
            let line = self.line(group);
            let is_same = |other: &Group| {
                let other = self.line(other);
                (other.group, other.interface) == (line.group, line.interface)
            };
            let mut before = self.groups().take(position);
            if let Some((other, other_side, _)) = before.find(|(_, _, group)| is_same(group)) {
                let address = group.address;
                let (first, second) = ((Some(other), other_side).into(), (Some(feed), side).into());
                return Err(FeedError::SameAddress { address, first, second });
            }
        }
        Ok(())
    }

    /// Where a group is received.
    pub(crate) fn line(&self, group: &Group) -> LineAddress {
        LineAddress {
            group: group.address,
            interface: group.interface.unwrap_or(self.interface),
            sources: group.sources.clone(),
        }
    }
}

impl Addresses {
    /// Whether the addresses are enough for a kind of late join, and different.
    pub(crate) fn check(&self, late_join: LateJoin) -> Result<(), FeedError> {
        match self {
            Self::Multicast(multicast) => multicast.check(late_join),
            Self::Tcp(TcpLines { a: None, b: None, .. }) => Err(FeedError::NoSide),
            Self::Tcp(TcpLines { a: Some(address), b, .. }) if *b == Some(*address) => {
                let (first, second) = ((None, Side::A).into(), (None, Side::B).into());
                Err(FeedError::SameAddress { address: *address, first, second })
            }
            Self::Tcp(_) => Ok(()),
        }
    }
}

impl From<Multicast> for Addresses {
    fn from(multicast: Multicast) -> Self {
        Self::Multicast(multicast)
    }
}

impl From<TcpLines> for Addresses {
    fn from(lines: TcpLines) -> Self {
        Self::Tcp(lines)
    }
}

/// The feeds a late join asks for.
fn needed(late_join: LateJoin) -> &'static [Feed] {
    match late_join {
        LateJoin::Nothing => &[Feed::Incremental],
        LateJoin::Books => &[Feed::Incremental, Feed::Snapshot],
        _ => &[Feed::Incremental, Feed::Instrument, Feed::Snapshot],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(text: &str) -> SocketAddrV4 {
        text.parse().unwrap()
    }

    fn addresses() -> Multicast {
        Multicast {
            incremental: Lines::both(group("239.192.0.1:1"), group("239.192.0.1:2")),
            instrument: Lines::only_a(group("239.192.0.2:1")),
            snapshot: Lines { a: None, b: Some(group("239.192.0.3:1").into()) },
            snapshot_orders: Lines::default(),
            interface: Ipv4Addr::LOCALHOST,
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
        for feed in [Feed::Incremental, Feed::Instrument, Feed::Snapshot] {
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
        let addresses = Multicast { snapshot: Lines::only_a(shared), ..addresses() };
        let error = addresses.check(LateJoin::InstrumentsAndBooks).unwrap_err();
        let told = "239.192.0.1:1 is given for two sides: incremental feed, side A, and snapshot \
                    feed, side A";
        assert_eq!(error.to_string(), told);
    }

    #[test]
    fn two_sides_share_a_group_and_port_if_they_come_by_two_interfaces() {
        let shared = group("239.192.0.1:1");
        let other = Group::from(shared).on(Ipv4Addr::new(10, 0, 0, 2));
        let addresses = Multicast { incremental: Lines::both(shared, other), ..addresses() };
        assert!(addresses.check(LateJoin::InstrumentsAndBooks).is_ok());
        let again = Group::from(shared).on(addresses.interface);
        let addresses = Multicast { incremental: Lines::both(shared, again), ..addresses };
        assert!(addresses.check(LateJoin::InstrumentsAndBooks).is_err());
    }

    #[test]
    fn feeds_share_a_port_if_their_groups_differ() {
        let [i, n, s] = ["239.192.0.1:1", "239.192.0.2:1", "239.192.0.3:1"].map(group);
        let lines = [i, n, s].map(Lines::only_a);
        let [incremental, instrument, snapshot] = lines;
        let addresses = Multicast { incremental, instrument, snapshot, ..addresses() };
        assert!(addresses.check(LateJoin::InstrumentsAndBooks).is_ok());
    }

    #[test]
    fn by_tcp_one_side_is_enough_but_not_none_and_not_the_same_twice() {
        let [a, b] = ["10.0.0.1:1", "10.0.0.1:2"].map(group);
        let check = |lines: TcpLines| Addresses::from(lines).check(LateJoin::InstrumentsAndBooks);
        assert!(check(TcpLines::both(a, b)).is_ok());
        assert!(check(TcpLines { a: None, ..TcpLines::both(a, b) }).is_ok());
        assert!(check(TcpLines { b: None, ..TcpLines::both(a, b) }).is_ok());
        let error = check(TcpLines { a: None, b: None, ..TcpLines::both(a, b) }).unwrap_err();
        assert_eq!(error.to_string(), "no address for either side");
        let error = check(TcpLines::both(a, a)).unwrap_err();
        let told = "10.0.0.1:1 is given for two sides: side A, and side B";
        assert_eq!(error.to_string(), told);
    }
}
