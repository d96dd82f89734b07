//! A netlink socket that a forked child does not inherit.

use std::io;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use hairpin_xdp::ForkGuardedFd;

/// A netlink socket. A child that read from it would take its parent's replies; calls in a child
/// fail.
#[derive(Debug)]
pub(super) struct Socket {
    /// Never dropped, so it does not close the descriptor.
    socket: ManuallyDrop<netlink_sys::Socket>,
    _descriptor: ForkGuardedFd,
}

impl Socket {
    /// Creates a socket in the calling thread's network namespace, close-on-exec.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn new(protocol: isize) -> io::Result<Self> {
        let descriptor = ForkGuardedFd::from_fn(|| {
            let descriptor = netlink_sys::Socket::new(protocol)?.into_raw_fd();
            // SAFETY: the descriptor is open, and the socket has released it.
            Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
        })?;
        // SAFETY: the descriptor stays open while `_descriptor` exists, which alone closes it.
        let socket = unsafe { netlink_sys::Socket::from_raw_fd(descriptor.as_raw_fd()) };
        Ok(Self { socket: ManuallyDrop::new(socket), _descriptor: descriptor })
    }
}

impl Deref for Socket {
    type Target = netlink_sys::Socket;

    fn deref(&self) -> &netlink_sys::Socket {
        &self.socket
    }
}

impl DerefMut for Socket {
    fn deref_mut(&mut self) -> &mut netlink_sys::Socket {
        &mut self.socket
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use netlink_packet_core::{NLM_F_ACK, NLM_F_REQUEST};
    use netlink_sys::SocketAddr;
    use netlink_sys::protocols::NETLINK_ROUTE;

    #[test]
    fn forked_child_takes_no_reply_of_its_parent() {
        let mut socket = Socket::new(NETLINK_ROUTE).unwrap();
        socket.bind_auto().unwrap();
        socket.connect(&SocketAddr::new(0, 0)).unwrap();
        socket.set_non_blocking(true).unwrap();
        // A header alone, which requests only an acknowledgment.
        let mut request = [0; 16];
        request[..4].copy_from_slice(&16_u32.to_ne_bytes());
        request[4..6].copy_from_slice(&(libc::NLMSG_NOOP as u16).to_ne_bytes());
        request[6..8].copy_from_slice(&(NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
        socket.send(&request, 0).unwrap();
        let mut answer = Vec::with_capacity(256);
        // SAFETY: the child makes only system calls and exits, after a minute at the latest.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: as above.
            unsafe { libc::alarm(60) };
            let took = socket.recv(&mut answer, 0).is_ok();
            // SAFETY: as above.
            unsafe { libc::_exit(i32::from(took)) }
        }
        let mut status = -1;
        // SAFETY: the status outlives the call.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "the child read its parent's reply");
        assert!(socket.recv(&mut answer, 0).unwrap() >= 16);
    }
}
