//! Finding the live counters of running processes.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::counter_page::FILE_NAME;
use crate::counter_view::{CounterView, FileId};
use crate::layout::PageError;

/// More pages of one process are not looked at.
const PAGES_MAX: usize = 64;

/// The pages of live counters that processes have open just now.
///
/// Looked for where every process's open files can be seen, in `/proc`: so there is no registry to
/// go stale. Network namespaces make no difference. A user sees his own processes, root sees all; a
/// process in another PID namespace is known here by the number it has here.
#[derive(Debug, Default)]
pub struct CounterPages {
    /// What was found, by process id, then in the order in which a process has made its pages.
    pub found: Vec<Found>,
    /// Processes that may not be looked into: other users'. Kernel threads are not among them.
    pub unreadable: Vec<u32>,
}

/// A page of live counters.
#[derive(Debug)]
pub struct Found {
    /// The process that has made it; if that has ended and left the page to others, one of those.
    pub process: u32,
    /// The page, or why it is not believed: a later version's, or not sound.
    pub page: Result<CounterView, PageError>,
}

/// Who has a page open, and one way to it.
struct Holders {
    processes: Vec<u32>,
    link: PathBuf,
}

impl CounterPages {
    /// Looks for the pages of all processes.
    ///
    /// # Errors
    /// The kernel's if there is no `/proc`.
    pub fn find() -> io::Result<Self> {
        let mut pages = Self::default();
        pages.refresh()?;
        Ok(pages)
    }

    /// Looks again. Pages that are known already stay mapped as they are.
    ///
    /// # Errors
    /// As [`find`](Self::find); what was known is kept.
    pub fn refresh(&mut self) -> io::Result<()> {
        let mut holders = BTreeMap::new();
        let mut unreadable = Vec::new();
        for process in processes(Path::new("/proc"))? {
            match note_pages(process, &mut holders) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    if !is_kernel_thread(process) {
                        unreadable.push(process);
                    }
                }
                // It has ended meanwhile.
                Ok(()) | Err(_) => {}
            }
        }
        let mut known: BTreeMap<FileId, CounterView> = std::mem::take(&mut self.found)
            .into_iter()
            .filter_map(|found| found.page.ok().map(|view| (view.id(), view)))
            .collect();
        let found = holders.into_iter().filter_map(|(id, holders)| {
            let page = known.remove(&id).map_or_else(|| CounterView::open(&holders.link), Ok);
            holders.found(page)
        });
        self.found = found.collect();
        // Files are numbered in the order in which they are made.
        self.found.sort_by_key(|found| found.process);
        self.unreadable = unreadable;
        Ok(())
    }
}

impl Holders {
    /// The page, unless it is gone meanwhile.
    fn found(self, page: Result<CounterView, PageError>) -> Option<Found> {
        if matches!(&page, Err(PageError::Io(error)) if error.kind() == io::ErrorKind::NotFound) {
            return None;
        }
        let maker = page.as_ref().ok().map(CounterView::maker);
        let made = self.processes.iter().copied().find(|&process| Some(process) == maker);
        Some(Found { process: made.or(self.processes.first().copied())?, page })
    }
}

/// Every process, by its id.
fn processes(folder: &Path) -> io::Result<Vec<u32>> {
    let entries = fs::read_dir(folder)?.filter_map(Result::ok);
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut processes: Vec<u32> = ids.collect();
    processes.sort_unstable();
    Ok(processes)
}

/// Notes the files of `process` that bear the name of a page.
///
/// # Errors
/// The process has ended, or may not be looked into.
fn note_pages(process: u32, holders: &mut BTreeMap<FileId, Holders>) -> io::Result<()> {
    let links = fs::read_dir(format!("/proc/{process}/fd"))?.filter_map(Result::ok);
    for link in links.map(|entry| entry.path()).filter(|link| is_page(link)).take(PAGES_MAX) {
        let Ok(id) = FileId::of(&link) else { continue };
        let holders = holders.entry(id).or_insert_with(|| Holders { processes: vec![], link });
        holders.processes.push(process);
    }
    Ok(())
}

/// Whether the file behind a link is called as a page is.
fn is_page(link: &Path) -> bool {
    fs::read_link(link).is_ok_and(|target| {
        let name = target.to_str().and_then(|name| name.strip_prefix("/memfd:"));
        name.and_then(|name| name.strip_suffix(" (deleted)")) == Some(FILE_NAME)
    })
}

/// Whether there is no program behind a process: nothing to look for.
fn is_kernel_thread(process: u32) -> bool {
    fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|words| words.is_empty())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::FileExt;

    use hairpin_time::Instant;

    use super::*;
    use crate::{CounterPage, CounterWriter, Unit, memory};

    fn tell(value: u64) -> impl Fn(&mut CounterWriter<'_>) {
        move |sheet| sheet.counter("test", "value", Unit::Count, value)
    }

    /// Other tests of this process publish too: ours are known by their titles.
    fn ours<'a>(pages: &'a CounterPages, title: &str) -> Vec<&'a CounterView> {
        let process = std::process::id();
        let found = pages.found.iter().filter(|found| found.process == process);
        found.filter_map(|found| found.page.as_ref().ok()).filter(|v| v.title() == title).collect()
    }

    #[test]
    fn every_page_of_a_process_is_found_once() {
        let title = "every_page_of_a_process_is_found_once";
        let pages = ["a", "b"].map(|name| CounterPage::create(title, name, tell(1)).unwrap());
        let duplicate = pages[1].fd().try_clone_to_owned().unwrap();
        let found = CounterPages::find().unwrap();
        let names = ours(&found, title).iter().map(|view| view.name()).collect::<Vec<_>>();
        assert_eq!(names, ["a", "b"]);
        drop(duplicate);
    }

    #[test]
    fn what_is_known_stays_mapped_and_what_is_closed_goes() {
        let title = "what_is_known_stays_mapped_and_what_is_closed_goes";
        let mut page = CounterPage::create(title, "a", tell(1)).unwrap();
        let mut pages = CounterPages::find().unwrap();
        let values = |pages: &CounterPages| ours(pages, title)[0].values().collect::<Vec<_>>();
        assert_eq!(values(&pages), [1]);
        let metrics = ours(&pages, title)[0].metrics().as_ptr();
        page.update(Instant::ZERO, tell(2));
        assert_eq!(values(&pages), [2]);
        pages.refresh().unwrap();
        assert_eq!(ours(&pages, title)[0].metrics().as_ptr(), metrics);
        let later = CounterPage::create(title, "b", tell(3)).unwrap();
        pages.refresh().unwrap();
        assert_eq!(ours(&pages, title).len(), 2);
        drop(page);
        pages.refresh().unwrap();
        assert_eq!(values(&pages), [3]);
        drop(later);
        pages.refresh().unwrap();
        assert_eq!(ours(&pages, title).len(), 0);
    }

    fn impostor(image: &[u8]) -> File {
        let file = memory::create(c"hairpin-counters").unwrap();
        file.write_all_at(image, 0).unwrap();
        memory::seal(&file).unwrap();
        file
    }

    fn refusals(pages: &CounterPages) -> Vec<String> {
        let refused = pages.found.iter().filter_map(|found| found.page.as_ref().err());
        refused.map(ToString::to_string).collect()
    }

    #[test]
    fn an_unsound_page_is_told_and_so_is_a_later_version() {
        let mut image = crate::layout::tests::layout().encode();
        image[8..12].copy_from_slice(&77_u32.to_le_bytes());
        let files = [impostor(&image), impostor(b"?")];
        let refused = refusals(&CounterPages::find().unwrap());
        for expected in ["a page of version 77", "not a page of values"] {
            assert!(refused.iter().any(|words| words.starts_with(expected)), "{refused:?}");
        }
        drop(files);
    }

    #[test]
    fn a_page_is_known_by_its_name_and_a_journal_is_not_one() {
        let title = "a_page_is_known_by_its_name_and_a_journal_is_not_one";
        let page = CounterPage::create(title, "a", tell(1)).unwrap();
        let link = |fd: &dyn AsRawFd| PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()));
        assert!(is_page(&link(&page.fd())));
        assert!(!is_page(&link(&crate::SharedCounterPage::create(&["a"]).unwrap().fd())));
        assert!(!is_page(&link(&tempfile::tempfile().unwrap())));
        assert!(!is_page(&link(&memory::create(c"hairpin-counters-").unwrap())));
    }

    #[test]
    fn a_page_is_its_makers_whoever_else_has_it_open() {
        let page = CounterPage::create("a page", "a", tell(1)).unwrap();
        let link = PathBuf::from(format!("/proc/self/fd/{}", page.fd().as_raw_fd()));
        let ours = std::process::id();
        for (processes, expected) in
            [(vec![ours], ours), (vec![1, ours, u32::MAX], ours), (vec![1, 2], 1)]
        {
            let holders = Holders { processes, link: link.clone() };
            assert_eq!(holders.found(CounterView::open(&link)).unwrap().process, expected);
        }
    }

    #[test]
    fn processes_are_the_numbers_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["12", "3", "self", "-1", "4294967296", "1x"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        assert_eq!(processes(folder.path()).unwrap(), [3, 12]);
        assert!(processes(&folder.path().join("none")).is_err());
    }

    #[test]
    fn a_kernel_thread_has_no_program() {
        assert!(!is_kernel_thread(std::process::id()));
        assert!(!is_kernel_thread(u32::MAX), "nor has what is not there");
        // Where this sees the kernel's own, the second is their parent.
        if fs::read_to_string("/proc/2/comm").is_ok_and(|name| name == "kthreadd\n") {
            assert!(is_kernel_thread(2));
        }
    }
}
