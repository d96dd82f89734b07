//! Socket addresses between the program's memory and Rust.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use libc::{sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage, socklen_t};

use crate::real;

/// Reads an IPv4 or IPv6 address.
///
/// # Safety
/// `address` points to `length` readable bytes, or is null.
pub(crate) unsafe fn read(address: *const sockaddr, length: socklen_t) -> Option<SocketAddr> {
    if address.is_null() || (length as usize) < size_of::<sockaddr_in>() {
        return None;
    }
    // SAFETY: the caller guarantees that many bytes, and both structures begin with the family.
    let family = unsafe { (*address).sa_family };
    match c_int::from(family) {
        libc::AF_INET => {
            // SAFETY: the length was checked above.
            let v4 = unsafe { address.cast::<sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
            Some(SocketAddr::new(ip.into(), u16::from_be(v4.sin_port)))
        }
        libc::AF_INET6 if length as usize >= size_of::<sockaddr_in6>() => {
            // SAFETY: the length was checked above.
            let v6 = unsafe { address.cast::<sockaddr_in6>().read_unaligned() };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            let port = u16::from_be(v6.sin6_port);
            Some(SocketAddrV6::new(ip, port, 0, v6.sin6_scope_id).into())
        }
        _ => None,
    }
}

/// Writes an address, cut to the program's buffer, and its full length.
///
/// # Safety
/// `to` points to `*length` writable bytes, or is null.
pub(crate) unsafe fn write(from: SocketAddr, to: *mut sockaddr, length: &mut socklen_t) {
    if to.is_null() {
        return;
    }
    let write = |bytes: *const u8, size: usize, length: &mut socklen_t| {
        let count = size.min(*length as usize);
        // SAFETY: the caller guarantees the target; the source is a local value of this size.
        unsafe { std::ptr::copy_nonoverlapping(bytes, to.cast::<u8>(), count) };
        *length = size as socklen_t;
    };
    match from {
        SocketAddr::V4(v4) => {
            let address = sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from(*v4.ip()).to_be() },
                sin_zero: [0; 8],
            };
            write((&raw const address).cast(), size_of_val(&address), length);
        }
        SocketAddr::V6(v6) => {
            let address = sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: 0,
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            };
            write((&raw const address).cast(), size_of_val(&address), length);
        }
    }
}

/// Returns the size of the structure of an address.
pub(crate) fn size(address: SocketAddr) -> usize {
    match address {
        SocketAddr::V4(_) => size_of::<sockaddr_in>(),
        SocketAddr::V6(_) => size_of::<sockaddr_in6>(),
    }
}

/// Returns an IPv4-mapped address of an IPv6 socket as the IPv4 address that packets carry.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Returns the address that a socket is bound to.
pub(crate) fn local(fd: c_int) -> Option<SocketAddr> {
    query(fd, libc::getsockname)
}

/// Returns the peer of a connected socket.
pub(crate) fn remote(fd: c_int) -> Option<SocketAddr> {
    query(fd, libc::getpeername)
}

type Query = unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int;

fn query(fd: c_int, call: Query) -> Option<SocketAddr> {
    let mut storage = MaybeUninit::<sockaddr_storage>::zeroed();
    let mut length = size_of::<sockaddr_storage>() as socklen_t;
    let address = storage.as_mut_ptr().cast::<sockaddr>();
    // SAFETY: the buffer has the length that is passed, and the kernel fills it in.
    unsafe { (call(fd, address, &raw mut length) == 0).then(|| read(address, length)).flatten() }
}

/// Reads an integer option.
pub(crate) fn option(fd: c_int, level: c_int, name: c_int) -> Option<c_int> {
    let mut value: c_int = 0;
    let mut length = size_of::<c_int>() as socklen_t;
    // SAFETY: the value outlives the call and has the length that is passed.
    let result =
        unsafe { real::getsockopt(fd, level, name, (&raw mut value).cast(), &raw mut length) };
    (result == 0).then_some(value)
}
