//! Hosts for tests and benchmarks: anonymous network namespaces joined by veth. And an allocator
//! that counts, for tests that nothing allocates.
//!
//! A tool (layer T): tests use it, and the command's benchmarks. A [`Bed`] is two [`Host`]s with a
//! wire between them. Where network namespaces can be had, each host is one, held by file
//! descriptors and named nowhere, so that all of it is gone with the process however that ends;
//! elsewhere both are this machine over loopback, behind the same interface.
//!
//! Networking is set up over rtnetlink; `ip` is never run, and the caller's own namespace never
//! changes. What is not here: a lossy wire, more than two hosts, IPv6 (switched off, so that no
//! neighbour discovery stands among the packets). The offloads of the veth are the kernel's
//! defaults: a frame from a kernel sender leaves with its UDP or TCP checksum unfinished.
//!
//! ```
//! use hairpin_testbed::Bed;
//! use std::process::Command;
//!
//! // An ordinary user's process must still be single-threaded here, see `enter_user_namespace`.
//! let bed = Bed::available()?;
//! println!("{}", bed.describe());
//! let [exchange, trader] = bed.hosts();
//! let mut command = Command::new("echo");
//! command.arg(exchange.address().to_string());
//! assert!(trader.spawn(command, &[])?.wait()?.success());
//! # Ok::<(), std::io::Error>(())
//! ```

mod allocations;
mod bed;
mod host;
mod namespace;
mod rtnetlink;
mod spawner;
mod user_namespace;

pub use allocations::{CountingAllocator, allocations};
pub use bed::{Bed, BedError};
pub use host::Host;
pub use user_namespace::{UserNamespaceError, enter_user_namespace};
