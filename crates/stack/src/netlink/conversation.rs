//! Questions to the kernel and their answers, one at a time.

use std::io;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
    NetlinkSerializable,
};
use netlink_sys::SocketAddr;

use super::message::{self, Answer, Asked, Dump};
use super::socket::Socket;

/// The kernel's dumps come in datagrams of up to 32 KiB (netlink_recvmsg).
const DATAGRAM: usize = 64 * 1_024;
/// How often a dump is begun that others interrupt.
const ATTEMPTS: u32 = 16;

/// A socket that asks, and the kernel that answers.
///
/// It is connected to the kernel: what others send to it is refused where they send it.
#[derive(Debug)]
pub(crate) struct Conversation {
    socket: Socket,
    asked: Asked,
    datagram: Vec<u8>,
}

impl Conversation {
    /// Talks about the network namespace of the calling thread, by one of netlink's protocols.
    ///
    /// # Errors
    /// Those of making a socket.
    pub(crate) fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        let port = socket.bind_auto()?.port_number();
        socket.connect(&SocketAddr::new(0, 0))?;
        // An answer is there before its question has been sent.
        socket.set_non_blocking(true)?;
        let asked = Asked { sequence: 0, port };
        Ok(Self { socket, asked, datagram: Vec::with_capacity(DATAGRAM) })
    }

    /// Has the kernel look at all of a question, and so select by it what it dumps.
    ///
    /// # Errors
    /// A kernel before Linux 4.20.
    pub(crate) fn check_strictly(&self) -> io::Result<()> {
        self.socket.set_netlink_get_strict_chk(true)
    }

    /// Asks what has one answer.
    ///
    /// # Errors
    /// The kernel's; `InvalidData` if the answer does not parse.
    pub(crate) fn ask<M: NetlinkSerializable, T>(
        &mut self,
        question: M,
        parse: impl FnOnce(u16, &[u8]) -> Option<T>,
    ) -> io::Result<T> {
        self.send(question, 0)?;
        loop {
            self.receive()?;
            let mut answers = message::messages(&self.datagram);
            if let Some(answer) = answers.find_map(|message| message.answer(self.asked)) {
                return message::single(answer, parse);
            }
        }
    }

    /// Has the kernel do something; `flags` beside those of every request.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn tell<M: NetlinkSerializable>(&mut self, order: M, flags: u16) -> io::Result<()> {
        self.send(order, NLM_F_ACK | flags)?;
        loop {
            self.receive()?;
            let mut answers = message::messages(&self.datagram);
            match answers.find_map(|message| message.answer(self.asked)) {
                None | Some(Answer::Message { .. }) => {}
                Some(Answer::Done) => return Ok(()),
                Some(Answer::Refused(number)) => return Err(io::Error::from_raw_os_error(number)),
                Some(Answer::Malformed) => return Err(message::malformed()),
            }
        }
    }

    /// Asks what has any number of answers, and anew if they change meanwhile. What `parse` does
    /// not want is passed over.
    ///
    /// # Errors
    /// The kernel's; `ResourceBusy` if they never stay as they are.
    pub(crate) fn dump<M: NetlinkSerializable + Clone, E>(
        &mut self,
        question: &M,
        mut parse: impl FnMut(u16, &[u8]) -> Option<E>,
    ) -> io::Result<Vec<E>> {
        uninterrupted(|| {
            self.send(question.clone(), NLM_F_DUMP)?;
            let mut dump = Dump::new(self.asked);
            loop {
                self.receive()?;
                if dump.take(&self.datagram, &mut parse)? {
                    return Ok(dump.finish());
                }
            }
        })
    }

    fn send<M: NetlinkSerializable>(&mut self, message: M, flags: u16) -> io::Result<()> {
        self.asked.sequence = self.asked.sequence.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        header.sequence_number = self.asked.sequence;
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

/// Does a thing until nothing has come in between.
fn uninterrupted<T>(mut once: impl FnMut() -> io::Result<Option<T>>) -> io::Result<T> {
    for _ in 0..ATTEMPTS {
        if let Some(whole) = once()? {
            return Ok(whole);
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_interrupted_is_begun_anew_but_not_for_ever() {
        let mut attempts = 0;
        let mut until = |whole: u32| {
            attempts = 0;
            uninterrupted(|| {
                attempts += 1;
                Ok((attempts == whole).then_some(attempts))
            })
        };
        assert_eq!(until(1).unwrap(), 1);
        assert_eq!(until(ATTEMPTS).unwrap(), ATTEMPTS);
        assert_eq!(until(ATTEMPTS + 1).unwrap_err().kind(), io::ErrorKind::ResourceBusy);
        let broken = || Err::<Option<()>, _>(io::ErrorKind::InvalidData.into());
        assert_eq!(uninterrupted(broken).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
