//! `scripts/database` finds a row that differs from Mesa's XML, in each kind of row.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::captures::root;

/// A source with a few rows of each kind, in the form of Mesa's database.
const REGISTERS: &str = r#"<database xmlns="http://nouveau.freedesktop.org/">
<enum name="tile"><value name="TILE4_LINEAR" value="0"/><value name="TILE4_2" value="2"/><value name="TILE4_3"/></enum>
<enum name="a4xx_tile_mode"><value name="TILE4_LINEAR" value="0"/><value name="TILE4_2" value="2"/><value name="TILE4_3"/></enum>
<bitset name="INFO" inline="yes">
  <bitfield name="COLOR_TILE_MODE" low="6" high="7" type="a4xx_tile_mode"/>
  <bitfield name="COLOR_SRGB" pos="13" type="boolean"/>
  <bitfield name="COLOR_BUF_PITCH" low="14" high="31" shr="4" type="uint"/>
  <bitfield name="OF_A6XX" pos="8" variants="A6XX-"/>
</bitset>
<domain name="A4XX" width="32">
  <array offset="0x20a4" name="RB_MRT" stride="5" length="8"><reg32 offset="0x1" name="BUF_INFO" type="INFO"/></array>
  <reg32 offset="0x2209" name="VFD_INSTANCE_START_OFFSET"/>
</domain></database>"#;
const PACKETS: &str = r#"<database xmlns="http://nouveau.freedesktop.org/">
<enum name="adreno_pm4_type3_packets" varset="chip">
  <value name="CP_WAIT_FOR_IDLE" value="0x26"/><value name="CP_LOAD_STATE4" value="0x30" variants="A4XX-A5XX"/>
  <value name="CP_OF_A2XX" value="0x30" variants="A2XX"/>
</enum>
<domain name="CP_LOAD_STATE4" width="32">
  <reg32 offset="0" name="0"><bitfield name="NUM_UNIT" low="22" high="31" type="uint"/></reg32>
  <reg32 offset="2" name="2" variants="A5XX-"/>
</domain></database>"#;
const INSTRUCTIONS: &str = r##"<isa><bitset name="#instruction"/>
<bitset name="#cat2" extends="#instruction"><pattern low="61" high="63">010</pattern></bitset>
<bitset name="add.f" extends="#cat2"><pattern low="53" high="58">000000</pattern></bitset>
<bitset name="max.f" extends="#cat2"><pattern low="53" high="58">000010</pattern></bitset>
<bitset name="flat.b" extends="#cat2"><gen min="600"/><pattern low="53" high="58">111001</pattern><pattern pos="50">1</pattern></bitset>
<bitset name="of.a7xx" extends="#cat2"><gen min="700"/><pattern low="53" high="58">000010</pattern></bitset></isa>"##;

/// The same of an A6xx, whose registers and addresses have 64 bits.
const WIDE_REGISTERS: &str = r#"<database xmlns="http://nouveau.freedesktop.org/">
<enum name="a6xx_bindless_descriptor_size"><value name="BINDLESS_DESCRIPTOR_16B" value="1"/><value name="BINDLESS_DESCRIPTOR_64B" value="3"/></enum>
<domain name="A6XX" width="32">
  <array offset="0x0400" name="RBBM_PERFCTR_CP" stride="2" length="14" variants="A6XX"/>
  <array offset="0x0300" name="RBBM_PERFCTR_CP" stride="2" length="14" variants="A7XX-"/>
  <array offset="0x08d0" name="CP_PERFCTR_CP_SEL" stride="1" length="14"/>
  <reg64 offset="0xa9b4" name="SP_CS_OBJ_START" type="address"/>
  <array offset="0xa9e8" name="SP_CS_BINDLESS_BASE" stride="2" length="5"><reg64 offset="0" name="DESCRIPTOR">
    <bitfield name="DESC_SIZE" low="0" high="1" type="a6xx_bindless_descriptor_size"/><bitfield name="ADDR" low="2" high="63" shr="2" type="address"/>
  </reg64></array>
</domain></database>"#;
const WIDE_PACKETS: &str = r#"<database xmlns="http://nouveau.freedesktop.org/">
<enum name="adreno_pm4_type3_packets" varset="chip">
  <value name="CP_START_BIN" value="0x50" variants="A6XX-"/><value name="CP_PERFCOUNTER_ACTION" value="0x50" variants="A5XX"/>
</enum>
<domain name="CP_START_BIN" width="32">
  <reg32 offset="0" name="BIN_COUNT" type="uint"/><reg64 offset="1" name="PREFIX_ADDR" type="address"/>
</domain></database>"#;

/// The fields of ours that this source leaves out are meant, and so is all that only we have.
const REASONS: &str = "*: only here* = left out\n";

/// The lines of a run for `chip`, with the replacement `was` by `now` in the source, and its exit status.
fn differences(chip: &str, was: &str, now: &str) -> (Vec<String>, Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace(was, now)).unwrap();
    };
    let registers = |name: &str| format!("src/freedreno/registers/adreno/{name}.xml");
    let (name, rows, packets) = match chip {
        "420" => ("a4xx", REGISTERS, PACKETS),
        _ => ("a6xx", WIDE_REGISTERS, WIDE_PACKETS),
    };
    write(&registers(name), rows);
    write(&registers("adreno_common"), "<database/>");
    write(&registers("adreno_pm4"), packets);
    write("src/freedreno/isa/ir3.xml", INSTRUCTIONS);
    fs::write(folder.path().join("reasons"), REASONS).unwrap();
    let mut command = Command::new(root().join("scripts/database"));
    command.arg(folder.path()).args(["--a4emu", env!("CARGO_BIN_EXE_a4emu"), "--gpu", chip, "--reasons"]);
    let output = command.arg(folder.path().join("reasons")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let text = String::from_utf8(output.stdout).unwrap();
    (text.lines().map(str::to_owned).collect(), output.status.code())
}

#[test]
fn each_kind_of_wrong_row_is_found() {
    if !Path::new("/usr/bin/env").exists() || Command::new("python3").arg("-V").output().is_err() {
        eprintln!("SKIPPED: there is no python3");
        return;
    }
    let (lines, status) = differences("420", "", "");
    assert_eq!((lines.len(), status), (1, Some(0)), "{lines:?}");
    for (was, now, line) in [
        ("0x2209", "0x220a", "register VFD_FETCH[0].INSTR_0: in Mesa VFD_INSTANCE_START_OFFSET, at 0x220a"),
        ("stride=\"5\"", "stride=\"4\"", ""),
        (
            "low=\"14\"",
            "low=\"15\"",
            "field RB_MRT[0].BUF_INFO.COLOR_BUF_PITCH: here 14..31 (unsigned, in units of 16), in Mesa 15..31 (in units of 16)",
        ),
        (
            "shr=\"4\"",
            "shr=\"5\"",
            "field RB_MRT[0].BUF_INFO.COLOR_BUF_PITCH: here 14..31 (unsigned, in units of 16), in Mesa 14..31 (in units of 32)",
        ),
        (
            "type=\"a4xx_tile_mode\"",
            "type=\"tile\"",
            "field RB_MRT[0].BUF_INFO.COLOR_TILE_MODE: here 6..7 (a4xx_tile_mode), in Mesa 6..7 (tile)",
        ),
        (
            "name=\"COLOR_SRGB\"",
            "name=\"SRGB\"",
            "field RB_MRT[0].BUF_INFO.SRGB: only in Mesa, 13..13 (flag)",
        ),
        (
            "\"TILE4_2\" value=\"2\"",
            "\"TILE4_2\" value=\"1\"",
            "enumerator a4xx_tile_mode.TILE4_2: here 0x2, in Mesa 0x1",
        ),
        ("\"0x26\"", "\"0x27\"", "packet CP_WAIT_FOR_IDLE: opcode 0x26 here, 0x27 in Mesa"),
        ("CP_WAIT_FOR_IDLE", "CP_WAIT", "packet CP_WAIT: only in Mesa, opcode 0x26"),
        (
            "low=\"22\"",
            "low=\"21\"",
            "field CP_LOAD_STATE4.0.NUM_UNIT: here 22..31 (unsigned), in Mesa 21..31",
        ),
        (" variants=\"A5XX-\"", "", "dword CP_LOAD_STATE4.2: only in Mesa"),
        (
            "000010",
            "000001",
            "instruction max.f: here min.f (min.f hr0.x, hr0.x, hr0.x), bits 4020000000000000",
        ),
        (
            "pos=\"50\">1",
            "pos=\"50\">0",
            "instruction flat.b of A6XX: here bary.f (bary.f hr0.x, hr0.x, hr0.x), bits 4720000000000000",
        ),
    ] {
        let (lines, status) = differences("420", was, now);
        assert_eq!(status, Some(1), "{now}: {lines:?}");
        assert!(line.is_empty() || lines.iter().any(|found| found == line), "{now}: {lines:?}");
    }
}

#[test]
fn registers_and_addresses_of_64_bits_are_compared_by_halves() {
    if Command::new("python3").arg("-V").output().is_err() {
        eprintln!("SKIPPED: there is no python3");
        return;
    }
    let (lines, status) = differences("630", "", "");
    assert_eq!((lines.len(), status), (1, Some(0)), "{lines:?}");
    for (was, now, line) in [
        ("0xa9b4", "0xa9b5", "register SP_CS_OBJ_START_HI: in Mesa SP_CS_OBJ_START_LO, at 0xa9b5"),
        ("0x0400", "0x0401", "register RBBM_PERFCTR_CP[0].HI: in Mesa RBBM_PERFCTR_CP[0].LO, at 0x0401"),
        ("0x08d0", "0x08d1", "register CP_PERFCTR_CP_SEL[1]: in Mesa CP_PERFCTR_CP_SEL[0], at 0x08d1"),
        (
            "high=\"63\"",
            "high=\"47\"",
            "field SP_CS_BINDLESS_BASE[0].DESCRIPTOR_HI.ADDR_HI: here 0..31 (bits), in Mesa 0..15",
        ),
        ("PREFIX_ADDR", "ADDR", "field CP_START_BIN.1.ADDR_LO: only in Mesa, 0..31"),
        ("\"0x50\" variants=\"A6XX-\"", "\"0x52\"", "packet CP_START_BIN: opcode 0x50 here, 0x52 in Mesa"),
    ] {
        let (lines, status) = differences("630", was, now);
        assert_eq!(status, Some(1), "{now}: {lines:?}");
        assert!(lines.iter().any(|found| found == line), "{now}: {lines:?}");
    }
}
