//! Requests for quotes (template 39).

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_sbe::{DecodeError, Group};
use hairpin_time::Utc;

use crate::market::Market;
use crate::message::entries::{Root, non_negative};
use crate::{BookSide, InstrumentIndex, Instruments, Listener, MatchEvent, Message, Packet, Text};

use codec::quote_request39::NoRelatedSym;

/// A request for quotes. With a filter, reported if any of its instruments is accepted.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct QuoteRequest<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// TransactTime (60).
    pub transact_time: Utc,
    /// MatchEventIndicator (5799).
    pub match_event: MatchEvent,
    /// QuoteReqID (131).
    pub id: Text<23>,
    entries: Group<'a, NoRelatedSym<'a>>,
    instruments: &'a Instruments,
}

/// An instrument of a quote request (group NoRelatedSym).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuoteRequestEntry {
    /// Symbol (55).
    pub symbol: Text<20>,
    /// SecurityID (48).
    pub security_id: i32,
    /// The instrument, `None` if not yet known.
    pub instrument: Option<InstrumentIndex>,
    /// OrderQty (38): the requested quantity, if stated.
    pub quantity: Option<u64>,
    /// QuoteType (537): 0 indicative, 1 tradeable.
    pub quote_type: i8,
    /// Side (54): the requested side; `None` for both or unstated.
    pub side: Option<BookSide>,
}

impl<'a> QuoteRequest<'a> {
    /// Returns the instruments of the request.
    pub fn entries(&self) -> impl Iterator<Item = QuoteRequestEntry> + use<'a> {
        let (mut entries, instruments) = (self.entries, self.instruments);
        core::iter::from_fn(move || {
            let mut scratch = NoRelatedSym::SCRATCH;
            let entry = entries.next(&mut scratch)?;
            let security_id = entry.security_id();
            Some(QuoteRequestEntry {
                symbol: Text::from_bytes(entry.symbol().as_bytes()),
                security_id,
                instrument: instruments.find(security_id),
                quantity: entry.order_qty().and_then(non_negative),
                quote_type: entry.quote_type(),
                side: entry.side().and_then(side),
            })
        })
    }
}

/// Converts Side (54): 1 buy, 2 sell.
fn side(wire: i8) -> Option<BookSide> {
    match wire {
        1 => Some(BookSide::Bid),
        2 => Some(BookSide::Ask),
        _ => None,
    }
}

impl Market {
    /// Applies a QuoteRequest of the incremental feed.
    #[cold]
    pub(crate) fn apply_quote_request(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) -> Result<Root, DecodeError> {
        let mut scratch = codec::QuoteRequest39::SCRATCH;
        let decoded = codec::QuoteRequest39::decode(&message.header, message.body, &mut scratch)?;
        let root = Root {
            transact_time: Utc::from_nanos(decoded.transact_time()),
            match_event: MatchEvent(decoded.match_event_indicator().0),
        };
        let request = QuoteRequest {
            packet,
            transact_time: root.transact_time,
            match_event: root.match_event,
            id: Text::from_bytes(decoded.quote_req_id().as_bytes()),
            entries: decoded.no_related_sym(),
            instruments: &self.instruments,
        };
        let is_unwanted =
            |entry: QuoteRequestEntry| self.is_unwanted(entry.instrument, entry.security_id);
        if !self.filtering || !request.entries().all(is_unwanted) {
            listener.on_quote_request(&request);
            self.counters.quote_requests += 1;
        }
        Ok(root)
    }
}
