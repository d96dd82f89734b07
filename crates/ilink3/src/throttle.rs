//! The throttle: limits on the message rate.

use alloc::boxed::Box;

use hairpin_cme_codecs::ilink3::{
    MassQuote517, MassQuoteRequest567, OrderCancelRequest516, OrderMassActionRequest529,
    QuoteCancel528, QuoteCancelByGroup569, QuoteCancelByInstrument570, QuoteCancelBySet568,
};
use hairpin_time::{Duration, Instant};

/// The length of CME's counting intervals.
pub const RATE_INTERVAL: Duration = Duration::from_secs(3);

/// The classes of messages that CME counts separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageClass {
    /// OrderCancelRequest516 and OrderMassActionRequest529.
    Cancel,
    /// Mass quotes and quote cancels.
    Quote,
    /// Any other business message.
    Other,
}

impl MessageClass {
    /// Returns the class of a template.
    #[must_use]
    pub const fn from_template(template_id: u16) -> Self {
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

/// The maximum number of messages in any interval of a given length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// The maximum number of messages; at least 1.
    pub messages: u32,
    /// The length of the interval.
    pub interval: Duration,
}

impl Rate {
    /// Creates a limit of `messages` per second, counted over CME's [interval](RATE_INTERVAL).
    #[must_use]
    pub const fn per_second(messages: u32) -> Self {
        Self { messages: messages.saturating_mul(3), interval: RATE_INTERVAL }
    }
}

/// The limits of each class; `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// The limit of [`MessageClass::Cancel`].
    pub cancels: Option<Rate>,
    /// The limit of [`MessageClass::Quote`].
    pub quotes: Option<Rate>,
    /// The limit of [`MessageClass::Other`].
    pub others: Option<Rate>,
}

impl Default for Rates {
    /// Returns nine tenths of CME's reject limits: 900 cancels, 315 quotes and 450 others per
    /// second. CME's page describes iLink 2. Before the open, CME accepts only 100 per second.
    fn default() -> Self {
        Self {
            cancels: Some(Rate::per_second(900)),
            quotes: Some(Rate::per_second(315)),
            others: Some(Rate::per_second(450)),
        }
    }
}

/// A sliding-window limiter with the send times of recent messages.
///
/// Every window of the interval's length is limited, so the result does not depend on the
/// exchange's interval boundaries.
#[derive(Debug, Clone)]
pub struct Throttle {
    cancels: Option<SendTimes>,
    quotes: Option<SendTimes>,
    others: Option<SendTimes>,
}

/// The send times of the last messages of an interval.
#[derive(Debug, Clone)]
struct SendTimes {
    interval: Duration,
    sent_at: Box<[Option<Instant>]>,
    /// The index of the oldest time.
    oldest: usize,
}

impl SendTimes {
    fn new(rate: Rate) -> Self {
        let sent_at = alloc::vec![None; rate.messages.max(1) as usize].into();
        Self { interval: rate.interval, sent_at, oldest: 0 }
    }

    /// Returns the time at which `count` messages may be sent at once; `None` if any time.
    fn blocked_until(&self, count: usize) -> Option<Instant> {
        if count > self.sent_at.len() {
            return Some(Instant::MAX);
        }
        let last = (self.oldest + count - 1) % self.sent_at.len();
        self.sent_at[last].map(|sent_at| sent_at + self.interval)
    }

    fn record(&mut self, now: Instant) {
        self.sent_at[self.oldest] = Some(now);
        self.oldest = (self.oldest + 1) % self.sent_at.len();
    }
}

impl Throttle {
    /// Creates a throttle without messages. Uses 16 bytes per message of an interval.
    #[must_use]
    pub fn new(rates: &Rates) -> Self {
        let [cancels, quotes, others] =
            [rates.cancels, rates.quotes, rates.others].map(|rate| rate.map(SendTimes::new));
        Self { cancels, quotes, others }
    }

    /// Returns the time at which a message of this class may be sent, or `None` if now.
    #[must_use]
    pub fn blocked_until(&self, class: MessageClass, now: Instant) -> Option<Instant> {
        self.blocked_until_nth(class, 1, now)
    }

    /// Returns the time at which `count` messages of this class, at least 1, may be sent at once,
    /// or `None` if now. [`Instant::MAX`] means never.
    #[must_use]
    pub fn blocked_until_nth(
        &self,
        class: MessageClass,
        count: u32,
        now: Instant,
    ) -> Option<Instant> {
        let ring = match class {
            MessageClass::Cancel => &self.cancels,
            MessageClass::Quote => &self.quotes,
            MessageClass::Other => &self.others,
        };
        ring.as_ref()?.blocked_until(count as usize).filter(|&free| free > now)
    }

    /// Records a message of this class sent at `now`. Calls must be in time order.
    pub fn record(&mut self, class: MessageClass, now: Instant) {
        let ring = match class {
            MessageClass::Cancel => &mut self.cancels,
            MessageClass::Quote => &mut self.quotes,
            MessageClass::Other => &mut self.others,
        };
        if let Some(ring) = ring {
            ring.record(now);
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
    fn limits_the_messages_of_every_interval() {
        let mut throttle = throttle();
        for (now, free) in [(0, None), (60, None), (99, Some(100)), (100, None), (120, Some(160))] {
            assert_eq!(throttle.blocked_until(Other, at(now)), free.map(at), "at {now}");
            if free.is_none() {
                throttle.record(Other, at(now));
            }
        }
    }

    #[test]
    fn several_messages_wait_for_the_last_of_them() {
        let mut throttle = throttle();
        throttle.record(Other, at(0));
        assert_eq!(throttle.blocked_until_nth(Other, 1, at(1)), None);
        assert_eq!(throttle.blocked_until_nth(Other, 2, at(1)), Some(at(100)));
        assert_eq!(throttle.blocked_until_nth(Other, 2, at(100)), None);
        assert_eq!(throttle.blocked_until_nth(Other, 3, at(100)), Some(Instant::MAX));
    }

    #[test]
    fn classes_are_counted_separately() {
        let mut throttle = throttle();
        for class in [Other, Other, Quote, Quote, Quote] {
            throttle.record(class, at(0));
        }
        assert_eq!(throttle.blocked_until(Other, at(1)), Some(at(100)));
        assert_eq!(
            (throttle.blocked_until(Cancel, at(1)), throttle.blocked_until(Quote, at(1))),
            (None, None)
        );
    }

    #[test]
    fn class_follows_the_template() {
        for (template, class) in [(514, Other), (516, Cancel), (529, Cancel), (517, Quote)] {
            assert_eq!(MessageClass::from_template(template), class);
        }
        for template in [528, 567, 568, 569, 570] {
            assert_eq!(MessageClass::from_template(template), Quote);
        }
        assert_eq!(MessageClass::from_template(515), Other);
    }
}
