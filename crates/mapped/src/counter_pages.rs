//! Discovery of the live counters of running processes.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::counter_page::FILE_NAME;
use crate::counter_view::{CounterView, FileId};
use crate::page_layout::PageError;

/// The maximum number of pages per process that are checked.
const PAGES_MAX: usize = 64;

/// The pages of live counters that processes have open now.
///
/// The pages are found among the open files of each process in `/proc`, so there is no registry to
/// become stale. Network namespaces do not matter. A user sees the user's own processes, and root
/// sees all. A process in another PID namespace is listed by its number in this namespace.
#[derive(Debug, Default)]
pub struct CounterPages {
    /// The pages found, by process id, then in creation order.
    pub found: Vec<Found>,
    /// The processes that may not be inspected, such as those of other users. Kernel threads are
    /// omitted.
    pub unreadable: Vec<u32>,
}

/// A page of live counters that was found.
#[derive(Debug)]
pub struct Found {
    /// The process that created the page. If that process has ended, one of those that hold the
    /// page.
    pub process: u32,
    /// The page, or the reason why it is rejected: a later version, or an invalid page.
    pub page: Result<CounterView, PageError>,
}

/// A process that has a page open, and its link to the page.
struct PageHolder {
    process: u32,
    link: PathBuf,
}

impl CounterPages {
    /// Finds the pages of all processes.
    ///
    /// # Errors
    /// The kernel's errors if there is no `/proc`.
    pub fn find() -> io::Result<Self> {
        let mut pages = Self::default();
        pages.refresh()?;
        Ok(pages)
    }

    /// Finds the pages again. Known pages stay mapped.
    ///
    /// # Errors
    /// Same as [`find`](Self::find); the known pages are kept.
    pub fn refresh(&mut self) -> io::Result<()> {
        let mut holders = BTreeMap::new();
        let mut unreadable = Vec::new();
        for process in processes(Path::new("/proc"))? {
            match collect_pages(process, &mut holders) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    if !is_kernel_thread(process) {
                        unreadable.push(process);
                    }
                }
                // The process has ended in the meantime.
                Ok(()) | Err(_) => {}
            }
        }
        let mut known: BTreeMap<FileId, CounterView> = std::mem::take(&mut self.found)
            .into_iter()
            .filter_map(|found| found.page.ok().map(|view| (view.id(), view)))
            .collect();
        let found = holders.into_iter().filter_map(|(id, holders)| {
            let page = known.remove(&id).map(Ok).or_else(|| open(id, &holders))?;
            Some(found(&holders, page))
        });
        self.found = found.collect();
        // Inode numbers follow the order of creation.
        self.found.sort_by_key(|found| found.process);
        self.unreadable = unreadable;
        Ok(())
    }
}

/// Opens the page `id` through the first link that still leads to it. Returns `None` if none does.
///
/// Every link is tried, since a process that opens pages to read them, such as `hairpin stat`,
/// holds each for a moment, and then reuses the descriptor.
fn open(id: FileId, holders: &[PageHolder]) -> Option<Result<CounterView, PageError>> {
    let mut links = holders.iter().map(|holder| &holder.link);
    links.find_map(|link| CounterView::open_if_unchanged(link, id).transpose())
}

/// Attributes a page to its creator, or else to the first of its holders.
fn found(holders: &[PageHolder], page: Result<CounterView, PageError>) -> Found {
    let maker = page.as_ref().ok().map(CounterView::maker);
    let is_maker = |holder: &&PageHolder| Some(holder.process) == maker;
    let process = holders.iter().find(is_maker).unwrap_or(&holders[0]).process;
    Found { process, page }
}

/// Lists all processes by id.
fn processes(directory: &Path) -> io::Result<Vec<u32>> {
    let entries = fs::read_dir(directory)?.filter_map(Result::ok);
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut processes: Vec<u32> = ids.collect();
    processes.sort_unstable();
    Ok(processes)
}

/// Collects the files of `process` that have the name of a page.
///
/// # Errors
/// The process has ended, or may not be inspected.
fn collect_pages(process: u32, holders: &mut BTreeMap<FileId, Vec<PageHolder>>) -> io::Result<()> {
    let links = fs::read_dir(format!("/proc/{process}/fd"))?.filter_map(Result::ok);
    for link in links.map(|entry| entry.path()).filter(|link| is_page(link)).take(PAGES_MAX) {
        let Ok(id) = FileId::from_path(&link) else { continue };
        holders.entry(id).or_default().push(PageHolder { process, link });
    }
    Ok(())
}

/// Returns `true` if the target of a link has the name of a page.
fn is_page(link: &Path) -> bool {
    fs::read_link(link).is_ok_and(|target| {
        let name = target.to_str().and_then(|name| name.strip_prefix("/memfd:"));
        name.and_then(|name| name.strip_suffix(" (deleted)")) == Some(FILE_NAME)
    })
}

/// Returns `true` for a kernel thread, which has no program and so no pages.
fn is_kernel_thread(process: u32) -> bool {
    fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|text| text.is_empty())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::FileExt;

    use hairpin_time::Instant;

    use super::*;
    use crate::{CounterPage, CounterWriter, Unit, mapping};

    fn write(value: u64) -> impl Fn(&mut CounterWriter<'_>) {
        move |writer| writer.counter("test", "value", Unit::Count, value)
    }

    /// Returns the pages of this test by title, since other tests of this process publish pages
    /// too.
    fn ours<'a>(pages: &'a CounterPages, title: &str) -> Vec<&'a CounterView> {
        let process = std::process::id();
        let found = pages.found.iter().filter(|found| found.process == process);
        found.filter_map(|found| found.page.as_ref().ok()).filter(|v| v.title() == title).collect()
    }

    #[test]
    fn finds_each_page_once() {
        let title = "finds_each_page_once";
        let pages = ["a", "b"].map(|name| CounterPage::create(title, name, write(1)).unwrap());
        let duplicate = pages[1].fd().try_clone_to_owned().unwrap();
        let found = CounterPages::find().unwrap();
        let names = ours(&found, title).iter().map(|view| view.name()).collect::<Vec<_>>();
        assert_eq!(names, ["a", "b"]);
        drop(duplicate);
    }

    #[test]
    fn refresh_keeps_mapped_pages_and_drops_closed_ones() {
        let title = "refresh_keeps_mapped_pages_and_drops_closed_ones";
        let mut page = CounterPage::create(title, "a", write(1)).unwrap();
        let mut pages = CounterPages::find().unwrap();
        let values = |pages: &CounterPages| ours(pages, title)[0].values().collect::<Vec<_>>();
        assert_eq!(values(&pages), [1]);
        let metrics = ours(&pages, title)[0].metrics().as_ptr();
        page.update(Instant::ZERO, write(2));
        assert_eq!(values(&pages), [2]);
        pages.refresh().unwrap();
        assert_eq!(ours(&pages, title)[0].metrics().as_ptr(), metrics);
        let later = CounterPage::create(title, "b", write(3)).unwrap();
        pages.refresh().unwrap();
        assert_eq!(ours(&pages, title).len(), 2);
        drop(page);
        pages.refresh().unwrap();
        assert_eq!(values(&pages), [3]);
        drop(later);
        pages.refresh().unwrap();
        assert_eq!(ours(&pages, title).len(), 0);
    }

    fn forged_page(image: &[u8]) -> File {
        let file = mapping::create(c"hairpin-counters").unwrap();
        file.write_all_at(image, 0).unwrap();
        mapping::seal(&file).unwrap();
        file
    }

    fn errors(pages: &CounterPages) -> Vec<String> {
        let found_errors = pages.found.iter().filter_map(|found| found.page.as_ref().err());
        found_errors.map(ToString::to_string).collect()
    }

    #[test]
    fn reports_invalid_and_newer_pages() {
        let mut image = crate::page_layout::tests::layout().encode();
        image[8..12].copy_from_slice(&77_u32.to_le_bytes());
        let files = [forged_page(&image), forged_page(b"?")];
        let found_errors = errors(&CounterPages::find().unwrap());
        for expected in ["unsupported page version 77", "not a page of values"] {
            assert!(found_errors.iter().any(|text| text.starts_with(expected)), "{found_errors:?}");
        }
        drop(files);
    }

    #[test]
    fn recognizes_pages_by_file_name() {
        let title = "recognizes_pages_by_file_name";
        let page = CounterPage::create(title, "a", write(1)).unwrap();
        let link = |fd: &dyn AsRawFd| PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()));
        assert!(is_page(&link(&page.fd())));
        assert!(!is_page(&link(&crate::SharedCounterPage::create(&["a"]).unwrap().fd())));
        assert!(!is_page(&link(&tempfile::tempfile().unwrap())));
        assert!(!is_page(&link(&mapping::create(c"hairpin-counters-").unwrap())));
    }

    #[test]
    fn page_belongs_to_creating_process() {
        let page = CounterPage::create("a page", "a", write(1)).unwrap();
        let link = PathBuf::from(format!("/proc/self/fd/{}", page.fd().as_raw_fd()));
        let ours = std::process::id();
        for (processes, expected) in
            [(vec![ours], ours), (vec![1, ours, u32::MAX], ours), (vec![1, 2], 1)]
        {
            let id = FileId::from_path(&link).unwrap();
            let holder = |process| PageHolder { process, link: link.clone() };
            let holders: Vec<_> = processes.into_iter().map(holder).collect();
            assert_eq!(found(&holders, open(id, &holders).unwrap()).process, expected);
        }
    }

    /// Another reader, which opened the page for a moment, must not hide it.
    #[test]
    fn page_is_opened_through_a_link_that_still_leads_to_it() {
        let page = CounterPage::create("a page", "a", write(1)).unwrap();
        let link = |fd: i32| PathBuf::from(format!("/proc/self/fd/{fd}"));
        let id = FileId::from_path(&link(page.fd().as_raw_fd())).unwrap();
        let holder = |link| PageHolder { process: 1, link };
        let holders = [link(-1), "/dev/zero".into(), link(page.fd().as_raw_fd())].map(holder);
        assert_eq!(open(id, &holders).unwrap().unwrap().title(), "a page");
        assert!(open(id, &holders[..2]).is_none());
    }

    #[test]
    fn lists_numeric_directories_as_processes() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["12", "3", "self", "-1", "4294967296", "1x"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        assert_eq!(processes(directory.path()).unwrap(), [3, 12]);
        assert!(processes(&directory.path().join("none")).is_err());
    }

    #[test]
    fn recognizes_kernel_threads() {
        assert!(!is_kernel_thread(std::process::id()));
        assert!(!is_kernel_thread(u32::MAX), "a process that does not exist");
        // If kernel threads are visible, process 2 is their parent.
        if fs::read_to_string("/proc/2/comm").is_ok_and(|name| name == "kthreadd\n") {
            assert!(is_kernel_thread(2));
        }
    }
}
