//! Bytes read as instructions.

/// What a target is to do, read from the front of the input. Where there is nothing left every
/// number is 0, so that every input is a script, and a seed is written as it will be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Script<'a>(pub(crate) &'a [u8]);

impl<'a> Script<'a> {
    /// Whether everything has been read.
    pub(crate) const fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub(crate) fn byte(&mut self) -> u8 {
        u8::from_le_bytes(self.array())
    }

    /// The next byte, brought below `limit`, which is not 0.
    pub(crate) fn below(&mut self, limit: u8) -> u8 {
        self.byte() % limit
    }

    /// The next byte's lowest bit.
    pub(crate) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// Two bytes, little-endian, as are all numbers.
    pub(crate) fn word(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    /// The next `length` bytes, or as many as there are.
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
