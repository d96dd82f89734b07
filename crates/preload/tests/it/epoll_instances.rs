//! Epoll instances with several descriptors, and threads that sleep on them while members change.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::path::Path;
use std::process::Output;

use hairpin_testbed::Host;

use crate::support::{alone, command, installed, output, testbed};

/// Answers each message over TCP and UDP with its copy, until the test ends.
fn echo(host: &Host) -> u16 {
    let address = host.address();
    let (listener, datagrams) = host
        .run(|| {
            let listener = TcpListener::bind((address, 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            (listener, UdpSocket::bind((address, port)).unwrap())
        })
        .unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut bytes = [0; 2_048];
        while let Ok((length, from)) = datagrams.recv_from(&mut bytes) {
            let _ = datagrams.send_to(&bytes[..length], from);
        }
    });
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            std::thread::spawn(move || {
                let mut bytes = [0; 2_048];
                while let Ok(length @ 1..) = stream.read(&mut bytes) {
                    if stream.write_all(&bytes[..length]).is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}

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
