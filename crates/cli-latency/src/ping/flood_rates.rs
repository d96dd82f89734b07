//! The rates of floods: messages per second, sent and received.

use hairpin_measure::Style;

use super::ping_case::PingCase;
use super::round::Outcome;
use super::table::drawn;

const HEADINGS: [&str; 10] = [
    "protocol",
    "wait",
    "size",
    "sent/s",
    "received/s",
    "received MB/s",
    "least to most",
    "sent",
    "lost",
    "lost %",
];

/// The floods of a run.
#[derive(Debug, Default)]
pub(super) struct Rates {
    cases: Vec<(PingCase, Vec<Round>)>,
}

/// One round of one flood.
#[derive(Debug, Default, Clone, PartialEq)]
struct Round {
    sent: u64,
    sent_nanos: u64,
    sent_by_second: Vec<u64>,
    /// `None` for a pong elsewhere, which prints its own counts.
    received: Option<(u64, u64)>,
    received_by_second: Vec<u64>,
}

impl Rates {
    pub(super) fn new(plan: &[PingCase]) -> Self {
        Self { cases: plan.iter().map(|&case| (case, Vec::new())).collect() }
    }

    /// Adds a round of case number `side`, if it was a flood.
    pub(super) fn add(&mut self, side: usize, outcome: &Outcome) {
        let Some(sent) = &outcome.ping.flood else { return };
        let received = outcome.pong.as_ref().and_then(|pong| pong.flood.as_ref());
        self.cases[side].1.push(Round {
            sent: sent.messages,
            sent_nanos: sent.nanos,
            sent_by_second: sent.by_second.clone(),
            received: received.map(|received| (received.messages, received.nanos)),
            received_by_second: received.map(|it| it.by_second.clone()).unwrap_or_default(),
        });
    }

    /// Renders a line per case, with rates of the median round and sums of all, then each second of
    /// each round.
    pub(super) fn render(&self, style: Style) -> String {
        let done = || self.cases.iter().filter(|(_, rounds)| !rounds.is_empty());
        let rows = done().map(|(case, rounds)| line(case, rounds)).collect();
        let mut text = "One way, as fast as it goes (rates of the median round)\n".to_owned();
        text += &drawn(&HEADINGS, rows, style);
        text += "\nMessages in each whole second, sent > received\n";
        for (case, rounds) in done() {
            let PingCase { protocol, wait, size, .. } = case;
            for (round, number) in rounds.iter().zip(1..) {
                let name = protocol.name();
                text += &format!("{name}, {wait}, {size} bytes, round {number}: ");
                text += &seconds(round);
            }
        }
        text
    }
}

fn line(case: &PingCase, rounds: &[Round]) -> Vec<String> {
    let sent: u64 = rounds.iter().map(|round| round.sent).sum();
    let received: Option<u64> = rounds.iter().map(|round| Some(round.received?.0)).sum();
    let sent_rates = sorted(rounds.iter().map(|round| rate(round.sent, round.sent_nanos)));
    let rates = rounds.iter().filter_map(|round| round.received);
    let rates = sorted(rates.map(|(messages, nanos)| rate(messages, nanos)));
    let lost = received.map(|received| sent.saturating_sub(received));
    let dash = || "-".to_owned();
    vec![
        case.protocol.name().to_owned(),
        case.wait.to_string(),
        case.size.to_string(),
        median(&sent_rates).map_or_else(dash, |it| format!("{it:.0}")),
        median(&rates).map_or_else(dash, |it| format!("{it:.0}")),
        median(&rates).map_or_else(dash, |it| format!("{:.1}", it * case.size as f64 / 1e6)),
        match (rates.first(), rates.last()) {
            (Some(least), Some(most)) => format!("{least:.0} to {most:.0}"),
            _ => dash(),
        },
        sent.to_string(),
        lost.map_or_else(dash, |lost| lost.to_string()),
        lost.map_or_else(dash, |lost| format!("{:.3}", lost as f64 / sent.max(1) as f64 * 100.0)),
    ]
}

/// Formats the seconds; the last one is partial and left out unless it is the only one.
fn seconds(round: &Round) -> String {
    let whole = round.sent_by_second.len().saturating_sub(1).max(1);
    let mut text = String::new();
    for second in 0..whole {
        let of = |list: &[u64]| list.get(second).map_or("-".to_owned(), u64::to_string);
        let (sent, received) = (of(&round.sent_by_second), of(&round.received_by_second));
        text += &format!("{}{sent} > {received}", if second > 0 { ", " } else { "" });
    }
    text + "\n"
}

fn rate(messages: u64, nanos: u64) -> f64 {
    messages as f64 / nanos.max(1) as f64 * 1e9
}

fn sorted(rates: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut rates: Vec<f64> = rates.collect();
    rates.sort_by(f64::total_cmp);
    rates
}

fn median(sorted: &[f64]) -> Option<f64> {
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::super::ping_loop::Load;
    use super::super::setup::Protocol;
    use super::*;
    use hairpin_reactor::Wait;

    fn case() -> PingCase {
        PingCase {
            protocol: Protocol::Udp,
            transport: hairpin_cli_harness::transport::TransportArgs::default(),
            wait: Wait::Spin,
            pong_wait: Wait::Spin,
            size: 100,
            load: Load { interval_ns: 0, warm_up: 0, samples: 1, connections: 1 },
            flood_ms: Some(2_000),
        }
    }

    fn round(sent: u64, received: Option<u64>) -> Round {
        Round {
            sent,
            sent_nanos: 2_000_000_000,
            sent_by_second: vec![sent / 2, sent / 2, 0],
            received: received.map(|messages| (messages, 2_000_000_000)),
            received_by_second: received.map_or(Vec::new(), |it| vec![it / 2, it / 2]),
        }
    }

    #[test]
    fn counts_sent_but_unreceived_as_lost() {
        let rounds = [round(1_000, Some(900)), round(2_000, Some(2_000)), round(4_000, Some(400))];
        let cases = line(&case(), &rounds);
        let expected = ["1000", "450", "0.0", "200 to 1000", "7000", "3700", "52.857"];
        assert_eq!(cases[3..], expected);
        assert_eq!(seconds(&rounds[0]), "500 > 450, 500 > 450\n");
    }

    #[test]
    fn remote_pongs_received_count_is_unknown() {
        let cases = line(&case(), &[round(1_000, None)]);
        assert_eq!(cases[3..], ["500", "-", "-", "-", "1000", "-", "-"]);
        assert_eq!(seconds(&round(1_000, None)), "500 > -, 500 > -\n");
    }
}
