//! The program's side of the keeper.

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hairpin_mapped::{StateFile, StateSlot};
use hairpin_tcp::Numbers;
use hairpin_xdp::ForkGuardedFd;
use socket2::SockRef;

use super::message::{self, DESCRIPTORS_MAX, Request};
use super::record::{self, Phase};
use crate::tcp::takeover::{CONNECTIONS, RING};

/// The longest time that a call waits for the keeper. A keeper that does not answer is lost.
const TIMEOUT: Duration = Duration::from_secs(1);

/// A program's connection to its keeper. A clone is another handle. A forked child needs a
/// connection of its own.
#[derive(Debug, Clone)]
pub struct KeeperClient(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    socket: ForkGuardedFd,
    /// Held during a request and its answer.
    requests: Mutex<()>,
    file: Arc<StateFile>,
    is_lost: AtomicBool,
    is_reported: AtomicBool,
}

impl KeeperClient {
    /// Registers this process at the keeper that [`start_keeper`](super::start_keeper) has started.
    ///
    /// # Errors
    /// The kernel's, or that the keeper does not answer.
    pub fn connect(keeper: BorrowedFd<'_>) -> io::Result<Self> {
        let socket = ForkGuardedFd::from_fn(|| {
            let [ours, theirs] = message::pair()?;
            message::send(keeper, [0; 2], &[theirs.as_fd()], libc::MSG_DONTWAIT)?;
            Ok(ours)
        })?;
        let reference = SockRef::from(&socket);
        reference.set_read_timeout(Some(TIMEOUT))?;
        reference.set_write_timeout(Some(TIMEOUT))?;
        let (_, files) = message::receive(socket.as_fd())?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let Ok([file]) = <[OwnedFd; 1]>::try_from(files) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let file = StateFile::open(&File::from(file), CONNECTIONS as u32, RING)?;
        let (requests, is_lost) = (Mutex::default(), AtomicBool::new(false));
        let is_reported = AtomicBool::new(false);
        Ok(Self(Arc::new(Inner { socket, requests, file, is_lost, is_reported })))
    }

    /// Releases all that the keeper holds, before the process ends or runs another program.
    pub fn leave(&self) {
        let _ = self.request(Request::Leave, 0);
    }

    /// Returns `true` once the keeper has ended or does not answer.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.0.is_lost.load(Ordering::Acquire)
    }

    /// Returns `true` once, after the keeper was lost.
    pub(crate) fn take_report(&self) -> bool {
        self.is_lost() && !self.0.is_reported.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn set_lost(&self) {
        self.0.is_lost.store(true, Ordering::Release);
    }

    /// The descriptor reports a hang-up when the keeper ends.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.socket.as_fd()
    }

    /// Makes the keeper hold an interface, until it has handed back the connections of this process
    /// after its death.
    pub(crate) fn hold_interface(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        for part in descriptors.chunks(DESCRIPTORS_MAX) {
            self.send(Request::HoldInterface, 0, part)?;
        }
        Ok(())
    }

    /// Makes the keeper hold a connection that is about to be taken over; `None` if all slots are
    /// taken.
    ///
    /// # Errors
    /// The kernel's. The keeper is lost then, unless memory is exhausted.
    pub(in crate::tcp) fn hold(
        &self,
        socket: BorrowedFd<'_>,
        reuse: bool,
    ) -> io::Result<Option<Kept>> {
        let Some(slot) = self.0.file.take()? else { return Ok(None) };
        record::store_constants(slot.words(), 0, reuse);
        record::store_phase(slot.words(), Phase::TakingOver);
        self.send(Request::Hold, slot.index(), &[socket])?;
        Ok(Some(Kept { client: self.clone(), slot }))
    }

    fn send(&self, request: Request, slot: u32, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let socket = self.0.socket.as_fd();
        let sent = message::send(socket, [request as u32, slot], descriptors, 0);
        sent.inspect_err(|_| self.set_lost())
    }

    /// Sends a request and waits until the keeper has completed it.
    fn request(&self, request: Request, slot: u32) -> io::Result<()> {
        if self.is_lost() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let _requests = self.0.requests.lock().unwrap_or_else(PoisonError::into_inner);
        self.send(request, slot, &[])?;
        match message::receive(self.0.socket.as_fd()) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => {
                self.set_lost();
                Err(io::ErrorKind::UnexpectedEof.into())
            }
            Err(error) => {
                self.set_lost();
                Err(error)
            }
        }
    }
}

/// The slot of a connection that the keeper holds: its numbers and its send ring. Dropping the
/// value makes the keeper close its descriptor, and waits for that.
#[derive(Debug)]
pub(in crate::tcp) struct Kept {
    client: KeeperClient,
    slot: StateSlot,
}

impl Kept {
    /// Begins the phase in which the numbers of this process are valid.
    pub(in crate::tcp) fn begin(&self, segment_size: u32, reuse: bool, numbers: &Numbers) {
        record::store_constants(self.slot.words(), segment_size, reuse);
        record::store_numbers(self.slot.words(), numbers);
        record::store_phase(self.slot.words(), Phase::Bypassing);
    }

    #[inline]
    pub(in crate::tcp) fn store(&self, numbers: &Numbers) {
        record::store_numbers(self.slot.words(), numbers);
    }

    /// Begins the phase in which the kernel's numbers are valid again.
    pub(in crate::tcp) fn end(&self, numbers: &Numbers) {
        record::store_phase(self.slot.words(), Phase::Returned);
        record::store_numbers(self.slot.words(), numbers);
    }
}

impl Deref for Kept {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.slot
    }
}

impl DerefMut for Kept {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.slot
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        record::store_phase(self.slot.words(), Phase::Free);
        // Without an answer the keeper is lost, and its descriptors are closed.
        let _ = self.client.request(Request::Release, self.slot.index());
    }
}
