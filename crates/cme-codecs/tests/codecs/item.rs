//! A value in a form in which three readings can be compared: generated getters, the visitor,
//! and CME's own schema file.

use hairpin_sbe::{CharArray, Decimal, Float, MonthYear, Value, Visitor};

/// A value without its Rust type. Empty text and an all-null month-year are `Null`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Null,
    Integer(i128),
    Decimal(i128, i8),
    Text(Vec<u8>),
    MonthYear([Option<u16>; 4]),
}

/// Values in the order in which they were read.
#[derive(Default)]
pub(crate) struct Seen(pub(crate) Vec<Item>);

impl Seen {
    pub(crate) fn push(&mut self, value: impl Into<Item>) {
        self.0.push(value.into());
    }
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl From<$type> for Item {
            fn from(value: $type) -> Self {
                Self::Integer(value.into())
            }
        }
    )*};
}

integers!(u8, i8, u16, i16, u32, i32, u64, i64);

impl<T: Into<Item>> From<Option<T>> for Item {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<Float> for Item {
    fn from(value: Float) -> Self {
        Self::Decimal(value.mantissa.into(), value.exponent)
    }
}

impl<const EXPONENT: i8> From<Decimal<EXPONENT>> for Item {
    fn from(value: Decimal<EXPONENT>) -> Self {
        Self::Decimal(value.0.into(), EXPONENT)
    }
}

impl From<&[u8]> for Item {
    fn from(text: &[u8]) -> Self {
        if text.is_empty() { Self::Null } else { Self::Text(text.into()) }
    }
}

impl From<&str> for Item {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl From<CharArray<'_>> for Item {
    fn from(text: CharArray<'_>) -> Self {
        text.as_bytes().into()
    }
}

impl From<MonthYear> for Item {
    fn from(value: MonthYear) -> Self {
        let MonthYear { year, month, day, week } = value;
        let parts = [year, month.map(u16::from), day.map(u16::from), week.map(u16::from)];
        if parts == [None; 4] { Self::Null } else { Self::MonthYear(parts) }
    }
}

impl From<Value<'_>> for Item {
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

/// Everything visited: the field's name and its value.
#[derive(Default)]
pub(crate) struct Visited(pub(crate) Vec<(String, Item)>);

impl Visitor for Visited {
    fn field(&mut self, name: &str, value: Value<'_>) {
        self.0.push((name.to_owned(), value.into()));
    }
}
