//! Whether a row may be believed: what must add up between the two processes.

use crate::setup::{ExchangeOutcome, Load, TraderOutcome};

/// Why the row does not count, or nothing.
///
/// Every tick is answered or lost, every order is acknowledged and cancelled, the two sides agree
/// on all three, and the trader never missed market data nor saw a reject. An interrupted row is
/// held to the same but for its length.
pub(crate) fn reason_to_fail(
    load: &Load,
    exchange: &ExchangeOutcome,
    trader: &TraderOutcome,
) -> Option<String> {
    let expected = if load.matching { load.warm_up + load.samples } else { 0 };
    let checks = [
        (exchange.interrupted || exchange.ticks == expected, {
            format!("{} ticks instead of {expected}", exchange.ticks)
        }),
        (exchange.ticks == exchange.orders + exchange.lost, {
            format!(
                "{} ticks but {} orders and {} lost",
                exchange.ticks, exchange.orders, exchange.lost
            )
        }),
        (exchange.lost == 0, format!("{} ticks lost", exchange.lost)),
        (exchange.unexpected_orders == 0, {
            format!("{} orders without a tick", exchange.unexpected_orders)
        }),
        (all_equal([exchange.orders, exchange.acknowledgements, exchange.cancels]), {
            format!(
                "exchange: {} orders, {} acknowledged, {} cancelled",
                exchange.orders, exchange.acknowledgements, exchange.cancels
            )
        }),
        (
            all_equal([trader.orders, trader.acknowledgements, trader.cancels])
                && trader.orders == exchange.orders,
            {
                format!(
                    "trader: {} orders, {} acknowledged, {} cancelled; exchange: {} orders",
                    trader.orders, trader.acknowledgements, trader.cancels, exchange.orders
                )
            },
        ),
        (trader.gaps == 0, format!("{} gaps in the market data", trader.gaps)),
        (trader.unsynced == 0, format!("{} times a book out of sync", trader.unsynced)),
        (exchange.rejects + trader.rejects == 0, {
            format!("{} rejects sent, {} received", exchange.rejects, trader.rejects)
        }),
        (trader.errors == 0, {
            let first = trader.first_error.as_deref().unwrap_or("unknown");
            format!("{} errors at the trader, the first: {first}", trader.errors)
        }),
    ];
    let failed: Vec<String> =
        checks.into_iter().filter(|(holds, _)| !holds).map(|(_, reason)| reason).collect();
    (!failed.is_empty()).then(|| failed.join("; "))
}

fn all_equal(counts: [u64; 3]) -> bool {
    counts[0] == counts[1] && counts[1] == counts[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load =
        Load { interval_us: 500, warm_up: 1, samples: 9, seed: 1, matching: true, mute_b: None };

    fn exchange() -> ExchangeOutcome {
        ExchangeOutcome {
            rows: Vec::new(),
            ticks: 10,
            lost: 0,
            orders: 10,
            acknowledgements: 10,
            cancels: 10,
            rejects: 0,
            unexpected_orders: 0,
            interrupted: false,
        }
    }

    fn trader() -> TraderOutcome {
        TraderOutcome { orders: 10, acknowledgements: 10, cancels: 10, ..TraderOutcome::default() }
    }

    #[test]
    fn passes_what_adds_up() {
        assert_eq!(reason_to_fail(&LOAD, &exchange(), &trader()), None);
    }

    #[test]
    fn fails_each_thing_that_does_not_add_up() {
        let exchanges: [fn(&mut ExchangeOutcome); 8] = [
            |it| it.ticks -= 1,
            |it| it.ticks += 1,
            |it| it.lost += 1,
            |it| it.orders -= 1,
            |it| it.acknowledgements -= 1,
            |it| it.cancels -= 1,
            |it| it.rejects += 1,
            |it| it.unexpected_orders += 1,
        ];
        for (index, change) in exchanges.iter().enumerate() {
            let mut outcome = exchange();
            change(&mut outcome);
            assert!(reason_to_fail(&LOAD, &outcome, &trader()).is_some(), "exchange {index}");
        }
        let traders: [fn(&mut TraderOutcome); 7] = [
            |it| it.orders -= 1,
            |it| it.acknowledgements -= 1,
            |it| it.cancels -= 1,
            |it| it.rejects += 1,
            |it| it.gaps += 1,
            |it| it.unsynced += 1,
            |it| it.errors += 1,
        ];
        for (index, change) in traders.iter().enumerate() {
            let mut outcome = trader();
            change(&mut outcome);
            assert!(reason_to_fail(&LOAD, &exchange(), &outcome).is_some(), "trader {index}");
        }
    }

    #[test]
    fn an_interrupted_row_may_be_shorter_but_must_add_up() {
        let mut outcome = ExchangeOutcome { ticks: 10, interrupted: true, ..exchange() };
        let load = Load { samples: 500, ..LOAD };
        assert_eq!(reason_to_fail(&load, &outcome, &trader()), None);
        outcome.lost = 1;
        assert!(reason_to_fail(&load, &outcome, &trader()).is_some());
    }

    #[test]
    fn without_matching_there_must_be_no_tick() {
        let load = Load { matching: false, ..LOAD };
        assert!(reason_to_fail(&load, &exchange(), &trader()).is_some());
        let none =
            ExchangeOutcome { ticks: 0, orders: 0, acknowledgements: 0, cancels: 0, ..exchange() };
        assert_eq!(reason_to_fail(&load, &none, &TraderOutcome::default()), None);
    }
}
