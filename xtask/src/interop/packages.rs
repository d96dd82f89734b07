//! Debian's packages of the programs.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::shell::{read, run as shell};

const PACKAGES: [&str; 40] = [
    "apache2",
    "apache2-utils",
    "build-essential",
    "chrony",
    "cmake",
    "curl",
    "default-jdk-headless",
    "erlang-base",
    "golang-go",
    "gunicorn",
    "haproxy",
    "iperf3",
    "libboost-dev",
    "libevent-dev",
    "libmemcached-tools",
    "libpython3.11-testsuite",
    "lighttpd",
    "mariadb-client",
    "mariadb-server",
    "memcached",
    "mosquitto",
    "mosquitto-clients",
    "ncat",
    "nginx-light",
    "nodejs",
    "openssh-client",
    "openssh-server",
    "openssl",
    "postgresql",
    "python3",
    "python3-aiohttp",
    "python3-zmq",
    "redis-server",
    "redis-tools",
    "rsync",
    "socat",
    "sockperf",
    "varnish",
    "vsftpd",
    "wrk",
];

/// Installs the packages that are missing, as root.
pub(super) fn install() -> Result<()> {
    let is_missing = |package: &&str| {
        let state = Command::new("dpkg").args(["-s", package]).output();
        !state.is_ok_and(|state| String::from_utf8_lossy(&state.stdout).contains("ok installed"))
    };
    // Go may be installed without a package.
    let has_go = Command::new("go").arg("version").output().is_ok();
    let is_missing = |package: &&str| !(has_go && *package == "golang-go") && is_missing(package);
    let missing: Vec<&str> = PACKAGES.iter().copied().filter(is_missing).collect();
    if missing.is_empty() {
        return Ok(());
    }
    read(Command::new("apt-get").args(["update", "-q"]))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-q", "--no-install-recommends"]).args(missing);
    // The programs are run by this command only, not as services.
    read(install.env("DEBIAN_FRONTEND", "noninteractive").env("RUNLEVEL", "1")).map(drop)
}

/// Downloads a source package into `folder`.
pub(super) fn source(package: &str, folder: &Path) -> Result<()> {
    let list = folder.join("sources.list");
    std::fs::write(&list, "deb-src http://deb.debian.org/debian bookworm main\n")?;
    let lists = folder.join("lists/partial");
    std::fs::create_dir_all(&lists)?;
    let lists = folder.join("lists");
    // The machine's own lists stay as they are.
    let options = [
        format!("Dir::Etc::SourceList={}", list.display()),
        "Dir::Etc::SourceParts=-".to_owned(),
        format!("Dir::State::Lists={}", lists.display()),
    ];
    let options: Vec<&str> = options.iter().flat_map(|option| ["-o", option.as_str()]).collect();
    shell(Command::new("apt-get").args(&options).args(["update", "-qq"]))?;
    let mut get = Command::new("apt-get");
    get.current_dir(folder).args(&options).args(["source", "-qq", package]);
    shell(&mut get)
}
