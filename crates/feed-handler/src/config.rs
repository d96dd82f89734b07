//! CME's configuration file, config.xml: channels and the addresses of their feeds.
//!
//! CME publishes the file by SFTP and replaces it daily. This module reads and writes:
//!
//! ```xml
//! <configuration environment="Production" updated="2016/11/14-21:12:02">
//!   <channel id="310" label="CME Globex Equity Futures">
//!     <products><product code="ES"><group code="ES"/></product></products>
//!     <connections>
//!       <connection id="310IA">
//!         <type feed-type="I">Incremental</type>
//!         <protocol>UDP/IP</protocol>
//!         <ip>224.0.31.1</ip>
//!         <host-ip>205.209.223.70</host-ip>
//!         <port>14310</port>
//!         <feed>A</feed>
//!       </connection>
//!     </connections>
//!   </channel>
//! </configuration>
//! ```
//!
//! config.xml does not list conflated channels. [`Config::from_toml`] reads the same information
//! from a hand-written TOML file.
//!
//! `<interface>10.0.0.1</interface>` in a connection, an element of our own, is the local address
//! of the interface that receives it. Other elements and attributes are ignored. A TCP connection
//! has the protocol `TCP/IP`, no `ip`, and its addresses in `host-ip`. Feed-type `I` over TCP is
//! Hairpin's own: one connection carries all three feeds (`docs/reference/wire-formats.md`).
//!
//! The file may be in UTF-8, UTF-16 or ISO-8859-1. An entry that cannot be used is an error of its
//! channel ([`ChannelConfig::invalid`]), not of the file.

mod addresses;
mod error;
mod invalid_entry;
mod read;
mod toml;
mod write;

use std::net::Ipv4Addr;

pub use error::ConfigError;
use hairpin_mdp3::FeedLine;
pub use invalid_entry::{EntryFault, InvalidEntry};

/// The contents of a configuration file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// CME's environment, for example `Production`.
    pub environment: String,
    /// The time of the last update, as written in the file.
    pub updated: String,
    /// The channels in file order.
    pub channels: Vec<ChannelConfig>,
}

/// A channel with its products and connections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChannelConfig {
    /// The channel number as text, for example `310`.
    pub id: String,
    /// A description for display.
    pub label: String,
    /// The products on the channel.
    pub products: Vec<Product>,
    /// The connections: one per side of each feed.
    pub connections: Vec<ConnectionConfig>,
    /// The entries that cannot be used, in file order. The channel cannot be received with any.
    pub invalid: Vec<InvalidEntry>,
}

/// A product and its security groups on the channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Product {
    /// Asset (6937).
    pub code: String,
    /// SecurityGroup (1151) of each group.
    pub groups: Vec<String>,
}

/// The connection of one side of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionConfig {
    /// The connection's name: channel, feed type and side, for example `310IA`.
    pub id: String,
    /// The feed type.
    pub feed_type: FeedType,
    /// The transport protocol.
    pub protocol: Protocol,
    /// The multicast group, or `None` for a TCP connection.
    pub group: Option<Ipv4Addr>,
    /// The sending hosts, or for TCP the hosts to connect to.
    pub hosts: Vec<Ipv4Addr>,
    /// UDP or TCP port.
    pub port: u16,
    /// Side A or B.
    pub side: FeedLine,
    /// The local address of the interface to receive this side on, if it differs from the
    /// channel's. CME's files do not contain it.
    pub interface: Option<Ipv4Addr>,
}

/// The type of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedType {
    /// `I`: market data as events happen.
    Incremental,
    /// `N`: instrument definitions in a loop.
    Instrument,
    /// `S`: market-by-price snapshots in a loop.
    Snapshot,
    /// `SMBO`: market-by-order snapshots in a loop.
    SnapshotMbo,
    /// `H`: TCP replay of lost packets.
    HistoricalReplay,
    /// Any other feed-type code.
    Other(String),
}

impl FeedType {
    /// The feed types with a code in config.xml: type, code, label.
    const KNOWN: [(Self, &'static str, &'static str); 5] = [
        (Self::Incremental, "I", "Incremental"),
        (Self::Instrument, "N", "Instrument Replay"),
        (Self::Snapshot, "S", "Snapshot"),
        (Self::SnapshotMbo, "SMBO", "Snapshot-MBO"),
        (Self::HistoricalReplay, "H", "Historical Replay"),
    ];

    /// Returns the feed type of a feed-type attribute.
    #[must_use]
    pub fn from_code(code: &str) -> Self {
        let known = Self::KNOWN.into_iter().find(|(_, known, _)| *known == code);
        known.map_or_else(|| Self::Other(code.to_owned()), |(feed_type, ..)| feed_type)
    }

    /// Returns the feed-type attribute.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Other(code) => code,
            known => {
                Self::KNOWN.iter().find(|(it, ..)| it == known).map_or("", |(_, code, _)| code)
            }
        }
    }

    /// Returns the label that config.xml uses.
    fn label(&self) -> &str {
        Self::KNOWN.iter().find(|(it, ..)| it == self).map_or("", |(.., label)| label)
    }
}

/// The transport protocol of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protocol {
    /// `UDP/IP`: a multicast group.
    Udp,
    /// `TCP/IP`: a connection to a host.
    Tcp,
    /// Any other protocol, by its trimmed name. The channel can still be received if the connection
    /// is not required.
    Other(String),
}

impl Protocol {
    /// Returns the protocol of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name {
            "UDP/IP" => Self::Udp,
            "TCP/IP" => Self::Tcp,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Udp => "UDP/IP",
            Self::Tcp => "TCP/IP",
            Self::Other(name) => name,
        }
    }
}

impl Config {
    /// Returns the channel with this id. Without an id, returns the only channel.
    ///
    /// # Errors
    /// [`ConfigError::NoSuchChannel`], [`ConfigError::SeveralChannels`]; both list the channels in
    /// the file.
    pub fn channel(&self, id: Option<&str>) -> Result<&ChannelConfig, ConfigError> {
        let known = |channel: &ChannelConfig| match channel.invalid[..] {
            [] => channel.id.clone(),
            _ => format!("{} (invalid)", channel.id),
        };
        let known = || self.channels.iter().map(known).collect();
        match (id, &self.channels[..]) {
            (None, [only]) => Ok(only),
            (None, _) => Err(ConfigError::SeveralChannels { known: known() }),
            (Some(id), channels) => channels
                .iter()
                .find(|channel| channel.id == id)
                .ok_or_else(|| ConfigError::NoSuchChannel { id: id.to_owned(), known: known() }),
        }
    }
}

impl ChannelConfig {
    /// Returns the connections that are not received because their feed type or protocol is
    /// unknown, with a description of the cause.
    pub fn unknown_connections(&self) -> impl Iterator<Item = (&ConnectionConfig, String)> {
        self.connections.iter().filter_map(|connection| {
            let cause = match (&connection.feed_type, &connection.protocol) {
                (FeedType::Other(code), _) => format!("unknown feed-type '{code}'"),
                (_, Protocol::Other(name)) => format!("unknown <protocol> '{name}'"),
                _ => return None,
            };
            Some((connection, cause))
        })
    }
}
