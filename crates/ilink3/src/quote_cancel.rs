//! Quote cancels: QuoteCancel528, and 568 to 570 by set, group and instrument.

use hairpin_cme_codecs::ilink3::{
    QuoteCancel528, QuoteCancelByGroup569, QuoteCancelByInstrument570, QuoteCancelBySet568,
    QuoteCxlTyp,
};
use hairpin_sbe::EncodeError;

use crate::mass_quote::QUOTES_MAX;
use crate::order_terms::{boolean, check_count};
use crate::sender::{Outgoing, Stamp, set_sender_fields};
use crate::throttle::MessageClass;
use crate::{RequestError, SecurityId, Text};

/// An instrument or product group whose quotes are to be canceled.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct QuoteCancelEntry {
    /// SecurityGroup (1151).
    pub security_group: Text<6>,
    /// SecurityID (48).
    pub security_id: Option<SecurityId>,
}

/// A quote set whose quotes are to be canceled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuoteCancelSet {
    /// QuoteSetID (302).
    pub quote_set_id: u16,
    /// BidSize (134).
    pub bid_size: Option<u32>,
    /// OfferSize (135).
    pub offer_size: Option<u32>,
}

/// A QuoteCancel528: cancels all quotes of the session, or those of instruments, product groups or
/// quote sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuoteCancel<'a> {
    /// QuoteCancelType (298): selects which of the next two fields applies.
    pub kind: QuoteCxlTyp,
    /// The instruments or product groups, at most [`QUOTES_MAX`].
    pub entries: &'a [QuoteCancelEntry],
    /// The quote sets, at most [`QUOTES_MAX`].
    pub sets: &'a [QuoteCancelSet],
    /// QuoteID (117). `None` sends the message's SeqNum.
    pub quote_id: Option<u32>,
    /// LiquidityFlag (9373).
    pub liquidity_flag: Option<bool>,
    /// OrigOrderUser (9937); since schema version 8.
    pub orig_order_user: Text<8>,
    /// QuoteEntryOpen (9182); since schema version 8.
    pub quote_entry_open: Option<bool>,
}

impl<'a> QuoteCancel<'a> {
    /// Creates a cancel of all quotes of the session.
    #[must_use]
    pub const fn all() -> Self {
        Self {
            kind: QuoteCxlTyp::CANCELALLQUOTES,
            entries: &[],
            sets: &[],
            quote_id: None,
            liquidity_flag: None,
            orig_order_user: Text::EMPTY,
            quote_entry_open: None,
        }
    }

    /// Creates a cancel of the quotes of instruments.
    #[must_use]
    pub const fn instruments(entries: &'a [QuoteCancelEntry]) -> Self {
        Self { kind: QuoteCxlTyp::CANCELPER_INSTRUMENT, entries, ..Self::all() }
    }

    /// Creates a cancel of the quotes of product groups.
    #[must_use]
    pub const fn groups(entries: &'a [QuoteCancelEntry]) -> Self {
        Self { kind: QuoteCxlTyp::CANCELPER_INSTRUMENTGROUP, entries, ..Self::all() }
    }

    /// Creates a cancel of the quotes of quote sets.
    #[must_use]
    pub const fn sets(sets: &'a [QuoteCancelSet]) -> Self {
        Self { kind: QuoteCxlTyp::CANCELPER_QUOTE_SET, sets, ..Self::all() }
    }
}

impl Outgoing for QuoteCancel<'_> {
    const MAX_LENGTH: usize = 8 + 61 + 2 * (3 + 10 * QUOTES_MAX);
    const CLASS: MessageClass = MessageClass::Quote;

    fn check(&self) -> Result<(), RequestError> {
        check_count(self.entries.len(), 0, QUOTES_MAX)?;
        check_count(self.sets.len(), 0, QUOTES_MAX)
    }

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.quote_id.unwrap_or(seq_num).into())
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = QuoteCancel528::encode(buffer)?;
        set_sender_fields!(root, stamp);
        root.set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_quote_id(self.quote_id.unwrap_or(stamp.seq_num))
            .set_quote_cancel_type(self.kind)
            .set_liquidity_flag(boolean(self.liquidity_flag))
            .set_orig_order_user(self.orig_order_user)
            .set_quote_entry_open(boolean(self.quote_entry_open));
        let mut entries = groups.no_quote_entries()?;
        for entry in self.entries {
            entries
                .push()?
                .set_security_group(entry.security_group)
                .set_security_id(entry.security_id.map(|id| id.0));
        }
        let mut entries = groups.no_quote_sets()?;
        for set in self.sets {
            entries
                .push()?
                .set_bid_size(set.bid_size)
                .set_offer_size(set.offer_size)
                .set_quote_set_id(set.quote_set_id);
        }
        groups.finish()
    }
}

/// A QuoteCancelBySet568: cancels the quotes of quote sets; since schema version 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuoteCancelBySet<'a> {
    /// The QuoteSetIDs (302), 1 to [`QUOTES_MAX`].
    pub sets: &'a [u16],
    /// QuoteID (117). `None` sends the message's SeqNum.
    pub quote_id: Option<u32>,
    /// CxlLinkedSessions: also cancels the quotes of linked sessions.
    pub linked_sessions: Option<bool>,
    /// QuoteEntryControl (39034).
    pub quote_entry_control: Option<bool>,
}

impl<'a> QuoteCancelBySet<'a> {
    /// Creates a cancel without optional fields.
    #[must_use]
    pub const fn new(sets: &'a [u16]) -> Self {
        Self { sets, quote_id: None, linked_sessions: None, quote_entry_control: None }
    }
}

impl Outgoing for QuoteCancelBySet<'_> {
    const MAX_LENGTH: usize = 8 + 52 + 3 + 2 * QUOTES_MAX;
    const CLASS: MessageClass = MessageClass::Quote;

    fn check(&self) -> Result<(), RequestError> {
        check_count(self.sets.len(), 1, QUOTES_MAX)
    }

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.quote_id.unwrap_or(seq_num).into())
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = QuoteCancelBySet568::encode(buffer)?;
        set_sender_fields!(root, stamp);
        root.set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_quote_id(self.quote_id.unwrap_or(stamp.seq_num))
            .set_cxl_linked_sessions(boolean(self.linked_sessions))
            .set_quote_entry_control(boolean(self.quote_entry_control));
        let mut entries = groups.no_quote_sets()?;
        for &set in self.sets {
            entries.push()?.set_quote_set_id(set);
        }
        groups.finish()
    }
}

/// A QuoteCancelByGroup569: cancels the quotes of product groups; since schema version 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuoteCancelByGroup<'a> {
    /// The SecurityGroups (1151), 1 to [`QUOTES_MAX`].
    pub groups: &'a [Text<6>],
    /// QuoteID (117). `None` sends the message's SeqNum.
    pub quote_id: Option<u32>,
    /// CxlLinkedSessions: also cancels the quotes of linked sessions.
    pub linked_sessions: Option<bool>,
    /// QuoteEntryControl (39034).
    pub quote_entry_control: Option<bool>,
}

impl<'a> QuoteCancelByGroup<'a> {
    /// Creates a cancel without optional fields.
    #[must_use]
    pub const fn new(groups: &'a [Text<6>]) -> Self {
        Self { groups, quote_id: None, linked_sessions: None, quote_entry_control: None }
    }
}

impl Outgoing for QuoteCancelByGroup<'_> {
    const MAX_LENGTH: usize = 8 + 52 + 3 + 6 * QUOTES_MAX;
    const CLASS: MessageClass = MessageClass::Quote;

    fn check(&self) -> Result<(), RequestError> {
        check_count(self.groups.len(), 1, QUOTES_MAX)
    }

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.quote_id.unwrap_or(seq_num).into())
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = QuoteCancelByGroup569::encode(buffer)?;
        set_sender_fields!(root, stamp);
        root.set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_quote_id(self.quote_id.unwrap_or(stamp.seq_num))
            .set_cxl_linked_sessions(boolean(self.linked_sessions))
            .set_quote_entry_control(boolean(self.quote_entry_control));
        let mut entries = groups.no_quote_entries()?;
        for group in self.groups {
            entries.push()?.set_security_group(group);
        }
        groups.finish()
    }
}

/// A QuoteCancelByInstrument570: cancels the quotes of instruments; since schema version 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuoteCancelByInstrument<'a> {
    /// The SecurityIDs (48), 1 to [`QUOTES_MAX`].
    pub instruments: &'a [SecurityId],
    /// QuoteID (117). `None` sends the message's SeqNum.
    pub quote_id: Option<u32>,
    /// CxlLinkedSessions: also cancels the quotes of linked sessions.
    pub linked_sessions: Option<bool>,
}

impl<'a> QuoteCancelByInstrument<'a> {
    /// Creates a cancel without optional fields.
    #[must_use]
    pub const fn new(instruments: &'a [SecurityId]) -> Self {
        Self { instruments, quote_id: None, linked_sessions: None }
    }
}

impl Outgoing for QuoteCancelByInstrument<'_> {
    const MAX_LENGTH: usize = 8 + 51 + 3 + 4 * QUOTES_MAX;
    const CLASS: MessageClass = MessageClass::Quote;

    fn check(&self) -> Result<(), RequestError> {
        check_count(self.instruments.len(), 1, QUOTES_MAX)
    }

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        Some(self.quote_id.unwrap_or(seq_num).into())
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = QuoteCancelByInstrument570::encode(buffer)?;
        set_sender_fields!(root, stamp);
        root.set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_quote_id(self.quote_id.unwrap_or(stamp.seq_num))
            .set_cxl_linked_sessions(boolean(self.linked_sessions));
        let mut entries = groups.no_quote_entries()?;
        for security_id in self.instruments {
            entries.push()?.set_security_id(security_id.0);
        }
        groups.finish()
    }
}
