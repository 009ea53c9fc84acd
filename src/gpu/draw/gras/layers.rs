//! Layered targets: which primitives go to which layer.

use std::collections::BTreeMap;

use a4emu_decoder::stage_words::PRIMITIVE_WORD;

use crate::draw::gras::setup::ScreenPrimitive;

/// Primitives of one layer, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Its number.
    pub number: u32,
    /// What is drawn there.
    pub primitives: Vec<ScreenPrimitive>,
}

/// Which primitives are drawn together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// All of a layer, lowest first: no layer sees another's pixels.
    Layers,
    /// Those of a layer that follow each other: for fragments that store, whose order can
    /// be seen.
    Runs,
}

/// The layer that `primitive` goes to, if primitives choose theirs.
pub fn layer(primitive: &ScreenPrimitive, words: &[PRIMITIVE_WORD]) -> u32 {
    words.get(primitive.provoking as usize).map_or(0, |word| word.LAYER())
}

/// Splits primitives by the layer that the provoking vertex's word names.
///
/// GL leaves it open which vertex decides; here it is the provoking one (guess `layer-vertex`).
pub fn split(primitives: Vec<ScreenPrimitive>, words: &[PRIMITIVE_WORD], grouping: Grouping) -> Vec<Layer> {
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
