//! Assembler for both instruction sets. It also records the memory that the code accesses.
use hashbrown::HashMap;
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, IcedError, Instruction, InstructionBlock, MemoryOperand,
    Register,
};

use super::super::alu::Row;
use super::super::lanes::{LANES, Lanes};
use super::executable::{Extent, Field, Texels};
use super::machine::{Machine, Vector};

/// Bytes of a row.
const ROW: usize = size_of::<Lanes>();

/// Registers of the arguments of the code.
const ROWS: Register = Register::RDI;
const POOL: Register = Register::RSI;
const FRAME: Register = Register::RDX;
const MASK: Register = Register::ECX;
const TEXTURES: Register = Register::R8;
/// Counts the remaining passes.
const PASSES: Register = Register::EAX;
/// Address of a texture's first dword.
const ADDRESS: Register = Register::R9;

/// The last source of an instruction: a vector register, or a row of one of the slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A vector register.
    Register(u8),
    /// A row of the warp.
    Row(Row),
    /// A constant of the code.
    Pool(usize),
    /// A row of the frame: the lanes of the current pass.
    Frame(usize),
    /// A field of a texture, equal in all lanes.
    Texture(usize, Field),
}

/// A branch target in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

/// Location of a condition: a mask register, or a vector of all ones and zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag(pub u8);

/// A relation of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
    /// Equal.
    Equal,
    /// Not equal, or not comparable.
    NotEqual,
    /// At least one value is a NaN.
    Unordered,
}

/// Lanes in which code acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeLanes {
    /// The code runs all lanes.
    All,
    /// The code changes only lanes that execute.
    Executing,
}

/// What a test of two words looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommonBits {
    /// At least one bit is set in both.
    Some,
    /// No bit is set in both.
    None,
}

/// Collects instructions.
pub struct Assembler {
    /// The instruction set.
    pub machine: Machine,
    /// Whether some lanes may not execute.
    pub masked: bool,
    code: Vec<Instruction>,
    pool: Vec<Lanes>,
    constants: HashMap<u32, usize>,
    extent: Extent,
    /// Index of the instruction after each label.
    labels: Vec<usize>,
    /// Instructions that branch to a label.
    jumps: Vec<(usize, Label)>,
}

/// Code that is not placed yet.
pub struct Assembled {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its instructions, in order.
    pub code: Vec<Instruction>,
    /// Index of the first instruction of the body.
    pub body: usize,
    /// Its constants.
    pub pool: Vec<Lanes>,
    /// The memory that it accesses.
    pub extent: Extent,
}

/// AVX-512: mask register of the lanes that do not execute. AVX2 uses the last vector register.
const IDLE: Register = Register::K7;

impl Assembler {
    /// An assembler without instructions.
    pub fn new(machine: Machine, lanes: CodeLanes) -> Self {
        let masked = lanes == CodeLanes::Executing;
        let (code, pool, constants, extent, labels, jumps) = Default::default();
        Self { machine, masked, code, pool, constants, extent, labels, jumps }
    }

    /// Number of vector registers for values. With masking, AVX2 keeps the idle lanes in the last one.
    pub fn registers(&self) -> u8 {
        self.machine.registers() - u8::from(self.masked && self.machine == Machine::Avx2)
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.code.len()
    }

    /// The constant with `bits` in every lane.
    pub fn constant(&mut self, bits: u32) -> Source {
        let pool = &mut self.pool;
        let index = *self.constants.entry(bits).or_insert_with(|| {
            pool.push(Lanes::splat(bits));
            pool.len() - 1
        });
        Source::Pool(index)
    }

    /// A constant with one word per lane.
    fn constant_lanes(&mut self, lanes: Lanes) -> Source {
        let known = self.pool.iter().position(|known| *known == lanes);
        Source::Pool(known.unwrap_or_else(|| {
            self.pool.push(lanes);
            self.pool.len() - 1
        }))
    }

    fn memory(&mut self, source: Source) -> MemoryOperand {
        let (base, index) = match source {
            Source::Row(row) => {
                self.extent.rows = self.extent.rows.max(usize::from(row) + 1);
                (ROWS, usize::from(row))
            }
            Source::Pool(index) => {
                self.extent.pool = self.extent.pool.max(index + 1);
                (POOL, index)
            }
            Source::Frame(index) => {
                self.extent.frame = self.extent.frame.max(index + 1);
                (FRAME, index)
            }
            Source::Texture(texture, field) => {
                let displacement = self.texture(texture) + field.offset();
                return MemoryOperand::with_base_displ(TEXTURES, displacement as i64);
            }
            Source::Register(_) => unreachable!("a register is no memory"),
        };
        MemoryOperand::with_base_displ(base, (index * ROW) as i64)
    }

    /// Byte offset of the texture with this number.
    fn texture(&mut self, number: usize) -> usize {
        self.extent.textures = self.extent.textures.max(number + 1);
        number * size_of::<Texels<'_>>()
    }

    fn vector(&self, n: u8) -> Register {
        self.machine.vector(n)
    }

    fn push(&mut self, instruction: Result<Instruction, IcedError>) {
        self.code.push(instruction.expect("operands that the form takes"));
    }

    /// Marks the last instruction's source as broadcast, if it is a field of a texture. AVX2 has no broadcast
    /// operands; its code reads all lanes of the field.
    fn spread_last(&mut self, source: Source) {
        if let (Machine::Avx512, Source::Texture(..), Some(last)) =
            (self.machine, source, self.code.last_mut())
        {
            last.set_is_broadcast(true);
        }
    }

    /// `dst = a . b`
    pub fn two(&mut self, op: Vector, dst: u8, a: u8, b: Source) {
        let (form, dst, a) = (self.machine.form(op), self.vector(dst), self.vector(a));
        let instruction = match b {
            Source::Register(b) => Instruction::with3(form, dst, a, self.vector(b)),
            memory => Instruction::with3(form, dst, a, self.memory(memory)),
        };
        self.push(instruction);
        self.spread_last(b);
    }

    /// Multiplies the dwords of `dst`, of 15 bits, by a field of a texture, of 15 bits. Overwrites `spare`.
    pub fn mul_halves(&mut self, dst: u8, field: Source, spare: u8) {
        let factor = match self.machine {
            // Instructions on words have no broadcast operands.
            Machine::Avx512 => {
                let (to, memory) = (self.vector(spare), self.memory(field));
                self.push(Instruction::with2(Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32, to, memory));
                Source::Register(spare)
            }
            Machine::Avx2 => field,
        };
        self.two(Vector::MulAddHalves, dst, dst, factor);
    }

    /// `dst = (dst . a) | b`, where the operation is [`Vector::And`] or [`Vector::Or`].
    pub fn then_or(&mut self, op: Vector, dst: u8, a: u8, b: Source) {
        match self.machine {
            Machine::Avx512 => {
                // The table of the function of three bits: bit `4 dst + 2 a + b` is the result.
                let table = if op == Vector::And { 0xeau32 } else { 0xfe };
                let form = Code::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8;
                let (dst, a) = (self.vector(dst), self.vector(a));
                let instruction = match b {
                    Source::Register(b) => Instruction::with4(form, dst, a, self.vector(b), table),
                    memory => Instruction::with4(form, dst, a, self.memory(memory), table),
                };
                self.push(instruction);
            }
            Machine::Avx2 => {
                self.two(op, dst, dst, Source::Register(a));
                self.two(Vector::Or, dst, dst, b);
            }
        }
    }

    /// Loads the dwords with these `numbers` of a texture to `dst`. Numbers are first lowered to that of the
    /// last dword. Overwrites `flag` and `numbers`.
    pub fn gather(&mut self, texture: usize, flag: Flag, dst: u8, numbers: u8) {
        self.two(Vector::MinUnsigned, numbers, numbers, Source::Texture(texture, Field::Last));
        self.address(texture);
        let index = self.vector(numbers);
        let form = match self.machine {
            Machine::Avx512 => Code::EVEX_Vpgatherdd_zmm_k1_vm32z,
            Machine::Avx2 => Code::VEX_Vpgatherdd_ymm_vm32y_ymm,
        };
        self.gather_from(form, flag, dst, index);
    }

    /// Loads the dwords with these `numbers` of a texture, and those after them, to two registers. Numbers
    /// are first lowered to that of the last dword but one. Overwrites `flag`, `numbers` and, with AVX-512,
    /// `spare`.
    pub fn gather_pairs(
        &mut self,
        texture: usize,
        flag: Flag,
        [first, second]: [u8; 2],
        [numbers, spare]: [u8; 2],
    ) {
        self.two(Vector::MinUnsigned, numbers, numbers, Source::Texture(texture, Field::LastPair));
        self.address(texture);
        let all = self.vector(numbers);
        let (half, upper_half, form) = match self.machine {
            Machine::Avx512 => {
                let upper = Code::EVEX_Vextracti32x8_ymmm256_k1z_zmm_imm8;
                (Register::YMM0 + u32::from(numbers), upper, Code::EVEX_Vpgatherdq_zmm_k1_vm32y)
            }
            Machine::Avx2 => {
                let upper = Code::VEX_Vextracti128_xmmm128_ymm_imm8;
                (Register::XMM0 + u32::from(numbers), upper, Code::VEX_Vpgatherdq_ymm_vm32x_ymm)
            }
        };
        self.gather_from(form, flag, first, half);
        self.push(Instruction::with3(upper_half, half, all, 1u32));
        self.gather_from(form, flag, second, half);
        match self.machine {
            Machine::Avx512 => self.part_pairs([first, second], [numbers, spare]),
            Machine::Avx2 => self.part_pairs_narrow([first, second], numbers),
        }
    }

    /// AVX2: parts pairs in two registers into the even and the odd dwords. Overwrites `spare`.
    fn part_pairs_narrow(&mut self, [first, second]: [u8; 2], spare: u8) {
        let [a, b, even] = [first, second, spare].map(|n| self.vector(n));
        // Of each half of both registers, the even dwords and the odd ones.
        let shuffle = Code::VEX_Vshufps_ymm_ymm_ymmm256_imm8;
        self.push(Instruction::with4(shuffle, even, a, b, 0b10_00_10_00u32));
        self.push(Instruction::with4(shuffle, b, a, b, 0b11_01_11_01u32));
        // The halves alternate; the two from the first register come first.
        let permute = Code::VEX_Vpermq_ymm_ymmm256_imm8;
        self.push(Instruction::with3(permute, a, even, 0b11_01_10_00u32));
        self.push(Instruction::with3(permute, b, b, 0b11_01_10_00u32));
    }

    /// AVX-512: parts pairs in two registers into the even and the odd dwords. Overwrites `numbers` and
    /// `spare`.
    fn part_pairs(&mut self, [first, second]: [u8; 2], [numbers, spare]: [u8; 2]) {
        const EVEN: [u32; LANES] = pairs(0);
        const ODD: [u32; LANES] = pairs(1);
        let (even, odd) = (self.constant_lanes(Lanes(EVEN)), self.constant_lanes(Lanes(ODD)));
        self.load(numbers, odd);
        let [a, b, index, other] = [first, second, numbers, spare].map(|n| self.vector(n));
        self.push(Instruction::with3(Code::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32, index, a, b));
        self.load(spare, even);
        self.push(Instruction::with3(Code::EVEX_Vpermt2d_zmm_k1z_zmm_zmmm512b32, a, other, b));
        self.load(second, Source::Register(numbers));
    }

    /// Loads the address of a texture's first dword.
    fn address(&mut self, texture: usize) {
        let displacement = self.texture(texture) + Texels::ADDRESS;
        let memory = MemoryOperand::with_base_displ(TEXTURES, displacement as i64);
        self.push(Instruction::with2(Code::Mov_r64_rm64, ADDRESS, memory));
    }

    /// Gathers the dwords at these indices from the address, in all lanes of `dst`.
    fn gather_from(&mut self, form: Code, flag: Flag, dst: u8, numbers: Register) {
        let flag = self.flag(flag);
        let all = match self.machine {
            Machine::Avx512 => Code::VEX_Kxnorw_kr_kr_kr,
            Machine::Avx2 => Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256,
        };
        self.push(Instruction::with3(all, flag, flag, flag));
        // Breaks the dependency on the old value.
        self.two(Vector::Xor, dst, dst, Source::Register(dst));
        let (dst, memory) = (self.vector(dst), MemoryOperand::with_base_index_scale(ADDRESS, numbers, 4));
        self.push(match self.machine {
            Machine::Avx512 => Instruction::with2(form, dst, memory).map(|gather| with_mask(gather, flag)),
            Machine::Avx2 => Instruction::with3(form, dst, memory, flag),
        });
    }

    /// A new label. It must be bound later.
    pub fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() - 1)
    }

    /// Binds a label to the next instruction.
    pub fn bind(&mut self, Label(label): Label) {
        self.labels[label] = self.code.len();
    }

    /// Emits a jump.
    pub fn jump(&mut self, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.push(Instruction::with_branch(Code::Jmp_rel32_64, 0));
    }

    /// Emits a jump unless `a` is less than `b`, as unsigned numbers, in all lanes. Overwrites `flag`.
    pub fn jump_unless_less(&mut self, flag: Flag, a: u8, b: Source, to: Label) {
        let jump = match self.machine {
            Machine::Avx512 => {
                self.compare_integers(Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8, flag, a, b, Some(1));
                let flag = self.flag(flag);
                self.push(Instruction::with2(Code::VEX_Kortestw_kr_kr, flag, flag));
                // Carry: all bits are set.
                Code::Jae_rel32_64
            }
            Machine::Avx2 => {
                // a >= b where a is the greater one.
                self.two(Vector::MaxUnsigned, flag.0, a, b);
                let equal = Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256;
                self.compare_integers(equal, flag, flag.0, Source::Register(a), None);
                let flag = self.flag(flag);
                self.push(Instruction::with2(Code::VEX_Vptest_ymm_ymmm256, flag, flag));
                Code::Jne_rel32_64
            }
        };
        self.jumps.push((self.code.len(), to));
        self.push(Instruction::with_branch(jump, 0));
    }

    /// Emits `op` with one source: `dst = op a`.
    pub fn one(&mut self, op: Vector, dst: u8, a: Source) {
        let (form, dst) = (self.machine.form(op), self.vector(dst));
        let instruction = match a {
            Source::Register(a) => Instruction::with2(form, dst, self.vector(a)),
            memory => Instruction::with2(form, dst, self.memory(memory)),
        };
        self.push(instruction);
    }

    /// `dst = a . number`
    pub fn immediate(&mut self, op: Vector, dst: u8, a: u8, number: u32) {
        let (form, dst, a) = (self.machine.form(op), self.vector(dst), self.vector(a));
        self.push(Instruction::with3(form, dst, a, number));
    }

    /// Loads a row to a register.
    pub fn load(&mut self, dst: u8, source: Source) {
        self.one(Vector::Load, dst, source);
    }

    /// Stores a register to memory, in all lanes.
    pub fn store(&mut self, to: Source, src: u8) {
        let (form, src) = (self.machine.form(Vector::Store), self.vector(src));
        let memory = self.memory(to);
        self.push(Instruction::with2(form, memory, src));
    }

    /// Sets `flag` in lanes where `a` and `b`, as floats, have the relation.
    pub fn compare(&mut self, flag: Flag, relation: Relation, a: u8, b: Source) {
        // Intel's predicates: ordered and quiet, except for not-equal.
        let predicate = match relation {
            Relation::Less => 0x11,
            Relation::LessOrEqual => 0x12,
            Relation::Greater => 0x1e,
            Relation::GreaterOrEqual => 0x1d,
            Relation::Equal => 0x00,
            Relation::NotEqual => 0x04,
            Relation::Unordered => 0x03,
        };
        let form = match self.machine {
            Machine::Avx512 => Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae,
            Machine::Avx2 => Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8,
        };
        let (flag, a) = (self.flag(flag), self.vector(a));
        let instruction = match b {
            Source::Register(b) => Instruction::with4(form, flag, a, self.vector(b), predicate),
            memory => Instruction::with4(form, flag, a, self.memory(memory), predicate),
        };
        self.push(instruction);
    }

    /// Sets `flag` in lanes in which `a` and `b` have such bits. Only AVX-512.
    pub fn test(&mut self, flag: Flag, common: CommonBits, a: u8, b: Source) {
        let form = match common {
            CommonBits::Some => Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32,
            CommonBits::None => Code::EVEX_Vptestnmd_kr_k1_zmm_zmmm512b32,
        };
        self.flag_of_two(form, flag, a, b);
    }

    /// Emits an integer comparison to a flag. AVX-512 forms take a predicate; AVX2 has one form per relation.
    pub fn compare_integers(&mut self, form: Code, flag: Flag, a: u8, b: Source, predicate: Option<u32>) {
        let Some(predicate) = predicate else { return self.flag_of_two(form, flag, a, b) };
        let (flag, a) = (self.flag(flag), self.vector(a));
        let instruction = match b {
            Source::Register(b) => Instruction::with4(form, flag, a, self.vector(b), predicate),
            memory => Instruction::with4(form, flag, a, self.memory(memory), predicate),
        };
        self.push(instruction);
        self.spread_last(b);
    }

    fn flag_of_two(&mut self, form: Code, flag: Flag, a: u8, b: Source) {
        let (flag, a) = (self.flag(flag), self.vector(a));
        let instruction = match b {
            Source::Register(b) => Instruction::with3(form, flag, a, self.vector(b)),
            memory => Instruction::with3(form, flag, a, self.memory(memory)),
        };
        self.push(instruction);
    }

    fn flag(&self, Flag(n): Flag) -> Register {
        match self.machine {
            Machine::Avx512 => Register::K0 + u32::from(n),
            Machine::Avx2 => self.vector(n),
        }
    }

    /// `dst = flag ? yes : no`
    pub fn select(&mut self, flag: Flag, dst: u8, yes: Source, no: u8) {
        self.select_by(self.flag(flag), dst, yes, no);
    }

    fn select_by(&mut self, flag: Register, dst: u8, yes: Source, no: u8) {
        let (dst, no) = (self.vector(dst), self.vector(no));
        let yes = match yes {
            Source::Register(yes) => Ok(self.vector(yes)),
            memory => Err(self.memory(memory)),
        };
        let instruction = match self.machine {
            Machine::Avx512 => {
                let form = Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32;
                let blend = match yes {
                    Ok(yes) => Instruction::with3(form, dst, no, yes),
                    Err(yes) => Instruction::with3(form, dst, no, yes),
                };
                blend.map(|blend| with_mask(blend, flag))
            }
            Machine::Avx2 => {
                let form = Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm;
                match yes {
                    Ok(yes) => Instruction::with4(form, dst, no, yes, flag),
                    Err(yes) => Instruction::with4(form, dst, no, yes, flag),
                }
            }
        };
        self.push(instruction);
    }

    /// `dst = flag ? value : 0`
    pub fn keep(&mut self, flag: Flag, dst: u8, value: Source) {
        match self.machine {
            Machine::Avx512 => {
                self.load(dst, value);
                let flag = self.flag(flag);
                let last = self.code.last_mut().expect("the load");
                *last = with_mask(*last, flag);
                last.set_zeroing_masking(true);
            }
            Machine::Avx2 => self.two(Vector::And, dst, flag.0, value),
        }
    }

    /// Sets `dst` to `row` in the lanes that do not execute.
    pub fn merge(&mut self, dst: u8, row: Row) {
        debug_assert!(self.masked);
        match self.machine {
            // Loads the row in idle lanes only.
            Machine::Avx512 => {
                self.load(dst, Source::Row(row));
                let last = self.code.last_mut().expect("the load");
                *last = with_mask(*last, IDLE);
            }
            Machine::Avx2 => {
                let idle = self.vector(self.machine.registers() - 1);
                self.select_by(idle, dst, Source::Row(row), dst);
            }
        }
    }

    /// Emits an AVX-512 instruction with one source.
    pub fn one_of(&mut self, form: Code, dst: u8, a: Source) {
        let dst = self.vector(dst);
        let instruction = match a {
            Source::Register(a) => Instruction::with2(form, dst, self.vector(a)),
            memory => Instruction::with2(form, dst, self.memory(memory)),
        };
        self.push(instruction);
    }

    /// `dst`: the f16 in the low half of each dword of `a`, as f32. A signalling NaN becomes quiet.
    pub fn half_to_float(&mut self, dst: u8, a: u8) {
        match self.machine {
            Machine::Avx512 => {
                let (packed, to) = (Register::YMM0 + u32::from(dst), self.vector(dst));
                self.push(Instruction::with2(Code::EVEX_Vpmovdw_ymmm256_k1z_zmm, packed, self.vector(a)));
                self.push(Instruction::with2(Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae, to, packed));
            }
            Machine::Avx2 => {
                // Packing saturates, and takes the words of each half of the register for themselves.
                let low = self.constant(0xffff);
                self.two(Vector::And, dst, a, low);
                let (packed, to) = (Register::XMM0 + u32::from(dst), self.vector(dst));
                self.push(Instruction::with3(Code::VEX_Vpackusdw_ymm_ymm_ymmm256, to, to, to));
                self.push(Instruction::with3(Code::VEX_Vpermq_ymm_ymmm256_imm8, to, to, 0b00_00_10_00u32));
                self.push(Instruction::with2(Code::VEX_Vcvtph2ps_ymm_xmmm128, to, packed));
            }
        }
    }

    /// `dst`: the f32 in each dword of `a`, as f16 in the low half. `rounding` is Intel's: 0 to nearest even, 1 down,
    /// 2 up, 3 toward zero.
    pub fn float_to_half(&mut self, dst: u8, a: u8, rounding: u32) {
        let (to, a) = (self.vector(dst), self.vector(a));
        let (convert, extend, packed) = match self.machine {
            Machine::Avx512 => (
                Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae,
                Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256,
                Register::YMM0 + u32::from(dst),
            ),
            Machine::Avx2 => (
                Code::VEX_Vcvtps2ph_xmmm128_ymm_imm8,
                Code::VEX_Vpmovzxwd_ymm_xmmm128,
                Register::XMM0 + u32::from(dst),
            ),
        };
        self.push(Instruction::with3(convert, packed, a, rounding));
        self.push(Instruction::with2(extend, to, packed));
    }

    /// The function with the collected instructions as its body. The body runs once for each register full of
    /// lanes.
    pub fn finish(mut self) -> Result<Assembled, IcedError> {
        let body = std::mem::take(&mut self.code);
        let machine = self.machine;
        let passes = (LANES / machine.lanes()) as u32;
        let lane_bits = self.lane_bits();
        self.push(Instruction::with2(Code::Mov_r32_imm32, PASSES, passes));
        let top = self.code.len() as u64 + 1;
        self.idle_lanes(lane_bits);
        let first = self.code.len();
        self.code.extend(body);
        for (number, Label(label)) in std::mem::take(&mut self.jumps) {
            let target = first + self.labels[label] + 1;
            self.code[first + number].set_near_branch64(target as u64);
        }
        let step = (machine.lanes() * 4) as i32;
        self.push(Instruction::with2(Code::Add_rm64_imm32, ROWS, step));
        self.push(Instruction::with2(Code::Add_rm64_imm32, FRAME, step));
        if self.masked {
            self.push(Instruction::with2(Code::Shr_rm32_imm8, MASK, machine.lanes() as u32));
        }
        self.push(Instruction::with1(Code::Dec_rm32, PASSES));
        self.push(Instruction::with_branch(Code::Jne_rel32_64, top));
        self.code.push(Instruction::with(Code::VEX_Vzeroupper));
        self.code.push(Instruction::with(Code::Retnq));
        // Branches name instructions by their number.
        (1..).zip(&mut self.code).for_each(|(number, instruction)| instruction.set_ip(number));
        let block = InstructionBlock::new(&self.code, 0);
        let bytes = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE)?.code_buffer;
        let Self { code, pool, extent, .. } = self;
        Ok(Assembled { bytes, code, body: first, pool, extent })
    }

    /// AVX2: the bit of each lane in the mask.
    fn lane_bits(&mut self) -> Option<Source> {
        let bits = Lanes(std::array::from_fn(|lane| 1 << (lane % 8)));
        (self.masked && self.machine == Machine::Avx2).then(|| self.constant_lanes(bits))
    }

    /// Emits the computation of the idle lanes of the current pass.
    fn idle_lanes(&mut self, lane_bits: Option<Source>) {
        match (self.machine, lane_bits) {
            (Machine::Avx512, _) if self.masked => {
                self.push(Instruction::with2(Code::VEX_Kmovw_kr_r32, IDLE, MASK));
                self.push(Instruction::with2(Code::VEX_Knotw_kr_kr, IDLE, IDLE));
            }
            (Machine::Avx2, Some(bits)) => {
                let idle = self.machine.registers() - 1;
                let low = Register::XMM0 + u32::from(idle);
                self.push(Instruction::with2(Code::VEX_Vmovd_xmm_rm32, low, MASK));
                self.push(Instruction::with2(Code::VEX_Vpbroadcastd_ymm_xmmm32, self.vector(idle), low));
                self.two(Vector::And, idle, idle, bits);
                // All ones where the bit is not set. AVX2 has no free comparison with zero in memory.
                self.two(Vector::Xor, 0, 0, Source::Register(0));
                let form = Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256;
                self.flag_of_two(form, Flag(idle), idle, Source::Register(0));
            }
            _ => {}
        }
    }
}

/// Indices of every second dword of two registers, from `first` on, for each half.
const fn pairs(first: u32) -> [u32; LANES] {
    let mut out = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        out[lane] = first + 2 * (lane as u32 % 16);
        lane += 1;
    }
    out
}

fn with_mask(mut instruction: Instruction, mask: Register) -> Instruction {
    instruction.set_op_mask(mask);
    instruction
}
