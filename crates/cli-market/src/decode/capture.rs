//! The packets of a capture file and their payloads, or the errors as text.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub(crate) use hairpin_endpoint::capture::Payload;
use hairpin_endpoint::capture::{
    CaptureInput, CaptureReader, Frame, LinkType, MergedCaptures, PacketError, Protocol,
};
use hairpin_time::Utc;

/// A packet of the file.
#[derive(Debug)]
pub(crate) struct Captured<'a> {
    /// When it was captured; `None` if the file does not contain it.
    pub(crate) time: Option<Utc>,
    /// Its payload, or the error.
    pub(crate) payload: Result<Payload<'a>, String>,
    /// Its innermost protocol, if that is neither UDP nor TCP.
    pub(crate) protocol: Option<Protocol>,
}

/// Opens a capture: a file, a pipe, or with `-` standard input.
///
/// # Errors
/// The system's.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if is_standard_input(path) {
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(File::open(path)?))
}

/// Opens one capture, or several as one in the order of their times.
///
/// # Errors
/// The system's; with several, also a file that is not a capture.
pub(crate) fn open_all(paths: &[PathBuf]) -> io::Result<Box<dyn Read + Send>> {
    if let [path] = paths {
        return open(path);
    }
    if paths.iter().filter(|path| is_standard_input(path)).count() > 1 {
        return Err(io::Error::other("standard input is given twice"));
    }
    let inputs = paths.iter().map(|path| match is_standard_input(path) {
        true => CaptureInput::Reader("standard input".into(), Box::new(io::stdin())),
        false => CaptureInput::File(path.clone()),
    });
    Ok(Box::new(MergedCaptures::new(inputs)?))
}

/// Returns the name of captures for messages.
pub(crate) fn name_of(paths: &[PathBuf]) -> String {
    match paths {
        [path] => path.display().to_string(),
        _ => format!("{} captures", paths.len()),
    }
}

/// Returns `true` if a path means standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Calls `on_packet` with each packet of the file, and returns what is wrong with the file's end,
/// if anything.
///
/// # Errors
/// If the file is not a capture, or any error of `on_packet`.
pub(crate) fn read(
    input: impl Read,
    mut on_packet: impl FnMut(Captured<'_>) -> io::Result<()>,
) -> io::Result<Option<String>> {
    let mut reader = CaptureReader::new(input)?;
    let mut links = Links::default();
    loop {
        match reader.next_frame() {
            Ok(Some(frame)) => on_packet(links.captured(&frame))?,
            Ok(None) => return Ok(None),
            Err(error) => return Ok(Some(error.to_string())),
        }
    }
}

/// The link types of a file.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// Those already reported as unsupported.
    refused: Vec<LinkType>,
}

impl Links {
    /// Returns the payload of a frame. An unsupported link is reported with its first packet.
    pub(crate) fn captured<'a>(&mut self, frame: &Frame<'a>) -> Captured<'a> {
        let payload = match frame.payload() {
            Ok(payload) => Ok(payload),
            Err(PacketError::LinkType(link)) if self.refused.contains(&link) => Ok(Payload::Other),
            Err(error) => Err(self.words(&error)),
        };
        let protocol = match payload {
            Ok(Payload::Other) => frame.protocol(),
            _ => None,
        };
        Captured { time: frame.time.map(|time| time.utc), payload, protocol }
    }

    #[cold]
    fn words(&mut self, error: &PacketError) -> String {
        match error {
            PacketError::LinkType(link) => {
                self.refused.push(*link);
                format!("{error}; all such packets are ignored")
            }
            _ => error.to_string(),
        }
    }
}
