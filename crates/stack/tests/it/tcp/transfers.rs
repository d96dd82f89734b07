//! Transfers of many lengths, both ways at once, with a peer of the kernel.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::LazyLock;
use std::thread::JoinHandle;
use std::time::Instant;

use hairpin_stack::{Mode, Stack, TcpSocket};
use hairpin_testbed::{Host, scaled};

use super::{byte, connect, each_configuration, take_over, testbed};
use crate::support::{MODES, TIMEOUT, stack};

/// The bytes of [`byte`] repeat after so many.
const PERIOD: u64 = 1 << 24;
/// The longest read or write.
const CHUNK: usize = 64 << 10;

/// The bytes of a stream, for comparison in chunks.
static PATTERN: LazyLock<Pattern> =
    LazyLock::new(|| Pattern((0..PERIOD + CHUNK as u64).map(byte).collect()));

struct Pattern(Vec<u8>);

impl Pattern {
    fn slice(&self, at: u64, length: usize) -> &[u8] {
        let start = (at % PERIOD) as usize;
        &self.0[start..start + length]
    }

    fn check(&self, at: &mut u64, bytes: &[u8]) {
        for chunk in bytes.chunks(CHUNK) {
            assert!(self.slice(*at, chunk.len()) == chunk, "a wrong byte after {at}");
            *at += chunk.len() as u64;
        }
    }
}

/// Sends and receives `length` bytes with the kernel, each on a thread of its own. The second
/// thread also expects the end of the stream.
fn kernel_peer(stream: &TcpStream, length: u64) -> [JoinHandle<()>; 2] {
    let (mut reader, mut writer) = (stream.try_clone().unwrap(), stream.try_clone().unwrap());
    let writing = std::thread::spawn(move || {
        let mut sent = 0;
        while sent < length {
            let count = (length - sent).min(CHUNK as u64) as usize;
            writer.write_all(PATTERN.slice(sent, count)).unwrap();
            sent += count as u64;
        }
    });
    let reading = std::thread::spawn(move || {
        let (mut received, mut buffer) = (0, vec![0; CHUNK]);
        loop {
            match reader.read(&mut buffer).unwrap() {
                0 => return assert_eq!(received, length),
                count => PATTERN.check(&mut received, &buffer[..count]),
            }
        }
    });
    [writing, reading]
}

/// Sends and receives `length` bytes, and takes the connection over whenever it is quiet.
fn exchange(socket: &mut TcpSocket, length: u64) {
    let (mut sent, mut received, mut turn) = (0, 0, 0_u64);
    let mut last = Instant::now();
    while sent < length || received < length {
        let before = sent + received;
        if sent < length {
            let count = (length - sent).min(CHUNK as u64 / 4) as usize;
            match socket.send(PATTERN.slice(sent, count)) {
                Ok(count) => sent += count as u64,
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
            }
        }
        match socket.receive(|bytes| PATTERN.check(&mut received, bytes)) {
            Ok(count) => assert!(count > 0, "end of the stream after {received}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
        if sent + received > before {
            last = Instant::now();
        }
        turn += 1;
        if turn.is_multiple_of(100) && !socket.is_bypassing() {
            // Usually bytes are in flight.
            let _ = socket.take_over();
        }
        assert!(last.elapsed() < TIMEOUT, "sent {sent}, received {received} of {length}");
    }
}

/// Transfers `length` bytes in each direction; our end has connected or was accepted.
fn transfer(host: &Host, stack: &Stack, ends: [TcpStream; 2], length: u64) {
    let [ours, theirs] = ends;
    let mut socket = stack.adopt_tcp(ours).unwrap();
    take_over(host, &mut socket);
    let peer = kernel_peer(&theirs, length);
    exchange(&mut socket, length);
    drop(socket);
    for thread in peer {
        thread.join().unwrap();
    }
}

#[test]
#[ignore = "needs root"]
fn bytes_of_both_directions_arrive_as_client_and_as_server() {
    each_configuration(|testbed, mode| {
        let stacks = testbed.hosts().each_ref().map(|host| stack(host, mode));
        for family in 0..2 {
            for length in [1, 1_000, 70_000, 2_000_000] {
                for (host, stack) in testbed.hosts().iter().zip(&stacks) {
                    let [client, server] = connect(testbed, family);
                    let is_client = std::ptr::eq(host, &testbed.hosts()[0]);
                    let ends = if is_client { [client, server] } else { [server, client] };
                    transfer(host, stack, ends, length);
                }
            }
        }
    });
}

/// With `HAIRPIN_TEST_SCALE=64`, a gibibyte in each direction.
#[test]
#[ignore = "needs root"]
fn long_transfers_both_ways_arrive() {
    let length = scaled(16 << 20);
    for mode in MODES {
        let testbed = testbed(1);
        let [ours, _] = testbed.hosts();
        let stack = stack(ours, mode);
        let start = Instant::now();
        transfer(ours, &stack, connect(&testbed, 0), length);
        let counters = stack.tcp_counters();
        print_rate(mode, length, start, &counters);
        assert_eq!(counters.taken_over, counters.handed_back, "{counters:?}");
    }
}

fn print_rate(mode: Mode, length: u64, start: Instant, counters: &hairpin_stack::TcpCounters) {
    let rate = length as f64 / start.elapsed().as_secs_f64() / 1e6;
    let (taken, back) = (counters.taken_over, counters.handed_back);
    println!("{mode:?}: {length} bytes in each direction, {rate:.0} MB/s each way,");
    println!("  {taken} takeovers, {back} handbacks");
}
