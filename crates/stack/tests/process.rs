//! A killed process leaves nothing in the kernel, even if its forked child lives on. As root.
//!
//! The process is a copy of this program.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

#[path = "it/support.rs"]
mod support;

use std::io::{BufRead, BufReader, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::process::{Child, Command, Stdio};

use hairpin_stack::{Mode, SocketOptions, Stack};
use hairpin_testbed::Host;
use hairpin_testkit::Random;

use support::{MS, eventually, kernel, settings, testbed};

/// The environment variable of the copy: its mode, and "fork" if it forks a child.
const OWNER: &str = "HAIRPIN_STACK_DEATH";
const PORT: u16 = 5_000;

/// Forks a child that does nothing and outlives its parent by a few seconds.
fn fork() {
    // SAFETY: the child makes only async-signal-safe calls.
    unsafe {
        if libc::fork() == 0 {
            libc::prctl(libc::PR_SET_PDEATHSIG, 0);
            // The inherited output pipe would keep the test's reader waiting.
            libc::close(libc::STDOUT_FILENO);
            libc::sleep(3);
            libc::_exit(0);
        }
    }
}

/// Opens a stack and uses all of it until the process is killed.
fn own(how: &str) -> ! {
    let mode = if how.contains("native") { Mode::Native } else { Mode::Generic };
    let stack = Stack::open("veth0", &settings(mode)).unwrap();
    let any = (Ipv4Addr::UNSPECIFIED, PORT).into();
    let mut socket = stack.bind(any, &SocketOptions::default()).unwrap();
    let mut raw = stack.raw_frames(0x88b5).unwrap();
    if how.contains("fork") {
        fork();
    }
    println!("\nopen");
    let group = IpAddr::from([239, 1, 1, 1]);
    loop {
        socket.join(group, &[]).unwrap();
        let mut received = Vec::new();
        socket.receive(32, |meta, _| received.push(meta.source)).unwrap();
        for source in received {
            let _ = socket.send_to(b"back", source);
        }
        while let Some(packet) = raw.receive().unwrap() {
            raw.release(packet);
        }
        socket.leave(group).unwrap();
    }
}

fn start(host: &Host, how: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--include-ignored", "--nocapture"]).env(OWNER, how).stdout(Stdio::piped());
    host.spawn(command, &[]).unwrap()
}

/// Returns `true` if the kernel reports the port as unreachable.
fn is_refused(peer: &UdpSocket) -> bool {
    let _ = peer.send(b"probe");
    peer.recv(&mut [0; 16]).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

#[test]
#[ignore = "needs root"]
fn killed_process_leaves_nothing_though_its_child_lives() {
    if let Ok(how) = std::env::var(OWNER) {
        own(&how);
    }
    let testbed = testbed(1);
    let [ours, theirs] = testbed.hosts();
    let peer = kernel(theirs, (theirs.address(), 0));
    peer.connect((ours.address(), PORT)).unwrap();
    peer.set_read_timeout(Some(MS * 50)).unwrap();
    let (mut random, mut answered) = (Random::new(30), 0);
    for round in 0..30 {
        let how = ["generic", "native fork", "generic fork", "native"][round % 4];
        let mut child = start(ours, how);
        if round < 10 {
            std::thread::sleep(MS * random.below(40) as u32);
        } else {
            let out = BufReader::new(child.stdout.take().unwrap());
            let mut lines = out.lines().map_while(Result::ok);
            assert!(lines.any(|line| line == "open"), "{how}: the process exited");
            let is_answered = |_| peer.send(b"work").is_ok() && peer.recv(&mut [0; 16]).is_ok();
            answered += u32::from((0..1_200).any(is_answered));
            std::thread::sleep(MS * random.below(10) as u32);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            eventually(|| is_refused(&peer)),
            "{how}, round {round}: the port is not unreachable"
        );
        // The interface can be opened again at once.
        let stack = support::stack(ours, Mode::Native);
        assert!(is_refused(&peer), "{how}, round {round}");
        drop(stack);
    }
    assert_eq!(answered, 20);
}
