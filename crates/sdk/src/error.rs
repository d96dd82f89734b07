//! Errors and problems.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use hairpin_feed_handler::{self as feed, FeedError};
use hairpin_order_entry::{self as order_entry, ClOrdId, SecurityId};

use crate::order_event::Reason;
use crate::{ChannelId, ParsePriceError};

/// The result of opening or running a [`Feed`](crate::Feed), a [`Session`](crate::Session) or a
/// [`Trader`](crate::Trader).
pub type Result<T> = std::result::Result<T, Error>;

/// An error that prevents or ends a run; displayed in one line. No message contains a secret key.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A configuration file cannot be read.
    #[error("cannot read {}: {error}", shown(path))]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// A market data configuration is invalid, or does not have the channel.
    #[error("cannot use {}: {error}", shown(path))]
    FeedConfig {
        /// The file.
        path: PathBuf,
        /// The cause, with the line in the file if it has one.
        error: feed::config::ConfigError,
    },
    /// An order entry configuration is invalid.
    #[error("cannot use {}: {error}", shown(path))]
    OrderConfig {
        /// The file.
        path: PathBuf,
        /// The cause, with the line in the file if it has one.
        error: order_entry::ConfigError,
    },
    /// An order entry configuration has no journal.
    #[error(
        "cannot use {}: no [journal]: give its `folder`, or `in_memory = true` to lose orders at \
         a restart",
        shown(path)
    )]
    NoJournal {
        /// The file.
        path: PathBuf,
    },
    /// A journal cannot be opened: it is in use, damaged, or its folder cannot be created. At the
    /// end of a run: it could not be written to disk.
    #[error("{0}")]
    Journal(String),
    /// A network interface does not exist, or has no IPv4 address.
    #[error("cannot use interface {name}: {error}")]
    Interface {
        /// The name, as given.
        name: String,
        /// The cause.
        error: io::Error,
    },
    /// No instrument has this symbol: neither in `[instruments]` of order.toml nor in a received
    /// definition.
    #[error("cannot find instrument {0}: not in [instruments] and no definition received")]
    UnknownSymbol(String),
    /// A name of the filter ([`Builder::filter`](crate::Builder::filter)) is in no definition of
    /// the channels.
    #[error("cannot follow {0}: no definition of the channels has it")]
    UnmatchedFilter(feed::FilterName),
    /// A price cannot be parsed.
    #[error(transparent)]
    Price(#[from] ParsePriceError),
    /// A feed cannot be opened, or has failed.
    #[error(transparent)]
    Feed(#[from] FeedError),
    /// A setting of a session that CME would reject, or a market segment with two sessions.
    #[error("cannot open the session: {0}")]
    Settings(String),
    /// The exchange rejected the credentials of the first logon.
    #[error("cannot log on: {0}")]
    Logon(String),
    /// The configured number of attempts to connect is used up.
    #[error("cannot connect to the gateway: {0}")]
    GaveUp(String),
    /// An interface cannot be used for kernel bypass.
    #[error("{0}")]
    Xdp(String),
    /// A thread cannot be pinned to a core.
    #[error("{0}")]
    Core(String),
    /// A definition cache cannot be used.
    #[error("cannot use the definition cache {}: {error}", path.display())]
    Cache {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: feed::CacheError,
    },
    /// An operating system call has failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Returns a path for a message: it may be a secret key by mistake.
fn shown(path: &Path) -> String {
    order_entry::redact_keys(&path.to_string_lossy()).into_owned()
}

/// The same as `Display`, so that `main` prints the error in one readable line.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The cause for which a message was not sent. Nothing was journaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The price is saturated.
    #[error("the price is out of range")]
    Price,
    /// The quantity is beyond 4,294,967,295 contracts.
    #[error("quantity {0} is out of range")]
    Quantity(u64),
    /// No order has this ClOrdID (11), or its end was reported.
    #[error("no order has ClOrdID {0}")]
    UnknownOrder(ClOrdId),
    /// There are several sessions, and no definition names the market segment of the instrument.
    #[error("the market segment of instrument {0} is unknown")]
    UnknownSegment(SecurityId),
    /// No session trades the instrument's market segment.
    #[error("no session for market segment {0}")]
    NoSession(u8),
    /// There are several sessions, and the message does not select one.
    #[error("the message does not select one of several sessions")]
    AmbiguousSession,
    /// The order's type or time in force cannot be repeated in a replacement; send a
    /// [`ReplaceOrder`](order_entry::ReplaceOrder).
    #[error("the order's terms need a complete replacement message")]
    Terms,
    /// The run is ending, and all orders are being canceled
    /// ([`Builder::cancel_on_quit`](crate::Builder::cancel_on_quit)).
    #[error("the run is ending: all orders are being canceled")]
    Quitting,
    /// The session has refused the message.
    #[error(transparent)]
    Session(#[from] order_entry::SendError),
}

/// The part that is not ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotReady {
    /// Books of the channel are not in sync.
    Books(ChannelId),
    /// The session is not established; the number is its market segment, if there are several.
    Session(Option<u8>),
}

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Books(channel) => write!(f, "books of channel {channel} are not in sync"),
            Self::Session(None) => f.write_str("the session is not established"),
            Self::Session(Some(segment)) => {
                write!(f, "the session of market segment {segment} is not established")
            }
        }
    }
}

/// A problem that does not end the run; displayed in one line.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Problem<'a> {
    /// A feed cannot receive for now; it recovers by itself.
    Feed(ChannelId, &'a FeedError),
    /// A malformed packet or message.
    MarketData(ChannelId, &'a feed::Error),
    /// Packets of the incremental feed that neither line delivered. The books recover.
    Gap(ChannelId, feed::Gap),
    /// The exchange has emptied all books of the channel.
    ChannelReset(ChannelId),
    /// The exchange has rejected a logon. The session tries again.
    Rejected(RejectCodeText<'a>),
    /// The exchange has terminated the session. The session reconnects.
    Terminated(order_entry::TerminateCode),
    /// A fault has ended the connection. The session reconnects.
    Session(&'a order_entry::Error),
    /// An irregularity in the session.
    SessionWarning(&'a order_entry::Warning),
    /// Messages of the exchange are lost for good. Request the status of the orders.
    Lost(order_entry::Gap),
    /// The exchange has not applied messages of ours.
    NotApplied(order_entry::NotApplied),
    /// The exchange has rejected a message that is no request for a known order.
    MessageRejected(&'a Reason),
    /// The run ends, and orders are left at the exchange.
    OrdersLeft(order_entry::OrdersLeft),
}

/// The exchange's reason for a rejected logon.
#[derive(Debug, Clone, Copy)]
pub struct RejectCodeText<'a> {
    pub(crate) rejected: &'a order_entry::Rejected<'a>,
}

impl fmt::Display for RejectCodeText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.rejected.code)?;
        let reason = self.rejected.reason;
        if reason.as_bytes().is_empty() { Ok(()) } else { write!(f, ": {reason}") }
    }
}

impl fmt::Display for Problem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feed(channel, error) => write!(f, "channel {channel}: {error}"),
            Self::MarketData(channel, error) => write!(f, "channel {channel}: {error}"),
            Self::Gap(channel, gap) => {
                write!(f, "channel {channel}: {} packets lost from {}", gap.count, gap.first)
            }
            Self::ChannelReset(channel) => write!(f, "channel {channel}: all books were reset"),
            Self::Rejected(reason) => write!(f, "session: logon rejected: {reason}"),
            Self::Terminated(code) => write!(f, "session: terminated by the exchange: {code}"),
            Self::Session(error) => write!(f, "session: {error}"),
            Self::SessionWarning(warning) => write!(f, "session: {warning}"),
            Self::Lost(gap) => {
                write!(f, "session: reports {} to {} of {} are lost", gap.from, gap.to, gap.uuid)
            }
            Self::NotApplied(it) => write!(
                f,
                "session: the exchange did not apply {} messages from {}",
                it.count, it.from_seq_no
            ),
            Self::OrdersLeft(left) => write!(f, "{left}"),
            Self::MessageRejected(reason) => write!(f, "session: message rejected: {reason}"),
        }
    }
}
