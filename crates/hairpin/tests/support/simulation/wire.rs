//! A trader's connections: netsim's byte streams where a session expects an endpoint, cut after any
//! byte.

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
use hairpin_order_entry::Dial;
use hairpin_time::{Duration, Instant};

use crate::frames::{Frames, cut_in};
use crate::fuse::Fuse;

/// The most bytes of one read.
const CHUNK: usize = 4_096;

/// One connection, as both ends hold it.
pub(crate) type Shared = Rc<RefCell<Connection>>;

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
    /// The connection in use, if there is one.
    pub(crate) current: Option<Shared>,
    /// Every connection that was dialled and the exchange has not taken notice of yet.
    pub(crate) dialled: Vec<Shared>,
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
            current: None,
            dialled: Vec::new(),
            all: Vec::new(),
        }
    }

    /// How many of so many bytes still leave.
    fn allowed(&self, wanted: usize) -> usize {
        self.cuts_after.map_or(wanted, |left| left.min(wanted))
    }
}

/// Dials over an [`Exit`].
#[derive(Debug)]
pub(crate) struct Dialler(pub(crate) Rc<RefCell<Exit>>);

impl Dial for Dialler {
    type Stream = Wire;

    fn dial(&mut self, _: SocketAddrV4) -> io::Result<Wire> {
        let mut exit = self.0.borrow_mut();
        let (now, random, faults) = (exit.clock.get(), exit.random.split(), exit.faults);
        let connection = match exit.refuses {
            true => Connection::refused(now, random, faults),
            false => Connection::open(now, random, faults),
        };
        let connection = Rc::new(RefCell::new(connection));
        exit.current = Some(Rc::clone(&connection));
        exit.dialled.push(Rc::clone(&connection));
        exit.all.push(Rc::clone(&connection));
        let descriptor = File::open("/dev/null")?;
        let (clock, fuse) = (Rc::clone(&exit.clock), Rc::clone(&exit.fuse));
        let exit = Rc::clone(&self.0);
        let (frames, is_cut) = (Frames::default(), false);
        Ok(Wire { connection, clock, exit, descriptor, fuse, frames, is_cut })
    }
}

/// The client's end of a connection.
#[derive(Debug)]
pub(crate) struct Wire {
    connection: Shared,
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
        self.connection.borrow().state(self.clock.get())
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
            self.connection.borrow_mut().shut(self.clock.get(), End::Client);
        }
    }
}

/// The end of the process, or of the session's interest, ends the connection.
impl Drop for Wire {
    fn drop(&mut self) {
        self.connection.borrow_mut().shut(self.clock.get(), End::Client);
        let current = &mut self.exit.borrow_mut().current;
        if current.as_ref().is_some_and(|current| Rc::ptr_eq(current, &self.connection)) {
            *current = None;
        }
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
            let read =
                self.connection
                    .borrow_mut()
                    .read(self.clock.get(), End::Client, CHUNK, |bytes| on(meta, bytes));
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
        self.state() == ConnectionState::Open
    }

    fn finish_connect(&mut self) -> io::Result<bool> {
        match self.state() {
            ConnectionState::Connecting => Ok(false),
            ConnectionState::Open => Ok(true),
            ConnectionState::Refused => Err(error_of(StreamError::Refused)),
            ConnectionState::Reset => Err(error_of(StreamError::Reset)),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_cut {
            return Err(error_of(StreamError::Reset));
        }
        self.fuse.step("killed before a write");
        let bytes = &bytes[..self.exit.borrow().allowed(bytes.len())];
        let now = self.clock.get();
        let written = self.connection.borrow_mut().write(now, End::Client, bytes);
        let count = written.map_err(error_of)?;
        self.note_written(&bytes[..count]);
        self.fuse.step("killed behind a write");
        if count == 0 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(count) }
    }

    fn flush(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    fn shutdown(&mut self) -> io::Result<()> {
        self.connection.borrow_mut().shut(self.clock.get(), End::Client);
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
