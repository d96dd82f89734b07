//! Filter entries of UDP sockets in messages: their addresses as text.
//!
//! `10.0.0.1:7` is a port, `10.0.0.1:7 10.0.0.2:8` a flow with its remote address, `239.1.1.1:7` a
//! group and a port.

use std::net::SocketAddr;

use hairpin_xdp::{Entry, Protocol};

/// Returns the text of an entry; `None` for one that no UDP socket has.
pub(super) fn to_text(entry: &Entry) -> Option<String> {
    match *entry {
        Entry::Local { protocol: Protocol::Udp, vlan: None, local } => Some(local.to_string()),
        Entry::Flow { protocol: Protocol::Udp, vlan: None, local, remote } => {
            Some(format!("{local} {remote}"))
        }
        Entry::Group { vlan: None, group, port: Some(port) } => {
            Some(SocketAddr::new(group, port).to_string())
        }
        _ => None,
    }
}

/// Returns the entry of a text.
pub(super) fn from_text(text: &str) -> Option<Entry> {
    let (protocol, vlan) = (Protocol::Udp, None);
    if let Some((local, remote)) = text.split_once(' ') {
        let (local, remote) = (local.parse().ok()?, remote.parse().ok()?);
        return Some(Entry::Flow { protocol, vlan, local, remote });
    }
    let local: SocketAddr = text.parse().ok()?;
    Some(match local.ip().to_canonical().is_multicast() {
        true => Entry::Group { vlan, group: local.ip(), port: Some(local.port()) },
        false => Entry::Local { protocol, vlan, local },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_as_it_was_written() {
        for text in ["10.0.0.1:7", "[fd00::1]:7 [fe80::2%3]:8", "239.1.1.1:7", "[ff02::1]:9"] {
            assert_eq!(to_text(&from_text(text).unwrap()).unwrap(), text);
        }
        for text in ["", "10.0.0.1", "10.0.0.1:7 ", "10.0.0.1:7 10.0.0.2:8 x", "a:7"] {
            assert!(from_text(text).is_none(), "{text}");
        }
        let frames = Entry::EtherType { vlan: None, ether_type: 0x88b5 };
        assert!(to_text(&frames).is_none());
    }
}
