//! Programs of others with and without acceleration, run by `cargo xtask interop` only: Python's
//! own tests, and tools that send UDP.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use hairpin_testbed::{Host, Testbed};

use crate::support::{Running, alone, command, installed, limited, pause, testbed};

/// Python's tests of sockets and waits. Those of VSOCK depend on the hypervisor.
const PYTHON_TESTS: [&str; 6] =
    ["-i", "*VSOCK*", "test_socket", "test_selectors", "test_epoll", "test_asyncio"];

/// Runs the tests of Debian's `libpython3.11-testsuite` with their servers on an address.
const RUN_TESTS: &str = "
import sys
from test.support import socket_helper
host = sys.argv.pop(1)
socket_helper.HOST = socket_helper.HOSTv4 = host
from test import libregrtest
libregrtest.main()
";

/// Returns `true` unless `cargo xtask interop` runs the test, with a line.
fn is_skipped() -> bool {
    let skipped = std::env::var_os("HAIRPIN_INTEROP").is_none();
    if skipped {
        println!("skipped: only `cargo xtask interop` runs it");
    }
    skipped
}

/// Runs Python's tests. Returns the outcome of each.
fn python_tests(host: &Host, address: &str, accelerated: bool) -> BTreeMap<String, String> {
    let mut python = command("/usr/bin/python3", accelerated);
    // Only the sockets on veth0 are accelerated, and only by one of the tests' processes.
    python.env("HAIRPIN_STRICT", "0").env("HAIRPIN_PROFILE", "safe").env("HAIRPIN_LOG", "off");
    python.args(["-c", RUN_TESTS, address, "-v"]).args(PYTHON_TESTS);
    let output = limited(host, python, 900);
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let outcomes = text.lines().filter_map(|line| line.split_once(" ... "));
    let outcomes: BTreeMap<_, _> =
        outcomes.map(|(name, outcome)| (name.to_owned(), outcome.trim().to_owned())).collect();
    assert!(outcomes.len() > 1_000, "{} tests: {text}", outcomes.len());
    outcomes
}

#[test]
#[ignore = "needs root"]
fn python_tests_that_pass_on_the_kernel_pass() {
    let _alone = alone();
    if is_skipped() || !std::path::Path::new("/usr/lib/python3.11/test/test_socket.py").exists() {
        return;
    }
    let testbed = testbed(1);
    let [host, _] = testbed.hosts();
    let own = host.address().to_string();
    for address in ["localhost", &own] {
        let [kernel, accelerated] =
            [false, true].map(|accelerated| python_tests(host, address, accelerated));
        let passes = |outcome: &String| outcome.ends_with("ok");
        let passed = kernel.iter().filter(|(_, outcome)| passes(outcome));
        let failed: Vec<_> =
            passed.filter(|(name, _)| !accelerated.get(*name).is_some_and(passes)).collect();
        let counts =
            [&kernel, &accelerated].map(|all| all.values().filter(|it| passes(it)).count());
        println!("python on {address}: {counts:?} of {} tests pass", kernel.len());
        assert!(failed.is_empty(), "{failed:#?}");
    }
}

/// A server and a client; the result is what `read` finds in their outputs.
struct Pair<'a> {
    server: Command,
    client: Command,
    read: &'a dyn Fn(&str) -> String,
}

/// Runs the pair on two hosts. Returns the result.
fn exchange(testbed: &Testbed, pair: Pair<'_>) -> String {
    let [server_host, client_host] = testbed.hosts();
    let mut server = pair.server;
    server.stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
    let server = Running(server_host.spawn(server, &[]).unwrap());
    pause(500);
    let output = limited(client_host, pair.client, 60);
    drop(server);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}: {text}{error}", output.status);
    (pair.read)(&text)
}

/// Compares a result without acceleration with those of each side and both.
fn compare(name: &str, pair: impl Fn([bool; 2], &str) -> Pair<'static>) {
    let testbed = testbed(1);
    let address = testbed.hosts()[0].address().to_string();
    let expected = exchange(&testbed, pair([false, false], &address));
    for accelerated in [[true, false], [false, true], [true, true]] {
        let found = exchange(&testbed, pair(accelerated, &address));
        assert_eq!(found, expected, "{name} {accelerated:?}");
    }
    println!("{name}: {expected}");
}

fn with_args(program: &str, accelerated: bool, arguments: &[&str]) -> Command {
    let mut command = command(program, accelerated);
    command.args(arguments).env("HAIRPIN_LOG", "off").env("HAIRPIN_STRICT", "0");
    command
}

#[test]
#[ignore = "needs root"]
fn tools_have_the_same_result() {
    let _alone = alone();
    if is_skipped() {
        return;
    }
    compare_sockperf();
    if installed("iperf3").is_some() {
        let lost = |text: &str| {
            let line = text.lines().find(|line| line.ends_with("receiver")).unwrap_or(text);
            let lost =
                line.split_whitespace().find(|word| word.contains('/') && !word.contains("bits"));
            format!("datagrams lost: {}", lost.and_then(|it| it.split('/').next()).unwrap_or("?"))
        };
        compare("iperf3 -u", |[server, client], address| Pair {
            server: with_args("iperf3", server, &["-s", "-1"]),
            client: with_args("iperf3", client, &["-u", "-c", address, "-t", "2", "-b", "5M"]),
            read: Box::leak(Box::new(lost)),
        });
    }
    let echoed = |text: &str| text.to_owned();
    if installed("socat").is_some() {
        compare("socat", |[server, client], address| Pair {
            server: with_args(
                "socat",
                server,
                &[&format!("UDP4-RECVFROM:7000,bind={address},fork"), "PIPE"],
            ),
            client: {
                let mut client = with_args("sh", client, &[]);
                client.arg("-c").arg(format!("echo text | socat -t 2 - UDP4:{address}:7000"));
                client
            },
            read: Box::leak(Box::new(echoed)),
        });
    }
    if installed("ncat").is_some() {
        compare("ncat", |[server, client], address| Pair {
            server: with_args("ncat", server, &["-u", "-l", address, "7000", "-e", "/bin/cat"]),
            client: {
                let mut client = with_args("sh", client, &[]);
                client.arg("-c").arg(format!("echo text | ncat -u -i 1 {address} 7000; true"));
                client
            },
            read: Box::leak(Box::new(echoed)),
        });
    }
}

fn compare_sockperf() {
    if installed("sockperf").is_none() {
        return;
    }
    let counts = |text: &str| {
        let clean = text.contains(
            "dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0",
        );
        format!("clean: {clean}")
    };
    compare("sockperf under-load", |[server, client], address| Pair {
        server: with_args("sockperf", server, &["server", "-i", address]),
        client: with_args(
            "sockperf",
            client,
            &["under-load", "-i", address, "-t", "2", "--mps=2000", "-m", "64"],
        ),
        read: Box::leak(Box::new(counts)),
    });
    let sent = |text: &str| format!("sent: {}", text.contains("Message Rate is"));
    compare("sockperf throughput", |[server, client], address| Pair {
        server: with_args("sockperf", server, &["server", "-i", address]),
        client: with_args(
            "sockperf",
            client,
            &["throughput", "-i", address, "-t", "2", "-m", "64", "--mps=2000"],
        ),
        read: Box::leak(Box::new(sent)),
    });
}
