//! What a test changes of its hosts, and an ordinary user's capabilities, as root.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, UdpSocket};
use std::process::Command;
use std::time::Duration;

use hairpin_testbed::{
    Capability, Certainty, Host, Route, RouteKind, Rule, Testbed, become_ordinary_user,
};

const PATIENCE: Duration = Duration::from_secs(20);
const MAC: [u8; 6] = [2, 0, 0, 0, 0, 9];

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// What a socket of the host that sends to an address has for its own.
fn source_for(host: &Host, destination: &str) -> Result<IpAddr, ErrorKind> {
    let destination = ip(destination);
    let any = if destination.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let connected = host.run(|| {
        let socket = UdpSocket::bind(any).unwrap();
        socket.connect((destination, 9)).map(|()| socket.local_addr().unwrap().ip())
    });
    connected.unwrap().map_err(|error| error.kind())
}

#[test]
#[ignore = "needs root"]
fn ipv6_is_there_at_once_where_it_is_asked_for_and_else_not() {
    let bed = Testbed::builder().ipv6().build().unwrap();
    let sockets = bed.hosts().each_ref().map(|host| {
        let address = host.address_v6().unwrap();
        let socket = host.run(|| UdpSocket::bind((address, 0))).unwrap().unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    });
    sockets[0].send_to(b"tick", sockets[1].local_addr().unwrap()).unwrap();
    assert_eq!(sockets[1].recv(&mut [0; 8]).unwrap(), 4);
    let bed = Testbed::namespaces().unwrap();
    assert_eq!(bed.hosts()[0].address_v6(), None);
    assert!(bed.hosts()[0].run(|| UdpSocket::bind("[::1]:0")).unwrap().is_err());
}

#[test]
#[ignore = "needs root"]
fn links_are_as_they_were_set() {
    let bed = Testbed::namespaces().unwrap();
    let host = &bed.hosts()[0];
    let mut rtnetlink = host.rtnetlink().unwrap();
    let link = rtnetlink.link("veth0").unwrap();
    assert_eq!((link.index, link.is_up, link.mtu), (host.interface_index(), true, 1_500));
    rtnetlink.set_mac(link.index, MAC).unwrap();
    rtnetlink.set_mtu(link.index, 1_400).unwrap();
    rtnetlink.set_down(link.index).unwrap();
    let changed = rtnetlink.link("veth0").unwrap();
    assert_eq!((changed.is_up, changed.mtu, changed.mac), (false, 1_400, MAC));
    rtnetlink.set_up(link.index).unwrap();
    host.wait_until_up().unwrap();
    rtnetlink.add_pair(["one", "other"]).unwrap();
    assert_ne!(rtnetlink.link("one").unwrap().index, rtnetlink.link("other").unwrap().index);
    rtnetlink.remove_link("one").unwrap();
    assert!(rtnetlink.link("other").is_err());
    assert!(Testbed::loopback("a test").unwrap().hosts()[0].rtnetlink().is_err());
}

#[test]
#[ignore = "needs root"]
fn sockets_go_by_addresses_routes_and_rules_that_were_set() {
    let bed = Testbed::builder().ipv6().build().unwrap();
    let host = &bed.hosts()[0];
    let mut rtnetlink = host.rtnetlink().unwrap();
    let index = host.interface_index();
    for (address, far, gateway, length) in
        [("10.77.0.9", "10.99.0.1", "10.77.0.2", 32), ("fd77::9", "fd99::1", "fd77::2", 128)]
    {
        let unreachable = source_for(host, far);
        assert_eq!(unreachable, Err(ErrorKind::NetworkUnreachable));
        rtnetlink.add_address(index, ip(address), length).unwrap();
        let (gateway, source) = (Some(ip(gateway)), Some(ip(address)));
        let route = Route { gateway, source, interface: Some(index), ..Route::to(ip(far), length) };
        rtnetlink.add_route(&route).unwrap();
        assert_eq!(source_for(host, far), Ok(ip(address)));
        rtnetlink.remove_route(&route).unwrap();
        assert_eq!(source_for(host, far), unreachable);
        // Beside the main table the route is found by a rule, by those who come from there.
        let elsewhere = Route { table: Some(7), ..route };
        rtnetlink.add_route(&elsewhere).unwrap();
        assert_eq!(source_for(host, far), unreachable);
        let any = if length == 32 { ip("0.0.0.0") } else { ip("::") };
        let rule = Rule { from: (any, 0), table: 7, priority: 7 };
        rtnetlink.add_rule(&rule).unwrap();
        assert_eq!(source_for(host, far), Ok(ip(address)));
        rtnetlink.remove_rule(&rule).unwrap();
        assert_eq!(source_for(host, far), unreachable);
        let kind = RouteKind::Prohibited;
        let prohibited = Route { kind, ..Route::to(ip(far), length) };
        rtnetlink.add_route(&prohibited).unwrap();
        assert_eq!(source_for(host, far), Err(ErrorKind::PermissionDenied));
        rtnetlink.remove_address(index, ip(address), length).unwrap();
        assert!(rtnetlink.remove_address(index, ip(address), length).is_err());
    }
}

#[test]
#[ignore = "needs root"]
fn neighbours_are_known_as_they_were_set() {
    let bed = Testbed::namespaces().unwrap();
    let host = &bed.hosts()[0];
    let mut rtnetlink = host.rtnetlink().unwrap();
    let index = host.interface_index();
    let arp = || host.run(|| fs::read_to_string("/proc/thread-self/net/arp").unwrap()).unwrap();
    for (certainty, flags) in [(Certainty::Permanent, "0x6"), (Certainty::Stale, "0x2")] {
        rtnetlink.set_neighbour(index, ip("10.77.0.9"), MAC, certainty).unwrap();
        let table = arp();
        let line = table.lines().find(|line| line.starts_with("10.77.0.9 ")).unwrap();
        assert!(line.contains("02:00:00:00:00:09") && line.contains(flags), "{line}");
    }
    rtnetlink.set_neighbour(index, ip("10.77.0.9"), MAC, Certainty::Failed).unwrap();
    assert!(!arp().contains("0x2"), "{}", arp());
    rtnetlink.set_neighbour(index, ip("10.77.0.9"), MAC, Certainty::Reachable).unwrap();
    rtnetlink.remove_neighbour(index, ip("10.77.0.9")).unwrap();
    assert!(!arp().contains("0x2"), "{}", arp());
}

fn line<'a>(status: &'a str, name: &str) -> Vec<&'a str> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().collect()
}

#[test]
#[ignore = "needs root"]
fn an_ordinary_user_has_the_capabilities_that_were_given_and_so_have_its_programs() {
    let bed = Testbed::namespaces().unwrap();
    let host = &bed.hosts()[0];
    let given: [(&[_], u64); 3] = [
        (&[], 0),
        (&[Capability::NetAdmin], 1 << 12),
        (&[Capability::NetRaw, Capability::Bpf], 1 << 13 | 1 << 39),
    ];
    for (capabilities, mask) in given {
        let [own, child] = host
            .run(|| {
                become_ordinary_user(capabilities).unwrap();
                let own = fs::read_to_string("/proc/thread-self/status").unwrap();
                let child = Command::new("cat").arg("/proc/self/status").output().unwrap();
                [own, String::from_utf8(child.stdout).unwrap()]
            })
            .unwrap();
        let mask = format!("{mask:016x}");
        for status in [own, child] {
            for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
                assert_eq!(line(&status, set), [&mask], "{status}");
            }
            assert_eq!(line(&status, "Uid:"), ["65534"; 4]);
            assert_eq!(line(&status, "Gid:"), ["65534"; 4]);
            assert!(line(&status, "Groups:").is_empty(), "{status}");
        }
    }
    // This thread is as it was.
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    assert_eq!(line(&status, "Uid:"), ["0"; 4]);
}
