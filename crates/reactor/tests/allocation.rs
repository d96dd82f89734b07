//! That a loop allocates nothing once it runs, whatever its wait.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod available;

use std::net::{Ipv4Addr, SocketAddrV4};

use available::available;
use hairpin_endpoint::{
    Receive, Stream, TcpListener, TcpOptions, TcpStream, Transmit, UdpOptions, UdpReceiver,
    UdpSender,
};
use hairpin_host::Clock;
use hairpin_reactor::{Interest, Reactor, Timers, Wait};
use hairpin_testbed::{CountingAllocator, allocations};
use hairpin_time::Duration;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_running_loop_allocates_nothing() {
    let before = allocations();
    drop(Box::new([0_u8; 64]));
    assert_eq!(allocations() - before, 1, "allocations are counted");
    for wait in available(Wait::ALL) {
        let (ticks, allocations) = run(wait);
        assert_eq!((ticks, allocations), (200, 0), "{wait}");
    }
}

/// Ticks by UDP that are each answered by TCP, all in one thread; the second half is counted.
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
