//! A page of named counters, shared by a parent process and its children.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;

use hairpin_time::Utc;

use crate::layout::{Layout, PageError, Spacing};
use crate::memory;
use crate::metric::{Kind, Metric, Unit};
use crate::page::Page;

/// What stands in the page's header: it is nobody's live counters, and not found as such.
const NAME: &str = "control";

/// One counter of a [`SharedCounterPage`] page, found once by name and then used on the hot path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(usize);

/// A page of named 64-bit counters in a sealed memory file.
///
/// Whoever holds the descriptor and maps it sees every counter live: a parent hands it to a child
/// by inheritance, and both then speak through it: progress one way, a stop flag the other. All
/// access is relaxed: a counter says how far something got, never that other memory is ready.
///
/// The layout is that of every page of values (see [`CounterPage`](crate::CounterPage)); here each
/// value
/// has a cache line to itself, since it is not one process that writes them all, and everybody who
/// holds the descriptor may write.
#[derive(Debug)]
pub struct SharedCounterPage {
    page: Page,
    file: File,
}

impl SharedCounterPage {
    /// Makes a page with one counter, at zero, for each of `names`.
    ///
    /// The descriptor is close-on-exec until it is handed to a child on purpose.
    ///
    /// # Errors
    /// [`PageError::Names`] if the names do not fit the layout, [`PageError::Io`] if the kernel has
    /// no memory or no descriptor left.
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
        memory::seal(&file)?;
        Ok(Self { page, file })
    }

    /// Opens a page that another process has made, from the descriptor it handed over.
    ///
    /// Nothing is believed before it is checked, and the header is read once, by value.
    ///
    /// # Errors
    /// Every [`PageError`]: it is no such page, or it cannot be read or mapped.
    pub fn open(fd: OwnedFd) -> Result<Self, PageError> {
        let file = File::from(fd);
        let page = Page::open(&file)?;
        if page.layout.spacing != Spacing::Apart {
            return Err(PageError::NotPage);
        }
        Ok(Self { page, file })
    }

    /// The counter of that name.
    #[must_use]
    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.page.layout.metrics.iter().position(|metric| metric.name == name).map(Slot)
    }

    /// Every counter with its name and value, in the order of creation.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, &str, u64)> {
        self.page.layout.metrics.iter().enumerate().map(|(index, metric)| {
            let slot = Slot(index);
            (slot, metric.name.as_str(), self.load(slot))
        })
    }

    /// Adds to a counter, wrapping, and returns what it held before.
    ///
    /// # Panics
    /// If the slot is of another page, with more counters than this one.
    pub fn add(&self, slot: Slot, count: u64) -> u64 {
        self.page.value(slot.0).fetch_add(count, Ordering::Relaxed)
    }

    /// Sets a counter.
    ///
    /// # Panics
    /// If the slot is of another page, with more counters than this one.
    pub fn store(&self, slot: Slot, value: u64) {
        self.page.value(slot.0).store(value, Ordering::Relaxed);
    }

    /// Reads a counter.
    ///
    /// # Panics
    /// If the slot is of another page, with more counters than this one.
    #[must_use]
    pub fn load(&self, slot: Slot) -> u64 {
        self.page.value(slot.0).load(Ordering::Relaxed)
    }

    /// The descriptor, for a child to inherit and [`open`](Self::open).
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::layout::VALUES_MAX;
    use crate::metric::NAME_MAX;

    fn again(control: &SharedCounterPage) -> Result<SharedCounterPage, PageError> {
        SharedCounterPage::open(control.fd().try_clone_to_owned().unwrap())
    }

    #[test]
    fn both_sides_see_each_other_count() {
        let ours = SharedCounterPage::create(&["stop", "orders"]).unwrap();
        let theirs = again(&ours).unwrap();
        let (stop, orders) = (ours.slot("stop").unwrap(), theirs.slot("orders").unwrap());
        assert_eq!(theirs.add(orders, 3), 0);
        assert_eq!(theirs.add(orders, 4), 3);
        ours.store(stop, 1);
        assert_eq!(ours.iter().collect::<Vec<_>>(), [(stop, "stop", 1), (orders, "orders", 7)]);
        assert_eq!(theirs.load(stop), 1);
        assert_eq!(theirs.slot("order"), None);
    }

    #[test]
    fn values_of_neighbours_are_a_cache_line_apart() {
        let control = SharedCounterPage::create(&["a", "b"]).unwrap();
        let at = |name| control.page.value(control.slot(name).unwrap().0).as_ptr() as usize;
        assert_eq!(at("b") - at("a"), 64);
        assert_eq!(at("a") % 64, 0);
    }

    #[test]
    fn names_that_do_not_fit_the_layout_are_refused() {
        let long = "n".repeat(NAME_MAX + 1);
        let many: Vec<String> = (0..=VALUES_MAX).map(|n| n.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for names in [&[][..], &[""], &["a", "a"], &[&long], &["a\0b"], &many] {
            assert!(matches!(SharedCounterPage::create(names), Err(PageError::Names)), "{names:?}");
        }
        let longest = SharedCounterPage::create(&[&long[1..]]).unwrap();
        assert!(again(&longest).unwrap().slot(&long[1..]).is_some());
        assert!(again(&SharedCounterPage::create(&many[1..]).unwrap()).is_ok());
    }

    #[test]
    fn a_page_that_only_its_maker_writes_is_no_control() {
        let live = crate::CounterPage::create("test", "test", |sheet| {
            sheet.counter("a", "b", Unit::Count, 0);
        });
        let fd = live.unwrap().fd().try_clone_to_owned().unwrap();
        assert!(SharedCounterPage::open(fd).is_err());
        let file = memory::create(c"hairpin-test").unwrap();
        file.write_all_at(&crate::layout::tests::layout().encode(), 0).unwrap();
        memory::seal(&file).unwrap();
        assert!(matches!(SharedCounterPage::open(file.into()), Err(PageError::NotPage)));
    }

    #[test]
    #[should_panic(expected = "a value of another page")]
    fn a_slot_of_a_larger_page_is_a_defect() {
        let larger = SharedCounterPage::create(&["a", "b"]).unwrap();
        let smaller = SharedCounterPage::create(&["a"]).unwrap();
        let _ = smaller.load(larger.slot("b").unwrap());
    }
}
