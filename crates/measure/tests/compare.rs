//! How often a comparison errs: runs of a machine that moves between rounds and between runs, by
//! seed.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use hairpin_measure::{
    Clock, Host, Kind, Ratio, Recorder, Results, RoundFigures, Row, Setting, Timestamping, Verdict,
    compare,
};
use hairpin_time::{Duration, Utc};

/// How a machine moves, as deviations of the logarithm of a median.
#[derive(Clone, Copy)]
struct Machine {
    is_virtual: bool,
    /// All rows of a run alike.
    run: f64,
    /// A row in all rounds of a run.
    row: f64,
    /// From round to round.
    round: f64,
    /// The part of the rounds that a neighbour disturbs, by a tenth to four: of each run one
    /// between these.
    disturbed: [f64; 2],
    /// How many rounds a neighbour stays, in the middle.
    stays: f64,
}

/// A machine of one's own: what differs between two starts of the same.
const OWN: Machine = Machine {
    is_virtual: false,
    run: 0.002,
    row: 0.004,
    round: 0.01,
    disturbed: [0.005; 2],
    stays: 1.0,
};
/// A virtual machine on a shared host.
const SHARED: Machine = Machine {
    is_virtual: true,
    run: 0.012,
    row: 0.012,
    round: 0.025,
    disturbed: [0.01; 2],
    stays: 1.0,
};
/// The same with neighbours that come and go: what twelve runs of such a machine looked like. Who
/// is disturbed becomes slower, never faster; in one run a quarter of the rounds, in the next three
/// quarters.
const TROUBLED: Machine = Machine {
    is_virtual: true,
    run: 0.015,
    row: 0.02,
    round: 0.05,
    disturbed: [0.25, 0.65],
    stays: 1.5,
};

const ROWS: usize = 5;
const SEEDS: u64 = 30;

/// SplitMix64, as good as any for this.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Of a normal distribution: twelve uniform numbers are near enough.
    fn normal(&mut self, deviation: f64) -> f64 {
        deviation * ((0..12).map(|_| self.uniform()).sum::<f64>() - 6.0)
    }
}

/// A run whose medians are `base_ns` on the whole.
fn run(random: &mut Random, machine: Machine, rounds: usize, base_ns: f64) -> Results {
    let run = random.normal(machine.run);
    let [least, most] = machine.disturbed;
    let part = least + (most - least) * random.uniform();
    let mut is_disturbed = [false; ROWS].map(|_| random.uniform() < part);
    let rows = (0..ROWS).map(|row| {
        let of_row = run + random.normal(machine.row);
        let mut round = |random: &mut Random| {
            if random.uniform() < 1.0 / machine.stays {
                is_disturbed[row] = random.uniform() < part;
            }
            let held_up = if is_disturbed[row] { 0.1 + 0.3 * random.uniform() } else { 0.0 };
            let shift = of_row + random.normal(machine.round) + held_up;
            base_ns * (row + 1) as f64 * shift.exp()
        };
        let medians: Vec<u64> = (0..rounds).map(|_| round(random) as u64).collect();
        measured(row as u64, &medians)
    });
    let host = Host {
        cpu: "A processor".to_owned(),
        cores: 2,
        kernel: "6.1.0".to_owned(),
        virtualised: machine.is_virtual,
        tsc_hz: None,
        governor: None,
        nic: "veth".to_owned(),
        timestamping: Timestamping::None,
    };
    Results { rows: rows.collect(), ..Results::new(Utc::EPOCH, "hairpin ping", host) }
}

fn measured(size_bytes: u64, medians: &[u64]) -> Row {
    let setting = Setting {
        bench: "ping".to_owned(),
        case: "ping".to_owned(),
        feed: None,
        transport: "kernel".to_owned(),
        wait: "spin".to_owned(),
        protocol: "udp".to_owned(),
        size_bytes,
        interval_us: 0,
        kind: Kind::Rtt,
        clock: Clock::Tsc,
        rounds: medians.len() as u32,
    };
    let mut samples = Recorder::with_capacity(medians.len());
    medians.iter().for_each(|&nanos| samples.record(Duration::from_nanos(nanos)));
    let round = |&p50: &u64| RoundFigures { samples: 1, p50: Some(p50), ..RoundFigures::default() };
    let by_round = medians.iter().map(round).collect();
    Row { by_round, ..Row::new(setting, &samples, &Recorder::with_capacity(0)) }
}

/// The part of all rows with this verdict, of a run and one whose medians are `factor` times as
/// long.
fn part(machine: Machine, rounds: usize, factor: f64, wanted: Verdict) -> f64 {
    parts(machine, rounds, factor, wanted)[0]
}

/// The same, and the part of which the medians say so.
fn parts(machine: Machine, rounds: usize, factor: f64, wanted: Verdict) -> [f64; 2] {
    let mut found = [0; 2];
    for seed in 0..SEEDS {
        let random = &mut Random(seed << 32 | rounds as u64);
        let a = run(random, machine, rounds, 20_000.0);
        let b = run(random, machine, rounds, 20_000.0 * factor);
        for row in compare(&a, &b) {
            found[0] += usize::from(row.verdict == wanted);
            found[1] += usize::from(row.median_verdict == Some(wanted));
        }
    }
    found.map(|found| found as f64 / (SEEDS as usize * ROWS) as f64)
}

#[test]
fn a_repeat_is_within_noise_in_95_rows_of_100() {
    for (name, machine) in [("own", OWN), ("shared", SHARED)] {
        for rounds in [7, 15] {
            let within = part(machine, rounds, 1.0, Verdict::WithinNoise);
            assert!(within >= 0.95, "{name}, {rounds} rounds: {within}");
        }
    }
}

#[test]
fn a_run_compared_with_itself_is_within_noise_in_every_row() {
    for machine in [OWN, SHARED, TROUBLED] {
        let random = &mut Random(7);
        let run = run(random, machine, 7, 20_000.0);
        assert!(compare(&run, &run).iter().all(|row| row.verdict == Verdict::WithinNoise));
    }
}

#[test]
fn a_fifth_slower_is_found_in_every_row() {
    for (name, machine) in [("own", OWN), ("shared", SHARED)] {
        for rounds in [7, 15] {
            let slower = part(machine, rounds, 1.2, Verdict::Slower);
            assert!(slower >= 1.0, "{name}, {rounds} rounds: {slower}");
        }
    }
}

#[test]
fn a_sixth_faster_is_found_in_99_rows_of_100() {
    let faster = part(SHARED, 7, 1.0 / 1.2, Verdict::Faster);
    assert!(faster >= 0.99, "{faster}");
}

/// What the table of `docs/guide/comparing-results.md` says of it. More rounds help: of seven there
/// may be no
/// quiet one.
#[test]
fn beside_neighbours_that_come_and_go_the_quiet_rounds_tell_more_than_the_medians() {
    for (rounds, repeat, fifth) in [(7, 0.9, 0.55), (40, 0.95, 0.9)] {
        let within = parts(TROUBLED, rounds, 1.0, Verdict::WithinNoise);
        let slower = parts(TROUBLED, rounds, 1.2, Verdict::Slower);
        println!("{rounds} rounds: repeat within noise {within:.3?}, a fifth found {slower:.3?}");
        assert!(within[0] >= repeat, "{rounds} rounds: {within:?}");
        assert!(slower[0] >= fifth, "{rounds} rounds: {slower:?}");
        assert!(slower[0] > slower[1], "{rounds} rounds: {slower:?}");
    }
}

/// Without drift the interval over rounds alone keeps what it promises.
#[test]
fn the_interval_over_rounds_holds_the_true_ratio_in_95_cases_of_100() {
    let still = Machine { run: 0.0, row: 0.0, round: 0.02, disturbed: [0.0; 2], ..OWN };
    for (rounds, seeds) in [(7, 80), (15, 60)] {
        let (mut held, mut held_quiet) = (0, 0);
        let holds = |it: &Ratio| it.low <= 1.0 && it.high >= 1.0;
        for seed in 0..seeds {
            let random = &mut Random(seed << 32 | 99);
            let a = run(random, still, rounds, 20_000.0);
            let b = run(random, still, rounds, 20_000.0);
            let compared = compare(&a, &b);
            let ratios = compared.iter().filter_map(|row| row.over_rounds);
            held += ratios.filter(holds).count();
            let ratios = compared.iter().filter_map(|row| row.quiet_over_rounds);
            held_quiet += ratios.filter(holds).count();
        }
        // 400 and 300 cases: 3 standard deviations are 3.3 and 3.8 %.
        let part = held as f64 / (seeds as usize * ROWS) as f64;
        assert!((0.915..=0.99).contains(&part), "{rounds}: {part}");
        let part = f64::from(held_quiet as u32) / (seeds as usize * ROWS) as f64;
        assert!((0.915..=0.99).contains(&part), "{rounds}, quiet: {part}");
    }
}
