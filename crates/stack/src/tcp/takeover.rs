//! Takeover: the kernel's connection becomes one of the engine.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use hairpin_tcp::{Config, Connection, PreparedHeader, Rings, Route, Snapshot, Timestamps};
use hairpin_time::{Duration, Instant};
use hairpin_wire::MacAddress;
use hairpin_xdp::{Entry, EntryError, Protocol};

use super::bypass::{Bypass, FrameCheck};
use super::counters::Count;
use super::flow_table::FlowKey;
use super::kernel_socket::{
    Beside, ESTABLISHED, Info, KernelSocket, OPTION_ECN, OPTION_MICROSECONDS, OPTION_SACK,
    OPTION_TIMESTAMPS,
};
use super::now;
use super::ring::Ring;
use super::transfer::{Refusal, Taken};
use crate::FallbackReason;
use crate::readiness::Readiness;
use crate::stack::SharedState;

/// The most connections taken over at once.
pub(super) const CONNECTIONS: usize = 1_024;
/// The length of a send ring, and the lowest of a receive ring.
pub(super) const RING: usize = 128 << 10;
/// The longest receive ring: the kernel's own limit of a buffer is 6 MiB (`tcp_rmem`).
pub(super) const RING_MAX: usize = 8 << 20;

/// The shortest time before keep-alives, in seconds. A silent connection is handed back after 10 s,
/// and the kernel counts from then on.
const KEEPALIVE_MIN: i32 = 60;

/// The reason why a connection cannot be taken over now.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TakeoverError {
    /// Sent data are not acknowledged, or received data are not read. Read, and try again when the
    /// peer has answered.
    #[error("cannot take over: data are unacknowledged or unread")]
    Busy,
    /// The connection is not established, or one side has closed it.
    #[error("cannot take over: the connection is not established")]
    State,
    /// The connection uses something that only the kernel implements.
    #[error("cannot take over: the connection uses {0}")]
    Feature(&'static str),
    /// The path does not bypass the kernel.
    #[error("cannot take over: {0}")]
    Path(FallbackReason),
    /// Too many connections are taken over, or the keeper has too few descriptors for another one.
    #[error("cannot take over: the keeper holds no more connections, {CONNECTIONS} at most")]
    Full,
    /// The receive window is larger than a ring may be.
    #[error("cannot take over: the receive window of {0} bytes exceeds 8 MiB")]
    Window(u32),
    /// The keeper has ended, or does not answer.
    #[error("cannot take over: the keeper has ended")]
    Keeper,
    /// A rule of the host applies to the connection, of a firewall for example.
    #[error("cannot take over: {0}")]
    Rule(String),
    /// The filter rejects the flow.
    #[error(transparent)]
    Filter(#[from] hairpin_xdp::EntryError),
    /// The kernel's error; `PermissionDenied` without `CAP_NET_ADMIN`.
    #[error("cannot take over: {0}")]
    Kernel(#[from] io::Error),
}

/// The IPv6 and TCP headers of a segment, without options.
const HEADERS: u32 = 60;

/// What only the kernel implements.
pub(super) mod feature {
    pub(crate) const ECN: &str = "ECN";
    pub(crate) const MPTCP: &str = "MPTCP";
    pub(crate) const AUTHENTICATION: &str = "TCP-AO";
    pub(crate) const UPPER_LAYER: &str = "an upper layer protocol, such as TLS";
    pub(crate) const USER_TIMEOUT: &str = "TCP_USER_TIMEOUT";
    pub(crate) const KEEPALIVE: &str = "a keep-alive within a minute";
    pub(crate) const MICROSECONDS: &str = "timestamps in microseconds";
    /// Frames presented to the kernel arrive over loopback.
    pub(crate) const BOUND_TO_DEVICE: &str = "SO_BINDTODEVICE";
}

/// The properties of a kernel's socket that stay the same, read by the first takeover.
#[derive(Debug, Default)]
pub(super) struct Constants {
    /// Set once the protocol is known to be TCP without authentication.
    is_plain: OnceLock<()>,
    /// The local and the remote address. An adopted descriptor may be connected again.
    addresses: OnceLock<[SocketAddr; 2]>,
}

impl Constants {
    fn check(&self, socket: KernelSocket<'_>) -> Result<(), TakeoverError> {
        if self.is_plain.get().is_some() {
            return Ok(());
        }
        if socket.protocol()? != libc::IPPROTO_TCP {
            return Err(TakeoverError::Feature(feature::MPTCP));
        }
        if socket.has_authentication() {
            return Err(TakeoverError::Feature(feature::AUTHENTICATION));
        }
        let _ = self.is_plain.set(());
        Ok(())
    }

    fn addresses(
        &self,
        socket: KernelSocket<'_>,
        is_owned: bool,
    ) -> Result<[SocketAddr; 2], TakeoverError> {
        if let Some(addresses) = self.addresses.get() {
            return Ok(*addresses);
        }
        let reference = socket2::SockRef::from(&socket.fd);
        let [local, remote] = [reference.local_addr()?, reference.peer_addr()?]
            .map(|address| address.as_socket().ok_or(TakeoverError::State));
        let addresses = [local?, remote?];
        if is_owned {
            let _ = self.addresses.set(addresses);
        }
        Ok(addresses)
    }
}

/// The state read from the kernel.
struct KernelState {
    snapshot: Snapshot,
    /// The sequence number of the first byte that the program has not read.
    first_unread: u32,
    segment_size: u32,
    /// The time of the snapshot's timestamps.
    timestamps_at: Instant,
}

/// Takes a connection over.
///
/// # Errors
/// See [`TakeoverError`]. The kernel's socket is as before.
pub(super) fn take_over(
    shared: &SharedState,
    socket: KernelSocket<'_>,
    constants: &Constants,
    is_owned: bool,
    readiness: &Arc<Readiness>,
) -> Result<Bypass, TakeoverError> {
    let info = check(socket, constants, is_owned)?;
    let [local, remote] = constants.addresses(socket, is_owned)?;
    // Before the path and the filter change, which is expensive.
    is_quiet(shared, socket, &info)?;
    let generation = shared.generation();
    let hop = shared.tcp.next_hop(shared, local, remote)?;
    let (ttl, traffic_class) = socket.ip_options(local.ip().to_canonical().is_ipv4())?;
    let [source_mac, next_hop] = [hop.source_mac, hop.mac].map(MacAddress);
    let forward = Route { source_mac, next_hop, local, remote, ttl, traffic_class };
    let config = Config { nagle: !socket.has_nodelay()?, ..Config::default() };
    let (keepalive, reuse) = (socket.keepalive()?, socket.reuse_address()?);
    // If this process dies in between, the peer would wait without limit.
    let mut send_ring = reserve(shared, reuse)?;
    let entry = Entry::Flow { protocol: Protocol::Tcp, vlan: None, local, remote };
    let key = FlowKey::new(remote, local);
    shared.tcp.reuse_flow(shared, key);
    let flow = add_flow(shared, &entry, key, readiness)?;
    let taken = take(shared, socket, &send_ring, &info);
    if reuse != 0 {
        // The end of repair mode has cleared it, and a listener may bind the port again.
        let _ = socket.set_reuse_address(reuse);
    }
    let created = taken.and_then(|taken| {
        let state = read_state(shared, socket, &info, &taken);
        let created =
            state.and_then(|state| create(shared, flow, state, config, &mut send_ring, reuse));
        created.inspect_err(|_| drop(undo(socket, &send_ring, &taken)))
    });
    let Created { connection, receive_ring, taken_at, first_unread, segment_size } =
        created.inspect_err(|_| give_up(shared, &entry, flow))?;
    // Otherwise the silent socket would give up after the time of the keep-alive.
    let _ = if keepalive != 0 { socket.set_keepalive(0) } else { Ok(()) };
    Ok(Bypass {
        connection,
        send_ring,
        receive_ring,
        header: PreparedHeader::new(&forward),
        from_peer: PreparedHeader::new(&Route { local: remote, remote: local, ..forward }),
        local,
        remote,
        entry,
        flow,
        queue: shared.queue(flow as u32),
        hop,
        generation,
        has_path: true,
        kernel_next: first_unread,
        read_from_kernel: 0,
        segment_size,
        keepalive,
        reuse,
        is_bound: false,
        is_aborted: false,
        taken_at,
        active_at: taken_at,
        for_kernel: Vec::new(),
        beside: Beside::default(),
        packets: Vec::with_capacity(super::bypass::BATCH),
        spare: None,
        received: None,
        check: FrameCheck::new(),
    })
}

/// Ends a takeover that failed. Frames that were redirected meanwhile reach the kernel.
#[cold]
fn give_up(shared: &SharedState, entry: &Entry, flow: usize) {
    shared.tcp.retire(shared, entry, flow);
    shared.tcp.drain_retired(shared);
}

/// Reserves the send ring: one that the keeper reads after the death of this process, if there is
/// a keeper.
fn reserve(shared: &SharedState, reuse: i32) -> Result<Ring, TakeoverError> {
    let Some(keeper) = &shared.tcp.keeper else { return Ok(shared.tcp.ring(RING)) };
    if keeper.is_lost() {
        return Err(TakeoverError::Keeper);
    }
    keeper.reserve(reuse != 0)?.ok_or(TakeoverError::Full).map(Ring::Kept)
}

/// Takes the connection from the kernel's socket while its flow is already redirected.
fn take(
    shared: &SharedState,
    socket: KernelSocket<'_>,
    send_ring: &Ring,
    info: &Info,
) -> Result<Taken, TakeoverError> {
    let taken = match send_ring {
        Ring::Kept(kept) => kept.take(socket.fd, shared.interface, info.out_of_order),
        Ring::Private(_) => Taken::read(socket, info.out_of_order),
    };
    taken.map_err(|refusal| match refusal {
        Refusal::Unacknowledged => busy(shared, Count::Unacknowledged),
        Refusal::OutOfOrder => busy(shared, Count::OutOfOrder),
        Refusal::Full => TakeoverError::Full,
        Refusal::NothingArrived => TakeoverError::Path(FallbackReason::NothingArrived),
        Refusal::NoKeeper => TakeoverError::Keeper,
        Refusal::Rule(rule) => TakeoverError::Rule(rule),
        Refusal::FilterFull => TakeoverError::Filter(EntryError::Full),
        Refusal::Kernel(error) => error.into(),
    })
}

/// Returns the connection to the kernel, which has everything.
#[cold]
fn undo(socket: KernelSocket<'_>, send_ring: &Ring, taken: &Taken) -> io::Result<()> {
    match send_ring {
        Ring::Kept(kept) => kept.undo(),
        Ring::Private(_) => taken.undo(socket),
    }
}

/// A connection of the engine and what was read for it.
struct Created {
    connection: Box<Connection>,
    receive_ring: Ring,
    taken_at: Instant,
    first_unread: u32,
    segment_size: u32,
}

/// Creates the connection and its receive ring.
fn create(
    shared: &SharedState,
    flow: usize,
    state: KernelState,
    config: Config,
    send_ring: &mut Ring,
    reuse: i32,
) -> Result<Created, TakeoverError> {
    let KernelState { snapshot, first_unread, segment_size, timestamps_at } = state;
    let taken_at = now();
    // A clock that were behind the kernel's by the time that this thread did not run would be
    // older than what the kernel has sent.
    let at_time = |timestamps: Timestamps| timestamps.at(timestamps_at, taken_at);
    let timestamps = snapshot.timestamps.map(at_time);
    let snapshot = &Snapshot { timestamps, ..snapshot };
    let length = ring_length(snapshot.receive_window).unwrap_or(RING_MAX);
    let mut receive_ring = shared.tcp.ring(length);
    let mut rings = Rings { send: send_ring, receive: &mut receive_ring };
    let connection = Connection::new(taken_at, snapshot, &[], config, &mut rings);
    let connection = connection.map_err(|error| TakeoverError::Kernel(io::Error::other(error)))?;
    if let Ring::Kept(kept) = send_ring {
        kept.begin(segment_size, reuse != 0, &connection.numbers());
    }
    let window = receive_ring.len().div_ceil(usize::from(snapshot.segment_size));
    shared.data_plane().set_flow_window(flow, window.try_into().unwrap_or(u32::MAX));
    let connection = Box::new(connection);
    Ok(Created { connection, receive_ring, taken_at, first_unread, segment_size })
}

/// Checks what is established and used; the rest of the engine's requirements follow from the
/// segments.
fn check(
    socket: KernelSocket<'_>,
    constants: &Constants,
    is_owned: bool,
) -> Result<Info, TakeoverError> {
    let info = socket.info()?;
    if info.state != ESTABLISHED {
        return Err(TakeoverError::State);
    }
    if info.options & OPTION_ECN != 0 {
        return Err(TakeoverError::Feature(feature::ECN));
    }
    if info.options & OPTION_MICROSECONDS != 0 {
        return Err(TakeoverError::Feature(feature::MICROSECONDS));
    }
    constants.check(socket)?;
    if socket.has_upper_layer() {
        return Err(TakeoverError::Feature(feature::UPPER_LAYER));
    }
    // They act later than with the kernel alone, which an unmodified program does not expect.
    if !is_owned {
        if socket.user_timeout()? != 0 {
            return Err(TakeoverError::Feature(feature::USER_TIMEOUT));
        }
        if socket.keepalive()? != 0 && socket.keepalive_idle()? < KEEPALIVE_MIN {
            return Err(TakeoverError::Feature(feature::KEEPALIVE));
        }
    }
    if socket.bound_interface()? != 0 {
        return Err(TakeoverError::Feature(feature::BOUND_TO_DEVICE));
    }
    Ok(info)
}

/// Checks that nothing is unacknowledged, unread or queued out of order.
fn is_quiet(
    shared: &SharedState,
    socket: KernelSocket<'_>,
    info: &Info,
) -> Result<(), TakeoverError> {
    let cause = if info.unacknowledged != 0 || info.unsent != 0 {
        Count::Unacknowledged
    } else if socket.memory()?[0] == 0 {
        return Ok(());
    } else if socket.unread()? != 0 {
        Count::Unread
    } else {
        Count::OutOfOrder
    };
    Err(busy(shared, cause))
}

/// Counts a cause of [`TakeoverError::Busy`].
fn busy(shared: &SharedState, cause: Count) -> TakeoverError {
    shared.tcp.count(cause, 1);
    TakeoverError::Busy
}

/// Adds the queue of the flow and then its filter entry, so that no frame is lost.
/// With a keeper, which enters the flow with its next request, the queue only.
fn add_flow(
    shared: &SharedState,
    entry: &Entry,
    key: FlowKey,
    readiness: &Arc<Readiness>,
) -> Result<usize, TakeoverError> {
    let mut control_plane = shared.control_plane();
    let mut data_plane = shared.data_plane();
    if shared.tcp.keeper.is_none() && !data_plane.interface.has_arrived(entry)? {
        return Err(TakeoverError::Path(FallbackReason::NothingArrived));
    }
    let flow = data_plane.attach_flow(key, Arc::clone(readiness));
    if shared.tcp.keeper.is_none()
        && let Err(error) = control_plane.entries.add(&data_plane, *entry, -1)
    {
        data_plane.detach_flow(flow);
        return Err(error.into());
    }
    Ok(flow)
}

/// Returns the state of a connection that was taken.
fn read_state(
    shared: &SharedState,
    socket: KernelSocket<'_>,
    info: &Info,
    taken: &Taken,
) -> Result<KernelState, TakeoverError> {
    let Taken { send_next, receive_next, unread, window, segment_size } = *taken;
    // Otherwise it would follow later, with a timestamp that may be newer than those of the bypass:
    // the peer would discard the next message (PAWS).
    socket.send_delayed_acknowledgment()?;
    let has_timestamps = info.options & OPTION_TIMESTAMPS != 0;
    let (timestamps, timestamps_at) = if has_timestamps {
        let (timestamps, at) = read_clock(socket, info)?;
        (Some(timestamps), at)
    } else {
        (None, now())
    };
    let edge = window.receive_window_update.wrapping_add(window.receive_window);
    let first_unread = receive_next.wrapping_sub(unread);
    let receive_window = edge.wrapping_sub(first_unread);
    if ring_length(receive_window).is_none() {
        return Err(TakeoverError::Window(receive_window));
    }
    let options = if has_timestamps { 12 } else { 0 };
    // A segment fits one frame of the UMEM.
    let longest = shared.umem.settings().max_mtu().saturating_sub(HEADERS);
    let snapshot = Snapshot {
        send_unacknowledged: send_next,
        send_next,
        send_window: window.send_window,
        send_window_max: window.send_window_max,
        send_window_update: window.send_window_update,
        // Unread bytes are read from the kernel first.
        receive_next: first_unread,
        receive_window,
        send_scale: info.scales & 0x0F,
        receive_scale: info.scales >> 4,
        segment_size: segment_size.min(info.send_mss + options).min(longest).min(0xFFFF) as u16,
        selective: info.options & OPTION_SACK != 0,
        timestamps,
        round_trip: Some(Duration::from_micros(u64::from(info.round_trip_us)))
            .filter(|round_trip| *round_trip != Duration::ZERO),
    };
    Ok(KernelState { snapshot, first_unread, segment_size, timestamps_at })
}

/// Reads the timestamp clock, and the time. The kernel's value has its lowest bit cleared, and a
/// pacing kernel stamps segments with a time in the future.
fn read_clock(socket: KernelSocket<'_>, info: &Info) -> io::Result<(Timestamps, Instant)> {
    let millis = |time: Instant| time.as_nanos() / 1_000_000;
    let (value, at) = loop {
        let before = now();
        let value = socket.timestamp()? | 1;
        if millis(now()) == millis(before) {
            break (value, before);
        }
    };
    let floor = value.wrapping_add(pacing_lead(info));
    Ok((Timestamps { value, floor, recent: None }, at))
}

/// Returns the milliseconds by which a pacing kernel may have stamped segments ahead: the time
/// until 64 KiB are sent.
pub(super) fn pacing_lead(info: &Info) -> u32 {
    let ahead = (64_u64 << 10) * 1_000 / info.pacing_rate.max(1);
    2 + ahead.min(1_000) as u32
}

/// Returns the length of the ring for a window that was promised; `None` if it is too long. Half
/// of the ring is free at first, so that the window can grow.
fn ring_length(window: u32) -> Option<usize> {
    let length = (window as usize).checked_next_power_of_two()?.max(RING);
    (length <= RING_MAX).then_some(length)
}
