//! Quote cancels: by instrument, by group, by quote set, or all of a session.
//!
//! QuoteCancel528 supports all four, 568 to 570 one each. The answer is a QuoteCancelAck563. It
//! lists unknown names, and rejects the cancel if all names are unknown.

use hairpin_cme_codecs::ilink3::{
    BooleanFlag, ManualOrdIndReq, QuoteCancel528, QuoteCancelAck563, QuoteCancelByGroup569,
    QuoteCancelByInstrument570, QuoteCancelBySet568, QuoteCxlStatus, QuoteCxlTyp,
    quote_cancel_by_group569, quote_cancel_by_instrument570, quote_cancel_by_set568,
    quote_cancel528,
};
use hairpin_sbe::EncodeError;

use super::check;
use super::dispatch::FrameHandler;
use super::order_requests::owner_of;
use super::publish::Stamp;
use super::quotes::{ENTRIES_MAX, Quote};
use super::reason_codes::QuoteReason;
use super::request::Request;
use super::selection::is_group;
use super::unsolicited_quote_cancel::remove_quotes;
use crate::{Listener, Market};

/// A quote cancel, decoded from any of the four messages.
#[derive(Debug, Clone, Copy)]
struct QuoteCancel {
    request: Request,
    number: u32,
    quote_id: u32,
    scope: QuoteCxlStatus,
}

/// The result of a quote cancel.
#[derive(Debug)]
struct CancelResult {
    cancelled: u32,
    named: u32,
    /// SecurityIDs that no instrument has; the null value for an unknown group.
    instruments: UnknownNames<i32>,
    sets: UnknownNames<u16>,
}

#[derive(Debug)]
struct UnknownNames<T> {
    items: [T; ENTRIES_MAX],
    count: usize,
}

impl<T: Copy> UnknownNames<T> {
    fn push(&mut self, item: T) {
        if let Some(slot) = self.items.get_mut(self.count) {
            *slot = item;
            self.count += 1;
        }
    }
}

impl CancelResult {
    fn new() -> Self {
        let instruments = UnknownNames { items: [0; ENTRIES_MAX], count: 0 };
        Self {
            cancelled: 0,
            named: 0,
            instruments,
            sets: UnknownNames { items: [0; ENTRIES_MAX], count: 0 },
        }
    }

    fn is_rejected(&self) -> bool {
        let unknown = self.instruments.count + self.sets.count;
        unknown > 0 && unknown == self.named as usize
    }
}

/// Decodes the fields that all quote cancels have under the same names.
macro_rules! cancel {
    ($message:expr, $scope:expr) => {
        QuoteCancel {
            request: Request::from_quote_cancel(
                $message.sender_id(),
                $message.location(),
                $message.party_details_list_req_id(),
                $message.manual_order_indicator(),
            ),
            number: $message.seq_num(),
            quote_id: $message.quote_id(),
            scope: QuoteCxlStatus($scope),
        }
    };
}

impl<L: Listener> FrameHandler<'_, L> {
    pub(super) fn handle_quote_cancel(
        &mut self,
        account: usize,
        message: &QuoteCancel528<'_>,
        market: &mut impl Market,
    ) {
        let mut cancel = cancel!(message, message.quote_cancel_type().0);
        if !self.start_quote_cancel(account, &mut cancel) {
            return;
        }
        let mut result = CancelResult::new();
        let entries = message.no_quote_entries();
        match message.quote_cancel_type() {
            QuoteCxlTyp::CANCELALLQUOTES => {
                result.cancelled = self.cancel_quotes(account, market, |_| true);
            }
            QuoteCxlTyp::CANCELPER_INSTRUMENT => {
                let (mut entries, mut scratch) =
                    (entries, quote_cancel528::NoQuoteEntries::SCRATCH);
                while let Some(entry) = entries.next(&mut scratch) {
                    let security = entry.security_id().unwrap_or(i32::MAX);
                    self.cancel_in_instrument(account, security, &mut result, market);
                }
            }
            QuoteCxlTyp::CANCELPER_INSTRUMENTGROUP => {
                let (mut entries, mut scratch) =
                    (entries, quote_cancel528::NoQuoteEntries::SCRATCH);
                while let Some(entry) = entries.next(&mut scratch) {
                    self.cancel_in_group(
                        account,
                        entry.security_group().raw(),
                        &mut result,
                        market,
                    );
                }
            }
            QuoteCxlTyp::CANCELPER_QUOTE_SET => {
                let (mut sets, mut scratch) =
                    (message.no_quote_sets(), quote_cancel528::NoQuoteSets::SCRATCH);
                while let Some(set) = sets.next(&mut scratch) {
                    self.cancel_in_set(account, set.quote_set_id(), &mut result, market);
                }
            }
            _ => {
                let refusal = check::undefined_value(check::tag::QUOTE_CANCEL_TYPE);
                return self.reject(account, &cancel.request, b"Z", cancel.number, refusal);
            }
        }
        self.finish_quote_cancel(account, &cancel, &result);
    }

    pub(super) fn handle_quote_cancel_by_set(
        &mut self,
        account: usize,
        message: &QuoteCancelBySet568<'_>,
        market: &mut impl Market,
    ) {
        let mut cancel = cancel!(message, QuoteCxlStatus::CANCELPER_QUOTE_SET.0);
        if !self.start_quote_cancel(account, &mut cancel) {
            return;
        }
        let mut result = CancelResult::new();
        let (mut sets, mut scratch) =
            (message.no_quote_sets(), quote_cancel_by_set568::NoQuoteSets::SCRATCH);
        while let Some(set) = sets.next(&mut scratch) {
            self.cancel_in_set(account, set.quote_set_id(), &mut result, market);
        }
        self.finish_quote_cancel(account, &cancel, &result);
    }

    pub(super) fn handle_quote_cancel_by_group(
        &mut self,
        account: usize,
        message: &QuoteCancelByGroup569<'_>,
        market: &mut impl Market,
    ) {
        let mut cancel = cancel!(message, QuoteCxlStatus::CANCELPER_INSTRUMENTGROUP.0);
        if !self.start_quote_cancel(account, &mut cancel) {
            return;
        }
        let mut result = CancelResult::new();
        let (mut entries, mut scratch) =
            (message.no_quote_entries(), quote_cancel_by_group569::NoQuoteEntries::SCRATCH);
        while let Some(entry) = entries.next(&mut scratch) {
            self.cancel_in_group(account, entry.security_group().raw(), &mut result, market);
        }
        self.finish_quote_cancel(account, &cancel, &result);
    }

    pub(super) fn handle_quote_cancel_by_instrument(
        &mut self,
        account: usize,
        message: &QuoteCancelByInstrument570<'_>,
        market: &mut impl Market,
    ) {
        let mut cancel = cancel!(message, QuoteCxlStatus::CANCELPER_INSTRUMENT.0);
        if !self.start_quote_cancel(account, &mut cancel) {
            return;
        }
        let mut result = CancelResult::new();
        let (mut entries, mut scratch) =
            (message.no_quote_entries(), quote_cancel_by_instrument570::NoQuoteEntries::SCRATCH);
        while let Some(entry) = entries.next(&mut scratch) {
            self.cancel_in_instrument(account, entry.security_id(), &mut result, market);
        }
        self.finish_quote_cancel(account, &cancel, &result);
    }

    /// Consumes the sequence number of a quote cancel and checks its common fields. Returns `false`
    /// if the message has been rejected.
    fn start_quote_cancel(&mut self, account: usize, cancel: &mut QuoteCancel) -> bool {
        cancel.request = cancel.request.echoed(self.rules.venue);
        if !self.consume_number(account, cancel.number) {
            return false;
        }
        self.counters.quote_cancels += 1;
        match check::check_sender(&cancel.request, &self.parties(account)) {
            Ok(()) => true,
            Err(refusal) => {
                self.reject(account, &cancel.request, b"Z", cancel.number, refusal);
                false
            }
        }
    }

    fn cancel_in_instrument(
        &mut self,
        account: usize,
        security: i32,
        result: &mut CancelResult,
        market: &mut impl Market,
    ) {
        result.named += 1;
        match market.instrument(security) {
            Some(instrument) => {
                let matches = |quote: &Quote| quote.instrument == instrument;
                result.cancelled += self.cancel_quotes(account, market, matches);
            }
            None => result.instruments.push(security),
        }
    }

    fn cancel_in_group(
        &mut self,
        account: usize,
        group: &[u8],
        result: &mut CancelResult,
        market: &mut impl Market,
    ) {
        result.named += 1;
        if is_group(group, market) {
            result.cancelled += self.cancel_quotes(account, market, |_| true);
        } else {
            result.instruments.push(i32::MAX);
        }
    }

    fn cancel_in_set(
        &mut self,
        account: usize,
        set: u16,
        result: &mut CancelResult,
        market: &mut impl Market,
    ) {
        result.named += 1;
        let matches = |quote: &Quote| quote.set == set;
        if self.accounts[account].quotes.iter().any(matches) {
            result.cancelled += self.cancel_quotes(account, market, matches);
        } else {
            result.sets.push(set);
        }
    }

    /// Removes the matching quotes. Returns how many of them still had an order.
    fn cancel_quotes(
        &mut self,
        account: usize,
        market: &mut impl Market,
        matches: impl Fn(&Quote) -> bool,
    ) -> u32 {
        let quotes = &mut self.accounts[account].quotes;
        remove_quotes(self.now, owner_of(account), quotes, market, matches)
    }

    fn finish_quote_cancel(&mut self, account: usize, cancel: &QuoteCancel, result: &CancelResult) {
        self.counters.quote_rejects += u64::from(result.is_rejected());
        self.publish(account, |buffer, stamp| encode_ack(buffer, stamp, cancel, result));
    }
}

fn encode_ack(
    buffer: &mut [u8],
    stamp: &Stamp,
    cancel: &QuoteCancel,
    result: &CancelResult,
) -> Result<usize, EncodeError> {
    let (status, reason) = match (result.is_rejected(), result.sets.count) {
        (false, _) => (cancel.scope, None),
        (true, 0) => (QuoteCxlStatus::REJECTED, Some(QuoteReason::UnknownSecurity)),
        (true, _) => (QuoteCxlStatus::REJECTED, Some(QuoteReason::UnknownQuote)),
    };
    let request = &cancel.request;
    let (mut root, mut groups) = QuoteCancelAck563::encode(buffer)?;
    root.set_seq_num(stamp.number)
        .set_uuid(stamp.uuid)
        .set_sender_id(request.sender_id)
        .set_party_details_list_req_id(request.party_details_list_req_id)
        .set_request_time(stamp.utc)
        .set_sending_time_epoch(stamp.utc)
        .set_location(request.location)
        .set_quote_id(cancel.quote_id)
        .set_quote_reject_reason(reason.map(|reason| reason.code().into()))
        .set_manual_order_indicator(ManualOrdIndReq(request.manual_order_indicator))
        .set_quote_status(status)
        .set_no_processed_entries(result.cancelled)
        .set_mm_protection_reset(BooleanFlag::FALSE)
        .set_split_msg(stamp.split)
        .set_poss_retrans_flag(BooleanFlag::FALSE);
    let mut group = groups.no_quote_entries()?;
    for &security in &result.instruments.items[..result.instruments.count] {
        group
            .push()?
            .set_quote_entry_id(u32::MAX)
            .set_security_id(security)
            .set_quote_entry_reject_reason(QuoteReason::UnknownSecurity.code());
    }
    let mut group = groups.no_quote_sets()?;
    for &set in &result.sets.items[..result.sets.count] {
        group
            .push()?
            .set_quote_set_id(set)
            .set_quote_error_code(QuoteReason::UnknownQuote.code().into());
    }
    groups.finish()
}
