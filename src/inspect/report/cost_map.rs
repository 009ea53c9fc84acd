//! A picture of the fragment shader's cost per pixel.

use super::frame::Patch;
use super::pack::{base64, encoded};
use super::room::{DataKind, Room};
use crate::describe::canvas::Image;
use a4emu_gpu::draw::fs::reasons::Reasons;
use a4emu_gpu::picture;

/// Makes a patch of the non-empty rectangle of `map`, moved by `origin`. The four bytes of a pixel are its
/// cost in parts of a warp instruction ([`COST_UNIT`](a4emu_gpu::draw::fs::reasons::COST_UNIT)), low byte
/// first.
pub fn patch(map: &Reasons, origin: [u32; 2], room: &mut Room, draw: u32) -> Option<Patch> {
    let area = map.area();
    let width = usize::try_from(area.x1 - area.x0).ok().filter(|width| *width > 0)?;
    let touched = map.touched();
    let above = touched.start;
    let costs = map.cost_of(touched).into_iter();
    let costs: Vec<u32> = costs.map(|cost| u32::try_from(cost).unwrap_or(u32::MAX)).collect();
    let rows: Vec<&[u32]> = costs.chunks_exact(width).collect();
    let is_spent = |cost: &u32| *cost > 0;
    let top = rows.iter().position(|row| row.iter().any(is_spent))?;
    let bottom = rows.iter().rposition(|row| row.iter().any(is_spent))?;
    let rows = &rows[top..=bottom];
    let left = rows.iter().filter_map(|row| row.iter().position(is_spent)).min()?;
    let right = rows.iter().filter_map(|row| row.iter().rposition(is_spent)).max()?;
    if !room.asked(DataKind::Costs, draw) {
        return None;
    }
    let pixels = rows.iter().flat_map(|row| row[left..=right].iter().flat_map(|cost| cost.to_le_bytes()));
    let [w, h] = [right + 1 - left, rows.len()].map(|side| side as u32);
    let image = Image { size: [w, h], kind: picture::PixelType::Rgba8, pixels: pixels.collect() };
    let bytes = encoded(&image)?;
    let at = |from: i32, by: usize, origin: u32| from.max(0).cast_unsigned() + by as u32 + origin;
    let (x, y) = (at(area.x0, left, origin[0]), at(area.y0, above + top, origin[1]));
    room.take(DataKind::Costs, bytes.len(), draw).then(|| Patch { x, y, w, h, png: base64(&bytes) })
}
