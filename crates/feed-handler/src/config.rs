//! CME's configuration file, config.xml: which channels there are and where their feeds are.
//!
//! CME publishes it by SFTP and replaces it daily. What is read of it, and what is written:
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
//! Channels that no such file lists, as CME's conflated ones, are written in TOML by hand
//! ([`Config::from_toml`]) and give the same.
//!
//! Other elements and attributes are passed over. A feed by TCP has `TCP/IP` for its protocol, no
//! `ip`, and its addresses in `host-ip`; feed-type `I` by TCP is Hairpin's own, and brings all
//! three feeds (`docs/reference/wire-formats.md`).

mod addresses;
mod error;
mod read;
mod toml;
mod write;

use std::net::Ipv4Addr;

pub use error::ConfigError;
use hairpin_mdp3::FeedLine;

/// A whole file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// Which of CME's environments: `Production`.
    pub environment: String,
    /// When it was written, in CME's words.
    pub updated: String,
    /// The channels, in the file's order.
    pub channels: Vec<ChannelConfig>,
}

/// One channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChannelConfig {
    /// Its number, as text: `310`.
    pub id: String,
    /// What it carries, for a person.
    pub label: String,
    /// The products on it.
    pub products: Vec<Product>,
    /// Its feeds, each side one.
    pub connections: Vec<ConnectionConfig>,
}

/// A product and the security groups of it that are on the channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Product {
    /// Asset (6937).
    pub code: String,
    /// SecurityGroup (1151) of each.
    pub groups: Vec<String>,
}

/// One side of one feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionConfig {
    /// Its name: channel, feed type and side, `310IA`.
    pub id: String,
    /// What it brings.
    pub feed_type: FeedType,
    /// How it is reached.
    pub protocol: Protocol,
    /// The multicast group, if it is one.
    pub group: Option<Ipv4Addr>,
    /// The hosts that send, or that listen for connections.
    pub hosts: Vec<Ipv4Addr>,
    /// UDP or TCP port.
    pub port: u16,
    /// FeedLine A or B.
    pub side: FeedLine,
}

/// What a connection brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedType {
    /// `I`: everything as it happens.
    Incremental,
    /// `N`: the loop of definitions.
    Instrument,
    /// `S`: the loop of snapshots.
    Snapshot,
    /// `SMBO`: the loop of snapshots of order books.
    SnapshotMbo,
    /// `H`: packets asked for again, by TCP.
    HistoricalReplay,
    /// Another, by its feed-type.
    Other(String),
}

impl FeedType {
    /// The types that the file names by a code of its own.
    const KNOWN: [(Self, &'static str, &'static str); 5] = [
        (Self::Incremental, "I", "Incremental"),
        (Self::Instrument, "N", "Instrument Replay"),
        (Self::Snapshot, "S", "Snapshot"),
        (Self::SnapshotMbo, "SMBO", "Snapshot-MBO"),
        (Self::HistoricalReplay, "H", "Historical Replay"),
    ];

    /// The type of a feed-type attribute.
    #[must_use]
    pub fn from_code(code: &str) -> Self {
        let known = Self::KNOWN.into_iter().find(|(_, known, _)| *known == code);
        known.map_or_else(|| Self::Other(code.to_owned()), |(feed_type, ..)| feed_type)
    }

    /// Its feed-type attribute.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Other(code) => code,
            known => {
                Self::KNOWN.iter().find(|(it, ..)| it == known).map_or("", |(_, code, _)| code)
            }
        }
    }

    /// What the file calls it.
    fn label(&self) -> &str {
        Self::KNOWN.iter().find(|(it, ..)| it == self).map_or("", |(.., label)| label)
    }
}

/// How a connection is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protocol {
    /// `UDP/IP`: by joining a multicast group.
    Udp,
    /// `TCP/IP`: by connecting to a host.
    Tcp,
    /// Another, by its name without white space around it. A channel may have one that is not
    /// needed to receive it.
    Other(String),
}

impl Protocol {
    /// The protocol of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name {
            "UDP/IP" => Self::Udp,
            "TCP/IP" => Self::Tcp,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Its name.
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
    /// A channel by its id; without one, the only channel there is.
    ///
    /// # Errors
    /// [`ConfigError::NoSuchChannel`], [`ConfigError::SeveralChannels`]; both say which there are.
    pub fn channel(&self, id: Option<&str>) -> Result<&ChannelConfig, ConfigError> {
        let known = || self.channels.iter().map(|channel| channel.id.clone()).collect();
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
