//! See [`hairpin_fuzz::order_script`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::order_script::run(bytes));
