//! The layer table of ARCHITECTURE.md as data, compared with `cargo metadata`.

use cargo_metadata::DependencyKind;

use super::Finding;
use crate::workspace::Workspace;
use Layer::{Io, Products, Protocols, Tools, Values};
use Unsafe::{Documented, Forbidden};

/// A layer, from the lowest to the highest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layer {
    /// L0: plain values, `no_std`.
    Values,
    /// L1: protocols without I/O, `no_std` and `alloc`.
    Protocols,
    /// L2: the only crates that touch the kernel.
    Io,
    /// L3: the libraries and commands of users.
    Products,
    /// T: test support and developer commands.
    Tools,
}

/// The rule for unsafe code in a crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unsafe {
    Forbidden,
    /// Every block has a `SAFETY` comment.
    Documented,
}

/// The rules for a crate: a row of the table.
pub(super) struct Rule {
    /// The folder below `crates/`.
    pub(super) folder: &'static str,
    pub(super) layer: Layer,
    /// The folders of the workspace crates it may depend on.
    uses: &'static [&'static str],
    pub(super) unsafe_code: Unsafe,
}

const fn rule(
    folder: &'static str,
    layer: Layer,
    uses: &'static [&'static str],
    unsafe_code: Unsafe,
) -> Rule {
    Rule { folder, layer, uses, unsafe_code }
}

/// Every crate of the design, planned crates included.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    rule("time", Values, &[], Forbidden),
    rule("wire", Values, &[], Forbidden),
    rule("sbe", Values, &[], Forbidden),
    rule("cme-codecs", Values, &["sbe"], Forbidden),
    rule("netstack", Protocols, &["wire", "time"], Forbidden),
    rule("tcp", Protocols, &["wire", "time"], Forbidden),
    rule("rds", Protocols, &["time"], Forbidden),
    rule("mdp3", Protocols, &["cme-codecs", "sbe", "time"], Forbidden),
    rule("ilink3", Protocols, &["cme-codecs", "sbe", "time"], Forbidden),
    rule("host", Io, &["time"], Documented),
    rule("mapped", Io, &["time"], Documented),
    rule("xdp", Io, &["host"], Documented),
    rule("stack", Io, &["netstack", "tcp", "xdp", "mapped", "host", "wire", "time"], Documented),
    rule("endpoint", Io, &["stack", "rds", "mapped", "host", "wire", "time"], Documented),
    rule("reactor", Io, &["endpoint", "host", "time"], Documented),
    rule("feed-handler", Products,
        &["mdp3", "cme-codecs", "sbe", "reactor", "endpoint", "mapped", "time"], Forbidden),
    rule("order-entry", Products,
        &["ilink3", "cme-codecs", "sbe", "reactor", "endpoint", "mapped", "time"], Forbidden),
    rule("exchange", Products, &["cme-codecs", "sbe", "reactor", "endpoint", "time"], Forbidden),
    rule("preload", Products, &["endpoint", "stack", "mapped", "host", "time"], Documented),
    rule("measure", Products, &["host", "mapped", "time"], Forbidden),
    rule("sdk", Products,
        &["feed-handler", "order-entry", "reactor", "endpoint", "mapped", "host", "sbe", "time"],
        Forbidden),
    rule("capi", Products, &["sdk"], Documented),
    rule("doctor", Products,
        &["feed-handler", "order-entry", "stack", "xdp", "host", "time"], Forbidden),
    rule("cli-harness", Products,
        &["time", "wire", "host", "mapped", "xdp", "stack", "endpoint", "reactor", "feed-handler",
          "order-entry", "measure", "testbed"], Forbidden),
    rule("cli-market", Products,
        &["cli-harness", "time", "sbe", "cme-codecs", "host", "mapped", "xdp", "endpoint",
          "reactor", "feed-handler", "order-entry", "exchange", "measure"], Forbidden),
    rule("cli-latency", Products,
        &["cli-harness", "time", "wire", "sbe", "host", "mapped", "xdp", "stack", "endpoint",
          "reactor", "feed-handler", "order-entry", "exchange", "measure", "testbed"], Forbidden),
    rule("hairpin", Products,
        &["cli-harness", "cli-market", "cli-latency", "doctor", "order-entry", "measure",
          "preload"], Forbidden),
    rule("cme-copy", Tools, &["cme-codecs", "sbe"], Forbidden),
    rule("netsim", Tools, &["time", "wire"], Forbidden),
    rule("testbed", Tools, &["host", "testkit"], Documented),
    rule("testkit", Tools, &[], Forbidden),
    rule("examples", Tools,
        &["time", "host", "mapped", "reactor", "feed-handler", "order-entry", "sdk"], Forbidden),
    rule("xtask", Tools, &["sbe", "testbed"], Forbidden),
];

/// The crates that `exchange` never links, not even in its tests: the exchange is a second,
/// independent implementation of CME's documents.
const NOT_IN_EXCHANGE: [&str; 4] = ["mdp3", "ilink3", "feed-handler", "order-entry"];

/// Returns the row for a crate's folder.
pub(super) fn rule_for(folder: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.folder == folder)
}

/// Compares the dependencies of every member with the table.
pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in &workspace.members {
        let manifest = workspace.folder(member).join("Cargo.toml").display().to_string();
        let folder = folder_name(&manifest);
        let mut find = |what| findings.push(Finding::new(&manifest, 0, what));
        let Some(rule) = rule_for(folder) else {
            find(format!("{folder} is missing in the layer table (xtask/src/tidy/layers.rs)"));
            continue;
        };
        if member.name != package_name(folder) {
            find(format!("the package in {folder} has the name {}", member.name));
        }
        for dependency in member.dependencies.iter().filter(|d| d.path.is_some()) {
            let used = used_folder(&dependency.name);
            if let Some(what) = violation(rule, used, dependency.kind) {
                find(what);
            }
        }
    }
    findings
}

/// Returns the reason for which a crate must not have a dependency.
fn violation(rule: &Rule, used: &str, kind: DependencyKind) -> Option<String> {
    let user = rule.folder;
    if user == "exchange" && NOT_IN_EXCHANGE.contains(&used) {
        return Some(format!("exchange must not link {used}, not even in tests"));
    }
    let allowed = kind == DependencyKind::Development || rule.uses.contains(&used);
    (!allowed).then(|| format!("{user} must not depend on {used}"))
}

/// Returns the folder of a manifest: `time` for `crates/time/Cargo.toml`.
fn folder_name(manifest: &str) -> &str {
    manifest.rsplit('/').nth(1).unwrap_or(manifest)
}

/// Returns the package name for a folder: `hairpin-<folder>`, except for the two commands and the
/// facade.
fn package_name(folder: &str) -> String {
    match folder {
        "hairpin" => "hairpin-cli".to_string(),
        "sdk" => "hairpin".to_string(),
        "xtask" => folder.to_string(),
        _ => format!("hairpin-{folder}"),
    }
}

/// Returns the folder of a package, the inverse of [`package_name`].
fn used_folder(package: &str) -> &str {
    match package {
        "hairpin-cli" => "hairpin",
        "hairpin" => "sdk",
        _ => package.strip_prefix("hairpin-").unwrap_or(package),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_has_no_edge_upwards_or_between_protocols() {
        for rule in RULES {
            for used in rule.uses.iter().map(|name| rule_for(name).expect(name)) {
                let is_command = ["cli-harness", "cli-latency"].contains(&rule.folder);
                let testbed = is_command && used.folder == "testbed";
                assert!(used.layer <= rule.layer || testbed, "{} → {}", rule.folder, used.folder);
                let sideways = rule.layer == Protocols && used.layer == Protocols;
                assert!(!sideways, "{} → {}", rule.folder, used.folder);
            }
        }
    }

    #[test]
    fn unsafe_code_is_limited_to_crates_that_use_the_kernel_or_c() {
        for rule in RULES.iter().filter(|rule| rule.unsafe_code == Documented) {
            let known = rule.layer == Io || ["capi", "preload", "testbed"].contains(&rule.folder);
            assert!(known, "{}", rule.folder);
        }
    }

    #[test]
    fn rejects_dependencies_outside_the_table() {
        let is_rejected =
            |user: &str, used, kind| violation(rule_for(user).expect(user), used, kind).is_some();
        assert!(is_rejected("mdp3", "ilink3", DependencyKind::Normal));
        assert!(is_rejected("time", "host", DependencyKind::Build));
        assert!(is_rejected("reactor", "testbed", DependencyKind::Normal));
        assert!(!is_rejected("reactor", "testbed", DependencyKind::Development));
        assert!(!is_rejected("cli-harness", "testbed", DependencyKind::Normal));
        // Cargo compiles the two side by side.
        assert!(is_rejected("cli-market", "cli-latency", DependencyKind::Normal));
        assert!(is_rejected("cli-latency", "cli-market", DependencyKind::Normal));
        assert!(is_rejected("exchange", "mdp3", DependencyKind::Development));
    }

    #[test]
    fn exchange_does_not_reach_a_client_crate() {
        let mut reached = vec!["exchange"];
        let mut at = 0;
        while let Some(folder) = reached.get(at) {
            reached.extend(rule_for(folder).expect(folder).uses);
            at += 1;
        }
        assert!(NOT_IN_EXCHANGE.iter().all(|forbidden| !reached.contains(forbidden)));
    }
}
