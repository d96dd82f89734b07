//! The reports that answer business messages.

use hairpin_cme_codecs::ilink3::{
    BooleanFlag, BusinessReject521, ExecInst, ExecReason, ExecutionReportCancel534,
    ExecutionReportModify531, ExecutionReportNew522, ExecutionReportReject523, ManualOrdInd,
    ManualOrdIndReq, OrderCancelReject535, OrderCancelReplaceReject536, OrderCancelRequest516,
};
use hairpin_sbe::EncodeError;

use super::dispatch::FrameHandler;
use super::party_requests::OnDemandAnswer;
use super::publish::{Stamp, publish};
use super::reason_codes::{BusinessReason, OrderReason};
use super::request::{ClientOrder, Request};
use crate::matching::{Order, OrderId};
use crate::{Listener, Price};

/// CrossType (tag 549) of a NewOrderCross544.
pub(super) const CROSS_TYPE: u8 = 3;

/// Writes the leading fields of all execution reports, which have the same names.
macro_rules! execution_report {
    ($encoder:expr, $stamp:expr, $request:expr) => {
        $encoder
            .set_seq_num($stamp.number)
            .set_uuid($stamp.uuid)
            .set_exec_id($stamp.exec_id)
            .set_sender_id($request.sender_id)
            .set_cl_ord_id($request.cl_ord_id)
            .set_party_details_list_req_id($request.party_details_list_req_id)
            .set_transact_time($stamp.utc)
            .set_sending_time_epoch($stamp.utc)
            .set_order_request_id($request.order_request_id)
            .set_location($request.location)
            .set_manual_order_indicator(ManualOrdIndReq($request.manual_order_indicator))
            .set_poss_retrans_flag(BooleanFlag::FALSE)
    };
}

/// Writes the fields that describe an order, which have the same names in all reports.
macro_rules! order_terms {
    ($encoder:expr, $order:expr) => {
        $encoder
            .set_security_id($order.security_id)
            .set_order_qty($order.quantity)
            .set_ord_type($order.reported_type())
            .set_side($order.side)
            .set_stop_px($order.stop_px)
            .set_expire_date($order.expire_date)
            .set_time_in_force($order.time_in_force)
            .set_exec_inst(ExecInst($order.exec_inst))
            .set_execution_mode($order.execution_mode)
            .set_liquidity_flag($order.liquidity_flag)
            .set_managed_order($order.managed_order)
            .set_short_sale_type($order.short_sale_type)
            .set_cross_id($order.cross)
            .set_cross_type($order.cross.map(|_| $order.cross_type))
    };
}

pub(super) use {execution_report, order_terms};

impl<L: Listener> FrameHandler<'_, L> {
    pub(super) fn send_new(&mut self, account: usize, order: &ClientOrder) {
        self.publish(account, |buffer, stamp| encode_new(buffer, stamp, order));
    }

    /// Sends an ExecutionReportReject523. The OrderID of a rejected order is 0.
    pub(super) fn send_order_reject(
        &mut self,
        account: usize,
        order: &ClientOrder,
        reason: OrderReason,
    ) {
        self.publish(account, |buffer, stamp| {
            let mut report = ExecutionReportReject523::encode(buffer)?;
            execution_report!(report, stamp, order.request).set_split_msg(stamp.split);
            order_terms!(report, order)
                .set_text(reason.text())
                .set_ord_rej_reason(reason.code())
                .set_order_id(0)
                .set_price(order.price)
                .set_min_qty(order.min_qty)
                .set_display_qty(order.display_qty);
            Ok(ExecutionReportReject523::ENCODED_LENGTH)
        });
    }

    /// Sends an ExecutionReportModify531. `resting` is the order with its new terms, before it
    /// trades.
    pub(super) fn send_modified(&mut self, account: usize, order: &ClientOrder, resting: &Order) {
        self.publish(account, |buffer, stamp| {
            let mut report = ExecutionReportModify531::encode(buffer)?;
            execution_report!(report, stamp, order.request).set_split_msg(stamp.split);
            order_terms!(report, order)
                .set_order_id(order.order.0)
                .set_price(order.price.unwrap_or_default())
                .set_cum_qty(resting.traded)
                .set_leaves_qty(resting.remaining)
                .set_min_qty(order.min_qty)
                .set_display_qty(order.display_qty);
            Ok(ExecutionReportModify531::ENCODED_LENGTH)
        });
    }

    /// Sends the PartyDetailsDefinitionRequestAck519 that precedes a report of a carried order.
    pub(super) fn send_carried_details(&mut self, account: usize, order: &ClientOrder) {
        if order.carried {
            let details = *self.order_parties.at(order.details);
            self.publish(account, |buffer, stamp| details.encode_ack(buffer, stamp));
        }
    }

    /// Sends an ExecutionReportCancel534. `order` is the state when the order was last accepted.
    pub(super) fn send_cancelled(
        &mut self,
        account: usize,
        request: &Request,
        order: &ClientOrder,
        resting: &Order,
        orig_order_user: &[u8],
    ) {
        self.send_carried_details(account, order);
        let mut request = *request;
        if order.carried {
            request.party_details_list_req_id = order.request.party_details_list_req_id;
        }
        let request = &request;
        self.publish(account, |buffer, stamp| {
            let resting = CanceledState::from(resting);
            encode_cancelled(buffer, stamp, (request, orig_order_user), (order, resting), None)
        });
    }

    pub(super) fn send_cancel_reject(
        &mut self,
        account: usize,
        (message, request): (&OrderCancelRequest516<'_>, &Request),
        reason: OrderReason,
    ) {
        self.publish(account, |buffer, stamp| {
            let mut reject = OrderCancelReject535::encode(buffer)?;
            execution_report!(reject, stamp, request)
                .set_split_msg(stamp.split)
                .set_text(reason.text())
                .set_order_id(message.order_id().unwrap_or(0))
                .set_cxl_rej_reason(reason.code())
                .set_liquidity_flag(message.liquidity_flag());
            Ok(OrderCancelReject535::ENCODED_LENGTH)
        });
    }

    pub(super) fn send_replace_reject(
        &mut self,
        account: usize,
        order: &ClientOrder,
        reason: OrderReason,
    ) {
        self.publish(account, |buffer, stamp| {
            let mut reject = OrderCancelReplaceReject536::encode(buffer)?;
            execution_report!(reject, stamp, order.request)
                .set_split_msg(stamp.split)
                .set_text(reason.text())
                .set_order_id(order.order.0)
                .set_cxl_rej_reason(reason.code())
                .set_liquidity_flag(order.liquidity_flag);
            Ok(OrderCancelReplaceReject536::ENCODED_LENGTH)
        });
    }

    /// Sends a BusinessReject521. `ref_seq_num` is the number of the rejected message, `None` if it
    /// did not consume one.
    pub(super) fn send_business_reject(
        &mut self,
        account: usize,
        request: &Request,
        message_type: &[u8],
        ref_seq_num: Option<u32>,
        (reason, tag, text): (BusinessReason, Option<u16>, &str),
    ) {
        if self.session.on_demand_answer == OnDemandAnswer::AckDue {
            self.session.on_demand_answer = OnDemandAnswer::Rejected;
        }
        self.publish(account, |buffer, stamp| {
            BusinessReject521::encode(buffer)?
                .set_seq_num(stamp.number)
                .set_uuid(stamp.uuid)
                .set_text(text)
                .set_sender_id(request.sender_id)
                .set_party_details_list_req_id(request.party_details_list_req_id)
                .set_sending_time_epoch(stamp.utc)
                .set_business_reject_ref_id(request.order_request_id)
                .set_location(request.location)
                .set_ref_seq_num(ref_seq_num)
                .set_ref_tag_id(tag)
                .set_business_reject_reason(reason.code())
                .set_ref_msg_type(message_type)
                .set_poss_retrans_flag(BooleanFlag::FALSE)
                .set_split_msg(stamp.split)
                .set_manual_order_indicator(manual_order_indicator(request));
            Ok(BusinessReject521::ENCODED_LENGTH)
        });
    }

    pub(super) fn publish(
        &mut self,
        account: usize,
        encode: impl FnOnce(&mut [u8], &Stamp) -> Result<usize, EncodeError>,
    ) {
        if self.session.on_demand_answer == OnDemandAnswer::AckDue {
            self.acknowledge_details(account);
        }
        let Self { now, session, accounts, executions, faults, counters, .. } = self;
        let faults = faults.as_deref_mut();
        publish(Some(session), &mut accounts[account], executions, faults, counters, *now, encode);
    }
}

/// Returns the indicator of a request (tag 1028), null if it has another value than 0 or 1.
fn manual_order_indicator(request: &Request) -> ManualOrdInd {
    match request.manual_order_indicator {
        value @ (0 | 1) => ManualOrdInd(value),
        _ => ManualOrdInd(u8::MAX),
    }
}

/// Encodes the report of an accepted order, or of a triggered stop order.
pub(super) fn encode_new(
    buffer: &mut [u8],
    stamp: &Stamp,
    order: &ClientOrder,
) -> Result<usize, EncodeError> {
    let mut report = ExecutionReportNew522::encode(buffer)?;
    execution_report!(report, stamp, order.request).set_split_msg(stamp.split);
    order_terms!(report, order)
        .set_order_id(order.order.0)
        .set_price(order.price.unwrap_or_default())
        .set_min_qty(order.min_qty)
        .set_display_qty(order.display_qty);
    Ok(ExecutionReportNew522::ENCODED_LENGTH)
}

/// The state of an order when it was canceled.
#[derive(Debug, Clone, Copy)]
pub(super) struct CanceledState {
    pub(super) id: OrderId,
    pub(super) price: Price,
    pub(super) traded: u32,
}

impl From<&Order> for CanceledState {
    fn from(&Order { id, price, traded, .. }: &Order) -> Self {
        Self { id, price, traded }
    }
}

/// Encodes the report of an order canceled by a request, or by the exchange for a `reason`.
pub(super) fn encode_cancelled(
    buffer: &mut [u8],
    stamp: &Stamp,
    (request, orig_order_user): (&Request, &[u8]),
    (order, resting): (&ClientOrder, CanceledState),
    reason: Option<ExecReason>,
) -> Result<usize, EncodeError> {
    let mut report = ExecutionReportCancel534::encode(buffer)?;
    execution_report!(report, stamp, request).set_split_msg(stamp.split);
    order_terms!(report, order)
        .set_order_id(resting.id.0)
        .set_price(resting.price)
        .set_cum_qty(resting.traded)
        .set_min_qty(order.min_qty)
        .set_display_qty(order.display_qty)
        .set_orig_order_user(orig_order_user)
        .set_exec_restatement_reason(reason);
    Ok(ExecutionReportCancel534::ENCODED_LENGTH)
}
