//! Changes of the network while connections are taken over, long frames and forged segments.

use std::io::{ErrorKind, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use hairpin_stack::{Mode, PathEvent, Stack, StackSettings, TcpSocket};
use hairpin_testbed::{Offloads, Testbed, scaled};
use hairpin_testkit::Random;
use hairpin_wire::{Ipv4Header, Protocol, Sum, TcpFlags, TcpHeader};
use socket2::{Domain, Socket, Type};

use super::{
    bytes, connect, each_configuration, echo, expect, ping_pong, pull_from, take_over, testbed,
};
use crate::support::{
    MODES, addresses, bind, eventually, is_reported, next, open, settings, stack,
};

/// Sends bytes to an echo and receives them, whatever path they take.
fn exchange(socket: &mut TcpSocket, position: &mut u64, length: usize) {
    super::send_all(socket, &bytes(*position, length));
    expect(socket, *position, length);
    *position += length as u64;
}

/// Connects the first host to an echo on the second and takes the connection over.
fn bypassing(testbed: &Testbed, stack: &Stack) -> (TcpSocket, JoinHandle<u64>) {
    let [near, far] = connect(testbed, 0);
    let far = echo(far);
    let mut socket = stack.adopt_tcp(near).unwrap();
    take_over(&testbed.hosts()[0], &mut socket);
    (socket, far)
}

#[test]
#[ignore = "needs root"]
fn bytes_sent_while_an_interface_is_down_arrive_after_it() {
    each_configuration(|testbed, mode| {
        let stack = stack(&testbed.hosts()[0], mode);
        for host in testbed.hosts() {
            let (mut socket, far) = bypassing(testbed, &stack);
            let mut position = 0;
            ping_pong(&mut socket, &mut position, 3, 64);
            let (mut rtnetlink, index) = (host.rtnetlink().unwrap(), host.interface_index());
            rtnetlink.set_down(index).unwrap();
            assert!(is_reported(&stack, |event| *event == PathEvent::Down));
            super::send_all(&mut socket, &bytes(position, 3_000));
            for _ in 0..100 {
                let received = socket.receive(|_| panic!("the interface is down"));
                assert_eq!(received.unwrap_err().kind(), ErrorKind::WouldBlock);
                std::thread::sleep(Duration::from_millis(1));
            }
            rtnetlink.set_up(index).unwrap();
            host.wait_until_up().unwrap();
            expect(&mut socket, position, 3_000);
            position += 3_000;
            exchange(&mut socket, &mut position, 100);
            drop(socket);
            assert_eq!(far.join().unwrap(), position);
        }
    });
}

#[test]
#[ignore = "needs root"]
fn lower_mtu_and_new_neighbor_address_lose_no_byte() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let (mut socket, far) = bypassing(testbed, &stack);
        let mut position = 0;
        exchange(&mut socket, &mut position, 5_000);
        // The peer's Ethernet address changes, and the kernel learns the new one.
        let mac = [2, 0x77, 0, 0, 0, 9];
        theirs.rtnetlink().unwrap().set_mac(theirs.interface_index(), mac).unwrap();
        let state = hairpin_testbed::NudState::Reachable;
        let (mut rtnetlink, index) = (ours.rtnetlink().unwrap(), ours.interface_index());
        rtnetlink.set_neighbor(index, theirs.address().into(), mac, state).unwrap();
        exchange(&mut socket, &mut position, 5_000);
        // Segments of the old size no longer fit the path.
        for host in [ours, theirs] {
            host.rtnetlink().unwrap().set_mtu(host.interface_index(), 1_000).unwrap();
        }
        exchange(&mut socket, &mut position, 20_000);
        let counters = stack.tcp_counters();
        assert!(counters.path_changed + counters.timed_out > 0, "{counters:?}");
        drop(socket);
        assert_eq!(far.join().unwrap(), position);
    });
}

/// Reads a stream that the peer writes, while the connection is taken over.
fn read_stream(mut near: TcpSocket, mut far: TcpStream) {
    const LENGTH: usize = 2 << 20;
    let writer = std::thread::spawn(move || {
        far.write_all(&bytes(0, LENGTH)).unwrap();
        far
    });
    let mut position = 0;
    assert!(eventually(|| {
        for _ in 0..100 {
            pull_from(&mut near, &mut position);
        }
        position == LENGTH as u64
    }));
    assert!(near.is_bypassing(), "{:?}", near.last_handback());
    writer.join().unwrap();
}

#[test]
#[ignore = "needs root"]
fn long_frames_of_a_kernel_peer_are_received_in_both_modes() {
    for mode in [Mode::Generic, Mode::Auto] {
        // With segmentation offload, as a veth has it.
        let testbed = Testbed::builder().ipv6().build().unwrap();
        let [client, _] = testbed.hosts();
        let stack = open(client, &StackSettings { tcp: true, ..settings(mode) });
        let [near, far] = connect(&testbed, 0);
        let mut socket = stack.adopt_tcp(near).unwrap();
        let reported = std::iter::from_fn(|| stack.next_event())
            .any(|event| matches!(event, PathEvent::LongFrames { .. }));
        assert!(!reported, "{mode:?}");
        take_over(client, &mut socket);
        read_stream(socket, far);
        let counters = stack.tcp_counters();
        println!("{mode:?}: {counters:?}");
        assert_eq!(counters.long_frames, 0, "{counters:?}");
    }
}

/// The peer sends packets of its whole MTU, with checksums, as on a wire.
#[test]
#[ignore = "needs root"]
fn jumbo_frames_lose_no_byte() {
    for (mtu, mode) in [3_498, 9_000].into_iter().flat_map(|mtu| MODES.map(|mode| (mtu, mode))) {
        let testbed = Testbed::builder().mtu(mtu).offloads(Offloads::OFF).ipv6().build().unwrap();
        let [client, _] = testbed.hosts();
        let stack = open(client, &StackSettings { tcp: true, ..settings(mode) });
        let (mut socket, far) = bypassing(&testbed, &stack);
        let mut position = 0;
        for length in [1, 1_400, 3_400, 3_900, 8_900, 9_100, 30_000].repeat(20) {
            exchange(&mut socket, &mut position, length);
        }
        assert!(socket.is_bypassing(), "{mtu}, {mode}: {:?}", socket.last_handback());
        let counters = stack.tcp_counters();
        assert_eq!(counters.long_frames, 0, "{mtu}, {mode}: {counters:?}");
        drop(socket);
        assert_eq!(far.join().unwrap(), position);
    }
}

/// Writes a forged packet of a flow.
fn forge(random: &mut Random, from: SocketAddr, to: SocketAddr) -> Vec<u8> {
    let (IpAddr::V4(source), IpAddr::V4(destination)) = (from.ip(), to.ip()) else {
        panic!("IPv4 only");
    };
    let options = 4 * random.below(4) as usize;
    let payload = [0, 0, 1, 40, 1_000][random.below(5) as usize];
    let length = TcpHeader::SIZE + options + payload;
    let mut segment: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
    let (header, _) = TcpHeader::split_mut(&mut segment).unwrap();
    header.set_source_port(from.port());
    header.set_destination_port(to.port());
    header.set_header_length(TcpHeader::SIZE + options);
    // Every combination but SYN, which the kernel answers.
    header.set_flags(TcpFlags(random.below(256) as u8 & !TcpFlags::SYN.0));
    header.set_checksum(0);
    let pseudo = Sum::pseudo_ipv4(source, destination, Protocol::TCP, length as u16);
    let checksum = pseudo.bytes(&segment).checksum();
    TcpHeader::split_mut(&mut segment).unwrap().0.set_checksum(checksum);
    let mut packet = vec![0; Ipv4Header::SIZE];
    packet[0] = 0x45;
    packet[2..4].copy_from_slice(&((Ipv4Header::SIZE + length) as u16).to_be_bytes());
    packet[8..10].copy_from_slice(&[64, 6]);
    packet[12..16].copy_from_slice(&source.octets());
    packet[16..20].copy_from_slice(&destination.octets());
    packet.extend(segment);
    packet
}

#[test]
#[ignore = "needs root"]
fn forged_segments_lose_no_byte() {
    each_configuration(|testbed, mode| {
        let [client, server] = testbed.hosts();
        let stack = stack(client, mode);
        let (mut socket, far) = bypassing(testbed, &stack);
        let local = socket.kernel_socket().local_addr().unwrap();
        let remote = socket.peer_address().unwrap();
        let open = || Socket::new(Domain::IPV4, Type::RAW, Some(libc::IPPROTO_RAW.into()));
        let forger = server.run(open).unwrap().unwrap();
        let (mut random, mut position) = (Random::new(9), 0);
        for round in 0..scaled(250) {
            for _ in 0..20 {
                let packet = forge(&mut random, remote, local);
                let to = SocketAddr::new(local.ip(), 0);
                let _ = forger.send_to(&packet, &to.into());
            }
            exchange(&mut socket, &mut position, 1 + (round % 1_400) as usize);
            if !socket.is_bypassing() {
                take_over(client, &mut socket);
            }
        }
        println!("{mode:?}: {:?}, {:?}", socket.counters(), stack.tcp_counters());
        drop(socket);
        assert_eq!(far.join().unwrap(), position);
    });
}

/// Few frames are posted for reception while all sockets are TCP connections.
#[test]
#[ignore = "needs root"]
fn burst_of_datagrams_is_received_beside_a_connection() {
    const COUNT: u16 = 400;
    for mode in MODES {
        let testbed = testbed(1);
        let [client, server] = testbed.hosts();
        let stack = stack(client, mode);
        let (mut socket, peer) = bypassing(&testbed, &stack);
        // The frames that were posted before are used up.
        ping_pong(&mut socket, &mut 0, 1_500, 100);
        let mut datagrams = bind(client, &stack, (addresses(client)[0], 0));
        let to = datagrams.local_address();
        let sender = server.run(|| std::net::UdpSocket::bind((addresses(server)[0], 0)));
        let sender = sender.unwrap().unwrap();
        for number in 0..COUNT {
            sender.send_to(&number.to_be_bytes(), to).unwrap();
        }
        for number in 0..COUNT {
            let (_, payload) = next(&mut datagrams).unwrap();
            assert_eq!(payload, number.to_be_bytes());
        }
        assert!(socket.is_bypassing());
        drop(socket);
        assert_eq!(peer.join().unwrap(), 150_000);
    }
}
