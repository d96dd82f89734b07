//! Rules of a firewall or of address translation on the host of an accelerated program: the program
//! sees what it sees without `hairpin run`.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::process::{Command, Stdio};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use hairpin_testbed::{Host, Testbed};

use crate::support::hairpin;
use crate::xdp::{start, stderr, stdout};

const PORT: u16 = 7_700;
/// An address of no host, which a rule translates to that of the other host.
const TRANSLATED: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 99);

/// Exchanges messages over TCP and over UDP. Prints how many answers came.
const CLIENT: &str = "
import socket, sys
to = (sys.argv[1], int(sys.argv[2]))
tcp = socket.create_connection(to, 10)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind((sys.argv[3], 0))
udp.settimeout(1)
answers = [0, 0]
for number in range(20):
    tcp.sendall(b'x' * 64)
    answers[0] += tcp.recv(64, socket.MSG_WAITALL) == b'x' * 64
    try:
        udp.sendto(b'y', to)
        answers[1] += udp.recvfrom(64) == (b'y', to)
    except OSError:
        if number == 1:
            break
print(*answers)
";

/// A ruleset of nftables, and what stays with the kernel because of it.
struct Case {
    rules: &'static str,
    to_translated: bool,
    /// The beginning of the reasons for TCP and UDP; `None` if they are accelerated.
    reasons: [Option<&'static str>; 2],
}

const ACCEPTS: &str = "table inet f { chain i { type filter hook input priority 0; policy accept;
    ct state established counter accept
    tcp dport 22 accept
} chain w { type filter hook forward priority 0; policy drop; } }";
const DROPS_OTHERS: &str = "table ip f { chain i { type filter hook input priority 0;
    ct state invalid counter drop
} }";
const JUMPS_TO_A_DROP: &str = "table ip f { chain d { udp dport 9 drop; }
    chain o { type filter hook output priority 0; jump d; } }";
const DROPS_IPV6: &str =
    "table ip6 f { chain i { type filter hook input priority 0; policy drop; } }";
const TRANSLATES: &str = "table ip n { chain o { type nat hook output priority -100;
    ip daddr 10.77.0.99 dnat to 10.77.0.2
} }";

const CASES: [Case; 6] = [
    Case { rules: ACCEPTS, to_translated: false, reasons: [None, None] },
    Case { rules: DROPS_IPV6, to_translated: false, reasons: [None, None] },
    Case {
        rules: DROPS_OTHERS,
        to_translated: false,
        reasons: [Some("nftables (table f, chain i) restricts"); 2],
    },
    Case {
        rules: JUMPS_TO_A_DROP,
        to_translated: false,
        reasons: [Some("nftables (table f, chain o) restricts"); 2],
    },
    Case {
        rules: TRANSLATES,
        to_translated: false,
        reasons: [None, Some("nftables (table n, chain o) translates addresses")],
    },
    Case {
        rules: TRANSLATES,
        to_translated: true,
        reasons: [
            Some("nftables (table n, chain o) translates its addresses"),
            Some("nftables (table n, chain o) translates addresses"),
        ],
    },
];

/// Replaces the rules of a host.
fn set_rules(host: &Host, rules: &str) {
    let mut command = Command::new("nft");
    command.args(["-f", "-"]).stdin(Stdio::piped());
    let mut child = host.spawn(command, &[]).unwrap();
    // A bracket must be on a line of its own.
    let lines = rules.replace('}', "\n}\n");
    write!(child.stdin.take().unwrap(), "flush ruleset\n{lines}\n").unwrap();
    assert!(child.wait().unwrap().success(), "{rules}");
}

/// Answers every message, until the test ends.
fn echo(other: &Host) -> [JoinHandle<()>; 2] {
    let address = (other.address(), PORT);
    let listener = other.run(|| TcpListener::bind(address)).unwrap().unwrap();
    let datagrams = other.run(|| UdpSocket::bind(address)).unwrap().unwrap();
    let streams = std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            stream.set_nodelay(true).unwrap();
            std::thread::spawn(move || {
                let mut message = [0; 64];
                while stream.read_exact(&mut message).is_ok() {
                    stream.write_all(&message).unwrap();
                }
            });
        }
    });
    let datagrams = std::thread::spawn(move || {
        let mut buffer = [0; 64];
        while let Ok((length, from)) = datagrams.recv_from(&mut buffer) {
            let _ = datagrams.send_to(&buffer[..length], from);
        }
    });
    [streams, datagrams]
}

/// Runs a script. With the profile auto, a busy machine would hand its connections back.
fn python(flags: &[&str], script: &str) -> Command {
    let mut command = hairpin();
    command.args(["run", "--profile", "latency", "--interface", "veth0"]).args(flags);
    command.args(["--", "python3", "-c", script]);
    command
}

fn client(to: Ipv4Addr, from: Ipv4Addr, flags: &[&str]) -> Command {
    let mut command = python(flags, CLIENT);
    command.args([to.to_string(), PORT.to_string(), from.to_string()]);
    command.env("HAIRPIN_LOG", "all");
    command
}

fn has_nft() -> bool {
    let found = Command::new("nft").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        println!("skipped: nft is not installed");
    }
    found
}

#[test]
#[ignore = "needs root"]
fn flows_that_a_rule_may_apply_to_stay_with_the_kernel() {
    if !has_nft() {
        return;
    }
    let testbed = Testbed::namespaces().unwrap();
    let [host, other] = testbed.hosts();
    let _echo = echo(other);
    // Translated on output, so no host answers to it.
    let neighbor = "neighbor add 10.77.0.99 lladdr 02:00:00:00:00:63 dev veth0";
    let mut command = Command::new("ip");
    command.args(neighbor.split(' '));
    assert!(host.spawn(command, &[]).unwrap().wait().unwrap().success());
    for Case { rules, to_translated, reasons } in CASES {
        set_rules(host, rules);
        let to = if to_translated { TRANSLATED } else { other.address() };
        let output = start(host, client(to, host.address(), &[])).output();
        let (text, log) = (stdout(&output), stderr(&output));
        assert_eq!(text, "20 20\n", "{rules}\n{log}");
        for (reason, accelerated, protocol) in [
            (reasons[0], "is taken over", &format!(" to {to}:{PORT}")),
            (reasons[1], "is accelerated", &String::new()),
        ] {
            let is_ours = |line: &&str| line.contains("10.77.0.1:") && line.contains(protocol);
            let of = |what: &str| log.lines().filter(is_ours).any(|line| line.contains(what));
            match reason {
                None => assert!(of(accelerated), "{rules}\n{log}"),
                Some(reason) => {
                    assert!(of(&format!("stays with the kernel: {reason}")), "{rules}\n{log}");
                    assert!(!of(accelerated), "{rules}\n{log}");
                }
            }
        }
    }
    set_rules(host, "");
}

#[test]
#[ignore = "needs root"]
fn strict_run_beside_a_restricting_rule_does_not_start() {
    if !has_nft() {
        return;
    }
    let testbed = Testbed::namespaces().unwrap();
    let [host, other] = testbed.hosts();
    let _echo = echo(other);
    set_rules(host, DROPS_OTHERS);
    let output = start(host, client(other.address(), host.address(), &["--strict"])).output();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("nftables (table f, chain i) restricts packets"),
        "{output:?}"
    );
    set_rules(host, ACCEPTS);
    let output = start(host, client(other.address(), host.address(), &["--strict"])).output();
    assert_eq!(stdout(&output), "20 20\n", "{output:?}");
}

/// Exchanges messages for some time, a few per second.
const LONG: &str = "
import socket, sys, time
to = (sys.argv[1], int(sys.argv[2]))
tcp = socket.create_connection(to, 10)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind((sys.argv[3], 0))
udp.settimeout(5)
while True:
    tcp.sendall(b'x' * 64)
    assert tcp.recv(64, socket.MSG_WAITALL) == b'x' * 64
    udp.sendto(b'y', to)
    assert udp.recvfrom(64) == (b'y', to)
    print('.', flush=True)
    time.sleep(0.05)
";

#[test]
#[ignore = "needs root"]
fn new_rule_returns_flows_to_the_kernel() {
    if !has_nft() {
        return;
    }
    let testbed = Testbed::namespaces().unwrap();
    let [host, other] = testbed.hosts();
    let _echo = echo(other);
    set_rules(host, "");
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = python(&[], LONG);
    command.args([other.address().to_string(), PORT.to_string(), host.address().to_string()]);
    command.env("HAIRPIN_LOG", "all").stdout(Stdio::null());
    command.stderr(std::fs::File::create(&log).unwrap());
    let mut program = host.spawn(command, &[]).unwrap();
    let await_line = |text: &str| {
        let until = Instant::now() + Duration::from_secs(120);
        while !std::fs::read_to_string(&log).unwrap().contains(text) {
            let log = || std::fs::read_to_string(&log).unwrap();
            assert!(Instant::now() < until, "no {text:?}:\n{}", log());
            sleep(Duration::from_millis(10));
        }
    };
    await_line("is taken over");
    await_line("is accelerated");
    set_rules(host, DROPS_OTHERS);
    await_line("returns to the kernel: the path has changed");
    await_line("a rule of the host applies");
    await_line("stays with the kernel: nftables");
    assert!(program.try_wait().unwrap().is_none(), "{}", std::fs::read_to_string(&log).unwrap());
    program.kill().unwrap();
    program.wait().unwrap();
}

/// Exchanges messages over one connection until it ends, and prints the error.
const UNTIL_ERROR: &str = "
import socket, sys, time
tcp = socket.create_connection((sys.argv[1], int(sys.argv[2])), 10)
tcp.settimeout(None)
try:
    while True:
        tcp.sendall(b'x' * 64)
        tcp.recv(64, socket.MSG_WAITALL) or sys.exit('end')
        time.sleep(0.01)
except OSError as error:
    print(type(error).__name__)
";

/// The kernel's socket ends with numbers that are old.
#[test]
#[ignore = "needs root"]
fn connection_that_the_host_ends_is_reset_at_the_peer() {
    let testbed = Testbed::namespaces().unwrap();
    let [host, other] = testbed.hosts();
    let listener = other.run(|| TcpListener::bind((other.address(), PORT))).unwrap().unwrap();
    let peer = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut message = [0; 64];
        loop {
            let done = stream.read_exact(&mut message).and_then(|()| stream.write_all(&message));
            if let Err(error) = done {
                return error.kind();
            }
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = python(&[], UNTIL_ERROR);
    command.args([other.address().to_string(), PORT.to_string()]).env("HAIRPIN_LOG", "all");
    command.stdout(Stdio::piped()).stderr(std::fs::File::create(&log).unwrap());
    let program = host.spawn(command, &[]).unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !std::fs::read_to_string(&log).unwrap().contains("is taken over") {
        assert!(Instant::now() < until);
        sleep(Duration::from_millis(10));
    }
    let mut end = Command::new("ss");
    end.args(["--kill", "--tcp", "dport", "=", &PORT.to_string()]).stdout(Stdio::null());
    assert!(host.spawn(end, &[]).unwrap().wait().unwrap().success());
    let output = program.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ConnectionResetError\n");
    assert_eq!(peer.join().unwrap(), std::io::ErrorKind::ConnectionReset);
}
