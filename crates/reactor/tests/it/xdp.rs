//! What comes past the kernel, under every wait: between two hosts, as root.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod available;
mod traffic;

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, Ordering};

use available::available;
use hairpin_endpoint::xdp::{Stack, StackSettings};
use hairpin_endpoint::{
    MulticastGroup, Receive, Transmit, Transport, UdpOptions, UdpReceiver, UdpSender, UdpSocket,
};
use hairpin_host::Clock;
use hairpin_reactor::{Interest, Reactor, Timers, Wait};
use hairpin_testbed::{Host, Offloads, Queues, Testbed};
use hairpin_time::{Duration, Instant};
use traffic::{Numbers, Seen, Traffic, turn_until};

const GROUPS: [SocketAddrV4; 2] = [
    SocketAddrV4::new(Ipv4Addr::new(239, 192, 8, 1), 7_201),
    SocketAddrV4::new(Ipv4Addr::new(239, 192, 8, 2), 7_202),
];
const PORT: u16 = 7_203;

fn bed() -> Testbed {
    Testbed::builder().queues(Queues::pairs(1)).offloads(Offloads::OFF).build().unwrap()
}

/// A transport of a host that refuses to go through the kernel.
fn past(host: &Host) -> Transport {
    let settings = StackSettings { strict: true, ..StackSettings::default() };
    Transport::Xdp(Stack::open(host.interface(), &settings).unwrap())
}

/// By two groups, as the two sides of a feed are, sent to from the other host.
fn delivered(wait: Wait, by: &Transport, [here, there]: &[Host; 2]) -> Seen {
    let open = |_: &mut Numbers| {
        let options = UdpOptions { datagram_max: 512, ..UdpOptions::default() };
        let receivers = GROUPS.map(|group| {
            let group = MulticastGroup { group, interface: here.address(), sources: &[] };
            UdpReceiver::join_by(by, group, options).unwrap()
        });
        let sender = |group| UdpSender::new(group, there.address(), 1).unwrap();
        let senders = GROUPS.map(|group| there.run(|| sender(group)).unwrap());
        (
            receivers,
            senders.map(|sender| {
                let address = sender.local_address();
                (sender, address)
            }),
        )
    };
    let (receivers, seen) = Traffic::new(wait, 7, 100, open).deliver();
    for receiver in &receivers {
        assert!(receiver.truncated() > 0 && receiver.dropped() == 0, "{wait}");
    }
    seen
}

#[test]
#[ignore = "needs root"]
fn every_wait_delivers_the_same_datagrams_of_two_groups() {
    let bed = bed();
    let hosts = bed.hosts();
    let run = || {
        let by = past(&hosts[0]);
        let mut first: Option<Seen> = None;
        for wait in available(Wait::ALL) {
            let seen = delivered(wait, &by, hosts);
            assert!(*first.get_or_insert_with(|| seen.clone()) == seen, "{wait}");
        }
    };
    hosts[0].run(run).unwrap();
}

/// Stops another thread's loop, also when this one's fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Answers each question with the same bytes, past the kernel too, until it is told to stop.
fn answer(wait: Wait, host: &Host, port: u16, by: &Transport, stop: &AtomicBool) {
    let address = SocketAddrV4::new(host.address(), port);
    let mut socket = UdpSocket::bind_by(by, address, UdpOptions::default()).unwrap();
    let mut reactor = Reactor::new(wait).unwrap();
    let token = reactor.add(&mut socket, Interest::READABLE).unwrap();
    let mut questions = Vec::new();
    turn_until(&mut reactor, |_, ready| {
        if ready.is_readable(token) {
            let keep = |meta: hairpin_endpoint::Meta, bytes: &[u8]| {
                questions.push((meta.source, bytes.to_vec()));
            };
            socket.receive(16, keep).unwrap();
            for (from, bytes) in questions.drain(..) {
                socket.transmit_to(from, bytes.len(), |to| to.copy_from_slice(&bytes)).unwrap();
            }
        }
        stop.load(Ordering::Relaxed)
    });
    reactor.remove(token, &mut socket).unwrap();
}

/// Asks one question after the other, while a timer runs; how often it did.
fn ask(wait: Wait, host: &Host, remote: SocketAddrV4, by: &Transport) -> usize {
    const QUESTIONS: u32 = 300;
    let local = SocketAddrV4::new(host.address(), 0);
    let mut socket = UdpSocket::connect_by(by, local, remote, UdpOptions::default()).unwrap();
    let mut reactor = Reactor::new(wait).unwrap();
    let token = reactor.add(&mut socket, Interest::READABLE).unwrap();
    let mut timers = Timers::new();
    let (timer, mut expired) = (timers.add(), 0);
    timers.arm(timer, Instant::from_nanos(1));
    let send = |socket: &mut UdpSocket, number: u32| {
        socket.transmit(4, |bytes| bytes.copy_from_slice(&number.to_be_bytes())).unwrap();
    };
    let mut number = 0;
    send(&mut socket, number);
    turn_until(&mut reactor, |now, ready| {
        if ready.is_readable(token) {
            let mut answers = Vec::new();
            socket.receive(16, |_, bytes| answers.push(bytes.to_vec())).unwrap();
            for answer in answers {
                assert_eq!(answer, number.to_be_bytes(), "{wait}");
                number += 1;
                send(&mut socket, number);
            }
        }
        while timers.expired(now).is_some() {
            expired += 1;
            timers.arm(timer, now + Duration::from_micros(100));
        }
        number >= QUESTIONS && expired >= 20
    });
    reactor.remove(token, &mut socket).unwrap();
    expired
}

#[test]
#[ignore = "needs root"]
fn questions_and_answers_go_past_both_kernels_and_timers_run() {
    let bed = bed();
    let [asker, answerer] = bed.hosts();
    let [by, by_other] = [asker, answerer].map(|host| host.run(|| past(host)).unwrap());
    for (index, wait) in available(Wait::ALL).enumerate() {
        let (stop, port) = (AtomicBool::new(false), PORT + index as u16);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                answerer.run(|| answer(wait, answerer, port, &by_other, &stop)).unwrap();
            });
            let _stop = Stop(&stop);
            let remote = SocketAddrV4::new(answerer.address(), port);
            // It may not be there yet.
            let asked = || {
                let probe = std::net::UdpSocket::bind((asker.address(), 0)).unwrap();
                probe.connect(remote).unwrap();
                probe.set_read_timeout(Some(std::time::Duration::from_millis(20))).unwrap();
                let is_there =
                    (0..500).any(|_| probe.send(b"?").is_ok() && probe.recv(&mut [0; 1]).is_ok());
                assert!(is_there && !other.is_finished(), "{wait}: nobody answers");
                ask(wait, asker, remote, &by)
            };
            assert!(asker.run(asked).unwrap() >= 20);
        });
    }
}

#[test]
#[ignore = "needs root"]
fn what_another_source_took_off_the_ring_is_found_by_every_wait() {
    let bed = bed();
    let [here, there] = bed.hosts();
    let run = || {
        let by = past(here);
        for wait in available(Wait::ALL) {
            let open = |port| {
                let address = SocketAddrV4::new(here.address(), port);
                UdpReceiver::bind_by(&by, address, UdpOptions::default()).unwrap()
            };
            let [mut waited_for, mut other] = [PORT, PORT + 1].map(open);
            let to = waited_for.local_address();
            let mut sender =
                there.run(|| UdpSender::connect(to, there.address()).unwrap()).unwrap();
            let mut reactor = Reactor::new(wait).unwrap();
            let token = reactor.add(&mut waited_for, Interest::READABLE).unwrap();
            for number in 0..50 {
                sender.transmit(1, |bytes| bytes[0] = number).unwrap();
                // Whoever is not in the reactor is first at the ring.
                assert_eq!(other.receive(8, |_, _| {}).unwrap().count, 0);
                let mut heard = None;
                turn_until(&mut reactor, |_, ready| {
                    if ready.is_readable(token) {
                        waited_for.receive(1, |_, bytes| heard = Some(bytes[0])).unwrap();
                    }
                    heard.is_some()
                });
                assert_eq!(heard, Some(number), "{wait}");
            }
            reactor.remove(token, &mut waited_for).unwrap();
        }
    };
    here.run(run).unwrap();
}

#[test]
#[ignore = "needs root"]
fn a_source_that_spun_is_found_by_whoever_waits_for_it_next() {
    let bed = bed();
    let [here, there] = bed.hosts();
    let run = || {
        let by = past(here);
        let open = |port| {
            let address = SocketAddrV4::new(here.address(), port);
            UdpReceiver::bind_by(&by, address, UdpOptions::default()).unwrap()
        };
        let [mut source, mut other] = [PORT, PORT + 1].map(open);
        let to = source.local_address();
        let mut sender = there.run(|| UdpSender::connect(to, there.address()).unwrap()).unwrap();
        for wait in available([Wait::Poll, Wait::Epoll, Wait::IoUring]) {
            let mut spinning = Reactor::new(Wait::Spin).unwrap();
            let token = spinning.add(&mut source, Interest::READABLE).unwrap();
            sender.transmit(1, |bytes| bytes[0] = 1).unwrap();
            // Long enough for it to be taken off the ring by the other.
            for _ in 0..20 {
                std::thread::sleep(std::time::Duration::from_millis(1));
                assert_eq!(other.receive(8, |_, _| {}).unwrap().count, 0);
            }
            spinning.remove(token, &mut source).unwrap();
            let mut reactor = Reactor::new(wait).unwrap();
            let token = reactor.add(&mut source, Interest::READABLE).unwrap();
            turn_until(&mut reactor, |_, ready| ready.is_readable(token));
            assert_eq!(source.receive(8, |_, _| {}).unwrap().count, 1, "{wait}");
            let now = Clock::of_kernel().instant();
            let ready = reactor.wait(now, Some(now)).unwrap();
            assert!(!ready.is_readable(token), "{wait}: nothing is there any more");
            reactor.remove(token, &mut source).unwrap();
        }
    };
    here.run(run).unwrap();
}
