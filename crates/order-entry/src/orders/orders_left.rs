//! The orders that stay at the exchange when a run ends.

use std::fmt;

/// The cancel of a session's orders at the end of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CancelOnQuit {
    /// Not requested: [`Config::cancel_on_quit`](crate::Config) is off.
    #[default]
    Off,
    /// Requested, but the session was not established.
    NotSent,
    /// Sent. Orders that are left have not been reported as canceled.
    Sent,
}

/// The orders that are left when a run ends; displayed in one line, with the remedy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OrdersLeft {
    /// The orders on the exchange's book.
    pub working: usize,
    /// The orders that were sent and not answered.
    pub unanswered: usize,
    /// The cancel at the end of the run.
    pub cancel: CancelOnQuit,
}

impl OrdersLeft {
    /// Returns `true` if no order is left.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.working == 0 && self.unanswered == 0
    }
}

impl fmt::Display for OrdersLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { working, unanswered, cancel } = *self;
        let orders = |count| if count == 1 { "order" } else { "orders" };
        let stay = if working == 1 { "stays" } else { "stay" };
        match (working, unanswered) {
            (0, _) => write!(f, "{unanswered} unanswered {} may work", orders(unanswered))?,
            (_, 0) => write!(f, "{working} {} {stay} working", orders(working))?,
            _ => write!(
                f,
                "{working} {} {stay} working, and {unanswered} more may work",
                orders(working)
            )?,
        }
        f.write_str(" at the exchange: ")?;
        f.write_str(match cancel {
            CancelOnQuit::Off => {
                "CME's Cancel on Disconnect may or may not apply; to cancel all orders at the end, \
                 set `cancel_on_quit = true` in [conduct] of order.toml"
            }
            CancelOnQuit::NotSent => {
                "not canceled, because the session is not established; log on and cancel them"
            }
            CancelOnQuit::Sent => "the exchange has not reported their cancel; log on and check",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(working: usize, unanswered: usize, cancel: CancelOnQuit) -> String {
        OrdersLeft { working, unanswered, cancel }.to_string()
    }

    #[test]
    fn line_has_counts_and_remedy() {
        use CancelOnQuit::{NotSent, Off, Sent};
        let off = line(1, 0, Off);
        assert!(off.starts_with("1 order stays working at the exchange: CME's"), "{off}");
        assert!(off.contains("cancel_on_quit = true"), "{off}");
        let sent = line(2, 1, Sent);
        let expected = "2 orders stay working, and 1 more may work at the exchange: the";
        assert!(sent.starts_with(expected), "{sent}");
        let not_sent = line(0, 3, NotSent);
        assert!(not_sent.starts_with("3 unanswered orders may work at the"), "{not_sent}");
    }
}
