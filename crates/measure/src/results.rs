//! The results file: one JSON document for every comparison, report and table.

mod document;
mod environment_report;
mod error;
mod host;
mod json_layout;
mod over_time;
mod rounds;
mod row;

pub use document::{Results, SCHEMA};
pub use environment_report::{CoreReport, EnvironmentError, EnvironmentReport};
pub use error::{ResultsError, RowError};
pub use host::{Host, Timestamping};
pub use over_time::Bucket;
pub(crate) use rounds::shown;
pub use rounds::{Figure, RoundFigures, Spread, interleaved};
pub(crate) use row::is_preferred;
pub use row::{Clock, Kind, Row, Setting, Unit};

#[cfg(test)]
pub(crate) use row::tests;
