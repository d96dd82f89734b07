//! The figures as text.

use hairpin_feed_handler::FeedLine;
use hairpin_measure::{RunningSummary, Style, Summary, TextTable, counted};

use super::figures::Figures;
use super::market::FeedFigures;
use super::orders::{Session, Span, label};
use super::rows::{name, utc};

/// Returns all tables, with notes on what was not measured.
pub(super) fn text(figures: &Figures, style: Style) -> String {
    if figures.is_empty() {
        return String::new();
    }
    let span = figures.end_time.saturating_sub(figures.first_time);
    let head = format!(
        "{} in {}.{:09} s from {}; times: {}\n",
        counted(figures.packets, "packet"),
        span / 1_000_000_000,
        span % 1_000_000_000,
        utc(figures.first_time),
        figures.times()
    );
    let mut text = style.wrap(&head);
    let sections = [
        ("market data, by line", lines(figures, style)),
        ("skew of lines A and B, µs", skews(figures, style)),
        ("bursts: messages per millisecond", bursts(figures, style)),
        ("order entry, µs", spans(figures, style)),
        ("order entry, counts", counts(figures, style)),
        (
            "tick to order, µs: since the last packet of a feed, a lower bound",
            ticks(figures, style),
        ),
    ];
    for (title, table) in sections.into_iter().filter(|(_, table)| !table.is_empty()) {
        text += &format!("\n{}{table}", style.wrap(&format!("{title}\n")));
    }
    let notes = notes(figures);
    if !notes.is_empty() {
        text.push('\n');
    }
    text + &style.wrap(&notes)
}

/// Returns a table with columns of words, then of figures, each with its rank.
fn table(words: &[(&str, u8)], figures: &[(&str, u8)]) -> TextTable {
    let mut table = TextTable::default();
    words.iter().for_each(|(heading, rank)| table.add_words(heading, *rank));
    figures.iter().for_each(|(heading, rank)| table.add_figures(heading, *rank));
    table
}

/// Renders a table, unless it has no rows.
fn render(table: &TextTable, style: Style) -> String {
    if table.is_empty() { String::new() } else { table.render(style) }
}

fn lines(figures: &Figures, style: Style) -> String {
    let columns = [
        ("packets", 0),
        ("messages", 4),
        ("missing", 0),
        ("gaps", 1),
        ("duplicates", 3),
        ("out of order", 2),
        ("restarts", 5),
    ];
    let mut table = table(&[("feed", 0), ("line", 0)], &columns);
    for feed in figures.feeds() {
        let has_both = feed.groups.iter().flatten().count() == 2;
        let merged = has_both.then_some((None, &feed.merged));
        let own = FeedLine::ALL.into_iter().zip(&feed.lines).zip(feed.groups);
        let own = own.filter(|(_, group)| group.is_some());
        let own = own.map(|((line, figures), _)| (Some(line), figures));
        for (line, it) in own.chain(merged) {
            let count = |own: u64| line.map_or_else(|| "-".to_owned(), |_| own.to_string());
            table.add_row([
                name(feed),
                line.map_or_else(|| "both".to_owned(), |line| line.to_string()),
                count(it.packets),
                count(it.messages),
                it.missing.to_string(),
                it.gap_count().to_string(),
                count(it.duplicates),
                count(it.out_of_order),
                count(it.restarts),
            ]);
        }
    }
    render(&table, style)
}

fn skews(figures: &Figures, style: Style) -> String {
    let columns = [
        ("packets", 2),
        ("share %", 0),
        ("p50", 0),
        ("p99", 0),
        ("max", 0),
        ("mean", 3),
        ("min", 4),
    ];
    let mut table = table(&[("feed", 0), ("first", 0)], &columns);
    for feed in figures.feeds().filter(|feed| feed.pairs() > 0) {
        for (line, ahead) in FeedLine::ALL.into_iter().zip(&feed.ahead) {
            let [min, p50, p99, max, mean] = statistics(ahead);
            let count = ahead.count();
            let share = count as f64 * 100.0 / feed.pairs() as f64;
            let share = format!("{share:.1}");
            let line = line.to_string();
            table.add_row([name(feed), line, count.to_string(), share, p50, p99, max, mean, min]);
        }
    }
    render(&table, style)
}

fn bursts(figures: &Figures, style: Style) -> String {
    let columns = [("p50", 3), ("p99", 1), ("p99.9", 0), ("max", 0), ("packets", 2)];
    let mut table = table(&[("feed", 0), ("time of max", 0)], &columns);
    for feed in figures.feeds() {
        let Some(&(most, packets, millisecond)) = feed.bursts.busiest.first() else { continue };
        let Summary { p50, p99, p99_9, .. } = feed.bursts.messages.summary();
        let [p50, p99, p99_9] = [p50, p99, p99_9].map(number);
        let time = clock_time(millisecond);
        table.add_row([name(feed), time, p50, p99, p99_9, most.to_string(), packets.to_string()]);
    }
    render(&table, style)
}

/// Returns the time of day of a millisecond.
fn clock_time(millisecond: u64) -> String {
    let text = utc(millisecond * 1_000_000);
    let time = text.split_once('T').map_or(&text[..], |(_, time)| time);
    time.get(..12).unwrap_or(time).to_owned()
}

fn spans(figures: &Figures, style: Style) -> String {
    let columns = [("count", 1), ("p50", 0), ("p99", 0), ("max", 0), ("min", 2), ("mean", 3)];
    let mut table = table(&[("session", 0), ("span", 0)], &columns);
    for session in &figures.sessions {
        let measured = Span::NAMES.into_iter().zip(&session.spans).filter(|it| it.1.count() > 0);
        for (span, it) in measured {
            let [min, p50, p99, max, mean] = statistics(it);
            let count = it.count().to_string();
            table.add_row([label(session), span.to_owned(), count, p50, p99, max, min, mean]);
        }
    }
    render(&table, style)
}

fn counts(figures: &Figures, style: Style) -> String {
    let columns = [
        ("requests", 0),
        ("answers", 2),
        ("unanswered", 0),
        ("unasked", 1),
        ("TCP gaps", 3),
        ("repeated", 4),
    ];
    let mut table = table(&[("session", 0)], &columns);
    for session in &figures.sessions {
        let figures = [
            session.requests,
            session.answers,
            session.unanswered,
            session.unasked,
            session.gaps,
            session.repeated_segments,
        ];
        let figures = figures.into_iter().map(|it| it.to_string());
        table.add_row([label(session)].into_iter().chain(figures));
    }
    render(&table, style)
}

fn ticks(figures: &Figures, style: Style) -> String {
    let columns = [("count", 1), ("min", 0), ("p50", 0), ("p99", 0), ("max", 0), ("mean", 2)];
    let mut table = table(&[("feed", 0), ("to", 0)], &columns);
    for (feed, kind, it) in figures.ticks() {
        let [min, p50, p99, max, mean] = statistics(it);
        let count = it.count().to_string();
        table.add_row([name(feed), kind.to_owned(), count, min, p50, p99, max, mean]);
    }
    render(&table, style)
}

/// Returns minimum, p50, p99, maximum and mean in microseconds.
fn statistics(summary: &RunningSummary) -> [String; 5] {
    let Summary { min, p50, p99, max, mean, .. } = summary.summary();
    let mean = mean.map(|mean| mean.round() as u64);
    [min, p50, p99, max, mean].map(micros)
}

fn micros(nanos: Option<u64>) -> String {
    nanos.map_or_else(|| "-".to_owned(), |nanos| format!("{}.{:03}", nanos / 1_000, nanos % 1_000))
}

fn number(number: Option<u64>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}

/// Returns a line for each thing that was not measured, or that puts figures in question.
fn notes(figures: &Figures) -> String {
    let mut notes: Vec<String> = Vec::new();
    let mut note = |count: u64, text: &dyn Fn(u64) -> String| {
        if count > 0 {
            notes.push(text(count));
        }
    };
    note(figures.backward, &|count| {
        let most = micros(Some(figures.most_backward));
        let packets = counted(count, "packet");
        let cause = "two clocks or a step";
        format!("{packets} earlier than the one before, by up to {most} µs: {cause}")
    });
    if let Some((time, by)) = figures.steps.first {
        note(figures.steps.count, &|count| {
            let (steps, seconds) = (counted(count, "clock step"), by as f64 / 1e9);
            let first = utc(time);
            format!(
                "{steps} against SendingTime, the first at {first} by {seconds:+.3} s: spans \
                 across a step are not measured"
            )
        });
    }
    note(figures.without_device_time, &|count| {
        format!("{} without a time of the device", counted(count, "packet"))
    });
    note(figures.untimed, &|count| {
        format!(
            "{} of market data without a time: only their numbers count",
            counted(count, "packet")
        )
    });
    note(figures.negative_ticks, &|count| {
        format!("{} captured before their tick", counted(count, "order"))
    });
    note(figures.ticks_across_steps, &|count| {
        format!("{} from ticks to orders across a step not measured", counted(count, "span"))
    });
    note(figures.evicted, &|count| {
        format!("{} forgotten before an answer: raise --requests", counted(count, "request"))
    });
    note(figures.other_messages, &|count| {
        format!("{} of further sessions not measured", counted(count, "message"))
    });
    note(figures.market.other_packets, &|count| {
        format!("{} of market data of other groups", counted(count, "packet"))
    });
    note(figures.market.damaged, &|count| {
        format!("{} of market data with damaged messages", counted(count, "packet"))
    });
    let feeds = figures.feeds().flat_map(feed_notes);
    let sessions = figures.sessions.iter().flat_map(session_notes);
    let all: Vec<String> = feeds.chain(sessions).collect();
    notes.into_iter().chain(all).map(|line| line + "\n").collect()
}

fn feed_notes(feed: &FeedFigures) -> Vec<String> {
    let name = name(feed);
    let mut notes = Vec::new();
    for (line, it) in FeedLine::ALL.into_iter().zip(&feed.lines) {
        let behind = feed.behind(it);
        if it.packets > 0 && behind > 0 {
            let packets = counted(behind, "packet");
            notes.push(format!("{name}: line {line} ends {packets} before the other"));
        }
        if it.too_late > 0 {
            let packets = counted(it.too_late, "packet");
            notes.push(format!("{name}: {packets} of line {line} too late to compare"));
        }
        for gap in it.gaps.iter().take(GAPS_SHOWN) {
            let range = match gap.last - gap.first {
                0 => gap.first.to_string(),
                _ => format!("{} to {}", gap.first, gap.last),
            };
            notes.push(format!("{name}: line {line} lacks {range}, before {}", utc(gap.time)));
        }
        let rest = it.gap_count().saturating_sub(GAPS_SHOWN as u64);
        if rest > 0 {
            notes
                .push(format!("{name}: line {line} has {} in all", counted(it.gap_count(), "gap")));
        }
    }
    if feed.simultaneous > 0 {
        let packets = counted(feed.simultaneous, "packet");
        notes.push(format!("{name}: {packets} on both lines at the same time"));
    }
    if feed.across_steps > 0 {
        let pairs = counted(feed.across_steps, "pair");
        notes.push(format!("{name}: {pairs} across a clock step not measured"));
    }
    notes
}

/// The gaps of a line in the text; the results file has more.
const GAPS_SHOWN: usize = 3;

fn session_notes(session: &Session) -> Vec<String> {
    let name = label(session);
    let counts = [
        (session.negative, "captured before the request"),
        (session.across_steps, "across a clock step not measured"),
        (session.retransmitted, "that the exchange sent again not measured"),
        (session.untimed, "without a time not measured"),
        (session.replaced_fills, "with fills of replaced orders not measured"),
    ];
    let note =
        |(count, text): &(u64, &str)| format!("{name}: {} {text}", counted(*count, "answer"));
    let mut notes: Vec<String> = counts.iter().filter(|it| it.0 > 0).map(note).collect();
    if session.missing_bytes + session.skipped_bytes > 0 {
        let (missing, skipped) =
            (counted(session.missing_bytes, "byte"), counted(session.skipped_bytes, "byte"));
        notes.push(format!("{name}: {missing} of TCP missing, {skipped} after them skipped"));
    }
    notes
}
