//! Transmission: flush, wakeup, reclaim, frames left for reception.

use hairpin_testbed::allocations;
use hairpin_xdp::{Interface, InterfaceSettings, Mode, SocketSettings, UmemSettings};

use crate::support::{RAW, eventually, is_nothing, next, open, raw, send, testbed};

/// Frames sent one by one are reclaimed in batches: before the ring is full, and
/// when no other frame is free.
#[test]
#[ignore = "needs root"]
fn frames_are_reclaimed_in_batches_before_they_run_out() {
    const RING: u32 = 64;
    for (frames, batch) in [(256, 32), (16, 8)] {
        for mode in [Mode::Native, Mode::Generic] {
            let testbed = testbed(1);
            let umem = UmemSettings { frames, ..UmemSettings::default() };
            let socket = SocketSettings { ring: RING, ..SocketSettings::default() };
            let settings = InterfaceSettings { mode, umem, socket, ..InterfaceSettings::default() };
            let host = &testbed.hosts()[0];
            let mut near =
                host.run(|| Interface::open(host.interface(), &settings)).unwrap().unwrap();
            let tx_wakeup = near.tx_wakeup(0).unwrap();
            let mut most = 0;
            for number in 0..RING * 4 {
                let is_sent = eventually(|| {
                    let is_sent = send(&mut near, 0, &raw(number, 0));
                    most = most.max(near.sockets()[0].tx_frames());
                    tx_wakeup.kick(near.submit(0)).unwrap();
                    is_sent
                });
                assert!(is_sent, "{number}, of {frames} frames in {mode} mode");
            }
            assert!(most >= batch, "at most {most} in flight, of {frames} frames in {mode} mode");
        }
    }
}

/// A sender leaves the frames that reception needs, whether posted already or not.
#[test]
#[ignore = "needs root"]
fn sending_leaves_the_frames_that_reception_needs() {
    for (kept, free) in [(3, 5), (4, 4)] {
        let testbed = testbed(1);
        let [mut far, mut few] = [64, 16].map(|frames| {
            let umem = UmemSettings { frames, ..UmemSettings::default() };
            let settings = InterfaceSettings { umem, ..InterfaceSettings::default() };
            let host = &testbed.hosts()[usize::from(frames == 16)];
            host.run(|| Interface::open(host.interface(), &settings)).unwrap().unwrap()
        });
        few.redirect(&RAW).unwrap();
        for number in 0..kept {
            assert!(send(&mut far, 0, &raw(number, 0)));
        }
        far.flush().unwrap();
        let held: Vec<_> = (0..kept).map(|_| next(&mut few).unwrap().1).collect();
        let written: Vec<_> = std::iter::from_fn(|| few.packet(60)).collect();
        assert_eq!(written.len(), free);
        assert!(is_nothing(&mut few));
        assert_eq!(few.sockets()[0].rx_frames(), 8);
        for packet in held.into_iter().chain(written) {
            few.release(packet.into_frame());
        }
    }
}

/// The kernel sends a part of the ring per call; a flush repeats the call until the ring is empty.
#[test]
#[ignore = "needs root"]
fn flush_sends_the_whole_ring() {
    const COUNT: u32 = 200;
    for mode in [Mode::Native, Mode::Generic] {
        let testbed = testbed(1);
        let mut ends = [0, 1].map(|end| open(&testbed.hosts()[end], mode));
        ends[1].redirect(&RAW).unwrap();
        for number in 0..COUNT {
            assert!(send(&mut ends[0], 0, &raw(number, 0)));
        }
        ends[0].flush().unwrap();
        for number in 0..COUNT {
            let (_, packet) = next(&mut ends[1]).expect("all frames arrive");
            assert!(ends[1].bytes(&packet) == raw(number, 0), "{number}");
            ends[1].release(packet.into_frame());
        }
    }
}

/// A thread submits and another wakes the kernel; bursts longer than one call sends arrive
/// completely.
#[test]
#[ignore = "needs root"]
fn submit_and_wakeup_work_on_different_threads() {
    const BURSTS: [u32; 7] = [1, 32, 33, 64, 65, 100, 200];
    for mode in [Mode::Native, Mode::Generic] {
        let testbed = testbed(1);
        let [mut from, mut to] = [0, 1].map(|end| open(&testbed.hosts()[end], mode));
        to.redirect(&RAW).unwrap();
        let tx_wakeup = from.tx_wakeup(0).unwrap();
        assert!(from.tx_wakeup(1).is_none() && from.submit(1) == 0);
        for burst in BURSTS {
            for number in 0..burst {
                assert!(send(&mut from, 0, &raw(number, 0)));
            }
            assert_eq!(from.submit(0), burst);
            assert!(is_nothing(&mut to), "nothing leaves before the wakeup");
            std::thread::scope(|scope| scope.spawn(|| tx_wakeup.kick(burst)).join().unwrap())
                .unwrap();
            for number in 0..burst {
                let (_, packet) = next(&mut to).expect("all frames arrive");
                assert!(to.bytes(&packet) == raw(number, 0), "{number} of {burst}");
                to.release(packet.into_frame());
            }
            assert_eq!(from.submit(0), 0);
        }
    }
}

#[test]
#[ignore = "needs root"]
fn idle_reclaim_starts_at_half_a_batch() {
    /// Half of `RECLAIM_BATCH`.
    const FROM: u32 = 16;
    for mode in [Mode::Native, Mode::Generic] {
        let testbed = testbed(1);
        let mut from = open(&testbed.hosts()[0], mode);
        let tx_wakeup = from.tx_wakeup(0).unwrap();
        for number in 1..=FROM {
            from.reclaim_idle(0);
            from.reclaim_idle(1);
            assert_eq!(from.sockets()[0].tx_frames(), number - 1);
            assert!(send(&mut from, 0, &raw(number, 0)));
            let frames = from.submit(0);
            tx_wakeup.kick(frames).unwrap();
        }
        assert_eq!(from.sockets()[0].tx_frames(), FROM, "none is reclaimed without a call");
        assert!(eventually(|| {
            from.reclaim_idle(0);
            from.sockets()[0].tx_frames() < FROM
        }));
    }
}

/// Frames are allocated, sent and released without heap allocation.
#[test]
#[ignore = "needs root"]
fn sending_and_receiving_allocates_nothing() {
    const COUNT: u32 = 5_000;
    let testbed = testbed(1);
    let mut ends = [0, 1].map(|end| open(&testbed.hosts()[end], Mode::Generic));
    ends[1].redirect(&RAW).unwrap();
    let frame = raw(1, 0);
    let before = allocations();
    let (mut sent, mut received) = (0, 0);
    for _ in 0..COUNT * 10 {
        if sent < COUNT && sent < received + 64 && send(&mut ends[0], 0, &frame) {
            sent += 1;
        }
        ends[0].flush().unwrap();
        while let Some((_, packet)) = ends[1].receive().unwrap() {
            assert_eq!(ends[1].bytes(&packet), frame);
            ends[1].release(packet.into_frame());
            received += 1;
        }
    }
    assert_eq!(allocations() - before, 0);
    assert_eq!((sent, received), (COUNT, COUNT));
}
