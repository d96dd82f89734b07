//! One builder per business message of clients: each field arrives on the wire.

use crate::test_session::{UTC, now, session};
use hairpin_cme_codecs::ilink3::*;
use hairpin_ilink3::*;
use hairpin_sbe::{Decimal, Float, MessageHeader};
use hairpin_time::Utc;

/// Returns the bytes of `message`, sent as the first one of an established session, after the
/// framing header.
fn sent<M: Outgoing>(message: &M) -> Vec<u8> {
    let mut session = session(State::Established);
    let mut frame = vec![0xEE; FRAMING_HEADER_LENGTH + M::MAX_LENGTH];
    let length = session.send(now(1), message, &mut frame).unwrap();
    frame[FRAMING_HEADER_LENGTH..length].to_vec()
}

/// Decodes `$message`, sent, as a `$name` into `$view`.
macro_rules! decode {
    ($message:expr => $name:ident as $view:ident) => {
        let bytes = sent($message);
        let (header, body) = MessageHeader::decode(&bytes).unwrap();
        let mut scratch = $name::SCRATCH;
        let $view = $name::decode(&header, body, &mut scratch).unwrap();
        assert_eq!($view.encoded_length(), bytes.len());
        assert_eq!($view.seq_num(), 1);
    };
}

/// Asserts the fields that the operator and the session provide.
macro_rules! assert_sender_fields {
    ($message:ident) => {
        assert_eq!($message.sender_id(), "TRADER");
        assert_eq!($message.location(), "US,IL");
        assert_eq!(Some($message.manual_order_indicator()).into_iter().count(), 1);
        assert_eq!(Option::from($message.sending_time_epoch()), Some(UTC + 1_000_000));
    };
}

#[test]
fn mass_quote_517_has_every_field() {
    let quotes = [7, 8].map(|id| Quote {
        security_id: SecurityId(id),
        quote_set_id: 2,
        quote_entry_id: 3,
        bid_price: Some(Decimal(4)),
        bid_size: Some(5),
        offer_price: (id == 7).then_some(Decimal(6)),
        offer_size: None,
        underlying_security_id: Some(SecurityId(9)),
    });
    let quote = MassQuote {
        quote_id: Some(11),
        quote_req_id: Some(12),
        protection_reset: true,
        liquidity_flag: Some(true),
        short_sale_type: Some(ShortSaleType(2)),
        quote_entry_open: Some(false),
        ..MassQuote::new(&quotes)
    };
    decode!(&quote => MassQuote517 as message);
    assert_sender_fields!(message);
    assert_eq!(message.party_details_list_req_id(), 1);
    assert_eq!((message.quote_id(), message.quote_req_id()), (11, Some(12)));
    assert_eq!(message.tot_no_quote_entries(), 2);
    assert_eq!(message.mm_protection_reset(), BooleanFlag::TRUE);
    assert_eq!(message.liquidity_flag(), Some(BooleanNULL::TRUE));
    assert_eq!(message.short_sale_type(), Some(ShortSaleType(2)));
    assert_eq!(message.quote_entry_open(), Some(BooleanNULL::FALSE));
    let (mut entries, mut scratch) = (message.no_quote_entries(), [0; 38]);
    for quote in quotes {
        let entry = entries.next(&mut scratch).unwrap();
        assert_eq!(entry.security_id(), quote.security_id.0);
        assert_eq!((entry.quote_set_id(), entry.quote_entry_id()), (2, 3));
        assert_eq!((entry.bid_px(), entry.bid_size()), (quote.bid_price, Some(5)));
        assert_eq!((entry.offer_px(), entry.offer_size()), (quote.offer_price, None));
        assert_eq!(entry.underlying_security_id(), Some(9));
    }
    decode!(&MassQuote::new(&quotes) => MassQuote517 as message);
    assert_eq!((message.quote_id(), message.quote_req_id()), (1, None));
}

#[test]
fn mass_quote_request_567_has_every_field() {
    let quotes = [SideQuote {
        security_id: SecurityId(7),
        quote_set_id: 2,
        quote_entry_id: 3,
        side: Side::SELL,
        price: Decimal(-4),
        quantity: 5,
    }];
    let quote = MassQuoteRequest {
        quote_id: Some(11),
        quote_req_id: Some(12),
        protection_reset: true,
        liquidity_flag: Some(true),
        short_sale_type: Some(ShortSaleType(2)),
        quote_entry_open: Some(false),
        quote_entry_control: Some(true),
        ..MassQuoteRequest::new(&quotes)
    };
    decode!(&quote => MassQuoteRequest567 as message);
    assert_sender_fields!(message);
    assert_eq!(message.party_details_list_req_id(), 1);
    assert_eq!((message.quote_id(), message.quote_req_id()), (11, Some(12)));
    assert_eq!(message.tot_no_quote_entries(), 1);
    assert_eq!(message.mm_protection_reset(), BooleanFlag::TRUE);
    assert_eq!(message.liquidity_flag(), Some(BooleanNULL::TRUE));
    assert_eq!(message.short_sale_type(), Some(ShortSaleType(2)));
    assert_eq!(message.quote_entry_open(), Some(BooleanNULL::FALSE));
    assert_eq!(message.quote_entry_control(), Some(BooleanNULL::TRUE));
    let (mut entries, mut scratch) = (message.no_quote_entries(), [0; 23]);
    let entry = entries.next(&mut scratch).unwrap();
    assert_eq!((entry.security_id(), entry.side()), (7, Side::SELL));
    assert_eq!((entry.price(), entry.order_qty()), (Decimal(-4), 5));
    assert_eq!((entry.quote_set_id(), entry.quote_entry_id()), (2, 3));
}

#[test]
fn mass_quote_has_1_to_100_quotes() {
    let quote = SideQuote {
        security_id: SecurityId(7),
        quote_set_id: 2,
        quote_entry_id: 3,
        side: Side::SELL,
        price: Decimal(4),
        quantity: 5,
    };
    let quotes = [quote; QUOTES_MAX + 1];
    let error = RequestError::Entries { min: 1, max: QUOTES_MAX };
    assert_eq!(MassQuoteRequest::new(&[]).check(), Err(error));
    assert_eq!(MassQuoteRequest::new(&quotes).check(), Err(error));
    assert_eq!(MassQuoteRequest::new(&quotes[..QUOTES_MAX]).check(), Ok(()));
    assert_eq!(MassQuote::new(&[]).check(), Err(error));
    sent(&MassQuoteRequest::new(&quotes[..QUOTES_MAX]));
}

#[test]
fn quote_cancel_528_has_every_field() {
    decode!(&QuoteCancel::all() => QuoteCancel528 as message);
    assert_sender_fields!(message);
    assert_eq!(message.party_details_list_req_id(), 1);
    assert_eq!((message.quote_id(), message.quote_cancel_type().0), (1, 4));
    let entry =
        QuoteCancelEntry { security_group: Text::new("ES").unwrap(), security_id: Some(42.into()) };
    let set = QuoteCancelSet { quote_set_id: 3, bid_size: Some(4), offer_size: None };
    let (entries, sets) = ([entry], [set]);
    let cancel = QuoteCancel {
        sets: &sets,
        quote_id: Some(9),
        liquidity_flag: Some(true),
        orig_order_user: Text::new("USER").unwrap(),
        quote_entry_open: Some(true),
        ..QuoteCancel::groups(&entries)
    };
    decode!(&cancel => QuoteCancel528 as message);
    assert_eq!((message.quote_id(), message.quote_cancel_type().0), (9, 3));
    assert_eq!(message.liquidity_flag(), Some(BooleanNULL::TRUE));
    assert_eq!(message.orig_order_user(), "USER");
    assert_eq!(message.quote_entry_open(), Some(BooleanNULL::TRUE));
    let (mut entries, mut scratch) = (message.no_quote_entries(), [0; 10]);
    let entry = entries.next(&mut scratch).unwrap();
    assert_eq!(entry.security_group(), "ES");
    assert_eq!(entry.security_id(), Some(42));
    let (mut entries, mut scratch) = (message.no_quote_sets(), [0; 10]);
    let entry = entries.next(&mut scratch).unwrap();
    assert_eq!((entry.quote_set_id(), entry.bid_size(), entry.offer_size()), (3, Some(4), None));
    let entries = [QuoteCancelEntry::default()];
    decode!(&QuoteCancel::instruments(&entries) => QuoteCancel528 as message);
    assert_eq!(message.quote_cancel_type().0, 1);
    decode!(&QuoteCancel::sets(&sets) => QuoteCancel528 as message);
    assert_eq!(message.quote_cancel_type().0, 100);
}

#[test]
fn quote_cancels_568_to_570_have_every_field() {
    let sets = [3, 5];
    let cancel = QuoteCancelBySet {
        linked_sessions: Some(true),
        quote_entry_control: Some(false),
        ..QuoteCancelBySet::new(&sets)
    };
    decode!(&cancel => QuoteCancelBySet568 as message);
    assert_sender_fields!(message);
    assert_eq!((message.party_details_list_req_id(), message.quote_id()), (1, 1));
    assert_eq!(message.cxl_linked_sessions(), Some(BooleanNULL::TRUE));
    assert_eq!(message.quote_entry_control(), Some(BooleanNULL::FALSE));
    let (mut entries, mut scratch) = (message.no_quote_sets(), [0; 2]);
    assert_eq!(entries.next(&mut scratch).unwrap().quote_set_id(), 3);
    assert_eq!(entries.next(&mut scratch).unwrap().quote_set_id(), 5);

    let groups = [Text::new("ES").unwrap(), Text::new("NQ").unwrap()];
    let cancel = QuoteCancelByGroup {
        quote_id: Some(8),
        linked_sessions: Some(true),
        quote_entry_control: Some(false),
        ..QuoteCancelByGroup::new(&groups)
    };
    decode!(&cancel => QuoteCancelByGroup569 as message);
    assert_sender_fields!(message);
    assert_eq!((message.party_details_list_req_id(), message.quote_id()), (1, 8));
    assert_eq!(message.cxl_linked_sessions(), Some(BooleanNULL::TRUE));
    assert_eq!(message.quote_entry_control(), Some(BooleanNULL::FALSE));
    let (mut entries, mut scratch) = (message.no_quote_entries(), [0; 6]);
    assert_eq!(entries.next(&mut scratch).unwrap().security_group(), "ES");
    assert_eq!(entries.next(&mut scratch).unwrap().security_group(), "NQ");

    let instruments = [SecurityId(7), SecurityId(-8)];
    let cancel = QuoteCancelByInstrument {
        linked_sessions: Some(false),
        ..QuoteCancelByInstrument::new(&instruments)
    };
    decode!(&cancel => QuoteCancelByInstrument570 as message);
    assert_sender_fields!(message);
    assert_eq!((message.party_details_list_req_id(), message.quote_id()), (1, 1));
    assert_eq!(message.cxl_linked_sessions(), Some(BooleanNULL::FALSE));
    let (mut entries, mut scratch) = (message.no_quote_entries(), [0; 4]);
    assert_eq!(entries.next(&mut scratch).unwrap().security_id(), 7);
    assert_eq!(entries.next(&mut scratch).unwrap().security_id(), -8);
}

#[test]
fn order_status_533_has_every_field() {
    decode!(&OrderStatusRequest::new(77) => OrderStatusRequest533 as message);
    assert_sender_fields!(message);
    assert_eq!((message.order_id(), message.ord_status_req_id()), (77, 1));
    assert_eq!(message.party_details_list_req_id(), 1);
    let request = OrderStatusRequest { request_id: Some(9), ..OrderStatusRequest::new(77) };
    decode!(&request => OrderStatusRequest533 as message);
    assert_eq!(message.ord_status_req_id(), 9);
    assert_eq!(OrderStatusRequest::new(u64::MAX).check(), Err(RequestError::OrderId));
}

#[test]
fn party_details_list_537_has_every_field() {
    let requesting =
        [RequestingParty { id: Text::new("FIRM1").unwrap(), source: b'C', role: b'1' }];
    let parties = [RequestedParty { id: 5, source: b'C', role: 24 }];
    let request = PartyDetailsListRequest {
        request_id: None,
        requesting_parties: &requesting,
        parties: &parties,
    };
    decode!(&request => PartyDetailsListRequest537 as message);
    assert_eq!(message.party_details_list_req_id(), 1);
    assert_eq!(message.sending_time_epoch(), UTC + 1_000_000);
    let (mut entries, mut scratch) = (message.no_requesting_party_i_ds(), [0; 7]);
    let entry = entries.next(&mut scratch).unwrap();
    assert_eq!(entry.requesting_party_id(), "FIRM1");
    assert_eq!((entry.requesting_party_id_source(), entry.requesting_party_role()), (b'C', b'1'));
    let (mut entries, mut scratch) = (message.no_party_i_ds(), [0; 11]);
    let entry = entries.next(&mut scratch).unwrap();
    assert_eq!((entry.party_id(), entry.party_id_source(), entry.party_role()), (5, b'C', 24));
}

#[test]
fn execution_ack_539_has_every_field() {
    let accept = ExecutionAck {
        order_id: OrderId(77),
        cl_ord_id: ClOrdId::from(5),
        sec_exec_id: 6,
        security_id: SecurityId(7),
        side: SideReq::SELL,
        last_price: Decimal(8),
        last_quantity: 9,
        reject_reason: None,
    };
    decode!(&accept => ExecutionAck539 as message);
    assert_sender_fields!(message);
    assert_eq!((message.order_id(), message.sec_exec_id()), (77, 6));
    assert_eq!(message.cl_ord_id(), "5");
    assert_eq!((message.security_id(), message.side()), (7, SideReq::SELL));
    assert_eq!((message.last_px(), message.last_qty()), (Decimal(8), 9));
    assert_eq!((message.exec_ack_status(), message.dk_reason()), (ExecAckStatus::ACCEPTED, None));
    assert_eq!(message.party_details_list_req_id(), 1);
    let reject = ExecutionAck { reject_reason: Some(DKReason::WRONG_SIDE), ..accept };
    decode!(&reject => ExecutionAck539 as message);
    assert_eq!(message.exec_ack_status(), ExecAckStatus::REJECTED);
    assert_eq!(message.dk_reason(), Some(DKReason::WRONG_SIDE));
}

#[test]
fn request_for_quote_543_has_every_field() {
    let instruments =
        [RelatedSym { security_id: SecurityId(7), quantity: Some(3), side: Some(RFQSide::CROSS) }];
    let request = RequestForQuote { request_id: Some(9), ..RequestForQuote::new(&instruments) };
    decode!(&request => RequestForQuote543 as message);
    assert_sender_fields!(message);
    assert_eq!((message.quote_req_id(), message.quote_type()), (9, Some(QuoteTyp::TRADEABLE)));
    assert_eq!(message.party_details_list_req_id(), 1);
    let (mut entries, mut scratch) = (message.no_related_sym(), [0; 9]);
    let entry = entries.next(&mut scratch).unwrap();
    assert_eq!((entry.security_id(), entry.order_qty()), (7, Some(3)));
    assert_eq!(entry.side(), Some(RFQSide::CROSS));
    assert!(RequestForQuote::new(&[]).check().is_err());
}

/// Returns the sides of a cross; the second one has its own party details.
fn sides() -> [CrossSide; 2] {
    let sell = CrossSide {
        party_details_list_req_id: Some(9),
        time_in_force: SideTimeInForce::FAK,
        ..CrossSide::new(SideReq::SELL, 4, ClOrdId::from(6))
    };
    [CrossSide::new(SideReq::BUY, 3, ClOrdId::from(5)), sell]
}

/// Asserts the entries of a cross.
macro_rules! assert_sides {
    ($message:ident) => {
        let (mut entries, mut scratch) = ($message.no_sides(), [0; 34]);
        let buy = entries.next(&mut scratch).unwrap();
        assert_eq!((buy.side(), buy.order_qty()), (SideReq::BUY, 3));
        assert_eq!((buy.party_details_list_req_id(), buy.side_time_in_force().0), (1, 0));
        assert_eq!(buy.cl_ord_id(), "5");
        let sell = entries.next(&mut scratch).unwrap();
        assert_eq!((sell.side(), sell.order_qty()), (SideReq::SELL, 4));
        assert_eq!((sell.party_details_list_req_id(), sell.side_time_in_force().0), (9, 3));
        assert_eq!(sell.cl_ord_id(), "6");
    };
}

#[test]
fn new_order_cross_544_has_every_field() {
    let cross = NewOrderCross {
        security_id: SecurityId(7),
        price: Decimal(8),
        sides: sides(),
        booked_at: Utc::from_nanos(11),
        cross_id: Some(12),
        order_request_id: Some(13),
    };
    decode!(&cross => NewOrderCross544 as message);
    assert_sender_fields!(message);
    assert_eq!((message.security_id(), message.price()), (7, Decimal(8)));
    assert_eq!((message.cross_id(), message.order_request_id()), (12, 13));
    assert_eq!(message.trans_bkd_time(), 11);
    assert_sides!(message);
    let mut empty = cross;
    empty.sides[1].quantity = 0;
    assert_eq!(empty.check(), Err(RequestError::Quantity));
}

#[test]
fn request_for_cross_566_has_every_field() {
    let cross = RequestForCross {
        cross_type: CrossTypeEnum::R_CROSS,
        security_id: SecurityId(7),
        price: Decimal(8),
        sides: sides(),
        cross_id: None,
        order_request_id: None,
    };
    decode!(&cross => RequestForCross566 as message);
    assert_sender_fields!(message);
    assert_eq!((message.security_id(), message.price()), (7, Decimal(8)));
    assert_eq!((message.cross_id(), message.order_request_id()), (1, 1));
    assert_eq!(message.cross_type(), CrossTypeEnum::R_CROSS);
    assert_sides!(message);
}

#[test]
fn security_definition_560_has_every_field() {
    let delta = Float { mantissa: 25, exponent: -2 };
    let legs = [Leg {
        security_id: SecurityId(7),
        side: SideReq::SELL,
        ratio: Some(2),
        price: Some(Decimal(3)),
        option_delta: Some(delta),
    }];
    let broken_dates = [BrokenDate { start: Some(20_000), end: None }];
    let request = SecurityDefinitionRequest {
        broken_dates: &broken_dates,
        request_id: Some(9),
        start_date: Some(20_001),
        end_date: Some(20_002),
        substitutions_max: Some(4),
        source_repo_id: Some(SecurityId(5)),
        broken_date_term_type: Some(6),
        ..SecurityDefinitionRequest::new(Text::new("COMBO").unwrap(), &legs)
    };
    decode!(&request => SecurityDefinitionRequest560 as message);
    assert_sender_fields!(message);
    assert_eq!(message.security_sub_type(), "COMBO");
    assert_eq!((message.security_req_id(), message.party_details_list_req_id()), (9, 1));
    assert_eq!((message.start_date(), message.end_date()), (Some(20_001), Some(20_002)));
    assert_eq!(message.max_no_of_substitutions(), Some(4));
    assert_eq!((message.source_repo_id(), message.broken_date_term_type()), (Some(5), Some(6)));
    let (mut entries, mut scratch) = (message.no_legs(), [0; 19]);
    let leg = entries.next(&mut scratch).unwrap();
    assert_eq!((leg.leg_security_id(), leg.leg_side()), (7, SideReq::SELL));
    assert_eq!((leg.leg_ratio_qty(), leg.leg_price()), (Some(2), Some(Decimal(3))));
    assert_eq!(leg.leg_option_delta(), Some(delta));
    let (mut entries, mut scratch) = (message.no_broken_dates(), [0; 4]);
    let date = entries.next(&mut scratch).unwrap();
    assert_eq!((date.broken_date_start(), date.broken_date_end()), (Some(20_000), None));
}
