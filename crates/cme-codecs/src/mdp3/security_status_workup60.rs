//! SecurityStatusWorkup60, template 60. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of SecurityStatusWorkup60.
pub const MESSAGE: Message = Message {
    name: "SecurityStatusWorkup60", template_id: 60, schema_id: 1, version: 13, semantic_type: "f",
    block: BlockLayout::new(30, 10, FIELDS), groups: &[
        GroupLayout { name: "NoOrderIDEntries", tag: 37705, since: 0, block: BlockLayout::new(10, 10, NO_ORDER_ID_ENTRIES),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
    ], data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MDEntryPx", 270, 8, 0, &kind::PRICENULL9),
    Field::new("SecurityID", 48, 16, 0, &kind::INT32),
    Field::new("MatchEventIndicator", 5799, 20, 0, &kind::MATCH_EVENT_INDICATOR),
    Field::new("TradeDate", 75, 21, 0, &kind::LOCAL_MKT_DATE),
    Field::new("TradeLinkID", 820, 23, 0, &kind::U_INT32),
    Field::new("SecurityTradingStatus", 326, 27, 0, &kind::WORKUP_TRADING_STATUS),
    Field::new("HaltReason", 327, 28, 0, &kind::HALT_REASON),
    Field::new("SecurityTradingEvent", 1174, 29, 0, &kind::SECURITY_TRADING_EVENT),
];
const NO_ORDER_ID_ENTRIES: &[Field] = &[
    Field::new("OrderID", 37, 0, 0, &kind::U_INT64),
    Field::new("Side", 54, 8, 0, &kind::SIDE),
    Field::new("AggressorIndicator", 1057, 9, 0, &kind::AGGRESSOR_FLAG),
];

/// SecurityStatusWorkup60: message type f, template 60, since version 10, block of 30 bytes, 1 group.
#[derive(Clone, Copy, Debug)]
pub struct SecurityStatusWorkup60<'a>(Root<'a, 30, 1>);

impl<'a> SecurityStatusWorkup60<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 60;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 30;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 30] = [0; 30];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 30] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(SecurityStatusWorkup60Encoder<'_>, SecurityStatusWorkup60Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (SecurityStatusWorkup60Encoder(block), SecurityStatusWorkup60Groups(groups))) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 30]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// TransactTime (tag 60), 8 at 0.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MDEntryPx (tag 270), 8 at 8.
    #[inline] pub fn md_entry_px(&self) -> Option<Price9> { self.0.block.nullable::<i64, 8>(i64::MAX).map(Decimal) }
    /// SecurityID (tag 48), 4 at 16.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 16>() }
    /// MatchEventIndicator (tag 5799), 1 at 20.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 20>()) }
    /// TradeDate (tag 75), 2 at 21.
    #[inline] pub fn trade_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 21>(u16::MAX) }
    /// TradeLinkID (tag 820), 4 at 23.
    #[inline] pub fn trade_link_id(&self) -> u32 { self.0.block.load::<u32, 23>() }
    /// SecurityTradingStatus (tag 326), 1 at 27.
    #[inline] pub fn security_trading_status(&self) -> WorkupTradingStatus { WorkupTradingStatus(self.0.block.load::<u8, 27>()) }
    /// HaltReason (tag 327), 1 at 28.
    #[inline] pub fn halt_reason(&self) -> HaltReason { HaltReason(self.0.block.load::<u8, 28>()) }
    /// SecurityTradingEvent (tag 1174), 1 at 29.
    #[inline] pub fn security_trading_event(&self) -> SecurityTradingEvent { SecurityTradingEvent(self.0.block.load::<u8, 29>()) }
    /// NoOrderIDEntries (tag 37705).
    #[inline] pub fn no_order_id_entries(&self) -> Group<'a, NoOrderIDEntries<'a>> { Group::new(self.0.group(0)) }
}

/// Writes the block of SecurityStatusWorkup60.
#[derive(Debug)]
pub struct SecurityStatusWorkup60Encoder<'a>(&'a mut [u8; 30]);

impl SecurityStatusWorkup60Encoder<'_> {
    /// Writes TransactTime.
    #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes MDEntryPx.
    #[inline] pub fn set_md_entry_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 8>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes SecurityID.
    #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 16>(value); self }
    /// Writes MatchEventIndicator.
    #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 20>(value.0); self }
    /// Writes TradeDate.
    #[inline] pub fn set_trade_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 21>(value.into().unwrap_or(u16::MAX)); self }
    /// Writes TradeLinkID.
    #[inline] pub fn set_trade_link_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 23>(value); self }
    /// Writes SecurityTradingStatus.
    #[inline] pub fn set_security_trading_status(&mut self, value: WorkupTradingStatus) -> &mut Self { self.0.store::<u8, 27>(value.0); self }
    /// Writes HaltReason.
    #[inline] pub fn set_halt_reason(&mut self, value: HaltReason) -> &mut Self { self.0.store::<u8, 28>(value.0); self }
    /// Writes SecurityTradingEvent.
    #[inline] pub fn set_security_trading_event(&mut self, value: SecurityTradingEvent) -> &mut Self { self.0.store::<u8, 29>(value.0); self }
}

/// Writes the groups of SecurityStatusWorkup60, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct SecurityStatusWorkup60Groups<'a>(GroupsEncoder<'a>);

impl SecurityStatusWorkup60Groups<'_> {
    /// Begins NoOrderIDEntries. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_order_id_entries(&mut self) -> Result<GroupEncoder<'_, NoOrderIDEntries<'_>>, EncodeError> { self.0.open(0) }
    /// Ends the message; gives its bytes from the SBE header on. Fails if the buffer is too short.
    #[inline] pub fn finish(self) -> Result<usize, EncodeError> { self.0.finish() }
}

/// An entry of NoOrderIDEntries: block of 10 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoOrderIDEntries<'a>(&'a [u8; 10]);

impl<'a> NoOrderIDEntries<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 10;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 10] = [0; 10];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 10] = MESSAGE.groups[0].block.null_block();
    /// OrderID (tag 37), 8 at 0.
    #[inline] pub fn order_id(&self) -> u64 { self.0.load::<u64, 0>() }
    /// Side (tag 54), 1 at 8.
    #[inline] pub fn side(&self) -> Side { Side(self.0.load::<u8, 8>()) }
    /// AggressorIndicator (tag 1057), 1 at 9.
    #[inline] pub fn aggressor_indicator(&self) -> Option<AggressorFlag> { self.0.nullable::<u8, 9>(u8::MAX).map(AggressorFlag) }
}

impl Entry for NoOrderIDEntries<'_> {
    type View<'a> = NoOrderIDEntries<'a>;
    type Encoder<'a> = NoOrderIDEntriesEncoder<'a>;
    type Scratch = [u8; 10];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[0];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 10]) -> NoOrderIDEntries<'a> { NoOrderIDEntries(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoOrderIDEntriesEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoOrderIDEntriesEncoder(block)) }
}

/// Writes the block of an entry of NoOrderIDEntries.
#[derive(Debug)]
pub struct NoOrderIDEntriesEncoder<'a>(&'a mut [u8; 10]);

impl NoOrderIDEntriesEncoder<'_> {
    /// Writes OrderID.
    #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes Side.
    #[inline] pub fn set_side(&mut self, value: Side) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
    /// Writes AggressorIndicator.
    #[inline] pub fn set_aggressor_indicator(&mut self, value: impl Into<Option<AggressorFlag>>) -> &mut Self { self.0.store::<u8, 9>(value.into().map_or(u8::MAX, |v| v.0)); self }
}
