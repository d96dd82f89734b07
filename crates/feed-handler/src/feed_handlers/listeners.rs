//! The listeners of several channels.

use hairpin_mdp3::Listener;

use super::HandlerId;

/// A set of listeners, one per channel.
///
/// Implemented for slices, arrays and vectors of one listener type, and for [`SharedListener`]. For
/// different listener types, implement it for a type whose listener is an enum of them.
pub trait Listeners {
    /// The listener type of each channel.
    type ChannelListener: Listener;

    /// Returns the listener of a channel.
    ///
    /// # Panics
    /// If the channel has no listener.
    fn listener(&mut self, handler: HandlerId) -> &mut Self::ChannelListener;
}

/// Selects the listener by the channel's index.
impl<L: Listener> Listeners for [L] {
    type ChannelListener = L;
    #[inline]
    fn listener(&mut self, handler: HandlerId) -> &mut L {
        &mut self[handler.as_usize()]
    }
}

/// Selects the listener by the channel's index.
impl<L: Listener> Listeners for Vec<L> {
    type ChannelListener = L;
    #[inline]
    fn listener(&mut self, handler: HandlerId) -> &mut L {
        &mut self[handler.as_usize()]
    }
}

/// Selects the listener by the channel's index.
impl<L: Listener, const N: usize> Listeners for [L; N] {
    type ChannelListener = L;
    #[inline]
    fn listener(&mut self, handler: HandlerId) -> &mut L {
        &mut self[handler.as_usize()]
    }
}

/// A listener that serves all channels. Callbacks do not name the channel; only instrument ids can
/// distinguish channels.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct SharedListener<L>(pub L);

impl<L: Listener> Listeners for SharedListener<L> {
    type ChannelListener = L;
    #[inline]
    fn listener(&mut self, _: HandlerId) -> &mut L {
        &mut self.0
    }
}
