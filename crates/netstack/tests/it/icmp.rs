//! ICMP errors go to the socket whose datagram they quote, and to no other.

use crate::support::*;
use hairpin_netstack::{
    Dropped, Engine, Kernel, PathErrorReason, SocketAddress, SocketId, Verdict,
};
use hairpin_wire::{Icmpv4Header, Icmpv6Header};

/// Returns a packet that the engine sent.
fn sent(engine: &mut Engine, socket: SocketId, host: &str, to: SocketAddress) -> Vec<u8> {
    let device = engine.add_device(&DEVICE).unwrap();
    let header = engine.prepare(socket, &route(device, host, to)).unwrap();
    let mut frame = [0; 200];
    let length = engine.send(&header, 50, &mut frame, |bytes| bytes.fill(7)).unwrap();
    frame[14..length].to_vec()
}

fn icmpv4(kind: u8, code: u8, rest: [u8; 4], quoted: &[u8]) -> Vec<u8> {
    let mut header = Icmpv4Header::echo(false, 0, 0);
    header.set_kind(kind);
    header.set_code(code);
    header.set_rest(rest);
    header.fill_checksum(quoted);
    [header.as_bytes(), quoted].concat()
}

fn icmpv6(kind: u8, code: u8, rest: [u8; 4], quoted: &[u8]) -> Vec<u8> {
    let mut header = Icmpv6Header::echo(false, 0, 0);
    header.set_kind(kind);
    header.set_code(code);
    header.set_rest(rest);
    [header.as_bytes(), quoted].concat()
}

#[test]
fn icmp_errors_map_to_reasons() {
    let (mut engine, _) = engine();
    let socket = bound(&mut engine, at("10.0.0.1", 7));
    let to = at("10.0.0.2", 9);
    // Eight bytes of the datagram are sufficient.
    let quoted = &sent(&mut engine, socket, "10.0.0.1", to)[..28];
    let mut seen = Seen::default();
    for (kind, code, rest, expected) in [
        (3, 3, [0; 4], PathErrorReason::Unreachable { code: 3 }),
        (3, 4, [0, 0, 5, 0xDC], PathErrorReason::TooBig { mtu: 1_500 }),
        (11, 1, [0; 4], PathErrorReason::TimeExceeded { code: 1 }),
        (12, 0, [9, 0, 0, 0], PathErrorReason::ParameterProblem { code: 0 }),
    ] {
        let message = icmpv4(kind, code, rest, quoted);
        let verdict = engine.handle_icmpv4(NOW, &message, &mut seen);
        assert_eq!(verdict, Verdict::Delivered(1));
        let (notified, error) = seen.errors.pop().unwrap();
        assert_eq!((notified, error.destination, error.reason), (socket, to, expected));
    }
    for kind in [0, 5, 8] {
        let message = icmpv4(kind, 0, [0; 4], quoted);
        let verdict = engine.handle_icmpv4(NOW, &message, &mut seen);
        assert_eq!(verdict, Verdict::Kernel(Kernel::OtherProtocol));
    }
    assert_eq!(engine.socket_counters(socket).unwrap().path_errors, 4);
}

#[test]
fn icmpv6_errors_map_to_reasons() {
    let (mut engine, _) = engine();
    let socket = bound(&mut engine, at("fd00::1", 7));
    engine.connect(socket, ip("fd00::1"), at("fd00::2", 9)).unwrap();
    let quoted = sent(&mut engine, socket, "fd00::1", at("fd00::2", 9));
    let mut seen = Seen::default();
    for (kind, code, rest, expected) in [
        (1, 4, [0; 4], PathErrorReason::Unreachable { code: 4 }),
        (2, 0, [0, 0, 5, 0], PathErrorReason::TooBig { mtu: 1_280 }),
        (3, 0, [0; 4], PathErrorReason::TimeExceeded { code: 0 }),
        (4, 1, [0; 4], PathErrorReason::ParameterProblem { code: 1 }),
    ] {
        let message = icmpv6(kind, code, rest, &quoted);
        let verdict = engine.handle_icmpv6(NOW, &message, &mut seen);
        assert_eq!(verdict, Verdict::Delivered(1));
        let (notified, error) = seen.errors.pop().unwrap();
        assert_eq!((notified, error.reason), (socket, expected));
    }
    let verdict = engine.handle_icmpv6(NOW, &icmpv6(135, 0, [0; 4], &quoted), &mut seen);
    assert_eq!(verdict, Verdict::Kernel(Kernel::OtherProtocol));
}

#[test]
fn errors_that_quote_foreign_datagrams_are_ignored() {
    let (mut engine, _) = engine();
    let socket = bound(&mut engine, at("10.0.0.1", 7));
    engine.connect(socket, ip("10.0.0.1"), at("10.0.0.2", 9)).unwrap();
    let quoted = sent(&mut engine, socket, "10.0.0.1", at("10.0.0.2", 9));
    let mut seen = Seen::default();
    // Source, destination, both ports, and the protocol.
    for byte in [12, 15, 16, 19, 20, 21, 22, 23, 9] {
        let mut forged = quoted.clone();
        forged[byte] ^= 1;
        let verdict = engine.handle_icmpv4(NOW, &icmpv4(3, 3, [0; 4], &forged), &mut seen);
        assert_eq!(verdict, Verdict::Kernel(Kernel::NoSocket), "{byte}");
    }
    let mut tcp = quoted.clone();
    tcp[9] = 6;
    let verdict = engine.handle_icmpv4(NOW, &icmpv4(3, 3, [0; 4], &tcp), &mut seen);
    assert_eq!(verdict, Verdict::Kernel(Kernel::NoSocket), "a TCP segment");
    let verdict = engine.handle_icmpv4(NOW, &icmpv4(3, 3, [0; 4], &quoted[..27]), &mut seen);
    assert_eq!(verdict, Verdict::Kernel(Kernel::NoSocket));
    let verdict = engine.handle_icmpv4(NOW, &icmpv4(3, 3, [0; 4], &quoted[..19]), &mut seen);
    assert_eq!(verdict, Verdict::Dropped(Dropped::Malformed));
    assert!(seen.errors.is_empty());
}

#[test]
fn errors_in_frames_are_reported_if_the_checksum_is_valid() {
    let (mut engine, device) = engine();
    let socket = bound(&mut engine, at("10.0.0.1", 7));
    let quoted = sent(&mut engine, socket, "10.0.0.1", at("10.0.0.2", 9));
    let message = icmpv4(3, 3, [0; 4], &quoted);
    let mut frame = frame(at("10.0.0.2", 9), at("10.0.0.1", 7), &[0; 78]);
    assert_eq!(frame.len(), 34 + 8 + message.len() - 8);
    frame[23] = 1;
    fix_header_checksum(&mut frame);
    frame[34..].copy_from_slice(&message);
    let mut seen = Seen::default();
    let verdict = engine.handle_frame(NOW, device, &frame, &mut seen);
    assert_eq!((verdict, seen.errors.len()), (Verdict::Delivered(1), 1));
    frame[60] ^= 1;
    let verdict = engine.handle_frame(NOW, device, &frame, &mut seen);
    assert_eq!(verdict, Verdict::Dropped(Dropped::Checksum));

    let six = bound(&mut engine, at("fd00::1", 7));
    let quoted = sent(&mut engine, six, "fd00::1", at("fd00::2", 9));
    let mut frame = crate::support::frame(at("fd00::2", 9), at("fd00::1", 7), &quoted);
    let mut header = Icmpv6Header::echo(false, 0, 0);
    header.set_kind(1);
    let (from, to) = ("fd00::2".parse().unwrap(), "fd00::1".parse().unwrap());
    let length = 8 + quoted.len() as u32;
    let protocol = hairpin_wire::Protocol::ICMPV6;
    header.fill_checksum(hairpin_wire::Sum::pseudo_ipv6(from, to, protocol, length), &quoted);
    frame[20] = 58;
    frame[54..62].copy_from_slice(header.as_bytes());
    let verdict = engine.handle_frame(NOW, device, &frame, &mut seen);
    assert_eq!((verdict, seen.errors.len()), (Verdict::Delivered(1), 2));
    frame[100] ^= 1;
    let verdict = engine.handle_frame(NOW, device, &frame, &mut seen);
    assert_eq!(verdict, Verdict::Dropped(Dropped::Checksum));
}
