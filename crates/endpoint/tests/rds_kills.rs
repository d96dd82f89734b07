//! A process with a reliable datagram socket is killed with SIGKILL at random moments, again and
//! again. The other side is informed each time, a new process is reached at once, and no message is
//! answered twice.
//!
//! The number of kills per carrier is 10, scaled by `HAIRPIN_TEST_SCALE`.
//!
//! The program starts processes of itself, so it contains no other test.
#![expect(clippy::unwrap_used, reason = "all of this program is tests")]

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::process::{Child, Command};
use std::time::{Duration, Instant as StdInstant};

use hairpin_endpoint::rds::{Event, ProtocolError, RdsError, RdsOptions, RdsSocket, RdsTransport};
use hairpin_endpoint::xdp::{InterfaceSettings, Stack, StackSettings};
use hairpin_host::Clock;
use hairpin_testbed::{Host, Testbed, scaled};
use hairpin_time::Instant;

const KILLS: u64 = 10;
const PORT: u16 = 4_100;
/// The place of the process that is killed: carrier, address and interface.
const ECHO: &str = "HAIRPIN_RDS_ECHO";
const TIMEOUT: Duration = Duration::from_secs(300);

fn now() -> Instant {
    Clock::from_kernel().instant()
}

fn transport(carrier: &str, interface: &str) -> RdsTransport {
    match carrier {
        "kernel" => RdsTransport::Kernel,
        "xdp" => RdsTransport::Xdp(Stack::open(interface, &StackSettings::default()).unwrap()),
        _ => RdsTransport::Ethernet {
            interface: interface.to_owned(),
            settings: InterfaceSettings::default(),
        },
    }
}

fn bound(carrier: &str, address: IpAddr, interface: &str) -> RdsSocket {
    let mut options = RdsOptions::default();
    options.protocol.unreachable_after = Some(hairpin_time::Duration::from_millis(300));
    let mut socket = RdsSocket::new(now(), options);
    let local = SocketAddr::new(address, PORT);
    socket.bind(now(), &transport(carrier, interface), local).unwrap();
    socket
}

/// The process that is killed: it answers each message with its own bytes.
#[test]
fn answers_until_killed() {
    let Ok(place) = std::env::var(ECHO) else { return };
    let [carrier, address, interface] = place.split(',').collect::<Vec<_>>()[..] else { panic!() };
    let mut socket = bound(carrier, address.parse().unwrap(), interface);
    loop {
        let mut answers = Vec::new();
        socket
            .receive(now(), 16, |message| answers.push((message.source, message.bytes.to_vec())))
            .unwrap();
        for (source, bytes) in answers {
            // A congested or closed peer gets no answer.
            let _ = socket.send(now(), source, bytes.len(), |to| to.copy_from_slice(&bytes));
        }
        while socket.poll_event().is_some() {}
        socket.handle_timeout(now()).unwrap();
        std::thread::yield_now();
    }
}

/// A process that ends with its owner.
struct EchoProcess(Child);

impl EchoProcess {
    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for EchoProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Killer {
    socket: RdsSocket,
    peer: SocketAddr,
    next: u64,
    answered: HashSet<u64>,
    events: Vec<Event>,
}

impl Killer {
    fn send(&mut self) -> Option<u64> {
        let number = self.next;
        let fill = |bytes: &mut [u8]| bytes.copy_from_slice(&number.to_le_bytes());
        match self.socket.send(now(), self.peer, 8, fill) {
            Ok(_) => {
                self.next += 1;
                Some(number)
            }
            Err(RdsError::Protocol(ProtocolError::WouldBlock | ProtocolError::Congested)) => None,
            Err(error) => panic!("{error}"),
        }
    }

    fn turn(&mut self) {
        let answered = &mut self.answered;
        self.socket
            .receive(now(), 16, |message| {
                let number = u64::from_le_bytes(message.bytes.try_into().unwrap());
                assert!(answered.insert(number), "message {number} was answered twice");
            })
            .unwrap();
        self.events.extend(std::iter::from_fn(|| self.socket.poll_event()));
        self.socket.handle_timeout(now()).unwrap();
    }

    fn run_until(&mut self, what: &str, is_done: impl Fn(&Self) -> bool) {
        let start = StdInstant::now();
        while !is_done(self) {
            self.turn();
            std::thread::yield_now();
            let counters = self.socket.counters();
            assert!(start.elapsed() < TIMEOUT, "no {what} after {TIMEOUT:?}: {counters:?}");
        }
    }
}

fn echo(carrier: &str, address: IpAddr, interface: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "answers_until_killed", "--nocapture"]);
    command.env(ECHO, format!("{carrier},{address},{interface}"));
    command.stdout(std::process::Stdio::null());
    command
}

/// Kills the process that `spawn` starts, again and again.
fn kill_again_and_again(socket: RdsSocket, peer: IpAddr, mut spawn: impl FnMut() -> EchoProcess) {
    let peer = SocketAddr::new(peer, PORT);
    let (answered, events) = (HashSet::new(), Vec::new());
    let mut killer = Killer { socket, peer, next: 0, answered, events };
    let kills = scaled(KILLS);
    for kill in 0..kills {
        let mut child = spawn();
        // Messages sent before the new socket exists are lost to the report; the first one after
        // that is answered.
        let start = StdInstant::now();
        let mut first = None;
        while first.is_none_or(|first| !killer.answered.contains(&first)) {
            // These events end messages in flight.
            let is_given_up = killer
                .events
                .iter()
                .any(|event| matches!(event, Event::Undeliverable(_) | Event::PeerRestarted(_)));
            if first.is_none() || is_given_up {
                killer.events.clear();
                first = killer.send().or(first);
            }
            killer.turn();
            std::thread::sleep(Duration::from_micros(200));
            let counters = killer.socket.counters();
            assert!(start.elapsed() < TIMEOUT, "no answer after {TIMEOUT:?}: {counters:?}");
        }
        // A burst, in the middle of which the process is killed.
        let crash_point = Duration::from_micros(kill * 7_919 % 3_000);
        let burst_start = StdInstant::now();
        while burst_start.elapsed() < crash_point {
            killer.send();
            killer.turn();
        }
        child.kill();
        killer.events.clear();
        while killer.send().is_none() {
            killer.turn();
        }
        killer.run_until("report of the closed peer", |killer| {
            killer
                .events
                .iter()
                .any(|event| matches!(event, Event::Undeliverable(_) | Event::Unreachable(_)))
        });
        killer.events.clear();
    }
    let counters = killer.socket.counters();
    println!("{} messages, {} answered; {counters:?}", killer.next, killer.answered.len());
    assert_eq!(counters.peers_restarted, kills - 1, "each new process is a restart");
    // Nothing of the killed processes is left: their address can be bound again.
    let mut last = spawn();
    std::thread::sleep(Duration::from_millis(200));
    assert!(last.0.try_wait().unwrap().is_none(), "the last process runs");
}

#[test]
fn kernel_udp_peer_survives_kills_on_loopback() {
    if std::env::var_os(ECHO).is_some() {
        return;
    }
    let (own, peer) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
    let spawn = || EchoProcess(echo("kernel", peer, "lo").spawn().unwrap());
    kill_again_and_again(bound("kernel", own, "lo"), peer, spawn);
}

fn between_hosts(carrier: &str) {
    if std::env::var_os(ECHO).is_some() {
        return;
    }
    let testbed = Testbed::builder().build().unwrap();
    let [own, peer] = testbed.hosts();
    let address = |host: &Host| IpAddr::V4(host.address());
    own.run(|| {
        let socket = bound(carrier, address(own), own.interface());
        let spawn = || {
            let command = echo(carrier, address(peer), peer.interface());
            EchoProcess(peer.spawn(command, &[]).unwrap())
        };
        kill_again_and_again(socket, address(peer), spawn);
    })
    .unwrap();
}

#[test]
#[ignore = "needs root"]
fn xdp_udp_peer_survives_kills() {
    between_hosts("xdp");
}

#[test]
#[ignore = "needs root"]
fn ethernet_peer_survives_kills() {
    between_hosts("ethernet");
}
