//! Packets of senders that do not follow the protocol.

use hairpin_netsim::Random;
use hairpin_rds::Delivery;
use hairpin_rds::packet::{HEADER, Header, Kind};
use hairpin_time::Duration;

use crate::pair::{DELAY, Pair, address, bound, config, deliver, events, packets, received, send};

/// Replaces the fields of a packet and corrects its checksum.
fn forge(packet: &[u8], change: impl FnOnce(&mut Header)) -> Vec<u8> {
    let (mut header, payload) = Header::decode(packet, crc32c::crc32c_append).unwrap();
    change(&mut header);
    let mut forged = vec![0; HEADER];
    forged.extend_from_slice(payload);
    header.encode(&mut forged, crc32c::crc32c_append);
    forged
}

#[test]
fn replayed_packet_is_a_duplicate() {
    let mut pair = Pair::new(config());
    send(pair.now, &mut pair.a, 2, b"once");
    let sent = packets(pair.now, &mut pair.a);
    (0..1_000).for_each(|_| deliver(pair.now, 1, &mut pair.b, &sent));
    assert_eq!(received(&mut pair.b), [b"once"]);
    assert_eq!(pair.b.counters().duplicates, 999);
}

#[test]
fn truncated_and_damaged_packets_are_counted() {
    let mut pair = Pair::new(config());
    send(pair.now, &mut pair.a, 2, b"intact");
    let sent = packets(pair.now, &mut pair.a).pop().unwrap();
    for length in 0..sent.len() {
        deliver(pair.now, 1, &mut pair.b, &[sent[..length].to_vec()]);
    }
    assert_eq!(pair.b.counters().dropped_malformed, sent.len() as u64);
    for bit in 0..sent.len() * 8 {
        let mut damaged = sent.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        deliver(pair.now, 1, &mut pair.b, &[damaged]);
    }
    let c = pair.b.counters();
    let dropped = c.dropped_malformed + c.dropped_version + c.dropped_checksum;
    assert_eq!(dropped, (sent.len() + sent.len() * 8) as u64);
    deliver(pair.now, 1, &mut pair.b, &[sent]);
    assert_eq!(received(&mut pair.b), [b"intact"]);
}

#[test]
fn packet_longer_than_a_buffer_is_dropped() {
    let mut pair = Pair::new(config());
    send(pair.now, &mut pair.a, 2, b"x");
    let sent = packets(pair.now, &mut pair.a).pop().unwrap();
    let (header, _) = Header::decode(&sent, crc32c::crc32c_append).unwrap();
    let mut long = vec![7; HEADER + 9_000];
    header.encode(&mut long, crc32c::crc32c_append);
    let before = pair.b.counters().dropped_malformed;
    for delivery in [Delivery::Queue, Delivery::InPlace] {
        assert!(pair.b.handle_packet(pair.now, address(1).ip(), &long, delivery).is_none());
    }
    assert_eq!(pair.b.counters().dropped_malformed - before, 2);
    deliver(pair.now, 1, &mut pair.b, &[sent]);
    assert_eq!(received(&mut pair.b), [b"x"]);
}

#[test]
fn wrong_incarnation_is_dropped_and_counted() {
    let mut pair = Pair::new(config());
    send(pair.now, &mut pair.a, 2, b"x");
    let sent = packets(pair.now, &mut pair.a).pop().unwrap();
    let other = forge(&sent, |header| {
        (header.source_incarnation, header.destination_incarnation) = (7, 0);
    });
    let not_us = forge(&sent, |header| header.destination_incarnation += 1);
    let zero = forge(&sent, |header| header.source_incarnation = 0);
    deliver(pair.now, 1, &mut pair.b, &[other, not_us, zero]);
    assert!(received(&mut pair.b).is_empty() && events(&mut pair.b).is_empty());
    let c = pair.b.counters();
    assert_eq!((c.dropped_incarnation, c.dropped_malformed), (2, 1));
}

#[test]
fn forged_challenges_and_rejects_have_no_effect() {
    let mut pair = Pair::new(config());
    send(pair.now, &mut pair.a, 2, b"x");
    let sent = packets(pair.now, &mut pair.a).pop().unwrap();
    let mut random = Random::new(1);
    for _ in 0..10_000 {
        let kind = if random.below(2) == 0 { Kind::Challenge } else { Kind::Reject };
        let forged = forge(&sent, |header| {
            header.kind = kind;
            header.destination_incarnation = random.any() as u32;
            header.source_incarnation = random.any() as u32;
            header.echo = random.any() as u32;
        });
        deliver(pair.now, 2, &mut pair.a, &[forged]);
    }
    assert!(events(&mut pair.a).is_empty());
    pair.wait(DELAY);
    deliver(pair.now, 1, &mut pair.b, &[sent]);
    assert_eq!(received(&mut pair.b), [b"x"]);
}

#[test]
fn forged_packets_do_not_disturb_a_pair() {
    let mut pair = Pair::new(config());
    let mut stranger = bound(pair.now, 9, 3, config());
    send(pair.now, &mut stranger, 2, b"forged");
    let valid = packets(pair.now, &mut stranger).pop().unwrap();
    let mut random = Random::new(2);
    let mut next = 0;
    for number in 0..1_000_000_u64 {
        let forged = forge(&valid, |header| {
            header.source_port = random.any() as u16;
            header.source_incarnation = random.any() as u32;
            header.sequence = random.below(70) as u32;
            header.floor = random.below(3) as u32;
            header.acknowledgment = random.any() as u32;
            header.timestamp = random.any() as u32;
            header.kind = *random.pick(&[Kind::Data, Kind::Probe, Kind::Challenge, Kind::Reject]);
        });
        let from = [1, 9, 10][random.below(3) as usize];
        deliver(pair.now, from, &mut pair.b, &[forged]);
        if number % 1_000 == 0 {
            send(pair.now, &mut pair.a, 2, &next_message(next));
            for _ in 0..4 {
                let sent = packets(pair.now, &mut pair.a);
                pair.wait(DELAY);
                deliver(pair.now, 1, &mut pair.b, &sent);
                pair.b.receive(|_| {});
                while let Some(transmit) = pair.b.poll_transmit(pair.now) {
                    if transmit.to == address(1) {
                        let packet = transmit.packet.to_vec();
                        deliver(pair.now, 2, &mut pair.a, &[packet]);
                    }
                }
                pair.wait(DELAY * 10);
                pair.a.handle_timeout(pair.now);
                pair.b.handle_timeout(pair.now);
            }
            next += 1;
            let delivered = events(&mut pair.a);
            assert!(delivered.len() == 1, "after {number} forged packets: {delivered:?}");
        }
        pair.b.receive(|_| {});
    }
    let c = pair.b.counters();
    assert!(c.dropped_incarnation > 100_000 && c.peers_evicted > 0, "{c:?}");
}

/// Ten minutes at 1,000 forged ICMP errors per second, with every quote but a valid one.
#[test]
fn forged_icmp_errors_do_not_disturb_a_pair() {
    let mut pair = Pair::new(config());
    let mut random = Random::new(3);
    let (peer, mut next) = (address(2), 0);
    let before = pair.a.counters().packets_sent;
    for number in 0..600_000_u64 {
        let mut quote = vec![0; random.below(80) as usize];
        quote.iter_mut().for_each(|byte| *byte = random.any() as u8);
        if quote.len() > 5 {
            quote[4] = 0x10 | random.below(6) as u8;
        }
        match random.below(2) {
            0 => pair.a.handle_undeliverable(peer.ip(), peer.port(), &quote),
            _ => pair.a.handle_unreachable(peer.ip(), peer.port()),
        }
        if number % 100 == 0 {
            send(pair.now, &mut pair.a, 2, &next_message(next));
        }
        pair.a_to_b();
        pair.b_to_a();
        pair.wait(Duration::from_micros(900));
        pair.a.handle_timeout(pair.now);
        pair.b.handle_timeout(pair.now);
        while pair.b.receive(|message| assert_eq!(message.bytes, next_message(next))) {
            next += 1;
            let delivered = events(&mut pair.a);
            assert!(delivered.len() <= 1, "after {number} errors: {delivered:?}");
        }
    }
    assert_eq!(next, 6_000);
    let c = pair.a.counters();
    assert_eq!((c.icmp_accepted, c.icmp_ignored), (0, 600_000));
    assert!(c.packets_sent - before < 6_000 * 4, "{c:?}");
}

fn next_message(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}
