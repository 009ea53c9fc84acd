//! Loads interpolation values of the eight quads of a warp into their lanes, with AVX-512.
//!
//! The numbers of one primitive are consecutive in memory, but a vector needs one kind of number for all
//! quads. So rows of sixteen numbers, one row per quad, are transposed. One permutation then copies a number
//! to the lanes of its quad. For a warp of several primitives this is faster than a loop over all numbers of
//! each.
use std::arch::x86_64::*;

use crate::draw::gras::quad::QUADS;
use a4emu_shader::Lanes;

use super::interpolate::{Floats, WarpQuads};
use super::planes::rows_of;

/// Numbers per row.
const ROW: usize = 16;

/// Transposed rows of the first and of the last four quads. Vector `n` has the numbers `n`, `n + 4`, `n + 8`
/// and `n + 12` of all four.
struct Turned([[__m512; 4]; 2]);

impl Turned {
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn new(rows: &[__m512; QUADS]) -> Self {
        let [a, b, c, d, e, f, g, h] = *rows;
        Self([turned([a, b, c, d]), turned([e, f, g, h])])
    }

    /// Returns number `number` of each quad, in the quad's lanes.
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

/// Returns the first `N` numbers of the planes of each lane's primitive.
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

/// Number of locations from which on a transpose is faster than separate loads.
const MANY: usize = 4;

/// Writes the interpolation values of each location for all lanes ([`WarpQuads::planes`]). Returns false and
/// does nothing for few locations, or if a vertex lacks a location.
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
