//! Quotes, requests for quotes, and crosses.

use anyhow::Result;
use hairpin_order_entry::{
    CrossSide, MassQuote, NewOrderCross, Price9, Quote, QuoteCancel, QuoteCancelBySet,
    QuoteCancelEntry, RelatedSym, RequestForQuote, SecurityId, SideReq, Text,
};
use hairpin_time::Now;

use super::OrderRun;
use crate::order::script::{QuoteScope, QuoteTerms};

impl OrderRun {
    /// Sends a mass quote of one set, whose entries are numbered from 1.
    ///
    /// # Errors
    /// It cannot be sent.
    pub(super) fn quote(&mut self, now: Now, set: u16, quotes: &[QuoteTerms]) -> Result<()> {
        let quote = |(quote_entry_id, terms): (u32, &QuoteTerms)| Quote {
            security_id: SecurityId(terms.security_id),
            quote_set_id: set,
            quote_entry_id,
            bid_size: Some(terms.bid.0),
            bid_price: Some(terms.bid.1),
            offer_size: Some(terms.offer.0),
            offer_price: Some(terms.offer.1),
            underlying_security_id: None,
        };
        let quotes: Vec<Quote> = (1..).zip(quotes).map(quote).collect();
        self.send(now, &MassQuote::new(&quotes)).map(drop)
    }

    /// Cancels quotes.
    ///
    /// # Errors
    /// The cancel cannot be sent.
    pub(super) fn cancel_quotes(&mut self, now: Now, scope: QuoteScope) -> Result<()> {
        let sent = match scope {
            QuoteScope::All => self.send(now, &QuoteCancel::all()),
            QuoteScope::Set(set) => self.send(now, &QuoteCancelBySet::new(&[set])),
            QuoteScope::Instrument(id) => {
                let security_id = Some(SecurityId(id));
                let entry = QuoteCancelEntry { security_group: Text::EMPTY, security_id };
                self.send(now, &QuoteCancel::instruments(&[entry]))
            }
        };
        sent.map(drop)
    }

    /// Asks the market for quotes.
    ///
    /// # Errors
    /// The request cannot be sent.
    pub(super) fn request_quote(
        &mut self,
        now: Now,
        security_id: i32,
        quantity: Option<u32>,
    ) -> Result<()> {
        let security_id = SecurityId(security_id);
        let instruments = [RelatedSym { security_id, quantity, side: None }];
        self.send(now, &RequestForQuote::new(&instruments)).map(drop)
    }

    /// Sends a buy and a sell order that trade with each other, agreed now.
    ///
    /// # Errors
    /// The cross cannot be sent.
    pub(super) fn cross(
        &mut self,
        now: Now,
        quantity: u32,
        price: Price9,
        security_id: i32,
    ) -> Result<()> {
        let sides =
            [SideReq::BUY, SideReq::SELL].map(|side| CrossSide::new(side, quantity, self.new_id()));
        let security_id = SecurityId(security_id);
        let (booked_at, cross_id, order_request_id) = (now.utc, None, None);
        let cross =
            NewOrderCross { security_id, price, sides, booked_at, cross_id, order_request_id };
        self.send(now, &cross).map(drop)
    }
}
