//! A gateway, given frames that two clients could send: right logons and wrong ones, orders of
//! every kind, numbers left out or used again, in pieces of any length.
//!
//! Proves what `gateway_bytes` does, far deeper in: there no mutation of a logon is ever signed.
//!
//! An input is steps of six bytes.

use hairpin_cme_codecs::ilink3::{KeepAliveLapsed, OrderTypeReq, SideReq, TimeInForce};
use hairpin_exchange::ConnectionId;

use crate::Seed;
use crate::client::{
    ACCESS_KEY, SYSTEM, cancel_with, establish_by, negotiate_by, order_with, replace_with,
    retransmit_request_of, sequence, terminate,
};
use crate::gateway::{OTHER, Watched};
use crate::script::Script;

/// One input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let mut watched = Watched::new();
    let mut clients = [Numbers::default(); 2];
    while !script.is_over() {
        let step = [(); 6].map(|()| script.byte());
        let [kind, who, a, b, _, _] = step;
        let id = ConnectionId(u32::from(who & 1));
        match kind % 20 {
            0 => watched.connect(),
            1 => watched.close(id),
            2 => watched.pass(u64::from(u16::from_le_bytes([a, b]))),
            3 => watched.read(id, usize::from(a) * 64),
            4 => watched.terminate(id),
            5 => watched.trade(a),
            _ => {
                // A RequestTimestamp has to be later than the one before.
                watched.pass(0);
                send(&mut watched, id, &mut clients, &step);
            }
        }
    }
}

/// What a client counts.
#[derive(Clone, Copy, Default)]
struct Numbers {
    uuid: u64,
    next: u32,
}

fn send(watched: &mut Watched, id: ConnectionId, clients: &mut [Numbers; 2], step: &[u8; 6]) {
    let &[_, who, _, b, _, cut] = step;
    let client = &mut clients[id.0 as usize];
    let mut frame = frame(watched, client, step);
    if who & 4 != 0 {
        let place = usize::from(b) % frame.len();
        frame[place] ^= cut | 1;
    }
    frame.chunks(1 + usize::from(cut)).for_each(|piece| watched.bytes(id, piece));
}

/// Bits of `who`: the connection, the account, a byte altered, a number left out, one used again.
fn frame(watched: &Watched, client: &mut Numbers, step: &[u8; 6]) -> Vec<u8> {
    let &[kind, who, a, b, c, _] = step;
    let timestamp = watched.now.utc.as_nanos();
    let account = if who & 2 == 0 { (ACCESS_KEY, "ABC") } else { OTHER };
    let side = if b & 1 == 0 { SideReq::BUY } else { SideReq::SELL };
    let price = 1_000_000_000_000 + (i64::from(a) - 128) * 250_000_000;
    let order_id = watched.orders.get(usize::from(a) % 8).copied().unwrap_or(u64::from(a));
    match kind % 20 {
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
        _ => order_with(number(client, who), price, |order| {
            order.set_side(side).set_order_qty(u32::from(c)).set_ord_type(kind_of(b));
            order.set_time_in_force(time_of(b));
            order.set_min_qty((b & 64 != 0).then_some(u32::from(c / 2)));
        }),
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

/// Two clients that trade with each other; numbers left out; a return.
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
    let seed = |name: &str, parts: &[&[[u8; 6]]]| (name.to_owned(), parts.concat().concat());
    vec![
        seed("trade", &[&first, &second, &rest, &reads, &take, &reads_too, &reads]),
        seed("change", &[&first, &rest, &reads, &change, &reads, &again, &reads]),
        seed("wrong", &[&first, &wrong, &quiet, &reads, &first, &rest, &again]),
    ]
}
