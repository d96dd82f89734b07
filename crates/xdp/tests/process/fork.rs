//! A forked child that lives on keeps no flow of its parent redirected, and can open its own
//! interface.
//!
//! The parent is a copy of this program, and the child is forked from it.

use std::fs::File;
use std::io::{BufRead, BufReader, PipeWriter, Read, Write};
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, FromRawFd};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hairpin_testbed::{Host, Testbed};
use hairpin_xdp::{Backing, Interface, InterfaceSettings, UmemSettings};

use crate::support::{PORT, entry, is_refused, print_line};

/// The environment variable of the copy: how it releases the interface.
const PARENT: &str = "HAIRPIN_XDP_FORKED";
const TEST: &str = "fork::child_keeps_no_flow_alive_and_can_open_its_own";
const TIMEOUT: Duration = Duration::from_secs(300);

fn open() -> Interface {
    // A file-backed UMEM, which other processes can map through its descriptor.
    let umem = UmemSettings { backing: Backing::Shared, ..UmemSettings::default() };
    let settings = InterfaceSettings { umem, ..InterfaceSettings::default() };
    let interface = Interface::open("veth0", &settings).unwrap();
    interface.redirect(&entry()).unwrap();
    interface
}

fn wait_for_byte() -> bool {
    // SAFETY: standard input, which is not closed afterwards.
    let mut from = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(0) });
    from.read(&mut [0]).unwrap() == 1
}

/// Returns what this process holds that keeps a program or a socket alive: descriptors and ring
/// mappings.
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
    print_line(&format!("child {:?}", holdings()));
    drop(ready);
    assert!(wait_for_byte());
    // Occupies the free descriptor numbers; dropping the inherited interface must close none of
    // them.
    let files: Vec<_> = (0..64).map(|_| File::open("/proc/self/stat").unwrap()).collect();
    drop(inherited);
    for file in files {
        // SAFETY: the call only queries a descriptor number.
        assert!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFD) } >= 0);
    }
    let mut own = open();
    print_line("own");
    while !own.parts().2[0].wait(Some(TIMEOUT)).unwrap() {}
    let (_, packet) = own.receive().unwrap().unwrap();
    print_line(if own.bytes(&packet).ends_with(b"child") { "received" } else { "unexpected" });
    own.release(packet.into_frame());
    assert!(wait_for_byte());
}

fn parent(end: &str) {
    let interface = open();
    assert!(holdings().len() > 6, "{:?}", holdings());
    let (mut is_ready, ready) = std::io::pipe().unwrap();
    // SAFETY: the child waits for no lock that another thread held.
    if unsafe { libc::fork() } == 0 {
        let result = std::panic::catch_unwind(|| child(interface, ready));
        // SAFETY: ends the child, so that nothing of the test harness runs in it.
        unsafe { libc::_exit(i32::from(result.is_err())) };
    }
    drop(ready);
    assert_eq!(is_ready.read(&mut [0]).unwrap(), 0);
    if end == "closes" {
        drop(interface);
        print_line("closed");
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

#[test]
#[ignore = "needs root"]
fn child_keeps_no_flow_alive_and_can_open_its_own() {
    if let Ok(end) = std::env::var(PARENT) {
        parent(&end);
    }
    for end in ["closes", "is killed"] {
        let testbed = Testbed::namespaces().unwrap();
        let [ours, theirs] = testbed.hosts();
        let peer = theirs.run(|| UdpSocket::bind((theirs.address(), 0))).unwrap().unwrap();
        peer.connect((ours.address(), PORT)).unwrap();
        peer.set_read_timeout(Some(TIMEOUT)).unwrap();
        let mut parent = start(ours, end);
        let mut to = parent.stdin.take().unwrap();
        let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut next_line = |prefix: &str| lines.find(|line| line.starts_with(prefix));
        assert_eq!(
            next_line("child").as_deref(),
            Some("child []"),
            "{end}: the child holds objects"
        );
        if end == "closes" {
            assert!(next_line("closed").is_some());
        } else {
            parent.kill().unwrap();
            parent.wait().unwrap();
        }
        assert!(is_refused(&peer), "{end}: the port is not unreachable");
        // Neither a program nor a socket blocks another owner.
        drop(ours.run(open).unwrap());
        to.write_all(b"1").unwrap();
        assert!(next_line("own").is_some(), "{end}: the child cannot open its own");
        peer.send(b"child").unwrap();
        assert!(next_line("received").is_some(), "{end}");
        to.write_all(b"1").unwrap();
        let _ = parent.kill();
        parent.wait().unwrap();
        assert_eq!(next_line("anything"), None, "{end}: the child did not exit");
    }
}
