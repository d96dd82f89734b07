//! The multicast groups of a benchmark's channel.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};

use serde::{Deserialize, Serialize};

/// The destinations of a channel's six streams: lines [A, B] of each feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MulticastGroups {
    /// The groups of the incremental feed.
    pub incremental: [SocketAddrV4; 2],
    /// The groups of the instrument feed.
    pub instrument: [SocketAddrV4; 2],
    /// The groups of the snapshot feed.
    pub snapshot: [SocketAddrV4; 2],
}

impl MulticastGroups {
    /// Returns six groups of 239.192/16, chosen by process id, on ports that are free now, so that
    /// two runs at once do not collide.
    ///
    /// # Errors
    /// No free port.
    pub fn free() -> io::Result<Self> {
        let [_, _, high, low] = std::process::id().wrapping_mul(8).to_be_bytes();
        Ok(Self::new(Ipv4Addr::new(239, 192, high, low), free_ports()?))
    }

    /// Returns six groups starting at `first`: lines A and B of the incremental, instrument and
    /// snapshot feeds. The two lines of a feed share a port: `first`'s and the two after it.
    ///
    /// # Errors
    /// An address that is not multicast or too close to the end of the range; a port without two
    /// ports after it.
    pub fn from(first: SocketAddrV4) -> Result<Self, String> {
        let last = Ipv4Addr::from(first.ip().to_bits().saturating_add(5));
        if !first.ip().is_multicast() || !last.is_multicast() {
            return Err(format!(
                "{} and the next five addresses are not multicast groups",
                first.ip()
            ));
        }
        let port = first.port();
        if port == 0 || port > u16::MAX - 2 {
            return Err(format!("{port} and the next two numbers are not ports"));
        }
        Ok(Self::new(*first.ip(), [port, port + 1, port + 2]))
    }

    fn new(first: Ipv4Addr, [incremental, instrument, snapshot]: [u16; 3]) -> Self {
        let group = |index, port| SocketAddrV4::new(Ipv4Addr::from(first.to_bits() + index), port);
        let sides = |first, port| [group(first, port), group(first + 1, port)];
        Self {
            incremental: sides(0, incremental),
            instrument: sides(2, instrument),
            snapshot: sides(4, snapshot),
        }
    }
}

/// Returns three different free ports; all are reserved until the last is chosen.
fn free_ports() -> io::Result<[u16; 3]> {
    let reserve = || UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0));
    let held = [reserve()?, reserve()?, reserve()?];
    let mut ports = [0; 3];
    for (port, socket) in ports.iter_mut().zip(&held) {
        *port = socket.local_addr()?.port();
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_ports_are_all_different() {
        let groups = MulticastGroups::free().unwrap();
        let all = [groups.incremental, groups.instrument, groups.snapshot].concat();
        for (index, one) in all.iter().enumerate() {
            assert_eq!(one.ip().octets()[..2], [239, 192]);
            assert!(all[..index].iter().all(|other| other.ip() != one.ip()));
        }
        assert_ne!(groups.incremental[0].port(), groups.snapshot[0].port());
        assert_ne!(groups.incremental[0].port(), groups.instrument[0].port());
    }

    #[test]
    fn six_groups_follow_a_given_one() {
        let groups = MulticastGroups::from("239.1.2.255:5000".parse().unwrap()).unwrap();
        assert_eq!(groups.incremental[1], "239.1.3.0:5000".parse().unwrap());
        assert_eq!(groups.snapshot[1], "239.1.3.4:5002".parse().unwrap());
    }

    #[test]
    fn rejects_unicast_address() {
        for bad in ["10.0.0.1:5000", "239.255.255.251:5000", "239.1.1.1:0", "239.1.1.1:65534"] {
            assert!(MulticastGroups::from(bad.parse().unwrap()).is_err(), "{bad}");
        }
    }
}
