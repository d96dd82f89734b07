//! Entries added to, changed in and removed from the AF_XDP flow filter, with frames in between.
//!
//! Checks that the kernel's program redirects exactly the frames that the current entries select,
//! compared with a reference that searches them one by one. The program runs in the kernel
//! (`BPF_PROG_TEST_RUN`) as root. Without the capabilities, the target prints a notice once and
//! does nothing.
//!
//! Input: steps that add or remove an entry, or create a random frame from a seed, which bytes of
//! the input may overwrite.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;
use std::sync::{Mutex, OnceLock, PoisonError};

use hairpin_testbed::Testbed;
use hairpin_testkit::Random;
use hairpin_xdp::{
    Entry, Filter, FilterSettings, FramePool, Protocol, Socket, SocketSettings, Umem, UmemSettings,
    Verdict, check_capabilities,
};

use crate::Seed;
use crate::filter_frames::{
    self, GROUPS_4, GROUPS_6, LOCALS_4, LOCALS_6, PORTS, REMOTES_4, REMOTES_6,
};
use crate::filter_reference::{LONGEST_DATAGRAM, Outcome, Reference};
use crate::script::Script;

const VLANS: [Option<u16>; 4] = [None, Some(7), Some(0x700), Some(4_094)];
const ETHER_TYPES: [u16; 6] = [0x88b5, 0x88b6, 0x0600, 0x9000, 0x9001, 0xffff];
/// The outcomes: the first slot has a socket, the second has none.
const OUTCOMES: [Outcome; 3] = [Outcome::Slot(0), Outcome::Kernel, Outcome::Slot(1)];

/// A filter, and everything that must live as long as its socket.
struct Kernel {
    filter: Filter,
    _socket: Socket,
    _memory: (Umem, FramePool),
    _bed: Testbed,
}

impl Kernel {
    fn new() -> Self {
        let bed = Testbed::namespaces().expect("root can create hosts");
        let settings =
            FilterSettings { longest_datagram: LONGEST_DATAGRAM, ..FilterSettings::default() };
        let filter = Filter::load(&settings).expect("root can load a program");
        let settings = UmemSettings { frames: 16, ..UmemSettings::default() };
        let memory = Umem::create(&settings).expect("memory can be allocated");
        let settings = SocketSettings { ring: 16, ..SocketSettings::default() };
        let index = bed.hosts()[0].interface_index();
        let open = || Socket::open(index, 0, &memory.0, &settings);
        let socket = bed.hosts()[0].run(open).expect("threads can be started").expect("a socket");
        let slot = filter.slot(0).expect("a filter has a slot");
        filter.set_socket(slot, 0, socket.as_fd()).expect("the slot has a queue");
        Self { filter, _socket: socket, _memory: memory, _bed: bed }
    }

    fn enter(&self, entry: &Entry, outcome: Outcome) {
        let verdict = match outcome {
            Outcome::Kernel => Verdict::Kernel,
            Outcome::Slot(number) => Verdict::Slot(self.filter.slot(number).expect("of sixteen")),
        };
        self.filter.insert(entry, verdict).expect("the buffer has room");
        assert_eq!(self.filter.verdict(entry).expect("the request is valid"), Some(verdict));
    }
}

/// Runs one input.
pub fn run(bytes: &[u8]) {
    static KERNEL: OnceLock<Option<Mutex<Kernel>>> = OnceLock::new();
    let kernel = KERNEL.get_or_init(|| match check_capabilities() {
        Ok(()) => Some(Mutex::new(Kernel::new())),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    });
    if let Some(kernel) = kernel {
        play(&kernel.lock().unwrap_or_else(PoisonError::into_inner), Script(bytes));
    }
}

fn play(kernel: &Kernel, mut script: Script<'_>) {
    let mut reference = Reference { entries: Vec::new() };
    while !script.is_over() {
        match script.below(4) {
            0 => {
                let entry = entry(&mut script);
                let is_there = reference.entries.iter().any(|(other, _)| *other == entry);
                reference.entries.retain(|(other, _)| *other != entry);
                let was_there = kernel.filter.remove(&entry).expect("the entry can be removed");
                assert_eq!(was_there, is_there, "{entry:?}");
            }
            1 => {
                let (entry, outcome) = (entry(&mut script), of(&mut script, &OUTCOMES));
                reference.entries.retain(|(other, _)| *other != entry);
                reference.entries.push((entry, outcome));
                kernel.enter(&entry, outcome);
            }
            _ => {
                let frame = frame(&mut script);
                let (outcome, way) = reference.decide(&frame);
                let redirected = kernel.filter.would_redirect(&frame, None).expect("a frame");
                assert_eq!(redirected, outcome == Outcome::Slot(0), "{way:?} {frame:02x?}");
            }
        }
    }
    for (entry, _) in &reference.entries {
        assert!(kernel.filter.remove(entry).expect("the entry can be removed"), "{entry:?}");
    }
}

fn of<T: Copy>(script: &mut Script<'_>, all: &[T]) -> T {
    all[usize::from(script.byte()) % all.len()]
}

fn entry(script: &mut Script<'_>) -> Entry {
    let (kind, vlan) = (script.below(4), of(script, &VLANS));
    let protocol = if script.flag() { Protocol::Udp } else { Protocol::Tcp };
    let is_version_6 = script.flag();
    let mut address = |four: &[Ipv4Addr], six: &[Ipv6Addr]| -> IpAddr {
        if is_version_6 { of(script, six).into() } else { of(script, four).into() }
    };
    match kind {
        0 => {
            let (local, remote) = (address(&LOCALS_4, &LOCALS_6), address(&REMOTES_4, &REMOTES_6));
            let local = SocketAddr::new(local, of(script, &PORTS));
            let remote = SocketAddr::new(remote, of(script, &PORTS));
            Entry::Flow { protocol, vlan, local, remote }
        }
        1 => {
            let locals_4 = [LOCALS_4[0], LOCALS_4[1], Ipv4Addr::UNSPECIFIED];
            let local = address(&locals_4, &[LOCALS_6[0], LOCALS_6[2], Ipv6Addr::UNSPECIFIED]);
            Entry::Local { protocol, vlan, local: SocketAddr::new(local, of(script, &PORTS)) }
        }
        2 => {
            let group = address(&GROUPS_4, &GROUPS_6);
            let port = of(script, &PORTS);
            Entry::Group { vlan, group, port: script.flag().then_some(port) }
        }
        _ => Entry::EtherType { vlan, ether_type: of(script, &ETHER_TYPES) },
    }
}

fn frame(script: &mut Script<'_>) -> Vec<u8> {
    let seed = script.word();
    let mut frame = filter_frames::frame(&mut Random::new(seed.into()));
    let [place, length] = [script.byte(), script.below(16)];
    let over = script.bytes(length.into());
    let place = usize::from(place) % frame.len();
    let over = &over[..over.len().min(frame.len() - place)];
    frame[place..place + over.len()].copy_from_slice(over);
    frame
}

/// Returns entries of one kind with frames before, during and after; and more EtherTypes than there
/// are places.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let frames: Vec<u8> = (0..64).flat_map(|seed| [2, seed, 0, 0, 0]).collect();
    // A frame of the EtherType without a tag, and one with a tag.
    let typed = |kind: u16| {
        let [high, low] = kind.to_be_bytes();
        let tagged = [&[2, 1, 0, 12, 6, 0x81, 0, 0, 7][..], &[high, low]].concat();
        [&[2, 1, 0, 12, 2, high, low][..], &tagged].concat()
    };
    let kind = |kind: u8| {
        let ends = [[0, 0, 0, 0], [1, 1, 2, 1], [0, 1, 1, 0], [1, 0, 0, 1]];
        let entries = |step: u8| {
            ends.map(|[protocol, family, address, port]| {
                let mut entry = vec![step, kind, 0, protocol, family, address];
                entry.extend(if kind == 0 { vec![address, port, port] } else { vec![port] });
                entry.extend((kind == 2).then_some(port));
                entry.extend((step == 1).then_some(0));
                entry
            })
            .concat()
        };
        [&entries(1)[..], &frames, &entries(0), &frames].concat()
    };
    let types = |step: u8, says: Option<u8>| -> Vec<u8> {
        (0..12)
            .flat_map(|number| {
                let entry = [step, 3, number / 6, 0, 0, number % 6];
                entry.into_iter().chain(says)
            })
            .collect()
    };
    let all = ETHER_TYPES.map(typed).concat();
    let places =
        [&types(1, Some(0))[..], &all, &types(1, Some(1)), &all, &types(0, None), &all].concat();
    let seed = |name: &str, bytes: Vec<u8>| (name.to_owned(), bytes);
    vec![
        seed("flows", kind(0)),
        seed("ports", kind(1)),
        seed("groups", kind(2)),
        seed("ether_types", places),
        seed("nothing", frames.clone()),
    ]
}
