//! Encoder output and encoder errors.

use crate::cme_schema::{self, Block, CmeSchema};
use hairpin_cme_codecs::ilink3::{
    ExecutionReportNew522, Negotiate500, NewOrderSingle514, PartyDetailsListRequest537, SCHEMA_ID,
    SCHEMA_VERSION, SideReq,
};
use hairpin_cme_codecs::mdp3::{MDIncrementalRefreshBook46, Price9};
use hairpin_sbe::{EncodeError, MessageHeader};

/// Creates a block without values from CME's file: nulls, the maximum for additions, otherwise
/// zero.
fn null_block(block: &Block) -> Vec<u8> {
    let mut bytes = vec![0; block.length];
    for field in block.fields.iter().filter(|field| !field.is_constant()) {
        let null = match field.null() {
            Some(null) => null,
            None if field.added && field.parts[0].length == 1 => field.greatest(),
            None => continue,
        };
        bytes[field.offset.unwrap()..][..null.len()].copy_from_slice(&null);
    }
    bytes
}

/// Creates a message from CME's file, with one entry in each group and no values.
fn empty(schema: &CmeSchema, message: &Block) -> Vec<u8> {
    let number = |attribute| cme_schema::number(schema.root, attribute) as u16;
    let mut bytes = Vec::new();
    for part in [message.length as u16, message.id, number("id"), number("version")] {
        bytes.extend_from_slice(&part.to_le_bytes());
    }
    bytes.extend(null_block(message));
    for group in &message.groups {
        bytes.extend_from_slice(&(group.length as u16).to_le_bytes());
        if group.node.attribute("dimensionType") == Some("groupSize8Byte") {
            bytes.extend_from_slice(&[0; 5]);
        }
        bytes.push(1);
        bytes.extend(null_block(group));
    }
    bytes.extend(vec![0; 2 * message.data]);
    bytes
}

type Empty = fn(u16, &mut [u8]) -> Result<usize, EncodeError>;

fn for_each_message(check: impl Fn(&CmeSchema, &Block, Empty)) {
    let schemas: [(_, Empty); 2] = [
        (cme_schema::MDP3, hairpin_cme_copy::mdp3::empty),
        (cme_schema::ILINK3, hairpin_cme_copy::ilink3::empty),
    ];
    for (file, empty) in schemas {
        let Some(schema) = CmeSchema::read(file) else { return };
        schema.messages.iter().for_each(|message| check(&schema, message, empty));
    }
}

#[test]
fn unset_fields_are_null_and_padding_is_zero() {
    for_each_message(|schema, message, encode| {
        let mut buffer = [0xa5; 4096];
        let length = encode(message.id, &mut buffer).unwrap();
        assert_eq!(buffer[..length], empty(schema, message), "{}", message.name);
        assert!(buffer[length..].iter().all(|byte| *byte == 0xa5), "{}", message.name);
    });
}

#[test]
fn rejects_every_buffer_that_is_too_short() {
    for_each_message(|schema, message, encode| {
        let length = empty(schema, message).len();
        for short in 0..length {
            let mut buffer = vec![0; short];
            let refused = Err(EncodeError::Buffer);
            assert_eq!(encode(message.id, &mut buffer), refused, "{} in {short}", message.name);
        }
        assert_eq!(encode(message.id, &mut vec![0; length]), Ok(length), "{}", message.name);
    });
}

#[test]
fn order_encodes_to_known_bytes() {
    let mut buffer = [0xa5; NewOrderSingle514::ENCODED_LENGTH];
    let mut order = NewOrderSingle514::encode(&mut buffer).unwrap();
    order.set_price(Price9(15_230_250_000_000)).set_order_qty(3).set_security_id(157_660);
    order.set_side(SideReq::BUY).set_seq_num(2).set_cl_ord_id("77").set_min_qty(None);
    assert_eq!(buffer[..8], [132, 0, 2, 2, 8, 0, 9, 0]);
    assert_eq!(buffer[8..16], 15_230_250_000_000_u64.to_le_bytes());
    assert_eq!(buffer[16..25], [3, 0, 0, 0, 0xdc, 0x67, 0x02, 0x00, 1]);
    assert_eq!(buffer[25..29], [2, 0, 0, 0]);
    assert_eq!(buffer[49..53], *b"77\0\0");
}

#[test]
fn empty_data_follows_the_block() {
    let mut buffer = [0xa5; Negotiate500::ENCODED_LENGTH];
    Negotiate500::encode(&mut buffer).unwrap().set_hmac_signature([7; 32]);
    assert_eq!((buffer.len(), &buffer[84..]), (86, &[0, 0][..]));
    let (header, body) = MessageHeader::decode(&buffer).unwrap();
    let mut scratch = Negotiate500::SCRATCH;
    let message = Negotiate500::decode(&header, body, &mut scratch).unwrap();
    assert_eq!(message.hmac_signature().raw(), [7; 32]);
    assert_eq!((message.credentials(), message.encoded_length()), (&[][..], 86));
}

#[test]
fn groups_left_out_are_written_empty() {
    let mut buffer = [0xa5; 128];
    let (_, mut groups) = MDIncrementalRefreshBook46::encode(&mut buffer).unwrap();
    groups.no_order_id_entries().unwrap().push().unwrap().set_order_id(9);
    assert_eq!(groups.finish(), Ok(8 + 11 + 3 + 8 + 24));
    assert_eq!(buffer[19..31], [32, 0, 0, 24, 0, 0, 0, 0, 0, 0, 1, 9]);
    let (_, groups) = MDIncrementalRefreshBook46::encode(&mut buffer).unwrap();
    assert_eq!(groups.finish(), Ok(8 + 11 + 3 + 8));
    assert_eq!(buffer[19..30], [32, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn rejects_groups_out_of_order() {
    let mut buffer = [0; 128];
    let (_, mut groups) = MDIncrementalRefreshBook46::encode(&mut buffer).unwrap();
    assert!(groups.no_order_id_entries().is_ok());
    assert_eq!(groups.no_md_entries().err(), Some(EncodeError::GroupOrder(268)));
    assert_eq!(groups.no_order_id_entries().err(), Some(EncodeError::GroupOrder(37_705)));
}

#[test]
fn full_group_is_unchanged() {
    let mut buffer = [0; 16_384];
    let (_, mut groups) = MDIncrementalRefreshBook46::encode(&mut buffer).unwrap();
    let mut entries = groups.no_md_entries().unwrap();
    for level in 0..255 {
        entries.push().unwrap().set_md_price_level(level);
    }
    assert_eq!(entries.push().err(), Some(EncodeError::GroupFull(268)));
    assert_eq!(entries.len(), 255);
    let length = groups.finish().unwrap();
    assert_eq!(length, 8 + 11 + 3 + 255 * 32 + 8);
    let (header, body) = MessageHeader::decode(&buffer[..length]).unwrap();
    let mut scratch = MDIncrementalRefreshBook46::SCRATCH;
    let message = MDIncrementalRefreshBook46::decode(&header, body, &mut scratch).unwrap();
    assert_eq!((message.no_md_entries().len(), message.encoded_length()), (255, length));
}

#[test]
#[should_panic(expected = "text longer than its field")]
#[cfg(debug_assertions)]
fn text_longer_than_its_field_is_a_caller_error() {
    let mut buffer = [0; NewOrderSingle514::ENCODED_LENGTH];
    let mut order = NewOrderSingle514::encode(&mut buffer).unwrap();
    order.set_cl_ord_id("more than twenty characters");
}

#[test]
fn decode_exact_requires_the_compiled_block_and_nothing_else() {
    let length = ExecutionReportNew522::BLOCK_LENGTH as u16;
    let mut body = [ExecutionReportNew522::NULL_BLOCK.as_slice(), &[7; 5]].concat();
    body[..4].copy_from_slice(&77_u32.to_le_bytes());
    let (plain, longer) = body.split_at(ExecutionReportNew522::BLOCK_LENGTH);
    assert_eq!(longer.len(), 5);
    let sound = MessageHeader {
        block_length: length,
        template_id: ExecutionReportNew522::TEMPLATE_ID,
        schema_id: SCHEMA_ID,
        version: SCHEMA_VERSION,
    };
    let of = |header: &MessageHeader, body: &[u8]| {
        let bytes = [&header.to_bytes(), body].concat();
        let decoded = ExecutionReportNew522::decode_exact(&bytes);
        decoded.map(|it| (it.seq_num(), it.encoded_length()))
    };
    let decoded = Some((77, 8 + plain.len()));
    // The newest field was introduced in version 8.
    for version in [8, SCHEMA_VERSION, SCHEMA_VERSION + 1, u16::MAX] {
        assert_eq!(of(&MessageHeader { version, ..sound }, plain), decoded, "{version}");
    }
    for other in [
        MessageHeader { version: 7, ..sound },
        MessageHeader { version: 0, ..sound },
        MessageHeader { block_length: length - 1, ..sound },
        MessageHeader { block_length: length + 1, ..sound },
        MessageHeader { template_id: sound.template_id + 1, ..sound },
        MessageHeader { schema_id: SCHEMA_ID + 1, ..sound },
    ] {
        assert_eq!(of(&other, plain), None, "{other:?}");
    }
    assert_eq!(of(&sound, &body), None, "there is more behind it");
    assert_eq!(of(&sound, &plain[1..]), None, "it is cut");
    assert!(ExecutionReportNew522::decode_exact(&sound.to_bytes()[..7]).is_none());
}

#[test]
fn decode_exact_rejects_messages_with_groups_or_data() {
    let mut buffer = [0; 1_000];
    let (_, groups) = PartyDetailsListRequest537::encode(&mut buffer).unwrap();
    let length = groups.finish().unwrap();
    let block = 8 + PartyDetailsListRequest537::BLOCK_LENGTH;
    for length in [length, block] {
        assert!(PartyDetailsListRequest537::decode_exact(&buffer[..length]).is_none());
    }
    let length = 8 + Negotiate500::BLOCK_LENGTH;
    Negotiate500::encode(&mut buffer).unwrap();
    assert!(Negotiate500::decode_exact(&buffer[..length]).is_none());
}
