//! A UDP socket, past the kernel where it can be.

mod frames;
mod receiving;
mod sending;
mod waiting;

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::sync::Arc;

use hairpin_netstack::{Address, SocketId};

use crate::addresses::is_multicast;
use crate::control::invalid;
use crate::destination::{self, Destination};
use crate::kernel_socket::{KernelSocket, LONGEST};
use crate::readiness::{Epoll, Readiness};
use crate::stack::{Owner, unsupported};
use crate::{FallbackReason, PathEvent, SocketOptions, watcher};
use frames::Frames;
pub use receiving::{Meta, Received};
use sending::RECENT;

/// A UDP socket of a [`Stack`](crate::Stack).
///
/// What comes past the kernel and what comes by it are one stream. Beyond its queue, a quarter of
/// the stack's frames, what comes to a socket that does not read is lost ([`lost`](Self::lost)).
pub struct UdpSocket {
    shared: Arc<Owner>,
    id: SocketId,
    /// The queue that it sends by.
    queue: u32,
    token: u64,
    kernel: KernelSocket,
    readiness: Arc<Readiness>,
    local: SocketAddr,
    peer: Option<Box<Destination>>,
    groups: HashSet<IpAddr>,
    options: SocketOptions,
    frames: Frames,
    /// Whether nothing was left in the queue when something was last taken out of it.
    is_empty: bool,
    /// For what comes and goes by the kernel.
    buffer: Box<[u8]>,
    recent: Vec<Destination>,
    epoll: Epoll,
}

impl UdpSocket {
    pub(crate) fn bind(
        shared: &Arc<Owner>,
        local: SocketAddr,
        options: &SocketOptions,
    ) -> io::Result<Self> {
        let kernel = KernelSocket::bind(local, shared.interface, options)?;
        let local = kernel.local_address()?;
        let readiness = Arc::new(Readiness::new()?);
        let epoll = Epoll::new()?;
        epoll.add(kernel.as_fd(), libc::EPOLLIN, 0)?;
        epoll.add(readiness.as_fd(), libc::EPOLLIN, 0)?;
        let mut control = shared.control();
        let mut core = shared.core();
        epoll.watch(core.interface.sockets(), true)?;
        let engine = core.engine.edit();
        let id = engine.open_socket(&options.of_engine()).map_err(io::Error::other)?;
        let token = watcher::SOCKETS + u64::from(id.index());
        let bound = engine.bind(id, destination::of_engine(local)).map_err(invalid);
        core.sit(id, Arc::clone(&readiness));
        let this = Self {
            shared: Arc::clone(shared),
            id,
            queue: shared.queue(id.index()),
            token,
            kernel,
            readiness,
            local,
            peer: None,
            groups: HashSet::new(),
            options: *options,
            frames: Frames::new(shared.umem.settings().longest_frame()),
            is_empty: false,
            buffer: vec![0; LONGEST].into_boxed_slice(),
            recent: Vec::with_capacity(RECENT),
            epoll,
        };
        // From here on an error drops the socket, which takes the locks.
        let added = bound.and_then(|()| control.add(&core, id, local));
        control.awaited.insert(token, Arc::clone(&this.readiness));
        drop((control, core));
        let is_direct = added?;
        this.shared.alarm.add(this.kernel.as_fd(), token)?;
        if !is_direct && !is_multicast(local.ip()) {
            let reason = FallbackReason::OtherInterface;
            this.shared.fall_back(PathEvent::RxFallback { address: local, reason })?;
        }
        Ok(this)
    }

    /// Talks to one peer from now on: nobody else is heard, and errors of the way there are told.
    /// Once only.
    ///
    /// # Errors
    /// The kernel's, such as `NetworkUnreachable`; `InvalidInput` the second time; in a strict
    /// stack `Unsupported` if the way is not past the kernel.
    pub fn connect(&mut self, remote: SocketAddr) -> io::Result<()> {
        if self.peer.is_some() {
            let reason = "the socket has a peer already";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        self.kernel.connect(remote)?;
        self.local = self.kernel.local_address()?;
        {
            let mut control = self.shared.control();
            let mut core = self.shared.core();
            if !is_multicast(remote.ip()) {
                let local = Address::from(self.local.ip());
                let engine = core.engine.edit();
                engine.connect(self.id, local, destination::of_engine(remote)).map_err(invalid)?;
            }
            control.connect(&core, self.id, self.local, remote)?;
        }
        self.peer = Some(Box::new(self.destination(remote)?));
        Ok(())
    }

    /// Becomes a member of a group on the stack's interface; from `sources` alone, if there are
    /// any, of the group's family.
    ///
    /// The group comes past the kernel while all its members on this host are sockets of this
    /// stack. Somebody else who joins gets nothing until that is noticed, 20 ms later at the most.
    ///
    /// # Errors
    /// The kernel's: a member already, too many senders or groups; `InvalidInput` if it is no group
    /// of the socket's family. In a strict stack `Unsupported` if it does not come past the kernel.
    pub fn join(&mut self, group: IpAddr, sources: &[IpAddr]) -> io::Result<()> {
        if !is_multicast(group) || group.is_ipv4() != self.local.is_ipv4() {
            let reason = format!("{group} is no group of the socket's family");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let port = self.local.port();
        let address = SocketAddr::new(group, port);
        let refused = {
            let mut control = self.shared.control();
            self.kernel.join(group, self.shared.interface, sources)?;
            let joined = {
                let mut core = self.shared.core();
                let device = core.device;
                let sources: Vec<_> = sources.iter().copied().map(Address::from).collect();
                let engine = core.engine.edit();
                let group = Address::from(group);
                match sources[..] {
                    [] => engine.join(self.id, device, group),
                    _ => engine.join_sources(self.id, device, group, &sources),
                }
            };
            if let Err(error) = joined {
                let _ = self.kernel.leave(group, self.shared.interface);
                return Err(io::Error::other(error));
            }
            self.groups.insert(group);
            control.groups.add(group, port);
            let mut look = control.groups.look(&self.shared).unwrap_or_default();
            let reason = control.groups.by_kernel(group, port);
            let refused = reason
                .filter(|_| self.shared.is_strict)
                .map(|reason| PathEvent::RxFallback { address, reason });
            // What is refused does not happen, and ends no strict stack.
            look.notices.retain(|notice| Some(notice) != refused.as_ref());
            self.shared.heed(&mut control, look);
            refused
        };
        self.shared.alarm.wake();
        if let Some(notice) = refused {
            self.leave(group)?;
            return Err(unsupported(&notice.to_string()));
        }
        Ok(())
    }

    /// Ends a membership. What has arrived before is still delivered.
    ///
    /// # Errors
    /// The kernel's: no member.
    pub fn leave(&mut self, group: IpAddr) -> io::Result<()> {
        let mut control = self.shared.control();
        self.kernel.leave(group, self.shared.interface)?;
        self.groups.remove(&group);
        let mut core = self.shared.core();
        control.groups.remove(&core.interface, group, self.local.port());
        let device = core.device;
        let left = core.engine.edit().leave(self.id, device, Address::from(group));
        // What has come by the kernel is found by the next look, not by some later one.
        self.readiness.set_by_kernel();
        left.map_err(io::Error::other)
    }

    /// Sets the TTL, or hop limit, of what goes to groups from now on: 1 to 255.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_multicast_ttl(&mut self, ttl: u8) -> io::Result<()> {
        self.kernel.set_multicast_ttl(ttl)?;
        self.options.multicast_ttl = ttl;
        let mut core = self.shared.core();
        let options = self.options.of_engine();
        core.engine.edit().set_options(self.id, &options).map_err(io::Error::other)?;
        drop(core);
        // Headers are prepared with it.
        self.shared.renew_ways();
        Ok(())
    }

    /// What it is bound to; once it has a peer, the address that it talks to it from.
    #[must_use]
    pub fn local_address(&self) -> SocketAddr {
        self.local
    }

    /// The peer, if there is one.
    #[must_use]
    pub fn peer_address(&self) -> Option<SocketAddr> {
        self.peer.as_deref().map(Destination::address)
    }

    /// Whether what is sent to it comes past the kernel; of a group see
    /// [`is_group_direct`](Self::is_group_direct).
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.shared.control().is_direct(self.id)
    }

    /// Whether a group that it is a member of comes past the kernel.
    #[must_use]
    pub fn is_group_direct(&self, group: IpAddr) -> bool {
        let is_member = self.groups.contains(&group);
        is_member && self.shared.control().groups.by_kernel(group, self.local.port()).is_none()
    }

    /// The buffer of the kernel's socket, for what comes by it, in bytes of datagrams and the
    /// kernel's book-keeping about them.
    ///
    /// # Errors
    /// The kernel's.
    pub fn receive_buffer(&self) -> io::Result<usize> {
        self.kernel.receive_buffer()
    }

    /// Datagrams lost because this socket did not read, past the kernel alone.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.shared.core().seat(self.id).map_or(0, |seat| seat.lost())
    }

    pub(crate) fn shared(&self) -> &Arc<Owner> {
        &self.shared
    }

    pub(crate) fn id(&self) -> SocketId {
        self.id
    }

    pub(crate) fn readiness(&self) -> &Arc<Readiness> {
        &self.readiness
    }
}

impl Drop for UdpSocket {
    fn drop(&mut self) {
        self.shared.alarm.remove(self.kernel.as_fd());
        let mut control = self.shared.control();
        let mut core = self.shared.core();
        control.awaited.remove(&self.token);
        // A poller that still knows it is not to look at it again.
        self.readiness.take_by_kernel();
        control.remove(&core, self.id);
        for &group in &self.groups {
            // As one: the watcher does not look between the kernel's count and ours.
            let _ = self.kernel.leave(group, self.shared.interface);
            control.groups.remove(&core.interface, group, self.local.port());
        }
        core.stand_up(self.id);
        let _ = core.engine.edit().close(self.id);
        self.frames.give_back(&mut core);
    }
}

impl fmt::Debug for UdpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UdpSocket")
            .field("local", &self.local)
            .field("peer", &self.peer_address())
            .finish_non_exhaustive()
    }
}
