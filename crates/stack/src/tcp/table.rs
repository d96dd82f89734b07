//! All TCP connections of a stack, and their progress without their owners.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration as StdDuration;

use hairpin_time::{Duration, Instant};
use hairpin_wire::EthernetHeader;
use hairpin_xdp::Entry;

use super::bypass::{BATCH, segment};
use super::counters::{Count, Counts, TcpCounters};
use super::flow_table::FlowKey;
use super::injector::Injector;
use super::keeper::KeeperClient;
use super::next_hops::NextHops;
use super::now;
use super::ring::Ring;
use super::socket::SocketState;
use super::takeover::{CONNECTIONS, RING, TakeoverError};
use crate::StackSettings;
use crate::control_plane::NextHop;
use crate::stack::SharedState;

/// The time after which the stack's thread makes progress for an owner that does not poll, and its
/// interval.
const UNATTENDED: Duration = Duration::from_millis(5);
const INTERVAL: StdDuration = StdDuration::from_millis(5);
/// The time for which frames of a flow may arrive after its filter entry was removed.
const RETIRED: Duration = Duration::from_millis(50);
/// The time for which the thread stays at its interval.
const AWAKE: Duration = Duration::from_secs(1);
/// The most rings kept for the next takeovers.
const SPARE_RINGS: usize = 64;

/// The TCP connections of a stack.
#[derive(Debug)]
pub(crate) struct TcpTable {
    inner: Mutex<Inner>,
    /// Locked before the data plane, and held while their frames are presented to the kernel, so
    /// that no frame of a flow that is taken over again is.
    retired_flows: Mutex<Vec<RetiredFlow>>,
    injector: Option<Injector>,
    pub(crate) keeper: Option<KeeperClient>,
    /// The time after which the thread hands an unattended connection back.
    pub(super) unpolled_max: Duration,
    /// The number of connections taken over, and that of retired flows.
    bypassing: AtomicUsize,
    retired: AtomicUsize,
    counts: Counts,
    mode_reported: AtomicBool,
    /// The time until which the thread does not sleep long, in nanoseconds.
    awake_until: AtomicU64,
}

#[derive(Debug, Default)]
struct Inner {
    sockets: Vec<Arc<SocketState>>,
    rings: Vec<Ring>,
    hops: NextHops<NextHop>,
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
    pub(crate) fn new(settings: &StackSettings) -> Self {
        let (keeper, unpolled_max) = (settings.keeper.clone(), settings.unpolled_max.as_nanos());
        Self {
            inner: Mutex::default(),
            retired_flows: Mutex::default(),
            injector: match &keeper {
                Some(keeper) => Some(Injector::Keeper(keeper.clone())),
                None => Injector::open().ok(),
            },
            keeper,
            unpolled_max: Duration::from_nanos(u64::try_from(unpolled_max).unwrap_or(u64::MAX)),
            bypassing: AtomicUsize::new(0),
            retired: AtomicUsize::new(0),
            counts: Counts::new(),
            mode_reported: AtomicBool::new(false),
            awake_until: AtomicU64::new(0),
        }
    }

    /// Returns the injector; `None` without `CAP_NET_RAW` and keeper.
    pub(crate) fn injector(&self) -> Option<&Injector> {
        self.injector.as_ref()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn retired_flows(&self) -> MutexGuard<'_, Vec<RetiredFlow>> {
        self.retired_flows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn counters(&self) -> TcpCounters {
        self.counts.read(self.bypassing.load(Ordering::Relaxed) as u64)
    }

    pub(super) fn count(&self, count: Count, number: u64) {
        self.counts.add(count, number);
    }

    pub(super) fn count_refusal(&self, error: &TakeoverError) {
        if let Some(count) = Count::refusal(error) {
            self.count(count, 1);
        }
    }

    /// Returns `true` from the second call on.
    pub(crate) fn is_mode_reported(&self) -> bool {
        self.mode_reported.swap(true, Ordering::Relaxed)
    }

    /// Reserves a place for a connection. If all are in use, the connection that was idle
    /// longest is handed back.
    pub(super) fn reserve(&self, shared: &SharedState) -> Result<(), TakeoverError> {
        let update = |count| (count < CONNECTIONS).then_some(count + 1);
        let reserve = || self.bypassing.fetch_update(Ordering::Relaxed, Ordering::Relaxed, update);
        while reserve().is_err() {
            self.displace(shared).ok_or(TakeoverError::Full)?;
        }
        Ok(())
    }

    /// Hands the connection back that was idle longest, of those that no other thread uses now.
    #[cold]
    fn displace(&self, shared: &SharedState) -> Option<()> {
        let sockets = self.inner().sockets.clone();
        let mut idle: Vec<_> = sockets
            .iter()
            .filter_map(|socket| socket.active_at().map(|active_at| (active_at, socket)))
            .collect();
        idle.sort_by_key(|(active_at, _)| *active_at);
        idle.iter().find_map(|(_, socket)| socket.displace(shared))
    }

    /// Returns the place of a connection.
    pub(super) fn release(&self) {
        self.bypassing.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns `true` if each connection may keep one of the UMEM's `frames`: at most an eighth.
    #[inline]
    pub(super) fn spares_frames(&self, frames: u32) -> bool {
        self.bypassing.load(Ordering::Relaxed) <= frames as usize / 8
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
        spare.unwrap_or_else(|| Ring::new(length))
    }

    /// Keeps private rings for the next takeovers. The keeper releases its descriptor before this
    /// returns.
    pub(super) fn return_rings(&self, send: Ring, receive: Ring) {
        for ring in [send, receive] {
            if !matches!(ring, Ring::Private(_)) || ring.len() != RING {
                continue;
            }
            let mut inner = self.inner();
            if inner.rings.len() < SPARE_RINGS {
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
        if let Some(hop) = self.inner().hops.get(&addresses, generation) {
            return Ok(hop.clone());
        }
        let [source, to] = addresses;
        let hop = shared.control_plane().next_hop(shared, source, to)?;
        let hop = hop.map_err(TakeoverError::Path)?;
        self.inner().hops.insert(addresses, generation, hop.clone());
        Ok(hop)
    }

    /// Returns `true` if the kernel can connect the two endpoints: it needs a route.
    pub(super) fn has_route(
        &self,
        shared: &SharedState,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> bool {
        let [source, to] = [local, remote].map(|end| end.ip().to_canonical());
        let generation = shared.generation();
        let is_known = self.inner().hops.get(&[source, to], generation).is_some();
        is_known || shared.control_plane().has_route(source, to, shared.interface)
    }

    /// Removes a flow from the filter, which a keeper has done with its last request. Its queue
    /// stays for frames that are on their way.
    pub(super) fn retire(&self, shared: &SharedState, entry: &Entry, flow: usize) {
        if self.keeper.is_none() {
            let mut control_plane = shared.control_plane();
            control_plane.entries.remove(&shared.data_plane(), entry, -1);
        }
        let Entry::Flow { local, remote, .. } = *entry else { return };
        let (key, until) = (FlowKey::new(remote, local), now() + RETIRED);
        self.retired_flows().push(RetiredFlow { flow, key, until });
        self.retired.fetch_add(1, Ordering::Relaxed);
        // The thread presents the last frames to the kernel.
        self.keep_awake(shared);
    }

    /// Makes the stack's thread make progress. It keeps doing so for some time after the last
    /// connection: a wakeup costs more than the rest of a takeover.
    pub(super) fn keep_awake(&self, shared: &SharedState) {
        let time = now();
        let until = (time + AWAKE).as_nanos();
        if self.awake_until.swap(until, Ordering::SeqCst) < time.as_nanos() {
            shared.event_source.wake();
        }
    }

    /// Ends the retirement of a flow that is taken over again. Its queue stays, so that no frame
    /// is without a flow; the frames in it are presented to the kernel.
    pub(super) fn reuse_flow(&self, shared: &SharedState, key: FlowKey) {
        if self.retired.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut retired = self.retired_flows();
        self.drain(shared, &retired);
        let before = retired.len();
        retired.retain(|flow| flow.key != key);
        self.retired.fetch_sub(before - retired.len(), Ordering::Relaxed);
    }

    /// Presents the frames of retired flows to the kernel.
    pub(super) fn drain_retired(&self, shared: &SharedState) {
        self.drain(shared, &self.retired_flows());
    }

    fn drain(&self, shared: &SharedState, retired: &[RetiredFlow]) {
        let (mut packets, mut late) = (Vec::with_capacity(BATCH), Vec::new());
        for flow in retired {
            let mut data_plane = shared.data_plane();
            let (mac, mut has_partial) = (data_plane.mac(), true);
            // An error is the interface's, and reported to the sockets.
            while data_plane.receive_flow(flow.flow, &mut packets, BATCH).is_ok()
                && !packets.is_empty()
            {
                for packet in packets.drain(..) {
                    let frame = data_plane.interface.bytes(&packet);
                    match segment(frame, mac, &mut has_partial) {
                        Ok(_) => late.push(frame[EthernetHeader::SIZE..].to_vec()),
                        Err(cause) => self.count(Count::drop(cause), 1),
                    }
                    data_plane.interface.release(packet.into_frame());
                }
            }
        }
        for packet in &mut late {
            self.inject(packet);
        }
    }

    /// Presents an IP packet to the kernel. A packet that cannot be injected is lost, and sent
    /// again by the peer. Returns `true` if it was presented.
    pub(super) fn inject(&self, packet: &mut [u8]) -> bool {
        let injected = self.injector.as_ref().is_some_and(|to| to.inject(packet).is_ok());
        self.count(if injected { Count::Injected } else { Count::NotInjected }, 1);
        injected
    }

    /// Hands all connections back after the keeper has ended, and takes none over any more. The
    /// first stack that notices it returns the number of connections that are left.
    #[cold]
    pub(crate) fn on_keeper_lost(&self, shared: &SharedState) -> Option<usize> {
        let keeper = self.keeper.as_ref()?;
        keeper.set_lost();
        let sockets = self.inner().sockets.clone();
        sockets.iter().for_each(|socket| socket.leave_keeper(shared));
        keeper.take_report().then(|| self.bypassing.load(Ordering::Relaxed))
    }

    /// Returns `true` if a connection is taken over.
    pub(crate) fn has_bypass(&self) -> bool {
        self.bypassing.load(Ordering::Relaxed) > 0
    }

    /// Hands the connections back that a rule of the host restricts now.
    #[cold]
    pub(crate) fn obey_rules(&self, shared: &SharedState, families: u32) {
        let sockets = self.inner().sockets.clone();
        sockets.iter().for_each(|socket| socket.obey_rules(shared, families));
    }

    /// Returns the interval of [`make_progress`](Self::make_progress); `None` if there is nothing
    /// to do.
    pub(crate) fn poll_interval(&self) -> Option<StdDuration> {
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        let is_active = count(&self.bypassing) + count(&self.retired) > 0;
        let awake_until = self.awake_until.load(Ordering::SeqCst);
        (is_active || awake_until > 0 && now().as_nanos() < awake_until).then_some(INTERVAL)
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
            socket.make_progress(shared, time, UNATTENDED, self.unpolled_max);
        }
        if self.retired.load(Ordering::Relaxed) > 0 {
            self.end_retirements(shared, time);
        }
    }

    fn end_retirements(&self, shared: &SharedState, time: Instant) {
        let mut retired = self.retired_flows();
        self.drain(shared, &retired);
        retired.retain(|flow| {
            if flow.until <= time {
                shared.data_plane().detach_flow(flow.flow);
                self.retired.fetch_sub(1, Ordering::Relaxed);
            }
            flow.until > time
        });
    }
}
