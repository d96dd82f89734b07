//! New orders: NewOrderSingle514.

use hairpin_cme_codecs::ilink3::{
    ExecInst, ExecMode, NewOrderSingle514, Price9, ShortSaleType, SideReq,
};
use hairpin_sbe::EncodeError;

use crate::order_terms::{boolean, check_prices, check_terms, order_setters};
use crate::sender::{Outgoing, Stamp};
use crate::{ClOrdId, OrderTimeInForce, Pricing, RequestError, SecurityId};

/// A NewOrderSingle514. The constructors take the fields that every order, or every order of the
/// type, requires. All other fields have the schema's null, or the value for a plain day order,
/// until set.
///
/// The session's [`Operator`](crate::Operator) provides SenderID, Location, PartyDetailsListReqID
/// and ManualOrderIndicator, unless the order is [sent as](crate::Sender::send_as) another one.
///
/// Prices are wire prices in units of 10⁻⁹. The display price is the wire price times the
/// instrument's DisplayFactor (9787): with factor 0.01, ES at 4500.25 has the wire price 450025 and
/// the mantissa 450,025 × 10⁹.
///
/// ```
/// use hairpin_ilink3::{ClOrdId, NewOrder, OrderTimeInForce};
/// use hairpin_cme_codecs::ilink3::SideReq;
/// use hairpin_sbe::Decimal;
///
/// // ES at 4500.25, with DisplayFactor 0.01.
/// let price = Decimal(450_025_000_000_000);
/// let day = NewOrder::limit(42, SideReq::BUY, price, 3, ClOrdId::from(1));
/// assert_eq!(day.time_in_force, OrderTimeInForce::Day);
/// let iceberg = day.good_till_cancel().with_display_quantity(1);
/// let now = NewOrder::market(42, SideReq::SELL, 3, ClOrdId::from(2)).fill_or_kill();
/// # let _ = (iceberg, now);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewOrder {
    /// SecurityID (48).
    pub security_id: SecurityId,
    /// Side (54).
    pub side: SideReq,
    /// OrdType (40), with Price (44) and StopPx (99).
    pub pricing: Pricing,
    /// OrderQty (38) in contracts, at least 1.
    pub quantity: u32,
    /// ClOrdID (11).
    pub cl_ord_id: ClOrdId,
    /// OrderRequestID (2422), echoed in reports. `None` sends the order's SeqNum.
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
    /// ReservationPrice (9562); since schema version 8.
    pub reservation_price: Option<Price9>,
}

impl NewOrder {
    /// Creates a limit order for the day.
    #[inline]
    #[must_use]
    pub fn limit(
        security_id: impl Into<SecurityId>,
        side: SideReq,
        price: Price9,
        quantity: u32,
        cl_ord_id: ClOrdId,
    ) -> Self {
        Self::new(security_id, side, Pricing::Limit { price }, quantity, cl_ord_id)
    }

    /// Creates a market order with protection for the day. CME has no other market orders.
    #[inline]
    #[must_use]
    pub fn market(
        security_id: impl Into<SecurityId>,
        side: SideReq,
        quantity: u32,
        id: ClOrdId,
    ) -> Self {
        Self::new(security_id, side, Pricing::Market, quantity, id)
    }

    /// Creates a market-limit order for the day. The quantity that the best opposite price does not
    /// fill rests at that price.
    #[inline]
    #[must_use]
    pub fn market_limit(
        security_id: impl Into<SecurityId>,
        side: SideReq,
        quantity: u32,
        id: ClOrdId,
    ) -> Self {
        Self::new(security_id, side, Pricing::MarketLimit, quantity, id)
    }

    /// Creates a stop order with protection for the day: a market order once `stop_price` has
    /// traded.
    #[inline]
    #[must_use]
    pub fn stop(
        security_id: impl Into<SecurityId>,
        side: SideReq,
        stop_price: Price9,
        quantity: u32,
        cl_ord_id: ClOrdId,
    ) -> Self {
        Self::new(security_id, side, Pricing::Stop { stop_price }, quantity, cl_ord_id)
    }

    /// Creates a stop-limit order for the day: a limit order at `price` once `stop_price` has
    /// traded.
    #[inline]
    #[must_use]
    pub fn stop_limit(
        security_id: impl Into<SecurityId>,
        side: SideReq,
        stop_price: Price9,
        price: Price9,
        quantity: u32,
        cl_ord_id: ClOrdId,
    ) -> Self {
        let pricing = Pricing::StopLimit { stop_price, price };
        Self::new(security_id, side, pricing, quantity, cl_ord_id)
    }

    /// Creates an order for the day with any pricing.
    #[inline]
    #[must_use]
    pub fn new(
        security_id: impl Into<SecurityId>,
        side: SideReq,
        pricing: Pricing,
        quantity: u32,
        cl_ord_id: ClOrdId,
    ) -> Self {
        Self {
            security_id: security_id.into(),
            side,
            pricing,
            quantity,
            cl_ord_id,
            order_request_id: None,
            time_in_force: OrderTimeInForce::Day,
            min_quantity: None,
            display_quantity: None,
            execution_instructions: ExecInst(0),
            execution_mode: None,
            liquidity_flag: None,
            managed_order: None,
            short_sale_type: None,
            discretion_price: None,
            reservation_price: None,
        }
    }
}

order_setters!(NewOrder);

impl Outgoing for NewOrder {
    const MAX_LENGTH: usize = NewOrderSingle514::ENCODED_LENGTH;

    #[inline]
    fn check(&self) -> Result<(), RequestError> {
        check_terms(
            self.pricing,
            self.time_in_force,
            self.quantity,
            self.min_quantity,
            self.display_quantity,
        )?;
        check_prices(self.discretion_price, self.reservation_price)
    }

    #[inline]
    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.order_request_id.unwrap_or(u64::from(seq_num)))
    }

    // Always inlined, like `Sender::send`.
    #[inline(always)]
    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let mut order = NewOrderSingle514::encode(buffer)?;
        order
            .set_price(self.pricing.price())
            .set_order_qty(self.quantity)
            .set_security_id(self.security_id.0)
            .set_side(self.side)
            .set_sender_id(stamp.operator.sender_id)
            .set_cl_ord_id(self.cl_ord_id.0)
            .set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_order_request_id(self.order_request_id.unwrap_or(u64::from(stamp.seq_num)))
            .set_sending_time_epoch(stamp.sending_time.as_nanos())
            .set_stop_px(self.pricing.stop_price())
            .set_location(stamp.operator.location)
            .set_min_qty(self.min_quantity)
            .set_display_qty(self.display_quantity)
            .set_expire_date(self.time_in_force.expire_date())
            .set_ord_type(self.pricing.order_type())
            .set_time_in_force(self.time_in_force.code())
            .set_manual_order_indicator(stamp.operator.manual_order_indicator)
            .set_exec_inst(self.execution_instructions)
            .set_execution_mode(self.execution_mode)
            .set_liquidity_flag(boolean(self.liquidity_flag))
            .set_managed_order(boolean(self.managed_order))
            .set_short_sale_type(self.short_sale_type)
            .set_discretion_price(self.discretion_price)
            .set_reservation_price(self.reservation_price);
        Ok(Self::MAX_LENGTH)
    }
}
