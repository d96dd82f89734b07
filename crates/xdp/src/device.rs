//! Network interface properties, as the driver and the kernel report them.

use std::ffi::{CStr, CString};
use std::io;
use std::time::{Duration, Instant};

use crate::ethtool::InterfaceQuery;
use crate::kernel_release;
use crate::netdev::Features;

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
    /// `true` if the kernel delivers a frame that is longer than a frame of the UMEM in parts:
    /// Linux 6.6 or newer.
    pub delivers_parts: bool,
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
            delivers_parts: kernel_release::is_at_least(6, 6),
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
