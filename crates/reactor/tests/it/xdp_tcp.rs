//! Kernel-bypass connections under every wait, between two hosts. Needs root.

use std::io;
use std::net::SocketAddrV4;

use crate::supported_waits::supported;
use hairpin_endpoint::xdp::{InterfaceSettings, Mode, Stack, StackSettings, TcpCounters};
use hairpin_endpoint::{Receive, Stream, TcpListener, TcpOptions, TcpStream, Transmit, Transport};
use hairpin_host::Clock;
use hairpin_reactor::{Interest, Reactor, Ready, Token, Wait};
use hairpin_testbed::{Host, Offloads, Queues, Testbed};
use hairpin_time::Duration;

/// The longest wait before a test fails.
const TIMEOUT: Duration = Duration::from_secs(300);

fn two_hosts() -> Testbed {
    Testbed::builder().queues(Queues::pairs(1)).offloads(Offloads::OFF).build().unwrap()
}

fn open(host: &Host, mode: Mode) -> Stack {
    let interface = InterfaceSettings { mode, ..InterfaceSettings::default() };
    let settings = StackSettings { interface, strict: true, ..StackSettings::default() };
    host.run(|| Stack::open(host.interface(), &settings).unwrap()).unwrap()
}

/// Both ends of a connection in one reactor.
struct Ends {
    reactor: Reactor,
    streams: [TcpStream; 2],
    tokens: [Token; 2],
}

impl Ends {
    /// Connects the first host to the second, and waits for both in the reactor.
    fn connect(wait: Wait, hosts: &[Host; 2], transports: [&Transport; 2]) -> Self {
        let mut reactor = Reactor::new(wait).unwrap();
        let address = SocketAddrV4::new(hosts[1].address(), 0);
        let listen = || TcpListener::bind_with(transports[1], address).unwrap();
        let mut listener = hosts[1].run(listen).unwrap();
        let listening = reactor.add(&mut listener, Interest::READABLE).unwrap();
        let (remote, options) = (listener.local_address(), TcpOptions::default());
        let connect = || TcpStream::connect_with(transports[0], remote, options).unwrap();
        let mut near = hosts[0].run(connect).unwrap();
        let connecting = reactor.add(&mut near, Interest::WRITABLE).unwrap();
        let mut far = None;
        wait_until(&mut reactor, |ready| {
            if ready.is_readable(listening) && far.is_none() {
                far = listener.accept(options).unwrap();
            }
            ready.is_writable(connecting) && near.finish_connect().unwrap() && far.is_some()
        });
        reactor.remove(listening, &mut listener).unwrap();
        reactor.set_interest(connecting, &near, Interest::READABLE).unwrap();
        let mut far = far.unwrap();
        let accepted = reactor.add(&mut far, Interest::READABLE).unwrap();
        Self { reactor, streams: [near, far], tokens: [connecting, accepted] }
    }

    fn close(mut self) {
        for (token, mut stream) in self.tokens.into_iter().zip(self.streams) {
            self.reactor.remove(token, &mut stream).unwrap();
        }
    }
}

/// Waits for up to a minute, half a second at a time, until `is_over`. A source that is not
/// reported fails the test.
fn wait_until(reactor: &mut Reactor, mut is_over: impl FnMut(Ready) -> bool) {
    let clock = Clock::from_kernel();
    let end = clock.instant() + TIMEOUT;
    loop {
        let now = clock.instant();
        assert!(now < end, "{}: timed out", reactor.kind());
        if is_over(reactor.wait(now, Some(now + Duration::from_millis(500))).unwrap()) {
            return;
        }
    }
}

/// Runs a test under every wait in both modes, with kernel bypass at the first end or at both.
fn each_configuration(test: impl Fn(Wait, &mut Ends)) -> TcpCounters {
    let testbed = two_hosts();
    let hosts = testbed.hosts();
    let mut counters = TcpCounters::default();
    for mode in [Mode::Native, Mode::Generic] {
        let stacks = [open(&hosts[0], mode), open(&hosts[1], mode)];
        let [near, far] = stacks.clone().map(Transport::Xdp);
        for wait in supported(Wait::ALL) {
            for far in [&Transport::Kernel, &far] {
                let mut ends = Ends::connect(wait, hosts, [&near, far]);
                test(wait, &mut ends);
                ends.close();
            }
        }
        counters = stacks[0].tcp_counters();
        assert_eq!(counters.bypassing, 0, "{counters:?}");
    }
    counters
}

/// Exchanges one message and its echo.
fn exchange(Ends { reactor, streams, tokens }: &mut Ends, number: u32) {
    for end in 0..2 {
        let message = number.to_be_bytes();
        streams[end].transmit(4, |bytes| bytes.copy_from_slice(&message)).unwrap();
        let (other, mut received) = (1 - end, Vec::new());
        wait_until(reactor, |ready| {
            if ready.is_readable(tokens[other]) {
                let keep = |_, bytes: &[u8]| received.extend_from_slice(bytes);
                streams[other].receive(8, keep).unwrap();
            }
            received.len() >= 4
        });
        assert_eq!(received, message);
    }
}

/// Exchanges messages until the first end is taken over again. A busy machine may hold the exchange
/// up so long that it is handed back in between.
fn exchange_until_bypassing(wait: Wait, ends: &mut Ends) {
    let clock = Clock::from_kernel();
    let end = clock.instant() + TIMEOUT;
    while !ends.streams[0].is_bypassing() {
        let handback = ends.streams[0].last_handback();
        assert!(clock.instant() < end, "{wait}: {handback:?}");
        exchange(ends, 7);
    }
}

#[test]
#[ignore = "needs root"]
fn waits_carry_requests_through_handbacks() {
    let counters = each_configuration(|wait, ends| {
        for burst in 0..2 {
            (0..50).for_each(|number| exchange(ends, burst * 100 + number));
            // Nothing is received meanwhile, so the stack's thread hands the connection back.
            let clock = Clock::from_kernel();
            let end = clock.instant() + TIMEOUT;
            while ends.streams[0].is_bypassing() {
                let now = clock.instant();
                assert!(now < end, "{wait}: no handback");
                let soon = Some(now + Duration::from_millis(20));
                let ready = ends.reactor.wait(now, soon).unwrap();
                let selects = matches!(wait, Wait::Poll | Wait::Epoll | Wait::IoUring);
                // A frame of the peer's handback may be reported.
                for (token, stream) in ends.tokens.iter().zip(&mut ends.streams) {
                    if selects && ready.is_readable(*token) {
                        assert_eq!(stream.receive(8, |_, _| {}).unwrap().count, 0);
                    }
                }
            }
        }
        (0..50).for_each(|number| exchange(ends, number));
        exchange_until_bypassing(wait, ends);
    });
    assert!(counters.abandoned > 0, "{counters:?}");
}

#[test]
#[ignore = "needs root"]
fn waits_wake_blocked_thread_after_handback() {
    each_configuration(|wait, ends| {
        (0..20).for_each(|number| exchange(ends, number));
        let Ends { reactor, streams: [near, far], tokens: [token, _] } = ends;
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(250));
                far.transmit(4, |bytes| bytes.fill(7)).unwrap();
            });
            let mut received = 0;
            wait_until(reactor, |ready| {
                if ready.is_readable(*token) {
                    received +=
                        near.receive(8, |_, bytes| assert_eq!(bytes, [7; 4])).unwrap().count;
                }
                received > 0
            });
            sender.join().unwrap();
        });
        exchange_until_bypassing(wait, ends);
    });
}

/// The byte of a stream at a position.
fn byte(at: usize) -> u8 {
    (at ^ at >> 8 ^ at >> 16) as u8
}

#[test]
#[ignore = "needs root"]
fn waits_report_room_for_partial_writes() {
    const LENGTH: usize = 3_000_000;
    each_configuration(|wait, ends| {
        let Ends { reactor, streams: [near, far], tokens: [sending, receiving] } = ends;
        let (mut sent, mut received, mut partial) = (0, 0, 0);
        let clock = Clock::from_kernel();
        let end = clock.instant() + TIMEOUT;
        reactor.set_interest(*sending, near, Interest::BOTH).unwrap();
        while received < LENGTH {
            let now = clock.instant();
            assert!(now < end, "{wait}: {sent} sent, {received} received");
            let ready = reactor.wait(now, Some(now + Duration::from_millis(500))).unwrap();
            if ready.is_writable(*sending) && sent < LENGTH {
                let block: Vec<u8> = (sent..LENGTH.min(sent + 200_000)).map(byte).collect();
                match near.write(&block) {
                    Ok(count) => {
                        partial += u32::from(count < block.len());
                        sent += count;
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => partial += 1,
                    Err(error) => panic!("{wait}: {error}"),
                }
                let interest = if sent < LENGTH { Interest::WRITABLE } else { Interest::READABLE };
                reactor.set_interest(*sending, near, interest).unwrap();
            }
            if ready.is_readable(*receiving) {
                let check = |_, bytes: &[u8]| {
                    for &found in bytes {
                        assert_eq!(found, byte(received), "{wait}: at {received}");
                        received += 1;
                    }
                };
                far.receive(32, check).unwrap();
            }
        }
        assert!(partial > 0, "{wait}");
    });
}
