//! Netlink requests and notifications, checked against the configured state.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use hairpin_testbed::{
    Capability, Host, NudState, Route as NewRoute, RouteKind as NewKind, Rtnetlink, Rule, Testbed,
    become_ordinary_user,
};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

use crate::source::netlink::{Change, InterfaceAddress, NeighborState, Netlink, Route, RouteKind};

const MAC: [u8; 6] = [2, 0, 0, 0, 0, 9];

/// Creates two hosts with IPv6, and the means to query and change the first.
fn setup() -> (Testbed, Netlink, Rtnetlink, u32) {
    let testbed = Testbed::builder().ipv6().build().unwrap();
    let host = &testbed.hosts()[0];
    let netlink = host.run(Netlink::open).unwrap().unwrap();
    let (rtnetlink, index) = (host.rtnetlink().unwrap(), host.interface_index());
    (testbed, netlink, rtnetlink, index)
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Returns the pending changes without waiting.
fn reported(netlink: &mut Netlink) -> Vec<Change> {
    let mut reported = Vec::new();
    netlink.changes(&mut |change| reported.push(change)).unwrap();
    reported
}

/// Waits for a change, including delayed ones.
fn wait_for(netlink: &mut Netlink, wanted: impl Fn(&Change) -> bool) {
    let mut all = Vec::new();
    for _ in 0..1_000 {
        let reported = reported(netlink);
        if reported.iter().any(&wanted) {
            return;
        }
        all.extend(reported);
        is_readable(netlink, 10);
    }
    panic!("{all:?}");
}

fn is_readable(netlink: &Netlink, milliseconds: i32) -> bool {
    let mut poll =
        libc::pollfd { fd: netlink.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which outlives the call.
    unsafe { libc::poll(&raw mut poll, 1, milliseconds) == 1 }
}

#[test]
#[ignore = "needs root"]
fn links_match_their_configuration() {
    let (testbed, mut netlink, mut rtnetlink, index) = setup();
    let link = netlink.link(index).unwrap();
    let known = rtnetlink.link("veth0").unwrap();
    assert_eq!((link.index, link.mac, link.mtu), (index, known.mac, 1_500));
    assert_eq!((link.name.as_str(), link.is_up, link.is_running), ("veth0", true, true));
    rtnetlink.set_mac(index, MAC).unwrap();
    rtnetlink.set_mtu(index, 1_400).unwrap();
    let link = netlink.link(index).unwrap();
    assert_eq!((link.mac, link.mtu), (MAC, 1_400));
    // With only this end up, the link has no carrier.
    testbed.hosts()[1].rtnetlink().unwrap().set_down(testbed.hosts()[1].interface_index()).unwrap();
    wait_for(&mut netlink, |change| *change == Change::Link(index));
    for _ in 0..1_000 {
        if !netlink.link(index).unwrap().is_running {
            break;
        }
        is_readable(&netlink, 10);
        reported(&mut netlink);
    }
    let link = netlink.link(index).unwrap();
    assert_eq!((link.is_up, link.is_running), (true, false));
    rtnetlink.set_down(index).unwrap();
    let link = netlink.link(index).unwrap();
    assert_eq!((link.is_up, link.is_running), (false, false));
    assert_eq!(netlink.link(1).unwrap().mac, [0; 6]);
    assert_eq!(netlink.link(99).unwrap_err().raw_os_error(), Some(libc::ENODEV));
}

fn is_link_local(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.is_unicast_link_local())
}

#[test]
#[ignore = "needs root"]
fn addresses_match_the_interface() {
    let (_bed, mut netlink, mut rtnetlink, index) = setup();
    let addresses = |netlink: &mut Netlink| {
        let mut found = netlink.addresses(index).unwrap();
        found.retain(|found| !is_link_local(found.address));
        found.sort_by_key(|found| found.address);
        let entry = |found: InterfaceAddress| (found.address, found.prefix, found.broadcast);
        found.into_iter().map(entry).collect::<Vec<_>>()
    };
    let first = [(ip("10.77.0.1"), 24, None), (ip("fd77::1"), 64, None)];
    assert_eq!(addresses(&mut netlink), first);
    let broadcast = "10.88.255.255".parse().unwrap();
    rtnetlink.add_broadcast_address(index, "10.88.0.1".parse().unwrap(), 16, broadcast).unwrap();
    rtnetlink.add_address(index, ip("fd88::1"), 128).unwrap();
    let [v4, v6] = first;
    let added = [(ip("10.88.0.1"), 16, Some(broadcast)), (ip("fd88::1"), 128, None)];
    assert_eq!(addresses(&mut netlink), [v4, added[0], v6, added[1]]);
    rtnetlink.remove_address(index, ip("10.88.0.1"), 16).unwrap();
    assert_eq!(addresses(&mut netlink), [v4, v6, added[1]]);
    let lo: Vec<_> = netlink.addresses(1).unwrap().into_iter().map(|a| a.address).collect();
    assert_eq!(lo, [ip("127.0.0.1"), ip("::1")]);
    assert_eq!(netlink.addresses(99).unwrap_err().raw_os_error(), Some(libc::ENODEV));
}

#[test]
#[ignore = "needs root"]
fn tentative_address_is_reported_when_usable() {
    let (testbed, mut netlink, mut rtnetlink, index) = setup();
    let host = &testbed.hosts()[0];
    // Duplicate address detection runs on a link that comes up.
    host.run(|| fs::write("/proc/sys/net/ipv6/conf/veth0/accept_dad", "1").unwrap()).unwrap();
    rtnetlink.set_down(index).unwrap();
    reported(&mut netlink);
    rtnetlink.set_up(index).unwrap();
    for _ in 0..1_000 {
        wait_for(&mut netlink, |change| *change == Change::Addresses(index));
        if netlink.addresses(index).unwrap().iter().any(|found| is_link_local(found.address)) {
            let table =
                host.run(|| fs::read_to_string("/proc/thread-self/net/if_inet6").unwrap()).unwrap();
            let line = table.lines().find(|line| line.starts_with("fe80")).unwrap();
            // The flags: permanent, and no longer tentative.
            assert_eq!(line.split_whitespace().nth(4), Some("80"), "{table}");
            return;
        }
    }
    panic!("the address is never usable");
}

/// An own address, a peer, a remote host, and a free address, of each family.
const FAMILIES: [[&str; 4]; 2] = [
    ["10.77.0.1", "10.77.0.2", "10.99.0.1", "10.77.0.9"],
    ["fd77::1", "fd77::2", "fd99::1", "fd77::9"],
];

#[test]
#[ignore = "needs root"]
fn routes_match_the_kernel() {
    let (_bed, mut netlink, mut rtnetlink, index) = setup();
    for [own, peer, far, second] in FAMILIES.map(|names| names.map(ip)) {
        let length = if own.is_ipv4() { 32 } else { 128 };
        let kind = RouteKind::Unicast;
        let xdp_destination =
            Route { interface: index, source: own, gateway: None, kind, mtu: None };
        assert_eq!(netlink.route(peer, None, None).unwrap(), xdp_destination);
        assert_eq!(netlink.route(peer, None, Some(index)).unwrap(), xdp_destination);
        // A local route.
        let local = netlink.route(own, None, None).unwrap();
        assert_eq!((local.kind, local.interface, local.source), (RouteKind::Local, 1, own));
        // A gateway route with an MTU and a source.
        let unreachable = ErrorKind::NetworkUnreachable;
        assert_eq!(netlink.route(far, None, None).unwrap_err().kind(), unreachable);
        rtnetlink.add_address(index, second, length).unwrap();
        let route = NewRoute {
            gateway: Some(peer),
            interface: Some(index),
            source: Some(second),
            mtu: Some(1_300),
            ..NewRoute::to(far, length)
        };
        rtnetlink.add_route(&route).unwrap();
        let by_gateway =
            Route { source: second, gateway: Some(peer), mtu: Some(1_300), ..xdp_destination };
        assert_eq!(netlink.route(far, None, None).unwrap(), by_gateway);
        let from_first = netlink.route(far, Some(own), None).unwrap();
        assert_eq!(from_first, Route { source: own, ..by_gateway });
        assert!(netlink.route(far, None, Some(99)).is_err());
        rtnetlink.remove_route(&route).unwrap();
        // A policy rule for one source.
        rtnetlink.add_route(&NewRoute { table: Some(7), ..route }).unwrap();
        rtnetlink.add_rule(&Rule { from: (second, length), table: 7, priority: 7 }).unwrap();
        assert_eq!(netlink.route(far, Some(second), None).unwrap(), by_gateway);
        assert_eq!(netlink.route(far, Some(own), None).unwrap_err().kind(), unreachable);
    }
    let strange = netlink.route(ip("10.77.0.2"), Some(ip("10.77.0.77")), None).unwrap_err();
    assert_eq!(strange.kind(), ErrorKind::NetworkUnreachable);
}

#[test]
#[ignore = "needs root"]
fn route_errors_are_the_kernels() {
    let (_bed, mut netlink, mut rtnetlink, _) = setup();
    for [_, _, far, _] in FAMILIES.map(|names| names.map(ip)) {
        let length = if far.is_ipv4() { 32 } else { 128 };
        for (kind, error) in [
            (NewKind::Prohibited, libc::EACCES),
            (NewKind::Unreachable, libc::EHOSTUNREACH),
            (NewKind::Blackhole, libc::EINVAL),
        ] {
            let route = NewRoute { kind, ..NewRoute::to(far, length) };
            rtnetlink.add_route(&route).unwrap();
            let refused = netlink.route(far, None, None).unwrap_err();
            assert_eq!(refused.raw_os_error(), Some(error), "{far} {kind:?}");
            rtnetlink.remove_route(&route).unwrap();
        }
    }
}

#[test]
#[ignore = "needs root"]
fn route_kinds_are_distinguished() {
    let (_bed, mut netlink, mut rtnetlink, index) = setup();
    let mut kind = |destination: &str, interface| {
        let route = netlink.route(ip(destination), None, interface).unwrap();
        assert_eq!((route.interface, route.gateway), (index, None));
        (route.kind, route.source)
    };
    let source = ip("10.77.0.1");
    assert_eq!(kind("10.77.0.255", None), (RouteKind::Broadcast, source));
    assert_eq!(kind("255.255.255.255", Some(index)), (RouteKind::Broadcast, source));
    assert_eq!(kind("239.1.2.3", None), (RouteKind::Multicast, source));
    assert_eq!(kind("239.1.2.3", Some(index)), (RouteKind::Multicast, source));
    assert_eq!(kind("ff15::7", Some(index)), (RouteKind::Multicast, ip("fd77::1")));
    // An IPv4 route with an IPv6 gateway.
    let gateway = Some(ip("fd77::2"));
    let route = NewRoute { gateway, interface: Some(index), ..NewRoute::to(ip("10.99.0.0"), 16) };
    rtnetlink.add_route(&route).unwrap();
    let found = netlink.route(ip("10.99.7.7"), None, None).unwrap();
    assert_eq!((found.gateway, found.source), (gateway, source));
}

#[test]
#[ignore = "needs root"]
fn route_without_a_source_address_is_an_error() {
    let (_bed, mut netlink, mut rtnetlink, index) = setup();
    rtnetlink.remove_address(index, ip("10.77.0.1"), 24).unwrap();
    let route = NewRoute { interface: Some(index), ..NewRoute::to(ip("10.98.0.0"), 16) };
    rtnetlink.add_route(&route).unwrap();
    let error = netlink.route(ip("10.98.0.1"), None, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrNotAvailable);
}

#[test]
#[ignore = "needs root"]
fn neighbors_are_returned_while_usable() {
    let (_bed, mut netlink, mut rtnetlink, index) = setup();
    for address in ["10.77.0.9", "fd77::9"].map(ip) {
        assert_eq!(netlink.neighbor(index, address).unwrap(), None);
        for (certainty, state) in [
            (NudState::Permanent, NeighborState::Permanent),
            (NudState::Stale, NeighborState::Stale),
            (NudState::Reachable, NeighborState::Reachable),
        ] {
            rtnetlink.set_neighbor(index, address, MAC, certainty).unwrap();
            let known = netlink.neighbor(index, address).unwrap().unwrap();
            assert_eq!((known.mac, known.state), (MAC, state));
        }
        rtnetlink.set_neighbor(index, address, MAC, NudState::Failed).unwrap();
        assert_eq!(netlink.neighbor(index, address).unwrap(), None);
        let changes: Vec<_> = reported(&mut netlink)
            .into_iter()
            .filter_map(|change| match change {
                Change::Neighbor { interface, address: of, mac } if of == address => {
                    assert_eq!(interface, index);
                    Some(mac)
                }
                _ => None,
            })
            .collect();
        assert_eq!(changes, [Some(MAC), Some(MAC), Some(MAC), None]);
        rtnetlink.set_neighbor(index, address, MAC, NudState::Reachable).unwrap();
        reported(&mut netlink);
        rtnetlink.remove_neighbor(index, address).unwrap();
        let removed = Change::Neighbor { interface: index, address, mac: None };
        assert!(reported(&mut netlink).contains(&removed));
        assert!(netlink.neighbor(99, address).is_err());
    }
}

/// Each is deleted with its state; no other message reports the removal.
#[test]
#[ignore = "needs root"]
fn neighbors_are_removed_when_the_interface_goes_down() {
    let (_bed, mut netlink, mut rtnetlink, index) = setup();
    let addresses = ["10.77.0.9", "fd77::9"].map(ip);
    for address in addresses {
        rtnetlink.set_neighbor(index, address, MAC, NudState::Reachable).unwrap();
    }
    reported(&mut netlink);
    rtnetlink.set_down(index).unwrap();
    let reported = reported(&mut netlink);
    for address in addresses {
        let of = |change: &&Change| match change {
            Change::Neighbor { address: of, .. } => *of == address,
            _ => false,
        };
        let removed = Change::Neighbor { interface: index, address, mac: None };
        assert_eq!(reported.iter().rfind(of), Some(&removed));
        assert_eq!(netlink.neighbor(index, address).unwrap(), None);
    }
}

#[test]
#[ignore = "needs root"]
fn use_neighbor_resolves_a_neighbor() {
    let (testbed, mut netlink, mut rtnetlink, index) = setup();
    let peer = &testbed.hosts()[1];
    let mac = peer.rtnetlink().unwrap().link("veth0").unwrap().mac;
    for address in [peer.address().into(), peer.address_v6().unwrap().into()] {
        let _ = rtnetlink.remove_neighbor(index, address);
        reported(&mut netlink);
        netlink.use_neighbor(index, address).unwrap();
        let found = Change::Neighbor { interface: index, address, mac: Some(mac) };
        wait_for(&mut netlink, |change| *change == found);
        assert_eq!(netlink.neighbor(index, address).unwrap().unwrap().mac, mac);
        // A stale entry is about to be probed.
        rtnetlink.set_neighbor(index, address, mac, NudState::Stale).unwrap();
        netlink.use_neighbor(index, address).unwrap();
        let state = netlink.neighbor(index, address).unwrap().unwrap().state;
        assert_ne!(state, NeighborState::Stale);
    }
}

#[test]
#[ignore = "needs root"]
fn permanent_neighbor_stays_unchanged() {
    let (_bed, mut netlink, mut rtnetlink, index) = setup();
    for address in ["10.77.0.9", "fd77::9"].map(ip) {
        rtnetlink.set_neighbor(index, address, MAC, NudState::Permanent).unwrap();
        netlink.use_neighbor(index, address).unwrap();
        let known = netlink.neighbor(index, address).unwrap().unwrap();
        assert_eq!((known.mac, known.state), (MAC, NeighborState::Permanent));
    }
}

/// Reads until the kernel reports nothing more about the setup.
fn drain_notifications(netlink: &mut Netlink) {
    for _ in 0..100 {
        reported(netlink);
        if !is_readable(netlink, 100) {
            return;
        }
    }
    panic!("notifications do not stop");
}

#[test]
#[ignore = "needs root"]
fn changes_are_reported_by_kind() {
    let (_bed, mut netlink, mut rtnetlink, index) = setup();
    drain_notifications(&mut netlink);
    rtnetlink.set_mtu(index, 1_400).unwrap();
    assert!(is_readable(&netlink, 0));
    assert!(reported(&mut netlink).contains(&Change::Link(index)));
    for [_, _, far, second] in FAMILIES.map(|names| names.map(ip)) {
        drain_notifications(&mut netlink);
        let length = if far.is_ipv4() { 32 } else { 128 };
        let route = NewRoute { interface: Some(index), ..NewRoute::to(far, length) };
        rtnetlink.add_route(&route).unwrap();
        assert!(reported(&mut netlink).contains(&Change::Routes));
        rtnetlink.remove_route(&route).unwrap();
        assert!(reported(&mut netlink).contains(&Change::Routes));
        let rule = Rule { from: (far, length), table: 7, priority: 7 };
        rtnetlink.add_rule(&rule).unwrap();
        assert!(reported(&mut netlink).contains(&Change::Routes));
        rtnetlink.remove_rule(&rule).unwrap();
        assert!(reported(&mut netlink).contains(&Change::Routes));
        // The kernel reports an IPv6 address after duplicate address detection.
        rtnetlink.add_address(index, second, length).unwrap();
        wait_for(&mut netlink, |change| *change == Change::Addresses(index));
        drain_notifications(&mut netlink);
        rtnetlink.remove_address(index, second, length).unwrap();
        wait_for(&mut netlink, |change| *change == Change::Addresses(index));
    }
    rtnetlink.add_pair(["one", "other"]).unwrap();
    let one = rtnetlink.link("one").unwrap().index;
    assert!(reported(&mut netlink).contains(&Change::Link(one)));
    rtnetlink.remove_link("one").unwrap();
    assert!(reported(&mut netlink).contains(&Change::Link(one)));
}

#[test]
#[ignore = "needs root"]
fn overrun_is_reported_and_later_changes_too() {
    let (_bed, mut netlink, mut rtnetlink, index) = setup();
    for round in 0..3 {
        for number in 0..10_000_u32 {
            let certainty = if number % 2 == 0 { NudState::Stale } else { NudState::Permanent };
            rtnetlink.set_neighbor(index, ip("10.77.0.9"), MAC, certainty).unwrap();
        }
        // Replies are not lost among notifications.
        assert_eq!(netlink.link(index).unwrap().index, index);
        // A change right after an overrun is reported too.
        let mut seen = Vec::new();
        netlink
            .changes(&mut |change| {
                seen.push(change);
                if change == Change::Overrun {
                    rtnetlink.set_mtu(index, 1_400 + round).unwrap();
                }
            })
            .unwrap();
        assert_eq!(seen.iter().filter(|change| **change == Change::Overrun).count(), 1);
        seen.extend(reported(&mut netlink));
        assert!(seen.contains(&Change::Link(index)), "{seen:?}");
        assert!(!reported(&mut netlink).contains(&Change::Overrun));
    }
}

/// The list changes constantly; permanent addresses are never missing from it.
#[test]
#[ignore = "needs root"]
fn dump_is_complete_despite_changes() {
    let (testbed, mut netlink, mut rtnetlink, index) = setup();
    let all: HashSet<IpAddr> = (1..=250).map(|host| ip(&format!("10.88.0.{host}"))).collect();
    for address in &all {
        rtnetlink.add_address(index, *address, 32).unwrap();
    }
    let running = AtomicBool::new(true);
    let mut whole = 0;
    std::thread::scope(|scope| {
        let host: &Host = &testbed.hosts()[0];
        scope.spawn(|| {
            let mut rtnetlink = host.rtnetlink().unwrap();
            for _ in 0..5_000 {
                if !running.load(Ordering::Relaxed) {
                    break;
                }
                rtnetlink.add_address(index, ip("10.99.0.1"), 32).unwrap();
                rtnetlink.remove_address(index, ip("10.99.0.1"), 32).unwrap();
            }
        });
        for _ in 0..200 {
            match netlink.addresses(index) {
                Ok(found) => {
                    whole += 1;
                    let found: HashSet<_> = found.iter().map(|found| found.address).collect();
                    assert_eq!(all.difference(&found).next(), None);
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::ResourceBusy),
            }
        }
        running.store(false, Ordering::Relaxed);
    });
    assert!(whole > 0);
}

#[test]
#[ignore = "needs root"]
fn ordinary_user_reads_all_and_changes_nothing() {
    let testbed = Testbed::builder().ipv6().build().unwrap();
    let [host, peer] = testbed.hosts();
    let index = host.interface_index();
    let peers = [peer.address().into(), peer.address_v6().unwrap().into()];
    let mut rtnetlink = host.rtnetlink().unwrap();
    let asked = host.run(|| {
        become_ordinary_user(&[]).unwrap();
        let mut netlink = Netlink::open().unwrap();
        assert!(netlink.link(index).unwrap().is_up);
        assert!(netlink.addresses(index).unwrap().len() >= 2);
        for address in peers {
            assert_eq!(netlink.route(address, None, None).unwrap().interface, index);
            netlink.neighbor(index, address).unwrap();
            let refused = netlink.use_neighbor(index, address).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
        }
        netlink
    });
    let mut netlink = asked.unwrap();
    rtnetlink.set_mtu(index, 1_400).unwrap();
    assert!(reported(&mut netlink).contains(&Change::Link(index)));
    host.run(|| {
        become_ordinary_user(&[Capability::NetAdmin]).unwrap();
        let mut netlink = Netlink::open().unwrap();
        for address in peers {
            netlink.use_neighbor(index, address).unwrap();
        }
    })
    .unwrap();
}

/// Returns the ports of the namespace's rtnetlink sockets, as the kernel lists them.
fn ports(host: &Host) -> Vec<u32> {
    let table = host.run(|| fs::read_to_string("/proc/thread-self/net/netlink").unwrap()).unwrap();
    let fields = table.lines().skip(1).map(|line| line.split_whitespace());
    let ports = fields.filter_map(|mut fields| {
        let (protocol, port) = (fields.nth(1)?, fields.next()?);
        (protocol == "0").then(|| port.parse().unwrap())
    });
    ports.filter(|&port| port != 0).collect()
}

#[test]
#[ignore = "needs root"]
fn forged_notifications_are_ignored() {
    let testbed = Testbed::namespaces().unwrap();
    let host = &testbed.hosts()[0];
    let mut netlink = host.run(Netlink::open).unwrap().unwrap();
    let ports = ports(host);
    assert_eq!(ports.len(), 2, "{ports:?}");
    let mut stranger = host.run(|| Socket::new(NETLINK_ROUTE)).unwrap().unwrap();
    stranger.bind_auto().unwrap();
    drain_notifications(&mut netlink);
    // A forged notification: interface 77 was removed.
    let mut forged = 32_u32.to_ne_bytes().to_vec();
    forged.extend(libc::RTM_DELLINK.to_ne_bytes());
    forged.resize(32, 0);
    forged[20] = 77;
    for port in ports {
        let error = stranger.send_to(&forged, &SocketAddr::new(port, 0), 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    }
    reported(&mut netlink);
    // To a group; and to an unused port, because the kernel ignores port 0.
    let to_group = SocketAddr::new(u32::MAX, 1);
    let _ = stranger.send_to(&forged, &to_group, 0);
    assert!(is_readable(&netlink, 0), "no forged datagram arrived, so the test proves nothing");
    assert!(!reported(&mut netlink).contains(&Change::Link(77)));
}

#[test]
#[ignore = "needs root"]
fn descriptors_are_close_on_exec() {
    let (_bed, netlink, ..) = setup();
    // SAFETY: the call takes integers and accesses no memory of this process.
    let flags = unsafe { libc::fcntl(netlink.as_fd().as_raw_fd(), libc::F_GETFD) };
    assert_eq!(flags & libc::FD_CLOEXEC, libc::FD_CLOEXEC);
}
