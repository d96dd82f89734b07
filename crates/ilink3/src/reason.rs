//! Why the exchange, or we, said no: the code lists of CME as types with texts.
//!
//! Codes are newtypes, not enums: a code that CME adds tomorrow survives and prints its number.
//! Sources: CME Client Systems Wiki, "iLink 3 - Terminate", "- Negotiation Reject",
//! "- Establishment Reject", "- Business Reject".

use core::fmt;

/// Defines a code newtype: named constants and their texts, in one table.
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

            /// What the code means, or `"unknown code"` if this list does not have it.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self.0 {
                    $( $code => $text, )*
                    _ => "unknown code",
                }
            }
        }

        /// The code and its text: `13 (UUID is not the current one, …)`.
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
    2 UNNEGOTIATED "a message came before Negotiate";
    3 NOT_ESTABLISHED "a message came before Establish";
    4 ALREADY_NEGOTIATED "Negotiate came when already negotiated";
    5 NEGOTIATION_IN_PROGRESS "Negotiate came while another was being answered";
    6 ALREADY_ESTABLISHED "Establish came when already established";
    7 ESTABLISH_IN_PROGRESS "Establish came while another was being answered";
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
    20 KEEP_ALIVE_INTERVAL_LAPSED "nothing was heard for two keep-alive intervals";
    21 REQUIRED_NEXT_SEQ_NO_MISSING "NextSeqNo is missing";
    22 REQUIRED_KEEP_ALIVE_LAPSED_MISSING "KeepAliveIntervalLapsed is missing";
    23 OTHER "other reason";
    24 TERMINATE_IN_PROGRESS "a Terminate is already being answered";
    26 PRIMARY_GONE "primary was disconnected or terminated, so the backup is too";
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
    10 SESSION_BLOCKED "session and firm are not authorised for this port";
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
    /// BusinessRejectReason (tag 380) of BusinessReject521.
    BusinessRejectReason;
    0 OTHER "other reason";
    1 UNKNOWN_PARTY_DETAILS "PartyDetailsListReqID is unknown";
    2 UNKNOWN_SECURITY "security is unknown";
    3 UNSUPPORTED_MESSAGE_TYPE "message type is not supported";
    5 REQUIRED_FIELD_MISSING "a required field is missing";
    6 NOT_AUTHORIZED "not authorised";
    8 THROTTLE_LIMIT_EXCEEDED "message rate above the reject limit";
    100 VALUE_OUT_OF_RANGE "value is out of range for its tag";
    101 INCORRECT_DATA_FORMAT "data format is incorrect";
    102 KILL_SWITCH "kill switch is on";
    103 RISK_MANAGEMENT "refused by the risk management API";
    104 CREDIT_CONTROLS "refused by Globex credit controls";
    105 NOT_AUTHORIZED_DSF "not authorised for deliverable swap futures";
    106 NOT_AUTHORIZED_IRS "not authorised for interest rate swaps";
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
    132 CROSS_SIDES "cross has sides that do not go together";
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_code_prints_its_number_and_text() {
        assert_eq!(TerminateCode::INVALID_SOFH.0, 18);
        assert_eq!(TerminateCode(19).to_string(), "19 (message could not be decoded)");
        assert_eq!(
            RejectCode::DESIGNATED_BACKUP.to_string(),
            "27 (backup was used before the primary)"
        );
        assert_eq!(BusinessRejectReason(8), BusinessRejectReason::THROTTLE_LIMIT_EXCEEDED);
    }

    #[test]
    fn an_unknown_code_survives() {
        assert_eq!(TerminateCode(4711).to_string(), "4711 (unknown code)");
        assert_eq!(RejectCode(26).text(), "unknown code");
    }
}
