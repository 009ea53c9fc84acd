//! Layered targets: assigns primitives to layers.

use std::collections::BTreeMap;

use crate::draw::stage_words::PrimitiveWord;

use crate::draw::gras::setup::ScreenPrimitive;

/// Primitives of one layer, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Number of the layer.
    pub number: u32,
    /// Primitives of the layer.
    pub primitives: Vec<ScreenPrimitive>,
}

/// Grouping of primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// All primitives of a layer, lowest layer first. No layer reads pixels of another.
    Layers,
    /// Only consecutive primitives of a layer, for fragments that store, because the order of stores is
    /// visible.
    Runs,
}

/// Returns the layer of `primitive`, if primitives select layers.
pub fn layer(primitive: &ScreenPrimitive, words: &[PrimitiveWord]) -> u32 {
    words.get(primitive.provoking as usize).map_or(0, |word| word.layer)
}

/// Splits primitives by the layer in the word of the provoking vertex.
///
/// GL leaves the deciding vertex undefined; the emulator uses the provoking one (guess `layer-vertex`).
pub fn split(primitives: Vec<ScreenPrimitive>, words: &[PrimitiveWord], grouping: Grouping) -> Vec<Layer> {
    let layer = |p: &ScreenPrimitive| layer(p, words);
    match grouping {
        Grouping::Layers => {
            let mut layers = BTreeMap::<u32, Vec<ScreenPrimitive>>::new();
            primitives.into_iter().for_each(|p| layers.entry(layer(&p)).or_default().push(p));
            layers.into_iter().map(|(number, primitives)| Layer { number, primitives }).collect()
        }
        Grouping::Runs => {
            let runs = primitives.chunk_by(|a, b| layer(a) == layer(b));
            runs.map(|run| Layer { number: layer(&run[0]), primitives: run.to_vec() }).collect()
        }
    }
}
