//! Error codes, and the text of a thread's last error.

use core::ffi::c_char;
use core::fmt::Display;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hairpin::{Error, SendError};

use crate::text::write_text;

/// An error code. Functions return it as a negative number; `hairpin_last_error` has the text.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum hairpin_error {
    /// No error.
    None = 0,
    /// An argument is NULL.
    Null = -1,
    /// The size at the start of a structure is impossible.
    Size = -2,
    /// An argument is out of range, or a text is not UTF-8.
    Argument = -3,
    /// The handle is closed, or was never opened.
    Closed = -4,
    /// Another thread uses the handle.
    Busy = -5,
    /// The function cannot be called inside a callback.
    InCallback = -6,
    /// The context is used after its callback, or on another thread.
    Context = -7,
    /// A callback has returned a number other than 0.
    Callback = -8,
    /// The library has failed unexpectedly. The handle is poisoned.
    Panic = -9,
    /// An earlier failure has poisoned the handle.
    Poisoned = -10,
    /// All slots for handles are in use.
    TooManyHandles = -11,
    /// There is no such book, level, instrument or order.
    NotFound = -12,
    /// A price cannot be parsed, or has no representation.
    Price = -13,
    /// Too many timers run already.
    TooManyTimers = -14,
    /// A configuration file cannot be read.
    File = -20,
    /// The market data configuration is invalid, or does not have the channel.
    FeedConfig = -21,
    /// The order entry configuration is invalid.
    OrderConfig = -22,
    /// The order entry configuration has no journal.
    NoJournal = -23,
    /// The journal cannot be opened.
    Journal = -24,
    /// A network interface does not exist, or has no IPv4 address.
    Interface = -25,
    /// No instrument has this symbol.
    UnknownSymbol = -26,
    /// A feed cannot be opened, or has failed.
    Feed = -27,
    /// A setting of a session that CME would reject.
    Settings = -28,
    /// The exchange rejected the credentials of the first logon.
    Logon = -29,
    /// The configured number of attempts to connect is used up.
    GaveUp = -30,
    /// The thread cannot be pinned to the core.
    Core = -31,
    /// A definition cache cannot be used.
    Cache = -32,
    /// An operating system call has failed.
    Io = -33,
    /// An interface cannot be used for kernel bypass.
    Xdp = -34,
    /// Not sent: the price is out of range.
    SendPrice = -40,
    /// Not sent: the quantity is out of range.
    SendQuantity = -41,
    /// Not sent: no order has the ClOrdID.
    SendUnknownOrder = -42,
    /// Not sent: no session trades the instrument's market segment.
    SendNoSession = -43,
    /// Not sent: the order's terms need `hairpin_replace_order`.
    SendTerms = -44,
    /// Not sent: the session has refused the message.
    SendSession = -45,
    /// An error that this version of the header does not list.
    Other = -99,
}

impl From<&Error> for hairpin_error {
    fn from(error: &Error) -> Self {
        match error {
            Error::File { .. } => Self::File,
            Error::FeedConfig { .. } => Self::FeedConfig,
            Error::OrderConfig { .. } => Self::OrderConfig,
            Error::NoJournal { .. } => Self::NoJournal,
            Error::Journal(_) => Self::Journal,
            Error::Interface { .. } => Self::Interface,
            Error::UnknownSymbol(_) | Error::UnmatchedFilter(_) => Self::UnknownSymbol,
            Error::Price(_) => Self::Price,
            Error::Feed(_) => Self::Feed,
            Error::Settings(_) => Self::Settings,
            Error::Logon(_) => Self::Logon,
            Error::GaveUp(_) => Self::GaveUp,
            Error::Core(_) => Self::Core,
            Error::Xdp(_) => Self::Xdp,
            Error::Cache { .. } => Self::Cache,
            Error::Io(_) => Self::Io,
            _ => Self::Other,
        }
    }
}

impl From<&SendError> for hairpin_error {
    fn from(error: &SendError) -> Self {
        match error {
            SendError::Price => Self::SendPrice,
            SendError::Quantity(_) => Self::SendQuantity,
            SendError::UnknownOrder(_) => Self::SendUnknownOrder,
            SendError::UnknownSegment(_)
            | SendError::NoSession(_)
            | SendError::AmbiguousSession => Self::SendNoSession,
            SendError::Terms => Self::SendTerms,
            SendError::Quitting | SendError::Session(_) => Self::SendSession,
            _ => Self::Other,
        }
    }
}

/// The longest error text, with its NUL.
const TEXT_LENGTH: usize = 1_024;

thread_local! {
    /// The text of this thread's last error, ended by a NUL.
    static TEXT: UnsafeCell<[u8; TEXT_LENGTH]> = const { UnsafeCell::new([0; TEXT_LENGTH]) };
}

/// The outcome of a function: a number that is not negative, or an error whose text is recorded.
pub(crate) type Outcome<T = i32> = Result<T, hairpin_error>;

/// Records the text of an error and returns its code.
#[cold]
pub(crate) fn fail(code: hairpin_error, text: impl Display) -> hairpin_error {
    TEXT.with(|place| {
        // SAFETY: no other reference to the thread's text exists: `write_text` calls only
        // `Display` of our own errors, which do not fail with an error of their own.
        let place = unsafe { &mut *place.get() };
        write_text(place, &text);
    });
    code
}

pub(crate) fn failed(error: &Error) -> hairpin_error {
    fail(error.into(), error)
}

#[cold]
pub(crate) fn not_sent(error: SendError) -> hairpin_error {
    fail((&error).into(), error)
}

#[cold]
pub(crate) fn null(name: &str) -> hairpin_error {
    fail(hairpin_error::Null, format_args!("the argument `{name}` is NULL"))
}

/// Runs the body of a function. A panic becomes an error.
#[inline]
pub(crate) fn catch(body: impl FnOnce() -> Outcome) -> i32 {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(outcome) => outcome.unwrap_or_else(|code| code as i32),
        Err(_) => panicked() as i32,
    }
}

/// Records a caught panic, whose message was printed.
#[cold]
pub(crate) fn panicked() -> hairpin_error {
    fail(hairpin_error::Panic, "the library has failed unexpectedly; see standard error")
}

/// Returns the text of this thread's last error: one line, never NULL, empty before the first
/// error. Valid until the next error of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_last_error() -> *const c_char {
    TEXT.with(|text| text.get().cast())
}
