//! The keeper's process.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use hairpin_mapped::StateReader;
use hairpin_xdp::{Device, InterfaceError, LinkError, LinkOwner, PreparedInterface};

use super::message::{self, DESCRIPTORS_MAX, Message, Request};
use super::open::{Busy, OTHER, OpenRequest};
use super::orphan::{InFlight, Orphan, Rest};
use crate::netlink::Netlink;
use crate::run_summary::LastLine;
use crate::stack::prepare_interface;
use crate::tcp::injector::Injector;
use crate::tcp::kernel_socket::{ESTABLISHED, KernelSocket};
use crate::tcp::takeover::{CONNECTIONS, RING};

/// The most times that a killed keeper is replaced.
const REPLACEMENTS: u32 = 1_000;
/// The most processes of a run that register.
const CLIENTS_MAX: usize = 4_096;
/// The lowest number of the descriptor that a run's processes inherit, if it cannot be beyond the
/// limit of descriptors: out of the way of programs.
const DESCRIPTOR: libc::c_int = 900;
/// The most descriptors that a run's processes inherit, also in a run within a run.
const INHERITED_MAX: libc::rlim_t = 16;
/// The highest limit of descriptors to go beyond: each process has a table up to the number.
const LIMIT_MAX: libc::rlim_t = 4_096;
/// The longest time to wait for acknowledgments before an RST.
const PATIENCE: Duration = Duration::from_millis(500);
/// The longest time to wait until a process that has closed its socket has ended.
const ENDED: Duration = Duration::from_millis(300);
/// The time until the first repetition of a probe.
const PROBE_INTERVAL: Duration = Duration::from_millis(10);
/// The interval of checking for both. At other times the keeper sleeps.
const INTERVAL: Duration = Duration::from_millis(2);
const NAME: &CStr = c"hairpin-keeper";

/// Starts a keeper in the network namespace of this process, as a child of init: two processes, of
/// which one waits for the other and replaces it if it is killed. The keeper opens no other
/// interfaces than these for the programs of the run. It prints `last_line` when it ends.
///
/// Returns the descriptor for [`KeeperClient::connect`](super::KeeperClient::connect): not
/// close-on-exec, so that the programs of a run inherit it. The keeper ends when the last process
/// that has the descriptor has ended.
///
/// # Errors
/// The kernel's, and `Unsupported` if this process has more than one thread: a copy of it could not
/// allocate.
pub fn start_keeper(interfaces: &[String], last_line: Option<LastLine>) -> io::Result<OwnedFd> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let [ours, theirs] = message::pair()?;
    // SAFETY: this process has one thread, so the child's memory is consistent.
    let child = match unsafe { libc::fork() } {
        -1 => return Err(io::Error::last_os_error()),
        0 => {
            drop(ours);
            detach(theirs, interfaces, last_line);
            // SAFETY: ends the child without the exit handlers of its parent.
            unsafe { libc::_exit(0) };
        }
        child => child,
    };
    drop(theirs);
    // SAFETY: no status is requested; the child ends at once.
    while unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
    if message::receive(ours.as_fd())?.is_none() {
        return Err(io::Error::other("cannot open raw sockets, or cannot fork"));
    }
    inheritable(&ours)
}

/// Duplicates a descriptor for the programs of a run: not close-on-exec, to a number out of their
/// way.
///
/// # Errors
/// The kernel's.
pub fn inheritable(descriptor: &OwnedFd) -> io::Result<OwnedFd> {
    duplicate_beyond_limit(descriptor)
        .or_else(|_| duplicate(descriptor, DESCRIPTOR))
        // The limit of descriptors may be lower.
        .or_else(|_| duplicate(descriptor, 3))
}

/// Duplicates a descriptor, not close-on-exec, to the first free number from `from` on.
fn duplicate(descriptor: &OwnedFd, from: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: the call takes integers.
    let number = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD, from) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Duplicates a descriptor to a number beyond the limit of descriptors (`RLIMIT_NOFILE`), which the
/// program does not find when it examines all numbers up to the limit.
fn duplicate_beyond_limit(descriptor: &OwnedFd) -> io::Result<OwnedFd> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes the structure.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    if !(1..=LIMIT_MAX).contains(&limit.rlim_cur) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let rlim_cur = limit.rlim_cur + INHERITED_MAX;
    let raised = libc::rlimit { rlim_cur, rlim_max: limit.rlim_max.max(rlim_cur) };
    // SAFETY: the kernel reads the structure.
    let set = |limit: &libc::rlimit| unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, limit) };
    if set(&raised) != 0 {
        return Err(io::Error::last_os_error());
    }
    let duplicated = duplicate(descriptor, limit.rlim_cur as libc::c_int);
    set(&limit);
    duplicated
}

/// Forks the keeper, in a child that ends at once: its parent becomes init.
fn detach(registration: OwnedFd, interfaces: &[String], last_line: Option<LastLine>) {
    // SAFETY: this process has one thread.
    if unsafe { libc::fork() } != 0 {
        return;
    }
    let mut kept = vec![registration.as_raw_fd()];
    kept.extend(last_line.iter().flat_map(LastLine::descriptors));
    isolate(kept);
    // A panic must not continue in code of the parent.
    let _ = std::panic::catch_unwind(|| {
        // A forked process does not inherit them.
        if Injector::open().is_ok()
            && message::send(registration.as_fd(), [0; 4], "", &[], 0).is_ok()
            && is_server()
            && let Ok(injector) = Injector::open()
        {
            Server::new(registration, injector, interfaces.to_vec()).run();
            if let Some(last_line) = last_line {
                last_line.print();
            }
        }
    });
}

/// Forks the process that serves, again if it was killed. Returns `true` in that process, and
/// `false` in this one when the other has ended in order.
fn is_server() -> bool {
    for _ in 0..REPLACEMENTS {
        // SAFETY: this process has one thread.
        let child = match unsafe { libc::fork() } {
            0 => return true,
            child => child,
        };
        let mut status = 0;
        // SAFETY: the status outlives the call.
        while unsafe { libc::waitpid(child, &raw mut status, 0) } < 0 {
            if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return false;
            }
        }
        if !libc::WIFSIGNALED(status) {
            return false;
        }
    }
    false
}

/// Gives up what the keeper shares with the program: terminal, folder, signals and all descriptors
/// but these.
fn isolate(mut kept: Vec<RawFd>) {
    // SAFETY: the calls take integers, constant strings and local variables. No value of this
    // process uses the descriptors that are closed or replaced.
    unsafe {
        libc::setsid();
        libc::chdir(c"/".as_ptr());
        libc::prctl(libc::PR_SET_NAME, NAME.as_ptr());
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
        kept.sort_unstable();
        let mut begin = 3;
        for fd in kept {
            // An empty range is an error without effect.
            libc::syscall(libc::SYS_close_range, begin, fd - 1, 0);
            begin = fd + 1;
        }
        libc::syscall(libc::SYS_close_range, begin, libc::c_int::MAX, 0);
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        for standard in 0..3 {
            libc::dup2(null, standard);
        }
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// What the keeper holds for a process.
#[derive(Debug)]
struct Client {
    socket: OwnedFd,
    /// The process, if it could be opened.
    process: Option<OwnedFd>,
    state: StateReader,
    /// The connections by slot.
    orphans: HashMap<u32, Orphan>,
    /// The local ports of connections that are being handed back.
    ports: HashMap<u32, OwnedFd>,
    /// Its interfaces by name.
    interfaces: HashMap<String, HeldInterface>,
}

/// A process that has closed its socket and has not ended. Until the kernel has closed all its
/// descriptors, frames are redirected to its AF_XDP sockets, and the answers of the peers would be
/// lost.
#[derive(Debug)]
struct Ending {
    client: Client,
    process: OwnedFd,
    until: Instant,
}

/// A connection that is closed once the peer has acknowledged all.
#[derive(Debug)]
struct Pending {
    orphan: Orphan,
    until: Instant,
    /// A segment that makes the peer acknowledge.
    probe: Option<Vec<u8>>,
    /// The time of the next probe.
    probe_at: Instant,
    /// The time from that probe to the one after it, doubled with each.
    interval: Duration,
}

impl Pending {
    fn new(orphan: Orphan, in_flight: Option<InFlight>, now: Instant) -> Self {
        let probe = in_flight.and_then(|it| it.probe);
        Self { orphan, until: now + PATIENCE, probe, probe_at: now, interval: PROBE_INTERVAL }
    }

    /// Sends the probe if it is due: an answer may have been redirected to the dead process.
    fn poll(&mut self, injector: &Injector, now: Instant) {
        if now >= self.probe_at
            && let Some(probe) = &mut self.probe
        {
            let _ = injector.inject(probe);
            self.probe_at = now + self.interval;
            self.interval *= 2;
        }
    }
}

#[derive(Debug)]
pub(super) struct Server {
    /// `None` once no process of the run has its other end.
    registration: Option<OwnedFd>,
    clients: Vec<Client>,
    ending: Vec<Ending>,
    pending: Vec<Pending>,
    injector: Injector,
    privileges: Privileges,
}

/// What is held of a program's interface.
#[derive(Debug)]
enum HeldInterface {
    /// Its sockets are not bound yet.
    Prepared(Box<PreparedInterface>),
    /// The link and the sockets.
    Bound(#[expect(dead_code, reason = "closed when dropped")] Vec<OwnedFd>),
}

/// What programs may ask for.
#[derive(Debug)]
struct Privileges {
    /// The names of the run's interfaces, and of those that a process has opened.
    interfaces: Vec<String>,
    open: HashSet<String>,
    /// Opened for the first request.
    netlink: Option<Netlink>,
}

impl Server {
    pub(super) fn new(registration: OwnedFd, injector: Injector, interfaces: Vec<String>) -> Self {
        let registration = Some(registration);
        let privileges = Privileges { interfaces, open: HashSet::new(), netlink: None };
        let (clients, ending, pending) = (Vec::new(), Vec::new(), Vec::new());
        Self { registration, clients, ending, pending, injector, privileges }
    }

    /// Serves until the last process of the run has ended.
    pub(super) fn run(&mut self) {
        while self.registration.is_some()
            || !self.clients.is_empty()
            || !self.ending.is_empty()
            || !self.pending.is_empty()
        {
            let Ok(ready) = self.wait() else { return };
            // From the end, because a client that ends is removed.
            for index in (0..self.clients.len()).rev() {
                if ready.contains(&self.clients[index].socket.as_raw_fd())
                    && self.clients[index].serve(&mut self.privileges).is_none()
                {
                    let client = self.clients.swap_remove(index);
                    self.end(client);
                }
            }
            let registration = self.registration.as_ref().map(AsRawFd::as_raw_fd);
            if registration.is_some_and(|fd| ready.contains(&fd)) {
                self.register();
            }
            let now = Instant::now();
            let has_ended =
                |it: &mut Ending| it.until <= now || ready.contains(&it.process.as_raw_fd());
            let ended: Vec<_> = self.ending.extract_if(.., has_ended).collect();
            ended.into_iter().for_each(|ending| self.finish(ending.client));
            self.pending.retain_mut(|it| {
                it.poll(&self.injector, now);
                it.until > now && !it.orphan.is_acknowledged()
            });
        }
    }

    /// Waits for requests. Returns the descriptors that have one or have ended.
    fn wait(&self) -> io::Result<Vec<RawFd>> {
        let fds = self.registration.iter().chain(self.clients.iter().map(|client| &client.socket));
        let fds = fds.chain(self.ending.iter().map(|ending| &ending.process));
        let mut fds: Vec<_> = fds
            .map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 })
            .collect();
        let is_idle = self.pending.is_empty() && self.ending.is_empty();
        let timeout = if is_idle { -1 } else { INTERVAL.as_millis() as i32 };
        // SAFETY: the array has that many elements.
        let count = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout) };
        if count < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return Err(io::Error::last_os_error());
        }
        Ok(fds.iter().filter(|fd| fd.revents != 0).map(|fd| fd.fd).collect())
    }

    /// Accepts a process: it has sent one end of a pair of sockets.
    fn register(&mut self) {
        let Some(registration) = &self.registration else { return };
        match message::receive(registration.as_fd()) {
            Ok(Some(Message { descriptors, .. })) => {
                if let Ok([socket]) = <[OwnedFd; 1]>::try_from(descriptors)
                    && self.clients.len() < CLIENTS_MAX
                    && let Ok(client) = Client::new(socket, &self.injector)
                {
                    self.clients.push(client);
                }
            }
            Ok(None) => self.registration = None,
            // The descriptors of one message did not fit; the process runs without a keeper.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
            Err(_) => self.registration = None,
        }
    }

    /// Ends a client, at the latest when its process has ended.
    fn end(&mut self, mut client: Client) {
        match client.process.take() {
            Some(process) if !client.orphans.is_empty() => {
                self.ending.push(Ending { client, process, until: Instant::now() + ENDED });
            }
            _ => self.finish(client),
        }
    }

    /// Hands the connections of a dead process back to the kernel and closes them.
    fn finish(&mut self, client: Client) {
        let Client { state, orphans, interfaces, .. } = client;
        self.privileges.open.retain(|name| !interfaces.contains_key(name));
        let rests: Vec<_> = orphans
            .into_iter()
            .map(|(slot, orphan)| (orphan.restore(&state, slot), orphan))
            .collect();
        // From now on the kernel receives the frames.
        drop(interfaces);
        for (rest, orphan) in rests {
            match rest {
                Rest::Close { unsent, resets, mut in_flight } => {
                    let has_probe = in_flight.is_some();
                    if let Some(packet) =
                        in_flight.as_mut().and_then(|it| it.acknowledgment.as_mut())
                    {
                        let _ = self.injector.inject(packet);
                    }
                    let mut pending = Pending::new(orphan, in_flight, Instant::now());
                    pending.poll(&self.injector, Instant::now());
                    pending.orphan.send(&unsent, !resets);
                    if resets || has_probe {
                        self.pending.push(pending);
                    }
                }
                Rest::Reset { sequence } => orphan.reset(sequence, &self.injector),
            }
        }
    }
}

impl Client {
    /// Creates the state file of a process, and sends it with the raw sockets.
    fn new(socket: OwnedFd, injector: &Injector) -> io::Result<Self> {
        let state = StateReader::create(CONNECTIONS as u32, RING)?;
        let mut sent = vec![state.file().as_fd()];
        sent.extend(injector.descriptors());
        message::send(socket.as_fd(), [0; 4], "", &sent, libc::MSG_DONTWAIT)?;
        let process = open_peer(&socket).ok();
        Ok(Self {
            socket,
            process,
            state,
            orphans: HashMap::new(),
            ports: HashMap::new(),
            interfaces: HashMap::new(),
        })
    }

    /// Serves one request; `None` if the process has ended, or sends what the library does not.
    fn serve(&mut self, privileges: &mut Privileges) -> Option<()> {
        let message = message::receive(self.socket.as_fd()).ok()??;
        let Message { numbers: numbers @ [number, slot, ..], text, descriptors } = message;
        let request = Request::from_number(number)?;
        let error = match request {
            Request::Hold => {
                let [socket] = <[OwnedFd; 1]>::try_from(descriptors).ok()?;
                if slot as usize >= CONNECTIONS || self.orphans.contains_key(&slot) {
                    return None;
                }
                // Any other descriptor is closed.
                if let Some(orphan) = Orphan::new(socket) {
                    self.orphans.insert(slot, orphan);
                }
                return Some(());
            }
            Request::OpenInterface => {
                return self.open_interface(&text, OpenRequest::from_numbers(numbers), privileges);
            }
            Request::BindInterface => return self.bind_interface(&text, privileges),
            Request::UseNeighbor => {
                privileges.use_neighbor(slot, &text);
                return Some(());
            }
            Request::Release => {
                drop((self.orphans.remove(&slot), self.ports.remove(&slot)));
                0
            }
            Request::Leave => {
                self.orphans.clear();
                self.ports.clear();
                privileges.open.retain(|name| !self.interfaces.contains_key(name));
                self.interfaces.clear();
                0
            }
            Request::StartRepair
            | Request::StartRestoring
            | Request::EndRepair
            | Request::GrowSendBuffer
            | Request::Bind => {
                let changed = self.change(request, slot, descriptors.first());
                changed.err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EBADF))
            }
        };
        let answer = [number, error.cast_unsigned(), 0, 0];
        message::send(self.socket.as_fd(), answer, "", &[], libc::MSG_DONTWAIT).ok()
    }

    /// Sets an option of a connection: one that this keeper holds, or one that was held by the
    /// keeper before it.
    fn change(&mut self, request: Request, slot: u32, socket: Option<&OwnedFd>) -> io::Result<()> {
        let kernel = match socket {
            Some(socket) => {
                let kernel = KernelSocket::new(socket.as_fd());
                let is_connection = kernel.is_repairing()
                    || kernel.info().is_ok_and(|info| info.state == ESTABLISHED);
                if kernel.protocol()? != libc::IPPROTO_TCP || !is_connection {
                    return Err(io::Error::from_raw_os_error(libc::EBADF));
                }
                kernel
            }
            None if request == Request::Bind => {
                return self.orphans.get(&slot).ok_or(io::ErrorKind::NotFound)?.bind();
            }
            None => self.orphans.get(&slot).ok_or(io::ErrorKind::NotFound)?.kernel(),
        };
        match request {
            Request::StartRepair => kernel.start_repair(),
            Request::StartRestoring => {
                let port = kernel.start_restoring()?;
                self.ports.extend(port.map(|port| (slot, port)));
                Ok(())
            }
            Request::EndRepair => {
                self.ports.remove(&slot);
                kernel.end_repair()
            }
            Request::GrowSendBuffer => kernel.grow_send_buffer(),
            // The address of a connection that this keeper does not hold is not known.
            _ => Err(io::Error::from_raw_os_error(libc::EACCES)),
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
        if self.interfaces.remove(name).is_some() {
            privileges.open.remove(name);
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
        let state = OpenRequest::state_number(prepared.mode(), prepared.receive_stamps());
        all.chunks(DESCRIPTORS_MAX).try_for_each(|part| {
            let numbers = [number, 0, state, all.len() as u32];
            message::send(self.socket.as_fd(), numbers, "", part, 0).ok()
        })?;
        self.interfaces.insert(name.to_string(), HeldInterface::Prepared(Box::new(prepared)));
        privileges.open.insert(name.to_string());
        Some(())
    }

    /// Binds the sockets of a prepared interface, whose rings the program has mapped, and holds the
    /// link and the sockets.
    fn bind_interface(&mut self, name: &str, privileges: &mut Privileges) -> Option<()> {
        let number = Request::BindInterface as u32;
        let Some(HeldInterface::Prepared(prepared)) = self.interfaces.get_mut(name) else {
            return self.refuse(number, OTHER, "the interface is not prepared");
        };
        let takes_long_frames = match prepared.bind() {
            Ok(takes_long_frames) => takes_long_frames,
            Err(error) => {
                self.interfaces.remove(name);
                privileges.open.remove(name);
                return self.refuse_open(number, &error);
            }
        };
        let all = prepared.descriptors()?;
        let held = all[all.len() - 1 - prepared.queues()..].iter();
        let held = held.map(BorrowedFd::try_clone_to_owned).collect::<io::Result<Vec<_>>>();
        let numbers = [number, 0, takes_long_frames.into(), 0];
        message::send(self.socket.as_fd(), numbers, "", &[], libc::MSG_DONTWAIT).ok()?;
        self.interfaces.insert(name.to_string(), HeldInterface::Bound(held.ok()?));
        Some(())
    }

    fn refuse_open(&self, request: u32, error: &InterfaceError) -> Option<()> {
        let busy = Busy::from_error(error).map_or(OTHER, |busy| busy as u32);
        self.refuse(request, busy, &error.to_string())
    }

    fn refuse(&self, request: u32, error: u32, text: &str) -> Option<()> {
        let socket = self.socket.as_fd();
        message::send(socket, [request, error, 0, 0], text, &[], libc::MSG_DONTWAIT).ok()
    }
}

impl Privileges {
    /// Makes the kernel confirm a neighbor on an interface of the run.
    fn use_neighbor(&mut self, interface: u32, address: &str) {
        let is_of_run = |name: &String| {
            CString::new(name.as_str()).is_ok_and(|name| {
                // SAFETY: the name ends with zero.
                interface == unsafe { libc::if_nametoindex(name.as_ptr()) }
            })
        };
        let Ok(address) = address.parse() else { return };
        if interface == 0 || !self.interfaces.iter().any(is_of_run) {
            return;
        }
        if self.netlink.is_none() {
            self.netlink = Netlink::open().ok();
        }
        if let Some(netlink) = &mut self.netlink {
            // If this fails, the next datagram through the kernel resolves it.
            let _ = netlink.use_neighbor(interface, address);
        }
    }
}

/// Opens the process that has created the other end of a pair of sockets (pidfd_open(2)).
fn open_peer(socket: &OwnedFd) -> io::Result<OwnedFd> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to the structure; the second call takes
    // integers, and its descriptor is new.
    unsafe {
        let (level, name) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
        let at = (&raw mut peer).cast();
        if libc::getsockopt(socket.as_raw_fd(), level, name, at, &raw mut length) != 0 {
            return Err(io::Error::last_os_error());
        }
        let fd = libc::syscall(libc::SYS_pidfd_open, peer.pid, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}

#[cfg(test)]
mod tests;
