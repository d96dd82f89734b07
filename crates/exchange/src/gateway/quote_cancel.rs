//! Quote cancels: by instrument, group, quote set, or all of a session.
//!
//! QuoteCancel528 does all four, 568 to 570 one each; the answer is a QuoteCancelAck563. What names
//! nothing that there is is listed in it, and if nothing else was named the cancel is refused.

use hairpin_cme_codecs::ilink3::{
    BooleanFlag, ManualOrdIndReq, QuoteCancel528, QuoteCancelAck563, QuoteCancelByGroup569,
    QuoteCancelByInstrument570, QuoteCancelBySet568, QuoteCxlStatus, QuoteCxlTyp,
    quote_cancel_by_group569, quote_cancel_by_instrument570, quote_cancel_by_set568,
    quote_cancel528,
};
use hairpin_sbe::EncodeError;

use super::business::owner_of;
use super::check;
use super::dispatch::Handling;
use super::publish::Stamp;
use super::quotes::{ENTRIES_MAX, Quote};
use super::reason::QuoteReason;
use super::request::Request;
use super::selection::is_group;
use crate::{Listener, Market};

/// A cancel, whichever message it came by.
#[derive(Debug, Clone, Copy)]
struct Cancel {
    request: Request,
    number: u32,
    quote_id: u32,
    scope: QuoteCxlStatus,
}

/// What has become of it.
#[derive(Debug)]
struct Done {
    cancelled: u32,
    named: u32,
    /// SecurityIDs that no instrument has, of a group the null.
    instruments: Unknown<i32>,
    sets: Unknown<u16>,
}

#[derive(Debug)]
struct Unknown<T> {
    items: [T; ENTRIES_MAX],
    count: usize,
}

impl<T: Copy> Unknown<T> {
    fn push(&mut self, item: T) {
        if let Some(place) = self.items.get_mut(self.count) {
            *place = item;
            self.count += 1;
        }
    }
}

impl Done {
    fn new() -> Self {
        let instruments = Unknown { items: [0; ENTRIES_MAX], count: 0 };
        Self {
            cancelled: 0,
            named: 0,
            instruments,
            sets: Unknown { items: [0; ENTRIES_MAX], count: 0 },
        }
    }

    fn is_refused(&self) -> bool {
        let unknown = self.instruments.count + self.sets.count;
        unknown > 0 && unknown == self.named as usize
    }
}

/// Reads the fields that all cancels have, under the same names.
macro_rules! cancel {
    ($message:expr, $scope:expr) => {
        Cancel {
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

impl<L: Listener> Handling<'_, L> {
    pub(super) fn handle_quote_cancel(
        &mut self,
        account: usize,
        message: &QuoteCancel528<'_>,
        market: &mut impl Market,
    ) {
        let cancel = cancel!(message, message.quote_cancel_type().0);
        if !self.begin_quote_cancel(account, &cancel) {
            return;
        }
        let mut done = Done::new();
        let entries = message.no_quote_entries();
        match message.quote_cancel_type() {
            QuoteCxlTyp::CANCELALLQUOTES => {
                done.cancelled = self.cancel_quotes(account, market, |_| true);
            }
            QuoteCxlTyp::CANCELPER_INSTRUMENT => {
                let (mut entries, mut scratch) =
                    (entries, quote_cancel528::NoQuoteEntries::SCRATCH);
                while let Some(entry) = entries.next(&mut scratch) {
                    let security = entry.security_id().unwrap_or(i32::MAX);
                    self.cancel_in_instrument(account, security, &mut done, market);
                }
            }
            QuoteCxlTyp::CANCELPER_INSTRUMENTGROUP => {
                let (mut entries, mut scratch) =
                    (entries, quote_cancel528::NoQuoteEntries::SCRATCH);
                while let Some(entry) = entries.next(&mut scratch) {
                    self.cancel_in_group(account, entry.security_group().raw(), &mut done, market);
                }
            }
            QuoteCxlTyp::CANCELPER_QUOTE_SET => {
                let (mut sets, mut scratch) =
                    (message.no_quote_sets(), quote_cancel528::NoQuoteSets::SCRATCH);
                while let Some(set) = sets.next(&mut scratch) {
                    self.cancel_in_set(account, set.quote_set_id(), &mut done, market);
                }
            }
            _ => {
                let refusal = check::no_such_value(check::tag::QUOTE_CANCEL_TYPE);
                return self.reject(account, &cancel.request, b"Z", cancel.number, refusal);
            }
        }
        self.end_quote_cancel(account, &cancel, &done);
    }

    pub(super) fn handle_quote_cancel_by_set(
        &mut self,
        account: usize,
        message: &QuoteCancelBySet568<'_>,
        market: &mut impl Market,
    ) {
        let cancel = cancel!(message, QuoteCxlStatus::CANCELPER_QUOTE_SET.0);
        if !self.begin_quote_cancel(account, &cancel) {
            return;
        }
        let mut done = Done::new();
        let (mut sets, mut scratch) =
            (message.no_quote_sets(), quote_cancel_by_set568::NoQuoteSets::SCRATCH);
        while let Some(set) = sets.next(&mut scratch) {
            self.cancel_in_set(account, set.quote_set_id(), &mut done, market);
        }
        self.end_quote_cancel(account, &cancel, &done);
    }

    pub(super) fn handle_quote_cancel_by_group(
        &mut self,
        account: usize,
        message: &QuoteCancelByGroup569<'_>,
        market: &mut impl Market,
    ) {
        let cancel = cancel!(message, QuoteCxlStatus::CANCELPER_INSTRUMENTGROUP.0);
        if !self.begin_quote_cancel(account, &cancel) {
            return;
        }
        let mut done = Done::new();
        let (mut entries, mut scratch) =
            (message.no_quote_entries(), quote_cancel_by_group569::NoQuoteEntries::SCRATCH);
        while let Some(entry) = entries.next(&mut scratch) {
            self.cancel_in_group(account, entry.security_group().raw(), &mut done, market);
        }
        self.end_quote_cancel(account, &cancel, &done);
    }

    pub(super) fn handle_quote_cancel_by_instrument(
        &mut self,
        account: usize,
        message: &QuoteCancelByInstrument570<'_>,
        market: &mut impl Market,
    ) {
        let cancel = cancel!(message, QuoteCxlStatus::CANCELPER_INSTRUMENT.0);
        if !self.begin_quote_cancel(account, &cancel) {
            return;
        }
        let mut done = Done::new();
        let (mut entries, mut scratch) =
            (message.no_quote_entries(), quote_cancel_by_instrument570::NoQuoteEntries::SCRATCH);
        while let Some(entry) = entries.next(&mut scratch) {
            self.cancel_in_instrument(account, entry.security_id(), &mut done, market);
        }
        self.end_quote_cancel(account, &cancel, &done);
    }

    /// Takes the number of a cancel and looks at what all have in common; `false` if that is all.
    fn begin_quote_cancel(&mut self, account: usize, cancel: &Cancel) -> bool {
        if !self.take_number(account, cancel.number) {
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
        done: &mut Done,
        market: &mut impl Market,
    ) {
        done.named += 1;
        match market.instrument(security) {
            Some(instrument) => {
                let is_meant = |quote: &Quote| quote.instrument == instrument;
                done.cancelled += self.cancel_quotes(account, market, is_meant);
            }
            None => done.instruments.push(security),
        }
    }

    fn cancel_in_group(
        &mut self,
        account: usize,
        group: &[u8],
        done: &mut Done,
        market: &mut impl Market,
    ) {
        done.named += 1;
        if is_group(group, market) {
            done.cancelled += self.cancel_quotes(account, market, |_| true);
        } else {
            done.instruments.push(i32::MAX);
        }
    }

    fn cancel_in_set(
        &mut self,
        account: usize,
        set: u16,
        done: &mut Done,
        market: &mut impl Market,
    ) {
        done.named += 1;
        let is_meant = |quote: &Quote| quote.set == set;
        if self.accounts[account].quotes.iter().any(is_meant) {
            done.cancelled += self.cancel_quotes(account, market, is_meant);
        } else {
            done.sets.push(set);
        }
    }

    /// Takes the quotes away that are meant; how many of them had a side left.
    fn cancel_quotes(
        &mut self,
        account: usize,
        market: &mut impl Market,
        is_meant: impl Fn(&Quote) -> bool,
    ) -> u32 {
        let (now, owner) = (self.now, owner_of(account));
        let mut cancelled = 0;
        self.accounts[account].quotes.retain(|quote| {
            if !is_meant(quote) {
                return true;
            }
            let sides = quote.orders.map(|id| market.cancel(now, id, owner).is_some());
            cancelled += u32::from(sides.contains(&true));
            false
        });
        cancelled
    }

    fn end_quote_cancel(&mut self, account: usize, cancel: &Cancel, done: &Done) {
        self.counters.quote_rejects += u64::from(done.is_refused());
        self.publish(account, |buffer, stamp| encode_ack(buffer, stamp, cancel, done));
    }
}

fn encode_ack(
    buffer: &mut [u8],
    stamp: &Stamp,
    cancel: &Cancel,
    done: &Done,
) -> Result<usize, EncodeError> {
    let (status, reason) = match (done.is_refused(), done.sets.count) {
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
        .set_no_processed_entries(done.cancelled)
        .set_mm_protection_reset(BooleanFlag::FALSE)
        .set_split_msg(stamp.split)
        .set_poss_retrans_flag(BooleanFlag::FALSE);
    let mut group = groups.no_quote_entries()?;
    for &security in &done.instruments.items[..done.instruments.count] {
        group
            .push()?
            .set_quote_entry_id(u32::MAX)
            .set_security_id(security)
            .set_quote_entry_reject_reason(QuoteReason::UnknownSecurity.code());
    }
    let mut group = groups.no_quote_sets()?;
    for &set in &done.sets.items[..done.sets.count] {
        group
            .push()?
            .set_quote_set_id(set)
            .set_quote_error_code(QuoteReason::UnknownQuote.code().into());
    }
    groups.finish()
}
