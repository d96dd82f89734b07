//! Comparisons, results files and reports, through the public API.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod compare;
mod coordinated_omission;
mod repeats;
mod report;
mod results_file;
