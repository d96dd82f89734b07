//! Records that no engine has written.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hairpin_mapped::{StateFile, StateSlot};
use hairpin_testbed::{Testbed, scaled};

use super::*;
use crate::tcp::keeper::record::{Phase, Record};
use crate::tcp::takeover::RING_MAX;

/// The byte that the ring of the dead program contains.
const OWN: u8 = 0xA5;

/// A generator of numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }
}

/// Writes a record that is valid, except for some words.
fn write_garbage(slot: &mut StateSlot, rng: &mut Random) {
    slot.fill(OWN);
    let base = rng.next() as u32;
    let [next, end, edge] = [9, 99, 9_999].map(|length| base.wrapping_add(length));
    let valid = [2, base, next, end, edge, 65_535, 5, 7, 64_000, 0, 1_460, 1, 0, 0, 0, 0];
    let keeps = rng.next() % 4;
    for (word, value) in slot.words().iter().zip(valid) {
        let random = rng.next();
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
    let mut server = Server::new(registration, injector);
    let (mut bystander, mut bystander_peer) = connect();
    let mut rng = Random(4);
    let [mut rejected, mut accepted] = [0, 0];
    for _ in 0..scaled(60) {
        let (socket, mut peer) = connect();
        let state = StateReader::create(CONNECTIONS as u32, RING).unwrap();
        let file = StateFile::open(state.file(), CONNECTIONS as u32, RING).unwrap();
        let mut slot = file.take().unwrap().unwrap();
        write_garbage(&mut slot, &mut rng);
        let record = Record::parse(&state.words(slot.index()).unwrap(), RING, RING_MAX);
        let orphan = Orphan::new(OwnedFd::from(socket)).unwrap();
        let [end, _program] = message::pair().unwrap();
        let orphans = HashMap::from([(slot.index(), orphan)]);
        server.finish(Client { socket: end, process: None, state, orphans, interface: Vec::new() });
        match record.map(|record| record.phase) {
            // Numbers that are wrong and possible are the program's own loss.
            Ok(Phase::Bypassing) => {
                accepted += 1;
                ends(&mut peer, Duration::from_millis(20));
            }
            _ => {
                rejected += 1;
                assert!(ends(&mut peer, Duration::from_secs(5)), "silence: {record:?}");
            }
        }
        bystander.write_all(&[OWN]).unwrap();
        bystander_peer.read_exact(&mut [0]).unwrap();
    }
    drop((run, server));
    println!("{accepted} records accepted, {rejected} rejected");
    assert!(accepted > 0 && rejected > 0);
}

#[test]
#[ignore = "needs root"]
fn anything_but_an_established_connection_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let file = std::fs::File::open("/dev/null").unwrap();
    let [a, _b] = message::pair().unwrap();
    for descriptor in [OwnedFd::from(listener), udp.into(), file.into(), a] {
        assert!(Orphan::new(descriptor).is_none());
    }
}
