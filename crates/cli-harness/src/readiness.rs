//! Readiness for a service manager (sd_notify(3)).

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The variable with the socket of the service manager.
const VARIABLE: &str = "NOTIFY_SOCKET";

/// Reports to the service manager, if there is one, that this process serves or receives.
///
/// systemd starts units that are ordered after it now (`Type=notify`). Without a manager, or if it
/// has ended, nothing happens.
pub fn report() {
    if let Some(socket) = std::env::var_os(VARIABLE) {
        let _ = send(&socket, b"READY=1\n");
    }
}

/// Sends a datagram to a socket: a path, or an abstract name after `@`.
fn send(socket: &OsStr, message: &[u8]) -> io::Result<()> {
    let address = match socket.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        path => SocketAddr::from_pathname(OsStr::from_bytes(path))?,
    };
    UnixDatagram::unbound()?.send_to_addr(message, &address).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_arrives_at_paths_and_abstract_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let name = format!("hairpin-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let managers =
            [UnixDatagram::bind(&path).unwrap(), UnixDatagram::bind_addr(&address).unwrap()];
        send(path.as_os_str(), b"READY=1\n").unwrap();
        send(format!("@{name}").as_ref(), b"READY=1\n").unwrap();
        for manager in managers {
            let mut buffer = [0; 64];
            let length = manager.recv(&mut buffer).unwrap();
            assert_eq!(&buffer[..length], b"READY=1\n");
        }
        assert!(send("/no/such/socket".as_ref(), b"READY=1\n").is_err());
    }
}
