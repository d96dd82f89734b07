//! BrokerTec workups (template 60): after a trade, its price stays open for further quantity, first
//! for its parties only (private), then for all (public).

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_cme_codecs::mdp3::{
    AggressorFlag, HaltReason, SecurityTradingEvent, SecurityTradingStatus,
};
use hairpin_sbe::{DecodeError, Group};
use hairpin_time::Utc;

use crate::market::Market;
use crate::message::entries::Root;
use crate::{
    BookSide, InstrumentIndex, Listener, MatchEvent, Message, Packet, Price9, SecurityStatus,
    StatusScope, UpdateSource,
};

use codec::security_status_workup60::NoOrderIDEntries;

/// A start, continuation or end of a workup.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Workup<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// TransactTime (60).
    pub transact_time: Utc,
    /// MatchEventIndicator (5799).
    pub match_event: MatchEvent,
    /// The instrument, `None` if not yet known.
    pub instrument: Option<InstrumentIndex>,
    /// SecurityID (48).
    pub security_id: i32,
    /// MDEntryPx (270): the price of the workup.
    pub price: Option<Price9>,
    /// TradeLinkID (820): the trade of the workup.
    pub trade_link_id: u32,
    /// SecurityTradingStatus (326): private workup, public workup, or its end.
    pub trading_status: SecurityTradingStatus,
    /// HaltReason (327).
    pub halt_reason: HaltReason,
    /// SecurityTradingEvent (1174), such as `END_OF_WORKUP`.
    pub event: SecurityTradingEvent,
    /// TradeDate (75): days since 1970-01-01.
    pub trade_date: Option<u16>,
    orders: Group<'a, NoOrderIDEntries<'a>>,
}

/// An order in a workup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkupOrder {
    /// OrderID (37).
    pub order_id: u64,
    /// Side (54); `None` for any other value.
    pub side: Option<BookSide>,
    /// AggressorIndicator (1057).
    pub aggressor: Option<AggressorFlag>,
}

impl<'a> Workup<'a> {
    /// Returns the orders in the workup.
    pub fn orders(&self) -> impl Iterator<Item = WorkupOrder> + use<'a> {
        let mut orders = self.orders;
        core::iter::from_fn(move || {
            let mut scratch = NoOrderIDEntries::SCRATCH;
            let order = orders.next(&mut scratch)?;
            let side = match order.side() {
                codec::Side::BUY => Some(BookSide::Bid),
                codec::Side::SELL => Some(BookSide::Ask),
                _ => None,
            };
            Some(WorkupOrder {
                order_id: order.order_id(),
                side,
                aggressor: order.aggressor_indicator(),
            })
        })
    }
}

impl Market {
    /// Applies a SecurityStatusWorkup of the incremental feed, which is also a status of its
    /// instrument.
    #[cold]
    pub(crate) fn apply_workup(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) -> Result<Root, DecodeError> {
        let mut scratch = codec::SecurityStatusWorkup60::SCRATCH;
        let decoded =
            codec::SecurityStatusWorkup60::decode(&message.header, message.body, &mut scratch)?;
        let root = Root {
            transact_time: Utc::from_nanos(decoded.transact_time()),
            match_event: MatchEvent(decoded.match_event_indicator().0),
        };
        let security_id = decoded.security_id();
        let instrument = self.instruments.find(security_id);
        let workup = Workup {
            packet,
            transact_time: root.transact_time,
            match_event: root.match_event,
            instrument,
            security_id,
            price: decoded.md_entry_px(),
            trade_link_id: decoded.trade_link_id(),
            trading_status: SecurityTradingStatus(decoded.security_trading_status().0),
            halt_reason: decoded.halt_reason(),
            event: decoded.security_trading_event(),
            trade_date: decoded.trade_date(),
            orders: decoded.no_order_id_entries(),
        };
        if self.is_unwanted(instrument, security_id) {
            return Ok(root);
        }
        self.counters.workups += 1;
        self.apply_status(packet.sequence, &workup.status());
        listener.on_workup(&workup);
        Ok(root)
    }
}

impl<'a> Workup<'a> {
    /// Returns the workup as a status of its instrument.
    fn status(&self) -> SecurityStatus<'a> {
        let Self { security_id, instrument, .. } = *self;
        SecurityStatus {
            packet: self.packet,
            transact_time: self.transact_time,
            match_event: self.match_event,
            scope: StatusScope::Instrument { security_id, instrument },
            trading_status: Some(self.trading_status),
            halt_reason: Some(self.halt_reason),
            event: Some(self.event),
            trade_date: self.trade_date,
            source: UpdateSource::Incremental,
        }
    }
}
