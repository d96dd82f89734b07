//! The faults of a relay, observed at both hosts, as root.
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use hairpin_testbed::Direction::{FirstToSecond, SecondToFirst};
use hairpin_testbed::{
    Chance, Delay, Direction, Faults, Filter, Holding, Host, Offloads, Part, Protocol, Queues,
    Rate, Relay, RelayCounters, RelaySettings, Testbed, TestbedBuilder, eventually,
};

use crate::fixtures::{TIMEOUT, udp_socket};

const COUNT: u32 = 2_000;
const MS: Duration = Duration::from_millis(1);

fn builder() -> TestbedBuilder {
    Testbed::builder().relay(RelaySettings::seeded(7))
}

fn relay(testbed: &Testbed) -> &Relay {
    testbed.relay().unwrap()
}

fn buffered_udp_socket(host: &Host) -> UdpSocket {
    let socket = udp_socket(host);
    set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, 64 << 20);
    socket
}

fn set(socket: &UdpSocket, level: i32, option: i32, value: libc::c_int) {
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    let fd = socket.as_raw_fd();
    // SAFETY: the kernel reads one integer, which lives during the call.
    let result = unsafe { libc::setsockopt(fd, level, option, (&raw const value).cast(), length) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}

/// Returns a counter of `/proc/net/snmp` of a host.
fn snmp_counter(host: &Host, protocol: &str, name: &str) -> u64 {
    let read = || std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap();
    let text = host.run(read).unwrap();
    let mut lines = text.lines().filter(|line| line.split(':').next() == Some(protocol));
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let column = names.split(' ').position(|found| found == name).unwrap();
    values.split(' ').nth(column).unwrap().parse().unwrap()
}

/// Two connected sockets, one on each host. A datagram has passed in each direction, so ARP is
/// complete, but no frame has a number yet.
struct Path<'a> {
    testbed: &'a Testbed,
    direction: Direction,
    sender: UdpSocket,
    receiver: UdpSocket,
}

impl<'a> Path<'a> {
    fn new(testbed: &'a Testbed, direction: Direction) -> Self {
        let [first, second] = testbed.hosts();
        let hosts = if direction == FirstToSecond { [first, second] } else { [second, first] };
        let [sender, receiver] = hosts.map(buffered_udp_socket);
        relay(testbed).set_on(false);
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        receiver.connect(sender.local_addr().unwrap()).unwrap();
        for (from, to) in [(&sender, &receiver), (&receiver, &sender)] {
            from.send(b"ready").unwrap();
            assert_eq!(to.recv(&mut [0; 16]).unwrap(), 5);
        }
        relay(testbed).set_on(true);
        Self { testbed, direction, sender, receiver }
    }

    /// Returns a filter for the datagrams to the receiver.
    fn filter(&self) -> Filter {
        let port = Some(self.receiver.local_addr().unwrap().port());
        Filter { protocol: Some(Protocol::Udp), port, arp: false }
    }

    fn set(&self, faults: Faults) {
        let faults = Faults { filter: self.filter(), ..faults };
        relay(self.testbed).set_faults(self.direction, faults);
    }

    fn counters(&self) -> RelayCounters {
        relay(self.testbed).counters(self.direction)
    }

    fn send(&self, numbers: std::ops::Range<u32>) {
        for number in numbers {
            self.sender.send(&datagram(number)).unwrap();
            if number % 50 == 49 {
                // Lets the relay run on a busy machine with two cores.
                std::thread::sleep(MS);
            }
        }
    }

    /// Sends numbered datagrams. Returns the numbers of the received ones, in order of arrival,
    /// after the relay has processed all of them.
    fn send_and_receive(&self, count: u32) -> Vec<u32> {
        let before = self.counters().sent;
        self.send(0..count);
        let is_complete = || {
            let counters = self.counters();
            counters.sent - before == u64::from(count) && counters.in_flight == 0
        };
        assert!(eventually(is_complete), "{:?}", self.counters());
        assert_eq!(self.counters().missed, 0, "frames were missed");
        self.receive_all()
    }

    fn receive_all(&self) -> Vec<u32> {
        self.receiver.set_read_timeout(Some(MS * 300)).unwrap();
        let mut numbers = Vec::new();
        let mut bytes = [0; 2_000];
        loop {
            match self.receiver.recv(&mut bytes) {
                Ok(length) => {
                    let number = u32::from_be_bytes(bytes[..4].try_into().unwrap());
                    assert_eq!(bytes[..length], datagram(number), "changed in transit");
                    numbers.push(number);
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    return numbers;
                }
            }
        }
    }
}

/// Returns a datagram with a number and bytes derived from it.
fn datagram(number: u32) -> Vec<u8> {
    let filling = (0..200_u32).map(|index| (index.wrapping_mul(number + 1) >> 3) as u8);
    number.to_be_bytes().into_iter().chain(filling).collect()
}

/// Counts the numbers that follow a greater one.
fn count_late(numbers: &[u32]) -> u64 {
    let mut max = 0;
    let is_late = |&&number: &&u32| {
        max = max.max(number);
        number < max
    };
    numbers.iter().filter(is_late).count() as u64
}

fn without_duplicates(mut numbers: Vec<u32>) -> Vec<u32> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[test]
#[ignore = "needs root"]
fn description_contains_the_seed() {
    let testbed = builder().build().unwrap();
    assert!(testbed.describe().starts_with("two network namespaces joined by a relay (seed 7)"));
    assert_eq!(relay(&testbed).seed(), 7);
    assert!(Testbed::namespaces().unwrap().relay().is_none());
}

#[test]
#[ignore = "needs root"]
fn datagrams_arrive_in_order_without_faults() {
    let testbed = builder().build().unwrap();
    for direction in Direction::BOTH {
        let path = Path::new(&testbed, direction);
        path.set(Faults::NONE);
        assert_eq!(path.send_and_receive(COUNT), Vec::from_iter(0..COUNT));
        let RelayCounters { sent, arrived, lost, reordered, .. } = path.counters();
        assert_eq!((sent, arrived, lost, reordered), (COUNT.into(), COUNT.into(), 0, 0));
    }
}

#[test]
#[ignore = "needs root"]
fn loss_is_counted() {
    let testbed = builder().build().unwrap();
    let path = Path::new(&testbed, FirstToSecond);
    path.set(Faults { loss: Chance::percent(10), ..Faults::NONE });
    let numbers = path.send_and_receive(COUNT);
    let lost = path.counters().lost;
    assert_eq!(numbers.len() as u64 + lost, COUNT.into());
    assert!((150..250).contains(&lost) && numbers.is_sorted(), "{lost}");
}

#[test]
#[ignore = "needs root"]
fn duplicates_arrive_twice() {
    let testbed = builder().build().unwrap();
    let path = Path::new(&testbed, SecondToFirst);
    path.set(Faults { duplication: Chance::percent(10), ..Faults::NONE });
    let numbers = path.send_and_receive(COUNT);
    let twice = numbers.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
    assert_eq!(twice, path.counters().duplicated);
    assert!((150..250).contains(&twice) && numbers.is_sorted());
    assert_eq!(without_duplicates(numbers), Vec::from_iter(0..COUNT));
}

#[test]
#[ignore = "needs root"]
fn delayed_datagrams_wait() {
    let testbed = builder().build().unwrap();
    let path = Path::new(&testbed, FirstToSecond);
    path.set(Faults { delay: Delay::exactly(MS * 50), ..Faults::NONE });
    let started = Instant::now();
    assert_eq!(path.send_and_receive(1), [0]);
    assert!(started.elapsed() >= MS * 50);
    path.set(Faults { delay: Delay::exactly(TIMEOUT * 100), ..Faults::NONE });
    path.send(0..20);
    assert!(eventually(|| path.counters().in_flight == 20));
    assert_eq!((path.receive_all(), path.counters().arrived), (vec![], 1));
}

#[test]
#[ignore = "needs root"]
fn jitter_reorders_only_if_allowed() {
    let testbed = builder().build().unwrap();
    let path = Path::new(&testbed, FirstToSecond);
    let delay = Delay { jitter: MS * 20, ..Delay::default() };
    path.set(Faults { delay, ..Faults::NONE });
    assert_eq!(path.send_and_receive(COUNT), Vec::from_iter(0..COUNT));
    path.set(Faults { delay, reorders: true, ..Faults::NONE });
    let numbers = path.send_and_receive(COUNT);
    assert_eq!(count_late(&numbers), path.counters().reordered);
    assert!(count_late(&numbers) > 100);
    assert_eq!(without_duplicates(numbers), Vec::from_iter(0..COUNT));
}

#[test]
#[ignore = "needs root"]
fn held_datagrams_are_overtaken() {
    let testbed = builder().build().unwrap();
    let path = Path::new(&testbed, SecondToFirst);
    let holding = Holding { chance: Chance::percent(5), frames: 3, at_most: TIMEOUT };
    path.set(Faults { holding: Some(holding), ..Faults::NONE });
    path.send(0..COUNT);
    assert!(eventually(|| path.counters().sent == u64::from(COUNT)), "{:?}", path.counters());
    // The last frames are overtaken by others that are not held.
    path.set(Faults::NONE);
    path.send(COUNT..COUNT + 3);
    assert!(
        eventually(|| path.counters().arrived == u64::from(COUNT + 3)),
        "{:?}",
        path.counters()
    );
    let numbers = path.receive_all();
    let RelayCounters { held, reordered, .. } = path.counters();
    assert!((60..140).contains(&held), "{held}");
    assert_eq!((reordered, count_late(&numbers)), (held, held));
    assert_eq!(without_duplicates(numbers), Vec::from_iter(0..COUNT + 3));
}

#[test]
#[ignore = "needs root"]
fn long_delays_reorder() {
    let testbed = builder().build().unwrap();
    let path = Path::new(&testbed, FirstToSecond);
    let (long_chance, long) = (Chance::percent(5), MS * 200);
    let delay = Delay { long_chance, long, ..Delay::default() };
    path.set(Faults { delay, reorders: true, ..Faults::NONE });
    let numbers = path.send_and_receive(COUNT);
    let RelayCounters { delayed, reordered, .. } = path.counters();
    assert!((60..140).contains(&delayed) && reordered > 0, "{delayed} {reordered}");
    assert_eq!(reordered, count_late(&numbers));
    assert_eq!(without_duplicates(numbers), Vec::from_iter(0..COUNT));
}

/// Asserts that the receiving kernel detects each flipped bit and delivers no such datagram.
/// Returns the number of corrupted datagrams, and of those that the UDP checksum detected.
fn assert_corruption_is_detected(testbed: &Testbed, corrupted_part: Part) -> (u64, u64) {
    let path = Path::new(testbed, FirstToSecond);
    path.set(Faults { corruption: Chance::percent(10), corrupted_part, ..Faults::NONE });
    let [_, host] = testbed.hosts();
    let errors = || {
        let udp = snmp_counter(host, "Udp", "InErrors");
        (udp, udp + snmp_counter(host, "Ip", "InHdrErrors"))
    };
    let before = (snmp_counter(host, "Udp", "InCsumErrors"), errors());
    let numbers = path.send_and_receive(COUNT);
    let corrupted = path.counters().corrupted;
    assert!((150..250).contains(&corrupted));
    assert_eq!(numbers.len() as u64 + corrupted, COUNT.into());
    assert!(numbers.is_sorted());
    let by_checksum = snmp_counter(host, "Udp", "InCsumErrors") - before.0;
    assert_eq!(errors().1 - before.1.1, corrupted, "{:?}", errors());
    (corrupted, by_checksum)
}

#[test]
#[ignore = "needs root"]
fn corrupted_payloads_fail_the_checksum() {
    for offloads in [Offloads::ON, Offloads::OFF] {
        let testbed = builder().offloads(offloads).build().unwrap();
        let (corrupted, by_checksum) = assert_corruption_is_detected(&testbed, Part::Payload);
        assert_eq!(corrupted, by_checksum, "{offloads}");
    }
}

#[test]
#[ignore = "needs root"]
fn corrupted_headers_are_detected() {
    let testbed = builder().build().unwrap();
    let (corrupted, by_checksum) = assert_corruption_is_detected(&testbed, Part::Packet);
    // IP drops packets with a corrupted IP header before UDP.
    assert!(by_checksum > 0 && by_checksum < corrupted, "{by_checksum} of {corrupted}");
}

fn same_seed_run(seed: u64) -> (Vec<u32>, RelayCounters) {
    let testbed = Testbed::builder().relay(RelaySettings::seeded(seed)).build().unwrap();
    let path = Path::new(&testbed, FirstToSecond);
    let holding = Holding { chance: Chance::percent(5), frames: 4, at_most: MS * 2_500 };
    path.set(Faults {
        loss: Chance::percent(5),
        duplication: Chance::percent(5),
        corruption: Chance::percent(5),
        holding: Some(holding),
        ..Faults::NONE
    });
    (path.send_and_receive(COUNT), RelayCounters { untouched: 0, ..path.counters() })
}

#[test]
#[ignore = "needs root"]
fn runs_are_reproducible_by_seed() {
    let (numbers, counters) = same_seed_run(7);
    assert_eq!(same_seed_run(7), (numbers.clone(), counters));
    assert_ne!(same_seed_run(8).0, numbers);
    let RelayCounters { lost, duplicated, corrupted, held, .. } = counters;
    assert!([lost, duplicated, corrupted, held].iter().all(|&count| count > 0), "{counters:?}");
}

#[test]
#[ignore = "needs root"]
fn directions_have_separate_faults() {
    let faults = Faults { loss: Chance::ALWAYS, ..Faults::NONE };
    let settings = RelaySettings::seeded(7).with(SecondToFirst, faults);
    let testbed = Testbed::builder().relay(settings).build().unwrap();
    let [there, back] = Direction::BOTH.map(|direction| Path::new(&testbed, direction));
    assert_eq!(there.send_and_receive(100), Vec::from_iter(0..100));
    assert_eq!(back.send_and_receive(100), []);
    assert_eq!((there.counters().lost, back.counters().lost), (0, 100));
}

#[test]
#[ignore = "needs root"]
fn filter_selects_the_affected_frames() {
    let testbed = builder().build().unwrap();
    let [selected, other] = [(); 2].map(|()| Path::new(&testbed, FirstToSecond));
    selected.set(Faults { loss: Chance::ALWAYS, ..Faults::NONE });
    let before = selected.counters().untouched;
    other.send(0..100);
    assert_eq!(selected.send_and_receive(100), []);
    assert_eq!(other.receive_all(), Vec::from_iter(0..100));
    assert_eq!((selected.counters().lost, selected.counters().untouched - before), (100, 100));
    let filter = Filter { protocol: Some(Protocol::Tcp), ..Filter::default() };
    let faults = Faults { filter, loss: Chance::ALWAYS, ..Faults::NONE };
    relay(&testbed).set_faults(FirstToSecond, faults);
    selected.send(0..100);
    assert_eq!(selected.receive_all(), Vec::from_iter(0..100));
}

#[test]
#[ignore = "needs root"]
fn arp_is_affected_only_on_request() {
    let counters_with = |arp| {
        let filter = Filter { arp, ..Filter::default() };
        let faults = Faults { filter, loss: Chance::ALWAYS, ..Faults::NONE };
        let testbed = builder().relay(RelaySettings::seeded(7).with(FirstToSecond, faults));
        let testbed = testbed.build().unwrap();
        let [first, second] = testbed.hosts();
        let (sender, receiver) = (udp_socket(first), udp_socket(second));
        sender.send_to(b"lost", receiver.local_addr().unwrap()).unwrap();
        assert!(eventually(|| relay(&testbed).counters(FirstToSecond).lost > 0));
        Direction::BOTH.map(|direction| relay(&testbed).counters(direction))
    };
    let [there, back] = counters_with(false);
    assert!(there.untouched > 0 && back.untouched > 0, "request and reply");
    let [there, back] = counters_with(true);
    assert_eq!((there.untouched, back.untouched, back.sent), (0, 0, 0));
}

#[test]
#[ignore = "needs root"]
fn faults_can_be_turned_off_and_directions_cut() {
    let testbed = builder().build().unwrap();
    let path = Path::new(&testbed, FirstToSecond);
    path.set(Faults { loss: Chance::ALWAYS, ..Faults::NONE });
    relay(&testbed).set_on(false);
    path.send(0..100);
    assert_eq!(path.receive_all(), Vec::from_iter(0..100));
    relay(&testbed).set_on(true);
    assert_eq!(path.send_and_receive(100), []);
    path.set(Faults::NONE);
    relay(&testbed).set_cut(FirstToSecond, true);
    assert_eq!(path.send_and_receive(100), []);
    relay(&testbed).set_cut(FirstToSecond, false);
    assert_eq!(path.send_and_receive(100), Vec::from_iter(0..100));
    let RelayCounters { sent, lost, cut, arrived, .. } = path.counters();
    assert_eq!((sent, lost, cut, arrived), (300, 100, 100, 100));
}

/// Sends at one byte per second, so no frame leaves during the test.
#[test]
#[ignore = "needs root"]
fn rate_limits_the_queue() {
    let testbed = builder().build().unwrap();
    let path = Path::new(&testbed, FirstToSecond);
    let length = 14 + 20 + 8 + datagram(0).len();
    let rate = Some(Rate { bytes_per_second: 1, queue_bytes: 3 * length });
    path.set(Faults { rate, ..Faults::NONE });
    path.send(0..100);
    assert!(eventually(|| path.counters().sent == 100));
    let RelayCounters { in_flight, overflowed, arrived, .. } = path.counters();
    assert_eq!((in_flight, overflowed, arrived), (3, 97, 0));
}

/// Returns pseudo-random bytes.
fn random_bytes(length: usize, seed: u64) -> Vec<u8> {
    let number = |index: u64| (index ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..length as u64 / 8 + 1).flat_map(|index| number(index).to_be_bytes()).take(length).collect()
}

/// Asserts that simultaneous TCP streams of `length` bytes in both directions arrive unchanged.
fn assert_streams_are_exact(testbed: &Testbed, length: usize) {
    let [server, client] = testbed.hosts();
    let listener = server.run(|| TcpListener::bind((server.address(), 0)).unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let near = client.run(|| TcpStream::connect(address).unwrap()).unwrap();
    let (far, _) = listener.accept().unwrap();
    std::thread::scope(|scope| {
        let ends = [(near, 1, 2), (far, 2, 1)].map(|(mut stream, ours, theirs)| {
            stream.set_read_timeout(Some(TIMEOUT)).unwrap();
            let mut reader = stream.try_clone().unwrap();
            scope.spawn(move || {
                stream.write_all(&random_bytes(length, ours)).unwrap();
                stream.shutdown(std::net::Shutdown::Write).unwrap();
            });
            scope.spawn(move || {
                let mut received = Vec::new();
                reader.read_to_end(&mut received).unwrap();
                assert!(received == random_bytes(length, theirs), "{} bytes", received.len());
            })
        });
        ends.into_iter().for_each(|end| end.join().unwrap());
    });
}

/// Asserts that datagrams of many sizes arrive unchanged, with fragmentation and UDP_SEGMENT.
fn assert_datagrams_are_exact(testbed: &Testbed) {
    let path = Path::new(testbed, FirstToSecond);
    let mut received = vec![0; 65_536];
    for length in (0..=1_473).step_by(31).chain([1_472, 5_000, 65_507]) {
        path.sender.send(&random_bytes(length, 3)).unwrap();
        assert_eq!(path.receiver.recv(&mut received).unwrap(), length);
        assert_eq!(received[..length], random_bytes(length, 3));
    }
    // SOL_UDP and UDP_SEGMENT of linux/udp.h, which libc lacks.
    set(&path.sender, 17, 103, 1_001);
    let whole = random_bytes(20_000, 4);
    path.sender.send(&whole).unwrap();
    for piece in whole.chunks(1_001) {
        let length = path.receiver.recv(&mut received).unwrap();
        assert_eq!(received[..length], *piece);
    }
}

fn assert_no_errors(testbed: &Testbed) {
    for direction in Direction::BOTH {
        let RelayCounters { missed, refused, malformed, .. } = relay(testbed).counters(direction);
        assert_eq!((missed, refused, malformed), (0, 0, 0), "{direction:?}");
    }
    for host in testbed.hosts() {
        for protocol in ["Udp", "Tcp"] {
            assert_eq!(snmp_counter(host, protocol, "InCsumErrors"), 0);
        }
        assert_eq!(snmp_counter(host, "Ip", "InHdrErrors"), 0);
    }
}

#[test]
#[ignore = "needs root"]
fn streams_and_datagrams_are_exact_with_and_without_offloads() {
    for offloads in [Some(Offloads::ON), Some(Offloads::OFF), None] {
        let testbed = builder();
        let testbed = offloads.map_or(testbed.clone(), |offloads| testbed.offloads(offloads));
        let testbed = testbed.build().unwrap();
        assert_streams_are_exact(&testbed, 4 << 20);
        assert_datagrams_are_exact(&testbed);
        assert_no_errors(&testbed);
        // The relay forwards segments of at most 1,448 bytes, whatever the offloads of the host.
        let RelayCounters { sent, .. } = relay(&testbed).counters(FirstToSecond);
        assert!(sent >= (4 << 20) / 1_448, "{sent} frames, {offloads:?}");
    }
}

#[test]
#[ignore = "needs root"]
fn streams_are_exact_with_many_queues_and_long_packets() {
    let testbed = builder().queues(Queues::pairs(4)).mtu(9_000).build().unwrap();
    for host in testbed.hosts() {
        assert_eq!((host.queues().unwrap(), host.mtu().unwrap()), (Queues::pairs(4), 9_000));
    }
    assert_streams_are_exact(&testbed, 4 << 20);
    assert_no_errors(&testbed);
    let RelayCounters { sent, .. } = relay(&testbed).counters(FirstToSecond);
    // The minimum of the data at this MTU. The maximum is the minimum at an MTU of 1,500, which
    // acknowledgments do not reach.
    assert!(((4 << 20) / 8_948..(4 << 20) / 1_448).contains(&sent), "{sent} frames");
    for host in testbed.hosts() {
        host.set_queues(Queues::pairs(2)).unwrap();
    }
    assert_streams_are_exact(&testbed, 1 << 20);
}

#[test]
#[ignore = "needs root"]
fn streams_survive_all_faults_together() {
    let faults = Faults {
        loss: Chance::percent(1),
        duplication: Chance::percent(1),
        corruption: Chance::percent(1),
        delay: Delay { jitter: MS, ..Delay::default() },
        reorders: true,
        holding: Some(Holding { chance: Chance::percent(1), frames: 3, at_most: MS * 5 }),
        ..Faults::NONE
    };
    let settings = RelaySettings { seed: 11, faults: [faults; 2] };
    for offloads in [Offloads::ON, Offloads::OFF] {
        let testbed = Testbed::builder().offloads(offloads).relay(settings).build().unwrap();
        assert_streams_are_exact(&testbed, 1 << 20);
        let counters = Direction::BOTH.map(|direction| relay(&testbed).counters(direction));
        let sum = |field: fn(&RelayCounters) -> u64| counters.iter().map(field).sum::<u64>();
        assert!(sum(|counters| counters.lost) > 0 && sum(|counters| counters.duplicated) > 0);
        assert!(sum(|counters| counters.reordered) > 0);
        let detected: u64 =
            testbed.hosts().iter().map(|host| snmp_counter(host, "Tcp", "InCsumErrors")).sum();
        assert!(detected > 0 && detected <= sum(|counters| counters.corrupted), "{detected}");
    }
}

#[test]
#[ignore = "needs root"]
fn multicast_passes() {
    const GROUP: Ipv4Addr = Ipv4Addr::new(239, 192, 7, 7);
    let testbed = builder().build().unwrap();
    let [first, second] = testbed.hosts();
    let receiver = second.run(|| {
        let socket = UdpSocket::bind((GROUP, 0)).unwrap();
        socket.join_multicast_v4(&GROUP, &Ipv4Addr::UNSPECIFIED).unwrap();
        socket.set_read_timeout(Some(TIMEOUT)).unwrap();
        socket
    });
    let receiver = receiver.unwrap();
    let port = receiver.local_addr().unwrap().port();
    udp_socket(first).send_to(b"packet", (GROUP, port)).unwrap();
    assert_eq!(receiver.recv(&mut [0; 16]).unwrap(), 6);
}

/// Two testbeds have the same addresses and ports. A cut in one does not affect the other.
#[test]
#[ignore = "needs root"]
fn relays_are_isolated() {
    let testbeds = [(); 2].map(|()| builder().build().unwrap());
    let paths = testbeds.each_ref().map(|testbed| Path::new(testbed, FirstToSecond));
    relay(&testbeds[0]).set_cut(FirstToSecond, true);
    assert_eq!(paths[1].send_and_receive(100), Vec::from_iter(0..100));
    assert_eq!((paths[0].counters().sent, paths[1].counters().sent), (0, 100));
    assert_eq!(paths[0].send_and_receive(50), []);
    assert_eq!((paths[0].counters().cut, paths[1].counters().sent), (50, 100));
}
