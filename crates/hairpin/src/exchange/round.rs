//! What one round of an exchange gave, trader by trader.

use std::fmt;

use hairpin_measure::{Row, Style, Table};

use super::desk::{Counts, Desk};
use super::run::Run;
use crate::setup::ExchangeSetup;

/// One round, for a person and for the results file.
pub(super) struct Round {
    number: u64,
    traders: Vec<Trader>,
}

struct Trader {
    id: usize,
    counts: Counts,
    rows: [Row; 2],
}

impl Round {
    /// What `run` has just gone through.
    pub(super) fn of(number: u64, run: &Run, setup: &ExchangeSetup) -> Self {
        let trader = |(index, desk): (usize, &Desk)| {
            let failed = reason_to_fail(desk);
            let rows = run.recording.rows(desk, setup).map(|row| Row {
                failed: failed.clone(),
                interrupted: run.interrupted,
                seed: Some(setup.load.seed),
                ground: Some(format!("traders by way of {}", setup.interface)),
                ..row
            });
            Trader { id: index + 1, counts: desk.counts, rows }
        };
        let took_part = |desk: &Desk| desk.counts != Counts::default();
        let desks = run.recording.desks().iter().enumerate();
        Self { number, traders: desks.filter(|(_, desk)| took_part(desk)).map(trader).collect() }
    }

    /// Whether no trader took part.
    pub(super) fn is_empty(&self) -> bool {
        self.traders.is_empty()
    }

    /// Whether something does not add up.
    pub(super) fn has_failed(&self) -> bool {
        self.rows().any(|row| row.failed.is_some())
    }

    /// Two a trader.
    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.traders.iter().flat_map(|trader| &trader.rows)
    }
}

/// Why a trader's round does not count, or nothing. What a trader left open when its session ended
/// is explained by that, and no reason.
fn reason_to_fail(desk: &Desk) -> Option<String> {
    let Counts { ticks, lost, abandoned, orders, late_orders, acknowledgements, .. } = desk.counts;
    let Counts { cancels, orphaned, rejects, unexpected_orders, .. } = desk.counts;
    let all = desk.counts.all_orders();
    let refused = desk.intended_to_order.refused();
    let checks = [
        (ticks == orders + lost + abandoned, {
            format!("{ticks} ticks but {orders} orders, {lost} lost and {abandoned} abandoned")
        }),
        (lost == 0, format!("{lost} ticks lost, {late_orders} of them answered late")),
        (unexpected_orders == 0, format!("{unexpected_orders} orders without a tick")),
        (acknowledgements == all, format!("{all} orders but {acknowledgements} acknowledged")),
        (cancels + orphaned == all, {
            format!("{all} orders but {cancels} cancelled and {orphaned} left behind")
        }),
        (rejects == 0, format!("{rejects} rejects")),
        (refused == 0, format!("{refused} samples not kept")),
    ];
    let failed: Vec<String> =
        checks.into_iter().filter(|(holds, _)| !holds).map(|(_, reason)| reason).collect();
    (!failed.is_empty()).then(|| failed.join("; "))
}

/// A line of counts for each trader, and the table.
impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Trader { id, counts, rows } in &self.traders {
            let Counts { ticks, orders, acknowledgements, cancels, lost, .. } = counts;
            write!(
                f,
                "round {}, trader {id}: {ticks} ticks, {orders} orders, {acknowledgements} \
                 acknowledged, {cancels} cancelled, {lost} lost",
                self.number
            )?;
            if counts.departures > 0 {
                write!(
                    f,
                    "; left {} times: {} ticks abandoned, {} orders left behind",
                    counts.departures, counts.abandoned, counts.orphaned
                )?;
            }
            writeln!(f)?;
            f.write_str(&Table::new(rows).render(Style::for_stdout()))?;
        }
        Ok(())
    }
}
