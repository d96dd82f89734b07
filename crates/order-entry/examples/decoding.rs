//! Encodes and decodes messages of order entry without a session: what SBE is like here.
//!
//! ```text
//! cargo run --example decoding
//! ```
#![forbid(unsafe_code)]

use std::error::Error as AnyError;

use hairpin_order_entry::messages::{BooleanFlag, ExecutionReportNew522, visit};
use hairpin_order_entry::{Decimal, SideReq};
use hairpin_sbe::{MessageHeader, Value, Visitor};

/// Prints every field that is there: what a log or an audit trail does.
struct Printer;

impl Visitor for Printer {
    fn message(&mut self, name: &str, header: &MessageHeader) {
        println!("{name}, version {} of the schema", header.version);
    }

    fn field(&mut self, name: &str, value: Value<'_>) {
        if !matches!(value, Value::Null) {
            println!("  {name} = {value}");
        }
    }
}

fn main() -> Result<(), Box<dyn AnyError>> {
    // An encoder writes each field to its place in the buffer; nothing is kept beside it.
    let mut buffer = [0; ExecutionReportNew522::ENCODED_LENGTH];
    ExecutionReportNew522::encode(&mut buffer)?
        .set_seq_num(7)
        .set_uuid(1_700_000_000_000_000)
        .set_cl_ord_id("FIRST")
        .set_order_id(42)
        .set_security_id(1_001)
        .set_side(SideReq::BUY)
        .set_order_qty(5)
        .set_price(Decimal(4_500_250_000_000))
        .set_poss_retrans_flag(BooleanFlag::FALSE);

    // The header says which message it is, how long, and of which version.
    let (header, body) = MessageHeader::decode(&buffer)?;
    println!("template {}, {} bytes", header.template_id, buffer.len());

    // A decoder reads a field where it stands when it is asked for. An older version is shorter:
    // its fields are then read from a copy that the scratch has room for.
    let mut scratch = ExecutionReportNew522::SCRATCH;
    let report = ExecutionReportNew522::decode(&header, body, &mut scratch)?;
    println!("buy {} at {}: order {}", report.order_qty(), report.price(), report.order_id());
    // What is optional is an Option: no number stands for "none".
    println!("to be seen: {:?}", report.display_qty());

    // Any message can be visited, by whoever does not know it.
    visit(&header, body, &mut Printer)?;

    // What is cut is an error, not a panic.
    let (header, body) = MessageHeader::decode(&buffer[..40])?;
    let mut scratch = ExecutionReportNew522::SCRATCH;
    match ExecutionReportNew522::decode(&header, body, &mut scratch) {
        Ok(_) => println!("half a report was read"),
        Err(error) => println!("half a report: {error}"),
    }
    Ok(())
}
