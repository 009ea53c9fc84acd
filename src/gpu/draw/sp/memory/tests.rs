//! Images at the end of their memory.

use super::*;
use crate::machine::Stage;
use a4emu_shader::Number;
use a4emu_shader::format::{Format, Layout, Swap, Transfer, Type};

const R8: Format = Format { layout: Layout::array(1, 8), ty: Type::Unorm };

/// Address of the 16 bytes. Memory ends after them.
const BASE: u32 = 0x1000;

fn stage() -> StageState {
    let sixteen_bytes =
        Buffer { size: [16, 1, 1], elements: 16 | 1 << 16, codec: R8.codec(Swap::WZYX, Transfer::Linear) };
    StageState { buffers: [sixteen_bytes].into(), stage: Stage::FS, ..StageState::of("end\n") }
}

/// Loads the last texel. Returns the values, and the misses.
fn last_texel(layout: ImageLayout, components: usize) -> (Vec<u32>, Vec<Miss>) {
    let mut memory = Memory::new();
    memory.announce(BASE, 16, Some(&[255; 16]));
    let stage = stage();
    let bank = stage.textures.bind(&memory);
    let mut seen = ShaderMemory::new(GpuMemory::ReadOnly(&memory, &bank), &stage);
    let request = ImageAccess {
        slot: &Lanes::ZERO,
        layout,
        number: Number::Float,
        address: &Lanes::splat(BASE + 15),
        position: [&Lanes::splat(15), &Lanes::ZERO, &Lanes::ZERO],
        dimensions: 1,
    };
    let mut out = vec![Lanes::ZERO; components];
    seen.image_load(&request, 1, &mut out);
    (out.iter().map(|row| row[0]).collect(), seen.log.missing.iter().collect())
}

#[test]
fn a_typed_load_reads_its_texel_and_no_more() {
    let (texel, misses) = last_texel(ImageLayout::Typed, 4);
    assert_eq!(texel, [1.0f32, 0.0, 0.0, 1.0].map(f32::to_bits));
    assert!(misses.is_empty(), "{misses:?}");
}

#[test]
fn an_untyped_load_reads_its_components() {
    let (_, misses) = last_texel(ImageLayout::Untyped, 1);
    assert_eq!(
        misses.iter().map(|miss| (miss.address, miss.len)).collect::<Vec<_>>(),
        [((BASE + 15).into(), 4)]
    );
}
