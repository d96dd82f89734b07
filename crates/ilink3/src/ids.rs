//! The exchange's numeric ids: OrderID and SecurityID.

use core::fmt;

/// Defines an id around an integer.
macro_rules! id {
    ($(#[$attribute:meta])* $name:ident($integer:ty)) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(
            /// The number on the wire.
            pub $integer,
        );

        impl From<$integer> for $name {
            #[inline]
            fn from(number: $integer) -> Self {
                Self(number)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

id! {
    /// OrderID (37): the exchange's id of an order.
    OrderId(u64)
}

id! {
    /// SecurityID (48): CME's id of an instrument.
    SecurityId(i32)
}
