//! sockperf between two hosts: client, server or both accelerated.

use std::io::Write;
use std::net::Ipv4Addr;
use std::process::Stdio;

use hairpin_testbed::{Host, Testbed};

use crate::support::{
    Running, alone, command, counter, counters, installed, interrupt, output, settled, testbed,
    wait_for_port,
};

/// The counts that sockperf's client prints.
fn is_clean(output: &str) -> bool {
    output.contains("dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0")
}

/// The exchanges that a run must have at least.
const ENOUGH: u64 = 100;
/// The exchanges before the first one that bypasses the kernel, at most. In a run of more than a
/// hundred times as many, the kernel may have a hundredth.
const FIRST: u64 = 10;

/// A group of the range for private use (RFC 2365).
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 192, 7, 1);

/// Returns the options that select the interface of a group, which sockperf joins before it binds
/// its socket.
fn interfaces(host: &Host, to: Ipv4Addr) -> Vec<String> {
    let names = ["--mc-rx-if", "--mc-tx-if"].into_iter().filter(|_| to.is_multicast());
    names.flat_map(|name| [name.to_owned(), host.address().to_string()]).collect()
}

/// Runs ping-pong over three sockets: for a second, or longer if the machine is busy.
fn ping_pong(testbed: &Testbed, to: Ipv4Addr, wait: &[&str], accelerated: [bool; 2]) {
    let is_enough = |seconds| ping_pong_for(testbed, to, seconds, wait, accelerated) > ENOUGH;
    assert!(["1", "5", "20", "60"].into_iter().any(is_enough), "too few exchanges: {wait:?}");
}

/// Runs ping-pong and checks it. Returns the number of exchanges by the server's counters, if it is
/// accelerated.
fn ping_pong_for(
    testbed: &Testbed,
    to: Ipv4Addr,
    seconds: &str,
    wait: &[&str],
    accelerated: [bool; 2],
) -> u64 {
    let [server_host, client_host] = testbed.hosts();
    let path = std::env::temp_dir().join(format!("hairpin-feed-{}", std::process::id()));
    let mut feed = std::fs::File::create(&path).unwrap();
    for port in 11_111..11_114 {
        writeln!(feed, "U:{to}:{port}").unwrap();
    }
    let feed = ["-f", path.to_str().unwrap()];
    let mut server = command("sockperf", accelerated[0]);
    server.arg("server").args(feed).args(wait).args(interfaces(server_host, to));
    server.stdout(Stdio::null()).stderr(Stdio::null());
    let server = Running(server_host.spawn(server, &[]).unwrap());
    (11_111..11_114).for_each(|port| wait_for_port(server_host, port));
    let mut client = command("sockperf", accelerated[1]);
    client.arg("ping-pong").args(feed).args(wait).args(interfaces(client_host, to));
    client.args(["-m", "14", "--mps=3000000", "-t", seconds]);
    let client = output(client_host, client);
    let text = String::from_utf8_lossy(&client.stdout);
    let what =
        format!("{wait:?} {accelerated:?}: {text}{}", String::from_utf8_lossy(&client.stderr));
    if text.contains("No valid observations") {
        // The machine was busy after the warm-up. The last message may be unanswered.
        let [sent, received] = ["SentMessages=", "ReceivedMessages="].map(|name| {
            let number = text.split(name).nth(1).and_then(|it| it.split([';', '\n']).next());
            number.and_then(|it| it.trim().parse::<u64>().ok()).unwrap_or_else(|| panic!("{what}"))
        });
        assert!(sent <= received + 1, "{what}\nserver: {}", counters(server.0.id()));
        return 0;
    }
    if text.contains("No messages were received") && is_starved(server.0.id(), seconds) {
        return 0;
    }
    let is_answered = client.status.success() && is_clean(&text);
    // Tell where a message was lost.
    assert!(is_answered, "{what}\nserver: {}", counters(server.0.id()));
    let mut exchanges = u64::MAX;
    if accelerated[0] {
        let value = |name: String| counter(server.0.id(), &name);
        let both = settled(|| {
            ["received", "sent"].map(|direction| {
                ["bypass", "kernel"].map(|path| value(format!("udp.{direction}_{path}")))
            })
        });
        exchanges = both[0][0].min(both[1][0]);
        let is_bypass =
            both.iter().all(|[bypass, kernel]| *kernel <= FIRST || *bypass >= 99 * kernel);
        assert!(exchanges <= ENOUGH || is_bypass, "{both:?}: {what}");
    }
    interrupt(&server.0).unwrap();
    std::fs::remove_file(path).unwrap();
    exchanges
}

/// Returns `true` if the threads of a process have waited for a core during a fifth of a run: the
/// second field of their `schedstat`, in ns. An answer may then come after the end of the run.
fn is_starved(process: u32, seconds: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let waited: u64 = threads
        .map(|thread| std::fs::read_to_string(thread.unwrap().path().join("schedstat")).unwrap())
        .map(|text| text.split(' ').nth(1).unwrap().parse::<u64>().unwrap())
        .sum();
    waited * 5 > seconds.parse::<u64>().unwrap() * 1_000_000_000
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
        let server = testbed.hosts()[0].address();
        for wait in ["recvfrom", "select", "poll", "epoll"] {
            for accelerated in [[true, false], [false, true], [true, true]] {
                if queues == 1 || accelerated == [true, true] {
                    ping_pong(&testbed, server, &["-F", wait], accelerated);
                }
            }
        }
        ping_pong(&testbed, server, &["-F", "recvfrom", "--nonblocked"], [true, true]);
        ping_pong(&testbed, GROUP, &["-F", "epoll"], [true, true]);
    }
}
