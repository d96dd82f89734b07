//! The framing of messages: packet headers, message sizes, the simple open framing header.

/// How messages are framed.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// MDP 3.0 over UDP: a 12-byte packet header, then messages after their sizes
    Udp,
    /// MDP 3.0 over TCP: a 14-byte packet header, then messages after their sizes
    ConflatedTcp,
    /// iLink 3 over TCP: messages after a simple open framing header
    Ilink3,
    /// Packets as over UDP, each after its length: CME's TCP replay, and Hairpin's feed over TCP
    Replay,
}

/// The kind of a stream, detected from its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DetectedFraming {
    /// Messages with this framing.
    Messages(Framing),
    /// FIX in text, such as requests to CME's TCP replay: not printed.
    Text,
    /// Too few bytes to decide.
    Unclear,
    /// An unknown framing.
    Foreign,
}

impl Framing {
    /// The framings of streams.
    pub(super) const OF_STREAMS: [Self; 3] = [Self::Ilink3, Self::ConflatedTcp, Self::Replay];
}

/// CME's mark for little-endian SBE 1.0, as on the wire.
pub(super) const ENCODING_TYPE: [u8; 2] = [0xfe, 0xca];
/// A message's size field and SBE header.
pub(super) const MESSAGE_HEADER: usize = 10;
/// A simple open framing header and an SBE header.
pub(super) const FRAME_HEADER: usize = 12;
/// MsgSeqNum and SendingTime.
pub(super) const PACKET_HEADER: usize = 12;

impl DetectedFraming {
    /// Detects the kind of a stream that begins with these bytes.
    pub(super) fn of_stream(bytes: &[u8]) -> Self {
        match bytes {
            [a, b, _, _, ..] if [*a, *b] == ENCODING_TYPE => Self::Messages(Framing::ConflatedTcp),
            [_, _, a, b, ..] if [*a, *b] == ENCODING_TYPE => Self::Messages(Framing::Ilink3),
            [b'8' | b'9', b'=', ..] => Self::Text,
            [a, b, _, _, rest @ ..] => Self::of_replay(u16::from_le_bytes([*a, *b]).into(), rest),
            _ => Self::Unclear,
        }
    }

    /// Detects whether a packet of `length` bytes begins a replay: it may if its first message fits
    /// in it and `rest`, the bytes after the packet's first two, begins with that message's size.
    fn of_replay(length: usize, rest: &[u8]) -> Self {
        let Some(room) = length.checked_sub(PACKET_HEADER).filter(|room| *room >= MESSAGE_HEADER)
        else {
            return Self::Foreign;
        };
        match rest.get(PACKET_HEADER - 2..).and_then(size) {
            None => Self::Unclear,
            Some(size) if (MESSAGE_HEADER..=room).contains(&size) => {
                Self::Messages(Framing::Replay)
            }
            Some(_) => Self::Foreign,
        }
    }
}

/// A message and the contents of its frame header.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// Sequence number and sending time of the packet, if the framing has packets.
    pub(crate) packet: Option<(u32, u64)>,
    /// From the SBE header to the end of the frame.
    pub(crate) message: &'a [u8],
}

/// An error in the bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FrameError {
    /// The frame is wrong; the next one follows it.
    Frame(String),
    /// No frame begins here, and the next one cannot be found.
    Lost(String),
}

impl FrameError {
    /// Returns the text.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Frame(text) | Self::Lost(text) => text,
        }
    }
}

/// Splits bytes into frames: whole datagrams, or the available part of a stream.
pub(crate) struct Frames<'a> {
    framing: Framing,
    bytes: &'a [u8],
    used: usize,
    /// For a replay: the end of the current packet.
    packet_end: usize,
    packet: Option<(u32, u64)>,
}

impl<'a> Frames<'a> {
    /// Creates an iterator over the frames of `bytes`; within a packet of a stream, `packet` is the
    /// contents of its header.
    pub(crate) fn new(framing: Framing, bytes: &'a [u8], packet: Option<(u32, u64)>) -> Self {
        Self { framing, bytes, used: 0, packet_end: 0, packet }
    }

    /// Returns the sequence number and sending time of the last frame's packet.
    pub(crate) fn packet(&self) -> Option<(u32, u64)> {
        self.packet
    }

    /// Returns the number of bytes consumed. The rest of a stream is the start of a frame; a packet
    /// header is consumed only with the first message after it.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Returns the next whole frame, or the error in the bytes. After `Lost` there are no frames:
    /// of
    /// a stream, the bytes from the error on are left.
    pub(crate) fn next(&mut self) -> Option<Result<Frame<'a>, FrameError>> {
        match self.framing {
            Framing::Udp => self.next_of_datagram(),
            Framing::ConflatedTcp => self.next_of_packets(),
            Framing::Ilink3 => self.next_of_session(),
            Framing::Replay => self.next_of_replay(),
        }
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.used..]
    }

    /// Returns the error of bytes after which the next frame cannot be found. The rest of a
    /// datagram is consumed.
    fn fail<T>(&mut self, what: impl Into<String>) -> Option<Result<T, FrameError>> {
        if self.framing == Framing::Udp {
            self.used = self.bytes.len();
        }
        Some(Err(FrameError::Lost(what.into())))
    }

    fn next_of_datagram(&mut self) -> Option<Result<Frame<'a>, FrameError>> {
        if self.packet.is_none() && !self.bytes.is_empty() {
            let Some(header) = self.bytes.first_chunk() else {
                self.packet = Some((0, 0));
                return self.fail("datagram is shorter than a packet header");
            };
            self.packet = Some(packet_header(header));
            self.used = header.len();
        }
        let rest = self.rest();
        match size(rest) {
            _ if rest.is_empty() => None,
            Some(size) if size < MESSAGE_HEADER => self.fail(format!("message size {size}")),
            Some(size) if size <= rest.len() => Some(Ok(self.take(size, 2))),
            _ => self.fail("message is longer than its datagram"),
        }
    }

    fn next_of_packets(&mut self) -> Option<Result<Frame<'a>, FrameError>> {
        let mut rest = self.rest();
        // No message is as long as a packet header's mark would mean.
        if rest.starts_with(&ENCODING_TYPE) {
            let (header, behind) = rest[2..].split_first_chunk::<PACKET_HEADER>()?;
            if size(behind)? > behind.len() {
                return None;
            }
            self.packet = Some(packet_header(header));
            self.used += 2 + PACKET_HEADER;
            rest = behind;
        }
        match size(rest)? {
            size if size < MESSAGE_HEADER => self.fail(format!("message size {size}")),
            size if size > rest.len() => None,
            size => Some(Ok(self.take(size, 2))),
        }
    }

    fn next_of_session(&mut self) -> Option<Result<Frame<'a>, FrameError>> {
        let rest = self.rest();
        if rest.get(2..4).is_some_and(|mark| mark != ENCODING_TYPE) {
            return self.fail("no frame begins here");
        }
        match size(rest)? {
            size if size < FRAME_HEADER => self.fail(format!("frame size {size}")),
            size if size > rest.len() => None,
            size => Some(Ok(self.take(size, 4))),
        }
    }

    /// Returns the next frame of a replay. A packet is consumed only when it is complete, so an
    /// error in it ends with it.
    fn next_of_replay(&mut self) -> Option<Result<Frame<'a>, FrameError>> {
        while self.used >= self.packet_end {
            let rest = self.rest();
            let length = size(rest)?;
            if length < PACKET_HEADER {
                return self.fail(format!("packet length {length}"));
            }
            let packet = rest.get(2..2 + length)?;
            self.packet = packet.first_chunk().map(packet_header);
            self.used += 2 + PACKET_HEADER;
            self.packet_end = self.used + length - PACKET_HEADER;
        }
        let rest = &self.bytes[self.used..self.packet_end];
        let what = match size(rest) {
            Some(size) if size < MESSAGE_HEADER => format!("message size {size}"),
            Some(size) if size <= rest.len() => return Some(Ok(self.take(size, 2))),
            _ => "message is longer than its packet".into(),
        };
        self.used = self.packet_end;
        Some(Err(FrameError::Frame(what)))
    }

    /// Returns the frame of the next `size` bytes, whose message begins after `skip` bytes.
    fn take(&mut self, size: usize, skip: usize) -> Frame<'a> {
        let message = &self.rest()[skip..size];
        self.used += size;
        Frame { packet: self.packet, message }
    }
}

/// Returns the `u16` with which every frame begins.
pub(super) fn size(bytes: &[u8]) -> Option<usize> {
    bytes.first_chunk().map(|size| u16::from_le_bytes(*size).into())
}

/// Returns sequence number and sending time.
fn packet_header(header: &[u8; PACKET_HEADER]) -> (u32, u64) {
    let [a, b, c, d, time @ ..] = *header;
    (u32::from_le_bytes([a, b, c, d]), u64::from_le_bytes(time))
}
