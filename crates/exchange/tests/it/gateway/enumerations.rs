//! Values of enumerations: those that the schema lacks are never sent.
//!
//! In builds with debug assertions the exchange checks every message that it sends, so each test
//! here and elsewhere fails if a message has a value that its field's enumeration lacks.

use hairpin_cme_codecs::ilink3::{
    CrossTypeEnum, ExecutionReportNew522, ExecutionReportReject523, MESSAGES, OrderType,
    OrderTypeReq, Side, SideReq, SideTimeInForce,
};
use hairpin_sbe::{Decimal, Encoding, Field};

use super::harness::Harness;
use crate::client::{
    CancelNames, CrossSide, Definition, QuoteEntry, SideEntry, cancel, cross, definition,
    mass_action_with, mass_quote, mass_quote_request_with, mass_status_request_with, order,
    order_with, quote_cancel, quote_cancel_by, replace_with, request_for_cross, request_for_quote,
    status_request,
};
use crate::decode;

/// Bytes of the framing header and of the SBE header.
const HEADERS: usize = 12;

/// The positions and sizes of all enumerations and sets in a message.
fn enumerations(message: &[u8]) -> Vec<(String, usize, usize)> {
    let template = u16::from_le_bytes([message[6], message[7]]);
    let layout = MESSAGES.iter().find(|layout| layout.template_id == template).unwrap();
    let mut found = Vec::new();
    let mut add = |fields: &[Field], start: usize| {
        for field in fields {
            let is_listed =
                matches!(field.kind.encoding, Encoding::Enumeration(..) | Encoding::Set(..));
            if is_listed && field.kind.size > 0 {
                let name = format!("{} {}", layout.name, field.name);
                found.push((name, start + usize::from(field.offset), field.kind.size.into()));
            }
        }
    };
    add(layout.block.fields, HEADERS);
    let mut place = HEADERS + usize::from(u16::from_le_bytes([message[4], message[5]]));
    for group in layout.groups {
        // A group's header is the length of its entries and their number.
        let length = usize::from(u16::from_le_bytes([message[place], message[place + 1]]));
        let count = usize::from(message[place + 2]);
        place += 3;
        for _ in 0..count {
            add(group.block.fields, place);
            place += length;
        }
    }
    assert_eq!(place, message.len(), "{}", layout.name);
    found
}

fn sides() -> [CrossSide; 2] {
    [SideReq::BUY, SideReq::SELL].map(|side| CrossSide {
        cl_ord_id: "CROSS",
        parties: 1,
        quantity: 1,
        side,
        time: SideTimeInForce::DAY,
    })
}

type Request = Box<dyn Fn(u32) -> Vec<u8>>;

/// Returns the encoder of each kind of request, by sequence number.
fn requests(price: i64, resting: u64) -> Vec<Request> {
    vec![
        Box::new(move |number| order(number, price)),
        Box::new(move |number| replace_with(number, resting, price, |_| {})),
        Box::new(move |number| cancel(number, resting)),
        Box::new(|number| mass_action_with(number, |_| {})),
        Box::new(move |number| status_request(number, resting)),
        Box::new(|number| mass_status_request_with(number, |_| {})),
        Box::new(move |number| mass_quote(number, &[QuoteEntry::default()])),
        Box::new(move |number| {
            let (side, id) = (Side::BUY, 1);
            let entry = SideEntry { id, set: 1, security: 1_001, side, price, quantity: 1 };
            mass_quote_request_with(number, &[entry], |_| {})
        }),
        Box::new(|number| quote_cancel(number, CancelNames::All)),
        Box::new(|number| quote_cancel_by(number, CancelNames::Sets(&[1]))),
        Box::new(|number| request_for_quote(number, &[(1_001, None, None)])),
        Box::new(move |number| cross(number, price, &sides())),
        Box::new(move |number| {
            let id = u64::from(number) + 4_000;
            request_for_cross((number, id), CrossTypeEnum::R_CROSS, price, &sides())
        }),
        Box::new(|number| definition(&Definition { number, ..Definition::new(7) })),
    ]
}

/// Sends every enumeration of every request with values that it lacks. Whatever the gateway
/// answers, it repeats none of them.
#[test]
fn undefined_values_of_requests_are_never_repeated() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let resting = harness.send_one(id, &order(1, price));
    let resting = decode!(ExecutionReportNew522, resting).order_id();
    let (mut number, mut tried) = (2, 0);
    for request in requests(price, resting) {
        for (name, place, size) in enumerations(&request(number)) {
            for value in [0, 3, 7, 40, 99, b'3', b'9', b'z', 200, 254, 255] {
                let mut message = request(number);
                message[place..place + size].fill(value);
                let replies = harness.send(id, &message);
                harness.drain_feed();
                assert!(!replies.is_empty(), "{name} {value}");
                assert!(replies.iter().all(|reply| reply.template() != 507), "{name} {value}");
                number += 1;
                tried += 1;
            }
        }
    }
    assert!(tried > 400, "{tried}");
}

/// Reports have no type for a stop order with protection, also if it is rejected: 523 repeats the
/// order as a stop limit order.
#[test]
fn rejected_stop_with_protection_is_reported_as_stop_limit() {
    let (mut harness, id) = Harness::established();
    let reply = harness.send_one(
        id,
        &order_with(1, 0, |order| {
            order
                .set_ord_type(OrderTypeReq::STOPWITH_PROTECTION)
                .set_price(None)
                .set_security_id(99)
                .set_stop_px(Decimal(1_000_000_000));
        }),
    );
    let reject = decode!(ExecutionReportReject523, reply);
    assert_eq!((reject.ord_type(), reject.ord_rej_reason()), (Some(OrderType::STOP_LIMIT), 2_047));
}
