//! The keeper's processes, their descriptors, and the entries of its filters.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use hairpin_stack::start_keeper;
use hairpin_testbed::{Host, eventually};

use crate::client;

/// A hash map of the kernel, the sizes of its keys, and the command that reads the next key.
const HASH: &str = "1";
const KEYS: [usize; 2] = [24, 44];
const BPF_MAP_GET_NEXT_KEY: libc::c_int = 4;

/// A keeper and the descriptor that programs of its run inherit.
pub(crate) struct Keeper {
    pub(crate) run: OwnedFd,
    /// The process that serves.
    server: i32,
    process: OwnedFd,
}

impl Keeper {
    /// Starts a keeper for these interfaces, in a process with one thread.
    pub(crate) fn start(host: &Host, interfaces: &[String]) -> Self {
        let run = host.run(|| start(interfaces)).unwrap();
        let server = server_of(host);
        // SAFETY: the call takes integers.
        let process = unsafe { libc::syscall(libc::SYS_pidfd_open, server, 0) } as RawFd;
        assert!(process >= 0);
        // SAFETY: the descriptor is new.
        Self { run, server, process: unsafe { OwnedFd::from_raw_fd(process) } }
    }

    /// Returns `true` while the process that was started first serves.
    pub(crate) fn is_alive(&self) -> bool {
        is_alive(&self.process)
    }

    /// Ends the run. Returns `true` once the keeper has ended.
    pub(crate) fn end(self) -> bool {
        drop(self.run);
        eventually(|| !is_alive(&self.process))
    }

    /// Returns the number of its descriptors.
    pub(crate) fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.server)).map_or(0, Iterator::count)
    }

    /// Returns the entries of all its filters.
    pub(crate) fn entries(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        for file in fs::read_dir(format!("/proc/{}/fdinfo", self.server)).unwrap().flatten() {
            let text = fs::read_to_string(file.path()).unwrap_or_default();
            let field = |name: &str| {
                let value = text.lines().find_map(|line| line.strip_prefix(name));
                value.map(str::trim)
            };
            let size = field("key_size:").and_then(|size| size.parse().ok());
            if field("map_type:") == Some(HASH)
                && let Some(size) = size.filter(|size| KEYS.contains(size))
                && let Ok(number) = file.file_name().to_string_lossy().parse()
                && let Some(map) = self.duplicate(number)
            {
                all.extend(keys(&map, size).iter().map(|key| text_of(key)));
            }
        }
        all
    }

    fn duplicate(&self, number: RawFd) -> Option<OwnedFd> {
        let process = self.process.as_raw_fd();
        // SAFETY: the call takes integers.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_getfd, process, number, 0) } as RawFd;
        // SAFETY: the descriptor is new.
        (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

fn is_alive(process: &OwnedFd) -> bool {
    !client::is_readable(process, 0)
}

/// Starts a keeper in the network namespace of this thread.
fn start(interfaces: &[String]) -> OwnedFd {
    let [kept, passed] = client::pair(libc::SOCK_SEQPACKET);
    // SAFETY: the child has one thread. The C library makes its allocator usable after a fork.
    let child = unsafe { libc::fork() };
    if child == 0 {
        if let Ok(run) = start_keeper(interfaces, &[], None) {
            let _ = client::send(passed.as_fd(), &[0; 16], &[run.as_fd()]);
        }
        // SAFETY: ends the child without the exit handlers of its parent.
        unsafe { libc::_exit(0) };
    }
    drop(passed);
    let received = client::receive(kept.as_fd()).expect("the keeper has not started");
    // SAFETY: no status is requested.
    assert_eq!(unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) }, child);
    received.descriptors.into_iter().next().unwrap()
}

/// Returns the keeper's process that serves: the child of the other one.
fn server_of(host: &Host) -> i32 {
    let namespace = || fs::read_link("/proc/thread-self/ns/net").unwrap();
    let namespace = host.run(namespace).unwrap();
    let mut found = None;
    let is_found = eventually(|| {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let keepers = processes.filter_map(|process| {
            let number: i32 = process.file_name().to_str()?.parse().ok()?;
            let here = fs::read_link(process.path().join("ns/net")).ok()? == namespace;
            let stat = fs::read_to_string(process.path().join("stat")).ok()?;
            let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse::<i32>().ok()?;
            (here && stat.contains("(hairpin-keeper)")).then_some((number, parent))
        });
        let keepers: Vec<_> = keepers.collect();
        let is_child = |(_, parent): &&(i32, i32)| keepers.iter().any(|(it, _)| it == parent);
        found = keepers.iter().find(is_child).map(|(number, _)| *number);
        found.is_some()
    });
    assert!(is_found);
    found.unwrap()
}

/// Returns the keys of a hash map (bpf(2)).
fn keys(map: &OwnedFd, size: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut next = vec![0_u8; size];
        let last = all.last().map_or(0, |key| key.as_ptr() as u64);
        let attributes = [map.as_raw_fd() as u64, last, next.as_mut_ptr() as u64, 0];
        let length = size_of_val(&attributes);
        // SAFETY: the kernel reads a key and writes one, which both have the map's size of keys.
        let found = unsafe {
            libc::syscall(libc::SYS_bpf, BPF_MAP_GET_NEXT_KEY, attributes.as_ptr(), length)
        };
        if found != 0 {
            return all;
        }
        all.push(next);
    }
}

/// Returns an entry as text: `udp`, `tcp` or the EtherType, the local and the remote address.
fn text_of(key: &[u8]) -> String {
    let address = |at: usize| {
        let ip = Ipv6Addr::from(<[u8; 16]>::try_from(&key[at..at + 16]).unwrap());
        let port = u16::from_be_bytes([key[at + 16], key[at + 17]]);
        SocketAddr::new(IpAddr::V6(ip).to_canonical(), port)
    };
    let protocol = match u16::from_ne_bytes([key[18], key[19]]) {
        17 => "udp".to_owned(),
        6 => "tcp".to_owned(),
        other => format!("{other:#06x}"),
    };
    match key.len() {
        44 => format!("{protocol} {} {}", address(0), address(24)),
        _ => format!("{protocol} {}", address(0)),
    }
}
