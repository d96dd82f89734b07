//! A common value type to compare three readings: generated getters, the visitor, and CME's schema
//! file.

use hairpin_sbe::{CharArray, Decimal, Float, MonthYear, Value, Visitor};

/// A value without its Rust type. Empty text and an entirely null month-year are `Null`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlainValue {
    /// No value.
    Null,
    /// An integer, a character, or the bits of an enumeration or a set.
    Integer(i128),
    /// A mantissa and an exponent.
    Decimal(i128, i8),
    /// Text or data.
    Text(Vec<u8>),
    /// Year, month, day and week.
    MonthYear([Option<u16>; 4]),
}

/// The values in the order of reading.
#[derive(Default)]
pub struct ValueLog(pub Vec<PlainValue>);

impl ValueLog {
    /// Appends a value.
    pub fn push(&mut self, value: impl Into<PlainValue>) {
        self.0.push(value.into());
    }
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl From<$type> for PlainValue {
            fn from(value: $type) -> Self {
                Self::Integer(value.into())
            }
        }
    )*};
}

integers!(u8, i8, u16, i16, u32, i32, u64, i64);

impl<T: Into<PlainValue>> From<Option<T>> for PlainValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<Float> for PlainValue {
    fn from(value: Float) -> Self {
        Self::Decimal(value.mantissa.into(), value.exponent)
    }
}

impl<const EXPONENT: i8> From<Decimal<EXPONENT>> for PlainValue {
    fn from(value: Decimal<EXPONENT>) -> Self {
        Self::Decimal(value.0.into(), EXPONENT)
    }
}

impl From<&[u8]> for PlainValue {
    fn from(text: &[u8]) -> Self {
        if text.is_empty() { Self::Null } else { Self::Text(text.into()) }
    }
}

impl From<&str> for PlainValue {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl From<CharArray<'_>> for PlainValue {
    fn from(text: CharArray<'_>) -> Self {
        text.as_bytes().into()
    }
}

impl From<MonthYear> for PlainValue {
    fn from(value: MonthYear) -> Self {
        let MonthYear { year, month, day, week } = value;
        let parts = [year, month.map(u16::from), day.map(u16::from), week.map(u16::from)];
        if parts == [None; 4] { Self::Null } else { Self::MonthYear(parts) }
    }
}

impl From<Value<'_>> for PlainValue {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Signed(value) => value.into(),
            Value::Unsigned(value) => value.into(),
            Value::Character(value) => value.into(),
            Value::Text(text) => text.into(),
            Value::Number(number) => number.into(),
            Value::MonthYear(value) => value.into(),
            Value::Enumeration { value, .. } => value.into(),
            Value::Set { bits, .. } => bits.into(),
            Value::Data(bytes) => bytes.into(),
            other => panic!("{other:?}"),
        }
    }
}

/// The visited field names and values.
#[derive(Default)]
pub struct VisitLog(pub Vec<(String, PlainValue)>);

impl Visitor for VisitLog {
    fn field(&mut self, name: &str, value: Value<'_>) {
        self.0.push((name.to_owned(), value.into()));
    }
}
