//! Instruments: symbols, display prices and ticks.

use core::ffi::c_char;
use std::cell::Cell;

use hairpin::order_entry::SecurityId;
use hairpin::{Context, Instrument, Price};

use crate::current::{Event, book, hairpin_context, with_context, with_event};
use crate::error::{Outcome, fail, hairpin_error};
use crate::events::hairpin_instrument;
use crate::price::hairpin_price;
use crate::text::{text_for, text_from, write_out};

fn instrument<'a>(
    context: &Context<'a>,
    event: &Cell<Event>,
    security_id: i32,
) -> Outcome<Instrument<'a>> {
    let instrument = book(context, event, security_id).map(|book| book.instrument());
    let defined = instrument.filter(|instrument| instrument.definition().is_some());
    defined.ok_or_else(|| not_found(security_id))
}

#[cold]
fn not_found(security_id: i32) -> hairpin_error {
    fail(hairpin_error::NotFound, format_args!("no definition of instrument {security_id}"))
}

/// Writes the symbol of an instrument: of `[instruments]` in order.toml, or of its definition;
/// empty if unknown. Returns its length.
///
/// # Safety
/// `text` is valid for writes of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_symbol(
    context: *mut hairpin_context,
    security_id: i32,
    text: *mut c_char,
    size: usize,
) -> i32 {
    with_context(context, |context| {
        // SAFETY: by the caller's contract.
        unsafe { text_for(text, size, &context.symbol(SecurityId(security_id))) }
    })
}

/// Writes an instrument, as its definition describes it.
///
/// # Safety
/// `instrument` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_find_instrument(
    context: *mut hairpin_context,
    security_id: i32,
    instrument: *mut hairpin_instrument,
) -> i32 {
    with_event(context, |context, event| {
        let found = self::instrument(context, event, security_id)?.definition();
        let value = found.ok_or_else(|| not_found(security_id))?.into();
        // SAFETY: by the caller's contract.
        unsafe { write_out(instrument, "instrument", value) }
    })
}

/// Parses a display price of an instrument, such as `4500.25` or `108'185`. A price off tick is an
/// error with both neighbors.
///
/// # Safety
/// `text` ends with a NUL; `price` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_instrument_parse(
    context: *mut hairpin_context,
    security_id: i32,
    text: *const c_char,
    price: *mut hairpin_price,
) -> i32 {
    with_event(context, |context, event| {
        // SAFETY: by the caller's contract.
        let text = unsafe { text_from(text, "text") }?;
        let parsed = instrument(context, event, security_id)?.parse(text);
        let parsed = parsed.map_err(|error| fail(hairpin_error::Price, error))?;
        // SAFETY: by the caller's contract.
        unsafe { write_out(price, "price", parsed.mantissa()) }
    })
}

/// Writes a price as displayed. Returns the length of the text.
///
/// # Safety
/// `text` is valid for writes of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_instrument_display(
    context: *mut hairpin_context,
    security_id: i32,
    price: hairpin_price,
    text: *mut c_char,
    size: usize,
) -> i32 {
    with_event(context, |context, event| {
        let displayed =
            instrument(context, event, security_id)?.display(Price::from_mantissa(price));
        // SAFETY: by the caller's contract.
        unsafe { text_for(text, size, &displayed) }
    })
}

/// Writes the price `ticks` ticks above `price`, or below it if `ticks` is negative.
///
/// Returns `HAIRPIN_ERROR_PRICE` if no tick is known, if the result is out of range, or if ticks
/// vary with the price and `price` is off tick.
///
/// # Safety
/// `result` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_instrument_add_ticks(
    context: *mut hairpin_context,
    security_id: i32,
    price: hairpin_price,
    ticks: i64,
    result: *mut hairpin_price,
) -> i32 {
    with_event(context, |context, event| {
        let sum =
            instrument(context, event, security_id)?.add_ticks(Price::from_mantissa(price), ticks);
        let sum = sum.ok_or_else(|| {
            fail(hairpin_error::Price, "cannot add ticks: no known tick, out of range, or off tick")
        })?;
        // SAFETY: by the caller's contract.
        unsafe { write_out(result, "result", sum.mantissa()) }
    })
}

/// Returns 1 if the price is on a tick, 0 if not, or an error.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_instrument_is_on_tick(
    context: *mut hairpin_context,
    security_id: i32,
    price: hairpin_price,
) -> i32 {
    with_event(context, |context, event| {
        let instrument = instrument(context, event, security_id)?;
        Ok(i32::from(instrument.is_on_tick(Price::from_mantissa(price))))
    })
}
