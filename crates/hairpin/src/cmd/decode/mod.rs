//! `hairpin decode FILE`: prints the messages of a capture, one line each.
//!
//! A line is `packet_seq sending_time template name field=value … group[i].field=value`. Market
//! data: the sequence number and sending time of the packet's header. Order entry: the message's
//! SeqNum or NextSeqNo and its SendingTimeEpoch, `-` if it has none. Prices are exact; null and
//! empty text are `-`; an enumeration is `Name(value)`, `?(value)` if the schema has no name for
//! it; a set is its names joined by `|`; text with blanks or unprintable bytes is quoted; an array
//! is its numbers joined by `,`. Groups in groups and composites of several values are paths:
//! `group[i].group[i].field=value`, `composite.member=value`. A message of another schema, or of a
//! template that was removed from it, has `-` for a name.
//!
//! CME's schemas of today are compiled in. `--schema FILE` gives others, of any exchange; of those
//! with the id that a message names, the one of its version is taken, else the next newer one,
//! else the newest.
//!
//! Each error in a packet is one line on standard error. The last line on standard output counts
//! packets of the file, messages printed by name, unknown messages and errors. Fragments of IP
//! packets are errors. TCP streams are reassembled, whatever the order of their segments. A capture
//! that ends within a TCP frame is not an error: recording may stop at any time, and a note on
//! standard error states how many bytes of the frame there are.

pub(crate) mod capture;
pub(crate) mod codecs;
mod framing;
pub(crate) mod message_line;
mod stream;

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use capture::{Captured, Flow, Payload};
use codecs::{Codecs, SchemaFile};
pub(crate) use framing::Framing;
use framing::{DetectedFraming, Frame, Frames};
use message_line::MessageLine;
use stream::Stream;

/// Print the messages of a capture (pcap or pcapng)
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct DecodeArgs {
    /// Capture file, `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// SBE schema (XML) for decoding; may be given several times [default: CME's, compiled in]
    #[arg(long, value_name = "FILE")]
    schema: Vec<PathBuf>,

    /// Framing of messages; other traffic is ignored [default: detected]
    #[arg(long, value_enum)]
    framing: Option<Framing>,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Output formats.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// One line per message, `field=value`
    Text,
    /// One JSON object per line; numbers with a point or a name are strings
    Json,
}

/// The counts of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DecodeCounts {
    pub(crate) packets: u64,
    pub(crate) messages: u64,
    pub(crate) unknown: u64,
    pub(crate) errors: u64,
}

impl DecodeCounts {
    /// Writes the last line.
    pub(crate) fn write(&self, format: Format, out: &mut impl Write) -> io::Result<()> {
        let Self { packets, messages, unknown, errors } = self;
        match format {
            Format::Text => writeln!(
                out,
                "{packets} packets, {messages} messages, {unknown} unknown, {errors} errors"
            ),
            Format::Json => writeln!(
                out,
                "{{\"packets\":{packets},\"messages\":{messages},\"unknown\":{unknown},\
                 \"errors\":{errors}}}"
            ),
        }
    }

    /// Returns the exit status of a command that ended with `outcome`: 1 after any error. That the
    /// reader of the output has closed it is not an error.
    pub(crate) fn status(&self, outcome: io::Result<()>, file: &Path) -> ExitCode {
        match outcome {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let _ = writeln!(io::stderr(), "hairpin: {}: {error}", file.display());
                ExitCode::FAILURE
            }
            _ if self.errors > 0 => ExitCode::FAILURE,
            _ => ExitCode::SUCCESS,
        }
    }
}

/// Runs the command. Exit status 0 if the whole capture was understood, 1 after any error.
pub(crate) fn run(arguments: &DecodeArgs) -> ExitCode {
    let files = arguments.schema.iter().map(|path| SchemaFile::read(path));
    let files = files.collect::<Result<Vec<_>, _>>();
    let codecs = files.as_deref().map_err(Clone::clone).and_then(Codecs::new);
    let codecs = match codecs {
        Ok(codecs) => codecs,
        Err(what) => {
            let _ = writeln!(io::stderr(), "hairpin: {what}");
            return ExitCode::FAILURE;
        }
    };
    let settings = Settings { codecs, framing: arguments.framing, format: arguments.format };
    let (out, err) = (BufWriter::new(io::stdout().lock()), io::stderr().lock());
    let mut counts = DecodeCounts::default();
    let outcome = decode(&arguments.file, &settings, &mut counts, out, err);
    counts.status(outcome, &arguments.file)
}

/// How to decode a capture.
pub(crate) struct Settings<'x> {
    pub(crate) codecs: Codecs<'x>,
    pub(crate) framing: Option<Framing>,
    pub(crate) format: Format,
}

/// Decodes the capture at `path`.
///
/// # Errors
/// If the file cannot be read or is not a capture, or if nothing can be written.
pub(crate) fn decode(
    path: &Path,
    settings: &Settings<'_>,
    counts: &mut DecodeCounts,
    out: impl Write,
    err: impl Write,
) -> io::Result<()> {
    let file = capture::open(path)?;
    let mut decoder = Decoder { settings, out, err, counts, streams: BTreeMap::new() };
    let ending = capture::read(file, |packet| decoder.packet(packet))?;
    decoder.finish(ending)
}

/// The state while a capture is read.
struct Decoder<'a, O, E> {
    settings: &'a Settings<'a>,
    out: O,
    err: E,
    counts: &'a mut DecodeCounts,
    streams: BTreeMap<Flow, Stream>,
}

impl<O: Write, E: Write> Decoder<'_, O, E> {
    /// Handles the next packet of the file.
    fn packet(&mut self, packet: Captured<'_>) -> io::Result<()> {
        self.counts.packets += 1;
        let framing = self.settings.framing;
        match packet.payload {
            Ok(Payload::Datagram { bytes, .. }) if framing.is_none_or(|f| f == Framing::Udp) => {
                self.frames(Frames::new(Framing::Udp, bytes, None)).map(drop)
            }
            Ok(Payload::Segment { source, destination, sequence, syn, bytes })
                if framing != Some(Framing::Udp) =>
            {
                self.segment((source, destination), sequence, syn, bytes)
            }
            Ok(_) => Ok(()),
            Err(what) => self.error(&what),
        }
    }

    /// Handles a TCP segment: prints the complete frames of its stream and keeps the rest.
    fn segment(&mut self, flow: Flow, at: u32, is_syn: bool, bytes: &[u8]) -> io::Result<()> {
        let mut stream = self.streams.remove(&flow).unwrap_or_default();
        if let Some(missing) = stream.push(at, is_syn, bytes) {
            self.error(&format!("{missing} bytes of the stream missing before this packet"))?;
        }
        self.stream(&mut stream)?;
        self.streams.insert(flow, stream);
        Ok(())
    }

    /// Prints the complete frames of a stream.
    fn stream(&mut self, stream: &mut Stream) -> io::Result<()> {
        let length = stream.bytes().len();
        if stream.is_foreign {
            stream.consume(length);
            return Ok(());
        }
        let recognised = match stream.framing {
            Some(framing) => DetectedFraming::Messages(framing),
            None => match (DetectedFraming::of_stream(stream.bytes()), self.settings.framing) {
                (DetectedFraming::Text, _) => DetectedFraming::Text,
                (_, Some(framing)) => DetectedFraming::Messages(framing),
                (recognised, None) => recognised,
            },
        };
        match recognised {
            DetectedFraming::Messages(framing) => {
                stream.framing = Some(framing);
                let frames = Frames::new(framing, stream.bytes(), stream.packet);
                let (used, packet) = self.frames(frames)?;
                stream.consume(used);
                stream.packet = packet;
            }
            DetectedFraming::Unclear => {}
            DetectedFraming::Text => stream.is_foreign = true,
            DetectedFraming::Foreign => {
                stream.is_foreign = true;
                self.error("unknown framing; try --framing")?;
            }
        }
        if stream.is_foreign {
            stream.consume(length);
        }
        Ok(())
    }

    /// Prints every frame; returns the bytes consumed and the packet of the last frame.
    fn frames(&mut self, mut frames: Frames<'_>) -> io::Result<(usize, Option<(u32, u64)>)> {
        while let Some(frame) = frames.next() {
            match frame {
                Ok(frame) => self.frame(&frame)?,
                Err(what) => self.error(&what)?,
            }
        }
        Ok((frames.used(), frames.packet()))
    }

    fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let Settings { codecs, format, .. } = self.settings;
        match message_line::line(frame.message, frame.packet, codecs, *format) {
            Ok(MessageLine { text, is_known, .. }) => {
                let DecodeCounts { messages, unknown, .. } = self.counts;
                *(if is_known { messages } else { unknown }) += 1;
                writeln!(self.out, "{text}")
            }
            Err(what) => self.error(&what),
        }
    }

    /// Reports an error in the last packet.
    fn error(&mut self, what: &str) -> io::Result<()> {
        self.counts.errors += 1;
        writeln!(self.err, "hairpin: packet {}: {what}", self.counts.packets)
    }

    /// Prints the counts; `ending` is the error if the file ends within a packet.
    fn finish(mut self, ending: Option<String>) -> io::Result<()> {
        let mut left = 0;
        for mut stream in std::mem::take(&mut self.streams).into_values() {
            while let Some(missing) = stream.give_up() {
                self.error(&format!("{missing} bytes of a stream missing"))?;
                self.stream(&mut stream)?;
            }
            left += stream.bytes().len();
        }
        if left > 0 {
            writeln!(self.err, "hairpin: note: the capture ends {left} bytes into a frame")?;
        }
        if let Some(what) = ending {
            self.error(&what)?;
        }
        self.counts.write(self.settings.format, &mut self.out)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests;
