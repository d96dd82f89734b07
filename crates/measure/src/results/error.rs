//! Why a results file cannot be written or believed; each in one line.

use std::fmt::{self, Display, Write};
use std::io;

use super::EnvironmentError;

/// Why a results file could not be written, or is not one.
///
/// The text of a fault in the file says what it is. That of [`Self::Io`] names the file, and its
/// source says what became of it, so that a closed pipe can be told from a full disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// The file cannot be read, made or put in place.
    #[error("{}", Plain(path))]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The text is not JSON, or lacks a field, or has one of another kind.
    #[error("{}: not a results file: {}", Plain(path), Plain(cause))]
    Json {
        /// The file.
        path: String,
        /// What is wrong and in which line.
        cause: serde_json::Error,
    },
    /// The document is of a version that this program does not know.
    #[error(
        "{}: schema is \"{}\", expected \"{expected}\"",
        Plain(path),
        Plain(found),
        expected = crate::SCHEMA
    )]
    Schema {
        /// The file.
        path: String,
        /// What the document says it is.
        found: String,
    },
    /// A row contradicts itself.
    #[error("{}: row {row}: {cause}", Plain(path))]
    Row {
        /// The file.
        path: String,
        /// Counted from one.
        row: usize,
        /// The contradiction.
        cause: RowError,
    },
    /// The truth checks contradict themselves.
    #[error("{path}: truth: {cause}")]
    EnvironmentReport {
        /// The file.
        path: String,
        /// The contradiction.
        cause: EnvironmentError,
    },
}

/// What a file or its name says, on one line and without what a terminal would obey.
struct Plain<T>(T);

impl<T: Display> Display for Plain<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
        self.0.to_string().chars().try_for_each(|letter| f.write_char(plain(letter)))
    }
}

/// How a row contradicts itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// A higher percentile has a lower value.
    #[error("{higher} is less than {lower}")]
    Disorder {
        /// The name of the one that should be less.
        lower: &'static str,
        /// The name of the one that should not.
        higher: &'static str,
    },
    /// The histogram is of other samples than the row.
    #[error("the histogram holds {histogram} samples, the row {samples}")]
    Count {
        /// In the histogram.
        histogram: u64,
        /// In the row.
        samples: u64,
    },
    /// A percentile without enough samples beyond it.
    #[error("{name} is given, but fewer than 10 samples lie beyond it")]
    Unfounded {
        /// The percentile's name.
        name: &'static str,
    },
    /// Samples without their extremes and mean, or those without samples.
    #[error("min, max, mean and stddev are given exactly when there are samples")]
    Incomplete,
    /// A bucket of `over_time` that does not begin where the one before ended, holds nothing, or
    /// ends after the last sample.
    #[error("bucket {bucket} of over_time does not follow the one before within the samples")]
    BucketPlace {
        /// Counted from one.
        bucket: usize,
    },
    /// A bucket of `over_time` whose figures do not rise.
    #[error("bucket {bucket} of over_time: {higher} is less than {lower}")]
    BucketDisorder {
        /// Counted from one.
        bucket: usize,
        /// The name of the one that should be less.
        lower: &'static str,
        /// The name of the one that should not.
        higher: &'static str,
    },
    /// A percentile of a bucket without enough samples beyond it.
    #[error("bucket {bucket} of over_time: {name}, but fewer than 10 samples lie beyond it")]
    BucketUnfounded {
        /// Counted from one.
        bucket: usize,
        /// The percentile's name.
        name: &'static str,
    },
    /// Buckets of other samples than the row's.
    #[error("over_time has another number of samples, another min or another max than the row")]
    Buckets,
    /// Two sides that each had a core to itself, and it was the same.
    #[error("exchange and trader are both on core {core}")]
    SameCore {
        /// The core's number.
        core: usize,
    },
    /// The deadlines of a wait that was not used.
    #[error("block_deadline_ns is given, but the wait is not block")]
    Deadline,
    /// There is nothing to join.
    #[error("there are no rounds")]
    NoRounds,
    /// Rounds of different settings that were to be joined.
    #[error("round {round} is of another setting than the first")]
    OtherSetting {
        /// Counted from one.
        round: usize,
    },
    /// Another number of rounds than there are figures of rounds.
    #[error("by_round has {figures} rounds, the row {rounds}")]
    RoundCount {
        /// In `by_round`.
        figures: usize,
        /// In the row.
        rounds: u32,
    },
    /// A round with samples but without their extremes and mean, or with those and without samples.
    #[error("round {round}: min, max and mean are given exactly when there are samples")]
    RoundIncomplete {
        /// Counted from one.
        round: usize,
    },
    /// A percentile of a round without enough samples beyond it.
    #[error("round {round}: {name} is given, but fewer than 10 samples lie beyond it")]
    RoundUnfounded {
        /// Counted from one.
        round: usize,
        /// The percentile's name.
        name: &'static str,
    },
    /// A round whose figures do not rise.
    #[error("round {round}: {higher} is less than {lower}")]
    RoundDisorder {
        /// Counted from one.
        round: usize,
        /// The name of the one that should be less.
        lower: &'static str,
        /// The name of the one that should not.
        higher: &'static str,
    },
    /// The mean of a round lies outside of its extremes.
    #[error("round {round}: the mean lies beyond the extremes")]
    RoundMean {
        /// Counted from one.
        round: usize,
    },
    /// Rounds that do not add up to the row.
    #[error("by_round has other samples, another loss, another min or another max than the row")]
    Rounds,
}
