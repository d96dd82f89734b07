//! The arena: everything the engine knows, in bytes that the caller owns.
//!
//! ```text
//! | header | devices | addresses | sockets | memberships | slots of sockets | of memberships |
//! ```
//!
//! There is no address in it, only indices, so that it may be mapped anywhere, copied, and read by
//! others. What the header says is held against the length when it is opened; an index is held
//! against its slice whenever it is used.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::Error;
use crate::device::{Device, LocalAddress};
use crate::socket::{Membership, Socket};

const MAGIC: u64 = u64::from_le_bytes(*b"hairpinN");
const VERSION: u32 = 1;

/// More of anything than anybody has, and few enough for lengths not to overflow.
const MOST: u32 = 1 << 20;

/// How many of each there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Devices, VLANs counted.
    pub devices: u32,
    /// Addresses of the host, on all devices together.
    pub addresses: u32,
    /// Sockets.
    pub sockets: u32,
    /// Memberships of groups, of all sockets together.
    pub memberships: u32,
    /// What no stranger knows: it decides which sockets meet in one slot.
    pub seed: u64,
}

impl Default for Settings {
    /// Enough for a program: 8 devices, 32 addresses, 256 sockets, 256 memberships; seed 0.
    fn default() -> Self {
        Self { devices: 8, addresses: 32, sockets: 256, memberships: 256, seed: 0 }
    }
}

impl Settings {
    /// How many bytes the arena takes.
    ///
    /// # Panics
    /// With more than about a million of anything.
    #[must_use]
    pub fn arena_size(&self) -> usize {
        let counts = [self.devices, self.addresses, self.sockets, self.memberships];
        assert!(counts.iter().all(|&count| count <= MOST), "more than a million of something");
        size_of::<Header>()
            + self.devices as usize * size_of::<Device>()
            + self.addresses as usize * size_of::<LocalAddress>()
            + self.sockets as usize * size_of::<Socket>()
            + self.memberships as usize * size_of::<Membership>()
            + (slots(self.sockets) + slots(self.memberships)) * size_of::<u32>()
    }
}

/// At least twice as many as elements, and a power of two.
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
    padding: u32,
    seed: u64,
}

/// The parts of an arena, borrowed.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) seed: u64,
    pub(crate) devices: &'a mut [Device],
    pub(crate) addresses: &'a mut [LocalAddress],
    pub(crate) sockets: &'a mut [Socket],
    pub(crate) memberships: &'a mut [Membership],
    pub(crate) socket_slots: &'a mut [u32],
    pub(crate) membership_slots: &'a mut [u32],
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
        padding: 0,
        seed: settings.seed,
    };
    let parts = open(bytes)?;
    parts.socket_slots.fill(crate::index::NONE);
    parts.membership_slots.fill(crate::index::NONE);
    Ok(())
}

/// The parts of what `create` wrote, wherever that lies now.
pub(crate) fn open(bytes: &mut [u8]) -> Result<Parts<'_>, Error> {
    if bytes.len() < size_of::<Header>() {
        return Err(Error::NotAnArena);
    }
    let (header, rest) = Header::mut_from_prefix(bytes).map_err(|_| Error::ArenaMisaligned)?;
    let counts = [header.devices, header.addresses, header.sockets, header.memberships];
    let known = (header.magic, header.version) == (MAGIC, VERSION);
    if !known || counts.iter().any(|&count| count > MOST) {
        return Err(Error::NotAnArena);
    }
    let (devices, rest) = take(rest, header.devices as usize)?;
    let (addresses, rest) = take(rest, header.addresses as usize)?;
    let (sockets, rest) = take(rest, header.sockets as usize)?;
    let (memberships, rest) = take(rest, header.memberships as usize)?;
    let (socket_slots, rest) = take(rest, slots(header.sockets))?;
    let (membership_slots, _) = take(rest, slots(header.memberships))?;
    let seed = header.seed;
    Ok(Parts { seed, devices, addresses, sockets, memberships, socket_slots, membership_slots })
}

fn take<T>(bytes: &mut [u8], count: usize) -> Result<(&mut [T], &mut [u8]), Error>
where
    T: FromBytes + IntoBytes + KnownLayout + Immutable,
{
    <[T]>::mut_from_prefix_with_elems(bytes, count).map_err(|_| Error::ArenaTooSmall)
}
