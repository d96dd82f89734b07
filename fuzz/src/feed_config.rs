//! CME's config.xml, as an arbitrary text, and written from any configuration; and channels in
//! TOML.
//!
//! Checks:
//!
//! - No text makes the reader panic, and every error is one line.
//! - A configuration that was read, written and read again is unchanged.
//! - A configuration of arbitrary texts, written and read, is unchanged except for characters that
//!   XML does not allow.
//! - A channel created from a channel's addresses has these addresses.
//! - Channels read from TOML, written as XML and read again, are unchanged except for such
//!   characters.
//!
//! Input: the text in any encoding; or 0xFF, which starts no text, and bytes for a
//! configuration; or 0xFE and a TOML text.

use std::net::Ipv4Addr;

use hairpin_feed_handler::FeedLine;
use hairpin_feed_handler::config::{
    ChannelConfig, Config, ConnectionConfig, FeedType, Product, Protocol,
};

use crate::Seed;
use crate::script::Script;

const INTERFACE: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    if let [0xFF, script @ ..] = bytes {
        return check_written(&config(&mut Script(script)));
    }
    if let [0xFE, text @ ..] = bytes {
        return str::from_utf8(text).map_or((), check_toml);
    }
    let text = match hairpin_sbe::xml_text(bytes) {
        Ok(text) => text,
        Err(error) => return assert!(!error.to_string().contains(['\n', '\r']), "{error}"),
    };
    match text.parse::<Config>() {
        Ok(config) => {
            assert_eq!(read(&config), config, "{config}");
            check_addresses(&config);
        }
        Err(error) => assert!(!error.to_string().contains(['\n', '\r']), "{error}"),
    }
}

fn check_toml(text: &str) {
    match Config::from_toml(text) {
        Ok(config) => {
            check_addresses(&config);
            // Two ids may differ only in such characters.
            let again = read(&config);
            if again.channels.iter().all(|channel| channel.invalid.is_empty()) {
                assert_eq!(again, carried_config(&config), "{config}");
            }
        }
        Err(error) => assert!(!error.to_string().contains(['\n', '\r']), "{error}"),
    }
}

/// Reads a configuration written from another.
fn read(config: &Config) -> Config {
    let text = config.to_string();
    text.parse().unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn check_written(config: &Config) {
    let again = read(config);
    assert_eq!(again, carried_config(config), "{config}");
    assert_eq!(read(&again), again);
    check_addresses(&again);
}

fn check_addresses(config: &Config) {
    for channel in &config.channels {
        match channel.addresses(INTERFACE) {
            Ok(addresses) => {
                let made = ChannelConfig::from_addresses(&channel.id, &channel.label, &addresses);
                let same = made.addresses(INTERFACE);
                assert_eq!(same.expect("the addresses are valid"), addresses);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        let found = config.channel(Some(&channel.id));
        assert_eq!(found.expect("the file exists").id, channel.id);
    }
}

/// Returns the configuration after a pass through XML.
fn carried_config(config: &Config) -> Config {
    let Config { environment, updated, channels } = config;
    let channel = |channel: &ChannelConfig| ChannelConfig {
        id: carried(&channel.id),
        label: carried(&channel.label),
        products: channel.products.iter().map(product).collect(),
        connections: channel.connections.iter().map(connection).collect(),
        invalid: channel.invalid.clone(),
    };
    Config {
        environment: carried(environment),
        updated: carried(updated),
        channels: channels.iter().map(channel).collect(),
    }
}

fn product(product: &Product) -> Product {
    let groups = product.groups.iter().map(|group| carried(group)).collect();
    Product { code: carried(&product.code), groups }
}

fn connection(connection: &ConnectionConfig) -> ConnectionConfig {
    ConnectionConfig {
        id: carried(&connection.id),
        feed_type: FeedType::from_code(&carried(connection.feed_type.code())),
        protocol: Protocol::from_name(carried(connection.protocol.name()).trim()),
        ..connection.clone()
    }
}

/// Removes the characters that XML 1.0, section 2.2, does not allow: most control characters and
/// two others.
fn carried(text: &str) -> String {
    let carried = |c: char| match c {
        '\t' | '\n' | '\r' => c,
        _ if c < ' ' || c == '\u{FFFE}' || c == '\u{FFFF}' => '\u{FFFD}',
        _ => c,
    };
    text.chars().map(carried).collect()
}

fn config(script: &mut Script<'_>) -> Config {
    Config {
        environment: text(script),
        updated: text(script),
        channels: (0..script.below(4)).map(|number| channel(script, number)).collect(),
    }
}

fn channel(script: &mut Script<'_>, number: u8) -> ChannelConfig {
    let product = |script: &mut Script<'_>| Product {
        code: text(script),
        groups: (0..script.below(3)).map(|_| text(script)).collect(),
    };
    ChannelConfig {
        // A unique id.
        id: format!("{number}{}", text(script)),
        label: text(script),
        products: (0..script.below(3)).map(|_| product(script)).collect(),
        connections: (0..script.below(8)).map(|number| one(script, number)).collect(),
        invalid: Vec::new(),
    }
}

fn one(script: &mut Script<'_>, number: u8) -> ConnectionConfig {
    let address = |script: &mut Script<'_>| Ipv4Addr::from([(); 4].map(|()| script.byte()));
    let feed_type = match script.below(8) {
        0 => text(script),
        known => ["I", "N", "S", "SMBO", "H", "I", "I"][usize::from(known - 1)].to_owned(),
    };
    ConnectionConfig {
        id: if script.flag() { String::new() } else { format!("{number}{}", text(script)) },
        feed_type: FeedType::from_code(&feed_type),
        protocol: match script.below(4) {
            0 => Protocol::from_name(&text(script)),
            1 => Protocol::Tcp,
            _ => Protocol::Udp,
        },
        group: match script.below(4) {
            0 => None,
            1 => Some(address(script)),
            _ => Some(Ipv4Addr::new(224, 0, 31, script.byte())),
        },
        hosts: (0..script.below(3)).map(|_| address(script)).collect(),
        port: script.word(),
        side: if script.flag() { FeedLine::A } else { FeedLine::B },
        interface: script.flag().then(|| address(script)),
    }
}

/// Returns a short text, with many characters that are special in XML.
fn text(script: &mut Script<'_>) -> String {
    const ODD: [char; 32] = [
        '&',
        '<',
        '>',
        '"',
        '\'',
        '\t',
        '\n',
        '\r',
        ' ',
        '\0',
        '\u{1F}',
        '\u{7F}',
        '\u{85}',
        '\u{A0}',
        '\u{2028}',
        '\u{3000}',
        '\u{FFFD}',
        '\u{FFFE}',
        '\u{FFFF}',
        '\u{10FFFF}',
        ';',
        '#',
        ']',
        '[',
        '!',
        '-',
        '?',
        '/',
        '=',
        '\u{B}',
        '\u{C}',
        '\u{FEFF}',
    ];
    let length = usize::from(script.below(8));
    let character = |&byte: &u8| match byte {
        0..128 => char::from(byte),
        _ => ODD[usize::from(byte) % ODD.len()],
    };
    script.bytes(length).iter().map(character).collect()
}

/// Returns a multicast file, a TCP file, a rejected file, and some scripts.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let texts = [("multicast", MULTICAST), ("tcp", TCP), ("twice", TWICE), ("no-port", NO_PORT)];
    let texts = texts.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    let made = |name: &str, from: u8, step: u8| {
        let script = (0..200_u8).map(|index| index.wrapping_mul(step).wrapping_add(from));
        (name.to_owned(), [0xFF].into_iter().chain(script).collect())
    };
    let toml = [&[0xFE], CONFLATED.as_bytes()].concat();
    let wide: Vec<u8> = MULTICAST.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin = MULTICAST.replace("UTF-8", "ISO-8859-1").replace("more", "?").into_bytes();
    let latin = latin.into_iter().map(|byte| if byte == b'?' { 0xE9 } else { byte }).collect();
    let encoded = [("utf-16".to_owned(), wide), ("iso-8859-1".to_owned(), latin)];
    let others = [made("made", 3, 7), made("made-oddly", 131, 13), ("toml".to_owned(), toml)];
    texts.into_iter().chain(encoded).chain(others).collect()
}

const MULTICAST: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<configuration environment=\"Production\" updated=\"2016/11/14-21:12:02\">
<channel id=\"310\" label=\"Equity &amp; more\"><products><product code=\"ES\"><group code=\"ES\"/>
</product></products><connections>
<connection id=\"310IA\"><type feed-type=\"I\">Incremental</type><protocol>UDP/IP</protocol>
<ip>224.0.31.1</ip><host-ip>205.209.223.70</host-ip><port>14310</port><feed>A</feed></connection>
<connection id=\"310SB\"><type feed-type=\"S\">Snapshot</type><protocol> UDP/IP </protocol>
<ip>224.0.32.22</ip><host-ip>205.209.212.70</host-ip><port>15310</port><feed>B</feed></connection>
</connections></channel></configuration>";
const TCP: &str = "<configuration><channel id='1'><connections><connection id='1IA'>\
    <type feed-type='I'/><protocol>TCP/IP</protocol><host-ip>10.0.0.1</host-ip><port>1</port>\
    <feed>A</feed></connection></connections></channel></configuration>";
const TWICE: &str = "<configuration><channel id='1'/><channel id='1'/></configuration>";
const NO_PORT: &str = "<configuration><channel id='1'><connections><connection>\
    <type feed-type='X'/><protocol>x</protocol><feed>A</feed></connection></connections></channel>\
    </configuration>";
const CONFLATED: &str = "updated = \"2026-11-22\"
[[channel]]
id = \"450\"
label = \"EBS\"
products = [{ code = \"EURUSD\", groups = [\"EU\"] }]
[[channel.connection]]
feed = \"I\"
side = \"A\"
group = \"224.0.30.1\"
port = 14310
hosts = [\"205.209.223.70\"]
[[channel.connection]]
feed = \"H\"
side = \"A\"
port = 10000
protocol = \"TCP/IP\"
";
