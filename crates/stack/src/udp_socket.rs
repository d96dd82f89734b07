//! A UDP socket that bypasses the kernel where possible.

pub(crate) mod frames;
mod receive;
mod send;
mod wait;
mod xdp_half;

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use hairpin_netstack::{Address, SocketId};

use crate::backing_socket::{BackingSocket, LONGEST};
use crate::bound_address::is_multicast;
use crate::control_plane::engine_error;
use crate::destination::{self, Destination};
use crate::family::Family;
use crate::readiness::{Epoll, Readiness};
use crate::stack::{Owner, unsupported};
use crate::{FallbackReason, PathEvent, SocketOptions, watcher};
pub use receive::{Meta, Received};
use send::RECENT;
pub(crate) use xdp_half::XdpHalf;

/// A UDP socket of a [`Stack`](crate::Stack).
///
/// Datagrams that bypass the kernel and datagrams through the kernel form one stream. A socket that
/// does not read loses datagrams beyond its queue, a quarter of the stack's frames
/// ([`dropped`](Self::dropped)).
pub struct UdpSocket {
    xdp: XdpHalf,
    token: u64,
    backing: BackingSocket,
    local: SocketAddr,
    family: Family,
    peer: Option<Box<Destination>>,
    groups: HashSet<IpAddr>,
    options: SocketOptions,
    /// The buffer for datagrams through the kernel.
    buffer: Box<[u8]>,
    recent: Vec<Destination>,
    /// The number of datagrams to this interface's addresses that arrived on another one.
    on_other_interface: u32,
    epoll: Epoll,
}

impl UdpSocket {
    pub(crate) fn bind(
        shared: &Arc<Owner>,
        local: SocketAddr,
        options: &SocketOptions,
    ) -> io::Result<Self> {
        let backing = BackingSocket::bind(local, shared.interface, options)?;
        let local = backing.local_address()?;
        let family = Family::new(local, options.only_v6);
        let packet_local = family.to_packet(local)?;
        let readiness = Arc::new(Readiness::new()?);
        let epoll = Epoll::new()?;
        epoll.add(backing.as_fd(), libc::EPOLLIN, 0)?;
        epoll.add_readiness(&readiness, 0)?;
        let mut control_plane = shared.control_plane();
        let mut data_plane = shared.data_plane();
        epoll.watch(data_plane.interface.sockets(), true)?;
        let engine = &mut data_plane.engine;
        let id = engine.open_socket(&options.to_engine());
        let id = id.map_err(io::Error::other)?;
        let token = watcher::FIRST_SOCKET_TOKEN + u64::from(id.index());
        let address = destination::to_engine_address(packet_local);
        let bound = engine.bind(id, address).map_err(engine_error);
        let capacity = data_plane.queue_capacity();
        data_plane.attach_socket(id, capacity, Arc::clone(&readiness));
        let this = Self {
            xdp: XdpHalf::new(shared, id, family, readiness),
            token,
            backing,
            local,
            family,
            peer: None,
            groups: HashSet::new(),
            options: *options,
            buffer: vec![0; LONGEST].into_boxed_slice(),
            recent: Vec::with_capacity(RECENT),
            on_other_interface: 0,
            epoll,
        };
        // From here on an error drops the socket, which takes the locks.
        let added = bound.and_then(|()| {
            control_plane.add(&data_plane, id, packet_local, None, family, this.backing.fd())
        });
        control_plane.readiness_by_token.insert(token, Arc::clone(&this.xdp.readiness));
        drop((control_plane, data_plane));
        let receives_over_xdp = added?;
        this.xdp.shared.event_source.add(this.backing.as_fd(), token)?;
        if !receives_over_xdp && !is_multicast(local.ip()) {
            let reason = FallbackReason::OtherInterface;
            this.xdp.shared.fall_back(PathEvent::RxFallback { address: local, reason })?;
        }
        Ok(this)
    }

    /// Connects the socket to one peer: it receives from no other, and errors on the path are
    /// reported. A socket can be connected once.
    ///
    /// # Errors
    /// The kernel's, such as `NetworkUnreachable`; `InvalidInput` the second time; in a strict
    /// stack `Unsupported` if the path does not bypass the kernel.
    pub fn connect(&mut self, remote: SocketAddr) -> io::Result<()> {
        if self.peer.is_some() {
            let reason = "cannot connect: the socket is already connected";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        self.backing.connect(remote)?;
        self.local = self.backing.local_address()?;
        {
            let [near, far] = [self.local, remote].map(|address| self.family.to_packet(address));
            let (near, far) = (near?, far?);
            let mut control_plane = self.xdp.shared.control_plane();
            let mut data_plane = self.xdp.shared.data_plane();
            if !is_multicast(far.ip()) {
                let local = Address::from(near.ip());
                let peer = destination::to_engine_address(far);
                let connected = data_plane.engine.connect(self.xdp.id, local, peer);
                connected.map_err(engine_error)?;
            }
            control_plane.connect(&data_plane, self.xdp.id, near, far)?;
        }
        self.peer = Some(Box::new(self.destination(remote)?));
        Ok(())
    }

    /// Joins a group on the stack's interface; with `sources`, only those are received. They must
    /// be of the group's family.
    ///
    /// The group bypasses the kernel while all its members on this host are sockets of this stack.
    /// If another socket joins, it receives nothing until the next poll, at most 20 ms later.
    ///
    /// # Errors
    /// The kernel's: a member already, too many sources or groups; `InvalidInput` if the group is
    /// not a multicast address of the socket's family. In a strict stack `Unsupported` if the group
    /// does not bypass the kernel.
    pub fn join(&mut self, group: IpAddr, sources: &[IpAddr]) -> io::Result<()> {
        let same_family = match self.family {
            Family::Ipv4 => group.is_ipv4(),
            Family::OnlyIpv6 => group.is_ipv6(),
            // A socket bound to one address has that one's family.
            Family::DualStack => {
                let local = self.local.ip();
                local.is_unspecified() || local.to_canonical().is_ipv4() == group.is_ipv4()
            }
        };
        if !is_multicast(group) || !same_family {
            let reason =
                format!("cannot join {group}: not a multicast address of the socket's family");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let port = self.local.port();
        let address = SocketAddr::new(group, port);
        let refused = {
            let mut control_plane = self.xdp.shared.control_plane();
            self.backing.join(group, self.xdp.shared.interface, sources)?;
            let joined = {
                let mut data_plane = self.xdp.shared.data_plane();
                let device = data_plane.device;
                let sources: Vec<_> = sources.iter().copied().map(Address::from).collect();
                let group = Address::from(group);
                match sources[..] {
                    [] => data_plane.engine.join(self.xdp.id, device, group),
                    _ => data_plane.engine.join_sources(self.xdp.id, device, group, &sources),
                }
            };
            if let Err(error) = joined {
                let _ = self.backing.leave(group, self.xdp.shared.interface);
                return Err(io::Error::other(error));
            }
            self.groups.insert(group);
            control_plane.groups.add(group, port, self.backing.fd());
            let mut update = control_plane.groups.poll(&self.xdp.shared).unwrap_or_default();
            let reason = control_plane.groups.fallback_reason(group, port);
            let refused = reason
                .filter(|_| self.xdp.shared.strict)
                .map(|reason| PathEvent::RxFallback { address, reason });
            // A rejected join does not take effect, so it must not end a strict stack.
            update.events.retain(|event| Some(event) != refused.as_ref());
            self.xdp.shared.apply_group_update(&mut control_plane, update);
            refused
        };
        self.xdp.shared.event_source.wake();
        if let Some(event) = refused {
            self.leave(group)?;
            return Err(unsupported(&event.to_string()));
        }
        Ok(())
    }

    /// Leaves a group. Datagrams received before are still delivered.
    ///
    /// # Errors
    /// The kernel's, if the socket is not a member.
    pub fn leave(&mut self, group: IpAddr) -> io::Result<()> {
        let mut control_plane = self.xdp.shared.control_plane();
        self.backing.leave(group, self.xdp.shared.interface)?;
        self.groups.remove(&group);
        let mut data_plane = self.xdp.shared.data_plane();
        control_plane.groups.remove(&data_plane, group, self.local.port(), self.backing.fd());
        let device = data_plane.device;
        let group = Address::from(group);
        let left = data_plane.engine.leave(self.xdp.id, device, group);
        // Datagrams already in the backing socket are found by the next receive.
        self.xdp.readiness.set_kernel_pending();
        left.map_err(io::Error::other)
    }

    /// Sets the TTL or hop limit of multicast datagrams: 1 to 255.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_multicast_ttl(&mut self, ttl: u8) -> io::Result<()> {
        self.backing.set_multicast_ttl(ttl)?;
        self.options.multicast_ttl = ttl;
        let mut data_plane = self.xdp.shared.data_plane();
        let options = self.options.to_engine();
        let set = data_plane.engine.set_options(self.xdp.id, &options);
        set.map_err(io::Error::other)?;
        drop(data_plane);
        // Prepared headers contain the old value.
        self.xdp.shared.invalidate_paths();
        Ok(())
    }

    /// Returns the local address; for a connected socket, the source address to its peer.
    #[must_use]
    pub fn local_address(&self) -> SocketAddr {
        self.local
    }

    /// Returns the peer, if connected.
    #[must_use]
    pub fn peer_address(&self) -> Option<SocketAddr> {
        self.peer.as_deref().map(Destination::address)
    }

    /// Returns `true` if unicast datagrams to the socket bypass the kernel. For groups see
    /// [`receives_group_over_xdp`](Self::receives_group_over_xdp).
    #[must_use]
    pub fn receives_over_xdp(&self) -> bool {
        self.xdp.shared.control_plane().receives_over_xdp(self.xdp.id)
    }

    /// Returns `true` if the socket is a member of the group and its datagrams bypass the kernel.
    #[must_use]
    pub fn receives_group_over_xdp(&self, group: IpAddr) -> bool {
        let is_member = self.groups.contains(&group);
        is_member
            && self
                .xdp
                .shared
                .control_plane()
                .groups
                .fallback_reason(group, self.local.port())
                .is_none()
    }

    /// Returns the receive buffer of the backing socket in bytes, including the kernel's
    /// bookkeeping.
    ///
    /// # Errors
    /// The kernel's.
    pub fn receive_buffer(&self) -> io::Result<usize> {
        self.backing.receive_buffer()
    }

    /// Returns the number of datagrams dropped because the socket did not read, of those that
    /// bypass the kernel.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.xdp.shared.data_plane().queue(self.xdp.id).map_or(0, |queue| queue.dropped())
    }

    /// Returns the kernel socket that owns the port and receives ICMP errors: to set options that
    /// this crate does not know, and to read the error queue.
    #[must_use]
    pub fn kernel_socket(&self) -> BorrowedFd<'_> {
        self.backing.as_fd()
    }

    pub(crate) fn shared(&self) -> &Arc<Owner> {
        &self.xdp.shared
    }

    pub(crate) fn id(&self) -> SocketId {
        self.xdp.id
    }

    pub(crate) fn readiness(&self) -> &Arc<Readiness> {
        &self.xdp.readiness
    }
}

impl Drop for UdpSocket {
    fn drop(&mut self) {
        let shared = Arc::clone(&self.xdp.shared);
        shared.event_source.remove(self.backing.as_fd());
        let mut control_plane = shared.control_plane();
        let mut data_plane = shared.data_plane();
        control_plane.readiness_by_token.remove(&self.token);
        // A poller that still lists the socket must not read it again.
        self.xdp.readiness.take_kernel_pending();
        control_plane.remove(&data_plane, self.xdp.id);
        for &group in &self.groups {
            // Under one lock, so that the watcher does not poll between the kernel's count and
            // ours.
            let _ = self.backing.leave(group, shared.interface);
            control_plane.groups.remove(&data_plane, group, self.local.port(), self.backing.fd());
        }
        self.xdp.close(&mut data_plane);
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
