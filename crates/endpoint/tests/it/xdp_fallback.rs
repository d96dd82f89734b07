//! Fallback to the kernel: it is reported, or is an error of a strict stack. Needs root.

use std::fmt::Debug;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use crate::bypass_host::{
    BypassHost, GROUP, PORT, eventually, one, send, with_stack, with_strict_stack,
};
use hairpin_endpoint::xdp::StackSettings;
use hairpin_endpoint::{
    MulticastGroup, Receive, Timestamping, UdpOptions, UdpReceiver, UdpSender, UdpSocket,
};

const LOCALHOST: Ipv4Addr = Ipv4Addr::LOCALHOST;
const AT_LOCALHOST: SocketAddrV4 = SocketAddrV4::new(LOCALHOST, PORT);
const OTHER: &str = "the path is on another interface";

fn options() -> UdpOptions {
    UdpOptions::default()
}

fn on(interface: Ipv4Addr) -> MulticastGroup<'static> {
    MulticastGroup { group: GROUP, interface, sources: &[] }
}

/// Returns the error text of a strict stack.
fn refused<T: Debug>(outcome: io::Result<T>) -> String {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::Unsupported, "{error}");
    error.to_string()
}

#[test]
#[ignore = "needs root"]
fn other_interface_falls_back_to_kernel() {
    with_stack(&StackSettings::default(), |host| {
        let by = &host.transport;
        let mut receiver = UdpReceiver::join_with(by, on(LOCALHOST), options()).unwrap();
        let assert_event = |text: &str| assert_eq!(host.events(), [format!("{text}: {OTHER}")]);
        assert_event("group 239.192.9.1:7100 falls back to the kernel");
        assert!(receiver.is_joined());
        let mut sender = UdpSender::with_transport(by, GROUP, LOCALHOST, 1).unwrap();
        assert_event("sending to group 239.192.9.1:7100 falls back to the kernel");
        send(&mut sender, b"group");
        let (meta, bytes) = one(&mut receiver);
        assert_eq!((meta.source, bytes), (sender.local_address(), b"group".to_vec()));
        assert_eq!(
            receiver.timestamping(),
            Timestamping::Software,
            "same as for any kernel socket"
        );
        receiver.leave().unwrap();
        receiver.rejoin().unwrap();

        let mut bound = UdpReceiver::bind_with(by, AT_LOCALHOST, options()).unwrap();
        assert_event("127.0.0.1:7000 falls back to the kernel");
        let mut sender = UdpSender::connect_with(by, AT_LOCALHOST, LOCALHOST).unwrap();
        assert_event("sending to 127.0.0.1:7000 falls back to the kernel");
        sender.set_transmit_timestamping(Timestamping::Software).unwrap();
        assert_eq!(sender.transmit_timestamping(), Timestamping::Software);
        send(&mut sender, b"host");
        assert_eq!(one(&mut bound).1, b"host");
        drop(bound);

        let mut pong = UdpSocket::bind_with(by, AT_LOCALHOST, options()).unwrap();
        assert_event("127.0.0.1:7000 falls back to the kernel");
        let local = SocketAddrV4::new(LOCALHOST, 0);
        let mut ping = UdpSocket::connect_with(by, local, AT_LOCALHOST, options()).unwrap();
        assert_event("127.0.0.1:0 falls back to the kernel");
        send(&mut ping, b"ping");
        let (meta, _) = one(&mut pong);
        pong.transmit_to(meta.source, 4, |answer| answer.copy_from_slice(b"pong")).unwrap();
        assert_eq!(one(&mut ping).1, b"pong");
        assert!(host.events().is_empty());
    });
}

#[test]
#[ignore = "needs root"]
fn strict_stack_rejects_other_interface() {
    with_strict_stack(|host| {
        let by = &host.transport;
        let text = refused(UdpReceiver::join_with(by, on(LOCALHOST), options()));
        let expected = "cannot join 239.192.9.1 on interface 127.0.0.1: strict: group \
                        239.192.9.1:7100 falls back to the kernel: the path is on another \
                        interface";
        assert_eq!(text, expected);
        let text = refused(UdpReceiver::bind_with(by, AT_LOCALHOST, options()));
        assert!(text.starts_with("cannot receive on 127.0.0.1:7000: strict: "), "{text}");
        let text = refused(UdpSocket::bind_with(by, AT_LOCALHOST, options()));
        assert!(text.starts_with("cannot receive on 127.0.0.1:7000: strict: "), "{text}");
        let local = SocketAddrV4::new(LOCALHOST, 0);
        refused(UdpSocket::connect_with(by, local, AT_LOCALHOST, options()));
        let text = refused(UdpSender::with_transport(by, GROUP, LOCALHOST, 1));
        assert!(text.starts_with("cannot send to 239.192.9.1:7100: strict: "), "{text}");
        refused(UdpSender::connect_with(by, AT_LOCALHOST, LOCALHOST));
        // The destination is this host.
        let text = refused(UdpSender::connect_with(by, host.at(PORT), host.here));
        assert!(text.ends_with("falls back to the kernel: the destination is this host"), "{text}");
        refused(UdpSocket::connect_with(by, host.at(0), host.at(PORT), options()));
        refused(UdpSender::with_transport(by, GROUP, host.here, 0));
    });
}

#[test]
#[ignore = "needs root"]
fn kernel_errors_are_the_same_over_xdp() {
    with_strict_stack(|host| {
        let by = &host.transport;
        let taken = UdpReceiver::bind_with(by, host.at(PORT), options()).unwrap();
        let [ours, kernels] = [
            UdpReceiver::bind_with(by, taken.local_address(), options()),
            UdpReceiver::bind(taken.local_address(), options()),
        ]
        .map(|outcome| outcome.map(drop).unwrap_err());
        assert_eq!((ours.kind(), ours.to_string()), (kernels.kind(), kernels.to_string()));
        let not_a_group = SocketAddrV4::new(LOCALHOST, PORT);
        let group = MulticastGroup { group: not_a_group, ..on(host.here) };
        let error = UdpReceiver::join_with(by, group, options()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    });
}

/// Creates a kernel socket on the first host that is a member of the group.
fn other_member(host: &BypassHost<'_>) -> UdpReceiver {
    UdpReceiver::join(on(host.here), options()).unwrap()
}

#[test]
#[ignore = "needs root"]
fn group_with_other_members_is_received_by_kernel() {
    with_stack(&StackSettings::default(), |host| {
        let mut publisher = host.on_peer(|| UdpSender::new(GROUP, host.peer.address(), 1));
        let mut other = other_member(host);
        let mut receiver =
            UdpReceiver::join_with(&host.transport, on(host.here), options()).unwrap();
        let others = "group 239.192.9.1:7100 falls back to the kernel: other members on this host";
        assert_eq!(host.events(), [others]);
        send(&mut publisher, b"both");
        assert_eq!(one(&mut receiver).1, b"both");
        assert_eq!(one(&mut other).1, b"both");
        drop(other);
        // While the other member closes, it is briefly no longer a member but still open.
        let bypass_again = "group 239.192.9.1:7100 bypasses the kernel again";
        eventually("the group", || host.events().last().is_some_and(|event| event == bypass_again));
        send(&mut publisher, b"one");
        assert_eq!(one(&mut receiver).1, b"one");
    });
}

#[test]
#[ignore = "needs root"]
fn strict_stack_rejects_group_with_other_members() {
    with_strict_stack(|host| {
        let other = other_member(host);
        let text = refused(UdpReceiver::join_with(&host.transport, on(host.here), options()));
        assert!(text.ends_with("other members on this host"), "{text}");
        drop(other);
        let mut receiver =
            UdpReceiver::join_with(&host.transport, on(host.here), options()).unwrap();
        assert_eq!(receiver.receive(1, |_, _| {}).unwrap().count, 0);
        let _other = other_member(host);
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
fn group_with_local_members_is_sent_by_kernel() {
    with_stack(&StackSettings::default(), |host| {
        let mut here = other_member(host);
        let member = on(host.peer.address());
        let mut there = host.on_peer(|| UdpReceiver::join(member, options()));
        let mut sender = UdpSender::with_transport(&host.transport, GROUP, host.here, 1).unwrap();
        let text =
            "sending to group 239.192.9.1:7100 falls back to the kernel: members on this host";
        assert_eq!(host.events(), [text]);
        send(&mut sender, b"both");
        assert_eq!((one(&mut here).1, one(&mut there).1), (b"both".to_vec(), b"both".to_vec()));
        drop(sender);
        // Not even to this host.
        let mut sender = UdpSender::with_transport(&host.transport, GROUP, host.here, 0).unwrap();
        assert_eq!(
            host.events(),
            ["sending to group 239.192.9.1:7100 falls back to the kernel: \
                 the destination is this host"]
        );
        send(&mut sender, b"here");
        assert_eq!(one(&mut here).1, b"here");
    });
}

/// Returns the TTL of the next datagram that a socket receives.
fn ttl_of_next(socket: &std::net::UdpSocket) -> libc::c_int {
    use std::os::fd::AsRawFd;
    let mut bytes = [0_u8; 64];
    let mut control = [0_u64; 8];
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: a header consists of integers and pointers, for all of which zero is valid. All that
    // it points to lives through the calls, and the kernel fills in what is read.
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
fn sets_multicast_ttl() {
    with_strict_stack(|host| {
        let there = host.on_peer(|| {
            use std::os::fd::AsRawFd;
            let socket = std::net::UdpSocket::bind((*GROUP.ip(), GROUP.port()))?;
            socket.join_multicast_v4(GROUP.ip(), &host.peer.address())?;
            socket.set_read_timeout(Some(std::time::Duration::from_secs(60)))?;
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
            let mut sender =
                UdpSender::with_transport(&host.transport, GROUP, host.here, ttl).unwrap();
            send(&mut sender, b"how far?");
            assert_eq!(ttl_of_next(&there), i32::from(ttl));
        }
        let mut socket = UdpSocket::bind_with(&host.transport, host.at(PORT), options()).unwrap();
        let ask = |socket: &mut UdpSocket| {
            socket.transmit_to(GROUP, 4, |bytes| bytes.copy_from_slice(b"who?")).unwrap();
            ttl_of_next(&there)
        };
        assert_eq!(ask(&mut socket), 1);
        socket.set_multicast(host.here, 9).unwrap();
        assert_eq!(ask(&mut socket), 9);
        socket.set_multicast(Ipv4Addr::UNSPECIFIED, 3).unwrap();
        assert_eq!(ask(&mut socket), 3);
        let error = socket.set_multicast(LOCALHOST, 9).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrNotAvailable);
        assert!(error.to_string().starts_with("cannot send to groups on interface 127.0.0.1: "));
        let error = socket.set_multicast(host.here, 0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert_eq!(ask(&mut socket), 3);
    });
}
