//! An ordinary user's way to two namespaces.
//!
//! The harness runs tests on threads, and a user namespace is entered before the first. So this
//! is a plain program: it starts copies of itself as an ordinary user, each of which plays one
//! case in its `main`. Where user namespaces are refused, as in many containers, the refusal is
//! what is checked, and it says so.

use std::fs;
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use hairpin_testbed::{
    Chance, Direction, Faults, Offloads, Queues, RelaySettings, Testbed, UserNamespaceError,
    enter_user_namespace,
};

/// Names the case that this copy plays.
const CASE: &str = "HAIRPIN_TESTBED_CASE";
/// nobody: an ordinary user on every Linux.
const NOBODY: u32 = 65534;

type Case = (&'static str, fn());

const CASES: &[Case] = &[
    ("an ordinary user gets two namespaces or loopback", gets_a_bed),
    ("an ordinary user gets a relay where namespaces can be had", gets_a_relay),
    ("a process with threads is refused and unchanged", threads_are_refused),
    ("where user namespaces are used up nothing changes", no_user_namespace_left),
    ("where network namespaces are used up nothing changes", no_network_namespace_left),
    ("the user and group stay the same", user_and_group_stay),
];

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    if let Ok(case) = std::env::var(CASE) {
        let (_, play) = CASES.iter().find(|(name, _)| *name == case).expect("a case by its name");
        return play();
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = readable_by_anyone(folder.path());
    let mut failed = 0;
    for (name, _) in CASES {
        let passed = passes(&program, name);
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += u32::from(!passed);
    }
    assert_eq!(failed, 0, "failed cases");
}

/// A copy of this program where an ordinary user may read and run it.
fn readable_by_anyone(folder: &Path) -> std::path::PathBuf {
    let everyone = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder, everyone.clone()).expect("our own folder");
    let program = folder.join("user_namespace");
    let own = std::env::current_exe().expect("a running program has a path");
    fs::copy(own, &program).expect("a copy of this program");
    fs::set_permissions(&program, everyone).expect("our own file");
    program
}

fn passes(program: &Path, case: &str) -> bool {
    let mut command = Command::new(program);
    command.env(CASE, case).current_dir("/").stdin(Stdio::null());
    // SAFETY: takes nothing and always succeeds.
    if unsafe { libc::geteuid() } == 0 {
        // Drops every supplementary group and capability too.
        command.uid(NOBODY).gid(NOBODY);
    }
    match command.status() {
        Ok(status) => status.success(),
        // A container may have root only.
        Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => {
            println!("skipped: there is no user {NOBODY} here");
            true
        }
        Err(error) => panic!("cannot start a copy of this program: {error}"),
    }
}

/// The namespaces and ids of this process, to be compared before and after.
fn state() -> [String; 4] {
    let link = |file| fs::read_link(file).expect("a link of our own process").display().to_string();
    let map = fs::read_to_string("/proc/self/uid_map").expect("a file of our own process");
    // SAFETY: both take nothing and always succeed.
    let ids = unsafe { (libc::geteuid(), libc::getegid()) };
    [link("/proc/self/ns/user"), link("/proc/self/ns/net"), map, format!("{ids:?}")]
}

fn gets_a_bed() {
    let before = state();
    let bed = Testbed::available().expect("loopback at the least");
    let refused = bed.describe().strip_prefix("loopback (");
    if let Some(refused) = refused {
        println!("user namespaces are refused here: {refused}");
        assert_eq!(state(), before);
        assert!(!bed.describe().contains('\n'));
        return;
    }
    assert_eq!(bed.describe(), "two network namespaces joined by a veth (in a user namespace)");
    assert_eq!(state()[1], before[1], "our own network namespace has changed");
    let [first, second] = bed.hosts();
    let sockets = [first, second].map(|host| {
        let bind = || UdpSocket::bind((host.address(), 0)).expect("an address of this host");
        let socket = host.run(bind).expect("the host is there");
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("not zero");
        socket
    });
    for (from, to) in [(&sockets[0], &sockets[1]), (&sockets[1], &sockets[0])] {
        let address = to.local_addr().expect("it is bound");
        from.send_to(b"tick", address).expect("the veth is up");
        let mut bytes = [0; 8];
        let (length, source) = to.recv_from(&mut bytes).expect("it crosses");
        assert_eq!((&bytes[..length], source), (&b"tick"[..], from.local_addr().expect("bound")));
    }
    let mut ask = Command::new("sh");
    ask.args(["-c", "cat /proc/net/dev; exit 7"]).stdout(Stdio::piped());
    let output = second.spawn(ask, &[]).expect("sh is there").wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(7), "killed before its time");
    assert!(String::from_utf8_lossy(&output.stdout).contains("veth0"));
    let mut sleep = Command::new("sleep");
    sleep.arg("60");
    let mut child = first.spawn(sleep, &[]).expect("sleep is there");
    drop(bed);
    assert_eq!(child.wait().expect("our own child").signal(), Some(9), "it outlived its host");
}

fn gets_a_relay() {
    if let Err(refused) = enter_user_namespace() {
        println!("user namespaces are refused here: {refused}");
        return;
    }
    let faults = Faults { duplication: Chance::ALWAYS, ..Faults::NONE };
    let settings = RelaySettings::seeded(7).with(Direction::SecondToFirst, faults);
    let wanted = Testbed::builder().queues(Queues::pairs(2)).offloads(Offloads::OFF).mtu(4_000);
    let bed = wanted.relay(settings).build().expect("what root may in its own namespaces");
    assert!(bed.describe().ends_with("joined by a relay (seed 7) (in a user namespace)"));
    let [first, second] = bed.hosts();
    assert_eq!(first.queues().expect("it is there"), Queues::pairs(2));
    assert_eq!(first.offloads().expect("it is there"), Offloads::OFF);
    let [receiver, sender] = [first, second].map(|host| {
        let bind = || UdpSocket::bind((host.address(), 0)).expect("an address of this host");
        host.run(bind).expect("the host is there")
    });
    receiver.set_read_timeout(Some(Duration::from_secs(20))).expect("not zero");
    sender.send_to(b"tick", receiver.local_addr().expect("bound")).expect("the veth is up");
    for _ in 0..2 {
        assert_eq!(receiver.recv(&mut [0; 8]).expect("it crosses, twice"), 4);
    }
    let tally = bed.relay().expect("asked for").tally(Direction::SecondToFirst);
    assert!(tally.duplicated > 0 && tally.missed == 0, "{tally:?}");
}

fn threads_are_refused() {
    let before = state();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || ended.recv());
    let error = enter_user_namespace().expect_err("two threads");
    assert!(matches!(error, UserNamespaceError::Threads(2)), "{error}");
    assert_eq!(state(), before);
    drop(end);
    assert!(thread.join().expect("it does not panic").is_err());
}

fn no_user_namespace_left() {
    refusal_changes_nothing("max_user_namespaces", "a user namespace is refused: a limit");
}

fn no_network_namespace_left() {
    let refusal = "a network namespace in a user namespace is refused: a limit";
    refusal_changes_nothing("max_net_namespaces", refusal);
}

/// Inside a first user namespace its owner sets the limits for those below, and is then refused
/// the second.
fn refusal_changes_nothing(limit: &str, refusal: &str) {
    if let Err(refused) = enter_user_namespace() {
        println!("user namespaces are refused here: {refused}");
        return;
    }
    fs::write(format!("/proc/sys/user/{limit}"), "0").expect("the owner sets the limit");
    // With privileges it would not try.
    drop_capabilities();
    let before = state();
    let error = enter_user_namespace().expect_err("the limit is nought");
    assert!(matches!(error, UserNamespaceError::Refused { .. }), "{error:?}");
    let line = error.to_string();
    assert!(line.starts_with(refusal) && !line.contains('\n'), "{line}");
    assert_eq!(state(), before);
    assert!(Testbed::available().expect("loopback").describe().contains(&line));
    let bed = Testbed::namespaces().expect_err("no privileges");
    assert!(bed.to_string().starts_with("a network namespace is refused: "), "{bed}");
}

/// Clears every capability of this thread, the only one.
fn drop_capabilities() {
    const VERSION_3: u32 = 0x2008_0522;
    let header = [VERSION_3, 0];
    let none = [0_u32; 6];
    // SAFETY: version 3 reads a header of two words and a set of six; both outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) };
    assert_eq!(result, 0);
}

fn user_and_group_stay() {
    let before = state();
    match enter_user_namespace() {
        Ok(()) => {
            assert_eq!(state()[3], before[3]);
            assert_ne!(state()[0], before[0]);
            // Once is enough.
            enter_user_namespace().expect("privileges enough");
        }
        Err(refused) => println!("user namespaces are refused here: {refused}"),
    }
}
