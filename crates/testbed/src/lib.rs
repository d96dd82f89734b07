//! Hosts for tests and benchmarks: anonymous network namespaces joined by veth. And an allocator
//! that counts, for tests that nothing allocates.
//!
//! A tool (layer T): tests use it, and the command's benchmarks. A [`Testbed`] is two [`Host`]s
//! with a
//! wire between them. Where network namespaces can be had, each host is one, held by file
//! descriptors and named nowhere, so that all of it is gone with the process however that ends;
//! elsewhere both are this machine over loopback, behind the same interface.
//!
//! A bed in namespaces can have queues, [`Offloads`] and an MTU of one's choice, and for a wire a
//! [`Relay`], which loses, delays, doubles, reorders and corrupts frames by a seed:
//! [`Testbed::builder`].
//!
//! Networking is set up over rtnetlink and by ethtool's ioctl; no program is run, and the caller's
//! own namespace never changes. A test changes its hosts by [`Host::rtnetlink`], and becomes an
//! ordinary user by [`become_ordinary_user`]. IPv6 is switched off unless
//! [asked for](TestbedBuilder::ipv6), so that no neighbour discovery stands among the packets.
//! What is
//! not here: more than two hosts, a relay over loopback. The offloads of a veth
//! are the kernel's defaults unless set: a frame from a kernel sender leaves with its UDP or TCP
//! checksum unfinished.
//!
//! ```
//! use hairpin_testbed::Testbed;
//! use std::process::Command;
//!
//! // An ordinary user's process must still be single-threaded here, see `enter_user_namespace`.
//! let bed = Testbed::available()?;
//! println!("{}", bed.describe());
//! let [exchange, trader] = bed.hosts();
//! let mut command = Command::new("echo");
//! command.arg(exchange.address().to_string());
//! assert!(trader.spawn(command, &[])?.wait()?.success());
//! # Ok::<(), std::io::Error>(())
//! ```

mod allocations;
mod capabilities;
mod ethtool;
mod fate;
mod faults;
mod frame;
mod host;
mod line;
mod namespace;
mod packet_socket;
mod relay;
mod rtnetlink;
mod spawner;
mod tally;
mod test_scale;
mod testbed;
mod user_namespace;
mod wire;

pub use allocations::{CountingAllocator, allocated_bytes, allocations};
pub use capabilities::{Capability, become_ordinary_user};
pub use ethtool::{Offloads, Queues};
pub use faults::{Chance, Delay, Faults, Filter, Holding, Part, Protocol, Rate};
pub use host::Host;
pub use relay::{Direction, Relay, RelaySettings};
pub use rtnetlink::{Certainty, Link, Route, RouteKind, Rtnetlink, Rule};
pub use tally::Tally;
pub use test_scale::scaled;
pub use testbed::{Testbed, TestbedBuilder, TestbedError};
pub use user_namespace::{UserNamespaceError, enter_user_namespace};
