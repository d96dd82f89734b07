//! Raw Ethernet frames of one EtherType, the counterpart of Onload's ef_vi.

mod dedicated;
mod shared;

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use hairpin_xdp::{InterfaceSettings, Packet, Stamp};

use crate::StackError;
use crate::stack::Owner;
use dedicated::DedicatedSource;
use shared::SharedSource;

/// Sends and receives whole frames of one EtherType, from the Ethernet header on and without the
/// frame check sequence.
///
/// The frames come from a dedicated interface ([`RawFrames::open`]), which is faster, or from a
/// stack in addition to its sockets ([`Stack::raw_frames`](crate::Stack::raw_frames)).
///
/// A [`Packet`] is a frame owned by the caller. It is received or allocated, read and written in
/// place, and then transmitted or released. A dropped packet is lost until all memory is unmapped.
/// Frames shorter than 60 bytes are padded by the card; a veth does not pad.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hairpin_stack::{InterfaceSettings, RawFrames};
///
/// // An EtherType for local experiments (IEEE 802).
/// let mut frames = RawFrames::open("eth1", 0x88b5, &InterfaceSettings::default())?;
/// loop {
///     while let Some(mut packet) = frames.receive()? {
///         // Swap the Ethernet addresses in place and send the same frame back.
///         frames.bytes_mut(&mut packet)[..12].rotate_left(6);
///         if let Err(packet) = frames.transmit(packet)? {
///             frames.release(packet);
///         }
///     }
/// }
/// # }
/// ```
pub struct RawFrames {
    source: Source,
    ether_type: u16,
}

/// The source of the frames.
#[expect(clippy::large_enum_variant, reason = "a box would cost a load per frame")]
enum Source {
    Dedicated(DedicatedSource),
    Shared(SharedSource),
}

/// Dispatches to the source.
macro_rules! dispatch {
    ($source:expr, $it:ident => $what:expr) => {
        match $source {
            Source::Dedicated($it) => $what,
            Source::Shared($it) => $what,
        }
    };
}

impl RawFrames {
    /// Opens an interface by name for exclusive use, without a lock and without a watcher thread.
    /// All frames of other EtherTypes go to the kernel. The filter has no entries, so its capacity
    /// settings are ignored.
    ///
    /// # Errors
    /// See [`StackError`]; `Entry` if the EtherType is reserved for the kernel.
    pub fn open(
        interface: &str,
        ether_type: u16,
        settings: &InterfaceSettings,
    ) -> Result<Self, StackError> {
        let source = Source::Dedicated(DedicatedSource::open(interface, ether_type, settings)?);
        Ok(Self { source, ether_type })
    }

    pub(crate) fn from_stack(owner: &Arc<Owner>, ether_type: u16) -> io::Result<Self> {
        let source = Source::Shared(SharedSource::open(owner, ether_type)?);
        Ok(Self { source, ether_type })
    }

    /// Returns the next received frame, if any. Never waits.
    ///
    /// # Errors
    /// The kernel's: `ENODEV` after the interface was removed. `Unsupported` in a strict stack
    /// after a fallback to the kernel.
    #[inline(always)]
    pub fn receive(&mut self) -> io::Result<Option<Packet>> {
        match &mut self.source {
            Source::Dedicated(dedicated) => dedicated.receive(),
            // Rewrapped in a value of its own, so that the other source's result stays in
            // registers.
            Source::Shared(shared) => Ok(shared.receive()?),
        }
    }

    /// Allocates a frame of `length` bytes to write and transmit; their content is unspecified.
    /// `None` if it is too long or all frames are in use.
    #[inline(always)]
    pub fn frame(&mut self, length: u32) -> Option<Packet> {
        dispatch!(&mut self.source, it => it.frame(length))
    }

    /// Returns the longest frame in bytes.
    #[must_use]
    pub fn max_length(&self) -> u32 {
        dispatch!(&self.source, it => it.max_length())
    }

    /// Transmits a frame at once, with one system call. A received frame can be transmitted as it
    /// is.
    ///
    /// # Errors
    /// The kernel's: `NetworkDown`. The frame is returned if it is shorter than an Ethernet header
    /// or the ring is full.
    #[inline(always)]
    pub fn transmit(&mut self, packet: Packet) -> io::Result<Result<(), Packet>> {
        dispatch!(&mut self.source, it => it.transmit(packet))
    }

    /// Adds a frame to the transmit ring. It leaves with the next [`flush`](Self::flush).
    ///
    /// # Errors
    /// The frame, as for [`transmit`](Self::transmit).
    #[inline]
    pub fn enqueue(&mut self, packet: Packet) -> Result<(), Packet> {
        dispatch!(&mut self.source, it => it.enqueue(packet))
    }

    /// Sends the transmit ring.
    ///
    /// # Errors
    /// The kernel's: `NetworkDown` while the interface is down; the frames leave later.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        dispatch!(&mut self.source, it => it.flush())
    }

    /// Releases a frame.
    #[inline(always)]
    pub fn release(&mut self, packet: Packet) {
        dispatch!(&mut self.source, it => it.release(packet));
    }

    /// Returns the bytes of a frame.
    #[inline(always)]
    #[must_use]
    pub fn bytes<'a>(&'a self, packet: &'a Packet) -> &'a [u8] {
        dispatch!(&self.source, it => it.bytes(packet))
    }

    /// Returns the bytes of a frame for writing.
    #[inline(always)]
    #[must_use]
    pub fn bytes_mut<'a>(&'a self, packet: &'a mut Packet) -> &'a mut [u8] {
        dispatch!(&self.source, it => it.bytes_mut(packet))
    }

    /// Returns the receive timestamp of a frame, if the interface provides timestamps.
    #[must_use]
    pub fn receive_stamp(&self, packet: &Packet) -> Option<Stamp> {
        dispatch!(&self.source, it => it.receive_stamp(packet))
    }

    /// Waits until a frame may be pending, `timeout` has passed, or a signal arrives. Returns
    /// `true` if one may be pending.
    ///
    /// # Errors
    /// The kernel's; `ENODEV` after the interface was removed.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        dispatch!(&mut self.source, it => it.wait(timeout))
    }

    /// Enables or disables spinning. A spinning reader never waits, so no thread is woken for its
    /// frames, which saves kernel time per frame, and the descriptor is never readable.
    pub fn set_spinning(&mut self, spinning: bool) {
        dispatch!(&mut self.source, it => it.set_spinning(spinning));
    }

    /// Returns the number of frames dropped because they were not read. On a dedicated interface it
    /// counts frames of all queues that found no ring entry or no receive frame.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        dispatch!(&self.source, it => it.dropped())
    }

    /// Returns the EtherType.
    #[must_use]
    pub fn ether_type(&self) -> u16 {
        self.ether_type
    }

    /// Returns the interface's Ethernet address; on a dedicated interface, as of opening.
    #[must_use]
    pub fn mac(&self) -> [u8; 6] {
        dispatch!(&self.source, it => it.mac())
    }
}

/// Readable when a frame may be pending. The removal of a dedicated interface wakes no waiter; the
/// next receive or wait reports it.
impl AsFd for RawFrames {
    fn as_fd(&self) -> BorrowedFd<'_> {
        dispatch!(&self.source, it => it.as_fd())
    }
}

/// Formats one line: interface, driver, queues, mode, copy mode, timestamps.
impl fmt::Display for RawFrames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        dispatch!(&self.source, it => it.describe(f))
    }
}

impl fmt::Debug for RawFrames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawFrames").field("ether_type", &self.ether_type).finish_non_exhaustive()
    }
}
