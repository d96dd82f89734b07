//! Multicast groups: membership, and the way there.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use socket2::Socket;

use crate::carrier::Carrier;
use crate::context::Context;
use crate::incoming::Incoming;

/// A multicast group to receive, where, and from whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MulticastGroup<'a> {
    /// The group's address and UDP port.
    pub group: SocketAddrV4,
    /// The local address of the interface to receive it on; unspecified: the kernel's choice or, by
    /// a stack, the stack's.
    pub interface: Ipv4Addr,
    /// The only senders to receive from (IGMPv3, RFC 3376, filter mode INCLUDE); empty: any. The
    /// kernel takes up to 10 (`net.ipv4.igmp_max_msf`).
    pub sources: &'a [Ipv4Addr],
}

/// Has what is sent to groups leave from an interface, across `ttl - 1` routers, and be received on
/// this host too.
pub(crate) fn send_from(socket: &Socket, interface: Ipv4Addr, ttl: u8) -> io::Result<()> {
    socket
        .set_multicast_if_v4(&interface)
        .and_then(|()| socket.set_multicast_ttl_v4(u32::from(ttl)))
        .and_then(|()| socket.set_multicast_loop_v4(true))
        .context(format_args!("send to groups on interface {interface}"))
}

/// A group with its sources, to be left and joined again.
#[derive(Debug)]
pub(crate) struct Membership {
    group: Ipv4Addr,
    interface: Ipv4Addr,
    sources: Box<[Ipv4Addr]>,
    is_joined: bool,
}

impl Membership {
    /// # Errors
    /// `InvalidInput` if the group's address is not one of multicast.
    pub(crate) fn new(group: MulticastGroup<'_>) -> io::Result<Self> {
        let address = *group.group.ip();
        if !address.is_multicast() {
            let reason = format!("{address} is not a multicast address (224.0.0.0/4)");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let sources = group.sources.into();
        Ok(Self { group: address, interface: group.interface, sources, is_joined: false })
    }

    /// Joins as a whole or not at all: when the kernel refuses one of several sources, those
    /// before it are left again.
    pub(crate) fn join(&mut self, carrier: &mut Carrier<Incoming>) -> io::Result<()> {
        match carrier {
            Carrier::Kernel(incoming) => self.join_by_kernel(incoming.socket())?,
            Carrier::Xdp(socket) => {
                let Self { group, interface, ref sources, .. } = *self;
                let joined = socket.join(group, sources);
                joined.context(format_args!("join {group} on interface {interface}"))?;
            }
        }
        self.is_joined = true;
        Ok(())
    }

    fn join_by_kernel(&self, socket: &Socket) -> io::Result<()> {
        let Self { group, interface, ref sources, .. } = *self;
        if sources.is_empty() {
            socket
                .join_multicast_v4(&group, &interface)
                .context(format_args!("join {group} on interface {interface}"))?;
        }
        for source in sources {
            let joined = socket.join_ssm_v4(source, &group, &interface);
            if joined.is_err() && !self.is_joined {
                // Refused in its turn if there is nothing to leave.
                let _ = socket.leave_multicast_v4(&group, &interface);
            }
            joined.context(format_args!("join {group} from {source} on interface {interface}"))?;
        }
        Ok(())
    }

    /// Leaves the group, be it joined from any source or from several: for both the kernel needs
    /// one call.
    pub(crate) fn leave(&mut self, carrier: &mut Carrier<Incoming>) -> io::Result<()> {
        let Self { group, interface, .. } = *self;
        let left = match carrier {
            Carrier::Kernel(incoming) => incoming.socket().leave_multicast_v4(&group, &interface),
            Carrier::Xdp(socket) => socket.leave(group),
        };
        left.context(format_args!("leave {group} on interface {interface}"))?;
        self.is_joined = false;
        Ok(())
    }

    pub(crate) fn interface(&self) -> Ipv4Addr {
        self.interface
    }

    pub(crate) fn is_joined(&self) -> bool {
        self.is_joined
    }
}
