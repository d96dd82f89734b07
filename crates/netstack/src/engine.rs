//! The engine, and its sockets.

use crate::arena::{self, Parts, Settings};
use crate::index::NONE;
use crate::socket::{BOUND, CONNECTED, FREE, Key, OPEN, Socket};
use crate::{Address, Error, SocketAddress, SocketCounters, SocketId, SocketOptions};

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

    /// Goes on with an arena that somebody else has made, wherever it lies now. It is looked
    /// through: whether every list ends, and every index leads to what it should. Whatever it
    /// holds, no call panics or goes on for ever; what is found wrong later is
    /// [`Error::Corrupt`] too.
    ///
    /// # Errors
    /// [`Error::NotAnArena`], [`Error::ArenaTooSmall`], [`Error::ArenaMisaligned`],
    /// [`Error::Corrupt`].
    pub fn open(bytes: &'a mut [u8]) -> Result<Self, Error> {
        let mut engine = Self::resume(bytes)?;
        engine.parts.check()?;
        Ok(engine)
    }

    /// Goes on with an arena that has been looked through before: for who shares it with others
    /// that he trusts, and takes its lock again and again. Only its header is looked at.
    ///
    /// # Errors
    /// [`Error::NotAnArena`], [`Error::ArenaTooSmall`], [`Error::ArenaMisaligned`].
    #[inline]
    pub fn resume(bytes: &'a mut [u8]) -> Result<Self, Error> {
        Ok(Self { parts: arena::open(bytes)? })
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
    /// is bound to the same and not both share, [`Error::Corrupt`]. That any address stands in the
    /// way of a single one is the kernel's rule, which the reservation has met.
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
    /// is covered by that, [`Error::AddressInUse`], [`Error::Corrupt`]. After any other error it is
    /// as it was.
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
        self.detach(id.index)?;
        let key =
            Key::connected(SocketAddress { address: local, port: socket.key.local_port }, remote);
        if let Err(error) = self.attach(id.index, key) {
            self.attach(id.index, socket.key)?;
            return Err(error);
        }
        self.socket_mut(id)?.state = CONNECTED;
        Ok(())
    }

    /// Closes a socket and ends its memberships.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`], [`Error::Corrupt`].
    pub fn close(&mut self, id: SocketId) -> Result<(), Error> {
        if self.socket(id)?.state >= BOUND {
            self.detach(id.index)?;
        }
        self.end_memberships(|member| member.socket == id.index)?;
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

    /// What a socket is like.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`].
    pub fn options(&self, id: SocketId) -> Result<SocketOptions, Error> {
        Ok(self.socket(id)?.options())
    }

    /// What a socket is bound to, and whom it is connected to.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`].
    pub fn ends(
        &self,
        id: SocketId,
    ) -> Result<(Option<SocketAddress>, Option<SocketAddress>), Error> {
        let Socket { state, key, .. } = self.socket(id)?;
        let (local, remote) = (key.local(), key.remote());
        Ok(((*state >= BOUND).then_some(local), (*state == CONNECTED).then_some(remote)))
    }

    /// All sockets that are open: for whoever opens an arena.
    pub fn socket_ids(&self) -> impl Iterator<Item = SocketId> {
        let open = (0_u32..).zip(&*self.parts.sockets).filter(|(_, socket)| socket.state != FREE);
        open.map(|(index, socket)| SocketId { index, generation: socket.generation })
    }

    #[inline]
    pub(crate) fn socket(&self, id: SocketId) -> Result<&Socket, Error> {
        let socket = self.parts.sockets.get(id.index as usize);
        let is_open = |s: &&Socket| s.state != FREE && s.generation == id.generation;
        socket.filter(is_open).ok_or(Error::NoSuchSocket)
    }

    #[inline]
    pub(crate) fn socket_mut(&mut self, id: SocketId) -> Result<&mut Socket, Error> {
        self.socket(id)?;
        Ok(&mut self.parts.sockets[id.index as usize])
    }

    /// Enters a socket under a key, behind those that share it.
    fn attach(&mut self, socket: u32, key: Key) -> Result<(), Error> {
        self.parts.flows.forget();
        let shares = self.parts.sockets[socket as usize].shares;
        let table = self.parts.socket_table();
        if let Some(first) = table.first(&key) {
            let both_share = shares != 0 && table.elements[first as usize].shares != 0;
            if !key.local.is_multicast() && !both_share {
                return Err(Error::AddressInUse);
            }
        }
        self.parts.sockets[socket as usize].key = key;
        self.parts.socket_table().attach(socket)
    }

    fn detach(&mut self, socket: u32) -> Result<(), Error> {
        self.parts.flows.forget();
        self.parts.socket_table().detach(socket)
    }
}
