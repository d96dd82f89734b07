//! A connection that accepts every byte and delivers one report at a time.

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

use crate::mock_exchange::MockExchange;

const NOWHERE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);

/// The state shared by both ends.
#[derive(Default)]
pub(crate) struct Wire {
    pub(crate) exchange: RefCell<MockExchange>,
    /// Frames from the exchange.
    pub(crate) incoming: RefCell<Vec<u8>>,
    /// The number of bytes delivered, and the number of bytes per delivery (0 for all).
    pub(crate) taken: Cell<usize>,
    pub(crate) chunk: Cell<usize>,
    /// `true` after the logon: written bytes are counted, and not answered.
    pub(crate) counts: Cell<bool>,
    pub(crate) writes: Cell<u64>,
    pub(crate) bytes: Cell<u64>,
}

impl Wire {
    /// Replaces the frames for the session, delivered in pieces of `chunk` bytes.
    pub(crate) fn offer(&self, chunk: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let mut incoming = self.incoming.borrow_mut();
        incoming.clear();
        write(&mut incoming);
        self.taken.set(0);
        self.chunk.set(chunk);
    }
}

pub(crate) struct Connection {
    wire: Rc<Wire>,
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
    fn transmit(&mut self, _: usize, _: impl FnOnce(&mut [u8])) -> io::Result<()> {
        unreachable!("a session writes from its journal")
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
        if wire.counts.get() {
            wire.writes.set(wire.writes.get() + 1);
            wire.bytes.set(wire.bytes.get() + black_box(bytes).len() as u64);
        } else {
            let answer = wire.exchange.borrow_mut().answer(bytes);
            wire.offer(0, |incoming| incoming.extend(answer));
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

/// Returns the only connection.
pub(crate) struct MemoryConnector(pub(crate) Rc<Wire>);

impl Connect for MemoryConnector {
    type Stream = Connection;

    fn connect(&mut self, _: SocketAddrV4) -> io::Result<Connection> {
        Ok(Connection { wire: Rc::clone(&self.0), descriptor: File::open("/dev/null")? })
    }
}
