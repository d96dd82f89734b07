//! TCP connections that are taken over from the kernel and handed back.

mod handed_back;
mod lost_frames;
mod many;
mod network;
mod peers;
mod poller;
mod progress;
mod stalls;
mod transfers;

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hairpin_stack::{Mode, TakeoverError, TcpSocket};
use hairpin_testbed::{
    Chance, Direction, Faults, Host, Offloads, Queues, RelaySettings, Testbed, scaled,
};
use hairpin_testkit::Random;

use crate::support::{MODES, TIMEOUT, addresses, eventually, stack};

fn testbed(queues: u32) -> Testbed {
    let builder = Testbed::builder().queues(Queues::pairs(queues)).ipv6();
    builder.offloads(Offloads::OFF).build().unwrap()
}

fn each_configuration(mut test: impl FnMut(&Testbed, Mode)) {
    for queues in [1, 2] {
        for mode in MODES {
            test(&testbed(queues), mode);
        }
    }
}

/// Connects the first host to the second. Returns both ends, the client first.
fn connect(testbed: &Testbed, family: usize) -> [TcpStream; 2] {
    let [client, server] = testbed.hosts();
    let to = addresses(server)[family];
    let listener = server.run(|| TcpListener::bind((to, 0))).unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    let stream = client.run(|| TcpStream::connect(address)).unwrap().unwrap();
    let (accepted, _) = listener.accept().unwrap();
    for stream in [&stream, &accepted] {
        stream.set_nodelay(true).unwrap();
    }
    [stream, accepted]
}

/// Takes a connection over as soon as it is quiet.
fn take_over(host: &Host, socket: &mut TcpSocket) {
    let mut last = None;
    let done = eventually(|| {
        let result = host.run(|| socket.take_over()).unwrap();
        match &result {
            Ok(()) => return true,
            Err(TakeoverError::Busy | TakeoverError::Path(_)) => last = result.err(),
            Err(error) => panic!("{error}"),
        }
        false
    });
    assert!(done, "{last:?}");
}

/// Echoes everything until the end of the stream, then closes. Returns the number of bytes.
fn echo(mut stream: TcpStream) -> JoinHandle<u64> {
    std::thread::spawn(move || {
        let (mut bytes, mut total) = ([0; 65_536], 0);
        loop {
            match stream.read(&mut bytes).unwrap() {
                0 => return total,
                count => {
                    stream.write_all(&bytes[..count]).unwrap();
                    total += count as u64;
                }
            }
        }
    })
}

/// The byte of a stream at a position.
fn byte(at: u64) -> u8 {
    (at ^ at >> 8 ^ at >> 16).wrapping_mul(31) as u8
}

fn bytes(at: u64, length: usize) -> Vec<u8> {
    (at..at + length as u64).map(byte).collect()
}

/// Receives exactly `length` bytes and checks them by position.
fn expect(socket: &mut TcpSocket, at: u64, length: usize) {
    let mut position = at;
    let start = Instant::now();
    while position < at + length as u64 {
        let received = socket.receive(|bytes| {
            for &found in bytes {
                assert_eq!(found, byte(position), "at {position}");
                position += 1;
            }
        });
        match received {
            Ok(count) => assert!(count > 0, "end of the stream at {position}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
        assert!(start.elapsed() < TIMEOUT, "{} bytes missing", at + length as u64 - position);
    }
}

fn send_all(socket: &mut TcpSocket, mut bytes: &[u8]) {
    let start = Instant::now();
    while !bytes.is_empty() {
        match socket.send(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
        assert!(start.elapsed() < TIMEOUT, "{} bytes cannot be sent", bytes.len());
    }
}

/// Returns a counter of a host's kernel.
fn kernel_counter(host: &Host, name: &str) -> u64 {
    let file = |file| std::fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap();
    let text = host.run(|| file("netstat") + &file("snmp")).unwrap();
    // A line of names precedes each line of values.
    let mut lines = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        if let Some(at) = names.iter().position(|other| *other == name) {
            return values[at].parse().unwrap();
        }
    }
    panic!("no counter {name}");
}

/// Returns the segments that a host has received again, after their first copy.
fn received_again(host: &Host) -> u64 {
    kernel_counter(host, "DelayedACKLost")
}

/// Sends `rounds` messages to an echo and checks the answers.
fn ping_pong(socket: &mut TcpSocket, position: &mut u64, rounds: usize, length: usize) {
    for round in 0..rounds {
        let message = bytes(*position, length);
        let in_place =
            round % 2 == 0 && socket.transmit(length, |to| to.copy_from_slice(&message)).unwrap();
        if !in_place {
            send_all(socket, &message);
        }
        expect(socket, *position, length);
        *position += length as u64;
    }
}

/// The kernel's socket acknowledged the last message before a takeover 40 ms later, with a newer
/// timestamp than the next message, which the peer discarded (PAWS).
#[test]
#[ignore = "needs root"]
fn kernel_sends_nothing_after_a_takeover() {
    each_configuration(|testbed, mode| {
        let [client, server] = testbed.hosts();
        let stack = stack(client, mode);
        let [near, far] = connect(testbed, 0);
        let far = echo(far);
        let mut socket = stack.adopt_tcp(near).unwrap();
        let mut position = 0;
        // The kernel acknowledges the first segments of a connection at once.
        ping_pong(&mut socket, &mut position, 30, 64);
        take_over(client, &mut socket);
        let sent = kernel_counter(client, "OutSegs");
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(kernel_counter(client, "OutSegs"), sent, "{mode}");
        let discarded = kernel_counter(server, "PAWSEstab");
        ping_pong(&mut socket, &mut position, 10, 64);
        assert_eq!(kernel_counter(server, "PAWSEstab"), discarded, "{mode}");
        drop(socket);
        assert_eq!(far.join().unwrap(), position);
    });
}

#[test]
#[ignore = "needs root"]
fn bytes_bypass_the_kernel_and_connection_returns_to_its_descriptor() {
    each_configuration(|testbed, mode| {
        let [client, server] = testbed.hosts();
        let stack = stack(client, mode);
        for family in 0..2 {
            let [near, far] = connect(testbed, family);
            let far = echo(far);
            let mut socket = stack.adopt_tcp(near).unwrap();
            let mut position = 0;
            ping_pong(&mut socket, &mut position, 3, 64);
            take_over(client, &mut socket);
            let before = [received_again(server), kernel_counter(server, "RetransSegs")];
            ping_pong(&mut socket, &mut position, 100, 64);
            let counters = socket.counters().unwrap();
            assert_eq!((counters.bytes_sent, counters.bytes_received), (6_400, 6_400));
            // Either end sends again what the other, held up, acknowledges late. Nothing is lost.
            let arrived_again = || received_again(server) - before[0];
            let is_explained = eventually(|| arrived_again() == counters.retransmitted);
            assert!(is_explained, "{} arrived again, {counters:?}", arrived_again());
            let sent_again = kernel_counter(server, "RetransSegs") - before[1];
            assert!(counters.unacceptable <= sent_again, "{sent_again}, {counters:?}");
            socket.hand_back().unwrap();
            assert!(!socket.is_bypassing());
            ping_pong(&mut socket, &mut position, 3, 64);
            let mut stream = socket.into_stream().unwrap();
            stream.write_all(&bytes(position, 10)).unwrap();
            let mut answer = [0; 10];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer[..], bytes(position, 10));
            drop(stream);
            assert_eq!(far.join().unwrap(), position + 10);
        }
    });
}

#[test]
#[ignore = "needs root"]
fn both_ends_taken_over_exchange_bytes() {
    each_configuration(|testbed, mode| {
        let [client, server] = testbed.hosts();
        let stacks = [stack(client, mode), stack(server, mode)];
        for family in 0..2 {
            let [near, far] = connect(testbed, family);
            let mut near = stacks[0].adopt_tcp(near).unwrap();
            let mut far = stacks[1].adopt_tcp(far).unwrap();
            take_over(client, &mut near);
            take_over(server, &mut far);
            let mut position = 0;
            for length in (1..2_000).step_by(97) {
                send_all(&mut near, &bytes(position, length));
                expect(&mut far, position, length);
                send_all(&mut far, &bytes(position, length));
                expect(&mut near, position, length);
                position += length as u64;
            }
            assert!(near.is_bypassing() && far.is_bypassing());
            drop(near);
            let end = eventually(|| far.receive(|_| panic!("no bytes")).is_ok_and(|n| n == 0));
            assert!(end && far.last_handback().unwrap().contains("closed"));
        }
    });
}

#[test]
#[ignore = "needs root"]
fn connection_is_taken_over_and_handed_back_at_random_offsets() {
    const CYCLES: u64 = 200;
    each_configuration(|testbed, mode| {
        let [client, _] = testbed.hosts();
        let stack = stack(client, mode);
        let mut random = Random::new(7);
        for family in 0..2 {
            let [near, far] = connect(testbed, family);
            let far = echo(far);
            let mut socket = stack.adopt_tcp(near).unwrap();
            let mut position = 0;
            for _ in 0..CYCLES {
                take_over(client, &mut socket);
                let rounds = random.below(6) as usize;
                let length = 1 + random.below(3_000) as usize;
                ping_pong(&mut socket, &mut position, rounds, length);
                // The answer is on its way during the handback.
                send_all(&mut socket, &bytes(position, 100));
                socket.hand_back().unwrap();
                expect(&mut socket, position, 100);
                position += 100;
            }
            drop(socket);
            assert_eq!(far.join().unwrap(), position);
        }
        let counters = stack.tcp_counters();
        assert_eq!((counters.taken_over, counters.handed_back), (2 * CYCLES, 2 * CYCLES));
    });
}

/// One direction of a stream: what was sent and what has arrived.
#[derive(Default)]
struct Stream {
    sent: u64,
    received: u64,
}

/// Sends what is accepted. Returns the number of bytes.
fn push_to(socket: &mut TcpSocket, bytes: &[u8]) -> u64 {
    match socket.send(bytes) {
        Ok(count) => count as u64,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
            0
        }
    }
}

fn push(socket: &mut TcpSocket, stream: &mut Stream, length: usize) {
    stream.sent += push_to(socket, &bytes(stream.sent, length));
}

/// Receives what has arrived, and checks it by position.
fn pull_from(socket: &mut TcpSocket, position: &mut u64) {
    let received = socket.receive(|bytes| {
        for &found in bytes {
            assert_eq!(found, byte(*position), "at {position}");
            *position += 1;
        }
    });
    match received {
        Ok(count) => assert!(count > 0, "end of the stream at {position}"),
        Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
    }
}

fn pull(socket: &mut TcpSocket, stream: &mut Stream) {
    pull_from(socket, &mut stream.received);
}

/// Both ends send at once. At random moments one of them stops until its connection is taken over,
/// or hands it back with bytes in flight. Returns the longest time without a new byte.
fn stream_both_ways(
    hosts: &[Host; 2],
    sockets: &mut [TcpSocket; 2],
    random: &mut Random,
    cycles: u64,
) -> Duration {
    let mut streams = [Stream::default(), Stream::default()];
    let (mut handbacks, mut longest, mut last) = (0, Duration::ZERO, Instant::now());
    let (mut wanted, mut arrived) = ([true; 2], 0);
    while handbacks < cycles {
        for end in 0..2 {
            let wants = wanted[end] && !sockets[end].is_bypassing();
            if wants {
                wanted[end] = hosts[end].run(|| sockets[end].take_over()).unwrap().is_err();
            } else if random.below(40) == 0 {
                if sockets[end].is_bypassing() {
                    sockets[end].hand_back().unwrap();
                    handbacks += 1;
                }
                wanted[end] = true;
            } else if streams[end].sent - streams[end].received < 40_000 && !wanted[1 - end] {
                push(&mut sockets[end], &mut streams[end], 1 + random.below(4_000) as usize);
            }
            pull(&mut sockets[end], &mut streams[1 - end]);
        }
        let sum = streams.iter().map(|stream| stream.received).sum();
        let in_flight = streams.iter().any(|stream| stream.sent > stream.received);
        if sum != arrived || !in_flight {
            (arrived, last) = (sum, Instant::now());
        }
        longest = longest.max(last.elapsed());
        assert!(longest < TIMEOUT, "no byte for {longest:?}");
    }
    for end in 0..2 {
        expect_rest(sockets, &mut streams, end);
    }
    longest
}

fn expect_rest(sockets: &mut [TcpSocket; 2], streams: &mut [Stream; 2], end: usize) {
    let start = Instant::now();
    while streams[end].received < streams[end].sent {
        pull(&mut sockets[1 - end], &mut streams[end]);
        pull(&mut sockets[end], &mut streams[1 - end]);
        assert!(start.elapsed() < TIMEOUT, "the rest is missing");
    }
}

fn stream_between(testbed: &Testbed, mode: Mode, cycles: u64) {
    let hosts = testbed.hosts();
    let stacks = [stack(&hosts[0], mode), stack(&hosts[1], mode)];
    let mut random = Random::new(11);
    for family in 0..2 {
        let [near, far] = connect(testbed, family);
        let mut sockets = [stacks[0].adopt_tcp(near).unwrap(), stacks[1].adopt_tcp(far).unwrap()];
        let longest = stream_both_ways(hosts, &mut sockets, &mut random, cycles);
        println!("{mode:?}, family {family}: {cycles} handbacks, longest stall {longest:?}");
    }
    println!("{:?}", stacks[0].tcp_counters());
}

#[test]
#[ignore = "needs root"]
fn streams_survive_handbacks_of_both_ends_with_bytes_in_flight() {
    each_configuration(|testbed, mode| stream_between(testbed, mode, scaled(100)));
}

#[test]
#[ignore = "needs root"]
fn streams_survive_handbacks_over_a_lossy_link() {
    let faults = Faults { loss: Chance::percent(1), ..Faults::NONE };
    for mode in MODES {
        let relay = RelaySettings::seeded(7)
            .with(Direction::FirstToSecond, faults)
            .with(Direction::SecondToFirst, faults);
        let builder = Testbed::builder().ipv6().offloads(Offloads::OFF).relay(relay);
        stream_between(&builder.build().unwrap(), mode, scaled(50));
    }
}
