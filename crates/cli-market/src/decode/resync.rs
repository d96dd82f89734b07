//! The search for the next frame of a stream after a gap, or from the middle of a frame on.
//!
//! Any bytes may look like a header, also those of a text in a message. So a frame is accepted only
//! if its message fills it exactly and what follows may be the next frame. A header whose frame is
//! not complete yet is waited for, because it may be the next one, and frames in it may be its
//! text.

use hairpin_cme_codecs::{ilink3, mdp3};
use hairpin_sbe::DecodeError;

use super::codecs::Codecs;
use super::framing::{ENCODING_TYPE, FRAME_HEADER, Framing, MESSAGE_HEADER, PACKET_HEADER, size};

/// The number of successive frames that are accepted if no codec knows their templates.
const ENOUGH_UNKNOWN: usize = 3;

/// Where frames begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// The beginning of whole messages before the first frame, which are the rest of a packet of
    /// market data; else the same as `frame`.
    pub(super) messages: usize,
    /// The beginning of the first frame.
    pub(super) frame: usize,
    pub(super) framing: Framing,
}

/// What a stream's bytes are at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Too few bytes to decide.
    Short,
    /// No frame begins here.
    Wrong,
    /// The header of a frame of this length.
    Frame(usize),
}

/// The outcome for one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Frame,
    Wrong,
    /// More bytes are needed.
    Unclear,
}

/// Finds the first frame in `bytes`. Returns `None` if the first `*searched` bytes have no frame,
/// and
/// no frame is certain in the rest: with `is_final`, no more bytes follow.
pub(super) fn search(
    bytes: &[u8],
    framing: Option<Framing>,
    codecs: &Codecs<'_>,
    is_final: bool,
    searched: &mut usize,
) -> Option<Found> {
    let all = &Framing::OF_STREAMS[..];
    let framings = framing.as_ref().map_or(all, std::slice::from_ref);
    while *searched < bytes.len() {
        let rest = &bytes[*searched..];
        let is_start = *searched == 0;
        let verdicts = framings
            .iter()
            .map(|framing| (*framing, judge(rest, *framing, codecs, is_final, is_start)));
        let mut is_unclear = false;
        for (framing, verdict) in verdicts {
            match verdict {
                Verdict::Frame => {
                    let frame = *searched;
                    let messages = match framing {
                        Framing::Ilink3 => frame,
                        _ => messages_before(&bytes[..frame], codecs, false).unwrap_or(frame),
                    };
                    return Some(Found { messages, frame, framing });
                }
                Verdict::Unclear => is_unclear = true,
                Verdict::Wrong => {}
            }
        }
        if is_unclear && !is_final {
            return None;
        }
        *searched += 1;
    }
    // A gap is often between two frames: a whole one that begins here is not a text's.
    let is_whole = |framing: &&Framing| match place(bytes, **framing, codecs) {
        Place::Frame(length) => bytes
            .get(..length)
            .is_some_and(|frame| check(frame, **framing, codecs, false) == Ok(true)),
        _ => false,
    };
    let framing = framings.iter().find(is_whole).filter(|_| is_final)?;
    Some(Found { messages: 0, frame: 0, framing: *framing })
}

/// Returns `true` if a frame may begin here.
pub(super) fn may_begin(bytes: &[u8], framing: Framing, codecs: &Codecs<'_>) -> bool {
    next_place(bytes, framing, codecs) != Place::Wrong
}

/// Returns the beginning of the whole messages at the end of `bytes`, which are the rest of a
/// packet
/// of market data. With `may_be_cut`, the last message may be incomplete.
pub(super) fn messages_before(
    bytes: &[u8],
    codecs: &Codecs<'_>,
    may_be_cut: bool,
) -> Option<usize> {
    (0..bytes.len()).find(|&start| {
        let mut at = start;
        while let Place::Frame(length) = message(&bytes[at..], codecs)
            && let Some(whole) = bytes.get(at..at + length)
            && codecs.check(&whole[2..]) == Ok(true)
        {
            at += length;
        }
        let is_end =
            at == bytes.len() || may_be_cut && message(&bytes[at..], codecs) != Place::Wrong;
        at > start && is_end
    })
}

/// Judges whether a frame begins here. `is_start`: no bytes precede it.
fn judge(
    bytes: &[u8],
    framing: Framing,
    codecs: &Codecs<'_>,
    is_final: bool,
    is_start: bool,
) -> Verdict {
    let unclear = if is_final { Verdict::Wrong } else { Verdict::Unclear };
    let (mut at, mut unknown) = (0, 0);
    let mut place = place(bytes, framing, codecs);
    loop {
        let length = match place {
            Place::Wrong => return Verdict::Wrong,
            Place::Short if is_final && at == bytes.len() && unknown > 0 => return Verdict::Frame,
            Place::Short => return unclear,
            Place::Frame(length) => length,
        };
        let Some(frame) = bytes.get(at..at + length) else { return unclear };
        at += length;
        match check(frame, framing, codecs, unknown > 0) {
            // A segment that ends with a whole frame is not waited for, unless the frame may be
            // text.
            Ok(true) if is_start && at == bytes.len() => return Verdict::Frame,
            Ok(true) => return judge_next(&bytes[at..], framing, codecs, is_final),
            Ok(false) => unknown += 1,
            Err(_) => return Verdict::Wrong,
        }
        if unknown == ENOUGH_UNKNOWN {
            return Verdict::Frame;
        }
        place = next_place(&bytes[at..], framing, codecs);
    }
}

/// Judges a frame by the bytes after it.
fn judge_next(bytes: &[u8], framing: Framing, codecs: &Codecs<'_>, is_final: bool) -> Verdict {
    match next_place(bytes, framing, codecs) {
        Place::Wrong => Verdict::Wrong,
        Place::Short if is_final => Verdict::Frame,
        Place::Short => Verdict::Unclear,
        Place::Frame(length) => match bytes.get(length..) {
            Some(rest) if next_place(rest, framing, codecs) == Place::Wrong => Verdict::Wrong,
            None if !is_final => Verdict::Unclear,
            _ => Verdict::Frame,
        },
    }
}

/// Judges what follows a frame: another, or a message of the same packet.
fn next_place(bytes: &[u8], framing: Framing, codecs: &Codecs<'_>) -> Place {
    match place(bytes, framing, codecs) {
        Place::Wrong if framing == Framing::ConflatedTcp => message(bytes, codecs),
        place => place,
    }
}

/// Returns `true` if a frame is whole messages of known templates, `false` if their templates are
/// unknown. With `may_be_message`, the frame may be a message without a packet's header.
fn check(
    frame: &[u8],
    framing: Framing,
    codecs: &Codecs<'_>,
    may_be_message: bool,
) -> Result<bool, DecodeError> {
    match framing {
        Framing::Ilink3 => codecs.check(&frame[4..]),
        Framing::ConflatedTcp if may_be_message && !frame.starts_with(&ENCODING_TYPE) => {
            codecs.check(&frame[2..])
        }
        Framing::Udp | Framing::ConflatedTcp => codecs.check(&frame[CONFLATED_HEADER + 2..]),
        Framing::Replay => {
            let mut rest = &frame[2 + PACKET_HEADER..];
            let mut is_known = false;
            while !rest.is_empty() {
                let length = size(rest).filter(|length| *length >= MESSAGE_HEADER);
                let message = length.and_then(|length| rest.get(..length));
                let message = message.ok_or(DecodeError::Block)?;
                is_known |= codecs.check(&message[2..])?;
                rest = &rest[message.len()..];
            }
            Ok(is_known)
        }
    }
}

/// The mark and the packet header of conflated market data over TCP.
const CONFLATED_HEADER: usize = 2 + PACKET_HEADER;

/// Judges the header of a frame. For conflated market data over TCP, a frame is a packet's header
/// and its first message.
fn place(bytes: &[u8], framing: Framing, codecs: &Codecs<'_>) -> Place {
    match framing {
        Framing::Ilink3 => session_frame(bytes, codecs),
        Framing::Udp | Framing::ConflatedTcp => {
            let mark = &ENCODING_TYPE[..bytes.len().min(2)];
            if !bytes.starts_with(mark) {
                return Place::Wrong;
            }
            match bytes.get(CONFLATED_HEADER..).map(|rest| message(rest, codecs)) {
                None => Place::Short,
                Some(Place::Frame(length)) => Place::Frame(CONFLATED_HEADER + length),
                Some(other) => other,
            }
        }
        Framing::Replay => {
            let Some(length) = size(bytes) else { return Place::Short };
            if length < PACKET_HEADER + MESSAGE_HEADER {
                return Place::Wrong;
            }
            match bytes.get(2 + PACKET_HEADER..).map(|rest| message(rest, codecs)) {
                None => Place::Short,
                Some(Place::Frame(_)) => Place::Frame(2 + length),
                Some(other) => other,
            }
        }
    }
}

/// Judges a simple open framing header and the message header after it.
fn session_frame(bytes: &[u8], codecs: &Codecs<'_>) -> Place {
    let mark = bytes.get(2..).unwrap_or_default();
    if !mark.starts_with(&ENCODING_TYPE[..mark.len().min(2)]) {
        return Place::Wrong;
    }
    match size(bytes) {
        None => Place::Short,
        Some(length) if length < FRAME_HEADER => Place::Wrong,
        Some(length) => match bytes.get(4..) {
            None => Place::Short,
            Some(rest) => header(rest, length - 4, mdp3::SCHEMA_ID, codecs)
                .map_or_else(|other| other, |()| Place::Frame(length)),
        },
    }
}

/// Judges a message of market data after its size.
fn message(bytes: &[u8], codecs: &Codecs<'_>) -> Place {
    match size(bytes) {
        None => Place::Short,
        Some(length) if length < MESSAGE_HEADER => Place::Wrong,
        Some(length) => header(&bytes[2..], length - 2, ilink3::SCHEMA_ID, codecs)
            .map_or_else(|other| other, |()| Place::Frame(length)),
    }
}

/// Judges the header of a message of `length` bytes, which is not of the schema `not`.
fn header(bytes: &[u8], length: usize, not: u16, codecs: &Codecs<'_>) -> Result<(), Place> {
    match codecs.header(bytes) {
        Ok(header) if header.schema_id == not => Err(Place::Wrong),
        Ok(header) if usize::from(header.block_length) + 8 > length => Err(Place::Wrong),
        Ok(_) => Ok(()),
        Err(DecodeError::Header) => Err(Place::Short),
        Err(_) => Err(Place::Wrong),
    }
}
