//! The filter's maps, which can change while the program runs.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use super::bpf;
use super::entry::{EntryError, EntryKind, FLOW_KEY, Key, LOCAL_KEY};
use super::entry_counts::EntryCounts;
use super::inline_flows::FlowWords;
use super::seen_flows::SeenFlows;
use crate::fork_guard::ForkGuardedFd;

/// The size of a value: the base index of a slot, or the marker for the kernel.
const VALUE: usize = 4;

/// The capacity of each map. All memory is allocated at creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Capacity {
    pub(super) flows: u32,
    pub(super) locals: u32,
    pub(super) groups: u32,
    pub(super) sockets: u32,
}

#[derive(Debug)]
pub(super) struct Maps {
    pub(super) flows: ForkGuardedFd,
    pub(super) locals: ForkGuardedFd,
    pub(super) groups: ForkGuardedFd,
    pub(super) counts: EntryCounts,
    pub(super) sockets: ForkGuardedFd,
    /// Held during a change, which updates both an entry and a count.
    update_lock: Mutex<()>,
}

impl Maps {
    pub(super) fn create(capacity: Capacity) -> io::Result<Self> {
        let entries = |key: usize, entries, name: &str| {
            bpf::create_map(bpf::HASH, key as u32, VALUE as u32, entries, 0, name)
        };
        Ok(Self {
            flows: entries(FLOW_KEY, capacity.flows, "hairpin_flows")?,
            locals: entries(LOCAL_KEY, capacity.locals, "hairpin_locals")?,
            groups: entries(LOCAL_KEY, capacity.groups, "hairpin_groups")?,
            counts: EntryCounts::create()?,
            sockets: bpf::create_map(bpf::XSK_MAP, 4, 4, capacity.sockets, 0, "hairpin_sockets")?,
            update_lock: Mutex::new(()),
        })
    }

    /// Takes over the maps of another process, in the order of the fields.
    pub(super) fn from_fds(descriptors: [OwnedFd; 5]) -> io::Result<Self> {
        let [flows, locals, groups, counts, sockets] =
            descriptors.map(|descriptor| ForkGuardedFd::from_fn(|| Ok(descriptor)));
        let (flows, locals, groups, sockets) = (flows?, locals?, groups?, sockets?);
        let counts = EntryCounts::from_fd(counts?)?;
        Ok(Self { flows, locals, groups, counts, sockets, update_lock: Mutex::new(()) })
    }

    /// Returns the descriptors in the order of the fields.
    pub(super) fn descriptors(&self) -> [BorrowedFd<'_>; 5] {
        let Self { flows, locals, groups, counts, sockets, .. } = self;
        [flows.as_fd(), locals.as_fd(), groups.as_fd(), counts.as_fd(), sockets.as_fd()]
    }

    pub(super) fn insert(&self, kind: EntryKind, key: &Key, value: u32) -> Result<(), EntryError> {
        let _changing = self.update_lock.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flow) = FlowWords::new(key) {
            let flows = self.counts.flows();
            // It may be in the map because its slot was occupied.
            let in_map =
                || self.counts.count(kind) > 0 && self.lookup(key).ok().flatten().is_some();
            if flows.replace(flow, value) || !in_map() && flows.insert(flow, value) {
                return Ok(());
            }
        }
        self.counts.increment(kind);
        match self.update(key, value, bpf::IF_ABSENT) {
            Ok(()) => self.counts.record_insert(kind, value),
            Err(reason) => {
                self.counts.decrement(kind);
                if reason.raw_os_error() != Some(libc::EEXIST) {
                    return Err(match reason.raw_os_error() {
                        Some(libc::E2BIG) => EntryError::Full,
                        _ => EntryError::Kernel(reason),
                    });
                }
                self.update(key, value, bpf::IF_PRESENT)?;
                self.counts.record_update(kind, value);
            }
        }
        Ok(())
    }

    fn update(&self, key: &Key, value: u32, flags: u64) -> io::Result<()> {
        let (map, key) = self.map_and_key(key);
        // SAFETY: `map_and_key` returns a key of its map's key size, and values are four bytes.
        unsafe { bpf::update(map, key, &value.to_ne_bytes(), flags) }
    }

    /// Removes an entry. Returns `false` if there was no such entry.
    pub(super) fn remove(&self, kind: EntryKind, key: &Key) -> Result<bool, EntryError> {
        let _changing = self.update_lock.lock().unwrap_or_else(PoisonError::into_inner);
        if FlowWords::new(key).is_some_and(|flow| self.counts.flows().remove(flow)) {
            return Ok(true);
        }
        self.counts.prepare_remove(kind);
        let (map, key) = self.map_and_key(key);
        // SAFETY: as above.
        let existed = found(unsafe { bpf::delete(map, key) })?;
        if existed {
            self.counts.decrement(kind);
        }
        Ok(existed)
    }

    /// Returns the connections that the program has passed to the kernel.
    pub(super) fn seen(&self) -> &SeenFlows {
        self.counts.seen()
    }

    pub(super) fn value(&self, key: &Key) -> Result<Option<u32>, EntryError> {
        let inline = FlowWords::new(key).and_then(|flow| self.counts.flows().value(flow));
        if inline.is_some() { Ok(inline) } else { self.lookup(key) }
    }

    /// Returns the value of an entry in its map.
    fn lookup(&self, key: &Key) -> Result<Option<u32>, EntryError> {
        let (map, key) = self.map_and_key(key);
        let mut value = [0; VALUE];
        // SAFETY: as above.
        let exists = found(unsafe { bpf::lookup(map, key, &mut value) })?;
        Ok(exists.then(|| u32::from_ne_bytes(value)))
    }

    fn map_and_key<'a>(&'a self, key: &'a Key) -> (BorrowedFd<'a>, &'a [u8]) {
        match key {
            Key::Flow(key) => (self.flows.as_fd(), key),
            Key::Local(key) => (self.locals.as_fd(), key),
            Key::Group(key) => (self.groups.as_fd(), key),
        }
    }

    pub(super) fn set_socket(&self, index: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        let value = socket.as_raw_fd().to_ne_bytes();
        // SAFETY: keys and values of this map are four bytes.
        unsafe { bpf::update(self.sockets.as_fd(), &index.to_ne_bytes(), &value, 0) }
    }

    /// Removes a socket. Returns `false` if there was none.
    pub(super) fn clear_socket(&self, index: u32) -> Result<bool, EntryError> {
        // SAFETY: as above.
        found(unsafe { bpf::delete(self.sockets.as_fd(), &index.to_ne_bytes()) })
    }
}

fn found(result: io::Result<()>) -> Result<bool, EntryError> {
    match result {
        Ok(()) => Ok(true),
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(reason) => Err(EntryError::Kernel(reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::atomic::{AtomicU32, Ordering};

    use crate::filter::{Entry, Protocol};

    fn maps() -> Maps {
        Maps::create(Capacity { flows: 2, locals: 2, groups: 2, sockets: 1 }).unwrap()
    }

    /// Returns one entry of each counted kind, distinguished by a number.
    fn entries(number: u16) -> [Entry; 6] {
        let (vlan, group) = (None, [239, 1, 1, 1].into());
        let [any, local, remote] =
            [[0, 0, 0, 0], [10, 0, 0, 1], [10, 0, 0, 2]].map(|address| (address, number).into());
        let [udp, tcp] = [Protocol::Udp, Protocol::Tcp];
        [
            Entry::Flow { protocol: tcp, vlan: Some(number), local, remote },
            Entry::Local { protocol: udp, vlan, local },
            Entry::Local { protocol: udp, vlan, local: any },
            Entry::Local { protocol: tcp, vlan, local: any },
            Entry::Group { vlan, group, port: Some(number) },
            Entry::Group { vlan: Some(number), group, port: None },
        ]
    }

    #[test]
    #[ignore = "needs root"]
    fn entries_are_counted_once() {
        let maps = maps();
        for index in 0..6 {
            let [one, other, third] = [1, 2, 3]
                .map(|number| entries(number)[index])
                .map(|entry| (entry.kind(), entry.key().unwrap()));
            let counted = || maps.counts.count(one.0);
            maps.insert(one.0, &one.1, 7).unwrap();
            maps.insert(one.0, &one.1, 8).unwrap();
            assert_eq!(counted(), 1, "after a change");
            maps.insert(other.0, &other.1, 7).unwrap();
            assert!(matches!(maps.insert(third.0, &third.1, 7), Err(EntryError::Full)));
            assert!(!maps.remove(third.0, &third.1).unwrap());
            assert_eq!(counted(), 2, "after a rejected insertion");
            assert!(maps.remove(one.0, &one.1).unwrap());
            assert!(!maps.remove(one.0, &one.1).unwrap());
            assert_eq!(counted(), 1);
            assert!(maps.remove(other.0, &other.1).unwrap());
            assert_eq!(counted(), 0);
        }
    }

    /// A second thread reads, as the program does, at the moment that an entry is inserted or
    /// removed.
    #[test]
    #[ignore = "needs root"]
    fn existing_entries_are_always_counted() {
        const ROUNDS: u32 = 5_000;
        let maps = &maps();
        let entry = entries(7)[1];
        let (kind, key) = (entry.kind(), &entry.key().unwrap());
        let [seen, removed, done] = &[const { AtomicU32::new(0) }; 3];
        let wait = |count: &AtomicU32, until| {
            while count.load(Ordering::SeqCst) < until {
                std::hint::spin_loop();
            }
        };
        let (mut late, mut early) = (0, 0);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    maps.insert(kind, key, 7).unwrap();
                    wait(seen, round + 1);
                    maps.remove(kind, key).unwrap();
                    removed.fetch_add(1, Ordering::SeqCst);
                    wait(done, round + 1);
                }
            });
            for round in 0..ROUNDS {
                while maps.value(key).unwrap().is_none() {}
                late += u32::from(maps.counts.count(kind) == 0);
                seen.fetch_add(1, Ordering::SeqCst);
                while maps.counts.count(kind) > 0 && removed.load(Ordering::SeqCst) == round {}
                early += u32::from(maps.value(key).unwrap().is_some());
                done.fetch_add(1, Ordering::SeqCst);
            }
        });
        assert_eq!((late, early), (0, 0), "of {ROUNDS}");
    }
}
