//! A program sees the same with and without acceleration.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;

use hairpin_testbed::Host;

use crate::peer::with_peer;
use crate::support::{alone, command, echo, installed, output, testbed};

/// Returns the command of a Python program of this folder.
pub(crate) fn program(name: &str, peer: SocketAddr, local: IpAddr, accelerated: bool) -> Command {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
    let mut python = command("/usr/bin/python3", accelerated);
    // Waits sleep in the kernel; the sockperf test's busy-poll.
    python.env("HAIRPIN_PROFILE", "safe");
    python.arg("-u").arg(path);
    python.args([peer.ip().to_string(), peer.port().to_string(), local.to_string()]);
    python
}

fn run(
    host: &Host,
    peer: SocketAddr,
    local: IpAddr,
    accelerated: bool,
) -> Result<(String, String), String> {
    let mut python = program("semantics.py", peer, local, accelerated);
    // With one family the sockets that request timestamps return to the kernel.
    python.env("HAIRPIN_TIMESTAMPS", if local.is_ipv4() { "1" } else { "0" });
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
    let _alone = alone();
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
        with_peer(other, peer, |address| {
            let results = [false, true].map(|it| run(host, address, local, it));
            let [(kernel, _), (accelerated, log)] =
                results.map(|it| it.unwrap_or_else(|error| panic!("{error}")));
            let differences: Vec<_> = kernel
                .lines()
                .zip(accelerated.lines())
                .filter(|(kernel, accelerated)| kernel != accelerated)
                .collect();
            assert!(differences.is_empty(), "{differences:#?}\n{log}");
            assert_eq!(kernel, accelerated);
            assert!(log.matches("is accelerated").count() > 300, "{log}");
            let returned = log.contains("SO_TIMESTAMPING without --timestamps");
            assert_eq!(returned, local.is_ipv6(), "{log}");
        });
    }
}

/// Runs a script with and without acceleration. Its arguments are the address of its host, and the
/// address and ports of echo servers. The UDP server ends after `quit`. Returns output and log.
fn outputs(script: &str) -> [(String, String); 2] {
    let testbed = testbed(1);
    let [host, other] = testbed.hosts();
    let stream_port = echo(other).to_string();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(script);
    [false, true].map(|accelerated| {
        let peer = other.run(|| UdpSocket::bind((other.address(), 0))).unwrap().unwrap();
        let address = peer.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let mut bytes = [0; 100];
            while let Ok((length, from)) = peer.recv_from(&mut bytes) {
                peer.send_to(&bytes[..length], from).unwrap();
                if &bytes[..length] == b"quit" {
                    break;
                }
            }
        });
        let mut python = command("/usr/bin/python3", accelerated);
        python.arg("-u").arg(&script).arg(host.address().to_string());
        python.args([&address.ip().to_string(), &stream_port, &address.port().to_string()]);
        python.env("HAIRPIN_STRICT", "0");
        let output = output(host, python);
        let quit = other.run(|| UdpSocket::bind((other.address(), 0))).unwrap().unwrap();
        // The script may have ended the server.
        let _ = quit.send_to(b"quit", address);
        let [out, error] =
            [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        assert!(output.status.success(), "{accelerated}: {}\n{out}\n{error}", output.status);
        assert_eq!(accelerated, error.contains("is accelerated"), "{error}");
        server.join().unwrap();
        (out, error)
    })
}

/// A call that the kernel refuses keeps the socket's datagrams, and no error is lost.
#[test]
#[ignore = "needs root"]
fn refused_calls_keep_datagrams() {
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let [(expected, _), (accelerated, _)] = outputs("udp_calls.py");
    assert_eq!(expected.lines().filter(|line| line.contains(" -1 E")).count(), 10, "{expected}");
    assert!(expected.contains("waits True True EAGAIN"), "{expected}");
    assert_eq!(accelerated, expected);
}

/// A call with a wrong pointer has the kernel's result, and leaves in the socket what the kernel
/// leaves there.
#[test]
#[ignore = "needs root"]
fn wrong_pointers_have_the_results_of_the_kernel() {
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let [(expected, _), (accelerated, log)] = outputs("wrong_pointers.py");
    assert!(expected.lines().filter(|line| line.contains(" -1 EFAULT")).count() > 200);
    let pairs = expected.lines().zip(accelerated.lines());
    let differences: Vec<_> = pairs.filter(|(kernel, found)| kernel != found).collect();
    assert!(differences.is_empty(), "{differences:#?}");
    assert_eq!(accelerated, expected);
    assert!(log.matches("is taken over").count() > 150, "{log}");
}
