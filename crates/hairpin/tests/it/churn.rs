//! A program that forks, executes, duplicates, passes on, splices and half-closes its connections
//! from 64 threads under load.

use std::path::Path;
use std::process::Stdio;

use hairpin_testbed::{Testbed, scaled};

use crate::support::{hairpin, listening_program, turn};

const PORT: &str = "7801";

#[test]
#[ignore = "needs root"]
fn streams_survive_forks_execs_and_passed_descriptors_from_64_threads() {
    let _turn = turn();
    let testbed = Testbed::namespaces().unwrap();
    let [host, other] = testbed.hosts();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/churn.py");
    let address = other.address().to_string();
    let mut server = listening_program(other, &script, &["server", &address, PORT]);
    // A scale of 40 opens 10,240 connections.
    let connections = (scaled(256) as u32).min(10_240).to_string();
    let rounds = scaled(6).min(60).to_string();
    // Ports in TIME-WAIT are not reused, except on loopback.
    let widen = || std::fs::write("/proc/sys/net/ipv4/ip_local_port_range", "1024 65535");
    host.run(widen).unwrap().unwrap();
    let mut client = hairpin();
    client.args(["run", "--profile", "safe", "--interface", host.interface(), "--"]);
    client.arg("/usr/bin/python3").arg(&script).args(["client", &address, PORT, "64"]);
    client.args([connections, rounds]).env("HAIRPIN_LOG", "all");
    client.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = host.spawn(client, &[]).unwrap().wait_with_output().unwrap();
    let _ = server.kill();
    let _ = server.wait();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, log) = (text(&output.stdout), text(&output.stderr));
    let last: Vec<_> = log.lines().rev().take(40).collect();
    assert!(output.status.success() && out.ends_with("done\n"), "{out}\n{}", last.join("\n"));
    let taken_over = log.matches("is taken over").count();
    println!("{out}{taken_over} takeovers");
    assert!(taken_over > 100, "{taken_over} takeovers\n{}", last.join("\n"));
}
