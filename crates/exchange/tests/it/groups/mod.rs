//! All kinds of groups against `follower`, which was implemented only from the byte layouts.

mod conflated;
mod harness;
mod instrument_events;
mod many_instruments;
mod premium;
