//! Packets asked for again, of a small server on the loopback interface.
#![allow(clippy::unwrap_used, reason = "a socket that cannot be had fails the test")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::thread::{JoinHandle, spawn};

use hairpin_feed_handler::{ReplayClient, ReplayCompletion, ReplayError, ReplaySettings};
use hairpin_mdp3::PacketHeader;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Utc};

/// How a server treats one connection.
#[derive(Clone, Copy)]
enum Manner {
    /// Sends the packets asked for.
    Serve,
    /// Ends behind so many of them.
    Break(u32),
    /// Logs out at once, with words.
    Refuse,
    /// Says nothing.
    Hang,
}

fn frame(sequence: u32, template: u16, body: &[u8]) -> Vec<u8> {
    let header = PacketHeader { sequence, sending_time: Utc::EPOCH }.encode();
    let (size, block) = ((10 + body.len()) as u16, body.len() as u16);
    let message = [size, block, template, 1, 13].map(u16::to_le_bytes).concat();
    let packet = [&header[..], &message, body].concat();
    [&(packet.len() as u16).to_le_bytes()[..], &packet].concat()
}

/// One FIX message, checked; its fields.
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

/// Serves one connection each way; returns the types of the messages that came.
fn server(manners: Vec<Manner>) -> (SocketAddrV4, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let SocketAddr::V4(address) = listener.local_addr().unwrap() else { panic!() };
    let serve = move || {
        let mut types = Vec::new();
        for manner in manners {
            let (mut stream, _) = listener.accept().unwrap();
            while let Some(fields) = message(&mut stream) {
                let kind = value(&fields, 35).to_owned();
                match (&*kind, manner) {
                    ("A", Manner::Hang) | ("5", _) => {}
                    ("A", Manner::Refuse) => {
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
                            if let Manner::Break(count) = manner { count } else { u32::MAX };
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

/// Asks for packets until the request has ended; each turn is a millisecond.
fn ask(hosts: &[SocketAddrV4], first: u32, last: u32, wait: Wait) -> (Vec<u32>, ReplayCompletion) {
    // Turns of a slow machine may be many.
    let patience = Duration::from_secs(30);
    ask_with(ReplaySettings { patience, ..ReplaySettings::default() }, hosts, (first, last), wait)
}

fn ask_with(
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
    let (mut come, mut now) = (Vec::new(), Instant::ZERO);
    for _ in 0..30_000 {
        assert!(client.is_busy() && client.next_deadline().is_some());
        let ready = reactor.wait(now, Some(now + Duration::from_millis(1))).unwrap();
        now += Duration::from_millis(1);
        if wait == Wait::Spin {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let end = client.process(now, ready, &mut reactor, &mut |packet| {
            come.push(PacketHeader::decode(packet).unwrap().0.sequence);
        });
        if let Some(end) = end {
            assert!(!client.is_busy());
            assert_eq!((reactor.count(), end.first, end.last), (0, first, last));
            return (come, end);
        }
    }
    panic!("no end: {come:?}");
}

#[test]
fn a_range_comes_by_a_connection_of_its_own() {
    for wait in [Wait::Epoll, Wait::Poll, Wait::Spin, Wait::IoUring] {
        let (host, server) = server(vec![Manner::Serve]);
        let (come, end) = ask(&[host], 7, 506, wait);
        assert!(come.into_iter().eq(7..=506), "{wait}");
        assert!(end.outcome.is_ok() && end.packets == 500);
        assert_eq!(server.join().unwrap(), ["A", "V", "5"]);
    }
}

#[test]
fn what_is_missing_is_asked_for_again_at_the_next_host() {
    let (first, one) = server(vec![Manner::Break(3), Manner::Serve]);
    let (second, other) = server(vec![Manner::Break(2)]);
    let (come, end) = ask(&[first, second], 7, 16, Wait::Epoll);
    assert!(come.into_iter().eq(7..=16));
    assert!(end.outcome.is_ok() && end.packets == 10);
    assert_eq!(one.join().unwrap(), ["A", "V", "A", "V", "5"]);
    assert_eq!(other.join().unwrap(), ["A", "V"]);
}

#[test]
fn attempts_are_counted_and_the_last_tells_why() {
    let (host, server) = server(vec![Manner::Break(1), Manner::Break(1), Manner::Break(1)]);
    let (come, end) = ask(&[host], 7, 16, Wait::Epoll);
    assert_eq!(come, [7, 8, 9]);
    let error = end.outcome.unwrap_err();
    assert_eq!(error.to_string(), "the replay server has ended the connection");
    assert_eq!(server.join().unwrap().len(), 6);
    // Nobody listens there any more.
    let (_, end) = ask(&[host], 7, 16, Wait::Epoll);
    let Err(ReplayError::Io(error)) = end.outcome else { panic!("{end:?}") };
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn a_refusal_is_not_repeated() {
    let (host, server) = server(vec![Manner::Refuse]);
    let (come, end) = ask(&[host], 7, 16, Wait::Epoll);
    assert_eq!(come, []);
    assert_eq!(end.outcome.unwrap_err().to_string(), "the replay server has refused: too old");
    assert_eq!(server.join().unwrap(), ["A"]);
}

#[test]
fn a_silent_server_is_given_up() {
    let (host, server) = server(vec![Manner::Hang; 3]);
    let settings =
        ReplaySettings { patience: Duration::from_millis(200), ..ReplaySettings::default() };
    let (_, end) = ask_with(settings, &[host], (7, 16), Wait::Epoll);
    assert!(matches!(end.outcome, Err(ReplayError::Silent(_))), "{end:?}");
    assert_eq!(server.join().unwrap(), ["A", "A", "A"]);
}

#[test]
fn a_client_without_hosts_or_with_words_that_are_none_is_refused() {
    let nobody = ReplayClient::new(ReplaySettings::default(), "310", &[], Ipv4Addr::UNSPECIFIED);
    assert_eq!(nobody.unwrap_err().to_string(), "no host to ask for a replay");
    let user = "C\x01ME".to_owned();
    let settings = ReplaySettings { user, ..ReplaySettings::default() };
    let host = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
    let odd = ReplayClient::new(settings, "310", &[host], Ipv4Addr::UNSPECIFIED);
    assert!(matches!(odd, Err(ReplayError::InvalidText)));
}
