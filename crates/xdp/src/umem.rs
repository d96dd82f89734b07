//! The UMEM: memory divided into frames, which the kernel reads and writes too.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use crate::device::ETHERNET_HEADER;
use crate::frame::{Frame, FrameAddress, Packet, UmemId};
use crate::frame_pool::FramePool;
use crate::mapping::{self, Mapping};

/// Bytes that the kernel keeps free before a received frame, for XDP programs that prepend headers:
/// `XDP_PACKET_HEADROOM` of linux/bpf.h.
pub const KERNEL_HEADROOM: u32 = 256;

/// The size of `struct xsk_tx_metadata`, which precedes a frame with a transmit timestamp.
pub const TRANSMIT_METADATA: u32 = 24;

/// The kind of memory behind a UMEM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Backing {
    /// Ordinary pages, private to this process.
    #[default]
    Anonymous,
    /// Huge pages of the kernel's default size (usually 2 MiB), private to this process. They must
    /// be reserved (`vm.nr_hugepages`); there is no fallback to ordinary pages.
    HugePages,
    /// A memory file of sealed size ([`Umem::file`]) that other processes can map ([`Umem::open`]).
    /// Every holder of the file can write all frames. A forked child inherits the file but not the
    /// mapping.
    Shared,
}

/// The configuration of a [`Umem`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UmemSettings {
    /// The number of frames, at least 1.
    pub frames: u32,
    /// Bytes per frame, including headroom: 2,048 or 4,096.
    pub frame_size: u32,
    /// Bytes kept free before a received frame, in addition to [`KERNEL_HEADROOM`].
    pub headroom: u32,
    /// The kind of memory.
    pub backing: Backing,
    /// Enables transmit timestamps ([`Packet::request_stamp`]). Each transmitted packet then starts
    /// at least [`TRANSMIT_METADATA`] bytes into its frame.
    pub transmit_stamps: bool,
}

impl Default for UmemSettings {
    /// Returns 2,048 frames of 2,048 bytes, 4 MiB: half of an ordinary user's default locked-memory
    /// limit.
    fn default() -> Self {
        let (frames, frame_size, headroom) = (2_048, 2_048, 0);
        Self { frames, frame_size, headroom, backing: Backing::Anonymous, transmit_stamps: false }
    }
}

/// The reason why a UMEM cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UmemError {
    /// The frame size is not supported. The kernel accepts powers of two from 2,048 bytes to one
    /// page.
    #[error("cannot use frames of {0} bytes: choose 2048 or 4096")]
    FrameSize(u32),
    /// The number of frames is zero, or the UMEM would exceed 32-bit offsets.
    #[error("cannot create a UMEM of {0} frames: choose 1 or more, of at most 4 GiB in all")]
    FrameCount(u32),
    /// The headroom leaves no space in a frame.
    #[error(
        "cannot use a headroom of {headroom} bytes: nothing is left of a frame of {frame_size}"
    )]
    Headroom {
        /// The requested headroom in bytes.
        headroom: u32,
        /// The frame size in bytes.
        frame_size: u32,
    },
    /// The kernel has too few huge pages.
    #[error("cannot map {bytes} bytes of huge pages: {reason} (raise vm.nr_hugepages)")]
    HugePages {
        /// The requested size in bytes.
        bytes: usize,
        /// The kernel's error.
        reason: io::Error,
    },
    /// The kernel cannot provide the memory.
    #[error("cannot map {bytes} bytes of frame memory: {reason}")]
    Memory {
        /// The requested size in bytes.
        bytes: usize,
        /// The kernel's error.
        reason: io::Error,
    },
    /// The file is not sealed, so it could shrink while mapped, or it has another size.
    #[error("cannot map the memory file: not sealed or not {0} bytes long")]
    NotSealed(u64),
}

/// Memory divided into frames of one size. A clone is another handle of the same memory.
///
/// The memory is accessed through a [`Frame`] or [`Packet`], of which exactly one exists per frame.
/// So bytes that the kernel or another owner writes are never borrowed.
#[derive(Debug, Clone)]
pub struct Umem {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    memory: Mapping,
    file: Option<File>,
    settings: UmemSettings,
    id: UmemId,
}

impl Umem {
    /// Creates the memory and a pool of all its frames. Nothing is registered with the kernel yet.
    ///
    /// # Errors
    /// Any [`UmemError`] except `NotSealed`.
    pub fn create(settings: &UmemSettings) -> Result<(Self, FramePool), UmemError> {
        let bytes = settings.check()?;
        let (memory, file) = match settings.backing {
            Backing::Anonymous => (Mapping::anonymous(bytes, false), None),
            Backing::HugePages => {
                let memory = Mapping::anonymous(round_up_to_huge_pages(bytes), true)
                    .map_err(|reason| UmemError::HugePages { bytes, reason })?;
                (Ok(memory), None)
            }
            Backing::Shared => {
                let file = mapping::sealed_file(c"hairpin-umem", bytes as u64)
                    .map_err(|reason| UmemError::Memory { bytes, reason })?;
                (Mapping::shared(file.as_fd(), bytes, 0), Some(file))
            }
        };
        let memory = memory.map_err(|reason| UmemError::Memory { bytes, reason })?;
        let umem = Self::from_mapping(memory, file, settings);
        let pool = umem.all_frames();
        Ok((umem, pool))
    }

    /// Maps the memory of another process, created with the same settings. This process owns no
    /// frame of it, and keeps no descriptor.
    ///
    /// # Errors
    /// `NotSealed`; errors of the settings; the kernel's.
    pub fn open(file: File, settings: &UmemSettings) -> Result<Self, UmemError> {
        let bytes = settings.check()?;
        let refused = |reason| UmemError::Memory { bytes, reason };
        let length = file.metadata().map_err(refused)?.len();
        if !mapping::is_sealed(&file) || length != bytes as u64 {
            return Err(UmemError::NotSealed(bytes as u64));
        }
        let memory = Mapping::shared(file.as_fd(), bytes, 0).map_err(refused)?;
        Ok(Self::from_mapping(memory, None, settings))
    }

    /// Returns a pool of all frames, of which this process must own every one.
    pub(crate) fn all_frames(&self) -> FramePool {
        FramePool::new(self.inner.id, self.settings().frames, self.settings().frame_size)
    }

    fn from_mapping(memory: Mapping, file: Option<File>, settings: &UmemSettings) -> Self {
        let (settings, id) = (settings.clone(), UmemId::next());
        Self { inner: Arc::new(Inner { memory, file, settings, id }) }
    }

    /// Returns the bytes of a packet.
    ///
    /// # Panics
    /// If the packet belongs to another UMEM.
    #[inline(always)]
    #[must_use]
    pub fn bytes<'a>(&'a self, packet: &'a Packet) -> &'a [u8] {
        let start = self.packet_ptr(packet);
        // SAFETY: a packet's bytes lie in its frame, and the frame in this memory, as `packet_ptr`
        // has checked. The packet is the only owner and stays borrowed as long as the slice, so
        // nothing writes the bytes.
        unsafe { std::slice::from_raw_parts(start, packet.length() as usize) }
    }

    /// Returns the bytes of a packet for writing.
    ///
    /// # Panics
    /// If the packet belongs to another UMEM.
    #[inline(always)]
    #[must_use]
    pub fn bytes_mut<'a>(&'a self, packet: &'a mut Packet) -> &'a mut [u8] {
        let start = self.packet_ptr(packet);
        // SAFETY: as in `bytes`; the packet is borrowed mutably, so no other slice exists.
        unsafe { std::slice::from_raw_parts_mut(start, packet.length() as usize) }
    }

    /// Returns the address of a packet's first byte.
    #[inline(always)]
    fn packet_ptr(&self, packet: &Packet) -> *mut u8 {
        packet.frame().check(self.inner.id);
        let start = packet.address() as usize;
        debug_assert!(start + packet.length() as usize <= self.inner.memory.len());
        // SAFETY: the packet belongs to this memory, and every constructor keeps it inside its
        // frame.
        unsafe { self.inner.memory.start().add(start) }
    }

    /// Returns the address `before` bytes in front of a packet; `None` if it lies outside the frame
    /// or is not 8-byte aligned.
    pub(crate) fn ptr_before(&self, packet: &Packet, before: u32) -> Option<*mut u8> {
        let start = self.packet_ptr(packet);
        if packet.offset() < before || !(packet.address() - u64::from(before)).is_multiple_of(8) {
            return None;
        }
        // SAFETY: the packet starts at least `before` bytes into its frame, so the address stays
        // inside the frame.
        Some(unsafe { start.sub(before as usize) })
    }

    /// Creates a packet of `length` bytes for transmission, at the start of its frame or after the
    /// transmit metadata ([`UmemSettings::transmit_stamps`]).
    ///
    /// # Errors
    /// The frame, if `length` bytes do not fit or the frame belongs to another UMEM.
    pub fn packet(&self, frame: Frame, length: u32) -> Result<Packet, Frame> {
        let offset = if self.settings().transmit_stamps { TRANSMIT_METADATA } else { 0 };
        if !frame.belongs_to(self.inner.id) || length > self.settings().frame_size - offset {
            return Err(frame);
        }
        Ok(Packet::new(frame, offset, length))
    }

    /// Creates a packet of `length` bytes at the offset of a received packet, so that headers can
    /// be prepended ([`Packet::grow_front`]).
    ///
    /// # Errors
    /// The frame, if `length` bytes do not fit or the frame belongs to another UMEM.
    pub fn packet_with_headroom(&self, frame: Frame, length: u32) -> Result<Packet, Frame> {
        if !frame.belongs_to(self.inner.id) || length > self.settings().longest_frame() {
            return Err(frame);
        }
        let offset = KERNEL_HEADROOM + self.settings().headroom;
        Ok(Packet::new(frame, offset, length))
    }

    /// Returns the packet of a descriptor that the kernel returned; `None` if it does not lie
    /// inside one frame, which a correct kernel never produces.
    ///
    /// # Safety
    /// The frame has no owner: it was lent to the kernel, which has returned it.
    #[inline(always)]
    pub(crate) unsafe fn packet_from_descriptor(
        &self,
        address: u64,
        length: u32,
    ) -> Option<Packet> {
        let size = u64::from(self.settings().frame_size);
        let base = address & !(size - 1);
        let offset = address - base;
        let fits = offset + u64::from(length) <= size;
        if !fits || base >= self.total_bytes() {
            return None;
        }
        Some(Packet::new(Frame::new(base as u32, self.inner.id), offset as u32, length))
    }

    /// Returns the memory file to share with other processes; `None` unless this process has
    /// created the memory as [`Backing::Shared`].
    #[must_use]
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.inner.file.as_ref().map(AsFd::as_fd)
    }

    /// Returns the settings that the memory was created with.
    #[inline]
    #[must_use]
    pub fn settings(&self) -> &UmemSettings {
        &self.inner.settings
    }

    /// Prefetches the first 192 bytes that a frame is received into. A cache line that was evicted
    /// to memory is written later than a cached one, by any core.
    #[inline]
    pub(crate) fn prefetch(&self, FrameAddress(address): FrameAddress) {
        let offset = u64::from(KERNEL_HEADROOM + self.settings().headroom);
        prefetch_lines(self.start().wrapping_add((address + offset) as usize));
    }

    /// Prefetches the first 192 bytes of a packet, which are written soon.
    ///
    /// # Panics
    /// If the packet belongs to another UMEM.
    #[inline]
    pub fn prefetch_packet(&self, packet: &Packet) {
        prefetch_lines(self.packet_ptr(packet));
    }

    #[inline]
    pub(crate) fn start(&self) -> *mut u8 {
        self.inner.memory.start()
    }

    /// Returns the size of all frames in bytes; the mapping may be longer.
    #[inline]
    pub(crate) fn total_bytes(&self) -> u64 {
        u64::from(self.settings().frames) * u64::from(self.settings().frame_size)
    }

    #[inline]
    pub(crate) fn id(&self) -> UmemId {
        self.inner.id
    }
}

impl UmemSettings {
    /// Returns the longest frame that can be received, in bytes from the Ethernet header on.
    #[must_use]
    pub fn longest_frame(&self) -> u32 {
        self.frame_size.saturating_sub(KERNEL_HEADROOM).saturating_sub(self.headroom)
    }

    /// Returns the settings with frames of 4,096 bytes, half as many, if frames of 2,048 bytes
    /// would be too short for the packets of an interface.
    pub(crate) fn for_mtu(&self, mtu: u32) -> Self {
        self.of_size(if mtu > self.max_mtu() { 4_096 } else { self.frame_size })
    }

    /// Returns the settings with frames of another size in as much memory.
    pub(crate) fn of_size(&self, frame_size: u32) -> Self {
        if frame_size <= self.frame_size {
            return self.clone();
        }
        let frames = self.frames.div_ceil(frame_size / self.frame_size.max(1));
        Self { frame_size, frames, ..self.clone() }
    }

    /// Returns the highest MTU whose packets fit one frame, in bytes.
    #[must_use]
    pub fn max_mtu(&self) -> u32 {
        self.longest_frame().saturating_sub(ETHERNET_HEADER)
    }

    /// Validates the settings and returns the size in bytes.
    fn check(&self) -> Result<usize, UmemError> {
        let Self { frames, frame_size, headroom, .. } = *self;
        if ![2_048, 4_096].contains(&frame_size) {
            return Err(UmemError::FrameSize(frame_size));
        }
        let bytes = u64::from(frames) * u64::from(frame_size);
        if frames == 0 || bytes > u64::from(u32::MAX) {
            return Err(UmemError::FrameCount(frames));
        }
        if self.longest_frame() == 0 {
            return Err(UmemError::Headroom { headroom, frame_size });
        }
        usize::try_from(bytes).map_err(|_| UmemError::FrameCount(frames))
    }
}

#[inline]
fn prefetch_lines(at: *const u8) {
    for line in [0, 64, 128] {
        prefetch(at.wrapping_add(line));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn prefetch(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 processor has the instruction; it reads nothing, and an invalid address
    // has no effect.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
}

/// Other architectures have no stable prefetch intrinsic.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn prefetch(_at: *const u8) {}

/// Rounds up to whole huge pages, the unit in which they are mapped.
fn round_up_to_huge_pages(bytes: usize) -> usize {
    bytes.next_multiple_of(2 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(backing: Backing) -> UmemSettings {
        UmemSettings { frames: 4, backing, ..UmemSettings::default() }
    }

    #[test]
    fn frames_do_not_overlap() {
        let (umem, mut pool) = Umem::create(&small(Backing::Anonymous)).unwrap();
        let frames: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        assert_eq!(frames.len(), 4);
        let mut packets: Vec<_> =
            frames.into_iter().map(|frame| umem.packet(frame, 2_048).unwrap()).collect();
        for (value, packet) in packets.iter_mut().enumerate() {
            umem.bytes_mut(packet).fill(value as u8);
        }
        for (value, packet) in packets.iter().enumerate() {
            assert!(umem.bytes(packet).iter().all(|&byte| byte == value as u8));
        }
    }

    #[test]
    fn invalid_settings_are_named() {
        let error = |settings: UmemSettings| Umem::create(&settings).unwrap_err().to_string();
        let all = UmemSettings::default;
        assert!(error(UmemSettings { frame_size: 1_024, ..all() }).contains("1024"));
        assert!(error(UmemSettings { frame_size: 3_000, ..all() }).contains("3000"));
        assert!(error(UmemSettings { frames: 0, ..all() }).contains("of 0 frames"));
        assert!(error(UmemSettings { frames: u32::MAX, ..all() }).contains("at most 4 GiB"));
        assert!(error(UmemSettings { headroom: 1_792, ..all() }).contains("headroom of 1792"));
    }

    #[test]
    fn packet_too_long_for_a_frame_returns_the_frame() {
        let (umem, mut pool) = Umem::create(&small(Backing::Anonymous)).unwrap();
        let frame = umem.packet(pool.take().unwrap(), 2_049).unwrap_err();
        let frame = umem.packet_with_headroom(frame, 1_793).unwrap_err();
        let packet = umem.packet_with_headroom(frame, 1_792).unwrap();
        assert_eq!((packet.offset(), packet.length()), (256, 1_792));
    }

    #[test]
    fn timestamped_packets_leave_room_for_metadata() {
        let settings = UmemSettings { transmit_stamps: true, ..small(Backing::Anonymous) };
        let (umem, mut pool) = Umem::create(&settings).unwrap();
        let packet = umem.packet(pool.take().unwrap(), 60).unwrap();
        assert_eq!(packet.offset(), TRANSMIT_METADATA);
        assert!(umem.ptr_before(&packet, TRANSMIT_METADATA).is_some());
        assert!(umem.ptr_before(&packet, TRANSMIT_METADATA + 8).is_none());
    }

    #[test]
    #[should_panic(expected = "another UMEM")]
    fn bytes_rejects_a_packet_of_another_umem() {
        let (first, mut pool) = Umem::create(&small(Backing::Anonymous)).unwrap();
        let (second, _) = Umem::create(&small(Backing::Anonymous)).unwrap();
        let packet = first.packet(pool.take().unwrap(), 1).unwrap();
        let _ = second.bytes(&packet);
    }

    #[test]
    fn descriptors_outside_a_frame_are_rejected() {
        let (umem, _pool) = Umem::create(&small(Backing::Anonymous)).unwrap();
        // SAFETY: the pool is not used, so no frame has an owner; none is written.
        let packet = |address, length| unsafe { umem.packet_from_descriptor(address, length) };
        assert!(packet(4 * 2_048, 0).is_none());
        assert!(packet(u64::MAX, 1).is_none());
        assert!(packet(2_048 + 256, 1_793).is_none());
        let packet = packet(2_048 + 256, 1_792).unwrap();
        assert_eq!(packet.frame().address(), FrameAddress(2_048));
        assert_eq!((packet.offset(), packet.length()), (256, 1_792));
    }

    #[test]
    fn second_mapping_of_the_file_shows_the_same_bytes() {
        let settings = small(Backing::Shared);
        let (umem, mut pool) = Umem::create(&settings).unwrap();
        let mut packet = umem.packet(pool.take().unwrap(), 5).unwrap();
        umem.bytes_mut(&mut packet).copy_from_slice(b"frame");
        let (address, offset) = (packet.frame().address(), u64::from(packet.offset()));
        let file = File::from(umem.file().unwrap().try_clone_to_owned().unwrap());
        let other = Umem::open(file, &settings).unwrap();
        // SAFETY: the frame's first owner does not access it while this one reads.
        let packet = unsafe { other.packet_from_descriptor(address.0 + offset, 5) }.unwrap();
        assert_eq!(other.bytes(&packet), b"frame");
    }

    #[test]
    fn open_rejects_an_unsealed_file_or_another_size() {
        let settings = small(Backing::Shared);
        let (umem, _pool) = Umem::create(&settings).unwrap();
        let file = || File::from(umem.file().unwrap().try_clone_to_owned().unwrap());
        assert!(file().set_len(0).is_err());
        let larger = UmemSettings { frames: 5, ..settings.clone() };
        assert!(matches!(Umem::open(file(), &larger), Err(UmemError::NotSealed(10_240))));
        let plain = tempfile::tempfile().unwrap();
        plain.set_len(8_192).unwrap();
        assert!(matches!(Umem::open(plain, &settings), Err(UmemError::NotSealed(8_192))));
    }

    #[test]
    fn huge_pages_are_mapped_or_reported_as_missing() {
        match Umem::create(&small(Backing::HugePages)) {
            Ok((umem, mut pool)) => {
                let mut packet = umem.packet(pool.take().unwrap(), 2_048).unwrap();
                umem.bytes_mut(&mut packet).fill(7);
            }
            Err(error) => assert!(error.to_string().contains("vm.nr_hugepages"), "{error}"),
        }
    }
}
