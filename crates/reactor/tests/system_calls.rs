//! The system calls of a loop in steady state, as seen by strace.
//!
//! This program runs itself under strace. `traced_loop` and `traced_ping` are the loops, between
//! two marks in the trace. They do nothing unless an environment variable selects a wait.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::process::{Command, Stdio};

use hairpin_endpoint::{Receive, Stream, TcpOptions, TcpStream, Transmit, UdpOptions, UdpReceiver};
use hairpin_host::{Clock, name_thread};
use hairpin_reactor::{Interest, Reactor, Timers, Wait};
use hairpin_time::Duration;

const ANY_PORT: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
const WAIT_VARIABLE: &str = "HAIRPIN_TRACED_WAIT";
const BEGIN: &str = "steady-begin";
const END: &str = "steady-end";
const TICKS: usize = 100;

/// The calls made between the marks, by name: their number, and how many of them returned EAGAIN.
type Calls = BTreeMap<String, (usize, usize)>;

#[test]
fn poll_makes_its_call_and_no_empty_read() {
    check(Wait::Poll, &["ppoll", "recvmmsg", "recvfrom", "sendto"], false);
}

#[test]
fn epoll_makes_its_call_and_no_empty_read() {
    check(Wait::Epoll, &["epoll_pwait2", "recvmmsg", "recvfrom", "sendto"], false);
}

#[test]
fn block_makes_only_reads_and_writes() {
    check(Wait::Block, &["recvmmsg", "recvfrom", "sendto"], true);
}

#[test]
fn spin_makes_only_reads_and_writes() {
    check(Wait::Spin, &["recvmmsg", "recvfrom", "sendto"], true);
}

#[test]
fn io_uring_makes_its_call_and_no_read() {
    check(Wait::IoUring, &["io_uring_enter", "sendto"], false);
}

#[test]
fn ping_is_one_send_and_one_receive() {
    for (wait, own) in
        [(Wait::Poll, "ppoll"), (Wait::Epoll, "epoll_pwait2"), (Wait::IoUring, "io_uring_enter")]
    {
        let Some(calls) = traced("traced_ping", wait) else { continue };
        println!("{wait}: {calls:?}");
        let by_request = wait == Wait::IoUring;
        assert!(calls.keys().all(|name| [own, "sendto", "recvmsg"].contains(&name.as_str())));
        assert_eq!(calls["sendto"], (TICKS, 0), "{wait}");
        let reads = if by_request { None } else { Some(&(TICKS, 0)) };
        assert_eq!(calls.get("recvmsg"), reads, "{wait}");
    }
    for wait in [Wait::Block, Wait::Spin] {
        let Some(calls) = traced("traced_ping", wait) else { continue };
        println!("{wait}: {calls:?}");
        assert_eq!(calls.len(), 2, "{wait}: a send and receives");
        assert_eq!(calls["sendto"], (TICKS, 0), "{wait}");
        let (count, empty) = calls["recvmsg"];
        assert_eq!(count - empty, TICKS, "{wait}");
    }
}

fn traced(test: &str, wait: Wait) -> Option<Calls> {
    if let Err(reason) = wait.probe() {
        println!("skipped: {reason}");
        return None;
    }
    let calls = trace(test, wait);
    if calls.is_none() {
        println!("skipped: strace is not installed or must not trace");
    }
    calls
}

fn check(wait: Wait, allowed: &[&str], may_return_eagain: bool) {
    let Some(calls) = traced("traced_loop", wait) else { return };
    println!("{wait}: {TICKS} ticks, {TICKS} orders, {TICKS} acknowledgments");
    for (name, (count, empty)) in &calls {
        println!("{count:>8} {name} ({empty} EAGAIN)");
        assert!(allowed.contains(&name.as_str()), "{wait} calls {name}");
        assert!(may_return_eagain || *empty == 0, "{wait} calls {name} without data");
    }
    assert_eq!(calls["sendto"], (TICKS, 0), "{wait}: one call per order");
    let reads: usize = ["recvmmsg", "recvfrom"]
        .iter()
        .filter_map(|&name| calls.get(name))
        .map(|call| call.0)
        .sum();
    assert!(reads <= 2 * TICKS || may_return_eagain, "{wait}: {reads} reads");
}

/// Runs a test of this program under strace and counts its thread's calls between the marks.
fn trace(test: &str, wait: Wait) -> Option<Calls> {
    let name = format!("hairpin-{}-{test}-{wait}.strace", std::process::id());
    let output = std::env::temp_dir().join(name);
    let status = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(&output)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(WAIT_VARIABLE, wait.name())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let text = std::fs::read_to_string(&output);
    let _ = std::fs::remove_file(&output);
    let text = text.ok().filter(|text| text.contains(BEGIN))?;
    assert!(status.ok()?.success(), "the traced loop failed:\n{text}");
    Some(count_calls(&text))
}

/// Counts the calls in a trace. Lines are `<thread> <call>(<arguments>) = <result>`. A call
/// interrupted by another thread's line is split into `... <unfinished ...>` and `<thread> <...
/// <call> resumed> ...`.
fn count_calls(text: &str) -> Calls {
    let lines = || text.lines().filter_map(|line| line.split_once(' '));
    let (thread, _) = lines().find(|(_, call)| call.contains(BEGIN)).unwrap();
    let mut calls = Calls::new();
    lines()
        .filter(|&(other, _)| other == thread)
        .map(|(_, call)| call.trim_start())
        .skip_while(|call| !call.contains(BEGIN))
        .skip(1)
        .take_while(|call| !call.contains(END))
        .for_each(|call| {
            let is_rest = call.starts_with("<... ");
            let name = call.trim_start_matches("<... ").split(['(', ' ']).next().unwrap();
            let counts = calls.entry(name.to_owned()).or_default();
            counts.0 += usize::from(!is_rest);
            counts.1 += usize::from(call.contains("= -1 EAGAIN"));
        });
    // The rest of a call that began before the mark is not counted.
    calls.retain(|_, (count, _)| *count > 0);
    calls
}

#[test]
fn counts_calls_of_one_thread_between_marks() {
    let trace = "\
        7  prctl(PR_SET_NAME, \"other\") = 0\n\
        8  close(3) = 0\n\
        8  prctl(PR_SET_NAME, \"steady-begin\" <unfinished ...>\n\
        8  <... prctl resumed>) = 0\n\
        8  recvmmsg(3,  <unfinished ...>\n\
        7  close(9) = 0\n\
        8  <... recvmmsg resumed>[], 32, 0, NULL) = -1 EAGAIN (Resource temporarily unavailable)\n\
        8  sendto(4, \"x\", 1, 0, NULL, 0) = 1\n\
        8  prctl(PR_SET_NAME, \"steady-end\") = 0\n\
        8  munmap(0, 0) = 0\n";
    let expected = [("recvmmsg".to_owned(), (1, 1)), ("sendto".to_owned(), (1, 0))];
    assert_eq!(count_calls(trace), expected.into());
}

/// A minimal trader: each UDP tick is answered with an order over TCP, which is acknowledged.
#[test]
fn traced_loop() {
    let Some(wait) = std::env::var_os(WAIT_VARIABLE) else { return };
    let wait: Wait = wait.to_str().unwrap().parse().unwrap();
    let mut feed = UdpReceiver::bind(ANY_PORT, UdpOptions::default()).unwrap();
    let listener = std::net::TcpListener::bind(ANY_PORT).unwrap();
    let SocketAddr::V4(gateway) = listener.local_addr().unwrap() else { panic!() };
    let mut session = TcpStream::connect(gateway, TcpOptions::default()).unwrap();
    let (peer, _) = listener.accept().unwrap();
    while !session.finish_connect().unwrap() {}

    let mut reactor = Reactor::new(wait).unwrap();
    let feed_token = reactor.add(&mut feed, Interest::READABLE).unwrap();
    let session_token = reactor.add(&mut session, Interest::READABLE).unwrap();
    let mut clock = Clock::new();
    let mut now = clock.now();
    let mut timers = Timers::new();
    let timer = timers.add();
    let feed_address = feed.local_address();
    // The first iteration starts the ring.
    reactor.wait(now.monotonic, Some(now.monotonic)).unwrap();
    let exchange = std::thread::spawn(move || run_exchange(feed_address, peer));

    let (mut ticks, mut acknowledgements) = (0, 0);
    name_thread(BEGIN).unwrap();
    while acknowledgements < TICKS {
        if timers.next().is_none() {
            timers.arm(timer, now.monotonic + Duration::from_millis(100));
        }
        let ready = reactor.wait(now.monotonic, timers.next()).unwrap();
        now = clock.now();
        if ready.is_readable(feed_token) {
            ticks += feed
                .receive(64, |_, _| {
                    session.transmit(8, |order| order.fill(1)).unwrap();
                })
                .unwrap()
                .count;
        }
        if ready.is_readable(session_token) {
            session.receive(64, |_, bytes| acknowledgements += bytes.len()).unwrap();
        }
        while timers.expired(now.monotonic).is_some() {}
        clock.recalibrate_if_due(now.monotonic);
    }
    name_thread(END).unwrap();
    assert_eq!(ticks, TICKS);
    exchange.join().unwrap();
}

fn run_exchange(feed: SocketAddrV4, mut session: std::net::TcpStream) {
    session.set_nodelay(true).unwrap();
    let sender = UdpSocket::bind(ANY_PORT).unwrap();
    let mut order = [0; 8];
    for _ in 0..TICKS {
        sender.send_to(b"tick", feed).unwrap();
        session.read_exact(&mut order).unwrap();
        session.write_all(&[1]).unwrap();
        std::thread::sleep(std::time::Duration::from_micros(500));
    }
}

/// Sends one UDP request at a time, answered later by another thread.
#[test]
fn traced_ping() {
    let Some(wait) = std::env::var_os(WAIT_VARIABLE) else { return };
    let wait: Wait = wait.to_str().unwrap().parse().unwrap();
    let pong = UdpSocket::bind(ANY_PORT).unwrap();
    let SocketAddr::V4(address) = pong.local_addr().unwrap() else { panic!() };
    let options = UdpOptions { batch: 1, ..UdpOptions::default() };
    let mut ping = hairpin_endpoint::UdpSocket::connect(ANY_PORT, address, options).unwrap();
    let mut reactor = Reactor::new(wait).unwrap();
    let token = reactor.add(&mut ping, Interest::READABLE).unwrap();
    let clock = Clock::new();
    let mut now = clock.now();
    // The first turn is when a ring is started.
    reactor.wait(now.monotonic, Some(now.monotonic)).unwrap();
    let answering = std::thread::spawn(move || run_pong(&pong));

    let (mut asked, mut answered) = (0, 0);
    name_thread(BEGIN).unwrap();
    while answered < TICKS {
        if asked == answered {
            ping.transmit(8, |request| request.fill(1)).unwrap();
            asked += 1;
        }
        let deadline = now.monotonic + Duration::from_millis(100);
        let ready = reactor.wait(now.monotonic, Some(deadline)).unwrap();
        now = clock.now();
        if ready.is_readable(token) {
            answered += ping.receive(1, |_, _| {}).unwrap().count;
        }
    }
    name_thread(END).unwrap();
    answering.join().unwrap();
}

fn run_pong(socket: &UdpSocket) {
    let mut request = [0; 8];
    for _ in 0..TICKS {
        let (length, client) = socket.recv_from(&mut request).unwrap();
        std::thread::sleep(std::time::Duration::from_micros(500));
        socket.send_to(&request[..length], client).unwrap();
    }
}
