//! The common code of all generated codecs: views and encoders of messages and group entries.
//! Generated files add constants, getters and setters.

/// Defines the view and the encoder of a message without groups.
///
/// Parameters: docs and name of the view, name of the encoder, length of the root block. Requires a
/// `MESSAGE` layout in scope.
#[macro_export]
macro_rules! message {
    ($(#[$doc:meta])* $name:ident, $encoder:ident, $length:literal) => {
        $crate::message_view! { $(#[$doc])* $name, $encoder, $length, 0 }

        impl $name<'_> {
            /// The number of bytes that [`encode`](Self::encode) writes, SBE header included.
            pub const ENCODED_LENGTH: usize =
                $crate::MessageHeader::LENGTH + $length + 2 * MESSAGE.data.len();

            /// Writes the header, a root block without values and empty data.
            ///
            /// # Errors
            /// [`EncodeError::Buffer`]($crate::EncodeError::Buffer) if `buffer` is too short.
            #[inline]
            pub fn encode(buffer: &mut [u8]) -> Result<$encoder<'_>, $crate::EncodeError> {
                const DATA: usize = 2 * MESSAGE.data.len();
                $crate::begin_fixed::<$length, DATA>(&MESSAGE, &Self::NULL_BLOCK, buffer)
                    .map($encoder)
            }
        }
    };
    (
        $(#[$doc:meta])*
        $name:ident, $encoder:ident, $length:literal, $groups:ident, $count:literal
    ) => {
        $crate::message_view! { $(#[$doc])* $name, $encoder, $length, $count }

        impl $name<'_> {
            /// Writes the header and a root block without values. The returned groups encoder
            /// writes the groups.
            ///
            /// # Errors
            /// [`EncodeError::Buffer`]($crate::EncodeError::Buffer) if `buffer` is too short.
            #[inline]
            pub fn encode(
                buffer: &mut [u8],
            ) -> Result<($encoder<'_>, $groups<'_>), $crate::EncodeError> {
                let (block, groups) = $crate::begin(&MESSAGE, &Self::NULL_BLOCK, buffer)?;
                Ok(($encoder(block), $groups(groups)))
            }
        }

        #[doc = concat!("An encoder for the groups of [`", stringify!($name), "`].")]
        ///
        /// Groups follow the schema's order. Groups left out are written empty.
        ///
        /// Starting a group fails if this group or a later one was started before, or if the
        /// buffer is too short.
        #[derive(Debug)]
        #[must_use = "the message is complete only after finish"]
        pub struct $groups<'a>($crate::GroupsEncoder<'a>);

        impl $groups<'_> {
            /// Completes the message and returns its length, SBE header included.
            ///
            /// # Errors
            /// [`EncodeError::Buffer`]($crate::EncodeError::Buffer) if the buffer is too short.
            #[inline]
            pub fn finish(self) -> Result<usize, $crate::EncodeError> {
                self.0.finish()
            }
        }
    };
}

/// Defines the part of [`message!`] that all messages share.
#[doc(hidden)]
#[macro_export]
macro_rules! message_view {
    ($(#[$doc:meta])* $name:ident, $encoder:ident, $length:literal, $count:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a>($crate::Root<'a, $length, $count>);

        impl<'a> $name<'a> {
            /// The template id.
            pub const TEMPLATE_ID: u16 = MESSAGE.template_id;
            /// The length of the root block in bytes.
            pub const BLOCK_LENGTH: usize = $length;
            /// The initial scratch buffer of [`decode`](Self::decode), filled only for an older or
            /// shorter block.
            pub const SCRATCH: [u8; $length] = [0; $length];
            /// A root block without values: fields with a null are null, others are zero.
            pub const NULL_BLOCK: [u8; $length] = MESSAGE.block.null_block();

            /// Validates the structure of the whole message once. No later access can fail.
            ///
            /// # Errors
            /// Any [`DecodeError`]($crate::DecodeError) except `Header`: a different template or
            /// schema, or a truncated root block, group or data field.
            #[inline]
            pub fn decode(
                header: &$crate::MessageHeader,
                body: &'a [u8],
                scratch: &'a mut [u8; $length],
            ) -> Result<Self, $crate::DecodeError> {
                $crate::Root::decode(&MESSAGE, header, body, scratch).map(Self)
            }

            /// Decodes a message with exactly the compiled layout, without a scratch buffer.
            /// `bytes` must start with the SBE header, contain a root block of the compiled length
            /// and at least the compiled version, and end with the message. Returns `None`
            /// otherwise; [`decode`](Self::decode) handles all other messages.
            #[inline]
            pub fn decode_exact(bytes: &'a [u8]) -> Option<Self> {
                $crate::Root::decode_exact(&MESSAGE, bytes).map(Self)
            }

            /// Returns the message's length on the wire in bytes, SBE header included.
            #[inline]
            pub fn encoded_length(&self) -> usize {
                self.0.encoded_length()
            }
        }

        #[doc = concat!("An encoder for the root block of [`", stringify!($name), "`].")]
        #[derive(Debug)]
        pub struct $encoder<'a>(#[allow(dead_code)] &'a mut [u8; $length]);
    };
}

/// Defines the view and the encoder of a group entry.
///
/// Parameters: docs and name of the view, name of the encoder, length of the block, index of the
/// group. Requires a `MESSAGE` layout in scope.
#[macro_export]
macro_rules! entry {
    ($(#[$doc:meta])* $name:ident, $encoder:ident, $length:literal, $index:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a>(&'a [u8; $length]);

        impl $name<'_> {
            /// The length of an entry in bytes.
            pub const BLOCK_LENGTH: usize = $length;
            /// The initial scratch buffer of the cursor, filled only for older or shorter entries.
            pub const SCRATCH: [u8; $length] = [0; $length];
            /// An entry without values: fields with a null are null, others are zero.
            pub const NULL_BLOCK: [u8; $length] = MESSAGE.groups[$index].block.null_block();
        }

        impl $crate::Entry for $name<'_> {
            type View<'a> = $name<'a>;
            type Encoder<'a> = $encoder<'a>;
            type Scratch = [u8; $length];
            const GROUP: &'static $crate::GroupLayout = &MESSAGE.groups[$index];

            #[inline]
            fn view<'a>(
                wire: &'a [u8],
                version: u16,
                scratch: &'a mut [u8; $length],
            ) -> $name<'a> {
                $name(Self::GROUP.block.view(wire, version, scratch))
            }

            #[inline]
            fn encoder(bytes: &mut [u8]) -> Option<$encoder<'_>> {
                let block = bytes.first_chunk_mut()?;
                *block = Self::NULL_BLOCK;
                Some($encoder(block))
            }
        }

        #[doc = concat!("An encoder for an entry of [`", stringify!($name), "`].")]
        #[derive(Debug)]
        pub struct $encoder<'a>(&'a mut [u8; $length]);
    };
}
