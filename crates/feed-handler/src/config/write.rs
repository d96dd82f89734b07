//! The writer of config.xml.

use std::fmt::{self, Write};

use super::{ChannelConfig, Config, ConnectionConfig, Product};

/// Writes the form that [`Config::from_str`](std::str::FromStr) parses. Characters that XML cannot
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
    let ChannelConfig { id, label, products, connections } = channel;
    writeln!(f, "  <channel id=\"{}\" label=\"{}\">", Escaped(id), Escaped(label))?;
    writeln!(f, "    <products>")?;
    for Product { code, groups } in products {
        write!(f, "      <product code=\"{}\">", Escaped(code))?;
        for group in groups {
            write!(f, "<group code=\"{}\"/>", Escaped(group))?;
        }
        writeln!(f, "</product>")?;
    }
    writeln!(f, "    </products>")?;
    writeln!(f, "    <connections>")?;
    connections.iter().try_for_each(|connection| write_connection(f, connection))?;
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
