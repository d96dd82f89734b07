//! Unsolicited quote cancels: the exchange removes quotes and reports them by QuoteCancelAck563.
//!
//! UnsolicitedCancelType (tag 9775) has the reason (CME, page 689537025). A
//! PartyDetailsDefinitionRequestAck519 precedes each, and both have PartyDetailsListReqID 0 (page
//! 46210865). The messages repeat the fields and party details of the session's latest quote
//! message.

use hairpin_cme_codecs::ilink3::{BooleanFlag, ManualOrdIndReq, QuoteCancelAck563, QuoteCxlStatus};
use hairpin_sbe::EncodeError;
use hairpin_time::Now;

use super::dispatch::FrameHandler;
use super::order_requests::owner_of;
use super::publish::Stamp;
use super::quotes::{ENTRIES_MAX, Quote, QuoteSource};
use super::unsolicited_reports::find_order;
use super::{Connection, Gateway};
use crate::matching::{OrderId, Owner};
use crate::{Listener, Market};

/// The reason for an unsolicited cancel: UnsolicitedCancelType (tag 9775).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum CancelReason {
    /// The session was lost.
    Disconnect = b'A',
    /// The session has exceeded the reject limit of quote messages.
    MassQuoteThreshold = b'B',
    /// The exchange has eliminated all quotes.
    Eliminated = b'C',
    /// The exchange has eliminated the quotes of an instrument group.
    GroupEliminated = b'D',
    /// The instrument has left continuous trading.
    LeftTrading = b'E',
}

/// Quotes that the exchange has removed.
#[derive(Debug, Clone, Copy)]
struct Removed {
    reason: CancelReason,
    scope: QuoteCxlStatus,
    /// The number of quotes.
    count: u32,
    /// QuoteEntryID and SecurityID of the first quotes, if the cancel is for one instrument.
    entries: [(u32, i32); ENTRIES_MAX],
    listed: usize,
}

impl Removed {
    /// Creates a cancel of all quotes of a session.
    fn all(reason: CancelReason, count: u32) -> Self {
        let scope = QuoteCxlStatus::CANCELALLQUOTES;
        Self { reason, scope, count, entries: [(0, 0); ENTRIES_MAX], listed: 0 }
    }

    /// Creates a cancel of the quotes of one instrument, without quotes yet.
    fn in_instrument(reason: CancelReason) -> Self {
        Self { scope: QuoteCxlStatus::CANCELPER_INSTRUMENT, ..Self::all(reason, 0) }
    }

    fn push(&mut self, quote: &Quote) {
        self.count += 1;
        if let Some(entry) = self.entries.get_mut(self.listed) {
            *entry = (quote.entry_id, quote.security_id);
            self.listed += 1;
        }
    }
}

/// Removes the matching quotes. Returns the number of those that still had an order.
pub(super) fn remove_quotes(
    now: Now,
    owner: Owner,
    quotes: &mut Vec<Quote>,
    market: &mut impl Market,
    matches: impl Fn(&Quote) -> bool,
) -> u32 {
    let mut removed = 0;
    quotes.retain(|quote| {
        if !matches(quote) {
            return true;
        }
        let sides = quote.orders.map(|id| market.cancel(now, id, owner).is_some());
        removed += u32::from(sides.contains(&true));
        false
    });
    removed
}

impl<L: Listener> FrameHandler<'_, L> {
    /// Removes a session's quotes after the first quote message above the reject limit.
    #[cold]
    pub(super) fn remove_throttled_quotes(&mut self, account: usize, market: &mut impl Market) {
        let (now, owner) = (self.now, owner_of(account));
        let quotes = &mut self.accounts[account].quotes;
        let count = remove_quotes(now, owner, quotes, market, |_| true);
        if count == 0 {
            return;
        }
        self.counters.unsolicited_quote_cancels += 1;
        let source = self.accounts[account].quote_source;
        let removed = Removed::all(CancelReason::MassQuoteThreshold, count);
        self.publish(account, |buffer, stamp| source.details.encode_ack(buffer, stamp));
        self.publish(account, |buffer, stamp| encode(buffer, stamp, &source, &removed));
    }
}

impl Gateway {
    /// Removes the quotes of a lost session.
    pub(super) fn remove_lost_quotes(
        &mut self,
        now: Now,
        account: usize,
        market: &mut impl Market,
    ) {
        let quotes = &mut self.accounts[account].quotes;
        let count = remove_quotes(now, owner_of(account), quotes, market, |_| true);
        if count > 0 {
            self.report_removed(now, account, &Removed::all(CancelReason::Disconnect, count));
        }
    }

    /// Eliminates an account's quotes, as the exchange may do: all, or those of the market's
    /// instrument group. `account` is the index in
    /// [`GatewaySettings::accounts`](crate::GatewaySettings::accounts); an invalid index has no
    /// effect.
    pub fn eliminate_quotes(
        &mut self,
        now: Now,
        account: usize,
        group_only: bool,
        market: &mut impl Market,
    ) {
        let Some(state) = self.accounts.get_mut(account) else { return };
        let count = remove_quotes(now, owner_of(account), &mut state.quotes, market, |_| true);
        if count == 0 {
            return;
        }
        let all = Removed::all(CancelReason::Eliminated, count);
        let removed = match group_only {
            false => all,
            true => Removed {
                reason: CancelReason::GroupEliminated,
                scope: QuoteCxlStatus::CANCELPER_INSTRUMENTGROUP,
                ..all
            },
        };
        self.report_removed(now, account, &removed);
    }

    /// Records a side of a quote that has left the market. Returns `false` for another order.
    pub(super) fn record_lost_quote(&mut self, owner: Owner, order: OrderId) -> bool {
        let entry = find_order(&self.orders, &self.departed, order);
        if !entry.is_some_and(|entry| entry.quote) {
            return false;
        }
        let account = owner.0.checked_sub(1).and_then(|of| self.accounts.get_mut(of as usize));
        let Some(account) = account else { return false };
        if let Some(quote) = account.quotes.iter_mut().find(|of| of.orders.contains(&order)) {
            quote.lost = true;
            self.has_lost_quotes = true;
        }
        true
    }

    /// Reports the recorded quotes, by one message for each session and instrument.
    #[cold]
    pub(super) fn report_lost_quotes(&mut self, now: Now) {
        self.has_lost_quotes = false;
        for account in 0..self.accounts.len() {
            loop {
                let quotes = &mut self.accounts[account].quotes;
                let Some(first) = quotes.iter().find(|quote| quote.lost) else { break };
                let instrument = first.instrument;
                let mut removed = Removed::in_instrument(CancelReason::LeftTrading);
                quotes.retain(|quote| {
                    let is_removed = quote.lost && quote.instrument == instrument;
                    if is_removed {
                        removed.push(quote);
                    }
                    !is_removed
                });
                self.report_removed(now, account, &removed);
            }
        }
    }

    fn report_removed(&mut self, now: Now, account: usize, removed: &Removed) {
        self.counters.unsolicited_quote_cancels += 1;
        let source = self.accounts[account].quote_source;
        self.publish_unsolicited(now, account, |buffer, stamp| {
            source.details.encode_ack(buffer, stamp)
        });
        self.publish_unsolicited(now, account, |buffer, stamp| {
            encode(buffer, stamp, &source, removed)
        });
    }

    /// Publishes a message that no request has caused.
    fn publish_unsolicited(
        &mut self,
        now: Now,
        account: usize,
        encode: impl FnOnce(&mut [u8], &Stamp) -> Result<usize, EncodeError>,
    ) {
        let Self { accounts, connections, executions, faults, counters, .. } = self;
        let account = &mut accounts[account];
        let connection = account.connection.and_then(|slot| connections.get_mut(slot as usize));
        let session = connection
            .map(|Connection { session, .. }| session)
            .filter(|session| session.is_established());
        counters.unreported += u64::from(session.is_none());
        let faults = faults.as_deref_mut();
        super::publish::publish(session, account, executions, faults, counters, now, encode);
    }
}

fn encode(
    buffer: &mut [u8],
    stamp: &Stamp,
    source: &QuoteSource,
    removed: &Removed,
) -> Result<usize, EncodeError> {
    let request = &source.request;
    let (mut root, mut groups) = QuoteCancelAck563::encode(buffer)?;
    root.set_seq_num(stamp.number)
        .set_uuid(stamp.uuid)
        .set_sender_id(request.sender_id)
        .set_party_details_list_req_id(0)
        .set_request_time(stamp.utc)
        .set_sending_time_epoch(stamp.utc)
        .set_location(request.location)
        .set_quote_id(source.quote_id)
        .set_manual_order_indicator(ManualOrdIndReq(request.manual_order_indicator))
        .set_quote_status(removed.scope)
        .set_no_processed_entries(removed.count)
        .set_mm_protection_reset(BooleanFlag::FALSE)
        .set_unsolicited_cancel_type(removed.reason as u8)
        .set_split_msg(stamp.split)
        .set_poss_retrans_flag(BooleanFlag::FALSE);
    let mut group = groups.no_quote_entries()?;
    for &(entry, security) in &removed.entries[..removed.listed] {
        group
            .push()?
            .set_quote_entry_id(entry)
            .set_security_id(security)
            .set_quote_entry_reject_reason(0);
    }
    groups.no_quote_sets()?;
    groups.finish()
}
