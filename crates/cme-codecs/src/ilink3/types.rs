//! Enumerations, sets and decimals. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use hairpin_sbe::{Decimal, Named};

/// Decimal in units of 10^-9.
pub type Price9 = Decimal<-9>;
/// The decimal with this mantissa.
#[allow(non_snake_case)]
#[inline] pub const fn Price9(mantissa: i64) -> Price9 { Decimal(mantissa) }

/// AvgPxInd, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AvgPxInd(
    /// As on the wire.
    pub u8,
);

impl AvgPxInd {
    /// NoAveragePricing.
    pub const NO_AVERAGE_PRICING: Self = Self(0);
    /// TradeispartofanAveragePriceGroupIdentifiedbytheAvgPxGrpID.
    pub const TRADEISPARTOFAN_AVERAGE_PRICE_GROUP_IDENTIFIEDBYTHE_AVG_PX_GRP_ID: Self = Self(1);
    /// TradeispartofaNotionalValueAveragePriceGroup.
    pub const TRADEISPARTOFA_NOTIONAL_VALUE_AVERAGE_PRICE_GROUP: Self = Self(3);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "NoAveragePricing", value: 0, since: 0 },
        Named { name: "TradeispartofanAveragePriceGroupIdentifiedbytheAvgPxGrpID", value: 1, since: 0 },
        Named { name: "TradeispartofaNotionalValueAveragePriceGroup", value: 3, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// BooleanFlag, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BooleanFlag(
    /// As on the wire.
    pub u8,
);

impl BooleanFlag {
    /// False.
    pub const FALSE: Self = Self(0);
    /// True.
    pub const TRUE: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "False", value: 0, since: 0 },
        Named { name: "True", value: 1, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// BooleanNULL, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BooleanNULL(
    /// As on the wire.
    pub u8,
);

impl BooleanNULL {
    /// False.
    pub const FALSE: Self = Self(0);
    /// True.
    pub const TRUE: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "False", value: 0, since: 0 },
        Named { name: "True", value: 1, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ClearingAcctType, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClearingAcctType(
    /// As on the wire.
    pub u8,
);

impl ClearingAcctType {
    /// Customer.
    pub const CUSTOMER: Self = Self(0);
    /// Firm.
    pub const FIRM: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Customer", value: 0, since: 0 },
        Named { name: "Firm", value: 1, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// CmtaGiveUpCD, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CmtaGiveUpCD(
    /// As on the wire.
    pub u8,
);

impl CmtaGiveUpCD {
    /// GiveUp.
    pub const GIVE_UP: Self = Self(b'G');
    /// SGXoffset.
    pub const SG_XOFFSET: Self = Self(b'S');
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "GiveUp", value: 71, since: 0 },
        Named { name: "SGXoffset", value: 83, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// CrossTypeEnum, one of the named values or another in a `u8`, since version 9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CrossTypeEnum(
    /// As on the wire.
    pub u8,
);

impl CrossTypeEnum {
    /// Cross.
    pub const CROSS: Self = Self(3);
    /// RCross.
    pub const R_CROSS: Self = Self(20);
    /// CCross.
    pub const C_CROSS: Self = Self(21);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Cross", value: 3, since: 0 },
        Named { name: "RCross", value: 20, since: 0 },
        Named { name: "CCross", value: 21, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// CustOrdHandlInst, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CustOrdHandlInst(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "FCMprovidedscreen", value: 67, since: 0 },
        Named { name: "Otherprovidedscreen", value: 68, since: 0 },
        Named { name: "FCMAPIorFIX", value: 71, since: 0 },
        Named { name: "AlgoEngine", value: 72, since: 0 },
        Named { name: "DeskElectronic", value: 87, since: 0 },
        Named { name: "ClientElectronic", value: 89, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// CustOrderCapacity, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CustOrderCapacity(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "Membertradingfortheirownaccount", value: 1, since: 0 },
        Named { name: "Memberfirmtradingforitsproprietaryaccount", value: 2, since: 0 },
        Named { name: "Membertradingforanothermemberornonmember", value: 3, since: 0 },
        Named { name: "Allother", value: 4, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// DKReason, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DKReason(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "UnknownSecurity", value: 65, since: 0 },
        Named { name: "WrongSide", value: 66, since: 0 },
        Named { name: "QuantityExceedsOrder", value: 67, since: 0 },
        Named { name: "NoMatchingOrder", value: 68, since: 0 },
        Named { name: "PriceExceedsLimit", value: 69, since: 0 },
        Named { name: "CalculationDifference", value: 70, since: 0 },
        Named { name: "NoMatchingExecutionReport", value: 71, since: 0 },
        Named { name: "Other", value: 90, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ExecAckStatus, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecAckStatus(
    /// As on the wire.
    pub u8,
);

impl ExecAckStatus {
    /// Accepted.
    pub const ACCEPTED: Self = Self(1);
    /// Rejected.
    pub const REJECTED: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Accepted", value: 1, since: 0 },
        Named { name: "Rejected", value: 2, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ExecInst, a set of bits in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ExecInst(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "AON", value: 0, since: 0 },
        Named { name: "OB", value: 1, since: 0 },
        Named { name: "NH", value: 2, since: 0 },
        Named { name: "Reserved1", value: 3, since: 0 },
        Named { name: "Reserved2", value: 4, since: 0 },
        Named { name: "Reserved3", value: 5, since: 0 },
        Named { name: "Reserved4", value: 6, since: 0 },
        Named { name: "Reserved5", value: 7, since: 0 },
    ];
    /// Whether all bits of `other` are set.
    #[inline] pub const fn contains(self, other: Self) -> bool { self.0 & other.0 == other.0 }
}

impl core::ops::BitOr for ExecInst {
    type Output = Self;
    #[inline] fn bitor(self, other: Self) -> Self { Self(self.0 | other.0) }
}

/// ExecMode, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecMode(
    /// As on the wire.
    pub u8,
);

impl ExecMode {
    /// Aggressive.
    pub const AGGRESSIVE: Self = Self(b'A');
    /// Passive.
    pub const PASSIVE: Self = Self(b'P');
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Aggressive", value: 65, since: 0 },
        Named { name: "Passive", value: 80, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ExecReason, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecReason(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "MarketExchangeOption", value: 8, since: 0 },
        Named { name: "CancelledNotBest", value: 9, since: 0 },
        Named { name: "CancelOnDisconnect", value: 100, since: 0 },
        Named { name: "SelfMatchPreventionOldestOrderCancelled", value: 103, since: 0 },
        Named { name: "CancelOnGlobexCreditControlsViolation", value: 104, since: 0 },
        Named { name: "CancelFromFirmsoft", value: 105, since: 0 },
        Named { name: "CancelFromRiskManagementAPI", value: 106, since: 0 },
        Named { name: "SelfMatchPreventionNewestOrderCancelled", value: 107, since: 0 },
        Named { name: "Cancelduetovolquotedoptionorderrestedqtylessthanminordersize", value: 108, since: 0 },
        Named { name: "CancelRFCOrder", value: 109, since: 8 },
        Named { name: "CancelUponContractExpiration", value: 110, since: 8 },
        Named { name: "SystemCancel", value: 111, since: 8 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ExecTypTrdCxl, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecTypTrdCxl(
    /// As on the wire.
    pub u8,
);

impl ExecTypTrdCxl {
    /// TradeCorrection.
    pub const TRADE_CORRECTION: Self = Self(b'G');
    /// TradeCancel.
    pub const TRADE_CANCEL: Self = Self(b'H');
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "TradeCorrection", value: 71, since: 0 },
        Named { name: "TradeCancel", value: 72, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ExpCycle, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExpCycle(
    /// As on the wire.
    pub u8,
);

impl ExpCycle {
    /// ExpireOnTradingSessionClose.
    pub const EXPIRE_ON_TRADING_SESSION_CLOSE: Self = Self(0);
    /// Expirationatgivendate.
    pub const EXPIRATIONATGIVENDATE: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "ExpireOnTradingSessionClose", value: 0, since: 0 },
        Named { name: "Expirationatgivendate", value: 2, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// FTI, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FTI(
    /// As on the wire.
    pub u8,
);

impl FTI {
    /// Backup.
    pub const BACKUP: Self = Self(0);
    /// Primary.
    pub const PRIMARY: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Backup", value: 0, since: 0 },
        Named { name: "Primary", value: 1, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// KeepAliveLapsed, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeepAliveLapsed(
    /// As on the wire.
    pub u8,
);

impl KeepAliveLapsed {
    /// NotLapsed.
    pub const NOT_LAPSED: Self = Self(0);
    /// Lapsed.
    pub const LAPSED: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "NotLapsed", value: 0, since: 0 },
        Named { name: "Lapsed", value: 1, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ListUpdAct, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListUpdAct(
    /// As on the wire.
    pub u8,
);

impl ListUpdAct {
    /// Add.
    pub const ADD: Self = Self(b'A');
    /// Delete.
    pub const DELETE: Self = Self(b'D');
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Add", value: 65, since: 0 },
        Named { name: "Delete", value: 68, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ManualOrdInd, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ManualOrdInd(
    /// As on the wire.
    pub u8,
);

impl ManualOrdInd {
    /// Automated.
    pub const AUTOMATED: Self = Self(0);
    /// Manual.
    pub const MANUAL: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Automated", value: 0, since: 0 },
        Named { name: "Manual", value: 1, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ManualOrdIndReq, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ManualOrdIndReq(
    /// As on the wire.
    pub u8,
);

impl ManualOrdIndReq {
    /// Automated.
    pub const AUTOMATED: Self = Self(0);
    /// Manual.
    pub const MANUAL: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Automated", value: 0, since: 0 },
        Named { name: "Manual", value: 1, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassActionOrdTyp, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassActionOrdTyp(
    /// As on the wire.
    pub u8,
);

impl MassActionOrdTyp {
    /// Limit.
    pub const LIMIT: Self = Self(b'2');
    /// StopLimit.
    pub const STOP_LIMIT: Self = Self(b'4');
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Limit", value: 50, since: 0 },
        Named { name: "StopLimit", value: 52, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassActionResponse, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassActionResponse(
    /// As on the wire.
    pub u8,
);

impl MassActionResponse {
    /// Rejected.
    pub const REJECTED: Self = Self(0);
    /// Accepted.
    pub const ACCEPTED: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Rejected", value: 0, since: 0 },
        Named { name: "Accepted", value: 1, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassActionScope, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassActionScope(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "Instrument", value: 1, since: 0 },
        Named { name: "All", value: 7, since: 0 },
        Named { name: "MarketSegmentID", value: 9, since: 0 },
        Named { name: "InstrumentGroup", value: 10, since: 0 },
        Named { name: "QuoteSetID", value: 100, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassCancelTIF, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassCancelTIF(
    /// As on the wire.
    pub u8,
);

impl MassCancelTIF {
    /// Day.
    pub const DAY: Self = Self(0);
    /// GoodTillCancel.
    pub const GOOD_TILL_CANCEL: Self = Self(1);
    /// GoodTillDate.
    pub const GOOD_TILL_DATE: Self = Self(6);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Day", value: 0, since: 0 },
        Named { name: "GoodTillCancel", value: 1, since: 0 },
        Named { name: "GoodTillDate", value: 6, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassCxlReqTyp, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassCxlReqTyp(
    /// As on the wire.
    pub u8,
);

impl MassCxlReqTyp {
    /// SenderSubID.
    pub const SENDER_SUB_ID: Self = Self(100);
    /// Account.
    pub const ACCOUNT: Self = Self(101);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "SenderSubID", value: 100, since: 0 },
        Named { name: "Account", value: 101, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassStatusOrdTyp, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassStatusOrdTyp(
    /// As on the wire.
    pub u8,
);

impl MassStatusOrdTyp {
    /// SenderSubID.
    pub const SENDER_SUB_ID: Self = Self(100);
    /// Account.
    pub const ACCOUNT: Self = Self(101);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "SenderSubID", value: 100, since: 0 },
        Named { name: "Account", value: 101, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassStatusReqTyp, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassStatusReqTyp(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "Instrument", value: 1, since: 0 },
        Named { name: "InstrumentGroup", value: 3, since: 0 },
        Named { name: "AllOrders", value: 7, since: 8 },
        Named { name: "MarketSegment", value: 100, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MassStatusTIF, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MassStatusTIF(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "Day", value: 0, since: 0 },
        Named { name: "GTC", value: 1, since: 0 },
        Named { name: "GTD", value: 6, since: 0 },
        Named { name: "GFS", value: 99, since: 6 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OFMOverrideReq, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OFMOverrideReq(
    /// As on the wire.
    pub u8,
);

impl OFMOverrideReq {
    /// Disabled.
    pub const DISABLED: Self = Self(0);
    /// Enabled.
    pub const ENABLED: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Disabled", value: 0, since: 0 },
        Named { name: "Enabled", value: 1, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OrdStatusTrd, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrdStatusTrd(
    /// As on the wire.
    pub u8,
);

impl OrdStatusTrd {
    /// PartiallyFilled.
    pub const PARTIALLY_FILLED: Self = Self(1);
    /// Filled.
    pub const FILLED: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "PartiallyFilled", value: 1, since: 0 },
        Named { name: "Filled", value: 2, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OrdStatusTrdCxl, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrdStatusTrdCxl(
    /// As on the wire.
    pub u8,
);

impl OrdStatusTrdCxl {
    /// TradeCorrection.
    pub const TRADE_CORRECTION: Self = Self(b'G');
    /// TradeCancel.
    pub const TRADE_CANCEL: Self = Self(b'H');
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "TradeCorrection", value: 71, since: 0 },
        Named { name: "TradeCancel", value: 72, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OrderEventType, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderEventType(
    /// As on the wire.
    pub u8,
);

impl OrderEventType {
    /// PartiallyFilled.
    pub const PARTIALLY_FILLED: Self = Self(4);
    /// Filled.
    pub const FILLED: Self = Self(5);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "PartiallyFilled", value: 4, since: 0 },
        Named { name: "Filled", value: 5, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OrderStatus, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderStatus(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "New", value: 48, since: 0 },
        Named { name: "PartiallyFilled", value: 49, since: 0 },
        Named { name: "Filled", value: 50, since: 0 },
        Named { name: "Cancelled", value: 52, since: 0 },
        Named { name: "Replaced", value: 53, since: 0 },
        Named { name: "PendingCancel", value: 54, since: 6 },
        Named { name: "Rejected", value: 56, since: 0 },
        Named { name: "Expired", value: 67, since: 0 },
        Named { name: "PendingReplace", value: 69, since: 6 },
        Named { name: "Undefined", value: 85, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OrderType, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderType(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "MarketWithProtection", value: 49, since: 0 },
        Named { name: "Limit", value: 50, since: 0 },
        Named { name: "StopLimit", value: 52, since: 0 },
        Named { name: "MarketWithLeftoverAsLimit", value: 75, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OrderTypeReq, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderTypeReq(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "MarketwithProtection", value: 49, since: 0 },
        Named { name: "Limit", value: 50, since: 0 },
        Named { name: "StopwithProtection", value: 51, since: 0 },
        Named { name: "StopLimit", value: 52, since: 0 },
        Named { name: "MarketWithLeftoverAsLimit", value: 75, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// PartyDetailRole, one of the named values or another in a `u16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartyDetailRole(
    /// As on the wire.
    pub u16,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "ExecutingFirm", value: 1, since: 0 },
        Named { name: "CustomerAccount", value: 24, since: 0 },
        Named { name: "TakeUpFirm", value: 96, since: 0 },
        Named { name: "Operator", value: 118, since: 0 },
        Named { name: "TakeUpAccount", value: 1000, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// QuoteAckStatus, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuoteAckStatus(
    /// As on the wire.
    pub u8,
);

impl QuoteAckStatus {
    /// Accepted.
    pub const ACCEPTED: Self = Self(0);
    /// Rejected.
    pub const REJECTED: Self = Self(5);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Accepted", value: 0, since: 0 },
        Named { name: "Rejected", value: 5, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// QuoteCxlStatus, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuoteCxlStatus(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "CancelperInstrument", value: 1, since: 0 },
        Named { name: "CancelperInstrumentgroup", value: 3, since: 0 },
        Named { name: "Cancelallquotes", value: 4, since: 0 },
        Named { name: "Rejected", value: 5, since: 0 },
        Named { name: "CancelperQuoteSet", value: 100, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// QuoteCxlTyp, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuoteCxlTyp(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "CancelperInstrument", value: 1, since: 0 },
        Named { name: "CancelperInstrumentgroup", value: 3, since: 0 },
        Named { name: "Cancelallquotes", value: 4, since: 0 },
        Named { name: "CancelperQuoteSet", value: 100, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// QuoteTyp, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuoteTyp(
    /// As on the wire.
    pub u8,
);

impl QuoteTyp {
    /// Tradeable.
    pub const TRADEABLE: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Tradeable", value: 1, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// RFQSide, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RFQSide(
    /// As on the wire.
    pub u8,
);

impl RFQSide {
    /// Buy.
    pub const BUY: Self = Self(1);
    /// Sell.
    pub const SELL: Self = Self(2);
    /// Cross.
    pub const CROSS: Self = Self(8);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Buy", value: 1, since: 0 },
        Named { name: "Sell", value: 2, since: 0 },
        Named { name: "Cross", value: 8, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ReqResult, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReqResult(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "ValidRequest", value: 0, since: 0 },
        Named { name: "NoDataFoundThatMatchedSelectionCriteria", value: 2, since: 0 },
        Named { name: "NotAuthorizedtoRetrieveData", value: 3, since: 0 },
        Named { name: "DataTemporarilyUnavailable", value: 4, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SLEDS, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SLEDS(
    /// As on the wire.
    pub u8,
);

impl SLEDS {
    /// TradeClearingatExecutionPrice.
    pub const TRADE_CLEARINGAT_EXECUTION_PRICE: Self = Self(0);
    /// TradeClearingatAlternateClearingPrice.
    pub const TRADE_CLEARINGAT_ALTERNATE_CLEARING_PRICE: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "TradeClearingatExecutionPrice", value: 0, since: 0 },
        Named { name: "TradeClearingatAlternateClearingPrice", value: 1, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SMPI, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SMPI(
    /// As on the wire.
    pub u8,
);

impl SMPI {
    /// CancelNewest.
    pub const CANCEL_NEWEST: Self = Self(b'N');
    /// CancelOldest.
    pub const CANCEL_OLDEST: Self = Self(b'O');
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "CancelNewest", value: 78, since: 0 },
        Named { name: "CancelOldest", value: 79, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SecRspTyp, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecRspTyp(
    /// As on the wire.
    pub u8,
);

impl SecRspTyp {
    /// AcceptSecurityProposalasis.
    pub const ACCEPT_SECURITY_PROPOSALASIS: Self = Self(1);
    /// AcceptSecurityproposalwithrevisionsasindicatedinthemessage.
    pub const ACCEPT_SECURITYPROPOSALWITHREVISIONSASINDICATEDINTHEMESSAGE: Self = Self(2);
    /// RejectSecurityProposal.
    pub const REJECT_SECURITY_PROPOSAL: Self = Self(5);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "AcceptSecurityProposalasis", value: 1, since: 0 },
        Named { name: "AcceptSecurityproposalwithrevisionsasindicatedinthemessage", value: 2, since: 0 },
        Named { name: "RejectSecurityProposal", value: 5, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// ShortSaleType, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShortSaleType(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "LongSell", value: 0, since: 0 },
        Named { name: "ShortSaleWithNoExemptionSESH", value: 1, since: 0 },
        Named { name: "ShortSaleWithExemptionSSEX", value: 2, since: 0 },
        Named { name: "UndisclosedSellInformationNotAvailableUNDI", value: 3, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// Side, one of the named values or another in a `u8`, since version 9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Side(
    /// As on the wire.
    pub u8,
);

impl Side {
    /// Buy.
    pub const BUY: Self = Self(1);
    /// Sell.
    pub const SELL: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Buy", value: 1, since: 0 },
        Named { name: "Sell", value: 2, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SideNULL, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SideNULL(
    /// As on the wire.
    pub u8,
);

impl SideNULL {
    /// Buy.
    pub const BUY: Self = Self(1);
    /// Sell.
    pub const SELL: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Buy", value: 1, since: 0 },
        Named { name: "Sell", value: 2, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SideReq, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SideReq(
    /// As on the wire.
    pub u8,
);

impl SideReq {
    /// Buy.
    pub const BUY: Self = Self(1);
    /// Sell.
    pub const SELL: Self = Self(2);
    /// Undisclosed, since version 6.
    pub const UNDISCLOSED: Self = Self(7);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Buy", value: 1, since: 0 },
        Named { name: "Sell", value: 2, since: 0 },
        Named { name: "Undisclosed", value: 7, since: 6 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SideTimeInForce, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SideTimeInForce(
    /// As on the wire.
    pub u8,
);

impl SideTimeInForce {
    /// Day.
    pub const DAY: Self = Self(0);
    /// FAK.
    pub const FAK: Self = Self(3);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Day", value: 0, since: 0 },
        Named { name: "FAK", value: 3, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SplitMsg, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SplitMsg(
    /// As on the wire.
    pub u8,
);

impl SplitMsg {
    /// SplitMessageDelayed.
    pub const SPLIT_MESSAGE_DELAYED: Self = Self(0);
    /// OutofOrderMessageDelayed.
    pub const OUTOF_ORDER_MESSAGE_DELAYED: Self = Self(1);
    /// CompleteMessageDelayed.
    pub const COMPLETE_MESSAGE_DELAYED: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "SplitMessageDelayed", value: 0, since: 0 },
        Named { name: "OutofOrderMessageDelayed", value: 1, since: 0 },
        Named { name: "CompleteMessageDelayed", value: 2, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// TimeInForce, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeInForce(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "Day", value: 0, since: 0 },
        Named { name: "GoodTillCancel", value: 1, since: 0 },
        Named { name: "FillAndKill", value: 3, since: 0 },
        Named { name: "FillOrKill", value: 4, since: 0 },
        Named { name: "GoodTillDate", value: 6, since: 0 },
        Named { name: "GoodForSession", value: 99, since: 6 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// TradeAddendum, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TradeAddendum(
    /// As on the wire.
    pub u8,
);

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
    pub const NAMES: &'static [Named] = &[
        Named { name: "PartiallyFilled", value: 4, since: 0 },
        Named { name: "Filled", value: 5, since: 0 },
        Named { name: "TradeCancel", value: 100, since: 0 },
        Named { name: "TradeCorrection", value: 101, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}
