//! PartyDetailsListRequest537, template 537. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use hairpin_sbe::{Block, BlockLayout, CharArray, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of PartyDetailsListRequest537.
pub const MESSAGE: Message = Message {
    name: "PartyDetailsListRequest537", template_id: 537, schema_id: 8, version: 9, semantic_type: "CF",
    block: BlockLayout::new(20, 0, FIELDS), groups: &[
        GroupLayout { name: "NoRequestingPartyIDs", tag: 1657, since: 0, block: BlockLayout::new(7, 0, NO_REQUESTING_PARTY_I_DS),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
        GroupLayout { name: "NoPartyIDs", tag: 453, since: 0, block: BlockLayout::new(11, 0, NO_PARTY_I_DS),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
    ], data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("PartyDetailsListReqID", 1505, 0, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 8, 0, &kind::U_INT64),
    Field::new("SeqNum", 9726, 16, 0, &kind::U_INT32),
];
const NO_REQUESTING_PARTY_I_DS: &[Field] = &[
    Field::new("RequestingPartyID", 1658, 0, 0, &kind::STRING5),
    Field::new("RequestingPartyIDSource", 1659, 5, 0, &kind::CHAR),
    Field::new("RequestingPartyRole", 1660, 6, 0, &kind::CHAR),
];
const NO_PARTY_I_DS: &[Field] = &[
    Field::new("PartyID", 448, 0, 0, &kind::U_INT64),
    Field::new("PartyIDSource", 447, 8, 0, &kind::CHAR),
    Field::new("PartyRole", 452, 9, 0, &kind::U_INT16),
];

/// PartyDetailsListRequest537: message type CF, template 537, block of 20 bytes, 2 groups.
#[derive(Clone, Copy, Debug)]
pub struct PartyDetailsListRequest537<'a>(Root<'a, 20, 2>);

impl<'a> PartyDetailsListRequest537<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 537;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 20;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 20] = [0; 20];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 20] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(PartyDetailsListRequest537Encoder<'_>, PartyDetailsListRequest537Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (PartyDetailsListRequest537Encoder(block), PartyDetailsListRequest537Groups(groups))) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 20]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// PartyDetailsListReqID (tag 1505), 8 at 0.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// SendingTimeEpoch (tag 5297), 8 at 8.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// SeqNum (tag 9726), 4 at 16.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 16>() }
    /// NoRequestingPartyIDs (tag 1657).
    #[inline] pub fn no_requesting_party_i_ds(&self) -> Group<'a, NoRequestingPartyIDs<'a>> { Group::new(self.0.group(0)) }
    /// NoPartyIDs (tag 453).
    #[inline] pub fn no_party_i_ds(&self) -> Group<'a, NoPartyIDs<'a>> { Group::new(self.0.group(1)) }
}

/// Writes the block of PartyDetailsListRequest537.
#[derive(Debug)]
pub struct PartyDetailsListRequest537Encoder<'a>(&'a mut [u8; 20]);

impl PartyDetailsListRequest537Encoder<'_> {
    /// Writes PartyDetailsListReqID.
    #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes SendingTimeEpoch.
    #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /// Writes SeqNum.
    #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 16>(value); self }
}

/// Writes the groups of PartyDetailsListRequest537, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct PartyDetailsListRequest537Groups<'a>(GroupsEncoder<'a>);

impl PartyDetailsListRequest537Groups<'_> {
    /// Begins NoRequestingPartyIDs. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_requesting_party_i_ds(&mut self) -> Result<GroupEncoder<'_, NoRequestingPartyIDs<'_>>, EncodeError> { self.0.open(0) }
    /// Begins NoPartyIDs. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_party_i_ds(&mut self) -> Result<GroupEncoder<'_, NoPartyIDs<'_>>, EncodeError> { self.0.open(1) }
    /// Ends the message; gives its bytes from the SBE header on. Fails if the buffer is too short.
    #[inline] pub fn finish(self) -> Result<usize, EncodeError> { self.0.finish() }
}

/// An entry of NoRequestingPartyIDs: block of 7 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoRequestingPartyIDs<'a>(&'a [u8; 7]);

impl<'a> NoRequestingPartyIDs<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 7;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 7] = [0; 7];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 7] = MESSAGE.groups[0].block.null_block();
    /// RequestingPartyID (tag 1658), 5 at 0.
    #[inline] pub fn requesting_party_id(&self) -> CharArray<'a> { self.0.chars::<0, 5>() }
    /// RequestingPartyIDSource (tag 1659), 1 at 5.
    #[inline] pub fn requesting_party_id_source(&self) -> u8 { self.0.load::<u8, 5>() }
    /// RequestingPartyRole (tag 1660), 1 at 6.
    #[inline] pub fn requesting_party_role(&self) -> u8 { self.0.load::<u8, 6>() }
}

impl Entry for NoRequestingPartyIDs<'_> {
    type View<'a> = NoRequestingPartyIDs<'a>;
    type Encoder<'a> = NoRequestingPartyIDsEncoder<'a>;
    type Scratch = [u8; 7];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[0];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 7]) -> NoRequestingPartyIDs<'a> { NoRequestingPartyIDs(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoRequestingPartyIDsEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoRequestingPartyIDsEncoder(block)) }
}

/// Writes the block of an entry of NoRequestingPartyIDs.
#[derive(Debug)]
pub struct NoRequestingPartyIDsEncoder<'a>(&'a mut [u8; 7]);

impl NoRequestingPartyIDsEncoder<'_> {
    /// Writes RequestingPartyID.
    #[inline] pub fn set_requesting_party_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 5>(value.as_ref()); self }
    /// Writes RequestingPartyIDSource.
    #[inline] pub fn set_requesting_party_id_source(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 5>(value); self }
    /// Writes RequestingPartyRole.
    #[inline] pub fn set_requesting_party_role(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 6>(value); self }
}

/// An entry of NoPartyIDs: block of 11 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoPartyIDs<'a>(&'a [u8; 11]);

impl<'a> NoPartyIDs<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 11;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 11] = [0; 11];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 11] = MESSAGE.groups[1].block.null_block();
    /// PartyID (tag 448), 8 at 0.
    #[inline] pub fn party_id(&self) -> u64 { self.0.load::<u64, 0>() }
    /// PartyIDSource (tag 447), 1 at 8.
    #[inline] pub fn party_id_source(&self) -> u8 { self.0.load::<u8, 8>() }
    /// PartyRole (tag 452), 2 at 9.
    #[inline] pub fn party_role(&self) -> u16 { self.0.load::<u16, 9>() }
}

impl Entry for NoPartyIDs<'_> {
    type View<'a> = NoPartyIDs<'a>;
    type Encoder<'a> = NoPartyIDsEncoder<'a>;
    type Scratch = [u8; 11];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[1];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 11]) -> NoPartyIDs<'a> { NoPartyIDs(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoPartyIDsEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoPartyIDsEncoder(block)) }
}

/// Writes the block of an entry of NoPartyIDs.
#[derive(Debug)]
pub struct NoPartyIDsEncoder<'a>(&'a mut [u8; 11]);

impl NoPartyIDsEncoder<'_> {
    /// Writes PartyID.
    #[inline] pub fn set_party_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes PartyIDSource.
    #[inline] pub fn set_party_id_source(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 8>(value); self }
    /// Writes PartyRole.
    #[inline] pub fn set_party_role(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 9>(value); self }
}
