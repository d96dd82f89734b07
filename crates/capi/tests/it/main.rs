//! Tests of the C ABI: C and C++ programs, compiled with each compiler and with sanitizers.
//!
//! `.ci/run` installs gcc, g++, clang, cmake and pkg-config, and sets
//! `HAIRPIN_COMPILERS_REQUIRED`: a test then fails without its compiler. Otherwise the test prints
//! that it skips the compiler.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod compiler;
mod install;
mod layout;
mod misuse;
mod programs;
#[path = "../../../../examples/tests/support/mod.rs"]
mod support;
mod symbols;
