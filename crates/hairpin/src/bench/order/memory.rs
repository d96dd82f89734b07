//! A connection in memory, whose other end answers as a bare gateway.

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

use super::answers::Answers;

const NOWHERE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);

/// What both ends see.
#[derive(Debug, Default)]
pub(super) struct Wire {
    answers: RefCell<Answers>,
    incoming: RefCell<Vec<u8>>,
    /// Bytes of them that were taken, and that are given at once: all, if 0.
    taken: Cell<usize>,
    chunk: Cell<usize>,
    /// What is written is answered; else it goes nowhere.
    is_answered: Cell<bool>,
    written: Cell<u64>,
}

impl Wire {
    pub(super) fn new() -> Self {
        Self { is_answered: Cell::new(true), ..Self::default() }
    }

    /// From now on what is written goes nowhere, or is answered again.
    pub(super) fn set_answered(&self, is_answered: bool) {
        self.is_answered.set(is_answered);
    }

    /// What has come and was not taken, which is gone then.
    pub(super) fn take_incoming(&self) -> Vec<u8> {
        self.incoming.take().split_off(self.taken.take())
    }

    /// Gives other bytes, `chunk` of them at a time.
    pub(super) fn offer(&self, chunk: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let mut incoming = self.incoming.borrow_mut();
        incoming.clear();
        write(&mut incoming);
        self.taken.set(0);
        self.chunk.set(chunk);
    }

    /// Bytes written that went nowhere.
    pub(super) fn written(&self) -> u64 {
        self.written.get()
    }
}

/// One end of it.
#[derive(Debug)]
pub(super) struct Connection {
    wire: Rc<Wire>,
    /// Something to wait for that is always ready.
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

/// Gives the one wire there is.
#[derive(Debug)]
pub(super) struct MemoryDial(pub(super) Rc<Wire>);

impl Connect for MemoryDial {
    type Stream = Connection;

    fn connect(&mut self, _: SocketAddrV4) -> io::Result<Connection> {
        Ok(Connection { wire: Rc::clone(&self.0), descriptor: File::open("/dev/null")? })
    }
}
