//! The timestamp state of one socket.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;

use socket2::Socket;

use crate::timestamps::error_queue::ErrorQueue;
use crate::timestamps::timestamping::TimestampFlags;
use crate::{Timestamping, Transmitted};

/// The timestamps requested for a socket and its queue of transmit timestamps.
#[derive(Debug)]
pub(crate) struct SocketTimestamps {
    flags: TimestampFlags,
    /// `Some` while transmit timestamps are on.
    sent: Option<Box<ErrorQueue>>,
}

impl SocketTimestamps {
    /// Requests receive timestamps.
    pub(crate) fn new(socket: &Socket, flags: TimestampFlags) -> io::Result<Self> {
        if flags.receive != Timestamping::Off {
            flags.request(socket)?;
        }
        Ok(Self { flags, sent: None })
    }

    /// Turns transmit timestamps on, with ids from 0, or off. Allocates the queue while they are
    /// on. Undelivered timestamps are discarded.
    pub(crate) fn set_transmit(
        &mut self,
        socket: &Socket,
        transmit: Timestamping,
    ) -> io::Result<()> {
        let (off, mut unread) =
            (TimestampFlags { transmit: Timestamping::Off, ..self.flags }, None);
        off.request(socket)?;
        std::mem::swap(&mut self.sent, &mut unread);
        if let Some(mut unread) = unread {
            unread.deliver(socket.as_fd(), drop)?;
        }
        self.flags = TimestampFlags { transmit, ..off };
        if transmit == Timestamping::Off {
            return Ok(());
        }
        self.flags.request(socket)?;
        self.sent = Some(Box::new(ErrorQueue::new(off.stream)));
        Ok(())
    }

    /// Counts a sent datagram.
    #[inline]
    pub(crate) fn count_sent(&mut self) {
        if let Some(sent) = &mut self.sent {
            sent.count_sent();
        }
    }

    /// Takes the transmit timestamps from the kernel after a receive found no data. A wait reports
    /// the socket as ready while they are in its error queue.
    #[inline]
    pub(crate) fn drain_error_queue(&mut self, socket: &Socket) -> io::Result<()> {
        match &mut self.sent {
            Some(sent) if sent.may_have_timestamps() => sent.take_from_socket(socket.as_fd()),
            _ => Ok(()),
        }
    }

    /// Delivers the available transmit timestamps and returns their number.
    pub(crate) fn deliver(
        &mut self,
        socket: &Socket,
        on: impl FnMut(Transmitted),
    ) -> io::Result<usize> {
        self.sent.as_mut().map_or(Ok(0), |sent| sent.deliver(socket.as_fd(), on))
    }

    /// Returns the number of discarded transmit timestamps.
    pub(crate) fn discarded(&self) -> u64 {
        self.sent.as_ref().map_or(0, |sent| sent.discarded())
    }

    /// Returns the active receive timestamping on the interface with this local address.
    pub(crate) fn receive_timestamping_on(&self, interface: Ipv4Addr) -> Timestamping {
        self.flags.receive_timestamping_on(interface)
    }

    /// Returns the active transmit timestamping on the interface with this local address.
    pub(crate) fn transmit_timestamping_on(&self, interface: Ipv4Addr) -> Timestamping {
        self.flags.transmit_timestamping_on(interface)
    }
}
