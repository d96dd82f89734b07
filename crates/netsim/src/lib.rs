//! A deterministic network for tests: a virtual clock and links whose faults come from a seed.
//!
//! Layer T: a dev-dependency, never part of a product.
#![forbid(unsafe_code)]
