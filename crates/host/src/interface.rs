//! Network interfaces by name.

use std::ffi::CStr;
use std::io;
use std::net::Ipv4Addr;

/// The first IPv4 address of the interface called `name`.
///
/// # Errors
/// `NotFound` if there is no such interface, `AddrNotAvailable` if it has no IPv4 address, each
/// with the name in its words; those of `getifaddrs(3)`.
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
    let (kind, lack) = if is_there {
        (io::ErrorKind::AddrNotAvailable, "has no IPv4 address")
    } else {
        (io::ErrorKind::NotFound, "does not exist")
    };
    Err(io::Error::new(kind, format!("interface {name} {lack}")))
}

/// The name of the interface that has this IPv4 address.
///
/// # Errors
/// `NotFound` if none has; those of `getifaddrs(3)`.
pub fn address_interface(address: Ipv4Addr) -> io::Result<String> {
    let list = AddressList::read()?;
    let entry = list.iter().find(|entry| entry.address == Some(address)).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, format!("no interface has the address {address}"))
    })?;
    Ok(entry.name.to_string_lossy().into_owned())
}

/// An interface as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interface {
    /// The kernel's number of it: one that has gone and come back has another.
    pub index: u32,
    /// Whether it is switched on and has a carrier.
    pub is_up: bool,
}

impl Interface {
    /// The interface that has this IPv4 address now, if one has. Some system calls; allocates.
    ///
    /// # Errors
    /// Those of `getifaddrs(3)`.
    pub fn with_address(address: Ipv4Addr) -> io::Result<Option<Self>> {
        let list = AddressList::read()?;
        let Some(entry) = list.iter().find(|entry| entry.address == Some(address)) else {
            return Ok(None);
        };
        // SAFETY: the name is NUL-terminated and lives as long as the list.
        let index = unsafe { libc::if_nametoindex(entry.name.as_ptr()) };
        // It has gone between the two questions.
        Ok((index != 0).then_some(Self { index, is_up: entry.is_up }))
    }
}

/// What `getifaddrs(3)` returned, freed on drop.
struct AddressList(*mut libc::ifaddrs);

struct Entry<'a> {
    name: &'a CStr,
    address: Option<Ipv4Addr>,
    is_up: bool,
}

impl AddressList {
    fn read() -> io::Result<Self> {
        let mut first = std::ptr::null_mut();
        // SAFETY: the call writes one pointer to where it is told, and nothing if it fails.
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
            let is_up = entry.ifa_flags & up == up;
            Some(Entry { name, address: ipv4(entry.ifa_addr), is_up })
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
    fn finds_the_loopback_address() {
        assert_eq!(interface_address("lo").unwrap(), Ipv4Addr::LOCALHOST);
    }

    #[test]
    fn names_an_interface_that_is_not_there() {
        let error = interface_address("nope0").unwrap_err();
        assert_eq!(error.to_string(), "interface nope0 does not exist");
    }

    #[test]
    fn knows_whether_an_interface_with_an_address_is_there_and_up() {
        let lo = Interface::with_address(Ipv4Addr::LOCALHOST).unwrap().unwrap();
        assert!(lo.is_up && lo.index > 0);
        assert_eq!(Interface::with_address(Ipv4Addr::new(203, 0, 113, 7)).unwrap(), None);
    }

    #[test]
    fn finds_the_interface_of_an_address() {
        assert_eq!(address_interface(Ipv4Addr::LOCALHOST).unwrap(), "lo");
        let error = address_interface(Ipv4Addr::new(203, 0, 113, 7)).unwrap_err();
        assert_eq!(error.to_string(), "no interface has the address 203.0.113.7");
    }
}
