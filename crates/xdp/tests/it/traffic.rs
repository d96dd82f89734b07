//! Redirected frames between two hosts, and traffic that stays with the kernel.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use hairpin_testbed::Host;
use hairpin_xdp::{Entry, Interface, Mode, Protocol};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::support::{RAW, TIMEOUT, eventually, is_nothing, next, open, raw, send, testbed};

/// Both hosts send frames of every length on each queue, never more than the peer has memory for.
/// All arrive in order and byte for byte.
///
/// In native mode a frame arrives on the peer's queue of the same number. In generic mode a veth's
/// frames arrive on the queue before that.
fn exchange_raw(queues: u32, modes: [Mode; 2]) {
    const COUNT: u32 = 3_000;
    const AHEAD: u32 = 100;
    let testbed = testbed(queues);
    let mut ends = [0, 1].map(|end| open(&testbed.hosts()[end], modes[end]));
    for (end, mode) in ends.iter().zip(modes) {
        assert_eq!((end.link().mode(), end.sockets().len() as u32), (mode, queues));
        assert!(!end.is_zero_copy(), "a veth copies");
        end.redirect(&RAW).unwrap();
    }
    let [mut sent, mut received] = [[[0; 2]; 2]; 2];
    let all = [[COUNT; 2], [if queues == 2 { COUNT } else { 0 }; 2]];
    let done = eventually(|| {
        for from in 0..2 {
            for queue in 0..queues as usize {
                let (sent, received) = (&mut sent[queue][from], received[queue][1 - from]);
                while *sent < COUNT
                    && *sent < received + AHEAD
                    && send(&mut ends[from], queue as u32, &raw(*sent, queue as u32))
                {
                    *sent += 1;
                }
            }
            ends[from].flush().unwrap();
        }
        for (to, end) in ends.iter_mut().enumerate() {
            while let Some((by, packet)) = end.receive().unwrap() {
                let queue = u32::from_be_bytes(*end.bytes(&packet)[18..].first_chunk().unwrap());
                assert!(
                    by == queue || modes[to] == Mode::Generic,
                    "sent on {queue}, arrived on {by}"
                );
                let number = &mut received[queue as usize][to];
                assert!(end.bytes(&packet) == raw(*number, queue), "{number} of queue {queue}");
                *number += 1;
                end.release(packet.into_frame());
            }
        }
        received == all
    });
    assert!(done, "received {received:?} of {all:?}");
    for end in &ends {
        for socket in end.sockets() {
            let counted = socket.statistics().unwrap();
            assert_eq!((counted.receive_dropped, counted.receive_ring_full), (0, 0));
            assert_eq!((counted.receive_invalid, counted.transmit_invalid), (0, 0));
            assert_eq!(socket.invalid(), 0);
        }
    }
}

#[test]
#[ignore = "needs root"]
fn raw_frames_arrive_on_one_queue() {
    exchange_raw(1, [Mode::Native; 2]);
    exchange_raw(1, [Mode::Generic; 2]);
}

#[test]
#[ignore = "needs root"]
fn raw_frames_arrive_on_two_queues() {
    exchange_raw(2, [Mode::Native; 2]);
    exchange_raw(2, [Mode::Generic; 2]);
    exchange_raw(2, [Mode::Generic, Mode::Native]);
}

fn udp(host: &Host, port: u16) -> UdpSocket {
    let socket = host.run(|| UdpSocket::bind((host.address(), port))).unwrap().unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    socket
}

fn port(host: &Host, port: u16) -> Entry {
    let local = SocketAddr::new(host.address().into(), port);
    Entry::Local { protocol: Protocol::Udp, vlan: None, local }
}

/// Exchanges source and destination in all three headers; no checksum changes.
fn swap_endpoints(frame: &mut [u8]) {
    frame[..12].rotate_left(6);
    frame[26..34].rotate_left(4);
    frame[34..38].rotate_left(2);
}

/// Sends `count` datagrams back.
fn echo(interface: &mut Interface, count: usize) {
    for _ in 0..count {
        let (queue, mut packet) = next(interface).expect("a datagram arrives");
        swap_endpoints(interface.bytes_mut(&mut packet));
        interface.transmit(queue, packet).unwrap();
        interface.flush().unwrap();
    }
}

/// Returns `true` if the host answers a ping.
fn pings(from: &Host, to: &Host) -> bool {
    // An echo request, identifier 7, sequence 9, and its checksum.
    let mut request = [8, 0, 0, 0, 0, 7, 0, 9];
    request[2..4].copy_from_slice(&(!(0x0800_u16 + 7 + 9)).to_be_bytes());
    let protocol = Some(socket2::Protocol::ICMPV4);
    let socket = from.run(|| Socket::new(Domain::IPV4, Type::RAW, protocol)).unwrap().unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    socket.send_to(&request, &SockAddr::from(SocketAddr::new(to.address().into(), 0))).unwrap();
    let socket = UdpSocket::from(socket);
    let mut answer = [0; 64];
    loop {
        match socket.recv_from(&mut answer) {
            // After an IPv4 header: an echo reply with the same identifier and sequence.
            Ok((28, from)) if from.ip() == IpAddr::from(to.address()) => {
                if answer[20] == 0 && answer[24..28] == request[4..8] {
                    return true;
                }
            }
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

/// Datagrams to one port travel over the interface. Everything else is unchanged: another port, an
/// unbound port, ping, and ARP.
fn udp_among_other_traffic(queues: u32, mode: Mode) {
    const COUNT: usize = 200;
    let testbed = testbed(queues);
    let [ours, theirs] = testbed.hosts();
    let mut interface = open(ours, mode);
    interface.redirect(&port(ours, 5_000)).unwrap();
    let (peer, other) = (udp(theirs, 0), udp(ours, 5_001));
    std::thread::scope(|scope| {
        let echo = scope.spawn(|| echo(&mut interface, COUNT));
        for number in 0..COUNT {
            let datagram: Vec<u8> = (0..number * 7).map(|at| (at ^ number) as u8).collect();
            let mut answer = [0; 2_048];
            for port in [5_000, 5_001] {
                peer.send_to(&datagram, (ours.address(), port)).unwrap();
            }
            let (length, from) = peer.recv_from(&mut answer).unwrap();
            assert_eq!((&answer[..length], from.port()), (&datagram[..], 5_000));
            let (length, from) = other.recv_from(&mut answer).unwrap();
            assert_eq!((&answer[..length], from), (&datagram[..], peer.local_addr().unwrap()));
        }
        echo.join().unwrap();
    });
    assert!(pings(theirs, ours) && pings(ours, theirs));
    assert!(is_refused(&peer, ours, 5_002));
    assert!(is_nothing(&mut interface), "an unexpected frame");
    assert!(interface.remove(&port(ours, 5_000)).unwrap());
    assert!(is_refused(&peer, ours, 5_000), "the port is not the kernel's again");
}

/// Returns `true` if the kernel reports the port as unreachable.
fn is_refused(peer: &UdpSocket, host: &Host, port: u16) -> bool {
    let peer = peer.try_clone().unwrap();
    peer.connect((host.address(), port)).unwrap();
    peer.send(b"probe").unwrap();
    let error = peer.recv(&mut [0; 16]).map_err(|error| error.kind());
    error == Err(ErrorKind::ConnectionRefused)
}

#[test]
#[ignore = "needs root"]
fn udp_is_redirected_and_other_traffic_is_not() {
    for queues in [1, 2] {
        for mode in [Mode::Native, Mode::Generic] {
            udp_among_other_traffic(queues, mode);
        }
    }
}

#[test]
#[ignore = "needs root"]
fn exact_flow_passes_to_the_kernel_though_its_port_does_not() {
    let testbed = testbed(1);
    let [ours, theirs] = testbed.hosts();
    let mut interface = open(ours, Mode::Native);
    interface.redirect(&port(ours, 5_000)).unwrap();
    let (kernel, first, second) = (udp(ours, 5_000), udp(theirs, 6_001), udp(theirs, 6_002));
    let local = SocketAddr::new(ours.address().into(), 5_000);
    let remote = first.local_addr().unwrap();
    let flow = Entry::Flow { protocol: Protocol::Udp, vlan: None, local, remote };
    interface.pass_to_kernel(&flow).unwrap();
    first.send_to(b"first", local).unwrap();
    let mut datagram = [0; 16];
    assert_eq!(kernel.recv_from(&mut datagram).unwrap(), (5, remote));
    second.send_to(b"second", local).unwrap();
    let (_, packet) = next(&mut interface).unwrap();
    assert!(interface.bytes(&packet).ends_with(b"second"));
    interface.release(packet.into_frame());
}

/// Returns a UDP frame without checksum; `front` precedes the ports.
fn datagram(front: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend(front);
    frame.extend([0x17, 0x70, 0x13, 0x88, 0, 12, 0, 0]);
    frame.extend(b"data");
    frame
}

/// Entries match on the wire as in test runs: IPv6, a group, and tagged frames, which keep their
/// tag.
#[test]
#[ignore = "needs root"]
fn entries_of_every_kind_match_on_the_wire() {
    let six: std::net::Ipv6Addr = "2001:db8::5".parse().unwrap();
    let group: IpAddr = "239.1.2.3".parse().unwrap();
    let protocol = Protocol::Udp;
    let mut ipv6 = vec![0x86, 0xdd, 0x60, 0, 0, 0, 0, 12, 17, 64];
    ipv6.extend([[0xfe; 16], six.octets()].concat());
    let ipv4 = [0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0, 10, 77, 0, 2, 239, 1, 2, 3];
    let vlan = Some(7);
    let kinds = [
        (
            Entry::Local { protocol, vlan: None, local: SocketAddr::new(six.into(), 5_000) },
            datagram(&ipv6),
        ),
        (
            Entry::Group { vlan: None, group, port: Some(5_000) },
            datagram(&[&[8, 0][..], &ipv4].concat()),
        ),
        (
            Entry::Group { vlan, group, port: None },
            datagram(&[&[0x81, 0, 0xe0, 7, 8, 0][..], &ipv4].concat()),
        ),
        (
            Entry::EtherType { vlan, ether_type: 0x88b5 },
            datagram(&[0x81, 0, 0, 7, 0x88, 0xb5, 0, 0, 0, 0]),
        ),
    ];
    for mode in [Mode::Native, Mode::Generic] {
        let testbed = testbed(1);
        let [mut from, mut to] = [0, 1].map(|end| open(&testbed.hosts()[end], mode));
        for (entry, frame) in &kinds {
            to.redirect(entry).unwrap();
            assert!(send(&mut from, 0, frame));
            from.flush().unwrap();
            let (_, packet) = next(&mut to).expect("the frame is redirected");
            assert_eq!(to.bytes(&packet), frame);
            to.release(packet.into_frame());
            assert!(to.remove(entry).unwrap());
            // Without the entry, the frame does not arrive: the next packet is another.
            assert!(send(&mut from, 0, frame));
            from.flush().unwrap();
        }
        assert!(is_nothing(&mut to));
    }
}
