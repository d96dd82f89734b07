//! An interface before its use: prepared, by a process with the capabilities, and opened.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::{fmt, io};

use crate::capabilities::check_capabilities;
use crate::device::{Device, ETHERNET_HEADER, LinkState};
use crate::filter::{
    Entry, EntryError, Filter, FilterSettings, Link, LinkError, Mode, Stamping, Verdict,
};
use crate::fork_guard::without_forks;
use crate::frame_pool::FramePool;
use crate::interface::{InterfaceError, InterfaceSettings};
use crate::kernel_release;
use crate::plan::{check_frames, check_mode, check_mtu, resolve_mode};
use crate::prepared_socket::{PreparedSocket, Rings};
use crate::socket::{CopyMode, Socket, SocketError, SocketSettings};
use crate::timestamp::ReceiveStamps;
use crate::umem::Umem;
use crate::xsk_socket::XskSocket;

/// The number of descriptors apart from the sockets: memory and link.
const COMMON: usize = 2;
/// The size of an IPv6 header.
const IPV6_HEADER: u32 = 40;

/// An interface that another process has prepared for this one.
#[derive(Debug)]
pub struct ReceivedInterface {
    /// [`PreparedInterface::mode`].
    pub mode: Mode,
    /// [`PreparedInterface::receive_stamps`].
    pub receive_stamps: ReceiveStamps,
    /// [`PreparedInterface::frame_size`].
    pub frame_size: u32,
    /// [`PreparedInterface::descriptors`].
    pub descriptors: Vec<OwnedFd>,
}

/// An open interface whose rings are empty: the filter is attached, and each receive queue has an
/// AF_XDP socket.
///
/// [`Interface::from_opened`](crate::Interface::from_opened) uses it.
pub struct OpenedInterface {
    /// Dropped first, so that nothing is redirected while the sockets close.
    pub(crate) link: Link,
    pub(crate) sockets: Vec<Socket>,
    pub(crate) umem: Umem,
    pub(crate) pool: FramePool,
    /// `None` if another process has it.
    pub(crate) filter: Option<Filter>,
    pub(crate) device: Device,
    pub(crate) receive_stamps: ReceiveStamps,
    /// The settings of the sockets and the memory, and the requested timestamps.
    pub(crate) settings: InterfaceSettings,
}

impl OpenedInterface {
    /// Opens an interface by name.
    ///
    /// # Errors
    /// See [`InterfaceError`].
    pub fn open(name: &str, settings: &InterfaceSettings) -> Result<Self, InterfaceError> {
        PreparedInterface::new(name, settings)?.open()
    }

    /// Takes over an interface that another process has prepared with these settings, and that no
    /// process has used. That process keeps the filter ([`PreparedInterface::keep`]). No capability
    /// is required. `bind` makes that process bind the sockets, and returns what
    /// [`PreparedInterface::bind`] returned. Forks of other threads wait meanwhile.
    ///
    /// # Safety
    /// The descriptors are those of [`PreparedInterface::descriptors`], in the same order, and no
    /// other process uses the rings or the memory.
    ///
    /// # Errors
    /// See [`InterfaceError`]; those of `receive` and `bind`.
    pub unsafe fn from_fds<E: From<InterfaceError>>(
        name: &str,
        settings: &InterfaceSettings,
        receive: impl FnOnce() -> Result<ReceivedInterface, E>,
        bind: impl FnOnce() -> Result<bool, E>,
    ) -> Result<Self, E> {
        without_forks(|| {
            let received = receive()?;
            // SAFETY: the caller guarantees the same conditions.
            unsafe { Self::from_received(name, settings, received, bind) }
        })
    }

    /// # Safety
    /// As for [`from_fds`](Self::from_fds).
    unsafe fn from_received<E: From<InterfaceError>>(
        name: &str,
        settings: &InterfaceSettings,
        received: ReceivedInterface,
        bind: impl FnOnce() -> Result<bool, E>,
    ) -> Result<Self, E> {
        let ReceivedInterface { mode, receive_stamps, frame_size, descriptors: mut fds } = received;
        let too_few = || InterfaceError::Sockets(io::ErrorKind::InvalidData.into());
        let sockets =
            if fds.len() > COMMON { fds.split_off(COMMON) } else { return Err(too_few().into()) };
        let [memory, link] = <[OwnedFd; COMMON]>::try_from(fds).map_err(|_| too_few())?;
        let queues = sockets.len() as u32;
        let device = Device::from_name(name).map_err(InterfaceError::from)?;
        let device = Device { queues, ..device };
        let frames = settings.umem.of_size(frame_size);
        let umem = Umem::open(memory.into(), &frames).map_err(InterfaceError::from)?;
        let pool = umem.all_frames();
        let link = Link::from_fd(link, mode).map_err(InterfaceError::Sockets)?;
        let failed = |reason| InterfaceError::Socket { name: name.to_string(), reason };
        // `bind` answers whether long frames arrive in parts.
        let mut socket = socket_settings(settings, mode, receive_stamps, false).map_err(failed)?;
        let prepared = |(queue, fd)| PreparedSocket::from_fd(fd, queue, &socket);
        let sockets: Result<Vec<_>, _> = (0..).zip(sockets).map(prepared).collect();
        let mut sockets = sockets.map_err(failed)?;
        let rings = map_rings(&sockets).map_err(failed)?;
        socket.long_frames = bind()?;
        sockets.iter_mut().for_each(|it| it.settings.long_frames = socket.long_frames);
        // SAFETY: the caller guarantees that the memory belongs to the sockets, and that there is
        // no other user.
        let sockets = unsafe { complete(sockets, rings, &umem) }.map_err(failed)?;
        let settings = InterfaceSettings { socket, umem: frames, ..settings.clone() };
        let filter = None;
        Ok(Self { link, sockets, umem, pool, filter, device, receive_stamps, settings })
    }
}

/// An interface whose filter is attached, with a socket for each receive queue that is not bound
/// yet. Before Linux 6.4 the rings of a bound socket cannot be mapped.
///
/// A process with the capabilities prepares the interface and passes the descriptors to one
/// without, which maps the rings and uses them ([`OpenedInterface::from_fds`]); between the two it
/// binds the sockets.
pub struct PreparedInterface {
    /// Dropped first, so that nothing is redirected while the sockets close.
    link: Link,
    sockets: Vec<PreparedSocket>,
    umem: Umem,
    pool: FramePool,
    filter: Filter,
    device: Device,
    receive_stamps: ReceiveStamps,
    settings: InterfaceSettings,
    link_state: LinkState,
    /// After the sockets have been bound: long frames arrive in parts.
    bound: Option<bool>,
}

impl PreparedInterface {
    /// Prepares an interface by name.
    ///
    /// # Errors
    /// See [`InterfaceError`].
    pub fn new(name: &str, settings: &InterfaceSettings) -> Result<Self, InterfaceError> {
        check_capabilities()?;
        let device = Device::from_name(name)?;
        let settings =
            &InterfaceSettings { umem: settings.umem.for_mtu(device.mtu), ..settings.clone() };
        check_mtu(&device, &settings.umem, settings.socket.long_frames)?;
        check_frames(&device, &settings.umem)?;
        let (umem, pool) = Umem::create(&settings.umem)?;
        let link_state = LinkState::new(name);
        let is_jumbo = device.mtu > settings.umem.max_mtu();
        let (filter, link, receive_stamps) = attach_filter(&device, settings, is_jumbo)?;
        let failed = |reason| InterfaceError::Socket { name: name.to_string(), reason };
        let mode = link.mode();
        let socket = socket_settings(settings, mode, receive_stamps, is_jumbo).map_err(failed)?;
        let unbound = |queue| {
            let umem = (queue == 0).then_some(&umem);
            PreparedSocket::new(queue, umem, &socket)
        };
        let sockets: Result<Vec<_>, _> = (0..device.queues).map(unbound).collect();
        let sockets = sockets.map_err(failed)?;
        let settings = InterfaceSettings { socket, ..settings.clone() };
        let bound = None;
        Ok(Self {
            link,
            sockets,
            umem,
            pool,
            filter,
            device,
            receive_stamps,
            settings,
            link_state,
            bound,
        })
    }

    /// Returns the descriptors that another process needs; `None` unless the memory is
    /// [`Backing::Shared`](crate::Backing::Shared).
    #[must_use]
    pub fn descriptors(&self) -> Option<Vec<BorrowedFd<'_>>> {
        let mut all = vec![self.umem.file()?, self.link.as_fd()];
        all.extend(self.sockets.iter().map(AsFd::as_fd));
        Some(all)
    }

    /// Returns `true` if this kernel maps the rings of bound sockets: Linux 6.4 or newer. The
    /// sockets are then bound before another process receives them: it could bind one that is not
    /// to another interface.
    #[must_use]
    pub fn can_bind_first() -> bool {
        kernel_release::is_at_least(6, 4)
    }

    /// Binds the sockets to their queues, after their rings have been mapped, unless
    /// [`can_bind_first`](Self::can_bind_first). Does nothing if they are bound. Returns `true` if
    /// frames that are longer than a frame of the UMEM will arrive in parts.
    ///
    /// # Errors
    /// `Socket`.
    pub fn bind(&mut self) -> Result<bool, InterfaceError> {
        if let Some(takes_long_frames) = self.bound {
            return Ok(takes_long_frames);
        }
        let name = &self.device.name;
        let failed = |reason| InterfaceError::Socket { name: name.clone(), reason };
        let Some((first, others)) = self.sockets.split_first_mut() else { return Ok(false) };
        first.bind(self.device.index, None).map_err(failed)?;
        for socket in others {
            socket.bind(self.device.index, Some(first.as_fd())).map_err(failed)?;
        }
        self.bound = Some(first.settings.long_frames);
        Ok(first.settings.long_frames)
    }

    /// Redirects frames to the bound sockets from now on, as soon as there are entries. Returns
    /// what this process keeps; the rings and the memory belong to the other one.
    ///
    /// # Errors
    /// The kernel's.
    pub fn keep(self) -> io::Result<KeptInterface> {
        let Self { link, sockets, filter, device, .. } = self;
        for socket in &sockets {
            filter.set_socket(filter.first_slot(), socket.queue, socket.as_fd())?;
        }
        let sockets = sockets.into_iter().map(|socket| socket.xsk).collect();
        Ok(KeptInterface { link, sockets, filter, index: device.index })
    }

    /// Returns the mode of the filter.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.link.mode()
    }

    /// Returns the source of receive timestamps.
    #[must_use]
    pub fn receive_stamps(&self) -> ReceiveStamps {
        self.receive_stamps
    }

    /// Returns the size of a frame of the UMEM in bytes.
    #[must_use]
    pub fn frame_size(&self) -> u32 {
        self.settings.umem.frame_size
    }

    /// Maps the rings, binds the sockets and begins to use them, once the link is up again.
    pub fn open(mut self) -> Result<OpenedInterface, InterfaceError> {
        let name = self.device.name.clone();
        let failed = |reason| InterfaceError::Socket { name: name.clone(), reason };
        let rings = map_rings(&self.sockets).map_err(failed)?;
        self.bind()?;
        self.link_state.wait_until_restored();
        let Self { link, sockets, umem, pool, filter, device, receive_stamps, settings, .. } = self;
        let filter = Some(filter);
        // SAFETY: the sockets are new, so their rings are empty and have no other user.
        let sockets = unsafe { complete(sockets, rings, &umem) }.map_err(failed)?;
        Ok(OpenedInterface { link, sockets, umem, pool, filter, device, receive_stamps, settings })
    }
}

/// What a process keeps of an interface that it has prepared for another one: the filter, and
/// descriptors with which the interface stays open.
#[derive(Debug)]
pub struct KeptInterface {
    /// Dropped first: nothing is redirected while the sockets close.
    link: Link,
    sockets: Vec<XskSocket>,
    filter: Filter,
    index: u32,
}

impl KeptInterface {
    /// Returns the index of the interface.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Redirects the frames that match `entry`, from the next frame on.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn redirect(&self, entry: &Entry) -> Result<(), EntryError> {
        self.filter.insert(entry, Verdict::Slot(self.filter.first_slot()))
    }

    /// As [`Filter::has_arrived`].
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn has_arrived(&self, flow: &Entry) -> Result<bool, EntryError> {
        self.filter.has_arrived(flow)
    }

    /// Removes an entry. Returns `false` if there was no such entry.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn remove(&self, entry: &Entry) -> Result<bool, EntryError> {
        self.filter.remove(entry)
    }

    /// Returns the descriptors that another process needs to keep the interface.
    #[must_use]
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let open = std::iter::once(self.link.as_fd()).chain(self.sockets.iter().map(AsFd::as_fd));
        self.filter.descriptors().into_iter().chain(open).collect()
    }

    /// Keeps the interface with this index.
    ///
    /// # Safety
    /// The descriptors are those of [`descriptors`](Self::descriptors), in the same order.
    ///
    /// # Errors
    /// `InvalidData` for too few descriptors; those of [`Filter::from_fds`].
    pub unsafe fn from_fds(index: u32, mut fds: Vec<OwnedFd>) -> io::Result<Self> {
        if fds.len() < 7 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let sockets = fds.split_off(7);
        let [flows, locals, groups, counts, socket_map, program, link] =
            <[OwnedFd; 7]>::try_from(fds).map_err(|_| io::ErrorKind::InvalidData)?;
        let filter = [flows, locals, groups, counts, socket_map, program];
        let queues = sockets.len() as u32;
        // SAFETY: the caller guarantees the order.
        let filter = unsafe {
            Filter::from_fds(filter, &FilterSettings { queues, ..FilterSettings::default() })?
        };
        // Nothing asks for the mode.
        let link = Link::from_fd(link, Mode::Auto)?;
        let sockets = sockets.into_iter().map(XskSocket::from_fd).collect::<io::Result<_>>()?;
        Ok(Self { link, sockets, filter, index })
    }
}

impl fmt::Debug for PreparedInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PreparedInterface").field(&self.device.name).finish()
    }
}

impl fmt::Debug for OpenedInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OpenedInterface").field(&self.device.name).finish()
    }
}

/// Returns the settings of the sockets in the actual mode. `is_jumbo` means that the MTU allows
/// frames that are longer than a frame of the UMEM.
fn socket_settings(
    settings: &InterfaceSettings,
    mode: Mode,
    receive_stamps: ReceiveStamps,
    is_jumbo: bool,
) -> Result<SocketSettings, SocketError> {
    let mut socket = settings.socket.clone();
    socket.receive_stamps = receive_stamps;
    if mode == Mode::Generic {
        if socket.copy_mode == CopyMode::ZeroCopy {
            return Err(SocketError::NoZeroCopy(0));
        }
        socket.copy_mode = CopyMode::Copy;
    } else {
        // A driver does not combine frames that it passes to the filter.
        socket.long_frames &= is_jumbo;
    }
    Ok(socket)
}

/// Loads the filter and attaches it, with driver timestamps if possible.
fn attach_filter(
    device: &Device,
    settings: &InterfaceSettings,
    is_jumbo: bool,
) -> Result<(Filter, Link, ReceiveStamps), InterfaceError> {
    let queues = device.queues;
    let wanted = settings.receive_stamps;
    let (stamps, receive_stamps) = match wanted {
        // Programs read CLOCK_TAI since then (bpf_ktime_get_tai_ns).
        ReceiveStamps::Kernel if kernel_release::is_at_least(6, 1) => {
            (Stamping::Kernel, ReceiveStamps::Kernel)
        }
        _ => (Stamping::Off, ReceiveStamps::Off),
    };
    let headers = ETHERNET_HEADER + IPV6_HEADER;
    let longest_datagram = settings.umem.longest_frame().saturating_sub(headers) as u16;
    let generic = FilterSettings {
        queues,
        receive_stamps: stamps,
        longest_datagram,
        long_frames: false,
        ..settings.filter
    };
    let plain = FilterSettings { long_frames: is_jumbo, ..generic };
    let refused = |reason| InterfaceError::Link { name: device.name.clone(), reason };
    check_mode(device, settings.mode).map_err(refused)?;
    let is_offered = device.features.is_some_and(|features| features.receive_stamps)
        && check_mode(device, Mode::Native).is_ok();
    if wanted == ReceiveStamps::Driver && settings.mode != Mode::Generic && is_offered {
        let stamped = FilterSettings { receive_stamps: Stamping::Driver(device.index), ..plain };
        // Any other failure leads to an attempt without driver timestamps below; `lacks_timestamps`
        // reports it.
        if let Ok(filter) = Filter::load(&stamped) {
            match filter.attach(device.index, Mode::Native) {
                Ok(link) => return Ok((filter, link, ReceiveStamps::Driver)),
                Err(busy @ LinkError::Busy(_)) => return Err(refused(busy)),
                Err(_) => {}
            }
        }
    }
    let mode = resolve_mode(device, settings.mode);
    if is_jumbo && mode != Mode::Generic {
        let filter = Filter::load(&plain)?;
        match filter.attach(device.index, Mode::Native) {
            Ok(link) => return Ok((filter, link, receive_stamps)),
            Err(LinkError::Refused { .. }) if mode == Mode::Auto => {}
            Err(error) => return Err(refused(error)),
        }
    }
    // In generic mode the kernel puts a long frame into one buffer for a program without the flag.
    let mode = if is_jumbo { Mode::Generic } else { mode };
    let filter = Filter::load(&generic)?;
    let link = filter.attach(device.index, mode).map_err(refused)?;
    Ok((filter, link, receive_stamps))
}

fn map_rings(sockets: &[PreparedSocket]) -> Result<Vec<Rings>, SocketError> {
    sockets.iter().map(PreparedSocket::map).collect()
}

/// Begins to use sockets that have been mapped and bound.
///
/// # Safety
/// As for [`Socket::from_prepared`], for each.
unsafe fn complete(
    sockets: Vec<PreparedSocket>,
    rings: Vec<Rings>,
    umem: &Umem,
) -> Result<Vec<Socket>, SocketError> {
    let each = sockets.into_iter().zip(rings);
    // SAFETY: the caller guarantees it.
    each.map(|(it, rings)| unsafe { Socket::from_prepared(it, rings, umem.clone()) }).collect()
}
