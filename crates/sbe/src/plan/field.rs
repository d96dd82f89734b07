//! A field as the plan has it, and its value in a block.

use crate::number::{Number, NumberKind};
use crate::{Array, CharArray, Float, MonthYear, Named, Value};
use alloc::boxed::Box;

/// What comes next in a block.
#[derive(Clone, Debug)]
pub(super) enum Step<'x> {
    /// A value.
    Field(Field<'x>),
    /// A composite begins, of several values.
    Composite(&'x str),
    /// It ends.
    EndComposite,
}

/// One value in a block.
#[derive(Clone, Debug)]
pub(super) struct Field<'x> {
    pub(super) name: &'x str,
    /// First byte in the block; of a constant it means nothing.
    pub(super) offset: u16,
    pub(super) since: u16,
    pub(super) kind: Simple,
}

/// The type of one value.
#[derive(Clone, Debug)]
pub(super) struct Simple {
    pub(super) meaning: Meaning,
    /// Bytes on the wire, 0 of a constant.
    pub(super) size: u16,
    pub(super) null: Option<Null>,
}

/// What a number is when it is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Null {
    /// The bits, zero-extended.
    pub(super) bits: u64,
    /// The character `'0'` means the same.
    pub(super) is_digit_too: bool,
}

/// What the bytes of a value mean. Tables of names are numbered.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    Number(NumberKind),
    Text,
    Array(NumberKind),
    /// A mantissa; the exponent is the schema's.
    Decimal(NumberKind, i8),
    Float(FloatLayout),
    /// The offsets of year, month, day and week.
    MonthYear([u16; 4]),
    Enumeration(NumberKind, usize),
    Set(NumberKind, usize),
    /// A constant number.
    Constant(NumberKind, u64),
    ConstantText(Box<[u8]>),
    /// A constant value of an enumeration.
    ConstantName(NumberKind, usize, u64),
}

/// A mantissa at offset 0, and an `i8` exponent.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloatLayout {
    pub(super) mantissa: NumberKind,
    pub(super) exponent_offset: u16,
    pub(super) null_exponent: Option<u64>,
}

/// What a value is read with besides its own bytes.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a, 'x> {
    pub(super) names: &'a [alloc::vec::Vec<Named<'x>>],
    pub(super) is_big_endian: bool,
    /// The version of the wire.
    pub(super) version: u16,
}

impl Null {
    pub(super) const fn new(bits: u64) -> Self {
        Self { bits, is_digit_too: false }
    }

    fn is(self, kind: NumberKind, bits: u64) -> bool {
        kind.is_null(bits, self.bits) || (self.is_digit_too && bits == u64::from(b'0'))
    }
}

impl Simple {
    pub(super) const fn new(meaning: Meaning, size: u16, null: Option<Null>) -> Self {
        Self { meaning, size, null }
    }

    /// The number whose null is the value's null, if there is such a number.
    pub(super) const fn carrier(&self) -> Option<NumberKind> {
        match self.meaning {
            Meaning::Number(kind)
            | Meaning::Array(kind)
            | Meaning::Decimal(kind, _)
            | Meaning::Enumeration(kind, _) => Some(kind),
            _ => None,
        }
    }

    pub(super) const fn is_constant(&self) -> bool {
        use Meaning::{Constant, ConstantName, ConstantText};
        matches!(self.meaning, Constant(..) | ConstantName(..) | ConstantText(_))
    }
}

impl Field<'_> {
    /// The value in a block of the wire: null if it is newer than the wire or not wholly there.
    pub(super) fn value<'a>(&'a self, wire: &'a [u8], around: Surroundings<'a, 'a>) -> Value<'a> {
        if self.since > around.version {
            return Value::Null;
        }
        let start = usize::from(self.offset);
        let bytes = match wire.get(start..start + usize::from(self.kind.size)) {
            Some(bytes) => bytes,
            None if self.kind.is_constant() => &[],
            None => return Value::Null,
        };
        self.kind.value(bytes, around)
    }
}

impl Simple {
    fn value<'a>(&'a self, bytes: &'a [u8], around: Surroundings<'a, 'a>) -> Value<'a> {
        let number = |kind| Number { kind, is_big_endian: around.is_big_endian };
        let bits = |kind| number(kind).bits(bytes);
        let names = |table: usize| around.names.get(table).map_or(&[][..], |names| names);
        if let Some(kind) = self.carrier()
            && !matches!(self.meaning, Meaning::Array(_))
            && self.null.is_some_and(|null| null.is(kind, bits(kind)))
        {
            return Value::Null;
        }
        match &self.meaning {
            Meaning::Number(kind) => kind.value(bits(*kind)),
            Meaning::Text => Value::Text(CharArray::new(bytes)),
            Meaning::Array(kind) => {
                let null = self.null.map(|null| null.bits);
                Value::Array(Array { bytes, number: number(*kind), null })
            }
            Meaning::Decimal(kind, exponent) => {
                let mantissa = kind.signed(bits(*kind));
                Value::Number(Float { mantissa, exponent: *exponent })
            }
            Meaning::Float(layout) => self.float(layout, bytes, number(layout.mantissa)),
            Meaning::MonthYear(offsets) => month_year(*offsets, bytes, around.is_big_endian),
            Meaning::Enumeration(kind, table) => enumeration(*kind, bits(*kind), names(*table)),
            Meaning::Set(kind, table) => Value::Set { bits: bits(*kind), choices: names(*table) },
            Meaning::Constant(kind, value) => kind.value(*value),
            Meaning::ConstantText(text) => Value::Text(CharArray::new(text)),
            Meaning::ConstantName(kind, table, value) => enumeration(*kind, *value, names(*table)),
        }
    }

    fn float(&self, layout: &FloatLayout, bytes: &[u8], mantissa: Number) -> Value<'static> {
        let exponent = Number { kind: NumberKind::Signed(1), ..mantissa };
        let behind = bytes.get(usize::from(layout.exponent_offset)..).unwrap_or_default();
        let (mantissa_bits, exponent_bits) = (mantissa.bits(bytes), exponent.bits(behind));
        let is_null = self.null.is_some_and(|null| null.is(mantissa.kind, mantissa_bits))
            || layout.null_exponent == Some(exponent_bits);
        if is_null {
            return Value::Null;
        }
        Value::Number(Float {
            mantissa: mantissa.kind.signed(mantissa_bits),
            exponent: exponent.kind.signed(exponent_bits) as i8,
        })
    }
}

fn enumeration<'a>(kind: NumberKind, value: u64, names: &'a [Named<'a>]) -> Value<'a> {
    let character = kind == NumberKind::Character;
    Value::Enumeration { name: Named::find(names, value), value, character }
}

/// Each part is null on its own when all its bits are set.
fn month_year(offsets: [u16; 4], bytes: &[u8], is_big_endian: bool) -> Value<'static> {
    let [year, month, day, week] = offsets.map(|at| bytes.get(usize::from(at)..).unwrap_or(&[]));
    let year = Number { kind: NumberKind::Unsigned(2), is_big_endian }.bits(year) as u16;
    let part = |bytes: &[u8]| bytes.first().copied().filter(|part| *part != u8::MAX);
    let year = (year != u16::MAX).then_some(year);
    let value = MonthYear { year, month: part(month), day: part(day), week: part(week) };
    if value == MonthYear::NULL { Value::Null } else { Value::MonthYear(value) }
}
