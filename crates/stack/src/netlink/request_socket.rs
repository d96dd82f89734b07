//! The netlink socket for requests and their replies, one request at a time.

use std::io;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
    NetlinkSerializable,
};
use netlink_sys::SocketAddr;

use super::message::{self, Answer, Dump, RequestId};
use super::socket::Socket;

/// The size of the receive buffer. The kernel's dumps use datagrams of up to 32 KiB
/// (netlink_recvmsg).
const DATAGRAM: usize = 64 * 1_024;
/// The most attempts at a dump that is interrupted by changes.
const ATTEMPTS: u32 = 16;

/// A netlink socket for requests. It is connected to the kernel, so datagrams from other senders
/// are rejected.
#[derive(Debug)]
pub struct RequestSocket {
    socket: Socket,
    request_id: RequestId,
    datagram: Vec<u8>,
}

impl RequestSocket {
    /// Opens a socket for the calling thread's network namespace and a netlink protocol.
    ///
    /// # Errors
    /// Those of creating a socket.
    pub fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        let port = socket.bind_auto()?.port_number();
        socket.connect(&SocketAddr::new(0, 0))?;
        // The reply is queued before the request has been sent completely.
        socket.set_non_blocking(true)?;
        let request_id = RequestId { sequence: 0, port };
        Ok(Self { socket, request_id, datagram: Vec::with_capacity(DATAGRAM) })
    }

    /// Makes the kernel evaluate all fields of a request and filter dumps by them.
    ///
    /// # Errors
    /// A kernel before Linux 4.20.
    pub fn enable_strict_checking(&self) -> io::Result<()> {
        self.socket.set_netlink_get_strict_chk(true)
    }

    /// Sends a request with one reply.
    ///
    /// # Errors
    /// The kernel's; `InvalidData` if the reply is malformed.
    pub fn request<M: NetlinkSerializable, T>(
        &mut self,
        request: M,
        parse: impl FnOnce(u16, &[u8]) -> Option<T>,
    ) -> io::Result<T> {
        self.send(request, 0)?;
        loop {
            self.receive()?;
            let mut answers = message::messages(&self.datagram);
            if let Some(answer) = answers.find_map(|message| message.answer(self.request_id)) {
                return message::single(answer, parse);
            }
        }
    }

    /// Sends a command; `flags` are added to those of every request.
    ///
    /// # Errors
    /// The kernel's.
    pub fn command<M: NetlinkSerializable>(&mut self, order: M, flags: u16) -> io::Result<()> {
        self.send(order, NLM_F_ACK | flags)?;
        loop {
            self.receive()?;
            let mut answers = message::messages(&self.datagram);
            match answers.find_map(|message| message.answer(self.request_id)) {
                None | Some(Answer::Message { .. }) => {}
                Some(Answer::Done) => return Ok(()),
                Some(Answer::Refused(number)) => return Err(io::Error::from_raw_os_error(number)),
                Some(Answer::Malformed) => return Err(message::malformed()),
            }
        }
    }

    /// Sends a request with any number of replies, again if they change meanwhile. Replies for
    /// which `parse` returns `None` are skipped.
    ///
    /// # Errors
    /// The kernel's; `ResourceBusy` if they keep changing.
    pub fn dump<M: NetlinkSerializable + Clone, E>(
        &mut self,
        request: &M,
        mut parse: impl FnMut(u16, &[u8]) -> Option<E>,
    ) -> io::Result<Vec<E>> {
        uninterrupted(|| {
            self.send(request.clone(), NLM_F_DUMP)?;
            let mut dump = Dump::new(self.request_id);
            loop {
                self.receive()?;
                if dump.take(&self.datagram, &mut parse)? {
                    return Ok(dump.finish());
                }
            }
        })
    }

    fn send<M: NetlinkSerializable>(&mut self, message: M, flags: u16) -> io::Result<()> {
        self.request_id.sequence = self.request_id.sequence.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        header.sequence_number = self.request_id.sequence;
        header.flags = NLM_F_REQUEST | flags;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0).map(drop)
    }

    fn receive(&mut self) -> io::Result<()> {
        self.datagram.clear();
        let length = self.socket.recv(&mut self.datagram, libc::MSG_TRUNC)?;
        if length > self.datagram.len() {
            return Err(message::malformed());
        }
        Ok(())
    }
}

/// Repeats an operation until it was not interrupted.
fn uninterrupted<T>(mut once: impl FnMut() -> io::Result<Option<T>>) -> io::Result<T> {
    for _ in 0..ATTEMPTS {
        if let Some(complete) = once()? {
            return Ok(complete);
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_dumps_are_retried_a_limited_number_of_times() {
        let mut attempts = 0;
        let mut until = |complete: u32| {
            attempts = 0;
            uninterrupted(|| {
                attempts += 1;
                Ok((attempts == complete).then_some(attempts))
            })
        };
        assert_eq!(until(1).unwrap(), 1);
        assert_eq!(until(ATTEMPTS).unwrap(), ATTEMPTS);
        assert_eq!(until(ATTEMPTS + 1).unwrap_err().kind(), io::ErrorKind::ResourceBusy);
        let broken = || Err::<Option<()>, _>(io::ErrorKind::InvalidData.into());
        assert_eq!(uninterrupted(broken).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
