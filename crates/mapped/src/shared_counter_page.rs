//! A page of named counters that a parent process shares with its children.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;

use hairpin_time::Utc;

use crate::mapping;
use crate::metric::{Kind, Metric, Unit};
use crate::page_layout::{Layout, PageError, Spacing};
use crate::value_page::Page;

/// The name in the page's header. The file name differs from that of live counters, so that no
/// process lists the page as such.
const NAME: &str = "control";

/// A counter of a [`SharedCounterPage`], looked up once by name and then used on the hot path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(usize);

/// A page of named 64-bit counters in a sealed memory file, shared by several processes.
///
/// Every process that maps the descriptor sees all counters live. A parent passes the descriptor to
/// a child by inheritance. Both then communicate through the page: progress in one direction, a
/// stop flag in the other. All accesses are relaxed: a counter reports progress and does not order
/// other memory accesses.
///
/// The layout is that of every page of values (see [`CounterPage`](crate::CounterPage)). Each value
/// has a cache line of its own, since several processes write them. Every process with the
/// descriptor may write.
#[derive(Debug)]
pub struct SharedCounterPage {
    page: Page,
    file: File,
}

impl SharedCounterPage {
    /// Creates a page with one counter, set to zero, for each of `names`.
    ///
    /// The descriptor is close-on-exec until the caller passes it to a child.
    ///
    /// # Errors
    /// [`PageError::Names`] if the names do not fit the layout, [`PageError::Io`] if the kernel has
    /// no more memory or descriptors.
    pub fn create(names: &[&str]) -> Result<Self, PageError> {
        let metric = |name: &&str| {
            let name = (*name).to_owned();
            Metric { name, kind: Kind::Gauge, unit: Unit::Count }
        };
        let layout = Layout {
            title: NAME.to_owned(),
            name: NAME.to_owned(),
            process: std::process::id(),
            started: Utc::EPOCH,
            spacing: Spacing::Apart,
            metrics: names.iter().map(metric).collect(),
        };
        let (page, file) = Page::create(c"hairpin-control", layout)?;
        mapping::seal(&file)?;
        Ok(Self { page, file })
    }

    /// Opens a page that another process has created, from its descriptor.
    ///
    /// Everything is validated before it is used. The header is read once, by value.
    ///
    /// # Errors
    /// Every [`PageError`]: the file is not such a page, or cannot be read or mapped.
    pub fn open(fd: OwnedFd) -> Result<Self, PageError> {
        let file = File::from(fd);
        let page = Page::open(&file)?;
        if page.layout.spacing != Spacing::Apart {
            return Err(PageError::NotPage);
        }
        Ok(Self { page, file })
    }

    /// Returns the counter with this name.
    #[must_use]
    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.page.layout.metrics.iter().position(|metric| metric.name == name).map(Slot)
    }

    /// Iterates over the counters with their names and values, in creation order.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, &str, u64)> {
        self.page.layout.metrics.iter().enumerate().map(|(index, metric)| {
            let slot = Slot(index);
            (slot, metric.name.as_str(), self.load(slot))
        })
    }

    /// Adds to a counter, wrapping, and returns its previous value.
    ///
    /// # Panics
    /// If the slot belongs to another page that has more counters.
    pub fn add(&self, slot: Slot, count: u64) -> u64 {
        self.page.value(slot.0).fetch_add(count, Ordering::Relaxed)
    }

    /// Sets a counter.
    ///
    /// # Panics
    /// If the slot belongs to another page that has more counters.
    pub fn store(&self, slot: Slot, value: u64) {
        self.page.value(slot.0).store(value, Ordering::Relaxed);
    }

    /// Reads a counter.
    ///
    /// # Panics
    /// If the slot belongs to another page that has more counters.
    #[must_use]
    pub fn load(&self, slot: Slot) -> u64 {
        self.page.value(slot.0).load(Ordering::Relaxed)
    }

    /// Returns the descriptor, for a child to inherit and [`open`](Self::open).
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::metric::NAME_MAX;
    use crate::page_layout::VALUES_MAX;

    fn reopen(counters: &SharedCounterPage) -> Result<SharedCounterPage, PageError> {
        SharedCounterPage::open(counters.fd().try_clone_to_owned().unwrap())
    }

    #[test]
    fn both_processes_see_counters() {
        let ours = SharedCounterPage::create(&["stop", "orders"]).unwrap();
        let theirs = reopen(&ours).unwrap();
        let (stop, orders) = (ours.slot("stop").unwrap(), theirs.slot("orders").unwrap());
        assert_eq!(theirs.add(orders, 3), 0);
        assert_eq!(theirs.add(orders, 4), 3);
        ours.store(stop, 1);
        assert_eq!(ours.iter().collect::<Vec<_>>(), [(stop, "stop", 1), (orders, "orders", 7)]);
        assert_eq!(theirs.load(stop), 1);
        assert_eq!(theirs.slot("order"), None);
    }

    #[test]
    fn values_are_one_cache_line_apart() {
        let counters = SharedCounterPage::create(&["a", "b"]).unwrap();
        let at = |name| counters.page.value(counters.slot(name).unwrap().0).as_ptr() as usize;
        assert_eq!(at("b") - at("a"), 64);
        assert_eq!(at("a") % 64, 0);
    }

    #[test]
    fn create_rejects_invalid_names() {
        let long = "n".repeat(NAME_MAX + 1);
        let many: Vec<String> = (0..=VALUES_MAX).map(|n| n.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for names in [&[][..], &[""], &["a", "a"], &[&long], &["a\0b"], &many] {
            assert!(matches!(SharedCounterPage::create(names), Err(PageError::Names)), "{names:?}");
        }
        let longest = SharedCounterPage::create(&[&long[1..]]).unwrap();
        assert!(reopen(&longest).unwrap().slot(&long[1..]).is_some());
        assert!(reopen(&SharedCounterPage::create(&many[1..]).unwrap()).is_ok());
    }

    #[test]
    fn open_rejects_single_writer_page() {
        let live = crate::CounterPage::create("test", "test", |writer| {
            writer.counter("a", "b", Unit::Count, 0);
        });
        let fd = live.unwrap().fd().try_clone_to_owned().unwrap();
        assert!(SharedCounterPage::open(fd).is_err());
        let file = mapping::create(c"hairpin-test").unwrap();
        file.write_all_at(&crate::page_layout::tests::layout().encode(), 0).unwrap();
        mapping::seal(&file).unwrap();
        assert!(matches!(SharedCounterPage::open(file.into()), Err(PageError::NotPage)));
    }

    #[test]
    #[should_panic(expected = "no such value in this page")]
    fn panics_on_slot_of_larger_page() {
        let larger = SharedCounterPage::create(&["a", "b"]).unwrap();
        let smaller = SharedCounterPage::create(&["a"]).unwrap();
        let _ = smaller.load(larger.slot("b").unwrap());
    }
}
