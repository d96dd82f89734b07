//! Splits a stream into messages of one length.

use super::message::HEADER;

/// Finds the message boundaries in a stream and keeps only the header of each message.
pub(crate) struct MessageSplitter {
    length: usize,
    filled: usize,
    header: [u8; HEADER],
}

impl MessageSplitter {
    /// Returns a splitter for messages of `length` bytes, at least one.
    pub(crate) fn new(length: usize) -> Self {
        Self { length, filled: 0, header: [0; HEADER] }
    }

    /// Reads a chunk and calls `on` with the first bytes of each message that it completes.
    #[inline]
    pub(crate) fn take(&mut self, chunk: &[u8], mut on: impl FnMut(&[u8])) {
        let header = self.length.min(HEADER);
        let mut rest = chunk;
        while !rest.is_empty() {
            let missing = self.length - self.filled;
            let (part, behind) = rest.split_at(missing.min(rest.len()));
            if self.filled < header {
                let wanted = part.len().min(header - self.filled);
                self.header[self.filled..self.filled + wanted].copy_from_slice(&part[..wanted]);
            }
            self.filled += part.len();
            if self.filled == self.length {
                self.filled = 0;
                on(&self.header[..header]);
            }
            rest = behind;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_however_the_stream_is_cut() {
        for length in [1, 3, 11, 12, 13, 40] {
            let stream: Vec<u8> = (0..length * 5).map(|byte| byte as u8).collect();
            let expected: Vec<Vec<u8>> = stream
                .chunks(length)
                .map(|message| message[..length.min(HEADER)].to_vec())
                .collect();
            for cut in 1..=stream.len() {
                let mut framing = MessageSplitter::new(length);
                let mut found = Vec::new();
                for chunk in stream.chunks(cut) {
                    framing.take(chunk, |header| found.push(header.to_vec()));
                }
                assert_eq!(found, expected, "messages of {length}, chunks of {cut}");
            }
        }
    }
}
