//! UDP sockets on the loopback interface.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use crate::loopback::{any_port, eventually, group, receive};
use hairpin_endpoint::{
    Meta, MulticastGroup, Receive, Received, Source, Transmit, UdpOptions, UdpReceiver, UdpSocket,
};
use hairpin_time::Duration;

const LOCALHOST: Ipv4Addr = Ipv4Addr::LOCALHOST;
const OTHER_HOST: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

fn bound(options: UdpOptions) -> UdpSocket {
    UdpSocket::bind(any_port(LOCALHOST), options).unwrap()
}

fn connected(remote: SocketAddrV4) -> UdpSocket {
    UdpSocket::connect(any_port(LOCALHOST), remote, UdpOptions::default()).unwrap()
}

fn send(socket: &mut UdpSocket, bytes: &[u8]) {
    socket.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
}

fn send_to(socket: &mut UdpSocket, to: SocketAddrV4, bytes: &[u8]) {
    socket.transmit_to(to, bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
}

/// Receives one datagram and checks that there is no other.
fn one(endpoint: &mut impl Receive) -> (Meta, Vec<u8>) {
    let mut all = receive(endpoint, 1);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// Returns an address of this host that no socket uses.
fn unused_address() -> SocketAddrV4 {
    bound(UdpOptions::default()).local_address()
}

#[test]
fn replies_to_sender() {
    let mut pong = bound(UdpOptions::default());
    let mut pings = [(); 3].map(|()| connected(pong.local_address()));
    for (number, ping) in pings.iter_mut().enumerate() {
        assert_eq!(ping.remote_address(), Some(pong.local_address()));
        send(ping, &[number as u8]);
    }
    for (meta, bytes) in receive(&mut pong, 3) {
        send_to(&mut pong, meta.source, &[bytes[0] + 10]);
    }
    for (number, ping) in pings.iter_mut().enumerate() {
        let (meta, bytes) = one(ping);
        assert_eq!((meta.source, bytes), (pong.local_address(), vec![number as u8 + 10]));
    }
    assert_eq!(pong.remote_address(), None);
}

#[test]
fn carries_maximum_datagram() {
    let options = UdpOptions { batch: 2, datagram_max: 65_507, ..UdpOptions::default() };
    let mut pong = bound(options);
    let mut ping = UdpSocket::connect(any_port(LOCALHOST), pong.local_address(), options).unwrap();
    for length in [0, 1, 1_472, 65_000, 65_507] {
        let question: Vec<u8> = (0..length).map(|index| (index % 251) as u8).collect();
        send(&mut ping, &question);
        let (meta, request) = one(&mut pong);
        assert!(request == question, "{length}");
        send_to(&mut pong, meta.source, &request);
        assert!(one(&mut ping).1 == question, "{length}");
    }
    assert_eq!((ping.truncated(), pong.truncated()), (0, 0));
    let error = ping.transmit(65_508, |_| panic!("fill must not be called")).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    let to = pong.local_address();
    let error = ping.transmit_to(to, 65_508, |_| panic!("fill must not be called")).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn connected_socket_receives_from_peer_only() {
    let (mut peer, mut other) = (bound(UdpOptions::default()), bound(UdpOptions::default()));
    let mut socket = connected(peer.local_address());
    assert_eq!(*socket.local_address().ip(), LOCALHOST);
    send_to(&mut other, socket.local_address(), b"stranger");
    send_to(&mut peer, socket.local_address(), b"peer");
    assert_eq!(one(&mut socket).1, b"peer");
    send_to(&mut socket, other.local_address(), b"elsewhere");
    send(&mut socket, b"home");
    let (meta, bytes) = one(&mut other);
    assert_eq!((meta.source, bytes), (socket.local_address(), b"elsewhere".to_vec()));
    assert_eq!(one(&mut peer).1, b"home");
}

#[test]
fn local_address_is_known_after_connect() {
    let peer = bound(UdpOptions::default());
    let anywhere = any_port(Ipv4Addr::UNSPECIFIED);
    let socket = UdpSocket::connect(anywhere, peer.local_address(), UdpOptions::default()).unwrap();
    assert_eq!(*socket.local_address().ip(), LOCALHOST);
    assert_ne!(socket.local_address().port(), 0);
}

#[test]
fn group_members_reply_to_request() {
    let group = group();
    let membership = MulticastGroup { group, interface: LOCALHOST, sources: &[] };
    let mut receivers =
        [(); 2].map(|()| UdpReceiver::join(membership, UdpOptions::default()).unwrap());
    let mut ping = bound(UdpOptions::default());
    send_to(&mut ping, group, b"who?");
    for (number, receiver) in receivers.iter_mut().enumerate() {
        let (meta, bytes) = one(receiver);
        assert_eq!((meta.source, bytes), (ping.local_address(), b"who?".to_vec()));
        send_to(&mut bound(UdpOptions::default()), meta.source, &[number as u8]);
    }
    let answers: Vec<Vec<u8>> = receive(&mut ping, 2).into_iter().map(|(_, b)| b).collect();
    assert_eq!(answers, [[0], [1]]);
}

#[test]
fn sets_interface_for_groups() {
    let group = group();
    let only = MulticastGroup { group, interface: LOCALHOST, sources: &[OTHER_HOST] };
    let mut receiver = UdpReceiver::join(only, UdpOptions::default()).unwrap();
    let mut socket =
        UdpSocket::bind(any_port(Ipv4Addr::UNSPECIFIED), UdpOptions::default()).unwrap();
    socket.set_multicast(OTHER_HOST, 1).unwrap();
    send_to(&mut socket, group, b"heard");
    assert_eq!(*one(&mut receiver).0.source.ip(), OTHER_HOST);
    let error = socket.set_multicast(Ipv4Addr::new(192, 0, 2, 1), 1).unwrap_err().to_string();
    assert!(error.starts_with("cannot send to groups on interface 192.0.2.1: "), "{error}");
}

#[test]
fn reports_refusal_once_and_stays_usable() {
    let address = unused_address();
    let mut socket = connected(address);
    for _ in 0..3 {
        send(&mut socket, b"anybody?");
        let mut reason = None;
        eventually("a refusal", || {
            reason = socket.receive(8, |_, _| {}).err();
            reason.is_some()
        });
        assert_eq!(reason.unwrap().kind(), io::ErrorKind::ConnectionRefused);
        let nothing = Received { count: 0, drained: true, closed: false };
        assert_eq!(socket.receive(8, |_, _| {}).unwrap(), nothing);
    }
    // Or a later transmission returns the error and then sends nothing.
    let mut reason = None;
    eventually("a refusal", || {
        reason = socket.transmit(1, |_| {}).err();
        reason.is_some()
    });
    assert_eq!(reason.unwrap().kind(), io::ErrorKind::ConnectionRefused);
    let mut somebody = UdpSocket::bind(address, UdpOptions::default()).unwrap();
    eventually("a transmission to succeed", || socket.transmit(1, |bytes| bytes[0] = 2).is_ok());
    assert_eq!(one(&mut somebody).1, [2]);
    send_to(&mut somebody, socket.local_address(), b"yes");
    assert_eq!(one(&mut socket).1, b"yes");
}

#[test]
fn unconnected_socket_reports_no_refusal() {
    let mut socket = bound(UdpOptions::default());
    for _ in 0..3 {
        send_to(&mut socket, unused_address(), b"anybody?");
        assert_eq!(socket.receive(8, |_, _| {}).unwrap().count, 0);
    }
    assert!(socket.transmit(1, |_| {}).is_err(), "an unconnected socket has no destination");
}

#[test]
fn rejects_connection_to_group() {
    let error = UdpSocket::connect(any_port(LOCALHOST), group(), UdpOptions::default());
    assert_eq!(error.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    let holder = bound(UdpOptions::default());
    let taken = holder.local_address();
    let error = UdpSocket::bind(taken, UdpOptions::default()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    assert!(error.to_string().starts_with(&format!("cannot receive on {taken}: ")), "{error}");
}

#[test]
fn budget_of_one_keeps_order_and_metadata() {
    let options = UdpOptions { batch: 1, datagram_max: 64, ..UdpOptions::default() };
    let mut pong = bound(options);
    let mut pings = [(); 2].map(|()| connected(pong.local_address()));
    for number in 0..20_u8 {
        let length = if number == 7 { 65 } else { usize::from(number) + 1 };
        send(&mut pings[usize::from(number) % 2], &vec![number; length]);
    }
    for number in 0..20_u8 {
        let mut seen = None;
        let received = pong.receive(1, |meta, bytes| seen = Some((meta, bytes.to_vec()))).unwrap();
        assert_eq!(received, Received { count: 1, drained: false, closed: false });
        let (meta, bytes) = seen.unwrap();
        assert_eq!(meta.source, pings[usize::from(number) % 2].local_address());
        let length = if number == 7 { 64 } else { usize::from(number) + 1 };
        assert_eq!(bytes, vec![number; length]);
    }
    let nothing = Received { count: 0, drained: true, closed: false };
    assert_eq!(pong.receive(1, |_, _| {}).unwrap(), nothing);
    assert_eq!(pong.truncated(), 1);
}

#[test]
fn blocked_socket_replies() {
    let options = UdpOptions { batch: 1, ..UdpOptions::default() };
    let mut pong = bound(options);
    let mut ping = connected(pong.local_address());
    let blocker = pong.set_blocking(Some(Duration::from_millis(1))).unwrap().unwrap();
    for number in 0..5_u8 {
        send(&mut ping, &[number]);
        assert!(blocker.block());
        let mut client = None;
        pong.receive(1, |meta, bytes| client = Some((meta.source, bytes[0]))).unwrap();
        let (client, request) = client.unwrap();
        assert_eq!(request, number);
        send_to(&mut pong, client, &[request]);
        assert_eq!(one(&mut ping).1, [number]);
    }
    assert!(blocker.block());
    assert_eq!(pong.receive(1, |_, _| {}).unwrap().count, 0, "the wait must time out");
}
