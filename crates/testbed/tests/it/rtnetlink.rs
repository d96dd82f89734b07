//! Changes of a host's networking, and an ordinary user's capabilities, as root.
use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, UdpSocket};
use std::process::Command;

use hairpin_testbed::{
    Capability, Host, NudState, Route, RouteKind, Rule, Testbed, become_ordinary_user,
};

use crate::fixtures::TIMEOUT;

const MAC: [u8; 6] = [2, 0, 0, 0, 0, 9];

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Returns the source address of a socket on the host that is connected to `destination`.
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
fn ipv6_is_usable_at_once_if_enabled() {
    let testbed = Testbed::builder().ipv6().build().unwrap();
    let sockets = testbed.hosts().each_ref().map(|host| {
        let address = host.address_v6().unwrap();
        let socket = host.run(|| UdpSocket::bind((address, 0))).unwrap().unwrap();
        socket.set_read_timeout(Some(TIMEOUT)).unwrap();
        socket
    });
    sockets[0].send_to(b"tick", sockets[1].local_addr().unwrap()).unwrap();
    assert_eq!(sockets[1].recv(&mut [0; 8]).unwrap(), 4);
    let testbed = Testbed::namespaces().unwrap();
    assert_eq!(testbed.hosts()[0].address_v6(), None);
    assert!(testbed.hosts()[0].run(|| UdpSocket::bind("[::1]:0")).unwrap().is_err());
}

#[test]
#[ignore = "needs root"]
fn link_settings_take_effect() {
    let testbed = Testbed::namespaces().unwrap();
    let host = &testbed.hosts()[0];
    let mut rtnetlink = host.rtnetlink().unwrap();
    let link = rtnetlink.link("veth0").unwrap();
    assert_eq!((link.index, link.up, link.mtu), (host.interface_index(), true, 1_500));
    rtnetlink.set_mac(link.index, MAC).unwrap();
    rtnetlink.set_mtu(link.index, 1_400).unwrap();
    rtnetlink.set_down(link.index).unwrap();
    let changed = rtnetlink.link("veth0").unwrap();
    assert_eq!((changed.up, changed.mtu, changed.mac), (false, 1_400, MAC));
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
fn sockets_follow_addresses_routes_and_rules() {
    let testbed = Testbed::builder().ipv6().build().unwrap();
    let host = &testbed.hosts()[0];
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
        // A route of another table is used only through a rule.
        let other_table = Route { table: Some(7), ..route };
        rtnetlink.add_route(&other_table).unwrap();
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
fn neighbor_entries_take_effect() {
    let testbed = Testbed::namespaces().unwrap();
    let host = &testbed.hosts()[0];
    let mut rtnetlink = host.rtnetlink().unwrap();
    let index = host.interface_index();
    let arp = || host.run(|| fs::read_to_string("/proc/thread-self/net/arp").unwrap()).unwrap();
    for (state, flags) in [(NudState::Permanent, "0x6"), (NudState::Stale, "0x2")] {
        rtnetlink.set_neighbor(index, ip("10.77.0.9"), MAC, state).unwrap();
        let table = arp();
        let line = table.lines().find(|line| line.starts_with("10.77.0.9 ")).unwrap();
        assert!(line.contains("02:00:00:00:00:09") && line.contains(flags), "{line}");
    }
    rtnetlink.set_neighbor(index, ip("10.77.0.9"), MAC, NudState::Failed).unwrap();
    assert!(!arp().contains("0x2"), "{}", arp());
    rtnetlink.set_neighbor(index, ip("10.77.0.9"), MAC, NudState::Reachable).unwrap();
    rtnetlink.remove_neighbor(index, ip("10.77.0.9")).unwrap();
    assert!(!arp().contains("0x2"), "{}", arp());
}

fn status_field<'a>(status: &'a str, name: &str) -> Vec<&'a str> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().collect()
}

#[test]
#[ignore = "needs root"]
fn ordinary_user_and_its_programs_have_the_given_capabilities() {
    let testbed = Testbed::namespaces().unwrap();
    let host = &testbed.hosts()[0];
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
                assert_eq!(status_field(&status, set), [&mask], "{status}");
            }
            assert_eq!(status_field(&status, "Uid:"), ["65534"; 4]);
            assert_eq!(status_field(&status, "Gid:"), ["65534"; 4]);
            assert!(status_field(&status, "Groups:").is_empty(), "{status}");
        }
    }
    // This thread is unchanged.
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    assert_eq!(status_field(&status, "Uid:"), ["0"; 4]);
}
