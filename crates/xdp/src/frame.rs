//! A frame's memory as a right that can be handed on, and the packet in it.

use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where a frame's memory begins, in bytes from the beginning of the UMEM: what the kernel's rings
/// and other processes know it by. A number only, and no right to the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameAddress(pub u64);

/// The memory of one frame. There is one of these for each, and whoever has it owns the memory; a
/// frame that is dropped is lost until its UMEM is gone.
#[derive(PartialEq, Eq)]
#[must_use = "a frame that is dropped is lost to its pool"]
pub struct Frame {
    /// Where it begins, in the lower half: a UMEM has no more bytes than that reaches. In the upper
    /// half the UMEM.
    key: NonZeroU64,
}

impl Frame {
    /// The caller has seen to it that there is such a frame, and that this is the only one.
    #[inline(always)]
    pub(crate) fn new(address: u32, umem: UmemId) -> Self {
        Self { key: umem.0 | u64::from(address) }
    }

    /// Where its memory begins.
    #[inline]
    #[must_use]
    pub fn address(&self) -> FrameAddress {
        FrameAddress(u64::from(self.start()))
    }

    /// The same, as it is kept.
    #[inline(always)]
    pub(crate) fn start(&self) -> u32 {
        self.key.get() as u32
    }

    /// Whether it is of this UMEM.
    #[inline(always)]
    pub(crate) fn is_of(&self, umem: UmemId) -> bool {
        (self.key.get() ^ umem.0.get()) >> 32 == 0
    }

    /// # Panics
    /// If it is of another UMEM.
    #[inline(always)]
    pub(crate) fn check(&self, umem: UmemId) {
        assert!(self.is_of(umem), "a frame of another UMEM");
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Frame").field(&self.start()).finish()
    }
}

/// Tells frames of one UMEM from those of another: the upper half of a word, and never nought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UmemId(NonZeroU64);

impl UmemId {
    /// One that no other UMEM of this process has.
    ///
    /// # Panics
    /// If there have been 4,294,967,294.
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let next = NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |id| id.checked_add(1));
        let id = u64::from(next.expect("fewer UMEMs than numbers"));
        Self(NonZeroU64::new(id << 32).expect("they begin with 1"))
    }
}

/// A frame and which of its bytes count: a frame received, or one to be transmitted, from the
/// Ethernet header on and without a checksum behind. [`Umem::bytes`](crate::Umem::bytes) shows it.
///
/// It is two words, so that it is handed on in registers, also where there may be none.
#[derive(PartialEq, Eq)]
#[must_use = "a packet that is dropped is lost to its pool"]
pub struct Packet {
    frame: Frame,
    /// ```text
    /// bits 0..16    how many bytes of the frame lie before those that count
    /// bits 16..32   how many count
    /// bit 32        whether the time is asked for at which it leaves
    /// ```
    span: u64,
}

const LENGTH: u32 = 16;
const STAMP: u64 = 1 << 32;

impl Packet {
    /// The caller has seen to it that the bytes lie inside the frame, which is no longer than a
    /// page.
    #[inline(always)]
    pub(crate) fn new(frame: Frame, offset: u32, length: u32) -> Self {
        Self { frame, span: u64::from(offset) | u64::from(length) << LENGTH }
    }

    /// How many bytes count.
    #[inline]
    #[must_use]
    pub fn length(&self) -> u32 {
        u32::from((self.span >> LENGTH) as u16)
    }

    /// How many bytes of the frame lie before those that count.
    #[inline]
    #[must_use]
    pub fn offset(&self) -> u32 {
        u32::from(self.span as u16)
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
        assert!(bytes <= self.length(), "{bytes} of {} bytes", self.length());
        self.span = self.span + u64::from(bytes) - (u64::from(bytes) << LENGTH);
    }

    /// Takes `bytes` more in front, as for a header; they hold anything.
    ///
    /// # Panics
    /// If there are not so many before it.
    #[inline]
    pub fn grow_front(&mut self, bytes: u32) {
        assert!(bytes <= self.offset(), "{bytes} before offset {}", self.offset());
        self.span = self.span - u64::from(bytes) + (u64::from(bytes) << LENGTH);
    }

    /// Leaves out all but the first `length` bytes.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    pub fn truncate(&mut self, length: u32) {
        assert!(length <= self.length(), "{length} of {} bytes", self.length());
        self.span -= u64::from(self.length() - length) << LENGTH;
    }

    /// Asks for the time at which this leaves. It is told when the frame comes back, if the UMEM
    /// was made for that ([`UmemSettings::transmit_stamps`](crate::UmemSettings::transmit_stamps)).
    #[inline]
    pub fn request_stamp(&mut self) {
        self.span |= STAMP;
    }

    #[inline]
    pub(crate) fn wants_stamp(&self) -> bool {
        self.span & STAMP != 0
    }

    /// In bytes from the beginning of the UMEM.
    #[inline]
    pub(crate) fn address(&self) -> u64 {
        u64::from(self.frame.start()) + u64::from(self.offset())
    }
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packet")
            .field("frame", &self.frame)
            .field("offset", &self.offset())
            .field("length", &self.length())
            .field("wants_stamp", &self.wants_stamp())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet() -> Packet {
        Packet::new(Frame::new(4_096, UmemId::next()), 256, 60)
    }

    #[test]
    fn a_packet_or_none_is_two_words() {
        assert_eq!([size_of::<Packet>(), size_of::<Option<Packet>>()], [16, 16]);
    }

    #[test]
    fn each_number_stands_in_its_own_bits() {
        let umem = UmemId::next();
        let mut packet = Packet::new(Frame::new(u32::MAX - 4_095, umem), 0, 4_096);
        packet.request_stamp();
        packet.shrink_front(4_096);
        assert_eq!((packet.offset(), packet.length(), packet.wants_stamp()), (4_096, 0, true));
        packet.grow_front(4_096);
        packet.truncate(0);
        assert_eq!((packet.offset(), packet.length(), packet.wants_stamp()), (0, 0, true));
        assert_eq!(packet.address(), u64::from(u32::MAX) - 4_095);
        assert!(packet.frame().is_of(umem) && !packet.frame().is_of(UmemId::next()));
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
