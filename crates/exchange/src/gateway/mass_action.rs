//! OrderMassActionRequest529: cancels many orders at once.
//!
//! The answer is one or more OrderMassActionReport562 with up to 25 orders each. The single orders
//! get no further reports.

use hairpin_cme_codecs::ilink3::{
    BooleanFlag, MassActionResponse, MassActionScope, OrderMassActionReport562,
    OrderMassActionRequest529, SideReq, TimeInForce,
};
use hairpin_sbe::{CharArray, EncodeError};

use super::Venue;
use super::check::{self, RejectCause, tag};
use super::dispatch::FrameHandler;
use super::order_requests::owner_of;
use super::publish::Stamp;
use super::reason_codes::MassActionReason;
use super::request::Request;
use super::selection::{Selection, is_group};
use crate::matching::Order;
use crate::{Listener, Market};

/// The maximum number of orders in one report.
const ORDERS_MAX: usize = 25;

/// A canceled order.
#[derive(Debug, Default, Clone, Copy)]
struct AffectedOrder {
    cl_ord_id: [u8; 20],
    order: u64,
    quantity: u32,
}

/// The fields of a report that concern the request as a whole.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    reject: Option<MassActionReason>,
    total: u32,
    last: bool,
}

impl<L: Listener> FrameHandler<'_, L> {
    pub(super) fn handle_mass_action(
        &mut self,
        account: usize,
        message: &OrderMassActionRequest529<'_>,
        market: &mut impl Market,
    ) {
        if !self.consume_number(account, message.seq_num()) {
            return;
        }
        self.counters.mass_actions += 1;
        let request = Request::from_mass_action(message).echoed(self.rules.venue);
        let checked = check::check_sender(&request, &self.parties(account));
        if let Err(cause) = checked.and_then(|()| check_defined(message)) {
            return self.reject(account, &request, b"CA", message.seq_num(), cause);
        }
        match select(account, message, market) {
            Ok(selection) => self.cancel_selected(account, message, &selection, market),
            Err(reason) => {
                self.counters.mass_action_rejects += 1;
                let outcome = Outcome { reject: Some(reason), total: 0, last: true };
                self.send_mass_action(account, message, outcome, &[]);
            }
        }
    }

    fn cancel_selected(
        &mut self,
        account: usize,
        message: &OrderMassActionRequest529<'_>,
        selection: &Selection,
        market: &mut impl Market,
    ) {
        let selected = self.orders.iter().filter(|entry| selection.find(entry, market).is_some());
        // The count is at most the number of orders.
        let total = selected.count() as u32;
        let mut affected = [AffectedOrder::default(); ORDERS_MAX];
        let (mut listed, mut done, mut slot) = (0, 0, 0);
        while let Some((found, order)) = selection.next(self.orders, slot, market) {
            slot = found + 1;
            affected[listed] = self.cancel_one(found, &order, market);
            (listed, done) = (listed + 1, done + 1);
            if listed == ORDERS_MAX && done < total {
                let outcome = Outcome { reject: None, total, last: false };
                self.send_mass_action(account, message, outcome, &affected);
                listed = 0;
            }
        }
        let outcome = Outcome { reject: None, total, last: true };
        self.send_mass_action(account, message, outcome, &affected[..listed]);
    }

    fn cancel_one(
        &mut self,
        slot: usize,
        order: &Order,
        market: &mut impl Market,
    ) -> AffectedOrder {
        let cl_ord_id = self.orders[slot].request.cl_ord_id;
        market.cancel(self.now, order.id, order.owner);
        self.counters.cancelled += 1;
        let text = CharArray::new(&cl_ord_id);
        self.listener.on_cancelled(self.session.id, text.as_bytes(), order.id);
        AffectedOrder { cl_ord_id, order: order.id.0, quantity: order.remaining }
    }

    fn send_mass_action(
        &mut self,
        account: usize,
        message: &OrderMassActionRequest529<'_>,
        outcome: Outcome,
        affected: &[AffectedOrder],
    ) {
        let ids = (*self.executions + 1, self.rules.venue);
        self.publish(account, |buffer, stamp| {
            encode(buffer, stamp, (message, ids), outcome, affected)
        });
    }
}

/// Rejects values that an enumeration of the report lacks.
fn check_defined(message: &OrderMassActionRequest529<'_>) -> Result<(), RejectCause> {
    let kind = message.mass_cancel_request_type();
    check::check_liquidity(message.liquidity_flag())?;
    check::check_defined(&[
        (message.mass_action_scope().name().is_none(), tag::MASS_ACTION_SCOPE),
        (kind.is_some_and(|of| of.name().is_none()), tag::MASS_CANCEL_REQUEST_TYPE),
        (message.side().is_some_and(|of| of.name().is_none()), tag::SIDE),
        (message.ord_type().is_some_and(|of| of.name().is_none()), tag::ORD_TYPE),
        (message.time_in_force().is_some_and(|of| of.name().is_none()), tag::TIME_IN_FORCE),
    ])
}

/// Returns the selection of orders that a request applies to.
fn select(
    account: usize,
    message: &OrderMassActionRequest529<'_>,
    market: &impl Market,
) -> Result<Selection, MassActionReason> {
    let mut instrument = None;
    match message.mass_action_scope() {
        MassActionScope::INSTRUMENT => {
            let found = message.security_id().and_then(|security| market.instrument(security));
            instrument = Some(found.ok_or(MassActionReason::UnknownSecurity)?);
        }
        MassActionScope::INSTRUMENT_GROUP => {
            if !is_group(message.security_group().raw(), market) {
                return Err(MassActionReason::UnknownSecurityGroup);
            }
        }
        // The gateway has one market segment, regardless of its number.
        MassActionScope::ALL | MassActionScope::MARKET_SEGMENT_ID => {}
        _ => return Err(MassActionReason::NotSupported),
    }
    Ok(Selection {
        owner: owner_of(account),
        instrument,
        side: message.side().map(|side| SideReq(side.0)),
        ord_type: message.ord_type().map(|kind| kind.0),
        time_in_force: message.time_in_force().map(|time| TimeInForce(time.0)),
    })
}

fn encode(
    buffer: &mut [u8],
    stamp: &Stamp,
    (message, (report, venue)): (&OrderMassActionRequest529<'_>, (u64, Venue)),
    Outcome { reject, total, last }: Outcome,
    affected: &[AffectedOrder],
) -> Result<usize, EncodeError> {
    let response = match reject {
        Some(_) => MassActionResponse::REJECTED,
        None => MassActionResponse::ACCEPTED,
    };
    let (mut root, mut groups) = OrderMassActionReport562::encode(buffer)?;
    root.set_seq_num(stamp.number)
        .set_uuid(stamp.uuid)
        .set_sender_id(Request::from_mass_action(message).echoed(venue).sender_id)
        .set_party_details_list_req_id(message.party_details_list_req_id())
        .set_transact_time(stamp.utc)
        .set_sending_time_epoch(stamp.utc)
        .set_order_request_id(message.order_request_id())
        .set_mass_action_report_id(report)
        .set_security_group(message.security_group().raw())
        .set_location(message.location().raw())
        .set_security_id(message.security_id())
        .set_mass_action_response(response)
        .set_manual_order_indicator(message.manual_order_indicator())
        .set_mass_action_scope(message.mass_action_scope())
        .set_total_affected_orders(total)
        .set_last_fragment(if last { BooleanFlag::TRUE } else { BooleanFlag::FALSE })
        .set_mass_action_reject_reason(reject.map(MassActionReason::code))
        .set_market_segment_id(message.market_segment_id())
        .set_mass_cancel_request_type(message.mass_cancel_request_type())
        .set_side(message.side())
        .set_ord_type(message.ord_type())
        .set_time_in_force(message.time_in_force())
        .set_split_msg(stamp.split)
        .set_liquidity_flag(message.liquidity_flag())
        .set_poss_retrans_flag(BooleanFlag::FALSE)
        .set_orig_order_user(message.orig_order_user().raw());
    let mut group = groups.no_affected_orders()?;
    for entry in affected {
        group
            .push()?
            .set_orig_ci_ord_id(entry.cl_ord_id)
            .set_affected_order_id(entry.order)
            .set_cxl_quantity(entry.quantity);
    }
    groups.finish()
}
