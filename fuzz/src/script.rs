//! Input bytes interpreted as instructions.

/// A reader of instructions from the front of an input. After the end every number is 0, so every
/// input is a valid script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Script<'a>(pub(crate) &'a [u8]);

impl<'a> Script<'a> {
    /// Returns `true` at the end of the input.
    pub(crate) const fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the next byte.
    pub(crate) fn byte(&mut self) -> u8 {
        u8::from_le_bytes(self.array())
    }

    /// Returns the next byte modulo `limit`, which must not be 0.
    pub(crate) fn below(&mut self, limit: u8) -> u8 {
        self.byte() % limit
    }

    /// Returns the lowest bit of the next byte.
    pub(crate) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// Returns the next two bytes as a little-endian number.
    pub(crate) fn word(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    /// Returns the next `length` bytes, or the rest.
    pub(crate) fn bytes(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        let taken = self.bytes(N);
        array[..taken.len()].copy_from_slice(taken);
        array
    }
}
