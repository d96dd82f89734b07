//! Progress without the owner, and options that are changed meanwhile.

use std::io::{ErrorKind, Write};
use std::time::{Duration, Instant};

use hairpin_stack::TcpSocket;
use socket2::SockRef;

use super::{byte, bytes, connect, each_configuration, echo, ping_pong, pull_from, take_over};
use crate::support::{TIMEOUT, eventually, stack};

/// Returns the number of bytes that the peer has not acknowledged (`SIOCOUTQ`).
fn unacknowledged(stream: &std::net::TcpStream) -> i32 {
    use std::os::fd::AsRawFd;
    let mut count = 0_i32;
    // SAFETY: the kernel writes an integer to a local variable.
    let result = unsafe { libc::ioctl(stream.as_raw_fd(), libc::TIOCOUTQ, &raw mut count) };
    assert_eq!(result, 0);
    count
}

#[test]
#[ignore = "needs root"]
fn sleeping_owner_acknowledges_64_kib_and_is_handed_back() {
    const LENGTH: usize = 65_536;
    each_configuration(|testbed, mode| {
        let [client, _] = testbed.hosts();
        let stack = stack(client, mode);
        for family in 0..2 {
            let [near, mut far] = connect(testbed, family);
            let mut socket = stack.adopt_tcp(near).unwrap();
            take_over(client, &mut socket);
            let before = stack.tcp_counters().abandoned;
            let start = Instant::now();
            far.write_all(&bytes(0, LENGTH)).unwrap();
            while unacknowledged(&far) > 0 {
                assert!(start.elapsed() < TIMEOUT);
                std::thread::sleep(Duration::from_micros(200));
            }
            let elapsed = start.elapsed();
            // The handback follows 100 ms after the last poll.
            let was_bypassing = stack.tcp_counters().abandoned == before;
            println!("{mode:?}, family {family}: acknowledged after {elapsed:?}");
            assert!(was_bypassing, "acknowledged after the handback");
            std::thread::sleep(Duration::from_secs(5));
            assert!(!socket.is_bypassing());
            assert_eq!(socket.last_handback().unwrap(), "not polled for 100 ms");
            let mut position = 0;
            assert!(eventually(|| {
                pull_from(&mut socket, &mut position);
                position == LENGTH as u64
            }));
            // The owner is back: the next quiet moment takes the connection over again.
            far.write_all(&[byte(position)]).unwrap();
            assert!(eventually(|| {
                pull_from(&mut socket, &mut position);
                socket.is_bypassing() || {
                    far.write_all(&[byte(position)]).unwrap();
                    false
                }
            }));
        }
    });
}

#[test]
#[ignore = "needs root"]
fn keep_alive_is_off_while_taken_over_and_restored() {
    each_configuration(|testbed, mode| {
        let [client, _] = testbed.hosts();
        let stack = stack(client, mode);
        let [near, far] = connect(testbed, 0);
        let far = echo(far);
        SockRef::from(&near).set_keepalive(true).unwrap();
        let mut socket = stack.adopt_tcp(near).unwrap();
        let keepalive =
            |socket: &TcpSocket| SockRef::from(socket.kernel_socket()).keepalive().unwrap();
        for _ in 0..3 {
            take_over(client, &mut socket);
            assert!(!keepalive(&socket));
            ping_pong(&mut socket, &mut 0, 1, 64);
            socket.hand_back().unwrap();
            assert!(keepalive(&socket));
            let received = socket.receive(|_| ());
            assert_eq!(received.unwrap_err().kind(), ErrorKind::WouldBlock);
        }
        drop(socket);
        far.join().unwrap();
    });
}
