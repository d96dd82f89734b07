//! A TCP connection that records when bytes enter and leave the process.

use std::cell::Cell;
use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

use hairpin_endpoint::{
    Blocker, DropNotifier, Meta, Receive, Received, Source, Stream, TcpStream, Transmit,
    UringHandle,
};
use hairpin_host::Clock;
use hairpin_order_entry::{Connect, TcpConnect};
use hairpin_time::{Duration, Instant};

/// The times at which bytes last passed.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    received: Cell<Instant>,
    written: Cell<Instant>,
}

impl Stamps {
    /// Returns the time at which the endpoint delivered the last bytes.
    #[inline]
    pub(super) fn received(&self) -> Instant {
        self.received.get()
    }

    /// Returns the time just before the last bytes were passed to the endpoint.
    #[inline]
    pub(super) fn written(&self) -> Instant {
        self.written.get()
    }
}

/// Connects over TCP.
#[derive(Debug)]
pub(super) struct StampedConnect {
    pub(super) connect: TcpConnect,
    pub(super) clock: Clock,
    pub(super) stamps: Rc<Stamps>,
}

impl Connect for StampedConnect {
    type Stream = StampedStream;

    fn connect(&mut self, gateway: SocketAddrV4) -> io::Result<StampedStream> {
        let stream = self.connect.connect(gateway)?;
        Ok(StampedStream { stream, clock: self.clock.clone(), stamps: Rc::clone(&self.stamps) })
    }
}

/// A TCP connection between two clock readings.
#[derive(Debug)]
pub(super) struct StampedStream {
    stream: TcpStream,
    clock: Clock,
    stamps: Rc<Stamps>,
}

impl Receive for StampedStream {
    #[inline]
    fn receive(&mut self, budget: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let Self { stream, clock, stamps } = self;
        stream.receive(budget, |meta, bytes| {
            stamps.received.set(clock.instant());
            on(meta, bytes);
        })
    }
}

impl Transmit for StampedStream {
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        self.stream.transmit(length, fill)
    }
}

impl Stream for StampedStream {
    fn is_connected(&self) -> bool {
        self.stream.is_connected()
    }

    fn segment_size(&self) -> Option<usize> {
        self.stream.segment_size()
    }

    fn finish_connect(&mut self) -> io::Result<bool> {
        self.stream.finish_connect()
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stamps.written.set(self.clock.instant());
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<bool> {
        self.stream.flush()
    }

    fn warm_up(&mut self, length: usize) {
        self.stream.warm_up(length);
    }

    fn shutdown(&mut self) -> io::Result<()> {
        self.stream.shutdown()
    }
}

impl AsFd for StampedStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Source for StampedStream {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.stream.set_blocking(timeout)
    }

    fn set_uring_handle(
        &mut self,
        notice: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        self.stream.set_uring_handle(notice)
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.stream.set_spinning(is_spinning);
    }

    fn set_interest(&self, readable: bool, writable: bool) -> io::Result<bool> {
        self.stream.set_interest(readable, writable)
    }
}
