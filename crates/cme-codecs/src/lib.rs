//! Generated SBE codecs for CME's market data (MDP 3.0) and order entry (iLink 3).
//!
//! The modules contain one generated file per message. `cargo xtask codegen` writes them from the
//! schemas in `schemas/`. Names are CME's own. The crate does no framing: the owner of the
//! connection handles packet headers (MDP 3.0) and the Simple Open Framing Header (iLink 3).
//!
//! Layer L0: no standard library, no allocation, no unsafe code.
//!
//! **Where to start.** Each message has a module of the same name: `mdp3::…` for templates of
//! schema 1, `ilink3::…` for schema 8.
//!
//! | file in `mdp3/` and `ilink3/` | content |
//! |---|---|
//! | `mod.rs` | re-exports, `MESSAGES` (the layout table), `visit` |
//! | `types.rs` | enumerations, sets and decimals |
//! | `kind.rs` | the types as data, for the layout tables |
//! | one file per message | layout, view, encoder, and the same for each group |
//!
//! **Reading.** Call [`MessageHeader::decode`], then the message's `decode`. `decode` validates the
//! whole structure once, so getters and group cursors cannot fail. It completes a block of an older
//! version in the caller's scratch buffer. A getter returns an `Option` if the schema has a null,
//! or if the field is newer than its message and older senders do not send it.
//!
//! **Writing.** `encode` writes the header and a block without values: fields with a null are null,
//! others are zero. Setters fill the block. Groups are started in the schema's order.
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
