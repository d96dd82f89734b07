//! A program of six instructions that redirects every frame, and its socket map.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::check;

/// Commands of bpf(2).
const MAP_CREATE: i32 = 0;
const MAP_UPDATE: i32 = 2;
const PROGRAM_LOAD: i32 = 5;
const LINK_CREATE: i32 = 28;
/// `BPF_MAP_TYPE_XSKMAP`, `BPF_PROG_TYPE_XDP`, and the attach type `BPF_XDP`.
const SOCKETS: u32 = 17;
const PROGRAM_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
/// `XDP_FLAGS_SKB_MODE` and `XDP_FLAGS_DRV_MODE` of linux/if_link.h.
const GENERIC: u32 = 1 << 1;
const NATIVE: u32 = 1 << 2;

/// The offset of the queue in `struct xdp_md`.
const QUEUE: u16 = 16;
const XDP_PASS: i32 = 2;
const REDIRECT_MAP: i32 = 51;

/// A part of `union bpf_attr` that the longest of these commands uses.
type Attributes = [u32; 20];

/// The attached program; dropping the value detaches it.
#[derive(Debug)]
pub(super) struct Program {
    _link: OwnedFd,
    _map: OwnedFd,
}

impl Program {
    /// Redirects all frames of an interface's queue 0 to a socket.
    pub(super) fn attach(socket: &OwnedFd, interface: u32, is_native: bool) -> io::Result<Self> {
        let mut attributes = [0; 20];
        attributes[..4].copy_from_slice(&[SOCKETS, 4, 4, 1]);
        let map = descriptor(MAP_CREATE, &mut attributes)?;
        enter(&map, socket)?;
        let program = load(&map)?;
        let mut attributes = [0; 20];
        let mode = if is_native { NATIVE } else { GENERIC };
        let program = program.as_raw_fd() as u32;
        attributes[..4].copy_from_slice(&[program, interface, ATTACH_XDP, mode]);
        Ok(Self { _link: descriptor(LINK_CREATE, &mut attributes)?, _map: map })
    }
}

/// Sets the socket of queue 0 in the map.
fn enter(map: &OwnedFd, socket: &OwnedFd) -> io::Result<()> {
    let (key, value) = (0_u32, socket.as_raw_fd());
    let mut attributes = [0; 20];
    attributes[0] = map.as_raw_fd() as u32;
    attributes[2..4].copy_from_slice(&words((&raw const key) as u64));
    attributes[4..6].copy_from_slice(&words((&raw const value) as u64));
    // SAFETY: a key and a value of four bytes, which outlive the call.
    unsafe { call(MAP_UPDATE, &mut attributes) }.map(drop)
}

fn load(map: &OwnedFd) -> io::Result<OwnedFd> {
    let instructions = instructions(map.as_raw_fd());
    let license = c"Dual MIT/GPL";
    let mut attributes = [0; 20];
    attributes[..2].copy_from_slice(&[PROGRAM_XDP, instructions.len() as u32]);
    attributes[2..4].copy_from_slice(&words(instructions.as_ptr() as u64));
    attributes[4..6].copy_from_slice(&words(license.as_ptr() as u64));
    descriptor(PROGRAM_LOAD, &mut attributes)
}

/// Assembles `return bpf_redirect_map(&map, context->rx_queue_index, XDP_PASS)`.
fn instructions(map: i32) -> [u64; 6] {
    [
        instruction(0x61, 2, 1, QUEUE, 0),
        // A 64-bit constant takes two instructions; source 1 marks it as a map.
        instruction(0x18, 1, 1, 0, map),
        0,
        instruction(0xb7, 3, 0, 0, XDP_PASS),
        instruction(0x85, 0, 0, 0, REDIRECT_MAP),
        instruction(0x95, 0, 0, 0, 0),
    ]
}

/// Encodes a `struct bpf_insn` for a little-endian machine.
fn instruction(code: u8, to: u8, from: u8, offset: u16, constant: i32) -> u64 {
    let registers = u64::from(from << 4 | to);
    let constant = u64::from(constant.cast_unsigned());
    u64::from(code) | registers << 8 | u64::from(offset) << 16 | constant << 32
}

/// Splits a pointer into its halves, for a little-endian machine.
fn words(pointer: u64) -> [u32; 2] {
    [pointer as u32, (pointer >> 32) as u32]
}

fn descriptor(command: i32, attributes: &mut Attributes) -> io::Result<OwnedFd> {
    // SAFETY: the callers point to instructions and data that outlive the call.
    let fd = unsafe { call(command, attributes) }?;
    // SAFETY: these commands return a descriptor, which is new and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Calls bpf(2).
///
/// # Safety
/// Pointers among the attributes are valid for the command and outlive the call.
unsafe fn call(command: i32, attributes: &mut Attributes) -> io::Result<i32> {
    let attributes: *mut Attributes = attributes;
    // SAFETY: the attributes are initialized; the caller guarantees their pointers.
    check(unsafe { libc::syscall(libc::SYS_bpf, command, attributes, size_of::<Attributes>()) }
        as i32)
}
