//! A Premium group: every event, with all orders.

use hairpin_exchange::{
    FullOrders, Group, Instrument, Market, NewOrder, OrderId, OrderPath, Owner, PriceLevel,
    PublisherSettings, Replaced, Replacement, Side,
};
use hairpin_sbe::Decimal;
use hairpin_time::Duration;

use super::harness::Harness;

fn settings(path: OrderPath, chunk: u8) -> PublisherSettings {
    let group = Group::Premium { orders: Some(FullOrders { path, chunk }) };
    PublisherSettings { group, ..PublisherSettings::premium() }
}

fn instruments() -> Vec<Instrument> {
    let mut instruments = Instrument::numbered(12);
    instruments[3].implied_book = true;
    instruments
}

const STEPS: u32 = if cfg!(debug_assertions) { 3_000 } else { 20_000 };

/// Adds, reduces and cancels an order beyond the published depth.
fn add_and_cancel_below_the_depth(harness: &mut Harness) {
    harness.drain();
    let price = Decimal(800_000_000_000);
    let order = NewOrder::limit(1, Side::Bid, price, 3, Owner(1));
    let order = harness.market.submit(harness.now, &order).unwrap().order;
    harness.drain();
    let replacement = Replacement { price, quantity: 2, ..Replacement::default() };
    harness.market.replace(harness.now, order, Owner(1), &replacement).unwrap();
    harness.drain();
    harness.market.cancel(harness.now, order, Owner(1)).unwrap();
}

/// Adds an order to buy and one to sell at the best prices, which show two contracts at a time.
fn add_icebergs(harness: &mut Harness, instrument: u32) {
    for side in Side::BOTH {
        let price = harness.market.matching().best(instrument, side).unwrap().price;
        let order = NewOrder::limit(instrument, side, price, 60, Owner(1));
        harness.market.submit(harness.now, &NewOrder { display: 2, ..order }).unwrap();
        harness.drain();
    }
}

fn run(path: OrderPath, chunk: u8, seed: u64) -> Harness {
    let mut harness = Harness::new(settings(path, chunk), instruments(), seed);
    harness.drain();
    for n in 0..STEPS {
        harness.pass(Duration::from_micros(700));
        harness.market.step(harness.now).unwrap();
        if n % 7 == 0 {
            let price = Decimal(900_000_000_000 + i64::from(n % 3) * 250_000_000);
            let level = PriceLevel { price, quantity: 1 + n % 5, orders: 0 };
            harness.market.set_implied(harness.now, 3, Side::Bid, &[level]);
        }
        match n % 500 {
            50 => add_and_cancel_below_the_depth(&mut harness),
            100 => drop(harness.market.reset_book(harness.now, n % 12)),
            20 | 200 | 400 => add_icebergs(&mut harness, n / 100 % 12),
            300 => drop(harness.market.reset_channel(harness.now, n % 1_000 == 300)),
            _ => {}
        }
        harness.drain();
    }
    harness
}

#[test]
fn follower_has_the_published_orders_and_levels() {
    for (path, chunk, seed) in [
        (OrderPath::WithLevels, FullOrders::CHUNK_MAX, 1),
        (OrderPath::WithLevels, 7, 2),
        (OrderPath::Separate, 30, 3),
    ] {
        let harness = run(path, chunk, seed);
        let census = &harness.follower.census;
        println!("{path:?} in chunks of {chunk}: {census:?}, {:?} loops", harness.loops);
        assert!(census.apart.iter().all(|&count| count > 0));
        let is_beside = path == OrderPath::WithLevels;
        assert!(census.beside.iter().all(|&count| (count > 0) == is_beside));
        if is_beside {
            // Most changes are within the published depth.
            assert!(census.beside.iter().sum::<u64>() > census.apart.iter().sum());
        }
        assert!(census.resets > 1 && census.restarts > 0 && census.restarts < census.resets);
        for template in [37, 46, 47, 48, 51] {
            assert!(census.templates[&template] > 10, "{template}");
        }
        assert!(harness.loops.iter().all(|&count| count > 5), "{:?}", harness.loops);
        assert!(harness.snapshots[1].sets_of_several > 0);
        assert!(harness.compared > u64::from(STEPS));
    }
}

#[test]
fn order_beyond_the_published_depth_uses_template_47() {
    for path in [OrderPath::WithLevels, OrderPath::Separate] {
        let mut harness = Harness::new(settings(path, 47), instruments(), 4);
        harness.drain();
        harness.follower.take_seen();
        let tenth = harness.market.publisher().published(0).sides[0].levels()[9].price;
        let price = Decimal(tenth.0 - 250_000_000 * 5);
        let order = NewOrder::limit(0, Side::Bid, price, 1, Owner(1));
        let submitted = harness.market.submit(harness.now, &order).unwrap();
        assert_eq!(submitted.remaining, 1);
        harness.drain();
        let seen: Vec<_> = harness.follower.take_seen().iter().map(|seen| seen.template).collect();
        assert_eq!(seen.first(), Some(&47));
        // The end of the event may be an empty 46.
        assert!(seen[1..].iter().all(|&template| template == 46) && seen.len() <= 2, "{seen:?}");
        let order = harness.follower.books[&1_001].orders[&submitted.order.0];
        assert_eq!((order.price, order.quantity), (price.0, 1));
    }
}

#[test]
fn order_within_the_depth_is_attached_to_its_level() {
    let mut harness = Harness::new(settings(OrderPath::WithLevels, 47), instruments(), 5);
    harness.drain();
    let before = harness.follower.census.clone();
    let best = harness.market.matching().best(0, Side::Bid).unwrap().price;
    let order = NewOrder::limit(0, Side::Bid, best, 3, Owner(1));
    let submitted = harness.market.submit(harness.now, &order).unwrap();
    harness.drain();
    harness.market.cancel(harness.now, submitted.order, Owner(1)).unwrap();
    harness.drain();
    let census = &harness.follower.census;
    assert_eq!(census.apart, before.apart);
    let reported = [0, 1, 2].map(|action| census.beside[action] - before.beside[action]);
    assert_eq!(reported, [1, 0, 1]);
}

/// The queue at a price is sorted by priority; an order that enters again gets a higher value.
#[test]
fn priority_follows_queue_order() {
    let mut harness = Harness::new(settings(OrderPath::WithLevels, 47), instruments(), 6);
    harness.drain();
    let best = harness.market.matching().best(0, Side::Bid).unwrap().price;
    let mut place = |quantity| {
        let order = NewOrder::limit(0, Side::Bid, best, quantity, Owner(1));
        let submitted = harness.market.submit(harness.now, &order).unwrap();
        harness.drain();
        submitted.order
    };
    let (first, second) = (place(5), place(5));
    let priority = |harness: &Harness, order: OrderId| {
        harness.follower.books[&1_001].orders[&order.0].priority
    };
    assert!(priority(&harness, first) < priority(&harness, second));
    let replace = |harness: &mut Harness, quantity| {
        let replacement = Replacement { price: best, quantity, ..Replacement::default() };
        let replaced = harness.market.replace(harness.now, first, Owner(1), &replacement);
        assert!(matches!(replaced, Ok(Replaced::Modified { .. })));
        harness.drain();
    };
    // A reduction keeps the priority.
    replace(&mut harness, 4);
    assert!(priority(&harness, first) < priority(&harness, second));
    replace(&mut harness, 6);
    assert!(priority(&harness, first) > priority(&harness, second));
}

#[test]
fn orders_beyond_the_attachment_limit_use_template_47() {
    let mut harness = Harness::new(settings(OrderPath::WithLevels, 47), instruments(), 7);
    harness.drain();
    let price = harness.market.matching().best(0, Side::Bid).unwrap().price;
    for _ in 0..150 {
        let order = NewOrder::limit(0, Side::Bid, price, 1, Owner(1));
        harness.market.submit(harness.now, &order).unwrap();
        harness.drain();
    }
    let best = harness.follower.books[&1_001].side(b'0')[0];
    assert_eq!(best.price, price.0);
    let before = harness.follower.census.clone();
    // The whole level is taken at once, so all its orders are deleted.
    let taken = NewOrder::limit(0, Side::Offer, price, best.quantity as u32, Owner(1));
    harness.market.submit(harness.now, &taken).unwrap();
    harness.drain();
    let census = &harness.follower.census;
    let [beside, apart] = [census.beside[2] - before.beside[2], census.apart[2] - before.apart[2]];
    assert_eq!((beside, beside + apart), (32, best.orders.unwrap() as u64));
}

/// An active book without orders is sent as empty.
#[test]
fn empty_instrument_stays_in_the_order_loop() {
    let mut harness = Harness::new(settings(OrderPath::WithLevels, 47), instruments(), 8);
    harness.drain();
    for side in Side::BOTH {
        let orders = harness.market.matching().orders(5, side);
        let orders: Vec<_> = orders.map(|order| (order.id, order.owner)).collect();
        for (order, owner) in orders {
            harness.market.cancel(harness.now, order, owner).unwrap();
            harness.drain();
        }
    }
    assert!(harness.follower.books[&1_006].orders.is_empty());
    let loops = harness.loops[2];
    for _ in 0..100 {
        harness.pass(Duration::from_millis(10));
        harness.drain();
    }
    assert!(harness.loops[2] > loops + 1);
}

/// CME's page on MBP and MBOFD market recovery: the loop of orders has the price books too, and
/// bids alternate with offers. The follower checks the order of the entries.
#[test]
fn order_loop_contains_price_books_before_the_orders() {
    let mut harness = Harness::new(settings(OrderPath::WithLevels, 7), instruments(), 9);
    harness.drain();
    let mut templates = Vec::new();
    let mut packet = [0; hairpin_exchange::MAX_PAYLOAD];
    while templates.len() < 60 {
        let now = harness.now;
        match harness.market.publisher_mut().poll_transmit(now, &mut packet) {
            None => harness.pass(Duration::from_millis(1)),
            Some(transmit) if transmit.feed == hairpin_exchange::Feed::SnapshotOrders => {
                let packet = crate::follower::Packet::open(&packet[..transmit.length]);
                templates.extend(packet.messages.iter().map(|message| message.template));
            }
            Some(_) => {}
        }
    }
    // Several chunks follow each price book.
    assert!(templates.iter().all(|template| matches!(template, 52 | 53)));
    let books = templates.iter().filter(|&&template| template == 52).count();
    assert!(books > 2 && books * 2 < templates.len(), "{templates:?}");
}
