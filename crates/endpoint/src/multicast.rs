//! Multicast group membership and sending.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use socket2::Socket;

use crate::backend::Backend;
use crate::error_context::Context;
use crate::kernel::receiver::KernelReceiver;

/// A multicast group to receive, with its interface and sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MulticastGroup<'a> {
    /// The group's address and UDP port.
    pub group: SocketAddrV4,
    /// The local address of the receiving interface. If unspecified, the kernel or the stack
    /// chooses.
    pub interface: Ipv4Addr,
    /// The only sources to receive from (IGMPv3, RFC 3376, filter mode INCLUDE). If empty: any
    /// source. The kernel accepts up to 10 (`net.ipv4.igmp_max_msf`).
    pub sources: &'a [Ipv4Addr],
}

/// Sets the interface and TTL of datagrams to groups, which cross at most `ttl - 1` routers, and
/// loops them back to receivers on this host.
pub(crate) fn send_from(socket: &Socket, interface: Ipv4Addr, ttl: u8) -> io::Result<()> {
    socket
        .set_multicast_if_v4(&interface)
        .and_then(|()| socket.set_multicast_ttl_v4(u32::from(ttl)))
        .and_then(|()| socket.set_multicast_loop_v4(true))
        .context(format_args!("send to groups on interface {interface}"))
}

/// The membership of a group with its sources. It can be left and joined again.
#[derive(Debug)]
pub(crate) struct Membership {
    group: Ipv4Addr,
    interface: Ipv4Addr,
    sources: Box<[Ipv4Addr]>,
    joined: bool,
}

impl Membership {
    /// # Errors
    /// `InvalidInput` if the group's address is not a multicast address.
    pub(crate) fn new(group: MulticastGroup<'_>) -> io::Result<Self> {
        let address = *group.group.ip();
        if !address.is_multicast() {
            let reason = format!("{address} is not a multicast address (224.0.0.0/4)");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let sources = group.sources.into();
        Ok(Self { group: address, interface: group.interface, sources, joined: false })
    }

    /// Joins all sources or no source: when the kernel refuses one of several, those before it are
    /// left again.
    pub(crate) fn join(&mut self, backend: &mut Backend<KernelReceiver>) -> io::Result<()> {
        match backend {
            Backend::Kernel(receiver) => self.join_kernel(receiver.socket())?,
            Backend::Xdp(socket) => {
                let Self { group, interface, ref sources, .. } = *self;
                let joined = socket.join(group, sources);
                joined.context(format_args!("join {group} on interface {interface}"))?;
            }
        }
        self.joined = true;
        Ok(())
    }

    fn join_kernel(&self, socket: &Socket) -> io::Result<()> {
        let Self { group, interface, ref sources, .. } = *self;
        if sources.is_empty() {
            socket
                .join_multicast_v4(&group, &interface)
                .context(format_args!("join {group} on interface {interface}"))?;
        }
        for source in sources {
            let joined = socket.join_ssm_v4(source, &group, &interface);
            if joined.is_err() && !self.joined {
                // Fails if there is nothing to leave.
                let _ = socket.leave_multicast_v4(&group, &interface);
            }
            joined.context(format_args!("join {group} from {source} on interface {interface}"))?;
        }
        Ok(())
    }

    /// Leaves the group with all its sources. The kernel needs one call, with or without sources.
    pub(crate) fn leave(&mut self, backend: &mut Backend<KernelReceiver>) -> io::Result<()> {
        let Self { group, interface, .. } = *self;
        let left = match backend {
            Backend::Kernel(receiver) => receiver.socket().leave_multicast_v4(&group, &interface),
            Backend::Xdp(socket) => socket.leave(group),
        };
        left.context(format_args!("leave {group} on interface {interface}"))?;
        self.joined = false;
        Ok(())
    }

    pub(crate) fn interface(&self) -> Ipv4Addr {
        self.interface
    }

    pub(crate) fn is_joined(&self) -> bool {
        self.joined
    }
}
