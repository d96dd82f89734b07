//! ClOrdIDs that never repeat.

use hairpin_order_entry::ClOrdId;
use hairpin_time::Utc;

/// 2020-01-01 in UTC, in milliseconds.
const EPOCH_MS: u64 = 1_577_836_800_000;
/// The characters of the run's number: 36^8 milliseconds are 89 years.
const RUN_LENGTH: usize = 8;
const DIGITS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A generator of ClOrdIDs: the run's number, a hyphen and a count, such as `05F2K9QX-1`.
///
/// The run's number is the start time in milliseconds, in base 36. It is greater than that of every
/// earlier run in the journals, even if the clock was set back. So no id repeats across restarts.
#[derive(Debug, Clone)]
pub(crate) struct ClOrdIds {
    /// The last id.
    text: [u8; 20],
    length: usize,
}

impl ClOrdIds {
    /// Starts a run. `last_run` is the number of the last run in the journals.
    pub(crate) fn new(now: Utc, last_run: Option<u64>) -> Self {
        let started = (now.as_nanos() / 1_000_000).saturating_sub(EPOCH_MS);
        let mut run = last_run.map_or(started, |last| started.max(last + 1));
        let mut text = [0; 20];
        for place in text[..RUN_LENGTH].iter_mut().rev() {
            *place = DIGITS[(run % 36) as usize];
            run /= 36;
        }
        text[RUN_LENGTH] = b'-';
        text[RUN_LENGTH + 1] = b'0';
        Self { text, length: RUN_LENGTH + 2 }
    }

    /// Returns the next id: counts up in decimal digits. After 10^11 ids the count starts again.
    #[inline]
    pub(crate) fn next(&mut self) -> ClOrdId {
        let last = &mut self.text[self.length - 1];
        if *last < b'9' {
            *last += 1;
        } else {
            self.carry();
        }
        ClOrdId(self.text)
    }

    #[cold]
    fn carry(&mut self) {
        let digits = &mut self.text[RUN_LENGTH + 1..self.length];
        for digit in digits.iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
        if self.length < self.text.len() {
            self.text[RUN_LENGTH + 1] = b'1';
            self.text[self.length] = b'0';
            self.length += 1;
        }
    }
}

/// Returns the number of the run that has assigned an id, or `None` for any other id.
pub(crate) fn run_of(id: &ClOrdId) -> Option<u64> {
    let text = id.as_bytes();
    if text.get(RUN_LENGTH) != Some(&b'-') {
        return None;
    }
    text[..RUN_LENGTH].iter().try_fold(0_u64, |run, byte| {
        let digit = DIGITS.iter().position(|digit| digit == byte)?;
        Some(run * 36 + digit as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_ms(ms: u64) -> Utc {
        Utc::from_nanos((EPOCH_MS + ms) * 1_000_000)
    }

    #[test]
    fn counts_from_one_in_decimal() {
        let mut ids = ClOrdIds::new(at_ms(36), None);
        for count in 1..=12_345 {
            assert_eq!(ids.next().to_string(), format!("00000010-{count}"));
        }
    }

    #[test]
    fn later_run_has_another_number_even_if_the_clock_went_back() {
        let first = ClOrdIds::new(at_ms(1_000_000), None).next();
        assert_eq!(run_of(&first), Some(1_000_000));
        let second = ClOrdIds::new(at_ms(5), run_of(&first)).next();
        assert_eq!(run_of(&second), Some(1_000_001));
        let third = ClOrdIds::new(at_ms(2_000_000), run_of(&second)).next();
        assert_eq!(run_of(&third), Some(2_000_000));
    }

    #[test]
    fn other_ids_have_no_run() {
        for id in ["1", "ABCDEFGHI", "abcdefgh-1", "12345678"] {
            assert_eq!(ClOrdId::new(id).and_then(|id| run_of(&id)), None, "{id}");
        }
    }
}
