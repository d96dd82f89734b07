//! Whether a row is valid: the counts of the two processes that must agree.

use hairpin_cli_harness::t2t_setup::{ExchangeOutcome, Load, TraderOutcome};
use hairpin_measure::counted;

/// Packets that may arrive between joining side A and side B.
const JOINING: u64 = 64;

/// Returns why the row is not valid, or `None`.
///
/// Every tick is answered or lost, every order is acknowledged and canceled, both processes agree
/// on all three, and the trader missed no market data and received no reject. The same holds for an
/// interrupted row, except for its length.
pub(crate) fn reason_to_fail(
    load: &Load,
    exchange: &ExchangeOutcome,
    trader: &TraderOutcome,
) -> Option<String> {
    let checks = sums(load, exchange, trader).into_iter().chain(transport(load, exchange, trader));
    let failed: Vec<String> =
        checks.filter(|(holds, _)| !holds).map(|(_, reason)| reason).collect();
    (!failed.is_empty()).then(|| failed.join("; "))
}

/// A condition that must hold, and the message if it does not.
type Check = (bool, String);

/// Ticks, orders, acknowledgments and cancels add up, and nothing was refused.
fn sums(load: &Load, exchange: &ExchangeOutcome, trader: &TraderOutcome) -> [Check; 10] {
    let expected = if load.matching { load.warm_up + load.samples } else { 0 };
    [
        (exchange.interrupted || exchange.ticks == expected, {
            format!("{} instead of {expected}", counted(exchange.ticks, "tick"))
        }),
        (exchange.ticks == exchange.orders + exchange.lost, {
            format!(
                "{} but {} and {} lost",
                counted(exchange.ticks, "tick"),
                counted(exchange.orders, "order"),
                exchange.lost
            )
        }),
        (exchange.lost == 0, format!("{} lost", counted(exchange.lost, "tick"))),
        (exchange.unexpected_orders == 0, {
            format!("{} without a tick", counted(exchange.unexpected_orders, "order"))
        }),
        (all_equal([exchange.orders, exchange.acknowledgements, exchange.cancels]), {
            format!(
                "exchange: {}, {} acknowledged, {} canceled",
                counted(exchange.orders, "order"),
                exchange.acknowledgements,
                exchange.cancels
            )
        }),
        (
            all_equal([trader.orders, trader.acknowledgements, trader.cancels])
                && trader.orders == exchange.orders,
            {
                format!(
                    "trader: {}, {} acknowledged, {} canceled; exchange: {}",
                    counted(trader.orders, "order"),
                    trader.acknowledgements,
                    trader.cancels,
                    counted(exchange.orders, "order")
                )
            },
        ),
        (trader.gaps == 0, gaps(trader)),
        (
            trader.unsynced == 0,
            format!("a book was out of sync {}", counted(trader.unsynced, "time")),
        ),
        (exchange.rejects + trader.rejects == 0, {
            format!("{} sent, {} received", counted(exchange.rejects, "reject"), trader.rejects)
        }),
        (trader.errors == 0, {
            let first = trader.first_error.as_deref().unwrap_or("unknown");
            format!("{} at the trader, the first: {first}", counted(trader.errors, "error"))
        }),
    ]
}

/// Neither process dropped anything, and every sample was kept.
fn transport(load: &Load, exchange: &ExchangeOutcome, trader: &TraderOutcome) -> [Check; 6] {
    let sent = |side: usize| trader.packets[side] + exchange.muted_datagrams[side];
    [
        (
            exchange.interrupted
                || !load.matching
                || exchange.rows.iter().all(|row| row.samples + row.lost >= load.samples),
            "fewer samples than requested".to_owned(),
        ),
        (exchange.refused_samples == 0, {
            format!("{} not kept", counted(exchange.refused_samples, "sample"))
        }),
        (exchange.lost_datagrams == 0, {
            format!("{} not sent by the exchange", counted(exchange.lost_datagrams, "packet"))
        }),
        (trader.kernel_drops == 0, {
            format!("{} dropped at the trader's sockets", counted(trader.kernel_drops, "packet"))
        }),
        // The first packets may arrive when one side is joined and the other is not. Withheld
        // packets include those of the loops.
        (trader.packets[0] <= sent(1) + JOINING && trader.packets[1] <= sent(0) + JOINING, {
            format!(
                "side A delivered {}, side B {}",
                counted(trader.packets[0], "packet"),
                trader.packets[1]
            )
        }),
        (exchange.interrupted || is_muted_as_asked(load, exchange, trader), {
            let [a, b] = exchange.muted_datagrams;
            format!("{} of side A withheld, {b} of side B", counted(a, "packet"))
        }),
    ]
}

/// A side was silent for as many packets as configured, and the trader missed them there; or it was
/// never silent.
fn is_muted_as_asked(load: &Load, exchange: &ExchangeOutcome, trader: &TraderOutcome) -> bool {
    [load.outage_a, load.outage_b].iter().enumerate().all(|(side, mute)| {
        let withheld = exchange.muted_datagrams[side];
        let [here, there] = [trader.packets[side], trader.packets[1 - side]];
        let also_there = exchange.muted_datagrams[1 - side];
        match mute {
            Some(mute) => {
                withheld >= mute.ticks && here + mute.ticks <= there + also_there + JOINING
            }
            None => withheld == 0,
        }
    })
}

fn all_equal(counts: [u64; 3]) -> bool {
    counts[0] == counts[1] && counts[1] == counts[2]
}

/// Returns how many gaps there were, where the first was, and of how many packets.
fn gaps(trader: &TraderOutcome) -> String {
    let first = trader.first_gap.map(|(packet, count)| {
        let [a, b] = trader.packets;
        let count = counted(count, "packet");
        format!(", the first of {count} from number {packet} ({a} arrived on A, {b} on B)")
    });
    format!("{} in the market data{}", counted(trader.gaps, "gap"), first.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use hairpin_cli_harness::t2t_setup::{ExchangeStart, LineOutage};

    use super::*;

    const LOAD: Load = Load {
        interval_us: 500,
        warm_up: 1,
        samples: 9,
        seed: 1,
        matching: true,
        outage_a: None,
        outage_b: None,
    };

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
            refused_samples: 0,
            lost_datagrams: 0,
            muted_datagrams: [0; 2],
            interrupted: false,
            start: ExchangeStart::default(),
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
        let exchanges: [fn(&mut ExchangeOutcome); 12] = [
            |it| it.muted_datagrams[0] += 1,
            |it| it.muted_datagrams[1] += 1,
            |it| it.refused_samples += 1,
            |it| it.lost_datagrams += 1,
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
        let traders: [fn(&mut TraderOutcome); 10] = [
            |it| it.kernel_drops += 1,
            |it| it.packets = [JOINING + 1, 0],
            |it| it.packets = [0, JOINING + 1],
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
    fn reports_position_of_gap() {
        let outcome = TraderOutcome { gaps: 2, first_gap: Some((17, 3)), ..trader() };
        let reason = reason_to_fail(&LOAD, &exchange(), &outcome).unwrap();
        let expected = "2 gaps in the market data, the first of 3 packets from number 17 (";
        assert!(reason.starts_with(expected), "{reason}");
    }

    #[test]
    fn checks_counts_of_interrupted_row() {
        let mut outcome = ExchangeOutcome { ticks: 10, interrupted: true, ..exchange() };
        let load = Load { samples: 500, ..LOAD };
        assert_eq!(reason_to_fail(&load, &outcome, &trader()), None);
        outcome.lost = 1;
        assert!(reason_to_fail(&load, &outcome, &trader()).is_some());
    }

    #[test]
    fn requires_configured_silence() {
        let mute = Some(LineOutage { from_tick: 2, ticks: 100 });
        let sides: [(Load, [u64; 2], [u64; 2]); 2] = [
            (Load { outage_a: mute, ..LOAD }, [100, 0], [200, 300]),
            (Load { outage_b: mute, ..LOAD }, [0, 100], [300, 200]),
        ];
        for (load, muted_datagrams, packets) in sides {
            assert!(reason_to_fail(&load, &exchange(), &trader()).is_some());
            let muted = ExchangeOutcome { muted_datagrams, ..exchange() };
            assert!(reason_to_fail(&load, &muted, &trader()).is_some());
            let without = TraderOutcome { packets, ..trader() };
            assert_eq!(reason_to_fail(&load, &muted, &without), None);
        }
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
