//! Finds the draws that can have made a pixel of a surface in memory. It goes backwards from the end of the
//! run, through resolves and restores.
//!
//! Only draws and resolves are followed. Other writes are found by [`writers`](super::writers).

use std::collections::BTreeMap;

use a4emu_decoder::adreno::address::Address;
use a4emu_gpu::a4xx::rb::{self, resolve_bounds};
use a4emu_gpu::cp::{Call, Flow, Observer};
use a4emu_gpu::draw::gras::raster::Rect;
use a4emu_gpu::draw::rb::state::ResolveState;
use a4emu_gpu::draw::rb::surface::{Location, Surface};
use a4emu_gpu::pass::Pass;
use a4emu_gpu::settled::Running;

/// The surfaces of a call.
enum Seen {
    Draw {
        pass: Pass,
        /// Colour targets, in their order.
        colors: Vec<Surface>,
        /// Depth and stencil.
        others: Vec<Surface>,
    },
    /// A resolve with the largest area that it copies.
    Copy(ResolveState, Rect),
    Other,
}

/// Maximum number of calls; the oldest are dropped.
const MAX_CALLS: usize = 1 << 18;

/// The calls of a run, by number.
#[derive(Default)]
pub(super) struct Trail {
    calls: BTreeMap<u32, Seen>,
    /// Number of dropped calls.
    pub forgotten: u64,
}

/// The part of a call in a pixel's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HistoryPart {
    /// The call may have drawn the pixel.
    Drawn {
        /// Screen position of the pixel.
        at: [i32; 2],
        /// Index among the draw's colour targets.
        target: Option<usize>,
    },
    /// The call copied the pixel from GMEM.
    Copied,
}

impl HistoryPart {
    /// Screen position at which the pixel is drawn.
    pub fn position(self) -> Option<[i32; 2]> {
        match self {
            Self::Drawn { at, .. } => Some(at),
            Self::Copied => None,
        }
    }
}

/// The place of the pixel at one time.
#[derive(Clone, Copy)]
enum Holder {
    Memory,
    /// A byte of GMEM, while the tile with this origin is drawn. `met` is whether one of its draws was
    /// found.
    Tile {
        origin: [i32; 2],
        at: [i32; 2],
        byte: u32,
        met: bool,
    },
}

impl Observer for Trail {
    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        let mut unsupported = Vec::new();
        let seen = match call.pass() {
            None | Some(Pass::Binning) => Seen::Other,
            Some(Pass::Resolve) => {
                let copy = rb::resolve(&gpu.regs, &mut unsupported);
                copy.map_or(Seen::Other, |copy| Seen::Copy(copy, resolve_bounds(&gpu.regs)))
            }
            Some(pass) => {
                let targets = rb::targets(&gpu.regs, &mut unsupported);
                let colors = targets.color.iter().map(|target| targets.surfaces[target.surface]).collect();
                let others = targets.surfaces[targets.color.len()..].to_vec();
                Seen::Draw { pass, colors, others }
            }
        };
        self.calls.insert(call.number(), seen);
        if self.calls.len() > MAX_CALLS {
            self.calls.pop_first();
            self.forgotten += 1;
        }
        Flow::Continue
    }
}

impl Trail {
    /// The calls that affect the pixel at `address`, by number.
    pub fn of(&self, address: Address) -> BTreeMap<u32, HistoryPart> {
        let mut holder = Some(Holder::Memory);
        let mut parts = BTreeMap::new();
        let mut depth: Option<(Vec<Surface>, [i32; 2])> = None;
        for (&number, seen) in self.calls.iter().rev() {
            let Some(now) = holder else { break };
            let part = match now {
                Holder::Memory => in_memory(seen, address, &mut depth, &mut holder),
                Holder::Tile { .. } => in_tile(seen, now, &mut holder),
            };
            parts.extend(part.map(|part| (number, part)));
        }
        parts
    }
}

/// The part of a call for a pixel that is in memory after it.
fn in_memory(
    seen: &Seen,
    address: Address,
    depth: &mut Option<(Vec<Surface>, [i32; 2])>,
    holder: &mut Option<Holder>,
) -> Option<HistoryPart> {
    match seen {
        Seen::Copy(copy, bounds) => {
            let at = copy.to().position(Location::Memory(address)).filter(|at| bounds.contains(*at))?;
            let Some(Location::Gmem(byte)) = copy.from().pixel(at) else { return None };
            *holder = Some(Holder::Tile { origin: copy.origin, at, byte, met: false });
            Some(HistoryPart::Copied)
        }
        Seen::Draw { pass: Pass::Bypass, colors, others } => {
            let hit = |surface: &Surface| surface.position(Location::Memory(address));
            let found = colors.iter().enumerate().find_map(|(target, color)| Some((target, hit(color)?)));
            if let Some((target, at)) = found {
                *depth = Some((others.clone(), at));
                return Some(HistoryPart::Drawn { at, target: Some(target) });
            }
            // A draw with only depth, of the depth buffer used with the surface.
            let (_, at) = depth.as_ref().filter(|(with, _)| colors.is_empty() && with == others)?;
            (!others.is_empty()).then_some(HistoryPart::Drawn { at: *at, target: None })
        }
        Seen::Draw { .. } | Seen::Other => None,
    }
}

/// The part of a call for a pixel that is in GMEM after it.
fn in_tile(seen: &Seen, now: Holder, holder: &mut Option<Holder>) -> Option<HistoryPart> {
    let Holder::Tile { origin, at, byte, met } = now else { return None };
    match seen {
        // A resolve ends a tile: this one belongs to an earlier tile or frame.
        Seen::Copy(copy, _) if met || copy.origin != origin => {
            *holder = None;
            None
        }
        Seen::Draw { pass: pass @ (Pass::Gmem | Pass::Restore), colors, others } => {
            if *pass == Pass::Gmem && colors.iter().chain(others).any(|surface| surface.origin != origin) {
                *holder = None;
                return None;
            }
            // A restore does not add the bin's offset: its surfaces start at the first pixel of the tile.
            let drawn = if *pass == Pass::Restore { [at[0] - origin[0], at[1] - origin[1]] } else { at };
            let target = colors.iter().position(|color| color.pixel(drawn) == Some(Location::Gmem(byte)));
            *holder = Some(match (pass, target) {
                (Pass::Restore, Some(_)) => Holder::Memory,
                _ => Holder::Tile { origin, at, byte, met: true },
            });
            (target.is_some() || colors.is_empty()).then_some(HistoryPart::Drawn { at: drawn, target })
        }
        Seen::Draw { .. } | Seen::Copy(..) | Seen::Other => None,
    }
}
