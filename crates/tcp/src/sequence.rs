//! Sequence numbers, which wrap (RFC 9293 §3.4).

/// Returns `true` if `a` is before `b`.
#[inline]
pub(crate) fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// Returns the later of two numbers.
#[inline]
pub(crate) fn later(a: u32, b: u32) -> u32 {
    if is_before(a, b) { b } else { a }
}

/// Returns the earlier of two numbers.
#[inline]
pub(crate) fn earlier(a: u32, b: u32) -> u32 {
    if is_before(a, b) { a } else { b }
}

/// Returns the distance from `from` to `to`, or 0 if `to` is before `from`.
#[inline]
pub(crate) fn distance(from: u32, to: u32) -> u32 {
    if is_before(to, from) { 0 } else { to.wrapping_sub(from) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_wraps() {
        assert!(is_before(u32::MAX, 0) && !is_before(0, u32::MAX) && !is_before(5, 5));
        assert_eq!((later(u32::MAX, 3), earlier(u32::MAX, 3)), (3, u32::MAX));
        assert_eq!((distance(u32::MAX, 3), distance(3, u32::MAX)), (4, 0));
    }
}
