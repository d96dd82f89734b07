//! A report: a self-contained HTML page, and its charts as files.

use std::io;
use std::path::{Path, PathBuf};

use crate::chart::{self, Chart, Layout};
use crate::chart_group::{self, ChartGroup};
use crate::page::Page;
use crate::{Results, file};

/// A report of some results files: percentile curves, histograms, latency over time, tables,
/// machines.
///
/// The page is a single file: it works from a disk, without network and scripts, on light and dark
/// screens and on paper. Rows of all files with the same feed and interval share a chart, with a
/// panel for each file and case on common axes. Each file has its own table.
///
/// The same results give the same bytes.
///
/// ```no_run
/// use hairpin_measure::{Report, Results};
///
/// let results = [Results::read("before.json".as_ref())?, Results::read("after.json".as_ref())?];
/// let names = ["before.json".to_string(), "after.json".to_string()];
/// Report::new(&results).with_names(&names).write("report".as_ref())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    results: &'a [Results],
    names: &'a [String],
    tables: &'a [(String, String)],
}

/// The reason for which a report cannot be written. The text has one line; the source of
/// [`Self::Io`] contains the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The folder cannot be created, or a file in it cannot be written.
    #[error("cannot write {path}")]
    Io {
        /// The folder or file.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// The path of the folder exists and is not a folder.
    #[error("cannot write to {path}: not a folder")]
    NotAFolder {
        /// The path.
        path: String,
    },
}

/// The file name of the page.
const PAGE: &str = "report.html";

impl<'a> Report<'a> {
    /// Returns a report of these files, in this order.
    #[must_use]
    pub const fn new(results: &'a [Results]) -> Self {
        Self { results, names: &[], tables: &[] }
    }

    /// Sets the names of the files, in their order. The default name of a file is its command.
    #[must_use]
    pub const fn with_names(self, names: &'a [String]) -> Self {
        Self { names, ..self }
    }

    /// Sets printed tables, with a title each. They are the first part of the page.
    #[must_use]
    pub const fn with_tables(self, tables: &'a [(String, String)]) -> Self {
        Self { tables, ..self }
    }

    /// Returns the page.
    #[must_use]
    pub fn html(&self) -> String {
        let groups = chart_group::chart_groups(self.results);
        self.page(&groups, &self.charts(&groups))
    }

    /// Writes `report.html` and, for each feed and interval with samples,
    /// `percentiles-<feed>-<interval>.svg`, `histogram-…` and `latency-…` into a folder, with the
    /// interval in microseconds. Rows of three or more message sizes have `size-…` as well, which
    /// replaces the others if there are more than 12 settings. Creates the folder if necessary.
    /// Returns the written files, the page last.
    ///
    /// Each file is replaced atomically: a reader sees the old or the new one. Other files in the
    /// folder are not changed.
    ///
    /// # Errors
    /// [`ReportError::NotAFolder`] if `folder` exists and is not a folder; [`ReportError::Io`] if
    /// the folder cannot be created or a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, ReportError> {
        if folder.exists() && !folder.is_dir() {
            return Err(ReportError::NotAFolder { path: folder.display().to_string() });
        }
        std::fs::create_dir_all(folder).map_err(|source| io_error(folder, source))?;
        let groups = chart_group::chart_groups(self.results);
        let charts = self.charts(&groups);
        let mut written = Vec::new();
        for chart in charts.iter().flatten() {
            let path = folder.join(format!("{}.svg", chart.name));
            written.push(save(path, &chart.standalone())?);
        }
        // The page last, after all its charts.
        written.push(save(folder.join(PAGE), &self.page(&groups, &charts))?);
        Ok(written)
    }

    /// Draws the charts of each group.
    fn charts(&self, groups: &[ChartGroup<'_>]) -> Vec<Vec<Chart>> {
        let subject = Page::subject(self.results, self.names);
        groups.iter().map(|group| chart::charts(group, &subject, Layout::WIDE)).collect()
    }

    fn page(&self, groups: &[ChartGroup<'_>], charts: &[Vec<Chart>]) -> String {
        Page::new(self.results, self.names, groups, charts).with_tables(self.tables).render()
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
