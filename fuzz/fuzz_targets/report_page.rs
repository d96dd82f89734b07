//! See [`hairpin_fuzz::report_page`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::report_page::run(bytes));
