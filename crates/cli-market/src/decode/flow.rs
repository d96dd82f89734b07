//! The connections that use one pair of addresses, one after the other.

use super::stream::{Fit, Stream};

/// The most streams of one flow that are kept: segments of an ended one may be captured late.
const MOST_STREAMS: usize = 4;

/// One direction between two addresses: the streams of its connections, the newest last.
///
/// Segments that do not continue a stream begin another one. So nothing that was captured is lost
/// if ports are used again, also if their SYN, FIN and RST were not captured.
#[derive(Debug)]
pub(super) struct Flow<T> {
    streams: Vec<(Stream, T)>,
}

impl<T> Default for Flow<T> {
    fn default() -> Self {
        Self { streams: Vec::new() }
    }
}

/// The flags and bytes of a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrived<'a> {
    /// The sequence number of the first byte.
    pub(super) start: u32,
    pub(super) syn: bool,
    pub(super) bytes: &'a [u8],
    pub(super) missing: u32,
}

/// A stream and the state of its decoder.
type Tracked<T> = (Stream, T);

impl<T> Flow<T> {
    /// Returns the stream of a segment. A new one is created with `state` at the sequence number
    /// that `first` returns. Returns the streams too that end because of it.
    pub(super) fn stream(
        &mut self,
        arrived: Arrived<'_>,
        first: impl FnOnce() -> u32,
        state: impl FnOnce(bool) -> T,
    ) -> (Option<&mut Tracked<T>>, Vec<Tracked<T>>) {
        let Arrived { start, syn, bytes, missing } = arrived;
        if syn {
            let place = self.streams.iter().rposition(|(stream, _)| stream.has_syn(start));
            if let Some(place) = place {
                return (self.streams.get_mut(place), Vec::new());
            }
            let ended = std::mem::take(&mut self.streams);
            self.streams.push((Stream::new(start, true), state(true)));
            return (self.streams.last_mut(), ended);
        }
        let is_probe = bytes.is_empty() && missing == 0;
        let fits = self.streams.iter().map(|(stream, _)| stream.fit(start, bytes)).enumerate();
        // The newest of equals; of those that lack bytes, the one that lacks the fewest.
        let best = fits
            .filter(|(_, fit)| *fit != Fit::Foreign)
            .min_by_key(|&(place, fit)| (fit, std::cmp::Reverse(place)));
        match best {
            Some((_, Fit::Repeated)) => (None, Vec::new()),
            Some((place, _)) => (self.streams.get_mut(place), Vec::new()),
            None if is_probe => (None, Vec::new()),
            None => {
                let is_full = self.streams.len() >= MOST_STREAMS;
                let ended = if is_full { vec![self.streams.remove(0)] } else { Vec::new() };
                self.streams.push((Stream::new(first(), false), state(false)));
                (self.streams.last_mut(), ended)
            }
        }
    }

    /// Returns the streams that end because a segment is of another connection: those with a FIN or
    /// a reset. They are kept, because their segments may be captured again.
    pub(super) fn finished(&mut self, arrived: Arrived<'_>) -> &mut [(Stream, T)] {
        let Arrived { start, bytes, .. } = arrived;
        let is_other = |(stream, _): &(Stream, T)| stream.fit(start, bytes) == Fit::Foreign;
        let has_finished = self.streams.iter().any(|(stream, _)| stream.is_finished());
        if has_finished && self.streams.iter().all(is_other) { &mut self.streams } else { &mut [] }
    }

    /// Returns the newest stream, to which a FIN or RST belongs.
    pub(super) fn newest(&mut self) -> Option<&mut (Stream, T)> {
        self.streams.last_mut()
    }

    /// Returns all streams.
    pub(super) fn streams(&mut self) -> &mut [(Stream, T)] {
        &mut self.streams
    }

    /// Returns all streams, to end them.
    pub(super) fn into_streams(self) -> Vec<(Stream, T)> {
        self.streams
    }
}
