//! The results of the rounds, and their ratios.

use std::fs;
use std::io;
use std::path::Path;

use hairpin_xdp::Mode;
use serde_json::{Value, json};

use crate::args::Transport;
use crate::ping_loop::Sample;
use crate::run_context::{BenchCase, RunContext};

/// The ratios printed for each mode.
pub(crate) const RATIOS: [(Transport, Transport); 9] = [
    (Transport::Raw, Transport::KernelUdp),
    (Transport::Raw, Transport::Minimal),
    (Transport::RawShared, Transport::Minimal),
    (Transport::Udp, Transport::Raw),
    (Transport::Udp, Transport::KernelUdp),
    (Transport::Minimal, Transport::KernelUdp),
    (Transport::Tcp, Transport::Minimal),
    (Transport::Tcp, Transport::KernelTcp),
    (Transport::Tcp, Transport::Udp),
];

/// The half round trips of one round, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) lost: u64,
    pub(crate) late: u64,
}

/// The rounds of all cases.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) cases: Vec<(BenchCase, Vec<Round>)>,
}

impl Results {
    pub(crate) fn new(cases: &[BenchCase]) -> Self {
        Self { cases: cases.iter().map(|&case| (case, Vec::new())).collect() }
    }

    /// Adds the samples of a round; a round in which a case has no samples is discarded.
    pub(crate) fn add(&mut self, samples: Vec<Sample>) {
        if samples.iter().any(|sample| sample.round_trips.is_empty()) {
            return;
        }
        for ((_, rounds), sample) in self.cases.iter_mut().zip(samples) {
            let Sample { mut round_trips, lost, late, .. } = sample;
            round_trips.sort_unstable();
            let at = |part: f64| {
                let index = (round_trips.len() - 1) as f64 * part;
                round_trips[index as usize] as f64 / 2.0
            };
            rounds.push(Round { p50: at(0.5), p99: at(0.99), lost, late });
        }
    }

    /// Returns the median, minimum and maximum of the ratios within rounds.
    pub(crate) fn ratio(&self, of: BenchCase, to: BenchCase) -> Option<[f64; 3]> {
        let rounds = |case| self.cases.iter().find(|(it, _)| *it == case).map(|(_, it)| it);
        let pairs = rounds(of)?.iter().zip(rounds(to)?);
        spread(pairs.map(|(of, to)| of.p50 / to.p50).collect())
    }

    /// Returns all available ratios with their two cases.
    pub(crate) fn ratios(&self) -> Vec<(BenchCase, BenchCase, [f64; 3])> {
        let mut ratios = Vec::new();
        for (of, to) in RATIOS {
            for mode in [Mode::Generic, Mode::Native] {
                let of = BenchCase { transport: of, mode: Some(mode) };
                let to = BenchCase { transport: to, mode: (!to.is_kernel()).then_some(mode) };
                ratios.extend(self.ratio(of, to).map(|ratio| (of, to, ratio)));
            }
        }
        ratios
    }

    /// Writes all rounds and ratios as JSON.
    pub(crate) fn save(&self, file: &Path, run_context: &RunContext) -> io::Result<()> {
        let rows: Vec<Value> = self.cases.iter().map(|(case, rounds)| row(*case, rounds)).collect();
        let ratios: Vec<Value> = self
            .ratios()
            .into_iter()
            .map(|(of, to, [median, least, most])| {
                json!({ "of": of.transport.name(), "to": to.transport.name(),
                        "mode": of.mode_name(), "median": median, "min": least, "max": most })
            })
            .collect();
        let all = json!({ "stand": run_context.describe(), "unit": "ns, half round trips",
                          "rows": rows, "ratios": ratios });
        fs::write(file, format!("{all:#}\n"))
    }
}

fn row(case: BenchCase, rounds: &[Round]) -> Value {
    let round =
        |it: &Round| json!({ "p50": it.p50, "p99": it.p99, "lost": it.lost, "late": it.late });
    json!({ "way": case.transport.name(), "mode": case.mode_name(),
            "rounds": rounds.iter().map(round).collect::<Vec<_>>() })
}

/// Returns median, minimum and maximum.
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
