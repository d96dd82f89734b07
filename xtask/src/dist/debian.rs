//! The Debian package.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{Release, copy_all};
use crate::install::{copy, write};
use crate::shell::{read, run as shell};

/// Records before an upgrade whether the administrator has given the command its capabilities.
const PREINST: &str = r#"#!/bin/sh
set -e
if [ "$1" = upgrade ] && getcap /usr/bin/hairpin 2>/dev/null | grep -q cap_net_admin; then
    touch /run/hairpin.had-capabilities
fi
"#;
/// Gives them again after it, but only while an override keeps other users from the command.
const POSTINST: &str = r#"#!/bin/sh
set -e
mark=/run/hairpin.had-capabilities
if [ "$1" = configure ] && [ -e "$mark" ]; then
    rm -f "$mark"
    mode=$(dpkg-statoverride --list /usr/bin/hairpin | cut -d " " -f 3)
    case "$mode" in
    *[0246])
        setcap cap_net_admin,cap_net_raw,cap_bpf+ep /usr/bin/hairpin ||
            echo "hairpin: its capabilities are not set again" >&2
        ;;
    *) echo "hairpin: its capabilities are not set again: any user may execute it" >&2 ;;
    esac
fi
"#;

/// The explanation of the capabilities, in `/usr/share/doc/hairpin`.
const README: &str = "\
hairpin for Debian
==================

What bypasses the kernel (hairpin run, --transport xdp) needs three
capabilities: CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF. The package gives them
to no user. Root has them. Everything else works without them.

To give them to the members of a group, who are then trusted with the
interfaces of this host:

    addgroup --system hairpin
    adduser USER hairpin
    dpkg-statoverride --update --add root hairpin 0750 /usr/bin/hairpin
    setcap cap_net_admin,cap_net_raw,cap_bpf+ep /usr/bin/hairpin

An upgrade sets the capabilities again if the command had them and the
override keeps other users from it. To take them back:

    setcap -r /usr/bin/hairpin
    dpkg-statoverride --remove /usr/bin/hairpin
    chown root:root /usr/bin/hairpin
    chmod 0755 /usr/bin/hairpin

The units hairpin-exchange.service and hairpin-feed@.service are installed,
and not started. With the override, their user needs the group: a drop-in
with [Service] and SupplementaryGroups=hairpin.
";

/// Builds `hairpin_VERSION_ARCHITECTURE.deb`.
pub(super) fn package(release: &Release, root: &Path, tree: &Path, to: &Path) -> Result<PathBuf> {
    let Release { version, time, .. } = release;
    let architecture = match release.architecture {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => bail!("no name of Debian for {other}"),
    };
    let staging = to.join("debian");
    if staging.exists() {
        fs::remove_dir_all(&staging)?;
    }
    copy_tree(tree, &staging.join("usr"))?;
    let doc = staging.join("usr/share/doc/hairpin");
    write(&doc.join("README.Debian"), README)?;
    write(&doc.join("copyright"), &copyright())?;
    fs::rename(doc.join("CHANGELOG.md"), doc.join("changelog"))?;
    // copyright names both; that of Apache is part of Debian.
    ["LICENSE-APACHE", "LICENSE-MIT"]
        .iter()
        .try_for_each(|name| fs::remove_file(doc.join(name)))?;
    copy(&root.join("LICENSE-MIT"), &doc.join("LICENSE-MIT"))?;
    compress(&doc.join("changelog"))?;
    for page in fs::read_dir(staging.join("usr/share/man/man1"))? {
        compress(&page?.path())?;
    }
    let size = read(Command::new("du").args(["--summarize", "--block-size=1024"]).arg(&staging))?;
    let size = size.split_whitespace().next().unwrap_or("0").to_owned();
    write(&staging.join("DEBIAN/control"), &control(version, architecture, &size))?;
    // Whatever the umask is.
    shell(Command::new("chmod").args(["--recursive", "u=rwX,go=rX"]).arg(&staging))?;
    for (name, script) in [("preinst", PREINST), ("postinst", POSTINST)] {
        let path = staging.join("DEBIAN").join(name);
        write(&path, script)?;
        shell(Command::new("chmod").arg("0755").arg(path))?;
    }
    write(&staging.join("DEBIAN/md5sums"), &sums(&staging)?)?;
    let path = to.join(format!("hairpin_{version}_{architecture}.deb"));
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "--build"]).arg(&staging).arg(&path);
    build.env("SOURCE_DATE_EPOCH", time).stdout(std::process::Stdio::null());
    shell(&mut build).context("dpkg-deb builds the package")?;
    Ok(path)
}

/// Copies the tree with its links.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    shell(Command::new("cp").args(["--archive", "--no-target-directory"]).arg(from).arg(to))?;
    // Debian's folder of units.
    copy_all(&from.join("lib/systemd/system"), &to.join("../lib/systemd/system"))?;
    Ok(fs::remove_dir_all(to.join("lib/systemd"))?)
}

fn control(version: &str, architecture: &str, size: &str) -> String {
    format!(
        "Package: hairpin\n\
         Version: {version}\n\
         Architecture: {architecture}\n\
         Maintainer: The Hairpin maintainers <hairpin@localhost>\n\
         Installed-Size: {size}\n\
         Depends: libc6 (>= 2.34), libgcc-s1\n\
         Recommends: libcap2-bin\n\
         Suggests: sockperf\n\
         Section: net\n\
         Priority: optional\n\
         Description: low-latency trading connectivity\n \
         Market data of CME over UDP multicast, order entry over iLink 3, accelerated\n \
         sockets for unmodified programs over AF_XDP, reliable datagrams, an exchange\n \
         simulator, and measurements of all of them. With the C and C++ library.\n"
    )
}

fn copyright() -> String {
    "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
     Upstream-Name: hairpin\n\n\
     Files: *\n\
     Copyright: The Hairpin contributors\n\
     License: Apache-2.0 or Expat\n\n\
     License: Apache-2.0\n \
     /usr/share/common-licenses/Apache-2.0\n\n\
     License: Expat\n \
     /usr/share/doc/hairpin/LICENSE-MIT\n"
        .to_owned()
}

/// Compresses a file of the package, without its name and time.
fn compress(path: &Path) -> Result<()> {
    shell(Command::new("gzip").args(["--no-name", "-9"]).arg(path))
}

/// Returns the check sums of all files, sorted by name.
fn sums(staging: &Path) -> Result<String> {
    let mut find = Command::new("sh");
    find.current_dir(staging).args([
        "-c",
        "find * -type f ! -path 'DEBIAN/*' -print0 | LC_ALL=C sort -z | xargs -0 md5sum",
    ]);
    read(&mut find)
}
