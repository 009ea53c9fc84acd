//! Consistency checks of the register tables.

mod seed;

use std::collections::{BTreeMap, BTreeSet};

use a4emu_decoder::a4xx::enums::{ColorFmt, IntpMode, ReplMode, TileMode};
use a4emu_decoder::a4xx::regs::{REGISTERS, gras, rb, tex, vfd, vpc};
use a4emu_decoder::a6xx::A6XX;
use a4emu_decoder::bits::parse::{self, ValueError};
use a4emu_decoder::bits::value::{Show, WordText, fields, unnamed_bits};
use a4emu_decoder::bits::{Certainty, FieldRow, Register};
use a4emu_decoder::generation::Generation;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use seed::random_cases;

/// Every word layout of the databases with its name: registers, dwords of packets, descriptors.
fn layouts() -> Vec<(String, &'static [FieldRow])> {
    Generation::all().flat_map(layouts_of).collect()
}

fn layouts_of(generation: &'static Generation) -> impl Iterator<Item = (String, &'static [FieldRow])> {
    let registers = generation.registers.rows();
    let registers = registers.map(|row| (format!("{}.{}", row.name, row.sub), row.fields));
    let dwords = generation.packets.rows().iter().flat_map(|packet| {
        let dwords = packet.dwords.iter().chain(packet.repeat);
        dwords.map(|dword| (packet.name.to_owned(), dword.fields))
    });
    let words = generation.descriptor_words().map(|row| (row.name.to_owned(), row.fields));
    registers.chain(dwords).chain(words)
}

#[test]
fn registers_do_not_overlap() {
    for generation in Generation::all() {
        let mut owner = BTreeMap::new();
        for reg in generation.registers.all() {
            assert!((reg.offset() as usize) < generation.registers.space(), "{reg} outside the space");
            let other = owner.insert(reg.offset(), reg);
            assert!(other.is_none(), "{reg} and {} share {:#x}", other.unwrap(), reg.offset());
        }
    }
}

#[test]
fn names_are_unique_and_lead_back() {
    for generation in Generation::all() {
        let mut names = BTreeSet::new();
        for reg in generation.registers.all() {
            let name = reg.to_string();
            assert_eq!(generation.registers.by_name(&name), Some(reg.offset()), "{name}");
            assert!(names.insert(name.clone()), "{name} twice");
        }
    }
}

#[test]
fn arrays_have_room_for_their_elements() {
    for row in Generation::all().flat_map(|generation| generation.registers.rows()) {
        let array = row.len > 1;
        assert_eq!(array, row.stride > 0, "{}", row.name);
        assert!(array || row.sub.is_empty(), "{}", row.name);
    }
}

#[test]
fn lookup_finds_what_the_rows_say() {
    for generation in Generation::all() {
        let registers = generation.registers;
        for reg in registers.all() {
            let found = registers.lookup(reg.offset()).unwrap();
            assert_eq!((found.row.name, found.row.sub, found.index), (reg.row.name, reg.row.sub, reg.index));
        }
        let known = registers.all().map(|reg| reg.offset()).collect::<BTreeSet<_>>();
        for offset in (0..0x2_0000).chain([u32::MAX]) {
            assert_eq!(registers.lookup(offset).is_some(), known.contains(&offset), "{offset:#x}");
        }
    }
}

#[test]
fn a_register_of_64_bits_has_two_names() {
    let (at, named) = (|name| A6XX.registers.by_name(name), |offset| A6XX.registers.name(offset).to_string());
    assert_eq!([at("SP_CS_OBJ_START_LO"), at("SP_CS_OBJ_START_HI")], [Some(0xa9b4), Some(0xa9b5)]);
    assert_eq!([0x882d, 0x882e].map(named), ["RB_MRT[1].BASE_LO", "RB_MRT[1].BASE_HI"]);
    assert_eq!([0x402, 0x403].map(named), ["RBBM_PERFCTR_CP[1].LO", "RBBM_PERFCTR_CP[1].HI"]);
    assert_eq!((named(0x8d1), at("CP_PERFCTR_CP_SEL[1]")), ("CP_PERFCTR_CP_SEL[1]".to_owned(), Some(0x8d1)));
    assert_eq!(
        [at("CP_PERFCTR_CP_SEL[14]"), at("CP_PERFCTR_CP_SEL[1"), at("CP_PERFCTR_CP_SEL[1]x")],
        [None; 3]
    );
}

#[test]
fn unnamed_register_offsets_print_as_unknown() {
    let name = REGISTERS.name(0x2fff);
    assert_eq!(name.to_string(), "UNKNOWN_2FFF");
    assert_eq!(REGISTERS.by_name("UNKNOWN_2FFF"), Some(0x2fff));
    assert_eq!(REGISTERS.name(u32::MAX).to_string(), "UNKNOWN_FFFFFFFF");
}

#[test]
fn names_may_be_written_in_several_ways() {
    for text in ["RB_MRT[1].CONTROL", "RB_MRT[0x1].CONTROL", "0x20a9", "8361"] {
        assert_eq!(REGISTERS.by_name(text), Some(0x20a9), "{text}");
    }
    for text in
        ["RB_MRT", "RB_MRT[8].CONTROL", "RB_MRT[0]", "RB_MRT[].BASE", "0x4000", "-1", "", "rb_mode_control"]
    {
        assert_eq!(REGISTERS.by_name(text), None, "{text}");
    }
}

#[test]
fn fields_ascend_without_overlap() {
    for (name, rows) in layouts() {
        let bits = rows.iter().flat_map(|row| row.lo..=row.hi).collect::<Vec<_>>();
        assert!(bits.is_sorted_by(|a, b| a < b), "{name}");
        assert!(rows.iter().all(|row| row.hi < 32), "{name}");
        let names = rows.iter().map(|row| row.name).collect::<BTreeSet<_>>();
        assert_eq!(names.len(), rows.len(), "{name} has a field twice");
    }
}

#[test]
fn enumerators_have_one_value_and_one_name() {
    let mut tables = BTreeSet::new();
    let all =
        Generation::all().flat_map(|generation| generation.enums().map(|table| (generation.number, table)));
    for (number, table) in all {
        assert!(tables.insert((number, table.name)), "{} twice", table.name);
        let values = table.values.iter().map(|row| row.0).collect::<BTreeSet<_>>();
        let names = table.values.iter().map(|row| row.1).collect::<BTreeSet<_>>();
        assert_eq!((values.len(), names.len()), (table.values.len(), table.values.len()), "{}", table.name);
        for (value, name) in table.values {
            assert_eq!(table.name_of(*value), Some(*name));
            assert_eq!(table.value_of(name), Some(*value));
        }
    }
}

#[test]
fn inferred_registers_are_marked() {
    let inferred = REGISTERS.all().filter(|reg| reg.certainty() == Certainty::Inferred);
    let inferred = inferred.map(|reg| reg.offset()).collect::<BTreeSet<_>>();
    for offset in [0x230b, 0x230c, 0x2318, 0x2319, 0x233f, 0x2340, 0x215b, 0x2158] {
        assert!(inferred.contains(&offset), "{offset:#x}");
    }
    let known = REGISTERS.by_name("VPC_SO_FLUSH_WADDR_3").unwrap();
    assert!(!inferred.contains(&known));
}

#[test]
fn the_vendor_dump_reads_as_argued() {
    let text = |offset, word| {
        let rows = REGISTERS.lookup(offset).unwrap().fields();
        WordText { rows, word, show: Show::NonZero }.to_string()
    };
    assert_eq!(text(0x2318, 0x0020_0c00), "{ FULLREGFOOTPRINT = 3 | SUPERTHREADMODE }");
    assert_eq!(text(0x2319, 0x0200_0000), "{ INITIALOUTSTANDING = 2 }");
    assert_eq!(text(0x230c, 0x0001_0000), "{ 0x10000 }");
    assert_eq!(text(0x2340, 0), "{ 0 }");
}

#[test]
fn typed_getters_scale_and_name() {
    let mode = rb::RB_MODE_CONTROL::from_word(0x0001_080a);
    assert_eq!((mode.WIDTH(), mode.HEIGHT(), mode.ENABLE_GMEM(), mode.BYPASS()), (320, 256, true, 0));
    let info = rb::RB_MRT_BUF_INFO(0x0012_c09a);
    assert_eq!(
        (info.COLOR_FORMAT(), info.COLOR_TILE_MODE()),
        (ColorFmt::RB4_R8G8B8A8_UNORM, TileMode::TILE4_2)
    );
    assert_eq!(info.COLOR_BUF_PITCH(), 1200);
    assert_eq!(rb::RB_MRT_BUF_INFO(0x3f).COLOR_FORMAT(), ColorFmt::Other(0x3f));
    assert_eq!(rb::RB_BLEND_RED(0x3800_0000).FLOAT(), 0.5);
    assert_eq!(vfd::VFD_INDEX_OFFSET(u32::MAX).VALUE(), -1);
    assert_eq!(gras::GRAS_SU_POINT_SIZE(0xffff_fff8).VALUE(), -0.5);
    assert_eq!(gras::GRAS_SU_POINT_MINMAX(0xffc0_0010).MAX(), 4092.0);
    assert_eq!(tex::TEX_SAMP_0(0xfff8_0000).LOD_BIAS(), -1.0 / 256.0);
    assert_eq!(tex::TEX_CONST_4(0x1234_5661).BASE(), 0x1234_5660);
    assert_eq!(rb::RB_MRT_BASE::ROW.offset + 3 * rb::RB_MRT_BASE::ROW.stride, 0x20b5);
}

#[test]
fn varying_words_are_read_by_component() {
    let modes = vpc::VPC_VARYING_INTERP_MODE(0xe400_0001);
    let read = [0, 1, 12, 13, 14, 15].map(|k| modes.component(k));
    use IntpMode::{FLAT, ONE, SMOOTH, ZERO};
    assert_eq!(read, [FLAT, SMOOTH, SMOOTH, FLAT, ZERO, ONE]);
    assert_eq!((modes.C0(), modes.CF()), (FLAT, ONE));
    assert_eq!(vpc::VPC_VARYING_PS_REPL_MODE(0b1101).component(1), ReplMode::ONE_T);
}

fn field_of(register: &str, name: &str) -> &'static FieldRow {
    let reg = REGISTERS.lookup(REGISTERS.by_name(register).unwrap()).unwrap();
    parse::field(reg.fields(), name).unwrap()
}

#[test]
fn values_parse_in_every_spelling() {
    let check = |register, name, text, raw| {
        assert_eq!(field_of(register, name).parse(text), Ok(raw), "{register}.{name} = {text}");
    };
    check("RB_MODE_CONTROL", "WIDTH", "320", 10);
    check("RB_MODE_CONTROL", "WIDTH", "0x140", 10);
    check("RB_MODE_CONTROL", "ENABLE_GMEM", "true", 1);
    check("RB_MRT[0].BUF_INFO", "COLOR_FORMAT", "RB4_R8G8B8A8_UNORM", 0x1a);
    check("RB_MRT[0].BUF_INFO", "COLOR_FORMAT", "0x3f", 0x3f);
    check("VFD_DECODE[0].INSTR", "REGID", "r63.x", 0xfc);
    check("SP_VS_OUT[0].REG", "A_REGID", "hr1.y", 0x105);
    check("VFD_INDEX_OFFSET", "VALUE", "-1", u32::MAX);
    check("GRAS_SU_POINT_SIZE", "VALUE", "-0.5", 0xffff_fff8);
    check("GRAS_CL_VPORT_XSCALE_0", "VALUE", "128", 0x4300_0000);
    check("GRAS_CL_VPORT_XSCALE_0", "VALUE", "0x7fc00001", 0x7fc0_0001);
    check("RB_BLEND_RED", "FLOAT", "1.0", 0x3c00);
}

#[test]
fn bad_values_say_what_is_wrong() {
    let error = |register, name, text: &str| field_of(register, name).parse(text).unwrap_err().to_string();
    assert_eq!(error("RB_MODE_CONTROL", "WIDTH", "33"), "field WIDTH: `33` is not a multiple of 32");
    assert_eq!(error("RB_MODE_CONTROL", "WIDTH", "2048"), "field WIDTH: `2048` does not fit 6 bits");
    assert_eq!(error("RB_MODE_CONTROL", "WIDTH", "+32"), "field WIDTH: `+32` is not a number");
    assert_eq!(error("RB_MODE_CONTROL", "ENABLE_GMEM", "2"), "field ENABLE_GMEM: `2` is not true or false");
    assert_eq!(
        error("RB_MRT[0].CONTROL", "ROP_CODE", "ROP_NONE"),
        "field ROP_CODE: `ROP_NONE` is no value of a3xx_rop_code; did you mean `ROP_NAND`, `ROP_NOOP`, `ROP_NOR`?"
    );
    assert_eq!(error("VFD_DECODE[0].INSTR", "REGID", "r64.x"), "field REGID: `r64.x` does not fit 8 bits");
    assert_eq!(
        error("VFD_INDEX_OFFSET", "VALUE", "4294967295"),
        "field VALUE: `4294967295` does not fit 32 bits"
    );
    assert_eq!(
        error("GRAS_SU_POINT_SIZE", "VALUE", "0.01"),
        "field VALUE: `0.01` is not a multiple of 0.0625"
    );
    let rows = REGISTERS.lookup(0x20a0).unwrap().fields();
    assert_eq!(parse::word(rows, "{ DEPTH = 1 }"), Err(ValueError::UnknownField("DEPTH".into())));
    assert_eq!(parse::word(rows, "{ DEPTH }"), Err(ValueError::UnknownPart("DEPTH".into())));
}

/// parse(display(word)) = word and insert(fields(word)) = word.
fn survives(name: &str, rows: &'static [FieldRow], word: u32) {
    for show in [Show::NonZero, Show::Full] {
        let text = WordText { rows, word, show }.to_string();
        assert_eq!(parse::word(rows, &text), Ok(word), "{name} {text}");
    }
    let rest = unnamed_bits(rows, word);
    let rebuilt = fields(rows, word).fold(rest, |word, field| field.row.insert(word, field.raw));
    assert_eq!(rebuilt, word, "{name}");
}

#[test]
fn every_layout_survives_text_and_fields() {
    for (name, rows) in layouts() {
        let bits = (0..32).map(|bit| 1u32 << bit);
        let spread = (1..200u32).map(|i| i.wrapping_mul(0x9e37_79b9));
        bits.chain(spread).chain([0, u32::MAX]).for_each(|word| survives(&name, rows, word));
    }
}

proptest! {
    #![proptest_config(random_cases(256))]

    #[test]
    fn any_word_survives_text_and_fields(word: u32, index in 0..layouts().len()) {
        let (name, rows) = layouts()[index].clone();
        survives(&name, rows, word);
    }

    /// No text causes a panic in the parser of any field.
    #[test]
    fn any_text_is_a_value_or_an_error(text in "[-+{}=|.xrhA-Z0-9a-f ]{0,24}|\\PC{0,12}", index in 0..layouts().len()) {
        let (_, rows) = layouts()[index].clone();
        let _ = parse::word(rows, &text);
        for row in rows {
            if let Ok(raw) = row.parse(&text) {
                prop_assert_eq!(row.raw(row.insert(0, raw)), raw);
            }
        }
        let _ = REGISTERS.by_name(&text);
    }
}
