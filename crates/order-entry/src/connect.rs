//! How connections are made, and what is seen of them.

use std::fmt;
use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::{Meta, Source, Stream, TcpOptions, TcpStream};

/// Makes the connections of a session, and may see what leaves and comes by them.
pub trait Connect {
    /// What it makes.
    type Stream: Stream + Source;

    /// Begins to connect to `gateway`. The stream may be connected already, or become so later.
    ///
    /// # Errors
    /// The endpoint's, as far as it knows at once.
    fn dial(&mut self, gateway: SocketAddrV4) -> io::Result<Self::Stream>;

    /// Sees the bytes of a frame, framing header included, before the first of them leaves: each
    /// frame once, in the order they leave, also one that has to wait for its turn, and may then
    /// not leave because the connection ends. One that is sent again is seen again.
    ///
    /// Business messages are seen when they are in the journal, in the middle of the send: whatever
    /// this does delays them. Of Negotiate and Establish HMACSignature and AccessKeyID are masked
    /// with asterisks. Nothing is done by default, and costs nothing.
    #[inline]
    fn on_frame(&mut self, frame: &[u8]) {
        let _ = frame;
    }

    /// Sees bytes that have arrived, before the session does: as the connection has handed them
    /// over, so that frames may begin and end anywhere in them. [`Meta`] says when they came, where
    /// the connection was asked to take the time
    /// ([`TcpOptions::timestamping`](hairpin_endpoint::TcpOptions)); with the time in a callback it
    /// tells what the way there has taken.
    ///
    /// It stands between the bytes and their callbacks, and delays these. Nothing is done by
    /// default, and costs nothing.
    #[inline]
    fn on_received(&mut self, meta: Meta, bytes: &[u8]) {
        let _ = (meta, bytes);
    }
}

/// Connects by the kernel's TCP.
#[derive(Debug, Default, Clone, Copy)]
pub struct TcpConnect {
    /// Options of each connection.
    pub options: TcpOptions,
}

impl Connect for TcpConnect {
    type Stream = TcpStream;

    fn dial(&mut self, gateway: SocketAddrV4) -> io::Result<TcpStream> {
        TcpStream::connect(gateway, self.options)
    }
}

/// Connects as another does, and shows each frame to a closure before it leaves: see
/// [`Connect::on_frame`].
///
/// ```
/// use hairpin_order_entry::{TcpConnect, FrameTap};
///
/// let mut bytes = 0;
/// let dial = FrameTap::new(TcpConnect::default(), |frame: &[u8]| bytes += frame.len());
/// # let _ = dial;
/// ```
#[derive(Clone, Copy)]
pub struct FrameTap<D, F> {
    dial: D,
    watch: F,
}

impl<D: Connect, F: FnMut(&[u8])> FrameTap<D, F> {
    /// Connects as `dial` does; `watch` sees what leaves.
    pub const fn new(dial: D, watch: F) -> Self {
        Self { dial, watch }
    }
}

impl<D: fmt::Debug, F> fmt::Debug for FrameTap<D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameTap").field("dial", &self.dial).finish_non_exhaustive()
    }
}

impl<D: Connect, F: FnMut(&[u8])> Connect for FrameTap<D, F> {
    type Stream = D::Stream;

    fn dial(&mut self, gateway: SocketAddrV4) -> io::Result<D::Stream> {
        self.dial.dial(gateway)
    }

    #[inline]
    fn on_frame(&mut self, frame: &[u8]) {
        self.dial.on_frame(frame);
        (self.watch)(frame);
    }

    #[inline]
    fn on_received(&mut self, meta: Meta, bytes: &[u8]) {
        self.dial.on_received(meta, bytes);
    }
}
