//! Dispatches of an Adreno 630: programs in assembly, and what they leave in memory.

use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::capture::Sections;
use a4emu_decoder::asm::{Bounds, assemble};
use a4emu_gpu::budget::Budget;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::playback::Playback;
use a4emu_inspect::asm::Disk;
use a4emu_shader::Jit;
use a4emu_support::folders::Folders;
use a4emu_support::status::Status;
use pretty_assertions::assert_eq;
use rayon::ThreadPoolBuilder;

/// Address of the buffer `data`.
const DATA: u64 = 0x5_0001_0000;

/// A capture: `buffers` beside those of every capture, the program, more registers and the dispatch.
fn capture(buffers: &str, program: &str, registers: &str, dispatch: &str) -> Vec<u8> {
    let source = format!(
        r#"chip_id 0x06030002
        cmd "test/1: fence=1\0"
        buffer data @ {DATA:#x} {{ zero 0x1000 }}
        buffer more @ 0x500020000 {{ zero 0x1000 }}
        buffer code @ 0x500030000 {{
            shader {{
                {program}
            }}
            zero 0x400
        }}
        {buffers}
        include "kernel.a4i"
        buffer main {{
            use kernel(64, 1, 1)
            {registers}
            {dispatch}
        }}
        submit main
        "#
    );
    let name = concat!(env!("CARGO_MANIFEST_DIR"), "/captures/kernels/test.a4");
    let mut disk = Disk::new(Folders::new([concat!(env!("CARGO_MANIFEST_DIR"), "/captures/kernels")]));
    assemble(name, &source, &mut disk, Bounds::default()).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

/// The first `count` dwords of `data` after the capture, and what was reported. They are the same compiled and interpreted.
fn played(capture: &[u8], count: u64) -> (Vec<u32>, Vec<String>) {
    let play = |jit| played_within(capture, count, jit, Budget::default());
    let (compiled, interpreted) = (play(Jit::On), play(Jit::Off));
    assert_eq!(compiled, interpreted);
    compiled
}

fn played_within(capture: &[u8], count: u64, jit: Jit, budget: Budget) -> (Vec<u32>, Vec<String>) {
    let mut playback = Playback::default();
    playback.gpu.pipeline.programs.jit = jit;
    playback.gpu.budget = budget;
    playback.run(Sections::new(capture).unwrap(), &mut Renderer, &mut Silent);
    let gpu = playback.gpu.end();
    let dword = |n| gpu.memory().read_u32(Address::new(DATA + 4 * n)).unwrap();
    let troubles = gpu.report.troubles.iter().map(|(trouble, ..)| trouble.to_string()).collect();
    ((0..count).map(dword).collect(), troubles)
}

/// The first `count` dwords of `data` after a dispatch of `program` in groups of 64 invocations.
fn ran(program: &str, count: u64) -> Vec<u32> {
    let (dwords, troubles) = played(
        &capture("", program, "", "CP_EXEC_CS(0, NGROUPS_X = 3, NGROUPS_Y = 2, NGROUPS_Z = 1)"),
        count,
    );
    assert_eq!(troubles, Vec::<String>::new());
    dwords
}

/// Leaves the number of the invocation of three groups in a row in r1.x, and the address of its dword of `data` in r2.xy.
const PLACE: &str = "mul.u24 r1.x, r48.y, 192
    mov.u32u32 r1.y, 64
    mad.u24 r1.x, r48.x, r1.y, r1.x
    add.u r1.x, r1.x, r0.x
    shl.b r1.y, r1.x, 2
    add.u r2.x, c0.x, r1.y
    mov.u32u32 r2.y, c0.y\n";

#[test]
fn each_invocation_has_its_ids() {
    let stored = ran(&format!("{PLACE}stg.u32 g[r2.x], r1.x, 1\nend"), 400);
    let expected = (0..400).map(|n| if n < 384 { n } else { 0 });
    assert_eq!(stored, expected.collect::<Vec<u32>>());
}

#[test]
fn half_registers_lie_where_the_register_says() {
    let program = "mov.u32u32 r2.x, c0.x
        mov.u32u32 r2.y, c0.y
        mov.u32u32 r4.x, 0x00050003
        add.u hr8.y, hr8.x, 4
        stg.u32 g[r2.x], r4.x, 1
        end";
    let dispatch = "CP_EXEC_CS(0, NGROUPS_X = 1, NGROUPS_Y = 1, NGROUPS_Z = 1)";
    let merged = played(&capture("", program, "", dispatch), 1);
    let apart = played(&capture("", program, "SP_CS_CTRL_REG0 { THREADSIZE = THREAD64 }", dispatch), 1);
    assert_eq!((merged.0, apart.0), (vec![0x0007_0003], vec![0x0005_0003]));
}

#[test]
fn a_group_shares_memory_and_meets_at_barriers() {
    // Each invocation stores its number, and adds those of the other half of the group behind the barrier.
    let program = format!(
        "{PLACE}shl.b r3.x, r0.x, 2
        stl.u32 l[r3.x], r1.x, 1
        (ss)(sy)bar.l
        xor.b r3.y, r3.x, 128
        ldl.u32 r4.x, l[r3.y], 1
        (sy)(ss)add.u r4.x, r4.x, r1.x
        stg.u32 g[r2.x], r4.x, 1
        end"
    );
    let expected = (0..384).map(|n: u32| n + (n ^ 32));
    assert_eq!(ran(&program, 384), expected.collect::<Vec<u32>>());
}

#[test]
fn warps_of_a_group_have_private_memory_of_their_own() {
    let program = format!(
        "{PLACE}mov.u32u32 r3.x, 8
        stp.u32 p[r3.x], r1.x, 1
        (ss)(sy)bar.l
        ldp.u32 r4.x, p[r3.x], 1
        (sy)(ss)nop
        stg.u32 g[r2.x], r4.x, 1
        end"
    );
    assert_eq!(ran(&program, 384), (0..384).collect::<Vec<u32>>());
}

#[test]
fn atomics_of_all_groups_count_each_invocation() {
    let program = "mov.u32u32 r2.x, c0.x
        mov.u32u32 r2.y, c0.y
        mov.u32u32 r3.x, 2
        atomic.g.add.untyped.1d.u32.1.g r4.x, r2.x, r3.x
        end";
    assert_eq!(ran(program, 2), [2 * 384, 0]);
}

/// A buffer `descriptors` with the words of an image of `format` at `data`, 8 texels wide and 4 high, in slot 1.
fn image(format: &str) -> String {
    format!(
        "buffer descriptors @ 0x500040000 {{
            zero 0x40
            TEX_CONST_0 {{ FMT = {format} | SWIZ_X = A6XX_TEX_X | SWIZ_Y = A6XX_TEX_Y | SWIZ_Z = A6XX_TEX_Z
                | SWIZ_W = A6XX_TEX_W }}
            TEX_CONST_1 {{ WIDTH = 8 | HEIGHT = 4 }}
            TEX_CONST_2 {{ PITCH = 128 | TYPE = A6XX_TEX_2D }}
            zero 4
            TEX_CONST_4 {{ BASE_LO = data & 0xffffffff }}
            TEX_CONST_5 {{ BASE_HI = data >> 32 }}
            zero 0x28
        }}
        buffer samplers @ 0x500041000 {{ zero 0x20 }}\n"
    )
}

/// The registers of slots 0 and 1 of [`image`], as images and as textures.
const IMAGES: &str = "SP_CS_IBO = descriptors
    SP_CS_TEX_CONST = descriptors
    SP_CS_TEX_SAMP = samplers
    SP_CS_CONFIG { ENABLED | NIBO = 2 | NTEX = 2 | NSAMP = 1 }";

const ONE_GROUP: &str = "CP_EXEC_CS(0, NGROUPS_X = 1, NGROUPS_Y = 1, NGROUPS_Z = 1)";

#[test]
fn images_are_stored_and_fetched_through_descriptors() {
    // Texel (x, y) of the first two rows gets its number, as a float, and twice of it. Then it is fetched and copied down by two rows.
    let program = "and.b r1.x, r0.x, 7
        shr.b r1.y, r0.x, 3
        and.b r1.y, r1.y, 1
        cov.u32f32 r2.x, r0.x
        add.f r2.y, r2.x, r2.x
        mov.f32f32 r2.z, (0.0)
        mov.f32f32 r2.w, (1.0)
        cmps.u.lt p0.x, r0.x, 16
        br !p0.x, #done
        stib.b.typed.2d.f32.4.imm r2.x, r1.x, 1
        fence.g.w
        (sy)isam (f32)(xyzw)r3.x, r1.x, s#0, t#1
        add.u r1.y, r1.y, 2
        (sy)stib.b.typed.2d.f32.4.imm r3.x, r1.x, 1
        done:
        end";
    let capture = capture(&image("FMT6_32_32_32_32_FLOAT"), program, IMAGES, ONE_GROUP);
    let (dwords, troubles) = played(&capture, 128);
    assert_eq!(troubles, Vec::<String>::new());
    let texel = |n: u32| [n as f32, 2.0 * n as f32, 0.0, 1.0].map(f32::to_bits);
    let rows: Vec<u32> = (0..16).flat_map(texel).collect();
    assert_eq!(dwords, [rows.clone(), rows].concat());
}

#[test]
fn tiled_images_are_stored_and_fetched() {
    // Texel (x, y) gets its number. Then each is fetched, and the texel to the right of it is added to it.
    let program = "and.b r1.x, r0.x, 7
        shr.b r1.y, r0.x, 3
        add.u r2.x, r0.x, 1
        cmps.u.lt p0.x, r0.x, 32
        br !p0.x, #done
        stib.b.typed.2d.u32.1.imm r2.x, r1.x, 1
        fence.g.w
        add.u r1.z, r1.x, 1
        mov.u32u32 r1.w, r1.y
        (sy)isam (u32)(x)r3.x, r1.z, s#0, t#1
        (sy)add.u r2.x, r2.x, r3.x
        stib.b.typed.2d.u32.1.imm r2.x, r1.x, 1
        done:
        end";
    let tiled = image("FMT6_32_UINT | TILE_MODE = TILE6_3");
    let tiled = tiled.replace("            zero 4\n", "            TEX_CONST_3 { TILE_ALL }\n");
    let (dwords, troubles) = played(&capture(&tiled, program, IMAGES, ONE_GROUP), 64);
    assert_eq!(troubles, Vec::<String>::new());
    let mut expected = vec![0; 64];
    for n in 0..32u32 {
        let (x, y) = (n & 7, n >> 3);
        let place = x & 1 | (y & 1) << 1 | (x & 2) << 1 | (y & 2) << 2 | (x & 4) << 2;
        expected[place as usize] = n + 1 + if x < 7 { n + 2 } else { 0 };
    }
    assert_eq!(dwords, expected);
}

#[test]
fn images_of_unknown_order_and_slots_without_a_descriptor_store_nothing() {
    let program = "mov.u32u32 r1.x, 0\nmov.u32u32 r1.y, 0\nmov.f32f32 r2.x, (1.0)\nstib.b.typed.2d.f32.1.imm r2.x, r1.x, 1\nend";
    let stored =
        |registers: &str, buffers: &str| played(&capture(buffers, program, registers, ONE_GROUP), 1).0[0];
    let registers = "SP_CS_IBO = descriptors\nSP_CS_CONFIG { ENABLED | NIBO = 2 }";
    let linear = image("FMT6_32_FLOAT");
    assert_eq!(stored(registers, &linear), 1f32.to_bits());
    assert_eq!(stored(&registers.replace("NIBO = 2", "NIBO = 1"), &linear), 0);
    assert_eq!(stored(registers, &image("FMT6_32_FLOAT | TILE_MODE = TILE6_2")), 0);
    let (_, troubles) =
        played(&capture(&image("FMT6_32_FLOAT | TILE_MODE = TILE6_2"), program, registers, ONE_GROUP), 1);
    assert_eq!(troubles, ["CS image 1: texture of tile mode 2 (TEX_CONST_0.TILE_MODE) is not supported yet"]);
}

#[test]
fn textures_and_samplers_are_named_by_registers() {
    // At bindless base 1: textures of a row of four texels at 0 and 5, a nearest sampler at 2 that repeats, one at 3 that
    // clamps, and a texture whose order is not known at 6.
    let texture = |width: u32, mode: &str, place: u32| {
        format!(
            "TEX_CONST_0 {{ SWIZ_X = A6XX_TEX_X | FMT = FMT6_32_FLOAT{mode} }}
            TEX_CONST_1 {{ WIDTH = {width} | HEIGHT = 1 }}
            TEX_CONST_2 {{ TYPE = A6XX_TEX_2D | PITCH = 64 }}
            zero 4
            TEX_CONST_4 {{ BASE_LO = texels + {place} & 0xffffffff }}
            TEX_CONST_5 {{ BASE_HI = texels >> 32 | DEPTH = 1 }}
            zero 0x28\n"
        )
    };
    let sampler = |wrap: &str| format!("TEX_SAMP_0 {{ WRAP_S = {wrap} }}\nzero 0x3c\n");
    let set = [
        texture(4, "", 0),
        "zero 0x40\n".into(),
        sampler("A6XX_TEX_REPEAT"),
        sampler("A6XX_TEX_CLAMP_TO_EDGE"),
        "zero 0x40\n".into(),
        texture(3, "", 64),
        texture(4, " | TILE_MODE = TILE6_2", 0),
    ];
    let buffers = format!(
        "buffer texels @ 0x500061000 {{ f32 1, 2, 3, 4\nzero 0x30\nf32 10, 20, 30\nzero 0x34 }}
        buffer set @ 0x500060000 {{ {} }}",
        set.concat()
    );
    // Invocation n asks for texture 0 or 5 with sampler 2 or 3, at (1.25, 0.5): texel 1 of the repeated, the last of the
    // clamped. Its second dword has the width.
    let program = |other: u32| {
        format!(
            "and.b r3.x, r0.x, 1
            mul.u24 r3.x, r3.x, {other}
            shr.b r3.y, r0.x, 1
            and.b r3.y, r3.y, 1
            add.u r3.y, r3.y, 2
            mov.f32f32 r4.x, (1.3)
            mov.f32f32 r4.y, (0.5)
            mov.u32u32 r6.x, 0
            shl.b r1.x, r0.x, 3
            add.u r2.x, c0.x, r1.x
            mov.u32u32 r2.y, c0.y
            saml.s2en.nonuniform.base1 (f32)(x)r5.x, r4.x, r6.x, r3.x
            getsize.s2en.nonuniform.base1 (u32)(x)r5.y, r6.x, r3.x
            (sy)stg.u32 g[r2.x], r5.x, 2
            end"
        )
    };
    let ran = |other| {
        let registers = "SP_CS_BINDLESS_BASE[1].DESCRIPTOR = set + 3";
        played(&capture(&buffers, &program(other), registers, ONE_GROUP), 16)
    };
    let (dwords, troubles) = ran(5);
    assert_eq!(troubles, Vec::<String>::new());
    let expected = [(2.0, 4), (10.0, 3), (4.0, 4), (30.0, 3)];
    let expected = expected.repeat(2).into_iter().flat_map(|(texel, width)| [f32::to_bits(texel), width]);
    assert_eq!(dwords, expected.collect::<Vec<u32>>());
    let (dwords, troubles) = ran(6);
    assert_eq!((dwords[2], dwords[3]), (0, 0));
    let unknown =
        "CS texture 6 of base 1: texture of tile mode 2 (TEX_CONST_0.TILE_MODE) is not supported yet";
    assert_eq!(troubles, [unknown]);
}

#[test]
fn texels_that_a_chip_has_compressed_are_not_read() {
    // Texture 0, with UBWC, has its texel at `data`. A blit fills that, or leaves what the capture holds.
    let buffers = "buffer descriptors @ 0x500040000 {
            TEX_CONST_0 { SWIZ_X = A6XX_TEX_X | FMT = FMT6_32_UINT | TILE_MODE = TILE6_3 }
            TEX_CONST_1 { WIDTH = 1 | HEIGHT = 1 }
            TEX_CONST_2 { TYPE = A6XX_TEX_2D | PITCH = 64 }
            TEX_CONST_3 { FLAG }
            TEX_CONST_4 { BASE_LO = data & 0xffffffff }
            TEX_CONST_5 { BASE_HI = data >> 32 | DEPTH = 1 }
            zero 0x28
        }";
    let program = "mov.u32u32 r1.x, 0
        mov.u32u32 r1.y, 0
        add.u r2.x, c0.x, 64
        mov.u32u32 r2.y, c0.y
        isam (u32)(x)r3.x, r1.x, s#0, t#0
        (sy)add.u r3.x, r3.x, 1
        stg.u32 g[r2.x], r3.x, 1
        end";
    let registers = "SP_CS_TEX_CONST = descriptors\nSP_CS_CONFIG { ENABLED | NTEX = 1 | NSAMP = 1 }";
    let info = "COLOR_FORMAT = FMT6_32_UINT | SAMPLES = MSAA_ONE";
    let fill = format!("{}\n{RUN_BLIT}", blit("SOLID_COLOR | IFMT = R2D_INT32", info, [0, 0, 1]));
    let compressed = "CS texture 0: texture with texels that a chip has compressed (TEX_CONST_3.FLAG) is not supported yet";
    let ran =
        |before: &str| played(&capture(buffers, program, registers, &format!("{before}\n{ONE_GROUP}")), 17);
    let (dwords, troubles) = ran("");
    assert_eq!((dwords[16], troubles), (1, vec![compressed.to_owned()]));
    // A dispatch before the fill has made the texture, and finds that it has changed.
    let (dwords, troubles) = ran(&format!("{ONE_GROUP}\n{fill}"));
    assert_eq!((dwords[0], dwords[16], troubles), (0x11, 0x12, vec![compressed.to_owned()]));
}

#[test]
fn storage_buffers_end_where_their_descriptor_says() {
    // Behind bindless base 2: 40 elements of 32 bits at `data`.
    let buffers = "buffer set @ 0x500050000 {
            zero 0x40
            TEX_CONST_0 { FMT = FMT6_32_UINT }
            TEX_CONST_1 { WIDTH = 40 }
            TEX_CONST_2 { TYPE = A6XX_TEX_BUFFER }
            zero 4
            TEX_CONST_4 { BASE_LO = data & 0xffffffff }
            TEX_CONST_5 { BASE_HI = data >> 32 }
            zero 0x28
        }";
    let program = "add.u r2.x, r0.x, 100
        stib.b.untyped.1d.u32.1.imm.base2 r2.x, r0.x, 1
        ldib.b.untyped.1d.u32.1.imm.base2 r3.y, r0.x, 1
        mov.u32u32 r4.x, 1000
        (sy)add.u r3.y, r3.y, r4.x
        atomic.b.add.untyped.1d.u32.1.imm.base2 r3.x, r0.x, 1
        end";
    let registers = "SP_CS_BINDLESS_BASE[2].DESCRIPTOR = set + 3";
    let (dwords, troubles) = played(&capture(buffers, program, registers, ONE_GROUP), 64);
    assert_eq!(troubles, Vec::<String>::new());
    let expected = (0..64).map(|n| if n < 40 { 2 * (100 + n) + 1000 } else { 0 });
    assert_eq!(dwords, expected.collect::<Vec<u32>>());
}

#[test]
fn buffers_begin_some_elements_behind_their_base() {
    // Buffer 1 begins at the fourth dword of `data`, and has 40 elements. Texture 1 is the same buffer.
    let buffers = image("FMT6_32_UINT")
        .replace("WIDTH = 8 | HEIGHT = 4", "WIDTH = 40")
        .replace("PITCH = 128 | TYPE = A6XX_TEX_2D", "PITCH = 0x600 | TYPE = A6XX_TEX_BUFFER");
    let program = "add.u r2.x, r0.x, 100
        stib.b.untyped.1d.u32.1.imm r2.x, r0.x, 1
        fence.g.w
        isam.1d (u32)(x)r3.x, r0.x, s#0, t#1
        (sy)add.u r3.x, r3.x, 1000
        stib.b.untyped.1d.u32.1.imm r3.x, r0.x, 1
        end";
    let (dwords, troubles) = played(&capture(&buffers, program, IMAGES, ONE_GROUP), 64);
    assert_eq!(troubles, Vec::<String>::new());
    let expected = (0..64).map(|n| if (3..43).contains(&n) { 1097 + n } else { 0 });
    assert_eq!(dwords, expected.collect::<Vec<u32>>());
}

#[test]
fn arrays_of_rows_have_layers_in_place_of_rows() {
    // An array of three rows of four texels. resinfo says so, and the second coordinate is the layer.
    let images = image("FMT6_32_UINT").replace("WIDTH = 8 | HEIGHT = 4", "WIDTH = 4 | HEIGHT = 1");
    let images = images.replace("PITCH = 128 | TYPE = A6XX_TEX_2D", "PITCH = 64 | TYPE = A6XX_TEX_1D");
    let images = images.replace("            zero 4\n", "            TEX_CONST_3 { ARRAY_PITCH = 4096 }\n");
    let images = images.replace("BASE_HI = data >> 32", "BASE_HI = data >> 32 | DEPTH = 3");
    let images = images.replace("= data", "= layers");
    let images = format!("{images}\nbuffer layers @ 0x500060000 {{ zero 0x3000 }}");
    let program = "and.b r1.x, r0.x, 3
        shr.b r1.y, r0.x, 2
        add.u r2.x, r0.x, 1
        stib.b.typed.2d.u32.1.imm r2.x, r1.x, 1
        fence.g.w
        add.u r3.x, r1.x, 0
        ldib.b.typed.2d.u32.1.imm r4.x, r1.x, 1
        resinfo.b.untyped.2d.u32.1.imm r5.x, 1
        shl.b r2.y, r0.x, 2
        add.u r6.x, c0.x, r2.y
        mov.u32u32 r6.y, c0.y
        shl.b r5.y, r5.y, 8
        (sy)add.u r4.x, r4.x, r5.y
        stg.u32 g[r6.x], r4.x, 1
        end";
    let (dwords, troubles) = played(&capture(&images, program, IMAGES, ONE_GROUP), 64);
    assert_eq!(troubles, Vec::<String>::new());
    let expected = (0..64).map(|n| 0x300 + if n < 12 { n + 1 } else { 0 });
    assert_eq!(dwords, expected.collect::<Vec<u32>>());
}

#[test]
fn a_blit_converts_texels() {
    let texels =
        "buffer texels @ 0x500040000 { u32 0x11223344, 0x55667788 zero 0xf8 u32 0x99aabbcc, 0xddeeff00 }";
    let info =
        |swap: &str| format!("COLOR_FORMAT = FMT6_8_8_8_8_UNORM | COLOR_SWAP = {swap} | SAMPLES = MSAA_ONE");
    let registers = blit("IFMT = R2D_UNORM8", &info("WZYX"), [0, 0, 2]).replace("= more", "= texels");
    let registers = registers.replacen(&info("WZYX"), &info("WXYZ"), 1);
    let (dwords, troubles) = played(&capture(texels, "end", &registers, RUN_BLIT), 34);
    let mut expected = vec![0; 34];
    (expected[0], expected[1], expected[32], expected[33]) =
        (0x1144_3322, 0x5588_7766, 0x99cc_bbaa, 0xdd00_ffee);
    assert_eq!((dwords, troubles), (expected, vec![]));
}

#[test]
fn uniform_blocks_are_loaded_by_slot() {
    let buffers = "buffer block @ 0x500060000 { u32 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }
        buffer pointers @ 0x500061000 { u32 0, 0, block & 0xffffffff, (block >> 32) + (2 << 17) }";
    let program = format!(
        "{PLACE}and.b r5.x, r0.x, 3
        ldc.offset1.2.imm r4.x, r5.x, 1
        (sy)add.u r4.x, r4.x, r4.y
        stg.u32 g[r2.x], r4.x, 1
        end"
    );
    let registers = "CP_LOAD_STATE6_FRAG({ NUM_UNIT = 2 | STATE_BLOCK = SB6_CS_SHADER | STATE_TYPE = ST6_UBO
        | STATE_SRC = SS6_INDIRECT }, pointers & 0xffffffff, pointers >> 32)";
    let (dwords, troubles) = played(&capture(buffers, &program, registers, ONE_GROUP), 4);
    assert_eq!(troubles, Vec::<String>::new());
    // The block has two vectors: the others read zero.
    assert_eq!(dwords, [2 + 3, 6 + 7, 0, 0]);
}

#[test]
fn a_program_that_is_missing_or_does_not_end_is_reported() {
    let missing = capture("", "end", "SP_CS_OBJ_START = 0x7000000000", ONE_GROUP);
    assert_eq!(played(&missing, 1).1, ["CS program at 0x7000000000 is missing"]);
    let endless = capture("", "loop:\njump #loop\nend", "", ONE_GROUP);
    let (_, troubles) = played_within(&endless, 1, Jit::On, Budget::fixed(1 << 24));
    assert!(troubles[0].contains("cut off: no more work is allowed"), "{troubles:?}");
}

/// A dispatch of 240 groups of 64 invocations with enough work for several threads: each turns 40 times in a loop between `before`
/// and `after`.
fn long_dispatch(before: &str, after: &str) -> Vec<u8> {
    let program = format!(
        "{before}
        mov.u32u32 r5.x, 0
        turn: add.u r5.x, r5.x, 1
        cmps.u.lt p0.x, r5.x, 40
        (rpt5)nop
        br p0.x, #turn
        {after}
        end"
    );
    let dispatch = "CP_EXEC_CS(0, NGROUPS_X = 240, NGROUPS_Y = 1, NGROUPS_Z = 1)";
    capture("", &program, "", dispatch)
}

/// The address of the group's dword of `data` in r2.xy, and that of the next group in r2.zw.
const OF_GROUP: &str = "shl.b r3.x, r48.x, 2
    add.u r2.x, c0.x, r3.x
    mov.u32u32 r2.y, c0.y
    add.u r2.z, r2.x, 4
    mov.u32u32 r2.w, c0.y";

/// Groups run as if in order, whatever the number of threads: each one adds 1 to what the one before has stored.
#[test]
fn groups_see_what_those_before_have_stored() {
    let capture = long_dispatch(
        &format!("{OF_GROUP}\nldg.u32 r4.x, g[r2.x], 1"),
        "(sy)add.u r4.x, r4.x, 1\nstg.u32 g[r2.z], r4.x, 1",
    );
    for threads in [1, 2, 5] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (dwords, troubles) = pool.install(|| played(&capture, 242));
        assert_eq!(troubles, Vec::<String>::new());
        assert_eq!(dwords, (0..241).chain([0]).collect::<Vec<u32>>(), "{threads} threads");
    }
}

/// So do groups that store to one place: the last one wins. And a budget ends them at one place.
#[test]
fn groups_store_in_order_up_to_the_budget() {
    let capture = long_dispatch(
        OF_GROUP,
        "mov.u32u32 r3.z, c0.x\nmov.u32u32 r3.w, c0.y
        add.u r4.x, r48.x, 1\nstg.u32 g[r2.z], r4.x, 1\nstg.u32 g[r3.z], r4.x, 1",
    );
    let play = |threads, jit, units| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| played_within(&capture, 242, jit, Budget::fixed(units)))
    };
    let mut ends = Vec::new();
    for units in [1 << 21, 1_000_000, 1_234_567, 1 << 30] {
        let (dwords, troubles) = play(1, Jit::Off, units);
        ends.push(dwords[0]);
        for threads in [2, 5] {
            for jit in [Jit::On, Jit::Off] {
                assert_eq!(play(threads, jit, units), (dwords.clone(), troubles.clone()), "{units}");
            }
        }
    }
    assert!(ends[1] > 0 && ends[1] < ends[2] && ends[2] < ends[3] && ends[3] == 240, "{ends:?}");
}

/// Results of half operations have 16 bits before they become full registers, and a byte extends its sign.
#[test]
fn results_of_half_operations_have_sixteen_bits() {
    let program = "mov.u32u32 r2.x, c0.x
        mov.u32u32 r2.y, c0.y
        mov.u32u32 r4.x, 0xffff
        sub.u r5.x, h(15), hr8.x
        sub.s r5.y, hr8.x, h(1)
        cov.u8s32 r5.z, hr8.x
        not.b r5.w, hr8.y
        stg.u32 g[r2.x], r5.x, 4
        end";
    assert_eq!(ran(program, 4), [16, -2i32 as u32, -1i32 as u32, 0xffff]);
}

/// A kernel may loop for as long as the budget lasts.
#[test]
fn a_warp_may_run_many_instructions() {
    let program = "mov.u32u32 r2.x, c0.x
        mov.u32u32 r2.y, c0.y
        mov.u32u32 r5.x, 0
        mov.u32u32 r6.x, 500000
        turn: add.u r5.x, r5.x, 1
        cmps.u.lt p0.x, r5.x, r6.x
        (rpt5)nop
        br p0.x, #turn
        stg.u32 g[r2.x], r5.x, 1
        end";
    let dispatch = "CP_EXEC_CS(0, NGROUPS_X = 1, NGROUPS_Y = 1, NGROUPS_Z = 1)";
    assert_eq!(played(&capture("", program, "", dispatch), 1), (vec![500_000], vec![]));
}

/// Registers of a blit from texel `from` of `more` to texel `to` of `data`, of `width` texels in two rows.
fn blit(control: &str, info: &str, [from, to, width]: [u32; 3]) -> String {
    format!(
        "RB_2D_BLIT_CNTL {{ MASK = 0xf | {control} }}
        RB_2D_DST_INFO {{ {info} }}
        RB_2D_DST = data
        RB_2D_DST_PITCH {{ VALUE = 128 }}
        SP_PS_2D_SRC_INFO {{ {info} }}
        SP_PS_2D_SRC = more
        SP_PS_2D_SRC_PITCH {{ PITCH = 256 }}
        GRAS_2D_SRC_TL_X {{ VALUE = {from} }}
        GRAS_2D_SRC_BR_X {{ VALUE = {} }}
        GRAS_2D_SRC_TL_Y {{ VALUE = 0 }}
        GRAS_2D_SRC_BR_Y {{ VALUE = 1 }}
        GRAS_2D_DST_TL {{ X = {to} | Y = 0 }}
        GRAS_2D_DST_BR {{ X = {} | Y = 1 }}
        RB_2D_SRC_SOLID_C0 = 0x11
        RB_2D_SRC_SOLID_C1 = 0x22",
        from + width - 1,
        to + width - 1,
    )
}

const RUN_BLIT: &str = "CP_BLIT({ OP = BLIT_OP_SCALE })";

#[test]
fn a_blit_fills_a_linear_surface() {
    let registers = blit(
        "SOLID_COLOR | IFMT = R2D_INT32",
        "COLOR_FORMAT = FMT6_32_32_UINT | SAMPLES = MSAA_ONE",
        [0, 1, 2],
    );
    let (dwords, troubles) = played(&capture("", "end", &registers, RUN_BLIT), 64);
    let filled = |n: u32| if (2..6).contains(&(n % 32)) { 0x11 * (1 + n % 2) } else { 0 };
    assert_eq!((dwords, troubles), ((0..64).map(filled).collect::<Vec<u32>>(), vec![]));
}

#[test]
fn a_blit_copies_rows_of_bytes() {
    let texels = "buffer texels @ 0x500040000 { u32 1, 2, 3, 4 zero 0xf0 u32 5, 6, 7, 8 }";
    let registers = blit("IFMT = R2D_UNORM8", "COLOR_FORMAT = FMT6_8_UNORM | SAMPLES = MSAA_ONE", [4, 8, 8]);
    let registers = registers.replace("SP_PS_2D_SRC = more", "SP_PS_2D_SRC = texels");
    let (dwords, troubles) = played(&capture(texels, "end", &registers, RUN_BLIT), 40);
    let mut expected = vec![0; 40];
    (expected[2], expected[3], expected[34], expected[35]) = (2, 3, 6, 7);
    assert_eq!((dwords, troubles), (expected, vec![]));
}

#[test]
fn a_blit_to_tiles_and_back_keeps_texels() {
    // Texels 1 to 4 of two rows go to tiles of 16 by 4, then to rows of 64 bytes in `linear`.
    let texels = "buffer texels @ 0x500040000 { u32 1, 2, 3, 4, 5 zero 0xec u32 6, 7, 8, 9, 10 }
        buffer tiles @ 0x500050000 { zero 0x1000 }";
    let of = |tiled| {
        format!(
            "COLOR_FORMAT = FMT6_32_UINT | SAMPLES = MSAA_ONE{}",
            if tiled { " | TILE_MODE = TILE6_3 | FLAGS" } else { "" }
        )
    };
    let to = blit("IFMT = R2D_INT32", &of(false), [1, 15, 4])
        .replace("= data", "= tiles")
        .replace("= more", "= texels");
    let to = to.replacen(&of(false), &of(true), 1);
    let back = blit("IFMT = R2D_INT32", &of(true), [15, 0, 4]).replace("= more", "= tiles").replacen(
        &of(true),
        &of(false),
        1,
    );
    let back = back.replace("PITCH = 256", "PITCH = 128");
    let (dwords, troubles) =
        played(&capture(texels, "end", &format!("{to}\n{RUN_BLIT}\n{back}"), RUN_BLIT), 64);
    let copied = |n: u32| if n % 32 < 4 { n % 32 + 2 + 5 * (n / 32) } else { 0 };
    assert_eq!((dwords, troubles), ((0..64).map(copied).collect::<Vec<u32>>(), vec![]));
}

#[test]
fn a_blit_between_tiles_of_unknown_order_is_reported() {
    let registers = blit(
        "IFMT = R2D_UNORM8",
        "COLOR_FORMAT = FMT6_8_UNORM | TILE_MODE = TILE6_2 | SAMPLES = MSAA_ONE",
        [4, 8, 8],
    );
    let (_, troubles) = played(&capture("", "end", &registers, RUN_BLIT), 1);
    assert_eq!(troubles, ["blits of an Adreno 630 are not rendered yet"]);
}

/// What `--fidelity` lists of a dispatch: ids, and what the results may reach.
fn rests(program: &str, registers: &str) -> Vec<String> {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("it.rd");
    std::fs::write(&path, capture("", program, registers, ONE_GROUP)).unwrap();
    let ended = crate::other_chips::run("replay IT --fidelity --stats", &path, folder.path());
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended}"));
    let text = |guess: &serde_json::Value| format!("{} {}", guess["id"].as_str().unwrap(), guess["reaches"]);
    report["guesses"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn a_run_lists_the_guesses_that_only_an_a6xx_has() {
    let plain = "stg.u32 g[r2.x], r1.x, 1\nend";
    assert_eq!(rests(&format!("{PLACE}{plain}"), ""), [""; 0]);
    let indexed = format!("{PLACE}ldg.a.u32 r4.x, g[r2.x+(r4.y)<<2], 1\n(sy)stg.u32 g[r2.x], r4.x, 1\nend");
    assert_eq!(rests(&indexed, ""), [r#"global-index ["output","memory"]"#]);
    let stores = format!("{PLACE}stg.a.u32 g[r2.x+(r4.y)<<2], r1.x, 1\nend");
    assert_eq!(rests(&stores, ""), [r#"global-index ["memory"]"#]);
    let shuffles = format!("{PLACE}shfl.up.u32 r1.x, r1.x, 1\nstg.u32 g[r2.x], r1.x, 1\nend");
    assert_eq!(rests(&shuffles, ""), [r#"wave-outside ["output","memory"]"#]);
    let constant = "HLSQ_CS_CNTL_0 { WGIDCONSTID = 8 | WGSIZECONSTID = r63.x | WGOFFSETCONSTID = r63.x | LOCALIDREGID = r0.x }";
    assert_eq!(rests(&format!("{PLACE}{plain}"), constant), [r#"group-constant ["address"]"#]);
}

#[test]
fn shared_constants_are_counted_in_dwords_from_c504() {
    let program = format!("{PLACE}mov.u32u32 r4.x, c505.y\nstg.u32 g[r2.x], r4.x, 1\nend");
    let load = "CP_LOAD_STATE6_FRAG({ DST_OFF = 4 | NUM_UNIT = 2 | STATE_TYPE = ST6_UBO | STATE_BLOCK = SB6_IBO }, 0, 0) { u32 7, 8 }";
    let (dwords, troubles) = played(&capture("", &program, load, ONE_GROUP), 64);
    assert_eq!((dwords, troubles), (vec![8; 64], vec![]));
}

/// A scan by a loop in which each lane of the wave has its turn, between two exchanges.
const SCAN: &str = "mov.u32u32 r3.x, 9
    shfl.rdown.u32 r3.x, r0.x, 48
    mov.u32u32 r48.w, 0
    next:
    getone #others
    mov.u32u32 r4.x, r48.w
    add.u r4.y, r4.x, r0.x
    mov.u32u32 r48.w, r4.y
    jump #behind
    others:
    jump #next
    behind:
    movmsk.w128 r49.x
    add.u r4.z, r4.x, r49.y\n";

#[test]
fn lanes_of_a_wave_exchange_values() {
    // Lanes of a larger wave that do not exist leave r3.x as it was.
    for (size, outside) in [("THREAD64", None), ("THREAD128", Some(9))] {
        let program = format!(
            "{PLACE}{SCAN}
            shl.b r3.x, r3.x, 16
            (sy)(ss)add.u r4.z, r4.z, r3.x
            stg.u32 g[r2.x], r4.z, 1
            end"
        );
        let registers = format!("SP_CS_CTRL_REG0 {{ THREADSIZE = {size} | MERGEDREGS }}");
        let (dwords, troubles) = played(&capture("", &program, &registers, ONE_GROUP), 64);
        let expected = (0..64).map(|lane: u32| {
            let from = outside.filter(|_| lane >= 16).unwrap_or((lane + 48) % 64);
            (lane * lane.wrapping_sub(1) / 2).wrapping_add(u32::MAX).wrapping_add(from << 16)
        });
        assert_eq!((dwords, troubles), (expected.collect(), vec![]), "{size}");
    }
}

/// To select which warp of a wave runs next takes longer than an instruction, and costs more of the budget.
#[test]
fn turns_of_a_wave_are_charged() {
    let of_loop = |instruction: &str| {
        let program = format!(
            "mov.u32u32 r5.x, 0
            mov.u32u32 r6.x, 1000
            turn: add.u r5.x, r5.x, 1
            {instruction}
            cmps.u.lt p0.x, r5.x, r6.x
            (rpt5)nop
            br p0.x, #turn
            end"
        );
        played_within(&capture("", &program, "", ONE_GROUP), 1, Jit::On, Budget::fixed(1 << 19)).1
    };
    assert_eq!(of_loop("mov.u32u32 r4.x, 0"), Vec::<String>::new());
    assert!(of_loop("movmsk.w128 r49.x")[0].contains("cut off: no more work is allowed"));
}

/// The output of debugger commands on invocation 40 of a group, which is in the second warp of its wave.
fn debugged(program: &str, commands: &str) -> String {
    let (out, _, status) = debugged_within("1G", program, commands);
    assert_eq!(status, Some(0), "{out}");
    out
}

/// What the debugger writes to its two streams, and its status, with so much work.
fn debugged_within(work: &str, program: &str, commands: &str) -> (String, String, Option<i32>) {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("it.rd");
    std::fs::write(&path, capture("", &format!("{PLACE}{program}"), "", ONE_GROUP)).unwrap();
    let place = ["--draw", "0", "--stage", "cs", "--invocation", "40,0,0", "--max-work", work];
    crate::debug::session(path.to_str().unwrap(), &place, commands)
}

/// The first warp loops for ever. The budget ends it, and the debugger says so.
#[test]
fn a_debugger_does_not_wait_for_warps_that_do_not_end() {
    let program = |before: &str, after: &str| {
        format!(
            "cmps.u.lt p0.x, r0.x, 32
            mov.u32u32 r4.x, c0.x
            (rpt5)nop
            {before}
            loop:
            br p0.x, #loop
            {after}
            ldg.u32 r4.x, g[r2.x], 1
            end"
        )
    };
    let at_once = debugged_within("1M", &program("", "(ss)(sy)bar.l"), "c\nq\n");
    let behind =
        debugged_within("1M", &program("(ss)(sy)bar.l", "shfl.xor.u32 r3.x, r0.x, 32"), "c\nr r0\nq\n");
    for (out, error, status) in [&at_once, &behind] {
        assert_eq!(*status, Some(Status::Unsupported as i32), "{out}");
        assert!(error.contains("the run may do no more work"), "{error}");
    }
    assert_eq!(at_once.0, "");
    assert_eq!(values(&behind.0, "r0")[0], 40);
}

/// The values of the register `name` in the output of a debugger.
fn values(out: &str, name: &str) -> Vec<u32> {
    let line = out.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{out}"));
    let words = line.split_whitespace().skip(1).step_by(2);
    words.map(|word| u32::from_str_radix(word, 16).unwrap()).collect()
}

#[test]
fn a_debugger_sees_what_the_other_warps_of_a_wave_give() {
    let program = format!("{SCAN}stg.u32 g[r2.x], r4.z, 1\nend");
    let out = debugged(&program, "b 9\nc\nr r3\nb 18\nc\nr r4\nbs 100\nq\n");
    // The value of lane 24, the sums of the lanes before it and with it, and that minus 1.
    assert_eq!((values(&out, "r3")[0], &values(&out, "r4")[..3]), (24, &[780, 820, 779][..]));
    assert!(out.contains("what was before is forgotten"), "{out}");
}

#[test]
fn warps_of_a_wave_that_wait_at_a_barrier_stay_there_in_a_debugger() {
    let program = "shfl.xor.u32 r3.x, r0.x, 32
        (ss)(sy)bar.l
        shfl.xor.u32 r4.x, r3.x, 32
        stg.u32 g[r2.x], r4.x, 1
        end";
    let out = debugged(program, "b 10\nc\nr r4\nq\n");
    assert_eq!(values(&out, "r4")[0], 40, "{out}");
}
