//! A frame's memory as a right that can be handed on, and the packet in it.

/// Where a frame's memory begins, in bytes from the beginning of the UMEM: what the kernel's rings
/// and other processes know it by. A number only, and no right to the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameAddress(pub u64);

/// The memory of one frame. There is one of these for each, and whoever has it owns the memory; a
/// frame that is dropped is lost until its UMEM is gone.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a frame that is dropped is lost to its pool"]
pub struct Frame {
    pub(crate) address: FrameAddress,
    pub(crate) umem: u32,
}

impl Frame {
    /// Where its memory begins.
    #[must_use]
    pub fn address(&self) -> FrameAddress {
        self.address
    }
}

/// A frame and which of its bytes count: a frame received, or one to be transmitted, from the
/// Ethernet header on and without a checksum behind. [`Umem::bytes`](crate::Umem::bytes) shows it.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a packet that is dropped is lost to its pool"]
pub struct Packet {
    frame: Frame,
    offset: u32,
    length: u32,
    wants_stamp: bool,
}

impl Packet {
    /// The caller has seen to it that the bytes lie inside the frame.
    #[inline]
    pub(crate) fn new(frame: Frame, offset: u32, length: u32) -> Self {
        Self { frame, offset, length, wants_stamp: false }
    }

    /// How many bytes count.
    #[inline]
    #[must_use]
    pub fn length(&self) -> u32 {
        self.length
    }

    /// How many bytes of the frame lie before those that count.
    #[inline]
    #[must_use]
    pub fn offset(&self) -> u32 {
        self.offset
    }

    /// The frame that it lies in.
    #[inline]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The frame, to be used for something else.
    #[inline]
    pub fn into_frame(self) -> Frame {
        self.frame
    }

    /// Leaves the first `bytes` out, as of a header that has been read.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn shrink_front(&mut self, bytes: u32) {
        assert!(bytes <= self.length, "{bytes} of {} bytes", self.length);
        self.offset += bytes;
        self.length -= bytes;
    }

    /// Takes `bytes` more in front, as for a header; they hold anything.
    ///
    /// # Panics
    /// If there are not so many before it.
    #[inline]
    pub fn grow_front(&mut self, bytes: u32) {
        assert!(bytes <= self.offset, "{bytes} before offset {}", self.offset);
        self.offset -= bytes;
        self.length += bytes;
    }

    /// Leaves out all but the first `length` bytes.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    pub fn truncate(&mut self, length: u32) {
        assert!(length <= self.length, "{length} of {} bytes", self.length);
        self.length = length;
    }

    /// Asks for the time at which this leaves. It is told when the frame comes back, if the UMEM
    /// was made for that ([`UmemSettings::transmit_stamps`](crate::UmemSettings::transmit_stamps)).
    #[inline]
    pub fn request_stamp(&mut self) {
        self.wants_stamp = true;
    }

    #[inline]
    pub(crate) fn wants_stamp(&self) -> bool {
        self.wants_stamp
    }

    /// In bytes from the beginning of the UMEM.
    #[inline]
    pub(crate) fn address(&self) -> u64 {
        self.frame.address.0 + u64::from(self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet() -> Packet {
        Packet::new(Frame { address: FrameAddress(4_096), umem: 0 }, 256, 60)
    }

    #[test]
    fn headers_come_off_and_go_on_in_front() {
        let mut packet = packet();
        packet.shrink_front(14);
        assert_eq!((packet.offset(), packet.length(), packet.address()), (270, 46, 4_366));
        packet.grow_front(18);
        packet.truncate(20);
        assert_eq!((packet.offset(), packet.length(), packet.address()), (252, 20, 4_348));
    }

    #[test]
    #[should_panic(expected = "61 of 60 bytes")]
    fn no_more_comes_off_than_is_there() {
        packet().shrink_front(61);
    }

    #[test]
    #[should_panic(expected = "257 before offset 256")]
    fn no_header_reaches_into_the_frame_before() {
        packet().grow_front(257);
    }

    #[test]
    #[should_panic(expected = "61 of 60 bytes")]
    fn a_packet_does_not_grow_behind() {
        packet().truncate(61);
    }
}
