//! Programs with sockets bound to any address, on a host with two interfaces.

use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Stdio;

use hairpin_testbed::{Host, Testbed};

use crate::peer::with_peer;
use crate::support::{
    Running, alone, command, counter, echo, eventually, installed, output, pause, testbed,
};

/// The addresses of the hosts on the second interface.
const SECOND: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 98, 0, 1), Ipv4Addr::new(10, 98, 0, 2)];

/// Joins the hosts by a second veth.
fn add_interface(testbed: &Testbed) {
    let [host, other] = testbed.hosts();
    host.rtnetlink().unwrap().add_wire("veth1", other).unwrap();
    for (host, address) in testbed.hosts().iter().zip(SECOND) {
        let mut rtnetlink = host.rtnetlink().unwrap();
        let index = rtnetlink.link("veth1").unwrap().index;
        rtnetlink.add_address(index, address.into(), 24).unwrap();
        rtnetlink.set_up(index).unwrap();
    }
    for host in testbed.hosts() {
        let mut rtnetlink = host.rtnetlink().unwrap();
        while !rtnetlink.link("veth1").unwrap().up {
            pause(1);
        }
    }
}

/// Runs the program. Returns its output and log; checks the counters if it is accelerated.
fn run(host: &Host, peers: [SocketAddr; 2], accelerated: bool) -> (String, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/interfaces.py");
    let mut python = command("/usr/bin/python3", accelerated);
    python.env("HAIRPIN_INTERFACES", "veth0,veth1").env("HAIRPIN_PROFILE", "safe");
    python.arg("-u").arg(path);
    for peer in peers {
        python.args([peer.ip().to_string(), peer.port().to_string()]);
    }
    python.args([host.address().to_string(), SECOND[0].to_string()]);
    python.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = Running(host.spawn(python, &[]).unwrap());
    let mut out = String::new();
    let mut lines = BufReader::new(program.0.stdout.take().unwrap());
    while lines.read_line(&mut out).unwrap() > 0 && !out.ends_with("done\n") {}
    if accelerated && out.ends_with("done\n") {
        for direction in ["sent", "received"] {
            let paths = ["bypass", "kernel"].map(|path| format!("udp.{direction}_{path}"));
            let mut found = [0; 2];
            let is_bypass = || {
                found = paths.each_ref().map(|name| counter(program.0.id(), name));
                found[0] > 800 && found[0] >= 20 * found[1]
            };
            assert!(eventually(is_bypass), "{direction} by bypass and by the kernel: {found:?}");
        }
    }
    drop(program.0.stdin.take());
    let mut log = String::new();
    program.0.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(out.ends_with("done\n"), "accelerated: {accelerated}: {out}{log}");
    (out, log)
}

#[test]
#[ignore = "needs root"]
fn any_address_is_accelerated_on_every_interface() {
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    add_interface(&testbed);
    let [host, other] = testbed.hosts();
    let addresses: [IpAddr; 2] = [other.address().into(), SECOND[1].into()];
    with_peer(other, addresses[0], |first| {
        with_peer(other, addresses[1], |second| {
            let peers = [first, second];
            let (kernel, _) = run(host, peers, false);
            let (accelerated, log) = run(host, peers, true);
            assert_eq!(kernel, accelerated, "{log}");
            assert!(log.contains("veth0:") && log.contains("veth1:"), "{log}");
        });
    });
}

#[test]
#[ignore = "needs root"]
fn only_sockets_that_a_rule_names_are_accelerated() {
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, other] = testbed.hosts();
    let ports = [echo(other), echo(other)];
    let address = other.address();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/chosen.py");
    for (rules, expected) in [
        (None, ["1"; 4]),
        (Some(format!("tcp:{},udp:{address}:{}", ports[0], ports[1])), ["1", "0", "0", "1"]),
        (Some("udp:10.255.0.0/16:*,tcp:*".to_owned()), ["1", "1", "0", "0"]),
        (Some("udp:1-9".to_owned()), ["0"; 4]),
    ] {
        let mut python = command("/usr/bin/python3", true);
        python.arg(&path).arg(address.to_string()).args(ports.map(|port| port.to_string()));
        if let Some(rules) = &rules {
            python.env("HAIRPIN_ACCELERATE", rules);
        }
        let output = output(host, python);
        let (out, log) =
            [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap()).into();
        let kinds = ["SOCK_STREAM 0", "SOCK_STREAM 1", "SOCK_DGRAM 0", "SOCK_DGRAM 1"];
        let lines = kinds.iter().zip(expected).map(|(kind, is)| format!("{kind} 0 {is}\n"));
        assert_eq!(out, lines.collect::<String>() + "no socket 0 0 0\n", "{rules:?}: {log}");
        // Without a socket to accelerate, the interface is not opened.
        assert_eq!(log.contains("veth0: "), expected.contains(&"1"), "{rules:?}: {log}");
    }
}
