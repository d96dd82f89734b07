//! SIGKILL at random moments: the interface is free and the kernel answers at once.

use std::net::{SocketAddr, UdpSocket};
use std::process::Stdio;
use std::time::Duration;

use hairpin_testbed::scaled;

use crate::support::{Running, alone, command, installed, pause, testbed};

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
        for _ in 0..datagrams {
            client.send_to(b"before", address).unwrap();
            answered += u64::from(client.recv_from(&mut buffer).is_ok());
        }
        program.0.kill().unwrap();
        program.0.wait().unwrap();
        // The kernel has the port and its traffic, once a child has closed its own copy.
        let bind = || host.run(|| UdpSocket::bind(address)).unwrap();
        let server = (0..1_000).find_map(|_| bind().inspect_err(|_| pause(5)).ok()).unwrap();
        server.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
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
