//! One warp of a draw, ready to run: for a debugger.

use std::sync::Arc;

use crate::fault::Fault;
use crate::gpu::{Gpu, Stage};
use crate::pass::Pass;
use crate::shader::{Program, Warp};

use crate::draw::call::DrawCall;
use crate::draw::front::FrontState;
use crate::draw::fs::{self, Chosen, Frame, Group};
use crate::draw::gras::state::{DrawState, VertexState};
use crate::draw::pipeline::{geometry, plan, reachable};
use crate::draw::primitive_cache::Geometry;
use crate::draw::sp::memory::{Port, StageEnvironment};
use crate::draw::sp::programs::words;
use crate::draw::vfd::indices;

/// A warp before its first instruction, of a program with a step per instruction.
pub struct Launch<'l, 'e, 'q, 'a> {
    /// The program's words.
    pub words: &'l [u64],
    /// The same, lowered.
    pub program: &'l Program,
    /// Its registers, inputs in place.
    pub warp: Warp,
    /// What it sees.
    pub environment: StageEnvironment<'e, 'q, 'a>,
    /// Which pixels, of a fragment shader.
    pub pixels: Option<Group>,
}

/// Hands over the `number`-th warp of the draw's vertex shader.
///
/// # Errors
/// A fault when there is no such warp.
pub fn vertices(
    gpu: &mut Gpu,
    call: &DrawCall,
    number: u32,
    look: impl FnOnce(Launch<'_, '_, '_, '_>),
) -> Result<(), Fault> {
    let (words, program) = stepwise(gpu, Stage::VS)?;
    let mut state = VertexState::snapshot(gpu, call)?;
    state.stage.program = program.clone();
    indices::launch(&state, &mut gpu.mem, number, |warp, environment| {
        look(Launch { words: &words, program: &program, warp, environment, pixels: None });
    })
}

/// Hands over a warp of the draw's fragment shader. What the vertex shader stores has
/// happened by then.
///
/// # Errors
/// A fault when nothing is drawn there.
pub fn fragments(
    gpu: &mut Gpu,
    call: &DrawCall,
    chosen: Chosen,
    look: impl FnOnce(Launch<'_, '_, '_, '_>),
) -> Result<(), Fault> {
    if matches!(call.pass, Pass::Resolve | Pass::Binning) {
        return Err(Fault::Draw("the fragment shader of a resolve or binning pass does not run".into()));
    }
    let (words, program) = stepwise(gpu, Stage::FS)?;
    let front = FrontState::snapshot(gpu, call)?;
    let mut state = DrawState::snapshot(gpu, front.topology(), front.viewports())?;
    state.fragment.stage.program = program.clone();
    let Some(geometry) = geometry(gpu, call, front, &state)? else { return Ok(()) };
    let area = state.targets.scissor.intersect(reachable(gpu, &state.targets.surfaces));
    let plan = plan(&state, &gpu.mem);
    let Geometry { vertices, primitives, bounds, .. } = &*geometry;
    let frame = Frame { state: &state, vertices, primitives, bounds, plan };
    fs::launch(&frame, area, chosen, Port::Exclusive(&mut gpu.mem), |pixels, warp, environment| {
        look(Launch { words: &words, program: &program, warp, environment, pixels: Some(pixels) });
    })
}

fn stepwise(gpu: &mut Gpu, stage: Stage) -> Result<(Vec<u64>, Arc<Program>), Fault> {
    let words = words(gpu, stage)?;
    let program = Program::stepwise(&words).map_err(|error| Fault::Shader(error.to_string()))?;
    Ok((words, Arc::new(program)))
}
