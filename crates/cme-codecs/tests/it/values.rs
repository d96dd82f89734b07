//! Getters, setters and the visitor on arbitrary bytes, against a reading by CME's file.

use crate::cme_schema::{self, Block, CmeSchema};
use crate::random::random_message;
use hairpin_cme_codecs::{ilink3, mdp3};
use hairpin_cme_copy::{PlainValue, ValueLog, VisitLog};
use hairpin_sbe::{DecodeError, Message, MessageHeader};
use proptest::prelude::*;
use std::sync::LazyLock;

/// A schema: CME's file, if available, and the generated module.
struct Schema {
    cme: Option<CmeSchema>,
    id: u16,
    version: u16,
    messages: &'static [&'static Message],
    copy: fn(&MessageHeader, &[u8], &mut [u8], &mut ValueLog) -> usize,
    visit: fn(&MessageHeader, &[u8], &mut VisitLog) -> Result<usize, DecodeError>,
}

// `CmeSchema` refers to a leaked document that no thread modifies.
fn schemas() -> [Schema; 2] {
    [
        Schema {
            cme: CmeSchema::read(cme_schema::MDP3),
            id: mdp3::SCHEMA_ID,
            version: mdp3::SCHEMA_VERSION,
            messages: mdp3::MESSAGES,
            copy: hairpin_cme_copy::mdp3::copy,
            visit: mdp3::visit,
        },
        Schema {
            cme: CmeSchema::read(cme_schema::ILINK3),
            id: ilink3::SCHEMA_ID,
            version: ilink3::SCHEMA_VERSION,
            messages: ilink3::MESSAGES,
            copy: hairpin_cme_copy::ilink3::copy,
            visit: ilink3::visit,
        },
    ]
}

thread_local! {
    static SCHEMAS: LazyLock<[Schema; 2]> = const { LazyLock::new(schemas) };
}

/// Calls `check` with every message of both schemas.
fn for_each_message(check: impl Fn(&Schema, &Block)) {
    SCHEMAS.with(|schemas| {
        for schema in schemas.iter() {
            let messages = schema.cme.iter().flat_map(|cme| &cme.messages);
            messages.for_each(|message| check(schema, message));
        }
    });
}

/// A value that CME's file expects in a message, and a flag for constants.
struct Expected {
    name: String,
    item: PlainValue,
    is_constant: bool,
}

/// Reads a body by CME's file.
fn expect(message: &Block, header: &MessageHeader, body: &[u8]) -> Vec<Expected> {
    let mut values = Vec::new();
    let mut read = |block: &Block, wire: &[u8]| {
        values.extend(block.fields.iter().map(|field| Expected {
            name: field.name.clone(),
            item: field.read(wire, header.version),
            is_constant: field.is_constant(),
        }));
    };
    let (wire, mut rest) = body.split_at(header.block_length.into());
    read(message, wire);
    for group in &message.groups {
        let since = cme_schema::number(group.node, "sinceVersion");
        if since > header.version.into() {
            continue;
        }
        let is_long = group.node.attribute("dimensionType") == Some("groupSize8Byte");
        let length = usize::from(u16::from_le_bytes([rest[0], rest[1]]));
        let count = rest[if is_long { 7 } else { 2 }];
        rest = &rest[if is_long { 8 } else { 3 }..];
        for _ in 0..count {
            let (wire, behind) = rest.split_at(length);
            read(group, wire);
            rest = behind;
        }
    }
    for data in cme_schema::named(message.node, "data") {
        let (length, behind) = rest.split_at(2);
        let (bytes, behind) = behind.split_at(u16::from_le_bytes([length[0], length[1]]).into());
        let name = data.attribute("name").unwrap().into();
        values.push(Expected { name, item: bytes.into(), is_constant: false });
        rest = behind;
    }
    assert!(rest.is_empty());
    values
}

/// Checks that the visitor reads the file's values.
fn check_visited(schema: &Schema, message: &Block, header: &MessageHeader, body: &[u8]) {
    let mut visited = VisitLog::default();
    assert_eq!((schema.visit)(header, body, &mut visited), Ok(8 + body.len()), "{}", message.name);
    let expected = expect(message, header, body);
    assert_eq!(visited.0.len(), expected.len(), "{}", message.name);
    for (seen, expected) in visited.0.iter().zip(&expected) {
        let context = format!("{}.{} at version {}", message.name, expected.name, header.version);
        assert_eq!((&seen.0, &seen.1), (&expected.name, &expected.item), "{context}");
    }
}

/// Checks that the getters read the file's values, and that setters write them so that they are
/// read again from a message of the current version.
fn check_copied(schema: &Schema, message: &Block, header: &MessageHeader, body: &[u8]) {
    let (mut seen, mut buffer) = (ValueLog::default(), vec![0xa5; 4096]);
    let length = (schema.copy)(header, body, &mut buffer, &mut seen);
    let expected = expect(message, header, body);
    assert_eq!(seen.0.len(), expected.len(), "{}", message.name);
    for (seen, expected) in seen.0.iter().zip(&expected) {
        let context = format!("{}.{} at version {}", message.name, expected.name, header.version);
        let is_new_constant = expected.is_constant && expected.item == PlainValue::Null;
        assert!(
            *seen == expected.item || is_new_constant,
            "{context}: {seen:?}, {:?}",
            expected.item
        );
    }
    let (copied, body) = MessageHeader::decode(&buffer[..length]).unwrap();
    assert_eq!((copied.template_id, copied.schema_id), (message.id, schema.id));
    assert_eq!(
        (copied.version, usize::from(copied.block_length)),
        (schema.version, message.length)
    );
    // Groups newer than the copied message are empty; data is never written.
    let written = expect(message, &copied, body);
    let values = |values: Vec<Expected>| -> Vec<_> {
        let data = cme_schema::named(message.node, "data").count();
        let count = values.len() - data;
        values.into_iter().take(count).filter(|value| !value.is_constant).map(|v| v.item).collect()
    };
    assert_eq!(values(written), values(expected), "{}", message.name);
    check_padding(message, &copied, body);
}

/// Checks that all bytes of a root block outside of fields are zero.
fn check_padding(message: &Block, header: &MessageHeader, body: &[u8]) {
    let mut block = body[..header.block_length.into()].to_vec();
    for field in message.fields.iter().filter(|field| !field.is_constant()) {
        block[field.offset.unwrap()..][..field.size()].fill(0);
    }
    assert!(block.iter().all(|byte| *byte == 0), "{}", message.name);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn getters_setters_and_visitor_match_cme(seed: u64) {
        for_each_message(|schema, message| {
            let (header, body) = random_message(seed, schema.id, message, schema.version, 0);
            check_visited(schema, message, &header, &body);
            check_copied(schema, message, &header, &body);
        });
    }

    #[test]
    fn fields_and_groups_newer_than_the_wire_are_null(seed: u64) {
        for_each_message(|schema, message| {
            for version in 0..=schema.version + 1 {
                let (header, body) = random_message(seed, schema.id, message, version, 0);
                check_visited(schema, message, &header, &body);
                check_copied(schema, message, &header, &body);
            }
        });
    }

    #[test]
    fn decodes_blocks_of_other_lengths(seed: u64, stretch in -20_isize..20) {
        for_each_message(|schema, message| {
            let (header, body) = random_message(seed, schema.id, message, schema.version, stretch);
            check_visited(schema, message, &header, &body);
            if stretch >= 0 {
                check_copied(schema, message, &header, &body);
            }
        });
    }

    #[test]
    fn truncation_is_an_error_and_trailing_bytes_are_ignored(seed: u64) {
        for_each_message(|schema, message| {
            let (header, mut body) = random_message(seed, schema.id, message, schema.version, 0);
            let whole = body.len();
            for length in 0..whole {
                let cut = (schema.visit)(&header, &body[..length], &mut VisitLog::default());
                use DecodeError::{Block, Data, Group};
                let is_cut = matches!(cut, Err(Block | Group(_) | Data(_)));
                assert!(is_cut, "{} cut at {length}: {cut:?}", message.name);
            }
            body.extend_from_slice(&[0xff; 9]);
            let overlong = (schema.visit)(&header, &body, &mut VisitLog::default());
            assert_eq!(overlong, Ok(8 + whole), "{}", message.name);
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes_never_panic(
        pick: prop::sample::Index,
        block_length in 0_u16..600,
        version in 0_u16..20,
        body in prop::collection::vec(prop::num::u8::ANY, 0..700),
    ) {
        SCHEMAS.with(|schemas| {
            for schema in schemas.iter() {
                let template_id = pick.get(schema.messages).template_id;
                let schema_id = schema.id;
                let header = MessageHeader { block_length, template_id, schema_id, version };
                let mut visited = VisitLog::default();
                let whole = (schema.visit)(&header, &body, &mut visited);
                if whole.is_ok() {
                    // The generated decoder accepts every message that the visitor accepts, and
                    // getters do not panic.
                    (schema.copy)(&header, &body, &mut vec![0; 1 << 17], &mut ValueLog::default());
                } else {
                    assert!(visited.0.is_empty());
                }
            }
        });
    }
}

#[test]
fn rejects_other_templates_and_schemas() {
    let header = MessageHeader { block_length: 0, template_id: 12, schema_id: 1, version: 13 };
    let decode =
        |header| mdp3::AdminHeartbeat12::decode(&header, &[], &mut []).map(|m| m.encoded_length());
    assert_eq!(decode(header), Ok(8));
    let other = MessageHeader { template_id: 15, ..header };
    assert_eq!(decode(other), Err(DecodeError::Template(15)));
    let other = MessageHeader { schema_id: 8, ..header };
    assert_eq!(decode(other), Err(DecodeError::Schema(8)));
    let visit = |header| mdp3::visit(&header, &[], &mut VisitLog::default());
    assert_eq!(visit(header), Ok(8));
    assert_eq!(visit(other), Err(DecodeError::Schema(8)));
    assert_eq!(visit(MessageHeader { template_id: 13, ..header }), Err(DecodeError::Template(13)));
    // A template id is valid only within its schema, as in a plan.
    let neither = MessageHeader { template_id: 13, schema_id: 8, ..header };
    assert_eq!(visit(neither), Err(DecodeError::Schema(8)));
}
