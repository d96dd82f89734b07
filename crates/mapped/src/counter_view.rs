//! A page of live counters as another process sees it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::Ordering;

use hairpin_time::Utc;

use crate::layout::PageError;
use crate::metric::Metric;
use crate::page::Page;

/// The live counters of a process, mapped to be read.
///
/// All of its text was checked: it is short, printable ASCII. The values are whatever their writer
/// stores, each read whole. Reading takes no system call and the writer does not notice. While a
/// view is held the memory stays, the process's end notwithstanding.
#[derive(Debug)]
pub struct CounterView {
    page: Page,
    id: FileId,
}

/// What tells a file from every other that exists at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Of whatever is at `path`, links followed.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        Ok(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

impl CounterView {
    /// Opens the page that `link`, an entry of some `/proc/PID/fd`, stands for. A stranger may put
    /// anything there at any time: nothing but a sealed memory file is even opened.
    ///
    /// # Errors
    /// Every [`PageError`].
    pub(crate) fn open(link: &Path) -> Result<Self, PageError> {
        // This neither reads nor waits, whatever it is: a pipe, a device.
        let place = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(link)?;
        let metadata = place.metadata()?;
        if !metadata.is_file() {
            return Err(PageError::NotSealed);
        }
        let file = File::open(format!("/proc/self/fd/{}", place.as_raw_fd()))?;
        let id = FileId { device: metadata.dev(), inode: metadata.ino() };
        Ok(Self { page: Page::open_read_only(&file)?, id })
    }

    pub(crate) fn id(&self) -> FileId {
        self.id
    }

    /// The process id that the maker has in its own eyes.
    pub(crate) fn maker(&self) -> u32 {
        self.page.layout.process
    }

    /// What the process is: its command, and what tells it from others of its kind.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.page.layout.title
    }

    /// The first word of the title.
    #[must_use]
    pub fn command(&self) -> &str {
        self.title().split(' ').next().unwrap_or_default()
    }

    /// What the page is in its process, such as its thread's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.page.layout.name
    }

    /// When the page was made, by the clock of its maker.
    #[must_use]
    pub fn started(&self) -> Utc {
        self.page.layout.started
    }

    /// What the values are, in the order of the page: 1 to [`VALUES_MAX`](crate::VALUES_MAX).
    #[must_use]
    pub fn metrics(&self) -> &[Metric] {
        &self.page.layout.metrics
    }

    /// Every value as it is now, in the order of [`metrics`](Self::metrics).
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

    #[test]
    fn values_are_seen_while_they_change() {
        let tell = |value| {
            move |sheet: &mut crate::CounterWriter<'_>| {
                sheet.counter("a", "b", Unit::Messages, value)
            }
        };
        let mut page = CounterPage::create("echo --port 7", "loop", tell(1)).unwrap();
        let view = CounterView::open(&link(&page.fd())).unwrap();
        assert_eq!((view.title(), view.command(), view.name()), ("echo --port 7", "echo", "loop"));
        assert_eq!(view.metrics()[0].name, "a.b");
        assert_eq!(view.values().collect::<Vec<_>>(), [1]);
        page.update(hairpin_time::Instant::ZERO, tell(u64::MAX));
        assert_eq!(view.values().collect::<Vec<_>>(), [u64::MAX]);
        drop(page);
        assert_eq!(view.values().collect::<Vec<_>>(), [u64::MAX], "the view keeps it");
    }

    #[test]
    fn what_is_no_memory_file_is_not_opened() {
        let file = tempfile::tempfile().unwrap();
        for link in ["/dev/zero".into(), "/proc".into(), link(&file)] {
            let outcome = CounterView::open(&link);
            assert!(matches!(outcome, Err(PageError::NotSealed)), "{outcome:?}");
        }
        assert!(matches!(CounterView::open(Path::new("/nothing")), Err(PageError::Io(_))));
    }

    /// To open a pipe that nobody writes waits until somebody does.
    #[test]
    fn a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let (told, outcome) = std::sync::mpsc::channel();
        std::thread::spawn(move || told.send(CounterView::open(&pipe).map(drop)));
        let outcome = outcome.recv_timeout(std::time::Duration::from_secs(20));
        assert!(matches!(outcome, Ok(Err(PageError::NotSealed))), "{outcome:?}");
    }
}
