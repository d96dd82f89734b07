//! Live counters in the text formats of Prometheus: OpenMetrics 1.0, and the format before it.
//!
//! | counter of `stat` | metric |
//! |---|---|
//! | `feed.gaps`, a counter | `hairpin_feed_gaps_total` |
//! | `session.waiting` in bytes, a gauge | `hairpin_session_waiting_bytes` |
//! | `trader.1.lost`, with a number | `hairpin_trader_lost_total{number="1"}` |
//! | `feed.packets_a`, of a line | `hairpin_feed_packets_total{line="A"}` |
//! | nanoseconds | seconds |
//!
//! Each value has the labels `command`, `page` and `pid`. `hairpin_process_info` has the title of
//! each page, and `hairpin_process_start_time_seconds` its beginning.

use std::collections::BTreeMap;
use std::fmt;

use hairpin_mapped::{Kind, Metric, Unit};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::encoding::{prometheus_text, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{self, Registry};

use super::snapshot::{CounterSnapshot, ProcessPage};

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    OpenMetrics,
    Prometheus,
}

impl Format {
    /// Returns the format that a scraper asks for by its header Accept.
    pub(super) fn accepted(header: &str) -> Self {
        let wants = header.to_ascii_lowercase().contains("application/openmetrics-text");
        if wants { Self::OpenMetrics } else { Self::Prometheus }
    }

    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// Returns the text of all values of a snapshot.
pub(super) fn render(snapshot: &CounterSnapshot<'_>, format: Format) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Families::of(snapshot)));
    let mut page = String::new();
    match format {
        Format::OpenMetrics => text::encode(&mut page, &registry)?,
        Format::Prometheus => prometheus_text::encode(&mut page, &registry)?,
    }
    Ok(page)
}

type Labels = Vec<(&'static str, String)>;

/// The values of one name.
#[derive(Debug)]
struct Family {
    help: String,
    kind: Kind,
    unit: Option<registry::Unit>,
    series: Vec<(Labels, f64)>,
}

/// All values by the names of their metrics.
#[derive(Debug)]
struct Families(BTreeMap<String, Family>);

impl Families {
    fn of(snapshot: &CounterSnapshot<'_>) -> Self {
        let mut families = Self(BTreeMap::new());
        for page in &snapshot.pages {
            let mut info = labels(page);
            info.push(("title", page.title.to_owned()));
            let title = "The title of a page: the command, and what distinguishes it";
            families.add("process_info", title, (Kind::Gauge, None), info, 1.0);
            let started = page.started.as_nanos() as f64 / 1e9;
            let (name, unit) = ("process_start_time", Some(registry::Unit::Seconds));
            let text = "The creation of a page, since 1970 in UTC";
            families.add(name, text, (Kind::Gauge, unit), labels(page), started);
            for (metric, value) in &page.values {
                families.add_metric(page, metric, *value);
            }
        }
        let (refused, unreadable) = (snapshot.refused.len(), snapshot.unreadable);
        let text = "Pages that are not valid, or of a later version";
        families.add("refused_pages", text, (Kind::Gauge, None), Vec::new(), refused as f64);
        let text = "Processes of other users, which may not be read";
        let none = (Kind::Gauge, None);
        families.add("unreadable_processes", text, none, Vec::new(), unreadable as f64);
        families
    }

    fn add_metric(&mut self, page: &ProcessPage<'_>, metric: &Metric, value: u64) {
        let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
        let (numbers, words): (Vec<&str>, Vec<&str>) = metric.name.split('.').partition(is_number);
        let name = words.join("_").replace('-', "_");
        let (name, unit, value) = match metric.unit {
            Unit::Bytes => (without(&name, "_bytes"), Some(registry::Unit::Bytes), value as f64),
            Unit::Nanoseconds => {
                (without(&name, "_ns"), Some(registry::Unit::Seconds), value as f64 / 1e9)
            }
            _ => (&*name, None, value as f64),
        };
        let mut labels = labels(page);
        if !numbers.is_empty() {
            labels.push(("number", numbers.join(".")));
        }
        let line = [("_a", "A"), ("_b", "B")].into_iter().find(|(end, _)| name.ends_with(end));
        let name = line.map_or(name, |(end, _)| without(name, end));
        labels.extend(line.map(|(_, line)| ("line", line.to_owned())));
        let counted = metric.unit.text();
        let help = format!("{} of hairpin stat, in {counted}", words.join("."));
        self.add(without(name, "_total"), &help, (metric.kind, unit), labels, value);
    }

    fn add(
        &mut self,
        name: &str,
        help: &str,
        (kind, unit): (Kind, Option<registry::Unit>),
        labels: Labels,
        value: f64,
    ) {
        let family = |kind| Family { help: help.to_owned(), kind, unit, series: Vec::new() };
        let plain = format!("hairpin_{name}");
        // A name has one kind. Another version of a program may have the other one.
        let name = match self.0.get(&plain) {
            Some(known) if known.kind != kind => format!("{plain}_{}", kind.text()),
            _ => plain,
        };
        let family = self.0.entry(name).or_insert_with(|| family(kind));
        family.series.push((labels, value));
    }
}

/// Removes the end of a name that the format adds again.
fn without<'a>(name: &'a str, end: &str) -> &'a str {
    name.strip_suffix(end).unwrap_or(name)
}

fn labels(page: &ProcessPage<'_>) -> Labels {
    let command = page.command.split('/').next().unwrap_or_default();
    vec![
        ("command", command.to_owned()),
        ("page", page.name.to_owned()),
        ("pid", page.process.to_string()),
    ]
}

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (name, Family { help, kind, unit, series }) in &self.0 {
            let metric_type = match kind {
                Kind::Counter => MetricType::Counter,
                _ => MetricType::Gauge,
            };
            let mut metric = encoder.encode_descriptor(name, help, unit.as_ref(), metric_type)?;
            for (labels, value) in series {
                encode_value(metric.encode_family(labels)?, *kind, *value)?;
            }
        }
        Ok(())
    }
}

fn encode_value(mut metric: MetricEncoder<'_>, kind: Kind, value: f64) -> fmt::Result {
    match kind {
        Kind::Counter => metric.encode_counter::<NoLabelSet, f64, f64>(&value, None),
        _ => metric.encode_gauge(&value),
    }
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::tests::{metric, page, snapshot};
    use super::*;

    #[test]
    fn renders_units_numbers_and_both_kinds_of_a_name() {
        let gaps = metric("feed.gaps", Kind::Counter, Unit::Count);
        let old_gaps = metric("feed.gaps", Kind::Gauge, Unit::Count);
        let lost = metric("trader.1.lost", Kind::Counter, Unit::Messages);
        let waiting = metric("session.waiting_bytes", Kind::Gauge, Unit::Bytes);
        let latency = metric("order.last-ns.p50_ns", Kind::Gauge, Unit::Nanoseconds);
        let [a, b] = ["a", "b"]
            .map(|line| metric(&format!("feed.packets_{line}"), Kind::Counter, Unit::Packets));
        let values =
            vec![(&gaps, 7), (&lost, 2), (&waiting, 3), (&latency, 1_500), (&a, 4), (&b, 5)];
        let pages = vec![page(7, 1, values), page(8, 2, vec![(&old_gaps, 1)])];
        let text = render(&snapshot(3, pages), Format::OpenMetrics).unwrap();
        let of = |pid| format!("command=\"exchange\",page=\"exchange\",pid=\"{pid}\"");
        for line in [
            format!("hairpin_feed_gaps_total{{{}}} 7.0", of(7)),
            format!("hairpin_feed_gaps_gauge{{{}}} 1.0", of(8)),
            format!("hairpin_trader_lost_total{{{},number=\"1\"}} 2.0", of(7)),
            format!("hairpin_session_waiting_bytes{{{}}} 3.0", of(7)),
            format!("hairpin_order_last_ns_p50_seconds{{{}}} 0.0000015", of(7)),
            format!("hairpin_process_start_time_seconds{{{}}} 2.0", of(8)),
            format!("hairpin_process_info{{{},title=\"exchange --interface lo\"}} 1.0", of(7)),
            format!("hairpin_feed_packets_total{{{},line=\"A\"}} 4.0", of(7)),
            format!("hairpin_feed_packets_total{{{},line=\"B\"}} 5.0", of(7)),
            "hairpin_refused_pages 0.0".to_owned(),
            "# TYPE hairpin_feed_gaps counter".to_owned(),
            "# UNIT hairpin_session_waiting_bytes bytes".to_owned(),
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn scraper_chooses_the_format() {
        let header = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
        assert_eq!(Format::accepted(header), Format::OpenMetrics);
        assert_eq!(Format::accepted("*/*"), Format::Prometheus);
    }
}
