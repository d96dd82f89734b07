//! Mapped pages that cannot be read or written: the guard against SIGBUS.

use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use memmap2::MmapRaw;

/// The most guarded mappings of a process. Further mappings are not guarded.
const GUARDED_MAX: usize = 1024;
/// The page size of a fault. A larger page of the kernel contains several.
const PAGE: usize = 4096;

/// A guarded range of addresses.
struct Range {
    used: AtomicBool,
    /// 0 while there is no mapping.
    start: AtomicUsize,
    end: AtomicUsize,
    lost: AtomicBool,
}

static RANGES: [Range; GUARDED_MAX] = [const {
    Range {
        used: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        lost: AtomicBool::new(false),
    }
}; GUARDED_MAX];

/// The action before this module's, written once before the handler is installed.
static mut EARLIER: std::mem::MaybeUninit<libc::sigaction> = std::mem::MaybeUninit::uninit();

/// A guard of a mapping, dropped before the mapping.
///
/// A page of a mapped file can disappear: the file was truncated, its disk fails, or its blocks
/// cannot be allocated. The kernel reports an access with SIGBUS, which ends the process. In a
/// guarded mapping such a page is replaced by a page of zeros that belongs to no file.
#[derive(Debug)]
pub(crate) struct PageGuard {
    index: usize,
}

impl PageGuard {
    /// Guards a mapping; `None` if the process has too many guarded mappings.
    pub(crate) fn new(memory: &MmapRaw) -> Option<Self> {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(install);
        let is_free = |range: &Range| !range.used.swap(true, Ordering::AcqRel);
        let index = RANGES.iter().position(is_free)?;
        let range = &RANGES[index];
        let start = memory.as_mut_ptr() as usize;
        range.lost.store(false, Ordering::Relaxed);
        range.end.store(start + memory.len(), Ordering::Relaxed);
        range.start.store(start, Ordering::Release);
        Some(Self { index })
    }

    /// Returns `true` if a page of the mapping was replaced.
    pub(crate) fn has_lost_pages(&self) -> bool {
        RANGES[self.index].lost.load(Ordering::Acquire)
    }
}

impl Drop for PageGuard {
    fn drop(&mut self) {
        let range = &RANGES[self.index];
        range.start.store(0, Ordering::Release);
        range.used.store(false, Ordering::Release);
    }
}

/// Returns the guarded range that contains an address.
fn range_of(address: usize) -> Option<&'static Range> {
    RANGES.iter().find(|range| {
        let start = range.start.load(Ordering::Acquire);
        let end = range.end.load(Ordering::Acquire);
        // The range may have been replaced between the two loads.
        start != 0
            && (start..end).contains(&address)
            && range.start.load(Ordering::Acquire) == start
    })
}

fn install() {
    // SAFETY: all zeros is a valid value of this plain structure.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = on_bus_error as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: the structures outlive the calls. `EARLIER` is written here only, once, before the
    // handler that reads it is installed.
    unsafe {
        let earlier = (&raw mut EARLIER).cast::<libc::sigaction>();
        if libc::sigaction(libc::SIGBUS, ptr::null(), earlier) == 0 {
            libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut());
        }
    }
}

/// Replaces a lost page of a guarded mapping. Passes any other SIGBUS to the earlier action.
///
/// Calls only functions that are safe in a signal handler: mmap(2), sigaction(2) and raise(3) make
/// system calls and take no lock.
extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid structure to a handler with SA_SIGINFO. A positive code
    // means a fault, whose address the structure contains.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    let is_fault = code > 0;
    if is_fault
        && let Some(range) = range_of(address)
        && replace_page(address & !(PAGE - 1))
    {
        range.lost.store(true, Ordering::Release);
        return;
    }
    // SAFETY: the earlier action was stored before this handler was installed.
    unsafe {
        libc::sigaction(signal, (&raw const EARLIER).cast(), ptr::null_mut());
        // A fault happens again when the handler returns; a signal of a process does not.
        if !is_fault {
            libc::raise(signal);
        }
    }
}

/// Maps a page of zeros at an address inside a guarded mapping. Returns `true` on success.
fn replace_page(page: usize) -> bool {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: errno belongs to this thread.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the page is inside a mapping of this process that stays mapped while a thread
    // accesses it, and that thread is interrupted here. The memory is only accessed through raw
    // pointers and atomics, for which any bytes are valid.
    let mapped = unsafe { libc::mmap(page as *mut _, PAGE, protection, flags, -1, 0) };
    // SAFETY: same as above.
    unsafe { *libc::__errno_location() = errno };
    mapped != libc::MAP_FAILED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_page_becomes_zeros_and_is_noticed() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(3 * PAGE as u64).unwrap();
        let memory = MmapRaw::map_raw(&file).unwrap();
        let guard = PageGuard::new(&memory).unwrap();
        file.set_len(PAGE as u64).unwrap();
        // SAFETY: the address is inside the mapping, which no other code uses.
        let (read, lost) = unsafe {
            memory.as_mut_ptr().write_volatile(7);
            let before = guard.has_lost_pages();
            memory.as_mut_ptr().add(2 * PAGE).write_volatile(9);
            (memory.as_mut_ptr().add(2 * PAGE).read_volatile(), before)
        };
        assert_eq!((read, lost, guard.has_lost_pages()), (9, false, true));
        drop(guard);
        let again = PageGuard::new(&memory).unwrap();
        assert!(!again.has_lost_pages());
    }
}
