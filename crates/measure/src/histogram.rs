//! The whole distribution of a row, in a form that other tools read.

use std::fmt;
use std::io::{Cursor, Read};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
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
}

/// Longer than any answer that is still worth waiting for.
const LONGEST_NS: u64 = 60_000_000_000;

/// Finer than any two runs agree, and 230 kB in memory.
const SIGNIFICANT_DIGITS: u8 = 3;

/// The cookie of the V2 compressed encoding: the cookie and length of the V2 encoding lie within.
const COMPRESSED: [u8; 4] = [0x1C, 0x84, 0x93, 0x14];

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
    /// histogram, and [`HistogramError::TooLong`].
    pub fn from_base64(text: &str) -> Result<Self, HistogramError> {
        let bytes = STANDARD.decode(text).map_err(|_| HistogramError::NotBase64)?;
        if let Some(length) = claimed(&bytes).filter(|&length| length > LONGEST_COUNTS) {
            return Err(HistogramError::TooLong { length });
        }
        let mut rest = Cursor::new(&bytes[..]);
        let inner = Deserializer::new().deserialize(&mut rest);
        let inner = inner.map_err(|_| HistogramError::NotHdrHistogram)?;
        if rest.position() != bytes.len() as u64 {
            return Err(HistogramError::NotHdrHistogram);
        }
        Ok(Self(inner))
    }
}

/// How many bytes of counts an encoded histogram says it has. The decoder has memory for them
/// before it looks whether they are there.
fn claimed(bytes: &[u8]) -> Option<u32> {
    let length =
        |header: &[u8; 8]| u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    let (header, rest) = bytes.split_first_chunk()?;
    if !header.starts_with(&COMPRESSED) {
        return Some(length(header));
    }
    let mut inner = [0; 8];
    ZlibDecoder::new(rest).read_exact(&mut inner).ok()?;
    Some(length(&inner))
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

    #[test]
    fn ranks_are_counted_from_one() {
        let mut histogram = Histogram::new();
        [30, 10, 20].into_iter().for_each(|nanos| histogram.record(nanos));
        let ranks = [0, 1, 2, 3, 4].map(|rank| histogram.at_rank(rank));
        assert_eq!(ranks, [None, Some(10), Some(20), Some(30), None]);
    }
}
