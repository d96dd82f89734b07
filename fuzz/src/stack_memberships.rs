//! Arbitrary bytes as the kernel's lists of multicast groups and sockets.
//!
//! Checks:
//!
//! - No list makes a parser panic.
//! - A line added to a list counts as declared; a line of another interface counts as zero.
//! - A doubled list has twice the members.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::Seed;
use crate::stack_memberships_of_kernel::igmp_list::{members_v4, members_v6};
use crate::stack_memberships_of_kernel::listener;

const INTERFACE: u32 = 4;
const V4: Ipv4Addr = Ipv4Addr::new(239, 1, 2, 3);
const V6: Ipv6Addr = Ipv6Addr::new(0xff15, 0, 0, 0, 0, 0, 0, 7);

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let members = members_v4(bytes, INTERFACE, V4);
    let group = format!("{:08X}", u32::from_ne_bytes(V4.octets()));
    let with = |interface: u32| {
        let lines = format!("\n{interface}\teth0 : 1 V3\n\t\t{group} 3 0:0 0\n");
        members_v4(&[bytes, lines.as_bytes()].concat(), INTERFACE, V4)
    };
    assert_eq!(with(INTERFACE), members.saturating_add(3));
    assert_eq!(with(INTERFACE + 1), members);

    let members = members_v6(bytes, INTERFACE, V6);
    let twice = [bytes, b"\n", bytes].concat();
    assert_eq!(members_v6(&twice, INTERFACE, V6), members.saturating_mul(2));
    let group = format!("{:032x}", u128::from(V6));
    let with = |interface: u32| {
        let line = format!("\n{interface} eth0 {group} 3 00000004 0\n");
        members_v6(&[bytes, line.as_bytes()].concat(), INTERFACE, V6)
    };
    assert_eq!(with(INTERFACE), members.saturating_add(3));
    assert_eq!(with(INTERFACE + 1), members);

    if let Some(listener) = listener::parse(20, bytes) {
        assert!(bytes.len() >= 72);
        for group in [SocketAddr::new(V4.into(), 7_000), SocketAddr::new(V6.into(), 7_000)] {
            // A listener on no specific interface is bound to none.
            assert!(!listener.receives(0, group) || listener.receives(INTERFACE, group));
        }
    }
}

/// Returns the initial corpus.
pub fn seeds() -> Vec<Seed> {
    let igmp = "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n\
        4\teth0      :     2      V3\n\
        \t\t\t\t030201EF    12 0:00000000\t\t0\n\
        \t\t\t\t010000E0     1 0:00000000\t\t0\n";
    let igmp6 = "4    eth0            ff150000000000000000000000000007     3 00000004 0\n";
    let mut socket = vec![0; 80];
    socket[..6].copy_from_slice(&[2, 7, 0, 0, 0x1b, 0x58]);
    socket[72..77].copy_from_slice(&[5, 0, 11, 0, 1]);
    let mut socket6 = socket.clone();
    socket6[0] = 10;
    [
        ("igmp", igmp.as_bytes().to_vec()),
        ("igmp6", igmp6.as_bytes().to_vec()),
        ("socket", socket),
        ("socket6", socket6),
    ]
    .map(|(name, bytes)| (name.to_string(), bytes))
    .to_vec()
}
