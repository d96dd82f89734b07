//! The table of callbacks, and the strategy that calls it.

use core::ffi::{c_int, c_void};
use core::fmt::Display;
use core::mem::MaybeUninit;

use hairpin::{
    Book, BookEvent, Callback, Context, Fill, Instrument, MarketMessage, NotReady, OrderEvent,
    OrderMessage, Problem, SecurityStatus, Statistic, Strategy, TradeEvent, Trader,
};

use crate::current::{Event, enter, hairpin_context};
use crate::error::{Outcome, hairpin_error};
use crate::events::*;
use crate::text::{sized_in, write_text};
use crate::trader::Turn;

/// The callbacks of a strategy. NULL: not called. A callback returns 0 to continue; another number
/// ends the run, and no callback is called after it.
///
/// `user` is the argument of `hairpin_trader_run` or `hairpin_trader_turn`. The event and the
/// context are valid until the callback returns. A C++ exception must not leave a callback.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct hairpin_callbacks {
    /// `sizeof(hairpin_callbacks)`.
    pub size: usize,
    /// Called when all books are in sync and all sessions are established.
    pub on_ready:
        Option<unsafe extern "C" fn(user: *mut c_void, context: *mut hairpin_context) -> c_int>,
    /// Called when a channel's books or a session are no longer ready.
    pub on_not_ready: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            event: *const hairpin_not_ready,
            context: *mut hairpin_context,
        ) -> c_int,
    >,
    /// Called for each book that a complete matching event has changed, and for each book that has
    /// come into sync.
    pub on_book: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            event: *const hairpin_book_event,
            context: *mut hairpin_context,
        ) -> c_int,
    >,
    /// Called for each trade of the market, also while its book is out of sync.
    pub on_trade: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            event: *const hairpin_trade_event,
            context: *mut hairpin_context,
        ) -> c_int,
    >,
    /// Called when an instrument is added, changed or deleted.
    pub on_instrument: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            event: *const hairpin_instrument,
            context: *mut hairpin_context,
        ) -> c_int,
    >,
    /// Called when trading of an instrument, a group or a product has opened, halted or closed.
    pub on_status: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            event: *const hairpin_status_event,
            context: *mut hairpin_context,
        ) -> c_int,
    >,
    /// Called when a statistic of an instrument has changed.
    pub on_statistic: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            event: *const hairpin_statistic_event,
            context: *mut hairpin_context,
        ) -> c_int,
    >,
    /// Called for each report on an order of ours, except for its trades.
    pub on_order: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            event: *const hairpin_order_event,
            context: *mut hairpin_context,
        ) -> c_int,
    >,
    /// Called for each trade of an order of ours, each leg, each correction and each bust.
    pub on_fill: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            event: *const hairpin_fill,
            context: *mut hairpin_context,
        ) -> c_int,
    >,
    /// Called when a timer of `hairpin_set_timer` has expired.
    pub on_timer: Option<
        unsafe extern "C" fn(user: *mut c_void, timer: u64, context: *mut hairpin_context) -> c_int,
    >,
    /// Called for a problem that does not end the run. NULL prints one line to standard error.
    pub on_problem: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            event: *const hairpin_problem,
            context: *mut hairpin_context,
        ) -> c_int,
    >,
    /// Called for every market data message, before the callbacks for its content.
    pub on_market_message: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            event: *const hairpin_market_message,
            context: *mut hairpin_context,
        ) -> c_int,
    >,
    /// Called for every business message of the exchange, before the callback for its content.
    pub on_order_message: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            event: *const hairpin_order_message,
            context: *mut hairpin_context,
        ) -> c_int,
    >,
}

/// A table without callbacks.
// SAFETY: zero is a value of each member.
static NONE: hairpin_callbacks = unsafe { MaybeUninit::zeroed().assume_init() };

/// A checked table, and its user.
pub(crate) struct Table {
    /// A program may change its table in a callback, so there is no reference to it.
    callbacks: *const hairpin_callbacks,
    user: *mut c_void,
    /// The reason for which callbacks are no longer called.
    pub(crate) failure: Option<hairpin_error>,
}

impl Table {
    /// Checks a table; `place` has space for one of another size.
    ///
    /// # Safety
    /// `callbacks` is NULL or points to as many bytes as it states. It and `place` are valid as
    /// long as the result.
    #[inline]
    pub(crate) unsafe fn new(
        callbacks: *const hairpin_callbacks,
        place: &mut MaybeUninit<hairpin_callbacks>,
        user: *mut c_void,
    ) -> Outcome<Self> {
        // SAFETY: by the caller's contract; a table of zeros has no callbacks.
        let callbacks = unsafe { sized_in(callbacks, place, "callbacks") }?;
        Ok(Self { callbacks, user, failure: None })
    }

    #[inline]
    fn callbacks(&self) -> &hairpin_callbacks {
        // SAFETY: valid by the contract of `new`. No reference exists while a callback runs.
        unsafe { &*self.callbacks }
    }

    #[inline]
    fn call(
        &mut self,
        context: &mut Context<'_>,
        event: Event,
        call: impl FnOnce(*mut c_void, *mut hairpin_context) -> c_int,
    ) {
        let user = self.user;
        if let Err(failure) = enter(context, event, |context| call(user, context)) {
            self.fail(failure, context);
        }
    }

    #[cold]
    fn fail(&mut self, failure: hairpin_error, context: &mut Context<'_>) {
        self.failure = Some(failure);
        self.callbacks = &raw const NONE;
        context.stop();
    }
}

impl Turn for Table {
    #[inline]
    fn turn(&mut self, trader: &mut Trader) -> hairpin::Result<bool> {
        let table = self.callbacks();
        if table.on_trade.is_some() || table.on_market_message.is_some() {
            trader.turn(&mut TableStrategy::<true>(self))
        } else {
            trader.turn(&mut TableStrategy::<false>(self))
        }
    }
}

/// A strategy that calls a table. `TAPE`: it may have a callback for trades or for messages of the
/// market. Without these the compiler removes the preparation of their arguments, as it does for a
/// strategy in Rust.
struct TableStrategy<'a, const TAPE: bool>(&'a mut Table);

/// Implements the callbacks whose event is converted from one type.
macro_rules! forward {
    ($($name:ident($event:ident: $type:ty) $texts:expr;)*) => {
        $(
            #[inline]
            fn $name(&mut self, $event: &$type, context: &mut Context<'_>) {
                if let Some(callback) = self.0.callbacks().$name {
                    let converted = $event.into();
                    self.0.call(context, $texts, |user, context| {
                        // SAFETY: the program has passed the callback with this type; the event
                        // lives until the callback returns.
                        unsafe { callback(user, &converted, context) }
                    });
                }
            }
        )*
    };
}

/// Returns the book of an event, for use while its callback runs.
fn current_book(event: &BookEvent<'_>) -> *const Book<'static> {
    let book: &Book<'_> = event;
    core::ptr::from_ref(book).cast()
}

/// Returns an event with a text and without a reason.
fn with_line<'a>(event: &'a (impl Display + 'a)) -> Event {
    Event::Text { line: line(event), reason: None }
}

/// Returns the line of an event, for use while its callback runs.
fn line<'a>(event: &'a (impl Display + 'a)) -> *const (dyn Display + 'static) {
    let line: *const (dyn Display + 'a) = event;
    // SAFETY: only the lifetime changes. `current` uses the pointer only while the callback runs,
    // during which the event lives.
    unsafe {
        core::mem::transmute::<*const (dyn Display + 'a), *const (dyn Display + 'static)>(line)
    }
}

impl<const TAPE: bool> Strategy for TableStrategy<'_, TAPE> {
    #[inline]
    fn is_called(&self, callback: Callback) -> bool {
        let table = self.0.callbacks();
        match callback {
            Callback::Book => table.on_book.is_some(),
            Callback::Trade => TAPE && table.on_trade.is_some(),
            Callback::MarketMessage => TAPE && table.on_market_message.is_some(),
            Callback::OrderMessage => table.on_order_message.is_some(),
        }
    }

    forward! {
        on_book(book: BookEvent<'_>) Event::Book(current_book(book));
        on_trade(trade: TradeEvent<'_>) Event::None;
        on_status(status: SecurityStatus<'_>) Event::None;
        on_statistic(statistic: Statistic<'_>) Event::None;
        on_order(order: OrderEvent<'_>) Event::Text {
            line: line(order),
            reason: order.reason().map(core::ptr::from_ref),
        };
        on_fill(fill: Fill<'_>) with_line(fill);
        on_market_message(message: MarketMessage<'_>) Event::None;
        on_order_message(message: OrderMessage<'_>) Event::None;
    }

    fn on_ready(&mut self, context: &mut Context<'_>) {
        if let Some(callback) = self.0.callbacks().on_ready {
            self.0.call(context, Event::None, |user, context| {
                // SAFETY: the program has passed the callback with this type.
                unsafe { callback(user, context) }
            });
        }
    }

    fn on_not_ready(&mut self, reason: NotReady, context: &mut Context<'_>) {
        if let Some(callback) = self.0.callbacks().on_not_ready {
            let mut text = [0; 128];
            write_text(&mut text, &reason);
            let event = hairpin_not_ready::new(reason, &text);
            self.0.call(context, with_line(&reason), |user, context| {
                // SAFETY: as in `forward`.
                unsafe { callback(user, &event, context) }
            });
        }
    }

    fn on_instrument(&mut self, instrument: &Instrument<'_>, context: &mut Context<'_>) {
        if let (Some(callback), Some(definition)) =
            (self.0.callbacks().on_instrument, instrument.definition())
        {
            let event = definition.into();
            self.0.call(context, Event::None, |user, context| {
                // SAFETY: as in `forward`.
                unsafe { callback(user, &event, context) }
            });
        }
    }

    fn on_timer(&mut self, timer: u64, context: &mut Context<'_>) {
        if let Some(callback) = self.0.callbacks().on_timer {
            self.0.call(context, Event::None, |user, context| {
                // SAFETY: the program has passed the callback with this type.
                unsafe { callback(user, timer, context) }
            });
        }
    }

    fn on_problem(&mut self, problem: &Problem<'_>, context: &mut Context<'_>) {
        /// The default implementation.
        struct Default;
        impl Strategy for Default {}
        match self.0.callbacks().on_problem {
            Some(callback) => {
                let mut text = [0; 512];
                write_text(&mut text, problem);
                let event = hairpin_problem::new(problem, &text);
                self.0.call(context, with_line(problem), |user, context| {
                    // SAFETY: as in `forward`.
                    unsafe { callback(user, &event, context) }
                });
            }
            None => Default.on_problem(problem, context),
        }
    }
}
