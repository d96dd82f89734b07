//! Pings in raw frames.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use anyhow::{Result, bail};
use hairpin_endpoint::{
    Blocker, Meta, Receive, Received, Source, Timestamp, Timestamping, Transmit, Transmitted,
};
use hairpin_time::Duration;
use hairpin_wire::MacAddress;

use super::line::Line;
use super::message;
use super::raw_frame::{self, ETHER_TYPE, HEADER, RawFrame};
use super::setup::PingSetup;
use crate::raw_port::RawPort;

/// A frame has no IP address, and nobody stamps it.
const META: Meta =
    Meta { source: SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0), timestamp: Timestamp::None };

/// The way to one pong by raw frames.
#[derive(Debug)]
pub(crate) struct RawLine {
    port: RawPort,
    /// The pong; until it is known pings go to everyone, and whoever answers first it is.
    peer: Option<MacAddress>,
    run: u32,
}

/// The line to the pong, and what it stands on in words.
///
/// # Errors
/// The stack's; messages too long for the interface.
pub(crate) fn raw(setup: &PingSetup) -> Result<(Vec<RawLine>, String)> {
    let PingSetup { device, transport, size, remote, .. } = setup;
    let port = RawPort::open(device, transport, ETHER_TYPE)?;
    let most = port.longest - HEADER;
    if *size > most {
        bail!("a raw frame carries a message of {most} bytes at the most");
    }
    let way = port.way.clone();
    let line = RawLine { port, peer: remote.mac.map(MacAddress), run: std::process::id() };
    Ok((vec![line], way))
}

/// What becomes of a frame.
enum Arrival<'a> {
    /// It is for somebody else.
    Foreign,
    /// Its message is delivered; an empty one counts as an answer to nothing.
    Delivered(&'a [u8]),
    /// The first answer: now the pong is known.
    Introduced(MacAddress, &'a [u8]),
}

/// Judges a frame, received at `own` while `peer` is known to be the pong of `run`, or nobody yet.
fn judge<'a>(frame: &'a [u8], own: MacAddress, peer: Option<MacAddress>, run: u32) -> Arrival<'a> {
    let Some(RawFrame { destination, source, message }) = raw_frame::parse(frame) else {
        return Arrival::Foreign;
    };
    if destination != own {
        return Arrival::Foreign;
    }
    let message = message.unwrap_or_default();
    match peer {
        Some(peer) if peer == source => Arrival::Delivered(message),
        Some(_) => Arrival::Delivered(&[]),
        // Others may use the same EtherType for something else.
        None if !message.is_empty() && message::read(message, 0, run).is_some() => {
            Arrival::Introduced(source, message)
        }
        None => Arrival::Delivered(&[]),
    }
}

impl Receive for RawLine {
    #[inline]
    fn receive(&mut self, budget: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let mut received = Received::default();
        while received.count < budget {
            let Some(packet) = self.port.frames.receive()? else {
                received.drained = true;
                break;
            };
            let frame = self.port.frames.bytes(&packet);
            match judge(frame, self.port.own, self.peer, self.run) {
                Arrival::Foreign => {}
                Arrival::Delivered(message) => {
                    on(META, message);
                    received.count += 1;
                }
                Arrival::Introduced(peer, message) => {
                    on(META, message);
                    received.count += 1;
                    self.peer = Some(peer);
                }
            }
            self.port.frames.release(packet);
        }
        Ok(received)
    }
}

impl Transmit for RawLine {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        let to = self.peer.unwrap_or(MacAddress::BROADCAST);
        let RawPort { frames, own, .. } = &mut self.port;
        let Some(mut packet) = frames.frame(raw_frame::length(length) as u32) else {
            return Err(io::ErrorKind::WouldBlock.into());
        };
        fill(raw_frame::write(frames.bytes_mut(&mut packet), to, *own, length));
        frames.transmit(packet)?.map_err(|packet| {
            frames.release(packet);
            io::ErrorKind::WouldBlock.into()
        })
    }
}

impl AsFd for RawLine {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.port.as_fd()
    }
}

impl Source for RawLine {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.port.set_blocking(timeout)
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.port.set_spinning(is_spinning);
    }
}

impl Line for RawLine {
    const IS_STREAM: bool = false;

    /// Refused with the words already: there are no stamps of frames that were sent.
    fn stamp_transmits(&mut self, _: Timestamping) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn transmit_timestamps(&mut self, _: impl FnMut(Transmitted)) -> io::Result<usize> {
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
    const PONG: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);
    const OTHER: MacAddress = MacAddress([2, 0, 0, 0, 0, 3]);
    const RUN: u32 = 7;

    fn frame(to: MacAddress, from: MacAddress, run: u32) -> Vec<u8> {
        let mut frame = vec![0; raw_frame::length(14)];
        message::write(raw_frame::write(&mut frame, to, from, 14), 5, run);
        frame
    }

    #[test]
    fn the_first_who_answers_is_the_pong() {
        let answer = frame(OWN, PONG, RUN);
        let Arrival::Introduced(peer, message) = judge(&answer, OWN, None, RUN) else {
            panic!("an answer introduces the pong");
        };
        assert_eq!((peer, message::read(message, 5, RUN)), (PONG, Some(5)));
        let again = judge(&answer, OWN, Some(PONG), RUN);
        assert!(matches!(again, Arrival::Delivered(again) if again == message));
    }

    #[test]
    fn what_is_no_answer_of_this_run_introduces_nobody() {
        let other = frame(OWN, OTHER, RUN + 1);
        assert!(matches!(judge(&other, OWN, None, RUN), Arrival::Delivered([])));
        let mut cut = frame(OWN, PONG, RUN);
        cut[14] = 0xff;
        assert!(matches!(judge(&cut, OWN, None, RUN), Arrival::Delivered([])));
    }

    #[test]
    fn a_second_pong_answers_to_nothing() {
        let other = frame(OWN, OTHER, RUN);
        assert!(matches!(judge(&other, OWN, Some(PONG), RUN), Arrival::Delivered([])));
    }

    #[test]
    fn frames_to_others_and_to_everyone_are_passed_over() {
        for to in [OTHER, MacAddress::BROADCAST] {
            let frame = frame(to, PONG, RUN);
            assert!(matches!(judge(&frame, OWN, Some(PONG), RUN), Arrival::Foreign));
        }
        assert!(matches!(judge(&[0; 15], OWN, None, RUN), Arrival::Foreign));
    }
}
