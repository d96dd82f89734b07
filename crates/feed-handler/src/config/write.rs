//! The writer of config.xml.

use std::fmt::{self, Write};

use super::{ChannelConfig, Config, ConnectionConfig, EntryFault, InvalidEntry, Product};

/// Writes the form that [`Config::from_str`](std::str::FromStr) parses. An invalid entry is written
/// with the same fault, so that the channel stays unusable. Characters that XML cannot
/// represent, such as control characters, become U+FFFD.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { environment, updated, channels } = self;
        writeln!(f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(
            f,
            "<configuration environment=\"{}\" updated=\"{}\">",
            Escaped(environment),
            Escaped(updated)
        )?;
        channels.iter().try_for_each(|channel| write_channel(f, channel))?;
        writeln!(f, "</configuration>")
    }
}

fn write_channel(f: &mut fmt::Formatter<'_>, channel: &ChannelConfig) -> fmt::Result {
    let ChannelConfig { id, label, products, connections, invalid } = channel;
    write!(f, "  <channel")?;
    let is_without = |entry: &InvalidEntry| {
        matches!(entry.fault, EntryFault::Missing { element: "channel", .. })
    };
    if !invalid.iter().any(is_without) {
        write!(f, " id=\"{}\"", Escaped(id))?;
    }
    writeln!(f, " label=\"{}\">", Escaped(label))?;
    writeln!(f, "    <products>")?;
    for Product { code, groups } in products {
        write!(f, "      <product code=\"{}\">", Escaped(code))?;
        for group in groups {
            write!(f, "<group code=\"{}\"/>", Escaped(group))?;
        }
        writeln!(f, "</product>")?;
    }
    for entry in invalid {
        match entry.fault {
            EntryFault::Missing { element: "product", .. } => writeln!(f, "      <product/>")?,
            EntryFault::Missing { element: "group", .. } => {
                writeln!(f, "      <product code=\"\"><group/></product>")?;
            }
            _ => {}
        }
    }
    writeln!(f, "    </products>")?;
    writeln!(f, "    <connections>")?;
    connections.iter().try_for_each(|connection| write_connection(f, connection))?;
    invalid.iter().try_for_each(|entry| write_invalid(f, entry))?;
    writeln!(f, "    </connections>")?;
    writeln!(f, "  </channel>")
}

fn write_connection(f: &mut fmt::Formatter<'_>, connection: &ConnectionConfig) -> fmt::Result {
    let ConnectionConfig { id, feed_type, protocol, group, hosts, port, side, interface } =
        connection;
    writeln!(f, "      <connection id=\"{}\">", Escaped(id))?;
    let (code, label) = (feed_type.code(), feed_type.label());
    writeln!(f, "        <type feed-type=\"{}\">{}</type>", Escaped(code), Escaped(label))?;
    writeln!(f, "        <protocol>{}</protocol>", Escaped(protocol.name()))?;
    if let Some(group) = group {
        writeln!(f, "        <ip>{group}</ip>")?;
    }
    for host in hosts {
        writeln!(f, "        <host-ip>{host}</host-ip>")?;
    }
    writeln!(f, "        <port>{port}</port>")?;
    writeln!(f, "        <feed>{side}</feed>")?;
    if let Some(interface) = interface {
        writeln!(f, "        <interface>{interface}</interface>")?;
    }
    writeln!(f, "      </connection>")
}

/// Writes a connection whose only fault is that of the entry, if it is a connection.
fn write_invalid(f: &mut fmt::Formatter<'_>, entry: &InvalidEntry) -> fmt::Result {
    let InvalidEntry { connection: Some(id), fault, .. } = entry else { return Ok(()) };
    writeln!(f, "      <connection id=\"{}\">", Escaped(id))?;
    let elements = [
        ("protocol", "UDP/IP"),
        ("ip", ""),
        ("host-ip", ""),
        ("port", "1"),
        ("feed", "A"),
        ("interface", ""),
    ];
    match fault {
        EntryFault::Missing { missing: "type", .. } => {}
        EntryFault::Missing { missing: "feed-type", .. } => writeln!(f, "        <type/>")?,
        _ => writeln!(f, "        <type feed-type=\"\"/>")?,
    }
    for (name, valid) in elements {
        match fault {
            EntryFault::Missing { missing, .. } if *missing == name => {}
            EntryFault::Invalid { element, text, .. } if *element == name => {
                writeln!(f, "        <{name}>{}</{name}>", Escaped(text))?;
            }
            // The others are optional.
            _ if valid.is_empty() => {}
            _ => writeln!(f, "        <{name}>{valid}</{name}>")?,
        }
    }
    writeln!(f, "      </connection>")
}

/// The contents of a quoted attribute. White space is written as character references, because XML
/// parsers otherwise normalize it to blanks.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\t' | '\n' | '\r' => write!(f, "&#{};", u32::from(character))?,
                // XML 1.0, section 2.2: not even a character reference may represent these.
                '\0'..' ' | '\u{FFFE}' | '\u{FFFF}' => f.write_char('\u{FFFD}')?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}
