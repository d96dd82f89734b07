//! The driver of a network interface.

use std::ffi::c_char;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Returns the driver's name of the interface `name`, such as `veth` or `virtio_net`, in the
/// calling thread's network namespace. Returns `None` if the driver reports no name (`lo`).
///
/// # Errors
/// `NotFound` if there is no such interface. Otherwise the kernel's errors.
pub fn interface_driver(name: &str) -> io::Result<Option<String>> {
    let socket = control_socket()?;
    let mut driver = DriverInfo { command: GET_DRIVER_INFO, bytes: [0; 192] };
    let is_known = request(&socket, name, (&raw mut driver).cast())?;
    Ok(is_known.then(|| text(&driver.bytes[..NAME_LENGTH])).flatten())
}

/// The command ETHTOOL_GDRVINFO of linux/ethtool.h.
const GET_DRIVER_INFO: u32 = 0x3;
/// The request number in linux/sockios.h.
const SIOCETHTOOL: libc::Ioctl = 0x8946;
/// The length of a driver's name in bytes.
const NAME_LENGTH: usize = 32;

/// The layout of `struct ethtool_drvinfo`, 196 bytes: the driver's name is the first 32 bytes of
/// `bytes`.
#[repr(C)]
struct DriverInfo {
    command: u32,
    bytes: [u8; 192],
}

/// Opens a socket for ioctl requests; any kind works.
fn control_socket() -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers and accesses no memory of this process.
    let fd = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, and no other code owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Requests the driver of `name` to fill in the structure at `data`, which begins with its command.
/// Returns `false` if the driver does not support the command.
fn request(socket: &OwnedFd, name: &str, data: *mut c_char) -> io::Result<bool> {
    let missing =
        || io::Error::new(io::ErrorKind::NotFound, format!("interface {name} does not exist"));
    // SAFETY: a request consists of integers, pointers and bytes, for all of which zero is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays NUL as the terminator.
    if name.is_empty() || name.len() >= request.ifr_name.len() {
        return Err(missing());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed() as c_char;
    }
    request.ifr_ifru.ifru_data = data;
    // SAFETY: the request is valid until the call returns. `data` points to a structure of the size
    // that the kernel writes for its command.
    if unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) } == 0 {
        return Ok(true);
    }
    match io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(false),
        error if error.raw_os_error() == Some(libc::ENODEV) => Err(missing()),
        error => Err(error),
    }
}

/// Returns the text up to the first NUL, or `None` if it is empty.
fn text(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_no_driver() {
        assert_eq!(interface_driver("lo").unwrap(), None);
    }

    #[test]
    fn error_names_missing_interface() {
        for name in ["nope0", "a-name-of-sixteen", ""] {
            let error = interface_driver(name).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            assert_eq!(error.to_string(), format!("interface {name} does not exist"));
        }
    }

    #[test]
    fn driver_name_ends_at_first_nul() {
        assert_eq!(text(b"veth\0\0rest").as_deref(), Some("veth"));
        assert_eq!(text(&[0; 32]), None);
    }
}
