//! A BPF assembler with forward jumps.

/// A BPF register, of those in use. `R0` holds results, `R1` to `R5` arguments, `R6` to `R9`
/// survive calls, and `R10` is the read-only frame pointer: the end of the stack.
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

/// The width of a load or store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Width {
    Word = 0x00,
    Half = 0x08,
    Byte = 0x10,
    Double = 0x18,
}

/// The condition of a jump.
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

/// BPF helper functions, with their numbers in linux/bpf.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Helper {
    MapLookup = 1,
    RedirectMap = 51,
    AdjustMeta = 54,
    ClockTai = 208,
}

/// A jump target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label(usize);

/// An instruction, `struct bpf_insn`, eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Instruction {
    pub(super) code: u8,
    /// The destination in the low four bits, the source in the high four.
    pub(super) registers: u8,
    pub(super) offset: i16,
    immediate: i32,
}

const _: () = assert!(
    cfg!(target_endian = "little"),
    "the register byte has another layout on big-endian machines"
);

const CLASS_LOAD_IMMEDIATE: u8 = 0x00;
const CLASS_LOAD: u8 = 0x01;
const CLASS_STORE_IMMEDIATE: u8 = 0x02;
const CLASS_STORE: u8 = 0x03;
const CLASS_JUMP: u8 = 0x05;
const CLASS_JUMP_WORD: u8 = 0x06;
const CLASS_ARITHMETIC: u8 = 0x07;
const CLASS_ARITHMETIC_WORD: u8 = 0x04;
/// Set if the operand is a register, not an immediate.
const REGISTER: u8 = 0x08;
/// The address is a register plus an offset.
const MEMORY: u8 = 0x60;
const ADD: u8 = 0x00;
const MULTIPLY: u8 = 0x20;
const AND: u8 = 0x50;
const SHIFT_LEFT: u8 = 0x60;
const SHIFT_RIGHT: u8 = 0x70;
const MOVE: u8 = 0xb0;
const FROM_NETWORK_ORDER: u8 = 0xd8;
const ALWAYS: u8 = 0x00;
const CALL: u8 = 0x80;
const EXIT: u8 = 0x90;
/// Marks the immediate of a 64-bit load as a map descriptor.
const MAP_DESCRIPTOR: u8 = 1;
/// Marks the immediate of a 64-bit load as a map descriptor and an offset into the map's only
/// value.
const MAP_VALUE: u8 = 2;
/// Marks the immediate of a call as the BTF type id of a kernel function.
const KERNEL_FUNCTION: u8 = 2;

/// A program under construction. Jumps go forward only.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    code: Vec<Instruction>,
    /// The address of each label, once bound.
    addresses: Vec<Option<usize>>,
    /// The jump instructions and their labels.
    jumps: Vec<(usize, Label)>,
}

impl Assembler {
    /// Creates a label that is not bound yet.
    pub(crate) fn label(&mut self) -> Label {
        self.addresses.push(None);
        Label(self.addresses.len() - 1)
    }

    /// Binds the label to the current address.
    ///
    /// # Panics
    /// If it is already bound.
    pub(crate) fn bind(&mut self, label: Label) {
        let before = self.addresses[label.0].replace(self.code.len());
        assert_eq!(before, None, "the label is already bound");
    }

    /// Emits `to = from`.
    pub(crate) fn copy(&mut self, to: Register, from: Register) {
        self.emit(CLASS_ARITHMETIC | MOVE | REGISTER, to, from, 0, 0);
    }

    /// Emits `to = number`.
    pub(crate) fn set(&mut self, to: Register, number: i32) {
        self.emit(CLASS_ARITHMETIC | MOVE, to, Register::R0, 0, number);
    }

    /// Emits `to += number`.
    pub(crate) fn add(&mut self, to: Register, number: i32) {
        self.emit(CLASS_ARITHMETIC | ADD, to, Register::R0, 0, number);
    }

    /// Emits `to += from`.
    pub(crate) fn add_register(&mut self, to: Register, from: Register) {
        self.emit(CLASS_ARITHMETIC | ADD | REGISTER, to, from, 0, 0);
    }

    /// Emits `to *= number`, of the low 32 bits. The upper ones are then 0.
    pub(crate) fn multiply_word(&mut self, to: Register, number: i32) {
        self.emit(CLASS_ARITHMETIC_WORD | MULTIPLY, to, Register::R0, 0, number);
    }

    /// Emits `to &= number`.
    pub(crate) fn and(&mut self, to: Register, number: i32) {
        self.emit(CLASS_ARITHMETIC | AND, to, Register::R0, 0, number);
    }

    /// Emits `to <<= bits`.
    pub(crate) fn shift_left(&mut self, to: Register, bits: i32) {
        self.emit(CLASS_ARITHMETIC | SHIFT_LEFT, to, Register::R0, 0, bits);
    }

    /// Emits `to >>= bits` (logical shift).
    pub(crate) fn shift_right(&mut self, to: Register, bits: i32) {
        self.emit(CLASS_ARITHMETIC | SHIFT_RIGHT, to, Register::R0, 0, bits);
    }

    /// Emits a conversion of the low 16 bits from network byte order.
    pub(crate) fn swap_half(&mut self, register: Register) {
        self.emit(CLASS_ARITHMETIC_WORD | FROM_NETWORK_ORDER, register, Register::R0, 0, 16);
    }

    /// Emits `to = *(from + offset)`.
    pub(crate) fn load(&mut self, width: Width, to: Register, from: Register, offset: i16) {
        self.emit(CLASS_LOAD | MEMORY | width as u8, to, from, offset, 0);
    }

    /// Emits `*(to + offset) = from`.
    pub(crate) fn store(&mut self, width: Width, to: Register, offset: i16, from: Register) {
        self.emit(CLASS_STORE | MEMORY | width as u8, to, from, offset, 0);
    }

    /// Emits `*(to + offset) = number`.
    pub(crate) fn store_number(&mut self, width: Width, to: Register, offset: i16, number: i32) {
        self.emit(CLASS_STORE_IMMEDIATE | MEMORY | width as u8, to, Register::R0, offset, number);
    }

    /// Emits `to = map`, for a map descriptor.
    pub(crate) fn map(&mut self, to: Register, descriptor: i32) {
        self.load_tagged(MAP_DESCRIPTOR, to, [descriptor, 0]);
    }

    /// Emits `to = &array[0] + offset`, for the descriptor of an array with one value.
    pub(crate) fn map_value(&mut self, to: Register, descriptor: i32, offset: i32) {
        self.load_tagged(MAP_VALUE, to, [descriptor, offset]);
    }

    fn load_tagged(&mut self, kind: u8, to: Register, [low, high]: [i32; 2]) {
        let code = CLASS_LOAD_IMMEDIATE | Width::Double as u8;
        let registers = to as u8 | kind << 4;
        self.code.push(Instruction { code, registers, offset: 0, immediate: low });
        // The high half of the number, in a second instruction.
        self.code.push(Instruction { code: 0, registers: 0, offset: 0, immediate: high });
    }

    /// Emits an unconditional jump.
    pub(crate) fn jump(&mut self, label: Label) {
        self.jumps.push((self.code.len(), label));
        self.emit(CLASS_JUMP | ALWAYS, Register::R0, Register::R0, 0, 0);
    }

    /// Emits a jump that is taken if `left` compares so with a 32-bit number. All 64 bits of `left`
    /// are compared, so its upper half must be zero or the sign extension.
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

    /// Emits the same for the low halves of the operands.
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

    /// Emits the same with a register operand, for the low halves.
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

    /// Emits the same with a register operand.
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

    /// Emits `R0 = helper(R1, …)`, which clobbers R1 to R5.
    pub(crate) fn call(&mut self, helper: Helper) {
        self.emit(CLASS_JUMP | CALL, Register::R0, Register::R0, 0, helper as i32);
    }

    /// Emits the same for a kernel function, by its BTF type id.
    pub(crate) fn call_kernel_function(&mut self, type_id: i32) {
        self.code.push(Instruction {
            code: CLASS_JUMP | CALL,
            registers: KERNEL_FUNCTION << 4,
            offset: 0,
            immediate: type_id,
        });
    }

    /// Emits a return of the verdict in `R0`.
    pub(crate) fn exit(&mut self) {
        self.emit(CLASS_JUMP | EXIT, Register::R0, Register::R0, 0, 0);
    }

    /// Resolves all jumps and returns the program.
    ///
    /// # Panics
    /// If a label is not bound, or bound before a jump to it.
    pub(crate) fn finish(mut self) -> Vec<Instruction> {
        for (at, label) in self.jumps {
            let address = self.addresses[label.0].expect("every jump target is bound");
            let distance = address.checked_sub(at + 1).expect("jumps go forward");
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

    /// The expected bytes are clang's output for the same statements.
    #[test]
    fn instructions_match_the_output_of_clang() {
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
    fn jump_offsets_count_from_the_next_instruction() {
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
    fn finish_rejects_backward_jumps() {
        let mut assembler = Assembler::default();
        let label = assembler.label();
        assembler.bind(label);
        assembler.jump(label);
        assembler.finish();
    }

    #[test]
    #[should_panic(expected = "every jump target is bound")]
    fn finish_rejects_unbound_labels() {
        let mut assembler = Assembler::default();
        let label = assembler.label();
        assembler.jump(label);
        assembler.finish();
    }
}
