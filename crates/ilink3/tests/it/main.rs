//! Tests of the session through its public API.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod builders;
mod captures;
mod properties;
mod recovery;
mod reports;
mod requests;
mod test_session;
