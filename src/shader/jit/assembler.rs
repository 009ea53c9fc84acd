//! Instructions of either machine, one after the other, and what they touch.
use hashbrown::HashMap;
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, IcedError, Instruction, InstructionBlock, MemoryOperand,
    Register,
};

use super::super::alu::Row;
use super::super::lanes::{LANES, Lanes};
use super::machine::{Machine, Vector};
use super::wall::{Extent, Field, Texels};

/// Bytes of a row.
const ROW: usize = size_of::<Lanes>();

/// The registers that code is called with.
const ROWS: Register = Register::RDI;
const POOL: Register = Register::RSI;
const FRAME: Register = Register::RDX;
const MASK: Register = Register::ECX;
const TEXTURES: Register = Register::R8;
/// Counts passes.
const PASSES: Register = Register::EAX;
/// Where a texture's dwords begin.
const ADDRESS: Register = Register::R9;

/// What an instruction reads last: a vector register, or a row of one of the slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Of the machine.
    Register(u8),
    /// Of the warp.
    Row(Row),
    /// Of the code's constants.
    Pool(usize),
    /// Of the frame: the lanes of the pass at hand.
    Frame(usize),
    /// Of a texture: a number that is the same for all lanes. AVX-512 alone.
    Texture(usize, Field),
}

/// A place in the code that is gone to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

/// Where a condition stands: a mask register, or a vector of all ones and zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag(pub u8);

/// A relation of two values, as an outcome of comparing them.
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
    /// One of them is a NaN.
    Unordered,
}

/// Collects instructions.
pub struct Assembler {
    /// What they are for.
    pub machine: Machine,
    /// Whether some lanes may not execute.
    pub masked: bool,
    code: Vec<Instruction>,
    pool: Vec<Lanes>,
    constants: HashMap<u32, usize>,
    extent: Extent,
    /// The number of the instruction that each label is before.
    labels: Vec<usize>,
    /// Instructions that go to a label.
    jumps: Vec<(usize, Label)>,
}

/// Code that is not placed yet.
pub struct Assembled {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its instructions, in order.
    pub code: Vec<Instruction>,
    /// The first of those that were collected.
    pub body: usize,
    /// Its constants.
    pub pool: Vec<Lanes>,
    /// What it touches.
    pub extent: Extent,
}

/// AVX-512: the lanes that do not execute. (AVX2 has them in its last vector register.)
const IDLE: Register = Register::K7;

impl Assembler {
    /// Nothing yet.
    pub fn new(machine: Machine, masked: bool) -> Self {
        let (code, pool, constants, extent, labels, jumps) = Default::default();
        Self { machine, masked, code, pool, constants, extent, labels, jumps }
    }

    /// Vector registers that values can be in: in AVX2 the last one says who executes, if that matters.
    pub fn registers(&self) -> u8 {
        self.machine.registers() - u8::from(self.masked && self.machine == Machine::Avx2)
    }

    /// How many instructions there are.
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

    /// A constant with a word for each lane.
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

    /// Bytes before the texture with this number.
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

    /// The last instruction reads `source` last: a number of a texture goes to all lanes.
    fn spread_last(&mut self, source: Source) {
        if let (Source::Texture(..), Some(last)) = (source, self.code.last_mut()) {
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

    /// Other instructions, of AVX-512 alone: `dst`, which they may read, becomes something of `a` and `b`.
    pub fn three(&mut self, form: Code, dst: u8, a: u8, b: Source, number: Option<u32>) {
        let (dst, a) = (self.vector(dst), self.vector(a));
        let instruction = match (b, number) {
            (Source::Register(b), None) => Instruction::with3(form, dst, a, self.vector(b)),
            (Source::Register(b), Some(number)) => Instruction::with4(form, dst, a, self.vector(b), number),
            (memory, None) => Instruction::with3(form, dst, a, self.memory(memory)),
            (memory, Some(number)) => Instruction::with4(form, dst, a, self.memory(memory), number),
        };
        self.push(instruction);
        self.spread_last(b);
    }

    /// All lanes of `dst` take a number of a texture.
    pub fn spread(&mut self, dst: u8, source: Source) {
        let (dst, memory) = (self.vector(dst), self.memory(source));
        self.push(Instruction::with2(Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32, dst, memory));
    }

    /// `dst` takes the dwords with these `numbers` of a texture, which become no higher than that of its last. What is in
    /// `flag` is lost.
    pub fn gather(&mut self, texture: usize, flag: Flag, dst: u8, numbers: u8) {
        self.two(Vector::MinUnsigned, numbers, numbers, Source::Texture(texture, Field::Last));
        self.address(texture);
        let index = self.vector(numbers);
        self.gather_from(Code::EVEX_Vpgatherdd_zmm_k1_vm32z, flag, dst, index);
    }

    /// Two registers take the dwords with these `numbers` of a texture, which become no higher than that of the last but
    /// one, and those behind them. What is in `flag`, `numbers` and `spare` is lost.
    pub fn gather_pairs(
        &mut self,
        texture: usize,
        flag: Flag,
        [first, second]: [u8; 2],
        [numbers, spare]: [u8; 2],
    ) {
        const EVEN: [u32; LANES] = pairs(0);
        const ODD: [u32; LANES] = pairs(1);
        self.two(Vector::MinUnsigned, numbers, numbers, Source::Texture(texture, Field::LastPair));
        self.address(texture);
        let low = Register::YMM0 + u32::from(numbers);
        self.gather_from(Code::EVEX_Vpgatherdq_zmm_k1_vm32y, flag, first, low);
        let form = Code::EVEX_Vextracti32x8_ymmm256_k1z_zmm_imm8;
        self.push(Instruction::with3(form, low, self.vector(numbers), 1u32));
        self.gather_from(Code::EVEX_Vpgatherdq_zmm_k1_vm32y, flag, second, low);
        // The even dwords of both, and the odd ones.
        let (even, odd) = (self.constant_lanes(Lanes(EVEN)), self.constant_lanes(Lanes(ODD)));
        self.load(numbers, odd);
        self.three(
            Code::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32,
            numbers,
            first,
            Source::Register(second),
            None,
        );
        self.load(spare, even);
        self.three(Code::EVEX_Vpermt2d_zmm_k1z_zmm_zmmm512b32, first, spare, Source::Register(second), None);
        self.load(second, Source::Register(numbers));
    }

    /// The address of a texture's first dword.
    fn address(&mut self, texture: usize) {
        let displacement = self.texture(texture) + Texels::ADDRESS;
        let memory = MemoryOperand::with_base_displ(TEXTURES, displacement as i64);
        self.push(Instruction::with2(Code::Mov_r64_rm64, ADDRESS, memory));
    }

    /// `dst` takes what is at these dwords from the address on, in all lanes.
    fn gather_from(&mut self, form: Code, flag: Flag, dst: u8, numbers: Register) {
        let flag = self.flag(flag);
        self.push(Instruction::with3(Code::VEX_Kxnorw_kr_kr_kr, flag, flag, flag));
        // So that it does not wait for what was in it.
        self.two(Vector::Xor, dst, dst, Source::Register(dst));
        let memory = MemoryOperand::with_base_index_scale(ADDRESS, numbers, 4);
        let gather = Instruction::with2(form, self.vector(dst), memory);
        self.push(gather.map(|gather| with_mask(gather, flag)));
    }

    /// A label that is bound later.
    pub fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() - 1)
    }

    /// What comes next is where the label is.
    pub fn bind(&mut self, Label(label): Label) {
        self.labels[label] = self.code.len();
    }

    /// Goes there.
    pub fn jump(&mut self, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.push(Instruction::with_branch(Code::Jmp_rel32_64, 0));
    }

    /// Goes there unless `flag` is set in all lanes. AVX-512 alone.
    pub fn jump_unless_all(&mut self, flag: Flag, to: Label) {
        let flag = self.flag(flag);
        self.push(Instruction::with2(Code::VEX_Kortestw_kr_kr, flag, flag));
        self.jumps.push((self.code.len(), to));
        self.push(Instruction::with_branch(Code::Jae_rel32_64, 0));
    }

    /// `dst = . a`
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

    /// A register takes a row.
    pub fn load(&mut self, dst: u8, source: Source) {
        self.one(Vector::Load, dst, source);
    }

    /// Memory takes a register, in all lanes.
    pub fn store(&mut self, to: Source, src: u8) {
        let (form, src) = (self.machine.form(Vector::Store), self.vector(src));
        let memory = self.memory(to);
        self.push(Instruction::with2(form, memory, src));
    }

    /// Which lanes of `a` and `b` are in a relation, as floats.
    pub fn compare(&mut self, flag: Flag, relation: Relation, a: u8, b: Source) {
        // Intel's predicates: ordered and quiet, but not equal.
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

    /// Lanes in which `a` and `b` have a bit in common, or have none. AVX-512 alone.
    pub fn test(&mut self, flag: Flag, common: bool, a: u8, b: Source) {
        let form = match common {
            true => Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32,
            false => Code::EVEX_Vptestnmd_kr_k1_zmm_zmmm512b32,
        };
        self.flag_of_two(form, flag, a, b);
    }

    /// An integer comparison to a flag: those of AVX-512 take a predicate, those of AVX2 are a form each.
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

    /// `dst` becomes `row` in the lanes that do not execute.
    pub fn merge(&mut self, dst: u8, row: Row) {
        debug_assert!(self.masked);
        match self.machine {
            // Where nobody executes the row is loaded.
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

    /// Other instructions, of AVX-512 alone, with one source.
    pub fn one_of(&mut self, form: Code, dst: u8, a: Source) {
        let dst = self.vector(dst);
        let instruction = match a {
            Source::Register(a) => Instruction::with2(form, dst, self.vector(a)),
            memory => Instruction::with2(form, dst, self.memory(memory)),
        };
        self.push(instruction);
    }

    /// The function whose body is what was collected: it is gone through once for each register full of lanes.
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

    /// AVX2: the bit of the mask that is each lane's.
    fn lane_bits(&mut self) -> Option<Source> {
        let bits = Lanes(std::array::from_fn(|lane| 1 << (lane % 8)));
        (self.masked && self.machine == Machine::Avx2).then(|| self.constant_lanes(bits))
    }

    /// Spreads which lanes of the pass at hand do not execute.
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
                // All ones where the bit is not set: in AVX2 nothing is compared with zero in memory for free.
                self.two(Vector::Xor, 0, 0, Source::Register(0));
                let form = Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256;
                self.flag_of_two(form, Flag(idle), idle, Source::Register(0));
            }
            _ => {}
        }
    }
}

/// In each half the numbers of every second dword of two registers, from `first` on.
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
