//! Scenes with flipped bits in shaders, registers, packets and vertices. The replay must always end.

use super::scene::Scene;
use crate::bounded::bounded;

/// Scenes that together use every stage.
const SCENES: [&str; 6] =
    ["gs-explode", "gs-instanced", "gs-adjacency", "tess-gs", "tess-barrier", "tess-isolines"];

/// Number of bits flipped at once, and of tries for each scene.
const BITS: usize = 3;
const TIMES: usize = 12;

/// Pseudo-random numbers, equal in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

#[test]
fn no_bits_make_a_scene_panic_or_hang() {
    bounded(module_path!(), "no_bits_make_a_scene_panic_or_hang", turn_bits);
}

fn turn_bits() {
    let mut numbers = Numbers(std::env::var("SEED").map_or(1, |seed| seed.parse().unwrap()));
    for name in SCENES {
        let capture = Scene::named(name).capture();
        for _ in 0..TIMES {
            let mut damaged = capture.clone();
            for _ in 0..BITS {
                let at = numbers.below(capture.len());
                damaged[at] ^= 1 << numbers.below(8);
            }
            Scene::play_capture(&damaged);
        }
    }
}
