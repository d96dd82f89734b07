//! Requests other than orders: cancel many, and query the status of one.

use hairpin_order_entry::messages::{
    MassActionScope, OrderMassActionRequest529, OrderStatusRequest533,
};
use hairpin_order_entry::{EncodeError, Outgoing, Stamp};

/// An OrderMassActionRequest529: cancels all orders, or all of an instrument.
pub(super) struct CancelAll {
    pub(super) security_id: Option<i32>,
}

impl Outgoing for CancelAll {
    const MAX_LENGTH: usize = OrderMassActionRequest529::ENCODED_LENGTH;

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(seq_num.into())
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let scope = match self.security_id {
            Some(_) => MassActionScope::INSTRUMENT,
            None => MassActionScope::ALL,
        };
        OrderMassActionRequest529::encode(buffer)?
            .set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_order_request_id(stamp.seq_num.into())
            .set_manual_order_indicator(stamp.operator.manual_order_indicator)
            .set_sender_id(stamp.operator.sender_id)
            .set_sending_time_epoch(stamp.sending_time.as_nanos())
            .set_location(stamp.operator.location)
            .set_security_id(self.security_id)
            .set_mass_action_scope(scope);
        Ok(Self::MAX_LENGTH)
    }
}

/// An OrderStatusRequest533.
pub(super) struct AskStatus {
    /// The exchange's identifier.
    pub(super) order_id: u64,
}

impl Outgoing for AskStatus {
    const MAX_LENGTH: usize = OrderStatusRequest533::ENCODED_LENGTH;

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(seq_num.into())
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        OrderStatusRequest533::encode(buffer)?
            .set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_ord_status_req_id(stamp.seq_num.into())
            .set_manual_order_indicator(stamp.operator.manual_order_indicator)
            .set_sender_id(stamp.operator.sender_id)
            .set_order_id(self.order_id)
            .set_sending_time_epoch(stamp.sending_time.as_nanos())
            .set_location(stamp.operator.location);
        Ok(Self::MAX_LENGTH)
    }
}
