//! CME's codes for why something was refused, as far as this gateway uses them.

/// Why a session ends: ErrorCodes (tag 39012) of Terminate507.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum TerminateCode {
    /// It is done, or the exchange closes.
    Finished = 0,
    /// No Establish within 60 s of the NegotiationResponse.
    EstablishmentTimeout = 1,
    /// A message before Negotiate.
    Unnegotiated = 2,
    /// A message other than Negotiate before Establish.
    NotEstablished = 3,
    /// A Negotiate after the NegotiationResponse.
    AlreadyNegotiated = 4,
    /// An Establish after the EstablishmentAck.
    AlreadyEstablished = 6,
    /// The fifth bad logon within a minute: the session's ports are closed.
    PortClosure = 8,
    /// More messages than the limit for logging out.
    VolumeControls = 9,
    /// NextSeqNo is lower than what was promised before, not 1 under a new UUID, or on the backup
    /// not 0.
    InvalidNextSeqNo = 10,
    /// SeqNum is lower than expected, beyond 999,999,999, or on the backup not 0.
    InvalidMsgSeqNo = 11,
    /// UUID is not the current one, or not greater than the last.
    InvalidUuid = 13,
    /// UUID is null.
    RequiredUuidMissing = 15,
    /// RequestTimestamp of a Terminate is null.
    RequiredRequestTimestampMissing = 16,
    /// ErrorCodes of a Terminate is null.
    RequiredCodeMissing = 17,
    /// The framing header states an impossible length or another encoding.
    InvalidSofh = 18,
    /// The message is not one of the schema's, or shorter than it says.
    DecodingError = 19,
    /// Nothing was heard for two intervals.
    KeepAliveIntervalLapsed = 20,
    /// NextSeqNo is null.
    RequiredNextSeqNoMissing = 21,
    /// KeepAliveIntervalLapsed of a Sequence is null.
    RequiredLapsedMissing = 22,
    /// A client's Terminate with a code that is not 0, and what has no code of its own.
    Other = 23,
    /// The session on the primary has ended, and with it the one on the backup.
    EndedFromPrimary = 26,
    /// A message waited behind a split one, where none may.
    SplitQueued = 28,
    /// More messages waited behind a split one than the safeguard allows.
    TooManySplitQueued = 29,
}

impl TerminateCode {
    /// The number on the wire.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// The text for Reason (tag 39011), at most 48 characters.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Finished => "Finished",
            Self::EstablishmentTimeout => "EstablishmentTimeout",
            Self::Unnegotiated => "Unnegotiated",
            Self::NotEstablished => "NotEstablished",
            Self::AlreadyNegotiated => "AlreadyNegotiated",
            Self::AlreadyEstablished => "AlreadyEstablished",
            Self::PortClosure => "CMEAdministeredPortClosure",
            Self::VolumeControls => "VolumeControls",
            Self::InvalidNextSeqNo => "InvalidNextSeqNo",
            Self::InvalidMsgSeqNo => "InvalidMsgSeqNo",
            Self::InvalidUuid => "InvalidUUID",
            Self::RequiredUuidMissing => "RequiredUUIDMissing",
            Self::RequiredRequestTimestampMissing => "RequiredRequestTimestampMissing",
            Self::RequiredCodeMissing => "RequiredCodeMissing",
            Self::InvalidSofh => "InvalidSOFH",
            Self::DecodingError => "DecodingError",
            Self::KeepAliveIntervalLapsed => "KeepAliveIntervalLapsed",
            Self::RequiredNextSeqNoMissing => "RequiredNextSeqNoMissing",
            Self::RequiredLapsedMissing => "RequiredKeepAliveIntervalLapsedMissing",
            Self::Other => "Other",
            Self::EndedFromPrimary => "DisconnectOrTerminateFromPrimary",
            Self::SplitQueued => "RejectSplitMsgsQueued",
            Self::TooManySplitQueued => "ExceededMaxNoOfSplitMsgsQueued",
        }
    }
}

/// Why a logon is refused: ErrorCodes of NegotiationReject502 and EstablishmentReject505.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum LogonReject {
    /// The signature is not the key's, or the access key is unknown.
    HmacNotAuthenticated = 0,
    /// RequestTimestamp is more than 5 s from now, or not greater than the last.
    InvalidTimestamp = 3,
    /// HMACSignature is all zero.
    RequiredHmacSignatureMissing = 4,
    /// AccessKeyID is empty.
    RequiredAccessKeyIdMissing = 5,
    /// Session is empty.
    RequiredSessionMissing = 6,
    /// Firm is empty.
    RequiredFirmMissing = 7,
    /// RequestTimestamp is null.
    RequiredRequestTimestampMissing = 9,
    /// The access key does not belong to this session and firm.
    SessionBlocked = 10,
    /// KeepAliveInterval is not within 5,000 to 60,000 ms.
    InvalidKeepAliveInterval = 11,
    /// AccessKeyID has characters that are not printable ASCII.
    InvalidAccessKeyId = 12,
    /// Session has such characters.
    InvalidSession = 13,
    /// Firm has such characters.
    InvalidFirm = 14,
    /// TradingSystemName is empty.
    RequiredTradingSystemNameMissing = 18,
    /// TradingSystemVersion is empty.
    RequiredTradingSystemVersionMissing = 19,
    /// TradingSystemVendor is empty.
    RequiredTradingSystemVendorMissing = 20,
    /// KeepAliveInterval is null.
    RequiredKeepAliveIntervalMissing = 21,
    /// TradingSystemName has characters that are not printable ASCII.
    InvalidTradingSystemName = 23,
    /// TradingSystemVersion has such characters.
    InvalidTradingSystemVersion = 24,
    /// TradingSystemVendor has such characters.
    InvalidTradingSystemVendor = 25,
    /// This is the backup, and the session is not established on the primary.
    DesignatedBackup = 27,
    /// A Negotiate on the backup while the session is established on the primary.
    NegotiateNotAllowed = 28,
}

impl LogonReject {
    /// The number on the wire.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// The text for Reason (tag 39011), at most 48 characters.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::HmacNotAuthenticated => "HMACNotAuthenticated",
            Self::InvalidTimestamp => "InvalidTimestamp",
            Self::RequiredHmacSignatureMissing => "RequiredHMACSignatureMissing",
            Self::RequiredAccessKeyIdMissing => "RequiredAccessKeyIDMissing",
            Self::RequiredSessionMissing => "RequiredSessionMissing",
            Self::RequiredFirmMissing => "RequiredFirmMissing",
            Self::RequiredRequestTimestampMissing => "RequiredRequestTimestampMissing",
            Self::SessionBlocked => "SessionBlocked",
            Self::InvalidKeepAliveInterval => "InvalidKeepAliveInterval",
            Self::RequiredTradingSystemNameMissing => "RequiredTradingSystemNameMissing",
            Self::RequiredTradingSystemVersionMissing => "RequiredTradingSystemVersionMissing",
            Self::RequiredTradingSystemVendorMissing => "RequiredTradingSystemVendorMissing",
            Self::InvalidAccessKeyId => "InvalidAccessKeyID",
            Self::InvalidSession => "InvalidSession",
            Self::InvalidFirm => "InvalidFirm",
            Self::RequiredKeepAliveIntervalMissing => "RequiredKeepAliveIntervalMissing",
            Self::InvalidTradingSystemName => "InvalidTradingSystemName",
            Self::InvalidTradingSystemVersion => "InvalidTradingSystemVersion",
            Self::InvalidTradingSystemVendor => "InvalidTradingSystemVendor",
            Self::DesignatedBackup => "DesignatedBackup",
            Self::NegotiateNotAllowed => "NegotiateNotAllowed",
        }
    }
}

/// Why nothing is sent again: ErrorCodes of RetransmitReject510.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum RetransmitReason {
    /// Not published, or not kept any more.
    OutOfRange = 0,
    /// Nothing was published under this UUID this week, nothing of it is kept, or this is the
    /// backup.
    InvalidUuid = 1,
    /// More than 2,500 messages.
    RequestLimitExceeded = 2,
    /// What was asked for before is still being sent.
    AlreadyInProgress = 3,
    /// RequestTimestamp is not greater than the session's last.
    InvalidTimestamp = 4,
    /// FromSeqNo is 0 or beyond 999,999,999.
    InvalidFromSeqNo = 5,
    /// UUID is null.
    RequiredUuidMissing = 6,
    /// RequestTimestamp is null.
    RequiredRequestTimestampMissing = 7,
    /// FromSeqNo is null.
    RequiredFromSeqNoMissing = 8,
    /// MsgCount is null.
    RequiredMsgCountMissing = 9,
}

impl RetransmitReason {
    /// The number on the wire.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// The text for Reason (tag 39011), at most 48 characters.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::OutOfRange => "OutOfRange",
            Self::InvalidUuid => "InvalidUUID",
            Self::RequestLimitExceeded => "RequestLimitExceeded",
            Self::AlreadyInProgress => "RetransmitAlreadyInProgress",
            Self::InvalidTimestamp => "InvalidTimestamp",
            Self::InvalidFromSeqNo => "InvalidFromSeqNo",
            Self::RequiredUuidMissing => "RequiredUUIDMissing",
            Self::RequiredRequestTimestampMissing => "RequiredRequestTimestampMissing",
            Self::RequiredFromSeqNoMissing => "RequiredFromSeqNoMissing",
            Self::RequiredMsgCountMissing => "RequiredMsgCountMissing",
        }
    }
}

/// Why a business message is refused: BusinessRejectReason (tag 380) of BusinessReject521.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum BusinessReason {
    /// See the text.
    Other = 0,
    /// PartyDetailsListReqID is not registered.
    UnknownPartyDetailsListReqId = 1,
    /// No instrument or group has this name.
    UnknownSecurity = 2,
    /// The gateway does not do this message.
    UnsupportedMessageType = 3,
    /// A field that this order needs is null or empty.
    RequiredFieldMissing = 5,
    /// More messages than the limit for refusing them.
    ThrottleLimitExceeded = 8,
    /// A quantity that no order has.
    ValueOutOfRange = 100,
    /// A text with characters outside 32 to 126.
    IncorrectDataFormat = 101,
    /// Party details are registered under this number already.
    DuplicateDefinition = 108,
    /// The message is shorter than it says.
    CouldNotBeDecoded = 109,
    /// A party's role comes twice.
    RepeatedEntry = 110,
    /// The session has registered as many party details as it may.
    TooManyDefinitions = 111,
    /// A value that the field does not have.
    EnumNotSupported = 115,
    /// More firms than one request may name.
    TooManyRequestingParties = 118,
    /// The party details on demand that the message is for were refused.
    OnDemandRefused = 120,
    /// The message behind party details on demand has another number.
    OnDemandMismatch = 121,
    /// Party details on demand are for a message that was refused.
    OnDemandDefinitionRefused = 122,
    /// Another message came between party details on demand and the message they are for.
    OnDemandInterrupted = 123,
    /// A mass status request is still being answered.
    MassStatusInFlight = 124,
    /// A request for party details names neither a firm nor a number.
    NoPartyRequested = 127,
    /// It names both.
    BothPartiesRequested = 128,
    /// Party details on demand, and another message than the one they are for behind them.
    OnDemandDefinitionInterrupted = 129,
    /// This is the backup: it takes session messages only.
    NotOnBackup = 131,
    /// The sides of a cross are not a buyer followed by a seller.
    CrossSides = 132,
}

impl BusinessReason {
    /// The number on the wire.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }
}

/// Why a mass action is refused: MassActionRejectReason (tag 1376) of OrderMassActionReport562,
/// as FIX numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MassActionReason {
    /// A scope that this gateway does not have.
    NotSupported = 0,
    /// No instrument has this SecurityID, or there is none.
    UnknownSecurity = 1,
    /// No instrument is of this group.
    UnknownSecurityGroup = 9,
}

impl MassActionReason {
    /// The number on the wire.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// Why a quote is refused: QuoteEntryRejectReason (tag 368) of an entry, QuoteRejectReason (tag
/// 300) of a whole message, QuoteErrorCode (tag 9030) of a quote set. The numbers are FIX's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum QuoteReason {
    /// No instrument has this SecurityID, or none is of this group.
    UnknownSecurity = 1,
    /// The instrument does not trade now.
    Closed = 2,
    /// No entry, more than 50, or more quotes than the gateway holds.
    ExceedsLimit = 3,
    /// The session has no quote of this set.
    UnknownQuote = 5,
    /// The bid is not below the offer.
    InvalidSpread = 7,
    /// A price is not a multiple of the tick, or out of range.
    InvalidPrice = 8,
    /// Another, such as a quantity out of range.
    Other = 99,
}

impl QuoteReason {
    /// The number on the wire.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// Why an order, a replacement or a cancel is refused: OrdRejReason (tag 103) of
/// ExecutionReportReject523, CxlRejReason (tag 102) of OrderCancelReplaceReject536 and
/// OrderCancelReject535. The numbers are those of CME's list of reject codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum OrderReason {
    /// The instrument does not trade now.
    Closed = 1003,
    /// The price is not a multiple of the tick, or out of range.
    FieldIncorrect = 1011,
    /// A time in force that this market does not have, or a minimum that does not go with it.
    Qualifier = 1013,
    /// An order without a price while the other side is empty.
    NoOppositePrice = 2013,
    /// There is no such order.
    NotOnBook = 2045,
    /// No instrument has this SecurityID.
    UnknownContract = 2047,
    /// The order is another session's.
    OtherSession = 2048,
    /// The order is on the other side.
    OtherSide = 2051,
    /// The limit of a stop limit order to buy is below its trigger.
    LimitBelowStop = 2058,
    /// The limit of a stop limit order to sell is above its trigger.
    LimitAboveStop = 2059,
    /// The trigger of an order to sell is not below the last trade.
    StopNotBelow = 2060,
    /// The trigger of an order to buy is not above the last trade.
    StopNotAbove = 2061,
    /// The order is one of another instrument.
    OtherContract = 2100,
    /// The order's first replacement had another OFMOverride.
    OtherMitigation = 2101,
    /// No contract, or more than the instrument allows.
    Quantity = 2115,
    /// A replacement that makes a stop order of another, or another of a stop order.
    OrderType = 2311,
    /// The exchange holds no more orders.
    Rejected = 7000,
}

impl OrderReason {
    /// The number on the wire.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// The text for Text (tag 58).
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Closed => "The market is closed",
            Self::FieldIncorrect => "Price off the tick or out of range",
            Self::Qualifier => "Order qualifier not possible",
            Self::NoOppositePrice => "No price on the other side",
            Self::NotOnBook => "No such order on the book",
            Self::UnknownContract => "Unknown contract",
            Self::OtherSession => "Order of another session",
            Self::OtherSide => "Order of the other side",
            Self::LimitBelowStop => "Limit price below the stop price",
            Self::LimitAboveStop => "Limit price above the stop price",
            Self::StopNotBelow => "Stop price not below the last trade",
            Self::StopNotAbove => "Stop price not above the last trade",
            Self::OtherContract => "Order of another contract",
            Self::OtherMitigation => "In-flight mitigation may not change",
            Self::Quantity => "Quantity out of range",
            Self::OrderType => "Order type not possible",
            Self::Rejected => "No room for more orders",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_their_field() {
        assert!(LogonReject::RequiredTradingSystemVersionMissing.text().len() <= 48);
        assert!(TerminateCode::KeepAliveIntervalLapsed.text().len() <= 48);
    }
}
