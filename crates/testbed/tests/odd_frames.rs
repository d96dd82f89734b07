//! Frames that a relay sees seldom: tagged, beyond its powers, or with nowhere to go. As root.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::net::UdpSocket;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use hairpin_testbed::Direction::FirstToSecond;
use hairpin_testbed::{Host, RelaySettings, Tally, Testbed};

const PATIENCE: Duration = Duration::from_secs(20);

fn bed() -> Testbed {
    Testbed::builder().relay(RelaySettings::seeded(7)).build().unwrap()
}

fn tally(bed: &Testbed) -> Tally {
    bed.relay().unwrap().tally(FirstToSecond)
}

fn udp(host: &Host) -> UdpSocket {
    let socket = host.run(|| UdpSocket::bind((host.address(), 0)).unwrap()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

fn eventually(is_so: impl Fn() -> bool) -> bool {
    (0..2_000).any(|_| {
        is_so() || {
            std::thread::sleep(Duration::from_millis(10));
            false
        }
    })
}

/// A socket for whole frames at a host's interface, and all that passes there in both directions.
fn raw(host: &Host) -> OwnedFd {
    let protocol = (libc::ETH_P_ALL as u16).to_be();
    let make = || {
        // SAFETY: takes integers.
        let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW, protocol.into()) };
        assert!(fd >= 0);
        // SAFETY: the descriptor is new and nobody else's.
        unsafe { OwnedFd::from_raw_fd(fd) }
    };
    let fd = host.run(make).unwrap();
    // SAFETY: numbers only: all bytes zero is a valid value.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol;
    address.sll_ifindex = host.interface_index().cast_signed();
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the kernel reads an address of this length, which lives through the call.
    let result = unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) };
    assert_eq!(result, 0);
    fd
}

fn send(fd: &OwnedFd, bytes: &[u8]) {
    // SAFETY: the kernel reads as many bytes as there are.
    let sent = unsafe { libc::send(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
    assert_eq!(usize::try_from(sent), Ok(bytes.len()), "{}", std::io::Error::last_os_error());
}

/// The next frame of UDP over IPv4.
fn datagram_at(fd: &OwnedFd) -> Vec<u8> {
    for _ in 0..100 {
        let mut frame = vec![0; 2_000];
        // SAFETY: the kernel writes at most as many bytes as the buffer has.
        let length =
            unsafe { libc::recv(fd.as_raw_fd(), frame.as_mut_ptr().cast(), frame.len(), 0) };
        frame.truncate(usize::try_from(length).unwrap());
        if frame[12..14] == [8, 0] && frame[23] == 17 {
            return frame;
        }
    }
    panic!("other frames only");
}

/// A kernel with no network of this number drops what is tagged for it, and would take the same
/// frame without the tag.
#[test]
#[ignore = "needs root"]
fn a_tag_is_still_there_behind_the_relay() {
    let bed = bed();
    let [first, second] = bed.hosts();
    let (sender, receiver) = (udp(first), udp(second));
    sender.send_to(b"untagged", receiver.local_addr().unwrap()).unwrap();
    assert_eq!(receiver.recv(&mut [0; 16]).unwrap(), 8);
    let tap = raw(first);
    sender.send_to(b"captured", receiver.local_addr().unwrap()).unwrap();
    let mut frame = datagram_at(&tap);
    // Without a checksum, which the kernel has not finished.
    frame[40..42].fill(0);
    assert_eq!(receiver.recv(&mut [0; 16]).unwrap(), 8);

    let tagged = [&frame[..12], &[0x81, 0x00, 0x00, 0x05], &frame[12..]].concat();
    send(&tap, &tagged);
    // A tag that names no network is as good as none.
    let mut of_no_network = tagged.clone();
    of_no_network[15] = 0;
    let last = of_no_network.len() - 8;
    of_no_network[last..].copy_from_slice(b"anywhere");
    send(&tap, &of_no_network);
    let mut bytes = [0; 16];
    let length = receiver.recv(&mut bytes).unwrap();
    assert_eq!(&bytes[..length], b"anywhere", "the tagged one was taken");
    assert!(eventually(|| tally(&bed).arrived == 4), "{:?}", tally(&bed));
}

/// Ten segments of TCP over IPv6 in one frame.
#[test]
#[ignore = "needs root"]
fn what_cannot_be_put_on_a_wire_is_counted() {
    let bed = bed();
    let [first, _] = bed.hosts();
    let socket = raw(first);
    let value: libc::c_int = 1;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    let (fd, option) = (socket.as_raw_fd(), libc::PACKET_VNET_HDR);
    // SAFETY: the kernel reads one integer, which lives through the call.
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
    let before = tally(&bed);
    send(&socket, &bytes);
    assert!(eventually(|| tally(&bed).malformed == 1), "{:?}", tally(&bed));
    assert_eq!(Tally { malformed: 0, ..tally(&bed) }, before);
}

#[test]
#[ignore = "needs root"]
fn what_the_other_host_does_not_take_is_counted() {
    let bed = bed();
    let [first, second] = bed.hosts();
    let (sender, receiver) = (udp(first), udp(second));
    let to = receiver.local_addr().unwrap();
    sender.send_to(b"taken", to).unwrap();
    assert_eq!(receiver.recv(&mut [0; 16]).unwrap(), 5);
    assert_eq!(tally(&bed).refused, 0);
    second.run(|| set_mtu(100)).unwrap();
    sender.send_to(&[7; 1_000], to).unwrap();
    assert!(eventually(|| tally(&bed).refused == 1), "{:?}", tally(&bed));
    sender.send_to(b"short", to).unwrap();
    assert_eq!(receiver.recv(&mut [0; 16]).unwrap(), 5);
}

/// Changes the MTU of `veth0` in the namespace of the calling thread.
fn set_mtu(mtu: libc::c_int) {
    // SAFETY: numbers and a null pointer: all bytes zero is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(b"veth0") {
        *place = byte.cast_signed();
    }
    request.ifr_ifru.ifru_mtu = mtu;
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let fd = socket.as_raw_fd();
    // SAFETY: the request is whole and lives through the call.
    let result = unsafe { libc::ioctl(fd, libc::SIOCSIFMTU as _, &raw mut request) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}
