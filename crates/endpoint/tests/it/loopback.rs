//! Shared functions of the loopback tests: unique addresses, and waiting with a timeout.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicU8, Ordering};

use hairpin_endpoint::{Meta, Receive};

/// Returns a group that no other test and no concurrent run uses, on a port chosen by the kernel.
pub(crate) fn group() -> SocketAddrV4 {
    SocketAddrV4::new(group_address(), port())
}

pub(crate) fn group_address() -> Ipv4Addr {
    static NEXT: AtomicU8 = AtomicU8::new(0);
    let process = std::process::id();
    let low = NEXT.fetch_add(1, Ordering::Relaxed) << 3 | (process & 7) as u8;
    Ipv4Addr::new(239, 192, (process >> 3) as u8, low)
}

pub(crate) fn port() -> u16 {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.local_addr().unwrap().port()
}

pub(crate) fn any_port(ip: Ipv4Addr) -> SocketAddrV4 {
    SocketAddrV4::new(ip, 0)
}

/// Receives until `count` datagrams or chunks have arrived. Fails on a timeout.
pub(crate) fn receive(endpoint: &mut impl Receive, count: usize) -> Vec<(Meta, Vec<u8>)> {
    let mut all = Vec::new();
    eventually("something to receive", || {
        endpoint.receive(64, |meta, bytes| all.push((meta, bytes.to_vec()))).unwrap();
        all.len() >= count
    });
    all
}

/// Repeats `attempt` until it succeeds. Fails on a timeout.
pub(crate) fn eventually(what: &str, attempt: impl FnMut() -> bool) {
    assert!(hairpin_testbed::eventually(attempt), "timed out waiting for {what}");
}
