//! Mass cancellation: OrderMassActionRequest529.

use hairpin_cme_codecs::ilink3::{
    MassActionOrdTyp, MassActionScope, MassCancelTIF, MassCxlReqTyp, OrderMassActionRequest529,
    SideNULL,
};
use hairpin_sbe::EncodeError;

use crate::order_terms::boolean;
use crate::sender::{Outgoing, Stamp};
use crate::throttle::MessageClass;
use crate::{SecurityId, Text};

/// An OrderMassActionRequest529: cancels all orders of the session, or those of a part of the
/// market. Optional filters select one side, order type or time in force.
///
/// ```
/// use hairpin_cme_codecs::ilink3::SideNULL;
/// use hairpin_ilink3::{MassCancel, SecurityId};
///
/// let bids = MassCancel { side: Some(SideNULL::BUY), ..MassCancel::instrument(42) };
/// assert_eq!(bids.security_id, Some(SecurityId(42)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MassCancel {
    /// MassActionScope (1374): selects which of the next three fields applies.
    pub scope: MassActionScope,
    /// SecurityID (48) of an instrument.
    pub security_id: Option<SecurityId>,
    /// SecurityGroup (1151) of a product group, NUL-padded.
    pub security_group: [u8; 6],
    /// MarketSegmentID (1300).
    pub market_segment_id: Option<u8>,
    /// Side (54); `None` for both.
    pub side: Option<SideNULL>,
    /// OrdType (40); `None` for any.
    pub order_type: Option<MassActionOrdTyp>,
    /// TimeInForce (59); `None` for any.
    pub time_in_force: Option<MassCancelTIF>,
    /// MassCancelRequestType (6115): only the orders of the request's SenderID or account.
    pub request_type: Option<MassCxlReqTyp>,
    /// LiquidityFlag (9373), for BrokerTec and EBS in the EU.
    pub liquidity_flag: Option<bool>,
    /// OrigOrderUser (9937): the owner of orders canceled on behalf; since schema version 8.
    pub orig_order_user: Text<8>,
    /// OrderRequestID (2422), echoed in the report. `None` sends the request's SeqNum.
    pub order_request_id: Option<u64>,
}

impl MassCancel {
    /// Creates a cancel of all orders of the session.
    #[must_use]
    pub const fn all() -> Self {
        Self {
            scope: MassActionScope::ALL,
            security_id: None,
            security_group: [0; 6],
            market_segment_id: None,
            side: None,
            order_type: None,
            time_in_force: None,
            request_type: None,
            liquidity_flag: None,
            orig_order_user: Text::EMPTY,
            order_request_id: None,
        }
    }

    /// Creates a cancel of the orders of one instrument.
    #[must_use]
    pub fn instrument(security_id: impl Into<SecurityId>) -> Self {
        let scope = MassActionScope::INSTRUMENT;
        Self { scope, security_id: Some(security_id.into()), ..Self::all() }
    }

    /// Creates a cancel of the orders of one product group, NUL-padded.
    #[must_use]
    pub const fn group(security_group: [u8; 6]) -> Self {
        Self { scope: MassActionScope::INSTRUMENT_GROUP, security_group, ..Self::all() }
    }

    /// Creates a cancel of the orders of one market segment.
    #[must_use]
    pub const fn market_segment(id: u8) -> Self {
        let scope = MassActionScope::MARKET_SEGMENT_ID;
        Self { scope, market_segment_id: Some(id), ..Self::all() }
    }
}

impl Outgoing for MassCancel {
    const MAX_LENGTH: usize = OrderMassActionRequest529::ENCODED_LENGTH;
    const CLASS: MessageClass = MessageClass::Cancel;

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.order_request_id.unwrap_or(u64::from(seq_num)))
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        OrderMassActionRequest529::encode(buffer)?
            .set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_order_request_id(self.order_request_id.unwrap_or(u64::from(stamp.seq_num)))
            .set_manual_order_indicator(stamp.operator.manual_order_indicator)
            .set_sender_id(stamp.operator.sender_id)
            .set_sending_time_epoch(stamp.sending_time.as_nanos())
            .set_security_group(self.security_group)
            .set_location(stamp.operator.location)
            .set_security_id(self.security_id.map(|id| id.0))
            .set_mass_action_scope(self.scope)
            .set_market_segment_id(self.market_segment_id)
            .set_mass_cancel_request_type(self.request_type)
            .set_side(self.side)
            .set_ord_type(self.order_type)
            .set_time_in_force(self.time_in_force)
            .set_liquidity_flag(boolean(self.liquidity_flag))
            .set_orig_order_user(self.orig_order_user);
        Ok(Self::MAX_LENGTH)
    }
}
