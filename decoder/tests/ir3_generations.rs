//! Words of A5xx and A6xx: rows of our own for each operation and form, and those of recorded kernels.

use std::collections::BTreeSet;

use a4emu_decoder::adreno::ir3::access::FileReg;
use a4emu_decoder::adreno::ir3::meaning::operations;
use a4emu_decoder::adreno::ir3::{Body, Cat0, Cat0Op, Instr, Isa, Reg};
use pretty_assertions::assert_eq;

/// The rows of the file beside this one: generation, word, text.
fn rows() -> Vec<(Isa, u64, &'static str)> {
    let lines = include_str!("ir3_vectors.txt").lines().filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        let (generation, rest) = line.split_once(' ')?;
        let (word, rest) = rest.split_once(' ')?;
        let (text, seen) = rest.split_once('\t')?;
        assert!(["kernel", "disasm.c", "made"].contains(&seen), "{line}");
        let isa = Isa::of_generation(generation.parse().ok()?)?;
        Some((isa, u64::from_str_radix(&word.replace('_', ""), 16).ok()?, text))
    };
    lines.map(|line| row(line).unwrap_or_else(|| panic!("{line}"))).collect()
}

#[test]
fn vectors_print_and_parse() {
    for (isa, word, text) in rows() {
        let instr = isa.decode(word);
        assert_eq!((instr.to_string().as_str(), instr.extra), (text, 0), "{isa:?} {word:016x}");
        let back = isa.parse(text, &mut |_| None).map(|instr| instr.encode());
        assert_eq!(back, Ok(word), "{isa:?} {text}");
    }
}

/// Each operation of a generation has a row, and each suffix that selects a form.
#[test]
fn each_operation_has_a_vector() {
    for isa in [Isa::A5xx, Isa::A6xx] {
        let instrs: Vec<(Instr, &str)> = rows()
            .into_iter()
            .filter(|(of, ..)| *of == isa)
            .map(|(_, word, text)| (isa.decode(word), text))
            .collect();
        let named = |(instr, _): &(Instr, &'static str)| Some((instr.category()?, instr.body.mnemonic()?));
        let seen: BTreeSet<(u8, &str)> = instrs.iter().filter_map(named).collect();
        for operation in operations(isa) {
            // Mesa has no text for it.
            if operation.mnemonic == "brax" {
                continue;
            }
            let name = operation.mnemonic.strip_prefix("atomic.").unwrap_or(&operation.mnemonic);
            // The older form of A6xx's constant loads is one of A4xx alone.
            let absent = isa == Isa::A5xx && operation.mnemonic == "ldc";
            assert!(absent || seen.contains(&(operation.category, name)), "{isa:?} {}", operation.mnemonic);
        }
    }
    let texts: Vec<&str> = rows().into_iter().map(|(_, _, text)| text).collect();
    for form in [
        "(nop3) ",
        "ldg.a.",
        "stg.a.",
        "ldg.k.",
        ".k.imm",
        "ldib.b.",
        "stib.b.",
        "resinfo.b.",
        "atomic.b.",
        "atomic.g.",
        "atomic.s.",
        ".s2en.nonuniform.base",
        ", a1.x",
        ".1d ",
        "isam.v",
        "c[a1.x",
        "getlast.w",
        "brcst.active.w",
        "quad_shuffle.diag",
        "shfl.rdown",
        ".u64.",
        "r48.",
        "ldc.u.",
        "(r)",
        "flat.b",
        "h(",
        "sct.",
        "mova1 a1.x",
    ] {
        assert!(texts.iter().any(|text| text.contains(form)), "{form}");
    }
}

/// A generation does not take the texts of another one.
#[test]
fn operations_belong_to_generations() {
    let parses = |isa: Isa, text: &str| isa.parse(text, &mut |_| None).is_ok();
    for (text, known) in [
        ("shrg r0.x, 4, r0.y, r0.z", [false, false, true]),
        ("swz.u32u32 r0.x, r0.y, r0.y, r0.x", [false, true, true]),
        ("flat.b (ei)r0.x, 0, r0.x", [false, false, true]),
        ("ldgb.untyped.4d.u32.1 r0.x, g[1], r1.x, 0", [true, true, false]),
        ("stgb.untyped.4d.u32.1 g[0], r2.y, r1.y, r0.x", [true, true, false]),
        ("ldc.1 r0.x, g[r1.x], 0, r0.x", [true, false, false]),
        ("atomic.g.add.untyped.1d.u32.1.g r0.x, r1.x, r2.x", [false, false, true]),
        ("xclr", [true, false, false]),
        ("sam.base0 (f32)(x)r0.x, r0.x, s#0, t#0", [false, true, true]),
        ("(nop1) add.s r0.x, r0.x, r0.y", [true, true, true]),
        ("(nop1) rcp r0.x, r0.y", [false, false, false]),
        ("(sat)shrg r0.x, 4, r0.y, r0.z", [false, false, false]),
        ("andg r0.x, (neg)4095, r0.y, 4096", [false, false, false]),
    ] {
        assert_eq!(Isa::ALL.map(|isa| parses(isa, text)), known, "{text}");
    }
    // The bits that are the (r) of both sources on an A4xx are (nopN) from A5xx on.
    let texts = Isa::ALL.map(|isa| isa.decode(0x42380c01_00040001).to_string());
    assert_eq!(texts[0], "(sat)add.s r0.y, (r)r0.y, (r)r1.x");
    assert_eq!(texts[1..], ["(sat)(nop3) add.s r0.y, r0.y, r1.x"; 2]);
}

/// In the merged file of A6xx hr0.x and hr0.y are the halves of r0.x.
#[test]
fn registers_share_cells_where_the_file_is_merged() {
    let shared = |isa: Isa, half: FileReg, full: FileReg| {
        let [(a, wide_a), (b, wide_b)] = [half.cells(isa), full.cells(isa)];
        assert!(a + wide_a <= FileReg::CELLS && b + wide_b <= FileReg::CELLS);
        a < b + wide_b && b < a + wide_a
    };
    for isa in Isa::ALL {
        for id in 0..240 {
            let half = FileReg { half: true, reg: Reg(id) };
            let sharing: Vec<u8> = (0..=255)
                .filter(|&full| shared(isa, half, FileReg { half: false, reg: Reg(full) }))
                .collect();
            let full = if id < 192 { id / 2 } else { 192 + (id - 192) / 2 };
            let expected = if isa == Isa::A6xx { vec![full] } else { vec![] };
            assert_eq!(sharing, expected, "{isa:?} {half}");
            let others: Vec<u8> = half.sharing(isa).skip(1).map(|other| other.reg.0).collect();
            assert_eq!(others, expected, "{isa:?} {half}");
            let whole = FileReg { half: false, reg: Reg(full) };
            assert_eq!(whole.sharing(isa).any(|other| other == half), isa == Isa::A6xx, "{isa:?} {half}");
        }
    }
    let shared = |isa| FileReg { half: false, reg: Reg(48 * 4) }.is_shared(isa);
    assert_eq!(Isa::ALL.map(shared), [false, true, true]);
}

/// The rows of the shared table: words of recorded kernels, with the text that Mesa's disassembler printed.
fn kernels() -> Option<Vec<(u64, String)>> {
    let shared = std::env::var("A4EMU_SHARED")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared").into());
    let path = format!("{shared}/a6xx/ir3-words.tsv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: {path} is not there, so no instruction of recorded kernels was checked");
        return None;
    };
    let row = |line: &str| {
        let (word, text) = line.split_once('\t').unwrap();
        (u64::from_str_radix(&word.replace('_', ""), 16).unwrap(), text.to_owned())
    };
    Some(text.lines().map(row).collect())
}

#[test]
fn words_of_kernels_print_and_assemble_like_mesa() {
    let Some(rows) = kernels() else { return };
    assert_eq!(rows.len(), 2076);
    let (mut labels, mut wrong) = (0, Vec::new());
    for (word, text) in &rows {
        let instr = Isa::A6xx.decode(*word);
        // The label of a branch is the place of its target in a program that the table does not have.
        let place = match (&instr.body, text.rsplit_once("#l")) {
            (Body::Cat0(branch), Some((_, label))) => {
                labels += 1;
                usize::try_from(label.parse::<i64>().unwrap() - i64::from(branch.offset)).unwrap()
            }
            _ => 0,
        };
        let shown = instr.in_program(place, usize::MAX).to_string();
        let mut label = |name: &str| Some(name.strip_prefix('l')?.parse::<i32>().ok()? - place as i32);
        let assembled = Isa::A6xx.parse(text, &mut label).map(|instr| instr.encode());
        if shown != *text || assembled != Ok(*word) || instr.extra != 0 {
            wrong.push(format!("{word:016x} {text} | {shown} | {assembled:x?}"));
        }
    }
    assert_eq!((labels, wrong), (7, Vec::<String>::new()));
    let ends =
        |isa: Isa| matches!(isa.decode(0x03000000_00000000).body, Body::Cat0(Cat0 { op: Cat0Op::End, .. }));
    assert!(Isa::ALL.into_iter().all(ends));
}
