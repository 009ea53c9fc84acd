//! Lockstep warps of a band, for straight-line programs without effects that another warp could observe. They
//! are several 8x4 blocks of one primitive, or eight quads of any primitives. The compiled code may include
//! the steps after the shader.

use crate::draw::gras::quad::{Quads, quads};
use crate::draw::rb::color::BlockColors;
use crate::draw::rb::depth::Words;
use crate::draw::rb::pixels::{Pixels, load_blocks, store_blocks};
use crate::draw::sp::launch::WarpLanes;
use crate::draw::vpc::interpolate::{WarpQuads, perspective_of_blocks};
use a4emu_shader::jit::{MAX_LOCKSTEP, WarpGroup};
use a4emu_shader::{ALL, Warp};

use super::{BandRun, Ran};

impl BandRun<'_, '_, '_> {
    /// Shades several 8x4 blocks in lockstep: first pixel and covered pixels (four to a quad) of each.
    /// Returns false if that is not possible.
    pub(super) fn blocks_together(&mut self, primitive: u32, blocks: &[([i32; 2], u32)]) -> bool {
        let Some((lockstep_cost, id)) = self.together.filter(|_| !self.worker.is_stopped()) else {
            return false;
        };
        let first = quads(primitive, blocks[0].0, blocks[0].1);
        let mut pieces = WarpQuads::of_block(&first, blocks[0].0, self.source);
        pieces.set_frame(&self.frames.lockstep);
        let (surfaces, triangle) = (&mut *self.surfaces, &self.draw.primitives[primitive as usize]);
        let blended = self.epilogue.filter(|(epilogue, _)| epilogue.blend.is_some());
        let enter = |warps: &mut [Warp]| {
            if let Some((_, surface)) = blended {
                let warps = warps.iter_mut().zip(blocks);
                load_blocks(&mut surfaces[surface], warps.map(|(warp, (at, _))| (*at, warp.pixels_mut())));
            }
            let pairs = warps.iter_mut().map(|warp| warp.full_pair_mut(id).expect("two registers"));
            perspective_of_blocks(triangle, blocks, pairs);
        };
        let live = blocks.iter().map(|(_, mask)| *mask);
        let epilogue = self.epilogue.as_ref().map(|(epilogue, _)| epilogue);
        let ran = self.worker.run_lockstep(lockstep_cost, live, &pieces, id..id + 2, epilogue, enter);
        if ran == WarpGroup::Not {
            return false;
        }
        match self.pixels_of(ran) {
            Some(surface) if self.is_plain => {
                let warps = self.worker.lockstep_warps.iter().zip(blocks);
                let pixels = warps.map(|(warp, (at, mask))| (*at, *mask, warp.pixels()));
                store_blocks(&mut self.surfaces[surface], pixels);
            }
            None if self.is_plain => self.color_blocks(primitive, blocks),
            pixels => {
                for (number, (at, mask)) in blocks.iter().enumerate() {
                    let quads = quads(primitive, *at, *mask);
                    let pieces = WarpQuads::of_block(&quads, *at, self.source);
                    self.merge(Ran::Lockstep(number), &pieces, None, *mask, pixels);
                }
            }
        }
        true
    }

    /// Writes the colours of warps that ran in lockstep, if only colour writes follow the shader
    /// (`is_plain`).
    fn color_blocks(&mut self, primitive: u32, blocks: &[([i32; 2], u32)]) {
        const NONE: &Words = &[0; 32];
        for target in &self.draw.state.targets.color {
            let mut all = [BlockColors { at: [0; 2], mask: 0, colors: [[NONE; 4]; 2] }; MAX_LOCKSTEP];
            for ((block, (at, _)), warp) in all.iter_mut().zip(blocks).zip(&self.worker.lockstep_warps) {
                let [x, y, z, w] = warp.four(target.output.regid);
                *block = BlockColors { at: *at, mask: warp.covered(), colors: [[&x.0, &y.0, &z.0, &w.0]; 2] };
            }
            let surface = &mut self.surfaces[target.surface];
            for BlockColors { at, mask, colors: [first, second] } in
                target.write_blocks(surface, &all[..blocks.len()])
            {
                let quads = quads(primitive, *at, *mask);
                target.write(surface, &Quads::of_block(&quads, *at), *mask, first, second);
            }
        }
    }

    /// Shades a full warp of quads in a lockstep frame. Returns false if the program is not straight-line.
    pub(super) fn quads_together(&mut self, pieces: &WarpQuads<'_>, lanes: WarpLanes) -> bool {
        let Some((lockstep_cost, id)) = self.together.filter(|_| lanes.live | lanes.helpers == ALL) else {
            return false;
        };
        let (surfaces, live) = (&mut *self.surfaces, lanes.live);
        let blended = self.epilogue.filter(|(epilogue, _)| epilogue.blend.is_some());
        let enter = |warps: &mut [Warp]| {
            let [warp, ..] = warps else { return };
            if let Some((_, surface)) = blended {
                *warp.pixels_mut() = pieces.quads.load(&mut surfaces[surface], live);
            }
            pieces.perspective(warp.full_pair_mut(id).expect("two registers"));
        };
        let (epilogue, live_of_one) =
            (self.epilogue.as_ref().map(|(epilogue, _)| epilogue), [live].into_iter());
        let ran = self.worker.run_lockstep(lockstep_cost, live_of_one, pieces, id..id + 2, epilogue, enter);
        if ran == WarpGroup::Not {
            return false;
        }
        let pixels = self.pixels_of(ran);
        self.merge(Ran::Lockstep(0), pieces, None, live, pixels);
        true
    }

    /// Returns the surface of the pixels that the compiled code made, if it made any.
    fn pixels_of(&self, ran: WarpGroup) -> Option<usize> {
        self.epilogue.filter(|_| ran == WarpGroup::Pixels).map(|(_, surface)| surface)
    }
}
