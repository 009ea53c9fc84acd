//! PicoGpu's assembler: accepted and refused sources, and their bytes (facts from its public sources,
//! assembler and shader-unit tests; vectors made by its own assembler, of sources made here).

mod seed;

use a4emu_decoder::isa::pico::command::Command;
use a4emu_decoder::isa::pico::{Form, Instr, Io, Mask, Op, assemble, decode_program};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use seed::random_cases;

/// A vertex shader around `code`.
fn vertex(code: &str) -> String {
    format!("#vertexShader\n#input r0.xyzw\n#output r12.xyzw\n{code}")
}

fn hex(words: &[u32]) -> String {
    words.iter().map(|word| format!("{word:08x}")).collect::<Vec<_>>().join(" ")
}

fn check_rejected(source: &str, at: (usize, usize), message: &str) {
    let error = assemble(source).expect_err(source);
    assert_eq!(
        (error.line, error.column, error.reason.to_string().as_str()),
        (at.0, at.1, message),
        "{source}"
    );
}

#[test]
fn bytes_are_those_of_picogpu() {
    let source = "#vertexShader\n#input r0.xyz\n#output r12.xyzw\niadd r4.xy r0 100\niadd r4.z r0 1000\n\
                  iadd r4.w r0 10000\nmov r12 r4\n";
    assert_eq!(
        hex(&assemble(source).unwrap().binary()),
        "0c308024 6180c3cc 00000030 00000020 00000021 00030112 00000064 00008112 000003e8 00004112 00002710 0003d31e"
    );
}

#[test]
fn accepts_what_picogpu_accepts() {
    let accepted = [
        "#vertexShader\n#input r0.xyzw\n#output r12.xyzw\nmov r12 r0\n",
        "#vertexShader\n#input r0.xyzw\n#input r1.xyz\n#input r2.xyz\n#output r12.xyzw\n#output r13.xyz\n\
         #output r14.xyz\n#uniform r5.x\n#uniform r6.x\n#uniform r7.x\nmov r12 r0\nmov r13 r1\nmov r14 r2\n",
        "#vertexShader\n#input r13.xyzw\n#output r13.xyzw\nmov r0 r0",
        "#fragmentShader\n#input r0.xyzw\n#input r1.xy\n#output r12.xyzw\nmov r2    r0\nmov r2.xw r1\n\
         fadd r2 r2 r2\nmov r12 r2\nswizzle r12 r12.wzyx\n",
        "#vertexShader\n#input r0.xyzw\n#output r0.xyzw\n#undefinedRegs\nmov r0 r0",
        "// comment\n#vertexShader #input r0.x // two on a line\n#output r1.xyzw\nfinit r1 2.f 4. -8.5f\ntrap",
    ];
    for source in accepted {
        assemble(source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    }
}

#[test]
fn rejects_broken_directives() {
    let code = "#output r12.xyzw\nmov r12 r0\n";
    check_rejected(
        "#vertexShader\n#input r0.xyzw\n#output r12.xyzw",
        (3, 17),
        "a program has at least one instruction",
    );
    check_rejected(
        "#fragmentShader\n#input r3.xyzw\n#output r3.xyzw\nmov r3 r3",
        (3, 9),
        "r3 is the position, which a fragment shader cannot put out as its colour",
    );
    check_rejected(&format!("#vertexShader\n{code}"), (3, 1), "a vertex shader has at least one input");
    check_rejected(
        "#vertexShader\n#input r0.x\nmov r12 r0",
        (3, 1),
        "a vertex shader has at least one output",
    );
    check_rejected(&format!("#fragmentShader\n{code}"), (3, 1), "a fragment shader has at least one input");
    check_rejected(
        "#vertexShader\n#input r0.x\n#output r0.xy\nmov r0 r0",
        (3, 9),
        "the first output of a vertex shader is its position, of four components",
    );
    check_rejected(
        &format!("#fragmentShader\n#input r0.xy\n{code}"),
        (2, 8),
        "the first input of a fragment shader is its position, of four components",
    );
    let one_color = "a fragment shader has exactly one output, a colour of four components";
    check_rejected("#fragmentShader\n#input r0.xyzw\nmov r12 r0\n", (3, 1), one_color);
    check_rejected("#fragmentShader\n#input r0.xyzw\n#output r1.xyz\nmov r1 r0\n", (4, 1), one_color);
    check_rejected(&format!("#fragmentShader\n#input r0.xyzw\n#output r13.x\n{code}"), (5, 1), one_color);
    check_rejected(
        &format!("#input r0.xyzw\n{code}"),
        (3, 1),
        "one of #vertexShader and #fragmentShader must be given",
    );
    check_rejected("#vertexShader\n#vertexShader\n", (2, 1), "the type of the shader is given twice");
    check_rejected("#vertexShader\n#fragmentShader\n", (2, 1), "the type of the shader is given twice");
    check_rejected("#undefinedRegs\n#undefinedRegs\n", (2, 1), "#undefinedRegs is given twice");
    check_rejected("#nothing r0.x", (1, 1), "unknown instruction or directive `#nothing`");
    check_rejected("mov r0 r0", (1, 1), "a program begins with its directives");
    check_rejected("", (1, 1), "a program begins with its directives");
}

#[test]
fn rejects_broken_registers_of_directives() {
    let order = |what| format!("components of an {what} are x, xy, xyz or xyzw");
    check_rejected("#input r0.xz", (1, 10), &order("input"));
    check_rejected("#output r12.xzw", (1, 12), &order("output"));
    check_rejected("#input r0.xx", (1, 10), "a component can be used only once in a mask");
    check_rejected("#input r0", (1, 10), "expected a component mask, found the end of the program");
    for what in ["input", "output", "uniform"] {
        let four: String = (0..4).map(|n| format!("#{what} r{n}.x ")).collect();
        let column = four.len() - 4;
        check_rejected(&four, (1, column), &format!("too many {what} directives: 3 at most"));
        let twice = format!("#{what} r5.x\n#{what} r5.xy");
        check_rejected(&twice, (2, what.len() + 3), &format!("r5 is in more than one {what} directive"));
    }
    check_rejected("#input r16.x", (1, 10), "expected a component mask, found `6.`");
    check_rejected("#input q.x", (1, 8), "unknown instruction or directive `q`");
}

/// Warnings for sources that PicoGpu's assembler accepts without a message, with position and text.
#[test]
fn takes_with_a_warning_what_is_hardly_meant() {
    let both = |code: &str| format!("#vertexShader\n#input r0.xyzw\n#input r3.x\n#output r0.xyzw\n{code}");
    let warned = |source: &str| -> Vec<String> {
        let shader = assemble(source).unwrap_or_else(|error| panic!("{error}\n{source}"));
        shader.warnings.iter().map(ToString::to_string).collect()
    };
    for (code, register) in [
        ("iadd r0 r0 1", 0),
        ("mov r0.x r3", 0),
        ("swizzle r0 r0.wzyx", 0),
        ("fcross r0 r0 r3", 0),
        ("finit r3.yzw 1.0", 3),
        ("imax r3 r0 r0", 3),
    ] {
        let said = |column: usize| {
            format!(
                "5:{column}: r{register} is an input and is overwritten, which PicoGpu's documents forbid"
            )
        };
        assert_eq!(warned(&both(code)), [said(1)]);
        assert_eq!(warned(&both(&format!("mov r0 r0 {code}"))), [said(11)]);
    }
    for code in ["mov r0 r0", "mov r0.xy r0", "mov r1 r0\niadd r1 r1 1\nmov r2 r3", "trap"] {
        assert_eq!(warned(&both(code)), [""; 0], "{code}");
    }
    let unordered = vertex("trap").replace("r0.xyzw", "r0.yx");
    assert!(warned(&unordered)[0].starts_with("2:10: the order of components of an input has no effect"));
    let shared = vertex("trap").replace("#output", "#uniform r0.x #output");
    assert!(warned(&shared)[0].starts_with("3:10: r0 is both an input and a uniform"));
    assert_eq!(
        warned(&vertex("iinit r1 9999999999")),
        ["4:10: 9999999999 does not fit 32 bits and becomes another number"]
    );
    assert_eq!(warned(&vertex("iadd r1 r16")), ["4:9: r16 is read as r1 and 6: registers are r0 to r15"]);
    assert!(warned(&vertex("fmad r1 r2 r3 r4"))[0].starts_with("4:1: fmad has the opcode of fcross2"));
}

#[test]
fn rejects_broken_instructions() {
    let check =
        |code: &str, column: usize, message: &str| check_rejected(&vertex(code), (4, column), message);
    check("mov r12 r0.xyz", 11, "expected an instruction, found `.`");
    check("swizzle r12 r0.xyw", 19, "expected four components, found the end of the program");
    check("fcross r12.x r0 r1", 11, "expected a register, found `.`");
    check("mov r12.xx r0", 8, "a component can be used only once in a mask");
    check("mov r16 r0", 5, "r16 is read as r1 and 6: registers are r0 to r15");
    check("frob r12 r0", 1, "unknown instruction or directive `frob`");
    check("lduni", 1, "unknown instruction or directive `lduni`");
    check("mov r12 r0\r\n", 11, "unexpected character '\\r'");
    check("fadd r12 r0", 12, "expected a register, found the end of the program");
    check("fadd r12 r0 1", 13, "expected a register or a float, found `1`");
    check("iadd r12 r0 1.0", 13, "expected a register or an integer, found `1.0`");
    check("iadd r12 r0 1 2", 15, "expected an instruction, found `2`");
    check("imax r12 r0", 12, "expected a register, found the end of the program");
    check("iinit r12 1 2 3 4 5", 19, "expected an instruction, found `5`");
}

#[test]
fn rejects_a_directive_behind_an_instruction() {
    let source = vertex("mov r12 r0\n#input r1.x");
    check_rejected(&source, (5, 1), "all directives come before the first instruction");
}

#[test]
fn the_last_immediate_repeats() {
    let shader = assemble(&vertex("iinit r1.xyz 1 2")).unwrap();
    let (instr, line) = shader.code[2];
    assert_eq!((line, instr.op, instr.mask), (4, Op::Init, Mask::of(&[0, 1, 2])));
    assert_eq!((0..4).map(|n| instr.immediates.nth(n)).collect::<Vec<_>>(), [1, 2, 2, 2]);
}

/// Sources and the output of PicoGpu's own assembler (master 7942e61); a row without words is a source that
/// it refuses.
#[test]
fn vectors_of_picogpus_assembler() {
    let vectors = include_str!("pico_vectors.txt");
    let mut count = [0; 2];
    for vector in vectors.split("----\n").skip(1) {
        let (words, source) = vector.split_once('\n').unwrap();
        match assemble(source.strip_suffix('\n').unwrap_or(source)) {
            Ok(shader) => assert_eq!(hex(&shader.binary()), words, "{source}"),
            Err(error) => assert_eq!("", words, "{error}\n{source}"),
        }
        count[usize::from(words.is_empty())] += 1;
    }
    assert!(count[0] >= 60 && count[1] >= 60, "{count:?}");
}

#[test]
fn undefined_regs_leaves_out_initregs() {
    let source = vertex("mov r1 r0").replace("#input", "#undefinedRegs\n#input");
    let ops: Vec<Op> = assemble(&source).unwrap().code.iter().map(|(instr, _)| instr.op).collect();
    assert_eq!(ops, [Op::Lduni, Op::Mov]);
}

#[test]
fn the_program_has_a_limit() {
    assemble(&vertex(&"trap\n".repeat(509))).expect("509 and two for set-up");
    let message = "the program ends here at the latest: it takes 511 dwords at most";
    check_rejected(&vertex(&"trap\n".repeat(510)), (513, 1), message);
    let fragment = |code: &str| format!("#fragmentShader\n#input r0.xyzw\n#output r1.xyzw\n{code}");
    let added = assemble(&fragment("trap")).unwrap().program().len() - 1;
    assemble(&fragment(&"trap\n".repeat(511 - added))).expect("interpolation counts");
    check_rejected(&fragment(&"trap\n".repeat(512 - added)), (515 - added, 1), message);
}

#[test]
fn the_command_says_what_the_directives_said() {
    let source = "#vertexShader\n#input r1.x\n#input r2.xyzw\n#output r3.xyzw\n#uniform r4.x\n#uniform r5.xy\n\
                  #uniform r6.xyz\nmov r3 r2\n";
    let binary = assemble(source).unwrap().binary();
    let Some((Command::Store { interface, dwords }, false)) =
        Command::decode([binary[0], binary[1], binary[2]])
    else {
        panic!("not a StoreIsa command");
    };
    let io = |register, components| Io { register, components };
    assert_eq!(interface.inputs, [io(1, 1), io(2, 4)]);
    assert_eq!(interface.outputs, [io(3, 4)]);
    assert_eq!(interface.uniforms, [io(4, 1), io(5, 2), io(6, 3)]);
    assert_eq!(dwords, binary.len() - 3);
}

#[test]
fn rows_have_one_name_per_form() {
    for op in Op::ALL {
        assert_eq!(Op::from_name(op.name(), op.form()), Some(*op));
        assert_eq!(Op::from_bits(*op as u32), Some(*op));
    }
}

proptest! {
    #![proptest_config(random_cases(256))]

    #[test]
    fn any_text_is_accepted_or_refused(source in "[ -~\n]{0,200}") {
        let _ = assemble(&source);
    }

    #[test]
    fn encode_undoes_decode(words in prop::collection::vec(any::<u32>(), 1..6)) {
        if let Some((instr, len)) = Instr::decode(&words) {
            let mut encoded = Vec::new();
            instr.encode(&mut encoded);
            prop_assert_eq!(encoded.len(), len);
            prop_assert_eq!(Instr::decode(&encoded), Some((instr, len)));
        }
    }

    #[test]
    fn text_undoes_display(opcode in 0u32..32, rest in any::<u32>(), values in any::<[u16; 4]>()) {
        let words = [opcode | rest << 6, values[0].into(), values[1].into(), values[2].into(), values[3].into()];
        let (mut instr, _) = Instr::decode(&words).unwrap();
        prop_assume!(instr.mask.bits() != 0);
        if !instr.op.takes_integers() && instr.op.form().has_immediates() && instr.op != Op::Init {
            let floats: Vec<u32> = instr.immediates.as_slice().iter().map(|v| (*v as f32 / 8.0).to_bits()).collect();
            instr.immediates = a4emu_decoder::isa::pico::Immediates::new(&floats);
        }
        if instr.op == Op::Fcross {
            instr.mask = Mask::ALL;
        }
        if instr.op.form() == Form::BinaryImm {
            instr.immediates = a4emu_decoder::isa::pico::Immediates::new(&instr.immediates.as_slice()[..1]);
        }
        // PicoGpu's assembler reads this text as another instruction.
        prop_assume!(instr.op != Op::Fmad);
        let input = format!("#input r{}.", (instr.dst + 1) % 16);
        let parsed = assemble(&vertex(&instr.to_string()).replace("#input r0.", &input)).unwrap();
        prop_assert_eq!(parsed.code[2].0, instr);
        prop_assert!(instr.op.form() == Form::Nullary || parsed.code.len() == 3);
    }

    #[test]
    fn programs_decode_to_their_instructions(seed in prop::collection::vec(any::<u32>(), 0..40)) {
        if let Ok(program) = decode_program(&seed) {
            prop_assert!(program.iter().all(|(at, _)| *at < seed.len()));
        }
    }
}
