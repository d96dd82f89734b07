//! Decompression of captures. The contents decide, not the file's name.

use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

const GZIP: [u8; 3] = [0x1f, 0x8b, 8];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The magic numbers of zstd's frames without data differ in their lowest 4 bits.
const ZSTD_SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];
/// The length of a member's magic number.
const MAGIC: usize = 4;

/// Returns `true` if a file that begins with these four bytes is compressed.
pub(super) fn is_compressed(bytes: &[u8]) -> bool {
    bytes.starts_with(&GZIP) || bytes.starts_with(&ZSTD) || is_skippable(bytes)
}

fn is_skippable(bytes: &[u8]) -> bool {
    matches!(bytes, [0x50..=0x5f, rest @ ..] if rest.starts_with(&ZSTD_SKIPPABLE))
}

/// The compressed bytes: those already read, and the rest of the file.
type Input<R> = BufReader<Prefixed<R>>;

/// A reader with bytes before its own.
pub(super) struct Prefixed<R> {
    prefix: Cursor<Vec<u8>>,
    reader: R,
}

impl<R: Read> Read for Prefixed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.prefix.read(buffer)?;
        if count > 0 || buffer.is_empty() {
            return Ok(count);
        }
        loop {
            match self.reader.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome,
            }
        }
    }
}

/// The contents of a file: its bytes, or those of its compressed members, one after the other.
pub(super) enum Contents<R> {
    Plain(R),
    Compressed(Box<Decompressor<R>>),
}

impl<R: Read> Read for Contents<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(reader) => reader.read(buffer),
            Self::Compressed(decompressor) => decompressor.read(buffer),
        }
    }
}

impl<R> fmt::Debug for Contents<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Compressed(_) => "Compressed",
        })
    }
}

/// A reader of gzip members and zstd frames.
pub(super) struct Decompressor<R> {
    member: Member<R>,
}

enum Member<R> {
    /// Between two members.
    Next(Input<R>),
    Gzip(GzDecoder<Input<R>>),
    Zstd(Box<FrameDecoder>, Input<R>),
    /// The end of the file, or an error.
    Ended,
}

impl<R: Read> Decompressor<R> {
    /// Creates a reader of a file of which `first` was read before.
    pub(super) fn new(first: Vec<u8>, reader: R) -> Self {
        let input =
            BufReader::with_capacity(1 << 16, Prefixed { prefix: Cursor::new(first), reader });
        Self { member: Member::Next(input) }
    }

    /// Opens the next member. Returns `false` at the end of the file.
    fn open_next(&mut self, mut input: Input<R>) -> io::Result<bool> {
        loop {
            let mut magic = [0; MAGIC];
            let length = peek(&mut input, &mut magic)?;
            let magic = &magic[..length];
            if magic.is_empty() {
                return Ok(false);
            } else if GZIP.starts_with(&magic[..length.min(GZIP.len())]) {
                self.member = Member::Gzip(GzDecoder::new(input));
                return Ok(true);
            } else if magic == ZSTD {
                let mut decoder = FrameDecoder::new();
                decoder.init(&mut input).map_err(damaged)?;
                self.member = Member::Zstd(Box::new(decoder), input);
                return Ok(true);
            } else if is_skippable(magic) {
                input.consume(MAGIC);
                let mut size = [0; 4];
                input.read_exact(&mut size).map_err(|_| truncated())?;
                let size = u64::from(u32::from_le_bytes(size));
                if io::copy(&mut (&mut input).take(size), &mut io::sink())? < size {
                    return Err(truncated());
                }
            } else if magic.iter().all(|byte| *byte == 0) {
                // Archives on tapes and block devices are padded.
                let zeros = magic.len();
                input.consume(zeros);
            } else {
                return Err(damaged("other bytes follow the compressed data"));
            }
        }
    }
}

impl<R: Read> Read for Decompressor<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let outcome = match &mut self.member {
                Member::Next(_) => Ok(0),
                Member::Gzip(decoder) => decoder.read(buffer),
                Member::Zstd(decoder, input) => read_frame(decoder, input, buffer),
                Member::Ended => return Ok(0),
            };
            match outcome {
                Ok(0) => {}
                outcome => {
                    let outcome = outcome.map_err(|error| self.cause(error));
                    if outcome.is_err() {
                        self.member = Member::Ended;
                    }
                    return outcome;
                }
            }
            let input = match std::mem::replace(&mut self.member, Member::Ended) {
                Member::Next(input) => input,
                Member::Gzip(decoder) => decoder.into_inner(),
                Member::Zstd(decoder, input) => {
                    let stored = decoder.get_checksum_from_data();
                    if stored.is_some() && stored != decoder.get_calculated_checksum() {
                        return Err(damaged("wrong checksum"));
                    }
                    input
                }
                Member::Ended => return Ok(0),
            };
            if !self.open_next(input)? {
                return Ok(0);
            }
        }
    }
}

impl<R: Read> Decompressor<R> {
    /// Returns the error of a member: its file ends too early, or its bytes are damaged.
    fn cause(&mut self, error: io::Error) -> io::Error {
        let is_truncated = match &mut self.member {
            Member::Gzip(_) => error.kind() == io::ErrorKind::UnexpectedEof,
            Member::Zstd(_, input) => input.fill_buf().is_ok_and(<[u8]>::is_empty),
            Member::Next(_) | Member::Ended => return error,
        };
        if is_truncated { truncated() } else { damaged(error) }
    }
}

/// Reads the contents of a zstd frame.
fn read_frame<R: Read>(
    decoder: &mut FrameDecoder,
    input: &mut Input<R>,
    buffer: &mut [u8],
) -> io::Result<usize> {
    while decoder.can_collect() == 0 && !decoder.is_finished() {
        let one = BlockDecodingStrategy::UptoBlocks(1);
        decoder.decode_blocks(&mut *input, one).map_err(io::Error::other)?;
    }
    decoder.read(buffer)
}

/// Copies the next bytes without consuming them, and returns their number, which is less than the
/// buffer's at the end of the file only.
fn peek<R: Read>(input: &mut Input<R>, bytes: &mut [u8; MAGIC]) -> io::Result<usize> {
    let buffered = input.fill_buf()?;
    if buffered.len() >= bytes.len() || buffered.is_empty() {
        let length = buffered.len().min(bytes.len());
        bytes[..length].copy_from_slice(&buffered[..length]);
        return Ok(length);
    }
    // The buffer's end divides the magic number: it is read, and put before the rest.
    let mut length = 0;
    while length < bytes.len() {
        match input.read(&mut bytes[length..])? {
            0 => break,
            count => length += count,
        }
    }
    let rest = input.buffer().to_vec();
    input.consume(rest.len());
    let reader = input;
    let input = reader.get_mut();
    let unread = input.prefix.get_ref()[input.prefix.position() as usize..].to_vec();
    input.prefix = Cursor::new([&bytes[..length], &rest, &unread].concat());
    reader.fill_buf()?;
    Ok(length)
}

fn truncated() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the compressed file is truncated")
}

fn damaged(error: impl fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the compressed file is damaged: {error}"))
}
