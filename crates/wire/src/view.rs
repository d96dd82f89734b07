//! Macros for all headers: views into bytes, and accessors of plain fields.

/// Implements views of a header at the front of a byte slice.
macro_rules! view {
    ($header:ident) => {
        impl $header {
            /// The size of the fixed header in bytes.
            pub const SIZE: usize = size_of::<Self>();

            /// Returns the header at the front and the bytes after it. Length fields are not
            /// checked.
            ///
            /// # Errors
            /// [`Error::TooShort`](crate::Error::TooShort): fewer bytes than [`Self::SIZE`].
            #[inline]
            pub fn split(bytes: &[u8]) -> Result<(&Self, &[u8]), crate::Error> {
                <Self as zerocopy::FromBytes>::ref_from_prefix(bytes)
                    .map_err(|_| crate::Error::TooShort)
            }

            /// Returns the header at the front and the bytes after it, for writing. Any bytes are
            /// accepted.
            ///
            /// # Errors
            /// [`Error::TooShort`](crate::Error::TooShort): fewer bytes than [`Self::SIZE`].
            #[inline]
            pub fn split_mut(bytes: &mut [u8]) -> Result<(&mut Self, &mut [u8]), crate::Error> {
                <Self as zerocopy::FromBytes>::mut_from_prefix(bytes)
                    .map_err(|_| crate::Error::TooShort)
            }

            /// Returns the header's bytes as on the wire.
            #[must_use]
            #[inline]
            pub fn as_bytes(&self) -> &[u8] {
                zerocopy::IntoBytes::as_bytes(self)
            }
        }
    };
}

/// Implements a getter and a setter of each field, in the number's own type and native byte order.
macro_rules! accessors {
    ($header:ident { $($(#[$doc:meta])* $name:ident, $set:ident: $value:ty;)* }) => {
        impl $header {
            $(
                $(#[$doc])*
                #[must_use]
                #[inline]
                pub fn $name(&self) -> $value {
                    <$value>::from(self.$name)
                }

                #[doc = concat!("Sets [`Self::", stringify!($name), "`].")]
                #[inline]
                pub fn $set(&mut self, $name: $value) {
                    self.$name = $name.into();
                }
            )*
        }
    };
}
