//! Hosts for tests and benchmarks: anonymous network namespaces joined by a veth pair.
//!
//! Layer T (tools): tests use this crate, and the benchmarks of the command. It is not a
//! simulation: `hairpin-netsim` simulates networks on a virtual clock. A [`Testbed`] has two
//! [`Host`]s joined by a wire. Where the kernel allows network namespaces, each host is an
//! anonymous namespace held by file descriptors, so it disappears with the process however the
//! process ends. Otherwise both hosts are this machine over loopback, behind the same interface.
//!
//! ```text
//!   host 10.77.0.1                                     host 10.77.0.2
//!   +------------+    veth                             +------------+
//!   | veth0      |-------------------------------------| veth0      |
//!   +------------+                                     +------------+
//!   +------------+        +-------------------+        +------------+
//!   | veth0      |--------| first Relay second|--------| veth0      |   with TestbedBuilder::relay
//!   +------------+        +-------------------+        +------------+
//! ```
//!
//! In namespaces, [`Testbed::builder`] sets the number of queues, [`Offloads`] and the MTU, and
//! inserts a [`Relay`] that drops, delays, duplicates, reorders and corrupts frames, reproducibly
//! by a seed.
//!
//! Networking is set up over rtnetlink and the ethtool ioctl. No program is run, and the namespace
//! of the caller never changes. A test changes its hosts with [`Host::rtnetlink`] and becomes an
//! ordinary user with [`become_ordinary_user`]. IPv6 is off unless
//! [requested](TestbedBuilder::ipv6), which keeps neighbor discovery off the wire. Offloads are the
//! kernel's defaults unless set: with them, a frame leaves with an incomplete UDP or TCP checksum.
//! Not supported: more than two hosts, and a relay over loopback.
//!
//! The crate also contains a [`CountingAllocator`], for tests that code does not allocate, and
//! [`scaled`], the number of repetitions of a long test.
//!
//! | module | contents |
//! |---|---|
//! | `testbed`, `host` | [`Testbed`], its builder, and [`Host`] |
//! | `namespace`, `user_namespace`, `capabilities` | network and user namespaces, ordinary users |
//! | `spawner` | the thread that starts a host's child processes |
//! | `rtnetlink`, `ethtool` | links, addresses, routes, rules, neighbors; queues and offloads |
//! | `relay` | the thread between two hosts: [`Relay`], [`RelaySettings`] |
//! | `faults`, `fault_draw`, `faulty_link` | the faults of a relay, their random draw, their effect |
//! | `frame`, `packet_socket`, `vnet_header` | frames: parsing, [`FrameSender`], segmentation |
//! | `minimal_socket` | [`MinimalSocket`], an AF_XDP socket that is the lower bound of benchmarks |
//! | `relay_counters` | [`RelayCounters`]; add a counter of the relay there |
//! | `loop_disk` | [`LoopDisk`], a file system that can fail |
//! | `allocations`, `test_scale` | [`CountingAllocator`]; [`scaled`] |
//!
//! ```
//! use hairpin_testbed::Testbed;
//! use std::process::Command;
//!
//! // The process of an ordinary user must be single-threaded here: see `enter_user_namespace`.
//! let testbed = Testbed::available()?;
//! println!("{}", testbed.describe());
//! let [exchange, trader] = testbed.hosts();
//! let mut command = Command::new("echo");
//! command.arg(exchange.address().to_string());
//! assert!(trader.spawn(command, &[])?.wait()?.success());
//! # Ok::<(), std::io::Error>(())
//! ```

mod allocations;
mod capabilities;
mod ethtool;
mod fault_draw;
mod faults;
mod faulty_link;
mod frame;
mod host;
mod loop_disk;
mod minimal_socket;
mod namespace;
mod packet_socket;
mod polling;
mod relay;
mod relay_counters;
mod rtnetlink;
mod spawner;
mod test_scale;
mod testbed;
mod user_namespace;
mod vnet_header;

pub use allocations::{CountingAllocator, allocated_bytes, allocations};
pub use capabilities::{Capability, become_ordinary_user};
pub use ethtool::{Offloads, Queues};
pub use faults::{Chance, Delay, Faults, Filter, Holding, Part, Protocol, Rate};
pub use host::Host;
pub use loop_disk::LoopDisk;
pub use minimal_socket::MinimalSocket;
pub use packet_socket::FrameSender;
pub use polling::eventually;
pub use relay::{Direction, Relay, RelaySettings};
pub use relay_counters::RelayCounters;
pub use rtnetlink::{Link, Macvlan, NudState, Route, RouteKind, Rtnetlink, Rule};
pub use test_scale::scaled;
pub use testbed::{Testbed, TestbedBuilder, TestbedError, Wire};
pub use user_namespace::{UserNamespaceError, enter_user_namespace};
