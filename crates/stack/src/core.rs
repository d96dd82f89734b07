//! What sockets of a stack share: the interface's frames, the engine, and where frames wait.

use std::io;
use std::sync::Arc;

use hairpin_netstack::{
    Datagram, DeviceId, DeviceSettings, Listener, Settings, SocketAddress, SocketId,
};
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
    offset: u32,
    length: u32,
    source: SocketAddress,
    destination: SocketAddress,
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

    /// Takes up to `most` of what has arrived for a socket; how much is left.
    #[inline]
    pub(crate) fn take(&mut self, id: SocketId, into: &mut Vec<Held>, most: usize) -> usize {
        let Some(seat) = &mut self.udp[id.index() as usize] else { return 0 };
        while into.len() < most {
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
            let received = if waiting > 0 {
                match self.interface.receive_known() {
                    Some(received) => received,
                    None => return Ok(false),
                }
            } else {
                match self.interface.receive() {
                    Ok(Some(received)) => received,
                    Ok(None) => return Ok(true),
                    Err(error) if is_down(&error) => return Ok(true),
                    Err(error) => return Err(error),
                }
            };
            self.sort(reader, received.1);
        }
        Ok(false)
    }

    /// Puts one frame where it is waited for.
    #[inline]
    fn sort(&mut self, reader: Reader, packet: Packet) {
        let frame = self.interface.bytes(&packet);
        if !self.raw.is_empty()
            && let Some(&[high, low]) = frame.get(12..14)
        {
            let ether_type = u16::from_be_bytes([high, low]);
            if let Some(at) = self.raw.iter().position(|(other, _)| *other == ether_type) {
                return self.sort_raw(reader, at, packet);
            }
        }
        let start = frame.as_ptr().addr();
        let mut sorter = Sorter { start, first: None, others: &mut self.others };
        self.engine.edit().handle_frame(NOW, self.device, frame, &mut sorter);
        let Some(first) = sorter.first else {
            // It is broken, which the engine counts, or of a sender that was not named; or its
            // socket was closed while it was under way.
            return self.interface.give(packet.into_frame());
        };
        let stamp = if self.has_stamps { self.interface.receive_stamp(&packet) } else { None };
        if !self.others.is_empty() {
            self.copy_for_others(reader, &packet, stamp);
        }
        self.hand(reader, first, packet, stamp);
    }

    #[inline]
    fn hand(&mut self, reader: Reader, to: Recipient, packet: Packet, stamp: Option<Stamp>) {
        let Recipient { index, offset, length, source, destination } = to;
        let Some(seat) = &mut self.udp[index] else {
            return self.interface.give(packet.into_frame());
        };
        if !seat.has_place(self.room) {
            seat.lose();
            return self.interface.give(packet.into_frame());
        }
        self.room -= 1;
        seat.put(Held { packet, offset, length, source, destination, stamp });
        if is_other(reader, index) {
            seat.readiness.raise();
        }
    }

    /// A frame has one owner: all but the first get copies.
    #[cold]
    fn copy_for_others(&mut self, reader: Reader, packet: &Packet, stamp: Option<Stamp>) {
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
            self.hand(reader, to, copy, stamp);
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

    /// Puts a packet into a queue's ring, for the queue's kicker to send: how many frames that must
    /// be told. It comes back if the ring is full.
    #[inline]
    pub(crate) fn submit(&mut self, queue: u32, packet: Packet) -> Result<u32, Packet> {
        self.interface.transmit(queue, packet)?;
        Ok(self.interface.submit(queue))
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
    /// Where the frame begins.
    start: usize,
    first: Option<Recipient>,
    others: &'a mut Vec<Recipient>,
}

impl Listener for Sorter<'_> {
    #[inline]
    fn on_datagram(&mut self, _now: Now, socket: SocketId, datagram: &Datagram<'_>) {
        let recipient = Recipient {
            index: socket.index() as usize,
            offset: (datagram.payload.as_ptr().addr() - self.start) as u32,
            length: datagram.payload.len() as u32,
            source: datagram.source,
            destination: datagram.destination,
        };
        if self.first.is_none() {
            self.first = Some(recipient);
        } else {
            self.others.push(recipient);
        }
    }
}
