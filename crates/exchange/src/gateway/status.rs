//! Order status: of one order, and of many.
//!
//! Each is told by an ExecutionReportStatus532. An order that does not work any more, or never did,
//! has the status `U`, as in CME's own traffic. The reports about many orders leave as fast as the
//! client reads; only one such request is answered at a time.

use hairpin_cme_codecs::ilink3::{
    BooleanFlag, BooleanNULL, ExecInst, ExecutionReportStatus532, ManualOrdIndReq,
    MassStatusReqTyp, OrderMassStatusRequest530, OrderStatus, OrderStatusRequest533, TimeInForce,
};
use hairpin_sbe::EncodeError;
use hairpin_time::Now;

use super::business::owner_of;
use super::check::{self, Refusal};
use super::dispatch::Handling;
use super::publish::{Stamp, publish};
use super::reason::BusinessReason;
use super::reports::{execution_report, order_terms};
use super::request::{ClientOrder, Request};
use super::selection::{Selection, is_group};
use super::{Connection, Gateway};
use crate::matching::{Order, OrderId};
use crate::{Listener, Market};

/// Which request a report answers, and whether it is the last that does.
#[derive(Debug, Clone, Copy)]
struct Asked {
    order: Option<u64>,
    mass: Option<u64>,
    is_last: bool,
}

/// A request about many orders that is being answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct MassStatus {
    selection: Selection,
    request: Request,
    id: u64,
    /// Where the next order is looked for.
    place: usize,
}

impl<L: Listener> Handling<'_, L> {
    pub(super) fn handle_status_request(
        &mut self,
        account: usize,
        message: &OrderStatusRequest533<'_>,
        market: &impl Market,
    ) {
        if !self.take_number(account, message.seq_num()) {
            return;
        }
        self.counters.status_requests += 1;
        let request = Request::from_status(message);
        if let Err(refusal) = check::check_sender(&request, &self.parties(account)) {
            return self.reject(account, &request, b"H", message.seq_num(), refusal);
        }
        let id = OrderId(message.order_id());
        let owner = owner_of(account);
        let found = market.order(id).copied().filter(|order| order.owner == owner);
        let asked = Asked { order: Some(message.ord_status_req_id()), mass: None, is_last: true };
        let of = found.map(|order| (self.orders[order.id.slot() as usize], order));
        self.publish(account, |buffer, stamp| match &of {
            Some((of, order)) => encode_status(buffer, stamp, of, order, asked),
            None => encode_unknown(buffer, stamp, &request, id, asked),
        });
    }

    pub(super) fn handle_mass_status_request(
        &mut self,
        account: usize,
        message: &OrderMassStatusRequest530<'_>,
        market: &impl Market,
    ) {
        if !self.take_number(account, message.seq_num()) {
            return;
        }
        self.counters.status_requests += 1;
        let request = Request::from_mass_status(message);
        match self.select_for_status(account, &request, message, market) {
            Ok(selection) => {
                let id = message.mass_status_req_id();
                let pending = MassStatus { selection, request, id, place: 0 };
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
    ) -> Result<Selection, Refusal> {
        check::check_sender(request, &self.parties(account))?;
        if self.session.mass_status.is_some() {
            return Err(check::business_refusal(
                BusinessReason::MassStatusInFlight,
                None,
                "Another mass status request is being answered",
            ));
        }
        let mut instrument = None;
        match message.mass_status_req_type() {
            MassStatusReqTyp::INSTRUMENT => {
                let security = message.security_id().ok_or(check::missing(check::tag::SECURITY))?;
                let unknown = check::business_refusal(
                    BusinessReason::UnknownSecurity,
                    Some(check::tag::SECURITY),
                    "Unknown security",
                );
                instrument = Some(market.instrument(security).ok_or(unknown)?);
            }
            MassStatusReqTyp::INSTRUMENT_GROUP => {
                if !is_group(message.security_group().raw(), market) {
                    return Err(check::business_refusal(
                        BusinessReason::UnknownSecurity,
                        Some(check::tag::SECURITY_GROUP),
                        "Unknown security group",
                    ));
                }
            }
            MassStatusReqTyp::ALL_ORDERS | MassStatusReqTyp::MARKET_SEGMENT => {}
            _ => return Err(check::no_such_value(check::tag::MASS_STATUS_REQ_TYPE)),
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
    /// Reports as many more of the orders that were asked for as there is room for.
    #[cold]
    pub(super) fn continue_status(&mut self, now: Now, place: usize, market: &impl Market) {
        let Self { accounts, connections, orders, executions, faults, counters, .. } = self;
        let Connection { session, .. } = &mut connections[place];
        let Some(account) = session.account else { return };
        let Some(mut pending) = session.mass_status.take() else { return };
        let mut next = pending.selection.next(orders, pending.place, market);
        while session.is_established() {
            if !session.outbound.is_half_empty() {
                session.mass_status = Some(pending);
                return;
            }
            let found = next.take();
            if let Some((place, _)) = found {
                pending.place = place + 1;
                next = pending.selection.next(orders, pending.place, market);
            }
            let asked = Asked { order: None, mass: Some(pending.id), is_last: next.is_none() };
            // None is left, and none was told to be the last: that is told by itself.
            let encode = |buffer: &mut [u8], stamp: &Stamp| match &found {
                Some((at, order)) => encode_status(buffer, stamp, &orders[*at], order, asked),
                None => encode_unknown(buffer, stamp, &pending.request, OrderId(0), asked),
            };
            let (account, faults) = (&mut accounts[account], faults.as_deref_mut());
            let told = Some(&mut *session);
            publish(told, account, executions, faults, counters, now, encode);
            if asked.is_last {
                return;
            }
        }
    }
}

fn encode_status(
    buffer: &mut [u8],
    stamp: &Stamp,
    of: &ClientOrder,
    order: &Order,
    asked: Asked,
) -> Result<usize, EncodeError> {
    let status = if order.traded > 0 { OrderStatus::PARTIALLY_FILLED } else { OrderStatus::NEW };
    let mut report = ExecutionReportStatus532::encode(buffer)?;
    execution_report!(report, stamp, of.request);
    order_terms!(report, of)
        .set_order_id(order.id.0)
        .set_price(Some(order.price))
        .set_cum_qty(order.traded)
        .set_leaves_qty(order.remaining)
        .set_min_qty(of.min_qty)
        .set_ord_status(status)
        .set_ord_status_req_id(asked.order)
        .set_mass_status_req_id(asked.mass)
        .set_last_rpt_requested(last(asked));
    Ok(ExecutionReportStatus532::ENCODED_LENGTH)
}

fn encode_unknown(
    buffer: &mut [u8],
    stamp: &Stamp,
    request: &Request,
    order: OrderId,
    asked: Asked,
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
        .set_ord_status_req_id(asked.order)
        .set_mass_status_req_id(asked.mass)
        .set_last_rpt_requested(last(asked));
    Ok(ExecutionReportStatus532::ENCODED_LENGTH)
}

fn last(asked: Asked) -> BooleanNULL {
    if asked.is_last { BooleanNULL::TRUE } else { BooleanNULL::FALSE }
}
