//! The tables of iptables (linux/netfilter_ipv4/ip_tables.h, ip6_tables.h). A program that
//! translates its rules to nftables leaves no such table.

use std::fs;
use std::os::fd::AsRawFd;

use socket2::{Domain, Socket, Type};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

use super::Found;

/// `IPT_SO_GET_INFO`, `IP6T_SO_GET_INFO`.
const GET_INFO: libc::c_int = 64;

/// `struct ipt_getinfo`, `struct ip6t_getinfo`.
#[derive(FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Information {
    name: [u8; 32],
    /// A bit for each hook.
    hooks: u32,
    _entries: [u32; 5],
    _policies: [u32; 5],
    count: u32,
    _size: u32,
}

/// Returns the tables that have rules.
pub(super) fn found() -> Found {
    let mut found = Found::default();
    let families = [
        ("/proc/self/net/ip_tables_names", "iptables", Domain::IPV4, libc::IPPROTO_IP),
        ("/proc/self/net/ip6_tables_names", "ip6tables", Domain::IPV6, libc::IPPROTO_IPV6),
    ];
    for (family, (file, program, domain, level)) in families.into_iter().enumerate() {
        // Asking for a table that is not there would create it.
        for name in fs::read_to_string(file).unwrap_or_default().split_whitespace() {
            if has_rules(name, domain, level) {
                let place = match name {
                    "nat" => &mut found.translating[family],
                    _ => &mut found.restricting[family],
                };
                place.get_or_insert_with(|| format!("{program} (table {name})"));
            }
        }
    }
    found
}

/// Returns `true` if a table has more than the policies of its chains.
fn has_rules(name: &str, domain: Domain, level: libc::c_int) -> bool {
    let mut information = Information::new_zeroed();
    let (Ok(socket), Some(place)) =
        (Socket::new(domain, Type::DGRAM, None), information.name.get_mut(..name.len()))
    else {
        return true;
    };
    place.copy_from_slice(name.as_bytes());
    let mut length = size_of::<Information>() as libc::socklen_t;
    let at = (&raw mut information).cast();
    // SAFETY: the kernel writes at most `length` bytes to the structure.
    match unsafe { libc::getsockopt(socket.as_raw_fd(), level, GET_INFO, at, &raw mut length) } {
        // The policies, and the entry at the end.
        0 => information.count > information.hooks.count_ones() + 1,
        _ => true,
    }
}
