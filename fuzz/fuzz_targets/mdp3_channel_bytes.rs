//! See [`hairpin_fuzz::mdp3_channel_bytes`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::mdp3_channel_bytes::run(bytes));
