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
    /// NextSeqNo is lower than what was promised before, or not 1 under a new UUID.
    InvalidNextSeqNo = 10,
    /// SeqNum is lower than expected, or beyond 999,999,999.
    InvalidMsgSeqNo = 11,
    /// UUID is not the current one, or not greater than the last.
    InvalidUuid = 13,
    /// UUID is null.
    RequiredUuidMissing = 15,
    /// The framing header states an impossible length or another encoding.
    InvalidSofh = 18,
    /// The message is not one of the schema's, or shorter than it says.
    DecodingError = 19,
    /// Nothing was heard for two intervals.
    KeepAliveIntervalLapsed = 20,
    /// A client's Terminate with a code that is not 0, and what has no code of its own.
    Other = 23,
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
            Self::InvalidNextSeqNo => "InvalidNextSeqNo",
            Self::InvalidMsgSeqNo => "InvalidMsgSeqNo",
            Self::InvalidUuid => "InvalidUUID",
            Self::RequiredUuidMissing => "RequiredUUIDMissing",
            Self::InvalidSofh => "InvalidSOFH",
            Self::DecodingError => "DecodingError",
            Self::KeepAliveIntervalLapsed => "KeepAliveIntervalLapsed",
            Self::Other => "Other",
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
    /// TradingSystemName is empty.
    RequiredTradingSystemNameMissing = 18,
    /// TradingSystemVersion is empty.
    RequiredTradingSystemVersionMissing = 19,
    /// TradingSystemVendor is empty.
    RequiredTradingSystemVendorMissing = 20,
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
        }
    }
}

/// Why nothing is sent again: ErrorCodes of RetransmitReject510. CME's code for a request during
/// another (3) cannot happen: requests are answered one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum RetransmitReason {
    /// Not published, or not kept any more.
    OutOfRange = 0,
    /// Nothing was published under this UUID, or nothing of it is kept.
    InvalidUuid = 1,
    /// More than 2,500 messages.
    RequestLimitExceeded = 2,
    /// FromSeqNo is 0.
    InvalidFromSeqNo = 5,
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
            Self::InvalidFromSeqNo => "InvalidFromSeqNo",
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
    /// The gateway does not do this message.
    UnsupportedMessageType = 3,
    /// A field that this order needs is null or empty.
    RequiredFieldMissing = 5,
    /// A quantity that no order has.
    ValueOutOfRange = 100,
    /// A text with characters outside 32 to 126.
    IncorrectDataFormat = 101,
    /// The message is shorter than it says.
    CouldNotBeDecoded = 109,
    /// A value that the field does not have.
    EnumNotSupported = 115,
}

impl BusinessReason {
    /// The number on the wire.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
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
    /// The order is one of another instrument.
    OtherContract = 2100,
    /// The order's first replacement had another OFMOverride.
    OtherMitigation = 2101,
    /// No contract, or more than the instrument allows.
    Quantity = 2115,
    /// A kind of order that this market does not have.
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
