//! Schedules, recorders, results files, tables and reports.
//!
//! Layer L3 (products). The crate contains the parts that all measuring commands share. It reads no
//! clock and sends no packets: a command does both and passes the times in.
//!
//! ```text
//! Schedule ─> send ─> Outstanding ─> answer ─> Recorder ─> Summary ─> Row ─> Results (JSON)
//! intended    departure                        latency,    percentiles │      │
//! times                                        lateness               Table  Report, compare()
//! ```
//!
//! Latency is measured from the *intended* time of a send, so it is free of coordinated omission.
//! The lateness of each send is recorded separately.
//!
//! The subjects of a benchmark are measured in interleaved rounds ([`interleaved`],
//! [`Row::from_rounds`]). Confidence intervals are computed from rounds, never from samples. An
//! [`EnvironmentReport`] describes the quality of the clock and the cores.
//!
//! | module | contents |
//! |---|---|
//! | `schedule`, `closed_loop` | intended send times: [`Schedule`] (open loop), [`ClosedLoop`] |
//! | `outstanding` | sends that wait for an answer: [`Outstanding`] |
//! | `recorder`, `batch` | samples: [`Recorder`], [`BatchRecorder`] |
//! | `histogram`, `summary` | distributions and their statistics: [`Histogram`], [`Summary`], [`RunningSummary`] |
//! | `results` | the results file: [`Results`], [`Row`], [`Setting`], [`RoundFigures`] |
//! | `bootstrap`, `compare` | confidence intervals; two results files compared |
//! | `table`, `text_table` | rows as text: [`Table`]; tables that fit a terminal: [`TextTable`] |
//! | `conclusion` | results in words: [`Conclusion`] |
//! | `report`, `page` | the HTML report: [`Report`] |
//! | `chart_group`, `chart`, `scale`, `svg` | the charts of a report |
//! | `file` | atomic writing of files |
//!
//! To add a field to the results file, add it to [`Row`] in `results/row.rs`, with a default for
//! older files, and to `docs/reference/results-format.md`.
//!
//! ```
//! use hairpin_measure::{Recorder, Schedule, Summary};
//! use hairpin_time::{Duration, Instant};
//!
//! let start = Instant::from_nanos(1_000);
//! let mut schedule = Schedule::new(start, Duration::from_micros(500));
//! let mut latency = Recorder::with_capacity(2_000);
//! let mut lateness = Recorder::with_capacity(2_000);
//!
//! let now = start + Duration::from_nanos(30);
//! if let Some(departure) = schedule.depart(now) {
//!     lateness.record(departure.lateness);
//!     let answered = now + Duration::from_micros(12); // the arrival of the answer
//!     latency.record(answered - departure.intended);
//! }
//! assert_eq!(Summary::new(&latency).max, Some(12_030));
//! ```
#![forbid(unsafe_code)]

mod batch;
mod bootstrap;
mod chart;
mod chart_group;
mod closed_loop;
mod compare;
mod conclusion;
mod counted;
mod file;
mod histogram;
mod outstanding;
mod page;
mod recorder;
mod report;
mod results;
mod scale;
mod schedule;
mod summary;
mod svg;
mod table;
mod text_table;

pub use batch::{BatchRecorder, is_too_short};
pub use bootstrap::{difference_of_medians, median};
pub use closed_loop::ClosedLoop;
pub use compare::{
    Compared, ComparedRow, Ratio, Reason, Verdict, between_runs, compare, compare_allowing,
    differences,
};
pub use conclusion::Conclusion;
pub use counted::counted;
pub use file::{create_temporary, write_text};
pub use histogram::{Histogram, HistogramBucket, HistogramError};
pub use outstanding::{Answer, Outstanding, Sent};
pub use recorder::Recorder;
pub use report::{Report, ReportError};
pub use results::{
    Bucket, Clock, CoreReport, EnvironmentError, EnvironmentReport, Figure, Host, Kind, Results,
    ResultsError, RoundFigures, Row, RowError, SCHEMA, Setting, Spread, Timestamping, Unit,
    interleaved,
};
pub use schedule::{Departure, Schedule};
pub use summary::{Quantile, RunningSummary, Summary};
pub use table::Table;
pub use text_table::{Style, TextTable};
