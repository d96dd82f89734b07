//! The commands of bpf(2) in use, each with its structure of linux/bpf.h.
//!
//! The kernel accepts a structure shorter than its own and reads zeros for the rest.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::assembler::Instruction;
use super::program::BOUND_MAX;
use crate::capabilities::with_perfmon;
use crate::fork_guard::ForkGuardedFd;

const MAP_CREATE: i32 = 0;
const MAP_LOOKUP: i32 = 1;
const MAP_UPDATE: i32 = 2;
const MAP_DELETE: i32 = 3;
const PROGRAM_LOAD: i32 = 5;
const PROGRAM_TEST_RUN: i32 = 10;
const LINK_CREATE: i32 = 28;

/// `BPF_MAP_TYPE_HASH`, fully preallocated.
pub(crate) const HASH: u32 = 1;
/// `BPF_MAP_TYPE_ARRAY`.
pub(crate) const ARRAY: u32 = 2;
/// `BPF_MAP_TYPE_XSKMAP`.
pub(crate) const XSK_MAP: u32 = 17;

/// `BPF_F_MMAPABLE`: the values of an array can be mapped.
pub(crate) const MAPPABLE: u32 = 1 << 10;
/// `BPF_NOEXIST`: insert only if there is no such entry.
pub(crate) const IF_ABSENT: u64 = 1;
/// `BPF_EXIST`: update only if the entry exists.
pub(crate) const IF_PRESENT: u64 = 2;

/// `BPF_PROG_TYPE_XDP`.
const PROGRAM_XDP: u32 = 6;
/// `BPF_XDP`.
const ATTACH_XDP: u32 = 37;
/// `BPF_F_XDP_DEV_BOUND_ONLY`.
const DEVICE_BOUND: u32 = 1 << 6;
/// `BPF_F_XDP_HAS_FRAGS`.
const HAS_FRAGMENTS: u32 = 1 << 5;
/// The size of the verifier log buffer; a longer log is truncated.
const LOG_BYTES: usize = 256 << 10;

/// An object name as shown by `bpftool`, at most 15 bytes and a NUL.
type Name = [u8; 16];

/// A structure that can be passed to bpf(2).
///
/// # Safety
/// The type has the layout of the member of `union bpf_attr` for its command. All memory that it
/// points to is valid, has the stated length, and outlives the use of the value.
unsafe trait Command {}

#[repr(C)]
struct MapCreate {
    kind: u32,
    key_size: u32,
    value_size: u32,
    entries: u32,
    flags: u32,
    inner_map: u32,
    numa_node: u32,
    name: Name,
}
// SAFETY: the beginning of the member for MAP_CREATE; no pointers.
unsafe impl Command for MapCreate {}

#[repr(C)]
struct Element {
    map: u32,
    _padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}
// SAFETY: the member for the element commands. Only `element` creates it; its callers' slices
// outlive the call and have the map's key and value sizes.
unsafe impl Command for Element {}

#[repr(C)]
#[derive(Default)]
struct ProgramLoad {
    kind: u32,
    count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: Name,
    interface: u32,
    attach: u32,
}
// SAFETY: the beginning of the member for PROG_LOAD. Only `load_program` creates it, from slices
// that outlive the call.
unsafe impl Command for ProgramLoad {}

#[repr(C)]
#[derive(Default)]
struct TestRun {
    program: u32,
    result: u32,
    input_size: u32,
    output_size: u32,
    input: u64,
    output: u64,
    repeat: u32,
    duration: u32,
    context_size: u32,
    context_output_size: u32,
    context: u64,
    context_output: u64,
}
// SAFETY: the beginning of the member for PROG_TEST_RUN. Only `test_run` creates it.
unsafe impl Command for TestRun {}

#[repr(C)]
struct LinkCreate {
    program: u32,
    interface: u32,
    attach: u32,
    flags: u32,
}
// SAFETY: the beginning of the member for LINK_CREATE; no pointers.
unsafe impl Command for LinkCreate {}

/// `struct xdp_md`: a program's context.
#[repr(C)]
struct Context {
    data: u32,
    data_end: u32,
    data_meta: u32,
    interface: u32,
    queue: u32,
    egress: u32,
}

fn bpf<C: Command>(command: i32, attributes: &mut C) -> io::Result<i64> {
    let attributes: *mut C = attributes;
    // SAFETY: the layout is that of the command and all pointers are valid (`Command`).
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, attributes, size_of::<C>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Runs a command that creates a descriptor; close-on-exec.
fn create_fd<C: Command>(command: i32, attributes: &mut C) -> io::Result<ForkGuardedFd> {
    ForkGuardedFd::from_fn(|| {
        let number = bpf(command, attributes)?;
        // SAFETY: the descriptor is new and has no other owner.
        Ok(unsafe { OwnedFd::from_raw_fd(number as i32) })
    })
}

/// Creates a map of type `kind`.
pub(crate) fn create_map(
    kind: u32,
    key_size: u32,
    value_size: u32,
    entries: u32,
    flags: u32,
    name: &str,
) -> io::Result<ForkGuardedFd> {
    let (inner_map, numa_node) = (0, 0);
    let name = object_name(name);
    let mut create =
        MapCreate { kind, key_size, value_size, entries, flags, inner_map, numa_node, name };
    create_fd(MAP_CREATE, &mut create)
}

/// Inserts or replaces a value; with [`IF_ABSENT`] or [`IF_PRESENT`] only the one or the other.
///
/// # Safety
/// `key` and `value` have the map's key and value sizes.
pub(crate) unsafe fn update(
    map: BorrowedFd<'_>,
    key: &[u8],
    value: &[u8],
    flags: u64,
) -> io::Result<()> {
    let element = element(map, key, value.as_ptr() as u64);
    bpf(MAP_UPDATE, &mut Element { flags, ..element }).map(drop)
}

/// Deletes a value; `NotFound` if the key is missing.
///
/// # Safety
/// `key` has the map's key size.
pub(crate) unsafe fn delete(map: BorrowedFd<'_>, key: &[u8]) -> io::Result<()> {
    bpf(MAP_DELETE, &mut element(map, key, 0)).map(drop)
}

/// Reads a value; `NotFound` if the key is missing.
///
/// # Safety
/// `key` and `value` have the map's key and value sizes.
pub(crate) unsafe fn lookup(map: BorrowedFd<'_>, key: &[u8], value: &mut [u8]) -> io::Result<()> {
    bpf(MAP_LOOKUP, &mut element(map, key, value.as_mut_ptr() as u64)).map(drop)
}

fn element(map: BorrowedFd<'_>, key: &[u8], value: u64) -> Element {
    let (map, key) = (map.as_raw_fd() as u32, key.as_ptr() as u64);
    Element { map, _padding: 0, key, value, flags: 0 }
}

/// The reason why a program was not loaded.
#[derive(Debug)]
pub(crate) enum LoadError {
    /// The program is device-bound and has more than [`BOUND_MAX`] instructions. It was not passed
    /// to the kernel.
    TooLong(usize),
    /// The kernel's error and the verifier's log.
    Kernel { reason: io::Error, log: String },
}

/// Returns the flags and the interface to load a program with.
fn binding(instructions: usize, bound_to: Option<u32>) -> Result<(u32, u32), LoadError> {
    match bound_to {
        None => Ok((0, 0)),
        Some(_) if instructions > BOUND_MAX => Err(LoadError::TooLong(instructions)),
        Some(interface) => Ok((DEVICE_BOUND, interface)),
    }
}

/// Loads an XDP program.
///
/// A program bound to an interface may use the driver's metadata functions and can be attached only
/// there. A rejected program is loaded a second time to obtain the verifier's log.
pub(crate) fn load_program(
    code: &[Instruction],
    name: &str,
    bound_to: Option<u32>,
    long_frames: bool,
) -> Result<ForkGuardedFd, LoadError> {
    let (bound, interface) = binding(code.len(), bound_to)?;
    let flags = bound | if long_frames { HAS_FRAGMENTS } else { 0 };
    let mut load = ProgramLoad {
        kind: PROGRAM_XDP,
        count: code.len() as u32,
        instructions: code.as_ptr() as u64,
        // Kernel functions may be called only by GPL-compatible programs, which this license is.
        license: c"Dual MIT/GPL".as_ptr() as u64,
        name: object_name(name),
        attach: ATTACH_XDP,
        flags,
        interface,
        ..ProgramLoad::default()
    };
    let reason = match create_fd(PROGRAM_LOAD, &mut load) {
        Ok(program) => return Ok(program),
        Err(reason) => reason,
    };
    if reason.raw_os_error() == Some(libc::EACCES)
        && let Some(Ok(program)) = with_perfmon(|| create_fd(PROGRAM_LOAD, &mut load))
    {
        return Ok(program);
    }
    let mut log = vec![0; LOG_BYTES];
    (load.log_level, load.log_size) = (1, LOG_BYTES as u32);
    load.log = log.as_mut_ptr() as u64;
    // The second attempt can succeed, for example after a temporary lack of memory.
    create_fd(PROGRAM_LOAD, &mut load).map_err(|_| {
        let end = log.iter().position(|&byte| byte == 0).unwrap_or(LOG_BYTES);
        LoadError::Kernel { reason, log: String::from_utf8_lossy(&log[..end]).into_owned() }
    })
}

/// The result of test runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TestRunResult {
    pub(crate) verdict: u32,
    /// The mean run time.
    pub(crate) nanoseconds: u32,
}

/// Runs the program `runs` times on a frame, which is not delivered. With an interface and a
/// receive queue, the frame appears to have arrived there.
pub(crate) fn test_run(
    program: BorrowedFd<'_>,
    frame: &[u8],
    from: Option<(u32, u32)>,
    runs: u32,
) -> io::Result<TestRunResult> {
    let mut run = TestRun {
        program: program.as_raw_fd() as u32,
        input_size: frame.len() as u32,
        input: frame.as_ptr() as u64,
        repeat: runs,
        ..TestRun::default()
    };
    let data_end = frame.len() as u32;
    let (interface, queue) = from.unwrap_or((0, 0));
    let context = Context { data: 0, data_end, data_meta: 0, interface, queue, egress: 0 };
    if from.is_some() {
        run.context = (&raw const context) as u64;
        run.context_size = size_of::<Context>() as u32;
    }
    bpf(PROGRAM_TEST_RUN, &mut run)?;
    Ok(TestRunResult { verdict: run.result, nanoseconds: run.duration })
}

/// Attaches a program to an interface until the descriptor is closed, also by the end of the
/// process.
pub(crate) fn create_link(
    program: BorrowedFd<'_>,
    interface: u32,
    flags: u32,
) -> io::Result<ForkGuardedFd> {
    let program = program.as_raw_fd() as u32;
    let mut create = LinkCreate { program, interface, attach: ATTACH_XDP, flags };
    create_fd(LINK_CREATE, &mut create)
}

fn object_name(name: &str) -> Name {
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::program::{ProgramSpec, StampClock, assemble};

    /// Assembles without loading: a failure would take down the kernel's networking.
    #[test]
    fn device_bound_programs_stay_below_the_limit() {
        let stampers = [None, Some(StampClock::Clock), Some(StampClock::Driver(i32::MAX))];
        for receive_stamp in stampers {
            let [flows, locals, groups, counts, sockets] = [i32::MAX; 5];
            let queues = u32::MAX;
            let spec = ProgramSpec {
                flows,
                locals,
                groups,
                counts,
                sockets,
                queues,
                receive_stamp,
                longest_datagram: 1_734,
            };
            let length = assemble(&spec).len();
            println!("{receive_stamp:?}: {length} instructions");
            assert!(length <= BOUND_MAX, "{receive_stamp:?}: {length} instructions");
        }
        assert!(matches!(binding(320, Some(7)), Ok((DEVICE_BOUND, 7))));
        assert!(matches!(binding(321, Some(7)), Err(LoadError::TooLong(321))));
        assert!(matches!(binding(4_096, None), Ok((0, 0))));
    }
}
