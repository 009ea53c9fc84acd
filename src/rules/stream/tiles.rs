//! Checks T8 to T10 and T12: the tiles of a frame, and the use of their surfaces.

use std::collections::BTreeMap;

use a4emu_decoder::a4xx::enums::{CompareFunc, DepthFormat};
use a4emu_decoder::a4xx::regs::gras::{GRAS_SC_SCREEN_SCISSOR_BR, GRAS_SC_SCREEN_SCISSOR_TL};
use a4emu_decoder::a4xx::regs::rb::*;
use a4emu_decoder::bits::Register;
use hashbrown::HashMap;

use crate::rules::Id;
use crate::state::{Scene, Violations};
use a4emu_gpu::a4xx::vpc::feedback;
use a4emu_gpu::draw::DrawCall;
use a4emu_gpu::pass::Pass;
use a4emu_gpu::regfile::RegFile;

/// Maximum number of tiles per frame.
const MAX_TILES: usize = 1024;
/// Maximum number of draws with side effects.
const MAX_DRAWS: usize = 4096;
/// Mask of all components of a pixel.
const ALL: u32 = 0xf;

/// A rectangle from the first to the last column and row, both inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rect {
    first: [u32; 2],
    last: [u32; 2],
}

impl Rect {
    fn of(regs: &RegFile) -> Self {
        let (tl, br) = (regs.get::<GRAS_SC_SCREEN_SCISSOR_TL>(), regs.get::<GRAS_SC_SCREEN_SCISSOR_BR>());
        Self { first: [tl.X(), tl.Y()], last: [br.X(), br.Y()] }
    }

    fn meets(self, other: Self) -> bool {
        (0..2).all(|axis| self.first[axis] <= other.last[axis] && other.first[axis] <= self.last[axis])
    }

    fn area(self) -> u64 {
        let side = |axis: usize| u64::from((self.last[axis] + 1).saturating_sub(self.first[axis]));
        side(0) * side(1)
    }

    fn around(self, other: Self) -> Self {
        Self {
            first: std::array::from_fn(|axis| self.first[axis].min(other.first[axis])),
            last: std::array::from_fn(|axis| self.last[axis].max(other.last[axis])),
        }
    }
}

/// The access of a draw to a surface of GMEM, which is identified by its base.
struct Access {
    base: u32,
    name: &'static str,
    reads: bool,
    writes: bool,
}

/// A surface that was written in the current tile.
struct Surface {
    name: &'static str,
    copied: bool,
}

/// The tiles of this batch.
#[derive(Default)]
pub struct Tiles {
    /// The current tile, once a draw has run in it.
    tile: Option<Rect>,
    surfaces: BTreeMap<u32, Surface>,
    /// The tiles of the frame.
    tiles: Vec<Rect>,
    /// For each draw with side effects, the last tile that it ran in.
    effects: HashMap<u32, Rect>,
}

impl Tiles {
    /// Records a write to register `offset`: RB_DEPTH_INFO begins a tile, the size of the frame begins a
    /// frame.
    pub fn register(&mut self, offset: u32, violations: &mut Violations) {
        if offset == RB_DEPTH_INFO::ROW.offset {
            self.end_tile(violations);
        } else if offset == RB_FRAME_BUFFER_DIMENSION::ROW.offset {
            self.end(violations);
        }
    }

    /// Checks T9: colours that are drawn and not resolved are lost. Depth and stencil are often not needed
    /// later.
    fn end_tile(&mut self, violations: &mut Violations) {
        let lost = self.surfaces.iter().filter(|(_, surface)| surface.name == "colour" && !surface.copied);
        for (base, _) in lost {
            violations
                .report(Id::T9, format!("colour at {base:#x} is drawn in a tile and not copied out of it"));
        }
        self.surfaces.clear();
        self.tile = None;
    }

    /// Ends the frame: checks T9 for its last tile, and T10 for all.
    pub fn end(&mut self, violations: &mut Violations) {
        self.end_tile(violations);
        let tiles = std::mem::take(&mut self.tiles);
        let apart =
            tiles.iter().enumerate().all(|(i, tile)| tiles[..i].iter().all(|other| !tile.meets(*other)));
        let around = tiles.iter().copied().reduce(Rect::around);
        if let Some(around) = around.filter(|_| apart && tiles.len() < MAX_TILES) {
            let missing = around.area() - tiles.iter().map(|tile| tile.area()).sum::<u64>();
            violations
                .unless(missing == 0, Id::T10, || format!("{missing} pixels of the frame are in no tile"));
        }
    }

    /// Checks a draw with vertices that is about to run.
    pub fn draw(&mut self, scene: &Scene<'_>, call: &DrawCall, violations: &mut Violations) {
        self.effects(scene, call, violations);
        if !scene.in_tiles() {
            return;
        }
        let rect = Rect::of(scene.regs);
        // A restore draws as if its tile began at 0, 0.
        if self.tile.is_none() && scene.pass != Pass::Restore {
            self.begin(rect, violations);
        }
        for access in accesses(scene) {
            self.access(&access, rect, violations);
        }
        if scene.pass == Pass::Resolve {
            self.copy(scene.regs.get::<RB_COPY_CONTROL>().GMEM_BASE(), rect, violations);
        }
    }

    /// Begins a tile, and checks T10: overlaps with earlier tiles.
    fn begin(&mut self, rect: Rect, violations: &mut Violations) {
        self.tile = Some(rect);
        let other = self.tiles.iter().find(|tile| tile.meets(rect));
        if let Some(other) = other {
            violations.report(
                Id::T10,
                format!(
                    "tiles from {:?} to {:?} and from {:?} to {:?} overlap",
                    other.first, other.last, rect.first, rect.last
                ),
            );
        }
        if self.tiles.len() < MAX_TILES {
            self.tiles.push(rect);
        }
    }

    fn access(&mut self, access: &Access, rect: Rect, violations: &mut Violations) {
        if access.reads && !self.surfaces.contains_key(&access.base) {
            never_written(access.name, access.base, rect, violations);
        }
        if access.writes {
            let surface = Surface { name: access.name, copied: false };
            self.surfaces.insert(access.base, surface);
        }
    }

    fn copy(&mut self, base: u32, rect: Rect, violations: &mut Violations) {
        match self.surfaces.get_mut(&base) {
            Some(surface) => surface.copied = true,
            None => never_written("surface", base, rect, violations),
        }
    }

    /// Checks T12: side effects that occur once for each tile.
    fn effects(&mut self, scene: &Scene<'_>, call: &DrawCall, violations: &mut Violations) {
        if !matches!(scene.pass, Pass::Gmem | Pass::Binning) {
            return;
        }
        let atomics = scene.programs.iter().any(|checked| checked.facts.atomics);
        let feeds = feedback(scene.gpu.view()).is_some();
        if !atomics && !feeds {
            return;
        }
        let rect = Rect::of(scene.regs);
        if self.effects.len() >= MAX_DRAWS {
            self.effects.clear();
        }
        let other = self.effects.insert(call.frame_draw, rect).filter(|other| *other != rect);
        if other.is_some() {
            let what = if atomics { "atomics" } else { "transform feedback" };
            violations.report(Id::T12, format!("{what} of one draw, once for each tile"));
        }
    }
}

/// Adds a violation of T8.
fn never_written(name: &str, base: u32, rect: Rect, violations: &mut Violations) {
    let [x, y] = rect.first;
    violations.report(
        Id::T8,
        format!("tile {x},{y}: {name} at {base:#x} is read, and was neither cleared nor restored"),
    );
}

/// The accesses of a draw to the surfaces of its tile.
fn accesses(scene: &Scene<'_>) -> Vec<Access> {
    match scene.pass {
        Pass::Gmem => colours(scene.regs).chain(depth(scene.regs)).chain(stencil(scene.regs)).collect(),
        // A restore writes the surface as a colour, whatever its kind.
        Pass::Restore => {
            let base = scene.regs.at::<RB_MRT_BASE>(0).VALUE();
            vec![Access { base, name: "restored surface", reads: false, writes: true }]
        }
        Pass::Binning | Pass::Bypass | Pass::Resolve => Vec::new(),
    }
}

fn colours(regs: &RegFile) -> impl Iterator<Item = Access> {
    let components = regs.get::<RB_RENDER_COMPONENTS>();
    (0..TARGETS).filter(move |i| components.target(*i) != 0).map(|i| {
        let control = regs.at::<RB_MRT_CONTROL>(i);
        let mask = control.COMPONENT_ENABLE();
        let reads = mask != 0 && (control.BLEND() || mask != ALL);
        Access { base: regs.at::<RB_MRT_BASE>(i).VALUE(), name: "colour", reads, writes: mask != 0 }
    })
}

fn depth(regs: &RegFile) -> Option<Access> {
    let (control, info) = (regs.get::<RB_DEPTH_CONTROL>(), regs.get::<RB_DEPTH_INFO>());
    let tests = control.Z_TEST_ENABLE() && info.DEPTH_FORMAT() != DepthFormat::DEPTH4_NONE;
    let trivial = matches!(control.ZFUNC(), CompareFunc::FUNC_ALWAYS | CompareFunc::FUNC_NEVER);
    tests.then(|| Access {
        base: info.DEPTH_BASE(),
        name: "depth",
        reads: !trivial,
        writes: control.Z_WRITE_ENABLE(),
    })
}

fn stencil(regs: &RegFile) -> Option<Access> {
    let (control, apart) = (regs.get::<RB_STENCIL_CONTROL>(), regs.get::<RB_STENCIL_INFO>());
    let base = if apart.SEPARATE_STENCIL() {
        apart.STENCIL_BASE()
    } else {
        regs.get::<RB_DEPTH_INFO>().DEPTH_BASE()
    };
    let reads = !matches!(control.FUNC(), CompareFunc::FUNC_ALWAYS | CompareFunc::FUNC_NEVER);
    control.STENCIL_ENABLE().then_some(Access { base, name: "stencil", reads, writes: true })
}
