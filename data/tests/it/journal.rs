//! A journal of reports, written as an order session writes it.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use hairpin_cme_codecs::ilink3::*;
use hairpin_mapped::{Direction, Journal, Tag};
use hairpin_order_entry::{FILL_RECORD, MESSAGE_RECORD};
use hairpin_sbe::Decimal;
use hairpin_time::{Instant, Now, Utc};

pub(crate) const UUID: u64 = 1_764_021_600_000_000;
/// An instrument at 1,000 with display factor 0.01.
pub(crate) const INSTRUMENT: i32 = 1_001;

/// A journal with reports numbered from 1.
pub(crate) struct ReportJournal {
    journal: Journal,
    written: u32,
}

impl ReportJournal {
    pub(crate) fn create(directory: &Path) -> Self {
        Self { journal: Journal::create(directory, 1 << 16).unwrap(), written: 0 }
    }

    /// Returns the number of reports.
    pub(crate) fn written(&self) -> u32 {
        self.written
    }

    /// Writes an order, a Sequence and the next report, of another kind each time.
    pub(crate) fn write(&mut self) {
        let number = self.written + 1;
        self.append(Direction::Outbound, MESSAGE_RECORD, number, |buffer| {
            NewOrderSingle514::encode(buffer).unwrap().set_seq_num(number);
            NewOrderSingle514::ENCODED_LENGTH
        });
        self.append(Direction::Inbound, MESSAGE_RECORD, number, |buffer| report(number, buffer));
        self.append(Direction::Outbound, FILL_RECORD, number, |buffer| {
            Sequence506::encode(buffer).unwrap().set_uuid(UUID);
            Sequence506::ENCODED_LENGTH
        });
        self.written = number;
    }

    /// Appends the frame of a message.
    pub(crate) fn append(
        &mut self,
        direction: Direction,
        kind: u16,
        seq_num: u32,
        encode: impl FnOnce(&mut [u8]) -> usize,
    ) {
        let utc = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        let now = Now { monotonic: Instant::from_nanos(1), utc: Utc::from_nanos(utc) };
        let mut claim = self.journal.claim(1_000).unwrap();
        let frame = claim.payload();
        let length = 4 + encode(&mut frame[4..]);
        frame[..2].copy_from_slice(&(length as u16).to_le_bytes());
        frame[2..4].copy_from_slice(&[0xFE, 0xCA]);
        claim.commit_as(&Tag { direction, kind, seq_num, uuid: UUID, now }, length);
    }
}

/// Returns the ExecID of a report, which cancel rejects have too.
pub(crate) fn exec_id(number: u32) -> String {
    format!("EXEC{number:06}")
}

/// Sets what the reports have in common.
macro_rules! common {
    ($report:expr, $number:expr) => {{
        let number = $number;
        let time = 1_764_021_600_000_000_000 + u64::from(number);
        $report.set_seq_num(number).set_uuid(UUID).set_exec_id(exec_id(number));
        $report.set_sender_id("TRADER").set_cl_ord_id(format!("ORDER{number}"));
        $report.set_order_id(u64::from(number) + 700).set_transact_time(time);
        $report.set_location("US,IL")
    }};
}

fn report(number: u32, buffer: &mut [u8]) -> usize {
    let price = Decimal(100_025_000_000_000);
    match number % 6 {
        1 => {
            let mut report = ExecutionReportNew522::encode(buffer).unwrap();
            common!(report, number).set_security_id(INSTRUMENT).set_order_qty(5);
            report.set_price(price).set_side(SideReq::BUY).set_ord_type(OrderType::LIMIT);
            report.set_time_in_force(TimeInForce::GOOD_FOR_SESSION);
            ExecutionReportNew522::ENCODED_LENGTH
        }
        2 => outright(number, buffer, price),
        3 => {
            let mut report = ExecutionReportCancel534::encode(buffer).unwrap();
            common!(report, number).set_security_id(INSTRUMENT).set_order_qty(5).set_cum_qty(2);
            report.set_price(price).set_side(SideReq::SELL).set_ord_type(OrderType::LIMIT);
            report.set_exec_restatement_reason(ExecReason::CANCEL_ON_DISCONNECT);
            ExecutionReportCancel534::ENCODED_LENGTH
        }
        4 => {
            let mut report = ExecutionReportReject523::encode(buffer).unwrap();
            common!(report, number).set_security_id(INSTRUMENT).set_order_qty(5);
            report.set_price(price).set_side(SideReq::SELL).set_ord_type(OrderType::LIMIT);
            report.set_ord_rej_reason(1_003).set_text("no such \u{1} price");
            ExecutionReportReject523::ENCODED_LENGTH
        }
        5 => spread(number, buffer),
        _ => {
            let mut report = OrderCancelReject535::encode(buffer).unwrap();
            common!(report, number).set_cxl_rej_reason(1_013);
            OrderCancelReject535::ENCODED_LENGTH
        }
    }
}

fn outright(number: u32, buffer: &mut [u8], price: Price9) -> usize {
    let (mut report, groups) = ExecutionReportTradeOutright525::encode(buffer).unwrap();
    common!(report, number).set_security_id(INSTRUMENT).set_order_qty(5).set_last_qty(2);
    report.set_last_px(price).set_price(price).set_cum_qty(2).set_leaves_qty(3);
    report.set_side(SideReq::BUY).set_ord_type(OrderType::LIMIT).set_trade_date(20_416);
    report.set_ord_status(OrdStatusTrd::PARTIALLY_FILLED).set_time_in_force(TimeInForce::DAY);
    groups.finish().unwrap()
}

fn spread(number: u32, buffer: &mut [u8]) -> usize {
    let (mut report, mut groups) = ExecutionReportTradeSpread526::encode(buffer).unwrap();
    common!(report, number).set_security_id(INSTRUMENT + 1).set_order_qty(5).set_last_qty(5);
    report.set_last_px(Decimal(-25_000_000_000)).set_cum_qty(5).set_leaves_qty(0);
    report.set_side(SideReq::SELL).set_ord_type(OrderType::LIMIT);
    report.set_ord_status(OrdStatusTrd::FILLED).set_time_in_force(TimeInForce::DAY);
    let mut legs = groups.no_legs().unwrap();
    for leg in [INSTRUMENT, INSTRUMENT + 2] {
        let mut entry = legs.push().unwrap();
        entry.set_leg_security_id(leg).set_leg_last_qty(5).set_leg_side(SideReq::BUY);
        entry.set_leg_last_px(Decimal(100_000_000_000_000));
    }
    groups.finish().unwrap()
}
