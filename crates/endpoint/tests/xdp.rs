//! Each endpoint past the kernel, with peers of the kernel on another host, as root.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod past;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{SystemTime, UNIX_EPOCH};

use hairpin_endpoint::xdp::{InterfaceSettings, Mode, ReceiveStamps, StackSettings};
use hairpin_endpoint::{
    MulticastGroup, Receive, Source, Timestamp, Timestamping, Transmit, Transport, UdpOptions,
    UdpReceiver, UdpSender, UdpSocket,
};
use hairpin_time::Duration;
use past::{GROUP, PORT, Past, eventually, nothing, one, past, receive, send, strictly};

fn options() -> UdpOptions {
    UdpOptions::default()
}

fn send_to(socket: &mut UdpSocket, to: SocketAddrV4, bytes: &[u8]) {
    socket.transmit_to(to, bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
}

fn numbered(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

/// Whether a descriptor is readable now.
fn is_readable(source: &impl AsFd) -> bool {
    let mut poll =
        libc::pollfd { fd: source.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which lives through the call.
    unsafe { libc::poll(&raw mut poll, 1, 0) == 1 }
}

#[test]
#[ignore = "needs root"]
fn a_question_is_answered_to_whoever_asked() {
    for mode in [Mode::Native, Mode::Generic] {
        let interface = InterfaceSettings { mode, ..InterfaceSettings::default() };
        past(&StackSettings { interface, strict: true, ..StackSettings::default() }, |past| {
            let mut pong = UdpSocket::bind_by(&past.transport, past.at(PORT), options()).unwrap();
            assert_eq!((pong.local_address(), pong.remote_address()), (past.at(PORT), None));
            let asker = past.plain(9_000);
            for length in [0, 1, 64, 1_472] {
                let question = numbered(length);
                asker.send_to(&question, pong.local_address()).unwrap();
                let (meta, heard) = one(&mut pong);
                assert_eq!((meta.source, heard.len()), (past.peer_at(9_000), length));
                assert!(heard == question);
                send_to(&mut pong, meta.source, &heard);
                let mut answer = [0; 2_000];
                let (came, from) = asker.recv_from(&mut answer).unwrap();
                assert!(answer[..came] == question);
                assert_eq!(from, SocketAddr::V4(past.at(PORT)));
            }
            nothing(&mut pong);
            let error = pong.transmit(1, |_| {}).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotConnected);
        });
    }
}

#[test]
#[ignore = "needs root"]
fn a_connected_socket_hears_its_peer_alone_and_sends_to_it() {
    strictly(|past| {
        let peer = past.plain(9_001);
        let stranger = past.plain(9_002);
        let anywhere = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0);
        let mut socket =
            UdpSocket::connect_by(&past.transport, anywhere, past.peer_at(9_001), options())
                .unwrap();
        let local = socket.local_address();
        assert_eq!((*local.ip(), local.port() != 0), (past.here, true));
        assert_eq!(socket.remote_address(), Some(past.peer_at(9_001)));
        stranger.send_to(b"stranger", local).unwrap();
        peer.send_to(b"peer", local).unwrap();
        assert_eq!(one(&mut socket).1, b"peer");
        nothing(&mut socket);
        send(&mut socket, b"home");
        let mut bytes = [0; 9];
        assert_eq!(peer.recv_from(&mut bytes).unwrap(), (4, SocketAddr::V4(local)));
        let group = SocketAddrV4::new(*GROUP.ip(), 1);
        let error = UdpSocket::connect_by(&past.transport, anywhere, group, options());
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    });
}

#[test]
#[ignore = "needs root"]
fn a_connected_socket_sends_elsewhere_through_the_kernel() {
    past(&StackSettings::default(), |past| {
        let elsewhere = past.plain(9_003);
        let mut socket =
            UdpSocket::connect_by(&past.transport, past.at(0), past.peer_at(9_004), options())
                .unwrap();
        assert!(past.notices().is_empty());
        send_to(&mut socket, past.peer_at(9_003), b"elsewhere");
        let mut bytes = [0; 10];
        let local = SocketAddr::V4(socket.local_address());
        assert_eq!(elsewhere.recv_from(&mut bytes).unwrap(), (9, local));
        let told = format!(
            "sending to {} falls back to the kernel: the socket is connected to another peer",
            past.peer_at(9_003)
        );
        assert_eq!(past.notices(), [told]);
    });
}

#[test]
#[ignore = "needs root"]
fn who_is_not_there_refuses_once() {
    strictly(|past| {
        let nobody = past.peer_at(9_005);
        let mut socket =
            UdpSocket::connect_by(&past.transport, past.at(0), nobody, options()).unwrap();
        send(&mut socket, b"anybody?");
        let mut refused = None;
        eventually("the refusal", || {
            refused = socket.receive(8, |_, _| {}).err();
            refused.is_some()
        });
        assert_eq!(refused.unwrap().kind(), io::ErrorKind::ConnectionRefused);
        nothing(&mut socket);
        let peer = past.plain(9_005);
        peer.send_to(b"now", socket.local_address()).unwrap();
        assert_eq!(one(&mut socket).1, b"now");
    });
}

#[test]
#[ignore = "needs root"]
fn a_bound_receiver_hears_everybody() {
    strictly(|past| {
        let mut receiver = UdpReceiver::bind_by(&past.transport, past.at(0), options()).unwrap();
        let to = receiver.local_address();
        assert_eq!((*to.ip(), to.port() != 0, receiver.is_joined()), (past.here, true, false));
        for port in [9_006, 9_007] {
            past.plain(port).send_to(&port.to_be_bytes(), to).unwrap();
            let (meta, bytes) = one(&mut receiver);
            assert_eq!((meta.source, bytes), (past.peer_at(port), port.to_be_bytes().to_vec()));
        }
        assert!(receiver.leave().is_ok() && receiver.rejoin().is_ok());
        let mut anywhere = UdpReceiver::bind_by(
            &past.transport,
            SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, PORT),
            options(),
        )
        .unwrap();
        past.plain(9_008).send_to(b"anywhere", past.at(PORT)).unwrap();
        assert_eq!(one(&mut anywhere).1, b"anywhere");
    });
}

fn publisher(past: &Past<'_>) -> UdpSender {
    past.on_peer(|| UdpSender::new(GROUP, past.peer.address(), 1))
}

fn joined(past: &Past<'_>, sources: &[Ipv4Addr]) -> io::Result<UdpReceiver> {
    let group = MulticastGroup { group: GROUP, interface: past.here, sources };
    UdpReceiver::join_by(&past.transport, group, options())
}

#[test]
#[ignore = "needs root"]
fn a_group_is_received_until_it_is_left_and_again_when_it_is_rejoined() {
    strictly(|past| {
        let mut receivers = [(); 2].map(|()| joined(past, &[]).unwrap());
        assert!(receivers.iter().all(UdpReceiver::is_joined));
        assert_eq!(receivers[0].local_address(), GROUP);
        let mut publisher = publisher(past);
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
        assert!(receiver.leave().is_err(), "it was left before");
        send(&mut publisher, b"meanwhile");
        assert_eq!(one(other).1, b"meanwhile");
        assert_eq!(one(receiver).1, b"before", "what had come before");
        nothing(receiver);
        receiver.rejoin().unwrap();
        assert!(receiver.is_joined());
        assert!(receiver.rejoin().is_err(), "it has not been left");
        assert!(receiver.is_joined());
        send(&mut publisher, b"after");
        assert_eq!(one(receiver).1, b"after");
    });
}

#[test]
#[ignore = "needs root"]
fn a_group_is_received_from_its_sources_alone() {
    strictly(|past| {
        let mut others = joined(past, &[Ipv4Addr::new(10, 77, 0, 99)]).unwrap();
        let mut ours = joined(past, &[past.peer.address()]).unwrap();
        let mut publisher = publisher(past);
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
fn the_stacks_interface_is_meant_when_none_is_named() {
    strictly(|past| {
        let interface = Ipv4Addr::UNSPECIFIED;
        let group = MulticastGroup { group: GROUP, interface, sources: &[] };
        let mut receiver = UdpReceiver::join_by(&past.transport, group, options()).unwrap();
        send(&mut publisher(past), b"here");
        assert_eq!(one(&mut receiver).1, b"here");
        let member = MulticastGroup { group: GROUP, interface: past.peer.address(), sources: &[] };
        drop(receiver);
        let mut there = past.on_peer(|| UdpReceiver::join(member, options()));
        let mut sender = UdpSender::new_by(&past.transport, GROUP, interface, 1).unwrap();
        send(&mut sender, b"there");
        let (meta, bytes) = one(&mut there);
        assert_eq!((meta.source, bytes), (sender.local_address(), b"there".to_vec()));
        assert_eq!(*sender.local_address().ip(), past.here);
    });
}

#[test]
#[ignore = "needs root"]
fn a_sender_reaches_a_group_and_a_host() {
    strictly(|past| {
        let member = MulticastGroup { group: GROUP, interface: past.peer.address(), sources: &[] };
        let mut there = past.on_peer(|| UdpReceiver::join(member, options()));
        let mut to_group = UdpSender::new_by(&past.transport, GROUP, past.here, 1).unwrap();
        assert_eq!(to_group.remote_address(), GROUP);
        for length in [0, 1, 1_472] {
            send(&mut to_group, &numbered(length));
            let (meta, bytes) = one(&mut there);
            assert_eq!((meta.source, bytes.len()), (to_group.local_address(), length));
            assert!(bytes == numbered(length));
        }
        let to = past.peer_at(9_009);
        let plain = past.plain(9_009);
        let mut to_host = UdpSender::connect_by(&past.transport, to, past.here).unwrap();
        send(&mut to_host, b"host");
        let mut bytes = [0; 5];
        let local = SocketAddr::V4(to_host.local_address());
        assert_eq!(plain.recv_from(&mut bytes).unwrap(), (4, local));
        assert_eq!((*to_host.local_address().ip(), to_host.remote_address()), (past.here, to));
        for sender in [&mut to_group, &mut to_host] {
            assert!(sender.set_blocking(Some(Duration::from_millis(1))).unwrap().is_none());
            let error = sender.transmit(65_508, |_| panic!("must not be filled")).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
        let error = UdpSender::new_by(&past.transport, to, past.here, 1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    });
}

#[test]
#[ignore = "needs root"]
fn more_askers_than_are_remembered_get_each_its_own_answer() {
    strictly(|past| {
        let mut pong = UdpSocket::bind_by(&past.transport, past.at(PORT), options()).unwrap();
        let askers: Vec<_> = (0..150).map(|index| past.plain(9_100 + index)).collect();
        for _ in 0..2 {
            for asker in &askers {
                asker.send_to(b"who am I?", past.at(PORT)).unwrap();
            }
            for (meta, _) in receive(&mut pong, askers.len()) {
                send_to(&mut pong, meta.source, &meta.source.port().to_be_bytes());
            }
            for asker in &askers {
                let mut port = [0; 3];
                assert_eq!(asker.recv(&mut port).unwrap(), 2);
                let own = asker.local_addr().unwrap().port();
                assert_eq!(port[..2], own.to_be_bytes());
            }
        }
    });
}

#[test]
#[ignore = "needs root"]
fn a_long_datagram_is_cut_and_counted() {
    past(&StackSettings::default(), |past| {
        let short = UdpOptions { datagram_max: 100, ..options() };
        let mut receiver = UdpReceiver::bind_by(&past.transport, past.at(PORT), short).unwrap();
        let sender = past.plain(9_010);
        // The last goes in fragments, which the kernel brings.
        for length in [99, 100, 101, 1_400, 3_000] {
            sender.send_to(&numbered(length), past.at(PORT)).unwrap();
            assert_eq!(one(&mut receiver).1, numbered(length.min(100)), "{length}");
        }
        assert_eq!((receiver.truncated(), receiver.dropped()), (3, 0));
    });
}

#[test]
#[ignore = "needs root"]
fn what_is_too_long_for_a_packet_goes_in_fragments() {
    past(&StackSettings::default(), |past| {
        let options = UdpOptions { datagram_max: 65_507, ..options() };
        let to = past.peer_at(9_011);
        let there = past.plain(9_011);
        let mut socket = UdpSocket::connect_by(&past.transport, past.at(0), to, options).unwrap();
        for length in [1_473, 20_000, 65_507] {
            send(&mut socket, &numbered(length));
            let mut bytes = vec![0; 65_535];
            assert_eq!(there.recv(&mut bytes).unwrap(), length);
            assert!(bytes[..length] == numbered(length));
            there.send_to(&bytes[..length], socket.local_address()).unwrap();
            assert!(one(&mut socket).1 == numbered(length));
        }
        let error = socket.transmit(65_508, |_| panic!("must not be filled")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        let error = socket.transmit_to(to, 65_508, |_| panic!("must not be filled")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    });
}

#[test]
#[ignore = "needs root"]
fn the_buffer_is_granted_and_what_finds_no_room_is_counted() {
    strictly(|past| {
        let small = UdpOptions { receive_buffer: Some(1 << 20), ..options() };
        let mut receiver = UdpReceiver::bind_by(&past.transport, past.at(PORT), small).unwrap();
        let buffer = receiver.receive_buffer();
        assert_eq!(
            (buffer.asked, buffer.granted, buffer.is_short()),
            (Some(1 << 20), 1 << 20, false)
        );
        let other = past.at(PORT + 1);
        let mut other = UdpReceiver::bind_by(&past.transport, other, options()).unwrap();
        let sender = past.plain(9_012);
        // The other takes the first one's datagrams off the ring, until there is no place for them.
        const COUNT: usize = 600;
        for number in 0..COUNT {
            sender.send_to(&number.to_be_bytes(), past.at(PORT)).unwrap();
            other.receive(1, |_, _| panic!("nothing was sent there")).unwrap();
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
fn what_the_interface_stamps_is_told_to_who_wants_it() {
    let receive_stamps = ReceiveStamps::Kernel;
    let interface = InterfaceSettings { receive_stamps, ..InterfaceSettings::default() };
    past(&StackSettings { interface, strict: true, ..StackSettings::default() }, |past| {
        let hardware = UdpOptions { timestamping: Timestamping::Hardware, ..options() };
        let off = UdpOptions { timestamping: Timestamping::Off, ..options() };
        let of = |options, port| {
            UdpReceiver::bind_by(&past.transport, past.at(PORT + port), options).unwrap()
        };
        let sender = past.plain(9_013);
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
        sender.send_to(b"not stamped", receiver.local_address()).unwrap();
        assert_eq!(one(&mut receiver).0.timestamp, Timestamp::None);
    });
}

#[test]
#[ignore = "needs root"]
fn without_stamps_of_the_interface_there_are_none_and_what_is_sent_has_none() {
    strictly(|past| {
        let to = past.peer_at(9_014);
        let there = past.plain(9_014);
        let mut socket = UdpSocket::connect_by(&past.transport, past.at(0), to, options()).unwrap();
        assert_eq!(socket.timestamping(), Timestamping::Off);
        there.send_to(b"not stamped", socket.local_address()).unwrap();
        assert_eq!(one(&mut socket).0.timestamp, Timestamp::None);
        socket.set_transmit_timestamping(Timestamping::Software).unwrap();
        assert_eq!(socket.transmit_timestamping(), Timestamping::Off);
        send(&mut socket, b"sent");
        assert_eq!(socket.transmit_timestamps(|stamp| panic!("{stamp:?}")).unwrap(), 0);
        assert_eq!(socket.transmit_timestamps_lost(), 0);
        let mut sender = UdpSender::connect_by(&past.transport, to, past.here).unwrap();
        sender.set_transmit_timestamping(Timestamping::Hardware).unwrap();
        assert_eq!(sender.transmit_timestamping(), Timestamping::Off);
        assert_eq!(sender.transmit_timestamps(|stamp| panic!("{stamp:?}")).unwrap(), 0);
    });
}

#[test]
#[ignore = "needs root"]
fn a_blocker_waits_for_what_comes_and_no_longer_than_its_timeout() {
    strictly(|past| {
        let mut receiver = UdpReceiver::bind_by(&past.transport, past.at(PORT), options()).unwrap();
        let blocker = receiver.set_blocking(Some(Duration::from_millis(1))).unwrap().unwrap();
        assert!(blocker.block());
        nothing(&mut receiver);
        let patient = Duration::from_secs(3_600);
        let blocker = receiver.set_blocking(Some(patient)).unwrap().unwrap_or(blocker);
        let sender = past.plain(9_015);
        sender.send_to(b"first", past.at(PORT)).unwrap();
        assert!(blocker.block() && blocker.block(), "at once while something is undelivered");
        assert_eq!(one(&mut receiver).1, b"first");
        sender.send_to(b"second", past.at(PORT)).unwrap();
        assert!(blocker.block());
        // What the wait has found is not forgotten when it ends, though it is off the ring.
        let other = past.at(PORT + 1);
        let mut other = UdpReceiver::bind_by(&past.transport, other, options()).unwrap();
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
fn the_descriptor_is_readable_while_there_is_something_whoever_took_it_off_the_ring() {
    strictly(|past| {
        let bind = |port| UdpReceiver::bind_by(&past.transport, past.at(port), options()).unwrap();
        let [mut first, mut second] = [PORT, PORT + 1].map(bind);
        let sender = past.plain(9_016);
        assert!(!is_readable(&first) && !is_readable(&second));
        let to_second = |bytes: &[u8]| sender.send_to(bytes, past.at(PORT + 1)).unwrap();
        to_second(b"for the second");
        eventually("a frame", || is_readable(&second));
        nothing(&mut first);
        assert!(is_readable(&second) && !is_readable(&first));
        assert_eq!(one(&mut second).1, b"for the second");
        assert!(!is_readable(&second));
        // Who spins is not woken, and whoever stops to finds what came meanwhile.
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
fn a_budget_is_kept_and_what_is_left_comes_next() {
    strictly(|past| {
        let mut receiver = UdpReceiver::bind_by(&past.transport, past.at(PORT), options()).unwrap();
        let sender = past.plain(9_017);
        (0..70_u8).for_each(|number| {
            sender.send_to(&[number], past.at(PORT)).unwrap();
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
fn a_transport_is_the_kernel_unless_said() {
    assert_eq!(Transport::default(), Transport::Kernel);
}

#[test]
#[ignore = "needs root"]
fn a_transport_equals_its_clone() {
    strictly(|past| {
        assert_eq!(past.transport, past.transport.clone());
        assert_ne!(past.transport, Transport::Kernel);
    });
}
