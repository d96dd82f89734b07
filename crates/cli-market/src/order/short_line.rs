//! A record as a short line for a person, in the form of the commands.
//!
//! ```text
//! 07:59:01.622 filled   buy 1 @ 999.75 HP001 id 1796111938680, 1 left
//! ```

use std::collections::BTreeMap;

use hairpin_measure::counted;
use jiff::Span;
use jiff::civil::Date;

use super::audit_record::{AuditRecord, push_text};
use super::columns::{ColumnValue, Columns, REASON};
use super::orders::Orders;

/// The symbols of the settings file by SecurityID.
pub(super) type Symbols = BTreeMap<u64, String>;

/// The place of the time of day, with milliseconds, in a printed time.
const TIME: std::ops::Range<usize> = 11..23;
/// The columns that a short line has in another form, or not at all.
const OMITTED: [&str; 13] = [
    "ClOrdID",
    "OrderID",
    "SecurityID",
    REASON,
    "Text",
    "ExecID",
    "OrderRequestID",
    "PossRetransFlag",
    "RequestTimestamp",
    "OrdStatus",
    "MassActionScope",
    "MassActionResponse",
    "TotalAffectedOrders",
];
/// The validities of the commands.
const VALIDITIES: [(&str, &str); 5] = [
    ("Day", ""),
    ("GoodTillCancel", "gtc"),
    ("FillAndKill", "fak"),
    ("FillOrKill", "fok"),
    ("GoodTillDate", "gtd"),
];

/// Returns the line, without its end. Orders have the names of their entries.
pub(super) fn short(record: &AuditRecord, symbols: &Symbols, orders: &Orders) -> String {
    let columns = &record.columns;
    let name = columns.name.as_deref().unwrap_or("?");
    let message = name.trim_end_matches(|character: char| character.is_ascii_digit());
    let (event, subject) = match record.direction {
        "session" | "order" => (name, String::new()),
        "position" => ("position", name.to_owned()),
        "out" | "request" => ("sent", request(message)),
        _ => report(message, columns),
    };
    let mut words = vec![subject];
    words.extend(terms(columns));
    let symbol = |id| symbols.get(&id).cloned().unwrap_or_else(|| id.to_string());
    words.extend(columns.number("SecurityID").map(symbol));
    words.extend(validity(columns));
    let named = columns.number("OrderID").and_then(|id| orders.name(id));
    let named = named.or_else(|| columns.get("ClOrdID").map(str::to_owned));
    words.extend(named.map(|id| format!("id {id}")));
    words.retain(|word| !word.is_empty());
    let mut others = String::new();
    if columns.get("Side").is_none() {
        let shown = columns.iter().filter(|(name, _)| !OMITTED.contains(name));
        for (name, cell) in shown {
            let cell = cell.map(|cell| ColumnValue::text(without_code(&cell.text)));
            push_text(&mut others, name, cell.as_ref());
        }
    }
    let words = words.join(" ") + &others;
    let words = words.trim_start();
    let event = if words.is_empty() { event.to_owned() } else { format!("{event:<8} {words}") };
    format!("{} {event}{}", &record.time.to_string()[TIME], ending(columns))
}

/// Returns words for a message of ours.
fn request(message: &str) -> String {
    match message {
        "NewOrderSingle" => String::new(),
        "OrderCancelReplaceRequest" => "replace".to_owned(),
        "OrderCancelRequest" => "cancel".to_owned(),
        "OrderStatusRequest" => "status".to_owned(),
        "OrderMassActionRequest" => "cancel all".to_owned(),
        other => spaced(other),
    }
}

/// Returns the event of a message of the exchange, and what follows it.
fn report(message: &str, columns: &Columns) -> (&'static str, String) {
    let status = || columns.get("OrdStatus").map(without_code).map(spaced).unwrap_or_default();
    let event = match message {
        "ExecutionReportNew" => "new",
        "ExecutionReportModify" => "replaced",
        "ExecutionReportCancel" => "canceled",
        "ExecutionReportElimination" => "expired",
        "ExecutionReportStatus" => return ("status", status()),
        "ExecutionReportReject" | "BusinessReject" => "rejected",
        "OrderCancelReject" => return ("rejected", "cancel".to_owned()),
        "OrderCancelReplaceReject" => return ("rejected", "replace".to_owned()),
        "OrderMassActionReport" => match columns.number("TotalAffectedOrders") {
            Some(count) if is_accepted(columns) => return ("canceled", counted(count, "order")),
            _ => return ("rejected", "cancel all".to_owned()),
        },
        other if other.starts_with("ExecutionReportTradeAddendum") => return ("changed", status()),
        other if other.starts_with("ExecutionReportTrade") => "filled",
        other => return ("received", spaced(other)),
    };
    (event, String::new())
}

/// Returns `true` if the exchange has carried a mass action out.
fn is_accepted(columns: &Columns) -> bool {
    columns.get("MassActionResponse").is_some_and(|response| !response.ends_with("(0)"))
}

/// Returns a message's name as words: `MassQuoteAck` as `mass quote ack`.
fn spaced(message: &str) -> String {
    let mut words = String::new();
    for character in message.chars() {
        if character.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(character.to_ascii_lowercase());
    }
    words
}

/// Returns a value without its code: `Buy` for `Buy(1)`.
fn without_code(value: &str) -> &str {
    value.split('(').next().unwrap_or(value)
}

/// Returns the code of a value: `1` for `Buy(1)`.
fn code(value: &str) -> &str {
    value.split(['(', ')']).nth(1).unwrap_or_default()
}

/// Returns side, quantity and price, of the fill if it is one. The price of a market order or of a
/// stop order with protection is the protection's.
fn terms(columns: &Columns) -> Vec<String> {
    let Some(side) = columns.get("Side") else { return Vec::new() };
    let price = |name: &str| columns.get(name).map(|price| format!("@ {price}"));
    let stop = columns.get("StopPx").map(|price| format!("stop {price}"));
    let quantity = columns.get("LastQty").or_else(|| columns.get("OrderQty"));
    let kind = columns.get("OrdType").map(code).unwrap_or_default();
    let pricing = match (price("LastPx"), kind) {
        (Some(fill), _) => Some(fill),
        (None, "1") => Some("market".to_owned()),
        (None, "K") => Some("market-limit".to_owned()),
        (None, "3") => stop,
        (None, _) => match (stop, price("Price")) {
            (Some(stop), Some(price)) => Some(format!("{stop} {price}")),
            (stop, price) => stop.or(price),
        },
    };
    let side = without_code(side).to_ascii_lowercase();
    [Some(side), quantity.map(str::to_owned), pricing].into_iter().flatten().collect()
}

/// Returns how long an order is valid, and its minimum and shown quantities.
fn validity(columns: &Columns) -> Vec<String> {
    if columns.get("Side").is_none() || columns.get("LastQty").is_some() {
        return Vec::new();
    }
    let time_in_force = columns.get("TimeInForce").map(without_code).map(|value| {
        let known = VALIDITIES.iter().find(|(name, _)| *name == value);
        known.map_or(value, |(_, word)| word).to_owned()
    });
    let date = columns.get("ExpireDate").map(|days| date(days).unwrap_or_else(|| days.to_owned()));
    let quantity = |word: &str, name: &str| columns.get(name).map(|it| format!("{word} {it}"));
    let all = [time_in_force, date, quantity("min", "MinQty"), quantity("show", "DisplayQty")];
    all.into_iter().flatten().collect()
}

/// Returns the date of a number of days since 1970.
fn date(days: &str) -> Option<String> {
    let days = Span::new().try_days(days.parse::<i64>().ok()?).ok()?;
    Some(Date::constant(1970, 1, 1).checked_add(days).ok()?.to_string())
}

/// Returns what is left of an order, the mark of a message that was sent before, the reason, and
/// the text, if the reason lacks it.
fn ending(columns: &Columns) -> String {
    let has_side = columns.get("Side").is_some();
    let left = columns.number("LeavesQty").filter(|&left| left > 0 && has_side);
    let left = left.map(|left| format!(", {left} left"));
    let is_repeated = columns.get("PossRetransFlag").map(without_code) == Some("True");
    let repeated = is_repeated.then(|| ", sent before".to_owned());
    let reason = columns.get(REASON);
    let is_new = |text: &&str| {
        let contains = |it: &str| it.to_lowercase().contains(&text.to_lowercase());
        !reason.is_some_and(contains)
    };
    let text = columns.get("Text").filter(is_new).map(|text| format!(": {text}"));
    let reason = reason.map(|reason| format!(": {reason}"));
    [left, repeated, reason, text].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use hairpin_time::Utc;

    use super::*;

    fn line(direction: &'static str, name: &str, values: &[(&str, &str)]) -> String {
        let mut columns = Columns::named(name);
        for (name, value) in values {
            columns.put(name, ColumnValue::text(value));
        }
        let time = Utc::from_nanos(1_700_000_000_123_456_789);
        let record = AuditRecord::event(time, direction, 7, Some(1), columns);
        let symbols = Symbols::from([(1_001, "HP001".to_owned())]);
        short(&record, &symbols, &Orders::default())
    }

    type Pair = (&'static str, &'static str);

    /// The terms of a limit order, as reports have them.
    const LIMIT: [Pair; 7] = [
        ("ClOrdID", "first"),
        ("OrderID", "5"),
        ("Side", "Buy(1)"),
        ("OrderQty", "2"),
        ("Price", "900"),
        ("SecurityID", "1001"),
        ("OrdType", "Limit(2)"),
    ];

    fn with(more: &[Pair]) -> Vec<Pair> {
        [&LIMIT[..], more].concat()
    }

    #[test]
    fn order_reads_like_its_command() {
        for (direction, name, values, expected) in [
            (
                "out",
                "NewOrderSingle514",
                with(&[("TimeInForce", "Day(0)")]),
                "sent     buy 2 @ 900",
            ),
            ("in", "ExecutionReportNew522", with(&[]), "new      buy 2 @ 900"),
            ("in", "ExecutionReportModify531", with(&[]), "replaced buy 2 @ 900"),
            ("in", "ExecutionReportCancel534", with(&[]), "canceled buy 2 @ 900"),
            ("out", "OrderCancelReplaceRequest515", with(&[]), "sent     replace buy 2 @ 900"),
            ("order", "working", with(&[]), "working  buy 2 @ 900"),
            (
                "in",
                "ExecutionReportNew522",
                with(&[("OrdType", "MarketWithProtection(1)")]),
                "new      buy 2 market",
            ),
            (
                "in",
                "ExecutionReportNew522",
                with(&[("StopPx", "950")]),
                "new      buy 2 stop 950 @ 900",
            ),
        ] {
            let expected = format!("22:13:20.123 {expected} HP001 id first");
            assert_eq!(line(direction, name, &values), expected);
        }
    }

    #[test]
    fn report_has_fill_validity_and_reason() {
        let fill = with(&[("LastQty", "1"), ("LastPx", "899.5"), ("LeavesQty", "1")]);
        let filled = line("in", "ExecutionReportTradeOutright525", &fill);
        assert_eq!(filled, "22:13:20.123 filled   buy 1 @ 899.5 HP001 id first, 1 left");
        let iceberg = [
            ("TimeInForce", "GoodTillDate(6)"),
            ("ExpireDate", "20818"),
            ("DisplayQty", "1"),
            ("PossRetransFlag", "True(1)"),
        ];
        let new = line("in", "ExecutionReportNew522", &with(&iceberg));
        let expected = "new      buy 2 @ 900 HP001 gtd 2026-12-31 show 1 id first, sent before";
        assert_eq!(new, format!("22:13:20.123 {expected}"));
        let reason = [("ClOrdID", "first"), (REASON, "3 (no such order)"), ("Text", "late")];
        let rejected = line("in", "OrderCancelReject535", &reason);
        assert_eq!(rejected, "22:13:20.123 rejected cancel id first: 3 (no such order): late");
    }

    #[test]
    fn text_that_repeats_the_reason_is_omitted() {
        let reason = [(REASON, "3 (no such order)"), ("Text", "No such order")];
        let rejected = line("in", "OrderCancelReject535", &reason);
        assert_eq!(rejected, "22:13:20.123 rejected cancel: 3 (no such order)");
    }

    #[test]
    fn mass_action_reads_like_its_command() {
        let scope = ("MassActionScope", "All(7)");
        let sent = line("out", "OrderMassActionRequest529", &[scope]);
        assert_eq!(sent, "22:13:20.123 sent     cancel all");
        for (response, expected) in
            [("Accepted(1)", "canceled 2 orders"), ("Rejected(0)", "rejected cancel all")]
        {
            let report = [scope, ("MassActionResponse", response), ("TotalAffectedOrders", "2")];
            let report = line("in", "OrderMassActionReport562", &report);
            assert_eq!(report, format!("22:13:20.123 {expected}"));
        }
    }

    #[test]
    fn event_without_words_has_its_text() {
        let failure = line("session", "failure", &[("Text", "refused")]);
        assert_eq!(failure, "22:13:20.123 failure: refused");
    }

    #[test]
    fn other_messages_have_words_and_fields() {
        let session = line("session", "established", &[]);
        assert_eq!(session, "22:13:20.123 established");
        let position = line("position", "HP001", &[("Text", "net 1: bought 1, sold 0")]);
        assert_eq!(position, "22:13:20.123 position HP001: net 1: bought 1, sold 0");
        let quote =
            line("in", "MassQuoteAck545", &[("QuoteID", "4"), ("QuoteStatus", "Accepted(0)")]);
        assert_eq!(quote, "22:13:20.123 received mass quote ack QuoteID=4 QuoteStatus=Accepted");
    }
}
