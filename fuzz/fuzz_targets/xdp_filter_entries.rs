//! See [`hairpin_fuzz::xdp_filter_entries`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::xdp_filter_entries::run(bytes));
