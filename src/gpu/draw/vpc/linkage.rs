//! Linkage: copies registers of a vertex stage to rows of vertices.

use multiversion::multiversion;
use multiversion::target::match_target;

use super::state::VertexOutputs;
#[cfg(target_arch = "x86_64")]
use crate::draw::gras::rows;
use crate::draw::vertices::HEADER;
use a4emu_shader::{Lanes, Warp};

/// Returns whether varyings have consecutive locations.
fn are_side_by_side(varyings: &[(u32, usize); 4]) -> bool {
    varyings.windows(2).all(|pair| pair[0].1 + 1 == pair[1].1)
}

/// Writes a component of a warp's vertices to their rows.
#[inline(always)]
fn column(values: &Lanes, rows: &mut [u32], stride: usize, at: usize) {
    rows.chunks_exact_mut(stride).zip(values.iter()).for_each(|(row, value)| row[at] = *value);
}

/// Writes four consecutive components, from word `at` on.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn four_columns(values: [&Lanes; 4], rows: &mut [u32], stride: usize, at: usize) {
    match_target! {
        "x86_64+avx512f" => rows::put(values, rows, stride, at),
        _ => (at..).zip(values).for_each(|(at, values)| column(values, rows, stride, at)),
    }
}

impl VertexOutputs {
    /// Returns whether [`VertexOutputs::export`] writes every word of a row.
    pub fn are_whole(&self) -> bool {
        let locations = self.varyings.iter().fold(0u128, |all, (_, location)| all | 1 << location);
        locations.count_ones() as usize == self.components
    }

    /// Writes the outputs of a warp to rows of `stride` words. A missing point size is 0.
    pub fn export(&self, warp: &Warp, rows: &mut [u32], stride: usize) {
        four_columns([0, 1, 2, 3].map(|c| warp.full(self.position + c)), rows, stride, 0);
        let point_size = self.point_size.map_or(&Lanes::ZERO, |id| warp.full(id));
        column(point_size, rows, stride, 4);
        let mut left = self.varyings.as_slice();
        while let Some((&(id, location), rest)) = left.split_first() {
            left = match left.first_chunk().filter(|four| are_side_by_side(four)) {
                Some(four) => {
                    four_columns(four.map(|(id, _)| warp.full(id)), rows, stride, HEADER + location);
                    &left[4..]
                }
                None => {
                    column(warp.full(id), rows, stride, HEADER + location);
                    rest
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a4emu_shader::{LANES, Program};

    /// Tests positions, optional point size, and varyings, some with consecutive locations.
    #[test]
    fn rows_have_the_registers_of_each_vertex() {
        let words = a4emu_decoder::adreno::ir3::program::assemble("end\n").expect("text");
        let mut warp = Warp::new(&Program::new(&words).expect("a program"), &[]);
        let value = |id: u32, lane: usize| 1000 * id + lane as u32;
        for id in 4..40 {
            *warp.full_mut(id) = Lanes(std::array::from_fn(|lane| value(id, lane)));
        }
        let varyings =
            [(9, 0), (8, 1), (30, 2), (31, 3), (32, 4), (20, 6), (21, 8), (22, 9), (23, 10), (24, 11)];
        for (count, point_size) in
            [(LANES, None), (LANES, Some(7)), (17, Some(7)), (16, None), (5, None), (0, None)]
        {
            let outputs =
                VertexOutputs { position: 36, point_size, varyings: varyings.into(), components: 12 };
            let stride = HEADER + outputs.components;
            let mut rows = vec![5; count * stride];
            outputs.export(&warp, &mut rows, stride);
            for (lane, row) in rows.chunks(stride).enumerate() {
                let mut want = vec![5; stride];
                (0..4).for_each(|c| want[c] = value(36 + c as u32, lane));
                want[4] = point_size.map_or(0, |id| value(id, lane));
                varyings.iter().for_each(|(id, location)| want[HEADER + location] = value(*id, lane));
                assert_eq!(row, want, "lane {lane} of {count}");
            }
            assert!(!outputs.are_whole(), "nobody writes components 5 and 7");
            assert!(VertexOutputs { varyings: varyings[..5].into(), components: 5, ..outputs }.are_whole());
        }
    }
}
