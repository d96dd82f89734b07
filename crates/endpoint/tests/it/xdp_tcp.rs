//! Kernel-bypass connections with peers on another host. Needs root.

use std::io;
use std::net::SocketAddrV4;
use std::time::Duration as StdDuration;

use crate::bypass_host::eventually;
use hairpin_endpoint::xdp::{InterfaceSettings, Mode, Stack, StackSettings};
use hairpin_endpoint::{Receive, Stream, TcpListener, TcpOptions, TcpStream, Transmit, Transport};
use hairpin_testbed::{Host, Offloads, Queues, Testbed};
use hairpin_testkit::Random;
use socket2::SockRef;

/// Both ends of a connection, with the transport of each.
struct Pair {
    ends: [TcpStream; 2],
    transports: [Transport; 2],
}

fn testbed(queues: u32) -> Testbed {
    let queues = Queues::pairs(queues);
    Testbed::builder().queues(queues).offloads(Offloads::OFF).build().unwrap()
}

fn open(host: &Host, settings: &StackSettings) -> Transport {
    let stack = host.run(|| Stack::open(host.interface(), settings)).unwrap().unwrap();
    Transport::Xdp(stack)
}

fn settings(mode: Mode) -> StackSettings {
    let interface = InterfaceSettings { mode, ..InterfaceSettings::default() };
    // A test that is not scheduled for a while keeps its connections.
    StackSettings { interface, unpolled_max: StdDuration::MAX, ..StackSettings::default() }
}

/// Connects the first host to the second.
fn connect(testbed: &Testbed, transports: [Transport; 2], options: TcpOptions) -> Pair {
    let [client, server] = testbed.hosts();
    let address = SocketAddrV4::new(server.address(), 0);
    let listen = || TcpListener::bind_with(&transports[1], address);
    let mut listener = server.run(listen).unwrap().unwrap();
    let remote = listener.local_address();
    let connect = || TcpStream::connect_with(&transports[0], remote, options);
    let mut near = client.run(connect).unwrap().unwrap();
    eventually("a connection", || near.finish_connect().unwrap());
    let mut far = None;
    eventually("an accepted connection", || {
        far = listener.accept(options).unwrap();
        far.is_some()
    });
    Pair { ends: [near, far.unwrap()], transports }
}

/// Runs a test with kernel bypass at the first end, the second, or both, in each mode.
fn each_pair(test: impl FnMut(&mut Pair)) {
    each_pair_with(settings, test);
}

fn each_pair_with(settings: impl Fn(Mode) -> StackSettings, mut test: impl FnMut(&mut Pair)) {
    for queues in [1, 2] {
        let testbed = testbed(queues);
        for mode in [Mode::Native, Mode::Generic] {
            let [near, far] = [0, 1].map(|end| open(&testbed.hosts()[end], &settings(mode)));
            let (kernel, options) = (Transport::Kernel, TcpOptions::default());
            test(&mut connect(&testbed, [near.clone(), kernel.clone()], options));
            test(&mut connect(&testbed, [kernel, far.clone()], options));
            test(&mut connect(&testbed, [near, far], options));
        }
    }
}

/// The byte of a stream at a position.
fn byte(at: usize) -> u8 {
    (at ^ at >> 8 ^ at >> 16).wrapping_mul(31) as u8
}

fn bytes(at: usize, length: usize) -> Vec<u8> {
    (at..at + length).map(byte).collect()
}

/// Writes the bytes from `at` on, as many as fit. Returns their number.
fn write(stream: &mut TcpStream, at: usize, length: usize) -> usize {
    match stream.write(&bytes(at, length)) {
        Ok(count) => count,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
        Err(error) => panic!("{error}"),
    }
}

/// Receives what has arrived, checks it by position, and returns the next position.
fn read(stream: &mut TcpStream, budget: usize, at: usize) -> usize {
    let mut at = at;
    let check = |_, bytes: &[u8]| {
        for &found in bytes {
            assert_eq!(found, byte(at), "at {at}");
            at += 1;
        }
    };
    let received = stream.receive(budget, check).unwrap();
    assert!(received.count <= budget && !received.closed, "{received:?}");
    at
}

fn takeovers(transport: &Transport) -> u64 {
    match transport {
        Transport::Kernel => 0,
        Transport::Xdp(stack) => stack.tcp_counters().taken_over,
    }
}

#[test]
#[ignore = "needs root"]
fn streams_are_exact_both_ways() {
    const LENGTH: usize = 2_000_000;
    each_pair(|Pair { ends, transports }| {
        let bypasses = ends.iter().any(TcpStream::is_bypassing);
        assert!(bypasses, "quiet connections bypass the kernel at once");
        let (mut lengths, mut sent, mut received) = (Random::new(7), [0; 2], [0; 2]);
        eventually_fast("both streams", || {
            for end in 0..2 {
                let length = (1 + lengths.index(5_000)).min(LENGTH - sent[end]);
                if sent[end] - received[end] < 200_000 {
                    sent[end] += write(&mut ends[end], sent[end], length);
                }
                let budget = 1 + lengths.index(20);
                received[1 - end] = read(&mut ends[end], budget, received[1 - end]);
            }
            received == [LENGTH; 2]
        });
        assert!(transports.iter().map(takeovers).sum::<u64>() > 0);
    });
}

/// Repeats without sleeping.
fn eventually_fast(what: &str, mut is_done: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !is_done() {
        assert!(start.elapsed() < StdDuration::from_secs(60), "timed out waiting for {what}");
    }
}

/// Exchanges one request and one response, which leaves the connection quiet.
fn exchange(ends: &mut [TcpStream; 2], at: &mut usize, length: usize) {
    for end in [0, 1] {
        let fill = |to: &mut [u8]| to.copy_from_slice(&bytes(*at, length));
        ends[end].transmit(length, fill).unwrap();
        let mut position = *at;
        eventually_fast("a message", || {
            assert!(ends[end].flush().unwrap() || length > 1_000);
            position = read(&mut ends[1 - end], 8, position);
            position == *at + length
        });
        *at += length;
    }
}

#[test]
#[ignore = "needs root"]
fn request_and_response_bypass_kernel() {
    each_pair(|Pair { ends, transports }| {
        let mut at = 0;
        for round in 0..200 {
            exchange(ends, &mut at, 1 + round * 7);
            ends[0].warm_up(100);
        }
        for end in 0..2 {
            let is_xdp = transports[end] != Transport::Kernel;
            assert_eq!(ends[end].is_bypassing(), is_xdp, "{:?}", ends[end].last_handback());
        }
    });
}

#[test]
#[ignore = "needs root"]
fn closed_direction_leaves_other_open() {
    each_pair(|Pair { ends, .. }| {
        let mut at = 0;
        exchange(ends, &mut at, 100);
        let [near, far] = ends;
        assert_eq!(near.write(&bytes(at, 1_000)).unwrap(), 1_000);
        near.shutdown().unwrap();
        let mut count = 0;
        eventually("the end of the first direction", || {
            let received = far.receive(8, |_, found| {
                assert_eq!(found, bytes(at + count, found.len()));
                count += found.len();
            });
            received.unwrap().closed
        });
        assert_eq!(count, 1_000);
        for end in [near.write(b"x"), near.write(b"x")] {
            assert_eq!(end.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        }
        let (mut sent, mut received) = (0, 0);
        eventually_fast("the second direction", || {
            sent += write(far, sent, 4_000.min(100_000 - sent));
            received = read(near, 8, received);
            received == 100_000
        });
        far.shutdown().unwrap();
        eventually("the end of the second direction", || {
            near.receive(8, |_, _| panic!("no more bytes")).unwrap().closed
        });
    });
}

#[test]
#[ignore = "needs root"]
fn full_path_takes_partial_writes_and_loses_nothing() {
    each_pair(|Pair { ends: [near, far], .. }| {
        let mut sent = 0;
        let mut refused = 0;
        while refused < 50 {
            let accepted = write(near, sent, 30_000);
            sent += accepted;
            refused = if accepted == 0 { refused + 1 } else { 0 };
            if accepted == 0 {
                std::thread::sleep(StdDuration::from_millis(1));
            }
        }
        assert!(sent > 50_000, "{sent}");
        // A message is accepted as a whole once, and then stays pending.
        near.transmit(3_000, |to| to.copy_from_slice(&bytes(sent, 3_000))).unwrap();
        sent += 3_000;
        assert!(!near.flush().unwrap(), "the path is full");
        let error = near.transmit(1, |_| panic!("pending")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        let mut received = 0;
        eventually_fast("all bytes", || {
            near.flush().unwrap();
            received = read(far, 16, received);
            received == sent
        });
        assert!(near.flush().unwrap());
    });
}

#[test]
#[ignore = "needs root"]
fn reset_and_exit_of_peer_are_reported() {
    for (mode, resets) in [(Mode::Native, true), (Mode::Generic, true), (Mode::Native, false)] {
        let testbed = testbed(1);
        let near = open(&testbed.hosts()[0], &settings(mode));
        let options = TcpOptions::default();
        let Pair { mut ends, .. } = connect(&testbed, [near, Transport::Kernel], options);
        exchange(&mut ends, &mut 0, 100);
        let [mut near, far] = ends;
        assert!(near.is_bypassing());
        if resets {
            SockRef::from(&far).set_linger(Some(StdDuration::ZERO)).unwrap();
        }
        drop(far);
        let mut outcome = None;
        eventually("the end", || {
            outcome = match near.receive(8, |_, _| panic!("no bytes")) {
                Ok(received) => received.closed.then_some(None),
                Err(error) => Some(Some(error.kind())),
            };
            outcome.is_some()
        });
        assert_eq!(outcome, Some(resets.then_some(io::ErrorKind::ConnectionReset)));
        assert!(!near.is_bypassing());
    }
}

#[test]
#[ignore = "needs root"]
fn paused_connection_is_handed_back_and_taken_over_again() {
    let unpolled_max = StackSettings::default().unpolled_max;
    let settings = |mode| StackSettings { unpolled_max, ..settings(mode) };
    each_pair_with(settings, |Pair { ends, transports }| {
        let mut at = 0;
        for _ in 0..3 {
            // Repeated if the exchange is held up for as long as a pause.
            eventually_fast("a takeover", || {
                exchange(ends, &mut at, 64);
                (0..2).all(|end| ends[end].is_bypassing() == (transports[end] != Transport::Kernel))
            });
            eventually("a handback", || !ends.iter().any(TcpStream::is_bypassing));
            for _ in 0..3 {
                exchange(ends, &mut at, 64);
            }
        }
        for end in ends.iter().filter(|end| end.is_bypassing()) {
            assert_eq!(end.last_handback().unwrap(), "not polled for 100 ms");
        }
    });
}

#[test]
#[ignore = "needs root"]
fn chunks_keep_limit_and_budget() {
    let testbed = testbed(1);
    let near = open(&testbed.hosts()[0], &settings(Mode::Native));
    let options = TcpOptions { chunk_max: 100, ..TcpOptions::default() };
    let Pair { ends: [mut near, mut far], .. } =
        connect(&testbed, [near, Transport::Kernel], options);
    assert!(near.is_bypassing());
    assert_eq!(far.write(&bytes(0, 1_050)).unwrap(), 1_050);
    let (mut at, mut chunks) = (0, Vec::new());
    eventually("eleven chunks", || {
        let received = near.receive(2, |_, found| {
            assert_eq!(found, bytes(at, found.len()));
            at += found.len();
            chunks.push(found.len());
        });
        let received = received.unwrap();
        assert!(received.count <= 2 && (received.drained || at < 1_050), "{received:?}");
        at == 1_050
    });
    assert!(chunks.iter().all(|&length| length <= 100) && chunks.len() >= 11, "{chunks:?}");
    assert_eq!(near.receive(0, |_, _| {}).unwrap().count, 0);
    assert!(near.is_bypassing());
}

#[test]
#[ignore = "needs root"]
fn connection_within_host_stays_with_kernel() {
    let testbed = testbed(1);
    let [host, _] = testbed.hosts();
    for strict in [false, true] {
        let transport = open(host, &StackSettings { strict, ..settings(Mode::Native) });
        let Transport::Xdp(stack) = &transport else { unreachable!() };
        let listen = || TcpListener::bind(SocketAddrV4::new(host.address(), 0));
        let listener = host.run(listen).unwrap().unwrap();
        let remote = listener.local_address();
        let connect = || TcpStream::connect_with(&transport, remote, TcpOptions::default());
        let connected = host.run(connect).unwrap();
        if strict {
            assert_eq!(connected.unwrap_err().kind(), io::ErrorKind::Unsupported);
            continue;
        }
        assert!(!connected.unwrap().is_bypassing());
        let event = stack.next_event().unwrap().to_string();
        let expected = "falls back to the kernel: the destination is this host";
        assert!(event.ends_with(expected), "{event}");
    }
}
