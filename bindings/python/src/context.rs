//! The context of a callback: books, orders and the sender.

use hairpin::time::Duration;
use hairpin::{Quantity, SecurityId, SendError};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

use crate::errors::{error, send_error};
use crate::events::Book;
use crate::requests::Request;
use crate::scope::{Closing, ContextScope, Scoped};
use crate::values::{Instrument, Order, Price, cl_ord_id_from};

/// Books, orders and the sender, inside one callback.
#[pyclass(frozen, module = "hairpin")]
pub(crate) struct Context(ContextScope);

impl Context {
    /// Holds a context.
    ///
    /// # Safety
    /// The object must be closed before the reference ends, and the reference not be used before.
    pub(crate) unsafe fn new(context: &mut hairpin::Context<'_>) -> Self {
        // SAFETY: the caller closes the scope in time.
        Self(unsafe { ContextScope::new(context) })
    }

    /// Sends with the context.
    fn send_with<R>(
        &self,
        py: Python<'_>,
        send: impl for<'a, 'b> FnOnce(&'a mut hairpin::Context<'b>) -> Result<R, SendError>,
    ) -> PyResult<R> {
        self.0.with(send)?.map_err(|cause| send_error(py, &cause))
    }
}

impl Scoped for Context {
    fn close(&self) {
        self.0.close();
    }
}

#[pymethods]
impl Context {
    /// The time of the current wakeup, in nanoseconds since 1970.
    #[getter]
    fn now(&self) -> PyResult<u64> {
        self.0.with(|ctx| ctx.now().utc.as_nanos())
    }

    /// The same on a clock that never steps.
    #[getter]
    fn monotonic(&self) -> PyResult<u64> {
        self.0.with(|ctx| ctx.now().monotonic.as_nanos())
    }

    #[getter]
    fn is_ready(&self) -> PyResult<bool> {
        self.0.with(|ctx| ctx.is_ready())
    }

    fn book(&self, security_id: i32) -> PyResult<Option<Book>> {
        self.0.with(|ctx| ctx.book(SecurityId(security_id)).as_ref().map(Book::from))
    }

    fn instrument(&self, security_id: i32) -> PyResult<Option<Instrument>> {
        self.0.with(|ctx| ctx.instrument(SecurityId(security_id)).map(Instrument::from))
    }

    fn security_id(&self, py: Python<'_>, symbol: &str) -> PyResult<i32> {
        let id = self.0.with(|ctx| ctx.security_id(symbol))?;
        id.map(|id| id.0).map_err(|cause| error(py, &cause))
    }

    fn buy(
        &self,
        py: Python<'_>,
        security_id: i32,
        quantity: u64,
        price: Price,
    ) -> PyResult<String> {
        let (id, quantity) = (SecurityId(security_id), Quantity(quantity));
        let sent = self.send_with(py, |ctx| ctx.buy(id, quantity, price.0))?;
        Ok(sent.to_string())
    }

    fn sell(
        &self,
        py: Python<'_>,
        security_id: i32,
        quantity: u64,
        price: Price,
    ) -> PyResult<String> {
        let (id, quantity) = (SecurityId(security_id), Quantity(quantity));
        let sent = self.send_with(py, |ctx| ctx.sell(id, quantity, price.0))?;
        Ok(sent.to_string())
    }

    fn replace(
        &self,
        py: Python<'_>,
        cl_ord_id: &str,
        quantity: u64,
        price: Price,
    ) -> PyResult<String> {
        let id = cl_ord_id_from(cl_ord_id)?;
        let sent = self.send_with(py, |ctx| ctx.replace(id, Quantity(quantity), price.0))?;
        Ok(sent.to_string())
    }

    fn cancel(&self, py: Python<'_>, cl_ord_id: &str) -> PyResult<()> {
        let id = cl_ord_id_from(cl_ord_id)?;
        self.send_with(py, |ctx| ctx.cancel(id))
    }

    fn cancel_all(&self, py: Python<'_>) -> PyResult<()> {
        self.send_with(py, |ctx| ctx.cancel_all())
    }

    /// Sends a request with all of its fields. Returns its ClOrdID, if it has one.
    fn send(&self, py: Python<'_>, request: Request<'_>) -> PyResult<Option<String>> {
        let sent = self.send_with(py, |ctx| request.send(ctx))?;
        Ok(sent.map(|id| id.to_string()))
    }

    /// Calls `send` with a context whose messages are written together.
    fn batch<'py>(&self, send: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = send.py();
        self.0.with(|ctx| {
            ctx.batch(|inner| {
                // SAFETY: `Closing` closes the object before `inner` ends.
                let context = Py::new(py, unsafe { Self::new(inner) })?;
                let _closing = Closing(&context);
                send.call1((&context,))
            })
        })?
    }

    /// The orders on the exchange's books.
    fn working(&self) -> PyResult<Vec<Order>> {
        self.0.with(|ctx| ctx.working().map(Order::from).collect())
    }

    fn order(&self, cl_ord_id: &str) -> PyResult<Option<Order>> {
        let id = cl_ord_id_from(cl_ord_id)?;
        self.0.with(|ctx| ctx.order(id).map(Order::from))
    }

    fn position(&self, security_id: i32) -> PyResult<i64> {
        self.0.with(|ctx| ctx.position(SecurityId(security_id)))
    }

    fn next_cl_ord_id(&self) -> PyResult<String> {
        self.0.with(|ctx| ctx.next_cl_ord_id().to_string())
    }

    /// Calls `on_timer` with `timer` once, after a number of seconds.
    fn set_timer(&self, py: Python<'_>, timer: u64, seconds: f64) -> PyResult<()> {
        let delay = duration(seconds)?;
        let outcome = self.0.with(|ctx| ctx.set_timer(timer, delay))?;
        outcome.map_err(|cause| error(py, &cause))
    }

    fn stop(&self) -> PyResult<()> {
        self.0.with(|ctx| ctx.stop())
    }
}

/// Returns a duration of some seconds.
pub(crate) fn duration(seconds: f64) -> PyResult<Duration> {
    let duration = std::time::Duration::try_from_secs_f64(seconds);
    let duration = duration.map_err(|cause| PyValueError::new_err(cause.to_string()))?;
    let nanos = u64::try_from(duration.as_nanos());
    Ok(Duration::from_nanos(nanos.map_err(|cause| PyOverflowError::new_err(cause.to_string()))?))
}
