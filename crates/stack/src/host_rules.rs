//! Rules of this host that packets obey only while they pass the kernel: nftables, iptables,
//! address translation, filters of traffic control.
//!
//! A frame that bypasses the kernel skips them. So a flow that one of them may apply to stays with
//! the kernel. No obstacle are rules that only accept, those of forwarded packets, and queueing
//! disciplines. Reading requires `CAP_NET_ADMIN`.

mod conntrack;
mod iptables;
mod nftables;
mod request;
mod traffic_control;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use netlink_sys::protocols::NETLINK_NETFILTER;

use crate::netlink::RequestSocket;
pub use nftables::{Chain, chains};
pub use traffic_control::{TrafficControl, traffic_control};

/// The time for which rules without a number of their last change are known.
const KNOWN: Duration = Duration::from_secs(1);

/// The first rule of each kind, in words; by family, IPv4 and IPv6.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Found {
    /// Drops, limits, counts against a quota, or changes packets.
    restricting: [Option<String>; 2],
    /// Translates addresses of some packets.
    translating: [Option<String>; 2],
}

impl Found {
    /// Adds the findings of another kind of rules.
    fn or(&self, other: &Self) -> Self {
        let or = |a: &[Option<String>; 2], b: &[Option<String>; 2]| {
            [0, 1].map(|family| a[family].clone().or_else(|| b[family].clone()))
        };
        Self {
            restricting: or(&self.restricting, &other.restricting),
            translating: or(&self.translating, &other.translating),
        }
    }
}

/// The rules of the calling thread's network namespace.
#[derive(Debug)]
pub struct HostRules {
    /// `None` on a kernel without netfilter.
    socket: Option<RequestSocket>,
    /// Those of nftables, with the number of their last change.
    nftables: (Option<u32>, Found),
    /// All others.
    others: Found,
    read_at: Option<Instant>,
}

impl HostRules {
    /// Opens a socket for the rules of the calling thread's network namespace.
    #[must_use]
    pub fn open() -> Self {
        let socket = RequestSocket::open(NETLINK_NETFILTER).ok();
        let (nftables, others) = ((None, Found::default()), Found::default());
        Self { socket, nftables, others, read_at: None }
    }

    /// Returns the rule that a flow of the interface would skip, in words.
    ///
    /// # Errors
    /// The kernel's: `PermissionDenied` without `CAP_NET_ADMIN`.
    pub fn obstacle(
        &mut self,
        interface: u32,
        local: IpAddr,
        connection: Option<[SocketAddr; 2]>,
    ) -> io::Result<Option<String>> {
        self.read(interface)?;
        let found = self.nftables.1.or(&self.others);
        // A socket of IPv6 may receive IPv4.
        let families = match local.to_canonical() {
            IpAddr::V4(_) => 0..1,
            IpAddr::V6(address) if address.is_unspecified() => 0..2,
            IpAddr::V6(_) => 1..2,
        };
        for family in families {
            if let Some(rule) = &found.restricting[family] {
                return Ok(Some(format!("{rule} restricts packets")));
            }
            let Some(rule) = &found.translating[family] else { continue };
            let Some(connection) = connection else {
                return Ok(Some(format!("{rule} translates addresses")));
            };
            if let Some(socket) = &mut self.socket
                && conntrack::is_translated(socket, connection)?
            {
                return Ok(Some(format!("{rule} translates its addresses")));
            }
        }
        Ok(None)
    }

    /// Returns the families with rules that restrict packets, the sum of 1 for IPv4 and 2 for IPv6,
    /// those with rules that translate addresses, and the first rule in words.
    ///
    /// # Errors
    /// As for [`obstacle`](Self::obstacle).
    pub fn families(&mut self, interface: u32) -> io::Result<([u32; 2], Option<String>)> {
        self.read(interface)?;
        let Found { restricting, translating } = self.nftables.1.or(&self.others);
        let bits = |rules: &[Option<String>; 2]| {
            u32::from(rules[0].is_some()) | u32::from(rules[1].is_some()) << 1
        };
        let bits = [bits(&restricting), bits(&translating)];
        Ok((bits, restricting.into_iter().chain(translating).flatten().next()))
    }

    fn read(&mut self, interface: u32) -> io::Result<()> {
        if let Some(socket) = &mut self.socket {
            let generation = nftables::generation(socket)?;
            if self.nftables.0 != generation || generation.is_none() {
                self.nftables = (generation, nftables::found(socket)?);
            }
        }
        if self.read_at.is_none_or(|at| at.elapsed() > KNOWN) {
            let filters = match traffic_control(interface) {
                // A kernel without traffic control.
                Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Vec::new(),
                control => control?.filters,
            };
            let filter =
                filters.first().map(|kind| format!("the {kind} filter of traffic control"));
            let restricting = [filter.clone(), filter];
            let filters = Found { restricting, ..Found::default() };
            self.others = iptables::found().or(&filters);
            self.read_at = Some(Instant::now());
        }
        Ok(())
    }
}
