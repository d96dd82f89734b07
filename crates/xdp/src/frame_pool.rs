//! The frames that nobody uses.

use crate::frame::{Frame, UmemId};

/// Free frames of one UMEM, the last given back first: it is the likeliest to be in the cache. All
/// of its memory is there from the start.
#[derive(Debug)]
pub struct FramePool {
    /// Where each begins.
    free: Vec<u32>,
    umem: UmemId,
}

impl FramePool {
    /// All frames of a UMEM, the first on top.
    pub(crate) fn full(umem: UmemId, frames: u32, frame_size: u32) -> Self {
        let address = |index| index * frame_size;
        Self { free: (0..frames).rev().map(address).collect(), umem }
    }

    /// A free frame, if there is one; it holds anything.
    #[inline]
    pub fn take(&mut self) -> Option<Frame> {
        let address = self.free.pop()?;
        Some(Frame::new(address, self.umem))
    }

    /// Puts a frame back.
    ///
    /// # Panics
    /// If the frame is of another UMEM.
    #[inline]
    pub fn give(&mut self, frame: Frame) {
        frame.check(self.umem);
        // There are no more frames than there was room for: each exists once.
        assert!(self.free.len() < self.free.capacity(), "more frames than there are");
        self.free.push(frame.start());
    }

    /// How many frames are free.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.free.len()
    }

    /// Whether none is.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.free.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frame_is_there_once_and_the_last_given_is_taken_first() {
        let mut pool = FramePool::full(UmemId::next(), 3, 2_048);
        let frames: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        let addresses: Vec<_> = frames.iter().map(|frame| frame.address().0).collect();
        assert_eq!(addresses, [0, 2_048, 4_096]);
        assert!(pool.is_empty());
        for frame in frames {
            pool.give(frame);
        }
        assert_eq!(pool.take().map(|frame| frame.address().0), Some(4_096));
        assert_eq!(pool.len(), 2);
    }

    #[test]
    #[should_panic(expected = "another UMEM")]
    fn takes_no_frame_of_another() {
        let frame = FramePool::full(UmemId::next(), 1, 2_048).take().unwrap();
        let mut pool = FramePool::full(UmemId::next(), 1, 2_048);
        let _ours = pool.take();
        pool.give(frame);
    }
}
