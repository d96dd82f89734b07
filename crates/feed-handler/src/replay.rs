//! Packets asked for again, by TCP.

mod error;
mod fix;
mod request;
mod server;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::{Receive, Stream, TcpOptions, TcpStream};
use hairpin_reactor::{Interest, Reactor, Ready, Token};
use hairpin_time::{Duration, Instant};

pub use error::ReplayError;
pub use request::ReplayRequest;
pub use server::ReplayServer;

/// Bytes read at once.
const CHUNK_MAX: usize = 16 << 10;
/// Chunks read in one turn.
const BUDGET: usize = 16;
/// How often a wait that has everything tried asks about an attempt: it costs system calls.
const LOOK: Duration = Duration::from_millis(1);

/// How packets are asked for again. User and password are not shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct ReplaySettings {
    /// Username (553); `CME` unless set.
    pub user: String,
    /// Password (554); `CME` unless set.
    pub password: String,
    /// The most packets of one request: 2,000, which is CME's limit.
    pub packets_max: u32,
    /// How long nothing may come before an attempt is given up: 4 s.
    pub patience: Duration,
    /// How many connections are tried for one request, the hosts in turns: 3.
    pub attempts: u32,
    /// The longest packet, in bytes: 2,048.
    pub max_packet: usize,
}

impl Default for ReplaySettings {
    fn default() -> Self {
        Self {
            user: "CME".to_owned(),
            password: "CME".to_owned(),
            packets_max: 2_000,
            patience: Duration::from_secs(4),
            attempts: 3,
            max_packet: 2_048,
        }
    }
}

impl fmt::Debug for ReplaySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user: _, password: _, packets_max, patience, attempts, max_packet } = self;
        f.debug_struct("ReplaySettings")
            .field("packets_max", packets_max)
            .field("patience", patience)
            .field("attempts", attempts)
            .field("max_packet", max_packet)
            .finish_non_exhaustive()
    }
}

/// What has become of a request.
#[derive(Debug)]
pub struct ReplayEnd {
    /// The first packet asked for.
    pub first: u32,
    /// The last.
    pub last: u32,
    /// How many have come.
    pub packets: u32,
    /// Whether they are all; why not, by the last attempt.
    pub outcome: Result<(), ReplayError>,
}

/// Asks a channel's replay server for packets of the incremental feed, one range at a time, each by
/// a connection of its own (CME Client Systems Wiki, "MDP 3.0 - TCP Recovery").
///
/// It stands in the caller's loop like a feed handler. An attempt that fails is repeated at the
/// next host for what has not come yet; a later request begins with the host that answered last.
#[derive(Debug)]
pub struct ReplayClient {
    settings: ReplaySettings,
    channel: String,
    hosts: Vec<SocketAddrV4>,
    /// The one whose turn it is.
    host: usize,
    local: Option<SocketAddrV4>,
    /// Requests made, for their ids.
    requests: u32,
    task: Option<Task>,
}

/// A range that is being asked for.
#[derive(Debug)]
struct Task {
    first: u32,
    last: u32,
    packets: u32,
    attempts_left: u32,
    request: ReplayRequest,
    link: Option<Link>,
}

#[derive(Debug)]
struct Link {
    stream: TcpStream,
    token: Token,
    is_connected: bool,
    next_look: Instant,
}

impl ReplayClient {
    /// A client for a channel (its number, as text) and the hosts that serve it: `host-ip` and port
    /// of its connections of feed-type `H`. Connects from `interface`; unspecified: the kernel's
    /// choice.
    ///
    /// # Errors
    /// [`ReplayError::NoHost`], [`ReplayError::BadText`]: a user, password or channel with control
    /// characters in it.
    pub fn new(
        settings: ReplaySettings,
        channel: &str,
        hosts: &[SocketAddrV4],
        interface: Ipv4Addr,
    ) -> Result<Self, ReplayError> {
        if hosts.is_empty() {
            return Err(ReplayError::NoHost);
        }
        if [channel, &settings.user, &settings.password].iter().any(|text| !fix::is_sound(text)) {
            return Err(ReplayError::BadText);
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

    /// Whether a range is being asked for.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.task.is_some()
    }

    /// Begins to ask for the packets `first` to `last`. What fails from here on is told by
    /// [`ReplayClient::process`].
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
        let request = self.attempt(now, first, last)?;
        let attempts_left = self.settings.attempts.max(1);
        let mut task = Task { first, last, packets: 0, attempts_left, request, link: None };
        // A failure is found by the next turn.
        let _ = self.dial(&mut task, now, reactor);
        self.task = Some(task);
        Ok(())
    }

    /// Does what a wake calls for; hands each packet that has come to `on`, with its header, as on
    /// the feed. Returns what has become of the request when it has ended.
    pub fn process(
        &mut self,
        now: Instant,
        ready: Ready,
        reactor: &mut Reactor,
        on: &mut impl FnMut(&[u8]),
    ) -> Option<ReplayEnd> {
        let mut task = self.task.take()?;
        let outcome = match turn(&mut task, now, ready, reactor, on) {
            Ok(false) => {
                self.task = Some(task);
                return None;
            }
            Ok(true) => Ok(()),
            Err(error) => Err(error),
        };
        hang_up(&mut task, reactor);
        if let Err(error) = outcome {
            return self.try_again(task, error, now, reactor);
        }
        let Task { first, last, packets, .. } = task;
        Some(ReplayEnd { first, last, packets, outcome })
    }

    /// When [`ReplayClient::process`] is due though nothing has arrived.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.task.as_ref().map(|task| match task.link {
            Some(_) => task.request.poll_timeout(),
            None => Instant::ZERO,
        })
    }

    /// Gives up what is being asked for, and takes its socket from the reactor.
    pub fn close(&mut self, reactor: &mut Reactor) {
        if let Some(mut task) = self.task.take() {
            hang_up(&mut task, reactor);
        }
    }

    fn attempt(
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

    /// Connects to the host whose turn it is.
    fn dial(
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
        task.link = Some(Link { stream, token, is_connected: false, next_look: now });
        Ok(())
    }

    #[cold]
    fn try_again(
        &mut self,
        mut task: Task,
        error: ReplayError,
        now: Instant,
        reactor: &mut Reactor,
    ) -> Option<ReplayEnd> {
        let Task { first, last, packets, .. } = task;
        self.host = (self.host + 1) % self.hosts.len();
        let next = task.request.next();
        let is_useless = matches!(error, ReplayError::Refused(_));
        if task.attempts_left == 0 || is_useless || next > last {
            return Some(ReplayEnd { first, last, packets, outcome: Err(error) });
        }
        match self.attempt(now, next, last) {
            Ok(request) => task.request = request,
            Err(error) => return Some(ReplayEnd { first, last, packets, outcome: Err(error) }),
        }
        // A failure is found by the next turn.
        let _ = self.dial(&mut task, now, reactor);
        self.task = Some(task);
        None
    }
}

/// One turn of a request; true when it has ended well.
fn turn(
    task: &mut Task,
    now: Instant,
    ready: Ready,
    reactor: &mut Reactor,
    on: &mut impl FnMut(&[u8]),
) -> Result<bool, ReplayError> {
    let Task { request, link, packets, .. } = task;
    let Some(link) = link else { return Err(ReplayError::NoConnection) };
    request.handle_timeout(now)?;
    if !link.is_connected {
        if !ready.is_writable(link.token) || now < link.next_look {
            return Ok(false);
        }
        link.next_look = now + LOOK;
        if !link.stream.finish_connect()? {
            return Ok(false);
        }
        link.is_connected = true;
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
    if request.is_over() {
        return Ok(true);
    }
    if received.closed { Err(ReplayError::Ended) } else { Ok(false) }
}

/// Sends what the request has to say. Its few hundred bytes fit into any send buffer.
fn transmit(request: &mut ReplayRequest, link: &mut Link) -> Result<(), ReplayError> {
    if let Some(message) = request.poll_transmit() {
        link.stream.write(&message)?;
    }
    Ok(())
}

fn hang_up(task: &mut Task, reactor: &mut Reactor) {
    if let Some(mut link) = task.link.take() {
        // It is closed, whatever the reactor says of it.
        let _ = reactor.remove(link.token, &mut link.stream);
    }
}
