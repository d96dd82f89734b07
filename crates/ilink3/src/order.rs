//! The two requests of a simple trader: a new order and its cancel.

use core::fmt;

use hairpin_cme_codecs::ilink3::{
    ExecInst, ExecMode, NewOrderSingle514, OrderCancelRequest516, OrderTypeReq, Price9, SideReq,
    TimeInForce,
};
use hairpin_sbe::EncodeError;

use crate::ascii::Decimal;
use crate::sender::{Outgoing, Stamp};

/// ClOrdID (11): the client's own id of an order, 20 bytes of printable ASCII, NUL-padded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClOrdId(pub [u8; 20]);

impl ClOrdId {
    /// The id that is `text`, or `None` if that is empty, longer than 20 bytes or not printable.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let mut id = [0; 20];
        let fits = !text.is_empty() && crate::ascii::is_printable(text.as_bytes());
        id.get_mut(..text.len()).filter(|_| fits)?.copy_from_slice(text.as_bytes());
        Some(Self(id))
    }

    /// The text, without padding.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(self.0.len());
        &self.0[..end]
    }

    /// The number whose decimal digits the id is, as [`From<u64>`] writes it.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        let digits = self.as_bytes();
        let first = digits.iter().try_fold(0_u64, |number, byte| {
            let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
            number.checked_mul(10)?.checked_add(u64::from(digit))
        });
        first.filter(|_| !digits.is_empty())
    }
}

/// The number in decimal: any u64 fits into twenty digits.
impl From<u64> for ClOrdId {
    #[inline]
    fn from(number: u64) -> Self {
        let decimal = Decimal::new(number);
        let digits = decimal.as_bytes();
        let mut id = [0; 20];
        id[..digits.len()].copy_from_slice(digits);
        Self(id)
    }
}

impl fmt::Display for ClOrdId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&hairpin_sbe::CharArray::new(&self.0), f)
    }
}

impl fmt::Debug for ClOrdId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClOrdId({self})")
    }
}

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

/// An OrderCancelRequest516: takes a working order back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CancelOrder {
    /// OrderID (37), as the exchange gave it in its report.
    pub order_id: u64,
    /// ClOrdID (11) of this request; CME links it to the order by OrderID.
    pub cl_ord_id: ClOrdId,
    /// SecurityID (48) of the order.
    pub security_id: i32,
    /// Side (54) of the order.
    pub side: SideReq,
    /// OrderRequestID (2422), echoed in reports; the SeqNum of the request if `None`.
    pub order_request_id: Option<u64>,
}

impl CancelOrder {
    /// A cancel of order `order_id`.
    #[inline]
    #[must_use]
    pub const fn new(order_id: u64, security_id: i32, side: SideReq, cl_ord_id: ClOrdId) -> Self {
        Self { order_id, cl_ord_id, security_id, side, order_request_id: None }
    }
}

impl Outgoing for CancelOrder {
    const MAX_LENGTH: usize = OrderCancelRequest516::ENCODED_LENGTH;

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

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn an_id_of_a_number_is_its_decimal_digits() {
        for number in [0, 7, 1_234_567_890, u64::MAX] {
            let id = ClOrdId::from(number);
            assert_eq!(id.to_string(), number.to_string());
            assert_eq!(id.number(), Some(number));
        }
        assert_eq!(ClOrdId(*b"18446744073709551616").number(), None);
        assert_eq!(ClOrdId([0; 20]).number(), None);
        assert_eq!(ClOrdId::new("12a").and_then(|id| id.number()), None);
    }

    #[test]
    fn an_id_is_up_to_twenty_printable_bytes() {
        assert_eq!(ClOrdId::new("12345678901234567890").unwrap().as_bytes().len(), 20);
        assert_eq!(ClOrdId::new("123456789012345678901"), None);
        assert_eq!(ClOrdId::new(""), None);
        assert_eq!(ClOrdId::new("a\nb"), None);
    }
}
