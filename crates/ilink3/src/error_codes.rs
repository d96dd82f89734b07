//! CME's error and reject codes as types with descriptions.
//!
//! Codes are newtypes, not enums, so a code that CME adds later is preserved and printed as a
//! number. Sources: CME Client Systems Wiki, "iLink 3 - Terminate", "- Negotiation Reject", "-
//! Establishment Reject", "- Retransmit Reject", "- Business Reject", "Futures and Options Reject
//! Codes".

use core::fmt;

/// Defines a code newtype from a table of codes, constants and descriptions.
macro_rules! codes {
    (
        $(#[$attribute:meta])* $name:ident;
        $( $code:literal $constant:ident $text:literal; )*
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u16);

        impl $name {
            $(
                #[doc = concat!($text, ".")]
                pub const $constant: Self = Self($code);
            )*

            /// Returns the code's description, or `"unknown code"` if the code is not in CME's
            /// list.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self.0 {
                    $( $code => $text, )*
                    _ => "unknown code",
                }
            }
        }

        /// Formats the code and its description: `13 (UUID is not the current one, …)`.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} ({})", self.0, self.text())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({}: {})"), self.0, self.text())
            }
        }
    };
}

codes! {
    /// ErrorCodes (tag 39012) of Terminate507.
    TerminateCode;
    0 FINISHED "session is finished";
    1 ESTABLISHMENT_TIMEOUT "no Establish within 60 seconds of the NegotiationResponse";
    2 UNNEGOTIATED "message before Negotiate";
    3 NOT_ESTABLISHED "message before Establish";
    4 ALREADY_NEGOTIATED "Negotiate when already negotiated";
    5 NEGOTIATION_IN_PROGRESS "Negotiate while another is pending";
    6 ALREADY_ESTABLISHED "Establish when already established";
    7 ESTABLISH_IN_PROGRESS "Establish while another is pending";
    8 PORT_CLOSURE "port closed by CME";
    9 VOLUME_CONTROLS "message rate above the logout limit";
    10 INVALID_NEXT_SEQ_NO "NextSeqNo is lower than the last, not 1 at the start or out of range";
    11 INVALID_MSG_SEQ_NO "SeqNum is lower than the last, not 1 at the start or out of range";
    12 INVALID_LAST_SEQ_NO "last sequence number is invalid";
    13 INVALID_UUID "UUID is not the current one, out of range or not above the last";
    14 INVALID_TIMESTAMP "RequestTimestamp is invalid";
    15 REQUIRED_UUID_MISSING "UUID is missing";
    16 REQUIRED_REQUEST_TIMESTAMP_MISSING "RequestTimestamp is missing";
    17 REQUIRED_CODE_MISSING "code is missing";
    18 INVALID_SOFH "framing header has an invalid length or encoding type";
    19 DECODING_ERROR "message could not be decoded";
    20 KEEP_ALIVE_INTERVAL_LAPSED "nothing was received for two keep-alive intervals";
    21 REQUIRED_NEXT_SEQ_NO_MISSING "NextSeqNo is missing";
    22 REQUIRED_KEEP_ALIVE_LAPSED_MISSING "KeepAliveIntervalLapsed is missing";
    23 OTHER "other reason";
    24 TERMINATE_IN_PROGRESS "another Terminate is pending";
    26 PRIMARY_DISCONNECTED "primary was disconnected or terminated, so the backup is too";
    28 SPLIT_MESSAGES_QUEUED "split messages are queued";
    29 SPLIT_MESSAGES_LIMIT "too many split messages are queued";
}

codes! {
    /// ErrorCodes (tag 39012) of NegotiationReject502 and EstablishmentReject505.
    RejectCode;
    0 HMAC_NOT_AUTHENTICATED "signature does not match";
    1 HMAC_NOT_AVAILABLE "CME could not check the signature in time";
    2 INVALID_UUID "UUID is invalid";
    3 INVALID_TIMESTAMP "RequestTimestamp is stale, out of range or not above the last";
    4 REQUIRED_HMAC_SIGNATURE_MISSING "HMACSignature is missing";
    5 REQUIRED_ACCESS_KEY_ID_MISSING "AccessKeyID is missing";
    6 REQUIRED_SESSION_MISSING "Session is missing";
    7 REQUIRED_FIRM_MISSING "Firm is missing";
    8 REQUIRED_UUID_MISSING "UUID is missing";
    9 REQUIRED_REQUEST_TIMESTAMP_MISSING "RequestTimestamp is missing";
    10 SESSION_BLOCKED "session and firm are not authorized for this port";
    11 INVALID_KEEP_ALIVE_INTERVAL "KeepAliveInterval is outside 5000 to 60000 milliseconds";
    12 INVALID_ACCESS_KEY_ID "AccessKeyID is not printable ASCII";
    13 INVALID_SESSION "Session is not printable ASCII";
    14 INVALID_FIRM "Firm is not printable ASCII";
    15 VOLUME_CONTROLS "message rate above the limit";
    16 SPLIT_MESSAGE_REJECTED "split message rejected";
    17 SPLIT_MESSAGE_QUEUE "split message queued";
    18 REQUIRED_TRADING_SYSTEM_NAME_MISSING "TradingSystemName is missing";
    19 REQUIRED_TRADING_SYSTEM_VERSION_MISSING "TradingSystemVersion is missing";
    20 REQUIRED_TRADING_SYSTEM_VENDOR_MISSING "TradingSystemVendor is missing";
    21 REQUIRED_KEEP_ALIVE_INTERVAL_MISSING "KeepAliveInterval is missing";
    22 REQUIRED_NEXT_SEQ_NO_MISSING "NextSeqNo is missing";
    23 INVALID_TRADING_SYSTEM_NAME "TradingSystemName is not printable ASCII";
    24 INVALID_TRADING_SYSTEM_VERSION "TradingSystemVersion is not printable ASCII";
    25 INVALID_TRADING_SYSTEM_VENDOR "TradingSystemVendor is not printable ASCII";
    27 DESIGNATED_BACKUP "backup was used before the primary";
    28 NEGOTIATE_NOT_ALLOWED "Negotiate on the backup while the primary is established";
}

codes! {
    /// ErrorCodes (tag 39012) of RetransmitReject510.
    RetransmitRejectCode;
    0 OUT_OF_RANGE "FromSeqNo and MsgCount are beyond what was published";
    1 INVALID_UUID "LastUUID is unknown or not authorized";
    2 REQUEST_LIMIT_EXCEEDED "more than 2500 messages requested";
    3 RETRANSMIT_IN_PROGRESS "a retransmission is already in progress";
    4 INVALID_TIMESTAMP "RequestTimestamp is invalid";
    5 INVALID_FROM_SEQ_NO "FromSeqNo is invalid";
    6 REQUIRED_UUID_MISSING "UUID is missing";
    7 REQUIRED_REQUEST_TIMESTAMP_MISSING "RequestTimestamp is missing";
    8 REQUIRED_FROM_SEQ_NO_MISSING "FromSeqNo is missing";
    9 REQUIRED_MSG_COUNT_MISSING "MsgCount is missing";
}

impl RetransmitRejectCode {
    /// Returns `true` if the requested range is invalid. A smaller range may be accepted.
    #[must_use]
    pub const fn is_range_error(self) -> bool {
        matches!(self.0, 0 | 5)
    }

    /// Returns `true` if repeating the same request cannot succeed. A repeat may succeed after a
    /// retransmission in progress (3), a limit (2), a clock difference (4) or an unknown code.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self.0, 0 | 1 | 5..=9)
    }
}

codes! {
    /// BusinessRejectReason (tag 380) of BusinessReject521.
    BusinessRejectReason;
    0 OTHER "other reason";
    1 UNKNOWN_PARTY_DETAILS "PartyDetailsListReqID is unknown";
    2 UNKNOWN_SECURITY "security is unknown";
    3 UNSUPPORTED_MESSAGE_TYPE "message type is not supported";
    5 REQUIRED_FIELD_MISSING "a required field is missing";
    6 NOT_AUTHORIZED "not authorized";
    8 THROTTLE_LIMIT_EXCEEDED "message rate above the reject limit";
    100 VALUE_OUT_OF_RANGE "value is out of range for its tag";
    101 INCORRECT_DATA_FORMAT "data format is incorrect";
    102 KILL_SWITCH "kill switch is on";
    103 RISK_MANAGEMENT "refused by the risk management API";
    104 CREDIT_CONTROLS "refused by Globex credit controls";
    105 NOT_AUTHORIZED_DSF "not authorized for deliverable swap futures";
    106 NOT_AUTHORIZED_IRS "not authorized for interest rate swaps";
    107 INLINE_CREDIT_CONTROLS "refused by inline credit controls";
    108 DUPLICATE_PARTY_DETAILS "PartyDetailsListReqID is a duplicate";
    109 DECODING_ERROR "message could not be decoded";
    110 REPEATED_GROUP_ENTRY "a group entry is repeated";
    111 TOO_MANY_PARTIES "too many party definitions";
    112 PARTY_REGISTRATION_ERROR "technical error while registering a party";
    113 CROSS_VENUE_RISK "refused by cross venue risk";
    114 ORDER_STATUS_NOT_AVAILABLE "order status is not available";
    115 ENUM_NOT_SUPPORTED "enumeration value is not supported";
    116 ORDER_STATUS_NOT_FOUND "order status was not found";
    117 MASS_STATUS_INCOMPLETE "mass order status cannot be completed";
    118 TOO_MANY_REQUESTING_PARTIES "too many RequestingPartyIDs";
    119 DUPLICATE_ORDER_THRESHOLD "duplicate order threshold exceeded";
    120 ON_DEMAND_PARTY_120 "on-demand party details and business message do not pair";
    121 ON_DEMAND_PARTY_121 "on-demand party details and business message do not pair";
    122 ON_DEMAND_PARTY_122 "on-demand party details and business message do not pair";
    123 ON_DEMAND_PARTY_123 "on-demand party details and business message do not pair";
    124 MASS_STATUS_IN_FLIGHT "a mass status request is already in flight";
    125 TOO_MANY_STATUS_REQUESTS "too many status requests are in flight";
    126 PARTY_LIST_IN_FLIGHT "a party list request is already in flight";
    127 PARTY_LIST_REQUEST_IDS_MISSING "party list request names no party";
    128 PARTY_LIST_REQUEST_IDS_BOTH "party list request names both kinds of party";
    129 ON_DEMAND_PARTY_129 "on-demand party details and business message do not pair";
    130 CROSS_FIRM_MISMATCH "firms of a cross do not match";
    131 NOT_ON_BACKUP "message type is not supported on the backup";
    132 CROSS_SIDES "cross has invalid sides";
    133 DUPLICATE_CL_ORD_ID "ClOrdID is a duplicate";
    134 TRADE_MISMATCH "value differs from the original trade";
    135 TRADE_NOT_FOUND "no trade has this OrderID and SecExecID";
    136 EFIX_PRICE "an eFix instrument takes no limit price but zero";
    137 LATENCY_FLOOR "session ended while the latency floor held the message back";
    138 INTERNAL_ERROR "internal technical error";
    139 MAX_ORDER_SIZE "order is larger than the maximum";
    140 GOOD_FOR_SESSION_NOT_AUTHORIZED "not authorized for good-for-session orders";
    141 ON_BEHALF_TOO_SHORT "OrigOrderUser is too short";
    142 ON_BEHALF_OF_ONESELF "OrigOrderUser is the sending session and firm";
    143 ON_BEHALF_OF_OTHER_FIRM "OrigOrderUser belongs to another firm";
    144 BLOCK_ON_BEHALF "quotes cannot be blocked on behalf of another";
    145 QUOTING_BLOCKED "quoting this instrument is blocked";
    146 ON_BEHALF_NOT_AVAILABLE "cancel on behalf of another is not available";
    147 ON_BEHALF_NOT_AUTHORIZED "not authorized to cancel for OrigOrderUser";
    148 ON_BEHALF_OF_ILINK_2 "an iLink 2 order cannot be canceled on behalf of another";
}

codes! {
    /// OrdRejReason (tag 103) of ExecutionReportReject523: the reason for rejecting a new order.
    OrderRejectReason;
    1003 MARKET_CLOSED "market is closed or paused";
    1007 FIELD_MISSING_OR_INCORRECT "a field is missing or incorrect";
    1010 REQUIRED_FIELD_MISSING "a required field is missing";
    1011 FIELD_INCORRECT "a field is incorrect";
    1012 PRICE_NOT_POSITIVE "price is not above zero";
    1013 INVALID_QUALIFIER "order qualifier is invalid";
    1014 NOT_AUTHORIZED "not authorized to trade";
    2013 NO_OPPOSITE_LIMIT "market order without an opposite limit order";
    2019 EXPIRE_DATE_PAST "ExpireDate is before the end of this or the next session";
    2046 DISPLAY_QUANTITY_TOO_LARGE "DisplayQty is more than the whole or remaining quantity";
    2047 UNKNOWN_INSTRUMENT "instrument is unknown";
    2051 SIDE_MISMATCH "side differs from the order's";
    2058 STOP_LIMIT_BELOW_TRIGGER "limit of a stop is below its trigger";
    2059 STOP_LIMIT_ABOVE_TRIGGER "limit of a stop is above its trigger";
    2060 SELL_STOP_NOT_BELOW_LAST "stop price of a sell is not below the last trade";
    2061 BUY_STOP_NOT_ABOVE_LAST "stop price of a buy is not above the last trade";
    2115 QUANTITY_OUT_OF_RANGE "quantity is out of range";
    2130 NOT_IN_PRE_OPEN "order type is not accepted between close and pre-open";
    2137 PRICE_OUTSIDE_LIMITS "price is outside the limits";
    2179 PRICE_OUTSIDE_BANDS "price is outside the bands";
    2311 ORDER_TYPE_NOT_PERMITTED "order type is not accepted for this group";
    2500 CROSS_IN_PROGRESS "a request for cross is in progress";
    2501 QUANTITY_TOO_LOW "quantity is too low";
    4999 NO_VALUE_DATE "instrument has no valid value date";
    7000 REJECTED "order was rejected";
    7027 MARKET_RESERVED "order type is not accepted while the market is reserved";
    7028 SESSION_DATE_PAST "session date of the order is past";
    7029 MARKET_FORBIDDEN "market is forbidden";
    7613 DISPLAY_BELOW_MIN_QUANTITY "DisplayQty is less than MinQty";
    7614 SELF_MATCH_PREVENTION_ID "self match prevention id is not the firm's";
}

codes! {
    /// CxlRejReason (tag 102) of OrderCancelReject535: the reason for rejecting a cancel.
    CancelRejectReason;
    0 TOO_LATE "too late to cancel";
    1 UNKNOWN_ORDER "order is unknown";
    1003 MARKET_CLOSED "market is closed or paused";
    2045 NOT_ON_BOOK "order is not on the book";
    2048 OTHER_SESSION "order was entered by another session";
    2051 SIDE_MISMATCH "side differs from the order's";
    7024 NO_CANCEL "market is in no-cancel";
    7027 MARKET_RESERVED "market is reserved";
    7029 MARKET_FORBIDDEN "market is forbidden";
}

codes! {
    /// CxlRejReason (tag 102) of OrderCancelReplaceReject536: the reason for rejecting a
    /// replacement.
    ReplaceRejectReason;
    0 TOO_LATE "too late to replace";
    1 UNKNOWN_ORDER "order is unknown";
    1003 MARKET_CLOSED "market is closed or paused";
    1012 PRICE_NOT_POSITIVE "price is not above zero";
    1013 INVALID_QUALIFIER "order qualifier is invalid";
    1014 NOT_AUTHORIZED "not authorized to trade";
    2013 NO_OPPOSITE_LIMIT "market order without an opposite limit order";
    2019 EXPIRE_DATE_PAST "ExpireDate is before the end of this or the next session";
    2045 NOT_ON_BOOK "order is not on the book";
    2046 DISPLAY_QUANTITY_TOO_LARGE "DisplayQty is more than the whole or remaining quantity";
    2047 UNKNOWN_INSTRUMENT "instrument is unknown";
    2048 OTHER_SESSION "order was entered by another session";
    2051 SIDE_MISMATCH "side differs from the order's";
    2058 STOP_LIMIT_BELOW_TRIGGER "limit of a stop is below its trigger";
    2059 STOP_LIMIT_ABOVE_TRIGGER "limit of a stop is above its trigger";
    2060 SELL_STOP_NOT_BELOW_LAST "stop price of a sell is not below the last trade";
    2061 BUY_STOP_NOT_ABOVE_LAST "stop price of a buy is not above the last trade";
    2100 INSTRUMENT_MISMATCH "instrument differs from the order's";
    2101 MITIGATION_MISMATCH "in-flight mitigation differs from the first replacement's";
    2102 SENDER_MISMATCH "sender differs from the order's";
    2103 TRADER_MISMATCH "trader differs from the order's";
    2115 QUANTITY_OUT_OF_RANGE "quantity is out of range";
    2130 NOT_IN_PRE_OPEN "order type is not accepted between close and pre-open";
    2137 PRICE_OUTSIDE_LIMITS "price is outside the limits";
    2179 PRICE_OUTSIDE_BANDS "price is outside the bands";
    2311 ORDER_TYPE_NOT_PERMITTED "order type is not accepted for this group";
    2500 CROSS_IN_PROGRESS "a request for cross is in progress";
    2501 QUANTITY_TOO_LOW "quantity is too low";
    5102 DISPLAY_QUANTITY_CHANGE "an order cannot gain or lose its DisplayQty";
    7000 REJECTED "replacement was rejected";
    7016 NO_LONGER_ON_BOOK "order is not on the book";
    7024 NO_CANCEL "market is in no-cancel";
    7027 MARKET_RESERVED "order type is not accepted while the market is reserved";
    7028 SESSION_DATE_PAST "session date of the order is past";
    7029 MARKET_FORBIDDEN "market is forbidden";
    7613 DISPLAY_BELOW_MIN_QUANTITY "DisplayQty is less than MinQty";
    7614 SELF_MATCH_PREVENTION_ID "self match prevention id is not the firm's";
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn prints_number_and_description() {
        assert_eq!(TerminateCode::INVALID_SOFH.0, 18);
        assert_eq!(TerminateCode(19).to_string(), "19 (message could not be decoded)");
        assert_eq!(
            RejectCode::DESIGNATED_BACKUP.to_string(),
            "27 (backup was used before the primary)"
        );
        assert_eq!(BusinessRejectReason(8), BusinessRejectReason::THROTTLE_LIMIT_EXCEEDED);
    }

    #[test]
    fn describes_every_documented_code() {
        let unknown = "unknown code";
        for code in (0..=24).chain([26, 28, 29]) {
            assert_ne!(TerminateCode(code).text(), unknown, "Terminate {code}");
        }
        for code in (0..=25).chain([27, 28]) {
            assert_ne!(RejectCode(code).text(), unknown, "reject of a logon {code}");
        }
        for code in 0..=9 {
            assert_ne!(RetransmitRejectCode(code).text(), unknown, "RetransmitReject {code}");
        }
        for code in [0, 1, 2, 3, 5, 6, 8].into_iter().chain(100..=148) {
            assert_ne!(BusinessRejectReason(code).text(), unknown, "BusinessReject {code}");
        }
    }

    #[test]
    fn rejects_are_final_unless_a_repeat_can_succeed() {
        let is_final = |code| RetransmitRejectCode(code).is_final();
        assert!([0, 1, 5, 6, 7, 8, 9].into_iter().all(is_final));
        assert!(![2, 3, 4, 10, 65_535].into_iter().any(is_final));
    }

    #[test]
    fn range_rejects_are_0_and_5() {
        let is_range_error = |code: &u16| RetransmitRejectCode(*code).is_range_error();
        assert_eq!((0..100).filter(is_range_error).collect::<std::vec::Vec<_>>(), [0, 5]);
    }

    #[test]
    fn preserves_unknown_codes() {
        assert_eq!(TerminateCode(4711).to_string(), "4711 (unknown code)");
        assert_eq!(RejectCode(26).text(), "unknown code");
        assert_eq!(OrderRejectReason(2).to_string(), "2 (unknown code)");
    }

    #[test]
    fn same_number_differs_by_message() {
        assert_eq!(OrderRejectReason(2137).text(), "price is outside the limits");
        assert_eq!(CancelRejectReason::NOT_ON_BOOK.0, 2045);
        assert_eq!(CancelRejectReason(0).text(), "too late to cancel");
        assert_eq!(ReplaceRejectReason(0).text(), "too late to replace");
        assert_eq!(ReplaceRejectReason::MITIGATION_MISMATCH.0, 2101);
    }
}
