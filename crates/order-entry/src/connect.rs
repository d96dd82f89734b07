//! The connector of a session, with hooks for its frames.

use std::fmt;
use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::{Meta, Source, Stream, TcpOptions, TcpStream, Transport};

/// A connector of a session, with optional hooks for sent and received bytes.
pub trait Connect {
    /// The connection type.
    type Stream: Stream + Source;

    /// Starts to connect to `gateway`. The returned stream may be connected already, or connect
    /// later.
    ///
    /// # Errors
    /// The endpoint's error, as far as it is known immediately.
    fn connect(&mut self, gateway: SocketAddrV4) -> io::Result<Self::Stream>;

    /// Called with each frame, framing header included, before its first byte is written.
    ///
    /// Each frame is passed once, in the order of sending. A queued frame is passed too, although
    /// it may never be sent if the connection ends. A replayed frame is passed again.
    ///
    /// Business messages are passed after they are journaled, inside the send call, so this hook
    /// delays them. HMACSignature and AccessKeyID of Negotiate and Establish are masked with
    /// asterisks. The default does nothing and costs nothing.
    #[inline]
    fn on_frame(&mut self, frame: &[u8]) {
        let _ = frame;
    }

    /// Called with received bytes before the session processes them. Frames may begin and end
    /// anywhere in `bytes`.
    ///
    /// [`Meta`] has the receive timestamp, if the connection was asked for timestamps
    /// ([`TcpOptions::timestamping`](hairpin_endpoint::TcpOptions)). The difference to the time in
    /// a callback is the receive latency. This hook delays the callbacks. The default does nothing
    /// and costs nothing.
    #[inline]
    fn on_received(&mut self, meta: Meta, bytes: &[u8]) {
        let _ = (meta, bytes);
    }
}

/// Connects over TCP, through the kernel or with kernel bypass.
#[derive(Debug, Default, Clone)]
pub struct TcpConnect {
    /// The options of each connection.
    pub options: TcpOptions,
    /// The transport of each connection. Default: the kernel.
    pub transport: Transport,
}

impl Connect for TcpConnect {
    type Stream = TcpStream;

    fn connect(&mut self, gateway: SocketAddrV4) -> io::Result<TcpStream> {
        TcpStream::connect_with(&self.transport, gateway, self.options)
    }
}

/// A connector that passes each sent frame to a closure: see [`Connect::on_frame`].
///
/// ```
/// use hairpin_order_entry::{TcpConnect, FrameTap};
///
/// let mut bytes = 0;
/// let connect = FrameTap::new(TcpConnect::default(), |frame: &[u8]| bytes += frame.len());
/// # let _ = connect;
/// ```
#[derive(Clone, Copy)]
pub struct FrameTap<D, F> {
    connect: D,
    tap: F,
}

impl<D: Connect, F: FnMut(&[u8])> FrameTap<D, F> {
    /// Creates a tap: connects with `connect`, and passes sent frames to `tap`.
    pub const fn new(connect: D, tap: F) -> Self {
        Self { connect, tap }
    }
}

impl<D: fmt::Debug, F> fmt::Debug for FrameTap<D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameTap").field("connect", &self.connect).finish_non_exhaustive()
    }
}

impl<D: Connect, F: FnMut(&[u8])> Connect for FrameTap<D, F> {
    type Stream = D::Stream;

    fn connect(&mut self, gateway: SocketAddrV4) -> io::Result<D::Stream> {
        self.connect.connect(gateway)
    }

    #[inline]
    fn on_frame(&mut self, frame: &[u8]) {
        self.connect.on_frame(frame);
        (self.tap)(frame);
    }

    #[inline]
    fn on_received(&mut self, meta: Meta, bytes: &[u8]) {
        self.connect.on_received(meta, bytes);
    }
}
