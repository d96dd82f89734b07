//! The addresses of a channel's feeds.

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::Transport;
use hairpin_mdp3::{Feed, FeedLine, FeedLines, Feeds, Settings};

use crate::{FeedError, LineAddress, ReplayServer};

/// The addresses of a channel's feeds.
///
/// Multicast has one group per side of each feed. TCP has one connection per side, which carries
/// all feeds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "one value per channel, built at startup")]
pub enum Addresses {
    /// Multicast groups, as CME publishes them.
    Multicast(Multicast),
    /// TCP connections, as Hairpin's exchange can serve them; see `docs/reference/wire-formats.md`.
    Tcp(TcpLines),
}

/// The multicast groups of a channel's feeds, and how to receive them.
///
/// Any feed may be missing on one side or on both. The channel then works without the feed, as
/// [`Feeds`] describes ([`Settings::feeds`](crate::Settings::feeds)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Multicast {
    /// Feed I (incremental): market data as events happen.
    pub incremental: Lines,
    /// Feed N (instrument replay): instrument definitions in a loop.
    pub instrument: Lines,
    /// Feed S (snapshot): market-by-price snapshots in a loop.
    pub snapshot: Lines,
    /// Feed SMBO: market-by-order snapshots in a loop. Used if the exchange publishes them
    /// separately and the channel keeps order books.
    pub snapshot_orders: Lines,
    /// The local address of the receiving interface. Unspecified (0.0.0.0) leaves the choice to the
    /// kernel. [`Group::interface`] overrides this address for one group.
    pub interface: Ipv4Addr,
    /// The receive path of every group: kernel sockets or kernel bypass. [`Group::transport`]
    /// overrides it for one group.
    pub transport: Transport,
    /// The replay server for packets lost on both sides. Used if the channel enables replay
    /// ([`Settings::replay`](crate::Settings::replay)).
    pub replay: Option<ReplayServer>,
}

/// A channel without feeds, on the kernel's choice of interface.
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
    /// The group of side A.
    pub a: Option<Group>,
    /// The group of side B.
    pub b: Option<Group>,
}

/// The multicast group of one side of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Group address and UDP port.
    pub address: SocketAddrV4,
    /// The allowed senders (source-specific multicast); empty allows any sender. Linux accepts at
    /// most ten by default (`net.ipv4.igmp_max_msf`).
    pub sources: Vec<Ipv4Addr>,
    /// The local address of this group's interface, if it differs from [`Multicast::interface`].
    /// Sides A and B can arrive on separate networks.
    pub interface: Option<Ipv4Addr>,
    /// The receive path of this group, if it differs from [`Multicast::transport`]: AF_XDP on
    /// another interface.
    pub transport: Option<Transport>,
}

/// The TCP connections of a channel. One side is sufficient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpLines {
    /// The exchange's address for side A.
    pub a: Option<SocketAddrV4>,
    /// The exchange's address for side B.
    pub b: Option<SocketAddrV4>,
    /// The local address to connect from. Unspecified (0.0.0.0) leaves the choice to the kernel.
    pub interface: Ipv4Addr,
}

impl Group {
    /// Creates a group that accepts these senders only; an empty list accepts any sender.
    #[must_use]
    pub fn new(address: SocketAddrV4, sources: &[Ipv4Addr]) -> Self {
        Self { address, sources: sources.to_vec(), interface: None, transport: None }
    }

    /// Sets the local address of the interface to receive this group on.
    #[must_use]
    pub fn on(self, interface: Ipv4Addr) -> Self {
        Self { interface: Some(interface), ..self }
    }
}

/// Creates a group that accepts any sender.
impl From<SocketAddrV4> for Group {
    fn from(address: SocketAddrV4) -> Self {
        Self::new(address, &[])
    }
}

impl Lines {
    /// Creates a feed with both sides.
    #[must_use]
    pub fn both(a: impl Into<Group>, b: impl Into<Group>) -> Self {
        Self { a: Some(a.into()), b: Some(b.into()) }
    }

    /// Creates a feed with side A only.
    #[must_use]
    pub fn only_a(a: impl Into<Group>) -> Self {
        Self { a: Some(a.into()), b: None }
    }

    /// Returns each side's group with a value of the side.
    fn with_sides<T>(&mut self, a: T, b: T) -> impl Iterator<Item = (&mut Group, T)> {
        let sides = [(self.a.as_mut(), a), (self.b.as_mut(), b)];
        sides.into_iter().filter_map(|(group, of_side)| Some((group?, of_side)))
    }

    const fn side(&self, side: FeedLine) -> Option<&Group> {
        match side {
            FeedLine::A => self.a.as_ref(),
            FeedLine::B => self.b.as_ref(),
        }
    }
}

impl TcpLines {
    /// Creates a configuration with both sides and the kernel's choice of interface.
    #[must_use]
    pub const fn both(a: SocketAddrV4, b: SocketAddrV4) -> Self {
        Self { a: Some(a), b: Some(b), interface: Ipv4Addr::UNSPECIFIED }
    }

    /// Returns the configured sides, A first.
    pub(crate) fn sides(&self) -> impl Iterator<Item = (FeedLine, SocketAddrV4)> + use<> {
        let sides = [(FeedLine::A, self.a), (FeedLine::B, self.b)];
        sides.into_iter().filter_map(|(side, address)| Some((side, address?)))
    }
}

impl Multicast {
    /// Receives every group of side A on the interface with the local address `a`, and every group
    /// of side B on that with `b`.
    pub fn set_interfaces(&mut self, a: Ipv4Addr, b: Ipv4Addr) {
        for lines in self.feeds_mut() {
            for (group, interface) in lines.with_sides(a, b) {
                group.interface = Some(interface);
            }
        }
    }

    /// Receives every group of side A over the transport `a`, and every group of side B over `b`:
    /// AF_XDP on two interfaces, with [`set_interfaces`](Self::set_interfaces).
    pub fn set_transports(&mut self, a: &Transport, b: &Transport) {
        for lines in self.feeds_mut() {
            for (group, transport) in lines.with_sides(a, b) {
                group.transport = Some(transport.clone());
            }
        }
    }

    fn feeds_mut(&mut self) -> [&mut Lines; 4] {
        [&mut self.incremental, &mut self.instrument, &mut self.snapshot, &mut self.snapshot_orders]
    }

    /// Returns the group of one side of a feed, or `None` if that side is not configured.
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

    /// Returns each configured side of each feed with its group, the incremental feed first.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (Feed, FeedLine, &Group)> {
        let sides = Feed::ALL.into_iter().flat_map(|feed| FeedLine::ALL.map(|side| (feed, side)));
        sides.filter_map(|(feed, side)| Some((feed, side, self.group(feed, side)?)))
    }

    /// Returns the feeds and sides that have a group.
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

    /// Restricts a channel's settings to these feeds. Disables replay if no replay server is
    /// configured.
    pub(crate) fn fit(&self, settings: Settings) -> Settings {
        let replay = settings.replay.filter(|_| self.replay.is_some());
        Settings { feeds: settings.feeds.intersection(self.feeds()), replay, ..settings }
    }

    /// Checks that at least one group is configured and that no two lines are the same.
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

    /// Returns the line address of a group.
    pub(crate) fn line(&self, group: &Group) -> LineAddress {
        LineAddress {
            group: group.address,
            interface: group.interface.unwrap_or(self.interface),
            sources: group.sources.clone(),
            transport: group.transport.as_ref().unwrap_or(&self.transport).clone(),
        }
    }
}

impl Addresses {
    /// Restricts a channel's settings to these feeds; see [`Multicast::fit`]. Disables replay over
    /// TCP: both connections carry the same stream, so a loss affects both.
    pub(crate) fn fit(&self, settings: Settings) -> Settings {
        match self {
            Self::Multicast(multicast) => multicast.fit(settings),
            Self::Tcp(lines) => {
                let sides = FeedLines::new(lines.a.is_some(), lines.b.is_some());
                // Order snapshots arrive together with price snapshots.
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

    /// Checks that an address is configured and that no two lines are the same.
    ///
    /// Every handler calls this function. A program that only reads captures calls it itself.
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
    fn accepts_a_missing_feed_but_not_all() {
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
        assert_eq!(error.to_string(), "cannot start the feed handler: no feed has an address");
    }

    #[test]
    fn settings_are_restricted_to_configured_feeds() {
        let replay = Some(crate::Replay::default());
        let fitted = addresses().fit(Settings { replay, ..Settings::default() });
        let feeds = Feeds {
            incremental: FeedLines::Both,
            instrument: FeedLines::A,
            snapshot: FeedLines::B,
            snapshot_orders: FeedLines::None,
        };
        assert_eq!((fitted.feeds, fitted.replay), (feeds, None));
        // A feed that the settings exclude stays excluded.
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
    fn rejects_the_same_group_and_port_on_two_sides() {
        let shared = group("239.192.0.1:1");
        let addresses = Multicast { snapshot: Lines::only_a(shared), ..addresses() };
        let error = addresses.check().unwrap_err();
        let expected = "cannot use 239.192.0.1:1 twice: assigned to incremental feed, side A, \
                        and to snapshot feed, side A";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn each_side_has_its_own_interface() {
        let [a, b] = [1, 2].map(|number| Ipv4Addr::new(10, 0, 0, number));
        let mut addresses = addresses();
        addresses.set_interfaces(a, b);
        assert!(addresses.check().is_ok());
        for (_, side, group) in addresses.groups() {
            let expected = if side == FeedLine::A { a } else { b };
            assert_eq!(addresses.line(group).interface, expected);
        }
    }

    #[test]
    fn accepts_the_same_group_on_two_interfaces() {
        let shared = group("239.192.0.1:1");
        let other = Group::from(shared).on(Ipv4Addr::new(10, 0, 0, 2));
        let addresses = Multicast { incremental: Lines::both(shared, other), ..addresses() };
        assert!(addresses.check().is_ok());
        let again = Group::from(shared).on(addresses.interface);
        let addresses = Multicast { incremental: Lines::both(shared, again), ..addresses };
        assert!(addresses.check().is_err());
    }

    #[test]
    fn accepts_the_same_port_for_different_groups() {
        let [i, n, s] = ["239.192.0.1:1", "239.192.0.2:1", "239.192.0.3:1"].map(group);
        let lines = [i, n, s].map(Lines::only_a);
        let [incremental, instrument, snapshot] = lines;
        let addresses = Multicast { incremental, instrument, snapshot, ..addresses() };
        assert!(addresses.check().is_ok());
    }

    #[test]
    fn tcp_requires_one_side_and_distinct_addresses() {
        let [a, b] = ["10.0.0.1:1", "10.0.0.1:2"].map(group);
        let check = |lines: TcpLines| Addresses::from(lines).check();
        assert!(check(TcpLines::both(a, b)).is_ok());
        assert!(check(TcpLines { a: None, ..TcpLines::both(a, b) }).is_ok());
        assert!(check(TcpLines { b: None, ..TcpLines::both(a, b) }).is_ok());
        let error = check(TcpLines { a: None, b: None, ..TcpLines::both(a, b) }).unwrap_err();
        assert_eq!(error.to_string(), "cannot start the feed handler: no side has an address");
        let error = check(TcpLines::both(a, a)).unwrap_err();
        let expected = "cannot use 10.0.0.1:1 twice: assigned to side A, and to side B";
        assert_eq!(error.to_string(), expected);
    }
}
