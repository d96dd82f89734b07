//! Connections whose frames are all dropped, and frames of other hosts.

use hairpin_stack::{DropCause, FallbackReason, PathEvent, TakeoverError};
use hairpin_testbed::{FrameSender, Host, Route, Testbed};
use hairpin_wire::{EtherType, EthernetHeader, Ipv4Header, MacAddress, Protocol, Sum, TcpFlags};
use hairpin_wire::{TcpHeader, VlanTag};

use super::*;

/// A frame of the peer that acknowledges nothing new.
struct PeerFrame {
    ethernet: EthernetHeader,
    ip: Ipv4Header,
    tcp: TcpHeader,
}

impl PeerFrame {
    fn new(testbed: &Testbed, near: &TcpStream) -> Self {
        let [ours, theirs] = testbed.hosts();
        let mac =
            |host: &Host| MacAddress(host.rtnetlink().unwrap().link(host.interface()).unwrap().mac);
        let [local, remote] = [near.local_addr().unwrap(), near.peer_addr().unwrap()];
        let mut ip = Ipv4Header::new(Protocol::TCP, theirs.address(), ours.address());
        ip.set_total_length((Ipv4Header::SIZE + TcpHeader::SIZE) as u16);
        ip.fill_checksum();
        let mut tcp = TcpHeader::new(remote.port(), local.port());
        tcp.set_flags(TcpFlags::ACK);
        let ethernet = EthernetHeader::new(mac(ours), mac(theirs), EtherType::IPV4);
        Self { ethernet, ip, tcp }
    }

    /// Returns the frame with a valid TCP checksum, or with a wrong one.
    fn bytes(&mut self, valid: bool) -> Vec<u8> {
        let (source, to) = (self.ip.source(), self.ip.destination());
        let pseudo = Sum::pseudo_ipv4(source, to, Protocol::TCP, TcpHeader::SIZE as u16);
        self.tcp.set_checksum(0);
        let checksum = pseudo.bytes(self.tcp.as_bytes()).checksum();
        self.tcp.set_checksum(if valid { checksum } else { checksum ^ 0x0101 });
        [self.ethernet.as_bytes(), self.ip.as_bytes(), self.tcp.as_bytes()].concat()
    }
}

fn poll(socket: &mut TcpSocket) {
    let error = socket.receive(|_| panic!("unexpected bytes")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
}

#[test]
#[ignore = "needs root"]
fn connection_without_a_valid_frame_returns_to_the_kernel() {
    for mode in MODES {
        let testbed = testbed(1);
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let [near, mut far] = connect(&testbed, 0);
        let local = near.local_addr().unwrap();
        let frame = PeerFrame::new(&testbed, &near).bytes(false);
        let sender = FrameSender::open(theirs, theirs.interface_index()).unwrap();
        let mut socket = stack.adopt_tcp(near).unwrap();
        take_over(ours, &mut socket);
        (0..8).for_each(|_| sender.send(&frame).unwrap());
        let returned = eventually(|| {
            poll(&mut socket);
            !socket.is_bypassing()
        });
        assert!(returned, "{mode}: {:?}", stack.tcp_counters());
        let reason = socket.last_handback();
        assert_eq!(reason.as_deref(), Some("all received frames were dropped"));
        let cause = DropCause::Checksum;
        let events: Vec<_> = std::iter::from_fn(|| stack.next_event())
            .filter(|event| !matches!(event, PathEvent::LongFrames { .. }))
            .collect();
        let reason = FallbackReason::Dropped(cause);
        let (dropped, fallback) = (
            PathEvent::RxDropped { address: local, cause },
            PathEvent::RxFallback { address: local, reason },
        );
        assert_eq!(events, [dropped, fallback]);
        let counters = stack.tcp_counters();
        assert_eq!((counters.wrong_checksum, counters.frames_lost), (8, 1), "{counters:?}");
        far.write_all(&bytes(0, 100)).unwrap();
        expect(&mut socket, 0, 100);
        let again = ours.run(|| socket.take_over()).unwrap();
        let is_refused = matches!(again, Err(TakeoverError::Path(FallbackReason::FramesLost)));
        assert!(is_refused, "{again:?}");
    }
}

/// Makes the second host send to the first one over a second wire, whose interface answers ARP for
/// the address too.
fn send_elsewhere([ours, theirs]: &[Host; 2]) {
    let mut rtnetlink = theirs.rtnetlink().unwrap();
    let interface = Some(rtnetlink.link("veth1").unwrap().index);
    // The peer's address has another network there.
    let source = Some(theirs.address().into());
    let route = Route { interface, source, ..Route::to(ours.address().into(), 32) };
    rtnetlink.add_route(&route).unwrap();
}

fn testbed_of_two_wires() -> Testbed {
    let testbed = testbed(1);
    let [ours, theirs] = testbed.hosts();
    ours.rtnetlink().unwrap().add_wire("veth1", theirs).unwrap();
    for host in testbed.hosts() {
        let mut rtnetlink = host.rtnetlink().unwrap();
        let index = rtnetlink.link("veth1").unwrap().index;
        rtnetlink.set_up(index).unwrap();
    }
    let mut rtnetlink = theirs.rtnetlink().unwrap();
    let link = eventually(|| rtnetlink.link("veth1").unwrap().up);
    assert!(link, "the second wire is down");
    testbed
}

#[test]
#[ignore = "needs root"]
fn connection_of_which_no_frame_has_arrived_is_not_taken_over() {
    for mode in MODES {
        let testbed = testbed_of_two_wires();
        let [ours, _] = testbed.hosts();
        let stack = stack(ours, mode);
        // The handshake has arrived, and one frame is enough.
        let [before, _peer] = connect(&testbed, 0);
        send_elsewhere(testbed.hosts());
        let [near, far] = connect(&testbed, 0);
        let echo = echo(far);
        let mut socket = stack.adopt_tcp(near).unwrap();
        let mut position = 0;
        let reason = FallbackReason::NothingArrived;
        for attempt in 0..6 {
            ping_pong(&mut socket, &mut position, 1, 100);
            let refused = ours.run(|| socket.take_over()).unwrap().unwrap_err();
            let is_final = matches!(refused, TakeoverError::Path(it) if it == reason);
            assert_eq!(is_final, attempt >= 2, "{mode}, attempt {attempt}: {refused:?}");
        }
        let counters = stack.tcp_counters();
        assert_eq!((counters.unseen, counters.no_path, counters.taken_over), (2, 4, 0));
        drop(socket);
        assert_eq!(echo.join().unwrap(), position);
        take_over(ours, &mut stack.adopt_tcp(before).unwrap());
    }
}

#[test]
#[ignore = "needs root"]
fn connection_whose_frames_arrive_on_another_interface_stays_with_the_kernel() {
    for mode in MODES {
        let testbed = testbed_of_two_wires();
        let [ours, _] = testbed.hosts();
        let stack = stack(ours, mode);
        let [near, far] = connect(&testbed, 0);
        send_elsewhere(testbed.hosts());
        let local = near.local_addr().unwrap();
        let echo = echo(far);
        let mut socket = stack.adopt_tcp(near).unwrap();
        let mut position = 0;
        let timeouts = "two retransmission timeouts in a row";
        for expected in [timeouts, timeouts, "no frame has arrived since the takeover"] {
            take_over(ours, &mut socket);
            ping_pong(&mut socket, &mut position, 1, 100);
            assert!(!socket.is_bypassing(), "{mode}: {:?}", stack.tcp_counters());
            assert_eq!(socket.last_handback().as_deref(), Some(expected));
            ping_pong(&mut socket, &mut position, 1, 100);
        }
        let reason = FallbackReason::NothingArrived;
        let events: Vec<_> = std::iter::from_fn(|| stack.next_event()).collect();
        let expected = PathEvent::RxFallback { address: local, reason };
        assert!(events.contains(&expected), "{mode}: {events:?}");
        assert_eq!(stack.tcp_counters().nothing_arrived, 1);
        let again = ours.run(|| socket.take_over()).unwrap();
        let is_refused = matches!(again, Err(TakeoverError::Path(it)) if it == reason);
        assert!(is_refused, "{mode}: {again:?}");
        ping_pong(&mut socket, &mut position, 3, 100);
        drop(socket);
        assert_eq!(echo.join().unwrap(), position);
    }
}

#[test]
#[ignore = "needs root"]
fn frames_for_other_addresses_and_damaged_ones_are_dropped_and_priority_tags_are_not() {
    for mode in MODES {
        let testbed = testbed(1);
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let [near, far] = connect(&testbed, 0);
        let mut frames = PeerFrame::new(&testbed, &near);
        let sender = FrameSender::open(theirs, theirs.interface_index()).unwrap();
        let echo = echo(far);
        let mut socket = stack.adopt_tcp(near).unwrap();
        take_over(ours, &mut socket);
        let mut position = 0;
        ping_pong(&mut socket, &mut position, 3, 100);
        sender.send(&frames.bytes(false)).unwrap();
        let valid = frames.bytes(true);
        let tag = VlanTag::new(0, EtherType::IPV4);
        let tagged = [&valid[..12], &[0x81, 0], tag.as_bytes(), &valid[14..]].concat();
        sender.send(&tagged).unwrap();
        frames.ethernet.set_destination(MacAddress([0xFF; 6]));
        sender.send(&frames.bytes(true)).unwrap();
        // The frames arrive before the next answer.
        ping_pong(&mut socket, &mut position, 3, 100);
        let counters = stack.tcp_counters();
        let dropped = [counters.wrong_checksum, counters.other_mac, counters.malformed];
        assert_eq!(dropped, [1, 1, 0], "{counters:?}");
        assert_eq!(stack.drop_counters().iter().map(|(_, count)| count).sum::<u64>(), 0);
        assert!(socket.is_bypassing());
        drop(socket);
        assert_eq!(echo.join().unwrap(), position);
    }
}
