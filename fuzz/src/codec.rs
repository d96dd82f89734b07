//! What the targets of both generated codecs do.

use std::cell::RefCell;
use std::sync::OnceLock;

use hairpin_sbe::compare::{Agreement, Listing, agree};
use hairpin_sbe::plan::Plan;
use hairpin_sbe::{EncodeError, Message, MessageHeader};

use crate::item::Seen;

/// A file of a target's corpus: its name and its bytes.
pub type Seed = (String, Vec<u8>);

/// One schema, in all the forms in which its messages can be read.
pub(crate) struct Codec {
    pub(crate) messages: &'static [&'static Message],
    pub(crate) copy: fn(&MessageHeader, &[u8], &mut [u8], &mut Seen) -> usize,
    pub(crate) empty: fn(u16, &mut [u8]) -> Result<usize, EncodeError>,
}

/// Longer than a copy of any message that an input can hold: blocks that are shorter on the wire
/// than in the schema grow.
const COPY_MAX: usize = 1 << 20;

/// The memory of two copies.
type Buffers = [Vec<u8>; 2];

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::new([vec![0; COPY_MAX], vec![0; COPY_MAX]]);
}

impl Codec {
    /// Reads `bytes` in every way there is; panics where two ways differ.
    pub(crate) fn check(&self, plan: &Plan<'_>, bytes: &[u8]) {
        let Ok((header, body)) = MessageHeader::decode(bytes) else { return };
        let agreement = agree(self.messages, plan, bytes);
        let agreement = agreement.unwrap_or_else(|difference| panic!("{difference}"));
        let Agreement::Values(values) = agreement else { return };
        // Printing is part of the visitor's promise too.
        assert!(Listing::of(self.messages, &header, body).lines.len() > values);
        BUFFERS.with_borrow_mut(|buffers| self.check_copies(&header, body, buffers));
    }

    /// What a copy's getters read is what was written, so that its own copy is the same.
    fn check_copies(&self, header: &MessageHeader, body: &[u8], [one, other]: &mut Buffers) {
        let mut seen = Seen::default();
        let length = (self.copy)(header, body, one, &mut seen);
        let (header, body) = MessageHeader::decode(&one[..length]).expect("a copy has a header");
        let mut again = Seen::default();
        let same = (self.copy)(&header, body, other, &mut again);
        assert_eq!(one[..length], other[..same], "template {}", header.template_id);
    }

    /// Every message once, with an entry in each group and nothing set.
    pub(crate) fn seeds(&self) -> Vec<Seed> {
        let seed = |message: &&Message| {
            let mut buffer = vec![0; 4_096];
            let length = (self.empty)(message.template_id, &mut buffer).expect("it is short");
            buffer.truncate(length);
            (message.name.to_owned(), buffer)
        };
        self.messages.iter().map(seed).collect()
    }
}

/// The plan of our file for market data.
pub(crate) fn mdp3_plan() -> &'static Plan<'static> {
    static PLAN: OnceLock<Plan<'static>> = OnceLock::new();
    PLAN.get_or_init(|| parse(include_str!("../../schemas/mdp3-v13.xml")))
}

/// The plan of our file for order entry.
pub(crate) fn ilink3_plan() -> &'static Plan<'static> {
    static PLAN: OnceLock<Plan<'static>> = OnceLock::new();
    PLAN.get_or_init(|| parse(include_str!("../../schemas/ilink3-v9.xml")))
}

fn parse(text: &'static str) -> Plan<'static> {
    Plan::parse(text).expect("the schema is ours")
}
