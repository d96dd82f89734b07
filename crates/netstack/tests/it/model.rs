//! The engine compared, step by step, with a model that searches lists.

use crate::support::*;
use hairpin_netstack::{Address, Engine, SocketAddress, SocketId, SocketOptions};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Bind { local: usize, port: u16, reuse_address: bool, multicast_all: bool },
    Connect { socket: usize, remote: usize, port: u16 },
    Join { socket: usize, group: usize, sources: Vec<usize> },
    Source { socket: usize, group: usize, source: usize, removes: bool },
    Leave { socket: usize, group: usize },
    Close { socket: usize },
    Datagram { from: usize, from_port: u16, to: usize, port: u16 },
}

/// Local addresses; the last one is that of dual-stack sockets.
const LOCALS: [&str; 7] = ["0.0.0.0", "10.0.0.1", "10.0.0.9", "239.1.1.1", "::", "fd00::1", "::"];
const DUAL_STACK: usize = 6;
const REMOTES: [&str; 3] = ["10.0.0.2", "10.0.0.3", "fd00::2"];
const GROUPS: [&str; 3] = ["239.1.1.1", "239.1.1.2", "ff15::1"];
const TO: [&str; 7] =
    ["10.0.0.1", "10.0.0.9", "239.1.1.1", "239.1.1.2", "fd00::1", "ff15::1", "10.0.0.255"];

fn step() -> impl Strategy<Value = Step> {
    let port = || 1_u16..4;
    prop_oneof![
        4 => (0..7_usize, port(), any::<bool>(), any::<bool>())
            .prop_map(|(local, port, reuse_address, multicast_all)| {
                Step::Bind { local, port, reuse_address, multicast_all }
            }),
        2 => (0..16_usize, 0..3_usize, port())
            .prop_map(|(socket, remote, port)| Step::Connect { socket, remote, port }),
        4 => (0..16_usize, 0..3_usize, proptest::collection::vec(0..3_usize, 0..3))
            .prop_map(|(socket, group, sources)| Step::Join { socket, group, sources }),
        3 => (0..16_usize, 0..3_usize, 0..3_usize, any::<bool>())
            .prop_map(|(socket, group, source, removes)| {
                Step::Source { socket, group, source, removes }
            }),
        1 => (0..16_usize, 0..3_usize).prop_map(|(socket, group)| Step::Leave { socket, group }),
        2 => (0..16_usize).prop_map(|socket| Step::Close { socket }),
        12 => (0..3_usize, port(), 0..7_usize, port()).prop_map(|(from, from_port, to, port)| {
            Step::Datagram { from, from_port, to, port }
        }),
    ]
}

/// The state of a socket in the model.
#[derive(Debug, Clone)]
struct Model {
    id: SocketId,
    local: SocketAddress,
    remote: Option<SocketAddress>,
    reuse_address: bool,
    dual_stack: bool,
    multicast_all: bool,
    /// The groups with their allowed sources; an empty list allows all.
    groups: Vec<(Address, Vec<Address>)>,
}

impl Model {
    /// Returns `true` if the socket is bound to the unspecified address for this one.
    fn is_any_for(&self, address: Address) -> bool {
        let dual = self.dual_stack && self.local.address == Address::ANY_IPV6;
        self.local.address == address.any() || dual && address.is_ipv4()
    }

    fn allows(&self, from: Address, group: Address) -> bool {
        let is = |(own, sources): &(Address, Vec<Address>)| {
            *own == group && (sources.is_empty() || sources.contains(&from))
        };
        self.groups.iter().any(is)
    }

    fn group(&mut self, group: Address) -> Option<&mut Vec<Address>> {
        self.groups.iter_mut().find(|(own, _)| *own == group).map(|(_, sources)| sources)
    }
}

#[derive(Default)]
struct Models(Vec<Model>);

impl Models {
    /// Returns the number of sources of all memberships.
    fn sources(&self) -> usize {
        self.0.iter().flat_map(|model| &model.groups).map(|(_, sources)| sources.len()).sum()
    }

    fn is_taken(
        &self,
        local: SocketAddress,
        remote: Option<SocketAddress>,
        reuse_address: bool,
    ) -> bool {
        let mut same = self.0.iter().filter(|m| (m.local, m.remote) == (local, remote));
        !local.address.is_multicast() && same.any(|model| !reuse_address || !model.reuse_address)
    }

    /// Returns the possible recipients, and `true` if all of them receive the datagram. Of sockets
    /// that share a unicast binding, one receives it.
    fn takers(&self, from: SocketAddress, to: SocketAddress) -> (Vec<SocketId>, bool) {
        let ids = |takes: &dyn Fn(&Model) -> bool| -> Vec<_> {
            self.0.iter().filter(|model| takes(model)).map(|model| model.id).collect()
        };
        let is_any = |model: &Model| {
            model.local.port == to.port && model.remote.is_none() && model.is_any_for(to.address)
        };
        if to.address.is_multicast() {
            let is_member = |model: &Model| {
                model.local.port == to.port
                    && model.groups.iter().any(|(own, _)| *own == to.address)
            };
            // Without a member at the port the kernel receives the group.
            let has_members = self.0.iter().any(is_member);
            let recipients = ids(&|model| {
                let is_open = model.remote.is_none();
                let binding = model.local == to && is_open || is_any(model);
                let same_family = model.local.address.is_ipv4() == to.address.is_ipv4();
                let listens =
                    model.multicast_all && !is_member(model) && has_members && same_family;
                binding && (model.allows(from.address, to.address) || listens)
            });
            return (recipients, true);
        }
        if to.address == ip("10.0.0.255") {
            return (ids(&is_any), true);
        }
        let connected = ids(&|model| model.local == to && model.remote == Some(from));
        let exact = ids(&|model| model.local == to && model.remote.is_none());
        let is_own = [ip("10.0.0.1"), ip("fd00::1")].contains(&to.address);
        let any = |v4| ids(&|model| is_own && is_any(model) && model.local.address.is_ipv4() == v4);
        let any = [any(to.address.is_ipv4()), any(false)];
        let found = [connected, exact].into_iter().chain(any).find(|found| !found.is_empty());
        (found.unwrap_or_default(), false)
    }
}

fn bind(
    engine: &mut Engine,
    models: &mut Models,
    local: SocketAddress,
    [reuse_address, dual_stack, multicast_all]: [bool; 3],
) {
    let options =
        SocketOptions { reuse_address, dual_stack, multicast_all, ..SocketOptions::default() };
    let Ok(id) = engine.open_socket(&options) else {
        return assert_eq!(models.0.len(), SMALL.sockets as usize);
    };
    let bound = engine.bind(id, local);
    assert_eq!(bound.is_ok(), !models.is_taken(local, None, reuse_address));
    match bound {
        Ok(()) => {
            let groups = Vec::new();
            let remote = None;
            let new = Model { id, local, remote, reuse_address, dual_stack, multicast_all, groups };
            models.0.push(new);
        }
        Err(_) => engine.close(id).unwrap(),
    }
}

fn connect(engine: &mut Engine, models: &mut Models, at: usize, remote: SocketAddress) {
    let Some(at) = at.checked_rem(models.0.len()) else { return };
    let model = models.0[at].clone();
    let host = if remote.address.is_ipv4() { ip("10.0.0.1") } else { ip("fd00::1") };
    let local = SocketAddress { address: host, port: model.local.port };
    let covers = (model.local.address == host || model.is_any_for(host)) && model.remote.is_none();
    let expected = covers && !models.is_taken(local, Some(remote), model.reuse_address);
    assert_eq!(engine.connect(model.id, host, remote).is_ok(), expected);
    if expected {
        // A connected socket moves behind those already present.
        models.0.remove(at);
        models.0.push(Model { local, remote: Some(remote), ..model });
    }
}

fn datagram(engine: &mut Engine, models: &Models, from: SocketAddress, to: SocketAddress) {
    let device = engine_device(engine);
    let mut seen = Seen::default();
    engine.handle_frame(NOW, device, &frame(from, to, b"x"), &mut seen);
    let mut got = seen.sockets();
    let (mut expected, is_for_all) = models.takers(from, to);
    if is_for_all {
        got.sort_by_key(|id| format!("{id:?}"));
        expected.sort_by_key(|id| format!("{id:?}"));
        assert_eq!(got, expected);
    } else {
        assert_eq!(got.len(), expected.len().min(1), "{expected:?}");
        assert!(got.iter().all(|id| expected.contains(id)), "{got:?} {expected:?}");
    }
}

/// Returns the first device.
fn engine_device(engine: &mut Engine) -> hairpin_netstack::DeviceId {
    engine.device_ids().next().unwrap()
}

fn join(
    engine: &mut Engine,
    models: &mut Models,
    at: usize,
    group: Address,
    sources: Vec<Address>,
) {
    let device = engine_device(engine);
    let memberships: usize = models.0.iter().map(|model| model.groups.len()).sum();
    let room = SMALL.sources as usize - models.sources();
    let model = &mut models.0[at];
    let fits = sources.iter().all(|source| source.is_ipv4() == group.is_ipv4());
    let is_twice = sources.len() == 2 && sources[0] == sources[1];
    let joins = (group.is_ipv4() == model.local.address.is_ipv4() || model.is_any_for(group))
        && model.group(group).is_none()
        && memberships < SMALL.memberships as usize
        && fits
        && !is_twice
        && sources.len() <= room;
    let joined = if sources.is_empty() {
        engine.join(model.id, device, group)
    } else {
        engine.join_sources(model.id, device, group, &sources)
    };
    assert_eq!(joined.is_ok(), joins, "{joined:?}");
    model.groups.extend(joins.then_some((group, sources)));
}

fn change_source(
    engine: &mut Engine,
    models: &mut Models,
    at: usize,
    group: Address,
    source: Address,
    removes: bool,
) {
    let device = engine_device(engine);
    let room = models.sources() < SMALL.sources as usize;
    let model = &mut models.0[at];
    let named = model.group(group).filter(|sources| !sources.is_empty());
    let changed = match named {
        Some(sources) if removes && sources.contains(&source) => {
            sources.retain(|&other| other != source);
            true
        }
        Some(sources) if !removes => {
            let adds = room && !sources.contains(&source) && source.is_ipv4() == group.is_ipv4();
            sources.extend(adds.then_some(source));
            adds
        }
        _ => false,
    };
    let done = if removes {
        engine.remove_source(model.id, device, group, source)
    } else {
        engine.add_source(model.id, device, group, source)
    };
    assert_eq!(done.is_ok(), changed, "{done:?}");
    // Removing the last source ends the membership; a membership without a filter is unchanged.
    if removes && changed {
        model.groups.retain(|(own, sources)| *own != group || !sources.is_empty());
    }
}

fn apply(engine: &mut Engine, models: &mut Models, step: &Step) {
    let device = engine_device(engine);
    match *step {
        Step::Bind { local, port, reuse_address, multicast_all } => {
            let options = [reuse_address, local == DUAL_STACK, multicast_all];
            bind(engine, models, at(LOCALS[local], port), options);
        }
        Step::Connect { socket, remote, port } => {
            connect(engine, models, socket, at(REMOTES[remote], port));
        }
        Step::Join { socket, group, ref sources } => {
            let Some(at) = socket.checked_rem(models.0.len()) else { return };
            let sources: Vec<_> = sources.iter().map(|&source| ip(REMOTES[source])).collect();
            join(engine, models, at, ip(GROUPS[group]), sources);
        }
        Step::Source { socket, group, source, removes } => {
            let Some(at) = socket.checked_rem(models.0.len()) else { return };
            change_source(engine, models, at, ip(GROUPS[group]), ip(REMOTES[source]), removes);
        }
        Step::Leave { socket, group } => {
            let Some(at) = socket.checked_rem(models.0.len()) else { return };
            let (model, group) = (&mut models.0[at], ip(GROUPS[group]));
            let is_member = model.group(group).is_some();
            model.groups.retain(|(other, _)| *other != group);
            assert_eq!(engine.leave(model.id, device, group).is_ok(), is_member);
        }
        Step::Close { socket } => {
            let Some(at) = socket.checked_rem(models.0.len()) else { return };
            engine.close(models.0.remove(at).id).unwrap();
        }
        Step::Datagram { from, from_port, to, port } => {
            let (from, to) = (at(REMOTES[from], from_port), at(TO[to], port));
            if from.address.is_ipv4() == to.address.is_ipv4() {
                datagram(engine, models, from, to);
            }
        }
    }
}

/// Closes all sockets, and checks that every entry of each table can be used again.
fn reuse_all(engine: &mut Engine, models: Models) {
    models.0.iter().for_each(|model| engine.close(model.id).unwrap());
    let (device, group) = (engine_device(engine), ip(GROUPS[0]));
    let mut sockets: Vec<_> = (0..SMALL.sockets)
        .map(|_| {
            let socket = shared_socket(engine, at("0.0.0.0", 1));
            engine.join_sources(socket, device, group, &[ip(REMOTES[0])]).unwrap();
            socket
        })
        .collect();
    let mut seen = Seen::default();
    let frame = frame(at(REMOTES[0], 1), at(GROUPS[0], 1), b"x");
    engine.handle_frame(NOW, device, &frame, &mut seen);
    let (mut seen, order) = (seen.sockets(), |id: &SocketId| id.index());
    seen.sort_by_key(order);
    sockets.sort_by_key(order);
    assert_eq!(seen, sockets);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    #[test]
    fn engine_and_model_deliver_alike(steps in proptest::collection::vec(step(), 1..120)) {
        let (mut engine, _) = engine();
        let mut models = Models::default();
        steps.iter().for_each(|step| apply(&mut engine, &mut models, step));
        reuse_all(&mut engine, models);
    }
}
