//! The end of a connection whose program has died.

use std::io;
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use hairpin_mapped::StateReader;
use hairpin_tcp::{Config, Connection, PreparedHeader, Rings, Route, Snapshot, Timestamps};
use hairpin_wire::{EthernetHeader, MacAddress, TcpFlags};
use socket2::SockRef;

use super::record::{Phase, Record};
use crate::tcp::handback::FILLER;
use crate::tcp::injector::Injector;
use crate::tcp::kernel_socket::{
    Beside, ESTABLISHED, KernelSocket, OPTION_SACK, OPTION_TIMESTAMPS, Queue, RepairWindow,
};
use crate::tcp::now;
use crate::tcp::takeover::{RING_MAX, pacing_lead};

/// The longest retransmission timeout of a connection that has no owner.
const TIMEOUT_MAX_MS: i32 = 1_000;

/// A connection that the keeper holds. All but the numbers comes from the kernel.
#[derive(Debug)]
pub(super) struct Orphan {
    socket: OwnedFd,
    local: SocketAddr,
    remote: SocketAddr,
    scales: u8,
    options: u8,
    /// TSval minus the time in milliseconds, and the lowest TSval.
    clock: (u32, u32),
    round_trip: hairpin_time::Duration,
}

/// The rest of the work after the numbers are restored.
#[derive(Debug)]
pub(super) enum Rest {
    /// Send these bytes, then close. `resets`: the program has left bytes unread. `in_flight`: some
    /// bytes are in flight.
    Close { unsent: Vec<u8>, resets: bool, in_flight: Option<InFlight> },
    /// Nothing is known: make the peer receive an RST.
    Reset { sequence: Option<u32> },
}

/// Packets for bytes in flight.
#[derive(Debug)]
pub(super) struct InFlight {
    /// Presented to the kernel: acknowledges the filler, as the peer did. The kernel measures a
    /// round-trip time, and sends lost bytes again after about 200 ms instead of 1 s.
    pub(super) acknowledgment: Option<Vec<u8>>,
    /// Makes the peer acknowledge what has arrived: the program may have received the
    /// acknowledgments.
    pub(super) probe: Option<Vec<u8>>,
}

impl Orphan {
    /// Accepts an established connection; `None` for any other descriptor.
    pub(super) fn new(socket: OwnedFd) -> Option<Self> {
        let kernel = KernelSocket::new(socket.as_fd());
        if kernel.protocol().ok()? != libc::IPPROTO_TCP {
            return None;
        }
        let info = kernel.info().ok()?;
        if info.state != ESTABLISHED {
            return None;
        }
        let reference = SockRef::from(&socket);
        let local = reference.local_addr().ok()?.as_socket()?;
        let remote = reference.peer_addr().ok()?.as_socket()?;
        let value = kernel.timestamp().ok()? | 1;
        let clock = (value.wrapping_sub(milliseconds()), value.wrapping_add(pacing_lead(&info)));
        let (scales, options) = (info.scales, info.options);
        let round_trip = hairpin_time::Duration::from_micros(info.round_trip_us.into());
        Some(Self { socket, local, remote, scales, options, clock, round_trip })
    }

    pub(super) fn kernel(&self) -> KernelSocket<'_> {
        KernelSocket::new(self.socket.as_fd())
    }

    /// Binds the socket to its local address again.
    pub(super) fn bind(&self) -> io::Result<()> {
        self.kernel().bind(self.local)
    }

    /// Makes the kernel's numbers valid. Frames of the connection must not reach the kernel
    /// meanwhile.
    pub(super) fn restore(&self, state: &StateReader, slot: u32) -> Rest {
        let restored = self.try_restore(state, slot);
        restored.unwrap_or_else(|_| Rest::Reset { sequence: self.sequence().ok() })
    }

    fn try_restore(&self, state: &StateReader, slot: u32) -> io::Result<Rest> {
        let invalid = |_| io::Error::from(io::ErrorKind::InvalidData);
        let words = state.words(slot)?;
        let record = Record::parse(&words, state.ring_length(), RING_MAX).map_err(invalid)?;
        let kernel = self.kernel();
        let numbers = &record.numbers;
        let mut unsent = Vec::new();
        let (mut resets, mut in_flight) = (false, None);
        match record.phase {
            Phase::Free => {}
            Phase::TakingOver => {
                kernel.end_repair()?;
                kernel.set_reuse_address(record.reuse.into())?;
            }
            Phase::Bypassing => {
                let una = numbers.send_unacknowledged;
                let mut bytes = state.bytes(slot, una, record.queued() as usize)?;
                unsent = bytes.split_off(record.in_flight() as usize);
                resets = numbers.unread > 0 || kernel.unread()? > 0;
                if !bytes.is_empty() {
                    in_flight = Some(InFlight {
                        acknowledgment: self.acknowledgment(&record),
                        probe: self.packet(una, numbers.receive_next, true),
                    });
                }
                let beside = self.write(&record, &bytes, resets)?;
                // The end follows in any case.
                unsent.extend(beside.bytes);
            }
            Phase::Returned => {
                let written = self.sequence()?.wrapping_sub(numbers.send_next);
                let rest = numbers.send_end.wrapping_sub(numbers.send_next);
                let missing = rest.checked_sub(written).ok_or(io::ErrorKind::InvalidData)?;
                let at = numbers.send_next.wrapping_add(written);
                unsent = state.bytes(slot, at, missing as usize)?;
                kernel.set_reuse_address(record.reuse.into())?;
            }
        }
        Ok(Rest::Close { unsent, resets, in_flight })
    }

    /// Dissolves the kernel's connection and establishes it again with the numbers of the record,
    /// and with a filler before bytes in flight. Returns what the program has written beside.
    fn write(&self, record: &Record, in_flight: &[u8], has_unread: bool) -> io::Result<Beside> {
        let (kernel, numbers) = (self.kernel(), &record.numbers);
        let _port = kernel.start_restoring()?;
        let beside = kernel.beside()?;
        kernel.disconnect()?;
        kernel.take_error()?;
        kernel.bind(self.local)?;
        kernel.select(Queue::Send)?;
        let has_filler = !in_flight.is_empty();
        kernel.set_sequence(numbers.send_unacknowledged.wrapping_sub(has_filler.into()))?;
        kernel.select(Queue::Receive)?;
        kernel.set_sequence(numbers.receive_next.wrapping_sub(has_unread.into()))?;
        kernel.set_segment_size(record.segment_size)?;
        kernel.connect(self.remote)?;
        // Before Linux 6.15 the timeout stays 3 s.
        let _ = kernel.set_timeout_max(TIMEOUT_MAX_MS);
        kernel.select(Queue::Send)?;
        if has_filler {
            // A segment of its own, so that its acknowledgment gives a round-trip time.
            kernel.write_all(&[FILLER])?;
        }
        kernel.write_all(in_flight)?;
        kernel.select(Queue::Receive)?;
        // The close sends an RST because of this byte.
        kernel.write_all(if has_unread { &[0] } else { &[] })?;
        let has = |option: u8| self.options & option != 0;
        let (scales, timestamps) = ((self.scales & 0x0F, self.scales >> 4), has(OPTION_TIMESTAMPS));
        kernel.set_options(record.segment_size, scales, has(OPTION_SACK), timestamps)?;
        let next = numbers.receive_next;
        let is_later = numbers.send_window_update.wrapping_sub(next).cast_signed() > 0;
        kernel.set_window(RepairWindow {
            send_window_update: if is_later { next } else { numbers.send_window_update },
            send_window: record.send_window(),
            send_window_max: numbers.send_window_max,
            receive_window: record.receive_window(),
            receive_window_update: next,
        })?;
        if timestamps {
            let value = self.timestamp();
            // An odd value would mean a clock of microseconds.
            kernel.set_timestamp(value.wrapping_add(value & 1))?;
        }
        kernel.end_repair()?;
        kernel.set_reuse_address(record.reuse.into())?;
        Ok(beside)
    }

    fn timestamp(&self) -> u32 {
        let (offset, floor) = self.clock;
        let value = milliseconds().wrapping_add(offset);
        let is_early = value.wrapping_sub(floor).cast_signed() < 0;
        if is_early { floor } else { value }
    }

    /// Returns the sequence number of the next byte that the kernel's socket would queue.
    fn sequence(&self) -> io::Result<u32> {
        let kernel = self.kernel();
        kernel.start_repair()?;
        kernel.select(Queue::Send)?;
        let sequence = kernel.sequence();
        kernel.end_repair()?;
        sequence
    }

    /// Sends what the program has queued, and a FIN if `ends`. After an error of the kernel, the
    /// close still sends FIN or RST.
    pub(super) fn send(&self, unsent: &[u8], ends: bool) {
        let _ = self.kernel().write_all(unsent);
        if ends {
            let _ = SockRef::from(&self.socket).shutdown(Shutdown::Write);
        }
        // Otherwise the close would wait. The kernel does not wait either when a process ends.
        if let Ok(Some(time)) = SockRef::from(&self.socket).linger()
            && time > Duration::ZERO
        {
            let _ = SockRef::from(&self.socket).set_linger(None);
        }
    }

    /// Returns `true` once the peer has acknowledged all.
    pub(super) fn is_acknowledged(&self) -> bool {
        self.kernel().unacknowledged().is_ok_and(|bytes| bytes == 0)
    }

    /// Closes the socket and makes the peer receive an RST, whatever its numbers are.
    ///
    /// A segment outside the peer's window is answered with the numbers that the peer expects. The
    /// kernel answers this with an RST, because it has no socket any more.
    pub(super) fn reset(self, sequence: Option<u32>, injector: &Injector) {
        let _ = self.kernel().end_repair();
        let _ = SockRef::from(&self.socket).set_linger(Some(Duration::ZERO));
        let packet = self.packet(sequence.unwrap_or(0), 0, sequence.is_some());
        drop(self.socket);
        let _ = packet.map(|mut packet| injector.inject(&mut packet));
    }

    /// Returns the peer's acknowledgment of the bytes before those in flight.
    fn acknowledgment(&self, record: &Record) -> Option<Vec<u8>> {
        let numbers = &record.numbers;
        let value = self.timestamp();
        let has_timestamps = self.options & OPTION_TIMESTAMPS != 0;
        let timestamps = has_timestamps.then_some(Timestamps { value, floor: value, recent: None });
        let snapshot = Snapshot {
            send_window: record.send_window(),
            send_window_max: numbers.send_window_max,
            send_scale: self.scales & 0x0F,
            timestamps,
            round_trip: Some(self.round_trip),
            ..snapshot(numbers.send_unacknowledged, numbers.receive_next)
        };
        let (mut send, mut receive, mut frame) = ([0; 4_096], [0; 4_096], [0; 128]);
        let mut rings = Rings { send: &mut send, receive: &mut receive };
        let connection = Connection::new(now(), &snapshot, &[], Config::default(), &mut rings);
        let header = header(self.remote, self.local);
        let (flags, sequence, none) = (TcpFlags::ACK, numbers.receive_next, [&[][..]; 2]);
        let length =
            connection.ok()?.write_from_peer(now(), &header, flags, sequence, none, &mut frame);
        frame.get(EthernetHeader::SIZE..length).map(<[u8]>::to_vec)
    }

    /// Returns a packet with the byte before `sequence`, or without a byte. The peer has received
    /// this byte and discards it, but answers at once; segments without bytes are answered twice
    /// per second at most (`tcp_invalid_ratelimit`).
    fn packet(&self, sequence: u32, acknowledgment: u32, has_byte: bool) -> Option<Vec<u8>> {
        let snapshot = snapshot(sequence.wrapping_sub(1), acknowledgment);
        let (mut send, mut receive, mut frame) = ([0; 4_096], [0; 4_096], [0; 128]);
        let mut rings = Rings { send: &mut send, receive: &mut receive };
        let connection = Connection::new(now(), &snapshot, &[], Config::default(), &mut rings);
        let (mut connection, header) = (connection.ok()?, header(self.local, self.remote));
        let length = match has_byte {
            true => connection.send(now(), &mut rings, &header, 1, &mut frame, |_| {})?,
            false => connection.write_acknowledgment(now(), &header, &mut frame),
        };
        frame.get(EthernetHeader::SIZE..length).map(<[u8]>::to_vec)
    }
}

/// Returns a state with these numbers, for a connection that writes one segment.
fn snapshot(next: u32, receive_next: u32) -> Snapshot {
    Snapshot {
        send_unacknowledged: next,
        send_next: next,
        send_window: 1,
        send_window_max: 1,
        send_window_update: receive_next,
        receive_next,
        receive_window: 0,
        send_scale: 0,
        receive_scale: 0,
        segment_size: 536,
        selective: false,
        timestamps: None,
        round_trip: None,
    }
}

fn header(local: SocketAddr, remote: SocketAddr) -> PreparedHeader {
    let mac = MacAddress([0; 6]);
    let (ttl, traffic_class) = (64, 0);
    PreparedHeader::new(&Route {
        source_mac: mac,
        next_hop: mac,
        local,
        remote,
        ttl,
        traffic_class,
    })
}

/// Returns the kernel's time of timestamps, in milliseconds.
fn milliseconds() -> u32 {
    (now().as_nanos() / 1_000_000) as u32
}
