//! The `hairpin` program; everything is in the library of the same name.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    hairpin_cli::run()
}
