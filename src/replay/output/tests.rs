//! Tests of pictures that cannot be written, and of their messages.

use a4emu_decoder::a4xx::enums::ColorFmt;

use super::*;
use a4emu_gpu::a4xx::formats;
use a4emu_gpu::fault::Severity;
use a4emu_gpu::gpu::Chip;
use a4emu_shader::format::Swap;
use a4emu_shader::format::arrangement::Arrangement;

/// A surface of 8x4 pixels at 0x1000, in memory up to its third row.
fn surface() -> (Gpu, Written) {
    let mut gpu = Gpu::new(Chip::default());
    gpu.memory_mut().announce(0x1000, 3 * 32, Some(&[7; 3 * 32]));
    let written = Written {
        submit: 0,
        draw: 0,
        address: 0x1000u32.into(),
        width: 8,
        height: 4,
        pitch: 32,
        format: formats::named_color(ColorFmt::RB4_R8G8B8A8_UNORM).expect("a format"),
        swap: Swap::WZYX,
        arrangement: Arrangement::PLAIN,
        content: Content::Color,
    };
    (gpu, written)
}

/// The size of the picture that is written with `units` of work, and the severity of the message.
fn written(gpu: &mut Gpu, surface: &Written, units: u64) -> (Option<[u32; 2]>, Option<Severity>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.png");
    let mut pictures = Pictures { alpha: Alpha::Kept, budget: Budget::new(units) };
    let size = pictures
        .write(gpu, surface, || OutFile::create(&path, &Inputs::default()))
        .expect("it can be written");
    assert_eq!(path.exists(), size.is_some());
    let worst = gpu.report.troubles.iter().map(|(trouble, ..)| trouble.severity()).max();
    (size, worst.or(gpu.report.missing.iter().next().map(|_| Severity::Warning)))
}

#[test]
fn a_picture_is_paid_for() {
    let (mut gpu, surface) = surface();
    let cost = Work::Pixel.price() * PACKED * 8 * 3;
    assert_eq!(written(&mut gpu, &surface, cost), (Some([8, 3]), None));
    assert_eq!(written(&mut gpu, &surface, cost - 1), (None, Some(Severity::Unsupported)));
}

#[test]
fn a_surface_without_pixels_or_with_none_in_memory_has_none() {
    for size in [[0, 4], [8, 0]] {
        let (mut gpu, surface) = surface();
        let empty = Written { width: size[0], height: size[1], ..surface };
        assert_eq!(Picture::of(&empty, gpu.settle().memory()).err(), Some(NoPicture::Unsupported));
        assert_eq!(written(&mut gpu, &empty, 1 << 20), (None, Some(Severity::Unsupported)));
    }
    let (mut gpu, surface) = surface();
    let away = Written { address: 0x9000u32.into(), ..surface };
    assert_eq!(written(&mut gpu, &away, 1 << 20), (None, Some(Severity::Warning)));
}
