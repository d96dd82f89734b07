//! The data plane: the interface's frames, the UDP engine, and the receive queues of the sockets.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::Arc;

use hairpin_netstack::{
    Address, Datagram, DeviceId, DeviceSettings, Engine, Listener, Payload, Settings,
    SocketAddress, SocketId,
};
use hairpin_time::{Instant, Now, Utc};
use hairpin_wire::{EtherType, EthernetHeader, MacAddress, VlanTag};
use hairpin_xdp::{Entry, EntryError, Interface, Packet, ReceiveStamps, Stamp};

use crate::drops::{self, DropCause, DropCounters, Drops};
use crate::long_frames::{LongFrames, Part};
use crate::readiness::Readiness;
use crate::receive_queue::{QueuedDatagram, ReceiveQueue};
use crate::source_policy::{Source, SourcePolicy, SourceRules};
use crate::tcp::{FlowKey, FlowTable, KeeperClient};
use crate::watcher::EventSource;

/// The most frames taken off the rings per call, so that the call ends under any load.
const MAX_FRAMES: usize = 256;

/// Frames posted for reception beyond the windows of TCP connections: those of one poll and of one
/// refill may be acknowledged and not posted again yet.
const SPARE_FRAMES: u32 = 64;

/// The engine's UDP part does not depend on time.
const NOW: Now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };

/// The reader that polls the rings. Other sockets are notified of frames queued for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A UDP socket, by its index.
    Udp(usize),
    /// Raw frames, by their EtherType.
    Raw(u16),
    /// A TCP connection, by its flow.
    Tcp(usize),
    /// A poller, which reads for all sockets.
    Any,
}

/// What takes frames off the rings. Each frame is offered to it; those that it does not take are
/// queued for their sockets.
trait FrameSink {
    /// Returns `true` if it takes no more.
    fn is_full(&self) -> bool {
        false
    }

    /// Returns `true` if it has taken something, so that it does not wait for the next frame.
    fn has_some(&self) -> bool {
        false
    }

    /// Returns `true` for a frame that `packet` takes, before its recipient is searched for.
    fn claims(&self, _frame: &[u8]) -> bool {
        false
    }

    /// Takes a datagram of a socket, or returns it.
    fn datagram(&mut self, _index: usize, datagram: QueuedDatagram) -> Option<QueuedDatagram> {
        Some(datagram)
    }

    /// Takes a frame of raw frames or of a TCP connection, or returns it.
    fn packet(&mut self, _of: Reader, packet: Packet) -> Option<Packet> {
        Some(packet)
    }

    /// Returns `true` if a recipient is signaled of queued frames.
    fn signals(&self, _recipient: Reader) -> bool {
        true
    }
}

/// Takes nothing; signals all but the reader, which reads its queue next.
impl FrameSink for Reader {
    #[inline]
    fn signals(&self, recipient: Reader) -> bool {
        *self != recipient
    }
}

/// Takes up to `most` datagrams of one socket.
struct Datagrams<'a> {
    index: usize,
    into: &'a mut Vec<QueuedDatagram>,
    most: usize,
}

impl FrameSink for Datagrams<'_> {
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.into.len() >= self.most
    }

    #[inline(always)]
    fn has_some(&self) -> bool {
        !self.into.is_empty()
    }

    #[inline(always)]
    fn datagram(&mut self, index: usize, datagram: QueuedDatagram) -> Option<QueuedDatagram> {
        if index != self.index {
            return Some(datagram);
        }
        self.into.push(datagram);
        None
    }
}

/// Takes one frame of an EtherType.
struct RawFrame {
    ether_type: u16,
    taken: Option<Packet>,
}

impl FrameSink for RawFrame {
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.taken.is_some()
    }

    #[inline(always)]
    fn claims(&self, frame: &[u8]) -> bool {
        ether_type(frame) == Some(self.ether_type)
    }

    #[inline(always)]
    fn packet(&mut self, of: Reader, packet: Packet) -> Option<Packet> {
        if of != Reader::Raw(self.ether_type) {
            return Some(packet);
        }
        self.taken = Some(packet);
        None
    }
}

/// Takes up to `most` frames of one TCP connection.
struct Packets<'a> {
    flow: usize,
    into: &'a mut Vec<Packet>,
    most: usize,
}

impl FrameSink for Packets<'_> {
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.into.len() >= self.most
    }

    #[inline(always)]
    fn has_some(&self) -> bool {
        !self.into.is_empty()
    }

    #[inline(always)]
    fn packet(&mut self, of: Reader, packet: Packet) -> Option<Packet> {
        if of != Reader::Tcp(self.flow) {
            return Some(packet);
        }
        self.into.push(packet);
        None
    }
}

/// The state of a socket after a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remaining {
    /// Datagrams remain in the queue.
    Queued,
    /// The queue is empty; the rings may have more.
    MaybeMore,
    /// The queue and the rings are empty.
    Drained,
}

/// The stack's data plane, under its own lock.
#[derive(Debug)]
pub(crate) struct DataPlane {
    pub(crate) interface: Interface,
    /// Has the filter, if there is one.
    keeper: Option<KeeperClient>,
    pub(crate) engine: Engine,
    pub(crate) device: DeviceId,
    /// The receive queues, by socket index.
    udp_queues: Vec<Option<ReceiveQueue<QueuedDatagram>>>,
    raw_queues: Vec<(u16, ReceiveQueue<Packet>)>,
    pub(crate) flows: FlowTable,
    /// The number of UDP sockets.
    udp_sockets: usize,
    /// The number of frames that may still be queued.
    queue_budget: usize,
    has_stamps: bool,
    /// The additional recipients of the current datagram.
    copies: Vec<Recipient>,
    long_frames: LongFrames,
    pub(crate) drops: Drops,
    pub(crate) sources: SourcePolicy,
    /// Woken when there is something to report about dropped frames.
    event_source: Arc<EventSource>,
}

#[derive(Debug, Clone, Copy)]
struct Recipient {
    index: usize,
    payload: Payload,
}

impl DataPlane {
    pub(crate) fn new(
        interface: Interface,
        keeper: Option<KeeperClient>,
        settings: &Settings,
        device: &DeviceSettings,
        sources: SourcePolicy,
        event_source: &Arc<EventSource>,
    ) -> Result<Self, hairpin_netstack::Error> {
        let mut engine = Engine::new(settings);
        let device = engine.add_device(device)?;
        let sockets = settings.sockets as usize;
        let has_stamps = interface.receive_stamps() != ReceiveStamps::Off;
        // The other half is for reception and transmission.
        let queue_budget = (interface.umem().settings().frames as usize / 2).max(1);
        Ok(Self {
            interface,
            keeper,
            engine,
            device,
            udp_queues: (0..sockets).map(|_| None).collect(),
            raw_queues: Vec::new(),
            flows: FlowTable::default(),
            udp_sockets: 0,
            queue_budget,
            has_stamps,
            copies: Vec::with_capacity(sockets),
            long_frames: LongFrames::default(),
            drops: Drops::default(),
            sources,
            event_source: Arc::clone(event_source),
        })
    }

    /// Redirects the frames that match `entry` to this stack. A keeper compares the entry with this
    /// socket, which receives them otherwise.
    ///
    /// # Errors
    /// The filter's, or the keeper's reason.
    pub(crate) fn redirect(&self, entry: &Entry, socket: RawFd) -> Result<(), EntryError> {
        match &self.keeper {
            // SAFETY: the descriptor is open as long as the socket belongs to the stack.
            Some(keeper) => keeper.redirect(self.interface.device().index, entry, unsafe {
                BorrowedFd::borrow_raw(socket)
            }),
            None => self.interface.redirect(entry),
        }
    }

    /// Removes a socket from the users of an entry, and the entry with the last one.
    ///
    /// # Errors
    /// The filter's, or that the keeper has ended.
    pub(crate) fn end_redirect(
        &self,
        entry: &Entry,
        socket: RawFd,
        is_last: bool,
    ) -> Result<(), EntryError> {
        match &self.keeper {
            Some(keeper) => keeper.end_redirect(self.interface.device().index, entry, socket),
            None if is_last => self.interface.remove(entry).map(drop),
            None => Ok(()),
        }
    }

    /// Returns the most items that one socket can leave unread of what may be queued now.
    pub(crate) fn queue_capacity(&self) -> usize {
        self.queue_budget / 2 + 1
    }

    /// Adds a socket's receive queue, with memory for `capacity` datagrams; beyond it grows.
    pub(crate) fn attach_socket(
        &mut self,
        id: SocketId,
        capacity: usize,
        readiness: Arc<Readiness>,
    ) {
        self.udp_queues[id.index() as usize] = Some(ReceiveQueue::new(capacity, readiness));
        self.udp_sockets += 1;
        self.limit_receive_frames();
    }

    /// Removes a socket's receive queue and releases its frames.
    pub(crate) fn detach_socket(&mut self, id: SocketId) {
        let Some(mut queue) = self.udp_queues[id.index() as usize].take() else { return };
        self.udp_sockets -= 1;
        if let Ok((Some(local), _)) = self.engine.endpoints(id) {
            self.drops.forget(local.port);
        }
        while let Some(datagram) = queue.pop() {
            self.queue_budget += 1;
            self.interface.release(datagram.packet.into_frame());
        }
    }

    pub(crate) fn attach_raw(&mut self, ether_type: u16, readiness: Arc<Readiness>) {
        self.raw_queues.push((ether_type, ReceiveQueue::new(self.queue_capacity(), readiness)));
        self.limit_receive_frames();
    }

    pub(crate) fn detach_raw(&mut self, ether_type: u16) {
        let Some(at) = self.raw_queues.iter().position(|(other, _)| *other == ether_type) else {
            return;
        };
        let (_, mut queue) = self.raw_queues.swap_remove(at);
        while let Some(packet) = queue.pop() {
            self.queue_budget += 1;
            self.interface.release(packet.into_frame());
        }
    }

    /// Receives up to `most` datagrams for a socket: first from its queue, then directly from the
    /// rings.
    ///
    /// # Errors
    /// As for [`poll_rings`](Self::poll_rings).
    #[inline]
    pub(crate) fn receive(
        &mut self,
        id: SocketId,
        into: &mut Vec<QueuedDatagram>,
        most: usize,
    ) -> io::Result<Remaining> {
        let index = id.index() as usize;
        if self.take_queued(index, into, most) > 0 {
            return Ok(Remaining::Queued);
        }
        let mut sink = Datagrams { index, into, most };
        let is_drained = self.take_frames(&mut sink)? && !sink.has_some();
        Ok(if is_drained { Remaining::Drained } else { Remaining::MaybeMore })
    }

    /// Takes up to `most` queued datagrams. Returns the number left in the queue.
    #[inline]
    fn take_queued(&mut self, index: usize, into: &mut Vec<QueuedDatagram>, most: usize) -> usize {
        let Some(queue) = &mut self.udp_queues[index] else { return 0 };
        while queue.len() > 0 && into.len() < most {
            let Some(datagram) = queue.pop() else { break };
            self.queue_budget += 1;
            into.push(datagram);
        }
        queue.len()
    }

    /// Returns the next frame of an EtherType, from the queue or the rings, and `true` if the queue
    /// has more.
    ///
    /// # Errors
    /// As for [`poll_rings`](Self::poll_rings).
    #[inline]
    pub(crate) fn receive_raw(&mut self, ether_type: u16) -> io::Result<(Option<Packet>, bool)> {
        let queue = self.raw_queues.iter_mut().find(|(other, _)| *other == ether_type);
        let Some((_, queue)) = queue else { return Ok((None, false)) };
        if let Some(packet) = queue.pop() {
            self.queue_budget += 1;
            return Ok((Some(packet), queue.len() > 0));
        }
        let mut sink = RawFrame { ether_type, taken: None };
        self.take_frames(&mut sink)?;
        Ok((sink.taken, false))
    }

    /// Adds the queue of a TCP flow, or continues the one that it has. Returns its number.
    pub(crate) fn attach_flow(&mut self, key: FlowKey, readiness: Arc<Readiness>) -> usize {
        if let Some(flow) = self.flows.number(key) {
            if let Some(queue) = self.flows.queue(flow) {
                if queue.len() > 0 {
                    readiness.signal();
                }
                queue.readiness = readiness;
            }
            return flow;
        }
        self.flows.insert(key, ReceiveQueue::new(self.queue_budget, readiness))
    }

    /// Removes a TCP flow and releases its frames.
    pub(crate) fn detach_flow(&mut self, flow: usize) {
        let Some(mut queue) = self.flows.remove(flow) else { return };
        while let Some(packet) = queue.pop() {
            self.queue_budget += 1;
            self.interface.release(packet.into_frame());
        }
    }

    /// Records the number of frames that the peer of a flow may have in flight.
    pub(crate) fn set_flow_window(&mut self, flow: usize, frames: u32) {
        self.flows.set_window(flow, frames);
        self.limit_receive_frames();
    }

    /// Limits the frames that are posted for reception, to what the windows of all TCP connections
    /// permit in full segments. Nothing limits a burst of datagrams.
    fn limit_receive_frames(&mut self) {
        let is_tcp_only = self.udp_sockets == 0 && self.raw_queues.is_empty();
        let limit = |windows: u32| windows.saturating_add(SPARE_FRAMES);
        let limit = self.flows.windows().map(limit).filter(|_| is_tcp_only);
        self.interface.limit_receive_frames(limit);
    }

    /// Receives up to `most` frames of a TCP flow, from its queue or the rings.
    ///
    /// # Errors
    /// As for [`poll_rings`](Self::poll_rings).
    #[inline]
    pub(crate) fn receive_flow(
        &mut self,
        flow: usize,
        into: &mut Vec<Packet>,
        most: usize,
    ) -> io::Result<()> {
        self.take_flow(flow, into, most);
        self.take_frames(&mut Packets { flow, into, most }).map(drop)
    }

    #[inline]
    fn take_flow(&mut self, flow: usize, into: &mut Vec<Packet>, most: usize) {
        let Some(queue) = self.flows.queue(flow) else { return };
        while into.len() < most
            && let Some(packet) = queue.pop()
        {
            self.queue_budget += 1;
            into.push(packet);
        }
        if queue.len() == 0 && queue.readiness.has_frames() {
            queue.readiness.clear();
        }
    }

    /// Returns the number of frames that the kernel dropped because they were longer than a frame
    /// of the UMEM. It counts them with those for which no frame was available.
    pub(crate) fn long_frames(&self) -> u64 {
        let statistics = self.interface.sockets().iter().flat_map(|socket| socket.statistics());
        statistics.map(|s| s.receive_dropped.saturating_sub(s.fill_ring_empty)).sum()
    }

    /// Returns the counters of redirected frames that were dropped.
    pub(crate) fn drop_counters(&self) -> DropCounters {
        let sockets = self.interface.sockets().iter();
        self.drops.counters(sockets.flat_map(|socket| socket.statistics()))
    }

    /// Changes the rules for the sources of packets. Known flows are forgotten, because they may no
    /// longer be accepted.
    ///
    /// # Errors
    /// As for [`SourcePolicy::update`].
    pub(crate) fn set_source_rules(&mut self, rules: SourceRules) -> io::Result<()> {
        if self.sources.differs(&rules) {
            self.sources.update(rules)?;
            self.engine.forget_flows();
        }
        Ok(())
    }

    /// Forgets what depends on the kernel's routes.
    pub(crate) fn forget_routes(&mut self) {
        if self.sources.forget_routes() {
            self.engine.forget_flows();
        }
    }

    /// Returns the interface's Ethernet address.
    pub(crate) fn mac(&self) -> [u8; 6] {
        let settings = self.engine.device_settings(self.device);
        settings.map(|settings| settings.mac.0).unwrap_or_default()
    }

    /// Wakes all waiting threads.
    pub(crate) fn wake_all(&self) {
        self.udp_queues.iter().flatten().for_each(|queue| queue.readiness.signal());
        self.raw_queues.iter().for_each(|(_, queue)| queue.readiness.signal());
        self.flows.queues().for_each(|queue| queue.readiness.signal());
    }

    #[inline]
    pub(crate) fn queue(&mut self, id: SocketId) -> Option<&mut ReceiveQueue<QueuedDatagram>> {
        self.udp_queues[id.index() as usize].as_mut()
    }

    #[inline]
    pub(crate) fn raw_queue(&mut self, ether_type: u16) -> Option<&mut ReceiveQueue<Packet>> {
        self.raw_queues.iter_mut().find(|(other, _)| *other == ether_type).map(|(_, queue)| queue)
    }

    /// Takes frames off the rings and queues them for their sockets, for all but `reader` with a
    /// signal. Returns `true` if the rings are empty, `false` after 256 frames.
    ///
    /// # Errors
    /// The kernel's, except that the interface is down or removed, which is reported by an event.
    #[inline]
    pub(crate) fn poll_rings(&mut self, mut reader: Reader) -> io::Result<bool> {
        self.take_frames(&mut reader)
    }

    /// Takes frames off the rings and hands each to the protocols in turn: raw frames, TCP, UDP.
    /// Returns `true` if the rings are empty, `false` after 256 frames or if the sink is full.
    #[inline(always)]
    fn take_frames(&mut self, sink: &mut impl FrameSink) -> io::Result<bool> {
        for _ in 0..MAX_FRAMES {
            if sink.is_full() {
                return Ok(false);
            }
            let Some((queue, packet)) = self.next_frame(sink.has_some())? else {
                return Ok(true);
            };
            if packet.is_part() {
                self.demux_part(queue, packet, sink);
                continue;
            }
            self.demux(packet, sink);
        }
        Ok(false)
    }

    /// Returns the next frame from the rings, or part of one, with its queue; with `cached_only`,
    /// only one that needs no read of the shared index.
    #[inline(always)]
    fn next_frame(&mut self, cached_only: bool) -> io::Result<Option<(u32, Packet)>> {
        if cached_only {
            return Ok(self.interface.receive_cached());
        }
        match self.interface.receive() {
            Err(error) if is_down(&error) => Ok(None),
            received => received,
        }
    }

    /// Handles a part of a frame that is longer than a frame of the UMEM.
    #[cold]
    #[inline(never)]
    fn demux_part(&mut self, queue: u32, mut part: Packet, sink: &mut impl FrameSink) {
        let is_first = part.is_first_part();
        if is_first && ether_type(self.interface.bytes(&part)) == Some(EtherType::VLAN.0) {
            self.remove_priority_tag(&mut part);
        }
        let ends = is_first.then(|| drops::endpoints(self.interface.bytes(&part))).flatten();
        match self.long_frames.split(&mut self.interface, queue, part) {
            Part::Segment(packet) => self.demux_again(packet, sink),
            Part::Segments(packets) => {
                packets.into_iter().for_each(|packet| self.demux_again(packet, sink));
            }
            Part::Pending => {}
            // Counted once per frame.
            Part::Dropped(cause) => {
                self.drops.count(cause);
                self.record_waiting(cause, ends);
            }
        }
    }

    /// Passes a frame to its recipient: to the sink, or into a queue. Other recipients get copies.
    #[inline(always)]
    fn demux(&mut self, packet: Packet, sink: &mut impl FrameSink) {
        let frame = self.interface.bytes(&packet);
        if !self.raw_queues.is_empty()
            && let Some(ether_type) = ether_type(frame)
            && let Some(at) = self.raw_queue_of(sink.claims(frame), ether_type)
        {
            let of = Reader::Raw(ether_type);
            if let Some(packet) = sink.packet(of, packet) {
                self.enqueue_raw(sink.signals(of), at, packet);
            }
            return;
        }
        if !self.flows.is_empty()
            && let Some(flow) = self.flows.last(frame).or_else(|| self.flows.find(frame))
        {
            let of = Reader::Tcp(flow);
            if let Some(packet) = sink.packet(of, packet) {
                self.enqueue_flow(sink.signals(of), flow, packet);
            }
            return;
        }
        match self.engine.deliver_known_flow(self.device, frame) {
            Some((socket, payload)) => {
                let to = Recipient { index: socket.index() as usize, payload };
                self.deliver(to, packet, sink);
            }
            None => self.demux_slow(packet, sink),
        }
    }

    /// Returns the index of the queue of an EtherType; 0 if the sink takes it, which needs none.
    #[inline(always)]
    fn raw_queue_of(&self, is_claimed: bool, ether_type: u16) -> Option<usize> {
        if is_claimed {
            return Some(0);
        }
        self.raw_queues.iter().position(|(other, _)| *other == ether_type)
    }

    /// Handles a frame that is not of a cached flow.
    #[inline(never)]
    fn demux_slow(&mut self, mut packet: Packet, sink: &mut impl FrameSink) {
        let is_tagged = ether_type(self.interface.bytes(&packet)) == Some(EtherType::VLAN.0);
        if is_tagged && self.remove_priority_tag(&mut packet) {
            return self.demux_again(packet, sink);
        }
        let frame = self.interface.bytes(&packet);
        let sources = &mut self.sources;
        let no_reverse_path = false;
        let mut demux = Demux { first: None, copies: &mut self.copies, sources, no_reverse_path };
        let device = self.device;
        let verdict = self.engine.handle_frame(NOW, device, frame, &mut demux);
        let Some(first) = demux.first else {
            let cause = match demux.no_reverse_path {
                true => DropCause::NoReversePath,
                false => DropCause::from_verdict(verdict),
            };
            return self.drop_frame(cause, packet);
        };
        while let Some(to) = self.copies.pop() {
            if let Some(copy) = self.copy(to.index, &packet) {
                self.deliver(to, copy, sink);
            }
        }
        self.deliver(first, packet, sink);
    }

    /// As [`demux`](Self::demux), for a frame that was changed.
    #[cold]
    #[inline(never)]
    fn demux_again(&mut self, packet: Packet, sink: &mut impl FrameSink) {
        self.demux(packet, sink);
    }

    /// Removes the 802.1Q tag of a tagged frame if it has only a priority, as the kernel does.
    /// Returns `true` then.
    #[cold]
    fn remove_priority_tag(&mut self, packet: &mut Packet) -> bool {
        let frame = self.interface.bytes_mut(packet);
        let Ok((tag, _)) = VlanTag::split(&frame[EthernetHeader::SIZE..]) else { return false };
        if tag.identifier() != 0 || tag.ether_type().is_vlan() {
            return false;
        }
        let length = frame.len() - VlanTag::SIZE;
        // The part behind moves, because a timestamp is in front of the frame.
        frame.copy_within(12 + VlanTag::SIZE.., 12);
        packet.truncate(length as u32);
        true
    }

    /// Counts a frame that no socket receives, and releases it.
    #[cold]
    fn drop_frame(&mut self, cause: DropCause, packet: Packet) {
        self.drops.count(cause);
        let ends = drops::endpoints(self.interface.bytes(&packet));
        self.record_waiting(cause, ends);
        self.interface.release(packet.into_frame());
    }

    /// Records a dropped frame if its recipient has received nothing yet.
    fn record_waiting(&mut self, cause: DropCause, ends: Option<[SocketAddr; 2]>) {
        // A source that no member wants is no fault, and a closed socket does not wait.
        if matches!(cause, DropCause::Unwanted | DropCause::NoSocket) {
            return;
        }
        let Some([source, destination]) = ends else { return };
        let [from, to] = [source, destination].map(|end| SocketAddress::new(end.ip(), end.port()));
        let is_waiting = self.engine.is_waiting(self.device, from, to);
        if is_waiting && self.drops.record_waiting(destination, cause) {
            self.event_source.wake_for_drops();
        }
    }

    /// Passes a datagram to the sink or queues it for its socket.
    #[inline(always)]
    fn deliver(&mut self, to: Recipient, packet: Packet, sink: &mut impl FrameSink) {
        let stamp = self.stamp(&packet);
        let datagram = QueuedDatagram { packet, payload: to.payload, stamp, dropped: None };
        if let Some(datagram) = sink.datagram(to.index, datagram) {
            self.enqueue(sink.signals(Reader::Udp(to.index)), to.index, datagram);
        }
    }

    #[inline(always)]
    fn stamp(&self, packet: &Packet) -> Option<Stamp> {
        if self.has_stamps { self.interface.receive_stamp(packet) } else { None }
    }

    /// Queues a datagram for a socket.
    #[inline]
    fn enqueue(&mut self, signals: bool, index: usize, mut datagram: QueuedDatagram) {
        let Some(queue) = &mut self.udp_queues[index] else {
            return self.interface.release(datagram.packet.into_frame());
        };
        if !queue.has_room(self.queue_budget) {
            queue.record_drop();
            self.drops.count(DropCause::QueueFull);
            return self.interface.release(datagram.packet.into_frame());
        }
        self.queue_budget -= 1;
        datagram.dropped = Some(queue.dropped() as u32);
        queue.push(datagram);
        if signals {
            queue.readiness.signal();
        }
    }

    /// Copies a datagram for another recipient: a frame has one owner.
    #[cold]
    fn copy(&mut self, index: usize, packet: &Packet) -> Option<Packet> {
        let queue = self.udp_queues[index].as_mut()?;
        let room = queue.has_room(self.queue_budget);
        let copy = if room { self.interface.packet(packet.length()) } else { None };
        let Some(mut copy) = copy else {
            queue.record_drop();
            self.drops.count(DropCause::QueueFull);
            return None;
        };
        let bytes = self.interface.bytes(packet);
        self.interface.bytes_mut(&mut copy).copy_from_slice(bytes);
        Some(copy)
    }

    #[inline]
    fn enqueue_raw(&mut self, signals: bool, at: usize, packet: Packet) {
        let (_, queue) = &mut self.raw_queues[at];
        if !queue.has_room(self.queue_budget) {
            queue.record_drop();
            self.drops.count(DropCause::QueueFull);
            return self.interface.release(packet.into_frame());
        }
        self.queue_budget -= 1;
        queue.push(packet);
        if signals {
            queue.readiness.signal();
        }
    }

    #[inline]
    fn enqueue_flow(&mut self, signals: bool, flow: usize, packet: Packet) {
        let budget = self.queue_budget;
        let Some(queue) = self.flows.queue(flow) else {
            return self.interface.release(packet.into_frame());
        };
        if !queue.has_room(budget) {
            queue.record_drop();
            self.drops.count(DropCause::QueueFull);
            return self.interface.release(packet.into_frame());
        }
        queue.push(packet);
        if signals {
            queue.readiness.signal();
        }
        self.queue_budget -= 1;
    }

    /// Updates the interface's Ethernet address and MTU in the engine.
    pub(crate) fn set_device(&mut self, mac: [u8; 6], mtu: u16) {
        // The device exists as long as the engine.
        let _ = self.engine.set_device(self.device, MacAddress(mac), mtu);
    }
}

#[inline(always)]
fn ether_type(frame: &[u8]) -> Option<u16> {
    frame.get(12..14)?.try_into().map(u16::from_be_bytes).ok()
}

/// Returns `true` if the interface is down or removed. The watcher thread reports this, not each
/// call.
pub(crate) fn is_down(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV))
}

/// Collects the recipients of a datagram.
struct Demux<'a> {
    first: Option<Recipient>,
    copies: &'a mut Vec<Recipient>,
    sources: &'a mut SourcePolicy,
    /// Set if the source was rejected for this.
    no_reverse_path: bool,
}

impl Listener for Demux<'_> {
    #[inline(always)]
    fn on_datagram(&mut self, _now: Now, socket: SocketId, datagram: &Datagram<'_>) {
        let (offset, length) = (datagram.offset, datagram.payload.len() as u32);
        let (index, payload) = (socket.index() as usize, Payload { offset, length });
        let recipient = Recipient { index, payload };
        if self.first.is_none() {
            self.first = Some(recipient);
        } else {
            self.copies.push(recipient);
        }
    }

    fn accepts_source(&mut self, source: Address, _destination: Address) -> bool {
        let found = self.sources.check(source);
        self.no_reverse_path = found == Source::NoReversePath;
        found == Source::Accepted
    }
}
