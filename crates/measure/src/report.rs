//! A report: one page that needs nothing beside it, and its pictures as files.

use std::io;
use std::path::{Path, PathBuf};

use crate::cell::{self, Cell};
use crate::page::Page;
use crate::picture::{self, Picture};
use crate::{Results, file};

/// What some results files say, for people: latency over time, histograms, percentile curves,
/// tables, machines.
///
/// The page is one file without links to others: it opens from a disk, without a network and
/// without scripts, on light or dark ground and on paper. Rows of all files that agree in feed and
/// interval share a picture, a panel for each file and case on common axes, so that files can be
/// compared by eye; a table of its own remains to each file.
///
/// The same results give the same bytes.
///
/// ```no_run
/// use hairpin_measure::{Report, Results};
///
/// let results = [Results::read("before.json".as_ref())?, Results::read("after.json".as_ref())?];
/// let names = ["before.json".to_string(), "after.json".to_string()];
/// Report::new(&results).named(&names).write("report".as_ref())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    results: &'a [Results],
    names: &'a [String],
}

/// Why a report could not be written; in one line, with the source of [`Self::Io`] behind it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The folder cannot be made, or a file in it cannot be written.
    #[error("{path}")]
    Io {
        /// The folder or file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// Where the folder should be there is something else.
    #[error("{path}: not a folder")]
    NotAFolder {
        /// What is there.
        path: String,
    },
}

/// The page's file name.
const PAGE: &str = "report.html";

impl<'a> Report<'a> {
    /// A report of these files, in this order.
    #[must_use]
    pub const fn new(results: &'a [Results]) -> Self {
        Self { results, names: &[] }
    }

    /// What each file is called, in their order. One without a name goes by its command.
    #[must_use]
    pub const fn named(self, names: &'a [String]) -> Self {
        Self { names, ..self }
    }

    /// The page.
    #[must_use]
    pub fn html(&self) -> String {
        let cells = cell::cells(self.results);
        self.page(&cells, &self.pictures(&cells))
    }

    /// Writes `report.html` and, for each feed and interval with samples,
    /// `percentiles-<feed>-<interval>.svg`, `histogram-…` and `latency-…` into a folder, which is
    /// made if it is not there. The interval is in microseconds. Returns what was written, the page
    /// last.
    ///
    /// Each file is replaced whole: whoever has one open sees the old or the new one. Pictures of
    /// another run that lie in the folder are left alone.
    ///
    /// # Errors
    /// [`ReportError::NotAFolder`] if `folder` is something else; [`ReportError::Io`] if it cannot
    /// be made or a file in it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, ReportError> {
        if folder.exists() && !folder.is_dir() {
            return Err(ReportError::NotAFolder { path: folder.display().to_string() });
        }
        std::fs::create_dir_all(folder).map_err(|source| io_error(folder, source))?;
        let cells = cell::cells(self.results);
        let pictures = self.pictures(&cells);
        let mut written = Vec::new();
        for picture in pictures.iter().flatten() {
            let path = folder.join(format!("{}.svg", picture.name));
            written.push(save(path, &picture.standalone())?);
        }
        // The page last: it shows no picture that is not there yet.
        written.push(save(folder.join(PAGE), &self.page(&cells, &pictures))?);
        Ok(written)
    }

    /// Those of each cell.
    fn pictures(&self, cells: &[Cell<'_>]) -> Vec<Vec<Picture>> {
        let subject = Page::subject(self.results, self.names);
        cells.iter().map(|cell| picture::of_cell(cell, &subject)).collect()
    }

    fn page(&self, cells: &[Cell<'_>], pictures: &[Vec<Picture>]) -> String {
        Page::new(self.results, self.names, cells, pictures).render()
    }
}

fn save(path: PathBuf, text: &str) -> Result<PathBuf, ReportError> {
    match file::write_text(&path, text) {
        Ok(()) => Ok(path),
        Err(source) => Err(io_error(&path, source)),
    }
}

fn io_error(path: &Path, source: io::Error) -> ReportError {
    ReportError::Io { path: path.display().to_string(), source }
}
