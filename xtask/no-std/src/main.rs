//! A program of nothing but the L0 and L1 crates; see `xtask/src/no_std.rs`.
#![no_std]
#![no_main]

use core::alloc::{GlobalAlloc, Layout};

use hairpin_cme_codecs as _;
use hairpin_ilink3 as _;
use hairpin_mdp3 as _;
use hairpin_netstack as _;
use hairpin_sbe as _;
use hairpin_time as _;
use hairpin_wire as _;

/// L1 may use `alloc`; the proof only has to link, so there is never memory.
struct NoMemory;

// SAFETY: every allocation fails, which the trait allows, so there is none to free.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static MEMORY: NoMemory = NoMemory;

/// Collides with std's own, should any crate bring it in: this is the proof.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// Where a program begins without a C library.
// SAFETY: nothing else of this name is linked, for there are no start files.
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    loop {}
}

/// `alloc` comes compiled with landing pads that name it; nothing unwinds here.
// SAFETY: never called, because every panic ends in `panic` above.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
