//! The filter's program, run by the kernel on test frames and compared with a reference in Rust.

mod frames;
mod reference;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;

use frames::{GROUPS_4, GROUPS_6, LOCALS_4, LOCALS_6, PORTS, REMOTES_4, REMOTES_6};
use hairpin_testbed::{Queues, Testbed};
use hairpin_testkit::Random;
use hairpin_xdp::{
    Device, Entry, Filter, FilterSettings, Link, Mode, Protocol, Socket, SocketSettings, Umem,
    UmemSettings, Verdict,
};
use reference::{BRANCHES, Branch, Census, LONGEST_DATAGRAM, Outcome, Reference};

/// Frames of each of two runs, in addition to truncated ones.
const FRAMES: u32 = 20_000;
const SLOTS: u32 = 3;
/// Queues per slot; the interface has one more.
const QUEUES: u32 = 2;

/// A filter attached to an interface, with a socket on each of the slots' queues.
struct Kernel {
    filter: Filter,
    sockets: Vec<Socket>,
    interface: u32,
    _link: Link,
}

/// The sockets that are set in the filter. The slot that a frame goes to shows by leaving the
/// others out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Population {
    Slot(u32),
    /// The first queue of slot 0 only.
    FirstQueue,
}

impl Population {
    const ALL: [Self; 4] = [Self::Slot(0), Self::Slot(1), Self::Slot(2), Self::FirstQueue];

    fn has(self, slot: u32, queue: u32) -> bool {
        match self {
            Self::Slot(number) => slot == number && queue < QUEUES,
            Self::FirstQueue => (slot, queue) == (0, 0),
        }
    }
}

impl Kernel {
    fn new() -> Self {
        Self::with_settings(&FilterSettings {
            slots: SLOTS,
            queues: QUEUES,
            longest_datagram: LONGEST_DATAGRAM,
            ..FilterSettings::default()
        })
    }

    fn with_settings(settings: &FilterSettings) -> Self {
        let device = Device::from_name("veth0").unwrap();
        assert_eq!(device.queues, QUEUES + 1);
        let filter = Filter::load(settings).unwrap();
        let link = filter.attach(device.index, Mode::Native).unwrap();
        assert_eq!(link.mode(), Mode::Native);
        let umem = UmemSettings { frames: 64, ..UmemSettings::default() };
        let (umem, _pool) = Umem::create(&umem).unwrap();
        let settings = SocketSettings { ring: 64, ..SocketSettings::default() };
        let first = Socket::open(device.index, 0, &umem, &settings).unwrap();
        let second = first.open_shared_umem(device.index, 1).unwrap();
        let (interface, sockets) = (device.index, vec![first, second]);
        Self { filter, sockets, interface, _link: link }
    }

    fn populate(&self, population: Population) {
        for number in 0..SLOTS {
            let slot = self.filter.slot(number).unwrap();
            for (queue, socket) in (0..).zip(&self.sockets) {
                if population.has(number, queue) {
                    self.filter.set_socket(slot, queue, socket.as_fd()).unwrap();
                } else {
                    self.filter.clear_socket(slot, queue).unwrap();
                }
            }
        }
    }

    fn enter(&self, reference: &Reference) {
        for (entry, outcome) in &reference.entries {
            let verdict = match outcome {
                Outcome::Kernel => Verdict::Kernel,
                Outcome::Slot(number) => Verdict::Slot(self.filter.slot(*number).unwrap()),
            };
            self.filter.insert(entry, verdict).unwrap();
            assert_eq!(self.filter.verdict(entry).unwrap(), Some(verdict));
        }
    }

    /// Compares the program's verdict for each frame on each queue with the reference.
    fn compare(&self, reference: &Reference, frames: &[Vec<u8>], census: &mut Census) {
        for frame in frames {
            census.count(reference.decide(frame).1);
        }
        for population in Population::ALL {
            self.populate(population);
            for frame in frames {
                let (outcome, path) = reference.decide(frame);
                for queue in 0..=QUEUES {
                    let expected = match outcome {
                        Outcome::Kernel => false,
                        Outcome::Slot(slot) => population.has(slot, queue),
                    };
                    let from = Some((self.interface, queue));
                    let redirected = self.filter.would_redirect(frame, from).unwrap();
                    assert_eq!(
                        redirected, expected,
                        "{path:?} queue {queue} {population:?} of {frame:02x?}"
                    );
                }
            }
        }
    }
}

/// Returns entries of every kind, for each outcome, in both families, with and without a VLAN.
fn entries() -> Vec<(Entry, Outcome)> {
    let mut all = Vec::new();
    for (at, vlan) in [None, Some(7), Some(0x700)].into_iter().enumerate() {
        let slot = |number: u32| Outcome::Slot((number + at as u32) % SLOTS);
        let any = |port: u16, number| {
            let ends: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
            let entry = move |(index, ip)| {
                let local = SocketAddr::new(ip, port);
                let protocol = if index == 0 { Protocol::Udp } else { Protocol::Tcp };
                (Entry::Local { protocol, vlan, local }, slot(number))
            };
            (0..).zip(ends).map(entry)
        };
        all.extend(any(PORTS[0], 0));
        all.extend(any(PORTS[2], 1));
        let families: [[IpAddr; 2]; 2] =
            [[LOCALS_4[0].into(), REMOTES_4[0].into()], [LOCALS_6[0].into(), REMOTES_6[0].into()]];
        for [local, remote] in families {
            for protocol in [Protocol::Tcp, Protocol::Udp] {
                let flow = |to, from, outcome| {
                    let [local, remote] =
                        [SocketAddr::new(local, to), SocketAddr::new(remote, from)];
                    (Entry::Flow { protocol, vlan, local, remote }, outcome)
                };
                all.push(flow(PORTS[0], PORTS[1], slot(2)));
                all.push(flow(PORTS[0], PORTS[3], Outcome::Kernel));
                all.push(flow(PORTS[1], PORTS[0], slot(0)));
                let port = |port, outcome| {
                    let local = SocketAddr::new(local, port);
                    (Entry::Local { protocol, vlan, local }, outcome)
                };
                all.push(port(PORTS[1], slot(1)));
                // The kernel keeps one address of a port that is redirected on all others.
                all.push(port(PORTS[2], Outcome::Kernel));
            }
        }
        let groups =
            [(GROUPS_4[0].into(), GROUPS_4[1].into()), (GROUPS_6[0].into(), GROUPS_6[1].into())];
        for (first, second) in groups {
            let group =
                |group: IpAddr, port, outcome| (Entry::Group { vlan, group, port }, outcome);
            all.push(group(first, Some(PORTS[0]), slot(0)));
            all.push(group(first, Some(PORTS[1]), Outcome::Kernel));
            all.push(group(first, None, slot(1)));
            all.push(group(second, Some(PORTS[0]), slot(2)));
        }
        all.push((Entry::EtherType { vlan, ether_type: 0x88b5 }, slot(0)));
        if vlan.is_some() {
            all.push((Entry::EtherType { vlan, ether_type: 0x88b6 }, Outcome::Kernel));
        }
    }
    all
}

/// Returns a few frames, truncated after every byte.
fn cut_off(chance: &mut Random) -> Vec<Vec<u8>> {
    let wholes: Vec<_> = (0..200).map(|_| frames::whole(chance)).collect();
    let cut = |frame: Vec<u8>| (14..=frame.len()).map(move |length| frame[..length].to_vec());
    wholes.into_iter().flat_map(cut).collect()
}

#[test]
#[ignore = "needs root"]
fn program_agrees_with_the_reference() {
    let testbed = Testbed::builder().queues(Queues::pairs(QUEUES + 1)).build().unwrap();
    testbed.hosts()[0]
        .run(|| {
            let kernel = Kernel::new();
            let mut reference = Reference { entries: entries() };
            let (mut chance, mut census) = (Random::new(1), Census::default());
            kernel.enter(&reference);
            let frames: Vec<_> = (0..FRAMES).map(|_| frames::frame(&mut chance)).collect();
            kernel.compare(&reference, &frames, &mut census);
            kernel.compare(&reference, &cut_off(&mut chance), &mut census);
            check(&census);
            // Removes every other entry and changes every other remaining one, while the filter is
            // in use.
            let mut index = 0;
            reference.entries.retain(|(entry, _)| {
                index += 1;
                index % 2 == 0 || !kernel.filter.remove(entry).unwrap()
            });
            for (_, outcome) in reference.entries.iter_mut().step_by(2) {
                *outcome =
                    if *outcome == Outcome::Kernel { Outcome::Slot(1) } else { Outcome::Kernel };
            }
            kernel.enter(&reference);
            let frames: Vec<_> = (0..FRAMES).map(|_| frames::frame(&mut chance)).collect();
            kernel.compare(&reference, &frames, &mut census);
            census.print();
        })
        .unwrap();
}

/// Checks that the program agrees with the reference on each frame, with sockets in slot 0 only.
fn agree(kernel: &Kernel, reference: &Reference, frames: &[Vec<u8>], what: &str) {
    for frame in frames {
        let expected = reference.decide(frame).0 == Outcome::Slot(0);
        let redirected = kernel.filter.would_redirect(frame, Some((kernel.interface, 0))).unwrap();
        assert_eq!(redirected, expected, "{what}: {:?}, {frame:02x?}", reference.decide(frame).1);
    }
}

/// Inserts each entry into an empty filter, as the first of its kind, and removes it as the last.
#[test]
#[ignore = "needs root"]
fn first_entry_of_a_kind_matches_and_none_after_the_last() {
    let testbed = Testbed::builder().queues(Queues::pairs(QUEUES + 1)).build().unwrap();
    testbed.hosts()[0]
        .run(|| {
            let kernel = Kernel::new();
            kernel.populate(Population::Slot(0));
            let slot = Verdict::Slot(kernel.filter.slot(0).unwrap());
            let mut chance = Random::new(2);
            let frames: Vec<_> = (0..60_000).map(|_| frames::whole(&mut chance)).collect();
            let mut reference = Reference { entries: Vec::new() };
            let mut matched = Vec::new();
            for entry in entries().into_iter().map(|(entry, _)| entry) {
                kernel.filter.insert(&entry, slot).unwrap();
                reference.entries.push((entry, Outcome::Slot(0)));
                let matching: Vec<_> = frames
                    .iter()
                    .filter(|frame| reference.decide(frame).0 == Outcome::Slot(0))
                    .cloned()
                    .collect();
                matched.push(!matching.is_empty());
                agree(&kernel, &reference, &matching, "with the first entry");
                assert!(kernel.filter.remove(&entry).unwrap());
                reference.entries.clear();
                agree(&kernel, &reference, &matching, "after the last entry");
            }
            agree(&kernel, &reference, &frames, "without entries");
            let never = matched.iter().filter(|&&was_matched| !was_matched).count();
            assert!(
                never * 10 <= matched.len(),
                "{never} of {} entries never matched",
                matched.len()
            );
        })
        .unwrap();
}

/// Inserts, changes and removes more EtherTypes than have inline slots, in random order.
#[test]
#[ignore = "needs root"]
fn ether_types_change_with_and_without_an_inline_slot() {
    let testbed = Testbed::builder().queues(Queues::pairs(QUEUES + 1)).build().unwrap();
    testbed.hosts()[0]
        .run(|| {
            let kernel = Kernel::new();
            kernel.populate(Population::Slot(0));
            let (mut chance, mut matched) = (Random::new(3), 0);
            let mut reference = Reference { entries: Vec::new() };
            let all: Vec<_> = [None, Some(7), Some(4_094)]
                .into_iter()
                .flat_map(|vlan| [0x88b5, 0x0600, 0xffff].map(|kind| (vlan, kind)))
                .collect();
            let frame = |(vlan, ether_type): &(Option<u16>, u16)| {
                let tag = vlan.map(|vlan| [0x81, 0, (vlan >> 8) as u8, vlan as u8]);
                let kind = ether_type.to_be_bytes();
                let front = [&[2; 12], &tag.map_or(vec![], Vec::from)[..], &kind].concat();
                [front, vec![0; 46]].concat()
            };
            let frames: Vec<_> = all.iter().chain(&[(None, 0)]).map(frame).collect();
            for _ in 0..2_000 {
                let (vlan, ether_type) = chance.pick(&all);
                let entry = Entry::EtherType { vlan, ether_type };
                let was_there = reference.entries.iter().any(|(other, _)| *other == entry);
                reference.entries.retain(|(other, _)| *other != entry);
                if chance.below(2) == 0 {
                    assert_eq!(kernel.filter.remove(&entry).unwrap(), was_there);
                } else {
                    let outcome = chance.pick(&[Outcome::Kernel, Outcome::Slot(0)]);
                    reference.entries.push((entry, outcome));
                    kernel.enter(&Reference { entries: vec![(entry, outcome)] });
                }
                agree(&kernel, &reference, &frames, "EtherTypes");
                matched = matched.max(reference.entries.len());
            }
            assert!(matched > 6, "at most {matched} entries at one time");
        })
        .unwrap();
}

/// A single-EtherType filter: frames of every kind, truncated at every byte of the header.
#[test]
#[ignore = "needs root"]
fn single_ether_type_filter_redirects_nothing_else() {
    let testbed = Testbed::builder().queues(Queues::pairs(QUEUES + 1)).build().unwrap();
    testbed.hosts()[0]
        .run(|| {
            let mut chance = Random::new(4);
            let mut frames: Vec<_> = (0..2_000).map(|_| frames::whole(&mut chance)).collect();
            for only in [0x88b5_u16, 0x0600, 0xffff] {
                let tagged = [&[2; 12][..], &[0x81, 0, 0, 7], &only.to_be_bytes(), &[0; 46]];
                frames.push(tagged.concat());
                let swapped = only.swap_bytes().to_be_bytes();
                for kind in [only.to_be_bytes(), swapped] {
                    let plain = [&[2; 12][..], &kind, &[0; 46]].concat();
                    frames.extend((14..plain.len()).map(|length| plain[..length].to_vec()));
                }
            }
            for only in [0x88b5, 0x0600, 0xffff] {
                let settings = FilterSettings {
                    slots: 2,
                    queues: QUEUES,
                    only_ether_type: Some(only),
                    ..FilterSettings::default()
                };
                let kernel = Kernel::with_settings(&settings);
                let (first, second) = (kernel.filter.slot(0).unwrap(), kernel.filter.slot(1));
                let mut matched = [0; 2];
                for population in [false, true] {
                    for (queue, socket) in (0..).zip(&kernel.sockets) {
                        // Sockets in another slot receive nothing.
                        let slot = if population { first } else { second.unwrap() };
                        kernel.filter.set_socket(slot, queue, socket.as_fd()).unwrap();
                    }
                    for frame in &frames {
                        let is_match = frame[12..14] == only.to_be_bytes();
                        matched[usize::from(is_match)] += 1;
                        for queue in 0..=QUEUES {
                            let from = Some((kernel.interface, queue));
                            let expected = population && is_match && queue < QUEUES;
                            let redirected = kernel.filter.would_redirect(frame, from).unwrap();
                            assert_eq!(redirected, expected, "{only:#x} {queue} {frame:02x?}");
                        }
                    }
                }
                assert!(matched.iter().all(|&matched| matched >= 40), "{matched:?}");
                let entry = Entry::EtherType { vlan: None, ether_type: 0x9000 };
                let refused = kernel.filter.insert(&entry, Verdict::Slot(first)).unwrap_err();
                let expected =
                    format!("cannot add an entry: the filter is for EtherType {only:#06x} only");
                assert_eq!(refused.to_string(), expected);
            }
            for reserved in [0x0800, 0x86dd, 0x0806, 0x8100, 0x05ff] {
                let only = Some(reserved);
                let refused = Filter::load(&FilterSettings {
                    only_ether_type: only,
                    ..FilterSettings::default()
                });
                assert!(refused.unwrap_err().to_string().ends_with("reserved for the kernel"));
            }
        })
        .unwrap();
}

/// Checks that every branch was taken; a branch that never was proves nothing.
fn check(census: &Census) {
    for branch in BRANCHES {
        assert!(census.count_of(branch, "") > 0, "{branch:?} was never taken");
    }
    use Branch::{AnyAddress, EtherTypeEntry, Flow, Group, GroupPort, NoEntry, NotMulticast, Port};
    for branch in [Flow, Port, AnyAddress, GroupPort, Group, NotMulticast, NoEntry] {
        for terms in ["tagged IPv4", "untagged IPv4", "tagged IPv6", "untagged IPv6"] {
            assert!(census.count_of(branch, terms) > 0, "{branch:?} was never {terms}");
        }
    }
    for branch in [Flow, Port, GroupPort, EtherTypeEntry] {
        for terms in ["Kernel", "Slot(0)", "Slot(1)", "Slot(2)"] {
            assert!(census.count_of(branch, terms) > 0, "{branch:?} never led to {terms}");
        }
    }
}

#[test]
#[ignore = "needs root"]
fn connection_has_arrived_once_a_frame_of_it_was_passed() {
    let filter = Filter::load(&FilterSettings::default()).unwrap();
    let ends: [[IpAddr; 2]; 2] =
        [[LOCALS_4[0].into(), REMOTES_4[0].into()], [LOCALS_6[0].into(), REMOTES_6[0].into()]];
    for (family, [to, from]) in ends.into_iter().enumerate() {
        let flow = |local, remote| Entry::Flow {
            protocol: Protocol::Tcp,
            vlan: None,
            local: SocketAddr::new(to, local),
            remote: SocketAddr::new(from, remote),
        };
        let udp = frames::udp(to, 443, from, 7_000);
        let mut tcp = udp.clone();
        tcp[[23, 20][family]] = 6;
        let cut = tcp.clone();
        tcp.extend([0; 12]);
        for (frame, expected) in [(udp, false), (cut, false), (tcp, true)] {
            assert!(!filter.would_redirect(&frame, None).unwrap());
            assert_eq!(filter.has_arrived(&flow(443, 7_000)).unwrap(), expected, "{frame:02x?}");
        }
        assert!(!filter.has_arrived(&flow(7_000, 443)).unwrap());
        assert!(!filter.has_arrived(&flow(443, 7_001)).unwrap());
    }
}

#[test]
#[ignore = "needs root"]
fn maps_accept_entries_up_to_their_capacity() {
    let settings = FilterSettings { flows: 2, locals: 2, groups: 2, ..FilterSettings::default() };
    let filter = Filter::load(&settings).unwrap();
    let local = |port| SocketAddr::new(LOCALS_4[0].into(), port);
    let remote = SocketAddr::new(REMOTES_4[0].into(), 1);
    // Untagged IPv4 flows have a table of their own.
    let (protocol, vlan, group) = (Protocol::Udp, Some(7), GROUPS_4[0].into());
    let kinds: [&dyn Fn(u16) -> Entry; 3] = [
        &|port| Entry::Flow { protocol, vlan, local: local(port), remote },
        &|port| Entry::Local { protocol, vlan, local: local(port) },
        &|port| Entry::Group { vlan, group, port: Some(port) },
    ];
    for kind in kinds {
        filter.insert(&kind(1), Verdict::Kernel).unwrap();
        filter.insert(&kind(2), Verdict::Kernel).unwrap();
        let error = filter.insert(&kind(3), Verdict::Kernel).unwrap_err();
        assert_eq!(error.to_string(), "cannot add an entry: the filter is full");
        assert!(filter.remove(&kind(1)).unwrap());
        assert!(!filter.remove(&kind(1)).unwrap());
        filter.insert(&kind(3), Verdict::Kernel).unwrap();
    }
}

#[test]
#[ignore = "needs root"]
fn unattached_filter_runs_on_loopback() {
    let filter = Filter::load(&FilterSettings::default()).unwrap();
    let frame = frames::udp(LOCALS_4[0].into(), 9, REMOTES_4[0].into(), 9);
    assert!(!filter.would_redirect(&frame, None).unwrap());
    assert!(filter.would_redirect(&frame[..13], None).is_err());
    assert!(filter.slot(15).is_some() && filter.slot(16).is_none());
    let six = frames::udp(LOCALS_6[0].into(), 9, REMOTES_6[0].into(), 9);
    assert!(!filter.would_redirect(&six, None).unwrap());
}
