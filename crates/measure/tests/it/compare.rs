//! The error rates of comparisons, with simulated machines that drift between rounds and between
//! runs.
use hairpin_measure::{
    Clock, Host, Kind, Ratio, Recorder, Results, RoundFigures, Row, Setting, Timestamping, Verdict,
    compare,
};
use hairpin_testkit::Random;
use hairpin_time::{Duration, Utc};

/// The drift of a machine, as standard deviations of the logarithm of a median.
#[derive(Clone, Copy)]
struct Machine {
    is_virtual: bool,
    /// The drift of all rows of a run.
    run: f64,
    /// The drift of a row in all rounds of a run.
    row: f64,
    /// The drift between rounds.
    round: f64,
    /// The range of the fraction of rounds with other load, which slows them by 10 to 40 %. Each
    /// run draws a fraction from this range.
    disturbed: [f64; 2],
    /// The mean duration of other load, in rounds.
    duration: f64,
}

/// A dedicated machine, with the differences between two starts of a program.
const DEDICATED: Machine = Machine {
    is_virtual: false,
    run: 0.002,
    row: 0.004,
    round: 0.01,
    disturbed: [0.005; 2],
    duration: 1.0,
};
/// A virtual machine on a shared host.
const SHARED: Machine = Machine {
    is_virtual: true,
    run: 0.012,
    row: 0.012,
    round: 0.025,
    disturbed: [0.01; 2],
    duration: 1.0,
};
/// A virtual machine with varying other load, modeled on twelve runs of such a machine. The load
/// makes rounds slower, never faster; between a quarter and two thirds of the rounds of a run.
const BUSY: Machine = Machine {
    is_virtual: true,
    run: 0.015,
    row: 0.02,
    round: 0.05,
    disturbed: [0.25, 0.65],
    duration: 1.5,
};

const ROWS: usize = 5;
const SEEDS: u64 = 30;

/// Returns a number from 0 to 1.
fn uniform(random: &mut Random) -> f64 {
    (random.any() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Returns a normally distributed number, approximated by the sum of twelve uniform ones.
fn normal(random: &mut Random, deviation: f64) -> f64 {
    deviation * ((0..12).map(|_| uniform(random)).sum::<f64>() - 6.0)
}

/// Returns a simulated run with medians around `base_ns`.
fn run(random: &mut Random, machine: Machine, rounds: usize, base_ns: f64) -> Results {
    let run = normal(random, machine.run);
    let [min, max] = machine.disturbed;
    let fraction = min + (max - min) * uniform(random);
    let mut is_disturbed = [false; ROWS].map(|_| uniform(random) < fraction);
    let rows = (0..ROWS).map(|row| {
        let row_shift = run + normal(random, machine.row);
        let mut round = |random: &mut Random| {
            if uniform(random) < 1.0 / machine.duration {
                is_disturbed[row] = uniform(random) < fraction;
            }
            let slowdown = if is_disturbed[row] { 0.1 + 0.3 * uniform(random) } else { 0.0 };
            let shift = row_shift + normal(random, machine.round) + slowdown;
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

/// Returns the fraction of rows with this verdict, for a run and another with medians multiplied by
/// `factor`.
fn fraction(machine: Machine, rounds: usize, factor: f64, wanted: fn(Verdict) -> bool) -> f64 {
    fractions(machine, rounds, factor, wanted)[0]
}

/// Returns the fractions of rows whose verdict, and whose median verdict, is `wanted`.
fn fractions(
    machine: Machine,
    rounds: usize,
    factor: f64,
    wanted: fn(Verdict) -> bool,
) -> [f64; 2] {
    let mut counts = [0; 2];
    for seed in 0..SEEDS {
        let random = &mut Random::new(seed << 32 | rounds as u64);
        let a = run(random, machine, rounds, 20_000.0);
        let b = run(random, machine, rounds, 20_000.0 * factor);
        for row in compare(&a, &b) {
            counts[0] += usize::from(wanted(row.verdict));
            counts[1] += usize::from(row.median_verdict.is_some_and(wanted));
        }
    }
    counts.map(|count| count as f64 / (SEEDS as usize * ROWS) as f64)
}

#[test]
fn repeats_are_within_noise_in_95_percent_of_rows() {
    for (name, machine) in [("dedicated", DEDICATED), ("shared", SHARED)] {
        for rounds in [7, 15] {
            let within = fraction(machine, rounds, 1.0, |it| !it.is_change());
            assert!(within >= 0.95, "{name}, {rounds} rounds: {within}");
        }
    }
}

#[test]
fn run_compared_with_itself_is_within_noise() {
    for machine in [DEDICATED, SHARED, BUSY] {
        let random = &mut Random::new(7);
        let run = run(random, machine, 7, 20_000.0);
        assert!(compare(&run, &run).iter().all(|row| !row.verdict.is_change()));
    }
}

#[test]
fn slowdown_of_20_percent_is_detected_in_every_row() {
    for (name, machine) in [("dedicated", DEDICATED), ("shared", SHARED)] {
        for rounds in [7, 15] {
            let slower = fraction(machine, rounds, 1.2, |it| it == Verdict::Slower);
            assert!(slower >= 1.0, "{name}, {rounds} rounds: {slower}");
        }
    }
}

#[test]
fn speedup_of_a_sixth_is_detected_in_99_percent_of_rows() {
    let faster = fraction(SHARED, 7, 1.0 / 1.2, |it| it == Verdict::Faster);
    assert!(faster >= 0.99, "{faster}");
}

/// Checks the table of `docs/guide/comparing-results.md`. More rounds help: among seven there may
/// be no quiet one.
#[test]
fn quiet_rounds_detect_more_than_medians_on_busy_machines() {
    for (rounds, repeat, fifth) in [(7, 0.9, 0.55), (40, 0.95, 0.9)] {
        let within = fractions(BUSY, rounds, 1.0, |it| !it.is_change());
        let slower = fractions(BUSY, rounds, 1.2, |it| it == Verdict::Slower);
        println!("{rounds} rounds: repeats within noise {within:.3?}, 20 % detected {slower:.3?}");
        assert!(within[0] >= repeat, "{rounds} rounds: {within:?}");
        assert!(slower[0] >= fifth, "{rounds} rounds: {slower:?}");
        assert!(slower[0] > slower[1], "{rounds} rounds: {slower:?}");
    }
}

/// Without drift, the interval over rounds has its nominal coverage.
#[test]
fn intervals_over_rounds_have_their_nominal_coverage() {
    let stable = Machine { run: 0.0, row: 0.0, round: 0.02, disturbed: [0.0; 2], ..DEDICATED };
    for (rounds, seeds) in [(7, 80), (15, 60)] {
        let (mut covered, mut covered_quiet) = (0, 0);
        let covers = |it: &Ratio| it.low <= 1.0 && it.high >= 1.0;
        for seed in 0..seeds {
            let random = &mut Random::new(seed << 32 | 99);
            let a = run(random, stable, rounds, 20_000.0);
            let b = run(random, stable, rounds, 20_000.0);
            let compared = compare(&a, &b);
            let ratios = compared.iter().filter_map(|row| row.over_rounds);
            covered += ratios.filter(covers).count();
            let ratios = compared.iter().filter_map(|row| row.quiet_over_rounds);
            covered_quiet += ratios.filter(covers).count();
        }
        // 400 and 300 cases: three standard deviations are 3.3 and 3.8 %.
        let part = covered as f64 / (seeds as usize * ROWS) as f64;
        assert!((0.915..=0.99).contains(&part), "{rounds}: {part}");
        let part = f64::from(covered_quiet as u32) / (seeds as usize * ROWS) as f64;
        assert!((0.915..=0.99).contains(&part), "{rounds}, quiet: {part}");
    }
}
