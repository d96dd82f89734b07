//! Generates messages from a seed and the compiled layouts: every template, various versions and
//! block lengths, and many nulls and range limits.

use hairpin_sbe::{BlockLayout, Encoding, Field, Message, MessageHeader, Presence};
use hairpin_testkit::Random;

/// A generator that reuses its memory for every message.
pub(crate) struct MessageGenerator {
    random: Random,
    pub(crate) body: Vec<u8>,
    /// Blocks may be shorter than compiled.
    pub(crate) may_shorten: bool,
}

impl MessageGenerator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), body: Vec::new(), may_shorten: true }
    }

    /// Generates a message; its body is in `body`.
    pub(crate) fn generate(&mut self, message: &Message) -> MessageHeader {
        self.body.clear();
        let version = match self.random.index(4) {
            0 => self.random.index(usize::from(message.version) + 2) as u16,
            _ => message.version,
        };
        let block_length = self.length(&message.block);
        let header = MessageHeader {
            block_length,
            template_id: message.template_id,
            schema_id: message.schema_id,
            version,
        };
        self.block(&message.block, block_length);
        for group in message.groups.iter().filter(|group| group.since <= version) {
            let block_length = self.length(&group.block);
            let count = match self.random.index(64) {
                0 => 255,
                n => n % 4,
            };
            let head = self.body.len();
            self.bytes(group.dimension.length.into());
            let lengths = head + usize::from(group.dimension.block_length_offset);
            self.body[lengths..lengths + 2].copy_from_slice(&block_length.to_le_bytes());
            let counts = head + usize::from(group.dimension.count_offset);
            let size = usize::from(group.dimension.count_size);
            self.body[counts..counts + size].copy_from_slice(&count.to_le_bytes()[..size]);
            for _ in 0..count {
                self.block(&group.block, block_length);
            }
        }
        for _ in message.data.iter().filter(|data| data.since <= version) {
            let length = self.random.index(4);
            self.body.extend_from_slice(&(length as u16).to_le_bytes());
            self.bytes(length);
        }
        header
    }

    /// Returns a block length: one of eight blocks is shorter than compiled, and one is longer.
    fn length(&mut self, layout: &BlockLayout) -> u16 {
        match self.random.index(8) {
            0 if self.may_shorten => self.random.index(usize::from(layout.length) + 1) as u16,
            1 => layout.length + self.random.index(20) as u16,
            _ => layout.length,
        }
    }

    fn bytes(&mut self, length: usize) {
        let end = self.body.len() + length;
        while self.body.len() < end {
            let word = self.random.any().to_le_bytes();
            self.body.extend_from_slice(&word[..8.min(end - self.body.len())]);
        }
    }

    fn block(&mut self, layout: &BlockLayout, length: u16) {
        let start = self.body.len();
        self.bytes(length.into());
        let block = &mut self.body[start..];
        for field in layout.fields {
            let size = usize::from(field.kind.size);
            let at = usize::from(field.offset);
            if let Some(bytes) = block.get_mut(at..at + size) {
                vary(field, layout.since, self.random.any(), bytes);
            }
        }
    }
}

/// Leaves a value random, or sets it to null, a range limit or a named value.
fn vary(field: &Field, block_since: u16, choice: u64, bytes: &mut [u8]) {
    let null = field.null(block_since);
    match choice % 8 {
        0 | 1 if !null.is_empty() && field.kind.presence != Presence::Constant => {
            bytes.copy_from_slice(null);
        }
        1 => bytes.fill(0),
        2 => bytes.fill(0xff),
        3 => {
            // The minimum and maximum of a signed number.
            let end = if choice & 8 == 0 { (0x00, 0x80) } else { (0xff, 0x7f) };
            bytes.fill(end.0);
            bytes.last_mut().into_iter().for_each(|last| *last = end.1);
        }
        4 | 5 => match field.kind.encoding {
            Encoding::Enumeration(_, names) if !names.is_empty() => {
                let named = names[(choice >> 8) as usize % names.len()].value.to_le_bytes();
                bytes.copy_from_slice(&named[..bytes.len()]);
            }
            _ => {}
        },
        _ => {}
    }
}
