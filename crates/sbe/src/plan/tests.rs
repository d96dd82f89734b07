//! Tests with schemas other than CME's, in the form of SBE's own documents.

use super::Plan;
use crate::compare::{Decoder, Listing};
use crate::{DecodeError, MessageHeader, Value, Visitor};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use proptest::prelude::*;

/// A schema with every SBE feature: nested and referenced composites, sets, constants, arrays,
/// nested groups, data in entries.
const SHIP: &str = include_str!("tests/ship.xml");

fn number(is_big_endian: bool, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if is_big_endian {
        bytes.reverse();
    }
    bytes
}

/// Creates a ship message in either byte order. Numbers are given in little-endian order.
fn ship(is_big_endian: bool) -> Vec<u8> {
    let n = |bytes: &[u8]| number(is_big_endian, bytes);
    let parts: [Vec<u8>; 34] = [
        n(&[40, 0]), // Block length: what follows to the groups, of which one byte is padding.
        n(&[1, 0]),
        n(&[77, 0]),
        n(&[2, 0]),
        n(&[0xd2, 0x04, 0, 0, 0, 0, 0, 0]), // Number 1234
        n(&[0xe6, 0x07]),                   // Built 2022
        [b'F'].into(),                      // Kind
        [0b101].into(),                     // Extras
        n(&[1, 0]),                         // Tanks 1, -, -3
        n(&[0, 0x80]),
        n(&[0xfd, 0xff]),
        b"NL\0".as_slice().into(),
        n(&[0x88, 0x13]), // Engine: power 5000
        [8].into(),       // cylinders
        b"MAN".as_slice().into(),
        [b'T'].into(),              // booster.kind
        [200].into(),               // booster.pressure
        n(&1.5_f32.to_le_bytes()),  // Draught
        n(&[0x39, 0x30, 0, 0]),     // Price 123.45
        n(&0xff_u16.to_le_bytes()), // What version 3 calls Since3
        [9].into(),                 // Padding
        n(&[2, 0]),                 // Holds: block length, count 2
        n(&[2, 0]),
        n(&[7, 0]), // Volume
        n(&[1, 0]), // Crates: 1 of 3 bytes
        n(&[1, 0]),
        [5].into(), // Weight, and what is behind the block's end
        n(&[3, 0]),
        b"rye".as_slice().into(),
        n(&[8, 0]),
        n(&[1, 0]),
        n(&[0, 0]),
        n(&[0, 0]),
        [n(&[2, 0, 0, 0]), b"ok".as_slice().into()].concat(),
    ];
    parts.concat()
}

fn list(plan: &Plan<'_>, bytes: &[u8]) -> Vec<String> {
    let (header, body) = plan.header(bytes).unwrap();
    let listing = Listing::new(plan, &header, body);
    listing.lines.iter().map(|line| format!("{}={}", line.path, line.value)).collect()
}

const SHIP_LISTED: [&str; 27] = [
    "name=Ship",
    "Number=1234",
    "Built=2022",
    "Kind=Ferry(F)",
    "Standard=Ferry(F)",
    "Extras=Crane|Radar",
    "Tanks=1,-,-3",
    "Flag=NL",
    "Engine.power=5000",
    "Engine.cylinders=8",
    "Engine.limit=9000",
    "Engine.maker=MAN",
    "Engine.fuel=Diesel",
    "Engine.booster.kind=Turbo(T)",
    "Engine.booster.pressure=200",
    "Draught=1.5",
    "Price=123.45",
    "Since3=-",
    "Holds=2",
    "Holds[0].Volume=7",
    "Holds[0].Crates=1",
    "Holds[0].Crates[0].Weight=5",
    "Holds[0].Crates[0].Insured=-",
    "Holds[0].Cargo=rye",
    "Holds[1].Volume=8",
    "Holds[1].Crates=0",
    "Holds[1].Cargo=-",
];

#[test]
fn decodes_every_sbe_feature_in_either_byte_order() {
    let big = SHIP.replace("littleEndian", "bigEndian");
    for (text, is_big_endian) in [(SHIP, false), (&big, true)] {
        let plan = Plan::parse(text).unwrap();
        let bytes = ship(is_big_endian);
        let listed = list(&plan, &bytes);
        assert_eq!(listed[..27], SHIP_LISTED);
        assert_eq!(listed[27..], ["Log=ok", &format!("length={}", bytes.len())]);
    }
}

fn plan_of(types: &str, contents: &str) -> Result<Vec<String>, String> {
    let text = format!(
        "<messageSchema package='p' id='1' version='5'>\n<types>{types}</types>\n\
         <message name='M' id='1'>{contents}</message></messageSchema>"
    );
    let plan = Plan::parse(&text).map_err(|error| error.to_string())?;
    Ok(plan.messages().map(|(id, name)| format!("{id} {name}")).collect())
}

/// Returns the values of a message with one block.
fn values(types: &str, contents: &str, version: u16, block: &[u8]) -> Vec<String> {
    let text = format!(
        "<messageSchema package='p' id='1' version='5'><types>{types}</types>\
         <message name='M' id='1'>{contents}</message></messageSchema>"
    );
    let plan = Plan::parse(&text).unwrap();
    let block_length = block.len() as u16;
    let header = MessageHeader { block_length, template_id: 1, schema_id: 1, version };
    let lines = Listing::new(&plan, &header, block).lines;
    let values = lines.iter().map(|line| line.value.clone());
    values.skip(1).take(lines.len() - 2).collect()
}

#[test]
fn optional_number_without_null_has_the_sbe_default() {
    let optional = |kind| format!("<field name='A' id='1' type='{kind}' presence='optional'/>");
    for (kind, null, least) in [
        ("char", &[0][..], "\"\\x01\""),
        ("int8", &[0x80], "-127"),
        ("uint8", &[255], "254"),
        ("int16", &[0, 0x80], "-32767"),
        ("uint32", &[255; 4], "4294967294"),
        ("int64", &[0, 0, 0, 0, 0, 0, 0, 0x80], "-9223372036854775807"),
    ] {
        assert_eq!(values("", &optional(kind), 5, null), ["-"], "{kind}");
        let mut other = null.to_vec();
        other[0] = if kind.starts_with('u') { 254 } else { other[0] + 1 };
        assert_eq!(values("", &optional(kind), 5, &other), [least], "{kind}");
    }
    assert_eq!(values("", &optional("float"), 5, &f32::NAN.to_le_bytes()), ["-"]);
    assert_eq!(values("", &optional("double"), 5, &0.25_f64.to_le_bytes()), ["0.25"]);
}

#[test]
fn field_presence_overrides_the_type() {
    let types = "<type name='T' primitiveType='uint8' presence='optional' nullValue='7'/>";
    let field = |more| format!("<field name='A' id='1' type='T' {more}/>");
    assert_eq!(values(types, &field(""), 5, &[7]), ["-"]);
    assert_eq!(values(types, &field("presence='optional'"), 5, &[7]), ["-"]);
    assert_eq!(values(types, &field("presence='required'"), 5, &[7]), ["7"]);
    let constant = "<field name='A' id='1' type='int16' presence='constant'>-2</field>";
    assert_eq!(values("", constant, 5, &[]), ["-2"]);
}

#[test]
fn newer_or_truncated_fields_are_null() {
    let fields = "<field name='A' id='1' type='uint16'/>\
         <field name='B' id='2' type='uint16' offset='4' sinceVersion='3'/>\
         <field name='C' id='3' type='char' presence='constant' sinceVersion='4'>x</field>";
    let block = [1, 0, 0xee, 0xee, 2, 0];
    assert_eq!(values("", fields, 5, &block), ["1", "2", "x"]);
    assert_eq!(values("", fields, 3, &block), ["1", "2", "-"]);
    assert_eq!(values("", fields, 2, &block), ["1", "-", "-"]);
    assert_eq!(values("", fields, 5, &block[..5]), ["1", "-", "x"]);
    // As in the generated codecs, a required addition may be absent.
    assert_eq!(values("", fields, 5, &[255; 6]), ["65535", "-", "x"]);
}

#[test]
fn composite_members_combine_both_since_versions() {
    let types = "<composite name='C'><type name='a' primitiveType='uint8'/>\
         <type name='b' primitiveType='uint8' sinceVersion='4'/></composite>";
    let field = "<field name='A' id='1' type='C' sinceVersion='3'/>";
    for (version, read) in [(2, ["-", "-"]), (3, ["1", "-"]), (4, ["1", "2"])] {
        assert_eq!(values(types, field, version, &[1, 2]), read, "version {version}");
    }
}

#[test]
fn digit_zero_is_null_unless_it_is_a_named_value() {
    let kind = "<type name='T' primitiveType='char' presence='optional' nullValue='0'/>";
    let named = |value| {
        let value = format!("<validValue name='New'>{value}</validValue>");
        format!("{kind}<enum name='E' encodingType='T'>{value}</enum>")
    };
    let field = |kind| format!("<field name='A' id='1' type='{kind}'/>");
    for (types, kind, digit) in
        [(kind, "T", "-"), (&named('1'), "E", "-"), (&named('0'), "E", "New(0)")]
    {
        assert_eq!(values(types, &field(kind), 5, b"\0"), ["-"]);
        assert_eq!(values(types, &field(kind), 5, b"0"), [digit]);
    }
}

#[test]
fn number_composites_decode_as_one_value() {
    let part = |name, kind, more| format!("<type name='{name}' primitiveType='{kind}' {more}/>");
    let composite =
        |parts: &[String]| format!("<composite name='C'>{}</composite>", parts.concat());
    let field = "<field name='A' id='1' type='C'/>";
    let float = composite(&[
        part("mantissa", "int64", "presence='optional'"),
        part("exponent", "int8", "presence='optional'"),
    ]);
    let mantissa = [5, 0, 0, 0, 0, 0, 0, 0];
    let with = |exponent: u8| [&mantissa[..], &[exponent]].concat();
    assert_eq!(values(&float, field, 5, &with(0xff)), ["0.5"]);
    assert_eq!(values(&float, field, 5, &with(0x80)), ["-"]);
    let wide = composite(&[part("mantissa", "uint64", ""), part("exponent", "int8", "")]);
    assert_eq!(values(&wide, field, 5, &with(1)), ["5", "1"]);
    let date = composite(&[
        part("year", "uint16", "presence='optional'"),
        part("month", "uint8", "presence='optional'"),
        part("day", "uint8", "presence='optional'"),
        part("week", "uint8", "presence='optional'"),
    ]);
    assert_eq!(values(&date, field, 5, &[0xea, 7, 12, 5, 255]), ["20261205"]);
    assert_eq!(values(&date, field, 5, &[255; 5]), ["-"]);
    let required = date.replace("presence='optional'", "");
    assert_eq!(values(&required, field, 5, &[0xea, 7, 12, 255, 255]), ["2026", "12", "255", "255"]);
}

#[test]
fn decodes_headers_and_dimensions_of_any_form() {
    let text = "<messageSchema id='7' version='3' headerType='head' byteOrder='bigEndian'>\
        <types><composite name='head'>\
          <type name='schemaId' primitiveType='uint8'/><type name='version' primitiveType='uint8'/>\
          <type name='templateId' primitiveType='uint8' offset='3'/>\
          <type name='blockLength' primitiveType='uint16'/>\
        </composite><composite name='dimension'>\
          <type name='numInGroup' primitiveType='uint32' offset='1'/>\
          <type name='blockLength' primitiveType='uint8' offset='6'/>\
        </composite></types>\
        <message name='M' id='9'><group name='G' id='1' dimensionType='dimension'>\
          <field name='A' id='2' type='uint8'/></group></message></messageSchema>";
    let plan = Plan::parse(text).unwrap();
    let bytes = [7, 3, 0xee, 9, 0, 1, 0xee, 0xee, 0, 0, 0, 2, 0xee, 1, 5, 6, 0xaa];
    assert_eq!(list(&plan, &bytes), ["name=M", "G=2", "G[0].A=5", "G[1].A=6", "length=16"]);
}

#[test]
fn message_errors_contain_the_line() {
    let field = |more| format!("<field name='A' id='1' type='uint8'/>\n<field id='2' {more}/>");
    let header = |kind| {
        format!(
            "<composite name='g'><type name='blockLength' primitiveType='{kind}'/>\
             <type name='numInGroup' primitiveType='uint8'/></composite>"
        )
    };
    let group = "<group name='G' id='1' dimensionType='g'/>".to_owned();
    for (types, contents, what) in [
        ("", field("name='B' type='none'"), "line 4: undefined type none is not valid"),
        ("", field("name='B' type='uint8' offset='0'"), "line 4: offset of B is not valid"),
        ("", field("name='B' type='uint8' offset='65535'"), "line 4: offset of B is not valid"),
        ("", field("type='uint8'"), "line 4: name is missing"),
        ("", field("name='B C' type='uint8'"), "line 4: name \"B C\" is not valid"),
        ("", field("name='B&amp;C' type='uint8'"), "line 4: name \"B&C\" is not valid"),
        ("", field("name='B' type='uint8' presence='maybe'"), "line 4: presence is not valid"),
        ("", "<other/>".into(), "line 3: element other is not supported"),
        ("", group.clone(), "line 3: undefined type g is not valid"),
        (&header("int16"), group, "line 3: type of blockLength is not supported"),
    ] {
        assert_eq!(plan_of(types, &contents), Err(what.into()));
    }
}

#[test]
fn type_errors_contain_the_line() {
    let constant =
        |text| format!("<type name='t' primitiveType='uint8' presence='constant'>{text}</type>");
    for (types, what) in [
        (constant(""), "value is missing"),
        (constant("256"), "value \"256\" is not valid"),
        (
            "<type name='t' primitiveType='uint64' length='60000'/>".into(),
            "length \"60000\" is not valid",
        ),
        ("<type name='t'/><type name='t'/>".into(), "second type t is not valid"),
        (
            "<composite name='t'><ref name='c' type='t'/></composite>".into(),
            "type nested this deep or recursively is not supported",
        ),
        ("<enum name='t' encodingType='int8'/>".into(), "encoding type int8 is not supported"),
        (
            "<set name='t' encodingType='uint8'><choice name='a'>8</choice></set>".into(),
            "bit \"8\" is not valid",
        ),
    ] {
        let outcome = plan_of(&types, "<field name='A' id='1' type='t'/>");
        assert_eq!(outcome, Err(format!("line 2: {what}")));
    }
}

#[test]
fn file_errors_are_one_line() {
    let two = "<message id='1' name='A'/><message id='1' name='B'/>";
    for (text, what) in [
        ("", "not XML: "),
        ("<a>\n<b></a>", "not XML: "),
        ("<a/>", "line 1: messageSchema is missing"),
        (
            &format!("<messageSchema id='1' version='1'>\n{two}</messageSchema>"),
            "line 1: second message with id 1 is not valid",
        ),
        ("<messageSchema id='65536' version='1'/>", "line 1: id \"65536\" is not valid"),
        ("<messageSchema id='1' version='1' byteOrder='x'/>", "line 1: byteOrder is not valid"),
        ("<messageSchema id='1&#10;2' version='1'/>", "line 1: id \"1\u{fffd}2\" is not valid"),
    ] {
        let error = Plan::parse(text).unwrap_err().to_string();
        assert!(error.starts_with(what) && error.lines().count() == 1, "{error}");
    }
}

#[test]
fn unused_types_are_not_checked() {
    assert_eq!(plan_of("<unused name='o'/>", ""), Ok(["1 M".into()].into()));
}

/// Creates types that double in size with each level.
fn doubling(levels: usize) -> String {
    let level = |n: usize| {
        let inner = if n == 0 { "uint8".into() } else { format!("c{}", n - 1) };
        format!(
            "<composite name='c{n}'><ref name='a' type='{inner}'/><ref name='b' type='{inner}'/>\
             </composite>"
        )
    };
    (0..levels).map(level).collect()
}

#[test]
fn rejects_schemas_without_bounded_size() {
    let field = |n: usize| format!("<field name='A' id='1' type='c{n}'/>");
    assert!(plan_of(&doubling(9), &field(8)).is_ok());
    let error = plan_of(&doubling(15), &field(14)).unwrap_err();
    assert!(error.contains("more than 4096 values in a block"), "{error}");
    let error = plan_of(&doubling(40), &field(39)).unwrap_err();
    assert!(error.contains("this deep"), "{error}");
    let nested = |n: usize| {
        let groups = "<group name='G' id='1'>".repeat(n) + &"</group>".repeat(n);
        let dimension = "<composite name='groupSizeEncoding'>\
             <type name='blockLength' primitiveType='uint8'/>\
             <type name='numInGroup' primitiveType='uint8'/></composite>";
        plan_of(dimension, &groups)
    };
    assert!(nested(31).is_ok());
    assert!(nested(32).unwrap_err().contains("this deep"));
    assert!(nested(20_000).is_err());
}

/// A visitor that counts values, to bound the work.
#[derive(Default)]
struct Count(usize);

impl Visitor for Count {
    fn field(&mut self, _: &str, _: Value<'_>) {
        self.0 += 1;
    }
}

#[test]
fn entries_without_bytes_are_limited() {
    let text = SHIP.replace(
        "name=\"numInGroup\" primitiveType=\"uint16\"",
        "name=\"numInGroup\" primitiveType=\"uint32\"",
    );
    let plan = Plan::parse(&text).unwrap();
    let header = MessageHeader { block_length: 0, template_id: 1, schema_id: 77, version: 2 };
    let body = [0, 0, 0xff, 0xff, 0xff, 0xff];
    let mut count = Count::default();
    assert_eq!(plan.visit(&header, &body, &mut count), Err(DecodeError::Entries(20)));
    assert_eq!(count.0, 0);
}

#[test]
fn truncated_messages_are_errors_without_a_visit() {
    let (plan, bytes) = (Plan::parse(SHIP).unwrap(), ship(false));
    for length in 0..bytes.len() {
        let mut count = Count::default();
        let outcome = plan
            .header(&bytes[..length])
            .and_then(|(header, body)| plan.visit(&header, body, &mut count));
        assert!(outcome.is_err() && count.0 == 0, "{length}");
    }
}

#[test]
fn rejects_other_schemas_and_templates() {
    let plan = Plan::parse(SHIP).unwrap();
    let header = MessageHeader { block_length: 0, template_id: 1, schema_id: 78, version: 2 };
    let visit = |header| Decoder::visit(&plan, &header, &[], &mut Count::default());
    assert_eq!(visit(header), Err(DecodeError::Schema(78)));
    let other = MessageHeader { template_id: 2, schema_id: 77, ..header };
    assert_eq!(visit(other), Err(DecodeError::Template(2)));
}

/// Words of schema files, substituted for each other.
const WORDS: &[&str] = &[
    "uint8",
    "uint16",
    "uint32",
    "int8",
    "char",
    "float",
    "optional",
    "constant",
    "required",
    "0",
    "1",
    "65535",
    "-1",
    "99999999999",
    "Kind",
    "Engine",
    "Booster",
    "groupSizeEncoding",
    "varDataEncoding",
    "composite",
    "type",
    "ref",
    "group",
    "data",
    "field",
    "enum",
    "set",
    "name",
    "length",
    "offset",
    "presence",
    "sinceVersion",
    "",
    "\"",
    ">",
    "/>",
    "<",
    "&#10;",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let plan = Plan::parse(SHIP).unwrap();
        let mut whole = ship(false)[..8].to_vec();
        whole.extend_from_slice(&bytes);
        for bytes in [&bytes, &whole] {
            if let Ok((header, body)) = plan.header(bytes) {
                let mut count = Count::default();
                let outcome = plan.visit(&header, body, &mut count);
                prop_assert!(count.0 <= super::walk::WORK_MAX);
                prop_assert!(outcome.is_ok() || count.0 == 0);
            }
        }
    }

    #[test]
    fn modified_messages_never_panic(
        changes in prop::collection::vec((0_usize..99, any::<u8>()), 1..6),
    ) {
        let plan = Plan::parse(SHIP).unwrap();
        let mut bytes = ship(false);
        for (at, value) in changes {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        let (header, body) = plan.header(&bytes).unwrap();
        let _ = plan.visit(&header, body, &mut Count::default());
    }

    #[test]
    fn modified_schemas_compile_or_fail_with_one_line(
        changes in
            prop::collection::vec((any::<prop::sample::Index>(), 0_usize..WORDS.len()), 1..5),
    ) {
        let mut text: Vec<&str> = SHIP.split_inclusive([' ', '"', '<', '>', '=']).collect();
        for (place, word) in &changes {
            *place.get_mut(&mut text) = WORDS[*word];
        }
        check_any_schema(&text.concat());
    }

    #[test]
    fn schemas_with_modified_bytes_compile_or_fail_with_one_line(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<char>()), 1..5),
    ) {
        let mut text: Vec<char> = SHIP.chars().collect();
        for (place, letter) in changes {
            *place.get_mut(&mut text) = letter;
        }
        check_any_schema(&text.into_iter().collect::<String>());
    }
}

/// Checks that any plan decodes bytes within its work limit.
fn check_any_schema(text: &str) {
    match Plan::parse(text) {
        Ok(plan) => {
            for bytes in [ship(false), ship(true), [0xff; 64].to_vec()] {
                let Ok((header, body)) = plan.header(&bytes) else { continue };
                let header = MessageHeader { schema_id: plan.id(), ..header };
                let _ = plan.visit(&header, body, &mut Count::default());
            }
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
    }
}
