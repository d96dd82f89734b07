//! A scripted iLink 3 client: encodes frames to send, decodes received messages.

#![allow(dead_code, reason = "each test uses its part")]

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hairpin_cme_codecs::ilink3::{
    BooleanFlag, CrossTypeEnum, CustOrderCapacity, Establish503, KeepAliveLapsed, ListUpdAct,
    ManualOrdIndReq, MassActionScope, MassQuote517, MassQuote517Encoder, MassQuoteRequest567,
    MassQuoteRequest567Encoder, MassStatusReqTyp, Negotiate500, NewOrderCross544,
    NewOrderSingle514, NewOrderSingle514Encoder, OFMOverrideReq, OrderCancelReplaceRequest515,
    OrderCancelReplaceRequest515Encoder, OrderCancelRequest516, OrderCancelRequest516Encoder,
    OrderMassActionRequest529, OrderMassActionRequest529Encoder, OrderMassStatusRequest530,
    OrderMassStatusRequest530Encoder, OrderStatusRequest533, OrderTypeReq, PartyDetailRole,
    PartyDetailsDefinitionRequest518, PartyDetailsDefinitionRequest518Encoder,
    PartyDetailsListRequest537, QuoteCancel528, QuoteCancelByGroup569, QuoteCancelByInstrument570,
    QuoteCancelBySet568, QuoteCxlTyp, RFQSide, RequestForCross566, RequestForQuote543,
    RetransmitRequest508, SMPI, Sequence506, Side, SideReq, SideTimeInForce, Terminate507,
    TimeInForce,
};
use hairpin_exchange::Credentials;
use hairpin_sbe::{Decimal, MessageHeader};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

pub(crate) const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
pub(crate) const ACCESS_KEY: &str = "HAIRPINTESTACCESSKEY";
pub(crate) const SYSTEM: (&str, &str, &str) = ("Hairpin", "0.1", "Tests");

pub(crate) fn credentials() -> Credentials {
    Credentials::new(ACCESS_KEY, KEY, "ABC", "DEFGH").unwrap()
}

/// Prefixes a message with the framing header.
pub(crate) fn frame(message: &[u8]) -> Vec<u8> {
    let size = u16::try_from(message.len() + 4).unwrap();
    [&size.to_le_bytes()[..], &[0xFE, 0xCA], message].concat()
}

fn sign(canonical: &str) -> [u8; 32] {
    let key = URL_SAFE_NO_PAD.decode(KEY).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(canonical.as_bytes());
    mac.finalize().into_bytes().into()
}

pub(crate) fn negotiate_by(uuid: u64, timestamp: u64, access_key: &str, session: &str) -> Vec<u8> {
    negotiate_of(uuid, timestamp, (access_key, session, "DEFGH"))
}

pub(crate) fn negotiate_of(
    uuid: u64,
    timestamp: u64,
    (access_key, session, firm): (&str, &str, &str),
) -> Vec<u8> {
    let mut buffer = [0; Negotiate500::ENCODED_LENGTH];
    let signature = sign(&format!("{timestamp}\n{uuid}\n{session}\n{firm}"));
    Negotiate500::encode(&mut buffer)
        .unwrap()
        .set_hmac_signature(signature)
        .set_access_key_id(access_key)
        .set_uuid(uuid)
        .set_request_timestamp(timestamp)
        .set_session(session)
        .set_firm(firm);
    frame(&buffer)
}

pub(crate) fn negotiate(uuid: u64, timestamp: u64) -> Vec<u8> {
    negotiate_by(uuid, timestamp, ACCESS_KEY, "ABC")
}

pub(crate) fn establish_with(
    uuid: u64,
    timestamp: u64,
    next: u32,
    keep_alive: u16,
    system: (&str, &str, &str),
) -> Vec<u8> {
    establish_by(uuid, timestamp, (next, keep_alive), system, (ACCESS_KEY, "ABC"))
}

/// Encodes an Establish of the session with this access key and name.
pub(crate) fn establish_by(
    uuid: u64,
    timestamp: u64,
    numbers: (u32, u16),
    system: (&str, &str, &str),
    (access_key, session): (&str, &str),
) -> Vec<u8> {
    establish_in_full(uuid, timestamp, numbers, system, (access_key, session, "DEFGH"))
}

/// Encodes the first Establish of the session with this access key, name and firm.
pub(crate) fn establish_of(uuid: u64, timestamp: u64, by: (&str, &str, &str)) -> Vec<u8> {
    establish_in_full(uuid, timestamp, (1, 10_000), SYSTEM, by)
}

fn establish_in_full(
    uuid: u64,
    timestamp: u64,
    (next, keep_alive): (u32, u16),
    (name, version, vendor): (&str, &str, &str),
    (access_key, session, firm): (&str, &str, &str),
) -> Vec<u8> {
    let mut buffer = [0; Establish503::ENCODED_LENGTH];
    let signature = sign(&format!(
        "{timestamp}\n{uuid}\n{session}\n{firm}\n{name}\n{version}\n{vendor}\n{next}\n{keep_alive}"
    ));
    Establish503::encode(&mut buffer)
        .unwrap()
        .set_hmac_signature(signature)
        .set_access_key_id(access_key)
        .set_trading_system_name(name)
        .set_trading_system_version(version)
        .set_trading_system_vendor(vendor)
        .set_uuid(uuid)
        .set_request_timestamp(timestamp)
        .set_next_seq_no(next)
        .set_session(session)
        .set_firm(firm)
        .set_keep_alive_interval(keep_alive);
    frame(&buffer)
}

pub(crate) fn establish(uuid: u64, timestamp: u64, next: u32) -> Vec<u8> {
    establish_with(uuid, timestamp, next, 10_000, SYSTEM)
}

pub(crate) fn sequence(uuid: u64, next: u32, lapsed: KeepAliveLapsed) -> Vec<u8> {
    let mut buffer = [0; Sequence506::ENCODED_LENGTH];
    Sequence506::encode(&mut buffer)
        .unwrap()
        .set_uuid(uuid)
        .set_next_seq_no(next)
        .set_keep_alive_interval_lapsed(lapsed);
    frame(&buffer)
}

pub(crate) fn terminate(uuid: u64, timestamp: u64, code: u16) -> Vec<u8> {
    let mut buffer = [0; Terminate507::ENCODED_LENGTH];
    Terminate507::encode(&mut buffer)
        .unwrap()
        .set_uuid(uuid)
        .set_request_timestamp(timestamp)
        .set_error_codes(code);
    frame(&buffer)
}

pub(crate) fn retransmit_request(uuid: u64, timestamp: u64) -> Vec<u8> {
    retransmit_request_of(uuid, timestamp, None, 1, 5)
}

pub(crate) fn retransmit_request_of(
    uuid: u64,
    timestamp: u64,
    last_uuid: Option<u64>,
    from: u32,
    count: u16,
) -> Vec<u8> {
    let mut buffer = [0; RetransmitRequest508::ENCODED_LENGTH];
    RetransmitRequest508::encode(&mut buffer)
        .unwrap()
        .set_uuid(uuid)
        .set_last_uuid(last_uuid)
        .set_request_timestamp(timestamp)
        .set_from_seq_no(from)
        .set_msg_count(count);
    frame(&buffer)
}

/// Encodes a valid order to buy one contract, modified by `change`.
pub(crate) fn order_with(
    number: u32,
    price: i64,
    change: impl FnOnce(&mut NewOrderSingle514Encoder<'_>),
) -> Vec<u8> {
    let mut buffer = [0; NewOrderSingle514::ENCODED_LENGTH];
    let mut order = NewOrderSingle514::encode(&mut buffer).unwrap();
    order
        .set_price(Decimal(price))
        .set_order_qty(1)
        .set_security_id(1_001)
        .set_side(SideReq::BUY)
        .set_seq_num(number)
        .set_sender_id("TRADER")
        .set_cl_ord_id(number.to_string())
        .set_party_details_list_req_id(1)
        .set_order_request_id(u64::from(number) + 7_000)
        .set_sending_time_epoch(1)
        .set_location("US,IL")
        .set_ord_type(OrderTypeReq::LIMIT)
        .set_time_in_force(TimeInForce::DAY)
        .set_manual_order_indicator(ManualOrdIndReq::AUTOMATED);
    change(&mut order);
    frame(&buffer)
}

pub(crate) fn order(number: u32, price: i64) -> Vec<u8> {
    order_with(number, price, |_| {})
}

/// Encodes a valid replacement to buy one contract, modified by `change`.
pub(crate) fn replace_with(
    number: u32,
    order: impl Into<Option<u64>>,
    price: i64,
    change: impl FnOnce(&mut OrderCancelReplaceRequest515Encoder<'_>),
) -> Vec<u8> {
    let mut buffer = [0; OrderCancelReplaceRequest515::ENCODED_LENGTH];
    let mut replace = OrderCancelReplaceRequest515::encode(&mut buffer).unwrap();
    replace
        .set_price(Decimal(price))
        .set_order_qty(1)
        .set_security_id(1_001)
        .set_side(SideReq::BUY)
        .set_seq_num(number)
        .set_sender_id("TRADER")
        .set_cl_ord_id(number.to_string())
        .set_party_details_list_req_id(1)
        .set_order_id(order)
        .set_order_request_id(u64::from(number) + 7_000)
        .set_sending_time_epoch(1)
        .set_location("US,IL")
        .set_ord_type(OrderTypeReq::LIMIT)
        .set_time_in_force(TimeInForce::DAY)
        .set_manual_order_indicator(ManualOrdIndReq::AUTOMATED)
        .set_ofm_override(OFMOverrideReq::DISABLED);
    change(&mut replace);
    frame(&buffer)
}

pub(crate) fn cancel(number: u32, order: impl Into<Option<u64>>) -> Vec<u8> {
    cancel_with(number, order, |_| {})
}

/// Encodes a valid cancel of an order to buy, modified by `change`.
pub(crate) fn cancel_with(
    number: u32,
    order: impl Into<Option<u64>>,
    change: impl FnOnce(&mut OrderCancelRequest516Encoder<'_>),
) -> Vec<u8> {
    let mut buffer = [0; OrderCancelRequest516::ENCODED_LENGTH];
    let mut cancel = OrderCancelRequest516::encode(&mut buffer).unwrap();
    cancel
        .set_order_id(order)
        .set_party_details_list_req_id(1)
        .set_manual_order_indicator(ManualOrdIndReq::AUTOMATED)
        .set_seq_num(number)
        .set_sender_id("TRADER")
        .set_cl_ord_id(number.to_string())
        .set_order_request_id(u64::from(number) + 7_000)
        .set_sending_time_epoch(1)
        .set_location("US,IL")
        .set_security_id(1_001)
        .set_side(SideReq::BUY);
    change(&mut cancel);
    frame(&buffer)
}

/// Encodes an order status request. OrdStatusReqID is SeqNum + 8,000.
pub(crate) fn status_request(number: u32, order: u64) -> Vec<u8> {
    let mut buffer = [0; OrderStatusRequest533::ENCODED_LENGTH];
    OrderStatusRequest533::encode(&mut buffer)
        .unwrap()
        .set_party_details_list_req_id(1)
        .set_ord_status_req_id(u64::from(number) + 8_000)
        .set_manual_order_indicator(ManualOrdIndReq::AUTOMATED)
        .set_seq_num(number)
        .set_sender_id("TRADER")
        .set_order_id(order)
        .set_sending_time_epoch(1)
        .set_location("US,IL");
    frame(&buffer)
}

/// Encodes a mass status request for all orders of market segment 64, modified by `change`. Its id
/// is SeqNum + 8,000.
pub(crate) fn mass_status_request_with(
    number: u32,
    change: impl FnOnce(&mut OrderMassStatusRequest530Encoder<'_>),
) -> Vec<u8> {
    let mut buffer = [0; OrderMassStatusRequest530::ENCODED_LENGTH];
    let mut request = OrderMassStatusRequest530::encode(&mut buffer).unwrap();
    request
        .set_party_details_list_req_id(1)
        .set_mass_status_req_id(u64::from(number) + 8_000)
        .set_manual_order_indicator(ManualOrdIndReq::AUTOMATED)
        .set_seq_num(number)
        .set_sender_id("TRADER")
        .set_sending_time_epoch(1)
        .set_location("US,IL")
        .set_mass_status_req_type(MassStatusReqTyp::MARKET_SEGMENT)
        .set_market_segment_id(64);
    change(&mut request);
    frame(&buffer)
}

/// Encodes a request to cancel all orders, modified by `change`.
pub(crate) fn mass_action_with(
    number: u32,
    change: impl FnOnce(&mut OrderMassActionRequest529Encoder<'_>),
) -> Vec<u8> {
    let mut buffer = [0; OrderMassActionRequest529::ENCODED_LENGTH];
    let mut request = OrderMassActionRequest529::encode(&mut buffer).unwrap();
    request
        .set_party_details_list_req_id(1)
        .set_order_request_id(u64::from(number) + 7_000)
        .set_manual_order_indicator(ManualOrdIndReq::AUTOMATED)
        .set_seq_num(number)
        .set_sender_id("TRADER")
        .set_sending_time_epoch(1)
        .set_location("US,IL")
        .set_mass_action_scope(MassActionScope::ALL);
    change(&mut request);
    frame(&buffer)
}

/// An entry of a mass quote; prices of 0 are null.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuoteEntry {
    pub(crate) id: u32,
    pub(crate) set: u16,
    pub(crate) security: i32,
    pub(crate) bid: (i64, u32),
    pub(crate) offer: (i64, u32),
}

impl Default for QuoteEntry {
    fn default() -> Self {
        Self { id: 1, set: 1, security: 1_001, bid: (0, 0), offer: (0, 0) }
    }
}

/// Encodes a mass quote. QuoteID is SeqNum + 9,000.
pub(crate) fn mass_quote(number: u32, entries: &[QuoteEntry]) -> Vec<u8> {
    mass_quote_with(number, entries, |_| {})
}

/// Encodes a mass quote, modified by `change`.
pub(crate) fn mass_quote_with(
    number: u32,
    entries: &[QuoteEntry],
    change: impl FnOnce(&mut MassQuote517Encoder<'_>),
) -> Vec<u8> {
    let mut buffer = [0; 4_096];
    let (mut root, mut groups) = MassQuote517::encode(&mut buffer).unwrap();
    root.set_party_details_list_req_id(1)
        .set_sending_time_epoch(1)
        .set_manual_order_indicator(ManualOrdIndReq::AUTOMATED)
        .set_seq_num(number)
        .set_sender_id("TRADER")
        .set_location("US,IL")
        .set_quote_id(number.wrapping_add(9_000))
        .set_tot_no_quote_entries(u8::try_from(entries.len()).unwrap())
        .set_mm_protection_reset(BooleanFlag::FALSE);
    change(&mut root);
    let mut group = groups.no_quote_entries().unwrap();
    let price = |price: i64| (price != 0).then_some(Decimal(price));
    for entry in entries {
        let mut of = group.push().unwrap();
        of.set_bid_px(price(entry.bid.0))
            .set_bid_size(entry.bid.1)
            .set_offer_px(price(entry.offer.0))
            .set_offer_size(entry.offer.1)
            .set_quote_entry_id(entry.id)
            .set_security_id(entry.security)
            .set_quote_set_id(entry.set);
    }
    let length = groups.finish().unwrap();
    frame(&buffer[..length])
}

/// The quotes that a quote cancel names.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CancelNames<'a> {
    All,
    Instruments(&'a [i32]),
    Groups(&'a [&'a str]),
    Sets(&'a [u16]),
    /// Another QuoteCancelType.
    Type(u8),
}

/// Encodes a QuoteCancel528. QuoteID is SeqNum + 9,000.
pub(crate) fn quote_cancel(number: u32, named: CancelNames<'_>) -> Vec<u8> {
    let mut buffer = [0; 4_096];
    let (mut root, mut groups) = QuoteCancel528::encode(&mut buffer).unwrap();
    let kind = match named {
        CancelNames::Instruments(_) => 1,
        CancelNames::Groups(_) => 3,
        CancelNames::All => 4,
        CancelNames::Sets(_) => 100,
        CancelNames::Type(kind) => kind,
    };
    root.set_party_details_list_req_id(1)
        .set_sending_time_epoch(1)
        .set_manual_order_indicator(ManualOrdIndReq::AUTOMATED)
        .set_seq_num(number)
        .set_sender_id("TRADER")
        .set_location("US,IL")
        .set_quote_id(number.wrapping_add(9_000))
        .set_quote_cancel_type(QuoteCxlTyp(kind));
    let mut entries = groups.no_quote_entries().unwrap();
    if let CancelNames::Instruments(ids) = named {
        for &id in ids {
            entries.push().unwrap().set_security_id(id);
        }
    }
    if let CancelNames::Groups(names) = named {
        for name in names {
            entries.push().unwrap().set_security_group(name);
        }
    }
    let mut sets = groups.no_quote_sets().unwrap();
    if let CancelNames::Sets(ids) = named {
        for &id in ids {
            sets.push().unwrap().set_quote_set_id(id);
        }
    }
    let length = groups.finish().unwrap();
    frame(&buffer[..length])
}

/// Encodes the quote cancel of schema version 9 for only this kind of names.
pub(crate) fn quote_cancel_by(number: u32, named: CancelNames<'_>) -> Vec<u8> {
    let mut buffer = [0; 4_096];
    macro_rules! root {
        ($root:expr) => {
            $root
                .set_party_details_list_req_id(1)
                .set_sending_time_epoch(1)
                .set_manual_order_indicator(ManualOrdIndReq::AUTOMATED)
                .set_seq_num(number)
                .set_sender_id("TRADER")
                .set_location("US,IL")
                .set_quote_id(number.wrapping_add(9_000));
        };
    }
    let length = match named {
        CancelNames::Instruments(ids) => {
            let (mut root, mut groups) = QuoteCancelByInstrument570::encode(&mut buffer).unwrap();
            root!(root);
            let mut entries = groups.no_quote_entries().unwrap();
            for &id in ids {
                entries.push().unwrap().set_security_id(id);
            }
            groups.finish().unwrap()
        }
        CancelNames::Groups(names) => {
            let (mut root, mut groups) = QuoteCancelByGroup569::encode(&mut buffer).unwrap();
            root!(root);
            let mut entries = groups.no_quote_entries().unwrap();
            for name in names {
                entries.push().unwrap().set_security_group(name);
            }
            groups.finish().unwrap()
        }
        CancelNames::Sets(ids) => {
            let (mut root, mut groups) = QuoteCancelBySet568::encode(&mut buffer).unwrap();
            root!(root);
            let mut sets = groups.no_quote_sets().unwrap();
            for &id in ids {
                sets.push().unwrap().set_quote_set_id(id);
            }
            groups.finish().unwrap()
        }
        CancelNames::All | CancelNames::Type(_) => panic!("no such message"),
    };
    frame(&buffer[..length])
}

/// A definition of party details.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Definition<'a> {
    pub(crate) number: u32,
    pub(crate) id: u64,
    pub(crate) action: ListUpdAct,
    pub(crate) parties: &'a [(&'a str, PartyDetailRole)],
    pub(crate) publications: u8,
    /// SelfMatchPreventionID and SelfMatchPreventionInstruction.
    pub(crate) self_match: (Option<u64>, Option<SMPI>),
}

impl Definition<'_> {
    /// Creates details with one operator under this id.
    pub(crate) fn new(id: u64) -> Self {
        let parties = &[("TRADER", PartyDetailRole::OPERATOR)];
        let self_match = (Some(99), None);
        Self { number: 1, id, action: ListUpdAct::ADD, parties, publications: 1, self_match }
    }
}

pub(crate) fn definition(of: &Definition<'_>) -> Vec<u8> {
    definition_with(of, |_| {})
}

/// Encodes a definition, modified by `change`.
pub(crate) fn definition_with(
    of: &Definition<'_>,
    change: impl FnOnce(&mut PartyDetailsDefinitionRequest518Encoder<'_>),
) -> Vec<u8> {
    let mut buffer = [0; 1_024];
    let (mut root, mut groups) = PartyDetailsDefinitionRequest518::encode(&mut buffer).unwrap();
    root.set_party_details_list_req_id(of.id)
        .set_sending_time_epoch(1)
        .set_list_update_action(of.action)
        .set_seq_num(of.number)
        .set_memo("MEMO")
        .set_self_match_prevention_id(of.self_match.0)
        .set_self_match_prevention_instruction(of.self_match.1)
        .set_executor(5)
        .set_cust_order_capacity(CustOrderCapacity(4));
    change(&mut root);
    let mut parties = groups.no_party_details().unwrap();
    for &(id, role) in of.parties {
        parties.push().unwrap().set_party_detail_id(id).set_party_detail_role(role);
    }
    let mut publications = groups.no_trd_reg_publications().unwrap();
    for _ in 0..of.publications {
        let mut publication = publications.push().unwrap();
        publication.set_trd_reg_publication_type(2).set_trd_reg_publication_reason(12);
    }
    let length = groups.finish().unwrap();
    frame(&buffer[..length])
}

/// Encodes a request for party details. Its id is SeqNum + 6,000.
pub(crate) fn party_list_request(number: u32, firms: &[&str], ids: &[u64]) -> Vec<u8> {
    let mut buffer = [0; 1_024];
    let (mut root, mut groups) = PartyDetailsListRequest537::encode(&mut buffer).unwrap();
    root.set_party_details_list_req_id(u64::from(number) + 6_000)
        .set_sending_time_epoch(1)
        .set_seq_num(number);
    let mut requesting = groups.no_requesting_party_i_ds().unwrap();
    for firm in firms {
        requesting.push().unwrap().set_requesting_party_id(firm);
    }
    let mut parties = groups.no_party_i_ds().unwrap();
    for &id in ids {
        parties.push().unwrap().set_party_id(id);
    }
    let length = groups.finish().unwrap();
    frame(&buffer[..length])
}

/// Encodes a request for quotes of (security, contracts, side). Its id is SeqNum + 5,000.
pub(crate) fn request_for_quote(
    number: u32,
    entries: &[(i32, Option<u32>, Option<RFQSide>)],
) -> Vec<u8> {
    let mut buffer = [0; 1_024];
    let (mut root, mut groups) = RequestForQuote543::encode(&mut buffer).unwrap();
    root.set_party_details_list_req_id(1)
        .set_quote_req_id(u64::from(number) + 5_000)
        .set_manual_order_indicator(ManualOrdIndReq::AUTOMATED)
        .set_seq_num(number)
        .set_sender_id("TRADER")
        .set_sending_time_epoch(1)
        .set_location("US,IL");
    let mut group = groups.no_related_sym().unwrap();
    for &(security, quantity, side) in entries {
        group.push().unwrap().set_security_id(security).set_order_qty(quantity).set_side(side);
    }
    let length = groups.finish().unwrap();
    frame(&buffer[..length])
}

/// A side of a cross.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CrossSide {
    pub(crate) cl_ord_id: &'static str,
    pub(crate) parties: u64,
    pub(crate) quantity: u32,
    pub(crate) side: SideReq,
    pub(crate) time: SideTimeInForce,
}

/// Writes the fields of both cross messages.
macro_rules! cross {
    ($root:expr, $groups:expr, $number:expr, $id:expr, $price:expr, $sides:expr) => {{
        $root
            .set_cross_id($id)
            .set_order_request_id(u64::from($number) + 7_000)
            .set_manual_order_indicator(ManualOrdIndReq::AUTOMATED)
            .set_seq_num($number)
            .set_sender_id("TRADER")
            .set_price(Decimal($price))
            .set_sending_time_epoch(1)
            .set_location("US,IL")
            .set_security_id(1_001);
        let mut group = $groups.no_sides().unwrap();
        for of in $sides {
            group
                .push()
                .unwrap()
                .set_cl_ord_id(of.cl_ord_id)
                .set_party_details_list_req_id(of.parties)
                .set_order_qty(of.quantity)
                .set_side(of.side)
                .set_side_time_in_force(of.time);
        }
        $groups.finish().unwrap()
    }};
}

/// Encodes a cross of security 1,001. CrossID is SeqNum + 4,000.
pub(crate) fn cross(number: u32, price: i64, sides: &[CrossSide]) -> Vec<u8> {
    cross_of(number, u64::from(number) + 4_000, price, sides)
}

/// Encodes a cross with this CrossID.
pub(crate) fn cross_of(number: u32, id: u64, price: i64, sides: &[CrossSide]) -> Vec<u8> {
    let mut buffer = [0; 1_024];
    let (mut root, mut groups) = NewOrderCross544::encode(&mut buffer).unwrap();
    let length = cross!(root, groups, number, id, price, sides);
    frame(&buffer[..length])
}

/// Encodes a RequestForCross566 of schema version 9, which has a cross type.
pub(crate) fn request_for_cross(
    (number, id): (u32, u64),
    kind: CrossTypeEnum,
    price: i64,
    sides: &[CrossSide],
) -> Vec<u8> {
    let mut buffer = [0; 1_024];
    let (mut root, mut groups) = RequestForCross566::encode(&mut buffer).unwrap();
    root.set_cross_type(kind);
    let length = cross!(root, groups, number, id, price, sides);
    frame(&buffer[..length])
}

/// A side of a quote.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SideEntry {
    pub(crate) id: u32,
    pub(crate) set: u16,
    pub(crate) security: i32,
    pub(crate) side: Side,
    pub(crate) price: i64,
    pub(crate) quantity: u32,
}

/// Encodes a MassQuoteRequest567, modified by `change`. QuoteID is SeqNum + 9,000.
pub(crate) fn mass_quote_request_with(
    number: u32,
    entries: &[SideEntry],
    change: impl FnOnce(&mut MassQuoteRequest567Encoder<'_>),
) -> Vec<u8> {
    let mut buffer = [0; 4_096];
    let (mut root, mut groups) = MassQuoteRequest567::encode(&mut buffer).unwrap();
    root.set_party_details_list_req_id(1)
        .set_sending_time_epoch(1)
        .set_manual_order_indicator(ManualOrdIndReq::AUTOMATED)
        .set_seq_num(number)
        .set_sender_id("TRADER")
        .set_location("US,IL")
        .set_quote_id(number.wrapping_add(9_000))
        .set_tot_no_quote_entries(u8::try_from(entries.len()).unwrap())
        .set_mm_protection_reset(BooleanFlag::FALSE);
    change(&mut root);
    let mut group = groups.no_quote_entries().unwrap();
    for of in entries {
        group
            .push()
            .unwrap()
            .set_security_id(of.security)
            .set_price(Decimal(of.price))
            .set_order_qty(of.quantity)
            .set_side(of.side)
            .set_quote_entry_id(of.id)
            .set_quote_set_id(of.set);
    }
    let length = groups.finish().unwrap();
    frame(&buffer[..length])
}

/// A message of the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) header: MessageHeader,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn template(&self) -> u16 {
        self.header.template_id
    }
}

/// Decodes a reply as the given message type. The scratch buffer is leaked; tests are short.
#[macro_export]
macro_rules! decode {
    ($message:ident, $reply:expr) => {
        $message::decode(&$reply.header, &$reply.body, Box::leak(Box::new($message::SCRATCH)))
            .expect(stringify!($message))
    };
}

/// Splits bytes into whole messages.
pub(crate) fn replies(mut bytes: &[u8]) -> Vec<Reply> {
    let mut replies = Vec::new();
    while !bytes.is_empty() {
        assert_eq!(bytes[2..4], [0xFE, 0xCA]);
        let size = usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
        let (header, body) = MessageHeader::decode(&bytes[4..size]).unwrap();
        assert_eq!((header.schema_id, header.version), (8, 9));
        replies.push(Reply { header, body: body.to_vec() });
        bytes = &bytes[size..];
    }
    replies
}
