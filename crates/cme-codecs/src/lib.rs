//! Generated codecs for CME's market data (MDP 3.0) and order entry (iLink 3).
//!
//! One file per message, made by `cargo xtask codegen` from the files in `schemas/`; nothing in
//! the modules is written by hand. Layer L0: no standard library, no allocation, no unsafe code.
//! Names are CME's own. It frames nothing: packet headers (MDP 3.0) and the simple open framing
//! header (iLink 3) are read by whoever owns the connection.
//!
//! Reading: [`MessageHeader::decode`], then the message's `decode`, which checks the whole
//! structure once; getters and group cursors cannot fail after it. A block of an older version is
//! completed in the caller's scratch. A getter returns an `Option` where the schema has a null, and
//! where a field is newer than its message, so that older senders lack it.
//!
//! Writing: `encode` writes the header and a block without values (nulls where the schema has
//! them, else zero), setters fill it, groups are opened in the schema's order.
//!
//! ```
//! use hairpin_cme_codecs::mdp3::{self, MDIncrementalRefreshBook46, MatchEventIndicator, Price9};
//! use hairpin_sbe::MessageHeader;
//!
//! let mut buffer = [0; 128];
//! let (mut root, mut groups) = MDIncrementalRefreshBook46::encode(&mut buffer)?;
//! root.set_transact_time(1).set_match_event_indicator(MatchEventIndicator::END_OF_EVENT);
//! let mut entries = groups.no_md_entries()?;
//! entries.push()?.set_security_id(7).set_md_entry_px(Price9(59_500_000_000));
//! let length = groups.finish()?;
//!
//! let (header, body) = MessageHeader::decode(&buffer[..length])?;
//! let mut scratch = MDIncrementalRefreshBook46::SCRATCH;
//! let message = MDIncrementalRefreshBook46::decode(&header, body, &mut scratch)?;
//! let mut entries = message.no_md_entries();
//! let mut scratch = mdp3::md_incremental_refresh_book46::NoMDEntries::SCRATCH;
//! while let Some(entry) = entries.next(&mut scratch) {
//!     assert_eq!(entry.md_entry_px().map(|price| price.to_string()).as_deref(), Some("59.5"));
//!     assert_eq!(entry.tradeable_size(), None);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`MessageHeader::decode`]: hairpin_sbe::MessageHeader::decode
#![no_std]
#![forbid(unsafe_code)]

#[rustfmt::skip]
pub mod ilink3;
#[rustfmt::skip]
pub mod mdp3;
