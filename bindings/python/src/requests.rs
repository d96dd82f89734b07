//! Requests for orders with all of their fields, for `Context.send`.

use hairpin::feed_handler::Price9;
use hairpin::order_entry::{self as wire, OrderTimeInForce, Pricing, SideReq};
use hairpin::{ClOrdId, Context, SendError, Side};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::values::{Price, cl_ord_id_from, side_from};

/// A new order.
#[pyclass(frozen, module = "hairpin")]
pub(crate) struct NewOrder {
    order: wire::NewOrder,
    /// The given ClOrdID (11), or `None` for the next one.
    cl_ord_id: Option<ClOrdId>,
}

/// A replacement with all terms of the order.
#[pyclass(frozen, module = "hairpin")]
pub(crate) struct ReplaceOrder {
    order_id: u64,
    order: Py<NewOrder>,
}

/// A cancel by OrderID (37).
#[pyclass(frozen, module = "hairpin")]
pub(crate) struct CancelOrder {
    order_id: u64,
    security_id: i32,
    side: Side,
}

/// A cancel of all orders, or of those of an instrument, a group or a market segment.
#[pyclass(frozen, module = "hairpin")]
pub(crate) struct MassCancel(wire::MassCancel);

#[pymethods]
impl NewOrder {
    #[new]
    #[pyo3(signature = (
        security_id, side, quantity, price=None, *, order_type="limit", stop_price=None,
        time_in_force="day", expire_date=None, min_quantity=None, display_quantity=None,
        cl_ord_id=None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "most are keywords with defaults")]
    fn new(
        security_id: i32,
        side: &str,
        quantity: u32,
        price: Option<Price>,
        order_type: &str,
        stop_price: Option<Price>,
        time_in_force: &str,
        expire_date: Option<u16>,
        min_quantity: Option<u32>,
        display_quantity: Option<u32>,
        cl_ord_id: Option<&str>,
    ) -> PyResult<Self> {
        let pricing = pricing(order_type, price, stop_price)?;
        let time_in_force = time_in_force_from(time_in_force, expire_date)?;
        // `Context.send` replaces an id that is not given.
        let given = cl_ord_id.map(cl_ord_id_from).transpose()?;
        let id = given.unwrap_or(ClOrdId::from(0));
        let side = to_wire(side_from(side)?);
        let order = wire::NewOrder::new(security_id, side, pricing, quantity, id);
        let order = wire::NewOrder { time_in_force, min_quantity, display_quantity, ..order };
        Ok(Self { order, cl_ord_id: given })
    }
}

#[pymethods]
impl ReplaceOrder {
    #[new]
    fn new(order_id: u64, order: Py<NewOrder>) -> Self {
        Self { order_id, order }
    }
}

#[pymethods]
impl CancelOrder {
    #[new]
    fn new(order_id: u64, security_id: i32, side: &str) -> PyResult<Self> {
        Ok(Self { order_id, security_id, side: side_from(side)? })
    }
}

#[pymethods]
impl MassCancel {
    #[new]
    #[pyo3(signature = (*, security_id=None, security_group=None, market_segment_id=None))]
    fn new(
        security_id: Option<i32>,
        security_group: Option<&str>,
        market_segment_id: Option<u8>,
    ) -> PyResult<Self> {
        let cancel = match (security_id, security_group, market_segment_id) {
            (None, None, None) => wire::MassCancel::all(),
            (Some(id), None, None) => wire::MassCancel::instrument(id),
            (None, Some(group), None) => {
                let mut bytes = [0; 6];
                let error = || PyValueError::new_err(format!("'{group}' is no security group"));
                let target = bytes.get_mut(..group.len()).ok_or_else(error)?;
                target.copy_from_slice(group.as_bytes());
                wire::MassCancel::group(bytes)
            }
            (None, None, Some(segment)) => wire::MassCancel::market_segment(segment),
            _ => return Err(PyValueError::new_err("a mass cancel has one scope")),
        };
        Ok(Self(cancel))
    }
}

/// A request for `Context.send`.
#[derive(FromPyObject)]
pub(crate) enum Request<'py> {
    New(Bound<'py, NewOrder>),
    Replace(Bound<'py, ReplaceOrder>),
    Cancel(Bound<'py, CancelOrder>),
    CancelAll(Bound<'py, MassCancel>),
}

impl Request<'_> {
    /// Sends the request. Returns its ClOrdID (11), if it has one.
    pub(crate) fn send(&self, ctx: &mut Context<'_>) -> Result<Option<ClOrdId>, SendError> {
        match self {
            Self::New(order) => {
                let order = order.get().request(ctx);
                ctx.send(&order)?;
                Ok(Some(order.cl_ord_id))
            }
            Self::Replace(replace) => {
                let ReplaceOrder { order_id, order } = replace.get();
                let order = order.get().request(ctx);
                ctx.send(&wire::ReplaceOrder::from_order(*order_id, &order))?;
                Ok(Some(order.cl_ord_id))
            }
            Self::Cancel(cancel) => {
                let CancelOrder { order_id, security_id, side } = *cancel.get();
                let id = ctx.next_cl_ord_id();
                ctx.send(&wire::CancelOrder::new(order_id, security_id, to_wire(side), id))?;
                Ok(Some(id))
            }
            Self::CancelAll(cancel) => ctx.send(&cancel.get().0).map(|_| None),
        }
    }
}

impl NewOrder {
    /// Returns the order with its ClOrdID (11), the next one if none was given.
    fn request(&self, ctx: &mut Context<'_>) -> wire::NewOrder {
        let cl_ord_id = self.cl_ord_id.unwrap_or_else(|| ctx.next_cl_ord_id());
        wire::NewOrder { cl_ord_id, ..self.order }
    }
}

const fn to_wire(side: Side) -> SideReq {
    match side {
        Side::Buy => SideReq::BUY,
        Side::Sell => SideReq::SELL,
    }
}

fn pricing(kind: &str, price: Option<Price>, stop_price: Option<Price>) -> PyResult<Pricing> {
    let wire = |price: Price| Price9::from(price.0);
    match (kind, price.map(wire), stop_price.map(wire)) {
        ("limit", Some(price), None) => Ok(Pricing::Limit { price }),
        ("market", None, None) => Ok(Pricing::Market),
        ("market_limit", None, None) => Ok(Pricing::MarketLimit),
        ("stop", None, Some(stop_price)) => Ok(Pricing::Stop { stop_price }),
        ("stop_limit", Some(price), Some(stop_price)) => {
            Ok(Pricing::StopLimit { stop_price, price })
        }
        ("limit" | "market" | "market_limit" | "stop" | "stop_limit", ..) => {
            Err(PyValueError::new_err(format!("price or stop_price does not suit '{kind}'")))
        }
        _ => Err(PyValueError::new_err(format!("'{kind}' is no order type"))),
    }
}

fn time_in_force_from(name: &str, expire_date: Option<u16>) -> PyResult<OrderTimeInForce> {
    match (name, expire_date) {
        ("day", None) => Ok(OrderTimeInForce::Day),
        ("good_till_cancel", None) => Ok(OrderTimeInForce::GoodTillCancel),
        ("good_till_date", Some(expire_date)) => Ok(OrderTimeInForce::GoodTillDate { expire_date }),
        ("fill_and_kill", None) => Ok(OrderTimeInForce::FillAndKill),
        ("fill_or_kill", None) => Ok(OrderTimeInForce::FillOrKill),
        ("good_for_session", None) => Ok(OrderTimeInForce::GoodForSession),
        ("good_till_date", None) => Err(PyValueError::new_err("good_till_date needs expire_date")),
        (_, Some(_)) => Err(PyValueError::new_err(format!("expire_date does not suit '{name}'"))),
        _ => Err(PyValueError::new_err(format!("'{name}' is no time in force"))),
    }
}
