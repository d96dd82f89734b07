//! The common code of the two codec targets.

use std::cell::RefCell;
use std::sync::OnceLock;

use hairpin_cme_copy::ValueLog;
use hairpin_sbe::compare::{Comparison, Listing, compare};
use hairpin_sbe::plan::Plan;
use hairpin_sbe::{EncodeError, Message, MessageHeader};

/// A file of a target's corpus: name and bytes.
pub type Seed = (String, Vec<u8>);

/// A schema in all forms in which its messages can be decoded.
pub(crate) struct Codec {
    pub(crate) messages: &'static [&'static Message],
    pub(crate) copy: fn(&MessageHeader, &[u8], &mut [u8], &mut ValueLog) -> usize,
    pub(crate) empty: fn(u16, &mut [u8]) -> Result<usize, EncodeError>,
}

/// The maximum length of a copy of any message in an input. Blocks shorter on the wire than in the
/// schema grow in a copy.
const COPY_MAX: usize = 1 << 20;

/// The memory of two copies.
type Buffers = [Vec<u8>; 2];

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::new([vec![0; COPY_MAX], vec![0; COPY_MAX]]);
}

impl Codec {
    /// Decodes `bytes` in every way and panics if two results differ.
    pub(crate) fn check(&self, plan: &Plan<'_>, bytes: &[u8]) {
        let Ok((header, body)) = MessageHeader::decode(bytes) else { return };
        let comparison = compare(self.messages, plan, bytes);
        let comparison = comparison.unwrap_or_else(|difference| panic!("{difference}"));
        let Comparison::Values(values) = comparison else { return };
        // Printing must not panic either.
        assert!(Listing::new(self.messages, &header, body).lines.len() > values);
        BUFFERS.with_borrow_mut(|buffers| self.check_copies(&header, body, buffers));
    }

    /// Checks that a copy decodes to the same values, so that a copy of the copy has the same
    /// bytes.
    fn check_copies(&self, header: &MessageHeader, body: &[u8], [one, other]: &mut Buffers) {
        let mut seen = ValueLog::default();
        let length = (self.copy)(header, body, one, &mut seen);
        let (header, body) = MessageHeader::decode(&one[..length]).expect("a copy has a header");
        let mut again = ValueLog::default();
        let same = (self.copy)(&header, body, other, &mut again);
        assert_eq!(one[..length], other[..same], "template {}", header.template_id);
    }

    /// Returns every message once, with an empty entry in each group.
    pub(crate) fn seeds(&self) -> Vec<Seed> {
        let seed = |message: &&Message| {
            let mut buffer = vec![0; 4_096];
            let length = (self.empty)(message.template_id, &mut buffer).expect("the path is short");
            buffer.truncate(length);
            (message.name.to_owned(), buffer)
        };
        self.messages.iter().map(seed).collect()
    }
}

/// Returns the plan of our market data schema.
pub(crate) fn mdp3_plan() -> &'static Plan<'static> {
    static PLAN: OnceLock<Plan<'static>> = OnceLock::new();
    PLAN.get_or_init(|| parse(include_str!("../../schemas/mdp3-v13.xml")))
}

/// Returns the plan of our order entry schema.
pub(crate) fn ilink3_plan() -> &'static Plan<'static> {
    static PLAN: OnceLock<Plan<'static>> = OnceLock::new();
    PLAN.get_or_init(|| parse(include_str!("../../schemas/ilink3-v9.xml")))
}

fn parse(text: &'static str) -> Plan<'static> {
    Plan::parse(text).expect("the schema is ours")
}
