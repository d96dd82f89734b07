//! Order cancellation: OrderCancelRequest516.

use hairpin_cme_codecs::ilink3::{OrderCancelRequest516, SideReq};
use hairpin_sbe::EncodeError;

use crate::order_terms::{boolean, check_order_id};
use crate::sender::{Outgoing, Stamp};
use crate::throttle::MessageClass;
use crate::{ClOrdId, OrderId, RequestError, SecurityId, Text};

/// An OrderCancelRequest516: cancels a working order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CancelOrder {
    /// OrderID (37) from the exchange's execution report. `None` addresses the order by ClOrdID;
    /// BrokerTec requires OrderID.
    pub order_id: Option<OrderId>,
    /// ClOrdID (11): of this request, or without OrderID that of the order.
    pub cl_ord_id: ClOrdId,
    /// SecurityID (48) of the order.
    pub security_id: SecurityId,
    /// Side (54) of the order.
    pub side: SideReq,
    /// OrderRequestID (2422), echoed in reports. `None` sends the request's SeqNum.
    pub order_request_id: Option<u64>,
    /// LiquidityFlag (9373), for BrokerTec and EBS in the EU.
    pub liquidity_flag: Option<bool>,
    /// OrigOrderUser (9937): the owner of an order canceled on behalf; since schema version 8.
    pub orig_order_user: Text<8>,
}

impl CancelOrder {
    /// Creates a cancel of order `order_id`.
    #[inline]
    #[must_use]
    pub fn new(
        order_id: impl Into<OrderId>,
        security_id: impl Into<SecurityId>,
        side: SideReq,
        cl_ord_id: ClOrdId,
    ) -> Self {
        let order_id = Some(order_id.into());
        Self { order_id, ..Self::by_cl_ord_id(cl_ord_id, security_id, side) }
    }

    /// Creates a cancel of the order with ClOrdID `cl_ord_id`: for an order without a report yet.
    /// CME accepts it for futures, options and EBS.
    ///
    /// Source: CME Client Systems Wiki 46473084; AutoCert+, "Order Cancel without OrderID".
    #[inline]
    #[must_use]
    pub fn by_cl_ord_id(
        cl_ord_id: ClOrdId,
        security_id: impl Into<SecurityId>,
        side: SideReq,
    ) -> Self {
        Self {
            order_id: None,
            cl_ord_id,
            security_id: security_id.into(),
            side,
            order_request_id: None,
            liquidity_flag: None,
            orig_order_user: Text::EMPTY,
        }
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
            .set_order_id(self.order_id.map(|id| id.0))
            .set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_manual_order_indicator(stamp.operator.manual_order_indicator)
            .set_sender_id(stamp.operator.sender_id)
            .set_cl_ord_id(self.cl_ord_id.0)
            .set_order_request_id(self.order_request_id.unwrap_or(u64::from(stamp.seq_num)))
            .set_sending_time_epoch(stamp.sending_time.as_nanos())
            .set_location(stamp.operator.location)
            .set_security_id(self.security_id.0)
            .set_side(self.side)
            .set_liquidity_flag(boolean(self.liquidity_flag))
            .set_orig_order_user(self.orig_order_user);
        Ok(Self::MAX_LENGTH)
    }
}
