//! A socket allocates nothing after its creation. The program counts allocations, so it is
//! separate.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use core::num::NonZeroU32;
use std::net::SocketAddr;

use hairpin_rds::{Config, Delivery, Socket};
use hairpin_testbed::{CountingAllocator, allocations};
use hairpin_time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn config() -> Config {
    Config {
        packet_max: 200,
        message_max: 20_000,
        send_buffer: 100_000,
        receive_buffer: 50_000,
        peers: 4,
        unconfirmed_peers: 2,
        tracked_messages: 64,
        ..Config::new(crc32c::crc32c_append)
    }
}

#[test]
fn socket_does_not_allocate_after_its_creation() {
    let before = allocations();
    drop(std::hint::black_box(Box::new([0_u8; 64])));
    assert_eq!(allocations() - before, 1, "the allocator must count");

    let mut now = Instant::from_nanos(1_000);
    let addresses: [SocketAddr; 2] = ["10.0.0.1:1", "10.0.0.2:1"].map(|it| it.parse().unwrap());
    let mut sockets = [(); 2].map(|()| Socket::new(config(), now));
    let mut packet = [0; 200];
    let before = allocations();
    for (socket, address) in sockets.iter_mut().zip(addresses) {
        socket.bind(now, address, NonZeroU32::MIN).unwrap();
    }
    let mut received = 0;
    for round in 0..20_000_usize {
        let from = round % 2;
        let length = (round * 37) % 20_000;
        let to = addresses[1 - from];
        if sockets[from].is_writable(to) {
            let _ = sockets[from].send_tracked(now, to, length, |bytes| bytes.fill(7));
        }
        if round % 1_000 == 999 {
            sockets[from].cancel_all(now);
        }
        for end in 0..2 {
            while let Some(transmit) = sockets[end].poll_transmit(now) {
                let bytes = &mut packet[..transmit.packet.len()];
                bytes.copy_from_slice(transmit.packet);
                // Every seventh packet is lost.
                received += 1;
                if received % 7 > 0 {
                    let ip = addresses[end].ip();
                    sockets[1 - end].handle_packet(now, ip, bytes, Delivery::InPlace);
                }
            }
            sockets[end].handle_timeout(now);
            sockets[end].receive(|_| {});
            while sockets[end].poll_event().is_some() {}
        }
        now += Duration::from_micros(100);
    }
    assert_eq!(allocations() - before, 0);
    assert!(sockets.iter().all(|socket| socket.counters().messages_received > 1_000));
}
