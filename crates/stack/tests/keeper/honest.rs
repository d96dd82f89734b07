//! A program with the library, whose connections are taken over through the keeper, and victims on
//! the kernel.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use hairpin_netsim::Census;
use hairpin_stack::{KeeperClient, SocketOptions, Stack, StackSettings, TcpSocket};
use hairpin_testbed::Host;

use crate::packet;
use crate::passable::receive_next;

/// Longer than anything here takes.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A program that uses the library with a keeper.
pub(crate) struct Program {
    connection: TcpSocket,
    peer: TcpStream,
    socket: hairpin_stack::UdpSocket,
    sender: UdpSocket,
    /// Its entries in the filter, as [`Keeper::entries`](crate::process::Keeper::entries) has them.
    pub(crate) entries: Vec<String>,
}

impl Program {
    pub(crate) fn new(run: &OwnedFd, host: &Host, other: &Host) -> Self {
        let keeper = Some(KeeperClient::connect(run.as_fd()).unwrap());
        let settings =
            StackSettings { keeper, unpolled_max: Duration::MAX, ..StackSettings::default() };
        let stack = host.run(|| Stack::open(host.interface(), &settings)).unwrap().unwrap();
        let listener = other.run(|| TcpListener::bind((other.address(), 0))).unwrap().unwrap();
        let to = listener.local_addr().unwrap();
        let connect = || stack.adopt_tcp(TcpStream::connect(to).unwrap()).unwrap();
        let connection = host.run(connect).unwrap();
        connection.kernel_socket().set_nodelay(true).unwrap();
        connection.kernel_socket().set_nonblocking(true).unwrap();
        let peer = listener.accept().unwrap().0;
        peer.set_read_timeout(Some(TIMEOUT)).unwrap();
        let bind = || stack.bind((host.address(), 7_100).into(), &SocketOptions::default());
        let socket = host.run(bind).unwrap().unwrap();
        let sender = other.run(|| UdpSocket::bind((other.address(), 0))).unwrap().unwrap();
        let local = connection.kernel_socket().local_addr().unwrap();
        let at = SocketAddr::from((host.address(), 7_100));
        let entries = vec![format!("tcp {local} {to}"), format!("udp {at}")];
        Self { connection, peer, socket, sender, entries }
    }

    /// Exchanges messages over its sockets, and moves the connection if the keeper permits it.
    pub(crate) fn exchange(&mut self, number: u8, moves: bool, census: &mut Census) {
        let message = [number; 32];
        assert_eq!(self.connection.send(&message).unwrap(), message.len());
        self.peer.read_exact(&mut [0; 32]).unwrap();
        self.peer.write_all(&message).unwrap();
        let to = (self.entries[1].strip_prefix("udp ").unwrap()).parse::<SocketAddr>().unwrap();
        self.sender.send_to(&message, to).unwrap();
        let (mut bytes, mut datagrams, until) = (0, 0, Instant::now() + TIMEOUT);
        while bytes < message.len() || datagrams == 0 {
            assert!(Instant::now() < until, "{bytes} bytes, {datagrams} datagrams");
            match self.connection.receive(|part| assert!(part.iter().all(|it| *it == number))) {
                Ok(count) => bytes += count,
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
            let received = self.socket.receive(1, |_, payload| {
                assert_eq!(payload, message);
                datagrams += 1;
            });
            received.unwrap();
        }
        if moves && self.connection.is_bypassing() {
            self.connection.hand_back().unwrap();
            census.count("honest: handed back");
        } else if moves && self.connection.take_over().is_ok() {
            census.count("honest: taken over");
        }
    }

    /// Takes the connection over.
    pub(crate) fn take_over(&mut self) {
        let until = Instant::now() + TIMEOUT;
        while !self.connection.is_bypassing() {
            assert!(Instant::now() < until);
            self.exchange(0, true, &mut Census::new());
        }
    }

    /// Makes the connection the kernel's.
    pub(crate) fn give_back(&mut self) {
        if self.connection.is_bypassing() {
            self.connection.hand_back().unwrap();
        }
    }
}

/// A program of another run or of none, on the kernel.
pub(crate) struct Victim {
    pub(crate) socket: UdpSocket,
    listener: TcpListener,
    sender: UdpSocket,
    connection: TcpStream,
    peer: TcpStream,
}

impl Victim {
    pub(crate) fn new(address: IpAddr, host: &Host, other: &Host) -> Self {
        let socket = host.run(|| UdpSocket::bind((address, 0))).unwrap().unwrap();
        socket.set_read_timeout(Some(TIMEOUT)).unwrap();
        let listener = host.run(|| TcpListener::bind((address, 0))).unwrap().unwrap();
        let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let sender = other.run(|| UdpSocket::bind(any)).unwrap().unwrap();
        let to = listener.local_addr().unwrap();
        let peer = other.run(|| TcpStream::connect(to)).unwrap().unwrap();
        let connection = listener.accept().unwrap().0;
        connection.set_read_timeout(Some(TIMEOUT)).unwrap();
        Self { socket, listener, sender, connection, peer }
    }

    pub(crate) fn udp(&self) -> SocketAddr {
        self.socket.local_addr().unwrap()
    }

    pub(crate) fn listens_at(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }

    /// Returns the ends of its connection.
    pub(crate) fn ends(&self) -> [SocketAddr; 2] {
        [self.connection.local_addr().unwrap(), self.connection.peer_addr().unwrap()]
    }

    /// Returns a packet that would end its connection.
    pub(crate) fn reset(&self) -> Option<Vec<u8>> {
        let [local, remote] = self.ends();
        packet::reset(remote, local, receive_next(&self.connection))
    }

    /// Receives what is sent to it, and nothing else.
    pub(crate) fn receive(&mut self, number: u8) {
        self.sender.send_to(&[number; 8], self.udp()).unwrap();
        let mut bytes = [0; 64];
        let (length, from) = self.socket.recv_from(&mut bytes).unwrap();
        assert_eq!((&bytes[..length], from.port()), (&[number; 8][..], self.sender_port()));
        self.peer.write_all(&[number; 8]).unwrap();
        let mut bytes = [0; 8];
        self.connection.read_exact(&mut bytes).unwrap();
        assert_eq!(bytes, [number; 8]);
    }

    fn sender_port(&self) -> u16 {
        self.sender.local_addr().unwrap().port()
    }

    /// Accepts a connection at its port.
    pub(crate) fn accept(&self, other: &Host, number: u8) {
        let to = self.listens_at();
        let mut client = other.run(|| TcpStream::connect(to)).unwrap().unwrap();
        client.write_all(&[number; 4]).unwrap();
        self.listener.set_nonblocking(true).unwrap();
        let until = Instant::now() + TIMEOUT;
        let accepted = loop {
            match self.listener.accept() {
                Ok((accepted, _)) => break accepted,
                Err(error) => assert!(Instant::now() < until, "a stolen port? {error}"),
            }
        };
        accepted.set_nonblocking(false).unwrap();
        let mut bytes = [0; 4];
        (&accepted).read_exact(&mut bytes).unwrap();
        assert_eq!(bytes, [number; 4]);
    }
}
