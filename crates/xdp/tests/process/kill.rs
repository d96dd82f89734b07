//! Interface owners killed at random moments leave nothing in the kernel, even if a forked child
//! lives on.
//!
//! An owner is a copy of this program. The test stops it, reads the BPF objects that it holds from
//! `/proc`, kills it, and then looks the objects up by bpf(2).

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use hairpin_testbed::{Host, Testbed, eventually, scaled};
use hairpin_testkit::Random;
use hairpin_xdp::Mode;

use crate::objects::{self, Kind, Objects};
use crate::owner::{self, PHASES, Plan};
use crate::support::{PORT, is_refused};

const TEST: &str = "kill::killed_owner_leaves_no_objects";
/// The number of kills that CI runs.
const KILLS: u64 = 100;
const MS: Duration = Duration::from_millis(1);

/// A running owner process.
struct Owner {
    process: Child,
    /// The pipe that keeps the owner's forked child alive while open.
    child_alive: ChildStdin,
    lines: Receiver<String>,
}

impl Owner {
    fn start(host: &Host, plan: &Plan) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--include-ignored", "--nocapture", "--exact", TEST]);
        command.env(owner::PLAN, plan.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = host.spawn(command, &[]).unwrap();
        let (child_alive, out) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            use std::io::BufRead;
            for line in std::io::BufReader::new(out).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { process, child_alive, lines }
    }

    /// Waits until the owner prints a line.
    fn prints(&self, expected: &str) -> bool {
        std::iter::from_fn(|| self.lines.recv_timeout(MS * 60_000).ok())
            .any(|line| line == expected)
    }

    /// Stops the owner, reads which objects it holds, and kills it.
    fn kill(&mut self) -> Objects {
        let number = self.process.id();
        // SAFETY: sends a signal to a child process that has not been waited for.
        assert_eq!(unsafe { libc::kill(number as i32, libc::SIGSTOP) }, 0);
        assert!(eventually(|| objects::is_stopped(number)));
        let held = Objects::of_process(number);
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        held
    }
}

/// Returns the host's network namespace as `/proc` names it.
fn namespace(host: &Host) -> String {
    let file = std::fs::File::from(host.namespace().unwrap().try_clone_to_owned().unwrap());
    format!("net:[{}]", file.metadata().unwrap().ino())
}

#[test]
#[ignore = "needs root"]
fn killed_owner_leaves_no_objects() {
    if let Ok(plan) = std::env::var(owner::PLAN) {
        owner::own(&Plan::from(plan.as_str()));
    }
    let seed = std::env::var("HAIRPIN_SEED").map_or(1, |seed| seed.parse().unwrap());
    println!("seed {seed}");
    let testbed = Testbed::namespaces().unwrap();
    let [ours, theirs] = testbed.hosts();
    let peer = theirs.run(|| UdpSocket::bind((theirs.address(), 0))).unwrap().unwrap();
    peer.connect((ours.address(), PORT)).unwrap();
    peer.set_read_timeout(Some(MS * 200)).unwrap();
    // Send an ICMP error for every datagram instead of one per second.
    let unlimited = || std::fs::write("/proc/sys/net/ipv4/icmp_ratelimit", "0");
    ours.run(unlimited).unwrap().unwrap();
    let (mut most, mut census) = (BTreeMap::new(), BTreeMap::new());
    let mut random = Random::new(seed);
    for round in 0..scaled(KILLS) {
        let phase = random.pick(&PHASES);
        let mode = if random.one_in(2) { Mode::Native } else { Mode::Generic };
        let forks_in = random.pick(&PHASES);
        let forks = (round % 2 == 0).then_some((forks_in, random.below(2_000)));
        let plan = Plan { mode, forks };
        let case = format!("seed {seed}, round {round}, {phase}, {plan}");
        let mut owner = Owner::start(ours, &plan);
        assert!(plan.forks.is_none() || owner.prints("forked"), "{case}: the owner has no child");
        assert!(owner.prints(phase), "{case}: the owner exited");
        for _ in 0..random.below(4) {
            let _ = peer.send(b"work");
        }
        std::thread::sleep(Duration::from_micros(random.below(3_000)));
        let held = owner.kill();
        let released = eventually(|| held.left().is_empty());
        assert!(released, "{case}: {:?} of {held:?} are left", held.left());
        assert!(eventually(|| is_refused(&peer)), "{case}: the port is not unreachable");
        assert_eq!(objects::link_on(ours), None, "{case}: a program is still attached");
        *census.entry(phase).or_insert(0) += 1;
        for (kind, count) in held.counts() {
            let most: &mut usize = most.entry(kind).or_default();
            *most = count.max(*most);
        }
        drop(owner.child_alive);
    }
    println!("{census:?}, at most {most:?}");
    assert!(PHASES.iter().all(|phase| census.contains_key(phase)), "{census:?}");
    assert_eq!(most, BTreeMap::from([(Kind::Program, 1), (Kind::Map, 5), (Kind::Link, 1)]));
    let namespaces = [ours, theirs].map(namespace);
    let is_used = || namespaces.iter().any(|name| objects::is_namespace_used(name));
    assert!(eventually(|| !is_used()), "a process is still in {namespaces:?}");
}
