//! Reception: waits, shortages of frames, rotation of queues, refill.

use std::time::Duration;

use hairpin_xdp::{Interface, InterfaceSettings, Mode, UmemSettings};

use crate::support::{RAW, TIMEOUT, eventually, is_nothing, next, open, raw, send, testbed};

#[test]
#[ignore = "needs root"]
fn wait_returns_when_a_frame_arrives() {
    let testbed = testbed(1);
    let [ours, theirs] = testbed.hosts();
    let mut interface = open(ours, Mode::Auto);
    let mut sender = open(theirs, Mode::Auto);
    interface.redirect(&RAW).unwrap();
    let (_, _, sockets) = interface.parts();
    assert!(!sockets[0].wait(Some(Duration::from_millis(1))).unwrap());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(send(&mut sender, 0, &raw(1, 0)));
            sender.flush().unwrap();
        });
        assert!(sockets[0].wait(Some(TIMEOUT)).unwrap());
    });
    let (queue, packet) = interface.receive().unwrap().unwrap();
    assert_eq!((interface.bytes(&packet), queue), (&raw(1, 0)[..], 0));
    interface.release(packet.into_frame());
}

/// Frames that find no receive frame are lost and counted; later ones are received.
#[test]
#[ignore = "needs root"]
fn receiver_without_frames_counts_losses() {
    for mode in [Mode::Native, Mode::Generic] {
        let testbed = testbed(1);
        let mut from = open(&testbed.hosts()[0], mode);
        let umem = UmemSettings { frames: 8, ..UmemSettings::default() };
        let settings = InterfaceSettings { mode, umem, ..InterfaceSettings::default() };
        let host = &testbed.hosts()[1];
        let mut to = host.run(|| Interface::open(host.interface(), &settings)).unwrap().unwrap();
        to.redirect(&RAW).unwrap();
        assert_eq!(to.sockets()[0].rx_frames(), 4);
        for number in 0..10 {
            assert!(send(&mut from, 0, &raw(number, 0)));
            from.flush().unwrap();
        }
        let counted = || to.sockets()[0].statistics().unwrap();
        assert!(eventually(|| counted().fill_ring_empty >= 6), "{:?}", counted());
        for number in 0..4 {
            let (_, packet) = next(&mut to).unwrap();
            assert!(to.bytes(&packet) == raw(number, 0));
            to.release(packet.into_frame());
        }
        assert!(is_nothing(&mut to));
        assert_eq!(to.sockets()[0].rx_frames(), 4);
        assert!(send(&mut from, 0, &raw(10, 0)));
        from.flush().unwrap();
        let (_, packet) = next(&mut to).unwrap();
        assert!(to.bytes(&packet) == raw(10, 0));
        to.release(packet.into_frame());
    }
}

/// Receives a burst of frames, and then until the rings are empty.
fn receive_burst(from: &mut Interface, to: &mut Interface, frames: u32) {
    for number in 0..frames {
        assert!(send(from, 0, &raw(number, 0)));
    }
    from.flush().unwrap();
    for number in 0..frames {
        let (_, packet) = next(to).unwrap();
        assert!(to.bytes(&packet) == raw(number, 0));
        to.release(packet.into_frame());
    }
    assert!(is_nothing(to));
}

#[test]
#[ignore = "needs root"]
fn limit_of_receive_frames_ends_with_a_burst() {
    for mode in [Mode::Native, Mode::Generic] {
        let testbed = testbed(1);
        let mut from = open(&testbed.hosts()[0], mode);
        let umem = UmemSettings { frames: 64, ..UmemSettings::default() };
        let settings = InterfaceSettings { mode, umem, ..InterfaceSettings::default() };
        let host = &testbed.hosts()[1];
        let mut to = host.run(|| Interface::open(host.interface(), &settings)).unwrap().unwrap();
        to.redirect(&RAW).unwrap();
        to.limit_receive_frames(Some(8));
        assert_eq!(to.sockets()[0].rx_frames(), 32, "until they are used up");
        (0..40).for_each(|_| receive_burst(&mut from, &mut to, 1));
        assert_eq!(to.sockets()[0].rx_frames(), 8);
        to.limit_receive_frames(Some(16));
        assert_eq!(to.sockets()[0].rx_frames(), 16, "at once");
        receive_burst(&mut from, &mut to, 7);
        assert_eq!(to.sockets()[0].rx_frames(), 16, "less than half is not a burst");
        // A receiver that is quick finds no burst.
        assert!(eventually(|| {
            receive_burst(&mut from, &mut to, 9);
            to.sockets()[0].rx_frames() == 32
        }));
        to.limit_receive_frames(Some(8));
        (0..40).for_each(|_| receive_burst(&mut from, &mut to, 1));
        assert!(to.sockets()[0].rx_frames() > 24, "no limit after a burst");
    }
}

/// Sixteen frames for all queues, half of them for reception. A frame is always pending, and each
/// is sent back when received.
#[test]
#[ignore = "needs root"]
fn sixteen_frames_are_enough_for_an_interface() {
    const COUNT: u32 = 2_000;
    let cases = [(1, Mode::Native), (1, Mode::Generic), (2, Mode::Native)];
    for (kicks, (queues, mode)) in
        [false, true].into_iter().flat_map(|kicks| cases.map(|case| (kicks, case)))
    {
        let testbed = testbed(queues);
        let mut far = open(&testbed.hosts()[0], mode);
        let umem = UmemSettings { frames: 16, ..UmemSettings::default() };
        let settings = InterfaceSettings { mode, umem, ..InterfaceSettings::default() };
        let host = &testbed.hosts()[1];
        let mut few = host.run(|| Interface::open(host.interface(), &settings)).unwrap().unwrap();
        few.redirect(&RAW).unwrap();
        far.redirect(&RAW).unwrap();
        // The number of frames in flight, so that enough are left when it is time to refill.
        let ahead = 16 / queues / 4;
        let (mut sent, mut returned) = (0, 0);
        let done = eventually(|| {
            for _ in 0..64 {
                while sent < COUNT && sent < returned + ahead && send(&mut far, 0, &raw(sent, 0)) {
                    sent += 1;
                    far.flush().unwrap();
                }
                if let Some((queue, packet)) = few.receive().unwrap() {
                    few.transmit(queue, packet).unwrap();
                    // With wakeups, frames are reclaimed only when needed.
                    if kicks {
                        let tx_wakeup = few.tx_wakeup(queue).unwrap();
                        tx_wakeup.kick(few.submit(queue)).unwrap();
                    } else {
                        few.flush().unwrap();
                    }
                }
                while let Some((_, packet)) = far.receive().unwrap() {
                    assert!(far.bytes(&packet) == raw(returned, 0), "{returned}");
                    returned += 1;
                    far.release(packet.into_frame());
                }
            }
            returned == COUNT
        });
        let counted = few.sockets()[0].statistics().unwrap();
        assert!(done, "{returned} of {sent} over {queues} queues in {mode} mode: {counted:?}");
        assert_eq!(counted.fill_ring_empty, 0, "{queues} queues in {mode} mode");
    }
}

/// Polls that find nothing prefetch this frame, also across the end of the ring.
#[test]
#[ignore = "needs root"]
fn next_fill_frame_is_the_next_received() {
    for mode in [Mode::Native, Mode::Generic] {
        let testbed = testbed(1);
        let mut near = open(&testbed.hosts()[0], mode);
        let umem = UmemSettings { frames: 64, ..UmemSettings::default() };
        let settings = InterfaceSettings { umem, mode, ..InterfaceSettings::default() };
        let host = &testbed.hosts()[1];
        let far = host.run(|| Interface::open(host.interface(), &settings)).unwrap();
        let mut far = far.unwrap();
        far.redirect(&RAW).unwrap();
        for number in 0..1_500 {
            let expected = far.sockets()[0].next_fill_frame();
            assert!(send(&mut near, 0, &raw(number, 0)));
            near.flush().unwrap();
            let (_, packet) = next(&mut far).unwrap();
            assert_eq!(Some(packet.frame().address()), expected, "{number}");
            far.release(packet.into_frame());
            assert!(is_nothing(&mut far));
        }
    }
}

/// Frames of one queue wait for at most one budget of a full queue.
#[test]
#[ignore = "needs root"]
fn queues_take_turns_when_one_is_full() {
    for takes_known in [false, true] {
        let testbed = testbed(2);
        let [mut near, mut far] = [0, 1].map(|end| open(&testbed.hosts()[end], Mode::Native));
        far.redirect(&RAW).unwrap();
        for number in 0..200 {
            assert!(send(&mut near, 0, &raw(number, 0)));
        }
        near.flush().unwrap();
        assert!(send(&mut near, 1, &raw(0, 1)));
        near.flush().unwrap();
        assert!(far.parts().2[1].wait(Some(TIMEOUT)).unwrap());
        let queues = std::iter::repeat_with(|| {
            let known = if takes_known { far.receive_cached() } else { None };
            let (queue, packet) = known.or_else(|| next(&mut far)).unwrap();
            far.release(packet.into_frame());
            queue
        });
        let before = queues.take_while(|&queue| queue == 0).count();
        assert!(before <= 64, "{before} packets before the other queue's");
    }
}

/// `receive` returns `None` only when no queue has a packet.
#[test]
#[ignore = "needs root"]
fn receive_finds_a_frame_on_any_queue() {
    let testbed = testbed(2);
    let mut ends = [0, 1].map(|end| open(&testbed.hosts()[end], Mode::Native));
    let [near, far] = &mut ends;
    far.redirect(&RAW).unwrap();
    let rx_probe = far.rx_probe();
    // The budget is 64 frames; with 65 a second turn starts. On a busy machine the last frame may
    // be late, but not every time.
    for (queue, burst) in [(0, 1), (1, 1), (1, 1), (0, 1), (0, 65), (1, 64), (0, 64), (1, 65)] {
        let is_in_a_row = |_| {
            for number in 0..burst {
                assert!(send(near, queue, &raw(number, queue)));
            }
            near.flush().unwrap();
            assert!(eventually(|| !rx_probe.is_idle()));
            std::thread::sleep(Duration::from_millis(20));
            let mut polls = 0;
            for number in 0..burst {
                let mut found = None;
                assert!(eventually(|| {
                    polls += 1;
                    found = far.receive().unwrap();
                    found.is_some()
                }));
                let (_, packet) = found.unwrap();
                assert!(far.bytes(&packet) == raw(number, queue));
                far.release(packet.into_frame());
            }
            assert!(far.receive().unwrap().is_none());
            polls == burst
        };
        assert!((0..1_000).any(is_in_a_row), "{burst} frames on queue {queue}");
    }
}

/// The next queue of a single queue is the same queue.
#[test]
#[ignore = "needs root"]
fn single_queue_is_polled_again_after_its_turn() {
    let testbed = testbed(1);
    let [mut near, mut far] = [0, 1].map(|end| open(&testbed.hosts()[end], Mode::Native));
    far.redirect(&RAW).unwrap();
    for number in 0..65 {
        assert!(send(&mut near, 0, &raw(number, 0)));
        near.flush().unwrap();
        let (_, pool, sockets) = far.parts();
        // Releases all earlier entries, so that only the new frame causes the wakeup.
        sockets[0].refill(pool, 0);
        assert!(sockets[0].wait(Some(TIMEOUT)).unwrap());
        let (_, packet) = far.receive().unwrap().expect("the frame has arrived");
        far.release(packet.into_frame());
    }
}

/// Receive frames are posted in batches: one missing frame is no reason to poll.
#[test]
#[ignore = "needs root"]
fn refill_is_needed_only_for_a_whole_batch() {
    let testbed = testbed(1);
    let mut ends = [0, 1].map(|end| open(&testbed.hosts()[end], Mode::Generic));
    let [near, far] = &mut ends;
    far.redirect(&RAW).unwrap();
    let full = far.sockets()[0].rx_frames();
    let mut kept = Vec::new();
    let (mut has_been_short, mut most_missing) = (false, 0);
    for number in 0..full {
        assert!(send(near, 0, &raw(number, 0)));
        near.flush().unwrap();
        kept.push(next(far).unwrap().1);
        // Missing frames are posted by a poll that finds nothing.
        has_been_short |= far.needs_refill();
        assert!(far.receive().unwrap().is_none());
        let missing = full - far.sockets()[0].rx_frames();
        assert!(missing < 32 && !far.needs_refill(), "{missing} after {number}");
        most_missing = most_missing.max(missing);
    }
    assert_eq!(most_missing, 31, "frames were not posted in batches");
    assert!(has_been_short, "a whole batch was never missing");
    // Half of the frames were for reception and are held, as are the others by now.
    assert!(far.packet(60).is_none());
    kept.drain(..).for_each(|packet| far.release(packet.into_frame()));
    assert!(far.packet(60).is_some());
}
