//! Wire prices.

use core::ffi::c_char;

use hairpin::Price;

use crate::error::{catch, fail, hairpin_error};
use crate::text::{text_for, text_from, write_out};

/// A wire price in units of 10^-9, exact: 450025 is 450025000000000.
pub type hairpin_price = i64;

/// The absent price, which is also a result above the range. No function sends it.
pub const HAIRPIN_NO_PRICE: i64 = 9_223_372_036_854_775_807;

/// Parses a wire price, such as `450025` or `-0.25`, with at most nine decimal places.
///
/// # Safety
/// `text` ends with a NUL; `price` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_price_parse(
    text: *const c_char,
    price: *mut hairpin_price,
) -> i32 {
    catch(|| {
        // SAFETY: by the caller's contract.
        let text = unsafe { text_from(text, "text") }?;
        let parsed: Price = text.parse().map_err(|error| fail(hairpin_error::Price, error))?;
        // SAFETY: by the caller's contract.
        unsafe { write_out(price, "price", parsed.mantissa()) }
    })
}

/// Writes a wire price as text. Returns its length; the text is cut if `size` is not greater.
///
/// # Safety
/// `text` is valid for writes of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_price_text(
    price: hairpin_price,
    text: *mut c_char,
    size: usize,
) -> i32 {
    // SAFETY: by the caller's contract.
    catch(|| unsafe { text_for(text, size, &Price::from_mantissa(price)) })
}

/// Returns `a + b`. A result out of range is saturated, stays so in later operations, and is
/// refused by every send.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_price_add(a: hairpin_price, b: hairpin_price) -> hairpin_price {
    (Price::from_mantissa(a) + Price::from_mantissa(b)).mantissa()
}

/// Returns `a - b`; see `hairpin_price_add`.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_price_subtract(a: hairpin_price, b: hairpin_price) -> hairpin_price {
    (Price::from_mantissa(a) - Price::from_mantissa(b)).mantissa()
}

/// Returns `price * count`; see `hairpin_price_add`.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_price_multiply(price: hairpin_price, count: i64) -> hairpin_price {
    (Price::from_mantissa(price) * count).mantissa()
}
