//! The entry point of packets from I/O to the protocol.

use hairpin_mdp3::{Channel, Input, Listener};
use hairpin_time::Now;

use crate::DefinitionCache;

/// A channel and its definition cache, which both receive every packet.
#[derive(Debug)]
pub(crate) struct ChannelInput {
    pub(crate) channel: Channel,
    pub(crate) definitions: Option<Box<DefinitionCache>>,
}

impl ChannelInput {
    pub(crate) fn new(channel: Channel) -> Self {
        Self { channel, definitions: None }
    }

    /// Passes a packet to the definition cache and the channel.
    #[inline]
    pub(crate) fn handle_packet(
        &mut self,
        now: Now,
        input: Input,
        bytes: &[u8],
        listener: &mut impl Listener,
    ) {
        if let Some(definitions) = &mut self.definitions {
            definitions.record(bytes);
        }
        deliver(now, &mut self.channel, input, bytes, listener);
    }
}

/// Passes a packet to a channel.
///
/// Never inlined: every engine and [`CacheWarmer`](crate::CacheWarmer) must execute the same
/// instructions, so that synthetic packets warm the code of real ones. The call costs about 1 ns.
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
