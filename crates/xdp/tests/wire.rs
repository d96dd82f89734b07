//! Frames over a veth between two hosts, as root.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use hairpin_testbed::{CountingAllocator, Host, Offloads, Queues, Testbed, allocations};
use hairpin_xdp::{
    BusyPolling, Entry, Interface, InterfaceSettings, Mode, Packet, Protocol, SocketSettings,
    UmemSettings,
};
use socket2::{Domain, SockAddr, Socket, Type};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const RAW: Entry = Entry::EtherType { vlan: None, ether_type: 0x88b5 };
/// Long enough that a lost frame is lost, and not late.
const PATIENCE: Duration = Duration::from_secs(10);

fn bed(queues: u32) -> Testbed {
    Testbed::builder().queues(Queues::pairs(queues)).offloads(Offloads::OFF).build().unwrap()
}

fn open(host: &Host, mode: Mode) -> Interface {
    let settings = InterfaceSettings { mode, ..InterfaceSettings::default() };
    host.run(|| Interface::open(host.interface(), &settings)).unwrap().unwrap()
}

/// The frame of a number on a queue: its length and bytes follow from these.
fn raw(number: u32, queue: u32) -> Vec<u8> {
    let length = 60 + (number * 37) % 1_455;
    let mut frame = vec![2; 12];
    frame.extend([0x88, 0xb5]);
    frame.extend(number.to_be_bytes());
    frame.extend(queue.to_be_bytes());
    frame.extend((frame.len() as u32..length).map(|at| (at ^ number) as u8));
    frame
}

/// Sends one frame, or says that there is no room for it.
fn send(interface: &mut Interface, queue: u32, frame: &[u8]) -> bool {
    let Some(mut packet) = interface.packet(frame.len() as u32) else { return false };
    interface.bytes_mut(&mut packet).copy_from_slice(frame);
    let sent = interface.transmit(queue, packet);
    sent.map_err(|packet| interface.give(packet.into_frame())).is_ok()
}

/// Waits, within bounds, until `is_so`.
fn eventually(mut is_so: impl FnMut() -> bool) -> bool {
    let step = Duration::from_millis(1);
    (0..PATIENCE.as_millis()).any(|_| {
        is_so() || {
            std::thread::sleep(step);
            false
        }
    })
}

/// The next packet, waited for.
fn next(interface: &mut Interface) -> Option<(u32, Packet)> {
    let mut found = None;
    eventually(|| {
        found = interface.receive().unwrap();
        found.is_some()
    });
    found
}

/// Each sends frames of every length on each queue, never more than the other has memory for, and
/// all arrive in order and byte by byte; in native mode at the other's queue of the same number.
/// (In generic mode a veth's frames come in by the queue before that.)
fn exchange_raw(queues: u32, modes: [Mode; 2]) {
    const COUNT: u32 = 3_000;
    const AHEAD: u32 = 100;
    let bed = bed(queues);
    let mut ends = [0, 1].map(|end| open(&bed.hosts()[end], modes[end]));
    for (end, mode) in ends.iter().zip(modes) {
        assert_eq!((end.link().mode(), end.sockets().len() as u32), (mode, queues));
        assert!(!end.is_zero_copy(), "a veth copies");
        end.enter(&RAW).unwrap();
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
                assert!(by == queue || modes[to] == Mode::Generic, "sent by {queue}, came by {by}");
                let number = &mut received[queue as usize][to];
                assert!(end.bytes(&packet) == raw(*number, queue), "{number} of queue {queue}");
                *number += 1;
                end.give(packet.into_frame());
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
fn raw_frames_arrive_by_one_queue() {
    exchange_raw(1, [Mode::Native; 2]);
    exchange_raw(1, [Mode::Generic; 2]);
}

#[test]
#[ignore = "needs root"]
fn raw_frames_arrive_by_two_queues() {
    exchange_raw(2, [Mode::Native; 2]);
    exchange_raw(2, [Mode::Generic; 2]);
    exchange_raw(2, [Mode::Generic, Mode::Native]);
}

fn udp(host: &Host, port: u16) -> UdpSocket {
    let socket = host.run(|| UdpSocket::bind((host.address(), port))).unwrap().unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

fn port(host: &Host, port: u16) -> Entry {
    let local = SocketAddr::new(host.address().into(), port);
    Entry::Local { protocol: Protocol::Udp, vlan: None, local }
}

/// Exchanges sender and receiver in all three headers; no checksum changes by that.
fn turn_round(frame: &mut [u8]) {
    frame[..12].rotate_left(6);
    frame[26..34].rotate_left(4);
    frame[34..38].rotate_left(2);
}

/// Sends back what comes, until it has been so many.
fn echo(interface: &mut Interface, count: usize) {
    for _ in 0..count {
        let (queue, mut packet) = next(interface).expect("a datagram comes");
        turn_round(interface.bytes_mut(&mut packet));
        interface.transmit(queue, packet).unwrap();
        interface.flush().unwrap();
    }
}

/// Whether the host answers a ping.
fn pings(from: &Host, to: &Host) -> bool {
    // Echo request, number 7 of sequence 9, and its checksum.
    let mut request = [8, 0, 0, 0, 0, 7, 0, 9];
    request[2..4].copy_from_slice(&(!(0x0800_u16 + 7 + 9)).to_be_bytes());
    let protocol = Some(socket2::Protocol::ICMPV4);
    let socket = from.run(|| Socket::new(Domain::IPV4, Type::RAW, protocol)).unwrap().unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.send_to(&request, &SockAddr::from(SocketAddr::new(to.address().into(), 0))).unwrap();
    let socket = UdpSocket::from(socket);
    let mut answer = [0; 64];
    loop {
        match socket.recv_from(&mut answer) {
            // Behind an IPv4 header: an echo reply with the same number and sequence.
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

/// Datagrams of one port go to and fro by the interface, and all else as ever: another port, a port
/// that nobody has, ping, and the ARP without which none of these would arrive.
fn udp_among_other_traffic(queues: u32, mode: Mode) {
    const COUNT: usize = 200;
    let bed = bed(queues);
    let [ours, theirs] = bed.hosts();
    let mut interface = open(ours, mode);
    interface.enter(&port(ours, 5_000)).unwrap();
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
    assert!(is_nothing(&mut interface), "what nobody asked for");
    assert!(interface.remove(&port(ours, 5_000)).unwrap());
    assert!(is_refused(&peer, ours, 5_000), "the kernel answers for the port again");
}

fn is_nothing(interface: &mut Interface) -> bool {
    interface.receive().unwrap().is_none()
}

/// Whether the kernel says that nobody has the port.
fn is_refused(peer: &UdpSocket, host: &Host, port: u16) -> bool {
    let peer = peer.try_clone().unwrap();
    peer.connect((host.address(), port)).unwrap();
    peer.send(b"anybody?").unwrap();
    let error = peer.recv(&mut [0; 16]).map_err(|error| error.kind());
    error == Err(ErrorKind::ConnectionRefused)
}

#[test]
#[ignore = "needs root"]
fn udp_goes_by_the_filter_and_the_rest_as_ever() {
    for queues in [1, 2] {
        for mode in [Mode::Native, Mode::Generic] {
            udp_among_other_traffic(queues, mode);
        }
    }
}

#[test]
#[ignore = "needs root"]
fn an_exact_flow_is_left_to_the_kernel_though_its_port_is_ours() {
    let bed = bed(1);
    let [ours, theirs] = bed.hosts();
    let mut interface = open(ours, Mode::Native);
    interface.enter(&port(ours, 5_000)).unwrap();
    let (kernel, first, second) = (udp(ours, 5_000), udp(theirs, 6_001), udp(theirs, 6_002));
    let local = SocketAddr::new(ours.address().into(), 5_000);
    let remote = first.local_addr().unwrap();
    let flow = Entry::Flow { protocol: Protocol::Udp, vlan: None, local, remote };
    interface.leave_to_kernel(&flow).unwrap();
    first.send_to(b"first", local).unwrap();
    let mut datagram = [0; 16];
    assert_eq!(kernel.recv_from(&mut datagram).unwrap(), (5, remote));
    second.send_to(b"second", local).unwrap();
    let (_, packet) = next(&mut interface).unwrap();
    assert!(interface.bytes(&packet).ends_with(b"second"));
    interface.give(packet.into_frame());
}

/// A UDP frame without checksum: `front` is what stands before the ports.
fn datagram(front: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend(front);
    frame.extend([0x17, 0x70, 0x13, 0x88, 0, 12, 0, 0]);
    frame.extend(b"data");
    frame
}

/// On the wire as in the trials: IPv6, a group, and tagged frames, whose tag is still there.
#[test]
#[ignore = "needs root"]
fn every_kind_of_entry_is_met_on_the_wire() {
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
        let bed = bed(1);
        let [mut from, mut to] = [0, 1].map(|end| open(&bed.hosts()[end], mode));
        for (entry, frame) in &kinds {
            to.enter(entry).unwrap();
            assert!(send(&mut from, 0, frame));
            from.flush().unwrap();
            let (_, packet) = next(&mut to).expect("it is redirected");
            assert_eq!(to.bytes(&packet), frame);
            to.give(packet.into_frame());
            assert!(to.remove(entry).unwrap());
            // Nobody's now: the next that comes is another.
            assert!(send(&mut from, 0, frame));
            from.flush().unwrap();
        }
        assert!(is_nothing(&mut to));
    }
}

/// Sets the interface of the calling thread's namespace up or down.
fn switch(name: &str, up: bool) -> io::Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: a request is integers, pointers and bytes, for all of which zero is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed() as libc::c_char;
    }
    let fd = std::os::fd::AsRawFd::as_raw_fd(&socket);
    let flags = libc::SIOCGIFFLAGS;
    // SAFETY: the request is whole, and the kernel writes its flags.
    if unsafe { libc::ioctl(fd, flags, &raw mut request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just written this member.
    let flags = unsafe { request.ifr_ifru.ifru_flags } & !(libc::IFF_UP as i16);
    request.ifr_ifru.ifru_flags = if up { flags | libc::IFF_UP as i16 } else { flags };
    // SAFETY: the request is whole, and the kernel reads it.
    match unsafe { libc::ioctl(fd, libc::SIOCSIFFLAGS, &raw mut request) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[test]
#[ignore = "needs root"]
fn an_interface_goes_down_and_comes_up_again() {
    for mode in [Mode::Native, Mode::Generic] {
        let bed = bed(1);
        let [ours, theirs] = bed.hosts();
        let mut ends = [open(ours, mode), open(theirs, mode)];
        for end in &ends {
            end.enter(&RAW).unwrap();
        }
        let passes = |ends: &mut [Interface; 2], number| {
            assert!(send(&mut ends[0], 0, &raw(number, 0)));
            ends[0].flush().unwrap();
            let (_, packet) = next(&mut ends[1]).expect("it arrives");
            assert_eq!(ends[1].bytes(&packet), raw(number, 0));
            ends[1].give(packet.into_frame());
        };
        passes(&mut ends, 1);
        ours.run(|| switch(ours.interface(), false)).unwrap().unwrap();
        assert!(send(&mut ends[0], 0, &raw(2, 0)));
        let error = ends[0].flush().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NetworkDown);
        ours.run(|| switch(ours.interface(), true)).unwrap().unwrap();
        // What was in the ring leaves with the next flush.
        assert!(eventually(|| ends[0].flush().is_ok() && ends[0].sockets()[0].transmitting() == 0));
        let mut seen = VecDeque::new();
        assert!(eventually(|| {
            send(&mut ends[0], 0, &raw(3, 0));
            ends[0].flush().unwrap();
            while let Some((_, packet)) = ends[1].receive().unwrap() {
                seen.push_back(ends[1].bytes(&packet).to_vec());
                ends[1].give(packet.into_frame());
            }
            seen.contains(&raw(3, 0))
        }));
        assert!(seen.iter().all(|frame| [raw(2, 0), raw(3, 0)].contains(frame)));
        passes_back(&mut ends);
    }
}

/// And the other way.
fn passes_back(ends: &mut [Interface; 2]) {
    assert!(eventually(|| {
        send(&mut ends[1], 0, &raw(4, 0));
        ends[1].flush().unwrap();
        let Some((_, packet)) = ends[0].receive().unwrap() else { return false };
        let is_it = ends[0].bytes(&packet) == raw(4, 0);
        ends[0].give(packet.into_frame());
        is_it
    }));
}

#[test]
#[ignore = "needs root"]
fn a_sleeper_wakes_when_a_frame_comes() {
    let bed = bed(1);
    let [ours, theirs] = bed.hosts();
    let mut interface = open(ours, Mode::Auto);
    let mut sender = open(theirs, Mode::Auto);
    interface.enter(&RAW).unwrap();
    let (_, _, sockets) = interface.parts();
    assert!(!sockets[0].wait(Some(Duration::from_millis(1))).unwrap());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(send(&mut sender, 0, &raw(1, 0)));
            sender.flush().unwrap();
        });
        assert!(sockets[0].wait(Some(PATIENCE)).unwrap());
    });
    let (queue, packet) = interface.receive().unwrap().unwrap();
    assert_eq!((interface.bytes(&packet), queue), (&raw(1, 0)[..], 0));
    interface.give(packet.into_frame());
}

/// What finds no frame to be received into is lost and counted, and the next that does is not.
#[test]
#[ignore = "needs root"]
fn a_receiver_short_of_frames_loses_some_and_counts_them() {
    for mode in [Mode::Native, Mode::Generic] {
        let bed = bed(1);
        let mut from = open(&bed.hosts()[0], mode);
        let umem = UmemSettings { frames: 8, ..UmemSettings::default() };
        let settings = InterfaceSettings { mode, umem, ..InterfaceSettings::default() };
        let host = &bed.hosts()[1];
        let mut to = host.run(|| Interface::open(host.interface(), &settings)).unwrap().unwrap();
        to.enter(&RAW).unwrap();
        assert_eq!(to.sockets()[0].filling(), 4);
        for number in 0..10 {
            assert!(send(&mut from, 0, &raw(number, 0)));
            from.flush().unwrap();
        }
        let counted = || to.sockets()[0].statistics().unwrap();
        assert!(eventually(|| counted().fill_ring_empty >= 6), "{:?}", counted());
        for number in 0..4 {
            let (_, packet) = next(&mut to).unwrap();
            assert!(to.bytes(&packet) == raw(number, 0));
            to.give(packet.into_frame());
        }
        assert!(is_nothing(&mut to));
        assert_eq!(to.sockets()[0].filling(), 4);
        assert!(send(&mut from, 0, &raw(10, 0)));
        from.flush().unwrap();
        let (_, packet) = next(&mut to).unwrap();
        assert!(to.bytes(&packet) == raw(10, 0));
        to.give(packet.into_frame());
    }
}

/// Sixteen frames for all queues, half of them to be received into. Frames keep coming, so that
/// there is always one to be received, and each is sent back as soon as it was.
#[test]
#[ignore = "needs root"]
fn an_interface_of_sixteen_frames_does_not_run_dry() {
    const COUNT: u32 = 2_000;
    let ways = [(1, Mode::Native), (1, Mode::Generic), (2, Mode::Native)];
    for (kicks, (queues, mode)) in
        [false, true].into_iter().flat_map(|kicks| ways.map(|way| (kicks, way)))
    {
        let bed = bed(queues);
        let mut far = open(&bed.hosts()[0], mode);
        let umem = UmemSettings { frames: 16, ..UmemSettings::default() };
        let settings = InterfaceSettings { mode, umem, ..InterfaceSettings::default() };
        let host = &bed.hosts()[1];
        let mut few = host.run(|| Interface::open(host.interface(), &settings)).unwrap().unwrap();
        few.enter(&RAW).unwrap();
        far.enter(&RAW).unwrap();
        // As many may be under way as are left when it is time to refill.
        let ahead = 16 / queues / 4;
        let (mut sent, mut returned) = (0, 0);
        let done = eventually(|| {
            for _ in 0..64 {
                while sent < COUNT && sent < returned + ahead && send(&mut far, 0, &raw(sent, 0)) {
                    sent += 1;
                    far.flush().unwrap();
                }
                if let Some((queue, packet)) = few.receive().unwrap() {
                    few.transmit(queue, packet).unwrap();
                    // By a kick frames come back only when they are wanted.
                    if kicks {
                        let kicker = few.kicker(queue).unwrap();
                        kicker.kick(few.submit(queue)).unwrap();
                    } else {
                        few.flush().unwrap();
                    }
                }
                while let Some((_, packet)) = far.receive().unwrap() {
                    assert!(far.bytes(&packet) == raw(returned, 0), "{returned}");
                    returned += 1;
                    far.give(packet.into_frame());
                }
            }
            returned == COUNT
        });
        let counted = few.sockets()[0].statistics().unwrap();
        assert!(done, "{returned} of {sent} over {queues} queues in {mode} mode: {counted:?}");
        assert_eq!(counted.fill_ring_empty, 0, "{queues} queues in {mode} mode");
    }
}

/// Sent by kicks, one by one, frames come back in batches: before the ring is full, and when there
/// is no other.
#[test]
#[ignore = "needs root"]
fn frames_come_back_in_batches_and_before_they_are_missed() {
    const RING: u32 = 64;
    for (frames, batch) in [(256, 32), (16, 8)] {
        for mode in [Mode::Native, Mode::Generic] {
            let bed = bed(1);
            let umem = UmemSettings { frames, ..UmemSettings::default() };
            let socket = SocketSettings { ring: RING, ..SocketSettings::default() };
            let settings = InterfaceSettings { mode, umem, socket, ..InterfaceSettings::default() };
            let host = &bed.hosts()[0];
            let mut near =
                host.run(|| Interface::open(host.interface(), &settings)).unwrap().unwrap();
            let kicker = near.kicker(0).unwrap();
            let mut most = 0;
            for number in 0..RING * 4 {
                let is_sent = eventually(|| {
                    let is_sent = send(&mut near, 0, &raw(number, 0));
                    most = most.max(near.sockets()[0].transmitting());
                    kicker.kick(near.submit(0)).unwrap();
                    is_sent
                });
                assert!(is_sent, "{number}, of {frames} frames in {mode} mode");
            }
            assert!(most >= batch, "{most} under way at most, of {frames} frames in {mode} mode");
        }
    }
}

/// One who only sends leaves the frames to others that they need to receive, given already or not.
#[test]
#[ignore = "needs root"]
fn what_is_sent_takes_no_frames_from_what_is_received() {
    for (kept, free) in [(3, 5), (4, 4)] {
        let bed = bed(1);
        let [mut far, mut few] = [64, 16].map(|frames| {
            let umem = UmemSettings { frames, ..UmemSettings::default() };
            let settings = InterfaceSettings { umem, ..InterfaceSettings::default() };
            let host = &bed.hosts()[usize::from(frames == 16)];
            host.run(|| Interface::open(host.interface(), &settings)).unwrap().unwrap()
        });
        few.enter(&RAW).unwrap();
        for number in 0..kept {
            assert!(send(&mut far, 0, &raw(number, 0)));
        }
        far.flush().unwrap();
        let held: Vec<_> = (0..kept).map(|_| next(&mut few).unwrap().1).collect();
        let written: Vec<_> = std::iter::from_fn(|| few.packet(60)).collect();
        assert_eq!(written.len(), free);
        assert!(is_nothing(&mut few));
        assert_eq!(few.sockets()[0].filling(), 8);
        for packet in held.into_iter().chain(written) {
            few.give(packet.into_frame());
        }
    }
}

/// Which is what a look that finds nothing fetches, and past the last of the ring too.
#[test]
#[ignore = "needs root"]
fn the_frame_that_is_received_into_next_is_known() {
    for mode in [Mode::Native, Mode::Generic] {
        let bed = bed(1);
        let mut near = open(&bed.hosts()[0], mode);
        let umem = UmemSettings { frames: 64, ..UmemSettings::default() };
        let settings = InterfaceSettings { umem, mode, ..InterfaceSettings::default() };
        let host = &bed.hosts()[1];
        let far = host.run(|| Interface::open(host.interface(), &settings)).unwrap();
        let mut far = far.unwrap();
        far.enter(&RAW).unwrap();
        for number in 0..1_500 {
            let expected = far.sockets()[0].next_to_fill();
            assert!(send(&mut near, 0, &raw(number, 0)));
            near.flush().unwrap();
            let (_, packet) = next(&mut far).unwrap();
            assert_eq!(Some(packet.frame().address()), expected, "{number}");
            far.give(packet.into_frame());
            assert!(is_nothing(&mut far));
        }
    }
}

/// Those of another queue wait for one burst of a queue that is full, and no longer.
#[test]
#[ignore = "needs root"]
fn queues_take_turns_however_full_one_is() {
    for takes_known in [false, true] {
        let bed = bed(2);
        let [mut near, mut far] = [0, 1].map(|end| open(&bed.hosts()[end], Mode::Native));
        far.enter(&RAW).unwrap();
        for number in 0..200 {
            assert!(send(&mut near, 0, &raw(number, 0)));
        }
        near.flush().unwrap();
        assert!(send(&mut near, 1, &raw(0, 1)));
        near.flush().unwrap();
        assert!(far.parts().2[1].wait(Some(PATIENCE)).unwrap());
        let queues = std::iter::repeat_with(|| {
            let known = if takes_known { far.receive_known() } else { None };
            let (queue, packet) = known.or_else(|| next(&mut far)).unwrap();
            far.give(packet.into_frame());
            queue
        });
        let before = queues.take_while(|&queue| queue == 0).count();
        assert!(before <= 64, "{before} before that of the other queue");
    }
}

/// The kernel sends a part of the ring for a call; a flush calls until all are gone.
#[test]
#[ignore = "needs root"]
fn one_flush_sends_all_that_is_in_the_ring() {
    const COUNT: u32 = 200;
    for mode in [Mode::Native, Mode::Generic] {
        let bed = bed(1);
        let mut ends = [0, 1].map(|end| open(&bed.hosts()[end], mode));
        ends[1].enter(&RAW).unwrap();
        for number in 0..COUNT {
            assert!(send(&mut ends[0], 0, &raw(number, 0)));
        }
        ends[0].flush().unwrap();
        for number in 0..COUNT {
            let (_, packet) = next(&mut ends[1]).expect("all have left");
            assert!(ends[1].bytes(&packet) == raw(number, 0), "{number}");
            ends[1].give(packet.into_frame());
        }
    }
}

/// One thread submits and another kicks; bursts beyond what a call sends arrive whole.
#[test]
#[ignore = "needs root"]
fn what_is_submitted_by_one_is_sent_by_another() {
    const BURSTS: [u32; 7] = [1, 32, 33, 64, 65, 100, 200];
    for mode in [Mode::Native, Mode::Generic] {
        let bed = bed(1);
        let [mut from, mut to] = [0, 1].map(|end| open(&bed.hosts()[end], mode));
        to.enter(&RAW).unwrap();
        let kicker = from.kicker(0).unwrap();
        assert!(from.kicker(1).is_none() && from.submit(1) == 0);
        for burst in BURSTS {
            for number in 0..burst {
                assert!(send(&mut from, 0, &raw(number, 0)));
            }
            assert_eq!(from.submit(0), burst);
            assert!(is_nothing(&mut to), "nothing leaves before the kick");
            std::thread::scope(|scope| scope.spawn(|| kicker.kick(burst)).join().unwrap()).unwrap();
            for number in 0..burst {
                let (_, packet) = next(&mut to).expect("all have left");
                assert!(to.bytes(&packet) == raw(number, 0), "{number} of {burst}");
                to.give(packet.into_frame());
            }
            assert_eq!(from.submit(0), 0);
        }
    }
}

#[test]
#[ignore = "needs root"]
fn sent_frames_come_back_in_a_free_moment_once_they_are_half_of_what_submit_waits_for() {
    /// Half of `RECLAIM`.
    const FROM: u32 = 16;
    for mode in [Mode::Native, Mode::Generic] {
        let bed = bed(1);
        let mut from = open(&bed.hosts()[0], mode);
        let kicker = from.kicker(0).unwrap();
        for number in 1..=FROM {
            from.tidy(0);
            from.tidy(1);
            assert_eq!(from.sockets()[0].transmitting(), number - 1);
            assert!(send(&mut from, 0, &raw(number, 0)));
            let frames = from.submit(0);
            kicker.kick(frames).unwrap();
        }
        assert_eq!(from.sockets()[0].transmitting(), FROM, "none came back by itself");
        assert!(eventually(|| {
            from.tidy(0);
            from.sockets()[0].transmitting() < FROM
        }));
    }
}

/// Frames are borrowed, sent and given back, and the heap has no part in it.
#[test]
#[ignore = "needs root"]
fn nothing_is_allocated_on_the_way() {
    const COUNT: u32 = 5_000;
    let bed = bed(1);
    let mut ends = [0, 1].map(|end| open(&bed.hosts()[end], Mode::Generic));
    ends[1].enter(&RAW).unwrap();
    let frame = raw(1, 0);
    let before = allocations();
    let (mut sent, mut received) = (0, 0);
    for _ in 0..COUNT * 10 {
        if sent < COUNT && sent < received + 64 && send(&mut ends[0], 0, &frame) {
            sent += 1;
        }
        ends[0].flush().unwrap();
        while let Some((_, packet)) = ends[1].receive().unwrap() {
            assert_eq!(ends[1].bytes(&packet), frame);
            ends[1].give(packet.into_frame());
            received += 1;
        }
    }
    assert_eq!(allocations() - before, 0);
    assert_eq!((sent, received), (COUNT, COUNT));
}

#[test]
#[ignore = "needs root"]
fn a_glance_is_quiet_while_there_is_nothing_to_receive() {
    let bed = bed(2);
    let mut ends = [0, 1].map(|end| open(&bed.hosts()[end], Mode::Native));
    let [near, far] = &mut ends;
    far.enter(&RAW).unwrap();
    let glance = far.glance();
    // Whatever else the hosts say to each other is the kernel's.
    assert!(far.receive().unwrap().is_none());
    assert!(glance.is_quiet() && !far.is_short());
    for queue in [0, 1] {
        assert!(send(near, queue, &raw(1, queue)));
        near.flush().unwrap();
        assert!(eventually(|| !glance.is_quiet()), "queue {queue}");
        let (_, packet) = next(far).unwrap();
        assert!(!glance.is_quiet(), "it was not released yet");
        far.give(packet.into_frame());
        assert!(eventually(|| far.receive().unwrap().is_none() && glance.is_quiet()));
        assert!(!far.is_short());
    }
}

/// Nothing is received only when no queue has anything.
#[test]
#[ignore = "needs root"]
fn one_look_finds_a_frame_of_any_queue() {
    let bed = bed(2);
    let mut ends = [0, 1].map(|end| open(&bed.hosts()[end], Mode::Native));
    let [near, far] = &mut ends;
    far.enter(&RAW).unwrap();
    let glance = far.glance();
    // A turn is of 64 frames; with 65 one begins anew. On a busy machine the last may be late, but
    // not each time.
    for (queue, burst) in [(0, 1), (1, 1), (1, 1), (0, 1), (0, 65), (1, 64), (0, 64), (1, 65)] {
        let is_in_a_row = |_| {
            for number in 0..burst {
                assert!(send(near, queue, &raw(number, queue)));
            }
            near.flush().unwrap();
            assert!(eventually(|| !glance.is_quiet()));
            std::thread::sleep(Duration::from_millis(20));
            let mut looks = 0;
            for number in 0..burst {
                let mut found = None;
                assert!(eventually(|| {
                    looks += 1;
                    found = far.receive().unwrap();
                    found.is_some()
                }));
                let (_, packet) = found.unwrap();
                assert!(far.bytes(&packet) == raw(number, queue));
                far.give(packet.into_frame());
            }
            assert!(far.receive().unwrap().is_none());
            looks == burst
        };
        assert!((0..10).any(is_in_a_row), "{burst} frames of queue {queue}");
    }
}

/// What the driver has nobody has seen before it was polled.
#[test]
#[ignore = "needs root"]
fn a_glance_at_one_who_polls_is_never_quiet() {
    let bed = bed(1);
    let host = &bed.hosts()[0];
    let busy_polling = Some(BusyPolling { microseconds: 20, budget: 16 });
    for (busy_polling, is_quiet) in [(None, true), (busy_polling, false)] {
        let socket = SocketSettings { busy_polling, ..SocketSettings::default() };
        let settings = InterfaceSettings { socket, ..InterfaceSettings::default() };
        let interface = host.run(|| Interface::open(host.interface(), &settings)).unwrap();
        assert_eq!(interface.unwrap().glance().is_quiet(), is_quiet);
    }
}

/// The queue whose turn is over is the next as well.
#[test]
#[ignore = "needs root"]
fn a_queue_alone_is_looked_at_again_when_its_turn_ends() {
    let bed = bed(1);
    let [mut near, mut far] = [0, 1].map(|end| open(&bed.hosts()[end], Mode::Native));
    far.enter(&RAW).unwrap();
    for number in 0..65 {
        assert!(send(&mut near, 0, &raw(number, 0)));
        near.flush().unwrap();
        let (_, pool, sockets) = far.parts();
        // The places of all before are the kernel's again, so that it is this one that wakes.
        sockets[0].refill(pool, 0);
        assert!(sockets[0].wait(Some(PATIENCE)).unwrap());
        let (_, packet) = far.receive().unwrap().expect("it is there");
        far.give(packet.into_frame());
    }
}

/// Frames to receive into are given in batches: one that is missing is no reason to look.
#[test]
#[ignore = "needs root"]
fn a_few_frames_missing_are_no_shortage_and_many_are() {
    let bed = bed(1);
    let mut ends = [0, 1].map(|end| open(&bed.hosts()[end], Mode::Generic));
    let [near, far] = &mut ends;
    far.enter(&RAW).unwrap();
    let full = far.sockets()[0].filling();
    let mut kept = Vec::new();
    let (mut has_been_short, mut most_missing) = (false, 0);
    for number in 0..full {
        assert!(send(near, 0, &raw(number, 0)));
        near.flush().unwrap();
        kept.push(next(far).unwrap().1);
        // Whatever is missing is given by a look that finds nothing.
        has_been_short |= far.is_short();
        assert!(far.receive().unwrap().is_none());
        let missing = full - far.sockets()[0].filling();
        assert!(missing < 32 && !far.is_short(), "{missing} after {number}");
        most_missing = most_missing.max(missing);
    }
    assert_eq!(most_missing, 31, "no batch was waited for");
    assert!(has_been_short, "a whole batch was missing at some time");
    // Half of the frames were to receive into, and are kept; so are the others by now.
    assert!(far.packet(60).is_none());
    kept.drain(..).for_each(|packet| far.give(packet.into_frame()));
    assert!(far.packet(60).is_some());
}
