//! What the relay does to frames, seen from both hosts, as root.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use hairpin_testbed::Direction::{FirstToSecond, SecondToFirst};
use hairpin_testbed::{
    Chance, Delay, Direction, Faults, Filter, Holding, Host, Offloads, Part, Protocol, Queues,
    Rate, Relay, RelaySettings, Tally, Testbed, TestbedBuilder,
};

/// A defect shows as a time-out instead of a hang; long, because the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);
const COUNT: u32 = 2_000;
const MS: Duration = Duration::from_millis(1);

fn builder() -> TestbedBuilder {
    Testbed::builder().relay(RelaySettings::seeded(7))
}

fn relay(bed: &Testbed) -> &Relay {
    bed.relay().unwrap()
}

/// Polls, within bounds, until `is_so`.
fn eventually(is_so: impl Fn() -> bool) -> bool {
    (0..2_000).any(|_| {
        is_so() || {
            std::thread::sleep(MS * 10);
            false
        }
    })
}

fn udp(host: &Host) -> UdpSocket {
    let socket = host.run(|| UdpSocket::bind((host.address(), 0)).unwrap()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, 64 << 20);
    socket
}

fn set(socket: &UdpSocket, level: i32, option: i32, value: libc::c_int) {
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    let fd = socket.as_raw_fd();
    // SAFETY: the kernel reads one integer, which lives through the call.
    let result = unsafe { libc::setsockopt(fd, level, option, (&raw const value).cast(), length) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}

/// A count of `/proc/net/snmp` inside a host.
fn kernel_count(host: &Host, protocol: &str, name: &str) -> u64 {
    let read = || std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap();
    let text = host.run(read).unwrap();
    let mut lines = text.lines().filter(|line| line.split(':').next() == Some(protocol));
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let place = names.split(' ').position(|found| found == name).unwrap();
    values.split(' ').nth(place).unwrap().parse().unwrap()
}

/// Two sockets joined by the relay, from the first host to the second or back. They have passed a
/// datagram each way, so that ARP is done with; the relay's chance has not begun.
struct Path<'a> {
    bed: &'a Testbed,
    direction: Direction,
    sender: UdpSocket,
    receiver: UdpSocket,
}

impl<'a> Path<'a> {
    fn new(bed: &'a Testbed, direction: Direction) -> Self {
        let [first, second] = bed.hosts();
        let hosts = if direction == FirstToSecond { [first, second] } else { [second, first] };
        let [sender, receiver] = hosts.map(udp);
        relay(bed).set_on(false);
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        receiver.connect(sender.local_addr().unwrap()).unwrap();
        for (from, to) in [(&sender, &receiver), (&receiver, &sender)] {
            from.send(b"ready").unwrap();
            assert_eq!(to.recv(&mut [0; 16]).unwrap(), 5);
        }
        relay(bed).set_on(true);
        Self { bed, direction, sender, receiver }
    }

    /// Only what goes to the receiver.
    fn filter(&self) -> Filter {
        let port = Some(self.receiver.local_addr().unwrap().port());
        Filter { protocol: Some(Protocol::Udp), port, arp: false }
    }

    fn set(&self, faults: Faults) {
        let faults = Faults { filter: self.filter(), ..faults };
        relay(self.bed).set_faults(self.direction, faults);
    }

    fn tally(&self) -> Tally {
        relay(self.bed).tally(self.direction)
    }

    fn send(&self, numbers: std::ops::Range<u32>) {
        for number in numbers {
            self.sender.send(&datagram(number)).unwrap();
            if number % 50 == 49 {
                // Two cores and a busy machine: lets the relay have its turn.
                std::thread::sleep(MS);
            }
        }
    }

    /// Sends numbered datagrams and returns the numbers of those that arrive, as they arrive, once
    /// all of them have a fate. No byte of them is ever another.
    fn numbers_arriving(&self, count: u32) -> Vec<u32> {
        let before = self.tally().sent;
        self.send(0..count);
        let settled = || {
            let tally = self.tally();
            tally.sent - before == u64::from(count) && tally.under_way == 0
        };
        assert!(eventually(settled), "{:?}", self.tally());
        assert_eq!(self.tally().missed, 0, "the test would prove nothing");
        self.numbers_there()
    }

    fn numbers_there(&self) -> Vec<u32> {
        self.receiver.set_read_timeout(Some(MS * 300)).unwrap();
        let mut numbers = Vec::new();
        let mut bytes = [0; 2_000];
        loop {
            match self.receiver.recv(&mut bytes) {
                Ok(length) => {
                    let number = u32::from_be_bytes(bytes[..4].try_into().unwrap());
                    assert_eq!(bytes[..length], datagram(number), "it is not what was sent");
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

/// A number and bytes that follow from it.
fn datagram(number: u32) -> Vec<u8> {
    let filling = (0..200_u32).map(|index| (index.wrapping_mul(number + 1) >> 3) as u8);
    number.to_be_bytes().into_iter().chain(filling).collect()
}

/// How often a number comes after a greater one.
fn late(numbers: &[u32]) -> u64 {
    let mut greatest = 0;
    let is_late = |&&number: &&u32| {
        greatest = greatest.max(number);
        number < greatest
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
fn a_bed_with_a_relay_says_so() {
    let bed = builder().build().unwrap();
    assert!(bed.describe().starts_with("two network namespaces joined by a relay (seed 7)"));
    assert_eq!(relay(&bed).seed(), 7);
    assert!(Testbed::namespaces().unwrap().relay().is_none());
}

#[test]
#[ignore = "needs root"]
fn without_faults_all_arrives_in_order_both_ways() {
    let bed = builder().build().unwrap();
    for direction in Direction::BOTH {
        let path = Path::new(&bed, direction);
        path.set(Faults::NONE);
        assert_eq!(path.numbers_arriving(COUNT), Vec::from_iter(0..COUNT));
        let Tally { sent, arrived, lost, reordered, .. } = path.tally();
        assert_eq!((sent, arrived, lost, reordered), (COUNT.into(), COUNT.into(), 0, 0));
    }
}

#[test]
#[ignore = "needs root"]
fn lost_datagrams_are_those_that_are_counted() {
    let bed = builder().build().unwrap();
    let path = Path::new(&bed, FirstToSecond);
    path.set(Faults { loss: Chance::percent(10), ..Faults::NONE });
    let numbers = path.numbers_arriving(COUNT);
    let lost = path.tally().lost;
    assert_eq!(numbers.len() as u64 + lost, COUNT.into());
    assert!((150..250).contains(&lost) && numbers.is_sorted(), "{lost}");
}

#[test]
#[ignore = "needs root"]
fn duplicates_arrive_twice() {
    let bed = builder().build().unwrap();
    let path = Path::new(&bed, SecondToFirst);
    path.set(Faults { duplication: Chance::percent(10), ..Faults::NONE });
    let numbers = path.numbers_arriving(COUNT);
    let twice = numbers.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
    assert_eq!(twice, path.tally().duplicated);
    assert!((150..250).contains(&twice) && numbers.is_sorted());
    assert_eq!(without_duplicates(numbers), Vec::from_iter(0..COUNT));
}

#[test]
#[ignore = "needs root"]
fn delayed_datagrams_wait_for_their_time() {
    let bed = builder().build().unwrap();
    let path = Path::new(&bed, FirstToSecond);
    path.set(Faults { delay: Delay::exactly(MS * 50), ..Faults::NONE });
    let started = Instant::now();
    assert_eq!(path.numbers_arriving(1), [0]);
    assert!(started.elapsed() >= MS * 50);
    path.set(Faults { delay: Delay::exactly(PATIENCE * 100), ..Faults::NONE });
    path.send(0..20);
    assert!(eventually(|| path.tally().under_way == 20));
    assert_eq!((path.numbers_there(), path.tally().arrived), (vec![], 1));
}

#[test]
#[ignore = "needs root"]
fn jitter_reorders_where_it_may_and_nowhere_else() {
    let bed = builder().build().unwrap();
    let path = Path::new(&bed, FirstToSecond);
    let delay = Delay { jitter: MS * 20, ..Delay::default() };
    path.set(Faults { delay, ..Faults::NONE });
    assert_eq!(path.numbers_arriving(COUNT), Vec::from_iter(0..COUNT));
    path.set(Faults { delay, reorders: true, ..Faults::NONE });
    let numbers = path.numbers_arriving(COUNT);
    assert_eq!(late(&numbers), path.tally().reordered);
    assert!(late(&numbers) > 100);
    assert_eq!(without_duplicates(numbers), Vec::from_iter(0..COUNT));
}

#[test]
#[ignore = "needs root"]
fn held_datagrams_are_overtaken() {
    let bed = builder().build().unwrap();
    let path = Path::new(&bed, SecondToFirst);
    let holding = Holding { chance: Chance::percent(5), frames: 3, at_most: MS * 300 };
    path.set(Faults { holding: Some(holding), ..Faults::NONE });
    let numbers = path.numbers_arriving(COUNT);
    let Tally { held, reordered, .. } = path.tally();
    assert!((60..140).contains(&held), "{held}");
    // The very last of them may have been overtaken by nobody.
    assert!(reordered == late(&numbers) && (held - 3..=held).contains(&reordered));
    assert_eq!(without_duplicates(numbers), Vec::from_iter(0..COUNT));
}

#[test]
#[ignore = "needs root"]
fn long_delays_come_late() {
    let bed = builder().build().unwrap();
    let path = Path::new(&bed, FirstToSecond);
    let (long_chance, long) = (Chance::percent(5), MS * 200);
    let delay = Delay { long_chance, long, ..Delay::default() };
    path.set(Faults { delay, reorders: true, ..Faults::NONE });
    let numbers = path.numbers_arriving(COUNT);
    let Tally { delayed, reordered, .. } = path.tally();
    assert!((60..140).contains(&delayed) && reordered > 0, "{delayed} {reordered}");
    assert_eq!(reordered, late(&numbers));
    assert_eq!(without_duplicates(numbers), Vec::from_iter(0..COUNT));
}

/// Each flipped bit is seen by the kernel of the receiver, and none of it by a program.
fn corrupted_datagrams_are_noticed(bed: &Testbed, corrupted_part: Part) -> (u64, u64) {
    let path = Path::new(bed, FirstToSecond);
    path.set(Faults { corruption: Chance::percent(10), corrupted_part, ..Faults::NONE });
    let [_, host] = bed.hosts();
    let wrong = || {
        let of_udp = kernel_count(host, "Udp", "InErrors");
        (of_udp, of_udp + kernel_count(host, "Ip", "InHdrErrors"))
    };
    let before = (kernel_count(host, "Udp", "InCsumErrors"), wrong());
    let numbers = path.numbers_arriving(COUNT);
    let corrupted = path.tally().corrupted;
    assert!((150..250).contains(&corrupted));
    assert_eq!(numbers.len() as u64 + corrupted, COUNT.into());
    assert!(numbers.is_sorted());
    let by_checksum = kernel_count(host, "Udp", "InCsumErrors") - before.0;
    assert_eq!(wrong().1 - before.1.1, corrupted, "{:?}", wrong());
    (corrupted, by_checksum)
}

#[test]
#[ignore = "needs root"]
fn corrupted_payloads_fail_the_checksum_with_offloads_and_without() {
    for offloads in [Offloads::ON, Offloads::OFF] {
        let bed = builder().offloads(offloads).build().unwrap();
        let (corrupted, by_checksum) = corrupted_datagrams_are_noticed(&bed, Part::Payload);
        assert_eq!(corrupted, by_checksum, "{offloads}");
    }
}

#[test]
#[ignore = "needs root"]
fn corrupted_headers_are_noticed_too() {
    let bed = builder().build().unwrap();
    let (corrupted, by_checksum) = corrupted_datagrams_are_noticed(&bed, Part::Packet);
    // Those in the IP header do not come as far.
    assert!(by_checksum > 0 && by_checksum < corrupted, "{by_checksum} of {corrupted}");
}

fn same_seed_run(seed: u64) -> (Vec<u32>, Tally) {
    let bed = Testbed::builder().relay(RelaySettings::seeded(seed)).build().unwrap();
    let path = Path::new(&bed, FirstToSecond);
    let holding = Holding { chance: Chance::percent(5), frames: 4, at_most: MS * 2_500 };
    path.set(Faults {
        loss: Chance::percent(5),
        duplication: Chance::percent(5),
        corruption: Chance::percent(5),
        holding: Some(holding),
        ..Faults::NONE
    });
    (path.numbers_arriving(COUNT), Tally { untouched: 0, ..path.tally() })
}

#[test]
#[ignore = "needs root"]
fn one_seed_is_one_run_and_another_seed_another() {
    let (numbers, tally) = same_seed_run(7);
    assert_eq!(same_seed_run(7), (numbers.clone(), tally));
    assert_ne!(same_seed_run(8).0, numbers);
    let Tally { lost, duplicated, corrupted, held, .. } = tally;
    assert!([lost, duplicated, corrupted, held].iter().all(|&count| count > 0), "{tally:?}");
}

#[test]
#[ignore = "needs root"]
fn each_direction_has_its_own_faults() {
    let faults = Faults { loss: Chance::ALWAYS, ..Faults::NONE };
    let settings = RelaySettings::seeded(7).with(SecondToFirst, faults);
    let bed = Testbed::builder().relay(settings).build().unwrap();
    let [there, back] = Direction::BOTH.map(|direction| Path::new(&bed, direction));
    assert_eq!(there.numbers_arriving(100), Vec::from_iter(0..100));
    assert_eq!(back.numbers_arriving(100), []);
    assert_eq!((there.tally().lost, back.tally().lost), (0, 100));
}

#[test]
#[ignore = "needs root"]
fn what_the_filter_does_not_choose_is_untouched() {
    let bed = builder().build().unwrap();
    let [chosen, other] = [(); 2].map(|()| Path::new(&bed, FirstToSecond));
    chosen.set(Faults { loss: Chance::ALWAYS, ..Faults::NONE });
    let before = chosen.tally().untouched;
    other.send(0..100);
    assert_eq!(chosen.numbers_arriving(100), []);
    assert_eq!(other.numbers_there(), Vec::from_iter(0..100));
    assert_eq!((chosen.tally().lost, chosen.tally().untouched - before), (100, 100));
    let filter = Filter { protocol: Some(Protocol::Tcp), ..Filter::default() };
    let faults = Faults { filter, loss: Chance::ALWAYS, ..Faults::NONE };
    relay(&bed).set_faults(FirstToSecond, faults);
    chosen.send(0..100);
    assert_eq!(chosen.numbers_there(), Vec::from_iter(0..100));
}

#[test]
#[ignore = "needs root"]
fn arp_is_left_alone_unless_asked_for() {
    let tally = |arp| {
        let filter = Filter { arp, ..Filter::default() };
        let faults = Faults { filter, loss: Chance::ALWAYS, ..Faults::NONE };
        let bed = builder().relay(RelaySettings::seeded(7).with(FirstToSecond, faults));
        let bed = bed.build().unwrap();
        let [first, second] = bed.hosts();
        let (sender, receiver) = (udp(first), udp(second));
        sender.send_to(b"lost", receiver.local_addr().unwrap()).unwrap();
        assert!(eventually(|| relay(&bed).tally(FirstToSecond).lost > 0));
        Direction::BOTH.map(|direction| relay(&bed).tally(direction))
    };
    let [there, back] = tally(false);
    assert!(there.untouched > 0 && back.untouched > 0, "question and answer");
    let [there, back] = tally(true);
    assert_eq!((there.untouched, back.untouched, back.sent), (0, 0, 0));
}

#[test]
#[ignore = "needs root"]
fn it_can_be_switched_off_and_on_cut_and_mended() {
    let bed = builder().build().unwrap();
    let path = Path::new(&bed, FirstToSecond);
    path.set(Faults { loss: Chance::ALWAYS, ..Faults::NONE });
    relay(&bed).set_on(false);
    path.send(0..100);
    assert_eq!(path.numbers_there(), Vec::from_iter(0..100));
    relay(&bed).set_on(true);
    assert_eq!(path.numbers_arriving(100), []);
    path.set(Faults::NONE);
    relay(&bed).set_cut(FirstToSecond, true);
    assert_eq!(path.numbers_arriving(100), []);
    relay(&bed).set_cut(FirstToSecond, false);
    assert_eq!(path.numbers_arriving(100), Vec::from_iter(0..100));
    let Tally { sent, lost, cut, arrived, .. } = path.tally();
    assert_eq!((sent, lost, cut, arrived), (300, 100, 100, 100));
}

/// At a byte a second nothing leaves while the test runs.
#[test]
#[ignore = "needs root"]
fn a_line_with_a_rate_has_a_queue_that_fills() {
    let bed = builder().build().unwrap();
    let path = Path::new(&bed, FirstToSecond);
    let length = 14 + 20 + 8 + datagram(0).len();
    let rate = Some(Rate { bytes_per_second: 1, queue_bytes: 3 * length });
    path.set(Faults { rate, ..Faults::NONE });
    path.send(0..100);
    assert!(eventually(|| path.tally().sent == 100));
    let Tally { under_way, overflowed, arrived, .. } = path.tally();
    assert_eq!((under_way, overflowed, arrived), (3, 97, 0));
}

/// Bytes of which no stretch is like another.
fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let number = |index: u64| (index ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..length as u64 / 8 + 1).flat_map(|index| number(index).to_be_bytes()).take(length).collect()
}

/// Streams both ways at the same time, as long as asked.
fn streams_are_byte_exact(bed: &Testbed, length: usize) {
    let [server, client] = bed.hosts();
    let listener = server.run(|| TcpListener::bind((server.address(), 0)).unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let near = client.run(|| TcpStream::connect(address).unwrap()).unwrap();
    let (far, _) = listener.accept().unwrap();
    std::thread::scope(|scope| {
        let ends = [(near, 1, 2), (far, 2, 1)].map(|(mut stream, ours, theirs)| {
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut reader = stream.try_clone().unwrap();
            scope.spawn(move || {
                stream.write_all(&bytes(length, ours)).unwrap();
                stream.shutdown(std::net::Shutdown::Write).unwrap();
            });
            scope.spawn(move || {
                let mut received = Vec::new();
                reader.read_to_end(&mut received).unwrap();
                assert!(received == bytes(length, theirs), "{} bytes", received.len());
            })
        });
        ends.into_iter().for_each(|end| end.join().unwrap());
    });
}

/// Datagrams of many sizes, whole, in fragments, and several handed over at once.
fn datagrams_are_byte_exact(bed: &Testbed) {
    let path = Path::new(bed, FirstToSecond);
    let mut received = vec![0; 65_536];
    for length in (0..=1_473).step_by(31).chain([1_472, 5_000, 65_507]) {
        path.sender.send(&bytes(length, 3)).unwrap();
        assert_eq!(path.receiver.recv(&mut received).unwrap(), length);
        assert_eq!(received[..length], bytes(length, 3));
    }
    // Not in libc: SOL_UDP and UDP_SEGMENT of linux/udp.h.
    set(&path.sender, 17, 103, 1_001);
    let whole = bytes(20_000, 4);
    path.sender.send(&whole).unwrap();
    for piece in whole.chunks(1_001) {
        let length = path.receiver.recv(&mut received).unwrap();
        assert_eq!(received[..length], *piece);
    }
}

fn assert_nothing_wrong(bed: &Testbed) {
    for direction in Direction::BOTH {
        let Tally { missed, refused, malformed, .. } = relay(bed).tally(direction);
        assert_eq!((missed, refused, malformed), (0, 0, 0), "{direction:?}");
    }
    for host in bed.hosts() {
        for protocol in ["Udp", "Tcp"] {
            assert_eq!(kernel_count(host, protocol, "InCsumErrors"), 0);
        }
        assert_eq!(kernel_count(host, "Ip", "InHdrErrors"), 0);
    }
}

#[test]
#[ignore = "needs root"]
fn streams_and_datagrams_are_byte_exact_with_offloads_and_without() {
    for offloads in [Some(Offloads::ON), Some(Offloads::OFF), None] {
        let bed = builder();
        let bed = offloads.map_or(bed.clone(), |offloads| bed.offloads(offloads));
        let bed = bed.build().unwrap();
        streams_are_byte_exact(&bed, 4 << 20);
        datagrams_are_byte_exact(&bed);
        assert_nothing_wrong(&bed);
        // Whatever the host did, the wire has carried segments: 1,448 bytes are the most.
        let Tally { sent, .. } = relay(&bed).tally(FirstToSecond);
        assert!(sent >= (4 << 20) / 1_448, "{sent} frames, {offloads:?}");
    }
}

#[test]
#[ignore = "needs root"]
fn streams_are_byte_exact_with_many_queues_and_long_packets() {
    let bed = builder().queues(Queues::pairs(4)).mtu(9_000).build().unwrap();
    for host in bed.hosts() {
        assert_eq!((host.queues().unwrap(), host.mtu().unwrap()), (Queues::pairs(4), 9_000));
    }
    streams_are_byte_exact(&bed, 4 << 20);
    assert_nothing_wrong(&bed);
    let Tally { sent, .. } = relay(&bed).tally(FirstToSecond);
    // The data need no less than that, and far fewer than at 1,448 bytes even with as many
    // acknowledgements of what comes back.
    assert!(((4 << 20) / 8_948..(4 << 20) / 1_448).contains(&sent), "{sent} frames");
    for host in bed.hosts() {
        host.set_queues(Queues::pairs(2)).unwrap();
    }
    streams_are_byte_exact(&bed, 1 << 20);
}

#[test]
#[ignore = "needs root"]
fn streams_survive_everything_at_once() {
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
        let bed = Testbed::builder().offloads(offloads).relay(settings).build().unwrap();
        streams_are_byte_exact(&bed, 1 << 20);
        let tallies = Direction::BOTH.map(|direction| relay(&bed).tally(direction));
        let sum = |of: fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
        assert!(sum(|tally| tally.lost) > 0 && sum(|tally| tally.duplicated) > 0);
        assert!(sum(|tally| tally.reordered) > 0);
        let noticed: u64 =
            bed.hosts().iter().map(|host| kernel_count(host, "Tcp", "InCsumErrors")).sum();
        assert!(noticed > 0 && noticed <= sum(|tally| tally.corrupted), "{noticed}");
    }
}

#[test]
#[ignore = "needs root"]
fn multicast_passes() {
    const GROUP: Ipv4Addr = Ipv4Addr::new(239, 192, 7, 7);
    let bed = builder().build().unwrap();
    let [first, second] = bed.hosts();
    let receiver = second.run(|| {
        let socket = UdpSocket::bind((GROUP, 0)).unwrap();
        socket.join_multicast_v4(&GROUP, &Ipv4Addr::UNSPECIFIED).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    });
    let receiver = receiver.unwrap();
    let port = receiver.local_addr().unwrap().port();
    udp(first).send_to(b"packet", (GROUP, port)).unwrap();
    assert_eq!(receiver.recv(&mut [0; 16]).unwrap(), 6);
}

/// The same addresses and ports, and what is cut in one bed passes in the other.
#[test]
#[ignore = "needs root"]
fn two_beds_with_relays_do_not_meet() {
    let beds = [(); 2].map(|()| builder().build().unwrap());
    let paths = beds.each_ref().map(|bed| Path::new(bed, FirstToSecond));
    relay(&beds[0]).set_cut(FirstToSecond, true);
    assert_eq!(paths[1].numbers_arriving(100), Vec::from_iter(0..100));
    assert_eq!((paths[0].tally().sent, paths[1].tally().sent), (0, 100));
    assert_eq!(paths[0].numbers_arriving(50), []);
    assert_eq!((paths[0].tally().cut, paths[1].tally().sent), (50, 100));
}
