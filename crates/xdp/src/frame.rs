//! Frames (units of UMEM memory) and packets (the valid bytes of a frame).

use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU32, Ordering};

/// The offset of a frame from the start of the UMEM, in bytes.
///
/// The kernel's rings and other processes identify a frame by this number. It grants no access to
/// the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameAddress(pub u64);

/// Exclusive ownership of one frame's memory.
///
/// Exactly one `Frame` exists per frame of a UMEM. A dropped `Frame` leaks its memory until the
/// UMEM is unmapped.
#[derive(PartialEq, Eq)]
#[must_use = "a frame that is dropped is lost to its pool"]
pub struct Frame {
    /// The offset in the UMEM in the lower 32 bits, the [`UmemId`] in the upper 32. A UMEM is at
    /// most 4 GiB, so 32 bits are enough.
    key: NonZeroU64,
}

impl Frame {
    /// Creates the owner of a frame. The caller guarantees that the frame exists and that this is
    /// its only owner.
    #[inline(always)]
    pub(crate) fn new(address: u32, umem: UmemId) -> Self {
        Self { key: umem.0 | u64::from(address) }
    }

    /// Returns the frame's offset in the UMEM.
    #[inline]
    #[must_use]
    pub fn address(&self) -> FrameAddress {
        FrameAddress(u64::from(self.offset_in_umem()))
    }

    /// Returns the frame's offset in the UMEM as the stored 32-bit number.
    #[inline(always)]
    pub(crate) fn offset_in_umem(&self) -> u32 {
        self.key.get() as u32
    }

    /// Returns `true` if the frame belongs to this UMEM.
    #[inline(always)]
    pub(crate) fn belongs_to(&self, umem: UmemId) -> bool {
        (self.key.get() ^ umem.0.get()) >> 32 == 0
    }

    /// Checks that the frame belongs to this UMEM.
    ///
    /// # Panics
    /// If the frame belongs to another UMEM.
    #[inline(always)]
    pub(crate) fn check(&self, umem: UmemId) {
        assert!(self.belongs_to(umem), "the frame belongs to another UMEM");
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Frame").field(&self.offset_in_umem()).finish()
    }
}

/// The identity of a UMEM within this process: a nonzero number in the upper 32 bits of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UmemId(NonZeroU64);

impl UmemId {
    /// Returns an identity that no other UMEM of this process has.
    ///
    /// # Panics
    /// After 4,294,967,294 UMEMs.
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let next = NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |id| id.checked_add(1));
        let id = u64::from(next.expect("fewer than 2^32 UMEMs per process"));
        Self(NonZeroU64::new(id << 32).expect("identifiers start at 1"))
    }
}

/// A frame and the range of its valid bytes: a received frame or one to transmit.
///
/// The bytes start at the Ethernet header and contain no frame check sequence.
/// [`Umem::bytes`](crate::Umem::bytes) returns them.
///
/// A packet is two words, so `Packet` and `Option<Packet>` are passed in registers.
#[derive(PartialEq, Eq)]
#[must_use = "a packet that is dropped is lost to its pool"]
pub struct Packet {
    frame: Frame,
    /// ```text
    /// bits 0..16    offset of the first valid byte in the frame
    /// bits 16..32   number of valid bytes
    /// bit 32        transmit timestamp requested
    /// bit 33        the received frame continues in the next packet
    /// bit 34        continues the frame of the packet before
    /// ```
    span: u64,
}

const LENGTH_SHIFT: u32 = 16;
const STAMP_REQUESTED: u64 = 1 << 32;
const CONTINUES: u64 = 1 << 33;
const CONTINUED: u64 = 1 << 34;

impl Packet {
    /// Creates a packet. The caller guarantees that the range lies inside the frame, which is at
    /// most one page (4,096 bytes).
    #[inline(always)]
    pub(crate) fn new(frame: Frame, offset: u32, length: u32) -> Self {
        Self { frame, span: u64::from(offset) | u64::from(length) << LENGTH_SHIFT }
    }

    /// Returns the number of valid bytes.
    #[inline]
    #[must_use]
    pub fn length(&self) -> u32 {
        u32::from((self.span >> LENGTH_SHIFT) as u16)
    }

    /// Returns the offset of the first valid byte in the frame.
    #[inline]
    #[must_use]
    pub fn offset(&self) -> u32 {
        u32::from(self.span as u16)
    }

    /// Returns the frame that contains the packet.
    #[inline]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Discards the packet and returns its frame for reuse.
    #[inline]
    pub fn into_frame(self) -> Frame {
        self.frame
    }

    /// Removes the first `bytes` bytes, for example a parsed header (`skb_pull` in the kernel).
    ///
    /// # Panics
    /// If the packet is shorter.
    #[inline]
    pub fn shrink_front(&mut self, bytes: u32) {
        assert!(
            bytes <= self.length(),
            "cannot remove {bytes} bytes: the packet has {}",
            self.length()
        );
        self.span = self.span + u64::from(bytes) - (u64::from(bytes) << LENGTH_SHIFT);
    }

    /// Extends the packet by `bytes` bytes at the front, for example for a header (`skb_push` in
    /// the kernel). Their content is unspecified.
    ///
    /// # Panics
    /// If fewer bytes precede the packet in its frame.
    #[inline]
    pub fn grow_front(&mut self, bytes: u32) {
        assert!(
            bytes <= self.offset(),
            "cannot prepend {bytes} bytes: the packet starts at offset {}",
            self.offset()
        );
        self.span = self.span - u64::from(bytes) + (u64::from(bytes) << LENGTH_SHIFT);
    }

    /// Shortens the packet to its first `length` bytes.
    ///
    /// # Panics
    /// If the packet is shorter.
    #[inline]
    pub fn truncate(&mut self, length: u32) {
        assert!(
            length <= self.length(),
            "cannot truncate to {length} bytes: the packet has {}",
            self.length()
        );
        self.span -= u64::from(self.length() - length) << LENGTH_SHIFT;
    }

    /// Requests a transmit timestamp. It is reported with the completion if the UMEM was created
    /// with [`UmemSettings::transmit_stamps`](crate::UmemSettings::transmit_stamps).
    #[inline]
    pub fn request_stamp(&mut self) {
        self.span |= STAMP_REQUESTED;
    }

    /// Marks a part of a received frame that was longer than a frame of the UMEM.
    #[cold]
    pub(crate) fn mark_part(&mut self, is_first: bool, is_last: bool) {
        self.span |= if is_first { 0 } else { CONTINUED } | if is_last { 0 } else { CONTINUES };
    }

    /// Returns `true` for a part of a longer frame
    /// ([`SocketSettings::long_frames`](crate::SocketSettings::long_frames)).
    #[inline]
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.span & (CONTINUES | CONTINUED) != 0
    }

    /// Returns `true` unless the packet continues the frame of the packet before it in its queue.
    #[inline]
    #[must_use]
    pub fn is_first_part(&self) -> bool {
        self.span & CONTINUED == 0
    }

    /// Returns `true` unless the next packet of its queue continues the frame.
    #[inline]
    #[must_use]
    pub fn is_last_part(&self) -> bool {
        self.span & CONTINUES == 0
    }

    /// Makes a part a frame of its own, which it is after headers were prepended.
    #[inline]
    pub fn make_whole(&mut self) {
        self.span &= !(CONTINUES | CONTINUED);
    }

    #[inline]
    pub(crate) fn stamp_requested(&self) -> bool {
        self.span & STAMP_REQUESTED != 0
    }

    /// Returns the offset of the first valid byte from the start of the UMEM.
    #[inline]
    pub(crate) fn address(&self) -> u64 {
        u64::from(self.frame.offset_in_umem()) + u64::from(self.offset())
    }
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packet")
            .field("frame", &self.frame)
            .field("offset", &self.offset())
            .field("length", &self.length())
            .field("wants_stamp", &self.stamp_requested())
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
    fn packet_and_optional_packet_are_two_words() {
        assert_eq!([size_of::<Packet>(), size_of::<Option<Packet>>()], [16, 16]);
    }

    #[test]
    fn span_fields_do_not_overlap() {
        let umem = UmemId::next();
        let mut packet = Packet::new(Frame::new(u32::MAX - 4_095, umem), 0, 4_096);
        packet.request_stamp();
        packet.shrink_front(4_096);
        assert_eq!((packet.offset(), packet.length(), packet.stamp_requested()), (4_096, 0, true));
        packet.grow_front(4_096);
        packet.truncate(0);
        assert_eq!((packet.offset(), packet.length(), packet.stamp_requested()), (0, 0, true));
        assert_eq!(packet.address(), u64::from(u32::MAX) - 4_095);
        assert!(packet.frame().belongs_to(umem) && !packet.frame().belongs_to(UmemId::next()));
    }

    #[test]
    fn headers_are_removed_and_prepended() {
        let mut packet = packet();
        packet.shrink_front(14);
        assert_eq!((packet.offset(), packet.length(), packet.address()), (270, 46, 4_366));
        packet.grow_front(18);
        packet.truncate(20);
        assert_eq!((packet.offset(), packet.length(), packet.address()), (252, 20, 4_348));
    }

    #[test]
    #[should_panic(expected = "cannot remove 61 bytes")]
    fn shrink_front_rejects_more_than_the_packet() {
        packet().shrink_front(61);
    }

    #[test]
    #[should_panic(expected = "cannot prepend 257 bytes")]
    fn grow_front_rejects_more_than_the_headroom() {
        packet().grow_front(257);
    }

    #[test]
    #[should_panic(expected = "cannot truncate to 61 bytes")]
    fn truncate_does_not_extend_a_packet() {
        packet().truncate(61);
    }
}
