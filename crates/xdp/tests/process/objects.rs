//! The BPF objects that a process holds, and those that still exist.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{FromRawFd, OwnedFd};

use hairpin_testbed::Host;
use hairpin_xdp::{Filter, FilterSettings, Mode};

/// The kind of a BPF object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Program,
    Map,
    Link,
}

impl Kind {
    /// Maps the field name in `/proc/PID/fdinfo` to a kind.
    fn of(word: &str) -> Option<Self> {
        match word {
            "prog_id" => Some(Self::Program),
            "map_id" => Some(Self::Map),
            "link_id" => Some(Self::Link),
            _ => None,
        }
    }

    fn is_there(self, number: u32) -> bool {
        let command = match self {
            Self::Program => 13,
            Self::Map => 14,
            Self::Link => 30,
        };
        let words = [u64::from(number), 0];
        let length = size_of_val(&words);
        // SAFETY: the structure that these commands require, which outlives the call.
        let fd = unsafe { libc::syscall(libc::SYS_bpf, command, words.as_ptr(), length) };
        if fd < 0 {
            return false;
        }
        // SAFETY: the descriptor is new and has no other owner.
        drop(unsafe { OwnedFd::from_raw_fd(fd as i32) });
        true
    }
}

/// BPF objects by kind and id.
#[derive(Debug)]
pub(crate) struct Objects(BTreeSet<(Kind, u32)>);

impl Objects {
    /// Reads the objects that a stopped process holds descriptors of.
    pub(crate) fn of_process(process: u32) -> Self {
        let folder = format!("/proc/{process}/fdinfo");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let text: String = files.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
        let objects = text.lines().filter_map(|line| {
            let (word, number) = line.split_once(':')?;
            Some((Kind::of(word)?, number.trim().parse().unwrap()))
        });
        Self(objects.collect())
    }

    pub(crate) fn left(&self) -> Vec<(Kind, u32)> {
        self.0.iter().copied().filter(|(kind, number)| kind.is_there(*number)).collect()
    }

    pub(crate) fn counts(&self) -> BTreeMap<Kind, usize> {
        let mut counts = BTreeMap::new();
        for (kind, _) in &self.0 {
            *counts.entry(*kind).or_default() += 1;
        }
        counts
    }
}

pub(crate) fn is_stopped(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    status.rsplit(')').next().is_some_and(|rest| rest.starts_with(" T"))
}

/// Returns the reason why a program cannot be attached to the host's interface; `None` if it can.
pub(crate) fn link_on(host: &Host) -> Option<String> {
    let settings = FilterSettings { flows: 1, locals: 1, groups: 1, ..FilterSettings::default() };
    let filter = Filter::load(&settings).unwrap();
    let index = host.interface_index();
    let attached = host.run(|| filter.attach(index, Mode::Generic)).unwrap();
    attached.err().map(|error| error.to_string())
}

/// Returns `true` if any process is in the namespace.
pub(crate) fn is_namespace_used(name: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    processes.into_iter().any(|process| {
        std::fs::read_link(process.path().join("ns/net")).is_ok_and(|net| *net == *name)
    })
}
