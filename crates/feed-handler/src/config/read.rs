//! The parser of config.xml.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::net::Ipv4Addr;
use std::path::Path;
use std::str::FromStr;

use hairpin_mdp3::FeedLine;
use roxmltree::{Document, Node, ParsingOptions};

use super::{
    ChannelConfig, Config, ConfigError, ConnectionConfig, EntryFault, FeedType, InvalidEntry,
    Product, Protocol,
};

/// The file size limit in bytes. CME's own file has about 300 kB.
const MAX_BYTES: u64 = 16 << 20;
/// The limit of XML nodes. CME's own file has about 10,000.
const MAX_NODES: u32 = 1 << 20;
/// The number of characters of an invalid value that an error shows.
const SHOWN: usize = 40;

impl Config {
    /// Reads a file: TOML if its name ends in `.toml`, otherwise CME's XML, in UTF-8, UTF-16 or
    /// ISO-8859-1 ([`hairpin_sbe::xml_text`]).
    ///
    /// # Errors
    /// [`ConfigError`]. The messages do not contain the path.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(ConfigError::TooLong { max: MAX_BYTES });
        }
        let text = hairpin_sbe::xml_text(&bytes)?;
        if path.extension().is_some_and(|extension| extension == "toml") {
            return Self::from_toml(&text);
        }
        text.parse()
    }
}

impl FromStr for Config {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
        let document = Document::parse_with_options(text, options)
            .map_err(|error| ConfigError::Xml(one_line(&error)))?;
        let root = document.root_element();
        if root.tag_name().name() != "configuration" {
            let found = truncate(root.tag_name().name());
            return Err(ConfigError::Root { line: line(root), found });
        }
        let mut channels: Vec<_> = children(root, "channel").map(channel).collect();
        for (line, id) in repeated_ids(children(root, "channel")) {
            let fault = EntryFault::DuplicateId { element: "channel", id: truncate(id) };
            let invalid = InvalidEntry { line, connection: None, fault };
            let same = channels.iter_mut().filter(|channel| channel.id == id);
            same.for_each(|channel| channel.invalid.push(invalid.clone()));
        }
        let attribute = |name| root.attribute(name).unwrap_or_default().to_owned();
        Ok(Self { environment: attribute("environment"), updated: attribute("updated"), channels })
    }
}

/// Reads a channel. What cannot be used of it is in [`ChannelConfig::invalid`].
fn channel(node: Node<'_, '_>) -> ChannelConfig {
    let inside = |outer, inner| children(node, outer).flat_map(move |outer| children(outer, inner));
    let mut channel = ChannelConfig {
        label: node.attribute("label").unwrap_or_default().to_owned(),
        ..ChannelConfig::default()
    };
    let mut invalid = Vec::new();
    match required(node, "channel", "id") {
        Ok(id) => channel.id = id.to_owned(),
        Err(fault) => invalid.push(InvalidEntry { line: line(node), connection: None, fault }),
    }
    for node in inside("products", "product") {
        match product(node) {
            Ok(product) => channel.products.push(product),
            Err(fault) => invalid.push(InvalidEntry { line: line(node), connection: None, fault }),
        }
    }
    let mut ids = HashSet::new();
    for node in inside("connections", "connection") {
        let id = node.attribute("id").unwrap_or_default();
        let read = connection(node).and_then(|connection| {
            // Connections without an id are not compared.
            match id.is_empty() || ids.insert(id) {
                true => Ok(connection),
                false => Err(EntryFault::DuplicateId { element: "connection", id: truncate(id) }),
            }
        });
        match read {
            Ok(connection) => channel.connections.push(connection),
            Err(fault) => {
                let connection = Some(id.to_owned());
                invalid.push(InvalidEntry { line: line(node), connection, fault });
            }
        }
    }
    ChannelConfig { invalid, ..channel }
}

fn product(node: Node<'_, '_>) -> Result<Product, EntryFault> {
    let group = |node| required(node, "group", "code").map(str::to_owned);
    Ok(Product {
        code: required(node, "product", "code")?.to_owned(),
        groups: children(node, "group").map(group).collect::<Result<_, _>>()?,
    })
}

fn connection(node: Node<'_, '_>) -> Result<ConnectionConfig, EntryFault> {
    let missing = |missing| EntryFault::Missing { element: "connection", missing };
    let child = |name| children(node, name).next().ok_or_else(|| missing(name));
    let feed_type = required(child("type")?, "type", "feed-type")?;
    let address = |name| move |node| parse::<Ipv4Addr>(node, name, "IPv4 address");
    Ok(ConnectionConfig {
        id: node.attribute("id").unwrap_or_default().to_owned(),
        feed_type: FeedType::from_code(feed_type),
        protocol: Protocol::from_name(text(child("protocol")?)),
        group: children(node, "ip").next().map(address("ip")).transpose()?,
        hosts: children(node, "host-ip").map(address("host-ip")).collect::<Result<_, _>>()?,
        port: parse(child("port")?, "port", "port")?,
        side: match text(child("feed")?) {
            "A" => FeedLine::A,
            "B" => FeedLine::B,
            _ => return Err(invalid(child("feed")?, "feed", "side: use A or B")),
        },
        interface: children(node, "interface").next().map(address("interface")).transpose()?,
    })
}

/// Returns each id that occurred before, with its line. Elements without an id are ignored.
fn repeated_ids<'a, 'b: 'a>(
    nodes: impl Iterator<Item = Node<'a, 'b>>,
) -> impl Iterator<Item = (u32, &'a str)> {
    let mut seen = HashSet::new();
    let id = |node: Node<'a, 'b>| Some((line(node), node.attribute("id")?));
    nodes.filter_map(id).filter(move |(_, id)| !id.is_empty() && !seen.insert(*id))
}

fn children<'a, 'b>(node: Node<'a, 'b>, name: &'static str) -> impl Iterator<Item = Node<'a, 'b>> {
    node.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

fn required<'a>(
    node: Node<'a, '_>,
    element: &'static str,
    missing: &'static str,
) -> Result<&'a str, EntryFault> {
    node.attribute(missing).ok_or(EntryFault::Missing { element, missing })
}

fn parse<T: FromStr>(
    node: Node<'_, '_>,
    element: &'static str,
    expected: &'static str,
) -> Result<T, EntryFault> {
    text(node).parse().map_err(|_| invalid(node, element, expected))
}

fn text<'a>(node: Node<'a, '_>) -> &'a str {
    node.text().unwrap_or_default().trim()
}

fn invalid(node: Node<'_, '_>, element: &'static str, expected: &'static str) -> EntryFault {
    EntryFault::Invalid { element, expected, text: truncate(text(node)).trim().to_owned() }
}

/// Returns the parser's message with control characters escaped: the message quotes the character
/// and the names of the file.
fn one_line(error: &roxmltree::Error) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().collect() } else { vec![c] };
    error.to_string().chars().flat_map(escape).collect()
}

/// Returns text for an error: shortened, and in one line.
pub(super) fn truncate(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    match text.chars().count() {
        ..=SHOWN => text.chars().map(plain).collect(),
        _ => text.chars().take(SHOWN - 1).map(plain).chain(['\u{2026}']).collect(),
    }
}

fn line(node: Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}
