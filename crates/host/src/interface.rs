//! Network interfaces and their addresses.

use std::ffi::CStr;
use std::io;
use std::net::Ipv4Addr;

/// Returns the first IPv4 address of the interface `name`.
///
/// # Errors
/// `NotFound` if there is no such interface, `AddrNotAvailable` if it has no IPv4 address, both
/// with the name. Otherwise the errors of `getifaddrs(3)`.
pub fn interface_address(name: &str) -> io::Result<Ipv4Addr> {
    let mut is_there = false;
    let list = AddressList::read()?;
    for entry in list.iter() {
        if entry.name.to_bytes() != name.as_bytes() {
            continue;
        }
        is_there = true;
        if let Some(address) = entry.address {
            return Ok(address);
        }
    }
    let (kind, problem) = if is_there {
        (io::ErrorKind::AddrNotAvailable, "has no IPv4 address")
    } else {
        (io::ErrorKind::NotFound, "does not exist")
    };
    Err(io::Error::new(kind, format!("interface {name} {problem}")))
}

/// Returns the name of the interface with this IPv4 address.
///
/// # Errors
/// `NotFound` if no interface has it. Otherwise the errors of `getifaddrs(3)`.
pub fn address_interface(address: Ipv4Addr) -> io::Result<String> {
    let list = AddressList::read()?;
    let entry = list.iter().find(|entry| entry.address == Some(address)).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, format!("no interface has the address {address}"))
    })?;
    Ok(entry.name.to_string_lossy().into_owned())
}

/// The current state of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interface {
    /// The kernel's interface index. An interface that was removed and added again has another
    /// index.
    pub index: u32,
    /// `true` if the interface is up and has a carrier.
    pub up: bool,
}

impl Interface {
    /// Returns the interface that has this IPv4 address now, if there is one. Makes some system
    /// calls and allocates.
    ///
    /// # Errors
    /// The errors of `getifaddrs(3)`.
    pub fn with_address(address: Ipv4Addr) -> io::Result<Option<Self>> {
        let list = AddressList::read()?;
        let Some(entry) = list.iter().find(|entry| entry.address == Some(address)) else {
            return Ok(None);
        };
        // SAFETY: the name is NUL-terminated and lives as long as the list.
        let index = unsafe { libc::if_nametoindex(entry.name.as_ptr()) };
        // The interface was removed between the two calls.
        Ok((index != 0).then_some(Self { index, up: entry.up }))
    }
}

/// The list returned by `getifaddrs(3)`, freed on drop.
struct AddressList(*mut libc::ifaddrs);

struct Entry<'a> {
    name: &'a CStr,
    address: Option<Ipv4Addr>,
    up: bool,
}

impl AddressList {
    fn read() -> io::Result<Self> {
        let mut first = std::ptr::null_mut();
        // SAFETY: the call writes one pointer to the given location, and nothing if it fails.
        match unsafe { libc::getifaddrs(&raw mut first) } {
            0 => Ok(Self(first)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut next = self.0;
        std::iter::from_fn(move || {
            // SAFETY: `next` is null or points into the list, which lives until `self` is dropped.
            let entry = unsafe { next.as_ref() }?;
            next = entry.ifa_next;
            // SAFETY: every entry has a name, NUL-terminated, that lives as long as the list.
            let name = unsafe { CStr::from_ptr(entry.ifa_name) };
            let up = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_uint;
            let up = entry.ifa_flags & up == up;
            Some(Entry { name, address: ipv4(entry.ifa_addr), up })
        })
    }
}

impl Drop for AddressList {
    fn drop(&mut self) {
        // SAFETY: the list came from getifaddrs and is freed once.
        unsafe { libc::freeifaddrs(self.0) }
    }
}

fn ipv4(address: *const libc::sockaddr) -> Option<Ipv4Addr> {
    // SAFETY: null or a socket address that lives as long as its list.
    let family = unsafe { address.as_ref() }?.sa_family;
    if i32::from(family) != libc::AF_INET {
        return None;
    }
    // SAFETY: an address of this family is a `sockaddr_in`; it need not be aligned as one.
    let address = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
    Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_loopback_address() {
        assert_eq!(interface_address("lo").unwrap(), Ipv4Addr::LOCALHOST);
    }

    #[test]
    fn error_names_missing_interface() {
        let error = interface_address("nope0").unwrap_err();
        assert_eq!(error.to_string(), "interface nope0 does not exist");
    }

    #[test]
    fn finds_interface_state_by_address() {
        let lo = Interface::with_address(Ipv4Addr::LOCALHOST).unwrap().unwrap();
        assert!(lo.up && lo.index > 0);
        assert_eq!(Interface::with_address(Ipv4Addr::new(203, 0, 113, 7)).unwrap(), None);
    }

    #[test]
    fn finds_interface_name_by_address() {
        assert_eq!(address_interface(Ipv4Addr::LOCALHOST).unwrap(), "lo");
        let error = address_interface(Ipv4Addr::new(203, 0, 113, 7)).unwrap_err();
        assert_eq!(error.to_string(), "no interface has the address 203.0.113.7");
    }
}
