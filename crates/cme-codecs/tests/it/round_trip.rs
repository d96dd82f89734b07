//! Every message encoded from its getters' values, decoded again, and changed byte by byte.

use crate::message_generator::MessageGenerator;
use hairpin_cme_codecs::{ilink3, mdp3};
use hairpin_cme_copy::ValueLog;
use hairpin_sbe::{BlockLayout, Message, MessageHeader};
use hairpin_testkit::Random;
use std::ops::Range;

type Copy = fn(&MessageHeader, &[u8], &mut [u8], &mut ValueLog) -> usize;

/// Both schemas: the messages, and the copy from getter to setter.
const SCHEMAS: [(&[&Message], Copy); 2] = [
    (mdp3::MESSAGES, hairpin_cme_copy::mdp3::copy),
    (ilink3::MESSAGES, hairpin_cme_copy::ilink3::copy),
];

/// The number of generated messages of each schema.
const GENERATED: usize = 4_000;

/// Copies a message. Returns the values that its getters read, and the encoded copy.
fn copied(copy: Copy, header: &MessageHeader, body: &[u8]) -> (ValueLog, Vec<u8>) {
    let (mut values, mut buffer) = (ValueLog::default(), vec![0xa5; 1 << 18]);
    let length = copy(header, body, &mut buffer, &mut values);
    buffer.truncate(length);
    (values, buffer)
}

#[test]
fn values_survive_encoding_and_decoding() {
    for (messages, copy) in SCHEMAS {
        let mut generator = MessageGenerator::new(3);
        generator.may_shorten = false;
        for message in messages.iter().cycle().take(GENERATED) {
            let header = generator.generate(message);
            let (values, bytes) = copied(copy, &header, &generator.body);
            let (header, body) = MessageHeader::decode(&bytes).unwrap();
            let (again, same) = copied(copy, &header, body);
            // Encoders write data empty.
            let count = values.0.len() - message.data.len();
            assert_eq!(values.0[..count], again.0[..count], "{}", message.name);
            assert_eq!(bytes, same, "{}", message.name);
        }
    }
}

/// A message of the current version with two entries in each group, and no byte of a field is zero.
struct FullMessage {
    random: Random,
    body: Vec<u8>,
    /// The bytes of each value, in the order of reading.
    fields: Vec<Range<usize>>,
}

impl FullMessage {
    fn new(seed: u64, message: &Message) -> Self {
        let mut full = Self { random: Random::new(seed), body: Vec::new(), fields: Vec::new() };
        full.block(&message.block);
        for group in message.groups {
            let (head, count) = (full.body.len(), 2);
            full.body.resize(head + usize::from(group.dimension.length), 0);
            let length = head + usize::from(group.dimension.block_length_offset);
            full.body[length..length + 2].copy_from_slice(&group.block.length.to_le_bytes());
            full.body[head + usize::from(group.dimension.count_offset)] = count;
            (0..count).for_each(|_| full.block(&group.block));
        }
        for _ in message.data {
            full.body.extend_from_slice(&[3, 0]);
            full.fields.push(full.body.len()..full.body.len() + 3);
            full.fill(3);
        }
        full
    }

    fn block(&mut self, layout: &BlockLayout) {
        let start = self.body.len();
        self.fields.extend(layout.fields.iter().map(|field| {
            let from = start + usize::from(field.offset);
            from..from + usize::from(field.kind.size)
        }));
        self.fill(layout.length.into());
    }

    fn fill(&mut self, length: usize) {
        self.body.extend((0..length).map(|_| 1 + self.random.index(255) as u8));
    }
}

#[test]
fn every_changed_byte_changes_the_value_of_its_field_alone() {
    let mut bytes = 0;
    for (messages, copy) in SCHEMAS {
        for message in messages {
            let FullMessage { mut random, mut body, fields } = FullMessage::new(4, message);
            let header = MessageHeader {
                block_length: message.block.length,
                template_id: message.template_id,
                schema_id: message.schema_id,
                version: message.version,
            };
            let (values, _) = copied(copy, &header, &body);
            assert_eq!(values.0.len(), fields.len(), "{}", message.name);
            let places = fields
                .iter()
                .enumerate()
                .flat_map(|(at, field)| field.clone().map(move |byte| (at, byte)));
            for (field, byte) in places {
                let before = body[byte];
                body[byte] ^= 1 + random.index(255) as u8;
                let (changed, _) = copied(copy, &header, &body);
                let differs = |at: &usize| values.0[*at] != changed.0[*at];
                let different: Vec<_> = (0..fields.len()).filter(differs).collect();
                assert_eq!(different, [field], "{} byte {byte}", message.name);
                (body[byte], bytes) = (before, bytes + 1);
            }
        }
    }
    assert!(bytes > 5_000, "only {bytes} bytes");
}
