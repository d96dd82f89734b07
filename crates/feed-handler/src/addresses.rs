//! Where a channel's feeds are.

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::Transport;
use hairpin_mdp3::{Feed, FeedLine, FeedLines, Feeds, Settings};

use crate::{FeedError, LineAddress, ReplayServer};

/// The feeds of a channel: a multicast group for each side of each feed, or a TCP connection for
/// each side, which brings all feeds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there is one for a channel, when it is made")]
pub enum Addresses {
    /// As CME sends them.
    Multicast(Multicast),
    /// As Hairpin's exchange can send them; see `docs/reference/wire-formats.md`.
    Tcp(TcpLines),
}

/// The feeds of a channel by multicast, and the network they come by.
///
/// Any feed may be missing, on one side or on both: the channel is told
/// ([`Settings::feeds`](crate::Settings::feeds)), and does without as [`Feeds`] says.
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
    /// How every group comes, through the kernel or past it.
    pub transport: Transport,
    /// Whom to ask for packets that neither side has brought, if the channel is to
    /// ([`Settings::replay`](crate::Settings::replay)).
    pub replay: Option<ReplayServer>,
}

/// No feed, by whatever interface leads there.
impl Default for Multicast {
    fn default() -> Self {
        Self {
            incremental: Lines::default(),
            instrument: Lines::default(),
            snapshot: Lines::default(),
            snapshot_orders: Lines::default(),
            interface: Ipv4Addr::UNSPECIFIED,
            transport: Transport::Kernel,
            replay: None,
        }
    }
}

/// The multicast groups of one feed. Either side may be missing.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Lines {
    /// FeedLine A.
    pub a: Option<Group>,
    /// FeedLine B.
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

    const fn side(&self, side: FeedLine) -> Option<&Group> {
        match side {
            FeedLine::A => self.a.as_ref(),
            FeedLine::B => self.b.as_ref(),
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
    pub(crate) fn sides(&self) -> impl Iterator<Item = (FeedLine, SocketAddrV4)> + use<> {
        let sides = [(FeedLine::A, self.a), (FeedLine::B, self.b)];
        sides.into_iter().filter_map(|(side, address)| Some((side, address?)))
    }
}

impl Multicast {
    /// The group of one side of a feed, if it is sent there.
    #[must_use]
    pub fn group(&self, feed: Feed, side: FeedLine) -> Option<&Group> {
        match feed {
            Feed::Incremental => self.incremental.side(side),
            Feed::Instrument => self.instrument.side(side),
            Feed::Snapshot => self.snapshot.side(side),
            Feed::SnapshotOrders => self.snapshot_orders.side(side),
            _ => None,
        }
    }

    /// Each side of each feed with its group, the incremental feed first.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (Feed, FeedLine, &Group)> {
        let sides = Feed::ALL.into_iter().flat_map(|feed| FeedLine::ALL.map(|side| (feed, side)));
        sides.filter_map(|(feed, side)| Some((feed, side, self.group(feed, side)?)))
    }

    /// The feeds and sides that there are.
    #[must_use]
    pub fn feeds(&self) -> Feeds {
        let sides = |lines: &Lines| FeedLines::new(lines.a.is_some(), lines.b.is_some());
        Feeds {
            incremental: sides(&self.incremental),
            instrument: sides(&self.instrument),
            snapshot: sides(&self.snapshot),
            snapshot_orders: sides(&self.snapshot_orders),
        }
    }

    /// The settings of a channel that has these feeds alone, and asks for a replay only if there is
    /// someone to ask.
    pub(crate) fn fit(&self, settings: Settings) -> Settings {
        let replay = settings.replay.filter(|_| self.replay.is_some());
        Settings { feeds: settings.feeds.intersection(self.feeds()), replay, ..settings }
    }

    /// Whether there are groups, and different ones.
    pub(crate) fn check(&self) -> Result<(), FeedError> {
        if self.groups().next().is_none() {
            return Err(FeedError::NoFeed);
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
            transport: self.transport.clone(),
        }
    }
}

impl Addresses {
    /// The settings of a channel that comes from here: see [`Multicast::fit`]. By TCP nothing is
    /// asked for again: what one connection has lost, so has the other.
    pub(crate) fn fit(&self, settings: Settings) -> Settings {
        match self {
            Self::Multicast(multicast) => multicast.fit(settings),
            Self::Tcp(lines) => {
                let sides = FeedLines::new(lines.a.is_some(), lines.b.is_some());
                // Snapshots of orders are among those of prices.
                let feeds = Feeds {
                    incremental: sides,
                    instrument: sides,
                    snapshot: sides,
                    snapshot_orders: FeedLines::None,
                };
                Settings { feeds: settings.feeds.intersection(feeds), replay: None, ..settings }
            }
        }
    }

    /// Whether there are addresses, and different ones. Every handler asks; whoever only reads a
    /// capture asks here.
    ///
    /// # Errors
    /// [`FeedError::NoFeed`], [`FeedError::NoSide`], [`FeedError::SameAddress`].
    pub fn check(&self) -> Result<(), FeedError> {
        match self {
            Self::Multicast(multicast) => multicast.check(),
            Self::Tcp(TcpLines { a: None, b: None, .. }) => Err(FeedError::NoSide),
            Self::Tcp(TcpLines { a: Some(address), b, .. }) if *b == Some(*address) => {
                let (first, second) = ((None, FeedLine::A).into(), (None, FeedLine::B).into());
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
            transport: Transport::Kernel,
            replay: None,
        }
    }

    #[test]
    fn any_feed_may_be_missing_but_not_all() {
        assert!(addresses().check().is_ok());
        for feed in Feed::ALL {
            let mut without = addresses();
            match feed {
                Feed::Incremental => without.incremental = Lines::default(),
                Feed::Instrument => without.instrument = Lines::default(),
                Feed::Snapshot => without.snapshot = Lines::default(),
                _ => without.snapshot_orders = Lines::default(),
            }
            assert!(without.check().is_ok(), "{feed}");
            assert!(!without.feeds().has(feed), "{feed}");
        }
        let error = Multicast::default().check().unwrap_err();
        assert_eq!(error.to_string(), "no address for any feed");
    }

    #[test]
    fn the_channel_is_told_which_feeds_and_sides_there_are() {
        let replay = Some(crate::Replay::default());
        let fitted = addresses().fit(Settings { replay, ..Settings::default() });
        let feeds = Feeds {
            incremental: FeedLines::Both,
            instrument: FeedLines::A,
            snapshot: FeedLines::B,
            snapshot_orders: FeedLines::None,
        };
        assert_eq!((fitted.feeds, fitted.replay), (feeds, None));
        // What the user does not want stays unwanted.
        let wanted = Feeds { incremental: FeedLines::A, ..Feeds::ALL };
        let server = ReplayServer::new("310", &[group("10.0.0.1:10000")]);
        let addresses = Multicast { replay: Some(server), ..addresses() };
        let fitted = addresses.fit(Settings { feeds: wanted, replay, ..Settings::default() });
        assert_eq!(fitted.feeds, Feeds { incremental: FeedLines::A, ..feeds });
        assert_eq!(fitted.replay, replay);
        assert_eq!(addresses.fit(Settings::default()).replay, None);
        let tcp = TcpLines { b: None, ..TcpLines::both(group("10.0.0.1:1"), group("10.0.0.1:2")) };
        let fitted = Addresses::from(tcp).fit(Settings { replay, ..Settings::default() });
        assert_eq!((fitted.feeds.snapshot, fitted.replay), (FeedLines::A, None));
    }

    #[test]
    fn two_sides_do_not_share_a_group_and_port() {
        let shared = group("239.192.0.1:1");
        let addresses = Multicast { snapshot: Lines::only_a(shared), ..addresses() };
        let error = addresses.check().unwrap_err();
        let told = "239.192.0.1:1 is given for two sides: incremental feed, side A, and snapshot \
                    feed, side A";
        assert_eq!(error.to_string(), told);
    }

    #[test]
    fn two_sides_share_a_group_and_port_if_they_come_by_two_interfaces() {
        let shared = group("239.192.0.1:1");
        let other = Group::from(shared).on(Ipv4Addr::new(10, 0, 0, 2));
        let addresses = Multicast { incremental: Lines::both(shared, other), ..addresses() };
        assert!(addresses.check().is_ok());
        let again = Group::from(shared).on(addresses.interface);
        let addresses = Multicast { incremental: Lines::both(shared, again), ..addresses };
        assert!(addresses.check().is_err());
    }

    #[test]
    fn feeds_share_a_port_if_their_groups_differ() {
        let [i, n, s] = ["239.192.0.1:1", "239.192.0.2:1", "239.192.0.3:1"].map(group);
        let lines = [i, n, s].map(Lines::only_a);
        let [incremental, instrument, snapshot] = lines;
        let addresses = Multicast { incremental, instrument, snapshot, ..addresses() };
        assert!(addresses.check().is_ok());
    }

    #[test]
    fn by_tcp_one_side_is_enough_but_not_none_and_not_the_same_twice() {
        let [a, b] = ["10.0.0.1:1", "10.0.0.1:2"].map(group);
        let check = |lines: TcpLines| Addresses::from(lines).check();
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
