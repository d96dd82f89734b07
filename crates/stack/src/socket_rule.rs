//! Which sockets of a program are accelerated.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::str::FromStr;

use ipnet::IpNet;
use thiserror::Error;

/// The transport protocol of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketProtocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// Sockets that `hairpin run --accelerate` names: `PROTOCOL:PORT` or `PROTOCOL:ADDRESS:PORT`.
///
/// The protocol is `tcp` or `udp`. The port is a number, a range such as `14310-14319`, or `*`. The
/// address is of IPv4, or of IPv6 in brackets, with the length of a prefix after a slash:
/// `udp:239.0.0.0/8:*`, `tcp:[fd00::/8]:443`.
///
/// ```
/// use hairpin_stack::{SocketProtocol, SocketRule};
///
/// let rule: SocketRule = "tcp:9000".parse()?;
/// let (local, remote) = ("10.0.0.1:40000".parse()?, "10.0.0.2:9000".parse()?);
/// assert!(rule.matches(SocketProtocol::Tcp, local, Some(remote)));
/// assert!(!rule.matches(SocketProtocol::Udp, local, Some(remote)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketRule {
    protocol: SocketProtocol,
    network: Option<IpNet>,
    ports: RangeInclusive<u16>,
}

/// The reason why a text is no [`SocketRule`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SocketRuleError {
    /// The protocol is not known, or the port is missing.
    #[error("expected tcp or udp, a colon and a port, such as tcp:9000, udp:* or udp:10.0.0.0/8:*")]
    Protocol,
    /// The port is not one.
    #[error("expected as the port a number, a range such as 14310-14319, or *")]
    Port,
    /// The address is not one.
    #[error("expected before the port an address, of IPv6 in brackets, or a prefix: 10.0.0.0/8")]
    Address,
}

impl SocketRule {
    /// Returns `true` if the rule names a socket: one of its ends has the address and the port.
    ///
    /// A UDP socket that is bound to any address has none.
    #[must_use]
    pub fn matches(
        &self,
        protocol: SocketProtocol,
        local: SocketAddr,
        remote: Option<SocketAddr>,
    ) -> bool {
        let is_named = |end: SocketAddr| {
            self.ports.contains(&end.port())
                && self.network.is_none_or(|network| network.contains(&end.ip().to_canonical()))
        };
        self.protocol == protocol && (is_named(local) || remote.is_some_and(is_named))
    }
}

impl FromStr for SocketRule {
    type Err = SocketRuleError;

    fn from_str(text: &str) -> Result<Self, SocketRuleError> {
        let (protocol, rest) = text.split_once(':').ok_or(SocketRuleError::Protocol)?;
        let protocol = match protocol {
            "tcp" => SocketProtocol::Tcp,
            "udp" => SocketProtocol::Udp,
            _ => return Err(SocketRuleError::Protocol),
        };
        let (network, port) = match rest.rsplit_once(':') {
            Some((network, port)) => {
                (Some(self::network(network).ok_or(SocketRuleError::Address)?), port)
            }
            None => (None, rest),
        };
        Ok(Self { protocol, network, ports: ports(port).ok_or(SocketRuleError::Port)? })
    }
}

fn ports(text: &str) -> Option<RangeInclusive<u16>> {
    if text == "*" {
        return Some(0..=u16::MAX);
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = first.parse().ok()?..=last.parse().ok()?;
    (!range.is_empty()).then_some(range)
}

impl fmt::Display for SocketRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.protocol {
            SocketProtocol::Tcp => "tcp:",
            SocketProtocol::Udp => "udp:",
        })?;
        match self.network {
            Some(IpNet::V4(network)) => write!(f, "{network}:")?,
            Some(IpNet::V6(network)) => write!(f, "[{network}]:")?,
            None => {}
        }
        match (*self.ports.start(), *self.ports.end()) {
            (0, u16::MAX) => f.write_str("*"),
            (first, last) if first == last => write!(f, "{first}"),
            (first, last) => write!(f, "{first}-{last}"),
        }
    }
}

/// Reads an address or a prefix, of IPv6 in brackets.
fn network(text: &str) -> Option<IpNet> {
    let inside = text.strip_prefix('[').map(|rest| rest.strip_suffix(']'));
    let text = inside.unwrap_or(Some(text))?;
    let network = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from)).ok()?;
    (inside.is_some() == matches!(network, IpNet::V6(_))).then_some(network)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(rule: &str, protocol: SocketProtocol, local: &str, remote: Option<&str>) -> bool {
        let address = |text: &str| text.parse().unwrap();
        let rule: SocketRule = rule.parse().unwrap();
        rule.matches(protocol, address(local), remote.map(address))
    }

    #[test]
    fn either_end_has_the_port_and_the_address() {
        use SocketProtocol::{Tcp, Udp};
        let ends = ("10.1.2.3:40000", Some("192.168.0.9:9000"));
        for rule in [
            "tcp:*",
            "tcp:9000",
            "tcp:40000",
            "tcp:8999-9001",
            "tcp:192.168.0.9:9000",
            "tcp:10.0.0.0/8:*",
            "tcp:10.1.2.3/31:40000",
            "tcp:0.0.0.0/0:*",
        ] {
            assert!(matches(rule, Tcp, ends.0, ends.1), "{rule}");
            assert!(!matches(rule, Udp, ends.0, ends.1), "{rule}");
        }
        for rule in [
            "tcp:9001",
            "tcp:1-8999",
            // The port of one end and the address of the other.
            "tcp:192.168.0.9:40000",
            "tcp:10.1.2.4/31:*",
            "tcp:[::/0]:*",
            "udp:*",
        ] {
            assert!(!matches(rule, Tcp, ends.0, ends.1), "{rule}");
        }
        assert!(matches("udp:14310", Udp, "0.0.0.0:14310", None));
        assert!(!matches("udp:10.0.0.0/8:14310", Udp, "0.0.0.0:14310", None));
        assert!(matches("udp:[fd00::/8]:*", Udp, "[fd12::1]:5", None));
        assert!(!matches("udp:[fd00::/8]:*", Udp, "[fe80::1]:5", None));
        assert!(matches("udp:[::/0]:5", Udp, "[fe80::1]:5", None));
        assert!(matches("udp:10.0.0.1:*", Udp, "[::ffff:10.0.0.1]:5", None), "mapped");
    }

    #[test]
    fn texts_are_read_and_printed() {
        for (text, printed) in [
            ("tcp:9000", "tcp:9000"),
            ("udp:*", "udp:*"),
            ("udp:0-65535", "udp:*"),
            ("udp:5-6", "udp:5-6"),
            ("udp:239.0.0.0/8:*", "udp:239.0.0.0/8:*"),
            ("tcp:10.0.0.1:7-7", "tcp:10.0.0.1/32:7"),
            ("tcp:[fd00::/8]:443", "tcp:[fd00::/8]:443"),
        ] {
            let rule: SocketRule = text.parse().unwrap();
            assert_eq!(rule.to_string(), printed);
            assert_eq!(printed.parse(), Ok(rule));
        }
    }

    #[test]
    fn errors_say_what_is_expected() {
        use SocketRuleError::{Address, Port, Protocol};
        for (text, error) in [
            ("", Protocol),
            ("9000", Protocol),
            ("tcp", Protocol),
            ("TCP:1", Protocol),
            ("sctp:1", Protocol),
            ("*:1", Protocol),
            ("tcp:", Port),
            ("tcp:http", Port),
            ("tcp:65536", Port),
            ("tcp:-1", Port),
            ("tcp:9-8", Port),
            ("tcp:10.0.0.1:", Port),
            ("tcp:10.0.0.1/33:1", Address),
            ("tcp:10.0.0.1/:1", Address),
            ("tcp:host:1", Address),
            ("tcp:fd00::1:1", Address),
            ("tcp:[fd00::1:1", Address),
            ("tcp:[10.0.0.1]:1", Address),
            ("tcp:[fd00::/129]:1", Address),
            ("tcp::1", Address),
        ] {
            assert_eq!(text.parse::<SocketRule>(), Err(error), "{text:?}");
        }
    }
}
