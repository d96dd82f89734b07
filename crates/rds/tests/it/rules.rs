//! One rule per test, as a trace of packets with a fake clock.

use hairpin_rds::packet::{HEADER, reject};
use hairpin_rds::{Config, Delivery, Event, Outcome, SendError, Socket};
use hairpin_time::{Duration, Instant};

use crate::pair::{
    DELAY, PAYLOAD, Pair, address, bound, config, deliver, events, outcome, packets, received, send,
};

#[test]
fn first_message_needs_no_round_trip() {
    let start = Instant::from_nanos(5);
    let (mut a, mut b) = (bound(start, 1, 1, config()), bound(start, 2, 2, config()));
    let now = start + Duration::from_secs(11);
    send(now, &mut a, 2, b"first");
    deliver(now, 1, &mut b, &packets(now, &mut a));
    assert_eq!(received(&mut b), [b"first"]);
}

#[test]
fn gap_is_reported_at_once() {
    let mut pair = Pair::new(config());
    (0..3).for_each(|number| _ = send(pair.now, &mut pair.a, 2, &[number]));
    let sent = packets(pair.now, &mut pair.a);
    pair.wait(DELAY);
    deliver(pair.now, 1, &mut pair.b, &sent[..1]);
    assert!(packets(pair.now, &mut pair.b).is_empty(), "nothing is missing");
    deliver(pair.now, 1, &mut pair.b, &sent[2..]);
    pair.b_to_a();
    assert_eq!((pair.b.counters().naks_sent, pair.a.counters().naks_received), (1, 1));
    pair.a_to_b();
    assert_eq!(pair.a.counters().retransmitted, 1);
    assert_eq!(received(&mut pair.b), [[0], [1], [2]]);
    assert_eq!(pair.a.counters().windows_halved, 1);
}

#[test]
fn all_gaps_are_reported_in_one_packet() {
    let mut pair = Pair::new(config());
    (0..9).for_each(|number| _ = send(pair.now, &mut pair.a, 2, &[number]));
    let sent = packets(pair.now, &mut pair.a);
    pair.wait(DELAY);
    for number in [0, 2, 4, 6, 8] {
        deliver(pair.now, 1, &mut pair.b, &sent[number..=number]);
    }
    pair.b_to_a();
    assert_eq!(pair.b.counters().naks_sent, 1);
    pair.a_to_b();
    assert_eq!(pair.a.counters().retransmitted, 4);
    assert_eq!(received(&mut pair.b).len(), 9);
}

#[test]
fn last_packet_is_resent_after_twice_the_round_trip() {
    let mut pair = Pair::new(config());
    // Round trips of 300 µs, which are long enough to count.
    for _ in 0..3_000 {
        send(pair.now, &mut pair.a, 2, b"x");
        let sent = packets(pair.now, &mut pair.a);
        pair.wait(Duration::from_micros(300));
        deliver(pair.now, 1, &mut pair.b, &sent);
        send(pair.now, &mut pair.b, 1, b"y");
        let answer = packets(pair.now, &mut pair.b);
        deliver(pair.now, 2, &mut pair.a, &answer);
        events(&mut pair.a);
        events(&mut pair.b);
        received(&mut pair.a);
        received(&mut pair.b);
        pair.wait(Duration::from_millis(20));
        pair.a.handle_timeout(pair.now);
    }
    let (probes, resent) = (pair.a.counters().probes_sent, pair.a.counters().retransmitted);
    send(pair.now, &mut pair.a, 2, b"lost");
    packets(pair.now, &mut pair.a);
    let start = pair.now;
    let mut again = Vec::new();
    while again.is_empty() {
        pair.now = pair.a.poll_timeout().unwrap();
        pair.a.handle_timeout(pair.now);
        again = packets(pair.now, &mut pair.a);
    }
    let waited = pair.now - start;
    assert!(waited >= Duration::from_micros(600), "{waited:?}");
    assert!(waited < Duration::from_micros(900), "{waited:?}");
    assert_eq!(pair.a.counters().retransmitted, resent + 1);
    assert_eq!(pair.a.counters().probes_sent, probes);
    // Lost too: a probe follows.
    while pair.a.counters().probes_sent == probes {
        pair.now = pair.a.poll_timeout().unwrap();
        pair.a.handle_timeout(pair.now);
        packets(pair.now, &mut pair.a);
    }
    deliver(pair.now, 1, &mut pair.b, &again);
    pair.settle();
    assert_eq!(received(&mut pair.b), [b"lost"]);
}

#[test]
fn probe_after_a_long_timeout_is_on_time_again() {
    let mut pair = Pair::new(config());
    send(pair.now, &mut pair.a, 2, b"x");
    packets(pair.now, &mut pair.a);
    // No answer for a second: probes are 100 ms apart.
    let end = pair.now + Duration::from_secs(1);
    while pair.now < end {
        pair.now = pair.a.poll_timeout().unwrap();
        pair.a.handle_timeout(pair.now);
        packets(pair.now, &mut pair.a);
    }
    pair.settle();
    send(pair.now, &mut pair.a, 2, b"y");
    packets(pair.now, &mut pair.a);
    assert!(pair.a.poll_timeout().unwrap() - pair.now < Duration::from_millis(2));
}

#[test]
fn unreachable_is_reported_once_and_retries_continue() {
    let mut pair = Pair::new(config());
    send(pair.now, &mut pair.a, 2, b"x");
    packets(pair.now, &mut pair.a);
    let end = pair.now + Duration::from_secs(15);
    while pair.now < end {
        pair.now = pair.a.poll_timeout().unwrap();
        pair.a.handle_timeout(pair.now);
        packets(pair.now, &mut pair.a);
    }
    assert_eq!(events(&mut pair.a), [Event::Unreachable(address(2))]);
    pair.settle();
    assert_eq!(received(&mut pair.b), [b"x"]);
}

#[test]
fn packet_of_old_incarnation_is_dropped() {
    let mut pair = Pair::new(config());
    send(pair.now, &mut pair.a, 2, b"old");
    let old = packets(pair.now, &mut pair.a);
    pair.a = bound(pair.now, 1, 0xA2, config());
    send(pair.now, &mut pair.a, 2, b"new");
    pair.settle();
    assert_eq!(received(&mut pair.b), [b"new"]);
    assert_eq!(events(&mut pair.b), [Event::PeerRestarted(address(1))]);
    deliver(pair.now, 1, &mut pair.b, &old);
    pair.settle();
    assert!(received(&mut pair.b).is_empty() && events(&mut pair.b).is_empty());
    assert!(pair.b.counters().dropped_incarnation > 0);
}

#[test]
fn packet_in_a_burst_of_the_old_incarnation_is_dropped() {
    let mut pair = Pair::new(config());
    // Timestamps of a burst run ahead of the clock, and so does the echo.
    (0..60).for_each(|_| _ = pair.b.send(pair.now, address(1), 1, |_| {}));
    let burst = packets(pair.now, &mut pair.b);
    deliver(pair.now, 2, &mut pair.a, &burst);
    send(pair.now, &mut pair.a, 2, b"old");
    let old = packets(pair.now, &mut pair.a);
    pair.a = bound(pair.now, 1, 0xA2, config());
    send(pair.now, &mut pair.a, 2, b"new");
    for _ in 0..3 {
        let sent = packets(pair.now, &mut pair.a);
        deliver(pair.now, 1, &mut pair.b, &sent);
        let answer = packets(pair.now, &mut pair.b);
        deliver(pair.now, 2, &mut pair.a, &answer);
    }
    assert_eq!(received(&mut pair.b), [b"new"]);
    deliver(pair.now, 1, &mut pair.b, &old);
    assert!(received(&mut pair.b).is_empty());
}

#[test]
fn restarted_peer_gets_what_was_sent_after_its_bind() {
    let mut pair = Pair::new(config());
    let lost = send(pair.now, &mut pair.a, 2, b"to the earlier socket");
    packets(pair.now, &mut pair.a);
    pair.wait(Duration::from_millis(1));
    pair.b = bound(pair.now, 2, 0xB2, config());
    pair.wait(Duration::from_millis(1));
    let kept = send(pair.now, &mut pair.a, 2, b"to the new socket");
    pair.settle();
    assert_eq!(received(&mut pair.b), [b"to the new socket"]);
    let expected = [
        outcome(lost, Outcome::Unknown),
        Event::PeerRestarted(address(2)),
        outcome(kept, Outcome::Delivered),
    ];
    assert_eq!(events(&mut pair.a), expected);
}

#[test]
fn acknowledgment_of_an_earlier_socket_is_void() {
    let mut pair = Pair::new(config());
    (0..20).for_each(|_| _ = pair.a.send(pair.now, address(2), 1, |_| {}));
    pair.settle();
    received(&mut pair.b);
    // b has received 21 packets of the first socket of a. The second one has sent 20.
    pair.a = bound(pair.now, 1, 0xA2, config());
    send(pair.now, &mut pair.b, 1, b"for the first");
    let for_first = packets(pair.now, &mut pair.b);
    (0..30).for_each(|_| _ = pair.a.send(pair.now, address(2), 1, |_| {}));
    packets(pair.now, &mut pair.a);
    pair.wait(DELAY);
    deliver(pair.now, 2, &mut pair.a, &for_first);
    // The challenge of a arrives first; then b sends before it has received data.
    pair.a_to_b();
    pair.b.send(pair.now, address(1), 1, |_| {}).unwrap();
    pair.b_to_a();
    pair.settle();
    assert_eq!(received(&mut pair.b).len(), 30);
}

#[test]
fn evicts_oldest_unconfirmed() {
    let mut pair = Pair::new(config());
    pair.wait(Duration::from_secs(11));
    let mut strangers: Vec<_> =
        (0..4).map(|number| bound(pair.now, 10 + number, 7, config())).collect();
    for (number, stranger) in (10..).zip(&mut strangers) {
        send(pair.now, stranger, 2, &[number]);
        let sent = packets(pair.now, stranger);
        deliver(pair.now, number, &mut pair.b, &sent);
        // Two fit, the third evicts the first, and from then on senders prove their incarnation.
        assert_eq!(received(&mut pair.b).len(), usize::from(number < 12), "{number}");
    }
    assert_eq!(pair.b.counters().peers_evicted, 1);
    pair.wait(Duration::from_millis(1));
    for _ in 0..3 {
        while let Some(transmit) = pair.b.poll_transmit(pair.now) {
            let number = usize::from(transmit.to.ip().to_string().ends_with(".13")) + 12;
            let packet = transmit.packet.to_vec();
            if transmit.to.ip() == address(12).ip() || transmit.to.ip() == address(13).ip() {
                let stranger = &mut strangers[number - 10];
                deliver(pair.now, 2, stranger, &[packet]);
            }
        }
        for number in [12, 13] {
            let sent = packets(pair.now, &mut strangers[usize::from(number) - 10]);
            deliver(pair.now, number, &mut pair.b, &sent);
        }
    }
    assert_eq!(received(&mut pair.b), [[12], [13]], "proven senders are accepted");
}

/// Exchanges the packets of `socket`, which is host 10, and of `b`, a few times.
fn exchange(pair: &mut Pair, socket: &mut Socket) {
    for _ in 0..5 {
        let sent = packets(pair.now, socket);
        pair.wait(DELAY);
        deliver(pair.now, 10, &mut pair.b, &sent);
        let answers = packets(pair.now, &mut pair.b);
        pair.wait(DELAY);
        deliver(pair.now, 2, socket, &answers);
        pair.wait(Duration::from_millis(2));
        socket.handle_timeout(pair.now);
    }
}

#[test]
fn evicted_sender_does_not_repeat_what_was_received() {
    // After 10 s without an eviction, unknown senders are trusted again.
    for silence in [Duration::from_millis(2), Duration::from_secs(11)] {
        let mut pair = Pair::new(Config { unconfirmed_peers: 1, ..config() });
        pair.wait(Duration::from_secs(11));
        let mut first = bound(pair.now, 10, 7, config());
        let seen = send(pair.now, &mut first, 2, b"seen");
        let sent = packets(pair.now, &mut first);
        deliver(pair.now, 10, &mut pair.b, &sent);
        assert_eq!(received(&mut pair.b), [b"seen"]);
        // Another sender evicts the first one.
        let mut second = bound(pair.now, 11, 7, config());
        send(pair.now, &mut second, 2, b"x");
        deliver(pair.now, 11, &mut pair.b, &packets(pair.now, &mut second));
        packets(pair.now, &mut pair.b);
        pair.wait(silence);
        let later = send(pair.now, &mut first, 2, b"later");
        exchange(&mut pair, &mut first);
        assert_eq!(received(&mut pair.b), [b"later"], "after {silence:?}");
        let expected = [outcome(seen, Outcome::Unknown), outcome(later, Outcome::Delivered)];
        assert_eq!(events(&mut first), expected, "after {silence:?}");
    }
}

#[test]
fn probe_of_an_evicted_sender_is_challenged() {
    let mut pair = Pair::new(Config { unconfirmed_peers: 1, ..config() });
    pair.wait(Duration::from_secs(11));
    let mut first = bound(pair.now, 10, 7, config());
    let seen = send(pair.now, &mut first, 2, b"seen");
    deliver(pair.now, 10, &mut pair.b, &packets(pair.now, &mut first));
    let mut second = bound(pair.now, 11, 7, config());
    send(pair.now, &mut second, 2, b"x");
    assert_eq!(received(&mut pair.b), [b"seen"]);
    deliver(pair.now, 11, &mut pair.b, &packets(pair.now, &mut second));
    packets(pair.now, &mut pair.b);
    pair.wait(Duration::from_secs(11));
    first.handle_timeout(pair.now);
    let probe = packets(pair.now, &mut first);
    deliver(pair.now, 10, &mut pair.b, &probe);
    exchange(&mut pair, &mut first);
    assert!(received(&mut pair.b).is_empty(), "a message was repeated");
    assert!(events(&mut first).contains(&outcome(seen, Outcome::Unknown)));
}

#[test]
fn peer_that_restarts_unconfirmed_is_confirmed_by_its_proof() {
    let mut pair = Pair::new(config());
    pair.wait(Duration::from_secs(11));
    let mut first = bound(pair.now, 10, 7, config());
    send(pair.now, &mut first, 2, b"x");
    deliver(pair.now, 10, &mut pair.b, &packets(pair.now, &mut first));
    assert_eq!(received(&mut pair.b), [b"x"]);
    packets(pair.now, &mut pair.b);
    // The next socket starts before the first one has received an answer.
    let mut second = bound(pair.now, 10, 8, config());
    let message = vec![1; 3 * PAYLOAD];
    let id = send(pair.now, &mut second, 2, &message);
    exchange(&mut pair, &mut second);
    assert_eq!(received(&mut pair.b), [message]);
    assert_eq!(events(&mut second), [outcome(id, Outcome::Delivered)]);
}

#[test]
fn pair_continues_after_the_eviction_of_an_idle_peer() {
    for evictor in [true, false] {
        let mut pair = Pair::new(Config { peers: 1, unconfirmed_peers: 1, ..config() });
        pair.wait(Duration::from_secs(61));
        // b has room for one peer, so that a message to another one evicts a.
        pair.b.send(pair.now, address(3), 1, |_| {}).unwrap();
        packets(pair.now, &mut pair.b);
        pair.b.cancel(pair.now, address(3));
        let reply = packets(pair.now, &mut pair.b);
        let mut answer = [0; HEADER];
        let refused = reject(&reply[0], &mut answer, crc32c::crc32c_append).unwrap();
        deliver(pair.now, 3, &mut pair.b, &[answer[..refused].to_vec()]);
        assert_eq!(pair.b.counters().peers_evicted, 1);
        events(&mut pair.b);
        pair.wait(Duration::from_secs(61));
        let (sender, to) = if evictor { (&mut pair.b, 1) } else { (&mut pair.a, 2) };
        let id = send(pair.now, sender, to, b"after");
        pair.settle();
        let (sender, receiver) =
            if evictor { (&mut pair.b, &mut pair.a) } else { (&mut pair.a, &mut pair.b) };
        assert_eq!(received(receiver), [b"after"], "the evictor sends: {evictor}");
        assert_eq!(events(sender), [outcome(id, Outcome::Delivered)]);
        // Timestamps from before cannot be compared after 137 s.
        for number in 0..30 {
            pair.wait(Duration::from_secs(10));
            send(pair.now, &mut pair.a, 2, &[number]);
            send(pair.now, &mut pair.b, 1, &[number]);
            pair.settle();
            let all = [received(&mut pair.a), received(&mut pair.b)];
            assert_eq!(all, [[[number]], [[number]]], "after {number} times 10 s");
            let all = [events(&mut pair.a), events(&mut pair.b)].concat();
            assert!(matches!(all[..], [Event::Outcome { .. }, Event::Outcome { .. }]), "{all:?}");
        }
    }
}

#[test]
fn cancel_does_not_stall_receiver() {
    let mut pair = Pair::new(config());
    let first = send(pair.now, &mut pair.a, 2, b"lost and cancelled");
    packets(pair.now, &mut pair.a);
    assert_eq!(pair.a.cancel(pair.now, address(2)), 1);
    let second = send(pair.now, &mut pair.a, 2, b"next");
    pair.a_to_b();
    assert_eq!(received(&mut pair.b), [b"next"], "the floor skips the gap");
    assert_eq!(pair.b.counters().gaps_skipped, 1);
    pair.settle();
    let expected = [outcome(first, Outcome::Unknown), outcome(second, Outcome::Delivered)];
    assert_eq!(events(&mut pair.a), expected);
}

#[test]
fn cancelled_message_that_was_not_sent_is_not_delivered() {
    let mut pair = Pair::new(config());
    let id = send(pair.now, &mut pair.a, 2, b"x");
    assert_eq!(pair.a.cancel_all(pair.now), 1);
    assert_eq!(events(&mut pair.a), [outcome(id, Outcome::NotDelivered)]);
    pair.settle();
    assert!(received(&mut pair.b).is_empty());
}

#[test]
fn receiver_that_stops_reading_bounds_the_sender() {
    let mut pair = Pair::new(config());
    let mut accepted = 0;
    for _ in 0..10_000 {
        match pair.a.send(pair.now, address(2), 1, |bytes| bytes[0] = accepted as u8) {
            Ok(_) => accepted += 1,
            Err(error) => assert!(matches!(error, SendError::Congested | SendError::WouldBlock)),
        }
        pair.a_to_b();
        pair.b_to_a();
    }
    // The receive buffer, the packets in flight, and what the sender holds.
    assert!(accepted > 200 && accepted <= 2 * 200 + 64 + 1, "{accepted}");
    assert_eq!(pair.a.send(pair.now, address(2), 1, |_| {}), Err(SendError::Congested));
    assert!(!pair.a.is_writable(address(2)));
    let mut all = 0;
    while all < accepted {
        let some = received(&mut pair.b);
        assert!(some.iter().all(|message| {
            all += 1;
            message[0] == (all - 1) as u8
        }));
        pair.settle();
    }
    assert!(events(&mut pair.a).contains(&Event::Writable(address(2))));
    assert!(pair.a.is_writable(address(2)));
}

#[test]
fn acknowledgment_without_known_numbers_is_void() {
    const NO_ACKNOWLEDGMENT: u8 = 0x20;
    for flag in [0, NO_ACKNOWLEDGMENT] {
        let mut pair = Pair::new(config());
        let id = send(pair.now, &mut pair.a, 2, b"lost");
        assert_eq!(packets(pair.now, &mut pair.a).len(), 1);
        send(pair.now, &mut pair.b, 1, b"data");
        let mut packet = packets(pair.now, &mut pair.b).remove(0);
        packet[5] |= flag;
        let acknowledged = u32::from_be_bytes(packet[28..32].try_into().unwrap());
        packet[28..32].copy_from_slice(&(acknowledged + 1).to_be_bytes());
        let crc = crc32c::crc32c(&packet[4..]);
        packet[..4].copy_from_slice(&crc.to_be_bytes());
        deliver(pair.now, 2, &mut pair.a, &[packet]);
        let expected = if flag == 0 { vec![outcome(id, Outcome::Delivered)] } else { vec![] };
        assert_eq!(events(&mut pair.a), expected);
    }
}

#[test]
fn writable_is_reported_when_the_send_buffer_has_room_too() {
    let small = Config { message_max: PAYLOAD, send_buffer: 104 * 8, ..config() };
    let mut pair = Pair::new(Config { receive_buffer: 104 * 2, ..small });
    let send = |pair: &mut Pair, to| pair.a.send(pair.now, address(to), 1, |it| it[0] = 1);
    while send(&mut pair, 2) != Err(SendError::Congested) {
        pair.a_to_b();
        pair.b_to_a();
    }
    while send(&mut pair, 3).is_ok() {}
    received(&mut pair.b);
    pair.b_to_a();
    assert_eq!((events(&mut pair.a), pair.a.is_writable(address(2))), (vec![], false));
    pair.a.cancel(pair.now, address(3));
    assert_eq!(events(&mut pair.a), [Event::Writable(address(2))]);
    assert!(pair.a.is_writable(address(2)));
}

#[test]
fn message_beyond_the_receivers_limit_is_truncated() {
    let mut pair = Pair::new(config());
    for message_max in [1, 100, 104, 150, 499] {
        pair.b = bound(
            pair.now,
            2,
            0xB2 + message_max,
            Config { message_max: message_max as usize, ..config() },
        );
        let message: Vec<u8> = (0..500_u32).map(|at| (at * 7) as u8).collect();
        for _ in 0..3 {
            let id = send(pair.now, &mut pair.a, 2, &message);
            pair.settle();
            assert!(events(&mut pair.a).contains(&outcome(id, Outcome::Delivered)));
            let peeked = pair.b.peek().map(|message| (message.bytes.to_vec(), message.length));
            assert_eq!(peeked, Some((message[..message_max as usize].to_vec(), 500)));
            assert_eq!(received(&mut pair.b).len(), 1);
        }
        assert_eq!(pair.b.counters().messages_truncated, 3);
    }
}

#[test]
fn length_in_front_of_a_message_counts() {
    // A message of whole payloads needs one more packet for its length, in a buffer of one message.
    let message_max = 4 * PAYLOAD;
    let mut pair = Pair::new(Config { message_max, send_buffer: 1, ..config() });
    for _ in 0..5 {
        let message: Vec<u8> = (0..message_max).map(|at| at as u8).collect();
        assert!(pair.a.is_writable(address(2)));
        send(pair.now, &mut pair.a, 2, &message);
        pair.settle();
        assert_eq!(received(&mut pair.b), [message]);
        events(&mut pair.a);
    }
}

#[test]
fn message_of_many_packets_is_delivered_in_one_piece() {
    let mut pair = Pair::new(config());
    let message: Vec<u8> = (0..PAYLOAD * 100 + 7).map(|at| (at * 3) as u8).collect();
    send(pair.now, &mut pair.a, 2, &message);
    pair.settle();
    let peeked = pair.b.peek().map(|message| (message.source, message.bytes.to_vec()));
    assert_eq!(peeked, Some((address(1), message.clone())));
    assert_eq!(received(&mut pair.b), [message]);
}

#[test]
fn incomplete_messages_do_not_congest() {
    // Two senders with a message each, of which only one fits.
    let small = Config { message_max: 100 * PAYLOAD, receive_buffer: 104 * 2, ..config() };
    let mut pair = Pair::new(small);
    let mut c = bound(pair.now, 3, 0xC1, config());
    let message = vec![7; 100 * PAYLOAD];
    send(pair.now, &mut pair.a, 2, &message);
    send(pair.now, &mut c, 2, &message);
    for _ in 0..200 {
        let (from_a, from_c) = (packets(pair.now, &mut pair.a), packets(pair.now, &mut c));
        pair.wait(DELAY);
        deliver(pair.now, 1, &mut pair.b, &from_a);
        deliver(pair.now, 3, &mut pair.b, &from_c);
        while let Some(transmit) = pair.b.poll_transmit(pair.now) {
            let to_a = transmit.to == address(1);
            let packet = transmit.packet.to_vec();
            deliver(pair.now, 2, if to_a { &mut pair.a } else { &mut c }, &[packet]);
        }
        pair.wait(Duration::from_millis(1));
        for socket in [&mut pair.a, &mut pair.b, &mut c] {
            socket.handle_timeout(pair.now);
        }
        if pair.b.counters().messages_received == 3 {
            break;
        }
        received(&mut pair.b);
    }
    assert_eq!(pair.b.counters().messages_received, 3, "both messages and the first one");
}

#[test]
fn packets_out_of_order_leave_room_for_the_missing_one() {
    let small = Config { message_max: PAYLOAD, receive_buffer: 104 * 2, ..config() };
    let mut pair = Pair::new(small);
    (0..40).for_each(|number| _ = pair.a.send(pair.now, address(2), 1, |it| it[0] = number));
    let sent = packets(pair.now, &mut pair.a);
    deliver(pair.now, 1, &mut pair.b, &sent[1..]);
    assert!(pair.b.counters().dropped_no_buffer > 0, "the buffers are in use");
    deliver(pair.now, 1, &mut pair.b, &sent[..1]);
    assert!(!received(&mut pair.b).is_empty());
}

#[test]
fn rejected_packet_drops_what_was_sent_before_it() {
    let mut pair = Pair::new(config());
    let first = send(pair.now, &mut pair.a, 2, b"to no socket");
    let sent = packets(pair.now, &mut pair.a);
    let mut answer = [0; HEADER];
    let length = reject(&sent[0], &mut answer, crc32c::crc32c_append).unwrap();
    pair.wait(DELAY);
    let second = send(pair.now, &mut pair.a, 2, b"later");
    let later = packets(pair.now, &mut pair.a);
    let answer = [answer[..length].to_vec()];
    deliver(pair.now, 2, &mut pair.a, &answer);
    let expected = [outcome(first, Outcome::Unknown), Event::Undeliverable(address(2))];
    assert_eq!(events(&mut pair.a), expected);
    // A copy of the answer has no effect, and the second message arrives.
    deliver(pair.now, 2, &mut pair.a, &answer);
    deliver(pair.now, 1, &mut pair.b, &later);
    pair.settle();
    assert_eq!(received(&mut pair.b), [b"later"]);
    assert_eq!(events(&mut pair.a), [outcome(second, Outcome::Delivered)]);
}

#[test]
fn congested_peer_without_a_socket_is_writable_again() {
    let mut pair = Pair::new(config());
    while pair.a.send(pair.now, address(2), 1, |_| {}).is_ok() {
        pair.a_to_b();
        pair.b_to_a();
    }
    // Everything sent is acknowledged, and the receiver closes.
    pair.a.cancel(pair.now, address(2));
    pair.a_to_b();
    pair.b_to_a();
    let probe = loop {
        pair.now = pair.a.poll_timeout().unwrap();
        pair.a.handle_timeout(pair.now);
        if let Some(probe) = packets(pair.now, &mut pair.a).pop() {
            break probe;
        }
    };
    let mut answer = [0; HEADER];
    let length = reject(&probe, &mut answer, crc32c::crc32c_append).unwrap();
    deliver(pair.now, 2, &mut pair.a, &[answer[..length].to_vec()]);
    let expected = [Event::Undeliverable(address(2)), Event::Writable(address(2))];
    assert_eq!(events(&mut pair.a), expected);
    assert!(pair.a.is_writable(address(2)));
}

#[test]
fn message_is_refused_after_a_stall_of_minutes() {
    // Timestamps wrap after 275 s.
    for stall in [20, 130, 150, 200, 270, 300, 400] {
        let mut pair = Pair::new(config());
        let mut sender = bound(pair.now, 10, 7, config());
        let id = send(pair.now, &mut sender, 2, b"x");
        packets(pair.now, &mut sender);
        pair.wait(Duration::from_secs(stall));
        sender.handle_timeout(pair.now);
        let probe = packets(pair.now, &mut sender).pop().unwrap();
        let to = address(2);
        sender.handle_undeliverable(to.ip(), to.port(), &probe);
        let events = events(&mut sender);
        assert!(events.contains(&outcome(id, Outcome::Unknown)), "after {stall} s: {events:?}");
        assert!(sender.is_acknowledged(), "after {stall} s");
    }
}

/// A message in flight from host 1 to host 2, with its packet.
fn in_flight() -> (Pair, hairpin_rds::MessageId, Vec<u8>) {
    let mut pair = Pair::new(config());
    let id = send(pair.now, &mut pair.a, 2, b"x");
    let packet = packets(pair.now, &mut pair.a).pop().unwrap();
    pair.wait(DELAY);
    (pair, id, packet)
}

#[test]
fn port_unreachable_with_a_matching_quote_drops_the_message() {
    let (mut pair, id, packet) = in_flight();
    pair.a.handle_undeliverable(address(2).ip(), address(2).port(), &packet);
    let expected = [outcome(id, Outcome::Unknown), Event::Undeliverable(address(2))];
    assert_eq!(events(&mut pair.a), expected);
    assert_eq!((pair.a.counters().icmp_accepted, pair.a.counters().icmp_ignored), (1, 0));
}

#[test]
fn icmp_error_with_another_quote_drops_nothing() {
    let ports_at = [8, 10];
    let incarnations_at = [12, 16];
    let changed = |packet: &[u8], at: usize| {
        let mut quote = packet.to_vec();
        quote[at] ^= 1;
        quote
    };
    let (_, _, packet) = in_flight();
    let mut quotes: Vec<Vec<u8>> = (0..HEADER).map(|length| packet[..length].to_vec()).collect();
    quotes.extend(ports_at.iter().chain(&incarnations_at).map(|&at| changed(&packet, at)));
    let mut unknown = packet.clone();
    unknown[16..20].fill(0);
    quotes.extend([unknown, vec![0; 68], vec![0xFF; 68]]);
    for quote in quotes {
        let (mut pair, id, _) = in_flight();
        pair.a.handle_undeliverable(address(2).ip(), address(2).port(), &quote);
        assert_eq!((pair.a.counters().icmp_accepted, pair.a.counters().icmp_ignored), (0, 1));
        pair.settle();
        assert_eq!(received(&mut pair.b), [b"x"], "{quote:?}");
        assert_eq!(events(&mut pair.a), [outcome(id, Outcome::Delivered)], "{quote:?}");
    }
}

#[test]
fn flood_of_icmp_errors_causes_one_probe_per_timeout() {
    let (mut pair, _, packet) = in_flight();
    for timeout in 0..5 {
        let mut early = 0;
        for number in 0..1_000 {
            let quote = &packet[..number % HEADER];
            pair.a.handle_undeliverable(address(2).ip(), address(2).port(), quote);
            pair.a.handle_unreachable(address(2).ip(), address(2).port());
            early += packets(pair.now, &mut pair.a).len();
        }
        let mut due = 0;
        while due == 0 {
            pair.now = pair.a.poll_timeout().unwrap();
            pair.a.handle_timeout(pair.now);
            due = packets(pair.now, &mut pair.a).len();
        }
        assert_eq!((early, due), (1, 1), "after {timeout} timeouts");
    }
    pair.settle();
    assert_eq!(received(&mut pair.b), [b"x"]);
}

#[test]
fn icmp_error_about_an_idle_peer_or_a_stranger_sends_nothing() {
    let mut pair = Pair::new(config());
    for host in [2, 9] {
        pair.a.handle_unreachable(address(host).ip(), address(host).port());
        pair.a.handle_undeliverable(address(host).ip(), address(host).port(), &[]);
    }
    assert!(packets(pair.now, &mut pair.a).is_empty() && pair.a.poll_timeout().is_none());
    assert_eq!(pair.a.counters().icmp_ignored, 4);
}

#[test]
fn forged_packet_in_place_of_the_first_answer_is_challenged() {
    let mut pair = Pair::new(config());
    let mut peer = bound(pair.now, 3, 0xC1, config());
    pair.wait(Duration::from_secs(11));
    let mut forger = bound(pair.now, 10, 66, config());
    send(pair.now, &mut forger, 1, b"forged");
    let forged = packets(pair.now, &mut forger);
    let id = send(pair.now, &mut pair.a, 3, b"first");
    let sent = packets(pair.now, &mut pair.a);
    // The forger has the address of the peer, but not the first packet.
    deliver(pair.now, 3, &mut pair.a, &forged);
    assert!(received(&mut pair.a).is_empty() && events(&mut pair.a).is_empty());
    deliver(pair.now, 1, &mut peer, &sent);
    for _ in 0..8 {
        pair.wait(DELAY);
        deliver(pair.now, 3, &mut pair.a, &packets(pair.now, &mut peer));
        pair.now = pair.a.poll_timeout().map_or(pair.now, |due| due.max(pair.now));
        pair.a.handle_timeout(pair.now);
        deliver(pair.now, 1, &mut peer, &packets(pair.now, &mut pair.a));
    }
    assert_eq!(received(&mut peer), [b"first"]);
    assert_eq!(events(&mut pair.a), [outcome(id, Outcome::Delivered)]);
}

#[test]
fn outcomes_are_kept_when_other_events_are_not_read() {
    let mut pair = Pair::new(Config { peers: 1, ..config() });
    for restart in 0..40 {
        let id = restart < 8;
        if id {
            send(pair.now, &mut pair.a, 2, b"x");
        }
        pair.b = bound(pair.now, 2, 0xB2 + restart, config());
        pair.a.send(pair.now, address(2), 1, |_| {}).unwrap();
        pair.settle();
    }
    let all = events(&mut pair.a);
    let outcomes = all.iter().filter(|event| matches!(event, Event::Outcome { .. })).count();
    assert_eq!(outcomes, 8);
    (0..16).for_each(|_| _ = send(pair.now, &mut pair.a, 2, b"tracked again"));
}

#[test]
fn carrier_without_room_gets_the_packet_again() {
    let mut pair = Pair::new(config());
    send(pair.now, &mut pair.a, 2, b"data");
    let first = pair.a.poll_transmit(pair.now).map(|transmit| transmit.packet.len());
    pair.a.retry_last();
    let again = packets(pair.now, &mut pair.a);
    assert_eq!(again.iter().map(|packet| Some(packet.len())).collect::<Vec<_>>(), [first]);
    pair.wait(DELAY);
    deliver(pair.now, 1, &mut pair.b, &again);
    assert_eq!(received(&mut pair.b), [b"data"]);
}

#[test]
fn errors_are_distinct() {
    let now = Instant::from_nanos(9);
    let mut socket = hairpin_rds::Socket::new(config(), now);
    assert_eq!(socket.send(now, address(2), 1, |_| {}), Err(SendError::NotBound));
    let mut socket = bound(now, 1, 5, config());
    let too_long = socket.send(now, address(2), 64_001, |_| {});
    assert_eq!(too_long, Err(SendError::TooLong { max: 64_000 }));
    for to in ["0.0.0.0:1", "224.0.0.1:1", "255.255.255.255:1", "[::1]:1", "10.0.0.1:0"] {
        let sent = socket.send(now, to.parse().unwrap(), 1, |_| {});
        assert_eq!(sent, Err(SendError::InvalidDestination), "{to}");
    }
    while socket.send(now, address(2), 1, |_| {}).is_ok() {}
    assert_eq!(socket.send(now, address(2), 1, |_| {}), Err(SendError::WouldBlock));
}

#[test]
fn empty_message_is_delivered() {
    let mut pair = Pair::new(config());
    send(pair.now, &mut pair.a, 2, b"");
    let sent = packets(pair.now, &mut pair.a);
    let ip = address(1).ip();
    let message = pair.b.handle_packet(pair.now, ip, &sent[0], Delivery::InPlace).unwrap();
    assert_eq!((message.source, message.bytes.len()), (address(1), 0));
}
