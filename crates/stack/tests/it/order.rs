//! The order of datagrams across readers, and the reuse of their frames.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use hairpin_stack::{Meta, UdpSocket};
use hairpin_testkit::Random;

use crate::support::{
    MODES, TIMEOUT, bind, bind_with, eventually, kernel, open, settings, shared_options, stack,
    testbed, xdp_destination,
};

const PORT: u16 = 7_000;
const GROUP: IpAddr = IpAddr::V4(Ipv4Addr::new(239, 1, 1, 1));

/// A member (of two) of a group, each of which also has a unicast peer.
struct Member {
    socket: UdpSocket,
    /// Sent and not received yet.
    pending: VecDeque<u32>,
    /// Receives that used up their budget.
    full: u32,
}

impl Member {
    fn receive(&mut self, budget: usize) {
        let pending = &mut self.pending;
        let on = |meta: Meta, payload: &[u8]| {
            assert!(!meta.via_kernel, "through the kernel");
            let number = u32::from_be_bytes(*payload.first_chunk().unwrap());
            assert_eq!(pending.pop_front(), Some(number), "out of order");
        };
        let count = self.socket.receive(budget, on).unwrap().count;
        assert!(count <= budget, "{count} of {budget}");
        self.full += u32::from(count == budget);
    }
}

#[test]
#[ignore = "needs root"]
fn datagrams_stay_in_order_across_readers() {
    // All datagrams are sent from one core: datagrams of two cores may pass each other in the
    // kernel.
    hairpin_host::pin(hairpin_host::allowed_cores().unwrap()[0]).unwrap();
    for mode in MODES {
        let testbed = testbed(1);
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        // Both receive the group; unicast datagrams reach one of them, by their sender.
        let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT));
        let mut members = [(); 2].map(|()| {
            let mut socket = bind_with(ours, &stack, any, &shared_options());
            ours.run(|| socket.join(GROUP, &[])).unwrap().unwrap();
            Member { socket, pending: VecDeque::new(), full: 0 }
        });
        assert!(eventually(|| members.iter().all(|it| it.socket.receives_group_over_xdp(GROUP))));
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
        let [Some(first), Some(second)] = peers else { unreachable!("both peers were found") };
        let (mut random, mut number) = (Random::new(2_027), 0_u32);
        for _ in 0..20_000 {
            match random.below(5) as usize {
                0 if members.iter().all(|member| member.pending.len() < 100) => {
                    first.send_to(&number.to_be_bytes(), group).unwrap();
                    members.iter_mut().for_each(|member| member.pending.push_back(number));
                }
                to @ 1..3 if members[to - 1].pending.len() < 100 => {
                    let peer = [&first, &second][to - 1];
                    peer.send_to(&number.to_be_bytes(), address).unwrap();
                    members[to - 1].pending.push_back(number);
                }
                at => members[at % 2].receive(1 + random.below(5) as usize),
            }
            number += 1;
        }
        for member in &mut members {
            assert!(eventually(|| {
                member.receive(8);
                member.pending.is_empty()
            }));
            assert!(member.full > 100, "{mode}: only {} receives used their budget", member.full);
            assert_eq!(member.socket.dropped(), 0);
        }
    }
}

#[test]
#[ignore = "needs root"]
fn datagrams_after_a_panic_arrive_within_the_budget() {
    for mode in MODES {
        let testbed = testbed(1);
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let mut socket = bind(ours, &stack, (ours.address(), PORT));
        let mut other = bind(ours, &stack, (ours.address(), PORT + 1));
        let peer = kernel(theirs, (theirs.address(), 0));
        for round in 0..50 {
            for number in 0..6_u8 {
                peer.send_to(&[number], (ours.address(), PORT)).unwrap();
            }
            if round % 2 == 0 {
                // The datagrams then wait in the queue, and nothing is left on the rings.
                assert!(eventually(|| other.receive(8, |_, _| ()).unwrap().drained));
            }
            assert!(eventually(|| {
                let read = || socket.receive(8, |_, _| resume_unwind(Box::new("as planned")));
                catch_unwind(AssertUnwindSafe(read)).is_err()
            }));
            let mut payloads = Vec::new();
            assert!(eventually(|| {
                // Fetched datagrams end a wait at once.
                assert!(socket.wait(Some(TIMEOUT)).unwrap());
                let received = socket.receive(2, |_, payload| payloads.push(payload[0])).unwrap();
                assert!(received.count <= 2, "{} of 2", received.count);
                payloads.len() == 5
            }));
            assert_eq!(payloads, [1, 2, 3, 4, 5], "{mode}");
        }
    }
}

#[test]
#[ignore = "needs root"]
fn random_sends_and_receives_lose_no_frame() {
    for mode in MODES {
        let testbed = testbed(1);
        let [ours, theirs] = testbed.hosts();
        let mut settings = settings(mode);
        settings.interface.umem.frames = 64;
        let stack = open(ours, &settings);
        let mut socket = bind(ours, &stack, (ours.address(), PORT));
        let peer = kernel(theirs, (theirs.address(), 0));
        let mut to = xdp_destination(&socket, peer.local_addr().unwrap());
        let (mut random, mut heard) = (Random::new(7), 0);
        for round in 0..2_000_u32 {
            match random.below(4) {
                0 => peer.send_to(&[0; 18], (ours.address(), PORT)).map(drop).unwrap(),
                1 => heard += socket.receive(2, |_, _| ()).unwrap().count,
                2 => socket.warm_up(&mut to, 4, |payload| payload.fill(0)).unwrap(),
                _ => {
                    let number = round.to_be_bytes();
                    let sent = socket.transmit_to(&mut to, 4, |payload| {
                        payload.copy_from_slice(&number);
                    });
                    sent.unwrap_or_else(|error| panic!("{mode}, {round}: {error}"));
                    let mut received = [0; 8];
                    assert_eq!(
                        (peer.recv(&mut received).unwrap(), &received[..4]),
                        (4, &number[..])
                    );
                }
            }
        }
        assert!(heard > 100 && to.fallback_reason().is_none());
    }
}
