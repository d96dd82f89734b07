//! Corrupted arenas: no call panics or loops forever.

use crate::support::*;
use hairpin_netstack::{Engine, Error, SocketAddress, SocketOptions};
use proptest::prelude::*;
use zerocopy::IntoBytes;

/// Creates an engine with some of every kind of object.
fn populated(memory: &mut [u64]) -> Engine<'_> {
    let (mut engine, device) = engine(memory);
    let settings = hairpin_netstack::DeviceSettings { vlan: Some((device, 5)), ..DEVICE };
    engine.add_device(&settings).unwrap();
    for local in [at("0.0.0.0", 7), at("10.0.0.1", 7), at("::", 7)] {
        for _ in 0..3 {
            let socket = shared_socket(&mut engine, local);
            let group = if local.address.is_ipv4() { "239.1.1.1" } else { "ff15::1" };
            let source = if local.address.is_ipv4() { "10.0.0.2" } else { "fd00::2" };
            engine.join_sources(socket, device, ip(group), &[ip(source)]).unwrap();
        }
    }
    let connected = shared_socket(&mut engine, at("10.0.0.1", 7));
    engine.connect(connected, ip("10.0.0.1"), at("10.0.0.2", 9)).unwrap();
    engine
}

/// Calls every method; the results do not matter.
fn call_all(engine: &mut Engine<'_>) {
    let mut seen = Seen::default();
    let devices: Vec<_> = engine.device_ids().collect();
    let sockets: Vec<_> = engine.socket_ids().collect();
    let mut buffer = [0; 2_048];
    for &device in &devices {
        for (from, to) in [
            ("10.0.0.2", "10.0.0.1"),
            ("10.0.0.2", "239.1.1.1"),
            ("10.0.0.3", "10.0.0.255"),
            ("fd00::2", "fd00::1"),
            ("fd00::2", "ff15::1"),
        ] {
            let frame = frame(at(from, 9), at(to, 7), b"x");
            engine.handle_frame(NOW, device, &frame, &mut seen);
            engine.deliver_known_flow(device, &frame);
        }
        let _ = (engine.device_settings(device), engine.device_counters(device));
        engine.addresses(device).count();
    }
    let options = SocketOptions { reuse_address: true, ..SocketOptions::default() };
    for &socket in &sockets {
        let _ = (engine.endpoints(socket), engine.options(socket), engine.socket_counters(socket));
        engine.groups(socket).count();
        let _ = engine.bind(socket, at("0.0.0.0", 7));
        let _ = engine.connect(socket, ip("10.0.0.1"), at("10.0.0.2", 9));
        for &device in &devices {
            if let Ok(header) =
                engine.prepare(socket, &route(device, "10.0.0.1", at("10.0.0.2", 9)))
            {
                let _ = engine.send(&header, 9, &mut buffer, |_| {});
            }
            for group in [ip("239.1.1.1"), ip("ff15::1")] {
                let _ = engine.add_source(socket, device, group, ip("10.0.0.9"));
                let _ = engine.remove_source(socket, device, group, ip("10.0.0.2"));
                let _ = engine.leave(socket, device, group);
                let _ = engine.join(socket, device, group);
            }
        }
        let _ = engine.set_options(socket, &options);
    }
    if let Ok(socket) = engine.open_socket(&options) {
        let _ = engine.bind(socket, SocketAddress::new(ip("0.0.0.0"), 7));
    }
    for device in devices {
        let _ = engine.add_address(device, ip("10.0.0.8"), None);
        engine.remove_address(device, ip("10.0.0.8"));
        let _ = engine.remove_device(device);
    }
    for socket in sockets {
        let _ = engine.close(socket);
    }
}

/// Returns a 32-bit word to write: an index in most cases.
fn word() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0..20_u32, 1 => Just(u32::MAX), 1 => any::<u32>()]
}

/// The size of the header: magic, version, counts. It is checked first.
const HEADER: usize = 8 + 4 + 5 * 4;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]
    #[test]
    fn random_writes_cause_no_panic_and_no_endless_loop(
        writes in proptest::collection::vec((any::<prop::sample::Index>(), word()), 1..40),
        spares_header in proptest::bool::weighted(0.9),
    ) {
        let mut memory = memory(&SMALL);
        let size = SMALL.arena_size();
        populated(&mut memory);
        let bytes = &mut memory.as_mut_bytes()[..size];
        let first = if spares_header { HEADER } else { 0 };
        for (place, word) in writes {
            let place = first + place.index((size - first) / 4) * 4;
            bytes[place..place + 4].copy_from_slice(&word.to_ne_bytes());
        }
        let mut copy = memory.clone();
        if let Ok(mut engine) = Engine::reopen(copy.as_mut_bytes()) {
            call_all(&mut engine);
        }
        if let Ok(mut engine) = Engine::open(memory.as_mut_bytes()) {
            call_all(&mut engine);
        }
    }

    #[test]
    fn random_bytes_after_the_header_cause_no_panic(
        rest in proptest::collection::vec(word(), 8_000 / 4),
    ) {
        let mut memory = memory(&SMALL);
        populated(&mut memory);
        let bytes = &mut memory.as_mut_bytes()[HEADER..];
        for (old, new) in bytes.chunks_exact_mut(4).zip(rest) {
            old.copy_from_slice(&new.to_ne_bytes());
        }
        if let Ok(mut engine) = Engine::reopen(memory.as_mut_bytes()) {
            call_all(&mut engine);
        }
    }
}

/// A word of the arena is either harmless or detected as corrupt when the arena is opened.
#[test]
fn open_detects_invalid_indices() {
    let mut memory = memory(&SMALL);
    populated(&mut memory);
    assert!(Engine::open(memory.clone().as_mut_bytes()).is_ok());
    let (mut corrupt, mut harmless) = (0, 0);
    for place in (HEADER..SMALL.arena_size()).step_by(4) {
        let mut copy = memory.clone();
        copy.as_mut_bytes()[place..place + 4].copy_from_slice(&3_u32.to_ne_bytes());
        match Engine::open(copy.as_mut_bytes()) {
            Ok(_) => harmless += 1,
            Err(error) => {
                assert_eq!(error, Error::Corrupt);
                corrupt += 1;
            }
        }
    }
    // The socket and membership slots alone are 64 words.
    assert!(corrupt > 64 && harmless > 64, "{corrupt} {harmless}");
}
