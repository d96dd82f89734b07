//! Whole frames of an EtherType of one's own: the house's ef_vi.

mod own;
mod shared;

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use hairpin_xdp::{InterfaceSettings, Packet, Stamp};

use crate::StackError;
use crate::stack::Owner;
use own::Own;
use shared::Shared;

/// Frames of one EtherType, received and sent as they are, from the Ethernet header on and without
/// the checksum behind.
///
/// They come from an interface of their own ([`RawFrames::open`]), which is quicker, or from a
/// stack beside its other sockets ([`Stack::raw_frames`](crate::Stack::raw_frames)).
///
/// A [`Packet`] is a frame that the caller owns: it is received or taken, read and written in its
/// place, and then sent or given back; one that is dropped is lost until all of its memory goes.
/// Frames shorter than 60 bytes are padded by the card, or by nobody on a veth.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hairpin_stack::{InterfaceSettings, RawFrames};
///
/// // An EtherType for local experiments (IEEE 802).
/// let mut frames = RawFrames::open("eth1", 0x88b5, &InterfaceSettings::default())?;
/// loop {
///     while let Some(mut packet) = frames.receive()? {
///         // Back to where it came from, in its own memory.
///         frames.bytes_mut(&mut packet)[..12].rotate_left(6);
///         if let Err(packet) = frames.transmit(packet)? {
///             frames.give(packet);
///         }
///     }
/// }
/// # }
/// ```
pub struct RawFrames {
    source: Source,
    ether_type: u16,
}

/// Where they come from.
enum Source {
    Own(Own),
    Shared(Shared),
}

/// The same of either source.
macro_rules! of {
    ($source:expr, $it:ident => $what:expr) => {
        match $source {
            Source::Own($it) => $what,
            Source::Shared($it) => $what,
        }
    };
}

impl RawFrames {
    /// Takes the interface of this name, which somebody has named on purpose, for itself: without
    /// a lock, and without a thread beside. All frames but those of the EtherType are the kernel's.
    /// There are no entries, so that the filter's room for them is of no account.
    ///
    /// # Errors
    /// See [`StackError`]; `Entry` if the EtherType is the kernel's.
    pub fn open(
        interface: &str,
        ether_type: u16,
        settings: &InterfaceSettings,
    ) -> Result<Self, StackError> {
        let source = Source::Own(Own::open(interface, ether_type, settings)?);
        Ok(Self { source, ether_type })
    }

    pub(crate) fn of_stack(owner: &Arc<Owner>, ether_type: u16) -> io::Result<Self> {
        let source = Source::Shared(Shared::open(owner, ether_type)?);
        Ok(Self { source, ether_type })
    }

    /// The next frame that has arrived, if there is one. Never waits.
    ///
    /// # Errors
    /// The kernel's: "no such device" once the interface is gone. `Unsupported` in a strict stack
    /// once something has to go through the kernel.
    #[inline(always)]
    pub fn receive(&mut self) -> io::Result<Option<Packet>> {
        match &mut self.source {
            Source::Own(own) => own.receive(),
            // By way of a value of its own, so that what the other returns stays in registers.
            Source::Shared(shared) => Ok(shared.receive()?),
        }
    }

    /// A frame of `length` bytes to write and send, which hold anything; `None` if it is too long,
    /// or all frames are in use.
    #[inline(always)]
    pub fn frame(&mut self, length: u32) -> Option<Packet> {
        of!(&mut self.source, it => it.frame(length))
    }

    /// The longest frame, in bytes.
    #[must_use]
    pub fn longest(&self) -> u32 {
        of!(&self.source, it => it.longest())
    }

    /// Sends a frame: at once, with one system call. One that was received may be sent as it is.
    ///
    /// # Errors
    /// The kernel's: `NetworkDown`. The frame comes back if it is shorter than an Ethernet header,
    /// or if all places of the ring are taken.
    #[inline(always)]
    pub fn transmit(&mut self, packet: Packet) -> io::Result<Result<(), Packet>> {
        of!(&mut self.source, it => it.transmit(packet))
    }

    /// Puts a frame into the ring. It leaves with the next [`flush`](Self::flush), with others.
    ///
    /// # Errors
    /// The frame, as of [`transmit`](Self::transmit).
    #[inline]
    pub fn put(&mut self, packet: Packet) -> Result<(), Packet> {
        of!(&mut self.source, it => it.put(packet))
    }

    /// Sends what was put into the ring.
    ///
    /// # Errors
    /// The kernel's: `NetworkDown` while the interface is down; what is in the ring leaves later.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        of!(&mut self.source, it => it.flush())
    }

    /// Gives back a frame that is no longer needed.
    #[inline(always)]
    pub fn give(&mut self, packet: Packet) {
        of!(&mut self.source, it => it.give(packet));
    }

    /// The bytes of a frame.
    #[inline(always)]
    #[must_use]
    pub fn bytes<'a>(&'a self, packet: &'a Packet) -> &'a [u8] {
        of!(&self.source, it => it.bytes(packet))
    }

    /// The same, to be written.
    #[inline(always)]
    #[must_use]
    pub fn bytes_mut<'a>(&'a self, packet: &'a mut Packet) -> &'a mut [u8] {
        of!(&self.source, it => it.bytes_mut(packet))
    }

    /// When a received frame came in, if the interface stamps what it receives.
    #[must_use]
    pub fn receive_stamp(&self, packet: &Packet) -> Option<Stamp> {
        of!(&self.source, it => it.receive_stamp(packet))
    }

    /// Sleeps until there may be something to receive, or `timeout` has passed, rounded up to
    /// milliseconds; whether there may be.
    ///
    /// # Errors
    /// The kernel's; "no such device" once the interface is gone.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        of!(&mut self.source, it => it.wait(timeout))
    }

    /// Says whether frames are only ever looked for without sleeping: then nobody is woken for
    /// them, which takes the kernel some time at each, and the descriptor is not readable.
    pub fn set_spinning(&mut self, is_spinning: bool) {
        of!(&mut self.source, it => it.set_spinning(is_spinning));
    }

    /// Frames lost because nobody read them; of an interface of its own those of all queues for
    /// which there was no place or no frame.
    #[must_use]
    pub fn lost(&self) -> u64 {
        of!(&self.source, it => it.lost())
    }

    /// The EtherType.
    #[must_use]
    pub fn ether_type(&self) -> u16 {
        self.ether_type
    }

    /// The interface's Ethernet address; of an interface of its own, as it was when it was opened.
    #[must_use]
    pub fn mac(&self) -> [u8; 6] {
        of!(&self.source, it => it.mac())
    }
}

/// Readable when there may be something to receive. Of an interface of its own that is taken away
/// nobody is woken: the next receive or wait tells.
impl AsFd for RawFrames {
    fn as_fd(&self) -> BorrowedFd<'_> {
        of!(&self.source, it => it.as_fd())
    }
}

/// One line: interface, driver, queues, mode, copies, stamps.
impl fmt::Display for RawFrames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        of!(&self.source, it => it.describe(f))
    }
}

impl fmt::Debug for RawFrames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawFrames").field("ether_type", &self.ether_type).finish_non_exhaustive()
    }
}
