//! Findings about a host and its interfaces, and checks of configuration files.
//!
//! Layer L3 (products). [`examine`] reads /proc, /sys and the kernel's answers over netlink and
//! ethtool, and returns a [`Report`]: what Hairpin will do on each interface, what stands in the
//! way, what that costs, and the command that changes it. It changes nothing. The mode, the queues
//! and the MTU come from the code that opens an interface ([`hairpin_stack::plan_interface`]).
//!
//! ```text
//!  Root: /proc, /sys ─┐
//!  KernelAnswers ─────┼─► facts of an area ──► findings of the area ──► Report
//!  Measurements ──────┘   (plain values)       (a pure function)        text, JSON
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `examination` | [`examine`]: facts and findings of all areas |
//! | `root` | [`Root`]: the files of a host, below `/` or the folder of a test |
//! | `kernel`, `netlink` | the kernel's answers that are not files |
//! | `measurements` | load of cores, interruptions, costs of clock and system calls |
//! | `interface`, `queues`, `offloads` | findings about an interface |
//! | `cores`, `clock`, `memory`, `sysctls` | findings about the host |
//! | `firewall`, `privileges`, `container` | findings about what bypass skips, and what it may do |
//! | `finding`, `report` | [`Finding`] and [`Report`] |
//! | `bundle`, `redactor` | [`write_bundle`]: report and pings for others, without names and addresses |
//! | `check` | [`CheckHost`]: checks of configuration files |
//!
//! To add a finding, add its fact to the `Facts` of its area, the finding to `findings` there, and
//! a test with a host that has it and one that has not.
//!
//! ```no_run
//! let report = hairpin_doctor::examine(Some("eth1"))?;
//! println!("{report}");
//! # Ok::<(), hairpin_doctor::ExamineError>(())
//! ```
#![forbid(unsafe_code)]

mod bundle;
mod check;
mod clock;
mod container;
mod cores;
mod examination;
mod finding;
mod firewall;
mod interface;
mod kernel;
mod measurements;
mod memory;
mod netlink;
mod offloads;
mod privileges;
mod queues;
mod redactor;
mod report;
mod root;
mod sysctls;

pub use bundle::{BundleError, PongHost, write_bundle};
pub use check::{CheckHost, CheckLine, Judgment, ThreadsParser};
pub use examination::examine;
pub use finding::{Finding, Severity};
pub use kernel::ExamineError;
pub use redactor::Redactor;
pub use report::{HostSummary, InterfaceSummary, Report};
pub use root::Root;
