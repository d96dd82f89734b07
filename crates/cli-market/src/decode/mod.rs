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
//! The last line on standard output counts packets of the file, messages printed by name, unknown
//! messages and errors. Errors in packets are lines on standard error after the end of the file,
//! one for each kind, with a count. Fragments of IP packets are errors. Other traffic is counted in
//! one line, and packets that are neither UDP nor TCP in one line for each protocol.
//!
//! TCP streams are reassembled, whatever the order of their segments. After a gap, and in a capture
//! that begins within a connection, the next frame is searched for (`resync`). A capture that
//! begins or ends within a TCP frame is not an error: recording may start and stop at any time, and
//! a note on standard error states how many bytes of the frame there are.

pub(crate) mod capture;
pub(crate) mod codecs;
pub(crate) mod decoder;
pub(crate) mod error_lines;
mod flow;
pub(crate) mod framing;
pub(crate) mod message_line;
pub(crate) mod other_traffic;
mod resync;
pub(crate) mod sink;
mod stream;

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use codecs::{Codecs, SchemaFile};
use decoder::Decoder;
pub(crate) use framing::Framing;
use sink::Lines;

use hairpin_cli_harness::stdout;
use hairpin_measure::counted;

/// Print the messages of captures (pcap or pcapng, also compressed with gzip or zstd)
#[derive(clap::Args, Debug, Clone)]
pub struct DecodeArgs {
    /// Capture file, `-` for standard input; several are read in the order of their packets' times
    #[arg(value_name = "FILE", required = true)]
    file: Vec<PathBuf>,

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
                "{}, {}, {unknown} unknown, {}",
                counted(*packets, "packet"),
                counted(*messages, "message"),
                counted(*errors, "error")
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
    pub(crate) fn status(&self, outcome: io::Result<()>, file: &str) -> ExitCode {
        match outcome {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.status_of_errors(),
            Err(error) if stdout::is_stdout_error(&error) => {
                let _ = writeln!(io::stderr(), "hairpin: {error}");
                ExitCode::FAILURE
            }
            Err(error) => {
                let _ = writeln!(io::stderr(), "hairpin: {file}: {error}");
                ExitCode::FAILURE
            }
            Ok(()) => self.status_of_errors(),
        }
    }

    fn status_of_errors(&self) -> ExitCode {
        if self.errors > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

/// Runs the command. Exit status 0 if the whole capture was understood, 1 after any error and if
/// nothing was decoded.
pub fn run(arguments: &DecodeArgs) -> ExitCode {
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
    let (out, err) = (BufWriter::new(stdout::lock()), io::stderr().lock());
    let mut counts = DecodeCounts::default();
    let outcome = decode(&arguments.file, &settings, &mut counts, out, err);
    let is_empty = outcome.is_ok() && counts.messages == 0;
    let status = counts.status(outcome, &capture::name_of(&arguments.file));
    if is_empty { ExitCode::FAILURE } else { status }
}

/// How to decode a capture.
pub(crate) struct Settings<'x> {
    pub(crate) codecs: Codecs<'x>,
    pub(crate) framing: Option<Framing>,
    pub(crate) format: Format,
}

/// Decodes the captures at `paths`.
///
/// # Errors
/// If a file cannot be read or is not a capture, or if nothing can be written.
pub(crate) fn decode(
    paths: &[PathBuf],
    settings: &Settings<'_>,
    counts: &mut DecodeCounts,
    out: impl Write,
    err: impl Write,
) -> io::Result<()> {
    let file = capture::open_all(paths)?;
    let mut decoder = Decoder::new(settings, counts, Lines { settings, out }, err);
    match capture::read(file, |packet| decoder.packet(packet)) {
        Ok(ending) => decoder.finish(ending),
        Err(error) => decoder.abort(error),
    }
}

#[cfg(test)]
mod tests;
