//! Epoll instances with several descriptors, and threads that sleep on them while members change.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Output;

use hairpin_testbed::Host;

use crate::support::{alone, command, echo, installed, output, testbed};

fn run(host: &Host, peer: Ipv4Addr, port: u16, accelerated: bool) -> Output {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/epoll_instances.py");
    let mut python = command("/usr/bin/python3", accelerated);
    python.arg(path).arg(host.address().to_string());
    python.args([peer.to_string(), port.to_string()]);
    output(host, python)
}

#[test]
#[ignore = "needs root"]
fn events_are_those_of_the_kernel() {
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, other] = testbed.hosts();
    let port = echo(other);
    let [kernel, accelerated] =
        [false, true].map(|accelerated| run(host, other.address(), port, accelerated));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let log = text(&accelerated.stderr);
    assert_eq!(text(&kernel.stderr), "");
    assert_eq!(text(&accelerated.stdout), text(&kernel.stdout), "{log}");
    assert_eq!((kernel.status.code(), accelerated.status.code()), (Some(0), Some(0)), "{log}");
    // Each of the connections and datagram sockets was accelerated.
    assert!(log.matches("is taken over").count() >= 13, "{log}");
    assert!(log.matches("is accelerated").count() >= 4, "{log}");
    assert!(text(&kernel.stdout).contains("dup, added by the copy: 80 events\n"));
}
