//! Attempts of a program of the run to receive what is another's, and to stop the keeper.

use std::net::{IpAddr, Ipv6Addr};
use std::os::fd::BorrowedFd;

use hairpin_wire::{Ipv4Header, Protocol, TcpFlags, TcpHeader};

use super::*;

/// Returns a UDP socket that is bound to an address.
fn bind_udp(domain: Domain, only_v6: bool, local: IpAddr) -> UdpSocket {
    let socket = Socket::new(domain, Type::DGRAM, None).unwrap();
    if domain == Domain::IPV6 {
        socket.set_only_v6(only_v6).unwrap();
    }
    socket.bind(&SocketAddr::new(local, 0).into()).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket.into()
}

/// Returns `true` if the kernel delivers a datagram to a socket, `false` if it refuses it.
fn is_delivered(sender: &UdpSocket, socket: &UdpSocket) -> bool {
    let mut delivered = false;
    assert!(eventually(|| {
        let refused = sender.send(&[OWN]).is_err() || sender.recv(&mut [0]).is_err_and(is_refusal);
        delivered = socket.recv(&mut [0]).is_ok();
        delivered || refused
    }));
    delivered
}

fn is_refusal(error: io::Error) -> bool {
    error.kind() == ErrorKind::ConnectionRefused
}

/// The port of the other family may be another program's.
#[test]
#[ignore = "needs root"]
fn keeper_redirects_only_the_family_that_a_socket_receives() {
    with_server(user(), |testbed, run| {
        let [host, other] = testbed.hosts();
        let attacker = Attacker::with_interface(run, host);
        let [any, any_v4] = [Ipv6Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED.to_ipv6_mapped()];
        let sockets: [(Domain, bool, IpAddr); 4] = [
            (Domain::IPV4, false, Ipv4Addr::UNSPECIFIED.into()),
            (Domain::IPV6, true, any.into()),
            (Domain::IPV6, false, any.into()),
            (Domain::IPV6, false, any_v4.into()),
        ];
        let mut answers = Vec::new();
        for (domain, only_v6, local) in sockets {
            let socket = host.run(|| bind_udp(domain, only_v6, local)).unwrap();
            let port = socket.local_addr().unwrap().port();
            for address in [host.address().into(), host.address_v6().unwrap().into()] {
                let to = SocketAddr::new(address, port);
                let from = if to.is_ipv4() { any_v4.to_canonical() } else { any.into() };
                let sender = || {
                    let sender = UdpSocket::bind(SocketAddr::new(from, 0)).unwrap();
                    sender.set_nonblocking(true).unwrap();
                    sender.connect(to).unwrap();
                    sender
                };
                let sender = other.run(sender).unwrap();
                let delivered = is_delivered(&sender, &socket);
                let text = to.to_string();
                let asked = Request::Redirect;
                let answer = attacker.ask(asked, attacker.interface, text.as_bytes(), &[&socket]);
                let expected = if delivered { 0 } else { libc::EACCES };
                assert_eq!(answer, expected, "{domain:?}, only IPv6: {only_v6}, {local}: {text}");
                answers.push(delivered);
            }
        }
        assert_eq!(answers, [true, false, false, true, true, true, true, false]);
    });
}

/// Registers a process that ends at once. Returns the client's socket, which it has passed on.
fn register_and_end(run: &OwnedFd) -> OwnedFd {
    let [kept, passed] = message::pair().unwrap();
    // SAFETY: the child makes only system calls.
    let child = unsafe { libc::fork() };
    if child == 0 {
        if let Ok([ours, theirs]) = message::pair() {
            let _ = message::send(run.as_fd(), [0; 4], &[], &[theirs.as_fd()], 0);
            let _ = message::await_message(ours.as_fd(), PATIENT);
            let _ = message::send(passed.as_fd(), [0; 4], &[], &[ours.as_fd()], 0);
        }
        // SAFETY: ends the child without the exit handlers of its parent.
        unsafe { libc::_exit(0) };
    }
    // SAFETY: no status is requested.
    assert_eq!(unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) }, child);
    drop(passed);
    let message = message::receive(kept.as_fd(), 0).unwrap().unwrap();
    message.descriptors.into_iter().next().unwrap()
}

/// A process may pass its socket on, to one outside of the run for example.
#[test]
#[ignore = "needs root"]
fn keeper_ends_a_client_whose_process_has_ended() {
    let testbed = Testbed::builder().build().unwrap();
    let [host, _] = testbed.hosts();
    let [registration, run] = message::pair().unwrap();
    std::thread::scope(|scope| {
        let serve = || new_server(registration, Injector::open().unwrap(), Vec::new(), user());
        let server = scope.spawn(move || host.run(|| serve().run()).unwrap());
        let socket = register_and_end(&run);
        // The state file was sent before; then the end, although this process holds the socket.
        assert_eq!(message::receive(socket.as_fd(), 0).unwrap().unwrap().descriptors.len(), 1);
        drop(run);
        let ended = eventually(|| server.is_finished());
        drop(socket);
        server.join().unwrap();
        assert!(ended, "the keeper serves a client without a process");
    });
}

/// A host that forwards has frames for other hosts, and any user can bind their addresses
/// (`IP_FREEBIND`).
#[test]
#[ignore = "needs root"]
fn keeper_redirects_no_address_of_another_host() {
    with_server(user(), |testbed, run| {
        let [host, _] = testbed.hosts();
        let attacker = Attacker::with_interface(run, host);
        let ask = |text: &str, socket: &UdpSocket| {
            attacker.ask(Request::Redirect, attacker.interface, text.as_bytes(), &[socket])
        };
        let bind = |local: &str| {
            let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
            socket.set_freebind_v4(true).unwrap();
            socket.bind(&local.parse::<SocketAddr>().unwrap().into()).unwrap();
            UdpSocket::from(socket)
        };
        let foreign = host.run(|| bind("203.0.113.7:7060")).unwrap();
        assert_eq!(ask("203.0.113.7:7060", &foreign), libc::EACCES);
        let any = host.run(|| bind("0.0.0.0:7061")).unwrap();
        for address in ["203.0.113.7", "0.0.0.0", "255.255.255.255", "127.0.0.1"] {
            assert_eq!(ask(&format!("{address}:7061"), &any), libc::EACCES, "{address}");
        }
        assert_eq!(ask(&format!("{}:7061", host.address()), &any), 0);
    });
}

/// Returns a socket of another host that sends to an address.
fn sender_to(other: &Host, to: SocketAddr) -> UdpSocket {
    let connect = || {
        let sender = UdpSocket::bind((other.address(), 0)).unwrap();
        sender.set_nonblocking(true).unwrap();
        sender.connect(to).unwrap();
        sender
    };
    other.run(connect).unwrap()
}

/// Returns `true` if a datagram arrives at a socket through the kernel within some time.
fn arrives(sender: &UdpSocket, socket: &UdpSocket) -> bool {
    let until = Instant::now() + Duration::from_millis(100);
    while Instant::now() < until {
        let _ = sender.send(&[OWN]);
        std::thread::sleep(Duration::from_millis(1));
        if socket.recv(&mut [0]).is_ok() {
            return true;
        }
    }
    false
}

fn bind_to(local: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(local)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Else the next socket at the port would receive nothing, and the program what is sent to it.
#[test]
#[ignore = "needs root"]
fn port_is_taken_while_its_frames_are_redirected() {
    with_server(user(), |testbed, run| {
        let [host, other] = testbed.hosts();
        let attacker = Attacker::with_interface(run, host);
        let bind = |local| host.run(|| bind_to(local)).unwrap();
        let socket = bind((host.address(), 0).into()).unwrap();
        let local = socket.local_addr().unwrap();
        let (interface, text) = (attacker.interface, local.to_string());
        let sender = sender_to(other, local);
        let enter = |socket: &UdpSocket| {
            assert_eq!(attacker.ask(Request::Redirect, interface, text.as_bytes(), &[socket]), 0);
            assert!(!arrives(&sender, socket), "it is not redirected");
        };
        let ends: [(&str, &dyn Fn()); 3] = [
            ("the entry is given up", &|| {
                assert_eq!(attacker.ask(Request::EndRedirect, interface, text.as_bytes(), &[]), 0);
            }),
            ("the interface is opened again", &|| {
                attacker.open(host.interface());
            }),
            ("it leaves", &|| assert_eq!(attacker.ask(Request::Leave, 0, &[], &[]), 0)),
        ];
        let mut socket = socket;
        for (how, end) in ends {
            enter(&socket);
            drop(socket);
            let error = bind(local).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AddrInUse, "{how}");
            end();
            socket = bind(local).unwrap();
            assert!(eventually(|| arrives(&sender, &socket)), "{how}");
        }
        let attacker = Attacker::with_interface(run, host);
        let asked = attacker.ask(Request::Redirect, interface, text.as_bytes(), &[&socket]);
        assert_eq!(asked, 0);
        drop((socket, attacker));
        let mut socket = None;
        assert!(eventually(|| {
            socket = bind(local).ok();
            socket.is_some()
        }));
        assert!(eventually(|| arrives(&sender, socket.as_ref().unwrap())), "it has ended");
    });
}

/// The numbers of users are the program's choice, and each makes the keeper hold a descriptor.
#[test]
#[ignore = "needs root"]
fn program_makes_the_keeper_hold_a_limited_number_of_sockets() {
    with_server(user(), |testbed, run| {
        let [host, _] = testbed.hosts();
        let attacker = Attacker::with_interface(run, host);
        let socket = host.run(|| bind_to((host.address(), 0).into())).unwrap().unwrap();
        let text = socket.local_addr().unwrap().to_string();
        let ask = |request: Request, user: usize| {
            let numbers = [request as u32, attacker.interface, user as u32, 0];
            let (to, passed) = (attacker.socket.as_fd(), [socket.as_fd()]);
            let passed = if request == Request::Redirect { &passed[..] } else { &[] };
            message::send(to, numbers, text.as_bytes(), passed, 0).unwrap();
            attacker.answer()
        };
        for user in 0..udp::HELD_MAX {
            assert_eq!(ask(Request::Redirect, user), 0, "{user}");
        }
        assert_eq!(ask(Request::Redirect, udp::HELD_MAX), libc::EMFILE);
        assert_eq!(ask(Request::EndRedirect, 0), 0);
        assert_eq!(ask(Request::Redirect, udp::HELD_MAX), 0);
    });
}

/// Several sockets have the port, and the last one that is left keeps it.
#[test]
#[ignore = "needs root"]
fn entry_lasts_as_long_as_one_of_its_users() {
    with_server(user(), |testbed, run| {
        let [host, other] = testbed.hosts();
        let attacker = Attacker::with_interface(run, host);
        let bind = || {
            let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
            socket.set_reuse_port(true).unwrap();
            socket.bind(&SocketAddr::from((host.address(), 7_062)).into()).unwrap();
            socket.set_nonblocking(true).unwrap();
            UdpSocket::from(socket)
        };
        let sockets = [0, 1].map(|_| host.run(bind).unwrap());
        let local = sockets[0].local_addr().unwrap();
        let (interface, text) = (attacker.interface, local.to_string());
        let ask = |request: Request, user, sockets: &[BorrowedFd<'_>]| {
            let numbers = [request as u32, interface, user, 0];
            let to = attacker.socket.as_fd();
            message::send(to, numbers, text.as_bytes(), sockets, 0).unwrap();
            attacker.answer()
        };
        for (user, socket) in sockets.iter().enumerate() {
            assert_eq!(ask(Request::Redirect, user as u32, &[socket.as_fd()]), 0);
        }
        let [first, second] = sockets;
        let sender = sender_to(other, local);
        drop(first);
        assert_eq!(ask(Request::EndRedirect, 0, &[]), 0);
        assert!(!arrives(&sender, &second), "the second one has it");
        assert_eq!(ask(Request::EndRedirect, 7, &[]), 0, "there is no such user");
        assert!(!arrives(&sender, &second));
        assert_eq!(ask(Request::EndRedirect, 1, &[]), 0);
        // Each datagram has one recipient: the held socket is closed.
        assert!(eventually(|| arrives(&sender, &second)));
    });
}

/// Dissolves the address of a socket: connect(2) to `AF_UNSPEC`.
fn dissolve(socket: &impl AsFd) {
    // SAFETY: a structure of integers, for which zero is a valid value.
    let unspecified: libc::sockaddr = unsafe { std::mem::zeroed() };
    let (fd, length) = (socket.as_fd().as_raw_fd(), size_of::<libc::sockaddr>() as u32);
    // SAFETY: the kernel reads the structure.
    assert_eq!(unsafe { libc::connect(fd, &raw const unspecified, length) }, 0);
}

/// The kernel gives the port of a dissolved socket to others, although the socket is held.
#[test]
#[ignore = "needs root"]
fn flow_ends_when_its_socket_is_dissolved() {
    with_server(user(), |testbed, run| {
        let [host, other] = testbed.hosts();
        let attacker = Attacker::with_interface(run, host);
        let interface = attacker.interface;
        let peer = other.run(|| bind_to((other.address(), 0).into())).unwrap().unwrap();
        let to = peer.local_addr().unwrap();
        let connect = || {
            // The kernel chooses the port, so that the socket does not keep it.
            let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
            socket.connect(&to.into()).unwrap();
            UdpSocket::from(socket)
        };
        let socket = host.run(connect).unwrap();
        let local = socket.local_addr().unwrap();
        let text = format!("{local} {to}");
        let asked = attacker.ask(Request::Redirect, interface, text.as_bytes(), &[&socket]);
        assert_eq!(asked, 0);
        dissolve(&socket);
        let victim = host.run(|| bind_to(local)).unwrap().unwrap();
        victim.connect(to).unwrap();
        peer.connect(local).unwrap();
        assert!(eventually(|| arrives(&peer, &victim)), "UDP");

        let server = other.run(|| TcpListener::bind((other.address(), 0))).unwrap().unwrap();
        let to = server.local_addr().unwrap();
        let connection = host.run(|| TcpStream::connect(to)).unwrap().unwrap();
        let local = connection.local_addr().unwrap();
        let _peer = server.accept().unwrap();
        assert_eq!(attacker.ask(Request::TakeOver, 0, &[], &[&connection]), 0);
        dissolve(&connection);
        let connect = || {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            socket.bind(&local.into()).unwrap();
            socket.connect_timeout(&to.into(), Duration::from_secs(1)).map(|()| socket)
        };
        assert!(eventually(|| host.run(connect).unwrap().is_ok()), "TCP");
    });
}

/// The queue of a socket has the last descriptor of a connection whose close waits for an hour.
#[test]
#[ignore = "needs root"]
fn keeper_waits_for_no_descriptor_in_the_queue_of_a_refused_client() {
    with_server(user(), |testbed, run| {
        let [host, other] = testbed.hosts();
        let server = other.run(|| TcpListener::bind((other.address(), 0))).unwrap().unwrap();
        let to = server.local_addr().unwrap();
        let mut connection = host.run(|| TcpStream::connect(to)).unwrap().unwrap();
        let reference = SockRef::from(&connection);
        reference.set_linger(Some(Duration::from_secs(3_600))).unwrap();
        reference.set_nonblocking(true).unwrap();
        while connection.write(&[0; 65_536]).is_ok() {}
        let [ours, theirs] = message::pair().unwrap();
        message::send(ours.as_fd(), [0; 4], &[], &[connection.as_fd()], 0).unwrap();
        drop(connection);
        // The state file cannot be sent.
        drop(ours);
        message::send(run.as_fd(), [0; 4], &[], &[theirs.as_fd()], 0).unwrap();
        // The last close waits, also if it is this one.
        std::thread::spawn(move || drop(theirs));
        let begin = Instant::now();
        assert_eq!(Attacker::new(run).ask(Request::Release, 0, &[], &[]), 0);
        assert!(begin.elapsed() < Duration::from_secs(3_600));
    });
}

/// Returns a segment of a connection's peer that resets the connection.
fn reset([local, remote]: [SocketAddr; 2], connection: &TcpStream) -> Vec<u8> {
    let (IpAddr::V4(source), IpAddr::V4(to)) = (remote.ip(), local.ip()) else { panic!("IPv4") };
    let kernel = crate::tcp::kernel_socket::KernelSocket::new(connection.as_fd());
    kernel.start_repair().unwrap();
    kernel.select(crate::tcp::kernel_socket::Queue::Receive).unwrap();
    let sequence = kernel.sequence().unwrap();
    kernel.end_repair().unwrap();
    let mut tcp = TcpHeader::new(remote.port(), local.port());
    tcp.set_sequence_number(sequence);
    tcp.set_flags(TcpFlags::RST);
    let mut ip = Ipv4Header::new(Protocol::TCP, source, to);
    ip.set_total_length((Ipv4Header::SIZE + TcpHeader::SIZE) as u16);
    ip.set_ttl(64);
    ip.fill_checksum();
    [ip.as_bytes(), tcp.as_bytes()].concat()
}

/// The port of a connection that has ended may be another program's, to the same peer.
#[test]
#[ignore = "needs root"]
fn keeper_injects_no_packet_long_after_the_end_of_a_connection() {
    with_server(user(), |testbed, run| {
        let [host, other] = testbed.hosts();
        let attacker = Attacker::with_interface(run, host);
        let server = other.run(|| TcpListener::bind((other.address(), 0))).unwrap().unwrap();
        let to = server.local_addr().unwrap();
        let connection = host.run(|| TcpStream::connect(to)).unwrap().unwrap();
        let local = connection.local_addr().unwrap();
        assert_eq!(attacker.ask(Request::TakeOver, 0, &[], &[&connection]), 0);
        assert_eq!(attacker.ask(Request::Undo, 0, &[], &[]), 0);
        assert_eq!(attacker.ask(Request::Release, 0, &[], &[]), 0);
        SockRef::from(&connection).set_linger(Some(Duration::ZERO)).unwrap();
        drop((connection, server.accept().unwrap()));
        // Longer than the last packets of a connection may take.
        std::thread::sleep(requests::LATE);
        let bind = || {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            socket.bind(&local.into()).unwrap();
            socket.connect(&to.into()).unwrap();
            TcpStream::from(socket)
        };
        let mut victim = host.run(bind).unwrap();
        let (mut peer, _) = server.accept().unwrap();
        attacker.send(Request::Inject, 0, &reset([local, to], &victim), &[]);
        assert_eq!(attacker.ask(Request::Release, 0, &[], &[]), 0);
        peer.write_all(&MESSAGE).unwrap();
        victim.read_exact(&mut [0; MESSAGE.len()]).unwrap();
        // Such a packet ends the connection if it is injected.
        let mut packet = reset([local, to], &victim);
        host.run(Injector::open).unwrap().unwrap().inject(&mut packet).unwrap();
        let error = victim.read_exact(&mut [0; MESSAGE.len()]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    });
}
