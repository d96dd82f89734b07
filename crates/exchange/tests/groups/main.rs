//! Every kind of group against a follower that was written from the layout of the bytes alone.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod announcements;
mod conflated;
#[path = "../follower/mod.rs"]
mod follower;
mod many;
mod premium;
mod stage;
