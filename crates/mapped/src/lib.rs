//! Every memory mapping of the house behind a safe interface.
//!
//! Layer L2. What is here:
//!
//! - [`Journal`]: records both ways, in memory or in segments in a folder. A message is encoded
//!   where it will stay, and one store at the end commits it; a thread writes checksums, forces
//!   records to the disk and makes segments ahead. [`Reader`] shows one, [`Storage`] is what a
//!   session needs of one, and [`MemoryStorage`] is one that loses power in tests.
//! - [`CounterPage`]: named counters and gauges that a process publishes while it runs, and
//!   [`CounterPages`], which finds those of running processes. Nothing is registered anywhere and
//!   nothing stays behind.
//! - [`SharedCounterPage`]: a page of named counters shared by a parent process and its children.
//! - [`Arena`]: bytes that several processes have mapped, each at its own address.
//!
//! The pages of live counters and of a parent and its children have one layout.
//!
//! `unsafe` is allowed here and nowhere above: all of it is documented.
//!
//! ```
//! use hairpin_mapped::{SharedCounterPage, Journal};
//!
//! let mut journal = Journal::anonymous(4096)?;
//! let mut claim = journal.claim(64)?;
//! claim.payload()[..5].copy_from_slice(b"order");
//! let record = claim.commit(5);
//! assert_eq!(journal.bytes(record), b"order");
//!
//! let control = SharedCounterPage::create(&["stop", "orders"])?;
//! let orders = control.slot("orders").expect("named above");
//! control.add(orders, 1);
//! assert_eq!(control.load(orders), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arena;
mod counter_page;
mod counter_pages;
mod counter_view;
mod journal;
mod mapping;
mod memory_storage;
mod metric;
mod page_layout;
mod shared_counter_page;
#[cfg(all(test, target_arch = "x86_64"))]
mod single_step;
mod storage;
mod value_page;

pub use arena::{Arena, ArenaError};
pub use counter_page::{CounterPage, CounterWriter, INTERVAL, INTERVAL_MAX};
pub use counter_pages::{CounterPages, Found};
pub use counter_view::CounterView;
pub use journal::{
    Checksum, Claim, Direction, Entry, Journal, JournalError, JournalSettings, Reader, Record,
    Records, Recovery, Replay, Retention, SyncPolicy, Tag,
};
pub use memory_storage::MemoryStorage;
pub use metric::{Kind, Metric, NAME_MAX, Unit};
pub use page_layout::{PAGE_VERSION, PageError, TITLE_MAX, VALUES_MAX};
pub use shared_counter_page::{SharedCounterPage, Slot};
pub use storage::Storage;
