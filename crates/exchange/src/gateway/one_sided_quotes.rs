//! MassQuoteRequest567: quotes that name one side per entry.
//!
//! Each of up to 50 entries enters or changes one side of the session's quote under its QuoteSetID
//! and instrument. An entry without price or quantity removes the side. The other side stays unless
//! the new price would cross it. The MassQuoteResponse571 lists every entry, with its OrderID or
//! reject reason. A rejected entry leaves no order on its side.

use hairpin_cme_codecs::ilink3::mass_quote_request567::NoQuoteEntries;
use hairpin_cme_codecs::ilink3::{
    self, BooleanFlag, ManualOrdIndReq, MassQuoteRequest567, MassQuoteResponse571, QuoteAckStatus,
};
use hairpin_sbe::EncodeError;

use super::check::{self, RejectCause, tag};
use super::dispatch::FrameHandler;
use super::order_requests::owner_of;
use super::publish::Stamp;
use super::quotes::{ENTRIES_MAX, side_terms};
use super::reason_codes::QuoteReason;
use super::request::Request;
use crate::matching::{OrderId, Side};
use crate::{Listener, Market};

/// The result of an entry: its order, or a reject reason.
type EntryResult = Result<OrderId, QuoteReason>;

impl<L: Listener> FrameHandler<'_, L> {
    pub(super) fn handle_mass_quote_request(
        &mut self,
        account: usize,
        message: &MassQuoteRequest567<'_>,
        market: &mut impl Market,
    ) {
        if !self.consume_number(account, message.seq_num()) {
            return;
        }
        self.counters.mass_quotes += 1;
        let request = Request::from_mass_quote_request(message).echoed(self.rules.venue);
        let checked = check::check_sender(&request, &self.parties(account))
            .and_then(|()| check_control(message))
            .and_then(|()| check_defined(message));
        if let Err(refusal) = checked {
            return self.reject(account, &request, b"i", message.seq_num(), refusal);
        }
        self.record_quote_source(account, &request, message.quote_id());
        let (mut entries, mut scratch) = (message.no_quote_entries(), NoQuoteEntries::SCRATCH);
        let mut results = [Err(QuoteReason::ExceedsLimit); ENTRIES_MAX];
        let entry_count = entries.len();
        let count = if entry_count > ENTRIES_MAX { 0 } else { entry_count };
        for result in &mut results[..count] {
            let Some(entry) = entries.next(&mut scratch) else { break };
            *result = self.quote_one_side(account, &request, &entry, market);
        }
        let results = &results[..count];
        let rejected =
            results.iter().filter(|result| result.is_err()).count() + usize::from(count == 0);
        self.counters.quote_rejects += rejected as u64;
        self.publish(account, |buffer, stamp| encode(buffer, stamp, (message, &request), results));
    }

    fn quote_one_side(
        &mut self,
        account: usize,
        request: &Request,
        entry: &NoQuoteEntries<'_>,
        market: &mut impl Market,
    ) -> EntryResult {
        let (side, security) = (side_of(entry.side())?, entry.security_id());
        let instrument = market.instrument(security).ok_or(QuoteReason::UnknownSecurity)?;
        let ids = (entry.quote_entry_id(), security);
        let slot = self
            .quote_slot(account, instrument, (entry.quote_set_id(), ids), market)
            .ok_or(QuoteReason::ExceedsLimit)?;
        let orders = self.accounts[account].quotes[slot].orders;
        let mut both = [None; 2];
        both[side.index()] = side_terms(Some(entry.price()), Some(entry.order_qty()));
        self.cancel_crossed_sides(orders, both, market);
        let previous = orders[side.index()];
        let change = (instrument, side, previous, both[side.index()]);
        let result = self.quote_side(account, request, ids, change, market);
        if result.is_err() {
            market.cancel(self.now, previous, owner_of(account));
        }
        let order = result.unwrap_or(OrderId::NONE);
        self.accounts[account].quotes[slot].orders[side.index()] = order;
        result
    }
}

/// Checks that the request does not block the session's quotes, which is not supported.
fn check_control(message: &MassQuoteRequest567<'_>) -> Result<(), RejectCause> {
    let fields = [
        (message.quote_entry_open(), tag::QUOTE_ENTRY_OPEN),
        (message.quote_entry_control(), tag::QUOTE_ENTRY_CONTROL),
    ];
    let set = fields.into_iter().find(|(value, _)| value.is_some());
    set.map_or(Ok(()), |(_, tag)| Err(check::unsupported(tag)))
}

/// Rejects values that an enumeration of the response lacks.
fn check_defined(message: &MassQuoteRequest567<'_>) -> Result<(), RejectCause> {
    let short_sale = message.short_sale_type().is_some_and(|of| of.name().is_none());
    check::check_liquidity(message.liquidity_flag())?;
    check::check_defined(&[(short_sale, tag::SHORT_SALE_TYPE)])?;
    let (mut entries, mut scratch) = (message.no_quote_entries(), NoQuoteEntries::SCRATCH);
    while let Some(entry) = entries.next(&mut scratch) {
        check::check_defined(&[(entry.side().name().is_none(), tag::SIDE)])?;
    }
    Ok(())
}

fn side_of(side: ilink3::Side) -> Result<Side, QuoteReason> {
    match side {
        ilink3::Side::BUY => Ok(Side::Bid),
        ilink3::Side::SELL => Ok(Side::Offer),
        _ => Err(QuoteReason::Other),
    }
}

fn encode(
    buffer: &mut [u8],
    stamp: &Stamp,
    (message, request): (&MassQuoteRequest567<'_>, &Request),
    results: &[EntryResult],
) -> Result<usize, EncodeError> {
    let entry_count = message.no_quote_entries().len();
    // The count is at most 50.
    let accepted = results.iter().filter(|result| result.is_ok()).count() as u8;
    let first = results.iter().find_map(|result| result.err()).unwrap_or(QuoteReason::ExceedsLimit);
    let (status, reason) = match accepted {
        0 => (QuoteAckStatus::REJECTED, Some(first.code().into())),
        _ => (QuoteAckStatus::ACCEPTED, None),
    };
    let (mut root, mut groups) = MassQuoteResponse571::encode(buffer)?;
    root.set_seq_num(stamp.number)
        .set_uuid(stamp.uuid)
        .set_sender_id(request.sender_id)
        .set_party_details_list_req_id(request.party_details_list_req_id)
        .set_transact_time(stamp.utc)
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
    let (mut entries, mut scratch) = (message.no_quote_entries(), NoQuoteEntries::SCRATCH);
    let mut group = groups.no_quote_entries()?;
    for result in results {
        let Some(entry) = entries.next(&mut scratch) else { break };
        let order = result.ok().filter(|&order| order != OrderId::NONE);
        group
            .push()?
            .set_order_id(order.map(|order| order.0))
            .set_quote_entry_id(entry.quote_entry_id())
            .set_quote_set_id(entry.quote_set_id())
            .set_security_id(entry.security_id())
            .set_side(entry.side())
            .set_quote_entry_reject_reason(result.err().map(QuoteReason::code));
    }
    groups.finish()
}
