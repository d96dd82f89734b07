//! Mass quotes: MassQuote517 and MassQuoteRequest567.

use hairpin_cme_codecs::ilink3::{
    BooleanFlag, MassQuote517, MassQuoteRequest567, Price9, ShortSaleType, Side,
};
use hairpin_sbe::EncodeError;

use crate::order_terms::{boolean, check_count};
use crate::sender::{Outgoing, Stamp, set_sender_fields};
use crate::throttle::MessageClass;
use crate::{RequestError, SecurityId};

/// The maximum number of quotes in one mass quote.
pub const QUOTES_MAX: usize = 100;

/// A quote of both sides of an instrument, or of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quote {
    /// SecurityID (48).
    pub security_id: SecurityId,
    /// QuoteSetID (302).
    pub quote_set_id: u16,
    /// QuoteEntryID (299), unique in the mass quote.
    pub quote_entry_id: u32,
    /// BidPx (132), a wire price.
    pub bid_price: Option<Price9>,
    /// BidSize (134) in contracts.
    pub bid_size: Option<u32>,
    /// OfferPx (133), a wire price.
    pub offer_price: Option<Price9>,
    /// OfferSize (135) in contracts.
    pub offer_size: Option<u32>,
    /// UnderlyingSecurityID (309).
    pub underlying_security_id: Option<SecurityId>,
}

/// A MassQuote517: replaces the session's quotes in several instruments.
///
/// CME counts quotes and quote cancels in a limit of their own. Above the reject threshold, CME
/// cancels all resting quotes of the session on a best-efforts basis (CME Client Systems Wiki
/// 78446970) and reports the cancel in a QuoteCancelAck563 with UnsolicitedCancelType (9775) B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MassQuote<'a> {
    /// The quotes, 1 to [`QUOTES_MAX`].
    pub quotes: &'a [Quote],
    /// QuoteID (117). `None` sends the message's SeqNum.
    pub quote_id: Option<u32>,
    /// QuoteReqID (131) of the request for quote that this message answers.
    pub quote_req_id: Option<u64>,
    /// MMProtectionReset (9773): resets market maker protection.
    pub protection_reset: bool,
    /// LiquidityFlag (9373).
    pub liquidity_flag: Option<bool>,
    /// ShortSaleType (5409).
    pub short_sale_type: Option<ShortSaleType>,
    /// QuoteEntryOpen (9182); since schema version 8.
    pub quote_entry_open: Option<bool>,
}

impl<'a> MassQuote<'a> {
    /// Creates a mass quote without optional fields.
    #[must_use]
    pub const fn new(quotes: &'a [Quote]) -> Self {
        Self {
            quotes,
            quote_id: None,
            quote_req_id: None,
            protection_reset: false,
            liquidity_flag: None,
            short_sale_type: None,
            quote_entry_open: None,
        }
    }
}

impl Outgoing for MassQuote<'_> {
    const MAX_LENGTH: usize = 8 + 123 + 3 + 38 * QUOTES_MAX;
    const CLASS: MessageClass = MessageClass::Quote;

    fn check(&self) -> Result<(), RequestError> {
        check_count(self.quotes.len(), 1, QUOTES_MAX)
    }

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.quote_id.unwrap_or(seq_num).into())
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = MassQuote517::encode(buffer)?;
        set_sender_fields!(root, stamp);
        root.set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_quote_req_id(self.quote_req_id)
            .set_quote_id(self.quote_id.unwrap_or(stamp.seq_num))
            .set_tot_no_quote_entries(self.quotes.len() as u8)
            .set_mm_protection_reset(BooleanFlag(self.protection_reset.into()))
            .set_liquidity_flag(boolean(self.liquidity_flag))
            .set_short_sale_type(self.short_sale_type)
            .set_quote_entry_open(boolean(self.quote_entry_open));
        let mut entries = groups.no_quote_entries()?;
        for quote in self.quotes {
            entries
                .push()?
                .set_bid_px(quote.bid_price)
                .set_offer_px(quote.offer_price)
                .set_quote_entry_id(quote.quote_entry_id)
                .set_security_id(quote.security_id.0)
                .set_bid_size(quote.bid_size)
                .set_offer_size(quote.offer_size)
                .set_underlying_security_id(quote.underlying_security_id.map(|id| id.0))
                .set_quote_set_id(quote.quote_set_id);
        }
        groups.finish()
    }
}

/// A quote of one side of an instrument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideQuote {
    /// SecurityID (48).
    pub security_id: SecurityId,
    /// QuoteSetID (302).
    pub quote_set_id: u16,
    /// QuoteEntryID (299), unique in the mass quote.
    pub quote_entry_id: u32,
    /// Side (54).
    pub side: Side,
    /// Price (44), a wire price.
    pub price: Price9,
    /// OrderQty (38) in contracts.
    pub quantity: u32,
}

/// A MassQuoteRequest567: quotes by side; since schema version 9. The response is a
/// MassQuoteResponse571.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MassQuoteRequest<'a> {
    /// The quotes, 1 to [`QUOTES_MAX`].
    pub quotes: &'a [SideQuote],
    /// QuoteID (117). `None` sends the message's SeqNum.
    pub quote_id: Option<u32>,
    /// QuoteReqID (131) of the request for quote that this message answers.
    pub quote_req_id: Option<u64>,
    /// MMProtectionReset (9773): resets market maker protection.
    pub protection_reset: bool,
    /// LiquidityFlag (9373).
    pub liquidity_flag: Option<bool>,
    /// ShortSaleType (5409).
    pub short_sale_type: Option<ShortSaleType>,
    /// QuoteEntryOpen (9182).
    pub quote_entry_open: Option<bool>,
    /// QuoteEntryControl (39034).
    pub quote_entry_control: Option<bool>,
}

impl<'a> MassQuoteRequest<'a> {
    /// Creates a mass quote without optional fields.
    #[must_use]
    pub const fn new(quotes: &'a [SideQuote]) -> Self {
        Self {
            quotes,
            quote_id: None,
            quote_req_id: None,
            protection_reset: false,
            liquidity_flag: None,
            short_sale_type: None,
            quote_entry_open: None,
            quote_entry_control: None,
        }
    }
}

impl Outgoing for MassQuoteRequest<'_> {
    const MAX_LENGTH: usize = 8 + 124 + 3 + 23 * QUOTES_MAX;
    const CLASS: MessageClass = MessageClass::Quote;

    fn check(&self) -> Result<(), RequestError> {
        check_count(self.quotes.len(), 1, QUOTES_MAX)
    }

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.quote_id.unwrap_or(seq_num).into())
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = MassQuoteRequest567::encode(buffer)?;
        set_sender_fields!(root, stamp);
        root.set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_quote_req_id(self.quote_req_id)
            .set_quote_id(self.quote_id.unwrap_or(stamp.seq_num))
            .set_tot_no_quote_entries(self.quotes.len() as u8)
            .set_mm_protection_reset(BooleanFlag(self.protection_reset.into()))
            .set_liquidity_flag(boolean(self.liquidity_flag))
            .set_short_sale_type(self.short_sale_type)
            .set_quote_entry_open(boolean(self.quote_entry_open))
            .set_quote_entry_control(boolean(self.quote_entry_control));
        let mut entries = groups.no_quote_entries()?;
        for quote in self.quotes {
            entries
                .push()?
                .set_security_id(quote.security_id.0)
                .set_price(quote.price)
                .set_order_qty(quote.quantity)
                .set_side(quote.side)
                .set_quote_entry_id(quote.quote_entry_id)
                .set_quote_set_id(quote.quote_set_id);
        }
        groups.finish()
    }
}
