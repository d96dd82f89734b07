//! Live counters that a process publishes while it runs.

use std::fmt::Display;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use hairpin_time::{Duration, Instant, Utc};

use crate::mapping;
use crate::metric::{Kind, Metric, Unit};
use crate::page_layout::{Layout, PageError, Spacing, TITLE_MAX};
use crate::value_page::Page;

/// The file name of a page of live counters, as shown by `/proc/PID/fd`.
pub(crate) const FILE_NAME: &str = "hairpin-counters";
/// The minimum update interval of a page: a tenth of what a person notices at a terminal. At this
/// rate two hundred values cost a loop less than one part in ten thousand.
pub const INTERVAL: Duration = Duration::from_millis(10);
/// The maximum update interval of a page: a loop that is never idle still updates its page this
/// often.
pub const INTERVAL_MAX: Duration = Duration::from_millis(100);

/// The counters and gauges of this process in a sealed memory file, readable by other processes.
///
/// The file is anonymous: only `/proc/PID/fd` shows it, and it disappears with the process, however
/// the process ends. [`CounterPages`](crate::CounterPages) finds such pages.
///
/// A page has one writer thread; a process with several threads has several pages. The writer
/// stores plain 64-bit words, relaxed: without lock, atomic addition or fence, and after
/// [`create`](Self::create) without system calls. Readers cannot block the writer or write to the
/// page, since the file is sealed. Values are adjacent, so two hundred take 25 cache lines. A
/// reader sees each value whole, but may see values of two successive updates together.
///
/// ```
/// use hairpin_mapped::{INTERVAL, CounterPage, CounterWriter, Unit};
/// use hairpin_time::Instant;
///
/// struct Echo { received: u64, is_connected: bool }
/// impl Echo {
///     fn write(&self, writer: &mut CounterWriter<'_>) {
///         writer.counter("echo", "received", Unit::Packets, self.received);
///         writer.gauge("echo", "connected", Unit::Flag, self.is_connected.into());
///     }
/// }
///
/// let mut echo = Echo { received: 0, is_connected: true };
/// let mut page = CounterPage::create("echo --port 7", "echo", |writer| echo.write(writer))?;
/// // In the loop, at the end of an iteration:
/// echo.received += 1;
/// let now = Instant::from_nanos(1_000_000_000);
/// assert!(page.update_if_due(now, true, |writer| echo.write(writer)));
/// assert!(!page.update_if_due(now, true, |writer| echo.write(writer)), "once per interval");
/// # Ok::<(), hairpin_mapped::PageError>(())
/// ```
#[derive(Debug)]
pub struct CounterPage {
    page: Page,
    file: File,
    updated: Instant,
}

impl CounterPage {
    /// Creates the page with the values that `write` declares.
    ///
    /// `title` describes the process for users: its command first, then what distinguishes it from
    /// others of its kind. **Every reader sees the title: it must not contain secrets or unchecked
    /// arguments.** Bytes other than printable ASCII become `?`, and the title is cut after
    /// [`TITLE_MAX`] bytes. `name` identifies the page within the process, such as the thread's
    /// name.
    ///
    /// # Errors
    /// [`PageError::Title`] if title or name is invalid, [`PageError::Names`] if value names are
    /// invalid or not unique or there are more than 1024, [`PageError::Io`] if the kernel has no
    /// more memory or descriptors.
    pub fn create(
        title: &str,
        name: &str,
        write: impl Fn(&mut CounterWriter<'_>),
    ) -> Result<Self, PageError> {
        let mut metrics = Vec::new();
        write(&mut CounterWriter(Pass::Declare(&mut metrics)));
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
        mapping::seal_for_readers(&file)?;
        let mut page = Self { page, file, updated: Instant::ZERO };
        page.update(Instant::ZERO, write);
        Ok(page)
    }

    /// Updates the page if an update is due: after [`INTERVAL`] if the loop is idle (`is_idle`),
    /// or after [`INTERVAL_MAX`] in any case. Returns `true` if the page was updated.
    ///
    /// Otherwise costs one comparison. `now` is the loop's own time; no clock is read.
    #[inline]
    pub fn update_if_due(
        &mut self,
        now: Instant,
        is_idle: bool,
        write: impl FnOnce(&mut CounterWriter<'_>),
    ) -> bool {
        let interval = if is_idle { INTERVAL } else { INTERVAL_MAX };
        let is_due = now.saturating_since(self.updated) >= interval;
        if is_due {
            self.update(now, write);
        }
        is_due
    }

    /// Updates the page. `write` must write the declared values in the declared order.
    ///
    /// # Panics
    /// If `write` writes more or fewer values than declared.
    pub fn update(&mut self, now: Instant, write: impl FnOnce(&mut CounterWriter<'_>)) {
        self.updated = now;
        let mut writer = CounterWriter(Pass::Write { page: &self.page, next: 0 });
        write(&mut writer);
        if let Pass::Write { next, .. } = writer.0 {
            assert_eq!(
                next,
                self.page.layout.metrics.len(),
                "every declared value must be written"
            );
        }
    }

    /// Returns the descriptor. A process that inherits it can read the page and keeps it alive.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// A writer of values. The same code declares the values when the page is created, and writes them
/// at each update.
#[derive(Debug)]
pub struct CounterWriter<'a>(Pass<'a>);

#[derive(Debug)]
enum Pass<'a> {
    Declare(&'a mut Vec<Metric>),
    Write { page: &'a Page, next: usize },
}

impl CounterWriter<'_> {
    /// Writes a counter, a value that only grows, named `part.name`.
    #[inline]
    pub fn counter(&mut self, part: impl Display, name: &str, unit: Unit, value: u64) {
        self.value(part, name, Kind::Counter, unit, value);
    }

    /// Writes a gauge, a current value, named `part.name`.
    #[inline]
    pub fn gauge(&mut self, part: impl Display, name: &str, unit: Unit, value: u64) {
        self.value(part, name, Kind::Gauge, unit, value);
    }

    /// Writes all counters of a counter struct. The units are derived from the names.
    #[inline]
    pub fn counters(
        &mut self,
        part: impl Display + Copy,
        counters: impl Iterator<Item = (&'static str, u64)>,
    ) {
        for (name, value) in counters {
            match self.0 {
                Pass::Declare(_) => self.counter(part, name, unit_of(name), value),
                Pass::Write { .. } => self.counter(part, name, Unit::Count, value),
            }
        }
    }

    #[inline]
    fn value(&mut self, part: impl Display, name: &str, kind: Kind, unit: Unit, value: u64) {
        match &mut self.0 {
            Pass::Declare(metrics) => {
                metrics.push(Metric { name: format!("{part}.{name}"), kind, unit });
            }
            Pass::Write { page, next } => {
                page.value(*next).store(value, Ordering::Relaxed);
                *next += 1;
            }
        }
    }
}

/// Derives a unit from a counter's name, by our naming convention: the counted thing comes first or
/// last, and packets with too many bytes are packets.
fn unit_of(name: &str) -> Unit {
    // This counter counts the packets with trailing bytes.
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
    // A word in the middle also names the unit: feed_bytes_sent, lost_datagrams_a.
    let middle = words.find_map(of_word);
    of_word(first).or(last.and_then(of_word)).or(middle).unwrap_or(Unit::Count)
}

/// Replaces characters that a terminal would interpret or a line cannot contain.
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
        CounterPage::create("test of\tpages", "test", |writer| write(writer, 1)).unwrap()
    }

    fn write(writer: &mut CounterWriter<'_>, value: u64) {
        writer.counter("feed", "gaps", Unit::Count, value);
        writer.gauge(format_args!("trader.{}", 3), "waiting", Unit::Orders, 2 * value);
        let counters = [("bytes_sent", 3 * value), ("lapses", 4 * value)];
        writer.counters("gateway", counters.into_iter());
    }

    fn values(page: &CounterPage) -> Vec<u64> {
        let count = page.page.layout.metrics.len();
        (0..count).map(|index| page.page.value(index).load(Ordering::Relaxed)).collect()
    }

    #[test]
    fn values_are_declared_once_and_written_each_time() {
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
        page.update(at(1), |writer| write(writer, 10));
        assert_eq!(values(&page), [10, 20, 30, 40]);
    }

    #[test]
    fn updates_once_per_interval() {
        let mut page = page();
        page.update(at(1_000), |writer| write(writer, 1));
        let mut due = |ms, is_idle| page.update_if_due(at(ms), is_idle, |writer| write(writer, ms));
        assert!(!due(1_009, true));
        assert!(!due(1_010, false));
        assert!(due(1_010, true));
        assert!(!due(1_109, false));
        assert!(due(1_110, false));
        // A clock that was set back must not cause an update in every iteration.
        assert!(!due(900, true));
        assert_eq!(values(&page)[0], 1_110);
    }

    #[test]
    #[should_panic(expected = "every declared value must be written")]
    fn panics_on_fewer_values_than_declared() {
        page().update(at(1), |writer| writer.counter("feed", "gaps", Unit::Count, 1));
    }

    #[test]
    #[should_panic(expected = "no such value in this page")]
    fn panics_on_more_values_than_declared() {
        page().update(at(1), |writer| {
            write(writer, 1);
            write(writer, 2);
        });
    }

    #[test]
    fn create_rejects_duplicate_values() {
        let outcome = CounterPage::create("test", "test", |writer| {
            write(writer, 1);
            write(writer, 1);
        });
        assert!(matches!(outcome, Err(PageError::Names)));
        assert!(matches!(CounterPage::create("test", "test", |_| ()), Err(PageError::Names)));
        assert!(matches!(
            CounterPage::create("", "test", |writer| write(writer, 1)),
            Err(PageError::Title)
        ));
    }

    #[test]
    fn other_processes_cannot_write() {
        use std::os::unix::fs::FileExt;
        let page = page();
        let file = File::from(page.fd().try_clone_to_owned().unwrap());
        assert!(file.write_all_at(&[1], 0).is_err());
        assert!(file.set_len(0).is_err());
        assert!(Page::open(&file).is_err(), "a writable mapping");
    }

    #[test]
    fn packs_200_values_into_25_cache_lines() {
        let page = CounterPage::create("test", "test", |writer| {
            (0..200).for_each(|n| writer.counter(n, "n", Unit::Count, n));
        });
        let page = page.unwrap();
        let at = |index| page.page.value(index).as_ptr() as usize;
        assert_eq!((at(0) % 64, at(199) - at(0)), (0, 25 * 64 - 8));
    }

    #[test]
    fn derives_unit_from_counter_name() {
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
