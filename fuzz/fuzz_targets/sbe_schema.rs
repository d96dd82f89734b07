//! See [`hairpin_fuzz::sbe_schema`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::sbe_schema::run(bytes));
