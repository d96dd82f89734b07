//! A trader's connections: simulated byte streams that implement the session's endpoint and can be
//! cut after any byte.
#![allow(dead_code, reason = "each simulation uses a part")]

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

use hairpin_endpoint::{Blocker, Meta, Receive, Received, Source, Stream, Timestamp, Transmit};
use hairpin_netsim::{
    Census, Connection, ConnectionState, End, Random, Reading, StreamError, StreamFaults,
};
use hairpin_order_entry::Connect;
use hairpin_time::{Duration, Instant};

use crate::crash_point::CrashPoint;
use crate::frames::{Frames, cut_in};

/// The maximum number of bytes per read.
const CHUNK: usize = 4_096;

/// A connection, shared by both ends.
pub(crate) type Shared = Rc<RefCell<Connection>>;

/// A trader's connection, established or in progress.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) connection: Shared,
    /// The address of the gateway.
    pub(crate) gateway: SocketAddrV4,
    /// The trader knows that the connection is established.
    is_known: Rc<Cell<bool>>,
    /// The last write was partial.
    is_full: Rc<Cell<bool>>,
}

impl Line {
    /// Returns the time of the next event at the trader's end.
    ///
    /// The event is due at once if the trader has not noticed that the connection is established or
    /// broken, or if queued bytes can leave.
    pub(crate) fn next_at(&self, now: Instant) -> Option<Instant> {
        let connection = self.connection.borrow();
        let is_urgent = match connection.state(now) {
            ConnectionState::Connecting => false,
            ConnectionState::Refused | ConnectionState::Reset => true,
            ConnectionState::Open => {
                let can_leave = self.is_full.get() && connection.is_writable(now, End::Client);
                !self.is_known.get() || can_leave
            }
        };
        if is_urgent { Some(now) } else { connection.poll_timeout(now, End::Client) }
    }
}

/// The state shared by a trader's dialer and the rest of the simulation.
#[derive(Debug)]
pub(crate) struct DialerState {
    clock: Rc<Cell<Instant>>,
    random: Random,
    crash_point: Rc<CrashPoint>,
    /// The connection ends after this number of further bytes.
    pub(crate) cuts_after: Option<usize>,
    pub(crate) census: Census,
    pub(crate) faults: StreamFaults,
    /// Connection attempts are refused.
    pub(crate) refuses: bool,
    /// The gateway at which connection attempts are refused.
    pub(crate) refused: Option<SocketAddrV4>,
    /// The connections in use.
    pub(crate) lines: Vec<Line>,
    /// The new connections that the exchange has not accepted yet.
    pub(crate) dialed: Vec<Line>,
    /// All connections, for the census.
    pub(crate) all: Vec<Shared>,
}

impl DialerState {
    pub(crate) fn new(
        clock: Rc<Cell<Instant>>,
        random: Random,
        crash_point: Rc<CrashPoint>,
    ) -> Self {
        Self {
            clock,
            random,
            crash_point,
            cuts_after: None,
            census: Census::new(),
            faults: StreamFaults::LAN,
            refuses: false,
            refused: None,
            lines: Vec::new(),
            dialed: Vec::new(),
            all: Vec::new(),
        }
    }

    /// Returns the connection of a trader that has one at a time.
    pub(crate) fn current(&self) -> Option<Shared> {
        self.lines.last().map(|line| Rc::clone(&line.connection))
    }

    /// Returns the number of bytes that still leave before a cut.
    fn allowed(&self, wanted: usize) -> usize {
        self.cuts_after.map_or(wanted, |left| left.min(wanted))
    }
}

/// Connects through a [`DialerState`].
#[derive(Debug)]
pub(crate) struct Dialer(pub(crate) Rc<RefCell<DialerState>>);

impl Connect for Dialer {
    type Stream = ClientStream;

    fn connect(&mut self, gateway: SocketAddrV4) -> io::Result<ClientStream> {
        let mut dialer_state = self.0.borrow_mut();
        let (now, random, faults) =
            (dialer_state.clock.get(), dialer_state.random.split(), dialer_state.faults);
        let connection = match dialer_state.refuses || dialer_state.refused == Some(gateway) {
            true => Connection::refused(now, random, faults),
            false => Connection::open(now, random, faults),
        };
        let connection = Rc::new(RefCell::new(connection));
        let line = Line {
            connection: Rc::clone(&connection),
            gateway,
            is_known: Rc::default(),
            is_full: Rc::default(),
        };
        dialer_state.lines.push(line.clone());
        dialer_state.dialed.push(line.clone());
        dialer_state.all.push(connection);
        let descriptor = File::open("/dev/null")?;
        let (clock, crash_point) =
            (Rc::clone(&dialer_state.clock), Rc::clone(&dialer_state.crash_point));
        let dialer_state = Rc::clone(&self.0);
        let (frames, is_cut) = (Frames::default(), false);
        Ok(ClientStream { line, clock, dialer_state, descriptor, crash_point, frames, is_cut })
    }
}

/// The client's end of a connection.
#[derive(Debug)]
pub(crate) struct ClientStream {
    line: Line,
    clock: Rc<Cell<Instant>>,
    dialer_state: Rc<RefCell<DialerState>>,
    descriptor: File,
    crash_point: Rc<CrashPoint>,
    /// The sent bytes.
    frames: Frames,
    /// The connection was cut, which the client has not noticed yet.
    is_cut: bool,
}

impl ClientStream {
    fn state(&self) -> ConnectionState {
        self.line.connection.borrow().state(self.clock.get())
    }

    /// Counts written bytes and ends the connection at the planned cut.
    fn record_written(&mut self, written: &[u8]) {
        self.frames.feed(written);
        while self.frames.take().is_some() {}
        let mut dialer_state = self.dialer_state.borrow_mut();
        let Some(left) = &mut dialer_state.cuts_after else { return };
        *left -= written.len();
        if *left == 0 {
            dialer_state.cuts_after = None;
            dialer_state.census.count(cut_in(self.frames.partial_template()));
            dialer_state.census.count("cuts while the trader sends");
            self.is_cut = true;
            self.line.connection.borrow_mut().shut(self.clock.get(), End::Client);
        }
    }
}

/// Ends the connection when the process or the session drops it.
impl Drop for ClientStream {
    fn drop(&mut self) {
        let connection = &self.line.connection;
        connection.borrow_mut().shut(self.clock.get(), End::Client);
        let lines = &mut self.dialer_state.borrow_mut().lines;
        lines.retain(|line| !Rc::ptr_eq(&line.connection, connection));
    }
}

fn error_of(error: StreamError) -> io::Error {
    let kind = match error {
        StreamError::Refused => io::ErrorKind::ConnectionRefused,
        StreamError::Shut => io::ErrorKind::BrokenPipe,
        StreamError::NotConnected => io::ErrorKind::NotConnected,
        _ => io::ErrorKind::ConnectionReset,
    };
    kind.into()
}

impl Receive for ClientStream {
    fn receive(&mut self, budget: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let meta =
            Meta { source: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1), timestamp: Timestamp::None };
        let mut received = Received::default();
        if self.is_cut {
            return Err(error_of(StreamError::Reset));
        }
        self.crash_point.step("killed before a read");
        while received.count < budget {
            let read = self.line.connection.borrow_mut().read(
                self.clock.get(),
                End::Client,
                CHUNK,
                |bytes| on(meta, bytes),
            );
            match read.map_err(error_of)? {
                Reading::Bytes(_) => received.count += 1,
                Reading::Nothing => return Ok(Received { drained: true, ..received }),
                Reading::End => return Ok(Received { drained: true, closed: true, ..received }),
            }
        }
        Ok(received)
    }
}

impl Transmit for ClientStream {
    fn transmit(&mut self, _: usize, _: impl FnOnce(&mut [u8])) -> io::Result<()> {
        unreachable!("a session writes single buffers from its journal")
    }
}

impl Stream for ClientStream {
    fn is_connected(&self) -> bool {
        let is_open = self.state() == ConnectionState::Open;
        self.line.is_known.set(is_open);
        is_open
    }

    fn finish_connect(&mut self) -> io::Result<bool> {
        match self.state() {
            ConnectionState::Connecting => Ok(false),
            ConnectionState::Open => {
                self.line.is_known.set(true);
                Ok(true)
            }
            ConnectionState::Refused => Err(error_of(StreamError::Refused)),
            ConnectionState::Reset => Err(error_of(StreamError::Reset)),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_cut {
            return Err(error_of(StreamError::Reset));
        }
        self.crash_point.step("killed before a write");
        let whole = bytes.len();
        let bytes = &bytes[..self.dialer_state.borrow().allowed(whole)];
        let now = self.clock.get();
        let written = self.line.connection.borrow_mut().write(now, End::Client, bytes);
        let count = written.map_err(error_of)?;
        self.line.is_full.set(count < whole);
        self.record_written(&bytes[..count]);
        self.crash_point.step("killed after a write");
        if count == 0 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(count) }
    }

    fn flush(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    fn shutdown(&mut self) -> io::Result<()> {
        self.line.connection.borrow_mut().shut(self.clock.get(), End::Client);
        Ok(())
    }
}

impl AsFd for ClientStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Source for ClientStream {
    fn set_blocking(&mut self, _: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }
}
