//! The program's side of the keeper.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hairpin_mapped::{StateFile, StateSlot};
use hairpin_tcp::Numbers;
use hairpin_xdp::{
    ForkGuardedFd, Interface, InterfaceError, LinkState, Mode, OpenedInterface, ReceiveStamps,
};
use socket2::SockRef;

use super::message::{self, Message, Request};
use super::open::{Busy, OpenRequest};
use super::record::{self, Phase};
use crate::stack::interface_settings;
use crate::tcp::injector::Injector;
use crate::tcp::takeover::{CONNECTIONS, RING};
use crate::{StackError, StackSettings};

/// The longest time that a call waits for the keeper. A keeper that does not answer is lost, and
/// connections with it. The death of a keeper ends the wait at once, so this only bounds the wait
/// for a stopped one: on a loaded machine an answer may take more than a second. A
/// driver takes seconds to attach a filter.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The pause between two attempts to open an interface.
const PAUSE: Duration = Duration::from_millis(5);

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
    injector: Arc<Injector>,
    /// To register at the process that replaces a keeper.
    registration: ForkGuardedFd,
    /// The connection to that process, once it is needed.
    replacement: Mutex<Option<ForkGuardedFd>>,
    is_lost: AtomicBool,
    is_reported: AtomicBool,
}

/// Registers this process. Returns its socket and the descriptors that the keeper sends.
fn register(keeper: BorrowedFd<'_>) -> io::Result<(ForkGuardedFd, Vec<OwnedFd>)> {
    let socket = ForkGuardedFd::from_fn(|| {
        let [ours, theirs] = message::pair()?;
        message::send(keeper, [0; 4], "", &[theirs.as_fd()], libc::MSG_DONTWAIT)?;
        Ok(ours)
    })?;
    let reference = SockRef::from(&socket);
    reference.set_read_timeout(Some(TIMEOUT))?;
    reference.set_write_timeout(Some(TIMEOUT))?;
    let first = message::receive(socket.as_fd())?.ok_or(ErrorKind::UnexpectedEof)?;
    Ok((socket, first.descriptors))
}

impl KeeperClient {
    /// Registers this process at the keeper that [`start_keeper`](super::start_keeper) has started.
    ///
    /// # Errors
    /// The kernel's, or that the keeper does not answer.
    pub fn connect(keeper: BorrowedFd<'_>) -> io::Result<Self> {
        let (socket, mut descriptors) = register(keeper)?;
        if descriptors.is_empty() {
            return Err(ErrorKind::InvalidData.into());
        }
        let file = File::from(descriptors.remove(0));
        let file = StateFile::open(&file, CONNECTIONS as u32, RING)?;
        let injector = Arc::new(Injector::from_fds(descriptors)?);
        let registration = ForkGuardedFd::from_fn(|| keeper.try_clone_to_owned())?;
        let (requests, replacement) = (Mutex::default(), Mutex::default());
        let (is_lost, is_reported) = (AtomicBool::new(false), AtomicBool::new(false));
        Ok(Self(Arc::new(Inner {
            socket,
            requests,
            file,
            injector,
            registration,
            replacement,
            is_lost,
            is_reported,
        })))
    }

    /// Releases all that the keeper holds, before the process ends or runs another program.
    pub fn leave(&self) {
        let _ = self.request(Request::Leave, 0);
    }

    /// Opens an interface: the keeper has the capabilities, and holds the interface until it has
    /// handed back the connections of this process after its death.
    ///
    /// The keeper of a program that has just been killed holds the interface for a moment longer,
    /// and the kernel its queues.
    pub(crate) fn open_interface(
        &self,
        name: &str,
        settings: &StackSettings,
    ) -> Result<Interface, StackError> {
        let begin = Instant::now();
        let link_state = LinkState::new(name);
        loop {
            match self.try_open(name, settings) {
                Err(Refusal::Busy(busy, _)) if begin.elapsed() < busy.patience() => {
                    std::thread::sleep(PAUSE);
                }
                Err(Refusal::Busy(_, error) | Refusal::Other(error)) => return Err(error),
                Ok(opened) => {
                    link_state.wait_until_restored();
                    return Ok(Interface::from_opened(opened)?);
                }
            }
        }
    }

    fn try_open(&self, name: &str, settings: &StackSettings) -> Result<OpenedInterface, Refusal> {
        let (request, socket) = (OpenRequest::new(settings), self.0.socket.as_fd());
        let settings = interface_settings(&request.stack_settings());
        let _requests = self.0.requests.lock().unwrap_or_else(PoisonError::into_inner);
        message::send(socket, request.numbers(), name, &[], 0)?;
        // Forks of other threads do not wait meanwhile.
        message::await_message(socket, TIMEOUT)?;
        let receive = || receive_interface(socket);
        let bind = || {
            message::send(socket, [Request::BindInterface as u32, 0, 0, 0], name, &[], 0)?;
            message::await_message(socket, TIMEOUT)?;
            let received =
                message::receive(socket)?.ok_or(io::Error::from(ErrorKind::UnexpectedEof))?;
            match received.numbers {
                [_, 0, takes_long_frames, _] => Ok(takes_long_frames != 0),
                [_, error, ..] => Err(Refusal::new(error, received.text)),
            }
        };
        // SAFETY: the keeper has prepared the interface for this process with the same settings,
        // and uses nothing of it.
        unsafe { OpenedInterface::from_fds(name, &settings, receive, bind) }
    }

    /// Returns the raw sockets, which the keeper has created.
    pub(crate) fn injector(&self) -> Arc<Injector> {
        Arc::clone(&self.0.injector)
    }

    /// Makes the kernel confirm a neighbor.
    pub(crate) fn use_neighbor(&self, interface: u32, address: IpAddr) -> io::Result<()> {
        let numbers = [Request::UseNeighbor as u32, interface, 0, 0];
        let (socket, text) = (self.0.socket.as_fd(), address.to_string());
        message::send(socket, numbers, &text, &[], libc::MSG_DONTWAIT)
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
        let numbers = [request as u32, slot, 0, 0];
        let sent = message::send(self.0.socket.as_fd(), numbers, "", descriptors, 0);
        sent.inspect_err(|_| self.set_lost())
    }

    /// Sends a request and waits until the keeper has completed it. Returns the kernel's error
    /// number.
    fn request(&self, request: Request, slot: u32) -> io::Result<u32> {
        if self.is_lost() {
            return Err(ErrorKind::NotConnected.into());
        }
        let _requests = self.0.requests.lock().unwrap_or_else(PoisonError::into_inner);
        self.send(request, slot, &[])?;
        answer(self.0.socket.as_fd()).inspect_err(|_| self.set_lost())
    }

    /// Makes the process that replaces a keeper do something to a connection.
    #[cold]
    fn request_replacement(
        &self,
        request: Request,
        slot: u32,
        socket: BorrowedFd<'_>,
    ) -> io::Result<u32> {
        let mut place = self.0.replacement.lock().unwrap_or_else(PoisonError::into_inner);
        if place.is_none() {
            *place = Some(register(self.0.registration.as_fd())?.0);
        }
        let Some(replacement) = place.as_ref() else { return Err(ErrorKind::NotFound.into()) };
        message::send(replacement.as_fd(), [request as u32, slot, 0, 0], "", &[socket], 0)?;
        answer(replacement.as_fd())
    }
}

/// Receives the descriptors of an interface, in one or several messages.
fn receive_interface(socket: BorrowedFd<'_>) -> Result<Received, Refusal> {
    let mut all = Vec::new();
    loop {
        let received =
            message::receive(socket)?.ok_or(io::Error::from(ErrorKind::UnexpectedEof))?;
        let Message { numbers: [_, error, state, count], text, descriptors } = received;
        all.extend(descriptors);
        if error == 0 && all.len() < count as usize {
            continue;
        }
        return match (error, OpenRequest::state(state)) {
            (0, Some((mode, stamps))) => Ok((mode, stamps, all)),
            _ => Err(Refusal::new(error, text)),
        };
    }
}

/// Receives an answer: the kernel's error number.
fn answer(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let answer = message::receive(socket)?.ok_or(ErrorKind::UnexpectedEof)?;
    Ok(answer.numbers[1])
}

/// The reason why the keeper has not opened an interface.
enum Refusal {
    Busy(Busy, StackError),
    Other(StackError),
}

/// The mode of an open interface, the source of its timestamps, and its descriptors.
type Received = (Mode, ReceiveStamps, Vec<OwnedFd>);

impl Refusal {
    fn new(error: u32, text: String) -> Self {
        match Busy::from_number(error) {
            Some(busy) => Self::Busy(busy, StackError::Keeper(text)),
            None => Self::Other(StackError::Keeper(text)),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(_: io::Error) -> Self {
        Self::Other(StackError::Keeper("the keeper has ended".to_string()))
    }
}

impl From<InterfaceError> for Refusal {
    fn from(error: InterfaceError) -> Self {
        Self::Other(error.into())
    }
}

/// What the keeper does to a connection that it holds, because it requires `CAP_NET_ADMIN`.
#[derive(Debug, Clone)]
pub(in crate::tcp) struct RepairSwitch {
    client: KeeperClient,
    slot: u32,
}

impl RepairSwitch {
    pub(in crate::tcp) fn start(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        self.request(Request::StartRepair, socket)
    }

    pub(in crate::tcp) fn start_restoring(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        self.request(Request::StartRestoring, socket)
    }

    pub(in crate::tcp) fn end(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        self.request(Request::EndRepair, socket)
    }

    /// Binds to the local address of the connection, whose port this process may not bind.
    pub(in crate::tcp) fn bind(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        self.request(Request::Bind, socket)
    }

    pub(in crate::tcp) fn grow_send_buffer(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        self.request(Request::GrowSendBuffer, socket)
    }

    /// # Errors
    /// The kernel's; `PermissionDenied` if no keeper is left.
    fn request(&self, request: Request, socket: BorrowedFd<'_>) -> io::Result<()> {
        let answered = self.client.request(request, self.slot);
        let answered =
            answered.or_else(|_| self.client.request_replacement(request, self.slot, socket));
        match answered.map_err(|_| ErrorKind::PermissionDenied)? {
            0 => Ok(()),
            number => Err(io::Error::from_raw_os_error(number.cast_signed())),
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
    pub(in crate::tcp) fn switch(&self) -> RepairSwitch {
        RepairSwitch { client: self.client.clone(), slot: self.slot.index() }
    }

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
