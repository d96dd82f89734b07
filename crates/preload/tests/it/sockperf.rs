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

/// Runs one second of ping-pong over three sockets. Returns the client's output.
fn ping_pong(testbed: &Testbed, wait: &[&str], accelerated: [bool; 2]) {
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
    client.args(["-m", "14", "--mps=3000000", "-t", "1"]);
    let client = output(client_host, client);
    let text = String::from_utf8_lossy(&client.stdout);
    let what =
        format!("{wait:?} {accelerated:?}: {text}{}", String::from_utf8_lossy(&client.stderr));
    assert!(client.status.success() && is_clean(&text), "{what}");
    if accelerated[0] {
        // The page is written at most a second later.
        pause(1_200);
        let value = |name| counter(server.0.id(), name);
        let [bypass, kernel] = [value("udp.received_bypass"), value("udp.received_kernel")];
        assert!(bypass > 10 && bypass >= 99 * kernel, "{bypass} of {kernel}: {what}");
        let [bypass, kernel] = [value("udp.sent_bypass"), value("udp.sent_kernel")];
        assert!(bypass > 10 && bypass >= 99 * kernel, "{bypass} of {kernel}: {what}");
    }
    interrupt(&server.0).unwrap();
    std::fs::remove_file(path).unwrap();
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
