//! The columns of the audit trail, and the values that CME requires.
//!
//! Source: CME Client Systems Wiki 46474331 (columns) and its pages per message: 46441910 (new
//! order), 493322273 (modification), 492863566 (cancel), 493256770 (cross), 457323347 (fill),
//! 457419473 (canceled), 457223951 (rejected), 457092716 (trade canceled or corrected), 46474356
//! (business reject), 457224254 and 457223994 (request for quote and its answer).

/// A column: CME's heading, and the tag of its value.
pub(super) struct Column {
    pub(super) heading: &'static str,
    pub(super) field: &'static str,
}

/// The number of CME's columns.
pub(super) const COUNT: usize = 54;

/// CME's columns in order, with the field that most messages have for them. Other columns are
/// filled by message.
pub(super) const COLUMNS: [Column; COUNT] = [
    column("Sending Timestamps", ""),
    column("Message Direction", ""),
    column("Operator ID", "SenderID"),
    column("Session ID", ""),
    column("Manual Order Indicator", "ManualOrderIndicator"),
    column("Message Type", ""),
    column("Instrument", "SecurityID"),
    column("Order Flow ID", ""),
    column("CME Globex Order ID", "OrderID"),
    column("Client Order ID", "ClOrdID"),
    column("Order Request ID", "OrderRequestID"),
    column("Buy/Sell Indicator", "Side"),
    column("Quantity", "OrderQty"),
    column("Limit Price", "Price"),
    column("Stop Price", "StopPx"),
    column("Order Type", "OrdType"),
    column("Order Qualifier", "TimeInForce"),
    column("IFM Flag", "OFMOverride"),
    column("Display Quantity", "DisplayQty"),
    column("Minimum Quantity", "MinQty"),
    column("Country of Origin", "Location"),
    column("Fill Price", "LastPx"),
    column("Fill Quantity", "LastQty"),
    column("Cumulative Quantity", "CumQty"),
    column("Remaining Quantity", "LeavesQty"),
    column("AggressorFlag", "AggressorIndicator"),
    column("Source of Cancellation", "ExecRestatementReason"),
    column("Reject Reason", ""),
    column("CME Globex Message ID", "SideTradeID"),
    column("Cross ID", "CrossID"),
    column("Quote Request ID", "QuoteReqID"),
    column("Message Quote ID", "QuoteID"),
    column("Quote Set ID", "QuoteSetID"),
    column("Quote Entry ID", "QuoteEntryID"),
    column("Bid Price", "BidPx"),
    column("Bid Size", "BidSize"),
    column("Offer Price", "OfferPx"),
    column("Offer Size", "OfferSize"),
    column("Processed Entries", "NoProcessedEntries"),
    column("Party Details List Request ID", "PartyDetailsListReqID"),
    column("ListUpdateAction", "ListUpdateAction"),
    column("Self-Matching Prevention ID", "SelfMatchPreventionID"),
    column("Self-Match Prevention Instr", "SelfMatchPreventionInstruction"),
    column("Customer Type Indicator", "CustOrderCapacity"),
    column("AvgPxGroupID", "AvgPxGroupID"),
    column("Average Px Ind", "AvgPxIndicator"),
    column("CmtaGiveUpCD", "CmtaGiveupCD"),
    column("Origin", "ClearingAccountType"),
    column("Clearing Trade Price Type", "ClearingTradePriceType"),
    column("Customer Handling Instr", "CustOrderHandlingInst"),
    column("Executing Firm ID", ""),
    column("Account Number", ""),
    column("Take Up Firm", ""),
    column("Take up Account", ""),
];

/// Our own columns, behind CME's.
pub(super) const OWN: [&str; 2] = ["UUID", "Sequence Number"];

const fn column(heading: &'static str, field: &'static str) -> Column {
    Column { heading, field }
}

// Positions that code refers to, counted from 1 as on CME's pages.
pub(super) const SENDING_TIME: usize = 1;
pub(super) const DIRECTION: usize = 2;
pub(super) const OPERATOR: usize = 3;
pub(super) const SESSION: usize = 4;
pub(super) const MANUAL: usize = 5;
pub(super) const MESSAGE_TYPE: usize = 6;
pub(super) const INSTRUMENT: usize = 7;
pub(super) const ORDER_FLOW: usize = 8;
pub(super) const ORDER_ID: usize = 9;
pub(super) const CL_ORD_ID: usize = 10;
pub(super) const ORDER_REQUEST: usize = 11;
pub(super) const SIDE: usize = 12;
pub(super) const QUANTITY: usize = 13;
pub(super) const LIMIT_PRICE: usize = 14;
pub(super) const STOP_PRICE: usize = 15;
pub(super) const ORDER_TYPE: usize = 16;
pub(super) const QUALIFIER: usize = 17;
pub(super) const FILL_PRICE: usize = 22;
pub(super) const FILL_QUANTITY: usize = 23;
pub(super) const CUMULATIVE: usize = 24;
pub(super) const REMAINING: usize = 25;
pub(super) const AGGRESSOR: usize = 26;
pub(super) const REJECT_REASON: usize = 28;
pub(super) const TRADE_ID: usize = 29;
pub(super) const CROSS_ID: usize = 30;
pub(super) const QUOTE_SET: usize = 33;
pub(super) const BID_PRICE: usize = 35;
pub(super) const OFFER_PRICE: usize = 37;
pub(super) const PARTY_LIST: usize = 40;
pub(super) const LIST_ACTION: usize = 41;
/// The columns of party roles: executing firm, account, take-up firm, take-up account.
pub(super) const ROLES: [(&str, usize); 4] = [("1", 51), ("24", 52), ("96", 53), ("1000", 54)];

/// The location, columns 21.
const LOCATION: usize = 21;

/// Required in every line.
const ALWAYS: &[usize] = &[SENDING_TIME, DIRECTION, SESSION, MESSAGE_TYPE];
const NEW: &[usize] = &[
    OPERATOR,
    MANUAL,
    INSTRUMENT,
    ORDER_FLOW,
    CL_ORD_ID,
    ORDER_REQUEST,
    SIDE,
    QUANTITY,
    ORDER_TYPE,
    LOCATION,
    PARTY_LIST,
];
const MODIFICATION: &[usize] = &[
    OPERATOR,
    MANUAL,
    INSTRUMENT,
    ORDER_FLOW,
    CL_ORD_ID,
    ORDER_REQUEST,
    SIDE,
    QUANTITY,
    ORDER_TYPE,
    PARTY_LIST,
];
const CANCEL: &[usize] = &[
    OPERATOR,
    MANUAL,
    INSTRUMENT,
    ORDER_FLOW,
    CL_ORD_ID,
    ORDER_REQUEST,
    SIDE,
    LOCATION,
    PARTY_LIST,
];
const CROSS: &[usize] =
    &[OPERATOR, MANUAL, INSTRUMENT, ORDER_FLOW, CL_ORD_ID, ORDER_REQUEST, SIDE, QUANTITY, CROSS_ID];
const ACKNOWLEDGMENT: &[usize] =
    &[OPERATOR, MANUAL, INSTRUMENT, ORDER_FLOW, ORDER_ID, CL_ORD_ID, ORDER_REQUEST, SIDE];
const REJECT: &[usize] =
    &[OPERATOR, MANUAL, ORDER_FLOW, ORDER_ID, CL_ORD_ID, ORDER_REQUEST, REJECT_REASON, PARTY_LIST];
const FILL: &[usize] = &[
    OPERATOR,
    MANUAL,
    INSTRUMENT,
    ORDER_FLOW,
    ORDER_ID,
    CL_ORD_ID,
    ORDER_REQUEST,
    SIDE,
    FILL_PRICE,
    FILL_QUANTITY,
    CUMULATIVE,
    REMAINING,
    AGGRESSOR,
    TRADE_ID,
    PARTY_LIST,
];
const LEG_FILL: &[usize] = &[
    OPERATOR,
    INSTRUMENT,
    ORDER_FLOW,
    ORDER_ID,
    CL_ORD_ID,
    SIDE,
    FILL_PRICE,
    FILL_QUANTITY,
    CUMULATIVE,
    TRADE_ID,
    PARTY_LIST,
];
const TRADE_CANCELLATION: &[usize] = &[
    OPERATOR,
    MANUAL,
    INSTRUMENT,
    ORDER_FLOW,
    ORDER_ID,
    CL_ORD_ID,
    LOCATION,
    FILL_PRICE,
    FILL_QUANTITY,
    TRADE_ID,
];
const LEG_CANCELLATION: &[usize] = &[
    OPERATOR,
    INSTRUMENT,
    ORDER_FLOW,
    ORDER_ID,
    CL_ORD_ID,
    LOCATION,
    FILL_PRICE,
    FILL_QUANTITY,
    TRADE_ID,
];
const QUOTE_REQUEST: &[usize] = &[OPERATOR, MANUAL, INSTRUMENT, LOCATION, PARTY_LIST];
const QUOTE_ANSWER: &[usize] = &[OPERATOR, MANUAL, LOCATION, PARTY_LIST];
const PARTY_DETAILS: &[usize] = &[PARTY_LIST, LIST_ACTION];

/// Returns the required columns of a line of this template, besides those of every line. The list
/// is empty for messages whose page was not found.
pub(super) fn required(template_id: u16, is_leg: bool) -> impl Iterator<Item = usize> {
    let own = match template_id {
        514 => NEW,
        515 => MODIFICATION,
        516 => CANCEL,
        518 => PARTY_DETAILS,
        522 | 524 | 531 | 534 => ACKNOWLEDGMENT,
        523 => REJECT,
        525 | 526 if !is_leg => FILL,
        526 | 527 => LEG_FILL,
        543 => QUOTE_REQUEST,
        544 | 566 => CROSS,
        546 => QUOTE_ANSWER,
        548..=550 if !is_leg => TRADE_CANCELLATION,
        549 => LEG_CANCELLATION,
        _ => &[],
    };
    ALWAYS.iter().chain(own).copied()
}

/// Returns `true` if an order of this type (tag 40) has a limit price.
pub(super) fn has_limit(order_type: &str) -> bool {
    matches!(order_type, "2" | "4")
}

/// Returns `true` if an order of this type (tag 40) has a stop price.
pub(super) fn has_stop(order_type: &str) -> bool {
    matches!(order_type, "3" | "4")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_positions_have_their_headings() {
        for (position, heading) in [
            (SENDING_TIME, "Sending Timestamps"),
            (ORDER_FLOW, "Order Flow ID"),
            (SIDE, "Buy/Sell Indicator"),
            (QUALIFIER, "Order Qualifier"),
            (LOCATION, "Country of Origin"),
            (AGGRESSOR, "AggressorFlag"),
            (REJECT_REASON, "Reject Reason"),
            (TRADE_ID, "CME Globex Message ID"),
            (QUOTE_SET, "Quote Set ID"),
            (OFFER_PRICE, "Offer Price"),
            (LIST_ACTION, "ListUpdateAction"),
            (ROLES[0].1, "Executing Firm ID"),
            (ROLES[3].1, "Take up Account"),
        ] {
            assert_eq!(COLUMNS[position - 1].heading, heading);
        }
    }
}
