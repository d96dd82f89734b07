//! A connection that tells when bytes came into the process and when they were about to leave it.

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

/// When bytes last passed.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    received: Cell<Instant>,
    written: Cell<Instant>,
}

impl Stamps {
    /// When the kernel had handed over the last bytes that came.
    #[inline]
    pub(super) fn received(&self) -> Instant {
        self.received.get()
    }

    /// When the last bytes were about to be handed to the kernel.
    #[inline]
    pub(super) fn written(&self) -> Instant {
        self.written.get()
    }
}

/// Connects by the kernel's TCP.
#[derive(Debug)]
pub(super) struct StampedDial {
    pub(super) clock: Clock,
    pub(super) stamps: Rc<Stamps>,
}

impl Connect for StampedDial {
    type Stream = Stamped;

    fn connect(&mut self, gateway: SocketAddrV4) -> io::Result<Stamped> {
        let stream = TcpConnect::default().connect(gateway)?;
        Ok(Stamped { stream, clock: self.clock.clone(), stamps: Rc::clone(&self.stamps) })
    }
}

/// A kernel TCP connection between two readings of the clock.
#[derive(Debug)]
pub(super) struct Stamped {
    stream: TcpStream,
    clock: Clock,
    stamps: Rc<Stamps>,
}

impl Receive for Stamped {
    #[inline]
    fn receive(&mut self, budget: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let Self { stream, clock, stamps } = self;
        stream.receive(budget, |meta, bytes| {
            stamps.received.set(clock.instant());
            on(meta, bytes);
        })
    }
}

impl Transmit for Stamped {
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        self.stream.transmit(length, fill)
    }
}

impl Stream for Stamped {
    fn is_connected(&self) -> bool {
        self.stream.is_connected()
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

    fn shutdown(&mut self) -> io::Result<()> {
        self.stream.shutdown()
    }
}

impl AsFd for Stamped {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Source for Stamped {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.stream.set_blocking(timeout)
    }

    fn set_uring_handle(
        &mut self,
        notice: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        self.stream.set_uring_handle(notice)
    }
}
