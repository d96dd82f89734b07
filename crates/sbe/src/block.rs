//! Loads and stores in a block whose size is known at compile time.

use crate::{CharArray, Decimal, Float, MonthYear};

/// An integer in little-endian wire format.
pub trait Scalar: Copy + PartialEq {
    /// The size in bytes.
    const SIZE: usize;

    /// Reads the integer from `bytes`.
    ///
    /// # Panics
    /// Panics if `bytes` is not [`SIZE`](Scalar::SIZE) long.
    fn read(bytes: &[u8]) -> Self;

    /// Writes the integer to `bytes`.
    ///
    /// # Panics
    /// Panics if `bytes` is not [`SIZE`](Scalar::SIZE) long.
    fn write(self, bytes: &mut [u8]);
}

macro_rules! scalar {
    ($($type:ty),*) => {$(
        impl Scalar for $type {
            const SIZE: usize = size_of::<$type>();

            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                let mut raw = [0; size_of::<$type>()];
                raw.copy_from_slice(bytes);
                Self::from_le_bytes(raw)
            }

            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

scalar!(u8, i8, u16, i16, u32, i32, u64, i64);

/// The block of a message or group entry: a byte array with fields at constant offsets.
///
/// Offsets are checked at compile time, so a load is one instruction and cannot panic.
pub trait Block {
    /// Reads the integer at `OFFSET`.
    fn load<T: Scalar, const OFFSET: usize>(&self) -> T;

    /// Writes the integer at `OFFSET`.
    fn store<T: Scalar, const OFFSET: usize>(&mut self, value: T);

    /// Reads the integer at `OFFSET`. Returns `None` if it equals `null`.
    #[inline(always)]
    fn nullable<T: Scalar, const OFFSET: usize>(&self, null: T) -> Option<T> {
        let value = self.load::<T, OFFSET>();
        (value != null).then_some(value)
    }

    /// Reads the character at `OFFSET`. Returns `None` if it is null.
    ///
    /// Null is 0x00 and also 0x30 (`'0'`), because some senders interpret CME's `nullValue="0"` as
    /// text.
    #[inline(always)]
    fn nullable_char<const OFFSET: usize>(&self) -> Option<u8> {
        let value = self.load::<u8, OFFSET>();
        (value != 0 && value != b'0').then_some(value)
    }

    /// Returns the `LENGTH` characters at `OFFSET`.
    fn chars<const OFFSET: usize, const LENGTH: usize>(&self) -> CharArray<'_>;

    /// Writes `text` at `OFFSET`, padded with NULs to `LENGTH`. A longer text is a caller error: a
    /// debug build panics, a release build truncates the text.
    fn store_chars<const OFFSET: usize, const LENGTH: usize>(&mut self, text: &[u8]);

    /// Reads the decimal with an `i32` mantissa at `OFFSET`. `i32::MAX` is null.
    #[inline(always)]
    fn decimal32<const EXPONENT: i8, const OFFSET: usize>(&self) -> Option<Decimal<EXPONENT>> {
        self.nullable::<i32, OFFSET>(i32::MAX).map(|mantissa| Decimal(mantissa.into()))
    }

    /// Writes a decimal with an `i32` mantissa. A mantissa beyond `i32` is a caller error: a debug
    /// build panics, a release build writes null.
    #[inline(always)]
    fn store_decimal32<const EXPONENT: i8, const OFFSET: usize>(
        &mut self,
        value: Option<Decimal<EXPONENT>>,
    ) {
        let mantissa = value.map_or(Ok(i32::MAX), |value| i32::try_from(value.0));
        debug_assert!(mantissa.is_ok(), "mantissa beyond 32 bits");
        self.store::<i32, OFFSET>(mantissa.unwrap_or(i32::MAX));
    }

    /// Reads the number with an `i32` mantissa at `OFFSET` and an `i8` exponent at `EXPONENT`.
    /// Returns `None` if either is null.
    #[inline(always)]
    fn float32<const OFFSET: usize, const EXPONENT: usize>(&self) -> Option<Float> {
        let mantissa = self.nullable::<i32, OFFSET>(i32::MAX)?.into();
        Some(Float { mantissa, exponent: self.nullable::<i8, EXPONENT>(i8::MAX)? })
    }

    /// Reads the number with an `i64` mantissa at `OFFSET` and an `i8` exponent at `EXPONENT`.
    /// Returns `None` if either is null.
    #[inline(always)]
    fn float64<const OFFSET: usize, const EXPONENT: usize>(&self) -> Option<Float> {
        let mantissa = self.nullable::<i64, OFFSET>(i64::MAX)?;
        Some(Float { mantissa, exponent: self.nullable::<i8, EXPONENT>(i8::MAX)? })
    }

    /// Writes a number with an `i32` mantissa. A mantissa beyond `i32` is a caller error: a debug
    /// build panics, a release build writes null.
    #[inline(always)]
    fn store_float32<const OFFSET: usize, const EXPONENT: usize>(&mut self, value: Option<Float>) {
        let Float { mantissa, exponent } = value.unwrap_or(Float::NULL32);
        let narrow = i32::try_from(mantissa);
        debug_assert!(narrow.is_ok(), "mantissa beyond 32 bits");
        self.store::<i32, OFFSET>(narrow.unwrap_or(i32::MAX));
        self.store::<i8, EXPONENT>(exponent);
    }

    /// Writes a number with an `i64` mantissa.
    #[inline(always)]
    fn store_float64<const OFFSET: usize, const EXPONENT: usize>(&mut self, value: Option<Float>) {
        let Float { mantissa, exponent } = value.unwrap_or(Float::NULL64);
        self.store::<i64, OFFSET>(mantissa);
        self.store::<i8, EXPONENT>(exponent);
    }

    /// Reads the year, month, day and week in the five bytes at `OFFSET`.
    fn month_year<const OFFSET: usize>(&self) -> MonthYear;

    /// Writes a year, month, day and week.
    fn store_month_year<const OFFSET: usize>(&mut self, value: MonthYear);
}

impl<const N: usize> Block for [u8; N] {
    #[inline(always)]
    fn load<T: Scalar, const OFFSET: usize>(&self) -> T {
        const { assert!(OFFSET + T::SIZE <= N, "field ends beyond its block") };
        T::read(&self[OFFSET..OFFSET + T::SIZE])
    }

    #[inline(always)]
    fn store<T: Scalar, const OFFSET: usize>(&mut self, value: T) {
        const { assert!(OFFSET + T::SIZE <= N, "field ends beyond its block") };
        value.write(&mut self[OFFSET..OFFSET + T::SIZE]);
    }

    #[inline(always)]
    fn chars<const OFFSET: usize, const LENGTH: usize>(&self) -> CharArray<'_> {
        const { assert!(OFFSET + LENGTH <= N, "field ends beyond its block") };
        CharArray::new(&self[OFFSET..OFFSET + LENGTH])
    }

    #[inline(always)]
    fn store_chars<const OFFSET: usize, const LENGTH: usize>(&mut self, text: &[u8]) {
        const { assert!(OFFSET + LENGTH <= N, "field ends beyond its block") };
        debug_assert!(text.len() <= LENGTH, "text longer than its field");
        let length = text.len().min(LENGTH);
        let (head, padding) = self[OFFSET..OFFSET + LENGTH].split_at_mut(length);
        head.copy_from_slice(&text[..length]);
        padding.fill(0);
    }

    #[inline(always)]
    fn month_year<const OFFSET: usize>(&self) -> MonthYear {
        const { assert!(OFFSET + MonthYear::SIZE <= N, "field ends beyond its block") };
        MonthYear::read(&self[OFFSET..OFFSET + MonthYear::SIZE])
    }

    #[inline(always)]
    fn store_month_year<const OFFSET: usize>(&mut self, value: MonthYear) {
        const { assert!(OFFSET + MonthYear::SIZE <= N, "field ends beyond its block") };
        value.write(&mut self[OFFSET..OFFSET + MonthYear::SIZE]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_little_endian_at_its_offset() {
        let block = [0, 0x34, 0x12, 0xff, 0xff, 0xff, 0x7f];
        assert_eq!(block.load::<u16, 1>(), 0x1234);
        assert_eq!(block.nullable::<i32, 3>(i32::MAX), None);
        assert_eq!(block.nullable::<i32, 3>(0), Some(i32::MAX));
    }

    #[test]
    fn null_char_is_0x00_or_digit_zero() {
        let block = [0x00, 0x30, b'K'];
        assert_eq!(block.nullable_char::<0>(), None);
        assert_eq!(block.nullable_char::<1>(), None);
        assert_eq!(block.nullable_char::<2>(), Some(b'K'));
    }

    #[test]
    fn text_is_padded_with_nul() {
        let mut block = [0xee; 6];
        block.store_chars::<1, 4>(b"ES");
        assert_eq!(block, [0xee, b'E', b'S', 0, 0, 0xee]);
        assert_eq!(block.chars::<1, 4>(), "ES");
    }

    #[test]
    fn floats_are_null_if_either_part_is() {
        let mut block = [0; 9];
        block.store_float64::<0, 8>(Some(Float { mantissa: -5, exponent: 2 }));
        assert_eq!(block.float64::<0, 8>(), Some(Float { mantissa: -5, exponent: 2 }));
        block.store::<i8, 8>(127);
        assert_eq!(block.float64::<0, 8>(), None);
        block.store_float64::<0, 8>(None);
        assert_eq!(block, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x7f]);
    }
}
