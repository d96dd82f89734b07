//! What the exchange says of an instrument besides its books, each an event of its own: statistics
//! of the day (49), limits (50), quote requests (39), workups (60), values of collateral (62), and
//! definitions (54 to 58, 63) that change in the course of the day.
//!
//! None of it is conflated: what a conflated group keeps is published first. CME lists definitions,
//! statuses, limits and collateral as such; for the others it says nothing, and so they are treated
//! alike.

use hairpin_cme_codecs::mdp3::{
    AggressorFlag, CollateralMarketValue62, HaltReason, MDEntryTypeDailyStatistics,
    MDIncrementalRefreshDailyStatistics49, MDIncrementalRefreshLimitsBanding50, MDUpdateAction,
    MatchEventIndicator, PriceSource, QuoteRequest39, SecurityAltIDSource, SecurityStatusWorkup60,
    SecurityTradingEvent, SettlPriceType, WorkupTradingStatus,
};
use hairpin_sbe::EncodeError;
use hairpin_time::Now;

use super::encode::{Beside, Heading, book, size};
use super::incremental::END_OF_EVENT;
use super::packet::{MAX_PAYLOAD, Packet};
use super::queue::{BookKind, Content, Ending};
use super::{DailyStatistic, DefinitionChange, Limits, Publication, Publisher, definitions};
use crate::matching::{OrderId, Side};
use crate::{Instrument, Price};

/// Statistics of one message of template 49: 12 + 2 + 8 + 11 + 3, and 32 for each, fit in a packet.
const DAILY_MAX: usize = (MAX_PAYLOAD - 12 - 2 - 8 - 11 - 3) / 32;
/// Entries of one message of template 62, of 40 bytes each.
const COLLATERAL_MAX: usize = (MAX_PAYLOAD - 12 - 2 - 8 - 11 - 3) / 40;

/// Somebody asks for quotes (template 39). EBS has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuoteRequest<'a> {
    /// Its number (tag 131), at most 23 characters.
    pub id: &'a str,
    /// The instrument's index.
    pub instrument: u32,
    /// Contracts (tag 38), if it says how many.
    pub quantity: Option<u32>,
    /// The side that is asked for (tag 54), if it says which.
    pub side: Option<Side>,
}

/// A workup of BrokerTec begins, goes on or ends (template 60).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workup<'a> {
    /// The instrument's index.
    pub instrument: u32,
    /// The price of the workup (tag 270), if there is one.
    pub price: Option<Price>,
    /// Number of the trade that it belongs to (tag 820).
    pub trade_link: u32,
    /// Private (201), public (202), or none: 17.
    pub status: WorkupTradingStatus,
    /// The orders that take part, at most 100.
    pub orders: &'a [WorkupOrder],
}

/// An order in a [`Workup`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkupOrder {
    /// The order.
    pub order: OrderId,
    /// Its side.
    pub side: Side,
    /// Whether it was the aggressor.
    pub is_aggressor: bool,
}

/// The value of a security that is lent in repos (template 62).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collateral<'a> {
    /// Its CUSIP (tag 458), at most 12 characters.
    pub cusip: &'a str,
    /// CME's number of it (tag 37519).
    pub guid: u64,
    /// The price without what interest has accrued (tag 2689).
    pub price: Price,
    /// The price with it (tag 37001).
    pub dirty_price: Price,
}

impl Publisher {
    /// Queues statistics of the day, by instrument, as one event: messages say 0x00, the last 0x80.
    ///
    /// # Panics
    /// If there are none, or no such instrument.
    pub fn set_daily(&mut self, now: Now, statistics: &[(u32, DailyStatistic)]) -> Publication {
        assert!(!statistics.is_empty(), "no statistics");
        let messages = statistics.len().div_ceil(DAILY_MAX);
        if !self.can_announce(now, messages) {
            return Publication::Deferred;
        }
        let event = self.events + 1;
        for (number, chunk) in (1..).zip(statistics.chunks(DAILY_MAX)) {
            let end = if number == messages { END_OF_EVENT } else { 0 };
            self.write_daily(heading(now, end), chunk);
        }
        for &(instrument, _) in statistics {
            self.take_fingerprints(event, &[instrument]);
        }
        self.announce(now)
    }

    fn write_daily(&mut self, heading: Heading, statistics: &[(u32, DailyStatistic)]) {
        let trade_date = self.channel.trade_date();
        let mut entries = [(0, 0); DAILY_MAX];
        for (entry, &(instrument, statistic)) in entries.iter_mut().zip(statistics) {
            *entry = (self.security_id(instrument), self.next_rpt_seq(instrument));
            let published = self.changing(instrument);
            published.statistics.daily.note(statistic);
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

    /// Queues the limits of an instrument's price.
    ///
    /// # Panics
    /// If there is no such instrument.
    pub fn set_limits(&mut self, now: Now, instrument: u32, limits: Limits) -> Publication {
        if !self.can_announce(now, 1) {
            return Publication::Deferred;
        }
        let (security_id, rpt_seq) = (self.security_id(instrument), self.next_rpt_seq(instrument));
        let published = self.changing(instrument);
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
        self.take_fingerprints(self.events + 1, &[instrument]);
        self.announce(now)
    }

    /// Queues a request for quotes.
    ///
    /// # Panics
    /// If there is no such instrument.
    pub fn request_quote(&mut self, now: Now, request: &QuoteRequest<'_>) -> Publication {
        let side = request.side.map(|side| match side {
            Side::Bid => 1,
            Side::Offer => 2,
        });
        self.queue_quote_request(now, request, side)
    }

    /// Queues a request for quotes ahead of a cross: tag 54 is 8, whatever `request` says of it.
    ///
    /// # Panics
    /// If there is no such instrument.
    pub fn request_cross(&mut self, now: Now, request: &QuoteRequest<'_>) -> Publication {
        self.queue_quote_request(now, request, Some(8))
    }

    fn queue_quote_request(
        &mut self,
        now: Now,
        request: &QuoteRequest<'_>,
        side: Option<i8>,
    ) -> Publication {
        /// Tag 537: tradeable.
        const TRADEABLE: i8 = 1;
        if !self.can_announce(now, 1) {
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
        self.announce(now)
    }

    /// Queues the state of a workup.
    ///
    /// # Panics
    /// If there is no such instrument, or more than 100 orders.
    pub fn set_workup(&mut self, now: Now, workup: &Workup<'_>) -> Publication {
        assert!(workup.orders.len() <= 100, "{} orders", workup.orders.len());
        if !self.can_announce(now, 1) {
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
                    .set_aggressor_indicator(AggressorFlag(u8::from(order.is_aggressor)));
            }
            groups.finish()
        });
        self.announce(now)
    }

    /// Queues values of collateral.
    ///
    /// # Panics
    /// If there are none.
    pub fn set_collateral(&mut self, now: Now, collateral: &[Collateral<'_>]) -> Publication {
        assert!(!collateral.is_empty(), "no collateral");
        let messages = collateral.len().div_ceil(COLLATERAL_MAX);
        if !self.can_announce(now, messages) {
            return Publication::Deferred;
        }
        for (number, chunk) in (1..).zip(collateral.chunks(COLLATERAL_MAX)) {
            let heading = heading(now, if number == messages { END_OF_EVENT } else { 0 });
            self.write(|buffer| encode_collateral(buffer, heading, chunk));
        }
        self.announce(now)
    }

    /// Queues what becomes of an instrument's definition, behind an empty book message (46): where
    /// all feeds share a connection, a definition in front would be taken for one of the loop. That
    /// loop begins anew. A deleted instrument stays in the loops as it was.
    ///
    /// # Panics
    /// If there is no such instrument, or it cannot change so: one that has no definition can only
    /// be added, one that has one only be modified or deleted.
    pub fn change_definition(
        &mut self,
        now: Now,
        instrument: u32,
        change: DefinitionChange,
    ) -> Publication {
        assert!(self.listings.allows(instrument, change), "{change:?} of {instrument}");
        if !self.can_announce(now, 2) {
            return Publication::Deferred;
        }
        self.listings.note(instrument, change, now.utc);
        self.definitions.restart();
        self.write_opening(now);
        let mut scratch = [0; MAX_PAYLOAD];
        let mut packet = Packet::new(&mut scratch);
        let source = definitions::Source {
            books: &self.books,
            instruments: &self.instruments,
            listings: &self.listings,
            channel: &self.channel,
        };
        packet
            .append(|buffer| definitions::encode_alone(buffer, &source, instrument))
            .expect("the longest definition fits in a packet");
        self.queue.bytes.extend_from_slice(packet.messages());
        self.announce(now)
    }

    /// Gives an instrument another symbol, reference price or kind, and queues that its definition
    /// is modified. Its SecurityID, tick and protection stay, and whether it has an implied book.
    ///
    /// # Panics
    /// As [`Publisher::change_definition`]; if `definition` is not as [`Instrument`] says.
    pub fn redefine(&mut self, now: Now, instrument: u32, definition: Instrument) -> Publication {
        assert!(definitions::is_sound(&definition), "{definition:?}");
        if !self.can_announce(now, 2) {
            return Publication::Deferred;
        }
        let present = &mut self.instruments[instrument as usize];
        let Instrument { security_id, tick, protection, has_implied, .. } = *present;
        *present = Instrument { security_id, tick, protection, has_implied, ..definition };
        self.change_definition(now, instrument, DefinitionChange::Modify)
    }

    /// Writes a message that says nothing.
    fn write_opening(&mut self, now: Now) {
        let (channel, none) = (self.channel, Beside { first: 0, orders: &[] });
        let heading = heading(now, 0);
        self.write(|buffer| book(buffer, heading, &channel, BookKind::Real, &[], none));
    }

    /// Whether so many messages can be queued, behind all that is conflated.
    fn can_announce(&mut self, now: Now, messages: usize) -> bool {
        self.flush(now.monotonic) && self.queue.has_room_for_bytes(messages * MAX_PAYLOAD)
    }

    /// Writes a message behind those of the same event.
    fn write(&mut self, encode: impl FnOnce(&mut [u8]) -> Result<usize, EncodeError>) {
        let mut scratch = [0; MAX_PAYLOAD];
        let mut packet = Packet::new(&mut scratch);
        packet.append(encode).expect("an announcement fits in a packet");
        self.queue.bytes.extend_from_slice(packet.messages());
    }

    /// Queues what was written as one event.
    fn announce(&mut self, now: Now) -> Publication {
        let end = self.queue.ends();
        let number = self.queue_event(now.utc, Content::Announcement, Ending::LastMessage, end);
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
