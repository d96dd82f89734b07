//! Runs ping and pong between two hosts whose interfaces are macvlans or bridges: as many
//! messages arrive as over the kernel, and bypass it.

use crate::support::{assert_status, rows, turn};
use crate::xdp::{
    assert_bypassed, assert_rows, command, kernel_datagrams, ping_until_answered, start,
};
use hairpin_testbed::{Macvlan, Testbed, Wire};

const PEER: &str = "10.77.0.1:9200";
const SAMPLES: u64 = 50;
/// The datagrams of the kernel while the next hop is resolved, of a ping that is repeated.
const MOST: u64 = 40;

/// Pings over every wire.
fn ping_over_every_wire(transport: &str, protocol: &str) {
    let macvlans = [Macvlan::Bridge, Macvlan::Passthru, Macvlan::Private].map(Wire::Macvlan);
    let others = [Wire::Veth, Wire::Bridge, Wire::BridgeDevice];
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("ping.json");
    for wire in macvlans.into_iter().chain(others) {
        let testbed = Testbed::builder().wire(wire).build().unwrap();
        let [far, near] = testbed.hosts();
        let strict = if transport == "xdp" { &["--strict"][..] } else { &[] };
        let path = ["--protocol", protocol, "--transport", transport];
        let path = path.into_iter().chain(strict.iter().copied());
        let pong =
            ["pong", "--listen", PEER, "--interface", "veth0"].into_iter().chain(path.clone());
        let mut pong = start(far, command(pong));
        let samples = SAMPLES.to_string();
        let ping = ["ping", PEER, "--interface", "veth0", "--wait", "epoll", "--rounds", "1"];
        let results = ["--samples", &samples, "--json", json.to_str().unwrap()];
        let before = kernel_datagrams(far);
        let all = ping.into_iter().chain(results).chain(path);
        let output = ping_until_answered(near, &mut pong, all);
        assert_status(&output, 0);
        assert_rows(&rows(&json), transport, SAMPLES);
        assert_bypassed(far, before, MOST);
        pong.signal("INT");
        assert_status(&pong.output(), 130);
        println!("{wire:?} {protocol} {transport}: {SAMPLES} of {SAMPLES}");
    }
}

#[test]
#[ignore = "needs root"]
fn xdp_pings_bypass_the_kernel_over_every_wire() {
    let _turn = turn();
    for protocol in ["udp", "tcp"] {
        ping_over_every_wire("xdp", protocol);
    }
}

#[test]
#[ignore = "needs root"]
fn preload_pings_bypass_the_kernel_over_every_wire() {
    let _turn = turn();
    for protocol in ["udp", "tcp"] {
        ping_over_every_wire("preload", protocol);
    }
}
