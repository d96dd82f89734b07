//! Programs with sockets bound to any address, on a host with two interfaces.

use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Stdio;

use hairpin_testbed::{Host, Testbed};

use crate::peer::with_peer;
use crate::support::{Running, alone, command, counter, eventually, installed, pause, testbed};

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
