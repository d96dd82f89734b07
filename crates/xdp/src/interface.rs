//! A whole interface: a filter on it, and a socket on every queue.

use std::fmt;
use std::io;

use crate::capabilities::{CapabilityError, check_capabilities};
use crate::device::{Device, DeviceError, ETHERNET_HEADER};
use crate::filter::{
    Entry, EntryError, Filter, FilterError, FilterSettings, Link, LinkError, Mode, Slot, Stamping,
    Verdict,
};
use crate::frame::{Frame, Packet};
use crate::frame_pool::FramePool;
use crate::rx_probe::RxProbe;
use crate::socket::{CopyMode, Socket, SocketError, SocketSettings};
use crate::stamp::{ReceiveStamps, Stamp};
use crate::tx_wakeup::TxWakeup;
use crate::umem::{Umem, UmemError, UmemSettings};

/// How many packets of a queue come before those of the next: as many as the kernel hands on at a
/// time (`NAPI_POLL_WEIGHT`).
const BURST: u32 = 64;

/// Frames that are worth a store in the fill ring, unless that is an eighth of all.
const REFILL: u32 = 32;

/// Sent frames that are worth a look at the completion ring.
const RECLAIM: u32 = 32;

/// What an [`Interface`] is to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InterfaceSettings {
    /// Where in the kernel the filter runs.
    pub mode: Mode,
    /// The memory, shared by all queues, with two frames for each at least; half of the frames are
    /// kept for receiving.
    pub umem: UmemSettings,
    /// Each socket. In generic mode frames are always copied.
    pub socket: SocketSettings,
    /// The filter; `queues` and `receive_stamps` are seen to.
    pub filter: FilterSettings,
    /// Who is to stamp received frames.
    pub receive_stamps: ReceiveStamps,
}

/// Why an interface cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InterfaceError {
    /// What this process may not do.
    #[error(transparent)]
    Capabilities(#[from] CapabilityError),
    /// The interface.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Frames may come that are longer than a frame of the memory. They would be lost.
    #[error("{name} has an MTU of {mtu}; frames of {frame_size} bytes have room for {most}")]
    Mtu {
        /// The interface.
        name: String,
        /// Its MTU.
        mtu: u32,
        /// Of the memory.
        frame_size: u32,
        /// The highest MTU that is possible.
        most: u32,
    },
    /// Some queue would have nothing to receive into, or nothing could be sent.
    #[error("{name} has {queues} queues, for which {frames} frames are too few: two for each")]
    Frames {
        /// The interface.
        name: String,
        /// Of the interface.
        queues: u32,
        /// Of the memory.
        frames: u32,
    },
    /// The memory.
    #[error(transparent)]
    Umem(#[from] UmemError),
    /// The filter.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// The filter on the interface.
    #[error("{name}: {reason}")]
    Link {
        /// The interface.
        name: String,
        /// What is in the way.
        reason: LinkError,
    },
    /// A socket.
    #[error("{name}: {reason}")]
    Socket {
        /// The interface.
        name: String,
        /// What is in the way.
        reason: SocketError,
    },
    /// A socket cannot be entered into the filter.
    #[error("the filter's sockets: {0}")]
    Sockets(io::Error),
}

/// A filter on an interface, a socket on every receive queue, and the memory they share. Nothing is
/// redirected before an entry says so. All of it is gone when this is dropped or the process ends.
///
/// A forked child has none of it, so that no flow outlives its owner: it may drop what it inherits,
/// nothing else, and open an interface of its own when the parent has left that.
///
/// It has the queues that were there when it was opened. What comes in by one that was added later
/// is the kernel's.
#[derive(Debug)]
pub struct Interface {
    /// The first to be dropped, so that nothing is redirected any more when the sockets go.
    link: Link,
    sockets: Vec<Socket>,
    pool: FramePool,
    umem: Umem,
    /// The socket whose turn it is, and for how many packets more.
    next: usize,
    burst: u32,
    /// Frames that each socket is to have to receive into.
    filling: u32,
    /// So many that a socket lacks are worth giving.
    refill_from: u32,
    /// So many frames under way are looked after at once, not one by one.
    reclaim_from: u32,
    filter: Filter,
    slot: Slot,
    device: Device,
    receive_stamps: ReceiveStamps,
    /// Whether the driver was asked for stamps and has none.
    lacks_stamps: bool,
}

impl Interface {
    /// Takes the interface of this name, which somebody has named on purpose.
    ///
    /// # Errors
    /// See [`InterfaceError`].
    pub fn open(name: &str, settings: &InterfaceSettings) -> Result<Self, InterfaceError> {
        check_capabilities()?;
        let device = Device::named(name)?;
        check_mtu(&device, &settings.umem)?;
        check_frames(&device, &settings.umem)?;
        let (umem, pool) = Umem::create(&settings.umem)?;
        let (filter, link, receive_stamps) = put_filter(&device, settings)?;
        let mut socket = settings.socket.clone();
        socket.receive_stamps = receive_stamps;
        let failed = |reason| InterfaceError::Socket { name: name.to_string(), reason };
        if link.mode() == Mode::Generic {
            if socket.copying == CopyMode::ZeroCopy {
                return Err(failed(SocketError::NoZeroCopy(0)));
            }
            socket.copying = CopyMode::Copy;
        }
        let sockets = open_sockets(&device, &umem, &socket).map_err(failed)?;
        let slot = filter.slot(0).expect("a filter has a slot");
        let filling = (settings.umem.frames / 2 / device.queues).clamp(1, socket.ring);
        let mut interface = Self {
            link,
            sockets,
            pool,
            umem,
            next: 0,
            burst: burst(filling, filling),
            filling,
            refill_from: (filling / 8).clamp(1, REFILL),
            reclaim_from: RECLAIM.min(settings.socket.ring / 2),
            filter,
            slot,
            device,
            receive_stamps,
            lacks_stamps: settings.receive_stamps != receive_stamps,
        };
        // Frames to receive into are there before anything can be redirected.
        for socket in &mut interface.sockets {
            socket.refill(&mut interface.pool, filling);
        }
        for socket in &interface.sockets {
            let fd = std::os::fd::AsFd::as_fd(socket);
            let entered = interface.filter.set_socket(slot, socket.queue(), fd);
            entered.map_err(InterfaceError::Sockets)?;
        }
        Ok(interface)
    }

    /// The next packet that came in by any queue, and by which. Queues take turns; when none has
    /// anything, all have been refilled and woken as far as they want it.
    ///
    /// # Errors
    /// The kernel's, of a wake: `NetworkDown` while the interface is down.
    #[inline(always)]
    pub fn receive(&mut self) -> io::Result<Option<(u32, Packet)>> {
        loop {
            if let Some(received) = self.receive_in_turn(Socket::receive) {
                return Ok(Some(received));
            }
            if !self.next_turn()? {
                return Ok(None);
            }
        }
    }

    /// The next packet of the queue whose turn it is, while its turn lasts.
    #[inline(always)]
    fn receive_in_turn(
        &mut self,
        receive: impl FnOnce(&mut Socket) -> Option<Packet>,
    ) -> Option<(u32, Packet)> {
        if self.burst == 0 {
            return None;
        }
        let socket = &mut self.sockets[self.next];
        let packet = receive(socket)?;
        self.burst -= 1;
        Some((socket.queue(), packet))
    }

    /// The turn is over; so is that of each queue that has nothing. Goes on to one that has
    /// something, if there is any: the last to be looked at is the one whose turn it was, if it may
    /// have more.
    #[inline(never)]
    fn next_turn(&mut self) -> io::Result<bool> {
        let others = self.sockets.len() - usize::from(self.burst > 0);
        for turn in 0..=others {
            self.refill(self.next);
            self.sockets[self.next].anticipate();
            self.sockets[self.next].wake()?;
            self.next = if self.next + 1 < self.sockets.len() { self.next + 1 } else { 0 };
            let socket = &mut self.sockets[self.next];
            self.burst = burst(socket.filling(), self.filling);
            if turn < others && socket.has_packets() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The next packet of those that the last look at a ring has found; `None` if it would take
    /// another look, which [`receive`](Self::receive) takes.
    #[inline]
    pub fn receive_known(&mut self) -> Option<(u32, Packet)> {
        self.receive_in_turn(Socket::receive_known)
    }

    /// Whether there is a packet to receive. If there is none, all queues have been refilled and
    /// woken as far as they want it.
    ///
    /// # Errors
    /// As of [`receive`](Self::receive).
    pub fn look(&mut self) -> io::Result<bool> {
        if self.sockets.iter_mut().any(Socket::has_packets) {
            return Ok(true);
        }
        for index in 0..self.sockets.len() {
            self.refill(index);
            self.sockets[index].wake()?;
        }
        Ok(false)
    }

    /// Whether the kernel has taken the interface away, for good. One that is down is still there.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.sockets.iter().any(Socket::is_unbound)
    }

    /// Gives a socket its frames to receive into, those among them that were being transmitted.
    #[inline]
    fn refill(&mut self, index: usize) {
        if !self.is_worth_refilling(&self.sockets[index]) {
            return;
        }
        if (self.pool.len() as u32) < self.filling {
            self.reclaim();
        }
        self.sockets[index].refill(&mut self.pool, self.filling);
    }

    /// Whether a socket has so many frames less to receive into than it should that it is to have
    /// more. A few at a time would cost a store in shared memory each.
    #[inline]
    fn is_worth_refilling(&self, socket: &Socket) -> bool {
        self.filling.saturating_sub(socket.filling()) >= self.refill_from
    }

    fn reclaim(&mut self) {
        for socket in &mut self.sockets {
            socket.reclaim(&mut self.pool);
        }
    }

    /// A frame to write and transmit, of `length` bytes from the Ethernet header on; `None` if none
    /// is free, also after those that have been transmitted were taken back, or if it is too long.
    /// Frames that the sockets are short of to receive into are not free.
    #[inline]
    pub fn packet(&mut self, length: u32) -> Option<Packet> {
        let missing = self.missing();
        if self.pool.len() <= missing {
            self.reclaim();
        }
        if self.pool.len() <= missing {
            return None;
        }
        let frame = self.pool.take()?;
        self.umem.packet(frame, length).map_err(|frame| self.pool.give(frame)).ok()
    }

    /// Whether a socket has fewer frames to receive into than it should, by more than a few: all
    /// others were in use when it was last refilled, or it has received since.
    #[inline]
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.sockets.iter().any(|socket| self.is_worth_refilling(socket))
    }

    /// A look from outside at whether there is anything to receive.
    #[must_use]
    pub fn glance(&self) -> RxProbe {
        RxProbe::of(&self.sockets)
    }

    /// How many frames the sockets are short of.
    #[inline]
    fn missing(&self) -> usize {
        let missing = |socket: &Socket| self.filling.saturating_sub(socket.filling()) as usize;
        self.sockets.iter().map(missing).sum()
    }

    /// Puts a packet into a queue's transmit ring; it leaves with the next [`flush`](Self::flush).
    /// A packet that was received may be sent again as it is.
    ///
    /// # Errors
    /// The packet, if there is no such queue or its ring is full.
    #[inline(always)]
    pub fn transmit(&mut self, queue: u32, packet: Packet) -> Result<(), Packet> {
        let Some(socket) = self.sockets.get_mut(queue as usize) else { return Err(packet) };
        socket.transmit(packet)
    }

    /// Sends what is in the transmit rings, and takes back the frames of what was sent before.
    ///
    /// # Errors
    /// The kernel's; see [`Socket::flush`].
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        for socket in &mut self.sockets {
            socket.flush()?;
            socket.reclaim(&mut self.pool);
        }
        Ok(())
    }

    /// The first half of [`flush`](Self::flush) for a queue, without a system call: shows the
    /// kernel what is in the transmit ring and, now and then, takes back the frames of what was
    /// sent before. How many frames the queue's [kicker](Self::kicker) must be told, if any.
    #[inline(always)]
    pub fn submit(&mut self, queue: u32) -> u32 {
        let Some(socket) = self.sockets.get_mut(queue as usize) else { return 0 };
        if socket.transmitting() >= self.reclaim_from {
            socket.reclaim(&mut self.pool);
        }
        socket.submit()
    }

    /// [`transmit`](Self::transmit) and [`submit`](Self::submit) of one packet.
    ///
    /// # Errors
    /// The packet, as of `transmit`.
    #[inline(always)]
    pub fn post(&mut self, queue: u32, packet: Packet) -> Result<u32, Packet> {
        let Some(socket) = self.sockets.get_mut(queue as usize) else { return Err(packet) };
        if socket.transmitting() >= self.reclaim_from {
            socket.reclaim(&mut self.pool);
        }
        socket.transmit(packet)?;
        Ok(socket.submit())
    }

    /// Takes back the frames of what was sent by a queue, if half as many are under way as
    /// [`submit`](Self::submit) takes them back from: for a moment in which nobody waits, so that
    /// it is not done while somebody does.
    #[inline]
    pub fn tidy(&mut self, queue: u32) {
        let Some(socket) = self.sockets.get_mut(queue as usize) else { return };
        if socket.transmitting() >= self.reclaim_from.div_ceil(2) {
            socket.reclaim(&mut self.pool);
        }
    }

    /// What does the other half without this interface; `None` if there is no such queue.
    #[must_use]
    pub fn kicker(&self, queue: u32) -> Option<TxWakeup> {
        self.sockets.get(queue as usize).map(Socket::kicker)
    }

    /// Puts a frame back that is no longer needed.
    #[inline]
    pub fn give(&mut self, frame: Frame) {
        self.pool.give(frame);
    }

    /// The bytes of a packet.
    #[inline]
    #[must_use]
    pub fn bytes<'a>(&'a self, packet: &'a Packet) -> &'a [u8] {
        self.umem.bytes(packet)
    }

    /// The same, to be written.
    #[inline]
    #[must_use]
    pub fn bytes_mut<'a>(&'a self, packet: &'a mut Packet) -> &'a mut [u8] {
        self.umem.bytes_mut(packet)
    }

    /// When a received packet came in; see [`Socket::receive_stamp`].
    #[inline]
    #[must_use]
    pub fn receive_stamp(&self, packet: &Packet) -> Option<Stamp> {
        self.sockets[0].receive_stamp(packet)
    }

    /// Has the frames of an entry sent here, from the next on.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn enter(&self, entry: &Entry) -> Result<(), EntryError> {
        self.filter.enter(entry, Verdict::Slot(self.slot))
    }

    /// Has the kernel keep the frames of an entry, though a later one would have them sent here.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn leave_to_kernel(&self, entry: &Entry) -> Result<(), EntryError> {
        self.filter.enter(entry, Verdict::Kernel)
    }

    /// Takes an entry away; false if there was none.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn remove(&self, entry: &Entry) -> Result<bool, EntryError> {
        self.filter.remove(entry)
    }

    /// The interface as it was when it was opened.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The filter, which may have other slots.
    #[must_use]
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// The filter on the interface.
    #[must_use]
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// The memory.
    #[must_use]
    pub fn umem(&self) -> &Umem {
        &self.umem
    }

    /// The sockets, one for each queue in their order.
    #[must_use]
    pub fn sockets(&self) -> &[Socket] {
        &self.sockets
    }

    /// Memory, free frames and sockets, for one who drives these alone.
    pub fn parts(&mut self) -> (&Umem, &mut FramePool, &mut [Socket]) {
        (&self.umem, &mut self.pool, &mut self.sockets)
    }

    /// Who stamps received frames; [`ReceiveStamps::Off`] where the driver was asked and cannot.
    #[must_use]
    pub fn receive_stamps(&self) -> ReceiveStamps {
        self.receive_stamps
    }

    /// Whether frames go between device and memory without a copy, on every queue.
    #[must_use]
    pub fn is_zero_copy(&self) -> bool {
        self.sockets.iter().all(Socket::is_zero_copy)
    }
}

/// One line: interface, driver, queues, mode, copies, stamps.
impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Device { name, driver, queues, .. } = &self.device;
        let driver = driver.as_deref().unwrap_or("no driver");
        let plural = if *queues == 1 { "" } else { "s" };
        let copying = if self.is_zero_copy() { "zero-copy" } else { "copy" };
        let mode = self.link.mode();
        write!(f, "{name}: {driver}, {queues} queue{plural}, {mode} mode, {copying}")?;
        f.write_str(match self.receive_stamps {
            ReceiveStamps::Driver => ", receive stamps by the driver",
            ReceiveStamps::Kernel => ", receive stamps by the kernel",
            ReceiveStamps::Off if self.lacks_stamps => ", no receive stamps by this driver",
            ReceiveStamps::Off => "",
        })?;
        f.write_str(if self.device.strips_vlan { ", rx-vlan-offload on" } else { "" })
    }
}

/// How many packets a turn is of a socket that has so many frames to receive into and should have
/// `wanted`. Where frames are few, no more than half of them: there are others before they are used
/// up.
#[inline]
fn burst(filling: u32, wanted: u32) -> u32 {
    BURST.min(filling.saturating_sub(wanted / 2)).max(1)
}

fn check_mtu(device: &Device, umem: &UmemSettings) -> Result<(), InterfaceError> {
    let most = umem.longest_frame().saturating_sub(ETHERNET_HEADER);
    if device.mtu <= most {
        return Ok(());
    }
    let (name, mtu, frame_size) = (device.name.clone(), device.mtu, umem.frame_size);
    Err(InterfaceError::Mtu { name, mtu, frame_size, most })
}

fn check_frames(device: &Device, umem: &UmemSettings) -> Result<(), InterfaceError> {
    let (queues, frames) = (device.queues, umem.frames);
    // None at all is an error of the memory.
    if frames == 0 || frames >= queues.saturating_mul(2) {
        return Ok(());
    }
    Err(InterfaceError::Frames { name: device.name.clone(), queues, frames })
}

/// Loads the filter and puts it on the interface, with stamps if that can be.
fn put_filter(
    device: &Device,
    settings: &InterfaceSettings,
) -> Result<(Filter, Link, ReceiveStamps), InterfaceError> {
    let queues = device.queues;
    let wanted = settings.receive_stamps;
    let (stamps, receive_stamps) = match wanted {
        ReceiveStamps::Kernel => (Stamping::Kernel, ReceiveStamps::Kernel),
        ReceiveStamps::Driver | ReceiveStamps::Off => (Stamping::Off, ReceiveStamps::Off),
    };
    let plain = FilterSettings { queues, receive_stamps: stamps, ..settings.filter };
    let refused = |reason| InterfaceError::Link { name: device.name.clone(), reason };
    let is_offered = device.features.is_some_and(|features| features.receive_stamps);
    if wanted == ReceiveStamps::Driver && settings.mode != Mode::Generic && is_offered {
        let stamped = FilterSettings { receive_stamps: Stamping::Driver(device.index), ..plain };
        // Whatever is in the way of it, it is left out below, and that is told.
        if let Ok(filter) = Filter::load(&stamped) {
            match filter.attach(device.index, Mode::Native) {
                Ok(link) => return Ok((filter, link, ReceiveStamps::Driver)),
                Err(LinkError::Busy) => return Err(refused(LinkError::Busy)),
                Err(_) => {}
            }
        }
    }
    let filter = Filter::load(&plain)?;
    let link = filter.attach(device.index, quicker(device, settings.mode)).map_err(refused)?;
    Ok((filter, link, receive_stamps))
}

/// The mode for who leaves the choice to us: behind the driver of a veth, which in its own mode
/// copies each frame once more than there; else in the driver, if it can.
fn quicker(device: &Device, mode: Mode) -> Mode {
    match (mode, device.driver.as_deref()) {
        (Mode::Auto, Some("veth")) => Mode::Generic,
        (mode, _) => mode,
    }
}

fn open_sockets(
    device: &Device,
    umem: &Umem,
    settings: &SocketSettings,
) -> Result<Vec<Socket>, SocketError> {
    let first = Socket::open(device.index, 0, umem, settings)?;
    let mut sockets = vec![first];
    for queue in 1..device.queues {
        let next = sockets[0].open_beside(device.index, queue)?;
        sockets.push(next);
    }
    Ok(sockets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(mtu: u32) -> Device {
        Device { mtu, ..Device::named("lo").unwrap() }
    }

    #[test]
    fn frames_that_could_be_too_long_are_refused_with_what_is_possible() {
        let umem = UmemSettings::default();
        assert!(check_mtu(&device(1_774), &umem).is_ok());
        let error = check_mtu(&device(1_775), &umem).unwrap_err().to_string();
        assert_eq!(error, "lo has an MTU of 1775; frames of 2048 bytes have room for 1774");
        let large = UmemSettings { frame_size: 4_096, ..umem };
        assert!(check_mtu(&device(3_822), &large).is_ok());
        assert!(check_mtu(&device(3_823), &large).is_err());
    }

    #[test]
    fn a_turn_leaves_half_of_the_frames_and_is_never_none() {
        assert_eq!([burst(1_024, 1_024), burst(8, 8), burst(6, 8)], [64, 4, 2]);
        assert_eq!([burst(4, 8), burst(0, 8), burst(1, 1)], [1, 1, 1]);
    }

    #[test]
    fn fewer_than_two_frames_for_each_queue_are_refused() {
        let device = Device { queues: 4, ..device(1_500) };
        let umem = |frames| UmemSettings { frames, ..UmemSettings::default() };
        assert!(check_frames(&device, &umem(8)).is_ok());
        let error = check_frames(&device, &umem(7)).unwrap_err().to_string();
        assert_eq!(error, "lo has 4 queues, for which 7 frames are too few: two for each");
    }
}
