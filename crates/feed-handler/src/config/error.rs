//! What can be wrong with a configuration file.

use std::io;
use std::net::Ipv4Addr;

use hairpin_mdp3::FeedLine;

/// Why a configuration file cannot be used; in one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// It cannot be read, or is no UTF-8.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is longer than any such file is.
    #[error("longer than {max} bytes: no configuration file")]
    TooLong {
        /// The most bytes that are read.
        max: u64,
    },
    /// It is not XML, or has more elements than any such file has.
    #[error("{0}")]
    Xml(String),
    /// It is not TOML, or not of the form of `docs/guide/feed-library.md`.
    #[error("line {line}: {what}")]
    Toml {
        /// Where, counted from 1.
        line: u32,
        /// What is wrong.
        what: String,
    },
    /// Its outermost element is not `configuration`.
    #[error("line {line}: <{found}> where <configuration> should be")]
    Root {
        /// Where, counted from 1.
        line: u32,
        /// What is there.
        found: String,
    },
    /// An element or attribute is missing.
    #[error("line {line}: <{element}> without {what}")]
    Missing {
        /// Where the element begins, counted from 1.
        line: u32,
        /// The element.
        element: &'static str,
        /// What it should have.
        what: &'static str,
    },
    /// A text that is not what it should be.
    #[error("line {line}: <{element}> '{text}' is no {what}")]
    Bad {
        /// Where, counted from 1.
        line: u32,
        /// The element.
        element: String,
        /// What it should be.
        what: &'static str,
        /// The text, cut after 40 characters.
        text: String,
    },
    /// No channel has this id.
    #[error("no channel {id}; there are {}", list(known))]
    NoSuchChannel {
        /// The id asked for.
        id: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// None was asked for, and there is not exactly one.
    #[error("which channel? there are {}", list(known))]
    SeveralChannels {
        /// Those there are.
        known: Vec<String>,
    },
    /// A channel has no incremental feed.
    #[error("channel {id} has no incremental feed (feed-type I)")]
    NoIncrementalFeed {
        /// The channel.
        id: String,
    },
    /// One side of a feed is given twice.
    #[error("channel {id}: feed-type {feed_type}, side {side} is there twice")]
    Twice {
        /// The channel.
        id: String,
        /// The feed-type.
        feed_type: String,
        /// The side.
        side: FeedLine,
    },
    /// Two channels, or two connections of a channel, have the same id.
    #[error("line {line}: <{element}> {id} is there twice")]
    SameId {
        /// Where the second begins, counted from 1.
        line: u32,
        /// The element.
        element: &'static str,
        /// The id, cut after 40 characters.
        id: String,
    },
    /// The group of a connection by UDP is an address of another kind.
    #[error("connection {id}: {group} is no multicast group")]
    NotMulticast {
        /// The connection.
        id: String,
        /// The address.
        group: Ipv4Addr,
    },
    /// A connection by UDP has no group, or one by TCP no host.
    #[error("connection {id} has no {what}")]
    NoAddress {
        /// The connection.
        id: String,
        /// `ip` or `host-ip`.
        what: &'static str,
    },
}

/// At most a dozen, for a person.
fn list(known: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = known.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match known.len() {
        0 => "none".to_owned(),
        count if count > SHOWN => format!("{shown} and {} more", count - SHOWN),
        _ => shown,
    }
}
