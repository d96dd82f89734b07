//! The traffic of a kernel UDP socket that the caller keeps.

use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;
use std::sync::Arc;

use hairpin_netstack::{Address, Payload};

use crate::backing_socket::ListedCookie;
use crate::bound_address::is_multicast;
use crate::control_plane::engine_error;
use crate::destination::{self, Destination, Path};
use crate::family::Family;
use crate::readiness::Readiness;
use crate::stack::Owner;
use crate::udp_socket::XdpHalf;
use crate::{FallbackReason, IpFields, Meta, SocketOptions};

/// The datagrams that a socket can queue without an allocation. Sets of thousands of sockets are
/// usual, and few of them are busy.
const QUEUE_CAPACITY: usize = 16;

/// The datagrams per receive of a handback.
const HAND_BACK_BATCH: usize = 32;

/// What a stack must know of a kernel socket to adopt its traffic.
#[derive(Debug, Clone, Copy)]
pub struct Adoption {
    /// The local address, with the port.
    pub local: SocketAddr,
    /// The peer of a connected socket.
    pub remote: Option<SocketAddr>,
    /// The socket's `SO_COOKIE`: this socket does not count as a foreign listener of a group.
    pub cookie: u64,
    /// The options that affect sent packets, and `only_v6`. `receive_buffer` is ignored.
    pub options: SocketOptions,
    /// Called with `fd` when another thread has queued a datagram for the socket. It must be quick
    /// and take no lock that is held during calls of the stack.
    pub wake: fn(RawFd),
    /// The caller's descriptor, by which `wake` finds the threads that wait for the socket.
    pub fd: RawFd,
}

/// The traffic of a kernel UDP socket that the caller keeps, reads and closes.
///
/// The socket needs no descriptor of its own and changes no option of the kernel socket. It
/// delivers only the datagrams that bypass the kernel; the caller reads the others. When the value
/// is dropped, the kernel receives the traffic again; datagrams not yet received are lost.
///
/// # Errors
/// [`Stack::adopt_udp`](crate::Stack::adopt_udp) fails if the stack has no room for the socket, if
/// another socket has the same binding and not both share it, or if the filter is full.
#[derive(Debug)]
pub struct AdoptedSocket {
    xdp: XdpHalf,
    local: SocketAddr,
    fd: RawFd,
    groups: HashSet<IpAddr>,
    options: SocketOptions,
    _cookie: ListedCookie,
}

/// The IP header of a received datagram, read only on request.
#[derive(Debug, Clone, Copy)]
pub struct IpHeader<'a> {
    frame: &'a [u8],
    at: Payload,
}

impl IpHeader<'_> {
    /// Returns the fields that a program can request.
    #[must_use]
    pub fn fields(self) -> IpFields {
        let fields = self.at.ttl_and_class(self.frame);
        fields.map(|(ttl, traffic_class)| IpFields { ttl, traffic_class }).unwrap_or_default()
    }
}

impl AdoptedSocket {
    pub(crate) fn new(shared: &Arc<Owner>, adoption: &Adoption) -> io::Result<Self> {
        let &Adoption { local, remote, cookie, options, wake, fd } = adoption;
        let family = Family::new(local, options.only_v6);
        let local = family.to_packet(local)?;
        let remote = remote.map(|remote| family.to_packet(remote)).transpose()?;
        let readiness = Arc::new(Readiness::with_call(wake, fd));
        let mut control_plane = shared.control_plane();
        let mut data_plane = shared.data_plane();
        let engine = &mut data_plane.engine;
        let id = engine.open_socket(&options.to_engine());
        let id = id.map_err(io::Error::other)?;
        data_plane.attach_socket(id, QUEUE_CAPACITY, Arc::clone(&readiness));
        let this = Self {
            xdp: XdpHalf::new(shared, id, family, readiness),
            local,
            fd,
            groups: HashSet::new(),
            options,
            _cookie: ListedCookie::new(cookie),
        };
        // From here on an error drops the socket, which takes the locks.
        let address = destination::to_engine_address(local);
        let engine = &mut data_plane.engine;
        let bound = engine.bind(id, address).and_then(|()| {
            match remote.filter(|remote| !is_multicast(remote.ip())) {
                Some(remote) => {
                    let remote = destination::to_engine_address(remote);
                    engine.connect(id, Address::from(local.ip()), remote)
                }
                None => Ok(()),
            }
        });
        let added = bound
            .map_err(engine_error)
            .and_then(|()| control_plane.add(&data_plane, id, local, remote, family, fd));
        drop((control_plane, data_plane));
        added.map(|_| this)
    }

    /// Returns `true` if the filter redirects unicast traffic to the socket.
    #[must_use]
    pub fn receives_over_xdp(&self) -> bool {
        self.xdp.shared.control_plane().receives_over_xdp(self.xdp.id)
    }

    /// Follows the kernel socket into a group on the stack's interface; with `sources`, only those
    /// are received. The kernel socket must be a member already.
    ///
    /// # Errors
    /// No room for the membership; a member already.
    pub fn join(&mut self, group: IpAddr, sources: &[IpAddr]) -> io::Result<()> {
        let shared = Arc::clone(&self.xdp.shared);
        let mut control_plane = shared.control_plane();
        {
            let mut data_plane = shared.data_plane();
            let device = data_plane.device;
            let sources: Vec<_> = sources.iter().copied().map(Address::from).collect();
            let group = Address::from(group);
            let joined = match sources[..] {
                [] => data_plane.engine.join(self.xdp.id, device, group),
                _ => data_plane.engine.join_sources(self.xdp.id, device, group, &sources),
            };
            joined.map_err(io::Error::other)?;
        }
        if self.groups.insert(group) {
            control_plane.groups.add(group, self.local.port(), self.fd);
        }
        let update = control_plane.groups.poll(&shared).unwrap_or_default();
        shared.apply_group_update(&mut control_plane, update);
        drop(control_plane);
        shared.event_source.wake();
        Ok(())
    }

    /// Leaves a group, which the kernel socket has left or is about to leave.
    pub fn leave(&mut self, group: IpAddr) {
        if !self.groups.remove(&group) {
            return;
        }
        let shared = &self.xdp.shared;
        let mut control_plane = shared.control_plane();
        let mut data_plane = shared.data_plane();
        control_plane.groups.remove(&data_plane, group, self.local.port(), self.fd);
        let device = data_plane.device;
        let group = Address::from(group);
        let _ = data_plane.engine.leave(self.xdp.id, device, group);
    }

    /// Changes the options of datagrams sent from now on.
    ///
    /// # Errors
    /// The engine's, if the socket does not exist.
    pub fn set_options(&mut self, options: &SocketOptions) -> io::Result<()> {
        if *options == self.options {
            return Ok(());
        }
        self.options = *options;
        let set =
            self.xdp.shared.data_plane().engine.set_options(self.xdp.id, &options.to_engine());
        // Prepared headers contain the old options.
        self.xdp.shared.invalidate_paths();
        set.map_err(io::Error::other)
    }

    /// Delivers up to `budget` datagrams that bypassed the kernel, each by one call of `on` with
    /// its IP header. Never waits. Returns how many.
    ///
    /// # Errors
    /// `ENODEV` after the interface was removed.
    #[inline]
    pub fn receive(
        &mut self,
        budget: usize,
        mut on: impl FnMut(Meta, IpHeader<'_>, &[u8]),
    ) -> io::Result<usize> {
        let received = self.xdp.receive(budget, &mut |meta, at, frame| {
            on(meta, IpHeader { frame, at }, at.bytes(frame));
        })?;
        self.xdp.recycle_many();
        Ok(received.count)
    }

    /// Makes the filter pass the traffic to the kernel from now on: the first step of a handback.
    pub fn end_redirects(&mut self) {
        let shared = &self.xdp.shared;
        let mut control_plane = shared.control_plane();
        let data_plane = shared.data_plane();
        control_plane.remove(&data_plane, self.xdp.id);
        for group in self.groups.drain() {
            control_plane.groups.remove(&data_plane, group, self.local.port(), self.fd);
        }
    }

    /// Delivers to `on` the datagrams that arrived before the redirects ended: the last step of a
    /// handback, after [`await_redirects`].
    pub fn hand_back(mut self, mut on: impl FnMut(Meta, IpHeader<'_>, &[u8])) {
        while self.receive(HAND_BACK_BATCH, &mut on).is_ok_and(|count| count > 0) {}
    }

    /// Returns `true` if a datagram is queued. [`Stack::poll`](crate::Stack::poll) queues those on
    /// the rings.
    #[inline]
    #[must_use]
    pub fn has_queued(&self) -> bool {
        self.xdp.readiness.has_frames()
    }

    /// Returns the number of datagrams ever queued for the socket, which changes with each arrival
    /// that [`Stack::poll`](crate::Stack::poll) finds.
    #[must_use]
    pub fn queued(&self) -> u64 {
        self.xdp.shared.data_plane().queue(self.xdp.id).map_or(0, |queue| queue.queued())
    }

    /// Returns the number of datagrams dropped because the socket did not read.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.xdp.shared.data_plane().queue(self.xdp.id).map_or(0, |queue| queue.dropped())
    }

    /// Finds the path to a destination and prepares its headers.
    ///
    /// # Errors
    /// The kernel's: `NetworkUnreachable` and similar.
    pub fn destination(&self, to: SocketAddr) -> io::Result<Destination> {
        self.xdp.destination(to, self.options.multicast_loop)
    }

    /// Returns `true` if nothing that the path depends on has changed since it was found.
    #[inline]
    #[must_use]
    pub fn is_current(&self, to: &Destination) -> bool {
        to.generation == self.xdp.shared.generation() && to.socket == self.xdp.id
    }

    /// Sends a datagram of `length` bytes, written in place by `fill`. If the datagram cannot
    /// bypass the kernel, returns the reason, and the caller sends it through the kernel socket.
    ///
    /// # Errors
    /// The kernel's; `WouldBlock` if all frames are in flight. The datagram is lost.
    #[inline]
    pub fn transmit_to(
        &mut self,
        to: &mut Destination,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<Option<FallbackReason>> {
        if !self.is_current(to) {
            self.xdp.find_path(to, false, self.options.multicast_loop)?;
        }
        match &to.path {
            Path::Xdp(path) if length <= path.limit => {
                self.xdp.send(path, length, fill).map(|()| None)
            }
            Path::Xdp(_) => Ok(Some(FallbackReason::TooLong)),
            Path::Kernel(reason) => Ok(Some(*reason)),
        }
    }
}

/// Waits until frames are on the rings that filters were redirecting when their sockets'
/// redirects ended: the second step of a handback, once for any number of sockets. Takes some
/// milliseconds.
pub fn await_redirects() {
    // The filter runs inside a read-side critical section of RCU, and this command waits for all of
    // them. SAFETY: the call takes integers only.
    unsafe { libc::syscall(libc::SYS_membarrier, libc::MEMBARRIER_CMD_GLOBAL, 0, 0) };
}

impl Drop for AdoptedSocket {
    fn drop(&mut self) {
        let shared = Arc::clone(&self.xdp.shared);
        let mut control_plane = shared.control_plane();
        let mut data_plane = shared.data_plane();
        control_plane.remove(&data_plane, self.xdp.id);
        for group in self.groups.drain() {
            control_plane.groups.remove(&data_plane, group, self.local.port(), self.fd);
        }
        self.xdp.close(&mut data_plane);
    }
}
