//! Frames that a relay receives rarely: tagged, malformed or rejected. As root.
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, OwnedFd};

use hairpin_testbed::Direction::FirstToSecond;
use hairpin_testbed::{Host, RelayCounters, RelaySettings, Testbed, eventually};

use crate::fixtures::{packet_socket, receive_datagram, udp_socket};

fn relayed_testbed() -> Testbed {
    Testbed::builder().relay(RelaySettings::seeded(7)).build().unwrap()
}

fn relay_counters(testbed: &Testbed) -> RelayCounters {
    testbed.relay().unwrap().counters(FirstToSecond)
}

/// Returns a packet socket at a host's interface, for the frames of both directions.
fn bound_packet_socket(host: &Host) -> OwnedFd {
    let protocol = (libc::ETH_P_ALL as u16).to_be();
    let fd = host.run(packet_socket).unwrap();
    // SAFETY: the structure contains only integers, so zero bytes are a valid value.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol;
    address.sll_ifindex = host.interface_index().cast_signed();
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the kernel reads an address of this length, which lives during the call.
    let result = unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) };
    assert_eq!(result, 0);
    fd
}

fn send(fd: &OwnedFd, bytes: &[u8]) {
    // SAFETY: the kernel reads the bytes of the slice.
    let sent = unsafe { libc::send(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
    assert_eq!(usize::try_from(sent), Ok(bytes.len()), "{}", std::io::Error::last_os_error());
}

/// The receiving kernel has no VLAN with this tag and drops the frame. It would accept the frame
/// without the tag.
#[test]
#[ignore = "needs root"]
fn relay_preserves_vlan_tags() {
    let testbed = relayed_testbed();
    let [first, second] = testbed.hosts();
    let (sender, receiver) = (udp_socket(first), udp_socket(second));
    sender.send_to(b"untagged", receiver.local_addr().unwrap()).unwrap();
    assert_eq!(receiver.recv(&mut [0; 16]).unwrap(), 8);
    let tap = bound_packet_socket(first);
    sender.send_to(b"captured", receiver.local_addr().unwrap()).unwrap();
    let mut frame = receive_datagram(&tap);
    // Removes the checksum, which is incomplete.
    frame[40..42].fill(0);
    assert_eq!(receiver.recv(&mut [0; 16]).unwrap(), 8);

    let tagged = [&frame[..12], &[0x81, 0x00, 0x00, 0x05], &frame[12..]].concat();
    send(&tap, &tagged);
    // The kernel ignores a priority tag, which has VLAN 0.
    let mut priority_tagged = tagged.clone();
    priority_tagged[15] = 0;
    let last = priority_tagged.len() - 8;
    priority_tagged[last..].copy_from_slice(b"anywhere");
    send(&tap, &priority_tagged);
    let mut bytes = [0; 16];
    let length = receiver.recv(&mut bytes).unwrap();
    assert_eq!(&bytes[..length], b"anywhere", "the kernel accepted the tagged frame");
    assert!(eventually(|| relay_counters(&testbed).arrived == 4), "{:?}", relay_counters(&testbed));
}

/// Sends ten segments of TCP over IPv6 in one frame.
#[test]
#[ignore = "needs root"]
fn relay_counts_malformed_frames() {
    let testbed = relayed_testbed();
    let [first, _] = testbed.hosts();
    let socket = bound_packet_socket(first);
    let value: libc::c_int = 1;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    let (fd, option) = (socket.as_raw_fd(), libc::PACKET_VNET_HDR);
    // SAFETY: the kernel reads one integer, which lives during the call.
    let result = unsafe {
        libc::setsockopt(fd, libc::SOL_PACKET, option, (&raw const value).cast(), length)
    };
    assert_eq!(result, 0);
    let mut bytes = vec![1, 4];
    bytes.extend([74_u16, 100, 54, 16].map(u16::to_ne_bytes).concat());
    bytes.extend([2; 12]);
    bytes.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0x03, 0xfc, 6, 64]);
    bytes.extend([0xfd; 32]);
    bytes.extend([0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
    bytes.extend([7; 1_000]);
    let before = relay_counters(&testbed);
    send(&socket, &bytes);
    assert!(
        eventually(|| relay_counters(&testbed).malformed == 1),
        "{:?}",
        relay_counters(&testbed)
    );
    assert_eq!(RelayCounters { malformed: 0, ..relay_counters(&testbed) }, before);
}

#[test]
#[ignore = "needs root"]
fn relay_counts_rejected_frames() {
    let testbed = relayed_testbed();
    let [first, second] = testbed.hosts();
    let (sender, receiver) = (udp_socket(first), udp_socket(second));
    let to = receiver.local_addr().unwrap();
    sender.send_to(b"first", to).unwrap();
    assert_eq!(receiver.recv(&mut [0; 16]).unwrap(), 5);
    assert_eq!(relay_counters(&testbed).refused, 0);
    second.run(|| set_mtu(100)).unwrap();
    sender.send_to(&[7; 1_000], to).unwrap();
    assert!(eventually(|| relay_counters(&testbed).refused == 1), "{:?}", relay_counters(&testbed));
    sender.send_to(b"short", to).unwrap();
    assert_eq!(receiver.recv(&mut [0; 16]).unwrap(), 5);
}

/// Sets the MTU of `veth0` in the namespace of the calling thread.
fn set_mtu(mtu: libc::c_int) {
    // SAFETY: the structure contains integers and pointers, so zero bytes are a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(b"veth0") {
        *place = byte.cast_signed();
    }
    request.ifr_ifru.ifru_mtu = mtu;
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let fd = socket.as_raw_fd();
    // SAFETY: the request is complete and lives during the call.
    let result = unsafe { libc::ioctl(fd, libc::SIOCSIFMTU as _, &raw mut request) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}
