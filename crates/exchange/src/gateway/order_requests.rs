//! New orders, replacements and cancels: sequence numbers, requests and their answers.

use hairpin_cme_codecs::ilink3::{
    NewOrderSingle514, OFMOverrideReq, OrderCancelReplaceRequest515, OrderCancelRequest516,
};
use hairpin_sbe::CharArray;

use super::check::{self, RejectCause};
use super::dispatch::FrameHandler;
use super::reason_codes::{OrderReason, TerminateCode};
use super::request::{ClientOrder, Request};
use super::{Rejected, Venue};
use crate::matching::{NewOrder, Order, OrderId, Owner, Replaced, Replacement, Submitted};
use crate::{Listener, Market, Price};

/// The largest sequence number. The smallest is 1.
pub(super) const SEQUENCE_MAX: u32 = 999_999_999;

/// Returns the owner of an account's orders.
pub(super) fn owner_of(account: usize) -> Owner {
    Owner(account as u32 + 1)
}

impl<L: Listener> FrameHandler<'_, L> {
    /// Checks and consumes the sequence number of a business message. Returns `true` if it is the
    /// expected one.
    pub(super) fn consume_number(&mut self, account: usize, number: u32) -> bool {
        let expected = self.accounts[account].next_inbound;
        if number < expected || number > SEQUENCE_MAX {
            self.violate(TerminateCode::InvalidMsgSeqNo);
            return false;
        }
        if number > expected {
            self.not_applied(expected, number);
            return false;
        }
        self.accounts[account].next_inbound += 1;
        true
    }

    /// Sends a NotApplied for the numbers from `expected` to `number`. Each number is reported
    /// once, unless the client restarts from a lower one.
    pub(super) fn not_applied(&mut self, expected: u32, number: u32) {
        let reported = self.session.not_applied;
        let from = if number > reported { expected.max(reported + 1) } else { expected };
        self.session.not_applied = reported.max(number);
        self.counters.not_applied += 1;
        self.session.send_not_applied(self.now, from, number - from + 1);
    }

    pub(super) fn handle_new_order(
        &mut self,
        account: usize,
        message: &NewOrderSingle514<'_>,
        market: &mut impl Market,
    ) {
        if !self.consume_number(account, message.seq_num()) {
            return;
        }
        let cl_ord_id = message.cl_ord_id().as_bytes();
        self.counters.orders += 1;
        self.listener.on_order(self.session.id, cl_ord_id);
        let order = ClientOrder::from_order(message).echoed(self.rules.venue);
        match self.submit(account, &order, market) {
            Ok((id, price)) => self.acknowledge(account, &order.accepted(id, price)),
            Err(RejectCause::Order(reason)) => self.reject_order(account, &order, reason),
            Err(refusal) => {
                self.reject(account, &order.request, b"D", message.seq_num(), refusal);
            }
        }
    }

    /// Submits an order to the market. Returns its id and limit price.
    pub(super) fn submit(
        &mut self,
        account: usize,
        order: &ClientOrder,
        market: &mut impl Market,
    ) -> Result<(OrderId, Price), RejectCause> {
        if *self.orders_to_reject > 0 {
            *self.orders_to_reject -= 1;
            return Err(OrderReason::Rejected.into());
        }
        let (new, trigger) =
            check::check_order(order, &self.parties(account), market, self.today())?;
        let self_match = self.self_match(account, order.request.party_details_list_req_id);
        let new = NewOrder { owner: owner_of(account), self_match, ..new };
        let accepted = match trigger {
            None => market.submit(self.now, &new).map(|new| (new.order, new.price)),
            Some(trigger) => {
                market.submit_stop(self.now, &new, trigger).map(|stop| (stop.id, stop.price))
            }
        };
        accepted.map_err(|rejection| OrderReason::from(rejection).into())
    }

    /// Stores and reports an accepted order.
    pub(super) fn acknowledge(&mut self, account: usize, order: &ClientOrder) {
        self.store(account, order);
        self.send_new(account, order);
        self.counters.acknowledgements += 1;
        let cl_ord_id = check::trimmed(&order.request.cl_ord_id);
        self.listener.on_acknowledged(self.session.id, cl_ord_id, order.order);
    }

    /// Stores an accepted order, and its party details if later weeks may need them.
    fn store(&mut self, account: usize, order: &ClientOrder) {
        self.store_in_slot(*order);
        if order.outlasts_week() {
            let details = self.details_of(account, order.request.party_details_list_req_id);
            let slot = order.order.slot() as usize;
            self.orders[slot].details = self.order_parties.store(&details);
        }
    }

    /// Stores an order in its slot. The order before it may have traded in the same message, and
    /// its reports are not written yet: it stays known until [`super::Gateway::handle_fills`].
    pub(super) fn store_in_slot(&mut self, order: ClientOrder) {
        let slot = &mut self.orders[order.order.slot() as usize];
        let previous = core::mem::replace(slot, order);
        if previous.order != order.order && previous.order != OrderId::NONE {
            self.departed.push(previous);
        }
    }

    /// Reports a rejected order by ExecutionReportReject523.
    pub(super) fn reject_order(
        &mut self,
        account: usize,
        order: &ClientOrder,
        reason: OrderReason,
    ) {
        self.send_order_reject(account, order, reason);
        self.counters.order_rejects += 1;
        let cl_ord_id = check::trimmed(&order.request.cl_ord_id);
        self.listener.on_rejected(self.session.id, Rejected::Order { cl_ord_id, reason });
    }

    /// Returns the order that a replacement or a cancel names. Without an OrderID, the order's
    /// ClOrdID names it, except at BrokerTec (CME, page 46473084).
    fn target(
        &self,
        account: usize,
        order_id: Option<u64>,
        request: &Request,
        market: &impl Market,
    ) -> Result<OrderId, RejectCause> {
        match order_id {
            Some(id) => Ok(OrderId(id)),
            None if self.rules.venue == Venue::BrokerTec => {
                Err(check::missing(check::tag::ORDER_ID))
            }
            None => {
                let owner = owner_of(account);
                let is_named = |entry: &&ClientOrder| {
                    entry.request.cl_ord_id == request.cl_ord_id
                        && !entry.quote
                        && market.order(entry.order).is_some_and(|order| order.owner == owner)
                };
                let named = self.orders.iter().find(is_named);
                named.map(|entry| entry.order).ok_or(OrderReason::NotOnBook.into())
            }
        }
    }

    /// Rejects requests for quotes: only quotes and quote cancels change a quote.
    fn check_is_not_quote(&self, id: OrderId) -> Result<(), RejectCause> {
        let entry = self.orders.get(id.slot() as usize);
        match entry {
            Some(entry) if entry.order == id && entry.quote => Err(OrderReason::NotOnBook.into()),
            _ => Ok(()),
        }
    }

    /// Returns the days since 1970-01-01, which fit in 16 bits until 2149.
    pub(super) fn today(&self) -> u16 {
        self.now.utc.days() as u16
    }

    pub(super) fn handle_replace_request(
        &mut self,
        account: usize,
        message: &OrderCancelReplaceRequest515<'_>,
        market: &mut impl Market,
    ) {
        if !self.consume_number(account, message.seq_num()) {
            return;
        }
        let cl_ord_id = message.cl_ord_id().as_bytes();
        self.counters.replaces += 1;
        self.listener.on_replace(self.session.id, cl_ord_id);
        let named = message.order_id().map(OrderId);
        let order = ClientOrder::from_replace(message).echoed(self.rules.venue);
        let order = ClientOrder { order: named.unwrap_or(OrderId::NONE), ..order };
        match self.replace(account, message, &order, market) {
            Ok(Replaced::Modified { order: resting, .. }) => {
                let id = resting.id;
                let order = order.accepted(id, resting.price);
                self.store(account, &order);
                self.send_modified(account, &order, &resting);
                self.counters.replaced += 1;
                self.listener.on_replaced(self.session.id, cl_ord_id, id);
            }
            Ok(Replaced::Cancelled(resting)) => {
                self.confirm_cancel(account, &order.request, &resting, &[]);
            }
            Err(RejectCause::Order(reason)) => {
                self.send_replace_reject(account, &order, reason);
                self.counters.replace_rejects += 1;
                self.listener.on_rejected(self.session.id, Rejected::Replace { cl_ord_id, reason });
            }
            Err(refusal) => {
                self.reject(account, &order.request, b"G", message.seq_num(), refusal);
            }
        }
    }

    fn replace(
        &mut self,
        account: usize,
        message: &OrderCancelReplaceRequest515<'_>,
        order: &ClientOrder,
        market: &mut impl Market,
    ) -> Result<Replaced, RejectCause> {
        let (new, trigger) =
            check::check_order(order, &self.parties(account), market, self.today())?;
        let id = self.target(account, message.order_id(), &order.request, market)?;
        let owner = owner_of(account);
        self.check_is_not_quote(id)?;
        let resting = check::check_target(market, id, owner, new.side)?;
        if resting.instrument != new.instrument {
            return Err(OrderReason::OtherContract.into());
        }
        if market.is_stop(id) != trigger.is_some() {
            return Err(OrderReason::OrderType.into());
        }
        let replacement = Replacement {
            kind: new.kind,
            price: new.price,
            quantity: new.quantity,
            minimum: new.minimum,
            display: new.display,
            time_in_force: new.time_in_force,
            mitigates: message.ofm_override() == OFMOverrideReq::ENABLED,
            self_match: self.self_match(account, order.request.party_details_list_req_id),
        };
        let replaced = match trigger {
            None => market.replace(self.now, id, owner, &replacement),
            Some(trigger) => {
                market.replace_stop(self.now, id, owner, (&replacement, trigger)).map(|order| {
                    let (price, remaining) = (order.price, order.remaining);
                    let submitted =
                        Submitted { order: id, price, remaining, eliminated: 0, prevented: 0 };
                    Replaced::Modified { order, submitted }
                })
            }
        };
        replaced.map_err(|rejection| OrderReason::from(rejection).into())
    }

    pub(super) fn handle_cancel_request(
        &mut self,
        account: usize,
        message: &OrderCancelRequest516<'_>,
        market: &mut impl Market,
    ) {
        if !self.consume_number(account, message.seq_num()) {
            return;
        }
        let cl_ord_id = message.cl_ord_id().as_bytes();
        self.counters.cancels += 1;
        self.listener.on_cancel(self.session.id, cl_ord_id);
        let request = Request::from_cancel(message).echoed(self.rules.venue);
        match self.cancel(account, message, &request, market) {
            Ok(cancelled) => {
                let user = message.orig_order_user();
                self.confirm_cancel(account, &request, &cancelled, user.raw());
            }
            Err(RejectCause::Order(reason)) => {
                self.send_cancel_reject(account, (message, &request), reason);
                self.counters.cancel_rejects += 1;
                self.listener.on_rejected(self.session.id, Rejected::Cancel { cl_ord_id, reason });
            }
            Err(refusal) => self.reject(account, &request, b"F", message.seq_num(), refusal),
        }
    }

    fn cancel(
        &mut self,
        account: usize,
        message: &OrderCancelRequest516<'_>,
        request: &Request,
        market: &mut impl Market,
    ) -> Result<Order, RejectCause> {
        let side = check::check_cancel(request, message.side(), &self.parties(account))?;
        check::check_liquidity(message.liquidity_flag())?;
        let id = self.target(account, message.order_id(), request, market)?;
        let owner = owner_of(account);
        self.check_is_not_quote(id)?;
        check::check_target(market, id, owner, side)?;
        market.cancel(self.now, id, owner).ok_or(OrderReason::NotOnBook.into())
    }

    fn confirm_cancel(
        &mut self,
        account: usize,
        request: &Request,
        cancelled: &Order,
        orig_order_user: &[u8],
    ) {
        let order = self.orders[cancelled.id.slot() as usize];
        self.send_cancelled(account, request, &order, cancelled, orig_order_user);
        self.counters.cancelled += 1;
        let cl_ord_id = CharArray::new(&request.cl_ord_id);
        self.listener.on_cancelled(self.session.id, cl_ord_id.as_bytes(), cancelled.id);
    }

    /// Sends a BusinessReject521 for a message that is not a valid order.
    pub(super) fn reject(
        &mut self,
        account: usize,
        request: &Request,
        message_type: &[u8],
        number: u32,
        refusal: RejectCause,
    ) {
        let RejectCause::Business { reason, tag, text } = refusal else { return };
        let cause = (reason, tag, text);
        self.send_business_reject(account, request, message_type, Some(number), cause);
        self.counters.business_rejects += 1;
        let cl_ord_id = CharArray::new(&request.cl_ord_id).as_bytes();
        self.listener.on_rejected(self.session.id, Rejected::Business { cl_ord_id, reason, tag });
    }
}
