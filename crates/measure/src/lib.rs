//! Schedules, recorders, results files, tables and reports.
//!
//! Layer L3. What every measuring command shares: when to send ([`Schedule`]), what came of it
//! ([`Recorder`], [`Summary`]), the document it leaves behind ([`Results`]), the table a person
//! reads ([`Table`]), the page with pictures ([`Report`]), and whether two documents differ
//! ([`compare()`]). It reads no clock and sends nothing; the command does, and passes times in.
//!
//! Sides are measured in turn, in rounds ([`interleaved`], [`Row::of_rounds`]): rounds are what
//! intervals are computed from, never samples. What the measuring itself was good for stands beside
//! the rows ([`EnvironmentReport`]).
//!
//! Latency is counted from the *intended* time of a send, so that a sender that was held up cannot
//! hide the wait it caused (coordinated omission). How late each send left is kept beside it.
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
//!     let answered = now + Duration::from_micros(12); // when the answer arrived
//!     latency.record(answered - departure.intended);
//! }
//! assert_eq!(Summary::of(&latency).max, Some(12_030));
//! ```
#![forbid(unsafe_code)]

mod batch;
mod bootstrap;
mod cell;
mod closed_loop;
mod compare;
mod file;
mod histogram;
mod outstanding;
mod page;
mod picture;
mod recorder;
mod report;
mod results;
mod scale;
mod schedule;
mod summary;
mod svg;
mod table;

pub use batch::{BatchRecorder, is_too_short};
pub use bootstrap::{difference_of_medians, median};
pub use closed_loop::ClosedLoop;
pub use compare::{
    Compared, Ratio, Reason, Side, Verdict, between_runs, compare, compare_allowing, differences,
};
pub use file::write_text;
pub use histogram::{Counted, Histogram, HistogramError};
pub use outstanding::{Answer, Outstanding, Sent};
pub use recorder::Recorder;
pub use report::{Report, ReportError};
pub use results::{
    Bucket, Clock, CoreTruth, EnvironmentError, EnvironmentReport, Figure, Host, Kind, Results,
    ResultsError, RoundFigures, Row, RowError, SCHEMA, Setting, Spread, Timestamping, Unit,
    interleaved,
};
pub use schedule::{Departure, Schedule};
pub use summary::{Quantile, Summary};
pub use table::{Style, Table};
