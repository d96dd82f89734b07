//! Batches of operations that are too short for the clock.

use hairpin_time::Duration;

use crate::{EnvironmentReport, Recorder, Row};

/// Records operations in back-to-back batches. Each sample is the mean of one batch in whole
/// nanoseconds, rounded half up.
///
/// Use it for operations shorter than [`BatchRecorder::STEPS_MIN`] steps of the clock. The caller
/// reads the clock once before and once after a batch, never inside. The resulting row has the kind
/// `batch`: its percentiles are those of means, not of single operations.
#[derive(Debug, Clone)]
pub struct BatchRecorder {
    operations: u64,
    means: Recorder,
}

impl BatchRecorder {
    /// The minimum number of operations in a batch.
    pub const OPERATIONS_MIN: u64 = 64;

    /// The minimum length of a single sample, in steps of the clock. A reading may be off by one
    /// step, which is 5 % of that length.
    pub const STEPS_MIN: u64 = 20;

    /// Returns a recorder for up to `capacity` batches of `operations`, at least
    /// [`Self::OPERATIONS_MIN`].
    #[must_use]
    pub fn with_capacity(capacity: usize, operations: u64) -> Self {
        let operations = operations.max(Self::OPERATIONS_MIN);
        Self { operations, means: Recorder::with_capacity(capacity) }
    }

    /// Returns the number of operations between the two readings of the clock.
    #[must_use]
    pub const fn operations(&self) -> u64 {
        self.operations
    }

    /// Records the mean of one batch that took `span`.
    #[inline]
    pub fn record(&mut self, span: Duration) {
        let nanos = span.as_nanos();
        let rest = u64::from(nanos % self.operations >= self.operations.div_ceil(2));
        self.means.record(Duration::from_nanos(nanos / self.operations + rest));
    }

    /// Returns the means, for [`Row::new`].
    #[must_use]
    pub const fn means(&self) -> &Recorder {
        &self.means
    }
}

/// Returns `true` if spans with this median are too short for a clock with this step, both in
/// nanoseconds. Such operations must be measured in batches.
#[must_use]
pub fn is_too_short(p50_ns: u64, clock_step_ns: f64) -> bool {
    (p50_ns as f64) < clock_step_ns * BatchRecorder::STEPS_MIN as f64
}

/// Returns `true` if the single samples of a row are too short for the clock. Tables mark such a
/// row
/// and never drop it.
pub(crate) fn is_below_resolution(row: &Row, environment: &EnvironmentReport) -> bool {
    let is_single = row.setting.kind != crate::Kind::Batch;
    is_single && row.summary.p50.is_some_and(|p50| is_too_short(p50, environment.clock_step_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{recorded, setting};
    use crate::{Kind, Setting};

    fn means(operations: u64, spans: &[u64]) -> Vec<u64> {
        let mut batches = BatchRecorder::with_capacity(spans.len(), operations);
        spans.iter().for_each(|&nanos| batches.record(Duration::from_nanos(nanos)));
        batches.means().samples().to_vec()
    }

    #[test]
    fn samples_are_means_of_batches() {
        assert_eq!(means(64, &[0, 31, 32, 64, 95, 96, 640]), [0, 0, 1, 1, 1, 2, 10]);
        assert_eq!(means(101, &[50, 51, 1_010]), [0, 1, 10]);
        assert_eq!(means(64, &[u64::MAX]), [u64::MAX / 64 + 1]);
    }

    #[test]
    fn batches_have_at_least_64_operations() {
        assert_eq!(BatchRecorder::with_capacity(1, 1).operations(), 64);
        assert_eq!(BatchRecorder::with_capacity(1, 1_000).operations(), 1_000);
        assert_eq!(means(1, &[6_400]), [100]);
    }

    #[test]
    fn twenty_steps_are_long_enough() {
        assert!(is_too_short(199, 10.0));
        assert!(!is_too_short(200, 10.0));
        assert!(!is_too_short(0, 0.0));
    }

    #[test]
    fn single_samples_can_be_below_the_resolution() {
        let truth = EnvironmentReport { clock_step_ns: 10.0, ..EnvironmentReport::default() };
        let row = |kind, nanos| {
            let setting = Setting { kind, ..setting("a") };
            Row::new(setting, &recorded([nanos; 30]), &recorded([]))
        };
        assert!(is_below_resolution(&row(Kind::Stage, 199), &truth));
        assert!(!is_below_resolution(&row(Kind::Stage, 200), &truth));
        assert!(!is_below_resolution(&row(Kind::Batch, 5), &truth));
    }
}
