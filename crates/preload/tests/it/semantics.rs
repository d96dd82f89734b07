//! A program sees the same with and without acceleration.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hairpin_testbed::Host;

use crate::support::{command, installed, output, testbed};

/// Answers `N:text` with N numbered datagrams, until `stop` is set.
fn serve(socket: &UdpSocket, stop: &AtomicBool) {
    let mut buffer = [0; 65_536];
    while !stop.load(Ordering::Relaxed) {
        let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
        let [count @ b'0'..=b'9', rest @ ..] = &buffer[..length] else { continue };
        for number in 0..count - b'0' {
            let answer = [&[b'0' + number], rest].concat();
            socket.send_to(&answer, from).unwrap();
        }
    }
}

fn run(
    host: &Host,
    peer: SocketAddr,
    local: IpAddr,
    accelerated: bool,
) -> Result<(String, String), String> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/semantics.py");
    let mut python = command("/usr/bin/python3", accelerated);
    // Waits sleep in the kernel; the sockperf test's busy-poll.
    python.env("HAIRPIN_PROFILE", "safe");
    python.arg("-u").arg(program);
    python.args([peer.ip().to_string(), peer.port().to_string(), local.to_string()]);
    let output = output(host, python);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    if output.status.success() {
        return Ok((out, error));
    }
    Err(format!("accelerated: {accelerated}, {}\n{out}\n{error}", output.status))
}

#[test]
#[ignore = "needs root"]
fn program_sees_the_same_as_with_the_kernel() {
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, other] = testbed.hosts();
    let pairs: [(IpAddr, IpAddr); 2] = [
        (host.address().into(), other.address().into()),
        (host.address_v6().unwrap().into(), other.address_v6().unwrap().into()),
    ];
    for (local, peer) in pairs {
        let socket = other.run(|| UdpSocket::bind((peer, 0))).unwrap().unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let address = socket.local_addr().unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| serve(&socket, &stop));
            let results = [false, true].map(|it| run(host, address, local, it));
            stop.store(true, Ordering::Relaxed);
            let [kernel, accelerated] =
                results.map(|it| it.unwrap_or_else(|error| panic!("{error}")));
            let (kernel, (accelerated, log)) = (kernel.0, accelerated);
            let differences: Vec<_> = kernel
                .lines()
                .zip(accelerated.lines())
                .filter(|(kernel, accelerated)| kernel != accelerated)
                .collect();
            assert!(differences.is_empty(), "{differences:#?}\n{log}");
            assert_eq!(kernel, accelerated);
            assert!(log.matches("is accelerated").count() > 300, "{log}");
        });
    }
}
