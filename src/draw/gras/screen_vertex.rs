//! From clip space to the window.

use multiversion::multiversion;

use crate::draw::gras::clip::{ClipVolume, GUARD_BAND, Viewport};
use crate::draw::gras::raster::{Snapped, snap};
use crate::draw::vertices::Vertices;

/// A vertex after the viewport transform.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Position in pixels.
    pub xy: [f32; 2],
    /// Depth.
    pub z: f32,
    /// 1 / w.
    pub inv_w: f32,
    /// Position in sub-pixels.
    pub snapped: Snapped,
    /// Bit i: outside plane i of the clip volume.
    pub outcode: u32,
}

impl Window {
    /// Whether planes through it keep their digits: neither at the eye nor far out. It may
    /// be behind the eye, where the same planes go on.
    pub fn is_on_screen(&self) -> bool {
        self.xy.iter().all(|c| c.abs() <= GUARD_BAND) && self.inv_w.is_finite() && self.z.is_finite()
    }
}

/// Vertices that are transformed together.
const GROUP: usize = 16;

/// Appends the windows of the vertices that have none yet.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn transform(viewport: &Viewport, volume: &ClipVolume, vertices: &Vertices, windows: &mut Vec<Window>) {
    windows.reserve(vertices.len() - windows.len());
    for first in (windows.len()..vertices.len()).step_by(GROUP) {
        let count = GROUP.min(vertices.len() - first);
        let mut position = [[0.0; GROUP]; 4];
        for (l, v) in (first..first + count).enumerate() {
            let [x, y, z, w] = vertices.position(v as u32);
            (position[0][l], position[1][l]) = (x, y);
            (position[2][l], position[3][l]) = (z, w);
        }
        let group = windows_of(viewport, volume, &position);
        windows.extend_from_slice(&group[..count]);
    }
}

/// Positions by component to windows.
#[inline(always)]
fn windows_of(viewport: &Viewport, volume: &ClipVolume, p: &[[f32; GROUP]; 4]) -> [Window; GROUP] {
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
    std::array::from_fn(|l| Window {
        xy: [xyz[0][l], xyz[1][l]],
        z: xyz[2][l],
        inv_w: inv_w[l],
        snapped: [snapped[0][l], snapped[1][l]],
        outcode: outcodes[l],
    })
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
        for i in 0..37 {
            let [x, y, z, w] = position(i).map(f32::to_bits);
            all.push(&[x, y, z, w, 0]);
        }
        let mut together = Vec::new();
        transform(&viewport, &volume, &all, &mut together);
        assert_eq!(together.len(), 37);
        for (i, window) in together.iter().enumerate() {
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
