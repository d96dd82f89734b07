//! A replay client against a small server on the loopback interface.
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::thread::{JoinHandle, spawn};

use hairpin_feed_handler::{ReplayClient, ReplayCompletion, ReplayError, ReplaySettings};
use hairpin_mdp3::PacketHeader;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Utc};

/// The server's behavior on one connection.
#[derive(Clone, Copy)]
enum Behavior {
    /// Sends the requested packets.
    Serve,
    /// Closes the connection after this number of packets.
    Break(u32),
    /// Logs out at once, with a text.
    Refuse,
    /// Sends nothing.
    Hang,
}

fn frame(sequence: u32, template: u16, body: &[u8]) -> Vec<u8> {
    let header = PacketHeader { sequence, sending_time: Utc::EPOCH }.encode();
    let (size, block) = ((10 + body.len()) as u16, body.len() as u16);
    let message = [size, block, template, 1, 13].map(u16::to_le_bytes).concat();
    let packet = [&header[..], &message, body].concat();
    [&(packet.len() as u16).to_le_bytes()[..], &packet].concat()
}

/// Reads one FIX message, checks length and checksum, and returns its fields.
fn message(stream: &mut TcpStream) -> Option<Vec<(u32, String)>> {
    let mut bytes = Vec::new();
    // SOH, 10=, three digits, SOH.
    while !(bytes.ends_with(b"\x01")
        && bytes.rchunks(8).next().is_some_and(|it| it.starts_with(b"\x0110=")))
    {
        let mut byte = [0];
        match stream.read(&mut byte) {
            Ok(1) => bytes.push(byte[0]),
            _ => return None,
        }
    }
    let body = bytes.len() - 7;
    let sum = bytes[..body].iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    assert_eq!(bytes[body..], format!("10={sum:03}\x01").into_bytes());
    let text = String::from_utf8(bytes[..body].to_vec()).unwrap();
    let fields: Vec<(u32, String)> = text
        .split_terminator('\x01')
        .map(|field| field.split_once('=').unwrap())
        .map(|(tag, value)| (tag.parse().unwrap(), value.to_owned()))
        .collect();
    let length = text.find('\x01').unwrap() + 1;
    assert_eq!(fields[0], (9, (text.len() - length).to_string()));
    Some(fields)
}

fn value(fields: &[(u32, String)], tag: u32) -> &str {
    &fields.iter().find(|(other, _)| *other == tag).unwrap().1
}

/// Serves one connection per behavior; returns the types of the received messages.
fn server(behaviors: Vec<Behavior>) -> (SocketAddrV4, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let SocketAddr::V4(address) = listener.local_addr().unwrap() else { panic!() };
    let serve = move || {
        let mut types = Vec::new();
        for behavior in behaviors {
            let (mut stream, _) = listener.accept().unwrap();
            while let Some(fields) = message(&mut stream) {
                let kind = value(&fields, 35).to_owned();
                match (&*kind, behavior) {
                    ("A", Behavior::Hang) | ("5", _) => {}
                    ("A", Behavior::Refuse) => {
                        let mut text = [0; 180];
                        text[..7].copy_from_slice(b"too old");
                        let bytes = [frame(1, 15, &[30]), frame(2, 16, &text)].concat();
                        stream.write_all(&bytes).unwrap();
                    }
                    ("A", _) => {
                        assert_eq!(value(&fields, 553), "CME");
                        stream.write_all(&frame(1, 15, &[30])).unwrap();
                    }
                    ("V", _) => {
                        let (first, last): (u32, u32) = (
                            value(&fields, 1_182).parse().unwrap(),
                            value(&fields, 1_183).parse().unwrap(),
                        );
                        assert_eq!(value(&fields, 1_180), "310");
                        let count =
                            if let Behavior::Break(count) = behavior { count } else { u32::MAX };
                        for sequence in (first..=last).take(count as usize) {
                            stream.write_all(&frame(sequence, 12, &[])).unwrap();
                        }
                        if count != u32::MAX {
                            types.push(kind);
                            break;
                        }
                    }
                    other => panic!("{}", other.0),
                }
                types.push(kind);
            }
        }
        types
    };
    (address, spawn(serve))
}

/// Requests packets until the request completes; each call takes one millisecond of virtual time.
fn request(
    hosts: &[SocketAddrV4],
    first: u32,
    last: u32,
    wait: Wait,
) -> (Vec<u32>, ReplayCompletion) {
    // A slow machine may need many calls.
    let timeout = Duration::from_secs(30);
    request_with(
        ReplaySettings { timeout, ..ReplaySettings::default() },
        hosts,
        (first, last),
        wait,
    )
}

fn request_with(
    settings: ReplaySettings,
    hosts: &[SocketAddrV4],
    (first, last): (u32, u32),
    wait: Wait,
) -> (Vec<u32>, ReplayCompletion) {
    let mut reactor = Reactor::new(wait).unwrap();
    let mut client = ReplayClient::new(settings, "310", hosts, Ipv4Addr::UNSPECIFIED).unwrap();
    client.request(Instant::ZERO, first, last, &mut reactor).unwrap();
    let again = client.request(Instant::ZERO, first, last, &mut reactor);
    assert!(matches!(again, Err(ReplayError::Busy)));
    let (mut received, mut now) = (Vec::new(), Instant::ZERO);
    for _ in 0..30_000 {
        assert!(client.is_busy() && client.next_deadline().is_some());
        let ready = reactor.wait(now, Some(now + Duration::from_millis(1))).unwrap();
        now += Duration::from_millis(1);
        if wait == Wait::Spin {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let end = client.process(now, ready, &mut reactor, &mut |packet| {
            received.push(PacketHeader::decode(packet).unwrap().0.sequence);
        });
        if let Some(end) = end {
            assert!(!client.is_busy());
            assert_eq!((reactor.count(), end.first, end.last), (0, first, last));
            return (received, end);
        }
    }
    panic!("the request does not complete: {received:?}");
}

#[test]
fn range_arrives_on_its_own_connection() {
    for wait in [Wait::Epoll, Wait::Poll, Wait::Spin, Wait::IoUring] {
        let (host, server) = server(vec![Behavior::Serve]);
        let (received, end) = request(&[host], 7, 506, wait);
        assert!(received.into_iter().eq(7..=506), "{wait}");
        assert!(end.outcome.is_ok() && end.packets == 500);
        assert_eq!(server.join().unwrap(), ["A", "V", "5"]);
    }
}

#[test]
fn missing_packets_are_requested_from_the_next_host() {
    let (first, one) = server(vec![Behavior::Break(3), Behavior::Serve]);
    let (second, other) = server(vec![Behavior::Break(2)]);
    let (received, end) = request(&[first, second], 7, 16, Wait::Epoll);
    assert!(received.into_iter().eq(7..=16));
    assert!(end.outcome.is_ok() && end.packets == 10);
    assert_eq!(one.join().unwrap(), ["A", "V", "A", "V", "5"]);
    assert_eq!(other.join().unwrap(), ["A", "V"]);
}

#[test]
fn attempts_are_limited_and_the_last_error_is_reported() {
    let (host, server) = server(vec![Behavior::Break(1); 3]);
    let (received, end) = request(&[host], 7, 16, Wait::Epoll);
    assert_eq!(received, [7, 8, 9]);
    let error = end.outcome.unwrap_err();
    assert_eq!(error.to_string(), "replay server closed the connection");
    assert_eq!(server.join().unwrap().len(), 6);
    // The server no longer listens.
    let (_, end) = request(&[host], 7, 16, Wait::Epoll);
    let Err(ReplayError::Io(error)) = end.outcome else { panic!("{end:?}") };
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn refused_request_is_not_repeated() {
    let (host, server) = server(vec![Behavior::Refuse]);
    let (received, end) = request(&[host], 7, 16, Wait::Epoll);
    assert_eq!(received, []);
    let error = end.outcome.unwrap_err();
    assert_eq!(error.to_string(), "replay server refused the request: too old");
    assert_eq!(server.join().unwrap(), ["A"]);
}

#[test]
fn silent_server_times_out() {
    let (host, server) = server(vec![Behavior::Hang; 3]);
    let settings =
        ReplaySettings { timeout: Duration::from_millis(200), ..ReplaySettings::default() };
    let (_, end) = request_with(settings, &[host], (7, 16), Wait::Epoll);
    assert!(matches!(end.outcome, Err(ReplayError::Silent(_))), "{end:?}");
    assert_eq!(server.join().unwrap(), ["A", "A", "A"]);
}

#[test]
fn rejects_missing_hosts_and_invalid_text() {
    let no_host = ReplayClient::new(ReplaySettings::default(), "310", &[], Ipv4Addr::UNSPECIFIED);
    assert_eq!(no_host.unwrap_err().to_string(), "cannot request a replay: no replay host");
    let user = "C\x01ME".to_owned();
    let settings = ReplaySettings { user, ..ReplaySettings::default() };
    let host = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
    let invalid = ReplayClient::new(settings, "310", &[host], Ipv4Addr::UNSPECIFIED);
    assert!(matches!(invalid, Err(ReplayError::InvalidText)));
}
