//! Sockets, commands and waits of the tests.

use std::net::UdpSocket;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Command;
use std::time::Duration;

use hairpin_testbed::Host;

/// The timeout of every wait: a defect fails instead of hanging, and a busy machine still passes.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(300);

/// Returns a UDP socket on a host, bound to the host's address, with [`TIMEOUT`] for receiving.
pub(crate) fn udp_socket(host: &Host) -> UdpSocket {
    let socket = host.run(|| UdpSocket::bind((host.address(), 0)).unwrap()).unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    socket
}

/// Returns a packet socket in the namespace of the calling thread, for frames of every protocol.
pub(crate) fn packet_socket() -> OwnedFd {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    let protocol = (libc::ETH_P_ALL as u16).to_be();
    // SAFETY: the call takes integers.
    let fd = unsafe { libc::socket(libc::AF_PACKET, kind, protocol.into()) };
    assert!(fd >= 0);
    // SAFETY: the descriptor is new and has no other owner.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Receives frames until one is a UDP datagram over IPv4.
pub(crate) fn receive_datagram(socket: &OwnedFd) -> Vec<u8> {
    for _ in 0..100 {
        let mut frame = vec![0; 2_000];
        // SAFETY: the kernel writes at most the length of the buffer.
        let length =
            unsafe { libc::recv(socket.as_raw_fd(), frame.as_mut_ptr().cast(), frame.len(), 0) };
        frame.truncate(usize::try_from(length).unwrap());
        if frame[12..14] == [8, 0] && frame[23] == 17 {
            return frame;
        }
    }
    panic!("no UDP datagram among 100 frames");
}

/// Returns a command that runs a shell script.
pub(crate) fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}
