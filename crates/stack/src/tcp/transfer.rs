//! A connection as the kernel's socket gives it and takes it, in repair mode (tcp(7), CRIU).
//!
//! Repair mode requires `CAP_NET_ADMIN`. This process calls these functions, or its keeper does:
//! [`Taken`] and [`Given`] are numbers that the two exchange. The socket is in repair mode during
//! these calls only.

use std::io;
use std::net::SocketAddr;

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::kernel_socket::{Beside, KernelSocket, Queue, RepairWindow};

/// The byte before those in flight: the peer has acknowledged it, so its value does not matter.
const FILLER: u8 = 0;
/// The longest retransmission timeout of what is in flight when the kernel takes the connection.
const TIMEOUT_MAX_MS: i32 = 1_000;

/// A connection that was the kernel's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Taken {
    pub(super) send_next: u32,
    /// The number after the last received byte, and the number of bytes before it that are unread.
    pub(super) receive_next: u32,
    pub(super) unread: u32,
    pub(super) window: RepairWindow,
    /// The MSS clamp.
    pub(super) segment_size: u32,
}

/// The reason why a connection stays with the kernel.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Data are unacknowledged.
    Unacknowledged,
    /// Data were received out of order.
    OutOfOrder,
    /// The keeper holds as many connections as it can.
    Full,
    /// A rule of the host applies to the connection.
    Rule(String),
    /// The filter has no room for the flow.
    FilterFull,
    /// No frame of the connection has arrived on the interface.
    NothingArrived,
    /// The keeper has ended, or does not answer.
    NoKeeper,
    Kernel(io::Error),
}

impl Refusal {
    /// Returns the error number and a kind, which [`from_numbers`](Self::from_numbers) reads.
    pub(super) fn numbers(&self) -> [u32; 2] {
        match self {
            Self::Unacknowledged => [libc::EAGAIN.cast_unsigned(), 1],
            Self::OutOfOrder => [libc::EAGAIN.cast_unsigned(), 2],
            Self::Full => [libc::EMFILE.cast_unsigned(), 3],
            Self::Rule(_) => [libc::EACCES.cast_unsigned(), 4],
            Self::FilterFull => [libc::E2BIG.cast_unsigned(), 5],
            Self::NothingArrived => [libc::EAGAIN.cast_unsigned(), 6],
            Self::NoKeeper => [libc::EPIPE.cast_unsigned(), 0],
            Self::Kernel(error) => [error.raw_os_error().unwrap_or(libc::EBADF).cast_unsigned(), 0],
        }
    }

    pub(super) fn from_numbers(error: io::Error, kind: u32, text: &str) -> Self {
        match kind {
            1 => Self::Unacknowledged,
            2 => Self::OutOfOrder,
            3 => Self::Full,
            4 => Self::Rule(text.to_string()),
            5 => Self::FilterFull,
            6 => Self::NothingArrived,
            _ => Self::Kernel(error),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Kernel(error)
    }
}

impl Taken {
    /// Reads a connection and closes the kernel's send window. What the program writes by a call
    /// that is not seen stays in the queue: the peer would take it for bytes of the bypass with the
    /// same numbers. `out_of_order` is what [`Info`](super::kernel_socket::Info) had before.
    pub(super) fn read(socket: KernelSocket<'_>, out_of_order: u32) -> Result<Self, Refusal> {
        socket.start_repair()?;
        let taken = Self::read_numbers(socket, out_of_order).and_then(|taken| {
            socket.set_window(RepairWindow { send_window: 0, ..taken.window })?;
            Ok(taken)
        });
        let ended = socket.end_repair();
        let taken = taken?;
        match ended {
            Ok(()) => Ok(taken),
            Err(error) => {
                let _ = socket.set_window(taken.window);
                Err(error.into())
            }
        }
    }

    fn read_numbers(socket: KernelSocket<'_>, out_of_order: u32) -> Result<Self, Refusal> {
        socket.select(Queue::Send)?;
        let send_next = socket.sequence()?;
        socket.select(Queue::Receive)?;
        let (mut receive_next, mut unread) = (socket.sequence()?, 0);
        let [received, unacknowledged] = socket.memory()?;
        if unacknowledged != 0 {
            return Err(Refusal::Unacknowledged);
        }
        // Usually nothing was received since the number was read.
        if received != 0 {
            (receive_next, unread) = stable_receive_next(socket, receive_next)?;
            if socket.info()?.out_of_order != out_of_order {
                // A late segment was queued out of order, which cannot be read, and the peer may
                // not send it again.
                return Err(Refusal::OutOfOrder);
            }
        }
        let (window, segment_size) = (socket.window()?, socket.segment_size()?);
        Ok(Self { send_next, receive_next, unread, window, segment_size })
    }

    /// Opens the kernel's send window again: the connection stays with the kernel.
    pub(super) fn undo(&self, socket: KernelSocket<'_>) -> io::Result<()> {
        socket.start_repair()?;
        let opened = socket.set_window(self.window);
        // Without the window, an acknowledgment of the peer opens it.
        socket.end_repair().and(opened)
    }
}

/// Returns the next number, `next` or a later one, and the number of unread bytes before it, at one
/// moment: segments on the way may still arrive at the kernel.
fn stable_receive_next(socket: KernelSocket<'_>, mut next: u32) -> io::Result<(u32, u32)> {
    loop {
        let unread = socket.unread()?;
        let again = socket.sequence()?;
        if again == next {
            return Ok((next, unread));
        }
        next = again;
    }
}

/// A connection that becomes the kernel's. Its bytes are separate: those in flight, then those that
/// are unread, then those that are unsent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Given {
    /// The numbers of the first byte in flight, and of the first unread one.
    pub(super) send_unacknowledged: u32,
    pub(super) first_unread: u32,
    /// The MSS clamp.
    pub(super) segment_size: u32,
    /// The scales of the peer's window and of our own.
    pub(super) scales: [u16; 2],
    pub(super) window: RepairWindow,
    /// TSval, with [`flag::TIMESTAMPS`].
    pub(super) timestamp: u32,
    pub(super) flags: u32,
    /// The numbers of bytes: in flight, unread and unsent.
    pub(super) lengths: [u32; 3],
}

/// Bits of [`Given::flags`].
pub(super) mod flag {
    pub(in crate::tcp) const SELECTIVE: u32 = 1;
    pub(in crate::tcp) const TIMESTAMPS: u32 = 2;
    /// The options that the takeover has changed, or the end of repair mode changes.
    pub(in crate::tcp) const REUSE_ADDRESS: u32 = 4;
    pub(in crate::tcp) const KEEPALIVE: u32 = 8;
    /// The kernel counts one byte before those in flight as in flight too: its acknowledgment,
    /// which is injected, gives the kernel a round-trip time.
    pub(in crate::tcp) const FILLER: u32 = 16;
    /// The socket was bound explicitly, so it keeps its port.
    pub(in crate::tcp) const BOUND: u32 = 32;

    /// Returns the bits that are set.
    pub(in crate::tcp) fn all(flags: &[(u32, bool)]) -> u32 {
        flags.iter().filter(|(_, is_set)| *is_set).fold(0, |all, (flag, _)| all | flag)
    }
}

/// What was sent after the kernel has taken a connection.
#[derive(Debug)]
pub(super) struct Sent {
    /// The number of bytes that the program had written by calls that were not seen.
    pub(super) beside: u32,
    /// The first error: bytes are lost.
    pub(super) error: Option<io::Error>,
}

impl Given {
    pub(super) fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Returns the number of all bytes.
    pub(super) fn length(&self) -> usize {
        self.lengths.iter().fold(0, |sum, length| sum + *length as usize)
    }

    /// Returns `true` if rings of these lengths may have held the bytes.
    pub(super) fn is_possible(&self, send_ring: usize, receive_ring_max: usize) -> bool {
        let [in_flight, unread, unsent] = self.lengths.map(|length| length as usize);
        in_flight.saturating_add(unsent) <= send_ring && unread <= receive_ring_max
    }

    /// Makes the connection the kernel's. Frames of it must not reach the kernel meanwhile. What is
    /// found beside is added to `beside`, also if this fails, for another attempt.
    ///
    /// # Errors
    /// The kernel's; `InvalidInput` if the number of bytes is wrong.
    pub(super) fn write(
        &self,
        socket: KernelSocket<'_>,
        [local, remote]: [SocketAddr; 2],
        bytes: &[u8],
        beside: &mut Beside,
    ) -> io::Result<Sent> {
        if bytes.len() != self.length() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (in_flight, rest) = bytes.split_at(self.lengths[0] as usize);
        let (unread, unsent) = rest.split_at(self.lengths[1] as usize);
        // No other connection receives the port meanwhile.
        let _port = match self.has(flag::BOUND) {
            true => None,
            false => socket.reserve_port(local).ok(),
        };
        socket.start_repair()?;
        let established = self.establish(socket, [local, remote], in_flight, unread, beside);
        // Its own error ends repair mode too.
        established.inspect_err(|_| drop(socket.end_repair()))?;
        if self.has(flag::REUSE_ADDRESS) {
            // The end of repair mode has cleared it.
            socket.set_reuse_address(1)?;
        }
        socket.set_segment_size(0)?;
        if self.has(flag::KEEPALIVE) {
            socket.set_keepalive(1)?;
        }
        if !unread.is_empty() {
            socket.signal_readers()?;
        }
        let sent = socket.write_all(unsent).and_then(|()| socket.write_beside(beside));
        Ok(Sent { beside: std::mem::take(beside).bytes.len() as u32, error: sent.err() })
    }

    /// Dissolves the kernel's connection, and establishes it again with these numbers and bytes.
    fn establish(
        &self,
        socket: KernelSocket<'_>,
        [local, remote]: [SocketAddr; 2],
        in_flight: &[u8],
        unread: &[u8],
        beside: &mut Beside,
    ) -> io::Result<()> {
        // The dissolution discards them.
        beside.extend(socket.beside()?);
        socket.disconnect()?;
        // ECONNABORTED, reported once.
        socket.take_error()?;
        if !self.has(flag::BOUND) {
            socket.bind(local)?;
        }
        let has_filler = self.has(flag::FILLER);
        socket.select(Queue::Send)?;
        socket.set_sequence(self.send_unacknowledged.wrapping_sub(has_filler.into()))?;
        socket.select(Queue::Receive)?;
        socket.set_sequence(self.first_unread)?;
        socket.set_segment_size(self.segment_size)?;
        socket.connect(remote)?;
        // For the timer of what is in flight. That of the filler ends at once. Before Linux 6.15
        // the timeout stays 3 s.
        let timeout_max = if in_flight.is_empty() { None } else { socket.timeout_max().ok() };
        if timeout_max.is_some() {
            socket.set_timeout_max(TIMEOUT_MAX_MS)?;
        }
        socket.select(Queue::Send)?;
        if has_filler {
            // A segment of its own, so that its acknowledgment gives a round-trip time.
            socket.write_all(&[FILLER])?;
        }
        socket.write_all(in_flight)?;
        if let Some(timeout_max) = timeout_max {
            socket.set_timeout_max(timeout_max)?;
        }
        socket.select(Queue::Receive)?;
        socket.write_all(unread)?;
        let [send_scale, receive_scale] = self.scales;
        let has_timestamps = self.has(flag::TIMESTAMPS);
        let scales = (send_scale as u8, receive_scale as u8);
        let selective = self.has(flag::SELECTIVE);
        socket.set_options(self.segment_size, scales, selective, has_timestamps)?;
        socket.set_window(self.window)?;
        if has_timestamps {
            // An odd value would mean a clock of microseconds.
            socket.set_timestamp(self.timestamp.wrapping_add(self.timestamp & 1))?;
        }
        socket.end_repair()
    }
}

/// Returns the window of a connection that becomes the kernel's: `next` is the number of the next
/// byte from the peer.
pub(super) fn window(
    next: u32,
    update: u32,
    send_window: u32,
    send_window_max: u32,
    receive_window: u32,
) -> RepairWindow {
    let is_later = update.wrapping_sub(next).cast_signed() > 0;
    RepairWindow {
        send_window_update: if is_later { next } else { update },
        send_window,
        send_window_max,
        receive_window,
        receive_window_update: next,
    }
}
