//! The kernel's lists of group members, as printed by net/ipv4/igmp.c and net/ipv6/mcast.c.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Returns the members of an IPv4 group on an interface, from `/proc/net/igmp`. A line either
/// starts with an interface's index, or describes a group of the interface above it.
///
/// ```text
/// Idx  Device    : Count Querier  Group    Users Timer       Reporter
/// 4    eth0      :     1      V3
///                                 010000E0     1 0:00000000         0
/// ```
pub(crate) fn members_v4(list: &[u8], interface: u32, group: Ipv4Addr) -> u32 {
    let mut is_on_interface = false;
    let mut members = 0_u32;
    for line in lines(list).skip(1) {
        let mut fields = fields(line);
        if !line.starts_with(b"\t") {
            is_on_interface = fields.next().and_then(decimal) == Some(interface);
        } else if is_on_interface && fields.next().and_then(group_v4) == Some(group) {
            let users = fields.next().and_then(decimal).unwrap_or(0);
            members = members.saturating_add(users);
        }
    }
    members
}

/// Returns the members of an IPv6 group on an interface, from `/proc/net/igmp6`, which has a line
/// for each group.
///
/// ```text
/// 4    eth0            ff020000000000000000000000000001     1 0000000C 0
/// ```
pub(crate) fn members_v6(list: &[u8], interface: u32, group: Ipv6Addr) -> u32 {
    let users = |line| {
        let mut fields = fields(line);
        let matches = fields.next().and_then(decimal) == Some(interface)
            && fields.nth(1).and_then(group_v6) == Some(group);
        matches.then(|| fields.next().and_then(decimal)).flatten()
    };
    lines(list).filter_map(users).fold(0, u32::saturating_add)
}

fn lines(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == b'\n')
}

fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}

fn decimal(field: &[u8]) -> Option<u32> {
    str::from_utf8(field).ok()?.parse().ok()
}

/// The address in memory, printed as a number in host byte order.
fn group_v4(field: &[u8]) -> Option<Ipv4Addr> {
    let number = u32::from_str_radix(str::from_utf8(field).ok()?, 16).ok()?;
    (field.len() == 8).then(|| number.to_ne_bytes().into())
}

fn group_v6(field: &[u8]) -> Option<Ipv6Addr> {
    let number = u128::from_str_radix(str::from_utf8(field).ok()?, 16).ok()?;
    (field.len() == 32).then(|| number.into())
}

#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests {
    use super::*;

    /// Printed by Linux 6.18.
    const IGMP: &[u8] = b"Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter
1\tlo        :     1      V3
\t\t\t\t010000E0     1 0:00000000\t\t0
4\teth0      :     2      V3
\t\t\t\t030201EF    12 0:00000000\t\t0
\t\t\t\t010000E0     1 0:00000000\t\t0
";
    const IGMP6: &[u8] = b"\
1    lo              ff020000000000000000000000000001     1 0000000C 0
4    eth0            ff0200000000000000000001ff000002     3 00000004 0
4    eth0            ff020000000000000000000000000001     1 0000000C 0
";

    fn v4(list: &[u8], interface: u32, group: &str) -> u32 {
        members_v4(list, interface, group.parse().unwrap())
    }

    fn v6(list: &[u8], interface: u32, group: &str) -> u32 {
        members_v6(list, interface, group.parse().unwrap())
    }

    #[test]
    fn members_are_counted_per_interface() {
        assert_eq!(v4(IGMP, 4, "239.1.2.3"), 12);
        assert_eq!(v4(IGMP, 1, "239.1.2.3"), 0);
        assert_eq!([1, 4, 7].map(|interface| v4(IGMP, interface, "224.0.0.1")), [1, 1, 0]);
        assert_eq!(v4(IGMP, 4, "239.1.2.4"), 0);
        assert_eq!(v6(IGMP6, 4, "ff02::1:ff00:2"), 3);
        assert_eq!(v6(IGMP6, 1, "ff02::1:ff00:2"), 0);
        assert_eq!([1, 4, 7].map(|interface| v6(IGMP6, interface, "ff02::1")), [1, 1, 0]);
    }

    #[test]
    fn interface_names_may_contain_any_bytes() {
        let igmp = b"Idx\n7\t\xff\xfe#:     : 1 V3\n\t\t\t\t030201EF     2 0:0\t\t0\n";
        assert_eq!(v4(igmp, 7, "239.1.2.3"), 2);
        let igmp6 = b"7    \xff\xfe   ff020000000000000000000000000001     2 0000000C 0\n";
        assert_eq!(v6(igmp6, 7, "ff02::1"), 2);
    }

    #[test]
    fn malformed_lists_have_no_members() {
        for end in 0..IGMP.len() {
            assert!(v4(&IGMP[..end], 4, "239.1.2.3") <= 12);
        }
        let short = b"Idx\n4\teth0 : 1 V3\n\t\t\t\t30201EF     2 0:0\t\t0\n";
        assert_eq!(v4(short, 4, "239.1.2.3"), 0);
        let cut = b"4 eth0 ff020000000000000000000000000001";
        assert_eq!(v6(cut, 4, "ff02::1"), 0);
        let many = b"Idx\n4 e\n\t030201EF 4294967295\n\t030201EF 7\n";
        assert_eq!(v4(many, 4, "239.1.2.3"), u32::MAX);
    }
}
