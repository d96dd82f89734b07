//! The frames that a socket holds.

use hairpin_xdp::{Frame, Packet};

use crate::data_plane::DataPlane;
use crate::receive_queue::QueuedDatagram;

/// The most datagrams received under one lock.
pub(super) const BATCH: usize = 32;

/// The frames between the stack and the socket's caller, in both directions.
#[derive(Debug)]
pub(crate) struct SocketFrames {
    /// Received datagrams not yet recycled, oldest first.
    pub(super) received: Vec<QueuedDatagram>,
    /// The number of those already delivered; their frames can be recycled.
    pub(super) delivered: usize,
    /// The frame for the next datagram to send.
    pub(super) tx_frame: Option<Packet>,
    /// `true` if `tx_frame` was used by a send. The next receive replaces it, so that the
    /// allocation comes after the send.
    pub(super) needs_tx_frame: bool,
    /// `true` after two sends without a receive in between; each send then allocates the frame of
    /// the next.
    pub(super) bursting: bool,
    /// The longest frame in bytes.
    max_length: u32,
}

impl SocketFrames {
    pub(super) fn new(max_length: u32) -> Self {
        Self {
            received: Vec::with_capacity(BATCH),
            delivered: 0,
            tx_frame: None,
            needs_tx_frame: false,
            bursting: false,
            max_length,
        }
    }

    /// Returns `true` if there is nothing to deliver, recycle or allocate.
    #[inline]
    pub(super) fn are_idle(&self) -> bool {
        self.received.is_empty() && !self.needs_tx_frame
    }

    /// Recycles the frames of delivered datagrams. One of them becomes the next `tx_frame` if
    /// needed, because it is in the caches.
    #[inline]
    pub(super) fn recycle(&mut self, data_plane: &mut DataPlane) {
        self.bursting = false;
        let delivered = std::mem::take(&mut self.delivered);
        if delivered < self.received.len() {
            // The caller panicked in a callback and now receives the others.
            self.received
                .drain(..delivered)
                .for_each(|datagram| data_plane.interface.release(datagram.packet.into_frame()));
        } else {
            while let Some(datagram) = self.received.pop() {
                self.recycle_one(data_plane, datagram.packet.into_frame());
            }
        }
        if self.needs_tx_frame {
            self.allocate_tx_frame(data_plane);
            // If no frame is free now, the next send retries, not each poll.
            self.needs_tx_frame = false;
        }
    }

    #[inline]
    fn recycle_one(&mut self, data_plane: &mut DataPlane, frame: Frame) {
        if !std::mem::take(&mut self.needs_tx_frame) {
            return data_plane.interface.release(frame);
        }
        match data_plane.interface.umem().packet(frame, self.max_length) {
            Ok(packet) => self.tx_frame = Some(packet),
            Err(frame) => data_plane.interface.release(frame),
        }
    }

    /// Allocates the next `tx_frame` from the pool, if a frame is free.
    pub(super) fn allocate_tx_frame(&mut self, data_plane: &mut DataPlane) {
        self.tx_frame = data_plane.interface.packet(self.max_length);
        self.needs_tx_frame = self.tx_frame.is_none();
    }

    /// Releases all frames.
    pub(super) fn release_all(&mut self, data_plane: &mut DataPlane) {
        let packets =
            self.received.drain(..).map(|datagram| datagram.packet).chain(self.tx_frame.take());
        packets.for_each(|packet| data_plane.interface.release(packet.into_frame()));
        self.delivered = 0;
    }
}
