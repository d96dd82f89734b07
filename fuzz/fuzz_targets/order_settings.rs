//! See [`hairpin_fuzz::order_settings`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::order_settings::run(bytes));
