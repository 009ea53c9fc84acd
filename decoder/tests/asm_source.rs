//! The bytes that each statement gives, and the positions of errors.

use a4emu_decoder::asm::{Bounds, FileError, Files, Image, Reason, assemble};
use pretty_assertions::assert_eq;

/// Files by name.
struct Given(&'static [(&'static str, &'static str)]);

impl Files for Given {
    fn resolve(&mut self, _: &str, path: &str) -> String {
        path.into()
    }
    fn text(&mut self, name: &str) -> Result<String, FileError> {
        let found = self.0.iter().find(|file| file.0 == name);
        found.map(|file| file.1.into()).ok_or_else(|| FileError(format!("no file `{name}`")))
    }
    fn image(&mut self, name: &str) -> Result<Image, FileError> {
        match name {
            "dot.png" => Ok(Image { width: 1, height: 2, rgba: vec![1, 2, 3, 4, 5, 6, 7, 8] }),
            _ => Err(FileError(format!("no file `{name}`"))),
        }
    }
}

fn capture(source: &str) -> Vec<u8> {
    let files = &mut Given(&[("inc.a4", "const FROM_FILE = 7\nmacro twice(x) { u8 x, x }")]);
    assemble("main.a4", source, files, Bounds::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The payload of `section 0 { .. }`.
fn payload(source: &str) -> Vec<u8> {
    capture(&format!("section 0 {{\n{source}\n}}")).split_off(8)
}

fn dwords(source: &str) -> Vec<u32> {
    let bytes = payload(source);
    let (dwords, rest) = bytes.as_chunks::<4>();
    assert_eq!(rest, &[] as &[u8]);
    dwords.iter().map(|&dword| u32::from_le_bytes(dword)).collect()
}

fn error(source: &str) -> String {
    let files = &mut Given(&[
        ("loop.a4", "include \"back.a4\""),
        ("back.a4", "include \"loop.a4\""),
        ("bad.a4", "\n  u8 256"),
    ]);
    match assemble("main.a4", source, files, Bounds::default()) {
        Ok(_) => "no error".into(),
        Err(diagnostic) => diagnostic.to_string(),
    }
}

/// Registers, words of descriptors, packets and fields may have the names that Mesa's headers and older releases give
/// them.
#[test]
fn names_of_headers() {
    for (header, database) in [
        ("REG_A4XX_RB_DEPTH_CONTROL = 5", "RB_DEPTH_CONTROL = 5"),
        ("A4XX_RB_DEPTH_CONTROL { ZFUNC = FUNC_LESS }", "RB_DEPTH_CONTROL { ZFUNC = FUNC_LESS }"),
        ("REG_A4XX_RB_MRT_CONTROL(1 + 1) = 7", "RB_MRT[2].CONTROL = 7"),
        (
            "REG_A4XX_RB_MRT(1) = 7\n+ A4XX_RB_MRT_BUF_INFO(1) = 8",
            "RB_MRT[1].CONTROL = 7\n+ RB_MRT[1].BUF_INFO = 8",
        ),
        ("REG_AXXX_CP_SCRATCH_REG(2) = 1", "CP_SCRATCH[2].REG = 1"),
        ("one_reg REG_A4XX_CP_ME_NRT_DATA 1", "one_reg CP_ME_NRT_DATA 1"),
        ("u32 REG_A4XX_RB_MRT_BASE(3), A4XX_RB_DEPTH_CONTROL", "u32 RB_MRT[3].BASE, RB_DEPTH_CONTROL"),
        ("A4XX_TEX_CONST_0 { TYPE = A4XX_TEX_2D }", "TEX_CONST_0 { TYPE = A4XX_TEX_2D }"),
        ("CP_INDIRECT_BUFFER_PFE(0x1000, 4)", "CP_INDIRECT_BUFFER(0x1000, 4)"),
        ("CP_REG_TO_MEM({ REG = 0x9c | 64B | CNT = 2 }, 0)", "CP_REG_TO_MEM(0x4008009c, 0)"),
        ("CP_REG_TO_MEM({ 64B = 1 }, 0)", "CP_REG_TO_MEM(0x40000000, 0)"),
    ] {
        assert_eq!(dwords(header), dwords(database), "{header}");
    }
    assert!(error("section 0 { REG_A4XX_RB_MRT_CONTROL(8) = 1 }").contains("REG_A4XX_RB_MRT_CONTROL(8)"));
    assert!(error("section 0 { A4XX_RB_MRT_CONTROL = 1 }").contains("A4XX_RB_MRT_CONTROL"));
    assert!(error("section 0 { RB_MODE_CONTROL { 3D } }").contains("3D"));
}

#[test]
fn data() {
    assert_eq!(payload("u8 1, 0xff\n i8 -1 \n u16 0x1234"), [1, 0xff, 0xff, 0x34, 0x12]);
    assert_eq!(
        payload("hex 00 1122 // comment\n zero 2\n text \"a\\0\\xff\""),
        [0, 0x11, 0x22, 0, 0, b'a', 0, 0xff]
    );
    assert_eq!(
        dwords("f32 1.0, -0.5, 0x7fc00001, 2 * 3"),
        [0x3f80_0000, 0xbf00_0000, 0x7fc0_0001, 0x40c0_0000]
    );
    assert_eq!(dwords("words 1 deadbeef\n fill 2, 3\n i32 -2"), [1, 0xdead_beef, 3, 3, -2i32 as u32]);
    assert_eq!(payload("u8 1\n align 4\n u8 2\n at 6\n u8 3"), [1, 0, 0, 0, 2, 0, 3]);
    assert_eq!(payload("png \"dot.png\" pitch 6"), [1, 2, 3, 4, 0, 0, 5, 6, 7, 8, 0, 0]);
    assert_eq!(payload("f16 1.0 \n u64 0xffffffffffffffff")[..3], [0, 0x3c, 0xff]);
}

#[test]
fn language() {
    assert_eq!(
        payload("const A = 2\n u8 A + 3 * (1 | 4), A << 3, 7 % 4, 1 == 1, ~0 & 0xf"),
        [17, 16, 3, 1, 15]
    );
    assert_eq!(payload("include \"inc.a4\"\n use twice(FROM_FILE)"), [7, 7]);
    assert_eq!(
        payload("for i in 0..3 { if i == 1 { u8 9 } else { u8 i } }\n repeat 2 { u8 5 }"),
        [0, 9, 2, 5, 5]
    );
}

#[test]
fn streams() {
    assert_eq!(dwords("RB_MODE_CONTROL { WIDTH = 320 | ENABLE_GMEM | 0x80000000 }"), [0x20a0, 0x8001_000a]);
    assert_eq!(dwords("RB_MRT[0].CONTROL = 1\n + RB_MRT[0].BUF_INFO = 2"), [0x0001_20a4, 1, 2]);
    assert_eq!(dwords("one_reg UNKNOWN_0CC5 1, 2"), [0x0001_8cc5, 1, 2]);
    assert_eq!(
        dwords("pad \n CP_WAIT_FOR_IDLE \n pred CP_NOP(7)"),
        [0x8000_0000, 0xc000_2600, 0, 0xc000_1001, 7]
    );
    assert_eq!(dwords("CP_EXEC_CS(NGROUPS_X = 1, NGROUPS_Y = 2, NGROUPS_Z = 3)"), [0xc003_3300, 0, 1, 2, 3]);
    assert_eq!(dwords("opcode_7f(1) { u32 2 }"), [0xc001_7f00, 1, 2]);
    assert_eq!(dwords("GRAS_CL_VPORT_XSCALE_0 = 3 / 2.0"), [0x2009, 0x3fc0_0000]);
}

#[test]
fn loads() {
    let constants = dwords("load FS.constants at 2 { f32 1.0 }");
    assert_eq!(constants, [0xc005_3000, 0x0070_0002, 1, 0x3f80_0000, 0, 0, 0]);
    let shader = dwords("load VS.shader {\n nop\n end\n }");
    assert_eq!(shader.len(), 3 + 32);
    assert_eq!(shader[1], 1 << 22 | 8 << 18);
    assert_eq!(shader[5..7], [0, 0x0300_0000]);
    assert_eq!(dwords("load VS.textures from 0x1000 units 3"), [0xc001_3000, 3 << 22 | 2 << 16, 0x1001]);
}

#[test]
fn containers() {
    let buffer = capture("form 8\n buffer b @ 0x2000 size 8 { u32 5 }\n submit b\n again b { at 4 u32 6 }");
    let words: Vec<u32> = buffer.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    let dump = [3, 8, 0x2000, 8, 12, 8, 5];
    assert_eq!(words, [&dump[..], &[0, 6, 8, 0x2000, 2], &dump, &[6]].concat());
    assert_eq!(capture("marker\n raw { u8 1 }"), [&[0xff; 8][..], &[1]].concat());
    assert_eq!(capture("gpu_id 420")[8..], 420u32.to_le_bytes());
}

#[test]
fn labels_stand_before_their_definition() {
    let source = "buffer a @ 0x1000 { u32 late, bytes(late), b, dwords(b)\n late: { u32 1 } }\n buffer b { u32 here() }";
    let bytes = capture(source);
    let at = |offset: usize| u32::from_le_bytes(bytes[offset..offset + 4].try_into().unwrap());
    assert_eq!([28, 32, 36, 40].map(at), [0x1010, 4, 0x1000_0000, 1]);
}

/// Data in hexadecimal ends with its block, as numbers do.
#[test]
fn hexadecimal_data_ends_at_the_brace() {
    let on_lines = capture("buffer b {\n words ff0000ff 1\n }\nbuffer c { part: {\n hex 0011\n }\n u8 2 }");
    assert_eq!(capture("buffer b { words ff0000ff 1 }\nbuffer c { part: { hex 00 11 } u8 2 }"), on_lines);
    assert_eq!(capture("buffer b {words ff0000ff 1}// }\nbuffer c { part: {hex 0011}; }\n u8 2 }"), on_lines);
    assert_eq!(payload("repeat 2 { words 1 }"), [1, 0, 0, 0, 1, 0, 0, 0]);
    for (source, place) in [
        (
            "buffer b { words ff00 1ff00ff00 }",
            "main.a4:1:23: expected a dword in hexadecimal, found `1ff00ff00`",
        ),
        ("buffer b { hex 00 0g }", "main.a4:1:20: expected hexadecimal digits"),
        ("buffer b { hex 000 }", "main.a4:1:16: expected an even number of hexadecimal digits"),
        ("buffer b { words 1 2 } }", "main.a4:1:24: unmatched `}`"),
        ("buffer b { words 1 // }", "main.a4:1:10: expected a `}` for this `{`"),
    ] {
        assert!(error(source).contains(place), "{source}: {}", error(source));
    }
}

#[test]
fn errors_say_where() {
    let expected = [
        ("section 0 {\n  RB_FOO 3 }", "main.a4:2:3: no register, packet or statement is called `RB_FOO`"),
        ("section 0 { u8 1,\n 256 }", "main.a4:2:2: 256 is not between 0 and 255"),
        ("u8 1", "main.a4:1:4: this belongs inside a buffer or a section"),
        ("include \"loop.a4\"", "back.a4:1:1: `loop.a4` includes itself"),
        ("include \"bad.a4\"", "bad.a4:2:6: 256 is not between 0 and 255"),
        ("include \"none.a4\"", "main.a4:1:1: no file `none.a4`"),
        ("macro m { use m }\n use m", "main.a4:1:15: macros and includes 48 deep: do they use themselves?"),
        ("section 0 { zero 0x7fffffff }", "main.a4:1:13: more than 0x10000000 bytes in one section"),
        (
            "section 0 { repeat 0xffffffff { repeat 0xffffffff { } } }",
            "main.a4:1:40: too much work: the assembler stops here",
        ),
        ("section 0 { u32 nothing }", "main.a4:1:17: nothing is called `nothing`"),
        ("section 0 { u32 1 / 0 }", "main.a4:1:17: division by zero"),
        ("section 0 {\n shader {\n  nop\n  bogus r0.x\n } }", "main.a4:4:3: expected a mnemonic"),
        (
            "section 0 { RB_MODE_CONTROL { WIDTH = 33 } }",
            "main.a4:1:39: field WIDTH: `33` is not a multiple of 32",
        ),
        (
            "section 0 { RB_MODE_CONTROL { COLOUR = 1 } }",
            "main.a4:1:31: no field `COLOUR`; there are WIDTH, HEIGHT, ENABLE_GMEM, BYPASS",
        ),
        (
            "section 0 { CP_DRAW_INDX_OFFSET({ PRIM_TYPE = DI_PT_BLOB }, 1, 3) }",
            "main.a4:1:47: field PRIM_TYPE: `DI_PT_BLOB` is no value of pc_di_primtype",
        ),
        ("section 0 { CP_DRAW_INDX_OFFSET(1) }", "main.a4:1:13: `CP_DRAW_INDX_OFFSET` wants 3 dwords, not 1"),
        ("section 0 { load FS.cake { } }", "main.a4:1:18: nothing is loaded by the name `FS.cake`"),
        ("section 0 { GPU_ID 1", "main.a4:1:11: expected a `}` for this `{`, found `{`"),
        ("const A = 1 const A = 2", "main.a4:1:19: `A` has a value already"),
        ("submit", "main.a4:1:7: expected a value, found the end of the file"),
        ("section 0 { u8 (1 }", "main.a4:1:19: expected `)`, found `}`"),
    ];
    let mut wrong = Vec::new();
    for (source, message) in expected {
        let got = error(source);
        if !got.starts_with(message) {
            wrong.push(format!("{source}\n  got: {got}\n want: {message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let deep = "(".repeat(1000);
    assert!(error(&format!("const A = {deep}")).contains("brackets inside each other"));
}

#[test]
fn parameters_are_values_or_names() {
    let source = "
        macro shade(name, kind, reg, n) {
            buffer name @ 0x1000 { CP_DRAW_INDX_OFFSET({ PRIM_TYPE = kind }, dwords(name), n + 1)
                SP_FS_MRT[0].REG { REGID = reg } }
            submit name
        }
        macro outer(name, kind) { use shade(name, kind, r1.y, 2) }
        use outer(here_it_is, DI_PT_TRILIST)
        section 0 { u32 here_it_is, bytes(here_it_is) }";
    let bytes = capture(source);
    let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    let buffer = [3, 12, 0x1000, 24, 0, 12, 24, 0xc002_3800, 4, 6, 3, 0x22f1, 5];
    assert_eq!(words, [&buffer[..], &[6, 12, 0x1000, 6, 0], &[0, 8, 0x1000, 24]].concat());
}

/// Addresses and bytes of the buffers of `source`.
fn buffers(source: &str) -> Vec<(u32, u32)> {
    let bytes = capture(source);
    let mut found = Vec::new();
    let mut rest = &bytes[..];
    while let Some((head, behind)) = rest.split_first_chunk::<8>() {
        let [id, size] = [0, 4].map(|at| u32::from_le_bytes(*head[at..].first_chunk().unwrap()));
        if id == 3 {
            let word = |at: usize| u32::from_le_bytes(*behind[at..].first_chunk().unwrap());
            found.push((word(0), word(4)));
        }
        rest = &behind[size as usize..];
    }
    found
}

#[test]
fn buffers_without_an_address_go_where_nothing_is() {
    // A buffer with an address lies on the default address of buffers without one: before them, after them,
    // and in another submit.
    let given = "buffer s @ 0x10000000 { words 11111111 22222222\n}\n";
    let free = "buffer t { words 33333333\n}\nbuffer u size 8\n";
    assert_eq!(buffers(&format!("{given}{free}")), [(0x1000_0000, 8), (0x1000_1000, 4), (0x1000_2000, 8)]);
    assert_eq!(
        buffers(&format!("{free}submit t\n{given}")),
        [(0x1000_1000, 4), (0x1000_2000, 8), (0x1000_0000, 8)]
    );
    // A buffer in the second page: a buffer that does not fit before it is placed after it.
    let second = "buffer s @ 0x10001800 size 0x1000\n";
    assert_eq!(
        buffers(&format!("{second}buffer t size 0x1801\nbuffer u size 8")),
        [(0x1000_1800, 0x1000), (0x1000_3000, 0x1801), (0x1000_5000, 8)]
    );
    // A repeated origin does not place two buffers at one address.
    assert_eq!(
        buffers("origin 0x20000000 buffer a size 8\norigin 0x20000000 buffer b size 8"),
        [(0x2000_0000, 8), (0x2000_1000, 8)]
    );
}

#[test]
fn buffers_of_one_submit_overlap_only_where_they_say_so() {
    let two = |mark: &str| {
        format!(
            "buffer s @ 0x10000000 size 0x20\nbuffer t @ 0x1000001c{mark} {{ words 33333333\n}}\nsubmit t"
        )
    };
    assert_eq!(
        error(&two("")).lines().next(),
        Some(
            "main.a4:2:8: `t` at 0x1000001c to 0x10000020 overlaps memory of the same submit, 0x10000000 to \
             0x10000020 (if that is meant: `overlaps` behind the address)"
        )
    );
    assert_eq!(buffers(&two(" overlaps")), [(0x1000_0000, 0x20), (0x1000_001c, 4)]);
    // Adjacent buffers, and buffers of two submits, do not overlap.
    assert_eq!(
        error("buffer s @ 0x1000 size 0x20\nbuffer t @ 0x1020 size 4\nbuffer u @ 0xffc size 4"),
        "no error"
    );
    assert_eq!(error("buffer s @ 0x1000 size 4\nsubmit s\nbuffer t @ 0x1000 size 8"), "no error");
    // The addresses are final only in the last pass.
    assert_eq!(
        error("buffer s @ far + 8 size 8\nbuffer t @ 0 size 16\nbuffer far @ 0x2000 size 4"),
        "no error"
    );
    // The disassembler prints `overlaps`.
    let text = a4emu_decoder::asm::disassemble(&capture(&two(" overlaps"))).text;
    assert!(text.contains("buffer b_1000001c @ 0x1000001c overlaps {"), "{text}");
    assert_eq!(capture(&text), capture(&two(" overlaps")));
}

#[test]
fn a_parameter_that_names_itself_ends() {
    assert!(error("macro m(x) { section 0 { u32 x } } use m(x)").contains("nothing is called `x`"));
}

/// The parser counts brackets where it nests: brackets in a comment or shader line do not close others.
#[test]
fn no_nesting_exhausts_the_stack() {
    let sources = [
        "const X = (//)\n".to_owned() + &"(//)\n".repeat(50_000),
        "if 1 { //}\n".repeat(50_000),
        "if 1 { shader {\n)))) \n}\n".repeat(50_000),
        format!("const X = {}", "min(".repeat(50_000)),
        format!("RB_MRT{} 1", "[A".repeat(50_000)),
        format!("const X = {}1", "-(".repeat(50_000)),
    ];
    for source in sources {
        let got = error(&source);
        assert!(got.contains("brackets inside each other"), "{got}");
    }
    let shallow = format!("section 0 {{ u8 {}1{} }}", "(".repeat(60), ")".repeat(60));
    assert_eq!(capture(&shallow)[8..], [1]);
}

#[test]
fn operators_of_an_expression_are_counted_through_its_brackets() {
    let sums = |count: usize| format!("section 0 {{ u32 {}1 }}", "1 + ".repeat(count));
    assert_eq!(capture(&sums(256))[8..], 257u32.to_le_bytes());
    assert!(error(&sums(257)).contains("more than 256 operators"));
    let nested = format!("const X = {}1{}", "(".repeat(40), " + 1 * 2 << 3 | 4 - 5 & 6 ^ 7)".repeat(40));
    assert!(error(&nested).contains("more than 256 operators"));
    assert_eq!(capture(&format!("section 0 {{ u8 {}1 }}", "1 + 1, ".repeat(1000))).len(), 8 + 1001);
}

/// Forty-eight macros, each of which nests sixty blocks.
#[test]
fn blocks_of_macros_count_with_those_around_them() {
    let body = |inside: &str| "if 1 { ".repeat(60) + inside + &" }".repeat(60);
    let mut source = format!("macro m0 {{ {} }}\n", body("const A = 1"));
    for level in 1..40 {
        source += &format!("macro m{level} {{ {} }}\n", body(&format!("use m{}", level - 1)));
    }
    assert!(error(&(source.clone() + "use m39")).contains("blocks, macros and includes 256 deep"));
    assert_eq!(error(&(source + "use m2")), "no error");
}

#[test]
fn all_work_is_counted_not_only_statements() {
    let buffer = |inside: &str| format!("buffer b {{ {inside} }}");
    let sources = [
        buffer("repeat 1000000 { at 0 zero 0x10000 }"),
        buffer("repeat 1000000 { at 0 fill 0x4000, 1 }"),
        buffer("repeat 100000000 { }"),
        format!("const Y = 1 repeat 9000000 {{ if {}1 {{ }} }}", "Y + ".repeat(200)),
        "for i in 0..900000000 { const A = i }".to_owned(),
        "buffer b { zero 0x100000 }\n repeat 1000000 { again b { u8 1 } }".to_owned(),
        "repeat 1000000 { buffer b size 0x100000 { u8 1 } }".to_owned(),
        format!("repeat 1000000 {{ section 0 {{ shader {{\n{}}}\n }} }}", "nop\n".repeat(1000)),
    ];
    for source in sources {
        let got = error(&source);
        let ends = ["too much work", "already defined"];
        assert!(ends.iter().any(|end| got.contains(end)), "{got}");
    }
    let diagnostic =
        assemble("main.a4", &buffer("zero 64000"), &mut Given(&[]), Bounds::of_steps(1000)).unwrap_err();
    assert_eq!((diagnostic.position(), diagnostic.reason), ((1, 12), Reason::Work));
    assert!(assemble("main.a4", &buffer("zero 64000"), &mut Given(&[]), Bounds::of_steps(20_000)).is_ok());
}
