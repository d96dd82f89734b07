//! The transport of sockets: the kernel or AF_XDP.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use crate::xdp::{FallbackReason, PathEvent, Stack};

/// The transport of a socket's data.
///
/// A clone is another handle of the same stack. Two values are equal if they are the same stack.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub enum Transport {
    /// The kernel's UDP and TCP.
    #[default]
    Kernel,
    /// Kernel bypass over AF_XDP, on the one interface of a stack. Traffic that AF_XDP cannot carry
    /// falls back to the kernel. The stack reports this ([`Stack::next_event`]) or, in strict mode,
    /// returns an error.
    Xdp(Stack),
}

impl Transport {
    /// Returns the stack that receives on the interface with this local address.
    ///
    /// # Errors
    /// The error of a strict stack on another interface. Any other stack reports the fallback.
    pub(crate) fn receive_stack(
        &self,
        interface: Ipv4Addr,
        address: SocketAddrV4,
    ) -> io::Result<Option<&Stack>> {
        let reason =
            self.is_on_other_interface(interface).then_some(FallbackReason::OtherInterface);
        self.or_fall_back(reason.map(|reason| {
            let address = SocketAddr::V4(address);
            PathEvent::RxFallback { address, reason }
        }))
    }

    /// Returns the stack that sends from the interface with this local address. Packets cross at
    /// most `ttl - 1` routers.
    ///
    /// # Errors
    /// Same as [`receive_stack`](Self::receiving).
    pub(crate) fn send_stack(
        &self,
        interface: Ipv4Addr,
        to: SocketAddrV4,
        ttl: u8,
    ) -> io::Result<Option<&Stack>> {
        let reason = if self.is_on_other_interface(interface) {
            Some(FallbackReason::OtherInterface)
        } else {
            // Such a packet must not leave the host.
            (ttl == 0).then_some(FallbackReason::ThisHost)
        };
        self.or_fall_back(reason.map(|reason| {
            let address = SocketAddr::V4(to);
            PathEvent::TxFallback { address, reason }
        }))
    }

    fn is_on_other_interface(&self, interface: Ipv4Addr) -> bool {
        match self {
            Self::Kernel => false,
            Self::Xdp(stack) => !has_interface_address(stack, interface),
        }
    }

    fn or_fall_back(&self, event: Option<PathEvent>) -> io::Result<Option<&Stack>> {
        match (self, event) {
            (Self::Kernel, _) => Ok(None),
            (Self::Xdp(stack), None) => Ok(Some(stack)),
            (Self::Xdp(stack), Some(event)) => stack.fall_back(event).map(|()| None),
        }
    }
}

/// Returns `true` if a local address belongs to the stack's interface or is unspecified.
pub(crate) fn has_interface_address(stack: &Stack, interface: Ipv4Addr) -> bool {
    interface.is_unspecified() || stack.has_address(interface.into())
}
