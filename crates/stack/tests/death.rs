//! A process that is killed at any moment leaves nothing behind. As root.
//!
//! The process is a copy of this program.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

mod hosts;

use std::io::{BufRead, BufReader, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::process::{Child, Command, Stdio};

use hairpin_stack::{Mode, SocketOptions, Stack};
use hairpin_testbed::Host;

use hosts::{MS, Random, bed, eventually, kernel, settings};

/// Set in the environment of the process: its mode, and "fork" if it is to have a child.
const OWNER: &str = "HAIRPIN_STACK_DEATH";
const PORT: u16 = 5_000;

/// A child that lives until its parent is gone and a little longer, and does nothing.
fn fork() {
    // SAFETY: the child calls what may be called after a fork, and nothing else.
    unsafe {
        if libc::fork() == 0 {
            libc::prctl(libc::PR_SET_PDEATHSIG, 0);
            // What it has of its parent's outputs would have a reader wait for it.
            libc::close(libc::STDOUT_FILENO);
            libc::sleep(3);
            libc::_exit(0);
        }
    }
}

/// Opens a stack and uses all of it until it is killed.
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
        let mut came = Vec::new();
        socket.receive(32, |meta, _| came.push(meta.source)).unwrap();
        for source in came {
            let _ = socket.send_to(b"back", source);
        }
        while let Some(packet) = raw.receive().unwrap() {
            raw.give(packet);
        }
        socket.leave(group).unwrap();
    }
}

fn start(host: &Host, how: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--include-ignored", "--nocapture"]).env(OWNER, how).stdout(Stdio::piped());
    host.spawn(command, &[]).unwrap()
}

/// Whether the kernel says that nobody has the port.
fn is_refused(peer: &UdpSocket) -> bool {
    let _ = peer.send(b"anybody?");
    peer.recv(&mut [0; 16]).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

#[test]
#[ignore = "needs root"]
fn nothing_is_left_of_one_who_is_killed_though_its_child_lives() {
    if let Ok(how) = std::env::var(OWNER) {
        own(&how);
    }
    let bed = bed(1);
    let [ours, theirs] = bed.hosts();
    let peer = kernel(theirs, (theirs.address(), 0));
    peer.connect((ours.address(), PORT)).unwrap();
    peer.set_read_timeout(Some(MS * 50)).unwrap();
    let (mut random, mut answered) = (Random(30), 0);
    for moment in 0..30 {
        let how = ["generic", "native fork", "generic fork", "native"][moment % 4];
        let mut child = start(ours, how);
        if moment < 10 {
            std::thread::sleep(MS * random.below(40) as u32);
        } else {
            let out = BufReader::new(child.stdout.take().unwrap());
            let mut lines = out.lines().map_while(Result::ok);
            assert!(lines.any(|line| line == "open"), "{how}: the process gave up");
            let is_answered = |_| peer.send(b"work").is_ok() && peer.recv(&mut [0; 16]).is_ok();
            answered += u32::from((0..100).any(is_answered));
            std::thread::sleep(MS * random.below(10) as u32);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(eventually(|| is_refused(&peer)), "{how}, moment {moment}: a dead port");
        // The interface can be had again at once.
        let stack = hosts::stack(ours, Mode::Native);
        assert!(is_refused(&peer), "{how}, moment {moment}");
        drop(stack);
    }
    assert_eq!(answered, 20);
}
