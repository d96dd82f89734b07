//! Hosts over loopback, as anybody, and in namespaces, as root.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hairpin_testbed::{Host, Testbed};

/// Set in the environment of a copy of this test binary that a test starts to be killed.
const OWNER: &str = "HAIRPIN_TESTBED_OWNER";
/// A defect shows as a time-out instead of a hang; long, because the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn stdout_of(host: &Host, mut command: Command) -> String {
    command.stdout(Stdio::piped());
    let output = host.spawn(command, &[]).unwrap().wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// The namespace of a host as the kernel names it: `net:[4026531840]`.
fn namespace_of(host: &Host) -> String {
    host.run(|| fs::read_link("/proc/thread-self/ns/net").unwrap()).unwrap().display().to_string()
}

fn udp(host: &Host) -> UdpSocket {
    let socket = host.run(|| UdpSocket::bind((host.address(), 0)).unwrap()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// Polls, within bounds, until `is_so`.
fn eventually(is_so: impl Fn() -> bool) -> bool {
    (0..2000).any(|_| {
        is_so() || {
            std::thread::sleep(Duration::from_millis(10));
            false
        }
    })
}

fn is_running(process: u32) -> bool {
    // The state follows the name, which is in brackets. A zombie (Z) is dead but not waited for.
    fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().unwrap().starts_with(['Z', 'X']))
}

/// Every network namespace that a thread of this machine is in or a process holds open.
fn namespaces_in_use() -> BTreeSet<String> {
    let names =
        |path: String| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let of_process = |process: std::path::PathBuf| {
        let process = process.display();
        let threads = names(format!("{process}/task")).map(|task| task.join("ns/net"));
        threads.chain(names(format!("{process}/fd"))).collect::<Vec<_>>()
    };
    names("/proc".into())
        .flat_map(of_process)
        .filter_map(|link| fs::read_link(link).ok())
        .map(|target| target.display().to_string())
        .filter(|target| target.starts_with("net:["))
        .collect()
}

fn pings_both_ways(bed: &Testbed) {
    let [first, second] = bed.hosts();
    let (here, there) = (udp(first), udp(second));
    let mut bytes = [0; 16];
    here.send_to(b"tick", there.local_addr().unwrap()).unwrap();
    let (length, from) = there.recv_from(&mut bytes).unwrap();
    assert_eq!((&bytes[..length], from), (&b"tick"[..], here.local_addr().unwrap()));
    there.send_to(b"order", from).unwrap();
    let (length, from) = here.recv_from(&mut bytes).unwrap();
    assert_eq!((&bytes[..length], from), (&b"order"[..], there.local_addr().unwrap()));
}

fn dies_with_its_host(bed: Testbed) {
    let mut child = bed.hosts()[0].spawn(shell("exec sleep 60"), &[]).unwrap();
    assert!(is_running(child.id()));
    drop(bed);
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}

fn loopback() -> Testbed {
    Testbed::loopback("a test").unwrap()
}

#[test]
fn loopback_says_why() {
    assert_eq!(loopback().describe(), "loopback (a test)");
}

#[test]
fn loopback_hosts_are_this_machine() {
    let bed = loopback();
    for host in bed.hosts() {
        assert_eq!((host.address(), host.interface()), (Ipv4Addr::LOCALHOST, "lo"));
        let index = fs::read_to_string("/sys/class/net/lo/ifindex").unwrap();
        assert_eq!(index.trim(), host.interface_index().to_string());
        assert!(host.namespace().is_none());
        let ours = fs::read_link("/proc/thread-self/ns/net").unwrap().display().to_string();
        assert_eq!(namespace_of(host), ours);
        assert_eq!(stdout_of(host, shell("readlink /proc/self/ns/net")).trim(), ours);
    }
    pings_both_ways(&bed);
}

#[test]
fn a_child_inherits_the_descriptors_it_is_given_and_no_others() {
    let bed = loopback();
    let mut file = tempfile::tempfile().unwrap();
    let other = tempfile::tempfile().unwrap();
    let (given, kept) = (file.as_raw_fd(), other.as_raw_fd());
    let script = format!("echo from the child >&{given}; test ! -e /proc/self/fd/{kept}");
    let mut child = bed.hosts()[0].spawn(shell(&script), &[file.as_fd()]).unwrap();
    assert!(child.wait().unwrap().success());
    let mut text = String::new();
    std::io::Seek::rewind(&mut file).unwrap();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "from the child\n");

    let script = format!("test ! -e /proc/self/fd/{given}");
    let mut stranger = bed.hosts()[0].spawn(shell(&script), &[]).unwrap();
    assert!(stranger.wait().unwrap().success());
}

#[test]
fn standard_streams_are_the_commands_own() {
    let bed = loopback();
    let stdout = std::io::stdout();
    let error = bed.hosts()[0].spawn(shell("true"), &[stdout.as_fd()]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn a_command_that_is_not_there_is_an_error_and_the_host_lives_on() {
    let bed = loopback();
    let [host, _] = bed.hosts();
    let error = host.spawn(Command::new("/nonexistent/command"), &[]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert_eq!(stdout_of(host, shell("echo alive")), "alive\n");
}

#[test]
fn a_child_outlives_the_thread_that_asked_for_it() {
    let bed = loopback();
    let [host, _] = bed.hosts();
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let spawn = || host.spawn(command, &[]).unwrap();
    let mut child = std::thread::scope(|scope| scope.spawn(spawn).join().unwrap());
    child.stdin.take().unwrap().write_all(b"still here").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"still here");
}

#[test]
fn children_die_with_their_host() {
    dies_with_its_host(loopback());
}

#[test]
fn what_a_host_runs_may_panic() {
    let bed = loopback();
    let [host, _] = bed.hosts();
    let run = std::panic::AssertUnwindSafe(|| host.run(|| panic!("in the body")));
    let panic = std::panic::catch_unwind(run).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"in the body"));
    assert_eq!(host.run(|| 7).unwrap(), 7);
}

#[test]
#[ignore = "needs root"]
fn namespaces_are_two_and_neither_is_ours() {
    let ours = fs::read_link("/proc/thread-self/ns/net").unwrap();
    let bed = Testbed::namespaces().unwrap();
    let [first, second] = bed.hosts();
    let names = BTreeSet::from([first, second].map(namespace_of));
    assert_eq!(names.len(), 2);
    assert!(!names.contains(&ours.display().to_string()));
    assert_eq!(fs::read_link("/proc/thread-self/ns/net").unwrap(), ours);
    assert!(bed.describe().starts_with("two network namespaces joined by a veth"));
}

#[test]
#[ignore = "needs root"]
fn a_child_sees_its_own_namespace_only() {
    let bed = Testbed::namespaces().unwrap();
    for host in bed.hosts() {
        assert_eq!(stdout_of(host, shell("readlink /proc/self/ns/net")).trim(), namespace_of(host));
        let devices = stdout_of(host, shell("cat /proc/net/dev"));
        let names: BTreeSet<&str> = devices
            .lines()
            .filter_map(|line| line.split_once(':').map(|(name, _)| name.trim()))
            .filter(|name| !is_of_every_namespace(name))
            .collect();
        assert_eq!(names, BTreeSet::from(["lo", "veth0"]));
    }
}

/// Devices that some kernel modules make in every new namespace, when they are loaded.
fn is_of_every_namespace(name: &str) -> bool {
    ["sit0", "tunl0", "gre0", "gretap0", "erspan0", "ip6tnl0", "ip_vti0", "ip6_vti0", "ip6gre0"]
        .contains(&name)
}

#[test]
#[ignore = "needs root"]
fn hosts_have_the_addresses_and_interfaces_they_name() {
    let bed = Testbed::namespaces().unwrap();
    let [first, second] = bed.hosts();
    assert_eq!(first.address(), Ipv4Addr::new(10, 77, 0, 1));
    assert_eq!(second.address(), Ipv4Addr::new(10, 77, 0, 2));
    for host in bed.hosts() {
        assert_eq!(host.interface(), "veth0");
        let name = std::ffi::CString::new(host.interface()).unwrap();
        // SAFETY: `name` is a NUL-terminated string that outlives the call.
        let index = host.run(|| unsafe { libc::if_nametoindex(name.as_ptr()) }).unwrap();
        assert_eq!(host.interface_index(), index);
        assert_ne!(index, 0);
    }
}

#[test]
#[ignore = "needs root"]
fn datagrams_cross_the_veth_both_ways() {
    pings_both_ways(&Testbed::namespaces().unwrap());
}

#[test]
#[ignore = "needs root"]
fn streams_cross_the_veth() {
    let bed = Testbed::namespaces().unwrap();
    let [server, client] = bed.hosts();
    let listener = server.run(|| TcpListener::bind((server.address(), 0)).unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let mut near = client.run(|| TcpStream::connect(address).unwrap()).unwrap();
    let (mut far, from) = listener.accept().unwrap();
    assert_eq!(from.ip(), client.address());
    near.write_all(b"order").unwrap();
    drop(near);
    let mut text = String::new();
    far.set_read_timeout(Some(PATIENCE)).unwrap();
    far.read_to_string(&mut text).unwrap();
    assert_eq!(text, "order");
}

#[test]
#[ignore = "needs root"]
fn each_host_reaches_itself() {
    let bed = Testbed::namespaces().unwrap();
    for host in bed.hosts() {
        let text = host.run(|| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            near.write_all(b"self").unwrap();
            drop(near);
            let mut text = String::new();
            listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
            text
        });
        assert_eq!(text.unwrap(), "self");
    }
}

/// Multicast with no interface named on either side: the route has to do.
#[test]
#[ignore = "needs root"]
fn multicast_crosses_the_veth_both_ways() {
    const GROUP: Ipv4Addr = Ipv4Addr::new(239, 192, 7, 7);
    let bed = Testbed::namespaces().unwrap();
    let [first, second] = bed.hosts();
    for (from, to) in [(first, second), (second, first)] {
        let receiver = to.run(|| {
            let socket = UdpSocket::bind(SocketAddrV4::new(GROUP, 0)).unwrap();
            socket.join_multicast_v4(&GROUP, &Ipv4Addr::UNSPECIFIED).unwrap();
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
            socket
        });
        let receiver = receiver.unwrap();
        let sender = from.run(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap()).unwrap();
        let port = receiver.local_addr().unwrap().port();
        sender.send_to(b"packet", (GROUP, port)).unwrap();
        let mut bytes = [0; 16];
        let (length, source) = receiver.recv_from(&mut bytes).unwrap();
        assert_eq!((&bytes[..length], source.ip()), (&b"packet"[..], from.address().into()));
    }
}

/// The same address and port bound twice, and what is sent to one never comes to the other.
#[test]
#[ignore = "needs root"]
fn two_beds_do_not_meet() {
    let beds = [Testbed::namespaces().unwrap(), Testbed::namespaces().unwrap()];
    let receivers = beds.each_ref().map(|bed| {
        let [_, host] = bed.hosts();
        let bind = || UdpSocket::bind((host.address(), 7777)).unwrap();
        let socket = host.run(bind).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    });
    for (bed, text) in beds.iter().zip([b"of the first", b"of the other"]) {
        let [host, peer] = bed.hosts();
        udp(host).send_to(text, (peer.address(), 7777)).unwrap();
    }
    for (receiver, text) in receivers.iter().zip([b"of the first", b"of the other"]) {
        let mut bytes = [0; 16];
        let length = receiver.recv(&mut bytes).unwrap();
        assert_eq!(&bytes[..length], text);
        receiver.set_nonblocking(true).unwrap();
        assert!(receiver.recv(&mut bytes).is_err());
    }
}

#[test]
#[ignore = "needs root"]
fn nothing_but_what_is_sent_is_on_the_wire() {
    let bed = Testbed::namespaces().unwrap();
    for host in bed.hosts() {
        let addresses = stdout_of(host, shell("cat /proc/net/if_inet6 2>/dev/null || true"));
        assert_eq!(addresses, "");
    }
}

#[test]
#[ignore = "needs root"]
fn a_dropped_bed_takes_children_and_namespaces_with_it() {
    let bed = Testbed::namespaces().unwrap();
    let names = bed.hosts().each_ref().map(namespace_of);
    let in_use = namespaces_in_use();
    assert!(names.iter().all(|name| in_use.contains(name)));
    dies_with_its_host(bed);
    // A child that another test is about to start holds a copy of every descriptor until it does.
    assert!(eventually(|| names.iter().all(|name| !namespaces_in_use().contains(name))));
}

/// Plays the owner when it finds itself started as one by itself.
#[test]
#[ignore = "needs root"]
fn killing_the_owner_leaves_no_child_and_no_namespace() {
    if std::env::var_os(OWNER).is_some() {
        own_a_bed_until_killed();
    }
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killing_the_owner_leaves_no_child_and_no_namespace"])
        .args(["--include-ignored", "--nocapture"])
        .env(OWNER, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (children, names) = what_it_owns(&mut owner);
    assert!(children.iter().all(|&child| is_running(child)));
    let in_use = namespaces_in_use();
    assert!(names.iter().all(|name| in_use.contains(name)), "{names:?} {in_use:?}");

    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(eventually(|| !children.iter().any(|&child| is_running(child))));
    assert!(eventually(|| names.is_disjoint(&namespaces_in_use())));
}

fn own_a_bed_until_killed() -> ! {
    let bed = Testbed::namespaces().unwrap();
    let children = bed.hosts().each_ref().map(|host| {
        println!("namespace {}", namespace_of(host));
        host.spawn(shell("exec sleep 60"), &[]).unwrap()
    });
    let [first, second] = children.each_ref().map(Child::id);
    println!("children {first} {second}");
    // Ends if this test does before it has killed us.
    let _ = std::io::stdin().read(&mut [0]);
    std::process::exit(1);
}

/// Reads what `own_a_bed_until_killed` prints, among the harness's own lines.
fn what_it_owns(owner: &mut Child) -> ([u32; 2], BTreeSet<String>) {
    let mut names = BTreeSet::new();
    for line in BufReader::new(owner.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        // The harness prints the name of the test in front of its first line.
        if let Some((_, name)) = line.rsplit_once("namespace ") {
            names.insert(name.to_owned());
        }
        if let Some(children) = line.strip_prefix("children ") {
            let mut children = children.split(' ').map(|child| child.parse().unwrap());
            return ([children.next().unwrap(), children.next().unwrap()], names);
        }
    }
    panic!("the owner ended before it owned anything: {names:?}");
}
