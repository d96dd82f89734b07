//! The functions that replace the C library's.
//!
//! Each passes a call on unless it concerns a descriptor of the table. All are `extern "C"`, so a
//! panic ends the process instead of crossing into the program.

mod descriptors;
mod polling;
mod receive;
mod send;
mod sockets;
mod streams;
mod system;
