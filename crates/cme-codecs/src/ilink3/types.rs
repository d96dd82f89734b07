//! Enumerations, sets and decimals. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use hairpin_sbe::{Decimal, Named};

/// Decimal in units of 10^-9.
pub type Price9 = Decimal<-9>;
/// The decimal with this mantissa.
#[allow(non_snake_case)]
#[inline] pub const fn Price9(mantissa: i64) -> Price9 { Decimal(mantissa) }

/// AvgPxInd, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AvgPxInd(pub u8);

impl AvgPxInd {
    /// NoAveragePricing.
    pub const NO_AVERAGE_PRICING: Self = Self(0);
    /// TradeispartofanAveragePriceGroupIdentifiedbytheAvgPxGrpID.
    pub const TRADEISPARTOFAN_AVERAGE_PRICE_GROUP_IDENTIFIEDBYTHE_AVG_PX_GRP_ID: Self = Self(1);
    /// TradeispartofaNotionalValueAveragePriceGroup.
    pub const TRADEISPARTOFA_NOTIONAL_VALUE_AVERAGE_PRICE_GROUP: Self = Self(3);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("NoAveragePricing", 0, 0), Named::new("TradeispartofanAveragePriceGroupIdentifiedbytheAvgPxGrpID", 1, 0), Named::new("TradeispartofaNotionalValueAveragePriceGroup", 3, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// BooleanFlag, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BooleanFlag(pub u8);

impl BooleanFlag {
    /// False.
    pub const FALSE: Self = Self(0);
    /// True.
    pub const TRUE: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("False", 0, 0), Named::new("True", 1, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// BooleanNULL, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BooleanNULL(pub u8);

impl BooleanNULL {
    /// False.
    pub const FALSE: Self = Self(0);
    /// True.
    pub const TRUE: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("False", 0, 0), Named::new("True", 1, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ClearingAcctType, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClearingAcctType(pub u8);

impl ClearingAcctType {
    /// Customer.
    pub const CUSTOMER: Self = Self(0);
    /// Firm.
    pub const FIRM: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Customer", 0, 0), Named::new("Firm", 1, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// CmtaGiveUpCD, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CmtaGiveUpCD(pub u8);

impl CmtaGiveUpCD {
    /// GiveUp.
    pub const GIVE_UP: Self = Self(b'G');
    /// SGXoffset.
    pub const SG_XOFFSET: Self = Self(b'S');
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("GiveUp", 71, 0), Named::new("SGXoffset", 83, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// CrossTypeEnum, a named or unnamed value in a `u8`, since version 9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CrossTypeEnum(pub u8);

impl CrossTypeEnum {
    /// Cross.
    pub const CROSS: Self = Self(3);
    /// RCross.
    pub const R_CROSS: Self = Self(20);
    /// CCross.
    pub const C_CROSS: Self = Self(21);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Cross", 3, 0), Named::new("RCross", 20, 0), Named::new("CCross", 21, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// CustOrdHandlInst, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CustOrdHandlInst(pub u8);

impl CustOrdHandlInst {
    /// FCMprovidedscreen.
    pub const FC_MPROVIDEDSCREEN: Self = Self(b'C');
    /// Otherprovidedscreen.
    pub const OTHERPROVIDEDSCREEN: Self = Self(b'D');
    /// FCMAPIorFIX.
    pub const FCMAP_IOR_FIX: Self = Self(b'G');
    /// AlgoEngine.
    pub const ALGO_ENGINE: Self = Self(b'H');
    /// DeskElectronic.
    pub const DESK_ELECTRONIC: Self = Self(b'W');
    /// ClientElectronic.
    pub const CLIENT_ELECTRONIC: Self = Self(b'Y');
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("FCMprovidedscreen", 67, 0), Named::new("Otherprovidedscreen", 68, 0), Named::new("FCMAPIorFIX", 71, 0), Named::new("AlgoEngine", 72, 0), Named::new("DeskElectronic", 87, 0), Named::new("ClientElectronic", 89, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// CustOrderCapacity, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CustOrderCapacity(pub u8);

impl CustOrderCapacity {
    /// Membertradingfortheirownaccount.
    pub const MEMBERTRADINGFORTHEIROWNACCOUNT: Self = Self(1);
    /// Memberfirmtradingforitsproprietaryaccount.
    pub const MEMBERFIRMTRADINGFORITSPROPRIETARYACCOUNT: Self = Self(2);
    /// Membertradingforanothermemberornonmember.
    pub const MEMBERTRADINGFORANOTHERMEMBERORNONMEMBER: Self = Self(3);
    /// Allother.
    pub const ALLOTHER: Self = Self(4);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Membertradingfortheirownaccount", 1, 0), Named::new("Memberfirmtradingforitsproprietaryaccount", 2, 0), Named::new("Membertradingforanothermemberornonmember", 3, 0), Named::new("Allother", 4, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// DKReason, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DKReason(pub u8);

impl DKReason {
    /// UnknownSecurity.
    pub const UNKNOWN_SECURITY: Self = Self(b'A');
    /// WrongSide.
    pub const WRONG_SIDE: Self = Self(b'B');
    /// QuantityExceedsOrder.
    pub const QUANTITY_EXCEEDS_ORDER: Self = Self(b'C');
    /// NoMatchingOrder.
    pub const NO_MATCHING_ORDER: Self = Self(b'D');
    /// PriceExceedsLimit.
    pub const PRICE_EXCEEDS_LIMIT: Self = Self(b'E');
    /// CalculationDifference.
    pub const CALCULATION_DIFFERENCE: Self = Self(b'F');
    /// NoMatchingExecutionReport.
    pub const NO_MATCHING_EXECUTION_REPORT: Self = Self(b'G');
    /// Other.
    pub const OTHER: Self = Self(b'Z');
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("UnknownSecurity", 65, 0), Named::new("WrongSide", 66, 0), Named::new("QuantityExceedsOrder", 67, 0), Named::new("NoMatchingOrder", 68, 0), Named::new("PriceExceedsLimit", 69, 0), Named::new("CalculationDifference", 70, 0), Named::new("NoMatchingExecutionReport", 71, 0), Named::new("Other", 90, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ExecAckStatus, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecAckStatus(pub u8);

impl ExecAckStatus {
    /// Accepted.
    pub const ACCEPTED: Self = Self(1);
    /// Rejected.
    pub const REJECTED: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Accepted", 1, 0), Named::new("Rejected", 2, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ExecInst, a set of bits in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ExecInst(pub u8);

impl ExecInst {
    /// AON.
    pub const AON: Self = Self(1 << 0);
    /// OB.
    pub const OB: Self = Self(1 << 1);
    /// NH.
    pub const NH: Self = Self(1 << 2);
    /// Reserved1.
    pub const RESERVED1: Self = Self(1 << 3);
    /// Reserved2.
    pub const RESERVED2: Self = Self(1 << 4);
    /// Reserved3.
    pub const RESERVED3: Self = Self(1 << 5);
    /// Reserved4.
    pub const RESERVED4: Self = Self(1 << 6);
    /// Reserved5.
    pub const RESERVED5: Self = Self(1 << 7);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("AON", 0, 0), Named::new("OB", 1, 0), Named::new("NH", 2, 0), Named::new("Reserved1", 3, 0), Named::new("Reserved2", 4, 0), Named::new("Reserved3", 5, 0), Named::new("Reserved4", 6, 0), Named::new("Reserved5", 7, 0)];
    /// Returns `true` if all bits of `other` are set.
    #[inline] pub const fn contains(self, other: Self) -> bool { self.0 & other.0 == other.0 }
}

impl core::ops::BitOr for ExecInst {
    type Output = Self;
    #[inline] fn bitor(self, other: Self) -> Self { Self(self.0 | other.0) }
}

/// ExecMode, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecMode(pub u8);

impl ExecMode {
    /// Aggressive.
    pub const AGGRESSIVE: Self = Self(b'A');
    /// Passive.
    pub const PASSIVE: Self = Self(b'P');
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Aggressive", 65, 0), Named::new("Passive", 80, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ExecReason, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecReason(pub u8);

impl ExecReason {
    /// MarketExchangeOption.
    pub const MARKET_EXCHANGE_OPTION: Self = Self(8);
    /// CancelledNotBest.
    pub const CANCELLED_NOT_BEST: Self = Self(9);
    /// CancelOnDisconnect.
    pub const CANCEL_ON_DISCONNECT: Self = Self(100);
    /// SelfMatchPreventionOldestOrderCancelled.
    pub const SELF_MATCH_PREVENTION_OLDEST_ORDER_CANCELLED: Self = Self(103);
    /// CancelOnGlobexCreditControlsViolation.
    pub const CANCEL_ON_GLOBEX_CREDIT_CONTROLS_VIOLATION: Self = Self(104);
    /// CancelFromFirmsoft.
    pub const CANCEL_FROM_FIRMSOFT: Self = Self(105);
    /// CancelFromRiskManagementAPI.
    pub const CANCEL_FROM_RISK_MANAGEMENT_API: Self = Self(106);
    /// SelfMatchPreventionNewestOrderCancelled.
    pub const SELF_MATCH_PREVENTION_NEWEST_ORDER_CANCELLED: Self = Self(107);
    /// Cancelduetovolquotedoptionorderrestedqtylessthanminordersize.
    pub const CANCELDUETOVOLQUOTEDOPTIONORDERRESTEDQTYLESSTHANMINORDERSIZE: Self = Self(108);
    /// CancelRFCOrder, since version 8.
    pub const CANCEL_RFC_ORDER: Self = Self(109);
    /// CancelUponContractExpiration, since version 8.
    pub const CANCEL_UPON_CONTRACT_EXPIRATION: Self = Self(110);
    /// SystemCancel, since version 8.
    pub const SYSTEM_CANCEL: Self = Self(111);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("MarketExchangeOption", 8, 0), Named::new("CancelledNotBest", 9, 0), Named::new("CancelOnDisconnect", 100, 0), Named::new("SelfMatchPreventionOldestOrderCancelled", 103, 0), Named::new("CancelOnGlobexCreditControlsViolation", 104, 0), Named::new("CancelFromFirmsoft", 105, 0), Named::new("CancelFromRiskManagementAPI", 106, 0), Named::new("SelfMatchPreventionNewestOrderCancelled", 107, 0), Named::new("Cancelduetovolquotedoptionorderrestedqtylessthanminordersize", 108, 0), Named::new("CancelRFCOrder", 109, 8), Named::new("CancelUponContractExpiration", 110, 8), Named::new("SystemCancel", 111, 8)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ExecTypTrdCxl, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecTypTrdCxl(pub u8);

impl ExecTypTrdCxl {
    /// TradeCorrection.
    pub const TRADE_CORRECTION: Self = Self(b'G');
    /// TradeCancel.
    pub const TRADE_CANCEL: Self = Self(b'H');
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("TradeCorrection", 71, 0), Named::new("TradeCancel", 72, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ExpCycle, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExpCycle(pub u8);

impl ExpCycle {
    /// ExpireOnTradingSessionClose.
    pub const EXPIRE_ON_TRADING_SESSION_CLOSE: Self = Self(0);
    /// Expirationatgivendate.
    pub const EXPIRATIONATGIVENDATE: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("ExpireOnTradingSessionClose", 0, 0), Named::new("Expirationatgivendate", 2, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// FTI, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FTI(pub u8);

impl FTI {
    /// Backup.
    pub const BACKUP: Self = Self(0);
    /// Primary.
    pub const PRIMARY: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Backup", 0, 0), Named::new("Primary", 1, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// KeepAliveLapsed, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeepAliveLapsed(pub u8);

impl KeepAliveLapsed {
    /// NotLapsed.
    pub const NOT_LAPSED: Self = Self(0);
    /// Lapsed.
    pub const LAPSED: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("NotLapsed", 0, 0), Named::new("Lapsed", 1, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ListUpdAct, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListUpdAct(pub u8);

impl ListUpdAct {
    /// Add.
    pub const ADD: Self = Self(b'A');
    /// Delete.
    pub const DELETE: Self = Self(b'D');
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Add", 65, 0), Named::new("Delete", 68, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ManualOrdInd, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ManualOrdInd(pub u8);

impl ManualOrdInd {
    /// Automated.
    pub const AUTOMATED: Self = Self(0);
    /// Manual.
    pub const MANUAL: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Automated", 0, 0), Named::new("Manual", 1, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ManualOrdIndReq, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ManualOrdIndReq(pub u8);

impl ManualOrdIndReq {
    /// Automated.
    pub const AUTOMATED: Self = Self(0);
    /// Manual.
    pub const MANUAL: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Automated", 0, 0), Named::new("Manual", 1, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassActionOrdTyp, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassActionOrdTyp(pub u8);

impl MassActionOrdTyp {
    /// Limit.
    pub const LIMIT: Self = Self(b'2');
    /// StopLimit.
    pub const STOP_LIMIT: Self = Self(b'4');
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Limit", 50, 0), Named::new("StopLimit", 52, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassActionResponse, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassActionResponse(pub u8);

impl MassActionResponse {
    /// Rejected.
    pub const REJECTED: Self = Self(0);
    /// Accepted.
    pub const ACCEPTED: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Rejected", 0, 0), Named::new("Accepted", 1, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassActionScope, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassActionScope(pub u8);

impl MassActionScope {
    /// Instrument.
    pub const INSTRUMENT: Self = Self(1);
    /// All.
    pub const ALL: Self = Self(7);
    /// MarketSegmentID.
    pub const MARKET_SEGMENT_ID: Self = Self(9);
    /// InstrumentGroup.
    pub const INSTRUMENT_GROUP: Self = Self(10);
    /// QuoteSetID.
    pub const QUOTE_SET_ID: Self = Self(100);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Instrument", 1, 0), Named::new("All", 7, 0), Named::new("MarketSegmentID", 9, 0), Named::new("InstrumentGroup", 10, 0), Named::new("QuoteSetID", 100, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassCancelTIF, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassCancelTIF(pub u8);

impl MassCancelTIF {
    /// Day.
    pub const DAY: Self = Self(0);
    /// GoodTillCancel.
    pub const GOOD_TILL_CANCEL: Self = Self(1);
    /// GoodTillDate.
    pub const GOOD_TILL_DATE: Self = Self(6);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Day", 0, 0), Named::new("GoodTillCancel", 1, 0), Named::new("GoodTillDate", 6, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassCxlReqTyp, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassCxlReqTyp(pub u8);

impl MassCxlReqTyp {
    /// SenderSubID.
    pub const SENDER_SUB_ID: Self = Self(100);
    /// Account.
    pub const ACCOUNT: Self = Self(101);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("SenderSubID", 100, 0), Named::new("Account", 101, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassStatusOrdTyp, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassStatusOrdTyp(pub u8);

impl MassStatusOrdTyp {
    /// SenderSubID.
    pub const SENDER_SUB_ID: Self = Self(100);
    /// Account.
    pub const ACCOUNT: Self = Self(101);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("SenderSubID", 100, 0), Named::new("Account", 101, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassStatusReqTyp, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassStatusReqTyp(pub u8);

impl MassStatusReqTyp {
    /// Instrument.
    pub const INSTRUMENT: Self = Self(1);
    /// InstrumentGroup.
    pub const INSTRUMENT_GROUP: Self = Self(3);
    /// AllOrders, since version 8.
    pub const ALL_ORDERS: Self = Self(7);
    /// MarketSegment.
    pub const MARKET_SEGMENT: Self = Self(100);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Instrument", 1, 0), Named::new("InstrumentGroup", 3, 0), Named::new("AllOrders", 7, 8), Named::new("MarketSegment", 100, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassStatusTIF, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassStatusTIF(pub u8);

impl MassStatusTIF {
    /// Day.
    pub const DAY: Self = Self(0);
    /// GTC.
    pub const GTC: Self = Self(1);
    /// GTD.
    pub const GTD: Self = Self(6);
    /// GFS, since version 6.
    pub const GFS: Self = Self(99);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Day", 0, 0), Named::new("GTC", 1, 0), Named::new("GTD", 6, 0), Named::new("GFS", 99, 6)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OFMOverrideReq, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OFMOverrideReq(pub u8);

impl OFMOverrideReq {
    /// Disabled.
    pub const DISABLED: Self = Self(0);
    /// Enabled.
    pub const ENABLED: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Disabled", 0, 0), Named::new("Enabled", 1, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OrdStatusTrd, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrdStatusTrd(pub u8);

impl OrdStatusTrd {
    /// PartiallyFilled.
    pub const PARTIALLY_FILLED: Self = Self(1);
    /// Filled.
    pub const FILLED: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("PartiallyFilled", 1, 0), Named::new("Filled", 2, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OrdStatusTrdCxl, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrdStatusTrdCxl(pub u8);

impl OrdStatusTrdCxl {
    /// TradeCorrection.
    pub const TRADE_CORRECTION: Self = Self(b'G');
    /// TradeCancel.
    pub const TRADE_CANCEL: Self = Self(b'H');
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("TradeCorrection", 71, 0), Named::new("TradeCancel", 72, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OrderEventType, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderEventType(pub u8);

impl OrderEventType {
    /// PartiallyFilled.
    pub const PARTIALLY_FILLED: Self = Self(4);
    /// Filled.
    pub const FILLED: Self = Self(5);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("PartiallyFilled", 4, 0), Named::new("Filled", 5, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OrderStatus, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderStatus(pub u8);

impl OrderStatus {
    /// New.
    pub const NEW: Self = Self(b'0');
    /// PartiallyFilled.
    pub const PARTIALLY_FILLED: Self = Self(b'1');
    /// Filled.
    pub const FILLED: Self = Self(b'2');
    /// Cancelled.
    pub const CANCELLED: Self = Self(b'4');
    /// Replaced.
    pub const REPLACED: Self = Self(b'5');
    /// PendingCancel, since version 6.
    pub const PENDING_CANCEL: Self = Self(b'6');
    /// Rejected.
    pub const REJECTED: Self = Self(b'8');
    /// Expired.
    pub const EXPIRED: Self = Self(b'C');
    /// PendingReplace, since version 6.
    pub const PENDING_REPLACE: Self = Self(b'E');
    /// Undefined.
    pub const UNDEFINED: Self = Self(b'U');
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("New", 48, 0), Named::new("PartiallyFilled", 49, 0), Named::new("Filled", 50, 0), Named::new("Cancelled", 52, 0), Named::new("Replaced", 53, 0), Named::new("PendingCancel", 54, 6), Named::new("Rejected", 56, 0), Named::new("Expired", 67, 0), Named::new("PendingReplace", 69, 6), Named::new("Undefined", 85, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OrderType, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderType(pub u8);

impl OrderType {
    /// MarketWithProtection.
    pub const MARKET_WITH_PROTECTION: Self = Self(b'1');
    /// Limit.
    pub const LIMIT: Self = Self(b'2');
    /// StopLimit.
    pub const STOP_LIMIT: Self = Self(b'4');
    /// MarketWithLeftoverAsLimit.
    pub const MARKET_WITH_LEFTOVER_AS_LIMIT: Self = Self(b'K');
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("MarketWithProtection", 49, 0), Named::new("Limit", 50, 0), Named::new("StopLimit", 52, 0), Named::new("MarketWithLeftoverAsLimit", 75, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OrderTypeReq, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderTypeReq(pub u8);

impl OrderTypeReq {
    /// MarketwithProtection.
    pub const MARKETWITH_PROTECTION: Self = Self(b'1');
    /// Limit.
    pub const LIMIT: Self = Self(b'2');
    /// StopwithProtection.
    pub const STOPWITH_PROTECTION: Self = Self(b'3');
    /// StopLimit.
    pub const STOP_LIMIT: Self = Self(b'4');
    /// MarketWithLeftoverAsLimit.
    pub const MARKET_WITH_LEFTOVER_AS_LIMIT: Self = Self(b'K');
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("MarketwithProtection", 49, 0), Named::new("Limit", 50, 0), Named::new("StopwithProtection", 51, 0), Named::new("StopLimit", 52, 0), Named::new("MarketWithLeftoverAsLimit", 75, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// PartyDetailRole, a named or unnamed value in a `u16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartyDetailRole(pub u16);

impl PartyDetailRole {
    /// ExecutingFirm.
    pub const EXECUTING_FIRM: Self = Self(1);
    /// CustomerAccount.
    pub const CUSTOMER_ACCOUNT: Self = Self(24);
    /// TakeUpFirm.
    pub const TAKE_UP_FIRM: Self = Self(96);
    /// Operator.
    pub const OPERATOR: Self = Self(118);
    /// TakeUpAccount.
    pub const TAKE_UP_ACCOUNT: Self = Self(1000);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("ExecutingFirm", 1, 0), Named::new("CustomerAccount", 24, 0), Named::new("TakeUpFirm", 96, 0), Named::new("Operator", 118, 0), Named::new("TakeUpAccount", 1000, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// QuoteAckStatus, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuoteAckStatus(pub u8);

impl QuoteAckStatus {
    /// Accepted.
    pub const ACCEPTED: Self = Self(0);
    /// Rejected.
    pub const REJECTED: Self = Self(5);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Accepted", 0, 0), Named::new("Rejected", 5, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// QuoteCxlStatus, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuoteCxlStatus(pub u8);

impl QuoteCxlStatus {
    /// CancelperInstrument.
    pub const CANCELPER_INSTRUMENT: Self = Self(1);
    /// CancelperInstrumentgroup.
    pub const CANCELPER_INSTRUMENTGROUP: Self = Self(3);
    /// Cancelallquotes.
    pub const CANCELALLQUOTES: Self = Self(4);
    /// Rejected.
    pub const REJECTED: Self = Self(5);
    /// CancelperQuoteSet.
    pub const CANCELPER_QUOTE_SET: Self = Self(100);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("CancelperInstrument", 1, 0), Named::new("CancelperInstrumentgroup", 3, 0), Named::new("Cancelallquotes", 4, 0), Named::new("Rejected", 5, 0), Named::new("CancelperQuoteSet", 100, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// QuoteCxlTyp, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuoteCxlTyp(pub u8);

impl QuoteCxlTyp {
    /// CancelperInstrument.
    pub const CANCELPER_INSTRUMENT: Self = Self(1);
    /// CancelperInstrumentgroup.
    pub const CANCELPER_INSTRUMENTGROUP: Self = Self(3);
    /// Cancelallquotes.
    pub const CANCELALLQUOTES: Self = Self(4);
    /// CancelperQuoteSet.
    pub const CANCELPER_QUOTE_SET: Self = Self(100);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("CancelperInstrument", 1, 0), Named::new("CancelperInstrumentgroup", 3, 0), Named::new("Cancelallquotes", 4, 0), Named::new("CancelperQuoteSet", 100, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// QuoteTyp, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuoteTyp(pub u8);

impl QuoteTyp {
    /// Tradeable.
    pub const TRADEABLE: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Tradeable", 1, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// RFQSide, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RFQSide(pub u8);

impl RFQSide {
    /// Buy.
    pub const BUY: Self = Self(1);
    /// Sell.
    pub const SELL: Self = Self(2);
    /// Cross.
    pub const CROSS: Self = Self(8);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Buy", 1, 0), Named::new("Sell", 2, 0), Named::new("Cross", 8, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ReqResult, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReqResult(pub u8);

impl ReqResult {
    /// ValidRequest.
    pub const VALID_REQUEST: Self = Self(0);
    /// NoDataFoundThatMatchedSelectionCriteria.
    pub const NO_DATA_FOUND_THAT_MATCHED_SELECTION_CRITERIA: Self = Self(2);
    /// NotAuthorizedtoRetrieveData.
    pub const NOT_AUTHORIZEDTO_RETRIEVE_DATA: Self = Self(3);
    /// DataTemporarilyUnavailable.
    pub const DATA_TEMPORARILY_UNAVAILABLE: Self = Self(4);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("ValidRequest", 0, 0), Named::new("NoDataFoundThatMatchedSelectionCriteria", 2, 0), Named::new("NotAuthorizedtoRetrieveData", 3, 0), Named::new("DataTemporarilyUnavailable", 4, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SLEDS, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SLEDS(pub u8);

impl SLEDS {
    /// TradeClearingatExecutionPrice.
    pub const TRADE_CLEARINGAT_EXECUTION_PRICE: Self = Self(0);
    /// TradeClearingatAlternateClearingPrice.
    pub const TRADE_CLEARINGAT_ALTERNATE_CLEARING_PRICE: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("TradeClearingatExecutionPrice", 0, 0), Named::new("TradeClearingatAlternateClearingPrice", 1, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SMPI, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SMPI(pub u8);

impl SMPI {
    /// CancelNewest.
    pub const CANCEL_NEWEST: Self = Self(b'N');
    /// CancelOldest.
    pub const CANCEL_OLDEST: Self = Self(b'O');
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("CancelNewest", 78, 0), Named::new("CancelOldest", 79, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SecRspTyp, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecRspTyp(pub u8);

impl SecRspTyp {
    /// AcceptSecurityProposalasis.
    pub const ACCEPT_SECURITY_PROPOSALASIS: Self = Self(1);
    /// AcceptSecurityproposalwithrevisionsasindicatedinthemessage.
    pub const ACCEPT_SECURITYPROPOSALWITHREVISIONSASINDICATEDINTHEMESSAGE: Self = Self(2);
    /// RejectSecurityProposal.
    pub const REJECT_SECURITY_PROPOSAL: Self = Self(5);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("AcceptSecurityProposalasis", 1, 0), Named::new("AcceptSecurityproposalwithrevisionsasindicatedinthemessage", 2, 0), Named::new("RejectSecurityProposal", 5, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ShortSaleType, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShortSaleType(pub u8);

impl ShortSaleType {
    /// LongSell.
    pub const LONG_SELL: Self = Self(0);
    /// ShortSaleWithNoExemptionSESH.
    pub const SHORT_SALE_WITH_NO_EXEMPTION_SESH: Self = Self(1);
    /// ShortSaleWithExemptionSSEX.
    pub const SHORT_SALE_WITH_EXEMPTION_SSEX: Self = Self(2);
    /// UndisclosedSellInformationNotAvailableUNDI.
    pub const UNDISCLOSED_SELL_INFORMATION_NOT_AVAILABLE_UNDI: Self = Self(3);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("LongSell", 0, 0), Named::new("ShortSaleWithNoExemptionSESH", 1, 0), Named::new("ShortSaleWithExemptionSSEX", 2, 0), Named::new("UndisclosedSellInformationNotAvailableUNDI", 3, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// Side, a named or unnamed value in a `u8`, since version 9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Side(pub u8);

impl Side {
    /// Buy.
    pub const BUY: Self = Self(1);
    /// Sell.
    pub const SELL: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Buy", 1, 0), Named::new("Sell", 2, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SideNULL, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SideNULL(pub u8);

impl SideNULL {
    /// Buy.
    pub const BUY: Self = Self(1);
    /// Sell.
    pub const SELL: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Buy", 1, 0), Named::new("Sell", 2, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SideReq, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SideReq(pub u8);

impl SideReq {
    /// Buy.
    pub const BUY: Self = Self(1);
    /// Sell.
    pub const SELL: Self = Self(2);
    /// Undisclosed, since version 6.
    pub const UNDISCLOSED: Self = Self(7);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Buy", 1, 0), Named::new("Sell", 2, 0), Named::new("Undisclosed", 7, 6)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SideTimeInForce, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SideTimeInForce(pub u8);

impl SideTimeInForce {
    /// Day.
    pub const DAY: Self = Self(0);
    /// FAK.
    pub const FAK: Self = Self(3);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Day", 0, 0), Named::new("FAK", 3, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SplitMsg, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SplitMsg(pub u8);

impl SplitMsg {
    /// SplitMessageDelayed.
    pub const SPLIT_MESSAGE_DELAYED: Self = Self(0);
    /// OutofOrderMessageDelayed.
    pub const OUTOF_ORDER_MESSAGE_DELAYED: Self = Self(1);
    /// CompleteMessageDelayed.
    pub const COMPLETE_MESSAGE_DELAYED: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("SplitMessageDelayed", 0, 0), Named::new("OutofOrderMessageDelayed", 1, 0), Named::new("CompleteMessageDelayed", 2, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// TimeInForce, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeInForce(pub u8);

impl TimeInForce {
    /// Day.
    pub const DAY: Self = Self(0);
    /// GoodTillCancel.
    pub const GOOD_TILL_CANCEL: Self = Self(1);
    /// FillAndKill.
    pub const FILL_AND_KILL: Self = Self(3);
    /// FillOrKill.
    pub const FILL_OR_KILL: Self = Self(4);
    /// GoodTillDate.
    pub const GOOD_TILL_DATE: Self = Self(6);
    /// GoodForSession, since version 6.
    pub const GOOD_FOR_SESSION: Self = Self(99);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Day", 0, 0), Named::new("GoodTillCancel", 1, 0), Named::new("FillAndKill", 3, 0), Named::new("FillOrKill", 4, 0), Named::new("GoodTillDate", 6, 0), Named::new("GoodForSession", 99, 6)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// TradeAddendum, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TradeAddendum(pub u8);

impl TradeAddendum {
    /// PartiallyFilled.
    pub const PARTIALLY_FILLED: Self = Self(4);
    /// Filled.
    pub const FILLED: Self = Self(5);
    /// TradeCancel.
    pub const TRADE_CANCEL: Self = Self(100);
    /// TradeCorrection.
    pub const TRADE_CORRECTION: Self = Self(101);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("PartiallyFilled", 4, 0), Named::new("Filled", 5, 0), Named::new("TradeCancel", 100, 0), Named::new("TradeCorrection", 101, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}
