//! Hosts over loopback, as any user, and in namespaces, as root.
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

use hairpin_testbed::{Host, Testbed, eventually};

use crate::fixtures::{TIMEOUT, shell, udp_socket};

/// The environment variable that marks a copy of this program as an owner to be killed.
const OWNER: &str = "HAIRPIN_TESTBED_OWNER";
fn read_stdout(host: &Host, mut command: Command) -> String {
    command.stdout(Stdio::piped());
    let output = host.spawn(command, &[]).unwrap().wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the kernel's name of a host's namespace: `net:[4026531840]`.
fn namespace_name(host: &Host) -> String {
    host.run(|| fs::read_link("/proc/thread-self/ns/net").unwrap()).unwrap().display().to_string()
}

fn is_running(process: u32) -> bool {
    // The state follows the name in parentheses. A zombie (Z) is dead but not waited for.
    fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().unwrap().starts_with(['Z', 'X']))
}

/// Returns every network namespace that contains a thread or that a process holds open.
fn namespaces_in_use() -> BTreeSet<String> {
    let names =
        |path: String| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let links_of = |process: std::path::PathBuf| {
        let process = process.display();
        let threads = names(format!("{process}/task")).map(|task| task.join("ns/net"));
        threads.chain(names(format!("{process}/fd"))).collect::<Vec<_>>()
    };
    names("/proc".into())
        .flat_map(links_of)
        .filter_map(|link| fs::read_link(link).ok())
        .map(|target| target.display().to_string())
        .filter(|target| target.starts_with("net:["))
        .collect()
}

fn assert_datagrams_pass(testbed: &Testbed) {
    let [first, second] = testbed.hosts();
    let (here, there) = (udp_socket(first), udp_socket(second));
    let mut bytes = [0; 16];
    here.send_to(b"tick", there.local_addr().unwrap()).unwrap();
    let (length, from) = there.recv_from(&mut bytes).unwrap();
    assert_eq!((&bytes[..length], from), (&b"tick"[..], here.local_addr().unwrap()));
    there.send_to(b"order", from).unwrap();
    let (length, from) = here.recv_from(&mut bytes).unwrap();
    assert_eq!((&bytes[..length], from), (&b"order"[..], there.local_addr().unwrap()));
}

fn assert_child_dies_with_host(testbed: Testbed) {
    let mut child = testbed.hosts()[0].spawn(shell("exec sleep 60"), &[]).unwrap();
    assert!(is_running(child.id()));
    drop(testbed);
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}

fn loopback() -> Testbed {
    Testbed::loopback("a test").unwrap()
}

#[test]
fn loopback_description_contains_the_reason() {
    assert_eq!(loopback().describe(), "loopback (a test)");
}

#[test]
fn loopback_hosts_are_this_machine() {
    let testbed = loopback();
    for host in testbed.hosts() {
        assert_eq!((host.address(), host.interface()), (Ipv4Addr::LOCALHOST, "lo"));
        let index = fs::read_to_string("/sys/class/net/lo/ifindex").unwrap();
        assert_eq!(index.trim(), host.interface_index().to_string());
        assert!(host.namespace().is_none());
        let own = fs::read_link("/proc/thread-self/ns/net").unwrap().display().to_string();
        assert_eq!(namespace_name(host), own);
        assert_eq!(read_stdout(host, shell("readlink /proc/self/ns/net")).trim(), own);
    }
    assert_datagrams_pass(&testbed);
}

#[test]
fn child_inherits_only_the_given_descriptors() {
    let testbed = loopback();
    let mut file = tempfile::tempfile().unwrap();
    let other = tempfile::tempfile().unwrap();
    let (given, kept) = (file.as_raw_fd(), other.as_raw_fd());
    let script = format!("echo from the child >&{given}; test ! -e /proc/self/fd/{kept}");
    let mut child = testbed.hosts()[0].spawn(shell(&script), &[file.as_fd()]).unwrap();
    assert!(child.wait().unwrap().success());
    let mut text = String::new();
    std::io::Seek::rewind(&mut file).unwrap();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "from the child\n");

    let script = format!("test ! -e /proc/self/fd/{given}");
    let mut other_child = testbed.hosts()[0].spawn(shell(&script), &[]).unwrap();
    assert!(other_child.wait().unwrap().success());
}

#[test]
fn standard_streams_cannot_be_inherited() {
    let testbed = loopback();
    let stdout = std::io::stdout();
    let error = testbed.hosts()[0].spawn(shell("true"), &[stdout.as_fd()]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn missing_command_is_an_error_and_the_host_survives() {
    let testbed = loopback();
    let [host, _] = testbed.hosts();
    let error = host.spawn(Command::new("/nonexistent/command"), &[]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert_eq!(read_stdout(host, shell("echo alive")), "alive\n");
}

#[test]
fn child_outlives_the_thread_that_spawned_it() {
    let testbed = loopback();
    let [host, _] = testbed.hosts();
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let spawn = || host.spawn(command, &[]).unwrap();
    let mut child = std::thread::scope(|scope| scope.spawn(spawn).join().unwrap());
    child.stdin.take().unwrap().write_all(b"still here").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"still here");
}

#[test]
fn children_die_with_their_host() {
    assert_child_dies_with_host(loopback());
}

#[test]
fn run_propagates_panics() {
    let testbed = loopback();
    let [host, _] = testbed.hosts();
    let run = std::panic::AssertUnwindSafe(|| host.run(|| panic!("in the body")));
    let panic = std::panic::catch_unwind(run).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"in the body"));
    assert_eq!(host.run(|| 7).unwrap(), 7);
}

#[test]
#[ignore = "needs root"]
fn hosts_have_namespaces_of_their_own() {
    let own = fs::read_link("/proc/thread-self/ns/net").unwrap();
    let testbed = Testbed::namespaces().unwrap();
    let [first, second] = testbed.hosts();
    let names = BTreeSet::from([first, second].map(namespace_name));
    assert_eq!(names.len(), 2);
    assert!(!names.contains(&own.display().to_string()));
    assert_eq!(fs::read_link("/proc/thread-self/ns/net").unwrap(), own);
    assert!(testbed.describe().starts_with("two network namespaces joined by a veth"));
}

#[test]
#[ignore = "needs root"]
fn child_runs_in_the_namespace_of_its_host() {
    let testbed = Testbed::namespaces().unwrap();
    for host in testbed.hosts() {
        assert_eq!(
            read_stdout(host, shell("readlink /proc/self/ns/net")).trim(),
            namespace_name(host)
        );
        let devices = read_stdout(host, shell("cat /proc/net/dev"));
        let names: BTreeSet<&str> = devices
            .lines()
            .filter_map(|line| line.split_once(':').map(|(name, _)| name.trim()))
            .filter(|name| !exists_in_every_namespace(name))
            .collect();
        assert_eq!(names, BTreeSet::from(["lo", "veth0"]));
    }
}

/// Returns `true` for a device that a kernel module adds to every new namespace.
fn exists_in_every_namespace(name: &str) -> bool {
    ["sit0", "tunl0", "gre0", "gretap0", "erspan0", "ip6tnl0", "ip_vti0", "ip6_vti0", "ip6gre0"]
        .contains(&name)
}

#[test]
#[ignore = "needs root"]
fn hosts_report_their_addresses_and_interfaces() {
    let testbed = Testbed::namespaces().unwrap();
    let [first, second] = testbed.hosts();
    assert_eq!(first.address(), Ipv4Addr::new(10, 77, 0, 1));
    assert_eq!(second.address(), Ipv4Addr::new(10, 77, 0, 2));
    for host in testbed.hosts() {
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
fn datagrams_cross_the_veth_in_both_directions() {
    assert_datagrams_pass(&Testbed::namespaces().unwrap());
}

#[test]
#[ignore = "needs root"]
fn streams_cross_the_veth() {
    let testbed = Testbed::namespaces().unwrap();
    let [server, client] = testbed.hosts();
    let listener = server.run(|| TcpListener::bind((server.address(), 0)).unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let mut near = client.run(|| TcpStream::connect(address).unwrap()).unwrap();
    let (mut far, from) = listener.accept().unwrap();
    assert_eq!(from.ip(), client.address());
    near.write_all(b"order").unwrap();
    drop(near);
    let mut text = String::new();
    far.set_read_timeout(Some(TIMEOUT)).unwrap();
    far.read_to_string(&mut text).unwrap();
    assert_eq!(text, "order");
}

#[test]
#[ignore = "needs root"]
fn hosts_reach_themselves() {
    let testbed = Testbed::namespaces().unwrap();
    for host in testbed.hosts() {
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

/// Joins and sends without naming an interface: the route selects it.
#[test]
#[ignore = "needs root"]
fn multicast_crosses_the_veth_in_both_directions() {
    const GROUP: Ipv4Addr = Ipv4Addr::new(239, 192, 7, 7);
    let testbed = Testbed::namespaces().unwrap();
    let [first, second] = testbed.hosts();
    for (from, to) in [(first, second), (second, first)] {
        let receiver = to.run(|| {
            let socket = UdpSocket::bind(SocketAddrV4::new(GROUP, 0)).unwrap();
            socket.join_multicast_v4(&GROUP, &Ipv4Addr::UNSPECIFIED).unwrap();
            socket.set_read_timeout(Some(TIMEOUT)).unwrap();
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

/// Binds the same address and port twice. Datagrams to one never reach the other.
#[test]
#[ignore = "needs root"]
fn testbeds_are_isolated() {
    let testbeds = [Testbed::namespaces().unwrap(), Testbed::namespaces().unwrap()];
    let receivers = testbeds.each_ref().map(|testbed| {
        let [_, host] = testbed.hosts();
        let bind = || UdpSocket::bind((host.address(), 7777)).unwrap();
        let socket = host.run(bind).unwrap();
        socket.set_read_timeout(Some(TIMEOUT)).unwrap();
        socket
    });
    for (testbed, text) in testbeds.iter().zip([b"of the first", b"of the other"]) {
        let [host, peer] = testbed.hosts();
        udp_socket(host).send_to(text, (peer.address(), 7777)).unwrap();
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
fn ipv6_is_disabled() {
    let testbed = Testbed::namespaces().unwrap();
    for host in testbed.hosts() {
        let addresses = read_stdout(host, shell("cat /proc/net/if_inet6 2>/dev/null || true"));
        assert_eq!(addresses, "");
    }
}

#[test]
#[ignore = "needs root"]
fn drop_removes_children_and_namespaces() {
    let testbed = Testbed::namespaces().unwrap();
    let names = testbed.hosts().each_ref().map(namespace_name);
    let in_use = namespaces_in_use();
    assert!(names.iter().all(|name| in_use.contains(name)));
    assert_child_dies_with_host(testbed);
    // Between fork and exec, a child of another test holds a copy of every descriptor.
    assert!(eventually(|| names.iter().all(|name| !namespaces_in_use().contains(name))));
}

/// Starts a copy of this program as the owner of a testbed, and kills the copy.
#[test]
#[ignore = "needs root"]
fn killing_the_owner_leaves_no_child_and_no_namespace() {
    if std::env::var_os(OWNER).is_some() {
        own_a_testbed_until_killed();
    }
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "hosts::killing_the_owner_leaves_no_child_and_no_namespace"])
        .args(["--include-ignored", "--nocapture"])
        .env(OWNER, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (children, names) = read_owned(&mut owner);
    assert!(children.iter().all(|&child| is_running(child)));
    let in_use = namespaces_in_use();
    assert!(names.iter().all(|name| in_use.contains(name)), "{names:?} {in_use:?}");

    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(eventually(|| !children.iter().any(|&child| is_running(child))));
    assert!(eventually(|| names.is_disjoint(&namespaces_in_use())));
}

fn own_a_testbed_until_killed() -> ! {
    let testbed = Testbed::namespaces().unwrap();
    let children = testbed.hosts().each_ref().map(|host| {
        println!("namespace {}", namespace_name(host));
        host.spawn(shell("exec sleep 60"), &[]).unwrap()
    });
    let [first, second] = children.each_ref().map(Child::id);
    println!("children {first} {second}");
    // Ends when the test exits without killing this process.
    let _ = std::io::stdin().read(&mut [0]);
    std::process::exit(1);
}

/// Parses the output of `own_a_testbed_until_killed` between the lines of the harness.
fn read_owned(owner: &mut Child) -> ([u32; 2], BTreeSet<String>) {
    let mut names = BTreeSet::new();
    for line in BufReader::new(owner.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        // The harness prints the name of the test before the first line.
        if let Some((_, name)) = line.rsplit_once("namespace ") {
            names.insert(name.to_owned());
        }
        if let Some(children) = line.strip_prefix("children ") {
            let mut children = children.split(' ').map(|child| child.parse().unwrap());
            return ([children.next().unwrap(), children.next().unwrap()], names);
        }
    }
    panic!("the owner exited before it printed its children: {names:?}");
}
