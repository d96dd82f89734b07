//! The parser of config.xml.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::net::Ipv4Addr;
use std::path::Path;
use std::str::FromStr;

use hairpin_mdp3::FeedLine;
use roxmltree::{Document, Node, ParsingOptions};

use super::{ChannelConfig, Config, ConfigError, ConnectionConfig, FeedType, Product, Protocol};

/// The file size limit in bytes. CME's own file has about 300 kB.
const MAX_BYTES: u64 = 16 << 20;
/// The limit of XML nodes. CME's own file has about 10,000.
const MAX_NODES: u32 = 1 << 20;
/// The number of characters of an invalid value that an error shows.
const SHOWN: usize = 40;

impl Config {
    /// Reads a file: TOML if its name ends in `.toml`, otherwise CME's XML.
    ///
    /// # Errors
    /// [`ConfigError`]. The messages do not contain the path.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let mut text = String::new();
        File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
        if text.len() as u64 > MAX_BYTES {
            return Err(ConfigError::TooLong { max: MAX_BYTES });
        }
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
        let channels = children(root, "channel").map(channel).collect::<Result<_, _>>()?;
        check_ids("channel", children(root, "channel"))?;
        let attribute = |name| root.attribute(name).unwrap_or_default().to_owned();
        Ok(Self { environment: attribute("environment"), updated: attribute("updated"), channels })
    }
}

fn channel(node: Node<'_, '_>) -> Result<ChannelConfig, ConfigError> {
    let inside = |outer, inner| children(node, outer).flat_map(move |outer| children(outer, inner));
    check_ids("connection", inside("connections", "connection"))?;
    Ok(ChannelConfig {
        id: required(node, "channel", "id")?.to_owned(),
        label: node.attribute("label").unwrap_or_default().to_owned(),
        products: inside("products", "product").map(product).collect::<Result<_, _>>()?,
        connections: inside("connections", "connection")
            .map(connection)
            .collect::<Result<_, _>>()?,
    })
}

fn product(node: Node<'_, '_>) -> Result<Product, ConfigError> {
    let group = |node| required(node, "group", "code").map(str::to_owned);
    Ok(Product {
        code: required(node, "product", "code")?.to_owned(),
        groups: children(node, "group").map(group).collect::<Result<_, _>>()?,
    })
}

fn connection(node: Node<'_, '_>) -> Result<ConnectionConfig, ConfigError> {
    let missing =
        |name| ConfigError::Missing { line: line(node), element: "connection", missing: name };
    let child = |name| children(node, name).next().ok_or_else(|| missing(name));
    let feed_type = required(child("type")?, "type", "feed-type")?;
    let address = |node| parse::<Ipv4Addr>(node, "IPv4 address");
    Ok(ConnectionConfig {
        id: node.attribute("id").unwrap_or_default().to_owned(),
        feed_type: FeedType::from_code(feed_type),
        protocol: Protocol::from_name(text(child("protocol")?)),
        group: children(node, "ip").next().map(address).transpose()?,
        hosts: children(node, "host-ip").map(address).collect::<Result<_, _>>()?,
        port: parse(child("port")?, "port")?,
        side: match text(child("feed")?) {
            "A" => FeedLine::A,
            "B" => FeedLine::B,
            _ => return Err(invalid(child("feed")?, "side: use A or B")),
        },
        interface: children(node, "interface").next().map(address).transpose()?,
    })
}

/// Checks that all ids differ. TcpConnections without an id are ignored.
fn check_ids<'a, 'b: 'a>(
    element: &'static str,
    nodes: impl Iterator<Item = Node<'a, 'b>>,
) -> Result<(), ConfigError> {
    let mut seen = HashSet::new();
    for node in nodes {
        let id = node.attribute("id").unwrap_or_default();
        if !id.is_empty() && !seen.insert(id) {
            return Err(ConfigError::DuplicateId { line: line(node), element, id: truncate(id) });
        }
    }
    Ok(())
}

fn children<'a, 'b>(node: Node<'a, 'b>, name: &'static str) -> impl Iterator<Item = Node<'a, 'b>> {
    node.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

fn required<'a>(
    node: Node<'a, '_>,
    element: &'static str,
    attribute: &'static str,
) -> Result<&'a str, ConfigError> {
    let missing = || ConfigError::Missing { line: line(node), element, missing: attribute };
    node.attribute(attribute).ok_or_else(missing)
}

fn parse<T: FromStr>(node: Node<'_, '_>, expected: &'static str) -> Result<T, ConfigError> {
    text(node).parse().map_err(|_| invalid(node, expected))
}

fn text<'a>(node: Node<'a, '_>) -> &'a str {
    node.text().unwrap_or_default().trim()
}

fn invalid(node: Node<'_, '_>, expected: &'static str) -> ConfigError {
    let element = truncate(node.tag_name().name());
    ConfigError::InvalidValue { line: line(node), element, expected, text: truncate(text(node)) }
}

/// Returns the parser's message with control characters escaped: the message quotes the character
/// and the names of the file.
fn one_line(error: &roxmltree::Error) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().collect() } else { vec![c] };
    error.to_string().chars().flat_map(escape).collect()
}

fn truncate(text: &str) -> String {
    text.chars().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn line(node: Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}
