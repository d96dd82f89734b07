//! Crosses: NewOrderCross544 and RequestForCross566.

use hairpin_cme_codecs::ilink3::{
    CrossTypeEnum, NewOrderCross544, Price9, RequestForCross566, SideReq, SideTimeInForce,
};
use hairpin_sbe::EncodeError;
use hairpin_time::Utc;

use crate::sender::{Outgoing, Stamp, set_sender_fields};
use crate::{ClOrdId, RequestError, SecurityId};

/// One side of a cross.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrossSide {
    /// ClOrdID (11).
    pub cl_ord_id: ClOrdId,
    /// Side (54).
    pub side: SideReq,
    /// OrderQty (38) in contracts, at least 1.
    pub quantity: u32,
    /// SideTimeInForce (962).
    pub time_in_force: SideTimeInForce,
    /// PartyDetailsListReqID (1505) of the side. `None` sends the operator's.
    pub party_details_list_req_id: Option<u64>,
}

impl CrossSide {
    /// Creates a side for the day with the operator's party details.
    #[must_use]
    pub const fn new(side: SideReq, quantity: u32, cl_ord_id: ClOrdId) -> Self {
        let time_in_force = SideTimeInForce::DAY;
        Self { cl_ord_id, side, quantity, time_in_force, party_details_list_req_id: None }
    }
}

/// A NewOrderCross544: a buy and a sell order that trade with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewOrderCross {
    /// SecurityID (48).
    pub security_id: SecurityId,
    /// Price (44), a wire price.
    pub price: Price9,
    /// NoSides (552).
    pub sides: [CrossSide; 2],
    /// TransBkdTime (483): the time at which the two parties agreed.
    pub booked_at: Utc,
    /// CrossID (548). `None` sends the message's SeqNum.
    pub cross_id: Option<u64>,
    /// OrderRequestID (2422), echoed in reports. `None` sends the message's SeqNum.
    pub order_request_id: Option<u64>,
}

/// A RequestForCross566: announces a cross to the market; since schema version 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestForCross {
    /// CrossType (549).
    pub cross_type: CrossTypeEnum,
    /// SecurityID (48).
    pub security_id: SecurityId,
    /// Price (44), a wire price.
    pub price: Price9,
    /// NoSides (552).
    pub sides: [CrossSide; 2],
    /// CrossID (548). `None` sends the message's SeqNum.
    pub cross_id: Option<u64>,
    /// OrderRequestID (2422), echoed in reports. `None` sends the message's SeqNum.
    pub order_request_id: Option<u64>,
}

/// Checks the sides of a cross.
fn check(sides: &[CrossSide; 2]) -> Result<(), RequestError> {
    let is_empty = sides.iter().any(|side| side.quantity == 0);
    if is_empty { Err(RequestError::Quantity) } else { Ok(()) }
}

/// Writes the sides of a cross.
macro_rules! set_sides {
    ($groups:ident, $sides:expr, $stamp:ident) => {{
        let mut entries = $groups.no_sides()?;
        for side in &$sides {
            let list_req_id = $stamp.operator.party_details_list_req_id;
            entries
                .push()?
                .set_cl_ord_id(side.cl_ord_id.0)
                .set_party_details_list_req_id(
                    side.party_details_list_req_id.unwrap_or(list_req_id),
                )
                .set_order_qty(side.quantity)
                .set_side(side.side)
                .set_side_time_in_force(side.time_in_force);
        }
        $groups.finish()
    }};
}

impl Outgoing for NewOrderCross {
    const MAX_LENGTH: usize = 8 + 74 + 3 + 2 * 34;

    fn check(&self) -> Result<(), RequestError> {
        check(&self.sides)
    }

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.order_request_id.unwrap_or(u64::from(seq_num)))
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = NewOrderCross544::encode(buffer)?;
        set_sender_fields!(root, stamp);
        root.set_cross_id(self.cross_id.unwrap_or(u64::from(stamp.seq_num)))
            .set_order_request_id(self.order_request_id.unwrap_or(u64::from(stamp.seq_num)))
            .set_price(self.price)
            .set_trans_bkd_time(self.booked_at.as_nanos())
            .set_security_id(self.security_id.0);
        set_sides!(groups, self.sides, stamp)
    }
}

impl Outgoing for RequestForCross {
    const MAX_LENGTH: usize = 8 + 67 + 3 + 2 * 34;

    fn check(&self) -> Result<(), RequestError> {
        check(&self.sides)
    }

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.order_request_id.unwrap_or(u64::from(seq_num)))
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = RequestForCross566::encode(buffer)?;
        set_sender_fields!(root, stamp);
        root.set_cross_id(self.cross_id.unwrap_or(u64::from(stamp.seq_num)))
            .set_order_request_id(self.order_request_id.unwrap_or(u64::from(stamp.seq_num)))
            .set_cross_type(self.cross_type)
            .set_price(self.price)
            .set_security_id(self.security_id.0);
        set_sides!(groups, self.sides, stamp)
    }
}
