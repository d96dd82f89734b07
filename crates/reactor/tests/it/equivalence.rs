//! Every wait delivers the same: the same bytes in the same order, to the end of stream.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd};

use crate::supported_waits::supported;
use crate::traffic::{Seen, Traffic, iterate_until};
use hairpin_endpoint::{
    Receive, Source, Stream, TcpListener, TcpOptions, TcpStream, Transmit, UdpOptions, UdpReceiver,
    UdpSender, UdpSocket,
};
use hairpin_reactor::{Interest, Reactor, Wait};
use hairpin_testkit::Random;
use hairpin_time::Instant;

const ANY_PORT: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);

/// The receiving and the sending sockets of a test.
trait Ends {
    type In: Receive + Source;
    type Out: Transmit;

    fn receiver(options: UdpOptions) -> Self::In;
    /// Creates a sender to this receiver, and returns it with its address.
    fn sender(receiver: &Self::In) -> (Self::Out, SocketAddrV4);
    /// Returns the numbers of truncated and of dropped datagrams.
    fn truncated_and_dropped(receiver: &Self::In) -> (u64, u64);
}

struct OneWay;

impl Ends for OneWay {
    type In = UdpReceiver;
    type Out = UdpSender;

    fn receiver(options: UdpOptions) -> UdpReceiver {
        UdpReceiver::bind(ANY_PORT, options).unwrap()
    }

    fn sender(receiver: &UdpReceiver) -> (UdpSender, SocketAddrV4) {
        let sender = UdpSender::connect(receiver.local_address(), Ipv4Addr::LOCALHOST).unwrap();
        let address = sender.local_address();
        (sender, address)
    }

    fn truncated_and_dropped(receiver: &UdpReceiver) -> (u64, u64) {
        (receiver.truncated(), receiver.dropped())
    }
}

struct BothWays;

impl Ends for BothWays {
    type In = UdpSocket;
    type Out = UdpSocket;

    fn receiver(options: UdpOptions) -> UdpSocket {
        UdpSocket::bind(ANY_PORT, options).unwrap()
    }

    fn sender(receiver: &UdpSocket) -> (UdpSocket, SocketAddrV4) {
        let remote = receiver.local_address();
        let sender = UdpSocket::connect(ANY_PORT, remote, UdpOptions::default()).unwrap();
        let address = sender.local_address();
        (sender, address)
    }

    fn truncated_and_dropped(receiver: &UdpSocket) -> (u64, u64) {
        (receiver.truncated(), receiver.dropped())
    }
}

#[test]
fn waits_deliver_same_datagrams() {
    for seed in [1, 2, 3, 0x5eed] {
        let mut first: Option<Seen> = None;
        for wait in supported(Wait::ALL) {
            for seen in [delivered::<OneWay>(wait, seed), delivered::<BothWays>(wait, seed)] {
                assert!(*first.get_or_insert_with(|| seen.clone()) == seen, "seed {seed}, {wait}");
            }
        }
    }
}

fn delivered<E: Ends>(wait: Wait, seed: u64) -> Seen {
    println!("seed {seed}, {wait}");
    let open = |actions: &mut Random| {
        let batch = 1 + actions.below(40) as usize;
        let options = UdpOptions { batch, datagram_max: 512, ..UdpOptions::default() };
        let receivers = [(); 2].map(|()| E::receiver(options));
        let senders = receivers.each_ref().map(E::sender);
        (receivers, senders)
    };
    let (receivers, seen) = Traffic::new(wait, seed, 150, open).deliver();
    for receiver in &receivers {
        let (truncated, dropped) = E::truncated_and_dropped(receiver);
        assert!(truncated > 0 && dropped == 0);
    }
    seen
}

/// Sends requests of any length from one end, with several in flight. The other end replies with
/// the same bytes reversed.
#[test]
fn waits_carry_requests_and_replies() {
    for (wait, batch) in supported(Wait::ALL).flat_map(|wait| [(wait, 1), (wait, 8)]) {
        let options = UdpOptions { batch, datagram_max: 65_507, ..UdpOptions::default() };
        let mut pong = UdpSocket::bind(ANY_PORT, options).unwrap();
        let mut ping = UdpSocket::connect(ANY_PORT, pong.local_address(), options).unwrap();
        let mut reactor = Reactor::new(wait).unwrap();
        let pong_token = reactor.add(&mut pong, Interest::READABLE).unwrap();
        let ping_token = reactor.add(&mut ping, Interest::READABLE).unwrap();
        let mut numbers = Random::new(7);
        let (mut asked, mut questions) = (0, std::collections::VecDeque::new());
        let (mut requests, mut answered) = (Vec::new(), 0);
        iterate_until(&mut reactor, |_, ready| {
            if asked < 300 && questions.len() < 4 {
                let longest = if numbers.below(8) == 0 { 65_508 } else { 100 };
                let request = vec![asked as u8; numbers.below(longest) as usize];
                ping.transmit(request.len(), |bytes| bytes.copy_from_slice(&request)).unwrap();
                questions.push_back(request);
                asked += 1;
            }
            if ready.is_readable(pong_token) {
                pong.receive(batch, |meta, bytes| requests.push((meta.source, bytes.to_vec())))
                    .unwrap();
            }
            for (client, request) in requests.drain(..) {
                let reverse = |bytes: &mut [u8]| {
                    bytes.iter_mut().zip(&request).for_each(|(to, from)| *to = !from);
                };
                pong.transmit_to(client, request.len(), reverse).unwrap();
            }
            if ready.is_readable(ping_token) {
                ping.receive(batch, |meta, bytes| {
                    let request = questions.pop_front().unwrap();
                    assert_eq!(meta.source, pong.local_address());
                    assert!(bytes.iter().map(|byte| !byte).eq(request), "{wait}");
                    answered += 1;
                })
                .unwrap();
            }
            answered == 300
        });
        reactor.remove(pong_token, &mut pong).unwrap();
        reactor.remove(ping_token, &mut ping).unwrap();
    }
}

#[test]
fn waits_report_refusal_and_continue() {
    for wait in supported(Wait::ALL) {
        let address = UdpSocket::bind(ANY_PORT, UdpOptions::default()).unwrap().local_address();
        let mut socket = UdpSocket::connect(ANY_PORT, address, UdpOptions::default()).unwrap();
        let mut reactor = Reactor::new(wait).unwrap();
        let token = reactor.add(&mut socket, Interest::READABLE).unwrap();
        for _ in 0..3 {
            socket.transmit(1, |_| {}).unwrap();
            iterate_until(&mut reactor, |_, ready| {
                ready.is_readable(token)
                    && match socket.receive(8, |_, _| {}) {
                        Ok(received) => received.count > 0,
                        Err(error) => error.kind() == ErrorKind::ConnectionRefused,
                    }
            });
        }
        let mut peer = UdpSocket::bind(address, UdpOptions::default()).unwrap();
        peer.transmit_to(socket.local_address(), 4, |bytes| bytes.fill(9)).unwrap();
        iterate_until(&mut reactor, |_, ready| {
            ready.is_readable(token)
                && socket.receive(8, |_, bytes| assert_eq!(bytes, [9; 4])).unwrap().count == 1
        });
        reactor.remove(token, &mut socket).unwrap();
    }
}

/// Writes of any length are read in chunks of any length, while the writer does not wait.
#[test]
fn waits_deliver_same_bytes_and_end_of_stream() {
    for seed in [4, 5, 6] {
        println!("seed {seed}");
        for wait in supported(Wait::ALL) {
            let mut numbers = Random::new(seed);
            let chunk_max = 1 + numbers.below(5_000) as usize;
            let (mut client, mut server) = tcp(TcpOptions { chunk_max, ..TcpOptions::default() });
            let mut reactor = Reactor::new(wait).unwrap();
            let token = reactor.add(&mut server, Interest::READABLE).unwrap();
            let all: Vec<u8> = (0..300_000).map(|_| numbers.below(256) as u8).collect();
            let (mut sent, mut seen) = (0, Vec::<u8>::new());
            iterate_until(&mut reactor, |_, ready| {
                let end = all.len().min(sent + numbers.below(20_000) as usize);
                sent += client.write(&all[sent..end]).unwrap_or(0);
                if sent == all.len() {
                    client.shutdown().unwrap();
                }
                let budget = numbers.below(10) as usize;
                ready.is_readable(token)
                    && server.receive(budget, |_, bytes| seen.extend(bytes)).unwrap().closed
            });
            assert!(seen == all, "{wait}, seed {seed}");
            // The end of stream persists and can be read again.
            for _ in 0..2 {
                iterate_until(&mut reactor, |_, ready| ready.is_readable(token));
                assert!(
                    server.receive(8, |_, _| panic!("no more data may follow")).unwrap().closed
                );
            }
            reactor.remove(token, &mut server).unwrap();
        }
    }
}

fn tcp(options: TcpOptions) -> (TcpStream, TcpStream) {
    let mut listener = TcpListener::bind(ANY_PORT).unwrap();
    let mut client = TcpStream::connect(listener.local_address(), options).unwrap();
    loop {
        let server = listener.accept(options).unwrap();
        if let (true, Some(server)) = (client.finish_connect().unwrap(), server) {
            return (client, server);
        }
    }
}

/// Makes the kernel reset the connection on close.
fn reset(stream: TcpStream) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    // SAFETY: the descriptor is open, and the option's value has the given length.
    let status = unsafe {
        let value = (&raw const linger).cast();
        let length = size_of_val(&linger) as libc::socklen_t;
        let socket = stream.as_fd().as_raw_fd();
        libc::setsockopt(socket, libc::SOL_SOCKET, libc::SO_LINGER, value, length)
    };
    assert_eq!(status, 0);
}

#[test]
fn waits_report_reset_after_earlier_bytes() {
    for wait in supported(Wait::ALL) {
        let (mut client, mut server) = tcp(TcpOptions::default());
        let mut reactor = Reactor::new(wait).unwrap();
        let token = reactor.add(&mut server, Interest::READABLE).unwrap();
        client.write(b"goodbye").unwrap();
        // Ensures that the bytes arrive before the reset.
        iterate_until(&mut reactor, |_, ready| ready.is_readable(token));
        reset(client);
        let mut events = Vec::new();
        iterate_until(&mut reactor, |_, ready| {
            if ready.is_readable(token) {
                let mut seen = Vec::new();
                match server.receive(8, |_, bytes| seen.extend(bytes)) {
                    Ok(received) if received.closed => events.push("end".to_owned()),
                    Ok(_) => {}
                    Err(error) => events.push(format!("{:?}", error.kind())),
                }
                if !seen.is_empty() {
                    events.insert(0, String::from_utf8(seen).unwrap());
                }
            }
            events.last().is_some_and(|last| last == "end")
        });
        events.dedup();
        assert_eq!(events, ["goodbye", "ConnectionReset", "end"], "{wait}");
        reactor.remove(token, &mut server).unwrap();
    }
}

#[test]
fn waits_keep_connection_outcome_for_caller() {
    for wait in supported(Wait::ALL) {
        for interest in [Interest::WRITABLE, Interest::READABLE, Interest::BOTH] {
            // Blocking in its receive would consume the error.
            if wait == Wait::Block && interest != Interest::WRITABLE {
                continue;
            }
            let listener = TcpListener::bind(ANY_PORT).unwrap();
            let address = listener.local_address();
            drop(listener);
            let Ok(mut client) = TcpStream::connect(address, TcpOptions::default()) else {
                println!("{wait}: refused immediately");
                continue;
            };
            let mut reactor = Reactor::new(wait).unwrap();
            let token = reactor.add(&mut client, interest).unwrap();
            let mut outcome = None;
            iterate_until(&mut reactor, |_, ready| {
                if ready.is_readable(token) || ready.is_writable(token) {
                    outcome = client.finish_connect().err();
                }
                outcome.is_some()
            });
            assert_eq!(outcome.unwrap().kind(), ErrorKind::ConnectionRefused, "{wait}");
            reactor.remove(token, &mut client).unwrap();
        }
    }
}

#[test]
fn waits_report_passed_deadline_and_data() {
    for wait in supported(Wait::ALL) {
        let mut reactor = Reactor::new(wait).unwrap();
        let mut receiver = UdpReceiver::bind(ANY_PORT, UdpOptions::default()).unwrap();
        let mut sender = UdpSender::connect(receiver.local_address(), Ipv4Addr::LOCALHOST).unwrap();
        let token = reactor.add(&mut receiver, Interest::READABLE).unwrap();
        for _ in 0..3 {
            sender.transmit(1, |_| {}).unwrap();
            let ready = reactor.wait(Instant::ZERO, Some(Instant::ZERO)).unwrap();
            assert!(ready.is_readable(token), "{wait}");
            assert_eq!(receiver.receive(8, |_, _| {}).unwrap().count, 1, "{wait}");
        }
        reactor.remove(token, &mut receiver).unwrap();
    }
}
