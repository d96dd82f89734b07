//! Layouts as data, for the slow paths: older blocks, printing and tests.

use crate::Scalar;

/// The wire format of an integer or character, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are SBE's own")]
pub enum Primitive {
    Char,
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
}

impl Primitive {
    /// Returns the size in bytes.
    pub const fn size(self) -> u16 {
        match self {
            Self::Char | Self::Int8 | Self::Uint8 => 1,
            Self::Int16 | Self::Uint16 => 2,
            Self::Int32 | Self::Uint32 => 4,
            Self::Int64 | Self::Uint64 => 8,
        }
    }

    /// Returns the null of a required field that is newer than its message, because older senders
    /// do not send the field. As in all of CME's nulls, it is the maximum value; 0x00 for a
    /// character.
    pub const fn implied_null(self) -> &'static [u8] {
        match self {
            Self::Char => b"\0",
            Self::Int8 => b"\x7f",
            Self::Uint8 => b"\xff",
            Self::Int16 => b"\xff\x7f",
            Self::Uint16 => b"\xff\xff",
            Self::Int32 => b"\xff\xff\xff\x7f",
            Self::Uint32 => b"\xff\xff\xff\xff",
            Self::Int64 => b"\xff\xff\xff\xff\xff\xff\xff\x7f",
            Self::Uint64 => b"\xff\xff\xff\xff\xff\xff\xff\xff",
        }
    }

    /// Reads the value at the start of `bytes`, sign-extended. Missing bytes are zero.
    pub fn read(self, bytes: &[u8]) -> i128 {
        let mut raw = [0; 8];
        let size = usize::from(self.size());
        for (to, from) in raw[..size].iter_mut().zip(bytes) {
            *to = *from;
        }
        match self {
            Self::Char | Self::Uint8 => u8::read(&raw[..1]).into(),
            Self::Int8 => i8::read(&raw[..1]).into(),
            Self::Int16 => i16::read(&raw[..2]).into(),
            Self::Uint16 => u16::read(&raw[..2]).into(),
            Self::Int32 => i32::read(&raw[..4]).into(),
            Self::Uint32 => u32::read(&raw[..4]).into(),
            Self::Int64 => i64::read(&raw).into(),
            Self::Uint64 => u64::read(&raw).into(),
        }
    }
}

/// A named value of an enumeration, or a named bit of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// The schema's name.
    pub name: &'a str,
    /// The value; for a set, the bit number.
    pub value: u64,
    /// The schema version that introduced the value, 0 for the first.
    pub since: u16,
}

impl<'a> Named<'a> {
    /// Creates a row of a name table.
    pub const fn new(name: &'a str, value: u64, since: u16) -> Self {
        Self { name, value, since }
    }

    /// Returns the name of `value` in `names`, or `None` if the value has no name.
    pub fn find(names: &[Self], value: u64) -> Option<&'a str> {
        names.iter().find(|named| named.value == value).map(|named| named.name)
    }
}

/// The encoding of a field's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// An integer, or one character.
    Scalar(Primitive),
    /// Characters, padded with NULs.
    Text,
    /// A mantissa, with a constant exponent from the schema.
    Decimal(Primitive, i8),
    /// A mantissa followed by an `i8` exponent.
    Float(Primitive),
    /// A year, month, day and week in five bytes.
    MonthYear,
    /// A value of an enumeration, named or unnamed.
    Enumeration(Primitive, &'static [Named<'static>]),
    /// Bits of a set, named or unnamed.
    Set(Primitive, &'static [Named<'static>]),
}

/// The presence of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The field is always present.
    Required,
    /// The field is absent if it equals the type's null.
    Optional,
    /// The field is not on the wire; the schema defines its value.
    Constant,
}

/// A type of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// CME's name.
    pub name: &'static str,
    /// The encoding of the type's bytes.
    pub encoding: Encoding,
    /// The presence of fields of this type.
    pub presence: Presence,
    /// The size on the wire in bytes; 0 for a constant.
    pub size: u16,
    /// The null of an optional type or the value of a constant, in wire format; otherwise empty.
    pub value: &'static [u8],
}

impl Type {
    /// Returns the integer of the value, if the encoding has a single one.
    const fn primitive(&self) -> Option<Primitive> {
        match self.encoding {
            Encoding::Scalar(primitive) | Encoding::Enumeration(primitive, _) => Some(primitive),
            Encoding::Decimal(primitive, _) => Some(primitive),
            _ => None,
        }
    }
}

/// A field of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// CME's name.
    pub name: &'static str,
    /// The FIX tag.
    pub tag: u16,
    /// The offset from the start of the block; 0 for a constant.
    pub offset: u16,
    /// The schema version that introduced the field, 0 for the first.
    pub since: u16,
    /// The field's type.
    pub kind: &'static Type,
}

impl Field {
    /// Creates a row of a layout table.
    pub const fn new(
        name: &'static str,
        tag: u16,
        offset: u16,
        since: u16,
        kind: &'static Type,
    ) -> Self {
        Self { name, tag, offset, since, kind }
    }

    /// Returns the bytes that mark the field as absent in a block introduced in version
    /// `block_since`. Empty if the field is never absent, or is text, which is absent if all bytes
    /// are zero.
    pub const fn null(&self, block_since: u16) -> &'static [u8] {
        match self.kind.presence {
            Presence::Optional => self.kind.value,
            Presence::Required if self.since > block_since => match self.kind.primitive() {
                Some(primitive) => primitive.implied_null(),
                None => &[],
            },
            _ => &[],
        }
    }

    /// Returns the field's bytes in a block from the wire. Returns `None` if they are truncated or
    /// the field is newer than `version`.
    pub fn bytes<'a>(&self, wire: &'a [u8], version: u16) -> Option<&'a [u8]> {
        let start = usize::from(self.offset);
        let end = start + usize::from(self.kind.size);
        if self.since <= version { wire.get(start..end) } else { None }
    }
}

/// The layout of a root block or of a group entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLayout {
    /// The length in the compiled version in bytes, padding included.
    pub length: u16,
    /// The schema version that introduced the message.
    pub since: u16,
    /// The schema version of the newest field. A block of at least this version and length is read
    /// in place.
    pub newest: u16,
    /// The fields in the schema's order, constants included.
    pub fields: &'static [Field],
}

impl BlockLayout {
    /// Creates the layout of `length` bytes with `fields`, in a message introduced in version
    /// `since`.
    pub const fn new(length: u16, since: u16, fields: &'static [Field]) -> Self {
        let mut newest = 0;
        let mut index = 0;
        while index < fields.len() {
            if fields[index].since > newest {
                newest = fields[index].since;
            }
            index += 1;
        }
        Self { length, since, newest, fields }
    }

    /// Creates a block with every field null. Fields without a null and padding are zero. Generated
    /// code calls this at compile time.
    ///
    /// # Panics
    /// Panics if `N` is not the layout's length, or a field lies outside.
    pub const fn null_block<const N: usize>(&self) -> [u8; N] {
        assert!(N == self.length as usize);
        let mut block = [0; N];
        let mut index = 0;
        while index < self.fields.len() {
            let field = &self.fields[index];
            let null = field.null(self.since);
            let mut byte = 0;
            while byte < null.len() {
                block[field.offset as usize + byte] = null[byte];
                byte += 1;
            }
            index += 1;
        }
        block
    }

    /// Returns a block from the wire as a compiled block. A new and long enough block is returned
    /// in place. Otherwise `scratch` receives a copy in which missing fields are null.
    #[inline(always)]
    pub fn view<'a, const N: usize>(
        &self,
        wire: &'a [u8],
        version: u16,
        scratch: &'a mut [u8; N],
    ) -> &'a [u8; N] {
        if version >= self.newest
            && let Some(block) = wire.first_chunk::<N>()
        {
            return block;
        }
        self.fill(wire, version, scratch);
        scratch
    }

    /// Copies the wire's fields over a null block. Padding stays zero: a later version may have
    /// made it a field, and an older sender's padding is not that field.
    #[cold]
    fn fill(&self, wire: &[u8], version: u16, scratch: &mut [u8]) {
        scratch.fill(0);
        for field in self.fields {
            let bytes = field.bytes(wire, version).unwrap_or_else(|| field.null(self.since));
            let start = usize::from(field.offset);
            if let Some(to) = scratch.get_mut(start..start + bytes.len()) {
                to.copy_from_slice(bytes);
            }
        }
    }
}

/// The header of a group: a `u16` block length and a counter, at any offset in a header of any
/// length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// CME's name.
    pub name: &'static str,
    /// The header's length in bytes.
    pub length: u16,
    /// The offset of the block length.
    pub block_length_offset: u16,
    /// The offset of the counter.
    pub count_offset: u16,
    /// The size of the counter in bytes, 1 or 2.
    pub count_size: u16,
}

impl Dimension {
    /// Splits the header from `bytes`. Returns the block length, the count and the rest.
    #[inline(always)]
    pub(crate) fn split<'a>(&self, bytes: &'a [u8]) -> Option<(u16, u16, &'a [u8])> {
        let (head, rest) = bytes.split_at_checked(usize::from(self.length))?;
        let u16_at =
            |at: u16| Some(u16::from_le_bytes(*head.get(usize::from(at)..)?.first_chunk()?));
        let count = match self.count_size {
            1 => u16::from(*head.get(usize::from(self.count_offset))?),
            _ => u16_at(self.count_offset)?,
        };
        Some((u16_at(self.block_length_offset)?, count, rest))
    }

    /// Returns the maximum count.
    #[inline]
    pub(crate) const fn limit(&self) -> u16 {
        if self.count_size == 1 { u8::MAX as u16 } else { u16::MAX }
    }

    /// Writes the counter of a header.
    #[inline]
    pub(crate) fn write_count(&self, head: &mut [u8], count: u16) {
        let start = usize::from(self.count_offset);
        if let Some(to) = head.get_mut(start..start + usize::from(self.count_size)) {
            to.copy_from_slice(&count.to_le_bytes()[..to.len()]);
        }
    }

    /// Writes a header for an empty group, with zero padding.
    #[inline]
    pub(crate) fn write(&self, head: &mut [u8], block_length: u16) {
        head.fill(0);
        let start = usize::from(self.block_length_offset);
        if let Some(to) = head.get_mut(start..start + 2) {
            to.copy_from_slice(&block_length.to_le_bytes());
        }
    }
}

/// A repeating group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupLayout {
    /// CME's name.
    pub name: &'static str,
    /// The FIX tag of the group's counter.
    pub tag: u16,
    /// The schema version that introduced the group; older messages end before it.
    pub since: u16,
    /// The group's header.
    pub dimension: Dimension,
    /// The layout of its entries.
    pub block: BlockLayout,
}

impl GroupLayout {
    /// Creates a row of a layout table.
    pub const fn new(
        name: &'static str,
        tag: u16,
        since: u16,
        dimension: Dimension,
        block: BlockLayout,
    ) -> Self {
        Self { name, tag, since, dimension, block }
    }
}

/// A variable-length data field: a `u16` length, then the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataLayout {
    /// CME's name.
    pub name: &'static str,
    /// The FIX tag.
    pub tag: u16,
    /// The schema version that introduced the field.
    pub since: u16,
}

/// The layout of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// CME's name.
    pub name: &'static str,
    /// The template id.
    pub template_id: u16,
    /// The schema id.
    pub schema_id: u16,
    /// The schema version of the codec.
    pub version: u16,
    /// The FIX message type, by name or letter.
    pub semantic_type: &'static str,
    /// The root block.
    pub block: BlockLayout,
    /// The groups after the root block.
    pub groups: &'static [GroupLayout],
    /// The data fields after the groups.
    pub data: &'static [DataLayout],
}

#[cfg(test)]
mod tests {
    use super::*;

    const U8: Type = Type {
        name: "u8",
        encoding: Encoding::Scalar(Primitive::Uint8),
        presence: Presence::Required,
        size: 1,
        value: &[],
    };
    const I32: Type = Type {
        name: "i32",
        encoding: Encoding::Scalar(Primitive::Int32),
        presence: Presence::Optional,
        size: 4,
        value: b"\xff\xff\xff\x7f",
    };
    const FIELDS: &[Field] = &[
        Field::new("a", 1, 0, 0, &U8),
        Field::new("b", 2, 1, 0, &I32),
        Field::new("c", 3, 5, 10, &I32),
        Field::new("d", 4, 10, 11, &U8),
    ];
    const LAYOUT: BlockLayout = BlockLayout::new(12, 10, FIELDS);
    const WIRE: [u8; 14] = [1, 2, 0, 0, 0, 3, 0, 0, 0, 0xee, 4, 0xee, 0xee, 0xee];

    #[test]
    fn null_block_has_nulls_and_zero_padding() {
        let block = LAYOUT.null_block::<12>();
        assert_eq!(block, [0, 255, 255, 255, 127, 255, 255, 255, 127, 0, 255, 0]);
    }

    #[test]
    fn new_and_long_block_is_read_in_place() {
        let mut scratch = [0; 12];
        let block = LAYOUT.view(&WIRE, 11, &mut scratch);
        assert_eq!(block, &WIRE[..12]);
        assert_eq!(block.as_ptr(), WIRE.as_ptr());
    }

    #[test]
    fn fields_newer_than_the_version_and_padding_are_null() {
        let mut scratch = [0xcc; 12];
        let block = LAYOUT.view(&WIRE, 9, &mut scratch);
        assert_eq!(block, &[1, 2, 0, 0, 0, 255, 255, 255, 127, 0, 255, 0]);
        let mut scratch = [0xcc; 12];
        let block = LAYOUT.view(&WIRE, 10, &mut scratch);
        assert_eq!(block, &[1, 2, 0, 0, 0, 3, 0, 0, 0, 0, 255, 0]);
    }

    #[test]
    fn truncated_field_is_null() {
        let mut scratch = [0xcc; 12];
        let block = LAYOUT.view(&WIRE[..8], 11, &mut scratch);
        assert_eq!(block, &[1, 2, 0, 0, 0, 255, 255, 255, 127, 0, 255, 0]);
    }
}
