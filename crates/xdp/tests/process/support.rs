//! The flow that the processes redirect, and what parent and children share.

use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::FromRawFd;

use hairpin_xdp::{Entry, Protocol};

pub(crate) const PORT: u16 = 5_000;

pub(crate) fn entry() -> Entry {
    let local = SocketAddr::from(([10, 77, 0, 1], PORT));
    Entry::Local { protocol: Protocol::Udp, vlan: None, local }
}

/// Prints a line without the locks of standard output, which another thread may have held at the
/// time of a fork.
pub(crate) fn print_line(line: &str) {
    // SAFETY: standard output, which is not closed afterwards.
    let mut out = ManuallyDrop::new(unsafe { File::from_raw_fd(1) });
    out.write_all(format!("\n{line}\n").as_bytes()).unwrap();
}

/// Returns `true` if the kernel reports the port as unreachable.
pub(crate) fn is_refused(peer: &UdpSocket) -> bool {
    let _ = peer.send(b"probe");
    peer.recv(&mut [0; 16])
        .is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
}
