//! Values that Python owns: prices, levels, instruments and orders.

use hairpin::feed_handler::Definition;
use hairpin::order_entry::{self, OrderState as TrackedState};
use hairpin::{ClOrdId, SecurityId, Side};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use crate::errors::price_error;

/// An exact wire price with nine decimal places.
#[pyclass(frozen, eq, ord, hash, from_py_object, module = "hairpin")]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Price(pub(crate) hairpin::Price);

#[pymethods]
impl Price {
    #[new]
    fn new(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(price) = value.extract::<Self>() {
            return Ok(price);
        }
        if !value.is_instance_of::<PyString>() && !value.is_instance_of::<PyInt>() {
            let name = value.get_type().name()?;
            let error =
                format!("cannot create a price from {name}: use a string such as '4500.25'");
            return Err(PyTypeError::new_err(error));
        }
        let text = value.str()?;
        let price = text.to_str()?.parse();
        Ok(Self(price.map_err(|error| price_error(value.py(), &error))?))
    }

    #[staticmethod]
    fn from_mantissa(mantissa: i64) -> Self {
        Self(hairpin::Price::from_mantissa(mantissa))
    }

    #[getter]
    fn mantissa(&self) -> i64 {
        self.0.mantissa()
    }

    #[getter]
    fn is_saturated(&self) -> bool {
        self.0.is_saturated()
    }

    fn __add__(&self, other: &Self) -> Self {
        Self(self.0 + other.0)
    }

    fn __sub__(&self, other: &Self) -> Self {
        Self(self.0 - other.0)
    }

    fn __neg__(&self) -> Self {
        Self(self.0 * -1)
    }

    /// Multiplies by a count; a larger one than any saturates.
    fn __mul__(&self, count: &Bound<'_, PyInt>) -> PyResult<Self> {
        let saturated = if count.lt(0)? { i64::MIN } else { i64::MAX };
        Ok(Self(self.0 * count.extract().unwrap_or(saturated)))
    }

    fn __rmul__(&self, count: &Bound<'_, PyInt>) -> PyResult<Self> {
        self.__mul__(count)
    }

    /// Returns the nearest number; a price of nine decimal places may have none.
    fn __float__(&self) -> f64 {
        self.0.mantissa() as f64 / 1e9
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Price('{}')", self.0)
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (i64,))> {
        let constructor = slf.get_type().getattr("from_mantissa")?;
        Ok((constructor.unbind(), (slf.get().0.mantissa(),)))
    }
}

/// A price level of a book.
#[pyclass(frozen, eq, get_all, module = "hairpin")]
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Level {
    price: Price,
    quantity: u64,
    orders: u32,
}

impl From<hairpin::Level> for Level {
    fn from(level: hairpin::Level) -> Self {
        let hairpin::Level { price, quantity, orders } = level;
        Self { price: Price(price), quantity: quantity.0, orders }
    }
}

#[pymethods]
impl Level {
    fn __repr__(&self) -> String {
        let Self { price, quantity, orders } = self;
        format!("Level(price={}, quantity={quantity}, orders={orders})", price.__repr__())
    }
}

/// An instrument, as its definition describes it. A copy, which does not change.
#[pyclass(frozen, module = "hairpin")]
#[derive(Clone)]
pub(crate) struct Instrument {
    security_id: SecurityId,
    definition: Option<Definition>,
}

impl From<hairpin::Instrument<'_>> for Instrument {
    fn from(instrument: hairpin::Instrument<'_>) -> Self {
        let definition = instrument.definition().copied();
        Self { security_id: instrument.security_id(), definition }
    }
}

impl Instrument {
    fn borrowed(&self) -> hairpin::Instrument<'_> {
        hairpin::Instrument::new(self.security_id, self.definition.as_ref())
    }

    fn field<T>(&self, read: impl FnOnce(&Definition) -> T) -> Option<T> {
        self.definition.as_ref().map(read)
    }
}

#[pymethods]
impl Instrument {
    #[getter]
    pub(crate) fn security_id(&self) -> i32 {
        self.security_id.0
    }

    #[getter]
    pub(crate) fn symbol(&self) -> &str {
        self.definition.as_ref().map_or("", |definition| definition.symbol.as_str())
    }

    #[getter]
    fn security_group(&self) -> Option<&str> {
        self.definition.as_ref().map(|definition| definition.security_group.as_str())
    }

    #[getter]
    fn asset(&self) -> Option<&str> {
        self.definition.as_ref().map(|definition| definition.asset.as_str())
    }

    #[getter]
    fn market_segment_id(&self) -> Option<u8> {
        self.field(|definition| definition.market_segment_id)
    }

    #[getter]
    fn tick(&self) -> Option<Price> {
        self.field(|it| it.min_price_increment)?.map(|tick| Price(tick.into()))
    }

    #[getter]
    fn display_factor(&self) -> Option<Price> {
        self.field(|it| Price(it.display_factor.into()))
    }

    fn parse(&self, py: Python<'_>, text: &str) -> PyResult<Price> {
        let price = self.borrowed().parse(text);
        price.map(Price).map_err(|error| price_error(py, &error))
    }

    fn display(&self, price: Price) -> String {
        self.borrowed().display(price.0).to_string()
    }

    fn add_ticks(&self, py: Python<'_>, price: Price, ticks: i64) -> PyResult<Price> {
        let sum = self.borrowed().add_ticks(price.0, ticks);
        sum.map(Price).ok_or_else(|| {
            let cause = "no tick is known, the price is off tick, or the result is out of range";
            price_error(py, &format!("cannot add {ticks} ticks to {}: {cause}", price.0))
        })
    }

    fn is_on_tick(&self, price: Price) -> bool {
        self.borrowed().is_on_tick(price.0)
    }

    fn __repr__(&self) -> String {
        format!("Instrument(security_id={}, symbol='{}')", self.security_id.0, self.symbol())
    }
}

/// An order that the exchange works, or that is not yet answered.
#[pyclass(frozen, get_all, module = "hairpin")]
pub(crate) struct Order {
    cl_ord_id: String,
    order_id: Option<u64>,
    security_id: i32,
    side: &'static str,
    price: Option<Price>,
    quantity: u32,
    open: u32,
    filled: u32,
    state: &'static str,
}

impl From<&order_entry::Order> for Order {
    fn from(order: &order_entry::Order) -> Self {
        let is_sell = order.side == order_entry::SideReq::SELL;
        Self {
            cl_ord_id: order.cl_ord_id.to_string(),
            order_id: order.order_id.map(|id| id.0),
            security_id: order.security_id.0,
            side: side_name(if is_sell { Side::Sell } else { Side::Buy }),
            price: order.price.map(|price| Price(price.into())),
            quantity: order.quantity,
            open: order.leaves,
            filled: order.filled,
            state: match order.state {
                TrackedState::Pending => "pending",
                TrackedState::Working => "working",
                TrackedState::PendingReplace => "pending_replace",
                TrackedState::PendingCancel => "pending_cancel",
            },
        }
    }
}

#[pymethods]
impl Order {
    fn __repr__(&self) -> String {
        let Self { cl_ord_id, side, quantity, security_id, state, .. } = self;
        format!("Order({cl_ord_id} {side} {quantity} {security_id}: {state})")
    }
}

/// Returns the name of a side.
pub(crate) const fn side_name(side: Side) -> &'static str {
    match side {
        Side::Buy => "buy",
        Side::Sell => "sell",
    }
}

/// Returns the side with a name.
pub(crate) fn side_from(name: &str) -> PyResult<Side> {
    match name {
        "buy" => Ok(Side::Buy),
        "sell" => Ok(Side::Sell),
        _ => Err(PyValueError::new_err(format!("the side is '{name}', not 'buy' or 'sell'"))),
    }
}

/// Returns the ClOrdID (11) with a text.
pub(crate) fn cl_ord_id_from(text: &str) -> PyResult<ClOrdId> {
    let error =
        || PyValueError::new_err(format!("'{text}' is no ClOrdID of at most 20 ASCII characters"));
    ClOrdId::new(text).ok_or_else(error)
}
