//! The hosts, the run and its programs.

use std::net::IpAddr;

use hairpin_netsim::{Census, setting};
use hairpin_testbed::{Testbed, eventually};

use crate::honest::{Program, Victim};
use crate::hostile::{Hostile, Targets};
use crate::passable::Wire;
use crate::process::Keeper;

/// The interface of the hostile programs.
const INTERFACE: &str = "veth1";
const ADDRESSES: [[&str; 2]; 2] = [["10.99.0.1", "fd99::1"], ["10.99.0.2", "fd99::2"]];
/// The steps of a seed.
const STEPS: u32 = 400;

/// Two hosts with two wires: the honest program uses the first one.
pub(crate) struct World {
    testbed: Testbed,
    index: u32,
}

impl World {
    pub(crate) fn new() -> Self {
        let testbed = Testbed::builder().ipv6().build().unwrap();
        let [host, other] = testbed.hosts();
        host.rtnetlink().unwrap().add_wire(INTERFACE, other).unwrap();
        let mut index = 0;
        for (host, addresses) in [other, host].into_iter().zip([ADDRESSES[1], ADDRESSES[0]]) {
            let mut rtnetlink = host.rtnetlink().unwrap();
            index = rtnetlink.link(INTERFACE).unwrap().index;
            for (address, length) in addresses.into_iter().zip([24, 64]) {
                rtnetlink.add_address(index, address.parse().unwrap(), length).unwrap();
            }
            rtnetlink.set_up(index).unwrap();
        }
        let is_up = || host.rtnetlink().unwrap().link(INTERFACE).unwrap().up;
        assert!(eventually(is_up));
        Self { testbed, index }
    }

    fn wire(&self) -> Wire<'_> {
        let [host, other] = self.testbed.hosts();
        let [addresses, peers] = ADDRESSES.map(|both| both.map(|it| it.parse().unwrap()));
        let honest = [IpAddr::from(host.address()), host.address_v6().unwrap().into()];
        let all = [honest, addresses].concat();
        Wire { host, other, index: self.index, addresses, peers, all }
    }

    /// Runs a seed.
    pub(crate) fn run(&self, seed: u64) -> Census {
        let [host, other] = self.testbed.hosts();
        let names = [host.interface().to_owned(), INTERFACE.to_owned()];
        let keeper = Keeper::start(host, &names);
        let wire = self.wire();
        let honest = [host.address().into(), wire.addresses[0], wire.addresses[1]];
        let mut victims = honest.map(|address| Victim::new(address, host, other));
        let mut program = Program::new(&keeper.run, host, other);
        let honest_index = host.interface_index();
        let targets = Targets {
            names,
            honest_index,
            datagrams: victims.iter().map(Victim::udp).collect(),
            listening: victims.iter().map(Victim::listens_at).collect(),
            connections: victims.iter().map(Victim::ends).collect(),
        };
        let mut hostile = Hostile::new(&wire, &keeper.run, targets, seed);
        program.take_over();
        program.give_back();
        // The keeper has opened all that it opens for the first request of a kind.
        let descriptors = keeper.descriptors();
        let is_traced = setting("HAIRPIN_SIM_TRACE") == Some(1);
        for step in 0..STEPS {
            hostile.resets = victims.iter().filter_map(Victim::reset).collect();
            let has_ended = hostile.step();
            if is_traced {
                println!("seed {seed}, step {step}: {:?}", keeper.entries());
            }
            check(&keeper, &hostile, &program, has_ended, step);
            let number = step as u8;
            let moves = step % 8 == 0;
            program.exchange(number, moves, &mut hostile.census);
            victims.iter_mut().for_each(|it| it.receive(number));
            if step % 50 == 0 {
                victims.iter().for_each(|it| it.accept(other, number));
            }
        }
        hostile.end_clients();
        program.give_back();
        let has_closed = eventually(|| keeper.descriptors() <= descriptors);
        assert!(has_closed, "descriptors of the keeper: {descriptors}, {}", keeper.descriptors());
        let census = std::mem::take(&mut hostile.census);
        let left = std::mem::take(&mut hostile.left);
        drop((hostile, program));
        assert!(keeper.end(), "a keeper without programs; {} sockets of dead ones", left.len());
        census
    }
}

/// Checks what holds after each step.
fn check(keeper: &Keeper, hostile: &Hostile<'_>, program: &Program, has_ended: bool, step: u32) {
    assert!(keeper.is_alive(), "the keeper has ended, step {step}");
    let mut allowed = hostile.allowed();
    allowed.extend(program.entries.iter().cloned());
    let excess = || keeper.entries().difference(&allowed).cloned().collect::<Vec<_>>();
    // A client that has ended is noticed later.
    let is_allowed =
        if has_ended { eventually(|| excess().is_empty()) } else { excess().is_empty() };
    assert!(is_allowed, "entries of no owner, step {step}: {:?}", excess());
    assert_eq!(hostile.repairing(), None, "a socket in repair mode, step {step}");
}
