//! A `netstack` engine in an arena that two processes map at different addresses. The processes
//! alternate by sending each other lines, which replaces a lock.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use hairpin_mapped::Arena;
use hairpin_netstack::{
    Address, Datagram, DeviceSettings, Engine, Listener, Route, Settings, SocketAddress, SocketId,
    SocketOptions, Verdict,
};
use hairpin_time::{Instant, Now, Utc};
use hairpin_wire::MacAddress;

const MAKER: &str = "HAIRPIN_ARENA_MAKER";
const MARK: &str = "arena:";
const NOW: Now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
const MAC: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const HOST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const PEER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

/// Returns the arena's bytes, in the process whose turn it is.
fn bytes(arena: &mut Arena) -> &mut [u8] {
    // SAFETY: the other process waits for a line, or has been killed.
    unsafe { arena.as_mut_bytes() }
}

fn length() -> usize {
    Settings::default().arena_size()
}

/// Returns the number of datagrams that the first socket has received and of frames that the first
/// device has sent.
fn counted(engine: &Engine<'_>) -> (u64, u64) {
    let (socket, device) = (engine.socket_ids().next(), engine.device_ids().next());
    let received = engine.socket_counters(socket.unwrap()).unwrap().received;
    (received, engine.device_counters(device.unwrap()).unwrap().sent)
}

/// The process that creates the arena and is killed at the end. It prints the arena's location, and
/// its counters on request.
#[test]
fn creates_arena_until_killed() {
    if std::env::var_os(MAKER).is_none() {
        return;
    }
    let mut arena = Arena::create(length()).unwrap();
    let (fd, address) = (arena.file().as_raw_fd(), bytes(&mut arena).as_ptr() as usize);
    let mut engine = Engine::create(bytes(&mut arena), &Settings::default()).unwrap();
    let settings = DeviceSettings { mac: MAC, mtu: 1_500, vlan: None };
    let device = engine.add_device(&settings).unwrap();
    engine.add_address(device, HOST.into(), None).unwrap();
    let socket = engine.open_socket(&SocketOptions::default()).unwrap();
    engine.bind(socket, SocketAddress::new(HOST, 7)).unwrap();
    println!("{MARK}{fd} {address}");
    for _ in std::io::stdin().lines() {
        let (received, sent) = counted(&Engine::open(bytes(&mut arena)).unwrap());
        println!("{MARK}{received} {sent}");
    }
}

struct CreatorProcess {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl CreatorProcess {
    fn start() -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "arena::creates_arena_until_killed", "--nocapture"])
            .env(MAKER, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, input, output }
    }

    /// Reads the next two numbers that the process prints.
    fn numbers(&mut self) -> (usize, usize) {
        let lines = Read::by_ref(&mut self.output).lines().map(Result::unwrap);
        let mut lines =
            lines.filter_map(|line| line.split_once(MARK).map(|(_, lines)| lines.to_owned()));
        let lines = lines.next().expect("the process prints a line before it ends");
        let (one, other) = lines.split_once(' ').unwrap();
        (one.parse().unwrap(), other.parse().unwrap())
    }
}

impl Drop for CreatorProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[derive(Default)]
struct Received(Vec<Vec<u8>>);

impl Listener for Received {
    fn on_datagram(&mut self, _: Now, _: SocketId, datagram: &Datagram<'_>) {
        self.0.push(datagram.payload.to_vec());
    }
}

/// Sends a datagram from the first socket, and handles its frame as if another host had sent it to
/// that socket.
fn send_and_handle(engine: &mut Engine<'_>, payload: &[u8]) {
    let (socket, device) = (engine.socket_ids().next(), engine.device_ids().next());
    let (socket, device) = (socket.unwrap(), device.unwrap());
    let (source, destination) = (Address::from(HOST), SocketAddress::new(PEER, 7));
    let route = Route { device, source, destination, next_hop: MAC, is_broadcast: false };
    let header = engine.prepare(socket, &route).unwrap();
    let mut frame = [0; 256];
    let write = |bytes: &mut [u8]| bytes.copy_from_slice(payload);
    let length = engine.send(&header, payload.len(), &mut frame, write).unwrap();
    // Exchanges the addresses, which keeps the checksums.
    let (source, destination) = frame[26..34].split_at_mut(4);
    source.swap_with_slice(destination);
    let mut received = Received::default();
    let verdict = engine.handle_frame(NOW, device, &frame[..length], &mut received);
    assert_eq!((verdict, received.0), (Verdict::Delivered(1), vec![payload.to_vec()]));
}

#[test]
fn engine_continues_at_another_address_after_creator_died() {
    let mut creator = CreatorProcess::start();
    let (fd, address) = creator.numbers();
    let path = format!("/proc/{}/fd/{fd}", creator.process.id());
    let open = || {
        let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        Arena::open(file, length()).unwrap()
    };
    // Of two simultaneous mappings, at least one is at another address than in the creating
    // process.
    let mut both = [open(), open()];
    let mut addresses = both.each_mut().map(|arena| bytes(arena).as_ptr() as usize);
    if addresses[0] == address {
        both.swap(0, 1);
        addresses.swap(0, 1);
    }
    assert_ne!(addresses[0], address);
    let [mut arena, _between] = both;
    let mut engine = Engine::open(bytes(&mut arena)).unwrap();
    for number in 0..5 {
        send_and_handle(&mut engine, &[number; 40]);
    }
    creator.input.write_all(b"look\n").unwrap();
    assert_eq!(creator.numbers(), (5, 5), "the creating process sees the counters");
    drop(creator);
    let mut engine = Engine::open(bytes(&mut arena)).unwrap();
    assert_eq!(counted(&engine), (5, 5));
    send_and_handle(&mut engine, b"reopened");
    assert_eq!(counted(&engine), (6, 6));
    let another = engine.open_socket(&SocketOptions::default()).unwrap();
    engine.bind(another, SocketAddress::new(HOST, 8)).unwrap();
    assert_eq!(engine.socket_ids().count(), 2);
}
