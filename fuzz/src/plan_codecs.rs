//! Complete messages, created from the compiled layouts and filled with the input's bytes.
//!
//! Checks that the generated codecs and the schema file's plan agree on every value of every
//! message, for any version and block length. The inputs of `codec_mdp3` and `codec_ilink3` rarely
//! have valid groups; these always do.

use hairpin_cme_codecs::{ilink3, mdp3};
use hairpin_sbe::compare::{Comparison, compare};
use hairpin_sbe::{BlockLayout, Message, MessageHeader};

use crate::Seed;
use crate::codec::{ilink3_plan, mdp3_plan};
use crate::script::Script;

/// Runs one input: a message of either schema, with its bytes.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let (messages, plan) = match script.flag() {
        false => (mdp3::MESSAGES, mdp3_plan()),
        true => (ilink3::MESSAGES, ilink3_plan()),
    };
    let message = messages[usize::from(script.byte()) % messages.len()];
    let bytes = make(message, &mut script);
    match compare(messages, plan, &bytes) {
        Ok(Comparison::Values(_)) => {}
        Ok(refused) => panic!("{} is whole: {refused:?}", message.name),
        Err(difference) => panic!("{difference}"),
    }
}

fn make(message: &Message, script: &mut Script<'_>) -> Vec<u8> {
    let version = u16::from(script.byte()) % (message.version + 2);
    let block_length = length(&message.block, script);
    let header = MessageHeader {
        block_length,
        template_id: message.template_id,
        schema_id: message.schema_id,
        version,
    };
    let mut bytes = header.to_bytes().to_vec();
    fill(&mut bytes, block_length, script);
    for group in message.groups.iter().filter(|group| group.since <= version) {
        let block_length = length(&group.block, script);
        let count = script.byte() % 5;
        let head = bytes.len();
        let dimension = &group.dimension;
        fill(&mut bytes, dimension.length, script);
        let lengths = head + usize::from(dimension.block_length_offset);
        bytes[lengths..][..2].copy_from_slice(&block_length.to_le_bytes());
        let counts = head + usize::from(dimension.count_offset);
        bytes[counts..][..usize::from(dimension.count_size)].fill(0);
        bytes[counts] = count;
        (0..count).for_each(|_| fill(&mut bytes, block_length, script));
    }
    for _ in message.data.iter().filter(|data| data.since <= version) {
        let length = script.byte() % 5;
        bytes.extend([length, 0]);
        fill(&mut bytes, length.into(), script);
    }
    bytes
}

/// Returns a block length; most blocks have the compiled length.
fn length(layout: &BlockLayout, script: &mut Script<'_>) -> u16 {
    match script.byte() {
        byte @ 128.. => u16::from(byte) % (layout.length + 20),
        _ => layout.length,
    }
}

/// Fills bytes from the script; zero after its end.
fn fill(bytes: &mut Vec<u8>, length: u16, script: &mut Script<'_>) {
    let end = bytes.len() + usize::from(length);
    bytes.extend_from_slice(script.bytes(length.into()));
    bytes.resize(end, 0);
}

/// Returns a message of each schema, of the newest and the first version.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let seed = |name: &str, start: [u8; 4]| {
        let bytes = start.into_iter().chain((0..=255).cycle().take(300));
        (name.to_owned(), bytes.collect())
    };
    vec![
        seed("definition", [0, 16, 13, 0]),
        seed("book", [0, 7, 13, 0]),
        seed("old-book", [0, 7, 9, 0]),
        seed("order", [1, 9, 9, 0]),
        seed("trade", [1, 20, 5, 0]),
    ]
}
