//! The programs that the command runs on this machine or copies into the guest.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::apt::{Apt, KEYRING};
use super::cell::{Cell, Device, Driver};
use crate::shell::read;

const QEMU: &str = "qemu-system-x86_64";
const QEMU_PACKAGE: &str = "qemu-system-x86";
/// The suites of a QEMU that emulates igb; that of bookworm does not.
const QEMU_SUITES: [&str; 2] = ["bookworm", "bookworm-backports"];

/// The programs, with Debian's packages.
const TOOLS: [(&str, &str); 12] = [
    ("apt-get", "apt"),
    ("dpkg-deb", "dpkg"),
    ("ip", "iproute2"),
    ("ldd", "libc-bin"),
    ("nft", "nftables"),
    ("redis-benchmark", "redis-tools"),
    ("redis-server", "redis-server"),
    ("setpriv", "util-linux"),
    ("sockperf", "sockperf"),
    ("tc", "iproute2"),
    ("unshare", "util-linux"),
    ("xz", "xz-utils"),
];

/// Checks every tool. Installs QEMU if it is missing.
pub(super) fn check(cells: &[Cell], folder: &Path, install: bool) -> Result<()> {
    let needs_sockperf = cells.iter().any(|it| it.test.uses_sockperf());
    let needs_redis = cells.iter().any(|it| it.test.uses_redis());
    ensure!(std::env::consts::ARCH == "x86_64", "cannot run guests: only x86-64 is supported");
    let needs_nft = cells.iter().any(|it| it.device == Device::Nftables);
    let is_missing = |(program, _): &&(&str, &str)| {
        let is_needed = match *program {
            "sockperf" => needs_sockperf,
            "nft" => needs_nft,
            "redis-benchmark" | "redis-server" => needs_redis,
            _ => true,
        };
        is_needed && find(program).is_none()
    };
    let mut missing: BTreeSet<&str> = TOOLS.iter().filter(is_missing).map(|tool| tool.1).collect();
    if !Path::new(KEYRING).exists() {
        missing.insert("debian-archive-keyring");
    }
    if !missing.is_empty() {
        let packages: Vec<&str> = missing.into_iter().collect();
        bail!("cannot find programs: install them with `apt-get install {}`", packages.join(" "));
    }
    let manual = format!("apt-get install -t bookworm-backports {QEMU_PACKAGE}");
    if find(QEMU).is_none() {
        ensure!(install, "cannot find {QEMU}: install it with `{manual}`");
        println!("vm: installing {QEMU_PACKAGE} from Debian bookworm-backports");
        let apt = Apt::for_this_machine(&folder.join("apt/qemu"), &QEMU_SUITES)?;
        apt.install("bookworm-backports", &[QEMU_PACKAGE])
            .with_context(|| format!("cannot install {QEMU}, which needs root: `{manual}`"))?;
    }
    if cells.iter().any(|cell| cell.driver == Driver::Igb) {
        let devices = read(Command::new(QEMU).args(["-device", "help"]))?;
        let remedy = "QEMU 8.0 or later is required";
        ensure!(devices.contains("\"igb\""), "cannot emulate igb: {remedy}: `{manual}`");
    }
    Ok(())
}

/// Returns a program's path.
pub(super) fn path(program: &str) -> Result<PathBuf> {
    find(program).with_context(|| format!("cannot find {program}"))
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // A user's path lacks the folders of the administrator's programs.
    let more = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(more).map(|it| it.join(program)).find(|it| it.is_file())
}
