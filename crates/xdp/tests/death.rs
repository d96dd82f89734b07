//! Owners that are killed at any moment leave nothing in the kernel, though a child of theirs lives
//! on. As root.
//!
//! An owner is a copy of this program. What it holds is read from `/proc` while it is stopped, and
//! looked for in the kernel by bpf(2) when it is dead.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

mod death {
    pub(crate) mod objects;
    pub(crate) mod owner;
}

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use death::objects::{self, Kind, Objects};
use death::owner::{self, PHASES, PORT, Plan};
use hairpin_testbed::{Host, Testbed};
use hairpin_xdp::Mode;

const TEST: &str = "nothing_is_left_of_one_who_is_killed";
const MOMENTS: u64 = 100;
const MS: Duration = Duration::from_millis(1);

/// Polls, within bounds, until `is_so`.
fn eventually(mut is_so: impl FnMut() -> bool) -> bool {
    (0..10_000).any(|_| {
        is_so() || {
            std::thread::sleep(MS);
            false
        }
    })
}

/// splitmix64.
fn chance(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) % below
}

/// A running owner.
struct Owner {
    process: Child,
    /// Open as long as its child is to live.
    lives: ChildStdin,
    words: Receiver<String>,
}

impl Owner {
    fn start(host: &Host, plan: &Plan) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--include-ignored", "--nocapture", "--exact", TEST]);
        command.env(owner::PLAN, plan.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = host.spawn(command, &[]).unwrap();
        let (lives, out) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (tell, words) = channel();
        std::thread::spawn(move || {
            use std::io::BufRead;
            for word in std::io::BufReader::new(out).lines().map_while(Result::ok) {
                let _ = tell.send(word);
            }
        });
        Self { process, lives, words }
    }

    /// Waits for a word.
    fn hears(&self, word: &str) -> bool {
        std::iter::from_fn(|| self.words.recv_timeout(MS * 20_000).ok()).any(|said| said == word)
    }

    /// Stops it, looks what it holds, and kills it.
    fn kill(&mut self) -> Objects {
        let number = self.process.id();
        // SAFETY: a signal to a process of ours that nobody has waited for.
        assert_eq!(unsafe { libc::kill(number as i32, libc::SIGSTOP) }, 0);
        assert!(eventually(|| objects::is_stopped(number)));
        let held = Objects::of(number);
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        held
    }
}

/// Whether the kernel says that nobody has the port.
fn is_refused(peer: &UdpSocket) -> bool {
    let _ = peer.send(b"anybody?");
    peer.recv(&mut [0; 16])
        .is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
}

/// The namespace of a host, as `/proc` shows it.
fn namespace(host: &Host) -> String {
    let file = std::fs::File::from(host.namespace().unwrap().try_clone_to_owned().unwrap());
    format!("net:[{}]", file.metadata().unwrap().ino())
}

#[test]
#[ignore = "needs root"]
fn nothing_is_left_of_one_who_is_killed() {
    if let Ok(plan) = std::env::var(owner::PLAN) {
        owner::own(&Plan::from(plan.as_str()));
    }
    let seed = std::env::var("HAIRPIN_SEED").map_or(1, |seed| seed.parse().unwrap());
    println!("seed {seed}");
    let bed = Testbed::namespaces().unwrap();
    let [ours, theirs] = bed.hosts();
    let peer = theirs.run(|| UdpSocket::bind((theirs.address(), 0))).unwrap().unwrap();
    peer.connect((ours.address(), PORT)).unwrap();
    peer.set_read_timeout(Some(MS * 200)).unwrap();
    // It says so of every datagram, and not once a second.
    let unlimited = || std::fs::write("/proc/sys/net/ipv4/icmp_ratelimit", "0");
    ours.run(unlimited).unwrap().unwrap();
    let (mut most, mut census) = (BTreeMap::new(), BTreeMap::new());
    let mut next = seed;
    for moment in 0..MOMENTS {
        let phase = PHASES[chance(&mut next, PHASES.len() as u64) as usize];
        let mode = if chance(&mut next, 2) == 0 { Mode::Native } else { Mode::Generic };
        let forks_in = PHASES[chance(&mut next, PHASES.len() as u64) as usize];
        let forks = (moment % 2 == 0).then_some((forks_in, chance(&mut next, 2_000)));
        let plan = Plan { mode, forks };
        let what = format!("seed {seed}, moment {moment}, {phase}, {plan}");
        let mut owner = Owner::start(ours, &plan);
        assert!(plan.forks.is_none() || owner.hears("forked"), "{what}: no child");
        assert!(owner.hears(phase), "{what}: the owner gave up");
        for _ in 0..chance(&mut next, 4) {
            let _ = peer.send(b"work");
        }
        std::thread::sleep(Duration::from_micros(chance(&mut next, 3_000)));
        let held = owner.kill();
        let gone = eventually(|| held.left().is_empty());
        assert!(gone, "{what}: {:?} of {held:?} are left", held.left());
        assert!(eventually(|| is_refused(&peer)), "{what}: a dead port");
        assert_eq!(objects::link_on(ours), None, "{what}: a program on the interface");
        *census.entry(phase).or_insert(0) += 1;
        for (kind, count) in held.counts() {
            let most: &mut usize = most.entry(kind).or_default();
            *most = count.max(*most);
        }
        drop(owner.lives);
    }
    println!("{census:?}, at most {most:?}");
    assert!(PHASES.iter().all(|phase| census.contains_key(phase)), "{census:?}");
    assert_eq!(most, BTreeMap::from([(Kind::Program, 1), (Kind::Map, 5), (Kind::Link, 1)]));
    let namespaces = [ours, theirs].map(namespace);
    let is_used = || namespaces.iter().any(|name| objects::is_namespace_used(name));
    assert!(eventually(|| !is_used()), "somebody is still in {namespaces:?}");
}
