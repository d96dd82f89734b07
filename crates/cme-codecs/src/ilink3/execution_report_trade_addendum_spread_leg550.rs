//! ExecutionReportTradeAddendumSpreadLeg550, template 550. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, EncodeError, Field, Float, Group, GroupEncoder, GroupLayout, Message};

/// The layout of ExecutionReportTradeAddendumSpreadLeg550.
pub const MESSAGE: Message = Message {
    name: "ExecutionReportTradeAddendumSpreadLeg550", template_id: 550, schema_id: 8, version: 9, semantic_type: "8",
    block: BlockLayout::new(236, 0, FIELDS),
    groups: &[
        GroupLayout::new("NoFills", 1362, 0, kind::GROUP_SIZE, BlockLayout::new(15, 0, NO_FILLS)),
        GroupLayout::new("NoOrderEvents", 1795, 0, kind::GROUP_SIZE, BlockLayout::new(45, 0, NO_ORDER_EVENTS)),
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
    Field::new("LastQty", 32, 157, 0, &kind::U_INT32),
    Field::new("SideTradeID", 1506, 161, 0, &kind::U_INT32),
    Field::new("OrigSideTradeID", 1507, 165, 0, &kind::U_INT32NULL),
    Field::new("TradeDate", 75, 169, 0, &kind::LOCAL_MKT_DATE),
    Field::new("OrdStatus", 39, 171, 0, &kind::ORD_STATUS_TRD_CXL),
    Field::new("ExecType", 150, 172, 0, &kind::EXEC_TYP_TRD_CXL),
    Field::new("ManualOrderIndicator", 1028, 173, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("PossRetransFlag", 9765, 174, 0, &kind::BOOLEAN_FLAG),
    Field::new("Side", 54, 175, 5, &kind::SIDE_REQ),
    Field::new("SettlDate", 64, 176, 6, &kind::LOCAL_MKT_DATE),
    Field::new("CalculatedCcyLastQty", 1056, 178, 6, &kind::DECIMAL64NULL),
    Field::new("GrossTradeAmt", 381, 187, 6, &kind::DECIMAL64NULL),
    Field::new("ExecRefID", 19, 196, 9, &kind::STRING40),
];
const NO_FILLS: &[Field] = &[
    Field::new("FillPx", 1364, 0, 0, &kind::PRICE9),
    Field::new("FillQty", 1365, 8, 0, &kind::U_INT32),
    Field::new("FillExecID", 1363, 12, 0, &kind::STRING2),
    Field::new("FillYieldType", 1622, 14, 0, &kind::U_INT8),
];
const NO_ORDER_EVENTS: &[Field] = &[
    Field::new("OrderEventPx", 1799, 0, 0, &kind::PRICE9),
    Field::new("OrderEventText", 1802, 8, 0, &kind::STRING5),
    Field::new("OrderEventExecID", 1797, 13, 0, &kind::U_INT32),
    Field::new("OrderEventQty", 1800, 17, 0, &kind::U_INT32),
    Field::new("OrderEventType", 1796, 21, 0, &kind::TRADE_ADDENDUM),
    Field::new("OrderEventReason", 1798, 22, 0, &kind::U_INT8),
    Field::new("OriginalOrderEventExecID", 6555, 23, 3, &kind::U_INT32NULL),
    Field::new("ContraGrossTradeAmt", 5542, 27, 9, &kind::DECIMAL64NULL),
    Field::new("ContraCalculatedCcyLastQty", 5971, 36, 9, &kind::DECIMAL64NULL),
];

hairpin_sbe::message! {
    /// ExecutionReportTradeAddendumSpreadLeg550: message type 8, template 550, block of 236 bytes, 2 groups.
    ExecutionReportTradeAddendumSpreadLeg550, ExecutionReportTradeAddendumSpreadLeg550Encoder, 236, ExecutionReportTradeAddendumSpreadLeg550Groups, 2
}

impl<'a> ExecutionReportTradeAddendumSpreadLeg550<'a> {
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
    /// LastQty (tag 32), bytes 157..161.
    #[inline] pub fn last_qty(&self) -> u32 { self.0.block.load::<u32, 157>() }
    /// SideTradeID (tag 1506), bytes 161..165.
    #[inline] pub fn side_trade_id(&self) -> u32 { self.0.block.load::<u32, 161>() }
    /// OrigSideTradeID (tag 1507), bytes 165..169.
    #[inline] pub fn orig_side_trade_id(&self) -> Option<u32> { self.0.block.nullable::<u32, 165>(u32::MAX) }
    /// TradeDate (tag 75), bytes 169..171.
    #[inline] pub fn trade_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 169>(u16::MAX) }
    /// OrdStatus (tag 39), bytes 171..172.
    #[inline] pub fn ord_status(&self) -> OrdStatusTrdCxl { OrdStatusTrdCxl(self.0.block.load::<u8, 171>()) }
    /// ExecType (tag 150), bytes 172..173.
    #[inline] pub fn exec_type(&self) -> ExecTypTrdCxl { ExecTypTrdCxl(self.0.block.load::<u8, 172>()) }
    /// ManualOrderIndicator (tag 1028), bytes 173..174.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 173>()) }
    /// PossRetransFlag (tag 9765), bytes 174..175.
    #[inline] pub fn poss_retrans_flag(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 174>()) }
    /// Side (tag 54), bytes 175..176, since version 5.
    #[inline] pub fn side(&self) -> Option<SideReq> { self.0.block.nullable::<u8, 175>(u8::MAX).map(SideReq) }
    /// SettlDate (tag 64), bytes 176..178, since version 6.
    #[inline] pub fn settl_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 176>(u16::MAX) }
    /// CalculatedCcyLastQty (tag 1056), bytes 178..187, since version 6.
    #[inline] pub fn calculated_ccy_last_qty(&self) -> Option<Float> { self.0.block.float64::<178, 186>() }
    /// GrossTradeAmt (tag 381), bytes 187..196, since version 6.
    #[inline] pub fn gross_trade_amt(&self) -> Option<Float> { self.0.block.float64::<187, 195>() }
    /// ExecRefID (tag 19), bytes 196..236, since version 9.
    #[inline] pub fn exec_ref_id(&self) -> CharArray<'a> { self.0.block.chars::<196, 40>() }
    /// NoFills (tag 1362).
    #[inline] pub fn no_fills(&self) -> Group<'a, NoFills<'a>> { Group::new(self.0.group(0)) }
    /// NoOrderEvents (tag 1795).
    #[inline] pub fn no_order_events(&self) -> Group<'a, NoOrderEvents<'a>> { Group::new(self.0.group(1)) }
}

impl ExecutionReportTradeAddendumSpreadLeg550Encoder<'_> {
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
    /** Writes LastQty. */ #[inline] pub fn set_last_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 157>(value); self }
    /** Writes SideTradeID. */ #[inline] pub fn set_side_trade_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 161>(value); self }
    /** Writes OrigSideTradeID. */ #[inline] pub fn set_orig_side_trade_id(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 165>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes TradeDate. */ #[inline] pub fn set_trade_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 169>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes OrdStatus. */ #[inline] pub fn set_ord_status(&mut self, value: OrdStatusTrdCxl) -> &mut Self { self.0.store::<u8, 171>(value.0); self }
    /** Writes ExecType. */ #[inline] pub fn set_exec_type(&mut self, value: ExecTypTrdCxl) -> &mut Self { self.0.store::<u8, 172>(value.0); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 173>(value.0); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 174>(value.0); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: impl Into<Option<SideReq>>) -> &mut Self { self.0.store::<u8, 175>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes SettlDate. */ #[inline] pub fn set_settl_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 176>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes CalculatedCcyLastQty. */ #[inline] pub fn set_calculated_ccy_last_qty(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float64::<178, 186>(value.into()); self }
    /** Writes GrossTradeAmt. */ #[inline] pub fn set_gross_trade_amt(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float64::<187, 195>(value.into()); self }
    /** Writes ExecRefID. */ #[inline] pub fn set_exec_ref_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<196, 40>(value.as_ref()); self }
}

impl ExecutionReportTradeAddendumSpreadLeg550Groups<'_> {
    /// Starts the group NoFills.
    #[inline] pub fn no_fills(&mut self) -> Result<GroupEncoder<'_, NoFills<'_>>, EncodeError> { self.0.open(0) }
    /// Starts the group NoOrderEvents.
    #[inline] pub fn no_order_events(&mut self) -> Result<GroupEncoder<'_, NoOrderEvents<'_>>, EncodeError> { self.0.open(1) }
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
    /// An entry of NoOrderEvents (tag 1795): block of 45 bytes.
    NoOrderEvents, NoOrderEventsEncoder, 45, 1
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
    /// ContraGrossTradeAmt (tag 5542), bytes 27..36, since version 9.
    #[inline] pub fn contra_gross_trade_amt(&self) -> Option<Float> { self.0.float64::<27, 35>() }
    /// ContraCalculatedCcyLastQty (tag 5971), bytes 36..45, since version 9.
    #[inline] pub fn contra_calculated_ccy_last_qty(&self) -> Option<Float> { self.0.float64::<36, 44>() }
}

impl NoOrderEventsEncoder<'_> {
    /** Writes OrderEventPx. */ #[inline] pub fn set_order_event_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 0>(value.0); self }
    /** Writes OrderEventText. */ #[inline] pub fn set_order_event_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<8, 5>(value.as_ref()); self }
    /** Writes OrderEventExecID. */ #[inline] pub fn set_order_event_exec_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 13>(value); self }
    /** Writes OrderEventQty. */ #[inline] pub fn set_order_event_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes OrderEventType. */ #[inline] pub fn set_order_event_type(&mut self, value: TradeAddendum) -> &mut Self { self.0.store::<u8, 21>(value.0); self }
    /** Writes OrderEventReason. */ #[inline] pub fn set_order_event_reason(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 22>(value); self }
    /** Writes OriginalOrderEventExecID. */ #[inline] pub fn set_original_order_event_exec_id(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 23>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes ContraGrossTradeAmt. */ #[inline] pub fn set_contra_gross_trade_amt(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float64::<27, 35>(value.into()); self }
    /** Writes ContraCalculatedCcyLastQty. */ #[inline] pub fn set_contra_calculated_ccy_last_qty(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float64::<36, 44>(value.into()); self }
}
