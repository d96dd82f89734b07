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
//! What is wrong with a packet is one line on standard error each. The last line on standard
//! output counts: packets of the file, messages printed by name, unknown ones, errors. Fragments
//! of IP packets are errors; TCP streams are put together, whatever the order of their segments.

pub(crate) mod capture;
pub(crate) mod codecs;
mod framing;
pub(crate) mod line;
mod stream;

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use capture::{Captured, Flow, Payload};
use codecs::{Codecs, SchemaFile};
pub(crate) use framing::Framing;
use framing::{Frame, Frames, Recognised};
use line::Line;
use stream::Stream;

/// Print the messages of a capture (pcap or pcapng)
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Arguments {
    /// The capture, `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// An SBE schema (XML) to read messages with; may be given several times
    #[arg(long, value_name = "FILE")]
    schema: Vec<PathBuf>,

    /// How messages are framed; what travels otherwise is left out [default: found out]
    #[arg(long, value_enum)]
    framing: Option<Framing>,

    /// How messages are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How messages are printed.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// One line a message, `field=value`
    Text,
    /// One JSON object a line; numbers with a point or a name are strings
    Json,
}

/// What was found in a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) packets: u64,
    pub(crate) messages: u64,
    pub(crate) unknown: u64,
    pub(crate) errors: u64,
}

impl Counts {
    /// The last line of all.
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

    /// The exit status of a command that has ended with `outcome`: 1 for any error, also if whoever
    /// read the output has closed it since; else that is no error, as he has what he wanted.
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

/// Runs the command: exit status 0 if the whole capture was understood, 1 if anything was wrong.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
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
    let mut counts = Counts::default();
    let outcome = decode(&arguments.file, &settings, &mut counts, out, err);
    counts.status(outcome, &arguments.file)
}

/// How a capture is to be read.
pub(crate) struct Settings<'x> {
    pub(crate) codecs: Codecs<'x>,
    pub(crate) framing: Option<Framing>,
    pub(crate) format: Format,
}

/// Decodes the capture at `path`.
///
/// # Errors
/// If the file cannot be read or is no capture, or if nothing can be written.
pub(crate) fn decode(
    path: &Path,
    settings: &Settings<'_>,
    counts: &mut Counts,
    out: impl Write,
    err: impl Write,
) -> io::Result<()> {
    let file = capture::open(path)?;
    let mut decoder = Decoder { settings, out, err, counts, streams: BTreeMap::new() };
    let ending = capture::read(file, |packet| decoder.packet(packet))?;
    decoder.finish(ending)
}

/// What is known while a capture is read.
struct Decoder<'a, O, E> {
    settings: &'a Settings<'a>,
    out: O,
    err: E,
    counts: &'a mut Counts,
    streams: BTreeMap<Flow, Stream>,
}

impl<O: Write, E: Write> Decoder<'_, O, E> {
    /// Takes the next packet of the file.
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

    /// Takes a TCP segment: what is whole of its stream is printed, the rest waits.
    fn segment(&mut self, flow: Flow, at: u32, is_syn: bool, bytes: &[u8]) -> io::Result<()> {
        let mut stream = self.streams.remove(&flow).unwrap_or_default();
        if let Some(missing) = stream.push(at, is_syn, bytes) {
            self.error(&format!("{missing} bytes of the stream are missing before this packet"))?;
        }
        self.stream(&mut stream)?;
        self.streams.insert(flow, stream);
        Ok(())
    }

    /// Prints what is whole of a stream.
    fn stream(&mut self, stream: &mut Stream) -> io::Result<()> {
        let length = stream.bytes().len();
        if stream.is_foreign {
            stream.consume(length);
            return Ok(());
        }
        let recognised = match stream.framing {
            Some(framing) => Recognised::Messages(framing),
            None => match (Recognised::of_stream(stream.bytes()), self.settings.framing) {
                (Recognised::Text, _) => Recognised::Text,
                (_, Some(framing)) => Recognised::Messages(framing),
                (recognised, None) => recognised,
            },
        };
        match recognised {
            Recognised::Messages(framing) => {
                stream.framing = Some(framing);
                let frames = Frames::new(framing, stream.bytes(), stream.packet);
                let (used, packet) = self.frames(frames)?;
                stream.consume(used);
                stream.packet = packet;
            }
            Recognised::Unclear => {}
            Recognised::Text => stream.is_foreign = true,
            Recognised::Foreign => {
                stream.is_foreign = true;
                self.error("no framing that is known begins here; try --framing")?;
            }
        }
        if stream.is_foreign {
            stream.consume(length);
        }
        Ok(())
    }

    /// Prints every frame; gives the bytes that they took and the packet that the last was in.
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
        match line::line(frame.message, frame.packet, codecs, *format) {
            Ok(Line { text, is_known, .. }) => {
                let Counts { messages, unknown, .. } = self.counts;
                *(if is_known { messages } else { unknown }) += 1;
                writeln!(self.out, "{text}")
            }
            Err(what) => self.error(&what),
        }
    }

    /// Says what is wrong with the packet read last.
    fn error(&mut self, what: &str) -> io::Result<()> {
        self.counts.errors += 1;
        writeln!(self.err, "hairpin: packet {}: {what}", self.counts.packets)
    }

    /// Ends with the counts; `ending` says if the file ended in the middle of a packet.
    fn finish(mut self, ending: Option<String>) -> io::Result<()> {
        let mut left = 0;
        for mut stream in std::mem::take(&mut self.streams).into_values() {
            while let Some(missing) = stream.give_up() {
                self.error(&format!("{missing} bytes of a stream never came"))?;
                self.stream(&mut stream)?;
            }
            left += stream.bytes().len();
        }
        if left > 0 {
            self.error(&format!("the capture ends {left} bytes into a frame"))?;
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
