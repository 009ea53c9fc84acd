//! Determines what each primitive of a draw does to one pixel, and why.
//!
//! The pixel is drawn alone, in its own copy, with the same steps as every pixel: the same tests, shader and
//! blending. The shader runs one quad, instruction by instruction. For a shader that stores, fragments depend
//! on earlier ones, so the results come from a [run](Ran) of the whole draw.

use std::collections::VecDeque;

use crate::budget::{Budget, Work};
use crate::draw::compare::Compare;
use crate::draw::gras::quad::{Quad, Quads};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::samples::Coverage;
use crate::draw::gras::setup::{Face, ScreenPrimitive};
use crate::draw::rb::color::ColorTarget;
use crate::draw::rb::depth::StencilOp;
use crate::draw::rb::depth_target::DepthTarget;
use crate::draw::rb::state::TestOrder;
use crate::draw::rb::surface::PixelRows;
use crate::draw::sp::environment::StageEnvironment;
use crate::draw::sp::launch::{WarpLanes, Worker};
use crate::draw::sp::memory::GpuMemory;
use crate::draw::vpc::interpolate::WarpQuads;
use crate::memory::Memory;
use a4emu_shader::format::Codec;
use a4emu_shader::format::arrangement::resolved;
use a4emu_shader::{INSTRUCTION_LIMIT, Outcome, step};

use super::FragmentDraw;
use super::band::{colors, enter, lanes_of_quads};
use super::sampled::{any, at_place, enter_sampled, kept};
use super::state::Rate;
use super::tap::Ran;

/// A colour as the shader outputs it: red, green, blue, alpha.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Color {
    /// Colour of a float or normalised target.
    Floats([f32; 4]),
    /// Colour of an integer target, as bits.
    Integers([u32; 4]),
}

impl Color {
    /// Converts lanes to a colour in a target with this format.
    pub fn new(codec: &Codec, lanes: [u32; 4]) -> Self {
        match codec.is_integer() {
            true => Self::Integers(lanes),
            false => Self::Floats(lanes.map(f32::from_bits)),
        }
    }
}

/// Contents of a pixel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PixelValues {
    /// Colours in the draw's colour targets, in order.
    pub colors: Vec<Color>,
    /// Window depth.
    pub depth: Option<f32>,
    /// Stencil.
    pub stencil: Option<u32>,
}

/// Result of a primitive at the pixel.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The pixel is outside of the scissors.
    Scissored,
    /// The primitive's face is culled.
    Culled,
    /// The shader killed the fragment.
    Killed {
        /// Index of the instruction.
        instruction: u32,
    },
    /// The shader did not finish, or the budget is exhausted.
    Failed(String),
    /// The alpha test failed: `alpha func reference` does not hold.
    Alpha {
        /// The comparison.
        func: Compare,
        /// Alpha of output 0.
        alpha: f32,
        /// Reference value of the test.
        reference: f32,
    },
    /// The stencil test failed: `reference func stored` does not hold, both masked.
    Stencil {
        /// The comparison.
        func: Compare,
        /// Reference value, masked.
        reference: u32,
        /// Stored value, masked.
        stored: u32,
        /// Operation on the stencil buffer.
        op: StencilOp,
    },
    /// The depth test failed: `z func stored` does not hold.
    Depth {
        /// The comparison.
        func: Compare,
        /// Window depth in the precision of the buffer.
        z: f32,
        /// Depth in the buffer.
        stored: f32,
    },
    /// All tests passed, but the write masks disable every component.
    Masked,
    /// Colours are written.
    Written,
}

/// Effect of one primitive on the pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Touch {
    /// Number of the primitive in the draw.
    pub primitive: u32,
    /// Visible side.
    pub face: Face,
    /// Colour outputs of the shader by target, if it finished.
    pub outputs: Option<Vec<Color>>,
    /// Result of the primitive.
    pub verdict: Verdict,
    /// Contents of the pixel before.
    pub before: PixelValues,
    /// Contents of the pixel after.
    pub after: PixelValues,
}

/// One pixel of a draw, before culling.
pub struct PixelOf<'a> {
    /// The draw. Its fragment shader runs one instruction per step.
    pub draw: &'a FragmentDraw<'a>,
    /// Number in the draw of each primitive.
    pub numbers: &'a [u32],
    /// The culled faces.
    pub cull: [Option<Face>; 2],
    /// Area within the scissors.
    pub area: Rect,
    /// Screen position.
    pub at: [i32; 2],
}

/// A primitive and the samples of the pixel's quad that are shaded together: all, or one.
struct Shaded {
    index: u32,
    covered: Coverage<u32>,
    only: Option<usize>,
}

/// State of the pixel while it is drawn.
struct Drawing<'a, 'm> {
    /// Bytes of the pixel in each surface.
    bytes: &'a mut [Vec<u8>],
    worker: &'a mut Worker<'m>,
    /// Results of its fragments, if the shader stores. Then the shader does not run again.
    ran: Option<VecDeque<Ran>>,
    budget: &'a mut Budget,
}

impl PixelOf<'_> {
    /// Returns the effect of every primitive that covers the pixel, in order. `bytes` has the pixel in each
    /// surface, and is updated. `ran` has the results of its fragments, if the shader stores.
    pub fn history(
        &self,
        bytes: &mut [Vec<u8>],
        ran: Option<VecDeque<Ran>>,
        memory: &mut Memory,
        budget: &mut Budget,
    ) -> Vec<Touch> {
        let worker = &mut Worker::new(&self.draw.state.fragment.stage, GpuMemory::ReadWrite(memory));
        let covering = self.draw.primitives.iter().zip(0..);
        let covering = covering.filter(|(p, _)| any(self.coverage(p, self.here())) != 0);
        let mut pixel = Drawing { bytes, worker, ran, budget };
        covering.map(|(primitive, index)| self.touch(primitive, index, &mut pixel)).collect()
    }

    fn here(&self) -> Rect {
        let [x, y] = self.at;
        Rect { x0: x, y0: y, x1: x + 1, y1: y + 1 }
    }

    fn touch(&self, primitive: &ScreenPrimitive, index: u32, pixel: &mut Drawing<'_, '_>) -> Touch {
        let samples = self.draw.state.targets.samples.count();
        let before = self.values(pixel.bytes, samples);
        let (outputs, verdict) = if self.here().intersect(self.area).is_empty() {
            (None, Verdict::Scissored)
        } else if self.cull.contains(&Some(primitive.face)) {
            (None, Verdict::Culled)
        } else {
            self.fragment(primitive, index, pixel)
        };
        let after = self.values(pixel.bytes, samples);
        let number = self.numbers.get(index as usize).copied().unwrap_or(index);
        Touch { primitive: number, face: primitive.face, outputs, verdict, before, after }
    }

    /// Draws the pixel, or its samples one after the other. Then the result is that of the last written
    /// sample.
    fn fragment(
        &self,
        primitive: &ScreenPrimitive,
        index: u32,
        pixel: &mut Drawing<'_, '_>,
    ) -> (Option<Vec<Color>>, Verdict) {
        let targets = &self.draw.state.targets;
        let all = targets.sample_control.masked(self.coverage(primitive, self.area));
        let each = self.draw.state.fragment.inputs.rate() == Rate::Sample && targets.samples.count() > 1;
        let shaded = |covered, only| Shaded { index, covered, only };
        if !each {
            return self.shaded(&shaded(all, None), pixel);
        }
        let mut done = (None, Verdict::Masked);
        for sample in (0..targets.samples.count()).filter(|sample| all[*sample] & 1 << self.lane() != 0) {
            let mut covered = Coverage::default();
            covered[sample] = all[sample];
            let next = self.shaded(&shaded(covered, Some(sample)), pixel);
            if done.1 != Verdict::Written || next.1 == Verdict::Written {
                done = next;
            }
        }
        done
    }

    fn shaded(&self, it: &Shaded, pixel: &mut Drawing<'_, '_>) -> (Option<Vec<Color>>, Verdict) {
        let Drawing { bytes, worker, ran, budget } = pixel;
        let [x, y] = self.at.map(|at| at & !1);
        let quads = [Quad { x, y, mask: any(it.covered), primitive: it.index }];
        let source = self.draw.source();
        let pieces = WarpQuads::new(&quads, &source);
        let targets = &self.draw.state.targets;
        if any(it.covered) & 1 << self.lane() == 0 {
            return (None, Verdict::Masked);
        }
        let mut covered = it.covered;
        if self.draw.plan.order == TestOrder::Early
            && let Some(failed) = self.tests(&pieces, None, bytes, &mut covered)
        {
            return (None, failed);
        }
        let failed = match ran {
            Some(ran) => take_next(ran, pieces.primitive(&pieces.quads[0]).vertices, it.only, worker),
            None => self.shade(worker, &pieces, it, budget),
        };
        if let Some(failed) = failed {
            return (None, failed);
        }
        let outputs = Some(self.outputs(worker));
        if let Some(failed) = self.alpha_test(worker) {
            return (outputs, failed);
        }
        covered = kept(targets, &worker.warp, covered);
        let z = targets.depth_output.map(|id| worker.warp.full(id).floats());
        if self.draw.plan.order == TestOrder::Late
            && let Some(failed) = self.tests(&pieces, z, bytes, &mut covered)
        {
            return (outputs, failed);
        }
        self.write(worker, &pieces.quads, bytes, covered);
        let masked = targets.color.is_empty() || any(covered) & 1 << self.lane() == 0;
        (outputs, if masked { Verdict::Masked } else { Verdict::Written })
    }

    /// Returns the lane of the pixel in its quad.
    fn lane(&self) -> usize {
        (self.at[0] & 1) as usize + 2 * (self.at[1] & 1) as usize
    }

    /// Returns the covered lanes of the pixel's quad within `area`, by sample.
    fn coverage(&self, primitive: &ScreenPrimitive, area: Rect) -> Coverage<u32> {
        let [x, y] = self.at.map(|at| at & !1);
        let quad = Rect { x0: x, y0: y, x1: x + 2, y1: y + 2 };
        let mut covered = Coverage::default();
        let samples = self.draw.state.targets.samples;
        samples.cover(&primitive.shape, quad.intersect(area), |[left, top], masks| {
            let bit = |lane: i32| x - left + (lane & 1) + 8 * (y - top + (lane >> 1));
            let lanes =
                |mask: u64| (0..4).fold(0, |lanes, lane| lanes | ((mask >> bit(lane)) as u32 & 1) << lane);
            covered = masks.map(lanes);
        });
        covered
    }

    /// Tests the pixel's samples and clears failed ones in `covered`. Returns the reason if none passes.
    fn tests(
        &self,
        pieces: &WarpQuads<'_>,
        output: Option<[f32; 32]>,
        bytes: &mut [Vec<u8>],
        covered: &mut Coverage<u32>,
    ) -> Option<Verdict> {
        let targets = &self.draw.state.targets;
        let depth = targets.depth.as_ref()?;
        let face = pieces.primitive(&pieces.quads[0]).face;
        let here = 1 << self.lane();
        let mut why = None;
        for (sample, place) in targets.samples.places().iter().enumerate() {
            if covered[sample] & here == 0 {
                continue;
            }
            let z = output.unwrap_or_else(|| at_place(pieces, *place).z);
            if let Some(failed) = self.test(depth, face, &pieces.quads, (bytes, sample), &z) {
                covered[sample] &= !here;
                why = why.or(Some(failed));
            }
        }
        why.filter(|_| any(*covered) & here == 0)
    }

    /// Tests depth and stencil of a sample. Returns the reason if it fails.
    fn test(
        &self,
        depth: &DepthTarget,
        face: Face,
        quads: &Quads<'_>,
        (bytes, index): (&mut [Vec<u8>], usize),
        z: &[f32; 32],
    ) -> Option<Verdict> {
        let count = self.draw.state.targets.samples.count();
        let held = self.values(&sample(bytes, [index, count]), 1);
        let mut all = self.rows(bytes);
        let mut rows: Vec<_> = all.iter_mut().map(|rows| rows.sample(index, count)).collect();
        if depth.test(&mut rows, quads, face, z, 1 << self.lane()) != 0 {
            return None;
        }
        let stencil = depth.state.stencil.map(|faces| faces[face as usize]);
        if let (Some(stencil), Some(stored)) = (stencil, held.stencil)
            && !stencil.passes(stored)
        {
            let (reference, stored) = (stencil.reference & stencil.mask, stored & stencil.mask);
            return Some(Verdict::Stencil { func: stencil.func, reference, stored, op: stencil.fail });
        }
        let func = depth.state.depth.map_or(Compare::Never, |(func, _)| func);
        let z = depth.state.window_depth(depth.state.quantise(&[z[self.lane()]; 32])[0]);
        Some(Verdict::Depth { func, z, stored: held.depth.unwrap_or_default() })
    }

    /// Runs the shader. Returns the reason if the pixel gets no result.
    fn shade(
        &self,
        worker: &mut Worker<'_>,
        pieces: &WarpQuads<'_>,
        it: &Shaded,
        budget: &mut Budget,
    ) -> Option<Verdict> {
        let lanes = lanes_of_quads(&pieces.quads);
        let (inputs, samples) = (&self.draw.state.fragment.inputs, &self.draw.state.targets.samples);
        worker.start(lanes, |warp, _| match samples.count() {
            1 => enter(inputs, warp, pieces, &pieces.weights(), lanes.live),
            _ => enter_sampled(inputs, warp, pieces, samples, it.covered, it.only),
        });
        let allowed = budget.share(Work::WarpInstruction, 1);
        worker.warp.limit = INSTRUCTION_LIMIT.min(allowed);
        let program = &self.draw.state.fragment.stage.program;
        let here = 1 << self.lane();
        let mut killed = None;
        let ended = loop {
            let next = worker.warp.next_instruction(program);
            let mut environment = StageEnvironment { memory: &mut worker.memory, quads: Some(pieces) };
            let outcome = step(program, &mut worker.warp, &mut environment);
            if let Some((instruction, _)) = next
                && killed.is_none()
                && worker.warp.killed() & here != 0
            {
                killed = Some(Verdict::Killed { instruction });
            }
            match outcome {
                None | Some(Outcome::Barrier | Outcome::Wave) => {}
                Some(Outcome::Ended) => break None,
                Some(Outcome::Fault(fault)) => break Some(Verdict::Failed(fault.to_string())),
            }
        };
        budget.settle(Work::WarpInstruction, worker.warp.executed());
        ended.or(killed)
    }

    fn outputs(&self, worker: &Worker<'_>) -> Vec<Color> {
        let of = |target: &ColorTarget| {
            let mut widened = Default::default();
            let lanes = colors(&worker.warp, &target.output, &mut widened).map(|lanes| lanes[self.lane()]);
            Color::new(&target.codec, lanes)
        };
        self.draw.state.targets.color.iter().map(of).collect()
    }

    fn alpha_test(&self, worker: &Worker<'_>) -> Option<Verdict> {
        let targets = &self.draw.state.targets;
        let test = targets.alpha_test.as_ref()?;
        let mut widened = Default::default();
        let alpha = colors(&worker.warp, &targets.outputs[0], &mut widened)[3];
        (test.passes(alpha) & 1 << self.lane() == 0).then(|| Verdict::Alpha {
            func: test.func,
            alpha: f32::from_bits(alpha[self.lane()]),
            reference: test.reference,
        })
    }

    fn write(&self, worker: &Worker<'_>, quads: &Quads<'_>, bytes: &mut [Vec<u8>], covered: Coverage<u32>) {
        let targets = &self.draw.state.targets;
        let (mut widened, mut widened_dual) = Default::default();
        let dual = colors(&worker.warp, &targets.outputs[1], &mut widened_dual);
        let mut rows = self.rows(bytes);
        let count = targets.samples.count();
        for target in &targets.color {
            let src = colors(&worker.warp, &target.output, &mut widened);
            for (sample, mask) in covered[..count].iter().enumerate() {
                let mut surface = rows[target.surface].sample(sample, count);
                target.write(&mut surface, quads, mask & 1 << self.lane(), &src, &dual);
            }
        }
    }

    /// Makes one-pixel surfaces from the pixel's bytes.
    fn rows<'b>(&self, bytes: &'b mut [Vec<u8>]) -> Vec<PixelRows<'b>> {
        let row = |bytes: &'b mut Vec<u8>| {
            let cpp = bytes.len() as u32;
            PixelRows::new(bytes, cpp, cpp, self.at)
        };
        bytes.iter_mut().map(row).collect()
    }

    /// Returns the contents of the pixel: resolved colours, and depth and stencil of the first sample.
    fn values(&self, bytes: &[Vec<u8>], samples: usize) -> PixelValues {
        let targets = &self.draw.state.targets;
        let color =
            |target: &ColorTarget| Color::new(&target.codec, resolved(&target.codec, &bytes[target.surface]));
        let first = |depth: &DepthTarget| depth.values(&sample(bytes, [0, samples]));
        let [depth, stencil] = targets.depth.as_ref().map_or([None; 2], first);
        let depth = depth.zip(targets.depth.as_ref()).map(|(raw, target)| target.state.window_depth(raw));
        PixelValues { colors: targets.color.iter().map(color).collect(), depth, stencil }
    }
}

/// Restores the end state of the next fragment in `ran` for these vertices and this sample into `worker`.
/// Returns the reason if the pixel gets no result.
fn take_next(
    ran: &mut VecDeque<Ran>,
    vertices: [u32; 3],
    sample: Option<usize>,
    worker: &mut Worker<'_>,
) -> Option<Verdict> {
    let is_it = |next: &Ran| next.vertices == vertices && next.sample == sample;
    let Some(next) = ran.pop_front_if(|next| is_it(next)) else {
        return Some(Verdict::Failed("the draw was over before it, or there is no room for more".into()));
    };
    worker.start(WarpLanes::first(4), |warp, _| warp.put_quad(&next.registers));
    match next.ended {
        Ok(killed) => killed.map(|instruction| Verdict::Killed { instruction }),
        Err(why) => Some(Verdict::Failed(why)),
    }
}

/// Returns the bytes of sample `index` of `count` in each surface.
fn sample(bytes: &[Vec<u8>], [index, count]: [usize; 2]) -> Vec<Vec<u8>> {
    let of_sample = |bytes: &Vec<u8>| {
        let len = bytes.len() / count;
        bytes[index * len..][..len].to_vec()
    };
    bytes.iter().map(of_sample).collect()
}
