//! What was published while a client was away, or did not arrive.

use hairpin_cme_codecs::ilink3::{
    EstablishmentAck504, ExecutionReportNew522, ExecutionReportTradeOutright525, MESSAGES,
    Retransmission509, RetransmitReject510, SideNULL, SideReq, TimeInForce,
};
use hairpin_exchange::{ConnectionId, Side};

use crate::bench::{Bench, UUID};
use crate::client::{
    Named, QuoteEntry, Reply, cancel, establish, mass_action_with, mass_quote, negotiate, order,
    order_with, quote_cancel, replace_with, retransmit_request_of as request, status_request,
};
use crate::decode;

/// An established session that has been sent `count` acknowledgements.
fn with_reports(count: u32) -> (Bench, ConnectionId) {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    for number in 1..=count {
        bench.send_one(id, &order(number, price));
    }
    (bench, id)
}

#[test]
fn a_fill_while_the_client_was_away_is_kept_and_sent_when_asked_for() {
    let (mut bench, id) = Bench::established();
    let price = bench.floor.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000;
    let resting = order_with(1, price, |order| {
        order.set_order_qty(3);
    });
    let reply = bench.send_one(id, &resting);
    let order_id = decode!(ExecutionReportNew522, reply).order_id();
    bench.gateway.handle_closed(id, &mut bench.notes);
    while bench.counters().unreported == 0 {
        bench.floor.step(bench.now).unwrap();
        bench.report();
    }
    let unreported = bench.counters().unreported as u32;
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &establish(UUID, timestamp, 2));
    let ack = decode!(EstablishmentAck504, reply);
    // The gap shows in the acknowledgement: number 1 was the last that arrived.
    assert_eq!((ack.next_seq_no(), ack.previous_seq_no()), (unreported + 2, unreported + 1));
    let asked = bench.timestamp();
    let replies = bench.send(id, &request(UUID, asked, None, 2, unreported as u16));
    let announced = decode!(Retransmission509, replies[0]);
    assert_eq!((announced.from_seq_no(), u32::from(announced.msg_count())), (2, unreported));
    assert_eq!((announced.request_timestamp(), announced.last_uuid()), (asked, None));
    let trade = decode!(ExecutionReportTradeOutright525, replies[1]);
    assert_eq!((trade.seq_num(), trade.uuid(), trade.order_id()), (2, UUID, order_id));
    assert_eq!(trade.poss_retrans_flag().0, 1);
    assert_eq!(replies.len() as u32, 1 + unreported);
    assert_eq!((bench.counters().fills, bench.counters().retransmissions), (0, 1));
}

#[test]
fn messages_of_an_earlier_uuid_are_sent_again_under_it() {
    let (mut bench, id) = with_reports(3);
    bench.gateway.handle_closed(id, &mut bench.notes);
    let id = bench.connect();
    let timestamp = bench.timestamp();
    bench.send(id, &negotiate(UUID + 1, timestamp));
    let timestamp = bench.timestamp();
    bench.send(id, &establish(UUID + 1, timestamp, 1));
    let price = bench.far();
    bench.send_one(id, &order(1, price));
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &request(UUID + 1, timestamp, Some(UUID), 2, 0));
    let announced = decode!(Retransmission509, replies[0]);
    // For an earlier UUID the count is what was asked for: nothing stands for 2,500.
    assert_eq!((announced.last_uuid(), announced.msg_count()), (Some(UUID), 2_500));
    let numbers: Vec<(u64, u32)> = replies[1..]
        .iter()
        .map(|reply| {
            let report = decode!(ExecutionReportNew522, reply);
            (report.uuid(), report.seq_num())
        })
        .collect();
    assert_eq!(numbers, [(UUID, 2), (UUID, 3)]);
    // And of the present one.
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &request(UUID + 1, timestamp, None, 1, 0));
    assert_eq!(decode!(Retransmission509, replies[0]).msg_count(), 1);
    assert_eq!(decode!(ExecutionReportNew522, replies[1]).uuid(), UUID + 1);
}

#[test]
fn refuses_what_it_cannot_send_again() {
    let (mut bench, id) = with_reports(3);
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
        let timestamp = bench.timestamp();
        let reply = bench.send_one(id, &request(UUID, timestamp, last_uuid, from, count));
        let reject = decode!(RetransmitReject510, reply);
        assert_eq!(reject.error_codes(), code, "{last_uuid:?} {from} {count}");
        assert_eq!((reject.request_timestamp(), reject.last_uuid()), (timestamp, last_uuid));
    }
    assert_eq!(bench.counters().retransmit_rejects, 10);
    assert_eq!(bench.counters().retransmissions, 0);
}

#[test]
fn refuses_requests_without_uuid_or_with_a_timestamp_of_before() {
    let (mut bench, id) = with_reports(1);
    let last = bench.timestamp();
    assert_eq!(bench.send(id, &request(UUID, last, None, 1, 1)).len(), 2);
    for (uuid, timestamp, code) in
        [(UUID, last, 4), (UUID, last - 1, 4), (u64::MAX, last + 1, 6), (UUID, u64::MAX, 7)]
    {
        let reply = bench.send_one(id, &request(uuid, timestamp, None, 1, 1));
        assert_eq!(decode!(RetransmitReject510, reply).error_codes(), code);
    }
    assert_eq!(bench.send(id, &request(UUID, last + 1, None, 1, 1)).len(), 2);
}

#[test]
fn a_long_retransmission_waits_for_the_client_and_orders_are_answered_meanwhile() {
    let (mut bench, id) = with_reports(2_000);
    let price = bench.far();
    let (first, second) = (bench.timestamp(), bench.timestamp());
    let mut replies = bench.send(id, &request(UUID, first, None, 1, 2_000));
    assert!(bench.gateway.is_stalled(id) && replies.len() < 2_000);
    // Only one at a time.
    let mut more = bench.send(id, &request(UUID, second, None, 7, 1));
    more.extend(bench.send(id, &order(2_001, price)));
    let reject = more.iter().find(|reply| reply.template() == 510).unwrap();
    assert_eq!(decode!(RetransmitReject510, reject).error_codes(), 3);
    replies.extend(more.into_iter().filter(|reply| reply.template() != 510));
    assert!(bench.gateway.is_stalled(id));
    while bench.gateway.is_stalled(id) {
        replies.extend(bench.send(id, &[]));
    }
    assert_eq!((replies.len(), replies[0].template()), (1 + 2_000 + 1, 509));
    let reports = |again: u8| {
        let numbers = replies[1..].iter().filter_map(move |reply| {
            let report = decode!(ExecutionReportNew522, reply);
            (report.poss_retrans_flag().0 == again).then(|| report.seq_num())
        });
        numbers.collect::<Vec<u32>>()
    };
    assert_eq!(reports(1), (1..=2_000).collect::<Vec<u32>>());
    assert_eq!(reports(0), [2_001]);
    // The live one came in between.
    assert_eq!(decode!(ExecutionReportNew522, replies.last().unwrap()).seq_num(), 2_000);
    assert_eq!(bench.send(id, &request(UUID, second, None, 7, 1)).len(), 2);
}

#[test]
fn a_request_is_for_at_most_2_500_and_none_means_as_many() {
    let mut bench = Bench::with(2, |settings| settings.kept_messages = 3_000);
    let id = bench.connect();
    bench.log_on(id);
    let price = bench.far();
    for number in 1..=2_600 {
        bench.send_one(id, &order(number, price));
    }
    let mut numbers = Vec::new();
    for (from, count, announces) in [(1, 0, 2_500), (2_501, 100, 100)] {
        let timestamp = bench.timestamp();
        let mut replies = bench.send(id, &request(UUID, timestamp, None, from, count));
        while bench.gateway.is_stalled(id) {
            replies.extend(bench.send(id, &[]));
        }
        assert_eq!(decode!(Retransmission509, replies[0]).msg_count(), announces);
        let reports = replies[1..].iter().map(|r| decode!(ExecutionReportNew522, r).seq_num());
        numbers.extend(reports);
    }
    assert_eq!(numbers, (1..=2_600).collect::<Vec<u32>>());
}

#[test]
fn every_kind_of_message_says_that_it_is_sent_again() {
    let mut bench = Bench::with(3, |settings| settings.cancels_on_disconnect = true);
    let id = bench.connect();
    bench.log_on(id);
    let price = bench.far();
    let reply = bench.send_one(id, &order(1, price));
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
        quote_cancel(10, Named::All),
        mass_action_with(11, |request| {
            request.set_side(SideNULL::SELL);
        }),
        cancel(12, number),
    ];
    let mut live = vec![reply];
    for message in messages {
        live.extend(bench.send(id, &message));
        bench.drain_feed();
    }
    let timestamp = bench.timestamp();
    let again = bench.send(id, &request(UUID, timestamp, None, 1, 0));
    let templates: Vec<u16> = again[1..].iter().map(|reply| reply.template()).collect();
    let kinds = [522, 522, 524, 523, 521, 531, 536, 535, 532, 545, 563, 562, 534];
    assert_eq!(templates, kinds);
    for (live, again) in live.iter().zip(&again[1..]) {
        assert_eq!(live.header, again.header);
        let changed: Vec<usize> =
            (0..live.body.len()).filter(|&place| live.body[place] != again.body[place]).collect();
        assert_eq!(changed, [flag_place(live)], "{}", live.template());
    }
}

/// Where the schema has PossRetransFlag (tag 9765) in a message.
fn flag_place(reply: &Reply) -> usize {
    let mut messages = MESSAGES.iter();
    let message = messages.find(|message| message.template_id == reply.template()).unwrap();
    let fields = message.block.fields;
    usize::from(fields.iter().find(|field| field.tag == 9_765).unwrap().offset)
}

#[test]
fn as_many_as_2_500_can_be_asked_for_by_number() {
    let mut bench = Bench::with(2, |settings| settings.kept_messages = 2_600);
    let id = bench.connect();
    bench.log_on(id);
    let price = bench.far();
    for number in 1..=2_500 {
        bench.send_one(id, &order(number, price));
        bench.drain_feed();
    }
    let timestamp = bench.timestamp();
    let mut replies = bench.send(id, &request(UUID, timestamp, None, 1, 2_500));
    while bench.gateway.is_stalled(id) {
        replies.extend(bench.send(id, &[]));
    }
    assert_eq!((replies.len(), decode!(Retransmission509, replies[0]).msg_count()), (2_501, 2_500));
}

/// A session whose first order, of a thousand contracts, has been acknowledged, and 999 others:
/// all that is kept.
fn full() -> (Bench, ConnectionId, ConnectionId) {
    let mut bench = Bench::with(3, |settings| settings.kept_messages = 1_000);
    let id = bench.connect();
    bench.log_on(id);
    let price = inside(&bench);
    let first = order_with(1, price, |order| {
        order.set_order_qty(1_000);
    });
    bench.send_one(id, &first);
    let far = bench.far();
    for number in 2..=1_000 {
        bench.drain_feed();
        bench.send_one(id, &order(number, far));
    }
    let other = bench.connect();
    bench.log_on_by(other, ("OTHERKEY", "XYZ"));
    (bench, id, other)
}

/// A price a tick above the best bid, where nobody is.
fn inside(bench: &Bench) -> i64 {
    bench.floor.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000
}

/// The first order trades so many times with the other session's, from number 1 on.
fn trade(bench: &mut Bench, other: ConnectionId, price: i64, times: u32) {
    for number in 1..=times {
        let sell = order_with(number, price, |order| {
            order.set_side(SideReq::SELL);
        });
        bench.drain_feed();
        bench.send(other, &sell);
    }
}

/// UUID and number of messages, of those sent again or of the others.
fn numbers(replies: &[Reply], again: u8) -> Vec<(u64, u32)> {
    let is_meant = |reply: &&Reply| match reply.template() {
        522 | 525 => reply.body[flag_place(reply)] == again,
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
fn a_replay_whose_messages_are_overwritten_while_it_waits_ends_there() {
    let (mut bench, id, other) = full();
    let price = inside(&bench) - 250_000_000;
    let timestamp = bench.timestamp();
    let mut replies = bench.send(id, &request(UUID, timestamp, None, 1, 1_000));
    assert!(bench.gateway.is_stalled(id));
    // The client reads nothing more while 700 trades take the places of the 700 oldest.
    trade(&mut bench, other, price, 700);
    let timestamp = bench.timestamp();
    replies.extend(bench.read(id));
    while bench.gateway.is_stalled(id) {
        replies.extend(bench.send(id, &[]));
    }
    let again = numbers(&replies, 1);
    let told = again.len() as u32;
    assert!((1..700).contains(&told), "{told}");
    assert_eq!(again, (1..=told).map(|number| (UUID, number)).collect::<Vec<_>>());
    let live: Vec<(u64, u32)> = (1_001..=1_700).map(|number| (UUID, number)).collect();
    assert_eq!(numbers(&replies, 0), live);
    // The rest is gone, but for what was not overwritten.
    let reply = bench.send_one(id, &request(UUID, timestamp, None, told + 1, 1));
    assert_eq!(decode!(RetransmitReject510, reply).error_codes(), 0);
    let replies = bench.send(id, &request(UUID, timestamp, None, 701, 2));
    assert_eq!(numbers(&replies, 1), [(UUID, 701), (UUID, 702)]);
}

#[test]
fn a_replay_of_an_earlier_uuid_goes_on_with_no_message_of_the_same_number() {
    let (mut bench, id, other) = full();
    let price = inside(&bench) - 250_000_000;
    bench.gateway.handle_closed(id, &mut bench.notes);
    let id = bench.connect();
    let timestamp = bench.timestamp();
    bench.send(id, &negotiate(UUID + 1, timestamp));
    let timestamp = bench.timestamp();
    bench.send(id, &establish(UUID + 1, timestamp, 1));
    let timestamp = bench.timestamp();
    let mut replies = bench.send(id, &request(UUID + 1, timestamp, Some(UUID), 1, 1_000));
    assert!(bench.gateway.is_stalled(id));
    // As many as are kept were published before: each trade is kept where its number was.
    trade(&mut bench, other, price, 700);
    replies.extend(bench.read(id));
    while bench.gateway.is_stalled(id) {
        replies.extend(bench.send(id, &[]));
    }
    let again = numbers(&replies, 1);
    let told = again.len() as u32;
    assert!((1..700).contains(&told), "{told}");
    assert_eq!(again, (1..=told).map(|number| (UUID, number)).collect::<Vec<_>>());
    let live: Vec<(u64, u32)> = (1..=700).map(|number| (UUID + 1, number)).collect();
    assert_eq!(numbers(&replies, 0), live);
}

#[test]
fn a_retransmission_ends_with_its_connection() {
    let (mut bench, id) = with_reports(2_000);
    let timestamp = bench.timestamp();
    bench.send(id, &request(UUID, timestamp, None, 1, 2_000));
    assert!(bench.gateway.is_stalled(id));
    bench.gateway.handle_closed(id, &mut bench.notes);
    let id = bench.connect();
    assert!(!bench.gateway.is_stalled(id));
    let timestamp = bench.timestamp();
    assert_eq!(bench.send_one(id, &establish(UUID, timestamp, 2_001)).template(), 504);
    assert!(bench.send(id, &[]).is_empty());
    let timestamp = bench.timestamp();
    assert_eq!(bench.send(id, &request(UUID, timestamp, None, 7, 1)).len(), 2);
}
