//! See [`hairpin_fuzz::codec_ilink3`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::codec_ilink3::run(bytes));
