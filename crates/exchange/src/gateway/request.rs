//! The fields that reports repeat: those of the request, and the stored state of an order.

use hairpin_cme_codecs::ilink3::{
    BooleanNULL, ExecMode, ManualOrdIndReq, MassQuote517, MassQuoteRequest567, NewOrderSingle514,
    OrderCancelReplaceRequest515, OrderCancelRequest516, OrderMassActionRequest529,
    OrderMassStatusRequest530, OrderStatusRequest533, OrderType, OrderTypeReq, RequestForQuote543,
    ShortSaleType, SideReq, TimeInForce,
};
use hairpin_sbe::CharArray;

use super::Venue;
use super::reports::CROSS_TYPE;
use crate::Price;
use crate::matching::OrderId;

/// The request fields that a report repeats. Texts include their padding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub(super) sender_id: [u8; 20],
    pub(super) cl_ord_id: [u8; 20],
    pub(super) location: [u8; 5],
    pub(super) party_details_list_req_id: u64,
    pub(super) order_request_id: u64,
    pub(super) manual_order_indicator: u8,
}

/// A session's order as its last request described it, for all further reports.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientOrder {
    pub(super) order: OrderId,
    pub(super) request: Request,
    /// The order was accepted in an earlier week. A PartyDetailsDefinitionRequestAck519 precedes
    /// each of its reports, and both have PartyDetailsListReqID 0.
    pub(super) carried: bool,
    /// The index of the order's party details, if the order may rest beyond its week.
    pub(super) details: u32,
    pub(super) security_id: i32,
    pub(super) side: SideReq,
    /// The requested type, which reports may lack.
    pub(super) ord_type: OrderType,
    /// The requested price; for an accepted order, its limit.
    pub(super) price: Option<Price>,
    pub(super) quantity: u32,
    pub(super) min_qty: Option<u32>,
    pub(super) display_qty: Option<u32>,
    pub(super) stop_px: Option<Price>,
    pub(super) expire_date: Option<u16>,
    pub(super) exec_inst: u8,
    /// The order is one side of a quote.
    pub(super) quote: bool,
    /// CrossID of the cross that contained the order.
    pub(super) cross: Option<u64>,
    /// CrossType (tag 549) of the cross.
    pub(super) cross_type: u8,
    /// Time in force; day if the request has none.
    pub(super) time_in_force: TimeInForce,
    pub(super) execution_mode: Option<ExecMode>,
    pub(super) liquidity_flag: Option<BooleanNULL>,
    pub(super) managed_order: Option<BooleanNULL>,
    pub(super) short_sale_type: Option<ShortSaleType>,
}

impl Default for ClientOrder {
    fn default() -> Self {
        Self {
            order: OrderId::NONE,
            request: Request::UNDECODED,
            carried: false,
            details: 0,
            security_id: 0,
            side: SideReq::BUY,
            ord_type: OrderType::LIMIT,
            price: None,
            quantity: 0,
            min_qty: None,
            display_qty: None,
            stop_px: None,
            expire_date: None,
            exec_inst: 0,
            quote: false,
            cross: None,
            cross_type: CROSS_TYPE,
            time_in_force: TimeInForce::DAY,
            execution_mode: None,
            liquidity_flag: None,
            managed_order: None,
            short_sale_type: None,
        }
    }
}

fn array<const N: usize>(text: &[u8]) -> [u8; N] {
    // The codec's fields have exactly these lengths.
    text.try_into().unwrap_or([0; N])
}

/// Decodes the fields that all three order requests have under the same names.
macro_rules! request {
    ($message:expr) => {
        Request {
            sender_id: array($message.sender_id().raw()),
            cl_ord_id: array($message.cl_ord_id().raw()),
            location: array($message.location().raw()),
            party_details_list_req_id: $message.party_details_list_req_id(),
            order_request_id: $message.order_request_id(),
            manual_order_indicator: $message.manual_order_indicator().0,
        }
    };
}

/// Decodes the fields that requests without a ClOrdID have.
macro_rules! request_without_cl_ord_id {
    ($message:expr, $order_request_id:expr) => {
        Request {
            sender_id: array($message.sender_id().raw()),
            location: array($message.location().raw()),
            party_details_list_req_id: $message.party_details_list_req_id(),
            order_request_id: $order_request_id,
            manual_order_indicator: $message.manual_order_indicator().0,
            ..Request::UNDECODED
        }
    };
}

/// Decodes the fields that a new order and a replacement have under the same names.
macro_rules! client_order {
    ($message:expr) => {
        ClientOrder {
            order: OrderId::NONE,
            request: request!($message),
            carried: false,
            details: 0,
            security_id: $message.security_id(),
            side: $message.side(),
            ord_type: OrderType($message.ord_type().0),
            price: $message.price(),
            quantity: $message.order_qty(),
            min_qty: $message.min_qty(),
            display_qty: $message.display_qty(),
            stop_px: $message.stop_px(),
            expire_date: $message.expire_date(),
            exec_inst: $message.exec_inst().0,
            quote: false,
            cross: None,
            cross_type: CROSS_TYPE,
            time_in_force: $message.time_in_force().unwrap_or(TimeInForce::DAY),
            execution_mode: $message.execution_mode(),
            liquidity_flag: $message.liquidity_flag(),
            managed_order: $message.managed_order(),
            short_sale_type: $message.short_sale_type(),
        }
    };
}

impl Request {
    /// The fields of a request that could not be decoded: empty texts, other fields null.
    pub(super) const UNDECODED: Self = Self {
        sender_id: [0; 20],
        cl_ord_id: [0; 20],
        location: [0; 5],
        party_details_list_req_id: u64::MAX,
        order_request_id: u64::MAX,
        manual_order_indicator: u8::MAX,
    };

    /// Returns the request as reports repeat it: EBS reports have the operator in upper case.
    pub(super) fn echoed(mut self, venue: Venue) -> Self {
        if venue == Venue::Ebs {
            self.sender_id.make_ascii_uppercase();
        }
        self
    }

    pub(super) fn from_status(message: &OrderStatusRequest533<'_>) -> Self {
        request_without_cl_ord_id!(message, u64::MAX)
    }

    pub(super) fn from_mass_status(message: &OrderMassStatusRequest530<'_>) -> Self {
        request_without_cl_ord_id!(message, u64::MAX)
    }

    pub(super) fn from_mass_action(message: &OrderMassActionRequest529<'_>) -> Self {
        request_without_cl_ord_id!(message, message.order_request_id())
    }

    pub(super) fn from_mass_quote(message: &MassQuote517<'_>) -> Self {
        request_without_cl_ord_id!(message, u64::MAX)
    }

    pub(super) fn from_request_for_quote(message: &RequestForQuote543<'_>) -> Self {
        request_without_cl_ord_id!(message, u64::MAX)
    }

    pub(super) fn from_mass_quote_request(message: &MassQuoteRequest567<'_>) -> Self {
        request_without_cl_ord_id!(message, u64::MAX)
    }

    pub(super) fn from_quote_cancel(
        sender_id: CharArray<'_>,
        location: CharArray<'_>,
        party_details_list_req_id: u64,
        manual_order_indicator: ManualOrdIndReq,
    ) -> Self {
        Self {
            sender_id: array(sender_id.raw()),
            location: array(location.raw()),
            party_details_list_req_id,
            manual_order_indicator: manual_order_indicator.0,
            ..Self::UNDECODED
        }
    }

    pub(super) fn from_cancel(message: &OrderCancelRequest516<'_>) -> Self {
        request!(message)
    }
}

impl ClientOrder {
    /// Returns `true` for an order that may rest beyond its week.
    pub(super) fn outlasts_week(&self) -> bool {
        matches!(self.time_in_force, TimeInForce::GOOD_TILL_CANCEL | TimeInForce::GOOD_TILL_DATE)
    }

    /// Returns the order with its request as reports repeat it.
    pub(super) fn echoed(self, venue: Venue) -> Self {
        Self { request: self.request.echoed(venue), ..self }
    }

    /// Returns the accepted order as reports describe it: a stop order with protection has its
    /// assigned limit.
    pub(super) fn accepted(self, order: OrderId, price: Price) -> Self {
        let ord_type = self.reported_type();
        Self { order, price: Some(price), ord_type, ..self }
    }

    /// Returns OrdType (tag 40) of reports, which have no value for a stop order with protection:
    /// it is reported as a stop limit order, also if it is rejected.
    pub(super) fn reported_type(&self) -> OrderType {
        match OrderTypeReq(self.ord_type.0) {
            OrderTypeReq::STOPWITH_PROTECTION => OrderType::STOP_LIMIT,
            _ => self.ord_type,
        }
    }

    pub(super) fn from_order(message: &NewOrderSingle514<'_>) -> Self {
        client_order!(message)
    }

    pub(super) fn from_replace(message: &OrderCancelReplaceRequest515<'_>) -> Self {
        client_order!(message)
    }
}
