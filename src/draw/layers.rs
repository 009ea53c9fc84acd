//! Layered targets: which primitives go to which layer.

use a4emu_decoder::stage_words::PRIMITIVE_WORD;

use super::primitive::ScreenPrimitive;

/// The primitives of one layer, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Its number.
    pub number: u32,
    /// What is drawn there.
    pub primitives: Vec<ScreenPrimitive>,
}

/// Splits primitives by the layer that the provoking vertex's word names, lowest first.
///
/// GL leaves it open which vertex decides; the provoking one is a guess.
pub fn split(primitives: &[ScreenPrimitive], words: &[PRIMITIVE_WORD]) -> Vec<Layer> {
    let layer = |p: &ScreenPrimitive| words.get(p.provoking as usize).map_or(0, |word| word.LAYER());
    let mut numbers: Vec<u32> = primitives.iter().map(layer).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let of = |number: u32| primitives.iter().filter(|p| layer(p) == number).cloned().collect();
    numbers.into_iter().map(|number| Layer { number, primitives: of(number) }).collect()
}
