//! The program's side of the keeper.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hairpin_mapped::{StateFile, StateSlot};
use hairpin_tcp::Numbers;
use hairpin_xdp::{
    Entry, EntryError, ForkGuardedFd, Interface, InterfaceError, LinkState, OpenedInterface,
    ReceivedInterface,
};
use socket2::SockRef;
use zerocopy::{FromBytes, IntoBytes};

use super::entry;
use super::message::{self, Message, PAYLOAD, Request};
use super::open::{Busy, OpenRequest};
use super::record::{self, Phase};
use crate::stack::interface_settings;
use crate::tcp::takeover::{CONNECTIONS, RING};
use crate::tcp::transfer::{Given, Refusal, Sent, Taken};
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
    /// To register at the process that replaces a keeper.
    registration: ForkGuardedFd,
    /// The connection to that process, once it is needed.
    replacement: Mutex<Option<ForkGuardedFd>>,
    is_lost: AtomicBool,
    is_reported: AtomicBool,
}

/// Registers this process. Returns its socket and the state file that the keeper sends.
///
/// # Errors
/// The kernel's, or the keeper's reason.
fn register(keeper: BorrowedFd<'_>) -> io::Result<(ForkGuardedFd, File)> {
    let socket = ForkGuardedFd::from_fn(|| {
        let [ours, theirs] = message::pair()?;
        message::send(keeper, [0; 4], &[], &[theirs.as_fd()], libc::MSG_DONTWAIT)?;
        Ok(ours)
    })?;
    let reference = SockRef::from(&socket);
    reference.set_read_timeout(Some(TIMEOUT))?;
    reference.set_write_timeout(Some(TIMEOUT))?;
    let first = message::receive(socket.as_fd(), 0)?.ok_or(ErrorKind::UnexpectedEof)?;
    match <[OwnedFd; 1]>::try_from(first.descriptors) {
        Ok([file]) => Ok((socket, file.into())),
        Err(_) => Err(io::Error::other(String::from_utf8_lossy(&first.payload).into_owned())),
    }
}

impl KeeperClient {
    /// Registers this process at the keeper that [`start_keeper`](super::start_keeper) has started.
    ///
    /// # Errors
    /// The kernel's, or that the keeper does not answer.
    pub fn connect(keeper: BorrowedFd<'_>) -> io::Result<Self> {
        let (socket, file) = register(keeper)?;
        let file = StateFile::open(&file, CONNECTIONS as u32, RING)?;
        let registration = ForkGuardedFd::from_fn(|| keeper.try_clone_to_owned())?;
        let (requests, replacement) = (Mutex::default(), Mutex::default());
        let (is_lost, is_reported) = (AtomicBool::new(false), AtomicBool::new(false));
        Ok(Self(Arc::new(Inner {
            socket,
            requests,
            file,
            registration,
            replacement,
            is_lost,
            is_reported,
        })))
    }

    /// Releases all that the keeper holds, before the process ends or runs another program.
    pub fn leave(&self) {
        let _ = self.call([Request::Leave as u32, 0, 0, 0], &[], &[]);
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
                Err(OpenRefusal::Busy(busy, _)) if begin.elapsed() < busy.patience() => {
                    std::thread::sleep(PAUSE);
                }
                Err(OpenRefusal::Busy(_, error) | OpenRefusal::Other(error)) => return Err(error),
                Ok(opened) => {
                    link_state.wait_until_restored();
                    return Ok(Interface::from_opened(opened)?);
                }
            }
        }
    }

    fn try_open(
        &self,
        name: &str,
        settings: &StackSettings,
    ) -> Result<OpenedInterface, OpenRefusal> {
        let (request, socket) = (OpenRequest::new(settings), self.0.socket.as_fd());
        let settings = interface_settings(&request.stack_settings());
        let _requests = self.0.requests.lock().unwrap_or_else(PoisonError::into_inner);
        message::send(socket, request.numbers(), name.as_bytes(), &[], 0)?;
        // Forks of other threads do not wait meanwhile.
        message::await_message(socket, TIMEOUT)?;
        let receive = || receive_interface(socket);
        let bind = || {
            let numbers = [Request::BindInterface as u32, 0, 0, 0];
            message::send(socket, numbers, name.as_bytes(), &[], 0)?;
            message::await_message(socket, TIMEOUT)?;
            let received =
                message::receive(socket, 0)?.ok_or(io::Error::from(ErrorKind::UnexpectedEof))?;
            match received.numbers {
                [_, 0, takes_long_frames, _] => Ok(takes_long_frames != 0),
                [_, error, ..] => Err(OpenRefusal::new(error, &received.text())),
            }
        };
        // SAFETY: the keeper has prepared the interface for this process with the same settings,
        // and uses nothing of it.
        unsafe { OpenedInterface::from_fds(name, &settings, receive, bind) }
    }

    /// Checks that no rule of the host applies to a UDP socket, of a firewall for example.
    ///
    /// # Errors
    /// The rule, in words; the kernel's.
    pub(crate) fn check_rules(&self, interface: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        let numbers = [Request::FindRules as u32, interface, 0, 0];
        let answer = self.call(numbers, &[], &[socket]);
        let answer = answer
            .or_else(|_| self.with_replacement(|keeper| ask(keeper, numbers, &[], &[socket])))?;
        match answer.numbers[1] {
            0 => Ok(()),
            _ if !answer.payload.is_empty() => Err(io::Error::other(answer.text().into_owned())),
            _ => check(&answer),
        }
    }

    /// Redirects the frames that match an entry, which this socket receives otherwise.
    ///
    /// # Errors
    /// The keeper's reason, or that it has ended.
    pub(crate) fn redirect(
        &self,
        interface: u32,
        entry: &Entry,
        socket: BorrowedFd<'_>,
    ) -> Result<(), EntryError> {
        let of = (interface, socket.as_raw_fd());
        self.change(Request::Redirect, of, entry, &[socket])
    }

    /// Removes a socket from the users of an entry.
    ///
    /// # Errors
    /// That the keeper has ended.
    pub(crate) fn end_redirect(
        &self,
        interface: u32,
        entry: &Entry,
        socket: RawFd,
    ) -> Result<(), EntryError> {
        self.change(Request::EndRedirect, (interface, socket), entry, &[])
    }

    fn change(
        &self,
        request: Request,
        (interface, user): (u32, RawFd),
        entry: &Entry,
        socket: &[BorrowedFd<'_>],
    ) -> Result<(), EntryError> {
        let refused = |reason: &str| EntryError::Refused(reason.to_owned());
        let text = entry::to_text(entry);
        let text = text.ok_or_else(|| refused("the keeper redirects UDP and TCP only"))?;
        let (numbers, text) =
            ([request as u32, interface, user.cast_unsigned(), 0], text.as_bytes());
        let answer = self.call(numbers, text, socket);
        let answer = answer
            .or_else(|_| self.with_replacement(|keeper| ask(keeper, numbers, text, socket)))
            .map_err(|_| refused("the keeper has ended"))?;
        match check(&answer) {
            Ok(()) => Ok(()),
            Err(_) if !answer.payload.is_empty() => Err(refused(&answer.text())),
            Err(error) if error.raw_os_error() == Some(libc::E2BIG) => Err(EntryError::Full),
            Err(error) => Err(refused(&format!("the keeper does not redirect it: {error}"))),
        }
    }

    /// Returns the families with rules of the host that restrict packets, the sum of 1 for IPv4 and
    /// 2 for IPv6, and those with rules that translate addresses.
    pub(crate) fn find_rules(&self, interface: u32) -> io::Result<[u32; 2]> {
        let answer = self.call([Request::FindRules as u32, interface, 0, 0], &[], &[])?;
        check(&answer)?;
        Ok([answer.numbers[2], answer.numbers[3]])
    }

    /// Presents an IP packet of a connection's peer to the kernel, before the answer of any later
    /// request.
    pub(in crate::tcp) fn inject(&self, packet: &[u8]) -> io::Result<()> {
        self.notify([Request::Inject as u32, 0, 0, 0], packet, &[])
    }

    /// Presents an IP packet with UDP to the kernel, for this socket.
    pub(crate) fn inject_udp(&self, socket: BorrowedFd<'_>, packet: &[u8]) -> io::Result<()> {
        self.notify([Request::InjectUdp as u32, 0, 0, 0], packet, &[socket])
    }

    /// Sends a request that is not answered, also to the process that replaces a keeper.
    fn notify(
        &self,
        numbers: message::Numbers,
        payload: &[u8],
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        if !self.is_lost() {
            let sent = message::send(self.0.socket.as_fd(), numbers, payload, descriptors, 0);
            if sent.is_ok() {
                return sent;
            }
        }
        self.with_replacement(|socket| message::send(socket, numbers, payload, descriptors, 0))
    }

    /// Makes the kernel confirm a neighbor.
    pub(crate) fn use_neighbor(&self, interface: u32, address: IpAddr) -> io::Result<()> {
        let numbers = [Request::UseNeighbor as u32, interface, 0, 0];
        let (socket, text) = (self.0.socket.as_fd(), address.to_string());
        message::send(socket, numbers, text.as_bytes(), &[], libc::MSG_DONTWAIT)
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

    /// Reserves a slot for a connection that is about to be taken over; `None` if all are taken.
    ///
    /// # Errors
    /// The kernel's, if memory is exhausted.
    pub(in crate::tcp) fn reserve(&self, reuse: bool) -> io::Result<Option<Kept>> {
        let Some(slot) = self.0.file.take()? else { return Ok(None) };
        record::store_constants(slot.words(), 0, reuse);
        Ok(Some(Kept { client: self.clone(), slot }))
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// The kernel's: the keeper is lost then.
    fn call(
        &self,
        numbers: message::Numbers,
        payload: &[u8],
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<Message> {
        self.with_keeper(|keeper| ask(keeper, numbers, payload, descriptors))
    }

    /// Calls `ask` with the connection to the keeper, while no other thread uses it.
    fn with_keeper<T>(&self, ask: impl FnOnce(BorrowedFd<'_>) -> io::Result<T>) -> io::Result<T> {
        if self.is_lost() {
            return Err(ErrorKind::NotConnected.into());
        }
        let _requests = self.0.requests.lock().unwrap_or_else(PoisonError::into_inner);
        ask(self.0.socket.as_fd()).inspect_err(|_| self.set_lost())
    }

    /// Calls `send` with a connection to the process that replaces a keeper.
    #[cold]
    fn with_replacement<T>(
        &self,
        send: impl FnOnce(BorrowedFd<'_>) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut place = self.0.replacement.lock().unwrap_or_else(PoisonError::into_inner);
        if place.is_none() {
            *place = Some(register(self.0.registration.as_fd())?.0);
        }
        let Some(replacement) = place.as_ref() else { return Err(ErrorKind::NotFound.into()) };
        send(replacement.as_fd())
    }
}

/// Sends a request and receives its answer.
fn ask(
    keeper: BorrowedFd<'_>,
    numbers: message::Numbers,
    payload: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<Message> {
    message::send(keeper, numbers, payload, descriptors, 0)?;
    message::receive(keeper, 0)?.ok_or(ErrorKind::UnexpectedEof.into())
}

/// Returns the error of an answer.
fn check(answer: &Message) -> io::Result<()> {
    match answer.numbers[1] {
        0 => Ok(()),
        number => Err(io::Error::from_raw_os_error(number.cast_signed())),
    }
}

/// Receives the descriptors of an interface, in one or several messages.
fn receive_interface(socket: BorrowedFd<'_>) -> Result<ReceivedInterface, OpenRefusal> {
    let mut all = Vec::new();
    loop {
        let received =
            message::receive(socket, 0)?.ok_or(io::Error::from(ErrorKind::UnexpectedEof))?;
        let [_, error, state, count] = received.numbers;
        let text = received.text().into_owned();
        all.extend(received.descriptors);
        if error == 0 && all.len() < count as usize {
            continue;
        }
        return match (error, OpenRequest::received(state, all)) {
            (0, Some(received)) => Ok(received),
            _ => Err(OpenRefusal::new(error, &text)),
        };
    }
}

/// The reason why the keeper has not opened an interface.
enum OpenRefusal {
    Busy(Busy, StackError),
    Other(StackError),
}

impl OpenRefusal {
    fn new(error: u32, text: &str) -> Self {
        match Busy::from_number(error) {
            Some(busy) => Self::Busy(busy, StackError::Keeper(text.to_string())),
            None => Self::Other(StackError::Keeper(text.to_string())),
        }
    }
}

impl From<io::Error> for OpenRefusal {
    fn from(_: io::Error) -> Self {
        Self::Other(StackError::Keeper("the keeper has ended".to_string()))
    }
}

impl From<InterfaceError> for OpenRefusal {
    fn from(error: InterfaceError) -> Self {
        Self::Other(error.into())
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
    /// Takes the connection of this descriptor from the kernel.
    pub(in crate::tcp) fn take(
        &self,
        socket: BorrowedFd<'_>,
        interface: u32,
        out_of_order: u32,
    ) -> Result<Taken, Refusal> {
        let numbers = [Request::TakeOver as u32, self.slot.index(), out_of_order, interface];
        let Ok(answer) = self.client.call(numbers, &[], &[socket]) else {
            // The keeper may have been killed while the socket was in repair mode.
            let numbers = [Request::EndRepair as u32, 0, 0, 0];
            let _ = self.client.with_replacement(|keeper| ask(keeper, numbers, &[], &[socket]));
            return Err(Refusal::NoKeeper);
        };
        match check(&answer) {
            Ok(()) => Taken::read_from_bytes(&answer.payload)
                .map_err(|_| io::Error::from(ErrorKind::InvalidData).into()),
            Err(error) => Err(Refusal::from_numbers(error, answer.numbers[2], &answer.text())),
        }
    }

    /// Gives the connection back to the kernel.
    ///
    /// # Errors
    /// The kernel's; `PermissionDenied` if no keeper is left.
    pub(in crate::tcp) fn give(
        &self,
        socket: BorrowedFd<'_>,
        given: &Given,
        bytes: &[u8],
    ) -> io::Result<Sent> {
        let numbers = [Request::GiveBack as u32, self.slot.index(), 0, 0];
        let answer = self.request(numbers, given.as_bytes(), socket, bytes)?;
        check(&answer)?;
        let [_, _, beside, error] = answer.numbers;
        let error = (error != 0).then(|| io::Error::from_raw_os_error(error.cast_signed()));
        // From now on the record has no meaning.
        record::store_phase(self.slot.words(), Phase::Free);
        Ok(Sent { beside, error })
    }

    /// Makes the connection the kernel's again, which has everything.
    pub(in crate::tcp) fn undo(&self) -> io::Result<()> {
        let numbers = [Request::Undo as u32, self.slot.index(), 0, 0];
        check(&self.client.call(numbers, &[], &[])?)
    }

    pub(in crate::tcp) fn grow_send_buffer(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        let numbers = [Request::GrowSendBuffer as u32, self.slot.index(), 0, 0];
        check(&self.request(numbers, &[], socket, &[])?)
    }

    /// Sends a request for this slot after `bytes`; to the process that replaces a keeper, with the
    /// descriptor.
    ///
    /// # Errors
    /// `PermissionDenied` if no keeper is left.
    fn request(
        &self,
        numbers: message::Numbers,
        payload: &[u8],
        socket: BorrowedFd<'_>,
        bytes: &[u8],
    ) -> io::Result<Message> {
        let ask_with = |keeper: BorrowedFd<'_>, descriptors: &[BorrowedFd<'_>]| {
            for part in bytes.chunks(PAYLOAD) {
                message::send(keeper, [Request::AddBytes as u32, 0, 0, 0], part, &[], 0)?;
            }
            ask(keeper, numbers, payload, descriptors)
        };
        let answered = self.client.with_keeper(|keeper| ask_with(keeper, &[]));
        let answered = answered
            .or_else(|_| self.client.with_replacement(|keeper| ask_with(keeper, &[socket])));
        answered.map_err(|_| ErrorKind::PermissionDenied.into())
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
        let _ = self.client.call([Request::Release as u32, self.slot.index(), 0, 0], &[], &[]);
    }
}
