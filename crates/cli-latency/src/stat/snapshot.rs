//! A snapshot of live counters.

use hairpin_mapped::{CounterPages, CounterView, Found, Metric, PageError};
use hairpin_time::Utc;

use super::pattern::Pattern;

/// The selected processes and values.
#[derive(Debug, Clone, Default)]
pub(super) struct CounterFilter {
    /// Process ids; empty means all.
    pub(super) processes: Vec<u32>,
    /// Patterns of names, of which one must match; empty means all.
    pub(super) names: Vec<Pattern>,
}

impl CounterFilter {
    pub(super) fn process(&self, id: u32) -> bool {
        self.processes.is_empty() || self.processes.contains(&id)
    }

    fn name(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|pattern| pattern.matches(name))
    }
}

/// All selected values at one moment.
#[derive(Debug)]
pub(super) struct CounterSnapshot<'a> {
    pub(super) taken: Utc,
    pub(super) pages: Vec<ProcessPage<'a>>,
    /// Invalid pages: the process, and the error.
    pub(super) refused: Vec<(u32, &'a PageError)>,
    /// Processes of other users that may publish counters.
    pub(super) unreadable: usize,
}

/// One page of a process; most processes have one.
#[derive(Debug)]
pub(super) struct ProcessPage<'a> {
    pub(super) process: u32,
    /// The process's command; if it has several pages, followed by a slash and the page's name.
    pub(super) command: String,
    pub(super) name: &'a str,
    pub(super) title: &'a str,
    pub(super) started: Utc,
    pub(super) values: Vec<(&'a Metric, u64)>,
}

/// Identifies a page uniquely, even among those of a later process with the same id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PageId {
    pub(super) process: u32,
    started: Utc,
    name: String,
}

impl ProcessPage<'_> {
    pub(super) fn id(&self) -> PageId {
        PageId { process: self.process, started: self.started, name: self.name.to_owned() }
    }
}

impl<'a> CounterSnapshot<'a> {
    /// Reads the selected values of the known pages. Pages without a selected value are left out.
    pub(super) fn take(pages: &'a CounterPages, filter: &CounterFilter, taken: Utc) -> Self {
        let found = || pages.found.iter().filter(|found| filter.process(found.process));
        let read = |found: &'a Found| {
            let view = found.page.as_ref().ok()?;
            let is_one_of_several = found_of(pages, found.process).nth(1).is_some();
            let page = ProcessPage::read(found.process, view, filter, is_one_of_several);
            (!page.values.is_empty()).then_some(page)
        };
        let refused = |found: &'a Found| Some((found.process, found.page.as_ref().err()?));
        Self {
            taken,
            pages: found().filter_map(read).collect(),
            refused: found().filter_map(refused).collect(),
            unreadable: pages.unreadable.iter().filter(|&&id| filter.process(id)).count(),
        }
    }
}

impl<'a> ProcessPage<'a> {
    fn read(
        process: u32,
        view: &'a CounterView,
        filter: &CounterFilter,
        is_one_of_several: bool,
    ) -> Self {
        let command = match is_one_of_several {
            true => format!("{}/{}", view.command(), view.name()),
            false => view.command().to_owned(),
        };
        let values = view.metrics().iter().zip(view.values());
        Self {
            process,
            command,
            name: view.name(),
            title: view.title(),
            started: view.started(),
            values: values.filter(|(metric, _)| filter.name(&metric.name)).collect(),
        }
    }
}

fn found_of(pages: &CounterPages, process: u32) -> impl Iterator<Item = &Found> {
    pages.found.iter().filter(move |found| found.process == process && found.page.is_ok())
}

/// Pages for the tests of output.
#[cfg(test)]
pub(super) mod tests {
    use hairpin_mapped::{CounterPage, Kind, Unit};

    use super::*;

    pub(in crate::stat) fn metric(name: &str, kind: Kind, unit: Unit) -> Metric {
        Metric { name: name.to_owned(), kind, unit }
    }

    /// Returns a page of process `process`, an exchange, started at second `started`.
    pub(in crate::stat) fn page<'a>(
        process: u32,
        started: u64,
        values: Vec<(&'a Metric, u64)>,
    ) -> ProcessPage<'a> {
        ProcessPage {
            process,
            command: "exchange".to_owned(),
            name: "exchange",
            title: "exchange --interface lo",
            started: Utc::from_nanos(started * 1_000_000_000),
            values,
        }
    }

    pub(in crate::stat) fn snapshot(
        taken: u64,
        pages: Vec<ProcessPage<'_>>,
    ) -> CounterSnapshot<'_> {
        let taken = Utc::from_nanos(taken * 1_000_000_000);
        CounterSnapshot { taken, pages, refused: Vec::new(), unreadable: 0 }
    }

    #[test]
    fn reads_what_is_wanted() {
        let title = "reads_what_is_wanted --of this";
        let publish = |name| {
            CounterPage::create(title, name, |sheet| {
                sheet.counter("feed", "gaps", Unit::Count, 7);
                sheet.gauge("session", "waiting", Unit::Bytes, 8);
            })
        };
        let (_a, _b) = (publish("a").unwrap(), publish("b").unwrap());
        let pages = CounterPages::find().unwrap();
        let read = |processes: &[u32], names: &[&str]| {
            let names = names.iter().map(|name| name.parse().unwrap()).collect();
            let filter = CounterFilter { processes: processes.to_vec(), names };
            let snapshot = CounterSnapshot::take(&pages, &filter, Utc::EPOCH);
            let ours = snapshot.pages.into_iter().filter(|page| page.title == title);
            let value = |(metric, value): &(&Metric, u64)| (metric.name.clone(), *value);
            let page = |page: ProcessPage<'_>| {
                (page.command.clone(), page.values.iter().map(value).collect::<Vec<_>>())
            };
            ours.map(page).collect::<Vec<_>>()
        };
        let (gaps, waiting) = (("feed.gaps".to_owned(), 7), ("session.waiting".to_owned(), 8));
        let names = ["a", "b"].map(|name| format!("reads_what_is_wanted/{name}"));
        let both = |values: Vec<_>| names.clone().map(|name| (name, values.clone()));
        assert_eq!(read(&[], &[]), both(vec![gaps.clone(), waiting.clone()]));
        assert_eq!(read(&[std::process::id()], &["gaps"]), both(vec![gaps.clone()]));
        assert_eq!(read(&[], &["gaps", "*.waiting"]), both(vec![gaps, waiting]));
        assert_eq!(read(&[], &["nothing"]), []);
        assert_eq!(read(&[std::process::id() + 1], &[]), []);
    }
}
