//! Polling many connections with one call.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use hairpin_stack::{Poller, Stack, StackSettings, TcpSocket};
use hairpin_testbed::Testbed;

use super::{bytes, connect, each_configuration, take_over};
use crate::support::{TIMEOUT, eventually, open, settings, stack};

const CONNECTIONS: usize = 8;

/// Connections in a poller, taken over or the kernel's, and their peers.
struct Polled {
    poller: Poller,
    sockets: Vec<TcpSocket>,
    peers: Vec<TcpStream>,
}

impl Polled {
    /// The first `taken` connections bypass the kernel.
    fn new(testbed: &Testbed, stack: &Stack, taken: usize) -> Self {
        let (mut sockets, peers): (Vec<_>, Vec<_>) = (0..CONNECTIONS)
            .map(|at| {
                let [near, far] = connect(testbed, at % 2);
                (stack.adopt_tcp(near).unwrap(), far)
            })
            .unzip();
        let mut poller = Poller::new().unwrap();
        for (token, socket) in sockets.iter_mut().enumerate() {
            // Connections may be added before and after their takeover.
            if token % 2 == 0 {
                poller.add_tcp(socket, token).unwrap();
            }
            if token < taken {
                take_over(&testbed.hosts()[0], socket);
            }
            if token % 2 != 0 {
                poller.add_tcp(socket, token).unwrap();
            }
        }
        let mut polled = Self { poller, sockets, peers };
        // The first polls check for bytes that arrived earlier.
        assert!(eventually(|| polled.receive(false).is_empty()));
        polled
    }

    /// Receives from all ready sockets. Returns their tokens and bytes.
    fn receive(&mut self, waits: bool) -> Vec<(usize, Vec<u8>)> {
        let ready = if waits { self.poller.wait(Some(TIMEOUT)) } else { self.poller.poll() };
        let mut received = Vec::new();
        for token in ready.unwrap().to_vec() {
            let mut bytes = Vec::new();
            if self.sockets[token].receive(|part| bytes.extend_from_slice(part)).is_ok() {
                received.push((token, bytes));
            }
        }
        received
    }

    fn exchange(&mut self, at: usize, round: u64, waits: bool) {
        let message = bytes(round, 10);
        self.peers[at].write_all(&message).unwrap();
        let mut received = Vec::new();
        assert!(eventually(|| {
            received.extend(self.receive(waits));
            !received.is_empty()
        }));
        assert_eq!(received, [(at, message.clone())]);
        assert_eq!(self.sockets[at].send(&message).unwrap(), 10);
        let mut answer = [0; 10];
        self.peers[at].read_exact(&mut answer).unwrap();
        assert_eq!(answer[..], message);
    }
}

#[test]
#[ignore = "needs root"]
fn poll_returns_connections_with_bytes_only() {
    each_configuration(|testbed, mode| {
        let stack = stack(&testbed.hosts()[0], mode);
        for taken in [0, CONNECTIONS / 2, CONNECTIONS] {
            let mut polled = Polled::new(testbed, &stack, taken);
            for round in 0..60 {
                polled.exchange(round as usize * 5 % CONNECTIONS, round, false);
            }
            assert!(polled.receive(false).is_empty());
            let bypassing = polled.sockets.iter().filter(|socket| socket.is_bypassing()).count();
            assert_eq!(bypassing, taken, "{mode:?}");
            polled.sockets.iter_mut().for_each(|socket| socket.set_spinning(false));
            for round in 0..60 {
                polled.exchange(round as usize * 3 % CONNECTIONS, round, true);
            }
        }
    });
}

/// Polls connections for some time. They must stay taken over, unless two polls are this far apart:
/// then it returns `None`.
fn poll_without_pause(testbed: &Testbed, stack: &Stack, pause: Duration) -> Option<Polled> {
    let abandoned = stack.tcp_counters().abandoned;
    // The takeovers are the first polls.
    let (mut previous, mut longest) = (Instant::now(), Duration::ZERO);
    let mut polled = Polled::new(testbed, stack, CONNECTIONS);
    let start = Instant::now();
    while start.elapsed() < 3 * pause {
        let begin = Instant::now();
        assert!(polled.receive(false).is_empty());
        longest = longest.max(previous.elapsed());
        previous = begin;
        std::thread::sleep(Duration::from_millis(1));
    }
    let counters = stack.tcp_counters();
    if counters.abandoned > abandoned {
        assert!(longest >= pause * 9 / 10, "handed back after {longest:?}: {counters:?}");
        return None;
    }
    assert_eq!(counters.bypassing, CONNECTIONS as u64);
    Some(polled)
}

#[test]
#[ignore = "needs root"]
fn polled_connections_stay_taken_over_and_return_the_end_of_a_stream() {
    each_configuration(|testbed, mode| {
        let unpolled_max = StackSettings::default().unpolled_max;
        let stack = open(&testbed.hosts()[0], &StackSettings { unpolled_max, ..settings(mode) });
        // A machine that does other work may hold the polls up for too long, but not every time.
        let mut polled = None;
        assert!(eventually(|| {
            polled = poll_without_pause(testbed, &stack, unpolled_max);
            polled.is_some()
        }));
        let mut polled = polled.unwrap();
        polled.exchange(3, 1, false);
        // The peer closes: the handback, then the end of the stream through the kernel.
        drop(polled.peers.remove(0));
        let mut received = Vec::new();
        assert!(eventually(|| {
            received.extend(polled.receive(false));
            received.contains(&(0, Vec::new()))
        }));
        assert!(!polled.sockets[0].is_bypassing());
        polled.poller.remove_tcp(&polled.sockets[0], 0);
        assert!(eventually(|| polled.receive(false).is_empty()));
        // A dropped socket is never ready.
        drop(polled.sockets.pop());
        drop(polled.peers.pop());
        std::thread::sleep(Duration::from_millis(20));
        assert!(polled.poller.poll().unwrap().is_empty());
    });
}
