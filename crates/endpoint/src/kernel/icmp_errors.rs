//! ICMP errors about datagrams that an unconnected UDP socket has sent.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::kernel::extended_error::ExtendedError;
use crate::kernel::recv_batch::RecvBatch;

/// The errors read with one system call.
const BATCH: usize = 8;
/// The system calls of one [`IcmpErrors::drain`]: a flood of errors does not hold up the owner.
const CALLS: usize = 8;

/// Reads ICMP errors from a socket's error queue (`IP_RECVERR`, ip(7)).
pub(crate) struct IcmpErrors {
    batch: RecvBatch,
}

impl IcmpErrors {
    /// Enables the error queue of a socket.
    pub(crate) fn enable(socket: BorrowedFd<'_>, is_ipv4: bool) -> io::Result<Self> {
        let errors = Self { batch: RecvBatch::new(BATCH, 128) };
        errors.enable_also(socket, is_ipv4)?;
        Ok(errors)
    }

    /// Enables the error queue of another socket.
    pub(crate) fn enable_also(&self, socket: BorrowedFd<'_>, is_ipv4: bool) -> io::Result<()> {
        let (level, option) = match is_ipv4 {
            true => (libc::IPPROTO_IP, libc::IP_RECVERR),
            false => (libc::IPPROTO_IPV6, libc::IPV6_RECVERR),
        };
        let value: libc::c_int = 1;
        // SAFETY: the descriptor is open for as long as it is borrowed; the value is an int, as the
        // option takes, and lives until the call returns.
        let status = unsafe {
            let length = size_of_val(&value) as libc::socklen_t;
            libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const value).cast(), length)
        };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Calls `on` with each error that has arrived, up to [`BATCH`] times [`CALLS`] of them: the
    /// destination of the datagram, `true` if no socket is bound there, and the payload of the
    /// datagram as far as the error returns it.
    pub(crate) fn drain(
        &mut self,
        socket: BorrowedFd<'_>,
        mut on: impl FnMut(SocketAddr, bool, &[u8]),
    ) {
        for _ in 0..CALLS {
            let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
            let Ok(count) = self.batch.receive(socket, BATCH, flags) else { return };
            for index in 0..count {
                let error = ExtendedError::parse(self.batch.control(index));
                if let Some(error) = error.filter(|error| error.is_failure()) {
                    let quote = self.batch.datagram(index).bytes;
                    on(self.batch.source(index), error.is_port_unreachable(), quote);
                }
            }
            if count < BATCH {
                return;
            }
        }
    }
}
