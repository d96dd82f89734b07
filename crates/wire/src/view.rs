//! What all headers have alike: views into bytes, and accessors of plain fields.

/// Views of a header at the front of some bytes.
macro_rules! view {
    ($header:ident) => {
        impl $header {
            /// The bytes of the fixed header.
            pub const SIZE: usize = size_of::<Self>();

            /// The header at the front, and the bytes behind it. No length in it is looked at.
            ///
            /// # Errors
            /// [`Error::TooShort`](crate::Error::TooShort): fewer bytes than [`Self::SIZE`].
            #[inline]
            pub fn split(bytes: &[u8]) -> Result<(&Self, &[u8]), crate::Error> {
                <Self as zerocopy::FromBytes>::ref_from_prefix(bytes)
                    .map_err(|_| crate::Error::TooShort)
            }

            /// The same for writing. Whatever the bytes were, they are a header.
            ///
            /// # Errors
            /// [`Error::TooShort`](crate::Error::TooShort): fewer bytes than [`Self::SIZE`].
            #[inline]
            pub fn split_mut(bytes: &mut [u8]) -> Result<(&mut Self, &mut [u8]), crate::Error> {
                <Self as zerocopy::FromBytes>::mut_from_prefix(bytes)
                    .map_err(|_| crate::Error::TooShort)
            }

            /// The header's bytes, as they are on the wire.
            #[must_use]
            #[inline]
            pub fn as_bytes(&self) -> &[u8] {
                zerocopy::IntoBytes::as_bytes(self)
            }
        }
    };
}

/// A getter and a setter of each field, of the number's own type in the machine's byte order.
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
