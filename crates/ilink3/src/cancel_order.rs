//! Order cancellation: OrderCancelRequest516.

use hairpin_cme_codecs::ilink3::{OrderCancelRequest516, SideReq};
use hairpin_sbe::EncodeError;

use crate::order_terms::check_order_id;
use crate::sender::{Outgoing, Stamp};
use crate::throttle::MessageClass;
use crate::{ClOrdId, RequestError};

/// An OrderCancelRequest516: cancels a working order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CancelOrder {
    /// OrderID (37) from the exchange's execution report.
    pub order_id: u64,
    /// ClOrdID (11) of this request. CME links the request to the order by OrderID.
    pub cl_ord_id: ClOrdId,
    /// SecurityID (48) of the order.
    pub security_id: i32,
    /// Side (54) of the order.
    pub side: SideReq,
    /// OrderRequestID (2422), echoed in reports. `None` sends the request's SeqNum.
    pub order_request_id: Option<u64>,
}

impl CancelOrder {
    /// Creates a cancel of order `order_id`.
    #[inline]
    #[must_use]
    pub const fn new(order_id: u64, security_id: i32, side: SideReq, cl_ord_id: ClOrdId) -> Self {
        Self { order_id, cl_ord_id, security_id, side, order_request_id: None }
    }

    /// Sets OrderRequestID (2422).
    #[inline]
    #[must_use]
    pub const fn with_order_request_id(mut self, id: u64) -> Self {
        self.order_request_id = Some(id);
        self
    }
}

impl Outgoing for CancelOrder {
    const MAX_LENGTH: usize = OrderCancelRequest516::ENCODED_LENGTH;
    const CLASS: MessageClass = MessageClass::Cancel;

    #[inline]
    fn check(&self) -> Result<(), RequestError> {
        check_order_id(self.order_id)
    }

    #[inline]
    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.order_request_id.unwrap_or(u64::from(seq_num)))
    }

    #[inline]
    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let mut cancel = OrderCancelRequest516::encode(buffer)?;
        cancel
            .set_order_id(self.order_id)
            .set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_manual_order_indicator(stamp.operator.manual_order_indicator)
            .set_sender_id(stamp.operator.sender_id)
            .set_cl_ord_id(self.cl_ord_id.0)
            .set_order_request_id(self.order_request_id.unwrap_or(u64::from(stamp.seq_num)))
            .set_sending_time_epoch(stamp.sending_time.as_nanos())
            .set_location(stamp.operator.location)
            .set_security_id(self.security_id)
            .set_side(self.side);
        Ok(Self::MAX_LENGTH)
    }
}
