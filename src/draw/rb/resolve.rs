//! Tile memory to memory: a sibling of a draw, made by the copy hardware of the RB.

use std::time::Instant;

use a4emu_decoder::regs::enums::{CopyControlMode, DepthFormat, TileMode};
use a4emu_decoder::regs::rb::*;

use rayon::prelude::*;

use crate::fault::{Client, Fault};
use crate::format::Format;
use crate::gpu::Gpu;

use crate::draw::call::DrawCall;
use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup;
use crate::draw::gras::state::{VertexState, primitive_state, topology};
use crate::draw::pipeline::shade_vertices;
use crate::draw::rb::rendered::{Content, Written};
use crate::draw::rb::state::{bin_origin, scissor};

/// Rows that one job copies.
const ROWS: usize = 32;

/// A copy of the pixels of `area`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Copy {
    area: Rect,
    origin: [i32; 2],
    gmem_base: u32,
    gmem_pitch: u32,
    base: u32,
    pitch: u32,
    cpp: u32,
}

/// Runs a draw of the resolve pass.
///
/// # Errors
/// A fault when the destination is in no memory.
pub fn run(gpu: &mut Gpu, call: &DrawCall) -> Result<(), Fault> {
    let area = covered(gpu, call);
    let start = Instant::now();
    let control = gpu.regs.get::<RB_COPY_CONTROL>();
    let info = gpu.regs.get::<RB_COPY_DEST_INFO>();
    if control.MODE() == CopyControlMode::RB_COPY_CLEAR || info.TILE() != TileMode::TILE4_LINEAR {
        let what =
            format!("RB_COPY_CONTROL = {:#010x}, RB_COPY_DEST_INFO = {:#010x}: copy", control.0, info.0);
        gpu.report.unsupported(what, gpu.at);
        return Ok(());
    }
    let Some(format) = Format::color(info.FORMAT()) else {
        let what = format!("RB_COPY_DEST_INFO = {:#010x}: format {:?}", info.0, info.FORMAT());
        gpu.report.unsupported(what, gpu.at);
        return Ok(());
    };
    let cpp = format.block().bytes;
    let copy = Copy {
        area,
        origin: bin_origin(&gpu.regs),
        gmem_base: control.GMEM_BASE(),
        gmem_pitch: gpu.regs.get::<RB_MODE_CONTROL>().WIDTH() * cpp,
        base: gpu.regs.get::<RB_COPY_DEST_BASE>().BASE(),
        pitch: gpu.regs.get::<RB_COPY_DEST_PITCH>().PITCH(),
        cpp,
    };
    let result = copy.run(gpu);
    note(gpu, call, &copy, control, info);
    gpu.pipeline.stats.ms.resolve += start.elapsed().as_secs_f64() * 1e3;
    result
}

/// The pixels that the draw's rectangle covers. Without a usable vertex stage, all that
/// the scissors leave.
fn covered(gpu: &mut Gpu, call: &DrawCall) -> Rect {
    let [x0, y0] = bin_origin(&gpu.regs);
    let scissor = scissor(&gpu.regs).intersect(Rect { x0, y0, ..Rect::ALL });
    let state = primitive_state(&gpu.regs, topology(call));
    let Ok(vertex) = VertexState::snapshot(gpu, call) else { return scissor };
    let Ok(mut shaded) = shade_vertices(gpu, &vertex) else { return scissor };
    setup::assemble(&state, &mut shaded.vertices, &shaded.list)
        .unwrap_or_default()
        .iter()
        .map(|p| p.shape.bounds.intersect(scissor))
        .filter(|rect| !rect.is_empty())
        .reduce(Rect::union)
        .unwrap_or(Rect { x1: scissor.x0, ..scissor })
}

impl Copy {
    /// Bytes of a row.
    fn row_bytes(&self) -> usize {
        (self.area.x1 - self.area.x0).max(0) as usize * self.cpp as usize
    }

    fn run(&self, gpu: &mut Gpu) -> Result<(), Fault> {
        if self.area.is_empty() {
            return Ok(());
        }
        let len = self.row_bytes();
        let offset = |y: i32| u64::from(self.pitch) * y as u64 + u64::from(self.cpp) * self.area.x0 as u64;
        let first = offset(self.area.y0);
        let all = (offset(self.area.y1 - 1) - first) as usize + len;
        let address = self.base.wrapping_add(first as u32);
        let lost = Fault::Store { client: Client::Resolve, page: address - address % crate::memory::PAGE };
        let (mem, gmem) = (&mut gpu.mem, &gpu.gmem);
        let Some(to) = mem.slice_mut(address, all) else { return Err(lost) };
        let pitch = (self.pitch as usize).max(1);
        let rows = to.par_chunks_mut(pitch * ROWS).enumerate();
        let copied = rows.try_for_each(|(index, rows)| {
            let first = self.area.y0 + (index * ROWS) as i32;
            for y in first..self.area.y1.min(first + ROWS as i32) {
                let from = self.source(y);
                let at = (y - first) as usize * pitch;
                rows.get_mut(at..at + len)?.copy_from_slice(gmem.get(from..from + len)?);
            }
            Some(())
        });
        copied.ok_or(lost)
    }

    /// Byte of tile memory where the row at screen row `y` starts.
    fn source(&self, y: i32) -> usize {
        let (x, y) = ((self.area.x0 - self.origin[0]) as usize, (y - self.origin[1]) as usize);
        self.gmem_base as usize + y * self.gmem_pitch as usize + x * self.cpp as usize
    }
}

/// Whether the copy is of the depth buffer. The open driver copies it like a colour, so
/// its place in tile memory decides, unless a colour target is there.
fn is_depth(gpu: &Gpu, control: RB_COPY_CONTROL) -> bool {
    let base = control.GMEM_BASE();
    let depth = gpu.regs.get::<RB_DEPTH_INFO>();
    let color = (0..8).any(|i| {
        let format = Format::color(gpu.regs.at::<RB_MRT_BUF_INFO>(i).COLOR_FORMAT());
        format.is_some() && gpu.regs.at::<RB_MRT_BASE>(i).VALUE() == base
    });
    let copied = depth.DEPTH_FORMAT() != DepthFormat::DEPTH4_NONE && depth.DEPTH_BASE() == base && !color;
    copied || control.MODE() == CopyControlMode::RB_COPY_DEPTH_STENCIL
}

fn note(gpu: &mut Gpu, call: &DrawCall, copy: &Copy, control: RB_COPY_CONTROL, info: RB_COPY_DEST_INFO) {
    let size = gpu.regs.get::<RB_FRAME_BUFFER_DIMENSION>();
    let depth = gpu.regs.get::<RB_DEPTH_INFO>();
    let content = match is_depth(gpu, control) {
        true => Content::Depth(depth.DEPTH_FORMAT()),
        false => Content::Color,
    };
    gpu.pipeline.surfaces.note(Written {
        submit: call.submit,
        draw: call.number,
        address: copy.base,
        width: size.WIDTH(),
        height: size.HEIGHT(),
        pitch: copy.pitch,
        format: info.FORMAT(),
        swap: info.SWAP(),
        content,
    });
}
