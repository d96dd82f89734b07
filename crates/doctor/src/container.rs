//! Containers and their limits.

use hairpin_host::format_cores;

use crate::finding::Finding;
use crate::root::Root;

const GROUPS: &str = "sys/fs/cgroup";
/// The memory below which the commands may be killed, in bytes.
const MEMORY_MIN: u64 = 256 << 20;

/// The facts about a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ContainerFacts {
    /// The runtime, if its mark is there.
    pub(crate) runtime: Option<&'static str>,
    /// The processor time per period, both in microseconds, if it is limited.
    pub(crate) quota: Option<(u64, u64)>,
    /// The memory limit in bytes, if there is one.
    pub(crate) memory_max: Option<u64>,
    pub(crate) allowed: Vec<usize>,
    pub(crate) online: Vec<usize>,
}

impl ContainerFacts {
    pub(crate) fn read(root: &Root, allowed: &[usize]) -> Self {
        let marks = [
            (".dockerenv", "Docker"),
            ("run/.containerenv", "Podman"),
            ("var/run/secrets/kubernetes.io", "Kubernetes"),
            ("run/systemd/container", "systemd"),
        ];
        // The image of a virtual machine may have a mark too, but its kernel's threads are visible.
        let is_host = root.text("proc/2/comm").as_deref() == Some("kthreadd");
        let runtime = marks.into_iter().find(|(path, _)| !is_host && root.exists(path));
        let runtime = runtime.map(|(_, name)| name);
        let groups = root.text("proc/self/cgroup").unwrap_or_default();
        Self {
            runtime,
            quota: quota(root, &groups),
            memory_max: memory_max(root, &groups),
            allowed: allowed.to_vec(),
            online: root.cores("sys/devices/system/cpu/online"),
        }
    }
}

/// Returns the folders of this process's control group and of those above it, for a controller;
/// `""` for version 2.
fn folders(groups: &str, controller: &str) -> Vec<String> {
    let path = groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let controllers = fields.next()?;
        controllers.split(',').any(|name| name == controller).then(|| fields.next())?
    });
    let Some(path) = path else { return Vec::new() };
    let base = format!("{GROUPS}/{controller}");
    let mut folders = vec![base.trim_end_matches('/').to_owned()];
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let above = folders.last().cloned().unwrap_or_default();
        folders.push(format!("{above}/{part}"));
    }
    folders
}

fn quota(root: &Root, groups: &str) -> Option<(u64, u64)> {
    let second = folders(groups, "").into_iter().filter_map(|folder| {
        let text = root.text(&format!("{folder}/cpu.max"))?;
        let (quota, period) = text.split_once(' ')?;
        Some((quota.parse::<u64>().ok()?, period.parse::<u64>().ok()?))
    });
    let first = folders(groups, "cpu").into_iter().filter_map(|folder| {
        let quota = root.value(&format!("{folder}/cpu.cfs_quota_us"))?;
        Some((quota, root.value(&format!("{folder}/cpu.cfs_period_us"))?))
    });
    // The smallest share of time; a quota of -1 is no number here.
    second.chain(first).min_by_key(|(quota, period)| quota * 1_000 / (*period).max(1))
}

fn memory_max(root: &Root, groups: &str) -> Option<u64> {
    let second = folders(groups, "").into_iter();
    let second = second.filter_map(|folder| root.value(&format!("{folder}/memory.max")));
    let first = folders(groups, "memory").into_iter();
    let first = first.filter_map(|folder| root.value(&format!("{folder}/memory.limit_in_bytes")));
    // Version 1 has a number near 2^63 for no limit.
    second.chain(first).min().filter(|bytes| *bytes < 1 << 60)
}

/// Returns the findings about a container.
pub(crate) fn findings(facts: &ContainerFacts) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(runtime) = facts.runtime {
        let cost = "its interface is usually a veth or macvlan: frames pass the host's stack first";
        let finding = Finding::note("container.runtime", format!("container ({runtime})"), cost);
        found.push(finding.command("network of the host, or a card of its own (SR-IOV)"));
    }
    if let Some((quota, period)) = facts.quota {
        let what = format!("{quota} us of processor time per {period} us");
        let pause = period.saturating_sub(quota) / 1_000;
        let cost = if quota < period {
            format!("a thread that spins is stopped for {pause} ms in each period")
        } else {
            "threads that spin together are stopped when the time is used up".to_owned()
        };
        let finding = Finding::important("container.quota", what, cost);
        found.push(finding.command("remove the limit (docker --cpus, Kubernetes limits.cpu)"));
    }
    if facts.allowed.len() < facts.online.len() && !facts.allowed.is_empty() {
        let (allowed, online) = (format_cores(&facts.allowed), format_cores(&facts.online));
        let what = format!("this process may use cores {allowed} of {online}");
        let cost = "--cpus and threads files can name only these";
        found.push(Finding::note("container.cores", what, cost));
    }
    if let Some(bytes) = facts.memory_max.filter(|bytes| *bytes < MEMORY_MIN) {
        let what = format!("at most {} MiB of memory", bytes >> 20);
        let cost = "the kernel may end the program when its books and buffers grow";
        let finding = Finding::advice("container.memory", what, cost);
        found.push(finding.command("docker --memory, Kubernetes limits.memory"));
    }
    found
}
