//! An AF_XDP socket before its use: created, mapped, bound.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use crate::mapping::Mapping;
use crate::ring::{Descriptor, Offsets};
use crate::socket::{BIND_PAUSE, BusyPolling, CopyMode, SocketError, SocketSettings};
use crate::umem::Umem;
use crate::xsk_socket::{Ring, XskSocket};

/// A socket whose rings have their sizes. Its rings are mapped first, and then it is bound: before
/// Linux 6.4, the rings of a bound socket cannot be mapped.
#[derive(Debug)]
pub(crate) struct PreparedSocket {
    pub(crate) xsk: XskSocket,
    pub(crate) queue: u32,
    /// After binding, `long_frames` is `true` only if the kernel supports them.
    pub(crate) settings: SocketSettings,
}

impl PreparedSocket {
    /// Creates a socket for a queue, and registers the UMEM with it. Without a UMEM, the socket
    /// will share that of another one.
    pub(crate) fn new(
        queue: u32,
        umem: Option<&Umem>,
        settings: &SocketSettings,
    ) -> Result<Self, SocketError> {
        let xsk = XskSocket::new().map_err(SocketError::Open)?;
        if let Some(umem) = umem {
            xsk.register(umem).map_err(|reason| match reason.raw_os_error() {
                Some(libc::ENOBUFS) => SocketError::MemlockLimit(umem.total_bytes()),
                _ => SocketError::Register(reason),
            })?;
        }
        for ring in [Ring::Fill, Ring::Completion, Ring::Receive, Ring::Transmit] {
            let refused = |reason| SocketError::Ring(ring.name(), reason);
            xsk.set_ring_size(ring, settings.ring).map_err(refused)?;
        }
        if let Some(BusyPolling { microseconds, budget }) = settings.busy_polling {
            xsk.set_busy_polling(microseconds, budget).map_err(SocketError::BusyPolling)?;
        }
        Ok(Self { xsk, queue, settings: settings.clone() })
    }

    /// Wraps the descriptor of a socket that another process has prepared for `queue` with these
    /// settings.
    pub(crate) fn from_fd(
        descriptor: OwnedFd,
        queue: u32,
        settings: &SocketSettings,
    ) -> Result<Self, SocketError> {
        let xsk = XskSocket::from_fd(descriptor).map_err(SocketError::Open)?;
        Ok(Self { xsk, queue, settings: settings.clone() })
    }

    /// Maps the rings. The socket is not bound, or the kernel is Linux 6.4 or newer.
    pub(crate) fn map(&self) -> Result<Rings, SocketError> {
        let (xsk, size) = (&self.xsk, self.settings.ring);
        let refused = |ring: Ring| move |reason| SocketError::Ring(ring.name(), reason);
        let addresses = |ring| xsk.map_ring::<u64>(ring, size).map_err(refused(ring));
        let descriptors = |ring| xsk.map_ring::<Descriptor>(ring, size).map_err(refused(ring));
        Ok(Rings {
            fill: addresses(Ring::Fill)?,
            completion: addresses(Ring::Completion)?,
            receive: descriptors(Ring::Receive)?,
            transmit: descriptors(Ring::Transmit)?,
        })
    }

    /// Binds the socket to its queue of an interface. `first` is the socket whose UMEM it shares,
    /// if it has none.
    pub(crate) fn bind(
        &mut self,
        interface: u32,
        first: Option<BorrowedFd<'_>>,
    ) -> Result<(), SocketError> {
        let Self { queue, ref settings, .. } = *self;
        let until = Instant::now() + settings.bind_timeout;
        loop {
            let reason = match self.try_bind(interface, first) {
                Ok(takes_long_frames) => {
                    self.settings.long_frames = takes_long_frames;
                    return Ok(());
                }
                Err(reason) => reason,
            };
            match reason.raw_os_error() {
                Some(libc::EBUSY) if Instant::now() < until => std::thread::sleep(BIND_PAUSE),
                Some(libc::EBUSY) => {
                    let bind_timeout = settings.bind_timeout;
                    return Err(SocketError::QueueBusy { queue, bind_timeout });
                }
                Some(libc::EOPNOTSUPP | libc::EPROTONOSUPPORT)
                    if settings.copy_mode == CopyMode::ZeroCopy =>
                {
                    return Err(SocketError::NoZeroCopy(queue));
                }
                _ => return Err(SocketError::Bind { queue, reason }),
            }
        }
    }

    /// Returns `true` if frames that are longer than a frame of the UMEM will arrive in parts.
    fn try_bind(&self, interface: u32, first: Option<BorrowedFd<'_>>) -> io::Result<bool> {
        let Self { xsk, queue, settings } = self;
        if first.is_some() {
            // The mode of the first socket applies.
            xsk.bind(interface, *queue, libc::XDP_SHARED_UMEM, first)?;
            return Ok(settings.long_frames);
        }
        let flags = libc::XDP_USE_NEED_WAKEUP
            | match settings.copy_mode {
                CopyMode::Auto => 0,
                CopyMode::Copy => libc::XDP_COPY,
                CopyMode::ZeroCopy => libc::XDP_ZEROCOPY,
            };
        if settings.long_frames {
            match xsk.bind(interface, *queue, flags | libc::XDP_USE_SG, None) {
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
                bound => return bound.map(|()| true),
            }
        }
        xsk.bind(interface, *queue, flags, None).map(|()| false)
    }
}

/// The mapped rings of a socket.
pub(crate) struct Rings {
    pub(crate) fill: MappedRing,
    pub(crate) completion: MappedRing,
    pub(crate) receive: MappedRing,
    pub(crate) transmit: MappedRing,
}

/// The memory of a ring, and where its parts begin.
type MappedRing = (Mapping, Offsets);

impl AsFd for PreparedSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.xsk.as_fd()
    }
}
