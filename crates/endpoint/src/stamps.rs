//! The timestamps of one socket.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;

use socket2::Socket;

use crate::error_queue::ErrorQueue;
use crate::timestamping::Stamping;
use crate::{Timestamping, Transmitted};

/// What is stamped, and the stamps of what was sent.
#[derive(Debug)]
pub(crate) struct Stamps {
    stamping: Stamping,
    /// Only while transmissions are stamped.
    sent: Option<Box<ErrorQueue>>,
}

impl Stamps {
    /// Asks for stamps of what is received.
    pub(crate) fn new(socket: &Socket, stamping: Stamping) -> io::Result<Self> {
        if stamping.receive != Timestamping::Off {
            stamping.request(socket)?;
        }
        Ok(Self { stamping, sent: None })
    }

    /// Asks for stamps of what is sent from now on, numbered anew, or for none. Allocates what it
    /// needs for as long as they are wanted; those not yet delivered are gone.
    pub(crate) fn set_transmit(
        &mut self,
        socket: &Socket,
        transmit: Timestamping,
    ) -> io::Result<()> {
        let (off, mut unread) = (Stamping { transmit: Timestamping::Off, ..self.stamping }, None);
        off.request(socket)?;
        std::mem::swap(&mut self.sent, &mut unread);
        if let Some(mut unread) = unread {
            unread.deliver(socket.as_fd(), drop)?;
        }
        self.stamping = Stamping { transmit, ..off };
        if transmit == Timestamping::Off {
            return Ok(());
        }
        self.stamping.request(socket)?;
        self.sent = Some(Box::new(ErrorQueue::new(off.is_stream)));
        Ok(())
    }

    /// Notes that a datagram has been sent.
    #[inline]
    pub(crate) fn expect(&mut self) {
        if let Some(sent) = &mut self.sent {
            sent.expect();
        }
    }

    /// Takes the stamps out of the kernel when there was nothing else to receive: a wait finds a
    /// socket ready for as long as they are there.
    #[inline]
    pub(crate) fn keep(&mut self, socket: &Socket) -> io::Result<()> {
        match &mut self.sent {
            Some(sent) if sent.is_expecting() => sent.keep(socket.as_fd()),
            _ => Ok(()),
        }
    }

    /// Delivers the stamps that have come, and returns how many.
    pub(crate) fn deliver(
        &mut self,
        socket: &Socket,
        on: impl FnMut(Transmitted),
    ) -> io::Result<usize> {
        self.sent.as_mut().map_or(Ok(0), |sent| sent.deliver(socket.as_fd(), on))
    }

    /// Stamps that nobody asked for in time.
    pub(crate) fn lost(&self) -> u64 {
        self.sent.as_ref().map_or(0, |sent| sent.lost())
    }

    /// What is in force on receipt, on the interface with this local address.
    pub(crate) fn received_on(&self, interface: Ipv4Addr) -> Timestamping {
        self.stamping.received_on(interface)
    }

    /// The same of transmission.
    pub(crate) fn sent_on(&self, interface: Ipv4Addr) -> Timestamping {
        self.stamping.sent_on(interface)
    }
}
