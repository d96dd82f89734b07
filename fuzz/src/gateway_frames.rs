//! A gateway that receives frames that two clients could send: valid and invalid logons, orders of
//! every kind, numbers skipped or repeated, split anywhere.
//!
//! The checks are those of `gateway_bytes`. Mutations reach deeper here, because no mutated logon
//! has a valid signature there.
//!
//! Input: steps of six bytes.

use hairpin_cme_codecs::ilink3::{
    CrossTypeEnum, KeepAliveLapsed, ListUpdAct, MassActionScope, MassStatusReqTyp, OrderTypeReq,
    RFQSide, Side, SideReq, SideTimeInForce, TimeInForce,
};
use hairpin_exchange::ConnectionId;

use crate::Seed;
use crate::client::{
    ACCESS_KEY, CancelNames, CrossSide, Definition, QuoteEntry, SYSTEM, SideEntry, cancel_with,
    cross_of, definition, establish_by, mass_action_with, mass_quote, mass_quote_request_with,
    mass_status_request_with, negotiate_by, order_with, party_list_request, quote_cancel,
    replace_with, request_for_cross, request_for_quote, retransmit_request_of, sequence, terminate,
};
use crate::gateway::{CheckedGateway, OTHER};
use crate::script::Script;

/// The number of kinds of steps.
const KINDS: u8 = 30;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let mut gateway = CheckedGateway::new();
    let mut clients = [Numbers::default(); 2];
    while !script.is_over() {
        let step = [(); 6].map(|()| script.byte());
        let [kind, who, a, b, _, _] = step;
        let id = ConnectionId(u32::from(who & 1));
        match kind % KINDS {
            0 => gateway.connect(),
            1 => gateway.close(id),
            2 => gateway.pass(u64::from(u16::from_le_bytes([a, b]))),
            3 => gateway.read(id, usize::from(a) * 64),
            4 => gateway.terminate(id),
            5 => gateway.trade(a),
            _ => {
                // A RequestTimestamp must be later than the previous one.
                gateway.pass(0);
                send(&mut gateway, id, &mut clients, &step);
            }
        }
    }
}

/// A client's counters.
#[derive(Clone, Copy, Default)]
struct Numbers {
    uuid: u64,
    next: u32,
}

fn send(
    gateway: &mut CheckedGateway,
    id: ConnectionId,
    clients: &mut [Numbers; 2],
    step: &[u8; 6],
) {
    let &[_, who, _, b, _, cut] = step;
    let client = &mut clients[id.0 as usize];
    let mut frame = frame(gateway, client, step);
    if who & 4 != 0 {
        let place = usize::from(b) % frame.len();
        frame[place] ^= cut | 1;
    }
    frame.chunks(1 + usize::from(cut)).for_each(|piece| gateway.bytes(id, piece));
}

/// Creates a frame. Bits of `who`: the connection, the account, an altered byte, a skipped number,
/// a repeated number.
fn frame(gateway: &CheckedGateway, client: &mut Numbers, step: &[u8; 6]) -> Vec<u8> {
    let &[kind, who, a, b, c, _] = step;
    let timestamp = gateway.now.utc.as_nanos();
    let account = if who & 2 == 0 { (ACCESS_KEY, "ABC") } else { OTHER };
    let side = if b & 1 == 0 { SideReq::BUY } else { SideReq::SELL };
    let price = 1_000_000_000_000 + (i64::from(a) - 128) * 250_000_000;
    let order_id = gateway.orders.get(usize::from(a) % 8).copied().unwrap_or(u64::from(a));
    match kind % KINDS {
        6 => {
            *client = Numbers { uuid: timestamp / 1_000, next: 1 };
            negotiate_by(client.uuid, timestamp, account.0, account.1)
        }
        7 => {
            let next = client.next.wrapping_add(u32::from(a));
            let keep_alive = if b == 0 { 10_000 } else { u16::from(b) * 256 };
            establish_by(client.uuid, timestamp, (next, keep_alive), SYSTEM, account)
        }
        8 => sequence(client.uuid, client.next + u32::from(a), KeepAliveLapsed(b & 1)),
        9 => terminate(client.uuid, timestamp, u16::from(a)),
        10 => {
            let last = (b & 1 == 1).then_some(client.uuid);
            retransmit_request_of(client.uuid, timestamp, last, u32::from(a), u16::from(c))
        }
        11 | 12 => cancel_with(number(client, who), order_id, |cancel| {
            cancel.set_side(side);
        }),
        13 | 14 => replace_with(number(client, who), order_id, price, |replace| {
            replace.set_side(side).set_order_qty(u32::from(c)).set_ord_type(kind_of(b));
            replace.set_time_in_force(time_of(b));
        }),
        20..=25 => many(number(client, who), (a, b, c), price),
        26 | 27 => parties(number(client, who), (a, b, c)),
        _ => order_with(number(client, who), price, |order| {
            order.set_side(side).set_order_qty(u32::from(c)).set_ord_type(kind_of(b));
            order.set_time_in_force(time_of(b));
            order.set_min_qty((b & 64 != 0).then_some(u32::from(c / 2)));
            // Some orders follow on-demand party details.
            order.set_party_details_list_req_id(if b & 128 == 0 { 1 } else { 0 });
        }),
    }
}

/// Creates quotes, crosses and requests for many orders.
fn many(number: u32, (a, b, c): (u8, u8, u8), price: i64) -> Vec<u8> {
    let security = 1_001 + i32::from(b & 3);
    let step = i64::from(c) * 250_000_000;
    match a % 8 {
        0 | 1 => {
            let of = |id: u32| QuoteEntry {
                id,
                set: u16::from(b & 3),
                security,
                bid: (price - step, u32::from(c / 8)),
                offer: (price + i64::from(id) * 250_000_000, u32::from(b / 8)),
            };
            mass_quote(number, &(0..u32::from(c % 60)).map(of).collect::<Vec<_>>())
        }
        2 => {
            let (ids, sets) = ([security], [u16::from(c & 3)]);
            quote_cancel(
                number,
                match b % 4 {
                    0 => CancelNames::All,
                    1 => CancelNames::Instruments(&ids),
                    2 => CancelNames::Sets(&sets),
                    _ => CancelNames::Type(c),
                },
            )
        }
        3 => mass_action_with(number, |request| {
            request.set_mass_action_scope(MassActionScope(c)).set_security_id(security);
        }),
        4 => mass_status_request_with(number, |request| {
            request.set_mass_status_req_type(MassStatusReqTyp(c)).set_security_id(security);
        }),
        5 | 6 => {
            let side = |side| CrossSide {
                cl_ord_id: "C",
                parties: 1,
                quantity: u32::from(c),
                side,
                time: SideTimeInForce(b & 3),
            };
            let sides = [side(SideReq::BUY), side(SideReq(1 + (b & 1)))];
            // Some CrossIDs repeat.
            let id = u64::from(number & 15);
            match a % 8 {
                5 => cross_of(number, id, price, &sides),
                _ => request_for_cross((number, id), CrossTypeEnum(b >> 3 & 31), price, &sides),
            }
        }
        _ => {
            let of = |id: u32| SideEntry {
                id,
                set: u16::from(b & 3),
                security,
                side: Side((1 + (id + u32::from(b >> 2)) % 3) as u8),
                price: price + i64::from(id) * step,
                quantity: u32::from(c / 8),
            };
            let entries: Vec<SideEntry> = (0..u32::from(c % 60)).map(of).collect();
            mass_quote_request_with(number, &entries, |_| {})
        }
    }
}

/// Creates party details and requests for quote.
fn parties(number: u32, (a, b, c): (u8, u8, u8)) -> Vec<u8> {
    let id = if b & 1 == 0 { 0 } else { u64::from(b) };
    match a % 4 {
        0 | 1 => {
            let action = if c & 1 == 0 { ListUpdAct::ADD } else { ListUpdAct::DELETE };
            definition(&Definition { number, action, ..Definition::new(id) })
        }
        2 => party_list_request(number, &["DEFGH"][..usize::from(c & 1)], &[id]),
        _ => {
            let of = (1_001 + i32::from(b & 3), Some(u32::from(c)), Some(RFQSide(b & 15)));
            request_for_quote(number, &vec![of; usize::from(c % 60)])
        }
    }
}

fn number(client: &mut Numbers, who: u8) -> u32 {
    let skip = u32::from(who >> 3 & 1);
    let again = u32::from(who >> 4 & 1);
    let number = client.next.wrapping_add(skip).wrapping_sub(again);
    client.next = number.wrapping_add(1);
    number
}

fn kind_of(byte: u8) -> OrderTypeReq {
    match byte >> 1 & 3 {
        0 | 1 => OrderTypeReq::LIMIT,
        2 => OrderTypeReq::MARKETWITH_PROTECTION,
        _ => OrderTypeReq(byte),
    }
}

fn time_of(byte: u8) -> TimeInForce {
    match byte >> 3 & 3 {
        0 | 1 => TimeInForce::DAY,
        2 => TimeInForce::GOOD_TILL_CANCEL,
        _ => TimeInForce::FILL_AND_KILL,
    }
}

/// Returns two clients that trade with each other, skipped numbers, and a resumed session.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let logon = |who: u8| [[0, 0, 0, 0, 0, 0], [6, who, 0, 0, 0, 255], [7, who, 0, 0, 0, 99]];
    let read = |who: u8| [[3, who, 255, 0, 0, 0]; 1];
    let [first, second] = [logon(0), logon(3)];
    let [reads, reads_too] = [read(0), read(1)];
    let rest = [[15, 0, 120, 0, 4, 255], [15, 0, 121, 0x10, 9, 20], [15, 0, 140, 1, 3, 255]];
    let take = [[15, 3, 100, 1, 9, 255], [16, 3, 0, 5, 40, 40], [17, 3, 130, 0x58, 6, 255]];
    let change = [[13, 0, 0, 0, 2, 255], [14, 0, 1, 0x10, 20, 255], [11, 0, 1, 0, 0, 9]];
    let wrong = [[15, 8, 120, 0, 4, 255], [8, 0, 1, 0, 0, 255], [15, 16, 120, 0, 4, 255]];
    let quiet = [[2, 0, 0, 60, 0, 0], [8, 0, 0, 1, 0, 0], [2, 0, 0, 60, 0, 0]];
    let again = [[10, 0, 1, 0, 5, 255], [9, 0, 0, 0, 0, 255], [5, 0, 0, 0, 0, 0]];
    let quotes = [[20, 0, 0, 1, 5, 255], [21, 3, 1, 32, 9, 255], [20, 0, 2, 2, 1, 255]];
    let many = [[20, 0, 3, 0, 7, 255], [22, 0, 4, 0, 8, 255], [23, 3, 5, 1, 4, 255]];
    let sides = [[20, 0, 7, 4, 9, 255], [21, 3, 7, 0, 50, 255], [20, 0, 6, 25, 8, 255]];
    let details = [[26, 0, 0, 0, 0, 255], [15, 0, 120, 128, 4, 255], [27, 0, 1, 9, 0, 255]];
    let asked = [[26, 0, 2, 9, 0, 255], [26, 0, 3, 0, 4, 255], [26, 0, 0, 0, 0, 255]];
    let seed = |name: &str, parts: &[&[[u8; 6]]]| (name.to_owned(), parts.concat().concat());
    vec![
        seed("trade", &[&first, &second, &rest, &reads, &take, &reads_too, &reads]),
        seed("change", &[&first, &rest, &reads, &change, &reads, &again, &reads]),
        seed("quotes", &[&first, &second, &quotes, &many, &reads, &reads_too, &rest, &many]),
        seed(
            "sides",
            &[&first, &second, &sides, &quotes, &sides, &reads, &reads_too, &rest, &many],
        ),
        seed("parties", &[&first, &details, &asked, &reads, &rest, &reads]),
        seed("wrong", &[&first, &wrong, &quiet, &reads, &first, &rest, &again]),
    ]
}
