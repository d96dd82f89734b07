//! Unsolicited reports: trades, eliminations and triggered stop orders.

use hairpin_cme_codecs::ilink3::{
    BooleanFlag, ExecInst, ExecReason, ExecutionReportElimination524,
    ExecutionReportTradeOutright525, ManualOrdIndReq, OrdStatusTrd,
};
use hairpin_sbe::{CharArray, EncodeError};
use hairpin_time::Now;

use super::publish::{Stamp, publish};
use super::reports::{CanceledState, encode_cancelled, encode_new, execution_report, order_terms};
use super::request::ClientOrder;
use super::{Connection, ConnectionId, Gateway};
use crate::{
    Listener, Market, OrderEvent, OrderId, Owner, SelfMatchCancel, SelfMatchInstruction,
    SessionElimination, SessionFill,
};

/// The value of FillYieldType and Ownership in a trade without them.
const NONE: u8 = 0;

impl Gateway {
    /// Reports the order events of `market`: trades, eliminations and triggers of session orders.
    /// Reports of a disconnected session are stored for retransmission.
    pub fn handle_fills(
        &mut self,
        now: Now,
        market: &mut impl Market,
        listener: &mut impl Listener,
    ) {
        if self.has_lost_sessions {
            self.cancel_lost(now, market, listener);
        }
        while let Some(event) = market.next_order_event() {
            match event {
                OrderEvent::Fill(fill) => {
                    let encode = |buffer: &mut [u8], stamp: &Stamp, entry: &ClientOrder| {
                        encode_trade(buffer, stamp, entry, &fill, now)
                    };
                    if let Some((connection, cl_ord_id)) =
                        self.report(now, fill.owner, fill.order, encode)
                    {
                        self.counters.fills += 1;
                        let cl_ord_id = CharArray::new(&cl_ord_id);
                        listener.on_fill(
                            connection,
                            cl_ord_id.as_bytes(),
                            fill.order,
                            fill.quantity,
                        );
                    }
                }
                OrderEvent::SelfMatch(cancel) => self.report_self_match(now, &cancel, listener),
                // Removed quotes are reported together, below.
                OrderEvent::Elimination(SessionElimination { owner, order, .. })
                    if self.record_lost_quote(owner, order) => {}
                OrderEvent::Elimination(elimination) => {
                    let encode = |buffer: &mut [u8], stamp: &Stamp, entry: &ClientOrder| {
                        encode_elimination(buffer, stamp, entry, &elimination)
                    };
                    let SessionElimination { owner, order, .. } = elimination;
                    if let Some((connection, cl_ord_id)) = self.report(now, owner, order, encode) {
                        self.counters.eliminations += 1;
                        let cl_ord_id = CharArray::new(&cl_ord_id);
                        listener.on_eliminated(connection, cl_ord_id.as_bytes(), order);
                    }
                }
                OrderEvent::Trigger { order, owner } => {
                    if let Some((connection, cl_ord_id)) =
                        self.report(now, owner, order, encode_new)
                    {
                        self.counters.triggers += 1;
                        let cl_ord_id = CharArray::new(&cl_ord_id);
                        listener.on_triggered(connection, cl_ord_id.as_bytes(), order);
                    }
                }
            }
        }
        if self.has_lost_quotes {
            self.report_lost_quotes(now);
        }
        self.departed.clear();
    }

    /// Reports an order canceled by self-match prevention.
    #[cold]
    fn report_self_match(
        &mut self,
        now: Now,
        cancel: &SelfMatchCancel,
        listener: &mut impl Listener,
    ) {
        let &SelfMatchCancel { order: id, owner, price, traded, .. } = cancel;
        let reason = match cancel.instruction {
            SelfMatchInstruction::CancelResting => {
                ExecReason::SELF_MATCH_PREVENTION_OLDEST_ORDER_CANCELLED
            }
            SelfMatchInstruction::CancelAggressor => {
                ExecReason::SELF_MATCH_PREVENTION_NEWEST_ORDER_CANCELLED
            }
        };
        let state = CanceledState { id, price, traded };
        let reported = self.report(now, owner, id, |buffer, stamp, entry| {
            let request = (&entry.request, &[][..]);
            encode_cancelled(buffer, stamp, request, (entry, state), Some(reason))
        });
        self.counters.self_match_cancels += 1;
        if let Some((connection, cl_ord_id)) = reported {
            listener.on_cancelled(connection, CharArray::new(&cl_ord_id).as_bytes(), id);
        }
    }

    /// Publishes a report of an order. Returns the connection and the ClOrdID if the session is
    /// connected.
    pub(super) fn report(
        &mut self,
        now: Now,
        owner: Owner,
        order: OrderId,
        encode: impl FnOnce(&mut [u8], &Stamp, &ClientOrder) -> Result<usize, EncodeError>,
    ) -> Option<(ConnectionId, [u8; 20])> {
        let Self {
            accounts,
            connections,
            orders,
            departed,
            order_parties,
            executions,
            faults,
            counters,
            ..
        } = self;
        let entry = find_order(orders, departed, order)?;
        let account = accounts.get_mut(owner.0.checked_sub(1)? as usize)?;
        let connection = account.connection.and_then(|slot| connections.get_mut(slot as usize));
        let mut session = connection
            .map(|Connection { session, .. }| session)
            .filter(|session| session.is_established());
        let connection = session.as_ref().map(|session| session.id);
        counters.unreported += u64::from(connection.is_none());
        if entry.carried {
            let details = order_parties.at(entry.details);
            let (session, faults) = (session.as_deref_mut(), faults.as_deref_mut());
            publish(session, account, executions, faults, counters, now, |buffer, stamp| {
                details.encode_ack(buffer, stamp)
            });
        }
        let faults = faults.as_deref_mut();
        publish(session, account, executions, faults, counters, now, |buffer, stamp| {
            encode(buffer, stamp, entry)
        });
        connection.map(|connection| (connection, entry.request.cl_ord_id))
    }
}

/// Returns an order by its id: the one in its slot, or one that has departed from it.
pub(super) fn find_order<'a>(
    orders: &'a [ClientOrder],
    departed: &'a [ClientOrder],
    id: OrderId,
) -> Option<&'a ClientOrder> {
    let in_slot = orders.get(id.slot() as usize);
    in_slot.into_iter().chain(departed).find(|entry| entry.order == id)
}

fn encode_trade(
    buffer: &mut [u8],
    stamp: &Stamp,
    entry: &ClientOrder,
    fill: &SessionFill,
    now: Now,
) -> Result<usize, EncodeError> {
    let status =
        if fill.remaining == 0 { OrdStatusTrd::FILLED } else { OrdStatusTrd::PARTIALLY_FILLED };
    let aggressor = if fill.aggressor { BooleanFlag::TRUE } else { BooleanFlag::FALSE };
    let (mut root, mut groups) = ExecutionReportTradeOutright525::encode(buffer)?;
    execution_report!(root, stamp, entry.request);
    order_terms!(root, entry)
        .set_last_px(fill.price)
        .set_order_id(fill.order.0)
        .set_price(entry.price.unwrap_or_default())
        .set_sec_exec_id(fill.trade.into())
        .set_last_qty(fill.quantity)
        .set_cum_qty(fill.traded)
        .set_md_trade_entry_id(fill.trade)
        .set_side_trade_id(fill.side_trade)
        .set_leaves_qty(fill.remaining)
        // Days since 1970 fit in 16 bits until 2149.
        .set_trade_date(now.utc.days() as u16)
        .set_ord_status(status)
        .set_aggressor_indicator(aggressor)
        .set_ownership(NONE);
    groups
        .no_fills()?
        .push()?
        .set_fill_px(fill.price)
        .set_fill_qty(fill.quantity)
        .set_fill_exec_id("1")
        .set_fill_yield_type(NONE);
    groups.finish()
}

fn encode_elimination(
    buffer: &mut [u8],
    stamp: &Stamp,
    entry: &ClientOrder,
    elimination: &SessionElimination,
) -> Result<usize, EncodeError> {
    let mut report = ExecutionReportElimination524::encode(buffer)?;
    execution_report!(report, stamp, entry.request);
    order_terms!(report, entry)
        .set_order_id(elimination.order.0)
        .set_price(entry.price.unwrap_or_default())
        .set_cum_qty(elimination.traded)
        .set_min_qty(entry.min_qty)
        .set_display_qty(entry.display_qty);
    Ok(ExecutionReportElimination524::ENCODED_LENGTH)
}
