//! Tests of what is accepted, what is refused, and the position of errors.

use hairpin_order_entry::messages::{PartyDetailRole, SMPI};
use hairpin_order_entry::{
    ClOrdId, Decimal, InFlightMitigation, OrderTimeInForce, Party, Pricing, SideReq,
};
use hairpin_time::Duration;
use proptest::prelude::*;

use super::values::price;
use super::*;

fn symbol(word: &str) -> Option<i32> {
    match word {
        "ESZ6" => Some(12_345),
        "Öl" => Some(7),
        "2026" => Some(8),
        "ESZ6 C6000" => Some(9),
        "day" => Some(10),
        "a#b@c" => Some(11),
        _ => None,
    }
}

fn read(text: &str) -> Command {
    parse(text, 1, &symbol).unwrap().unwrap()
}

fn limit(price: i64) -> Pricing {
    Pricing::Limit { price: Decimal(price) }
}

const BUY: Enter = Enter {
    side: SideReq::BUY,
    quantity: 10,
    pricing: Pricing::Market,
    security_id: 12_345,
    qualifier: OrderTimeInForce::Day,
    min_quantity: None,
    display_quantity: None,
    cl_ord_id: None,
};

#[test]
fn orders_of_every_type_and_qualifier_are_read() {
    let (price, stop_price) = (Decimal(4_500_250_000_000), Decimal(4_499_000_000_000));
    let pricing = Pricing::Limit { price };
    for text in ["buy 10 @ 4500.25 ESZ6", "buy 10 @4500.25 ESZ6 day # why", "buy 10@4500.25 12345"]
    {
        assert_eq!(read(text), Command::Enter(Enter { pricing, ..BUY }), "{text}");
    }
    for (tokens, pricing) in [
        ("market", Pricing::Market),
        ("market-limit", Pricing::MarketLimit),
        ("stop 4499", Pricing::Stop { stop_price }),
        ("stop 4499 @ 4500.25", Pricing::StopLimit { stop_price, price }),
    ] {
        let text = format!("buy 10 {tokens} ESZ6");
        assert_eq!(read(&text), Command::Enter(Enter { pricing, ..BUY }), "{text}");
    }
    for (tokens, qualifier) in [
        ("gtc", OrderTimeInForce::GoodTillCancel),
        ("fak", OrderTimeInForce::FillAndKill),
        ("fok", OrderTimeInForce::FillOrKill),
        ("gtd 1970-01-31", OrderTimeInForce::GoodTillDate { expire_date: 30 }),
    ] {
        let text = format!("buy 10 market ESZ6 {tokens}");
        assert_eq!(read(&text), Command::Enter(Enter { qualifier, ..BUY }), "{text}");
    }
    let all = Enter {
        side: SideReq::SELL,
        min_quantity: Some(2),
        display_quantity: Some(3),
        cl_ord_id: ClOrdId::new("mine"),
        ..BUY
    };
    assert_eq!(read("sell 10 market ESZ6 day min 2 show 3 id mine"), Command::Enter(all));
}

#[test]
fn parses_other_commands() {
    let target = Target::Last;
    let (quantity, qualifier) = (Some(5), Some(OrderTimeInForce::GoodTillCancel));
    let pricing = Some(limit(4_500_500_000_000));
    let (mitigation, naming) = (InFlightMitigation::Disabled, OrderNaming::OrderId);
    let replace = Command::Replace {
        target,
        quantity,
        pricing,
        qualifier: None,
        display_quantity: None,
        mitigation,
        naming,
    };
    assert_eq!(read("replace last qty 5 @ 4500.50"), replace);
    let target = Target::Id(ClOrdId::new("77").unwrap());
    let replace = Command::Replace {
        target,
        quantity: None,
        pricing: None,
        qualifier,
        display_quantity: Some(4),
        mitigation,
        naming,
    };
    assert_eq!(read("replace 77 gtc show 4"), replace);
    assert_eq!(read("cancel last"), Command::Cancel { target: Target::Last, naming });
    assert_eq!(read("cancel 77"), Command::Cancel { target, naming });
    assert_eq!(read("cancel all"), Command::CancelAll(None));
    assert_eq!(read("cancel all ESZ6"), Command::CancelAll(Some(12_345)));
    assert_eq!(read("status"), Command::Status(None));
    assert_eq!(read("status last"), Command::Status(Some(Target::Last)));
    assert_eq!(read("sleep 100ms"), Command::Sleep(Duration::from_millis(100)));
    assert_eq!(read("sleep 2m"), Command::Sleep(Duration::from_secs(120)));
    assert_eq!(read("sleep 3us"), Command::Sleep(Duration::from_micros(3)));
    let within = Duration::from_secs(2);
    assert_eq!(
        read("expect fill within 2s"),
        Command::Expect { what: ExpectedEvent::Fill, within }
    );
    let what = ExpectedEvent::Reject;
    assert_eq!(read("expect reject"), Command::Expect { what, within: Duration::from_secs(5) });
    assert_eq!(read("\tquit "), Command::Quit);
}

#[test]
fn parses_orders_named_by_cl_ord_id_and_mitigation() {
    let (target, naming) = (Target::Last, OrderNaming::ClOrdId);
    assert_eq!(read("cancel last no-order-id"), Command::Cancel { target, naming });
    let Command::Replace { naming, mitigation, .. } = read("replace last qty 5 ifm no-order-id")
    else {
        panic!()
    };
    assert_eq!((naming, mitigation), (OrderNaming::ClOrdId, InFlightMitigation::Enabled));
}

#[test]
fn parses_quotes_crosses_and_party_details() {
    let Command::Quote { set, quotes } = read("quote set 7 ESZ6 5 @ 99 6 @ 101 8 1 @ 1 2@2") else {
        panic!()
    };
    let sides = |index: usize| (quotes[index].security_id, quotes[index].bid, quotes[index].offer);
    let price = |whole: i64| Decimal(whole * 1_000_000_000);
    assert_eq!(set, 7);
    assert_eq!(sides(0), (12_345, (5, price(99)), (6, price(101))));
    assert_eq!(sides(1), (8, (1, price(1)), (2, price(2))));
    assert_eq!(read("cancel quotes"), Command::CancelQuotes(QuoteScope::All));
    assert_eq!(read("cancel quotes set 7"), Command::CancelQuotes(QuoteScope::Set(7)));
    assert_eq!(read("cancel quotes ESZ6"), Command::CancelQuotes(QuoteScope::Instrument(12_345)));
    let (security_id, quantity) = (12_345, Some(20));
    assert_eq!(read("rfq ESZ6 20"), Command::RequestQuote { security_id, quantity });
    let cross = Command::Cross { quantity: 4, price: price(100), security_id };
    assert_eq!(read("cross 4 @ 100 ESZ6"), cross);
    assert_eq!(read("status all ESZ6"), Command::MassStatus(12_345));
    let account = Party::new(PartyDetailRole::CUSTOMER_ACCOUNT, "A1").unwrap();
    let terms = PartyTerms { list_id: 0, account, self_match_id: None, instruction: None };
    assert_eq!(read("party 0 account A1"), Command::Party(terms));
    let (self_match_id, instruction) = (Some(99), Some(SMPI::CANCEL_NEWEST));
    let terms = PartyTerms { list_id: 7, self_match_id, instruction, ..terms };
    assert_eq!(read("party 7 account A1 smp 99 newest"), Command::Party(terms));
}

#[test]
fn displays_event_as_written() {
    let within = Duration::from_secs(5);
    for (name, what) in ExpectedEvent::NAMES {
        assert_eq!(read(&format!("expect {name}")), Command::Expect { what, within });
        assert_eq!(what.to_string(), name);
    }
}

#[test]
fn accepts_symbol_of_digits() {
    assert_eq!(read("buy 10 market 2026"), Command::Enter(Enter { security_id: 8, ..BUY }));
    assert_eq!(read("cancel all 2026"), Command::CancelAll(Some(8)));
    assert_eq!(read("cancel all 2027"), Command::CancelAll(Some(2_027)));
}

#[test]
fn quoted_symbols_may_have_blanks() {
    for (text, security_id) in [
        ("buy 10 market \"ESZ6 C6000\"", 9),
        ("buy 10 market \"ESZ6 C6000\" day", 9),
        ("buy 10 market \"ESZ6 C6000\"# why", 9),
        ("buy 10 market \"day\" day", 10),
        ("buy 10 market \"a#b@c\"", 11),
        ("buy 10 market \"ESZ6\"", 12_345),
    ] {
        assert_eq!(read(text), Command::Enter(Enter { security_id, ..BUY }), "{text}");
    }
    let Command::Quote { quotes, .. } = read("quote \"ESZ6 C6000\" 1 @ 1 2@2 ESZ6 1@1 2@2") else {
        panic!()
    };
    assert_eq!(quotes.iter().map(|it| it.security_id).collect::<Vec<_>>(), [9, 12_345]);
    assert_eq!(read("cancel all \"ESZ6 C6000\""), Command::CancelAll(Some(9)));
}

#[test]
fn blank_lines_and_comments_are_no_commands() {
    for text in ["", "  \t", "# buy 1", "  # é"] {
        assert_eq!(parse(text, 1, &symbol), Ok(None), "{text}");
    }
}

#[test]
fn prices_are_exact() {
    for (text, mantissa) in
        [("0", 0), ("-0.5", -500_000_000), ("1.000000001", 1_000_000_001), ("12", 12_000_000_000)]
    {
        assert_eq!(price(text), Some(Decimal(mantissa)), "{text}");
    }
    for text in ["", "-", ".5", "5.", "1.0000000001", "1e3", "+1", "9223372037", "--1", "1.2.3"] {
        assert_eq!(price(text), None, "{text}");
    }
}

#[test]
fn error_has_position_expected_and_found() {
    for (text, column, expected, found) in [
        ("hold", 1, "buy, sell", "`hold`"),
        ("buy", 4, "contracts", "the end"),
        ("buy 0 @ 1 ESZ6", 5, "contracts", "`0`"),
        ("buy 10 4500 ESZ6", 8, "@ PRICE", "`4500`"),
        ("buy 10 @ x ESZ6", 10, "a price", "`x`"),
        ("buy 10 @", 9, "a price", "the end"),
        ("buy 10 @ 1 NQZ6", 12, "a SecurityID", "`NQZ6`"),
        ("buy 10 @ 1 -5", 12, "a SecurityID", "`-5`"),
        ("buy 10 @ 1 ESZ6 dya", 17, "the end of the line", "`dya`"),
        ("buy 10 @ 1 ESZ6 gtd", 20, "a date", "the end"),
        ("buy 10 @ 1 ESZ6 gtd 1969-12-31", 21, "a date", "`1969-12-31`"),
        ("buy 10 @ 1 ESZ6 gtd 2149-06-06", 21, "a date", "`2149-06-06`"),
        ("buy 10 @ 1 ESZ6 min few", 21, "contracts", "`few`"),
        ("buy 10 @ 1 ESZ6 id last", 20, "ClOrdID", "`last`"),
        ("buy 10 @ 1 ESZ6 id 123456789012345678901", 20, "ClOrdID", "`1234"),
        ("replace last", 13, "qty N", "the end"),
        ("replace last 5", 14, "qty N", "`5`"),
        ("cancel", 7, "ClOrdID", "the end"),
        ("cancel # é", 11, "ClOrdID", "the end"),
        ("cancel all NQZ6", 12, "an instrument", "`NQZ6`"),
        ("buy 10 market 0", 15, "a SecurityID", "`0`"),
        ("cancel all 0", 12, "an instrument", "`0`"),
        ("buy 10 @ 1 ESZ6 id all", 20, "ClOrdID", "`all`"),
        ("buy 10 market Öl now", 18, "the end of the line", "`now`"),
        ("buy 10 market Öl @", 18, "the end of the line", "`@`"),
        ("sleep 99999999999s", 7, "a time", "`99999999999s`"),
        ("hold\u{7}", 1, "buy, sell", "`hold\\u{7}`"),
        ("status last now", 13, "the end of the line", "`now`"),
        ("sleep 100", 7, "a time", "`100`"),
        ("sleep 99999999999999999999s", 7, "a time", "`999"),
        ("expect profit", 8, "new, fill", "`profit`"),
        ("expect fill within", 19, "a time", "the end"),
        ("é expect", 1, "buy, sell", "`é`"),
        ("party", 6, "the id of party", "the end"),
        ("party 7 A1", 9, "account ACCOUNT", "`A1`"),
        ("quote ESZ6 5 @ 99", 18, "contracts", "the end"),
        ("quote ESZ6 5 99", 14, "@ PRICE", "`99`"),
        ("quote set x", 11, "a QuoteSetID", "`x`"),
        ("cancel quotes set", 18, "a QuoteSetID", "the end"),
        ("cross 4 @ 100", 14, "a SecurityID", "the end"),
        ("status all", 11, "a SecurityID", "the end"),
        ("quit é now", 6, "the end of the line", "`é`"),
        ("buy 10 market \"ESZ6 C6000", 15, "a closing quote", "the end"),
        ("buy 10 market \"ÖÖ\"x", 19, "a blank after", "`x`"),
        ("buy 10 market \"NQZ6 C1\" day", 15, "a SecurityID", "\"NQZ6 C1\""),
        ("buy 10 market \"\"", 15, "a SecurityID", "\"\""),
        ("\"quit\"", 1, "buy, sell", "\"quit\""),
        ("buy 10 \"market\" ESZ6", 8, "@ PRICE", "\"market\""),
    ] {
        let error = parse(text, 7, &symbol).unwrap_err();
        assert_eq!((error.line, error.column), (7, column), "{text}: {error}");
        assert!(error.expected.contains(expected), "{text}: {error}");
        assert!(error.found.starts_with(found), "{text}: {error}");
    }
    let error = parse("buy 10 @ x", 3, &symbol).unwrap_err().to_string();
    assert_eq!(error, "line 3, column 10: expected a price such as 4500.25, found `x`");
}

proptest! {
    #[test]
    fn parses_any_line_without_panic(text in ".*") {
        let _ = parse(&text, 1, &symbol);
    }

    #[test]
    fn parses_lines_of_known_words_without_panic(
        tokens in prop::collection::vec(prop::sample::select(vec![
            "buy", "sell", "replace", "cancel", "status", "sleep", "expect", "quit", "last",
            "all", "@", "market", "stop", "ESZ6", "1", "4500.25", "gtd", "2026-12-31", "day",
            "qty", "id", "min", "show", "within", "2s", "new", "é", "#", "party", "account",
            "quote", "quotes", "set", "rfq", "cross", "ifm", "no-order-id", "smp", "oldest", "0",
            "\"", "\"ESZ6 C6000\"", "show",
        ]), 0..9)
    ) {
        let text = tokens.join(" ");
        if let Err(error) = parse(&text, 1, &symbol) {
            prop_assert!((1..=text.chars().count() + 1).contains(&error.column));
        }
    }

    #[test]
    fn parses_exact_price(mantissa in -9_000_000_000_000_000_000_i64..) {
        let price_of = Decimal::<-9>(mantissa);
        prop_assume!(mantissa < 9_000_000_000_000_000_000);
        prop_assert_eq!(price(&price_of.to_string()), Some(price_of));
    }
}
