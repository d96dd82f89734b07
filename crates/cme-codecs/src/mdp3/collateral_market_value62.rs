//! CollateralMarketValue62, template 62. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of CollateralMarketValue62.
pub const MESSAGE: Message = Message {
    name: "CollateralMarketValue62", template_id: 62, schema_id: 1, version: 13, semantic_type: "X",
    block: BlockLayout::new(11, 11, FIELDS), groups: &[
        GroupLayout { name: "NoMDEntries", tag: 268, since: 0, block: BlockLayout::new(40, 11, NO_MD_ENTRIES),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
    ], data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("MatchEventIndicator", 5799, 8, 0, &kind::MATCH_EVENT_INDICATOR),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("UnderlyingSecurityAltID", 458, 0, 0, &kind::STRING12),
    Field::new("UnderlyingSecurityAltIDSource", 459, 12, 0, &kind::SECURITY_ALT_ID_SOURCE),
    Field::new("CollateralMarketPrice", 2689, 13, 0, &kind::PRICE9),
    Field::new("DirtyPrice", 37001, 21, 0, &kind::PRICE9),
    Field::new("UnderlyingInstrumentGUID", 37519, 29, 0, &kind::U_INT64),
    Field::new("MDStreamID", 1500, 37, 0, &kind::PRICE_SOURCE),
];

/// CollateralMarketValue62: message type X, template 62, since version 11, block of 11 bytes, 1 group.
#[derive(Clone, Copy, Debug)]
pub struct CollateralMarketValue62<'a>(Root<'a, 11, 1>);

impl<'a> CollateralMarketValue62<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 62;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 11;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 11] = [0; 11];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 11] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(CollateralMarketValue62Encoder<'_>, CollateralMarketValue62Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (CollateralMarketValue62Encoder(block), CollateralMarketValue62Groups(groups))) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 11]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// TransactTime (tag 60), 8 at 0.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MatchEventIndicator (tag 5799), 1 at 8.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 8>()) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

/// Writes the block of CollateralMarketValue62.
#[derive(Debug)]
pub struct CollateralMarketValue62Encoder<'a>(&'a mut [u8; 11]);

impl CollateralMarketValue62Encoder<'_> {
    /// Writes TransactTime.
    #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes MatchEventIndicator.
    #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 8>(value.0); self }
}

/// Writes the groups of CollateralMarketValue62, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct CollateralMarketValue62Groups<'a>(GroupsEncoder<'a>);

impl CollateralMarketValue62Groups<'_> {
    /// Begins NoMDEntries. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
    /// Ends the message; gives its bytes from the SBE header on. Fails if the buffer is too short.
    #[inline] pub fn finish(self) -> Result<usize, EncodeError> { self.0.finish() }
}

/// An entry of NoMDEntries: block of 40 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoMDEntries<'a>(&'a [u8; 40]);

impl<'a> NoMDEntries<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 40;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 40] = [0; 40];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 40] = MESSAGE.groups[0].block.null_block();
    /// UnderlyingSecurityAltID (tag 458), 12 at 0.
    #[inline] pub fn underlying_security_alt_id(&self) -> CharArray<'a> { self.0.chars::<0, 12>() }
    /// UnderlyingSecurityAltIDSource (tag 459), 1 at 12.
    #[inline] pub fn underlying_security_alt_id_source(&self) -> Option<SecurityAltIDSource> { self.0.nullable::<u8, 12>(u8::MAX).map(SecurityAltIDSource) }
    /// CollateralMarketPrice (tag 2689), 8 at 13.
    #[inline] pub fn collateral_market_price(&self) -> Price9 { Decimal(self.0.load::<i64, 13>()) }
    /// DirtyPrice (tag 37001), 8 at 21.
    #[inline] pub fn dirty_price(&self) -> Price9 { Decimal(self.0.load::<i64, 21>()) }
    /// UnderlyingInstrumentGUID (tag 37519), 8 at 29.
    #[inline] pub fn underlying_instrument_guid(&self) -> u64 { self.0.load::<u64, 29>() }
    /// MDStreamID (tag 1500), 1 at 37.
    #[inline] pub fn md_stream_id(&self) -> Option<PriceSource> { self.0.nullable::<u8, 37>(u8::MAX).map(PriceSource) }
}

impl Entry for NoMDEntries<'_> {
    type View<'a> = NoMDEntries<'a>;
    type Encoder<'a> = NoMDEntriesEncoder<'a>;
    type Scratch = [u8; 40];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[0];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 40]) -> NoMDEntries<'a> { NoMDEntries(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoMDEntriesEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoMDEntriesEncoder(block)) }
}

/// Writes the block of an entry of NoMDEntries.
#[derive(Debug)]
pub struct NoMDEntriesEncoder<'a>(&'a mut [u8; 40]);

impl NoMDEntriesEncoder<'_> {
    /// Writes UnderlyingSecurityAltID.
    #[inline] pub fn set_underlying_security_alt_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 12>(value.as_ref()); self }
    /// Writes UnderlyingSecurityAltIDSource.
    #[inline] pub fn set_underlying_security_alt_id_source(&mut self, value: impl Into<Option<SecurityAltIDSource>>) -> &mut Self { self.0.store::<u8, 12>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes CollateralMarketPrice.
    #[inline] pub fn set_collateral_market_price(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 13>(value.0); self }
    /// Writes DirtyPrice.
    #[inline] pub fn set_dirty_price(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 21>(value.0); self }
    /// Writes UnderlyingInstrumentGUID.
    #[inline] pub fn set_underlying_instrument_guid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 29>(value); self }
    /// Writes MDStreamID.
    #[inline] pub fn set_md_stream_id(&mut self, value: impl Into<Option<PriceSource>>) -> &mut Self { self.0.store::<u8, 37>(value.into().map_or(u8::MAX, |v| v.0)); self }
}
