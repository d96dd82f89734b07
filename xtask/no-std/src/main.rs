//! A program of the L0 and L1 crates alone; see `xtask/src/no_std.rs`.
#![no_std]
#![no_main]

use core::alloc::{GlobalAlloc, Layout};

use hairpin_cme_codecs as _;
use hairpin_ilink3 as _;
use hairpin_mdp3 as _;
use hairpin_netstack as _;
use hairpin_rds as _;
use hairpin_sbe as _;
use hairpin_tcp as _;
use hairpin_time as _;
use hairpin_wire as _;

/// An allocator that always fails: L1 may use `alloc`, and the proof only has to link.
struct NoMemory;

// SAFETY: the trait allows every allocation to fail, so no allocation is ever freed.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static MEMORY: NoMemory = NoMemory;

/// Collides with the panic handler of std if any crate links std: this is the proof.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// The entry point of a program without a C library.
// SAFETY: without start files, no other symbol has this name.
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    loop {}
}

/// The personality routine that the landing pads of `alloc` refer to; nothing unwinds here.
// SAFETY: never called, because every panic loops in `panic` above.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
