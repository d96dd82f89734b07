//! The frames that a socket has in hand.

use hairpin_xdp::{Frame, Packet};

use crate::core::Core;
use crate::seat::Held;

/// Datagrams taken under one lock.
pub(super) const BATCH: usize = 32;

/// What lies between the stack and a socket's caller, in both directions.
#[derive(Debug)]
pub(super) struct Frames {
    /// Under way to the caller, the oldest first.
    pub(super) taken: Vec<Held>,
    /// How many of those the caller has been shown, whose frames go back.
    pub(super) shown: usize,
    /// The frame that the next datagram is written to.
    pub(super) spare: Option<Packet>,
    /// Whether there is none since something was sent. Who receives next sees to another: after
    /// the datagram has left, and not before.
    pub(super) wants_spare: bool,
    /// Whether more was sent than once since something was received: then each send sees to the
    /// next one's frame.
    pub(super) is_bursting: bool,
    /// Bytes of the longest frame.
    longest: u32,
}

impl Frames {
    pub(super) fn new(longest: u32) -> Self {
        Self {
            taken: Vec::with_capacity(BATCH),
            shown: 0,
            spare: None,
            wants_spare: false,
            is_bursting: false,
            longest,
        }
    }

    /// Whether there is nothing to show, nothing to give back, and nothing to see to.
    #[inline]
    pub(super) fn are_settled(&self) -> bool {
        self.taken.is_empty() && !self.wants_spare
    }

    /// Gives back the frames of what the caller has been shown; one of them is the next spare, if
    /// one is wanted: it is in the caches.
    #[inline]
    pub(super) fn settle(&mut self, core: &mut Core) {
        self.is_bursting = false;
        let shown = std::mem::take(&mut self.shown);
        if shown < self.taken.len() {
            // The caller has panicked at one, and comes for the others.
            self.taken
                .drain(..shown)
                .for_each(|held| core.interface.give(held.packet.into_frame()));
        } else {
            while let Some(held) = self.taken.pop() {
                self.reuse(core, held.packet.into_frame());
            }
        }
        if self.wants_spare {
            self.find_spare(core);
            // If none is free now, the next send looks, and not each look at the rings.
            self.wants_spare = false;
        }
    }

    #[inline]
    fn reuse(&mut self, core: &mut Core, frame: Frame) {
        if !std::mem::take(&mut self.wants_spare) {
            return core.interface.give(frame);
        }
        match core.interface.umem().packet(frame, self.longest) {
            Ok(packet) => self.spare = Some(packet),
            Err(frame) => core.interface.give(frame),
        }
    }

    /// Takes a spare out of the pool, if a frame is free; there is none yet.
    pub(super) fn find_spare(&mut self, core: &mut Core) {
        self.spare = core.interface.packet(self.longest);
        self.wants_spare = self.spare.is_none();
    }

    /// Gives all of them back.
    pub(super) fn give_back(&mut self, core: &mut Core) {
        let packets = self.taken.drain(..).map(|held| held.packet).chain(self.spare.take());
        packets.for_each(|packet| core.interface.give(packet.into_frame()));
        self.shown = 0;
    }
}
