//! Whole frames of an EtherType of one's own: the house's ef_vi.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hairpin_xdp::{Entry, EntryError, Frame, Packet, Stamp};

use crate::core::Reader;
use crate::readiness::{Epoll, Readiness};
use crate::stack::Owner;

/// Frames that wait to go back to the pool before that is worth a lock of its own.
const SPENT: usize = 16;

/// Frames of one EtherType, received and sent as they are, from the Ethernet header on and without
/// the checksum behind.
///
/// A [`Packet`] is a frame that the caller owns: it is received or taken, read and written in its
/// place, and then sent or given back; one that is dropped is lost to the stack. Frames shorter
/// than 60 bytes are padded by the card, or by nobody on a veth.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hairpin_stack::{Stack, StackSettings};
///
/// let stack = Stack::open("eth1", &StackSettings::default())?;
/// // An EtherType for local experiments (IEEE 802).
/// let mut frames = stack.raw_frames(0x88b5)?;
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
    shared: Arc<Owner>,
    ether_type: u16,
    entry: Entry,
    readiness: Arc<Readiness>,
    /// Whether nothing was left in the queue when something was last taken out of it.
    is_empty: bool,
    spent: Vec<Frame>,
    queue: u32,
    epoll: Epoll,
}

impl RawFrames {
    pub(crate) fn open(shared: &Arc<Owner>, ether_type: u16) -> io::Result<Self> {
        let readiness = Arc::new(Readiness::new()?);
        let epoll = Epoll::new()?;
        epoll.add(readiness.as_fd(), libc::EPOLLIN, 0)?;
        let entry = Entry::EtherType { vlan: None, ether_type };
        let mut control = shared.control();
        let mut core = shared.core();
        epoll.watch(core.interface.sockets(), true)?;
        if core.raw_seat(ether_type).is_some() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        core.sit_raw(ether_type, Arc::clone(&readiness));
        let entered = control.entries.add(&core.interface, entry);
        if entered.is_err() {
            core.stand_up_raw(ether_type);
        }
        entered.map_err(|error| match error {
            EntryError::EtherType(_) => io::Error::new(io::ErrorKind::InvalidInput, error),
            error => io::Error::other(error),
        })?;
        drop((core, control));
        let (shared, queue) = (Arc::clone(shared), shared.queue(u32::from(ether_type)));
        let spent = Vec::with_capacity(SPENT);
        let is_empty = false;
        Ok(Self { shared, ether_type, entry, readiness, is_empty, spent, queue, epoll })
    }

    /// The next frame that has arrived, if there is one. Never waits.
    ///
    /// # Errors
    /// The kernel's: "no such device" once the interface is gone. `Unsupported` in a strict stack
    /// once something has to go through the kernel.
    #[inline]
    pub fn receive(&mut self) -> io::Result<Option<Packet>> {
        self.shared.check()?;
        if self.is_idle() {
            return Ok(None);
        }
        let mut core = self.shared.core();
        for frame in self.spent.drain(..) {
            core.interface.give(frame);
        }
        self.is_empty = false;
        let (packet, has_more) = core.receive_raw(self.ether_type)?;
        self.is_empty = !has_more;
        if packet.is_none() {
            self.shared.note_frames(&core);
        }
        if self.is_empty {
            self.readiness.lower();
        }
        Ok(packet)
    }

    /// Whether a look under the lock would find nothing: the usual case of who looks without end.
    #[inline]
    fn is_idle(&self) -> bool {
        self.is_empty
            && self.spent.is_empty()
            && !self.readiness.has_frames()
            && self.shared.is_quiet()
    }

    /// A frame of `length` bytes to write and send, which hold anything; `None` if it is too long,
    /// or all frames are in use.
    #[inline]
    pub fn frame(&mut self, length: u32) -> Option<Packet> {
        self.shared.core().interface.packet(length)
    }

    /// The longest frame, in bytes.
    #[must_use]
    pub fn longest(&self) -> u32 {
        self.shared.umem.settings().longest_frame()
    }

    /// Sends a frame: at once, with one system call. One that was received may be sent as it is.
    ///
    /// # Errors
    /// The kernel's: `NetworkDown`. The frame comes back if it is shorter than an Ethernet header,
    /// or if all places of the ring are taken.
    #[inline]
    pub fn transmit(&mut self, packet: Packet) -> io::Result<Result<(), Packet>> {
        self.shared.transmit(self.shared.core(), self.queue, packet)
    }

    /// Puts a frame into the ring. It leaves with the next [`flush`](Self::flush), with others.
    ///
    /// # Errors
    /// The frame, as of [`transmit`](Self::transmit).
    #[inline]
    pub fn put(&mut self, packet: Packet) -> Result<(), Packet> {
        self.shared.core().interface.transmit(self.queue, packet)
    }

    /// Sends what was put into the ring.
    ///
    /// # Errors
    /// The kernel's: `NetworkDown` while the interface is down; what is in the ring leaves later.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        let frames = self.shared.core().interface.submit(self.queue);
        self.shared.kick(self.queue, frames)
    }

    /// Gives back a frame that is no longer needed.
    #[inline]
    pub fn give(&mut self, packet: Packet) {
        if self.spent.len() == SPENT {
            let mut core = self.shared.core();
            self.spent.drain(..).for_each(|frame| core.interface.give(frame));
        }
        self.spent.push(packet.into_frame());
    }

    /// The bytes of a frame.
    #[inline]
    #[must_use]
    pub fn bytes<'a>(&'a self, packet: &'a Packet) -> &'a [u8] {
        self.shared.umem.bytes(packet)
    }

    /// The same, to be written.
    #[inline]
    #[must_use]
    pub fn bytes_mut<'a>(&'a self, packet: &'a mut Packet) -> &'a mut [u8] {
        self.shared.umem.bytes_mut(packet)
    }

    /// When a received frame came in, if the interface stamps what it receives.
    #[must_use]
    pub fn receive_stamp(&self, packet: &Packet) -> Option<Stamp> {
        self.shared.core().interface.receive_stamp(packet)
    }

    /// Sleeps until there may be something to receive, or `timeout` has passed, rounded up to
    /// milliseconds; whether there may be.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        self.watch(true)?;
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 4];
        loop {
            {
                let mut core = self.shared.core();
                for frame in self.spent.drain(..) {
                    core.interface.give(frame);
                }
                self.is_empty = false;
                self.shared.pump(&mut core, Reader::Raw(self.ether_type), 1)?;
                if core.raw_seat(self.ether_type).is_some_and(|seat| seat.len() > 0) {
                    return Ok(true);
                }
                self.readiness.lower();
            }
            self.shared.check()?;
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(false);
            }
            if self.epoll.wait(&mut events, left)?.is_empty() && left.is_none() {
                return Ok(false);
            }
        }
    }

    /// Says whether frames are only ever looked for without sleeping: then nobody is woken for
    /// them, which takes the kernel some time at each, and the descriptor is not readable.
    pub fn set_spinning(&mut self, is_spinning: bool) {
        // What cannot be watched stays as it is, and `wait` tells.
        let _ = self.watch(!is_spinning);
    }

    /// Has the kernel and others wake whoever sleeps, or not.
    fn watch(&mut self, is_watching: bool) -> io::Result<()> {
        if is_watching == self.readiness.is_awaited() {
            return Ok(());
        }
        let mut core = self.shared.core();
        self.epoll.watch(core.interface.sockets(), is_watching)?;
        self.readiness.set_awaited(is_watching);
        // Nobody was woken for what came meanwhile.
        if is_watching && core.raw_seat(self.ether_type).is_some_and(|seat| seat.len() > 0) {
            self.readiness.raise();
        }
        Ok(())
    }

    /// Frames lost because nobody read them.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.shared.core().raw_seat(self.ether_type).map_or(0, |seat| seat.lost())
    }

    /// The EtherType.
    #[must_use]
    pub fn ether_type(&self) -> u16 {
        self.ether_type
    }

    /// The interface's Ethernet address.
    #[must_use]
    pub fn mac(&self) -> [u8; 6] {
        self.shared.control().mac()
    }
}

/// Readable when there may be something to receive.
impl AsFd for RawFrames {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

impl Drop for RawFrames {
    fn drop(&mut self) {
        let mut control = self.shared.control();
        let mut core = self.shared.core();
        control.entries.remove(&core.interface, &self.entry);
        core.stand_up_raw(self.ether_type);
        for frame in self.spent.drain(..) {
            core.interface.give(frame);
        }
    }
}

impl fmt::Debug for RawFrames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawFrames").field("ether_type", &self.ether_type).finish_non_exhaustive()
    }
}
