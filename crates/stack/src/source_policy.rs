//! The host's rules for the source of received packets: its addresses, and the sysctls that the
//! kernel's input path applies (`fib_validate_source`).

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::IpAddr;

use hairpin_netstack::Address;

use crate::netlink::{RequestSocket, RouteKind, find_route, open_requests};

/// The most sources whose route is remembered; all are forgotten when there are more.
const SOURCES_MAX: usize = 4_096;

/// The reverse path filter of an interface (`rp_filter`, RFC 3704).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ReversePath {
    #[default]
    Off,
    /// The kernel has a route to the source over the interface.
    Strict,
    /// The kernel has a route to the source.
    Loose,
}

/// What the rules depend on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SourceRules {
    /// The addresses of the host's other interfaces.
    host: HashSet<IpAddr>,
    reverse_path: ReversePath,
    accept_local: bool,
}

impl SourceRules {
    /// Reads the rules of an interface. `host` are the addresses of all interfaces. Link-local
    /// addresses are left out, because another link may use the same.
    pub(crate) fn read(interface: &str, host: &[IpAddr]) -> Self {
        let setting = |of: &str, name: &str| {
            let path = format!("/proc/sys/net/ipv4/conf/{of}/{name}");
            let text = std::fs::read_to_string(path).unwrap_or_default();
            text.trim().parse::<u8>().unwrap_or(0)
        };
        let both = |name: &str| [setting("all", name), setting(interface, name)];
        let reverse_path = match both("rp_filter").into_iter().max() {
            Some(1) => ReversePath::Strict,
            Some(2) => ReversePath::Loose,
            _ => ReversePath::Off,
        };
        let accept_local = both("accept_local").iter().any(|&set| set != 0);
        let is_unique = |address: &&IpAddr| !crate::destination::is_local_to_link(**address);
        let host = host.iter().filter(is_unique).copied().collect();
        Self { host, reverse_path, accept_local }
    }
}

/// The decision about a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Accepted,
    /// An address of this host.
    Own,
    NoReversePath,
}

/// Decides whether the source of a packet is accepted.
#[derive(Debug, Default)]
pub(crate) struct SourcePolicy {
    rules: SourceRules,
    interface: u32,
    /// Set while there is a reverse path filter.
    requests: Option<RequestSocket>,
    /// The result of the reverse path filter for recent sources.
    routed: HashMap<IpAddr, bool>,
}

impl SourcePolicy {
    /// Creates the policy. Call it in the network namespace of the interface.
    pub(crate) fn new(interface: u32, rules: SourceRules) -> io::Result<Self> {
        let mut this = Self { interface, ..Self::default() };
        this.update(rules)?;
        Ok(this)
    }

    /// Returns `true` if the rules differ.
    pub(crate) fn differs(&self, rules: &SourceRules) -> bool {
        self.rules != *rules
    }

    /// Forgets the decisions that depend on routes. Returns `true` if there may be such.
    pub(crate) fn forget_routes(&mut self) -> bool {
        self.routed.clear();
        self.requests.is_some()
    }

    /// Changes the rules, and forgets all decisions.
    ///
    /// # Errors
    /// Those of opening a netlink socket. Nothing has changed then.
    pub(crate) fn update(&mut self, rules: SourceRules) -> io::Result<()> {
        if rules.reverse_path == ReversePath::Off {
            self.requests = None;
        } else if self.requests.is_none() {
            self.requests = Some(open_requests()?);
        }
        self.rules = rules;
        self.routed.clear();
        Ok(())
    }

    /// Decides about packets of unknown flows from this source.
    #[cold]
    pub(crate) fn check(&mut self, source: Address) -> Source {
        let source = source.to_ip();
        let is_own = self.rules.host.contains(&source);
        if is_own && !(source.is_ipv4() && self.rules.accept_local) {
            return Source::Own;
        }
        if source.is_ipv6() || is_own || self.has_reverse_path(source) {
            Source::Accepted
        } else {
            Source::NoReversePath
        }
    }

    fn has_reverse_path(&mut self, source: IpAddr) -> bool {
        let Some(requests) = &mut self.requests else { return true };
        if let Some(&routed) = self.routed.get(&source) {
            return routed;
        }
        let strict = self.rules.reverse_path == ReversePath::Strict;
        let routed = find_route(requests, source, None, None).is_ok_and(|route| {
            route.kind == RouteKind::Unicast && (!strict || route.interface == self.interface)
        });
        if self.routed.len() == SOURCES_MAX {
            self.routed.clear();
        }
        self.routed.insert(source, routed);
        routed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(policy: &mut SourcePolicy, source: &str) -> bool {
        let source = Address::from(source.parse::<IpAddr>().unwrap());
        policy.check(source) == Source::Accepted
    }

    #[test]
    fn addresses_of_other_interfaces_are_own_sources() {
        let host = ["10.0.0.1", "fd00::1", "fe80::1"].map(|ip| ip.parse().unwrap());
        let rules = SourceRules::read("no such interface", &host);
        let rules = SourceRules { reverse_path: ReversePath::Off, accept_local: false, ..rules };
        let mut policy = SourcePolicy::new(1, rules.clone()).unwrap();
        assert!(!accepts(&mut policy, "10.0.0.1") && !accepts(&mut policy, "fd00::1"));
        assert!(accepts(&mut policy, "10.0.0.2") && accepts(&mut policy, "fe80::1"));
        let rules = SourceRules { accept_local: true, ..rules };
        assert!(policy.differs(&rules));
        policy.update(rules).unwrap();
        assert!(accepts(&mut policy, "10.0.0.1") && !accepts(&mut policy, "fd00::1"));
    }

    #[test]
    fn reverse_path_filter_requires_a_unicast_route() {
        let rules = |reverse_path| SourceRules { reverse_path, ..SourceRules::default() };
        let mut policy = SourcePolicy::new(u32::MAX, rules(ReversePath::Loose)).unwrap();
        assert!(!accepts(&mut policy, "127.0.0.1"), "a local route");
        assert!(accepts(&mut policy, "fd00::9"), "IPv4 only");
        policy.update(rules(ReversePath::Off)).unwrap();
        assert!(accepts(&mut policy, "127.0.0.1") && !policy.forget_routes());
        policy.update(rules(ReversePath::Strict)).unwrap();
        for number in 1..=SOURCES_MAX as u32 + 1 {
            accepts(&mut policy, &IpAddr::from((0x7F00_0000 + number).to_be_bytes()).to_string());
        }
        assert_eq!(policy.routed.len(), 1, "the sources are bounded");
    }
}
