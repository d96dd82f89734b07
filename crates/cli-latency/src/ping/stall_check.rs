//! Checks that the rows of a ping show the stalls injected into its pong.

use std::fmt::Write as _;

use hairpin_cli_harness::answer_timeout::answer_timeout;
use hairpin_measure::{Kind, Row};

use super::setup::PING;
use crate::pong::Stall;

/// The allowed relative deviation of p99.9 of an open loop.
const TOLERANCE: f64 = 0.1;
/// The fraction of a stall that p99.9 of a closed loop must stay below.
const HIDDEN: f64 = 0.1;
/// The fraction of all pings above p99.9.
const BEYOND: f64 = 0.001;

/// Returns a line for each row of whole round trips, or nothing without a stall.
///
/// The lines do not affect the exit status: on a shared machine p99.9 may be caused by the
/// hypervisor.
pub(super) fn lines(stall: Option<Stall>, rows: &[Row]) -> String {
    let Some(stall) = stall else { return String::new() };
    let is_whole = |row: &&Row| row.setting.case == PING && row.setting.kind == Kind::Rtt;
    let mut text = String::new();
    for row in rows.iter().filter(is_whole).filter(|row| row.failed.is_none() && row.samples > 0) {
        let setting = &row.setting;
        let (load, result) = match setting.interval_us {
            0 => ("closed loop".to_owned(), closed(stall, row)),
            interval => (format!("{interval} µs"), open(stall, row)),
        };
        let Stall { length_ms, every_ms } = stall;
        let (protocol, wait, size) = (&setting.protocol, &setting.wait, setting.size_bytes);
        let _ = writeln!(
            text,
            "stall of {length_ms} ms every {every_ms} ms, {protocol}, {wait}, {size} bytes, \
             {load}: {result}"
        );
    }
    text
}

/// Checks an open loop: every ping scheduled in a stall has waited for its end, and all are
/// counted.
fn open(stall: Stall, row: &Row) -> String {
    let length = stall.length_ms as f64;
    if length * 1e6 >= answer_timeout().as_nanos() as f64 {
        return "pings exceed their timeout and are lost: nothing to check".to_owned();
    }
    let share = share(stall, row);
    if share <= 0.0 {
        return "a round ends before its first stall: nothing to check".to_owned();
    }
    let max = millis(row.summary.max);
    let mut holds = max.is_some_and(|max| max >= length);
    let mut result = String::new();
    match (p99_9_of(length, share), millis(row.summary.p99_9)) {
        (Some(must), Some(is)) => {
            holds &= (is / must - 1.0).abs() <= TOLERANCE;
            let _ = write!(result, "p99.9 must be {must:.2} ms ± 10 %, is {is:.2} ms; ");
        }
        (Some(_), None) => result += "too few samples for p99.9; ",
        (None, _) => result += "too few pings meet a stall for p99.9; ",
    }
    let max = max.unwrap_or_default();
    result + &format!("max must be {length:.2} ms at least, is {max:.2} ms: {}", verdict(holds))
}

/// Checks a closed loop: a stall delays only the one ping in flight.
fn closed(stall: Stall, row: &Row) -> String {
    let length = stall.length_ms as f64;
    let max = millis(row.summary.max).unwrap_or_default();
    if max < length {
        return format!("max is {max:.2} ms, so no ping met a stall: nothing to check");
    }
    let Some(is) = millis(row.summary.p99_9) else {
        return "too few samples for p99.9: nothing to check".to_owned();
    };
    let below = length * HIDDEN;
    let holds = verdict(is < below);
    format!("p99.9 must be below {below:.2} ms, is {is:.2} ms; max is {max:.2} ms: {holds}")
}

fn verdict(holds: bool) -> &'static str {
    if holds { "as it must be" } else { "not as it must be" }
}

/// Returns the fraction of time in stalls, which is their fraction of all scheduled pings.
///
/// A round has no stall before one period has passed, so the fraction may be smaller than the
/// stall's part of its period.
fn share(Stall { length_ms, every_ms }: Stall, row: &Row) -> f64 {
    let rounds = f64::from(row.setting.rounds.max(1));
    let pings = (row.samples + row.lost) as f64 / rounds;
    let round_ms = pings * row.setting.interval_us as f64 / 1e3;
    let stalls = (round_ms / every_ms as f64 + 1e-9).floor();
    if stalls == 0.0 { 0.0 } else { stalls * length_ms as f64 / round_ms }
}

/// Returns the 99.9th percentile in milliseconds, if `share` of all pings wait in stalls of this
/// length, with evenly distributed waits. Returns `None` if p99.9 is not a ping in a stall.
fn p99_9_of(length_ms: f64, share: f64) -> Option<f64> {
    (share > BEYOND).then(|| length_ms * (1.0 - BEYOND / share))
}

fn millis(nanos: Option<u64>) -> Option<f64> {
    nanos.map(|nanos| nanos as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::setting;
    use super::*;
    use hairpin_measure::Recorder;
    use hairpin_time::Duration;

    const STALL: Stall = Stall { length_ms: 10, every_ms: 1_000 };

    /// Returns a row of fast pings and of pings that waited for the given microseconds.
    fn row(interval_us: u64, quick: u64, waited_us: impl IntoIterator<Item = u64>) -> Row {
        let mut latency = Recorder::with_capacity(100_000);
        (0..quick).for_each(|_| latency.record(Duration::from_micros(12)));
        waited_us.into_iter().for_each(|us| latency.record(Duration::from_micros(us)));
        Row::new(setting(interval_us), &latency, &Recorder::with_capacity(0))
    }

    /// Returns the text about a row after its name.
    fn result(stall: Stall, row: Row) -> String {
        let text = lines(Some(stall), &[row]);
        assert_eq!(text.lines().count(), 1, "{text}");
        let (_, result) = text.trim_end().split_once(": ").unwrap();
        result.to_owned()
    }

    /// Returns two seconds of pings every 100 µs, of which those in the two stalls waited evenly
    /// long.
    fn stalled(longest_us: u64) -> Row {
        let waits = (0..100).map(move |at| longest_us - at * longest_us / 100);
        row(100, 19_800, waits.clone().chain(waits))
    }

    #[test]
    fn open_loop_must_show_tail_of_stall() {
        let good = "p99.9 must be 9.00 ms ± 10 %, is 9.05 ms; max must be 10.00 ms at least, is \
                    10.05 ms: as it must be";
        assert_eq!(result(STALL, stalled(10_050)), good);
        for wrong in [stalled(9_950), stalled(12_000), row(100, 20_000, [])] {
            assert!(result(STALL, wrong).ends_with("ms: not as it must be"));
        }
        // Only the tail is wrong: it contains only the pings that were sent.
        let hidden = result(STALL, row(100, 19_998, [10_050, 10_050]));
        assert!(hidden.starts_with("p99.9 must be 9.00 ms ± 10 %, is 0.01 ms; "), "{hidden}");
        assert!(hidden.ends_with("is 10.05 ms: not as it must be"), "{hidden}");
    }

    #[test]
    fn closed_loop_must_hide_all_but_maximum() {
        let good = "p99.9 must be below 1.00 ms, is 0.01 ms; max is 10.05 ms: as it must be";
        assert_eq!(result(STALL, row(0, 20_000, [10_050; 2])), good);
        let seen = result(STALL, row(0, 20_000, [10_050; 40]));
        assert!(seen.ends_with(": not as it must be"), "{seen}");
        let none = "max is 0.01 ms, so no ping met a stall: nothing to check";
        assert_eq!(result(STALL, row(0, 20_000, [])), none);
    }

    #[test]
    fn rounds_begin_without_a_stall() {
        let of_rounds = |rounds| {
            let mut row = row(100, 40_000, []);
            row.setting.rounds = rounds;
            share(STALL, &row)
        };
        assert_eq!(of_rounds(1), 0.01, "four in 4 s");
        assert!((of_rounds(3) - 0.0075).abs() < 1e-9, "one each in 1.33 s");
        assert_eq!(of_rounds(7), 0.0, "each is over after 0.57 s");
        let mut short = row(100, 40_000, []);
        short.setting.rounds = 7;
        assert_eq!(result(STALL, short), "a round ends before its first stall: nothing to check");
    }

    #[test]
    fn checks_maximum_without_percentile() {
        let rare = Stall { length_ms: 1, every_ms: 1_000 };
        let few = result(rare, row(100, 19_999, [1_200]));
        assert!(few.starts_with("too few pings meet a stall for p99.9; max"), "{few}");
        assert!(few.ends_with("is 1.20 ms: as it must be"), "{few}");
        let short = result(STALL, row(1_000, 5_000, [10_100]));
        assert!(short.starts_with("too few samples for p99.9; max"), "{short}");
        let long = Stall { length_ms: 1_000, every_ms: 3_000 };
        assert!(result(long, row(100, 99_999, [])).contains("are lost"));
    }

    #[test]
    fn checks_measured_round_trips_only() {
        assert_eq!(lines(None, &[stalled(10_050)]), "");
        let mut sent = stalled(10_050);
        sent.setting.case = super::super::setup::SENT.to_owned();
        let failed = Row { failed: Some("timeout".to_owned()), ..stalled(10_050) };
        let mut stage = stalled(10_050);
        stage.setting.kind = Kind::Stage;
        assert_eq!(lines(Some(STALL), &[sent, failed, stage]), "");
        let text = lines(Some(STALL), &[stalled(10_050)]);
        let name = "stall of 10 ms every 1000 ms, udp, spin, 14 bytes, 100 µs: p99.9";
        assert!(text.starts_with(name), "{text}");
    }
}
