//! A new order: NewOrderSingle514.

use hairpin_cme_codecs::ilink3::{
    ExecInst, ExecMode, NewOrderSingle514, OrderTypeReq, Price9, SideReq, TimeInForce,
};
use hairpin_sbe::EncodeError;

use crate::ClOrdId;
use crate::sender::{Outgoing, Stamp};

/// A NewOrderSingle514. What every order needs is a parameter of [`NewOrder::limit`]; the rest
/// has the schema's null or the value of a plain day order until it is set.
///
/// SenderID, Location, PartyDetailsListReqID and ManualOrderIndicator come from the session's
/// [`Operator`](crate::Operator).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewOrder {
    /// SecurityID (48).
    pub security_id: i32,
    /// Side (54).
    pub side: SideReq,
    /// Price (44), mantissa of 10⁻⁹; absent for market orders.
    pub price: Option<Price9>,
    /// OrderQty (38), contracts.
    pub quantity: u32,
    /// ClOrdID (11).
    pub cl_ord_id: ClOrdId,
    /// OrderRequestID (2422), echoed in reports; the SeqNum of the order if `None`.
    pub order_request_id: Option<u64>,
    /// OrdType (40).
    pub order_type: OrderTypeReq,
    /// TimeInForce (59).
    pub time_in_force: TimeInForce,
    /// StopPx (99).
    pub stop_price: Option<Price9>,
    /// MinQty (110), contracts.
    pub min_quantity: Option<u32>,
    /// DisplayQty (1138), contracts.
    pub display_quantity: Option<u32>,
    /// ExpireDate (432), days since the epoch; for good-till-date orders.
    pub expire_date: Option<u16>,
    /// ExecInst (18).
    pub execution_instructions: ExecInst,
    /// ExecutionMode (5906).
    pub execution_mode: Option<ExecMode>,
}

impl NewOrder {
    /// A limit order for the day.
    #[inline]
    #[must_use]
    pub const fn limit(
        security_id: i32,
        side: SideReq,
        price: Price9,
        quantity: u32,
        cl_ord_id: ClOrdId,
    ) -> Self {
        Self {
            security_id,
            side,
            price: Some(price),
            quantity,
            cl_ord_id,
            order_request_id: None,
            order_type: OrderTypeReq::LIMIT,
            time_in_force: TimeInForce::DAY,
            stop_price: None,
            min_quantity: None,
            display_quantity: None,
            expire_date: None,
            execution_instructions: ExecInst(0),
            execution_mode: None,
        }
    }
}

impl Outgoing for NewOrder {
    const MAX_LENGTH: usize = NewOrderSingle514::ENCODED_LENGTH;

    #[inline]
    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let mut order = NewOrderSingle514::encode(buffer)?;
        order
            .set_price(self.price)
            .set_order_qty(self.quantity)
            .set_security_id(self.security_id)
            .set_side(self.side)
            .set_sender_id(stamp.operator.sender_id)
            .set_cl_ord_id(self.cl_ord_id.0)
            .set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_order_request_id(self.order_request_id.unwrap_or(u64::from(stamp.seq_num)))
            .set_sending_time_epoch(stamp.sending_time.as_nanos())
            .set_stop_px(self.stop_price)
            .set_location(stamp.operator.location)
            .set_min_qty(self.min_quantity)
            .set_display_qty(self.display_quantity)
            .set_expire_date(self.expire_date)
            .set_ord_type(self.order_type)
            .set_time_in_force(self.time_in_force)
            .set_manual_order_indicator(stamp.operator.manual_order_indicator)
            .set_exec_inst(self.execution_instructions)
            .set_execution_mode(self.execution_mode);
        Ok(Self::MAX_LENGTH)
    }
}
