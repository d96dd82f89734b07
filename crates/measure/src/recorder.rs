//! Raw samples, kept without allocating.

use hairpin_time::Duration;

/// Samples of one row in nanoseconds, in the order they came.
///
/// All memory is taken and touched when it is made, so recording is a store and cannot fault. A
/// recorder that is full refuses further samples and counts them.
#[derive(Debug, Clone)]
pub struct Recorder {
    samples: Vec<u64>,
    refused: u64,
}

impl Recorder {
    /// A recorder for up to `capacity` samples of 8 bytes.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut samples = Vec::with_capacity(capacity);
        // Fresh memory is only promised until it is written: write it now, not while measuring.
        samples.resize(capacity, u64::MAX);
        samples.clear();
        Self { samples, refused: 0 }
    }

    /// Keeps one sample, or counts it as refused when there is no room.
    #[inline]
    pub fn record(&mut self, sample: Duration) {
        if self.samples.len() < self.samples.capacity() {
            self.samples.push(sample.as_nanos());
        } else {
            self.refused += 1;
        }
    }

    /// Forgets all samples and keeps the memory: what ends a warm-up.
    pub fn clear(&mut self) {
        self.samples.clear();
        self.refused = 0;
    }

    /// The samples in nanoseconds, in the order they came.
    #[must_use]
    pub fn samples(&self) -> &[u64] {
        &self.samples
    }

    /// Whether there is no room for another sample.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.samples.len() == self.samples.capacity()
    }

    /// How many samples found no room. Other than zero, the row describes only the first ones.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_recorder_refuses_and_never_grows() {
        let mut recorder = Recorder::with_capacity(2);
        let memory = recorder.samples.as_ptr();
        for sample in 1..=5 {
            recorder.record(Duration::from_nanos(sample));
        }
        let capacity = recorder.samples.capacity();
        assert_eq!(recorder.samples().len(), capacity);
        assert_eq!(recorder.refused(), 5 - capacity as u64);
        assert!(recorder.is_full());
        assert_eq!(recorder.samples.as_ptr(), memory);
    }

    #[test]
    fn a_warm_up_leaves_no_trace() {
        let mut recorder = Recorder::with_capacity(1);
        recorder.record(Duration::from_nanos(7));
        recorder.record(Duration::from_nanos(7));
        recorder.clear();
        recorder.record(Duration::from_nanos(8));
        assert_eq!((recorder.samples(), recorder.refused()), (&[8][..], 0));
    }
}
