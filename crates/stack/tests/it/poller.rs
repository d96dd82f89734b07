//! Polling many sockets with one call.

use std::net::Ipv4Addr;
use std::time::Duration;

use hairpin_stack::{Poller, UdpSocket};

use crate::support::{MS, TIMEOUT, bind, each_configuration, eventually, kernel, stack, testbed};

const LOCALHOST: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Receives from all ready sockets. Returns their tokens and datagrams.
fn poll_and_receive(
    poller: &mut Poller,
    sockets: &mut [UdpSocket],
    waits: bool,
) -> Vec<(usize, Vec<u8>)> {
    let ready = if waits { poller.wait(Some(TIMEOUT)) } else { poller.poll() };
    let mut received = Vec::new();
    for token in ready.unwrap().to_vec() {
        let on = |_, payload: &[u8]| received.push((token, payload.to_vec()));
        sockets[token].receive(32, on).unwrap();
    }
    received
}

#[test]
#[ignore = "needs root"]
fn poll_returns_sockets_with_datagrams_only() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let mut sockets: Vec<_> =
            (0..8).map(|at| bind(ours, &stack, (Ipv4Addr::UNSPECIFIED, 5_000 + at))).collect();
        let mut poller = Poller::new().unwrap();
        for (token, socket) in sockets.iter().enumerate() {
            poller.add(socket, token).unwrap();
        }
        let far = kernel(theirs, (theirs.address(), 0));
        let near = kernel(ours, (Ipv4Addr::LOCALHOST, 0));
        // The first polls check for datagrams that arrived earlier.
        assert!(eventually(|| poll_and_receive(&mut poller, &mut sockets, false).is_empty()));
        assert!(poller.poll().unwrap().is_empty());
        for round in 0..100_u8 {
            let at = usize::from(round) * 5 % 8;
            let port = 5_000 + at as u16;
            let (by_wire, waits) = (round % 3 > 0, round % 2 > 0);
            if by_wire {
                far.send_to(&[round], (ours.address(), port)).unwrap();
            } else {
                near.send_to(&[round], (Ipv4Addr::LOCALHOST, port)).unwrap();
            }
            let mut received = Vec::new();
            assert!(eventually(|| {
                received.extend(poll_and_receive(&mut poller, &mut sockets, waits));
                !received.is_empty()
            }));
            assert_eq!(received, [(at, vec![round])], "{mode}");
        }
        // The signal of the last datagram may still be pending, once, and leads to no datagram.
        if !poller.wait(Some(MS * 5)).unwrap().is_empty() {
            assert!(poll_and_receive(&mut poller, &mut sockets, false).is_empty(), "{mode}");
        }
        let waited = poller.wait(Some(MS * 5)).unwrap();
        assert!(waited.is_empty(), "{mode}: no datagram for {waited:?}");
    });
}

#[test]
#[ignore = "needs root"]
fn wait_returns_for_xdp_and_kernel_datagrams() {
    let testbed = testbed(2);
    let [ours, theirs] = testbed.hosts();
    let stack = stack(ours, crate::support::MODES[1]);
    let mut sockets: Vec<_> =
        (0..3).map(|at| bind(ours, &stack, (Ipv4Addr::UNSPECIFIED, 5_000 + at))).collect();
    // Its frames are taken off the rings too, and wake no other socket for long.
    let _stranger = bind(ours, &stack, (ours.address(), 6_000));
    let mut poller = Poller::new().unwrap();
    for (token, socket) in sockets.iter().enumerate() {
        poller.add(socket, token).unwrap();
    }
    let far = kernel(theirs, (theirs.address(), 0));
    let near = kernel(ours, (Ipv4Addr::LOCALHOST, 0));
    for round in 0..60_u8 {
        let received = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(MS * u32::from(round % 4));
                far.send_to(b"stranger", (ours.address(), 6_000)).unwrap();
                let port = 5_000 + u16::from(round % 3);
                if round % 2 == 0 {
                    far.send_to(&[round], (ours.address(), port)).unwrap();
                } else {
                    near.send_to(&[round], (Ipv4Addr::LOCALHOST, port)).unwrap();
                }
            });
            let mut received = Vec::new();
            assert!(eventually(|| {
                received.extend(poll_and_receive(&mut poller, &mut sockets, true));
                !received.is_empty()
            }));
            received
        });
        assert_eq!(received, [(usize::from(round % 3), vec![round])]);
    }
}

#[test]
#[ignore = "needs root"]
fn socket_is_ready_until_it_is_read() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let mut poller = Poller::new().unwrap();
        let mut sockets: Vec<_> =
            (0..3).map(|at| bind(ours, &stack, (Ipv4Addr::UNSPECIFIED, 5_000 + at))).collect();
        for (token, socket) in sockets.iter().enumerate() {
            poller.add(socket, token).unwrap();
        }
        assert!(eventually(|| poll_and_receive(&mut poller, &mut sockets, false).is_empty()));
        let [far, near] = [kernel(theirs, (theirs.address(), 0)), kernel(ours, (LOCALHOST, 0))];
        for number in 0..6 {
            far.send_to(&[number], (ours.address(), 5_001)).unwrap();
            near.send_to(&[number], (LOCALHOST, 5_001)).unwrap();
        }
        let mut count = 0;
        assert!(eventually(|| {
            // The rings are polled by another socket too.
            sockets[2].receive(1, |_, _| ()).unwrap();
            let ready = poller.poll().unwrap().to_vec();
            assert!(ready.is_empty() || ready == [1], "{mode}: {ready:?}");
            if ready == [1] {
                assert_eq!(poller.poll().unwrap(), [1], "{mode}: not read yet");
                count += sockets[1].receive(1, |_, _| ()).unwrap().count;
            }
            count == 12
        }));
        let again = eventually(|| {
            poll_and_receive(&mut poller, &mut sockets, false);
            poller.poll().unwrap().is_empty()
        });
        assert!(again, "{mode}: everything is read");
    });
}

#[test]
#[ignore = "needs root"]
fn dropped_and_removed_sockets_are_never_ready() {
    let testbed = testbed(1);
    let [ours, theirs] = testbed.hosts();
    let stack = stack(ours, crate::support::MODES[0]);
    let mut poller = Poller::new().unwrap();
    let [dropped, removed, mut stays] =
        [5_000, 5_001, 5_002].map(|port| bind(ours, &stack, (ours.address(), port)));
    for (token, socket) in [&dropped, &removed, &stays].into_iter().enumerate() {
        poller.add(socket, token).unwrap();
    }
    // The backing sockets have not been read yet.
    drop(dropped);
    poller.remove(&removed, 1);
    // A new socket at the same index, which the poller does not know.
    let _next = bind(ours, &stack, (ours.address(), 5_000));
    let peer = kernel(theirs, (theirs.address(), 0));
    for port in [5_000, 5_001, 5_002] {
        peer.send_to(b"hello", (ours.address(), port)).unwrap();
    }
    assert!(eventually(|| stays.receive(1, |_, _| ()).unwrap().count == 1));
    for _ in 0..10 {
        stays.receive(1, |_, _| ()).unwrap();
        assert_eq!(poller.wait(Some(Duration::ZERO)).unwrap(), [] as [usize; 0]);
    }
}
