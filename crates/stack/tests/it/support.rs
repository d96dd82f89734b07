//! Two hosts, stacks on their interfaces, and bounded waits.
#![allow(dead_code, reason = "each test file uses a part")]

use std::net::{IpAddr, SocketAddr, UdpSocket as KernelSocket};
use std::time::Duration;

use hairpin_stack::{
    Destination, Meta, Mode, Packet, PathEvent, RawFrames, SocketOptions, Stack, StackSettings,
    UdpSocket,
};
use hairpin_testbed::{Host, Queues, Testbed};

pub(crate) use hairpin_testbed::eventually;

pub(crate) const MS: Duration = Duration::from_millis(1);
/// Long enough that a missing datagram is lost, not late, on a machine that does other work.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(300);
pub(crate) const MODES: [Mode; 2] = [Mode::Generic, Mode::Native];

/// Creates two hosts with both families, joined by a number of queues.
pub(crate) fn testbed(queues: u32) -> Testbed {
    let testbed = Testbed::builder().queues(Queues::pairs(queues)).ipv6().build().unwrap();
    for host in testbed.hosts() {
        // Sends an ICMP error for every datagram, without rate limit.
        let free = || std::fs::write("/proc/sys/net/ipv4/icmp_ratelimit", "0");
        host.run(free).unwrap().unwrap();
    }
    testbed
}

/// Runs a test with each number of queues in each mode.
pub(crate) fn each_configuration(mut test: impl FnMut(&Testbed, Mode)) {
    for queues in [1, 2] {
        for mode in MODES {
            test(&testbed(queues), mode);
        }
    }
}

pub(crate) fn settings(mode: Mode) -> StackSettings {
    let mut settings = StackSettings::default();
    settings.interface.mode = mode;
    settings.interface.socket.bind_timeout = TIMEOUT;
    // A test that is not scheduled for a while keeps its connections.
    settings.unpolled_max = Duration::MAX;
    settings
}

pub(crate) fn open(host: &Host, settings: &StackSettings) -> Stack {
    host.run(|| Stack::open(host.interface(), settings)).unwrap().unwrap()
}

pub(crate) fn stack(host: &Host, mode: Mode) -> Stack {
    open(host, &settings(mode))
}

pub(crate) fn bind(host: &Host, stack: &Stack, local: impl Into<SocketAddr>) -> UdpSocket {
    bind_with(host, stack, local, &SocketOptions::default())
}

pub(crate) fn bind_with(
    host: &Host,
    stack: &Stack,
    local: impl Into<SocketAddr>,
    options: &SocketOptions,
) -> UdpSocket {
    let local = local.into();
    host.run(|| stack.bind(local, options)).unwrap().unwrap()
}

pub(crate) fn shared_options() -> SocketOptions {
    SocketOptions { reuse_address: true, ..SocketOptions::default() }
}

/// Binds a kernel socket.
pub(crate) fn kernel(host: &Host, local: impl Into<SocketAddr>) -> KernelSocket {
    let local = local.into();
    let socket = host.run(|| KernelSocket::bind(local)).unwrap().unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    socket
}

/// Returns the host's addresses of both families.
pub(crate) fn addresses(host: &Host) -> [IpAddr; 2] {
    [host.address().into(), host.address_v6().unwrap().into()]
}

/// Returns a destination once its path bypasses the kernel.
pub(crate) fn xdp_destination(socket: &UdpSocket, to: SocketAddr) -> Destination {
    let mut found = None;
    let receives_over_xdp = eventually(|| {
        let destination = socket.destination(to).unwrap();
        let receives_over_xdp = destination.fallback_reason().is_none();
        found = Some(destination);
        receives_over_xdp
    });
    assert!(receives_over_xdp, "to {to}: {:?}", found.unwrap().fallback_reason());
    found.unwrap()
}

/// Waits for the next datagram.
pub(crate) fn next(socket: &mut UdpSocket) -> Option<(Meta, Vec<u8>)> {
    let mut found = None;
    eventually(|| {
        socket.receive(1, |meta, payload| found = Some((meta, payload.to_vec()))).unwrap();
        found.is_some()
    });
    found
}

/// Returns bytes that follow from a number.
pub(crate) fn pattern(number: u32, length: usize) -> Vec<u8> {
    (0..length as u32).map(|at| (at.wrapping_mul(31) ^ at >> 8 ^ number) as u8).collect()
}

/// Returns a broadcast frame with a pattern as payload.
pub(crate) fn frame(ether_type: u16, number: u32, length: usize) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([2, 0, 0, 0, 0, number as u8]);
    frame.extend(ether_type.to_be_bytes());
    frame.extend(pattern(number, length - 14));
    frame
}

/// Allocates a frame with these bytes.
pub(crate) fn write(raw: &mut RawFrames, bytes: &[u8]) -> Packet {
    let mut packet = raw.frame(bytes.len() as u32).unwrap();
    raw.bytes_mut(&mut packet).copy_from_slice(bytes);
    packet
}

pub(crate) fn send(raw: &mut RawFrames, bytes: &[u8]) {
    let packet = write(raw, bytes);
    assert!(raw.transmit(packet).unwrap().is_ok());
}

/// Waits for the next frame.
pub(crate) fn take(raw: &mut RawFrames) -> Packet {
    let mut found = None;
    assert!(eventually(|| {
        found = raw.receive().unwrap();
        found.is_some()
    }));
    found.unwrap()
}

/// Returns `true` if such an event is reported, for a limited time.
pub(crate) fn is_reported(stack: &Stack, mut matches: impl FnMut(&PathEvent) -> bool) -> bool {
    eventually(|| std::iter::from_fn(|| stack.next_event()).any(|event| matches(&event)))
}
