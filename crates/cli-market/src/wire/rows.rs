//! The results file: rows of distributions, and the counts.

use hairpin_endpoint::capture::CaptureClock;
use hairpin_feed_handler::{Feed, FeedLine};
use hairpin_measure::{Clock, Kind, Row, RunningSummary, Setting, Summary};
use hairpin_time::Utc;
use serde_json::{Value, json};

use super::figures::Figures;
use super::line::Line;
use super::market::FeedFigures;
use super::orders::{Session, Span, label};

/// The cases of rows that are not spans of sessions.
const SKEW: [&str; 2] = ["A before B", "B before A"];

/// Returns the name of a feed, with the feed unless it is the incremental one.
pub(super) fn name(feed: &FeedFigures) -> String {
    match feed.feed {
        Feed::Incremental => feed.name.clone(),
        other => format!("{} {other}", feed.name),
    }
}

/// Returns a row for each distribution with samples.
pub(super) fn rows(figures: &Figures) -> Vec<Row> {
    let clock = match (figures.device, figures.clock) {
        (Some(_), _) | (None, Some(CaptureClock::Hardware)) => Clock::HardwareTimestamp,
        _ => Clock::SoftwareTimestamp,
    };
    let row = |of: String, case: &str, protocol: &str, kind: Kind, summary: &RunningSummary| {
        let setting = Setting {
            bench: "wire".to_owned(),
            case: case.to_owned(),
            feed: Some(of),
            transport: "capture".to_owned(),
            wait: "none".to_owned(),
            protocol: protocol.to_owned(),
            size_bytes: 0,
            interval_us: 0,
            kind,
            clock,
            rounds: 1,
        };
        (summary.count() > 0).then(|| Row::from_summary(setting, summary.summary()))
    };
    let mut rows = Vec::new();
    for feed in figures.feeds() {
        for (case, ahead) in SKEW.into_iter().zip(&feed.ahead) {
            rows.extend(row(name(feed), case, "multicast", Kind::Stage, ahead));
        }
    }
    for session in &figures.sessions {
        for (case, span) in Span::NAMES.into_iter().zip(&session.spans) {
            rows.extend(row(label(session), case, "ilink3", Kind::Rtt, span));
        }
    }
    for (feed, kind, ticks) in figures.ticks() {
        let case = format!("tick to {kind}, at least");
        rows.extend(row(name(feed), &case, "multicast+ilink3", Kind::Stage, ticks));
    }
    rows
}

/// Returns all counts and the statistics of all distributions, without their histograms.
pub(super) fn document(figures: &Figures) -> Value {
    let steps = figures.steps.first.map(|(time, by_ns)| {
        json!({ "count": figures.steps.count, "first": utc(time), "first_by_ns": by_ns })
    });
    let feeds: Vec<Value> = figures.feeds().map(feed).collect();
    let sessions: Vec<Value> = figures.sessions.iter().map(session).collect();
    let ticks: Vec<Value> =
        figures.ticks().map(|(feed, kind, ticks)| tick(feed, kind, ticks)).collect();
    json!({
        "packets": figures.packets,
        "tcp_packets": figures.segments,
        "other_packets": figures.other_packets,
        "errors": figures.errors,
        "times": figures.times(),
        "first": utc(figures.first_time),
        "last": utc(figures.end_time),
        "without_device_time": figures.without_device_time,
        "without_time": figures.untimed,
        "times_going_back": figures.backward,
        "most_going_back_ns": figures.most_backward,
        "clock_steps": steps,
        "unlisted_market_data_packets": figures.market.other_packets,
        "damaged_market_data_packets": figures.market.damaged,
        "feeds": feeds,
        "sessions": sessions,
        "requests_forgotten": figures.evicted,
        "messages_of_other_sessions": figures.other_messages,
        "tick_to_order": ticks,
        "orders_before_their_tick": figures.negative_ticks,
        "ticks_across_steps": figures.ticks_across_steps,
    })
}

/// Returns a time as text.
pub(super) fn utc(nanos: u64) -> String {
    Utc::from_nanos(nanos).to_string()
}

fn tick(feed: &FeedFigures, kind: &str, ticks: &RunningSummary) -> Value {
    json!({ "feed": name(feed), "to": kind, "at_least": statistics(ticks) })
}

fn feed(feed: &FeedFigures) -> Value {
    let lines: Vec<Value> = FeedLine::ALL
        .into_iter()
        .zip(&feed.lines)
        .zip(feed.groups)
        .filter_map(|((line, figures), group)| {
            let mut value = counts(figures);
            value["line"] = line.to_string().into();
            value["group"] = group?.to_string().into();
            value["missing_at_end"] = feed.behind(figures).into();
            Some(value)
        })
        .collect();
    let busiest: Vec<Value> = feed
        .bursts
        .busiest
        .iter()
        .map(|(messages, packets, millisecond)| {
            let time = utc(millisecond * 1_000_000);
            json!({ "time": time, "messages": messages, "packets": packets })
        })
        .collect();
    json!({
        "channel": feed.name,
        "feed": feed.feed.to_string(),
        "lines": lines,
        "lost_on_all_lines": counts(&feed.merged),
        "pairs": feed.pairs(),
        "simultaneous": feed.simultaneous,
        "pairs_across_clock_steps": feed.across_steps,
        "a_before_b": statistics(&feed.ahead[0]),
        "b_before_a": statistics(&feed.ahead[1]),
        "messages_per_ms": statistics(&feed.bursts.messages),
        "busiest_ms": busiest,
    })
}

fn counts(line: &Line) -> Value {
    let gaps: Vec<Value> = line
        .gaps
        .iter()
        .map(|gap| json!({ "first": gap.first, "last": gap.last, "time": utc(gap.time) }))
        .collect();
    json!({
        "packets": line.packets,
        "messages": line.messages,
        "missing": line.missing,
        "gaps": line.gap_count(),
        "gap_list": gaps,
        "duplicates": line.duplicates,
        "out_of_order": line.out_of_order,
        "too_late_to_compare": line.too_late,
        "restarts": line.restarts,
    })
}

fn session(session: &Session) -> Value {
    let mut spans = serde_json::Map::new();
    for (name, span) in Span::NAMES.into_iter().zip(&session.spans) {
        spans.insert(name.replace(' ', "_"), statistics(span));
    }
    json!({
        "session": label(session),
        "uuid": session.uuid,
        "client": session.addresses.map(|(client, _)| client.to_string()),
        "gateway": session.addresses.map(|(_, gateway)| gateway.to_string()),
        "requests": session.requests,
        "answers": session.answers,
        "unanswered": session.unanswered,
        "answers_without_request": session.unasked,
        "later_fills": session.later_fills,
        "fills_of_replaced_orders": session.replaced_fills,
        "retransmitted_answers": session.retransmitted,
        "answers_before_request": session.negative,
        "across_clock_steps": session.across_steps,
        "without_time": session.untimed,
        "repeated_segments": session.repeated_segments,
        "stream_gaps": session.gaps,
        "missing_bytes": session.missing_bytes,
        "skipped_bytes": session.skipped_bytes,
        "spans": spans,
    })
}

/// Returns the statistics of a distribution; `null` without samples.
fn statistics(summary: &RunningSummary) -> Value {
    if summary.count() == 0 {
        return Value::Null;
    }
    let Summary { min, p50, p99, p99_9, max, mean, .. } = summary.summary();
    json!({
        "count": summary.count(), "min": min, "p50": p50, "p99": p99, "p99_9": p99_9,
        "max": max, "mean": mean,
    })
}
