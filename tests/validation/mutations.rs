//! Every mutation of a good stream that docs/hardware/hazards.md lists, with the rules that must report it.

use a4emu_decoder::asm::ast::{Kind, LoadSource};

use super::sites::{Edit, number, value_of};

/// A mutation, and the rules of which at least one must fire.
pub struct Mutation {
    /// The rules; the first is the one on the page.
    pub rules: &'static [&'static str],
    /// Description of the change.
    pub what: &'static str,
    /// The change.
    pub edit: Edit,
}

/// Reduces (rptN) of a nop by one, if `fits` is true for the lines around it.
fn shorter(line: &str, fits: bool) -> Option<String> {
    let (flags, _) = line.split_once("nop")?;
    let at = flags.find("(rpt")?;
    let count: u32 = flags[at + 4..at + 5].parse().ok().filter(|count| *count > 0 && fits)?;
    Some(line.replacen(&format!("(rpt{count})"), &format!("(rpt{})", count - 1), 1))
}

fn is_mova(line: &str) -> bool {
    line.contains("mova a0.x")
}

fn reads_predicate(line: &str) -> bool {
    let op = line.rsplit(')').next().unwrap_or(line).trim_start();
    op.starts_with("br ") || op.starts_with("kill ")
}

fn without(line: &str, flag: &str) -> Option<String> {
    line.contains(flag).then(|| line.replacen(flag, "", 1))
}

fn is_packet(kind: &Kind, name: &str) -> bool {
    matches!(kind, Kind::Packet(packet) if packet.name.text == name)
}

fn writes(kind: &Kind, register: &str) -> bool {
    matches!(kind, Kind::Write(reg, _) | Kind::More(reg, _) if reg.name == register)
}

fn event(kind: &Kind, event: &str) -> bool {
    is_packet(kind, "CP_EVENT_WRITE") && format!("{kind:?}").contains(&format!("\"{event}\""))
}

fn waits_before(kind: &Kind, behind: &[Kind], next: fn(&Kind) -> bool) -> bool {
    is_packet(kind, "CP_WAIT_FOR_IDLE") && behind.first().is_some_and(next)
}

/// Changes the address of a load from memory.
fn moved(source: &mut LoadSource, by: u64) -> bool {
    let LoadSource::Memory(address, _) = source else { return false };
    match value_of(address) {
        Some(value) => {
            *address = number(value + by);
            true
        }
        None => false,
    }
}

/// All mutations, in the order of the page.
pub const ALL: &[Mutation] = &[
    Mutation {
        rules: &["D1", "D4", "X1"],
        what: "(rptN)nop one slot shorter",
        edit: Edit::Line(|line, before, behind| {
            shorter(line, !is_mova(before) && !behind.contains("<a0.x") && !reads_predicate(behind))
        }),
    },
    Mutation {
        rules: &["D2", "D1"],
        what: "a nop between mova and the use of a0.x one slot shorter",
        edit: Edit::Line(|line, before, behind| shorter(line, is_mova(before) || behind.contains("<a0.x"))),
    },
    Mutation {
        rules: &["D3", "X1"],
        what: "the nop before br or kill one slot shorter",
        edit: Edit::Line(|line, _, behind| shorter(line, reads_predicate(behind))),
    },
    Mutation {
        rules: &["Y1", "Y3", "Y4", "Y5", "Y6", "S6"],
        what: "one (ss) removed",
        edit: Edit::Line(|line, _, _| without(line, "(ss)").filter(|line| !line.ends_with("end"))),
    },
    Mutation {
        rules: &["Y2", "Y3", "Y5"],
        what: "one (sy) removed",
        edit: Edit::Line(|line, _, _| without(line, "(sy)").filter(|line| !line.ends_with("end"))),
    },
    Mutation {
        rules: &["Y6"],
        what: "(sy) or (ss) removed from end",
        edit: Edit::Line(|line, _, _| {
            let ends = line.ends_with("end");
            without(line, "(sy)").or_else(|| without(line, "(ss)")).filter(|_| ends)
        }),
    },
    Mutation { rules: &["S1"], what: "(jp) cleared", edit: Edit::Line(|line, _, _| without(line, "(jp)")) },
    Mutation {
        rules: &["S2"],
        what: "end becomes nop",
        edit: Edit::Line(|line, _, _| line.ends_with("end").then(|| line.replace("end", "nop"))),
    },
    Mutation {
        rules: &["S3"],
        what: "(ei) dropped",
        edit: Edit::Line(|line, _, _| without(line, "(ei)").filter(|_| line.contains("bary.f"))),
    },
    Mutation {
        rules: &["S3"],
        what: "the last input before the one with (ei) moved behind it",
        edit: Edit::Swap(|line, behind| {
            let input = |line: &str| line.contains("bary.f") || line.contains("ldlv");
            input(line) && behind.contains("(ei)")
        }),
    },
    Mutation {
        rules: &["S6"],
        what: "(ss) removed from the dummy bary.f",
        edit: Edit::Line(|line, _, _| without(line, "(ss)").filter(|_| line.contains("(ei)r63.x"))),
    },
    Mutation { rules: &["S8"], what: "(ul) cleared", edit: Edit::Line(|line, _, _| without(line, "(ul)")) },
    Mutation {
        rules: &["S11"],
        what: "(sat) on a bary.f",
        edit: Edit::Line(|line, _, _| {
            (line.contains("bary.f") && !line.contains("(sat)"))
                .then(|| line.replacen("bary.f", "(sat)bary.f", 1))
        }),
    },
    Mutation {
        rules: &["S20", "P5", "P18"],
        what: "FULLREGFOOTPRINT - 1 (VS)",
        edit: Edit::Field("SP_VS_CTRL_REG0", "FULLREGFOOTPRINT", |old| old.saturating_sub(1)),
    },
    Mutation {
        rules: &["S20", "P5"],
        what: "FULLREGFOOTPRINT - 1 (FS)",
        edit: Edit::Field("SP_FS_CTRL_REG0", "FULLREGFOOTPRINT", |old| old.saturating_sub(1)),
    },
    Mutation {
        rules: &["S22", "C24", "P12"],
        what: "CONSTLENGTH 0 (FS)",
        edit: Edit::Field("HLSQ_FS_CONTROL_REG", "CONSTLENGTH", |_| 0),
    },
    Mutation {
        rules: &["S23"],
        what: "SSBO_ENABLE cleared (CS)",
        edit: Edit::Clear("HLSQ_CS_CONTROL_REG", "SSBO_ENABLE"),
    },
    Mutation {
        rules: &["S24"],
        what: "PIXLODENABLE cleared",
        edit: Edit::Clear("SP_FS_CTRL_REG0", "PIXLODENABLE"),
    },
    Mutation {
        rules: &["S25"],
        what: "LENGTH - 1 (FS)",
        edit: Edit::Value("SP_FS_LENGTH_REG", |old| old.saturating_sub(1).max(u64::from(old == 0))),
    },
    Mutation {
        rules: &["P1", "S26"],
        what: "TOTALATTR - 1",
        edit: Edit::Field("VPC_ATTR", "TOTALATTR", |old| old.saturating_sub(1)),
    },
    Mutation {
        rules: &["S27", "P16"],
        what: "IJ_PERSP_PIXEL r4.x",
        edit: Edit::Named("HLSQ_CONTROL_3_REG", "IJ_PERSP_PIXEL", "r4.x"),
    },
    Mutation {
        rules: &["S35", "S27"],
        what: "ldlv becomes bary.f",
        edit: Edit::Line(|line, _, _| line.contains("ldlv").then(|| "bary.f r1.x, 0, r0.x".to_owned())),
    },
    Mutation {
        rules: &["S37", "S3"],
        what: "the last bary.f dropped",
        edit: Edit::Line(|line, before, _| {
            (line.contains("bary.f (ei)r") && !before.contains("ldlv")).then(|| "nop".to_owned())
        }),
    },
    Mutation {
        rules: &["S32"],
        what: "LOCALSIZEX doubled",
        edit: Edit::Field("HLSQ_CL_NDRANGE_0", "LOCALSIZEX", |old| 2 * old + 1),
    },
    Mutation {
        rules: &["C1"],
        what: "the wait before PC_BINNING_COMMAND removed",
        edit: Edit::Drop(|kind, behind| {
            waits_before(kind, behind, |next| writes(next, "PC_BINNING_COMMAND"))
        }),
    },
    Mutation {
        rules: &["C2"],
        what: "the wait before CP_REG_RMW removed",
        edit: Edit::Drop(|kind, behind| waits_before(kind, behind, |next| is_packet(next, "CP_REG_RMW"))),
    },
    Mutation {
        rules: &["C3", "X4"],
        what: "the wait before constants removed",
        edit: Edit::Drop(|kind, behind| {
            waits_before(
                kind,
                behind,
                |next| matches!(next, Kind::Load(owner, ..) if owner.text.ends_with("constants")),
            )
        }),
    },
    Mutation {
        rules: &["C5"],
        what: "CACHE_FLUSH before an indirect dispatch removed",
        edit: Edit::Drop(|kind, behind| {
            event(kind, "CACHE_FLUSH")
                && behind.iter().take(3).any(|next| is_packet(next, "CP_EXEC_CS_INDIRECT"))
        }),
    },
    Mutation {
        rules: &["C6"],
        what: "HLSQ_FLUSH removed",
        edit: Edit::Drop(|kind, _| event(kind, "HLSQ_FLUSH")),
    },
    Mutation {
        rules: &["C7"],
        what: "CACHE_FLUSH behind the binning pass removed",
        edit: Edit::Drop(|kind, behind| {
            let ends = behind.iter().take(3).any(|next| is_packet(next, "CP_EXEC_CS_INDIRECT"));
            event(kind, "CACHE_FLUSH") && !ends
        }),
    },
    Mutation {
        rules: &["C20"],
        what: "a write to 0xcc0 added",
        edit: Edit::Insert("RB_RENDER_COMPONENTS", 0xcc0, 1),
    },
    Mutation {
        rules: &["C23", "M7"],
        what: "address of indirect constants + 16",
        edit: Edit::Load("constants", |source, _| moved(source, 16)),
    },
    Mutation {
        rules: &["C24"],
        what: "DST_OFF of constants + 300",
        edit: Edit::Load("constants", |_, at| {
            let old = at.as_ref().map_or(Some(0), value_of);
            *at = old.map(|old| number(old + 300));
            old.is_some()
        }),
    },
    Mutation {
        rules: &["C26"],
        what: "OBJ_START changed (FS)",
        edit: Edit::Value("SP_FS_OBJ_START", |old| old + 0x80),
    },
    Mutation {
        rules: &["C27"],
        what: "PC_VSTREAM_CONTROL.SIZE + 1",
        edit: Edit::Field("PC_VSTREAM_CONTROL", "SIZE", |old| if old == 0 { 0 } else { old + 1 }),
    },
    Mutation {
        rules: &["C32", "C29", "T6", "P23"],
        what: "screen scissor TL + 32",
        edit: Edit::Field("GRAS_SC_SCREEN_SCISSOR_TL", "X", |old| old + 32),
    },
    Mutation {
        rules: &["C33"],
        what: "W of a pipe 0",
        edit: Edit::Field("VSC_PIPE_CONFIG", "W", |old| if old > 1 { 0 } else { old }),
    },
    Mutation {
        rules: &["F5", "F1"],
        what: "UCHE_INVALIDATE1 never written",
        edit: Edit::Forget("UCHE_INVALIDATE1"),
    },
    Mutation {
        rules: &["P1"],
        what: "TOTALATTR + 4",
        edit: Edit::Field("VPC_ATTR", "TOTALATTR", |old| old + 4),
    },
    Mutation { rules: &["P2"], what: "VAROUT 0", edit: Edit::Field("PC_PRIM_VTX_CNTL", "VAROUT", |_| 0) },
    Mutation {
        rules: &["P3"],
        what: "TOTALVSOUTVAR - 1",
        edit: Edit::Field("SP_VS_PARAM_REG", "TOTALVSOUTVAR", |old| old.saturating_sub(1)),
    },
    Mutation {
        rules: &["P3"],
        what: "OUTLOC0 + 4",
        edit: Edit::Field("SP_VS_VPC_DST", "OUTLOC0", |old| if old == 0 { 0 } else { old + 4 }),
    },
    Mutation {
        rules: &["P4", "P3"],
        what: "COMPMASK 5",
        edit: Edit::Field("SP_VS_OUT", "A_COMPMASK", |old| if old == 0 { 0 } else { 5 }),
    },
    Mutation {
        rules: &["P5"],
        what: "POSREGID r40.x",
        edit: Edit::Named("SP_VS_PARAM_REG", "POSREGID", "r40.x"),
    },
    Mutation { rules: &["P6"], what: "PSIZE set", edit: Edit::Set("VPC_ATTR", "PSIZE") },
    Mutation {
        rules: &["P7"],
        what: "MRT + 1 in RB",
        edit: Edit::Field("RB_FS_OUTPUT_REG", "MRT", |old| old + 1),
    },
    Mutation {
        rules: &["P8"],
        what: "MRTFORMAT R32_UINT",
        edit: Edit::Renamed("SP_FS_MRT", "MRTFORMAT", "RB4_R32_UINT"),
    },
    Mutation {
        rules: &["P10", "P9"],
        what: "EARLY_Z_DISABLE cleared",
        edit: Edit::Clear("RB_DEPTH_CONTROL", "EARLY_Z_DISABLE"),
    },
    Mutation {
        rules: &["P11"],
        what: "Z_TEST_ENABLE cleared where Z is written",
        edit: Edit::Clear("RB_DEPTH_CONTROL", "Z_TEST_ENABLE"),
    },
    Mutation {
        rules: &["P12"],
        what: "CONSTLENGTH + 1 in SP (FS)",
        edit: Edit::Field("SP_FS_CTRL_REG1", "CONSTLENGTH", |old| old + 1),
    },
    Mutation {
        rules: &["P13", "P12"],
        what: "FS CONSTOBJECTOFFSET 32",
        edit: Edit::Field("HLSQ_FS_CONTROL_REG", "CONSTOBJECTOFFSET", |_| 32),
    },
    Mutation {
        rules: &["P14"],
        what: "VS_BUFFER cleared",
        edit: Edit::Clear("SP_INSTR_CACHE_CTRL", "VS_BUFFER"),
    },
    Mutation {
        rules: &["P15"],
        what: "FSTHREADSIZE two quads",
        edit: Edit::Named("HLSQ_CONTROL_0_REG", "FSTHREADSIZE", "TWO_QUADS"),
    },
    Mutation { rules: &["P16"], what: "IJ_PERSP cleared", edit: Edit::Clear("GRAS_CNTL", "IJ_PERSP") },
    Mutation {
        rules: &["P17"],
        what: "STRMFETCHINSTRCNT - 1",
        edit: Edit::Field("VFD_CONTROL_0", "STRMFETCHINSTRCNT", |old| old.saturating_sub(1)),
    },
    Mutation {
        rules: &["P18"],
        what: "REGID r47.x",
        edit: Edit::Named("VFD_DECODE.INSTR", "REGID", "r47.x"),
    },
    Mutation {
        rules: &["P19"],
        what: "INDX_SIZE halved",
        edit: Edit::Argument("CP_DRAW_INDX_OFFSET", "INDX_SIZE", |old| old / 2),
    },
    Mutation {
        rules: &["P20"],
        what: "GRAS_DEPTH_CONTROL 16 bits",
        edit: Edit::Named("GRAS_DEPTH_CONTROL", "FORMAT", "DEPTH4_16"),
    },
    Mutation {
        rules: &["P21", "P34"],
        what: "READ_DEST_ENABLE cleared",
        edit: Edit::Clear("RB_MRT.CONTROL", "READ_DEST_ENABLE"),
    },
    Mutation {
        rules: &["P27", "P34"],
        what: "ENABLE_BLEND 0",
        edit: Edit::Field("RB_FS_OUTPUT", "ENABLE_BLEND", |_| 0),
    },
    Mutation {
        rules: &["P28"],
        what: "FORCE_FRAGZ_TO_FS cleared",
        edit: Edit::Clear("GRAS_ALPHA_CONTROL", "FORCE_FRAGZ_TO_FS"),
    },
    Mutation {
        rules: &["P29"],
        what: "VPC_VARYING_PS_REPL without S",
        edit: Edit::Clear("VPC_VARYING_PS_REPL.MODE", "C0"),
    },
    Mutation {
        rules: &["P32", "P8", "P21"],
        what: "a target of integers",
        edit: Edit::Named("RB_MRT.BUF_INFO", "COLOR_FORMAT", "RB4_R8G8B8A8_UINT"),
    },
    Mutation {
        rules: &["P40"],
        what: "UINT of a blend constant",
        edit: Edit::Field("RB_BLEND_RED", "UINT", |old| if old == 0 { 0 } else { old ^ 0x40 }),
    },
    Mutation {
        rules: &["P23", "T6"],
        what: "screen scissor BR + 1024",
        edit: Edit::Field("GRAS_SC_SCREEN_SCISSOR_BR", "X", |old| old + 1024),
    },
    Mutation {
        rules: &["P24"],
        what: "MSAA_SAMPLES 2 in GRAS",
        edit: Edit::Field("GRAS_SC_CONTROL", "MSAA_SAMPLES", |_| 2),
    },
    Mutation {
        rules: &["M1"],
        what: "attribute SIZE + 64 KiB",
        edit: Edit::Field("VFD_FETCH.INSTR_2", "SIZE", |old| old + 0x1_0000),
    },
    Mutation {
        rules: &["M4", "T2"],
        what: "pitch of a target doubled",
        edit: Edit::Field("RB_MRT.BUF_INFO", "COLOR_BUF_PITCH", |old| 2 * old),
    },
    Mutation {
        rules: &["M5"],
        what: "RB_COPY_DEST_PITCH halved",
        edit: Edit::Field("RB_COPY_DEST_PITCH", "PITCH", |old| old / 2),
    },
    Mutation {
        rules: &["T1", "P22"],
        what: "bin width 0",
        edit: Edit::Field("RB_MODE_CONTROL", "WIDTH", |_| 0),
    },
    Mutation {
        rules: &["T2"],
        what: "STRIDE halved",
        edit: Edit::Field("RB_MRT.CONTROL3", "STRIDE", |old| old / 2),
    },
    Mutation {
        rules: &["T3"],
        what: "a target at 0x17c000",
        edit: Edit::Value("RB_MRT.BASE", |_| 0x17_c000),
    },
    Mutation {
        rules: &["T4", "T7"],
        what: "DEPTH_BASE 0",
        edit: Edit::Field("RB_DEPTH_INFO", "DEPTH_BASE", |_| 0),
    },
    Mutation {
        rules: &["T5"],
        what: "RB_DEPTH_PITCH halved",
        edit: Edit::Value("RB_DEPTH_PITCH", |old| old / 64 * 32),
    },
    Mutation {
        rules: &["T6"],
        what: "BIN_OFFSET + 32",
        edit: Edit::Field("RB_BIN_OFFSET", "X", |old| old + 32),
    },
    Mutation {
        rules: &["T7"],
        what: "GMEM_BASE + 0x4000",
        edit: Edit::Field("RB_COPY_CONTROL", "GMEM_BASE", |old| old + 0x4000),
    },
    Mutation {
        rules: &["R1"],
        what: "RB_ALPHA_CONTROL never written",
        edit: Edit::Forget("RB_ALPHA_CONTROL"),
    },
    Mutation {
        rules: &["R3"],
        what: "GRAS_ALPHA_CONTROL never written",
        edit: Edit::Forget("GRAS_ALPHA_CONTROL"),
    },
];
