//! A trader's connections: netsim's byte streams where a session expects an endpoint, cut after any
//! byte.
#![allow(dead_code, reason = "each simulation uses its part")]

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

use crate::frames::{Frames, cut_in};
use crate::fuse::Fuse;

/// The most bytes of one read.
const CHUNK: usize = 4_096;

/// One connection, as both ends hold it.
pub(crate) type Shared = Rc<RefCell<Connection>>;

/// A connection that a trader has or is making.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) connection: Shared,
    /// Where it was made to.
    pub(crate) gateway: SocketAddrV4,
    /// The trader knows that it stands.
    is_known: Rc<Cell<bool>>,
    /// Not all that was to leave has.
    is_full: Rc<Cell<bool>>,
}

impl Line {
    /// When there is something for the trader at its end: at once if the connection stands or is
    /// broken and it does not know, or if what waited can leave.
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

/// What dials for a trader, and what the rest of the simulation sees of it.
#[derive(Debug)]
pub(crate) struct Exit {
    clock: Rc<Cell<Instant>>,
    random: Random,
    fuse: Rc<Fuse>,
    /// The connection ends when so many bytes more have left.
    pub(crate) cuts_after: Option<usize>,
    pub(crate) census: Census,
    pub(crate) faults: StreamFaults,
    /// Attempts are refused.
    pub(crate) refuses: bool,
    /// Attempts to connect to this gateway are.
    pub(crate) refused: Option<SocketAddrV4>,
    /// The connections in use.
    pub(crate) lines: Vec<Line>,
    /// Every connection that was dialled and the exchange has not taken notice of yet.
    pub(crate) dialled: Vec<Line>,
    /// All of them, for the census.
    pub(crate) all: Vec<Shared>,
}

impl Exit {
    pub(crate) fn new(clock: Rc<Cell<Instant>>, random: Random, fuse: Rc<Fuse>) -> Self {
        Self {
            clock,
            random,
            fuse,
            cuts_after: None,
            census: Census::new(),
            faults: StreamFaults::LAN,
            refuses: false,
            refused: None,
            lines: Vec::new(),
            dialled: Vec::new(),
            all: Vec::new(),
        }
    }

    /// The connection in use, of a trader that has one at a time.
    pub(crate) fn current(&self) -> Option<Shared> {
        self.lines.last().map(|line| Rc::clone(&line.connection))
    }

    /// How many of so many bytes still leave.
    fn allowed(&self, wanted: usize) -> usize {
        self.cuts_after.map_or(wanted, |left| left.min(wanted))
    }
}

/// Dials over an [`Exit`].
#[derive(Debug)]
pub(crate) struct Dialler(pub(crate) Rc<RefCell<Exit>>);

impl Connect for Dialler {
    type Stream = Wire;

    fn connect(&mut self, gateway: SocketAddrV4) -> io::Result<Wire> {
        let mut exit = self.0.borrow_mut();
        let (now, random, faults) = (exit.clock.get(), exit.random.split(), exit.faults);
        let connection = match exit.refuses || exit.refused == Some(gateway) {
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
        exit.lines.push(line.clone());
        exit.dialled.push(line.clone());
        exit.all.push(connection);
        let descriptor = File::open("/dev/null")?;
        let (clock, fuse) = (Rc::clone(&exit.clock), Rc::clone(&exit.fuse));
        let exit = Rc::clone(&self.0);
        let (frames, is_cut) = (Frames::default(), false);
        Ok(Wire { line, clock, exit, descriptor, fuse, frames, is_cut })
    }
}

/// The client's end of a connection.
#[derive(Debug)]
pub(crate) struct Wire {
    line: Line,
    clock: Rc<Cell<Instant>>,
    exit: Rc<RefCell<Exit>>,
    descriptor: File,
    fuse: Rc<Fuse>,
    /// What has left.
    frames: Frames,
    /// It was cut, and the client does not know yet.
    is_cut: bool,
}

impl Wire {
    fn state(&self) -> ConnectionState {
        self.line.connection.borrow().state(self.clock.get())
    }

    /// Ends the connection if as many bytes have left as were to.
    fn note_written(&mut self, written: &[u8]) {
        self.frames.feed(written);
        while self.frames.take().is_some() {}
        let mut exit = self.exit.borrow_mut();
        let Some(left) = &mut exit.cuts_after else { return };
        *left -= written.len();
        if *left == 0 {
            exit.cuts_after = None;
            exit.census.count(cut_in(self.frames.begun()));
            exit.census.count("cuts while the trader sends");
            self.is_cut = true;
            self.line.connection.borrow_mut().shut(self.clock.get(), End::Client);
        }
    }
}

/// The end of the process, or of the session's interest, ends the connection.
impl Drop for Wire {
    fn drop(&mut self) {
        let connection = &self.line.connection;
        connection.borrow_mut().shut(self.clock.get(), End::Client);
        let lines = &mut self.exit.borrow_mut().lines;
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

impl Receive for Wire {
    fn receive(&mut self, budget: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let meta =
            Meta { source: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1), timestamp: Timestamp::None };
        let mut received = Received::default();
        if self.is_cut {
            return Err(error_of(StreamError::Reset));
        }
        self.fuse.step("killed before a read");
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

impl Transmit for Wire {
    fn transmit(&mut self, _: usize, _: impl FnOnce(&mut [u8])) -> io::Result<()> {
        unreachable!("a session writes from its journal")
    }
}

impl Stream for Wire {
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
        self.fuse.step("killed before a write");
        let whole = bytes.len();
        let bytes = &bytes[..self.exit.borrow().allowed(whole)];
        let now = self.clock.get();
        let written = self.line.connection.borrow_mut().write(now, End::Client, bytes);
        let count = written.map_err(error_of)?;
        self.line.is_full.set(count < whole);
        self.note_written(&bytes[..count]);
        self.fuse.step("killed behind a write");
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

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Source for Wire {
    fn set_blocking(&mut self, _: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }
}
