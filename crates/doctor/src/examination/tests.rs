//! Made-up hosts: a healthy one without findings, and one per finding in which it appears.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use hairpin_host::{ClockSource, ClockSync, CoreWatch};
use hairpin_time::Duration;
use hairpin_xdp::{Coalescing, Device, DriverSettings, Features, LinkOwner, RingSizes};

use super::*;
use crate::measurements::{CoreLoad, MeasuredClock};
use hairpin_stack::{Chain, TrafficControl};

/// A host that exists only as files and answers.
struct MadeUpHost {
    files: BTreeMap<String, String>,
    links: Vec<(String, String)>,
    kernel: KernelAnswers,
    interface: InterfaceAnswers,
    measured: Measurements,
}

const CPU: &str = "sys/devices/system/cpu";
const CARD: &str = "sys/class/net/eth1";
const CLOCKS: &str = "sys/devices/system/clocksource/clocksource0";
const LIMIT: &str = "Limit                     Soft Limit           Hard Limit           Units";

/// The files of the healthy host.
const FILES: &[(&str, &str)] = &[
    ("sys/class/net/eth1/ifindex", "2\n"),
    ("sys/devices/system/cpu/online", "0-3\n"),
    ("sys/devices/system/cpu/isolated", "2-3\n"),
    ("sys/devices/system/cpu/nohz_full", "2-3\n"),
    ("sys/devices/system/cpu/smt/active", "0\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C6\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "133\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "1\n"),
    ("sys/devices/system/cpu/vulnerabilities/spectre_v2", "Not affected\n"),
    ("sys/devices/system/cpu/vulnerabilities/meltdown", "Vulnerable\n"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
    ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet\n"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
    ("sys/kernel/security/lockdown", "[none] integrity confidentiality\n"),
    ("proc/cmdline", "quiet isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3\n"),
    ("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc\n"),
    ("proc/meminfo", "MemTotal: 16384 kB\nSwapTotal:             0 kB\n"),
    ("proc/self/status", "CapEff:\t0000000000000000\nNoNewPrivs:\t0\nSeccomp:\t0\n"),
    ("proc/self/uid_map", "         0          0 4294967295\n"),
    ("proc/self/cgroup", "0::/user.slice\n"),
    ("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n"),
    ("sys/fs/cgroup/user.slice/memory.max", "max\n"),
    ("proc/net/ip_tables_names", ""),
    ("proc/sys/net/core/busy_poll", "50\n"),
    ("proc/sys/net/core/busy_read", "50\n"),
    ("proc/sys/net/core/rmem_max", "16777216\n"),
    ("proc/sys/net/core/netdev_max_backlog", "1000\n"),
    ("proc/sys/net/core/bpf_jit_enable", "1\n"),
    ("proc/sys/net/ipv4/tcp_ecn", "2\n"),
    ("proc/sys/net/ipv4/conf/all/rp_filter", "0\n"),
    ("proc/sys/net/ipv4/conf/eth1/rp_filter", "2\n"),
    ("proc/sys/net/netfilter/nf_conntrack_count", "0\n"),
    ("proc/sys/net/netfilter/nf_conntrack_tcp_be_liberal", "0\n"),
];

impl MadeUpHost {
    /// Creates a host with nothing to find: four cores of which two are isolated, and a card.
    fn healthy() -> Self {
        let link =
            Link { index: 2, name: "eth1".to_owned(), up: true, running: true, ..Link::default() };
        let features = Features { native: true, receive_stamps: true, ..Features::default() };
        let device = Device {
            index: 2,
            name: "eth1".to_owned(),
            driver: Some("ice".to_owned()),
            mtu: 1_500,
            queues: 2,
            queues_max: 64,
            strips_vlan: false,
            features: Some(features),
            delivers_parts: true,
        };
        let rings =
            RingSizes { receive: 1_024, receive_max: 4_096, transmit: 512, transmit_max: 4_096 };
        let settings = DriverSettings {
            rings: Some(rings),
            coalescing: Some(Coalescing::default()),
            ..DriverSettings::default()
        };
        let disciplines = vec!["mq".to_owned()];
        let sync = ClockSync { synchronized: true, error_max: Duration::from_micros(500) };
        let clock = MeasuredClock { source: ClockSource::Tsc, read_ns: 9.0, kernel_read_ns: 20.0 };
        let mut host = Self {
            files: BTreeMap::new(),
            links: Vec::new(),
            kernel: KernelAnswers {
                links: vec![link.clone()],
                missing_capabilities: Vec::new(),
                allowed_cores: vec![0, 1, 2, 3],
                chains: Ok(Vec::new()),
                clock_sync: Some(sync),
            },
            interface: InterfaceAnswers {
                device,
                link,
                settings,
                traffic_control: Ok(TrafficControl { disciplines, filters: Vec::new() }),
                owner: None,
                has_address: true,
            },
            measured: Measurements {
                clock: Some(clock),
                system_call_ns: Some(80.0),
                loads: vec![CoreLoad { core: 0, busy_percent: 3, stolen_percent: 0 }],
                watches: Vec::new(),
            },
        };
        for (path, text) in FILES {
            host.file(path, text);
        }
        host.file(
            "proc/self/limits",
            &format!("{LIMIT}\nMax locked memory  unlimited unlimited bytes"),
        );
        host
    }

    fn file(&mut self, path: &str, text: &str) {
        self.files.insert(path.to_owned(), text.to_owned());
    }

    fn device(&mut self) -> &mut Device {
        &mut self.interface.device
    }

    /// Sets an MTU that needs a newer kernel.
    fn refuse_mtu(&mut self) {
        (self.device().mtu, self.device().delivers_parts) = (9_000, false);
    }

    fn link(&mut self) -> &mut Link {
        &mut self.interface.link
    }

    fn active(&mut self, feature: &str) {
        self.interface.settings.active.push(feature.to_owned());
    }

    /// Makes the filter run after the driver.
    fn generic(&mut self) {
        self.device().features = Some(Features::default());
    }

    /// Adds an interrupt of the card on these cores.
    fn interrupt(&mut self, cores: &str) {
        self.file(
            "proc/interrupts",
            "  CPU0 CPU1\n 24: 1 0 PCI-MSI 1-edge ice-eth1-TxRx-0\n 25: 1 1 x eth10\n",
        );
        self.file("proc/irq/24/effective_affinity_list", cores);
        self.file("proc/irq/25/effective_affinity_list", "0-3");
    }

    fn process(&mut self, name: &str) {
        self.file("proc/77/comm", name);
    }

    fn chain(&mut self, kind: &str, rules: u32, drops: bool) {
        let (table, name) = ("inet".to_owned(), "input".to_owned());
        let chain = Chain { table, name, kind: kind.to_owned(), rules, drops, ..Chain::default() };
        self.kernel.chains = Ok(vec![chain]);
    }

    fn report(self) -> Report {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in &self.files {
            write(&folder.path().join(path), |path| fs::write(path, text));
        }
        for (path, target) in &self.links {
            write(&folder.path().join(path), |path| symlink(target, path));
        }
        let summary = HostSummary {
            kernel: "6.18.0".to_owned(),
            cpu: "a CPU".to_owned(),
            cores: self.kernel.allowed_cores.clone(),
        };
        let root = Root::new(folder.path());
        report(&root, &self.kernel, vec![self.interface], &self.measured, summary)
    }
}

fn write(path: &Path, create: impl FnOnce(&Path) -> std::io::Result<()>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    create(path).unwrap();
}

type Change = fn(&mut MadeUpHost);

/// Each finding with a change of the healthy host in which it appears.
const CASES: &[(&str, Change)] = &[
    ("interface.loopback", |host| host.link().loopback = true),
    ("interface.down", |host| host.link().up = false),
    ("interface.carrier", |host| host.link().running = false),
    ("interface.mtu", MadeUpHost::refuse_mtu),
    ("interface.long_packets", |host| host.device().mtu = 9_000),
    ("interface.plan", |host| host.device().queues = 2_000),
    ("interface.program", |host| host.link().program = Some(7)),
    ("interface.address", |host| host.interface.has_address = false),
    ("interface.vlan", |host| host.link().kind = Some("vlan".to_owned())),
    ("interface.member", |host| host.link().member_of = Some("bond".to_owned())),
    ("interface.bond", |host| host.link().kind = Some("bond".to_owned())),
    ("interface.layer3", |host| {
        host.link().kind = Some("ipvlan".to_owned());
        host.link().without_arp = true;
    }),
    ("interface.vlans", |host| {
        let kind = Some("vlan".to_owned());
        let name = "eth1.5".to_owned();
        host.kernel.links.push(Link { name, kind, below: Some(2), ..Link::default() });
    }),
    ("interface.arp", |host| {
        host.link().kind = Some("macvlan".to_owned());
        host.link().below = Some(1);
        let name = "eth0".to_owned();
        host.kernel.links.push(Link { name, index: 1, up: true, ..Link::default() });
        host.file("proc/sys/net/ipv4/conf/all/arp_ignore", "0");
        host.file("proc/sys/net/ipv4/conf/eth0/arp_ignore", "0");
    }),
    ("interface.virtio", |host| {
        host.device().driver = Some("virtio_net".to_owned());
        host.file("sys/class/net/eth1/device/features", "110001011011");
    }),
    ("interface.generic", MadeUpHost::generic),
    ("interface.veth", |host| host.link().kind = Some("veth".to_owned())),
    ("interface.features", |host| host.device().features = None),
    ("interface.timestamps", |host| {
        host.device().features = Some(Features { native: true, ..Features::default() });
    }),
    ("queues.many", |host| host.device().queues = 8),
    ("queues.rings", |host| {
        host.interface.settings.rings =
            Some(RingSizes { receive: 256, receive_max: 4_096, ..RingSizes::default() });
    }),
    ("queues.coalescing", |host| {
        host.interface.settings.coalescing =
            Some(Coalescing { receive_us: 50, ..Coalescing::default() });
    }),
    ("queues.interrupts", |host| host.interrupt("0")),
    ("queues.isolated_interrupts", |host| host.interrupt("2")),
    ("queues.irqbalance", |host| {
        host.interrupt("0");
        host.process("irqbalance");
    }),
    ("queues.deferred", |host| {
        host.file("sys/class/net/eth1/napi_defer_hard_irqs", "2");
        host.file("sys/class/net/eth1/gro_flush_timeout", "200000");
    }),
    ("queues.node", |host| {
        host.file("sys/class/net/eth1/device/numa_node", "1");
        host.file("sys/devices/system/node/node1/cpulist", "8-15");
    }),
    ("offloads.lro", |host| host.active("rx-lro")),
    ("offloads.gro_hw", |host| host.active("rx-gro-hw")),
    ("offloads.gro", |host| {
        host.generic();
        host.active("rx-gro");
    }),
    ("offloads.tso", |host| host.active("tx-tcp-segmentation")),
    ("offloads.vlan", |host| {
        host.device().strips_vlan = true;
        let (name, kind) = ("eth1.5".to_owned(), Some("vlan".to_owned()));
        host.kernel.links.push(Link { name, kind, below: Some(2), ..Link::default() });
    }),
    ("cores.one", |host| host.kernel.allowed_cores = vec![0]),
    ("cores.isolation", |host| host.file("sys/devices/system/cpu/isolated", "")),
    ("cores.tick", |host| host.file("sys/devices/system/cpu/nohz_full", "3")),
    ("cores.callbacks", |host| {
        host.file("sys/devices/system/cpu/nohz_full", "");
        host.file("proc/cmdline", "isolcpus=2-3 rcu_nocbs=2");
    }),
    ("cores.governor", |host| {
        host.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave");
    }),
    ("cores.idle", |host| {
        host.file("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0");
    }),
    ("cores.smt", |host| host.file("sys/devices/system/cpu/smt/active", "1")),
    ("cores.mitigations", |host| {
        host.file("sys/devices/system/cpu/vulnerabilities/spectre_v2", "Mitigation: Retpolines");
    }),
    ("cores.busy", |host| host.measured.loads[0].busy_percent = 60),
    ("cores.steal", |host| host.measured.loads[0].stolen_percent = 2),
    ("cores.virtual", |host| host.file("proc/cpuinfo", "flags : fpu hypervisor")),
    ("clock.source", |host| {
        host.file("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
    }),
    ("clock.counter", |host| {
        host.measured.clock.as_mut().unwrap().source = ClockSource::Kernel;
    }),
    ("clock.sync", |host| host.kernel.clock_sync.as_mut().unwrap().synchronized = false),
    ("clock.error", |host| {
        host.kernel.clock_sync.as_mut().unwrap().error_max = Duration::from_secs(6);
    }),
    ("memory.locked", |host| {
        host.file("proc/self/limits", "Max locked memory   8388608    8388608    bytes");
    }),
    ("memory.swap", |host| host.file("proc/meminfo", "SwapTotal:   2097152 kB")),
    ("memory.huge_pages", |host| {
        host.file("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never");
    }),
    ("memory.balancing", |host| {
        host.file("proc/sys/kernel/numa_balancing", "1");
        host.file("sys/devices/system/node/node1/cpulist", "8-15");
    }),
    ("sysctls.jit", |host| host.file("proc/sys/net/core/bpf_jit_enable", "0")),
    ("sysctls.liberal", |host| host.file("proc/sys/net/netfilter/nf_conntrack_count", "12")),
    ("sysctls.ecn", |host| host.file("proc/sys/net/ipv4/tcp_ecn", "1")),
    ("sysctls.receive_buffer", |host| host.file("proc/sys/net/core/rmem_max", "212992")),
    ("sysctls.backlog", |host| host.file("proc/sys/net/core/netdev_max_backlog", "300")),
    ("sysctls.busy_poll", |host| {
        host.file("proc/sys/net/core/busy_poll", "0");
        host.file("proc/sys/net/core/busy_read", "0");
    }),
    ("sysctls.rp_filter", |host| {
        host.file("proc/sys/net/ipv4/conf/all/rp_filter", "1");
        host.file("proc/sys/net/ipv4/conf/eth1/rp_filter", "0");
    }),
    ("firewall.nftables", |host| host.chain("filter", 3, false)),
    ("firewall.nat", |host| host.chain("nat", 1, false)),
    ("firewall.unread", |host| host.kernel.chains = Err("permission denied".to_owned())),
    ("firewall.iptables", |host| host.file("proc/net/ip_tables_names", "nat\nfilter\n")),
    ("firewall.filters", |host| {
        let filters = vec!["bpf".to_owned()];
        host.interface.traffic_control = Ok(TrafficControl { filters, disciplines: Vec::new() });
    }),
    ("firewall.shaping", |host| {
        let disciplines = vec!["tbf".to_owned()];
        host.interface.traffic_control = Ok(TrafficControl { disciplines, filters: Vec::new() });
    }),
    ("privileges.capabilities", |host| {
        host.kernel.missing_capabilities = vec!["CAP_BPF".to_owned()];
    }),
    ("privileges.perfmon", |host| {
        host.file("proc/sys/kernel/osrelease", "5.15.0-91-generic\n");
        host.file("proc/self/status", "CapEff:\t0000008000003000");
    }),
    ("privileges.namespace", |host| host.file("proc/self/uid_map", "0 1000 1")),
    ("privileges.seccomp", |host| host.file("proc/self/status", "Seccomp:\t2")),
    ("privileges.lockdown", |host| {
        host.file("sys/kernel/security/lockdown", "none [integrity] confidentiality");
    }),
    ("container.runtime", |host| host.file(".dockerenv", "")),
    ("container.quota", |host| host.file("sys/fs/cgroup/user.slice/cpu.max", "50000 100000")),
    ("container.cores", |host| host.kernel.allowed_cores = vec![0, 1]),
    ("container.memory", |host| host.file("sys/fs/cgroup/user.slice/memory.max", "67108864")),
];

#[test]
fn healthy_host_has_no_findings() {
    let report = MadeUpHost::healthy().report();
    assert_eq!(report.findings, []);
    assert_eq!(
        report.interfaces[0].to_string(),
        "eth1: AF_XDP in native mode, copies, 2 queues, MTU 1500, driver ice with \
         native mode, receive timestamps"
    );
    assert!(!report.has_important() && report.unread.is_empty());
}

#[test]
fn each_finding_appears_on_a_host_that_has_its_cause() {
    for (id, change) in CASES {
        let mut host = MadeUpHost::healthy();
        change(&mut host);
        let report = host.report();
        let ids: Vec<_> = report.findings.iter().map(|finding| finding.id).collect();
        assert!(ids.contains(id), "{id}: {ids:?}");
        let area = id.split('.').next().unwrap();
        let of_interface = ["interface", "queues", "offloads"].contains(&area)
            || ["sysctls.rp_filter", "firewall.filters", "firewall.shaping"].contains(id);
        let finding = report.findings.iter().find(|finding| finding.id == *id).unwrap();
        assert_eq!(finding.interface.is_some(), of_interface, "{id}");
        assert!(!finding.found.is_empty() && !finding.cost.is_empty(), "{id}");
    }
}

/// A finding without a case would be one that no test has seen.
#[test]
fn each_finding_in_the_source_has_a_case() {
    let areas = [
        "interface",
        "queues",
        "offloads",
        "cores",
        "clock",
        "memory",
        "sysctls",
        "firewall",
        "privileges",
        "container",
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut named = BTreeSet::new();
    for area in areas {
        let text = fs::read_to_string(folder.join(format!("{area}.rs"))).unwrap();
        let ids = text.split('"').filter(|word| {
            let rest = word.strip_prefix(area).and_then(|rest| rest.strip_prefix('.'));
            rest.is_some_and(|name| !name.is_empty() && !name.contains(' '))
        });
        named.extend(ids.map(str::to_owned));
    }
    let cases: BTreeSet<String> = CASES.iter().map(|(id, _)| (*id).to_owned()).collect();
    assert_eq!(named, cases);
}

/// Without the other capabilities, one command gives all.
#[test]
fn perfmon_is_asked_for_on_old_kernels_only() {
    let commands = |release: &str, capabilities: &str, missing: &[&str]| -> Vec<bool> {
        let mut host = MadeUpHost::healthy();
        host.file("proc/sys/kernel/osrelease", release);
        host.file("proc/self/status", &format!("Name:\thairpin\nCapEff:\t{capabilities}\n"));
        host.kernel.missing_capabilities = missing.iter().map(ToString::to_string).collect();
        let findings = host.report().findings;
        findings.into_iter().map(|finding| finding.command.unwrap().contains("perfmon")).collect()
    };
    let (network, all) = ("0000008000003000", "000000c000003000");
    for release in ["5.15.0-91-generic\n", "6.1.0-18-amd64\n", "6.5\n"] {
        assert_eq!(commands(release, network, &[]), [true], "{release}");
        assert!(commands(release, all, &[]).is_empty(), "{release}");
        assert_eq!(commands(release, "0", &["CAP_BPF"]), [true]);
    }
    for release in ["6.6.0\n", "6.12.9-amd64\n", "7.2-rc1\n", ""] {
        assert!(commands(release, network, &[]).is_empty(), "{release}");
        assert_eq!(commands(release, "0", &["CAP_BPF"]), [false]);
    }
}

#[test]
fn obstacle_is_named_before_the_plan() {
    let mut host = MadeUpHost::healthy();
    host.kernel.missing_capabilities = vec!["CAP_NET_RAW".to_owned(), "CAP_BPF".to_owned()];
    let report = host.report();
    assert!(report.has_important());
    assert_eq!(
        report.interfaces[0].to_string(),
        "eth1: kernel sockets, because of: missing CAP_NET_RAW, CAP_BPF; otherwise AF_XDP in \
         native mode, copies, 2 queues, MTU 1500, driver ice with native mode, \
         receive timestamps"
    );
    let mut host = MadeUpHost::healthy();
    host.refuse_mtu();
    let interface = host.report().interfaces.remove(0);
    assert_eq!(interface.mode, None);
    assert!(interface.to_string().contains("MTU 9000 exceeds 3822"), "{interface}");
}

#[test]
fn program_of_a_known_process_is_ended_and_not_detached() {
    let mut host = MadeUpHost::healthy();
    host.link().program = Some(7);
    host.interface.owner = Some(LinkOwner { process: 4_711, name: "hairpin".to_owned() });
    let report = host.report();
    let finding = &report.findings[0];
    assert_eq!(finding.found, "XDP program 7 of hairpin (process 4711) is attached");
    assert_eq!(finding.command.as_deref(), Some("kill 4711"));
}

#[test]
fn modes_of_a_veth_differ_for_tcp() {
    let mut host = MadeUpHost::healthy();
    host.device().driver = Some("veth".to_owned());
    host.link().kind = Some("veth".to_owned());
    let interface = host.report().interfaces.remove(0);
    let text = interface.to_string();
    assert!(text.contains("AF_XDP in generic mode (with TCP native mode), copies"), "{text}");
}

#[test]
fn virtio_with_control_of_its_offloads_keeps_native_mode() {
    let mut host = MadeUpHost::healthy();
    host.device().driver = Some("virtio_net".to_owned());
    host.file(&format!("{CARD}/device/features"), "111001011011");
    assert_eq!(host.report().findings, []);
}

#[test]
fn files_of_another_network_namespace_are_not_read() {
    let mut host = MadeUpHost::healthy();
    host.file(&format!("{CARD}/ifindex"), "9");
    host.file(&format!("{CARD}/napi_defer_hard_irqs"), "2");
    host.file(&format!("{CARD}/gro_flush_timeout"), "200000");
    assert_eq!(host.report().findings, []);
}

#[test]
fn interrupts_of_a_virtio_device_have_its_name() {
    let mut host = MadeUpHost::healthy();
    host.links.push((format!("{CARD}/device"), "../../../virtio2".to_owned()));
    let table =
        "37: 0 PCI-MSIX virtio2-config\n38: 0 PCI-MSIX virtio2-input.0\n39: 1 virtio20-input.0";
    host.file("proc/interrupts", table);
    host.file("proc/irq/37/smp_affinity_list", "3");
    host.file("proc/irq/38/smp_affinity_list", "1");
    host.file("proc/irq/39/smp_affinity_list", "2");
    let report = host.report();
    let found: Vec<_> = report.findings.iter().map(|finding| finding.found.as_str()).collect();
    assert_eq!(found, ["cores 1 handle the interrupts"]);
}

#[test]
fn locked_memory_below_an_interface_is_important() {
    let mut host = MadeUpHost::healthy();
    host.file("proc/self/limits", "Max locked memory   65536    65536    bytes");
    let report = host.report();
    assert!(report.has_important());
    let text = report.interfaces[0].to_string();
    assert!(text.starts_with("eth1: kernel sockets, because of: at most 64 KiB"), "{text}");
    // CAP_IPC_LOCK exceeds the limit.
    let mut host = MadeUpHost::healthy();
    host.file("proc/self/limits", "Max locked memory   65536    65536    bytes");
    host.file("proc/self/status", "CapEff:\t0000000000004000\n");
    assert_eq!(host.report().findings, []);
}

#[test]
fn mark_of_a_container_is_ignored_where_threads_of_the_kernel_are_visible() {
    let mut host = MadeUpHost::healthy();
    host.file(".dockerenv", "");
    host.file("proc/2/comm", "kthreadd\n");
    assert_eq!(host.report().findings, []);
}

#[test]
fn quota_of_control_groups_version_1_is_found() {
    let mut host = MadeUpHost::healthy();
    host.file("proc/self/cgroup", "4:memory:/a\n1:cpu,cpuacct:/a/b\n0::/\n");
    host.file("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1");
    host.file("sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000");
    host.file("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "200000");
    host.file("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000");
    host.file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712");
    let report = host.report();
    assert_eq!(report.findings.len(), 1, "{report}");
    assert_eq!(report.findings[0].found, "200000 us of processor time per 100000 us");
}

#[test]
fn text_is_grouped_by_severity_and_names_what_was_not_read() {
    let mut host = MadeUpHost::healthy();
    host.refuse_mtu();
    host.active("rx-lro");
    host.file(&format!("{CPU}/smt/active"), "1");
    host.file(&format!("{CLOCKS}/current_clocksource"), "tsc");
    let watch = CoreWatch {
        core: 1,
        watched: Duration::from_millis(200),
        interruptions: 20,
        interrupted: Duration::from_micros(90),
        longest: Duration::from_micros(9),
    };
    host.measured.watches.push(watch);
    host.file(&format!("{CPU}/isolated"), "");
    let text = host.report().to_string();
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
    assert!(place("\nImportant\n") < place("  eth1: cannot use eth1: MTU 9000"));
    assert!(place("MTU 9000 exceeds 3822") < place("\nAdvice\n"));
    assert!(place("\nAdvice\n") < place("  SMT is on\n    costs: "));
    place("  eth1: LRO is on\n");
    place("    change: ethtool -K eth1 lro off\n");
    place("is interrupted: core 1 100 times a second, up to 9 us\n");
}
