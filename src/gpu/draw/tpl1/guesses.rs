//! Determines the guesses that a texture request rests on.
use a4emu_decoder::guesses::Guess;

use super::descriptor::{Texture, TextureKind};
use super::sampler::{Filter, Sampler};
use a4emu_shader::SampleKind;
use a4emu_shader::format::Layout;
use a4emu_shader::format::arrangement::Tiling;

/// Returns the guesses of a request of this kind for `texture` with `sampler`.
pub(super) fn of(texture: &Texture, sampler: &Sampler, kind: SampleKind) -> impl Iterator<Item = Guess> {
    let fetches = kind == SampleKind::Fetch;
    let is_filtered = !texture.texels.is_integer() && [sampler.mag, sampler.min].contains(&Filter::Linear);
    let linear = kind == SampleKind::Filter && is_filtered;
    let cube = texture.kind == TextureKind::Cube;
    let astc = texture.is_astc();
    let rests = [
        (fetches, Guess::TexelOutside),
        (texture.arrangement.tiling != Tiling::Linear, Guess::TileOrder),
        (texture.arrangement.samples > 1, Guess::SampleLayout),
        (linear, Guess::FilterPrecision),
        (texture.kind == TextureKind::Volume && texture.levels.len() > 1, Guess::SliceQuarter),
        (astc, Guess::AstcHdr),
        (linear && cube && sampler.seamless, Guess::CubeSeams),
        (!fetches && texture.levels.len() > 1, Guess::LevelOfDetail),
        (!fetches && sampler.is_anisotropic, Guess::AnisotropyLinear),
        (!fetches && sampler.has_unnamed_wrap, Guess::WrapUnnamed),
        (texture.format.layout == Layout::LuminanceAlpha8, Guess::LuminanceAlpha),
    ];
    rests.into_iter().filter_map(|(rests, guess)| rests.then_some(guess))
}
