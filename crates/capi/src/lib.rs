//! The C ABI of the crate `hairpin`: a cdylib and a staticlib with a generated header.
//!
//! The crate converts types, checks arguments and reports errors. It contains no trading logic and
//! no protocol. Layer L3; `unsafe` is limited to the conversion of pointers.
//!
//! `include/hairpin.h` is generated from this source by `cargo xtask header`, and committed.
//! `include/hairpin.hpp` is the C++17 API on it. `cargo xtask install` installs all of them.
//!
//! ```c
//! static int on_book(void *user, const hairpin_book_event *book, hairpin_context *context) {
//!     char bid[64];
//!     hairpin_best_text(context, book->security_id, HAIRPIN_SIDE_BUY, bid, sizeof bid);
//!     return puts(bid) < 0; // 0 continues
//! }
//! hairpin_trader feed;
//! hairpin_callbacks callbacks = {.size = sizeof callbacks, .on_book = on_book};
//! if (hairpin_feed_open("config.xml", 310, &feed) < 0
//!     || hairpin_trader_run(feed, &callbacks, NULL) < 0)
//!     fprintf(stderr, "Error: %s\n", hairpin_last_error());
//! ```
//!
//! - **A handle** ([`hairpin_trader`]) is the number of a slot and a generation, so the use of a
//!   closed handle is an error. One call at a time uses a handle; another one is an error.
//! - **A context** ([`hairpin_context`]) is a number in the form of a pointer. It names one call of
//!   one callback on one thread, so any later use is an error.
//! - **A table of callbacks** begins with its size. A shorter table of an older header and a longer
//!   one of a newer header are accepted.
//! - **A panic** is caught, becomes [`hairpin_error::Panic`], and poisons the handle.
//!
//! | file | contents |
//! |---|---|
//! | `trader.rs` | handles: run, turn, stop, close |
//! | `settings.rs` | opening |
//! | `callbacks.rs` | the table, and the strategy that calls it |
//! | `events.rs` | the arguments of callbacks |
//! | `context.rs`, `requests.rs`, `instrument.rs` | functions for use in callbacks |
//! | `current.rs` | the callback that runs on this thread |
//! | `price.rs` | prices |
//! | `accelerated.rs` | whether a socket bypasses the kernel |
//! | `error.rs`, `text.rs` | error codes, and text from and for C |
#![allow(non_camel_case_types, reason = "the names of the C header")]

mod accelerated;
mod callbacks;
mod context;
mod current;
mod error;
mod events;
mod instrument;
mod price;
mod requests;
mod settings;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
#[path = "../../sdk/tests/support/mod.rs"]
mod support;
mod text;
mod trader;

pub use accelerated::hairpin_is_accelerated;
pub use callbacks::hairpin_callbacks;
pub use context::*;
pub use current::hairpin_context;
pub use error::{hairpin_error, hairpin_last_error};
pub use events::*;
pub use instrument::*;
pub use price::*;
pub use requests::*;
pub use settings::*;
pub use trader::*;
