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

/// The programs of this machine, with Debian's packages.
const TOOLS: [(&str, &str); 6] = [
    ("apt-get", "apt"),
    ("dpkg-deb", "dpkg"),
    ("ldd", "libc-bin"),
    ("setpriv", "util-linux"),
    ("unshare", "util-linux"),
    ("xz", "xz-utils"),
];
/// The programs of a guest, with Debian's packages where the name is another.
const PACKAGES: [(&str, &str); 4] = [
    ("ip", "iproute2"),
    ("nft", "nftables"),
    ("redis-benchmark", "redis-tools"),
    ("tc", "iproute2"),
];

/// Checks every tool. Installs QEMU if it is missing.
pub(super) fn check(cells: &[Cell], folder: &Path, install: bool) -> Result<()> {
    ensure!(std::env::consts::ARCH == "x86_64", "cannot run guests: only x86-64 is supported");
    let is_missing = |program: &str| find(program).is_none();
    let missing = TOOLS.iter().filter(|tool| is_missing(tool.0)).map(|tool| tool.1);
    let mut missing: BTreeSet<&str> = missing.collect();
    missing.extend(of_cells(cells).into_iter().filter(|it| is_missing(it)).map(package));
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

/// Returns the programs of a guest that runs these cells.
pub(super) fn of_cells(cells: &[Cell]) -> BTreeSet<&'static str> {
    let mut programs = BTreeSet::from(["ip", "tc"]);
    programs.extend(cells.iter().flat_map(|it| it.test.programs()));
    if cells.iter().any(|it| it.device == Device::Nftables) {
        programs.insert("nft");
    }
    programs
}

fn package(program: &'static str) -> &'static str {
    PACKAGES.iter().find(|it| it.0 == program).map_or(program, |it| it.1)
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
