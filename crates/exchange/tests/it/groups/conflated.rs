//! Conflated groups: the changes of an interval are one event.

use hairpin_exchange::{
    BROKERTEC_INTERVAL, EBS_INTERVAL, Group, Instrument, Market, NewOrder, Owner, PriceLevel,
    Publication, PublisherSettings, Side, StepKind, TradingStatus,
};
use hairpin_sbe::Decimal;
use hairpin_time::Duration;

use super::harness::Harness;
use crate::follower::Seen;

fn instruments() -> Vec<Instrument> {
    let mut instruments = Instrument::numbered(12);
    instruments[3].implied_book = true;
    instruments
}

/// Creates a harness with published books and without loops.
fn harness(settings: PublisherSettings, seed: u64) -> Harness {
    let hour = Duration::from_secs(3_600);
    let settings = PublisherSettings { loop_period: hour, heartbeat: hour, ..settings };
    let mut harness = Harness::new(settings, instruments(), seed);
    harness.drain();
    harness.pass(BROKERTEC_INTERVAL);
    harness.drain();
    harness.follower.take_seen();
    harness.follower.trades.clear();
    harness
}

const STEPS: u32 = if cfg!(debug_assertions) { 5_000 } else { 40_000 };

#[test]
fn follower_has_the_published_books_and_top_orders() {
    for (settings, expected, never) in [
        (PublisherSettings::brokertec(), [37, 46, 48, 51, 59], [64, 65, 66, 67]),
        (PublisherSettings::ebs(), [64, 65, 66, 67, 67], [37, 46, 48, 59]),
    ] {
        let mut harness = Harness::new(settings, instruments(), 1);
        for n in 0..STEPS {
            harness.pass(Duration::from_micros(700));
            harness.market.step(harness.now).unwrap();
            match n % 900 {
                100 => drop(harness.market.reset_book(harness.now, n % 12)),
                300 => drop(harness.market.reset_channel(harness.now, n % 1_800 == 300)),
                500 => {
                    let status = TradingStatus::ReadyToTrade;
                    let _ = harness.market.set_status(harness.now, None, status);
                }
                _ => {}
            }
            harness.drain();
        }
        let census = &harness.follower.census;
        println!("{census:?}, {:?} loops, {} compared", harness.loops, harness.compared);
        for template in expected {
            assert!(census.templates[&template] > 10, "{template}");
        }
        assert!(never.iter().all(|template| !census.templates.contains_key(template)));
        assert!(census.resets > 1 && census.restarts > 0);
        assert!(harness.loops[..2].iter().all(|&count| count > 5), "{:?}", harness.loops);
        let span = u64::from(STEPS) * 700;
        let Group::Conflated { intervals, .. } = settings.group else { panic!() };
        let most = span / intervals[0].as_micros() + 5 * u64::from(STEPS) / 300;
        assert!(census.events <= most, "{} events in {span} µs", census.events);
    }
}

#[test]
fn sends_nothing_without_changes() {
    let mut harness = harness(PublisherSettings::brokertec(), 2);
    for _ in 0..100 {
        harness.pass(Duration::from_millis(10));
        assert_eq!(harness.poll(), None);
    }
    assert!(harness.market.publisher().poll_timeout().unwrap() > harness.now.monotonic);
}

#[test]
fn interval_is_one_event_with_the_last_time() {
    let mut harness = harness(PublisherSettings::brokertec(), 3);
    let mut last = 0;
    for _ in 0..20 {
        harness.pass(Duration::from_millis(1));
        let (_, publication) = harness.market.step(harness.now).unwrap();
        assert_eq!(publication, Publication::Conflated);
        last = harness.now.utc.as_nanos();
        assert_eq!(harness.poll(), None);
    }
    let end = harness.market.publisher().poll_timeout().unwrap();
    harness.pass(end - harness.now.monotonic - Duration::from_nanos(1));
    assert_eq!(harness.poll(), None);
    harness.pass(Duration::from_nanos(1));
    harness.drain();
    let seen = harness.follower.take_seen();
    assert_eq!(seen.iter().filter(|seen| seen.indicator & 0x80 != 0).count(), 1);
    for Seen { template, transact_time, .. } in seen {
        assert!(transact_time == last || template == 48, "{template} at {transact_time}");
    }
}

#[test]
fn trades_keep_their_own_times() {
    let mut harness = harness(PublisherSettings::brokertec(), 4);
    let mut expected = Vec::new();
    for _ in 0..40 {
        harness.pass(Duration::from_millis(1));
        let before = harness.follower.trades.len();
        let (step, _) = harness.market.step(harness.now).unwrap();
        assert_eq!(harness.follower.trades.len(), before);
        if matches!(
            step.kind,
            StepKind::Take
                | StepKind::Sweep
                | StepKind::Market
                | StepKind::FillAndKill
                | StepKind::Partial
        ) {
            expected.push(harness.now.utc.as_nanos());
        }
    }
    harness.pass(BROKERTEC_INTERVAL);
    harness.drain();
    let mut times: Vec<_> = harness.follower.trades.iter().map(|trade| trade.0).collect();
    assert!(times.len() > expected.len(), "a sweep has several trades");
    times.dedup();
    assert_eq!(times, expected);
    // One message for each distinct time, all in one event.
    let seen = harness.follower.take_seen();
    let messages: Vec<_> =
        seen.iter().filter(|seen| seen.template == 48).map(|seen| seen.transact_time).collect();
    assert_eq!(messages, expected);
    assert_eq!(seen.iter().filter(|seen| seen.indicator & 0x01 != 0).count(), 1);
    assert_eq!(seen.iter().filter(|seen| seen.indicator & 0x80 != 0).count(), 1);
}

#[test]
fn interval_restarts_when_messages_are_published() {
    let mut harness = harness(PublisherSettings::brokertec(), 5);
    harness.pass(Duration::from_millis(30));
    harness.market.step(harness.now).unwrap();
    harness.pass(Duration::from_millis(5));
    // A status is not conflated: stored changes precede it, and the interval restarts.
    let flushed = harness.now.monotonic;
    harness.market.set_status(harness.now, Some(1), TradingStatus::TradingHalt);
    harness.drain();
    let seen = harness.follower.take_seen();
    let ends: Vec<_> = seen.iter().filter(|seen| seen.indicator & 0x80 != 0).collect();
    assert_eq!((ends.len(), ends[1].template), (2, 30));
    assert!(ends[0].sequence < ends[1].sequence);
    harness.pass(Duration::from_millis(20));
    harness.market.step(harness.now).unwrap();
    assert_eq!(harness.poll(), None);
    let due = harness.market.publisher().poll_timeout();
    assert_eq!(due, Some(flushed + BROKERTEC_INTERVAL));
}

#[test]
fn interval_without_changes_restarts_silently() {
    let mut harness = harness(PublisherSettings::ebs(), 6);
    let start = {
        harness.market.step(harness.now).unwrap();
        harness.market.publisher().poll_timeout().unwrap()
    };
    harness.pass(start - harness.now.monotonic);
    harness.drain();
    // 2.4 intervals of silence: the next change is published at the end of the third.
    harness.pass(Duration::from_millis(12));
    harness.market.step(harness.now).unwrap();
    let due = harness.market.publisher().poll_timeout();
    assert_eq!(due, Some(start + EBS_INTERVAL * 3));
}

#[test]
fn segments_have_separate_intervals() {
    let group =
        Group::Conflated { intervals: &[BROKERTEC_INTERVAL, EBS_INTERVAL], top_orders: true };
    let settings =
        PublisherSettings { group, market_segment: 64, ..PublisherSettings::brokertec() };
    let mut harness = Harness::new(settings, instruments(), 7);
    while harness.loops[0] == 0 {
        harness.pass(Duration::from_millis(10));
        harness.drain();
    }
    assert_eq!(harness.defined[&1_001].3, 64);
    assert_eq!(harness.defined[&1_002].3, 65);
    let change = |harness: &mut Harness, instrument| {
        let best = harness.market.matching().best(instrument, Side::Bid).unwrap().price;
        let order = NewOrder::limit(instrument, Side::Bid, best, 1, Owner(1));
        harness.market.submit(harness.now, &order).unwrap();
    };
    let touched = |harness: &Harness, id: i32| harness.follower.books[&id].rpt_seq;
    let before = [1_001, 1_002].map(|id| touched(&harness, id));
    change(&mut harness, 0);
    change(&mut harness, 1);
    harness.pass(EBS_INTERVAL);
    harness.drain();
    let after = [1_001, 1_002].map(|id| touched(&harness, id));
    assert_eq!((after[0], after[1] > before[1]), (before[0], true));
    harness.pass(BROKERTEC_INTERVAL);
    harness.drain();
    assert!(touched(&harness, 1_001) > before[0]);
}

#[test]
fn book_unchanged_over_the_interval_is_not_sent() {
    let mut harness = harness(PublisherSettings::brokertec(), 8);
    let best = harness.market.matching().best(0, Side::Bid).unwrap().price;
    let order = NewOrder::limit(0, Side::Bid, Decimal(best.0), 1, Owner(1));
    let submitted = harness.market.submit(harness.now, &order).unwrap();
    harness.market.cancel(harness.now, submitted.order, Owner(1)).unwrap();
    harness.pass(BROKERTEC_INTERVAL * 2);
    assert_eq!(harness.poll(), None);
}

#[test]
fn top_orders_precede_levels_of_changed_books_only() {
    let mut harness = harness(PublisherSettings::brokertec(), 9);
    let best = harness.market.matching().best(0, Side::Bid).unwrap().price;
    let order = NewOrder::limit(0, Side::Bid, Decimal(best.0 + 250_000_000), 1, Owner(1));
    let submitted = harness.market.submit(harness.now, &order).unwrap();
    harness.pass(BROKERTEC_INTERVAL);
    harness.drain();
    let seen: Vec<_> = harness.follower.take_seen().iter().map(|seen| seen.template).collect();
    let place = |template| seen.iter().position(|&other| other == template);
    assert!(place(59) < place(46) || submitted.remaining == 0, "{seen:?}");
    assert_eq!(seen.iter().filter(|&&template| template == 59).count(), 1);
    let top = harness.market.publisher().published_top_orders(0).unwrap();
    let matched = harness.market.matching().orders(0, Side::Bid).take(10).map(|order| order.id);
    assert!(top.side(Side::Bid).map(|order| order.id).eq(matched));
}

#[test]
fn channel_reset_follows_conflated_changes() {
    let mut harness = harness(PublisherSettings::brokertec(), 10);
    harness.pass(Duration::from_millis(1));
    let (_, publication) = harness.market.step(harness.now).unwrap();
    assert_eq!(publication, Publication::Conflated);
    harness.market.reset_channel(harness.now, true);
    harness.drain();
    let seen = harness.follower.take_seen();
    let reset = seen.iter().position(|seen| seen.template == 4).unwrap();
    let (kept, resent) = (&seen[..reset], &seen[reset + 1..]);
    assert_eq!(kept.iter().filter(|seen| seen.indicator & 0x80 != 0).count(), 1);
    assert!(kept.iter().all(|seen| seen.indicator & 0x20 == 0), "{kept:?}");
    assert!(resent.iter().all(|seen| seen.indicator & 0x20 != 0), "{resent:?}");
}

#[test]
fn implied_change_leaves_other_state_unchanged() {
    let mut harness = harness(PublisherSettings::brokertec(), 11);
    let before = harness.follower.books[&1_004].clone();
    assert!(!before.orders.is_empty() && !before.side(b'0').is_empty());
    let level = PriceLevel { price: Decimal(900_000_000_000), quantity: 4, orders: 0 };
    harness.market.set_implied(harness.now, 3, Side::Bid, &[level]);
    harness.pass(BROKERTEC_INTERVAL);
    harness.drain();
    let after = &harness.follower.books[&1_004];
    assert_eq!(after.side(b'E').len(), 1);
    assert_eq!(
        [b'0', b'1'].map(|side| after.side(side)),
        [b'0', b'1'].map(|side| before.side(side))
    );
    assert_eq!((after.volume, &after.orders), (before.volume, &before.orders));
}

/// Trades with very many orders: their storage is bounded.
#[test]
fn full_interval_is_published_early() {
    let mut harness = harness(PublisherSettings::brokertec(), 12);
    let best = harness.market.matching().best(0, Side::Bid).unwrap().price;
    let order = |side, quantity, owner| NewOrder::limit(0, side, best, quantity, Owner(owner));
    let mut trades = 0;
    while harness.poll().is_none() {
        for _ in 0..100 {
            harness.market.submit(harness.now, &order(Side::Bid, 1, 1)).unwrap();
        }
        harness.market.submit(harness.now, &order(Side::Offer, 100, 2)).unwrap();
        trades += 1;
        assert!(trades < 500, "nothing was sent");
    }
    assert!(trades > 1);
}
