//! What a request of ours means for our orders.

use hairpin_cme_codecs::ilink3::OrderType;
use hairpin_ilink3::{CancelOrder, ClOrdId, MassCancel, NewOrder, Outgoing, ReplaceOrder};

use super::order::{Order, OrderState};

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// A new order: as it will be if all goes well, [pending](OrderState::Pending).
    New(Order),
    /// Another price, quantity or qualifier for a working order.
    Replace {
        /// OrderID (37) of the order.
        order_id: u64,
        /// ClOrdID (11) of the request.
        cl_ord_id: ClOrdId,
    },
    /// The end of a working order.
    Cancel {
        /// OrderID (37) of the order.
        order_id: u64,
        /// ClOrdID (11) of the request.
        cl_ord_id: ClOrdId,
    },
    /// The end of many.
    MassAction,
    /// Nothing that [`Orders`](super::Orders) follow.
    Other,
}

/// A request that [`Orders`](super::Orders) can follow.
pub trait OrderRequest: Outgoing {
    /// What it asks for.
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
            time_in_force: Some(self.qualifier.time_in_force()),
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
