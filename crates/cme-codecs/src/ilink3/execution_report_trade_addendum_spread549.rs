//! ExecutionReportTradeAddendumSpread549, template 549. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of ExecutionReportTradeAddendumSpread549.
pub const MESSAGE: Message = Message {
    name: "ExecutionReportTradeAddendumSpread549", template_id: 549, schema_id: 8, version: 9, semantic_type: "8",
    block: BlockLayout::new(227, 0, FIELDS),
    groups: &[
        GroupLayout::new("NoFills", 1362, 0, kind::GROUP_SIZE, BlockLayout::new(15, 0, NO_FILLS)),
        GroupLayout::new("NoLegs", 555, 0, kind::GROUP_SIZE, BlockLayout::new(41, 0, NO_LEGS)),
        GroupLayout::new("NoOrderEvents", 1795, 0, kind::GROUP_SIZE, BlockLayout::new(27, 0, NO_ORDER_EVENTS)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("SeqNum", 9726, 0, 0, &kind::U_INT32),
    Field::new("UUID", 39001, 4, 0, &kind::U_INT64),
    Field::new("ExecID", 17, 12, 0, &kind::STRING40),
    Field::new("SenderID", 5392, 52, 0, &kind::STRING20_REQ),
    Field::new("ClOrdID", 11, 72, 0, &kind::STRING20_REQ),
    Field::new("PartyDetailsListReqID", 1505, 92, 0, &kind::U_INT64),
    Field::new("LastPx", 31, 100, 0, &kind::PRICE9),
    Field::new("OrderID", 37, 108, 0, &kind::U_INT64),
    Field::new("TransactTime", 60, 116, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 124, 0, &kind::U_INT64),
    Field::new("SecExecID", 527, 132, 0, &kind::U_INT64),
    Field::new("OrigSecondaryExecutionID", 9703, 140, 0, &kind::U_INT64NULL),
    Field::new("Location", 9537, 148, 0, &kind::STRING5_REQ),
    Field::new("SecurityID", 48, 153, 0, &kind::INT32),
    Field::new("MDTradeEntryID", 37711, 157, 0, &kind::U_INT32),
    Field::new("LastQty", 32, 161, 0, &kind::U_INT32),
    Field::new("SideTradeID", 1506, 165, 0, &kind::U_INT32),
    Field::new("OrigSideTradeID", 1507, 169, 0, &kind::U_INT32NULL),
    Field::new("TradeDate", 75, 173, 0, &kind::LOCAL_MKT_DATE),
    Field::new("OrdStatus", 39, 175, 0, &kind::ORD_STATUS_TRD_CXL),
    Field::new("ExecType", 150, 176, 0, &kind::EXEC_TYP_TRD_CXL),
    Field::new("OrdType", 40, 177, 0, &kind::ORDER_TYPE),
    Field::new("Side", 54, 178, 0, &kind::SIDE_REQ),
    Field::new("ManualOrderIndicator", 1028, 179, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("PossRetransFlag", 9765, 180, 0, &kind::BOOLEAN_FLAG),
    Field::new("TotalNumSecurities", 393, 181, 0, &kind::U_INT8),
    Field::new("ExecInst", 18, 182, 0, &kind::EXEC_INST),
    Field::new("ExecutionMode", 5906, 183, 0, &kind::EXEC_MODE),
    Field::new("LiquidityFlag", 9373, 184, 0, &kind::BOOLEAN_NULL),
    Field::new("ManagedOrder", 6881, 185, 0, &kind::BOOLEAN_NULL),
    Field::new("ShortSaleType", 5409, 186, 0, &kind::SHORT_SALE_TYPE),
    Field::new("ExecRefID", 19, 187, 9, &kind::STRING40),
];
const NO_FILLS: &[Field] = &[
    Field::new("FillPx", 1364, 0, 0, &kind::PRICE9),
    Field::new("FillQty", 1365, 8, 0, &kind::U_INT32),
    Field::new("FillExecID", 1363, 12, 0, &kind::STRING2),
    Field::new("FillYieldType", 1622, 14, 0, &kind::U_INT8),
];
const NO_LEGS: &[Field] = &[
    Field::new("LegExecID", 1893, 0, 0, &kind::U_INT64),
    Field::new("LegLastPx", 637, 8, 0, &kind::PRICE9),
    Field::new("LegExecRefID", 1901, 16, 0, &kind::U_INT64NULL),
    Field::new("LegTradeID", 1894, 24, 0, &kind::U_INT32),
    Field::new("LegTradeRefID", 39023, 28, 0, &kind::U_INT32NULL),
    Field::new("LegSecurityID", 602, 32, 0, &kind::INT32),
    Field::new("LegLastQty", 1418, 36, 0, &kind::U_INT32),
    Field::new("LegSide", 624, 40, 0, &kind::SIDE_REQ),
];
const NO_ORDER_EVENTS: &[Field] = &[
    Field::new("OrderEventPx", 1799, 0, 0, &kind::PRICE9),
    Field::new("OrderEventText", 1802, 8, 0, &kind::STRING5),
    Field::new("OrderEventExecID", 1797, 13, 0, &kind::U_INT32),
    Field::new("OrderEventQty", 1800, 17, 0, &kind::U_INT32),
    Field::new("OrderEventType", 1796, 21, 0, &kind::TRADE_ADDENDUM),
    Field::new("OrderEventReason", 1798, 22, 0, &kind::U_INT8),
    Field::new("OriginalOrderEventExecID", 6555, 23, 3, &kind::U_INT32NULL),
];

hairpin_sbe::message! {
    /// ExecutionReportTradeAddendumSpread549: message type 8, template 549, block of 227 bytes, 3 groups.
    ExecutionReportTradeAddendumSpread549, ExecutionReportTradeAddendumSpread549Encoder, 227, ExecutionReportTradeAddendumSpread549Groups, 3
}

impl<'a> ExecutionReportTradeAddendumSpread549<'a> {
    /// SeqNum (tag 9726), bytes 0..4.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 0>() }
    /// UUID (tag 39001), bytes 4..12.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 4>() }
    /// ExecID (tag 17), bytes 12..52.
    #[inline] pub fn exec_id(&self) -> CharArray<'a> { self.0.block.chars::<12, 40>() }
    /// SenderID (tag 5392), bytes 52..72.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<52, 20>() }
    /// ClOrdID (tag 11), bytes 72..92.
    #[inline] pub fn cl_ord_id(&self) -> CharArray<'a> { self.0.block.chars::<72, 20>() }
    /// PartyDetailsListReqID (tag 1505), bytes 92..100.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 92>() }
    /// LastPx (tag 31), bytes 100..108.
    #[inline] pub fn last_px(&self) -> Price9 { Decimal(self.0.block.load::<i64, 100>()) }
    /// OrderID (tag 37), bytes 108..116.
    #[inline] pub fn order_id(&self) -> u64 { self.0.block.load::<u64, 108>() }
    /// TransactTime (tag 60), bytes 116..124.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 116>() }
    /// SendingTimeEpoch (tag 5297), bytes 124..132.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 124>() }
    /// SecExecID (tag 527), bytes 132..140.
    #[inline] pub fn sec_exec_id(&self) -> u64 { self.0.block.load::<u64, 132>() }
    /// OrigSecondaryExecutionID (tag 9703), bytes 140..148.
    #[inline] pub fn orig_secondary_execution_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 140>(u64::MAX) }
    /// Location (tag 9537), bytes 148..153.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<148, 5>() }
    /// SecurityID (tag 48), bytes 153..157.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 153>() }
    /// MDTradeEntryID (tag 37711), bytes 157..161.
    #[inline] pub fn md_trade_entry_id(&self) -> u32 { self.0.block.load::<u32, 157>() }
    /// LastQty (tag 32), bytes 161..165.
    #[inline] pub fn last_qty(&self) -> u32 { self.0.block.load::<u32, 161>() }
    /// SideTradeID (tag 1506), bytes 165..169.
    #[inline] pub fn side_trade_id(&self) -> u32 { self.0.block.load::<u32, 165>() }
    /// OrigSideTradeID (tag 1507), bytes 169..173.
    #[inline] pub fn orig_side_trade_id(&self) -> Option<u32> { self.0.block.nullable::<u32, 169>(u32::MAX) }
    /// TradeDate (tag 75), bytes 173..175.
    #[inline] pub fn trade_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 173>(u16::MAX) }
    /// OrdStatus (tag 39), bytes 175..176.
    #[inline] pub fn ord_status(&self) -> OrdStatusTrdCxl { OrdStatusTrdCxl(self.0.block.load::<u8, 175>()) }
    /// ExecType (tag 150), bytes 176..177.
    #[inline] pub fn exec_type(&self) -> ExecTypTrdCxl { ExecTypTrdCxl(self.0.block.load::<u8, 176>()) }
    /// OrdType (tag 40), bytes 177..178.
    #[inline] pub fn ord_type(&self) -> Option<OrderType> { self.0.block.nullable_char::<177>().map(OrderType) }
    /// Side (tag 54), bytes 178..179.
    #[inline] pub fn side(&self) -> SideReq { SideReq(self.0.block.load::<u8, 178>()) }
    /// ManualOrderIndicator (tag 1028), bytes 179..180.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 179>()) }
    /// PossRetransFlag (tag 9765), bytes 180..181.
    #[inline] pub fn poss_retrans_flag(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 180>()) }
    /// TotalNumSecurities (tag 393), bytes 181..182.
    #[inline] pub fn total_num_securities(&self) -> u8 { self.0.block.load::<u8, 181>() }
    /// ExecInst (tag 18), bytes 182..183.
    #[inline] pub fn exec_inst(&self) -> ExecInst { ExecInst(self.0.block.load::<u8, 182>()) }
    /// ExecutionMode (tag 5906), bytes 183..184.
    #[inline] pub fn execution_mode(&self) -> Option<ExecMode> { self.0.block.nullable_char::<183>().map(ExecMode) }
    /// LiquidityFlag (tag 9373), bytes 184..185.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 184>(u8::MAX).map(BooleanNULL) }
    /// ManagedOrder (tag 6881), bytes 185..186.
    #[inline] pub fn managed_order(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 185>(u8::MAX).map(BooleanNULL) }
    /// ShortSaleType (tag 5409), bytes 186..187.
    #[inline] pub fn short_sale_type(&self) -> Option<ShortSaleType> { self.0.block.nullable::<u8, 186>(u8::MAX).map(ShortSaleType) }
    /// ExecRefID (tag 19), bytes 187..227, since version 9.
    #[inline] pub fn exec_ref_id(&self) -> CharArray<'a> { self.0.block.chars::<187, 40>() }
    /// NoFills (tag 1362).
    #[inline] pub fn no_fills(&self) -> Group<'a, NoFills<'a>> { Group::new(self.0.group(0)) }
    /// NoLegs (tag 555).
    #[inline] pub fn no_legs(&self) -> Group<'a, NoLegs<'a>> { Group::new(self.0.group(1)) }
    /// NoOrderEvents (tag 1795).
    #[inline] pub fn no_order_events(&self) -> Group<'a, NoOrderEvents<'a>> { Group::new(self.0.group(2)) }
}

impl ExecutionReportTradeAddendumSpread549Encoder<'_> {
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 4>(value); self }
    /** Writes ExecID. */ #[inline] pub fn set_exec_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 40>(value.as_ref()); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<52, 20>(value.as_ref()); self }
    /** Writes ClOrdID. */ #[inline] pub fn set_cl_ord_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<72, 20>(value.as_ref()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 92>(value); self }
    /** Writes LastPx. */ #[inline] pub fn set_last_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 100>(value.0); self }
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 108>(value); self }
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 116>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 124>(value); self }
    /** Writes SecExecID. */ #[inline] pub fn set_sec_exec_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 132>(value); self }
    /** Writes OrigSecondaryExecutionID. */ #[inline] pub fn set_orig_secondary_execution_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 140>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<148, 5>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 153>(value); self }
    /** Writes MDTradeEntryID. */ #[inline] pub fn set_md_trade_entry_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 157>(value); self }
    /** Writes LastQty. */ #[inline] pub fn set_last_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 161>(value); self }
    /** Writes SideTradeID. */ #[inline] pub fn set_side_trade_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 165>(value); self }
    /** Writes OrigSideTradeID. */ #[inline] pub fn set_orig_side_trade_id(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 169>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes TradeDate. */ #[inline] pub fn set_trade_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 173>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes OrdStatus. */ #[inline] pub fn set_ord_status(&mut self, value: OrdStatusTrdCxl) -> &mut Self { self.0.store::<u8, 175>(value.0); self }
    /** Writes ExecType. */ #[inline] pub fn set_exec_type(&mut self, value: ExecTypTrdCxl) -> &mut Self { self.0.store::<u8, 176>(value.0); self }
    /** Writes OrdType. */ #[inline] pub fn set_ord_type(&mut self, value: impl Into<Option<OrderType>>) -> &mut Self { self.0.store::<u8, 177>(value.into().map_or(0, |v| v.0)); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: SideReq) -> &mut Self { self.0.store::<u8, 178>(value.0); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 179>(value.0); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 180>(value.0); self }
    /** Writes TotalNumSecurities. */ #[inline] pub fn set_total_num_securities(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 181>(value); self }
    /** Writes ExecInst. */ #[inline] pub fn set_exec_inst(&mut self, value: ExecInst) -> &mut Self { self.0.store::<u8, 182>(value.0); self }
    /** Writes ExecutionMode. */ #[inline] pub fn set_execution_mode(&mut self, value: impl Into<Option<ExecMode>>) -> &mut Self { self.0.store::<u8, 183>(value.into().map_or(0, |v| v.0)); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 184>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ManagedOrder. */ #[inline] pub fn set_managed_order(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 185>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ShortSaleType. */ #[inline] pub fn set_short_sale_type(&mut self, value: impl Into<Option<ShortSaleType>>) -> &mut Self { self.0.store::<u8, 186>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ExecRefID. */ #[inline] pub fn set_exec_ref_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<187, 40>(value.as_ref()); self }
}

impl ExecutionReportTradeAddendumSpread549Groups<'_> {
    /// Starts the group NoFills.
    #[inline] pub fn no_fills(&mut self) -> Result<GroupEncoder<'_, NoFills<'_>>, EncodeError> { self.0.open(0) }
    /// Starts the group NoLegs.
    #[inline] pub fn no_legs(&mut self) -> Result<GroupEncoder<'_, NoLegs<'_>>, EncodeError> { self.0.open(1) }
    /// Starts the group NoOrderEvents.
    #[inline] pub fn no_order_events(&mut self) -> Result<GroupEncoder<'_, NoOrderEvents<'_>>, EncodeError> { self.0.open(2) }
}

hairpin_sbe::entry! {
    /// An entry of NoFills (tag 1362): block of 15 bytes.
    NoFills, NoFillsEncoder, 15, 0
}

impl<'a> NoFills<'a> {
    /// FillPx (tag 1364), bytes 0..8.
    #[inline] pub fn fill_px(&self) -> Price9 { Decimal(self.0.load::<i64, 0>()) }
    /// FillQty (tag 1365), bytes 8..12.
    #[inline] pub fn fill_qty(&self) -> u32 { self.0.load::<u32, 8>() }
    /// FillExecID (tag 1363), bytes 12..14.
    #[inline] pub fn fill_exec_id(&self) -> CharArray<'a> { self.0.chars::<12, 2>() }
    /// FillYieldType (tag 1622), bytes 14..15.
    #[inline] pub fn fill_yield_type(&self) -> u8 { self.0.load::<u8, 14>() }
}

impl NoFillsEncoder<'_> {
    /** Writes FillPx. */ #[inline] pub fn set_fill_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 0>(value.0); self }
    /** Writes FillQty. */ #[inline] pub fn set_fill_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 8>(value); self }
    /** Writes FillExecID. */ #[inline] pub fn set_fill_exec_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 2>(value.as_ref()); self }
    /** Writes FillYieldType. */ #[inline] pub fn set_fill_yield_type(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 14>(value); self }
}

hairpin_sbe::entry! {
    /// An entry of NoLegs (tag 555): block of 41 bytes.
    NoLegs, NoLegsEncoder, 41, 1
}

impl NoLegs<'_> {
    /// LegExecID (tag 1893), bytes 0..8.
    #[inline] pub fn leg_exec_id(&self) -> u64 { self.0.load::<u64, 0>() }
    /// LegLastPx (tag 637), bytes 8..16.
    #[inline] pub fn leg_last_px(&self) -> Price9 { Decimal(self.0.load::<i64, 8>()) }
    /// LegExecRefID (tag 1901), bytes 16..24.
    #[inline] pub fn leg_exec_ref_id(&self) -> Option<u64> { self.0.nullable::<u64, 16>(u64::MAX) }
    /// LegTradeID (tag 1894), bytes 24..28.
    #[inline] pub fn leg_trade_id(&self) -> u32 { self.0.load::<u32, 24>() }
    /// LegTradeRefID (tag 39023), bytes 28..32.
    #[inline] pub fn leg_trade_ref_id(&self) -> Option<u32> { self.0.nullable::<u32, 28>(u32::MAX) }
    /// LegSecurityID (tag 602), bytes 32..36.
    #[inline] pub fn leg_security_id(&self) -> i32 { self.0.load::<i32, 32>() }
    /// LegLastQty (tag 1418), bytes 36..40.
    #[inline] pub fn leg_last_qty(&self) -> u32 { self.0.load::<u32, 36>() }
    /// LegSide (tag 624), bytes 40..41.
    #[inline] pub fn leg_side(&self) -> SideReq { SideReq(self.0.load::<u8, 40>()) }
}

impl NoLegsEncoder<'_> {
    /** Writes LegExecID. */ #[inline] pub fn set_leg_exec_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes LegLastPx. */ #[inline] pub fn set_leg_last_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 8>(value.0); self }
    /** Writes LegExecRefID. */ #[inline] pub fn set_leg_exec_ref_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 16>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes LegTradeID. */ #[inline] pub fn set_leg_trade_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 24>(value); self }
    /** Writes LegTradeRefID. */ #[inline] pub fn set_leg_trade_ref_id(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 28>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes LegSecurityID. */ #[inline] pub fn set_leg_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 32>(value); self }
    /** Writes LegLastQty. */ #[inline] pub fn set_leg_last_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 36>(value); self }
    /** Writes LegSide. */ #[inline] pub fn set_leg_side(&mut self, value: SideReq) -> &mut Self { self.0.store::<u8, 40>(value.0); self }
}

hairpin_sbe::entry! {
    /// An entry of NoOrderEvents (tag 1795): block of 27 bytes.
    NoOrderEvents, NoOrderEventsEncoder, 27, 2
}

impl<'a> NoOrderEvents<'a> {
    /// OrderEventPx (tag 1799), bytes 0..8.
    #[inline] pub fn order_event_px(&self) -> Price9 { Decimal(self.0.load::<i64, 0>()) }
    /// OrderEventText (tag 1802), bytes 8..13.
    #[inline] pub fn order_event_text(&self) -> CharArray<'a> { self.0.chars::<8, 5>() }
    /// OrderEventExecID (tag 1797), bytes 13..17.
    #[inline] pub fn order_event_exec_id(&self) -> u32 { self.0.load::<u32, 13>() }
    /// OrderEventQty (tag 1800), bytes 17..21.
    #[inline] pub fn order_event_qty(&self) -> u32 { self.0.load::<u32, 17>() }
    /// OrderEventType (tag 1796), bytes 21..22.
    #[inline] pub fn order_event_type(&self) -> TradeAddendum { TradeAddendum(self.0.load::<u8, 21>()) }
    /// OrderEventReason (tag 1798), bytes 22..23.
    #[inline] pub fn order_event_reason(&self) -> u8 { self.0.load::<u8, 22>() }
    /// OriginalOrderEventExecID (tag 6555), bytes 23..27, since version 3.
    #[inline] pub fn original_order_event_exec_id(&self) -> Option<u32> { self.0.nullable::<u32, 23>(u32::MAX) }
}

impl NoOrderEventsEncoder<'_> {
    /** Writes OrderEventPx. */ #[inline] pub fn set_order_event_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 0>(value.0); self }
    /** Writes OrderEventText. */ #[inline] pub fn set_order_event_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<8, 5>(value.as_ref()); self }
    /** Writes OrderEventExecID. */ #[inline] pub fn set_order_event_exec_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 13>(value); self }
    /** Writes OrderEventQty. */ #[inline] pub fn set_order_event_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes OrderEventType. */ #[inline] pub fn set_order_event_type(&mut self, value: TradeAddendum) -> &mut Self { self.0.store::<u8, 21>(value.0); self }
    /** Writes OrderEventReason. */ #[inline] pub fn set_order_event_reason(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 22>(value); self }
    /** Writes OriginalOrderEventExecID. */ #[inline] pub fn set_original_order_event_exec_id(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 23>(value.into().unwrap_or(u32::MAX)); self }
}
