//! Quotes: a bid and an offer of one session in one instrument, entered and taken away together.
//!
//! A MassQuote517 has up to 50 entries. An entry takes the place of what the session quoted before
//! under the same QuoteSetID in the same instrument; a side without a price or a size, or with one
//! of 0, is taken away. Entries that are refused are listed in the MassQuoteAck545, and leave no
//! quote. A quote's sides rest like day orders, keep their place like these, and trades are
//! reported with QuoteEntryID in the place of ClOrdID.

use hairpin_cme_codecs::ilink3::mass_quote517::NoQuoteEntries;
use hairpin_cme_codecs::ilink3::{
    BooleanFlag, ManualOrdIndReq, MassQuote517, MassQuoteAck545, OrderType, QuoteAckStatus, SideReq,
};
use hairpin_sbe::EncodeError;

use super::business::owner_of;
use super::check;
use super::dispatch::Handling;
use super::number::Digits;
use super::publish::Stamp;
use super::reason::QuoteReason;
use super::request::{ClientOrder, Request};
use crate::matching::{NewOrder, OrderId, Replaced, Replacement, Side};
use crate::{Listener, Market, Price};

/// Quotes that a session has at once.
pub(super) const QUOTES_MAX: usize = 1_024;

/// Entries of one message, or instruments, groups or sets of one cancel.
pub(super) const ENTRIES_MAX: usize = 50;

/// What a session quotes in an instrument under a QuoteSetID.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quote {
    pub(super) instrument: u32,
    pub(super) set: u16,
    /// Bid and offer; they may be gone.
    pub(super) orders: [OrderId; 2],
}

/// Entries that were refused.
#[derive(Debug)]
struct Refused {
    entries: [(u32, i32, u16, u8); ENTRIES_MAX],
    count: usize,
}

/// A price and contracts, if a side is wanted.
pub(super) type Wanted = Option<(Price, u32)>;

impl<L: Listener> Handling<'_, L> {
    pub(super) fn handle_mass_quote(
        &mut self,
        account: usize,
        message: &MassQuote517<'_>,
        market: &mut impl Market,
    ) {
        if !self.take_number(account, message.seq_num()) {
            return;
        }
        self.counters.mass_quotes += 1;
        let request = Request::from_mass_quote(message);
        if let Err(refusal) = check::check_sender(&request, &self.parties(account)) {
            return self.reject(account, &request, b"i", message.seq_num(), refusal);
        }
        let (mut entries, mut scratch) = (message.no_quote_entries(), NoQuoteEntries::SCRATCH);
        let asked = entries.len();
        let mut refused = Refused { entries: [(0, 0, 0, 0); ENTRIES_MAX], count: 0 };
        let mut accepted = 0_u8;
        if (1..=ENTRIES_MAX).contains(&asked) {
            while let Some(entry) = entries.next(&mut scratch) {
                match self.quote(account, &request, &entry, market) {
                    Ok(()) => accepted += 1,
                    Err(reason) => refused.push(&entry, reason),
                }
            }
        }
        let is_refused = !(1..=ENTRIES_MAX).contains(&asked);
        self.counters.quote_rejects += refused.count as u64 + u64::from(is_refused);
        self.publish(account, |buffer, stamp| {
            encode_ack(buffer, stamp, (message, &request), accepted, &refused)
        });
    }

    /// Gives a session another quote in the place of the one before; `Err` leaves none.
    fn quote(
        &mut self,
        account: usize,
        request: &Request,
        entry: &NoQuoteEntries<'_>,
        market: &mut impl Market,
    ) -> Result<(), QuoteReason> {
        let instrument =
            market.instrument(entry.security_id()).ok_or(QuoteReason::UnknownSecurity)?;
        let place = self
            .quote_place(account, instrument, entry.quote_set_id(), market)
            .ok_or(QuoteReason::ExceedsLimit)?;
        let wanted = [
            wanted(entry.bid_px(), entry.bid_size()),
            wanted(entry.offer_px(), entry.offer_size()),
        ];
        let owner = owner_of(account);
        let mut orders = self.accounts[account].quotes[place].orders;
        let mut done = check_spread(wanted);
        if done.is_ok() {
            self.clear_way(orders, wanted, market);
            for side in Side::BOTH {
                let names = (entry.quote_entry_id(), entry.security_id());
                let of = (instrument, side, orders[side.index()], wanted[side.index()]);
                match self.quote_side(account, request, names, of, market) {
                    Ok(id) => orders[side.index()] = id,
                    Err(reason) => done = done.and(Err(reason)),
                }
            }
        }
        if done.is_err() {
            for id in core::mem::take(&mut orders) {
                market.cancel(self.now, id, owner);
            }
        }
        self.accounts[account].quotes[place].orders = orders;
        done
    }

    /// Takes away what a session's new prices would meet of its old ones.
    pub(super) fn clear_way(
        &self,
        orders: [OrderId; 2],
        wanted: [Wanted; 2],
        market: &mut impl Market,
    ) {
        for side in Side::BOTH {
            let old = market.order(orders[side.opposite().index()]).copied();
            let (Some((price, _)), Some(old)) = (wanted[side.index()], old) else { continue };
            if price == old.price || side.is_better(price, old.price) {
                market.cancel(self.now, old.id, old.owner);
            }
        }
    }

    /// Enters, changes or takes away one side; its number, or none.
    pub(super) fn quote_side(
        &mut self,
        account: usize,
        request: &Request,
        (entry, security_id): (u32, i32),
        (instrument, side, old, wanted): (u32, Side, OrderId, Wanted),
        market: &mut impl Market,
    ) -> Result<OrderId, QuoteReason> {
        let owner = owner_of(account);
        let Some((price, quantity)) = wanted else {
            market.cancel(self.now, old, owner);
            return Ok(OrderId::NONE);
        };
        let id = if market.order(old).is_some_and(|order| order.owner == owner) {
            let replacement = Replacement { price, quantity, ..Replacement::default() };
            match market.replace(self.now, old, owner, &replacement)? {
                Replaced::Modified { order, .. } => order.id,
                Replaced::Cancelled(_) => return Ok(OrderId::NONE),
            }
        } else {
            let new = NewOrder::limit(instrument, side, price, quantity, owner);
            market.submit(self.now, &new)?.order
        };
        let mut cl_ord_id = [0; 20];
        let digits = Digits::of(entry.into());
        cl_ord_id[..digits.as_ref().len()].copy_from_slice(digits.as_ref());
        self.orders[id.slot() as usize] = ClientOrder {
            order: id,
            request: Request { cl_ord_id, ..*request },
            security_id,
            side: if side == Side::Bid { SideReq::BUY } else { SideReq::SELL },
            ord_type: OrderType::LIMIT,
            price: Some(price),
            quantity,
            is_quote: true,
            ..ClientOrder::default()
        };
        Ok(id)
    }

    /// Where a session's quote in an instrument is noted, made if there is none.
    pub(super) fn quote_place(
        &mut self,
        account: usize,
        instrument: u32,
        set: u16,
        market: &impl Market,
    ) -> Option<usize> {
        let quotes = &mut self.accounts[account].quotes;
        let is_it = |quote: &Quote| quote.instrument == instrument && quote.set == set;
        if let Some(place) = quotes.iter().position(is_it) {
            return Some(place);
        }
        if quotes.len() == QUOTES_MAX {
            let rests = |id: &OrderId| market.order(*id).is_some();
            quotes.retain(|quote| quote.orders.iter().any(rests));
        }
        if quotes.len() == QUOTES_MAX {
            return None;
        }
        quotes.push(Quote { instrument, set, orders: [OrderId::NONE; 2] });
        Some(quotes.len() - 1)
    }
}

/// A side of an entry, if there is to be one.
pub(super) fn wanted(price: Option<Price>, quantity: Option<u32>) -> Wanted {
    let price = price.filter(|price| price.0 != 0)?;
    quantity.filter(|&quantity| quantity > 0).map(|quantity| (price, quantity))
}

fn check_spread(wanted: [Wanted; 2]) -> Result<(), QuoteReason> {
    match wanted {
        [Some((bid, _)), Some((offer, _))] if bid >= offer => Err(QuoteReason::InvalidSpread),
        _ => Ok(()),
    }
}

impl Refused {
    fn push(&mut self, entry: &NoQuoteEntries<'_>, reason: QuoteReason) {
        let of = (entry.quote_entry_id(), entry.security_id(), entry.quote_set_id(), reason.code());
        self.entries[self.count] = of;
        self.count += 1;
    }
}

fn encode_ack(
    buffer: &mut [u8],
    stamp: &Stamp,
    (message, request): (&MassQuote517<'_>, &Request),
    accepted: u8,
    refused: &Refused,
) -> Result<usize, EncodeError> {
    let asked = message.no_quote_entries().len();
    let (status, reason) = match (accepted, refused.count) {
        (0, 0) => (QuoteAckStatus::REJECTED, Some(QuoteReason::ExceedsLimit.code().into())),
        (0, _) => (QuoteAckStatus::REJECTED, Some(refused.entries[0].3.into())),
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
        .set_tot_no_quote_entries(u8::try_from(asked).ok())
        .set_poss_retrans_flag(BooleanFlag::FALSE);
    let mut group = groups.no_quote_entries()?;
    for &(entry, security, set, reason) in &refused.entries[..refused.count] {
        group
            .push()?
            .set_quote_entry_id(entry)
            .set_security_id(security)
            .set_quote_set_id(set)
            .set_quote_entry_reject_reason(reason);
    }
    groups.finish()
}
