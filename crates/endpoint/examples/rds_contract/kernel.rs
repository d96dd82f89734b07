//! RDS of the kernel.

use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use socket2::{Domain, SockAddr, Socket, Type};

use crate::hosts::Host;
use crate::rds::{Buffers, Implementation, Outcome, Rds};

const SOL_RDS: libc::c_int = 276;
const RDS_CANCEL_SENT_TO: libc::c_int = 1;
const RDS_INFO_COUNTERS: libc::c_int = 10_000;
/// The size of `struct rds_info_counter`: a name of 32 bytes and a value.
const COUNTER: usize = 40;

/// RDS over TCP of the kernel.
pub(crate) struct KernelRds;

struct KernelSocket(Socket);

impl Implementation for KernelRds {
    fn number(&self) -> u8 {
        0
    }

    fn open(&self, host: &Host, buffers: Buffers) -> Box<dyn Rds> {
        host.enter();
        let socket = Socket::new(Domain::from(libc::AF_RDS), Type::SEQPACKET, None)
            .expect("cannot open a socket of AF_RDS: are rds and rds_tcp loaded?");
        socket.set_nonblocking(true).unwrap();
        socket.set_send_buffer_size(buffers.send).unwrap();
        socket.set_recv_buffer_size(buffers.receive).unwrap();
        Box::new(KernelSocket(socket))
    }
}

impl Rds for KernelSocket {
    fn bind(&mut self, host: &Host, address: SocketAddr) -> Outcome<SocketAddr> {
        // The transport of an address is that of the calling thread's namespace.
        host.enter();
        self.0.bind(&SockAddr::from(address)).map_err(name)?;
        Ok(self.0.local_addr().map_err(name)?.as_socket().expect("an address of IP"))
    }

    fn send(&mut self, to: SocketAddr, bytes: &[u8]) -> Outcome<()> {
        let sent = self.0.send_to(bytes, &SockAddr::from(to)).map_err(name)?;
        assert_eq!(sent, bytes.len(), "a part of a message is sent");
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Outcome<(SocketAddr, usize)> {
        self.receive_with(buffer, libc::MSG_TRUNC)
    }

    fn peek(&mut self) -> Outcome<usize> {
        Ok(self.receive_with(&mut [], libc::MSG_TRUNC | libc::MSG_PEEK)?.1)
    }

    fn cancel(&mut self, to: SocketAddr) -> Outcome<()> {
        let to = SockAddr::from(to);
        // SAFETY: pointer and length are those of an address that outlives the call.
        let result = unsafe {
            let fd = self.0.as_raw_fd();
            libc::setsockopt(fd, SOL_RDS, RDS_CANCEL_SENT_TO, to.as_ptr().cast(), to.len())
        };
        if result == 0 { Ok(()) } else { Err(name(io::Error::last_os_error())) }
    }

    fn work(&mut self) {}

    fn has_peer_restarted(&mut self) -> bool {
        false
    }

    fn is_settled(&self) -> bool {
        true
    }

    fn counts(&self) -> Outcome<[u64; 2]> {
        let mut table = [0_u8; 128 * COUNTER];
        let mut length = table.len() as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes, which is the length of the table.
        let result = unsafe {
            let (fd, table) = (self.0.as_raw_fd(), table.as_mut_ptr().cast());
            libc::getsockopt(fd, SOL_RDS, RDS_INFO_COUNTERS, table, &raw mut length)
        };
        // The call returns the size of an entry.
        if result != COUNTER as libc::c_int {
            return Err(name(io::Error::last_os_error()));
        }
        let entries = table[..length as usize].chunks_exact(COUNTER);
        let value = |wanted: &str| {
            let mut found = entries.clone().filter(|it| it.starts_with(wanted.as_bytes()));
            let value = |it: &[u8]| u64::from_ne_bytes(it[32..].try_into().unwrap());
            found.next().map(value).ok_or(format!("no counter {wanted}"))
        };
        Ok([value("send_queued")?, value("recv_delivered")?])
    }
}

impl KernelSocket {
    fn receive_with(&self, buffer: &mut [u8], flags: libc::c_int) -> Outcome<(SocketAddr, usize)> {
        // SAFETY: bytes of a slice are initialized, and recv_from_with_flags only writes bytes.
        let buffer = unsafe { &mut *(&raw mut *buffer as *mut [MaybeUninit<u8>]) };
        let (length, from) = self.0.recv_from_with_flags(buffer, flags).map_err(name)?;
        Ok((from.as_socket().expect("an address of IP"), length))
    }
}

/// Returns the name of an error of the contract.
fn name(error: io::Error) -> String {
    let name = match error.raw_os_error() {
        Some(libc::EAGAIN) => "EAGAIN",
        Some(libc::EINVAL) => "EINVAL",
        Some(libc::EADDRINUSE) => "EADDRINUSE",
        Some(libc::EADDRNOTAVAIL) => "EADDRNOTAVAIL",
        Some(libc::ENOTCONN) => "ENOTCONN",
        Some(libc::EMSGSIZE) => "EMSGSIZE",
        Some(libc::ENOBUFS) => "ENOBUFS",
        _ => return error.to_string(),
    };
    name.to_owned()
}
