//! Memberships with a source filter.

use crate::support::*;
use hairpin_netstack::{Dropped, Engine, Error, Kernel, Verdict};

const UNWANTED: Verdict = Verdict::Dropped(Dropped::Unwanted);

#[test]
fn members_receive_from_allowed_sources_only() {
    for (group, any, one, other, third) in [
        ("232.1.1.1", "0.0.0.0", "10.0.0.2", "10.0.0.3", "10.0.0.4"),
        ("ff35::1", "::", "fd00::2", "fd00::3", "fd00::4"),
    ] {
        let (mut engine, device) = engine();
        let [first, second] = [(); 2].map(|()| shared_socket(&mut engine, at(any, 7)));
        let expect = |engine: &mut Engine, from, sockets: &[_]| {
            for _ in 0..2 {
                let mut seen = Seen::default();
                let frame = frame(at(from, 9), at(group, 7), b"x");
                let verdict = engine.handle_frame(NOW, device, &frame, &mut seen);
                match sockets.len() {
                    0 => assert_eq!(verdict, UNWANTED),
                    count => assert_eq!(verdict, Verdict::Delivered(count as u32)),
                }
                assert_eq!(seen.sockets(), sockets, "{from}");
            }
        };
        engine.join_sources(first, device, ip(group), &[ip(one), ip(other)]).unwrap();
        expect(&mut engine, one, &[first]);
        expect(&mut engine, other, &[first]);
        expect(&mut engine, third, &[]);
        assert_eq!(engine.device_counters(device).unwrap().unwanted, 2);
        engine.join_sources(second, device, ip(group), &[ip(third)]).unwrap();
        expect(&mut engine, third, &[second]);
        expect(&mut engine, one, &[first]);
        engine.add_source(second, device, ip(group), ip(one)).unwrap();
        expect(&mut engine, one, &[first, second]);
        engine.remove_source(first, device, ip(group), ip(one)).unwrap();
        expect(&mut engine, one, &[second]);
        expect(&mut engine, other, &[first]);
        engine.leave(second, device, ip(group)).unwrap();
        engine.join(second, device, ip(group)).unwrap();
        expect(&mut engine, third, &[second]);
        let elsewhere = frame(at(one, 9), at(group, 8), b"x");
        let verdict = engine.handle_frame(NOW, device, &elsewhere, &mut Seen::default());
        assert_eq!(verdict, Verdict::Kernel(Kernel::NoSocket), "no member on that port");
    }
}

#[test]
fn removing_the_last_source_ends_the_membership() {
    let (mut engine, device) = engine();
    let (group, one, other) = (ip("232.1.1.1"), ip("10.0.0.2"), ip("10.0.0.3"));
    let socket = bound(&mut engine, at("0.0.0.0", 7));
    engine.join_sources(socket, device, group, &[one, other]).unwrap();
    assert_eq!(engine.groups(socket).collect::<Vec<_>>(), [(device, group)]);
    let from_one = frame(at("10.0.0.2", 9), at("232.1.1.1", 7), b"x");
    let verdict = engine.handle_frame(NOW, device, &from_one, &mut Seen::default());
    assert_eq!(verdict, Verdict::Delivered(1));
    engine.remove_source(socket, device, group, one).unwrap();
    let verdict = engine.handle_frame(NOW, device, &from_one, &mut Seen::default());
    assert_eq!(verdict, UNWANTED, "the flow was cached");
    assert_eq!(engine.remove_source(socket, device, group, one), Err(Error::Membership));
    engine.remove_source(socket, device, group, other).unwrap();
    assert_eq!(engine.groups(socket).count(), 0);
    assert_eq!(engine.leave(socket, device, group), Err(Error::Membership));
    let frame = frame(at("10.0.0.3", 9), at("232.1.1.1", 7), b"x");
    let verdict = engine.handle_frame(NOW, device, &frame, &mut Seen::default());
    assert_eq!(verdict, Verdict::Kernel(Kernel::NoSocket));
}

#[test]
fn invalid_source_lists_are_rejected() {
    let (mut engine, device) = engine();
    let (group, one) = (ip("232.1.1.1"), ip("10.0.0.2"));
    let socket = bound(&mut engine, at("0.0.0.0", 7));
    for (sources, error) in [
        (&[][..], Error::WrongAddress),
        (&[ip("0.0.0.0")], Error::WrongAddress),
        (&[one, ip("239.1.1.1")], Error::WrongAddress),
        (&[ip("fd00::2")], Error::WrongAddress),
        (&[one, one], Error::Membership),
    ] {
        assert_eq!(engine.join_sources(socket, device, group, sources), Err(error));
        assert_eq!(engine.groups(socket).count(), 0, "{sources:?}");
    }
    assert_eq!(engine.add_source(socket, device, group, one), Err(Error::Membership));
    engine.join(socket, device, group).unwrap();
    assert_eq!(engine.add_source(socket, device, group, one), Err(Error::Membership));
    assert_eq!(engine.remove_source(socket, device, group, one), Err(Error::Membership));
    assert_eq!(engine.join_sources(socket, device, group, &[one]), Err(Error::Membership));
}

#[test]
fn sources_are_freed_with_their_membership() {
    let (mut engine, device) = engine();
    let group = ip("232.1.1.1");
    let host = |number: usize| ip(&format!("10.0.1.{number}"));
    let hosts: Vec<_> = (0..SMALL.sources as usize).map(host).collect();
    for _ in 0..3 {
        let socket = bound(&mut engine, at("0.0.0.0", 7));
        engine.join_sources(socket, device, group, &hosts).unwrap();
        assert_eq!(engine.add_source(socket, device, group, host(99)), Err(Error::Full));
        engine.remove_source(socket, device, group, hosts[5]).unwrap();
        engine.add_source(socket, device, group, host(99)).unwrap();
        engine.leave(socket, device, group).unwrap();
        let too_many: Vec<_> = (0..=SMALL.sources as usize).map(host).collect();
        assert_eq!(engine.join_sources(socket, device, group, &too_many), Err(Error::Full));
        engine.join_sources(socket, device, group, &hosts).unwrap();
        engine.close(socket).unwrap();
    }
}
