//! A Premium group: every event, with all orders.

use hairpin_exchange::{
    FullOrders, Group, Instrument, Market, NewOrder, OrderId, OrderPath, Owner, PriceLevel,
    PublisherSettings, Replaced, Replacement, Side,
};
use hairpin_sbe::Decimal;
use hairpin_time::Duration;

use crate::stage::Stage;

fn settings(path: OrderPath, chunk: u8) -> PublisherSettings {
    let group = Group::Premium { orders: Some(FullOrders { path, chunk }) };
    PublisherSettings { group, ..PublisherSettings::premium() }
}

fn instruments() -> Vec<Instrument> {
    let mut instruments = Instrument::numbered(12);
    instruments[3].has_implied = true;
    instruments
}

const STEPS: u32 = if cfg!(debug_assertions) { 3_000 } else { 20_000 };

/// An order beyond the published depth comes, is reduced, and goes.
fn come_and_go_far_below(stage: &mut Stage) {
    stage.drain();
    let price = Decimal(800_000_000_000);
    let order = NewOrder::limit(1, Side::Bid, price, 3, Owner(1));
    let order = stage.floor.submit(stage.now, &order).unwrap().order;
    stage.drain();
    let replacement = Replacement { price, quantity: 2, ..Replacement::default() };
    stage.floor.replace(stage.now, order, Owner(1), &replacement).unwrap();
    stage.drain();
    stage.floor.cancel(stage.now, order, Owner(1)).unwrap();
}

fn run(path: OrderPath, chunk: u8, seed: u64) -> Stage {
    let mut stage = Stage::new(settings(path, chunk), instruments(), seed);
    stage.drain();
    for n in 0..STEPS {
        stage.pass(Duration::from_micros(700));
        stage.floor.step(stage.now).unwrap();
        if n % 7 == 0 {
            let price = Decimal(900_000_000_000 + i64::from(n % 3) * 250_000_000);
            let level = PriceLevel { price, quantity: 1 + n % 5, orders: 0 };
            stage.floor.set_implied(stage.now, 3, Side::Bid, &[level]);
        }
        match n % 500 {
            50 => come_and_go_far_below(&mut stage),
            100 => drop(stage.floor.reset_book(stage.now, n % 12)),
            300 => drop(stage.floor.reset_channel(stage.now, n % 1_000 == 300)),
            _ => {}
        }
        stage.drain();
    }
    stage
}

#[test]
fn a_follower_has_the_same_orders_and_levels_after_every_event() {
    for (path, chunk, seed) in [
        (OrderPath::BesideLevels, FullOrders::CHUNK_MAX, 1),
        (OrderPath::BesideLevels, 7, 2),
        (OrderPath::Apart, 30, 3),
    ] {
        let stage = run(path, chunk, seed);
        let census = &stage.follower.census;
        println!("{path:?} in chunks of {chunk}: {census:?}, {:?} loops", stage.loops);
        assert!(census.apart.iter().all(|&count| count > 0));
        let is_beside = path == OrderPath::BesideLevels;
        assert!(census.beside.iter().all(|&count| (count > 0) == is_beside));
        if is_beside {
            // Most changes are within the published depth.
            assert!(census.beside.iter().sum::<u64>() > census.apart.iter().sum());
        }
        assert!(census.resets > 1 && census.restarts > 0 && census.restarts < census.resets);
        for template in [37, 46, 47, 48, 51] {
            assert!(census.templates[&template] > 10, "{template}");
        }
        assert!(stage.loops.iter().all(|&count| count > 5), "{:?}", stage.loops);
        assert!(stage.snapshots[1].sets_of_several > 0);
        assert!(stage.compared > u64::from(STEPS));
    }
}

#[test]
fn an_order_beyond_the_published_depth_goes_by_47_alone() {
    for path in [OrderPath::BesideLevels, OrderPath::Apart] {
        let mut stage = Stage::new(settings(path, 47), instruments(), 4);
        stage.drain();
        stage.follower.take_seen();
        let tenth = stage.floor.publisher().published(0).sides[0].levels()[9].price;
        let price = Decimal(tenth.0 - 250_000_000 * 5);
        let order = NewOrder::limit(0, Side::Bid, price, 1, Owner(1));
        let submitted = stage.floor.submit(stage.now, &order).unwrap();
        assert_eq!(submitted.remaining, 1);
        stage.drain();
        let seen: Vec<_> = stage.follower.take_seen().iter().map(|seen| seen.template).collect();
        assert_eq!(seen.first(), Some(&47));
        // The event's end may be an empty 46.
        assert!(seen[1..].iter().all(|&template| template == 46) && seen.len() <= 2, "{seen:?}");
        let order = stage.follower.books[&1_001].orders[&submitted.order.0];
        assert_eq!((order.price, order.quantity), (price.0, 1));
    }
}

#[test]
fn an_order_within_the_depth_goes_beside_its_level() {
    let mut stage = Stage::new(settings(OrderPath::BesideLevels, 47), instruments(), 5);
    stage.drain();
    let before = stage.follower.census.clone();
    let best = stage.floor.matching().best(0, Side::Bid).unwrap().price;
    let order = NewOrder::limit(0, Side::Bid, best, 3, Owner(1));
    let submitted = stage.floor.submit(stage.now, &order).unwrap();
    stage.drain();
    stage.floor.cancel(stage.now, submitted.order, Owner(1)).unwrap();
    stage.drain();
    let census = &stage.follower.census;
    assert_eq!(census.apart, before.apart);
    let told = [0, 1, 2].map(|action| census.beside[action] - before.beside[action]);
    assert_eq!(told, [1, 0, 1]);
}

/// The queue of a price is its orders' priorities: who comes in again has a higher one.
#[test]
fn priority_is_the_order_of_coming_and_is_lost_with_the_place() {
    let mut stage = Stage::new(settings(OrderPath::BesideLevels, 47), instruments(), 6);
    stage.drain();
    let best = stage.floor.matching().best(0, Side::Bid).unwrap().price;
    let mut place = |quantity| {
        let order = NewOrder::limit(0, Side::Bid, best, quantity, Owner(1));
        let submitted = stage.floor.submit(stage.now, &order).unwrap();
        stage.drain();
        submitted.order
    };
    let (first, second) = (place(5), place(5));
    let priority =
        |stage: &Stage, order: OrderId| stage.follower.books[&1_001].orders[&order.0].priority;
    assert!(priority(&stage, first) < priority(&stage, second));
    let replace = |stage: &mut Stage, quantity| {
        let replacement = Replacement { price: best, quantity, ..Replacement::default() };
        let replaced = stage.floor.replace(stage.now, first, Owner(1), &replacement);
        assert!(matches!(replaced, Ok(Replaced::Modified { .. })));
        stage.drain();
    };
    // Less keeps the place.
    replace(&mut stage, 4);
    assert!(priority(&stage, first) < priority(&stage, second));
    replace(&mut stage, 6);
    assert!(priority(&stage, first) > priority(&stage, second));
}

#[test]
fn more_orders_than_fit_beside_a_level_go_apart() {
    let mut stage = Stage::new(settings(OrderPath::BesideLevels, 47), instruments(), 7);
    stage.drain();
    let price = stage.floor.matching().best(0, Side::Bid).unwrap().price;
    for _ in 0..150 {
        let order = NewOrder::limit(0, Side::Bid, price, 1, Owner(1));
        stage.floor.submit(stage.now, &order).unwrap();
        stage.drain();
    }
    let best = stage.follower.books[&1_001].side(b'0')[0];
    assert_eq!(best.price, price.0);
    let before = stage.follower.census.clone();
    // All of the level is taken at once: as many orders go as it had.
    let taken = NewOrder::limit(0, Side::Offer, price, best.quantity as u32, Owner(1));
    stage.floor.submit(stage.now, &taken).unwrap();
    stage.drain();
    let census = &stage.follower.census;
    let [beside, apart] = [census.beside[2] - before.beside[2], census.apart[2] - before.apart[2]];
    assert_eq!((beside, beside + apart), (32, best.orders.unwrap() as u64));
}

/// A book that was active and has no orders any more is stated as empty.
#[test]
fn an_instrument_without_orders_stays_in_the_loop_of_orders() {
    let mut stage = Stage::new(settings(OrderPath::BesideLevels, 47), instruments(), 8);
    stage.drain();
    for side in Side::BOTH {
        let orders = stage.floor.matching().orders(5, side);
        let orders: Vec<_> = orders.map(|order| (order.id, order.owner)).collect();
        for (order, owner) in orders {
            stage.floor.cancel(stage.now, order, owner).unwrap();
            stage.drain();
        }
    }
    assert!(stage.follower.books[&1_006].orders.is_empty());
    let loops = stage.loops[2];
    for _ in 0..100 {
        stage.pass(Duration::from_millis(10));
        stage.drain();
    }
    assert!(stage.loops[2] > loops + 1);
}
