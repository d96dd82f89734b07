//! Reactors with more than one group of sources behave like small reactors.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddrV4};

use crate::supported_waits::supported;
use hairpin_endpoint::{
    Receive, Stream, TcpListener, TcpOptions, TcpStream, Transmit, UdpOptions, UdpSocket,
};
use hairpin_host::Clock;
use hairpin_reactor::{CAPACITY, Interest, Reactor, Ready, Token, Wait};
use hairpin_time::{Duration, Instant};

const ANY_PORT: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
/// The waits that know which source is ready. The others try all sources.
const SELECTIVE: [Wait; 3] = [Wait::Poll, Wait::Epoll, Wait::IoUring];
/// The number of sources: four groups, the last one partially full.
const MANY: usize = 200;

fn socket() -> UdpSocket {
    let options =
        UdpOptions { batch: 1, datagram_max: 64, receive_buffer: None, ..UdpOptions::default() };
    UdpSocket::bind(ANY_PORT, options).unwrap()
}

/// Sockets in a reactor, and one socket to send to them.
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

    /// Iterates until `count` datagrams have arrived, receiving from the reported sources.
    fn collect(&mut self, count: usize) -> Vec<(usize, u32)> {
        let clock = Clock::from_kernel();
        let end = clock.instant() + Duration::from_secs(60);
        let mut all = Vec::new();
        while all.len() < count {
            let now = clock.instant();
            assert!(now < end, "{}: {} of {count} arrived", self.reactor.kind(), all.len());
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
        assert!(self.wait().is_empty() && self.reactor.count() == 0);
    }
}

#[test]
fn waits_find_data_of_each_source() {
    for wait in supported(Wait::ALL) {
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
fn selective_waits_report_only_ready_sources() {
    for wait in supported(SELECTIVE) {
        let mut many = Many::new(wait, MANY);
        let ready: [usize; 5] = [5, 63, 64, 128, 199];
        ready.iter().for_each(|&index| many.send(index, 1));
        let mut is_reported = Vec::new();
        for _ in 0..4 {
            is_reported.extend(many.wait().readable().map(Token::index));
        }
        is_reported.sort_unstable();
        assert_eq!(is_reported, ready, "{wait}");
        assert_eq!(many.collect(5).len(), 5);
        assert!(many.wait().is_empty(), "{wait}");
        many.end();
    }
}

#[test]
fn busy_group_does_not_starve_others() {
    for wait in supported(Wait::ALL) {
        let mut many = Many::new(wait, MANY);
        // These datagrams are not received.
        [0, 70].iter().for_each(|&index| many.send(index, 1));
        for index in [199, 130, 198] {
            many.send(index, 7);
            let mut is_reported = false;
            // At most two rounds of all groups.
            for _ in 0..8 {
                let ready = many.wait();
                if ready.is_readable(many.tokens[index]) {
                    let mut seen = 0;
                    many.sockets[index].receive(1, |_, bytes| seen = bytes[0]).unwrap();
                    is_reported |= seen == 7;
                }
            }
            assert!(is_reported, "{wait}: {index}");
        }
        many.end();
    }
}

#[test]
fn removed_sources_are_not_reported() {
    for wait in supported(SELECTIVE) {
        let mut many = Many::new(wait, MANY);
        [1, 66, 140, 199].iter().for_each(|&index| many.send(index, 1));
        let first = many.wait();
        assert!(first.is_readable(many.tokens[1]), "{wait}");
        let Many { reactor, sockets, tokens, .. } = &mut many;
        reactor.set_interest(tokens[66], &sockets[66], Interest::NONE).unwrap();
        reactor.remove(tokens[140], &mut sockets[140]).unwrap();
        let mut other = socket();
        assert_eq!(reactor.add(&mut other, Interest::READABLE).unwrap(), tokens[140]);
        let is_reported: Vec<usize> = (0..3)
            .flat_map(|_| many.wait().readable().collect::<Vec<_>>())
            .map(Token::index)
            .collect();
        assert!(
            is_reported.contains(&199) && !is_reported.contains(&66) && !is_reported.contains(&140),
            "{wait}"
        );
        let token = many.tokens[140];
        many.reactor.remove(token, &mut other).unwrap();
        let Many { reactor, sockets, tokens, .. } = &mut many;
        assert_eq!(reactor.add(&mut sockets[140], Interest::READABLE).unwrap(), tokens[140]);
        reactor.set_interest(tokens[66], &sockets[66], Interest::READABLE).unwrap();
        let mut seen: Vec<usize> = many.collect(4).into_iter().map(|(index, _)| index).collect();
        seen.sort_unstable();
        assert_eq!(seen, [1, 66, 140, 199], "{wait}: earlier data must not be lost");
        many.end();
    }
}

#[test]
fn wait_lasts_until_deadline() {
    let clock = Clock::from_kernel();
    for wait in supported(SELECTIVE) {
        let mut many = Many::new(wait, MANY);
        many.send(150, 1);
        assert_eq!(many.collect(1), [(150, 1)]);
        let deadline = clock.instant() + Duration::from_micros(2_500);
        let mut iterations = 0;
        while clock.instant() < deadline {
            assert!(many.reactor.wait(clock.instant(), Some(deadline)).unwrap().is_empty());
            iterations += 1;
        }
        assert!(iterations <= 2, "{wait}: {iterations} iterations");
        many.end();
    }
}

/// Every connection sends requests and gets replies, many at the same time.
#[test]
fn waits_carry_many_connections() {
    for wait in supported(Wait::ALL) {
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
        let clock = Clock::from_kernel();
        let end = clock.instant() + Duration::from_secs(60);
        while clients.iter().any(|(_, answers)| *answers < 3) {
            let now = clock.instant();
            assert!(now < end, "{wait}: timed out");
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
                let mut request: Vec<u8> = Vec::new();
                server.receive(1, |_, bytes| request.extend(bytes)).unwrap();
                for question in request {
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

/// Raises the descriptor limit as far as permitted. Returns `true` if it is enough.
fn may_open(count: usize) -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is valid for writes and reads until each call returns.
    unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit), 0);
        limit.rlim_cur = limit.rlim_max;
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit), 0);
    }
    limit.rlim_cur as usize >= count
}

#[test]
fn reactor_holds_maximum_of_sources() {
    if !may_open(CAPACITY + 200) {
        println!("skipped: the limit of open descriptors is below {CAPACITY}");
        return;
    }
    for wait in supported(Wait::ALL) {
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
