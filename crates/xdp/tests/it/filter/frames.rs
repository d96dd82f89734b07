//! Random test frames. Each field has few values, so that frames often match an entry or just miss
//! it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hairpin_testkit::Random;

pub(crate) const LOCALS_4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2), Ipv4Addr::new(10, 0, 0, 255)];
pub(crate) const REMOTES_4: [Ipv4Addr; 2] =
    [Ipv4Addr::new(10, 0, 0, 9), Ipv4Addr::new(192, 168, 7, 7)];
pub(crate) const GROUPS_4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(239, 1, 2, 3), Ipv4Addr::new(224, 0, 0, 251), Ipv4Addr::new(239, 255, 255, 255)];
/// The two addresses just outside 224.0.0.0/4.
const NEAR_GROUPS: [Ipv4Addr; 2] = [Ipv4Addr::new(223, 255, 255, 255), Ipv4Addr::new(240, 0, 0, 1)];
pub(crate) const LOCALS_6: [Ipv6Addr; 4] = [
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1),
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x5),
    // An almost IPv4-mapped address (one bit differs), and the loopback address.
    Ipv6Addr::new(0, 0, 0, 0, 0, 0xfffe, 0x0a00, 1),
    Ipv6Addr::LOCALHOST,
];
pub(crate) const REMOTES_6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 9), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x9)];
pub(crate) const GROUPS_6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0xfb), Ipv6Addr::new(0xff15, 0, 0, 0, 0, 0, 0, 7)];
/// The two bytes differ, so that a wrong byte order is noticed.
pub(crate) const PORTS: [u16; 4] = [0x1234, 0x3412, 53, 60_000];
pub(crate) const VLANS: [u16; 4] = [0, 7, 0x700, 4_094];
pub(crate) const ETHER_TYPES: [u16; 4] = [0x88b5, 0x88b6, 0x0806, 0x0040];

/// Returns a frame, truncated at random one time in four.
pub(crate) fn frame(chance: &mut Random) -> Vec<u8> {
    let mut frame = whole(chance);
    if chance.one_in(4) {
        let length = 14 + chance.below(frame.len() as u64 - 13) as usize;
        frame.truncate(length);
    }
    frame
}

pub(crate) fn whole(chance: &mut Random) -> Vec<u8> {
    let mut frame: Vec<u8> = (0..12).map(|_| chance.below(256) as u8).collect();
    if chance.one_in(24) {
        frame.extend(0x88a8_u16.to_be_bytes());
        frame.extend(7_u16.to_be_bytes());
    }
    for _ in 0..chance.pick(&[0, 0, 0, 1, 1, 1, 2]) {
        // Priority and drop-eligible bits precede the VLAN number.
        let tag = chance.pick(&VLANS) | chance.pick(&[0, 0x1000, 0xe000, 0xf000]);
        frame.extend(0x8100_u16.to_be_bytes());
        frame.extend(tag.to_be_bytes());
    }
    match chance.below(9) {
        0 => {
            frame.extend(chance.pick(&ETHER_TYPES).to_be_bytes());
            frame.extend(vec![0x45; 46]);
        }
        1..=4 => ipv4(chance, &mut frame),
        _ => ipv6(chance, &mut frame),
    }
    frame
}

fn ipv4(chance: &mut Random, frame: &mut Vec<u8>) {
    let protocol = protocol(chance);
    let version =
        if chance.one_in(16) { chance.pick(&[0x46, 0x4f, 0x44, 0x65, 0x05]) } else { 0x45 };
    // The reserved and "do not fragment" bits mark no fragment; a nonzero offset does.
    let fragment: u16 = if chance.one_in(6) {
        chance.pick(&[0x2000, 0x2001, 0x0001, 0x1000, 0x0100, 0x3fff, 0x6000])
    } else {
        chance.pick(&[0, 0x4000, 0x8000, 0xc000])
    };
    let destination = match chance.below(10) {
        0..=2 => chance.pick(&GROUPS_4),
        3 => chance.pick(&NEAR_GROUPS),
        _ => chance.pick(&LOCALS_4),
    };
    frame.extend(0x0800_u16.to_be_bytes());
    frame.extend([version, 0, 0, 40, 0x12, 0x34]);
    frame.extend(fragment.to_be_bytes());
    frame.extend([64, protocol, 0, 0]);
    frame.extend(chance.pick(&REMOTES_4).octets());
    frame.extend(destination.octets());
    segment(chance, frame);
}

fn ipv6(chance: &mut Random, frame: &mut Vec<u8>) {
    let protocol = if chance.one_in(8) { chance.pick(&[0, 43, 44, 60]) } else { protocol(chance) };
    let version = if chance.one_in(16) { chance.pick(&[0x40, 0x50, 0x70]) } else { 0x6a };
    let destination = match chance.below(10) {
        0..=2 => chance.pick(&GROUPS_6),
        3 => LOCALS_4[0].to_ipv6_mapped(),
        _ => chance.pick(&LOCALS_6),
    };
    frame.extend(0x86dd_u16.to_be_bytes());
    frame.extend([version, 0, 0, 0, 0, 20, protocol, 64]);
    frame.extend(chance.pick(&REMOTES_6).octets());
    frame.extend(destination.octets());
    segment(chance, frame);
}

fn protocol(chance: &mut Random) -> u8 {
    chance.pick(&[6, 6, 17, 17, 17, 17, 1, 58, 2])
}

fn segment(chance: &mut Random, frame: &mut Vec<u8>) {
    frame.extend(chance.pick(&PORTS).to_be_bytes());
    frame.extend(chance.pick(&PORTS).to_be_bytes());
    frame.extend((0..24).map(|_| chance.below(256) as u8));
}

/// Returns a UDP frame between the given endpoints.
pub(crate) fn udp(to: IpAddr, to_port: u16, from: IpAddr, from_port: u16) -> Vec<u8> {
    let mut frame = vec![2; 12];
    match (to, from) {
        (IpAddr::V4(to), IpAddr::V4(from)) => {
            frame.extend([8, 0, 0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0]);
            frame.extend(from.octets());
            frame.extend(to.octets());
        }
        (IpAddr::V6(to), IpAddr::V6(from)) => {
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 17, 64]);
            frame.extend(from.octets());
            frame.extend(to.octets());
        }
        _ => panic!("address families differ"),
    }
    frame.extend(from_port.to_be_bytes());
    frame.extend(to_port.to_be_bytes());
    frame.extend([0, 8, 0, 0]);
    frame
}
