//! A report of CME as a FIX message.
//!
//! Tags and values of iLink 3 are those of FIX where FIX 4.4 has them; docs/guide/drop-copy.md has
//! the table. Sources: CME Client Systems Wiki, "iLink 3 Execution Report - New Order" (46471809)
//! and the pages of the other reports; for what iLink 3 lacks, "Drop Copy 4.0 Execution Report -
//! Fill Notice" (665026738: AvgPx is always 0) and "- Trade Correction" (665485390: CumQty is 0,
//! LeavesQty is not sent); FIX 4.4 volume 4, ExecutionReport and OrderCancelReject.

use std::ops::Deref;

use anyhow::{Result, ensure};
use hairpin_sbe::{Message, MessageHeader, Value, Visitor};
use hairpin_time::Utc;

use super::definitions::Definitions;
use crate::fix::{Body, date, timestamp_nanos};
use crate::ilink::{self, OrderMessage};

/// OrdStatus of FIX 4.4. CME's others are U (undefined), and G and H of corrected and canceled
/// trades.
const ORD_STATUSES: &[u8] = b"0123456789ABCDE";
/// Symbol of an instrument without a definition: FIX's value if only SecurityID is known.
const NO_SYMBOL: &str = "[N/A]";
/// The tags of CME that are written by [`write_execution`] and [`write_cancel_reject`], or not at
/// all: those with a meaning of their own in a FIX session, and FIX 4.4's with other values.
const WRITTEN: [u16; 34] = [
    11, 14, 17, 18, 31, 32, 37, 38, 39, 40, 44, 48, 54, 58, 59, 60, 64, 75, 99, 102, 103, 110, 150,
    151, 378, 432, 434, 527, 541, 548, 549, 810, 828, 5392,
];
/// CME's tags of prices among the others.
const OTHER_PRICES: [u16; 4] = [845, 6262, 9264, 9562];

/// Returns `true` if a message of this schema and template is a report: CME's ExecutionReports
/// (FIX type 8) and cancel rejects (FIX type 9).
pub(super) fn is_report(header: &MessageHeader) -> bool {
    ilink::layout(header).is_some_and(is_report_layout)
}

fn is_report_layout(message: &Message) -> bool {
    matches!(message.semantic_type, "8" | "9")
}

/// A FIX message without header.
#[derive(Debug)]
pub(super) struct FixReport {
    pub(super) msg_type: &'static str,
    pub(super) body: Body,
}

/// The fields of a report.
struct Report<'a> {
    fields: OrderMessage<'a>,
    legs: Vec<Leg>,
}

impl<'a> Deref for Report<'a> {
    type Target = OrderMessage<'a>;

    fn deref(&self) -> &OrderMessage<'a> {
        &self.fields
    }
}

impl<'a> Report<'a> {
    fn decode(bytes: &'a [u8]) -> Result<Self> {
        let mut legs = Legs::default();
        let fields = OrderMessage::decode(bytes, &mut legs)?;
        ensure!(is_report_layout(fields.layout), "{} is no report", fields.layout.name);
        Ok(Self { fields, legs: legs.legs })
    }

    fn security_id(&self) -> i32 {
        self.signed(48).and_then(|id| i32::try_from(id).ok()).unwrap_or(0)
    }

    /// Returns CumQty (14) and LeavesQty (151). FIX requires both, and CME's messages have only
    /// those that do not follow from their type.
    fn quantities(&self) -> (u64, u64) {
        let leaves = match self.layout.template_id {
            // A new order, as yet without fills.
            522 => self.number(38),
            _ => self.number(151),
        };
        (self.number(14).unwrap_or(0), leaves.unwrap_or(0))
    }
}

/// Converts a report. `all_tags` adds CME's tags that FIX 4.4 does not have.
///
/// # Errors
/// A message that is no report.
pub(super) fn convert(
    message: &[u8],
    definitions: &mut Definitions,
    all_tags: bool,
) -> Result<FixReport> {
    let report = Report::decode(message)?;
    let mut body = Body::default();
    let msg_type = report.layout.semantic_type;
    if msg_type == "9" {
        write_cancel_reject(&mut body, &report);
    } else {
        write_execution(&mut body, &report, definitions);
    }
    if all_tags {
        write_rest(&mut body, &report, definitions);
    }
    Ok(FixReport { msg_type, body })
}

/// Writes the fields of an ExecutionReport of FIX 4.4, required ones first.
fn write_execution(body: &mut Body, report: &Report<'_>, definitions: &mut Definitions) {
    let id = report.security_id();
    let instrument = definitions.instrument(id);
    let symbol = instrument.map(|it| it.symbol.clone());
    let exchange = instrument.map(|it| it.exchange.clone()).filter(|it| !it.is_empty());
    let (cum, leaves) = report.quantities();
    body.field(37, report.text(37).unwrap_or_default()).optional(11, report.text(11));
    body.optional(17, report.text(17)).optional(150, report.text(150));
    body.field(39, ord_status(report));
    body.field(55, symbol.as_deref().unwrap_or(NO_SYMBOL))
        .field(48, id)
        .field(22, 8)
        .optional(207, exchange);
    body.optional(107, symbol);
    body.optional(54, report.text(54)).optional(38, report.text(38));
    body.optional(40, report.text(40));
    for tag in [44, 99] {
        body.optional(tag, price(report, definitions, tag as u16));
    }
    body.optional(59, report.number(59).filter(|&value| value <= 7));
    body.optional(432, report.number(432).map(date)).optional(110, report.text(110));
    body.optional(31, price(report, definitions, 31)).optional(32, report.text(32));
    body.field(151, leaves).field(14, cum).field(6, 0);
    for tag in [75, 64, 541] {
        body.optional(tag, report.number(tag as u16).map(date));
    }
    body.optional(60, transact_time(report));
    body.optional(527, report.text(527)).optional(442, multi_leg(report.layout.template_id));
    body.optional(378, report.number(378).map(|reason| if reason <= 8 { reason } else { 99 }));
    body.optional(103, report.number(103).map(|_| 99));
    body.optional(58, explanation(report, 103, definitions));
    if let Some(sender) = report.text(5392) {
        body.field(453, 1).field(448, sender).field(447, 'D').field(452, 36);
    }
    write_legs(body, &report.legs, definitions);
}

/// Writes the fields of an OrderCancelReject of FIX 4.4.
fn write_cancel_reject(body: &mut Body, report: &Report<'_>) {
    let request = report.text(11).unwrap_or_default();
    body.field(37, report.text(37).unwrap_or_default()).field(11, &request).field(41, &request);
    body.field(39, ord_status(report)).optional(434, report.text(434));
    body.field(102, 99).optional(58, explanation(report, 102, &Definitions::default()));
    body.optional(60, transact_time(report));
}

/// Writes CME's other tags.
fn write_rest(body: &mut Body, report: &Report<'_>, definitions: &Definitions) {
    let fields = report.layout.block.fields.iter();
    for tag in fields.map(|field| field.tag).filter(|tag| !WRITTEN.contains(tag)) {
        let value = match OTHER_PRICES.contains(&tag) {
            true => price(report, definitions, tag),
            false => report.text(tag),
        };
        body.optional(tag.into(), value);
    }
}

fn write_legs(body: &mut Body, legs: &[Leg], definitions: &mut Definitions) {
    if legs.is_empty() {
        return;
    }
    body.field(555, legs.len());
    for leg in legs {
        let symbol = definitions.instrument(leg.security_id).map(|it| it.symbol.clone());
        body.field(600, symbol.as_deref().unwrap_or(NO_SYMBOL));
        body.field(602, leg.security_id).field(603, 8).optional(624, leg.side);
        body.optional(687, leg.quantity);
        body.optional(637, leg.price.and_then(|price| definitions.price(leg.security_id, price)));
    }
}

fn price(report: &Report<'_>, definitions: &Definitions, tag: u16) -> Option<String> {
    definitions.price(report.security_id(), report.wire_price(tag)?)
}

fn transact_time(report: &Report<'_>) -> Option<String> {
    report.number(60).map(|nanos| timestamp_nanos(Utc::from_nanos(nanos)))
}

/// Returns OrdStatus of FIX 4.4: CME's if FIX has it. Otherwise Filled for a correction of a trade,
/// and Rejected for an undefined status.
fn ord_status(report: &Report<'_>) -> String {
    let status = report.text(39).unwrap_or_default();
    match status.as_bytes() {
        [byte] if ORD_STATUSES.contains(byte) => status,
        b"G" | b"H" => "2".to_owned(),
        _ => "8".to_owned(),
    }
}

/// Returns MultiLegReportingType: trades of one instrument, of a leg, of a spread.
fn multi_leg(template_id: u16) -> Option<u8> {
    match template_id {
        525 | 548 => Some(1),
        527 | 550 => Some(2),
        526 | 549 => Some(3),
        _ => None,
    }
}

/// Returns Text (58): CME's reason, its text, and wire prices that could not be converted.
fn explanation(report: &Report<'_>, reason: u16, definitions: &Definitions) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(report.number(reason).map(|reason| format!("CME reason {reason}")));
    parts.extend(report.text(58));
    let wire = [(31, "LastPx"), (44, "Price"), (99, "StopPx")];
    for (tag, name) in wire {
        if let Some(wire) = report.wire_price(tag)
            && definitions.price(report.security_id(), wire).is_none()
        {
            parts.push(format!("{name} on the wire {}", hairpin_sbe::Decimal::<-9>(wire)));
        }
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// A leg's fill.
#[derive(Debug, Default)]
struct Leg {
    security_id: i32,
    side: Option<u64>,
    quantity: Option<u64>,
    price: Option<i64>,
}

/// A visitor that reads the group NoLegs.
#[derive(Debug, Default)]
struct Legs {
    legs: Vec<Leg>,
    inside: bool,
}

impl Visitor for Legs {
    fn field(&mut self, name: &str, value: Value<'_>) {
        let Some(leg) = self.legs.last_mut().filter(|_| self.inside) else { return };
        match (name, value) {
            ("LegSecurityID", Value::Signed(id)) => leg.security_id = id as i32,
            ("LegSide", Value::Enumeration { value, .. } | Value::Unsigned(value)) => {
                leg.side = Some(value);
            }
            ("LegLastQty", Value::Unsigned(quantity)) => leg.quantity = Some(quantity),
            ("LegLastPx", Value::Number(price)) => leg.price = Some(price.mantissa),
            _ => {}
        }
    }

    fn group(&mut self, name: &str, _: usize) {
        self.inside = name == "NoLegs";
    }

    fn entry(&mut self, _: usize) {
        if self.inside {
            self.legs.push(Leg::default());
        }
    }

    fn end_group(&mut self) {
        self.inside = false;
    }
}

#[cfg(test)]
mod tests {
    use hairpin_cme_codecs::ilink3::*;
    use hairpin_sbe::Decimal;

    use super::*;

    const ES: i32 = 7;
    const TIME: u64 = 1_764_021_600_000_000_001;

    fn es() -> Definitions {
        Definitions::with(ES, "ESZ6", 10_000_000)
    }

    /// Returns type and body of a converted message.
    fn fix(bytes: &[u8], definitions: &mut Definitions, all_tags: bool) -> String {
        let fix = convert(bytes, definitions, all_tags).unwrap();
        let mut out = Vec::new();
        let (msg_type, sending_time) = (fix.msg_type, Utc::EPOCH);
        let (sender, target, seq_num, original) = ("A", "B", 1, None);
        let header =
            crate::fix::Header { msg_type, sender, target, seq_num, sending_time, original };
        crate::fix::write(&mut out, &header, &fix.body);
        let text = String::from_utf8(out).unwrap().replace('\u{1}', "|");
        let (_, body) = text.split_once("52=19700101-00:00:00.000|").unwrap();
        format!("{msg_type} {}", &body[..body.len() - "10=000|".len()])
    }

    fn trade() -> Vec<u8> {
        let mut buffer = [0; 1_000];
        let (mut report, groups) = ExecutionReportTradeOutright525::encode(&mut buffer).unwrap();
        report.set_exec_id("E1").set_cl_ord_id("C1").set_order_id(5).set_sender_id("OP1");
        report.set_security_id(ES).set_order_qty(5).set_last_qty(2).set_cum_qty(2);
        report.set_leaves_qty(3).set_last_px(Decimal(450_025_000_000_000)).set_uuid(9);
        report.set_price(Decimal(450_050_000_000_000)).set_side(SideReq::BUY);
        report.set_ord_type(OrderType::LIMIT).set_time_in_force(TimeInForce::DAY);
        report.set_ord_status(OrdStatusTrd::PARTIALLY_FILLED).set_trade_date(20_416);
        report.set_transact_time(TIME).set_sec_exec_id(77).set_seq_num(3);
        report.set_discretion_price(Decimal(100_000_000_000));
        let length = groups.finish().unwrap();
        buffer[..length].to_vec()
    }

    #[test]
    fn trade_has_display_prices_and_names() {
        let expected = "8 37=5|11=C1|17=E1|150=F|39=1|55=ESZ6|48=7|22=8|207=XCME|107=ESZ6|54=1|\
                        38=5|40=2|44=4500.5|59=0|31=4500.25|32=2|151=3|14=2|6=0|75=20251124|\
                        60=20251124-22:00:00.000000001|527=77|442=1|453=1|448=OP1|447=D|452=36|";
        assert_eq!(fix(&trade(), &mut es(), false), expected);
        let all = fix(&trade(), &mut es(), true);
        assert!(all.starts_with(expected), "{all}");
        for field in ["9726=3|", "39001=9|", "845=1|"] {
            assert!(all.contains(field), "{all}");
        }
    }

    #[test]
    fn trade_without_definition_has_no_price_but_the_wire_price_as_text() {
        let text = fix(&trade(), &mut Definitions::with(8, "NQZ6", 1), false);
        assert!(text.contains("|55=[N/A]|48=7|"), "{text}");
        assert!(!text.contains("|31=") && !text.contains("|44="), "{text}");
        assert!(
            text.contains("|58=LastPx on the wire 450025; Price on the wire 450050|"),
            "{text}"
        );
        let wire = fix(&trade(), &mut Definitions::default(), false);
        assert!(wire.contains("|44=450050|") && wire.contains("|31=450025|"), "{wire}");
    }

    #[test]
    fn new_order_has_all_quantity_left() {
        let mut buffer = [0; 1_000];
        let mut report = ExecutionReportNew522::encode(&mut buffer).unwrap();
        report.set_security_id(ES).set_order_qty(5).set_order_id(5).set_side(SideReq::SELL);
        report.set_price(Decimal(-25_000_000_000)).set_time_in_force(TimeInForce(99));
        report.set_expire_date(20_416).set_transact_time(TIME);
        let text = fix(&buffer[..ExecutionReportNew522::ENCODED_LENGTH], &mut es(), false);
        assert!(text.starts_with("8 37=5|150=0|39=0|55=ESZ6|"), "{text}");
        assert!(text.contains("|54=2|38=5|44=-0.25|432=20251124|151=5|14=0|6=0|"), "{text}");
        assert!(!text.contains("|59="), "FIX 4.4 has no good for session: {text}");
    }

    #[test]
    fn reasons_and_statuses_that_fix_does_not_have_become_those_it_has() {
        let mut buffer = [0; 1_000];
        let mut reject = OrderCancelReject535::encode(&mut buffer).unwrap();
        reject.set_cl_ord_id("C2").set_order_id(5).set_cxl_rej_reason(1_013).set_text("late");
        reject.set_transact_time(TIME);
        let text = fix(&buffer[..OrderCancelReject535::ENCODED_LENGTH], &mut es(), false);
        let expected = "9 37=5|11=C2|41=C2|39=8|434=1|102=99|58=CME reason 1013; late|\
                        60=20251124-22:00:00.000000001|";
        assert_eq!(text, expected);
        let mut cancel = ExecutionReportTradeAddendumOutright548::encode(&mut buffer).unwrap();
        cancel.0.set_security_id(ES).set_exec_type(ExecTypTrdCxl::TRADE_CANCEL);
        cancel.0.set_ord_status(OrdStatusTrdCxl::TRADE_CANCEL);
        let length = cancel.1.finish().unwrap();
        let text = fix(&buffer[..length], &mut es(), false);
        assert!(text.contains("|150=H|39=2|"), "{text}");
    }

    #[test]
    fn no_bytes_panic() {
        let trade = trade();
        for at in 0..trade.len() {
            for byte in [0, 1, 0x7F, 0xFF] {
                let mut changed = trade.clone();
                changed[at] = byte;
                let _ = convert(&changed, &mut es(), true);
            }
            assert!(convert(&trade[..at], &mut es(), true).is_err());
        }
    }
}
