//! The one place at which packets pass from IO to protocol.

use hairpin_mdp3::{Channel, Input, Listener};
use hairpin_time::Now;

use crate::DefinitionCache;

/// A channel, and what takes its packets beside it.
#[derive(Debug)]
pub(crate) struct Inlet {
    pub(crate) channel: Channel,
    pub(crate) definitions: Option<Box<DefinitionCache>>,
}

impl Inlet {
    pub(crate) fn new(channel: Channel) -> Self {
        Self { channel, definitions: None }
    }

    /// Takes a packet.
    #[inline]
    pub(crate) fn handle_packet(
        &mut self,
        now: Now,
        input: Input,
        bytes: &[u8],
        listener: &mut impl Listener,
    ) {
        if let Some(definitions) = &mut self.definitions {
            definitions.note(bytes);
        }
        deliver(now, &mut self.channel, input, bytes, listener);
    }
}

/// Hands a packet to a channel.
///
/// Never inlined: every engine, and [`KeepWarm`](crate::KeepWarm), calls the same instructions, so
/// that what keeps them warm keeps them warm for all. The call costs a nanosecond.
#[inline(never)]
pub(crate) fn deliver(
    now: Now,
    channel: &mut Channel,
    input: Input,
    bytes: &[u8],
    listener: &mut impl Listener,
) {
    channel.handle_packet(now, input, bytes, listener);
}
