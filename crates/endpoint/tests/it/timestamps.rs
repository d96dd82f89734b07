//! When datagrams and bytes leave and arrive, by the kernel's clock: on the loopback interface and
//! between two namespaces.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod loopback;

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{SystemTime, UNIX_EPOCH};

use hairpin_endpoint::{
    InterfaceTimestamping, Receive, Stream, TcpListener, TcpOptions, TcpStream, Timestamp,
    Timestamping, Transmit, Transmitted, UdpOptions, UdpReceiver, UdpSender, UdpSocket,
};
use hairpin_testbed::Testbed;
use loopback::{any_port, group, patiently, receive};

const LOCALHOST: Ipv4Addr = Ipv4Addr::LOCALHOST;
const SOFTWARE: Timestamping = Timestamping::Software;
const WITHOUT: UdpOptions = UdpOptions {
    batch: 4,
    datagram_max: 256,
    receive_buffer: None,
    timestamping: Timestamping::Off,
};

fn utc_nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_nanos()).unwrap()
}

/// The kernel's time of a stamp, which must be one.
fn software(timestamp: Timestamp) -> u64 {
    match timestamp {
        Timestamp::Software(utc) => utc.as_nanos(),
        other => panic!("{other:?}"),
    }
}

/// A pair of sockets on one address each, connected.
fn pair(addresses: [Ipv4Addr; 2], options: UdpOptions) -> (UdpSocket, UdpSocket) {
    let pong = UdpSocket::bind(any_port(addresses[1]), options).unwrap();
    let ping = UdpSocket::connect(any_port(addresses[0]), pong.local_address(), options).unwrap();
    (ping, pong)
}

fn tcp(options: TcpOptions) -> (TcpStream, TcpStream) {
    let mut listener = TcpListener::bind(any_port(LOCALHOST)).unwrap();
    let mut client = TcpStream::connect(listener.local_address(), options).unwrap();
    let mut server = None;
    patiently("a connection", || {
        server = server.take().or_else(|| listener.accept(options).unwrap());
        client.finish_connect().unwrap() && server.is_some()
    });
    (client, server.unwrap())
}

/// What an endpoint that stamps can do, whichever it is.
trait Stamps: Transmit {
    fn stamps(&mut self) -> Vec<Transmitted>;
}

impl Stamps for UdpSocket {
    fn stamps(&mut self) -> Vec<Transmitted> {
        let mut all = Vec::new();
        let count = self.transmit_timestamps(|stamp| all.push(stamp)).unwrap();
        assert_eq!(count, all.len());
        all
    }
}

impl Stamps for UdpSender {
    fn stamps(&mut self) -> Vec<Transmitted> {
        let mut all = Vec::new();
        let count = self.transmit_timestamps(|stamp| all.push(stamp)).unwrap();
        assert_eq!(count, all.len());
        all
    }
}

impl Stamps for TcpStream {
    fn stamps(&mut self) -> Vec<Transmitted> {
        let mut all = Vec::new();
        let count = self.transmit_timestamps(|stamp| all.push(stamp)).unwrap();
        assert_eq!(count, all.len());
        all
    }
}

/// Sends one message at a time, and finds for each one stamp, of its id and of a time within its
/// transmission.
fn check_one_by_one(sender: &mut impl Stamps, length: usize, ids: impl Iterator<Item = u32>) {
    let mut last = 0;
    for id in ids {
        let before = utc_nanos();
        sender.transmit(length, |bytes| bytes.fill(1)).unwrap();
        let mut all = Vec::new();
        patiently("a stamp", || {
            all.extend(sender.stamps());
            !all.is_empty()
        });
        let after = utc_nanos();
        assert_eq!(all.iter().map(|stamp| stamp.id).collect::<Vec<_>>(), [id]);
        let time = software(all[0].timestamp);
        assert!(before <= time && time <= after, "{before} {time} {after}");
        assert!(last <= time, "{last} {time}");
        last = time;
    }
    assert!(sender.stamps().is_empty());
}

#[test]
fn each_datagram_of_a_socket_has_one_stamp_of_when_it_left() {
    let (mut ping, pong) = pair([LOCALHOST; 2], WITHOUT);
    ping.set_transmit_timestamping(SOFTWARE).unwrap();
    check_one_by_one(&mut ping, 32, 0..100);
    // What goes elsewhere counts too.
    let to = pong.local_address();
    ping.transmit_to(to, 8, |_| {}).unwrap();
    ping.transmit(8, |_| {}).unwrap();
    let mut ids = Vec::new();
    patiently("both stamps", || {
        ids.extend(ping.stamps().iter().map(|stamp| stamp.id));
        ids.len() >= 2
    });
    assert_eq!(ids, [100, 101]);
}

#[test]
fn each_datagram_of_a_sender_has_one_stamp_of_when_it_left() {
    let receiver = UdpReceiver::bind(any_port(LOCALHOST), WITHOUT).unwrap();
    let mut unicast = UdpSender::connect(receiver.local_address(), LOCALHOST).unwrap();
    let mut multicast = UdpSender::new(group(), LOCALHOST, 1).unwrap();
    for sender in [&mut unicast, &mut multicast] {
        sender.set_transmit_timestamping(SOFTWARE).unwrap();
        check_one_by_one(sender, 32, 0..20);
    }
}

#[test]
fn each_write_of_a_stream_has_one_stamp_named_by_its_last_byte() {
    let (mut client, mut server) = tcp(TcpOptions::default());
    // What was written before does not count.
    client.transmit(1_000, |bytes| bytes.fill(7)).unwrap();
    client.set_transmit_timestamping(SOFTWARE).unwrap();
    let mut seen = 0;
    for round in 0..20 {
        check_one_by_one(&mut client, 50, std::iter::once(50 * round + 49));
        server.receive(64, |_, bytes| seen += bytes.len()).unwrap();
    }
    assert!(seen >= 1_000);
}

#[test]
fn stamps_of_a_burst_count_up_without_holes_and_in_order() {
    let (mut ping, mut pong) = pair([LOCALHOST; 2], WITHOUT);
    ping.set_transmit_timestamping(SOFTWARE).unwrap();
    let mut all = Vec::new();
    for _ in 0..10 {
        (0..50).for_each(|_| ping.transmit(16, |_| {}).unwrap());
        all.extend(ping.stamps());
        pong.receive(64, |_, _| {}).unwrap();
    }
    patiently("all stamps", || {
        all.extend(ping.stamps());
        all.len() >= 500
    });
    assert!(all.iter().map(|stamp| stamp.id).eq(0..500));
    assert!(all.is_sorted_by_key(|stamp| software(stamp.timestamp)));
    assert_eq!(ping.transmit_timestamps_lost(), 0);
}

#[test]
fn nothing_is_stamped_unless_asked_for() {
    let (mut ping, mut pong) = pair([LOCALHOST; 2], WITHOUT);
    assert_eq!(ping.transmit_timestamping(), Timestamping::Off);
    assert_eq!(ping.timestamping(), Timestamping::Off);
    for _ in 0..3 {
        ping.transmit(1, |_| {}).unwrap();
        assert!(ping.stamps().is_empty());
        assert_eq!(receive(&mut pong, 1)[0].0.timestamp, Timestamp::None);
    }
    // Nor of what arrives, if only what leaves is to be, though others have arrivals stamped.
    let (mut other, mut stamped) = pair([LOCALHOST; 2], UdpOptions::default());
    pong.set_transmit_timestamping(SOFTWARE).unwrap();
    patiently("stamps of arrivals", || {
        other.transmit(1, |_| {}).unwrap();
        receive(&mut stamped, 1)[0].0.timestamp != Timestamp::None
    });
    for _ in 0..3 {
        ping.transmit(1, |_| {}).unwrap();
        assert_eq!(receive(&mut pong, 1)[0].0.timestamp, Timestamp::None);
    }
    let (mut client, mut server) = tcp(TcpOptions::default());
    server.set_transmit_timestamping(SOFTWARE).unwrap();
    client.transmit(1, |_| {}).unwrap();
    assert_eq!(receive(&mut server, 1)[0].0.timestamp, Timestamp::None);
    assert!(client.stamps().is_empty());
}

#[test]
fn ids_begin_anew_when_stamps_are_asked_for_again() {
    let (mut ping, _pong) = pair([LOCALHOST; 2], WITHOUT);
    ping.set_transmit_timestamping(SOFTWARE).unwrap();
    ping.transmit(1, |_| {}).unwrap();
    ping.transmit(1, |_| {}).unwrap();
    ping.set_transmit_timestamping(Timestamping::Off).unwrap();
    ping.transmit(1, |_| {}).unwrap();
    assert!(ping.stamps().is_empty());
    ping.set_transmit_timestamping(SOFTWARE).unwrap();
    check_one_by_one(&mut ping, 1, 0..2);
    ping.set_transmit_timestamping(SOFTWARE).unwrap();
    check_one_by_one(&mut ping, 1, 0..2);
}

#[test]
fn a_receive_that_finds_nothing_keeps_the_stamps_and_their_order() {
    let (mut ping, mut pong) = pair([LOCALHOST; 2], WITHOUT);
    ping.set_transmit_timestamping(SOFTWARE).unwrap();
    for count in 1..=20 {
        ping.transmit(1, |_| {}).unwrap();
        if count % 7 == 0 {
            assert_eq!(ping.receive(8, |_, _| {}).unwrap().count, 0);
        }
    }
    assert_eq!(receive(&mut pong, 20).len(), 20);
    let mut ids = Vec::new();
    patiently("all stamps", || {
        ids.extend(ping.stamps().iter().map(|stamp| stamp.id));
        ids.len() >= 20
    });
    assert_eq!(ids, (0..20).collect::<Vec<_>>());
}

#[test]
fn of_stamps_that_go_unread_the_newest_are_kept_and_the_others_counted() {
    let (mut ping, _pong) = pair([LOCALHOST; 2], WITHOUT);
    ping.set_transmit_timestamping(SOFTWARE).unwrap();
    for _ in 0..1_100 {
        ping.transmit(1, |_| {}).unwrap();
        ping.receive(8, |_, _| panic!("nobody answers")).unwrap();
    }
    let ids: Vec<u32> = ping.stamps().iter().map(|stamp| stamp.id).collect();
    assert!(ids.iter().copied().eq(1_100 - 1_024..1_100));
    assert_eq!(ping.transmit_timestamps_lost(), 1_100 - 1_024);
}

#[test]
fn a_stream_that_is_not_connected_stamps_nothing() {
    // Nobody accepts; the attempt may still succeed at once.
    let address = SocketAddrV4::new(LOCALHOST, loopback::port());
    let Ok(mut client) = TcpStream::connect(address, TcpOptions::default()) else { return };
    if client.is_connected() {
        return;
    }
    let error = client.set_transmit_timestamping(SOFTWARE).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotConnected);
}

#[test]
fn a_chunk_of_a_stream_has_the_time_of_its_last_segment() {
    let options = TcpOptions { timestamping: SOFTWARE, ..TcpOptions::default() };
    let (mut client, mut server) = tcp(options);
    // Stamping begins some time after the first socket has asked for it; until then there is none.
    patiently("a timestamp", || {
        client.transmit(1, |_| {}).unwrap();
        receive(&mut server, 1).last().unwrap().0.timestamp != Timestamp::None
    });
    for _ in 0..10 {
        client.transmit(10, |_| {}).unwrap();
        let between = utc_nanos();
        client.transmit(10, |_| {}).unwrap();
        let after = utc_nanos();
        let mut chunks = Vec::new();
        patiently("both", || {
            server.receive(1, |meta, bytes| chunks.push((meta, bytes.len()))).unwrap();
            chunks.iter().map(|chunk| chunk.1).sum::<usize>() == 20
        });
        let time = software(chunks.last().unwrap().0.timestamp);
        assert!(between <= time && time <= after, "{between} {time} {after}");
    }
}

#[test]
fn hardware_that_is_not_there_is_replaced_by_software_and_this_is_told() {
    let options = UdpOptions { timestamping: Timestamping::Hardware, ..WITHOUT };
    let (mut ping, mut pong) = pair([LOCALHOST; 2], options);
    ping.set_transmit_timestamping(Timestamping::Hardware).unwrap();
    assert_eq!(ping.transmit_timestamping(), SOFTWARE);
    assert_eq!(pong.timestamping(), SOFTWARE);
    check_one_by_one(&mut ping, 1, 0..3);
    patiently("a timestamp", || {
        ping.transmit(1, |_| {}).unwrap();
        let times: Vec<_> = receive(&mut pong, 1).iter().map(|(meta, _)| meta.timestamp).collect();
        assert!(times.iter().all(|time| !matches!(time, Timestamp::Hardware(_))));
        times.iter().any(|time| matches!(time, Timestamp::Software(_)))
    });
    let receiver = UdpReceiver::bind(any_port(Ipv4Addr::UNSPECIFIED), options).unwrap();
    assert_eq!(receiver.timestamping(), SOFTWARE);
    let mut sender = UdpSender::connect(pong.local_address(), LOCALHOST).unwrap();
    sender.set_transmit_timestamping(Timestamping::Hardware).unwrap();
    assert_eq!(sender.transmit_timestamping(), SOFTWARE);
    let options = TcpOptions { timestamping: Timestamping::Hardware, ..TcpOptions::default() };
    let (mut client, server) = tcp(options);
    assert_eq!((client.timestamping(), server.timestamping()), (SOFTWARE, SOFTWARE));
    client.set_transmit_timestamping(Timestamping::Hardware).unwrap();
    assert_eq!(client.transmit_timestamping(), SOFTWARE);
}

#[test]
#[ignore = "needs root"]
fn a_veth_stamps_what_leaves_and_what_arrives() {
    let bed = Testbed::namespaces().unwrap();
    let [here, there] = bed.hosts();
    let options = UdpOptions { timestamping: SOFTWARE, ..WITHOUT };
    let mut pong =
        there.run(|| UdpSocket::bind(any_port(there.address()), options).unwrap()).unwrap();
    let remote = pong.local_address();
    let (mut ping, known) = here
        .run(|| {
            let local = any_port(here.address());
            let ping = UdpSocket::connect(local, remote, options).unwrap();
            (ping, InterfaceTimestamping::of(here.interface()).unwrap())
        })
        .unwrap();
    assert!(known.can_transmit_software && !known.is_transmit_on && !known.is_receive_on);
    ping.set_transmit_timestamping(SOFTWARE).unwrap();
    // The first datagram waits for the neighbour's address, and stamps of arrivals begin late.
    let (mut sent, mut left, mut arrived) = (0_u32, Vec::new(), Vec::new());
    patiently("stamps of both kinds", || {
        ping.transmit(32, |_| {}).unwrap();
        sent += 1;
        patiently("a datagram", || {
            pong.receive(64, |meta, _| arrived.push(meta.timestamp)).unwrap();
            left.extend(ping.stamps());
            arrived.len() == sent as usize && left.len() == sent as usize
        });
        sent >= 20 && arrived.last() != Some(&Timestamp::None)
    });
    assert!(left.iter().map(|stamp| stamp.id).eq(0..sent));
    for (left, arrived) in left.iter().zip(&arrived) {
        if let Timestamp::Software(arrived) = arrived {
            assert!(software(left.timestamp) <= arrived.as_nanos());
        }
    }
    here.run(|| check_one_by_one(&mut ping, 32, sent..sent + 20)).unwrap();
}
