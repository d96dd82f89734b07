//! Conflated groups: what happens within an interval is one event.

use hairpin_exchange::{
    BROKERTEC_INTERVAL, EBS_INTERVAL, Group, Instrument, Kind, Market, NewOrder, Owner, PriceLevel,
    Publication, PublisherSettings, Side, TradingStatus,
};
use hairpin_sbe::Decimal;
use hairpin_time::Duration;

use crate::follower::Seen;
use crate::stage::Stage;

fn instruments() -> Vec<Instrument> {
    let mut instruments = Instrument::numbered(12);
    instruments[3].has_implied = true;
    instruments
}

/// A stage whose books are published and whose loops stay away.
fn stage(settings: PublisherSettings, seed: u64) -> Stage {
    let hour = Duration::from_secs(3_600);
    let settings = PublisherSettings { loop_period: hour, heartbeat: hour, ..settings };
    let mut stage = Stage::new(settings, instruments(), seed);
    stage.drain();
    stage.pass(BROKERTEC_INTERVAL);
    stage.drain();
    stage.follower.take_seen();
    stage.follower.trades.clear();
    stage
}

const STEPS: u32 = if cfg!(debug_assertions) { 5_000 } else { 40_000 };

#[test]
fn a_follower_has_the_same_books_and_top_orders_after_every_event() {
    for (settings, expected, never) in [
        (PublisherSettings::brokertec(), [37, 46, 48, 51, 59], [64, 65, 66, 67]),
        (PublisherSettings::ebs(), [64, 65, 66, 67, 67], [37, 46, 48, 59]),
    ] {
        let mut stage = Stage::new(settings, instruments(), 1);
        for n in 0..STEPS {
            stage.pass(Duration::from_micros(700));
            stage.floor.step(stage.now).unwrap();
            match n % 900 {
                100 => drop(stage.floor.reset_book(stage.now, n % 12)),
                300 => drop(stage.floor.reset_channel(stage.now, n % 1_800 == 300)),
                500 => drop(stage.floor.set_status(stage.now, None, TradingStatus::ReadyToTrade)),
                _ => {}
            }
            stage.drain();
        }
        let census = &stage.follower.census;
        println!("{census:?}, {:?} loops, {} compared", stage.loops, stage.compared);
        for template in expected {
            assert!(census.templates[&template] > 10, "{template}");
        }
        assert!(never.iter().all(|template| !census.templates.contains_key(template)));
        assert!(census.resets > 1 && census.restarts > 0);
        assert!(stage.loops[..2].iter().all(|&count| count > 5), "{:?}", stage.loops);
        let span = u64::from(STEPS) * 700;
        let Group::Conflated { intervals, .. } = settings.group else { panic!() };
        let most = span / intervals[0].as_micros() + 5 * u64::from(STEPS) / 300;
        assert!(census.events <= most, "{} events in {span} µs", census.events);
    }
}

#[test]
fn nothing_happened_and_nothing_is_sent() {
    let mut stage = stage(PublisherSettings::brokertec(), 2);
    for _ in 0..100 {
        stage.pass(Duration::from_millis(10));
        assert_eq!(stage.poll(), None);
    }
    assert!(stage.floor.publisher().poll_timeout().unwrap() > stage.now.monotonic);
}

#[test]
fn what_happens_within_an_interval_is_one_event_at_its_end_with_the_last_time() {
    let mut stage = stage(PublisherSettings::brokertec(), 3);
    let mut last = 0;
    for _ in 0..20 {
        stage.pass(Duration::from_millis(1));
        let (_, publication) = stage.floor.step(stage.now).unwrap();
        assert_eq!(publication, Publication::Conflated);
        last = stage.now.utc.as_nanos();
        assert_eq!(stage.poll(), None);
    }
    let end = stage.floor.publisher().poll_timeout().unwrap();
    stage.pass(end - stage.now.monotonic - Duration::from_nanos(1));
    assert_eq!(stage.poll(), None);
    stage.pass(Duration::from_nanos(1));
    stage.drain();
    let seen = stage.follower.take_seen();
    assert_eq!(seen.iter().filter(|seen| seen.indicator & 0x80 != 0).count(), 1);
    for Seen { template, transact_time, .. } in seen {
        assert!(transact_time == last || template == 48, "{template} at {transact_time}");
    }
}

#[test]
fn every_trade_is_sent_with_its_own_time() {
    let mut stage = stage(PublisherSettings::brokertec(), 4);
    let mut expected = Vec::new();
    for _ in 0..40 {
        stage.pass(Duration::from_millis(1));
        let before = stage.follower.trades.len();
        let (step, _) = stage.floor.step(stage.now).unwrap();
        assert_eq!(stage.follower.trades.len(), before);
        if matches!(
            step.kind,
            Kind::Take | Kind::Sweep | Kind::Market | Kind::FillAndKill | Kind::Partial
        ) {
            expected.push(stage.now.utc.as_nanos());
        }
    }
    stage.pass(BROKERTEC_INTERVAL);
    stage.drain();
    let mut times: Vec<_> = stage.follower.trades.iter().map(|trade| trade.0).collect();
    assert!(times.len() > expected.len(), "sweeps are several trades");
    times.dedup();
    assert_eq!(times, expected);
    // One message for each distinct time, all of them in one event.
    let seen = stage.follower.take_seen();
    let messages: Vec<_> =
        seen.iter().filter(|seen| seen.template == 48).map(|seen| seen.transact_time).collect();
    assert_eq!(messages, expected);
    assert_eq!(seen.iter().filter(|seen| seen.indicator & 0x01 != 0).count(), 1);
    assert_eq!(seen.iter().filter(|seen| seen.indicator & 0x80 != 0).count(), 1);
}

#[test]
fn an_interval_begins_anew_when_messages_are_published() {
    let mut stage = stage(PublisherSettings::brokertec(), 5);
    stage.pass(Duration::from_millis(30));
    stage.floor.step(stage.now).unwrap();
    stage.pass(Duration::from_millis(5));
    // A status is not conflated: what is kept comes before it, and the interval begins anew.
    let flushed = stage.now.monotonic;
    stage.floor.set_status(stage.now, Some(1), TradingStatus::TradingHalt);
    stage.drain();
    let seen = stage.follower.take_seen();
    let ends: Vec<_> = seen.iter().filter(|seen| seen.indicator & 0x80 != 0).collect();
    assert_eq!((ends.len(), ends[1].template), (2, 30));
    assert!(ends[0].sequence < ends[1].sequence);
    stage.pass(Duration::from_millis(20));
    stage.floor.step(stage.now).unwrap();
    assert_eq!(stage.poll(), None);
    let due = stage.floor.publisher().poll_timeout();
    assert_eq!(due, Some(flushed + BROKERTEC_INTERVAL));
}

#[test]
fn an_interval_in_which_nothing_happened_is_followed_by_another() {
    let mut stage = stage(PublisherSettings::ebs(), 6);
    let start = {
        stage.floor.step(stage.now).unwrap();
        stage.floor.publisher().poll_timeout().unwrap()
    };
    stage.pass(start - stage.now.monotonic);
    stage.drain();
    // 2.4 intervals of silence: what happens then waits for the end of the third.
    stage.pass(Duration::from_millis(12));
    stage.floor.step(stage.now).unwrap();
    let due = stage.floor.publisher().poll_timeout();
    assert_eq!(due, Some(start + EBS_INTERVAL * 3));
}

#[test]
fn segments_have_intervals_of_their_own() {
    let group =
        Group::Conflated { intervals: &[BROKERTEC_INTERVAL, EBS_INTERVAL], top_orders: true };
    let settings =
        PublisherSettings { group, market_segment: 64, ..PublisherSettings::brokertec() };
    let mut stage = Stage::new(settings, instruments(), 7);
    while stage.loops[0] == 0 {
        stage.pass(Duration::from_millis(10));
        stage.drain();
    }
    assert_eq!(stage.defined[&1_001].3, 64);
    assert_eq!(stage.defined[&1_002].3, 65);
    let change = |stage: &mut Stage, instrument| {
        let best = stage.floor.matching().best(instrument, Side::Bid).unwrap().price;
        let order = NewOrder::limit(instrument, Side::Bid, best, 1, Owner(1));
        stage.floor.submit(stage.now, &order).unwrap();
    };
    let touched = |stage: &Stage, id: i32| stage.follower.books[&id].rpt_seq;
    let before = [1_001, 1_002].map(|id| touched(&stage, id));
    change(&mut stage, 0);
    change(&mut stage, 1);
    stage.pass(EBS_INTERVAL);
    stage.drain();
    let after = [1_001, 1_002].map(|id| touched(&stage, id));
    assert_eq!((after[0], after[1] > before[1]), (before[0], true));
    stage.pass(BROKERTEC_INTERVAL);
    stage.drain();
    assert!(touched(&stage, 1_001) > before[0]);
}

#[test]
fn a_book_that_is_what_it_was_at_the_end_of_the_interval_is_not_sent() {
    let mut stage = stage(PublisherSettings::brokertec(), 8);
    let best = stage.floor.matching().best(0, Side::Bid).unwrap().price;
    let order = NewOrder::limit(0, Side::Bid, Decimal(best.0), 1, Owner(1));
    let submitted = stage.floor.submit(stage.now, &order).unwrap();
    stage.floor.cancel(stage.now, submitted.order, Owner(1)).unwrap();
    stage.pass(BROKERTEC_INTERVAL * 2);
    assert_eq!(stage.poll(), None);
}

#[test]
fn top_orders_come_before_levels_and_only_for_books_whose_top_changed() {
    let mut stage = stage(PublisherSettings::brokertec(), 9);
    let best = stage.floor.matching().best(0, Side::Bid).unwrap().price;
    let order = NewOrder::limit(0, Side::Bid, Decimal(best.0 + 250_000_000), 1, Owner(1));
    let submitted = stage.floor.submit(stage.now, &order).unwrap();
    stage.pass(BROKERTEC_INTERVAL);
    stage.drain();
    let seen: Vec<_> = stage.follower.take_seen().iter().map(|seen| seen.template).collect();
    let place = |template| seen.iter().position(|&other| other == template);
    assert!(place(59) < place(46) || submitted.remaining == 0, "{seen:?}");
    assert_eq!(seen.iter().filter(|&&template| template == 59).count(), 1);
    let top = stage.floor.publisher().published_top_orders(0).unwrap();
    let matched = stage.floor.matching().orders(0, Side::Bid).take(10).map(|order| order.id);
    assert!(top.side(Side::Bid).map(|order| order.id).eq(matched));
}

#[test]
fn a_reset_of_the_channel_comes_behind_what_is_kept() {
    let mut stage = stage(PublisherSettings::brokertec(), 10);
    stage.pass(Duration::from_millis(1));
    let (_, publication) = stage.floor.step(stage.now).unwrap();
    assert_eq!(publication, Publication::Conflated);
    stage.floor.reset_channel(stage.now, true);
    stage.drain();
    let seen = stage.follower.take_seen();
    let reset = seen.iter().position(|seen| seen.template == 4).unwrap();
    let (kept, resent) = (&seen[..reset], &seen[reset + 1..]);
    assert_eq!(kept.iter().filter(|seen| seen.indicator & 0x80 != 0).count(), 1);
    assert!(kept.iter().all(|seen| seen.indicator & 0x20 == 0), "{kept:?}");
    assert!(resent.iter().all(|seen| seen.indicator & 0x20 != 0), "{resent:?}");
}

#[test]
fn implied_levels_alone_leave_levels_volume_and_top_orders_as_they_are() {
    let mut stage = stage(PublisherSettings::brokertec(), 11);
    let before = stage.follower.books[&1_004].clone();
    assert!(!before.orders.is_empty() && !before.side(b'0').is_empty());
    let level = PriceLevel { price: Decimal(900_000_000_000), quantity: 4, orders: 0 };
    stage.floor.set_implied(stage.now, 3, Side::Bid, &[level]);
    stage.pass(BROKERTEC_INTERVAL);
    stage.drain();
    let after = &stage.follower.books[&1_004];
    assert_eq!(after.side(b'E').len(), 1);
    assert_eq!(
        [b'0', b'1'].map(|side| after.side(side)),
        [b'0', b'1'].map(|side| before.side(side))
    );
    assert_eq!((after.volume, &after.orders), (before.volume, &before.orders));
}

/// Trades in which very many orders meet: what is kept of them has its room, and no more.
#[test]
fn what_an_interval_has_no_room_for_is_published_before_its_end() {
    let mut stage = stage(PublisherSettings::brokertec(), 12);
    let best = stage.floor.matching().best(0, Side::Bid).unwrap().price;
    let order = |side, quantity, owner| NewOrder::limit(0, side, best, quantity, Owner(owner));
    let mut trades = 0;
    while stage.poll().is_none() {
        for _ in 0..100 {
            stage.floor.submit(stage.now, &order(Side::Bid, 1, 1)).unwrap();
        }
        stage.floor.submit(stage.now, &order(Side::Offer, 100, 2)).unwrap();
        trades += 1;
        assert!(trades < 500, "and nothing was sent");
    }
    assert!(trades > 1);
}
