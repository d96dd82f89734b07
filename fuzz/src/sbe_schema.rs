//! A schema's XML, a zero byte, and a message.
//!
//! Checks that neither schema reader (the generator's model and the plan) panics on any text. A
//! plan of any accepted schema must decode arbitrary bytes without a panic and print every value.

use std::fmt::Write;

use hairpin_sbe::plan::Plan;
use hairpin_sbe::schema::Schema;
use hairpin_sbe::{Value, Visitor};

use crate::Seed;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (text, message) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let Ok(text) = str::from_utf8(text) else { return };
    if let Err(error) = Schema::parse(text) {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    let plan = match Plan::parse(text) {
        Ok(plan) => plan,
        Err(error) => return assert!(!error.to_string().contains('\n'), "{error}"),
    };
    let Ok((header, body)) = plan.header(message) else { return };
    let mut printed = Printed(String::new());
    if plan.visit(&header, body, &mut printed).is_err() {
        assert!(printed.0.is_empty(), "incomplete messages are not delivered");
    }
}

struct Printed(String);

impl Visitor for Printed {
    fn field(&mut self, name: &str, value: Value<'_>) {
        write!(self.0, "{name}={value}").expect("string writes succeed");
    }
}

/// Returns a schema with every feature, and the smallest schema.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let seed = |name: &str, text: &str, message: &[u8]| {
        (name.to_owned(), [text.as_bytes(), &[0], message].concat())
    };
    vec![
        seed("smallest", SMALLEST, &[2, 0, 1, 0, 9, 0, 1, 0, 0x34, 0x12]),
        seed(
            "everything",
            EVERYTHING,
            &[
                8, 0, 1, 0, 7, 0, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8, 4, 0, 2, b'a', b'b', 0, 0, b'c', 0,
                1, 2, 3, 0, b'x', b'y', b'z',
            ],
        ),
    ]
}

const SMALLEST: &str = "<messageSchema package='p' id='9' version='1'>\
    <message name='M' id='1'><field name='F' id='2' type='uint16'/></message></messageSchema>";

const EVERYTHING: &str = "<sbe:messageSchema package='p' id='7' version='2'><types>\
    <composite name='messageHeader'><type name='blockLength' primitiveType='uint16'/>\
    <type name='templateId' primitiveType='uint16'/><type name='schemaId' primitiveType='uint16'/>\
    <type name='version' primitiveType='uint16'/></composite>\
    <composite name='groupSize'><type name='blockLength' primitiveType='uint16'/>\
    <type name='numInGroup' primitiveType='uint8'/></composite>\
    <composite name='D'><type name='length' primitiveType='uint16'/>\
    <type name='varData' primitiveType='char' length='0'/></composite>\
    <composite name='P'><type name='mantissa' primitiveType='int32' presence='optional'\
     nullValue='2147483647'/><type name='exponent' primitiveType='int8' presence='constant'>-2\
    </type></composite>\
    <type name='T' primitiveType='char' length='2'/>\
    <enum name='E' encodingType='uint8'><validValue name='A'>1</validValue></enum>\
    <set name='S' encodingType='uint8'><choice name='B'>0</choice></set></types>\
    <sbe:message name='M' id='1'><field name='P' id='1' type='P' offset='0'/>\
    <field name='E' id='2' type='E'/><field name='S' id='3' type='S' sinceVersion='1'/>\
    <group name='G' id='4' dimensionType='groupSize' blockLength='4'>\
    <field name='T' id='5' type='T'/></group><data name='X' id='6' type='D'/>\
    </sbe:message></sbe:messageSchema>";
