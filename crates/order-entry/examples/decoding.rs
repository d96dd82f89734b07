//! Encodes and decodes iLink 3 messages without a session.
//!
//! ```text
//! cargo run -p hairpin-order-entry --example decoding
//! ```
#![forbid(unsafe_code)]

use std::error::Error as AnyError;

use hairpin_order_entry::messages::{BooleanFlag, ExecutionReportNew522, visit};
use hairpin_order_entry::{Decimal, SideReq};
use hairpin_sbe::{MessageHeader, Value, Visitor};

/// Prints every field that is not null, like a log or an audit trail.
struct Printer;

impl Visitor for Printer {
    fn message(&mut self, name: &str, header: &MessageHeader) {
        println!("{name}, schema version {}", header.version);
    }

    fn field(&mut self, name: &str, value: Value<'_>) {
        if !matches!(value, Value::Null) {
            println!("  {name} = {value}");
        }
    }
}

fn main() -> Result<(), Box<dyn AnyError>> {
    // The encoder writes each field directly to its offset in the buffer.
    let mut buffer = [0; ExecutionReportNew522::ENCODED_LENGTH];
    ExecutionReportNew522::encode(&mut buffer)?
        .set_seq_num(7)
        .set_uuid(1_700_000_000_000_000)
        .set_cl_ord_id("FIRST")
        .set_order_id(42)
        .set_security_id(1_001)
        .set_side(SideReq::BUY)
        .set_order_qty(5)
        // CME wire price (PRICE9): integer mantissa, implied exponent -9. ES at the display price
        // 4500.25 with DisplayFactor 0.01 has the wire price 450025.
        .set_price(Decimal(450_025_000_000_000))
        .set_poss_retrans_flag(BooleanFlag::FALSE);

    // The header has template id, block length and schema version.
    let (header, body) = MessageHeader::decode(&buffer)?;
    println!("template {}, {} bytes", header.template_id, buffer.len());

    // The decoder reads each field from the buffer on demand. A message of an older version is
    // shorter; it is copied to the scratch buffer, and its missing fields read as null.
    let mut scratch = ExecutionReportNew522::SCRATCH;
    let report = ExecutionReportNew522::decode(&header, body, &mut scratch)?;
    let price = report.price();
    println!(
        "buy {} at {price} (mantissa {}): order {}",
        report.order_qty(),
        price.0,
        report.order_id()
    );
    // Optional fields are `Option`s; there is no null value.
    println!("display quantity: {:?}", report.display_qty());

    // A visitor can read any message without knowing its type.
    visit(&header, body, &mut Printer)?;

    // A truncated message is an error, not a panic.
    let (header, body) = MessageHeader::decode(&buffer[..40])?;
    let mut scratch = ExecutionReportNew522::SCRATCH;
    match ExecutionReportNew522::decode(&header, body, &mut scratch) {
        Ok(_) => println!("truncated report was decoded"),
        Err(error) => println!("truncated report: {error}"),
    }
    Ok(())
}
