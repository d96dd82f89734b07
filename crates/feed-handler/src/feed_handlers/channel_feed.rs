//! One of several channels.

use crate::LineId;
use crate::inlet::Inlet;

/// A channel, and the lines of its feeds.
#[derive(Debug)]
pub(crate) struct ChannelFeed {
    pub(crate) inlet: Inlet,
    /// The incremental feed first; each line once.
    pub(crate) lines: Vec<LineId>,
    /// It has asked for feeds, and the engine has not been told.
    pub(crate) has_acted: bool,
}

impl ChannelFeed {
    pub(crate) fn new(inlet: Inlet, lines: Vec<LineId>) -> Self {
        Self { inlet, lines, has_acted: false }
    }
}
