//! Reliable datagrams over the kernel's loopback.

use std::io;
use std::net::SocketAddr;

use hairpin_endpoint::Source;
use hairpin_endpoint::rds::{
    Event, MESSAGE_MAX, Outcome, ProtocolError, RdsError, RdsOptions, RdsSocket, RdsTransport,
};
use hairpin_host::Clock;
use hairpin_time::{Duration, Instant};

fn now() -> Instant {
    Clock::from_kernel().instant()
}

fn bound(address: &str) -> RdsSocket {
    let mut socket = RdsSocket::new(now(), RdsOptions::default());
    socket.bind(now(), &RdsTransport::Kernel, address.parse().unwrap()).unwrap();
    socket
}

fn address(socket: &RdsSocket) -> SocketAddr {
    socket.local_address().unwrap()
}

/// Runs both sockets until `is_done` returns `true`, at most 60 s.
fn run_until(
    sockets: &mut [&mut RdsSocket],
    on: impl FnMut(usize, SocketAddr, &[u8]),
    is_done: impl FnMut(&mut [&mut RdsSocket]) -> bool,
) {
    run_with_clock(&mut now, sockets, on, is_done);
}

fn run_with_clock(
    clock: &mut impl FnMut() -> Instant,
    sockets: &mut [&mut RdsSocket],
    mut on: impl FnMut(usize, SocketAddr, &[u8]),
    mut is_done: impl FnMut(&mut [&mut RdsSocket]) -> bool,
) {
    let until = now() + Duration::from_secs(60);
    loop {
        for (index, socket) in sockets.iter_mut().enumerate() {
            socket.handle_timeout(clock()).unwrap();
            socket.receive(clock(), 8, |message| on(index, message.source, message.bytes)).unwrap();
        }
        if is_done(sockets) {
            return;
        }
        assert!(now() < until, "not done after 60 s");
    }
}

#[test]
fn exchanges_messages_of_all_sizes_over_both_families() {
    for local in ["127.0.0.1:0", "[::1]:0"] {
        let (mut a, mut b) = (bound(local), bound(local));
        let sizes = [0, 1, 64, 1_408, 1_409, 20_000, MESSAGE_MAX];
        for size in sizes {
            let fill = |bytes: &mut [u8]| bytes.fill(size as u8);
            a.send_tracked(now(), address(&b), size, fill).unwrap();
        }
        let (from, mut received, mut delivered) = (address(&a), Vec::new(), 0);
        run_until(
            &mut [&mut a, &mut b],
            |index, source, bytes| {
                assert_eq!((index, source), (1, from));
                assert!(bytes.iter().all(|&byte| byte == bytes.len() as u8));
                received.push(bytes.len());
            },
            |sockets| {
                while let Some(event) = sockets[0].poll_event() {
                    assert!(matches!(event, Event::Outcome { outcome: Outcome::Delivered, .. }));
                    delivered += 1;
                }
                delivered == sizes.len()
            },
        );
        assert_eq!(received, sizes, "{local}");
        assert!(a.is_acknowledged());
    }
}

#[test]
fn receive_into_truncates_and_reports_the_length() {
    let (mut a, mut b) = (bound("127.0.0.1:0"), bound("127.0.0.1:0"));
    a.send(now(), address(&b), 10, |bytes| bytes.copy_from_slice(b"0123456789")).unwrap();
    let until = now() + Duration::from_secs(60);
    let mut buffer = [0; 4];
    loop {
        a.receive(now(), 8, |_| {}).unwrap();
        a.handle_timeout(now()).unwrap();
        if b.peek(now()).unwrap().is_some_and(|message| message.bytes == b"0123456789") {
            break;
        }
        assert!(now() < until);
    }
    assert_eq!(b.receive_into(now(), &mut buffer).unwrap(), Some((address(&a), 10)));
    assert_eq!(&buffer, b"0123");
    assert_eq!(b.receive_into(now(), &mut buffer).unwrap(), None);
}

#[test]
fn wrong_use_is_one_error_each() {
    let mut unbound = RdsSocket::new(now(), RdsOptions::default());
    let to: SocketAddr = "127.0.0.1:4000".parse().unwrap();
    let send = |socket: &mut RdsSocket, to, length| socket.send(now(), to, length, |_| {});
    let error = send(&mut unbound, to, 1).unwrap_err();
    assert_eq!(error.to_string(), "cannot send: the socket is not bound");

    let mut socket = bound("127.0.0.1:0");
    let taken = address(&socket);
    let error = unbound.bind(now(), &RdsTransport::Kernel, taken).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse, "{error}");
    let elsewhere = "192.0.2.1:4000".parse().unwrap();
    let error = unbound.bind(now(), &RdsTransport::Kernel, elsewhere).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrNotAvailable, "{error}");
    for wrong in ["0.0.0.0:4000", "224.0.0.1:4000", "127.0.0.1:1"] {
        let error = unbound.bind(now(), &RdsTransport::Kernel, wrong.parse().unwrap()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
        assert!(error.to_string().starts_with("cannot bind to "), "{error}");
        assert_eq!(error.to_string().lines().count(), 1);
    }
    let error = socket.bind(now(), &RdsTransport::Kernel, taken).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot bind to {taken}: the socket is already bound"));

    let error = send(&mut socket, to, MESSAGE_MAX + 1).unwrap_err();
    assert!(matches!(error, RdsError::Protocol(ProtocolError::TooLong { max: MESSAGE_MAX })));
    for wrong in ["224.0.0.1:4000", "0.0.0.0:4000", "[::1]:4000", "127.0.0.1:0"] {
        let error = send(&mut socket, wrong.parse().unwrap(), 1).unwrap_err();
        let is_expected = matches!(error, RdsError::Protocol(ProtocolError::InvalidDestination));
        assert!(is_expected, "{wrong}: {error}");
    }
    // A socket bound to loopback has no path to other hosts.
    let error = send(&mut socket, "192.0.2.1:4000".parse().unwrap(), 1).unwrap_err();
    assert!(matches!(error, RdsError::Io(_)), "{error}");
}

#[test]
fn unbound_port_is_undeliverable_and_a_later_socket_is_reached() {
    let mut a = bound("127.0.0.1:0");
    let gone = bound("127.0.0.1:0");
    let to = address(&gone);
    drop(gone);
    let id = a.send_tracked(now(), to, 5, |bytes| bytes.fill(1)).unwrap();
    let mut events = Vec::new();
    run_until(
        &mut [&mut a],
        |_, _, _| {},
        |sockets| {
            events.extend(std::iter::from_fn(|| sockets[0].poll_event()));
            events.len() == 2
        },
    );
    let outcome = Event::Outcome { id, outcome: Outcome::NotDelivered };
    assert_eq!(events, [outcome, Event::Undeliverable(to)]);

    let mut b = RdsSocket::new(now(), RdsOptions::default());
    b.bind(now(), &RdsTransport::Kernel, to).unwrap();
    a.send(now(), to, 5, |bytes| bytes.fill(2)).unwrap();
    let mut received = Vec::new();
    run_until(
        &mut [&mut a, &mut b],
        |index, _, bytes| received.push((index, bytes.to_vec())),
        |sockets| sockets[0].is_acknowledged(),
    );
    assert_eq!(received, [(1, vec![2; 5])]);
}

#[test]
fn restarted_peer_is_reported_and_reached_at_once() {
    // No packet is sent again because the machine is busy.
    let mut time = now();
    let mut clock = || {
        time += Duration::from_micros(1);
        time
    };
    let mut a = bound("127.0.0.1:0");
    // An address of its own: no other test takes the port while it is free.
    let mut b = bound("127.0.77.1:0");
    let to = address(&b);
    for generation in 0..20_u8 {
        a.send(clock(), to, 1, |bytes| bytes[0] = generation).unwrap();
        let mut received = Vec::new();
        run_with_clock(
            &mut clock,
            &mut [&mut a, &mut b],
            |_, _, bytes| received.extend_from_slice(bytes),
            |sockets| sockets[0].is_acknowledged(),
        );
        assert_eq!(received, [generation]);
        let restarts = std::iter::from_fn(|| a.poll_event())
            .filter(|event| *event == Event::PeerRestarted(to))
            .count();
        assert_eq!(restarts, usize::from(generation > 0));
        drop(std::mem::replace(&mut b, RdsSocket::new(clock(), RdsOptions::default())));
        b.bind(clock(), &RdsTransport::Kernel, to).unwrap();
    }
}

/// Sends 200 messages, one at a time, so that the sender connects a socket to the receiver.
fn exchange_200(a: &mut RdsSocket, b: &mut RdsSocket) {
    let to = address(b);
    for number in 0..200_u8 {
        a.send(now(), to, 1, |bytes| bytes[0] = number).unwrap();
        let mut received = Vec::new();
        run_until(
            &mut [&mut *a, &mut *b],
            |index, _, bytes| received.push((index, bytes[0])),
            |sockets| sockets[0].is_acknowledged(),
        );
        assert_eq!(received, [(1, number)]);
    }
}

/// Returns the number of open sockets with this local UDP port.
fn sockets_with_port(port: u16) -> usize {
    let table = std::fs::read_to_string("/proc/thread-self/net/udp").unwrap();
    table.lines().filter(|line| line.contains(&format!(" 0100007F:{port:04X} "))).count()
}

#[test]
fn spinning_socket_connects_to_its_main_peer_and_serves_the_others() {
    let [mut a, mut b, mut c] = [(); 3].map(|()| bound("127.0.0.1:0"));
    let local = address(&a);
    let udp_port = local.port() + RdsOptions::default().udp_port_offset;
    a.set_spinning(true);
    exchange_200(&mut a, &mut b);
    exchange_200(&mut a, &mut c);
    exchange_200(&mut a, &mut b);
    assert_eq!(sockets_with_port(udp_port), 2, "one is connected");
    c.send(now(), local, 1, |bytes| bytes[0] = 7).unwrap();
    a.send(now(), address(&c), 1, |bytes| bytes[0] = 8).unwrap();
    let mut received = Vec::new();
    run_until(
        &mut [&mut a, &mut c],
        |index, _, bytes| received.push((index, bytes[0])),
        |sockets| sockets.iter().all(|socket| socket.is_acknowledged()),
    );
    received.sort_unstable();
    assert_eq!(received, [(0, 7), (1, 8)]);

    let mut other = RdsSocket::new(now(), RdsOptions::default());
    let error = other.bind(now(), &RdsTransport::Kernel, local).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse, "the port stays taken");

    a.set_spinning(false);
    exchange_200(&mut a, &mut b);
    assert_eq!(sockets_with_port(udp_port), 1);
}

#[test]
fn connected_peer_leaves_budget_to_the_others() {
    let [mut a, mut b, mut c] = [(); 3].map(|()| bound("127.0.0.1:0"));
    exchange_200(&mut c, &mut a);
    a.set_spinning(true);
    exchange_200(&mut a, &mut b);
    let (local, last) = (address(&a), address(&c));
    (0..60).for_each(|_| _ = b.send(now(), local, 1, |bytes| bytes[0] = 1).unwrap());
    c.send(now(), local, 1, |bytes| bytes[0] = 2).unwrap();
    let mut sources = Vec::new();
    (0..20).for_each(|_| {
        a.receive(now(), 1, |message| sources.push(message.source)).unwrap();
    });
    assert!(sources.len() >= 10 && sources.contains(&last), "{sources:?}");
}

#[test]
fn unbound_port_is_undeliverable_through_a_connected_socket() {
    let (mut a, mut b) = (bound("127.0.0.1:0"), bound("127.0.0.1:0"));
    let to = address(&b);
    a.set_spinning(true);
    exchange_200(&mut a, &mut b);
    drop(b);
    a.send(now(), to, 1, |bytes| bytes[0] = 1).unwrap();
    let mut events = Vec::new();
    run_until(
        &mut [&mut a],
        |_, _, _| {},
        |sockets| {
            events.extend(std::iter::from_fn(|| sockets[0].poll_event()));
            !events.is_empty()
        },
    );
    assert_eq!(events, [Event::Undeliverable(to)]);
    // The next socket at that address is reached.
    let mut b = RdsSocket::new(now(), RdsOptions::default());
    b.bind(now(), &RdsTransport::Kernel, to).unwrap();
    exchange_200(&mut a, &mut b);
}
