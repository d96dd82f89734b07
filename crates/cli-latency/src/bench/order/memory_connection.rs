//! A connection in memory with a bare gateway at its other end.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

use hairpin_endpoint::{Blocker, Meta, Receive, Received, Source, Stream, Timestamp, Transmit};
use hairpin_order_entry::Connect;
use hairpin_time::Duration;

use super::bare_gateway::BareGateway;

const NOWHERE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);

/// The state that both ends share.
#[derive(Debug, Default)]
pub(super) struct Wire {
    answers: RefCell<BareGateway>,
    incoming: RefCell<Vec<u8>>,
    /// The bytes that were read, and the bytes that are delivered at once: all, if 0.
    taken: Cell<usize>,
    chunk: Cell<usize>,
    /// `true` if written bytes are answered; otherwise they are discarded.
    is_answered: Cell<bool>,
    written: Cell<u64>,
}

impl Wire {
    pub(super) fn new() -> Self {
        Self { is_answered: Cell::new(true), ..Self::default() }
    }

    /// Answers written bytes from now on, or discards them.
    pub(super) fn set_answered(&self, is_answered: bool) {
        self.is_answered.set(is_answered);
    }

    /// Removes and returns the bytes that were not read.
    pub(super) fn take_incoming(&self) -> Vec<u8> {
        self.incoming.take().split_off(self.taken.take())
    }

    /// Replaces the incoming bytes; `chunk` of them are delivered at a time.
    pub(super) fn offer(&self, chunk: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let mut incoming = self.incoming.borrow_mut();
        incoming.clear();
        write(&mut incoming);
        self.taken.set(0);
        self.chunk.set(chunk);
    }

    /// Returns the number of discarded bytes.
    pub(super) fn written(&self) -> u64 {
        self.written.get()
    }
}

/// One end of the connection.
#[derive(Debug)]
pub(super) struct Connection {
    wire: Rc<Wire>,
    /// A descriptor that is always ready.
    descriptor: File,
}

impl Receive for Connection {
    #[inline]
    fn receive(&mut self, _: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let Wire { incoming, taken, chunk, .. } = &*self.wire;
        let (incoming, from) = (incoming.borrow(), taken.get());
        let rest = &incoming[from..];
        let length = if chunk.get() == 0 { rest.len() } else { chunk.get().min(rest.len()) };
        if length > 0 {
            taken.set(from + length);
            on(Meta { source: NOWHERE, timestamp: Timestamp::None }, &rest[..length]);
        }
        Ok(Received { count: usize::from(length > 0), drained: true, closed: false })
    }
}

impl Transmit for Connection {
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        let mut bytes = vec![0; length];
        fill(&mut bytes);
        self.write(&bytes).map(drop)
    }
}

impl Stream for Connection {
    fn is_connected(&self) -> bool {
        true
    }

    fn finish_connect(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let wire = &*self.wire;
        if wire.is_answered.get() {
            let mut answers = wire.answers.borrow_mut();
            answers.take(bytes).map_err(io::Error::other)?;
            wire.incoming.borrow_mut().append(&mut answers.outbox);
        } else {
            wire.written.set(wire.written.get() + black_box(bytes).len() as u64);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    fn shutdown(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Source for Connection {
    fn set_blocking(&mut self, _: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }
}

/// Connects to the only peer.
#[derive(Debug)]
pub(super) struct MemoryConnect(pub(super) Rc<Wire>);

impl Connect for MemoryConnect {
    type Stream = Connection;

    fn connect(&mut self, _: SocketAddrV4) -> io::Result<Connection> {
        Ok(Connection { wire: Rc::clone(&self.0), descriptor: File::open("/dev/null")? })
    }
}
