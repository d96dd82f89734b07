//! A netlink socket that a forked child does not inherit.

use std::io;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use hairpin_xdp::ForkGuardedFd;

/// A socket. A child that read from it would have what its parent is to read; what it calls on it
/// fails.
#[derive(Debug)]
pub(super) struct Socket {
    /// Never dropped: it closes nothing.
    socket: ManuallyDrop<netlink_sys::Socket>,
    _descriptor: ForkGuardedFd,
}

impl Socket {
    /// One of the network namespace of the calling thread, close-on-exec.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn new(protocol: isize) -> io::Result<Self> {
        let descriptor = ForkGuardedFd::make(|| {
            let descriptor = netlink_sys::Socket::new(protocol)?.into_raw_fd();
            // SAFETY: it is open, and the socket has given it up.
            Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
        })?;
        // SAFETY: it is open as long as the value beside it is there, which alone closes it.
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
    fn a_forked_child_takes_no_answer_of_its_parents() {
        let mut socket = Socket::new(NETLINK_ROUTE).unwrap();
        socket.bind_auto().unwrap();
        socket.connect(&SocketAddr::new(0, 0)).unwrap();
        socket.set_non_blocking(true).unwrap();
        // A header alone, which asks for nothing but an acknowledgement.
        let mut question = [0; 16];
        question[..4].copy_from_slice(&16_u32.to_ne_bytes());
        question[4..6].copy_from_slice(&(libc::NLMSG_NOOP as u16).to_ne_bytes());
        question[6..8].copy_from_slice(&(NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
        socket.send(&question, 0).unwrap();
        let mut answer = Vec::with_capacity(256);
        // SAFETY: the child makes system calls alone, and ends; in a minute if it hangs.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: as above.
            unsafe { libc::alarm(60) };
            let took = socket.recv(&mut answer, 0).is_ok();
            // SAFETY: as above.
            unsafe { libc::_exit(i32::from(took)) }
        }
        let mut status = -1;
        // SAFETY: the number lives through the call.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "the child has read what was not for it");
        assert!(socket.recv(&mut answer, 0).unwrap() >= 16);
    }
}
