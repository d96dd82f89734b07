//! Group memberships, as the program sets them on its kernel socket.

use std::ffi::{c_int, c_void};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use hairpin_stack::Stack;
use libc::{IPPROTO_IP, IPPROTO_IPV6, socklen_t};

use crate::addresses;

/// A group and its allowed sources; none allows all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Membership {
    pub(crate) group: IpAddr,
    /// The interface's index.
    pub(crate) interface: u32,
    pub(crate) sources: Vec<IpAddr>,
    /// `true` if the socket leaves the group, or the sources.
    pub(crate) is_left: bool,
}

/// The effect of a socket option on memberships.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The option does not concern memberships.
    None,
    /// The membership is on another interface.
    Elsewhere,
    /// A membership on an interface of the socket.
    Here(Membership),
    /// A change that the stack cannot follow, such as an excluded source.
    Unsupported,
}

impl Membership {
    /// Returns the membership after this change; `None` if the stack cannot follow.
    pub(crate) fn after(&self, before: Option<&Self>) -> Option<Self> {
        let mut sources = before.map(|before| before.sources.clone()).unwrap_or_default();
        if self.sources.is_empty() {
            return Some(self.clone());
        }
        if !self.is_left {
            if before.is_some() && sources.is_empty() {
                return None;
            }
            sources.extend(&self.sources);
        } else {
            sources.retain(|source| !self.sources.contains(source));
        }
        let is_left = sources.is_empty();
        Some(Self { sources, is_left, ..*self })
    }
}

/// A socket option that concerns memberships, set before the socket was bound.
#[derive(Debug)]
pub(crate) struct Request {
    level: c_int,
    name: c_int,
    value: Box<[u8]>,
}

impl Request {
    /// Copies an option that was set successfully; `None` if it concerns something else.
    ///
    /// # Safety
    /// `value` points to `length` readable bytes.
    pub(crate) unsafe fn new(
        level: c_int,
        name: c_int,
        value: *const c_void,
        length: socklen_t,
    ) -> Option<Self> {
        let concerns_groups = match level {
            IPPROTO_IP => (libc::IP_ADD_MEMBERSHIP..=libc::MCAST_MSFILTER).contains(&name),
            IPPROTO_IPV6 => {
                matches!(name, libc::IPV6_ADD_MEMBERSHIP | libc::IPV6_DROP_MEMBERSHIP)
                    || (libc::MCAST_JOIN_GROUP..=libc::MCAST_MSFILTER).contains(&name)
            }
            _ => false,
        };
        // SAFETY: the caller guarantees that many bytes.
        let value = || unsafe { std::slice::from_raw_parts(value.cast::<u8>(), length as usize) };
        concerns_groups.then(|| Self { level, name, value: value().into() })
    }

    /// Interprets the option for a socket on these interfaces.
    pub(crate) fn change<'s>(&self, stacks: impl Iterator<Item = &'s Stack>) -> Change {
        let (at, length) = (self.value.as_ptr().cast(), self.value.len() as socklen_t);
        // SAFETY: the value has that many bytes.
        unsafe { change(stacks, self.level, self.name, at, length) }
    }
}

/// `struct group_req` and `struct group_source_req` of RFC 3678 §5.1.1.
#[repr(C)]
struct GroupRequest {
    interface: u32,
    group: libc::sockaddr_storage,
    source: libc::sockaddr_storage,
}

/// Interprets a socket option that was set successfully, for a socket on these interfaces.
///
/// # Safety
/// `value` points to `length` readable bytes.
pub(crate) unsafe fn change<'s>(
    stacks: impl Iterator<Item = &'s Stack>,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> Change {
    let mut change = Change::None;
    for stack in stacks {
        // SAFETY: the caller's guarantee.
        change = unsafe { change_on(stack, level, name, value, length) };
        if change != Change::Elsewhere {
            break;
        }
    }
    change
}

unsafe fn change_on(
    stack: &Stack,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> Change {
    // SAFETY: the caller guarantees that many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), length as usize) };
    let number = |at: usize| {
        let four = bytes.get(at..at + 4).and_then(|four| <[u8; 4]>::try_from(four).ok());
        four.map(u32::from_ne_bytes).unwrap_or(0)
    };
    let v4 = |at: usize| {
        let four = bytes.get(at..at + 4).and_then(|four| <[u8; 4]>::try_from(four).ok());
        Ipv4Addr::from(four.unwrap_or_default())
    };
    let here = |group: IpAddr, is_here: bool, sources: Vec<IpAddr>, is_left: bool| {
        if is_here {
            Change::Here(Membership { group, interface: stack.interface(), sources, is_left })
        } else {
            Change::Elsewhere
        }
    };
    let is_stack = |index: u32, group: IpAddr| match index {
        0 => stack.routes_to(group),
        index => index == stack.interface(),
    };
    let by_address = |address: Ipv4Addr, group: IpAddr| {
        if address.is_unspecified() {
            stack.routes_to(group)
        } else {
            stack.has_address(address.into())
        }
    };
    match (level, name) {
        (IPPROTO_IP, libc::IP_ADD_MEMBERSHIP | libc::IP_DROP_MEMBERSHIP) => {
            let group = IpAddr::from(v4(0));
            // `struct ip_mreqn` ends with the interface's index, `struct ip_mreq` lacks it.
            let index = if length as usize >= 12 { number(8) } else { 0 };
            let is_here =
                if index != 0 { is_stack(index, group) } else { by_address(v4(4), group) };
            here(group, is_here, Vec::new(), name == libc::IP_DROP_MEMBERSHIP)
        }
        (IPPROTO_IP, libc::IP_ADD_SOURCE_MEMBERSHIP | libc::IP_DROP_SOURCE_MEMBERSHIP) => {
            let group = IpAddr::from(v4(0));
            let is_left = name == libc::IP_DROP_SOURCE_MEMBERSHIP;
            here(group, by_address(v4(4), group), vec![v4(8).into()], is_left)
        }
        (IPPROTO_IPV6, libc::IPV6_ADD_MEMBERSHIP | libc::IPV6_DROP_MEMBERSHIP) => {
            let sixteen = bytes.get(..16).and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
            let group = IpAddr::from(Ipv6Addr::from(sixteen.unwrap_or_default()));
            let is_left = name == libc::IPV6_DROP_MEMBERSHIP;
            here(group, is_stack(number(16), group), Vec::new(), is_left)
        }
        (
            IPPROTO_IP | IPPROTO_IPV6,
            libc::MCAST_JOIN_GROUP
            | libc::MCAST_LEAVE_GROUP
            | libc::MCAST_JOIN_SOURCE_GROUP
            | libc::MCAST_LEAVE_SOURCE_GROUP,
        ) => group_change(name, bytes, stack.interface(), |group| is_stack(number(0), group)),
        (IPPROTO_IP, libc::IP_BLOCK_SOURCE | libc::IP_UNBLOCK_SOURCE | libc::IP_MSFILTER)
        | (
            IPPROTO_IP | IPPROTO_IPV6,
            libc::MCAST_BLOCK_SOURCE | libc::MCAST_UNBLOCK_SOURCE | libc::MCAST_MSFILTER,
        ) => Change::Unsupported,
        _ => Change::None,
    }
}

/// Interprets an option of RFC 3678 §5.1.
fn group_change(
    name: c_int,
    bytes: &[u8],
    interface: u32,
    is_here: impl Fn(IpAddr) -> bool,
) -> Change {
    let address = |at: usize| {
        let rest = bytes.get(at..)?;
        // SAFETY: the slice has that many bytes.
        let found = unsafe { addresses::read(rest.as_ptr().cast(), rest.len() as socklen_t) };
        found.map(|address: SocketAddr| address.ip())
    };
    let Some(group) = address(std::mem::offset_of!(GroupRequest, group)) else {
        return Change::Unsupported;
    };
    let has_source = matches!(name, libc::MCAST_JOIN_SOURCE_GROUP | libc::MCAST_LEAVE_SOURCE_GROUP);
    let source = address(std::mem::offset_of!(GroupRequest, source)).filter(|_| has_source);
    let is_left = matches!(name, libc::MCAST_LEAVE_GROUP | libc::MCAST_LEAVE_SOURCE_GROUP);
    let sources = source.into_iter().collect();
    if is_here(group) {
        Change::Here(Membership { group, interface, sources, is_left })
    } else {
        Change::Elsewhere
    }
}
