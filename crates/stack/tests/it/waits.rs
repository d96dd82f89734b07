//! Waits end when a datagram arrives.

use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use hairpin_stack::{Mode, UdpSocket};

use crate::support::{
    MS, TIMEOUT, bind, each_configuration, eventually, kernel, next, stack, testbed,
};

/// Waits with poll(2) until a descriptor is readable. Returns `true` if it is.
fn poll(fd: &impl AsFd, timeout: Duration) -> bool {
    let fd = fd.as_fd().as_raw_fd();
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which outlives the call.
    unsafe { libc::poll(&raw mut poll, 1, timeout.as_millis() as i32) == 1 }
}

/// Stops a loop of another thread, also if this thread panics.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A thread waits for its datagrams, while another spins on its own socket and takes the frames
/// of both off the rings.
fn transfer_wakeups(mode: Mode, sleep: impl Fn(&mut UdpSocket) -> bool + Sync) {
    const HANDOVERS: u32 = 5_000;
    let testbed = testbed(1);
    let [ours, theirs] = testbed.hosts();
    let stack = stack(ours, mode);
    let mut sleeper = bind(ours, &stack, (ours.address(), 5_000));
    let mut spinner = bind(ours, &stack, (ours.address(), 5_001));
    spinner.set_spinning(true);
    let peer = kernel(theirs, (theirs.address(), 0));
    let (stop, woken) = (AtomicBool::new(false), AtomicU32::new(0));
    let spun = std::thread::scope(|scope| {
        let spin = scope.spawn(|| {
            let mut spun = 0;
            while !stop.load(Ordering::Relaxed) {
                spun += spinner.receive(8, |_, _| ()).unwrap().count;
                std::thread::yield_now();
            }
            spun
        });
        let wake = scope.spawn(|| {
            let _stop = Stop(&stop);
            for number in 0..HANDOVERS {
                assert!(sleep(&mut sleeper), "{mode}: not woken for {number}");
                let (_, payload) = next(&mut sleeper).unwrap();
                assert_eq!(payload, number.to_be_bytes());
                woken.store(number + 1, Ordering::Release);
            }
        });
        let send = scope.spawn(|| {
            for number in 0..HANDOVERS {
                peer.send_to(b"spin", (ours.address(), 5_001)).unwrap();
                peer.send_to(&number.to_be_bytes(), (ours.address(), 5_000)).unwrap();
                while woken.load(Ordering::Acquire) <= number && !stop.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
            }
        });
        send.join().unwrap();
        wake.join().unwrap();
        spin.join().unwrap()
    });
    let mut all = spun;
    eventually(|| {
        all += spinner.receive(64, |_, _| ()).unwrap().count;
        all + spinner.dropped() as usize == HANDOVERS as usize
    });
    assert_eq!(all + spinner.dropped() as usize, HANDOVERS as usize);
    assert!(spun > 100, "{spun} received by the spinning socket");
    assert_eq!(woken.load(Ordering::Relaxed), HANDOVERS);
}

#[test]
#[ignore = "needs root"]
fn wait_loses_no_wakeup_while_another_socket_polls() {
    for mode in crate::support::MODES {
        transfer_wakeups(mode, |socket| socket.wait(Some(TIMEOUT)).unwrap());
    }
}

#[test]
#[ignore = "needs root"]
fn descriptor_loses_no_wakeup_while_another_socket_polls() {
    let sleep = |socket: &mut UdpSocket| poll(socket, TIMEOUT);
    for mode in crate::support::MODES {
        transfer_wakeups(mode, sleep);
    }
}

/// Returns how often the calling thread has slept.
fn sleeps() -> i64 {
    // SAFETY: a structure of integers, for which zero is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the structure outlives the call.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) }, 0);
    usage.ru_nvcsw
}

/// Four threads wait for a socket each, and only the last socket receives.
#[test]
#[ignore = "needs root"]
fn frame_wakes_one_sleeper_which_wakes_the_owner() {
    const DATAGRAMS: u32 = 400;
    let testbed = testbed(1);
    let [ours, theirs] = testbed.hosts();
    let stack = stack(ours, crate::support::MODES[0]);
    let mut sockets: Vec<_> =
        (0..4).map(|at| bind(ours, &stack, (ours.address(), 5_000 + at))).collect();
    let mut owner = sockets.pop().unwrap();
    let peer = kernel(theirs, (theirs.address(), 0));
    let others = std::thread::scope(|scope| {
        let others: Vec<_> = sockets
            .iter_mut()
            .map(|socket| {
                scope.spawn(|| {
                    let before = sleeps();
                    while !socket.wait(Some(TIMEOUT)).unwrap() {}
                    assert_eq!(next(socket).unwrap().1, *b"stop");
                    sleeps() - before
                })
            })
            .collect();
        for number in 0..DATAGRAMS {
            // The others sleep again.
            std::thread::sleep(MS / 2);
            peer.send_to(&number.to_be_bytes(), (ours.address(), 5_003)).unwrap();
            assert!(owner.wait(Some(TIMEOUT)).unwrap(), "not woken for {number}");
            assert_eq!(next(&mut owner).unwrap().1, number.to_be_bytes());
        }
        for port in 5_000..5_003 {
            peer.send_to(b"stop", (ours.address(), port)).unwrap();
        }
        others.into_iter().map(|thread| thread.join().unwrap()).sum::<i64>()
    });
    // Three sleepers woken by each frame would have slept three times as often as there are frames.
    assert!(others < i64::from(DATAGRAMS) * 3 / 2, "the others slept {others} times");
}

#[test]
#[ignore = "needs root"]
fn waits_end_by_xdp_kernel_and_timeout() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let mut socket = bind(ours, &stack, (Ipv4Addr::UNSPECIFIED, 5_000));
        let far = kernel(theirs, (theirs.address(), 0));
        let near = kernel(ours, (Ipv4Addr::LOCALHOST, 0));
        assert!(!socket.wait(Some(MS * 5)).unwrap(), "no datagram yet");
        assert!(!poll(&socket, MS * 5), "no datagram yet");
        let places = [ours.address(), Ipv4Addr::LOCALHOST].map(|host| (host, 5_000));
        for round in 0..20_u8 {
            for (peer, place) in [&far, &near].into_iter().zip(places) {
                for waits in [true, false] {
                    std::thread::scope(|scope| {
                        scope.spawn(|| {
                            std::thread::sleep(MS * u32::from(round % 4));
                            peer.send_to(&[round], place).unwrap();
                        });
                        let woken = if waits {
                            socket.wait(Some(TIMEOUT)).unwrap()
                        } else {
                            poll(&socket, TIMEOUT)
                        };
                        assert!(woken, "{mode}: not by {peer:?}");
                        assert_eq!(next(&mut socket).unwrap().1, [round]);
                    });
                }
            }
        }
    });
}

#[test]
#[ignore = "needs root"]
fn raw_frames_wake_their_reader() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stacks = [stack(ours, mode), stack(theirs, mode)];
        let mut near = stacks[0].raw_frames(0x88b5).unwrap();
        let mut far = stacks[1].raw_frames(0x88b5).unwrap();
        assert!(!near.wait(Some(MS * 5)).unwrap() && !poll(&near, MS));
        for round in 0..40_u8 {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(MS * u32::from(round % 4));
                    let mut packet = far.frame(60).unwrap();
                    far.bytes_mut(&mut packet).fill(round);
                    far.bytes_mut(&mut packet)[12..14].copy_from_slice(&[0x88, 0xb5]);
                    assert!(far.transmit(packet).unwrap().is_ok());
                });
                let is_even = round % 2 == 0;
                let woken =
                    if is_even { near.wait(Some(TIMEOUT)).unwrap() } else { poll(&near, TIMEOUT) };
                assert!(woken, "{mode}");
                let mut received = None;
                assert!(eventually(|| {
                    received = near.receive().unwrap();
                    received.is_some()
                }));
                let packet = received.unwrap();
                assert_eq!(near.bytes(&packet)[14..], [round; 46]);
                near.release(packet);
            });
        }
    });
}

#[test]
#[ignore = "needs root"]
fn reader_that_stops_spinning_is_signaled_of_earlier_frames() {
    let testbed = testbed(1);
    let [ours, theirs] = testbed.hosts();
    let stack = stack(ours, Mode::Generic);
    let mut first = bind(ours, &stack, (ours.address(), 5_000));
    let mut second = bind(ours, &stack, (ours.address(), 5_001));
    let peer = kernel(theirs, (theirs.address(), 0));
    let mut reported = 0;
    for _ in 0..20 {
        first.set_spinning(true);
        peer.send_to(b"first", (ours.address(), 5_000)).unwrap();
        peer.send_to(b"second", (ours.address(), 5_001)).unwrap();
        // Takes both frames off the ring, and polls once more, which shows the ring empty.
        assert_eq!(next(&mut second).unwrap().1, b"second");
        second.receive(8, |_, _| ()).unwrap();
        reported += u32::from(poll(&first, Duration::ZERO));
        first.set_spinning(false);
        assert!(poll(&first, Duration::ZERO), "not signaled");
        assert_eq!(next(&mut first).unwrap().1, b"first");
        first.receive(8, |_, _| ()).unwrap();
    }
    assert_eq!(reported, 0, "signaled while spinning");
}
