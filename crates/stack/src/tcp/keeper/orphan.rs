//! The end of a connection whose program has died.

use std::io;
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use hairpin_mapped::StateReader;
use hairpin_tcp::{Config, Connection, PreparedHeader, Rings, Route, Snapshot, Timestamps};
use hairpin_wire::{EthernetHeader, MacAddress, TcpFlags};
use socket2::{SockAddr, SockRef};

use super::record::{Phase, Record};
use super::server::close_aside;
use crate::tcp::injector::Injector;
use crate::tcp::kernel_socket::{
    Beside, CLOSED, ESTABLISHED, KernelSocket, OPTION_SACK, OPTION_TIMESTAMPS, Queue,
};
use crate::tcp::now;
use crate::tcp::takeover::{RING_MAX, pacing_lead};
use crate::tcp::transfer::{self, Given, Refusal, Sent, Taken, flag};

/// The most attempts to end repair mode of a socket that the program makes a listener meanwhile.
const ENDS_MAX: u32 = 1_000;
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
    /// The filter redirects its flow.
    pub(super) is_redirected: bool,
    /// What the kernel's socket had, until it has the connection again.
    taken: Option<Taken>,
    /// What was found by an attempt to give the connection back.
    beside: Beside,
}

/// The rest of the work after the numbers are restored.
#[derive(Debug)]
pub(super) enum Rest {
    /// Close. `resets`: the program has left bytes unread. `in_flight`: some bytes are in flight.
    Close { resets: bool, in_flight: Option<InFlight> },
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
    /// Accepts an established connection. Returns any other descriptor.
    pub(super) fn new(socket: OwnedFd) -> Result<Self, OwnedFd> {
        match Self::read(&socket) {
            Some(read) => Ok(read(socket)),
            None => Err(socket),
        }
    }

    fn read(socket: &OwnedFd) -> Option<impl FnOnce(OwnedFd) -> Self + use<>> {
        let kernel = KernelSocket::new(socket.as_fd());
        if kernel.protocol().ok()? != libc::IPPROTO_TCP {
            return None;
        }
        let info = kernel.info().ok()?;
        if info.state != ESTABLISHED {
            return None;
        }
        let reference = SockRef::from(socket);
        let local = reference.local_addr().ok()?.as_socket()?;
        let remote = reference.peer_addr().ok()?.as_socket()?;
        let value = kernel.timestamp().ok()? | 1;
        let clock = (value.wrapping_sub(milliseconds()), value.wrapping_add(pacing_lead(&info)));
        let (scales, options) = (info.scales, info.options);
        let round_trip = hairpin_time::Duration::from_micros(info.round_trip_us.into());
        let (is_redirected, taken, beside) = (false, None, Beside::default());
        Some(move |socket| Self {
            socket,
            local,
            remote,
            scales,
            options,
            clock,
            round_trip,
            is_redirected,
            taken,
            beside,
        })
    }

    /// Returns the local and the remote address.
    pub(super) fn addresses(&self) -> [SocketAddr; 2] {
        [self.local, self.remote]
    }

    /// Returns `true` if the kernel's socket has no connection any more: its port may be another's.
    pub(super) fn is_dissolved(&self) -> bool {
        self.kernel().info().is_ok_and(|info| info.state == CLOSED)
    }

    /// Returns `true` if it receives from another interface only.
    pub(super) fn is_bound_elsewhere(&self, interface: u32) -> bool {
        let bound = self.kernel().bound_interface();
        !bound.is_ok_and(|bound| bound == 0 || bound.cast_unsigned() == interface)
    }

    /// Closes the descriptor. The close of the last descriptor would wait with `SO_LINGER`.
    pub(super) fn close(self) {
        match SockRef::from(&self.socket).linger() {
            Ok(Some(time)) if time > Duration::ZERO => close_aside(self.socket),
            _ => drop(self.socket),
        }
    }

    /// Takes the connection from the kernel.
    pub(super) fn take(&mut self, out_of_order: u32) -> Result<Taken, Refusal> {
        let taken = Taken::read(self.kernel(), out_of_order);
        self.check()?;
        Ok(*self.taken.insert(taken?))
    }

    /// Makes the connection the kernel's again, which has everything.
    pub(super) fn undo(&mut self) -> io::Result<()> {
        let undone = self.taken.take().map_or(Ok(()), |taken| taken.undo(self.kernel()));
        self.check().and(undone)
    }

    /// Gives the connection back to the kernel.
    pub(super) fn give(&mut self, given: &Given, bytes: &[u8]) -> io::Result<Sent> {
        let kernel = KernelSocket::new(self.socket.as_fd());
        let sent = given.write(kernel, [self.local, self.remote], bytes, &mut self.beside);
        self.check()?;
        if sent.is_ok() {
            self.taken = None;
        }
        sent
    }

    /// Shuts down a socket with which the program has done something else while it was in repair
    /// mode, in which bind(2) takes any port. Repair mode has ended.
    fn check(&self) -> io::Result<()> {
        let reference = SockRef::from(&self.socket);
        let is_same = |address: io::Result<SockAddr>, expected| {
            address.is_ok_and(|address| address.as_socket() == Some(expected))
        };
        let is_ours = || {
            is_same(reference.local_addr(), self.local)
                && is_same(reference.peer_addr(), self.remote)
        };
        let is_closed = || self.kernel().info().is_ok_and(|info| info.state == CLOSED);
        if !self.kernel().is_repairing() && (is_closed() || is_ours()) {
            return Ok(());
        }
        for _ in 0..ENDS_MAX {
            // Repair mode of a listener cannot be ended.
            let _ = reference.shutdown(Shutdown::Both);
            let _ = self.kernel().disconnect();
            if self.kernel().end_repair().is_ok() {
                break;
            }
        }
        Err(io::Error::from_raw_os_error(libc::EBADF))
    }

    pub(super) fn kernel(&self) -> KernelSocket<'_> {
        KernelSocket::new(self.socket.as_fd())
    }

    /// Makes the kernel's numbers valid. Frames of the connection must not reach the kernel
    /// meanwhile.
    pub(super) fn restore(&mut self, state: &StateReader, slot: u32) -> Rest {
        let restored = self.try_restore(state, slot);
        restored.unwrap_or_else(|_| Rest::Reset { sequence: self.sequence().ok() })
    }

    fn try_restore(&mut self, state: &StateReader, slot: u32) -> io::Result<Rest> {
        let nothing = Rest::Close { resets: false, in_flight: None };
        if self.taken.is_none() {
            return Ok(nothing);
        }
        let invalid = |_| io::Error::from(io::ErrorKind::InvalidData);
        let words = state.words(slot)?;
        let record = Record::parse(&words, state.ring_length(), RING_MAX).map_err(invalid)?;
        if record.phase == Phase::Free {
            // The program has sent nothing.
            self.undo()?;
            let reuse = record.reuse.into();
            return self.kernel().set_reuse_address(reuse).map(|()| nothing);
        }
        let numbers = record.numbers;
        let una = numbers.send_unacknowledged;
        let mut bytes = state.bytes(slot, una, record.queued() as usize)?;
        let unsent = bytes.split_off(record.in_flight() as usize);
        let resets = numbers.unread > 0 || self.kernel().unread()? > 0;
        let in_flight = (!bytes.is_empty()).then(|| InFlight {
            acknowledgment: self.acknowledgment(&record),
            probe: self.packet(una, numbers.receive_next, true),
        });
        let given = self.given(&record, resets);
        // The close sends an RST because of this byte.
        bytes.extend(resets.then_some(0));
        bytes.extend(unsent);
        // After an error of what is unsent, the close still sends FIN or RST.
        self.give(&given, &bytes)?;
        // Before Linux 6.15 the timeout stays 3 s.
        let _ = self.kernel().set_timeout_max(TIMEOUT_MAX_MS);
        Ok(Rest::Close { resets, in_flight })
    }

    /// Returns the connection of a record for the kernel.
    fn given(&self, record: &Record, has_unread: bool) -> Given {
        let numbers = &record.numbers;
        let in_flight = record.in_flight();
        let has = |option: u8| self.options & option != 0;
        let flags = [
            (flag::FILLER, in_flight > 0),
            (flag::SELECTIVE, has(OPTION_SACK)),
            (flag::TIMESTAMPS, has(OPTION_TIMESTAMPS)),
            (flag::REUSE_ADDRESS, record.reuse),
        ];
        Given {
            send_unacknowledged: numbers.send_unacknowledged,
            first_unread: numbers.receive_next.wrapping_sub(has_unread.into()),
            segment_size: record.segment_size,
            scales: [self.scales & 0x0F, self.scales >> 4].map(u16::from),
            window: transfer::window(
                numbers.receive_next,
                numbers.send_window_update,
                record.send_window(),
                numbers.send_window_max,
                record.receive_window(),
            ),
            timestamp: self.timestamp(),
            flags: flag::all(&flags),
            lengths: [in_flight, has_unread.into(), record.queued() - in_flight],
        }
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

    /// Sends a FIN if `ends`, and makes the close not wait.
    pub(super) fn end(&self, ends: bool) {
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

    /// Returns a segment without bytes that repeats what the program has promised and acknowledged;
    /// `None` if the kernel has the connection.
    pub(super) fn keep_alive(&self, state: &StateReader, slot: u32) -> Option<Vec<u8>> {
        self.taken?;
        let words = state.words(slot).ok()?;
        let record = Record::parse(&words, state.ring_length(), RING_MAX).ok()?;
        if record.phase == Phase::Free {
            return None;
        }
        let numbers = &record.numbers;
        let snapshot = Snapshot {
            // The field itself: a ring of this length holds any.
            receive_window: (record.receive_window() >> (self.scales >> 4)).min(0xFFFF),
            timestamps: self.timestamps(),
            ..snapshot(numbers.send_next, numbers.receive_next)
        };
        let (mut send, mut receive, mut frame) = ([0; 4_096], vec![0; 1 << 16], [0; 128]);
        let mut rings = Rings { send: &mut send, receive: &mut receive };
        let connection = Connection::new(now(), &snapshot, &[], Config::default(), &mut rings);
        let header = header(self.local, self.remote);
        let length = connection.ok()?.write_acknowledgment(now(), &header, &mut frame);
        frame.get(EthernetHeader::SIZE..length).map(<[u8]>::to_vec)
    }

    fn timestamps(&self) -> Option<Timestamps> {
        let value = self.timestamp();
        let has_timestamps = self.options & OPTION_TIMESTAMPS != 0;
        has_timestamps.then_some(Timestamps { value, floor: value, recent: None })
    }

    /// Returns the peer's acknowledgment of the bytes before those in flight.
    fn acknowledgment(&self, record: &Record) -> Option<Vec<u8>> {
        let numbers = &record.numbers;
        let timestamps = self.timestamps();
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
