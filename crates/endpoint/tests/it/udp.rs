//! UDP receivers and senders on the loopback interface.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::loopback::{any_port, eventually, group, group_address, receive};
use hairpin_endpoint::{
    MulticastGroup, Receive, Received, Source, Timestamp, Timestamping, Transmit, UdpOptions,
    UdpReceiver, UdpSender,
};
use hairpin_time::Duration;
use socket2::SockRef;

const LOCALHOST: Ipv4Addr = Ipv4Addr::LOCALHOST;
const OTHER_HOST: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

fn join(group: SocketAddrV4, sources: &[Ipv4Addr]) -> UdpReceiver {
    join_with(group, sources, UdpOptions::default())
}

fn join_with(group: SocketAddrV4, sources: &[Ipv4Addr], options: UdpOptions) -> UdpReceiver {
    UdpReceiver::join(MulticastGroup { group, interface: LOCALHOST, sources }, options).unwrap()
}

fn sender(group: SocketAddrV4) -> UdpSender {
    UdpSender::new(group, LOCALHOST, 1).unwrap()
}

fn send(sender: &mut UdpSender, bytes: &[u8]) {
    sender.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
}

fn unicast(options: UdpOptions) -> (UdpReceiver, UdpSender) {
    let receiver = UdpReceiver::bind(any_port(LOCALHOST), options).unwrap();
    let sender = UdpSender::connect(receiver.local_address(), LOCALHOST).unwrap();
    (receiver, sender)
}

/// Receives the available datagrams without waiting: loopback delivers within the sender's call.
fn drain(receiver: &mut UdpReceiver, budget: usize) -> (Received, Vec<Vec<u8>>) {
    let mut all = Vec::new();
    let received = receiver.receive(budget, |_, bytes| all.push(bytes.to_vec())).unwrap();
    (received, all)
}

#[test]
fn datagram_arrives_once_with_source() {
    let group = group();
    let mut receiver = join(group, &[]);
    let mut sender = sender(group);
    send(&mut sender, b"tick");
    let all = receive(&mut receiver, 1);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].1, b"tick");
    assert_eq!(all[0].0.source, sender.local_address());
    assert_eq!(*sender.local_address().ip(), LOCALHOST);
    assert_eq!(receiver.local_address(), group);
}

#[test]
fn groups_on_one_port_are_separate() {
    let first = group();
    let second = SocketAddrV4::new(group_address(), first.port());
    let mut receivers = [join(first, &[]), join(second, &[])];
    send(&mut sender(second), b"second");
    send(&mut sender(first), b"first");
    for (receiver, expected) in receivers.iter_mut().zip([b"first".as_slice(), b"second"]) {
        let all = receive(receiver, 1);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].1, expected);
        assert_eq!(drain(receiver, 8).1.len(), 0);
    }
}

#[test]
fn receivers_of_one_group_each_get_all() {
    let group = group();
    let mut receivers = [join(group, &[]), join(group, &[])];
    send(&mut sender(group), b"tick");
    for receiver in &mut receivers {
        assert_eq!(receive(receiver, 1).len(), 1);
    }
}

#[test]
fn source_specific_join_receives_only_that_source() {
    let group = group();
    let mut receiver = join(group, &[OTHER_HOST]);
    let mut other = sender(group);
    let mut wanted = UdpSender::new(group, OTHER_HOST, 1).unwrap();
    send(&mut other, b"stranger");
    send(&mut wanted, b"wanted");
    send(&mut other, b"stranger");
    let all = receive(&mut receiver, 1);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].1, b"wanted");
    assert_eq!(*all[0].0.source.ip(), OTHER_HOST);
    assert!(drain(&mut receiver, 8).1.is_empty());
}

#[test]
fn join_of_two_sources_receives_both() {
    let group = group();
    let mut receiver = join(group, &[LOCALHOST, OTHER_HOST]);
    send(&mut sender(group), b"one");
    send(&mut UdpSender::new(group, OTHER_HOST, 1).unwrap(), b"other");
    assert_eq!(receive(&mut receiver, 2).len(), 2);
}

#[test]
fn leaves_and_rejoins_group() {
    for sources in [&[][..], &[LOCALHOST]] {
        let group = group();
        let mut receiver = join(group, sources);
        // Another member on this host makes no difference.
        let _member = join(group, &[]);
        let mut sender = sender(group);
        receiver.leave().unwrap();
        send(&mut sender, b"missed");
        assert!(drain(&mut receiver, 8).1.is_empty());
        receiver.rejoin().unwrap();
        send(&mut sender, b"heard");
        let all = receive(&mut receiver, 1);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].1, b"heard");
        receiver.leave().unwrap();
        assert!(receiver.leave().is_err());
    }
}

#[test]
fn failed_join_joins_no_source_and_can_be_retried() {
    let group = group();
    let mut receiver = join(group, &[LOCALHOST, OTHER_HOST]);
    assert!(receiver.is_joined());
    receiver.leave().unwrap();
    assert!(!receiver.is_joined());
    // A source that is already joined cannot be joined again.
    SockRef::from(&receiver).join_ssm_v4(&OTHER_HOST, group.ip(), &LOCALHOST).unwrap();
    let error = receiver.rejoin().unwrap_err().to_string();
    assert!(error.contains("from 127.0.0.2 on interface 127.0.0.1: "), "{error}");
    assert!(!receiver.is_joined());
    let mut senders = [sender(group), UdpSender::new(group, OTHER_HOST, 1).unwrap()];
    senders.iter_mut().for_each(|sender| send(sender, b"missed"));
    assert!(drain(&mut receiver, 8).1.is_empty());
    receiver.rejoin().unwrap();
    assert!(receiver.is_joined());
    senders.iter_mut().for_each(|sender| send(sender, b"heard"));
    assert_eq!(receive(&mut receiver, 2).len(), 2);
    receiver.leave().unwrap();
    senders.iter_mut().for_each(|sender| send(sender, b"missed"));
    assert!(drain(&mut receiver, 8).1.is_empty(), "both sources must be left");
}

#[test]
fn second_join_fails_and_keeps_first() {
    for sources in [&[][..], &[LOCALHOST, OTHER_HOST]] {
        let group = group();
        let mut receiver = join(group, sources);
        assert!(receiver.rejoin().is_err());
        assert!(receiver.is_joined());
        send(&mut sender(group), b"heard");
        assert_eq!(receive(&mut receiver, 1).len(), 1);
    }
}

#[test]
fn receives_software_timestamps() {
    let (mut receiver, mut sender) = unicast(UdpOptions::default());
    // Timestamps start some time after the first socket has requested them.
    eventually("a timestamp", || {
        let before = utc_nanos();
        send(&mut sender, b"tick");
        let all = receive(&mut receiver, 1);
        let after = utc_nanos();
        match all[0].0.timestamp {
            Timestamp::None => false,
            Timestamp::Hardware(_) => panic!("the loopback interface has no clock"),
            Timestamp::Software(utc) => {
                let utc = utc.as_nanos();
                assert!(before <= utc && utc <= after, "{before} {utc} {after}");
                true
            }
        }
    });
}

fn utc_nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_nanos()).unwrap()
}

#[test]
fn receives_no_timestamps_unless_requested() {
    let options = UdpOptions { timestamping: Timestamping::Off, ..UdpOptions::default() };
    let (mut receiver, mut sender) = unicast(options);
    for _ in 0..3 {
        send(&mut sender, b"tick");
        assert_eq!(receive(&mut receiver, 1)[0].0.timestamp, Timestamp::None);
    }
}

#[test]
fn truncates_and_counts_long_datagram() {
    let options = UdpOptions { datagram_max: 64, ..UdpOptions::default() };
    let (mut receiver, mut sender) = unicast(options);
    send(&mut sender, &[7; 64]);
    send(&mut sender, &[8; 65]);
    send(&mut sender, &[9; 1]);
    let lengths: Vec<usize> = receive(&mut receiver, 3).iter().map(|(_, b)| b.len()).collect();
    assert_eq!(lengths, [64, 64, 1]);
    assert_eq!(receiver.truncated(), 1);
}

#[test]
fn partial_batch_means_drained() {
    let options = UdpOptions { batch: 4, ..UdpOptions::default() };
    let (mut receiver, mut sender) = unicast(options);
    assert_eq!(drain(&mut receiver, 8).0, Received { count: 0, drained: true, closed: false });
    for index in 0..7 {
        send(&mut sender, &[index]);
    }
    let (received, all) = drain(&mut receiver, 3);
    assert_eq!(received, Received { count: 3, drained: false, closed: false });
    assert_eq!(all, [[0], [1], [2]]);
    let (received, all) = drain(&mut receiver, 4);
    assert_eq!(received, Received { count: 4, drained: false, closed: false });
    assert_eq!(all, [[3], [4], [5], [6]]);
    assert_eq!(drain(&mut receiver, 4).0, Received { count: 0, drained: true, closed: false });
}

#[test]
fn budget_of_several_batches_keeps_order() {
    let options = UdpOptions { batch: 4, ..UdpOptions::default() };
    let (mut receiver, mut sender) = unicast(options);
    for index in 0..11 {
        send(&mut sender, &[index]);
    }
    let (received, all) = drain(&mut receiver, 10);
    assert_eq!((received.count, received.drained), (10, false));
    assert_eq!(all.concat(), (0..10).collect::<Vec<u8>>());
    let (received, all) = drain(&mut receiver, 10);
    assert_eq!((received.count, received.drained), (1, true));
    assert_eq!(all, [[10]]);
    assert_eq!(drain(&mut receiver, 0).0, Received::default());
}

#[test]
fn slots_are_reusable() {
    let options = UdpOptions { batch: 4, ..UdpOptions::default() };
    let (mut receiver, mut sender) = unicast(options);
    for round in 0..50_u8 {
        for index in 0..=round % 6 {
            send(&mut sender, &vec![index; usize::from(round) + 1]);
        }
        for (index, (meta, bytes)) in receive(&mut receiver, 1).into_iter().enumerate() {
            assert_eq!(bytes, vec![index as u8; usize::from(round) + 1]);
            assert_eq!(meta.source, sender.local_address());
        }
    }
}

#[test]
fn delivers_empty_datagram() {
    let (mut receiver, mut sender) = unicast(UdpOptions::default());
    send(&mut sender, &[]);
    assert_eq!(receive(&mut receiver, 1)[0].1, []);
}

#[test]
fn counts_drops_of_full_buffer() {
    let options = UdpOptions { receive_buffer: Some(8_192), ..UdpOptions::default() };
    let (mut receiver, mut sender) = unicast(options);
    let mut kept = 0;
    for round in 1..=3 {
        for _ in 0..100 {
            send(&mut sender, &[0; 1_000]);
        }
        kept += receive(&mut receiver, 1).len();
        // The kernel reports drops with the next datagram that it delivers.
        send(&mut sender, &[1]);
        receive(&mut receiver, 1);
        assert!(kept < 100 * round);
        assert_eq!(receiver.dropped(), (100 * round - kept) as u64);
    }
}

#[test]
fn reports_requested_and_granted_receive_buffer() {
    let options = UdpOptions { receive_buffer: Some(100_000), ..UdpOptions::default() };
    let (receiver, _) = unicast(options);
    assert_eq!(receiver.receive_buffer().requested, Some(100_000));
    assert_eq!(receiver.receive_buffer().granted, 100_000);
    let (receiver, _) = unicast(UdpOptions { receive_buffer: None, ..UdpOptions::default() });
    assert_eq!(receiver.receive_buffer().requested, None);
    assert!(receiver.receive_buffer().granted > 0);
}

#[test]
fn errors_name_the_operation() {
    let nowhere = Ipv4Addr::new(192, 0, 2, 1);
    let group = group();
    let attempt = MulticastGroup { group, interface: nowhere, sources: &[] };
    let error = UdpReceiver::join(attempt, UdpOptions::default()).unwrap_err().to_string();
    let expected = format!("cannot join {} on interface 192.0.2.1: ", group.ip());
    assert!(error.starts_with(&expected), "{error}");

    let attempt = MulticastGroup { group, interface: nowhere, sources: &[LOCALHOST] };
    let error = UdpReceiver::join(attempt, UdpOptions::default()).unwrap_err().to_string();
    let expected = format!("cannot join {} from 127.0.0.1 on interface 192.0.2.1: ", group.ip());
    assert!(error.starts_with(&expected), "{error}");

    let error = UdpSender::new(group, nowhere, 1).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrNotAvailable);
    assert!(error.to_string().starts_with("cannot send from 192.0.2.1: "), "{error}");

    let host = any_port(LOCALHOST);
    let attempt = MulticastGroup { group: host, interface: LOCALHOST, sources: &[] };
    let error = UdpReceiver::join(attempt, UdpOptions::default()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    let error = UdpSender::new(host, LOCALHOST, 1).unwrap_err();
    assert!(error.to_string().contains("127.0.0.1 is not a multicast address"), "{error}");
}

#[test]
fn bind_error_has_address() {
    let (receiver, _) = unicast(UdpOptions::default());
    let address = receiver.local_address();
    let error = UdpReceiver::bind(address, UdpOptions::default()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    assert!(error.to_string().starts_with(&format!("cannot receive on {address}: ")), "{error}");
}

#[test]
fn rejects_datagram_longer_than_udp_maximum() {
    let (_receiver, mut sender) = unicast(UdpOptions::default());
    let error = sender.transmit(65_508, |_| panic!("fill must not be called")).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    sender.transmit(65_507, |bytes| bytes.fill(1)).unwrap();
}

#[test]
fn blocking_receive_delivers_in_order_and_once() {
    let options = UdpOptions { batch: 4, ..UdpOptions::default() };
    let (mut receiver, mut sender) = unicast(options);
    let blocker = receiver.set_blocking(Some(Duration::from_millis(1))).unwrap().unwrap();
    for index in 0..6 {
        send(&mut sender, &[index]);
    }
    assert!(blocker.block());
    let (received, all) = drain(&mut receiver, 3);
    assert_eq!((received.count, received.drained), (3, false));
    assert_eq!(all.concat(), [0, 1, 2]);
    // One datagram of the batch has not been delivered: blocking again must not lose it.
    assert!(blocker.block());
    let (received, all) = drain(&mut receiver, 8);
    assert_eq!((received.count, received.drained), (3, true));
    assert_eq!(all.concat(), [3, 4, 5]);
}

#[test]
fn blocking_receive_timeout_delivers_nothing() {
    let (mut receiver, mut sender) = unicast(UdpOptions::default());
    let blocker = receiver.set_blocking(Some(Duration::from_millis(1))).unwrap().unwrap();
    assert!(blocker.block());
    send(&mut sender, b"later");
    // The wait found no data. The next call makes a system call.
    let nothing = Received { count: 0, drained: true, closed: false };
    assert_eq!(drain(&mut receiver, 8).0, nothing);
    assert_eq!(drain(&mut receiver, 8).1, [b"later"]);
    assert_eq!(drain(&mut receiver, 8).0, nothing, "a receive never blocks");
}

#[test]
fn blocker_detects_dropped_source() {
    let (mut receiver, _sender) = unicast(UdpOptions::default());
    let blocker = receiver.set_blocking(Some(Duration::from_millis(1))).unwrap().unwrap();
    assert_eq!(receiver.set_blocking(None).unwrap().map(drop), None);
    assert!(!blocker.block());
    let blocker = receiver.set_blocking(Some(Duration::from_millis(1))).unwrap().unwrap();
    drop(receiver);
    assert!(!blocker.block());
}
