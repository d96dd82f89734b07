//! See [`hairpin_fuzz::codec_mdp3`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::codec_mdp3::run(bytes));
