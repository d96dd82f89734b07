//! sockperf between two hosts: client, server or both accelerated.

use std::io::Write;
use std::process::Stdio;

use hairpin_testbed::Testbed;

use crate::support::{
    Running, alone, command, counter, installed, interrupt, output, pause, testbed,
};

/// The counts that sockperf's client prints.
fn is_clean(output: &str) -> bool {
    output.contains("dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0")
}

/// The exchanges that a run must have at least.
const ENOUGH: u64 = 100;

/// Runs ping-pong over three sockets: for a second, or longer if the machine is busy.
fn ping_pong(testbed: &Testbed, wait: &[&str], accelerated: [bool; 2]) {
    let is_enough = |seconds| ping_pong_for(testbed, seconds, wait, accelerated) > ENOUGH;
    assert!(["1", "5", "20"].into_iter().any(is_enough), "too few exchanges: {wait:?}");
}

/// Runs ping-pong and checks it. Returns the number of exchanges by the server's counters, if it is
/// accelerated.
fn ping_pong_for(testbed: &Testbed, seconds: &str, wait: &[&str], accelerated: [bool; 2]) -> u64 {
    let [server_host, client_host] = testbed.hosts();
    let path = std::env::temp_dir().join(format!("hairpin-feed-{}", std::process::id()));
    let mut feed = std::fs::File::create(&path).unwrap();
    for port in 11_111..11_114 {
        writeln!(feed, "U:{}:{port}", server_host.address()).unwrap();
    }
    let feed = ["-f", path.to_str().unwrap()];
    let mut server = command("sockperf", accelerated[0]);
    server.arg("server").args(feed).args(wait).stdout(Stdio::null()).stderr(Stdio::null());
    let server = Running(server_host.spawn(server, &[]).unwrap());
    pause(500);
    let mut client = command("sockperf", accelerated[1]);
    client.arg("ping-pong").args(feed).args(wait);
    client.args(["-m", "14", "--mps=3000000", "-t", seconds]);
    let client = output(client_host, client);
    let text = String::from_utf8_lossy(&client.stdout);
    let what =
        format!("{wait:?} {accelerated:?}: {text}{}", String::from_utf8_lossy(&client.stderr));
    assert!(client.status.success() && is_clean(&text), "{what}");
    let mut exchanges = u64::MAX;
    if accelerated[0] {
        // The page is written at most a second later.
        pause(1_200);
        let value = |name| counter(server.0.id(), name);
        let [bypass, kernel] = [value("udp.received_bypass"), value("udp.received_kernel")];
        assert!(bypass >= 99 * kernel, "{bypass} of {kernel}: {what}");
        exchanges = exchanges.min(bypass);
        let [bypass, kernel] = [value("udp.sent_bypass"), value("udp.sent_kernel")];
        assert!(bypass >= 99 * kernel, "{bypass} of {kernel}: {what}");
        exchanges = exchanges.min(bypass);
    }
    interrupt(&server.0).unwrap();
    std::fs::remove_file(path).unwrap();
    exchanges
}

#[test]
#[ignore = "needs root"]
fn sockperf_bypasses_the_kernel_with_every_wait() {
    let _alone = alone();
    if installed("sockperf").is_none() {
        return;
    }
    for queues in [1, 2] {
        let testbed = testbed(queues);
        for wait in ["recvfrom", "select", "poll", "epoll"] {
            for accelerated in [[true, false], [false, true], [true, true]] {
                if queues == 1 || accelerated == [true, true] {
                    ping_pong(&testbed, &["-F", wait], accelerated);
                }
            }
        }
        ping_pong(&testbed, &["-F", "recvfrom", "--nonblocked"], [true, true]);
    }
}
