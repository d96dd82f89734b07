//! Network interface properties, as the driver and the kernel report them.

use std::ffi::{CStr, CString, c_char};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

use crate::netdev::Features;

/// linux/sockios.h.
const SIOCETHTOOL: libc::Ioctl = 0x8946;
/// linux/ethtool.h: `ETHTOOL_GFLAGS` and its VLAN-offload bit, `ETHTOOL_GRXRINGS`,
/// `ETHTOOL_GCHANNELS`.
const GET_FLAGS: u32 = 0x25;
const FLAG_RECEIVE_VLAN: u32 = 1 << 8;
const GET_RX_RINGS: u32 = 0x2d;
const GET_CHANNELS: u32 = 0x3c;

/// Bytes of an Ethernet header with one VLAN tag: the frame length beyond the MTU.
pub const ETHERNET_HEADER: u32 = 18;

/// A network interface in the calling thread's network namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// The interface index.
    pub index: u32,
    /// The interface name.
    pub name: String,
    /// The driver's name, if reported.
    pub driver: Option<String>,
    /// The MTU: the longest packet in bytes, without the Ethernet header.
    pub mtu: u32,
    /// The number of receive queues in use.
    pub queues: u32,
    /// The highest number of receive queues that the driver supports.
    pub queues_max: u32,
    /// `true` if the driver may strip VLAN tags from received frames (rx-vlan-offload), so that the
    /// filter does not see them. A veth strips tags that the sending kernel did not insert itself.
    pub strips_vlan: bool,
    /// The driver's XDP features; `None` if the kernel does not report them.
    pub features: Option<Features>,
}

/// The reason why an interface cannot be queried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// No interface has this name.
    #[error("cannot find interface {0}: no such interface")]
    Missing(String),
    /// A query failed.
    #[error("cannot query {property} of interface {name}: {reason}")]
    Query {
        /// The interface name.
        name: String,
        /// The property queried.
        property: &'static str,
        /// The kernel's error.
        reason: io::Error,
    },
}

impl Device {
    /// Queries the interface of this name.
    ///
    /// # Errors
    /// See [`DeviceError`].
    pub fn from_name(name: &str) -> Result<Self, DeviceError> {
        let missing = || DeviceError::Missing(name.to_string());
        let failed = |property| {
            move |reason| DeviceError::Query { name: name.to_string(), property, reason }
        };
        let c_name = CString::new(name).map_err(|_| missing())?;
        // SAFETY: the name is NUL-terminated and outlives the call.
        let index = unsafe { libc::if_nametoindex(c_name.as_ptr()) };
        if index == 0 {
            return Err(missing());
        }
        let query = InterfaceQuery::new(name).map_err(failed("properties"))?;
        let (queues, queues_max) = query.queues().map_err(failed("the queues"))?;
        Ok(Self {
            index,
            name: name.to_string(),
            driver: hairpin_host::interface_driver(name).map_err(failed("the driver"))?,
            mtu: query.mtu().map_err(failed("the MTU"))?,
            queues,
            queues_max,
            strips_vlan: query.strips_vlan().map_err(failed("the offloads"))?,
            features: Features::query(index).map_err(failed("the features"))?,
        })
    }
}

/// The longest time until a link is up again. Copper negotiates for two to four seconds.
const LINK_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause between two looks at a link.
const LINK_PAUSE: Duration = Duration::from_millis(10);

/// The state of an interface's link before its driver was changed.
///
/// Some drivers reset their link when a program is attached; igb is without a link for two seconds
/// then. Frames are lost meanwhile, and the kernel has no path.
#[derive(Debug)]
pub struct LinkState {
    name: String,
    was_up: bool,
}

impl LinkState {
    /// Reads the state of the link of the interface of this name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_string(), was_up: is_link_up(name) }
    }

    /// Waits until the link is up if it was up before, at most 10 seconds.
    pub fn wait_until_restored(&self) {
        let until = Instant::now() + LINK_TIMEOUT;
        while self.was_up && !is_link_up(&self.name) && Instant::now() < until {
            std::thread::sleep(LINK_PAUSE);
        }
    }
}

/// Returns `true` if the interface has a carrier, and the kernel has noticed it.
fn is_link_up(name: &str) -> bool {
    let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: the call writes the head of a list, which is released below.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return false;
    }
    let up = (libc::IFF_RUNNING | libc::IFF_LOWER_UP).cast_unsigned();
    let (mut next, mut is_up) = (first, false);
    // SAFETY: the elements are valid until the list is released, and their names end with zero.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: as above.
        let is_named = unsafe { CStr::from_ptr(entry.ifa_name) }.to_bytes() == name.as_bytes();
        is_up |= is_named && entry.ifa_flags & up == up;
        next = entry.ifa_next;
    }
    // SAFETY: the list is not used any more.
    unsafe { libc::freeifaddrs(first) };
    is_up
}

/// An ioctl(2) request about one interface.
struct InterfaceQuery {
    socket: OwnedFd,
    request: libc::ifreq,
}

/// `struct ethtool_channels`.
#[repr(C)]
#[derive(Default)]
struct EthtoolChannels {
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
struct EthtoolRings {
    command: u32,
    flow_type: u32,
    count: u64,
    rest: [u64; 22],
}

/// `struct ethtool_value`.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

impl InterfaceQuery {
    fn new(name: &str) -> io::Result<Self> {
        let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
        // SAFETY: the call takes integers and accesses no memory of this process.
        let fd = unsafe { libc::socket(libc::AF_INET, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and has no other owner.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: a request consists of integers, pointers and bytes, for which zero is a valid
        // value.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        // The last byte stays NUL; interface names are shorter.
        let room = request.ifr_name.len() - 1;
        for (to, from) in request.ifr_name[..room].iter_mut().zip(name.bytes()) {
            *to = from.cast_signed() as c_char;
        }
        Ok(Self { socket, request })
    }

    fn mtu(&self) -> io::Result<u32> {
        let mut request = self.request;
        // SAFETY: the request outlives the call.
        let result =
            unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::SIOCGIFMTU, &raw mut request) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel wrote this member.
        u32::try_from(unsafe { request.ifr_ifru.ifru_mtu }).map_err(io::Error::other)
    }

    /// Returns the current and the maximum number of receive queues. An interface that reports none
    /// has one.
    fn queues(&self) -> io::Result<(u32, u32)> {
        let mut channels = EthtoolChannels { command: GET_CHANNELS, ..EthtoolChannels::default() };
        // SAFETY: the structure that this command requires.
        if unsafe { self.ethtool((&raw mut channels).cast()) }? {
            let EthtoolChannels { receive, combined, max_receive, max_combined, .. } = channels;
            let now = (receive + combined).max(1);
            return Ok((now, (max_receive + max_combined).max(now)));
        }
        let mut rings =
            EthtoolRings { command: GET_RX_RINGS, flow_type: 0, count: 0, rest: [0; 22] };
        // SAFETY: the structure that this command requires.
        let supported = unsafe { self.ethtool((&raw mut rings).cast()) }?;
        let count = if supported { u32::try_from(rings.count).unwrap_or(1).max(1) } else { 1 };
        Ok((count, count))
    }

    fn strips_vlan(&self) -> io::Result<bool> {
        let mut value = EthtoolValue { command: GET_FLAGS, data: 0 };
        // SAFETY: the structure that this command requires.
        let supported = unsafe { self.ethtool((&raw mut value).cast()) }?;
        Ok(supported && value.data & FLAG_RECEIVE_VLAN != 0)
    }

    /// Runs an ethtool command. Returns `false` if the driver does not support it.
    ///
    /// # Safety
    /// `data` points to the complete, writable structure that its first word names.
    unsafe fn ethtool(&self, data: *mut c_char) -> io::Result<bool> {
        let mut request = self.request;
        request.ifr_ifru.ifru_data = data;
        // SAFETY: the request and the structure that it points to outlive the call.
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
    fn loopback_has_one_queue_and_no_driver() {
        let lo = Device::from_name("lo").unwrap();
        assert_eq!((lo.queues, lo.queues_max, lo.driver), (1, 1, None));
        assert!(lo.mtu >= 1_500 && !lo.strips_vlan);
    }

    #[test]
    fn link_of_loopback_is_up_and_that_of_a_missing_interface_down() {
        assert!(is_link_up("lo") && !is_link_up("nope0") && !is_link_up("l"));
        // Neither waits.
        LinkState::new("lo").wait_until_restored();
        LinkState::new("nope0").wait_until_restored();
    }

    #[test]
    fn missing_interface_is_named() {
        for name in ["nope0", "", "a-name-of-sixteen", "n\0l"] {
            let error = Device::from_name(name).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("cannot find interface {name}: no such interface")
            );
        }
    }
}
