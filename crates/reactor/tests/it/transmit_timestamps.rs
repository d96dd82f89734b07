//! A transmit timestamp in a socket's error queue is not an error for a loop and does not make it
//! spin, under every wait.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use crate::supported_waits::supported;
use hairpin_endpoint::{
    Receive, Source, Stream, TcpListener, TcpOptions, TcpStream, Timestamping, Transmit,
    Transmitted, UdpOptions, UdpSocket,
};
use hairpin_host::Clock;
use hairpin_reactor::{Interest, Reactor, Token, Wait};
use hairpin_time::Duration;

const ANY_PORT: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);

fn udp() -> (UdpSocket, UdpSocket) {
    let pong = UdpSocket::bind(ANY_PORT, UdpOptions::default()).unwrap();
    let remote = pong.local_address();
    let mut ping = UdpSocket::connect(ANY_PORT, remote, UdpOptions::default()).unwrap();
    ping.set_transmit_timestamping(Timestamping::Software).unwrap();
    (ping, pong)
}

fn tcp() -> (TcpStream, TcpStream) {
    let mut listener = TcpListener::bind(ANY_PORT).unwrap();
    let mut client = TcpStream::connect(listener.local_address(), TcpOptions::default()).unwrap();
    loop {
        let server = listener.accept(TcpOptions::default()).unwrap();
        if let (true, Some(server)) = (client.finish_connect().unwrap(), server) {
            client.set_transmit_timestamping(Timestamping::Software).unwrap();
            return (client, server);
        }
    }
}

/// Iterates until the deadline, receiving from ready sources, and counts the iterations.
fn iterations_until_deadline(reactor: &mut Reactor, token: Token, end: &mut impl Receive) -> usize {
    let clock = Clock::from_kernel();
    let deadline = clock.instant() + Duration::from_millis(20);
    let mut iterations = 0;
    while clock.instant() < deadline {
        let ready = reactor.wait(clock.instant(), Some(deadline)).unwrap();
        if ready.is_readable(token) {
            let received = end.receive(8, |_, _| panic!("no datagram is expected")).unwrap();
            assert!(received.count == 0 && !received.closed);
        }
        iterations += 1;
    }
    iterations
}

fn check<E: Receive + Transmit + Source>(
    wait: Wait,
    end: &mut E,
    stamps: impl Fn(&mut E) -> Vec<Transmitted>,
) {
    let mut reactor = Reactor::new(wait).unwrap();
    let token = reactor.add(end, Interest::READABLE).unwrap();
    for round in 1..=3_u32 {
        for _ in 0..round {
            end.transmit(10, |_| {}).unwrap();
        }
        let iterations = iterations_until_deadline(&mut reactor, token, end);
        if matches!(wait, Wait::Poll | Wait::Epoll | Wait::IoUring) {
            // At most one iteration for the timestamps, some spare ones, and one for the deadline.
            assert!(iterations <= 4, "{wait}: {iterations} iterations");
        }
        assert!(!stamps(end).is_empty(), "{wait}");
        assert!(stamps(end).is_empty(), "{wait}");
    }
    reactor.remove(token, end).unwrap();
}

#[test]
fn timestamp_does_not_end_datagram_wait() {
    for wait in supported(Wait::ALL) {
        let (mut ping, _pong) = udp();
        check(wait, &mut ping, |ping| {
            let mut all = Vec::new();
            ping.transmit_timestamps(|stamp| all.push(stamp)).unwrap();
            all
        });
    }
}

#[test]
fn timestamp_does_not_end_stream_wait() {
    for wait in supported(Wait::ALL) {
        let (mut client, _server) = tcp();
        check(wait, &mut client, |client| {
            let mut all = Vec::new();
            client.transmit_timestamps(|stamp| all.push(stamp)).unwrap();
            all
        });
    }
}

/// Sends requests with a timestamp each, read once per iteration, and receives replies.
#[test]
fn waits_carry_replies_and_timestamps() -> io::Result<()> {
    for wait in supported(Wait::ALL) {
        let (mut ping, mut pong) = udp();
        let mut reactor = Reactor::new(wait)?;
        let token = reactor.add(&mut ping, Interest::READABLE)?;
        let (clock, mut answers, mut ids) = (Clock::from_kernel(), 0, Vec::new());
        let end = clock.instant() + Duration::from_secs(60);
        let mut asked = 0;
        while ids.len() < 200 || answers < 200 {
            if asked == answers && asked < 200 {
                ping.transmit(8, |_| {})?;
                let mut client = None;
                pong.receive(1, |meta, _| client = Some(meta.source))?;
                pong.transmit_to(client.unwrap(), 8, |_| {})?;
                asked += 1;
            }
            let now = clock.instant();
            assert!(now < end, "{wait}: {answers} replies, {} timestamps", ids.len());
            let ready = reactor.wait(now, Some(now + Duration::from_millis(5)))?;
            if ready.is_readable(token) {
                answers += ping.receive(8, |_, _| {})?.count;
            }
            ping.transmit_timestamps(|stamp| ids.push(stamp.id))?;
        }
        assert!(ids.iter().copied().eq(0..200), "{wait}");
        reactor.remove(token, &mut ping)?;
    }
    Ok(())
}
