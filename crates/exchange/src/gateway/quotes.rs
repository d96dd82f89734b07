//! Quotes: a bid and an offer of one session in one instrument, entered and removed together.
//!
//! A MassQuote517 has up to 50 entries. An entry replaces the session's previous quote under the
//! same QuoteSetID and instrument. A side without price or size, or with either 0, is removed. The
//! MassQuoteAck545 lists rejected entries, which leave no quote. The sides of a quote rest like day
//! orders and have the same queue priority. Trades are reported with QuoteEntryID in ClOrdID.

use hairpin_cme_codecs::ilink3::mass_quote517::NoQuoteEntries;
use hairpin_cme_codecs::ilink3::{
    BooleanFlag, ManualOrdIndReq, MassQuote517, MassQuoteAck545, OrderType, QuoteAckStatus, SideReq,
};
use hairpin_sbe::EncodeError;

use super::ascii_int::AsciiInt;
use super::check;
use super::dispatch::FrameHandler;
use super::order_requests::owner_of;
use super::party_details::PartyDetails;
use super::publish::Stamp;
use super::reason_codes::QuoteReason;
use super::request::{ClientOrder, Request};
use crate::matching::{NewOrder, OrderId, Replaced, Replacement, Side};
use crate::{Listener, Market, Price, SelfMatchInstruction, SelfMatchPrevention};

/// The maximum number of quotes of a session.
pub(super) const QUOTES_MAX: usize = 1_024;

/// The maximum number of entries in a message, or of instruments, groups or sets in a cancel.
pub(super) const ENTRIES_MAX: usize = 50;

/// A session's quote in an instrument under a QuoteSetID.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quote {
    pub(super) instrument: u32,
    pub(super) set: u16,
    /// The bid and the offer. They may no longer be in the book.
    pub(super) orders: [OrderId; 2],
    /// QuoteEntryID of the latest entry.
    pub(super) entry_id: u32,
    pub(super) security_id: i32,
    /// The quote has left the market, and its session is not notified yet.
    pub(super) lost: bool,
}

/// A session's latest quote message: the fields that unsolicited cancels repeat.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuoteSource {
    pub(super) request: Request,
    pub(super) quote_id: u32,
    /// The party details, under id 0.
    pub(super) details: PartyDetails,
}

impl QuoteSource {
    pub(super) const NONE: Self =
        Self { request: Request::UNDECODED, quote_id: 0, details: PartyDetails::empty(0) };
}

/// The rejected entries of a MassQuote.
#[derive(Debug)]
struct RejectedEntries {
    entries: [(u32, i32, u16, u8); ENTRIES_MAX],
    count: usize,
}

/// Price and quantity of one side, or `None` to remove it.
pub(super) type SideTerms = Option<(Price, u32)>;

impl<L: Listener> FrameHandler<'_, L> {
    pub(super) fn handle_mass_quote(
        &mut self,
        account: usize,
        message: &MassQuote517<'_>,
        market: &mut impl Market,
    ) {
        if !self.consume_number(account, message.seq_num()) {
            return;
        }
        self.counters.mass_quotes += 1;
        let request = Request::from_mass_quote(message).echoed(self.rules.venue);
        let short_sale = message.short_sale_type().is_some_and(|of| of.name().is_none());
        let checked = check::check_sender(&request, &self.parties(account))
            .and_then(|()| check::check_liquidity(message.liquidity_flag()))
            .and_then(|()| check::check_defined(&[(short_sale, check::tag::SHORT_SALE_TYPE)]));
        if let Err(refusal) = checked {
            return self.reject(account, &request, b"i", message.seq_num(), refusal);
        }
        self.record_quote_source(account, &request, message.quote_id());
        let (mut entries, mut scratch) = (message.no_quote_entries(), NoQuoteEntries::SCRATCH);
        let entry_count = entries.len();
        let mut rejected = RejectedEntries { entries: [(0, 0, 0, 0); ENTRIES_MAX], count: 0 };
        let mut accepted = 0_u8;
        if (1..=ENTRIES_MAX).contains(&entry_count) {
            while let Some(entry) = entries.next(&mut scratch) {
                match self.quote(account, &request, &entry, market) {
                    Ok(()) => accepted += 1,
                    Err(reason) => rejected.push(&entry, reason),
                }
            }
        }
        let is_invalid = !(1..=ENTRIES_MAX).contains(&entry_count);
        self.counters.quote_rejects += rejected.count as u64 + u64::from(is_invalid);
        self.publish(account, |buffer, stamp| {
            encode_ack(buffer, stamp, (message, &request), accepted, &rejected)
        });
    }

    /// Replaces a session's quote. On `Err` no quote is left.
    fn quote(
        &mut self,
        account: usize,
        request: &Request,
        entry: &NoQuoteEntries<'_>,
        market: &mut impl Market,
    ) -> Result<(), QuoteReason> {
        let instrument =
            market.instrument(entry.security_id()).ok_or(QuoteReason::UnknownSecurity)?;
        let ids = (entry.quote_entry_id(), entry.security_id());
        let slot = self
            .quote_slot(account, instrument, (entry.quote_set_id(), ids), market)
            .ok_or(QuoteReason::ExceedsLimit)?;
        let terms = [
            side_terms(entry.bid_px(), entry.bid_size()),
            side_terms(entry.offer_px(), entry.offer_size()),
        ];
        let owner = owner_of(account);
        let mut orders = self.accounts[account].quotes[slot].orders;
        let mut result = check_spread(terms);
        if result.is_ok() {
            self.cancel_crossed_sides(orders, terms, market);
            for side in Side::BOTH {
                let change = (instrument, side, orders[side.index()], terms[side.index()]);
                match self.quote_side(account, request, ids, change, market) {
                    Ok(id) => orders[side.index()] = id,
                    Err(reason) => result = result.and(Err(reason)),
                }
            }
        }
        if result.is_err() {
            for id in core::mem::take(&mut orders) {
                market.cancel(self.now, id, owner);
            }
        }
        self.accounts[account].quotes[slot].orders = orders;
        result
    }

    /// Cancels previous sides that the session's new prices would cross.
    pub(super) fn cancel_crossed_sides(
        &self,
        orders: [OrderId; 2],
        terms: [SideTerms; 2],
        market: &mut impl Market,
    ) {
        for side in Side::BOTH {
            let previous = market.order(orders[side.opposite().index()]).copied();
            let (Some((price, _)), Some(previous)) = (terms[side.index()], previous) else {
                continue;
            };
            if price == previous.price || side.is_better(price, previous.price) {
                market.cancel(self.now, previous.id, previous.owner);
            }
        }
    }

    /// Enters, changes or removes one side. Returns its order, or [`OrderId::NONE`].
    pub(super) fn quote_side(
        &mut self,
        account: usize,
        request: &Request,
        (entry, security_id): (u32, i32),
        (instrument, side, previous, terms): (u32, Side, OrderId, SideTerms),
        market: &mut impl Market,
    ) -> Result<OrderId, QuoteReason> {
        let owner = owner_of(account);
        // Self-match prevention never cancels a quote that is the aggressor (CME, page 457640025).
        let self_match = self.self_match(account, request.party_details_list_req_id);
        let instruction = SelfMatchInstruction::CancelResting;
        let self_match = self_match.map(|of| SelfMatchPrevention { instruction, ..of });
        let Some((price, quantity)) = terms else {
            market.cancel(self.now, previous, owner);
            return Ok(OrderId::NONE);
        };
        let id = if market.order(previous).is_some_and(|order| order.owner == owner) {
            let replacement = Replacement { price, quantity, self_match, ..Replacement::default() };
            match market.replace(self.now, previous, owner, &replacement)? {
                Replaced::Modified { order, .. } => order.id,
                Replaced::Cancelled(_) => return Ok(OrderId::NONE),
            }
        } else {
            let new = NewOrder::limit(instrument, side, price, quantity, owner);
            market.submit(self.now, &NewOrder { self_match, quote: true, ..new })?.order
        };
        let mut cl_ord_id = [0; 20];
        let digits = AsciiInt::new(entry.into());
        cl_ord_id[..digits.as_ref().len()].copy_from_slice(digits.as_ref());
        self.store_in_slot(ClientOrder {
            order: id,
            request: Request { cl_ord_id, ..*request },
            security_id,
            side: if side == Side::Bid { SideReq::BUY } else { SideReq::SELL },
            ord_type: OrderType::LIMIT,
            price: Some(price),
            quantity,
            quote: true,
            ..ClientOrder::default()
        });
        Ok(id)
    }

    /// Records the fields of a quote message that unsolicited cancels repeat.
    pub(super) fn record_quote_source(&mut self, account: usize, request: &Request, quote_id: u32) {
        let details = self.details_of(account, request.party_details_list_req_id).carried();
        let request = *request;
        self.accounts[account].quote_source = QuoteSource { request, quote_id, details };
    }

    /// Returns the index of a session's quote in an instrument, adding one if needed.
    pub(super) fn quote_slot(
        &mut self,
        account: usize,
        instrument: u32,
        (set, (entry_id, security_id)): (u16, (u32, i32)),
        market: &impl Market,
    ) -> Option<usize> {
        let quotes = &mut self.accounts[account].quotes;
        let is_same = |quote: &Quote| quote.instrument == instrument && quote.set == set;
        if let Some(slot) = quotes.iter().position(is_same) {
            quotes[slot].entry_id = entry_id;
            return Some(slot);
        }
        if quotes.len() == QUOTES_MAX {
            let rests = |id: &OrderId| market.order(*id).is_some();
            quotes.retain(|quote| quote.orders.iter().any(rests));
        }
        if quotes.len() == QUOTES_MAX {
            return None;
        }
        let orders = [OrderId::NONE; 2];
        quotes.push(Quote { instrument, set, orders, entry_id, security_id, lost: false });
        Some(quotes.len() - 1)
    }
}

/// Returns the price and quantity of one side of an entry, unless either is absent or 0.
pub(super) fn side_terms(price: Option<Price>, quantity: Option<u32>) -> SideTerms {
    let price = price.filter(|price| price.0 != 0)?;
    quantity.filter(|&quantity| quantity > 0).map(|quantity| (price, quantity))
}

fn check_spread(terms: [SideTerms; 2]) -> Result<(), QuoteReason> {
    match terms {
        [Some((bid, _)), Some((offer, _))] if bid >= offer => Err(QuoteReason::InvalidSpread),
        _ => Ok(()),
    }
}

impl RejectedEntries {
    fn push(&mut self, entry: &NoQuoteEntries<'_>, reason: QuoteReason) {
        let rejected =
            (entry.quote_entry_id(), entry.security_id(), entry.quote_set_id(), reason.code());
        self.entries[self.count] = rejected;
        self.count += 1;
    }
}

fn encode_ack(
    buffer: &mut [u8],
    stamp: &Stamp,
    (message, request): (&MassQuote517<'_>, &Request),
    accepted: u8,
    rejected: &RejectedEntries,
) -> Result<usize, EncodeError> {
    let entry_count = message.no_quote_entries().len();
    let (status, reason) = match (accepted, rejected.count) {
        (0, 0) => (QuoteAckStatus::REJECTED, Some(QuoteReason::ExceedsLimit.code().into())),
        (0, _) => (QuoteAckStatus::REJECTED, Some(rejected.entries[0].3.into())),
        _ => (QuoteAckStatus::ACCEPTED, None),
    };
    let (mut root, mut groups) = MassQuoteAck545::encode(buffer)?;
    root.set_seq_num(stamp.number)
        .set_uuid(stamp.uuid)
        .set_sender_id(request.sender_id)
        .set_party_details_list_req_id(request.party_details_list_req_id)
        .set_request_time(stamp.utc)
        .set_sending_time_epoch(stamp.utc)
        .set_quote_req_id(message.quote_req_id())
        .set_location(request.location)
        .set_quote_id(message.quote_id())
        .set_quote_reject_reason(reason)
        .set_quote_status(status)
        .set_manual_order_indicator(ManualOrdIndReq(request.manual_order_indicator))
        .set_no_processed_entries(accepted)
        .set_mm_protection_reset(BooleanFlag::FALSE)
        .set_split_msg(stamp.split)
        .set_liquidity_flag(message.liquidity_flag())
        .set_short_sale_type(message.short_sale_type())
        .set_tot_no_quote_entries(u8::try_from(entry_count).ok())
        .set_poss_retrans_flag(BooleanFlag::FALSE);
    let mut group = groups.no_quote_entries()?;
    for &(entry, security, set, reason) in &rejected.entries[..rejected.count] {
        group
            .push()?
            .set_quote_entry_id(entry)
            .set_security_id(security)
            .set_quote_set_id(set)
            .set_quote_entry_reject_reason(reason);
    }
    groups.finish()
}
