//! Matching engine, market data publisher and iLink 3 gateway.
#![forbid(unsafe_code)]

mod decimal;
mod generator;
mod instrument;
mod matching;
mod slab;

pub use generator::*;
pub use instrument::*;
pub use matching::*;
/// A price: mantissa with nine decimals.
pub type Price = decimal::Decimal<-9>;
