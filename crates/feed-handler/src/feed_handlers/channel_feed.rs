//! The state of one channel in `FeedHandlers`.

use crate::LineId;
use crate::channel_input::ChannelInput;
use crate::channel_replay::ChannelReplay;

/// A channel with its lines and its replay.
#[derive(Debug)]
pub(crate) struct ChannelFeed {
    pub(crate) channel_input: ChannelInput,
    /// The channel's lines, the incremental feed first; each line once.
    pub(crate) lines: Vec<LineId>,
    pub(crate) replay: Option<Box<ChannelReplay>>,
    /// The channel has joined or left feeds, and the engine has not been updated.
    pub(crate) joins_changed: bool,
}

impl ChannelFeed {
    pub(crate) fn new(
        channel_input: ChannelInput,
        lines: Vec<LineId>,
        replay: Option<Box<ChannelReplay>>,
    ) -> Self {
        Self { channel_input, lines, replay, joins_changed: false }
    }

    /// Returns `true` while a replay is requested or in progress.
    #[inline]
    pub(crate) fn is_replaying(&self) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.is_busy())
    }
}
