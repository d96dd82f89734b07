//! Raw frames of a stack, over a veth.

use std::io::ErrorKind;

use hairpin_stack::{RawFrames, Stack};
use hairpin_testbed::Host;
use socket2::{Domain, Protocol, Socket, Type};

use crate::support::{
    TIMEOUT, addresses, bind, each_configuration, frame, kernel, next, send, stack, take,
};

/// EtherTypes for local experiments (IEEE 802), and the one after.
const TYPES: [u16; 2] = [0x88b5, 0x88b6];

fn raw(host: &Host, stack: &Stack, ether_type: u16) -> RawFrames {
    host.run(|| stack.raw_frames(ether_type)).unwrap().unwrap()
}

#[test]
#[ignore = "needs root"]
fn frames_are_echoed_in_place_during_udp_traffic() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stacks = [stack(ours, mode), stack(theirs, mode)];
        let [mut near, mut far] =
            [0, 1].map(|end| raw(&testbed.hosts()[end], &stacks[end], TYPES[0]));
        let place = (addresses(theirs)[0], 7_000);
        let mut socket = bind(theirs, &stacks[1], place);
        let mut sender = bind(ours, &stacks[0], (addresses(ours)[0], 7_000));
        let longest = 1_514;
        for number in 0..500_u32 {
            let sent = frame(TYPES[0], number, 60 + (number as usize * 37) % (longest - 59));
            send(&mut near, &sent);
            sender.send_to(&number.to_be_bytes(), place.into()).unwrap();
            let mut packet = take(&mut far);
            assert!(far.bytes(&packet) == sent, "{mode}, {number}");
            far.bytes_mut(&mut packet)[..12].rotate_left(6);
            assert!(far.transmit(packet).unwrap().is_ok());
            let packet = take(&mut near);
            assert_eq!(near.bytes(&packet)[..6], sent[6..12]);
            assert!(near.bytes(&packet)[12..] == sent[12..], "{mode}, {number}");
            near.release(packet);
            assert_eq!(next(&mut socket).unwrap().1, number.to_be_bytes());
        }
        assert_eq!((near.dropped(), far.dropped()), (0, 0));
        assert!(near.frame(near.max_length() + 300).is_none());
        let short = near.frame(13).unwrap();
        let short = near.transmit(short).unwrap().unwrap_err();
        near.release(short);
    });
}

#[test]
#[ignore = "needs root"]
fn ether_types_are_separate_and_others_pass_to_the_kernel() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stacks = [stack(ours, mode), stack(theirs, mode)];
        let mut near = raw(ours, &stacks[0], TYPES[0]);
        let mut far = TYPES.map(|ether_type| raw(theirs, &stacks[1], ether_type));
        let strangers = Protocol::from(i32::from(0x88b7_u16.to_be()));
        let kernel = theirs.run(|| Socket::new(Domain::PACKET, Type::RAW, Some(strangers)));
        let kernel = kernel.unwrap().unwrap();
        kernel.set_read_timeout(Some(TIMEOUT)).unwrap();
        let kernel = std::fs::File::from(std::os::fd::OwnedFd::from(kernel));
        for number in 0..100 {
            for ether_type in [TYPES[1], 0x88b7, TYPES[0]] {
                send(&mut near, &frame(ether_type, number, 100));
            }
            for (raw, ether_type) in far.iter_mut().zip(TYPES) {
                let packet = take(raw);
                assert!(raw.bytes(&packet) == frame(ether_type, number, 100), "{mode}");
                raw.release(packet);
            }
            let mut received = [0; 200];
            let length = std::io::Read::read(&mut &kernel, &mut received).unwrap();
            assert!(received[..length] == frame(0x88b7, number, 100), "{mode}");
        }
        for raw in &mut far {
            assert!(raw.receive().unwrap().is_none());
        }
    });
}

#[test]
#[ignore = "needs root"]
fn ether_type_has_one_owner_and_reserved_types_none() {
    let testbed = crate::support::testbed(1);
    let [ours, theirs] = testbed.hosts();
    let stack = stack(ours, crate::support::MODES[0]);
    let open = |ether_type| ours.run(|| stack.raw_frames(ether_type)).unwrap();
    let first = open(TYPES[0]).unwrap();
    assert_eq!(first.ether_type(), TYPES[0]);
    assert_eq!(first.mac(), stack.mac());
    assert_eq!(open(TYPES[0]).unwrap_err().kind(), ErrorKind::AddrInUse);
    for reserved in [0x0800, 0x86dd, 0x0806] {
        assert_eq!(open(reserved).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    drop(first);
    open(TYPES[0]).unwrap();
    // The rejected calls changed nothing.
    let socket = kernel(ours, (ours.address(), 7_000));
    let peer = kernel(theirs, (theirs.address(), 0));
    peer.send_to(b"hello", (ours.address(), 7_000)).unwrap();
    assert_eq!(socket.recv(&mut [0; 8]).unwrap(), 5);
}
