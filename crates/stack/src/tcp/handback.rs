//! Handback: the engine's connection becomes the kernel's again, on the same descriptor.

use std::io;
use std::time::Duration as StdDuration;

use hairpin_tcp::{Reason, Rings};
use hairpin_time::Duration;
use hairpin_wire::{EthernetHeader, TcpFlags};

use super::bypass::Bypass;
use super::counters::Count;
use super::kernel_socket::KernelSocket;
use super::now;
use super::ring::Ring;
use super::transfer::{self, Given, Sent, flag};
use crate::readiness::Readiness;
use crate::stack::SharedState;

/// The shortest time between takeover and handback: a frame that was on its way to the kernel's
/// socket must not find it closed.
const SETTLED: Duration = Duration::from_millis(1);
/// The longest time to wait for acknowledgments.
const ACKNOWLEDGED: Duration = Duration::from_millis(5);
/// The longest time to wait for acknowledgments before a connection is reset.
const DELIVERED: Duration = Duration::from_millis(500);
/// The longest payload of an injected segment.
const CHUNK: usize = 1_024;

impl Bypass {
    /// Completes a handback after [`restore`](Self::restore). The flow stays in the data plane as
    /// retired, so that frames that are still on their way reach the kernel.
    ///
    /// # Errors
    /// The kernel's. The connection is then lost.
    pub(super) fn hand_back(
        mut self,
        shared: &SharedState,
        reason: Option<Reason>,
        restored: io::Result<Sent>,
    ) -> io::Result<()> {
        shared.tcp.retire(shared, &self.entry, self.flow);
        self.release_kept(shared);
        let sent = restored?;
        if self.connection.owes_acknowledgment() {
            // The kernel's socket counts everything received as acknowledged. Without this segment
            // the peer sends again.
            let _ = self.transmit_acknowledgment(shared);
        }
        // The acknowledgment of the filler. With timestamps the kernel's socket measures the
        // round-trip time too: until then its retransmission timeout is 3 s.
        self.inject(shared, TcpFlags::ACK, self.connection.receive_next(), [&[], &[]]);
        self.inject_out_of_order(shared);
        self.inject_end(shared, reason);
        for mut packet in std::mem::take(&mut self.for_kernel) {
            shared.tcp.inject(&mut packet);
        }
        shared.tcp.drain_retired(shared);
        shared.tcp.count(Count::BesideBytes, sent.beside.into());
        // The keeper has injected all when it has released the connection.
        shared.tcp.return_rings(self.send_ring, self.receive_ring);
        match sent.error {
            Some(error) if reason.is_none() => Err(error),
            // After a FIN or RST the program finds out by its own calls.
            _ => Ok(()),
        }
    }

    /// Moves the state into the kernel's socket, which counts one byte before those in flight as in
    /// flight too.
    ///
    /// # Errors
    /// The kernel's. The engine's state is unchanged, so that another attempt is possible.
    pub(super) fn restore(
        &mut self,
        shared: &SharedState,
        socket: KernelSocket<'_>,
        readiness: &Readiness,
        reason: Option<Reason>,
    ) -> io::Result<Sent> {
        self.settle(shared, socket, readiness, reason)?;
        while socket.may_have_waiter()? {
            self.grow_send_buffer(socket)?;
            std::thread::sleep(StdDuration::from_micros(500));
        }
        // From here on, what arrives is presented to the kernel by `hand_back`.
        let (given, bytes) = self.given();
        match &self.send_ring {
            Ring::Kept(kept) => kept.give(socket.fd, &given, &bytes),
            Ring::Private(_) => {
                given.write(socket, [self.local, self.remote], &bytes, &mut self.beside)
            }
        }
    }

    /// Makes room for a call that waits until it can write to the kernel's socket.
    pub(super) fn grow_send_buffer(&self, socket: KernelSocket<'_>) -> io::Result<()> {
        match &self.send_ring {
            Ring::Kept(kept) => kept.grow_send_buffer(socket.fd),
            Ring::Private(_) => socket.grow_send_buffer(),
        }
    }

    /// Returns the connection for the kernel, with its bytes.
    fn given(&mut self) -> (Given, Vec<u8>) {
        let snapshot = self.connection.snapshot(now());
        let rings = Rings { send: &mut self.send_ring, receive: &mut self.receive_ring };
        let connection = &self.connection;
        let parts = [
            connection.unacknowledged(&rings),
            connection.unread(&rings),
            connection.unsent(&rings),
        ];
        let lengths = parts.map(|part| part.iter().map(|slice| slice.len()).sum::<usize>() as u32);
        let bytes = parts.concat().concat();
        let flags = [
            (flag::FILLER, true),
            (flag::BOUND, self.is_bound),
            (flag::SELECTIVE, snapshot.selective),
            (flag::TIMESTAMPS, snapshot.timestamps.is_some()),
            (flag::REUSE_ADDRESS, self.reuse != 0),
            (flag::KEEPALIVE, self.keepalive != 0),
        ];
        let given = Given {
            send_unacknowledged: connection.send_unacknowledged(),
            first_unread: snapshot.receive_next.wrapping_sub(lengths[1]),
            segment_size: self.segment_size,
            scales: [snapshot.send_scale.into(), snapshot.receive_scale.into()],
            window: transfer::window(
                snapshot.receive_next,
                snapshot.send_window_update,
                snapshot.send_window,
                snapshot.send_window_max,
                snapshot.receive_window,
            ),
            timestamp: snapshot.timestamps.map_or(0, |timestamps| timestamps.value),
            flags: flag::all(&flags),
            lengths,
        };
        (given, bytes)
    }

    /// Waits until the takeover is over and, for a limited time, until everything is acknowledged;
    /// then reads all that has arrived. It is acknowledged after the handback.
    fn settle(
        &mut self,
        shared: &SharedState,
        socket: KernelSocket<'_>,
        readiness: &Readiness,
        reason: Option<Reason>,
    ) -> io::Result<()> {
        let end = self.taken_at + SETTLED;
        let waits = reason.is_none();
        let patience = now() + ACKNOWLEDGED;
        loop {
            let time = now();
            readiness.set_kernel_pending();
            self.poll(shared, socket, readiness, &mut ())?;
            let is_acknowledged = self.connection.in_flight() == 0 || time >= patience || !waits;
            if time >= end && is_acknowledged {
                break;
            }
            std::thread::sleep(StdDuration::from_micros(20));
        }
        self.receive_all(shared)
    }

    /// Processes all frames in the rings.
    fn receive_all(&mut self, shared: &SharedState) -> io::Result<()> {
        while self.receive_frames(shared, &mut ())?.is_some() {}
        self.catch_up(now());
        Ok(())
    }

    /// Sends an acknowledgment of everything received.
    fn transmit_acknowledgment(&mut self, shared: &SharedState) -> io::Result<()> {
        let mut frame = [0; 128];
        let length = self.connection.write_acknowledgment(now(), &self.header, &mut frame);
        self.transmit_frame(shared, &frame[..length])
    }

    /// Ends the connection of the peer.
    pub(super) fn transmit_reset(&self, shared: &SharedState) {
        let (mut frame, next) = ([0; 128], self.connection.numbers().send_next);
        let (connection, header, flags) = (&self.connection, &self.header, TcpFlags::RST);
        let length = connection.write_from_peer(now(), header, flags, next, [&[], &[]], &mut frame);
        let _ = self.transmit_frame(shared, &frame[..length]);
    }

    fn transmit_frame(&self, shared: &SharedState, frame: &[u8]) -> io::Result<()> {
        let mut data_plane = shared.data_plane();
        let Some(mut packet) = data_plane.interface.packet(frame.len() as u32) else {
            return Ok(());
        };
        data_plane.interface.bytes_mut(&mut packet).copy_from_slice(frame);
        match shared.transmit(data_plane, self.queue, packet)? {
            Ok(()) => {}
            Err(packet) => shared.data_plane().interface.release(packet.into_frame()),
        }
        Ok(())
    }

    /// Ends a connection that cannot be handed back: its keepers have ended. The peer receives what
    /// was sent, then RST, and so does the kernel's socket.
    pub(super) fn reset(
        mut self,
        shared: &SharedState,
        socket: KernelSocket<'_>,
        readiness: &Readiness,
    ) {
        let patience = now() + DELIVERED;
        let is_open = |bypass: &Self| bypass.connection.room() < bypass.send_ring.len();
        while is_open(&self) && now() < patience && self.has_path {
            if self.poll(shared, socket, readiness, &mut ()).is_err() {
                break;
            }
            std::thread::sleep(StdDuration::from_micros(20));
        }
        self.transmit_reset(shared);
        if !self.inject(shared, TcpFlags::ACK | TcpFlags::RST, self.kernel_next, [&[], &[]]) {
            // No process is left that could: calls of the program end with an error too.
            let _ = socket.disconnect();
        }
        shared.tcp.retire(shared, &self.entry, self.flow);
        self.release_kept(shared);
        shared.tcp.return_rings(self.send_ring, self.receive_ring);
    }

    /// Presents a segment to the kernel as if the peer had sent it. Returns `true` if it was
    /// presented.
    fn inject(
        &self,
        shared: &SharedState,
        flags: TcpFlags,
        sequence: u32,
        bytes: [&[u8]; 2],
    ) -> bool {
        let mut frame = [0; 256 + CHUNK];
        let (connection, header) = (&self.connection, &self.from_peer);
        let length = connection.write_from_peer(now(), header, flags, sequence, bytes, &mut frame);
        let packet = frame.get_mut(EthernetHeader::SIZE..length);
        packet.is_some_and(|packet| shared.tcp.inject(packet))
    }

    /// Presents the segments received out of order, which the peer may believe to have arrived.
    fn inject_out_of_order(&mut self, shared: &SharedState) {
        let ranges = self.connection.out_of_order().to_vec();
        let rings = Rings { send: &mut self.send_ring, receive: &mut self.receive_ring };
        let mut segments = Vec::new();
        for range in ranges {
            let mut start = range.0;
            for part in self.connection.bytes_of_range(range, &rings) {
                for chunk in part.chunks(CHUNK) {
                    segments.push((start, chunk.to_vec()));
                    start = start.wrapping_add(chunk.len() as u32);
                }
            }
        }
        for (start, chunk) in &segments {
            self.inject(shared, TcpFlags::ACK, *start, [chunk, &[]]);
        }
    }

    fn inject_end(&self, shared: &SharedState, reason: Option<Reason>) {
        let flags = match reason {
            _ if self.is_aborted => TcpFlags::ACK | TcpFlags::RST,
            _ if self.connection.is_at_end() => TcpFlags::ACK | TcpFlags::FIN,
            Some(Reason::Reset) => TcpFlags::ACK | TcpFlags::RST,
            _ => return,
        };
        self.inject(shared, flags, self.connection.receive_next(), [&[], &[]]);
    }
}
