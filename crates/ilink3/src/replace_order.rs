//! Order replacement: OrderCancelReplaceRequest515.

use hairpin_cme_codecs::ilink3::{
    ExecInst, ExecMode, OFMOverrideReq, OrderCancelReplaceRequest515, Price9, ShortSaleType,
    SideReq,
};
use hairpin_sbe::EncodeError;

use crate::order_terms::{boolean, check_order_id, check_prices, check_terms, order_setters};
use crate::sender::{Outgoing, Stamp};
use crate::{ClOrdId, NewOrder, OrderId, OrderTimeInForce, Pricing, RequestError, SecurityId};

/// OFMOverride (9768): the handling of contracts that trade while a replacement is in flight.
///
/// The first replacement of an order sets the mode for all later ones. CME rejects a change with
/// reason 2101. Source: CME Client Systems Wiki, "iLink Order Cancel-Replace and In-Flight
/// Mitigation".
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum InFlightMitigation {
    /// Disabled (0): the whole new quantity is entered in the book. For example, an order of 10 is
    /// replaced by 5 and 2 trade in flight: 5 remain working.
    #[default]
    Disabled,
    /// Enabled (1): contracts already traded reduce the new quantity. In the same example, 3 remain
    /// working.
    Enabled,
}

impl InFlightMitigation {
    /// Returns OFMOverride (9768).
    #[inline]
    #[must_use]
    pub const fn ofm_override(self) -> OFMOverrideReq {
        match self {
            Self::Disabled => OFMOverrideReq::DISABLED,
            Self::Enabled => OFMOverrideReq::ENABLED,
        }
    }
}

/// An OrderCancelReplaceRequest515: changes the price, quantity or time in force of a working
/// order. The request contains the complete new order.
///
/// The session's [`Operator`](crate::Operator) provides SenderID, Location, PartyDetailsListReqID
/// and ManualOrderIndicator, unless the request is [sent as](crate::Sender::send_as) another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplaceOrder {
    /// OrderID (37) from the exchange's execution report. `None` addresses the order by ClOrdID;
    /// BrokerTec requires OrderID.
    pub order_id: Option<OrderId>,
    /// SecurityID (48) of the order; cannot be changed.
    pub security_id: SecurityId,
    /// Side (54) of the order; cannot be changed.
    pub side: SideReq,
    /// OrdType (40), with Price (44) and StopPx (99).
    pub pricing: Pricing,
    /// OrderQty (38) in contracts, at least 1. See [`InFlightMitigation`].
    pub quantity: u32,
    /// ClOrdID (11): of this request, or without OrderID that of the order.
    pub cl_ord_id: ClOrdId,
    /// OrderRequestID (2422), echoed in reports. `None` sends the request's SeqNum.
    pub order_request_id: Option<u64>,
    /// TimeInForce (59), with ExpireDate (432).
    pub time_in_force: OrderTimeInForce,
    /// MinQty (110) in contracts, from 1 to the quantity.
    pub min_quantity: Option<u32>,
    /// DisplayQty (1138) in contracts, from 1 (or MinQty) to the quantity.
    pub display_quantity: Option<u32>,
    /// ExecInst (18).
    pub execution_instructions: ExecInst,
    /// ExecutionMode (5906).
    pub execution_mode: Option<ExecMode>,
    /// LiquidityFlag (9373), for BrokerTec and EBS in the EU.
    pub liquidity_flag: Option<bool>,
    /// ManagedOrder (6881). Rejected for futures and options.
    pub managed_order: Option<bool>,
    /// ShortSaleType (5409).
    pub short_sale_type: Option<ShortSaleType>,
    /// DiscretionPrice (845), for EBS; since schema version 6.
    pub discretion_price: Option<Price9>,
    /// OFMOverride (9768).
    pub in_flight_mitigation: InFlightMitigation,
}

impl ReplaceOrder {
    /// Creates a replacement of order `order_id` by a limit order for the day.
    #[inline]
    #[must_use]
    pub fn limit(
        order_id: impl Into<OrderId>,
        security_id: impl Into<SecurityId>,
        side: SideReq,
        price: Price9,
        quantity: u32,
        cl_ord_id: ClOrdId,
    ) -> Self {
        let order = NewOrder::limit(security_id, side, price, quantity, cl_ord_id);
        Self::from_order(order_id, &order)
    }

    /// Creates a replacement of order `order_id` by a stop order with protection for the day.
    #[inline]
    #[must_use]
    pub fn stop(
        order_id: impl Into<OrderId>,
        security_id: impl Into<SecurityId>,
        side: SideReq,
        stop_price: Price9,
        quantity: u32,
        cl_ord_id: ClOrdId,
    ) -> Self {
        let order = NewOrder::stop(security_id, side, stop_price, quantity, cl_ord_id);
        Self::from_order(order_id, &order)
    }

    /// Creates a replacement of order `order_id` by the terms of `order`, including its ClOrdID.
    /// Use it with a modified copy of the order as sent.
    #[inline]
    #[must_use]
    pub fn from_order(order_id: impl Into<OrderId>, order: &NewOrder) -> Self {
        Self { order_id: Some(order_id.into()), ..Self::by_cl_ord_id(order) }
    }

    /// Creates a replacement of the order with the ClOrdID of `order` by the terms of `order`: for
    /// an order without a report yet. CME accepts it for futures, options and EBS.
    ///
    /// Source: CME Client Systems Wiki 46473084.
    #[inline]
    #[must_use]
    pub const fn by_cl_ord_id(order: &NewOrder) -> Self {
        Self {
            order_id: None,
            security_id: order.security_id,
            side: order.side,
            pricing: order.pricing,
            quantity: order.quantity,
            cl_ord_id: order.cl_ord_id,
            order_request_id: order.order_request_id,
            time_in_force: order.time_in_force,
            min_quantity: order.min_quantity,
            display_quantity: order.display_quantity,
            execution_instructions: order.execution_instructions,
            execution_mode: order.execution_mode,
            liquidity_flag: order.liquidity_flag,
            managed_order: order.managed_order,
            short_sale_type: order.short_sale_type,
            discretion_price: order.discretion_price,
            in_flight_mitigation: InFlightMitigation::Disabled,
        }
    }

    /// Enables in-flight mitigation: contracts already traded reduce the new quantity.
    #[inline]
    #[must_use]
    pub const fn with_in_flight_mitigation(mut self) -> Self {
        self.in_flight_mitigation = InFlightMitigation::Enabled;
        self
    }
}

order_setters!(ReplaceOrder);

impl Outgoing for ReplaceOrder {
    const MAX_LENGTH: usize = OrderCancelReplaceRequest515::ENCODED_LENGTH;

    #[inline]
    fn check(&self) -> Result<(), RequestError> {
        check_order_id(self.order_id)?;
        check_terms(
            self.pricing,
            self.time_in_force,
            self.quantity,
            self.min_quantity,
            self.display_quantity,
        )?;
        check_prices(self.discretion_price, None)
    }

    #[inline]
    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.order_request_id.unwrap_or(u64::from(seq_num)))
    }

    #[inline]
    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let mut request = OrderCancelReplaceRequest515::encode(buffer)?;
        request
            .set_price(self.pricing.price())
            .set_order_qty(self.quantity)
            .set_security_id(self.security_id.0)
            .set_side(self.side)
            .set_sender_id(stamp.operator.sender_id)
            .set_cl_ord_id(self.cl_ord_id.0)
            .set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_order_id(self.order_id.map(|id| id.0))
            .set_stop_px(self.pricing.stop_price())
            .set_order_request_id(self.order_request_id.unwrap_or(u64::from(stamp.seq_num)))
            .set_sending_time_epoch(stamp.sending_time.as_nanos())
            .set_location(stamp.operator.location)
            .set_min_qty(self.min_quantity)
            .set_display_qty(self.display_quantity)
            .set_expire_date(self.time_in_force.expire_date())
            .set_ord_type(self.pricing.order_type())
            .set_time_in_force(self.time_in_force.code())
            .set_manual_order_indicator(stamp.operator.manual_order_indicator)
            .set_ofm_override(self.in_flight_mitigation.ofm_override())
            .set_exec_inst(self.execution_instructions)
            .set_execution_mode(self.execution_mode)
            .set_liquidity_flag(boolean(self.liquidity_flag))
            .set_managed_order(boolean(self.managed_order))
            .set_short_sale_type(self.short_sale_type)
            .set_discretion_price(self.discretion_price);
        Ok(Self::MAX_LENGTH)
    }
}
