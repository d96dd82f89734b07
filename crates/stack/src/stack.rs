//! A stack: one interface and the sockets that share it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::ops::Deref;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use hairpin_netstack::{DeviceSettings, Settings};
use hairpin_wire::MacAddress;
use hairpin_xdp::{
    Device, Interface, InterfaceError, InterfacePlan, InterfaceSettings, Mode, Packet,
    PreparedInterface, ReceiveStamps, RxProbe, TxWakeup, Umem,
};

use crate::control_plane::{ControlPlane, packet_limit};
use crate::data_plane::{DataPlane, Reader};
use crate::fast_mutex::{FastGuard, FastMutex};
use crate::groups::GroupUpdate;
use crate::source_policy::SourcePolicy;
use crate::tcp::TcpTable;
use crate::watcher::{self, EventSource};
use crate::{
    AdoptedSocket, AdoptedTcp, Adoption, DropCounters, IpFields, PathEvent, RawFrames,
    SocketOptions, StackError, StackSettings, TcpCounters, TcpSocket, UdpSocket, udp_injector,
};

/// The most addresses of its interface.
const ADDRESSES: u32 = 256;
/// The most memberships of all sockets, and the most sources of these.
const MEMBERSHIPS: u32 = 4_096;

/// The number of stacks opened in this process: paths of one stack are never valid in another.
static STACK_COUNT: AtomicU64 = AtomicU64::new(0);

/// An interface and the sockets that share it. A clone is another handle of the same stack; the
/// interface is closed when the last handle and socket are dropped.
///
/// Sockets of one stack may be used by several threads. They block each other only while frames are
/// added to or taken off a ring.
#[derive(Clone)]
pub struct Stack {
    owner: Arc<Owner>,
}

/// The owner of the shared state. Dropping the last reference stops the watcher thread and then
/// closes the interface, both before the drop returns.
#[derive(Debug)]
pub(crate) struct Owner {
    shared: Arc<SharedState>,
    watcher: Option<JoinHandle<()>>,
}

/// The state that a stack and its sockets share.
pub(crate) struct SharedState {
    data_plane: FastMutex<DataPlane>,
    control_plane: Mutex<ControlPlane>,
    /// Counts changes in the kernel, to invalidate paths.
    generation: AtomicU64,
    pub(crate) umem: Umem,
    /// The interface's index.
    pub(crate) interface: u32,
    /// Checks for pending packets without the lock; the flag adds whether the interface needs a
    /// refill.
    rx_probe: RxProbe,
    needs_refill: AtomicBool,
    /// The transmit wakeup of each queue.
    tx_wakeups: Box<[TxWakeup]>,
    receive_stamps: ReceiveStamps,
    pub(crate) strict: bool,
    /// `true` if nothing is received any more: the interface was removed, or a strict stack would
    /// have to fall back.
    ended: AtomicBool,
    removed: AtomicBool,
    /// A line of text: interface, driver, queues and so on.
    description: String,
    pub(crate) event_source: Arc<EventSource>,
    pub(crate) tcp: TcpTable,
}

/// The most polls of the rings after one wakeup.
const MAX_POLLS: usize = 8;

impl Stack {
    /// Opens an interface by name.
    ///
    /// # Errors
    /// See [`StackError`].
    pub fn open(interface: &str, settings: &StackSettings) -> Result<Self, StackError> {
        let name = interface;
        let interface = match &settings.keeper {
            Some(keeper) => keeper.open_interface(name, settings)?,
            None => Interface::from_opened(prepare_interface(name, settings)?.open()?)?,
        };
        let index = interface.device().index;
        let (queues, umem) = (interface.device().queues, interface.umem().clone());
        let rx_probe = interface.rx_probe();
        let tx_wakeups = (0..queues).filter_map(|queue| interface.tx_wakeup(queue)).collect();
        let (receive_stamps, description) = (interface.receive_stamps(), interface.to_string());
        let event_source = Arc::new(EventSource::new().map_err(StackError::Thread)?);
        let mut control_plane = ControlPlane::new(index, umem.settings().max_mtu())?;
        let engine = Settings {
            devices: 1,
            addresses: ADDRESSES,
            sockets: settings.sockets,
            memberships: MEMBERSHIPS,
            sources: MEMBERSHIPS,
            seed: watcher::random(),
        };
        let (mac, mtu) = (MacAddress(control_plane.mac()), packet_limit(control_plane.mtu()));
        let device = DeviceSettings { mac, mtu, vlan: None };
        let sources = control_plane.source_rules(name).map_err(StackError::Netlink)?;
        let sources = SourcePolicy::new(index, sources).map_err(StackError::Netlink)?;
        let mut data_plane = DataPlane::new(
            interface,
            settings.keeper.clone(),
            &engine,
            &device,
            sources,
            &event_source,
        )
        .expect("the engine has capacity for one device");
        let addresses = control_plane.addresses(index).map_err(StackError::Netlink)?;
        control_plane.set_addresses(&mut data_plane, &addresses);
        if control_plane.address_count() < addresses.len() {
            return Err(StackError::Addresses(name.to_string()));
        }
        let shared = Arc::new(SharedState {
            data_plane: FastMutex::new(data_plane),
            control_plane: Mutex::new(control_plane),
            generation: AtomicU64::new(STACK_COUNT.fetch_add(1, Ordering::Relaxed) << 40),
            umem,
            interface: index,
            rx_probe,
            needs_refill: AtomicBool::new(true),
            tx_wakeups,
            receive_stamps,
            strict: settings.strict,
            ended: AtomicBool::new(false),
            removed: AtomicBool::new(false),
            description,
            event_source,
            tcp: TcpTable::new(settings),
        });
        if let Some(keeper) = &settings.keeper
            && shared.event_source.add_keeper(keeper.descriptor()).is_err()
        {
            keeper.set_lost();
        }
        let watcher = Some(watcher::spawn(&shared, settings.on_thread_start)?);
        Ok(Self { owner: Arc::new(Owner { shared, watcher }) })
    }

    /// Binds a UDP socket; port 0 lets the kernel choose. The address is unspecified, an address of
    /// this host, or a group, which must then be joined.
    ///
    /// # Errors
    /// The kernel's: the address is not local, or the port is in use. In a strict stack
    /// `Unsupported` if nothing would bypass the kernel.
    pub fn bind(&self, local: SocketAddr, options: &SocketOptions) -> io::Result<UdpSocket> {
        UdpSocket::bind(&self.owner, local, options)
    }

    /// Redirects the traffic of a kernel UDP socket that the caller keeps and reads itself.
    ///
    /// # Errors
    /// See [`AdoptedSocket`].
    pub fn adopt_udp(&self, adoption: &Adoption) -> io::Result<AdoptedSocket> {
        if let Some(keeper) = &self.owner.tcp.keeper {
            // SAFETY: the caller's descriptor is open.
            let socket = unsafe { BorrowedFd::borrow_raw(adoption.fd) };
            keeper.check_rules(self.owner.interface, socket)?;
        }
        AdoptedSocket::new(&self.owner, adoption)
    }

    /// Opens raw frames of an EtherType.
    ///
    /// # Errors
    /// `InvalidInput` if the EtherType is reserved for the kernel, `AddrInUse` if it is in use.
    pub fn raw_frames(&self, ether_type: u16) -> io::Result<RawFrames> {
        RawFrames::from_stack(&self.owner, ether_type)
    }

    /// Adopts a TCP socket of the kernel, connected or connecting. Its traffic bypasses the kernel
    /// after [`TcpSocket::take_over`].
    ///
    /// # Errors
    /// The kernel's, if no descriptor is left.
    pub fn adopt_tcp(&self, stream: TcpStream) -> io::Result<TcpSocket> {
        self.owner.report_long_frames();
        TcpSocket::new(&self.owner, stream)
    }

    /// Adopts a TCP connection whose descriptor the caller keeps. Its traffic bypasses the kernel
    /// after [`AdoptedTcp::take_over`]. `wake` is called with the descriptor when another thread
    /// has something for the connection or has handed it back; see [`Adoption::wake`].
    #[must_use]
    pub fn adopt_tcp_descriptor(&self, fd: BorrowedFd<'static>, wake: fn(RawFd)) -> AdoptedTcp {
        AdoptedTcp::new(&self.owner, fd, wake)
    }

    /// Returns the counters of all TCP connections.
    #[must_use]
    pub fn tcp_counters(&self) -> TcpCounters {
        let mut counters = self.owner.tcp.counters();
        counters.long_frames = self.owner.data_plane().long_frames();
        counters
    }

    /// Returns the number of frames that are free to send in. It is the same again when everything
    /// sent has left and everything received was read.
    #[must_use]
    pub fn free_frames(&self) -> usize {
        self.owner.data_plane().interface.free_frames()
    }

    /// Returns the counters of redirected frames that no socket has received.
    #[must_use]
    pub fn drop_counters(&self) -> DropCounters {
        self.owner.data_plane().drop_counters()
    }

    /// Presents a datagram to the kernel as if its source had sent it: one that arrived over AF_XDP
    /// before its socket was handed back, and that another process may read. It arrives over
    /// loopback.
    ///
    /// # Errors
    /// The kernel's; `InvalidInput` unless both addresses are of one family and the payload fits.
    /// The destination must be a unicast address of this host that is not link-local. With a keeper
    /// it must be the socket's, and nothing arrives otherwise.
    pub fn inject_udp(
        &self,
        socket: BorrowedFd<'_>,
        source: SocketAddr,
        destination: SocketAddr,
        header: IpFields,
        payload: &[u8],
    ) -> io::Result<()> {
        let packet = udp_injector::packet(source, destination, header, payload);
        let packet = packet.ok_or(io::ErrorKind::InvalidInput)?;
        let injector = self.owner.tcp.injector().ok_or(io::ErrorKind::PermissionDenied)?;
        injector.inject_udp(socket, &packet, destination.ip())
    }

    /// Returns the oldest unread event; the last 256 are kept.
    pub fn next_event(&self) -> Option<PathEvent> {
        self.owner.control_plane().next_event()
    }

    /// Reports that traffic outside this crate falls back to the kernel.
    ///
    /// # Errors
    /// `Unsupported` in a strict stack, with the event.
    pub fn fall_back(&self, event: PathEvent) -> io::Result<()> {
        self.owner.fall_back(event)
    }

    /// Returns the source of receive timestamps.
    #[must_use]
    pub fn receive_stamps(&self) -> ReceiveStamps {
        self.owner.receive_stamps
    }

    /// Returns `true` if the interface has this address now.
    #[must_use]
    pub fn has_address(&self, address: IpAddr) -> bool {
        self.owner.control_plane().has_address(address)
    }

    /// Returns `true` if the kernel routes datagrams to the address over the interface.
    #[must_use]
    pub fn routes_to(&self, address: IpAddr) -> bool {
        self.owner.control_plane().routes_to(self.owner.interface, address)
    }

    /// Returns the source address that the kernel selects for datagrams to this address.
    #[must_use]
    pub fn source_address(&self, to: IpAddr) -> Option<IpAddr> {
        self.owner.control_plane().source_address(to)
    }

    /// Returns the descriptors that are readable while a frame is on a ring: one per queue, valid
    /// as long as the stack.
    #[must_use]
    pub fn receive_descriptors(&self) -> Vec<RawFd> {
        let data_plane = self.owner.data_plane();
        data_plane.interface.sockets().iter().map(|socket| socket.as_fd().as_raw_fd()).collect()
    }

    /// Takes frames off the rings and queues them for their sockets. Returns `true` if the rings
    /// are empty.
    ///
    /// # Errors
    /// The kernel's; `ENODEV` after the interface was removed.
    #[inline]
    pub fn poll(&self) -> io::Result<bool> {
        if self.owner.rings_are_idle() {
            return Ok(true);
        }
        self.owner.check()?;
        self.owner.poll_rings(&mut self.owner.data_plane(), Reader::Any)
    }

    /// Returns `true` if no frame is on a ring.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.owner.rx_probe.is_idle()
    }

    /// Returns the interface's index.
    #[must_use]
    pub fn interface(&self) -> u32 {
        self.owner.interface
    }

    /// Returns the interface's Ethernet address.
    #[must_use]
    pub fn mac(&self) -> [u8; 6] {
        self.owner.control_plane().mac()
    }
}

/// Prepares the interface.
pub(crate) fn prepare_interface(
    name: &str,
    settings: &StackSettings,
) -> Result<PreparedInterface, InterfaceError> {
    first_possible(settings, |interface| PreparedInterface::new(name, interface))
}

/// Plans what opening a stack on a device will do, without changing anything.
///
/// # Errors
/// See [`InterfacePlan::new`].
pub fn plan_interface(
    device: &Device,
    settings: &StackSettings,
) -> Result<InterfacePlan, InterfaceError> {
    first_possible(settings, |interface| InterfacePlan::new(device, interface))
}

/// Attempts to open an interface. For TCP, native mode is preferred on a veth too.
fn first_possible<T>(
    settings: &StackSettings,
    attempt: impl Fn(&InterfaceSettings) -> Result<T, InterfaceError>,
) -> Result<T, InterfaceError> {
    let interface = interface_settings(settings);
    if settings.tcp && interface.mode == Mode::Auto {
        let native = InterfaceSettings { mode: Mode::Native, ..interface.clone() };
        match attempt(&native) {
            // Native mode is not possible, for example because of the MTU.
            Err(InterfaceError::Link { .. }) => {}
            done => return done,
        }
    }
    attempt(&interface)
}

/// Returns the settings of the interface of a stack: the same for the process that opens it and for
/// the one that uses it.
pub(crate) fn interface_settings(settings: &StackSettings) -> InterfaceSettings {
    let mut interface = settings.interface.clone();
    interface.socket.long_frames = true;
    interface
}

impl SharedState {
    #[inline]
    pub(crate) fn data_plane(&self) -> FastGuard<'_, DataPlane> {
        self.data_plane.lock()
    }

    pub(crate) fn control_plane(&self) -> MutexGuard<'_, ControlPlane> {
        self.control_plane.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Invalidates all paths; each is found again when it is next used.
    pub(crate) fn invalidate_paths(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
    }

    /// Reports an event. A fallback ends a strict stack.
    pub(crate) fn report(&self, control_plane: &mut ControlPlane, event: PathEvent) {
        control_plane.report(event);
        if self.strict && control_plane.fallback().is_some() {
            self.ended.store(true, Ordering::Release);
        }
    }

    /// Applies the result of a poll of the groups.
    pub(crate) fn apply_group_update(&self, control_plane: &mut ControlPlane, update: GroupUpdate) {
        for event in update.events {
            self.report(control_plane, event);
        }
        if update.paths_changed {
            self.invalidate_paths();
        }
    }

    /// Reports that the keeper has ended, after all connections were handed back.
    #[cold]
    pub(crate) fn on_keeper_lost(&self) {
        if let Some(kept) = self.tcp.on_keeper_lost(self) {
            let mut control_plane = self.control_plane();
            self.report(&mut control_plane, PathEvent::KeeperLost { kept });
        }
    }

    /// Marks the interface as removed and wakes all waiters.
    pub(crate) fn set_removed(&self) {
        self.removed.store(true, Ordering::Release);
        self.ended.store(true, Ordering::Release);
        self.data_plane().wake_all();
    }

    /// Reports once that generic mode drops long frames of TCP.
    fn report_long_frames(&self) {
        let mut control_plane = self.control_plane();
        let data_plane = self.data_plane();
        let (interface, longest) = (&data_plane.interface, self.umem.settings().longest_frame());
        let is_lossy = interface.link().mode() == Mode::Generic && !interface.takes_long_frames();
        if !is_lossy || self.tcp.is_mode_reported() {
            return;
        }
        let veth = interface.device().driver.as_deref() == Some("veth");
        drop(data_plane);
        control_plane.report(PathEvent::LongFrames { longest, veth });
    }

    /// Reports a fallback, or rejects it in a strict stack.
    pub(crate) fn fall_back(&self, event: PathEvent) -> io::Result<()> {
        if self.strict {
            return Err(unsupported(&event.to_string()));
        }
        self.control_plane().report(event);
        Ok(())
    }

    /// Checks that the interface exists.
    ///
    /// # Errors
    /// `ENODEV` after the interface was removed.
    pub(crate) fn check_removed(&self) -> io::Result<()> {
        let removed = self.removed.load(Ordering::Acquire);
        if removed { Err(io::Error::from_raw_os_error(libc::ENODEV)) } else { Ok(()) }
    }

    /// Checks that the stack can receive.
    ///
    /// # Errors
    /// As for [`check_removed`](Self::check_removed); `Unsupported` in a strict stack after a
    /// fallback.
    #[inline]
    pub(crate) fn check(&self) -> io::Result<()> {
        if self.ended.load(Ordering::Acquire) { self.end_reason() } else { Ok(()) }
    }

    #[cold]
    fn end_reason(&self) -> io::Result<()> {
        self.check_removed()?;
        let reason = self.control_plane().fallback().map(PathEvent::to_string);
        Err(unsupported(&reason.unwrap_or_default()))
    }

    /// Returns one line: interface, driver, queues, mode, copy mode, timestamps.
    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    /// Returns `true` if a poll of the rings would find nothing and do nothing.
    #[inline]
    pub(crate) fn rings_are_idle(&self) -> bool {
        self.rx_probe.is_idle() && !self.needs_refill.load(Ordering::Relaxed)
    }

    /// Takes frames off the rings and queues them; see [`DataPlane::poll_rings`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub(crate) fn poll_rings(
        &self,
        data_plane: &mut DataPlane,
        reader: Reader,
    ) -> io::Result<bool> {
        let drained = data_plane.poll_rings(reader)?;
        // Otherwise the rings themselves show that there is more to do.
        if drained {
            self.update_needs_refill(data_plane);
        }
        Ok(drained)
    }

    /// Takes the frames off the rings and queues them for all sockets. A thread that a frame has
    /// woken calls this, because no other thread may be woken for the frames of the others.
    ///
    /// # Errors
    /// As for [`DataPlane::poll_rings`].
    pub(crate) fn distribute_frames(
        &self,
        data_plane: &mut DataPlane,
        reader: Reader,
    ) -> io::Result<()> {
        // Under a flood of frames, the next one wakes another thread.
        for _ in 0..MAX_POLLS {
            if self.poll_rings(data_plane, reader)? {
                break;
            }
        }
        Ok(())
    }

    /// Records whether the interface needs a refill, after a poll that emptied the rings.
    #[inline]
    pub(crate) fn update_needs_refill(&self, data_plane: &DataPlane) {
        self.needs_refill.store(data_plane.interface.needs_refill(), Ordering::Relaxed);
    }

    /// Returns the transmit queue of a socket. It never changes, which preserves the order of
    /// packets.
    pub(crate) fn queue(&self, socket: u32) -> u32 {
        socket % self.tx_wakeups.len() as u32
    }

    /// Transmits a packet: adds it to the ring under the lock and wakes the kernel without the
    /// lock. Returns the packet if the ring is full and stays so.
    ///
    /// # Errors
    /// The kernel's. Packets in the ring stay there.
    #[inline(always)]
    pub(crate) fn transmit(
        &self,
        mut data_plane: FastGuard<'_, DataPlane>,
        queue: u32,
        packet: Packet,
    ) -> io::Result<Result<(), Packet>> {
        match data_plane.interface.post(queue, packet) {
            Ok(frames) => {
                drop(data_plane);
                self.kick(queue, frames).map(Ok)
            }
            Err(packet) => self.transmit_again(data_plane, queue, packet),
        }
    }

    /// The ring was full: sends it and retries once. Returns the packet if the ring is still full.
    #[cold]
    fn transmit_again(
        &self,
        mut data_plane: FastGuard<'_, DataPlane>,
        queue: u32,
        packet: Packet,
    ) -> io::Result<Result<(), Packet>> {
        let frames = data_plane.interface.submit(queue);
        drop(data_plane);
        if let Err(error) = self.kick(queue, frames) {
            self.data_plane().interface.release(packet.into_frame());
            return Err(error);
        }
        match self.data_plane().interface.post(queue, packet) {
            Ok(frames) => self.kick(queue, frames).map(Ok),
            Err(packet) => Ok(Err(packet)),
        }
    }

    /// Makes the kernel send a queue's transmit ring.
    #[inline]
    pub(crate) fn kick(&self, queue: u32, frames: u32) -> io::Result<()> {
        self.tx_wakeups[queue as usize].kick(frames)
    }
}

pub(crate) fn unsupported(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("strict: {reason}"))
}

impl Deref for Owner {
    type Target = SharedState;

    #[inline]
    fn deref(&self) -> &SharedState {
        &self.shared
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.event_source.stop();
        if let Some(watcher) = self.watcher.take() {
            // The thread does not panic; if it did, the panic message was already printed.
            let _ = watcher.join();
        }
    }
}

/// Compares identity.
impl PartialEq for Stack {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.owner, &other.owner)
    }
}

impl Eq for Stack {}

impl Hash for Stack {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.owner).hash(state);
    }
}

/// Formats one line: interface, driver, queues, mode, copy mode, timestamps.
impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.owner.description())
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stack").field(&self.owner.description).finish()
    }
}

impl fmt::Debug for SharedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared").field(&self.description).finish()
    }
}
