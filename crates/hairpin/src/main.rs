//! The `hairpin` program; everything is in the library of the same name.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// The library that `hairpin run` preloads. Only this program can contain it: cargo compiles a
/// library before the shared libraries among its dependencies are complete.
const PRELOADED: &[u8] = include_bytes!(env!("HAIRPIN_LIBRARY"));

fn main() -> ExitCode {
    hairpin_cli::run(PRELOADED)
}
