//! The few commands of bpf(2) that are needed, each a structure as linux/bpf.h has it.
//!
//! The kernel takes a structure shorter than its own and reads zeros for the rest.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::assembler::Instruction;
use super::program::BOUND_MAX;
use crate::forked::ForkGuardedFd;

const MAP_CREATE: i32 = 0;
const MAP_LOOKUP: i32 = 1;
const MAP_UPDATE: i32 = 2;
const MAP_DELETE: i32 = 3;
const PROGRAM_LOAD: i32 = 5;
const PROGRAM_TEST_RUN: i32 = 10;
const LINK_CREATE: i32 = 28;

/// `BPF_MAP_TYPE_HASH`, all of whose memory is there from the start.
pub(crate) const HASH: u32 = 1;
/// `BPF_MAP_TYPE_ARRAY`.
pub(crate) const ARRAY: u32 = 2;
/// `BPF_MAP_TYPE_XSKMAP`.
pub(crate) const SOCKETS: u32 = 17;

/// `BPF_F_MMAPABLE`: the values of an array can be mapped.
pub(crate) const MAPPABLE: u32 = 1 << 10;
/// `BPF_NOEXIST`: only if there is no such entry.
pub(crate) const NEW: u64 = 1;
/// `BPF_EXIST`: only if there is.
pub(crate) const THERE: u64 = 2;

/// `BPF_PROG_TYPE_XDP`.
const PROGRAM_XDP: u32 = 6;
/// `BPF_XDP`.
const ATTACH_XDP: u32 = 37;
/// `BPF_F_XDP_DEV_BOUND_ONLY`.
const DEVICE_BOUND: u32 = 1 << 6;
/// What the verifier says of a program that it refuses; beyond that it is cut off.
const LOG_BYTES: usize = 256 << 10;

/// Names that `bpftool` shows, of at most 15 bytes.
type Name = [u8; 16];

/// What may be handed to the call.
///
/// # Safety
/// The value is laid out as the member of `union bpf_attr` for the command it is used with, and all
/// memory it points to is valid and as long as it says for as long as the value is used.
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
// SAFETY: the member for the commands on elements; made in `element` alone, whose callers' slices
// outlive the call and are as long as the map's keys and values.
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
// SAFETY: the beginning of the member for PROG_LOAD; made in `load_program` alone, from slices that
// outlive the call.
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
// SAFETY: the beginning of the member for PROG_TEST_RUN; made in `test_run` alone.
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

/// `struct xdp_md`: what a program is told of a frame.
#[repr(C)]
struct Context {
    data: u32,
    data_end: u32,
    data_meta: u32,
    interface: u32,
    queue: u32,
    egress: u32,
}

fn call<C: Command>(command: i32, attributes: &mut C) -> io::Result<i64> {
    let attributes: *mut C = attributes;
    // SAFETY: laid out as the command has it, and what it points to is valid (`Command`).
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, attributes, size_of::<C>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Of a command that makes a descriptor; it is close-on-exec.
fn make<C: Command>(command: i32, attributes: &mut C) -> io::Result<ForkGuardedFd> {
    ForkGuardedFd::make(|| {
        let number = call(command, attributes)?;
        // SAFETY: the kernel has just given us this descriptor and nobody else knows it.
        Ok(unsafe { OwnedFd::from_raw_fd(number as i32) })
    })
}

/// A map of `kind`.
pub(crate) fn create_map(
    kind: u32,
    key_size: u32,
    value_size: u32,
    entries: u32,
    flags: u32,
    name: &str,
) -> io::Result<ForkGuardedFd> {
    let (inner_map, numa_node) = (0, 0);
    let name = name_of(name);
    let mut create =
        MapCreate { kind, key_size, value_size, entries, flags, inner_map, numa_node, name };
    make(MAP_CREATE, &mut create)
}

/// Enters or replaces a value; with [`NEW`] or [`THERE`] only the one or the other.
///
/// # Safety
/// `key` and `value` are as long as the map's.
pub(crate) unsafe fn update(
    map: BorrowedFd<'_>,
    key: &[u8],
    value: &[u8],
    flags: u64,
) -> io::Result<()> {
    let element = element(map, key, value.as_ptr() as u64);
    call(MAP_UPDATE, &mut Element { flags, ..element }).map(drop)
}

/// Takes a value away; `NotFound` if there is none.
///
/// # Safety
/// `key` is as long as the map's.
pub(crate) unsafe fn delete(map: BorrowedFd<'_>, key: &[u8]) -> io::Result<()> {
    call(MAP_DELETE, &mut element(map, key, 0)).map(drop)
}

/// Reads a value; `NotFound` if there is none.
///
/// # Safety
/// `key` and `value` are as long as the map's.
pub(crate) unsafe fn lookup(map: BorrowedFd<'_>, key: &[u8], value: &mut [u8]) -> io::Result<()> {
    call(MAP_LOOKUP, &mut element(map, key, value.as_mut_ptr() as u64)).map(drop)
}

fn element(map: BorrowedFd<'_>, key: &[u8], value: u64) -> Element {
    let (map, key) = (map.as_raw_fd() as u32, key.as_ptr() as u64);
    Element { map, _padding: 0, key, value, flags: 0 }
}

/// Why there is no program.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Bound to a device, it has more than [`BOUND_MAX`] instructions, and was not shown to the
    /// kernel.
    TooLong(usize),
    /// The kernel's error, and what the verifier said.
    Kernel { reason: io::Error, log: String },
}

/// The flags and the interface with which a program of so many instructions is loaded.
fn binding(instructions: usize, bound_to: Option<u32>) -> Result<(u32, u32), Refusal> {
    match bound_to {
        None => Ok((0, 0)),
        Some(_) if instructions > BOUND_MAX => Err(Refusal::TooLong(instructions)),
        Some(interface) => Ok((DEVICE_BOUND, interface)),
    }
}

/// Has the kernel check and take an XDP program; bound to an interface, it may use what that one's
/// driver offers, and can be attached nowhere else. If it is refused it is loaded once more, for
/// the verifier to say why.
pub(crate) fn load_program(
    code: &[Instruction],
    name: &str,
    bound_to: Option<u32>,
) -> Result<ForkGuardedFd, Refusal> {
    let (flags, interface) = binding(code.len(), bound_to)?;
    let mut load = ProgramLoad {
        kind: PROGRAM_XDP,
        count: code.len() as u32,
        instructions: code.as_ptr() as u64,
        // Functions of the kernel are for programs under the GPL, to which ours may be put.
        license: c"Dual MIT/GPL".as_ptr() as u64,
        name: name_of(name),
        attach: ATTACH_XDP,
        flags,
        interface,
        ..ProgramLoad::default()
    };
    let reason = match make(PROGRAM_LOAD, &mut load) {
        Ok(program) => return Ok(program),
        Err(reason) => reason,
    };
    let mut log = vec![0; LOG_BYTES];
    (load.log_level, load.log_size) = (1, LOG_BYTES as u32);
    load.log = log.as_mut_ptr() as u64;
    // It may be taken this time, as after a want of memory.
    make(PROGRAM_LOAD, &mut load).map_err(|_| {
        let end = log.iter().position(|&byte| byte == 0).unwrap_or(LOG_BYTES);
        Refusal::Kernel { reason, log: String::from_utf8_lossy(&log[..end]).into_owned() }
    })
}

/// What a program has said in trials.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trial {
    pub(crate) verdict: u32,
    /// The mean.
    pub(crate) nanoseconds: u32,
}

/// What the program says to a frame, which goes nowhere, so many times. With an interface and one
/// of its receive queues, as if it had come in there.
pub(crate) fn test_run(
    program: BorrowedFd<'_>,
    frame: &[u8],
    from: Option<(u32, u32)>,
    runs: u32,
) -> io::Result<Trial> {
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
    call(PROGRAM_TEST_RUN, &mut run)?;
    Ok(Trial { verdict: run.result, nanoseconds: run.duration })
}

/// Attaches a program to an interface until the descriptor is closed, also by the process's end.
pub(crate) fn create_link(
    program: BorrowedFd<'_>,
    interface: u32,
    flags: u32,
) -> io::Result<ForkGuardedFd> {
    let program = program.as_raw_fd() as u32;
    let mut create = LinkCreate { program, interface, attach: ATTACH_XDP, flags };
    make(LINK_CREATE, &mut create)
}

fn name_of(name: &str) -> Name {
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::program::{Parts, Stamper, assemble};

    /// Nothing is loaded here: a kernel would not survive it if this were wrong.
    #[test]
    fn a_program_bound_to_a_device_never_outgrows_its_page() {
        let stampers = [None, Some(Stamper::Clock), Some(Stamper::Driver(i32::MAX))];
        for receive_stamp in stampers {
            let [flows, locals, groups, kinds, sockets] = [i32::MAX; 5];
            let queues = u32::MAX;
            let parts = Parts { flows, locals, groups, kinds, sockets, queues, receive_stamp };
            let length = assemble(&parts).len();
            println!("{receive_stamp:?}: {length} instructions");
            assert!(length <= BOUND_MAX, "{receive_stamp:?}: {length} instructions");
        }
        assert!(matches!(binding(320, Some(7)), Ok((DEVICE_BOUND, 7))));
        assert!(matches!(binding(321, Some(7)), Err(Refusal::TooLong(321))));
        assert!(matches!(binding(4_096, None), Ok((0, 0))));
    }
}
