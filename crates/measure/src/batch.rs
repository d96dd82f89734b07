//! Operations that are too short for the clock.

use hairpin_time::Duration;

use crate::{EnvironmentReport, Recorder, Row};

/// Times operations in batches, back to back: each sample is the mean of one batch, in whole
/// nanoseconds, rounded half up.
///
/// For what is shorter than [`BatchRecorder::STEPS_MIN`] steps of the clock. One reading before a
/// batch and one after are the caller's; none lies within. The row that comes of it has the kind
/// `batch`: its percentiles are those of means, and say nothing of single operations.
#[derive(Debug, Clone)]
pub struct BatchRecorder {
    operations: u64,
    means: Recorder,
}

impl BatchRecorder {
    /// The fewest operations of a batch.
    pub const OPERATIONS_MIN: u64 = 64;

    /// What is shorter than so many steps of the clock is not quoted from single readings: each may
    /// be off by one step, 5 % of it.
    pub const STEPS_MIN: u64 = 20;

    /// A recorder of up to `capacity` batches of `operations` each; of
    /// [`Self::OPERATIONS_MIN`] if fewer are asked for.
    #[must_use]
    pub fn with_capacity(capacity: usize, operations: u64) -> Self {
        let operations = operations.max(Self::OPERATIONS_MIN);
        Self { operations, means: Recorder::with_capacity(capacity) }
    }

    /// How many operations the caller runs between the two readings of the clock.
    #[must_use]
    pub const fn operations(&self) -> u64 {
        self.operations
    }

    /// Keeps the mean of one batch, which took `span`.
    #[inline]
    pub fn record(&mut self, span: Duration) {
        let nanos = span.as_nanos();
        let rest = u64::from(nanos % self.operations >= self.operations.div_ceil(2));
        self.means.record(Duration::from_nanos(nanos / self.operations + rest));
    }

    /// The means, as [`Row::new`] takes them.
    #[must_use]
    pub const fn means(&self) -> &Recorder {
        &self.means
    }
}

/// Whether spans with this median are too short to be read from a clock with this step, both in
/// nanoseconds: then they belong in batches.
#[must_use]
pub fn is_too_short(p50_ns: u64, clock_step_ns: f64) -> bool {
    (p50_ns as f64) < clock_step_ns * BatchRecorder::STEPS_MIN as f64
}

/// Whether a row quotes single readings of what is too short for them. Such a row is marked in
/// every table, never dropped.
pub(crate) fn is_doubtful(row: &Row, truth: &EnvironmentReport) -> bool {
    let is_single = row.setting.kind != crate::Kind::Batch;
    is_single && row.summary.p50.is_some_and(|p50| is_too_short(p50, truth.clock_step_ns))
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
    fn a_sample_is_the_mean_of_its_batch() {
        assert_eq!(means(64, &[0, 31, 32, 64, 95, 96, 640]), [0, 0, 1, 1, 1, 2, 10]);
        assert_eq!(means(101, &[50, 51, 1_010]), [0, 1, 10]);
        assert_eq!(means(64, &[u64::MAX]), [u64::MAX / 64 + 1]);
    }

    #[test]
    fn a_batch_has_at_least_64_operations() {
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
    fn only_single_readings_are_doubtful() {
        let truth = EnvironmentReport { clock_step_ns: 10.0, ..EnvironmentReport::default() };
        let row = |kind, nanos| {
            let setting = Setting { kind, ..setting("a") };
            Row::new(setting, &recorded([nanos; 30]), &recorded([]))
        };
        assert!(is_doubtful(&row(Kind::Stage, 199), &truth));
        assert!(!is_doubtful(&row(Kind::Stage, 200), &truth));
        assert!(!is_doubtful(&row(Kind::Batch, 5), &truth));
    }
}
