//! What rounds have measured, and the ratios between them.

use std::fs;
use std::io;
use std::path::Path;

use hairpin_xdp::Mode;
use serde_json::{Value, json};

use crate::arguments::Way;
use crate::rally::Sample;
use crate::stand::{Side, Stand};

/// The ratios that are printed for each mode.
pub(crate) const RATIOS: [(Way, Way); 6] = [
    (Way::Raw, Way::KernelUdp),
    (Way::Raw, Way::Minimal),
    (Way::RawShared, Way::Minimal),
    (Way::Udp, Way::Raw),
    (Way::Udp, Way::KernelUdp),
    (Way::Minimal, Way::KernelUdp),
];

/// Half round trips of one round, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) lost: u64,
    pub(crate) late: u64,
}

/// The rounds of all sides.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) sides: Vec<(Side, Vec<Round>)>,
}

impl Results {
    pub(crate) fn new(sides: &[Side]) -> Self {
        Self { sides: sides.iter().map(|&side| (side, Vec::new())).collect() }
    }

    /// Takes what a round has measured; one in which a side has no samples is none.
    pub(crate) fn add(&mut self, samples: Vec<Sample>) {
        if samples.iter().any(|sample| sample.round_trips.is_empty()) {
            return;
        }
        for ((_, rounds), sample) in self.sides.iter_mut().zip(samples) {
            let Sample { mut round_trips, lost, late, .. } = sample;
            round_trips.sort_unstable();
            let at = |part: f64| {
                let index = (round_trips.len() - 1) as f64 * part;
                round_trips[index as usize] as f64 / 2.0
            };
            rounds.push(Round { p50: at(0.5), p99: at(0.99), lost, late });
        }
    }

    /// The median of the ratios of rounds that were run together, and the least and the greatest.
    pub(crate) fn ratio(&self, of: Side, to: Side) -> Option<[f64; 3]> {
        let rounds = |side| self.sides.iter().find(|(it, _)| *it == side).map(|(_, it)| it);
        let pairs = rounds(of)?.iter().zip(rounds(to)?);
        spread(pairs.map(|(of, to)| of.p50 / to.p50).collect())
    }

    /// Every ratio that can be told, with the two sides.
    pub(crate) fn ratios(&self) -> Vec<(Side, Side, [f64; 3])> {
        let mut ratios = Vec::new();
        for (of, to) in RATIOS {
            for mode in [Mode::Generic, Mode::Native] {
                let of = Side { way: of, mode: Some(mode) };
                let to = Side { way: to, mode: (to != Way::KernelUdp).then_some(mode) };
                ratios.extend(self.ratio(of, to).map(|ratio| (of, to, ratio)));
            }
        }
        ratios
    }

    /// Writes all rounds and what follows from them.
    pub(crate) fn save(&self, file: &Path, stand: &Stand) -> io::Result<()> {
        let rows: Vec<Value> = self.sides.iter().map(|(side, rounds)| row(*side, rounds)).collect();
        let ratios: Vec<Value> = self
            .ratios()
            .into_iter()
            .map(|(of, to, [median, least, most])| {
                json!({ "of": of.way.name(), "to": to.way.name(), "mode": of.mode_name(),
                        "median": median, "min": least, "max": most })
            })
            .collect();
        let all = json!({ "stand": stand.describe(), "unit": "ns, half round trips",
                          "rows": rows, "ratios": ratios });
        fs::write(file, format!("{all:#}\n"))
    }
}

fn row(side: Side, rounds: &[Round]) -> Value {
    let round =
        |it: &Round| json!({ "p50": it.p50, "p99": it.p99, "lost": it.lost, "late": it.late });
    json!({ "way": side.way.name(), "mode": side.mode_name(),
            "rounds": rounds.iter().map(round).collect::<Vec<_>>() })
}

/// Median, least and greatest.
pub(crate) fn spread(mut values: Vec<f64>) -> Option<[f64; 3]> {
    values.sort_by(f64::total_cmp);
    let (least, most) = (*values.first()?, *values.last()?);
    let middle = values.len() / 2;
    let median = if values.len() % 2 == 1 {
        values[middle]
    } else {
        (values[middle - 1] + values[middle]) / 2.0
    };
    Some([median, least, most])
}
