//! An interface as its driver and the kernel describe it.

use std::ffi::{CString, c_char};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::netdev::Features;

/// linux/sockios.h.
const SIOCETHTOOL: libc::Ioctl = 0x8946;
/// linux/ethtool.h: `ETHTOOL_GFLAGS` and its bit for tags taken off, `ETHTOOL_GRXRINGS`,
/// `ETHTOOL_GCHANNELS`.
const FLAGS: u32 = 0x25;
const FLAG_RECEIVE_VLAN: u32 = 1 << 8;
const RECEIVE_RINGS: u32 = 0x2d;
const CHANNELS: u32 = 0x3c;

/// An Ethernet header with one VLAN tag: what a frame has beside the MTU.
pub const ETHERNET_HEADER: u32 = 18;

/// A network interface in the namespace of the thread that asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// The kernel's number of it.
    pub index: u32,
    /// What it is called.
    pub name: String,
    /// Its driver, if it tells.
    pub driver: Option<String>,
    /// The longest packet in bytes, without the Ethernet header.
    pub mtu: u32,
    /// Queues that it receives by now.
    pub queues: u32,
    /// As many as it can have.
    pub queues_max: u32,
    /// Whether it may take VLAN tags off received frames (rx-vlan-offload), so that the filter does
    /// not see them. A veth does with those that the sender's kernel has not put in.
    pub strips_vlan: bool,
    /// What its driver can do for XDP; `None` where the kernel does not say.
    pub features: Option<Features>,
}

/// Why nothing is known of an interface.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// There is none of this name.
    #[error("interface {0} does not exist")]
    Missing(String),
    /// A question that the kernel did not answer.
    #[error("{question} of interface {name}: {reason}")]
    Unknown {
        /// The interface.
        name: String,
        /// What was asked for.
        question: &'static str,
        /// The kernel's answer.
        reason: io::Error,
    },
}

impl Device {
    /// The interface of this name.
    ///
    /// # Errors
    /// See [`DeviceError`].
    pub fn named(name: &str) -> Result<Self, DeviceError> {
        let missing = || DeviceError::Missing(name.to_string());
        let unknown = |question| {
            move |reason| DeviceError::Unknown { name: name.to_string(), question, reason }
        };
        let c_name = CString::new(name).map_err(|_| missing())?;
        // SAFETY: the name is NUL-terminated and outlives the call.
        let index = unsafe { libc::if_nametoindex(c_name.as_ptr()) };
        if index == 0 {
            return Err(missing());
        }
        let question = Question::about(name).map_err(unknown("an ioctl"))?;
        let (queues, queues_max) = question.queues().map_err(unknown("the queues"))?;
        Ok(Self {
            index,
            name: name.to_string(),
            driver: hairpin_host::interface_driver(name).map_err(unknown("the driver"))?,
            mtu: question.mtu().map_err(unknown("the MTU"))?,
            queues,
            queues_max,
            strips_vlan: question.strips_vlan().map_err(unknown("the offloads"))?,
            features: Features::of(index).map_err(unknown("the features"))?,
        })
    }
}

/// Asks ioctls about one interface.
struct Question {
    socket: OwnedFd,
    request: libc::ifreq,
}

/// `struct ethtool_channels`.
#[repr(C)]
#[derive(Default)]
struct Channels {
    command: u32,
    max_receive: u32,
    max_transmit: u32,
    max_other: u32,
    max_combined: u32,
    receive: u32,
    transmit: u32,
    other: u32,
    combined: u32,
}

/// `struct ethtool_rxnfc`, of whose 192 bytes only the number of rings is read.
#[repr(C)]
struct Rings {
    command: u32,
    flow_type: u32,
    count: u64,
    rest: [u64; 22],
}

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

impl Question {
    fn about(name: &str) -> io::Result<Self> {
        let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
        // SAFETY: takes numbers and touches no memory of ours.
        let fd = unsafe { libc::socket(libc::AF_INET, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and nobody else's.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: a request is integers, pointers and bytes, for all of which zero is a value.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        // The last byte stays the NUL; an interface's name is never longer.
        let room = request.ifr_name.len() - 1;
        for (to, from) in request.ifr_name[..room].iter_mut().zip(name.bytes()) {
            *to = from.cast_signed() as c_char;
        }
        Ok(Self { socket, request })
    }

    fn mtu(&self) -> io::Result<u32> {
        let mut request = self.request;
        // SAFETY: the request is valid until the call returns.
        let result =
            unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::SIOCGIFMTU, &raw mut request) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has written this member.
        u32::try_from(unsafe { request.ifr_ifru.ifru_mtu }).map_err(io::Error::other)
    }

    /// Those there are and those there may be. An interface that tells of none has one.
    fn queues(&self) -> io::Result<(u32, u32)> {
        let mut channels = Channels { command: CHANNELS, ..Channels::default() };
        // SAFETY: the structure of this command.
        if unsafe { self.ethtool((&raw mut channels).cast()) }? {
            let Channels { receive, combined, max_receive, max_combined, .. } = channels;
            let now = (receive + combined).max(1);
            return Ok((now, (max_receive + max_combined).max(now)));
        }
        let mut rings = Rings { command: RECEIVE_RINGS, flow_type: 0, count: 0, rest: [0; 22] };
        // SAFETY: the structure of this command.
        let is_known = unsafe { self.ethtool((&raw mut rings).cast()) }?;
        let count = if is_known { u32::try_from(rings.count).unwrap_or(1).max(1) } else { 1 };
        Ok((count, count))
    }

    fn strips_vlan(&self) -> io::Result<bool> {
        let mut value = Value { command: FLAGS, data: 0 };
        // SAFETY: the structure of this command.
        let is_known = unsafe { self.ethtool((&raw mut value).cast()) }?;
        Ok(is_known && value.data & FLAG_RECEIVE_VLAN != 0)
    }

    /// False if the driver does not know the command.
    ///
    /// # Safety
    /// `data` is the structure that its first word says, whole and writable.
    unsafe fn ethtool(&self, data: *mut c_char) -> io::Result<bool> {
        let mut request = self.request;
        request.ifr_ifru.ifru_data = data;
        // SAFETY: the request is valid until the call returns, and so is what it points to.
        match unsafe { libc::ioctl(self.socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) } {
            0.. => Ok(true),
            _ => match io::Error::last_os_error() {
                reason if reason.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(false),
                reason => Err(reason),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_a_queue_and_no_driver() {
        let lo = Device::named("lo").unwrap();
        assert_eq!((lo.queues, lo.queues_max, lo.driver), (1, 1, None));
        assert!(lo.mtu >= 1_500 && !lo.strips_vlan);
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        for name in ["nope0", "", "a-name-of-sixteen", "n\0l"] {
            let error = Device::named(name).unwrap_err();
            assert_eq!(error.to_string(), format!("interface {name} does not exist"));
        }
    }
}
