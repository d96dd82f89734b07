//! Errors of a configuration file.

use std::io;
use std::net::Ipv4Addr;

use hairpin_mdp3::FeedLine;
use hairpin_sbe::XmlTextError;

use super::InvalidEntry;

/// An error in a configuration file; displayed in one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is in an encoding that is not supported.
    #[error("{0}")]
    Encoding(#[from] XmlTextError),
    /// The file exceeds the size limit.
    #[error("cannot read configuration: longer than {max} bytes")]
    TooLong {
        /// The size limit in bytes.
        max: u64,
    },
    /// The text is not XML, or has too many elements.
    #[error("{0}")]
    Xml(String),
    /// The text is not TOML, or does not have the format described in `docs/guide/feed-library.md`.
    #[error("line {line}: {message}")]
    Toml {
        /// The line, counted from 1.
        line: u32,
        /// The parser's message.
        message: String,
    },
    /// The root element is not `configuration`.
    #[error("line {line}: expected <configuration>, found <{found}>")]
    Root {
        /// The line, counted from 1.
        line: u32,
        /// The name of the root element.
        found: String,
    },
    /// The channel has an entry that cannot be used.
    #[error("channel {id}: {entry}")]
    InvalidEntry {
        /// The channel.
        id: String,
        /// The first of its invalid entries.
        entry: Box<InvalidEntry>,
    },
    /// No channel has this id.
    #[error("cannot find channel {id}: the file has {}", list(known))]
    NoSuchChannel {
        /// The requested id.
        id: String,
        /// The ids in the file.
        known: Vec<String>,
    },
    /// No id was given, and the file does not have exactly one channel.
    #[error("cannot choose a channel: the file has {}; give its id", list(known))]
    SeveralChannels {
        /// The ids in the file.
        known: Vec<String>,
    },
    /// A channel has no incremental feed.
    #[error("cannot receive channel {id}: no incremental feed (feed-type I){unknown}")]
    NoIncrementalFeed {
        /// The channel.
        id: String,
        /// `; ` and the connections of an unknown kind; empty without any.
        unknown: String,
    },
    /// The file has two connections for one side of a feed.
    #[error("channel {id}: duplicate connection for feed-type {feed_type}, side {side}")]
    DuplicateFeed {
        /// The channel.
        id: String,
        /// The feed-type.
        feed_type: String,
        /// The side.
        side: FeedLine,
    },
    /// In TOML, two channels, or two connections of a channel, have the same id.
    #[error("line {line}: duplicate <{element}> id {id}")]
    DuplicateId {
        /// The line of the second one, counted from 1.
        line: u32,
        /// The element.
        element: &'static str,
        /// The id, truncated to 40 characters.
        id: String,
    },
    /// The group of a UDP connection is not a multicast address.
    #[error("channel {channel}: connection {id}: <ip>: {group} is not a multicast address")]
    NotMulticast {
        /// The channel.
        channel: String,
        /// The connection.
        id: String,
        /// The address.
        group: Ipv4Addr,
    },
    /// A UDP connection has no group, or a TCP connection no host.
    #[error("channel {channel}: connection {id} has no <{element}>")]
    NoAddress {
        /// The channel.
        channel: String,
        /// The connection.
        id: String,
        /// The missing element: `ip` or `host-ip`.
        element: &'static str,
    },
    /// A connection has port 0.
    #[error("channel {channel}: connection {id}: <port>: 0 is not a valid port")]
    NoPort {
        /// The channel.
        channel: String,
        /// The connection.
        id: String,
    },
}

/// Lists at most a dozen channel ids for display.
fn list(known: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = known.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match known.len() {
        0 => "no channels".to_owned(),
        count if count > SHOWN => format!("channels {shown} and {} more", count - SHOWN),
        _ => format!("channels {shown}"),
    }
}
