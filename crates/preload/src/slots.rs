//! The table of descriptors: which of them the library handles.
//!
//! A slot is created when a descriptor is first handled and never freed, so that a thread that
//! waits
//! in a call finds a valid slot after another thread has closed the descriptor.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use hairpin_stack::{FastGuard, FastMutex};

use crate::epoll::Instance;
use crate::membership;
use crate::socket::Socket;
use crate::stream::Tracking;
use crate::unseen::Changes;

/// The slots of a block, and the most blocks: a million descriptors, the kernel's own limit.
const BLOCK: usize = 1_024;
const BLOCKS: usize = 1_024;

type Block = [AtomicPtr<Slot>; BLOCK];

static BLOCKS_TABLE: [AtomicPtr<Block>; BLOCKS] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; BLOCKS];

const PLAIN: u8 = 0;
const SOCKET: u8 = 1;
const EPOLL: u8 = 2;
/// A UDP socket that is not bound yet, and may be accelerated while a thread waits for it.
const CANDIDATE: u8 = 3;
const STREAM: u8 = 4;

/// The descriptors that are or may be accelerated: a count that is never too low.
static ACCELERATED: AtomicU32 = AtomicU32::new(0);

/// Returns `true` if any descriptor has or may get something that the kernel does not know.
#[inline]
pub(crate) fn is_any_accelerated() -> bool {
    ACCELERATED.load(Ordering::SeqCst) > 0
}

/// A flag of a descriptor that makes it one of those that are or may be accelerated.
#[derive(Debug, Default)]
pub(crate) struct Acceleration(AtomicBool);

impl Acceleration {
    #[inline]
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Sets the flag. Returns its value before.
    pub(crate) fn set(&self, is_on: bool) -> bool {
        count_change(is_on, || self.0.swap(is_on, Ordering::SeqCst))
    }
}

/// Counts a change of what is accelerated: to `after`, from what the change returns.
fn count_change(after: bool, change: impl FnOnce() -> bool) -> bool {
    ACCELERATED.fetch_add(u32::from(after), Ordering::SeqCst);
    let before = change();
    ACCELERATED.fetch_sub(u32::from(before), Ordering::SeqCst);
    before
}

/// The transport protocol of a socket, where it is known.
#[derive(Debug, Default)]
pub(crate) struct AtomicProtocol(AtomicI32);

impl AtomicProtocol {
    /// Returns the protocol's number (`IPPROTO_TCP`), or `None`.
    pub(crate) fn get(&self) -> Option<c_int> {
        Some(self.0.load(Ordering::Relaxed)).filter(|number| *number != 0)
    }

    pub(crate) fn set(&self, number: Option<c_int>) {
        self.0.store(number.unwrap_or(0), Ordering::Relaxed);
    }
}

/// What the library knows of a descriptor.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    kind: AtomicU8,
    /// `true` if another descriptor or process refers to the same socket, or did.
    duplicated: AtomicBool,
    /// The index of `IP_MULTICAST_IF`, which the kernel does not return.
    multicast_interface: AtomicU32,
    socket: FastMutex<Option<Box<Socket>>>,
    /// The memberships of a UDP socket that is not bound yet.
    memberships: FastMutex<Vec<membership::Request>>,
    epoll: FastMutex<Option<Arc<Instance>>>,
    /// The epoll instances whose members this descriptor is or was.
    instances: FastMutex<Vec<Weak<Instance>>>,
    /// Which socket it is, once it was a member. Until its close.
    pub(crate) protocol: AtomicProtocol,
    /// `true` while the descriptor is recorded as one that may be ready, and the next such one.
    pub(crate) is_listed: AtomicBool,
    pub(crate) next_listed: AtomicI32,
    /// The TCP connection, and the calls of the kernel.
    pub(crate) stream: Tracking,
    /// The calls that close the descriptor.
    pub(crate) changes: Changes,
}

impl Slot {
    pub(crate) fn socket(&self) -> FastGuard<'_, Option<Box<Socket>>> {
        self.socket.lock()
    }

    pub(crate) fn memberships(&self) -> FastGuard<'_, Vec<membership::Request>> {
        self.memberships.lock()
    }

    pub(crate) fn epoll(&self) -> FastGuard<'_, Option<Arc<Instance>>> {
        self.epoll.lock()
    }

    /// Returns the epoll instance that the descriptor refers to.
    #[inline]
    pub(crate) fn instance(&self) -> Option<Arc<Instance>> {
        if self.is_epoll() { self.epoll().clone() } else { None }
    }

    /// Marks the slot as that of an epoll instance.
    pub(crate) fn set_instance(&self, instance: Arc<Instance>) {
        *self.epoll() = Some(instance);
        self.set_kind(EPOLL);
    }

    /// Marks the slot of an epoll instance as plain. Returns the instance.
    pub(crate) fn take_instance(&self) -> Option<Arc<Instance>> {
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        self.kind.compare_exchange(EPOLL, PLAIN, order.0, order.1).ok()?;
        self.epoll().take()
    }

    pub(crate) fn instances(&self) -> FastGuard<'_, Vec<Weak<Instance>>> {
        self.instances.lock()
    }

    /// Returns `true` if the descriptor is an accelerated socket.
    #[inline]
    pub(crate) fn is_socket(&self) -> bool {
        self.kind.load(Ordering::Acquire) == SOCKET
    }

    /// Returns `true` if the descriptor is a known epoll instance.
    #[inline]
    pub(crate) fn is_epoll(&self) -> bool {
        self.kind.load(Ordering::Acquire) == EPOLL
    }

    /// Returns `true` if the descriptor is a tracked TCP connection.
    #[inline]
    pub(crate) fn is_stream(&self) -> bool {
        self.kind.load(Ordering::Acquire) == STREAM
    }

    /// Marks a plain slot as that of a tracked TCP connection. Returns `false` if the slot is not
    /// plain.
    pub(crate) fn set_stream(&self) -> bool {
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        self.kind.compare_exchange(PLAIN, STREAM, order.0, order.1).is_ok()
    }

    /// Records that the descriptor has a duplicate, or is a new one.
    pub(crate) fn set_duplicated(&self, duplicated: bool) {
        self.duplicated.store(duplicated, Ordering::Release);
    }

    /// Returns `true` if the socket stays with the kernel, because it may have other descriptors.
    pub(crate) fn is_duplicated(&self) -> bool {
        self.duplicated.load(Ordering::Acquire)
    }

    /// Records the interface that the program sends IPv4 datagrams to groups on; 0 is any.
    pub(crate) fn set_multicast_interface(&self, index: u32) {
        self.multicast_interface.store(index, Ordering::Relaxed);
    }

    pub(crate) fn multicast_interface(&self) -> u32 {
        self.multicast_interface.load(Ordering::Relaxed)
    }

    /// Stores or removes the socket.
    pub(crate) fn set_socket(&self, socket: Option<Box<Socket>>) -> Option<Box<Socket>> {
        let mut place = self.socket();
        self.set_kind(if socket.is_some() { SOCKET } else { PLAIN });
        std::mem::replace(&mut place, socket)
    }

    /// Marks the slot as that of a UDP socket that is not bound yet.
    pub(crate) fn set_candidate(&self) {
        self.set_kind(CANDIDATE);
    }

    /// Marks a candidate as considered.
    pub(crate) fn end_candidacy(&self) {
        count_change(false, || {
            let order = (Ordering::AcqRel, Ordering::Relaxed);
            self.kind.compare_exchange(CANDIDATE, PLAIN, order.0, order.1).is_ok()
        });
    }

    /// Marks the slot as that of a plain descriptor, while its lock is held.
    pub(crate) fn set_plain(&self) {
        self.set_kind(PLAIN);
    }

    fn set_kind(&self, kind: u8) {
        let is_accelerated = |kind| matches!(kind, SOCKET | CANDIDATE);
        count_change(is_accelerated(kind), || {
            is_accelerated(self.kind.swap(kind, Ordering::AcqRel))
        });
    }

    #[cfg(test)]
    pub(crate) fn mark_socket(&self) {
        self.set_kind(SOCKET);
    }
}

/// Returns the slot of a descriptor that the library handles.
#[inline]
pub(crate) fn handled(fd: c_int) -> Option<&'static Slot> {
    let slot = find(fd)?;
    (slot.kind.load(Ordering::Acquire) != PLAIN).then_some(slot)
}

/// Returns the slot of an accelerated socket.
#[inline]
pub(crate) fn socket(fd: c_int) -> Option<&'static Slot> {
    find(fd).filter(|slot| slot.is_socket())
}

/// Returns `true` for a UDP socket that is not bound yet.
#[inline]
pub(crate) fn is_candidate(fd: c_int) -> bool {
    find(fd).is_some_and(|slot| slot.kind.load(Ordering::Acquire) == CANDIDATE)
}

/// Returns the slot of a tracked TCP connection.
#[inline]
pub(crate) fn stream(fd: c_int) -> Option<&'static Slot> {
    find(fd).filter(|slot| slot.is_stream())
}

/// Returns `true` for a UDP socket that is or may be accelerated, and for a tracked TCP connection:
/// their receives and sends do not go to the C library directly.
#[inline]
pub(crate) fn carries_data(fd: c_int) -> bool {
    find(fd).is_some_and(|slot| {
        matches!(slot.kind.load(Ordering::Acquire), SOCKET | CANDIDATE | STREAM)
    })
}

/// Returns `true` if the library knows what the descriptor is: a socket or an epoll instance.
pub(crate) fn is_known(fd: c_int) -> bool {
    find(fd).is_some_and(|slot| slot.kind.load(Ordering::Acquire) != PLAIN)
}

/// Returns `true` if the kernel does not know all that the descriptor is or may become ready for.
#[inline]
pub(crate) fn is_accelerated(fd: c_int) -> bool {
    find(fd).is_some_and(|slot| match slot.kind.load(Ordering::Acquire) {
        CANDIDATE => true,
        EPOLL => slot.instance().is_some_and(|it| crate::epoll::has_accelerated(&it)),
        _ => bypasses(fd),
    })
}

/// Returns `true` if the messages of a socket bypass the kernel.
#[inline]
pub(crate) fn bypasses(fd: c_int) -> bool {
    find(fd).is_some_and(|slot| match slot.kind.load(Ordering::Acquire) {
        SOCKET => true,
        STREAM => slot.stream.is_bypassing(),
        _ => false,
    })
}

/// Returns `true` if a thread that waits for the descriptor must sleep where the library can wake
/// it: it is accelerated, or an epoll instance, whose members may become so.
#[inline]
pub(crate) fn needs_waking(fd: c_int) -> bool {
    epoll(fd).is_some() || is_accelerated(fd)
}

/// Returns the slot of a known epoll instance.
#[inline]
pub(crate) fn epoll(fd: c_int) -> Option<&'static Slot> {
    find(fd).filter(|slot| slot.is_epoll())
}

/// Returns a descriptor's slot, if it was ever handled.
#[inline]
pub(crate) fn find(fd: c_int) -> Option<&'static Slot> {
    let at = usize::try_from(fd).ok()?;
    let block = BLOCKS_TABLE.get(at / BLOCK)?.load(Ordering::Acquire);
    // SAFETY: a block is never freed.
    let slot = unsafe { block.as_ref() }?[at % BLOCK].load(Ordering::Acquire);
    // SAFETY: a slot is never freed.
    unsafe { slot.as_ref() }
}

/// Returns a descriptor's slot, created if necessary; `None` for a number beyond the table.
pub(crate) fn find_or_create(fd: c_int) -> Option<&'static Slot> {
    if let Some(slot) = find(fd) {
        return Some(slot);
    }
    let at = usize::try_from(fd).ok()?;
    let block = BLOCKS_TABLE.get(at / BLOCK)?;
    let new = || Box::new([const { AtomicPtr::new(std::ptr::null_mut()) }; BLOCK]);
    // SAFETY: a block is never freed.
    let block = unsafe { &*publish(block, new) };
    // SAFETY: a slot is never freed.
    Some(unsafe { &*publish(&block[at % BLOCK], Box::<Slot>::default) })
}

/// Returns what the place points to, after storing a new value there if it is empty.
fn publish<T>(place: &AtomicPtr<T>, new: impl FnOnce() -> Box<T>) -> *mut T {
    let found = place.load(Ordering::Acquire);
    if !found.is_null() {
        return found;
    }
    let new = Box::into_raw(new());
    match place.compare_exchange(std::ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => new,
        Err(found) => {
            // SAFETY: the value came from a box and was not published.
            drop(unsafe { Box::from_raw(new) });
            found
        }
    }
}

/// Calls `on` with every descriptor that the library handles.
pub(crate) fn for_each(mut on: impl FnMut(c_int, &'static Slot)) {
    for (at, block) in BLOCKS_TABLE.iter().enumerate() {
        // SAFETY: a block is never freed.
        let Some(block) = (unsafe { block.load(Ordering::Acquire).as_ref() }) else { continue };
        for (index, slot) in block.iter().enumerate() {
            // SAFETY: a slot is never freed.
            let Some(slot) = (unsafe { slot.load(Ordering::Acquire).as_ref() }) else { continue };
            if slot.kind.load(Ordering::Acquire) != PLAIN {
                on((at * BLOCK + index) as c_int, slot);
            }
        }
    }
}

/// Forgets all descriptors, in a forked child: the locks of the slots may be held there by threads
/// that do not exist.
pub(crate) fn forget_all() {
    BLOCKS_TABLE.iter().for_each(|block| block.store(std::ptr::null_mut(), Ordering::Relaxed));
    ACCELERATED.store(0, Ordering::Relaxed);
}
