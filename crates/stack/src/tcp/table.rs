//! All TCP connections of a stack, and their progress without their owners.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration as StdDuration;

use hairpin_time::{Duration, Instant};
use hairpin_wire::EthernetHeader;
use hairpin_xdp::Entry;

use super::bypass::BATCH;
use super::flow_table::FlowKey;
use super::injector::Injector;
use super::now;
use super::socket::SocketState;
use super::takeover::{CONNECTIONS, RING, TakeoverError, new_ring};
use crate::control_plane::NextHop;
use crate::stack::SharedState;

/// A byte ring.
pub(super) type Ring = Box<[u8]>;

/// The time after which the stack's thread makes progress for an owner that does not poll, and its
/// interval.
const UNATTENDED: Duration = Duration::from_millis(5);
const INTERVAL: StdDuration = StdDuration::from_millis(5);
/// The time after which the thread hands an unattended connection back.
const ABANDONED: Duration = Duration::from_millis(100);
/// The time for which frames of a flow may arrive after its filter entry was removed.
const RETIRED: Duration = Duration::from_millis(50);
/// The most rings kept for the next takeovers.
const SPARE_RINGS: usize = 64;

/// The counters of a stack's TCP connections.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TcpCounters {
    /// Connections that bypass the kernel now.
    pub bypassing: u64,
    /// Takeovers.
    pub taken_over: u64,
    /// Handbacks.
    pub handed_back: u64,
    /// Handbacks because the owner did not poll for 100 ms.
    pub abandoned: u64,
    /// Takeovers refused because data were unacknowledged or unread.
    pub busy: u64,
    /// Takeovers refused for another reason.
    pub refused: u64,
    /// Bytes that the kernel still received after a takeover.
    pub late_bytes: u64,
    /// Packets presented to the kernel at and after handbacks.
    pub injected: u64,
    /// Frames dropped: an invalid length or checksum.
    pub malformed: u64,
}

impl TcpCounters {
    /// Iterates over the counters with their names, in declaration order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        [
            ("bypassing", self.bypassing),
            ("taken_over", self.taken_over),
            ("handed_back", self.handed_back),
            ("abandoned", self.abandoned),
            ("busy", self.busy),
            ("refused", self.refused),
            ("late_bytes", self.late_bytes),
            ("injected", self.injected),
            ("malformed", self.malformed),
        ]
        .into_iter()
    }
}

/// The TCP connections of a stack.
#[derive(Debug)]
pub(crate) struct TcpTable {
    inner: Mutex<Inner>,
    injector: Option<Injector>,
    pub(super) trusts_checksums: bool,
    /// The number of connections taken over, and that of retired flows.
    bypassing: AtomicUsize,
    retired: AtomicUsize,
    taken_over: AtomicU64,
    handed_back: AtomicU64,
    abandoned: AtomicU64,
    busy: AtomicU64,
    refused: AtomicU64,
    late_bytes: AtomicU64,
    injected: AtomicU64,
    malformed: AtomicU64,
}

#[derive(Debug, Default)]
struct Inner {
    sockets: Vec<Arc<SocketState>>,
    retired: Vec<RetiredFlow>,
    rings: Vec<Ring>,
    /// The next hops by addresses, with the generation in which they were found.
    hops: HashMap<[IpAddr; 2], (u64, NextHop)>,
}

/// A flow that was handed back, whose last frames may still be on their way.
#[derive(Debug)]
struct RetiredFlow {
    flow: usize,
    key: FlowKey,
    until: Instant,
}

impl TcpTable {
    /// Creates the table. Call it in the network namespace of the interface.
    pub(crate) fn new(trusts_checksums: bool) -> Self {
        Self {
            inner: Mutex::default(),
            injector: Injector::open().ok(),
            trusts_checksums,
            bypassing: AtomicUsize::new(0),
            retired: AtomicUsize::new(0),
            taken_over: AtomicU64::new(0),
            handed_back: AtomicU64::new(0),
            abandoned: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            late_bytes: AtomicU64::new(0),
            injected: AtomicU64::new(0),
            malformed: AtomicU64::new(0),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn counters(&self) -> TcpCounters {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TcpCounters {
            bypassing: self.bypassing.load(Ordering::Relaxed) as u64,
            taken_over: read(&self.taken_over),
            handed_back: read(&self.handed_back),
            abandoned: read(&self.abandoned),
            busy: read(&self.busy),
            refused: read(&self.refused),
            late_bytes: read(&self.late_bytes),
            injected: read(&self.injected),
            malformed: read(&self.malformed),
        }
    }

    pub(super) fn count_malformed(&self) {
        self.malformed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_late(&self, bytes: u64) {
        self.late_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn count_refusal(&self, error: &TakeoverError) {
        let counter = if matches!(error, TakeoverError::Busy) { &self.busy } else { &self.refused };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Reserves a place for a connection.
    pub(super) fn reserve(&self) -> Result<(), TakeoverError> {
        let update = |count| (count < CONNECTIONS).then_some(count + 1);
        let reserved = self.bypassing.fetch_update(Ordering::Relaxed, Ordering::Relaxed, update);
        reserved.map(drop).map_err(|_| TakeoverError::Full)
    }

    /// Returns the place of a connection.
    pub(super) fn release(&self) {
        self.bypassing.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn count_takeover(&self) {
        self.taken_over.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_handback(&self) {
        self.handed_back.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add(&self, socket: &Arc<SocketState>) {
        self.inner().sockets.push(Arc::clone(socket));
    }

    pub(super) fn remove(&self, socket: &Arc<SocketState>) {
        self.inner().sockets.retain(|other| !Arc::ptr_eq(other, socket));
    }

    /// Returns a ring of this length, reused if possible.
    pub(super) fn ring(&self, length: usize) -> Ring {
        let spare = if length == RING { self.inner().rings.pop() } else { None };
        spare.unwrap_or_else(|| new_ring(length))
    }

    pub(super) fn return_rings(&self, send: Ring, receive: Ring) {
        let mut inner = self.inner();
        for ring in [send, receive] {
            if ring.len() == RING && inner.rings.len() < SPARE_RINGS {
                inner.rings.push(ring);
            }
        }
    }

    /// Finds the next hop between two endpoints, in the cache or from the kernel.
    pub(super) fn next_hop(
        &self,
        shared: &SharedState,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> Result<NextHop, TakeoverError> {
        let addresses = [local, remote].map(|end| end.ip().to_canonical());
        let generation = shared.generation();
        if let Some((found, hop)) = self.inner().hops.get(&addresses)
            && *found == generation
        {
            return Ok(hop.clone());
        }
        let [source, to] = addresses;
        let hop = shared.control_plane().next_hop(shared, source, to)?;
        let hop = hop.map_err(TakeoverError::Path)?;
        self.inner().hops.insert(addresses, (generation, hop.clone()));
        Ok(hop)
    }

    /// Removes a flow from the filter. Its queue stays for frames that are on their way.
    pub(super) fn retire(&self, shared: &SharedState, entry: &Entry, flow: usize) {
        let mut control_plane = shared.control_plane();
        let data_plane = shared.data_plane();
        control_plane.entries.remove(&data_plane.interface, entry);
        drop(data_plane);
        drop(control_plane);
        let Entry::Flow { local, remote, .. } = *entry else { return };
        let (key, until) = (FlowKey::new(remote, local), now() + RETIRED);
        self.inner().retired.push(RetiredFlow { flow, key, until });
        self.retired.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the retirement of a flow that is taken over again.
    pub(super) fn forget_flow(&self, shared: &SharedState, key: FlowKey) {
        if self.retired.load(Ordering::Relaxed) == 0 {
            return;
        }
        self.drain_retired(shared);
        let mut inner = self.inner();
        let mut forgotten = Vec::new();
        inner.retired.retain(|retired| {
            if retired.key == key {
                forgotten.push(retired.flow);
            }
            retired.key != key
        });
        drop(inner);
        self.detach(shared, &forgotten);
    }

    fn detach(&self, shared: &SharedState, flows: &[usize]) {
        self.retired.fetch_sub(flows.len(), Ordering::Relaxed);
        flows.iter().for_each(|&flow| shared.data_plane().detach_flow(flow));
    }

    /// Presents the frames of retired flows to the kernel.
    pub(super) fn drain_retired(&self, shared: &SharedState) {
        let flows: Vec<_> = self.inner().retired.iter().map(|retired| retired.flow).collect();
        let (mut packets, mut late) = (Vec::with_capacity(BATCH), Vec::new());
        for flow in flows {
            let mut data_plane = shared.data_plane();
            // An error is the interface's, and reported to the sockets.
            while data_plane.receive_flow(flow, &mut packets, BATCH).is_ok() && !packets.is_empty()
            {
                for packet in packets.drain(..) {
                    late.push(data_plane.interface.bytes(&packet)[EthernetHeader::SIZE..].to_vec());
                    data_plane.interface.release(packet.into_frame());
                }
            }
        }
        late.iter_mut().for_each(|packet| self.inject(packet));
    }

    /// Presents an IP packet to the kernel. A packet that cannot be injected is lost, and sent
    /// again by the peer.
    pub(super) fn inject(&self, packet: &mut [u8]) {
        if let Some(injector) = &self.injector
            && injector.inject(packet).is_ok()
        {
            self.injected.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the interval of [`make_progress`](Self::make_progress); `None` if there is nothing
    /// to do.
    pub(crate) fn poll_interval(&self) -> Option<StdDuration> {
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        (count(&self.bypassing) + count(&self.retired) > 0).then_some(INTERVAL)
    }

    /// Acknowledges and sends again for owners that do not poll, and hands their connections back
    /// after some time.
    pub(crate) fn make_progress(&self, shared: &SharedState) {
        if self.poll_interval().is_none() {
            return;
        }
        let time = now();
        let sockets = self.inner().sockets.clone();
        for socket in sockets {
            let unattended = socket.make_progress(shared, time, UNATTENDED, ABANDONED);
            self.abandoned.fetch_add(u64::from(unattended), Ordering::Relaxed);
        }
        if self.retired.load(Ordering::Relaxed) > 0 {
            self.drain_retired(shared);
            self.end_retirements(shared, time);
        }
    }

    fn end_retirements(&self, shared: &SharedState, time: Instant) {
        let mut ended = Vec::new();
        self.inner().retired.retain(|retired| {
            if retired.until <= time {
                ended.push(retired.flow);
            }
            retired.until > time
        });
        self.detach(shared, &ended);
    }
}
