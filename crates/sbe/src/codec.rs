//! What every generated codec has in common, said once: the types of a message, of a group's entry
//! and of what writes them. Generated files add constants, getters and setters.

/// The view and the encoder of a message without groups.
///
/// Takes the docs and name of the view, the encoder's name, the root block's length; needs a
/// `MESSAGE` with the layout in scope.
#[macro_export]
macro_rules! message {
    ($(#[$doc:meta])* $name:ident, $encoder:ident, $length:literal) => {
        $crate::message_view! { $(#[$doc])* $name, $encoder, $length, 0 }

        impl $name<'_> {
            /// Bytes that [`encode`](Self::encode) writes, from the SBE header on.
            pub const ENCODED_LENGTH: usize =
                $crate::MessageHeader::LENGTH + $length + 2 * MESSAGE.data.len();

            /// Writes header, a root block without values and empty data.
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
            /// Writes header and a root block without values; the groups follow.
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

        #[doc = concat!("Writes the groups of [`", stringify!($name), "`], in the schema's order;")]
        /// those left out are written empty.
        ///
        /// Beginning a group fails if it or a later one was begun before, or if the buffer is too
        /// short.
        #[derive(Debug)]
        #[must_use = "the message is whole only after finish"]
        pub struct $groups<'a>($crate::GroupsEncoder<'a>);

        impl $groups<'_> {
            /// Ends the message; gives its bytes from the SBE header on.
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

/// The part of [`message!`] that all messages share.
#[doc(hidden)]
#[macro_export]
macro_rules! message_view {
    ($(#[$doc:meta])* $name:ident, $encoder:ident, $length:literal, $count:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a>($crate::Root<'a, $length, $count>);

        impl<'a> $name<'a> {
            /// Template id.
            pub const TEMPLATE_ID: u16 = MESSAGE.template_id;
            /// Bytes of the root block.
            pub const BLOCK_LENGTH: usize = $length;
            /// What [`decode`](Self::decode) fills if the wire's block is older or shorter.
            pub const SCRATCH: [u8; $length] = [0; $length];
            /// A root block without values: nulls where the schema has them, else zero.
            pub const NULL_BLOCK: [u8; $length] = MESSAGE.block.null_block();

            /// Checks the whole structure of the message once; nothing can fail after it.
            ///
            /// # Errors
            /// Any [`DecodeError`]($crate::DecodeError) but `Header`: another template or schema,
            /// or root block, group or data cut short.
            #[inline]
            pub fn decode(
                header: &$crate::MessageHeader,
                body: &'a [u8],
                scratch: &'a mut [u8; $length],
            ) -> Result<Self, $crate::DecodeError> {
                $crate::Root::decode(&MESSAGE, header, body, scratch).map(Self)
            }

            /// The message that `bytes`, from the SBE header on, plainly are: its root block as it
            /// is compiled, at least as new, and nothing behind it. `None` of any other, of which
            /// [`decode`](Self::decode) knows more.
            #[inline]
            pub fn decode_plain(bytes: &'a [u8]) -> Option<Self> {
                $crate::Root::decode_plain(&MESSAGE, bytes).map(Self)
            }

            /// Bytes of the message as it stands on the wire, from the SBE header on.
            #[inline]
            pub fn encoded_length(&self) -> usize {
                self.0.encoded_length()
            }
        }

        #[doc = concat!("Writes the root block of [`", stringify!($name), "`].")]
        #[derive(Debug)]
        pub struct $encoder<'a>(#[allow(dead_code)] &'a mut [u8; $length]);
    };
}

/// The view and the encoder of a group's entry.
///
/// Takes the docs and name of the view, the encoder's name, the block's length and the group's
/// index; needs a `MESSAGE` with the layout in scope.
#[macro_export]
macro_rules! entry {
    ($(#[$doc:meta])* $name:ident, $encoder:ident, $length:literal, $index:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a>(&'a [u8; $length]);

        impl $name<'_> {
            /// Bytes of an entry.
            pub const BLOCK_LENGTH: usize = $length;
            /// What the cursor fills if the wire's entries are older or shorter.
            pub const SCRATCH: [u8; $length] = [0; $length];
            /// An entry without values: nulls where the schema has them, else zero.
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

        #[doc = concat!("Writes an entry of [`", stringify!($name), "`].")]
        #[derive(Debug)]
        pub struct $encoder<'a>(&'a mut [u8; $length]);
    };
}
