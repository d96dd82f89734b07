//! The statistics of the samples of a row.

use serde::{Deserialize, Serialize};

use crate::{Histogram, Recorder};

/// The statistics of one row, in nanoseconds.
///
/// Extremes, mean and deviation are exact. Percentiles are those of the histogram, so a reader of
/// the histogram in a results file computes the same ones. Without samples, all fields are `None`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// The least sample, exact.
    pub min: Option<u64>,
    /// The 25th percentile; this and every other percentile is `None` unless at least
    /// [`Quantile::SAMPLES_BEYOND`] samples exceed it.
    pub p25: Option<u64>,
    /// The median.
    pub p50: Option<u64>,
    /// The 75th percentile.
    pub p75: Option<u64>,
    /// The 90th percentile.
    pub p90: Option<u64>,
    /// The 95th percentile.
    pub p95: Option<u64>,
    /// The 99th percentile.
    pub p99: Option<u64>,
    /// The 99.9th percentile.
    pub p99_9: Option<u64>,
    /// The 99.99th percentile.
    pub p99_99: Option<u64>,
    /// The greatest sample, exact.
    pub max: Option<u64>,
    /// The arithmetic mean, exact.
    pub mean: Option<f64>,
    /// The standard deviation of these samples as a whole population.
    pub stddev: Option<f64>,
    /// The distribution.
    pub histogram: Histogram,
}

/// The statistics of samples that are not kept, in bounded memory.
///
/// Its [`Summary`] is that of a [`Recorder`] with the same samples, except for the last bits of the
/// deviation.
#[derive(Debug, Clone, Default)]
pub struct RunningSummary {
    /// `None` before the first sample.
    histogram: Option<Histogram>,
    min: u64,
    max: u64,
    sum: u128,
    squares: f64,
}

impl RunningSummary {
    /// Records a sample.
    #[inline]
    pub fn record(&mut self, nanos: u64) {
        if self.histogram.is_none() {
            (self.min, self.max) = (nanos, nanos);
        }
        self.histogram.get_or_insert_default().record(nanos);
        (self.min, self.max) = (self.min.min(nanos), self.max.max(nanos));
        self.sum += u128::from(nanos);
        self.squares += (nanos as f64).powi(2);
    }

    /// Returns the number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.as_ref().map_or(0, Histogram::count)
    }

    /// Returns the statistics so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let Some(histogram) = &self.histogram else { return Summary::default() };
        let count = histogram.count() as f64;
        let mean = self.sum as f64 / count;
        let deviation = (self.squares / count - mean.powi(2)).max(0.0).sqrt();
        Summary::from_parts([self.min, self.max], [mean, deviation], histogram.clone())
    }
}

/// A percentile as a whole number of hundredths of a percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantile(u64);

impl Quantile {
    /// The 25th percentile.
    pub const P25: Self = Self(2_500);
    /// The median.
    pub const P50: Self = Self(5_000);
    /// The 75th percentile.
    pub const P75: Self = Self(7_500);
    /// The 90th percentile.
    pub const P90: Self = Self(9_000);
    /// The 95th percentile.
    pub const P95: Self = Self(9_500);
    /// The 99th percentile.
    pub const P99: Self = Self(9_900);
    /// The 99.9th percentile.
    pub const P99_9: Self = Self(9_990);
    /// The 99.99th percentile.
    pub const P99_99: Self = Self(9_999);

    /// The minimum number of samples that exceed a percentile. With fewer, the percentile hardly
    /// differs from the maximum, so it is `None`.
    pub const SAMPLES_BEYOND: u64 = 10;

    /// Returns the rank of this percentile among `count` samples, counted from one; `None` if fewer
    /// than [`Self::SAMPLES_BEYOND`] samples exceed it.
    #[must_use]
    pub fn rank(self, count: u64) -> Option<u64> {
        let rank = (u128::from(count) * u128::from(self.0)).div_ceil(10_000) as u64;
        (count - rank >= Self::SAMPLES_BEYOND).then_some(rank)
    }
}

impl Summary {
    /// Returns the statistics of all samples of a recorder.
    #[must_use]
    pub fn new(recorder: &Recorder) -> Self {
        let samples = recorder.samples();
        let (Some(&min), Some(&max)) = (samples.iter().min(), samples.iter().max()) else {
            return Self::default();
        };
        let mut histogram = Histogram::new();
        samples.iter().for_each(|&nanos| histogram.record(nanos));
        let mean = mean(samples);
        Self::from_parts([min, max], [mean, deviation(samples, mean)], histogram)
    }

    /// Returns the statistics of the samples of all parts together, such as the rounds of a row.
    ///
    /// Mean and deviation are combined by the law of total variance, exact except for the last
    /// bits. Percentiles are those of the added histograms.
    pub(crate) fn joined(parts: &[&Self]) -> Self {
        let extremes = parts.iter().filter_map(|part| Some((part.min?, part.max?)));
        let span = |a: (u64, u64), b: (u64, u64)| (a.0.min(b.0), a.1.max(b.1));
        let Some((min, max)) = extremes.reduce(span) else { return Self::default() };
        let moments = combined(parts);
        Self::from_parts(
            [min, max],
            moments,
            Histogram::sum(parts.iter().map(|part| &part.histogram)),
        )
    }

    /// Adds the percentiles of the histogram.
    fn from_parts([min, max]: [u64; 2], [mean, stddev]: [f64; 2], histogram: Histogram) -> Self {
        let at = |quantile: Quantile| {
            // The greatest value of a bucket may exceed the greatest sample.
            histogram.at(quantile).map(|nanos| nanos.clamp(min, max))
        };
        Self {
            min: Some(min),
            p25: at(Quantile::P25),
            p50: at(Quantile::P50),
            p75: at(Quantile::P75),
            p90: at(Quantile::P90),
            p95: at(Quantile::P95),
            p99: at(Quantile::P99),
            p99_9: at(Quantile::P99_9),
            p99_99: at(Quantile::P99_99),
            max: Some(max),
            mean: Some(mean),
            stddev: Some(stddev),
            histogram,
        }
    }

    /// Returns the percentiles with their names, in increasing order.
    #[must_use]
    pub fn percentiles(&self) -> [(&'static str, Quantile, Option<u64>); 8] {
        [
            ("p25", Quantile::P25, self.p25),
            ("p50", Quantile::P50, self.p50),
            ("p75", Quantile::P75, self.p75),
            ("p90", Quantile::P90, self.p90),
            ("p95", Quantile::P95, self.p95),
            ("p99", Quantile::P99, self.p99),
            ("p99_9", Quantile::P99_9, self.p99_9),
            ("p99_99", Quantile::P99_99, self.p99_99),
        ]
    }
}

/// Returns the mean, from an integer sum without rounding errors.
fn mean(samples: &[u64]) -> f64 {
    let sum: u128 = samples.iter().map(|&nanos| u128::from(nanos)).sum();
    sum as f64 / samples.len() as f64
}

/// Returns mean and deviation of the samples of several summaries: the variance within the parts
/// plus that between their means.
fn combined(parts: &[&Summary]) -> [f64; 2] {
    let moments = |part: &&Summary| {
        Some((part.histogram.count() as f64, part.mean?, part.stddev?)).filter(|it| it.0 > 0.0)
    };
    let all: Vec<(f64, f64, f64)> = parts.iter().filter_map(moments).collect();
    let count: f64 = all.iter().map(|(count, ..)| count).sum();
    let mean = all.iter().map(|(part, own, _)| own * part).sum::<f64>() / count;
    let square = |&(part, own, deviation): &(f64, f64, f64)| {
        (deviation.powi(2) + (own - mean).powi(2)) * (part / count)
    };
    [mean, all.iter().map(square).sum::<f64>().sqrt()]
}

/// Returns the deviation in a second pass, which avoids the difference of two large squares.
fn deviation(samples: &[u64], mean: f64) -> f64 {
    let squares: f64 = samples.iter().map(|&nanos| (nanos as f64 - mean).powi(2)).sum();
    (squares / samples.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairpin_time::Duration;
    use proptest::prelude::*;

    fn summary(samples: &[u64]) -> Summary {
        let mut recorder = Recorder::with_capacity(samples.len());
        samples.iter().for_each(|&nanos| recorder.record(Duration::from_nanos(nanos)));
        Summary::new(&recorder)
    }

    #[test]
    fn percentiles_need_ten_greater_samples() {
        let up_to = |count| summary(&(1..=count).collect::<Vec<_>>());
        assert_eq!((up_to(19).p50, up_to(20).p50), (None, Some(10)));
        assert_eq!((up_to(999).p99, up_to(1_000).p99), (None, Some(990)));
        assert_eq!(up_to(9_999).p99_9, None);
        assert!(up_to(10_000).p99_9.is_some());
        assert_eq!(up_to(99_999).p99_99, None);
        assert!(up_to(100_000).p99_99.is_some());
    }

    #[test]
    fn summary_without_samples_is_empty() {
        assert_eq!(summary(&[]), Summary::default());
        assert_eq!(summary(&[]).min, None);
    }

    #[test]
    fn extremes_mean_and_deviation_are_exact() {
        let of = summary(&[2, 4, 4, 4, 5, 5, 7, 123_456_789]);
        assert_eq!((of.min, of.max), (Some(2), Some(123_456_789)));
        let of = summary(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((of.mean, of.stddev), (Some(5.0), Some(2.0)));
    }

    #[test]
    fn running_summary_equals_that_of_kept_samples() {
        let samples: Vec<u64> = (0..3_000).map(|it| it * it % 70_001).collect();
        let mut running = RunningSummary::default();
        assert_eq!((running.count(), running.summary()), (0, Summary::default()));
        samples.iter().for_each(|&nanos| running.record(nanos));
        let (one, other) = (running.summary(), summary(&samples));
        assert!((one.stddev.unwrap() - other.stddev.unwrap()).abs() < 1e-3);
        assert_eq!(Summary { stddev: other.stddev, ..one }, other);
        assert_eq!(running.count(), 3_000);
    }

    #[test]
    fn percentiles_never_exceed_the_maximum() {
        let of = summary(&[1_000_001; 100]);
        assert_eq!((of.p50, of.max), (Some(1_000_001), Some(1_000_001)));
    }

    proptest! {
        /// Latencies from a nanosecond to a minute, in equal numbers per power of two.
        #[test]
        fn percentiles_agree_with_a_sorted_vector(
            mut samples in prop::collection::vec(
                (0u32..36).prop_flat_map(|bits| 0..=(1u64 << bits)), 1..3_000,
            ),
        ) {
            let of = summary(&samples);
            samples.sort_unstable();
            let count = samples.len();
            for (name, quantile, value) in of.percentiles() {
                let parts = quantile.0 as usize;
                let rank = (count * parts).div_ceil(10_000);
                prop_assert_eq!(value.is_some(), count - rank >= 10, "{} of {}", name, count);
                let Some(value) = value else { continue };
                let exact = samples[rank - 1];
                prop_assert!(value >= exact && value <= exact + exact / 1_000 + 1,
                    "{}: {} is not {}", name, value, exact);
            }
            prop_assert_eq!(of.min, samples.first().copied());
            prop_assert_eq!(of.max, samples.last().copied());
            prop_assert_eq!(of.histogram.count(), count as u64);
        }

        #[test]
        fn text_form_of_histograms_round_trips(
            samples in prop::collection::vec(0..70_000_000_000u64, 0..500),
        ) {
            let histogram = summary(&samples).histogram;
            let read = Histogram::from_base64(&histogram.to_base64()).unwrap();
            prop_assert_eq!(read, histogram);
        }

        #[test]
        fn histogram_parser_never_panics(text in "[A-Za-z0-9+/]{0,200}") {
            let _ = Histogram::from_base64(&text);
            let _ = Histogram::from_base64(&format!("HISTFAAAA{text}"));
        }
    }
}
