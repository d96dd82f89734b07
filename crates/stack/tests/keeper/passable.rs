//! Descriptors that a hostile program passes, and what it may have of the filter for each.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use hairpin_testbed::Host;
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::client;

const TCP_REPAIR: libc::c_int = 19;
/// The group that one socket joins.
pub(crate) const GROUP: Ipv4Addr = Ipv4Addr::new(239, 1, 1, 1);

/// A descriptor, and what the model knows of it.
pub(crate) struct Passable {
    pub(crate) kind: &'static str,
    pub(crate) fd: OwnedFd,
    /// The texts of the entries that it may have.
    pub(crate) entries: BTreeSet<String>,
    /// The ends of a connection that may be taken over.
    pub(crate) connection: Option<[SocketAddr; 2]>,
    /// The other end of a connection.
    pub(crate) peer: Option<TcpStream>,
    is_tcp: bool,
}

impl Passable {
    fn new(kind: &'static str, fd: impl Into<OwnedFd>) -> Self {
        let (entries, connection, peer) = (BTreeSet::new(), None, None);
        Self { kind, fd: fd.into(), entries, connection, peer, is_tcp: false }
    }

    fn with_entries(self, entries: impl IntoIterator<Item = String>) -> Self {
        Self { entries: entries.into_iter().collect(), ..self }
    }

    /// Returns the local port of a socket.
    pub(crate) fn port(&self) -> Option<u16> {
        let local = SockRef::from(&self.fd).local_addr().ok()?.as_socket()?;
        Some(local.port())
    }

    /// Returns `true` for a TCP socket in repair mode.
    pub(crate) fn is_repairing(&self) -> bool {
        self.is_tcp && tcp_option(&self.fd, TCP_REPAIR).is_some_and(|mode| mode != 0)
    }

    /// Starts repair mode, as a keeper that was killed leaves it. Returns `false` for others.
    pub(crate) fn start_repair(&self) -> bool {
        self.connection.is_some() && set_tcp_option(&self.fd, TCP_REPAIR, 1)
    }

    /// Makes a frame of a connection arrive. Returns `false` if the connection has ended.
    pub(crate) fn receive(&mut self) -> bool {
        let Some(peer) = &mut self.peer else { return false };
        let reference = SockRef::from(&self.fd);
        reference.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        peer.write_all(&[1]).is_ok() && (&*reference).read(&mut [0]).is_ok()
    }
}

/// Returns the sequence number that a connection expects next.
pub(crate) fn receive_next(connection: &impl AsRawFd) -> u32 {
    const TCP_REPAIR_QUEUE: libc::c_int = 20;
    const TCP_QUEUE_SEQ: libc::c_int = 21;
    assert!(set_tcp_option(connection, TCP_REPAIR, 1));
    assert!(set_tcp_option(connection, TCP_REPAIR_QUEUE, 1));
    let next = tcp_option(connection, TCP_QUEUE_SEQ);
    assert!(set_tcp_option(connection, TCP_REPAIR, -1));
    next.unwrap().cast_unsigned()
}

fn tcp_option(socket: &impl AsRawFd, name: libc::c_int) -> Option<i32> {
    let (mut value, mut length) = (0_i32, size_of::<i32>() as libc::socklen_t);
    let (fd, at) = (socket.as_raw_fd(), (&raw mut value).cast());
    // SAFETY: the kernel writes an integer.
    let read = unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, name, at, &raw mut length) };
    (read == 0).then_some(value)
}

fn set_tcp_option(socket: &impl AsRawFd, name: libc::c_int, value: i32) -> bool {
    let length = size_of::<i32>() as libc::socklen_t;
    let (fd, at) = (socket.as_raw_fd(), (&raw const value).cast());
    // SAFETY: the kernel reads an integer.
    unsafe { libc::setsockopt(fd, libc::IPPROTO_TCP, name, at, length) == 0 }
}

/// The hosts and the addresses of the wire that the hostile program uses.
pub(crate) struct Wire<'t> {
    pub(crate) host: &'t Host,
    pub(crate) other: &'t Host,
    pub(crate) index: u32,
    /// The addresses of the interface.
    pub(crate) addresses: [IpAddr; 2],
    pub(crate) peers: [IpAddr; 2],
    /// All addresses of the run's interfaces.
    pub(crate) all: Vec<IpAddr>,
}

impl Wire<'_> {
    fn udp(
        &self,
        only_v6: Option<bool>,
        local: IpAddr,
        change: impl Fn(&Socket) + Sync,
    ) -> UdpSocket {
        let domain = if only_v6.is_some() { Domain::IPV6 } else { Domain::IPV4 };
        let open = || {
            let socket = Socket::new(domain, Type::DGRAM, None).unwrap();
            if let Some(only) = only_v6 {
                socket.set_only_v6(only).unwrap();
            }
            change(&socket);
            socket.bind(&SocketAddr::new(local, 0).into()).unwrap();
            UdpSocket::from(socket)
        };
        self.host.run(open).unwrap()
    }

    /// Returns the entries of a socket that is bound to all addresses of some families.
    fn at_all(&self, socket: &UdpSocket, families: [bool; 2]) -> Vec<String> {
        let port = socket.local_addr().unwrap().port();
        let is_received = |address: &&IpAddr| families[usize::from(address.is_ipv6())];
        let received = self.all.iter().filter(is_received);
        received.map(|address| SocketAddr::new(*address, port).to_string()).collect()
    }

    /// Returns UDP sockets of every kind.
    fn datagram_sockets(&self) -> Vec<Passable> {
        let (any, any_v6) = (Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into());
        let mapped = Ipv4Addr::UNSPECIFIED.to_ipv6_mapped().into();
        let plain = |_: &Socket| {};
        let mut all = Vec::new();
        for (kind, only_v6, local, families) in [
            ("udp: any", None, any, [true, false]),
            ("udp: any, IPv6 only", Some(true), any_v6, [false, true]),
            ("udp: any of both families", Some(false), any_v6, [true, true]),
            ("udp: any, mapped", Some(false), mapped, [true, false]),
        ] {
            let socket = self.udp(only_v6, local, plain);
            let entries = self.at_all(&socket, families);
            all.push(Passable::new(kind, socket).with_entries(entries));
        }
        for (address, only_v6) in self.addresses.into_iter().zip([None, Some(false)]) {
            let socket = self.udp(only_v6, address, plain);
            let own = socket.local_addr().unwrap().to_string();
            all.push(Passable::new("udp: one address", socket).with_entries([own]));
            let socket = self.udp(only_v6, address, plain);
            let peer = SocketAddr::new(self.peers[usize::from(address.is_ipv6())], 7_000);
            self.host.run(|| socket.connect(peer)).unwrap().unwrap();
            let own = format!("{} {peer}", socket.local_addr().unwrap());
            all.push(Passable::new("udp: connected", socket).with_entries([own]));
        }
        let member = self.udp(None, any, plain);
        SockRef::from(&member)
            .join_multicast_v4_n(&GROUP, &socket2::InterfaceIndexOrAddress::Index(self.index))
            .unwrap();
        let port = member.local_addr().unwrap().port();
        let entries = self.at_all(&member, [true, false]);
        let entries = entries.into_iter().chain([format!("{GROUP}:{port}")]);
        all.push(Passable::new("udp: member", member).with_entries(entries));
        let elsewhere = self.udp(None, any, |it| it.bind_device(Some(b"lo")).unwrap());
        all.push(Passable::new("udp: bound on loopback", elsewhere));
        let foreign = Ipv4Addr::new(203, 0, 113, 7).into();
        let foreign = self.udp(None, foreign, |it| it.set_freebind_v4(true).unwrap());
        all.push(Passable::new("udp: address of another host", foreign));
        let unbound = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP));
        all.push(Passable::new("udp: unbound", self.host.run(|| unbound).unwrap().unwrap()));
        all
    }

    /// Returns a connection over the wire.
    pub(crate) fn connection(&self, family: usize) -> Passable {
        let listener = self.other.run(|| TcpListener::bind((self.peers[family], 0)));
        let listener = listener.unwrap().unwrap();
        let to = listener.local_addr().unwrap();
        let socket = self.host.run(|| TcpStream::connect(to)).unwrap().unwrap();
        let ends = [socket.local_addr().unwrap(), to];
        let (connection, peer) = (Some(ends), Some(listener.accept().unwrap().0));
        let passable = Passable::new("tcp: connection", socket);
        Passable { connection, peer, is_tcp: true, ..passable }
    }

    /// Returns TCP sockets that may not be taken over.
    fn other_streams(&self) -> Vec<Passable> {
        let loopback = || {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            (TcpStream::connect(listener.local_addr().unwrap()).unwrap(), listener)
        };
        let (loopback, accepting) = self.host.run(loopback).unwrap();
        let unbound = || Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let reset = self.connection(0);
        SockRef::from(reset.peer.as_ref().unwrap()).set_linger(Some(Duration::ZERO)).unwrap();
        let Passable { fd: reset, peer, .. } = reset;
        drop(peer);
        // The RST has arrived.
        let _ = (&*SockRef::from(&reset)).read(&mut [0]);
        let listener = self.host.run(|| TcpListener::bind((self.addresses[0], 0)));
        let all: [(_, OwnedFd); 5] = [
            ("tcp: loopback", loopback.into()),
            ("tcp: listening on loopback", accepting.into()),
            ("tcp: unbound", self.host.run(unbound).unwrap().into()),
            ("tcp: reset", reset),
            ("tcp: listening", listener.unwrap().unwrap().into()),
        ];
        let passable = |(kind, fd)| Passable { is_tcp: true, ..Passable::new(kind, fd) };
        all.into_iter().map(passable).collect()
    }

    /// Returns descriptors of every kind.
    pub(crate) fn passables(&self) -> Vec<Passable> {
        let mut all = self.datagram_sockets();
        all.extend([0, 0, 1].map(|family| self.connection(family)));
        all.extend(self.other_streams());
        let [stream, other] = client::pair(libc::SOCK_STREAM);
        let [packets, _] = client::pair(libc::SOCK_SEQPACKET);
        let (reader, _writer) = std::io::pipe().unwrap();
        // SAFETY: the calls take constants and return new descriptors.
        let made = unsafe {
            [
                libc::memfd_create(c"hostile".as_ptr(), libc::MFD_CLOEXEC),
                libc::epoll_create1(libc::EPOLL_CLOEXEC),
                libc::eventfd(0, libc::EFD_CLOEXEC),
            ]
        };
        assert!(made.iter().all(|fd| *fd >= 0));
        // SAFETY: the descriptors are new.
        let made = made.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        let duplicate = all[0].fd.as_fd().try_clone_to_owned().unwrap();
        let entries = all[0].entries.clone();
        all.push(Passable::new("duplicate", duplicate).with_entries(entries));
        all.push(Passable::new("file", File::open("/dev/null").unwrap()));
        all.push(Passable::new("pipe", reader));
        all.extend([stream, other, packets].map(|fd| Passable::new("unix", fd)));
        all.extend(made.map(|fd| Passable::new("anonymous file", fd)));
        all
    }
}
