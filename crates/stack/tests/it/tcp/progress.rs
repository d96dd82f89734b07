//! Progress without the owner, and options that are changed meanwhile.

use std::io::{ErrorKind, Write};
use std::net::TcpStream;

use hairpin_stack::{Stack, StackSettings, TcpSocket};
use hairpin_testbed::Testbed;
use socket2::SockRef;

use super::{byte, bytes, connect, each_configuration, echo, ping_pong, pull_from, take_over};
use crate::support::{eventually, open, settings, stack};

/// Returns the number of bytes that the peer has not acknowledged (`SIOCOUTQ`).
fn unacknowledged(stream: &TcpStream) -> i32 {
    use std::os::fd::AsRawFd;
    let mut count = 0_i32;
    // SAFETY: the kernel writes an integer to a local variable.
    let result = unsafe { libc::ioctl(stream.as_raw_fd(), libc::TIOCOUTQ, &raw mut count) };
    assert_eq!(result, 0);
    count
}

/// The bytes that a peer sends to a sleeping owner.
const LENGTH: usize = 65_536;

/// Takes a connection over and lets the peer send. Returns after the last acknowledgment.
fn send_to_sleeping_owner(
    testbed: &Testbed,
    stack: &Stack,
    family: usize,
) -> (TcpSocket, TcpStream) {
    let [near, mut far] = connect(testbed, family);
    let mut socket = stack.adopt_tcp(near).unwrap();
    take_over(&testbed.hosts()[0], &mut socket);
    far.write_all(&bytes(0, LENGTH)).unwrap();
    assert!(eventually(|| unacknowledged(&far) == 0), "not acknowledged");
    (socket, far)
}

#[test]
#[ignore = "needs root"]
fn sleeping_owner_acknowledges_64_kib() {
    each_configuration(|testbed, mode| {
        // Without a handback, in which the kernel would acknowledge.
        let stack = stack(&testbed.hosts()[0], mode);
        for family in 0..2 {
            let (mut socket, _far) = send_to_sleeping_owner(testbed, &stack, family);
            assert!(socket.is_bypassing());
            let mut position = 0;
            assert!(eventually(|| {
                pull_from(&mut socket, &mut position);
                position == LENGTH as u64
            }));
            assert!(socket.is_bypassing());
        }
    });
}

#[test]
#[ignore = "needs root"]
fn sleeping_owner_is_handed_back_and_taken_over_again() {
    each_configuration(|testbed, mode| {
        let client = &testbed.hosts()[0];
        let unpolled_max = StackSettings::default().unpolled_max;
        let stack = open(client, &StackSettings { unpolled_max, ..settings(mode) });
        for family in 0..2 {
            let (mut socket, mut far) = send_to_sleeping_owner(testbed, &stack, family);
            assert!(eventually(|| !socket.is_bypassing()));
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
