//! The effect of a request on the tracked orders.

use hairpin_cme_codecs::ilink3::OrderType;
use hairpin_ilink3::{CancelOrder, ClOrdId, MassCancel, NewOrder, OrderId, Outgoing, ReplaceOrder};

use super::order::{Order, OrderState};

/// The intent of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// A new order, in its [pending](OrderState::Pending) state.
    New(Order),
    /// A replacement of price, quantity or time in force of a working order.
    Replace {
        /// OrderID (37) of the order, if the request has it.
        order_id: Option<OrderId>,
        /// ClOrdID (11) of the request, or without OrderID that of the order.
        cl_ord_id: ClOrdId,
    },
    /// A cancel of a working order.
    Cancel {
        /// OrderID (37) of the order, if the request has it.
        order_id: Option<OrderId>,
        /// ClOrdID (11) of the request, or without OrderID that of the order.
        cl_ord_id: ClOrdId,
    },
    /// A cancel of several orders.
    MassAction,
    /// A request that [`Orders`](super::Orders) does not track.
    Other,
}

/// A request that [`Orders`](super::Orders) can track.
pub trait OrderRequest: Outgoing {
    /// Returns the intent of the request.
    fn intent(&self) -> Intent;
}

impl OrderRequest for NewOrder {
    #[inline]
    fn intent(&self) -> Intent {
        Intent::New(Order {
            order_id: None,
            cl_ord_id: self.cl_ord_id,
            security_id: self.security_id,
            side: self.side,
            order_type: Some(OrderType(self.pricing.order_type().0)),
            price: self.pricing.price(),
            stop_price: self.pricing.stop_price(),
            time_in_force: Some(self.time_in_force.code()),
            quantity: self.quantity,
            filled: 0,
            leaves: self.quantity,
            state: OrderState::Pending,
        })
    }
}

impl OrderRequest for ReplaceOrder {
    #[inline]
    fn intent(&self) -> Intent {
        Intent::Replace { order_id: self.order_id, cl_ord_id: self.cl_ord_id }
    }
}

impl OrderRequest for CancelOrder {
    #[inline]
    fn intent(&self) -> Intent {
        Intent::Cancel { order_id: self.order_id, cl_ord_id: self.cl_ord_id }
    }
}

impl OrderRequest for MassCancel {
    #[inline]
    fn intent(&self) -> Intent {
        Intent::MassAction
    }
}
