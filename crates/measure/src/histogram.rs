//! The whole distribution of a row, in a form that other tools read.

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
/// A bucket is at most a thousandth of the values in it wide. What is longer than 60 s is counted
/// at the upper end; the exact extremes stand beside the histogram in a [`Summary`].
///
/// Its written form is HdrHistogram's V2 compressed encoding in base64 (RFC 4648, section 4),
/// which begins with `HISTFAAAA`.
///
/// [`Summary`]: crate::Summary
#[derive(Clone, PartialEq)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

/// A bucket of a [`Histogram`] with the samples in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The least value that is counted here, in nanoseconds.
    pub least: u64,
    /// The greatest, in nanoseconds.
    pub greatest: u64,
    /// How many samples: at least one.
    pub count: u64,
}

/// Why a text is not a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistogramError {
    /// The text is not base64.
    #[error("the histogram is not base64")]
    NotBase64,
    /// The bytes are not one HdrHistogram in V2 or V2 compressed encoding.
    #[error("the histogram is not in HdrHistogram's V2 encoding")]
    NotHdrHistogram,
    /// It says that it is longer than any histogram of a results file.
    #[error("the histogram claims to have {length} bytes")]
    TooLong {
        /// Bytes of its counts, by its own words.
        length: u32,
    },
    /// It says that it holds more samples than any run has.
    #[error("the histogram claims to hold {count} samples")]
    TooMany {
        /// The samples; more than there are numbers for are as many as there are.
        count: u64,
    },
}

/// Longer than any answer that is still worth waiting for.
const LONGEST_NS: u64 = 60_000_000_000;

/// Finer than any two runs agree, and 230 kB in memory.
const SIGNIFICANT_DIGITS: u8 = 3;

/// The cookie of the V2 compressed encoding: the cookie and length of the V2 encoding lie within.
const COMPRESSED: [u8; 4] = [0x1C, 0x84, 0x93, 0x14];

/// A sample a nanosecond for three days; rounds in thousands can be added without a thought.
const MOST_SAMPLES: u64 = 1 << 48;

/// Bytes of the V2 encoding before the counts: cookie, length, offset, digits, bounds and ratio.
const HEADER: usize = 40;

/// A count is at most 9 bytes long, and a histogram of ours has less than 30,000. One of 5 digits,
/// full to the last bucket, would be longer; nobody has measured that much.
const LONGEST_COUNTS: u32 = 4 << 20;

impl Histogram {
    /// An empty histogram; allocates all it will ever need.
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

    /// How many samples it holds.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The sample of a rank counted from one, in nanoseconds, up to the width of its bucket; `None`
    /// if there are fewer samples.
    ///
    /// The value is the highest of its bucket, as in all HdrHistogram tools.
    #[must_use]
    pub fn at_rank(&self, rank: u64) -> Option<u64> {
        let count = self.count();
        if rank == 0 || rank > count {
            return None;
        }
        // HdrHistogram rounds quantile × count up to a rank. Half a rank below the one that is
        // meant, no error of floating point can lead to its neighbour.
        Some(self.0.value_at_quantile((rank as f64 - 0.5) / count as f64))
    }

    /// The value of a percentile in nanoseconds, up to the width of its bucket; `None` unless
    /// [`Quantile::SAMPLES_BEYOND`] samples lie beyond it.
    #[must_use]
    pub fn at(&self, quantile: Quantile) -> Option<u64> {
        self.at_rank(quantile.rank(self.count())?)
    }

    /// The buckets that hold samples, from the least value up.
    pub fn iter(&self) -> impl Iterator<Item = Counted> {
        self.0.iter_recorded().map(|at| {
            let greatest = at.value_iterated_to();
            let least = self.0.lowest_equivalent(greatest);
            Counted { least, greatest, count: at.count_since_last_iteration() }
        })
    }

    /// The sum of some histograms: ours add exactly; of one that another tool wrote with other
    /// bounds or digits, the samples of a bucket are counted where the greatest value of it
    /// belongs.
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

    /// What a closed loop would have recorded had it sent every `interval`, whatever became of the
    /// sends before: HdrHistogram's correction for coordinated omission, applied after recording.
    ///
    /// A sample longer than the interval stands for those that were not sent while it lasted: one
    /// each that would have waited an interval less than the one before, down to the interval. It
    /// is an estimate, for rows of a closed loop ([`ClosedLoop`](crate::ClosedLoop)) alone. Rows of
    /// a schedule have those samples already and must not be corrected. What is stored in a results
    /// file is always the raw histogram. An interval of zero corrects nothing.
    #[must_use]
    pub fn corrected(&self, interval: Duration) -> Self {
        let (mut corrected, interval) = (self.clone(), interval.as_nanos());
        for bucket in self.iter().filter(|_| interval > 0) {
            let mut missing = bucket.greatest.saturating_sub(interval);
            while missing >= interval {
                // All that fall into one bucket at once: a minute in steps of a nanosecond is long.
                let least = self.0.lowest_equivalent(missing).max(interval);
                let steps = (missing - least) / interval + 1;
                corrected.0.saturating_record_n(missing, bucket.count.saturating_mul(steps));
                missing = missing.saturating_sub(steps.saturating_mul(interval));
            }
        }
        corrected
    }

    /// Forgets all samples and keeps the memory.
    pub fn clear(&mut self) {
        self.0.reset();
    }

    /// The written form.
    #[must_use]
    pub fn to_base64(&self) -> String {
        let mut bytes = Vec::new();
        let written = V2DeflateSerializer::new().serialize(&self.0, &mut bytes);
        written.expect("memory takes all that is written and the counts of a run fit 63 bits");
        STANDARD.encode(bytes)
    }

    /// Reads the written form, whichever tool wrote it.
    ///
    /// # Errors
    /// [`HistogramError::NotBase64`], [`HistogramError::NotHdrHistogram`], also for bytes after the
    /// histogram, [`HistogramError::TooLong`] and [`HistogramError::TooMany`].
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

/// The V2 encoding of what is in it or in the compressed one, with no more counts than it may have:
/// the decoder makes room for as many as it claims before it looks whether they are there.
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

/// Refuses the one count that the decoder cannot take: -2^63, which would be so many zeros. A count
/// is a ZigZag number of 7 bits a byte, the lowest first, but of all 8 in the ninth.
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

/// The big-endian number that begins at `at`.
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
    fn the_written_form_begins_as_other_tools_expect() {
        let mut histogram = Histogram::new();
        histogram.record(12_345);
        assert!(histogram.to_base64().starts_with("HISTFAAAA"), "{}", histogram.to_base64());
    }

    #[test]
    fn reads_what_other_implementations_wrote() {
        // One sample of 2048 in 1..=2048, as the Java and the C implementation write it.
        let java = "HISTFAAAACB4nJNpmSzMwMDAzAABMJoRQnEw2H+AsP7LMwEARZgDpQ==";
        let read = Histogram::from_base64(java).unwrap();
        assert_eq!((read.count(), read.at_rank(1)), (1, Some(2_049))); // of a bucket 2 wide
        // 100, 200 and 250 in 1..=300, as the Vala implementation writes them.
        let vala = "HISTFAAAACV4nJNpmSzMwMDAwQABzFCaEUrp2H+AsI4zMh1lZEpkAgBdIQSk";
        let read = Histogram::from_base64(vala).unwrap();
        let ranks = [1, 2, 3].map(|rank| read.at_rank(rank).unwrap());
        assert_eq!((read.count(), ranks), (3, [100, 200, 250]));
    }

    #[test]
    fn refuses_what_is_no_histogram() {
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
    fn has_no_memory_for_what_is_only_claimed() {
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
    fn refuses_a_count_that_is_no_count() {
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
        // The bytes of the least count, but not where one begins.
        assert_eq!(with(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 2]), Ok(1));
    }

    #[test]
    fn counts_what_is_longer_than_it_reaches() {
        let mut histogram = Histogram::new();
        histogram.record(u64::MAX);
        assert_eq!(histogram.count(), 1);
        assert!(histogram.at_rank(1).is_some_and(|nanos| nanos >= LONGEST_NS));
    }

    #[test]
    fn every_sample_is_in_one_bucket() {
        let mut histogram = Histogram::new();
        [5, 70_000, 5, 70_001].into_iter().for_each(|nanos| histogram.record(nanos));
        let buckets: Vec<_> = histogram.iter().collect();
        assert_eq!(buckets[0], Counted { least: 5, greatest: 5, count: 2 });
        assert_eq!(buckets[1], Counted { least: 69_952, greatest: 70_015, count: 2 });
        assert_eq!(buckets.len(), 2);
        histogram.clear();
        assert_eq!((histogram.count(), histogram.iter().count()), (0, 0));
    }

    /// HdrHistogram's own way, which records the missing samples one by one.
    #[test]
    fn corrects_as_hdrhistogram_does() {
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
    fn a_correction_in_the_finest_steps_ends() {
        let mut raw = Histogram::new();
        raw.record(u64::MAX);
        assert!(raw.corrected(Duration::from_nanos(1)).count() > 50_000_000_000);
    }

    #[test]
    fn a_sum_holds_the_samples_of_all_its_parts() {
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
