//! Owners that are killed at any moment leave nothing in the kernel. As root.
//!
//! An owner is a copy of this program. What the kernel holds is listed by bpf(2).
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hairpin_testbed::{Bed, Host};
use hairpin_xdp::{Entry, Interface, InterfaceSettings, Mode, Protocol};

/// Set in the environment of an owner: the mode.
const OWNER: &str = "HAIRPIN_XDP_DEATH";
const PORT: u16 = 5_000;
const MS: Duration = Duration::from_millis(1);

/// Of `enum bpf_cmd`: what asks for the next number, and for a descriptor by a number.
const PROGRAMS: (i64, i64) = (11, 13);
const MAPS: (i64, i64) = (12, 14);
const INFORMATION: i64 = 15;

fn bpf(command: i64, words: &mut [u64; 3]) -> Option<i64> {
    let length = size_of_val(words);
    // SAFETY: all of the structures used here are shorter, and what they point to outlives it.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, words.as_mut_ptr(), length) };
    (result >= 0).then_some(result)
}

/// The name of the program or map behind a descriptor: where it stands in its description.
fn name(object: &OwnedFd, at: usize) -> String {
    let mut description = [0_u8; 256];
    let length = (description.len() as u64) << 32;
    let address = description.as_mut_ptr() as u64;
    bpf(INFORMATION, &mut [object.as_raw_fd() as u64 | length, address, 0]).unwrap();
    let bytes = description[at..at + 16].iter().take_while(|&&byte| byte != 0);
    bytes.map(|&byte| char::from(byte)).collect()
}

/// All programs, or all maps, of this library in the kernel, by number.
fn objects((next, by_number): (i64, i64), name_at: usize) -> BTreeSet<u32> {
    let (mut found, mut number) = (BTreeSet::new(), 0);
    loop {
        let mut words = [u64::from(number), 0, 0];
        if bpf(next, &mut words).is_none() {
            return found;
        }
        number = (words[0] >> 32) as u32;
        // It may have gone in the meantime.
        let Some(fd) = bpf(by_number, &mut [u64::from(number), 0, 0]) else { continue };
        // SAFETY: the descriptor is new and nobody else's.
        let object = unsafe { OwnedFd::from_raw_fd(fd as i32) };
        if name(&object, name_at).starts_with("hairpin_") {
            found.insert(number);
        }
    }
}

fn programs_and_maps() -> [BTreeSet<u32>; 2] {
    [objects(PROGRAMS, 64), objects(MAPS, 24)]
}

/// Polls, within bounds, until `is_so`.
fn eventually(mut is_so: impl FnMut() -> bool) -> bool {
    (0..5_000).any(|_| {
        is_so() || {
            std::thread::sleep(MS * 2);
            false
        }
    })
}

fn entry(host: SocketAddr) -> Entry {
    Entry::Local { protocol: Protocol::Udp, vlan: None, local: host }
}

/// What the copy does: takes the interface, says so, and sends and receives until it is killed.
fn own(mode: &str) -> ! {
    let mode = if mode == "native" { Mode::Native } else { Mode::Generic };
    let settings = InterfaceSettings { mode, ..InterfaceSettings::default() };
    let mut interface = Interface::open("veth0", &settings).unwrap();
    interface.enter(&entry(SocketAddr::from(([10, 77, 0, 1], PORT)))).unwrap();
    println!("\nopen");
    loop {
        while let Some((queue, mut packet)) = interface.receive().unwrap() {
            interface.bytes_mut(&mut packet)[..12].rotate_left(6);
            if let Err(packet) = interface.transmit(queue, packet) {
                interface.give(packet.into_frame());
            }
        }
        interface.flush().unwrap();
    }
}

fn start(host: &Host, mode: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--include-ignored", "--nocapture"]).env(OWNER, mode).stdout(Stdio::piped());
    host.spawn(command, &[]).unwrap()
}

fn wait_until_open(child: &mut Child) {
    let out = BufReader::new(child.stdout.take().unwrap());
    let mut lines = out.lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "open"), "the owner gave up");
}

/// Whether the kernel says that nobody has the port.
fn is_refused(peer: &UdpSocket) -> bool {
    let _ = peer.send(b"anybody?");
    peer.recv(&mut [0; 16])
        .is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
}

#[test]
#[ignore = "needs root"]
fn nothing_is_left_of_one_who_is_killed() {
    if let Ok(mode) = std::env::var(OWNER) {
        own(&mode);
    }
    let bed = Bed::namespaces().unwrap();
    let [ours, theirs] = bed.hosts();
    let peer = theirs.run(|| UdpSocket::bind((theirs.address(), 0))).unwrap().unwrap();
    peer.connect((ours.address(), PORT)).unwrap();
    peer.set_read_timeout(Some(MS * 200)).unwrap();
    let before = programs_and_maps();
    let mut most = [0, 0];
    for moment in 0..24 {
        let mode = if moment % 2 == 0 { "native" } else { "generic" };
        let mut child = start(ours, mode);
        if moment < 12 {
            std::thread::sleep(MS * moment * 2);
        } else {
            wait_until_open(&mut child);
            for _ in 12..moment {
                let _ = peer.send(b"work");
            }
        }
        let held = programs_and_maps();
        for (most, (held, before)) in most.iter_mut().zip(held.iter().zip(&before)) {
            *most = (*most).max(held.difference(before).count());
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let is_gone = || {
            let now = programs_and_maps();
            now.iter().zip(&before).all(|(now, before)| now.is_subset(before))
        };
        assert!(eventually(is_gone), "{mode}, moment {moment}: {:?}", programs_and_maps());
        assert!(eventually(|| is_refused(&peer)), "{mode}, moment {moment}: a dead port");
    }
    assert_eq!(most, [1, 4], "programs and maps of a living owner");
}
