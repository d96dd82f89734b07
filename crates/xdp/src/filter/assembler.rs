//! BPF instructions, and jumps to places that come later.

/// A register. `R0` holds results, `R1` to `R5` arguments, `R6` to `R9` outlive a call, and `R10`
/// is the end of the stack, which cannot be written. Those that are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Register {
    R0,
    R1,
    R2,
    R3,
    R5 = 5,
    R6,
    R7,
    R8,
    R9,
    R10,
}

/// How many bytes a load or a store moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Width {
    Word = 0x00,
    Half = 0x08,
    Byte = 0x10,
    Double = 0x18,
}

/// When a jump is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Condition {
    Equal = 0x10,
    /// Unsigned.
    Above = 0x20,
    /// Unsigned.
    AtLeast = 0x30,
    NotEqual = 0x50,
}

/// Functions of the kernel, by their numbers in linux/bpf.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Helper {
    MapLookup = 1,
    RedirectMap = 51,
    AdjustMeta = 54,
    ClockTai = 208,
}

/// A place in the program to jump to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label(usize);

/// `struct bpf_insn`: one instruction, eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Instruction {
    code: u8,
    /// Destination in the low four bits, source in the high four.
    registers: u8,
    offset: i16,
    immediate: i32,
}

const _: () = assert!(cfg!(target_endian = "little"), "the registers' halves are the other way");

const CLASS_LOAD_IMMEDIATE: u8 = 0x00;
const CLASS_LOAD: u8 = 0x01;
const CLASS_STORE_IMMEDIATE: u8 = 0x02;
const CLASS_STORE: u8 = 0x03;
const CLASS_JUMP: u8 = 0x05;
const CLASS_JUMP_WORD: u8 = 0x06;
const CLASS_ARITHMETIC: u8 = 0x07;
const CLASS_ARITHMETIC_WORD: u8 = 0x04;
/// The operand is a register, not a number.
const REGISTER: u8 = 0x08;
/// The address is a register and an offset.
const MEMORY: u8 = 0x60;
const ADD: u8 = 0x00;
const AND: u8 = 0x50;
const SHIFT_LEFT: u8 = 0x60;
const SHIFT_RIGHT: u8 = 0x70;
const MOVE: u8 = 0xb0;
const SWAP_FROM_NETWORK: u8 = 0xd8;
const ALWAYS: u8 = 0x00;
const CALL: u8 = 0x80;
const EXIT: u8 = 0x90;
/// The number of a 64-bit load is a map's descriptor.
const MAP_DESCRIPTOR: u8 = 1;
/// The same, and the number's other half is a place in the map's only value.
const MAP_VALUE: u8 = 2;
/// The number of a call is a kernel function's type in its BTF.
const KERNEL_FUNCTION: u8 = 2;

/// A program in the making. Jumps go forward only.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    code: Vec<Instruction>,
    /// Where each label is, once it is.
    places: Vec<Option<usize>>,
    /// Which instruction jumps to which label.
    jumps: Vec<(usize, Label)>,
}

impl Assembler {
    /// A place that is not known yet.
    pub(crate) fn label(&mut self) -> Label {
        self.places.push(None);
        Label(self.places.len() - 1)
    }

    /// The label's place is here.
    ///
    /// # Panics
    /// If it has one.
    pub(crate) fn bind(&mut self, label: Label) {
        let before = self.places[label.0].replace(self.code.len());
        assert_eq!(before, None, "a label in two places");
    }

    /// `to = from`
    pub(crate) fn copy(&mut self, to: Register, from: Register) {
        self.emit(CLASS_ARITHMETIC | MOVE | REGISTER, to, from, 0, 0);
    }

    /// `to = number`
    pub(crate) fn set(&mut self, to: Register, number: i32) {
        self.emit(CLASS_ARITHMETIC | MOVE, to, Register::R0, 0, number);
    }

    /// `to += number`
    pub(crate) fn add(&mut self, to: Register, number: i32) {
        self.emit(CLASS_ARITHMETIC | ADD, to, Register::R0, 0, number);
    }

    /// `to += from`
    pub(crate) fn add_register(&mut self, to: Register, from: Register) {
        self.emit(CLASS_ARITHMETIC | ADD | REGISTER, to, from, 0, 0);
    }

    /// `to &= number`
    pub(crate) fn and(&mut self, to: Register, number: i32) {
        self.emit(CLASS_ARITHMETIC | AND, to, Register::R0, 0, number);
    }

    /// `to <<= bits`
    pub(crate) fn shift_left(&mut self, to: Register, bits: i32) {
        self.emit(CLASS_ARITHMETIC | SHIFT_LEFT, to, Register::R0, 0, bits);
    }

    /// `to >>= bits`, nought coming in
    pub(crate) fn shift_right(&mut self, to: Register, bits: i32) {
        self.emit(CLASS_ARITHMETIC | SHIFT_RIGHT, to, Register::R0, 0, bits);
    }

    /// The low 16 bits of `register`, which came from a frame, as a number.
    pub(crate) fn swap_half(&mut self, register: Register) {
        self.emit(CLASS_ARITHMETIC_WORD | SWAP_FROM_NETWORK, register, Register::R0, 0, 16);
    }

    /// `to = *(from + offset)`
    pub(crate) fn load(&mut self, width: Width, to: Register, from: Register, offset: i16) {
        self.emit(CLASS_LOAD | MEMORY | width as u8, to, from, offset, 0);
    }

    /// `*(to + offset) = from`
    pub(crate) fn store(&mut self, width: Width, to: Register, offset: i16, from: Register) {
        self.emit(CLASS_STORE | MEMORY | width as u8, to, from, offset, 0);
    }

    /// `*(to + offset) = number`
    pub(crate) fn store_number(&mut self, width: Width, to: Register, offset: i16, number: i32) {
        self.emit(CLASS_STORE_IMMEDIATE | MEMORY | width as u8, to, Register::R0, offset, number);
    }

    /// `to = the map behind a descriptor`
    pub(crate) fn map(&mut self, to: Register, descriptor: i32) {
        self.load_of(MAP_DESCRIPTOR, to, [descriptor, 0]);
    }

    /// `to = the address of the only value of an array`, plus `offset`
    pub(crate) fn map_value(&mut self, to: Register, descriptor: i32, offset: i32) {
        self.load_of(MAP_VALUE, to, [descriptor, offset]);
    }

    fn load_of(&mut self, kind: u8, to: Register, [low, high]: [i32; 2]) {
        let code = CLASS_LOAD_IMMEDIATE | Width::Double as u8;
        let registers = to as u8 | kind << 4;
        self.code.push(Instruction { code, registers, offset: 0, immediate: low });
        // The high half of the number, in an instruction of its own.
        self.code.push(Instruction { code: 0, registers: 0, offset: 0, immediate: high });
    }

    /// Goes to the label.
    pub(crate) fn jump(&mut self, label: Label) {
        self.jumps.push((self.code.len(), label));
        self.emit(CLASS_JUMP | ALWAYS, Register::R0, Register::R0, 0, 0);
    }

    /// Goes to the label if `left` compares so with a number of 32 bits. All of `left` is compared,
    /// so its upper half must be nought, or the sign's.
    pub(crate) fn jump_if(
        &mut self,
        left: Register,
        condition: Condition,
        right: i32,
        label: Label,
    ) {
        self.jumps.push((self.code.len(), label));
        self.emit(CLASS_JUMP | condition as u8, left, Register::R0, 0, right);
    }

    /// The same of the lower halves of two words.
    pub(crate) fn jump_if_word(
        &mut self,
        left: Register,
        condition: Condition,
        right: i32,
        label: Label,
    ) {
        self.jumps.push((self.code.len(), label));
        self.emit(CLASS_JUMP_WORD | condition as u8, left, Register::R0, 0, right);
    }

    /// The same with a register, of the lower halves.
    pub(crate) fn jump_if_word_register(
        &mut self,
        left: Register,
        condition: Condition,
        right: Register,
        label: Label,
    ) {
        self.jumps.push((self.code.len(), label));
        self.emit(CLASS_JUMP_WORD | condition as u8 | REGISTER, left, right, 0, 0);
    }

    /// The same with a register.
    pub(crate) fn jump_if_register(
        &mut self,
        left: Register,
        condition: Condition,
        right: Register,
        label: Label,
    ) {
        self.jumps.push((self.code.len(), label));
        self.emit(CLASS_JUMP | condition as u8 | REGISTER, left, right, 0, 0);
    }

    /// `R0 = helper(R1, …)`; R1 to R5 are gone.
    pub(crate) fn call(&mut self, helper: Helper) {
        self.emit(CLASS_JUMP | CALL, Register::R0, Register::R0, 0, helper as i32);
    }

    /// The same of a function of the kernel that its BTF names.
    pub(crate) fn call_kernel_function(&mut self, type_id: i32) {
        self.code.push(Instruction {
            code: CLASS_JUMP | CALL,
            registers: KERNEL_FUNCTION << 4,
            offset: 0,
            immediate: type_id,
        });
    }

    /// Ends with the verdict in `R0`.
    pub(crate) fn exit(&mut self) {
        self.emit(CLASS_JUMP | EXIT, Register::R0, Register::R0, 0, 0);
    }

    /// The program, its jumps resolved.
    ///
    /// # Panics
    /// If a label has no place, or lies before a jump to it.
    pub(crate) fn finish(mut self) -> Vec<Instruction> {
        for (at, label) in self.jumps {
            let place = self.places[label.0].expect("every label that is jumped to is bound");
            let distance = place.checked_sub(at + 1).expect("jumps go forward");
            self.code[at].offset = i16::try_from(distance).expect("programs are short");
        }
        self.code
    }

    fn emit(&mut self, code: u8, to: Register, from: Register, offset: i16, immediate: i32) {
        let registers = to as u8 | (from as u8) << 4;
        self.code.push(Instruction { code, registers, offset, immediate });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(instruction: Instruction) -> [u8; 8] {
        let Instruction { code, registers, offset, immediate } = instruction;
        let [a, b] = offset.to_le_bytes();
        let [c, d, e, f] = immediate.to_le_bytes();
        [code, registers, a, b, c, d, e, f]
    }

    /// The bytes are those of clang for the same statements.
    #[test]
    fn instructions_are_encoded_as_the_kernel_reads_them() {
        let mut assembler = Assembler::default();
        assembler.copy(Register::R6, Register::R1);
        assembler.load(Width::Half, Register::R9, Register::R7, 12);
        assembler.swap_half(Register::R9);
        assembler.store(Width::Word, Register::R10, -44, Register::R2);
        assembler.map(Register::R1, 5);
        assembler.call(Helper::MapLookup);
        assembler.shift_left(Register::R1, 16);
        assembler.shift_right(Register::R0, 32);
        assembler.map_value(Register::R2, 5, 24);
        assembler.exit();
        let code: Vec<_> = assembler.finish().into_iter().map(bytes).collect();
        assert_eq!(
            code,
            [
                [0xbf, 0x16, 0, 0, 0, 0, 0, 0],
                [0x69, 0x79, 12, 0, 0, 0, 0, 0],
                [0xdc, 0x09, 0, 0, 16, 0, 0, 0],
                [0x63, 0x2a, 0xd4, 0xff, 0, 0, 0, 0],
                [0x18, 0x11, 0, 0, 5, 0, 0, 0],
                [0; 8],
                [0x85, 0, 0, 0, 1, 0, 0, 0],
                [0x67, 0x01, 0, 0, 16, 0, 0, 0],
                [0x77, 0x00, 0, 0, 32, 0, 0, 0],
                [0x18, 0x22, 0, 0, 5, 0, 0, 0],
                [0, 0, 0, 0, 24, 0, 0, 0],
                [0x95, 0, 0, 0, 0, 0, 0, 0],
            ]
        );
    }

    #[test]
    fn jumps_count_from_the_instruction_behind_them() {
        let mut assembler = Assembler::default();
        let [near, far] = [assembler.label(), assembler.label()];
        assembler.jump_if(Register::R0, Condition::Equal, 0, near);
        assembler.jump(far);
        assembler.bind(near);
        assembler.map(Register::R1, 5);
        assembler.bind(far);
        assembler.exit();
        let code = assembler.finish();
        assert_eq!([code[0].offset, code[1].offset], [1, 2]);
    }

    #[test]
    #[should_panic(expected = "jumps go forward")]
    fn there_are_no_loops() {
        let mut assembler = Assembler::default();
        let label = assembler.label();
        assembler.bind(label);
        assembler.jump(label);
        assembler.finish();
    }

    #[test]
    #[should_panic(expected = "bound")]
    fn a_label_without_a_place_is_found_out() {
        let mut assembler = Assembler::default();
        let label = assembler.label();
        assembler.jump(label);
        assembler.finish();
    }
}
