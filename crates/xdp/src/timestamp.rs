//! Receive and transmit timestamps, as provided by a driver or the kernel.

use crate::filter::STAMP_BYTES;
use crate::frame::{Frame, Packet};
use crate::umem::{KERNEL_HEADROOM, TRANSMIT_METADATA, Umem};

/// The point where a timestamp was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StampSource {
    /// The device, on its own clock (PTP).
    Hardware,
    /// The filter when it ran, on `CLOCK_TAI`.
    SoftwareReceive,
    /// The kernel on completion (copy mode), on `CLOCK_TAI`. It is not the departure time: a
    /// driver may complete frames later, and a veth completes a frame when the peer has copied it.
    SoftwareCompletion,
}

/// The source of receive timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ReceiveStamps {
    /// No timestamps.
    #[default]
    Off,
    /// The driver, on the device's clock, for frames that it has a time for. This requires native
    /// mode and a driver with support; otherwise there are no timestamps
    /// ([`Interface::receive_stamps`](crate::Interface::receive_stamps)).
    Driver,
    /// The kernel when the filter runs, on `CLOCK_TAI`: a software timestamp.
    Kernel,
}

/// The time when a frame arrived or left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Nanoseconds since the clock's epoch, never 0.
    pub nanoseconds: u64,
    /// The point where the timestamp was taken.
    pub source: StampSource,
}

/// The timestamp's offset in `struct xsk_tx_metadata` of linux/if_xdp.h: flags at 0, timestamp at
/// 8, 24 bytes in all.
const TIMESTAMP_OFFSET: usize = 8;
/// `XDP_TXMD_FLAGS_TIMESTAMP`. The descriptor separately flags that metadata is present.
const REQUEST_TIMESTAMP: u64 = libc::XDP_TXMD_FLAGS_TIMESTAMP as u64;

impl Umem {
    /// Returns the timestamp in front of a received packet; `None` if it is 0.
    pub(crate) fn receive_stamp(&self, packet: &Packet) -> Option<u64> {
        let field = self.ptr_before(packet, STAMP_BYTES as u32)?;
        // SAFETY: eight aligned bytes of the packet's own frame (`before`), not written while the
        // packet is borrowed. UMEM memory is always initialized.
        let stamp = unsafe { field.cast::<u64>().read() };
        (stamp != 0).then_some(stamp)
    }

    /// Clears a frame's receive timestamp, so that a missing one reads as `None`.
    #[inline]
    pub(crate) fn clear_receive_stamp(&self, frame: &mut Frame) {
        frame.check(self.id());
        let at = frame.address().0 + u64::from(KERNEL_HEADROOM + self.settings().headroom);
        let at = at as usize - STAMP_BYTES as usize;
        // SAFETY: the frame owns its memory, which includes the headroom.
        unsafe { self.start().add(at).cast::<u64>().write_unaligned(0) };
    }

    /// Requests a timestamp in the metadata in front of the packet. Returns `false` if the metadata
    /// would not be aligned.
    pub(crate) fn request_transmit_stamp(&self, packet: &Packet) -> bool {
        let Some(metadata) = self.ptr_before(packet, TRANSMIT_METADATA) else { return false };
        let words = metadata.cast::<u64>();
        // SAFETY: 24 aligned bytes of the packet's own frame (`before`).
        unsafe {
            words.write(REQUEST_TIMESTAMP);
            words.add(1).write(0);
            words.add(2).write(0);
        }
        true
    }

    /// Returns the timestamp of a completed packet for which it was requested.
    pub(crate) fn transmit_stamp(&self, packet: &Packet, source: StampSource) -> Option<Stamp> {
        let metadata = self.ptr_before(packet, TRANSMIT_METADATA)?;
        // SAFETY: inside the 24 aligned bytes of metadata, which belong to the packet again.
        let nanoseconds = unsafe { metadata.add(TIMESTAMP_OFFSET).cast::<u64>().read() };
        (nanoseconds != 0).then_some(Stamp { nanoseconds, source })
    }
}
