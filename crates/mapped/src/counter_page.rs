//! Live counters: what a process tells of itself while it runs.

use std::fmt::Display;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use hairpin_time::{Duration, Instant, Utc};

use crate::layout::{Layout, PageError, Spacing, TITLE_MAX};
use crate::memory;
use crate::metric::{Kind, Metric, Unit};
use crate::page::Page;

/// What a page of live counters is called, as `/proc/PID/fd` shows it.
pub(crate) const FILE_NAME: &str = "hairpin-counters";
/// No page is brought up to date more often: a tenth of what a person at a terminal notices, and so
/// seldom that some two hundred values cost a loop less than one part in ten thousand.
pub const INTERVAL: Duration = Duration::from_millis(10);
/// A loop that is never at leisure brings its page up to date nevertheless.
pub const INTERVAL_MAX: Duration = Duration::from_millis(100);

/// Counters and gauges of this process in a sealed memory file, for whoever may look.
///
/// The file is anonymous: `/proc/PID/fd` shows it, nothing else does, and it is gone with the
/// process, however that ends. [`CounterPages`](crate::CounterPages) finds such pages.
///
/// One thread writes a page, and the page is its own (a process of several threads has several): it
/// stores plain 64-bit words, relaxed; no lock, no atomic addition, no fence, and after
/// [`create`](Self::create) no system call. Readers cannot stop it, nor write: the file is sealed
/// against that. Values stand side by side, so that two hundred are 25 cache lines. What a reader
/// sees is each value whole; values of one update may meet those of the one before.
///
/// ```
/// use hairpin_mapped::{INTERVAL, CounterPage, CounterWriter, Unit};
/// use hairpin_time::Instant;
///
/// struct Echo { received: u64, is_connected: bool }
/// impl Echo {
///     fn tell(&self, sheet: &mut CounterWriter<'_>) {
///         sheet.counter("echo", "received", Unit::Packets, self.received);
///         sheet.gauge("echo", "connected", Unit::Flag, self.is_connected.into());
///     }
/// }
///
/// let mut echo = Echo { received: 0, is_connected: true };
/// let mut page = CounterPage::create("echo --port 7", "echo", |sheet| echo.tell(sheet))?;
/// // In the loop, at the end of a turn:
/// echo.received += 1;
/// let now = Instant::from_nanos(1_000_000_000);
/// assert!(page.update_if_due(now, true, |sheet| echo.tell(sheet)));
/// assert!(!page.update_if_due(now, true, |sheet| echo.tell(sheet)), "once an interval");
/// # Ok::<(), hairpin_mapped::PageError>(())
/// ```
#[derive(Debug)]
pub struct CounterPage {
    page: Page,
    file: File,
    updated: Instant,
}

impl CounterPage {
    /// Makes the page, with the values that `tell` names and states.
    ///
    /// `title` says for a person what the process is: its command first, then what tells it from
    /// others of its kind. **Everybody who may look sees it: never a secret, never words that were
    /// not chosen.** What is not printable ASCII becomes `?`; it ends after [`TITLE_MAX`] bytes.
    /// `name` says what this page is in the process, such as its thread's name.
    ///
    /// # Errors
    /// [`PageError::Title`] if title or name are none, [`PageError::Names`] if values have no sound
    /// names of their own or are more than 1024, [`PageError::Io`] if the kernel has no memory or
    /// no descriptor left.
    pub fn create(
        title: &str,
        name: &str,
        tell: impl Fn(&mut CounterWriter<'_>),
    ) -> Result<Self, PageError> {
        let mut metrics = Vec::new();
        tell(&mut CounterWriter(Pass::Naming(&mut metrics)));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let layout = Layout {
            title: printable(title),
            name: name.to_owned(),
            process: std::process::id(),
            started: Utc::from_nanos(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)),
            spacing: Spacing::Packed,
            metrics: metrics.into(),
        };
        let (page, file) = Page::create(c"hairpin-counters", layout)?;
        memory::seal_for_readers(&file)?;
        let mut page = Self { page, file, updated: Instant::ZERO };
        page.update(Instant::ZERO, tell);
        Ok(page)
    }

    /// Brings the page up to date if that is due: an [`INTERVAL`] after the last time if the loop
    /// is at leisure (`is_quiet`), an [`INTERVAL_MAX`] after it in any case. Whether it was.
    ///
    /// Otherwise it costs a comparison. `now` is the loop's own time; nothing reads a clock.
    #[inline]
    pub fn update_if_due(
        &mut self,
        now: Instant,
        is_quiet: bool,
        tell: impl FnOnce(&mut CounterWriter<'_>),
    ) -> bool {
        let interval = if is_quiet { INTERVAL } else { INTERVAL_MAX };
        let is_due = now.saturating_since(self.updated) >= interval;
        if is_due {
            self.update(now, tell);
        }
        is_due
    }

    /// Brings the page up to date. `tell` must state the values that it named at the beginning, in
    /// the same order.
    ///
    /// # Panics
    /// If it states more values, or fewer.
    pub fn update(&mut self, now: Instant, tell: impl FnOnce(&mut CounterWriter<'_>)) {
        self.updated = now;
        let mut sheet = CounterWriter(Pass::Stating { page: &self.page, next: 0 });
        tell(&mut sheet);
        if let Pass::Stating { next, .. } = sheet.0 {
            assert_eq!(next, self.page.layout.metrics.len(), "values that were not told");
        }
    }

    /// The descriptor. Who inherits it can read the page, and keeps it alive.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Where a part of a process tells its values: the same words name them once, when the page is
/// made, and state them each time it is brought up to date.
#[derive(Debug)]
pub struct CounterWriter<'a>(Pass<'a>);

#[derive(Debug)]
enum Pass<'a> {
    Naming(&'a mut Vec<Metric>),
    Stating { page: &'a Page, next: usize },
}

impl CounterWriter<'_> {
    /// A value that only grows, called `part.name`.
    #[inline]
    pub fn counter(&mut self, part: impl Display, name: &str, unit: Unit, value: u64) {
        self.value(part, name, Kind::Counter, unit, value);
    }

    /// A value as it is now, called `part.name`.
    #[inline]
    pub fn gauge(&mut self, part: impl Display, name: &str, unit: Unit, value: u64) {
        self.value(part, name, Kind::Gauge, unit, value);
    }

    /// Counters as the structs of the house list them, their units told from their names.
    #[inline]
    pub fn counters(
        &mut self,
        part: impl Display + Copy,
        counters: impl Iterator<Item = (&'static str, u64)>,
    ) {
        for (name, value) in counters {
            match self.0 {
                Pass::Naming(_) => self.counter(part, name, unit_of(name), value),
                Pass::Stating { .. } => self.counter(part, name, Unit::Count, value),
            }
        }
    }

    #[inline]
    fn value(&mut self, part: impl Display, name: &str, kind: Kind, unit: Unit, value: u64) {
        match &mut self.0 {
            Pass::Naming(metrics) => {
                metrics.push(Metric { name: format!("{part}.{name}"), kind, unit });
            }
            Pass::Stating { page, next } => {
                page.value(*next).store(value, Ordering::Relaxed);
                *next += 1;
            }
        }
    }
}

/// The unit that the name of a counter says, by the house's way of naming: the thing counted comes
/// first or last, and packets that have too many bytes are packets.
fn unit_of(name: &str) -> Unit {
    // Both count what has the bytes.
    if name == "trailing_bytes" {
        return Unit::Count;
    }
    let mut words = name.split('_');
    let (first, last) = (words.next().unwrap_or_default(), words.next_back());
    let of_word = |word: &str| match word {
        "bytes" => Some(Unit::Bytes),
        "ns" => Some(Unit::Nanoseconds),
        "packets" | "datagrams" => Some(Unit::Packets),
        "messages" => Some(Unit::Messages),
        "orders" => Some(Unit::Orders),
        "connections" => Some(Unit::Connections),
        _ => None,
    };
    // A word amid others is the thing too: feed_bytes_sent, lost_datagrams_a.
    let amid = words.find_map(of_word);
    of_word(first).or(last.and_then(of_word)).or(amid).unwrap_or(Unit::Count)
}

/// The title without what a terminal would obey or a line could not hold.
fn printable(title: &str) -> String {
    let plain = |letter: char| if matches!(letter, ' '..='~') { letter } else { '?' };
    title.trim_start().chars().map(plain).take(TITLE_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn page() -> CounterPage {
        CounterPage::create("test of\tpages", "test", |sheet| tell(sheet, 1)).unwrap()
    }

    fn tell(sheet: &mut CounterWriter<'_>, value: u64) {
        sheet.counter("feed", "gaps", Unit::Count, value);
        sheet.gauge(format_args!("trader.{}", 3), "waiting", Unit::Orders, 2 * value);
        let counters = [("bytes_sent", 3 * value), ("lapses", 4 * value)];
        sheet.counters("gateway", counters.into_iter());
    }

    fn values(page: &CounterPage) -> Vec<u64> {
        let count = page.page.layout.metrics.len();
        (0..count).map(|index| page.page.value(index).load(Ordering::Relaxed)).collect()
    }

    #[test]
    fn what_is_told_is_named_once_and_stated_each_time() {
        let mut page = page();
        let metrics = page.page.layout.metrics.iter();
        let named: Vec<_> = metrics.map(|m| (m.name.as_str(), m.kind, m.unit)).collect();
        let expected = [
            ("feed.gaps", Kind::Counter, Unit::Count),
            ("trader.3.waiting", Kind::Gauge, Unit::Orders),
            ("gateway.bytes_sent", Kind::Counter, Unit::Bytes),
            ("gateway.lapses", Kind::Counter, Unit::Count),
        ];
        assert_eq!(named, expected);
        assert_eq!(page.page.layout.title, "test of?pages");
        assert_eq!(values(&page), [1, 2, 3, 4]);
        page.update(at(1), |sheet| tell(sheet, 10));
        assert_eq!(values(&page), [10, 20, 30, 40]);
    }

    #[test]
    fn is_updated_once_an_interval_and_of_a_busy_loop_seldom() {
        let mut page = page();
        page.update(at(1_000), |sheet| tell(sheet, 1));
        let mut due = |ms, is_quiet| page.update_if_due(at(ms), is_quiet, |sheet| tell(sheet, ms));
        assert!(!due(1_009, true));
        assert!(!due(1_010, false));
        assert!(due(1_010, true));
        assert!(!due(1_109, false));
        assert!(due(1_110, false));
        // A clock that has been set back is no reason to write at every turn.
        assert!(!due(900, true));
        assert_eq!(values(&page)[0], 1_110);
    }

    #[test]
    #[should_panic(expected = "values that were not told")]
    fn to_tell_fewer_values_than_were_named_is_a_defect() {
        page().update(at(1), |sheet| sheet.counter("feed", "gaps", Unit::Count, 1));
    }

    #[test]
    #[should_panic(expected = "a value of another page")]
    fn to_tell_more_values_than_were_named_is_a_defect() {
        page().update(at(1), |sheet| {
            tell(sheet, 1);
            tell(sheet, 2);
        });
    }

    #[test]
    fn values_that_are_told_twice_make_no_page() {
        let outcome = CounterPage::create("test", "test", |sheet| {
            tell(sheet, 1);
            tell(sheet, 1);
        });
        assert!(matches!(outcome, Err(PageError::Names)));
        assert!(matches!(CounterPage::create("test", "test", |_| ()), Err(PageError::Names)));
        assert!(matches!(
            CounterPage::create("", "test", |sheet| tell(sheet, 1)),
            Err(PageError::Title)
        ));
    }

    #[test]
    fn nobody_else_can_write_it() {
        use std::os::unix::fs::FileExt;
        let page = page();
        let file = File::from(page.fd().try_clone_to_owned().unwrap());
        assert!(file.write_all_at(&[1], 0).is_err());
        assert!(file.set_len(0).is_err());
        assert!(Page::open(&file).is_err(), "to map it to write");
    }

    #[test]
    fn two_hundred_values_are_25_cache_lines() {
        let page = CounterPage::create("test", "test", |sheet| {
            (0..200).for_each(|n| sheet.counter(n, "n", Unit::Count, n));
        });
        let page = page.unwrap();
        let at = |index| page.page.value(index).as_ptr() as usize;
        assert_eq!((at(0) % 64, at(199) - at(0)), (0, 25 * 64 - 8));
    }

    #[test]
    fn names_of_the_house_say_their_unit() {
        for (name, unit) in [
            ("bytes", Unit::Bytes),
            ("bytes_received", Unit::Bytes),
            ("feed_bytes_sent", Unit::Bytes),
            ("unexpected_feed_bytes", Unit::Bytes),
            ("packets_a", Unit::Packets),
            ("incremental_packets", Unit::Packets),
            ("packets_too_short", Unit::Packets),
            ("lost_datagrams_a", Unit::Packets),
            ("gap_messages", Unit::Messages),
            ("orders", Unit::Orders),
            ("broken_feed_connections", Unit::Connections),
            ("feed_connections_ended", Unit::Connections),
            ("longest_ns", Unit::Nanoseconds),
            ("trailing_bytes", Unit::Count),
            ("message_sizes_too_small", Unit::Count),
            ("order_rejects", Unit::Count),
            ("gaps", Unit::Count),
        ] {
            assert_eq!(unit_of(name), unit, "{name}");
        }
    }
}
