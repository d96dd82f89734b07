//! Memberships of groups, and the senders that they allow.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::index::NONE;
use crate::socket::{BOUND, Key, Socket};
use crate::table::{Element, Table};
use crate::{Address, DeviceId, Engine, Error, SocketAddress, SocketId};

/// A socket's membership of a group on a device, as it lies in the arena.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Membership {
    /// The group and the port, and the device in the place of the peer's port.
    pub(crate) key: Key,
    pub(crate) socket: u32,
    /// The next with the same key.
    pub(crate) next: u32,
    pub(crate) is_used: u32,
    /// The first sender that is allowed; none: all are.
    pub(crate) sources: u32,
}

impl Membership {
    #[inline]
    pub(crate) fn key(device: u32, group: SocketAddress) -> Key {
        Key { padding: device, remote_port: device as u16, ..Key::bound(group) }
    }
}

impl Element for Membership {
    #[inline]
    fn key(&self) -> &Key {
        &self.key
    }

    #[inline]
    fn next(&self) -> u32 {
        self.next
    }

    fn set_next(&mut self, next: u32) {
        self.next = next;
    }

    fn is_entered(&self) -> bool {
        self.is_used == 1
    }
}

/// A sender that a membership allows, as it lies in the arena.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Source {
    pub(crate) address: Address,
    /// The next of the same membership.
    pub(crate) next: u32,
    /// That membership, counted from 1; 0: nobody's.
    pub(crate) owner: u32,
}

impl Engine<'_> {
    /// Makes a bound socket a member of a group on a device. Only members receive what is sent to
    /// the group, and only on that device.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`], [`Error::NoSuchDevice`], [`Error::WrongState`] unless it is bound,
    /// [`Error::WrongAddress`] if it is no group of its family, [`Error::Membership`] if it is a
    /// member already, [`Error::Full`], [`Error::Corrupt`].
    pub fn join(&mut self, id: SocketId, device: DeviceId, group: Address) -> Result<(), Error> {
        self.add_membership(id, device, group).map(|_| ())
    }

    /// The same, for what these hosts send to the group and nobody else does (source-specific
    /// multicast, RFC 4607; the INCLUDE mode of RFC 3376 §3.1).
    ///
    /// What others send is [unwanted](crate::Dropped::Unwanted), if no other member wants it.
    ///
    /// # Errors
    /// As [`Self::join`]; [`Error::WrongAddress`] too if a source is no host's address of the same
    /// family or there is none, [`Error::Membership`] too if one stands there twice. After an error
    /// the socket is no member.
    pub fn join_sources(
        &mut self,
        id: SocketId,
        device: DeviceId,
        group: Address,
        sources: &[Address],
    ) -> Result<(), Error> {
        if sources.is_empty() {
            return Err(Error::WrongAddress);
        }
        let at = self.add_membership(id, device, group)?;
        for &source in sources {
            if let Err(error) = self.allow(at, source) {
                self.end_membership(at)?;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Allows another sender to a membership that names its senders.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`], [`Error::Membership`] if it is no member, allows everybody, or
    /// allows that one already, [`Error::WrongAddress`] as above, [`Error::Full`],
    /// [`Error::Corrupt`].
    pub fn add_source(
        &mut self,
        id: SocketId,
        device: DeviceId,
        group: Address,
        source: Address,
    ) -> Result<(), Error> {
        let at = self.membership(id, device, group)?;
        if self.parts.memberships[at].sources == NONE {
            return Err(Error::Membership);
        }
        self.allow(at, source)
    }

    /// Takes a sender away from such a membership, which ends with the last one.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`], [`Error::Membership`] if it is no member or does not name that
    /// sender, [`Error::Corrupt`].
    pub fn remove_source(
        &mut self,
        id: SocketId,
        device: DeviceId,
        group: Address,
        source: Address,
    ) -> Result<(), Error> {
        let membership = self.membership(id, device, group)?;
        let first = self.parts.memberships[membership].sources;
        let mut before = NONE;
        let found = self.sources(first).find(|&at| {
            let is = self.parts.sources[at as usize].address == source;
            before = if is { before } else { at };
            is
        });
        let found = found.ok_or(Error::Membership)?;
        let next = self.parts.sources[found as usize].next;
        if before == NONE && next == NONE {
            return self.end_membership(membership);
        }
        match self.parts.sources.get_mut(before as usize) {
            Some(before) => before.next = next,
            None => self.parts.memberships[membership].sources = next,
        }
        self.parts.sources[found as usize].owner = 0;
        self.parts.flows.forget();
        Ok(())
    }

    /// Ends a membership.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`], [`Error::Membership`] if it is no member, [`Error::Corrupt`].
    pub fn leave(&mut self, id: SocketId, device: DeviceId, group: Address) -> Result<(), Error> {
        let at = self.membership(id, device, group)?;
        self.end_membership(at)
    }

    /// The groups that a socket is a member of, with their devices.
    pub fn groups(&self, id: SocketId) -> impl Iterator<Item = (DeviceId, Address)> {
        let is_open = self.socket(id).is_ok();
        let all = self.parts.memberships.iter();
        let own = all.filter(move |m| is_open && (m.is_used, m.socket) == (1, id.index));
        own.map(|m| (DeviceId(m.key.padding), m.key.local))
    }

    /// Ends the memberships for which that holds.
    pub(crate) fn end_memberships(
        &mut self,
        ends: impl Fn(&Membership) -> bool,
    ) -> Result<(), Error> {
        for at in 0..self.parts.memberships.len() {
            let member = &self.parts.memberships[at];
            if member.is_used == 1 && ends(member) {
                self.end_membership(at)?;
            }
        }
        Ok(())
    }

    /// Whether a member takes a datagram to its group: it may be bound to another address, be
    /// connected to another peer, or allow other senders only.
    #[inline]
    pub(crate) fn takes(
        &self,
        member: &Membership,
        source: SocketAddress,
        destination: SocketAddress,
    ) -> bool {
        let Some(Socket { key, .. }) = self.parts.sockets.get(member.socket as usize) else {
            return false;
        };
        let local = key.local == destination.address || key.local.is_any();
        let remote = key.remote_port == 0 || key.remote() == source;
        let is_allowed = member.sources == NONE
            || self
                .sources(member.sources)
                .any(|at| self.parts.sources[at as usize].address == source.address);
        local && remote && is_allowed
    }

    /// A membership of everybody's, entered.
    fn add_membership(
        &mut self,
        id: SocketId,
        device: DeviceId,
        group: Address,
    ) -> Result<usize, Error> {
        let socket = *self.socket(id)?;
        self.device(device)?;
        if socket.state < BOUND {
            return Err(Error::WrongState);
        }
        if !group.is_multicast() || group.is_ipv4() != socket.key.local.is_ipv4() {
            return Err(Error::WrongAddress);
        }
        if self.membership(id, device, group).is_ok() {
            return Err(Error::Membership);
        }
        let key = membership_key(&socket, device, group);
        let all = &mut *self.parts.memberships;
        let free = all.iter().position(|member| member.is_used == 0).ok_or(Error::Full)?;
        all[free] = Membership { key, socket: id.index, next: NONE, is_used: 1, sources: NONE };
        self.parts.flows.forget();
        self.membership_table().attach(free as u32)?;
        Ok(free)
    }

    fn membership(&self, id: SocketId, device: DeviceId, group: Address) -> Result<usize, Error> {
        let key = membership_key(self.socket(id)?, device, group);
        let mut all = self.parts.memberships.iter();
        let found = all.position(|m| (m.is_used, m.socket, m.key) == (1, id.index, key));
        found.ok_or(Error::Membership)
    }

    fn allow(&mut self, membership: usize, source: Address) -> Result<(), Error> {
        let Membership { key, sources: next, .. } = self.parts.memberships[membership];
        if source.is_any() || source.is_multicast() || source.is_ipv4() != key.local.is_ipv4() {
            return Err(Error::WrongAddress);
        }
        if self.sources(next).any(|at| self.parts.sources[at as usize].address == source) {
            return Err(Error::Membership);
        }
        let free = self.parts.sources.iter().position(|source| source.owner == 0);
        let free = free.ok_or(Error::Full)?;
        let owner = membership as u32 + 1;
        self.parts.sources[free] = Source { address: source, next, owner };
        self.parts.memberships[membership].sources = free as u32;
        self.parts.flows.forget();
        Ok(())
    }

    /// The senders of a membership from a first one on, which exist.
    #[inline]
    fn sources(&self, first: u32) -> impl Iterator<Item = u32> {
        let all = &*self.parts.sources;
        let next = move |&at: &u32| all.get(at as usize).map(|source| source.next);
        core::iter::successors(Some(first), next)
            .take_while(move |&at| (at as usize) < all.len())
            .take(all.len())
    }

    fn end_membership(&mut self, at: usize) -> Result<(), Error> {
        self.parts.flows.forget();
        let mut source = self.parts.memberships[at].sources;
        while let Some(own) = self.parts.sources.get_mut(source as usize) {
            // A list in a circle comes back to one that is nobody's already.
            if own.owner != at as u32 + 1 {
                return Err(Error::Corrupt);
            }
            (own.owner, source) = (0, own.next);
        }
        self.membership_table().detach(at as u32)?;
        self.parts.memberships[at].is_used = 0;
        Ok(())
    }

    fn membership_table(&mut self) -> Table<'_, Membership> {
        self.parts.membership_table()
    }
}

/// A member's key: the group with the socket's port.
fn membership_key(socket: &Socket, device: DeviceId, group: Address) -> Key {
    Membership::key(device.0, SocketAddress { address: group, port: socket.key.local_port })
}
