//! Many sockets of two stacks looked at by one call. As root.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

mod hosts;

use std::net::Ipv4Addr;
use std::time::Duration;

use hairpin_stack::{Poller, UdpSocket};

use hosts::{MS, PATIENCE, bed, bind, each_way, eventually, kernel, stack};

/// Receives of all that are ready; which, and what each got.
fn look(poller: &mut Poller, sockets: &mut [UdpSocket], waits: bool) -> Vec<(usize, Vec<u8>)> {
    let ready = if waits { poller.wait(Some(PATIENCE)) } else { poller.poll() };
    let mut came = Vec::new();
    for token in ready.unwrap().to_vec() {
        let on = |_, payload: &[u8]| came.push((token, payload.to_vec()));
        sockets[token].receive(32, on).unwrap();
    }
    came
}

#[test]
#[ignore = "needs root"]
fn each_socket_gets_its_own_and_only_those_that_have_something_are_named() {
    each_way(|bed, mode| {
        let [ours, theirs] = bed.hosts();
        let stack = stack(ours, mode);
        let mut sockets: Vec<_> =
            (0..8).map(|at| bind(ours, &stack, (Ipv4Addr::UNSPECIFIED, 5_000 + at))).collect();
        let mut poller = Poller::new().unwrap();
        for (token, socket) in sockets.iter().enumerate() {
            poller.add(socket, token).unwrap();
        }
        let far = kernel(theirs, (theirs.address(), 0));
        let near = kernel(ours, (Ipv4Addr::LOCALHOST, 0));
        // The first looks are at what may have come before.
        assert!(eventually(|| look(&mut poller, &mut sockets, false).is_empty()));
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
            let mut came = Vec::new();
            assert!(eventually(|| {
                came.extend(look(&mut poller, &mut sockets, waits));
                !came.is_empty()
            }));
            assert_eq!(came, [(at, vec![round])], "{mode}");
        }
        let waited = poller.wait(Some(MS * 5)).unwrap();
        assert!(waited.is_empty(), "{mode}: nothing has come for {waited:?}");
    });
}

#[test]
#[ignore = "needs root"]
fn wait_ends_for_what_the_wire_and_the_kernel_bring_while_it_sleeps() {
    let bed = bed(2);
    let [ours, theirs] = bed.hosts();
    let stack = stack(ours, hosts::MODES[1]);
    let mut sockets: Vec<_> =
        (0..3).map(|at| bind(ours, &stack, (Ipv4Addr::UNSPECIFIED, 5_000 + at))).collect();
    // Its frames are taken too, and wake nobody for long.
    let _stranger = bind(ours, &stack, (ours.address(), 6_000));
    let mut poller = Poller::new().unwrap();
    for (token, socket) in sockets.iter().enumerate() {
        poller.add(socket, token).unwrap();
    }
    let far = kernel(theirs, (theirs.address(), 0));
    let near = kernel(ours, (Ipv4Addr::LOCALHOST, 0));
    for round in 0..60_u8 {
        let came = std::thread::scope(|scope| {
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
            let mut came = Vec::new();
            assert!(eventually(|| {
                came.extend(look(&mut poller, &mut sockets, true));
                !came.is_empty()
            }));
            came
        });
        assert_eq!(came, [(usize::from(round % 3), vec![round])]);
    }
}

#[test]
#[ignore = "needs root"]
fn a_socket_that_was_dropped_or_removed_has_nothing_any_more() {
    let bed = bed(1);
    let [ours, theirs] = bed.hosts();
    let stack = stack(ours, hosts::MODES[0]);
    let mut poller = Poller::new().unwrap();
    let [dropped, removed, mut stays] =
        [5_000, 5_001, 5_002].map(|port| bind(ours, &stack, (ours.address(), port)));
    for (token, socket) in [&dropped, &removed, &stays].into_iter().enumerate() {
        poller.add(socket, token).unwrap();
    }
    // What may have come by the kernel before was not looked at.
    drop(dropped);
    poller.remove(&removed, 1);
    // The same place in the stack, for somebody whom the poller does not know.
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
