//! Reports that nobody asked for: trades, eliminations.

use hairpin_cme_codecs::ilink3::{
    BooleanFlag, ExecInst, ExecutionReportElimination524, ExecutionReportTradeOutright525,
    ManualOrdIndReq, OrdStatusTrd,
};
use hairpin_sbe::{CharArray, EncodeError};
use hairpin_time::Now;

use super::publish::{Stamp, publish};
use super::reports::{encode_new, execution_report, order_terms};
use super::request::ClientOrder;
use super::{Connection, ConnectionId, Gateway};
use crate::{Listener, Market, Notice, OrderId, Owner, SessionElimination, SessionFill};

/// FillYieldType and Ownership of a trade that has neither.
const NONE: u8 = 0;

impl Gateway {
    /// Orders of sessions have traded or are gone: reports what `market` has to tell. What belongs
    /// to a session that is not there is kept for when it asks.
    pub fn handle_fills(
        &mut self,
        now: Now,
        market: &mut impl Market,
        listener: &mut impl Listener,
    ) {
        if self.has_lost {
            self.cancel_lost(now, market, listener);
        }
        while let Some(notice) = market.next_notice() {
            match notice {
                Notice::Fill(fill) => {
                    let encode = |buffer: &mut [u8], stamp: &Stamp, of: &ClientOrder| {
                        encode_trade(buffer, stamp, of, &fill, now)
                    };
                    if let Some((told, text)) = self.report(now, fill.owner, fill.order, encode) {
                        self.counters.fills += 1;
                        let cl_ord_id = CharArray::new(&text).as_bytes();
                        listener.on_fill(told, cl_ord_id, fill.order, fill.quantity);
                    }
                }
                Notice::Elimination(elimination) => {
                    let encode = |buffer: &mut [u8], stamp: &Stamp, of: &ClientOrder| {
                        encode_elimination(buffer, stamp, of, &elimination)
                    };
                    let SessionElimination { owner, order, .. } = elimination;
                    if let Some((told, text)) = self.report(now, owner, order, encode) {
                        self.counters.eliminations += 1;
                        let cl_ord_id = CharArray::new(&text).as_bytes();
                        listener.on_eliminated(told, cl_ord_id, order);
                    }
                }
                Notice::Trigger { order, owner } => {
                    if let Some((told, text)) = self.report(now, owner, order, encode_new) {
                        self.counters.triggers += 1;
                        let cl_ord_id = CharArray::new(&text).as_bytes();
                        listener.on_triggered(told, cl_ord_id, order);
                    }
                }
            }
        }
    }

    /// Publishes a report of an order; to whom, and its ClOrdID, if its session was there.
    pub(super) fn report(
        &mut self,
        now: Now,
        owner: Owner,
        order: OrderId,
        encode: impl FnOnce(&mut [u8], &Stamp, &ClientOrder) -> Result<usize, EncodeError>,
    ) -> Option<(ConnectionId, [u8; 20])> {
        let Self { accounts, connections, orders, executions, faults, counters, .. } = self;
        let of = orders.get(order.slot() as usize).filter(|of| of.order == order)?;
        let account = accounts.get_mut(owner.0.checked_sub(1)? as usize)?;
        let connection = account.connection.and_then(|place| connections.get_mut(place as usize));
        let session = connection
            .map(|Connection { session, .. }| session)
            .filter(|session| session.is_established());
        let connection = session.as_ref().map(|session| session.id);
        counters.unreported += u64::from(connection.is_none());
        let faults = faults.as_deref_mut();
        publish(session, account, executions, faults, counters, now, |buffer, stamp| {
            encode(buffer, stamp, of)
        });
        connection.map(|connection| (connection, of.request.cl_ord_id))
    }
}

fn encode_trade(
    buffer: &mut [u8],
    stamp: &Stamp,
    of: &ClientOrder,
    fill: &SessionFill,
    now: Now,
) -> Result<usize, EncodeError> {
    let status =
        if fill.remaining == 0 { OrdStatusTrd::FILLED } else { OrdStatusTrd::PARTIALLY_FILLED };
    let aggressor = if fill.is_aggressor { BooleanFlag::TRUE } else { BooleanFlag::FALSE };
    let (mut root, mut groups) = ExecutionReportTradeOutright525::encode(buffer)?;
    execution_report!(root, stamp, of.request);
    order_terms!(root, of)
        .set_last_px(fill.price)
        .set_order_id(fill.order.0)
        .set_price(of.price.unwrap_or_default())
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
    of: &ClientOrder,
    elimination: &SessionElimination,
) -> Result<usize, EncodeError> {
    let mut report = ExecutionReportElimination524::encode(buffer)?;
    execution_report!(report, stamp, of.request);
    order_terms!(report, of)
        .set_order_id(elimination.order.0)
        .set_price(of.price.unwrap_or_default())
        .set_cum_qty(elimination.traded)
        .set_min_qty(of.min_qty);
    Ok(ExecutionReportElimination524::ENCODED_LENGTH)
}
