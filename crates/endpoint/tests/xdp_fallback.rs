//! What does not go past the kernel: it is told, or refused by a strict stack. As root.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod past;

use std::fmt::Debug;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::xdp::StackSettings;
use hairpin_endpoint::{
    MulticastGroup, Receive, Timestamping, UdpOptions, UdpReceiver, UdpSender, UdpSocket,
};
use past::{GROUP, PORT, Past, eventually, one, past, send, strictly};

const LOCALHOST: Ipv4Addr = Ipv4Addr::LOCALHOST;
const AT_LOCALHOST: SocketAddrV4 = SocketAddrV4::new(LOCALHOST, PORT);
const OTHER: &str = "the path is on another interface";

fn options() -> UdpOptions {
    UdpOptions::default()
}

fn on(interface: Ipv4Addr) -> MulticastGroup<'static> {
    MulticastGroup { group: GROUP, interface, sources: &[] }
}

/// The words of a refusal by a strict stack.
fn refused<T: Debug>(outcome: io::Result<T>) -> String {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::Unsupported, "{error}");
    error.to_string()
}

#[test]
#[ignore = "needs root"]
fn what_is_of_another_interface_is_left_to_the_kernel_and_told() {
    past(&StackSettings::default(), |past| {
        let by = &past.transport;
        let mut receiver = UdpReceiver::join_by(by, on(LOCALHOST), options()).unwrap();
        let told = |words: &str| assert_eq!(past.notices(), [format!("{words}: {OTHER}")]);
        told("group 239.192.9.1:7100 falls back to the kernel");
        assert!(receiver.is_joined());
        let mut sender = UdpSender::new_by(by, GROUP, LOCALHOST, 1).unwrap();
        told("to group 239.192.9.1:7100 by the kernel");
        send(&mut sender, b"group");
        let (meta, bytes) = one(&mut receiver);
        assert_eq!((meta.source, bytes), (sender.local_address(), b"group".to_vec()));
        assert_eq!(receiver.timestamping(), Timestamping::Software, "as of any of the kernel's");
        receiver.leave().unwrap();
        receiver.rejoin().unwrap();

        let mut bound = UdpReceiver::bind_by(by, AT_LOCALHOST, options()).unwrap();
        told("127.0.0.1:7000 falls back to the kernel");
        let mut sender = UdpSender::connect_by(by, AT_LOCALHOST, LOCALHOST).unwrap();
        told("to 127.0.0.1:7000 by the kernel");
        sender.set_transmit_timestamping(Timestamping::Software).unwrap();
        assert_eq!(sender.transmit_timestamping(), Timestamping::Software);
        send(&mut sender, b"host");
        assert_eq!(one(&mut bound).1, b"host");
        drop(bound);

        let mut pong = UdpSocket::bind_by(by, AT_LOCALHOST, options()).unwrap();
        told("127.0.0.1:7000 falls back to the kernel");
        let local = SocketAddrV4::new(LOCALHOST, 0);
        let mut ping = UdpSocket::connect_by(by, local, AT_LOCALHOST, options()).unwrap();
        told("127.0.0.1:0 falls back to the kernel");
        send(&mut ping, b"ping");
        let (meta, _) = one(&mut pong);
        pong.transmit_to(meta.source, 4, |answer| answer.copy_from_slice(b"pong")).unwrap();
        assert_eq!(one(&mut ping).1, b"pong");
        assert!(past.notices().is_empty());
    });
}

#[test]
#[ignore = "needs root"]
fn a_strict_stack_refuses_what_is_of_another_interface() {
    strictly(|past| {
        let by = &past.transport;
        let words = refused(UdpReceiver::join_by(by, on(LOCALHOST), options()));
        let expected = "cannot join 239.192.9.1 on interface 127.0.0.1: strict: group \
                        239.192.9.1:7100 falls back to the kernel: the path is on another interface";
        assert_eq!(words, expected);
        let words = refused(UdpReceiver::bind_by(by, AT_LOCALHOST, options()));
        assert!(words.starts_with("cannot receive on 127.0.0.1:7000: strict: "), "{words}");
        let words = refused(UdpSocket::bind_by(by, AT_LOCALHOST, options()));
        assert!(words.starts_with("cannot receive on 127.0.0.1:7000: strict: "), "{words}");
        let local = SocketAddrV4::new(LOCALHOST, 0);
        refused(UdpSocket::connect_by(by, local, AT_LOCALHOST, options()));
        let words = refused(UdpSender::new_by(by, GROUP, LOCALHOST, 1));
        assert!(words.starts_with("cannot send to 239.192.9.1:7100: strict: "), "{words}");
        refused(UdpSender::connect_by(by, AT_LOCALHOST, LOCALHOST));
        // The way is to this very host.
        let words = refused(UdpSender::connect_by(by, past.at(PORT), past.here));
        assert!(
            words.ends_with("falls back to the kernel: the destination is this host"),
            "{words}"
        );
        refused(UdpSocket::connect_by(by, past.at(0), past.at(PORT), options()));
        refused(UdpSender::new_by(by, GROUP, past.here, 0));
    });
}

#[test]
#[ignore = "needs root"]
fn what_the_kernel_refuses_is_told_in_the_same_words() {
    strictly(|past| {
        let by = &past.transport;
        let taken = UdpReceiver::bind_by(by, past.at(PORT), options()).unwrap();
        let [ours, kernels] = [
            UdpReceiver::bind_by(by, taken.local_address(), options()),
            UdpReceiver::bind(taken.local_address(), options()),
        ]
        .map(|outcome| outcome.map(drop).unwrap_err());
        assert_eq!((ours.kind(), ours.to_string()), (kernels.kind(), kernels.to_string()));
        let not_a_group = SocketAddrV4::new(LOCALHOST, PORT);
        let group = MulticastGroup { group: not_a_group, ..on(past.here) };
        let error = UdpReceiver::join_by(by, group, options()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    });
}

/// A stranger: a socket of the kernel that is a member on the first host.
fn stranger(past: &Past<'_>) -> UdpReceiver {
    UdpReceiver::join(on(past.here), options()).unwrap()
}

#[test]
#[ignore = "needs root"]
fn a_group_with_other_members_comes_by_the_kernel_for_as_long_as_they_are() {
    past(&StackSettings::default(), |past| {
        let mut publisher = past.on_peer(|| UdpSender::new(GROUP, past.peer.address(), 1));
        let mut other = stranger(past);
        let mut receiver = UdpReceiver::join_by(&past.transport, on(past.here), options()).unwrap();
        let others = "group 239.192.9.1:7100 falls back to the kernel: other members on this host";
        assert_eq!(past.notices(), [others]);
        send(&mut publisher, b"both");
        assert_eq!(one(&mut receiver).1, b"both");
        assert_eq!(one(&mut other).1, b"both");
        drop(other);
        // As the stranger goes, it is for a moment no member any more, but there.
        let past_again = "group 239.192.9.1:7100 bypasses the kernel again";
        eventually("the group", || past.notices().last().is_some_and(|told| told == past_again));
        send(&mut publisher, b"one");
        assert_eq!(one(&mut receiver).1, b"one");
    });
}

#[test]
#[ignore = "needs root"]
fn a_strict_stack_refuses_a_group_with_other_members_then_and_later() {
    strictly(|past| {
        let other = stranger(past);
        let words = refused(UdpReceiver::join_by(&past.transport, on(past.here), options()));
        assert!(words.ends_with("other members on this host"), "{words}");
        drop(other);
        let mut receiver = UdpReceiver::join_by(&past.transport, on(past.here), options()).unwrap();
        assert_eq!(receiver.receive(1, |_, _| {}).unwrap().count, 0);
        let _other = stranger(past);
        let mut error = None;
        eventually("the refusal", || {
            error = receiver.receive(1, |_, _| {}).err();
            error.is_some()
        });
        assert_eq!(error.unwrap().kind(), io::ErrorKind::Unsupported);
    });
}

#[test]
#[ignore = "needs root"]
fn a_group_with_members_here_is_sent_to_through_the_kernel() {
    past(&StackSettings::default(), |past| {
        let mut here = stranger(past);
        let member = on(past.peer.address());
        let mut there = past.on_peer(|| UdpReceiver::join(member, options()));
        let mut sender = UdpSender::new_by(&past.transport, GROUP, past.here, 1).unwrap();
        let words =
            "sending to group 239.192.9.1:7100 falls back to the kernel: members on this host";
        assert_eq!(past.notices(), [words]);
        send(&mut sender, b"both");
        assert_eq!((one(&mut here).1, one(&mut there).1), (b"both".to_vec(), b"both".to_vec()));
        drop(sender);
        // Not even to this host.
        let mut sender = UdpSender::new_by(&past.transport, GROUP, past.here, 0).unwrap();
        assert_eq!(
            past.notices(),
            [
                "sending to group 239.192.9.1:7100 falls back to the kernel: the destination is this host"
            ]
        );
        send(&mut sender, b"here");
        assert_eq!(one(&mut here).1, b"here");
    });
}

/// The TTL of the next datagram that a socket receives.
fn ttl_of_next(socket: &std::net::UdpSocket) -> libc::c_int {
    use std::os::fd::AsRawFd;
    let mut bytes = [0_u8; 64];
    let mut control = [0_u64; 8];
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: a header is integers and pointers, for all of which zero is a value; all that it
    // points to lives through the calls, and the kernel fills in what is read.
    unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        (header.msg_iov, header.msg_iovlen) = (&raw mut part, 1);
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&control);
        assert!(libc::recvmsg(socket.as_raw_fd(), &raw mut header, 0) > 0);
        let message = libc::CMSG_FIRSTHDR(&raw const header);
        assert_eq!(((*message).cmsg_level, (*message).cmsg_type), (libc::IPPROTO_IP, libc::IP_TTL));
        libc::CMSG_DATA(message).cast::<libc::c_int>().read_unaligned()
    }
}

#[test]
#[ignore = "needs root"]
fn groups_are_as_far_as_is_said() {
    strictly(|past| {
        let there = past.on_peer(|| {
            use std::os::fd::AsRawFd;
            let socket = std::net::UdpSocket::bind((*GROUP.ip(), GROUP.port()))?;
            socket.join_multicast_v4(GROUP.ip(), &past.peer.address())?;
            socket.set_read_timeout(Some(std::time::Duration::from_secs(10)))?;
            let (fd, one) = (socket.as_raw_fd(), 1_i32);
            let length = size_of_val(&one) as libc::socklen_t;
            // SAFETY: an int is read from a local variable.
            let outcome = unsafe {
                let value = (&raw const one).cast();
                libc::setsockopt(fd, libc::IPPROTO_IP, libc::IP_RECVTTL, value, length)
            };
            assert_eq!(outcome, 0);
            Ok(socket)
        });
        for ttl in [1, 7, 255] {
            let mut sender = UdpSender::new_by(&past.transport, GROUP, past.here, ttl).unwrap();
            send(&mut sender, b"how far?");
            assert_eq!(ttl_of_next(&there), i32::from(ttl));
        }
        let mut socket = UdpSocket::bind_by(&past.transport, past.at(PORT), options()).unwrap();
        let ask = |socket: &mut UdpSocket| {
            socket.transmit_to(GROUP, 4, |bytes| bytes.copy_from_slice(b"who?")).unwrap();
            ttl_of_next(&there)
        };
        assert_eq!(ask(&mut socket), 1);
        socket.set_multicast(past.here, 9).unwrap();
        assert_eq!(ask(&mut socket), 9);
        socket.set_multicast(Ipv4Addr::UNSPECIFIED, 3).unwrap();
        assert_eq!(ask(&mut socket), 3);
        let error = socket.set_multicast(LOCALHOST, 9).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrNotAvailable);
        assert!(error.to_string().starts_with("cannot send to groups on interface 127.0.0.1: "));
        let error = socket.set_multicast(past.here, 0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert_eq!(ask(&mut socket), 3);
    });
}
