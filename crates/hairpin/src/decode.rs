//! `hairpin decode FILE`: prints the messages of a capture, one line each.
//!
//! A line is `packet_seq sending_time template name field=value … group[i].field=value`. Market
//! data: the sequence number and sending time of the packet's header. Order entry: the message's
//! SeqNum or NextSeqNo and its SendingTimeEpoch, `-` if it has none. Prices are exact; null and
//! empty text are `-`; an enumeration is `Name(value)`, `?(value)` if the schema has no name for
//! it; a set is its names joined by `|`; text with blanks or unprintable bytes is quoted. A message
//! of another schema, or of a template that was removed from it, has `-` for a name.
//!
//! What is wrong with a packet is one line on standard error each. The last line on standard
//! output counts: packets of the file, messages printed by name, unknown ones, errors.

mod capture;
mod framing;
mod line;
mod stream;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use capture::{Flow, Payload};
pub(crate) use framing::Framing;
use framing::{Frame, Frames};
use line::Line;
use stream::{Pushed, Stream};

/// Print the messages of a capture (pcap or pcapng)
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Arguments {
    /// The capture
    #[arg(value_name = "FILE")]
    file: PathBuf,

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
struct Counts {
    packets: u64,
    messages: u64,
    unknown: u64,
    errors: u64,
}

/// Runs the command: exit status 0 if the whole capture was understood, 1 if anything was wrong.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let (out, err) = (BufWriter::new(io::stdout().lock()), io::stderr().lock());
    match decode(&arguments.file, arguments.framing, arguments.format, out, err) {
        Ok(Counts { errors: 0, .. }) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        // Whoever reads only the head of it has what he wanted.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "hairpin: {}: {error}", arguments.file.display());
            ExitCode::FAILURE
        }
    }
}

/// Decodes the capture at `path`.
///
/// # Errors
/// If the file cannot be read or is no capture, or if nothing can be written.
fn decode(
    path: &Path,
    framing: Option<Framing>,
    format: Format,
    out: impl Write,
    err: impl Write,
) -> io::Result<Counts> {
    let file = File::open(path)?;
    let mut decoder =
        Decoder { framing, format, out, err, counts: Counts::default(), streams: HashMap::new() };
    let ending = capture::read(file, |packet| decoder.packet(packet))?;
    decoder.finish(ending)
}

/// What is known while a capture is read.
struct Decoder<O, E> {
    framing: Option<Framing>,
    format: Format,
    out: O,
    err: E,
    counts: Counts,
    streams: HashMap<Flow, Stream>,
}

impl<O: Write, E: Write> Decoder<O, E> {
    /// Takes the next packet of the file.
    fn packet(&mut self, packet: Result<Payload<'_>, String>) -> io::Result<()> {
        self.counts.packets += 1;
        match packet {
            Ok(Payload::Datagram(bytes)) if self.framing.is_none_or(|f| f == Framing::Udp) => {
                self.frames(Frames::new(Framing::Udp, bytes, None)).map(drop)
            }
            Ok(Payload::Segment { flow, sequence, is_syn, bytes }) => {
                self.segment(flow, sequence, is_syn, bytes)
            }
            Ok(Payload::Datagram(_) | Payload::Other) => Ok(()),
            Err(what) => self.error(&what),
        }
    }

    /// Takes a TCP segment: what is whole of its stream is printed, the rest waits.
    fn segment(&mut self, flow: Flow, at: u32, is_syn: bool, bytes: &[u8]) -> io::Result<()> {
        if self.framing == Some(Framing::Udp) {
            return Ok(());
        }
        let mut stream = self.streams.remove(&flow).unwrap_or_default();
        if let Pushed::Gap(missing) = stream.push(at, is_syn, bytes) {
            self.error(&format!("{missing} bytes of the stream are missing before this packet"))?;
        }
        let framing = stream.framing.or(self.framing);
        stream.framing = framing.or_else(|| Framing::of_stream(stream.bytes()));
        if let Some(framing) = stream.framing {
            let frames = Frames::new(framing, stream.bytes(), stream.packet);
            let (used, packet) = self.frames(frames)?;
            stream.consume(used);
            stream.packet = packet;
        } else if stream.bytes().len() >= framing::RECOGNISABLE {
            stream.consume(stream.bytes().len());
            if !std::mem::replace(&mut stream.is_foreign, true) {
                self.error("neither iLink 3 nor conflated TCP begins here; try --framing")?;
            }
        }
        self.streams.insert(flow, stream);
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
        match line::line(frame, self.format) {
            Ok(Line { text, is_known }) => {
                let Counts { messages, unknown, .. } = &mut self.counts;
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
    fn finish(mut self, ending: Option<String>) -> io::Result<Counts> {
        let left: usize = self.streams.values().map(|stream| stream.bytes().len()).sum();
        if left > 0 {
            self.error(&format!("the capture ends {left} bytes into a frame"))?;
        }
        if let Some(what) = ending {
            self.error(&what)?;
        }
        let Counts { packets, messages, unknown, errors } = self.counts;
        match self.format {
            Format::Text => writeln!(
                self.out,
                "{packets} packets, {messages} messages, {unknown} unknown, {errors} errors"
            )?,
            Format::Json => writeln!(
                self.out,
                "{{\"packets\":{packets},\"messages\":{messages},\"unknown\":{unknown},\
                 \"errors\":{errors}}}"
            )?,
        }
        self.out.flush()?;
        Ok(self.counts)
    }
}

#[cfg(test)]
mod tests;
