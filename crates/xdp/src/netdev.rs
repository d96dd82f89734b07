//! The XDP features of a driver, as the kernel's generic netlink family `netdev` reports them
//! (Linux 6.3).
//!
//! ```text
//! message    u32 length, u16 type, u16 flags, u32 sequence, u32 port
//! generic    u8 command, u8 version, u16 zero
//! attribute  u16 length including this header, u16 type, the value, padded to a multiple of 4
//! ```
//! Source: Documentation/netlink/specs/netdev.yaml, linux/genetlink.h.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const HEADER: usize = 20;
/// `GENL_ID_CTRL`, its command `CTRL_CMD_GETFAMILY`, and the attributes of that command.
const GENL_CONTROL: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
/// `NETDEV_CMD_DEV_GET` and its attributes.
const GET_DEVICE: u8 = 1;
const INDEX: u16 = 1;
const XDP_FEATURES: u16 = 3;
const RECEIVE_METADATA: u16 = 5;
const SOCKET_FEATURES: u16 = 6;

/// The XDP features of a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Features {
    /// `true` if the driver runs and redirects for XDP programs itself: native mode.
    pub native: bool,
    /// `true` if frames are transferred between device and UMEM without a copy.
    pub zero_copy: bool,
    /// `true` if the driver accepts frames of several buffers.
    pub multi_buffer: bool,
    /// `true` if the driver provides receive timestamps to XDP programs.
    pub receive_stamps: bool,
    /// `true` if the driver provides transmit timestamps in zero-copy mode.
    pub transmit_stamps: bool,
}

impl Features {
    /// Queries the features of an interface in the calling thread's network namespace; `None` if
    /// the kernel has no `netdev` family.
    ///
    /// # Errors
    /// The kernel's; `NotFound` if the interface does not exist.
    pub fn query(interface: u32) -> io::Result<Option<Self>> {
        let socket = open()?;
        let name = [&b"netdev"[..], &[0]].concat();
        let family = match request(&socket, GENL_CONTROL, GET_FAMILY, FAMILY_NAME, &name) {
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => return Ok(None),
            answer => answer?,
        };
        let number = attribute(&family, FAMILY_ID).and_then(|id| id.first_chunk());
        let number = u16::from_ne_bytes(*number.ok_or(io::ErrorKind::InvalidData)?);
        let answer = match request(&socket, number, GET_DEVICE, INDEX, &interface.to_ne_bytes()) {
            Err(reason) if reason.raw_os_error() == Some(libc::ENODEV) => {
                return Err(io::ErrorKind::NotFound.into());
            }
            answer => answer?,
        };
        Ok(Some(Self::parse(&answer)))
    }

    fn parse(answer: &[u8]) -> Self {
        let word = |kind| {
            let value = attribute(answer, kind).and_then(|value| value.first_chunk());
            value.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
        };
        let (xdp, receive) = (word(XDP_FEATURES), word(RECEIVE_METADATA));
        Self {
            native: xdp & 0b11 == 0b11,
            zero_copy: xdp & 1 << 3 != 0,
            multi_buffer: xdp & 1 << 5 != 0,
            receive_stamps: receive & 1 != 0,
            transmit_stamps: word(SOCKET_FEATURES) & 1 != 0,
        }
    }
}

fn open() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: the call takes integers and accesses no memory of this process.
    let fd = unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_GENERIC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sends a request with one attribute and returns the attributes of the answer.
fn request(
    socket: &OwnedFd,
    family: u16,
    command: u8,
    attribute: u16,
    value: &[u8],
) -> io::Result<Vec<u8>> {
    let message = build_request(family, command, attribute, value);
    let (bytes, length) = (message.as_ptr().cast(), message.len());
    // SAFETY: the bytes outlive the call. An unconnected netlink socket sends to the kernel.
    if unsafe { libc::send(socket.as_raw_fd(), bytes, length, 0) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut answer = vec![0; 8_192];
    let (bytes, length) = (answer.as_mut_ptr().cast(), answer.len());
    // SAFETY: the buffer has the given length and outlives the call.
    let received = unsafe { libc::recv(socket.as_raw_fd(), bytes, length, 0) };
    let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
    answer.truncate(received);
    payload(&answer)
}

fn build_request(family: u16, command: u8, attribute: u16, value: &[u8]) -> Vec<u8> {
    let length = HEADER + 4 + value.len();
    let padded = length.next_multiple_of(4);
    let mut bytes = Vec::with_capacity(padded);
    bytes.extend((padded as u32).to_ne_bytes());
    bytes.extend(family.to_ne_bytes());
    bytes.extend((libc::NLM_F_REQUEST as u16).to_ne_bytes());
    bytes.extend([1, 0]);
    bytes.resize(16, 0);
    bytes.extend([command, 1, 0, 0]);
    bytes.extend((4 + value.len() as u16).to_ne_bytes());
    bytes.extend(attribute.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(padded, 0);
    bytes
}

/// Returns the attributes of an answer, or the error that it reports.
fn payload(answer: &[u8]) -> io::Result<Vec<u8>> {
    let kind = answer.get(4..6).map(|kind| u16::from_ne_bytes([kind[0], kind[1]]));
    let kind = kind.ok_or(io::ErrorKind::InvalidData)?;
    if i32::from(kind) == libc::NLMSG_ERROR {
        let number = answer.get(16..20).and_then(|number| number.first_chunk());
        let number = i32::from_ne_bytes(*number.ok_or(io::ErrorKind::InvalidData)?);
        return Err(io::Error::from_raw_os_error(number.saturating_neg()));
    }
    answer.get(HEADER..).map(<[u8]>::to_vec).ok_or(io::ErrorKind::InvalidData.into())
}

/// Returns the value of the first attribute of a type.
fn attribute(mut bytes: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let [a, b, c, d] = *bytes.first_chunk()?;
        let length = usize::from(u16::from_ne_bytes([a, b]));
        let value = bytes.get(4..length)?;
        if u16::from_ne_bytes([c, d]) == kind {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attribute_is_found_after_a_padded_one() {
        let bytes = [5, 0, 9, 0, 7, 0, 0, 0, 8, 0, 3, 0, 1, 2, 3, 4];
        assert_eq!(attribute(&bytes, 9), Some(&[7][..]));
        assert_eq!(attribute(&bytes, 3), Some(&[1, 2, 3, 4][..]));
        assert_eq!(attribute(&bytes, 4), None);
        for length in 0..bytes.len() {
            assert_eq!(attribute(&bytes[..length], 3), None, "{length}");
        }
        assert_eq!(attribute(&[0, 0, 1, 0, 1, 0, 1, 0], 2), None, "a length of zero");
    }

    #[test]
    fn features_are_bits_of_their_attributes() {
        let attribute = |kind: u16, value: u64| {
            let header = [12_u16.to_ne_bytes(), kind.to_ne_bytes()].concat();
            [header, value.to_ne_bytes().to_vec()].concat()
        };
        let answer = |xdp| [attribute(XDP_FEATURES, xdp), attribute(RECEIVE_METADATA, 1)].concat();
        let features = Features::parse(&answer(0b101_011));
        let all = [features.native, features.zero_copy, features.multi_buffer];
        assert_eq!(all, [true, true, true]);
        assert!(features.receive_stamps && !features.transmit_stamps);
        // A driver that runs programs and does not redirect has no native mode.
        assert!(!Features::parse(&answer(0b1)).native);
    }

    #[test]
    fn loopback_reports_no_features() {
        // SAFETY: the name is NUL-terminated.
        let lo = unsafe { libc::if_nametoindex(c"lo".as_ptr()) };
        match Features::query(lo).unwrap() {
            Some(features) => assert_eq!(features, Features::default()),
            None => println!("skipped: this kernel has no netdev family"),
        }
        if Features::query(lo).unwrap().is_some() {
            assert_eq!(Features::query(u32::MAX >> 1).unwrap_err().kind(), io::ErrorKind::NotFound);
        }
    }
}
