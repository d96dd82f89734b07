//! Mass order status: OrderMassStatusRequest530.

use hairpin_cme_codecs::ilink3::{
    MassStatusOrdTyp, MassStatusReqTyp, MassStatusTIF, OrderMassStatusRequest530,
};
use hairpin_sbe::EncodeError;

use crate::sender::{Outgoing, Stamp};
use crate::{GatewayKind, RequestError, SecurityId};

/// An OrderMassStatusRequest530: requests the status of the session's working orders, all or those
/// of a part of the market. An optional filter selects one time in force.
///
/// Each order is reported in an ExecutionReportStatus532 with the id of the request; the last
/// report is marked as such. CME processes one such request at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MassStatus {
    /// MassStatusReqType (585): selects which of the next three fields applies.
    pub scope: MassStatusReqTyp,
    /// SecurityID (48) of an instrument.
    pub security_id: Option<SecurityId>,
    /// SecurityGroup (1151) of a product group, NUL-padded.
    pub security_group: [u8; 6],
    /// MarketSegmentID (1300).
    pub market_segment_id: Option<u8>,
    /// TimeInForce (59); `None` for any.
    pub time_in_force: Option<MassStatusTIF>,
    /// OrdStatusReqType (5000): only the orders of the request's SenderID or account.
    pub status_type: Option<MassStatusOrdTyp>,
    /// MassStatusReqID (584), echoed in the reports. `None` sends the request's SeqNum.
    pub request_id: Option<u64>,
}

impl MassStatus {
    /// Creates a request for all orders of the session, on a
    /// [convenience gateway](crate::GatewayKind) only; since schema version 8. On a market segment
    /// gateway use [`market_segment`](Self::market_segment).
    #[must_use]
    pub const fn all() -> Self {
        Self {
            scope: MassStatusReqTyp::ALL_ORDERS,
            security_id: None,
            security_group: [0; 6],
            market_segment_id: None,
            time_in_force: None,
            status_type: None,
            request_id: None,
        }
    }

    /// Creates a request for the orders of one instrument.
    #[must_use]
    pub fn instrument(security_id: impl Into<SecurityId>) -> Self {
        let scope = MassStatusReqTyp::INSTRUMENT;
        Self { scope, security_id: Some(security_id.into()), ..Self::all() }
    }

    /// Creates a request for the orders of one product group, NUL-padded.
    #[must_use]
    pub const fn group(security_group: [u8; 6]) -> Self {
        Self { scope: MassStatusReqTyp::INSTRUMENT_GROUP, security_group, ..Self::all() }
    }

    /// Creates a request for the orders of one market segment.
    #[must_use]
    pub const fn market_segment(id: u8) -> Self {
        let scope = MassStatusReqTyp::MARKET_SEGMENT;
        Self { scope, market_segment_id: Some(id), ..Self::all() }
    }
}

impl Outgoing for MassStatus {
    const MAX_LENGTH: usize = OrderMassStatusRequest530::ENCODED_LENGTH;

    fn check_gateway(&self, kind: GatewayKind) -> Result<(), RequestError> {
        let is_all = self.scope == MassStatusReqTyp::ALL_ORDERS;
        if is_all && kind == GatewayKind::MarketSegment {
            return Err(RequestError::AllOrders);
        }
        Ok(())
    }

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.request_id.unwrap_or(u64::from(seq_num)))
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        OrderMassStatusRequest530::encode(buffer)?
            .set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_mass_status_req_id(self.request_id.unwrap_or(u64::from(stamp.seq_num)))
            .set_manual_order_indicator(stamp.operator.manual_order_indicator)
            .set_sender_id(stamp.operator.sender_id)
            .set_sending_time_epoch(stamp.sending_time.as_nanos())
            .set_security_group(self.security_group)
            .set_location(stamp.operator.location)
            .set_security_id(self.security_id.map(|id| id.0))
            .set_mass_status_req_type(self.scope)
            .set_ord_status_req_type(self.status_type)
            .set_time_in_force(self.time_in_force)
            .set_market_segment_id(self.market_segment_id);
        Ok(Self::MAX_LENGTH)
    }
}
