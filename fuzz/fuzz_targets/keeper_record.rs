//! See [`hairpin_fuzz::keeper_record`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::keeper_record::run(bytes));
