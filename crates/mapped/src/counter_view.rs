//! A read-only view of the live counters of another process.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::Ordering;

use hairpin_time::Utc;

use crate::metric::Metric;
use crate::page_layout::PageError;
use crate::value_page::Page;

/// The live counters of a process, mapped read-only.
///
/// All text was validated: it is short, printable ASCII. The values are whatever the writer stores,
/// each read whole. Reading needs no system call, and the writer does not notice. While a view
/// exists the memory stays, even after the process has ended.
#[derive(Debug)]
pub struct CounterView {
    page: Page,
    id: FileId,
}

/// The identity of a file among all that exist at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Returns the identity of the file at `path`, following links.
    pub(crate) fn from_path(path: &Path) -> io::Result<Self> {
        Ok(Self::from_metadata(&std::fs::metadata(path)?))
    }

    fn from_metadata(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

impl CounterView {
    /// Opens the page behind `link`, an entry of some `/proc/PID/fd`. Another process may put any
    /// file there at any time, so only a sealed memory file is opened. Returns `None` if the link
    /// no longer exists, or now leads to another file than `id`.
    ///
    /// # Errors
    /// Every [`PageError`].
    pub(crate) fn open_if_unchanged(link: &Path, id: FileId) -> Result<Option<Self>, PageError> {
        // O_PATH neither reads nor blocks, even for a pipe or a device.
        let path_only = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(link);
        let path_handle = match path_only {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            result => result?,
        };
        let metadata = path_handle.metadata()?;
        if FileId::from_metadata(&metadata) != id {
            return Ok(None);
        }
        if !metadata.is_file() {
            return Err(PageError::NotSealed);
        }
        let file = File::open(format!("/proc/self/fd/{}", path_handle.as_raw_fd()))?;
        Ok(Some(Self { page: Page::open_read_only(&file)?, id }))
    }

    pub(crate) fn id(&self) -> FileId {
        self.id
    }

    /// Returns the creator's process id in the creator's PID namespace.
    pub(crate) fn maker(&self) -> u32 {
        self.page.layout.process
    }

    /// Returns the title: the process's command, and what distinguishes it from others of its kind.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.page.layout.title
    }

    /// Returns the first word of the title.
    #[must_use]
    pub fn command(&self) -> &str {
        self.title().split(' ').next().unwrap_or_default()
    }

    /// Returns the name of the page in its process, such as the thread's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.page.layout.name
    }

    /// Returns the creation time by the creator's clock.
    #[must_use]
    pub fn started(&self) -> Utc {
        self.page.layout.started
    }

    /// Returns the descriptions of the values, in page order: 1 to
    /// [`VALUES_MAX`](crate::VALUES_MAX).
    #[must_use]
    pub fn metrics(&self) -> &[Metric] {
        &self.page.layout.metrics
    }

    /// Iterates over the current values, in the order of [`metrics`](Self::metrics).
    pub fn values(&self) -> impl Iterator<Item = u64> {
        (0..self.metrics().len()).map(|index| self.page.value(index).load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::path::PathBuf;

    use super::*;
    use crate::{CounterPage, Unit};

    fn link(file: &impl AsRawFd) -> PathBuf {
        format!("/proc/self/fd/{}", file.as_raw_fd()).into()
    }

    fn open(link: &Path) -> Result<CounterView, PageError> {
        let id = FileId::from_path(link)?;
        CounterView::open_if_unchanged(link, id).map(|view| view.expect("the link is unchanged"))
    }

    #[test]
    fn view_shows_changing_values() {
        let write = |value| {
            move |writer: &mut crate::CounterWriter<'_>| {
                writer.counter("a", "b", Unit::Messages, value)
            }
        };
        let mut page = CounterPage::create("echo --port 7", "loop", write(1)).unwrap();
        let view = open(&link(&page.fd())).unwrap();
        assert_eq!((view.title(), view.command(), view.name()), ("echo --port 7", "echo", "loop"));
        assert_eq!(view.metrics()[0].name, "a.b");
        assert_eq!(view.values().collect::<Vec<_>>(), [1]);
        page.update(hairpin_time::Instant::ZERO, write(u64::MAX));
        assert_eq!(view.values().collect::<Vec<_>>(), [u64::MAX]);
        drop(page);
        assert_eq!(view.values().collect::<Vec<_>>(), [u64::MAX], "the view keeps the page");
    }

    #[test]
    fn open_rejects_other_files() {
        let file = tempfile::tempfile().unwrap();
        for link in ["/dev/zero".into(), "/proc".into(), link(&file)] {
            let outcome = open(&link);
            assert!(matches!(outcome, Err(PageError::NotSealed)), "{outcome:?}");
        }
    }

    #[test]
    fn open_if_unchanged_ignores_missing_and_replaced_links() {
        let [page, other] = ["a", "b"].map(|name| {
            CounterPage::create("a page", name, |writer| {
                writer.counter("a", "b", Unit::Count, 1);
            })
            .unwrap()
        });
        let id = FileId::from_path(&link(&page.fd())).unwrap();
        for link in ["/nothing".into(), "/dev/zero".into(), link(&other.fd())] {
            assert!(CounterView::open_if_unchanged(&link, id).unwrap().is_none(), "{link:?}");
        }
    }

    /// Opening a pipe without a writer would block.
    #[test]
    fn open_does_not_block_on_pipe() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let (sender, outcome) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(open(&pipe).map(drop)));
        let outcome = outcome.recv_timeout(std::time::Duration::from_secs(20));
        assert!(matches!(outcome, Ok(Err(PageError::NotSealed))), "{outcome:?}");
    }
}
