//! MassQuoteRequest567: quotes that are named side by side.
//!
//! Each of up to 50 entries enters, changes or, without a price or contracts, takes away one side
//! of what the session quotes under its QuoteSetID in its instrument. The other side stays, unless
//! the new price would meet it. The MassQuoteResponse571 lists every entry, with the number of its
//! order or the reason why it was refused; a refused entry leaves no order on its side.

use hairpin_cme_codecs::ilink3::mass_quote_request567::NoQuoteEntries;
use hairpin_cme_codecs::ilink3::{
    self, BooleanFlag, ManualOrdIndReq, MassQuoteRequest567, MassQuoteResponse571, QuoteAckStatus,
};
use hairpin_sbe::EncodeError;

use super::business::owner_of;
use super::check::{self, Refusal, tag};
use super::dispatch::Handling;
use super::publish::Stamp;
use super::quotes::{ENTRIES_MAX, wanted};
use super::reason::QuoteReason;
use super::request::Request;
use crate::matching::{OrderId, Side};
use crate::{Listener, Market};

/// What has become of an entry: its order, if it has one.
type Done = Result<OrderId, QuoteReason>;

impl<L: Listener> Handling<'_, L> {
    pub(super) fn handle_mass_quote_request(
        &mut self,
        account: usize,
        message: &MassQuoteRequest567<'_>,
        market: &mut impl Market,
    ) {
        if !self.take_number(account, message.seq_num()) {
            return;
        }
        self.counters.mass_quotes += 1;
        let request = Request::from_mass_quote_request(message);
        let checked = check::check_sender(&request, &self.parties(account))
            .and_then(|()| check_control(message));
        if let Err(refusal) = checked {
            return self.reject(account, &request, b"i", message.seq_num(), refusal);
        }
        let (mut entries, mut scratch) = (message.no_quote_entries(), NoQuoteEntries::SCRATCH);
        let mut done = [Err(QuoteReason::ExceedsLimit); ENTRIES_MAX];
        let asked = entries.len();
        let count = if asked > ENTRIES_MAX { 0 } else { asked };
        for done in &mut done[..count] {
            let Some(entry) = entries.next(&mut scratch) else { break };
            *done = self.quote_one_side(account, &request, &entry, market);
        }
        let done = &done[..count];
        let refused = done.iter().filter(|done| done.is_err()).count() + usize::from(count == 0);
        self.counters.quote_rejects += refused as u64;
        self.publish(account, |buffer, stamp| encode(buffer, stamp, (message, &request), done));
    }

    fn quote_one_side(
        &mut self,
        account: usize,
        request: &Request,
        entry: &NoQuoteEntries<'_>,
        market: &mut impl Market,
    ) -> Done {
        let (side, security) = (side_of(entry.side())?, entry.security_id());
        let instrument = market.instrument(security).ok_or(QuoteReason::UnknownSecurity)?;
        let place = self
            .quote_place(account, instrument, entry.quote_set_id(), market)
            .ok_or(QuoteReason::ExceedsLimit)?;
        let orders = self.accounts[account].quotes[place].orders;
        let mut both = [None; 2];
        both[side.index()] = wanted(Some(entry.price()), Some(entry.order_qty()));
        self.clear_way(orders, both, market);
        let old = orders[side.index()];
        let of = (instrument, side, old, both[side.index()]);
        let names = (entry.quote_entry_id(), security);
        let done = self.quote_side(account, request, names, of, market);
        if done.is_err() {
            market.cancel(self.now, old, owner_of(account));
        }
        let order = done.unwrap_or(OrderId::NONE);
        self.accounts[account].quotes[place].orders[side.index()] = order;
        done
    }
}

/// A session's quotes cannot be blocked here.
fn check_control(message: &MassQuoteRequest567<'_>) -> Result<(), Refusal> {
    let fields = [
        (message.quote_entry_open(), tag::QUOTE_ENTRY_OPEN),
        (message.quote_entry_control(), tag::QUOTE_ENTRY_CONTROL),
    ];
    let set = fields.into_iter().find(|(value, _)| value.is_some());
    set.map_or(Ok(()), |(_, tag)| Err(check::not_done(tag)))
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
    done: &[Done],
) -> Result<usize, EncodeError> {
    let asked = message.no_quote_entries().len();
    // No more than 50.
    let accepted = done.iter().filter(|done| done.is_ok()).count() as u8;
    let first = done.iter().find_map(|done| done.err()).unwrap_or(QuoteReason::ExceedsLimit);
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
        .set_tot_no_quote_entries(u8::try_from(asked).ok())
        .set_poss_retrans_flag(BooleanFlag::FALSE);
    let (mut entries, mut scratch) = (message.no_quote_entries(), NoQuoteEntries::SCRATCH);
    let mut group = groups.no_quote_entries()?;
    for done in done {
        let Some(entry) = entries.next(&mut scratch) else { break };
        let order = done.ok().filter(|&order| order != OrderId::NONE);
        group
            .push()?
            .set_order_id(order.map(|order| order.0))
            .set_quote_entry_id(entry.quote_entry_id())
            .set_quote_set_id(entry.quote_set_id())
            .set_security_id(entry.security_id())
            .set_side(entry.side())
            .set_quote_entry_reject_reason(done.err().map(QuoteReason::code));
    }
    groups.finish()
}
