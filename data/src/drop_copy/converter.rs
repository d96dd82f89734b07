//! Conversion of the journal's reports, with definitions.

use super::definitions::Definitions;
use super::journal_reports::JournalReport;
use super::report::{self, FixReport};

/// The settings of a conversion, which all sessions share.
#[derive(Debug)]
pub(super) struct Converter {
    definitions: Definitions,
    all_tags: bool,
}

impl Converter {
    pub(super) fn new(definitions: Definitions, all_tags: bool) -> Self {
        Self { definitions, all_tags }
    }

    /// Converts a report. `None` with a log line if it is not one.
    pub(super) fn convert(&mut self, report: &JournalReport) -> Option<FixReport> {
        match report::convert(report.message(), &mut self.definitions, self.all_tags) {
            Ok(fix) => Some(fix),
            Err(error) => {
                super::log(format_args!("cannot convert a report: {error:#}; skipped"));
                None
            }
        }
    }
}
