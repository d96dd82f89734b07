//! A plan's fields and their values in a block.

use crate::number::{Number, NumberKind};
use crate::{Array, CharArray, Float, MonthYear, Named, Value};
use alloc::boxed::Box;

/// A step of a block.
#[derive(Clone, Debug)]
pub(super) enum Step<'x> {
    /// A value.
    Field(Field<'x>),
    /// The start of a composite of several values.
    Composite(&'x str),
    /// The end of a composite.
    EndComposite,
}

/// A value in a block.
#[derive(Clone, Debug)]
pub(super) struct Field<'x> {
    pub(super) name: &'x str,
    /// The offset in the block; undefined for a constant.
    pub(super) offset: u16,
    pub(super) since: u16,
    pub(super) kind: Simple,
}

/// The type of a single value.
#[derive(Clone, Debug)]
pub(super) struct Simple {
    pub(super) meaning: ValueKind,
    /// The size on the wire in bytes; 0 for a constant.
    pub(super) size: u16,
    pub(super) null: Option<Null>,
}

/// The null of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Null {
    /// The bits, zero-extended.
    pub(super) bits: u64,
    /// The character `'0'` is also null.
    pub(super) also_digit_zero: bool,
}

/// The interpretation of a value's bytes. Name tables are referred to by index.
#[derive(Clone, Debug)]
pub(super) enum ValueKind {
    Number(NumberKind),
    Text,
    Array(NumberKind),
    /// A mantissa, with a constant exponent.
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

/// The context for reading a value: message version, byte order and name tables.
#[derive(Clone, Copy)]
pub(super) struct ValueContext<'a, 'x> {
    pub(super) names: &'a [alloc::vec::Vec<Named<'x>>],
    pub(super) is_big_endian: bool,
    /// The schema version of the message.
    pub(super) version: u16,
}

impl Null {
    pub(super) const fn new(bits: u64) -> Self {
        Self { bits, also_digit_zero: false }
    }

    fn is(self, kind: NumberKind, bits: u64) -> bool {
        kind.is_null(bits, self.bits) || (self.also_digit_zero && bits == u64::from(b'0'))
    }
}

impl Simple {
    pub(super) const fn new(meaning: ValueKind, size: u16, null: Option<Null>) -> Self {
        Self { meaning, size, null }
    }

    /// Returns the type of the number whose null is the value's null, if any.
    pub(super) const fn carrier(&self) -> Option<NumberKind> {
        match self.meaning {
            ValueKind::Number(kind)
            | ValueKind::Array(kind)
            | ValueKind::Decimal(kind, _)
            | ValueKind::Enumeration(kind, _) => Some(kind),
            _ => None,
        }
    }

    pub(super) const fn is_constant(&self) -> bool {
        use ValueKind::{Constant, ConstantName, ConstantText};
        matches!(self.meaning, Constant(..) | ConstantName(..) | ConstantText(_))
    }
}

impl Field<'_> {
    /// Reads the value from a block. The value is null if it is newer than the message or
    /// truncated.
    pub(super) fn value<'a>(&'a self, wire: &'a [u8], context: ValueContext<'a, 'a>) -> Value<'a> {
        if self.since > context.version {
            return Value::Null;
        }
        let start = usize::from(self.offset);
        let bytes = match wire.get(start..start + usize::from(self.kind.size)) {
            Some(bytes) => bytes,
            None if self.kind.is_constant() => &[],
            None => return Value::Null,
        };
        self.kind.value(bytes, context)
    }
}

impl Simple {
    fn value<'a>(&'a self, bytes: &'a [u8], context: ValueContext<'a, 'a>) -> Value<'a> {
        let number = |kind| Number { kind, is_big_endian: context.is_big_endian };
        let bits = |kind| number(kind).bits(bytes);
        let names = |table: usize| context.names.get(table).map_or(&[][..], |names| names);
        if let Some(kind) = self.carrier()
            && !matches!(self.meaning, ValueKind::Array(_))
            && self.null.is_some_and(|null| null.is(kind, bits(kind)))
        {
            return Value::Null;
        }
        match &self.meaning {
            ValueKind::Number(kind) => kind.value(bits(*kind)),
            ValueKind::Text => Value::Text(CharArray::new(bytes)),
            ValueKind::Array(kind) => {
                let null = self.null.map(|null| null.bits);
                Value::Array(Array { bytes, number: number(*kind), null })
            }
            ValueKind::Decimal(kind, exponent) => {
                let mantissa = kind.signed(bits(*kind));
                Value::Number(Float { mantissa, exponent: *exponent })
            }
            ValueKind::Float(layout) => self.float(layout, bytes, number(layout.mantissa)),
            ValueKind::MonthYear(offsets) => month_year(*offsets, bytes, context.is_big_endian),
            ValueKind::Enumeration(kind, table) => enumeration(*kind, bits(*kind), names(*table)),
            ValueKind::Set(kind, table) => Value::Set { bits: bits(*kind), choices: names(*table) },
            ValueKind::Constant(kind, value) => kind.value(*value),
            ValueKind::ConstantText(text) => Value::Text(CharArray::new(text)),
            ValueKind::ConstantName(kind, table, value) => {
                enumeration(*kind, *value, names(*table))
            }
        }
    }

    fn float(&self, layout: &FloatLayout, bytes: &[u8], mantissa: Number) -> Value<'static> {
        let exponent = Number { kind: NumberKind::Signed(1), ..mantissa };
        let tail = bytes.get(usize::from(layout.exponent_offset)..).unwrap_or_default();
        let (mantissa_bits, exponent_bits) = (mantissa.bits(bytes), exponent.bits(tail));
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

/// Reads a month-year. Each part is null if all its bits are set.
fn month_year(offsets: [u16; 4], bytes: &[u8], is_big_endian: bool) -> Value<'static> {
    let [year, month, day, week] = offsets.map(|at| bytes.get(usize::from(at)..).unwrap_or(&[]));
    let year = Number { kind: NumberKind::Unsigned(2), is_big_endian }.bits(year) as u16;
    let part = |bytes: &[u8]| bytes.first().copied().filter(|part| *part != u8::MAX);
    let year = (year != u16::MAX).then_some(year);
    let value = MonthYear { year, month: part(month), day: part(day), week: part(week) };
    if value == MonthYear::NULL { Value::Null } else { Value::MonthYear(value) }
}
