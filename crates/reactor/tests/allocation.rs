//! A running loop allocates nothing, under every wait. The program counts allocations, so it is
//! separate.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

#[path = "it/supported_waits.rs"]
mod supported_waits;

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::xdp::{Stack, StackSettings};
use hairpin_endpoint::{
    Receive, Stream, TcpListener, TcpOptions, TcpStream, Timestamping, Transmit, Transport,
    UdpOptions, UdpReceiver, UdpSender, UdpSocket,
};
use hairpin_host::Clock;
use hairpin_reactor::{Interest, Reactor, Timers, Wait};
use hairpin_testbed::{CountingAllocator, Offloads, Testbed, allocations};
use hairpin_time::Duration;
use supported_waits::supported;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn running_loop_does_not_allocate() {
    let before = allocations();
    drop(std::hint::black_box(Box::new([0_u8; 64])));
    assert_eq!(allocations() - before, 1, "the allocator must count");
    for wait in supported(Wait::ALL) {
        let (ticks, allocations) = run(wait);
        assert_eq!((ticks, allocations), (200, 0), "{wait}");
    }
}

/// Answers each UDP tick over TCP, all in one thread. The second half is counted.
fn run(wait: Wait) -> (usize, u64) {
    let any_port = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let mut feed = UdpReceiver::bind(any_port, UdpOptions::default()).unwrap();
    let mut publisher = UdpSender::connect(feed.local_address(), Ipv4Addr::LOCALHOST).unwrap();
    let mut listener = TcpListener::bind(any_port).unwrap();
    let mut session = TcpStream::connect(listener.local_address(), TcpOptions::default()).unwrap();
    let mut gateway = None;
    while !session.finish_connect().unwrap() || gateway.is_none() {
        gateway = gateway.or_else(|| listener.accept(TcpOptions::default()).unwrap());
    }
    let mut gateway = gateway.unwrap();

    let mut reactor = Reactor::new(wait).unwrap();
    let feed_token = reactor.add(&mut feed, Interest::READABLE).unwrap();
    let gateway_token = reactor.add(&mut gateway, Interest::READABLE).unwrap();
    let mut clock = Clock::new();
    let mut now = clock.now();
    let mut timers = Timers::new();
    let timer = timers.add();
    let (mut sent, mut ticks, mut orders, mut at_half) = (0, 0, 0, 0);
    while orders < 200 * 8 {
        if sent == ticks && orders == 8 * ticks {
            at_half = if ticks == 100 { allocations() } else { at_half };
            publisher.transmit(32, |tick| tick.fill(1)).unwrap();
            sent += 1;
        }
        timers.arm(timer, now.monotonic + Duration::from_millis(10));
        let ready = reactor.wait(now.monotonic, timers.next()).unwrap();
        now = clock.now();
        if ready.is_readable(feed_token) {
            let received = feed.receive(64, |_, _| {
                session.transmit(8, |order| order.fill(2)).unwrap();
            });
            ticks += received.unwrap().count;
        }
        if ready.is_readable(gateway_token) {
            gateway.receive(64, |_, bytes| orders += bytes.len()).unwrap();
        }
        while timers.expired(now.monotonic).is_some() {}
        clock.recalibrate_if_due(now.monotonic);
    }
    (ticks, allocations() - at_half)
}

#[test]
fn ping_with_timestamps_does_not_allocate() {
    for wait in supported(Wait::ALL) {
        for count in [1, 100] {
            assert_eq!(ping(wait, count), (200, 0), "{wait}, {count} sockets");
        }
    }
}

/// Sends requests from each of several sockets in turn, answered in the same thread, with
/// timestamps of everything sent. The second half is counted.
fn ping(wait: Wait, count: usize) -> (usize, u64) {
    let any_port = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let options = UdpOptions { batch: 1, receive_buffer: None, ..UdpOptions::default() };
    let mut pong = UdpSocket::bind(any_port, options).unwrap();
    let mut reactor = Reactor::new(wait).unwrap();
    let mut pings: Vec<UdpSocket> = (0..count)
        .map(|_| {
            let mut ping = UdpSocket::connect(any_port, pong.local_address(), options).unwrap();
            ping.set_transmit_timestamping(Timestamping::Software).unwrap();
            ping
        })
        .collect();
    for ping in &mut pings {
        let _ = reactor.add(ping, Interest::READABLE).unwrap();
    }
    let clock = Clock::new();
    let (mut asked, mut answered, mut stamps, mut at_half) = (0, 0, 0, 0);
    while answered < 200 {
        if asked == answered {
            at_half = if answered == 100 { allocations() } else { at_half };
            pings[asked % count].transmit(32, |question| question.fill(1)).unwrap();
            let mut client = None;
            while client.is_none() {
                pong.receive(1, |meta, _| client = Some(meta.source)).unwrap();
            }
            pong.transmit_to(client.unwrap(), 32, |reply| reply.fill(2)).unwrap();
            asked += 1;
        }
        let now = clock.instant();
        let ready = reactor.wait(now, Some(now + Duration::from_millis(10))).unwrap();
        for token in ready.readable() {
            let ping = &mut pings[token.index()];
            answered += ping.receive(1, |_, _| {}).unwrap().count;
            ping.transmit_timestamps(|_| stamps += 1).unwrap();
        }
    }
    assert!(stamps > 0);
    (answered, allocations() - at_half)
}

#[test]
#[ignore = "needs root"]
fn session_over_xdp_does_not_allocate() {
    let two_hosts = Testbed::builder().offloads(Offloads::OFF).build().unwrap();
    let [near, far] = two_hosts.hosts();
    let [near_by, far_by] = [near, far].map(|host| {
        // A process that is held up keeps its connections.
        let unpolled_max = std::time::Duration::MAX;
        let settings = StackSettings { strict: true, unpolled_max, ..StackSettings::default() };
        let open = || Stack::open(host.interface(), &settings).unwrap();
        Transport::Xdp(host.run(open).unwrap())
    });
    for wait in supported(Wait::ALL) {
        let address = SocketAddrV4::new(far.address(), 0);
        let mut listener = far.run(|| TcpListener::bind_with(&far_by, address)).unwrap().unwrap();
        let (remote, options) = (listener.local_address(), TcpOptions::default());
        let connect = || TcpStream::connect_with(&near_by, remote, options).unwrap();
        let mut session = near.run(connect).unwrap();
        let mut gateway = None;
        while !session.finish_connect().unwrap() || gateway.is_none() {
            gateway = gateway.or_else(|| listener.accept(options).unwrap());
        }
        let mut gateway = gateway.unwrap();
        assert!(session.is_bypassing() && gateway.is_bypassing(), "{wait}");
        assert_eq!(trade(wait, &mut session, &mut gateway), 0, "{wait}");
    }
}

/// Exchanges orders and reports of many lengths. Returns the allocations of the second half.
fn trade(wait: Wait, session: &mut TcpStream, gateway: &mut TcpStream) -> u64 {
    let mut reactor = Reactor::new(wait).unwrap();
    let token = reactor.add(session, Interest::READABLE).unwrap();
    let clock = Clock::from_kernel();
    let mut at_half = 0;
    for round in 0..1_000 {
        if round == 500 {
            at_half = allocations();
        }
        let length = 64 + round % 700;
        session.transmit(length, |order| order.fill(1)).unwrap();
        let mut received = 0;
        while received < length {
            gateway.receive(8, |_, bytes| received += bytes.len()).unwrap();
        }
        assert_eq!(gateway.write(&[2; 200]).unwrap(), 200);
        received = 0;
        while received < 200 {
            let now = clock.instant();
            let ready = reactor.wait(now, Some(now + Duration::from_millis(10))).unwrap();
            if ready.is_readable(token) {
                session.receive(8, |_, bytes| received += bytes.len()).unwrap();
            }
        }
        session.warm_up(100);
    }
    assert!(session.is_bypassing() && gateway.is_bypassing(), "{wait}");
    let allocated = allocations() - at_half;
    reactor.remove(token, session).unwrap();
    allocated
}
