//! Effects of single instructions in a frame, and the reports about unsupported ones.

use a4emu_gpu::settled::Ended;
use a4emu_support::status::{Status, Warnings};

use super::stream::unsupported;
use crate::geometry::scene::{Scene, picture};

/// A rectangle over the whole target with the colour that BODY leaves in r0.
const SCENE: &str = r#"
    include "../setup.a4i"
    gpu_id 420
    buffer target size 4096
    buffer corners { f32 -1.0, 1.0, 1.0, -1.0 }
    buffer vs size 128 { shader {
        mov.f32f32 r0.z, (0.0)
        mov.f32f32 r0.w, (1.0)
        end
    } }
    buffer fs size 512 {
        shader {
            (rpt3)mov.f32f32 r0.x, (0.0)
            (rpt3)mov.f32f32 r1.x, (0.0)
            mov.u32u32 r2.x, 0
            (rpt5)nop
        }
        BODY
        shader {
            (rpt5)nop
            end
        }
    }
    buffer main {
        use frame(target, 32, 32)
        use program(vs, fs, r0.x, r0.x)
        use attribute(0, corners, 16, 8, VFMT4_32_32_FLOAT, 2, r0.x)
        use attributes(1, 2)
        load FS.constants { f32 0.0039215686, 0.0, 0.0, 0.0 }
        use draw(DI_PT_RECTLIST, 2)
    }
    submit main
"#;

fn play(body: &str) -> Ended {
    Scene::new(SCENE).with("BODY", body).play()
}

/// The colour that `body`, lines of a shader, gives.
fn colour(body: &str) -> [u8; 4] {
    let gpu = play(&format!("shader {{\n{body}\n}}"));
    assert_eq!(unsupported(&gpu), Vec::<String>::new());
    picture(&gpu)[..4].try_into().unwrap()
}

/// 16-bit loads and stores move half registers. The full registers of those numbers hold zeros.
#[test]
fn sixteen_bits_go_through_every_memory_by_half_registers() {
    for (store, load) in [
        ("stp.f16 p[r2.x], hr1.x, 1", "ldp.f16 hr1.y, p[r2.x], 1"),
        ("stl.f16 l[r2.x], hr1.x, 1", "ldl.f16 hr1.y, l[r2.x], 1"),
        // The notation of Mesa for these words.
        ("stl.f16 l[r2.x], r1.x, 1", "ldl.f16 r1.y, l[r2.x], 1"),
    ] {
        let body = format!(
            "mov.f16f16 hr1.x, h(0.8)\n(rpt5)nop\n{store}\n{load}\n(sy)(ss)nop\ncov.f16f32 r0.x, hr1.y"
        );
        assert_eq!(colour(&body), [204, 0, 0, 0], "{store}");
    }
}

/// A full register whose low 8 bits are moved.
#[test]
fn u8_32_moves_eight_bits_of_full_registers() {
    let body = "mov.u32u32 r1.x, 0x1cc\n(rpt5)nop\nstp.u8_32 p[r2.x], r1.x, 1\nldp.u8_32 r1.y, p[r2.x], 1\n\
                (sy)(ss)nop\ncov.u32f32 r0.x, r1.y\n(rpt5)nop\nmul.f r0.x, r0.x, c0.x";
    assert_eq!(colour(body), [204, 0, 0, 0]);
}

/// sad.s32 of 7, 3 and 10 in full registers: the word of Mesa 25's text.
#[test]
fn sad_reads_full_registers() {
    let shader = "shader {\nmov.s32s32 r2.x, 7\nmov.s32s32 r2.y, 3\nmov.s32s32 r2.z, 10\n(rpt5)nop\n}\n\
                  u64 0x67848004000a0008\n\
                  shader {\n(rpt5)nop\ncov.s32f32 r0.y, r1.x\n(rpt5)nop\nmul.f r0.y, r0.y, c0.x\n}";
    assert_eq!(picture(&play(shader))[..4], [0, 14, 0, 0]);
}

/// An unsupported instruction is reported as a limit of the emulator, not as a warning about the program.
#[test]
fn instructions_that_are_not_executed_are_not_supported() {
    for (word, says) in [
        ("0xc786000000810001", "ldc,"),
        ("0xe108000000000000", "sleep,"),
        ("0xffffffffffffffff", "a word that is not known to a4emu,"),
    ] {
        let gpu = play(&format!("u64 {word}"));
        let said = unsupported(&gpu);
        assert_eq!(said.len(), 1, "{word}: {said:?}");
        assert!(said[0].contains(&format!("fragment instruction 4, {says}")), "{said:?}");
        assert_eq!(Status::of_run(&gpu.report, Warnings::Pass), Status::Unsupported, "{word}");
    }
}
