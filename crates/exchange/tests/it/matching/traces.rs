//! The matching rules, one trace each.

use hairpin_exchange::{
    NewOrder, OrderKind, Replacement, SelfMatchInstruction, SelfMatchPrevention,
    Side::{Bid, Offer},
    TimeInForce,
};

use super::trace::{Trace, fill_and_kill, fill_or_kill, limit, market, market_limit, to};

#[test]
fn matches_by_price_then_time() {
    let mut trace = Trace::new();
    trace.submit("late", limit(Offer, 21, 3));
    trace.submit("first", limit(Offer, 20, 2));
    trace.submit("second", limit(Offer, 20, 4));
    assert_eq!(trace.submit("in", limit(Bid, 21, 7)), "2@20:first 4@20:second 1@21:late");
    assert_eq!(trace.book(Offer), "21: 2 in 1");
}

#[test]
fn partial_fill_keeps_priority_and_exact_counts() {
    let mut trace = Trace::new();
    trace.submit("a", limit(Bid, 10, 5));
    trace.submit("b", limit(Bid, 10, 7));
    assert_eq!(trace.submit("x", limit(Offer, 10, 2)), "2@10:a");
    let a = trace.order("a");
    assert_eq!((a.quantity, a.remaining, a.traded), (5, 3, 2));
    assert_eq!(trace.submit("y", limit(Offer, 10, 4)), "3@10:a 1@10:b");
    let b = trace.order("b");
    assert_eq!((b.quantity, b.remaining, b.traded), (7, 6, 1));
    assert_eq!(trace.book(Bid), "10: 6 in 1");
}

/// CME's example in ticks: the protected range is the best offer and 5 points beyond; the remainder
/// rests at its end.
#[test]
fn market_order_rests_at_its_protection_limit() {
    let mut trace = Trace::new();
    for (name, ticks, quantity) in [("a", 20, 2), ("b", 23, 3), ("c", 25, 3), ("d", 26, 9)] {
        trace.submit(name, limit(Offer, ticks, quantity));
    }
    assert_eq!(trace.submit("in", market(Bid, 15)), "2@20:a 3@23:b 3@25:c rests 7@25");
    assert_eq!((trace.book(Bid), trace.book(Offer)), ("25: 7 in 1".into(), "26: 9 in 1".into()));
    assert_eq!(trace.order("in").kind, OrderKind::Market);

    let mut trace = Trace::new();
    for (name, ticks, quantity) in [("a", 20, 2), ("b", 15, 3), ("c", 14, 9)] {
        trace.submit(name, limit(Bid, ticks, quantity));
    }
    assert_eq!(trace.submit("in", market(Offer, 6)), "2@20:a 3@15:b rests 1@15");
}

#[test]
fn market_limit_order_rests_at_the_best_price() {
    let mut trace = Trace::new();
    trace.submit("a", limit(Offer, 20, 2));
    trace.submit("b", limit(Offer, 21, 3));
    assert_eq!(trace.submit("in", market_limit(Bid, 15)), "2@20:a rests 13@20");
    assert_eq!((trace.book(Bid), trace.book(Offer)), ("20: 13 in 1".into(), "21: 3 in 1".into()));
}

#[test]
fn market_orders_need_an_opposite_price() {
    let mut trace = Trace::new();
    trace.submit("same side", limit(Bid, 10, 1));
    assert_eq!(trace.submit("m", market(Bid, 1)), "NoOppositePrice");
    assert_eq!(trace.submit("k", market_limit(Bid, 1)), "NoOppositePrice");
    assert_eq!(trace.matching.resting(), 1);
}

#[test]
fn fill_and_kill_never_rests() {
    let mut trace = Trace::new();
    trace.submit("a", limit(Offer, 20, 2));
    trace.submit("b", limit(Offer, 22, 3));
    assert_eq!(trace.submit("some", fill_and_kill(Bid, 20, 5)), "2@20:a eliminated 3");
    assert_eq!(trace.submit("none", fill_and_kill(Bid, 21, 5)), "eliminated 5");
    assert_eq!(trace.submit("all", fill_and_kill(Bid, 22, 3)), "3@22:b");
    assert_eq!((trace.book(Bid), trace.book(Offer)), (String::new(), String::new()));
    let order = NewOrder { time_in_force: TimeInForce::FillAndKill, ..market(Bid, 9) };
    trace.submit("c", limit(Offer, 20, 2));
    assert_eq!(trace.submit("market", order), "2@20:c eliminated 7");
}

#[test]
fn fill_or_kill_trades_all_or_nothing() {
    let mut trace = Trace::new();
    trace.submit("a", limit(Offer, 20, 2));
    trace.submit("b", limit(Offer, 21, 3));
    trace.submit("far", limit(Offer, 22, 9));
    assert_eq!(trace.submit("too many", fill_or_kill(Bid, 21, 6)), "eliminated 6");
    assert_eq!(trace.book(Offer), "20: 2 in 1, 21: 3 in 1, 22: 9 in 1");
    assert_eq!(trace.submit("just so", fill_or_kill(Bid, 21, 5)), "2@20:a 3@21:b");
}

#[test]
fn minimum_quantity_applies_at_entry_only() {
    let mut trace = Trace::new();
    trace.submit("a", limit(Offer, 20, 3));
    let day = |minimum| NewOrder { minimum, ..limit(Bid, 20, 9) };
    assert_eq!(trace.submit("too much", day(4)), "eliminated 9");
    assert_eq!(trace.submit("enough", day(3)), "3@20:a rests 6@20");
    assert_eq!(trace.submit("b", limit(Offer, 20, 1)), "1@20:enough");
    assert_eq!(trace.submit("no", NewOrder { minimum: 2, ..limit(Bid, 1, 1) }), "Minimum");
}

#[test]
fn reduced_quantity_keeps_priority() {
    let mut trace = Trace::new();
    for name in ["a", "b", "c"] {
        trace.submit(name, limit(Bid, 10, 5));
    }
    assert_eq!(trace.replace("a", to(10, 2)), "open 2: rests 2@10");
    assert_eq!(trace.replace("b", to(10, 5)), "open 5: rests 5@10");
    assert_eq!((trace.queue(Bid), trace.book(Bid)), ("a b c".into(), "10: 12 in 3".into()));
    assert_eq!(trace.submit("in", limit(Offer, 10, 3)), "2@10:a 1@10:b");
}

#[test]
fn quantity_price_or_kind_change_loses_priority() {
    for (replacement, queue, outcome) in [
        (to(10, 6), "b a", "open 6: rests 6@10"),
        (to(9, 5), "b", "open 5: rests 5@9"),
        (to(11, 1), "a", "open 1: rests 1@11"),
        (Replacement { kind: OrderKind::MarketLimit, ..to(0, 5) }, "a", "open 5: rests 5@12"),
    ] {
        let mut trace = Trace::new();
        trace.submit("a", limit(Bid, 10, 5));
        trace.submit("b", limit(Bid, 10, 5));
        if replacement.kind == OrderKind::MarketLimit {
            // An order to provide a price; it has traded before the replacement rests.
            trace.submit("c", limit(Offer, 12, 1));
            assert_eq!(trace.replace("a", replacement), "open 5: 1@12:c rests 4@12");
        } else {
            assert_eq!(trace.replace("a", replacement), outcome);
        }
        assert_eq!(trace.queue(Bid), queue);
    }
}

#[test]
fn replaced_market_order_loses_priority() {
    let mut trace = Trace::new();
    trace.submit("x", limit(Offer, 10, 1));
    trace.submit("m", market_limit(Bid, 4));
    trace.submit("b", limit(Bid, 10, 4));
    assert_eq!(trace.queue(Bid), "m b");
    assert_eq!(trace.replace("m", to(10, 3)), "open 3: rests 3@10");
    assert_eq!(trace.queue(Bid), "b m");
}

#[test]
fn time_in_force_change_keeps_priority() {
    let mut trace = Trace::new();
    trace.submit("a", limit(Bid, 10, 5));
    trace.submit("b", limit(Bid, 10, 5));
    let good_till_cancel = Replacement { time_in_force: TimeInForce::GoodTillCancel, ..to(10, 5) };
    assert_eq!(trace.replace("a", good_till_cancel), "open 5: rests 5@10");
    assert_eq!(trace.queue(Bid), "a b");
    assert_eq!(trace.end_session(), "b");
    assert_eq!(trace.queue(Bid), "a");
}

#[test]
fn replaced_order_may_trade_at_once() {
    let mut trace = Trace::new();
    trace.submit("a", limit(Bid, 10, 5));
    trace.submit("x", limit(Offer, 12, 2));
    trace.submit("y", limit(Offer, 13, 2));
    assert_eq!(trace.replace("a", to(12, 5)), "open 5: 2@12:x rests 3@12");
    let a = trace.order("a");
    assert_eq!((a.quantity, a.remaining, a.traded), (5, 3, 2));
    let kill = Replacement { time_in_force: TimeInForce::FillAndKill, ..to(13, 4) };
    assert_eq!(trace.replace("a", kill), "open 4: 2@13:y eliminated 2");
    assert_eq!(trace.matching.resting(), 0);
    let mut trace = Trace::new();
    trace.submit("a", limit(Bid, 10, 5));
    trace.submit("x", limit(Offer, 12, 2));
    let minimum = Replacement { minimum: 3, ..to(12, 5) };
    assert_eq!(trace.replace("a", minimum), "open 5: eliminated 5");
}

/// CME's example of a replacement without mitigation: 15, of which 2 trade, replaced by 10.
#[test]
fn quantity_without_mitigation_is_the_open_quantity() {
    let mut trace = Trace::new();
    trace.submit("a", limit(Bid, 10, 15));
    trace.submit("x", limit(Offer, 10, 2));
    assert_eq!(trace.replace("a", to(10, 10)), "open 10: rests 10@10");
    trace.submit("y", limit(Offer, 10, 10));
    let fills = trace.events.fills();
    let a = fills.iter().find(|fill| fill.order == trace.id("a")).unwrap();
    assert_eq!((a.quantity, a.remaining, a.traded), (10, 0, 12));
}

/// CME's examples with mitigation: traded contracts count, and too small a quantity cancels.
#[test]
fn mitigation_subtracts_traded_contracts() {
    let mitigated = |ticks, quantity| Replacement { mitigates: true, ..to(ticks, quantity) };
    let mut trace = Trace::new();
    trace.submit("a", limit(Bid, 10, 5));
    trace.submit("x", limit(Offer, 10, 4));
    assert_eq!(trace.replace("a", mitigated(10, 10)), "open 6: rests 6@10");
    for quantity in [5, 6] {
        let mut trace = Trace::new();
        trace.submit("a", limit(Bid, 10, 10));
        trace.submit("x", limit(Offer, 10, 6));
        assert_eq!(trace.replace("a", mitigated(10, quantity)), "canceled 4");
        assert_eq!(trace.matching.resting(), 0);
    }
}

#[test]
fn first_replacement_decides_mitigation() {
    let mut trace = Trace::new();
    trace.submit("a", limit(Bid, 10, 5));
    assert_eq!(trace.replace("a", to(10, 4)), "open 4: rests 4@10");
    let mitigated = Replacement { mitigates: true, ..to(10, 3) };
    assert_eq!(trace.replace("a", mitigated), "Mitigation");
    assert_eq!(trace.replace("a", to(11, 3)), "open 3: rests 3@11");
    assert_eq!(trace.replace("a", mitigated), "Mitigation");
}

#[test]
fn invalid_replacement_has_no_effect() {
    let mut trace = Trace::new();
    trace.submit("a", limit(Bid, 10, 5));
    trace.submit("b", limit(Bid, 10, 5));
    let before = trace.order("a");
    for (bad, why) in [
        (to(10, 0), "Quantity"),
        (to(10, NewOrder::MAX_QUANTITY + 1), "Quantity"),
        (Replacement { price: hairpin_sbe::Decimal(1), ..to(0, 5) }, "Price"),
        (Replacement { minimum: 6, ..to(10, 5) }, "Minimum"),
        (Replacement { kind: OrderKind::Market, ..to(10, 5) }, "NoOppositePrice"),
    ] {
        assert_eq!(trace.replace("a", bad), why);
    }
    assert_eq!((trace.order("a"), trace.queue(Bid)), (before, "a b".into()));
    trace.submit("x", limit(Offer, 10, 5));
    assert_eq!(trace.replace("a", to(10, 1)), "UnknownOrder");
}

#[test]
fn full_engine_still_replaces() {
    let mut trace = Trace::new();
    for name in ["a"; 64] {
        trace.submit(name, limit(Bid, 10, 1));
    }
    assert_eq!(trace.submit("more", limit(Bid, 10, 1)), "Full");
    assert_eq!(trace.replace("a", to(11, 1)), "open 1: rests 1@11");
    for ticks in 12..=25 {
        assert_eq!(trace.replace("a", to(ticks, 1)), format!("open 1: rests 1@{ticks}"));
    }
}

/// All sixteen levels are in use. A lone order frees its level for itself. An order that keeps its
/// priority or leaves the book needs none.
#[test]
fn replacement_without_a_free_level_needs_its_own() {
    let mut trace = Trace::new();
    for (name, ticks) in [("alone", 1), ("first", 2), ("second", 2)] {
        trace.submit(name, limit(Bid, ticks, 5));
    }
    for ticks in 3..=16 {
        trace.submit("other", limit(Bid, ticks, 1));
    }
    let before = trace.book(Bid);
    assert_eq!(trace.submit("more", limit(Bid, 17, 1)), "Full");
    assert_eq!(trace.replace("second", to(17, 5)), "Full");
    assert_eq!(trace.book(Bid), before);
    assert_eq!(trace.replace("second", to(2, 4)), "open 4: rests 4@2");
    assert_eq!(trace.replace("alone", to(17, 6)), "open 6: rests 6@17");
    assert_eq!(trace.queue(Bid), "alone");
    assert_eq!(trace.replace("alone", to(18, 6)), "open 6: rests 6@18");
    assert_eq!(trace.replace("first", to(18, 5)), "Full");
}

/// Traded contracts use up a mitigating replacement, which needs no room.
#[test]
fn replacement_without_a_free_level_still_cancels() {
    let mut trace = Trace::new();
    trace.submit("a", limit(Bid, 20, 5));
    trace.submit("in", limit(Offer, 20, 2));
    trace.submit("b", limit(Bid, 20, 5));
    for ticks in 1..=15 {
        trace.submit("other", limit(Bid, ticks, 1));
    }
    assert_eq!(trace.submit("more", limit(Bid, 16, 1)), "Full");
    let mitigating = Replacement { mitigates: true, ..to(20, 2) };
    assert_eq!(trace.replace("a", mitigating), "canceled 3");
}

#[test]
fn session_end_expires_day_orders_only() {
    let mut trace = Trace::new();
    let good = |order| NewOrder { time_in_force: TimeInForce::GoodTillCancel, ..order };
    trace.submit("day", limit(Bid, 10, 5));
    trace.submit("good", good(limit(Bid, 10, 6)));
    trace.submit("day too", limit(Bid, 10, 7));
    trace.submit("last", good(limit(Bid, 10, 8)));
    trace.submit("offer", limit(Offer, 12, 1));
    assert_eq!(trace.end_session(), "day day too offer");
    assert_eq!((trace.queue(Bid), trace.book(Bid)), ("good last".into(), "10: 14 in 2".into()));
    assert_eq!((trace.book(Offer), trace.events.touched()), (String::new(), [0].as_slice()));
    assert_eq!(trace.end_session(), "");
    assert_eq!(trace.submit("in", limit(Offer, 10, 9)), "6@10:good 3@10:last");
}

#[test]
fn closed_instrument_accepts_cancels_only() {
    let mut trace = Trace::new();
    trace.submit("a", limit(Bid, 10, 5));
    trace.submit("b", limit(Bid, 10, 5));
    trace.matching.set_open(0, false);
    assert_eq!(trace.submit("c", limit(Bid, 9, 5)), "Closed");
    assert_eq!(trace.replace("a", to(10, 1)), "Closed");
    let a = trace.id("a");
    assert!(trace.matching.cancel(a, &mut trace.events).is_some());
    trace.matching.set_open(0, true);
    assert_eq!(trace.submit("d", limit(Offer, 10, 6)), "5@10:b rests 1@10");
}

#[test]
fn trade_sides_have_separate_numbers() {
    let mut trace = Trace::new();
    for name in ["a", "b", "c"] {
        trace.submit(name, limit(Offer, 20, 1));
    }
    trace.submit("d", limit(Offer, 21, 1));
    trace.submit("in", limit(Bid, 21, 4));
    let numbers: Vec<u32> = trace.events.fills().iter().map(|fill| fill.side_trade).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    let trades: Vec<u32> = trace.events.trades().iter().map(|trade| trade.id).collect();
    assert_eq!(trades, [1, 2]);
}

#[test]
fn stop_order_enters_the_book_when_triggered() {
    let mut trace = Trace::new();
    for (name, ticks) in [("a", 20), ("b", 21), ("c", 22)] {
        trace.submit(name, limit(Offer, ticks, 2));
    }
    trace.submit_stop("stop", limit(Bid, 22, 3), 21);
    assert_eq!(trace.book(Bid), "");
    assert_eq!(trace.submit("x", limit(Bid, 20, 1)), "1@20:a");
    assert_eq!(trace.triggered(), [""; 0]);
    assert_eq!(trace.submit("y", limit(Bid, 21, 2)), "1@20:a 1@21:b");
    assert_eq!(trace.triggered(), ["stop: 1@21:b 2@22:c"]);
}

#[test]
fn older_stop_order_enters_first() {
    let mut trace = Trace::new();
    for (name, ticks) in [("a", 20), ("b", 19), ("c", 18)] {
        trace.submit(name, limit(Bid, ticks, 2));
    }
    trace.submit_stop("third", limit(Offer, 18, 1), 18);
    trace.submit_stop("first", limit(Offer, 18, 3), 20);
    trace.submit_stop("second", limit(Offer, 18, 1), 20);
    assert_eq!(trace.submit("x", limit(Offer, 20, 1)), "1@20:a");
    assert_eq!(trace.triggered(), ["first: 1@20:a 2@19:b", "second: 1@18:c", "third: 1@18:c"]);
}

#[test]
fn stop_with_protection_is_limited_from_its_trigger() {
    let mut trace = Trace::new();
    trace.submit("a", limit(Offer, 20, 1));
    trace.submit("b", limit(Offer, 30, 9));
    let stop = NewOrder { kind: OrderKind::Market, ..limit(Bid, 0, 2) };
    trace.submit_stop("stop", stop, 20);
    assert_eq!(trace.submit("x", limit(Bid, 20, 1)), "1@20:a");
    assert_eq!(trace.triggered(), ["stop: rests 2"]);
    assert_eq!(trace.book(Bid), "25: 2 in 1");
}

/// CME's page 46140175: the aggressor's instruction decides, only orders that would have traded are
/// canceled.
#[test]
fn self_match_prevention_follows_the_aggressors_instruction() {
    use SelfMatchInstruction::{CancelAggressor, CancelResting};
    let own = |order: NewOrder, instruction| NewOrder {
        self_match: Some(SelfMatchPrevention { firm: 1, id: 7, instruction }),
        ..order
    };
    let mut trace = Trace::new();
    trace.submit("other", limit(Bid, 10, 2));
    trace.submit("own", own(limit(Bid, 10, 5), CancelAggressor));
    trace.submit("worse", own(limit(Bid, 9, 5), CancelAggressor));
    // The order ahead suffices.
    let filled = trace.submit("x", own(limit(Offer, 10, 1), CancelResting));
    assert_eq!((filled.as_str(), trace.prevented()), ("1@10:other", String::new()));
    let replaced = trace.submit("y", own(limit(Offer, 10, 4), CancelAggressor));
    assert_eq!((replaced.as_str(), trace.prevented()), ("1@10:other", "y 3 aggressor".into()));
    assert_eq!(trace.book(Bid), "10: 5 in 1, 9: 5 in 1");
    let rests = trace.submit("z", own(limit(Offer, 10, 4), CancelResting));
    assert_eq!((rests.as_str(), trace.prevented()), ("rests 4@10", "own 5 resting".into()));
    assert_eq!(trace.book(Bid), "9: 5 in 1");
    // A replaced order that enters again is the aggressor.
    let self_match = trace.order("worse").self_match;
    let again = trace.replace("worse", Replacement { self_match, ..to(10, 5) });
    assert_eq!((again.as_str(), trace.prevented()), ("open 5: ", "worse 5 aggressor".into()));
    assert_eq!((trace.book(Bid), trace.book(Offer)), (String::new(), "10: 4 in 1".into()));
}

fn shown(display: u32, order: NewOrder) -> NewOrder {
    NewOrder { display, ..order }
}

/// CME's page 46465381: the displayed quantity trades in its turn, then the next contracts are
/// displayed behind all others at the price.
#[test]
fn display_quantity_is_shown_again_at_the_end_of_the_queue() {
    let mut trace = Trace::new();
    trace.submit("iceberg", shown(3, limit(Bid, 10, 8)));
    trace.submit("b", limit(Bid, 10, 2));
    assert_eq!(trace.book(Bid), "10: 5 in 2");
    assert_eq!(trace.submit("w", limit(Offer, 10, 2)), "2@10:iceberg");
    let order = trace.order("iceberg");
    assert_eq!((order.remaining, order.shown, order.traded), (6, 1, 2));
    assert_eq!((trace.queue(Bid), trace.book(Bid)), ("iceberg b".into(), "10: 3 in 2".into()));
    let before = order.priority;
    assert_eq!(trace.submit("x", limit(Offer, 10, 1)), "1@10:iceberg");
    assert_eq!((trace.queue(Bid), trace.book(Bid)), ("b iceberg".into(), "10: 5 in 2".into()));
    assert!(trace.order("iceberg").priority > before);
    // Hidden quantity trades after all that was displayed; the last tranche is the rest.
    assert_eq!(trace.submit("y", limit(Offer, 10, 6)), "2@10:b 3@10:iceberg 1@10:iceberg");
    assert_eq!(trace.book(Bid), "10: 1 in 1");
    assert_eq!(trace.submit("z", limit(Offer, 10, 2)), "1@10:iceberg rests 1@10");
    assert_eq!(trace.book(Bid), "");
}

#[test]
fn two_icebergs_take_turns() {
    let mut trace = Trace::new();
    trace.submit("a", shown(2, limit(Offer, 20, 5)));
    trace.submit("b", shown(1, limit(Offer, 20, 3)));
    assert_eq!(trace.submit("in", limit(Bid, 20, 8)), "2@20:a 1@20:b 2@20:a 1@20:b 1@20:a 1@20:b");
    let fills = trace.events.fills();
    assert_eq!((fills.last().unwrap().remaining, fills.last().unwrap().traded), (0, 3));
    assert_eq!((trace.book(Offer), trace.matching.resting()), (String::new(), 0));
}

#[test]
fn aggressor_trades_its_hidden_quantity_at_once() {
    let mut trace = Trace::new();
    trace.submit("a", limit(Offer, 20, 6));
    assert_eq!(trace.submit("in", shown(2, limit(Bid, 20, 9))), "6@20:a rests 3@20");
    assert_eq!(trace.book(Bid), "20: 2 in 1");
    let kill = shown(2, fill_and_kill(Bid, 19, 5));
    assert_eq!(trace.submit("kill", kill), "eliminated 5");
}

#[test]
fn hidden_quantity_counts_for_a_minimum() {
    let mut trace = Trace::new();
    trace.submit("a", shown(1, limit(Offer, 20, 6)));
    assert_eq!(trace.submit("too many", fill_or_kill(Bid, 20, 7)), "eliminated 7");
    assert_eq!(trace.submit("all", fill_or_kill(Bid, 20, 6)), ["1@20:a"; 6].join(" "));
}

/// The own order comes after what the iceberg displays, and before what it hides.
#[test]
fn minimum_does_not_count_hidden_quantity_behind_an_own_order() {
    let instruction = SelfMatchInstruction::CancelAggressor;
    let self_match = Some(SelfMatchPrevention { firm: 1, id: 7, instruction });
    for (minimum, outcome) in [(3, "eliminated 5"), (2, "2@20:iceberg ")] {
        let mut trace = Trace::new();
        trace.submit("iceberg", shown(2, limit(Offer, 20, 9)));
        trace.submit("own", NewOrder { self_match, ..limit(Offer, 20, 1) });
        let order = NewOrder { self_match, minimum, ..limit(Bid, 20, 5) };
        assert_eq!(trace.submit("in", order).trim_end(), outcome.trim_end());
    }
}

#[test]
fn invalid_display_quantity_is_rejected() {
    let mut trace = Trace::new();
    assert_eq!(trace.submit("a", shown(6, limit(Bid, 10, 5))), "Display");
    let minimum = NewOrder { minimum: 3, ..shown(2, limit(Bid, 10, 5)) };
    assert_eq!(trace.submit("a", minimum), "DisplayBelowMinimum");
    assert_eq!(trace.matching.resting(), 0);
}

#[test]
fn replacement_keeps_or_loses_priority_by_display_quantity() {
    let shown_to = |display, quantity| Replacement { display, ..to(10, quantity) };
    for (replacement, outcome, queue, book) in [
        (shown_to(4, 9), "open 9: rests 9@10", "a b", "10: 5 in 2"),
        (shown_to(2, 9), "open 9: rests 9@10", "a b", "10: 3 in 2"),
        (shown_to(2, 2), "open 2: rests 2@10", "a b", "10: 3 in 2"),
        (shown_to(5, 9), "open 9: rests 9@10", "b a", "10: 6 in 2"),
        (shown_to(4, 10), "open 10: rests 10@10", "b a", "10: 5 in 2"),
        (shown_to(0, 9), "DisplayChange", "a b", "10: 5 in 2"),
        (shown_to(10, 9), "Display", "a b", "10: 5 in 2"),
        (Replacement { mitigates: true, ..shown_to(4, 3) }, "Display", "a b", "10: 5 in 2"),
    ] {
        let mut trace = Trace::new();
        trace.submit("a", shown(4, limit(Bid, 10, 9)));
        trace.submit("b", limit(Bid, 10, 1));
        assert_eq!(trace.replace("a", replacement), outcome);
        assert_eq!((trace.queue(Bid), trace.book(Bid)), (queue.into(), book.into()), "{outcome}");
        // What the book counts is what can trade.
        let open = trace.order("a").remaining;
        trace.submit("all", limit(Offer, 10, open + 1));
        assert_eq!((trace.book(Bid), trace.book(Offer)), (String::new(), String::new()));
    }
    let mut trace = Trace::new();
    trace.submit("plain", limit(Bid, 10, 5));
    assert_eq!(trace.replace("plain", shown_to(2, 5)), "DisplayChange");
}

#[test]
fn triggered_stop_order_displays_its_quantity() {
    let mut trace = Trace::new();
    trace.submit("a", limit(Offer, 20, 2));
    trace.submit_stop("stop", shown(2, limit(Bid, 21, 7)), 20);
    assert_eq!(trace.submit("x", limit(Bid, 20, 1)), "1@20:a");
    assert_eq!(trace.triggered(), ["stop: 1@20:a rests 6"]);
    assert_eq!(trace.book(Bid), "21: 2 in 1");
    assert_eq!(trace.submit("y", limit(Offer, 21, 3)), "2@21:stop 1@21:stop");
}
