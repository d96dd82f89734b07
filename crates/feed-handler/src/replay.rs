//! CME's TCP replay of lost packets.

mod admin;
mod error;
mod fix;
mod request;
mod server;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::{Receive, Stream, TcpOptions, TcpStream};
use hairpin_reactor::{Interest, Reactor, Ready, Token};
use hairpin_time::{Duration, Instant};

pub use admin::AdminTemplates;
pub use error::ReplayError;
pub use request::ReplayRequest;
pub use server::ReplayServer;

/// The bytes per read.
const CHUNK_MAX: usize = 16 << 10;
/// The number of chunks read per call.
const BUDGET: usize = 16;
/// The interval of connect status checks under a wait that reports every socket as ready: each
/// check costs system calls.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// Settings of a replay client. `Debug` hides user and password.
#[derive(Clone, PartialEq, Eq)]
pub struct ReplaySettings {
    /// Username (553); default `CME`.
    pub user: String,
    /// Password (554); default `CME`.
    pub password: String,
    /// The largest number of packets per request; default 2,000, CME's limit.
    pub packets_max: u32,
    /// The longest silence before an attempt is abandoned; default 4 s.
    pub timeout: Duration,
    /// The number of connections tried per request, over the hosts in turn; default 3.
    pub attempts: u32,
    /// The longest packet, in bytes; default 2,048.
    pub max_packet: usize,
    /// The template ids of the Global TCP Recovery schema; `None`, the default, recognizes its
    /// messages by their lengths.
    pub admin_templates: Option<AdminTemplates>,
}

impl Default for ReplaySettings {
    fn default() -> Self {
        Self {
            user: "CME".to_owned(),
            password: "CME".to_owned(),
            packets_max: 2_000,
            timeout: Duration::from_secs(4),
            attempts: 3,
            max_packet: 2_048,
            admin_templates: None,
        }
    }
}

impl fmt::Debug for ReplaySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user: _, password: _, packets_max, timeout, attempts, max_packet, .. } = self;
        f.debug_struct("ReplaySettings")
            .field("packets_max", packets_max)
            .field("timeout", timeout)
            .field("attempts", attempts)
            .field("max_packet", max_packet)
            .finish_non_exhaustive()
    }
}

/// The result of a request.
#[derive(Debug)]
pub struct ReplayCompletion {
    /// The first requested packet.
    pub first: u32,
    /// The last requested packet.
    pub last: u32,
    /// The number of received packets.
    pub packets: u32,
    /// The last attempt reached a host.
    pub connected: bool,
    /// `Ok` if all packets were received, otherwise the error of the last attempt.
    pub outcome: Result<(), ReplayError>,
}

/// A client of a channel's replay server. Requests one range of the incremental feed at a time,
/// each on a connection of its own (CME Client Systems Wiki, "MDP 3.0 - TCP Recovery").
///
/// The caller's loop drives the client like a feed handler. After a failed attempt the client
/// requests the rest of the range from the next host. Later requests start at the host that
/// answered last.
#[derive(Debug)]
pub struct ReplayClient {
    settings: ReplaySettings,
    channel: String,
    hosts: Vec<SocketAddrV4>,
    /// The index of the host for the next attempt.
    host: usize,
    local: Option<SocketAddrV4>,
    /// The number of requests, used for request ids.
    requests: u32,
    task: Option<Task>,
}

/// A range in progress.
#[derive(Debug)]
struct Task {
    first: u32,
    last: u32,
    packets: u32,
    attempts_left: u32,
    request: ReplayRequest,
    link: Option<Link>,
}

impl Task {
    fn is_connected(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.connected)
    }
}

#[derive(Debug)]
struct Link {
    stream: TcpStream,
    token: Token,
    connected: bool,
    next_check: Instant,
}

impl ReplayClient {
    /// Creates a client for a channel, given as text, and its replay hosts: `host-ip` and port of
    /// the connections of feed-type `H`. Connects from `interface`; an unspecified address leaves
    /// the choice to the kernel.
    ///
    /// # Errors
    /// [`ReplayError::NoHost`]. [`ReplayError::InvalidText`]: user, password or channel is empty or
    /// has control characters.
    pub fn new(
        settings: ReplaySettings,
        channel: &str,
        hosts: &[SocketAddrV4],
        interface: Ipv4Addr,
    ) -> Result<Self, ReplayError> {
        if hosts.is_empty() {
            return Err(ReplayError::NoHost);
        }
        if [channel, &settings.user, &settings.password].iter().any(|text| !fix::is_valid(text)) {
            return Err(ReplayError::InvalidText);
        }
        Ok(Self {
            settings,
            channel: channel.to_owned(),
            hosts: hosts.to_vec(),
            host: 0,
            local: (!interface.is_unspecified()).then(|| SocketAddrV4::new(interface, 0)),
            requests: 0,
            task: None,
        })
    }

    /// Returns `true` if the request in progress has reached a host.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.task.as_ref().is_some_and(Task::is_connected)
    }

    /// Returns `true` while a request is in progress.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.task.is_some()
    }

    /// Starts to request the packets `first` to `last`. [`ReplayClient::process`] reports later
    /// errors.
    ///
    /// # Errors
    /// [`ReplayError::Busy`], [`ReplayError::BadRange`], [`ReplayError::TooMany`].
    pub fn request(
        &mut self,
        now: Instant,
        first: u32,
        last: u32,
        reactor: &mut Reactor,
    ) -> Result<(), ReplayError> {
        if self.is_busy() {
            return Err(ReplayError::Busy);
        }
        let request = self.next_request(now, first, last)?;
        let attempts_left = self.settings.attempts.max(1);
        let mut task = Task { first, last, packets: 0, attempts_left, request, link: None };
        // The next call of `process` finds a failure.
        let _ = self.start_connect(&mut task, now, reactor);
        self.task = Some(task);
        Ok(())
    }

    /// Processes one wakeup: passes each received packet, with its header, to `on`. Returns the
    /// result of the request when it completes.
    pub fn process(
        &mut self,
        now: Instant,
        ready: Ready,
        reactor: &mut Reactor,
        on: &mut impl FnMut(&[u8]),
    ) -> Option<ReplayCompletion> {
        let mut task = self.task.take()?;
        let outcome = match poll_task(&mut task, now, ready, reactor, on) {
            Ok(false) => {
                self.task = Some(task);
                return None;
            }
            Ok(true) => Ok(()),
            Err(error) => Err(error),
        };
        let connected = task.is_connected();
        disconnect(&mut task, reactor);
        if let Err(error) = outcome {
            return self.retry((task, connected), error, now, reactor);
        }
        let Task { first, last, packets, .. } = task;
        Some(ReplayCompletion { first, last, packets, connected, outcome })
    }

    /// Returns the next time at which [`ReplayClient::process`] must run without input.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.task.as_ref().map(|task| match task.link {
            Some(_) => task.request.poll_timeout(),
            None => Instant::ZERO,
        })
    }

    /// Aborts the request in progress and removes its socket from the reactor.
    pub fn close(&mut self, reactor: &mut Reactor) {
        if let Some(mut task) = self.task.take() {
            disconnect(&mut task, reactor);
        }
    }

    fn next_request(
        &mut self,
        now: Instant,
        first: u32,
        last: u32,
    ) -> Result<ReplayRequest, ReplayError> {
        let id = format!("{}-{}", self.channel, self.requests.wrapping_add(1));
        let request = ReplayRequest::new(&self.settings, &self.channel, &id, (first, last), now)?;
        self.requests = self.requests.wrapping_add(1);
        Ok(request)
    }

    /// Starts to connect to the current host.
    fn start_connect(
        &self,
        task: &mut Task,
        now: Instant,
        reactor: &mut Reactor,
    ) -> Result<(), std::io::Error> {
        task.attempts_left -= 1;
        let host = self.hosts[self.host];
        let options =
            TcpOptions { chunk_max: CHUNK_MAX, local: self.local, ..TcpOptions::default() };
        let mut stream = TcpStream::connect(host, options)?;
        let token = reactor.add(&mut stream, Interest::WRITABLE)?;
        task.link = Some(Link { stream, token, connected: false, next_check: now });
        Ok(())
    }

    #[cold]
    fn retry(
        &mut self,
        (mut task, connected): (Task, bool),
        error: ReplayError,
        now: Instant,
        reactor: &mut Reactor,
    ) -> Option<ReplayCompletion> {
        let Task { first, last, packets, .. } = task;
        self.host = (self.host + 1) % self.hosts.len();
        let next = task.request.next();
        let is_final = matches!(
            error,
            ReplayError::Refused(_) | ReplayError::LoginRefused(_) | ReplayError::NoLogin
        );
        if task.attempts_left == 0 || is_final || next > last {
            return Some(ReplayCompletion { first, last, packets, connected, outcome: Err(error) });
        }
        match self.next_request(now, next, last) {
            Ok(request) => task.request = request,
            Err(error) => {
                return Some(ReplayCompletion {
                    first,
                    last,
                    packets,
                    connected,
                    outcome: Err(error),
                });
            }
        }
        // The next call of `process` finds a failure.
        let _ = self.start_connect(&mut task, now, reactor);
        self.task = Some(task);
        None
    }
}

/// Advances a request; returns `true` when it has completed.
fn poll_task(
    task: &mut Task,
    now: Instant,
    ready: Ready,
    reactor: &mut Reactor,
    on: &mut impl FnMut(&[u8]),
) -> Result<bool, ReplayError> {
    let Task { request, link, packets, .. } = task;
    let Some(link) = link else { return Err(ReplayError::NoConnection) };
    request.handle_timeout(now)?;
    if !link.connected {
        if !ready.is_writable(link.token) || now < link.next_check {
            return Ok(false);
        }
        link.next_check = now + CHECK_INTERVAL;
        if !link.stream.finish_connect()? {
            return Ok(false);
        }
        link.connected = true;
        reactor.set_interest(link.token, &link.stream, Interest::READABLE)?;
        request.handle_connected(now);
        transmit(request, link)?;
    }
    if !ready.is_readable(link.token) {
        return Ok(false);
    }
    let mut outcome = Ok(());
    let received = link.stream.receive(BUDGET, |_, bytes| {
        if outcome.is_ok() {
            outcome = request.handle_bytes(now, bytes, |packet| {
                *packets += 1;
                on(packet);
            });
        }
    })?;
    outcome?;
    transmit(request, link)?;
    if request.is_complete() {
        return Ok(true);
    }
    if received.closed { Err(ReplayError::ConnectionClosed) } else { Ok(false) }
}

/// Sends the request's pending message. Its few hundred bytes fit into any send buffer.
fn transmit(request: &mut ReplayRequest, link: &mut Link) -> Result<(), ReplayError> {
    if let Some(message) = request.poll_transmit() {
        link.stream.write(&message)?;
    }
    Ok(())
}

fn disconnect(task: &mut Task, reactor: &mut Reactor) {
    if let Some(mut link) = task.link.take() {
        // The socket is closed in any case; the reactor's error does not matter.
        let _ = reactor.remove(link.token, &mut link.stream);
    }
}
