//! The kernel's socket after a handback behaves as if nothing had happened.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hairpin_stack::{Stack, TcpSocket};
use hairpin_testbed::{Testbed, scaled};
use socket2::SockRef;

use super::{bytes, connect, each_configuration, expect, ping_pong, send_all, take_over};
use crate::support::{MODES, TIMEOUT, addresses, eventually, open, settings, stack};

/// A small number of frames.
const FEW: u32 = 64;

/// Connects, takes over, exchanges bytes in both directions and hands back.
fn handed_back(
    testbed: &Testbed,
    stack: &Stack,
    near: TcpStream,
    far: &mut TcpStream,
) -> TcpSocket {
    let mut socket = stack.adopt_tcp(near).unwrap();
    take_over(&testbed.hosts()[0], &mut socket);
    send_all(&mut socket, &bytes(0, 3_000));
    let mut received = vec![0; 3_000];
    far.read_exact(&mut received).unwrap();
    assert_eq!(received, bytes(0, 3_000));
    far.write_all(&bytes(0, 500)).unwrap();
    expect(&mut socket, 0, 500);
    socket.hand_back().unwrap();
    socket
}

/// The options that a program may have set.
fn options(stream: &TcpStream) -> impl PartialEq + std::fmt::Debug + use<> {
    let socket = SockRef::from(stream);
    let tcp = (
        socket.tcp_nodelay().unwrap(),
        socket.tcp_keepalive_time().unwrap(),
        socket.tcp_user_timeout().unwrap(),
        socket.tcp_congestion().unwrap(),
    );
    let general = (
        socket.reuse_address().unwrap(),
        socket.keepalive().unwrap(),
        socket.linger().unwrap(),
        socket.recv_buffer_size().unwrap(),
        socket.read_timeout().unwrap(),
    );
    (tcp, general, stream.local_addr().unwrap(), stream.peer_addr().unwrap())
}

#[test]
#[ignore = "needs root"]
fn handbacks_return_all_frames() {
    for mode in MODES {
        let testbed = super::testbed(1);
        let [host, _] = testbed.hosts();
        let mut settings = settings(mode);
        settings.interface.umem.frames = FEW;
        let stack = open(host, &settings);
        let [near, far] = connect(&testbed, 0);
        let far = super::echo(far);
        let (mut socket, mut position) = (stack.adopt_tcp(near).unwrap(), 0);
        let free = stack.free_frames();
        for round in 0..2 * FEW {
            take_over(host, &mut socket);
            // The last answer leaves a frame that waits for the next message.
            ping_pong(&mut socket, &mut position, 3, 64);
            socket.hand_back().unwrap();
            let is_complete = eventually(|| stack.free_frames() == free);
            let found = stack.free_frames();
            assert!(is_complete, "{mode}, round {round}: {found} of {free} frames are free");
        }
        drop(socket);
        assert_eq!(far.join().unwrap(), position, "{mode}");
    }
}

#[test]
#[ignore = "needs root"]
fn no_other_connection_receives_the_local_port_during_a_handback() {
    let testbed = super::testbed(1);
    let [host, other] = testbed.hosts();
    const BRIEF: Duration = Duration::from_millis(100);
    // The connection has the only port, so no other one is possible.
    let narrow = || std::fs::write("/proc/sys/net/ipv4/ip_local_port_range", "40000 40000");
    host.run(narrow).unwrap().unwrap();
    let stack = stack(host, MODES[0]);
    let to = addresses(other)[0];
    let listener = other.run(|| TcpListener::bind((to, 0))).unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    let (attempts, handbacks) = (AtomicU64::new(0), scaled(100));
    for _ in 0..handbacks {
        let near = host.run(|| TcpStream::connect(address)).unwrap().unwrap();
        let (far, _) = listener.accept().unwrap();
        let mut socket = stack.adopt_tcp(near).unwrap();
        take_over(host, &mut socket);
        let is_done = AtomicBool::new(false);
        let others = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let connect = || {
                    let mut others = 0;
                    while !is_done.load(Ordering::Relaxed) {
                        others += u32::from(TcpStream::connect_timeout(&address, BRIEF).is_ok());
                        attempts.fetch_add(1, Ordering::Relaxed);
                    }
                    others
                };
                host.run(connect).unwrap()
            });
            let before = attempts.load(Ordering::Relaxed);
            while attempts.load(Ordering::Relaxed) == before {}
            let handed_back = host.run(|| socket.hand_back()).unwrap();
            is_done.store(true, Ordering::Relaxed);
            handed_back.unwrap();
            thread.join().unwrap()
        });
        assert_eq!(others, 0);
        // The next connection has the same addresses.
        for stream in [socket.kernel_socket(), &far] {
            SockRef::from(stream).set_linger(Some(Duration::ZERO)).unwrap();
        }
    }
    assert!(attempts.into_inner() > handbacks);
}

#[test]
#[ignore = "needs root"]
fn options_and_state_are_as_before() {
    each_configuration(|testbed, mode| {
        let stack = stack(&testbed.hosts()[0], mode);
        for family in 0..2 {
            let [near, mut far] = connect(testbed, family);
            let socket = SockRef::from(&near);
            socket.set_keepalive(true).unwrap();
            socket.set_tcp_user_timeout(Some(Duration::from_secs(9))).unwrap();
            socket.set_linger(Some(Duration::from_secs(3))).unwrap();
            socket.set_reuse_address(true).unwrap();
            socket.set_recv_buffer_size(200_000).unwrap();
            near.set_read_timeout(Some(TIMEOUT)).unwrap();
            let before = options(&near);
            let socket = handed_back(testbed, &stack, near, &mut far);
            assert_eq!(options(socket.kernel_socket()), before);
            // Both directions, and the error is clear.
            let mut stream = socket.into_stream().unwrap();
            assert!(stream.take_error().unwrap().is_none());
            stream.write_all(b"request").unwrap();
            let mut message = [0; 7];
            far.read_exact(&mut message).unwrap();
            far.write_all(&message).unwrap();
            stream.read_exact(&mut message).unwrap();
            assert_eq!(&message, b"request");
        }
    });
}

/// Returns which buffer sizes are fixed (`SO_BUF_LOCK`).
fn buffer_locks(stream: &TcpStream) -> i32 {
    const SO_BUF_LOCK: i32 = 72;
    let (mut locks, mut length) = (-1, size_of::<i32>() as libc::socklen_t);
    let (fd, at) = (stream.as_raw_fd(), (&raw mut locks).cast());
    // SAFETY: the kernel writes an integer to a local variable.
    unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, SO_BUF_LOCK, at, &raw mut length) };
    locks
}

#[test]
#[ignore = "needs root"]
fn kernel_still_grows_the_send_buffer_after_a_handback_that_has_grown_it() {
    let testbed = super::testbed(1);
    let stack = stack(&testbed.hosts()[0], MODES[0]);
    let [near, mut far] = connect(&testbed, 0);
    // The window closes, so that most bytes are handed back.
    SockRef::from(&far).set_recv_buffer_size(4_096).unwrap();
    let size = |stream: &TcpStream| SockRef::from(stream).send_buffer_size().unwrap();
    let (before, locks) = (size(&near), buffer_locks(&near));
    let mut socket = stack.adopt_tcp(near).unwrap();
    take_over(&testbed.hosts()[0], &mut socket);
    let sent = socket.send(&bytes(0, 120_000)).unwrap();
    socket.hand_back().unwrap();
    assert!(size(socket.kernel_socket()) > before);
    assert_eq!((locks, buffer_locks(socket.kernel_socket())), (0, 0));
    let mut received = vec![0; sent];
    far.read_exact(&mut received).unwrap();
    assert!(received == bytes(0, sent));
}

#[test]
#[ignore = "needs root"]
fn end_of_stream_half_close_and_reset_are_the_kernel_s() {
    each_configuration(|testbed, mode| {
        let stack = stack(&testbed.hosts()[0], mode);
        for family in 0..2 {
            // The peer closes its side, reads on, and receives our end.
            let [near, mut far] = connect(testbed, family);
            let mut stream = handed_back(testbed, &stack, near, &mut far).into_stream().unwrap();
            far.shutdown(Shutdown::Write).unwrap();
            assert_eq!(stream.read(&mut [0]).unwrap(), 0);
            stream.write_all(b"last").unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            let mut rest = Vec::new();
            far.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, b"last");
            // Linger of zero seconds resets.
            let [near, mut far] = connect(testbed, family);
            let stream = handed_back(testbed, &stack, near, &mut far).into_stream().unwrap();
            SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
            drop(stream);
            far.set_read_timeout(Some(TIMEOUT)).unwrap();
            let error = far.read(&mut [0]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
    });
}

#[test]
#[ignore = "needs root"]
fn epoll_registration_and_forked_child_still_work() {
    each_configuration(|testbed, mode| {
        let stack = stack(&testbed.hosts()[0], mode);
        let [near, mut far] = connect(testbed, 0);
        // A registration from before, as a program would have it.
        // SAFETY: the calls take integers and a local variable.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        let events = (libc::EPOLLIN | libc::EPOLLET) as u32;
        let mut event = libc::epoll_event { events, u64: 7 };
        // SAFETY: as above.
        let added = unsafe {
            libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, near.as_raw_fd(), &raw mut event)
        };
        assert_eq!(added, 0);
        let wait = |timeout| {
            let mut event = libc::epoll_event { events: 0, u64: 0 };
            // SAFETY: as above.
            let count = unsafe { libc::epoll_wait(epoll, &raw mut event, 1, timeout) };
            (count, { event.u64 }, { event.events } & libc::EPOLLIN as u32 != 0)
        };
        let child_end: OwnedFd = near.as_fd().try_clone_to_owned().unwrap();
        let socket = handed_back(testbed, &stack, near, &mut far);
        while wait(0).0 > 0 {}
        far.write_all(b"event").unwrap();
        assert_eq!(wait(TIMEOUT.as_millis() as i32), (1, 7, true));
        // A child that inherited the descriptor reads and answers.
        let mut child = Command::new("head");
        let (input, output) = (Stdio::from(child_end.try_clone().unwrap()), Stdio::from(child_end));
        let mut child = child.args(["-c", "5"]).stdin(input).stdout(output).spawn().unwrap();
        let mut answer = [0; 5];
        far.set_read_timeout(Some(TIMEOUT)).unwrap();
        far.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"event");
        assert!(child.wait().unwrap().success());
        drop(child);
        drop(socket);
        // SAFETY: the descriptor is this test's.
        unsafe { libc::close(epoll) };
    });
}

#[test]
#[ignore = "needs root"]
fn end_and_reset_of_the_peer_arrive_while_taken_over() {
    each_configuration(|testbed, mode| {
        let [client, _] = testbed.hosts();
        let stack = stack(client, mode);
        for family in 0..2 {
            let [near, mut far] = connect(testbed, family);
            let mut socket = stack.adopt_tcp(near).unwrap();
            take_over(client, &mut socket);
            far.write_all(&bytes(0, 2_000)).unwrap();
            far.shutdown(Shutdown::Write).unwrap();
            expect(&mut socket, 0, 2_000);
            assert!(eventually(|| socket.receive(|_| panic!("no bytes")).is_ok_and(|n| n == 0)));
            send_all(&mut socket, b"answer");
            let mut answer = [0; 6];
            far.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"answer");
            // Closing with unread bytes resets.
            let [near, far] = connect(testbed, family);
            let mut socket = stack.adopt_tcp(near).unwrap();
            take_over(client, &mut socket);
            send_all(&mut socket, b"unread");
            assert!(eventually(|| far.peek(&mut [0; 6]).unwrap() == 6));
            drop(far);
            let mut error = None;
            assert!(eventually(|| {
                error = socket.receive(|_| panic!("no bytes")).err();
                error.as_ref().is_some_and(|error| error.kind() != ErrorKind::WouldBlock)
            }));
            assert_eq!(error.unwrap().kind(), ErrorKind::ConnectionReset);
        }
    });
}
