//! What the eight quads of a warp are made of, in the four lanes of each, in the instructions of AVX-512.
//!
//! The numbers of a primitive lie side by side, and those of one kind are wanted side by side for all quads. So rows of
//! sixteen numbers, one for each quad, are turned round, and a number is put into its lanes by one permutation: for a warp
//! of several primitives that is less than to go through all numbers of each of them.
use std::arch::x86_64::*;

use crate::draw::gras::quad::QUADS;
use a4emu_shader::Lanes;

use super::interpolate::{Floats, WarpQuads};
use super::planes::rows_of;

/// Numbers of a row.
const ROW: usize = 16;

/// Rows of eight quads, turned round: of the first four, and of the others. Vector `n` has the numbers `n`, `n + 4`,
/// `n + 8` and `n + 12` of all four.
struct Turned([[__m512; 4]; 2]);

impl Turned {
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn new(rows: &[__m512; QUADS]) -> Self {
        let [a, b, c, d, e, f, g, h] = *rows;
        Self([turned([a, b, c, d]), turned([e, f, g, h])])
    }

    /// Number `number` of each quad, in its lanes.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn lanes(&self, number: usize) -> [__m512; 2] {
        let first = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
        let places = _mm512_add_epi32(first, _mm512_set1_epi32((number - number % 4) as i32));
        let [upper, lower] = &self.0;
        [_mm512_permutexvar_ps(places, upper[number % 4]), _mm512_permutexvar_ps(places, lower[number % 4])]
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn turned([a, b, c, d]: [__m512; 4]) -> [__m512; 4] {
    let pairs =
        |a, b| [_mm512_castps_pd(_mm512_unpacklo_ps(a, b)), _mm512_castps_pd(_mm512_unpackhi_ps(a, b))];
    let ([ab, more_ab], [cd, more_cd]) = (pairs(a, b), pairs(c, d));
    [
        _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)),
        _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)),
        _mm512_castpd_ps(_mm512_unpacklo_pd(more_ab, more_cd)),
        _mm512_castpd_ps(_mm512_unpackhi_pd(more_ab, more_cd)),
    ]
}

/// The first `N` numbers of the planes of each lane's primitive.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn numbers_of_lanes<const N: usize>(pieces: &WarpQuads<'_>) -> [Floats; N] {
    let mut rows = [_mm512_setzero_ps(); QUADS];
    for (row, quad) in rows.iter_mut().zip(&*pieces.quads) {
        *row = bytemuck::cast(pieces.primitive(quad).planes);
    }
    let (turned, mut out) = (Turned::new(&rows), [[0.0; 32]; N]);
    for (number, out) in out.iter_mut().enumerate() {
        *out = bytemuck::cast(turned.lanes(number));
    }
    out
}

/// Locations from which on it is less work to turn rows round than to look for each of them.
const MANY: usize = 4;

/// For each location the numbers that its component is interpolated from, in all lanes ([`WarpQuads::planes`]). False,
/// and nothing done, where there are few of them, or a vertex does not have them all.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn spread(pieces: &WarpQuads<'_>, locations: &[u16], frame: &mut [Lanes]) -> bool {
    let vertices = pieces.source.vertices;
    if locations.len() < MANY
        || locations.iter().any(|location| usize::from(*location) >= vertices.components())
    {
        return false;
    }
    for first in (0..vertices.components()).step_by(ROW) {
        let mut rows = [[_mm512_setzero_ps(); QUADS]; 3];
        let (mut before, mut last) = (None, [_mm512_setzero_ps(); 3]);
        for (q, quad) in pieces.quads.iter().enumerate() {
            if before.replace(quad.primitive) != Some(quad.primitive) {
                let [a, b, c] = pieces.primitive(quad).vertices;
                let v0: __m512 = bytemuck::cast(vertices.sixteen(a, first));
                let (v1, v2) =
                    (bytemuck::cast(vertices.sixteen(b, first)), bytemuck::cast(vertices.sixteen(c, first)));
                last = [v0, _mm512_sub_ps(v1, v0), _mm512_sub_ps(v2, v0)];
            }
            for n in 0..3 {
                rows[n][q] = last[n];
            }
        }
        let turned = [Turned::new(&rows[0]), Turned::new(&rows[1]), Turned::new(&rows[2])];
        for (rows, location) in rows_of(frame, locations) {
            let Some(number) = usize::from(*location).checked_sub(first).filter(|number| *number < ROW)
            else {
                continue;
            };
            for n in 0..3 {
                rows[n] = Lanes(bytemuck::cast(turned[n].lanes(number)));
            }
        }
    }
    true
}
