//! Which way datagrams go.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use crate::xdp::{FallbackReason, PathEvent, Stack};

/// Which way a UDP socket's datagrams go.
///
/// A clone is another handle of the same stack. Two are equal if they are the same.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Through the kernel's own UDP.
    #[default]
    Kernel,
    /// Past it, by AF_XDP, on the one interface of a stack. What cannot go that way goes through
    /// the kernel, and the stack tells ([`Stack::notice`]) or, if it is strict, refuses.
    Xdp(Stack),
}

impl Transport {
    /// The stack that receives on the interface with this local address.
    ///
    /// # Errors
    /// That of a strict stack which is of another interface; any other has told that the kernel
    /// receives.
    pub(crate) fn receiving(
        &self,
        interface: Ipv4Addr,
        address: SocketAddrV4,
    ) -> io::Result<Option<&Stack>> {
        let reason = self.lacks(interface).then_some(FallbackReason::OtherInterface);
        self.unless(reason.map(|reason| {
            let address = SocketAddr::V4(address);
            PathEvent::RxFallback { address, reason }
        }))
    }

    /// The stack that sends from the interface with this local address; across no router but
    /// `ttl - 1`.
    ///
    /// # Errors
    /// As of [`receiving`](Self::receiving).
    pub(crate) fn sending(
        &self,
        interface: Ipv4Addr,
        to: SocketAddrV4,
        ttl: u8,
    ) -> io::Result<Option<&Stack>> {
        let reason = if self.lacks(interface) {
            Some(FallbackReason::OtherInterface)
        } else {
            // What may not even leave the host.
            (ttl == 0).then_some(FallbackReason::ThisHost)
        };
        self.unless(reason.map(|reason| {
            let address = SocketAddr::V4(to);
            PathEvent::TxFallback { address, reason }
        }))
    }

    fn lacks(&self, interface: Ipv4Addr) -> bool {
        match self {
            Self::Kernel => false,
            Self::Xdp(stack) => !is_of(stack, interface),
        }
    }

    fn unless(&self, notice: Option<PathEvent>) -> io::Result<Option<&Stack>> {
        match (self, notice) {
            (Self::Kernel, _) => Ok(None),
            (Self::Xdp(stack), None) => Ok(Some(stack)),
            (Self::Xdp(stack), Some(notice)) => stack.fall_back(notice).map(|()| None),
        }
    }
}

/// Whether a local address means the interface of a stack.
pub(crate) fn is_of(stack: &Stack, interface: Ipv4Addr) -> bool {
    interface.is_unspecified() || stack.has_address(interface.into())
}
