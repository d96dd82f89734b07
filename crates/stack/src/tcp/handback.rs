//! Handback: the engine's connection becomes the kernel's again, on the same descriptor.

use std::io;
use std::time::Duration as StdDuration;

use hairpin_tcp::{Reason, Rings};
use hairpin_time::Duration;
use hairpin_wire::{EthernetHeader, TcpFlags};

use super::bypass::Bypass;
use super::counters::Count;
use super::kernel_socket::{KernelSocket, Queue, RepairWindow};
use super::now;
use super::ring::Ring;
use crate::readiness::Readiness;
use crate::stack::SharedState;

/// The shortest time between takeover and handback: a frame that was on its way to the kernel's
/// socket must not find it closed.
const SETTLED: Duration = Duration::from_millis(1);
/// The longest time to wait for acknowledgments.
const ACKNOWLEDGED: Duration = Duration::from_millis(5);
/// The longest time to wait for acknowledgments before a connection is reset.
const DELIVERED: Duration = Duration::from_millis(500);
/// The byte before those in flight: the peer has acknowledged it, so its value does not matter.
pub(super) const FILLER: u8 = 0;
/// The longest payload of an injected segment.
const CHUNK: usize = 1_024;
/// The longest retransmission timeout of what is in flight at a handback.
const TIMEOUT_MAX_MS: i32 = 1_000;

impl Bypass {
    /// Completes a handback after [`restore`](Self::restore). The flow stays in the data plane as
    /// retired, so that frames that are still on their way reach the kernel.
    ///
    /// # Errors
    /// The kernel's. The connection is then lost.
    pub(super) fn hand_back(
        mut self,
        shared: &SharedState,
        socket: KernelSocket<'_>,
        reason: Option<Reason>,
        restored: io::Result<()>,
    ) -> io::Result<()> {
        shared.tcp.retire(shared, &self.entry, self.flow);
        self.release_kept(shared);
        restored?;
        let keeper = self.send_ring.switch();
        let socket = socket.with_keeper(keeper.as_ref());
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
        let rings = Rings { send: &mut self.send_ring, receive: &mut self.receive_ring };
        let [first, second] = self.connection.unsent(&rings);
        // After a FIN or RST the kernel may refuse; the program finds out by its own calls.
        let sent = socket.write_all(first).and_then(|()| socket.write_all(second));
        let sent = sent.and_then(|()| socket.write_beside(&self.beside));
        let beside = self.beside.bytes.len();
        shared.tcp.count(Count::BesideBytes, beside as u64);
        let lost = first.len() + second.len() + beside > 0 && sent.is_err() && reason.is_none();
        shared.tcp.return_rings(self.send_ring, self.receive_ring);
        if lost { sent } else { Ok(()) }
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
    ) -> io::Result<()> {
        let keeper = self.send_ring.switch();
        let socket = socket.with_keeper(keeper.as_ref());
        let restored = self.write_connection(shared, socket, readiness, reason);
        restored.inspect_err(|_| drop(socket.end_repair()))
    }

    fn write_connection(
        &mut self,
        shared: &SharedState,
        socket: KernelSocket<'_>,
        readiness: &Readiness,
        reason: Option<Reason>,
    ) -> io::Result<()> {
        self.settle(shared, socket, readiness, reason)?;
        let acknowledged = self.connection.send_unacknowledged().wrapping_sub(1);
        let pushed = self.connection.unread_length();
        while socket.make_room()? {
            std::thread::sleep(StdDuration::from_micros(500));
        }
        let _port = match self.is_bound {
            true => socket.start_repair().map(|()| None)?,
            false => socket.start_restoring()?,
        };
        // The dissolution discards them.
        self.beside.extend(socket.beside()?);
        self.reconnect(socket, acknowledged)?;
        // For the timer of what is in flight. That of the filler ends at once.
        let has_timer = self.connection.in_flight() > 0;
        let timeout_max = if has_timer { socket.timeout_max().ok() } else { None };
        if timeout_max.is_some() {
            socket.set_timeout_max(TIMEOUT_MAX_MS)?;
        }
        self.write_queues(socket)?;
        if let Some(timeout_max) = timeout_max {
            socket.set_timeout_max(timeout_max)?;
        }
        // New bytes arrived meanwhile. From the end of this step on, nothing more is processed.
        self.receive_all(shared)?;
        self.write_unread(socket, pushed)?;
        self.write_state(socket)?;
        if let Ring::Kept(kept) = &self.send_ring {
            kept.end(&self.connection.numbers());
        }
        if self.reuse != 0 {
            // The end of repair mode has cleared it.
            socket.set_reuse_address(self.reuse)?;
        }
        socket.set_segment_size(0)?;
        if self.keepalive != 0 {
            socket.set_keepalive(self.keepalive)?;
        }
        Ok(())
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

    /// Dissolves the kernel's connection in repair mode, and establishes it again with the numbers
    /// of the engine.
    fn reconnect(&self, socket: KernelSocket<'_>, acknowledged: u32) -> io::Result<()> {
        socket.disconnect()?;
        // ECONNABORTED, reported once.
        socket.take_error()?;
        if !self.is_bound {
            socket.bind(self.local)?;
        }
        let snapshot = self.connection.snapshot(now());
        socket.select(Queue::Send)?;
        socket.set_sequence(acknowledged)?;
        socket.select(Queue::Receive)?;
        let unread = self.connection.unread_length() as u32;
        socket.set_sequence(snapshot.receive_next.wrapping_sub(unread))?;
        socket.set_segment_size(self.segment_size)?;
        socket.connect(self.remote)
    }

    /// Writes the bytes that are sent and unacknowledged, those that are unread, and the options.
    fn write_queues(&mut self, socket: KernelSocket<'_>) -> io::Result<()> {
        let rings = Rings { send: &mut self.send_ring, receive: &mut self.receive_ring };
        socket.select(Queue::Send)?;
        socket.write_all(&[FILLER])?;
        for part in self.connection.unacknowledged(&rings) {
            socket.write_all(part)?;
        }
        socket.select(Queue::Receive)?;
        for part in self.connection.unread(&rings) {
            socket.write_all(part)?;
        }
        let snapshot = self.connection.snapshot(now());
        let scales = (snapshot.send_scale, snapshot.receive_scale);
        let has_timestamps = snapshot.timestamps.is_some();
        socket.set_options(self.segment_size, scales, snapshot.selective, has_timestamps)
    }

    /// Writes the unread bytes beyond those that were written before.
    fn write_unread(&mut self, socket: KernelSocket<'_>, before: usize) -> io::Result<()> {
        let rings = Rings { send: &mut self.send_ring, receive: &mut self.receive_ring };
        let [first, second] = self.connection.unread(&rings);
        let skipped = before.min(first.len());
        socket.write_all(&first[skipped..])?;
        socket.write_all(&second[before - skipped..])
    }

    /// Writes windows and clock, and ends repair mode.
    fn write_state(&mut self, socket: KernelSocket<'_>) -> io::Result<()> {
        let snapshot = self.connection.snapshot(now());
        let next = snapshot.receive_next;
        let is_later = snapshot.send_window_update.wrapping_sub(next) as i32 > 0;
        socket.set_window(RepairWindow {
            send_window_update: if is_later { next } else { snapshot.send_window_update },
            send_window: snapshot.send_window,
            send_window_max: snapshot.send_window_max,
            receive_window: snapshot.receive_window,
            receive_window_update: next,
        })?;
        if let Some(timestamps) = snapshot.timestamps {
            // An odd value would mean a clock of microseconds.
            let value = timestamps.value.wrapping_add(timestamps.value & 1);
            socket.set_timestamp(value)?;
        }
        socket.end_repair()
    }

    /// Sends an acknowledgment of everything received.
    fn transmit_acknowledgment(&mut self, shared: &SharedState) -> io::Result<()> {
        let mut frame = [0; 128];
        let length = self.connection.write_acknowledgment(now(), &self.header, &mut frame);
        self.transmit_frame(shared, &frame[..length])
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
        let (mut frame, next) = ([0; 128], self.connection.snapshot(now()).send_next);
        let (connection, header, flags) = (&self.connection, &self.header, TcpFlags::RST);
        let length = connection.write_from_peer(now(), header, flags, next, [&[], &[]], &mut frame);
        let _ = self.transmit_frame(shared, &frame[..length]);
        self.inject(shared, TcpFlags::ACK | TcpFlags::RST, self.kernel_next, [&[], &[]]);
        shared.tcp.retire(shared, &self.entry, self.flow);
        self.release_kept(shared);
        shared.tcp.return_rings(self.send_ring, self.receive_ring);
    }

    /// Presents a segment to the kernel as if the peer had sent it.
    fn inject(&self, shared: &SharedState, flags: TcpFlags, sequence: u32, bytes: [&[u8]; 2]) {
        let mut frame = [0; 256 + CHUNK];
        let (connection, header) = (&self.connection, &self.from_peer);
        let length = connection.write_from_peer(now(), header, flags, sequence, bytes, &mut frame);
        if let Some(packet) = frame.get_mut(EthernetHeader::SIZE..length) {
            shared.tcp.inject(packet);
        }
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
            _ if self.connection.is_at_end() => TcpFlags::ACK | TcpFlags::FIN,
            Some(Reason::Reset) => TcpFlags::ACK | TcpFlags::RST,
            _ => return,
        };
        self.inject(shared, flags, self.connection.receive_next(), [&[], &[]]);
    }
}
