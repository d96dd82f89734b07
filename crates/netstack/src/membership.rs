//! Multicast memberships and their source filters.

use zerocopy::FromZeros;

use crate::index::{self, NONE};
use crate::socket::{BOUND, Key, Socket};
use crate::table::Element;
use crate::{Address, DeviceId, Engine, Error, SocketAddress, SocketId};

/// A socket's membership of a group on a device,.
#[derive(Debug, Clone, Copy, FromZeros)]
#[repr(C)]
pub(crate) struct Membership {
    /// The group and the local port, and the device in place of the remote port.
    pub(crate) key: Key,
    pub(crate) socket: u32,
    /// The next membership with the same key.
    pub(crate) next: u32,
    pub(crate) is_used: u16,
    /// 1 after a datagram was delivered.
    pub(crate) has_delivered: u16,
    /// The first allowed source; [`NONE`] allows all.
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
}

/// An allowed source of a membership,.
#[derive(Debug, Clone, Copy, FromZeros)]
#[repr(C)]
pub(crate) struct Source {
    pub(crate) address: Address,
    /// The next source of the same membership.
    pub(crate) next: u32,
    /// The membership's index plus 1; 0 if the entry is free.
    pub(crate) owner: u32,
}

impl Engine {
    /// Makes a bound socket a member of a group on a device. Only members receive datagrams to the
    /// group, and only on that device.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`], [`Error::NoSuchDevice`], [`Error::WrongState`] unless the socket is
    /// bound, [`Error::WrongAddress`] if the group is not a multicast address of the socket's
    /// family, [`Error::Membership`] if the socket is a member already, [`Error::Full`].
    pub fn join(&mut self, id: SocketId, device: DeviceId, group: Address) -> Result<(), Error> {
        self.add_membership(id, device, group).map(|_| ())
    }

    /// Makes a bound socket a member of a group for the given sources only (source-specific
    /// multicast, RFC 4607; the INCLUDE mode of RFC 3376 §3.1).
    ///
    /// Datagrams from other sources are [unwanted](crate::Dropped::Unwanted), unless another member
    /// accepts them.
    ///
    /// # Errors
    /// As for [`Self::join`]. Also [`Error::WrongAddress`] if the list is empty or a source is not
    /// a unicast address of the family, and [`Error::Membership`] if a source occurs twice. After
    /// an error the socket is not a member.
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
            if let Err(error) = self.add_allowed_source(at, source) {
                self.end_membership(at);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Adds a source to a membership with a source filter.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`]; [`Error::Membership`] if the socket is not a member, the membership
    /// has no filter, or the source is allowed already; [`Error::WrongAddress`] as above;
    /// [`Error::Full`].
    pub fn add_source(
        &mut self,
        id: SocketId,
        device: DeviceId,
        group: Address,
        source: Address,
    ) -> Result<(), Error> {
        let at = self.membership(id, device, group)?;
        if self.tables.memberships[at].sources == NONE {
            return Err(Error::Membership);
        }
        self.add_allowed_source(at, source)
    }

    /// Removes a source from a membership with a source filter. Removing the last source ends the
    /// membership.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`]; [`Error::Membership`] if the socket is not a member or the source
    /// is not in its filter.
    pub fn remove_source(
        &mut self,
        id: SocketId,
        device: DeviceId,
        group: Address,
        source: Address,
    ) -> Result<(), Error> {
        let membership = self.membership(id, device, group)?;
        let first = self.tables.memberships[membership].sources;
        let mut previous = NONE;
        let found = self.sources(first).find(|&at| {
            let matches = self.tables.sources[at as usize].address == source;
            previous = if matches { previous } else { at };
            matches
        });
        let found = found.ok_or(Error::Membership)?;
        let next = self.tables.sources[found as usize].next;
        if previous == NONE && next == NONE {
            self.end_membership(membership);
            return Ok(());
        }
        match self.tables.sources.get_mut(previous as usize) {
            Some(previous) => previous.next = next,
            None => self.tables.memberships[membership].sources = next,
        }
        self.tables.sources[found as usize].owner = 0;
        self.tables.flows.invalidate();
        Ok(())
    }

    /// Ends a membership.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`], [`Error::Membership`] if the socket is not a member.
    pub fn leave(&mut self, id: SocketId, device: DeviceId, group: Address) -> Result<(), Error> {
        let at = self.membership(id, device, group)?;
        self.end_membership(at);
        Ok(())
    }

    /// Returns the groups of a socket, with their devices.
    pub fn groups(&self, id: SocketId) -> impl Iterator<Item = (DeviceId, Address)> {
        let is_open = self.socket(id).is_ok();
        let all = self.tables.memberships.iter();
        let own = all.filter(move |m| is_open && (m.is_used, m.socket) == (1, id.index));
        own.map(|m| (DeviceId(m.key.padding), m.key.local))
    }

    /// Ends all memberships for which `ends` returns `true`.
    pub(crate) fn end_memberships(&mut self, ends: impl Fn(&Membership) -> bool) {
        for at in 0..self.tables.memberships.len() {
            let member = &self.tables.memberships[at];
            if member.is_used == 1 && ends(member) {
                self.end_membership(at);
            }
        }
    }

    /// Returns `true` if the member accepts the datagram: its binding, peer and source filter must
    /// match.
    #[inline]
    pub(crate) fn accepts(
        &self,
        member: &Membership,
        source: SocketAddress,
        destination: SocketAddress,
    ) -> bool {
        let Some(Socket { key, .. }) = self.tables.sockets.get(member.socket as usize) else {
            return false;
        };
        let local = key.local == destination.address || key.local.is_any();
        let remote = key.remote_port == 0 || key.remote() == source;
        let allowed = member.sources == NONE
            || self
                .sources(member.sources)
                .any(|at| self.tables.sources[at as usize].address == source.address);
        local && remote && allowed
    }

    /// Adds a membership without a source filter.
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
        if !group.is_multicast() || !socket.has_family_of(group) {
            return Err(Error::WrongAddress);
        }
        if self.membership(id, device, group).is_ok() {
            return Err(Error::Membership);
        }
        let key = membership_key(&socket, device, group);
        let all = &mut *self.tables.memberships;
        let free = all.iter().position(|member| member.is_used == 0).ok_or(Error::Full)?;
        let (socket, next, sources) = (id.index, NONE, NONE);
        all[free] = Membership { key, socket, next, is_used: 1, has_delivered: 0, sources };
        self.tables.flows.invalidate();
        self.tables.membership_table().insert(free as u32);
        Ok(free)
    }

    fn membership(&self, id: SocketId, device: DeviceId, group: Address) -> Result<usize, Error> {
        let key = membership_key(self.socket(id)?, device, group);
        let mut all = self.tables.memberships.iter();
        let found = all.position(|m| (m.is_used, m.socket, m.key) == (1, id.index, key));
        found.ok_or(Error::Membership)
    }

    fn add_allowed_source(&mut self, membership: usize, source: Address) -> Result<(), Error> {
        let Membership { key, sources: next, .. } = self.tables.memberships[membership];
        if source.is_any() || source.is_multicast() || source.is_ipv4() != key.local.is_ipv4() {
            return Err(Error::WrongAddress);
        }
        if self.sources(next).any(|at| self.tables.sources[at as usize].address == source) {
            return Err(Error::Membership);
        }
        let free = self.tables.sources.iter().position(|source| source.owner == 0);
        let free = free.ok_or(Error::Full)?;
        let owner = membership as u32 + 1;
        self.tables.sources[free] = Source { address: source, next, owner };
        self.tables.memberships[membership].sources = free as u32;
        self.tables.flows.invalidate();
        Ok(())
    }

    /// Returns the sources of a membership from a first one on.
    #[inline]
    fn sources(&self, first: u32) -> impl Iterator<Item = u32> {
        let next = |&at: &u32| index::some(self.tables.sources[at as usize].next);
        core::iter::successors(index::some(first), next)
    }

    fn end_membership(&mut self, at: usize) {
        self.tables.flows.invalidate();
        let mut source = self.tables.memberships[at].sources;
        while let Some(own) = self.tables.sources.get_mut(source as usize) {
            (own.owner, source) = (0, own.next);
        }
        self.tables.membership_table().remove(at as u32);
        self.tables.memberships[at].is_used = 0;
    }
}

/// Builds the key of a membership: the group with the socket's port.
fn membership_key(socket: &Socket, device: DeviceId, group: Address) -> Key {
    Membership::key(device.0, SocketAddress { address: group, port: socket.key.local_port })
}
