//! How connections are made.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::{Source, Stream, TcpOptions, TcpStream};

/// Makes the connections of a session.
pub trait Dial {
    /// What it makes.
    type Stream: Stream + Source;

    /// Begins to connect to `gateway`. The stream may be connected already, or become so later.
    ///
    /// # Errors
    /// The endpoint's, as far as it knows at once.
    fn dial(&mut self, gateway: SocketAddrV4) -> io::Result<Self::Stream>;
}

/// Connects by the kernel's TCP.
#[derive(Debug, Default, Clone, Copy)]
pub struct TcpDial {
    /// Options of each connection.
    pub options: TcpOptions,
}

impl Dial for TcpDial {
    type Stream = TcpStream;

    fn dial(&mut self, gateway: SocketAddrV4) -> io::Result<TcpStream> {
        TcpStream::connect(gateway, self.options)
    }
}
