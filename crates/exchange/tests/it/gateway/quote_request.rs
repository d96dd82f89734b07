//! Requests for quotes: the answer, and the published messages.

use hairpin_cme_codecs::ilink3::{QuoteAckStatus, RFQSide, RequestForQuoteAck546};
use hairpin_cme_codecs::mdp3::{QuoteRequest39, quote_request39::NoRelatedSym};
use hairpin_exchange::TradingStatus;
use hairpin_sbe::MessageHeader;

use super::harness::{Harness, UUID};
use crate::client::{Reply, request_for_quote, retransmit_request_of};
use crate::decode;

/// Returns QuoteReqID, SecurityID, quantity and side of each new request on the feed.
pub(crate) fn published(harness: &mut Harness) -> Vec<(String, i32, Option<i32>, Option<i8>)> {
    let mut requests = Vec::new();
    let mut packet = [0; 1_420];
    while harness.market.publisher().has_event() {
        let sent = harness.market.publisher_mut().poll_transmit(harness.now, &mut packet).unwrap();
        let mut messages = &packet[12..sent.length];
        while let [low, high, ..] = *messages {
            let (message, rest) = messages.split_at(usize::from(u16::from_le_bytes([low, high])));
            messages = rest;
            let (header, body) = MessageHeader::decode(&message[2..]).unwrap();
            if header.template_id != QuoteRequest39::TEMPLATE_ID {
                continue;
            }
            let mut scratch = QuoteRequest39::SCRATCH;
            let request = QuoteRequest39::decode(&header, body, &mut scratch).unwrap();
            let (mut entries, mut scratch) = (request.no_related_sym(), NoRelatedSym::SCRATCH);
            while let Some(of) = entries.next(&mut scratch) {
                let id = request.quote_req_id().to_string();
                requests.push((id, of.security_id(), of.order_qty(), of.side()));
            }
        }
    }
    requests
}

fn answer(reply: &Reply) -> (QuoteAckStatus, Option<u16>) {
    let ack = decode!(RequestForQuoteAck546, reply);
    (ack.quote_status(), ack.quote_reject_reason())
}

#[test]
fn publishes_requests_under_the_acknowledged_id() {
    let (mut harness, id) = Harness::established();
    harness.drain_feed();
    let entries = [
        (1_001, Some(10), Some(RFQSide::BUY)),
        (1_002, None, None),
        (1_001, Some(3), Some(RFQSide::SELL)),
        (1_001, None, Some(RFQSide::CROSS)),
    ];
    let reply = harness.send_one(id, &request_for_quote(1, &entries));
    assert_eq!(answer(&reply), (QuoteAckStatus::ACCEPTED, None));
    let ack = decode!(RequestForQuoteAck546, reply);
    assert_eq!((ack.seq_num(), ack.uuid(), ack.quote_req_id()), (1, UUID, 5_001));
    assert_eq!(
        (ack.sender_id().to_string(), ack.party_details_list_req_id()),
        ("TRADER".into(), 1)
    );
    let number = ack.exchange_quote_req_id().to_string();
    assert!(!number.is_empty());
    let of = |security, quantity, side| (number.clone(), security, quantity, side);
    assert_eq!(
        published(&mut harness),
        [
            of(1_001, Some(10), Some(1)),
            of(1_002, None, None),
            of(1_001, Some(3), Some(2)),
            of(1_001, None, Some(8)),
        ]
    );
    // The next request has another id.
    let reply = harness.send_one(id, &request_for_quote(2, &entries[..1]));
    assert_ne!(decode!(RequestForQuoteAck546, reply).exchange_quote_req_id(), number.as_str());
    let timestamp = harness.timestamp();
    let again = harness.send(id, &retransmit_request_of(UUID, timestamp, None, 1, 1));
    let flag = decode!(RequestForQuoteAck546, again[1]).poss_retrans_flag();
    assert_eq!(flag.map(|flag| flag.0), Some(1));
    assert_eq!(harness.counters().quote_requests, 2);
}

#[test]
fn rejects_invalid_quote_requests_as_a_whole() {
    let (mut harness, id) = Harness::established();
    harness.drain_feed();
    harness.market.set_status(harness.now, Some(1), TradingStatus::TradingHalt);
    published(&mut harness);
    let good = (1_001, None, None);
    let many = [good; 51];
    let cases: [(&[_], u16); 6] = [
        (&[], 3),
        (&many, 3),
        (&[good, (7, None, None)], 1),
        (&[good, (1_002, None, None)], 2),
        (&[good, (1_001, Some(0), None)], 99),
        (&[good, (1_001, None, Some(RFQSide(5)))], 99),
    ];
    for (number, (entries, reason)) in (1..).zip(cases) {
        let reply = harness.send_one(id, &request_for_quote(number, entries));
        assert_eq!(answer(&reply), (QuoteAckStatus::REJECTED, Some(reason)));
        assert!(decode!(RequestForQuoteAck546, reply).exchange_quote_req_id().is_empty());
    }
    assert_eq!(published(&mut harness), []);
    assert_eq!(harness.counters().quote_rejects, 6);
    let reply = harness.send_one(id, &request_for_quote(7, &many[..50]));
    assert_eq!(answer(&reply), (QuoteAckStatus::ACCEPTED, None));
    assert_eq!(published(&mut harness).len(), 50);
}

#[test]
fn rejects_quote_requests_when_the_feed_queue_is_full() {
    let (mut harness, id) = Harness::established();
    let entries = [(1_001, None, None); 50];
    let mut refused = None;
    for number in 1..2_000 {
        let reply = harness.send_one(id, &request_for_quote(number, &entries));
        if answer(&reply) != (QuoteAckStatus::ACCEPTED, None) {
            refused = Some((number, answer(&reply)));
            break;
        }
    }
    let (number, why) = refused.unwrap();
    assert_eq!(why, (QuoteAckStatus::REJECTED, Some(99)));
    harness.drain_feed();
    let reply = harness.send_one(id, &request_for_quote(number + 1, &entries));
    assert_eq!(answer(&reply), (QuoteAckStatus::ACCEPTED, None));
}
