//! The XDP program that decides for each frame whether to redirect it.
//!
//! ```text
//! Ethernet      too short                         kernel
//! 802.1Q        one tag; a second, or 802.1ad     kernel
//! EtherType     not IP: an entry for it?          per entry, else kernel
//! IPv4          options, a fragment, truncated    kernel
//! IPv6          extension headers, truncated,
//!               an IPv4-mapped destination        kernel
//! TCP, UDP      truncated; anything else          kernel
//! flow          untagged IPv4, compared inline    per entry
//!               {protocol, VLAN, both endpoints}  per entry
//! port          {protocol, VLAN, address, port}   per entry
//!   unicast     the same with any address         per entry
//!   multicast   UDP: {VLAN, group, port}          per entry
//!               UDP: {VLAN, group}                per entry
//! no match                                        kernel
//! ```
//!
//! Kinds without any entry are not looked up: the [`entry_counts`](super::entry_counts) show which,
//! and contain the first few EtherTypes inline.
//!
//! An entry's value is "kernel" or the base index of a slot in the socket map. The socket's index
//! is base plus receive queue. Without a socket there, or on a queue beyond the slot's, the frame
//! goes to the kernel.

use super::assembler::{Assembler, Condition, Helper, Instruction, Label, Register, Width};
use super::entry_counts::{INLINE_ETHER_TYPES, ProtocolCounts, SharedCounts};
use super::inline_flows::{MULTIPLIER, SLOT_BITS, SLOT_SIZE_BITS};
use super::seen_flows::SEEN_BITS;
use Condition::{Above, AtLeast, Equal, NotEqual};
use Register::{R0, R1, R2, R3, R5, R6, R7, R8, R9, R10};
use Width::{Byte, Double, Half, Word};

/// The value of an entry whose frames go to the kernel.
pub(super) const KERNEL: u32 = u32::MAX;

/// `XDP_PASS`.
pub(super) const PASS: i32 = 2;
/// `XDP_REDIRECT`.
pub(super) const REDIRECT: i32 = 4;

/// The most instructions of a device-bound program. On Linux 6.18, loading a longer one disabled
/// all networking until reboot. The kernel adds instructions, and the likely cause is that a
/// device-bound program must not grow beyond its page of 4,096 bytes.
pub(super) const BOUND_MAX: usize = 320;

/// Bytes in front of a frame that contain its receive timestamp, if enabled: nanoseconds, u64.
pub(crate) const STAMP: i32 = 8;

/// Offsets in `struct xdp_md`.
mod context {
    pub(super) const DATA: i16 = 0;
    pub(super) const DATA_END: i16 = 4;
    pub(super) const DATA_META: i16 = 8;
    pub(super) const QUEUE: i16 = 16;
}

/// Offsets of the flow key on the stack. The other keys are prefixes of it.
///
/// The verifier of Linux 6.1 to 6.12 at least takes the store of a number at the begin of a double
/// word for the spill of a register. Without `CAP_PERFMON`, which the keeper lacks, only a store of
/// eight bytes may follow there. So the begin is stored last.
mod key {
    pub(super) const START: i16 = -48;
    pub(super) const PORT: i16 = START + 16;
    pub(super) const KIND: i16 = START + 18;
    pub(super) const VLAN: i16 = START + 20;
    pub(super) const REMOTE: i16 = START + 24;
    pub(super) const REMOTE_PORT: i16 = START + 40;
}

/// The driver's timestamp, below the key.
const STAMP_SLOT: i16 = key::START - 8;

const IPV4: i32 = 0x0800;
const IPV6: i32 = 0x86dd;
const VLAN: i32 = 0x8100;
/// The third word of an IPv4-mapped IPv6 address, in host byte order.
const MAPPED: i32 = 0xffff_0000_u32.cast_signed();
const UDP: i32 = 17;
const TCP: i32 = 6;

/// The class of a destination address.
const UNICAST_4: i32 = 0;
const UNICAST_6: i32 = 1;
const GROUP: i32 = 2;

/// The clock of receive timestamps.
#[derive(Debug, Clone, Copy)]
pub(super) enum StampClock {
    /// The driver, through the kernel function of this BTF type id.
    Driver(i32),
    /// The kernel's clock when the program runs.
    Clock,
}

/// The parameters of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramSpec {
    /// Map descriptors.
    pub(super) flows: i32,
    pub(super) locals: i32,
    pub(super) groups: i32,
    pub(super) counts: i32,
    pub(super) sockets: i32,
    /// Receive queues per slot.
    pub(super) queues: u32,
    pub(super) receive_stamp: Option<StampClock>,
    /// The longest UDP datagram that is redirected, with its header.
    pub(super) longest_datagram: u16,
}

/// Assembles the program. `R6` is the context, `R7` the read position in the frame, `R8` the end of
/// the frame.
pub(super) fn assemble(spec: &ProgramSpec) -> Vec<Instruction> {
    let mut assembler = Assembler::default();
    let a = &mut assembler;
    let exits = Exits { found: a.label(), decided: a.label(), pass: a.label() };
    let (ipv4, ipv6, ports) = (a.label(), a.label(), a.label());
    a.copy(R6, R1);
    a.load(Word, R7, R6, context::DATA);
    a.load(Word, R8, R6, context::DATA_END);
    ethernet(a, exits.pass);
    a.jump_if(R9, Equal, IPV4, ipv4);
    a.jump_if(R9, Equal, IPV6, ipv6);
    look_up_ether_type(a, spec, exits);
    a.bind(ipv4);
    check_ipv4(a, exits.pass);
    compare_flow(a, spec, exits);
    read_ipv4(a);
    a.jump(ports);
    a.bind(ipv6);
    read_ipv6(a, exits.pass);
    a.bind(ports);
    read_ports(a, spec, exits.pass);
    look_up_ip(a, spec, exits);
    a.bind(exits.found);
    a.load(Word, R9, R0, 0);
    a.bind(exits.decided);
    a.jump_if_word(R9, Equal, KERNEL as i32, exits.pass);
    redirect(a, spec, exits.pass);
    a.bind(exits.pass);
    a.set(R0, PASS);
    a.exit();
    assembler.finish()
}

/// Assembles the program of a single-EtherType filter, whose untagged frames go to slot 0. It
/// compares and looks nothing up.
pub(super) fn assemble_single_ether_type(spec: &ProgramSpec, ether_type: u16) -> Vec<Instruction> {
    let mut assembler = Assembler::default();
    let a = &mut assembler;
    let pass = a.label();
    a.copy(R6, R1);
    a.load(Word, R7, R6, context::DATA);
    a.load(Word, R8, R6, context::DATA_END);
    require_bytes(a, 14, pass);
    a.load(Half, R1, R7, 12);
    // In network byte order.
    a.jump_if(R1, NotEqual, i32::from(ether_type.to_be()), pass);
    a.set(R9, 0);
    redirect(a, spec, pass);
    a.bind(pass);
    a.set(R0, PASS);
    a.exit();
    assembler.finish()
}

/// Jump targets at the end of the program.
#[derive(Debug, Clone, Copy)]
struct Exits {
    /// `R0` is the address of the entry's value.
    found: Label,
    /// `R9` is the entry's value.
    decided: Label,
    /// The frame goes to the kernel.
    pass: Label,
}

/// Parses Ethernet. Leaves the EtherType in `R9`, the VLAN in `R5` and the position at the payload.
fn ethernet(a: &mut Assembler, pass: Label) {
    require_bytes(a, 14, pass);
    a.set(R5, 0);
    a.load(Half, R9, R7, 12);
    a.swap_half(R9);
    let untagged = a.label();
    a.jump_if(R9, NotEqual, VLAN, untagged);
    require_bytes(a, 18, pass);
    a.load(Half, R5, R7, 14);
    a.swap_half(R5);
    a.and(R5, 0xfff);
    a.load(Half, R9, R7, 16);
    a.swap_half(R9);
    a.add(R7, 4);
    a.bind(untagged);
    a.add(R7, 14);
}

/// Compares the frame with the inline EtherTypes, one word each, and looks up others if there are
/// any.
fn look_up_ether_type(
    a: &mut Assembler,
    spec: &ProgramSpec,
    Exits { found, decided, pass }: Exits,
) {
    let inline = a.label();
    a.copy(R1, R5);
    a.shift_left(R1, 16);
    a.add_register(R1, R9);
    a.map_value(R2, spec.counts, SharedCounts::INLINE_ETHER_TYPES);
    for slot in 0..INLINE_ETHER_TYPES as i16 {
        a.load(Double, R0, R2, 8 * slot);
        a.jump_if_word_register(R0, Equal, R1, inline);
    }
    a.load(
        Word,
        R1,
        R2,
        (SharedCounts::OTHER_ETHER_TYPES - SharedCounts::INLINE_ETHER_TYPES) as i16,
    );
    a.jump_if(R1, Equal, 0, pass);
    clear_key(a, 0..3);
    a.store(Half, R10, key::VLAN, R5);
    a.store(Half, R10, key::KIND, R9);
    look_up(a, spec.locals, found);
    a.jump(pass);
    a.bind(inline);
    a.shift_right(R0, 32);
    a.copy(R9, R0);
    a.jump(decided);
}

/// Clears double words of the key.
fn clear_key(a: &mut Assembler, doubles: impl IntoIterator<Item = i16>) {
    for double in doubles {
        a.store_number(Double, R10, key::START + 8 * double, 0);
    }
}

/// Checks the IPv4 header. Leaves the protocol in `R9`.
fn check_ipv4(a: &mut Assembler, pass: Label) {
    require_bytes(a, 20, pass);
    // Version 4 and a header of five words, that is no options.
    a.load(Byte, R1, R7, 0);
    a.jump_if(R1, NotEqual, 0x45, pass);
    // More fragments, or a fragment offset.
    a.load(Half, R1, R7, 6);
    a.swap_half(R1);
    a.and(R1, 0x3fff);
    a.jump_if(R1, NotEqual, 0, pass);
    a.load(Byte, R9, R7, 9);
}

/// Compares an untagged IPv4 frame with the flow in its slot, if there is one.
fn compare_flow(a: &mut Assembler, spec: &ProgramSpec, Exits { decided, pass, .. }: Exits) {
    let (other, udp, complete) = (a.label(), a.label(), a.label());
    a.jump_if(R5, NotEqual, 0, other);
    require_bytes(a, 28, other);
    a.load(Word, R1, R7, 20);
    a.copy(R3, R1);
    a.multiply_word(R3, MULTIPLIER.cast_signed());
    a.shift_right(R3, 32 - SLOT_BITS as i32);
    a.shift_left(R3, SLOT_SIZE_BITS as i32);
    // For the verifier.
    a.and(R3, ((1 << SLOT_BITS) - 1) << SLOT_SIZE_BITS);
    a.map_value(R2, spec.counts, SharedCounts::INLINE_FLOWS);
    a.add_register(R2, R3);
    a.load(Double, R0, R7, 12);
    a.load(Double, R3, R2, 0);
    a.jump_if_register(R0, NotEqual, R3, other);
    a.copy(R0, R9);
    a.shift_left(R0, 32);
    a.add_register(R0, R1);
    a.load(Double, R3, R2, 8);
    a.jump_if_register(R0, NotEqual, R3, other);
    // A truncated header is the kernel's. The one of UDP is complete.
    a.jump_if(R9, NotEqual, TCP, udp);
    require_bytes(a, 40, pass);
    a.jump(complete);
    a.bind(udp);
    pass_long_datagram(a, spec, 24, pass);
    a.bind(complete);
    a.load(Word, R9, R2, 16);
    a.jump(decided);
    a.bind(other);
}

/// Leaves the destination class in `R5`, the addresses in the key, and the position at the next
/// header.
fn read_ipv4(a: &mut Assembler) {
    clear_key(a, 0..6);
    a.store(Half, R10, key::VLAN, R5);
    // ::ffff:0:0/96
    a.store_number(Half, R10, key::START + 10, 0xffff);
    a.store_number(Half, R10, key::REMOTE + 10, 0xffff);
    a.load(Word, R1, R7, 16);
    a.store(Word, R10, key::START + 12, R1);
    a.load(Word, R1, R7, 12);
    a.store(Word, R10, key::REMOTE + 12, R1);
    classify(a, 16, 0xf0, 0xe0, UNICAST_4);
    a.add(R7, 20);
}

/// Parses IPv6 and leaves the same as [`check_ipv4`] and [`read_ipv4`].
fn read_ipv6(a: &mut Assembler, pass: Label) {
    require_bytes(a, 40, pass);
    a.load(Byte, R1, R7, 0);
    a.and(R1, 0xf0);
    a.jump_if(R1, NotEqual, 0x60, pass);
    a.load(Byte, R9, R7, 6);
    // The addresses overwrite the other words.
    clear_key(a, [2, 5]);
    a.store(Half, R10, key::VLAN, R5);
    for word in [1, 0, 3, 2] {
        a.load(Word, R1, R7, 24 + 4 * word);
        a.store(Word, R10, key::START + 4 * word, R1);
        a.load(Word, R1, R7, 8 + 4 * word);
        a.store(Word, R10, key::REMOTE + 4 * word, R1);
    }
    // IPv4-mapped addresses (::ffff:0:0/96) are not used on the wire and would be confused with
    // IPv4.
    let real = a.label();
    a.load(Double, R1, R10, key::START);
    a.jump_if(R1, NotEqual, 0, real);
    a.load(Word, R1, R10, key::START + 8);
    a.jump_if_word(R1, Equal, MAPPED, pass);
    a.bind(real);
    classify(a, 24, 0xff, 0xff, UNICAST_6);
    a.add(R7, 40);
}

/// Sets `R5` to `GROUP` if the destination's first byte is multicast, else to `unicast`.
fn classify(a: &mut Assembler, destination: i16, mask: i32, value: i32, unicast: i32) {
    let known = a.label();
    a.set(R5, unicast);
    a.load(Byte, R1, R7, destination);
    a.and(R1, mask);
    a.jump_if(R1, NotEqual, value, known);
    a.set(R5, GROUP);
    a.bind(known);
}

/// Completes the key. Leaves the destination class in `R9` and the address of the protocol's entry
/// counts in `R7`.
///
/// The transport header must be complete although only its ports are read, so that the kernel
/// counts truncated packets.
fn read_ports(a: &mut Assembler, spec: &ProgramSpec, pass: Label) {
    let (udp, known) = (a.label(), a.label());
    a.jump_if(R9, Equal, UDP, udp);
    a.jump_if(R9, NotEqual, TCP, pass);
    require_bytes(a, 20, pass);
    record_connection(a, spec);
    a.map_value(R3, spec.counts, SharedCounts::TCP);
    a.jump(known);
    a.bind(udp);
    require_bytes(a, 8, pass);
    pass_long_datagram(a, spec, 4, pass);
    a.map_value(R3, spec.counts, SharedCounts::UDP);
    a.bind(known);
    a.store(Half, R10, key::KIND, R9);
    a.load(Half, R1, R7, 0);
    a.store(Half, R10, key::REMOTE_PORT, R1);
    a.load(Half, R1, R7, 2);
    a.store(Half, R10, key::PORT, R1);
    a.copy(R9, R5);
    a.copy(R7, R3);
}

/// Records the connection in its slot of the table of seen flows. The position is at the TCP
/// header, and the remote address in the key.
fn record_connection(a: &mut Assembler, spec: &ProgramSpec) {
    a.load(Word, R1, R7, 0);
    a.copy(R3, R1);
    a.multiply_word(R3, MULTIPLIER.cast_signed());
    a.shift_right(R3, 32 - SEEN_BITS as i32);
    a.shift_left(R3, 3);
    // For the verifier.
    a.and(R3, ((1 << SEEN_BITS) - 1) << 3);
    a.map_value(R2, spec.counts, SharedCounts::SEEN_FLOWS);
    a.add_register(R2, R3);
    a.load(Word, R0, R10, key::REMOTE + 12);
    a.shift_left(R0, 32);
    a.add_register(R0, R1);
    a.store(Double, R2, 0, R0);
}

/// Passes a datagram that is longer than a frame of the UMEM to the kernel. `offset` is that of the
/// length in the UDP header from the position. Changes `R1`.
///
/// A datagram is handed to a program in one piece, unlike the bytes of TCP. In generic mode one
/// also is longer than the MTU if a local sender or an offload has combined several; the kernel
/// splits them.
fn pass_long_datagram(a: &mut Assembler, spec: &ProgramSpec, offset: i16, pass: Label) {
    if spec.longest_datagram == u16::MAX {
        return;
    }
    a.load(Half, R1, R7, offset);
    a.swap_half(R1);
    a.jump_if(R1, AtLeast, i32::from(spec.longest_datagram) + 1, pass);
}

fn look_up_ip(a: &mut Assembler, spec: &ProgramSpec, Exits { found, pass, .. }: Exits) {
    let (group, any) = (a.label(), a.label());
    look_up_counted(a, ProtocolCounts::FLOWS, spec.flows, found);
    a.jump_if(R9, Equal, GROUP, group);
    look_up_counted(a, ProtocolCounts::PORTS, spec.locals, found);
    a.load(Word, R1, R7, ProtocolCounts::ANY_ADDRESS);
    a.jump_if(R1, Equal, 0, pass);
    // Any address; the IPv4-mapped prefix stays.
    let version_6 = a.label();
    a.jump_if(R9, Equal, UNICAST_6, version_6);
    clear_key(a, [1]);
    a.store_number(Half, R10, key::START + 10, 0xffff);
    a.jump(any);
    a.bind(version_6);
    clear_key(a, 0..2);
    a.bind(any);
    look_up(a, spec.locals, found);
    a.jump(pass);
    // TCP has no group entries, so its group counts are 0.
    a.bind(group);
    look_up_counted(a, ProtocolCounts::GROUP_PORTS, spec.groups, found);
    a.load(Word, R1, R7, ProtocolCounts::GROUPS);
    a.jump_if(R1, Equal, 0, pass);
    a.load(Word, R1, R10, key::VLAN);
    clear_key(a, [2]);
    a.store(Word, R10, key::VLAN, R1);
    a.store_number(Half, R10, key::KIND, UDP);
    look_up(a, spec.groups, found);
    a.jump(pass);
}

/// Emits a lookup that is skipped unless an entry of the kind exists.
fn look_up_counted(a: &mut Assembler, count: i16, map: i32, found: Label) {
    let none = a.label();
    a.load(Word, R1, R7, count);
    a.jump_if(R1, Equal, 0, none);
    look_up(a, map, found);
    a.bind(none);
}

/// Jumps to `found`, with the address of the value in `R0`, if the map contains the key.
fn look_up(a: &mut Assembler, map: i32, found: Label) {
    a.map(R1, map);
    a.copy(R2, R10);
    a.add(R2, i32::from(key::START));
    a.call(Helper::MapLookup);
    a.jump_if(R0, NotEqual, 0, found);
}

/// Redirects the frame to the slot whose base is in `R9`.
fn redirect(a: &mut Assembler, spec: &ProgramSpec, pass: Label) {
    a.load(Word, R1, R6, context::QUEUE);
    a.jump_if(R1, AtLeast, spec.queues as i32, pass);
    a.add_register(R9, R1);
    if let Some(clock) = spec.receive_stamp {
        stamp(a, clock);
    }
    a.map(R1, spec.sockets);
    a.copy(R2, R9);
    a.set(R3, PASS);
    a.call(Helper::RedirectMap);
    a.exit();
}

/// Stores the receive timestamp in front of the frame, 0 if the driver has none. Only redirected
/// frames get it: the kernel would not merge (GRO) frames of a stream whose metadata differs.
fn stamp(a: &mut Assembler, clock: StampClock) {
    let unstamped = a.label();
    a.copy(R1, R6);
    a.set(R2, -STAMP);
    a.call(Helper::AdjustMeta);
    a.jump_if(R0, NotEqual, 0, unstamped);
    match clock {
        StampClock::Driver(function) => read_driver_timestamp(a, function),
        StampClock::Clock => a.call(Helper::ClockTai),
    }
    a.load(Word, R7, R6, context::DATA_META);
    a.load(Word, R8, R6, context::DATA);
    a.copy(R1, R7);
    a.add(R1, STAMP);
    a.jump_if_register(R1, Above, R8, unstamped);
    a.store(Double, R7, 0, R0);
    a.bind(unstamped);
}

/// Emits `R0 = ` the driver's receive timestamp, or 0.
fn read_driver_timestamp(a: &mut Assembler, function: i32) {
    let (failed, known) = (a.label(), a.label());
    a.store_number(Double, R10, STAMP_SLOT, 0);
    a.copy(R1, R6);
    a.copy(R2, R10);
    a.add(R2, i32::from(STAMP_SLOT));
    a.call_kernel_function(function);
    a.jump_if_word(R0, NotEqual, 0, failed);
    a.load(Double, R0, R10, STAMP_SLOT);
    a.jump(known);
    a.bind(failed);
    a.set(R0, 0);
    a.bind(known);
}

/// Passes the frame to the kernel unless `bytes` more bytes are present.
fn require_bytes(a: &mut Assembler, bytes: i32, pass: Label) {
    a.copy(R1, R7);
    a.add(R1, bytes);
    a.jump_if_register(R1, Above, R8, pass);
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const SPEC: ProgramSpec = ProgramSpec {
        flows: 3,
        locals: 4,
        groups: 5,
        counts: 6,
        sockets: 7,
        queues: 2,
        receive_stamp: None,
        longest_datagram: 1_734,
    };

    /// Follows all paths with the double words of the stack that the verifier takes for spilled
    /// registers.
    fn check_spills(code: &[Instruction]) {
        const STORE: u8 = 0x63;
        const STORE_NUMBER: u8 = 0x62;
        let (mut seen, mut paths) = (HashSet::new(), vec![(0, 0_u64)]);
        while let Some((at, mut spilled)) = paths.pop() {
            if !seen.insert((at, spilled)) {
                continue;
            }
            let Instruction { code: operation, registers, offset, .. } = code[at];
            let (width, class) = (operation & 0x18, operation & 0x07);
            let is_store = [STORE, STORE_NUMBER].contains(&(operation & !0x18));
            if is_store && registers & 0x0f == R10 as u8 {
                let double = 1 << ((-1 - offset) / 8);
                let is_double = width == 0x18;
                assert!(is_double || spilled & double == 0, "a part of a spill at {at}: {offset}");
                let spills = operation & !0x18 == STORE && offset % 8 == 0;
                spilled = if spills { spilled | double } else { spilled & !double };
            }
            let is_wide = operation == 0x18;
            let is_jump = class == 0x05 || class == 0x06;
            match operation & 0xf0 {
                // exit
                0x90 if class == 0x05 => continue,
                // ja
                0x00 if class == 0x05 => {
                    paths.push(((at as i64 + 1 + i64::from(offset)) as usize, spilled));
                    continue;
                }
                // call
                0x80 if class == 0x05 => {}
                _ if is_jump => paths.push(((at as i64 + 1 + i64::from(offset)) as usize, spilled)),
                _ => {}
            }
            paths.push((at + if is_wide { 2 } else { 1 }, spilled));
        }
        assert!(seen.len() > code.len() / 2);
    }

    #[test]
    fn no_part_of_a_spilled_register_is_overwritten() {
        for receive_stamp in [None, Some(StampClock::Clock), Some(StampClock::Driver(9))] {
            let spec = ProgramSpec { receive_stamp, ..SPEC };
            check_spills(&assemble(&spec));
            check_spills(&assemble_single_ether_type(&spec, 0x88b5));
        }
    }

    #[test]
    #[should_panic = "a part of a spill"]
    fn overwritten_part_is_detected() {
        let mut assembler = Assembler::default();
        let a = &mut assembler;
        a.store(Word, R10, -8, R1);
        a.store(Word, R10, -4, R1);
        a.exit();
        check_spills(&assembler.finish());
    }
}
