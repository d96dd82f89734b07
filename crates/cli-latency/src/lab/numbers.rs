//! The numbers that two runs of a client printed.

use std::collections::BTreeMap;

use hairpin_measure::{Style, TextTable, median};

/// A line of output: its text with `#` for each number, and the numbers.
#[derive(Debug, PartialEq)]
struct Line {
    text: String,
    numbers: Vec<f64>,
}

/// A kind of line: its place among those of the output with the same text, and the text.
type Key = (String, usize);

/// The outputs of a client over kernel sockets, and accelerated.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    seconds: [Vec<f64>; 2],
    /// The numbers of each line, of all rounds, by side.
    lines: [BTreeMap<Key, Vec<Vec<f64>>>; 2],
    /// The order of the lines in the first output.
    order: Vec<Key>,
}

impl Comparison {
    /// Records a run: side 0 is over kernel sockets, side 1 accelerated.
    pub(super) fn record(&mut self, side: usize, seconds: f64, output: &str) {
        self.seconds[side].push(seconds);
        let mut seen = BTreeMap::<String, usize>::new();
        let is_first = self.order.is_empty();
        for Line { text, numbers } in output.lines().map(parse) {
            if numbers.is_empty() {
                continue;
            }
            let place = seen.entry(text.clone()).or_default();
            let key = (text, *place);
            *place += 1;
            if is_first {
                self.order.push(key.clone());
            }
            self.lines[side].entry(key).or_default().push(numbers);
        }
    }

    /// Returns the medians of the seconds and of all numbers that differ between the sides.
    pub(super) fn table(&self, rounds: u32, style: Style) -> String {
        let mut table = TextTable::default();
        table.add_words(
            &if rounds == 1 { "one round".to_owned() } else { format!("{rounds} rounds, medians") },
            0,
        );
        for heading in ["kernel sockets", "hairpin run", "ratio"] {
            table.add_figures(heading, 0);
        }
        let mut add = |text: String, kernel: f64, ours: f64| {
            let ratio = if kernel == 0.0 { String::new() } else { format!("{:.2}", ours / kernel) };
            table.add_row([text, number(kernel), number(ours), ratio]);
        };
        for key in &self.order {
            let [Some(kernel), Some(ours)] =
                [0, 1].map(|side: usize| self.lines[side].get(key).map(|it| medians(it)))
            else {
                continue;
            };
            let differs: Vec<bool> = kernel.iter().zip(&ours).map(|(a, b)| a != b).collect();
            for (at, (&a, &b)) in kernel.iter().zip(&ours).enumerate() {
                if differs[at] {
                    add(label(&key.0, at, &differs, &kernel), a, b);
                }
            }
        }
        let [kernel, ours] = [0, 1].map(|side: usize| median(&mut self.seconds[side].clone()));
        add("seconds until the client ended".to_owned(), kernel, ours);
        table.render(style)
    }
}

/// Returns the text of a row: `…` is its number, `#` another one that differs.
fn label(text: &str, at: usize, differs: &[bool], equal: &[f64]) -> String {
    let mut label = String::new();
    for (index, part) in text.split('#').enumerate() {
        if let Some(before) = index.checked_sub(1) {
            match differs.get(before) {
                Some(true) if before == at => label.push('…'),
                Some(false) => label.push_str(&number(equal[before])),
                _ => label.push('#'),
            }
        }
        label.push_str(part);
    }
    label.trim().to_owned()
}

/// Formats a number with the digits that matter.
fn number(value: f64) -> String {
    match value {
        whole if whole.fract() == 0.0 && whole.abs() < 1e15 => format!("{whole:.0}"),
        large if large.abs() >= 1_000.0 => format!("{large:.0}"),
        small => format!("{small:.3}"),
    }
}

/// Returns the median of each number of a line. Rounds have the same count, because the text is the
/// same.
fn medians(rounds: &[Vec<f64>]) -> Vec<f64> {
    let count = rounds.iter().map(Vec::len).min().unwrap_or_default();
    let of_round = |at: usize| rounds.iter().map(move |round| round[at]);
    (0..count).map(|at| median(&mut of_round(at).collect::<Vec<_>>())).collect()
}

/// Finds the numbers of a line as a terminal shows it: a carriage return begins it again. Digits
/// after a letter belong to a word, such as `p50`.
fn parse(line: &str) -> Line {
    let line = line.trim_end_matches('\r');
    let mut rest = line.rsplit_once('\r').map_or(line, |(_, last)| last);
    let (mut text, mut numbers) = (String::new(), Vec::new());
    while let Some(first) = rest.chars().next() {
        let length = match first.is_ascii_digit() {
            true => rest.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(rest.len()),
            // A word with its digits.
            false if first.is_alphabetic() => {
                rest.find(|it: char| !it.is_alphanumeric()).unwrap_or(rest.len())
            }
            false => first.len_utf8(),
        };
        let (part, after) = rest.split_at(length);
        let value = part.trim_end_matches('.');
        match value.parse::<f64>() {
            Ok(number) if first.is_ascii_digit() => {
                text.push('#');
                text.push_str(&part[value.len()..]);
                numbers.push(number);
            }
            // A word, or an address with several points.
            _ => text.push_str(part),
        }
        rest = after;
    }
    // What a program aligns would make two lines of one.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Line { text, numbers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_parsed(line: &str, text: &str, numbers: &[f64]) {
        assert_eq!(parse(line), Line { text: text.to_owned(), numbers: numbers.to_vec() });
    }

    #[test]
    fn numbers_of_a_line_are_found() {
        assert_parsed(
            "GET: rps=12.0\rGET: 21141.65 requests per second, p50=1.25 msec\r",
            "GET: # requests per second, p50=# msec",
            &[21_141.65, 1.25],
        );
        assert_parsed("percentile 99.000 =   14.5.", "percentile # = #.", &[99.0, 14.5]);
        assert_parsed("to 10.7.0.1 in utf8", "to 10.7.0.1 in utf8", &[]);
        assert_parsed("5#", "##", &[5.0]);
    }

    #[test]
    fn medians_of_differing_numbers_are_compared() {
        let mut comparison = Comparison::default();
        for (kernel, ours) in [("10", "20"), ("30", "60"), ("20", "50")] {
            let text = |rate: &str| format!("start\n99.9 % took {rate} us of 7\nonly {rate}\n");
            comparison.record(0, 2.0, &text(kernel));
            comparison.record(1, 1.0, &text(ours));
        }
        comparison.record(0, 2.0, "another line 1");
        let table = comparison.table(3, Style::Plain);
        let rows: Vec<Vec<&str>> = table
            .lines()
            .map(|line| line.split("  ").map(str::trim).filter(|it| !it.is_empty()).collect())
            .collect();
        let expected = [
            ["3 rounds, medians", "kernel sockets", "hairpin run", "ratio"],
            ["99.900 % took … us of 7", "20", "50", "2.50"],
            ["only …", "20", "50", "2.50"],
            ["seconds until the client ended", "2", "1", "0.50"],
        ];
        assert_eq!(rows, expected, "{table}");
        for columns in [60, 80] {
            let table = comparison.table(3, Style::Terminal { columns });
            assert!(table.lines().all(|line| line.chars().count() <= columns), "{table}");
        }
    }
}
