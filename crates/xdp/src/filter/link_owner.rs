//! The process that has attached a program to an interface.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The link of a descriptor to a BPF link, as the kernel names it in `/proc/PID/fd`.
const LINK: &str = "anon_inode:bpf_link";

/// The process whose XDP program is attached to an interface.
///
/// The kernel names it: the process holds the link, and the file name is that of its executable,
/// which a process cannot choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkOwner {
    /// The process id.
    pub process: u32,
    /// The file name of its executable.
    pub name: String,
}

impl LinkOwner {
    /// Finds the process that holds the link of an interface of this thread's network namespace.
    /// `None` if only a process with `CAP_SYS_PTRACE` can inspect the holder, which another user or
    /// a file with capabilities has started, or if the program was attached without a link.
    #[must_use]
    pub fn find(interface: u32) -> Option<Self> {
        let namespace = fs::read_link("/proc/thread-self/ns/net").ok()?;
        let processes = fs::read_dir("/proc").ok()?.flatten();
        processes.filter_map(|entry| Self::read(&entry.path(), interface, &namespace)).next()
    }

    /// Returns the process of a folder of `/proc`, if it holds the link.
    fn read(folder: &Path, interface: u32, namespace: &Path) -> Option<Self> {
        let process = folder.file_name()?.to_str()?.parse().ok()?;
        let holds_link = || {
            let descriptors = fs::read_dir(folder.join("fd")).ok()?.flatten();
            let mut links = descriptors.filter(|it| is_link(&it.path(), LINK));
            links.find(|it| {
                let facts = fs::read_to_string(folder.join("fdinfo").join(it.file_name()));
                facts.is_ok_and(|facts| is_link_of(&facts, interface))
            })
        };
        holds_link()?;
        let mut threads = fs::read_dir(folder.join("task")).ok()?.flatten();
        threads.find(|it| is_link(&it.path().join("ns/net"), namespace))?;
        let executable = fs::read_link(folder.join("exe")).unwrap_or_else(|_| PathBuf::from("?"));
        let name = executable.file_name().unwrap_or_default().to_string_lossy();
        Some(Self { process, name: name.escape_debug().to_string() })
    }
}

impl fmt::Display for LinkOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.name, self.process)
    }
}

/// Returns `true` if a symbolic link leads to `target`.
fn is_link(path: &Path, target: impl AsRef<Path>) -> bool {
    fs::read_link(path).is_ok_and(|found| found == target.as_ref())
}

/// Returns `true` if the facts of a descriptor are those of an XDP link of an interface.
fn is_link_of(facts: &str, interface: u32) -> bool {
    let value = |name: &str| {
        let mut lines = facts.lines().filter_map(|line| line.split_once(":\t"));
        lines.find(|(key, _)| *key == name).map(|(_, value)| value.trim())
    };
    value("link_type") == Some("xdp") && value("ifindex") == Some(&interface.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_a_descriptor_name_the_kind_of_link_and_its_interface() {
        let facts = "pos:\t0\nflags:\t02000000\nmnt_id:\t17\nino:\t1038\nlink_type:\txdp\n\
                     link_id:\t1157\nprog_tag:\t56b486a029193c38\nprog_id:\t1102\nifindex:\t3\n";
        assert!(is_link_of(facts, 3));
        assert!(!is_link_of(facts, 1_102) && !is_link_of(facts, 33));
        assert!(!is_link_of(&facts.replace("xdp", "tcx"), 3));
        assert!(!is_link_of("", 0));
    }
}
