//! Wrong use of reliable datagram sockets is one error each, with each carrier. Needs root.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Instant as StdInstant;

use hairpin_endpoint::rds::{
    Event, MESSAGE_MAX, ProtocolError, RdsError, RdsOptions, RdsSocket, RdsTransport,
};
use hairpin_endpoint::xdp::{Stack, StackSettings};
use hairpin_testbed::{Host, Testbed, become_ordinary_user};
use hairpin_time::Duration;

use crate::rds_hosts::{Kind, now};

const PORT: u16 = 4_000;

fn unbound() -> RdsSocket {
    let mut options = RdsOptions::default();
    options.protocol.unreachable_after = Some(Duration::from_millis(200));
    RdsSocket::new(now(), options)
}

/// Asserts that a bind fails with one line of this kind.
fn assert_bind_fails(transport: &RdsTransport, local: SocketAddr, kind: ErrorKind) {
    let error = unbound().bind(now(), transport, local).unwrap_err();
    let text = error.to_string();
    assert_eq!(error.kind(), kind, "{text}");
    assert!(text.starts_with(&format!("cannot bind to {local}: ")), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

fn send(socket: &mut RdsSocket, to: &str, length: usize) -> Result<(), RdsError> {
    let to = SocketAddr::new(to.parse().unwrap(), PORT);
    socket.send(now(), to, length, |bytes| bytes.fill(1)).map(drop)
}

/// Runs `test` on a host with addresses of both families.
fn on_host(test: impl FnOnce(&Host) + Send) {
    let testbed = Testbed::builder().ipv6().build().unwrap();
    let [host, _] = testbed.hosts();
    host.run(|| test(host)).unwrap();
}

fn addresses(host: &Host) -> [IpAddr; 2] {
    [IpAddr::V4(host.address()), IpAddr::V6(host.address_v6().unwrap())]
}

fn wrong_use(kind: Kind) {
    on_host(|host| {
        let transport = kind.transport(host);
        for local in addresses(host) {
            let elsewhere = if local.is_ipv4() { "192.0.2.1" } else { "2001:db8::1" };
            let at = |ip: &str| SocketAddr::new(ip.parse().unwrap(), PORT);
            assert_bind_fails(&transport, at(elsewhere), ErrorKind::AddrNotAvailable);
            let loopback = at(if local.is_ipv4() { "127.0.0.1" } else { "::1" });
            match kind {
                Kind::Kernel => {}
                Kind::Ethernet => {
                    assert_bind_fails(&transport, loopback, ErrorKind::AddrNotAvailable);
                }
                // The carrier falls back to the kernel and names the fallback.
                Kind::Xdp => {
                    let mut socket = unbound();
                    socket.bind(now(), &transport, loopback).unwrap();
                    let line = socket.describe().unwrap();
                    assert!(line.contains("the kernel: fallback"), "{line}");
                }
            }
            let local = SocketAddr::new(local, PORT);
            if kind != Kind::Ethernet {
                let _taken = UdpSocket::bind(local).unwrap();
                assert_bind_fails(&transport, local, ErrorKind::AddrInUse);
            }

            let mut socket = unbound();
            let error = send(&mut socket, elsewhere, 1).unwrap_err();
            assert!(matches!(error, RdsError::Protocol(ProtocolError::NotBound)), "{error}");
            socket.bind(now(), &transport, local).unwrap();
            let error = send(&mut socket, elsewhere, MESSAGE_MAX + 1).unwrap_err();
            // A message that is too long may also be to a peer without a route.
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
            let error = send(&mut socket, elsewhere, 1).unwrap_err();
            let RdsError::Io(cause) = &error else { panic!("{error}") };
            let is_route =
                matches!(cause.kind(), ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable);
            assert!(is_route, "{cause:?}");
            assert!(error.to_string().starts_with("cannot send: "), "{error}");
            assert!(socket.is_acknowledged(), "nothing is queued");
            assert_absent_neighbor_is_unreachable(&mut socket, local.is_ipv4());
        }
    });
}

/// Sends to an address of the network that no host has: the message is accepted, and the peer is
/// reported.
fn assert_absent_neighbor_is_unreachable(socket: &mut RdsSocket, is_v4: bool) {
    let local = socket.local_address().unwrap().ip();
    let absent = match local {
        IpAddr::V4(local) => {
            let [a, b, c, _] = local.octets();
            IpAddr::from([a, b, c, 99])
        }
        IpAddr::V6(local) => {
            let mut octets = local.octets();
            octets[15] = 99;
            IpAddr::from(octets)
        }
    };
    assert_eq!(absent.is_ipv4(), is_v4);
    send(socket, &absent.to_string(), 1).unwrap();
    let error = send(socket, &absent.to_string(), MESSAGE_MAX + 1).unwrap_err();
    let is_too_long =
        matches!(error, RdsError::Protocol(ProtocolError::TooLong { max: MESSAGE_MAX }));
    assert!(is_too_long, "{error}");
    let expected = Event::Unreachable(SocketAddr::new(absent, PORT));
    let start = StdInstant::now();
    while socket.poll_event() != Some(expected) {
        socket.handle_timeout(now()).unwrap();
        socket.receive(now(), 8, |_| panic!("no other host sends")).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(start.elapsed().as_secs() < 60, "{:?}", socket.counters());
    }
}

#[test]
#[ignore = "needs root"]
fn wrong_use_of_kernel_udp_is_one_error_each() {
    wrong_use(Kind::Kernel);
}

#[test]
#[ignore = "needs root"]
fn wrong_use_of_xdp_udp_is_one_error_each() {
    wrong_use(Kind::Xdp);
}

#[test]
#[ignore = "needs root"]
fn wrong_use_of_ethernet_is_one_error_each() {
    wrong_use(Kind::Ethernet);
}

#[test]
#[ignore = "needs root"]
fn missing_capabilities_are_named() {
    on_host(|host| {
        become_ordinary_user(&[]).unwrap();
        let missing = "cannot open an interface: missing CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF \
                       (run as root, or give them to the program by setcap)";
        let error = Stack::open(host.interface(), &StackSettings::default()).unwrap_err();
        assert_eq!(error.to_string(), missing);
        let local = SocketAddr::new(host.address().into(), PORT);
        let error = unbound().bind(now(), &Kind::Ethernet.transport(host), local).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        assert_eq!(error.to_string(), format!("cannot bind to {local}: {missing}"));
        unbound().bind(now(), &RdsTransport::Kernel, local).unwrap();
    });
}

#[test]
#[ignore = "needs root"]
fn unknown_interface_is_named() {
    on_host(|host| {
        let transport = RdsTransport::Ethernet {
            interface: "absent0".to_owned(),
            settings: Default::default(),
        };
        let local = SocketAddr::new(host.address().into(), PORT);
        let error: io::Error = unbound().bind(now(), &transport, local).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("absent0") && text.lines().count() == 1, "{text}");
        assert_eq!(error.kind(), ErrorKind::NotFound, "{text}");
    });
}
