//! Checks M9: memory that draws of a batch write in different ways.

use a4emu_decoder::a4xx::regs::rb::{RB_RENDER_COMPONENTS, TARGETS};

use crate::rules::Id;
use crate::state::{Extent, Scene, Violations};
use a4emu_gpu::a4xx::vpc::feedback;
use a4emu_gpu::draw::vpc::state::FeedbackState;
use a4emu_gpu::pass::Pass;
use a4emu_gpu::regfile::RegFile;

/// Maximum number of ranges per batch.
const MAX_RANGES: usize = 256;

/// A way of writing memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Writer {
    Resolve,
    Target,
    Store,
    Feedback,
}

impl Writer {
    const fn name(self) -> &'static str {
        match self {
            Self::Resolve => "a resolve",
            Self::Target => "a colour target",
            Self::Store => "a shader's store",
            Self::Feedback => "transform feedback",
        }
    }
}

/// The ranges that draws and dispatches of this batch may have written.
#[derive(Default)]
pub struct Writers(Vec<(Writer, Extent)>);

impl Writers {
    /// Checks a draw or dispatch that is about to run.
    pub fn call(&mut self, scene: &Scene<'_>, violations: &mut Violations) {
        for (writer, extent) in written(scene) {
            if self.0.contains(&(writer, extent)) {
                continue;
            }
            let other = self.0.iter().find(|(other, range)| *other != writer && range.meets(extent));
            if let Some((other, _)) = other {
                let (name, other, base) = (writer.name(), other.name(), extent.base);
                violations.report(Id::M9, format!("{name} and {other} write to {base:#010x} in one batch"));
            }
            if self.0.len() < MAX_RANGES {
                self.0.push((writer, extent));
            }
        }
    }
}

fn written(scene: &Scene<'_>) -> Vec<(Writer, Extent)> {
    let regs = scene.regs;
    let drawn: Vec<(Writer, Extent)> = match scene.pass {
        Pass::Resolve => {
            Extent::of_resolve(regs).map(|extent| (Writer::Resolve, extent)).into_iter().collect()
        }
        Pass::Bypass if !scene.is_dispatch() => targets(regs),
        _ => Vec::new(),
    };
    let stores = scene.programs.iter().flat_map(|checked| {
        let stage = checked.program.stage;
        checked.facts.stored.iter().filter_map(move |slot| Extent::of_storage(scene, stage, *slot))
    });
    let feedback = feedback(scene.gpu.view()).filter(|_| !scene.is_dispatch());
    let filled = feedback.iter().flat_map(FeedbackState::ranges);
    let filled = filled.filter_map(|(base, bytes)| {
        Some((Writer::Feedback, Extent { base: base.narrow()?, bytes: bytes.into() }))
    });
    drawn.into_iter().chain(stores.map(|extent| (Writer::Store, extent))).chain(filled).collect()
}

fn targets(regs: &RegFile) -> Vec<(Writer, Extent)> {
    let components = regs.get::<RB_RENDER_COMPONENTS>();
    let rendered = (0..TARGETS).filter(|i| components.target(*i) != 0);
    rendered.filter_map(|i| Some((Writer::Target, Extent::of_target(regs, i)?))).collect()
}
