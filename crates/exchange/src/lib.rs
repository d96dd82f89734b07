//! Matching engine, market data publisher and iLink 3 gateway.
#![forbid(unsafe_code)]

mod generator;
mod instrument;
mod matching;
mod publisher;
mod slab;

pub use generator::*;
pub use instrument::*;
pub use matching::*;
pub use publisher::*;

/// A price: a mantissa with nine decimals, as MDP 3.0 and iLink 3 have it.
pub type Price = hairpin_sbe::Decimal<-9>;
