//! Messages about instruments other than books, each a separate event: daily statistics (49),
//! limits (50), quote requests (39), workups (60), collateral values (62), and intraday definitions
//! (54 to 58, 63).
//!
//! These messages are not conflated: a conflated group publishes its stored changes first. CME
//! lists definitions, statuses, limits and collateral as not conflated. It specifies nothing for
//! the others, so they are treated the same.

use hairpin_cme_codecs::mdp3::{
    AggressorFlag, CollateralMarketValue62, HaltReason, MDEntryTypeBook,
    MDEntryTypeDailyStatistics, MDIncrementalRefreshBookLongQty64,
    MDIncrementalRefreshDailyStatistics49, MDIncrementalRefreshLimitsBanding50, MDUpdateAction,
    MatchEventIndicator, PriceSource, QuoteRequest39, SecurityAltIDSource, SecurityStatusWorkup60,
    SecurityTradingEvent, SettlPriceType, WorkupTradingStatus,
};
use hairpin_sbe::EncodeError;
use hairpin_time::Now;

use super::encode::{AttachedOrders, Heading, book, size};
use super::incremental::{END_OF_EVENT, LAST_QUOTE};
use super::packet::{MAX_PAYLOAD, Packet};
use super::queue::{BookKind, Content, Ending};
use super::{DailyStatistic, DefinitionChange, Limits, Publication, Publisher, definitions};
use crate::matching::{OrderId, Side};
use crate::{Instrument, Price};

/// The maximum number of statistics in a message of template 49: 12 + 2 + 8 + 11 + 3 bytes, and 32
/// for each.
const DAILY_MAX: usize = (MAX_PAYLOAD - 12 - 2 - 8 - 11 - 3) / 32;
/// The maximum number of entries in a message of template 62, of 40 bytes each.
const COLLATERAL_MAX: usize = (MAX_PAYLOAD - 12 - 2 - 8 - 11 - 3) / 40;

/// A request for quotes (template 39). EBS has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuoteRequest<'a> {
    /// QuoteReqID (tag 131), at most 23 characters.
    pub id: &'a str,
    /// The index of the instrument.
    pub instrument: u32,
    /// The quantity in contracts (tag 38), if specified.
    pub quantity: Option<u32>,
    /// The requested side (tag 54), if specified.
    pub side: Option<Side>,
}

/// A change of state of a BrokerTec workup (template 60).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workup<'a> {
    /// The index of the instrument.
    pub instrument: u32,
    /// The price of the workup (tag 270), if there is one.
    pub price: Option<Price>,
    /// TradeLinkID of the related trade (tag 820).
    pub trade_link: u32,
    /// The status: private (201), public (202) or none (17).
    pub status: WorkupTradingStatus,
    /// The participating orders, at most 100.
    pub orders: &'a [WorkupOrder],
}

/// An order in a [`Workup`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkupOrder {
    /// The order.
    pub order: OrderId,
    /// The side of the order.
    pub side: Side,
    /// The order was the aggressor.
    pub aggressor: bool,
}

/// The value of a security used as repo collateral (template 62).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collateral<'a> {
    /// CUSIP (tag 458), at most 12 characters.
    pub cusip: &'a str,
    /// CME's GUID of the security (tag 37519).
    pub guid: u64,
    /// The clean price, without accrued interest (tag 2689).
    pub price: Price,
    /// The dirty price, with accrued interest (tag 37001).
    pub dirty_price: Price,
}

impl Publisher {
    /// Queues daily statistics by instrument as one event. The indicator is 0x80 in the last
    /// message, 0x00 in the others.
    ///
    /// # Panics
    /// If `statistics` is empty or an instrument does not exist.
    pub fn set_daily(&mut self, now: Now, statistics: &[(u32, DailyStatistic)]) -> Publication {
        assert!(!statistics.is_empty(), "statistics are empty");
        let messages = statistics.len().div_ceil(DAILY_MAX);
        if !self.has_room_for_messages(now, messages) {
            return Publication::Deferred;
        }
        let event = self.events + 1;
        for (number, chunk) in (1..).zip(statistics.chunks(DAILY_MAX)) {
            let end = if number == messages { END_OF_EVENT } else { 0 };
            self.write_daily(heading(now, end), chunk);
        }
        for &(instrument, _) in statistics {
            self.record_fingerprints(event, &[instrument]);
        }
        self.queue_written(now)
    }

    fn write_daily(&mut self, heading: Heading, statistics: &[(u32, DailyStatistic)]) {
        let trade_date = self.channel.trade_date();
        let mut entries = [(0, 0); DAILY_MAX];
        for (entry, &(instrument, statistic)) in entries.iter_mut().zip(statistics) {
            *entry = (self.security_id(instrument), self.next_rpt_seq(instrument));
            let published = self.published_mut(instrument);
            published.statistics.daily.record(statistic);
            published.transact_time = heading.transact_time;
        }
        self.write(|buffer| {
            let (mut root, mut groups) = MDIncrementalRefreshDailyStatistics49::encode(buffer)?;
            root.set_transact_time(heading.transact_time.as_nanos())
                .set_match_event_indicator(heading.indicator);
            let mut group = groups.no_md_entries()?;
            for ((security_id, rpt_seq), &(_, statistic)) in entries.into_iter().zip(statistics) {
                let mut entry = group.push()?;
                entry
                    .set_security_id(security_id)
                    .set_rpt_seq(rpt_seq)
                    .set_trading_reference_date(trade_date)
                    .set_md_update_action(MDUpdateAction::NEW);
                use MDEntryTypeDailyStatistics as Kind;
                match statistic {
                    DailyStatistic::Settlement(settlement) => entry
                        .set_trading_reference_date(settlement.date.unwrap_or(trade_date))
                        .set_md_entry_px(settlement.price)
                        .set_settl_price_type(SettlPriceType(settlement.kind()))
                        .set_md_entry_type(Kind::SETTLEMENT_PRICE),
                    DailyStatistic::OpenInterest(contracts) => entry
                        .set_md_entry_size(size(contracts))
                        .set_md_entry_type(Kind::OPEN_INTEREST),
                    DailyStatistic::ClearedVolume(contracts) => entry
                        .set_md_entry_size(size(contracts))
                        .set_md_entry_type(Kind::CLEARED_VOLUME),
                    DailyStatistic::Fixing(price) => {
                        entry.set_md_entry_px(price).set_md_entry_type(Kind::FIXING_PRICE)
                    }
                };
            }
            groups.finish()
        });
    }

    /// Queues the price limits of an instrument.
    ///
    /// # Panics
    /// If the instrument does not exist.
    pub fn set_limits(&mut self, now: Now, instrument: u32, limits: Limits) -> Publication {
        if !self.has_room_for_messages(now, 1) {
            return Publication::Deferred;
        }
        let (security_id, rpt_seq) = (self.security_id(instrument), self.next_rpt_seq(instrument));
        let published = self.published_mut(instrument);
        published.statistics.limits = limits;
        published.transact_time = now.utc;
        self.write(|buffer| {
            let (mut root, mut groups) = MDIncrementalRefreshLimitsBanding50::encode(buffer)?;
            root.set_transact_time(now.utc.as_nanos()).set_match_event_indicator(END);
            groups
                .no_md_entries()?
                .push()?
                .set_high_limit_price(limits.high)
                .set_low_limit_price(limits.low)
                .set_max_price_variation(limits.max_variation)
                .set_security_id(security_id)
                .set_rpt_seq(rpt_seq);
            groups.finish()
        });
        self.record_fingerprints(self.events + 1, &[instrument]);
        self.queue_written(now)
    }

    /// Queues the market best price of a side (entry type x for a bid, w for an offer), with its
    /// quantity if known, or its deletion. Receivers keep it next to the book. It is of EBS's
    /// templates 64 and 69 only; a book or channel reset clears it.
    ///
    /// # Panics
    /// If the instrument does not exist, or the group has no long quantities.
    pub fn set_market_best(
        &mut self,
        now: Now,
        instrument: u32,
        side: Side,
        best: Option<(Price, Option<u32>)>,
    ) -> Publication {
        assert!(self.settings.long_quantities, "market best prices require long quantities");
        if !self.has_room_for_messages(now, 1) {
            return Publication::Deferred;
        }
        let (security_id, rpt_seq) = (self.security_id(instrument), self.next_rpt_seq(instrument));
        let published = self.published_mut(instrument);
        published.transact_time = now.utc;
        let old = core::mem::replace(&mut published.market_best[side.index()], best);
        let (action, entry) = match (old, best) {
            (_, None) => (MDUpdateAction::DELETE, old),
            (None, Some(_)) => (MDUpdateAction::NEW, best),
            (Some(_), Some(_)) => (MDUpdateAction::CHANGE, best),
        };
        let entry_type = match side {
            Side::Bid => MDEntryTypeBook::MARKET_BEST_BID,
            Side::Offer => MDEntryTypeBook::MARKET_BEST_OFFER,
        };
        self.write(|buffer| {
            let (mut root, mut groups) = MDIncrementalRefreshBookLongQty64::encode(buffer)?;
            root.set_transact_time(now.utc.as_nanos())
                .set_match_event_indicator(MatchEventIndicator(LAST_QUOTE | END_OF_EVENT));
            groups
                .no_md_entries()?
                .push()?
                .set_md_entry_px(entry.map(|(price, _)| price))
                .set_md_entry_size(entry.and_then(|(_, quantity)| quantity).map(u64::from))
                .set_security_id(security_id)
                .set_rpt_seq(rpt_seq)
                .set_md_price_level(1)
                .set_md_update_action(action)
                .set_md_entry_type(entry_type);
            groups.finish()
        });
        self.record_fingerprints(self.events + 1, &[instrument]);
        self.queue_written(now)
    }

    /// Queues a request for quotes.
    ///
    /// # Panics
    /// If the instrument does not exist.
    pub fn request_quote(&mut self, now: Now, request: &QuoteRequest<'_>) -> Publication {
        let side = request.side.map(|side| match side {
            Side::Bid => 1,
            Side::Offer => 2,
        });
        self.queue_quote_request(now, request, side)
    }

    /// Queues the announcement of a cross: a request for quotes with side 8 (tag 54), regardless of
    /// `request.side`.
    ///
    /// # Panics
    /// If the instrument does not exist.
    pub fn request_cross(&mut self, now: Now, request: &QuoteRequest<'_>) -> Publication {
        self.queue_quote_request(now, request, Some(8))
    }

    fn queue_quote_request(
        &mut self,
        now: Now,
        request: &QuoteRequest<'_>,
        side: Option<i8>,
    ) -> Publication {
        /// QuoteType (tag 537): tradeable.
        const TRADEABLE: i8 = 1;
        if !self.has_room_for_messages(now, 1) {
            return Publication::Deferred;
        }
        let security_id = self.security_id(request.instrument);
        let symbol = core::mem::take(&mut self.instruments[request.instrument as usize].symbol);
        self.write(|buffer| {
            let (mut root, mut groups) = QuoteRequest39::encode(buffer)?;
            root.set_transact_time(now.utc.as_nanos())
                .set_quote_req_id(request.id)
                .set_match_event_indicator(END);
            groups
                .no_related_sym()?
                .push()?
                .set_symbol(&symbol)
                .set_security_id(security_id)
                .set_order_qty(request.quantity.map(size))
                .set_quote_type(TRADEABLE)
                .set_side(side);
            groups.finish()
        });
        self.instruments[request.instrument as usize].symbol = symbol;
        self.queue_written(now)
    }

    /// Queues the state of a workup.
    ///
    /// # Panics
    /// If the instrument does not exist, or there are more than 100 orders.
    pub fn set_workup(&mut self, now: Now, workup: &Workup<'_>) -> Publication {
        assert!(workup.orders.len() <= 100, "workup of {} orders exceeds 100", workup.orders.len());
        if !self.has_room_for_messages(now, 1) {
            return Publication::Deferred;
        }
        let security_id = self.security_id(workup.instrument);
        let trade_date = self.channel.trade_date();
        self.write(|buffer| {
            let (mut root, mut groups) = SecurityStatusWorkup60::encode(buffer)?;
            root.set_transact_time(now.utc.as_nanos())
                .set_md_entry_px(workup.price)
                .set_security_id(security_id)
                .set_match_event_indicator(END)
                .set_trade_date(trade_date)
                .set_trade_link_id(workup.trade_link)
                .set_security_trading_status(workup.status)
                .set_halt_reason(HaltReason::GROUP_SCHEDULE)
                .set_security_trading_event(SecurityTradingEvent::NO_EVENT);
            let mut entries = groups.no_order_id_entries()?;
            for order in workup.orders {
                use hairpin_cme_codecs::mdp3::Side as Code;
                let side = if order.side == Side::Bid { Code::BUY } else { Code::SELL };
                entries
                    .push()?
                    .set_order_id(order.order.0)
                    .set_side(side)
                    .set_aggressor_indicator(AggressorFlag(u8::from(order.aggressor)));
            }
            groups.finish()
        });
        self.queue_written(now)
    }

    /// Queues collateral values.
    ///
    /// # Panics
    /// If `collateral` is empty.
    pub fn set_collateral(&mut self, now: Now, collateral: &[Collateral<'_>]) -> Publication {
        assert!(!collateral.is_empty(), "collateral is empty");
        let messages = collateral.len().div_ceil(COLLATERAL_MAX);
        if !self.has_room_for_messages(now, messages) {
            return Publication::Deferred;
        }
        for (number, chunk) in (1..).zip(collateral.chunks(COLLATERAL_MAX)) {
            let heading = heading(now, if number == messages { END_OF_EVENT } else { 0 });
            self.write(|buffer| encode_collateral(buffer, heading, chunk));
        }
        self.queue_written(now)
    }

    /// Queues a change of an instrument's definition, after an empty book message (46). Where all
    /// feeds share a connection, a leading definition would be taken for one of the loop. The
    /// definition loop restarts. A deleted instrument stays in the loops.
    ///
    /// # Panics
    /// If the instrument does not exist, or the change is not allowed: without a definition only
    /// `Add` is, with one only `Modify` and `Delete`.
    pub fn change_definition(
        &mut self,
        now: Now,
        instrument: u32,
        change: DefinitionChange,
    ) -> Publication {
        assert!(
            self.listings.allows(instrument, change),
            "invalid change {change:?} of instrument {instrument}"
        );
        if !self.has_room_for_messages(now, 2) {
            return Publication::Deferred;
        }
        self.listings.record(instrument, change, now.utc);
        self.definitions.restart();
        self.write_empty_book(now);
        let mut scratch = [0; MAX_PAYLOAD];
        let mut packet = Packet::new(&mut scratch);
        let source = definitions::Source {
            books: &self.books,
            instruments: &self.instruments,
            listings: &self.listings,
            channel: &self.channel,
        };
        packet
            .append(|buffer| definitions::encode_incremental(buffer, &source, instrument))
            .expect("the longest definition fits in a packet");
        self.queue.bytes.extend_from_slice(packet.messages());
        self.queue_written(now)
    }

    /// Changes the symbol, reference price or kind of an instrument, and queues its modified
    /// definition. SecurityID, tick, protection and the implied book cannot change.
    ///
    /// # Panics
    /// Same as [`Publisher::change_definition`]; also if `definition` violates the rules of
    /// [`Instrument`].
    pub fn redefine(&mut self, now: Now, instrument: u32, definition: Instrument) -> Publication {
        assert!(definitions::is_valid(&definition), "{definition:?}");
        if !self.has_room_for_messages(now, 2) {
            return Publication::Deferred;
        }
        let current = &mut self.instruments[instrument as usize];
        let Instrument { security_id, tick, protection, implied_book, .. } = *current;
        *current = Instrument { security_id, tick, protection, implied_book, ..definition };
        self.change_definition(now, instrument, DefinitionChange::Modify)
    }

    /// Writes an empty book message.
    fn write_empty_book(&mut self, now: Now) {
        let (channel, none) = (self.channel, AttachedOrders { first: 0, orders: &[] });
        let heading = heading(now, 0);
        self.write(|buffer| book(buffer, heading, &channel, BookKind::Direct, &[], none));
    }

    /// Returns `true` if `messages` messages can be queued after all conflated changes.
    fn has_room_for_messages(&mut self, now: Now, messages: usize) -> bool {
        self.flush(now.monotonic) && self.queue.has_room_for_bytes(messages * MAX_PAYLOAD)
    }

    /// Writes a message after the others of the same event.
    fn write(&mut self, encode: impl FnOnce(&mut [u8]) -> Result<usize, EncodeError>) {
        let mut scratch = [0; MAX_PAYLOAD];
        let mut packet = Packet::new(&mut scratch);
        packet.append(encode).expect("a message of this kind fits in a packet");
        self.queue.bytes.extend_from_slice(packet.messages());
    }

    /// Queues the written messages as one event.
    fn queue_written(&mut self, now: Now) -> Publication {
        let end = self.queue.lengths();
        let number = self.queue_event(now.utc, Content::Message, Ending::LastMessage, end);
        Publication::Event(number)
    }
}

const END: MatchEventIndicator = MatchEventIndicator(END_OF_EVENT);

fn heading(now: Now, indicator: u8) -> Heading {
    Heading { transact_time: now.utc, indicator: MatchEventIndicator(indicator) }
}

fn encode_collateral(
    buffer: &mut [u8],
    heading: Heading,
    collateral: &[Collateral<'_>],
) -> Result<usize, EncodeError> {
    let (mut root, mut groups) = CollateralMarketValue62::encode(buffer)?;
    root.set_transact_time(heading.transact_time.as_nanos())
        .set_match_event_indicator(heading.indicator);
    let mut entries = groups.no_md_entries()?;
    for &Collateral { cusip, guid, price, dirty_price } in collateral {
        entries
            .push()?
            .set_underlying_security_alt_id(cusip)
            .set_underlying_security_alt_id_source(SecurityAltIDSource::CUSIP)
            .set_collateral_market_price(price)
            .set_dirty_price(dirty_price)
            .set_underlying_instrument_guid(guid)
            .set_md_stream_id(PriceSource::GLOBEX);
    }
    groups.finish()
}
