//! Raw samples, recorded without allocation.

use hairpin_time::Duration;

/// The samples of one row in nanoseconds, in the order of recording.
///
/// All memory is allocated and touched at construction, so recording is a store without a page
/// fault. A full recorder drops further samples and counts them.
#[derive(Debug, Clone)]
pub struct Recorder {
    samples: Vec<u64>,
    refused: u64,
}

impl Recorder {
    /// Returns a recorder for up to `capacity` samples of 8 bytes each.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut samples = Vec::with_capacity(capacity);
        // The kernel allocates a page at its first write: do that now, not while measuring.
        samples.resize(capacity, u64::MAX);
        samples.clear();
        Self { samples, refused: 0 }
    }

    /// Records a sample, or counts it as refused if the recorder is full.
    #[inline]
    pub fn record(&mut self, sample: Duration) {
        if self.samples.len() < self.samples.capacity() {
            self.samples.push(sample.as_nanos());
        } else {
            self.refused += 1;
        }
    }

    /// Removes all samples and keeps the memory, at the end of a warm-up.
    pub fn clear(&mut self) {
        self.samples.clear();
        self.refused = 0;
    }

    /// Returns the samples in nanoseconds, in the order of recording.
    #[must_use]
    pub fn samples(&self) -> &[u64] {
        &self.samples
    }

    /// Returns `true` if there is no room for another sample.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.samples.len() == self.samples.capacity()
    }

    /// Returns the number of dropped samples. Unless it is zero, the row describes only the first
    /// samples.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_recorder_drops_samples() {
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
    fn clear_removes_the_warm_up() {
        let mut recorder = Recorder::with_capacity(1);
        recorder.record(Duration::from_nanos(7));
        recorder.record(Duration::from_nanos(7));
        recorder.clear();
        recorder.record(Duration::from_nanos(8));
        assert_eq!((recorder.samples(), recorder.refused()), (&[8][..], 0));
    }
}
