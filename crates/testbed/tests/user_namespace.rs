//! Testbeds of an ordinary user, in a user namespace.
//!
//! The test harness starts threads, and only a single-threaded process can enter a user namespace.
//! So this program has no harness: it starts copies of itself as an ordinary user, each of which
//! runs one case in `main`. Where the kernel rejects user namespaces, as in many containers, the
//! cases check the rejection and print it.

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

/// The environment variable with the case that a copy runs.
const CASE: &str = "HAIRPIN_TESTBED_CASE";
/// The user `nobody`, an ordinary user of every Linux system.
const NOBODY_ID: u32 = 65534;

type Case = (&'static str, fn());

const CASES: &[Case] = &[
    ("ordinary_user_gets_namespaces_or_loopback", builds_a_testbed),
    ("ordinary_user_gets_a_relay_with_namespaces", builds_a_relay),
    ("process_with_threads_is_rejected_and_unchanged", rejects_threads),
    ("rejected_user_namespace_changes_nothing", no_user_namespace_left),
    ("rejected_network_namespace_changes_nothing", no_network_namespace_left),
    ("user_and_group_stay_the_same", keeps_user_and_group),
];

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    if let Ok(case) = std::env::var(CASE) {
        let (_, run) = CASES.iter().find(|(name, _)| *name == case).expect("the name of a case");
        return run();
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

/// Copies this program to a folder where an ordinary user can read and run it.
fn readable_by_anyone(folder: &Path) -> std::path::PathBuf {
    let permissions = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder, permissions.clone()).expect("our own folder");
    let program = folder.join("user_namespace");
    let own = std::env::current_exe().expect("a running program has a path");
    fs::copy(own, &program).expect("a copy of this program");
    fs::set_permissions(&program, permissions).expect("our own file");
    program
}

fn passes(program: &Path, case: &str) -> bool {
    let mut command = Command::new(program);
    command.env(CASE, case).current_dir("/").stdin(Stdio::null());
    // SAFETY: the call takes no argument and always succeeds.
    if unsafe { libc::geteuid() } == 0 {
        // Also drops every supplementary group and capability.
        command.uid(NOBODY_ID).gid(NOBODY_ID);
    }
    match command.status() {
        Ok(status) => status.success(),
        // A container may have no other user than root.
        Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => {
            println!("skipped: this system has no user {NOBODY_ID}");
            true
        }
        Err(error) => panic!("cannot start a copy of this program: {error}"),
    }
}

/// Returns the namespaces and ids of this process, for comparison before and after.
fn state() -> [String; 4] {
    let link = |file| fs::read_link(file).expect("a link of this process").display().to_string();
    let map = fs::read_to_string("/proc/self/uid_map").expect("a file of this process");
    // SAFETY: both calls take no argument and always succeed.
    let ids = unsafe { (libc::geteuid(), libc::getegid()) };
    [link("/proc/self/ns/user"), link("/proc/self/ns/net"), map, format!("{ids:?}")]
}

fn builds_a_testbed() {
    let before = state();
    let testbed = Testbed::available().expect("loopback is always available");
    let refused = testbed.describe().strip_prefix("loopback (");
    if let Some(refused) = refused {
        println!("the kernel rejects user namespaces: {refused}");
        assert_eq!(state(), before);
        assert!(!testbed.describe().contains('\n'));
        return;
    }
    assert_eq!(testbed.describe(), "two network namespaces joined by a veth (in a user namespace)");
    assert_eq!(state()[1], before[1], "the network namespace of this process has changed");
    let [first, second] = testbed.hosts();
    let sockets = [first, second].map(|host| {
        let bind = || UdpSocket::bind((host.address(), 0)).expect("an address of this host");
        let socket = host.run(bind).expect("the host exists");
        socket.set_read_timeout(Some(Duration::from_secs(60))).expect("not zero");
        socket
    });
    for (from, to) in [(&sockets[0], &sockets[1]), (&sockets[1], &sockets[0])] {
        let address = to.local_addr().expect("bound");
        from.send_to(b"tick", address).expect("the veth is up");
        let mut bytes = [0; 8];
        let (length, source) = to.recv_from(&mut bytes).expect("datagram received");
        assert_eq!((&bytes[..length], source), (&b"tick"[..], from.local_addr().expect("bound")));
    }
    let mut command = Command::new("sh");
    command.args(["-c", "cat /proc/net/dev; exit 7"]).stdout(Stdio::piped());
    let output = second
        .spawn(command, &[])
        .expect("sh is installed")
        .wait_with_output()
        .expect("the child exits");
    assert_eq!(output.status.code(), Some(7), "the child was killed early");
    assert!(String::from_utf8_lossy(&output.stdout).contains("veth0"));
    let mut sleep = Command::new("sleep");
    sleep.arg("60");
    let mut child = first.spawn(sleep, &[]).expect("sleep is installed");
    drop(testbed);
    assert_eq!(
        child.wait().expect("a child of this process").signal(),
        Some(9),
        "the child outlived its host"
    );
}

fn builds_a_relay() {
    if let Err(refused) = enter_user_namespace() {
        println!("the kernel rejects user namespaces: {refused}");
        return;
    }
    let faults = Faults { duplication: Chance::ALWAYS, ..Faults::NONE };
    let settings = RelaySettings::seeded(7).with(Direction::SecondToFirst, faults);
    let wanted = Testbed::builder().queues(Queues::pairs(2)).offloads(Offloads::OFF).mtu(4_000);
    let testbed = wanted.relay(settings).build().expect("root of the user namespace may build it");
    assert!(testbed.describe().ends_with("joined by a relay (seed 7) (in a user namespace)"));
    let [first, second] = testbed.hosts();
    assert_eq!(first.queues().expect("the interface exists"), Queues::pairs(2));
    assert_eq!(first.offloads().expect("the interface exists"), Offloads::OFF);
    let [receiver, sender] = [first, second].map(|host| {
        let bind = || UdpSocket::bind((host.address(), 0)).expect("an address of this host");
        host.run(bind).expect("the host exists")
    });
    receiver.set_read_timeout(Some(Duration::from_secs(60))).expect("not zero");
    sender.send_to(b"tick", receiver.local_addr().expect("bound")).expect("the veth is up");
    for _ in 0..2 {
        assert_eq!(receiver.recv(&mut [0; 8]).expect("two copies received"), 4);
    }
    let counters = testbed.relay().expect("built with a relay").counters(Direction::SecondToFirst);
    assert!(counters.duplicated > 0 && counters.missed == 0, "{counters:?}");
}

fn rejects_threads() {
    let before = state();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || ended.recv());
    let error = enter_user_namespace().expect_err("two threads");
    assert!(matches!(error, UserNamespaceError::Threads(2)), "{error}");
    assert_eq!(state(), before);
    drop(end);
    assert!(thread.join().expect("no panic").is_err());
}

fn no_user_namespace_left() {
    let error = "cannot create a user namespace: a limit";
    rejection_changes_nothing("max_user_namespaces", error);
}

fn no_network_namespace_left() {
    let error = "cannot create a network namespace in a user namespace: a limit";
    rejection_changes_nothing("max_net_namespaces", error);
}

/// Enters a user namespace, whose owner may set limits for nested ones. The kernel then rejects the
/// second namespace.
fn rejection_changes_nothing(limit: &str, expected: &str) {
    if let Err(refused) = enter_user_namespace() {
        println!("the kernel rejects user namespaces: {refused}");
        return;
    }
    fs::write(format!("/proc/sys/user/{limit}"), "0").expect("the owner sets the limit");
    // A process with privileges would not enter a user namespace.
    drop_capabilities();
    let before = state();
    let error = enter_user_namespace().expect_err("the limit is zero");
    assert!(matches!(error, UserNamespaceError::Refused { .. }), "{error:?}");
    let line = error.to_string();
    assert!(line.starts_with(expected) && !line.contains('\n'), "{line}");
    assert_eq!(state(), before);
    assert!(Testbed::available().expect("loopback").describe().contains(&line));
    let testbed = Testbed::namespaces().expect_err("no privileges");
    assert!(testbed.to_string().starts_with("cannot create a network namespace: "), "{testbed}");
}

/// Clears every capability of this process, which has one thread.
fn drop_capabilities() {
    const VERSION_3: u32 = 0x2008_0522;
    let header = [VERSION_3, 0];
    let none = [0_u32; 6];
    // SAFETY: version 3 reads a header of two 32-bit words and sets of six words. Both live during
    // the call.
    let result = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) };
    assert_eq!(result, 0);
}

fn keeps_user_and_group() {
    let before = state();
    match enter_user_namespace() {
        Ok(()) => {
            assert_eq!(state()[3], before[3]);
            assert_ne!(state()[0], before[0]);
            // A second call changes nothing.
            enter_user_namespace().expect("the process has the privileges");
        }
        Err(refused) => println!("user namespaces are refused here: {refused}"),
    }
}
