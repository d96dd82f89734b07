//! One of several channels.

use crate::LineId;
use crate::inlet::Inlet;
use crate::replay_line::ReplayLine;

/// A channel, and the lines of its feeds.
#[derive(Debug)]
pub(crate) struct ChannelFeed {
    pub(crate) inlet: Inlet,
    /// The incremental feed first; each line once.
    pub(crate) lines: Vec<LineId>,
    pub(crate) replay: Option<Box<ReplayLine>>,
    /// It has asked for feeds, and the engine has not been told.
    pub(crate) has_acted: bool,
}

impl ChannelFeed {
    pub(crate) fn new(inlet: Inlet, lines: Vec<LineId>, replay: Option<Box<ReplayLine>>) -> Self {
        Self { inlet, lines, replay, has_acted: false }
    }

    /// Whether it asks for a replay or is to.
    #[inline]
    pub(crate) fn is_refilling(&self) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.is_busy())
    }
}
