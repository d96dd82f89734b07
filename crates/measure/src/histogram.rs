//! The distribution of a row, in the interchange format of HdrHistogram.

use std::fmt;
use std::io::{Cursor, Read};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hairpin_time::Duration;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

use crate::Quantile;

/// An HdrHistogram of nanoseconds: three significant digits from 1 ns to 60 s.
///
/// The width of a bucket is at most a thousandth of its values. Longer samples count in the last
/// bucket; a [`Summary`] contains the exact minimum and maximum.
///
/// The text form is HdrHistogram's V2 compressed encoding in base64 (RFC 4648, section 4), which
/// begins with `HISTFAAAA`.
///
/// [`Summary`]: crate::Summary
#[derive(Clone, PartialEq)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

/// A bucket of a [`Histogram`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistogramBucket {
    /// The least value of the bucket, in nanoseconds.
    pub least: u64,
    /// The greatest value, in nanoseconds.
    pub greatest: u64,
    /// The number of samples, at least one.
    pub count: u64,
}

/// The reason for which a text is not a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistogramError {
    /// The text is not base64.
    #[error("the histogram is not base64")]
    NotBase64,
    /// The bytes are not one HdrHistogram in V2 or V2 compressed encoding.
    #[error("the histogram is not in HdrHistogram's V2 encoding")]
    NotHdrHistogram,
    /// The stated length exceeds that of any histogram in a results file.
    #[error("the histogram states a length of {length} bytes")]
    TooLong {
        /// The stated length of the counts in bytes.
        length: u32,
    },
    /// The stated number of samples exceeds that of any run.
    #[error("the histogram states {count} samples")]
    TooMany {
        /// The number of samples, saturated at `u64::MAX`.
        count: u64,
    },
}

/// The upper bound: longer than any timeout of a measurement.
const LONGEST_NS: u64 = 60_000_000_000;

/// Finer than the agreement of any two runs; 230 kB in memory.
const SIGNIFICANT_DIGITS: u8 = 3;

/// The cookie of the V2 compressed encoding, which contains the V2 encoding with its own cookie and
/// length.
const COMPRESSED: [u8; 4] = [0x1C, 0x84, 0x93, 0x14];

/// A sample per nanosecond for three days. The sum of thousands of such rounds still fits.
const MOST_SAMPLES: u64 = 1 << 48;

/// The length of the V2 header: cookie, length, offset, digits, bounds and ratio.
const HEADER: usize = 40;

/// A count has at most 9 bytes, and a histogram of this crate has fewer than 30,000 counts. A full
/// histogram of 5 digits would be longer, but no measurement fills one.
const LONGEST_COUNTS: u32 = 4 << 20;

impl Histogram {
    /// Returns an empty histogram with all its memory allocated.
    #[must_use]
    pub fn new() -> Self {
        let inner = hdrhistogram::Histogram::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS);
        Self(inner.expect("the bounds are constants that HdrHistogram allows"))
    }

    /// Counts one sample of `nanos` nanoseconds.
    #[inline]
    pub fn record(&mut self, nanos: u64) {
        self.0.saturating_record(nanos);
    }

    /// Returns the number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Returns the sample with this rank, counted from one, in nanoseconds; `None` if there are
    /// fewer
    /// samples.
    ///
    /// The value is the greatest of its bucket, as in all HdrHistogram tools.
    #[must_use]
    pub fn at_rank(&self, rank: u64) -> Option<u64> {
        let count = self.count();
        if rank == 0 || rank > count {
            return None;
        }
        // HdrHistogram rounds quantile × count up to a rank. Half a rank below the wanted one, a
        // floating-point error cannot change the rank.
        Some(self.0.value_at_quantile((rank as f64 - 0.5) / count as f64))
    }

    /// Returns a percentile in nanoseconds, within the width of its bucket; `None` unless at least
    /// [`Quantile::SAMPLES_BEYOND`] samples exceed it.
    #[must_use]
    pub fn at(&self, quantile: Quantile) -> Option<u64> {
        self.at_rank(quantile.rank(self.count())?)
    }

    /// Returns the nonempty buckets in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = HistogramBucket> {
        self.0.iter_recorded().map(|at| {
            let greatest = at.value_iterated_to();
            let least = self.0.lowest_equivalent(greatest);
            HistogramBucket { least, greatest, count: at.count_since_last_iteration() }
        })
    }

    /// Returns the sum of histograms. Histograms of this crate add exactly. For other bounds or
    /// digits, the samples of a bucket count at its greatest value.
    #[must_use]
    pub fn sum<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut sum = Self::new();
        for part in parts {
            for bucket in part.iter() {
                sum.0.saturating_record_n(bucket.greatest, bucket.count);
            }
        }
        sum
    }

    /// Returns the histogram corrected for coordinated omission: an estimate of the samples that a
    /// closed loop would have recorded with a send every `interval`.
    ///
    /// This is HdrHistogram's correction after recording. For a sample longer than the interval, it
    /// adds the missing samples, each one interval shorter, down to the interval. Use it only for
    /// rows of a closed loop ([`ClosedLoop`](crate::ClosedLoop)): rows of a schedule contain these
    /// samples already. A results file always contains the raw histogram. With an interval of zero,
    /// the result is unchanged.
    #[must_use]
    pub fn corrected(&self, interval: Duration) -> Self {
        let (mut corrected, interval) = (self.clone(), interval.as_nanos());
        for bucket in self.iter().filter(|_| interval > 0) {
            let mut missing = bucket.greatest.saturating_sub(interval);
            while missing >= interval {
                // Adds all samples of a bucket at once: there may be a sample per nanosecond.
                let least = self.0.lowest_equivalent(missing).max(interval);
                let steps = (missing - least) / interval + 1;
                corrected.0.saturating_record_n(missing, bucket.count.saturating_mul(steps));
                missing = missing.saturating_sub(steps.saturating_mul(interval));
            }
        }
        corrected
    }

    /// Removes all samples and keeps the memory.
    pub fn clear(&mut self) {
        self.0.reset();
    }

    /// Returns the text form.
    #[must_use]
    pub fn to_base64(&self) -> String {
        let mut bytes = Vec::new();
        let written = V2DeflateSerializer::new().serialize(&self.0, &mut bytes);
        written.expect("writing to memory succeeds, and the counts of a run fit 63 bits");
        STANDARD.encode(bytes)
    }

    /// Parses the text form of any HdrHistogram tool.
    ///
    /// # Errors
    /// [`HistogramError::NotBase64`]; [`HistogramError::NotHdrHistogram`], also for trailing bytes;
    /// [`HistogramError::TooLong`]; [`HistogramError::TooMany`].
    pub fn from_base64(text: &str) -> Result<Self, HistogramError> {
        let bytes = STANDARD.decode(text).map_err(|_| HistogramError::NotBase64)?;
        let bytes = plain(bytes)?;
        check_counts(&bytes)?;
        let mut rest = Cursor::new(&bytes[..]);
        let inner = Deserializer::new().deserialize(&mut rest);
        let inner = inner.map_err(|_| HistogramError::NotHdrHistogram)?;
        if rest.position() != bytes.len() as u64 {
            return Err(HistogramError::NotHdrHistogram);
        }
        if inner.len() > MOST_SAMPLES {
            return Err(HistogramError::TooMany { count: inner.len() });
        }
        Ok(Self(inner))
    }
}

/// Returns the V2 encoding of a plain or compressed histogram, with a checked length: the decoder
/// allocates the stated length before it checks the input.
fn plain(bytes: Vec<u8>) -> Result<Vec<u8>, HistogramError> {
    let (mut plain, mut rest) = (Vec::new(), &bytes[..]);
    let is_compressed = bytes.starts_with(&COMPRESSED);
    if is_compressed {
        let packed = bytes.get(8..).ok_or(HistogramError::NotHdrHistogram)?;
        if number(&bytes, 4).map(|length| length as usize) != Some(packed.len()) {
            return Err(HistogramError::NotHdrHistogram);
        }
        let longest = u64::from(LONGEST_COUNTS) + HEADER as u64 + 1;
        let inflated = ZlibDecoder::new(packed).take(longest).read_to_end(&mut plain);
        inflated.map_err(|_| HistogramError::NotHdrHistogram)?;
        rest = &plain;
    }
    match number(rest, 4) {
        None => Err(HistogramError::NotHdrHistogram),
        Some(length) if length > LONGEST_COUNTS => Err(HistogramError::TooLong { length }),
        Some(_) => Ok(if is_compressed { plain } else { bytes }),
    }
}

/// Rejects the count -2^63, a run of 2^63 zeros, on which the decoder panics. A count is a ZigZag
/// number with 7 bits per byte, lowest first, and 8 bits in the ninth byte.
fn check_counts(plain: &[u8]) -> Result<(), HistogramError> {
    let mut counts = plain.get(HEADER..).unwrap_or_default();
    while !counts.is_empty() {
        let last = counts.iter().take(8).take_while(|&&byte| byte >= 0x80).count();
        let (count, rest) = counts.split_at((last + 1).min(counts.len()));
        if count == [0xFF; 9] {
            return Err(HistogramError::NotHdrHistogram);
        }
        counts = rest;
    }
    Ok(())
}

/// Returns the big-endian number at an offset.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Histogram({} samples)", self.count())
    }
}

impl Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_base64())
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_base64(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::read::ZlibEncoder;

    use super::*;

    #[test]
    fn text_form_begins_with_the_cookie() {
        let mut histogram = Histogram::new();
        histogram.record(12_345);
        assert!(histogram.to_base64().starts_with("HISTFAAAA"), "{}", histogram.to_base64());
    }

    #[test]
    fn parses_histograms_of_other_implementations() {
        // One sample of 2048 in 1..=2048, from the Java and C implementations.
        let java = "HISTFAAAACB4nJNpmSzMwMDAzAABMJoRQnEw2H+AsP7LMwEARZgDpQ==";
        let read = Histogram::from_base64(java).unwrap();
        assert_eq!((read.count(), read.at_rank(1)), (1, Some(2_049))); // a bucket of width 2
        // 100, 200 and 250 in 1..=300, from the Vala implementation.
        let vala = "HISTFAAAACV4nJNpmSzMwMDAwQABzFCaEUrp2H+AsI4zMh1lZEpkAgBdIQSk";
        let read = Histogram::from_base64(vala).unwrap();
        let ranks = [1, 2, 3].map(|rank| read.at_rank(rank).unwrap());
        assert_eq!((read.count(), ranks), (3, [100, 200, 250]));
    }

    #[test]
    fn rejects_other_texts() {
        assert_eq!(Histogram::from_base64("HIST!"), Err(HistogramError::NotBase64));
        assert_eq!(Histogram::from_base64(""), Err(HistogramError::NotHdrHistogram));
        let mut bytes = STANDARD.decode(Histogram::new().to_base64()).unwrap();
        assert_eq!(
            Histogram::from_base64(&STANDARD.encode(&bytes[..bytes.len() / 2])),
            Err(HistogramError::NotHdrHistogram)
        );
        bytes.push(0);
        let trailing = Histogram::from_base64(&STANDARD.encode(&bytes));
        assert_eq!(trailing, Err(HistogramError::NotHdrHistogram));
    }

    #[test]
    fn rejects_stated_lengths_before_allocating() {
        let too_long = Err(HistogramError::TooLong { length: 0x8600_0004 });
        let mut plain = vec![0x1C, 0x84, 0x93, 0x13, 0x86, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 3];
        plain.extend(1_u64.to_be_bytes());
        plain.extend(LONGEST_NS.to_be_bytes());
        plain.extend(1_f64.to_be_bytes());
        plain.extend([2, 4, 3, 40]);
        assert_eq!(Histogram::from_base64(&STANDARD.encode(&plain)), too_long);
        let mut packed = vec![0; 8];
        ZlibEncoder::new(&plain[..], Compression::fast()).read_to_end(&mut packed).unwrap();
        let length = packed.len() as u32 - 8;
        packed[..4].copy_from_slice(&COMPRESSED);
        packed[4..8].copy_from_slice(&length.to_be_bytes());
        assert_eq!(Histogram::from_base64(&STANDARD.encode(&packed)), too_long);
    }

    #[test]
    fn rejects_the_count_that_panics_the_decoder() {
        let with = |counts: &[u8]| {
            let mut plain = vec![0x1C, 0x84, 0x93, 0x13, 0, 0, 0, counts.len() as u8];
            plain.extend([0, 0, 0, 0, 0, 0, 0, 3]);
            plain.extend(1_u64.to_be_bytes());
            plain.extend(LONGEST_NS.to_be_bytes());
            plain.extend(1_f64.to_be_bytes());
            plain.extend(counts);
            Histogram::from_base64(&STANDARD.encode(&plain)).map(|read| read.count())
        };
        let least = [0xFF; 9];
        assert_eq!(with(&least), Err(HistogramError::NotHdrHistogram));
        assert_eq!(
            with(&[&[2, 0x80, 1][..], &least].concat()),
            Err(HistogramError::NotHdrHistogram)
        );
        let greatest = [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF];
        let too_many = |count| Err(HistogramError::TooMany { count });
        assert_eq!(with(&greatest), too_many(i64::MAX as u64));
        assert_eq!(with(&greatest.repeat(3)), too_many(u64::MAX));
        // The bytes of the least count, but not at the start of a count.
        assert_eq!(with(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 2]), Ok(1));
    }

    #[test]
    fn longer_samples_count_in_the_last_bucket() {
        let mut histogram = Histogram::new();
        histogram.record(u64::MAX);
        assert_eq!(histogram.count(), 1);
        assert!(histogram.at_rank(1).is_some_and(|nanos| nanos >= LONGEST_NS));
    }

    #[test]
    fn samples_are_in_one_bucket_each() {
        let mut histogram = Histogram::new();
        [5, 70_000, 5, 70_001].into_iter().for_each(|nanos| histogram.record(nanos));
        let buckets: Vec<_> = histogram.iter().collect();
        assert_eq!(buckets[0], HistogramBucket { least: 5, greatest: 5, count: 2 });
        assert_eq!(buckets[1], HistogramBucket { least: 69_952, greatest: 70_015, count: 2 });
        assert_eq!(buckets.len(), 2);
        histogram.clear();
        assert_eq!((histogram.count(), histogram.iter().count()), (0, 0));
    }

    /// The reference is HdrHistogram's function, which records the missing samples one by one.
    #[test]
    fn correction_matches_hdrhistogram() {
        for (interval, samples) in [
            (100, vec![50, 99, 100, 199, 200, 1_000, 1_050, 77_777]),
            (1_000, vec![2_000_000, 2_000_001, 5, 5, 5]),
            (7, vec![90_000]),
            (0, vec![1, 2, 3_000]),
        ] {
            let mut raw = Histogram::new();
            samples.iter().for_each(|&nanos| raw.record(nanos));
            let corrected = raw.corrected(Duration::from_nanos(interval));
            assert_eq!(corrected.0, raw.0.clone_correct(interval), "{interval}");
        }
    }

    #[test]
    fn correction_with_the_shortest_interval_terminates() {
        let mut raw = Histogram::new();
        raw.record(u64::MAX);
        assert!(raw.corrected(Duration::from_nanos(1)).count() > 50_000_000_000);
    }

    #[test]
    fn sum_contains_the_samples_of_all_parts() {
        let [mut one, mut other] = [Histogram::new(), Histogram::new()];
        [5, 70_000].into_iter().for_each(|nanos| one.record(nanos));
        [5, 2_000_000_000].into_iter().for_each(|nanos| other.record(nanos));
        let sum = Histogram::sum([&one, &other]);
        [5, 70_000].into_iter().for_each(|nanos| other.record(nanos));
        assert_eq!(sum, other);
        assert_eq!(Histogram::sum([]), Histogram::new());
    }

    #[test]
    fn ranks_are_counted_from_one() {
        let mut histogram = Histogram::new();
        [30, 10, 20].into_iter().for_each(|nanos| histogram.record(nanos));
        let ranks = [0, 1, 2, 3, 4].map(|rank| histogram.at_rank(rank));
        assert_eq!(ranks, [None, Some(10), Some(20), Some(30), None]);
    }
}
