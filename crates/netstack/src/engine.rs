//! The engine: its devices, addresses and sockets.

use crate::arena::{self, Parts, Settings};
use crate::device::{Device, LocalAddress};
use crate::index::{self, NONE};
use crate::socket::{BOUND, CONNECTED, FREE, Key, Membership, OPEN, Socket};
use crate::{
    Address, DeviceCounters, DeviceId, DeviceSettings, Error, SocketAddress, SocketCounters,
    SocketId, SocketOptions,
};

/// A UDP engine over an arena.
#[derive(Debug)]
pub struct Engine<'a> {
    pub(crate) parts: Parts<'a>,
}

impl<'a> Engine<'a> {
    /// Makes an empty arena of these bytes, of which [`Settings::arena_size`] are used, and which
    /// begin at a multiple of 8.
    ///
    /// # Errors
    /// [`Error::ArenaTooSmall`], [`Error::ArenaMisaligned`].
    ///
    /// # Panics
    /// As [`Settings::arena_size`].
    pub fn create(bytes: &'a mut [u8], settings: &Settings) -> Result<Self, Error> {
        arena::create(bytes, settings)?;
        Self::open(bytes)
    }

    /// Goes on with an arena, wherever it lies now.
    ///
    /// # Errors
    /// [`Error::NotAnArena`], [`Error::ArenaTooSmall`], [`Error::ArenaMisaligned`].
    pub fn open(bytes: &'a mut [u8]) -> Result<Self, Error> {
        Ok(Self { parts: arena::open(bytes)? })
    }

    /// Adds a device.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::NoSuchDevice`] for a VLAN of none.
    pub fn add_device(&mut self, settings: &DeviceSettings) -> Result<DeviceId, Error> {
        if let Some((parent, _)) = settings.vlan {
            self.device(parent)?;
        }
        let free = self.parts.devices.iter().position(|device| device.is_used == 0);
        let free = free.ok_or(Error::Full)?;
        self.parts.devices[free] = Device::new(settings);
        Ok(DeviceId(free as u32))
    }

    /// The devices, in the order in which they were added: for whoever opens an arena.
    pub fn device_ids(&self) -> impl Iterator<Item = DeviceId> {
        let devices = self.parts.devices.iter().enumerate();
        devices.filter(|(_, device)| device.is_used == 1).map(|(at, _)| DeviceId(at as u32))
    }

    /// Says that the host has an address on a device, and what its net's broadcast address is.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::NoSuchDevice`], [`Error::WrongAddress`] if it is not a host's.
    pub fn add_address(
        &mut self,
        device: DeviceId,
        address: Address,
        broadcast: Option<Address>,
    ) -> Result<(), Error> {
        self.device(device)?;
        if address.is_any() || address.is_multicast() {
            return Err(Error::WrongAddress);
        }
        let free = self.parts.addresses.iter_mut().find(|address| address.is_used == 0);
        let broadcast = broadcast.unwrap_or(Address::ANY_IPV6);
        *free.ok_or(Error::Full)? =
            LocalAddress { address, broadcast, device: device.0, is_used: 1 };
        Ok(())
    }

    /// Takes an address away again; nothing happens if it is not there.
    pub fn remove_address(&mut self, device: DeviceId, address: Address) {
        for own in self.parts.addresses.iter_mut() {
            if (own.device, own.address) == (device.0, address) {
                own.is_used = 0;
            }
        }
    }

    /// Opens a socket.
    ///
    /// # Errors
    /// [`Error::Full`].
    pub fn open_socket(&mut self, options: &SocketOptions) -> Result<SocketId, Error> {
        let free = self.parts.sockets.iter().position(|socket| socket.state == FREE);
        let free = free.ok_or(Error::Full)?;
        let socket = &mut self.parts.sockets[free];
        socket.state = OPEN;
        socket.next = NONE;
        socket.generation = socket.generation.wrapping_add(1);
        socket.identification = 0;
        socket.counters = SocketCounters::default();
        socket.set_options(options);
        Ok(SocketId { index: free as u32, generation: socket.generation })
    }

    /// Changes what a socket is like. Headers already prepared stay as they are.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`].
    pub fn set_options(&mut self, id: SocketId, options: &SocketOptions) -> Result<(), Error> {
        self.socket_mut(id)?.set_options(options);
        Ok(())
    }

    /// Binds a socket, from when on it receives. The port is one that the caller has reserved; the
    /// address may be any of its family, a group, or one of the host's.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`], [`Error::WrongState`] if it is bound, [`Error::NoPort`],
    /// [`Error::WrongAddress`] for a broadcast address, [`Error::AddressInUse`] if another
    /// is bound to the same and not both share. That any address
    /// stands in the way of a single one is the kernel's rule, which the reservation has met.
    pub fn bind(&mut self, id: SocketId, local: SocketAddress) -> Result<(), Error> {
        if self.socket(id)?.state != OPEN {
            return Err(Error::WrongState);
        }
        if local.port == 0 {
            return Err(Error::NoPort);
        }
        if self.is_broadcast_anywhere(local.address) {
            return Err(Error::WrongAddress);
        }
        self.attach(id.index, Key::bound(local))?;
        self.socket_mut(id)?.state = BOUND;
        Ok(())
    }

    /// Lets a bound socket talk to one peer only, from an address of the host that the route to it
    /// has. It does not go back to all peers.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`], [`Error::WrongState`] unless it is bound, [`Error::NoPort`],
    /// [`Error::WrongAddress`] unless both are of one family and `local` is what it is bound to or
    /// is covered by that, [`Error::AddressInUse`]. After an error it is as it was.
    pub fn connect(
        &mut self,
        id: SocketId,
        local: Address,
        remote: SocketAddress,
    ) -> Result<(), Error> {
        let socket = *self.socket(id)?;
        if socket.state != BOUND {
            return Err(Error::WrongState);
        }
        let bound = socket.key.local;
        let covers = bound == local || bound == local.any();
        let hosts = !local.is_any() && !local.is_multicast() && !remote.address.is_any();
        if !covers || !hosts || local.is_ipv4() != remote.address.is_ipv4() {
            return Err(Error::WrongAddress);
        }
        if remote.port == 0 {
            return Err(Error::NoPort);
        }
        self.detach(id.index);
        let key =
            Key::connected(SocketAddress { address: local, port: socket.key.local_port }, remote);
        if let Err(error) = self.attach(id.index, key) {
            self.attach(id.index, socket.key).expect("it was there before");
            return Err(error);
        }
        self.socket_mut(id)?.state = CONNECTED;
        Ok(())
    }

    /// Makes a bound socket a member of a group on a device. Only members receive what is sent to
    /// the group, and only on that device.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`], [`Error::NoSuchDevice`], [`Error::WrongState`] unless it is bound,
    /// [`Error::WrongAddress`] if it is no group of its family, [`Error::Membership`] if it is a
    /// member already, [`Error::Full`].
    pub fn join(&mut self, id: SocketId, device: DeviceId, group: Address) -> Result<(), Error> {
        let socket = *self.socket(id)?;
        self.device(device)?;
        if socket.state < BOUND {
            return Err(Error::WrongState);
        }
        if !group.is_multicast() || group.is_ipv4() != socket.key.local.is_ipv4() {
            return Err(Error::WrongAddress);
        }
        let key = membership_key(&socket, device, group);
        let all = &mut *self.parts.memberships;
        if all.iter().any(|m| (m.is_used, m.socket, m.key) == (1, id.index, key)) {
            return Err(Error::Membership);
        }
        let free = all.iter().position(|member| member.is_used == 0).ok_or(Error::Full)?;
        all[free] = Membership { key, socket: id.index, next: NONE, is_used: 1, padding: 0 };
        match index::find(self.parts.membership_slots, key.hash(self.parts.seed), |i| {
            all[i as usize].key == key
        }) {
            Some((_, first)) => {
                let last = last_of(first, |at| all.get(at as usize).map(|member| member.next));
                all[last as usize].next = free as u32;
            }
            None => {
                let hash = key.hash(self.parts.seed);
                index::insert(self.parts.membership_slots, hash, free as u32);
            }
        }
        Ok(())
    }

    /// Ends a membership.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`], [`Error::Membership`] if it is no member.
    pub fn leave(&mut self, id: SocketId, device: DeviceId, group: Address) -> Result<(), Error> {
        let key = membership_key(self.socket(id)?, device, group);
        let found =
            self.parts.memberships.iter().position(|member| {
                (member.is_used, member.socket, member.key) == (1, id.index, key)
            });
        self.end_membership(found.ok_or(Error::Membership)?);
        Ok(())
    }

    /// Closes a socket and ends its memberships.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`].
    pub fn close(&mut self, id: SocketId) -> Result<(), Error> {
        if self.socket(id)?.state >= BOUND {
            self.detach(id.index);
        }
        for at in 0..self.parts.memberships.len() {
            let member = &self.parts.memberships[at];
            if (member.is_used, member.socket) == (1, id.index) {
                self.end_membership(at);
            }
        }
        self.socket_mut(id)?.state = FREE;
        Ok(())
    }

    /// What a socket has done.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`].
    pub fn socket_counters(&self, id: SocketId) -> Result<SocketCounters, Error> {
        Ok(self.socket(id)?.counters)
    }

    /// What a device has seen.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`].
    pub fn device_counters(&self, id: DeviceId) -> Result<DeviceCounters, Error> {
        Ok(self.device(id)?.counters)
    }

    pub(crate) fn device(&self, id: DeviceId) -> Result<&Device, Error> {
        let device = self.parts.devices.get(id.0 as usize);
        device.filter(|device| device.is_used == 1).ok_or(Error::NoSuchDevice)
    }

    #[inline]
    pub(crate) fn socket(&self, id: SocketId) -> Result<&Socket, Error> {
        let socket = self.parts.sockets.get(id.index as usize);
        let is_open = |s: &&Socket| s.state != FREE && s.generation == id.generation;
        socket.filter(is_open).ok_or(Error::NoSuchSocket)
    }

    pub(crate) fn socket_mut(&mut self, id: SocketId) -> Result<&mut Socket, Error> {
        self.socket(id)?;
        Ok(&mut self.parts.sockets[id.index as usize])
    }

    /// Enters a socket under a key, behind those that share it.
    fn attach(&mut self, socket: u32, key: Key) -> Result<(), Error> {
        let hash = key.hash(self.parts.seed);
        let sockets = &mut *self.parts.sockets;
        let found = index::find(self.parts.socket_slots, hash, |at| {
            sockets.get(at as usize).is_some_and(|other| other.key == key)
        });
        let shares = sockets[socket as usize].shares;
        if let Some((_, first)) = found {
            let is_group = key.local.is_multicast();
            if !is_group && (shares == 0 || sockets[first as usize].shares == 0) {
                return Err(Error::AddressInUse);
            }
            let last = last_of(first, |at| sockets.get(at as usize).map(|socket| socket.next));
            sockets[last as usize].next = socket;
        } else {
            index::insert(self.parts.socket_slots, hash, socket);
        }
        let socket = &mut sockets[socket as usize];
        (socket.key, socket.next) = (key, NONE);
        Ok(())
    }

    /// Takes a socket out of the slots, or out of the chain of those that share its key.
    fn detach(&mut self, socket: u32) {
        let (seed, sockets) = (self.parts.seed, &mut *self.parts.sockets);
        let (key, next) = (sockets[socket as usize].key, sockets[socket as usize].next);
        let found = index::find(self.parts.socket_slots, key.hash(seed), |at| {
            sockets.get(at as usize).is_some_and(|other| other.key == key)
        });
        let Some((slot, first)) = found else { return };
        if first != socket {
            let before = before(first, socket, |at| sockets.get(at as usize).map(|s| s.next));
            if let Some(before) = before {
                sockets[before as usize].next = next;
            }
        } else if next != NONE {
            self.parts.socket_slots[slot] = next;
        } else {
            index::remove(self.parts.socket_slots, slot, |at| sockets[at as usize].key.hash(seed));
        }
    }

    /// The same for a membership.
    fn end_membership(&mut self, at: usize) {
        let (seed, all) = (self.parts.seed, &mut *self.parts.memberships);
        let Membership { key, next, .. } = all[at];
        all[at].is_used = 0;
        let found = index::find(self.parts.membership_slots, key.hash(seed), |other| {
            all.get(other as usize).is_some_and(|other| other.key == key)
        });
        let Some((slot, first)) = found else { return };
        if first as usize != at {
            let before = before(first, at as u32, |at| all.get(at as usize).map(|m| m.next));
            if let Some(before) = before {
                all[before as usize].next = next;
            }
        } else if next != NONE {
            self.parts.membership_slots[slot] = next;
        } else {
            index::remove(self.parts.membership_slots, slot, |at| all[at as usize].key.hash(seed));
        }
    }
}

/// A member's key: the group with the socket's port.
fn membership_key(socket: &Socket, device: DeviceId, group: Address) -> Key {
    Membership::key(device.0, SocketAddress { address: group, port: socket.key.local_port })
}

/// The last of a chain.
fn last_of(first: u32, next: impl Fn(u32) -> Option<u32>) -> u32 {
    let mut last = first;
    while let Some(at) = next(last).filter(|&at| at != NONE) {
        last = at;
    }
    last
}

/// The one of a chain whose next is `at`.
fn before(first: u32, at: u32, next: impl Fn(u32) -> Option<u32>) -> Option<u32> {
    let mut before = first;
    loop {
        match next(before)? {
            NONE => return None,
            found if found == at => return Some(before),
            found => before = found,
        }
    }
}
