//! How many messages may leave in an interval.

use alloc::boxed::Box;

use hairpin_cme_codecs::ilink3::{
    MassQuote517, MassQuoteRequest567, OrderCancelRequest516, OrderMassActionRequest529,
    QuoteCancel528, QuoteCancelByGroup569, QuoteCancelByInstrument570, QuoteCancelBySet568,
};
use hairpin_time::{Duration, Instant};

/// How long the intervals are in which CME counts.
pub const RATE_INTERVAL: Duration = Duration::from_secs(3);

/// What CME counts apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageClass {
    /// OrderCancelRequest516 and OrderMassActionRequest529.
    Cancel,
    /// Mass quotes and quote cancels.
    Quote,
    /// Every other business message.
    Other,
}

impl MessageClass {
    /// The class of a message by its template.
    #[must_use]
    pub const fn of_template(template_id: u16) -> Self {
        match template_id {
            OrderCancelRequest516::TEMPLATE_ID | OrderMassActionRequest529::TEMPLATE_ID => {
                Self::Cancel
            }
            MassQuote517::TEMPLATE_ID
            | QuoteCancel528::TEMPLATE_ID
            | MassQuoteRequest567::TEMPLATE_ID
            | QuoteCancelBySet568::TEMPLATE_ID
            | QuoteCancelByGroup569::TEMPLATE_ID
            | QuoteCancelByInstrument570::TEMPLATE_ID => Self::Quote,
            _ => Self::Other,
        }
    }
}

/// So many messages in each interval of this length, wherever it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Messages; at least 1 counts.
    pub messages: u32,
    /// Length of the interval.
    pub interval: Duration,
}

impl Rate {
    /// So many a second, counted over CME's [interval](RATE_INTERVAL).
    #[must_use]
    pub const fn per_second(messages: u32) -> Self {
        Self { messages: messages.saturating_mul(3), interval: RATE_INTERVAL }
    }
}

/// The limits of each class; without one a class has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Of [`MessageClass::Cancel`].
    pub cancels: Option<Rate>,
    /// Of [`MessageClass::Quote`].
    pub quotes: Option<Rate>,
    /// Of [`MessageClass::Other`].
    pub others: Option<Rate>,
}

impl Default for Rates {
    /// Nine tenths of what CME refuses beyond: 900 cancels, 315 quotes and 450 others a second.
    /// Its page was written for iLink 2, and before the open it takes fewer: 100 a second.
    fn default() -> Self {
        Self {
            cancels: Some(Rate::per_second(900)),
            quotes: Some(Rate::per_second(315)),
            others: Some(Rate::per_second(450)),
        }
    }
}

/// Knows when the last messages left, and so when the next one may.
///
/// It looks at every interval of the limit's length, so that it does not matter where the exchange
/// begins to count.
#[derive(Debug, Clone)]
pub struct Throttle {
    cancels: Option<Ring>,
    quotes: Option<Ring>,
    others: Option<Ring>,
}

/// When each of the last messages of an interval left.
#[derive(Debug, Clone)]
struct Ring {
    interval: Duration,
    left: Box<[Option<Instant>]>,
    /// The oldest of them.
    oldest: usize,
}

impl Ring {
    fn new(rate: Rate) -> Self {
        let left = alloc::vec![None; rate.messages.max(1) as usize].into();
        Self { interval: rate.interval, left, oldest: 0 }
    }

    fn free_at(&self) -> Option<Instant> {
        self.left[self.oldest].map(|left| left + self.interval)
    }

    fn note(&mut self, now: Instant) {
        self.left[self.oldest] = Some(now);
        self.oldest = (self.oldest + 1) % self.left.len();
    }
}

impl Throttle {
    /// A throttle that knows of no message yet. It takes 16 bytes for each message of an interval.
    #[must_use]
    pub fn new(rates: &Rates) -> Self {
        let [cancels, quotes, others] =
            [rates.cancels, rates.quotes, rates.others].map(|rate| rate.map(Ring::new));
        Self { cancels, quotes, others }
    }

    /// When a message of this class may leave; `None` if it may at `now`.
    #[must_use]
    pub fn free_at(&self, class: MessageClass, now: Instant) -> Option<Instant> {
        let ring = match class {
            MessageClass::Cancel => &self.cancels,
            MessageClass::Quote => &self.quotes,
            MessageClass::Other => &self.others,
        };
        ring.as_ref()?.free_at().filter(|&free| free > now)
    }

    /// Notes that a message of this class leaves at `now`, no earlier than the last one.
    pub fn note(&mut self, class: MessageClass, now: Instant) {
        let ring = match class {
            MessageClass::Cancel => &mut self.cancels,
            MessageClass::Quote => &mut self.quotes,
            MessageClass::Other => &mut self.others,
        };
        if let Some(ring) = ring {
            ring.note(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MessageClass::{Cancel, Other, Quote};

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn throttle() -> Throttle {
        let rate = Rate { messages: 2, interval: Duration::from_millis(100) };
        Throttle::new(&Rates { cancels: Some(rate), quotes: None, others: Some(rate) })
    }

    #[test]
    fn no_interval_has_more_messages_than_the_limit() {
        let mut throttle = throttle();
        for (now, free) in [(0, None), (60, None), (99, Some(100)), (100, None), (120, Some(160))] {
            assert_eq!(throttle.free_at(Other, at(now)), free.map(at), "at {now}");
            if free.is_none() {
                throttle.note(Other, at(now));
            }
        }
    }

    #[test]
    fn classes_are_counted_apart_and_may_have_no_limit() {
        let mut throttle = throttle();
        for class in [Other, Other, Quote, Quote, Quote] {
            throttle.note(class, at(0));
        }
        assert_eq!(throttle.free_at(Other, at(1)), Some(at(100)));
        assert_eq!((throttle.free_at(Cancel, at(1)), throttle.free_at(Quote, at(1))), (None, None));
    }

    #[test]
    fn a_class_is_known_by_the_template() {
        for (template, class) in [(514, Other), (516, Cancel), (529, Cancel), (517, Quote)] {
            assert_eq!(MessageClass::of_template(template), class);
        }
        for template in [528, 567, 568, 569, 570] {
            assert_eq!(MessageClass::of_template(template), Quote);
        }
        assert_eq!(MessageClass::of_template(515), Other);
    }
}
