//! The report: a summary of each interface, and all findings.

use std::fmt;

use hairpin_xdp::{CopyMode, Features, InterfacePlan, Mode};
use serde::Serialize;

use crate::finding::{Finding, Severity};
use crate::interface::InterfaceFacts;

/// The version of the JSON document.
const FORMAT: &str = "hairpin.doctor/1";

/// The result of an examination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The format of the document.
    pub format: &'static str,
    /// The host.
    pub host: HostSummary,
    /// The examined interfaces.
    pub interfaces: Vec<InterfaceSummary>,
    /// All findings, the most important first.
    pub findings: Vec<Finding>,
    /// The files and rules that this process may not read.
    pub unread: Vec<String>,
}

/// The host in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostSummary {
    /// The kernel release.
    pub kernel: String,
    /// The processor's model.
    pub cpu: String,
    /// The cores that this process may use.
    pub cores: Vec<usize>,
}

/// What Hairpin does on an interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InterfaceSummary {
    /// The name.
    pub name: String,
    /// The driver.
    pub driver: Option<String>,
    /// The XDP features that the driver reports; `None` if the kernel does not report them.
    pub features: Option<Vec<&'static str>>,
    /// The mode of the filter: `native`, `generic`, or `auto` if the kernel decides; `None` if
    /// AF_XDP cannot be used.
    pub mode: Option<String>,
    /// The mode for commands that carry TCP.
    pub tcp_mode: Option<String>,
    /// `copy` or `zero-copy`.
    pub copies: Option<&'static str>,
    /// The number of receive queues, and the most that the driver supports.
    pub queues: u32,
    /// The most receive queues.
    pub queues_max: u32,
    /// The MTU in bytes.
    pub mtu: u32,
    /// The highest MTU that AF_XDP can use, in bytes.
    pub mtu_max: Option<u32>,
    /// The active offloads that matter.
    pub offloads: Vec<String>,
    /// The reason why AF_XDP cannot be used.
    pub obstacle: Option<String>,
}

/// The offloads that a summary lists, and their short names.
const OFFLOADS: [(&str, &str); 5] = [
    ("rx-lro", "LRO"),
    ("rx-gro-hw", "hardware GRO"),
    ("rx-gro", "GRO"),
    ("tx-tcp-segmentation", "TSO"),
    ("rx-vlan-hw-parse", "rx-vlan-offload"),
];

impl Report {
    pub(crate) fn new(
        host: HostSummary,
        interfaces: Vec<InterfaceSummary>,
        mut findings: Vec<Finding>,
        unread: Vec<String>,
    ) -> Self {
        findings.sort_by(|a, b| (a.severity, &a.interface).cmp(&(b.severity, &b.interface)));
        Self { format: FORMAT, host, interfaces, findings, unread }
    }

    /// Returns `true` if something important is wrong.
    #[must_use]
    pub fn has_important(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Important)
    }
}

impl InterfaceSummary {
    pub(crate) fn new(facts: &InterfaceFacts, obstacle: Option<String>) -> Self {
        let device = &facts.answers.device;
        let plans = facts.plans.as_ref().ok().filter(|_| !facts.answers.link.loopback);
        let mode = |plan: &InterfacePlan| plan.mode.to_string();
        let settings = &facts.answers.settings;
        let offloads = OFFLOADS.iter().filter(|(name, _)| settings.is_active(name));
        Self {
            name: device.name.clone(),
            driver: device.driver.clone(),
            features: device.features.map(features),
            mode: plans.map(|[datagrams, _]| mode(datagrams)),
            tcp_mode: plans.map(|[_, tcp]| mode(tcp)),
            copies: plans.map(|[datagrams, _]| match datagrams.copy_mode {
                CopyMode::ZeroCopy => "zero-copy",
                _ => "copy",
            }),
            queues: device.queues,
            queues_max: device.queues_max,
            mtu: device.mtu,
            mtu_max: plans.filter(|_| !device.delivers_parts).map(|[it, _]| it.max_mtu),
            offloads: offloads.map(|(_, short)| (*short).to_owned()).collect(),
            obstacle,
        }
    }
}

fn features(features: Features) -> Vec<&'static str> {
    let Features { native, zero_copy, multi_buffer, receive_stamps, transmit_stamps } = features;
    let all = [
        (native, "native mode"),
        (zero_copy, "zero-copy"),
        (multi_buffer, "frames of several buffers"),
        (receive_stamps, "receive timestamps"),
        (transmit_stamps, "transmit timestamps"),
    ];
    all.into_iter().filter(|(is_there, _)| *is_there).map(|(_, name)| name).collect()
}

impl fmt::Display for InterfaceSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, queues, mtu, .. } = self;
        write!(f, "{name}: ")?;
        if let Some(obstacle) = &self.obstacle {
            write!(f, "kernel sockets, because of: {obstacle}; ")?;
            if self.mode.is_some() {
                f.write_str("otherwise ")?;
            }
        }
        if let (Some(mode), Some(tcp_mode)) = (&self.mode, &self.tcp_mode) {
            f.write_str("AF_XDP in ")?;
            write_mode(f, mode)?;
            if mode != tcp_mode {
                f.write_str(" (with TCP ")?;
                write_mode(f, tcp_mode)?;
                f.write_str(")")?;
            }
            let copies = if self.copies == Some("copy") { "copies" } else { "no copies" };
            write!(f, ", {copies}, ")?;
        }
        let plural = if *queues == 1 { "" } else { "s" };
        write!(f, "{queues} queue{plural}, MTU {mtu}")?;
        if let Some(max) = self.mtu_max {
            write!(f, " (limit {max})")?;
        }
        write!(f, ", driver {}", self.driver.as_deref().unwrap_or("none"))?;
        if let Some(features) = self.features.as_ref().filter(|features| !features.is_empty()) {
            write!(f, " with {}", features.join(", "))?;
        }
        if !self.offloads.is_empty() {
            write!(f, "; on: {}", self.offloads.join(", "))?;
        }
        Ok(())
    }
}

fn write_mode(f: &mut fmt::Formatter<'_>, mode: &str) -> fmt::Result {
    match mode {
        mode if mode == Mode::Auto.to_string() => f.write_str("native mode, or generic mode"),
        mode => write!(f, "{mode} mode"),
    }
}

/// Formats the report as lines, which the command breaks to the width of the terminal.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for interface in &self.interfaces {
            writeln!(f, "{interface}")?;
        }
        let HostSummary { kernel, cpu, cores } = &self.host;
        let plural = if cores.len() == 1 { "" } else { "s" };
        writeln!(f, "host: Linux {kernel}, {cpu}, {} core{plural}", cores.len())?;
        for severity in Severity::ALL {
            let of = self.findings.iter().filter(|finding| finding.severity == severity);
            for (index, finding) in of.enumerate() {
                if index == 0 {
                    writeln!(f, "\n{}", severity.heading())?;
                }
                write_finding(f, finding)?;
            }
        }
        if !self.unread.is_empty() {
            writeln!(f, "\nNot readable for this user: {}", self.unread.join(", "))?;
        }
        Ok(())
    }
}

fn write_finding(f: &mut fmt::Formatter<'_>, finding: &Finding) -> fmt::Result {
    let place = finding.interface.as_ref().map_or_else(String::new, |name| format!("{name}: "));
    writeln!(f, "  {place}{}", finding.found)?;
    writeln!(f, "    costs: {}", finding.cost)?;
    match &finding.command {
        Some(command) => writeln!(f, "    change: {command}"),
        None => Ok(()),
    }
}
