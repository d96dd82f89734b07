//! Runs `hairpin rds-stress` between two hosts joined by a veth pair, with each carrier, and as an
//! ordinary user.
//!
//! The tests assert no rate.

use std::net::IpAddr;
use std::process::{Output, Stdio};

use crate::rds::{Listener, assert_taken};
use crate::support::{Process, assert_done, assert_status, hairpin, rows, turn};
use crate::xdp::{
    as_unprivileged, assert_bypassed, command, kernel_datagrams, start, stderr, stdout,
};
use hairpin_testbed::{Host, Testbed};
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carrier {
    Kernel,
    Xdp,
    Ethernet,
}

impl Carrier {
    fn flags(self) -> &'static str {
        match self {
            Self::Kernel => "--wait epoll",
            Self::Xdp => "--transport xdp --strict --interface veth0",
            Self::Ethernet => "--ethernet --transport xdp --interface veth0",
        }
    }

    /// The start of the log line that names the carrier.
    fn line(self) -> &'static str {
        match self {
            Self::Kernel => "rds: carrier: UDP through the kernel, ",
            Self::Xdp => "rds: carrier: UDP over AF_XDP, ",
            Self::Ethernet => "rds: carrier: raw Ethernet on veth0, ",
        }
    }
}

/// Two hosts, of which the first listens.
struct Hosts {
    testbed: Testbed,
    carrier: Carrier,
    listener: Listener,
}

impl Hosts {
    fn new(carrier: Carrier, is_v6: bool) -> Self {
        let testbed = Testbed::builder().ipv6().build().unwrap();
        let host = &testbed.hosts()[0];
        let ip = match is_v6 {
            true => IpAddr::V6(host.address_v6().unwrap()),
            false => IpAddr::V4(host.address()),
        };
        let address = std::net::SocketAddr::new(ip, 4_000);
        let line = format!("rds-stress --listen {address} {}", carrier.flags());
        let mut listen = command(line.split(' '));
        listen.stdout(Stdio::piped()).stderr(Stdio::null());
        let listener = Listener::of(host.spawn(listen, &[]).unwrap());
        Self { testbed, carrier, listener }
    }

    fn connecting_host(&self) -> &Host {
        &self.testbed.hosts()[1]
    }

    /// Starts the connecting side.
    fn connect(&self, args: &str) -> Process {
        let line = format!("rds-stress {} {} {args}", self.listener.address, self.carrier.flags());
        start(self.connecting_host(), command(line.split_whitespace()))
    }

    /// Waits until a session runs.
    fn wait_for_session(&mut self) {
        self.listener.wait_for_line("session with ");
        self.listener.wait_for_line("tsks ");
    }
}

/// Asserts that the last line of an error is one of a command that has not panicked.
fn assert_last_error(output: &Output, expected: &str) {
    assert_status(output, 1);
    let text = stderr(output);
    let last = text.lines().last().unwrap_or_default();
    assert!(last.starts_with("hairpin: ") && last.contains(expected), "{text}");
    assert_eq!(text.matches("hairpin: ").count(), 1, "{text}");
}

fn stress(carrier: Carrier, is_v6: bool) {
    let _turn = turn();
    let mut hosts = Hosts::new(carrier, is_v6);
    let before = kernel_datagrams(hosts.connecting_host());
    let tasks = if carrier == Carrier::Ethernet { 1 } else { 3 };
    let output = hosts.connect(&format!("-t {tasks} -d 8 -q 3000 -a 200 -v -T 1")).output();
    assert_done(&output);
    assert!(stderr(&output).contains(carrier.line()), "{}", stderr(&output));
    let printed = stdout(&output);
    let last = printed.lines().last().unwrap();
    assert!(last.ends_with(" requests, 0 without an acknowledgment"), "{printed}");
    if carrier != Carrier::Kernel {
        // The first packets may wait for the peer's MAC address.
        assert_bypassed(hosts.connecting_host(), before, 10);
    }
    hosts.wait_for_session();

    // Ctrl-C in the middle of messages of many packets.
    let interrupted = hosts.connect("-v -d 4 -q 100000");
    hosts.listener.skip_to_line("session with ");
    hosts.listener.wait_for_line("tsks ");
    interrupted.signal("INT");
    let output = interrupted.output();
    assert_status(&output, 130);
    let printed = stdout(&output);
    assert!(printed.contains("(average)") && printed.contains(", 0 without"), "{printed}");

    // Two at once: the second is refused by the other side, or by the interface that is taken.
    let first = hosts.connect("-v");
    hosts.listener.skip_to_line("session with ");
    hosts.listener.wait_for_line("tsks ");
    let second = hosts.connect("-T 1").output();
    let expected = if carrier == Carrier::Kernel { "busy with " } else { "veth0" };
    assert_last_error(&second, expected);

    // The death of the connecting side does not disturb the next session.
    first.signal("KILL");
    drop(first);
    assert_taken(&["busy with ", "veth0"], || hosts.connect("-v -T 1").output());

    // The death of the listening side is an error on the other.
    let last = hosts.connect("-v");
    hosts.listener.skip_to_line("session with ");
    hosts.listener.skip_to_line("session with ");
    hosts.listener.wait_for_line("tsks ");
    let Hosts { listener, .. } = hosts;
    let printed = listener.end();
    assert!(printed.ends_with("(average)\n"), "{printed}");
    assert_last_error(&last.output(), "");
}

#[test]
#[ignore = "needs root"]
fn stress_over_kernel_udp_and_ipv4() {
    stress(Carrier::Kernel, false);
}

#[test]
#[ignore = "needs root"]
fn stress_over_kernel_udp_and_ipv6() {
    stress(Carrier::Kernel, true);
}

#[test]
#[ignore = "needs root"]
fn stress_over_xdp_and_ipv4() {
    stress(Carrier::Xdp, false);
}

#[test]
#[ignore = "needs root"]
fn stress_over_xdp_and_ipv6() {
    stress(Carrier::Xdp, true);
}

#[test]
#[ignore = "needs root"]
fn stress_over_ethernet_with_ipv4_addresses() {
    stress(Carrier::Ethernet, false);
}

#[test]
#[ignore = "needs root"]
fn stress_over_ethernet_with_ipv6_addresses() {
    stress(Carrier::Ethernet, true);
}

#[test]
#[ignore = "needs root"]
fn ordinary_user_can_run_stress_over_kernel_udp_only() {
    let _turn = turn();
    // A program that runs cannot be overwritten by another copy.
    let folders = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let run = |folder: usize, line: &str| {
        let mut wanted = hairpin();
        wanted.args(line.split_whitespace());
        as_unprivileged(&wanted, folders[folder].path(), &[])
    };
    let mut listen = run(0, "rds-stress --listen 127.0.0.1:0");
    let listener =
        Listener::of(listen.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let connect = format!("rds-stress {} -t 2 -d 4 -v -T 1", listener.address);
    let output = run(1, &connect).output().unwrap();
    assert_done(&output);
    assert!(stdout(&output).contains(" requests, 0 without an acknowledgment"), "{output:?}");
    for flags in ["", "--ethernet "] {
        let line = format!("{connect} -t 1 {flags}--transport xdp --interface lo0");
        let output = run(1, &line.replace("-t 2 ", "")).output().unwrap();
        assert_status(&output, 1);
        let text = stderr(&output);
        let is_named = text.contains("missing CAP_NET_ADMIN") || text.contains("lo0");
        assert!(is_named && text.lines().count() == 1, "{text}");
    }
    assert!(listener.end().contains("(average)"));
}

#[test]
#[ignore = "needs root"]
fn ordinary_user_can_run_the_benchmark_over_kernel_udp() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let mut bench = command(["bench", "rds", "--quick", "--json"]);
    bench.arg(&results);
    let output = as_unprivileged(&bench, folder.path(), &[]).output().unwrap();
    assert_done(&output);
    let printed = stdout(&output);
    let rows = rows(&results);
    assert_eq!(rows.len(), 3 * 7 + 2);
    let is_left_out = |row: &&Value| row["transport"] == "xdp";
    let reason = rows.iter().find(is_left_out).unwrap()["failed"].as_str().unwrap();
    for row in &rows {
        match is_left_out(&row) {
            true => assert_eq!(row["failed"], reason, "{row}"),
            false => assert_eq!(row["failed"], Value::Null, "{row}"),
        }
    }
    // The hosts of an ordinary user are in a user namespace, or there is only loopback.
    let reason = reason.strip_prefix("xdp is not available: ").unwrap();
    let is_named = reason.contains("needs two hosts made by root") || reason.contains("CAP_");
    assert!(is_named, "{reason}");
    let line = format!("left out: xdp udp, xdp rds, xdp raw, xdp rds-ethernet: {reason}\n");
    assert!(printed.contains(&line), "{printed}");
}
