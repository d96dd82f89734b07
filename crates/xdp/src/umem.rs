//! The memory that frames lie in, which the kernel reads and writes too: the UMEM.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use crate::frame::{Frame, FrameAddress, Packet, UmemId};
use crate::frame_pool::FramePool;
use crate::mapping::{self, Mapping};

/// What the kernel keeps free before a received frame, for programs that put headers in front:
/// `XDP_PACKET_HEADROOM` of linux/bpf.h.
pub const KERNEL_HEADROOM: u32 = 256;

/// The size of `struct xsk_tx_metadata`, which lies before a frame that is to be stamped.
pub const TRANSMIT_METADATA: u32 = 24;

/// Where the memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Backing {
    /// Ordinary pages of this process alone.
    #[default]
    Anonymous,
    /// Huge pages (2 MiB or whatever the kernel's default is) of this process alone. They must have
    /// been set aside (`vm.nr_hugepages`); ordinary pages are never taken in their place.
    HugePages,
    /// A memory file whose size is sealed, [`Umem::file`], for other processes to map
    /// ([`Umem::open`]). Whoever has it can write every frame. A forked child inherits the file,
    /// but not the mapping.
    Shared,
}

/// What a [`Umem`] is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UmemSettings {
    /// How many frames there are, at least 1.
    pub frames: u32,
    /// Bytes of a frame, its headroom included: 2,048 or 4,096.
    pub frame_size: u32,
    /// Bytes that stay free before a received frame, beside [`KERNEL_HEADROOM`].
    pub headroom: u32,
    /// Where the memory comes from.
    pub backing: Backing,
    /// Whether transmitted frames can be stamped ([`Packet::request_stamp`]); then each begins
    /// [`TRANSMIT_METADATA`] bytes into its memory at the earliest.
    pub transmit_stamps: bool,
}

impl Default for UmemSettings {
    /// 2,048 frames of 2,048 bytes, 4 MiB: half of what an ordinary user may lock by default.
    fn default() -> Self {
        let (frames, frame_size, headroom) = (2_048, 2_048, 0);
        Self { frames, frame_size, headroom, backing: Backing::Anonymous, transmit_stamps: false }
    }
}

/// Why there is no UMEM.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UmemError {
    /// The kernel takes chunks of 2,048 bytes up to a page, powers of two.
    #[error("frames of {0} bytes: 2048 or 4096 are possible")]
    FrameSize(u32),
    /// None at all, or more than addresses of 32 bits reach.
    #[error("{0} frames are not possible")]
    FrameCount(u32),
    /// Nothing would be left of a frame.
    #[error("a headroom of {headroom} bytes leaves nothing of a frame of {frame_size}")]
    Headroom {
        /// What was asked for.
        headroom: u32,
        /// Of this.
        frame_size: u32,
    },
    /// Huge pages, and the kernel has none left, or too few.
    #[error("{bytes} bytes of huge pages cannot be had ({reason}); see vm.nr_hugepages")]
    HugePages {
        /// What was asked for.
        bytes: usize,
        /// The kernel's answer.
        reason: io::Error,
    },
    /// The kernel refused the memory.
    #[error("frame memory of {bytes} bytes: {reason}")]
    Memory {
        /// What was asked for.
        bytes: usize,
        /// The kernel's answer.
        reason: io::Error,
    },
    /// Somebody else's file could shrink under us, or is not as large as they say.
    #[error("the memory file is not sealed, or not {0} bytes long")]
    NotSealed(u64),
}

/// Memory cut into frames of one size. A clone is another handle of the same memory.
///
/// The memory is reached by frame: a [`Frame`] or [`Packet`] is the right to its bytes, of which
/// there is one, so that what the kernel or another owner writes is never lent out.
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
    /// Makes the memory, and the pool in which all of its frames are. Nothing is registered with
    /// the kernel yet.
    ///
    /// # Errors
    /// All of [`UmemError`] but `NotSealed`.
    pub fn create(settings: &UmemSettings) -> Result<(Self, FramePool), UmemError> {
        let bytes = settings.check()?;
        let (memory, file) = match settings.backing {
            Backing::Anonymous => (Mapping::anonymous(bytes, false), None),
            Backing::HugePages => {
                let memory = Mapping::anonymous(huge_multiple(bytes), true)
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
        let umem = Self::over(memory, file, settings);
        let pool = FramePool::full(umem.inner.id, settings.frames, settings.frame_size);
        Ok((umem, pool))
    }

    /// Maps the memory of another process, made with the same settings. No frame belongs to this
    /// process until it is told so ([`claim`](Self::claim)).
    ///
    /// # Errors
    /// `NotSealed`; those of the settings; the kernel's.
    pub fn open(file: File, settings: &UmemSettings) -> Result<Self, UmemError> {
        let bytes = settings.check()?;
        let refused = |reason| UmemError::Memory { bytes, reason };
        let length = file.metadata().map_err(refused)?.len();
        if !mapping::is_sealed(&file) || length != bytes as u64 {
            return Err(UmemError::NotSealed(bytes as u64));
        }
        let memory = Mapping::shared(file.as_fd(), bytes, 0).map_err(refused)?;
        Ok(Self::over(memory, Some(file), settings))
    }

    fn over(memory: Mapping, file: Option<File>, settings: &UmemSettings) -> Self {
        let (settings, id) = (settings.clone(), UmemId::next());
        Self { inner: Arc::new(Inner { memory, file, settings, id }) }
    }

    /// The bytes of a packet.
    ///
    /// # Panics
    /// If the packet is of another UMEM.
    #[inline(always)]
    #[must_use]
    pub fn bytes<'a>(&'a self, packet: &'a Packet) -> &'a [u8] {
        let start = self.at(packet);
        // SAFETY: a packet's bytes lie in its frame, and that in this memory, as `at` has checked.
        // The packet is the only right to them and is borrowed as long as the slice, so nobody
        // writes them.
        unsafe { std::slice::from_raw_parts(start, packet.length() as usize) }
    }

    /// The same, to be written.
    ///
    /// # Panics
    /// If the packet is of another UMEM.
    #[inline(always)]
    #[must_use]
    pub fn bytes_mut<'a>(&'a self, packet: &'a mut Packet) -> &'a mut [u8] {
        let start = self.at(packet);
        // SAFETY: as in `bytes`, and the packet is borrowed mutably, so there is no other slice.
        unsafe { std::slice::from_raw_parts_mut(start, packet.length() as usize) }
    }

    /// Where a packet's bytes begin.
    #[inline(always)]
    fn at(&self, packet: &Packet) -> *mut u8 {
        packet.frame().check(self.inner.id);
        let start = packet.address() as usize;
        debug_assert!(start + packet.length() as usize <= self.inner.memory.len());
        // SAFETY: the packet is of this memory, and whoever makes one keeps it inside its frame.
        unsafe { self.inner.memory.start().add(start) }
    }

    /// Where `before` bytes in front of a packet begin, if they lie in its frame and are aligned to
    /// 8 bytes.
    pub(crate) fn before(&self, packet: &Packet, before: u32) -> Option<*mut u8> {
        let start = self.at(packet);
        if packet.offset() < before || !(packet.address() - u64::from(before)).is_multiple_of(8) {
            return None;
        }
        // SAFETY: the packet begins at least so many bytes into its frame, so this stays inside.
        Some(unsafe { start.sub(before as usize) })
    }

    /// A packet of `length` bytes to be written and transmitted, at the beginning of its frame, or
    /// behind the room for what the kernel is told of it ([`UmemSettings::transmit_stamps`]).
    ///
    /// # Errors
    /// The frame, if so many bytes do not fit.
    pub fn packet(&self, frame: Frame, length: u32) -> Result<Packet, Frame> {
        let offset = if self.settings().transmit_stamps { TRANSMIT_METADATA } else { 0 };
        if !frame.is_of(self.inner.id) || length > self.settings().frame_size - offset {
            return Err(frame);
        }
        Ok(Packet::new(frame, offset, length))
    }

    /// A packet whose bytes stand where a received frame's would, so that headers can be put in
    /// front ([`Packet::grow_front`]).
    ///
    /// # Errors
    /// The frame, if so many bytes do not fit.
    pub fn packet_with_headroom(&self, frame: Frame, length: u32) -> Result<Packet, Frame> {
        if !frame.is_of(self.inner.id) || length > self.settings().longest_frame() {
            return Err(frame);
        }
        let offset = KERNEL_HEADROOM + self.settings().headroom;
        Ok(Packet::new(frame, offset, length))
    }

    /// The packet behind a descriptor that the kernel gave back; `None` if it does not lie inside
    /// a frame, which no kernel does.
    ///
    /// # Safety
    /// The frame belongs to nobody: it was given to the kernel, which is done with it.
    #[inline(always)]
    pub(crate) unsafe fn packet_at(&self, address: u64, length: u32) -> Option<Packet> {
        let size = u64::from(self.settings().frame_size);
        let base = address & !(size - 1);
        let offset = address - base;
        let fits = offset + u64::from(length) <= size;
        if !fits || base >= self.bytes_in_all() {
            return None;
        }
        Some(Packet::new(Frame::new(base as u32, self.inner.id), offset as u32, length))
    }

    /// Takes a frame over whose right came by another way than this library, as from another
    /// process that shares the memory; `None` if there is no such frame.
    ///
    /// # Safety
    /// Nobody else has the frame: no process, no other [`Frame`], and not the kernel.
    #[must_use]
    pub unsafe fn claim(&self, address: FrameAddress) -> Option<Frame> {
        // SAFETY: the caller's word.
        unsafe { self.packet_at(address.0, 0) }.map(Packet::into_frame)
    }

    /// The memory file, to be handed to other processes; `None` unless it is [`Backing::Shared`].
    #[must_use]
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.inner.file.as_ref().map(AsFd::as_fd)
    }

    /// What was asked for.
    #[inline]
    #[must_use]
    pub fn settings(&self) -> &UmemSettings {
        &self.inner.settings
    }

    /// Has this core fetch the first 128 bytes that are received into a frame, whoever writes them:
    /// a line that has gone to the machine's memory is written later than one that has not.
    #[inline]
    pub(crate) fn prefetch(&self, FrameAddress(address): FrameAddress) {
        let offset = u64::from(KERNEL_HEADROOM + self.settings().headroom);
        let at = self.start().wrapping_add((address + offset) as usize);
        for line in [0, 64] {
            prefetch(at.wrapping_add(line));
        }
    }

    #[inline]
    pub(crate) fn start(&self) -> *mut u8 {
        self.inner.memory.start()
    }

    /// Bytes of all frames; the mapping may be longer.
    #[inline]
    pub(crate) fn bytes_in_all(&self) -> u64 {
        u64::from(self.settings().frames) * u64::from(self.settings().frame_size)
    }

    #[inline]
    pub(crate) fn id(&self) -> UmemId {
        self.inner.id
    }
}

impl UmemSettings {
    /// The longest frame in bytes, from the Ethernet header on, that can be received.
    #[must_use]
    pub fn longest_frame(&self) -> u32 {
        self.frame_size.saturating_sub(KERNEL_HEADROOM).saturating_sub(self.headroom)
    }

    /// How many bytes it takes, if it is possible.
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

#[cfg(target_arch = "x86_64")]
#[inline]
fn prefetch(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every such processor can; nothing is read, and an address that is none does nothing.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
}

/// Elsewhere there is no stable way to say it.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn prefetch(_at: *const u8) {}

/// Huge pages are taken and given back whole.
fn huge_multiple(bytes: usize) -> usize {
    bytes.next_multiple_of(2 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(backing: Backing) -> UmemSettings {
        UmemSettings { frames: 4, backing, ..UmemSettings::default() }
    }

    #[test]
    fn a_frame_keeps_what_is_written_and_touches_no_other() {
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
    fn settings_that_cannot_be_are_named() {
        let error = |settings: UmemSettings| Umem::create(&settings).unwrap_err().to_string();
        let all = UmemSettings::default;
        assert!(error(UmemSettings { frame_size: 1_024, ..all() }).contains("1024"));
        assert!(error(UmemSettings { frame_size: 3_000, ..all() }).contains("3000"));
        assert!(error(UmemSettings { frames: 0, ..all() }).contains("0 frames"));
        assert!(error(UmemSettings { frames: u32::MAX, ..all() }).contains("not possible"));
        assert!(error(UmemSettings { headroom: 1_792, ..all() }).contains("headroom of 1792"));
    }

    #[test]
    fn what_does_not_fit_a_frame_gives_the_frame_back() {
        let (umem, mut pool) = Umem::create(&small(Backing::Anonymous)).unwrap();
        let frame = umem.packet(pool.take().unwrap(), 2_049).unwrap_err();
        let frame = umem.packet_with_headroom(frame, 1_793).unwrap_err();
        let packet = umem.packet_with_headroom(frame, 1_792).unwrap();
        assert_eq!((packet.offset(), packet.length()), (256, 1_792));
    }

    #[test]
    fn room_for_metadata_is_kept_before_a_frame_that_may_be_stamped() {
        let settings = UmemSettings { transmit_stamps: true, ..small(Backing::Anonymous) };
        let (umem, mut pool) = Umem::create(&settings).unwrap();
        let packet = umem.packet(pool.take().unwrap(), 60).unwrap();
        assert_eq!(packet.offset(), TRANSMIT_METADATA);
        assert!(umem.before(&packet, TRANSMIT_METADATA).is_some());
        assert!(umem.before(&packet, TRANSMIT_METADATA + 8).is_none());
    }

    #[test]
    #[should_panic(expected = "another UMEM")]
    fn a_frame_is_no_right_to_another_memory() {
        let (first, mut pool) = Umem::create(&small(Backing::Anonymous)).unwrap();
        let (second, _) = Umem::create(&small(Backing::Anonymous)).unwrap();
        let packet = first.packet(pool.take().unwrap(), 1).unwrap();
        let _ = second.bytes(&packet);
    }

    #[test]
    fn descriptors_outside_the_memory_are_no_packets() {
        let (umem, _pool) = Umem::create(&small(Backing::Anonymous)).unwrap();
        // SAFETY: the pool is not used, so every frame belongs to nobody; none is written.
        let packet = |address, length| unsafe { umem.packet_at(address, length) };
        assert!(packet(4 * 2_048, 0).is_none());
        assert!(packet(u64::MAX, 1).is_none());
        assert!(packet(2_048 + 256, 1_793).is_none());
        let packet = packet(2_048 + 256, 1_792).unwrap();
        assert_eq!(packet.frame().address(), FrameAddress(2_048));
        assert_eq!((packet.offset(), packet.length()), (256, 1_792));
    }

    #[test]
    fn another_mapping_of_the_file_shows_the_same_bytes() {
        let settings = small(Backing::Shared);
        let (umem, mut pool) = Umem::create(&settings).unwrap();
        let mut packet = umem.packet(pool.take().unwrap(), 5).unwrap();
        umem.bytes_mut(&mut packet).copy_from_slice(b"frame");
        let address = packet.frame().address();
        let file = File::from(umem.file().unwrap().try_clone_to_owned().unwrap());
        let other = Umem::open(file, &settings).unwrap();
        // SAFETY: the frame's first owner does not touch it while this one reads.
        let frame = unsafe { other.claim(address) }.unwrap();
        assert_eq!(other.bytes(&other.packet(frame, 5).unwrap()), b"frame");
    }

    #[test]
    fn a_file_that_could_shrink_or_has_another_size_is_not_mapped() {
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
    fn huge_pages_are_had_or_named_as_what_is_missing() {
        match Umem::create(&small(Backing::HugePages)) {
            Ok((umem, mut pool)) => {
                let mut packet = umem.packet(pool.take().unwrap(), 2_048).unwrap();
                umem.bytes_mut(&mut packet).fill(7);
            }
            Err(error) => assert!(error.to_string().contains("vm.nr_hugepages"), "{error}"),
        }
    }
}
