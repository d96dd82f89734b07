//! RequestForQuote543: a session asks for quotes.
//!
//! Each named instrument is published on the feed by a QuoteRequest39. Its QuoteReqID is the
//! ExchangeQuoteReqID of the RequestForQuoteAck546. If one instrument is invalid, nothing is
//! published.

use hairpin_cme_codecs::ilink3::request_for_quote543::NoRelatedSym;
use hairpin_cme_codecs::ilink3::{
    BooleanFlag, ManualOrdIndReq, QuoteAckStatus, RFQSide, RequestForQuote543,
    RequestForQuoteAck546,
};
use hairpin_sbe::EncodeError;

use super::ascii_int::AsciiInt;
use super::check;
use super::dispatch::FrameHandler;
use super::publish::Stamp;
use super::quotes::ENTRIES_MAX;
use super::reason_codes::QuoteReason;
use super::request::Request;
use crate::matching::Side;
use crate::{Listener, Market, QuoteRequest};

impl<L: Listener> FrameHandler<'_, L> {
    pub(super) fn handle_request_for_quote(
        &mut self,
        account: usize,
        message: &RequestForQuote543<'_>,
        market: &mut impl Market,
    ) {
        if !self.consume_number(account, message.seq_num()) {
            return;
        }
        self.counters.quote_requests += 1;
        let request = Request::from_request_for_quote(message).echoed(self.rules.venue);
        if let Err(refusal) = check::check_sender(&request, &self.parties(account)) {
            return self.reject(account, &request, b"R", message.seq_num(), refusal);
        }
        let id = AsciiInt::new(*self.executions + 1);
        let result = check_entries(message, market)
            .and_then(|()| self.publish_requests(message, id.as_ref(), market));
        self.counters.quote_rejects += u64::from(result.is_err());
        self.publish(account, |buffer, stamp| {
            encode_ack(buffer, stamp, (message, &request), id.as_ref(), result.err())
        });
    }

    fn publish_requests(
        &self,
        message: &RequestForQuote543<'_>,
        id: &[u8],
        market: &mut impl Market,
    ) -> Result<(), QuoteReason> {
        let id = core::str::from_utf8(id).unwrap_or_default();
        let (mut entries, mut scratch) = (message.no_related_sym(), NoRelatedSym::SCRATCH);
        while let Some(entry) = entries.next(&mut scratch) {
            let Some(instrument) = market.instrument(entry.security_id()) else { continue };
            let side = match entry.side() {
                Some(RFQSide::BUY) => Some(Side::Bid),
                Some(RFQSide::SELL) => Some(Side::Offer),
                _ => None,
            };
            let is_cross = entry.side() == Some(RFQSide::CROSS);
            let quantity = entry.order_qty();
            let request = QuoteRequest { id, instrument, quantity, side };
            if !market.request_quote(self.now, &request, is_cross) {
                return Err(QuoteReason::Other);
            }
        }
        Ok(())
    }
}

fn check_entries(
    message: &RequestForQuote543<'_>,
    market: &impl Market,
) -> Result<(), QuoteReason> {
    let (mut entries, mut scratch) = (message.no_related_sym(), NoRelatedSym::SCRATCH);
    if !(1..=ENTRIES_MAX).contains(&entries.len()) {
        return Err(QuoteReason::ExceedsLimit);
    }
    while let Some(entry) = entries.next(&mut scratch) {
        let instrument = market.instrument(entry.security_id());
        let instrument = instrument.ok_or(QuoteReason::UnknownSecurity)?;
        if !market.is_open(instrument) {
            return Err(QuoteReason::Closed);
        }
        let side = entry.side();
        let is_valid = matches!(side, None | Some(RFQSide::BUY | RFQSide::SELL | RFQSide::CROSS));
        if !is_valid || entry.order_qty() == Some(0) {
            return Err(QuoteReason::Other);
        }
    }
    Ok(())
}

fn encode_ack(
    buffer: &mut [u8],
    stamp: &Stamp,
    (message, request): (&RequestForQuote543<'_>, &Request),
    id: &[u8],
    reject: Option<QuoteReason>,
) -> Result<usize, EncodeError> {
    let (status, id) = match reject {
        None => (QuoteAckStatus::ACCEPTED, id),
        Some(_) => (QuoteAckStatus::REJECTED, &b""[..]),
    };
    RequestForQuoteAck546::encode(buffer)?
        .set_seq_num(stamp.number)
        .set_uuid(stamp.uuid)
        .set_sender_id(request.sender_id)
        .set_exchange_quote_req_id(id)
        .set_party_details_list_req_id(request.party_details_list_req_id)
        .set_request_time(stamp.utc)
        .set_sending_time_epoch(stamp.utc)
        .set_quote_req_id(message.quote_req_id())
        .set_location(request.location)
        .set_quote_reject_reason(reject.map(|reason| reason.code().into()))
        .set_quote_status(status)
        .set_manual_order_indicator(ManualOrdIndReq(request.manual_order_indicator))
        .set_split_msg(stamp.split)
        .set_poss_retrans_flag(BooleanFlag::FALSE);
    Ok(RequestForQuoteAck546::ENCODED_LENGTH)
}
