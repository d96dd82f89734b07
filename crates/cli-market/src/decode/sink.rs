//! The receiver of decoded messages.

use std::io::{self, Write};
use std::net::SocketAddr;

use super::framing::Frame;
use super::message_line::{self, MessageLine};
use super::{DecodeCounts, Settings};

/// One direction between two addresses: source, destination.
pub(crate) type Addresses = (SocketAddr, SocketAddr);

/// The place of a message in a capture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) addresses: Addresses,
    /// The number of the first packet with the message's last byte, counted from one.
    pub(crate) packet: u64,
}

/// A receiver of the messages of a capture, in the order of each stream.
pub(crate) trait MessageSink {
    /// Handles a message. Returns `true` if a codec knows its template, or the error in it.
    ///
    /// # Errors
    /// Those of an output.
    fn message(&mut self, frame: &Frame<'_>, origin: Origin) -> io::Result<Result<bool, String>>;

    /// Notes that bytes of a stream are missing, and that those of incomplete frames were skipped.
    fn gap(&mut self, _addresses: Addresses, _missing: u32, _skipped: usize) {}

    /// Notes a segment whose bytes were captured before.
    fn repeated(&mut self, _addresses: Addresses) {}

    /// Handles the end of the capture.
    ///
    /// # Errors
    /// Those of an output.
    fn finish(&mut self, counts: &DecodeCounts) -> io::Result<()>;
}

/// A sink that prints each message as a line.
pub(super) struct Lines<'a, O> {
    pub(super) settings: &'a Settings<'a>,
    pub(super) out: O,
}

impl<O: Write> MessageSink for Lines<'_, O> {
    fn message(&mut self, frame: &Frame<'_>, _: Origin) -> io::Result<Result<bool, String>> {
        let Settings { codecs, format, .. } = self.settings;
        match message_line::line(frame.message, frame.packet, codecs, *format) {
            Ok(MessageLine { text, is_known, .. }) => {
                writeln!(self.out, "{text}").map(|()| Ok(is_known))
            }
            Err(what) => Ok(Err(what)),
        }
    }

    fn finish(&mut self, counts: &DecodeCounts) -> io::Result<()> {
        counts.write(self.settings.format, &mut self.out)?;
        self.out.flush()
    }
}
