//! Kernel-bypass endpoints with kernel peers on another host. Needs root.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::bypass_host::{
    BypassHost, GROUP, PORT, eventually, nothing, one, receive, send, with_stack, with_strict_stack,
};
use hairpin_endpoint::xdp::{InterfaceSettings, Mode, ReceiveStamps, StackSettings};
use hairpin_endpoint::{
    MulticastGroup, Receive, Source, Timestamp, Timestamping, Transmit, Transport, UdpOptions,
    UdpReceiver, UdpSender, UdpSocket,
};
use hairpin_time::Duration;

fn options() -> UdpOptions {
    UdpOptions::default()
}

fn send_to(socket: &mut UdpSocket, to: SocketAddrV4, bytes: &[u8]) {
    socket.transmit_to(to, bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
}

fn numbered(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

/// Returns `true` if a descriptor is readable now.
fn is_readable(source: &impl AsFd) -> bool {
    let mut poll =
        libc::pollfd { fd: source.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the array has one entry, which lives through the call.
    unsafe { libc::poll(&raw mut poll, 1, 0) == 1 }
}

#[test]
#[ignore = "needs root"]
fn replies_to_sender() {
    for mode in [Mode::Native, Mode::Generic] {
        let interface = InterfaceSettings { mode, ..InterfaceSettings::default() };
        with_stack(
            &StackSettings { interface, strict: true, ..StackSettings::default() },
            |host| {
                let mut pong =
                    UdpSocket::bind_with(&host.transport, host.at(PORT), options()).unwrap();
                assert_eq!((pong.local_address(), pong.remote_address()), (host.at(PORT), None));
                let client = host.plain(9_000);
                for length in [0, 1, 64, 1_472] {
                    let question = numbered(length);
                    client.send_to(&question, pong.local_address()).unwrap();
                    let (meta, heard) = one(&mut pong);
                    assert_eq!((meta.source, heard.len()), (host.peer_at(9_000), length));
                    assert!(heard == question);
                    send_to(&mut pong, meta.source, &heard);
                    let mut answer = [0; 2_000];
                    let (came, from) = client.recv_from(&mut answer).unwrap();
                    assert!(answer[..came] == question);
                    assert_eq!(from, SocketAddr::V4(host.at(PORT)));
                }
                nothing(&mut pong);
                let error = pong.transmit(1, |_| {}).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::NotConnected);
            },
        );
    }
}

#[test]
#[ignore = "needs root"]
fn connected_socket_receives_from_peer_only() {
    with_strict_stack(|host| {
        let peer = host.plain(9_001);
        let other_peer = host.plain(9_002);
        let anywhere = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0);
        let mut socket =
            UdpSocket::connect_with(&host.transport, anywhere, host.peer_at(9_001), options())
                .unwrap();
        let local = socket.local_address();
        assert_eq!((*local.ip(), local.port() != 0), (host.here, true));
        assert_eq!(socket.remote_address(), Some(host.peer_at(9_001)));
        other_peer.send_to(b"stranger", local).unwrap();
        peer.send_to(b"peer", local).unwrap();
        assert_eq!(one(&mut socket).1, b"peer");
        nothing(&mut socket);
        send(&mut socket, b"home");
        let mut bytes = [0; 9];
        assert_eq!(peer.recv_from(&mut bytes).unwrap(), (4, SocketAddr::V4(local)));
        let group = SocketAddrV4::new(*GROUP.ip(), 1);
        let error = UdpSocket::connect_with(&host.transport, anywhere, group, options());
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    });
}

#[test]
#[ignore = "needs root"]
fn connected_socket_sends_to_others_through_kernel() {
    with_stack(&StackSettings::default(), |host| {
        let other_peer = host.plain(9_003);
        let mut socket =
            UdpSocket::connect_with(&host.transport, host.at(0), host.peer_at(9_004), options())
                .unwrap();
        assert!(host.events().is_empty());
        send_to(&mut socket, host.peer_at(9_003), b"elsewhere");
        let mut bytes = [0; 10];
        let local = SocketAddr::V4(socket.local_address());
        assert_eq!(other_peer.recv_from(&mut bytes).unwrap(), (9, local));
        let event = format!(
            "sending to {} falls back to the kernel: the socket is connected to another peer",
            host.peer_at(9_003)
        );
        assert_eq!(host.events(), [event]);
    });
}

#[test]
#[ignore = "needs root"]
fn reports_refusal_once() {
    with_strict_stack(|host| {
        let unused = host.peer_at(9_005);
        let mut socket =
            UdpSocket::connect_with(&host.transport, host.at(0), unused, options()).unwrap();
        send(&mut socket, b"anybody?");
        let mut refused = None;
        eventually("the refusal", || {
            refused = socket.receive(8, |_, _| {}).err();
            refused.is_some()
        });
        assert_eq!(refused.unwrap().kind(), io::ErrorKind::ConnectionRefused);
        nothing(&mut socket);
        let peer = host.plain(9_005);
        peer.send_to(b"now", socket.local_address()).unwrap();
        assert_eq!(one(&mut socket).1, b"now");
    });
}

#[test]
#[ignore = "needs root"]
fn bound_receiver_receives_from_all_peers() {
    with_strict_stack(|host| {
        let mut receiver = UdpReceiver::bind_with(&host.transport, host.at(0), options()).unwrap();
        let to = receiver.local_address();
        assert_eq!((*to.ip(), to.port() != 0, receiver.is_joined()), (host.here, true, false));
        for port in [9_006, 9_007] {
            host.plain(port).send_to(&port.to_be_bytes(), to).unwrap();
            let (meta, bytes) = one(&mut receiver);
            assert_eq!((meta.source, bytes), (host.peer_at(port), port.to_be_bytes().to_vec()));
        }
        assert!(receiver.leave().is_ok() && receiver.rejoin().is_ok());
        let mut anywhere = UdpReceiver::bind_with(
            &host.transport,
            SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, PORT),
            options(),
        )
        .unwrap();
        host.plain(9_008).send_to(b"anywhere", host.at(PORT)).unwrap();
        assert_eq!(one(&mut anywhere).1, b"anywhere");
    });
}

fn publisher(host: &BypassHost<'_>) -> UdpSender {
    host.on_peer(|| UdpSender::new(GROUP, host.peer.address(), 1))
}

fn joined(host: &BypassHost<'_>, sources: &[Ipv4Addr]) -> io::Result<UdpReceiver> {
    let group = MulticastGroup { group: GROUP, interface: host.here, sources };
    UdpReceiver::join_with(&host.transport, group, options())
}

#[test]
#[ignore = "needs root"]
fn leaves_and_rejoins_group() {
    with_strict_stack(|host| {
        let mut receivers = [(); 2].map(|()| joined(host, &[]).unwrap());
        assert!(receivers.iter().all(UdpReceiver::is_joined));
        assert_eq!(receivers[0].local_address(), GROUP);
        let mut publisher = publisher(host);
        send(&mut publisher, b"one");
        for receiver in &mut receivers {
            let (meta, bytes) = one(receiver);
            assert_eq!((meta.source, bytes), (publisher.local_address(), b"one".to_vec()));
        }
        let [receiver, other] = &mut receivers;
        send(&mut publisher, b"before");
        assert_eq!(one(other).1, b"before");
        receiver.leave().unwrap();
        assert!(!receiver.is_joined());
        assert!(receiver.leave().is_err(), "the group is already left");
        send(&mut publisher, b"meanwhile");
        assert_eq!(one(other).1, b"meanwhile");
        assert_eq!(one(receiver).1, b"before", "the datagram that arrived before");
        nothing(receiver);
        receiver.rejoin().unwrap();
        assert!(receiver.is_joined());
        assert!(receiver.rejoin().is_err(), "the group is still joined");
        assert!(receiver.is_joined());
        send(&mut publisher, b"after");
        assert_eq!(one(receiver).1, b"after");
    });
}

#[test]
#[ignore = "needs root"]
fn receives_only_from_joined_sources() {
    with_strict_stack(|host| {
        let mut others = joined(host, &[Ipv4Addr::new(10, 77, 0, 99)]).unwrap();
        let mut ours = joined(host, &[host.peer.address()]).unwrap();
        let mut publisher = publisher(host);
        send(&mut publisher, b"listed");
        assert_eq!(one(&mut ours).1, b"listed");
        nothing(&mut others);
        ours.leave().unwrap();
        ours.rejoin().unwrap();
        send(&mut publisher, b"still");
        assert_eq!(one(&mut ours).1, b"still");
    });
}

#[test]
#[ignore = "needs root"]
fn unspecified_interface_is_the_stacks() {
    with_strict_stack(|host| {
        let interface = Ipv4Addr::UNSPECIFIED;
        let group = MulticastGroup { group: GROUP, interface, sources: &[] };
        let mut receiver = UdpReceiver::join_with(&host.transport, group, options()).unwrap();
        send(&mut publisher(host), b"here");
        assert_eq!(one(&mut receiver).1, b"here");
        let member = MulticastGroup { group: GROUP, interface: host.peer.address(), sources: &[] };
        drop(receiver);
        let mut there = host.on_peer(|| UdpReceiver::join(member, options()));
        let mut sender = UdpSender::with_transport(&host.transport, GROUP, interface, 1).unwrap();
        send(&mut sender, b"there");
        let (meta, bytes) = one(&mut there);
        assert_eq!((meta.source, bytes), (sender.local_address(), b"there".to_vec()));
        assert_eq!(*sender.local_address().ip(), host.here);
    });
}

#[test]
#[ignore = "needs root"]
fn sender_reaches_group_and_host() {
    with_strict_stack(|host| {
        let member = MulticastGroup { group: GROUP, interface: host.peer.address(), sources: &[] };
        let mut there = host.on_peer(|| UdpReceiver::join(member, options()));
        let mut to_group = UdpSender::with_transport(&host.transport, GROUP, host.here, 1).unwrap();
        assert_eq!(to_group.remote_address(), GROUP);
        for length in [0, 1, 1_472] {
            send(&mut to_group, &numbered(length));
            let (meta, bytes) = one(&mut there);
            assert_eq!((meta.source, bytes.len()), (to_group.local_address(), length));
            assert!(bytes == numbered(length));
        }
        let to = host.peer_at(9_009);
        let plain = host.plain(9_009);
        let mut to_host = UdpSender::connect_with(&host.transport, to, host.here).unwrap();
        send(&mut to_host, b"host");
        let mut bytes = [0; 5];
        let local = SocketAddr::V4(to_host.local_address());
        assert_eq!(plain.recv_from(&mut bytes).unwrap(), (4, local));
        assert_eq!((*to_host.local_address().ip(), to_host.remote_address()), (host.here, to));
        for sender in [&mut to_group, &mut to_host] {
            assert!(sender.set_blocking(Some(Duration::from_millis(1))).unwrap().is_none());
            let error = sender.transmit(65_508, |_| panic!("fill must not be called")).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
        let error = UdpSender::with_transport(&host.transport, to, host.here, 1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    });
}

#[test]
#[ignore = "needs root"]
fn replies_to_more_clients_than_cached_destinations() {
    with_strict_stack(|host| {
        let mut pong = UdpSocket::bind_with(&host.transport, host.at(PORT), options()).unwrap();
        let clients: Vec<_> = (0..150).map(|index| host.plain(9_100 + index)).collect();
        for _ in 0..2 {
            for client in &clients {
                client.send_to(b"who am I?", host.at(PORT)).unwrap();
            }
            for (meta, _) in receive(&mut pong, clients.len()) {
                send_to(&mut pong, meta.source, &meta.source.port().to_be_bytes());
            }
            for client in &clients {
                let mut port = [0; 3];
                assert_eq!(client.recv(&mut port).unwrap(), 2);
                let own = client.local_addr().unwrap().port();
                assert_eq!(port[..2], own.to_be_bytes());
            }
        }
    });
}

#[test]
#[ignore = "needs root"]
fn truncates_and_counts_long_datagram() {
    with_stack(&StackSettings::default(), |host| {
        let short = UdpOptions { datagram_max: 100, ..options() };
        let mut receiver = UdpReceiver::bind_with(&host.transport, host.at(PORT), short).unwrap();
        let sender = host.plain(9_010);
        // The last datagram is sent in fragments, which the kernel delivers.
        for length in [99, 100, 101, 1_400, 3_000] {
            sender.send_to(&numbered(length), host.at(PORT)).unwrap();
            assert_eq!(one(&mut receiver).1, numbered(length.min(100)), "{length}");
        }
        assert_eq!((receiver.truncated(), receiver.dropped()), (3, 0));
    });
}

#[test]
#[ignore = "needs root"]
fn sends_long_datagram_in_fragments() {
    with_stack(&StackSettings::default(), |host| {
        let options = UdpOptions { datagram_max: 65_507, ..options() };
        let to = host.peer_at(9_011);
        let there = host.plain(9_011);
        let mut socket = UdpSocket::connect_with(&host.transport, host.at(0), to, options).unwrap();
        for length in [1_473, 20_000, 65_507] {
            send(&mut socket, &numbered(length));
            let mut bytes = vec![0; 65_535];
            assert_eq!(there.recv(&mut bytes).unwrap(), length);
            assert!(bytes[..length] == numbered(length));
            there.send_to(&bytes[..length], socket.local_address()).unwrap();
            assert!(one(&mut socket).1 == numbered(length));
        }
        let error = socket.transmit(65_508, |_| panic!("fill must not be called")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        let error =
            socket.transmit_to(to, 65_508, |_| panic!("fill must not be called")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    });
}

#[test]
#[ignore = "needs root"]
fn reports_buffer_and_counts_drops() {
    with_strict_stack(|host| {
        let small = UdpOptions { receive_buffer: Some(1 << 20), ..options() };
        let mut receiver = UdpReceiver::bind_with(&host.transport, host.at(PORT), small).unwrap();
        let buffer = receiver.receive_buffer();
        assert_eq!(
            (buffer.requested, buffer.granted, buffer.is_short()),
            (Some(1 << 20), 1 << 20, false)
        );
        let other = host.at(PORT + 1);
        let mut other = UdpReceiver::bind_with(&host.transport, other, options()).unwrap();
        let sender = host.plain(9_012);
        // The other socket takes the first socket's datagrams from the ring, until there is no room
        // for them.
        const COUNT: usize = 600;
        for number in 0..COUNT {
            sender.send_to(&number.to_be_bytes(), host.at(PORT)).unwrap();
            other.receive(1, |_, _| panic!("no datagram was sent to this socket")).unwrap();
        }
        eventually("a loss", || {
            other.receive(1, |_, _| {}).unwrap();
            receiver.dropped() > 0
        });
        let mut heard = Vec::new();
        while !receiver.receive(64, |_, bytes| heard.push(bytes.to_vec())).unwrap().drained {}
        assert_eq!(heard.len() + receiver.dropped() as usize, COUNT);
        assert!(heard.iter().enumerate().all(|(at, bytes)| bytes[..] == at.to_be_bytes()));
    });
}

fn utc_nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_nanos()).unwrap()
}

#[test]
#[ignore = "needs root"]
fn delivers_interface_timestamps_if_requested() {
    let receive_stamps = ReceiveStamps::Kernel;
    let interface = InterfaceSettings { receive_stamps, ..InterfaceSettings::default() };
    with_stack(&StackSettings { interface, strict: true, ..StackSettings::default() }, |host| {
        let hardware = UdpOptions { timestamping: Timestamping::Hardware, ..options() };
        let off = UdpOptions { timestamping: Timestamping::Off, ..options() };
        let of = |options, port| {
            UdpReceiver::bind_with(&host.transport, host.at(PORT + port), options).unwrap()
        };
        let sender = host.plain(9_013);
        for (port, options) in [(0, options()), (1, hardware)] {
            let mut receiver = of(options, port);
            assert_eq!(receiver.timestamping(), Timestamping::Software);
            let before = utc_nanos();
            sender.send_to(b"stamped", receiver.local_address()).unwrap();
            let (meta, _) = one(&mut receiver);
            let Timestamp::Software(at) = meta.timestamp else { panic!("{meta:?}") };
            assert!((before..=utc_nanos()).contains(&at.as_nanos()), "{before} {at}");
        }
        let mut receiver = of(off, 2);
        assert_eq!(receiver.timestamping(), Timestamping::Off);
        sender.send_to(b"no timestamp", receiver.local_address()).unwrap();
        assert_eq!(one(&mut receiver).0.timestamp, Timestamp::None);
    });
}

#[test]
#[ignore = "needs root"]
fn has_no_timestamps_without_interface_timestamps() {
    with_strict_stack(|host| {
        let to = host.peer_at(9_014);
        let there = host.plain(9_014);
        let mut socket =
            UdpSocket::connect_with(&host.transport, host.at(0), to, options()).unwrap();
        assert_eq!(socket.timestamping(), Timestamping::Off);
        there.send_to(b"no timestamp", socket.local_address()).unwrap();
        assert_eq!(one(&mut socket).0.timestamp, Timestamp::None);
        socket.set_transmit_timestamping(Timestamping::Software).unwrap();
        assert_eq!(socket.transmit_timestamping(), Timestamping::Off);
        send(&mut socket, b"sent");
        assert_eq!(socket.transmit_timestamps(|stamp| panic!("{stamp:?}")).unwrap(), 0);
        assert_eq!(socket.transmit_timestamps_discarded(), 0);
        let mut sender = UdpSender::connect_with(&host.transport, to, host.here).unwrap();
        sender.set_transmit_timestamping(Timestamping::Hardware).unwrap();
        assert_eq!(sender.transmit_timestamping(), Timestamping::Off);
        assert_eq!(sender.transmit_timestamps(|stamp| panic!("{stamp:?}")).unwrap(), 0);
    });
}

#[test]
#[ignore = "needs root"]
fn blocker_waits_for_data_or_timeout() {
    with_strict_stack(|host| {
        let mut receiver =
            UdpReceiver::bind_with(&host.transport, host.at(PORT), options()).unwrap();
        let blocker = receiver.set_blocking(Some(Duration::from_millis(1))).unwrap().unwrap();
        assert!(blocker.block());
        nothing(&mut receiver);
        let patient = Duration::from_secs(3_600);
        let blocker = receiver.set_blocking(Some(patient)).unwrap().unwrap_or(blocker);
        let sender = host.plain(9_015);
        sender.send_to(b"first", host.at(PORT)).unwrap();
        assert!(
            blocker.block() && blocker.block(),
            "block returns immediately while data are undelivered"
        );
        assert_eq!(one(&mut receiver).1, b"first");
        sender.send_to(b"second", host.at(PORT)).unwrap();
        assert!(blocker.block());
        // Data found by the wait stay available after it, although they are no longer on the ring.
        let other = host.at(PORT + 1);
        let mut other = UdpReceiver::bind_with(&host.transport, other, options()).unwrap();
        nothing(&mut other);
        assert!(receiver.set_blocking(None).unwrap().is_none());
        assert!(is_readable(&receiver));
        assert_eq!(one(&mut receiver).1, b"second");
        let blocker = receiver.set_blocking(Some(patient)).unwrap().unwrap();
        drop(receiver);
        assert!(!blocker.block());
    });
}

#[test]
#[ignore = "needs root"]
fn descriptor_is_readable_while_data_are_pending() {
    with_strict_stack(|host| {
        let bind =
            |port| UdpReceiver::bind_with(&host.transport, host.at(port), options()).unwrap();
        let [mut first, mut second] = [PORT, PORT + 1].map(bind);
        let sender = host.plain(9_016);
        assert!(!is_readable(&first) && !is_readable(&second));
        let to_second = |bytes: &[u8]| sender.send_to(bytes, host.at(PORT + 1)).unwrap();
        to_second(b"for the second");
        eventually("a frame", || is_readable(&second));
        nothing(&mut first);
        assert!(is_readable(&second) && !is_readable(&first));
        assert_eq!(one(&mut second).1, b"for the second");
        assert!(!is_readable(&second));
        // A spinning socket is not woken. When it stops spinning, its descriptor shows what arrived
        // in the meantime.
        second.set_spinning(true);
        to_second(b"while it spins");
        eventually("a frame", || is_readable(&first));
        nothing(&mut first);
        assert!(!is_readable(&second));
        second.set_spinning(false);
        assert!(is_readable(&second));
        assert_eq!(one(&mut second).1, b"while it spins");
        nothing(&mut second);
        assert!(!is_readable(&second));
    });
}

#[test]
#[ignore = "needs root"]
fn budget_limits_delivery() {
    with_strict_stack(|host| {
        let mut receiver =
            UdpReceiver::bind_with(&host.transport, host.at(PORT), options()).unwrap();
        let sender = host.plain(9_017);
        (0..70_u8).for_each(|number| {
            sender.send_to(&[number], host.at(PORT)).unwrap();
        });
        let mut heard = Vec::new();
        for budget in [0, 1, 3, 40] {
            let received = receiver.receive(budget, |_, bytes| heard.push(bytes[0])).unwrap();
            assert!(received.count <= budget && !received.drained && !received.closed);
            assert!(is_readable(&receiver));
        }
        heard.extend(receive(&mut receiver, 70 - heard.len()).iter().map(|(_, bytes)| bytes[0]));
        assert!(heard.into_iter().eq(0..70));
    });
}

#[test]
fn default_transport_is_kernel() {
    assert_eq!(Transport::default(), Transport::Kernel);
}

#[test]
#[ignore = "needs root"]
fn transport_equals_its_clone() {
    with_strict_stack(|host| {
        assert_eq!(host.transport, host.transport.clone());
        assert_ne!(host.transport, Transport::Kernel);
    });
}
