//! Layouts as data: what the rare paths (older blocks, printing, tests) read instead of code.

use crate::Scalar;

/// How an integer or character stands on the wire, little-endian.
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
    /// Bytes on the wire.
    pub const fn size(self) -> u16 {
        match self {
            Self::Char | Self::Int8 | Self::Uint8 => 1,
            Self::Int16 | Self::Uint16 => 2,
            Self::Int32 | Self::Uint32 => 4,
            Self::Int64 | Self::Uint64 => 8,
        }
    }

    /// The null that a field gets which the schema calls required, but which is newer than its
    /// message: all such messages of older senders lack it. The greatest value, as in every null
    /// of CME's; 0x00 for a character.
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

    /// The bits at the start of `bytes`, sign-extended; zero where bytes are missing.
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
    /// The value; of a set's choice the number of its bit.
    pub value: u64,
    /// The schema version that brought it, 0 for the first.
    pub since: u16,
}

impl<'a> Named<'a> {
    /// A row of a table of names.
    pub const fn new(name: &'a str, value: u64, since: u16) -> Self {
        Self { name, value, since }
    }

    /// The name of `value` among `names`, if it has one.
    pub fn find(names: &[Self], value: u64) -> Option<&'a str> {
        names.iter().find(|named| named.value == value).map(|named| named.name)
    }
}

/// What the bytes of a field mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// An integer, or one character.
    Scalar(Primitive),
    /// Characters, padded with NUL.
    Text,
    /// A mantissa, and an exponent that is a constant of the schema.
    Decimal(Primitive, i8),
    /// A mantissa and behind it an `i8` exponent.
    Float(Primitive),
    /// Year, month, day and week in five bytes.
    MonthYear,
    /// One of the named values, or another.
    Enumeration(Primitive, &'static [Named<'static>]),
    /// Bits, named and others.
    Set(Primitive, &'static [Named<'static>]),
}

/// Whether a field can be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Always there.
    Required,
    /// Absent when it equals the type's null.
    Optional,
    /// Not on the wire: the schema has the value.
    Constant,
}

/// A type of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// CME's name.
    pub name: &'static str,
    /// What the bytes mean.
    pub encoding: Encoding,
    /// Whether it can be absent.
    pub presence: Presence,
    /// Bytes on the wire, 0 for a constant.
    pub size: u16,
    /// The null of an optional type or the value of a constant, as bytes of the wire; else empty.
    pub value: &'static [u8],
}

impl Type {
    /// The integer that carries the value, if it is carried by a single one.
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
    /// FIX tag.
    pub tag: u16,
    /// First byte, counted from the start of its block; 0 for a constant.
    pub offset: u16,
    /// The schema version that brought it, 0 for the first.
    pub since: u16,
    /// Its type.
    pub kind: &'static Type,
}

impl Field {
    /// A row of a layout table.
    pub const fn new(
        name: &'static str,
        tag: u16,
        offset: u16,
        since: u16,
        kind: &'static Type,
    ) -> Self {
        Self { name, tag, offset, since, kind }
    }

    /// The bytes that mean absent in a block that came with version `block_since`; empty if the
    /// field is never absent or is text, which is all zeros then.
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

    /// The field's bytes in a block of the wire, if it is all there and not newer than `version`.
    pub fn bytes<'a>(&self, wire: &'a [u8], version: u16) -> Option<&'a [u8]> {
        let start = usize::from(self.offset);
        let end = start + usize::from(self.kind.size);
        if self.since <= version { wire.get(start..end) } else { None }
    }
}

/// A root block or the block of a group's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLayout {
    /// Bytes in the compiled version, padding included.
    pub length: u16,
    /// The schema version that brought the message.
    pub since: u16,
    /// The version that brought the newest field: a block at least that new and long is read as
    /// it is.
    pub newest: u16,
    /// Its fields in the schema's order, constants included.
    pub fields: &'static [Field],
}

impl BlockLayout {
    /// The layout of `length` bytes with `fields`, in a message that came with version `since`.
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

    /// A block with every field null, fields that cannot be null zero, padding zero.
    ///
    /// # Panics
    /// If `N` is not the layout's length or a field lies outside; generated code evaluates it when
    /// compiling.
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

    /// The wire's block as a compiled one: the bytes themselves if they are new and long enough,
    /// else a copy in `scratch` where all that is missing is null.
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

    /// Copies what the wire has over a null block. Padding stays zero: a later version may have
    /// made a field of it, and what an older sender left there is not that field.
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

/// How a group says how long and how many its entries are: a `u16` block length and a counter, at
/// any place in a header of any length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// CME's name.
    pub name: &'static str,
    /// Bytes of the header.
    pub length: u16,
    /// First byte of the block length.
    pub block_length_offset: u16,
    /// First byte of the counter.
    pub count_offset: u16,
    /// Bytes of the counter, 1 or 2.
    pub count_size: u16,
}

impl Dimension {
    /// Splits off the header: block length, count, and what follows.
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

    /// The greatest count.
    #[inline]
    pub(crate) const fn limit(&self) -> u16 {
        if self.count_size == 1 { u8::MAX as u16 } else { u16::MAX }
    }

    /// Writes only the counter of a header.
    #[inline]
    pub(crate) fn write_count(&self, head: &mut [u8], count: u16) {
        let start = usize::from(self.count_offset);
        if let Some(to) = head.get_mut(start..start + usize::from(self.count_size)) {
            to.copy_from_slice(&count.to_le_bytes()[..to.len()]);
        }
    }

    /// Writes a whole header without entries, its padding zero.
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
    /// FIX tag of its counter.
    pub tag: u16,
    /// The schema version that brought it; an older message ends before it.
    pub since: u16,
    /// Its header.
    pub dimension: Dimension,
    /// Its entries.
    pub block: BlockLayout,
}

impl GroupLayout {
    /// A row of a layout table.
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

/// Variable-length data: a `u16` length, then the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataLayout {
    /// CME's name.
    pub name: &'static str,
    /// FIX tag.
    pub tag: u16,
    /// The schema version that brought it.
    pub since: u16,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// CME's name.
    pub name: &'static str,
    /// Template id.
    pub template_id: u16,
    /// Schema id.
    pub schema_id: u16,
    /// Version of the schema that the codec was made from.
    pub version: u16,
    /// FIX message type, by name or letter.
    pub semantic_type: &'static str,
    /// The root block.
    pub block: BlockLayout,
    /// The groups behind it.
    pub groups: &'static [GroupLayout],
    /// The data behind those.
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
    fn a_new_and_long_block_is_read_where_it_lies() {
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
    fn a_field_cut_by_the_blocks_end_is_null() {
        let mut scratch = [0xcc; 12];
        let block = LAYOUT.view(&WIRE[..8], 11, &mut scratch);
        assert_eq!(block, &[1, 2, 0, 0, 0, 255, 255, 255, 127, 0, 255, 0]);
    }
}
