//! UDP sockets of a stack, tested against kernel sockets over a veth.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use hairpin_stack::{FallbackReason, Mode, PathEvent, SocketOptions, StackSettings};
use hairpin_testbed::{Host, Testbed};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::support::{
    MODES, TIMEOUT, addresses, bind, bind_with, each_configuration, eventually, is_reported,
    kernel, next, open, pattern, settings, shared_options, stack, testbed, xdp_destination,
};

const PORT: u16 = 5_000;
const ANY: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];
const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
/// The longest payload of one packet of 1,500 bytes.
const IN_ONE_PACKET: [usize; 2] = [1_472, 1_452];
/// The longest payload that the kernel sends in fragments.
const LONGEST: [usize; 2] = [65_507, 65_487];

/// Sends a datagram from the peer and returns it. Returns `true` if the kernel received it.
fn exchange(
    socket: &mut hairpin_stack::UdpSocket,
    peer: &UdpSocket,
    here: IpAddr,
    length: usize,
) -> bool {
    let sent = pattern(length as u32, length);
    peer.send_to(&sent, (here, PORT)).unwrap();
    let (meta, received) = next(socket).unwrap();
    assert!(received == sent, "{length} of {here}");
    assert_eq!(meta.source, peer.local_addr().unwrap());
    assert_eq!(meta.destination, Some(here));
    socket.send_to(&sent, meta.source).unwrap();
    let mut buffer = vec![0; 65_536];
    let (count, from) = peer.recv_from(&mut buffer).unwrap();
    assert!(buffer[..count] == sent[..], "{length} from {here}");
    assert_eq!(from, SocketAddr::new(here, PORT));
    meta.via_kernel
}

#[test]
#[ignore = "needs root"]
fn datagrams_of_every_length_arrive_intact() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        for family in 0..2 {
            let (here, there) = (addresses(ours)[family], addresses(theirs)[family]);
            let mut socket = bind(ours, &stack, (here, PORT));
            let peer = kernel(theirs, (there, 6_000));
            let most = IN_ONE_PACKET[family];
            xdp_destination(&socket, peer.local_addr().unwrap());
            for length in [0, 1, 2, 17, 18, 22, 63, 1_000, most - 1, most, most + 1, 2_961]
                .into_iter()
                .chain([9_000, 65_486, LONGEST[family]])
            {
                let via_kernel = exchange(&mut socket, &peer, here, length);
                assert_eq!(via_kernel, length > most, "{mode}, {length} of {here}");
            }
            let too_long = socket.send_to(&vec![0; 65_536], peer.local_addr().unwrap());
            assert_eq!(too_long.unwrap_err().raw_os_error(), Some(libc::EMSGSIZE));
        }
        let is_length = |n: &PathEvent| {
            matches!(n, PathEvent::TxFallback { reason: FallbackReason::TooLong, .. })
        };
        let reported = std::iter::from_fn(|| stack.next_event()).filter(is_length).count();
        assert_eq!(reported, 2, "reported once per destination");
    });
}

/// A datagram that fits a frame of 4,096 bytes bypasses the kernel, which carries all others.
#[test]
#[ignore = "needs root"]
fn datagrams_of_jumbo_frames_arrive_intact() {
    for (mtu, mode) in [3_498, 9_000].into_iter().flat_map(|mtu| MODES.map(|mode| (mtu, mode))) {
        let testbed = Testbed::builder().mtu(mtu).ipv6().build().unwrap();
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        for family in 0..2 {
            let (here, there) = (addresses(ours)[family], addresses(theirs)[family]);
            let mut socket = bind(ours, &stack, (here, PORT));
            let peer = kernel(theirs, (there, 6_000));
            xdp_destination(&socket, peer.local_addr().unwrap());
            for length in [1, 1_472, 1_800, 3_400, 3_500, 3_774, 3_775, 4_096, 8_900, 9_100, 60_000]
            {
                let is_long = length > 3_774 || length > mtu as usize - 48;
                let via_kernel = exchange(&mut socket, &peer, here, length);
                assert_eq!(via_kernel, is_long, "{mode}, {length} of {here}");
            }
        }
    }
}

#[test]
#[ignore = "needs root"]
fn wildcard_socket_receives_from_wire_and_loopback() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        for (family, any) in ANY.into_iter().enumerate() {
            let mut socket = bind(ours, &stack, (any, PORT));
            assert!(socket.receives_over_xdp());
            let far = kernel(theirs, (addresses(theirs)[family], 0));
            let near = kernel(ours, (LOOPBACK[family], 0));
            for round in 0..50_u8 {
                far.send_to(&[0, round], (addresses(ours)[family], PORT)).unwrap();
                near.send_to(&[1, round], (LOOPBACK[family], PORT)).unwrap();
                let mut received = [next(&mut socket).unwrap(), next(&mut socket).unwrap()];
                received.sort_by_key(|(meta, _)| meta.via_kernel);
                for (by, (meta, payload)) in received.iter().enumerate() {
                    let (from, to) =
                        [(&far, addresses(ours)[family]), (&near, LOOPBACK[family])][by];
                    assert_eq!(payload, &[by as u8, round]);
                    assert_eq!(
                        (meta.source, meta.destination),
                        (from.local_addr().unwrap(), Some(to))
                    );
                }
            }
            // Datagrams through the kernel arrive even after empty polls.
            for round in 0..20_u8 {
                while socket.receive(8, |_, _| panic!("unexpected datagram")).unwrap().count > 0 {}
                (0..10).for_each(|_| assert_eq!(socket.receive(8, |_, _| ()).unwrap().count, 0));
                near.send_to(&[2, round], (LOOPBACK[family], PORT)).unwrap();
                assert_eq!(next(&mut socket).unwrap().1, [2, round]);
            }
            // Answers take each peer's own path.
            for peer in [&far, &near] {
                socket.send_to(b"back", peer.local_addr().unwrap()).unwrap();
                assert_eq!(peer.recv(&mut [0; 8]).unwrap(), 4);
            }
        }
    });
}

#[test]
#[ignore = "needs root"]
fn connected_socket_receives_its_peer_only_and_reports_refusal() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        for (family, any) in ANY.into_iter().enumerate() {
            let (here, there) = (addresses(ours)[family], addresses(theirs)[family]);
            let mut socket = bind(ours, &stack, (any, PORT));
            let (peer, stranger) = (kernel(theirs, (there, 6_000)), kernel(theirs, (there, 6_001)));
            socket.connect(peer.local_addr().unwrap()).unwrap();
            assert_eq!(socket.local_address(), SocketAddr::new(here, PORT));
            assert!(socket.receives_over_xdp());
            assert_eq!(
                socket.connect(stranger.local_addr().unwrap()).unwrap_err().kind(),
                ErrorKind::InvalidInput
            );
            for round in 0..20_u8 {
                stranger.send_to(b"stray", (here, PORT)).unwrap();
                peer.send_to(&[round], (here, PORT)).unwrap();
                assert_eq!(next(&mut socket).unwrap().1, [round]);
                socket.transmit(1, |payload| payload[0] = round).unwrap();
                let mut answer = [0; 8];
                assert_eq!(peer.recv(&mut answer).unwrap(), 1);
                assert_eq!(answer[0], round);
            }
            drop(peer);
            let mut error = None;
            assert!(eventually(|| {
                let _ = socket.transmit(1, |payload| payload[0] = 0);
                error = socket.receive(1, |meta, _| panic!("{meta:?}")).err();
                error.is_some()
            }));
            assert_eq!(error.unwrap().kind(), ErrorKind::ConnectionRefused, "{mode} {there}");
        }
    });
}

#[test]
#[ignore = "needs root"]
fn sockets_share_a_port_only_if_both_allow_it() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let place = SocketAddr::new(ours.address().into(), PORT);
        let mut both = [(); 2].map(|()| bind_with(ours, &stack, place, &shared_options()));
        let refused = ours.run(|| stack.bind(place, &Default::default())).unwrap().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AddrInUse);
        let peers: Vec<_> = (0..64).map(|_| kernel(theirs, (theirs.address(), 0))).collect();
        let mut counts = [0; 2];
        for (number, peer) in peers.iter().enumerate() {
            peer.send_to(&[number as u8], place).unwrap();
            assert!(eventually(|| {
                let mut found = false;
                for (socket, count) in both.iter_mut().zip(&mut counts) {
                    let on = |meta: hairpin_stack::Meta, payload: &[u8]| {
                        assert!(!meta.via_kernel);
                        assert_eq!(payload, [number as u8]);
                        found = true;
                    };
                    *count += socket.receive(8, on).unwrap().count;
                }
                found
            }));
        }
        assert_eq!(counts[0] + counts[1], 64);
        assert!(counts[0] > 0 && counts[1] > 0, "{counts:?}");
        // The remaining socket receives everything.
        let [first, mut second] = both;
        drop(first);
        for peer in &peers {
            peer.send_to(b"you", place).unwrap();
            let (meta, _) = next(&mut second).unwrap();
            assert!(!meta.via_kernel);
        }
    });
}

/// Returns `true` if the host answers a ping.
fn pings(from: &Host, to: &Host) -> bool {
    // An echo request, identifier 7, sequence 9, and its checksum.
    let mut request = [8, 0, 0, 0, 0, 7, 0, 9];
    request[2..4].copy_from_slice(&(!(0x0800_u16 + 7 + 9)).to_be_bytes());
    let protocol = Some(Protocol::ICMPV4);
    let socket = from.run(|| Socket::new(Domain::IPV4, Type::RAW, protocol)).unwrap().unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    socket.send_to(&request, &SockAddr::from(SocketAddr::new(to.address().into(), 0))).unwrap();
    let (socket, mut answer) = (UdpSocket::from(socket), [0; 64]);
    while let Ok((length, from)) = socket.recv_from(&mut answer) {
        // After an IPv4 header: an echo reply with the same identifier and sequence.
        if length == 28 && from.ip() == IpAddr::from(to.address()) && answer[20] == 0 {
            return answer[24..28] == request[4..8];
        }
    }
    false
}

#[test]
#[ignore = "needs root"]
fn other_traffic_stays_with_the_kernel() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let mut socket = bind(ours, &stack, (ours.address(), PORT));
        let taken = kernel(ours, (ours.address(), 5_001));
        let error = ours.run(|| stack.bind(taken.local_addr().unwrap(), &Default::default()));
        assert_eq!(error.unwrap().unwrap_err().kind(), ErrorKind::AddrInUse);
        let peer = kernel(theirs, (theirs.address(), 0));
        for round in 0..20_u8 {
            // Resolved again by ARP.
            let (mut rtnetlink, index) = (theirs.rtnetlink().unwrap(), theirs.interface_index());
            let _ = rtnetlink.remove_neighbor(index, ours.address().into());
            peer.send_to(&[round], taken.local_addr().unwrap()).unwrap();
            assert_eq!(taken.recv(&mut [0; 8]).unwrap(), 1);
            peer.send_to(&[round], (ours.address(), PORT)).unwrap();
            assert_eq!(next(&mut socket).unwrap().1, [round]);
        }
        assert!(pings(theirs, ours) && pings(ours, theirs));
    });
}

#[test]
#[ignore = "needs root"]
fn fallbacks_are_reported_or_rejected_by_a_strict_stack() {
    for mode in crate::support::MODES {
        let testbed = testbed(1);
        let [ours, theirs] = testbed.hosts();
        let there = SocketAddr::new(theirs.address().into(), 6_000);
        let here = SocketAddr::new(ours.address().into(), 6_000);
        let broadcast = SocketAddr::from(([10, 77, 0, 255], 6_000));
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
        {
            let stack = stack(ours, mode);
            let _local = bind(ours, &stack, local);
            let mut socket = bind(ours, &stack, (ours.address(), PORT));
            let _ = socket.send_to(b"", here);
            let _ = socket.send_to(b"", broadcast);
            let wanted = [
                PathEvent::RxFallback { address: local, reason: FallbackReason::OtherInterface },
                PathEvent::TxFallback { address: here, reason: FallbackReason::ThisHost },
                PathEvent::TxFallback { address: broadcast, reason: FallbackReason::Broadcast },
            ];
            for wanted in wanted {
                assert!(is_reported(&stack, |event| *event == wanted), "{mode}: {wanted}");
            }
        }
        let stack = open(ours, &StackSettings { strict: true, ..settings(mode) });
        let refused = |result: std::io::Result<()>| {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            error.to_string()
        };
        let bound = ours.run(|| stack.bind(local, &Default::default())).unwrap();
        assert!(refused(bound.map(drop)).contains("on another interface"));
        let mut socket = bind(ours, &stack, (ours.address(), PORT));
        assert!(refused(socket.send_to(b"", here)).contains("this host"));
        assert!(refused(socket.send_to(b"", broadcast)).contains("broadcast"));
        // An unresolved next hop is not a fallback.
        let peer = kernel(theirs, there);
        socket.send_to(b"hello", there).unwrap();
        assert_eq!(peer.recv(&mut [0; 8]).unwrap(), 5);
        xdp_destination(&socket, there);
        // The cached path is found again, although another call resolved the next hop.
        socket.send_to(b"hello", there).unwrap();
        assert!(refused(socket.send_to(&[0; 1_473], there)).contains("does not fit"));
        // A rejected call has no effect and does not end the stack.
        peer.send_to(b"hello", (ours.address(), PORT)).unwrap();
        assert_eq!(next(&mut socket).unwrap().1, b"hello");
    }
}

#[test]
#[ignore = "needs root"]
fn closed_port_is_unreachable_and_can_be_bound_again() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let peer = kernel(theirs, (theirs.address(), 0));
        peer.connect((ours.address(), PORT)).unwrap();
        let is_refused = || {
            peer.send(b"probe").unwrap();
            let error = peer.recv(&mut [0; 8]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused, "{mode}");
        };
        // The second stack opens the interface right after the first has closed it.
        for _ in 0..2 {
            let stack = stack(ours, mode);
            for _ in 0..3 {
                is_refused();
                let mut socket = bind(ours, &stack, (ours.address(), PORT));
                peer.send(b"hello").unwrap();
                assert!(!next(&mut socket).unwrap().0.via_kernel);
                drop(socket);
            }
        }
        is_refused();
    });
}

#[test]
#[ignore = "needs root"]
fn panics_in_callbacks_lose_no_frame() {
    let testbed = testbed(1);
    let [ours, theirs] = testbed.hosts();
    let mut settings = settings(Mode::Generic);
    settings.interface.umem.frames = 64;
    let stack = open(ours, &settings);
    let mut socket = bind(ours, &stack, (ours.address(), PORT));
    let peer = kernel(theirs, (theirs.address(), 0));
    socket.connect(peer.local_addr().unwrap()).unwrap();
    xdp_destination(&socket, peer.local_addr().unwrap());
    // Twice as many rounds as there are frames.
    for round in 0..128_u8 {
        peer.send_to(&[round], (ours.address(), PORT)).unwrap();
        peer.send_to(&[round], (ours.address(), PORT)).unwrap();
        let mut panics = 0;
        assert!(eventually(|| {
            let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                socket
                    .receive(8, |_, _| std::panic::resume_unwind(Box::new("as planned")))
                    .unwrap();
            }));
            panics += u32::from(read.is_err());
            panics == 2
        }));
        let write = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            socket.transmit(1, |_| std::panic::resume_unwind(Box::new("as planned"))).unwrap();
        }));
        assert!(write.is_err());
        socket.transmit(1, |payload| payload[0] = round).unwrap();
        assert_eq!(peer.recv(&mut [0; 8]).unwrap(), 1);
    }
}

#[test]
#[ignore = "needs root"]
fn unread_sockets_leave_frames_to_the_others() {
    for mode in crate::support::MODES {
        let testbed = testbed(1);
        let [ours, theirs] = testbed.hosts();
        let mut settings = settings(mode);
        settings.interface.umem.frames = 128;
        let stack = open(ours, &settings);
        let deaf: Vec<_> =
            (0..8).map(|at| bind(ours, &stack, (ours.address(), 5_100 + at))).collect();
        let mut socket = bind(ours, &stack, (ours.address(), PORT));
        let peer = kernel(theirs, (theirs.address(), 0));
        for round in 0..200_u8 {
            for port in 5_100..5_108 {
                peer.send_to(&[round], (ours.address(), port)).unwrap();
            }
            peer.send_to(&[round], (ours.address(), PORT)).unwrap();
            let (meta, received) = next(&mut socket).unwrap();
            assert_eq!((meta.via_kernel, received), (false, vec![round]), "{mode}");
        }
        assert_eq!(socket.dropped(), 0);
        assert!(deaf.iter().all(|deaf| deaf.dropped() > 150 && deaf.dropped() < 200));
    }
}

#[test]
#[ignore = "needs root"]
fn dual_stack_socket_carries_both_families_as_the_kernel_does() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let mut socket = bind(ours, &stack, (Ipv6Addr::UNSPECIFIED, PORT));
        // The same exchange with a kernel socket.
        let twin = kernel(ours, (Ipv6Addr::UNSPECIFIED, PORT + 1));
        let mapped = |address: SocketAddr| match address.ip() {
            IpAddr::V4(v4) => SocketAddr::new(v4.to_ipv6_mapped().into(), address.port()),
            IpAddr::V6(_) => address,
        };
        for (here, there) in addresses(ours).into_iter().zip(addresses(theirs)) {
            let peer = kernel(theirs, (there, 6_000));
            let to = mapped(peer.local_addr().unwrap());
            xdp_destination(&socket, to);
            for round in 0..20_u8 {
                peer.send_to(&[round], (here, PORT)).unwrap();
                let (meta, payload) = next(&mut socket).unwrap();
                peer.send_to(&[round], (here, PORT + 1)).unwrap();
                let mut buffer = [0; 8];
                let (length, source) = twin.recv_from(&mut buffer).unwrap();
                assert_eq!((payload.as_slice(), meta.source), (&buffer[..length], source));
                assert_eq!((meta.source, meta.via_kernel), (to, false), "{mode}");
                let destination = mapped(SocketAddr::new(here, 0)).ip();
                assert_eq!(meta.destination, Some(destination));
                socket.send_to(&[round, 1], to).unwrap();
                let (length, from) = peer.recv_from(&mut buffer).unwrap();
                assert_eq!((length, from), (2, SocketAddr::new(here, PORT)));
            }
        }
        let group = IpAddr::from([239, 1, 2, 3]);
        socket.join(group, &[]).unwrap();
        assert!(eventually(|| socket.receives_group_over_xdp(group)));
        let peer = kernel(theirs, (theirs.address(), 0));
        peer.send_to(b"group", (group, PORT)).unwrap();
        assert_eq!(next(&mut socket).unwrap().1, b"group");
        // Connected, it receives from its peer only.
        let far = kernel(theirs, (theirs.address(), 6_001));
        socket.connect(mapped(far.local_addr().unwrap())).unwrap();
        assert_eq!(socket.local_address(), mapped((ours.address(), PORT).into()));
        peer.send_to(b"stranger", (ours.address(), PORT)).unwrap();
        far.send_to(b"peer", (ours.address(), PORT)).unwrap();
        let (meta, payload) = next(&mut socket).unwrap();
        assert_eq!((payload.as_slice(), meta.via_kernel), (b"peer".as_slice(), false));
    });
}

#[test]
#[ignore = "needs root"]
fn only_v6_socket_carries_no_ipv4() {
    let testbed = testbed(1);
    let [ours, theirs] = testbed.hosts();
    let stack = stack(ours, Mode::Generic);
    let options = SocketOptions { only_v6: true, ..SocketOptions::default() };
    let mut socket = bind_with(ours, &stack, (Ipv6Addr::UNSPECIFIED, PORT), &options);
    // The port of the other family is free.
    let mut other = bind(ours, &stack, (Ipv4Addr::UNSPECIFIED, PORT));
    let peer = kernel(theirs, (theirs.address(), 6_000));
    let to = SocketAddr::new(theirs.address().to_ipv6_mapped().into(), 6_000);
    let error = socket.send_to(b"x", to).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NetworkUnreachable);
    peer.send_to(b"IPv4", (ours.address(), PORT)).unwrap();
    assert_eq!(next(&mut other).unwrap().1, b"IPv4");
    socket.receive(8, |meta, _| panic!("{meta:?}")).unwrap();
    let group = IpAddr::from([239, 1, 2, 3]);
    assert_eq!(socket.join(group, &[]).unwrap_err().kind(), ErrorKind::InvalidInput);
}
