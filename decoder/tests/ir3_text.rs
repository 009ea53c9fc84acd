//! Test vectors: words with their texts, in both directions, and words that are no instruction.
use a4emu_decoder::adreno::ir3::program::{assemble, disassemble};
use a4emu_decoder::adreno::ir3::{Body, Instr};
use pretty_assertions::assert_eq;

/// Word and text; comments give the source.
const VECTORS: &[(u64, &str)] = &[
    // docs/hardware/ir3-isa.md, section 12: glxgears-a420.log and the freedreno wiki
    (0x03000000_00000000, "end"),
    (0x00000200_00000000, "(rpt2)nop"),
    (0x20244000_00000010, "mov.f32f32 r0.x, c4.x"),
    (0x200c4004_00000004, "cov.u32f32 r1.x, r1.x"),
    (0x40700000_10000002, "mul.f r0.x, r0.z, c0.x"),
    (0x40701004_00001011, "(ss)mul.f r1.x, c4.y, r0.x"),
    (0x40100002_00021021, "add.f r0.z, c8.y, r0.z"),
    (0x4050040d_00041017, "(sat)max.f r3.y, c5.w, r1.x"),
    (0x40b00004_00001034, "cmps.f.lt r1.x, c13.x, r0.x"),
    (0x63818000_00001004, "mad.f32 r0.x, c1.x, r0.w, r0.x"),
    (0x6382040a_00011028, "(sat)mad.f32 r2.z, c10.x, r1.x, r0.y"),
    (0x62018003_10309024, "mad.u24 r0.w, c9.x, (r)r0.w, c12.x"),
    (0x63020300_20008008, "(rpt3)mad.f16 hr0.x, hr2.x, (r)hr1.x, (r)hr0.x"),
    (0x80300000_00000000, "rsq r0.x, r0.x"),
    (0x57305b00_00002000, "(sy)(ss)(rpt3)bary.f hr0.x, (r)0, r0.x"),
    (0x473090fc_00002000, "(ss)bary.f (ei)r63.x, 0, r0.x"),
    (0xc7c60000_01c00000, "ldlv.u32 r0.x, l[0], 1"),
    (0xc7c60001_01c00002, "ldlv.u32 r0.y, l[1], 1"),
    (0xc286000b_0480c001, "ldlw.u32 r2.w, l[r0.w], 4"),
    // src/freedreno/ir3/tests/disasm.c, the rows marked 4XX
    (0xa0c81f02_00800001, "sam.s2en.uniform (f32)(xyzw)r0.z, r0.x, hr1.x"),
    (0xa0c81f02_80800001, "sam.s2en.nonuniform (f32)(xyzw)r0.z, r0.x, hr1.x"),
    // src/freedreno/ir3/tests/disasm.c, a comment: output of the vendor's compiler on an A418
    (0xc7860000_00810001, "ldc.1 r0.x, g[r1.x], 0, r0.x"),
    // src/freedreno/ir3/tests/disasm.c, the rows marked 5XX
    (0xc0ce0100_02800000, "stg.u8_32 g[r0.x], r0.x, 2"),
    // Mesa 25.0.7's disassembler
    (0x67848004_000a0008, "sad.s32 r1.x, r2.x, r2.y, r2.z"),
    // captures/facts/instructions.tsv: one of each memory form
    (0xc4360217_0c05462c, "atomic.s.add.untyped.4d.u32.1.g r5.w, g[1], r5.y, r3.x, r5.z"),
    (0xc6e60206_0080c601, "ldgb.untyped.4d.u32.1 r1.z, g[1], r0.w, 0"),
    (0xc7260000_05000612, "stgb.untyped.4d.u32.1 g[0], r2.y, r1.y, r0.x"),
    (0xc762000a_06003a16, "stib.typed.2d.f32.4 g[0], r2.w, r1.z, r2.z"),
    (0xc0c6030c_01800004, "stg.u32 g[r0.y+12], r0.z, 1"),
    (0xe0ba0000_00000000, "fence.l.r.w"),
    (0xf0620000_00000000, "(sy)bar.g.l"),
    // src/freedreno/ir3/tests/disasm.c: Mesa names them for every generation
    (0xe1080000_00000000, "sleep.l"),
    (0xe2080000_00000000, "dccln.all"),
    // made here: bits that a compiler never sets, and an unknown word
    (0x03000000_00000001, "end {0x1}"),
    (0xffffffff_ffffffff, "raw 0xffffffffffffffff"),
    (0x204cc000_3dcccccd, "mov.u32u32 r0.x, 0x3dcccccd"),
];

#[test]
fn vectors_print_and_parse() {
    for &(word, text) in VECTORS {
        assert_eq!(Instr::decode(word).to_string(), text, "{word:016x}");
        assert_eq!(text.parse::<Instr>().map(|instr| instr.encode()), Ok(word), "{text}");
    }
}

/// Text that must assemble and print back unchanged, without ignored bits: every form that a hand-written
/// shader may need.
const SOURCE: &str = "\
mov.f32f32 r0.x, (1.500000)
mov.f32f32 r0.x, (0.000001234)
mov.f32f32 r0.x, (inf)
mov.f32f32 r0.x, (0x7fc00001)
mov.f16f16 hr0.x, h(-0.500000)
mov.s16s16 hr0.x, -7
mov.u32u32 r0.x, 0x3dcccccd
mov.u32u32 r<a0.x + 5>, 4096
cov.f32f16 (even)hr1.y, c<a0.x + -3>
mova a0.x, hr0.x
mova1 a1.x, hr0.x
movmsk.w64 r0.x
(jp)(rpt5)nop
br !p0.y, #7
braa p0.x, !p0.w, #-1
brac.3 #2
getone #1
kill !p0.x
predt
predf
predt !p0.x
cmps.s.ge p0.x, r0.x, -5
(sat)add.u hr0.x, (neg)hr1.x, h(1023)
(rpt1)(ul)absneg.s r0.x, (absneg)(r)r<a0.x>
";

#[test]
fn forms_for_hand_written_shaders_assemble() {
    let more = "\
shl.b r0.x, (1.0), (1/log2(10))
sel.b32 r0.x, c1.x, r0.y, (neg)r0.z
sad.s32 r0.x, r0.x, r0.y, r0.z
sad.s16 hr0.x, hr0.x, hr0.y, hr0.z
sam.3d.a.o.p.s (s32)(yw)r1.x, r2.x, r3.x, s#15, t#127
sam.o (f16)(x)hr1.x, hr2.x, hr3.x, s#1, t#2
getbuf (u32)(x)r0.x, t#3
getsize.a (u16)(xyz)hr0.x, r0.x, t#3
dsxpp.1 (x)r0.x, r0.y
rgetinfo (u32)(xy)r0.x
ldg.f16 hr0.x, g[r1.x-4096], 4
ldl.u32 r0.x, l[r1.x+4095], 2
ldlw.f32 r0.x, l[r1.x], 1
ldp.u32 r0.x, p[r1.x+8], 1
stg.u16 g[r0.x-1], hr1.x, 1
stl.u32 l[r0.x+256], r1.x, 4
stlw.u32 l[r0.x], r1.x, 4
stp.u32 p[r0.x-4], r1.x, 4
ldlv.u32 r0.x, l[8191], 4
ldl.f16 hr0.x, l[r1.x], 2
ldlw.s16 hr0.x, l[r1.x], 2
ldp.u8 hr0.x, p[r1.x], 1
stl.f16 l[r0.x], hr1.x, 4
stlw.u16 l[r0.x], hr1.x, 4
stp.f16 p[r0.x], hr1.x, 4
ldlv.f16 hr0.x, l[0], 1
ldgb.untyped.4d.u16.1 hr0.x, g[1], r1.x, 3
stgb.untyped.4d.u16.1 g[1], hr0.x, r1.x, 3
ldc.4 r0.x, g[2], r1.x, 7
ldgb.untyped.4d.u32.4 r0.x, g[r5.x], r1.x, 3
ldib.typed.2d.f32.1 r0.x, g[2], r1.x, r2.x
stgb.untyped.4d.u32.1 g[0], r2.y, 4, r0.x
stib.typed.3d.s32.2 g[r1.x], r2.w, r1.z, 255
atomic.add.untyped.1d.u32.1.l r0.x, l[r1.x], r2.x
atomic.cmpxchg.untyped.1d.u32.1.l r0.x, l[4], r2.x
atomic.s.max.typed.2d.s32.1.g r0.x, g[r1.x], r2.x, r3.x, r4.x
resinfo.u32.2d r0.x, g[1]
(ss)fence.g.l.r.w
sleep.s
(jp)icinv
dcinv.shr
dcflu.all
(sy)(jp)end
";
    for text in SOURCE.lines().chain(more.lines()) {
        let instr: Instr = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(instr.to_string(), text);
        let back = Instr::decode(instr.encode());
        assert_eq!(back, instr, "{text}");
        assert_eq!(back.extra, 0, "{text}");
    }
}

/// The notations of other tools: Mesa 25 and the vendor's compiler.
#[test]
fn other_notations_mean_the_same() {
    let same = [
        ("predt p0.x", "predt"),
        ("predf p0.x {0x1}", "predf {0x1}"),
        ("cmps.s.eq p0.x, hr0.x, 1", "cmps.s.eq p0.x, hr0.x, h(1)"),
        ("sub.u hr0.x, 1, hr0.y", "sub.u hr0.x, h(1), hr0.y"),
        ("add.f hr0.x, hr0.x, (2.0)", "add.f hr0.x, hr0.x, h(2.0)"),
        ("mov.f16f16 hr0.x, (0.5)", "mov.f16f16 hr0.x, h(0.500000)"),
        ("(nop1) add.s r0.x, r0.x, r0.y", "add.s r0.x, (r)r0.x, r0.y"),
        ("(sat)(nop3) add.s r0.y, r0.y, r1.x", "(sat)add.s r0.y, (r)r0.y, (r)r1.x"),
        ("(nop2)mad.f32 r0.x, c0.x, r0.y, r0.z", "mad.f32 r0.x, c0.x, (r)r0.y, r0.z"),
        ("(nop3) absneg.s hr0.y, (abs)hr0.y", "absneg.s hr0.y, (abs)(r)hr0.y {0x8000000000000}"),
        ("stl.f16 l[r0.x], r1.x, 1", "stl.f16 l[r0.x], hr1.x, 1"),
    ];
    for (given, shown) in same {
        let instr: Instr = given.parse().unwrap_or_else(|error| panic!("{given}: {error}"));
        assert_eq!(instr.to_string(), shown, "{given}");
        assert_eq!(shown.parse::<Instr>(), Ok(instr), "{given}");
    }
    // tests/disasm.c of Mesa
    let words = [
        (0x42380c01_00040001, "(sat)(nop3) add.s r0.y, r0.y, r1.x"),
        (0x43480801_00008001, "(nop3) absneg.s hr0.y, (abs)hr0.y"),
        (0x40b80804_10408004, "(nop3) cmps.f.lt r1.x, (abs)r1.x, c16.x"),
    ];
    for (word, text) in words {
        assert_eq!(text.parse::<Instr>().map(|instr| instr.encode()), Ok(word), "{text}");
    }
    for wrong in ["(nop1)nop", "(nop1)mov.f32f32 r0.x, r0.y", "(nop4)add.s r0.x, r0.x, r0.y"] {
        assert!(wrong.parse::<Instr>().is_err(), "{wrong}");
    }
    for wrong in ["(nop1)(rpt1)add.s r0.x, r0.x, r0.y", "(nop1)add.s r0.x, (r)r0.x, r0.y"] {
        assert!(wrong.parse::<Instr>().is_err(), "{wrong}");
    }
}

#[test]
fn programs_have_labels_and_comments() {
    let source = "\
; counts down
  mov.u32u32 r0.x, 3 // three
loop: (jp)add.s r0.x, r0.x, -1;
  cmps.s.gt p0.x, r0.x, 0  @ again?
  br p0.x, #loop
  jump #l5
  end
";
    let words = assemble(source).unwrap();
    let mut text = String::new();
    disassemble(&words, &mut text).unwrap();
    let expected = "\
mov.u32u32 r0.x, 3
l1:
(jp)add.s r0.x, r0.x, -1
cmps.s.gt p0.x, r0.x, 0
br p0.x, #l1
jump #l5
l5:
end
";
    assert_eq!(text, expected);
    assert_eq!(assemble(&text), Ok(words));
}

#[test]
fn errors_say_line_and_column() {
    let cases = [
        ("nop\n  frobnicate r0.x", "2:3: expected a mnemonic of an A4xx instruction"),
        ("add.f r0.x, r0.x", "1:17: expected ,"),
        ("add.f r0.x, r0.x, r64.x", "1:19: expected a register, r0.x to r63.w, a0.x or p0.x"),
        ("  add.f r0.x, r0.x, hr0.x", "1:21: expected a full source, not marked h"),
        ("x: y: jump #z", "1:13: expected a label of this program"),
        ("x:\nx: end", "2:1: label x is already defined"),
        ("(sat)end", "1:1: expected no flag that this instruction does not have"),
        ("(rpt4)add.f r0.x, r0.x, r0.x", "1:1: expected no flag that this instruction does not have"),
        ("end end", "1:5: expected the end of the instruction"),
        ("mov.f32u32 r0.x, r0.x", "1:12: expected mov between equal types and cov between different ones"),
        (
            "add.u r0.x, r0.x, 1024",
            "1:19: expected a register, a constant, a float of the table or an integer, -1024 to 1023",
        ),
        ("ldg.u32 r0.x, g[r0.x+5000], 1", "1:21: expected ] or an offset, -4096 to 4095"),
    ];
    for (source, message) in cases {
        assert_eq!(assemble(source).unwrap_err().to_string(), message, "{source}");
    }
}

#[test]
fn words_of_later_generations_are_unknown() {
    // swz (A5xx), shlm (cat3 bit 13, A6xx), ldg.a (A6xx), bindless sam (A6xx)
    for word in [0x24000000_00000000, 0x64800000_00002000, 0xc0060000_01c00001, 0xa0c81f02_c0800001_u64] {
        let instr = Instr::decode(word);
        assert_eq!(instr.body, Body::Unknown, "{word:016x} {instr}");
        assert_eq!(instr.to_string(), format!("raw 0x{word:016x}"));
    }
}

/// Mnemonics of fdre-a3xx's assembler: the text of today, and the word, which that assembler makes too where
/// it is given here.
#[test]
fn old_mnemonics_are_those_of_today() {
    let today = |text: &str| text.parse::<Instr>().map(|instr| instr.to_string()).map_err(|e| e.to_string());
    for (old, new) in [
        ("(sy)(rpt3)mul.s hr1.y, (r)hr0.y, (r)hr1.y", "(sy)(rpt3)mul.s24 hr1.y, (r)hr0.y, (r)hr1.y"),
        ("mul.u r0.x, r1.x, c2.x", "mul.u24 r0.x, r1.x, c2.x"),
        ("ldg.s8 hr0.y,g[r1.w], 1", "ldg.u8_32 r0.y, g[r1.w], 1"),
        ("ldp.s8 hr0.y,p[r6.x+15], 1", "ldp.u8_32 r0.y, p[r6.x+15], 1"),
        ("(sy)stp.s8 p[r0.w-56],hr4.y, 1", "(sy)stp.u8_32 p[r0.w-56], r4.y, 1"),
        ("ldl.s8 hr0.y,l[r1.w], 1", "ldl.u8_32 r0.y, l[r1.w], 1"),
        ("cov.u32s8 hr0.x, r1.x", "cov.u32u8_32 r0.x, r1.x"),
        ("mov.s8s8 hr0.x, hr1.x", "mov.u8_32u8_32 r0.x, r1.x"),
    ] {
        assert_eq!(today(old).as_deref(), Ok(new), "{old}");
    }
    for (old, word) in [
        ("(sy)(rpt3)mul.s hr1.y, (r)hr0.y, (r)hr1.y", 0x56280b05_00050001_u64),
        ("(sy)sti.f16 hr1.y+2,hr0.y, 0", 0xd1800005_00004005),
        ("sti.f32 hr0.y+2,r3.y, 0", 0xc1820001_00034005),
        ("(sy)sti.s32 hr0.y+2,r4.x, 0", 0xd18a0001_00040005),
        ("sti.u32 hr0.y+2,r2.y, 0", 0xc1860001_00024005),
    ] {
        let instr: Instr = old.parse().unwrap();
        assert_eq!(instr.encode(), word, "{old}");
        let again: Instr = instr.to_string().parse().unwrap();
        assert_eq!(again.encode(), word, "{instr}");
    }
    for wrong in
        ["(ss)sti.f32 hr0.y+2, r3.y, 0", "sti.x hr0.y, r3.y, 0", "sti hr0.y, r3.y, 0", "mul.b r0.x, r1.x"]
    {
        assert!(today(wrong).is_err(), "{wrong}");
    }
}
