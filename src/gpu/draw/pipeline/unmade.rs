//! Small draws whose primitives others make while the command processor goes on with what follows.
//!
//! A frame of hundreds of small draws that have changed gives nobody but the command processor something to do until its
//! first tile is complete. So it only takes down the state of such a draw; whoever is free fetches and shades its
//! vertices and sets up its primitives, of memory as it was then, which nobody writes before that. Afterwards the draws
//! go on in their order as if they had been made at once. When that is depends on the stream alone, and so does what they
//! may cost.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};
use std::thread;

use rayon::Yield;

use crate::budget::Budget;
use crate::draw::call::DrawCall;
use crate::draw::fs::DrawState;
use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::setup::{self, Assembled, PrimitiveState};
use crate::draw::rb::state::Targets;
use crate::draw::stop::{MAX_HELD, Stop};
use crate::draw::vertex_stages::VertexStages;
use crate::draw::vs::Shaded;
use crate::fault::Place;
use crate::gpu::Gpu;
use crate::memory::Memory;
use crate::parallel::{self, locked, work_until};
use crate::pass::Pass;

use super::late::Resolves;
use super::record::{record_end, record_primitives, record_vertices};
use super::{Stopwatch, draw_first_layer, helper, keep_if_known, note_written, primitives};

/// Draws that are made at once in a batch, before others wait: who has a few does not gain by it.
const AT_ONCE: u32 = 16;

/// Draws that wait at most.
const MOST: usize = 256;

/// Draws that wait for their primitives, and known ones behind them.
#[derive(Default)]
pub(super) struct GeometryQueue {
    draws: Vec<Waiting>,
    /// Where those are made that have to be, if there are any.
    shop: Option<Arc<GeometryWorkers>>,
    /// Memory that the last shop has left.
    spare: Lists,
    /// New ones that have been made at once since the last batch was taken.
    at_once: u32,
}

/// A draw that waits.
struct Waiting {
    at: Place,
    call: DrawCall,
    what: What,
}

/// What is to be done with a draw.
enum What {
    /// It is drawn when its primitives are made.
    Made(DrawState),
    /// These are drawn.
    Known(DrawState, Arc<Primitives>),
    /// It is noted that it was for these targets, of which it reaches nothing.
    OutOfSight(Arc<Targets>),
}

/// Lists of a shop.
#[derive(Default)]
struct Lists {
    orders: VecDeque<Box<GeometryTask>>,
    made: Vec<GeometryResult>,
}

/// Where primitives are made.
struct GeometryWorkers {
    orders: Mutex<VecDeque<Box<GeometryTask>>>,
    made: Mutex<Vec<GeometryResult>>,
    /// Memory as the draws see it, until all are made.
    memory: RwLock<Option<Memory>>,
    /// Nothing is added any more.
    is_closed: AtomicBool,
}

/// What is to be made.
struct GeometryTask {
    /// Which of the draws that wait it is.
    number: usize,
    stages: VertexStages,
    primitive: Arc<PrimitiveState>,
    /// What it may cost.
    budget: Budget,
    /// Whether somebody asks for times.
    is_timed: bool,
}

/// What became of an order.
struct GeometryResult {
    order: Box<GeometryTask>,
    /// The vertices, and what set-up has made of them, or the panic that ended that.
    result: Result<Result<Parts, Stop>, Box<dyn Any + Send>>,
}

/// What a draw has afterwards.
struct Parts {
    shaded: Shaded,
    assembled: Option<Assembled>,
    /// What vertices and primitives took.
    milliseconds: [f64; 2],
}

impl GeometryQueue {
    /// A batch has been taken: what comes next is new.
    pub(super) fn begin(&mut self) {
        self.at_once = 0;
    }

    /// Whether the draw of the packet at `address` is among them.
    pub(super) fn has(&self, address: u32) -> bool {
        self.draws.iter().any(|draw| draw.at.address == address)
    }

    /// Whether none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.draws.is_empty()
    }
}

/// Lets a draw wait, if that is worth it and nobody can see it; or gives back its stages. Its primitives may be known.
pub(super) fn enqueue_geometry(
    gpu: &mut Gpu,
    call: &DrawCall,
    stages: VertexStages,
    state: &DrawState,
    known: Option<&Arc<Primitives>>,
) -> Option<VertexStages> {
    let may_wait = gpu.pipeline.resolves != Resolves::AtOnce
        && call.pass == Pass::Gmem
        && gpu.fidelity.is_none()
        && gpu.pipeline.watch.is_none()
        && stages.is_reusable()
        && state.fragment.stage.only_reads();
    let what = match known {
        _ if !may_wait => return Some(stages),
        Some(_) if gpu.pipeline.unmade.is_empty() => return Some(stages),
        Some(known) => What::Known(state.clone(), known.clone()),
        None if !stages.vertex.is_small() || is_one_of_few(gpu) => return Some(stages),
        None => {
            order(gpu, stages, state);
            What::Made(state.clone())
        }
    };
    wait(gpu, call, what);
    None
}

/// A draw to `targets` reaches nothing of them.
pub(super) fn out_of_sight(gpu: &mut Gpu, call: &DrawCall, targets: Arc<Targets>) {
    match gpu.pipeline.unmade.is_empty() {
        true => note_written(gpu, call, &targets, &targets.surfaces),
        false => wait(gpu, call, What::OutOfSight(targets)),
    }
}

/// Whether a draw that is to be made is one of the first since the last batch.
fn is_one_of_few(gpu: &mut Gpu) -> bool {
    let at_once = &mut gpu.pipeline.unmade.at_once;
    *at_once += 1;
    *at_once <= AT_ONCE && gpu.pipeline.resolves == Resolves::Late
}

/// Has the primitives of a draw made.
fn order(gpu: &mut Gpu, stages: VertexStages, state: &DrawState) {
    let order = Box::new(GeometryTask {
        number: gpu.pipeline.unmade.draws.len(),
        stages,
        primitive: state.primitive.clone(),
        budget: gpu.budget.part_beside(MOST as u64),
        is_timed: !gpu.pipeline.untimed,
    });
    if gpu.pipeline.unmade.shop.is_none() {
        helper::is_needed(gpu);
    }
    let GeometryQueue { shop, spare, .. } = &mut gpu.pipeline.unmade;
    let shop = shop.get_or_insert_with(|| GeometryWorkers::open(gpu.mem.view(), std::mem::take(spare)));
    locked(&shop.orders).push_back(order);
}

fn wait(gpu: &mut Gpu, call: &DrawCall, what: What) {
    gpu.pipeline.unmade.draws.push(Waiting { at: gpu.at, call: call.clone(), what });
    if gpu.pipeline.unmade.draws.len() >= MOST {
        finish(gpu);
    }
}

/// Makes what is left to be made, and has all that waits go on in its order.
pub(super) fn finish(gpu: &mut Gpu) {
    if gpu.pipeline.unmade.is_empty() {
        return;
    }
    let mut draws = std::mem::take(&mut gpu.pipeline.unmade.draws);
    let Some(shop) = gpu.pipeline.unmade.shop.take() else { return };
    let mut spare = shop.close();
    let mut made = spare.made.drain(..);
    let here = gpu.at;
    for Waiting { at, call, what } in draws.drain(..) {
        gpu.at = at;
        let result = match what {
            _ if gpu.budget.cut().is_some() => break,
            What::Made(state) => go_on(gpu, &call, state, made.next().expect("it was ordered")),
            What::Known(state, known) => draw_first_layer(gpu, &call, state, known),
            What::OutOfSight(targets) => {
                note_written(gpu, &call, &targets, &targets.surfaces);
                Ok(())
            }
        };
        record_end(gpu, result);
    }
    gpu.at = here;
    drop(made);
    (gpu.pipeline.unmade.draws, gpu.pipeline.unmade.spare) = (draws, spare);
}

/// What a draw has been made of goes on.
fn go_on(gpu: &mut Gpu, call: &DrawCall, state: DrawState, made: GeometryResult) -> Result<(), Stop> {
    let GeometryResult { order, result } = made;
    let GeometryTask { stages, budget, .. } = *order;
    let parts = result.unwrap_or_else(|panic| resume_unwind(panic));
    let primitives = match parts {
        Ok(Parts { shaded, assembled, milliseconds: [of_vertices, of_primitives] })
            if budget.cut().is_none() =>
        {
            gpu.budget.rejoin(&budget);
            let Shaded { vertices, .. } = record_vertices(gpu, shaded, Stopwatch(None));
            gpu.pipeline.stats.ms.vertex += of_vertices;
            gpu.pipeline.stats.ms.primitive += of_primitives;
            let made =
                assembled.map(|assembled| record_primitives(gpu, call, assembled, vertices, Vec::new()));
            keep_if_known(gpu, call, stages, &state, made)
        }
        // A part of the budget was too small: with all of it.
        _ => primitives(gpu, call, stages, &state, None)?,
    };
    match primitives {
        Some(primitives) => draw_first_layer(gpu, call, state, primitives),
        None => Ok(()),
    }
}

impl GeometryWorkers {
    /// Somebody who has nothing else to do begins to work in it.
    fn open(memory: Memory, Lists { orders, made }: Lists) -> Arc<Self> {
        let shop = Arc::new(Self {
            orders: Mutex::new(orders),
            made: Mutex::new(made),
            memory: RwLock::new(Some(memory)),
            is_closed: AtomicBool::new(false),
        });
        if rayon::current_num_threads() > 1 {
            let theirs = shop.clone();
            parallel::spawn(move || theirs.help());
        }
        shop
    }

    /// Makes what there is, and looks out for more.
    fn help(&self) {
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        let Some(memory) = &*memory else { return };
        let is_over = || self.is_closed.load(Ordering::Acquire) && locked(&self.orders).is_empty();
        let next = || Some(if self.make_next(memory) { Yield::Executed } else { Yield::Idle });
        work_until(is_over, next);
    }

    /// Makes the next, if one is left.
    fn make_next(&self, memory: &Memory) -> bool {
        let Some(order) = locked(&self.orders).pop_front() else { return false };
        let made = order.make(memory);
        locked(&self.made).push(made);
        true
    }

    /// Makes what is left. Gives all in their order, and a list without orders; nobody has memory any more.
    fn close(&self) -> Lists {
        self.is_closed.store(true, Ordering::Release);
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        while memory.as_ref().is_some_and(|memory| self.make_next(memory)) {}
        drop(memory);
        // Who still makes one is done with it before he could be waited for asleep.
        let mut memory = loop {
            match self.memory.try_write() {
                Ok(memory) => break memory,
                Err(TryLockError::Poisoned(memory)) => break memory.into_inner(),
                Err(TryLockError::WouldBlock) => thread::yield_now(),
            }
        };
        *memory = None;
        let mut made = std::mem::take(&mut *locked(&self.made));
        made.sort_unstable_by_key(|made| made.order.number);
        Lists { orders: std::mem::take(&mut *locked(&self.orders)), made }
    }
}

impl GeometryTask {
    fn make(mut self: Box<Self>, memory: &Memory) -> GeometryResult {
        let make = || {
            let start = Stopwatch::if_asked(self.is_timed);
            let mut shaded = self.stages.vertex.shade_small(memory, &mut self.budget)?;
            let of_vertices = start.milliseconds();
            let list = std::mem::take(&mut shaded.list);
            let assembled = setup::assemble_in(&self.primitive, &mut shaded.vertices, &list, &[], MAX_HELD);
            let milliseconds = [of_vertices, start.milliseconds() - of_vertices];
            Ok(Parts { shaded, assembled, milliseconds })
        };
        let result = catch_unwind(AssertUnwindSafe(make));
        GeometryResult { order: self, result }
    }
}
