//! Reactors with more sources than one group holds: that a loop is told the same as with few.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod available;

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddrV4};

use available::available;
use hairpin_endpoint::{
    Receive, Stream, TcpListener, TcpOptions, TcpStream, Transmit, UdpOptions, UdpSocket,
};
use hairpin_host::Clock;
use hairpin_reactor::{CAPACITY, Interest, Reactor, Ready, Token, Wait};
use hairpin_time::{Duration, Instant};

const ANY_PORT: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
/// Waits that know which source is ready; the others have all of them tried.
const SELECTIVE: [Wait; 3] = [Wait::Poll, Wait::Epoll, Wait::IoUring];
/// Four groups, the last of them not full.
const MANY: usize = 200;

fn socket() -> UdpSocket {
    let options =
        UdpOptions { batch: 1, datagram_max: 64, receive_buffer: None, ..UdpOptions::default() };
    UdpSocket::bind(ANY_PORT, options).unwrap()
}

/// Sockets that are waited for, and one to send to them.
struct Many {
    reactor: Reactor,
    sockets: Vec<UdpSocket>,
    tokens: Vec<Token>,
    sender: UdpSocket,
}

impl Many {
    fn new(wait: Wait, count: usize) -> Self {
        let mut reactor = Reactor::new(wait).unwrap();
        let mut sockets: Vec<UdpSocket> = (0..count).map(|_| socket()).collect();
        let tokens: Vec<Token> = sockets
            .iter_mut()
            .map(|socket| reactor.add(socket, Interest::READABLE).unwrap())
            .collect();
        assert!(tokens.iter().map(|token| token.index()).eq(0..count));
        Self { reactor, sockets, tokens, sender: socket() }
    }

    fn send(&mut self, to: usize, number: u32) {
        let to = self.sockets[to].local_address();
        self.sender
            .transmit_to(to, 4, |bytes| bytes.copy_from_slice(&number.to_ne_bytes()))
            .unwrap();
    }

    fn wait(&mut self) -> Ready {
        self.reactor.wait(Instant::ZERO, Some(Instant::ZERO)).unwrap()
    }

    /// Turns until `count` datagrams have come, receiving from whom the wait names.
    fn collect(&mut self, count: usize) -> Vec<(usize, u32)> {
        let clock = Clock::of_kernel();
        let end = clock.instant() + Duration::from_secs(30);
        let mut all = Vec::new();
        while all.len() < count {
            let now = clock.instant();
            assert!(now < end, "{}: {} of {count} came", self.reactor.kind(), all.len());
            let ready = self.reactor.wait(now, Some(now + Duration::from_millis(5))).unwrap();
            for token in ready.readable() {
                assert!(ready.is_readable(token));
                let index = token.index();
                let take = |bytes: &[u8]| u32::from_ne_bytes(bytes.try_into().unwrap());
                self.sockets[index].receive(1, |_, bytes| all.push((index, take(bytes)))).unwrap();
            }
        }
        all
    }

    fn end(mut self) {
        for (token, socket) in self.tokens.iter().zip(&mut self.sockets) {
            self.reactor.remove(*token, socket).unwrap();
        }
        assert!(self.wait().is_nothing() && self.reactor.count() == 0);
    }
}

#[test]
fn every_wait_finds_what_came_for_each_of_many() {
    for wait in available(Wait::ALL) {
        let mut many = Many::new(wait, MANY);
        let mut sent = vec![Vec::new(); MANY];
        let mut seen = sent.clone();
        for round in 0..20_u32 {
            let targets: Vec<usize> = match round {
                0 => (0..MANY).collect(),
                1 => vec![MANY - 1],
                _ => (0..30).map(|step| (step * 37 + round as usize * 61) % MANY).collect(),
            };
            for &target in &targets {
                many.send(target, round);
                sent[target].push(round);
            }
            for (index, number) in many.collect(targets.len()) {
                seen[index].push(number);
            }
        }
        assert!(seen == sent, "{wait}");
        many.end();
    }
}

#[test]
fn a_selective_wait_names_those_that_are_ready_and_no_others() {
    for wait in available(SELECTIVE) {
        let mut many = Many::new(wait, MANY);
        let ready: [usize; 5] = [5, 63, 64, 128, 199];
        ready.iter().for_each(|&index| many.send(index, 1));
        let mut named = Vec::new();
        for _ in 0..4 {
            named.extend(many.wait().readable().map(Token::index));
        }
        named.sort_unstable();
        assert_eq!(named, ready, "{wait}");
        assert_eq!(many.collect(5).len(), 5);
        assert!(many.wait().is_nothing(), "{wait}");
        many.end();
    }
}

#[test]
fn a_group_that_is_always_ready_keeps_no_other_waiting() {
    for wait in available(Wait::ALL) {
        let mut many = Many::new(wait, MANY);
        // Nobody takes these.
        [0, 70].iter().for_each(|&index| many.send(index, 1));
        for index in [199, 130, 198] {
            many.send(index, 7);
            let mut named = false;
            // Twice round all groups at the most.
            for _ in 0..8 {
                let ready = many.wait();
                if ready.is_readable(many.tokens[index]) {
                    let mut seen = 0;
                    many.sockets[index].receive(1, |_, bytes| seen = bytes[0]).unwrap();
                    named |= seen == 7;
                }
            }
            assert!(named, "{wait}: {index}");
        }
        many.end();
    }
}

#[test]
fn a_source_without_interest_or_that_has_gone_is_not_named_though_it_was_found() {
    for wait in available(SELECTIVE) {
        let mut many = Many::new(wait, MANY);
        [1, 66, 140, 199].iter().for_each(|&index| many.send(index, 1));
        let first = many.wait();
        assert!(first.is_readable(many.tokens[1]), "{wait}");
        let Many { reactor, sockets, tokens, .. } = &mut many;
        reactor.set_interest(tokens[66], &sockets[66], Interest::NONE).unwrap();
        reactor.remove(tokens[140], &mut sockets[140]).unwrap();
        let mut other = socket();
        assert_eq!(reactor.add(&mut other, Interest::READABLE).unwrap(), tokens[140]);
        let named: Vec<usize> = (0..3)
            .flat_map(|_| many.wait().readable().collect::<Vec<_>>())
            .map(Token::index)
            .collect();
        assert!(named.contains(&199) && !named.contains(&66) && !named.contains(&140), "{wait}");
        let token = many.tokens[140];
        many.reactor.remove(token, &mut other).unwrap();
        let Many { reactor, sockets, tokens, .. } = &mut many;
        assert_eq!(reactor.add(&mut sockets[140], Interest::READABLE).unwrap(), tokens[140]);
        reactor.set_interest(tokens[66], &sockets[66], Interest::READABLE).unwrap();
        let mut seen: Vec<usize> = many.collect(4).into_iter().map(|(index, _)| index).collect();
        seen.sort_unstable();
        assert_eq!(seen, [1, 66, 140, 199], "{wait}: what had come is not lost");
        many.end();
    }
}

#[test]
fn a_wait_of_many_lasts_until_its_deadline() {
    let clock = Clock::of_kernel();
    for wait in available(SELECTIVE) {
        let mut many = Many::new(wait, MANY);
        many.send(150, 1);
        assert_eq!(many.collect(1), [(150, 1)]);
        let deadline = clock.instant() + Duration::from_micros(2_500);
        let mut turns = 0;
        while clock.instant() < deadline {
            assert!(many.reactor.wait(clock.instant(), Some(deadline)).unwrap().is_nothing());
            turns += 1;
        }
        assert!(turns <= 2, "{wait}: {turns} turns");
        many.end();
    }
}

/// Every connection asks and is answered, many of them at once.
#[test]
fn every_wait_carries_many_connections() {
    for wait in available(Wait::ALL) {
        let mut reactor = Reactor::new(wait).unwrap();
        let options = TcpOptions {
            chunk_max: 64,
            message_max: 64,
            send_buffer: None,
            ..TcpOptions::default()
        };
        let mut listener = TcpListener::bind(ANY_PORT).unwrap();
        let listening = reactor.add(&mut listener, Interest::READABLE).unwrap();
        let mut clients: Vec<(TcpStream, usize)> = (0..MANY)
            .map(|_| (TcpStream::connect(listener.local_address(), options).unwrap(), 0))
            .collect();
        let tokens: Vec<Token> = clients
            .iter_mut()
            .map(|(client, _)| reactor.add(client, Interest::WRITABLE).unwrap())
            .collect();
        let mut servers = Vec::new();
        let clock = Clock::of_kernel();
        let end = clock.instant() + Duration::from_secs(30);
        while clients.iter().any(|(_, answers)| *answers < 3) {
            let now = clock.instant();
            assert!(now < end, "{wait}: waited in vain");
            let ready = reactor.wait(now, Some(now + Duration::from_millis(1))).unwrap();
            if ready.is_readable(listening) {
                while let Some(server) = listener.accept(options).unwrap() {
                    servers.push(server);
                }
            }
            for token in ready.writable() {
                let (client, _) = &mut clients[token.index() - 1];
                if client.finish_connect().unwrap() {
                    reactor.set_interest(token, client, Interest::READABLE).unwrap();
                    client.transmit(1, |bytes| bytes[0] = token.index() as u8).unwrap();
                }
            }
            for token in ready.readable().filter(|&token| token != listening) {
                let (client, answers) = &mut clients[token.index() - 1];
                let mut heard = 0;
                client
                    .receive(1, |_, bytes| {
                        assert_eq!(bytes, [!(token.index() as u8)]);
                        heard += 1;
                    })
                    .unwrap();
                *answers += heard;
                if heard > 0 {
                    client.transmit(1, |bytes| bytes[0] = token.index() as u8).unwrap();
                }
            }
            for server in &mut servers {
                let mut asked: Vec<u8> = Vec::new();
                server.receive(1, |_, bytes| asked.extend(bytes)).unwrap();
                for question in asked {
                    server.transmit(1, |bytes| bytes[0] = !question).unwrap();
                }
            }
        }
        for (token, (client, _)) in tokens.into_iter().zip(&mut clients) {
            reactor.remove(token, client).unwrap();
        }
        reactor.remove(listening, &mut listener).unwrap();
    }
}

/// Raises the limit of descriptors as far as this user may; true if it is enough.
fn may_open(count: usize) -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is valid for writes, and for reads, until each call returns.
    unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit), 0);
        limit.rlim_cur = limit.rlim_max;
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit), 0);
    }
    limit.rlim_cur as usize >= count
}

#[test]
fn a_reactor_holds_as_many_sources_as_it_says() {
    if !may_open(CAPACITY + 200) {
        println!("skipped: no more than {CAPACITY} descriptors may be open here");
        return;
    }
    for wait in available(Wait::ALL) {
        let mut many = Many::new(wait, CAPACITY);
        let mut one_more = socket();
        let error = many.reactor.add(&mut one_more, Interest::READABLE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
        for index in [CAPACITY - 1, 0, 512] {
            many.send(index, 9);
            assert_eq!(many.collect(1), [(index, 9)], "{wait}");
        }
        let (token, socket) = (many.tokens[400], &mut many.sockets[400]);
        many.reactor.remove(token, socket).unwrap();
        assert_eq!(many.reactor.add(&mut one_more, Interest::READABLE).unwrap(), token);
        many.reactor.remove(token, &mut one_more).unwrap();
        many.tokens[400] = many.reactor.add(&mut many.sockets[400], Interest::READABLE).unwrap();
        many.end();
    }
}
