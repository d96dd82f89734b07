//! That a stamp of what was sent, which lies in the socket's error queue, is neither an error to a
//! loop nor a reason to turn on the spot, whatever its wait.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod available;

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use available::available;
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

/// Turns until the deadline, receiving when told to, and counts the turns.
fn turns_until_deadline(reactor: &mut Reactor, token: Token, end: &mut impl Receive) -> usize {
    let clock = Clock::of_kernel();
    let deadline = clock.instant() + Duration::from_millis(20);
    let mut turns = 0;
    while clock.instant() < deadline {
        let ready = reactor.wait(clock.instant(), Some(deadline)).unwrap();
        if ready.is_readable(token) {
            let received = end.receive(8, |_, _| panic!("nobody sends")).unwrap();
            assert!(received.count == 0 && !received.closed);
        }
        turns += 1;
    }
    turns
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
        let turns = turns_until_deadline(&mut reactor, token, end);
        if matches!(wait, Wait::Poll | Wait::Epoll | Wait::IoUring) {
            // One for the stamps at the most, some to spare, and one for the deadline.
            assert!(turns <= 4, "{wait}: {turns} turns");
        }
        assert!(!stamps(end).is_empty(), "{wait}");
        assert!(stamps(end).is_empty(), "{wait}");
    }
    reactor.remove(token, end).unwrap();
}

#[test]
fn a_stamp_does_not_keep_a_wait_of_datagrams_from_waiting() {
    for wait in available(Wait::ALL) {
        let (mut ping, _pong) = udp();
        check(wait, &mut ping, |ping| {
            let mut all = Vec::new();
            ping.transmit_timestamps(|stamp| all.push(stamp)).unwrap();
            all
        });
    }
}

#[test]
fn a_stamp_does_not_keep_a_wait_of_a_stream_from_waiting() {
    for wait in available(Wait::ALL) {
        let (mut client, _server) = tcp();
        check(wait, &mut client, |client| {
            let mut all = Vec::new();
            client.transmit_timestamps(|stamp| all.push(stamp)).unwrap();
            all
        });
    }
}

/// Questions and answers with a stamp of each question, asked for once a turn.
#[test]
fn every_wait_carries_answers_and_stamps() -> io::Result<()> {
    for wait in available(Wait::ALL) {
        let (mut ping, mut pong) = udp();
        let mut reactor = Reactor::new(wait)?;
        let token = reactor.add(&mut ping, Interest::READABLE)?;
        let (clock, mut answers, mut ids) = (Clock::of_kernel(), 0, Vec::new());
        let end = clock.instant() + Duration::from_secs(30);
        let mut asked = 0;
        while ids.len() < 200 || answers < 200 {
            if asked == answers && asked < 200 {
                ping.transmit(8, |_| {})?;
                let mut asker = None;
                pong.receive(1, |meta, _| asker = Some(meta.source))?;
                pong.transmit_to(asker.unwrap(), 8, |_| {})?;
                asked += 1;
            }
            let now = clock.instant();
            assert!(now < end, "{wait}: {answers} answers, {} stamps", ids.len());
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
