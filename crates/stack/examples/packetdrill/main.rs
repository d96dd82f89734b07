//! The TCP engine as a shared object for packetdrill's `--so_filename`: runs packet scripts that
//! were written for the kernel against `hairpin-tcp`.
//!
//! The rest of a connection is as short as possible: the handshake of a listening socket is three
//! segments of this program, and the FIN or RST of `close` is one. One connection at a time, IPv4
//! only. Segments that become due together leave as one packet, as those of the
//! kernel do before segmentation offload.
//!
//! ```text
//! cargo build -p hairpin-stack --example packetdrill
//! packetdrill --so_filename=target/debug/examples/libpacketdrill.so SCRIPT
//! ```
#![allow(clippy::missing_safety_doc, reason = "packetdrill.h documents the interface")]

mod calls;
mod endpoint;
mod packet;
