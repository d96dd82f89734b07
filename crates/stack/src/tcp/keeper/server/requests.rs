//! The requests of a process.

use std::collections::HashMap;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use hairpin_mapped::StateReader;
use hairpin_wire::Protocol;
use hairpin_xdp::{
    Device, Entry, EntryError, InterfaceError, KeptInterface, LinkError, LinkOwner,
    PreparedInterface,
};
use socket2::SockRef;
use zerocopy::{FromBytes, IntoBytes};

use super::super::entry;
use super::super::message::{self, DESCRIPTORS_MAX, Message, Request};
use super::super::open::{Busy, OTHER, OpenRequest};
use super::super::orphan::Orphan;
use super::passed::{Passed, close_aside, close_udp, is_full};
use super::privileges::Privileges;
use super::udp::{self, Redirects, plain};
use crate::stack::prepare_interface;
use crate::tcp::injector::{Injector, ends};
use crate::tcp::kernel_socket::KernelSocket;
use crate::tcp::takeover::{CONNECTIONS, RING, RING_MAX};
use crate::tcp::transfer::{Given, Refusal, Sent, Taken};

/// The time for which the last packets of a connection may still be injected after its handback.
pub(super) const LATE: Duration = Duration::from_secs(1);

/// What the keeper holds for a process.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) socket: OwnedFd,
    pub(super) process_id: libc::pid_t,
    /// The process: readable when it has ended.
    pub(super) process: OwnedFd,
    pub(super) state: StateReader,
    /// The connections by slot.
    pub(super) orphans: HashMap<u32, Orphan>,
    /// The local and the remote addresses of connections that may receive injected packets, until a
    /// time for those that the kernel has again.
    pub(super) flows: HashMap<[SocketAddr; 2], Option<Instant>>,
    /// The bytes of the next connection that it gives back.
    pub(super) bytes: Vec<u8>,
    /// Its interfaces by name.
    pub(super) interfaces: HashMap<String, HeldInterface>,
    pub(super) redirects: Redirects,
}

/// What is held of a program's interface.
#[derive(Debug)]
pub(super) enum HeldInterface {
    /// Its sockets are not bound yet.
    Prepared(Box<PreparedInterface>),
    /// In use.
    Bound(KeptInterface),
}
/// The numbers of an answer, of which the first has no meaning, and its payload.
pub(super) type Answer = (message::Numbers, Vec<u8>);

/// Returns the kernel's error of a filter's.
pub(super) fn errno(error: EntryError) -> io::Error {
    match error {
        EntryError::Full => io::Error::from_raw_os_error(libc::E2BIG),
        EntryError::Kernel(error) => error,
        _ => invalid(),
    }
}

fn number(error: &io::Error) -> u32 {
    error.raw_os_error().unwrap_or(libc::EBADF).cast_unsigned()
}

pub(super) fn failure(error: &io::Error) -> Answer {
    ([0, number(error), 0, 0], Vec::new())
}

pub(super) fn done(result: io::Result<()>) -> Answer {
    result.map_or_else(|error| failure(&error), |()| Answer::default())
}

pub(super) fn refused(refusal: &Refusal) -> Answer {
    let [error, kind] = refusal.numbers();
    let text = match refusal {
        Refusal::Rule(rule) => rule.clone().into_bytes(),
        _ => Vec::new(),
    };
    ([0, error, kind, 0], text)
}

impl Client {
    /// Creates the state file of a process, and sends it.
    pub(super) fn new(socket: OwnedFd, process_id: libc::pid_t, process: OwnedFd) -> Option<Self> {
        let send = |state: StateReader| {
            let sent = [state.file().as_fd()];
            message::send(socket.as_fd(), [0; 4], &[], &sent, libc::MSG_DONTWAIT).map(|()| state)
        };
        let Ok(state) = StateReader::create(CONNECTIONS as u32, RING).and_then(send) else {
            // Messages that were not received have descriptors, which close with it.
            close_aside(socket);
            return None;
        };
        let (orphans, flows, interfaces) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (bytes, redirects) = (Vec::new(), Redirects::default());
        Some(Self {
            socket,
            process_id,
            process,
            state,
            orphans,
            flows,
            bytes,
            interfaces,
            redirects,
        })
    }

    /// Receives nothing more than what was sent: the process has ended, and another one that holds
    /// its socket could keep this client without limit. Sending stays possible, because the socket
    /// may be the one at which the programs of the run register.
    pub(super) fn end_requests(&self) {
        let _ = SockRef::from(&self.socket).shutdown(Shutdown::Read);
    }

    /// Serves one request; `None` if the process has ended. A request that the library does not
    /// send is answered with an error.
    pub(super) fn serve(&mut self, privileges: &mut Privileges, injector: &Injector) -> Option<()> {
        let mut message = match message::receive(self.socket.as_fd(), libc::MSG_DONTWAIT) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Some(()),
            message => message.ok()??,
        };
        // Also those of a request that does not exist.
        let passed = Passed(std::mem::take(&mut message.descriptors));
        let answer = match Request::from_number(message.numbers[0]) {
            Some(Request::TakeOver) if message.lacks_descriptors => refused(&Refusal::Full),
            _ if message.lacks_descriptors => failure(&io::Error::from_raw_os_error(libc::EMFILE)),
            Some(request) => match self.fulfil(request, message, passed, privileges, injector) {
                Some(answer) => answer,
                None => return Some(()),
            },
            None => failure(&invalid()),
        };
        let (numbers, payload) = answer;
        // A process that does not read its answers waits for none.
        let flags = libc::MSG_DONTWAIT;
        let _ = message::send(self.socket.as_fd(), numbers, &payload, &[], flags);
        Some(())
    }

    /// Fulfils a request. Returns its answer, if it has one that was not sent.
    fn fulfil(
        &mut self,
        request: Request,
        message: Message,
        mut passed: Passed,
        privileges: &mut Privileges,
        injector: &Injector,
    ) -> Option<Answer> {
        let text = message.text().into_owned();
        let Message { numbers, mut payload, .. } = message;
        let [_, slot, ..] = numbers;
        Some(match request {
            Request::TakeOver => match self.take_over(numbers, passed.take(), privileges) {
                Ok(taken) => ([0; 4], taken.as_bytes().to_vec()),
                Err(refusal) => refused(&refusal),
            },
            Request::GiveBack => match self.give_back(slot, &payload, &mut passed, privileges) {
                Ok(Sent { beside, error }) => {
                    ([0, 0, beside, error.map_or(0, |error| number(&error))], Vec::new())
                }
                Err(error) => failure(&error),
            },
            Request::Undo => done(self.undo(slot)),
            Request::Release => {
                self.release(slot);
                Answer::default()
            }
            Request::GrowSendBuffer => {
                done(self.with_socket(slot, &mut passed, |socket| socket.grow_send_buffer()))
            }
            Request::EndRepair => done(self.with_socket(u32::MAX, &mut passed, |socket| {
                self.end_flow_of(socket);
                socket.end_repair()
            })),
            Request::FindRules => find_rules(slot, passed.take(), privileges),
            Request::Leave => {
                self.leave(privileges);
                Answer::default()
            }
            Request::AddBytes => {
                self.add_bytes(&payload);
                return None;
            }
            Request::Inject => {
                self.inject(&mut payload, injector);
                return None;
            }
            Request::InjectUdp => {
                udp::inject(&payload, passed.take(), privileges, injector);
                return None;
            }
            Request::Redirect => self.redirect(numbers, &text, &mut passed, privileges),
            Request::EndRedirect => done(self.end_redirect(numbers, &text)),
            Request::OpenInterface => {
                self.open_interface(&text, OpenRequest::from_numbers(numbers), privileges);
                return None;
            }
            Request::BindInterface => {
                self.bind_interface(&text, privileges);
                return None;
            }
            Request::UseNeighbor => {
                privileges.use_neighbor(slot, &text);
                return None;
            }
        })
    }

    /// Releases all that is held.
    fn leave(&mut self, privileges: &mut Privileges) {
        let slots: Vec<_> = self.orphans.keys().copied().collect();
        slots.into_iter().for_each(|slot| self.release(slot));
        self.end_redirects();
        privileges.close(&self.interfaces);
        self.interfaces.clear();
    }

    fn take_over(
        &mut self,
        [_, slot, out_of_order, interface]: message::Numbers,
        socket: Option<OwnedFd>,
        privileges: &mut Privileges,
    ) -> Result<Taken, Refusal> {
        let socket = socket.ok_or_else(invalid)?;
        if is_full(&socket) {
            close_aside(socket);
            return Err(Refusal::Full);
        }
        let mut orphan = self.hold(slot, socket, privileges)?;
        match self.take(&mut orphan, out_of_order, interface, privileges) {
            Ok(taken) => {
                self.flows.insert(orphan.addresses().map(plain), None);
                self.orphans.insert(slot, orphan);
                Ok(taken)
            }
            Err(refusal) => {
                if orphan.is_redirected {
                    // What was redirected meanwhile is presented to the kernel.
                    self.add_late_flow(&orphan);
                }
                self.end_flow(&mut orphan);
                orphan.close();
                Err(refusal)
            }
        }
    }

    /// Takes a connection whose flow is redirected from now on.
    fn take(
        &self,
        orphan: &mut Orphan,
        out_of_order: u32,
        interface: u32,
        privileges: &mut Privileges,
    ) -> Result<Taken, Refusal> {
        let interface = kept(&self.interfaces, interface).ok_or_else(invalid)?;
        if orphan.is_bound_elsewhere(interface.index()) {
            return Err(invalid().into());
        }
        let addresses = orphan.addresses();
        let rule = privileges.obstacle(interface.index(), addresses[0].ip(), Some(addresses));
        if let Some(rule) = rule {
            return Err(Refusal::Rule(rule));
        }
        let flow = flow(addresses);
        if !interface.has_arrived(&flow).map_err(errno)? {
            return Err(Refusal::NothingArrived);
        }
        interface.redirect(&flow).map_err(|error| match error {
            EntryError::Full => Refusal::FilterFull,
            error => Refusal::Kernel(errno(error)),
        })?;
        orphan.is_redirected = true;
        orphan.take(out_of_order)
    }

    /// Redirects what a UDP socket receives.
    fn redirect(
        &mut self,
        [_, interface, user, _]: message::Numbers,
        entry: &str,
        passed: &mut Passed,
        privileges: &mut Privileges,
    ) -> Answer {
        if let Some((kept, entry)) = kept(&self.interfaces, interface).zip(entry::from_text(entry))
            && let Some(socket) = passed.take()
        {
            return self.redirects.add(kept, entry, user, socket, privileges);
        }
        failure(&invalid())
    }

    fn end_redirect(
        &mut self,
        [_, interface, user, _]: message::Numbers,
        entry: &str,
    ) -> io::Result<()> {
        let kept = kept(&self.interfaces, interface).ok_or_else(invalid)?;
        self.redirects.end(kept, entry::from_text(entry).ok_or_else(invalid)?, user)
    }

    /// Makes the kernel receive what UDP sockets receive.
    pub(super) fn end_redirects(&mut self) {
        let Self { interfaces, redirects, .. } = self;
        bound(interfaces).for_each(|kept| redirects.end_all(kept));
    }

    /// Makes the kernel receive what belongs to no socket of this process any more, because the
    /// program has dissolved a socket's address with connect(2).
    pub(super) fn recheck(&mut self) {
        let Self { interfaces, redirects, orphans, .. } = self;
        redirects.recheck(|index| kept(interfaces, index));
        let dissolved = orphans.values_mut().filter(|it| it.is_redirected && it.is_dissolved());
        for orphan in dissolved {
            orphan.is_redirected = false;
            remove_flow(interfaces, orphan.addresses());
        }
    }

    /// Makes the kernel receive a connection again.
    fn end_flow(&self, orphan: &mut Orphan) {
        if std::mem::take(&mut orphan.is_redirected) {
            remove_flow(&self.interfaces, orphan.addresses());
        }
    }

    /// Removes the flow of a connection that the keeper before this one has taken.
    fn end_flow_of(&self, socket: KernelSocket<'_>) {
        let reference = SockRef::from(&socket.fd);
        if let (Ok(local), Ok(remote)) = (reference.local_addr(), reference.peer_addr())
            && let (Some(local), Some(remote)) = (local.as_socket(), remote.as_socket())
        {
            remove_flow(&self.interfaces, [local, remote]);
        }
    }

    fn undo(&mut self, slot: u32) -> io::Result<()> {
        let mut orphan = self.orphans.remove(&slot).ok_or_else(invalid)?;
        let undone = orphan.undo();
        self.end_flow(&mut orphan);
        self.orphans.insert(slot, orphan);
        undone
    }

    /// Checks a connection for a free slot: it is established, from an address of the run's
    /// interfaces.
    fn hold(&self, slot: u32, socket: OwnedFd, privileges: &mut Privileges) -> io::Result<Orphan> {
        let orphan = match Orphan::new(socket) {
            Ok(orphan) => orphan,
            Err(socket) => {
                close_aside(socket);
                return Err(io::Error::from_raw_os_error(libc::EBADF));
            }
        };
        let [local, _] = orphan.addresses();
        let is_free = (slot as usize) < CONNECTIONS && !self.orphans.contains_key(&slot);
        let is_here = privileges.has_namespace_of(orphan.kernel().fd);
        if !is_free || !is_here || !privileges.has_address(local.ip()) {
            orphan.close();
            return Err(invalid());
        }
        Ok(orphan)
    }

    fn give_back(
        &mut self,
        slot: u32,
        given: &[u8],
        passed: &mut Passed,
        privileges: &mut Privileges,
    ) -> io::Result<Sent> {
        let bytes = std::mem::take(&mut self.bytes);
        let given = Given::read_from_bytes(given).map_err(|_| invalid())?;
        if !given.is_possible(RING, RING_MAX) {
            return Err(invalid());
        }
        let held = self.orphans.remove(&slot);
        let was_held = held.is_some();
        let mut orphan = match held {
            Some(orphan) => orphan,
            None => {
                // The keeper before this one has held it.
                let mut orphan = self.hold(slot, passed.take().ok_or_else(invalid)?, privileges)?;
                orphan.is_redirected = true;
                orphan
            }
        };
        self.flows.insert(orphan.addresses().map(plain), Some(Instant::now() + LATE));
        let result = orphan.give(&given, &bytes);
        if result.is_ok() {
            self.end_flow(&mut orphan);
        }
        match was_held {
            true => drop(self.orphans.insert(slot, orphan)),
            false => orphan.close(),
        }
        result
    }

    /// Adds to the bytes of the next connection that the process gives back.
    fn add_bytes(&mut self, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() <= RING + RING_MAX {
            self.bytes.extend(bytes);
        }
    }

    fn release(&mut self, slot: u32) {
        let Some(mut orphan) = self.orphans.remove(&slot) else { return };
        self.end_flow(&mut orphan);
        self.add_late_flow(&orphan);
        orphan.close();
    }

    /// Permits the injection of the last packets of a connection.
    fn add_late_flow(&mut self, orphan: &Orphan) {
        let now = Instant::now();
        self.flows.retain(|_, until| until.is_none_or(|until| until > now));
        self.flows.insert(orphan.addresses().map(plain), Some(now + LATE));
    }

    /// Calls `change` with the socket of a slot; without one, with a TCP socket that was passed.
    fn with_socket(
        &self,
        slot: u32,
        passed: &mut Passed,
        change: impl FnOnce(KernelSocket<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        if let Some(orphan) = self.orphans.get(&slot) {
            return change(orphan.kernel());
        }
        let socket = passed.take().ok_or_else(invalid)?;
        let kernel = KernelSocket::new(socket.as_fd());
        let result = match kernel.protocol() {
            Ok(libc::IPPROTO_TCP) => change(kernel),
            _ => Err(io::Error::from_raw_os_error(libc::EBADF)),
        };
        close_aside(socket);
        result
    }

    /// Presents a packet to the kernel if a peer of this process may have sent it.
    fn inject(&self, packet: &mut [u8], injector: &Injector) {
        if let Some([source, destination]) = ends(packet, Protocol::TCP)
            && let Some(until) = self.flows.get(&[destination, source])
            && until.is_none_or(|until| until > Instant::now())
        {
            // The peer sends again what is lost.
            let _ = injector.inject(packet);
        }
    }

    /// Prepares an interface of the run and sends its descriptors.
    fn open_interface(
        &mut self,
        name: &str,
        request: OpenRequest,
        privileges: &mut Privileges,
    ) -> Option<()> {
        let number = Request::OpenInterface as u32;
        if !privileges.interfaces.iter().any(|allowed| allowed == name) {
            return self.refuse(number, OTHER, "the interface does not belong to this run");
        }
        if let Some(held) = self.interfaces.remove(name) {
            if let HeldInterface::Bound(kept) = held {
                self.redirects.end_all(&kept);
            }
            privileges.close_one(name);
        } else if privileges.open.contains(name) {
            let owner = Device::from_name(name).ok().and_then(|it| LinkOwner::find(it.index));
            let (name, reason) = (name.to_string(), LinkError::Busy(owner));
            return self.refuse_open(number, &InterfaceError::Link { name, reason });
        }
        let prepared = prepare_interface(name, &request.stack_settings()).and_then(|mut it| {
            if PreparedInterface::can_bind_first() {
                it.bind()?;
            }
            Ok(it)
        });
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return self.refuse_open(number, &error),
        };
        let all = prepared.descriptors()?;
        let state = OpenRequest::state_number(&prepared);
        all.chunks(DESCRIPTORS_MAX).try_for_each(|part| {
            let numbers = [number, 0, state, all.len() as u32];
            message::send(self.socket.as_fd(), numbers, &[], part, libc::MSG_DONTWAIT).ok()
        })?;
        self.interfaces.insert(name.to_string(), HeldInterface::Prepared(Box::new(prepared)));
        privileges.open.insert(name.to_string());
        Some(())
    }

    /// Binds the sockets of a prepared interface, whose rings the program has mapped, and holds the
    /// link and the sockets.
    fn bind_interface(&mut self, name: &str, privileges: &mut Privileges) -> Option<()> {
        let number = Request::BindInterface as u32;
        let is_prepared = |held: &mut HeldInterface| matches!(held, HeldInterface::Prepared(_));
        let held = self.interfaces.extract_if(|held, value| held == name && is_prepared(value));
        let Some((_, HeldInterface::Prepared(mut prepared))) = held.last() else {
            return self.refuse(number, OTHER, "the interface is not prepared");
        };
        let bound = prepared.bind().and_then(|takes_long_frames| {
            Ok((takes_long_frames, prepared.keep().map_err(InterfaceError::Sockets)?))
        });
        let (takes_long_frames, kept) = match bound {
            Ok(bound) => bound,
            Err(error) => {
                privileges.close_one(name);
                return self.refuse_open(number, &error);
            }
        };
        // Without this, the death of the keeper ends the bypass.
        let process = (self.process_id, self.process.as_fd());
        let _ = privileges.vault.add(name, process, &kept);
        self.interfaces.insert(name.to_string(), HeldInterface::Bound(kept));
        let numbers = [number, 0, takes_long_frames.into(), 0];
        message::send(self.socket.as_fd(), numbers, &[], &[], libc::MSG_DONTWAIT).ok()
    }

    fn refuse_open(&self, request: u32, error: &InterfaceError) -> Option<()> {
        let busy = Busy::from_error(error).map_or(OTHER, |busy| busy as u32);
        self.refuse(request, busy, &error.to_string())
    }

    fn refuse(&self, request: u32, error: u32, text: &str) -> Option<()> {
        let socket = self.socket.as_fd();
        let flags = libc::MSG_DONTWAIT;
        message::send(socket, [request, error, 0, 0], text.as_bytes(), &[], flags).ok()
    }
}
/// Finds the rules of the host that apply to a UDP socket, or to any flow.
fn find_rules(interface: u32, socket: Option<OwnedFd>, privileges: &mut Privileges) -> Answer {
    let Some(socket) = socket else {
        return match privileges.families(interface) {
            Ok(([restricting, translating], rule)) => {
                ([0, 0, restricting, translating], rule.unwrap_or_default().into_bytes())
            }
            Err(error) => failure(&error),
        };
    };
    let local = SockRef::from(&socket).local_addr().ok().and_then(|local| local.as_socket());
    close_udp(socket);
    match local.map(|local| privileges.obstacle(interface, local.ip(), None)) {
        Some(None) => Answer::default(),
        Some(Some(rule)) => refused(&Refusal::Rule(rule)),
        None => failure(&io::Error::from_raw_os_error(libc::EBADF)),
    }
}

/// Returns the interfaces in use.
fn bound(interfaces: &HashMap<String, HeldInterface>) -> impl Iterator<Item = &KeptInterface> {
    interfaces.values().filter_map(|held| match held {
        HeldInterface::Bound(kept) => Some(kept),
        HeldInterface::Prepared(_) => None,
    })
}

/// Returns the interface in use with this index.
fn kept(interfaces: &HashMap<String, HeldInterface>, index: u32) -> Option<&KeptInterface> {
    bound(interfaces).find(|kept| kept.index() == index)
}

fn remove_flow(interfaces: &HashMap<String, HeldInterface>, addresses: [SocketAddr; 2]) {
    // Without the entry there is nothing to remove.
    bound(interfaces).for_each(|kept| drop(kept.remove(&flow(addresses))));
}

/// Returns the entry of a connection.
fn flow([local, remote]: [SocketAddr; 2]) -> Entry {
    Entry::Flow { protocol: hairpin_xdp::Protocol::Tcp, vlan: None, local, remote }
}

fn invalid() -> io::Error {
    io::Error::from_raw_os_error(libc::EINVAL)
}
