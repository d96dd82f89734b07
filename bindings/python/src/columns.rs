//! Columns of records, in the layout of DBN version 3, and their buffers.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The values of a column.
pub(crate) enum Values {
    /// One ASCII letter per row.
    Letter(Vec<u8>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    I32(Vec<i32>),
    U64(Vec<u64>),
    I64(Vec<i64>),
    /// Text of at most [`TEXT`] bytes, followed by zeros.
    Text(Vec<[u8; TEXT]>),
}

/// The bytes of a text, as the longest of the definitions has.
pub(crate) const TEXT: usize = 20;

/// Implements a conversion per type of value.
macro_rules! values_from {
    ($($type:ty => $variant:ident),*) => {$(
        impl From<Vec<$type>> for Values {
            fn from(values: Vec<$type>) -> Self {
                Self::$variant(values)
            }
        }
    )*};
}

values_from!(u8 => U8, u16 => U16, u32 => U32, i32 => I32, u64 => U64, i64 => I64);
values_from!([u8; TEXT] => Text);

/// One ASCII letter.
#[derive(Clone, Copy)]
pub(crate) struct Letter(pub(crate) u8);

impl From<Vec<Letter>> for Values {
    fn from(letters: Vec<Letter>) -> Self {
        Self::Letter(letters.into_iter().map(|letter| letter.0).collect())
    }
}

impl Values {
    /// Returns `true` without rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.layout().1 == 0
    }

    /// Returns the first byte, the number of rows, the size of a value, and its format in the
    /// `struct` module.
    fn layout(&self) -> (*const c_void, usize, usize, &'static std::ffi::CStr) {
        match self {
            Self::Letter(it) => (it.as_ptr().cast(), it.len(), 1, c"c"),
            Self::U8(it) => (it.as_ptr().cast(), it.len(), 1, c"B"),
            Self::U16(it) => (it.as_ptr().cast(), it.len(), 2, c"H"),
            Self::U32(it) => (it.as_ptr().cast(), it.len(), 4, c"I"),
            Self::I32(it) => (it.as_ptr().cast(), it.len(), 4, c"i"),
            Self::U64(it) => (it.as_ptr().cast(), it.len(), 8, c"Q"),
            Self::I64(it) => (it.as_ptr().cast(), it.len(), 8, c"q"),
            Self::Text(it) => (it.as_ptr().cast(), it.len(), TEXT, c"20s"),
        }
    }
}

/// A column: a read-only buffer.
#[pyclass(frozen, module = "hairpin._native")]
pub(crate) struct Column {
    values: Values,
    /// The shape and the strides that buffers refer to.
    shape: [ffi::Py_ssize_t; 1],
    strides: [ffi::Py_ssize_t; 1],
}

impl From<Values> for Column {
    fn from(values: Values) -> Self {
        let (_, rows, size, _) = values.layout();
        // A `Vec` has at most `isize::MAX` bytes.
        Self { values, shape: [rows as ffi::Py_ssize_t], strides: [size as ffi::Py_ssize_t] }
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.values.layout().1
    }

    /// Fills a view of the values, which do not change and do not move.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("the view is NULL"));
        }
        let column = slf.get();
        let (first, rows, size, format) = column.values.layout();
        let has = |flag| flags & flag == flag;
        if has(ffi::PyBUF_WRITABLE) {
            // SAFETY: the interpreter passes a valid view.
            unsafe { (*view).obj = null_mut() };
            return Err(PyBufferError::new_err("a column is read-only"));
        }
        let shape = column.shape.as_ptr().cast_mut();
        let strides = column.strides.as_ptr().cast_mut();
        let format = format.as_ptr().cast_mut();
        let filled = ffi::Py_buffer {
            buf: first.cast_mut(),
            len: (rows * size) as ffi::Py_ssize_t,
            readonly: 1,
            itemsize: size as ffi::Py_ssize_t,
            format: if has(ffi::PyBUF_FORMAT) { format } else { null_mut() },
            ndim: 1,
            shape: if has(ffi::PyBUF_ND) { shape } else { null_mut() },
            strides: if has(ffi::PyBUF_STRIDES) { strides } else { null_mut() },
            suboffsets: null_mut(),
            internal: null_mut(),
            // The view owns a reference to the column, so that its values stay.
            obj: slf.clone().into_any().into_ptr(),
        };
        // SAFETY: the interpreter passes a valid view.
        unsafe { view.write(filled) };
        Ok(())
    }
}

/// A table of columns that grows by rows.
pub(crate) trait Table {
    /// Returns the number of rows.
    fn rows(&self) -> usize;

    /// Removes the first rows, and returns them as columns with their names.
    fn take(&mut self, rows: usize) -> Vec<(&'static str, Values)>;
}

/// Removes and returns the first values.
fn take<T>(values: &mut Vec<T>, count: usize) -> Vec<T> {
    let rest = values.split_off(count.min(values.len()));
    std::mem::replace(values, rest)
}

/// Defines a table of columns, one vector each, and its rows.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident of $row:ident { $($field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Default)]
        pub(crate) struct $name {
            $($field: Vec<$type>,)*
        }

        /// A row of the table.
        pub(crate) struct $row {
            $(pub(crate) $field: $type,)*
        }

        impl $name {
            #[inline]
            pub(crate) fn push(&mut self, row: $row) {
                $(self.$field.push(row.$field);)*
            }
        }

        impl Table for $name {
            fn rows(&self) -> usize {
                self.ts_recv.len()
            }

            fn take(&mut self, rows: usize) -> Vec<(&'static str, Values)> {
                vec![$((stringify!($field), take(&mut self.$field, rows).into()),)*]
            }
        }
    };
}

table! {
    /// Trades: DBN's schema `trades`. Other schemas of prices begin with the same columns.
    Trades of TradesRow {
        ts_recv: u64,
        ts_event: u64,
        rtype: u8,
        publisher_id: u16,
        instrument_id: u32,
        action: Letter,
        side: Letter,
        depth: u8,
        price: i64,
        size: u32,
        flags: u8,
        ts_in_delta: i32,
        sequence: u32,
    }
}

table! {
    /// Definitions: a part of DBN's schema `definition`.
    Definitions of DefinitionRow {
        ts_recv: u64,
        ts_event: u64,
        rtype: u8,
        publisher_id: u16,
        instrument_id: u32,
        security_update_action: Letter,
        raw_symbol: [u8; TEXT],
        group: [u8; TEXT],
        asset: [u8; TEXT],
        exchange: [u8; TEXT],
        security_type: [u8; TEXT],
        cfi: [u8; TEXT],
        currency: [u8; TEXT],
        market_segment_id: u32,
        min_price_increment: i64,
        display_factor: i64,
        activation: u64,
        expiration: u64,
        high_limit_price: i64,
        low_limit_price: i64,
        max_price_variation: i64,
        trading_reference_price: i64,
        unit_of_measure_qty: i64,
        market_depth: i32,
        min_trade_vol: u32,
        max_trade_vol: u32,
        maturity_year: u16,
        maturity_month: u8,
    }
}

/// A price level of a side: price, quantity, number of orders.
pub(crate) type Side = (i64, u32, u32);

/// The columns of a level on both sides.
#[derive(Default)]
struct LevelColumns {
    prices: [Vec<i64>; 2],
    sizes: [Vec<u32>; 2],
    counts: [Vec<u32>; 2],
}

/// Price levels: DBN's schemas `mbp-1` and `mbp-10`.
pub(crate) struct Mbp {
    head: Trades,
    levels: Vec<LevelColumns>,
}

/// The names of a level's columns, in DBN's order.
macro_rules! level_names {
    ($($level:literal)*) => {
        [$([
            concat!("bid_px_", $level), concat!("ask_px_", $level), concat!("bid_sz_", $level),
            concat!("ask_sz_", $level), concat!("bid_ct_", $level), concat!("ask_ct_", $level),
        ]),*]
    };
}

const LEVEL_NAMES: [[&str; 6]; 10] =
    level_names!("00" "01" "02" "03" "04" "05" "06" "07" "08" "09");

impl Mbp {
    /// Returns a table of books of so many levels, 1 to 10.
    pub(crate) fn new(levels: usize) -> Self {
        let levels = (0..levels).map(|_| LevelColumns::default()).collect();
        Self { head: Trades::default(), levels }
    }

    /// Returns the number of levels.
    pub(crate) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Adds a row; `levels` returns bid and ask of a level, counted from 0.
    #[inline]
    pub(crate) fn push(&mut self, head: TradesRow, levels: impl Fn(usize) -> [Side; 2]) {
        self.head.push(head);
        for (number, columns) in self.levels.iter_mut().enumerate() {
            for (side, (price, size, count)) in levels(number).into_iter().enumerate() {
                columns.prices[side].push(price);
                columns.sizes[side].push(size);
                columns.counts[side].push(count);
            }
        }
    }
}

impl Table for Mbp {
    fn rows(&self) -> usize {
        self.head.rows()
    }

    fn take(&mut self, rows: usize) -> Vec<(&'static str, Values)> {
        let mut columns = self.head.take(rows);
        for (names, LevelColumns { prices, sizes, counts }) in
            LEVEL_NAMES.iter().zip(&mut self.levels)
        {
            let values = prices.iter_mut().map(|it| take(it, rows).into());
            let values = values.chain(sizes.iter_mut().map(|it| take(it, rows).into()));
            let values = values.chain(counts.iter_mut().map(|it| take(it, rows).into()));
            columns.extend(names.iter().copied().zip(values));
        }
        columns
    }
}
