//! What sockets of a stack share: the interface's frames, the engine, and where frames wait.

use std::io;
use std::sync::Arc;

use hairpin_netstack::{Datagram, DeviceId, DeviceSettings, Listener, Payload, Settings, SocketId};
use hairpin_time::{Instant, Now, Utc};
use hairpin_wire::MacAddress;
use hairpin_xdp::{Interface, Packet, ReceiveStamps, Stamp};

use crate::memory::OwnedEngine;
use crate::readiness::Readiness;
use crate::seat::{Held, Seat};

/// How many frames one look takes off the rings at most, so that it ends however many come.
const MOST_FRAMES: usize = 256;

/// The engine's UDP part does nothing by time.
const NOW: Now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };

/// For whom frames are taken off the rings; others are told of theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    Udp(SocketId),
    Raw(u16),
    /// A poller, who looks at all of them.
    Everyone,
}

/// What is left of a socket's, after some was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// Something that waits for it.
    Waiting,
    /// Nothing that waits; on the rings there may be something.
    Perhaps,
    /// Nothing anywhere.
    Nothing,
}

/// The stack's innermost part, under its lock.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) interface: Interface,
    pub(crate) engine: OwnedEngine,
    pub(crate) device: DeviceId,
    /// By the index of the engine's sockets.
    udp: Vec<Option<Seat<Held>>>,
    raw: Vec<(u16, Seat<Packet>)>,
    /// How many more frames may wait.
    room: usize,
    has_stamps: bool,
    /// Who else gets the datagram at hand.
    others: Vec<Recipient>,
}

#[derive(Debug, Clone, Copy)]
struct Recipient {
    index: usize,
    payload: Payload,
}

impl Core {
    pub(crate) fn new(
        interface: Interface,
        settings: &Settings,
        device: &DeviceSettings,
    ) -> Result<Self, hairpin_netstack::Error> {
        let mut engine = OwnedEngine::new(settings);
        let device = engine.edit().add_device(device)?;
        let sockets = settings.sockets as usize;
        let has_stamps = interface.receive_stamps() != ReceiveStamps::Off;
        // The other half is for receiving into and for sending.
        let room = (interface.umem().settings().frames as usize / 2).max(1);
        Ok(Self {
            interface,
            engine,
            device,
            udp: (0..sockets).map(|_| None).collect(),
            raw: Vec::new(),
            room,
            has_stamps,
            others: Vec::with_capacity(sockets),
        })
    }

    pub(crate) fn sit(&mut self, id: SocketId, readiness: Arc<Readiness>) {
        self.udp[id.index() as usize] = Some(Seat::new(self.room, readiness));
    }

    /// Takes a socket's seat away, and its frames back.
    pub(crate) fn stand_up(&mut self, id: SocketId) {
        let Some(mut seat) = self.udp[id.index() as usize].take() else { return };
        while let Some(held) = seat.take() {
            self.room += 1;
            self.interface.give(held.packet.into_frame());
        }
    }

    pub(crate) fn sit_raw(&mut self, ether_type: u16, readiness: Arc<Readiness>) {
        self.raw.push((ether_type, Seat::new(self.room, readiness)));
    }

    pub(crate) fn stand_up_raw(&mut self, ether_type: u16) {
        let Some(at) = self.raw.iter().position(|(other, _)| *other == ether_type) else { return };
        let (_, mut seat) = self.raw.swap_remove(at);
        while let Some(packet) = seat.take() {
            self.room += 1;
            self.interface.give(packet.into_frame());
        }
    }

    /// Takes up to `most` of what has arrived for a socket: what waits for it, and then what comes
    /// off the rings, as [`pump`](Self::pump) takes it, which need not wait before.
    ///
    /// # Errors
    /// As of `pump`.
    #[inline]
    pub(crate) fn take(
        &mut self,
        id: SocketId,
        into: &mut Vec<Held>,
        most: usize,
    ) -> io::Result<Left> {
        let index = id.index() as usize;
        if self.take_waiting(index, into, most) > 0 {
            return Ok(Left::Waiting);
        }
        for _ in 0..MOST_FRAMES {
            if into.len() >= most {
                return Ok(Left::Perhaps);
            }
            let Some(packet) = self.next(!into.is_empty())? else {
                return Ok(if into.is_empty() { Left::Nothing } else { Left::Perhaps });
            };
            let before = into.len();
            self.sort_into(Reader::Udp(id), packet, Some((index, into)));
            if into.len() == before {
                // It may have got a copy, and what comes next is not to overtake that.
                self.take_waiting(index, into, most);
            }
        }
        Ok(Left::Perhaps)
    }

    /// Takes up to `most` of what waits for a socket; how much is left.
    #[inline]
    fn take_waiting(&mut self, index: usize, into: &mut Vec<Held>, most: usize) -> usize {
        let Some(seat) = &mut self.udp[index] else { return 0 };
        while seat.len() > 0 && into.len() < most {
            let Some(held) = seat.take() else { break };
            self.room += 1;
            into.push(held);
        }
        seat.len()
    }

    /// The next frame of an EtherType, which others have taken off the rings or which is taken off
    /// them now; and whether there are more of the former.
    ///
    /// # Errors
    /// As of [`pump`](Self::pump).
    #[inline]
    pub(crate) fn receive_raw(&mut self, ether_type: u16) -> io::Result<(Option<Packet>, bool)> {
        let seat = self.raw.iter_mut().find(|(other, _)| *other == ether_type);
        let Some((_, seat)) = seat else { return Ok((None, false)) };
        if let Some(packet) = seat.take() {
            self.room += 1;
            return Ok((Some(packet), seat.len() > 0));
        }
        for _ in 0..MOST_FRAMES {
            let packet = match self.interface.receive() {
                Ok(Some((_, packet))) => packet,
                Ok(None) => break,
                Err(error) if is_down(&error) => break,
                Err(error) => return Err(error),
            };
            if is_of(self.interface.bytes(&packet), ether_type) {
                return Ok((Some(packet), false));
            }
            self.sort(Reader::Raw(ether_type), packet);
        }
        Ok((None, false))
    }

    /// Wakes whoever sleeps.
    pub(crate) fn wake_all(&self) {
        self.udp.iter().flatten().for_each(|seat| seat.readiness.raise());
        self.raw.iter().for_each(|(_, seat)| seat.readiness.raise());
    }

    #[inline]
    pub(crate) fn seat(&mut self, id: SocketId) -> Option<&mut Seat<Held>> {
        self.udp[id.index() as usize].as_mut()
    }

    #[inline]
    pub(crate) fn raw_seat(&mut self, ether_type: u16) -> Option<&mut Seat<Packet>> {
        self.raw.iter_mut().find(|(other, _)| *other == ether_type).map(|(_, seat)| seat)
    }

    /// How much waits for a reader.
    #[inline]
    fn waiting(&self, reader: Reader) -> usize {
        match reader {
            Reader::Udp(id) => self.udp[id.index() as usize].as_ref().map_or(0, Seat::len),
            Reader::Raw(ether_type) => {
                self.raw.iter().find(|(other, _)| *other == ether_type).map_or(0, |s| s.1.len())
            }
            Reader::Everyone => 0,
        }
    }

    /// Takes frames off the rings to where they are waited for, until `wanted` wait for `reader` or
    /// there are no more; true if there are no more. Once one is there, what would take another
    /// look at the rings is left for later.
    ///
    /// # Errors
    /// The kernel's, but that the interface is down or gone, of which a notice tells.
    #[inline]
    pub(crate) fn pump(&mut self, reader: Reader, wanted: usize) -> io::Result<bool> {
        for _ in 0..MOST_FRAMES {
            let waiting = self.waiting(reader);
            if waiting >= wanted {
                return Ok(false);
            }
            let Some(packet) = self.next(waiting > 0)? else { return Ok(waiting == 0) };
            self.sort(reader, packet);
        }
        Ok(false)
    }

    /// The next frame off the rings; only of those that the last look has found, if it `is_known`
    /// that one is there.
    #[inline]
    fn next(&mut self, is_known: bool) -> io::Result<Option<Packet>> {
        if is_known {
            return Ok(self.interface.receive_known().map(|(_, packet)| packet));
        }
        match self.interface.receive() {
            Ok(received) => Ok(received.map(|(_, packet)| packet)),
            Err(error) if is_down(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Puts one frame where it is waited for.
    fn sort(&mut self, reader: Reader, packet: Packet) {
        self.sort_into(reader, packet, None);
    }

    /// The same, but that what is for the socket of an index goes right to its reader. If it is for
    /// several sockets, that is so if this is the first, and the others get copies.
    #[inline(always)]
    fn sort_into(
        &mut self,
        reader: Reader,
        packet: Packet,
        right_to: Option<(usize, &mut Vec<Held>)>,
    ) {
        let frame = self.interface.bytes(&packet);
        if !self.raw.is_empty()
            && let Some(&[high, low]) = frame.get(12..14)
        {
            let ether_type = u16::from_be_bytes([high, low]);
            if let Some(at) = self.raw.iter().position(|(other, _)| *other == ether_type) {
                return self.sort_raw(reader, at, packet);
            }
        }
        match self.engine.edit().take_known(self.device, frame) {
            Some((socket, payload)) => {
                let to = Recipient { index: socket.index() as usize, payload };
                self.hand_over(reader, to, packet, right_to);
            }
            None => self.sort_unknown(reader, packet, right_to),
        }
    }

    /// The same for a frame of which the engine must be told all.
    #[inline(never)]
    fn sort_unknown(
        &mut self,
        reader: Reader,
        packet: Packet,
        right_to: Option<(usize, &mut Vec<Held>)>,
    ) {
        let frame = self.interface.bytes(&packet);
        let mut sorter = Sorter { first: None, others: &mut self.others };
        self.engine.edit().handle_frame(NOW, self.device, frame, &mut sorter);
        let Some(first) = sorter.first else {
            // It is broken, which the engine counts, or of a sender that was not named; or its
            // socket was closed while it was under way.
            return self.interface.give(packet.into_frame());
        };
        if !self.others.is_empty() {
            self.copy_for_others(reader, &packet);
        }
        self.hand_over(reader, first, packet, right_to);
    }

    /// Gives a datagram right to who reads for the socket of an index, if it is that one's, or puts
    /// it where its own takes it from.
    #[inline(always)]
    fn hand_over(
        &mut self,
        reader: Reader,
        to: Recipient,
        packet: Packet,
        right_to: Option<(usize, &mut Vec<Held>)>,
    ) {
        let stamp = self.stamp(&packet);
        let held = Held { packet, payload: to.payload, stamp };
        match right_to {
            Some((index, into)) if index == to.index => into.push(held),
            _ => self.hand(reader, to.index, held),
        }
    }

    #[inline(always)]
    fn stamp(&self, packet: &Packet) -> Option<Stamp> {
        if self.has_stamps { self.interface.receive_stamp(packet) } else { None }
    }

    /// Puts a datagram where the socket of an index takes it from.
    #[inline]
    fn hand(&mut self, reader: Reader, index: usize, held: Held) {
        let Some(seat) = &mut self.udp[index] else {
            return self.interface.give(held.packet.into_frame());
        };
        if !seat.has_place(self.room) {
            seat.lose();
            return self.interface.give(held.packet.into_frame());
        }
        self.room -= 1;
        seat.put(held);
        if is_other(reader, index) {
            seat.readiness.raise();
        }
    }

    /// A frame has one owner: all but the first get copies.
    #[cold]
    fn copy_for_others(&mut self, reader: Reader, packet: &Packet) {
        let stamp = self.stamp(packet);
        while let Some(to) = self.others.pop() {
            let Some(seat) = &mut self.udp[to.index] else { continue };
            if !seat.has_place(self.room) {
                seat.lose();
                continue;
            }
            let Some(mut copy) = self.interface.packet(packet.length()) else {
                seat.lose();
                continue;
            };
            let bytes = self.interface.bytes(packet);
            self.interface.bytes_mut(&mut copy).copy_from_slice(bytes);
            self.hand(reader, to.index, Held { packet: copy, payload: to.payload, stamp });
        }
    }

    #[inline]
    fn sort_raw(&mut self, reader: Reader, at: usize, packet: Packet) {
        let (ether_type, seat) = &mut self.raw[at];
        if !seat.has_place(self.room) {
            seat.lose();
            return self.interface.give(packet.into_frame());
        }
        self.room -= 1;
        seat.put(packet);
        if reader != Reader::Raw(*ether_type) {
            seat.readiness.raise();
        }
    }

    /// The interface has another Ethernet address or MTU.
    pub(crate) fn set_device(&mut self, mac: [u8; 6], mtu: u16) {
        // The device is there as long as the engine is.
        let _ = self.engine.edit().set_device(self.device, MacAddress(mac), mtu);
    }
}

/// Whether the interface is down or gone, which the stack's thread tells, and not each call.
pub(crate) fn is_down(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV))
}

#[inline]
fn is_of(frame: &[u8], ether_type: u16) -> bool {
    frame.get(12..14) == Some(&ether_type.to_be_bytes())
}

#[inline]
fn is_other(reader: Reader, index: usize) -> bool {
    !matches!(reader, Reader::Udp(id) if id.index() as usize == index)
}

/// Notes for whom a datagram is.
struct Sorter<'a> {
    first: Option<Recipient>,
    others: &'a mut Vec<Recipient>,
}

impl Listener for Sorter<'_> {
    #[inline(always)]
    fn on_datagram(&mut self, _now: Now, socket: SocketId, datagram: &Datagram<'_>) {
        let (offset, length) = (datagram.offset, datagram.payload.len() as u32);
        let (index, payload) = (socket.index() as usize, Payload { offset, length });
        let recipient = Recipient { index, payload };
        if self.first.is_none() {
            self.first = Some(recipient);
        } else {
            self.others.push(recipient);
        }
    }
}
