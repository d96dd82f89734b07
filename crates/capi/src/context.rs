//! Functions for use in callbacks: time, books, orders, positions and timers.

use core::ffi::c_char;

use hairpin::order_entry::SecurityId;
use hairpin::time::Duration;
use hairpin::{Context, Side};

use crate::current::{Event, book, hairpin_context, with_context, with_event};
use crate::error::{Outcome, fail, failed, hairpin_error};
use crate::events::{hairpin_cl_ord_id, hairpin_level, hairpin_order, hairpin_side};
use crate::text::{reference, text_for, text_from, write_out};

/// The time of the current wakeup.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_time {
    /// The monotonic clock in nanoseconds.
    pub monotonic: u64,
    /// Nanoseconds since 1970 in UTC.
    pub utc: u64,
}

/// Writes the time of the current wakeup.
///
/// # Safety
/// `time` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_now(
    context: *mut hairpin_context,
    time: *mut hairpin_time,
) -> i32 {
    with_context(context, |context| {
        let now = context.now();
        let value = hairpin_time { monotonic: now.monotonic.as_nanos(), utc: now.utc.as_nanos() };
        // SAFETY: by the caller's contract.
        unsafe { write_out(time, "time", value) }
    })
}

/// Returns 1 if all books were in sync and all sessions established after the last wakeup, 0 if
/// not, or an error.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_is_ready(context: *mut hairpin_context) -> i32 {
    with_context(context, |context| Ok(i32::from(context.is_ready())))
}

/// Ends the run: terminates all sessions gracefully, then `hairpin_trader_run` returns.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_stop_run(context: *mut hairpin_context) -> i32 {
    with_context(context, |context| {
        context.stop();
        Ok(0)
    })
}

/// Finds the instrument with a symbol: of `[instruments]` in order.toml, or of a received
/// definition. Searches all definitions.
///
/// # Safety
/// `symbol` ends with a NUL; `security_id` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_security_id(
    context: *mut hairpin_context,
    symbol: *const c_char,
    security_id: *mut i32,
) -> i32 {
    with_context(context, |context| {
        // SAFETY: by the caller's contract.
        let symbol = unsafe { text_from(symbol, "symbol") }?;
        let id = context.security_id(symbol).map_err(|error| failed(&error))?;
        // SAFETY: by the caller's contract.
        unsafe { write_out(security_id, "security_id", id.0) }
    })
}

/// Writes a level of one side of a book; 0 is the best. `side` is a `hairpin_side`.
///
/// Returns 0, also if the book has no such level (`is_present` is then `false`), or an error. In
/// `on_status`, `on_statistic` and `on_market_message` the books of the channel are not found.
///
/// # Safety
/// `level` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_book_level(
    context: *mut hairpin_context,
    security_id: i32,
    side: i32,
    number: usize,
    level: *mut hairpin_level,
) -> i32 {
    with_event(context, |context, event| {
        let book = book(context, event, security_id).ok_or_else(|| no_book(security_id))?;
        let value = book.level(hairpin_side::read(side)?, number);
        // SAFETY: by the caller's contract.
        unsafe { write_out(level, "level", value.into()) }
    })
}

#[cold]
fn no_book(security_id: i32) -> hairpin_error {
    fail(hairpin_error::NotFound, format_args!("no book of instrument {security_id}"))
}

/// Returns 1 if the book of an instrument is complete, 0 if not, or an error.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_book_is_in_sync(context: *mut hairpin_context, security_id: i32) -> i32 {
    with_event(context, |context, event| {
        let book = book(context, event, security_id).ok_or_else(|| no_book(security_id))?;
        Ok(i32::from(book.is_in_sync()))
    })
}

/// Writes the best bid or ask as text: `12 x 4500.25`, or `-` without one. Returns the length of
/// the text, which is cut if `size` is not greater.
///
/// # Safety
/// `text` is valid for writes of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_best_text(
    context: *mut hairpin_context,
    security_id: i32,
    side: i32,
    text: *mut c_char,
    size: usize,
) -> i32 {
    with_event(context, |context, event| {
        let book = book(context, event, security_id).ok_or_else(|| no_book(security_id))?;
        let best = match hairpin_side::read(side)? {
            Side::Buy => book.bid(),
            Side::Sell => book.ask(),
        };
        // SAFETY: by the caller's contract.
        unsafe { text_for(text, size, &best) }
    })
}

/// Writes the event of the current callback as one line: of an order, a fill, a problem or a
/// reason for which a part is not ready. Returns the length of the text.
///
/// # Safety
/// As `hairpin_best_text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_event_text(
    context: *mut hairpin_context,
    text: *mut c_char,
    size: usize,
) -> i32 {
    with_event(context, |_, event| {
        let Event::Text { line, .. } = event.get() else { return Err(no_text()) };
        // SAFETY: the event lives until its callback returns, and `with_event` has checked that the
        // callback runs. `text` is valid by the caller's contract.
        unsafe { text_for(text, size, &*line) }
    })
}

#[cold]
fn no_text() -> hairpin_error {
    fail(hairpin_error::NotFound, "the callback's event has no text")
}

/// Writes the exchange's reason for a reject. Returns the length of the text: 0 without a reason.
///
/// # Safety
/// As `hairpin_best_text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_reason_text(
    context: *mut hairpin_context,
    text: *mut c_char,
    size: usize,
) -> i32 {
    with_event(context, |_, event| match event.get() {
        // SAFETY: as in `hairpin_event_text`.
        Event::Text { reason: Some(reason), .. } => unsafe { text_for(text, size, &*reason) },
        // SAFETY: by the caller's contract.
        _ => unsafe { text_for(text, size, &"") },
    })
}

/// Writes an order, working or not yet acknowledged.
///
/// # Safety
/// `cl_ord_id` points to an id; `order` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_find_order(
    context: *mut hairpin_context,
    cl_ord_id: *const hairpin_cl_ord_id,
    order: *mut hairpin_order,
) -> i32 {
    with_context(context, |context| {
        // SAFETY: by the caller's contract.
        let id = unsafe { reference(cl_ord_id, "cl_ord_id") }?.read();
        let found = context.order(id).ok_or_else(|| {
            fail(hairpin_error::NotFound, format_args!("no order has ClOrdID {id}"))
        })?;
        // SAFETY: by the caller's contract.
        unsafe { write_out(order, "order", found.into()) }
    })
}

/// Writes the orders on the exchange's books, in no particular order, as far as `capacity` allows.
/// Returns their number, which may be greater than `capacity`.
///
/// # Safety
/// `orders` is valid for writes of `capacity` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_working_orders(
    context: *mut hairpin_context,
    orders: *mut hairpin_order,
    capacity: usize,
) -> i32 {
    with_context(context, |context| {
        let mut count = 0;
        for order in context.working() {
            if count < capacity {
                // SAFETY: by the caller's contract, unless NULL, which `write_out` checks.
                let place = if orders.is_null() { orders } else { unsafe { orders.add(count) } };
                // SAFETY: by the caller's contract.
                unsafe { write_out(place, "orders", order.into()) }?;
            }
            count += 1;
        }
        Ok(i32::try_from(count).unwrap_or(i32::MAX))
    })
}

/// Writes the net position in contracts: the fills of all runs that the journals still have.
///
/// # Safety
/// `position` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_position(
    context: *mut hairpin_context,
    security_id: i32,
    position: *mut i64,
) -> i32 {
    with_context(context, |context| {
        let value = context.position(SecurityId(security_id));
        // SAFETY: by the caller's contract.
        unsafe { write_out(position, "position", value) }
    })
}

/// Calls `on_timer` with `timer` once, after `delay` nanoseconds.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_set_timer(context: *mut hairpin_context, timer: u64, delay: u64) -> i32 {
    with_context(context, |context| set_timer(context, timer, delay))
}

fn set_timer(context: &mut Context<'_>, timer: u64, delay: u64) -> Outcome {
    let set = context.set_timer(timer, Duration::from_nanos(delay));
    set.map_err(|error| fail(hairpin_error::TooManyTimers, error))?;
    Ok(0)
}
