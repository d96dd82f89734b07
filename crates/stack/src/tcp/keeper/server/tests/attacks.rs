//! Attempts of a program of the run to receive what is another's, and to stop the keeper.

use std::net::{IpAddr, Ipv6Addr};

use hairpin_testbed::eventually;
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
        drop(theirs);
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
