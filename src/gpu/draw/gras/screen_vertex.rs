//! Transforms vertices from clip space to the window.

use multiversion::multiversion;
use multiversion::target::match_target;

use crate::draw::gras::clip::{ClipVolume, GUARD_BAND, Viewport};
use crate::draw::gras::raster::snap;
#[cfg(target_arch = "x86_64")]
use crate::draw::gras::rows;
use crate::draw::vertices::{ScreenVertex, Vertices};
use crate::parallel::{self, Helpers};

impl ScreenVertex {
    /// Returns whether planes through the vertex are precise: it is neither at the eye nor far outside. It
    /// may be behind the eye, where the same planes are valid.
    pub fn is_on_screen(&self) -> bool {
        self.xy.iter().all(|c| c.abs() <= GUARD_BAND) && self.inv_w.is_finite() && self.z.is_finite()
    }
}

/// Number of vertices transformed together.
const GROUP: usize = 16;

/// Number of vertices that one thread transforms in one job: a multiple of a group.
const CHUNK: usize = 128 * GROUP;

/// Transforms and appends the vertices that have no screen position yet.
pub fn transform(
    viewport: &Viewport,
    volume: &ClipVolume,
    vertices: &Vertices,
    screen: &mut Vec<ScreenVertex>,
) {
    let first = screen.len();
    match vertices.spare().filter(|_| first == 0) {
        Some(spare) => *screen = spare.screen().take(vertices.len(), ScreenVertex::default()),
        None => screen.resize(vertices.len(), ScreenVertex::default()),
    }
    let new = &mut screen[first..];
    let (rows, stride) = (vertices.rows_from(first), vertices.stride());
    if new.len() < 2 * CHUNK {
        return transform_rows(viewport, volume, rows, stride, new);
    }
    let chunks = new.chunks_mut(CHUNK).zip(rows.chunks(CHUNK * stride)).collect();
    parallel::each(chunks, Helpers::TakeLast, |(new, rows)| {
        transform_rows(viewport, volume, rows, stride, new)
    });
}

/// Transforms the vertices of some rows to the screen.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn transform_rows(
    viewport: &Viewport,
    volume: &ClipVolume,
    rows: &[u32],
    stride: usize,
    screen: &mut [ScreenVertex],
) {
    for (rows, out) in rows.chunks(GROUP * stride).zip(screen.chunks_mut(GROUP)) {
        let position = match_target! {
            "x86_64+avx512f" => match rows.len() == GROUP * stride {
                true => rows::positions(rows, stride),
                false => positions(rows, stride),
            },
            _ => positions(rows, stride),
        };
        let components = screen_vertices(viewport, volume, &position);
        match_target! {
            "x86_64+avx512f" => match out.as_mut_array() {
                Some(out) => rows::on_screen(&components, out),
                None => put(&components, out),
            },
            _ => put(&components, out),
        }
    }
}

/// Returns positions by component, of at most one group of rows.
#[inline(always)]
fn positions(rows: &[u32], stride: usize) -> [[f32; GROUP]; 4] {
    let mut position = [[0.0; GROUP]; 4];
    for (l, row) in rows.chunks_exact(stride).enumerate() {
        for (position, word) in position.iter_mut().zip(row) {
            position[l] = f32::from_bits(*word);
        }
    }
    position
}

/// Screen vertices by component.
pub(super) struct Components {
    pub xyz: [[f32; GROUP]; 3],
    pub inv_w: [f32; GROUP],
    pub snapped: [[i32; GROUP]; 2],
    pub outcodes: [u32; GROUP],
}

/// Transforms positions by component to the screen.
#[inline(always)]
fn screen_vertices(viewport: &Viewport, volume: &ClipVolume, p: &[[f32; GROUP]; 4]) -> Components {
    let outcodes = volume.outcodes(p);
    let mut inv_w = [0.0; GROUP];
    let mut xyz = [[0.0; GROUP]; 3];
    let mut snapped = [[0; GROUP]; 2];
    for l in 0..GROUP {
        inv_w[l] = 1.0 / p[3][l];
    }
    for i in 0..3 {
        for l in 0..GROUP {
            xyz[i][l] = p[i][l] * inv_w[l] * viewport.scale[i] + viewport.offset[i];
        }
    }
    for i in 0..2 {
        for l in 0..GROUP {
            snapped[i][l] = snap(xyz[i][l]);
        }
    }
    Components { xyz, inv_w, snapped, outcodes }
}

/// Writes the vertices to `out`, which may be shorter than a group.
#[inline(always)]
fn put(Components { xyz, inv_w, snapped, outcodes }: &Components, out: &mut [ScreenVertex]) {
    for (l, out) in out.iter_mut().enumerate().take(GROUP) {
        *out = ScreenVertex {
            xy: [xyz[0][l], xyz[1][l]],
            z: xyz[2][l],
            inv_w: inv_w[l],
            snapped: [snapped[0][l], snapped[1][l]],
            outcode: outcodes[l],
            unused: 0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::gras::clip::DepthClip;

    #[test]
    fn a_vertex_does_not_depend_on_its_group() {
        let viewport = Viewport { scale: [320.0, -240.0, 0.5], offset: [320.0, 240.0, 0.5] };
        let depth = DepthClip { near: true, far: true, zero_to_one: false };
        let volume = ClipVolume::new(depth, &viewport);
        let position = |i: u32| {
            let f = i as f32;
            [
                f * 0.37 - 4.0,
                3.0 - f * 0.11,
                f * 0.05 - 1.0,
                if i.is_multiple_of(7) { 0.0 } else { 1.0 + f * 0.03 },
            ]
        };
        let mut all = Vertices::new(0, 0);
        const MANY: usize = 3 * CHUNK + 5;
        for i in 0..MANY as u32 {
            let [x, y, z, w] = position(i).map(f32::to_bits);
            all.push(&[x, y, z, w, 0]);
        }
        let mut together = Vec::new();
        transform(&viewport, &volume, &all, &mut together);
        assert_eq!(together.len(), MANY);
        for (i, window) in
            together.iter().enumerate().filter(|(i, _)| *i < 37 || i % 501 == 0 || *i > MANY - 20)
        {
            let mut one = Vertices::new(0, 0);
            one.push(all.row(i as u32));
            let mut alone = Vec::new();
            transform(&viewport, &volume, &one, &mut alone);
            assert_eq!(format!("{window:?}"), format!("{:?}", alone[0]), "vertex {i}");
        }
        let [x, ..] = position(1);
        assert_eq!(together[1].xy[0], x * (1.0 / 1.03) * 320.0 + 320.0);
        assert_ne!(together[7].outcode, 0, "w is 0");
    }
}
