//! Records that no engine has written.

mod attacks;

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hairpin_mapped::{StateFile, StateReader, StateSlot};
use hairpin_testbed::{Host, Testbed, eventually, scaled};
use hairpin_testkit::Random;
use socket2::{Domain, SockRef, Socket, Type};

use super::*;
use crate::tcp::keeper::KeeperClient;
use crate::tcp::keeper::message::Request;
use crate::tcp::keeper::record::{Phase, Record};
use crate::tcp::takeover::{CONNECTIONS, RING, RING_MAX};
use crate::tcp::transfer::Taken;
use crate::{Stack, StackSettings, TcpSocket};

/// The byte that the ring of the dead program contains.
const OWN: u8 = 0xA5;

/// Writes a record that is valid, except for some words.
fn write_garbage(slot: &mut StateSlot, rng: &mut Random) {
    slot.fill(OWN);
    let base = rng.any() as u32;
    let [next, end, edge] = [9, 99, 9_999].map(|length| base.wrapping_add(length));
    let valid = [1, base, next, end, edge, 65_535, 5, 7, 64_000, 0, 1_460, 1, 0, 0, 0, 0];
    let keeps = rng.below(4);
    for (word, value) in slot.words().iter().zip(valid) {
        let random = rng.any();
        // A quarter of the records is random as a whole.
        let value =
            if keeps == 0 || random.is_multiple_of(16) { (random >> 32) as u32 } else { value };
        word.store(value, Ordering::Release);
    }
}

/// Reads to the end; `false` if nothing arrives for some time.
fn ends(peer: &mut TcpStream, patience: Duration) -> bool {
    peer.set_read_timeout(Some(patience)).unwrap();
    let mut buffer = [0; 4_096];
    loop {
        match peer.read(&mut buffer) {
            Ok(0) => return true,
            Ok(count) => assert!(buffer[..count].iter().all(|byte| *byte == OWN)),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return true,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(error) => panic!("{error}"),
        }
    }
}

fn new_server(
    registration: OwnedFd,
    injector: Injector,
    interfaces: Vec<String>,
    users: Vec<u32>,
) -> Server {
    Server::new(registration, injector, interfaces, users, Vault::new().unwrap())
}

/// Returns the user of this process.
fn user() -> Vec<u32> {
    // SAFETY: the call takes no argument.
    vec![unsafe { libc::geteuid() }]
}

/// Returns a client whose process has ended with one connection taken over.
fn dead_client(state: StateReader, slot: u32, orphan: Orphan) -> Client {
    let [socket, _program] = message::pair().unwrap();
    let orphans = HashMap::from([(slot, orphan)]);
    let (flows, interfaces) = (HashMap::new(), HashMap::new());
    let (process_id, bytes) = (0, Vec::new());
    let process = peer::process(&socket, std::process::id().cast_signed()).unwrap();
    let redirects = udp::Redirects::default();
    Client { socket, process_id, process, state, orphans, flows, bytes, interfaces, redirects }
}

#[test]
#[ignore = "needs root"]
fn garbage_ends_only_its_own_connection() {
    let testbed = Testbed::builder().build().unwrap();
    let [host, other] = testbed.hosts();
    let listener = other.run(|| TcpListener::bind((other.address(), 7_900))).unwrap().unwrap();
    let to = listener.local_addr().unwrap();
    let connect = || {
        let socket = host.run(|| TcpStream::connect(to)).unwrap().unwrap();
        (socket, listener.accept().unwrap().0)
    };
    let injector = host.run(Injector::open).unwrap().unwrap();
    let [registration, run] = message::pair().unwrap();
    let mut server = new_server(registration, injector, Vec::new(), user());
    let (mut bystander, mut bystander_peer) = connect();
    let mut rng = Random::new(4);
    let [mut rejected, mut accepted] = [0, 0];
    for _ in 0..scaled(60) {
        let (socket, mut peer) = connect();
        let state = StateReader::create(CONNECTIONS as u32, RING).unwrap();
        let file = StateFile::open(state.file(), CONNECTIONS as u32, RING).unwrap();
        let mut slot = file.take().unwrap().unwrap();
        write_garbage(&mut slot, &mut rng);
        let record = Record::parse(&state.words(slot.index()).unwrap(), RING, RING_MAX);
        let mut orphan = Orphan::new(OwnedFd::from(socket)).unwrap();
        orphan.take(0).unwrap();
        server.finish(dead_client(state, slot.index(), orphan), false);
        match record.map(|record| record.phase) {
            // Numbers that are wrong and possible are the program's own loss.
            Ok(Phase::Bypassing) => {
                accepted += 1;
                ends(&mut peer, Duration::from_millis(20));
            }
            _ => {
                rejected += 1;
                assert!(ends(&mut peer, Duration::from_secs(60)), "silence: {record:?}");
            }
        }
        bystander.write_all(&[OWN]).unwrap();
        bystander_peer.read_exact(&mut [0]).unwrap();
    }
    drop((run, server));
    println!("{accepted} records accepted, {rejected} rejected");
    assert!(accepted > 0 && rejected > 0);
}

/// The program died between the record and the transmission of its last frame. A byte that it has
/// not read makes the end an RST, so no FIN shows the peer that something is missing.
#[test]
#[ignore = "needs root"]
fn bytes_recorded_and_never_sent_reach_the_peer_after_a_short_timeout() {
    const LENGTH: u32 = 500;
    let testbed = Testbed::builder().build().unwrap();
    let [host, other] = testbed.hosts();
    let listener = other.run(|| TcpListener::bind((other.address(), 7_900))).unwrap().unwrap();
    let to = listener.local_addr().unwrap();
    let socket = host.run(|| TcpStream::connect(to)).unwrap().unwrap();
    let mut peer = listener.accept().unwrap().0;
    peer.write_all(&[1]).unwrap();
    socket.peek(&mut [0]).unwrap();
    let mut orphan = Orphan::new(OwnedFd::from(socket)).unwrap();
    let Taken { send_next: sent, receive_next: received, .. } = orphan.take(0).unwrap();
    let state = StateReader::create(CONNECTIONS as u32, RING).unwrap();
    let file = StateFile::open(state.file(), CONNECTIONS as u32, RING).unwrap();
    let mut slot = file.take().unwrap().unwrap();
    slot.fill(OWN);
    let (next, edge) = (sent.wrapping_add(LENGTH), sent.wrapping_add(60_000));
    let receive_edge = received.wrapping_add(60_000);
    let words = [1, sent, next, next, edge, 60_000, received, received, receive_edge, 0, 1_460];
    for (word, value) in slot.words().iter().zip(words) {
        word.store(value, Ordering::Release);
    }
    let injector = host.run(Injector::open).unwrap().unwrap();
    let [registration, run] = message::pair().unwrap();
    let mut server = new_server(registration, injector, Vec::new(), user());
    server.finish(dead_client(state, slot.index(), orphan), false);
    let timeout = server.pending[0].orphan.kernel().info().unwrap().retransmission_timeout_us;
    assert!(timeout < 500_000, "{timeout} µs");
    let mut bytes = [0; LENGTH as usize];
    peer.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    peer.read_exact(&mut bytes).unwrap();
    assert_eq!(bytes, [OWN; LENGTH as usize]);
    drop((run, server));
    assert_eq!(peer.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
#[ignore = "needs root"]
fn anything_but_an_established_connection_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let file = std::fs::File::open("/dev/null").unwrap();
    let [a, _b] = message::pair().unwrap();
    for descriptor in [OwnedFd::from(listener), udp.into(), file.into(), a] {
        assert!(Orphan::new(descriptor).is_err());
    }
}

const MESSAGE: [u8; 64] = [OWN; 64];

/// Sends a message, and receives the answer while the connection is anyone's.
fn exchange(socket: &mut TcpSocket) {
    assert_eq!(socket.send(&MESSAGE).unwrap(), MESSAGE.len());
    let (mut count, until) = (0, Instant::now() + Duration::from_secs(60));
    while count < MESSAGE.len() {
        assert!(Instant::now() < until, "silence");
        match socket.receive(|bytes| assert!(bytes.iter().all(|byte| *byte == OWN))) {
            Ok(received) => count += received,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
    }
}

/// Takes a connection over and hands it back. Returns both times.
fn transition(socket: &mut TcpSocket) -> [Duration; 2] {
    let until = Instant::now() + Duration::from_secs(60);
    let takeover = loop {
        exchange(socket);
        let begin = Instant::now();
        match socket.take_over() {
            Ok(()) => break begin.elapsed(),
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
    };
    // A handback waits for a shorter time to pass.
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_micros(1_500) {
        exchange(socket);
    }
    assert!(socket.is_bypassing());
    let begin = Instant::now();
    socket.hand_back().unwrap();
    [takeover, begin.elapsed()]
}

/// Prints the times too: docs/design/tcp.md has those of an optimized build.
#[test]
#[ignore = "needs root"]
fn keeper_opens_the_interface_and_switches_repair_mode() {
    let testbed = Testbed::builder().build().unwrap();
    let [host, other] = testbed.hosts();
    let listener = other.run(|| TcpListener::bind((other.address(), 7_901))).unwrap().unwrap();
    let to = listener.local_addr().unwrap();
    let [registration, run] = message::pair().unwrap();
    std::thread::scope(|scope| {
        let names = vec![host.interface().to_string()];
        let serve = || new_server(registration, Injector::open().unwrap(), names, user()).run();
        let server = scope.spawn(move || host.run(serve).unwrap());
        let client = KeeperClient::connect(run.as_fd()).unwrap();
        for keeper in [None, Some(client)] {
            // A test that is not scheduled for a while keeps its connection.
            let (keeper, unpolled_max) = (keeper.clone(), Duration::MAX);
            let is_kept = keeper.is_some();
            let settings = StackSettings { keeper, unpolled_max, ..StackSettings::default() };
            let open = || {
                let stack = Stack::open(host.interface(), &settings).unwrap();
                stack.adopt_tcp(TcpStream::connect(to).unwrap()).unwrap()
            };
            let mut socket = host.run(open).unwrap();
            socket.kernel_socket().set_nodelay(true).unwrap();
            socket.kernel_socket().set_nonblocking(true).unwrap();
            let (mut peer, _) = listener.accept().unwrap();
            let echo = scope.spawn(move || {
                let mut message = MESSAGE;
                while peer.read_exact(&mut message).is_ok() {
                    peer.write_all(&message).unwrap();
                }
            });
            let times: Vec<_> = (0..scaled(50)).map(|_| transition(&mut socket)).collect();
            let median = |which: usize| {
                let mut times: Vec<_> = times.iter().map(|times| times[which]).collect();
                times.sort_unstable();
                times[times.len() / 2]
            };
            let (takeover, handback) = (median(0), median(1));
            let who = if is_kept { "with" } else { "without" };
            println!("{who} a keeper: takeover {takeover:?}, handback {handback:?}");
            drop(socket);
            echo.join().unwrap();
        }
        drop(run);
        server.join().unwrap();
    });
}

#[test]
#[ignore = "needs root"]
fn keeper_opens_only_interfaces_of_its_run() {
    let testbed = Testbed::builder().build().unwrap();
    let [host, _] = testbed.hosts();
    let [registration, run] = message::pair().unwrap();
    std::thread::scope(|scope| {
        let serve = || {
            let names = vec!["other0".to_string()];
            new_server(registration, Injector::open().unwrap(), names, user()).run();
        };
        let server = scope.spawn(move || host.run(serve).unwrap());
        let keeper = Some(KeeperClient::connect(run.as_fd()).unwrap());
        let settings = StackSettings { keeper, ..StackSettings::default() };
        let error = host.run(|| Stack::open(host.interface(), &settings)).unwrap().unwrap_err();
        assert_eq!(error.to_string(), "the interface does not belong to this run");
        drop((settings, run));
        server.join().unwrap();
    });
}

/// A program that sends what the library does not send disturbs no other, and loses nothing.
#[test]
#[ignore = "needs root"]
fn keeper_survives_clients_that_send_garbage() {
    let testbed = Testbed::builder().build().unwrap();
    let [host, _] = testbed.hosts();
    let [registration, run] = message::pair().unwrap();
    std::thread::scope(|scope| {
        let names = vec![host.interface().to_string()];
        let serve = || new_server(registration, Injector::open().unwrap(), names, user()).run();
        let server = scope.spawn(move || host.run(serve).unwrap());
        let bystander = KeeperClient::connect(run.as_fd()).unwrap();
        let mut rng = Random::new(9);
        for _ in 0..scaled(200) {
            let [ours, theirs] = message::pair().unwrap();
            message::send(run.as_fd(), [0; 4], &[], &[theirs.as_fd()], 0).unwrap();
            drop(theirs);
            message::receive(ours.as_fd(), 0).unwrap().unwrap();
            let file = std::fs::File::open("/dev/null").unwrap();
            for _ in 0..8 {
                let mut numbers = [0; 4].map(|_: u32| (rng.any() >> 32) as u32);
                numbers[0] %= 18;
                if rng.one_in(2) {
                    numbers[1] %= 4;
                }
                let text = ["", host.interface(), "127.0.0.1", "\0"][rng.index(4)];
                let all = [ours.as_fd(), file.as_fd()];
                let descriptors = &all[..rng.index(3)];
                let flags = libc::MSG_DONTWAIT;
                message::send(ours.as_fd(), numbers, text.as_bytes(), descriptors, flags).unwrap();
            }
        }
        bystander.leave();
        assert!(!bystander.is_lost());
        drop((bystander, run));
        server.join().unwrap();
    });
}

/// A client without the library: it sends what it likes.
struct Attacker {
    socket: OwnedFd,
    /// The index of the interface that it has opened.
    interface: u32,
}

impl Attacker {
    fn new(run: &OwnedFd) -> Self {
        let [socket, theirs] = message::pair().unwrap();
        message::send(run.as_fd(), [0; 4], &[], &[theirs.as_fd()], 0).unwrap();
        drop(theirs);
        message::await_message(socket.as_fd(), PATIENT).unwrap();
        message::receive(socket.as_fd(), 0).unwrap().unwrap();
        Self { socket, interface: 0 }
    }

    /// Returns an attacker that has opened the interface of a host.
    fn with_interface(run: &OwnedFd, host: &Host) -> Self {
        let attacker = Self::new(run);
        let name = host.interface();
        attacker.open(name);
        let interface = host.run(|| hairpin_xdp::Device::from_name(name).unwrap().index).unwrap();
        Self { interface, ..attacker }
    }

    /// Opens an interface with room for 64 ports.
    fn open(&self, name: &str) {
        let numbers = [Request::OpenInterface as u32, 0, 64, 0];
        // The kernel frees the queues a moment after their last user has closed them.
        assert!(eventually(|| {
            message::send(self.socket.as_fd(), numbers, name.as_bytes(), &[], 0).unwrap();
            self.answer() == 0
        }));
        assert_eq!(self.ask(Request::BindInterface, 0, name.as_bytes(), &[]), 0);
    }

    fn send(&self, request: Request, slot: u32, payload: &[u8], descriptors: &[&dyn AsFd]) {
        let descriptors: Vec<_> = descriptors.iter().map(|it| it.as_fd()).collect();
        let numbers = [request as u32, slot, 0, self.interface];
        message::send(self.socket.as_fd(), numbers, payload, &descriptors, 0).unwrap();
    }

    /// Returns the error number of the answer.
    fn ask(&self, request: Request, slot: u32, payload: &[u8], descriptors: &[&dyn AsFd]) -> i32 {
        self.send(request, slot, payload, descriptors);
        self.answer()
    }

    /// Returns the error number of the next answer.
    fn answer(&self) -> i32 {
        message::await_message(self.socket.as_fd(), PATIENT).unwrap();
        let answer = message::receive(self.socket.as_fd(), 0).unwrap().unwrap();
        answer.numbers[1].cast_signed()
    }
}

/// No answer takes this long.
const PATIENT: Duration = Duration::from_secs(60);

/// Serves a run on the first host while `attack` runs.
fn with_server(users: Vec<u32>, attack: impl FnOnce(&Testbed, &OwnedFd)) {
    let testbed = Testbed::builder().ipv6().build().unwrap();
    let [host, _] = testbed.hosts();
    let [registration, run] = message::pair().unwrap();
    std::thread::scope(|scope| {
        let names = vec![host.interface().to_string()];
        let serve = || new_server(registration, Injector::open().unwrap(), names, users).run();
        let server = scope.spawn(move || host.run(serve).unwrap());
        attack(&testbed, &run);
        drop(run);
        server.join().unwrap();
    });
}

#[test]
#[ignore = "needs root"]
fn keeper_serves_no_other_user() {
    with_server(vec![65_533], |_, run| {
        let error = KeeperClient::connect(run.as_fd()).unwrap_err().to_string();
        assert_eq!(error, "the keeper of this run does not serve the user 0 (hairpin run --user)");
    });
}

#[test]
#[ignore = "needs root"]
fn keeper_takes_only_connections_of_its_interfaces() {
    with_server(user(), |testbed, run| {
        let [host, other] = testbed.hosts();
        let attacker = Attacker::with_interface(run, host);
        let ask = |slot, socket: &dyn AsFd| attacker.ask(Request::TakeOver, slot, &[], &[socket]);
        let pair = || {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            (TcpStream::connect(listener.local_addr().unwrap()).unwrap(), listener)
        };
        let (loopback, _listener) = host.run(pair).unwrap();
        assert_eq!(ask(0, &loopback), libc::EINVAL);
        let listener = host.run(|| TcpListener::bind((host.address(), 0))).unwrap().unwrap();
        assert_eq!(ask(0, &listener), libc::EBADF);
        assert_eq!(ask(0, &std::fs::File::open("/dev/null").unwrap()), libc::EBADF);
        assert_eq!(attacker.ask(Request::TakeOver, 0, &[], &[]), libc::EINVAL);
        let server = other.run(|| TcpListener::bind((other.address(), 0))).unwrap().unwrap();
        let to = server.local_addr().unwrap();
        let connection = host.run(|| TcpStream::connect(to)).unwrap().unwrap();
        assert_eq!(ask(CONNECTIONS as u32, &connection), libc::EINVAL);
        let stranger = Attacker::new(run);
        assert_eq!(stranger.ask(Request::TakeOver, 0, &[], &[&connection]), libc::EINVAL);
        assert_eq!(ask(0, &connection), 0);
        // The slot is taken, and numbers that no ring can have had are refused.
        assert_eq!(ask(0, &connection), libc::EINVAL);
        let give = |given: &[u8]| attacker.ask(Request::GiveBack, 0, given, &[]);
        assert_eq!(give(&[]), libc::EINVAL);
        assert_eq!(give(&[0xFF; 64]), libc::EINVAL);
        assert_eq!(attacker.ask(Request::Undo, 0, &[], &[]), 0);
        assert_eq!(attacker.ask(Request::Undo, 1, &[], &[]), libc::EINVAL);
    });
}

/// Packets are injected only if their source is the peer of a connection that was taken over.
#[test]
#[ignore = "needs root"]
fn keeper_injects_no_packet_of_a_stranger() {
    with_server(user(), |testbed, run| {
        let [host, _] = testbed.hosts();
        let attacker = Attacker::new(run);
        let [victim, bound] =
            [0; 2].map(|_| host.run(|| UdpSocket::bind((host.address(), 0))).unwrap().unwrap());
        let here = |socket: &UdpSocket| socket.local_addr().unwrap();
        let inject = |source: &str, to: &UdpSocket, socket: &UdpSocket| {
            let source = source.parse().unwrap();
            let fields = crate::IpFields { ttl: 64, traffic_class: 0 };
            let packet = crate::udp_injector::packet(source, here(to), fields, b"text").unwrap();
            attacker.send(Request::InjectUdp, 0, &packet, &[socket]);
            attacker.send(Request::Inject, 0, &packet, &[]);
        };
        let own = format!("{}:53", host.address());
        inject("192.0.2.1:53", &victim, &bound);
        inject("127.0.0.53:53", &bound, &bound);
        inject(&own, &bound, &bound);
        inject("224.0.0.1:53", &bound, &bound);
        inject("192.0.2.1:53", &bound, &bound);
        // Answered after all others.
        assert_eq!(attacker.ask(Request::Release, 0, &[], &[]), 0);
        let mut buffer = [0; 16];
        bound.set_read_timeout(Some(PATIENT)).unwrap();
        let (length, from) = bound.recv_from(&mut buffer).unwrap();
        assert_eq!((&buffer[..length], from.to_string().as_str()), (&b"text"[..], "192.0.2.1:53"));
        for socket in [&victim, &bound] {
            socket.set_nonblocking(true).unwrap();
            assert_eq!(socket.recv(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
        }
    });
}

/// Runs `open` in a network namespace of its own, where the address of a host is one of loopback.
fn in_other_namespace<T: Send>(address: Ipv4Addr, open: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let opened = scope.spawn(move || {
            // SAFETY: the call takes an integer, and this thread ends.
            assert_eq!(unsafe { libc::unshare(libc::CLONE_NEWNET) }, 0);
            let address = format!("{address}/24");
            let links =
                [vec!["link", "set", "lo", "up"], vec!["addr", "add", &address, "dev", "lo"]];
            for arguments in links {
                assert!(Command::new("ip").args(arguments).status().unwrap().success());
            }
            open()
        });
        opened.join().unwrap()
    })
}

/// What another program receives is redirected to no other one.
#[test]
#[ignore = "needs root"]
fn keeper_redirects_only_what_a_socket_receives() {
    with_server(user(), |testbed, run| {
        let [host, other] = testbed.hosts();
        let attacker = Attacker::with_interface(run, host);
        let ask = |text: &str, socket: &dyn AsFd| {
            attacker.ask(Request::Redirect, attacker.interface, text.as_bytes(), &[socket])
        };
        let here = |socket: &UdpSocket| socket.local_addr().unwrap().to_string();
        let bind = || UdpSocket::bind((host.address(), 0)).unwrap();
        let [victim, own, connected] = [0; 3].map(|_| host.run(bind).unwrap());
        let peer = format!("{}:7000", other.address());
        connected.connect(&peer).unwrap();
        // Its own traffic.
        assert_eq!(ask(&here(&own), &own), 0);
        assert_eq!(ask(&format!("{} {peer}", here(&connected)), &connected), 0);
        // That of another socket, of another peer, of all peers, of no socket.
        let flow = |remote: &str| format!("{} {remote}", here(&connected));
        assert_eq!(ask(&here(&victim), &own), libc::EACCES);
        assert_eq!(ask(&flow("10.0.0.9:7000"), &connected), libc::EACCES);
        assert_eq!(ask(&here(&connected), &connected), libc::EACCES);
        assert_eq!(ask(&flow(&peer), &own), libc::EACCES);
        assert_eq!(ask("", &own), libc::EINVAL);
        let text = here(&victim);
        let none = attacker.ask(Request::Redirect, attacker.interface, text.as_bytes(), &[]);
        assert_eq!(none, libc::EINVAL);
        // A port that is bound on another device only, or in another network namespace.
        let elsewhere = host
            .run(|| {
                let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
                socket.bind_device(Some(b"lo")).unwrap();
                socket.bind(&SocketAddr::from(([0; 4], 7_053)).into()).unwrap();
                UdpSocket::from(socket)
            })
            .unwrap();
        let victim = host.run(|| UdpSocket::bind((host.address(), 7_054))).unwrap().unwrap();
        assert_eq!(ask(&format!("{}:7053", host.address()), &elsewhere), libc::EACCES);
        let foreign = in_other_namespace(host.address(), || {
            UdpSocket::bind((host.address(), 7_054)).unwrap()
        });
        assert_eq!(ask(&here(&victim), &foreign), libc::EACCES);
        // A group that it has not joined.
        let member = host.run(|| UdpSocket::bind("0.0.0.0:7055")).unwrap().unwrap();
        assert_eq!(ask("239.1.1.1:7055", &member), libc::EACCES);
        member.join_multicast_v4(&[239, 1, 1, 1].into(), &host.address()).unwrap();
        assert_eq!(ask("239.1.1.1:7055", &member), 0);
        assert_eq!(ask("239.1.1.2:7055", &member), libc::EACCES);
        // On an interface of another process.
        let stranger = Attacker { interface: attacker.interface, ..Attacker::new(run) };
        let text = here(&own);
        let asked = stranger.ask(Request::EndRedirect, stranger.interface, text.as_bytes(), &[]);
        assert_eq!(asked, libc::EINVAL);
        let asked = attacker.ask(Request::EndRedirect, attacker.interface, text.as_bytes(), &[]);
        assert_eq!(asked, 0);
    });
}

/// In a network namespace of its own, a user may have a connection between any addresses.
#[test]
#[ignore = "needs root"]
fn keeper_takes_no_connection_of_another_namespace() {
    with_server(user(), |testbed, run| {
        let [host, _] = testbed.hosts();
        let attacker = Attacker::with_interface(run, host);
        let (connection, _peer) = in_other_namespace(host.address(), || {
            let listener = TcpListener::bind((host.address(), 7_443)).unwrap();
            let connection = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (connection, listener.accept().unwrap())
        });
        let asked = attacker.ask(Request::TakeOver, 0, &[], &[&connection]);
        assert_eq!(asked, libc::EINVAL);
    });
}

/// What an attacker passes to the keeper, and what the model knows of it.
struct Passable {
    socket: Box<dyn AsFd>,
    /// The entries that it may have.
    entries: Vec<String>,
    /// It is a connection that may be taken over.
    is_connection: bool,
}

/// Returns the sockets of an attacker, and texts of entries: its own and those of `victim`.
fn passables(testbed: &Testbed, peer: SocketAddr, victim: &UdpSocket) -> Vec<Passable> {
    let [host, _] = testbed.hosts();
    let address = host.address();
    let udp = |to: SocketAddr| host.run(move || UdpSocket::bind(to)).unwrap().unwrap();
    let here = |socket: &UdpSocket| socket.local_addr().unwrap();
    let own = udp((address, 0).into());
    let any = udp(([0; 4], 0).into());
    let connected = udp((address, 0).into());
    connected.connect(peer).unwrap();
    let member = udp(([0; 4], 7_055).into());
    member.join_multicast_v4(&[239, 1, 1, 1].into(), &address).unwrap();
    let foreign = here(victim);
    let foreign = in_other_namespace(address, || UdpSocket::bind(foreign).unwrap());
    let connections = [0; 2].map(|_| host.run(|| TcpStream::connect(peer)).unwrap().unwrap());
    let listener = host.run(|| TcpListener::bind((address, 0))).unwrap().unwrap();
    let file = std::fs::File::open("/dev/null").unwrap();
    let at_host = |socket: &UdpSocket| format!("{address}:{}", here(socket).port());
    let entries = [
        vec![at_host(&own)],
        vec![at_host(&any)],
        vec![format!("{} {peer}", here(&connected))],
        vec![at_host(&member), "239.1.1.1:7055".to_owned()],
    ];
    let sockets: [Box<dyn AsFd>; 4] =
        [Box::new(own), Box::new(any), Box::new(connected), Box::new(member)];
    let mut all: Vec<_> = sockets
        .into_iter()
        .zip(entries)
        .map(|(socket, entries)| Passable { socket, entries, is_connection: false })
        .collect();
    let others: [Box<dyn AsFd>; 3] = [Box::new(foreign), Box::new(listener), Box::new(file)];
    for socket in others {
        all.push(Passable { socket, entries: Vec::new(), is_connection: false });
    }
    for socket in connections {
        let socket: Box<dyn AsFd> = Box::new(socket);
        all.push(Passable { socket, entries: Vec::new(), is_connection: true });
    }
    all
}

/// Returns the entries of an attacker's sockets, and others.
fn texts(passables: &[Passable], victim: SocketAddr, peer: SocketAddr) -> Vec<String> {
    let own: Vec<_> = passables.iter().flat_map(|it| it.entries.clone()).collect();
    // All that arrives at the port of a connected socket.
    let ports = own.iter().filter_map(|text| Some(text.split_once(' ')?.0.to_owned()));
    let others = [victim.to_string(), format!("{victim} {peer}"), "239.1.1.2:7055".to_owned()];
    ports.chain(others).chain(own.clone()).collect()
}

/// Sequences of requests with the descriptors that a program may have: each is answered as a model
/// says, and another program on the host receives what is sent to it.
#[test]
#[ignore = "needs root"]
fn keeper_answers_as_a_model_of_its_rules() {
    for seed in 0..scaled(4) {
        with_server(user(), |testbed, run| obey_model(testbed, run, seed));
    }
}

fn obey_model(testbed: &Testbed, run: &OwnedFd, seed: u64) {
    const SLOTS: u64 = 3;
    let [host, other] = testbed.hosts();
    let server = other.run(|| TcpListener::bind((other.address(), 0))).unwrap().unwrap();
    let peer = server.local_addr().unwrap();
    let victim = host.run(|| UdpSocket::bind((host.address(), 0))).unwrap().unwrap();
    victim.set_read_timeout(Some(PATIENT)).unwrap();
    let to_victim = victim.local_addr().unwrap();
    let sender = other.run(|| UdpSocket::bind((other.address(), 0))).unwrap().unwrap();
    let attacker = Attacker::with_interface(run, host);
    let passables = passables(testbed, peer, &victim);
    let texts = texts(&passables, to_victim, peer);
    let (mut rng, mut held) = (Random::new(seed), HashMap::new());
    let mut pick = |count: usize| rng.index(count);
    for step in 0..400 {
        let (passable, text) = (pick(passables.len()), &texts[pick(texts.len())]);
        let (slot, kind) = (pick(SLOTS as usize) as u32, pick(8));
        let Passable { socket, entries, is_connection } = &passables[passable];
        let context = format!("seed {seed}, step {step}, {passable}, {text}, slot {slot}");
        let index = attacker.interface;
        match kind {
            0 | 1 => {
                let asked = attacker.ask(Request::Redirect, index, text.as_bytes(), &[socket]);
                assert_eq!(asked == 0, entries.contains(text), "redirect, {context}: {asked}");
            }
            2 => {
                let asked = attacker.ask(Request::EndRedirect, index, text.as_bytes(), &[]);
                assert_eq!(asked, 0, "{context}");
            }
            3 => {
                // A connection that is taken over already is the program's own affair.
                if held.values().any(|it| *it == passable) {
                    continue;
                }
                let asked = attacker.ask(Request::TakeOver, slot, &[], &[socket]);
                let is_free = !held.contains_key(&slot);
                assert_eq!(asked == 0, *is_connection && is_free, "take, {context}: {asked}");
                if asked == 0 {
                    held.insert(slot, passable);
                }
            }
            4 => {
                let asked = attacker.ask(Request::Undo, slot, &[], &[]);
                assert_eq!(asked == 0, held.contains_key(&slot), "undo, {context}: {asked}");
                attacker.ask(Request::Release, slot, &[], &[]);
                held.remove(&slot);
            }
            5 => {
                let given = [pick(256) as u8; 64];
                let asked = attacker.ask(Request::GiveBack, 9, &given, &[]);
                assert_ne!(asked, 0, "{context}");
            }
            6 => attacker.send(Request::InjectUdp, 0, &[0x45; 40], &[socket]),
            _ => {
                attacker.ask(Request::EndRepair, slot, &[], &[socket]);
            }
        }
        if step % 20 == 0 {
            sender.send_to(&[step as u8], to_victim).unwrap();
            let mut byte = [0];
            victim.recv(&mut byte).unwrap();
            assert_eq!(byte, [step as u8], "{context}");
        }
    }
    for slot in 0..SLOTS as u32 {
        attacker.ask(Request::Undo, slot, &[], &[]);
        attacker.ask(Request::Release, slot, &[], &[]);
    }
    assert!(!KeeperClient::connect(run.as_fd()).unwrap().is_lost());
}

/// The close of the last descriptor of a socket with `SO_LINGER` waits for the peer.
#[test]
#[ignore = "needs root"]
fn keeper_waits_for_no_lingering_socket() {
    with_server(user(), |testbed, run| {
        let [host, other] = testbed.hosts();
        let server = other.run(|| TcpListener::bind((other.address(), 0))).unwrap().unwrap();
        let to = server.local_addr().unwrap();
        let begin = Instant::now();
        let attacker = Attacker::new(run);
        use Request::*;
        let requests = [TakeOver, GiveBack, Undo, Release, GrowSendBuffer, EndRepair, FindRules];
        for request in requests.into_iter().chain([Redirect, EndRedirect, Leave]) {
            let mut socket = host.run(|| TcpStream::connect(to)).unwrap().unwrap();
            let reference = SockRef::from(&socket);
            reference.set_linger(Some(Duration::from_secs(3_600))).unwrap();
            reference.set_nonblocking(true).unwrap();
            while socket.write(&[0; 65_536]).is_ok() {}
            attacker.send(request, 9, &[], &[&socket]);
            // A request that does not exist.
            let numbers = [u32::MAX; 4];
            message::send(attacker.socket.as_fd(), numbers, &[], &[socket.as_fd()], 0).unwrap();
            // The close of the last descriptor waits: it is this one or the keeper's.
            std::thread::spawn(move || drop(socket));
            for _ in 0..2 {
                message::receive(attacker.socket.as_fd(), 0).unwrap().unwrap();
            }
        }
        assert_eq!(Attacker::new(run).ask(Request::Release, 0, &[], &[]), 0);
        assert!(begin.elapsed() < Duration::from_secs(3_600));
    });
}

/// While the keeper has a socket in repair mode, in which bind(2) takes a port in use, the program
/// can bind it too. Whatever it becomes, no connection of the victim arrives at it afterwards.
#[test]
#[ignore = "needs root"]
fn no_port_in_use_is_taken_while_the_keeper_works() {
    with_server(user(), |testbed, run| {
        let [host, other] = testbed.hosts();
        let server = other.run(|| TcpListener::bind((other.address(), 0))).unwrap().unwrap();
        let to = server.local_addr().unwrap();
        let victim = host.run(|| TcpListener::bind((host.address(), 7_432))).unwrap().unwrap();
        let address = victim.local_addr().unwrap();
        let attacker = Attacker::with_interface(run, host);
        let [mut taken, mut listening] = [0, 0];
        for _ in 0..scaled(200) {
            let socket = host.run(|| TcpStream::connect(to)).unwrap().unwrap();
            let _peer = server.accept().unwrap();
            attacker.send(Request::TakeOver, 0, &[], &[&socket]);
            let kernel = crate::tcp::kernel_socket::KernelSocket::new(socket.as_fd());
            let reference = SockRef::from(&socket);
            let is_bound = || reference.local_addr().is_ok_and(|it| it == address.into());
            let is_answered =
                || message::await_message(attacker.socket.as_fd(), Duration::ZERO).is_ok();
            while !kernel.is_repairing() && !is_answered() {}
            let _ = kernel.disconnect();
            taken += u32::from(reference.bind(&address.into()).is_ok());
            let _ = reference.listen(8);
            message::receive(attacker.socket.as_fd(), 0).unwrap().unwrap();
            // Now repair mode is over.
            listening += u32::from(reference.listen(8).is_ok() && is_bound());
            let mut client = other.run(|| TcpStream::connect(address)).unwrap().unwrap();
            client.write_all(&[OWN]).unwrap();
            victim.set_nonblocking(true).unwrap();
            let until = Instant::now() + PATIENT;
            let accepted = loop {
                match victim.accept() {
                    Ok((accepted, _)) => break accepted,
                    Err(error) => assert!(Instant::now() < until, "{error}"),
                }
            };
            accepted.set_nonblocking(false).unwrap();
            (&accepted).read_exact(&mut [0]).unwrap();
            assert_eq!(attacker.ask(Request::Release, 0, &[], &[]), 0);
        }
        println!("bound {taken} times, listening {listening} times");
        assert_eq!(listening, 0);
    });
}

/// The process that has lost the library still has the connection's descriptor.
#[test]
#[ignore = "needs root"]
fn connection_of_a_living_process_continues() {
    let testbed = Testbed::builder().build().unwrap();
    let [host, other] = testbed.hosts();
    let listener = other.run(|| TcpListener::bind((other.address(), 7_902))).unwrap().unwrap();
    let to = listener.local_addr().unwrap();
    let mut socket = host.run(|| TcpStream::connect(to)).unwrap().unwrap();
    let mut peer = listener.accept().unwrap().0;
    let mut orphan = Orphan::new(socket.try_clone().unwrap().into()).unwrap();
    let Taken { send_next: sent, receive_next: received, .. } = orphan.take(0).unwrap();
    let state = StateReader::create(CONNECTIONS as u32, RING).unwrap();
    let file = StateFile::open(state.file(), CONNECTIONS as u32, RING).unwrap();
    let slot = file.take().unwrap().unwrap();
    let edge = sent.wrapping_add(60_000);
    let receive_edge = received.wrapping_add(60_000);
    let words = [1, sent, sent, sent, edge, 60_000, received, received, receive_edge, 0, 1_460];
    for (word, value) in slot.words().iter().zip(words) {
        word.store(value, Ordering::Release);
    }
    let injector = host.run(Injector::open).unwrap().unwrap();
    let [registration, _run] = message::pair().unwrap();
    let mut server = new_server(registration, injector, Vec::new(), user());
    server.finish(dead_client(state, slot.index(), orphan), true);
    drop(server);
    for _ in 0..10 {
        socket.write_all(&MESSAGE).unwrap();
        let mut bytes = [0; MESSAGE.len()];
        peer.read_exact(&mut bytes).unwrap();
        peer.write_all(&bytes).unwrap();
        socket.read_exact(&mut bytes).unwrap();
    }
}
