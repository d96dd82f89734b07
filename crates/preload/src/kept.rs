//! Datagrams that have left the stack and wait for a later call, or for the kernel socket.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use hairpin_stack::{IpFields, IpHeader, Meta, Stamp};
use libc::SOL_SOCKET;

use crate::addresses::{canonical, option};
use crate::socket::{Datagram, Drops};
use crate::{process, real};

/// A datagram kept in memory of its own.
#[derive(Debug)]
pub(crate) struct Kept {
    source: SocketAddr,
    destination: Option<IpAddr>,
    fields: IpFields,
    stamp: Option<Stamp>,
    interface: u32,
    dropped: u32,
    payload: Box<[u8]>,
}

impl Kept {
    pub(crate) fn new(
        meta: Meta,
        header: IpHeader<'_>,
        payload: &[u8],
        interface: u32,
        drops: Drops,
    ) -> Self {
        let Meta { source, destination, stamp, .. } = meta;
        let dropped = drops.until(meta.dropped);
        let (fields, payload) = (header.fields(), payload.into());
        Self { source, destination, stamp, fields, interface, dropped, payload }
    }

    pub(crate) fn datagram(&self) -> Datagram<'_> {
        let Self { source, destination, fields, stamp, interface, dropped, ref payload } = *self;
        Datagram { source, destination, fields, stamp, interface, dropped, payload }
    }

    pub(crate) fn length(&self) -> usize {
        self.payload.len()
    }
}

/// The memory that the kernel counts for a datagram, beside its payload: buffer and headers,
/// rounded up to a size of its allocator.
const OVERHEAD: u64 = 1_280;
/// `SO_MEMINFO` of asm-generic/socket.h, and the numbers used in it (`SK_MEMINFO_*`).
const SO_MEMINFO: c_int = 55;
const RECEIVED: usize = 0;
const RECEIVE_BUFFER: usize = 1;
const DROPS: usize = 8;
/// The longest wait for injected datagrams: they pass the loopback interface's backlog, which each
/// core has of its own.
const ARRIVAL: Duration = Duration::from_millis(100);

/// Moves kept datagrams into the kernel socket, in order, so that any process with its descriptor
/// receives them. With `all_or_none` the datagrams stay if one cannot be moved or if the socket's
/// receive buffer has no room for all. Datagrams that stay remain in `kept`.
pub(crate) fn move_to_kernel(fd: c_int, port: u16, kept: &mut VecDeque<Kept>, all_or_none: bool) {
    if kept.is_empty() || option(fd, SOL_SOCKET, libc::SO_BINDTOIFINDEX).unwrap_or(0) != 0 {
        return;
    }
    let Some(before) = memory(fd) else { return };
    let mut free = u64::from(before[RECEIVE_BUFFER].saturating_sub(before[RECEIVED]));
    let mut moves = 0;
    for datagram in kept.iter() {
        let needed = datagram.length() as u64 + OVERHEAD;
        if needed > free || !can_move(datagram) {
            break;
        }
        free -= needed;
        moves += 1;
    }
    if moves == 0 || all_or_none && moves < kept.len() {
        return;
    }
    let mut received = before[RECEIVED];
    let until = std::time::Instant::now() + ARRIVAL;
    // SAFETY: the caller's descriptor is open.
    let socket = unsafe { BorrowedFd::borrow_raw(fd) };
    // All stacks are in one network namespace.
    let Some(stack) = process::open_stacks().first() else { return };
    for _ in 0..moves {
        let Some(first) = kept.front() else { break };
        let source = canonical(first.source);
        let Some(to) = first.destination else { break };
        let to = canonical(SocketAddr::new(to, port));
        if stack.inject_udp(socket, source, to, first.fields, &first.payload).is_err() {
            break;
        }
        kept.pop_front();
        // The next one must not overtake it. Usually it has arrived already.
        let arrived = || memory(fd).map(|now| now[RECEIVED]).filter(|now| *now != received);
        received = loop {
            match arrived() {
                Some(now) => break now,
                None if std::time::Instant::now() >= until => break received,
                None => std::thread::yield_now(),
            }
        };
    }
}

/// Returns `true` if loopback delivers the datagram to the socket: not to a group, and not a
/// link-local address of another interface.
fn can_move(datagram: &Kept) -> bool {
    datagram.destination.is_some_and(|to| match to.to_canonical() {
        IpAddr::V4(to) => !to.is_multicast() && !to.is_broadcast(),
        IpAddr::V6(to) => !to.is_multicast() && !to.is_unicast_link_local(),
    })
}

/// Returns the datagrams that the kernel socket has dropped.
pub(crate) fn kernel_drops(fd: c_int) -> u32 {
    memory(fd).map_or(0, |memory| memory[DROPS])
}

fn memory(fd: c_int) -> Option<[u32; 9]> {
    let mut values = [0_u32; 9];
    let mut length = size_of_val(&values) as libc::socklen_t;
    let place = values.as_mut_ptr().cast();
    // SAFETY: the values outlive the call and have the length that is passed.
    let result = unsafe { real::getsockopt(fd, SOL_SOCKET, SO_MEMINFO, place, &raw mut length) };
    (result == 0).then_some(values)
}
