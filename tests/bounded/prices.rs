//! Measures the processor time of a unit of work, for each kind of work: `scripts/prices`.
//!
//! Each scene has endless work of one kind. It runs on one thread with two budgets. The difference of their
//! processor times, divided by the difference of the budgets, is the time of a unit. No kind may take more
//! than eight times longer or shorter than the mean. Instructions take the longest, because `info` also
//! checks for guesses while it runs them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use tempfile::TempDir;

use super::command::{a4emu, limits::limited};

/// The two budgets, in units.
const BUDGETS: [u64; 2] = [1 << 26, (1 << 26) + UNITS];

/// Difference of the two budgets, in units.
const UNITS: u64 = 1 << 29;

/// Largest ratio between a unit's time and the mean.
const MOST: f64 = 8.0;

/// A scene: the kind of work, the command line with `{capture}`, and the source.
struct Scene {
    kind: &'static str,
    command: &'static str,
    source: fn() -> String,
}

const SCENES: &[Scene] = &[
    Scene { kind: "bytes of the container", command: "info /dev/zero", source: String::new },
    Scene { kind: "packets", command: "replay --list-draws {capture}", source: packets },
    Scene { kind: "register writes", command: "replay --list-draws {capture}", source: writes },
    Scene { kind: "text of packets", command: "decode {capture}", source: packets },
    Scene { kind: "text of registers", command: "decode --query * {capture}", source: draws },
    Scene { kind: "state files", command: "replay --state {out}/a.state {capture}", source: draws },
    Scene { kind: "draws", command: "replay --threads 1 --png {out}/a.png {capture}", source: draws },
    Scene { kind: "events", command: "replay --threads 1 --timeline {out}/a.json {capture}", source: draws },
    Scene { kind: "findings", command: "validate --threads 1 {capture}", source: draws },
    Scene { kind: "looks", command: "report --threads 1 {capture} -o {out}/a.html", source: draws },
    Scene { kind: "pictures", command: "report --threads 1 {capture} -o {out}/a.html", source: pixels },
    Scene { kind: "vertices", command: "info --threads 1 {capture}", source: vertices },
    Scene { kind: "attributes", command: "info --threads 1 {capture}", source: attributes },
    Scene { kind: "missing attributes", command: "info --threads 1 {capture}", source: misses },
    Scene { kind: "pixels", command: "info --threads 1 {capture}", source: pixels },
    Scene { kind: "blended pixels", command: "info --threads 1 {capture}", source: blended },
    Scene { kind: "warps", command: "info --threads 1 {capture}", source: warps },
    Scene { kind: "instructions", command: "info --threads 1 {capture}", source: instructions },
    Scene { kind: "accesses", command: "info --threads 1 {capture}", source: accesses },
    Scene { kind: "barriers", command: "info --threads 1 {capture}", source: barriers },
    Scene { kind: "exchanges of a wave", command: "info --threads 1 {capture}", source: exchanges },
    Scene { kind: "exchanges of a quad", command: "info --threads 1 {capture}", source: exchanges_of_quads },
    Scene { kind: "copies of textures", command: "info --threads 1 {capture}", source: copies },
    Scene { kind: "blits to nowhere", command: "info --threads 1 {capture}", source: blits_to_nowhere },
    Scene { kind: "draws from memory", command: "info --threads 1 {capture}", source: draws_from_memory },
    Scene {
        kind: "texels of 128 MB of zeros",
        command: "info --threads 1 {capture}",
        source: texels_of_zeros,
    },
];

/// The test that measures takes minutes, and needs a machine without other load.
pub fn trials() -> [Trial; 2] {
    [
        Trial::test("prices: a unit takes as long whatever it is spent on", all_take_the_same)
            .with_ignored_flag(true),
        Trial::test(
            "prices: draws that copy their textures are charged, and hold few copies",
            copies_are_few,
        ),
    ]
}

/// Thousands of such draws would hold 16 MB each, if they were not charged. They would not fit in the memory that is allowed.
fn copies_are_few() -> Result<(), Failed> {
    let folder = TempDir::new()?;
    let scene = SCENES.iter().find(|scene| scene.kind == "copies of textures").ok_or("no scene")?;
    scene.cpu(&scene.assemble(folder.path())?, 4 * BUDGETS[0])?;
    Ok(())
}

fn all_take_the_same() -> Result<(), Failed> {
    let mut taken = Vec::new();
    for scene in SCENES {
        let ns = scene.ns_per_unit()?;
        println!("{:24} {ns:.3} ns", scene.kind);
        taken.push((scene.kind, ns));
    }
    let mean = (taken.iter().map(|(_, ns)| ns.ln()).sum::<f64>() / taken.len() as f64).exp();
    println!("{:24} {mean:.3} ns", "mean");
    let is_off = |ns: f64| ns > mean * MOST || ns < mean / MOST;
    let off: Vec<_> = taken.into_iter().filter(|(_, ns)| is_off(*ns)).collect();
    match off.is_empty() {
        true => Ok(()),
        false => Err(format!("off by more than {MOST} times from {mean:.3} ns: {off:?}").into()),
    }
}

impl Scene {
    fn ns_per_unit(&self) -> Result<f64, Failed> {
        let folder = TempDir::new()?;
        let capture = self.assemble(folder.path())?;
        let [less, more] = [self.cpu(&capture, BUDGETS[0])?, self.cpu(&capture, BUDGETS[1])?];
        Ok(more.saturating_sub(less).as_nanos() as f64 / UNITS as f64)
    }

    /// Writes its capture to `folder`.
    fn assemble(&self, folder: &Path) -> Result<PathBuf, Failed> {
        let [source, capture] = ["scene.a4", "scene.rd"].map(|name| folder.join(name));
        for name in ["setup.a4i", "kernels/kernel.a4i"] {
            let included = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures").join(name);
            std::fs::copy(&included, folder.join(included.file_name().ok_or("no name")?))?;
        }
        std::fs::write(&source, (self.source)())?;
        if source.metadata()?.len() > 0 {
            let assembled = a4emu(limited(), [Path::new("asm"), &source, Path::new("-o"), &capture], "")?;
            if assembled.code()? != 0 {
                return Err(format!("{}: {}", self.kind, assembled.stderr).into());
            }
        }
        Ok(capture)
    }

    /// Processor time of its command on the `capture`, which uses up a budget of `units`.
    fn cpu(&self, capture: &Path, units: u64) -> Result<Duration, Failed> {
        let command = format!("{} --max-work {units}", self.command);
        let folder = capture.parent().ok_or("no folder")?;
        let place = |word: &str| {
            let word = word.replace("{capture}", &capture.to_string_lossy());
            word.replace("{out}", &folder.to_string_lossy())
        };
        let ended = a4emu(limited(), command.split(' ').map(place), "")?;
        match ended.code()? {
            4 => Ok(ended.cpu),
            _ => Err(format!("{}: the budget is not used up: {ended}\n{}", self.kind, ended.stderr).into()),
        }
    }
}

const START: &str = "include \"setup.a4i\"
gpu_id 420
const SIZE = 1024
buffer target size SIZE * SIZE * 4
buffer corners { f32 -1.0, 1.0, 1.0, -1.0 }
buffer vs size 128 { shader {
    mov.f32f32 r0.z, (0.0)
    mov.f32f32 r0.w, (1.0)
    end
} }
buffer fs size 128 { shader {
    (rpt3)mov.f32f32 r0.x, (r)c0.x
    end
} }
";

const STATE: &str = "use frame(target, SIZE, SIZE)
    use program(vs, fs, r0.x, r0.x)
    load FS.constants { f32 0.2, 0.2, 0.25, 1.0 }
";

const CORNERS: &str = "use attribute(0, corners, 16, 8, VFMT4_32_32_FLOAT, 2, r0.x)
    use attributes(1, 2)
";

/// A scene that runs `body` sixteen million times after `state`.
fn scene(state: &str, body: &str) -> String {
    scene_with("", state, body)
}

/// The buffers `l1` to `l6`: a call of `l1` calls `l7` sixteen million times.
fn levels() -> String {
    let calls =
        |level: u32| format!("buffer l{level} {{ {} }}\n", format!("call l{} ", level + 1).repeat(16));
    (1..=6).map(calls).collect()
}

/// [`scene`] with more buffers.
fn scene_with(buffers: &str, state: &str, body: &str) -> String {
    let levels = levels();
    format!(
        "{START}{buffers}{levels}buffer l7 {{\n{body}\n}}\nbuffer main {{\n    {state}    call l1\n}}\nsubmit main\n"
    )
}

fn draw(primitive: &str, instances: u32, count: u32) -> String {
    format!(
        "CP_DRAW_INDX_OFFSET({{ PRIM_TYPE = {primitive} | SOURCE_SELECT = DI_SRC_SEL_AUTO_INDEX | VIS_CULL = \
         IGNORE_VISIBILITY | INDEX_SIZE = INDEX4_SIZE_32_BIT }}, NUM_INSTANCES = {instances}, NUM_INDICES = {count})\n"
    )
}

fn drawn(state: &str, body: &str) -> String {
    scene(&[STATE, CORNERS, state].concat(), body)
}

fn packets() -> String {
    drawn("", &"CP_WAIT_FOR_IDLE\n".repeat(64))
}

fn writes() -> String {
    drawn("", &"VFD_FETCH[9].INSTR_0 = 1\n+ VFD_FETCH[9].INSTR_1 = 2\n".repeat(32))
}

fn draws() -> String {
    drawn("", &draw("DI_PT_TRILIST", 1, 3).repeat(8))
}

fn vertices() -> String {
    drawn("", &draw("DI_PT_POINTLIST", 1, 60_000))
}

fn pixels() -> String {
    drawn("", &draw("DI_PT_RECTLIST", 1, 3))
}

fn blended() -> String {
    let targets = "for i in 0..8 {
        RB_MRT[i].CONTROL { ROP_CODE = ROP_COPY | COMPONENT_ENABLE = 0xf | BLEND | BLEND2 }
        RB_MRT[i].BUF_INFO { COLOR_FORMAT = RB4_R16G16B16A16_FLOAT | COLOR_BUF_PITCH = 4096 }
        RB_MRT[i].BASE = target
        RB_MRT[i].BLEND_CONTROL { RGB_SRC_FACTOR = FACTOR_SRC_ALPHA | RGB_DEST_FACTOR = FACTOR_ONE_MINUS_SRC_ALPHA }
    }
    RB_RENDER_COMPONENTS { RT0 = 0xf | RT1 = 0xf | RT2 = 0xf | RT3 = 0xf | RT4 = 0xf | RT5 = 0xf | RT6 = 0xf | RT7 = 0xf }
    SP_FS_OUTPUT_REG { MRT = 8 }
";
    drawn(targets, &draw("DI_PT_RECTLIST", 1, 3))
}

/// A scene with 31 attributes of `bytes` each, at the places that `place` gives.
fn fetching(place: &str, bytes: u32) -> String {
    let state = format!(
        "for i in 0..31 {{
        VFD_FETCH[i].INSTR_0 {{ FETCHSIZE = 15 | BUFSTRIDE = 16 | SWITCHNEXT = 1 }}
        + VFD_FETCH[i].INSTR_1 = {place}
        + VFD_FETCH[i].INSTR_2 {{ SIZE = {bytes} }}
        + VFD_FETCH[i].INSTR_3 {{ STEPRATE = 1 }}
        VFD_DECODE[i].INSTR {{ WRITEMASK = 15 | CONSTFILL | FORMAT = VFMT4_32_32_32_32_FLOAT | REGID = 0 | SHIFTCNT = 16 \
         | LASTCOMPVALID | SWITCHNEXT = 1 }}
    }}
    use attributes(31, 31 * 4)
"
    );
    scene(&[STATE, &state].concat(), &draw("DI_PT_POINTLIST", 4, 60_000))
}

fn attributes() -> String {
    fetching("target", 1 << 22)
}

fn misses() -> String {
    fetching("0x40000000 + i * 0x100000", 1 << 27)
}

/// An endless compute shader: its `body` repeats in `groups` groups of 32.
fn computed(body: &str, groups: u32) -> String {
    format!(
        "include \"setup.a4i\"
gpu_id 420
buffer data @ 0x20000000 size 65536
buffer cs size 512 {{ shader {{
    {body}
    end
}} }}
buffer main {{
    SP_CS_CTRL_REG0 {{ THREADMODE = MULTI | FULLREGFOOTPRINT = 4 | THREADSIZE = TWO_QUADS }}
    SP_CS_LENGTH_REG = groups(cs)
    SP_CS_OBJ_START = cs
    HLSQ_CS_CONTROL_REG {{ ENABLED | INSTRLENGTH = groups(cs) }}
    HLSQ_CL_NDRANGE_0 {{ KERNELDIM = 3 | LOCALSIZEX = 31 | LOCALSIZEY = 0 | LOCALSIZEZ = 0 }}
    HLSQ_CL_CONTROL_0 {{ LOCALIDREGID = r0.x }}
    load CS.shader from cs
    CP_EXEC_CS(0, NGROUPS_X = {groups}, NGROUPS_Y = 1, NGROUPS_Z = 1)
}}
submit main
"
    )
}

fn warps() -> String {
    computed("nop", 1 << 24)
}

fn looping(body: &str) -> String {
    let around = format!(
        "mov.u32u32 r1.y, 0
    mov.u32u32 r1.z, 200000
    mov.u32u32 r1.x, 0x20000000
l:
    {body}
    add.u r1.y, r1.y, 1
    (rpt2)nop
    cmps.u.lt p0.x, r1.y, r1.z
    (rpt5)nop
    br p0.x, #l
"
    );
    computed(&around, 1 << 16)
}

fn instructions() -> String {
    looping(&"mad.f32 r2.x, r2.y, r2.z, r2.w\n    mul.f r2.w, r2.x, r2.y\n    ".repeat(8))
}

fn accesses() -> String {
    looping("ldg.u32 r2.x, g[r1.x], 1")
}

/// An endless kernel of an A630 in a group of 1,024 invocations, with a texture of 128 MB
/// of zeros. Memory does not keep so many zeros in one piece, so that a request has to copy them.
fn kernel(body: &str) -> String {
    format!(
        "chip_id 0x06030002
buffer data @ 0x500010000 {{ zero 0x1000 }}
buffer more @ 0x500020000 {{ zero 0x1000 }}
buffer zeros @ 0x500100000 size 0x8000000 {{ zero 0x1000 }}
buffer code @ 0x500030000 {{ shader {{
    shl.b r1.x, r0.x, 2
    add.u r2.x, c0.x, r1.x
    mov.u32u32 r2.y, c0.y
    cmps.u.lt p0.x, r0.x, 0x3ff
    (rpt5)nop
loop:
    {body}
    br p0.x, #loop
    jump #loop
    end
}}
zero 0x800
}}
buffer textures @ 0x500040000 {{
    TEX_CONST_0 {{ FMT = FMT6_8_8_8_8_UNORM | SWIZ_X = A6XX_TEX_X }}
    TEX_CONST_1 {{ WIDTH = 4096 | HEIGHT = 8192 }}
    TEX_CONST_2 {{ PITCH = 16384 | TYPE = A6XX_TEX_2D }}
    zero 4
    TEX_CONST_4 {{ BASE_LO = zeros & 0xffffffff }}
    TEX_CONST_5 {{ BASE_HI = zeros >> 32 | DEPTH = 1 }}
    zero 0x28
}}
buffer samplers @ 0x500041000 {{ zero 0x20 }}
include \"kernel.a4i\"
buffer main {{
    use kernel(1024, 1, 1)
    SP_CS_TEX_CONST = textures
    SP_CS_TEX_SAMP = samplers
    SP_CS_CONFIG {{ ENABLED | NTEX = 1 | NSAMP = 1 }}
    CP_EXEC_CS(0, NGROUPS_X = 1, NGROUPS_Y = 1, NGROUPS_Z = 1)
}}
submit main
"
    )
}

fn barriers() -> String {
    kernel(&"(ss)(sy)bar.l\n    ".repeat(8))
}

fn exchanges() -> String {
    kernel(&"shfl.xor.u32 r4.x, r0.x, 3\n    ".repeat(8))
}

fn exchanges_of_quads() -> String {
    kernel(&"quad_shuffle.brcst (u32)(x)r4.x, r0.x, r1.x\n    ".repeat(8))
}

/// Draws that read a texture of 16 MB in turns with another one at the same place, of which some pages are not known. So each
/// draw copies it.
fn copies() -> String {
    let texture = |height: u32| {
        format!(
            "load FS.textures {{
        TEX_CONST_0 {{ FMT = TFMT4_8_8_8_8_UNORM | TYPE = A4XX_TEX_2D }}
        TEX_CONST_1 {{ HEIGHT = {height} | WIDTH = 4096 }}
        TEX_CONST_2 {{ PITCH = 16384 }}
        TEX_CONST_3 {{ 0 }}
        TEX_CONST_4 {{ BASE = texels }}
        zero 12
    }}
    {}",
            draw("DI_PT_RECTLIST", 1, 3)
        )
    };
    let state = format!(
        "use frame(texels, 4096, 1000)
    use program(vs, fs, r0.x, r0.x)
    {CORNERS}
    {}
    use frame(0, 32, 32)
    RB_MODE_CONTROL {{ ENABLE_GMEM | WIDTH = 32 | HEIGHT = 32 }}
    use program(vs, reads, r0.x, r0.x)
    TPL1_TP_FS_TEX_COUNT {{ FS = 1 }}
    load FS.samplers {{ zero 16 }}
    ",
        draw("DI_PT_RECTLIST", 1, 3)
    );
    let buffers = "buffer texels @ 0x40000000 size 4096 * 1024 * 4
buffer reads size 128 { shader {
    isam (f32)(xyzw)r0.x, r0.x, s#0, t#0
    (sy)nop
    end
} }
";
    scene_with(buffers, &state, &(texture(1024) + &texture(1023)))
}

/// Fills of 16,384 rows of two texels, outside of all buffers.
fn blits_to_nowhere() -> String {
    let levels = levels();
    format!(
        "chip_id 0x06030002
{levels}buffer l7 {{ CP_BLIT({{ OP = BLIT_OP_SCALE }}) }}
buffer main {{
    RB_2D_BLIT_CNTL {{ SOLID_COLOR | MASK = 15 | COLOR_FORMAT = FMT6_8_8_8_8_UNORM | IFMT = R2D_UNORM8 }}
    RB_2D_DST_INFO {{ COLOR_FORMAT = FMT6_8_8_8_8_UNORM }}
    RB_2D_DST = 0x600000000
    RB_2D_DST_PITCH = 64
    GRAS_2D_DST_TL {{ X = 0 | Y = 0 }}
    GRAS_2D_DST_BR {{ X = 1 | Y = 16383 }}
    call l1
}}
submit main
"
    )
}

/// Draws of an A630, whose parameters are missing. They are not rendered.
fn draws_from_memory() -> String {
    "chip_id 0x06030002
buffer main {
    CP_DRAW_INDIRECT_MULTI({ PRIM_TYPE = DI_PT_TRILIST }, { OPCODE = INDIRECT_OP_NORMAL }, DRAW_COUNT = 0xffffffff, \
     0x10000, 0x1, 16)
}
submit main
"
    .into()
}

/// A program that stores, so that each request reads memory anew.
fn texels_of_zeros() -> String {
    kernel("stg.u32 g[r2.x], r0.x, 1\n    sam (f32)(xyzw)r4.x, r1.x, s#0, t#0")
}
