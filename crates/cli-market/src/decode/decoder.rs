//! The state of `hairpin decode` while a capture is read.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};

use clap::ValueEnum;
use hairpin_cme_codecs::ilink3;
use hairpin_measure::counted;
use hairpin_sbe::MessageHeader;

use super::capture::{Captured, Payload};
use super::error_lines::ErrorLines;
use super::flow::{Arrived, Flow};
use super::framing::{DetectedFraming, Frame, FrameError, Frames, Framing, MESSAGE_HEADER, size};
use super::other_traffic::{OtherTraffic, Service};
use super::resync::{self, Found};
use super::sink::{Addresses, MessageSink, Origin};
use super::stream::{Change, Segment, Stream};
use super::{DecodeCounts, Settings};

/// The packets that are read in advance, to find the first segment of a stream: more than NICs and
/// capture programs reorder.
const READ_AHEAD: usize = 64;
/// The most bytes by which a later segment precedes the first one captured.
const MOST_BEHIND: i32 = 1 << 18;
/// The bytes in which the first frame of a stream must begin: two of the longest frames.
const MOST_SEARCHED: usize = 1 << 17;
/// The frames after which the place of the next one is certain.
const ENOUGH_FRAMES: usize = 2;
/// The most gaps of one stream that are kept until it is known to be CME's.
const MOST_GAPS: usize = 1_000;
/// MsgSeqNum and SendingTime, the size of a message, and its header.
const LEAST_PACKET: usize = 12 + MESSAGE_HEADER;

/// A packet that was read in advance.
struct ReadPacket {
    number: u64,
    contents: Contents,
}

enum Contents {
    Datagram { addresses: Addresses, bytes: Vec<u8> },
    Segment { addresses: Addresses, flags: Flags, segment: Segment },
    Other(Option<hairpin_endpoint::capture::Protocol>),
    Error(String),
}

#[derive(Debug, Clone, Copy)]
struct Flags {
    syn: bool,
    fin: bool,
    rst: bool,
}

/// What is known of the frames of a stream.
#[derive(Debug)]
struct StreamFrames {
    /// The framing of its messages, once detected.
    framing: Option<Framing>,
    /// Sequence number and sending time of the current packet, if a packet has begun.
    packet: Option<(u32, u64)>,
    position: Position,
    /// The bytes that were searched without finding a frame.
    searched: usize,
    /// The frames found since the last search.
    frames: usize,
    /// Bytes skipped, to report once the stream is known to be CME's.
    skips: Vec<Skip>,
    /// The segments with data.
    segments: u64,
}

/// The place in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// The beginning of a connection.
    Beginning,
    /// A frame begins here.
    Frame,
    /// The next frame is searched for.
    Searching,
    /// The stream is not CME's, or it is text.
    Foreign,
}

/// Bytes without frames.
#[derive(Debug)]
struct Skip {
    packet: u64,
    cause: Cause,
    /// The bytes of incomplete frames.
    bytes: usize,
}

#[derive(Debug)]
enum Cause {
    /// The capture begins within the connection.
    Beginning,
    /// So many bytes are missing.
    Gap(u32),
    /// No frame begins where one should.
    Lost(String),
}

impl StreamFrames {
    fn new(has_syn: bool) -> Self {
        let position = if has_syn { Position::Beginning } else { Position::Searching };
        Self {
            framing: None,
            packet: None,
            position,
            searched: 0,
            frames: 0,
            skips: Vec::new(),
            segments: 0,
        }
    }

    /// Continues with a search, because of this cause.
    fn search(&mut self, packet: u64, cause: Cause, bytes: usize) {
        (self.position, self.searched, self.frames) = (Position::Searching, 0, 0);
        self.packet = None;
        if self.skips.len() < MOST_GAPS {
            self.skips.push(Skip { packet, cause, bytes });
        }
    }

    /// Records bytes in which no frame begins.
    fn skip(&mut self, packet: u64, bytes: usize) {
        if bytes > 0 && self.skips.is_empty() {
            self.skips.push(Skip { packet, cause: Cause::Beginning, bytes: 0 });
        }
        if let Some(skip) = self.skips.last_mut() {
            skip.bytes += bytes;
        }
    }

    fn set_foreign(&mut self) {
        self.position = Position::Foreign;
        self.skips = Vec::new();
    }
}

/// The state while a capture is read.
pub(crate) struct Decoder<'a, S, E> {
    settings: &'a Settings<'a>,
    sink: S,
    err: E,
    counts: &'a mut DecodeCounts,
    read_ahead: VecDeque<ReadPacket>,
    /// The number of the current packet.
    packet: u64,
    /// The addresses of the current packet or stream.
    addresses: Option<Addresses>,
    flows: BTreeMap<Addresses, Flow<StreamFrames>>,
    errors: ErrorLines,
    notes: ErrorLines,
    others: OtherTraffic,
    /// Destinations of CME's datagrams.
    feeds: HashSet<SocketAddr>,
    /// Datagrams that are errors if their destinations are CME's, else other traffic.
    unclear: HashMap<SocketAddr, (ErrorLines, Service, u64)>,
    /// The bytes of incomplete frames at the end of the capture.
    left: usize,
}

impl<'a, S: MessageSink, E: Write> Decoder<'a, S, E> {
    pub(crate) fn new(
        settings: &'a Settings<'a>,
        counts: &'a mut DecodeCounts,
        sink: S,
        err: E,
    ) -> Self {
        Self {
            settings,
            sink,
            err,
            counts,
            read_ahead: VecDeque::new(),
            packet: 0,
            addresses: None,
            flows: BTreeMap::new(),
            errors: ErrorLines::default(),
            notes: ErrorLines::default(),
            others: OtherTraffic::default(),
            feeds: HashSet::new(),
            unclear: HashMap::new(),
            left: 0,
        }
    }

    /// Takes the next packet of the file.
    pub(crate) fn packet(&mut self, packet: Captured<'_>) -> io::Result<()> {
        self.counts.packets += 1;
        let number = self.counts.packets;
        let contents = match packet.payload {
            Ok(Payload::Datagram { source, destination, bytes }) => {
                Contents::Datagram { addresses: (source, destination), bytes: bytes.to_vec() }
            }
            Ok(Payload::Segment {
                source,
                destination,
                sequence,
                syn,
                fin,
                rst,
                bytes,
                missing,
            }) => {
                let start = sequence.wrapping_add(u32::from(syn));
                Contents::Segment {
                    addresses: (source, destination),
                    flags: Flags { syn, fin, rst },
                    segment: Segment { start, bytes: bytes.to_vec(), missing, packet: number },
                }
            }
            Ok(Payload::Other) => Contents::Other(packet.protocol),
            Err(what) => Contents::Error(what),
        };
        self.read_ahead.push_back(ReadPacket { number, contents });
        if self.read_ahead.len() > READ_AHEAD { self.handle_next() } else { Ok(()) }
    }

    /// Counts a packet that is handled elsewhere.
    pub(crate) fn skip(&mut self) {
        self.counts.packets += 1;
    }

    /// Returns the receiver of the messages.
    pub(crate) fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Handles the packet that was read first.
    fn handle_next(&mut self) -> io::Result<()> {
        let Some(ReadPacket { number, contents }) = self.read_ahead.pop_front() else {
            return Ok(());
        };
        self.packet = number;
        match contents {
            Contents::Datagram { addresses, bytes } => self.datagram(addresses, &bytes),
            Contents::Segment { addresses, flags, segment } => {
                self.segment(addresses, flags, segment)
            }
            Contents::Other(protocol) => {
                protocol.into_iter().for_each(|protocol| self.others.count_protocol(protocol));
                Ok(())
            }
            Contents::Error(what) => {
                self.error(&what);
                Ok(())
            }
        }
    }

    /// Handles a datagram: prints its messages, if it is CME's.
    fn datagram(&mut self, addresses: Addresses, bytes: &[u8]) -> io::Result<()> {
        let (source, destination) = addresses;
        self.addresses = Some(addresses);
        let port = match destination.ip().is_multicast() {
            true => destination.port(),
            false => destination.port().min(source.port()),
        };
        let service = Service::Udp(port);
        if self.settings.framing.is_some_and(|framing| framing != Framing::Udp) {
            self.others.count_service(service, 1);
            return Ok(());
        }
        match self.is_market_data(destination, bytes) {
            Some(true) => {
                self.feeds.insert(destination);
            }
            Some(false) => {}
            None => {
                let what = Frames::new(Framing::Udp, bytes, None).next();
                let what = match what {
                    Some(Err(error)) => error.into_text(),
                    _ => "datagram is not market data".to_owned(),
                };
                let unclear = || (ErrorLines::default(), service, 0);
                let (errors, _, count) = self.unclear.entry(destination).or_insert_with(unclear);
                errors.record(self.packet, &what);
                *count += 1;
                return Ok(());
            }
        }
        let mut frames = Frames::new(Framing::Udp, bytes, None);
        while let Some(frame) = frames.next() {
            match frame {
                Ok(frame) => {
                    if let Err(what) = self.frame(&frame, self.packet)? {
                        self.error(&what);
                    }
                }
                Err(what) => self.error(&what.into_text()),
            }
        }
        Ok(())
    }

    /// Returns `true` for a datagram that begins with a message of CME's market data, `false` for a
    /// damaged one, and `None` if it may be other traffic.
    fn is_market_data(&self, destination: SocketAddr, bytes: &[u8]) -> Option<bool> {
        let codecs = &self.settings.codecs;
        let message = bytes.get(LEAST_PACKET - MessageHeader::LENGTH..);
        let header = message.and_then(|message| Some((codecs.header(message).ok()?, message)));
        match header {
            Some((header, message)) if header.schema_id != ilink3::SCHEMA_ID => {
                let room = message.len() + 2;
                let size = size(&bytes[LEAST_PACKET - MESSAGE_HEADER..])?;
                let is_whole = (MESSAGE_HEADER..=room).contains(&size)
                    && usize::from(header.block_length) + MESSAGE_HEADER <= size;
                // Other traffic may have the schema's number in this place by chance.
                (is_whole || codecs.check(message) != Ok(false)).then_some(is_whole)
            }
            Some(_) => None,
            None if bytes.len() < LEAST_PACKET && is_group_of_feed(destination) => Some(false),
            None => None,
        }
    }

    /// Handles a TCP segment: prints the complete frames of its stream and keeps the rest.
    fn segment(&mut self, addresses: Addresses, flags: Flags, segment: Segment) -> io::Result<()> {
        if self.settings.framing == Some(Framing::Udp) {
            self.others.count_service(service_of(addresses), 1);
            return Ok(());
        }
        self.addresses = Some(addresses);
        let mut flow = self.flows.remove(&addresses).unwrap_or_default();
        let Segment { start, missing, .. } = segment;
        let length = segment.bytes.len() as u32 + missing;
        let mut ended = Vec::new();
        if flags.syn || length > 0 {
            let arrived = Arrived { start, syn: flags.syn, bytes: &segment.bytes, missing };
            for (stream, frames) in flow.finished(arrived) {
                if stream.is_finished() {
                    self.advance(stream, frames, true)?;
                }
            }
            let first = || first_captured(&self.read_ahead, addresses, start);
            let (stream, before) = flow.stream(arrived, first, StreamFrames::new);
            ended = before;
            if let Some((stream, frames)) = stream {
                frames.segments += u64::from(length > 0);
                stream.push(segment);
                self.advance(stream, frames, false)?;
            } else if length > 0 {
                self.sink.repeated(addresses);
            }
        }
        for (stream, frames) in ended {
            self.end(addresses, stream, frames, true)?;
        }
        if flags.fin
            && let Some((stream, _)) = flow.newest()
        {
            stream.finish(start.wrapping_add(length));
        }
        self.flows.insert(addresses, flow);
        if flags.rst { self.reset(addresses) } else { Ok(()) }
    }

    /// Handles a reset of a connection: nothing that is missing follows.
    fn reset(&mut self, addresses: Addresses) -> io::Result<()> {
        for addresses in [addresses, (addresses.1, addresses.0)] {
            let Some(mut flow) = self.flows.remove(&addresses) else { continue };
            self.addresses = Some(addresses);
            for (stream, frames) in flow.streams() {
                stream.reset();
                self.advance(stream, frames, true)?;
            }
            self.flows.insert(addresses, flow);
        }
        Ok(())
    }

    /// Handles the changes of a stream.
    fn advance(
        &mut self,
        stream: &mut Stream,
        frames: &mut StreamFrames,
        is_final: bool,
    ) -> io::Result<()> {
        while let Some(change) = stream.change(is_final) {
            match change {
                Change::Bytes => self.stream(stream, frames, false)?,
                Change::Gap(missing, packet) => {
                    self.stream(stream, frames, true)?;
                    let left = stream.bytes().len();
                    stream.consume(left);
                    if frames.position != Position::Foreign {
                        frames.search(packet, Cause::Gap(missing), left);
                    }
                }
            }
        }
        if is_final { self.stream(stream, frames, true) } else { Ok(()) }
    }

    /// Prints the complete frames of a stream. With `is_final`, nothing follows its bytes.
    fn stream(
        &mut self,
        stream: &mut Stream,
        frames: &mut StreamFrames,
        is_final: bool,
    ) -> io::Result<()> {
        while !stream.bytes().is_empty() {
            match frames.position {
                Position::Foreign => stream.forget(),
                Position::Beginning => match self.detect(stream.bytes(), is_final) {
                    Some(DetectedFraming::Messages(framing)) => {
                        frames.framing = Some(framing);
                        (frames.position, frames.frames) = (Position::Frame, ENOUGH_FRAMES);
                    }
                    Some(DetectedFraming::Text) => frames.set_foreign(),
                    Some(_) => frames.position = Position::Searching,
                    None => return Ok(()),
                },
                Position::Searching => {
                    if !self.search(stream, frames, is_final)? {
                        return Ok(());
                    }
                }
                Position::Frame => {
                    self.frames(stream, frames)?;
                    let is_unsure = is_final && frames.frames < ENOUGH_FRAMES;
                    match frames.position {
                        // The header of the last frame may be text in a message.
                        Position::Frame if is_unsure && !stream.bytes().is_empty() => {
                            frames.searched = 1;
                            if !self.search(stream, frames, true)? {
                                return Ok(());
                            }
                        }
                        Position::Frame => return Ok(()),
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// Detects the kind of a stream from its first bytes. `None` if there are too few.
    fn detect(&self, bytes: &[u8], is_final: bool) -> Option<DetectedFraming> {
        match (DetectedFraming::of_stream(bytes), self.settings.framing) {
            (DetectedFraming::Unclear, _) if !is_final => None,
            (DetectedFraming::Messages(found), Some(framing)) if found != framing => {
                Some(DetectedFraming::Foreign)
            }
            (detected, _) => Some(detected),
        }
    }

    /// Searches for the next frame. Returns `true` if the stream's position has changed.
    fn search(
        &mut self,
        stream: &mut Stream,
        frames: &mut StreamFrames,
        is_final: bool,
    ) -> io::Result<bool> {
        let codecs = &self.settings.codecs;
        let framing = frames.framing.or(self.settings.framing);
        let bytes = stream.bytes();
        let found = resync::search(bytes, framing, codecs, is_final, &mut frames.searched);
        if let Some(Found { messages, frame, framing }) = found {
            self.messages(&bytes[messages..frame])?;
            frames.skip(self.packet, messages);
            frames.framing = Some(framing);
            (frames.position, frames.searched, frames.frames) = (Position::Frame, 0, 0);
            stream.consume(frame);
            self.report_skips(frames);
            return Ok(true);
        }
        if is_final && frames.position == Position::Searching {
            let is_packets = !matches!(frames.framing, None | Some(Framing::Ilink3));
            let rest = is_packets.then(|| resync::messages_before(bytes, codecs, true)).flatten();
            if let Some(messages) = rest {
                self.messages(&bytes[messages..])?;
                frames.skip(self.packet, messages);
                stream.consume(stream.bytes().len());
            } else if frames.framing.is_some() {
                frames.skip(self.packet, bytes.len());
                stream.consume(stream.bytes().len());
            }
            frames.searched = 0;
        } else if frames.searched >= MOST_SEARCHED {
            if frames.framing.is_none() {
                frames.set_foreign();
                return Ok(true);
            }
            frames.skip(self.packet, frames.searched);
            stream.consume(frames.searched);
            frames.searched = 0;
        }
        Ok(false)
    }

    /// Prints whole messages of a packet whose beginning is missing.
    fn messages(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while let Some(message) = size(bytes).and_then(|size| bytes.get(..size)) {
            let frame = Frame { packet: None, message: &message[2..] };
            let outcome = self.frame(&frame, self.packet)?;
            if let Err(what) = outcome {
                self.error(&what);
            }
            bytes = &bytes[message.len()..];
        }
        Ok(())
    }

    /// Prints every frame, and consumes it.
    fn frames(&mut self, stream: &mut Stream, state: &mut StreamFrames) -> io::Result<()> {
        let Some(framing) = state.framing else { return Ok(()) };
        let bytes = stream.bytes();
        let mut frames = Frames::new(framing, bytes, state.packet);
        let mut used = 0;
        let mut lost = None;
        while let Some(frame) = frames.next() {
            let outcome = match frame {
                Ok(frame) => self.frame(&frame, stream.packet_at(frames.used()))?,
                Err(FrameError::Frame(what)) => Err(what),
                Err(FrameError::Lost(what)) => {
                    lost = Some(what);
                    break;
                }
            };
            if let Err(what) = outcome {
                // The length of a damaged frame may be wrong too.
                let rest = &bytes[frames.used()..];
                let is_packet = framing == Framing::Replay;
                if !is_packet && !resync::may_begin(rest, framing, &self.settings.codecs) {
                    lost = Some(what);
                    break;
                }
                self.error(&what);
            }
            (used, state.frames) = (frames.used(), state.frames + 1);
        }
        state.packet = frames.packet();
        if lost.is_none() {
            used = frames.used();
        }
        stream.consume(used);
        if let Some(what) = lost {
            state.search(self.packet, Cause::Lost(what), 0);
            state.searched = 1;
        }
        Ok(())
    }

    /// Passes a message to the sink, or returns the error in it. `packet` is the one with its last
    /// byte.
    fn frame(&mut self, frame: &Frame<'_>, packet: u64) -> io::Result<Result<(), String>> {
        let Some(addresses) = self.addresses else { return Ok(Ok(())) };
        let outcome = self.sink.message(frame, Origin { addresses, packet })?;
        let DecodeCounts { messages, unknown, .. } = self.counts;
        Ok(outcome.map(|is_known| *(if is_known { messages } else { unknown }) += 1))
    }

    /// Reports the bytes of a stream that were skipped.
    fn report_skips(&mut self, frames: &mut StreamFrames) {
        for Skip { packet, cause, bytes } in frames.skips.drain(..) {
            let skipped = match bytes {
                0 => String::new(),
                _ => format!(", and {} of incomplete frames skipped", counted(bytes, "byte")),
            };
            let error = match cause {
                Cause::Beginning => {
                    let what = format!(
                        "the capture begins within a frame; {} skipped",
                        counted(bytes, "byte")
                    );
                    self.notes.record(packet, &what);
                    continue;
                }
                Cause::Gap(missing) => {
                    self.addresses.into_iter().for_each(|of| self.sink.gap(of, missing, bytes));
                    format!("{} of a stream missing{skipped}", counted(missing, "byte"))
                }
                Cause::Lost(what) => format!("{what}: {} skipped", counted(bytes, "byte")),
            };
            self.counts.errors += 1;
            self.errors.record(packet, &error);
        }
    }

    /// Reports an error in the current packet.
    fn error(&mut self, what: &str) {
        self.counts.errors += 1;
        self.errors.record(self.packet, what);
    }

    /// Ends a stream: gives up what is missing, and counts what is left. `is_closed`: the stream
    /// ends before the capture.
    fn end(
        &mut self,
        addresses: Addresses,
        mut stream: Stream,
        mut frames: StreamFrames,
        is_closed: bool,
    ) -> io::Result<()> {
        self.addresses = Some(addresses);
        self.advance(&mut stream, &mut frames, true)?;
        if frames.framing.is_none() {
            self.others.count_service(service_of(addresses), frames.segments);
            return Ok(());
        }
        self.report_skips(&mut frames);
        match stream.bytes().len() {
            0 => {}
            left if is_closed => {
                let what = format!("a connection ended {} into a frame", counted(left, "byte"));
                self.notes.record(self.packet, &what);
            }
            left => self.left += left,
        }
        Ok(())
    }

    /// Prints the counts; `ending` is the error if the file ends within a packet.
    pub(super) fn finish(mut self, ending: Option<String>) -> io::Result<()> {
        let outcome = self.end_all(ending);
        self.write_errors()?;
        outcome?;
        self.sink.finish(self.counts)
    }

    /// Ends all streams. Returns the sink and the lines of errors and notes.
    pub(crate) fn into_sink(mut self) -> io::Result<(S, ErrorLines, ErrorLines)> {
        self.end_all(None)?;
        Ok((self.sink, self.errors, self.notes))
    }

    /// Writes the errors so far, after an error that ends the command.
    pub(super) fn abort(mut self, error: io::Error) -> io::Result<()> {
        // A reader that has closed the pipe is no error.
        self.counts.errors += u64::from(error.kind() != io::ErrorKind::BrokenPipe);
        self.write_errors()?;
        Err(error)
    }

    fn end_all(&mut self, ending: Option<String>) -> io::Result<()> {
        while !self.read_ahead.is_empty() {
            self.handle_next()?;
        }
        let flows = std::mem::take(&mut self.flows).into_iter();
        let mut streams: Vec<_> = flows
            .flat_map(|(addresses, flow)| {
                flow.into_streams().into_iter().map(move |it| (addresses, it))
            })
            .collect();
        // In the order of what they wait for.
        streams.sort_by_key(|(_, (stream, _))| stream.first_waiting());
        for (addresses, (stream, frames)) in streams {
            self.end(addresses, stream, frames, false)?;
        }
        for (destination, (errors, service, count)) in std::mem::take(&mut self.unclear) {
            if self.feeds.contains(&destination) {
                self.counts.errors += self.errors.append(errors);
            } else {
                self.others.count_service(service, count);
            }
        }
        ending.into_iter().for_each(|what| self.error(&what));
        Ok(())
    }

    fn write_errors(&mut self) -> io::Result<()> {
        self.errors.write("", &mut self.err)?;
        self.notes.write("note: ", &mut self.err)?;
        let Self { left, others, err, counts, settings, .. } = self;
        if *left > 0 {
            writeln!(
                err,
                "hairpin: note: the capture ends {} into a frame",
                counted(*left, "byte")
            )?;
        }
        others.write(err)?;
        if counts.messages == 0 && counts.unknown > 0 {
            writeln!(
                err,
                "hairpin: no schema has the templates of these messages: give theirs with --schema"
            )?;
        } else if counts.messages == 0 && counts.errors == 0 {
            match settings.framing.and_then(|framing| framing.to_possible_value()) {
                Some(name) => writeln!(
                    err,
                    "hairpin: no message of framing {} in {}: without --framing it is detected",
                    name.get_name(),
                    counted(counts.packets, "packet")
                )?,
                None => writeln!(
                    err,
                    "hairpin: nothing of CME's protocols in {}",
                    counted(counts.packets, "packet")
                )?,
            }
        }
        Ok(())
    }
}

/// Returns the sequence number of the first captured byte of a stream that begins with a segment at
/// `start`: segments captured soon after may precede that one.
fn first_captured(read_ahead: &VecDeque<ReadPacket>, flow: Addresses, start: u32) -> u32 {
    let mut first = start;
    for ReadPacket { contents, .. } in read_ahead {
        let Contents::Segment { addresses, flags, segment } = contents else { continue };
        let reverse = (addresses.1, addresses.0);
        if flags.rst && (flow == *addresses || flow == reverse) {
            break;
        }
        if flow != *addresses {
            continue;
        }
        let has_bytes = segment.bytes.len() + segment.missing as usize > 0;
        let behind = first.wrapping_sub(segment.start).cast_signed();
        if (1..=MOST_BEHIND).contains(&behind) && (flags.syn || has_bytes) {
            first = segment.start;
        } else if flags.syn && behind != 0 {
            break;
        }
        if flags.fin {
            break;
        }
    }
    first
}

/// Returns the service of a connection: the lower port is usually the server's.
fn service_of((source, destination): Addresses) -> Service {
    Service::Tcp(source.port().min(destination.port()))
}

/// Returns `true` if a group may be a feed's: it is not a group of network control, nor of a
/// service
/// that is on many networks.
fn is_group_of_feed(group: SocketAddr) -> bool {
    match group.ip() {
        IpAddr::V4(ip) => {
            let [a, b, c, _] = ip.octets();
            ip.is_multicast() && !matches!((a, b, c), (224, 0, 0 | 1) | (239, 255, 255))
        }
        IpAddr::V6(_) => false,
    }
}
