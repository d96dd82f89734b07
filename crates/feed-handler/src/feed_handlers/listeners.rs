//! Whom several channels tell.

use hairpin_mdp3::Listener;

use super::HandlerId;

/// A listener for each of several channels.
///
/// For channels that tell listeners of one type this is a slice or a vector of them, or [`Same`].
/// For others it is a type of one's own whose listener is an enumeration of theirs.
pub trait Listeners {
    /// What listens.
    type One: Listener;

    /// The listener of a channel.
    ///
    /// # Panics
    /// If there is none for it.
    fn of(&mut self, handler: HandlerId) -> &mut Self::One;
}

/// By the channels' numbers.
impl<L: Listener> Listeners for [L] {
    type One = L;
    #[inline]
    fn of(&mut self, handler: HandlerId) -> &mut L {
        &mut self[handler.as_usize()]
    }
}

/// By the channels' numbers.
impl<L: Listener> Listeners for Vec<L> {
    type One = L;
    #[inline]
    fn of(&mut self, handler: HandlerId) -> &mut L {
        &mut self[handler.as_usize()]
    }
}

/// By the channels' numbers.
impl<L: Listener, const N: usize> Listeners for [L; N] {
    type One = L;
    #[inline]
    fn of(&mut self, handler: HandlerId) -> &mut L {
        &mut self[handler.as_usize()]
    }
}

/// One listener for all channels: it cannot tell which of them speaks, unless it knows the
/// instruments.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Same<L>(pub L);

impl<L: Listener> Listeners for Same<L> {
    type One = L;
    #[inline]
    fn of(&mut self, _: HandlerId) -> &mut L {
        &mut self.0
    }
}
