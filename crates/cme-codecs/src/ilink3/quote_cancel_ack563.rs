//! QuoteCancelAck563, template 563. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of QuoteCancelAck563.
pub const MESSAGE: Message = Message {
    name: "QuoteCancelAck563", template_id: 563, schema_id: 8, version: 9, semantic_type: "b",
    block: BlockLayout::new(370, 5, FIELDS),
    groups: &[
        GroupLayout::new("NoQuoteEntries", 295, 0, kind::GROUP_SIZE, BlockLayout::new(9, 5, NO_QUOTE_ENTRIES)),
        GroupLayout::new("NoQuoteSets", 296, 0, kind::GROUP_SIZE, BlockLayout::new(4, 5, NO_QUOTE_SETS)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("SeqNum", 9726, 0, 0, &kind::U_INT32),
    Field::new("UUID", 39001, 4, 0, &kind::U_INT64),
    Field::new("Text", 58, 12, 0, &kind::STRING256),
    Field::new("SenderID", 5392, 268, 0, &kind::STRING20_REQ),
    Field::new("PartyDetailsListReqID", 1505, 288, 0, &kind::U_INT64),
    Field::new("RequestTime", 5979, 296, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 304, 0, &kind::U_INT64),
    Field::new("CancelledSymbol", 9774, 312, 0, &kind::STRING_LENGTH6),
    Field::new("Location", 9537, 318, 0, &kind::STRING5_REQ),
    Field::new("QuoteID", 117, 323, 0, &kind::U_INT32),
    Field::new("QuoteRejectReason", 300, 327, 0, &kind::U_INT16NULL),
    Field::new("DelayDuration", 5904, 329, 0, &kind::U_INT16NULL),
    Field::new("ManualOrderIndicator", 1028, 331, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("QuoteStatus", 297, 332, 0, &kind::QUOTE_CXL_STATUS),
    Field::new("NoProcessedEntries", 9772, 333, 0, &kind::U_INT32),
    Field::new("MMProtectionReset", 9773, 337, 0, &kind::BOOLEAN_FLAG),
    Field::new("UnsolicitedCancelType", 9775, 338, 0, &kind::CHAR_NULL),
    Field::new("SplitMsg", 9553, 339, 0, &kind::SPLIT_MSG),
    Field::new("TotNoQuoteEntries", 304, 340, 0, &kind::U_INT8NULL),
    Field::new("LiquidityFlag", 9373, 341, 0, &kind::BOOLEAN_NULL),
    Field::new("PossRetransFlag", 9765, 342, 0, &kind::BOOLEAN_FLAG),
    Field::new("DelayToTime", 7552, 343, 0, &kind::U_INT64NULL),
    Field::new("OrigOrderUser", 9937, 351, 8, &kind::STRING8),
    Field::new("CancelText", 2807, 359, 8, &kind::STRING8),
    Field::new("QuoteEntryOpen", 9182, 367, 8, &kind::BOOLEAN_NULL),
    Field::new("CxlLinkedSessions", 39033, 368, 9, &kind::BOOLEAN_NULL),
    Field::new("QuoteEntryControl", 39034, 369, 9, &kind::BOOLEAN_NULL),
];
const NO_QUOTE_ENTRIES: &[Field] = &[
    Field::new("QuoteEntryID", 299, 0, 0, &kind::U_INT32),
    Field::new("SecurityID", 48, 4, 0, &kind::INT32),
    Field::new("QuoteEntryRejectReason", 368, 8, 0, &kind::U_INT8),
];
const NO_QUOTE_SETS: &[Field] = &[
    Field::new("QuoteSetID", 302, 0, 0, &kind::U_INT16),
    Field::new("QuoteErrorCode", 9030, 2, 0, &kind::U_INT16),
];

hairpin_sbe::message! {
    /// QuoteCancelAck563: message type b, template 563, since version 5, block of 370 bytes, 2 groups.
    QuoteCancelAck563, QuoteCancelAck563Encoder, 370, QuoteCancelAck563Groups, 2
}

impl<'a> QuoteCancelAck563<'a> {
    /// SeqNum (tag 9726), bytes 0..4.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 0>() }
    /// UUID (tag 39001), bytes 4..12.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 4>() }
    /// Text (tag 58), bytes 12..268.
    #[inline] pub fn text(&self) -> CharArray<'a> { self.0.block.chars::<12, 256>() }
    /// SenderID (tag 5392), bytes 268..288.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<268, 20>() }
    /// PartyDetailsListReqID (tag 1505), bytes 288..296.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 288>() }
    /// RequestTime (tag 5979), bytes 296..304.
    #[inline] pub fn request_time(&self) -> u64 { self.0.block.load::<u64, 296>() }
    /// SendingTimeEpoch (tag 5297), bytes 304..312.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 304>() }
    /// CancelledSymbol (tag 9774), bytes 312..318.
    #[inline] pub fn cancelled_symbol(&self) -> CharArray<'a> { self.0.block.chars::<312, 6>() }
    /// Location (tag 9537), bytes 318..323.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<318, 5>() }
    /// QuoteID (tag 117), bytes 323..327.
    #[inline] pub fn quote_id(&self) -> u32 { self.0.block.load::<u32, 323>() }
    /// QuoteRejectReason (tag 300), bytes 327..329.
    #[inline] pub fn quote_reject_reason(&self) -> Option<u16> { self.0.block.nullable::<u16, 327>(u16::MAX) }
    /// DelayDuration (tag 5904), bytes 329..331.
    #[inline] pub fn delay_duration(&self) -> Option<u16> { self.0.block.nullable::<u16, 329>(u16::MAX) }
    /// ManualOrderIndicator (tag 1028), bytes 331..332.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 331>()) }
    /// QuoteStatus (tag 297), bytes 332..333.
    #[inline] pub fn quote_status(&self) -> QuoteCxlStatus { QuoteCxlStatus(self.0.block.load::<u8, 332>()) }
    /// NoProcessedEntries (tag 9772), bytes 333..337.
    #[inline] pub fn no_processed_entries(&self) -> u32 { self.0.block.load::<u32, 333>() }
    /// MMProtectionReset (tag 9773), bytes 337..338.
    #[inline] pub fn mm_protection_reset(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 337>()) }
    /// UnsolicitedCancelType (tag 9775), bytes 338..339.
    #[inline] pub fn unsolicited_cancel_type(&self) -> Option<u8> { self.0.block.nullable_char::<338>() }
    /// SplitMsg (tag 9553), bytes 339..340.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 339>(u8::MAX).map(SplitMsg) }
    /// TotNoQuoteEntries (tag 304), bytes 340..341.
    #[inline] pub fn tot_no_quote_entries(&self) -> Option<u8> { self.0.block.nullable::<u8, 340>(u8::MAX) }
    /// LiquidityFlag (tag 9373), bytes 341..342.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 341>(u8::MAX).map(BooleanNULL) }
    /// PossRetransFlag (tag 9765), bytes 342..343.
    #[inline] pub fn poss_retrans_flag(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 342>()) }
    /// DelayToTime (tag 7552), bytes 343..351.
    #[inline] pub fn delay_to_time(&self) -> Option<u64> { self.0.block.nullable::<u64, 343>(u64::MAX) }
    /// OrigOrderUser (tag 9937), bytes 351..359, since version 8.
    #[inline] pub fn orig_order_user(&self) -> CharArray<'a> { self.0.block.chars::<351, 8>() }
    /// CancelText (tag 2807), bytes 359..367, since version 8.
    #[inline] pub fn cancel_text(&self) -> CharArray<'a> { self.0.block.chars::<359, 8>() }
    /// QuoteEntryOpen (tag 9182), bytes 367..368, since version 8.
    #[inline] pub fn quote_entry_open(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 367>(u8::MAX).map(BooleanNULL) }
    /// CxlLinkedSessions (tag 39033), bytes 368..369, since version 9.
    #[inline] pub fn cxl_linked_sessions(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 368>(u8::MAX).map(BooleanNULL) }
    /// QuoteEntryControl (tag 39034), bytes 369..370, since version 9.
    #[inline] pub fn quote_entry_control(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 369>(u8::MAX).map(BooleanNULL) }
    /// NoQuoteEntries (tag 295).
    #[inline] pub fn no_quote_entries(&self) -> Group<'a, NoQuoteEntries<'a>> { Group::new(self.0.group(0)) }
    /// NoQuoteSets (tag 296).
    #[inline] pub fn no_quote_sets(&self) -> Group<'a, NoQuoteSets<'a>> { Group::new(self.0.group(1)) }
}

impl QuoteCancelAck563Encoder<'_> {
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 4>(value); self }
    /** Writes Text. */ #[inline] pub fn set_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 256>(value.as_ref()); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<268, 20>(value.as_ref()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 288>(value); self }
    /** Writes RequestTime. */ #[inline] pub fn set_request_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 296>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 304>(value); self }
    /** Writes CancelledSymbol. */ #[inline] pub fn set_cancelled_symbol(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<312, 6>(value.as_ref()); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<318, 5>(value.as_ref()); self }
    /** Writes QuoteID. */ #[inline] pub fn set_quote_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 323>(value); self }
    /** Writes QuoteRejectReason. */ #[inline] pub fn set_quote_reject_reason(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 327>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes DelayDuration. */ #[inline] pub fn set_delay_duration(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 329>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 331>(value.0); self }
    /** Writes QuoteStatus. */ #[inline] pub fn set_quote_status(&mut self, value: QuoteCxlStatus) -> &mut Self { self.0.store::<u8, 332>(value.0); self }
    /** Writes NoProcessedEntries. */ #[inline] pub fn set_no_processed_entries(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 333>(value); self }
    /** Writes MMProtectionReset. */ #[inline] pub fn set_mm_protection_reset(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 337>(value.0); self }
    /** Writes UnsolicitedCancelType. */ #[inline] pub fn set_unsolicited_cancel_type(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 338>(value.into().unwrap_or(0)); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 339>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes TotNoQuoteEntries. */ #[inline] pub fn set_tot_no_quote_entries(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 340>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 341>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 342>(value.0); self }
    /** Writes DelayToTime. */ #[inline] pub fn set_delay_to_time(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 343>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes OrigOrderUser. */ #[inline] pub fn set_orig_order_user(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<351, 8>(value.as_ref()); self }
    /** Writes CancelText. */ #[inline] pub fn set_cancel_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<359, 8>(value.as_ref()); self }
    /** Writes QuoteEntryOpen. */ #[inline] pub fn set_quote_entry_open(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 367>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes CxlLinkedSessions. */ #[inline] pub fn set_cxl_linked_sessions(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 368>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes QuoteEntryControl. */ #[inline] pub fn set_quote_entry_control(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 369>(value.into().map_or(u8::MAX, |v| v.0)); self }
}

impl QuoteCancelAck563Groups<'_> {
    /// Starts the group NoQuoteEntries.
    #[inline] pub fn no_quote_entries(&mut self) -> Result<GroupEncoder<'_, NoQuoteEntries<'_>>, EncodeError> { self.0.open(0) }
    /// Starts the group NoQuoteSets.
    #[inline] pub fn no_quote_sets(&mut self) -> Result<GroupEncoder<'_, NoQuoteSets<'_>>, EncodeError> { self.0.open(1) }
}

hairpin_sbe::entry! {
    /// An entry of NoQuoteEntries (tag 295): block of 9 bytes.
    NoQuoteEntries, NoQuoteEntriesEncoder, 9, 0
}

impl NoQuoteEntries<'_> {
    /// QuoteEntryID (tag 299), bytes 0..4.
    #[inline] pub fn quote_entry_id(&self) -> u32 { self.0.load::<u32, 0>() }
    /// SecurityID (tag 48), bytes 4..8.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 4>() }
    /// QuoteEntryRejectReason (tag 368), bytes 8..9.
    #[inline] pub fn quote_entry_reject_reason(&self) -> u8 { self.0.load::<u8, 8>() }
}

impl NoQuoteEntriesEncoder<'_> {
    /** Writes QuoteEntryID. */ #[inline] pub fn set_quote_entry_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 4>(value); self }
    /** Writes QuoteEntryRejectReason. */ #[inline] pub fn set_quote_entry_reject_reason(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 8>(value); self }
}

hairpin_sbe::entry! {
    /// An entry of NoQuoteSets (tag 296): block of 4 bytes.
    NoQuoteSets, NoQuoteSetsEncoder, 4, 1
}

impl NoQuoteSets<'_> {
    /// QuoteSetID (tag 302), bytes 0..2.
    #[inline] pub fn quote_set_id(&self) -> u16 { self.0.load::<u16, 0>() }
    /// QuoteErrorCode (tag 9030), bytes 2..4.
    #[inline] pub fn quote_error_code(&self) -> u16 { self.0.load::<u16, 2>() }
}

impl NoQuoteSetsEncoder<'_> {
    /** Writes QuoteSetID. */ #[inline] pub fn set_quote_set_id(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 0>(value); self }
    /** Writes QuoteErrorCode. */ #[inline] pub fn set_quote_error_code(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 2>(value); self }
}
