//! Raw frames of a dedicated interface, over a veth.

use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use hairpin_stack::{InterfaceSettings, Mode, RawFrames, StackError};
use hairpin_testbed::{Host, allocations};

use crate::support::{
    MS, TIMEOUT, each_configuration, eventually, kernel, send, settings, take, testbed, write,
};

/// An EtherType for local experiments (IEEE 802).
const ETHER_TYPE: u16 = 0x88b5;

fn try_open(host: &Host, settings: &InterfaceSettings) -> Result<RawFrames, StackError> {
    host.run(|| RawFrames::open(host.interface(), ETHER_TYPE, settings)).unwrap()
}

fn open(host: &Host, mode: Mode) -> RawFrames {
    try_open(host, &settings(mode).interface).unwrap()
}

fn frame(number: u32, length: usize) -> Vec<u8> {
    crate::support::frame(ETHER_TYPE, number, length)
}

#[test]
#[ignore = "needs root"]
fn frames_are_echoed_in_place_and_others_pass_to_the_kernel() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let [mut near, mut far] = [open(ours, mode), open(theirs, mode)];
        let plain = kernel(theirs, (theirs.address(), 7_000));
        let peer = kernel(ours, (ours.address(), 0));
        let longest = 1_514;
        for number in 0..500_u32 {
            let sent = frame(number, 60 + (number as usize * 37) % (longest - 59));
            send(&mut near, &sent);
            peer.send_to(&number.to_be_bytes(), (theirs.address(), 7_000)).unwrap();
            let mut packet = take(&mut far);
            assert!(far.bytes(&packet) == sent, "{mode}, {number}");
            far.bytes_mut(&mut packet)[..12].rotate_left(6);
            assert!(far.transmit(packet).unwrap().is_ok());
            let packet = take(&mut near);
            assert_eq!(near.bytes(&packet)[..6], sent[6..12]);
            assert!(near.bytes(&packet)[12..] == sent[12..], "{mode}, {number}");
            near.release(packet);
            let mut received = [0; 8];
            assert_eq!(plain.recv(&mut received).unwrap(), 4);
            assert_eq!(received[..4], number.to_be_bytes());
        }
        assert_eq!((near.dropped(), far.dropped()), (0, 0));
        assert!(near.receive().unwrap().is_none() && far.receive().unwrap().is_none());
        assert!(near.frame(near.max_length() + 300).is_none());
        let short = near.frame(13).unwrap();
        let short = near.transmit(short).unwrap().unwrap_err();
        near.release(short);
    });
}

#[test]
#[ignore = "needs root"]
fn flush_sends_a_burst_in_order_and_a_full_ring_is_reported() {
    let testbed = testbed(1);
    let [ours, theirs] = testbed.hosts();
    let mut short = settings(Mode::Generic).interface;
    short.socket.ring = 512;
    let (mut near, mut far) = (try_open(ours, &short).unwrap(), open(theirs, Mode::Generic));
    for burst in [1, 33, 300] {
        for number in 0..burst {
            let packet = write(&mut near, &frame(number, 100));
            near.enqueue(packet).unwrap();
        }
        assert!(far.receive().unwrap().is_none(), "not flushed yet");
        near.flush().unwrap();
        for number in 0..burst {
            let packet = take(&mut far);
            assert!(far.bytes(&packet) == frame(number, 100), "{number} of {burst}");
            far.release(packet);
        }
    }
    let mut put = 0;
    let refused = loop {
        let Some(mut packet) = near.frame(60) else { panic!("{put} frames and the ring not full") };
        near.bytes_mut(&mut packet).fill(0);
        match near.enqueue(packet) {
            Ok(()) => put += 1,
            Err(packet) => break packet,
        }
    };
    // A transmit makes its own space.
    assert!(near.transmit(refused).unwrap().is_ok());
}

#[test]
#[ignore = "needs root"]
fn interface_has_one_owner_and_reserved_types_none() {
    let testbed = testbed(2);
    let [ours, theirs] = testbed.hosts();
    let frames = open(ours, Mode::Generic);
    assert_eq!(frames.ether_type(), ETHER_TYPE);
    assert!(frames.to_string().starts_with("veth0: veth, 2 queues, generic mode, copy"));
    let mac = [2, 0, 0, 0, 7, 1];
    assert_ne!(frames.mac(), mac);
    let refused = try_open(ours, &settings(Mode::Generic).interface).unwrap_err();
    assert!(refused.to_string().contains("veth0: "), "{refused}");
    drop(frames);
    ours.rtnetlink().unwrap().set_mac(ours.interface_index(), mac).unwrap();
    assert_eq!(open(ours, Mode::Generic).mac(), mac);
    for reserved in [0x0800, 0x86dd, 0x0806] {
        let open = || RawFrames::open("veth0", reserved, &InterfaceSettings::default());
        let refused = ours.run(open).unwrap().unwrap_err();
        assert!(matches!(refused, StackError::Entry(_)), "{refused}");
    }
    drop(open(ours, Mode::Native));
    // The rejected calls changed nothing.
    let socket = kernel(ours, (ours.address(), 7_000));
    let peer = kernel(theirs, (theirs.address(), 0));
    peer.send_to(b"hello", (ours.address(), 7_000)).unwrap();
    assert_eq!(socket.recv(&mut [0; 8]).unwrap(), 5);
}

fn poll(source: &impl AsFd, timeout: Duration) -> bool {
    let fd = source.as_fd().as_raw_fd();
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which outlives the call.
    unsafe { libc::poll(&raw mut poll, 1, timeout.as_millis() as i32) == 1 }
}

#[test]
#[ignore = "needs root"]
fn waiting_reader_is_woken_and_spinning_reader_is_not() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let [mut near, mut far] = [open(ours, mode), open(theirs, mode)];
        assert!(!near.wait(Some(MS * 5)).unwrap() && !poll(&near, MS));
        for round in 0..40_u8 {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(MS * u32::from(round % 4));
                    send(&mut far, &frame(round.into(), 60));
                });
                let waits = round % 2 == 0;
                let woken =
                    if waits { near.wait(Some(TIMEOUT)).unwrap() } else { poll(&near, TIMEOUT) };
                assert!(woken, "{mode}");
                let packet = take(&mut near);
                assert!(near.bytes(&packet) == frame(round.into(), 60));
                near.release(packet);
            });
        }
        assert!(near.receive().unwrap().is_none());
        near.set_spinning(true);
        send(&mut far, &frame(1, 60));
        assert!(!poll(&near, MS * 50), "{mode}");
        // Frames that arrived while it spun end a later wait.
        near.set_spinning(false);
        assert!(poll(&near, TIMEOUT) && near.wait(None).unwrap());
        let packet = take(&mut near);
        near.release(packet);
    });
}

#[test]
#[ignore = "needs root"]
fn interface_down_is_survived_and_removal_is_an_error() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let [mut near, mut far] = [open(ours, mode), open(theirs, mode)];
        let (mut rtnetlink, index) = (ours.rtnetlink().unwrap(), ours.interface_index());
        for _ in 0..2 {
            rtnetlink.set_down(index).unwrap();
            let packet = write(&mut near, &frame(1, 60));
            assert_eq!(near.transmit(packet).unwrap_err().kind(), ErrorKind::NetworkDown);
            assert!(!near.wait(Some(MS)).unwrap() && near.receive().unwrap().is_none());
            rtnetlink.set_up(index).unwrap();
            ours.wait_until_up().unwrap();
            // Frames that were in the ring may leave too.
            send(&mut near, &frame(2, 60));
            assert!(eventually(|| {
                let packet = take(&mut far);
                let matches = far.bytes(&packet) == frame(2, 60);
                far.release(packet);
                matches
            }));
            while let Some(packet) = far.receive().unwrap() {
                far.release(packet);
            }
        }
        let is_removed = |error: std::io::Error| {
            assert_eq!(error.raw_os_error(), Some(libc::ENODEV), "{mode}: {error}");
        };
        let (sender, receiver) = std::sync::mpsc::channel();
        // A detached thread, so that a wait that never returns does not block the test.
        std::thread::spawn(move || {
            let error = near.wait(None).expect_err("the interface was removed");
            sender.send((near, error)).unwrap();
        });
        let spins = std::thread::spawn(move || {
            let until = Instant::now() + TIMEOUT;
            while Instant::now() < until {
                if let Err(error) = far.receive() {
                    return error;
                }
            }
            ErrorKind::TimedOut.into()
        });
        std::thread::sleep(MS * 20);
        testbed.disconnect().unwrap();
        let (mut near, error) = receiver.recv_timeout(TIMEOUT).expect("the wait returns");
        is_removed(error);
        is_removed(spins.join().unwrap());
        is_removed(near.wait(Some(MS)).unwrap_err());
    });
}

#[test]
#[ignore = "needs root"]
fn unread_frames_are_dropped_and_counted() {
    let testbed = testbed(1);
    let [ours, theirs] = testbed.hosts();
    let mut near = open(ours, Mode::Generic);
    let mut few = settings(Mode::Generic).interface;
    (few.umem.frames, few.socket.ring) = (64, 32);
    let mut far = try_open(theirs, &few).unwrap();
    for number in 0..100 {
        send(&mut near, &frame(number, 60));
    }
    for number in 0..32 {
        let packet = take(&mut far);
        assert!(far.bytes(&packet) == frame(number, 60), "{number}");
        far.release(packet);
    }
    assert!(far.receive().unwrap().is_none());
    assert_eq!(far.dropped(), 68);
    // Reception continues, without allocations at either end.
    let sent = frame(7, 60);
    let before = allocations();
    for _ in 0..1_000 {
        send(&mut near, &sent);
        let packet = take(&mut far);
        assert!(far.bytes(&packet) == sent);
        far.release(packet);
    }
    assert_eq!(allocations() - before, 0);
    assert_eq!(far.dropped(), 68);
}
