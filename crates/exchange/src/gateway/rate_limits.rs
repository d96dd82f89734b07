//! Messaging controls: rate limits of a session's messages.
//!
//! Each class of messages is counted in windows of 3 s. A window starts with the first message
//! after the previous window. More than three times the limit per second exceeds a window. Rejected
//! messages are counted too.

use hairpin_cme_codecs::ilink3::{OrderCancelRequest516, OrderMassActionRequest529};
use hairpin_time::{Duration, Instant};

/// The length of a window.
const WINDOW: Duration = Duration::from_secs(3);

/// The two limits of a message class, in messages per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// Messages above this rate are rejected by BusinessReject 8.
    pub reject: u32,
    /// A message above this rate ends the session by Terminate 9.
    pub logout: u32,
}

/// The rate limits of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// OrderCancelRequest and OrderMassActionRequest.
    pub cancels: RateLimit,
    /// MassQuote and the quote cancels.
    pub quotes: RateLimit,
    /// All other business messages.
    pub orders: RateLimit,
    /// The limit for other business messages in the pre-open state, see
    /// [`Gateway::set_pre_open`](crate::Gateway::set_pre_open).
    pub pre_open: RateLimit,
}

impl Default for RateLimits {
    /// Returns the limits that CME has published for iLink 2. Per second: 1,000 and 1,500 cancels,
    /// 350 and 750 quotes, 500 and 750 other messages, of these 100 and 150 before the open.
    fn default() -> Self {
        let limit = |reject, logout| RateLimit { reject, logout };
        Self {
            cancels: limit(1_000, 1_500),
            quotes: limit(350, 750),
            orders: limit(500, 750),
            pre_open: limit(100, 150),
        }
    }
}

/// The result of counting a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Pass,
    Reject,
    Logout,
}

#[derive(Debug, Default, Clone, Copy)]
struct Window {
    start: Option<Instant>,
    messages: u32,
}

impl Window {
    fn count(&mut self, now: Instant) -> u32 {
        if self.start.is_none_or(|start| now >= start + WINDOW) {
            *self = Self { start: Some(now), messages: 0 };
        }
        self.messages += 1;
        self.messages
    }
}

/// The counting windows of a session.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Windows {
    cancels: Window,
    quotes: Window,
    orders: Window,
}

impl Windows {
    /// Returns `true` for a quote or a quote cancel.
    pub(super) const fn counts_as_quote(template: u16) -> bool {
        matches!(template, 517 | 528 | 567..=570)
    }

    /// Counts a message.
    pub(super) fn count(
        &mut self,
        now: Instant,
        template: u16,
        limits: &RateLimits,
        pre_open: bool,
    ) -> Verdict {
        let (window, limit) = match template {
            OrderCancelRequest516::TEMPLATE_ID | OrderMassActionRequest529::TEMPLATE_ID => {
                (&mut self.cancels, limits.cancels)
            }
            _ if Self::counts_as_quote(template) => (&mut self.quotes, limits.quotes),
            // Message types D, G, H, R and s.
            514 | 515 | 533 | 543 | 544 | 566 if pre_open => (&mut self.orders, limits.pre_open),
            _ => (&mut self.orders, limits.orders),
        };
        let seconds = WINDOW.as_nanos() / 1_000_000_000;
        let messages = u64::from(window.count(now));
        if messages > u64::from(limit.logout) * seconds {
            Verdict::Logout
        } else if messages > u64::from(limit.reject) * seconds {
            Verdict::Reject
        } else {
            Verdict::Pass
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_AND_THREE: RateLimit = RateLimit { reject: 2, logout: 3 };

    fn limits() -> RateLimits {
        let pre_open = RateLimit { reject: 1, logout: 2 };
        RateLimits {
            cancels: TWO_AND_THREE,
            quotes: TWO_AND_THREE,
            orders: TWO_AND_THREE,
            pre_open,
        }
    }

    #[test]
    fn window_starts_with_first_message_and_lasts_three_seconds() {
        let (mut windows, limits) = (Windows::default(), limits());
        let mut at =
            |nanos, template| windows.count(Instant::from_nanos(nanos), template, &limits, false);
        let second = 1_000_000_000;
        for message in 0..6 {
            assert_eq!(at(5 * second + message, 514), Verdict::Pass);
        }
        for message in 0..3 {
            assert_eq!(at(8 * second - 3 + message, 515), Verdict::Reject);
        }
        assert_eq!(at(8 * second - 1, 514), Verdict::Logout);
        // Other classes have their own windows.
        assert_eq!(at(8 * second - 1, 516), Verdict::Pass);
        assert_eq!(at(8 * second - 1, 517), Verdict::Pass);
        assert_eq!(at(8 * second, 514), Verdict::Pass);
    }

    #[test]
    fn pre_open_lowers_the_limit_of_orders_only() {
        let (mut windows, limits) = (Windows::default(), limits());
        let mut verdicts = |template| {
            let mut count = |_| windows.count(Instant::ZERO, template, &limits, true);
            (0..4).map(&mut count).collect::<Vec<_>>()
        };
        let passes = vec![Verdict::Pass; 4];
        assert_eq!(verdicts(514), [&passes[..3], &[Verdict::Reject]].concat());
        assert_eq!(verdicts(516), passes);
    }
}
