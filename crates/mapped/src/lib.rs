//! Memory mappings behind a safe API: the journal, live counters, and counters shared with
//! child processes.
//!
//! Layer L2. This crate contains no protocol: a record's payload and a counter's meaning belong to
//! the caller. `unsafe` is allowed here, and every block is justified.
//!
//! ```text
//!  session thread                                   sync worker (hairpin-journal)
//!  claim → encode in place → commit ──┐          ┌── checksums, sync, new and old segments
//!                                     ▼          ▼
//!            segment 7 (old) | segment 8 (current) | segment 9 (ready)      mapped files
//! ```
//!
//! - [`Journal`]: outbound and inbound records, in memory or in segments in a directory. A message
//!   is encoded in its final place, and one store commits it. A thread writes checksums, syncs
//!   records to disk and creates segments ahead of need. [`Reader`] reads a journal for display,
//!   [`Storage`] is the trait that a session needs, and [`MemoryStorage`] simulates power loss in
//!   tests.
//! - [`CounterPage`]: named counters and gauges that a process publishes while it runs.
//!   [`CounterPages`] finds the pages of running processes. There is no registry, and nothing
//!   remains after a process ends.
//! - [`AnswerFile`]: a text that a process writes when another asks, by [`Question`].
//! - [`SharedCounterPage`]: a page of named counters shared by a parent process and its children.
//! - [`StateFile`]: state that a process writes and a [`StateReader`] reads, also after its death.
//! - [`Secret`]: a key in a page that is neither dumped nor inherited.
//!
//! Counter pages of both kinds have the same layout. Start with `journal.rs`.
//!
//! | file | content |
//! |---|---|
//! | `journal.rs` | the journal: layout, claim, commit, open |
//! | `journal/claim.rs`, `record.rs`, `format.rs` | room for a record; handles; headers as bytes |
//! | `journal/segment.rs`, `segment_files.rs` | a mapped segment; its file |
//! | `journal/segment_roller.rs`, `sync_worker.rs`, `sync_state.rs` | writer and thread |
//! | `journal/recovery.rs`, `reader.rs`, `lookup.rs` | crash recovery; reading; lookup |
//! | `storage.rs`, `memory_storage.rs` | the trait of a journal; a journal for tests |
//! | `counter_page.rs`, `counter_pages.rs`, `counter_view.rs` | live counters |
//! | `answer_file.rs` | questions and answers of processes |
//! | `shared_counter_page.rs` | counters shared with child processes |
//! | `value_page.rs`, `page_layout.rs`, `metric.rs` | a page; its bytes; its values |
//! | `mapping.rs` | memory files and mappings |
//! | `lost_pages.rs` | mapped pages that cannot be read or written |
//! | `secret.rs` | secrets, their files and environment variables |
//! | `state_file.rs` | slots of words and bytes that outlive their writer |
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
//! let counters = SharedCounterPage::create(&["stop", "orders"])?;
//! let orders = counters.slot("orders").expect("named above");
//! counters.add(orders, 1);
//! assert_eq!(counters.load(orders), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer_file;
mod counter_page;
mod counter_pages;
mod counter_view;
mod journal;
mod lost_pages;
mod mapping;
mod memory_storage;
mod metric;
mod page_layout;
mod secret;
mod shared_counter_page;
#[cfg(all(test, target_arch = "x86_64"))]
mod single_step;
mod state_file;
mod storage;
mod value_page;

pub use answer_file::{AnswerFile, Question};
pub use counter_page::{CounterPage, CounterWriter, INTERVAL, INTERVAL_MAX};
pub use counter_pages::{CounterPages, Found};
pub use counter_view::CounterView;
pub use journal::{
    Checksum, Claim, Direction, Entry, Journal, JournalError, JournalSettings, Reader, Record,
    Records, Recovery, Replay, Retention, SyncPolicy, Tag,
};
pub use mapping::sealed_copy;
pub use memory_storage::MemoryStorage;
pub use metric::{Kind, Metric, NAME_MAX, Unit};
pub use page_layout::{PAGE_VERSION, PageError, TITLE_MAX, VALUES_MAX};
pub use secret::{SECRET_MAX, Secret, SecretError, SecretFileError};
pub use shared_counter_page::{SharedCounterPage, Slot};
pub use state_file::{StateFile, StateReader, StateSlot};
pub use storage::Storage;
