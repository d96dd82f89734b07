//! The arena: the engine's whole state, in bytes that the caller owns.
//!
//! ```text
//! | header | devices | addresses | sockets | memberships | sources | flows
//!                                          | socket slots | membership slots |
//! ```
//!
//! The state contains indices and no pointers, so it can be mapped at any address, copied, and read
//! by another process. Opening an arena checks the header against the length. Every index is
//! checked against its slice at each use, because another process may have written to the arena.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::Error;
use crate::device::{Device, LocalAddress};
use crate::flow::{Flow, FlowCache};
use crate::index::NONE;
use crate::membership::{Membership, Source};
use crate::socket::{BOUND, CONNECTED, Socket};
use crate::table::Table;

const MAGIC: u64 = u64::from_le_bytes(*b"hairpinN");
const VERSION: u32 = 3;

/// The limit of each count: more than needed, and small enough that lengths cannot overflow.
const MAX_COUNT: u32 = 1 << 20;

/// The capacities of an arena.
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

impl Settings {
    /// Returns the size of the arena in bytes.
    ///
    /// # Panics
    /// If a capacity exceeds 2^20.
    #[must_use]
    pub fn arena_size(&self) -> usize {
        let Self { devices, addresses, sockets, memberships, sources, .. } = *self;
        let counts = [devices, addresses, sockets, memberships, sources];
        assert!(counts.iter().all(|&count| count <= MAX_COUNT), "a capacity exceeds 2^20");
        size_of::<Header>()
            + devices as usize * size_of::<Device>()
            + addresses as usize * size_of::<LocalAddress>()
            + sockets as usize * size_of::<Socket>()
            + memberships as usize * size_of::<Membership>()
            + sources as usize * size_of::<Source>()
            + slots(sockets) * size_of::<Flow>()
            + (slots(sockets) + slots(memberships)) * size_of::<u32>()
    }
}

/// Returns the number of hash slots: a power of two, at least twice the number of elements.
fn slots(elements: u32) -> usize {
    (elements as usize * 2).next_power_of_two().max(2)
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct Header {
    magic: u64,
    version: u32,
    devices: u32,
    addresses: u32,
    sockets: u32,
    memberships: u32,
    sources: u32,
    seed: u64,
    era: u64,
}

/// The parts of an arena, borrowed.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) seed: u64,
    pub(crate) devices: &'a mut [Device],
    pub(crate) addresses: &'a mut [LocalAddress],
    pub(crate) sockets: &'a mut [Socket],
    pub(crate) memberships: &'a mut [Membership],
    pub(crate) sources: &'a mut [Source],
    pub(crate) flows: FlowCache<'a>,
    pub(crate) socket_slots: &'a mut [u32],
    pub(crate) membership_slots: &'a mut [u32],
}

impl Parts<'_> {
    pub(crate) fn socket_table(&mut self) -> Table<'_, Socket> {
        Table { seed: self.seed, slots: self.socket_slots, elements: self.sockets }
    }

    pub(crate) fn membership_table(&mut self) -> Table<'_, Membership> {
        Table { seed: self.seed, slots: self.membership_slots, elements: self.memberships }
    }

    /// Validates every reference between parts.
    pub(crate) fn validate(&mut self) -> Result<(), Error> {
        let is_device = |at: u32| self.devices.get(at as usize).is_some_and(|d| d.is_used == 1);
        let is_bound = |at: u32| {
            let socket = self.sockets.get(at as usize);
            socket.is_some_and(|socket| (BOUND..=CONNECTED).contains(&socket.state))
        };
        let devices = self.devices.iter().filter(|device| device.is_used != 0);
        let addresses = self.addresses.iter().filter(|address| address.is_used != 0);
        let members = || self.memberships.iter().filter(|member| member.is_used != 0);
        let is_valid = devices.clone().all(|device| device.is_used == 1)
            && devices.clone().all(|device| device.vlan == 0 || is_device(device.parent))
            && addresses.clone().all(|address| is_device(address.device))
            && self.sockets.iter().all(|socket| socket.state <= CONNECTED)
            && members().all(|member| member.is_used == 1)
            && members().all(|member| is_bound(member.socket) && is_device(member.key.padding));
        if !is_valid || !self.are_sources_valid() {
            return Err(Error::Corrupt);
        }
        self.socket_table().validate()?;
        self.membership_table().validate()
    }

    /// Returns `true` if every source list ends, and the lists together contain every used source.
    fn are_sources_valid(&self) -> bool {
        let mut used = self.sources.iter().filter(|source| source.owner != 0).count();
        for (owner, member) in (1..).zip(&*self.memberships) {
            let mut at = if member.is_used == 0 { NONE } else { member.sources };
            while at != NONE {
                let source = self.sources.get(at as usize).filter(|source| source.owner == owner);
                let (Some(source), 1..) = (source, used) else { return false };
                (at, used) = (source.next, used - 1);
            }
        }
        used == 0
    }
}

/// Writes an empty arena.
pub(crate) fn create(bytes: &mut [u8], settings: &Settings) -> Result<(), Error> {
    let bytes = bytes.get_mut(..settings.arena_size()).ok_or(Error::ArenaTooSmall)?;
    bytes.fill(0);
    let (header, _) = Header::mut_from_prefix(bytes).map_err(|_| Error::ArenaMisaligned)?;
    *header = Header {
        magic: MAGIC,
        version: VERSION,
        devices: settings.devices,
        addresses: settings.addresses,
        sockets: settings.sockets,
        memberships: settings.memberships,
        sources: settings.sources,
        seed: settings.seed,
        era: 1,
    };
    let parts = open(bytes)?;
    parts.socket_slots.fill(NONE);
    parts.membership_slots.fill(NONE);
    Ok(())
}

/// Borrows the parts of an arena at its current address.
pub(crate) fn open(bytes: &mut [u8]) -> Result<Parts<'_>, Error> {
    if bytes.len() < size_of::<Header>() {
        return Err(Error::NotAnArena);
    }
    let (header, rest) = Header::mut_from_prefix(bytes).map_err(|_| Error::ArenaMisaligned)?;
    let Header { devices, addresses, sockets, memberships, sources, .. } = *header;
    let counts = [devices, addresses, sockets, memberships, sources];
    let known = (header.magic, header.version) == (MAGIC, VERSION);
    if !known || counts.iter().any(|&count| count > MAX_COUNT) {
        return Err(Error::NotAnArena);
    }
    let (devices, rest) = take(rest, devices as usize)?;
    let (addresses, rest) = take(rest, addresses as usize)?;
    let (sockets, rest) = take(rest, sockets as usize)?;
    let (memberships, rest) = take(rest, memberships as usize)?;
    let (sources, rest) = take(rest, sources as usize)?;
    let (flow_slots, rest) = take(rest, slots(header.sockets))?;
    let (socket_slots, rest) = take(rest, slots(header.sockets))?;
    let (membership_slots, _) = take(rest, slots(header.memberships))?;
    let (seed, flows) = (header.seed, FlowCache { era: &mut header.era, slots: flow_slots });
    Ok(Parts {
        seed,
        devices,
        addresses,
        sockets,
        memberships,
        sources,
        flows,
        socket_slots,
        membership_slots,
    })
}

fn take<T>(bytes: &mut [u8], count: usize) -> Result<(&mut [T], &mut [u8]), Error>
where
    T: FromBytes + IntoBytes + KnownLayout + Immutable,
{
    <[T]>::mut_from_prefix_with_elems(bytes, count).map_err(|_| Error::ArenaTooSmall)
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use hairpin_wire::MacAddress;
    use zerocopy::IntoBytes;

    use super::*;
    use crate::{Address, DeviceSettings, Engine, SocketAddress, SocketId, SocketOptions};

    const SETTINGS: Settings =
        Settings { devices: 2, addresses: 2, sockets: 4, memberships: 4, sources: 4, seed: 1 };
    const GROUP: Address = Address::from_ipv4([239, 1, 1, 1]);
    const HOST: Address = Address::from_ipv4([10, 0, 0, 2]);

    /// Creates two sockets with the same key and group, and two sources each.
    fn with_engine(test: impl FnOnce(&mut Engine<'_>, [SocketId; 2])) {
        let mut memory = [0_u64; 512];
        let mut engine = Engine::create(memory.as_mut_bytes(), &SETTINGS).unwrap();
        let mac = MacAddress([2, 0, 0, 0, 0, 1]);
        let settings = DeviceSettings { mac, mtu: 1_500, vlan: None };
        let device = engine.add_device(&settings).unwrap();
        engine.add_address(device, HOST, None).unwrap();
        let options = SocketOptions { reuse_address: true, ..SocketOptions::default() };
        let sockets = [(); 2].map(|()| {
            let socket = engine.open_socket(&options).unwrap();
            engine.bind(socket, SocketAddress::new(Ipv4Addr::UNSPECIFIED, 7)).unwrap();
            let other = Address::from_ipv4([10, 0, 0, 3]);
            engine.join_sources(socket, device, GROUP, &[HOST, other]).unwrap();
            socket
        });
        assert_eq!(engine.parts.validate(), Ok(()));
        test(&mut engine, sockets);
    }

    fn is_detected(change: impl FnOnce(&mut Parts<'_>)) {
        with_engine(|engine, _| {
            change(&mut engine.parts);
            assert_eq!(engine.parts.validate(), Err(Error::Corrupt));
        });
    }

    #[test]
    fn check_finds_inconsistent_parts() {
        is_detected(|parts| parts.devices[0].is_used = 2);
        is_detected(|parts| parts.devices[0].is_used = 0);
        is_detected(|parts| (parts.devices[0].vlan, parts.devices[0].parent) = (5, 1));
        is_detected(|parts| parts.addresses[0].device = 1);
        is_detected(|parts| parts.sockets[2].state = 4);
        is_detected(|parts| parts.sockets[2].state = BOUND);
        is_detected(|parts| parts.sockets[1].state = 1);
        is_detected(|parts| parts.sockets[1].key.local_port = 8);
        is_detected(|parts| parts.sockets[0].next = NONE);
        is_detected(|parts| parts.sockets[1].next = 0);
        is_detected(|parts| parts.sockets[1].next = 9);
        is_detected(|parts| parts.socket_slots.fill(NONE));
        is_detected(|parts| parts.socket_slots.rotate_left(1));
        is_detected(|parts| parts.memberships[0].is_used = 2);
        is_detected(|parts| parts.memberships[0].socket = 3);
        is_detected(|parts| parts.memberships[0].key.padding = 1);
        is_detected(|parts| parts.memberships[1].next = 0);
        is_detected(|parts| parts.membership_slots.fill(9));
        is_detected(|parts| parts.memberships[0].sources = 9);
        is_detected(|parts| parts.memberships[0].sources = parts.memberships[1].sources);
        is_detected(|parts| parts.sources[0].next = 1);
        is_detected(|parts| parts.sources[0].owner = 0);
        is_detected(|parts| parts.sources[3].owner = 1);
        is_detected(|parts| parts.memberships[1].sources = NONE);
    }

    #[test]
    fn calls_report_corruption_that_they_encounter() {
        with_engine(|engine, [first, second]| {
            engine.parts.sockets[1].next = 0;
            let third = engine.open_socket(&engine.options(first).unwrap()).unwrap();
            let local = SocketAddress::new(Ipv4Addr::UNSPECIFIED, 7);
            assert_eq!(engine.bind(third, local), Err(Error::Corrupt), "a cycle");
            engine.parts.socket_slots.fill(NONE);
            assert_eq!(engine.close(second), Err(Error::Corrupt), "not in the slots");
            engine.parts.socket_slots.fill(2);
            assert_eq!(engine.bind(third, local), Err(Error::Corrupt), "no slot");
        });
        with_engine(|engine, [first, _]| {
            let device = engine.device_ids().next().unwrap();
            engine.parts.sources[0].next = 1;
            assert_eq!(engine.leave(first, device, GROUP), Err(Error::Corrupt), "a cycle");
        });
        with_engine(|engine, [_, second]| {
            let device = engine.device_ids().next().unwrap();
            engine.parts.memberships[0].next = NONE;
            assert_eq!(engine.leave(second, device, GROUP), Err(Error::Corrupt), "missing");
        });
    }

    #[test]
    fn open_rejects_bytes_that_are_no_arena() {
        let settings = Settings { devices: 1, ..SETTINGS };
        let mut memory = [0_u64; 512];
        let bytes = memory.as_mut_bytes();
        let size = settings.arena_size();
        assert_eq!(
            Engine::create(&mut bytes[..size - 1], &settings).err(),
            Some(Error::ArenaTooSmall)
        );
        assert_eq!(Engine::create(&mut bytes[1..], &settings).err(), Some(Error::ArenaMisaligned));
        assert!(Engine::create(&mut bytes[..size], &settings).is_ok());
        assert_eq!(Engine::open(&mut bytes[..size - 1]).err(), Some(Error::ArenaTooSmall));
        assert_eq!(Engine::open(&mut bytes[..20]).err(), Some(Error::NotAnArena));
        for (place, byte) in [(0, b'H'), (8, 1), (15, 1)] {
            let old = core::mem::replace(&mut bytes[place], byte);
            assert_eq!(Engine::open(&mut bytes[..size]).err(), Some(Error::NotAnArena));
            bytes[place] = old;
        }
        assert!(Engine::open(&mut bytes[..size]).is_ok());
    }
}
