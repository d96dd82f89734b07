//! Channels written by hand in TOML.
//!
//! config.xml does not list conflated channels. CME announces their addresses separately; write
//! them in this form:
//!
//! ```toml
//! environment = "Production"             # for display; optional
//! updated = "2026-11-22"                 # for display; optional
//!
//! [[channel]]
//! id = "450"                             # channel number: ApplID (1180)
//! label = "EBS Spot, conflated"          # optional
//! products = [{ code = "EURUSD", groups = ["EU"] }]     # optional
//!
//! [[channel.connection]]
//! feed = "I"                             # feed-type: I, N, S, SMBO or H
//! side = "A"
//! group = "224.0.30.1"                   # multicast group; not for H
//! port = 14310
//! hosts = ["205.209.223.70"]             # senders; for H the replay hosts
//! id = "450IA"                           # default: channel, feed and side
//! protocol = "UDP/IP"                    # default: TCP/IP for H, otherwise UDP/IP
//! interface = "10.0.0.1"                 # local address of this side's interface; optional
//! ```

use std::collections::HashSet;
use std::net::Ipv4Addr;

use hairpin_mdp3::FeedLine;
use serde::Deserialize;

use super::{ChannelConfig, Config, ConfigError, ConnectionConfig, FeedType, Product, Protocol};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    environment: String,
    #[serde(default)]
    updated: String,
    #[serde(default, rename = "channel")]
    channels: Vec<toml::Spanned<Channel>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Channel {
    id: String,
    #[serde(default)]
    label: String,
    #[serde(default)]
    products: Vec<NamedProduct>,
    #[serde(default, rename = "connection")]
    connections: Vec<toml::Spanned<Connection>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedProduct {
    code: String,
    #[serde(default)]
    groups: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Connection {
    id: Option<String>,
    feed: String,
    side: SideName,
    protocol: Option<String>,
    group: Option<Ipv4Addr>,
    #[serde(default)]
    hosts: Vec<Ipv4Addr>,
    port: u16,
    interface: Option<Ipv4Addr>,
}

#[derive(Deserialize, Clone, Copy)]
enum SideName {
    A,
    B,
}

impl Config {
    /// Parses channels written in TOML. `docs/guide/feed-library.md` describes the format.
    ///
    /// # Errors
    /// [`ConfigError::Toml`], with the line; [`ConfigError::DuplicateId`].
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        let file: File = toml::from_str(text).map_err(|error| ConfigError::Toml {
            line: error.span().map_or(1, |span| line(text, span.start)),
            message: error.message().replace(['\n', '\r'], " "),
        })?;
        check_ids("channel", text, file.channels.iter().map(|it| (it, &*it.as_ref().id)))?;
        let mut channels = Vec::with_capacity(file.channels.len());
        for channel in file.channels {
            channels.push(channel.into_inner().read(text)?);
        }
        Ok(Self { environment: file.environment, updated: file.updated, channels })
    }
}

impl Channel {
    fn read(self, text: &str) -> Result<ChannelConfig, ConfigError> {
        let Self { id, label, products, connections } = self;
        let product = |product: NamedProduct| {
            let NamedProduct { code, groups } = product;
            Product { code, groups }
        };
        let mut read = Vec::with_capacity(connections.len());
        let mut seen = HashSet::new();
        for connection in connections {
            let line = line(text, connection.span().start);
            let connection = connection.into_inner().read(&id);
            if !seen.insert(connection.id.clone()) {
                let id = connection.id;
                return Err(ConfigError::DuplicateId { line, element: "connection", id });
            }
            read.push(connection);
        }
        let products = products.into_iter().map(product).collect();
        Ok(ChannelConfig { id, label, products, connections: read, invalid: Vec::new() })
    }
}

impl Connection {
    fn read(self, channel: &str) -> ConnectionConfig {
        let feed_type = FeedType::from_code(&self.feed);
        let side = match self.side {
            SideName::A => FeedLine::A,
            SideName::B => FeedLine::B,
        };
        let protocol = match (self.protocol, &feed_type) {
            (Some(name), _) => Protocol::from_name(name.trim()),
            (None, FeedType::HistoricalReplay) => Protocol::Tcp,
            (None, _) => Protocol::Udp,
        };
        let id = self.id.unwrap_or_else(|| format!("{channel}{}{side}", feed_type.code()));
        let Self { group, hosts, port, interface, .. } = Self { id: None, protocol: None, ..self };
        ConnectionConfig { id, feed_type, protocol, group, hosts, port, side, interface }
    }
}

/// Checks that all ids differ.
fn check_ids<'a, T: 'a>(
    element: &'static str,
    text: &str,
    ids: impl Iterator<Item = (&'a toml::Spanned<T>, &'a str)>,
) -> Result<(), ConfigError> {
    let mut seen = HashSet::new();
    for (place, id) in ids {
        if !seen.insert(id) {
            let line = line(text, place.span().start);
            return Err(ConfigError::DuplicateId { line, element, id: id.to_owned() });
        }
    }
    Ok(())
}

/// Returns the line of a byte offset, counted from 1.
fn line(text: &str, offset: usize) -> u32 {
    let before = &text.as_bytes()[..offset.min(text.len())];
    before.iter().filter(|&&byte| byte == b'\n').count() as u32 + 1
}

#[cfg(test)]
mod tests {
    use crate::Addresses;

    use super::*;

    const EBS: &str = r#"
        environment = "Test"
        [[channel]]
        id = "450"
        label = "EBS Spot, conflated"
        products = [{ code = "EURUSD", groups = ["EU", "EX"] }, { code = "USDJPY" }]
        [[channel.connection]]
        feed = "I"
        side = "A"
        group = "224.0.30.1"
        port = 14310
        hosts = ["205.209.223.70", "205.209.223.71"]
        [[channel.connection]]
        feed = "I"
        side = "B"
        group = "224.0.31.1"
        port = 14310
        interface = "10.0.0.8"
        [[channel.connection]]
        feed = "N"
        side = "A"
        group = "224.0.30.2"
        port = 14310
        [[channel.connection]]
        feed = "S"
        side = "A"
        group = "224.0.30.3"
        port = 14310
        [[channel.connection]]
        feed = "H"
        side = "A"
        hosts = ["10.0.0.1"]
        port = 10000
    "#;

    #[test]
    fn toml_channel_equals_its_config_xml_form() {
        let config = Config::from_toml(EBS).unwrap();
        assert_eq!(config.environment, "Test");
        // Writing the channel as XML and parsing that gives the same channel.
        assert_eq!(config.to_string().parse::<Config>().unwrap(), config);
        let channel = config.channel(None).unwrap();
        assert_eq!((&*channel.id, &*channel.label), ("450", "EBS Spot, conflated"));
        assert_eq!(channel.products[0].groups, ["EU", "EX"]);
        let ids: Vec<&str> = channel.connections.iter().map(|it| &*it.id).collect();
        assert_eq!(ids, ["450IA", "450IB", "450NA", "450SA", "450HA"]);
        let interface = Ipv4Addr::new(10, 0, 0, 9);
        let Addresses::Multicast(feeds) = channel.addresses(interface).unwrap() else { panic!() };
        let a = feeds.incremental.a.unwrap();
        assert_eq!(a.address.to_string(), "224.0.30.1:14310");
        assert_eq!(a.sources.len(), 2);
        let b = feeds.incremental.b.unwrap();
        assert!(b.sources.is_empty());
        assert_eq!((a.interface, b.interface), (None, Some(Ipv4Addr::new(10, 0, 0, 8))));
        assert!(feeds.snapshot.b.is_none());
        let hosts = channel.replay_hosts();
        assert_eq!(hosts, ["10.0.0.1:10000".parse().unwrap()]);
    }

    #[test]
    fn errors_name_the_line() {
        let with = |old: &str, new: &str| {
            let text = EBS.replacen(old, new, 1);
            Config::from_toml(&text).unwrap_err().to_string()
        };
        let invalid = [
            (with("port = 14310", "port = 70000"), "line 11: "),
            (with("port = 14310", "port = \"x\""), "line 11: "),
            (with("port = 14310", ""), "missing field `port`"),
            (with("224.0.30.1", "224.0.30"), "line 10: "),
            (with("side = \"A\"", "side = \"C\""), "line 9: "),
            (with("label", "lable"), "unknown field `lable`"),
            (with("side = \"B\"", "side = \"A\""), "duplicate <connection> id 450IA"),
            (with("[[channel]]", "[[channel"), "line 3: "),
        ];
        for (error, expected) in invalid {
            assert!(error.contains(expected), "{error} does not contain {expected}");
            assert!(error.starts_with("line "), "{error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
        let twice = format!("{EBS}\n[[channel]]\nid = \"450\"");
        let error = Config::from_toml(&twice).unwrap_err().to_string();
        assert!(error.ends_with("duplicate <channel> id 450"), "{error}");
    }

    #[test]
    fn empty_file_has_no_channels() {
        assert_eq!(Config::from_toml("").unwrap(), Config::default());
    }
}
