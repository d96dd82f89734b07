//! The report of one round of an exchange, trader by trader.

use std::fmt;

use hairpin_cli_harness::t2t_setup::ExchangeSetup;
use hairpin_measure::{Row, Style, Table, counted};

use super::exchange_run::ExchangeRun;
use super::trader_stats::{TickCounts, TraderStats};

/// One round, for printing and for the results file.
pub(super) struct RoundReport {
    number: u64,
    traders: Vec<Trader>,
}

struct Trader {
    id: usize,
    counts: TickCounts,
    rows: [Row; 2],
}

impl RoundReport {
    /// Returns the report of the round that `run` has just completed.
    pub(super) fn new(number: u64, run: &ExchangeRun, setup: &ExchangeSetup) -> Self {
        let trader = |(index, trader): (usize, &TraderStats)| {
            let failed = reason_to_fail(trader);
            let rows = run.measurement.rows(trader, setup).map(|row| Row {
                failed: failed.clone(),
                interrupted: run.interrupted,
                seed: Some(setup.load.seed),
                ground: Some(format!("traders over {}", setup.interface)),
                ..row
            });
            Trader { id: index + 1, counts: trader.counts, rows }
        };
        let took_part = |trader: &TraderStats| trader.counts != TickCounts::default();
        let traders = run.measurement.traders().iter().enumerate();
        Self {
            number,
            traders: traders.filter(|(_, trader)| took_part(trader)).map(trader).collect(),
        }
    }

    /// Returns `true` if no trader took part.
    pub(super) fn is_empty(&self) -> bool {
        self.traders.is_empty()
    }

    /// Returns `true` if a row has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.rows().any(|row| row.failed.is_some())
    }

    /// Returns the rows, two for each trader.
    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.traders.iter().flat_map(|trader| &trader.rows)
    }
}

/// Returns why a trader's round does not count. Ticks and orders that were open when its session
/// ended are no reason.
fn reason_to_fail(trader: &TraderStats) -> Option<String> {
    let TickCounts { ticks, lost, abandoned, orders, late_orders, acknowledgements, .. } =
        trader.counts;
    let TickCounts { cancels, orphaned, rejects, unexpected_orders, .. } = trader.counts;
    let all = trader.counts.all_orders();
    let refused = trader.intended_to_order.refused();
    let checks = [
        (ticks == orders + lost + abandoned, {
            let (ticks, orders) = (counted(ticks, "tick"), counted(orders, "order"));
            format!("{ticks} but {orders}, {lost} lost and {abandoned} abandoned")
        }),
        (lost == 0, format!("{} lost, {late_orders} answered late", counted(lost, "tick"))),
        (unexpected_orders == 0, format!("{} without a tick", counted(unexpected_orders, "order"))),
        (
            acknowledgements == all,
            format!("{} but {acknowledgements} acknowledged", counted(all, "order")),
        ),
        (cancels + orphaned == all, {
            format!("{} but {cancels} canceled and {orphaned} left open", counted(all, "order"))
        }),
        (rejects == 0, counted(rejects, "reject")),
        (refused == 0, format!("{} not kept", counted(refused, "sample"))),
    ];
    let failed: Vec<String> =
        checks.into_iter().filter(|(holds, _)| !holds).map(|(_, reason)| reason).collect();
    (!failed.is_empty()).then(|| failed.join("; "))
}

/// Formats a line of counts and a table for each trader.
impl fmt::Display for RoundReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Trader { id, counts, rows } in &self.traders {
            let TickCounts { ticks, orders, acknowledgements, cancels, lost, .. } = counts;
            write!(
                f,
                "round {}, trader {id}: {}, {}, {acknowledgements} acknowledged, {cancels} \
                 canceled, {lost} lost",
                self.number,
                counted(*ticks, "tick"),
                counted(*orders, "order")
            )?;
            if counts.departures > 0 {
                write!(
                    f,
                    "; left {}: {} abandoned, {} left open",
                    counted(counts.departures, "time"),
                    counted(counts.abandoned, "tick"),
                    counted(counts.orphaned, "order")
                )?;
            }
            writeln!(f)?;
            f.write_str(&Table::new(rows).render(Style::for_stdout()))?;
        }
        Ok(())
    }
}
