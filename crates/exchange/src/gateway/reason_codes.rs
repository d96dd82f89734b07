//! CME's reject and terminate codes, as far as this gateway uses them.

/// The reason why a session ends: ErrorCodes (tag 39012) of Terminate507.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum TerminateCode {
    /// Normal end, or the exchange closes.
    Finished = 0,
    /// No Establish within 60 s of the NegotiationResponse.
    EstablishmentTimeout = 1,
    /// A message before Negotiate.
    Unnegotiated = 2,
    /// A message other than Establish between Negotiate and Establish.
    NotEstablished = 3,
    /// A Negotiate after the NegotiationResponse.
    AlreadyNegotiated = 4,
    /// An Establish after the EstablishmentAck.
    AlreadyEstablished = 6,
    /// The fifth bad logon within a minute: the session's ports are closed.
    PortClosure = 8,
    /// More messages than the logout limit.
    VolumeControls = 9,
    /// NextSeqNo is lower than previously announced, not 1 with a new UUID, or not 0 on the backup.
    InvalidNextSeqNo = 10,
    /// SeqNum is lower than expected, above 999,999,999, or not 0 on the backup.
    InvalidMsgSeqNo = 11,
    /// UUID is not the current one, or not greater than the last.
    InvalidUuid = 13,
    /// UUID is null.
    RequiredUuidMissing = 15,
    /// RequestTimestamp of a Terminate is null.
    RequiredRequestTimestampMissing = 16,
    /// ErrorCodes of a Terminate is null.
    RequiredCodeMissing = 17,
    /// The framing header has an invalid length or encoding type.
    InvalidSofh = 18,
    /// The message is not in the schema, or shorter than its header declares.
    DecodingError = 19,
    /// No message was received for two keep-alive intervals.
    KeepAliveIntervalLapsed = 20,
    /// NextSeqNo is null.
    RequiredNextSeqNoMissing = 21,
    /// KeepAliveIntervalLapsed of a Sequence is null.
    RequiredLapsedMissing = 22,
    /// A client's Terminate with a code other than 0, or a reason without its own code.
    Other = 23,
    /// The session on the primary has ended, which ends the one on the backup.
    EndedFromPrimary = 26,
    /// A message was queued behind a split one, and the safeguard allows none.
    SplitQueued = 28,
    /// More messages were queued behind a split one than the safeguard allows.
    TooManySplitQueued = 29,
}

impl TerminateCode {
    /// Returns the value on the wire.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// Returns the text for Reason (tag 39011), at most 48 characters.
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

/// The reason for a rejected logon: ErrorCodes of NegotiationReject502 and EstablishmentReject505.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum LogonReject {
    /// The signature is wrong, or the access key is unknown.
    HmacNotAuthenticated = 0,
    /// RequestTimestamp differs from the gateway's clock by more than 5 s, or is not greater than
    /// the last.
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
    /// KeepAliveInterval is outside 5,000 to 60,000 ms.
    InvalidKeepAliveInterval = 11,
    /// AccessKeyID has characters other than printable ASCII.
    InvalidAccessKeyId = 12,
    /// Session has characters other than printable ASCII.
    InvalidSession = 13,
    /// Firm has characters other than printable ASCII.
    InvalidFirm = 14,
    /// TradingSystemName is empty.
    RequiredTradingSystemNameMissing = 18,
    /// TradingSystemVersion is empty.
    RequiredTradingSystemVersionMissing = 19,
    /// TradingSystemVendor is empty.
    RequiredTradingSystemVendorMissing = 20,
    /// KeepAliveInterval is null.
    RequiredKeepAliveIntervalMissing = 21,
    /// TradingSystemName has characters other than printable ASCII.
    InvalidTradingSystemName = 23,
    /// TradingSystemVersion has characters other than printable ASCII.
    InvalidTradingSystemVersion = 24,
    /// TradingSystemVendor has characters other than printable ASCII.
    InvalidTradingSystemVendor = 25,
    /// This gateway is the backup, and the session is not established on the primary.
    DesignatedBackup = 27,
    /// A Negotiate on the backup while the session is established on the primary.
    NegotiateNotAllowed = 28,
}

impl LogonReject {
    /// Returns the value on the wire.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// Returns the text for Reason (tag 39011), at most 48 characters.
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

/// The reason for a rejected retransmit request: ErrorCodes of RetransmitReject510.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum RetransmitReason {
    /// The messages were not published, or are no longer stored.
    OutOfRange = 0,
    /// No message was published under this UUID this week, no message of it is stored, or this is
    /// the
    /// backup.
    InvalidUuid = 1,
    /// More than 2,500 messages were requested.
    RequestLimitExceeded = 2,
    /// The previous retransmission is still in progress.
    AlreadyInProgress = 3,
    /// RequestTimestamp is not greater than the session's last.
    InvalidTimestamp = 4,
    /// FromSeqNo is 0 or above 999,999,999.
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
    /// Returns the value on the wire.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// Returns the text for Reason (tag 39011), at most 48 characters.
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

/// The reason for a rejected business message: BusinessRejectReason (tag 380) of BusinessReject521.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum BusinessReason {
    /// A reason given in Text.
    Other = 0,
    /// PartyDetailsListReqID is not registered.
    UnknownPartyDetailsListReqId = 1,
    /// The instrument or group does not exist.
    UnknownSecurity = 2,
    /// The gateway does not support this message.
    UnsupportedMessageType = 3,
    /// A field that this order requires is null or empty.
    RequiredFieldMissing = 5,
    /// More messages than the reject limit.
    ThrottleLimitExceeded = 8,
    /// A quantity above the maximum of any order.
    ValueOutOfRange = 100,
    /// A text with characters outside 32 to 126.
    IncorrectDataFormat = 101,
    /// Party details are already registered under this id.
    DuplicateDefinition = 108,
    /// The message is shorter than its header declares.
    CouldNotBeDecoded = 109,
    /// A party's role is repeated.
    RepeatedEntry = 110,
    /// The session has registered its maximum number of party details.
    TooManyDefinitions = 111,
    /// A status request for all orders on a market segment gateway.
    OrderStatusNotAvailable = 114,
    /// The field has an undefined value.
    EnumNotSupported = 115,
    /// A request names too many firms.
    TooManyRequestingParties = 118,
    /// The on-demand party details of the message were rejected.
    OnDemandRejected = 120,
    /// The message after on-demand party details carries another id.
    OnDemandMismatch = 121,
    /// The message after on-demand party details was rejected.
    OnDemandDefinitionRejected = 122,
    /// Another message came between on-demand party details and the message that refers to them.
    OnDemandInterrupted = 123,
    /// A mass status request is still being answered.
    MassStatusInFlight = 124,
    /// A request for party details names neither firms nor ids.
    NoPartyRequested = 127,
    /// A request for party details names both firms and ids.
    BothPartiesRequested = 128,
    /// Another kind of message followed on-demand party details.
    OnDemandDefinitionInterrupted = 129,
    /// This gateway is the backup, which accepts session messages only.
    NotOnBackup = 131,
    /// The sides of a cross are not a buyer followed by a seller.
    CrossSides = 132,
}

impl BusinessReason {
    /// Returns the value on the wire.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }
}

/// The reason for a rejected mass action: MassActionRejectReason (tag 1376) of
/// OrderMassActionReport562, in FIX numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MassActionReason {
    /// The gateway does not support this scope.
    NotSupported = 0,
    /// SecurityID is missing or unknown.
    UnknownSecurity = 1,
    /// No instrument belongs to this group.
    UnknownSecurityGroup = 9,
}

impl MassActionReason {
    /// Returns the value on the wire.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// The reason for a rejected quote: QuoteEntryRejectReason (tag 368) of an entry, QuoteRejectReason
/// (tag 300) of a message, and QuoteErrorCode (tag 9030) of a quote set. The numbering is that of
/// FIX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum QuoteReason {
    /// The SecurityID is unknown, or no instrument belongs to the group.
    UnknownSecurity = 1,
    /// The instrument is not open for trading.
    Closed = 2,
    /// No entry, more than 50 entries, or more quotes than the gateway stores.
    ExceedsLimit = 3,
    /// The session has no quote in this set.
    UnknownQuote = 5,
    /// The bid is not below the offer.
    InvalidSpread = 7,
    /// A price is not a multiple of the tick, or out of range.
    InvalidPrice = 8,
    /// Another reason, such as a quantity out of range.
    Other = 99,
}

impl QuoteReason {
    /// Returns the value on the wire.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// The reason for a rejected order, replacement or cancel: OrdRejReason (tag 103) of
/// ExecutionReportReject523, CxlRejReason (tag 102) of OrderCancelReplaceReject536 and
/// OrderCancelReject535. The numbering is that of CME's list of reject codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum OrderReason {
    /// The instrument is not open for trading.
    Closed = 1003,
    /// The price is not a multiple of the tick, or out of range.
    FieldIncorrect = 1011,
    /// A time in force that this market does not support, an invalid minimum quantity, or a display
    /// quantity of 0.
    Qualifier = 1013,
    /// An order without a price while the opposite side is empty.
    NoOppositePrice = 2013,
    /// The order does not exist.
    NotOnBook = 2045,
    /// The display quantity is more than the whole or the open quantity.
    Display = 2046,
    /// The SecurityID is unknown.
    UnknownContract = 2047,
    /// The order belongs to another session.
    OtherSession = 2048,
    /// The order is on the other side.
    OtherSide = 2051,
    /// The limit of a stop limit order to buy is below its trigger price.
    LimitBelowStop = 2058,
    /// The limit of a stop limit order to sell is above its trigger price.
    LimitAboveStop = 2059,
    /// The trigger price of an order to sell is not below the last trade.
    StopNotBelow = 2060,
    /// The trigger price of an order to buy is not above the last trade.
    StopNotAbove = 2061,
    /// The order is in another instrument.
    OtherContract = 2100,
    /// The order's first replacement had another OFMOverride.
    OtherMitigation = 2101,
    /// The quantity is 0, or more than the instrument allows.
    Quantity = 2115,
    /// A replacement that would change a stop order to another type, or vice versa.
    OrderType = 2311,
    /// A replacement that would give an order a display quantity, or take it away.
    DisplayChange = 5102,
    /// The matching engine is full.
    Rejected = 7000,
    /// The display quantity is less than the minimum quantity.
    DisplayBelowMinimum = 7613,
}

impl OrderReason {
    /// Returns the value on the wire.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// Returns the text for Text (tag 58).
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Closed => "Market is closed",
            Self::FieldIncorrect => "Price is not a multiple of the tick or out of range",
            Self::Qualifier => "Invalid time in force, minimum or display quantity",
            Self::Display => "Display quantity exceeds the total or open quantity",
            Self::DisplayBelowMinimum => "Display quantity below the minimum quantity",
            Self::DisplayChange => "Order cannot gain or lose its display quantity",
            Self::NoOppositePrice => "Opposite side is empty",
            Self::NotOnBook => "Order is not on the book",
            Self::UnknownContract => "Unknown contract",
            Self::OtherSession => "Order belongs to another session",
            Self::OtherSide => "Order is on the other side",
            Self::LimitBelowStop => "Limit price below the stop price",
            Self::LimitAboveStop => "Limit price above the stop price",
            Self::StopNotBelow => "Stop price not below the last trade",
            Self::StopNotAbove => "Stop price not above the last trade",
            Self::OtherContract => "Order is in another contract",
            Self::OtherMitigation => "In-flight mitigation cannot change",
            Self::Quantity => "Quantity out of range",
            Self::OrderType => "Order type cannot change between stop and other",
            Self::Rejected => "Exchange has no room for more orders",
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
