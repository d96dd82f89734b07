//! Sources with deadlines of their own, under every wait.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use crate::supported_waits::supported;
use hairpin_endpoint::rds::{Event, RdsOptions, RdsSocket, RdsTransport};
use hairpin_endpoint::{Blocker, Source, SourceDeadline};
use hairpin_host::Clock;
use hairpin_reactor::{Interest, Reactor, Wait};
use hairpin_testbed::Testbed;
use hairpin_time::{Duration, Instant};

/// The waits that know which source is ready. The others try all sources.
const SELECTIVE: [Wait; 3] = [Wait::Poll, Wait::Epoll, Wait::IoUring];

/// A socket with a deadline.
struct Timed {
    socket: UdpSocket,
    deadline: SourceDeadline,
}

impl Timed {
    fn new() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        Self { socket, deadline: SourceDeadline::default() }
    }
}

impl AsFd for Timed {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Source for Timed {
    fn set_blocking(&mut self, _: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }

    fn deadline(&mut self) -> Option<SourceDeadline> {
        Some(self.deadline.clone())
    }
}

fn now() -> Instant {
    Clock::from_kernel().instant()
}

#[test]
fn passed_deadline_ends_the_wait_and_reports_its_source() {
    for wait in supported(Wait::ALL) {
        let mut reactor = Reactor::new(wait).unwrap();
        let (mut quiet, mut timed) = (Timed::new(), Timed::new());
        let other = reactor.add(&mut quiet, Interest::READABLE).unwrap();
        let token = reactor.add(&mut timed, Interest::READABLE).unwrap();
        for after in [Duration::ZERO, Duration::from_millis(3)] {
            let deadline = now() + after;
            timed.deadline.set(Some(deadline));
            // Without the deadline this waits without limit.
            let ready = reactor.wait(now(), None).unwrap();
            assert!(ready.is_readable(token), "{wait}");
            let is_selective = SELECTIVE.contains(&wait);
            assert!(!is_selective || !ready.is_readable(other), "{wait}");
        }
        timed.deadline.set(None);
        let ready = reactor.wait(now(), Some(Instant::ZERO)).unwrap();
        assert!(!SELECTIVE.contains(&wait) || ready.is_empty(), "{wait}");
        reactor.remove(token, &mut timed).unwrap();
        reactor.remove(other, &mut quiet).unwrap();
    }
}

#[test]
fn passed_deadline_hides_no_other_source() {
    for count in [1, 100] {
        for wait in supported(SELECTIVE) {
            let mut reactor = Reactor::new(wait).unwrap();
            let mut timed = Timed::new();
            let due = reactor.add(&mut timed, Interest::READABLE).unwrap();
            let mut others: Vec<Timed> = (0..count).map(|_| Timed::new()).collect();
            let tokens: Vec<_> = others
                .iter_mut()
                .map(|other| reactor.add(other, Interest::READABLE).unwrap())
                .collect();
            timed.deadline.set(Some(Instant::ZERO));
            let last = &others[count - 1].socket;
            last.send_to(b"tick", last.local_addr().unwrap()).unwrap();
            let mut seen = [0, 0];
            for _ in 0..10 {
                let ready = reactor.wait(now(), None).unwrap();
                seen[0] += u32::from(ready.is_readable(due));
                seen[1] += u32::from(ready.is_readable(tokens[count - 1]));
            }
            assert!(seen[0] >= 5 && seen[1] >= 5, "{wait}, {count} sources: {seen:?}");
        }
    }
}

#[test]
fn deadline_counts_for_any_interest_until_the_source_is_removed() {
    for wait in supported(SELECTIVE) {
        let mut reactor = Reactor::new(wait).unwrap();
        let mut timed = Timed::new();
        timed.deadline.set(Some(Instant::ZERO));
        let token = reactor.add(&mut timed, Interest::READABLE).unwrap();
        reactor.set_interest(token, &timed, Interest::NONE).unwrap();
        assert!(reactor.wait(now(), Some(Instant::ZERO)).unwrap().is_empty(), "{wait}");
        reactor.set_interest(token, &timed, Interest::WRITABLE).unwrap();
        assert!(reactor.wait(now(), None).unwrap().is_writable(token), "{wait}");
        reactor.remove(token, &mut timed).unwrap();
        assert!(reactor.wait(now(), Some(Instant::ZERO)).unwrap().is_empty(), "{wait}");
    }
}

fn bound(address: SocketAddr) -> RdsSocket {
    try_bound(address).unwrap()
}

fn try_bound(address: SocketAddr) -> io::Result<RdsSocket> {
    let mut socket = RdsSocket::new(now(), RdsOptions::default());
    socket.bind(now(), &RdsTransport::Kernel, address)?;
    Ok(socket)
}

/// The owner only does what the example of `RdsSocket` does: it receives from a ready socket.
#[test]
fn reliable_datagrams_are_repeated_under_every_wait() {
    let mut taken = 0;
    let mut waits: Vec<Wait> = supported(Wait::ALL).collect();
    while let Some(wait) = waits.pop() {
        let mut reactor = Reactor::new(wait).unwrap();
        let mut socket = bound("127.0.0.1:0".parse().unwrap());
        let token = reactor.add(&mut socket, Interest::READABLE).unwrap();
        // A peer that loses ten packets.
        let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
        silent.set_nonblocking(true).unwrap();
        let to = silent.local_addr().unwrap();
        socket.send(now(), to, 5, |bytes| bytes.copy_from_slice(b"hello")).unwrap();
        let mut lost = 0;
        while lost < 10 {
            let ready = reactor.wait(now(), None).unwrap();
            if ready.is_readable(token) {
                socket.receive(now(), 8, |_| panic!("a message")).unwrap();
            }
            while silent.recv(&mut [0; 100]).is_ok() {
                lost += 1;
            }
        }
        drop(silent);
        let Ok(mut peer) = try_bound(to) else {
            // Another program has taken the port since: once more with another one.
            taken += 1;
            assert!(taken < 20, "{to} cannot be bound again");
            waits.push(wait);
            continue;
        };
        let peer_token = reactor.add(&mut peer, Interest::READABLE).unwrap();
        let mut received = false;
        while !received || !socket.is_acknowledged() {
            let ready = reactor.wait(now(), None).unwrap();
            if ready.is_readable(token) {
                socket.receive(now(), 8, |_| panic!("a message")).unwrap();
            }
            if ready.is_readable(peer_token) {
                peer.receive(now(), 8, |message| received |= message.bytes == b"hello").unwrap();
            }
            let refused = |event| matches!(event, Event::Undeliverable(_));
            if std::iter::from_fn(|| socket.poll_event()).any(refused) {
                // A packet has arrived between the two sockets.
                socket.send(now(), to, 5, |bytes| bytes.copy_from_slice(b"hello")).unwrap();
            }
        }
        reactor.remove(token, &mut socket).unwrap();
        reactor.remove(peer_token, &mut peer).unwrap();
    }
}

/// Runs `ip link set DEVICE STATE` on this host.
fn set_link(device: &str, state: &str) {
    let status = std::process::Command::new("ip").args(["link", "set", device, state]).status();
    assert!(status.unwrap().success());
}

/// While the sender's own link is down, each send fails; the socket lives and counts the errors.
#[test]
#[ignore = "needs root"]
fn peer_is_served_when_its_link_returns_under_every_wait() {
    let testbed = Testbed::builder().build().unwrap();
    let [here, there] = testbed.hosts();
    for wait in supported(Wait::ALL) {
        let peer_address = SocketAddr::new(there.address().into(), 4_000);
        let mut peer = there.run(|| bound(peer_address)).unwrap();
        let deliver = |peer: &mut RdsSocket, received: &mut Vec<u8>| {
            peer.receive(now(), 8, |message| received.extend(message.bytes)).unwrap();
        };
        let received = here
            .run(|| {
                let mut reactor = Reactor::new(wait).unwrap();
                let mut socket = bound(SocketAddr::new(here.address().into(), 4_001));
                let token = reactor.add(&mut socket, Interest::READABLE).unwrap();
                let mut received = Vec::new();
                let mut turn = |socket: &mut RdsSocket, received: &mut Vec<u8>| {
                    let before = now();
                    let soon = before + Duration::from_millis(5);
                    if reactor.wait(before, Some(soon)).unwrap().is_readable(token) {
                        socket.receive(now(), 8, |_| {}).unwrap();
                    }
                    deliver(&mut peer, received);
                };
                socket.send(now(), peer_address, 1, |bytes| bytes[0] = 0).unwrap();
                while received.is_empty() || !socket.is_acknowledged() {
                    turn(&mut socket, &mut received);
                }
                for number in 1..4 {
                    set_link(here.interface(), "down");
                    let before = socket.carrier_counters().error_unreachable;
                    socket.send(now(), peer_address, 1, |bytes| bytes[0] = number).unwrap();
                    // Several timeouts pass without a path.
                    while socket.carrier_counters().error_unreachable < before + 8 {
                        turn(&mut socket, &mut received);
                    }
                    set_link(here.interface(), "up");
                    while !socket.is_acknowledged() {
                        turn(&mut socket, &mut received);
                    }
                }
                reactor.remove(token, &mut socket).unwrap();
                received
            })
            .unwrap();
        assert_eq!(received, [0, 1, 2, 3], "{wait}");
    }
}
