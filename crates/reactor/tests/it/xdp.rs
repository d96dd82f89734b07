//! Kernel-bypass sockets under every wait, between two hosts. Needs root.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::supported_waits::supported;
use crate::traffic::{Seen, Traffic, iterate_until};
use hairpin_endpoint::xdp::{Stack, StackSettings};
use hairpin_endpoint::{
    MulticastGroup, Receive, Transmit, Transport, UdpOptions, UdpReceiver, UdpSender, UdpSocket,
};
use hairpin_host::Clock;
use hairpin_reactor::{Interest, Reactor, Timers, Wait};
use hairpin_testbed::{Host, Offloads, Queues, Testbed};
use hairpin_testkit::Random;
use hairpin_time::{Duration, Instant};

const GROUPS: [SocketAddrV4; 2] = [
    SocketAddrV4::new(Ipv4Addr::new(239, 192, 8, 1), 7_201),
    SocketAddrV4::new(Ipv4Addr::new(239, 192, 8, 2), 7_202),
];
const PORT: u16 = 7_203;

fn two_hosts() -> Testbed {
    Testbed::builder().queues(Queues::pairs(1)).offloads(Offloads::OFF).build().unwrap()
}

/// Creates a strict kernel-bypass transport of a host.
fn strict_transport(host: &Host) -> Transport {
    let settings = StackSettings { strict: true, ..StackSettings::default() };
    Transport::Xdp(Stack::open(host.interface(), &settings).unwrap())
}

/// Delivers datagrams of two groups, like the two lines of a feed, sent from the other host.
fn delivered(wait: Wait, by: &Transport, [here, there]: &[Host; 2]) -> Seen {
    let open = |_: &mut Random| {
        let options = UdpOptions { datagram_max: 512, ..UdpOptions::default() };
        let receivers = GROUPS.map(|group| {
            let group = MulticastGroup { group, interface: here.address(), sources: &[] };
            UdpReceiver::join_with(by, group, options).unwrap()
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
fn waits_deliver_same_datagrams_of_two_groups() {
    let two_hosts = two_hosts();
    let hosts = two_hosts.hosts();
    let run = || {
        let by = strict_transport(&hosts[0]);
        let mut first: Option<Seen> = None;
        for wait in supported(Wait::ALL) {
            let seen = delivered(wait, &by, hosts);
            assert!(*first.get_or_insert_with(|| seen.clone()) == seen, "{wait}");
        }
    };
    hosts[0].run(run).unwrap();
}

/// A guard that stops another thread's loop, also if this thread panics.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Replies to each request with the same bytes, also over kernel bypass, until a stop request.
fn reply_to_requests(wait: Wait, host: &Host, port: u16, by: &Transport, stop: &AtomicBool) {
    let address = SocketAddrV4::new(host.address(), port);
    let mut socket = UdpSocket::bind_with(by, address, UdpOptions::default()).unwrap();
    let mut reactor = Reactor::new(wait).unwrap();
    let token = reactor.add(&mut socket, Interest::READABLE).unwrap();
    let mut questions = Vec::new();
    iterate_until(&mut reactor, |_, ready| {
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

/// Sends one request after the other while a timer runs, and returns how often the timer expired.
fn send_requests(wait: Wait, host: &Host, remote: SocketAddrV4, by: &Transport) -> usize {
    const QUESTIONS: u32 = 300;
    let local = SocketAddrV4::new(host.address(), 0);
    let mut socket = UdpSocket::connect_with(by, local, remote, UdpOptions::default()).unwrap();
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
    iterate_until(&mut reactor, |now, ready| {
        if ready.is_readable(token) {
            let mut answers = Vec::new();
            socket.receive(16, |_, bytes| answers.push(bytes.to_vec())).unwrap();
            for reply_to_requests in answers {
                assert_eq!(reply_to_requests, number.to_be_bytes(), "{wait}");
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
fn waits_carry_requests_while_timers_run() {
    let two_hosts = two_hosts();
    let [client, server] = two_hosts.hosts();
    let [by, by_other] = [client, server].map(|host| host.run(|| strict_transport(host)).unwrap());
    for (index, wait) in supported(Wait::ALL).enumerate() {
        let (stop, port) = (AtomicBool::new(false), PORT + index as u16);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                server.run(|| reply_to_requests(wait, server, port, &by_other, &stop)).unwrap();
            });
            let _stop = Stop(&stop);
            let remote = SocketAddrV4::new(server.address(), port);
            // The other host may not be ready yet.
            let requests_sent = || {
                let probe = std::net::UdpSocket::bind((client.address(), 0)).unwrap();
                probe.connect(remote).unwrap();
                probe.set_read_timeout(Some(std::time::Duration::from_millis(20))).unwrap();
                let is_there =
                    (0..500).any(|_| probe.send(b"?").is_ok() && probe.recv(&mut [0; 1]).is_ok());
                assert!(is_there && !other.is_finished(), "{wait}: no reply");
                send_requests(wait, client, remote, &by)
            };
            assert!(client.run(requests_sent).unwrap() >= 20);
        });
    }
}

#[test]
#[ignore = "needs root"]
fn waits_find_data_taken_from_ring_by_others() {
    let two_hosts = two_hosts();
    let [here, there] = two_hosts.hosts();
    let run = || {
        let by = strict_transport(here);
        for wait in supported(Wait::ALL) {
            let open = |port| {
                let address = SocketAddrV4::new(here.address(), port);
                UdpReceiver::bind_with(&by, address, UdpOptions::default()).unwrap()
            };
            let [mut waited_for, mut other] = [PORT, PORT + 1].map(open);
            let to = waited_for.local_address();
            let mut sender =
                there.run(|| UdpSender::connect(to, there.address()).unwrap()).unwrap();
            let mut reactor = Reactor::new(wait).unwrap();
            let token = reactor.add(&mut waited_for, Interest::READABLE).unwrap();
            for number in 0..50 {
                sender.transmit(1, |bytes| bytes[0] = number).unwrap();
                // The socket outside of the reactor polls the ring first.
                assert_eq!(other.receive(8, |_, _| {}).unwrap().count, 0);
                let mut heard = None;
                iterate_until(&mut reactor, |_, ready| {
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
fn source_that_spun_is_readable_in_next_wait() {
    let two_hosts = two_hosts();
    let [here, there] = two_hosts.hosts();
    let run = || {
        let by = strict_transport(here);
        let open = |port| {
            let address = SocketAddrV4::new(here.address(), port);
            UdpReceiver::bind_with(&by, address, UdpOptions::default()).unwrap()
        };
        let [mut source, mut other] = [PORT, PORT + 1].map(open);
        let to = source.local_address();
        let mut sender = there.run(|| UdpSender::connect(to, there.address()).unwrap()).unwrap();
        for wait in supported([Wait::Poll, Wait::Epoll, Wait::IoUring]) {
            let mut spinning = Reactor::new(Wait::Spin).unwrap();
            let token = spinning.add(&mut source, Interest::READABLE).unwrap();
            sender.transmit(1, |bytes| bytes[0] = 1).unwrap();
            // Long enough for the other socket to take it from the ring.
            for _ in 0..20 {
                std::thread::sleep(std::time::Duration::from_millis(1));
                assert_eq!(other.receive(8, |_, _| {}).unwrap().count, 0);
            }
            spinning.remove(token, &mut source).unwrap();
            let mut reactor = Reactor::new(wait).unwrap();
            let token = reactor.add(&mut source, Interest::READABLE).unwrap();
            iterate_until(&mut reactor, |_, ready| ready.is_readable(token));
            assert_eq!(source.receive(8, |_, _| {}).unwrap().count, 1, "{wait}");
            let now = Clock::from_kernel().instant();
            let ready = reactor.wait(now, Some(now)).unwrap();
            assert!(!ready.is_readable(token), "{wait}: no data may remain");
            reactor.remove(token, &mut source).unwrap();
        }
    };
    here.run(run).unwrap();
}
