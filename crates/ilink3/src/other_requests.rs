//! Requests without terms of an order: 533, 537, 539, 543 and 560.

use hairpin_cme_codecs::ilink3::{
    DKReason, ExecAckStatus, ExecutionAck539, OrderStatusRequest533, PartyDetailsListRequest537,
    Price9, QuoteTyp, RFQSide, RequestForQuote543, SecurityDefinitionRequest560, SideReq,
};
use hairpin_sbe::{EncodeError, Float};

use crate::order_terms::{check_count, check_order_id};
use crate::sender::{Outgoing, Stamp, set_sender_fields};
use crate::{ClOrdId, OrderId, RequestError, SecurityId, Text};

/// The maximum number of entries in a group of the requests of this module.
pub const ENTRIES_MAX: usize = 40;

/// An OrderStatusRequest533: requests the status of one order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderStatusRequest {
    /// OrderID (37) from the exchange's execution report.
    pub order_id: OrderId,
    /// OrdStatusReqID (790), echoed in the report. `None` sends the request's SeqNum.
    pub request_id: Option<u64>,
}

impl OrderStatusRequest {
    /// Creates a request for order `order_id`.
    #[must_use]
    pub fn new(order_id: impl Into<OrderId>) -> Self {
        Self { order_id: order_id.into(), request_id: None }
    }
}

impl Outgoing for OrderStatusRequest {
    const MAX_LENGTH: usize = OrderStatusRequest533::ENCODED_LENGTH;

    fn check(&self) -> Result<(), RequestError> {
        check_order_id(Some(self.order_id))
    }

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.request_id.unwrap_or(u64::from(seq_num)))
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let mut root = OrderStatusRequest533::encode(buffer)?;
        set_sender_fields!(root, stamp);
        root.set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_ord_status_req_id(self.request_id.unwrap_or(u64::from(stamp.seq_num)))
            .set_order_id(self.order_id.0);
        Ok(Self::MAX_LENGTH)
    }
}

/// A firm that requests party details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestingParty {
    /// RequestingPartyID (1658).
    pub id: Text<5>,
    /// RequestingPartyIDSource (1659), a character.
    pub source: u8,
    /// RequestingPartyRole (1660), a character.
    pub role: u8,
}

/// Party details that are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestedParty {
    /// PartyID (448).
    pub id: u64,
    /// PartyIDSource (447), a character.
    pub source: u8,
    /// PartyRole (452).
    pub role: u16,
}

/// A PartyDetailsListRequest537: requests registered party details, on the service gateway. CME
/// counts it in the limit of common messages and processes one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartyDetailsListRequest<'a> {
    /// PartyDetailsListReqID (1505) of the request. `None` sends the request's SeqNum.
    pub request_id: Option<u64>,
    /// NoRequestingPartyIDs (1657), at most [`ENTRIES_MAX`].
    pub requesting_parties: &'a [RequestingParty],
    /// NoPartyIDs (453), at most [`ENTRIES_MAX`].
    pub parties: &'a [RequestedParty],
}

impl Outgoing for PartyDetailsListRequest<'_> {
    const MAX_LENGTH: usize = 8 + 20 + 3 + 7 * ENTRIES_MAX + 3 + 11 * ENTRIES_MAX;

    fn check(&self) -> Result<(), RequestError> {
        check_count(self.requesting_parties.len(), 0, ENTRIES_MAX)?;
        check_count(self.parties.len(), 0, ENTRIES_MAX)
    }

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.request_id.unwrap_or(u64::from(seq_num)))
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = PartyDetailsListRequest537::encode(buffer)?;
        root.set_party_details_list_req_id(self.request_id.unwrap_or(u64::from(stamp.seq_num)))
            .set_sending_time_epoch(stamp.sending_time.as_nanos());
        let mut entries = groups.no_requesting_party_i_ds()?;
        for party in self.requesting_parties {
            entries
                .push()?
                .set_requesting_party_id(party.id)
                .set_requesting_party_id_source(party.source)
                .set_requesting_party_role(party.role);
        }
        let mut entries = groups.no_party_i_ds()?;
        for party in self.parties {
            entries
                .push()?
                .set_party_id(party.id)
                .set_party_id_source(party.source)
                .set_party_role(party.role);
        }
        groups.finish()
    }
}

/// An ExecutionAck539: accepts or rejects a trade of EBS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecutionAck {
    /// OrderID (37) of the order that traded.
    pub order_id: OrderId,
    /// ClOrdID (11) of the order.
    pub cl_ord_id: ClOrdId,
    /// SecExecID (527) of the trade.
    pub sec_exec_id: u64,
    /// SecurityID (48).
    pub security_id: SecurityId,
    /// Side (54) of the order.
    pub side: SideReq,
    /// LastPx (31), a wire price.
    pub last_price: Price9,
    /// LastQty (32) in contracts.
    pub last_quantity: u32,
    /// ExecAckStatus (1036) and DKReason (127): `None` accepts the trade.
    pub reject_reason: Option<DKReason>,
}

impl Outgoing for ExecutionAck {
    const MAX_LENGTH: usize = ExecutionAck539::ENCODED_LENGTH;

    fn check(&self) -> Result<(), RequestError> {
        check_order_id(Some(self.order_id))
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let status = match self.reject_reason {
            Some(_) => ExecAckStatus::REJECTED,
            None => ExecAckStatus::ACCEPTED,
        };
        let mut root = ExecutionAck539::encode(buffer)?;
        set_sender_fields!(root, stamp);
        root.set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_order_id(self.order_id.0)
            .set_exec_ack_status(status)
            .set_cl_ord_id(self.cl_ord_id.0)
            .set_sec_exec_id(self.sec_exec_id)
            .set_last_px(self.last_price)
            .set_security_id(self.security_id.0)
            .set_last_qty(self.last_quantity)
            .set_dk_reason(self.reject_reason)
            .set_side(self.side);
        Ok(Self::MAX_LENGTH)
    }
}

/// An instrument of a request for quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelatedSym {
    /// SecurityID (48).
    pub security_id: SecurityId,
    /// OrderQty (38) in contracts.
    pub quantity: Option<u32>,
    /// Side (54); `None` for both.
    pub side: Option<RFQSide>,
}

/// A RequestForQuote543: asks the market for quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestForQuote<'a> {
    /// The instruments, 1 to [`ENTRIES_MAX`].
    pub instruments: &'a [RelatedSym],
    /// QuoteType (537).
    pub quote_type: Option<QuoteTyp>,
    /// QuoteReqID (131), echoed in the response. `None` sends the request's SeqNum.
    pub request_id: Option<u64>,
}

impl<'a> RequestForQuote<'a> {
    /// Creates a request for tradeable quotes.
    #[must_use]
    pub const fn new(instruments: &'a [RelatedSym]) -> Self {
        Self { instruments, quote_type: Some(QuoteTyp::TRADEABLE), request_id: None }
    }
}

impl Outgoing for RequestForQuote<'_> {
    const MAX_LENGTH: usize = 8 + 55 + 3 + 9 * ENTRIES_MAX;

    fn check(&self) -> Result<(), RequestError> {
        check_count(self.instruments.len(), 1, ENTRIES_MAX)
    }

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.request_id.unwrap_or(u64::from(seq_num)))
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = RequestForQuote543::encode(buffer)?;
        set_sender_fields!(root, stamp);
        root.set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_quote_req_id(self.request_id.unwrap_or(u64::from(stamp.seq_num)))
            .set_quote_type(self.quote_type);
        let mut entries = groups.no_related_sym()?;
        for instrument in self.instruments {
            entries
                .push()?
                .set_security_id(instrument.security_id.0)
                .set_order_qty(instrument.quantity)
                .set_side(instrument.side);
        }
        groups.finish()
    }
}

/// A leg of an instrument to be created.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leg {
    /// LegSecurityID (602).
    pub security_id: SecurityId,
    /// LegSide (624).
    pub side: SideReq,
    /// LegRatioQty (623).
    pub ratio: Option<u8>,
    /// LegPrice (566), a wire price.
    pub price: Option<Price9>,
    /// LegOptionDelta (1017).
    pub option_delta: Option<Float>,
}

/// The dates of a broken-date repo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrokenDate {
    /// BrokenDateStart (6748), in days since the epoch.
    pub start: Option<u16>,
    /// BrokenDateEnd (6741), in days since the epoch.
    pub end: Option<u16>,
}

/// A SecurityDefinitionRequest560: creates a user-defined instrument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SecurityDefinitionRequest<'a> {
    /// SecuritySubType (762).
    pub sub_type: Text<8>,
    /// NoLegs (555), at most [`ENTRIES_MAX`].
    pub legs: &'a [Leg],
    /// NoBrokenDates (39026), at most [`ENTRIES_MAX`]; since schema version 8.
    pub broken_dates: &'a [BrokenDate],
    /// SecurityReqID (320), echoed in the response. `None` sends the request's SeqNum.
    pub request_id: Option<u64>,
    /// StartDate (916), in days since the epoch.
    pub start_date: Option<u16>,
    /// EndDate (917), in days since the epoch.
    pub end_date: Option<u16>,
    /// MaxNoOfSubstitutions (37715).
    pub substitutions_max: Option<u8>,
    /// SourceRepoID (5677).
    pub source_repo_id: Option<SecurityId>,
    /// BrokenDateTermType (6651); since schema version 8.
    pub broken_date_term_type: Option<u8>,
}

impl<'a> SecurityDefinitionRequest<'a> {
    /// Creates a request for an instrument with `legs`.
    #[must_use]
    pub const fn new(sub_type: Text<8>, legs: &'a [Leg]) -> Self {
        Self {
            sub_type,
            legs,
            broken_dates: &[],
            request_id: None,
            start_date: None,
            end_date: None,
            substitutions_max: None,
            source_repo_id: None,
            broken_date_term_type: None,
        }
    }
}

impl Outgoing for SecurityDefinitionRequest<'_> {
    const MAX_LENGTH: usize = 8 + 72 + 3 + 19 * ENTRIES_MAX + 3 + 4 * ENTRIES_MAX;

    fn check(&self) -> Result<(), RequestError> {
        check_count(self.legs.len(), 0, ENTRIES_MAX)?;
        check_count(self.broken_dates.len(), 0, ENTRIES_MAX)
    }

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.request_id.unwrap_or(u64::from(seq_num)))
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = SecurityDefinitionRequest560::encode(buffer)?;
        set_sender_fields!(root, stamp);
        root.set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_security_req_id(self.request_id.unwrap_or(u64::from(stamp.seq_num)))
            .set_security_sub_type(self.sub_type)
            .set_start_date(self.start_date)
            .set_end_date(self.end_date)
            .set_max_no_of_substitutions(self.substitutions_max)
            .set_source_repo_id(self.source_repo_id.map(|id| id.0))
            .set_broken_date_term_type(self.broken_date_term_type);
        let mut entries = groups.no_legs()?;
        for leg in self.legs {
            entries
                .push()?
                .set_leg_price(leg.price)
                .set_leg_security_id(leg.security_id.0)
                .set_leg_option_delta(leg.option_delta)
                .set_leg_side(leg.side)
                .set_leg_ratio_qty(leg.ratio);
        }
        let mut entries = groups.no_broken_dates()?;
        for date in self.broken_dates {
            entries.push()?.set_broken_date_start(date.start).set_broken_date_end(date.end);
        }
        groups.finish()
    }
}
