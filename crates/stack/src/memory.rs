//! The memory in which the engine lies.

use std::fmt;

use hairpin_netstack::{Engine, Settings};
use zerocopy::IntoBytes;

/// An engine and the memory it lies in, which goes when this does.
pub(crate) struct OwnedEngine {
    engine: Option<Engine<'static>>,
    memory: *mut [u64],
}

// SAFETY: the memory is this value's alone, and the engine is plain data over it.
unsafe impl Send for OwnedEngine {}

impl OwnedEngine {
    pub(crate) fn new(settings: &Settings) -> Self {
        let words = settings.arena_size().div_ceil(size_of::<u64>());
        let memory = Box::into_raw(vec![0_u64; words].into_boxed_slice());
        // SAFETY: it was allocated above, and is freed by `drop` alone, after the engine has gone.
        let bytes = unsafe { &mut *memory }.as_mut_bytes();
        let engine = Engine::create(bytes, settings).expect("as large and aligned as it must be");
        Self { engine: Some(engine), memory }
    }

    #[inline]
    pub(crate) fn get(&self) -> &Engine<'static> {
        self.engine.as_ref().expect("it goes with this value")
    }

    #[inline]
    pub(crate) fn edit(&mut self) -> &mut Engine<'static> {
        self.engine.as_mut().expect("it goes with this value")
    }
}

impl Drop for OwnedEngine {
    fn drop(&mut self) {
        self.engine = None;
        // SAFETY: it came from a box, and nothing refers to it any more.
        drop(unsafe { Box::from_raw(self.memory) });
    }
}

impl fmt::Debug for OwnedEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnedEngine")
    }
}
