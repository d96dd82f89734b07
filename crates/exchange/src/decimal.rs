//! Stand-in until sbe lands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal<const EXPONENT: i8>(pub i64);
