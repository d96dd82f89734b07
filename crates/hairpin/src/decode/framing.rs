//! What stands around messages: packet headers, message sizes, the simple open framing header.

/// How messages are framed.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// MDP 3.0 over UDP: a 12-byte packet header, then messages behind their sizes
    Udp,
    /// MDP 3.0 over TCP: a 14-byte packet header, then messages behind their sizes
    ConflatedTcp,
    /// iLink 3 over TCP: messages behind a simple open framing header
    Ilink3,
}

/// CME's mark for little-endian SBE 1.0, as on the wire.
const ENCODING_TYPE: [u8; 2] = [0xfe, 0xca];
/// Bytes of a stream by which its framing can be told.
pub(super) const RECOGNISABLE: usize = 4;
/// A message's size field and SBE header.
const MESSAGE_HEADER: usize = 10;
/// A simple open framing header and an SBE header.
const FRAME_HEADER: usize = 12;

impl Framing {
    /// How a stream that begins with these bytes is framed.
    pub(super) fn of_stream(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [a, b, _, _, ..] if [*a, *b] == ENCODING_TYPE => Some(Self::ConflatedTcp),
            [_, _, a, b, ..] if [*a, *b] == ENCODING_TYPE => Some(Self::Ilink3),
            _ => None,
        }
    }
}

/// A message and what its frame says of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) framing: Framing,
    /// Sequence number and sending time of the packet, if the framing has packets.
    pub(super) packet: Option<(u32, u64)>,
    /// From the SBE header to the end of the frame.
    pub(super) message: &'a [u8],
}

/// Splits bytes into frames: whole datagrams, or as much of a stream as there is.
pub(super) struct Frames<'a> {
    framing: Framing,
    bytes: &'a [u8],
    used: usize,
    packet: Option<(u32, u64)>,
}

impl<'a> Frames<'a> {
    /// Frames from the start of `bytes`; of a stream in the middle of a packet, `packet` is what
    /// its header said.
    pub(super) fn new(framing: Framing, bytes: &'a [u8], packet: Option<(u32, u64)>) -> Self {
        Self { framing, bytes, used: 0, packet }
    }

    /// Sequence number and sending time of the packet that the last frame was in.
    pub(super) fn packet(&self) -> Option<(u32, u64)> {
        self.packet
    }

    /// Bytes taken. Of a stream the rest is the start of a frame; a packet header is taken only
    /// with the first message behind it.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// The next whole frame, or what is wrong with the bytes, of which none are left then.
    pub(super) fn next(&mut self) -> Option<Result<Frame<'a>, String>> {
        match self.framing {
            Framing::Udp => self.next_of_datagram(),
            Framing::ConflatedTcp => self.next_of_packets(),
            Framing::Ilink3 => self.next_of_session(),
        }
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.used..]
    }

    /// Takes everything, as there is no way to find the next frame.
    fn fail<T>(&mut self, what: impl Into<String>) -> Option<Result<T, String>> {
        self.used = self.bytes.len();
        Some(Err(what.into()))
    }

    fn next_of_datagram(&mut self) -> Option<Result<Frame<'a>, String>> {
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

    fn next_of_packets(&mut self) -> Option<Result<Frame<'a>, String>> {
        let mut rest = self.rest();
        // No message is as long as a packet header's mark would have it.
        if rest.starts_with(&ENCODING_TYPE) {
            let (header, behind) = rest[2..].split_first_chunk::<12>()?;
            if size(behind)? > behind.len() {
                return None;
            }
            self.packet = Some(packet_header(header));
            self.used += 14;
            rest = behind;
        }
        match size(rest)? {
            size if size < MESSAGE_HEADER => self.fail(format!("message size {size}")),
            size if size > rest.len() => None,
            size => Some(Ok(self.take(size, 2))),
        }
    }

    fn next_of_session(&mut self) -> Option<Result<Frame<'a>, String>> {
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

    /// The frame of the next `size` bytes, whose message begins behind `skip`.
    fn take(&mut self, size: usize, skip: usize) -> Frame<'a> {
        let message = &self.rest()[skip..size];
        self.used += size;
        Frame { framing: self.framing, packet: self.packet, message }
    }
}

/// The `u16` that every frame begins with.
fn size(bytes: &[u8]) -> Option<usize> {
    bytes.first_chunk().map(|size| u16::from_le_bytes(*size).into())
}

/// Sequence number and sending time.
fn packet_header(header: &[u8; 12]) -> (u32, u64) {
    let [a, b, c, d, time @ ..] = *header;
    (u32::from_le_bytes([a, b, c, d]), u64::from_le_bytes(time))
}
