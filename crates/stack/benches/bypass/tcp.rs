//! TCP: the kernel's sockets, and connections taken over from them.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hairpin_stack::{Poller, Stack, StackSettings, TcpSocket};
use hairpin_testbed::Host;

use crate::frame::{MESSAGE, message_number};
use crate::port::Port;

/// The time limit for a takeover.
const TIMEOUT: Duration = Duration::from_secs(3);
/// The time between a takeover and a handback: a handback waits for a shorter one to pass 1 ms.
pub(crate) const SETTLED: Duration = Duration::from_micros(1_500);

/// Connects two hosts, the first of which listens. Returns both ends in this order.
pub(crate) fn connect([pong, ping]: &[Host; 2], at: Ipv4Addr) -> io::Result<[TcpStream; 2]> {
    let listener = pong.run(|| TcpListener::bind((at, 0))).flatten()?;
    let to = listener.local_addr()?;
    let ping = ping.run(|| TcpStream::connect(to)).flatten()?;
    let (pong, _) = listener.accept()?;
    for stream in [&pong, &ping] {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
    }
    Ok([pong, ping])
}

/// A connected, non-blocking socket of the kernel.
#[derive(Debug)]
pub(crate) struct KernelTcp {
    pub(crate) stream: TcpStream,
    message: [u8; MESSAGE],
}

impl KernelTcp {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, message: [0; MESSAGE] }
    }

    #[inline]
    fn take(&mut self) -> io::Result<bool> {
        match self.stream.read(&mut self.message) {
            Ok(length) => Ok(length == MESSAGE),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Port for KernelTcp {
    #[inline]
    fn send(&mut self, number: u64) -> io::Result<()> {
        self.message[..8].copy_from_slice(&number.to_le_bytes());
        self.stream.write_all(&self.message)
    }

    #[inline]
    fn receive(&mut self) -> io::Result<Option<u64>> {
        Ok(self.take()?.then(|| message_number(&self.message)))
    }

    #[inline]
    fn echo(&mut self) -> io::Result<bool> {
        let is_there = self.take()?;
        if is_there {
            self.stream.write_all(&self.message)?;
        }
        Ok(is_there)
    }
}

/// A connection taken over: bytes read in their frames, segments written in place.
#[derive(Debug)]
pub(crate) struct Tcp(pub(crate) TcpSocket);

impl Tcp {
    /// Adopts a connection and takes it over.
    pub(crate) fn open(
        interface: &str,
        settings: &StackSettings,
        stream: TcpStream,
    ) -> io::Result<Self> {
        let stack = Stack::open(interface, settings).map_err(io::Error::other)?;
        let mut tcp = Self(stack.adopt_tcp(stream)?);
        take_over(&mut tcp.0)?;
        Ok(tcp)
    }
}

/// Takes a connection over once its neighbor is resolved.
pub(crate) fn take_over(socket: &mut TcpSocket) -> io::Result<()> {
    let until = Instant::now() + TIMEOUT;
    loop {
        match socket.take_over() {
            Ok(()) => return Ok(()),
            Err(error) if Instant::now() > until => return Err(io::Error::other(error)),
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

impl Port for Tcp {
    #[inline]
    fn send(&mut self, number: u64) -> io::Result<()> {
        let fill = |message: &mut [u8]| {
            message[..8].copy_from_slice(&number.to_le_bytes());
            message[8..].fill(0);
        };
        if self.0.transmit(MESSAGE, fill)? {
            return Ok(());
        }
        let mut message = [0; MESSAGE];
        fill(&mut message);
        let sent = self.0.send(&message)?;
        if sent == MESSAGE { Ok(()) } else { Err(ErrorKind::WriteZero.into()) }
    }

    #[inline]
    fn receive(&mut self) -> io::Result<Option<u64>> {
        let mut number = None;
        let received = self.0.receive(|message| {
            number = (message.len() == MESSAGE).then(|| message_number(message));
        });
        match received {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            received => received.map(|_| number),
        }
    }

    #[inline]
    fn echo(&mut self) -> io::Result<bool> {
        let number = self.receive()?;
        number.map_or(Ok(()), |number| self.send(number))?;
        Ok(number.is_some())
    }
}

/// Connections taken over and polled together; only the first is active.
#[derive(Debug)]
pub(crate) struct Polled {
    stack: Stack,
    connections: Vec<Tcp>,
    poller: Poller,
}

impl Polled {
    pub(crate) fn new(stack: Stack, active: TcpStream) -> io::Result<Self> {
        let mut polled = Self { stack, connections: Vec::new(), poller: Poller::new()? };
        polled.add(active)?;
        Ok(polled)
    }

    /// Takes over another connection.
    pub(crate) fn add(&mut self, stream: TcpStream) -> io::Result<()> {
        let mut tcp = Tcp(self.stack.adopt_tcp(stream)?);
        take_over(&mut tcp.0)?;
        self.poller.add_tcp(&tcp.0, self.connections.len())?;
        self.connections.push(tcp);
        self.poller.poll().map(drop)
    }

    /// Returns the number of connections that are still taken over.
    pub(crate) fn taken_over(&self) -> usize {
        self.connections.iter().filter(|tcp| tcp.0.is_bypassing()).count()
    }
}

impl Port for Polled {
    #[inline]
    fn send(&mut self, number: u64) -> io::Result<()> {
        self.connections[0].send(number)
    }

    #[inline]
    fn receive(&mut self) -> io::Result<Option<u64>> {
        if self.poller.poll()?.is_empty() { Ok(None) } else { self.connections[0].receive() }
    }

    #[inline]
    fn echo(&mut self) -> io::Result<bool> {
        if self.poller.poll()?.is_empty() { Ok(false) } else { self.connections[0].echo() }
    }
}

/// Takes a connection over and hands it back `count` times, between requests that the kernel
/// answers at the other end. Returns the times of both, sorted, in nanoseconds.
pub(crate) fn transitions(
    tcp: &mut Tcp,
    peer: KernelTcp,
    count: u32,
    pin: impl Fn() + Send,
) -> io::Result<[Vec<u128>; 2]> {
    between_requests(tcp, peer, count, pin, |tcp| {
        let start = Instant::now();
        // Right after an answer the connection is quiet.
        tcp.0.take_over().map_err(io::Error::other)?;
        let taken = Instant::now();
        while taken.elapsed() < SETTLED {
            request(tcp)?;
        }
        let end = Instant::now();
        tcp.0.hand_back()?;
        Ok([(taken - start).as_nanos(), end.elapsed().as_nanos()])
    })
}

/// Does something `count` times, after a request that the kernel answers at the other end. Returns
/// the two times of each, sorted.
pub(crate) fn between_requests<P: Port>(
    port: &mut P,
    mut peer: KernelTcp,
    count: u32,
    pin: impl Fn() + Send,
    mut act: impl FnMut(&mut P) -> io::Result<[u128; 2]>,
) -> io::Result<[Vec<u128>; 2]> {
    let stopped = AtomicBool::new(false);
    let mut times = [Vec::new(), Vec::new()];
    std::thread::scope(|scope| {
        let stopped = &stopped;
        let pong = scope.spawn(move || {
            pin();
            while !stopped.load(Ordering::Relaxed) {
                peer.echo()?;
            }
            io::Result::Ok(())
        });
        let measured = (0..count).try_for_each(|_| {
            request(port)?;
            let found = act(port)?;
            times.iter_mut().zip(found).for_each(|(times, time)| times.push(time));
            io::Result::Ok(())
        });
        stopped.store(true, Ordering::Relaxed);
        pong.join().expect("the pong thread does not panic")?;
        measured
    })?;
    times.iter_mut().for_each(|times| times.sort_unstable());
    Ok(times)
}

/// Sends a message and waits for the answer.
fn request(port: &mut impl Port) -> io::Result<()> {
    port.send(0)?;
    let until = Instant::now() + TIMEOUT;
    while port.receive()?.is_none() {
        if Instant::now() > until {
            return Err(ErrorKind::TimedOut.into());
        }
    }
    Ok(())
}
