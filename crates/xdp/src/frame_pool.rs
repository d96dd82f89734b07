//! The pool of free frames.

use crate::frame::{Frame, UmemId};

/// The free frames of one UMEM, used last in, first out: the last frame released is the most likely
/// to be cached. All memory is allocated at creation.
///
/// Frames that were sent are kept apart and preferred for sending: a frame that was received is in
/// the cache of the core that wrote it, which a write has to wait for.
#[derive(Debug)]
pub struct FramePool {
    /// Offsets of the free frames in the UMEM.
    free: Vec<u32>,
    sent: Vec<u32>,
    umem: UmemId,
}

impl FramePool {
    /// Creates a pool of all frames of a UMEM, the first on top.
    pub(crate) fn new(umem: UmemId, frames: u32, frame_size: u32) -> Self {
        let address = |index| index * frame_size;
        let free = (0..frames).rev().map(address).collect();
        Self { free, sent: Vec::with_capacity(frames as usize), umem }
    }

    /// Takes a free frame; `None` if the pool is empty. Its content is unspecified.
    #[inline]
    pub fn take(&mut self) -> Option<Frame> {
        let address = self.free.pop().or_else(|| self.sent.pop())?;
        Some(Frame::new(address, self.umem))
    }

    /// Like [`take`](Self::take), for a frame to send.
    #[inline]
    pub fn take_to_send(&mut self) -> Option<Frame> {
        let address = self.sent.pop().or_else(|| self.free.pop())?;
        Some(Frame::new(address, self.umem))
    }

    /// Returns a frame to the pool.
    ///
    /// # Panics
    /// If the frame belongs to another UMEM.
    #[inline]
    pub fn release(&mut self, frame: Frame) {
        self.check(&frame);
        self.free.push(frame.offset_in_umem());
    }

    /// Like [`release`](Self::release), for a frame that was written to be sent.
    #[inline]
    pub fn release_sent(&mut self, frame: Frame) {
        self.check(&frame);
        self.sent.push(frame.offset_in_umem());
    }

    #[inline]
    fn check(&self, frame: &Frame) {
        frame.check(self.umem);
        // Each frame exists once, so the pool never exceeds its initial capacity.
        assert!(self.len() < self.sent.capacity(), "more frames released than the UMEM has");
    }

    /// Returns the number of free frames.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.free.len() + self.sent.len()
    }

    /// Returns `true` if no frame is free.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_unique_and_reused_last_in_first_out() {
        let mut pool = FramePool::new(UmemId::next(), 3, 2_048);
        let frames: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        let addresses: Vec<_> = frames.iter().map(|frame| frame.address().0).collect();
        assert_eq!(addresses, [0, 2_048, 4_096]);
        assert!(pool.is_empty());
        for frame in frames {
            pool.release(frame);
        }
        assert_eq!(pool.take().map(|frame| frame.address().0), Some(4_096));
        assert_eq!(pool.len(), 2);
    }

    #[test]
    fn sent_frames_are_sent_again_and_received_ones_receive_again() {
        let mut pool = FramePool::new(UmemId::next(), 3, 2_048);
        let [received, sent] = [(); 2].map(|()| pool.take().unwrap());
        let addresses = [received.address().0, sent.address().0];
        pool.release_sent(sent);
        pool.release(received);
        let taken = [pool.take().unwrap(), pool.take_to_send().unwrap()];
        assert_eq!(taken.map(|frame| frame.address().0), addresses);
        assert_eq!(pool.take_to_send().map(|frame| frame.address().0), Some(4_096));
        assert!(pool.is_empty());
    }

    #[test]
    #[should_panic(expected = "another UMEM")]
    fn release_rejects_a_frame_of_another_umem() {
        let frame = FramePool::new(UmemId::next(), 1, 2_048).take().unwrap();
        let mut pool = FramePool::new(UmemId::next(), 1, 2_048);
        let _ours = pool.take();
        pool.release(frame);
    }
}
