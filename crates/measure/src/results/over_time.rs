//! The latency of a row over time.

use serde::{Deserialize, Serialize};

use super::RowError;
use crate::{Histogram, Quantile};

/// A bucket of consecutive samples of a row. Figures are in nanoseconds.
///
/// A percentile is `None` unless at least [`Quantile::SAMPLES_BEYOND`] samples of the bucket exceed
/// it, as everywhere in a results file. [`Self::max`] then represents the tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// The index of the first sample, counted from zero.
    pub first: u64,
    /// The number of samples, at least one.
    pub count: u64,
    /// The minimum, exact.
    pub min: u64,
    /// The median.
    #[serde(default)]
    pub p50: Option<u64>,
    /// The 99th percentile.
    #[serde(default)]
    pub p99: Option<u64>,
    /// The maximum, exact.
    pub max: u64,
}

/// The most buckets of a row: a chart on a laptop has two or three pixels for each.
const BUCKETS_MAX: usize = 200;

/// The fewest samples with a median, which ten samples exceed.
const SAMPLES_MIN: usize = 20;

impl Bucket {
    /// Divides samples into at most [`BUCKETS_MAX`] buckets whose sizes differ by at most one.
    pub(super) fn divide(samples: &[u64]) -> Vec<Self> {
        let buckets = (samples.len() / SAMPLES_MIN).clamp(1, BUCKETS_MAX);
        let border = |bucket: usize| bucket * samples.len() / buckets;
        let mut histogram = Histogram::new();
        let bucket = |index| {
            let (first, end) = (border(index), border(index + 1));
            Self::new(first as u64, &samples[first..end], &mut histogram)
        };
        (0..buckets).filter_map(bucket).collect()
    }

    /// Returns a bucket; `None` without samples.
    fn new(first: u64, samples: &[u64], histogram: &mut Histogram) -> Option<Self> {
        let (&min, &max) = (samples.iter().min()?, samples.iter().max()?);
        histogram.clear();
        samples.iter().for_each(|&nanos| histogram.record(nanos));
        let at = |quantile: Quantile| histogram.at(quantile).map(|nanos| nanos.clamp(min, max));
        let (p50, p99) = (at(Quantile::P50), at(Quantile::P99));
        Some(Self { first, count: samples.len() as u64, min, p50, p99, max })
    }

    /// Checks that the figures of this bucket are consistent. Errors contain `bucket`, counted from
    /// one.
    fn validate(&self, bucket: usize) -> Result<(), RowError> {
        let given = [("p50", Quantile::P50, self.p50), ("p99", Quantile::P99, self.p99)];
        let unfounded = |&&(_, quantile, value): &&(_, Quantile, Option<u64>)| {
            value.is_some() && quantile.rank(self.count).is_none()
        };
        if let Some(&(name, ..)) = given.iter().find(unfounded) {
            return Err(RowError::BucketUnfounded { bucket, name });
        }
        let mut lower = ("min", self.min);
        let percentiles = given.iter().filter_map(|&(name, _, value)| Some((name, value?)));
        for higher in percentiles.chain([("max", self.max)]) {
            if higher.1 < lower.1 {
                let (lower, higher) = (lower.0, higher.0);
                return Err(RowError::BucketDisorder { bucket, lower, higher });
            }
            lower = higher;
        }
        Ok(())
    }
}

/// Checks that these buckets belong to a row with this number of samples and these extremes. An
/// empty list is valid: older files have no buckets.
///
/// # Errors
/// The variants of [`RowError`] for buckets.
pub(super) fn validate(
    buckets: &[Bucket],
    samples: u64,
    extremes: [Option<u64>; 2],
) -> Result<(), RowError> {
    let mut next = 0_u64;
    for (bucket, number) in buckets.iter().zip(1..) {
        let end = bucket.first.checked_add(bucket.count).filter(|&end| end <= samples);
        let (true, Some(end)) = (bucket.first == next && bucket.count > 0, end) else {
            return Err(RowError::BucketPlace { bucket: number });
        };
        bucket.validate(number)?;
        next = end;
    }
    let min = buckets.iter().map(|bucket| bucket.min).min();
    let max = buckets.iter().map(|bucket| bucket.max).max();
    if !buckets.is_empty() && (next, [min, max]) != (samples, extremes) {
        return Err(RowError::Buckets);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validated(buckets: &[Bucket], samples: &[u64]) -> Result<(), RowError> {
        let extremes = [samples.iter().min().copied(), samples.iter().max().copied()];
        validate(buckets, samples.len() as u64, extremes)
    }

    #[test]
    fn samples_are_in_one_of_at_most_200_buckets() {
        for count in [1, 19, 20, 39, 40, 2_000, 20_000, 20_001, 123_457] {
            let samples: Vec<u64> = (1..=count).collect();
            let buckets = Bucket::divide(&samples);
            assert!((1..=200).contains(&buckets.len()), "{count}: {}", buckets.len());
            assert_eq!(validated(&buckets, &samples), Ok(()), "{count}");
            let sizes = || buckets.iter().map(|bucket| bucket.count);
            assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1, "{count}");
            assert!(buckets.iter().all(|bucket| bucket.min == bucket.first + 1), "{count}");
        }
        assert_eq!(Bucket::divide(&[]), []);
    }

    #[test]
    fn buckets_with_twenty_samples_have_a_median() {
        for (count, expected) in [(19, None), (20, Some(10)), (39, Some(20))] {
            let samples: Vec<u64> = (1..=count).collect();
            assert_eq!(Bucket::divide(&samples)[0].p50, expected, "{count}");
        }
        let samples: Vec<u64> = (0..200_000).collect();
        assert!(Bucket::divide(&samples).iter().all(|bucket| bucket.p99.is_some()));
    }

    #[test]
    fn pause_is_visible_in_its_bucket() {
        let mut samples = vec![10; 4_000];
        samples[2_345] = 1_000_000;
        let buckets = Bucket::divide(&samples);
        let slow: Vec<_> = buckets.iter().filter(|bucket| bucket.max > 10).collect();
        assert!(slow.len() == 1 && (slow[0].first..).take(20).any(|index| index == 2_345));
        assert_eq!(slow[0].p50, Some(10));
    }

    #[test]
    fn buckets_are_consecutive_and_contain_all_samples() {
        let samples: Vec<u64> = (1..=60).collect();
        let changed = |change: fn(&mut Vec<Bucket>)| {
            let mut buckets = Bucket::divide(&samples);
            change(&mut buckets);
            validated(&buckets, &samples)
        };
        assert_eq!(changed(|_| {}), Ok(()));
        assert_eq!(changed(Vec::clear), Ok(()));
        assert_eq!(changed(|it| it[1].first = 21), Err(RowError::BucketPlace { bucket: 2 }));
        assert_eq!(changed(|it| it[2].count = 0), Err(RowError::BucketPlace { bucket: 3 }));
        assert_eq!(changed(|it| it[2].count = 21), Err(RowError::BucketPlace { bucket: 3 }));
        assert_eq!(changed(|it| it[0].count = u64::MAX), Err(RowError::BucketPlace { bucket: 1 }));
        assert_eq!(changed(|it| it.truncate(2)), Err(RowError::Buckets));
        assert_eq!(changed(|it| it[0].min = 0), Err(RowError::Buckets));
        assert_eq!(changed(|it| it[2].max = 61), Err(RowError::Buckets));
    }

    #[test]
    fn figures_of_a_bucket_are_ordered() {
        let samples: Vec<u64> = (1..=1_100).collect();
        let mut bucket = Bucket::new(0, &samples, &mut Histogram::new()).unwrap();
        assert_eq!(bucket.validate(1), Ok(()));
        bucket.p99 = Some(2);
        let disorder = RowError::BucketDisorder { bucket: 1, lower: "p50", higher: "p99" };
        assert_eq!(bucket.validate(1), Err(disorder));
        (bucket.p99, bucket.max) = (None, 3);
        let disorder = RowError::BucketDisorder { bucket: 1, lower: "p50", higher: "max" };
        assert_eq!(bucket.validate(1), Err(disorder));
        let few = Bucket { count: 19, ..bucket };
        let unfounded = RowError::BucketUnfounded { bucket: 1, name: "p50" };
        assert_eq!(few.validate(1), Err(unfounded));
    }
}
