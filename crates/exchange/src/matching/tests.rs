//! The rules of the book, and random order flow compared with a sorting model.

use proptest::prelude::*;

use super::*;
use hairpin_sbe::Decimal;

const TICK: i64 = 250_000_000;
const TERMS: Terms = Terms { tick: Decimal(TICK), protection: Decimal(5 * TICK) };

fn engine() -> (Matching, Accumulator) {
    let matching = Matching::new([TERMS; 2], Capacity { orders: 64, levels: 16 });
    let events = matching.accumulator();
    (matching, events)
}

fn order(side: Side, ticks: i64, quantity: u32) -> NewOrder {
    NewOrder::limit(1, side, Decimal(ticks * TICK), quantity, Owner::BACKGROUND)
}

fn levels(matching: &Matching, side: Side) -> Vec<(i64, u32, u32)> {
    let view = |level: PriceLevel| (level.price.0 / TICK, level.quantity, level.orders);
    matching.levels(1, side).map(view).collect()
}

use Side::{Bid, Offer};

#[test]
fn rests_by_price_then_time() {
    let (mut matching, mut events) = engine();
    for (ticks, quantity) in [(10, 5), (12, 1), (11, 2), (12, 3)] {
        matching.submit(&order(Bid, ticks, quantity), &mut events).unwrap();
    }
    assert_eq!(levels(&matching, Bid), [(12, 4, 2), (11, 2, 1), (10, 5, 1)]);
    let queue: Vec<u32> = matching.orders_at_best(1, Bid).map(|order| order.quantity).collect();
    assert_eq!(queue, [1, 3]);
    assert_eq!((events.touched(), events.trades()), ([1].as_slice(), [].as_slice()));
}

#[test]
fn trades_in_priority_and_rests_the_remainder() {
    let (mut matching, mut events) = engine();
    let mut ids = Vec::new();
    for (ticks, quantity) in [(20, 5), (20, 3), (21, 4), (23, 9)] {
        ids.push(matching.submit(&order(Offer, ticks, quantity), &mut events).unwrap().order);
    }
    events.clear();
    let aggressor = matching.submit(&order(Bid, 22, 14), &mut events).unwrap();
    assert_eq!(aggressor.remaining, 2);
    let trades: Vec<_> = events
        .trades()
        .iter()
        .map(|trade| {
            let fills = events.fills_of(trade).iter().map(|fill| (fill.order, fill.quantity));
            (trade.price.0 / TICK, trade.quantity, trade.aggressor, fills.collect::<Vec<_>>())
        })
        .collect();
    let id = aggressor.order;
    assert_eq!(
        trades,
        [
            (20, 8, Bid, vec![(id, 8), (ids[0], 5), (ids[1], 3)]),
            (21, 4, Bid, vec![(id, 4), (ids[2], 4)]),
        ]
    );
    assert_eq!(levels(&matching, Bid), [(22, 2, 1)]);
    assert_eq!(levels(&matching, Offer), [(23, 9, 1)]);
    assert_eq!(matching.volume(1), 12);
}

#[test]
fn partial_fill_keeps_priority() {
    let (mut matching, mut events) = engine();
    let first = matching.submit(&order(Bid, 10, 5), &mut events).unwrap().order;
    matching.submit(&order(Bid, 10, 7), &mut events).unwrap();
    matching.submit(&order(Offer, 10, 2), &mut events).unwrap();
    let best = matching.orders_at_best(1, Bid).next().unwrap();
    assert_eq!((best.id, best.quantity, best.remaining), (first, 5, 3));
    assert_eq!(levels(&matching, Bid), [(10, 10, 2)]);
    let fills = events.fills_of(&events.trades()[0]);
    assert_eq!((fills[0].remaining, fills[1].remaining), (0, 3));
}

#[test]
fn cancels_at_any_queue_position() {
    for target in 0..3 {
        let (mut matching, mut events) = engine();
        let ids = [1, 2, 3]
            .map(|quantity| matching.submit(&order(Bid, 10, quantity), &mut events).unwrap().order);
        assert_eq!(matching.cancel(ids[target], &mut events).unwrap().quantity, target as u32 + 1);
        let left: Vec<_> = matching.orders_at_best(1, Bid).map(|order| order.id).collect();
        let expected: Vec<_> = ids.into_iter().filter(|&id| id != ids[target]).collect();
        assert_eq!(left, expected);
        assert_eq!(levels(&matching, Bid), [(10, 6 - (target as u32 + 1), 2)]);
    }
}

#[test]
fn stale_order_id_cancels_nothing() {
    let (mut matching, mut events) = engine();
    let first = matching.submit(&order(Bid, 10, 5), &mut events).unwrap().order;
    assert!(matching.cancel(first, &mut events).is_some());
    assert!(matching.cancel(first, &mut events).is_none());
    let second = matching.submit(&order(Bid, 10, 5), &mut events).unwrap().order;
    assert_eq!(first.slot(), second.slot());
    assert!(matching.cancel(first, &mut events).is_none());
    assert!(matching.order(second).is_some());
    assert!(matching.cancel(OrderId::NONE, &mut events).is_none());
    assert!(matching.cancel(OrderId(u64::MAX), &mut events).is_none());
}

#[test]
fn rejects_invalid_orders_without_effect() {
    let (mut matching, mut events) = engine();
    let valid = order(Bid, 10, 5);
    for (invalid, rejection) in [
        (NewOrder { instrument: 2, ..valid }, Rejection::UnknownInstrument),
        (NewOrder { quantity: 0, ..valid }, Rejection::Quantity),
        (NewOrder { quantity: NewOrder::MAX_QUANTITY + 1, ..valid }, Rejection::Quantity),
        (NewOrder { price: Decimal(10 * TICK + 1), ..valid }, Rejection::Price),
        (NewOrder { price: Decimal(i64::MIN / TICK * TICK), ..valid }, Rejection::Price),
        (NewOrder { price: Decimal(i64::MAX / TICK * TICK), ..valid }, Rejection::Price),
    ] {
        assert_eq!(matching.submit(&invalid, &mut events), Err(rejection));
    }
    assert!(events.is_empty());
    assert_eq!(matching.resting(), 0);
}

#[test]
fn rejects_orders_beyond_the_level_capacity() {
    let (mut matching, mut events) = engine();
    for ticks in 1..=16 {
        matching.submit(&order(Bid, ticks, 1), &mut events).unwrap();
        events.clear();
    }
    assert_eq!(matching.submit(&order(Bid, 16, 1), &mut events), Err(Rejection::Full));
    assert!(matching.levels.is_full() && !matching.orders.is_full());
}

/// Rejects submissions that may need more room than uncleared fills leave.
#[test]
fn rejects_orders_when_the_accumulator_is_full() {
    let (mut matching, mut events) = engine();
    let capacity = events.capacity();
    let rejected = (0..1_000).find_map(|_| {
        matching.submit(&order(Offer, 10, 1), &mut events).unwrap();
        matching.submit(&order(Bid, 10, 1), &mut events).err()
    });
    assert_eq!((rejected, events.capacity()), (Some(Rejection::Full), capacity));
    events.clear();
    assert_eq!(matching.submit(&order(Bid, 10, 1), &mut events).unwrap().remaining, 0);

    let to =
        |ticks| Replacement { price: Decimal(ticks * TICK), quantity: 5, ..Replacement::default() };
    events.clear();
    let id = matching.submit(&order(Bid, 5, 5), &mut events).unwrap().order;
    let rejected = (0..1_000).find_map(|_| {
        matching.submit(&order(Offer, 10, 1), &mut events).unwrap();
        let rejected = matching.replace(id, &to(10), &mut events).err();
        rejected.or_else(|| matching.replace(id, &to(5), &mut events).err())
    });
    assert_eq!((rejected, events.capacity()), (Some(Rejection::Full), capacity));
    assert_eq!(
        (levels(&matching, Bid), levels(&matching, Offer)),
        (vec![(5, 5, 1)], vec![(10, 1, 1)])
    );
}

#[test]
fn splits_a_trade_with_too_many_fills() {
    let terms = Terms { tick: Decimal(1), protection: Decimal(0) };
    let mut matching = Matching::new([terms], Capacity { orders: 200, levels: 4 });
    let mut events = matching.accumulator();
    let at = |side, quantity| NewOrder::limit(0, side, Decimal(7), quantity, Owner::BACKGROUND);
    for _ in 0..100 {
        matching.submit(&at(Offer, 2), &mut events).unwrap();
    }
    events.clear();
    let aggressor = matching.submit(&at(Bid, 200), &mut events).unwrap().order;
    let fills: Vec<_> = events.trades().iter().map(|trade| events.fills_of(trade)).collect();
    assert_eq!(fills.iter().map(|fills| fills.len()).collect::<Vec<_>>(), [64, 38]);
    assert!(fills.iter().all(|fills| fills[0].order == aggressor));
    assert_eq!((fills[0][0].quantity, fills[1][0].quantity), (126, 74));
    assert_eq!((fills[0][0].remaining, fills[1][0].remaining), (74, 0));
}

/// A simple implementation of the rules: all orders in one list, sorted each time.
#[derive(Default)]
struct Model {
    orders: Vec<(OrderId, Side, i64, u32)>,
}

impl Model {
    /// Returns the indices of a side's orders in priority; submission order breaks ties.
    fn queue(&self, side: Side) -> Vec<usize> {
        let mut queue: Vec<_> =
            (0..self.orders.len()).filter(|&i| self.orders[i].1 == side).collect();
        queue.sort_by_key(|&i| {
            let ticks = self.orders[i].2;
            if side == Bid { -ticks } else { ticks }
        });
        queue
    }

    fn submit(&mut self, id: OrderId, side: Side, ticks: i64, mut quantity: u32) -> u32 {
        let mut traded = 0;
        for i in self.queue(side.opposite()) {
            let resting = &mut self.orders[i];
            let crosses = if side == Bid { resting.2 <= ticks } else { resting.2 >= ticks };
            if crosses {
                let both = quantity.min(resting.3);
                (quantity, resting.3, traded) = (quantity - both, resting.3 - both, traded + both);
            }
        }
        self.orders.push((id, side, ticks, quantity));
        self.orders.retain(|order| order.3 > 0);
        traded
    }

    fn levels(&self, side: Side) -> Vec<(i64, u32, u32)> {
        let mut levels: Vec<(i64, u32, u32)> = Vec::new();
        for i in self.queue(side) {
            let (_, _, ticks, quantity) = self.orders[i];
            match levels.last_mut().filter(|level| level.0 == ticks) {
                Some(level) => (level.1, level.2) = (level.1 + quantity, level.2 + 1),
                None => levels.push((ticks, quantity, 1)),
            }
        }
        levels
    }
}

#[derive(Debug, Clone)]
enum Command {
    Submit {
        side: Side,
        ticks: i64,
        quantity: u32,
    },
    /// Cancels the `nth` submitted order, modulo their number.
    Cancel {
        nth: usize,
    },
}

fn command() -> impl Strategy<Value = Command> {
    let side = prop_oneof![Just(Bid), Just(Offer)];
    prop_oneof![
        3 => (side, 90_i64..110, 1_u32..30)
            .prop_map(|(side, ticks, quantity)| Command::Submit { side, ticks, quantity }),
        1 => any::<usize>().prop_map(|nth| Command::Cancel { nth }),
    ]
}

proptest! {
    #[test]
    fn matches_the_sorting_model(commands in prop::collection::vec(command(), 1..300)) {
        let mut matching = Matching::new([TERMS; 2], Capacity { orders: 400, levels: 64 });
        let mut events = matching.accumulator();
        let (mut model, mut ids) = (Model::default(), Vec::new());
        let mut volume = 0;
        for command in commands {
            match command {
                Command::Submit { side, ticks, quantity } => {
                    let new = order(side, ticks, quantity);
                    let submitted = matching.submit(&new, &mut events).unwrap();
                    let traded = model.submit(submitted.order, side, ticks, quantity);
                    prop_assert_eq!(submitted.remaining, quantity - traded);
                    volume += u64::from(traded);
                    ids.push(submitted.order);
                }
                Command::Cancel { nth } if !ids.is_empty() => {
                    let id = ids[nth % ids.len()];
                    let expected = model.orders.iter().find(|order| order.0 == id).map(|o| o.3);
                    let cancelled = matching.cancel(id, &mut events);
                    prop_assert_eq!(cancelled.map(|order| order.remaining), expected);
                    model.orders.retain(|order| order.0 != id);
                }
                Command::Cancel { .. } => {}
            }
            for side in Side::BOTH {
                prop_assert_eq!(levels(&matching, side), model.levels(side));
                prop_assert_eq!(matching.depth(1, side) as usize, model.levels(side).len());
                let queue: Vec<_> = matching.orders_at_best(1, side).map(|o| o.id).collect();
                let expected = model.queue(side).into_iter().map(|i| model.orders[i].0);
                prop_assert!(expected.take(queue.len()).eq(queue));
            }
            let (bid, offer) = (matching.best(1, Bid), matching.best(1, Offer));
            prop_assert!(bid.zip(offer).is_none_or(|(bid, offer)| bid.price < offer.price));
            let traded: u64 = events.trades().iter().map(|trade| u64::from(trade.quantity)).sum();
            prop_assert_eq!((traded, matching.volume(1)), (volume, volume));
            for trade in events.trades() {
                let fills = events.fills_of(trade);
                let resting: u32 = fills[1..].iter().map(|fill| fill.quantity).sum();
                prop_assert_eq!((trade.quantity, fills[0].quantity), (resting, resting));
            }
            prop_assert_eq!(matching.resting() as usize, model.orders.len());
        }
    }
}
