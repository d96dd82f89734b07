//! Privileges: capabilities, user namespaces, lockdown.

use hairpin_xdp::kernel_version;

use crate::finding::Finding;
use crate::root::Root;

/// The first line of `uid_map` in the initial user namespace.
const ALL_USERS: [&str; 3] = ["0", "0", "4294967295"];
/// `CAP_PERFMON`, without which a kernel before Linux 6.6 may refuse the filter: stable releases
/// have a fix, from 6.1.53 on.
const PERFMON: u32 = 38;

const SETCAP_PERFMON: &str =
    "sudo setcap cap_net_admin,cap_net_raw,cap_bpf,cap_perfmon+ep $(command -v hairpin)";

/// The facts about privileges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PrivilegeFacts {
    pub(crate) missing: Vec<String>,
    /// `true` without `CAP_PERFMON` on a kernel that may require it.
    pub(crate) lacks_perfmon: bool,
    /// `true` in another user namespace than the initial one.
    pub(crate) user_namespace: bool,
    /// `true` if executing a file cannot give capabilities.
    pub(crate) no_new_privileges: bool,
    /// `true` if a filter of system calls applies (seccomp).
    pub(crate) filtered_calls: bool,
    /// The lockdown, unless it is `none`.
    pub(crate) lockdown: Option<String>,
}

impl PrivilegeFacts {
    pub(crate) fn read(root: &Root, missing: Vec<String>) -> Self {
        let status = root.text("proc/self/status").unwrap_or_default();
        let value = |name: &str| {
            let mut lines = status.lines().filter_map(|line| line.split_once(':'));
            lines.find(|(key, _)| *key == name).map(|(_, value)| value.trim().to_owned())
        };
        let users = root.text("proc/self/uid_map");
        let lockdown = root.text("sys/kernel/security/lockdown").unwrap_or_default();
        let lockdown = lockdown.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        Self {
            missing,
            lacks_perfmon: is_before_6_6(root) && !has_capability(root, PERFMON),
            user_namespace: users.is_some_and(|users| users.split_ascii_whitespace().ne(ALL_USERS)),
            no_new_privileges: value("NoNewPrivs").as_deref() == Some("1"),
            filtered_calls: value("Seccomp").as_deref() == Some("2"),
            lockdown: lockdown.map(|(mode, _)| mode.to_owned()).filter(|mode| mode != "none"),
        }
    }
}

/// Returns `true` if a capability of this process is effective.
pub(crate) fn has_capability(root: &Root, number: u32) -> bool {
    let status = root.text("proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|it| u64::from_str_radix(it.trim(), 16).ok());
    effective.is_some_and(|it| it >> number & 1 != 0)
}

fn is_before_6_6(root: &Root) -> bool {
    let release = root.text("proc/sys/kernel/osrelease");
    // Text without a version has the version (0, 0).
    release.is_some_and(|release| ((1, 0)..(6, 6)).contains(&kernel_version(&release)))
}

/// Returns the findings about privileges.
pub(crate) fn findings(facts: &PrivilegeFacts) -> Vec<Finding> {
    let mut found = Vec::new();
    if !facts.missing.is_empty() {
        let what = format!("missing {}", facts.missing.join(", "));
        let finding = Finding::important("privileges.capabilities", what, "no AF_XDP");
        found.push(finding.command(if facts.no_new_privileges {
            "start it as root, or without no_new_privs (NoNewPrivileges=, container runtime)"
        } else if facts.lacks_perfmon {
            SETCAP_PERFMON
        } else {
            "sudo setcap cap_net_admin,cap_net_raw,cap_bpf+ep $(command -v hairpin)"
        }));
    } else if facts.lacks_perfmon {
        let what = "missing CAP_PERFMON on a kernel before Linux 6.6";
        let cost = "no AF_XDP, unless the kernel has a later fix (6.1.53 and later have it)";
        found.push(Finding::advice("privileges.perfmon", what, cost).command(SETCAP_PERFMON));
    }
    if facts.user_namespace {
        let cost = "the kernel loads no BPF program there, whatever the capabilities: no AF_XDP";
        let what = "this process is in a user namespace";
        let finding = Finding::important("privileges.namespace", what, cost);
        found.push(
            finding.command("start it outside (containers: not rootless, no user namespace)"),
        );
    }
    if facts.filtered_calls {
        let cost = "bpf(2), perf and io_uring may be denied: AF_XDP or a wait then fails";
        let finding =
            Finding::note("privileges.seccomp", "system calls are filtered (seccomp)", cost);
        found.push(finding.command("containers: --security-opt seccomp=unconfined"));
    }
    if let Some(mode) = &facts.lockdown {
        let what = format!("the kernel is locked down ({mode})");
        let cost = "some reads of BPF programs are denied";
        found.push(Finding::note("privileges.lockdown", what, cost));
    }
    found
}
