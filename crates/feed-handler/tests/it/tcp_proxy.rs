//! A TCP proxy that can be cut, and that can split the stream into small pieces.

use hairpin_testkit::Random;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};

/// The largest number of bytes buffered per connection.
const CAPACITY: usize = 256 << 10;

/// Accepts connections, and opens one to the target for each.
pub(crate) struct TcpProxy {
    listener: Option<TcpListener>,
    address: SocketAddrV4,
    to: SocketAddrV4,
    pairs: Vec<Pair>,
    random: Option<Random>,
    /// The number of one-byte chunks forwarded.
    pub(crate) single_bytes: u64,
}

struct Pair {
    client: TcpStream,
    server: TcpStream,
    on_the_way: Vec<u8>,
}

impl TcpProxy {
    pub(crate) fn new(to: SocketAddrV4) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let SocketAddr::V4(address) = listener.local_addr().unwrap() else { unreachable!() };
        let (pairs, random) = (Vec::new(), None);
        Self { listener: Some(listener), address, to, pairs, random, single_bytes: 0 }
    }

    pub(crate) fn address(&self) -> SocketAddrV4 {
        self.address
    }

    /// Forwards only a few bytes per call and connection from now on, often a single one.
    pub(crate) fn split_stream(&mut self, seed: u64) {
        self.random = Some(Random::new(seed));
    }

    /// Closes all connections and refuses new ones.
    pub(crate) fn cut(&mut self) {
        self.listener = None;
        self.pairs.clear();
    }

    pub(crate) fn restore(&mut self) {
        let listener = TcpListener::bind(self.address).unwrap();
        listener.set_nonblocking(true).unwrap();
        self.listener = Some(listener);
    }

    /// Forwards buffered bytes.
    pub(crate) fn pump(&mut self) {
        while let Some(Ok((client, _))) = self.listener.as_ref().map(TcpListener::accept) {
            let server = TcpStream::connect(self.to).unwrap();
            for stream in [&client, &server] {
                stream.set_nonblocking(true).unwrap();
                stream.set_nodelay(true).unwrap();
            }
            self.pairs.push(Pair { client, server, on_the_way: Vec::new() });
        }
        for index in 0..self.pairs.len() {
            let length = self.length();
            let pair = &mut self.pairs[index];
            pair.fetch();
            let length = length.min(pair.on_the_way.len());
            if let Ok(count) = pair.client.write(&pair.on_the_way[..length]) {
                pair.on_the_way.drain(..count);
                self.single_bytes += u64::from(count == 1);
            }
        }
    }

    /// Returns the number of bytes to forward now.
    fn length(&mut self) -> usize {
        let Some(random) = &mut self.random else { return usize::MAX };
        if random.one_in(2) { 1 + random.index(3) } else { random.index(4_000) }
    }
}

impl Pair {
    fn fetch(&mut self) {
        let mut chunk = [0; 16_384];
        while self.on_the_way.len() < CAPACITY {
            match self.server.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => self.on_the_way.extend_from_slice(&chunk[..count]),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    break;
                }
            }
        }
    }
}
