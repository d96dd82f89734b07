//! The `hairpin` command: one module per subcommand in `cmd`, and what they share in `harness`.
//!
//! Layer L3. The libraries below take time as a parameter and never print; this crate reads the
//! clock, records, talks to the user and decides the exit status: 0 done, 1 ran but failed,
//! 2 bad arguments, 130 interrupted, 143 terminated.
#![forbid(unsafe_code)]

mod cli;
mod cmd;
mod harness;
pub mod trader;

pub use cli::run;
