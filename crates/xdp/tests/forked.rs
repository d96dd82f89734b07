//! A forked child that lives on keeps no flow of its parent alive, and can have its own. As root.
//!
//! The parent is a copy of this program, and so is the child.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::fs::File;
use std::io::{BufRead, BufReader, PipeWriter, Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hairpin_testbed::{Host, Testbed};
use hairpin_xdp::{Backing, Entry, Interface, InterfaceSettings, Protocol, UmemSettings};

/// Set in the environment of the copy: how the parent ends with the interface.
const PARENT: &str = "HAIRPIN_XDP_FORKED";
const TEST: &str = "a_child_keeps_no_flow_alive_and_can_have_its_own";
const PORT: u16 = 5_000;
const PATIENCE: Duration = Duration::from_secs(10);

fn entry() -> Entry {
    let local = SocketAddr::from(([10, 77, 0, 1], PORT));
    Entry::Local { protocol: Protocol::Udp, vlan: None, local }
}

fn open() -> Interface {
    // In a file: memory that other processes may have, by its descriptor.
    let umem = UmemSettings { backing: Backing::Shared, ..UmemSettings::default() };
    let settings = InterfaceSettings { umem, ..InterfaceSettings::default() };
    let interface = Interface::open("veth0", &settings).unwrap();
    interface.enter(&entry()).unwrap();
    interface
}

/// Says a word past whatever locks another thread had at the time of the fork.
fn say(word: &str) {
    // SAFETY: standard output, which is not closed at the end.
    let mut out = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(1) });
    out.write_all(format!("\n{word}\n").as_bytes()).unwrap();
}

fn hear() -> bool {
    // SAFETY: as above, standard input.
    let mut from = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(0) });
    from.read(&mut [0]).unwrap() == 1
}

/// What this process has that keeps a program or a socket: descriptors, and mappings of rings.
fn holdings() -> Vec<String> {
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| {
        let target = std::fs::read_link(entry.unwrap().path()).ok()?;
        Some(target.to_string_lossy().into_owned())
    });
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let is_held = |name: &String| name.contains("bpf") || name.contains("socket:");
    let mappings = maps.lines().map(str::to_owned);
    descriptors.chain(mappings).filter(is_held).collect()
}

fn child(inherited: Interface, ready: PipeWriter) {
    say(&format!("child {:?}", holdings()));
    drop(ready);
    assert!(hear());
    // Numbers and addresses that are free are taken; none of them goes with what is inherited.
    let files: Vec<_> = (0..64).map(|_| File::open("/proc/self/stat").unwrap()).collect();
    drop(inherited);
    for file in files {
        // SAFETY: asks about a number.
        assert!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFD) } >= 0);
    }
    let mut own = open();
    say("own");
    while !own.parts().2[0].wait(Some(PATIENCE)).unwrap() {}
    let (_, packet) = own.receive().unwrap().unwrap();
    say(if own.bytes(&packet).ends_with(b"child") { "received" } else { "what?" });
    own.give(packet.into_frame());
    assert!(hear());
}

fn parent(end: &str) {
    let interface = open();
    assert!(holdings().len() > 6, "{:?}", holdings());
    let (mut is_ready, ready) = std::io::pipe().unwrap();
    // SAFETY: the child waits for nothing that another thread had.
    if unsafe { libc::fork() } == 0 {
        let result = std::panic::catch_unwind(|| child(interface, ready));
        // SAFETY: ends the child, and nothing of the test's harness runs in it.
        unsafe { libc::_exit(i32::from(result.is_err())) };
    }
    drop(ready);
    assert_eq!(is_ready.read(&mut [0]).unwrap(), 0);
    if end == "closes" {
        drop(interface);
        say("closed");
    }
    loop {
        std::thread::park();
    }
}

fn start(host: &Host, end: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--include-ignored", "--nocapture", "--exact", TEST]).env(PARENT, end);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    host.spawn(command, &[]).unwrap()
}

/// Whether the kernel says that nobody has the port.
fn is_refused(peer: &UdpSocket) -> bool {
    peer.send(b"anybody?").unwrap();
    peer.recv(&mut [0; 16])
        .is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
}

#[test]
#[ignore = "needs root"]
fn a_child_keeps_no_flow_alive_and_can_have_its_own() {
    if let Ok(end) = std::env::var(PARENT) {
        parent(&end);
    }
    for end in ["closes", "is killed"] {
        let bed = Testbed::namespaces().unwrap();
        let [ours, theirs] = bed.hosts();
        let peer = theirs.run(|| UdpSocket::bind((theirs.address(), 0))).unwrap().unwrap();
        peer.connect((ours.address(), PORT)).unwrap();
        peer.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut parent = start(ours, end);
        let mut to = parent.stdin.take().unwrap();
        let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut words = |word: &str| lines.find(|line| line.starts_with(word));
        assert_eq!(words("child").as_deref(), Some("child []"), "{end}: what the child holds");
        if end == "closes" {
            assert!(words("closed").is_some());
        } else {
            parent.kill().unwrap();
            parent.wait().unwrap();
        }
        assert!(is_refused(&peer), "{end}: a dead port");
        // Neither a program nor a socket is in the way of another.
        drop(ours.run(open).unwrap());
        to.write_all(b"1").unwrap();
        assert!(words("own").is_some(), "{end}: the child has none of its own");
        peer.send(b"child").unwrap();
        assert!(words("received").is_some(), "{end}");
        to.write_all(b"1").unwrap();
        let _ = parent.kill();
        parent.wait().unwrap();
        assert_eq!(words("anything"), None, "{end}: the child ends");
    }
}
