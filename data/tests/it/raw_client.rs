//! A FIX client that sends exactly what a test asks for.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::quickfix::Logged;

/// A connection, with the number of the next message.
pub(crate) struct RawClient {
    stream: TcpStream,
    input: Vec<u8>,
    name: String,
    pub(crate) next: u32,
}

impl RawClient {
    pub(crate) fn connect(port: u16, name: &str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
        Self { stream, input: Vec::new(), name: name.to_owned(), next: 1 }
    }

    /// Connects and logs on with a first number and other fields.
    pub(crate) fn log_on(port: u16, name: &str, number: u32, fields: &str) -> Self {
        let mut client = Self::connect(port, name);
        client.next = number;
        client.send("A", &format!("98=0|{fields}"));
        client
    }

    /// Sends a message with the next number. Fields are separated by bars.
    pub(crate) fn send(&mut self, msg_type: &str, fields: &str) {
        let message = self.message(msg_type, self.next, fields);
        self.send_bytes(&message);
        self.next += 1;
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub(crate) fn message(&self, msg_type: &str, number: u32, fields: &str) -> Vec<u8> {
        let name = &self.name;
        let bar = if fields.is_empty() || fields.ends_with('|') { "" } else { "|" };
        let body = format!(
            "35={msg_type}|34={number}|49={name}|52=20251124-22:00:00|56=HAIRPIN|{fields}{bar}"
        );
        let message = format!("8=FIX.4.4|9={}|{body}", body.len()).replace('|', "\u{1}");
        let sum: u32 = message.bytes().map(u32::from).sum();
        format!("{message}10={:03}\u{1}", sum % 256).into_bytes()
    }

    /// Returns the next message, or `None` if the connection is closed.
    pub(crate) fn receive(&mut self) -> Option<Logged> {
        loop {
            let text = String::from_utf8_lossy(&self.input).replace('\u{1}', "|");
            if let Some(start) = text.find("|10=")
                && text.len() >= start + 8
            {
                let message = text[..start + 8].to_owned();
                self.input.drain(..start + 8);
                return Some(Logged::new(&format!("in {message}")));
            }
            let mut buffer = [0; 4_096];
            match self.stream.read(&mut buffer) {
                Ok(0) => return None,
                Ok(count) => self.input.extend_from_slice(&buffer[..count]),
                // A stopped and continued process with a timeout is interrupted.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Returns the next message, which has this type.
    #[track_caller]
    pub(crate) fn expect(&mut self, msg_type: &str) -> Logged {
        let message = self.receive().expect("the connection is closed");
        assert_eq!(message.field(35), msg_type, "{message:?}");
        message
    }

    /// Asserts that the next message is a Logout with this text, and that the connection ends.
    #[track_caller]
    pub(crate) fn expect_logout(&mut self, text: &str) {
        assert_eq!(self.expect("5").field(58), text);
        assert!(self.receive().is_none());
    }
}
