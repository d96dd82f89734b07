//! Answers pings in raw frames.

use std::io;

use hairpin_cli_harness::raw_port::RawPort;
use hairpin_reactor::{Interest, Reactor, Ready, Token};
use hairpin_wire::MacAddress;

use super::server::{PongState, Responder};
use super::udp_responder::FLOOD_BATCH;
use crate::ping::message;
use crate::ping::raw_frame::{self, RawFrame};

/// Answers each frame in its own memory.
pub(super) struct RawResponder {
    port: RawPort,
    token: Token,
}

impl RawResponder {
    /// Adds the frames to the reactor.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn new(mut port: RawPort, reactor: &mut Reactor) -> io::Result<Self> {
        let token = reactor.add(&mut port, Interest::READABLE)?;
        Ok(Self { port, token })
    }

    #[inline]
    fn answer(&mut self, state: &mut PongState) -> io::Result<()> {
        let RawPort { frames, own, .. } = &mut self.port;
        let Some(mut packet) = frames.receive()? else { return Ok(()) };
        let bytes = frames.bytes_mut(&mut packet);
        let Some(message) = ping(bytes, *own) else {
            frames.release(packet);
            return Ok(());
        };
        let length = message.len();
        if message::is_answer(message) {
            state.ignore(source_of(bytes));
            frames.release(packet);
            return Ok(());
        }
        state.before_answer();
        message::mark_answer(&mut bytes[raw_frame::HEADER..][..length]);
        raw_frame::turn_round(bytes, *own);
        let outcome = frames.transmit(packet)?.map_err(|packet| {
            frames.release(packet);
            io::ErrorKind::WouldBlock.into()
        });
        state.answered(&outcome);
        Ok(())
    }

    #[inline]
    fn count(&mut self, state: &mut PongState) -> io::Result<()> {
        let RawPort { frames, own, .. } = &mut self.port;
        let mut messages = 0;
        for _ in 0..FLOOD_BATCH {
            let Some(packet) = frames.receive()? else { break };
            if let Some(message) = ping(frames.bytes(&packet), *own) {
                state.number(message);
                messages += 1;
            }
            frames.release(packet);
        }
        if messages > 0 {
            state.tally.count(messages, state.clock.instant());
        }
        Ok(())
    }
}

/// Returns the text of the source of a frame.
#[cold]
fn source_of(frame: &[u8]) -> String {
    raw_frame::parse(frame).map_or_else(String::new, |frame| frame.source.to_string())
}

/// Returns the message of a frame from another host to this host or to all hosts.
#[inline]
fn ping(frame: &[u8], own: MacAddress) -> Option<&[u8]> {
    let RawFrame { destination, source, message } = raw_frame::parse(frame)?;
    let is_for_us = destination == own || destination == MacAddress::BROADCAST;
    message.filter(|_| is_for_us && source != own && !source.is_group())
}

impl Responder for RawResponder {
    #[inline]
    fn serve(&mut self, ready: Ready, _: &mut Reactor, state: &mut PongState) -> io::Result<()> {
        if !ready.is_readable(self.token) {
            return Ok(());
        }
        let outcome = if state.is_flood { self.count(state) } else { self.answer(state) };
        state.tolerate(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
    const PINGER: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);

    fn is_answered(to: MacAddress, from: MacAddress) -> bool {
        let mut frame = vec![0; raw_frame::length(3)];
        raw_frame::write(&mut frame, to, from, 3).copy_from_slice(b"abc");
        let message = ping(&frame, OWN);
        assert!(message.is_none_or(|message| message == b"abc"));
        message.is_some()
    }

    #[test]
    fn answers_what_is_for_it_or_for_everyone() {
        assert!(is_answered(OWN, PINGER) && is_answered(MacAddress::BROADCAST, PINGER));
        assert!(!is_answered(MacAddress([2, 0, 0, 0, 0, 3]), PINGER));
    }

    #[test]
    fn answers_neither_itself_nor_a_group() {
        assert!(!is_answered(OWN, OWN) && !is_answered(OWN, MacAddress::BROADCAST));
    }

    #[test]
    fn answers_no_frame_that_holds_less_than_it_says() {
        let mut frame = vec![0; raw_frame::length(3)];
        raw_frame::write(&mut frame, OWN, PINGER, 3);
        frame[15] = 45;
        assert_eq!(ping(&frame, OWN), None);
    }
}
