//! The lines of a message.

use super::columns::{
    AGGRESSOR, BID_PRICE, CL_ORD_ID, COLUMNS, COUNT, CUMULATIVE, FILL_PRICE, FILL_QUANTITY,
    INSTRUMENT, LIMIT_PRICE, MANUAL, OFFER_PRICE, ORDER_ID, ORDER_REQUEST, ORDER_TYPE, OWN,
    PARTY_LIST, QUALIFIER, QUANTITY, QUOTE_SET, REJECT_REASON, REMAINING, ROLES, SIDE, STOP_PRICE,
    TRADE_ID, has_limit, has_stop, required,
};
use super::message::{Message, Values};
use crate::order::audit_record::quoted;

/// The buy side of tag 54.
const BUY: &str = "1";

/// A line: the values of CME's columns, then of our own.
#[derive(Debug, Clone)]
pub(super) struct Line {
    cells: [Option<String>; COUNT + OWN.len()],
    template_id: u16,
    /// The line is of a leg of a spread.
    is_leg: bool,
}

impl Line {
    /// Creates the line of a message's root block.
    fn new(message: &Message) -> Self {
        let template_id = message.template_id;
        let mut line = Self { cells: [const { None }; _], template_id, is_leg: false };
        line.fill(&message.root);
        line.set(REJECT_REASON, reject_reason(&message.root));
        for (role, position) in ROLES {
            let parties = message.group("NoPartyDetails").iter();
            let ids = parties.filter(|party| party.get("PartyDetailRole") == Some(role));
            let ids: Vec<_> = ids.filter_map(|party| party.get("PartyDetailID")).collect();
            line.set(position, Some(ids.join(";")).filter(|ids| !ids.is_empty()));
        }
        line
    }

    /// Sets the columns whose fields are in `values`.
    fn fill(&mut self, values: &Values) {
        for (cell, column) in self.cells.iter_mut().zip(&COLUMNS) {
            if let Some(value) = values.get(column.field) {
                *cell = Some(value.to_owned());
            }
        }
    }

    /// Returns the value at a position, counted from 1.
    pub(super) fn get(&self, position: usize) -> Option<&str> {
        self.cells[position - 1].as_deref()
    }

    pub(super) fn set(&mut self, position: usize, value: Option<String>) {
        self.cells[position - 1] = value;
    }

    /// Returns the line as CSV, without its end.
    pub(super) fn csv(&self) -> String {
        let cells = self.cells.iter().map(|cell| quoted(cell.as_deref().unwrap_or_default()));
        cells.collect::<Vec<_>>().join(",")
    }

    /// Returns the heading of each column that CME requires and that has no value.
    pub(super) fn missing(&self) -> impl Iterator<Item = &'static str> {
        let order_type = self.get(ORDER_TYPE).unwrap_or_default();
        let is_entry = matches!(self.template_id, 514 | 515);
        let limit = (is_entry && has_limit(order_type)).then_some(LIMIT_PRICE);
        let stop = (is_entry && has_stop(order_type)).then_some(STOP_PRICE);
        let all = required(self.template_id, self.is_leg).chain(limit).chain(stop);
        all.filter(|&position| self.get(position).is_none())
            .map(|position| COLUMNS[position - 1].heading)
    }

    fn with(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut line = self.clone();
        change(&mut line);
        line
    }
}

/// Returns the headings, as CSV.
pub(super) fn headings() -> String {
    let all = COLUMNS.iter().map(|column| column.heading).chain(OWN);
    all.collect::<Vec<_>>().join(",")
}

/// Returns the lines of a message: of each entry of a mass quote, of each side of a cross, of a
/// spread and its legs, of each order of a mass action; one for other messages.
///
/// Without `with_legs` the legs of a spread are left out, because they have messages of their own.
pub(super) fn lines(message: &Message, with_legs: bool) -> Vec<Line> {
    let line = Line::new(message);
    let of = |group: &str, change: fn(&mut Line, &Values)| -> Vec<Line> {
        let entries = message.group(group).iter();
        entries.map(|entry| line.with(|line| change(line, entry))).collect()
    };
    let mut lines = match message.template_id {
        517 | 545 | 563 | 571 => of("NoQuoteEntries", quote_entry),
        567 => of("NoQuoteEntries", one_sided_quote),
        528 | 569 | 570 => of("NoQuoteEntries", canceled_quotes),
        543 => of("NoRelatedSym", Line::fill),
        544 | 566 => of("NoSides", cross_side),
        562 => of("NoAffectedOrders", affected_order),
        _ => Vec::new(),
    };
    if matches!(message.template_id, 528 | 563 | 568) {
        lines.extend(of("NoQuoteSets", Line::fill));
    }
    if lines.is_empty() {
        lines.push(line.clone());
    }
    if with_legs {
        lines.extend(of("NoLegs", leg).into_iter().filter(|line| line.is_leg));
    }
    lines
}

fn quote_entry(line: &mut Line, entry: &Values) {
    line.fill(entry);
    if let Some(reason) = entry.get("QuoteEntryRejectReason") {
        line.set(REJECT_REASON, Some(reason.to_owned()));
    }
}

fn one_sided_quote(line: &mut Line, entry: &Values) {
    line.fill(entry);
    let price = if entry.get("Side") == Some(BUY) { BID_PRICE } else { OFFER_PRICE };
    for (from, to) in [(LIMIT_PRICE, price), (QUANTITY, price + 1)] {
        let value = line.get(from).map(str::to_owned);
        line.set(from, None);
        line.set(to, value);
    }
}

/// Quotes may be canceled by security group, which then is the instrument.
fn canceled_quotes(line: &mut Line, entry: &Values) {
    line.fill(entry);
    if line.get(INSTRUMENT).is_none() {
        line.set(INSTRUMENT, entry.get("SecurityGroup").map(str::to_owned));
    }
    line.set(QUOTE_SET, None);
}

fn cross_side(line: &mut Line, side: &Values) {
    line.fill(side);
    line.set(QUALIFIER, side.get("SideTimeInForce").map(str::to_owned));
}

fn affected_order(line: &mut Line, order: &Values) {
    line.set(ORDER_ID, order.get("AffectedOrderID").map(str::to_owned));
    line.set(CL_ORD_ID, order.get("OrigCIOrdID").map(str::to_owned));
}

/// A leg has neither manual indicator, request id, remaining quantity nor aggressor, and no terms
/// of the order.
fn leg(line: &mut Line, leg: &Values) {
    // The legs of other messages are those of a new instrument.
    let Some(price) = leg.get("LegLastPx") else { return };
    line.is_leg = true;
    let without = [
        MANUAL,
        ORDER_REQUEST,
        QUANTITY,
        LIMIT_PRICE,
        STOP_PRICE,
        ORDER_TYPE,
        QUALIFIER,
        CUMULATIVE,
        REMAINING,
        AGGRESSOR,
    ];
    without.into_iter().for_each(|position| line.set(position, None));
    line.set(FILL_PRICE, Some(price.to_owned()));
    for (position, field) in [
        (INSTRUMENT, "LegSecurityID"),
        (SIDE, "LegSide"),
        (FILL_QUANTITY, "LegLastQty"),
        (TRADE_ID, "LegTradeID"),
    ] {
        line.set(position, leg.get(field).map(str::to_owned));
    }
}

/// Returns why a message was rejected: a code, and CME's text.
fn reject_reason(root: &Values) -> Option<String> {
    if let Some(code) = root.get("BusinessRejectReason") {
        let reference = root.get("BusinessRejectRefID");
        return Some(reference.map_or(code.to_owned(), |id| format!("{code}--{id}")));
    }
    let codes = ["OrdRejReason", "CxlRejReason", "QuoteRejectReason", "MassActionRejectReason"];
    let code = codes.into_iter().find_map(|field| root.get(field));
    let parts: Vec<_> =
        code.into_iter().chain(root.get("Text").filter(|_| code.is_some())).collect();
    Some(parts.join(" ")).filter(|reason| !reason.is_empty())
}

/// Returns the message type with the order's or the quote's status.
pub(super) fn message_type(message: &Message) -> String {
    let status = match message.msg_type {
        "8" => message.root.get("OrdStatus"),
        "b" => message.root.get("QuoteStatus"),
        "" => return message.template_id.to_string(),
        _ => None,
    };
    match status {
        Some(status) => format!("{}--{status}", message.msg_type),
        None => message.msg_type.to_owned(),
    }
}

impl Line {
    /// Returns the party details that the line uses, if they are registered ones.
    pub(super) fn used_party_list(&self) -> Option<&str> {
        let defines = matches!(self.template_id, 518 | 519 | 537 | 538);
        self.get(PARTY_LIST).filter(|&id| !defines && id != "0")
    }

    /// Returns the party details that the line defines, if they are registered ones.
    pub(super) fn defined_party_list(&self) -> Option<&str> {
        let defines = matches!(self.template_id, 518 | 519 | 538);
        self.get(PARTY_LIST).filter(|&id| defines && id != "0")
    }

    /// Returns `true` if the line is of a leg.
    pub(super) fn is_leg(&self) -> bool {
        self.is_leg
    }
}
