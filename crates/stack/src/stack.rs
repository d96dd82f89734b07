//! A stack: one interface and the sockets that share it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use hairpin_netstack::{DeviceSettings, Settings};
use hairpin_wire::MacAddress;
use hairpin_xdp::{Interface, Packet, ReceiveStamps, RxProbe, TxWakeup, Umem};

use crate::control::{Control, packet_limit};
use crate::core::{Core, Reader};
use crate::groups::Look;
use crate::watcher::{self, Alarm};
use crate::{PathEvent, RawFrames, SocketOptions, StackError, StackSettings, UdpSocket};

/// Sockets that a stack has room for.
const SOCKETS: u32 = 1_024;
/// Addresses that its interface may have.
const ADDRESSES: u32 = 256;
/// Memberships of all sockets together, and the senders that these name.
const MEMBERSHIPS: u32 = 4_096;

/// Of this process so far: ways of one stack are none of another.
static STACKS: AtomicU64 = AtomicU64::new(0);

/// An interface's frames, and the sockets that share them. A clone is another handle of the same;
/// the interface is given back when the last handle and the last socket have gone.
///
/// Sockets of one stack may be used by several threads. They wait for each other no longer than it
/// takes to put frames into a ring or take them off it.
#[derive(Clone)]
pub struct Stack {
    owner: Arc<Owner>,
}

/// What a stack and its sockets hold of what they have in common. With the last of them the
/// stack's thread ends, and then the interface is given back, both before the drop returns.
#[derive(Debug)]
pub(crate) struct Owner {
    shared: Arc<Shared>,
    watcher: Option<JoinHandle<()>>,
}

/// What a stack and its sockets have in common.
pub(crate) struct Shared {
    core: Mutex<Core>,
    control: Mutex<Control>,
    /// Counts what has changed in the kernel, for those who know a way.
    generation: AtomicU64,
    pub(crate) umem: Umem,
    /// The interface's index.
    pub(crate) interface: u32,
    /// Whether there is anything on the rings, and whether the interface lacks frames.
    glance: RxProbe,
    is_short: AtomicBool,
    /// For each queue what has its ring sent.
    kickers: Box<[TxWakeup]>,
    receive_stamps: ReceiveStamps,
    pub(crate) is_strict: bool,
    /// Nothing is received any more: the interface is gone, or the stack is strict and something
    /// has to go through the kernel now.
    has_ended: AtomicBool,
    is_gone: AtomicBool,
    /// Interface, driver, queues and so on, in a line.
    description: String,
    pub(crate) alarm: Alarm,
}

impl Stack {
    /// Takes the interface of this name, which somebody has named on purpose.
    ///
    /// # Errors
    /// See [`StackError`].
    pub fn open(interface: &str, settings: &StackSettings) -> Result<Self, StackError> {
        let name = interface;
        let interface = Interface::open(name, &settings.interface)?;
        let index = interface.device().index;
        let is_veth = interface.device().driver.as_deref() == Some("veth");
        let trusts_checksums = settings.trusts_checksums.unwrap_or(is_veth);
        let (queues, umem) = (interface.device().queues, interface.umem().clone());
        let glance = interface.glance();
        let kickers = (0..queues).filter_map(|queue| interface.kicker(queue)).collect();
        let (receive_stamps, description) = (interface.receive_stamps(), interface.to_string());
        let alarm = Alarm::new().map_err(StackError::Thread)?;
        let mut control = Control::new(index)?;
        let engine = Settings {
            devices: 1,
            addresses: ADDRESSES,
            sockets: SOCKETS,
            memberships: MEMBERSHIPS,
            sources: MEMBERSHIPS,
            seed: watcher::random(),
        };
        let (mac, mtu) = (MacAddress(control.mac()), packet_limit(interface.device().mtu));
        let device = DeviceSettings { mac, mtu, trusts_checksums, vlan: None };
        let mut core = Core::new(interface, &engine, &device).expect("there is room for a device");
        let addresses = control.addresses(index).map_err(StackError::Netlink)?;
        control.set_addresses(&mut core, &addresses);
        if control.address_count() < addresses.len() {
            return Err(StackError::Addresses(name.to_string()));
        }
        let shared = Arc::new(Shared {
            core: Mutex::new(core),
            control: Mutex::new(control),
            generation: AtomicU64::new(STACKS.fetch_add(1, Ordering::Relaxed) << 40),
            umem,
            interface: index,
            glance,
            is_short: AtomicBool::new(true),
            kickers,
            receive_stamps,
            is_strict: settings.strict,
            has_ended: AtomicBool::new(false),
            is_gone: AtomicBool::new(false),
            description,
            alarm,
        });
        let watcher = Some(watcher::spawn(&shared)?);
        Ok(Self { owner: Arc::new(Owner { shared, watcher }) })
    }

    /// A UDP socket at a local address; port 0 has the kernel choose one. The address may be any
    /// of a family, one of this host, or a group, which is then to be joined.
    ///
    /// # Errors
    /// The kernel's: the address is none of this host's, or the port is taken. In a strict stack
    /// `Unsupported` if nothing could come past the kernel.
    pub fn bind(&self, local: SocketAddr, options: &SocketOptions) -> io::Result<UdpSocket> {
        UdpSocket::bind(&self.owner, local, options)
    }

    /// Whole frames of an EtherType.
    ///
    /// # Errors
    /// `InvalidInput` if the EtherType is the kernel's, `AddrInUse` if another has it.
    pub fn raw_frames(&self, ether_type: u16) -> io::Result<RawFrames> {
        RawFrames::of_stack(&self.owner, ether_type)
    }

    /// The oldest thing that is to be said and was not yet; the last 256 are kept.
    pub fn notice(&self) -> Option<PathEvent> {
        self.owner.control().notice()
    }

    /// Says that something which was to come or go past the kernel is left to it.
    ///
    /// # Errors
    /// `Unsupported` in a strict stack, with the notice.
    pub fn fall_back(&self, notice: PathEvent) -> io::Result<()> {
        self.owner.fall_back(notice)
    }

    /// Who stamps what is received, if anybody does.
    #[must_use]
    pub fn receive_stamps(&self) -> ReceiveStamps {
        self.owner.receive_stamps
    }

    /// Whether the interface has this address now.
    #[must_use]
    pub fn has_address(&self, address: IpAddr) -> bool {
        self.owner.control().has_address(address)
    }

    /// The interface's index.
    #[must_use]
    pub fn interface(&self) -> u32 {
        self.owner.interface
    }

    /// The interface's Ethernet address.
    #[must_use]
    pub fn mac(&self) -> [u8; 6] {
        self.owner.control().mac()
    }
}

impl Shared {
    #[inline]
    pub(crate) fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn control(&self) -> MutexGuard<'_, Control> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Ways may have changed: whoever knows one looks again.
    pub(crate) fn renew_ways(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
    }

    /// Says something, which may be what a strict stack is not to do.
    pub(crate) fn tell(&self, control: &mut Control, notice: PathEvent) {
        control.tell(notice);
        if self.is_strict && control.fallback().is_some() {
            self.has_ended.store(true, Ordering::Release);
        }
    }

    /// Says what a look at the groups has found.
    pub(crate) fn heed(&self, control: &mut Control, look: Look) {
        for notice in look.notices {
            self.tell(control, notice);
        }
        if look.changes_ways {
            self.renew_ways();
        }
    }

    /// The interface is gone for good: whoever sleeps is woken to hear of it.
    pub(crate) fn set_gone(&self) {
        self.is_gone.store(true, Ordering::Release);
        self.has_ended.store(true, Ordering::Release);
        self.core().wake_all();
    }

    /// Says that something goes by the kernel, or refuses that.
    pub(crate) fn fall_back(&self, notice: PathEvent) -> io::Result<()> {
        if self.is_strict {
            return Err(unsupported(&notice.to_string()));
        }
        self.control().tell(notice);
        Ok(())
    }

    /// # Errors
    /// The kernel's "no such device" once the interface is gone.
    pub(crate) fn check_gone(&self) -> io::Result<()> {
        let is_gone = self.is_gone.load(Ordering::Acquire);
        if is_gone { Err(io::Error::from_raw_os_error(libc::ENODEV)) } else { Ok(()) }
    }

    /// # Errors
    /// That of [`check_gone`](Self::check_gone); `Unsupported` in a strict stack, once something
    /// has to go through the kernel.
    #[inline]
    pub(crate) fn check(&self) -> io::Result<()> {
        if self.has_ended.load(Ordering::Acquire) { self.why_ended() } else { Ok(()) }
    }

    #[cold]
    fn why_ended(&self) -> io::Result<()> {
        self.check_gone()?;
        let reason = self.control().fallback().map(PathEvent::to_string);
        Err(unsupported(&reason.unwrap_or_default()))
    }

    /// Interface, driver, queues, mode, copies, stamps.
    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    /// Whether a look at the rings would find nothing and do nothing.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.glance.is_quiet() && !self.is_short.load(Ordering::Relaxed)
    }

    /// Takes frames off the rings to where they are waited for; see [`Core::pump`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub(crate) fn pump(&self, core: &mut Core, reader: Reader, wanted: usize) -> io::Result<bool> {
        let drained = core.pump(reader, wanted)?;
        // Else the rings themselves tell that there is something to do.
        if drained {
            self.note_frames(core);
        }
        Ok(drained)
    }

    /// Notes whether the interface lacks frames, after a look at its rings that found no more.
    #[inline]
    pub(crate) fn note_frames(&self, core: &Core) {
        self.is_short.store(core.interface.is_short(), Ordering::Relaxed);
    }

    /// The queue that a socket sends by: always the same one, so that nothing overtakes.
    pub(crate) fn queue(&self, socket: u32) -> u32 {
        socket % self.kickers.len() as u32
    }

    /// Sends a packet: into the ring under the lock, and out of it without. It comes back if its
    /// ring is full and nothing leaves.
    ///
    /// # Errors
    /// The kernel's. What is in the ring stays there.
    #[inline(always)]
    pub(crate) fn transmit(
        &self,
        mut core: MutexGuard<'_, Core>,
        queue: u32,
        packet: Packet,
    ) -> io::Result<Result<(), Packet>> {
        match core.interface.post(queue, packet) {
            Ok(frames) => {
                drop(core);
                self.kick(queue, frames).map(Ok)
            }
            Err(packet) => self.transmit_again(core, queue, packet),
        }
    }

    /// The ring was full. What is in it leaves, and then there is room, or the way is stuck.
    #[cold]
    fn transmit_again(
        &self,
        mut core: MutexGuard<'_, Core>,
        queue: u32,
        packet: Packet,
    ) -> io::Result<Result<(), Packet>> {
        let frames = core.interface.submit(queue);
        drop(core);
        if let Err(error) = self.kick(queue, frames) {
            self.core().interface.give(packet.into_frame());
            return Err(error);
        }
        match self.core().interface.post(queue, packet) {
            Ok(frames) => self.kick(queue, frames).map(Ok),
            Err(packet) => Ok(Err(packet)),
        }
    }

    /// Has the kernel send what is in a queue's ring.
    #[inline]
    pub(crate) fn kick(&self, queue: u32, frames: u32) -> io::Result<()> {
        self.kickers[queue as usize].kick(frames)
    }
}

pub(crate) fn unsupported(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("strict: {reason}"))
}

impl Deref for Owner {
    type Target = Shared;

    #[inline]
    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.alarm.stop();
        if let Some(watcher) = self.watcher.take() {
            // It does not panic; were it to, the panic has been printed where it happened.
            let _ = watcher.join();
        }
    }
}

/// The same, not one alike.
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

/// One line: interface, driver, queues, mode, copies, stamps.
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

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared").field(&self.description).finish()
    }
}
