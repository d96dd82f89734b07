//! Retransmission of reports published during an absence, or lost.

use hairpin_cme_codecs::ilink3::{
    EstablishmentAck504, ExecutionReportNew522, ExecutionReportTradeOutright525, MESSAGES,
    Retransmission509, RetransmitReject510, SideNULL, SideReq, TimeInForce,
};
use hairpin_exchange::{ConnectionId, Side};

use super::harness::{Harness, UUID};
use crate::client::{
    CancelNames, QuoteEntry, Reply, cancel, establish, mass_action_with, mass_quote, negotiate,
    order, order_with, quote_cancel, replace_with, retransmit_request_of as request,
    status_request,
};
use crate::decode;

/// Creates an established session that was sent `count` acknowledgements.
fn with_reports(count: u32) -> (Harness, ConnectionId) {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    for number in 1..=count {
        harness.send_one(id, &order(number, price));
    }
    (harness, id)
}

#[test]
fn fill_during_absence_is_retransmitted_on_request() {
    let (mut harness, id) = Harness::established();
    let price = harness.market.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000;
    let resting = order_with(1, price, |order| {
        order.set_order_qty(3);
    });
    let reply = harness.send_one(id, &resting);
    let order_id = decode!(ExecutionReportNew522, reply).order_id();
    harness.gateway.handle_closed(id, &mut harness.listener);
    while harness.counters().unreported == 0 {
        harness.market.step(harness.now).unwrap();
        harness.report();
    }
    let unreported = harness.counters().unreported as u32;
    let id = harness.connect();
    let timestamp = harness.timestamp();
    let reply = harness.send_one(id, &establish(UUID, timestamp, 2));
    let ack = decode!(EstablishmentAck504, reply);
    // The acknowledgement shows the gap: number 1 was the last one received.
    assert_eq!((ack.next_seq_no(), ack.previous_seq_no()), (unreported + 2, unreported + 1));
    let asked = harness.timestamp();
    let replies = harness.send(id, &request(UUID, asked, None, 2, unreported as u16));
    let announced = decode!(Retransmission509, replies[0]);
    assert_eq!((announced.from_seq_no(), u32::from(announced.msg_count())), (2, unreported));
    assert_eq!((announced.request_timestamp(), announced.last_uuid()), (asked, None));
    let trade = decode!(ExecutionReportTradeOutright525, replies[1]);
    assert_eq!((trade.seq_num(), trade.uuid(), trade.order_id()), (2, UUID, order_id));
    assert_eq!(trade.poss_retrans_flag().0, 1);
    assert_eq!(replies.len() as u32, 1 + unreported);
    assert_eq!((harness.counters().fills, harness.counters().retransmissions), (0, 1));
}

#[test]
fn retransmits_messages_of_an_earlier_uuid() {
    let (mut harness, id) = with_reports(3);
    harness.gateway.handle_closed(id, &mut harness.listener);
    let id = harness.connect();
    let timestamp = harness.timestamp();
    harness.send(id, &negotiate(UUID + 1, timestamp));
    let timestamp = harness.timestamp();
    harness.send(id, &establish(UUID + 1, timestamp, 1));
    let price = harness.far_price();
    harness.send_one(id, &order(1, price));
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &request(UUID + 1, timestamp, Some(UUID), 2, 0));
    let announced = decode!(Retransmission509, replies[0]);
    // For an earlier UUID the announced count is the requested one: 0 means 2,500.
    assert_eq!((announced.last_uuid(), announced.msg_count()), (Some(UUID), 2_500));
    let numbers: Vec<(u64, u32)> = replies[1..]
        .iter()
        .map(|reply| {
            let report = decode!(ExecutionReportNew522, reply);
            (report.uuid(), report.seq_num())
        })
        .collect();
    assert_eq!(numbers, [(UUID, 2), (UUID, 3)]);
    // And for the current UUID.
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &request(UUID + 1, timestamp, None, 1, 0));
    assert_eq!(decode!(Retransmission509, replies[0]).msg_count(), 1);
    assert_eq!(decode!(ExecutionReportNew522, replies[1]).uuid(), UUID + 1);
}

#[test]
fn rejects_unavailable_retransmissions() {
    let (mut harness, id) = with_reports(3);
    for (last_uuid, from, count, code) in [
        (None, 2, 3, 0),
        (None, 4, 0, 0),
        (None, 4, 1, 0),
        (Some(UUID - 1), 1, 1, 1),
        (Some(0), 1, 1, 1),
        (None, 1, 2_501, 2),
        (None, 0, 1, 5),
        (None, 1_000_000_000, 1, 5),
        (None, u32::MAX, 1, 8),
        (None, 1, u16::MAX, 9),
    ] {
        let timestamp = harness.timestamp();
        let reply = harness.send_one(id, &request(UUID, timestamp, last_uuid, from, count));
        let reject = decode!(RetransmitReject510, reply);
        assert_eq!(reject.error_codes(), code, "{last_uuid:?} {from} {count}");
        assert_eq!((reject.request_timestamp(), reject.last_uuid()), (timestamp, last_uuid));
    }
    assert_eq!(harness.counters().retransmit_rejects, 10);
    assert_eq!(harness.counters().retransmissions, 0);
}

#[test]
fn rejects_requests_without_uuid_or_with_an_old_timestamp() {
    let (mut harness, id) = with_reports(1);
    let last = harness.timestamp();
    assert_eq!(harness.send(id, &request(UUID, last, None, 1, 1)).len(), 2);
    for (uuid, timestamp, code) in
        [(UUID, last, 4), (UUID, last - 1, 4), (u64::MAX, last + 1, 6), (UUID, u64::MAX, 7)]
    {
        let reply = harness.send_one(id, &request(uuid, timestamp, None, 1, 1));
        assert_eq!(decode!(RetransmitReject510, reply).error_codes(), code);
    }
    assert_eq!(harness.send(id, &request(UUID, last + 1, None, 1, 1)).len(), 2);
}

#[test]
fn orders_are_answered_during_a_long_retransmission() {
    let (mut harness, id) = with_reports(2_000);
    let price = harness.far_price();
    let (first, second) = (harness.timestamp(), harness.timestamp());
    let mut replies = harness.send(id, &request(UUID, first, None, 1, 2_000));
    assert!(harness.gateway.is_stalled(id) && replies.len() < 2_000);
    // Only one retransmission at a time.
    let mut more = harness.send(id, &request(UUID, second, None, 7, 1));
    more.extend(harness.send(id, &order(2_001, price)));
    let reject = more.iter().find(|reply| reply.template() == 510).unwrap();
    assert_eq!(decode!(RetransmitReject510, reject).error_codes(), 3);
    replies.extend(more.into_iter().filter(|reply| reply.template() != 510));
    assert!(harness.gateway.is_stalled(id));
    while harness.gateway.is_stalled(id) {
        replies.extend(harness.send(id, &[]));
    }
    assert_eq!((replies.len(), replies[0].template()), (1 + 2_000 + 1, 509));
    let reports = |retransmitted: u8| {
        let numbers = replies[1..].iter().filter_map(move |reply| {
            let report = decode!(ExecutionReportNew522, reply);
            (report.poss_retrans_flag().0 == retransmitted).then(|| report.seq_num())
        });
        numbers.collect::<Vec<u32>>()
    };
    assert_eq!(reports(1), (1..=2_000).collect::<Vec<u32>>());
    assert_eq!(reports(0), [2_001]);
    // The new report came in between.
    assert_eq!(decode!(ExecutionReportNew522, replies.last().unwrap()).seq_num(), 2_000);
    assert_eq!(harness.send(id, &request(UUID, second, None, 7, 1)).len(), 2);
}

#[test]
fn request_is_limited_to_2_500_messages() {
    let mut harness = Harness::with(2, |settings| settings.kept_messages = 3_000);
    let id = harness.connect();
    harness.log_on(id);
    let price = harness.far_price();
    for number in 1..=2_600 {
        harness.send_one(id, &order(number, price));
    }
    let mut numbers = Vec::new();
    for (from, count, announces) in [(1, 0, 2_500), (2_501, 100, 100)] {
        let timestamp = harness.timestamp();
        let mut replies = harness.send(id, &request(UUID, timestamp, None, from, count));
        while harness.gateway.is_stalled(id) {
            replies.extend(harness.send(id, &[]));
        }
        assert_eq!(decode!(Retransmission509, replies[0]).msg_count(), announces);
        let reports = replies[1..].iter().map(|r| decode!(ExecutionReportNew522, r).seq_num());
        numbers.extend(reports);
    }
    assert_eq!(numbers, (1..=2_600).collect::<Vec<u32>>());
}

#[test]
fn retransmitted_messages_have_poss_retrans_flag() {
    let mut harness = Harness::with(3, |settings| settings.cancels_on_disconnect = true);
    let id = harness.connect();
    harness.log_on(id);
    let price = harness.far_price();
    let reply = harness.send_one(id, &order(1, price));
    let number = decode!(ExecutionReportNew522, reply).order_id();
    let kill = order_with(2, price, |order| {
        order.set_time_in_force(TimeInForce::FILL_AND_KILL);
    });
    let entry = [QuoteEntry { bid: (price, 1), ..QuoteEntry::default() }];
    let messages = [
        kill,
        order_with(3, price + 1, |_| {}),
        order_with(4, price, |order| {
            order.set_sender_id("");
        }),
        replace_with(5, number, price, |_| {}),
        replace_with(6, 99, price, |_| {}),
        cancel(7, 99),
        status_request(8, number),
        mass_quote(9, &entry),
        quote_cancel(10, CancelNames::All),
        mass_action_with(11, |request| {
            request.set_side(SideNULL::SELL);
        }),
        cancel(12, number),
    ];
    let mut live = vec![reply];
    for message in messages {
        live.extend(harness.send(id, &message));
        harness.drain_feed();
    }
    let timestamp = harness.timestamp();
    let retransmitted = harness.send(id, &request(UUID, timestamp, None, 1, 0));
    let templates: Vec<u16> = retransmitted[1..].iter().map(|reply| reply.template()).collect();
    let kinds = [522, 522, 524, 523, 521, 531, 536, 535, 532, 545, 563, 562, 534];
    assert_eq!(templates, kinds);
    for (live, retransmitted) in live.iter().zip(&retransmitted[1..]) {
        assert_eq!(live.header, retransmitted.header);
        let changed: Vec<usize> = (0..live.body.len())
            .filter(|&place| live.body[place] != retransmitted.body[place])
            .collect();
        assert_eq!(changed, [flag_offset(live)], "{}", live.template());
    }
}

/// Returns the offset of PossRetransFlag (tag 9765) in the schema.
fn flag_offset(reply: &Reply) -> usize {
    let mut messages = MESSAGES.iter();
    let message = messages.find(|message| message.template_id == reply.template()).unwrap();
    let fields = message.block.fields;
    usize::from(fields.iter().find(|field| field.tag == 9_765).unwrap().offset)
}

#[test]
fn request_may_name_2_500_messages() {
    let mut harness = Harness::with(2, |settings| settings.kept_messages = 2_600);
    let id = harness.connect();
    harness.log_on(id);
    let price = harness.far_price();
    for number in 1..=2_500 {
        harness.send_one(id, &order(number, price));
        harness.drain_feed();
    }
    let timestamp = harness.timestamp();
    let mut replies = harness.send(id, &request(UUID, timestamp, None, 1, 2_500));
    while harness.gateway.is_stalled(id) {
        replies.extend(harness.send(id, &[]));
    }
    assert_eq!((replies.len(), decode!(Retransmission509, replies[0]).msg_count()), (2_501, 2_500));
}

/// Creates a session whose first order, of a thousand contracts, and 999 others were acknowledged.
/// The retransmit buffer is full.
fn full() -> (Harness, ConnectionId, ConnectionId) {
    let mut harness = Harness::with(3, |settings| settings.kept_messages = 1_000);
    let id = harness.connect();
    harness.log_on(id);
    let price = inside(&harness);
    let first = order_with(1, price, |order| {
        order.set_order_qty(1_000);
    });
    harness.send_one(id, &first);
    let far = harness.far_price();
    for number in 2..=1_000 {
        harness.drain_feed();
        harness.send_one(id, &order(number, far));
    }
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    (harness, id, other)
}

/// Returns a price inside the spread, a tick above the best bid.
fn inside(harness: &Harness) -> i64 {
    harness.market.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000
}

/// Trades the first order `times` times with the other session, starting at number 1.
fn trade(harness: &mut Harness, other: ConnectionId, price: i64, times: u32) {
    for number in 1..=times {
        let sell = order_with(number, price, |order| {
            order.set_side(SideReq::SELL);
        });
        harness.drain_feed();
        harness.send(other, &sell);
    }
}

/// Returns UUID and number of the retransmitted messages, or of the others.
fn numbers(replies: &[Reply], retransmitted: u8) -> Vec<(u64, u32)> {
    let is_meant = |reply: &&Reply| match reply.template() {
        522 | 525 => reply.body[flag_offset(reply)] == retransmitted,
        _ => false,
    };
    let number = |reply: &Reply| {
        let body = &reply.body;
        let uuid = u64::from_le_bytes(body[4..12].try_into().unwrap());
        (uuid, u32::from_le_bytes(body[..4].try_into().unwrap()))
    };
    replies.iter().filter(is_meant).map(number).collect()
}

#[test]
fn overwritten_messages_end_a_retransmission() {
    let (mut harness, id, other) = full();
    let price = inside(&harness) - 250_000_000;
    let timestamp = harness.timestamp();
    let mut replies = harness.send(id, &request(UUID, timestamp, None, 1, 1_000));
    assert!(harness.gateway.is_stalled(id));
    // The client does not read while 700 trades overwrite the 700 oldest messages.
    trade(&mut harness, other, price, 700);
    let timestamp = harness.timestamp();
    replies.extend(harness.read(id));
    while harness.gateway.is_stalled(id) {
        replies.extend(harness.send(id, &[]));
    }
    let retransmitted = numbers(&replies, 1);
    let reported = retransmitted.len() as u32;
    assert!((1..700).contains(&reported), "{reported}");
    assert_eq!(retransmitted, (1..=reported).map(|number| (UUID, number)).collect::<Vec<_>>());
    let live: Vec<(u64, u32)> = (1_001..=1_700).map(|number| (UUID, number)).collect();
    assert_eq!(numbers(&replies, 0), live);
    // Then the messages that were not overwritten are sent.
    let reply = harness.send_one(id, &request(UUID, timestamp, None, reported + 1, 1));
    assert_eq!(decode!(RetransmitReject510, reply).error_codes(), 0);
    let replies = harness.send(id, &request(UUID, timestamp, None, 701, 2));
    assert_eq!(numbers(&replies, 1), [(UUID, 701), (UUID, 702)]);
}

#[test]
fn retransmission_does_not_mix_uuids() {
    let (mut harness, id, other) = full();
    let price = inside(&harness) - 250_000_000;
    harness.gateway.handle_closed(id, &mut harness.listener);
    let id = harness.connect();
    let timestamp = harness.timestamp();
    harness.send(id, &negotiate(UUID + 1, timestamp));
    let timestamp = harness.timestamp();
    harness.send(id, &establish(UUID + 1, timestamp, 1));
    let timestamp = harness.timestamp();
    let mut replies = harness.send(id, &request(UUID + 1, timestamp, Some(UUID), 1, 1_000));
    assert!(harness.gateway.is_stalled(id));
    // The buffer was full: each trade is stored where a message with its number was.
    trade(&mut harness, other, price, 700);
    replies.extend(harness.read(id));
    while harness.gateway.is_stalled(id) {
        replies.extend(harness.send(id, &[]));
    }
    let retransmitted = numbers(&replies, 1);
    let reported = retransmitted.len() as u32;
    assert!((1..700).contains(&reported), "{reported}");
    assert_eq!(retransmitted, (1..=reported).map(|number| (UUID, number)).collect::<Vec<_>>());
    let live: Vec<(u64, u32)> = (1..=700).map(|number| (UUID + 1, number)).collect();
    assert_eq!(numbers(&replies, 0), live);
}

#[test]
fn retransmission_ends_with_its_connection() {
    let (mut harness, id) = with_reports(2_000);
    let timestamp = harness.timestamp();
    harness.send(id, &request(UUID, timestamp, None, 1, 2_000));
    assert!(harness.gateway.is_stalled(id));
    harness.gateway.handle_closed(id, &mut harness.listener);
    let id = harness.connect();
    assert!(!harness.gateway.is_stalled(id));
    let timestamp = harness.timestamp();
    assert_eq!(harness.send_one(id, &establish(UUID, timestamp, 2_001)).template(), 504);
    assert!(harness.send(id, &[]).is_empty());
    let timestamp = harness.timestamp();
    assert_eq!(harness.send(id, &request(UUID, timestamp, None, 7, 1)).len(), 2);
}
