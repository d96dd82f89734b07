//! Receive and transmit timestamps of datagrams and streams.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::loopback::{any_port, eventually, group, receive};
use hairpin_endpoint::{
    InterfaceTimestamping, Receive, Stream, TcpListener, TcpOptions, TcpStream, Timestamp,
    Timestamping, Transmit, Transmitted, UdpOptions, UdpReceiver, UdpSender, UdpSocket,
};
use hairpin_testbed::Testbed;

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

/// Creates two connected sockets on these addresses.
fn pair(addresses: [Ipv4Addr; 2], options: UdpOptions) -> (UdpSocket, UdpSocket) {
    let pong = UdpSocket::bind(any_port(addresses[1]), options).unwrap();
    let ping = UdpSocket::connect(any_port(addresses[0]), pong.local_address(), options).unwrap();
    (ping, pong)
}

fn tcp(options: TcpOptions) -> (TcpStream, TcpStream) {
    let mut listener = TcpListener::bind(any_port(LOCALHOST)).unwrap();
    let mut client = TcpStream::connect(listener.local_address(), options).unwrap();
    let mut server = None;
    eventually("a connection", || {
        server = server.take().or_else(|| listener.accept(options).unwrap());
        client.finish_connect().unwrap() && server.is_some()
    });
    (client, server.unwrap())
}

/// The transmit timestamps of any endpoint.
trait TransmitTimestamps: Transmit {
    fn stamps(&mut self) -> Vec<Transmitted>;
}

impl TransmitTimestamps for UdpSocket {
    fn stamps(&mut self) -> Vec<Transmitted> {
        let mut all = Vec::new();
        let count = self.transmit_timestamps(|stamp| all.push(stamp)).unwrap();
        assert_eq!(count, all.len());
        all
    }
}

impl TransmitTimestamps for UdpSender {
    fn stamps(&mut self) -> Vec<Transmitted> {
        let mut all = Vec::new();
        let count = self.transmit_timestamps(|stamp| all.push(stamp)).unwrap();
        assert_eq!(count, all.len());
        all
    }
}

impl TransmitTimestamps for TcpStream {
    fn stamps(&mut self) -> Vec<Transmitted> {
        let mut all = Vec::new();
        let count = self.transmit_timestamps(|stamp| all.push(stamp)).unwrap();
        assert_eq!(count, all.len());
        all
    }
}

/// Sends one message at a time and checks each timestamp: one per message, with its id and a time
/// within the transmission.
fn check_one_by_one(
    sender: &mut impl TransmitTimestamps,
    length: usize,
    ids: impl Iterator<Item = u32>,
) {
    let mut last = 0;
    for id in ids {
        let before = utc_nanos();
        sender.transmit(length, |bytes| bytes.fill(1)).unwrap();
        let mut all = Vec::new();
        eventually("a stamp", || {
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
fn socket_datagrams_have_transmit_timestamps() {
    let (mut ping, pong) = pair([LOCALHOST; 2], WITHOUT);
    ping.set_transmit_timestamping(SOFTWARE).unwrap();
    check_one_by_one(&mut ping, 32, 0..100);
    // Datagrams to other addresses count too.
    let to = pong.local_address();
    ping.transmit_to(to, 8, |_| {}).unwrap();
    ping.transmit(8, |_| {}).unwrap();
    let mut ids = Vec::new();
    eventually("both stamps", || {
        ids.extend(ping.stamps().iter().map(|stamp| stamp.id));
        ids.len() >= 2
    });
    assert_eq!(ids, [100, 101]);
}

#[test]
fn sender_datagrams_have_transmit_timestamps() {
    let receiver = UdpReceiver::bind(any_port(LOCALHOST), WITHOUT).unwrap();
    let mut unicast = UdpSender::connect(receiver.local_address(), LOCALHOST).unwrap();
    let mut multicast = UdpSender::new(group(), LOCALHOST, 1).unwrap();
    for sender in [&mut unicast, &mut multicast] {
        sender.set_transmit_timestamping(SOFTWARE).unwrap();
        check_one_by_one(sender, 32, 0..20);
    }
}

#[test]
fn stream_writes_have_transmit_timestamps_by_last_byte() {
    let (mut client, mut server) = tcp(TcpOptions::default());
    // Bytes written before do not count.
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
fn burst_has_consecutive_transmit_ids() {
    let (mut ping, mut pong) = pair([LOCALHOST; 2], WITHOUT);
    ping.set_transmit_timestamping(SOFTWARE).unwrap();
    let mut all = Vec::new();
    for _ in 0..10 {
        (0..50).for_each(|_| ping.transmit(16, |_| {}).unwrap());
        all.extend(ping.stamps());
        pong.receive(64, |_, _| {}).unwrap();
    }
    eventually("all stamps", || {
        all.extend(ping.stamps());
        all.len() >= 500
    });
    assert!(all.iter().map(|stamp| stamp.id).eq(0..500));
    assert!(all.is_sorted_by_key(|stamp| software(stamp.timestamp)));
    assert_eq!(ping.transmit_timestamps_discarded(), 0);
}

#[test]
fn takes_no_timestamps_unless_requested() {
    let (mut ping, mut pong) = pair([LOCALHOST; 2], WITHOUT);
    assert_eq!(ping.transmit_timestamping(), Timestamping::Off);
    assert_eq!(ping.timestamping(), Timestamping::Off);
    for _ in 0..3 {
        ping.transmit(1, |_| {}).unwrap();
        assert!(ping.stamps().is_empty());
        assert_eq!(receive(&mut pong, 1)[0].0.timestamp, Timestamp::None);
    }
    // With transmit timestamps only, arrivals have none, even if other sockets request them.
    let (mut other, mut stamped) = pair([LOCALHOST; 2], UdpOptions::default());
    pong.set_transmit_timestamping(SOFTWARE).unwrap();
    eventually("stamps of arrivals", || {
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
fn ids_restart_when_timestamps_are_requested_again() {
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
fn empty_receive_keeps_timestamps_in_order() {
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
    eventually("all stamps", || {
        ids.extend(ping.stamps().iter().map(|stamp| stamp.id));
        ids.len() >= 20
    });
    assert_eq!(ids, (0..20).collect::<Vec<_>>());
}

#[test]
fn keeps_newest_unread_timestamps() {
    let (mut ping, _pong) = pair([LOCALHOST; 2], WITHOUT);
    ping.set_transmit_timestamping(SOFTWARE).unwrap();
    for _ in 0..1_100 {
        ping.transmit(1, |_| {}).unwrap();
        ping.receive(8, |_, _| panic!("no reply is expected")).unwrap();
    }
    let ids: Vec<u32> = ping.stamps().iter().map(|stamp| stamp.id).collect();
    assert!(ids.iter().copied().eq(1_100 - 1_024..1_100));
    assert_eq!(ping.transmit_timestamps_discarded(), 1_100 - 1_024);
}

#[test]
fn unconnected_stream_has_no_timestamps() {
    // No process accepts; the attempt may still succeed immediately.
    let address = SocketAddrV4::new(LOCALHOST, crate::loopback::port());
    let Ok(mut client) = TcpStream::connect(address, TcpOptions::default()) else { return };
    if client.is_connected() {
        return;
    }
    let error = client.set_transmit_timestamping(SOFTWARE).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotConnected);
}

#[test]
fn chunk_has_time_of_last_segment() {
    let options = TcpOptions { timestamping: SOFTWARE, ..TcpOptions::default() };
    let (mut client, mut server) = tcp(options);
    // Timestamps start some time after the first socket has requested them.
    eventually("a timestamp", || {
        client.transmit(1, |_| {}).unwrap();
        receive(&mut server, 1).last().unwrap().0.timestamp != Timestamp::None
    });
    for _ in 0..10 {
        client.transmit(10, |_| {}).unwrap();
        let between = utc_nanos();
        client.transmit(10, |_| {}).unwrap();
        let after = utc_nanos();
        let mut chunks = Vec::new();
        eventually("both", || {
            server.receive(1, |meta, bytes| chunks.push((meta, bytes.len()))).unwrap();
            chunks.iter().map(|chunk| chunk.1).sum::<usize>() == 20
        });
        let time = software(chunks.last().unwrap().0.timestamp);
        assert!(between <= time && time <= after, "{between} {time} {after}");
    }
}

#[test]
fn missing_hardware_falls_back_to_software() {
    let options = UdpOptions { timestamping: Timestamping::Hardware, ..WITHOUT };
    let (mut ping, mut pong) = pair([LOCALHOST; 2], options);
    ping.set_transmit_timestamping(Timestamping::Hardware).unwrap();
    assert_eq!(ping.transmit_timestamping(), SOFTWARE);
    assert_eq!(pong.timestamping(), SOFTWARE);
    check_one_by_one(&mut ping, 1, 0..3);
    eventually("a timestamp", || {
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
fn veth_takes_software_timestamps() {
    let testbed = Testbed::namespaces().unwrap();
    let [here, there] = testbed.hosts();
    let options = UdpOptions { timestamping: SOFTWARE, ..WITHOUT };
    let mut pong =
        there.run(|| UdpSocket::bind(any_port(there.address()), options).unwrap()).unwrap();
    let remote = pong.local_address();
    let (mut ping, known) = here
        .run(|| {
            let local = any_port(here.address());
            let ping = UdpSocket::connect(local, remote, options).unwrap();
            (ping, InterfaceTimestamping::query(here.interface()).unwrap())
        })
        .unwrap();
    assert!(known.software_transmit && !known.transmit_enabled && !known.receive_enabled);
    ping.set_transmit_timestamping(SOFTWARE).unwrap();
    // The first datagram waits for neighbor resolution, and receive timestamps start late.
    let (mut sent, mut left, mut arrived) = (0_u32, Vec::new(), Vec::new());
    eventually("stamps of both kinds", || {
        ping.transmit(32, |_| {}).unwrap();
        sent += 1;
        eventually("a datagram", || {
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
