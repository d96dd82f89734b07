//! The program that decides, for each frame, whether it is ours.
//!
//! ```text
//! Ethernet      too short                         kernel
//! 802.1Q        one tag; a second, or 802.1ad     kernel
//! EtherType     not IP: an entry for it?          as it says, else kernel
//! IPv4          options, a fragment, truncated    kernel
//! IPv6          extension headers, truncated,
//!               an IPv4 address as destination    kernel
//! TCP, UDP      truncated; anything else          kernel
//! flow          {protocol, VLAN, both ends}       as the entry says
//! port          {protocol, VLAN, address, port}   as the entry says
//!   unicast     the same with any address         as the entry says
//!   multicast   UDP: {VLAN, group, port}          as the entry says
//!               UDP: {VLAN, group}                as the entry says
//! nothing                                         kernel
//! ```
//!
//! Nothing is looked up of which there is no entry at all: the [`kinds`](super::kinds) say so, and
//! have the first few EtherTypes whole.
//!
//! An entry says "kernel", or the base of a slot in the map of sockets; the socket is at base plus
//! receive queue. If there is none, or the queue is beyond the slot's, the kernel has the frame.

use super::assembler::{Assembler, Condition, Helper, Instruction, Label, Register, Width};
use super::kinds::{Counts, ETHER_TYPES, Value};
use Condition::{Above, AtLeast, Equal, NotEqual};
use Register::{R0, R1, R2, R3, R5, R6, R7, R8, R9, R10};
use Width::{Byte, Double, Half, Word};

/// The value of an entry whose frames the kernel keeps.
pub(super) const KERNEL: u32 = u32::MAX;

/// `XDP_PASS`.
pub(super) const PASS: i32 = 2;
/// `XDP_REDIRECT`.
pub(super) const REDIRECT: i32 = 4;

/// Instructions of a program that is bound to a device, at most. Linux 6.18 has lost all networking
/// for good when a longer one was loaded. The kernel adds to what it is given, and the likely
/// reason is that a bound program does not bear to outgrow its page of 4,096 bytes by that.
pub(super) const BOUND_MAX: usize = 320;

/// Bytes before a frame in which its receive stamp stands, if it was asked for: nanoseconds, u64.
pub(crate) const STAMP: i32 = 8;

/// In `struct xdp_md`.
mod context {
    pub(super) const DATA: i16 = 0;
    pub(super) const DATA_END: i16 = 4;
    pub(super) const DATA_META: i16 = 8;
    pub(super) const QUEUE: i16 = 16;
}

/// The flow's key on the stack, whose front is the other keys.
mod key {
    pub(super) const START: i16 = -48;
    pub(super) const PORT: i16 = START + 16;
    pub(super) const KIND: i16 = START + 18;
    pub(super) const VLAN: i16 = START + 20;
    pub(super) const REMOTE: i16 = START + 24;
    pub(super) const REMOTE_PORT: i16 = START + 40;
}

/// Below the key.
const STAMP_SLOT: i16 = key::START - 8;

const IPV4: i32 = 0x0800;
const IPV6: i32 = 0x86dd;
const VLAN: i32 = 0x8100;
/// The third word of an IPv4 address written as one of IPv6, as the machine reads it.
const MAPPED: i32 = 0xffff_0000_u32.cast_signed();
const UDP: i32 = 17;
const TCP: i32 = 6;

/// What a destination is.
const UNICAST_4: i32 = 0;
const UNICAST_6: i32 = 1;
const GROUP: i32 = 2;

/// Who says when a frame came in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stamper {
    /// The driver, by a function of the kernel, of this type.
    Driver(i32),
    /// The kernel's clock when the program runs.
    Clock,
}

/// What a program is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts {
    /// Descriptors of the maps.
    pub(super) flows: i32,
    pub(super) locals: i32,
    pub(super) groups: i32,
    pub(super) kinds: i32,
    pub(super) sockets: i32,
    /// Receive queues that a slot has room for.
    pub(super) queues: u32,
    pub(super) receive_stamp: Option<Stamper>,
}

/// The program. `R6` is the context, `R7` where the frame is read, `R8` its end.
pub(super) fn assemble(parts: &Parts) -> Vec<Instruction> {
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
    look_up_ether_type(a, parts, exits);
    a.bind(ipv4);
    read_ipv4(a, exits.pass);
    a.jump(ports);
    a.bind(ipv6);
    read_ipv6(a, exits.pass);
    a.bind(ports);
    read_ports(a, parts, exits.pass);
    look_up_ip(a, parts, exits);
    a.bind(exits.found);
    a.load(Word, R9, R0, 0);
    a.bind(exits.decided);
    a.jump_if_word(R9, Equal, KERNEL as i32, exits.pass);
    redirect(a, parts, exits.pass);
    a.bind(exits.pass);
    a.set(R0, PASS);
    a.exit();
    assembler.finish()
}

/// The program of a filter that knows one EtherType, whose untagged frames are slot 0's: it
/// compares, and looks nothing up.
pub(super) fn assemble_only(parts: &Parts, ether_type: u16) -> Vec<Instruction> {
    let mut assembler = Assembler::default();
    let a = &mut assembler;
    let pass = a.label();
    a.copy(R6, R1);
    a.load(Word, R7, R6, context::DATA);
    a.load(Word, R8, R6, context::DATA_END);
    need(a, 14, pass);
    a.load(Half, R1, R7, 12);
    // As it stands in the frame.
    a.jump_if(R1, NotEqual, i32::from(ether_type.to_be()), pass);
    a.set(R9, 0);
    redirect(a, parts, pass);
    a.bind(pass);
    a.set(R0, PASS);
    a.exit();
    assembler.finish()
}

/// Where the ways end.
#[derive(Debug, Clone, Copy)]
struct Exits {
    /// `R0` is the address of what an entry says.
    found: Label,
    /// `R9` is what it says.
    decided: Label,
    /// The kernel has the frame.
    pass: Label,
}

/// Leaves the EtherType in `R9`, the VLAN in `R5`, and the frame at what is announced.
fn ethernet(a: &mut Assembler, pass: Label) {
    need(a, 14, pass);
    a.set(R5, 0);
    a.load(Half, R9, R7, 12);
    a.swap_half(R9);
    let untagged = a.label();
    a.jump_if(R9, NotEqual, VLAN, untagged);
    need(a, 18, pass);
    a.load(Half, R5, R7, 14);
    a.swap_half(R5);
    a.and(R5, 0xfff);
    a.load(Half, R9, R7, 16);
    a.swap_half(R9);
    a.add(R7, 4);
    a.bind(untagged);
    a.add(R7, 14);
}

/// Compares with the EtherTypes that have a place, each word once, and looks up the others if there
/// are any.
fn look_up_ether_type(a: &mut Assembler, parts: &Parts, Exits { found, decided, pass }: Exits) {
    let placed = a.label();
    a.copy(R1, R5);
    a.shift_left(R1, 16);
    a.add_register(R1, R9);
    a.map_value(R2, parts.kinds, Value::ETHER_TYPES);
    for place in 0..ETHER_TYPES as i16 {
        a.load(Double, R0, R2, 8 * place);
        a.jump_if_word_register(R0, Equal, R1, placed);
    }
    a.load(Word, R1, R2, (Value::MORE_ETHER_TYPES - Value::ETHER_TYPES) as i16);
    a.jump_if(R1, Equal, 0, pass);
    clear_key(a, 0..3);
    a.store(Half, R10, key::VLAN, R5);
    a.store(Half, R10, key::KIND, R9);
    look_up(a, parts.locals, found);
    a.jump(pass);
    a.bind(placed);
    a.shift_right(R0, 32);
    a.copy(R9, R0);
    a.jump(decided);
}

/// Wipes these double words of the key.
fn clear_key(a: &mut Assembler, doubles: impl IntoIterator<Item = i16>) {
    for double in doubles {
        a.store_number(Double, R10, key::START + 8 * double, 0);
    }
}

/// Leaves the protocol in `R9`, in `R5` what the destination is, and the addresses in the key; the
/// frame at the header behind.
fn read_ipv4(a: &mut Assembler, pass: Label) {
    need(a, 20, pass);
    // Version 4, and a header of five words: no options.
    a.load(Byte, R1, R7, 0);
    a.jump_if(R1, NotEqual, 0x45, pass);
    // More fragments, or an offset.
    a.load(Half, R1, R7, 6);
    a.swap_half(R1);
    a.and(R1, 0x3fff);
    a.jump_if(R1, NotEqual, 0, pass);
    a.load(Byte, R9, R7, 9);
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

/// As [`read_ipv4`].
fn read_ipv6(a: &mut Assembler, pass: Label) {
    need(a, 40, pass);
    a.load(Byte, R1, R7, 0);
    a.and(R1, 0xf0);
    a.jump_if(R1, NotEqual, 0x60, pass);
    a.load(Byte, R9, R7, 6);
    // The others are the addresses.
    clear_key(a, [2, 5]);
    a.store(Half, R10, key::VLAN, R5);
    for word in 0..4 {
        a.load(Word, R1, R7, 24 + 4 * word);
        a.store(Word, R10, key::START + 4 * word, R1);
        a.load(Word, R1, R7, 8 + 4 * word);
        a.store(Word, R10, key::REMOTE + 4 * word, R1);
    }
    // IPv4 inside IPv6 is not sent on a wire, and would be taken for IPv4: ::ffff:0:0/96.
    let real = a.label();
    a.load(Double, R1, R10, key::START);
    a.jump_if(R1, NotEqual, 0, real);
    a.load(Word, R1, R10, key::START + 8);
    a.jump_if_word(R1, Equal, MAPPED, pass);
    a.bind(real);
    classify(a, 24, 0xff, 0xff, UNICAST_6);
    a.add(R7, 40);
}

/// `R5 = GROUP`, if the destination's first byte says multicast, else `unicast`.
fn classify(a: &mut Assembler, destination: i16, mask: i32, value: i32, unicast: i32) {
    let known = a.label();
    a.set(R5, unicast);
    a.load(Byte, R1, R7, destination);
    a.and(R1, mask);
    a.jump_if(R1, NotEqual, value, known);
    a.set(R5, GROUP);
    a.bind(known);
}

/// Completes the key; then `R9` says what the destination is, and `R7` is where the protocol's
/// entries are counted. The header must be there whole, though only its ports are read: what is cut
/// off is for the kernel to count.
fn read_ports(a: &mut Assembler, parts: &Parts, pass: Label) {
    let (udp, known) = (a.label(), a.label());
    a.jump_if(R9, Equal, UDP, udp);
    a.jump_if(R9, NotEqual, TCP, pass);
    need(a, 20, pass);
    a.map_value(R3, parts.kinds, Value::TCP);
    a.jump(known);
    a.bind(udp);
    need(a, 8, pass);
    a.map_value(R3, parts.kinds, Value::UDP);
    a.bind(known);
    a.store(Half, R10, key::KIND, R9);
    a.load(Half, R1, R7, 0);
    a.store(Half, R10, key::REMOTE_PORT, R1);
    a.load(Half, R1, R7, 2);
    a.store(Half, R10, key::PORT, R1);
    a.copy(R9, R5);
    a.copy(R7, R3);
}

fn look_up_ip(a: &mut Assembler, parts: &Parts, Exits { found, pass, .. }: Exits) {
    let (group, any) = (a.label(), a.label());
    look_up_counted(a, Counts::FLOWS, parts.flows, found);
    a.jump_if(R9, Equal, GROUP, group);
    look_up_counted(a, Counts::PORTS, parts.locals, found);
    a.load(Word, R1, R7, Counts::ANY_ADDRESS);
    a.jump_if(R1, Equal, 0, pass);
    // Any address: the prefix of IPv4 stays.
    let version_6 = a.label();
    a.jump_if(R9, Equal, UNICAST_6, version_6);
    a.store_number(Word, R10, key::START + 12, 0);
    a.jump(any);
    a.bind(version_6);
    clear_key(a, 0..2);
    a.bind(any);
    look_up(a, parts.locals, found);
    a.jump(pass);
    // No group is counted for TCP.
    a.bind(group);
    look_up_counted(a, Counts::GROUP_PORTS, parts.groups, found);
    a.load(Word, R1, R7, Counts::GROUPS);
    a.jump_if(R1, Equal, 0, pass);
    a.store_number(Half, R10, key::PORT, 0);
    look_up(a, parts.groups, found);
    a.jump(pass);
}

/// Looks up only if any entry of the kind is counted.
fn look_up_counted(a: &mut Assembler, count: i16, map: i32, found: Label) {
    let none = a.label();
    a.load(Word, R1, R7, count);
    a.jump_if(R1, Equal, 0, none);
    look_up(a, map, found);
    a.bind(none);
}

/// Goes to `found`, where `R0` is the address of the value, if the map has the key.
fn look_up(a: &mut Assembler, map: i32, found: Label) {
    a.map(R1, map);
    a.copy(R2, R10);
    a.add(R2, i32::from(key::START));
    a.call(Helper::MapLookup);
    a.jump_if(R0, NotEqual, 0, found);
}

/// Sends the frame to the slot whose base is in `R9`.
fn redirect(a: &mut Assembler, parts: &Parts, pass: Label) {
    a.load(Word, R1, R6, context::QUEUE);
    a.jump_if(R1, AtLeast, parts.queues as i32, pass);
    a.add_register(R9, R1);
    if let Some(stamper) = parts.receive_stamp {
        stamp(a, stamper);
    }
    a.map(R1, parts.sockets);
    a.copy(R2, R9);
    a.set(R3, PASS);
    a.call(Helper::RedirectMap);
    a.exit();
}

/// Puts the time of receipt before the frame, nought if the driver does not know it. Only frames
/// that are ours have it: the kernel would not join those of a stream that differ in it.
fn stamp(a: &mut Assembler, stamper: Stamper) {
    let unstamped = a.label();
    a.copy(R1, R6);
    a.set(R2, -STAMP);
    a.call(Helper::AdjustMeta);
    a.jump_if(R0, NotEqual, 0, unstamped);
    match stamper {
        Stamper::Driver(function) => ask_driver(a, function),
        Stamper::Clock => a.call(Helper::ClockTai),
    }
    a.load(Word, R7, R6, context::DATA_META);
    a.load(Word, R8, R6, context::DATA);
    a.copy(R1, R7);
    a.add(R1, STAMP);
    a.jump_if_register(R1, Above, R8, unstamped);
    a.store(Double, R7, 0, R0);
    a.bind(unstamped);
}

/// `R0 = ` the driver's time of receipt, or nought.
fn ask_driver(a: &mut Assembler, function: i32) {
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

/// To the kernel with it unless `bytes` more are there.
fn need(a: &mut Assembler, bytes: i32, pass: Label) {
    a.copy(R1, R7);
    a.add(R1, bytes);
    a.jump_if_register(R1, Above, R8, pass);
}
