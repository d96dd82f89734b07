//! When frames came in and went out, as far as a driver or the kernel tells.

use crate::filter::STAMP_BYTES;
use crate::frame::{Frame, Packet};
use crate::umem::{KERNEL_HEADROOM, TRANSMIT_METADATA, Umem};

/// Where a stamp was taken, and so what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StampSource {
    /// By the device, on its own clock (PTP).
    Hardware,
    /// By the filter when it ran, on `CLOCK_TAI`.
    SoftwareReceive,
    /// By the kernel when it was done with the frame (copy mode), on `CLOCK_TAI`. When it left is
    /// not known: a driver may free frames later, and a veth does when the other end has copied it.
    SoftwareCompletion,
}

/// Who stamps received frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ReceiveStamps {
    /// Nobody.
    #[default]
    Off,
    /// The driver, on the device's clock, where it has a time for a frame. That takes the native
    /// mode, and a driver that can; else nobody does
    /// ([`Interface::receive_stamps`](crate::Interface::receive_stamps)).
    Driver,
    /// The kernel when the filter runs, on `CLOCK_TAI`: a time of software.
    Kernel,
}

/// When a frame came in or left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Since the clock's epoch, never 0.
    pub nanoseconds: u64,
    /// Which clock.
    pub source: StampSource,
}

/// `struct xsk_tx_metadata` of linux/if_xdp.h: flags at 0, the stamp at 8, 24 bytes.
const STAMP_AT: usize = 8;
/// `XDP_TXMD_FLAGS_TIMESTAMP`, and in a descriptor that there is metadata.
const WANT_STAMP: u64 = libc::XDP_TXMD_FLAGS_TIMESTAMP as u64;

impl Umem {
    /// The stamp in front of a received packet, if it is not nought.
    pub(crate) fn receive_stamp(&self, packet: &Packet) -> Option<u64> {
        let before = self.before(packet, STAMP_BYTES as u32)?;
        // SAFETY: eight bytes of the packet's own frame, aligned (`before`), that nobody writes
        // while the packet is borrowed. Memory of a UMEM is always initialised.
        let stamp = unsafe { before.cast::<u64>().read() };
        (stamp != 0).then_some(stamp)
    }

    /// Wipes the place of a receive stamp, so that one that is not written is none.
    #[inline]
    pub(crate) fn clear_receive_stamp(&self, frame: &mut Frame) {
        frame.check(self.id());
        let at = frame.address().0 + u64::from(KERNEL_HEADROOM + self.settings().headroom);
        let at = at as usize - STAMP_BYTES as usize;
        // SAFETY: the frame is the right to its memory, of which the headroom is a part.
        unsafe { self.start().add(at).cast::<u64>().write_unaligned(0) };
    }

    /// Asks for a stamp in front of the packet; false if it is not aligned there.
    pub(crate) fn request_transmit_stamp(&self, packet: &Packet) -> bool {
        let Some(metadata) = self.before(packet, TRANSMIT_METADATA) else { return false };
        let words = metadata.cast::<u64>();
        // SAFETY: 24 bytes of the packet's own frame, aligned (`before`).
        unsafe {
            words.write(WANT_STAMP);
            words.add(1).write(0);
            words.add(2).write(0);
        }
        true
    }

    /// The stamp in front of a packet that came back, whose stamp was asked for.
    pub(crate) fn transmit_stamp(&self, packet: &Packet, source: StampSource) -> Option<Stamp> {
        let metadata = self.before(packet, TRANSMIT_METADATA)?;
        // SAFETY: inside the 24 bytes, which are the packet's own again, and aligned.
        let nanoseconds = unsafe { metadata.add(STAMP_AT).cast::<u64>().read() };
        (nanoseconds != 0).then_some(Stamp { nanoseconds, source })
    }
}
