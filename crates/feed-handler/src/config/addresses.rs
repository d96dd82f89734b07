//! Conversion between a configured channel and a feed handler's addresses.

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::Transport;
use hairpin_mdp3::FeedLine;

use super::{ChannelConfig, ConfigError, ConnectionConfig, FeedType, Protocol};
use crate::{Addresses, Group, Lines, Multicast, ReplayServer, TcpLines};

impl ChannelConfig {
    /// Returns this channel's feed addresses, received on the interface with this local address, or
    /// on that of the connection ([`ConnectionConfig::interface`]).
    ///
    /// MulticastSockets accept the channel's hosts only; clear [`Group::sources`] to accept any
    /// sender. A TCP side uses its first host. Replay logs on as user `CME`;
    /// [`ReplayServer::as_user`] sets another user.
    ///
    /// # Errors
    /// [`ConfigError::InvalidEntry`], [`ConfigError::NoIncrementalFeed`],
    /// [`ConfigError::DuplicateFeed`], [`ConfigError::NoAddress`], [`ConfigError::NoPort`],
    /// [`ConfigError::NotMulticast`].
    pub fn addresses(&self, interface: Ipv4Addr) -> Result<Addresses, ConfigError> {
        self.check_entries()?;
        let has = |feed_type, protocol| {
            let is = |it: &ConnectionConfig| it.feed_type == feed_type && it.protocol == protocol;
            self.connections.iter().any(is)
        };
        let is_tcp = has(FeedType::Incremental, Protocol::Tcp);
        let loops = [FeedType::Instrument, FeedType::Snapshot, FeedType::SnapshotMbo];
        let has_loop = loops.into_iter().any(|feed_type| has(feed_type, Protocol::Udp));
        if has(FeedType::Incremental, Protocol::Udp) || (has_loop && !is_tcp) {
            return Ok(Addresses::Multicast(Multicast {
                incremental: self.lines(&FeedType::Incremental)?,
                instrument: self.lines(&FeedType::Instrument)?,
                snapshot: self.lines(&FeedType::Snapshot)?,
                snapshot_orders: self.lines(&FeedType::SnapshotMbo)?,
                interface,
                transport: Transport::Kernel,
                replay: self.replay_server(),
            }));
        }
        if is_tcp {
            let side = |side| -> Result<Option<SocketAddrV4>, ConfigError> {
                let found = self.connection(&FeedType::Incremental, Protocol::Tcp, side)?;
                found.map(|connection| connection.host(&self.id)).transpose()
            };
            return Ok(Addresses::Tcp(TcpLines {
                a: side(FeedLine::A)?,
                b: side(FeedLine::B)?,
                interface,
            }));
        }
        let unknown = self.unknown_connections();
        let unknown =
            unknown.map(|(connection, cause)| format!("; connection {}: {cause}", connection.id));
        Err(ConfigError::NoIncrementalFeed { id: self.id.clone(), unknown: unknown.collect() })
    }

    /// Returns the TCP replay hosts for a [`ReplayClient`](crate::ReplayClient): each `host-ip` of
    /// the connections of feed-type `H`, with its port, in file order.
    #[must_use]
    pub fn replay_hosts(&self) -> Vec<SocketAddrV4> {
        let is_replay = |it: &&ConnectionConfig| {
            it.feed_type == FeedType::HistoricalReplay && it.protocol == Protocol::Tcp
        };
        let connections = self.connections.iter().filter(is_replay);
        let hosts = |it: &ConnectionConfig| {
            let port = it.port;
            it.hosts.clone().into_iter().map(move |host| SocketAddrV4::new(host, port))
        };
        connections.flat_map(hosts).collect()
    }

    /// Returns the replay server, if the channel has one; see [`ChannelConfig::replay_hosts`].
    fn replay_server(&self) -> Option<ReplayServer> {
        let hosts = self.replay_hosts();
        (!hosts.is_empty()).then(|| ReplayServer::new(&self.id, &hosts))
    }

    /// Creates a channel from feed addresses: the inverse of [`ChannelConfig::addresses`], except
    /// that the channel's interface and the replay user are lost.
    #[must_use]
    pub fn from_addresses(id: &str, label: &str, addresses: &Addresses) -> Self {
        let mut connections = Vec::new();
        match addresses {
            Addresses::Multicast(feeds) => {
                let Multicast { incremental, instrument, snapshot, snapshot_orders, .. } = feeds;
                let hosts = feeds.replay.iter().flat_map(|server| &server.hosts);
                let feeds = [
                    (FeedType::Incremental, incremental),
                    (FeedType::Instrument, instrument),
                    (FeedType::Snapshot, snapshot),
                    (FeedType::SnapshotMbo, snapshot_orders),
                ];
                for (feed_type, lines) in feeds {
                    for (side, group) in [(FeedLine::A, &lines.a), (FeedLine::B, &lines.b)] {
                        let connection = |group| multicast(id, feed_type.clone(), side, group);
                        connections.extend(group.as_ref().map(connection));
                    }
                }
                let replay = (1..).zip(hosts);
                connections.extend(replay.map(|(number, host)| replay_host(id, number, host)));
            }
            Addresses::Tcp(TcpLines { a, b, .. }) => {
                for (side, address) in [(FeedLine::A, a), (FeedLine::B, b)] {
                    connections.extend(address.map(|address| tcp(id, side, address)));
                }
            }
        }
        Self { id: id.to_owned(), label: label.to_owned(), connections, ..Self::default() }
    }

    /// Returns both sides of a multicast feed of this type.
    ///
    /// # Errors
    /// [`ConfigError::InvalidEntry`], [`ConfigError::DuplicateFeed`], [`ConfigError::NoAddress`],
    /// [`ConfigError::NoPort`], [`ConfigError::NotMulticast`].
    pub fn lines(&self, feed_type: &FeedType) -> Result<Lines, ConfigError> {
        self.check_entries()?;
        let group = |side| -> Result<Option<Group>, ConfigError> {
            let found = self.connection(feed_type, Protocol::Udp, side)?;
            found.map(|connection| connection.multicast_group(&self.id)).transpose()
        };
        Ok(Lines { a: group(FeedLine::A)?, b: group(FeedLine::B)? })
    }

    /// Returns the first invalid entry as an error.
    fn check_entries(&self) -> Result<(), ConfigError> {
        let Some(first) = self.invalid.first() else { return Ok(()) };
        let (id, entry) = (self.id.clone(), Box::new(first.clone()));
        Err(ConfigError::InvalidEntry { id, entry })
    }

    fn connection(
        &self,
        feed_type: &FeedType,
        protocol: Protocol,
        side: FeedLine,
    ) -> Result<Option<&ConnectionConfig>, ConfigError> {
        let mut found = self.connections.iter().filter(|connection| {
            connection.feed_type == *feed_type
                && connection.protocol == protocol
                && connection.side == side
        });
        let first = found.next();
        match found.next() {
            None => Ok(first),
            Some(_) => Err(ConfigError::DuplicateFeed {
                id: self.id.clone(),
                feed_type: feed_type.code().to_owned(),
                side,
            }),
        }
    }
}

impl ConnectionConfig {
    fn multicast_group(&self, channel: &str) -> Result<Group, ConfigError> {
        let group = self.group.ok_or_else(|| self.no_address(channel, "ip"))?;
        let (channel, id) = (channel.to_owned(), self.id.clone());
        if !group.is_multicast() {
            return Err(ConfigError::NotMulticast { channel, id, group });
        }
        if self.port == 0 {
            return Err(ConfigError::NoPort { channel, id });
        }
        let group = Group::new(SocketAddrV4::new(group, self.port), &self.hosts);
        Ok(Group { interface: self.interface, ..group })
    }

    fn host(&self, channel: &str) -> Result<SocketAddrV4, ConfigError> {
        let host = self.hosts.first().ok_or_else(|| self.no_address(channel, "host-ip"))?;
        if self.port == 0 {
            return Err(ConfigError::NoPort { channel: channel.into(), id: self.id.clone() });
        }
        Ok(SocketAddrV4::new(*host, self.port))
    }

    fn no_address(&self, channel: &str, element: &'static str) -> ConfigError {
        ConfigError::NoAddress { channel: channel.to_owned(), id: self.id.clone(), element }
    }
}

fn multicast(
    channel: &str,
    feed_type: FeedType,
    side: FeedLine,
    group: &Group,
) -> ConnectionConfig {
    ConnectionConfig {
        id: format!("{channel}{}{side}", feed_type.code()),
        feed_type,
        protocol: Protocol::Udp,
        group: Some(*group.address.ip()),
        hosts: group.sources.clone(),
        port: group.address.port(),
        side,
        interface: group.interface,
    }
}

fn replay_host(channel: &str, number: u32, host: &SocketAddrV4) -> ConnectionConfig {
    ConnectionConfig {
        id: format!("{channel}H{number}A"),
        feed_type: FeedType::HistoricalReplay,
        protocol: Protocol::Tcp,
        group: None,
        hosts: vec![*host.ip()],
        port: host.port(),
        side: FeedLine::A,
        interface: None,
    }
}

fn tcp(channel: &str, side: FeedLine, address: SocketAddrV4) -> ConnectionConfig {
    ConnectionConfig {
        id: format!("{channel}I{side}"),
        feed_type: FeedType::Incremental,
        protocol: Protocol::Tcp,
        group: None,
        hosts: vec![*address.ip()],
        port: address.port(),
        side,
        interface: None,
    }
}
