//! Members and listeners of groups, checked against sockets that join, bind and leave.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use hairpin_testbed::{Host, Testbed, become_ordinary_user};
use socket2::{Domain, InterfaceIndexOrAddress, SockRef, Socket, Type};

use crate::source::memberships::Memberships;

const V4: Ipv4Addr = Ipv4Addr::new(239, 1, 2, 3);
const V6: Ipv6Addr = Ipv6Addr::new(0xff15, 0, 0, 0, 0, 0, 0, 7);
const LO: u32 = 1;

/// Creates two hosts; returns the first host's lists and the index of its interface.
fn setup() -> (Testbed, Memberships, u32) {
    let testbed = Testbed::builder().ipv6().build().unwrap();
    let memberships = testbed.hosts()[0].run(Memberships::open).unwrap().unwrap();
    let index = testbed.hosts()[0].interface_index();
    (testbed, memberships, index)
}

fn socket(testbed: &Testbed, address: &str) -> UdpSocket {
    let address: SocketAddr = address.parse().unwrap();
    testbed.hosts()[0].run(|| shared(address)).unwrap()
}

/// Binds a socket with address reuse.
fn shared(address: SocketAddr) -> UdpSocket {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None).unwrap();
    socket.set_reuse_address(true).unwrap();
    socket.bind(&address.into()).unwrap();
    socket.into()
}

fn join(socket: &UdpSocket, group: Ipv4Addr, interface: u32) {
    let interface = InterfaceIndexOrAddress::Index(interface);
    SockRef::from(socket).join_multicast_v4_n(&group, &interface).unwrap();
}

fn leave(socket: &UdpSocket, group: Ipv4Addr, interface: u32) {
    let interface = InterfaceIndexOrAddress::Index(interface);
    SockRef::from(socket).leave_multicast_v4_n(&group, &interface).unwrap();
}

#[test]
#[ignore = "needs root"]
fn sockets_are_members_until_they_leave_or_close() {
    let (testbed, mut memberships, index) = setup();
    let mut count = |interface| memberships.count(interface, V4.into()).unwrap();
    let [first, second] = [(); 2].map(|()| socket(&testbed, "0.0.0.0:0"));
    assert_eq!([index, LO].map(&mut count), [0, 0]);
    join(&first, V4, index);
    assert_eq!([index, LO].map(&mut count), [1, 0]);
    join(&second, V4, index);
    join(&second, V4, LO);
    assert_eq!([index, LO].map(&mut count), [2, 1]);
    leave(&first, V4, index);
    assert_eq!([index, LO].map(&mut count), [1, 1]);
    drop(second);
    assert_eq!([index, LO].map(&mut count), [0, 0]);
    let other = Ipv4Addr::new(239, 1, 2, 4);
    join(&first, other, index);
    assert_eq!([index, LO].map(&mut count), [0, 0]);
}

#[test]
#[ignore = "needs root"]
fn socket_counts_once_for_any_number_of_sources() {
    let (testbed, mut memberships, index) = setup();
    let own = testbed.hosts()[0].address();
    let mut count = || memberships.count(index, V4.into()).unwrap();
    let first = socket(&testbed, "0.0.0.0:0");
    let sources = [7, 8].map(|host| Ipv4Addr::new(10, 77, 0, host));
    for source in sources {
        SockRef::from(&first).join_ssm_v4(&source, &V4, &own).unwrap();
        assert_eq!(count(), 1);
    }
    let second = socket(&testbed, "0.0.0.0:0");
    join(&second, V4, index);
    assert_eq!(count(), 2);
    SockRef::from(&first).leave_ssm_v4(&sources[0], &V4, &own).unwrap();
    assert_eq!(count(), 2);
    SockRef::from(&first).leave_ssm_v4(&sources[1], &V4, &own).unwrap();
    assert_eq!(count(), 1);
}

#[test]
#[ignore = "needs root"]
fn ipv6_groups_have_separate_members() {
    let (testbed, mut memberships, index) = setup();
    let mut count = |interface| memberships.count(interface, V6.into()).unwrap();
    let [first, second] = [(); 2].map(|()| socket(&testbed, "[::]:0"));
    first.join_multicast_v6(&V6, index).unwrap();
    second.join_multicast_v6(&V6, index).unwrap();
    second.join_multicast_v6(&V6, LO).unwrap();
    assert_eq!([index, LO].map(&mut count), [2, 1]);
    first.leave_multicast_v6(&V6, index).unwrap();
    assert_eq!([index, LO].map(&mut count), [1, 1]);
    drop(second);
    assert_eq!([index, LO].map(&mut count), [0, 0]);
}

/// The kernel returns a list page by page.
#[test]
#[ignore = "needs root"]
fn long_lists_are_read_to_the_end() {
    let (testbed, mut memberships, index) = setup();
    let sockets: Vec<_> = (0..30).map(|_| socket(&testbed, "0.0.0.0:0")).collect();
    let group = |which: usize, number: u8| Ipv4Addr::new(239, 7, which as u8, number);
    for (which, socket) in sockets.iter().enumerate() {
        for number in 0..20 {
            join(socket, group(which, number), index);
        }
    }
    for which in 0..sockets.len() {
        for number in 0..20 {
            let group = group(which, number).into();
            assert_eq!(memberships.count(index, group).unwrap(), 1, "{group}");
        }
    }
}

#[test]
#[ignore = "needs root"]
fn hosts_have_separate_members() {
    let (testbed, mut memberships, index) = setup();
    let peer: &Host = &testbed.hosts()[1];
    let far = peer.run(|| shared("0.0.0.0:7000".parse().unwrap())).unwrap();
    join(&far, V4, peer.interface_index());
    let mut there = peer.run(Memberships::open).unwrap().unwrap();
    assert_eq!(there.count(peer.interface_index(), V4.into()).unwrap(), 1);
    assert_eq!(memberships.count(index, V4.into()).unwrap(), 0);
    let group = SocketAddr::new(V4.into(), 7000);
    assert_eq!(there.listeners(peer.interface_index(), group).unwrap().len(), 1);
    assert!(memberships.listeners(index, group).unwrap().is_empty());
}

/// All of these sockets receive the group, although a single one has joined.
#[test]
#[ignore = "needs root"]
fn listeners_receive_without_being_members() {
    let (testbed, mut memberships, index) = setup();
    let group = SocketAddr::new(V4.into(), 7000);
    let hear = ["0.0.0.0:7000", "239.1.2.3:7000", "[::]:7000"].map(|at| socket(&testbed, at));
    let others = ["0.0.0.0:7001", "10.77.0.1:7000", "239.1.2.4:7000", "[fd77::1]:7000"]
        .map(|at| socket(&testbed, at));
    let elsewhere = socket(&testbed, "0.0.0.0:7000");
    SockRef::from(&elsewhere).bind_device(Some(b"lo")).unwrap();
    let connected = socket(&testbed, "0.0.0.0:7000");
    connected.connect("10.77.0.2:9").unwrap();
    join(&hear[1], V4, index);
    enable_multicast_all(&hear[2]);
    let mut expected: Vec<_> = hear.iter().map(cookie).collect();
    let mut found = memberships.listeners(index, group).unwrap();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
    // The kernel delivers accordingly.
    let sender = testbed.hosts()[1].run(|| UdpSocket::bind("10.77.0.2:0").unwrap()).unwrap();
    let interface = Ipv4Addr::new(10, 77, 0, 2);
    SockRef::from(&sender).set_multicast_if_v4(&interface).unwrap();
    sender.send_to(b"tick", group).unwrap();
    for socket in &hear {
        socket.set_read_timeout(Some(crate::support::TIMEOUT)).unwrap();
        assert_eq!(socket.recv(&mut [0; 8]).unwrap(), 4);
    }
    for socket in others.iter().chain([&elsewhere, &connected]) {
        socket.set_nonblocking(true).unwrap();
        assert!(socket.recv(&mut [0; 8]).is_err(), "{socket:?}");
    }
    drop(hear);
    assert!(memberships.listeners(index, group).unwrap().is_empty());
}

/// Enables `IP_MULTICAST_ALL`, which is off by default at IPv6 sockets.
fn enable_multicast_all(socket: &UdpSocket) {
    let (on, size): (i32, u32) = (1, 4);
    let (level, option) = (libc::IPPROTO_IP, libc::IP_MULTICAST_ALL);
    // SAFETY: the value has the stated length and outlives the call.
    let result = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const on).cast(), size)
    };
    assert_eq!(result, 0);
}

fn cookie(socket: &UdpSocket) -> u64 {
    SockRef::from(socket).cookie().unwrap()
}

#[test]
#[ignore = "needs root"]
fn ipv6_groups_have_separate_listeners() {
    let (testbed, mut memberships, index) = setup();
    let group = SocketAddr::new(V6.into(), 7000);
    let hear = ["[::]:7000", "[ff15::7]:7000"].map(|at| socket(&testbed, at));
    let _others = ["0.0.0.0:7000", "[fd77::1]:7000"].map(|at| socket(&testbed, at));
    let only = testbed.hosts()[0]
        .run(|| {
            let socket = Socket::new(Domain::IPV6, Type::DGRAM, None).unwrap();
            socket.set_only_v6(true).unwrap();
            socket.bind(&"[::]:7001".parse::<SocketAddr>().unwrap().into()).unwrap();
            UdpSocket::from(socket)
        })
        .unwrap();
    let mut expected: Vec<_> = hear.iter().map(cookie).collect();
    let mut found = memberships.listeners(index, group).unwrap();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
    let at_its_port = |ip: IpAddr| SocketAddr::new(ip, 7001);
    let found = memberships.listeners(index, at_its_port(V6.into())).unwrap();
    assert_eq!(found, [cookie(&only)]);
    assert!(memberships.listeners(index, at_its_port(V4.into())).unwrap().is_empty());
}

#[test]
#[ignore = "needs root"]
fn ordinary_user_sees_all_sockets() {
    let (testbed, _, index) = setup();
    let member = socket(&testbed, "0.0.0.0:7000");
    join(&member, V4, index);
    let seen = testbed.hosts()[0].run(|| {
        become_ordinary_user(&[]).unwrap();
        let mut memberships = Memberships::open().unwrap();
        let listeners = memberships.listeners(index, SocketAddr::new(V4.into(), 7000)).unwrap();
        (memberships.count(index, V4.into()).unwrap(), listeners)
    });
    assert_eq!(seen.unwrap(), (1, vec![cookie(&member)]));
}
