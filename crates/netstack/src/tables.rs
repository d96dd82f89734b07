//! The engine's state: tables of fixed capacity that refer to each other by index.

use alloc::boxed::Box;
use zerocopy::FromZeros;

use crate::device::{Device, LocalAddress};
use crate::flow::FlowCache;
use crate::index::NONE;
use crate::membership::{Membership, Source};
use crate::socket::Socket;
use crate::table::Table;

/// The limit of each capacity: more than needed.
const MAX_COUNT: u32 = 1 << 20;

/// The capacities of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Devices, including VLAN devices.
    pub devices: u32,
    /// Local addresses of all devices.
    pub addresses: u32,
    /// Sockets.
    pub sockets: u32,
    /// Group memberships of all sockets.
    pub memberships: u32,
    /// Source addresses of all memberships.
    pub sources: u32,
    /// A secret seed of the hash tables, so that a remote sender cannot choose colliding flows.
    pub seed: u64,
}

impl Default for Settings {
    /// Returns capacities for one program: 8 devices, 32 addresses, 256 of the others; seed 0.
    fn default() -> Self {
        Self { devices: 8, addresses: 32, sockets: 256, memberships: 256, sources: 256, seed: 0 }
    }
}

/// The tables of an engine.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) seed: u64,
    pub(crate) devices: Box<[Device]>,
    pub(crate) addresses: Box<[LocalAddress]>,
    pub(crate) sockets: Box<[Socket]>,
    pub(crate) memberships: Box<[Membership]>,
    pub(crate) sources: Box<[Source]>,
    pub(crate) flows: FlowCache,
    pub(crate) socket_slots: Box<[u32]>,
    pub(crate) membership_slots: Box<[u32]>,
}

impl Tables {
    pub(crate) fn new(settings: &Settings) -> Self {
        let Settings { devices, addresses, sockets, memberships, sources, seed } = *settings;
        let counts = [devices, addresses, sockets, memberships, sources];
        assert!(counts.iter().all(|&count| count <= MAX_COUNT), "a capacity exceeds 2^20");
        Self {
            seed,
            devices: zeroed(devices as usize),
            addresses: zeroed(addresses as usize),
            sockets: zeroed(sockets as usize),
            memberships: zeroed(memberships as usize),
            sources: zeroed(sources as usize),
            flows: FlowCache { era: 1, slots: zeroed(slots(sockets)) },
            socket_slots: alloc::vec![NONE; slots(sockets)].into(),
            membership_slots: alloc::vec![NONE; slots(memberships)].into(),
        }
    }

    pub(crate) fn socket_table(&mut self) -> Table<'_, Socket> {
        Table { seed: self.seed, slots: &mut self.socket_slots, elements: &mut self.sockets }
    }

    pub(crate) fn membership_table(&mut self) -> Table<'_, Membership> {
        let slots = &mut self.membership_slots;
        Table { seed: self.seed, slots, elements: &mut self.memberships }
    }
}

/// Returns the number of hash slots: a power of two, at least twice the number of elements.
fn slots(elements: u32) -> usize {
    (elements as usize * 2).next_power_of_two().max(2)
}

/// Allocates unused entries.
fn zeroed<T: FromZeros>(count: usize) -> Box<[T]> {
    <[T]>::new_box_zeroed_with_elems(count).expect("memory for the capacities")
}
