//! What the gateway answers to business messages.

use hairpin_cme_codecs::ilink3::{
    BooleanFlag, BusinessReject521, ExecInst, ExecutionReportCancel534, ExecutionReportNew522,
    ExecutionReportTradeOutright525, ManualOrdInd, ManualOrdIndReq, NewOrderSingle514,
    OrdStatusTrd, OrderCancelReject535, OrderCancelRequest516, OrderType, SideReq, TimeInForce,
};
use hairpin_time::Now;

use super::account::Account;
use super::dispatch::Handling;
use super::number::Digits;
use super::reason::BusinessReason;
use super::session::Session;
use crate::matching::{Order, OrderId};
use crate::{Listener, Price, SessionFill};

/// CxlRejReason (tag 102): there is no such order.
const UNKNOWN_ORDER: u16 = 1;

/// TradeSpread, FillYieldType and Ownership of a trade that has none of these.
const NONE: u8 = 0;

/// Why a business message is refused.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refusal {
    pub(super) reason: BusinessReason,
    pub(super) tag: Option<u16>,
    pub(super) text: &'static str,
}

/// What a report repeats of the request it answers; texts with their padding.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Request {
    pub(super) sender_id: [u8; 20],
    pub(super) cl_ord_id: [u8; 20],
    pub(super) location: [u8; 5],
    pub(super) party_details_list_req_id: u64,
    pub(super) order_request_id: u64,
    pub(super) manual_order_indicator: u8,
}

/// An order of a session, for reports of its trades.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientOrder {
    pub(super) order: OrderId,
    pub(super) request: Request,
    pub(super) security_id: i32,
    pub(super) side: SideReq,
    pub(super) price: Price,
    pub(super) quantity: u32,
}

impl Default for ClientOrder {
    fn default() -> Self {
        Self {
            order: OrderId::NONE,
            request: Request::default(),
            security_id: 0,
            side: SideReq::BUY,
            price: Price::default(),
            quantity: 0,
        }
    }
}

fn array<const N: usize>(text: &[u8]) -> [u8; N] {
    // The codec's fields have just these lengths.
    text.try_into().unwrap_or([0; N])
}

impl Request {
    pub(super) fn from_order(message: &NewOrderSingle514<'_>) -> Self {
        Self {
            sender_id: array(message.sender_id().raw()),
            cl_ord_id: array(message.cl_ord_id().raw()),
            location: array(message.location().raw()),
            party_details_list_req_id: message.party_details_list_req_id(),
            order_request_id: message.order_request_id(),
            manual_order_indicator: message.manual_order_indicator().0,
        }
    }

    pub(super) fn from_cancel(message: &OrderCancelRequest516<'_>) -> Self {
        Self {
            sender_id: array(message.sender_id().raw()),
            cl_ord_id: array(message.cl_ord_id().raw()),
            location: array(message.location().raw()),
            party_details_list_req_id: message.party_details_list_req_id(),
            order_request_id: message.order_request_id(),
            manual_order_indicator: message.manual_order_indicator().0,
        }
    }
}

impl<L: Listener> Handling<'_, L> {
    pub(super) fn send_new(
        &mut self,
        account: usize,
        message: &NewOrderSingle514<'_>,
        order: OrderId,
    ) {
        let (number, uuid, utc) = self.number(account);
        self.session.send(self.now, |buffer| {
            ExecutionReportNew522::encode(buffer)?
                .set_seq_num(number)
                .set_uuid(uuid)
                .set_exec_id(Digits::of(number.into()))
                .set_sender_id(message.sender_id())
                .set_cl_ord_id(message.cl_ord_id())
                .set_party_details_list_req_id(message.party_details_list_req_id())
                .set_order_id(order.0)
                .set_price(message.price().unwrap_or_default())
                .set_transact_time(utc)
                .set_sending_time_epoch(utc)
                .set_order_request_id(message.order_request_id())
                .set_location(message.location())
                .set_security_id(message.security_id())
                .set_order_qty(message.order_qty())
                .set_ord_type(OrderType::LIMIT)
                .set_side(message.side())
                .set_time_in_force(TimeInForce::DAY)
                .set_manual_order_indicator(message.manual_order_indicator())
                .set_poss_retrans_flag(BooleanFlag::FALSE)
                .set_exec_inst(ExecInst(0))
                .set_execution_mode(message.execution_mode())
                .set_liquidity_flag(message.liquidity_flag())
                .set_managed_order(message.managed_order())
                .set_short_sale_type(message.short_sale_type());
            Ok(ExecutionReportNew522::ENCODED_LENGTH)
        });
    }

    pub(super) fn send_cancelled(
        &mut self,
        account: usize,
        message: &OrderCancelRequest516<'_>,
        order: &Order,
    ) {
        let of = self.orders[order.id.slot() as usize];
        let (number, uuid, utc) = self.number(account);
        self.session.send(self.now, |buffer| {
            ExecutionReportCancel534::encode(buffer)?
                .set_seq_num(number)
                .set_uuid(uuid)
                .set_exec_id(Digits::of(number.into()))
                .set_sender_id(message.sender_id())
                .set_cl_ord_id(message.cl_ord_id())
                .set_party_details_list_req_id(message.party_details_list_req_id())
                .set_order_id(order.id.0)
                .set_price(order.price)
                .set_transact_time(utc)
                .set_sending_time_epoch(utc)
                .set_order_request_id(message.order_request_id())
                .set_location(message.location())
                .set_security_id(of.security_id)
                .set_order_qty(order.quantity)
                .set_cum_qty(order.quantity - order.remaining)
                .set_ord_type(OrderType::LIMIT)
                .set_side(of.side)
                .set_time_in_force(TimeInForce::DAY)
                .set_manual_order_indicator(message.manual_order_indicator())
                .set_poss_retrans_flag(BooleanFlag::FALSE)
                .set_exec_inst(ExecInst(0))
                .set_liquidity_flag(message.liquidity_flag())
                .set_orig_order_user(message.orig_order_user());
            Ok(ExecutionReportCancel534::ENCODED_LENGTH)
        });
    }

    pub(super) fn send_cancel_reject(
        &mut self,
        account: usize,
        message: &OrderCancelRequest516<'_>,
    ) {
        let (number, uuid, utc) = self.number(account);
        self.session.send(self.now, |buffer| {
            OrderCancelReject535::encode(buffer)?
                .set_seq_num(number)
                .set_uuid(uuid)
                .set_text("Unknown order")
                .set_exec_id(Digits::of(number.into()))
                .set_sender_id(message.sender_id())
                .set_cl_ord_id(message.cl_ord_id())
                .set_party_details_list_req_id(message.party_details_list_req_id())
                .set_order_id(message.order_id().unwrap_or(0))
                .set_transact_time(utc)
                .set_sending_time_epoch(utc)
                .set_order_request_id(message.order_request_id())
                .set_location(message.location())
                .set_cxl_rej_reason(UNKNOWN_ORDER)
                .set_manual_order_indicator(message.manual_order_indicator())
                .set_poss_retrans_flag(BooleanFlag::FALSE)
                .set_liquidity_flag(message.liquidity_flag());
            Ok(OrderCancelReject535::ENCODED_LENGTH)
        });
    }

    /// `number` is that of the refused message, `None` if it did not use one up.
    pub(super) fn send_business_reject(
        &mut self,
        account: usize,
        request: &Request,
        message_type: &[u8],
        refused: Option<u32>,
        refusal: Refusal,
    ) {
        let (number, uuid, utc) = self.number(account);
        self.session.send(self.now, |buffer| {
            BusinessReject521::encode(buffer)?
                .set_seq_num(number)
                .set_uuid(uuid)
                .set_text(refusal.text)
                .set_sender_id(request.sender_id)
                .set_party_details_list_req_id(request.party_details_list_req_id)
                .set_sending_time_epoch(utc)
                .set_business_reject_ref_id(request.order_request_id)
                .set_location(request.location)
                .set_ref_seq_num(refused)
                .set_ref_tag_id(refusal.tag)
                .set_business_reject_reason(refusal.reason.code())
                .set_ref_msg_type(message_type)
                .set_poss_retrans_flag(BooleanFlag::FALSE)
                .set_manual_order_indicator(ManualOrdInd(request.manual_order_indicator));
            Ok(BusinessReject521::ENCODED_LENGTH)
        });
    }

    /// Number and UUID of the next business message, and the time.
    fn number(&mut self, account: usize) -> (u32, u64, u64) {
        let account = &mut self.accounts[account];
        (account.number(), account.uuid, self.now.utc.as_nanos())
    }
}

/// Reports a trade of one order to the session it belongs to.
pub(super) fn send_trade(
    session: &mut Session,
    account: &mut Account,
    now: Now,
    of: &ClientOrder,
    fill: &SessionFill,
) {
    let (number, uuid, utc) = (account.number(), account.uuid, now.utc.as_nanos());
    let status =
        if fill.remaining == 0 { OrdStatusTrd::FILLED } else { OrdStatusTrd::PARTIALLY_FILLED };
    let aggressor = if fill.is_aggressor { BooleanFlag::TRUE } else { BooleanFlag::FALSE };
    session.send(now, |buffer| {
        let (mut root, mut groups) = ExecutionReportTradeOutright525::encode(buffer)?;
        root.set_seq_num(number)
            .set_uuid(uuid)
            .set_exec_id(Digits::of(number.into()))
            .set_sender_id(of.request.sender_id)
            .set_cl_ord_id(of.request.cl_ord_id)
            .set_party_details_list_req_id(of.request.party_details_list_req_id)
            .set_last_px(fill.price)
            .set_order_id(fill.order.0)
            .set_price(of.price)
            .set_transact_time(utc)
            .set_sending_time_epoch(utc)
            .set_order_request_id(of.request.order_request_id)
            .set_sec_exec_id(fill.trade.into())
            .set_location(of.request.location)
            .set_security_id(of.security_id)
            .set_order_qty(of.quantity)
            .set_last_qty(fill.quantity)
            .set_cum_qty(of.quantity.saturating_sub(fill.remaining))
            .set_md_trade_entry_id(fill.trade)
            .set_side_trade_id(fill.trade)
            .set_leaves_qty(fill.remaining)
            // Days since 1970 fit in 16 bits until 2149.
            .set_trade_date(now.utc.days() as u16)
            .set_ord_status(status)
            .set_ord_type(OrderType::LIMIT)
            .set_side(of.side)
            .set_time_in_force(TimeInForce::DAY)
            .set_manual_order_indicator(ManualOrdIndReq(of.request.manual_order_indicator))
            .set_poss_retrans_flag(BooleanFlag::FALSE)
            .set_aggressor_indicator(aggressor)
            .set_exec_inst(ExecInst(0))
            .set_ownership(NONE);
        groups
            .no_fills()?
            .push()?
            .set_fill_px(fill.price)
            .set_fill_qty(fill.quantity)
            .set_fill_exec_id("1")
            .set_fill_yield_type(NONE);
        groups.finish()
    });
}
