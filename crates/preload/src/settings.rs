//! The settings of a run, which `hairpin run` passes in environment variables.

use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::net::SocketAddr;
use std::sync::OnceLock;

use hairpin_stack::{SocketProtocol, SocketRule};

/// The settings of this process.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The interfaces to accelerate (`HAIRPIN_INTERFACES`, comma-separated).
    pub(crate) interfaces: Names,
    /// The sockets to accelerate (`HAIRPIN_ACCELERATE`, rules separated by commas), if not all.
    pub(crate) accelerate: Option<Names>,
    /// The nanoseconds of busy-polling before a blocking call sleeps (`HAIRPIN_PROFILE`).
    pub(crate) spin_ns: u64,
    /// `true` if a thread that shares its core does not busy-poll (`HAIRPIN_PROFILE=auto`).
    pub(crate) spares_cores: bool,
    /// The cores of the program, before it pins threads: the most threads that busy-poll.
    pub(crate) cores: u32,
    /// `true` if forked children use no sockets of their parent (`HAIRPIN_FORK=parent`).
    pub(crate) parent_keeps_sockets: bool,
    /// `true` if the filter takes a receive timestamp of each frame (`HAIRPIN_TIMESTAMPS=1`).
    pub(crate) timestamps: bool,
    /// The messages each way after which a TCP connection is taken over (`HAIRPIN_TAKE_AFTER`).
    pub(crate) take_after: u32,
    /// The descriptor of the keeper (`HAIRPIN_KEEPER`), checked by its inode.
    pub(crate) keeper: Option<c_int>,
    /// The descriptor of this library's file (`HAIRPIN_LIBRARY`), if that is in memory, checked by
    /// its inode.
    pub(crate) library: Option<c_int>,
    /// The descriptor of the run's counts (`HAIRPIN_SUMMARY`), if it prints a last line, checked by
    /// its inode.
    pub(crate) summary: Option<c_int>,
    /// `true` if the program must not run without acceleration (`HAIRPIN_STRICT=1`).
    pub(crate) strict: bool,
}

/// The budget of the profile `latency`: covers the pauses of a busy flow. With two spinning
/// processes on two cores it still lets each core go idle after a tenth of a second.
const LATENCY_SPIN_NS: u64 = 100_000_000;
/// The budget of the profile `safe`: about the cost of a sleep and a wakeup, so that spinning at
/// most doubles the work of a wait.
const SAFE_SPIN_NS: u64 = 50_000;

/// Fewer messages are a short connection, for which a takeover and a handback cost more than they
/// gain.
const TAKE_AFTER: u32 = 4;

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// The longest list of interfaces in bytes: 256 names of the longest kind.
const NAMES_MAX: usize = 4_096;

/// Names separated by commas, copied: the program may overwrite its environment.
pub(crate) struct Names {
    bytes: [u8; NAMES_MAX],
    length: usize,
    /// Each call of the program asks for it.
    is_empty: bool,
}

impl Names {
    /// Names beyond the first 4,096 bytes are left out.
    fn new(text: &str) -> Self {
        let end = text.floor_char_boundary(NAMES_MAX);
        let whole = if end < text.len() { text[..end].rfind(',').unwrap_or(0) } else { end };
        let mut names = Self { bytes: [0; NAMES_MAX], length: whole, is_empty: true };
        names.bytes[..whole].copy_from_slice(&text.as_bytes()[..whole]);
        let is_empty = names.iter().next().is_none();
        names.is_empty = is_empty;
        names
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let text = std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default();
        text.split(',').filter(|name| !name.is_empty())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Returns the settings, read once from the environment.
///
/// Nothing is allocated: an allocator that starts, such as jemalloc, opens and closes a file by
/// calls that are replaced.
pub(crate) fn settings() -> &'static Settings {
    SETTINGS.get_or_init(|| {
        crate::log::set_level(variable(c"HAIRPIN_LOG"));
        let interfaces = variable(c"HAIRPIN_INTERFACES").unwrap_or_default();
        Settings {
            interfaces: Names::new(interfaces),
            accelerate: variable(c"HAIRPIN_ACCELERATE").map(Names::new),
            spin_ns: match variable(c"HAIRPIN_PROFILE") {
                Some("safe") => SAFE_SPIN_NS,
                _ => LATENCY_SPIN_NS,
            },
            spares_cores: variable(c"HAIRPIN_PROFILE") == Some("auto"),
            cores: cores(),
            parent_keeps_sockets: variable(c"HAIRPIN_FORK") == Some("parent"),
            timestamps: variable(c"HAIRPIN_TIMESTAMPS") == Some("1"),
            take_after: variable(c"HAIRPIN_TAKE_AFTER")
                .and_then(|count| count.parse().ok())
                .unwrap_or(TAKE_AFTER),
            keeper: variable(c"HAIRPIN_KEEPER").and_then(inherited),
            library: variable(c"HAIRPIN_LIBRARY").and_then(inherited),
            summary: variable(c"HAIRPIN_SUMMARY").and_then(inherited),
            strict: variable(c"HAIRPIN_STRICT") == Some("1"),
        }
    })
}

/// Returns the number of cores that the calling thread may run on.
fn cores() -> u32 {
    // SAFETY: an empty set is a valid value, which the kernel overwrites up to its size.
    let count = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set);
        libc::CPU_COUNT(&set)
    };
    count.max(1).cast_unsigned()
}

impl Settings {
    /// Returns `true` if a socket with these ends is to be accelerated.
    pub(crate) fn accelerates(
        &self,
        protocol: SocketProtocol,
        local: SocketAddr,
        remote: Option<SocketAddr>,
    ) -> bool {
        let is_named = |rule: &str| {
            rule.parse().is_ok_and(|rule: SocketRule| rule.matches(protocol, local, remote))
        };
        self.accelerate.as_ref().is_none_or(|rules| rules.iter().any(is_named))
    }

    /// Returns the descriptors that the programs that this one runs must inherit, in order.
    pub(crate) fn inherited(&self) -> impl Iterator<Item = c_int> {
        let mut descriptors = [self.keeper, self.library, self.summary];
        descriptors.sort_unstable();
        descriptors.into_iter().flatten()
    }
}

/// Returns a descriptor from `DESCRIPTOR:INODE`; `None` if the program that started this one has
/// closed it.
fn inherited(value: &str) -> Option<c_int> {
    let (descriptor, inode) = value.split_once(':')?;
    let descriptor = descriptor.parse().ok()?;
    let mut status = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the kernel fills the structure if the call succeeds.
    let found = unsafe {
        (libc::fstat(descriptor, status.as_mut_ptr()) == 0).then(|| status.assume_init().st_ino)
    };
    (found? == inode.parse().ok()?).then_some(descriptor)
}

/// Reads a variable without the standard library, whose lock a program may hold across a fork.
fn variable(name: &CStr) -> Option<&'static str> {
    // SAFETY: the name ends with zero. The value is used before the program can change it.
    let value: *const c_char = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: the environment's strings end with zero.
    unsafe { CStr::from_ptr(value) }.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_and_cut_at_a_comma() {
        let names = |text: &str| Names::new(text).iter().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(names("eth0,,eth1"), ["eth0", "eth1"]);
        assert!(Names::new(",").is_empty() && Names::new("").is_empty());
        let long = names(&format!("a,{}", "interface-12345,".repeat(300)));
        assert_eq!(long.len(), 256);
        assert_eq!(long.last().map(String::as_str), Some("interface-12345"));
    }
}
