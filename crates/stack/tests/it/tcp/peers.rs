//! Peers that answer late, are killed or fall silent, and routes that change.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use hairpin_stack::TcpSocket;
use hairpin_testbed::{Direction, Offloads, RelaySettings, Route, RouteKind, Testbed, scaled};
use socket2::SockRef;

use super::{
    bytes, connect, each_configuration, echo, expect, received_again, send_all, take_over, testbed,
};
use crate::support::{MODES, TIMEOUT, eventually, stack};

/// A connection whose peer sends every message back after 30 ms.
struct SlowlyAnswered {
    socket: TcpSocket,
    /// The times of the answers.
    answered: Receiver<Instant>,
    sent_at: Instant,
    retransmitted: u64,
}

impl SlowlyAnswered {
    const DELAY: Duration = Duration::from_millis(30);
    /// A peer that answers in this time acknowledges in time: a kernel may delay acknowledgments
    /// for 40 ms. On a machine that does other work, a thread may sleep for longer.
    const IN_TIME: Duration = Duration::from_millis(35);

    fn new(socket: TcpSocket, mut peer: TcpStream) -> Self {
        let (sender, answered) = channel();
        std::thread::spawn(move || {
            let mut message = [0; 64];
            while peer.read_exact(&mut message).is_ok() {
                std::thread::sleep(Self::DELAY);
                peer.write_all(&message).unwrap();
                sender.send(Instant::now()).unwrap();
            }
        });
        Self { socket, answered, sent_at: Instant::now(), retransmitted: 0 }
    }

    fn send(&mut self, round: u64) {
        self.sent_at = Instant::now();
        send_all(&mut self.socket, &bytes(round * 64, 64));
    }

    /// Receives an answer. Returns the number of segments sent again, and `true` if the peer has
    /// answered in time.
    fn receive(&mut self, round: u64) -> (u64, bool) {
        expect(&mut self.socket, round * 64, 64);
        let is_in_time = self.answered.recv().unwrap() - self.sent_at <= Self::IN_TIME;
        let before = self.retransmitted;
        self.retransmitted = self.socket.counters().expect("taken over").retransmitted;
        (self.retransmitted - before, is_in_time)
    }
}

/// With `HAIRPIN_TEST_SCALE=50`, 10,000 requests in each mode.
#[test]
#[ignore = "needs root"]
fn peer_that_answers_after_30_ms_receives_one_percent_again_at_most() {
    const CONNECTIONS: u64 = 20;
    for mode in MODES {
        let testbed = testbed(1);
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let connected = (0..CONNECTIONS).map(|_| {
            let [near, far] = connect(&testbed, 0);
            let mut socket = stack.adopt_tcp(near).unwrap();
            take_over(ours, &mut socket);
            SlowlyAnswered::new(socket, far)
        });
        let mut connections: Vec<_> = connected.collect();
        let before = received_again(theirs);
        let (start, wanted) = (Instant::now(), scaled(10) * CONNECTIONS);
        let (mut round, mut in_time, mut repeated, mut late) = (0, 0, 0, [0; 2]);
        while in_time < wanted {
            connections.iter_mut().for_each(|connection| connection.send(round));
            for connection in &mut connections {
                match connection.receive(round) {
                    (again, true) => (in_time, repeated) = (in_time + 1, repeated + again),
                    (again, false) => late = [late[0] + 1, late[1] + again],
                }
            }
            round += 1;
            assert!(start.elapsed() < 10 * TIMEOUT, "{in_time} of {wanted} in time");
        }
        println!(
            "{mode:?}: {repeated} of {in_time} segments sent again, {} of {} late",
            late[1], late[0]
        );
        assert!(repeated * 100 <= in_time, "{repeated} of {in_time}");
        // The others were sent again because the answer was late, not because one was lost.
        let all = repeated + late[1];
        assert!(eventually(|| received_again(theirs) - before == all), "{all} sent again");
    }
}

/// Reads until the stream ends or fails. Returns the bytes and the error.
fn read_to_end(
    mut read: impl FnMut(&mut Vec<u8>) -> std::io::Result<usize>,
) -> (Vec<u8>, Option<ErrorKind>) {
    let (mut received, mut end) = (Vec::new(), None);
    assert!(eventually(|| match read(&mut received) {
        Ok(count) => count == 0,
        Err(error) if error.kind() == ErrorKind::WouldBlock => false,
        Err(error) => {
            end = Some(error.kind());
            true
        }
    }));
    (received, end)
}

fn read_ours(socket: &mut TcpSocket) -> (Vec<u8>, Option<ErrorKind>) {
    read_to_end(|into| socket.receive(|bytes| into.extend_from_slice(bytes)))
}

fn read_kernel(stream: &mut TcpStream) -> (Vec<u8>, Option<ErrorKind>) {
    stream.set_nonblocking(true).unwrap();
    read_to_end(|into| {
        let mut buffer = [0; 4_096];
        let count = stream.read(&mut buffer)?;
        into.extend_from_slice(&buffer[..count]);
        Ok(count)
    })
}

/// Kills a process that owns the far end of a connection, after it has sent its last bytes. With
/// unread bytes, its kernel resets the connection.
fn kill_owner(testbed: &Testbed, mut far: TcpStream) {
    far.write_all(b"last bytes").unwrap();
    let mut owner = Command::new("sleep");
    owner.arg("1000").stdin(Stdio::from(far.as_fd().try_clone_to_owned().unwrap()));
    let mut owner = testbed.hosts()[1].spawn(owner, &[]).unwrap();
    drop(far);
    owner.kill().unwrap();
    owner.wait().unwrap();
}

#[test]
#[ignore = "needs root"]
fn killed_peer_ends_or_resets_as_with_the_kernel() {
    each_configuration(|testbed, mode| {
        let [ours, _] = testbed.hosts();
        let stack = stack(ours, mode);
        for (family, leaves_unread) in [(0, false), (1, false), (0, true), (1, true)] {
            let [mut kernel, kernel_far] = connect(testbed, family);
            let [near, far] = connect(testbed, family);
            let mut socket = stack.adopt_tcp(near).unwrap();
            take_over(ours, &mut socket);
            if leaves_unread {
                kernel.write_all(b"unread").unwrap();
                send_all(&mut socket, b"unread");
                for stream in [&kernel_far, &far] {
                    assert!(eventually(|| stream.peek(&mut [0; 6]).unwrap() == 6));
                }
            }
            kill_owner(testbed, kernel_far);
            kill_owner(testbed, far);
            let (ours, expected) = (read_ours(&mut socket), read_kernel(&mut kernel));
            assert_eq!(ours, expected, "{mode:?}, family {family}");
        }
    });
}

/// Sends bytes and waits for the error of a connection whose peer is silent.
fn time_until_error(mut attempt: impl FnMut() -> std::io::Result<usize>) -> (ErrorKind, Duration) {
    let start = Instant::now();
    loop {
        match attempt() {
            Ok(count) => assert!(count > 0, "end of the stream"),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return (error.kind(), start.elapsed()),
        }
        assert!(start.elapsed() < TIMEOUT, "no error");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
#[ignore = "needs root"]
fn silent_peer_times_out_as_with_the_kernel() {
    for mode in MODES {
        let builder = Testbed::builder().ipv6().offloads(Offloads::OFF);
        let testbed = builder.relay(RelaySettings::seeded(1)).build().unwrap();
        let [ours, _] = testbed.hosts();
        let stack = stack(ours, mode);
        let [mut kernel, _kernel_far] = connect(&testbed, 0);
        let [near, _far] = connect(&testbed, 0);
        for stream in [&kernel, &near] {
            let limit = Some(Duration::from_millis(1_500));
            SockRef::from(stream).set_tcp_user_timeout(limit).unwrap();
        }
        let mut socket = stack.adopt_tcp(near).unwrap();
        take_over(ours, &mut socket);
        for direction in [Direction::FirstToSecond, Direction::SecondToFirst] {
            testbed.relay().unwrap().set_cut(direction, true);
        }
        kernel.write_all(b"lost").unwrap();
        send_all(&mut socket, b"lost");
        kernel.set_nonblocking(true).unwrap();
        let kernel = std::thread::spawn(move || time_until_error(|| kernel.read(&mut [0; 8])));
        let (error, time) = time_until_error(|| socket.receive(|_| panic!("no bytes")));
        let (kernel_error, kernel_time) = kernel.join().unwrap();
        println!("{mode:?}: {error:?} after {time:?}, with the kernel after {kernel_time:?}");
        assert_eq!((error, kernel_error), (ErrorKind::TimedOut, ErrorKind::TimedOut));
        let reason = socket.last_handback().unwrap();
        assert!(reason.contains("timeouts"), "{reason}");
    }
}

#[test]
#[ignore = "needs root"]
fn bytes_take_a_new_route_and_wait_for_a_lost_one() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let [near, far] = connect(testbed, 0);
        let far = echo(far);
        let mut socket = stack.adopt_tcp(near).unwrap();
        take_over(ours, &mut socket);
        let mut rtnetlink = ours.rtnetlink().unwrap();
        // Through a gateway, which is the peer's second address.
        let gateway = IpAddr::from([10, 87, 0, 2]);
        for (host, number) in [(ours, 1), (theirs, 2)] {
            let address = IpAddr::from([10, 87, 0, number]);
            host.rtnetlink().unwrap().add_address(host.interface_index(), address, 24).unwrap();
        }
        let to_peer = Route::to(theirs.address().into(), 32);
        let interface = Some(ours.interface_index());
        let through_gateway = Route { gateway: Some(gateway), interface, ..to_peer };
        rtnetlink.add_route(&through_gateway).unwrap();
        let mut position = 0;
        for length in [100, 3_000] {
            send_all(&mut socket, &bytes(position, length));
            expect(&mut socket, position, length);
            position += length as u64;
        }
        rtnetlink.remove_route(&through_gateway).unwrap();
        // Without a route nothing arrives, and nothing is lost.
        let unreachable = Route { kind: RouteKind::Unreachable, ..to_peer };
        rtnetlink.add_route(&unreachable).unwrap();
        // The kernel's notification takes a moment: until then bytes leave, and are answered. The
        // kernel itself, to which a change of routes can return the connection, knows at once.
        let sent = |socket: &TcpSocket| socket.counters().map(|counters| counters.bytes_sent);
        let mut unanswered = 0;
        let noticed = eventually(|| {
            let Some(before) = sent(&socket) else { return true };
            send_all(&mut socket, &bytes(position, 1));
            if sent(&socket).is_some_and(|after| after > before) {
                expect(&mut socket, position, 1);
                position += 1;
                return false;
            }
            unanswered = 1;
            true
        });
        assert!(noticed);
        send_all(&mut socket, &bytes(position + unanswered as u64, 3_000 - unanswered));
        for _ in 0..100 {
            match socket.receive(|_| panic!("there is no route")) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => panic!("{other:?}"),
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        rtnetlink.remove_route(&unreachable).unwrap();
        expect(&mut socket, position, 3_000);
        drop(socket);
        assert_eq!(far.join().unwrap(), position + 3_000);
    });
}
