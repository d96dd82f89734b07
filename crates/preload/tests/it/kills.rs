//! SIGKILL at random moments: the interface is free and the kernel answers at once.

use std::net::{SocketAddr, UdpSocket};
use std::process::Stdio;
use std::time::Duration;

use hairpin_testbed::scaled;

use crate::support::{Running, TIMEOUT, alone, command, eventually, installed, testbed};

/// Echoes datagrams, after a child was forked that lives on.
const ECHO: &str = "
import os, socket, sys, time
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
sock.bind((sys.argv[1], 4000))
if sys.argv[2] == 'fork' and os.fork() == 0:
    sock.close()
    time.sleep(3)
    os._exit(0)
while True:
    data, address = sock.recvfrom(100)
    sock.sendto(data, address)
";

#[test]
#[ignore = "needs root"]
fn killed_program_leaves_nothing_behind() {
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, other] = testbed.hosts();
    let address = SocketAddr::from((host.address(), 4_000));
    let client = other.run(|| UdpSocket::bind((other.address(), 0))).unwrap().unwrap();
    client.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    let mut answered = 0;
    for kill in 0..scaled(20) {
        let forks = kill % 2 == 1;
        let mut echo = command("/usr/bin/python3", true);
        echo.args(["-S", "-E", "-c", ECHO, &host.address().to_string()]);
        echo.arg(if forks { "fork" } else { "alone" }).env("HAIRPIN_LOG", "off");
        echo.stderr(Stdio::null());
        let mut program = Running(host.spawn(echo, &[]).unwrap());
        // A different moment of its life each time: start, opening, traffic.
        let datagrams = 7 * kill % 150;
        let mut buffer = [0; 100];
        let mut exchange = || {
            client.send_to(b"before", address).unwrap();
            let is_answered = client.recv_from(&mut buffer).is_ok();
            answered += u64::from(is_answered);
            is_answered
        };
        if kill % 3 == 0 {
            // However long the start takes: some kills come after traffic.
            (0..4).for_each(|_| assert!(eventually(&mut exchange), "no answer"));
        }
        for _ in 0..datagrams {
            exchange();
        }
        program.0.kill().unwrap();
        program.0.wait().unwrap();
        // The kernel has the port and its traffic, once a child has closed its own copy.
        let bind = || host.run(|| UdpSocket::bind(address)).unwrap();
        let mut server = None;
        assert!(eventually(|| {
            server = bind().ok();
            server.is_some()
        }));
        let server = server.unwrap();
        server.set_read_timeout(Some(TIMEOUT)).unwrap();
        while client.recv_from(&mut buffer).is_ok() {}
        client.send_to(b"after", address).unwrap();
        loop {
            let (length, _) = server.recv_from(&mut buffer).unwrap();
            if &buffer[..length] == b"after" {
                break;
            }
        }
    }
    assert!(answered > 20, "no kill came after traffic: {answered} answers");
    println!("{} kills, {answered} answers", scaled(20));
}
