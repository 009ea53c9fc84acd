//! Prints instructions in the syntax of the freedreno disassembler.
use super::cat1::is_half;
use super::convert::{float_to_half, half_to_float};
use super::line::Line;
use super::operand::{FLUT_TEXT, Operand, Round, Src, Type};
use super::*;
use std::fmt::{self, Write};

impl fmt::Display for Instr {
    /// Prints the instruction without its program: a target is an offset, `#-3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.show(None).as_str())
    }
}

/// An instruction of a program. Targets print as the labels `l<index>`.
pub struct InProgram<'a> {
    instr: &'a Instr,
    index: usize,
    len: usize,
}

impl Instr {
    /// The text of this instruction at `index` of a program of `len`.
    pub const fn in_program(&self, index: usize, len: usize) -> InProgram<'_> {
        InProgram { instr: self, index, len }
    }

    /// The index of the target of this instruction, which is at `index` in a program of `len` instructions.
    /// `None` if it has no target, or one outside of the program.
    pub fn target(&self, index: usize, len: usize) -> Option<usize> {
        match &self.body {
            Body::Cat0(instr) if instr.op.class().has_target() => {
                let target = i64::try_from(index).ok()? + i64::from(instr.offset);
                usize::try_from(target).ok().filter(|&target| target < len)
            }
            _ => None,
        }
    }

    fn show(&self, target: Option<usize>) -> Line {
        let mut line = Line::new();
        let Flags { sy, ss, jp, ul } = self.flags;
        line.flag(sy, "(sy)");
        line.flag(ss, "(ss)");
        match &self.body {
            Body::Cat0(instr) => {
                line.flag(instr.eq, "(eq)");
                line.flag(jp, "(jp)");
                cat0(&mut line, instr, target);
            }
            Body::Unknown => {
                line.put("raw 0x");
                line.hex(self.extra, 16);
                return line;
            }
            body => {
                line.flag(jp, "(jp)");
                line.body(self.isa, body, ul);
            }
        }
        if self.extra != 0 {
            line.put(" {0x");
            line.hex(self.extra, 1);
            line.put("}");
        }
        line
    }
}

impl fmt::Display for InProgram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.instr.show(self.instr.target(self.index, self.len)).as_str())
    }
}

impl Line {
    fn hex(&mut self, value: u64, digits: usize) {
        // Writing to a line cannot fail.
        let _ = write!(self, "{value:0digits$x}");
    }

    fn body(&mut self, isa: Isa, body: &Body, ul: bool) {
        match body {
            Body::Cat1(instr) => cat1(self, isa, instr, ul),
            Body::Cat2(instr) => cat2(self, instr, ul),
            Body::Cat3(instr) => cat3(self, isa, instr, ul),
            Body::Cat4(instr) => cat4(self, instr, ul),
            Body::Cat5(instr) => cat5(self, isa, instr),
            Body::Cat6(instr) => cat6(self, isa, instr),
            Body::Cat7(instr) => cat7(self, instr),
            Body::Cat0(_) | Body::Unknown => {}
        }
    }

    /// Appends (rptN).
    fn repeat(&mut self, repeat: u8) {
        let texts = ["", "(rpt1)", "(rpt2)", "(rpt3)", "(rpt4)", "(rpt5)", "(rpt6)", "(rpt7)"];
        self.put(texts[usize::from(repeat & 7)]);
    }

    /// Appends the flags between (jp) and the mnemonic of an ALU op. An instruction has a repeat or nops.
    fn alu_flags(&mut self, sat: bool, repeat: u8, nops: u8, ul: bool) {
        self.flag(sat, "(sat)");
        self.repeat(repeat);
        self.put(["", "(nop1) ", "(nop2) ", "(nop3) "][usize::from(nops & 3)]);
        self.flag(ul, "(ul)");
    }

    pub(super) fn half_reg(&mut self, half: bool, reg: Reg) {
        self.flag(half, "h");
        self.reg(reg);
    }

    fn modifiers(&mut self, operand: &Operand) {
        self.flag(operand.last, "(last)");
        self.put(match (operand.neg, operand.abs) {
            (false, false) => "",
            (true, false) => "(neg)",
            (false, true) => "(abs)",
            (true, true) => "(absneg)",
        });
        self.flag(operand.step, "(r)");
    }

    fn operand(&mut self, operand: &Operand, half: bool) {
        self.modifiers(operand);
        match operand.src {
            Src::Immediate(value) if half => {
                self.put("h(");
                self.signed(value.into());
                self.put(")");
            }
            Src::Immediate(value) => self.signed(value.into()),
            Src::Flut { index, half } => {
                self.flag(half, "h");
                self.put(FLUT_TEXT[usize::from(index) % FLUT_TEXT.len()]);
            }
            src => self.register(src, half),
        }
    }

    /// Appends a source of category 3, as Mesa 25 prints it: (last) behind the other flags, immediates without a
    /// mark, and each offset.
    fn third(&mut self, operand: &Operand, half: bool) {
        self.flag(operand.neg, "(neg)");
        self.flag(operand.step, "(r)");
        self.flag(operand.last, "(last)");
        match operand.src {
            Src::Immediate(value) => self.signed(value.into()),
            Src::RelativeGpr(0) => self.put(if half { "hr<a0.x + 0>" } else { "r<a0.x + 0>" }),
            Src::RelativeConst(0) => self.put(if half { "hc<a0.x + 0>" } else { "c<a0.x + 0>" }),
            src => self.register(src, half),
        }
    }

    fn register(&mut self, src: Src, half: bool) {
        self.flag(half, "h");
        match src {
            Src::Gpr(reg) => self.reg(reg),
            Src::Const(index) => {
                self.put("c");
                self.number((index >> 2).into());
                self.component(index as u8);
            }
            Src::RelativeGpr(offset) => self.relative("r<a0.x", offset.into()),
            Src::RelativeConst(offset) => self.relative("c<a0.x", offset.into()),
            Src::Immediate(_) | Src::Flut { .. } => {}
        }
    }

    fn relative(&mut self, base: &str, offset: i32) {
        self.put(base);
        if offset != 0 {
            self.put(" + ");
            self.signed(offset);
        }
        self.put(">");
    }

    fn float(&mut self, value: f32) {
        let start = self.len();
        let same = |text: &str| text.parse().is_ok_and(|back: f32| back.to_bits() == value.to_bits());
        if value.is_nan() {
            self.put("0x");
            return self.hex(value.to_bits().into(), 8);
        }
        let _ = write!(self, "{value:.6}");
        if !same(&self.as_str()[start..]) {
            self.truncate(start);
            let _ = write!(self, "{value}");
        }
    }

    /// Appends an f16: in Mesa's form if that identifies the value, else with all digits.
    fn half_float(&mut self, bits: u16) {
        let start = self.len();
        let value = half_to_float(bits);
        let same = |text: &str| text.parse().is_ok_and(|back| float_to_half(back, Round::Even) == bits);
        if value.is_nan() {
            self.put("0x");
            return self.hex(bits.into(), 4);
        }
        let _ = write!(self, "{value:.6}");
        if !same(&self.as_str()[start..]) {
            self.truncate(start);
            let _ = write!(self, "{value}");
        }
    }
}

fn cat0(line: &mut Line, instr: &Cat0, target: Option<usize>) {
    line.repeat(instr.repeat);
    line.put(instr.op.name());
    let class = instr.op.class();
    match class {
        Cat0Class::BranchIndex => {
            line.put(".");
            line.number(instr.index.into());
        }
        Cat0Class::Cluster => {
            line.put(".w");
            line.number(2 << (instr.index & 7));
        }
        _ => {}
    }
    let mut separator = " ";
    let shown = match instr.op.means_p0x() && instr.predicate1 == Predicate::default() {
        true => 0,
        false => class.predicates(),
    };
    for predicate in [instr.predicate1, instr.predicate2].iter().take(shown) {
        line.put(separator);
        line.flag(predicate.inverted, "!");
        line.put("p0");
        line.component(predicate.component);
        separator = ", ";
    }
    if class.has_target() {
        line.put(separator);
        line.put("#");
        match target {
            Some(index) => {
                line.put("l");
                line.number(index as u32);
            }
            None => line.signed(instr.offset),
        }
    }
}

fn cat1(line: &mut Line, isa: Isa, instr: &Cat1, ul: bool) {
    if instr.op.class() == Cat1Class::Moves {
        return cat1_moves(line, isa, instr, ul);
    }
    if instr.op == Cat1Op::Movmsk {
        line.flag(ul, "(ul)");
        line.put("movmsk.w");
        line.number((u32::from(instr.repeat) + 1) * 32);
        line.put(" ");
        return cat1_dst(line, instr, false);
    }
    line.repeat(instr.repeat);
    line.flag(ul, "(ul)");
    if instr.is_mova() || instr.is_mova1() {
        line.put(if instr.is_mova() { "mova " } else { "mova1 " });
        line.put(instr.round.name());
        line.put(if instr.is_mova() { "a0.x" } else { "a1.x" });
    } else {
        line.put(if instr.src_type == instr.dst_type { "mov." } else { "cov." });
        line.put(instr.src_type.name());
        line.put(instr.dst_type.name());
        line.put(" ");
        line.put(instr.round.name());
        cat1_dst(line, instr, is_half(isa, instr.dst_type));
    }
    line.put(", ");
    line.flag(instr.hold, "(r)");
    match &instr.src {
        Cat1Src::Operand(operand) => line.operand(operand, is_half(isa, instr.src_type)),
        Cat1Src::Immediate(bits) => cat1_immediate(line, instr.src_type, *bits),
    }
}

/// `swz.u32u32 r0.x, r0.y, r0.y, r0.x`: all destinations, then all sources.
fn cat1_moves(line: &mut Line, isa: Isa, instr: &Cat1, ul: bool) {
    line.flag(ul, "(ul)");
    line.put(instr.op.name());
    line.put(".");
    line.put(instr.src_type.name());
    line.put(instr.dst_type.name());
    line.put(" ");
    line.put(instr.round.name());
    let halves = [instr.dst_type, instr.src_type].map(|ty| is_half(isa, ty));
    let mut separator = "";
    for (registers, half) in instr.moved().into_iter().zip(halves) {
        for reg in registers.into_iter().flatten() {
            line.put(separator);
            line.half_reg(half, reg);
            separator = ", ";
        }
    }
}

fn cat1_dst(line: &mut Line, instr: &Cat1, half: bool) {
    line.flag(half, "h");
    match instr.dst {
        Cat1Dst::Reg(reg) => line.reg(reg),
        Cat1Dst::Relative(offset) => line.relative("r<a0.x", offset.into()),
    }
}

fn cat1_immediate(line: &mut Line, ty: Type, bits: u32) {
    match ty {
        Type::F16 => {
            line.put("h(");
            line.half_float(bits as u16);
            line.put(")");
        }
        Type::F32 => {
            line.put("(");
            line.float(f32::from_bits(bits));
            line.put(")");
        }
        Type::U32 if bits > 0x1000 => {
            line.put("0x");
            line.hex(bits.into(), 1);
        }
        Type::S16 => line.signed((bits as i16).into()),
        Type::S32 => line.signed(bits as i32),
        _ => line.number(bits),
    }
}

fn cat2(line: &mut Line, instr: &Cat2, ul: bool) {
    line.alu_flags(instr.sat, instr.repeat, instr.nops, ul);
    line.put(instr.op.name());
    if let Some(cond) = instr.cond {
        line.put(".");
        line.put(cond.name());
    }
    line.put(" ");
    line.flag(instr.end_input, "(ei)");
    line.half_reg(instr.dst_half, instr.dst);
    line.put(", ");
    line.operand(&instr.src1, instr.half);
    if let Some(src2) = &instr.src2 {
        line.put(", ");
        line.operand(src2, instr.half);
    }
}

fn cat3(line: &mut Line, isa: Isa, instr: &Cat3, ul: bool) {
    line.alu_flags(instr.sat, instr.repeat, instr.nops, ul);
    line.put(instr.op.name());
    if instr.op.class() == Cat3Class::Dot {
        line.put(if instr.mixed { ".mixed" } else { ".unsigned" });
        line.put(if instr.high { ".high" } else { ".low" });
    }
    line.put(" ");
    line.half_reg(instr.dst_half, instr.dst);
    for operand in [&instr.src1, &instr.src2, &instr.src3] {
        line.put(", ");
        match isa {
            Isa::A4xx => line.operand(operand, instr.half),
            Isa::A5xx | Isa::A6xx => line.third(operand, instr.half),
        }
    }
}

fn cat4(line: &mut Line, instr: &Cat4, ul: bool) {
    line.alu_flags(instr.sat, instr.repeat, 0, ul);
    line.put(instr.op.name());
    line.put(" ");
    line.half_reg(instr.dst_half, instr.dst);
    line.put(", ");
    line.operand(&instr.src, instr.half);
}

fn cat5(line: &mut Line, isa: Isa, instr: &Cat5) {
    line.put(instr.op.name());
    let class = instr.op.class();
    match class {
        Cat5Class::Plain => return,
        Cat5Class::Cluster1 => {
            line.put(".w");
            line.number(2 << (instr.cluster & 3));
        }
        _ => cat5_flags(line, isa, instr),
    }
    line.put(" ");
    if class != Cat5Class::Untyped1 {
        line.put("(");
        line.put(instr.ty.name());
        line.put(")");
    }
    line.put("(");
    for (bit, name) in ["x", "y", "z", "w"].iter().enumerate() {
        line.flag(instr.wrmask >> bit & 1 != 0, name);
    }
    line.put(")");
    line.half_reg(instr.ty.is_half(), instr.dst);
    for (present, reg) in [(instr.has_src1(), instr.src1), (instr.has_src2(), instr.src2)] {
        if present {
            line.put(", ");
            line.half_reg(instr.half, reg);
        }
    }
    line.offset(instr.offset.into());
    cat5_slots(line, isa, instr);
}

fn cat5_flags(line: &mut Line, isa: Isa, instr: &Cat5) {
    line.flag(instr.three_d, ".3d");
    line.flag(instr.array, ".a");
    line.flag(instr.offsets, ".o");
    line.flag(instr.projective, ".p");
    line.flag(instr.shadow, instr.op.shadow_name(isa));
    match instr.slots {
        Cat5Slots::Indirect { nonuniform, .. } => {
            line.put(if nonuniform { ".s2en.nonuniform" } else { ".s2en.uniform" });
        }
        Cat5Slots::Bindless { base, index, .. } => {
            if let BindlessIndex::Register { nonuniform, .. } = index {
                line.put(if nonuniform { ".s2en.nonuniform" } else { ".s2en.uniform" });
            }
            line.put(".base");
            line.number(base.into());
        }
        Cat5Slots::Immediate { .. } => {}
    }
    line.flag(instr.one_d, ".1d");
}

fn cat5_slots(line: &mut Line, isa: Isa, instr: &Cat5) {
    let class = instr.op.class();
    let mut numbers = |sampler: u8, texture: Option<u8>| {
        if class.has_sampler() {
            line.put(", s#");
            line.number(sampler.into());
        }
        if let Some(texture) = texture.filter(|_| class.has_texture()) {
            line.put(", t#");
            line.number(texture.into());
        }
    };
    match instr.slots {
        Cat5Slots::Immediate { sampler, texture } => numbers(sampler, Some(texture)),
        Cat5Slots::Indirect { reg, .. } => {
            line.put(", h");
            line.reg(reg);
        }
        Cat5Slots::Bindless { a1, index, .. } => {
            match index {
                BindlessIndex::Immediate { sampler, texture } => {
                    numbers(sampler, (!a1 || isa != Isa::A6xx).then_some(texture));
                }
                BindlessIndex::Register { reg, .. } => {
                    line.put(", ");
                    line.reg(reg);
                }
            }
            line.flag(a1, ", a1.x");
        }
    }
}

fn cat6(line: &mut Line, isa: Isa, instr: &Cat6) {
    if let Cat6Form::Descriptor(descriptor) = &instr.form {
        return descriptor.print(line, instr.op, instr.ty);
    }
    if instr.op.class() == Cat6Class::Atomic {
        line.put(match instr.form {
            Cat6Form::AtomicSlot { .. } => "atomic.s.",
            Cat6Form::AtomicGlobal { .. } => "atomic.g.",
            _ => "atomic.",
        });
    }
    line.put(instr.op.name());
    let half = instr.is_marked_half(isa);
    match instr.form {
        Cat6Form::Load { dst, address, offset, count } => {
            line.suffix(instr.ty);
            line.half_reg(half, dst);
            line.put(", ");
            line.address(instr.op, address, offset);
            line.count(count);
        }
        Cat6Form::Store { value, address, offset, count } => {
            line.suffix(instr.ty);
            line.address(instr.op, address, offset);
            line.put(", ");
            line.half_reg(half, value);
            line.count(count);
        }
        Cat6Form::Varying { dst, location, count } => {
            line.suffix(instr.ty);
            line.half_reg(half, dst);
            line.put(", l[");
            line.number(location.into());
            line.put("]");
            line.count(count);
        }
        Cat6Form::Info { dims, dst, slot } => {
            line.put(".");
            line.put(instr.ty.name());
            line.put(".");
            line.number(dims.into());
            line.put("d ");
            line.half_reg(half, dst);
            line.put(", ");
            line.slot(slot);
        }
        Cat6Form::BufferLoad { .. } | Cat6Form::ConstantLoad { .. } | Cat6Form::BufferStore { .. } => {
            cat6_buffer(line, instr, half);
        }
        Cat6Form::AtomicLocal { .. } | Cat6Form::AtomicSlot { .. } | Cat6Form::AtomicGlobal { .. } => {
            cat6_atomic(line, instr, instr.ty.atomic_name(isa));
        }
        _ => cat6_later(line, instr, half),
    }
}

/// The forms that came with A6xx.
fn cat6_later(line: &mut Line, instr: &Cat6, half: bool) {
    match instr.form {
        Cat6Form::IndexedLoad { dst, address, index, shift, offset, count } => {
            line.put(".a");
            line.suffix(instr.ty);
            line.half_reg(half, dst);
            line.put(", ");
            line.indexed(address, index, shift, offset);
            line.count(count);
        }
        Cat6Form::IndexedStore { value, address, index, shift, offset, count } => {
            line.put(".a");
            line.suffix(instr.ty);
            line.indexed(address, index, shift, offset);
            line.put(", ");
            line.half_reg(half, value);
            line.count(count);
        }
        Cat6Form::LoadConstants { target, address, offset, count } => {
            line.put(".k");
            line.suffix(instr.ty);
            line.target(target);
            line.put(", ");
            line.address(instr.op, address, offset);
            line.count(count);
        }
        Cat6Form::StoreConstants { target, value, count } => {
            line.suffix(instr.ty);
            line.target(target);
            line.put(", ");
            line.reg(value);
            line.count(count);
        }
        Cat6Form::Shuffle { mode, dst, src, fiber } => {
            line.put(".");
            line.put(mode.name());
            line.suffix(instr.ty);
            line.half_reg(half, dst);
            line.put(", ");
            line.half_reg(half, src);
            line.reg_or_imm(fiber);
        }
        _ => {}
    }
}

fn cat6_buffer(line: &mut Line, instr: &Cat6, half: bool) {
    match instr.form {
        Cat6Form::BufferLoad { view, dst, slot, src1, src2 } => {
            line.view(view, instr.ty.name(), " ");
            line.half_reg(half, dst);
            line.put(", ");
            line.slot(slot);
            line.reg_or_imm(src1);
            line.reg_or_imm(src2);
        }
        Cat6Form::ConstantLoad { components, dst, src1, src2, slot } => {
            line.put(".");
            line.number(components.into());
            line.put(" ");
            line.reg(dst);
            line.put(", ");
            line.slot(src1);
            line.reg_or_imm(src2);
            line.reg_or_imm(slot);
        }
        Cat6Form::BufferStore { view, slot, value, src2, src3 } => {
            line.view(view, instr.ty.name(), " ");
            line.slot(slot);
            line.put(", ");
            line.half_reg(half, value);
            line.reg_or_imm(src2);
            line.reg_or_imm(src3);
        }
        _ => {}
    }
}

/// An atomic. On memory of the chip's addresses or of a slot, the type is one of `name`.
fn cat6_atomic(line: &mut Line, instr: &Cat6, name: &str) {
    match instr.form {
        Cat6Form::AtomicLocal { view, dst, address, data } => {
            line.view(view, instr.ty.name(), ".l ");
            line.reg(dst);
            line.put(", l[");
            line.value(address);
            line.put("]");
            line.reg_or_imm(data);
        }
        Cat6Form::AtomicSlot { view, dst, slot, data, src2, src3 } => {
            line.view(view, name, ".g ");
            line.reg(dst);
            line.put(", ");
            line.slot(slot);
            line.reg_or_imm(data);
            line.reg_or_imm(src2);
            line.reg_or_imm(RegOrImm::Reg(src3));
        }
        Cat6Form::AtomicGlobal { view, dst, address, data } => {
            line.view(view, name, ".g ");
            line.reg(dst);
            line.reg_or_imm(address);
            line.reg_or_imm(data);
        }
        _ => {}
    }
}

impl Line {
    /// `g[r0.x+(r1.x+1)<<2]`, or with a larger shift `g[r0.x+r1.x<<4+1<<2]`
    fn indexed(&mut self, address: Reg, index: Reg, shift: u8, offset: u8) {
        self.put("g[");
        self.reg(address);
        self.put(if shift == 2 { "+(" } else { "+" });
        self.reg(index);
        if shift != 2 {
            self.put("<<");
            self.number(shift.into());
        }
        self.offset(offset.into());
        self.put(if shift == 2 { ")<<2]" } else { "<<2]" });
    }

    /// `c[4]`, `c[a1.x+4]`
    fn target(&mut self, target: ConstantTarget) {
        self.put("c[");
        match target.a1 {
            true => {
                self.put("a1.x");
                self.offset(target.offset.into());
            }
            false => self.number(target.offset.into()),
        }
        self.put("]");
    }

    pub(super) fn suffix(&mut self, ty: Type) {
        self.put(".");
        self.put(ty.name());
        self.put(" ");
    }

    fn address(&mut self, op: Cat6Op, address: Reg, offset: i16) {
        self.put(match op.class() {
            Cat6Class::LoadGlobal | Cat6Class::StoreGlobal => "g[",
            Cat6Class::LoadPrivate | Cat6Class::StorePrivate => "p[",
            _ => "l[",
        });
        self.reg(address);
        self.offset(offset.into());
        self.put("]");
    }

    fn count(&mut self, count: u8) {
        self.put(", ");
        self.number(count.into());
    }

    pub(super) fn view(&mut self, view: View, ty: &str, end: &str) {
        self.put(if view.typed { ".typed." } else { ".untyped." });
        self.number(view.dims.into());
        self.put("d.");
        self.put(ty);
        self.put(".");
        self.number(view.components.into());
        self.put(end);
    }

    fn slot(&mut self, slot: RegOrImm) {
        self.put("g[");
        self.value(slot);
        self.put("]");
    }

    pub(super) fn reg_or_imm(&mut self, value: RegOrImm) {
        self.put(", ");
        self.value(value);
    }

    fn value(&mut self, value: RegOrImm) {
        match value {
            RegOrImm::Reg(reg) => self.reg(reg),
            RegOrImm::Immediate(value) => self.number(value.into()),
        }
    }
}

fn cat7(line: &mut Line, instr: &Cat7) {
    line.put(instr.op.name());
    line.flag(instr.global, ".g");
    line.flag(instr.local, ".l");
    line.flag(instr.read, ".r");
    line.flag(instr.write, ".w");
    if let Some(names) = instr.op.class().choice() {
        line.put(names[usize::from(instr.second)]);
    }
}
