//! The results file: one JSON document for every comparison, report and table.

mod document;
mod error;
mod host;
mod layout;
mod over_time;
mod row;

pub use document::{Results, SCHEMA};
pub use error::{ResultsError, RowError};
pub use host::{Host, Timestamping};
pub use over_time::Bucket;
pub use row::{Clock, Kind, Row, Setting, Unit};

#[cfg(test)]
pub(crate) use row::tests;
