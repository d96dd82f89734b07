//! See [`hairpin_fuzz::stack_memberships`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::stack_memberships::run(bytes));
