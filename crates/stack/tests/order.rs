//! In what order datagrams come, whoever takes them off the rings, and what becomes of their
//! frames. As root.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

mod hosts;

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use hairpin_stack::{Meta, UdpSocket};

use hosts::{
    MODES, Random, bed, bind, bind_with, direct, eventually, kernel, open, settings, shared, stack,
};

const PORT: u16 = 7_000;
const GROUP: IpAddr = IpAddr::V4(Ipv4Addr::new(239, 1, 1, 1));

/// One of two members of a group, who also hear a peer each alone.
struct Member {
    socket: UdpSocket,
    /// Sent and not heard yet.
    awaited: VecDeque<u32>,
    /// Looks that brought as many as they might.
    full: u32,
}

impl Member {
    fn hear(&mut self, budget: usize) {
        let awaited = &mut self.awaited;
        let on = |meta: Meta, payload: &[u8]| {
            assert!(!meta.by_kernel, "by the kernel");
            let number = u32::from_be_bytes(*payload.first_chunk().unwrap());
            assert_eq!(awaited.pop_front(), Some(number), "out of turn");
        };
        let count = self.socket.receive(budget, on).unwrap().count;
        assert!(count <= budget, "{count} of {budget}");
        self.full += u32::from(count == budget);
    }
}

#[test]
#[ignore = "needs root"]
fn datagrams_come_in_their_order_whoever_takes_them_off_the_rings() {
    // From one core: what is sent by two may pass each other in the kernel.
    hairpin_host::pin(hairpin_host::allowed_cores().unwrap()[0]).unwrap();
    for mode in MODES {
        let bed = bed(1);
        let [ours, theirs] = bed.hosts();
        let stack = stack(ours, mode);
        // Both hear the group; what goes to the address goes to one alone, by who sends it.
        let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT));
        let mut members = [(); 2].map(|()| {
            let mut socket = bind_with(ours, &stack, any, &shared());
            ours.run(|| socket.join(GROUP, &[])).unwrap().unwrap();
            Member { socket, awaited: VecDeque::new(), full: 0 }
        });
        assert!(eventually(|| members.iter().all(|it| it.socket.is_group_direct(GROUP))));
        let (address, group) = ((ours.address(), PORT), (GROUP, PORT));
        let mut peers = [None, None];
        while peers.iter().any(Option::is_none) {
            let peer = kernel(theirs, (theirs.address(), 0));
            peer.send_to(&[0], address).unwrap();
            let mut found = None;
            assert!(eventually(|| {
                found = (0..2).find(|&to: &usize| {
                    members[to].socket.receive(1, |_, _| ()).unwrap().count == 1
                });
                found.is_some()
            }));
            peers[found.unwrap()].get_or_insert(peer);
        }
        let [Some(first), Some(second)] = peers else { unreachable!("they are all there") };
        let (mut random, mut number) = (Random(2_027), 0_u32);
        for _ in 0..20_000 {
            match random.below(5) as usize {
                0 if members.iter().all(|member| member.awaited.len() < 100) => {
                    first.send_to(&number.to_be_bytes(), group).unwrap();
                    members.iter_mut().for_each(|member| member.awaited.push_back(number));
                }
                to @ 1..3 if members[to - 1].awaited.len() < 100 => {
                    let peer = [&first, &second][to - 1];
                    peer.send_to(&number.to_be_bytes(), address).unwrap();
                    members[to - 1].awaited.push_back(number);
                }
                at => members[at % 2].hear(1 + random.below(5) as usize),
            }
            number += 1;
        }
        for member in &mut members {
            assert!(eventually(|| {
                member.hear(8);
                member.awaited.is_empty()
            }));
            assert!(member.full > 100, "{mode}: {} looks were full", member.full);
            assert_eq!(member.socket.lost(), 0);
        }
    }
}

#[test]
#[ignore = "needs root"]
fn what_lay_behind_a_panic_comes_after_it_within_the_budget() {
    for mode in MODES {
        let bed = bed(1);
        let [ours, theirs] = bed.hosts();
        let stack = stack(ours, mode);
        let mut socket = bind(ours, &stack, (ours.address(), PORT));
        let mut other = bind(ours, &stack, (ours.address(), PORT + 1));
        let peer = kernel(theirs, (theirs.address(), 0));
        for round in 0..50 {
            for number in 0..6_u8 {
                peer.send_to(&[number], (ours.address(), PORT)).unwrap();
            }
            if round % 2 == 0 {
                // Then they wait in the queue, and nothing is left on the rings.
                assert!(eventually(|| other.receive(8, |_, _| ()).unwrap().drained));
            }
            assert!(eventually(|| {
                let read = || socket.receive(8, |_, _| resume_unwind(Box::new("as planned")));
                catch_unwind(AssertUnwindSafe(read)).is_err()
            }));
            let mut came = Vec::new();
            assert!(eventually(|| {
                // What was taken already wakes who would sleep.
                assert!(socket.wait(Some(Duration::from_secs(1))).unwrap());
                let received = socket.receive(2, |_, payload| came.push(payload[0])).unwrap();
                assert!(received.count <= 2, "{} of 2", received.count);
                came.len() == 5
            }));
            assert_eq!(came, [1, 2, 3, 4, 5], "{mode}");
        }
    }
}

#[test]
#[ignore = "needs root"]
fn bursts_and_looks_in_any_order_lose_no_frame() {
    for mode in MODES {
        let bed = bed(1);
        let [ours, theirs] = bed.hosts();
        let mut settings = settings(mode);
        settings.interface.umem.frames = 64;
        let stack = open(ours, &settings);
        let mut socket = bind(ours, &stack, (ours.address(), PORT));
        let peer = kernel(theirs, (theirs.address(), 0));
        let mut to = direct(&socket, peer.local_addr().unwrap());
        let (mut random, mut heard) = (Random(7), 0);
        for round in 0..2_000_u32 {
            match random.below(4) {
                0 => peer.send_to(&[0; 18], (ours.address(), PORT)).map(drop).unwrap(),
                1 => heard += socket.receive(2, |_, _| ()).unwrap().count,
                2 => socket.warm(&mut to, 4, |payload| payload.fill(0)).unwrap(),
                _ => {
                    let number = round.to_be_bytes();
                    let sent = socket.transmit_to(&mut to, 4, |payload| {
                        payload.copy_from_slice(&number);
                    });
                    sent.unwrap_or_else(|error| panic!("{mode}, {round}: {error}"));
                    let mut came = [0; 8];
                    assert_eq!((peer.recv(&mut came).unwrap(), &came[..4]), (4, &number[..]));
                }
            }
        }
        assert!(heard > 100 && to.by_kernel().is_none());
    }
}
