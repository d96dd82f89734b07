//! The kernel's links, addresses, routes and neighbours of one network namespace, as rtnetlink(7)
//! tells them.
//!
//! Two sockets. One asks: the kernel answers before a request returns, so that nothing here ever
//! waits. The other one listens: [`Netlink::changes`] drains it, and its descriptor is readable
//! when something has changed. An answer is thus never lost among a flood of changes.
//!
//! All is read by an ordinary user; only [`Netlink::use_neighbour`] takes `CAP_NET_ADMIN`. Messages
//! come from the kernel and are still believed only as far as they are whole.

mod address;
mod attributes;
mod change;
mod conversation;
mod link;
mod message;
mod neighbour;
mod route;
mod socket;

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_core::NLM_F_CREATE;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::protocols::NETLINK_ROUTE;

pub(crate) use address::InterfaceAddress;
pub(crate) use change::Change;
pub(crate) use conversation::Conversation;
pub(crate) use link::Link;
pub(crate) use neighbour::{Neighbour, NeighbourState};
pub(crate) use route::{Route, RouteKind};

use change::Changes;

/// What the kernel knows of the network.
#[derive(Debug)]
pub(crate) struct Netlink {
    conversation: Conversation,
    changes: Changes,
}

impl Netlink {
    /// Asks and listens in the network namespace of the calling thread, now and wherever it goes.
    ///
    /// What changes from here on is told by [`changes`](Self::changes): so open first, and read
    /// then. Both sockets are close-on-exec, not inherited by a forked child, and never block.
    ///
    /// # Errors
    /// Those of making a socket; a kernel before Linux 5.3, where nexthops have no group.
    pub(crate) fn open() -> io::Result<Self> {
        let conversation = Conversation::open(NETLINK_ROUTE)?;
        conversation.check_strictly()?;
        Ok(Self { conversation, changes: Changes::subscribe()? })
    }

    /// An interface, by its index.
    ///
    /// # Errors
    /// `ENODEV`: there is none.
    pub(crate) fn link(&mut self, interface: u32) -> io::Result<Link> {
        self.conversation.ask(link::question(interface), Link::parse)
    }

    /// The addresses of an interface that may be used. An IPv6 address that is still looked
    /// for at others, or was found there, is none; when it may be used, that is a change.
    ///
    /// # Errors
    /// `ENODEV`: there is no such interface. `ResourceBusy`: they change faster than they can be
    /// read.
    pub(crate) fn addresses(&mut self, interface: u32) -> io::Result<Vec<InterfaceAddress>> {
        let parse = |kind, payload: &_| InterfaceAddress::parse(kind, payload, interface);
        self.conversation.dump(&address::question(interface), parse)
    }

    /// Where the kernel itself sends what is for `destination`, policy rules and learned MTUs
    /// included: from `source` if that is given, and out of `interface` if that is. Marks and types
    /// of service are not asked for, nor are ports: of several paths it is that of packets whose
    /// ports do not matter.
    ///
    /// # Errors
    /// The kernel's: `NetworkUnreachable`, also where an IPv4 `source` is no address of this host;
    /// `HostUnreachable`; `PermissionDenied` where a route prohibits; `InvalidInput` for a black
    /// hole. `AddrNotAvailable`: there is no address to send from.
    pub(crate) fn route(
        &mut self,
        destination: IpAddr,
        source: Option<IpAddr>,
        interface: Option<u32>,
    ) -> io::Result<Route> {
        let question = route::question(destination, source, interface);
        let found = self.conversation.ask(question, route::Found::parse)?;
        found.from(source).ok_or(io::ErrorKind::AddrNotAvailable.into())
    }

    /// The Ethernet address of a neighbour, while the kernel has one for it.
    ///
    /// # Errors
    /// The kernel's: there is no such interface.
    pub(crate) fn neighbour(
        &mut self,
        interface: u32,
        address: IpAddr,
    ) -> io::Result<Option<Neighbour>> {
        match self.conversation.ask(neighbour::question(interface, address), neighbour::parse) {
            Ok(entry) => Ok(entry.neighbour),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Has the kernel find a neighbour out, or make sure of it, as if it had sent something there.
    /// What it finds is a change. A neighbour that somebody has entered for ever is left alone:
    /// the kernel would forget it.
    ///
    /// # Errors
    /// `PermissionDenied` unless both who opened this and the calling thread have
    /// `CAP_NET_ADMIN`; the kernel's.
    pub(crate) fn use_neighbour(&mut self, interface: u32, address: IpAddr) -> io::Result<()> {
        let known = self.neighbour(interface, address)?.map(|neighbour| neighbour.state);
        if matches!(known, Some(NeighbourState::Permanent | NeighbourState::NoArp)) {
            return Ok(());
        }
        let used = RouteNetlinkMessage::NewNeighbour(neighbour::used(interface, address));
        self.conversation.tell(used, NLM_F_CREATE)
    }

    /// Tells what has changed since the last call. It never waits; under a flood of changes it
    /// returns before all are told, and the descriptor is still readable.
    ///
    /// # Errors
    /// The kernel's, of the socket.
    pub(crate) fn changes(&mut self, tell: &mut impl FnMut(Change)) -> io::Result<()> {
        self.changes.drain(tell)
    }
}

/// Readable when there are changes.
impl AsFd for Netlink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.changes.as_fd()
    }
}
