//! See [`hairpin_fuzz::plan_codecs`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::plan_codecs::run(bytes));
