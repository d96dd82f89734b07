//! The memory of a connection's bytes.

use std::ops::{Deref, DerefMut};

use hairpin_tcp::Numbers;

use super::keeper::Kept;

/// A byte ring.
#[derive(Debug)]
pub(super) enum Ring {
    Private(Box<[u8]>),
    /// A send ring that the keeper reads after the death of this process.
    Kept(Kept),
}

impl Ring {
    pub(super) fn new(length: usize) -> Self {
        Self::Private(vec![0; length].into_boxed_slice())
    }

    /// Stores the connection's numbers for the keeper.
    #[inline]
    pub(super) fn store(&self, numbers: impl FnOnce() -> Numbers) {
        if let Self::Kept(kept) = self {
            kept.store(&numbers());
        }
    }
}

impl Deref for Ring {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Private(bytes) => bytes,
            Self::Kept(kept) => kept,
        }
    }
}

impl DerefMut for Ring {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Private(bytes) => bytes,
            Self::Kept(kept) => kept,
        }
    }
}
