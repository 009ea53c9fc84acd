//! Passes of the driver's rendering scheme.

use std::array::IntoIter;
use std::fmt;
use std::iter::Flatten;

use crate::machine::Stage;

/// The stages of a draw, in order.
pub type Stages = Flatten<IntoIter<Option<Stage>, 5>>;

/// The pass of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pass {
    /// Sorts primitives into bins; writes no pixels.
    Binning,
    /// Renders into tile memory.
    Gmem,
    /// Renders into system memory.
    Bypass,
    /// Copies tile memory to system memory.
    Resolve,
    /// Copies system memory to tile memory.
    Restore,
}

impl Pass {
    /// All passes.
    pub const ALL: [Self; 5] = [Self::Binning, Self::Gmem, Self::Bypass, Self::Resolve, Self::Restore];

    /// Whether a draw of this pass runs `stage`, if the draw has it. Binning and resolve passes run no fragment shader, no
    /// tessellation and no geometry shader.
    pub const fn runs(self, stage: Stage) -> bool {
        match stage {
            Stage::VS => true,
            Stage::HS | Stage::DS | Stage::GS | Stage::FS => !matches!(self, Self::Binning | Self::Resolve),
            Stage::CS => false,
        }
    }

    /// The name in the output of `decode` and `replay`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Binning => "binning",
            Self::Gmem => "gmem",
            Self::Bypass => "bypass",
            Self::Resolve => "resolve",
            Self::Restore => "restore",
        }
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
