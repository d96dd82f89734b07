//! Every wait on the loopback interface.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::unix::thread::JoinHandleExt;

use crate::supported_waits::supported;
use hairpin_endpoint::{
    Receive, Stream, TcpListener, TcpOptions, TcpStream, Transmit, UdpOptions, UdpReceiver,
    UdpSender,
};
use hairpin_host::Clock;
use hairpin_reactor::{Interest, Reactor, Ready, Token, Wait};
use hairpin_time::{Duration, Instant};

const ANY_PORT: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
/// The waits that know which source is ready. The others try all sources.
const SELECTIVE: [Wait; 3] = [Wait::Poll, Wait::Epoll, Wait::IoUring];

fn udp() -> (UdpReceiver, UdpSender) {
    let receiver = UdpReceiver::bind(ANY_PORT, UdpOptions::default()).unwrap();
    let sender = UdpSender::connect(receiver.local_address(), Ipv4Addr::LOCALHOST).unwrap();
    (receiver, sender)
}

/// Waits for up to a minute, a few milliseconds at a time, until `is_over`.
fn wait_until(reactor: &mut Reactor, mut is_over: impl FnMut(Ready) -> bool) {
    let clock = Clock::from_kernel();
    let end = clock.instant() + Duration::from_secs(60);
    loop {
        let now = clock.instant();
        assert!(now < end, "{}: timed out", reactor.kind());
        if is_over(reactor.wait(now, Some(now + Duration::from_millis(5))).unwrap()) {
            return;
        }
    }
}

fn count(receiver: &mut impl Receive) -> usize {
    receiver.receive(64, |_, _| {}).unwrap().count
}

#[test]
fn waits_report_each_source() {
    for wait in supported(Wait::ALL) {
        let mut reactor = Reactor::new(wait).unwrap();
        let mut ends: Vec<(UdpReceiver, UdpSender)> = (0..3).map(|_| udp()).collect();
        let tokens: Vec<Token> = ends
            .iter_mut()
            .map(|(receiver, _)| reactor.add(receiver, Interest::READABLE).unwrap())
            .collect();
        for index in [0, 1, 2, 1] {
            ends[index].1.transmit(1, |_| {}).unwrap();
            let mut seen = [0; 3];
            wait_until(&mut reactor, |ready| {
                for (source, (receiver, _)) in ends.iter_mut().enumerate() {
                    if ready.is_readable(tokens[source]) {
                        seen[source] += count(receiver);
                    }
                }
                seen[index] == 1
            });
            assert_eq!(seen.iter().sum::<usize>(), 1, "{wait}");
        }
    }
}

#[test]
fn selective_waits_report_source_until_drained() {
    for wait in supported(SELECTIVE) {
        let mut reactor = Reactor::new(wait).unwrap();
        let (mut quiet, _sender) = udp();
        let (mut busy, mut sender) = udp();
        let quiet_token = reactor.add(&mut quiet, Interest::READABLE).unwrap();
        let busy_token = reactor.add(&mut busy, Interest::READABLE).unwrap();
        sender.transmit(1, |_| {}).unwrap();
        for _ in 0..2 {
            let ready = reactor.wait(Instant::ZERO, None).unwrap();
            assert!(ready.is_readable(busy_token) && !ready.is_readable(quiet_token), "{wait}");
            assert!(!ready.is_writable(busy_token), "{wait}");
        }
        assert_eq!(count(&mut busy), 1);
        assert!(reactor.wait(Instant::ZERO, Some(Instant::ZERO)).unwrap().is_empty(), "{wait}");
    }
}

#[test]
fn waits_end_at_deadline() {
    let clock = Clock::from_kernel();
    for wait in supported(Wait::ALL) {
        let mut reactor = Reactor::new(wait).unwrap();
        let (mut receiver, _sender) = udp();
        let _ = reactor.add(&mut receiver, Interest::READABLE).unwrap();
        let deadline = clock.instant() + Duration::from_micros(2_500);
        // A wait that begins after the deadline counts too: the machine may hold the test up.
        let mut iterations = 0_u64;
        while iterations == 0 || clock.instant() < deadline {
            reactor.wait(clock.instant(), Some(deadline)).unwrap();
            assert_eq!(count(&mut receiver), 0);
            iterations += 1;
        }
        if SELECTIVE.contains(&wait) {
            assert_eq!(iterations, 1, "{wait}: one call must last until the deadline");
        }
    }
}

#[test]
fn passed_deadline_does_not_wait() {
    // A wait here would block without limit: nothing is sent, and there is no other deadline.
    for wait in supported(Wait::ALL) {
        let mut reactor = Reactor::new(wait).unwrap();
        for deadline in [Instant::from_nanos(5), Instant::from_nanos(10)] {
            reactor.wait(Instant::from_nanos(10), Some(deadline)).unwrap();
        }
    }
    let mut reactor = Reactor::new(Wait::Block).unwrap();
    let (mut receiver, mut sender) = udp();
    let _ = reactor.add(&mut receiver, Interest::READABLE).unwrap();
    reactor.wait(Instant::from_nanos(10), Some(Instant::from_nanos(10))).unwrap();
    sender.transmit(1, |_| {}).unwrap();
    // If it had blocked, this receive would return the result of that wait: no data.
    assert_eq!(count(&mut receiver), 1);
}

#[test]
fn blocking_wait_delivers_received_data() {
    let mut reactor = Reactor::new(Wait::Block).unwrap();
    let (mut receiver, mut sender) = udp();
    let token = reactor.add(&mut receiver, Interest::READABLE).unwrap();
    let mut sent = 0_u8;
    let mut seen = Vec::new();
    wait_until(&mut reactor, |ready| {
        assert!(ready.is_readable(token));
        receiver.receive(64, |_, bytes| seen.push(bytes[0])).unwrap();
        if sent < 20 {
            sent += 1;
            sender.transmit(1, |bytes| bytes[0] = sent).unwrap();
        }
        seen.len() == 20
    });
    assert_eq!(seen, (1..=20).collect::<Vec<u8>>());
}

#[test]
fn waits_report_connection_and_its_end() {
    for wait in supported(Wait::ALL) {
        let mut reactor = Reactor::new(wait).unwrap();
        let mut listener = TcpListener::bind(ANY_PORT).unwrap();
        let listening = reactor.add(&mut listener, Interest::READABLE).unwrap();
        let mut client =
            TcpStream::connect(listener.local_address(), TcpOptions::default()).unwrap();
        let connecting = reactor.add(&mut client, Interest::WRITABLE).unwrap();
        let mut server = None;
        wait_until(&mut reactor, |ready| {
            if ready.is_readable(listening) && server.is_none() {
                server = listener.accept(TcpOptions::default()).unwrap();
            }
            assert!(!ready.is_readable(connecting), "{wait}");
            ready.is_writable(connecting) && client.finish_connect().unwrap() && server.is_some()
        });
        reactor.set_interest(connecting, &client, Interest::READABLE).unwrap();
        drop(server);
        wait_until(&mut reactor, |ready| {
            assert!(!ready.is_writable(connecting), "{wait}");
            ready.is_readable(connecting) && client.receive(8, |_, _| {}).unwrap().closed
        });
    }
}

#[test]
fn waits_report_writable_stream() {
    for wait in supported(Wait::ALL) {
        let mut reactor = Reactor::new(wait).unwrap();
        let mut listener = TcpListener::bind(ANY_PORT).unwrap();
        let mut client =
            TcpStream::connect(listener.local_address(), TcpOptions::default()).unwrap();
        let token = reactor.add(&mut client, Interest::READABLE).unwrap();
        let _ = reactor.add(&mut listener, Interest::READABLE).unwrap();
        let mut server = None;
        wait_until(&mut reactor, |_| {
            server = server.take().or_else(|| listener.accept(TcpOptions::default()).unwrap());
            server.is_some() && client.finish_connect().unwrap()
        });
        let mut server = server.unwrap();
        let (mut sent, mut seen) = (0, 0);
        let block = vec![7; 1 << 20];
        wait_until(&mut reactor, |_| match client.write(&block) {
            Ok(count) => {
                sent += count;
                false
            }
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        });
        reactor.set_interest(token, &client, Interest::BOTH).unwrap();
        wait_until(&mut reactor, |ready| {
            server.receive(64, |_, bytes| seen += bytes.len()).unwrap();
            ready.is_writable(token) && client.write(b"x").is_ok()
        });
        assert!(sent > 0 && seen > 0, "{wait}");
    }
}

#[test]
fn source_without_interest_is_not_reported() {
    for wait in supported(SELECTIVE) {
        let mut reactor = Reactor::new(wait).unwrap();
        let listener = std::net::TcpListener::bind(ANY_PORT).unwrap();
        let std::net::SocketAddr::V4(address) = listener.local_addr().unwrap() else { panic!() };
        let mut client = TcpStream::connect(address, TcpOptions::default()).unwrap();
        let token = reactor.add(&mut client, Interest::WRITABLE).unwrap();
        wait_until(&mut reactor, |_| client.finish_connect().unwrap());
        reactor.set_interest(token, &client, Interest::NONE).unwrap();
        drop(listener.accept().unwrap());
        client.shutdown().unwrap();
        let clock = Clock::from_kernel();
        let deadline = clock.instant() + Duration::from_millis(5);
        let ready = reactor.wait(clock.instant(), Some(deadline)).unwrap();
        assert!(ready.is_empty() && clock.instant() >= deadline, "{wait}");
        reactor.set_interest(token, &client, Interest::READABLE).unwrap();
        wait_until(&mut reactor, |ready| ready.is_readable(token));
        assert!(client.receive(8, |_, _| {}).unwrap().closed);
    }
}

#[test]
fn removed_source_frees_its_token() {
    for wait in supported(Wait::ALL) {
        let mut reactor = Reactor::new(wait).unwrap();
        let (mut first, mut to_first) = udp();
        let (mut second, mut to_second) = udp();
        let removed = reactor.add(&mut first, Interest::READABLE).unwrap();
        let token = reactor.add(&mut second, Interest::READABLE).unwrap();
        reactor.remove(removed, &mut first).unwrap();
        to_first.transmit(1, |_| {}).unwrap();
        to_second.transmit(1, |_| {}).unwrap();
        // The block wait now blocks in the second source.
        wait_until(&mut reactor, |ready| {
            assert!(!ready.is_readable(removed), "{wait}");
            ready.is_readable(token) && count(&mut second) == 1
        });
        assert_eq!(count(&mut first), 1, "{wait}: a removed source must stay usable");
        assert_eq!(reactor.add(&mut first, Interest::READABLE).unwrap(), removed);
        to_first.transmit(1, |_| {}).unwrap();
        wait_until(&mut reactor, |ready| ready.is_readable(removed) && count(&mut first) == 1);
    }
}

#[test]
fn block_wait_uses_oldest_source() {
    let mut reactor = Reactor::new(Wait::Block).unwrap();
    let (mut removed, _sender) = udp();
    let (mut second, mut to_second) = udp();
    let (mut third, mut to_third) = udp();
    let removed_token = reactor.add(&mut removed, Interest::READABLE).unwrap();
    let second_token = reactor.add(&mut second, Interest::READABLE).unwrap();
    reactor.remove(removed_token, &mut removed).unwrap();
    let third_token = reactor.add(&mut third, Interest::READABLE).unwrap();
    assert_eq!(third_token, removed_token);
    // The source blocked in returns the result of the wait: no data. The other makes a system call.
    reactor.wait(Instant::ZERO, None).unwrap();
    to_second.transmit(1, |_| {}).unwrap();
    to_third.transmit(1, |_| {}).unwrap();
    assert_eq!((count(&mut second), count(&mut third)), (0, 1));
    assert_eq!(count(&mut second), 1);
    // A source without interest is skipped.
    reactor.set_interest(second_token, &second, Interest::NONE).unwrap();
    reactor.wait(Instant::ZERO, None).unwrap();
    to_second.transmit(1, |_| {}).unwrap();
    to_third.transmit(1, |_| {}).unwrap();
    assert_eq!((count(&mut second), count(&mut third)), (1, 0));
}

#[test]
fn signal_ends_wait_without_error() {
    extern "C" fn ignore(_signal: libc::c_int) {}
    // SAFETY: the action is all zeros except its handler, which does nothing; no SA_RESTART.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ignore as *const () as libc::sighandler_t;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()), 0);
    }
    for wait in supported([Wait::Block, Wait::Poll, Wait::Epoll, Wait::IoUring]) {
        let waiting = std::thread::spawn(move || {
            let mut reactor = Reactor::new(wait).unwrap();
            let (mut receiver, _sender) = udp();
            let _ = reactor.add(&mut receiver, Interest::READABLE).unwrap();
            reactor.wait(Instant::ZERO, None).unwrap();
            count(&mut receiver)
        });
        while !waiting.is_finished() {
            // SAFETY: the handle has not been joined, so its thread id is still valid.
            unsafe { libc::pthread_kill(waiting.as_pthread_t(), libc::SIGUSR1) };
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(waiting.join().unwrap(), 0, "{wait}");
    }
}

#[test]
fn streams_interoperate_with_std() {
    let listener = std::net::TcpListener::bind(ANY_PORT).unwrap();
    let std::net::SocketAddr::V4(address) = listener.local_addr().unwrap() else { panic!() };
    let mut reactor = Reactor::new(Wait::Epoll).unwrap();
    let mut client = TcpStream::connect(address, TcpOptions::default()).unwrap();
    let token = reactor.add(&mut client, Interest::READABLE).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    wait_until(&mut reactor, |_| client.finish_connect().unwrap());
    client.write(b"ping").unwrap();
    let mut bytes = [0; 4];
    server.read_exact(&mut bytes).unwrap();
    server.write_all(b"pong").unwrap();
    wait_until(&mut reactor, |ready| {
        let mut seen: Vec<u8> = Vec::new();
        ready.is_readable(token)
            && client.receive(1, |_, b| seen.extend(b)).is_ok()
            && seen == b"pong"
    });
}
