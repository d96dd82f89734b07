//! Reliable datagrams between two hosts over a lossy wire, with each carrier. Needs root.

use std::hash::{DefaultHasher, Hasher};
use std::net::{IpAddr, SocketAddr};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Instant as StdInstant;

use hairpin_endpoint::rds::{
    Event, Outcome, ProtocolError, RdsError, RdsOptions, RdsSocket, RdsTransport,
};
use hairpin_endpoint::xdp::{InterfaceSettings, Stack, StackSettings};
use hairpin_host::Clock;
use hairpin_testbed::{
    Chance, Direction, Faults, Host, Offloads, Queues, RelaySettings, Testbed, scaled,
};
use hairpin_time::Instant;

/// The messages of a test in CI, in each direction; HAIRPIN_TEST_SCALE=50 makes a million.
const MESSAGES: u64 = 20_000;
const PORT: u16 = 4_000;
/// The longest message: three fragments.
const LENGTH_MAX: u64 = 3_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Kernel,
    Xdp,
    Ethernet,
}

impl Kind {
    pub(crate) fn transport(self, host: &Host) -> RdsTransport {
        match self {
            Self::Kernel => RdsTransport::Kernel,
            Self::Xdp => {
                RdsTransport::Xdp(Stack::open(host.interface(), &StackSettings::default()).unwrap())
            }
            Self::Ethernet => RdsTransport::Ethernet {
                interface: host.interface().to_owned(),
                settings: InterfaceSettings::default(),
            },
        }
    }
}

pub(crate) fn now() -> Instant {
    Clock::from_kernel().instant()
}

/// The length and first byte of message `number`: most are short.
fn message(number: u64) -> (usize, u8) {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let length = if mixed.is_multiple_of(16) { mixed / 16 % LENGTH_MAX } else { mixed % 64 };
    (length as usize, mixed as u8)
}

/// Sends `count` messages to a peer and receives as many from it. Returns the hashes of the sent
/// and the received streams, once both ends are `done`.
pub(crate) fn exchange(
    socket: &mut RdsSocket,
    peer: SocketAddr,
    count: u64,
    done: &AtomicU32,
) -> [u64; 2] {
    let (mut sent, mut received) = (DefaultHasher::new(), DefaultHasher::new());
    let (mut sent_count, mut received_count, mut delivered) = (0, 0, 0);
    let started = StdInstant::now();
    while received_count < count || delivered < count {
        let mut is_idle = true;
        for _ in 0..32 {
            let (length, byte) = message(sent_count);
            if sent_count == count {
                break;
            }
            match socket.send_tracked(now(), peer, length, |bytes| bytes.fill(byte)) {
                Ok(_) => {
                    sent.write_usize(length);
                    sent.write(&vec![byte; length]);
                    sent_count += 1;
                    is_idle = false;
                }
                Err(RdsError::Protocol(ProtocolError::WouldBlock | ProtocolError::Congested)) => {
                    break;
                }
                Err(error) => panic!("{error}"),
            }
        }
        let got = socket.receive(now(), 64, |message| {
            assert_eq!(message.source, peer);
            received.write_usize(message.bytes.len());
            received.write(message.bytes);
            received_count += 1;
        });
        is_idle &= got.unwrap().count == 0;
        while let Some(event) = socket.poll_event() {
            match event {
                Event::Outcome { outcome: Outcome::Delivered, .. } => delivered += 1,
                Event::Writable(_) => {}
                event => panic!("unexpected {event:?}"),
            }
        }
        socket.handle_timeout(now()).unwrap();
        if is_idle {
            thread::yield_now();
        }
        assert!(
            started.elapsed().as_secs() < 60 + count / 1_000,
            "stalled: {sent_count} sent, {delivered} delivered, {received_count} received, {:?}",
            socket.counters()
        );
    }
    // The peer may still need acknowledgments.
    done.fetch_add(1, Ordering::SeqCst);
    while done.load(Ordering::SeqCst) < 2 {
        socket.receive(now(), 64, |_| panic!("a message too many")).unwrap();
        socket.handle_timeout(now()).unwrap();
        thread::sleep(std::time::Duration::from_micros(100));
    }
    [sent.finish(), received.finish()]
}

fn run(kind: Kind, is_v6: bool, faults: Faults) {
    let settings = Direction::BOTH
        .into_iter()
        .fold(RelaySettings::seeded(19), |settings, direction| settings.with(direction, faults));
    let builder = Testbed::builder().queues(Queues::pairs(1)).offloads(Offloads::OFF);
    let builder = builder.relay(settings);
    let testbed = if is_v6 { builder.ipv6().build() } else { builder.build() }.unwrap();
    let count = scaled(MESSAGES);
    let address = |host: &Host| match is_v6 {
        true => IpAddr::V6(host.address_v6().unwrap()),
        false => IpAddr::V4(host.address()),
    };
    let [a, b] = testbed.hosts();
    let (both_exist, done) = (&Barrier::new(2), &AtomicU32::new(0));
    let both: Vec<_> = thread::scope(|scope| {
        let ends = [(a, b), (b, a)].map(|(host, peer)| {
            scope.spawn(move || {
                let run = || {
                    let mut socket = RdsSocket::new(now(), RdsOptions::default());
                    let local = SocketAddr::new(address(host), PORT);
                    socket.bind(now(), &kind.transport(host), local).unwrap();
                    println!("{}", socket.describe().unwrap());
                    // Both sockets must exist before the first message.
                    both_exist.wait();
                    let peer = SocketAddr::new(address(peer), PORT);
                    let hashes = exchange(&mut socket, peer, count, done);
                    (hashes, *socket.counters())
                };
                host.run(run).unwrap()
            })
        });
        ends.into_iter().map(|end| end.join().unwrap()).collect()
    });
    let [(hashes_a, counters_a), (hashes_b, counters_b)] = both[..] else { unreachable!() };
    println!("{counters_a:?}\n{counters_b:?}");
    assert_eq!(hashes_a[0], hashes_b[1], "a to b");
    assert_eq!(hashes_b[0], hashes_a[1], "b to a");
    assert!(counters_a.retransmitted > 0 && counters_b.naks_sent > 0, "the wire loses packets");
}

const LOSSY: Faults = Faults { loss: Chance::percent(5), ..Faults::NONE };

#[test]
#[ignore = "needs root"]
fn kernel_udp_delivers_all_at_5_percent_loss() {
    run(Kind::Kernel, false, LOSSY);
}

#[test]
#[ignore = "needs root"]
fn kernel_udp_over_ipv6_delivers_all_at_5_percent_loss() {
    run(Kind::Kernel, true, LOSSY);
}

#[test]
#[ignore = "needs root"]
fn xdp_udp_delivers_all_at_5_percent_loss() {
    run(Kind::Xdp, false, LOSSY);
}

#[test]
#[ignore = "needs root"]
fn xdp_udp_over_ipv6_delivers_all_at_5_percent_loss() {
    run(Kind::Xdp, true, LOSSY);
}

#[test]
#[ignore = "needs root"]
fn ethernet_delivers_all_at_5_percent_loss() {
    run(Kind::Ethernet, false, LOSSY);
}

#[test]
#[ignore = "needs root"]
fn ethernet_with_ipv6_addresses_delivers_all_at_5_percent_loss() {
    run(Kind::Ethernet, true, LOSSY);
}

#[test]
#[ignore = "needs root"]
fn ethernet_takes_the_interface_for_one_socket() {
    let testbed = Testbed::builder().build().unwrap();
    let [host, _] = testbed.hosts();
    host.run(|| {
        let mut sockets = [(), ()].map(|()| RdsSocket::new(now(), RdsOptions::default()));
        let local = |port| SocketAddr::new(host.address().into(), port);
        let transport = Kind::Ethernet.transport(host);
        sockets[0].bind(now(), &transport, local(PORT)).unwrap();
        let error = sockets[1].bind(now(), &transport, local(PORT + 1)).unwrap_err();
        assert_eq!(error.to_string().lines().count(), 1, "{error}");
        assert_eq!(error.kind(), std::io::ErrorKind::ResourceBusy, "{error}");
    })
    .unwrap();
}

#[test]
#[ignore = "needs root"]
fn ethernet_port_without_a_socket_is_undeliverable() {
    let testbed = Testbed::builder().build().unwrap();
    let [a, b] = testbed.hosts();
    let bound = |host: &Host, port| {
        let open = || {
            let mut socket = RdsSocket::new(now(), RdsOptions::default());
            let local = SocketAddr::new(host.address().into(), port);
            socket.bind(now(), &Kind::Ethernet.transport(host), local).unwrap();
            socket
        };
        host.run(open).unwrap()
    };
    let (mut sender, mut other) = (bound(a, PORT), bound(b, PORT + 1));
    let to = SocketAddr::new(b.address().into(), PORT);
    sender.send_tracked(now(), to, 100, |bytes| bytes.fill(1)).unwrap();
    let until = StdInstant::now() + std::time::Duration::from_secs(60);
    let mut is_undeliverable = false;
    while !is_undeliverable {
        for socket in [&mut sender, &mut other] {
            socket.handle_timeout(now()).unwrap();
            socket.receive(now(), 8, |_| panic!("no message is for this port")).unwrap();
        }
        while let Some(event) = sender.poll_event() {
            is_undeliverable |= event == Event::Undeliverable(to);
        }
        assert!(StdInstant::now() < until, "{:?}", sender.counters());
    }
    assert!(other.counters().dropped_port > 0);
    assert!(sender.is_acknowledged(), "the message is dropped");
}
