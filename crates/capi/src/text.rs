//! Text from C, and for C.

use core::ffi::{CStr, c_char};
use core::fmt::{self, Display, Write};
use core::mem::MaybeUninit;
use std::path::Path;

use crate::error::{Outcome, fail, hairpin_error, null};

/// A writer that counts all bytes, and keeps those for which there is space.
struct Cut<'a> {
    place: &'a mut [u8],
    length: usize,
}

impl Write for Cut<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if let Some(rest) = self.place.get_mut(self.length..) {
            let kept = text.len().min(rest.len());
            rest[..kept].copy_from_slice(&text.as_bytes()[..kept]);
        }
        self.length += text.len();
        Ok(())
    }
}

/// Writes a text and a NUL; cuts the text if `place` is too short. Returns the length of the
/// complete text, without the NUL.
pub(crate) fn write_text(place: &mut [u8], text: &dyn Display) -> usize {
    let space = place.len().saturating_sub(1);
    let mut writer = Cut { place: &mut place[..space], length: 0 };
    // The writer does not fail. A `Display` that does has written its part.
    let _ = write!(writer, "{text}");
    let length = writer.length;
    // A character is cut as a whole.
    let mut end = length.min(space);
    while end < length && end > 0 && core::str::from_utf8(&place[..end]).is_err() {
        end -= 1;
    }
    if let Some(last) = place.get_mut(end) {
        *last = 0;
    }
    length
}

/// Writes a text into a buffer of C, as snprintf(3) does.
///
/// # Safety
/// `buffer` is NULL or valid for writes of `size` bytes.
pub(crate) unsafe fn text_for(buffer: *mut c_char, size: usize, text: &dyn Display) -> Outcome {
    if buffer.is_null() && size > 0 {
        return Err(null("text"));
    }
    let place = match size {
        0 => &mut [][..],
        // SAFETY: by the caller's contract. `isize::MAX` is the longest slice.
        _ => unsafe { core::slice::from_raw_parts_mut(buffer.cast(), size.min(isize::MAX as _)) },
    };
    Ok(i32::try_from(write_text(place, text)).unwrap_or(i32::MAX))
}

/// Returns a text of C.
///
/// # Safety
/// `text` is NULL or ends with a NUL, and does not change during `'a`.
pub(crate) unsafe fn text_from<'a>(text: *const c_char, name: &str) -> Outcome<&'a str> {
    if text.is_null() {
        return Err(null(name));
    }
    // SAFETY: by the caller's contract.
    let text = unsafe { CStr::from_ptr(text) };
    let utf8 = text.to_str();
    utf8.map_err(|_| {
        fail(hairpin_error::Argument, format_args!("the argument `{name}` is not UTF-8"))
    })
}

/// Returns a path of C.
///
/// # Safety
/// As [`text_from`].
pub(crate) unsafe fn path_from<'a>(text: *const c_char, name: &str) -> Outcome<&'a Path> {
    // SAFETY: by the caller's contract.
    unsafe { text_from(text, name) }.map(Path::new)
}

/// Writes a result for C.
///
/// # Safety
/// `out` is NULL or valid for a write.
pub(crate) unsafe fn write_out<T>(out: *mut T, name: &str, value: T) -> Outcome {
    if out.is_null() {
        return Err(null(name));
    }
    // SAFETY: not NULL, and valid by the caller's contract.
    unsafe { out.write(value) };
    Ok(0)
}

/// Returns a reference to an argument.
///
/// # Safety
/// `argument` is NULL or points to a `T` that does not change during `'a`.
pub(crate) unsafe fn reference<'a, T>(argument: *const T, name: &str) -> Outcome<&'a T> {
    // SAFETY: by the caller's contract.
    unsafe { argument.as_ref() }.ok_or_else(|| null(name))
}

/// Returns the elements of an array.
///
/// # Safety
/// `first` is NULL or points to `count` elements that do not change during `'a`.
pub(crate) unsafe fn array<'a, T>(first: *const T, count: usize, name: &str) -> Outcome<&'a [T]> {
    match (first.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(null(name)),
        // SAFETY: by the caller's contract.
        (false, count) => Ok(unsafe { core::slice::from_raw_parts(first, count) }),
    }
}

/// Copies a structure that begins with its size. Members beyond the size are zero; members beyond
/// `T` are ignored.
///
/// # Safety
/// As [`sized_in`].
pub(crate) unsafe fn sized<T: Copy>(from: *const T, name: &str) -> Outcome<T> {
    let mut place = MaybeUninit::uninit();
    // SAFETY: by the caller's contract; the result is valid as long as `place`.
    unsafe { sized_in(from, &mut place, name).map(|it| it.read()) }
}

/// Returns a structure that begins with its size: the caller's, or a copy in `place` if the size is
/// another. Members beyond the size are zero; members beyond `T` are ignored.
///
/// # Safety
/// `from` is NULL or points to as many bytes as its first member states. `T` begins with a `usize`,
/// and all zeros are a value of `T`.
#[inline]
pub(crate) unsafe fn sized_in<T: Copy>(
    from: *const T,
    place: &mut MaybeUninit<T>,
    name: &str,
) -> Outcome<*const T> {
    if from.is_null() {
        return Err(null(name));
    }
    // SAFETY: the first member is the size, by the caller's contract.
    let size = unsafe { from.cast::<usize>().read() };
    if size == size_of::<T>() {
        return Ok(from);
    }
    // SAFETY: by the caller's contract.
    unsafe { resized(from, size, place, name) }
}

/// Copies a structure of another size.
///
/// # Safety
/// As [`sized_in`].
#[cold]
unsafe fn resized<T: Copy>(
    from: *const T,
    size: usize,
    place: &mut MaybeUninit<T>,
    name: &str,
) -> Outcome<*const T> {
    /// No structure becomes longer.
    const MAX: usize = 1 << 16;
    if !(size_of::<usize>()..=MAX).contains(&size) || !size.is_multiple_of(size_of::<usize>()) {
        return Err(fail(
            hairpin_error::Size,
            format_args!("the size {size} of `{name}` is not the size of a structure"),
        ));
    }
    *place = MaybeUninit::zeroed();
    let length = size.min(size_of::<T>());
    // SAFETY: `length` bytes are readable by the caller's contract, and writable in `place`.
    unsafe { from.cast::<u8>().copy_to_nonoverlapping(place.as_mut_ptr().cast(), length) };
    // The rest is zero, which is a value of `T` by the caller's contract. The first part is the
    // caller's value, cut between two members of pointer size.
    Ok(place.as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_before_a_character() {
        let mut place = [1; 6];
        assert_eq!(write_text(&mut place, &"abcdéf"), 7);
        assert_eq!(&place[..5], b"abcd\0");
        assert_eq!(write_text(&mut place, &"abcde"), 5);
        assert_eq!(&place, b"abcde\0");
        assert_eq!(write_text(&mut [], &"abc"), 3);
    }
}
