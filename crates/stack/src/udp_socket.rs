//! A UDP socket, past the kernel where it can be.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hairpin_netstack::{Address, SocketId};
use hairpin_xdp::{Frame, Packet, Stamp};

use crate::addresses::is_multicast;
use crate::control::invalid;
use crate::core::Reader;
use crate::destination::{self, Destination, Direct, Way};
use crate::kernel_socket::{KernelSocket, LONGEST};
use crate::readiness::{Epoll, Readiness};
use crate::seat::Held;
use crate::stack::{Owner, unsupported};
use crate::{Notice, Reason, SocketOptions, watcher};

/// Datagrams taken under one lock.
const BATCH: usize = 32;
/// Frames that a socket keeps from one call to the next at most.
const KEPT: usize = 1;
/// Destinations that `send_to` remembers.
const RECENT: usize = 16;

/// A UDP socket of a [`Stack`](crate::Stack).
///
/// What comes past the kernel and what comes by it are one stream. Beyond its queue, a quarter of
/// the stack's frames, what comes to a socket that does not read is lost ([`lost`](Self::lost)).
pub struct UdpSocket {
    shared: Arc<Owner>,
    id: SocketId,
    token: u64,
    kernel: KernelSocket,
    readiness: Arc<Readiness>,
    local: SocketAddr,
    peer: Option<Destination>,
    groups: HashSet<IpAddr>,
    options: SocketOptions,
    /// Taken from the queue, under way to the caller.
    taken: Vec<Held>,
    /// How many of those the caller has been shown.
    shown: usize,
    /// Whether nothing was left in the queue when something was last taken out of it.
    is_empty: bool,
    /// To go back to the pool.
    spent: Vec<Frame>,
    /// The frame that the next datagram is written to.
    spare: Option<Packet>,
    /// For what comes and goes by the kernel.
    buffer: Box<[u8]>,
    recent: Vec<Destination>,
    epoll: Epoll,
}

/// What is known of a received datagram beside its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// Who sent it.
    pub source: SocketAddr,
    /// Where it went: an address of this host, a group or a broadcast address; `None` if the kernel
    /// brought it and did not say.
    pub destination: Option<IpAddr>,
    /// When it came in, if the interface stamps what it receives; `None` of what the kernel
    /// brought.
    pub stamp: Option<Stamp>,
    /// Whether the kernel brought it.
    pub by_kernel: bool,
}

/// What one [`UdpSocket::receive`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Received {
    /// Datagrams delivered.
    pub count: usize,
    /// Whether there were no more at that moment. False when it was not looked, so as to deliver
    /// the sooner.
    pub drained: bool,
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
            token,
            kernel,
            readiness,
            local,
            peer: None,
            groups: HashSet::new(),
            options: *options,
            taken: Vec::with_capacity(BATCH),
            shown: 0,
            is_empty: false,
            spent: Vec::with_capacity(BATCH),
            spare: None,
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
            let reason = Reason::OtherInterface;
            this.shared.fall_back(Notice::ReceivesByKernel { address: local, reason })?;
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
        self.peer = Some(self.destination(remote)?);
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
                .map(|reason| Notice::ReceivesByKernel { address, reason });
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

    /// Delivers what has arrived, up to `budget` datagrams, each to one call of `on`. Never waits.
    /// The payload lies in its frame.
    ///
    /// # Errors
    /// The kernel's about something sent before, such as `ConnectionRefused`; in a strict stack
    /// `Unsupported` once something has to come by the kernel; "no such device" once the interface
    /// is gone.
    #[inline]
    pub fn receive(
        &mut self,
        budget: usize,
        mut on: impl FnMut(Meta, &[u8]),
    ) -> io::Result<Received> {
        self.shared.check()?;
        let mut received = Received { count: 0, drained: self.is_idle() };
        while received.count < budget && !received.drained {
            let wanted = (budget - received.count).min(BATCH);
            received.drained = self.take(wanted)?;
            let is_empty = self.taken.is_empty();
            let count = self.deliver(&mut on);
            received.count += count;
            // The next batch is for the next call, if the rings would have to be looked at again.
            if is_empty || count < wanted {
                break;
            }
        }
        if self.readiness.take_by_kernel() {
            self.receive_by_kernel(budget, &mut received, &mut on)?;
        }
        // A few frames are for the next call to give back, but not so many that others lack them.
        if self.spent.len() > KEPT {
            self.give_back();
        }
        Ok(received)
    }

    /// Whether a look under the lock would find nothing: the usual case of who looks without end.
    #[inline]
    fn is_idle(&self) -> bool {
        self.is_empty
            && self.spent.is_empty()
            && !self.readiness.has_frames()
            && self.shared.is_quiet()
    }

    fn give_back(&mut self) {
        let mut core = self.shared.core();
        self.spent.drain(..).for_each(|frame| core.interface.give(frame));
    }

    /// Takes datagrams out of the queue, and before that off the rings if there are none; true if
    /// there are no more.
    #[inline]
    fn take(&mut self, wanted: usize) -> io::Result<bool> {
        let mut core = self.shared.core();
        for frame in self.spent.drain(..) {
            core.interface.give(frame);
        }
        self.is_empty = false;
        let drained = self.shared.pump(&mut core, Reader::Udp(self.id), wanted)?;
        let left = core.take(self.id, &mut self.taken, wanted);
        self.is_empty = left == 0;
        if self.is_empty {
            self.readiness.lower();
        }
        Ok(drained && self.is_empty)
    }

    #[inline]
    fn deliver(&mut self, on: &mut impl FnMut(Meta, &[u8])) -> usize {
        let first = self.shown;
        while let Some(held) = self.taken.get(self.shown) {
            // If the caller panics, it has seen this one, and the others are still here.
            self.shown += 1;
            let meta = Meta {
                source: destination::of_user(held.source, self.shared.interface),
                destination: Some(held.destination.address.to_ip()),
                stamp: held.stamp,
                by_kernel: false,
            };
            let frame = self.shared.umem.bytes(&held.packet);
            on(meta, &frame[held.offset as usize..][..held.length as usize]);
        }
        self.spent.extend(self.taken.drain(..).map(|held| held.packet.into_frame()));
        std::mem::take(&mut self.shown) - first
    }

    #[cold]
    fn receive_by_kernel(
        &mut self,
        budget: usize,
        received: &mut Received,
        on: &mut impl FnMut(Meta, &[u8]),
    ) -> io::Result<()> {
        while received.count < budget {
            let brought = self.kernel.receive(&mut self.buffer);
            let Some(brought) = brought.inspect_err(|_| self.readiness.set_by_kernel())? else {
                return Ok(());
            };
            let meta = Meta {
                source: brought.source,
                destination: brought.destination,
                stamp: None,
                by_kernel: true,
            };
            on(meta, &self.buffer[..brought.length]);
            received.count += 1;
        }
        // There may be more.
        self.readiness.set_by_kernel();
        received.drained = false;
        Ok(())
    }

    /// Finds the way to a destination, and prepares the headers of what goes there.
    ///
    /// # Errors
    /// The kernel's: `NetworkUnreachable` and the like. In a strict stack `Unsupported` if the way
    /// is not past the kernel.
    pub fn destination(&self, to: SocketAddr) -> io::Result<Destination> {
        let mut destination = Destination {
            address: to,
            socket: self.id,
            way: Way::Kernel(Reason::NoNeighbour),
            generation: 0,
            is_length_told: false,
        };
        self.find_way(&mut destination, true)?;
        Ok(destination)
    }

    #[cold]
    fn find_way(&self, destination: &mut Destination, is_new: bool) -> io::Result<()> {
        self.shared.check_gone()?;
        // Whatever changes from here on, the way is found again; so too after an error.
        let generation = self.shared.generation();
        let to = destination.address;
        let mut control = self.shared.control();
        let before = destination.by_kernel();
        let way = control.way(&self.shared, self.id, to, self.options.multicast_loop)?;
        (destination.way, destination.socket) = (way, self.id);
        destination.generation = generation;
        if is_multicast(to.ip()) {
            // Its members on this host are looked after from now on.
            self.shared.alarm.wake();
        }
        let Some(reason) = destination.by_kernel() else { return Ok(()) };
        // What is only not known yet is no reason to say anything.
        if reason == Reason::NoNeighbour || !is_new && before == Some(reason) {
            return Ok(());
        }
        let notice = Notice::SendsByKernel { address: to, reason };
        if self.shared.is_strict {
            return Err(unsupported(&notice.to_string()));
        }
        self.shared.tell(&mut control, notice);
        Ok(())
    }

    /// Has `fill` write a datagram of `length` bytes where it leaves from, and sends it. The bytes
    /// that `fill` is given are not zeroed.
    ///
    /// # Errors
    /// The kernel's; `WouldBlock` if all frames are on their way; `Unsupported` in a strict stack
    /// if it would have to go through the kernel. The datagram is lost.
    #[inline]
    pub fn transmit_to(
        &mut self,
        to: &mut Destination,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        if to.generation != self.shared.generation() || to.socket != self.id {
            self.find_way(to, false)?;
        }
        match &to.way {
            Way::Direct(direct) if length <= direct.limit => self.send_direct(direct, length, fill),
            _ => self.send_by_kernel(to, length, fill),
        }
    }

    /// As [`transmit_to`](Self::transmit_to), to the peer.
    ///
    /// # Errors
    /// As there; `NotConnected`.
    #[inline]
    pub fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        let peer = self.peer.take().ok_or_else(destination::no_peer)?;
        let mut lent = LentPeer { socket: self, peer: Some(peer) };
        let LentPeer { socket, peer: Some(peer) } = &mut lent else { return Ok(()) };
        socket.transmit_to(peer, length, fill)
    }

    /// Sends bytes somewhere. The ways to the last 16 destinations are remembered.
    ///
    /// # Errors
    /// As [`transmit_to`](Self::transmit_to) and [`destination`](Self::destination).
    pub fn send_to(&mut self, payload: &[u8], to: SocketAddr) -> io::Result<()> {
        let known = self.recent.iter().position(|recent| recent.address == to);
        let mut destination = match known {
            Some(known) => self.recent.remove(known),
            None => self.destination(to)?,
        };
        let fill = |bytes: &mut [u8]| bytes.copy_from_slice(payload);
        let result = self.transmit_to(&mut destination, payload.len(), fill);
        if self.recent.len() == RECENT {
            self.recent.remove(0);
        }
        self.recent.push(destination);
        result
    }

    #[inline]
    fn send_direct(
        &mut self,
        direct: &Direct,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        let mut packet = self.filled(direct.header.frame_length(0), length, fill)?;
        let umem = &self.shared.umem;
        direct.is_used.store(true, Ordering::Relaxed);
        let mut core = self.shared.core();
        let frame = umem.bytes_mut(&mut packet);
        let sent = core.engine.edit().send(&direct.header, length, frame, |_| {});
        match sent {
            Ok(length) => packet.truncate(length as u32),
            Err(error) => {
                core.interface.give(packet.into_frame());
                return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
            }
        }
        let queue = self.shared.queue(self.id.index());
        self.spare = core.interface.packet(umem.settings().longest_frame());
        match self.shared.transmit(core, queue, packet)? {
            Ok(()) => Ok(()),
            Err(packet) => {
                self.shared.core().interface.give(packet.into_frame());
                Err(io::ErrorKind::WouldBlock.into())
            }
        }
    }

    /// The spare frame with a payload of `length` bytes behind its first `offset`.
    ///
    /// # Errors
    /// `WouldBlock` if no frame is free.
    #[inline]
    fn filled(
        &mut self,
        offset: usize,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<Packet> {
        if self.spare.is_none() {
            self.spare = self.new_spare();
        }
        // It stays where it is while the caller writes, who may panic.
        if let Some(packet) = &mut self.spare {
            fill(&mut self.shared.umem.bytes_mut(packet)[offset..][..length]);
        }
        self.spare.take().ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }

    #[cold]
    fn new_spare(&self) -> Option<Packet> {
        self.shared.core().interface.packet(self.shared.umem.settings().longest_frame())
    }

    /// Goes through all of a send but for the send itself, so that its code and data are in the
    /// caches when it counts. Nothing leaves, and nothing is counted.
    ///
    /// # Errors
    /// As [`transmit_to`](Self::transmit_to).
    pub fn warm(
        &mut self,
        to: &mut Destination,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        if to.generation != self.shared.generation() || to.socket != self.id {
            self.find_way(to, false)?;
        }
        let Way::Direct(direct) = &to.way else { return Ok(()) };
        let length = length.min(direct.limit);
        let mut packet = self.filled(direct.header.frame_length(0), length, fill)?;
        let core = self.shared.core();
        let frame = self.shared.umem.bytes_mut(&mut packet);
        let rehearsed = core.engine.get().rehearse(&direct.header, length, frame);
        drop(core);
        self.spare = Some(packet);
        rehearsed.map(drop).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
    }

    #[cold]
    fn send_by_kernel(
        &mut self,
        to: &mut Destination,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        let Some(payload) = self.buffer.get_mut(..length) else {
            return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
        };
        let (address, reason) = (to.address, to.by_kernel().unwrap_or(Reason::TooLong));
        let notice = Notice::SendsByKernel { address, reason };
        if self.shared.is_strict && reason != Reason::NoNeighbour {
            return Err(unsupported(&notice.to_string()));
        }
        if reason == Reason::TooLong && !std::mem::replace(&mut to.is_length_told, true) {
            self.shared.control().tell(notice);
        }
        fill(payload);
        self.kernel.send(payload, to.address)
    }

    /// Sleeps until there may be something to receive, `timeout` has passed, rounded up to
    /// milliseconds, or a signal has come; whether there may be. `None` waits for ever.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        self.watch(true)?;
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 4];
        loop {
            {
                let mut core = self.shared.core();
                for frame in self.spent.drain(..) {
                    core.interface.give(frame);
                }
                self.is_empty = false;
                // Frames of others are handed on, so that they do not keep this one awake.
                self.shared.pump(&mut core, Reader::Udp(self.id), 1)?;
                if core.seat(self.id).is_some_and(|seat| seat.len() > 0) {
                    return Ok(true);
                }
                self.readiness.lower();
            }
            self.shared.check()?;
            if self.readiness.is_by_kernel() && self.kernel.is_readable() {
                return Ok(true);
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(false);
            }
            if self.epoll.wait(&mut events, left)?.is_empty() {
                // The timeout, or a signal: who waits may want to end.
                return Ok(false);
            }
            if self.kernel.is_readable() {
                self.readiness.set_by_kernel();
            }
        }
    }

    /// Says whether the socket is only ever looked at without sleeping: then others that take its
    /// frames off the rings need not wake anybody.
    pub fn set_spinning(&mut self, is_spinning: bool) {
        // One that cannot be watched stays as it is, and `wait` tells.
        let _ = self.watch(!is_spinning);
    }

    /// Has the kernel and others wake whoever sleeps, or not.
    fn watch(&mut self, is_watching: bool) -> io::Result<()> {
        if is_watching == self.readiness.is_awaited() {
            return Ok(());
        }
        let mut core = self.shared.core();
        self.epoll.watch(core.interface.sockets(), is_watching)?;
        self.readiness.set_awaited(is_watching);
        // Nobody was woken for what came meanwhile.
        if is_watching && core.seat(self.id).is_some_and(|seat| seat.len() > 0) {
            self.readiness.raise();
        }
        Ok(())
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
        self.peer.as_ref().map(Destination::address)
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

/// The peer while something is sent to it, which goes back however that ends.
struct LentPeer<'s> {
    socket: &'s mut UdpSocket,
    peer: Option<Destination>,
}

impl Drop for LentPeer<'_> {
    fn drop(&mut self) {
        self.socket.peer = self.peer.take();
    }
}

/// Readable when there may be something to receive, unless it was said to spin.
impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
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
        let packets = self.taken.drain(..).map(|held| held.packet).chain(self.spare.take());
        for frame in packets.map(Packet::into_frame).chain(self.spent.drain(..)) {
            core.interface.give(frame);
        }
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
