//! The transport of pings in raw frames.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use anyhow::{Result, bail};
use hairpin_cli_harness::raw_port::RawPort;
use hairpin_endpoint::{
    Blocker, Meta, Receive, Received, Source, Timestamp, Timestamping, Transmit, Transmitted,
};
use hairpin_time::Duration;
use hairpin_wire::MacAddress;

use super::message;
use super::ping_transport::PingTransport;
use super::raw_frame::{self, ETHER_TYPE, HEADER, RawFrame};
use super::setup::PingSetup;

/// A frame has no IP address and no timestamp.
const META: Meta =
    Meta { source: SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0), timestamp: Timestamp::None };

/// A raw-frame connection to one pong.
#[derive(Debug)]
pub(crate) struct RawTransport {
    port: RawPort,
    /// The pong; until it is known, pings are broadcast, and the first that answers is used.
    peer: Option<MacAddress>,
    run: u32,
}

/// Opens the transport to the pong, and describes its datapath.
///
/// # Errors
/// Those of the stack; messages too long for the interface.
pub(crate) fn raw(setup: &PingSetup) -> Result<(Vec<RawTransport>, String)> {
    let PingSetup { device, transport, size, remote, .. } = setup;
    let port = RawPort::open(device, transport, ETHER_TYPE)?;
    let most = port.longest - HEADER;
    if *size > most {
        bail!("a raw frame carries at most {most} bytes");
    }
    let datapath = port.datapath.clone();
    let line = RawTransport { port, peer: remote.mac.map(MacAddress), run: std::process::id() };
    Ok((vec![line], datapath))
}

/// A received frame, classified.
enum Arrival<'a> {
    /// For another host.
    Foreign,
    /// Delivered; an empty message counts as an unexpected answer.
    Delivered(&'a [u8]),
    /// The first answer, which identifies the pong.
    Introduced(MacAddress, &'a [u8]),
}

/// Classifies a frame received at `own`; `peer` is the pong of `run`, if known.
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
        // Other programs may use the same EtherType.
        None if !message.is_empty() && message::read(message, 0, run).is_some() => {
            Arrival::Introduced(source, message)
        }
        None => Arrival::Delivered(&[]),
    }
}

impl Receive for RawTransport {
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

impl Transmit for RawTransport {
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

impl AsFd for RawTransport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.port.as_fd()
    }
}

impl Source for RawTransport {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.port.set_blocking(timeout)
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.port.set_spinning(is_spinning);
    }
}

impl PingTransport for RawTransport {
    const IS_STREAM: bool = false;

    /// Returns an error: sent frames have no timestamps, which the arguments were checked for.
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
    fn uses_first_answer_as_pong() {
        let answer = frame(OWN, PONG, RUN);
        let Arrival::Introduced(peer, message) = judge(&answer, OWN, None, RUN) else {
            panic!("an answer introduces the pong");
        };
        assert_eq!((peer, message::read(message, 5, RUN)), (PONG, Some(5)));
        let again = judge(&answer, OWN, Some(PONG), RUN);
        assert!(matches!(again, Arrival::Delivered(again) if again == message));
    }

    #[test]
    fn ignores_answers_of_other_runs() {
        let other = frame(OWN, OTHER, RUN + 1);
        assert!(matches!(judge(&other, OWN, None, RUN), Arrival::Delivered([])));
        let mut cut = frame(OWN, PONG, RUN);
        cut[14] = 0xff;
        assert!(matches!(judge(&cut, OWN, None, RUN), Arrival::Delivered([])));
    }

    #[test]
    fn ignores_answers_of_second_pong() {
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
