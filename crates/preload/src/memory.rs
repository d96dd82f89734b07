//! Checks of the program's pointers, which for the kernel are wrong with EFAULT.
//!
//! A page that a thread has not used lately is tried by calls of the kernel, which use the memory
//! as the program's own call would: a stack grows. Each thread remembers pages. One that the
//! program has unmapped since then is found wrong by the fault only.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use libc::iovec;

use crate::errno::{errno, keep};
use crate::{clock, process, real};

/// Pages have this size or a multiple of it.
const PAGE: usize = 4_096;
/// The pages that a thread remembers.
const KNOWN: usize = 256;
/// The most bytes of one call: the kernel cuts a longer one (`MAX_RW_COUNT`).
const LONGEST: usize = c_int::MAX as usize & !(PAGE - 1);
/// The pages that a thread tries at once, and the time after which it tries another one: a program
/// that uses new memory for each message pays little.
const TRIES: u64 = 4_096;
const TRY_NS: u64 = 20_000;

/// What a call does with the program's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

thread_local! {
    /// Twice the number of a page, plus one if it is writable. Page 0 belongs to no program.
    static PAGES: [Cell<usize>; KNOWN] = const { [const { Cell::new(0) }; KNOWN] };
    /// The time up to which the tries are used up.
    static TRIED_UNTIL: Cell<u64> = const { Cell::new(0) };
}

fn is_known(page: usize, access: Access) -> bool {
    PAGES.with(|pages| {
        let found = pages[page % KNOWN].get();
        found == 2 * page + 1 || access == Access::Read && found == 2 * page
    }) && page != 0
}

/// Returns how many of the first bytes the program may use in this way. A process that is not
/// accelerated, perhaps because of a filter of system calls, makes no calls for it.
#[inline]
pub(crate) fn valid_prefix(at: *const c_void, length: usize, access: Access) -> usize {
    if process::is_accelerating() { checked_prefix(at, length, access) } else { length }
}

#[inline]
fn checked_prefix(at: *const c_void, length: usize, access: Access) -> usize {
    let Some(end) = at.addr().checked_add(length) else { return 0 };
    let mut pages = at.addr() / PAGE..end.div_ceil(PAGE);
    if length == 0 || pages.all(|page| is_known(page, access)) {
        return length;
    }
    try_pages(at, end, access)
}

/// Returns `true` if the program may use all bytes in this way.
#[inline]
pub(crate) fn is_valid(at: *const c_void, length: usize, access: Access) -> bool {
    valid_prefix(at, length, access) == length
}

/// Returns `true` if all addresses belong to programs. The kernel refuses others before it waits.
#[inline]
pub(crate) fn is_addressable(part: &iovec) -> bool {
    let end = part.iov_base.addr().checked_add(part.iov_len.min(LONGEST));
    end.is_some_and(|end| end <= isize::MAX as usize)
}

/// Returns `true` if the program may use the first `count` bytes of the parts in this way.
pub(crate) fn are_valid(parts: &[iovec], mut count: usize, access: Access) -> bool {
    parts.iter().all(|part| {
        let used = part.iov_len.min(count);
        count -= used;
        is_valid(part.iov_base, used, access)
    })
}

/// Returns a structure that the program passes: the inner value is `None` for null, the outer one
/// if the pointer is wrong.
///
/// # Safety
/// The pointer is valid for reads, null, or wrong.
pub(crate) unsafe fn optional<'a, T>(pointer: *const T) -> Option<Option<&'a T>> {
    if !pointer.is_null() && !is_valid(pointer.cast(), size_of::<T>(), Access::Read) {
        return None;
    }
    // SAFETY: null, or valid.
    Some(unsafe { pointer.as_ref() })
}

#[cold]
fn try_pages(at: *const c_void, end: usize, access: Access) -> usize {
    let mut begin = at.addr();
    while begin < end {
        let byte = at.with_addr(begin);
        if !takes_try() {
            return end - at.addr();
        }
        let is_valid = keep(|| is_readable(byte) && (access == Access::Read || is_writable(byte)));
        if !is_valid {
            return begin - at.addr();
        }
        let page = begin / PAGE;
        let entry = 2 * page + usize::from(access == Access::Write);
        PAGES.with(|pages| pages[page % KNOWN].set(entry));
        begin = (page + 1) * PAGE;
    }
    end - at.addr()
}

/// Returns `true` if the thread has a try left. Otherwise a page counts as valid.
fn takes_try() -> bool {
    let now = clock::now_ns();
    let until = TRIED_UNTIL.get().max(now.saturating_sub(TRIES * TRY_NS)) + TRY_NS;
    let is_left = until <= now;
    if is_left {
        TRIED_UNTIL.set(until);
    }
    is_left
}

/// Lets the kernel read eight bytes of a byte's page, as the set of a call that it then refuses.
fn is_readable(byte: *const c_void) -> bool {
    const NO_OPERATION: usize = 99;
    const SET: usize = 8;
    // Null is no set.
    let set = (byte.addr() / SET * SET).max(SET);
    // SAFETY: the kernel checks the address, and changes nothing for an unknown operation.
    let result =
        unsafe { real::syscall(libc::SYS_rt_sigprocmask, NO_OPERATION, set, 0, SET, 0, 0) };
    result == 0 || errno() != libc::EFAULT
}

/// Lets the kernel write a readable byte's value to it.
fn is_writable(byte: *const c_void) -> bool {
    let part = iovec { iov_base: byte.cast_mut(), iov_len: 1 };
    let part = &raw const part;
    // SAFETY: the kernel checks the address.
    let copied = unsafe { libc::process_vm_readv(libc::getpid(), part, 1, part, 1, 0) };
    // The call does not know memory of devices.
    copied == 1 || is_mapped_writable(byte.addr())
}

/// Reads the list of the mappings (proc_pid_maps(5)). Without it, every pointer counts as valid.
fn is_mapped_writable(at: usize) -> bool {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return true };
    let number = |text| usize::from_str_radix(text, 16).ok();
    maps.lines().any(|line| {
        let mut fields = line.split(' ');
        let range = fields.next().and_then(|range| range.split_once('-'));
        let range = range.and_then(|(begin, end)| Some(number(begin)?..number(end)?));
        range.is_some_and(|range| range.contains(&at))
            && fields.next().is_some_and(|flags| flags.contains('w'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maps pages with the given protections, one after the other.
    fn map(protections: &[i32]) -> *mut c_void {
        let length = protections.len() * PAGE;
        // SAFETY: new memory, of which nothing else knows.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let begin = libc::mmap(std::ptr::null_mut(), length, libc::PROT_NONE, flags, -1, 0);
            for (at, protection) in protections.iter().enumerate() {
                assert_eq!(libc::mprotect(begin.byte_add(at * PAGE), PAGE, *protection), 0);
            }
            begin
        }
    }

    #[test]
    fn prefix_ends_at_the_first_page_that_is_wrong() {
        let both = libc::PROT_READ | libc::PROT_WRITE;
        let begin = map(&[both, both, libc::PROT_READ, libc::PROT_NONE]);
        let at = begin.wrapping_byte_add(PAGE - 10);
        for _ in 0..2 {
            assert_eq!(checked_prefix(at, 10, Access::Write), 10);
            assert_eq!(checked_prefix(at, PAGE, Access::Write), PAGE);
            assert_eq!(checked_prefix(at, 3 * PAGE, Access::Write), PAGE + 10);
            assert_eq!(checked_prefix(at, 3 * PAGE, Access::Read), 2 * PAGE + 10);
            assert_eq!(checked_prefix(begin.wrapping_byte_add(3 * PAGE), 1, Access::Read), 0);
        }
        // More pages than one call tries, and than are remembered.
        let protections = [both; 200];
        let begin = map(&[&protections[..], &[libc::PROT_NONE]].concat());
        assert_eq!(checked_prefix(begin, 200 * PAGE, Access::Write), 200 * PAGE);
        assert_eq!(checked_prefix(begin, 201 * PAGE, Access::Write), 200 * PAGE);
    }

    #[test]
    fn mappings_show_what_is_writable() {
        let begin = map(&[libc::PROT_READ, libc::PROT_READ | libc::PROT_WRITE]);
        assert!(!is_mapped_writable(begin.addr()) && !is_mapped_writable(0));
        assert!(is_mapped_writable(begin.addr() + PAGE));
        // The copy of a byte refuses this page, the processor does not.
        let begin = map(&[libc::PROT_WRITE]);
        assert_eq!(checked_prefix(begin, 10, Access::Write), 10);
    }

    #[test]
    fn addresses_of_the_kernel_belong_to_no_program() {
        let part = |at, iov_len| iovec { iov_base: std::ptr::without_provenance_mut(at), iov_len };
        let user =
            [(0, 0), (8, 50), (1 << 47, PAGE), (1 << 46, usize::MAX), (isize::MAX as usize, 0)];
        for (at, length) in user {
            assert!(is_addressable(&part(at, length)));
        }
        for (at, length) in [(1 << 63, 0), (isize::MAX as usize, 1), (usize::MAX, 50)] {
            assert!(!is_addressable(&part(at, length)));
        }
    }

    #[test]
    fn pointers_without_a_page_are_wrong() {
        for at in [0, 1, PAGE, usize::MAX, usize::MAX - PAGE, 1 << 47, 1 << 63] {
            let at = std::ptr::without_provenance(at);
            assert_eq!(checked_prefix(at, 1, Access::Read), 0);
            assert_eq!(checked_prefix(at, 3 * PAGE, Access::Write), 0);
            assert_eq!(checked_prefix(at, 0, Access::Write), 0);
        }
    }
}
