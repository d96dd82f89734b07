//! The UDP engine and its socket operations.

use crate::index::NONE;
use crate::socket::{BOUND, CONNECTED, FREE, Key, OPEN, Socket};
use crate::tables::{Settings, Tables};
use crate::{Address, Error, SocketAddress, SocketCounters, SocketId, SocketOptions};

/// A UDP engine.
#[derive(Debug)]
pub struct Engine {
    pub(crate) tables: Tables,
}

impl Engine {
    /// Creates an engine without devices and sockets. Later calls allocate nothing.
    ///
    /// # Panics
    /// If a capacity exceeds 2^20.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self { tables: Tables::new(settings) }
    }

    /// Opens a socket.
    ///
    /// # Errors
    /// [`Error::Full`].
    pub fn open_socket(&mut self, options: &SocketOptions) -> Result<SocketId, Error> {
        let free = self.tables.sockets.iter().position(|socket| socket.state == FREE);
        let free = free.ok_or(Error::Full)?;
        let socket = &mut self.tables.sockets[free];
        socket.state = OPEN;
        socket.next = NONE;
        socket.generation = socket.generation.wrapping_add(1);
        socket.identification = 0;
        socket.counters = SocketCounters::default();
        socket.set_options(options);
        Ok(SocketId { index: free as u32, generation: socket.generation })
    }

    /// Changes the options of a socket. Prepared headers keep the old options.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`].
    pub fn set_options(&mut self, id: SocketId, options: &SocketOptions) -> Result<(), Error> {
        let socket = self.socket_mut(id)?;
        let changes_recipients = (socket.multicast_all != 0) != options.multicast_all;
        socket.set_options(options);
        if changes_recipients {
            self.tables.flows.invalidate();
        }
        Ok(())
    }

    /// Binds a socket; it receives from now on.
    ///
    /// The caller has reserved the port. The address is unspecified, a group, or a local address.
    /// The engine does not check for conflicts between an unspecified and a specific address,
    /// because the kernel's reservation has done so.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`]; [`Error::WrongState`] if the socket is bound; [`Error::NoPort`];
    /// [`Error::WrongAddress`] for a broadcast address; [`Error::AddressInUse`] if another socket
    /// has the same binding and not both share it.
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
        self.insert(id.index, Key::bound(local))?;
        self.socket_mut(id)?.state = BOUND;
        Ok(())
    }

    /// Connects a bound socket to one peer, with the local address of the route to it. A socket
    /// cannot be disconnected.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`]; [`Error::WrongState`] unless the socket is bound;
    /// [`Error::NoPort`]; [`Error::WrongAddress`] if the families differ or the binding does not
    /// cover `local`; [`Error::AddressInUse`]. After an error the socket is unchanged.
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
        let covers = bound == local || bound.is_any() && socket.has_family_of(local);
        let are_hosts = !local.is_any() && !local.is_multicast() && !remote.address.is_any();
        if !covers || !are_hosts || local.is_ipv4() != remote.address.is_ipv4() {
            return Err(Error::WrongAddress);
        }
        if remote.port == 0 {
            return Err(Error::NoPort);
        }
        self.remove(id.index);
        let key =
            Key::connected(SocketAddress { address: local, port: socket.key.local_port }, remote);
        if let Err(error) = self.insert(id.index, key) {
            self.insert(id.index, socket.key)?;
            return Err(error);
        }
        self.socket_mut(id)?.state = CONNECTED;
        Ok(())
    }

    /// Closes a socket and ends its memberships.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`].
    pub fn close(&mut self, id: SocketId) -> Result<(), Error> {
        if self.socket(id)?.state >= BOUND {
            self.remove(id.index);
        }
        self.end_memberships(|member| member.socket == id.index);
        self.socket_mut(id)?.state = FREE;
        Ok(())
    }

    /// Returns the counters of a socket.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`].
    pub fn socket_counters(&self, id: SocketId) -> Result<SocketCounters, Error> {
        Ok(self.socket(id)?.counters)
    }

    /// Returns the options of a socket.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`].
    pub fn options(&self, id: SocketId) -> Result<SocketOptions, Error> {
        Ok(self.socket(id)?.options())
    }

    /// Returns the local address of a bound socket and the peer of a connected one.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`].
    pub fn endpoints(
        &self,
        id: SocketId,
    ) -> Result<(Option<SocketAddress>, Option<SocketAddress>), Error> {
        let Socket { state, key, .. } = self.socket(id)?;
        let (local, remote) = (key.local(), key.remote());
        Ok(((*state >= BOUND).then_some(local), (*state == CONNECTED).then_some(remote)))
    }

    /// Returns all open sockets.
    pub fn socket_ids(&self) -> impl Iterator<Item = SocketId> {
        let open = (0_u32..).zip(&*self.tables.sockets).filter(|(_, socket)| socket.state != FREE);
        open.map(|(index, socket)| SocketId { index, generation: socket.generation })
    }

    #[inline]
    pub(crate) fn socket(&self, id: SocketId) -> Result<&Socket, Error> {
        let socket = self.tables.sockets.get(id.index as usize);
        let is_open = |s: &&Socket| s.state != FREE && s.generation == id.generation;
        socket.filter(is_open).ok_or(Error::NoSuchSocket)
    }

    #[inline]
    pub(crate) fn socket_mut(&mut self, id: SocketId) -> Result<&mut Socket, Error> {
        self.socket(id)?;
        Ok(&mut self.tables.sockets[id.index as usize])
    }

    /// Inserts a socket under a key, after those that share the key.
    fn insert(&mut self, socket: u32, key: Key) -> Result<(), Error> {
        self.tables.flows.invalidate();
        let reuse_address = self.tables.sockets[socket as usize].reuse_address;
        let table = self.tables.socket_table();
        if let Some(first) = table.first(&key) {
            let both_share =
                reuse_address != 0 && table.elements[first as usize].reuse_address != 0;
            if !key.local.is_multicast() && !both_share {
                return Err(Error::AddressInUse);
            }
        }
        self.tables.sockets[socket as usize].key = key;
        self.tables.socket_table().insert(socket);
        Ok(())
    }

    fn remove(&mut self, socket: u32) {
        self.tables.flows.invalidate();
        self.tables.socket_table().remove(socket);
    }
}
