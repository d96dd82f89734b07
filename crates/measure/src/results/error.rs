//! The errors of results files, one line each.

use std::fmt::{self, Display, Write};
use std::io;

use super::EnvironmentError;

/// The reason for which a results file cannot be written, or is invalid.
///
/// The text contains the cause, except for [`Self::Io`]: its source contains the cause, so that a
/// caller can distinguish a closed pipe from a full disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// The file cannot be read, created or replaced.
    #[error("{}", Plain(path))]
    Io {
        /// The file.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// The text is not JSON, or a field is missing or has another type.
    #[error("{}: not a results file: {}", Plain(path), Plain(cause))]
    Json {
        /// The file.
        path: String,
        /// The cause, with the line.
        cause: serde_json::Error,
    },
    /// The document has an unknown version.
    #[error(
        "{}: schema is \"{}\", expected \"{expected}\"",
        Plain(path),
        Plain(found),
        expected = crate::SCHEMA
    )]
    Schema {
        /// The file.
        path: String,
        /// The version of the document.
        found: String,
    },
    /// A row is inconsistent.
    #[error("{}: row {row}: {cause}", Plain(path))]
    Row {
        /// The file.
        path: String,
        /// The number of the row, counted from one.
        row: usize,
        /// The inconsistency.
        cause: RowError,
    },
    /// The environment is inconsistent.
    #[error("{path}: truth: {cause}")]
    EnvironmentReport {
        /// The file.
        path: String,
        /// The inconsistency.
        cause: EnvironmentError,
    },
}

/// Text of a file or its name, without control characters, which could affect a terminal.
struct Plain<T>(T);

impl<T: Display> Display for Plain<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
        self.0.to_string().chars().try_for_each(|letter| f.write_char(plain(letter)))
    }
}

/// The inconsistency of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// A higher percentile has a lower value.
    #[error("{higher} is less than {lower}")]
    Disorder {
        /// The name of the lower percentile.
        lower: &'static str,
        /// The name of the higher percentile.
        higher: &'static str,
    },
    /// The number of samples in the histogram differs from that of the row.
    #[error("the histogram has {histogram} samples, the row {samples}")]
    Count {
        /// The samples of the histogram.
        histogram: u64,
        /// The samples of the row.
        samples: u64,
    },
    /// A percentile that too few samples exceed.
    #[error("{name} is given, but fewer than 10 samples exceed it")]
    Unfounded {
        /// The percentile's name.
        name: &'static str,
    },
    /// Extremes, mean and deviation are missing, or present without samples.
    #[error("min, max, mean and stddev must be present exactly if there are samples")]
    Incomplete,
    /// A bucket of `over_time` does not begin at the end of the previous one, is empty, or ends
    /// after the last sample.
    #[error("bucket {bucket} of over_time does not follow the previous bucket within the samples")]
    BucketPlace {
        /// The number of the bucket, counted from one.
        bucket: usize,
    },
    /// The figures of a bucket of `over_time` are not in order.
    #[error("bucket {bucket} of over_time: {higher} is less than {lower}")]
    BucketDisorder {
        /// The number of the bucket, counted from one.
        bucket: usize,
        /// The name of the lower percentile.
        lower: &'static str,
        /// The name of the higher percentile.
        higher: &'static str,
    },
    /// A percentile of a bucket that too few samples exceed.
    #[error("bucket {bucket} of over_time: {name} is given, but fewer than 10 samples exceed it")]
    BucketUnfounded {
        /// The number of the bucket, counted from one.
        bucket: usize,
        /// The percentile's name.
        name: &'static str,
    },
    /// The samples or extremes of the buckets differ from those of the row.
    #[error("samples, min or max of over_time differ from those of the row")]
    Buckets,
    /// Exchange and trader are bound to the same core.
    #[error("exchange and trader are both on core {core}")]
    SameCore {
        /// The core's number.
        core: usize,
    },
    /// The deadline of the wait `block` is present with another wait.
    #[error("block_deadline_ns is given, but the wait is not block")]
    Deadline,
    /// No rounds to join.
    #[error("cannot join rounds: no rounds")]
    NoRounds,
    /// The rounds to join have different settings.
    #[error("cannot join rounds: the settings of round {round} and round 1 differ")]
    OtherSetting {
        /// The number of the round, counted from one.
        round: usize,
    },
    /// The number of rounds differs from the length of `by_round`.
    #[error("by_round has {figures} rounds, the row {rounds}")]
    RoundCount {
        /// The length of `by_round`.
        figures: usize,
        /// The rounds of the row.
        rounds: u32,
    },
    /// Extremes and mean of a round are missing, or present without samples.
    #[error("round {round}: min, max and mean must be present exactly if there are samples")]
    RoundIncomplete {
        /// The number of the round, counted from one.
        round: usize,
    },
    /// A percentile of a round that too few samples exceed.
    #[error("round {round}: {name} is given, but fewer than 10 samples exceed it")]
    RoundUnfounded {
        /// The number of the round, counted from one.
        round: usize,
        /// The percentile's name.
        name: &'static str,
    },
    /// The figures of a round are not in order.
    #[error("round {round}: {higher} is less than {lower}")]
    RoundDisorder {
        /// The number of the round, counted from one.
        round: usize,
        /// The name of the lower percentile.
        lower: &'static str,
        /// The name of the higher percentile.
        higher: &'static str,
    },
    /// The mean of a round is outside its extremes.
    #[error("round {round}: the mean is outside the extremes")]
    RoundMean {
        /// The number of the round, counted from one.
        round: usize,
    },
    /// The sums or extremes of the rounds differ from those of the row.
    #[error("samples, lost, min or max of by_round differ from those of the row")]
    Rounds,
}
