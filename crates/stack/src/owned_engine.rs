//! The UDP engine together with the memory of its arena.

use std::fmt;

use hairpin_netstack::{Engine, Settings};
use zerocopy::IntoBytes;

/// An engine and the memory that it borrows, freed together.
///
/// The engine's lifetime is only nominally `'static`. No code outside this module sees it:
/// [`get`](Self::get) shortens it to the borrow, and [`with`](Self::with) replaces it by one that
/// the caller cannot name. So an engine can neither be moved out of its memory nor be replaced by
/// one with shorter-lived memory.
pub(crate) struct OwnedEngine {
    engine: Option<Engine<'static>>,
    memory: *mut [u64],
}

// SAFETY: the memory belongs to this value alone, and the engine is plain data in it.
unsafe impl Send for OwnedEngine {}

impl OwnedEngine {
    pub(crate) fn new(settings: &Settings) -> Self {
        let words = settings.arena_size().div_ceil(size_of::<u64>());
        let memory = Box::into_raw(vec![0_u64; words].into_boxed_slice());
        // SAFETY: the memory was allocated above. Only `drop` frees it, after the engine's end, and
        // no other reference to it exists. The engine does not leave this value (type docs), so the
        // extended lifetime is not observable.
        let bytes = unsafe { &mut *memory }.as_mut_bytes();
        let engine =
            Engine::create(bytes, settings).expect("the arena is large enough and aligned");
        Self { engine: Some(engine), memory }
    }

    /// Returns the engine for reading. Its lifetime is that of the borrow, so it cannot outlive
    /// the memory.
    #[inline(always)]
    pub(crate) fn get(&self) -> &Engine<'_> {
        self.engine.as_ref().expect("only `drop` takes the engine")
    }

    /// Calls `change` with the engine. The closure must accept every lifetime, so it can neither
    /// keep the engine nor swap it with another one.
    #[inline(always)]
    pub(crate) fn with<R>(&mut self, change: impl FnOnce(&mut Engine<'_>) -> R) -> R {
        change(self.engine.as_mut().expect("only `drop` takes the engine"))
    }
}

impl Drop for OwnedEngine {
    fn drop(&mut self) {
        self.engine = None;
        // SAFETY: the memory came from a box, and the only value that refers to it was just
        // dropped.
        drop(unsafe { Box::from_raw(self.memory) });
    }
}

impl fmt::Debug for OwnedEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnedEngine")
    }
}
