//! Order status: of one order, and of many.
//!
//! Each order is reported by an ExecutionReportStatus532. An order that is not in a book has the
//! status `U`, as in CME's own traffic. The reports about many orders are sent as fast as the
//! client reads. Only one such request is answered at a time.

use hairpin_cme_codecs::ilink3::{
    BooleanFlag, BooleanNULL, ExecInst, ExecutionReportStatus532, ManualOrdIndReq,
    MassStatusReqTyp, OrderMassStatusRequest530, OrderStatus, OrderStatusRequest533, TimeInForce,
};
use hairpin_sbe::EncodeError;
use hairpin_time::Now;

use super::check::{self, RejectCause};
use super::dispatch::FrameHandler;
use super::order_requests::owner_of;
use super::publish::{Stamp, publish};
use super::reason_codes::BusinessReason;
use super::reports::{execution_report, order_terms};
use super::request::{ClientOrder, Request};
use super::selection::{Selection, is_group};
use super::{Connection, Gateway, GatewayKind};
use crate::matching::{Order, OrderId};
use crate::{Listener, Market};

/// The request that a report answers, and whether the report is the last one.
#[derive(Debug, Clone, Copy)]
struct StatusQuery {
    order: Option<u64>,
    mass: Option<u64>,
    last: bool,
}

/// A mass status request being answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct MassStatus {
    selection: Selection,
    request: Request,
    id: u64,
    /// The slot at which the search for the next order starts.
    slot: usize,
}

impl<L: Listener> FrameHandler<'_, L> {
    pub(super) fn handle_status_request(
        &mut self,
        account: usize,
        message: &OrderStatusRequest533<'_>,
        market: &impl Market,
    ) {
        if !self.consume_number(account, message.seq_num()) {
            return;
        }
        self.counters.status_requests += 1;
        let request = Request::from_status(message).echoed(self.rules.venue);
        if let Err(refusal) = check::check_sender(&request, &self.parties(account)) {
            return self.reject(account, &request, b"H", message.seq_num(), refusal);
        }
        let id = OrderId(message.order_id());
        let owner = owner_of(account);
        let found = market.order(id).copied().filter(|order| order.owner == owner);
        let query =
            StatusQuery { order: Some(message.ord_status_req_id()), mass: None, last: true };
        let entry = found.map(|order| (self.orders[order.id.slot() as usize], order));
        if let Some((entry, _)) = &entry {
            self.send_carried_details(account, entry);
        }
        self.publish(account, |buffer, stamp| match &entry {
            Some((entry, order)) => encode_status(buffer, stamp, entry, order, query),
            None => encode_unknown(buffer, stamp, &request, id, query),
        });
    }

    pub(super) fn handle_mass_status_request(
        &mut self,
        account: usize,
        message: &OrderMassStatusRequest530<'_>,
        market: &impl Market,
    ) {
        if !self.consume_number(account, message.seq_num()) {
            return;
        }
        self.counters.status_requests += 1;
        let request = Request::from_mass_status(message).echoed(self.rules.venue);
        match self.select_for_status(account, &request, message, market) {
            Ok(selection) => {
                let id = message.mass_status_req_id();
                let pending = MassStatus { selection, request, id, slot: 0 };
                self.session.mass_status = Some(pending);
            }
            Err(refusal) => self.reject(account, &request, b"AF", message.seq_num(), refusal),
        }
    }

    fn select_for_status(
        &self,
        account: usize,
        request: &Request,
        message: &OrderMassStatusRequest530<'_>,
        market: &impl Market,
    ) -> Result<Selection, RejectCause> {
        check::check_sender(request, &self.parties(account))?;
        if self.session.mass_status.is_some() {
            return Err(check::business_reject(
                BusinessReason::MassStatusInFlight,
                None,
                "Another mass status request is being answered",
            ));
        }
        let mut instrument = None;
        match message.mass_status_req_type() {
            MassStatusReqTyp::INSTRUMENT => {
                let security = message.security_id().ok_or(check::missing(check::tag::SECURITY))?;
                let unknown = check::business_reject(
                    BusinessReason::UnknownSecurity,
                    Some(check::tag::SECURITY),
                    "Unknown security",
                );
                instrument = Some(market.instrument(security).ok_or(unknown)?);
            }
            MassStatusReqTyp::INSTRUMENT_GROUP => {
                if !is_group(message.security_group().raw(), market) {
                    return Err(check::business_reject(
                        BusinessReason::UnknownSecurity,
                        Some(check::tag::SECURITY_GROUP),
                        "Unknown security group",
                    ));
                }
            }
            MassStatusReqTyp::ALL_ORDERS if self.rules.kind == GatewayKind::Msgw => {
                return Err(check::business_reject(
                    BusinessReason::OrderStatusNotAvailable,
                    Some(check::tag::MASS_STATUS_REQ_TYPE),
                    "Order Status for all Orders Not Available on Market Segment Session",
                ));
            }
            MassStatusReqTyp::ALL_ORDERS | MassStatusReqTyp::MARKET_SEGMENT => {}
            _ => return Err(check::undefined_value(check::tag::MASS_STATUS_REQ_TYPE)),
        }
        Ok(Selection {
            owner: owner_of(account),
            instrument,
            side: None,
            ord_type: None,
            time_in_force: message.time_in_force().map(|time| TimeInForce(time.0)),
        })
    }
}

impl Gateway {
    /// Sends status reports for as many further orders as there is room for.
    #[cold]
    pub(super) fn send_mass_status(&mut self, now: Now, slot: usize, market: &impl Market) {
        let Self {
            accounts, connections, orders, order_parties, executions, faults, counters, ..
        } = self;
        let Connection { session, .. } = &mut connections[slot];
        let Some(account) = session.account else { return };
        let Some(mut pending) = session.mass_status.take() else { return };
        let mut next = pending.selection.next(orders, pending.slot, market);
        while session.is_established() {
            if !session.outbound.is_half_empty() {
                session.mass_status = Some(pending);
                return;
            }
            let found = next.take();
            if let Some((slot, _)) = found {
                pending.slot = slot + 1;
                next = pending.selection.next(orders, pending.slot, market);
            }
            let query = StatusQuery { order: None, mass: Some(pending.id), last: next.is_none() };
            // If no order is left after a report that was not marked as last, a final report says
            // so.
            let encode = |buffer: &mut [u8], stamp: &Stamp| match &found {
                Some((slot, order)) => encode_status(buffer, stamp, &orders[*slot], order, query),
                None => encode_unknown(buffer, stamp, &pending.request, OrderId(0), query),
            };
            let account = &mut accounts[account];
            if let Some((slot, _)) = found
                && orders[slot].carried
            {
                let (recipient, faults) = (Some(&mut *session), faults.as_deref_mut());
                publish(recipient, account, executions, faults, counters, now, |buffer, stamp| {
                    order_parties.at(orders[slot].details).encode_ack(buffer, stamp)
                });
            }
            let (recipient, faults) = (Some(&mut *session), faults.as_deref_mut());
            publish(recipient, account, executions, faults, counters, now, encode);
            if query.last {
                return;
            }
        }
    }
}

fn encode_status(
    buffer: &mut [u8],
    stamp: &Stamp,
    entry: &ClientOrder,
    order: &Order,
    query: StatusQuery,
) -> Result<usize, EncodeError> {
    let status = if order.traded > 0 { OrderStatus::PARTIALLY_FILLED } else { OrderStatus::NEW };
    let mut report = ExecutionReportStatus532::encode(buffer)?;
    execution_report!(report, stamp, entry.request);
    order_terms!(report, entry)
        .set_order_id(order.id.0)
        .set_price(Some(order.price))
        .set_cum_qty(order.traded)
        .set_leaves_qty(order.remaining)
        .set_min_qty(entry.min_qty)
        .set_display_qty(entry.display_qty)
        .set_ord_status(status)
        .set_ord_status_req_id(query.order)
        .set_mass_status_req_id(query.mass)
        .set_last_rpt_requested(last_report_flag(query));
    Ok(ExecutionReportStatus532::ENCODED_LENGTH)
}

fn encode_unknown(
    buffer: &mut [u8],
    stamp: &Stamp,
    request: &Request,
    order: OrderId,
    query: StatusQuery,
) -> Result<usize, EncodeError> {
    let none = ClientOrder::default();
    let mut report = ExecutionReportStatus532::encode(buffer)?;
    execution_report!(report, stamp, request);
    order_terms!(report, none)
        .set_ord_type(None)
        .set_time_in_force(None)
        .set_text("Order Status Not Found")
        .set_order_id(order.0)
        .set_price(None)
        .set_cum_qty(0)
        .set_leaves_qty(0)
        .set_ord_status(OrderStatus::UNDEFINED)
        .set_ord_status_req_id(query.order)
        .set_mass_status_req_id(query.mass)
        .set_last_rpt_requested(last_report_flag(query));
    Ok(ExecutionReportStatus532::ENCODED_LENGTH)
}

fn last_report_flag(query: StatusQuery) -> BooleanNULL {
    if query.last { BooleanNULL::TRUE } else { BooleanNULL::FALSE }
}
