//! Assignment of geometry shader invocations to the 32 lanes of a warp.
//!
//! Three modes are those of Intel's i965 driver (docs/hardware/geometry-and-tessellation.md, section 4).
//! There they fill two halves of a vec4 register, here two halves of a warp. A geometry shader seldom makes
//! 32 vertices, so a second invocation can use the idle lanes. The fourth mode packs more than two where an
//! invocation makes at most ten. The mode has no effect on what is drawn, fed back or stored.
//!
//! Budget: a warp has the 48 vec4 registers that an ir3 program can name (r0 to r47, [`REGISTERS`] / 4). Each
//! half of a warp needs the shader's full footprint. Registers beyond that would be in private memory. This
//! emulator has a row of 32 words for every register in any mode. So a spill only counts what a machine with
//! that budget would have to move, and costs nothing.
//!
//! [`REGISTERS`]: a4emu_shader
use serde::Serialize;

use a4emu_shader::LANES;

/// Vec4 registers of a warp.
pub const BUDGET: u32 = 48;

/// Maximum number of input components of a vertex in the dual modes: the limit of the i965 note, and the
/// minimum that OpenGL requires.
pub const MAX_INPUTS: usize = 64;

/// Maximum number of invocations in a warp.
pub const SUBWARPS: usize = 8;

/// Invocations in a warp of the dual modes.
const DUAL: usize = 2;

/// Dispatch mode: contents of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// One invocation of one primitive.
    Single,
    /// Two invocations of one primitive.
    DualInstanced,
    /// Two invocations of any primitives.
    DualObject,
    /// Three to eight invocations of any primitives, with lanes for all of their vertices.
    Packed,
}

impl Mode {
    /// Whether invocations of different primitives share a warp.
    pub fn mixes_primitives(self) -> bool {
        matches!(self, Self::DualObject | Self::Packed)
    }
}

/// Setting of `--gs-dispatch`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Setting {
    /// The mode that suits the shader
    #[default]
    Auto,
    /// One invocation in a warp
    Single,
    /// Two invocations of one primitive in a warp
    DualInstanced,
    /// Two invocations of any primitives in a warp
    DualObject,
}

impl Setting {
    /// All settings. The last one chooses one of the others for each draw.
    pub const ALL: [Self; 4] = [Self::Single, Self::DualInstanced, Self::DualObject, Self::Auto];

    /// The name in the option.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Single => "single",
            Self::DualInstanced => "dual-instanced",
            Self::DualObject => "dual-object",
        }
    }
}

/// Reason for a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The setting requires it.
    Asked,
    /// Registers of two objects fit into the budget.
    Fits,
    /// Registers of two objects fit into the budget, and an invocation makes so few vertices that three or more
    /// have lanes.
    FewVertices,
    /// Registers of two objects exceed the budget. Two instances share their inputs, and may spill.
    RegistersExceedBudget,
    /// The vertices have more than 64 input components, which the dual modes do not support.
    InputsExceedLimit,
    /// The shader stores to shared memory, so no run may start before earlier kills are known.
    StoresInOrder,
}

/// Resources that a shader needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Vec4 registers.
    pub registers: u32,
    /// Varying components of an input vertex.
    pub inputs: usize,
    /// Maximum number of vertices of an invocation.
    pub vertices: u32,
    /// Whether it stores to global or local memory. Private memory does not count, because no other lane sees
    /// it.
    pub stores: bool,
}

/// A mode with the values that follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The mode.
    pub mode: Mode,
    /// Reason for the mode.
    pub why: Why,
    /// Invocations in a warp.
    pub subwarps: usize,
    /// Lanes of each invocation.
    pub lanes: usize,
    /// Vec4 registers of a warp beyond the budget.
    pub spills: u32,
}

impl Choice {
    /// Selects the mode for a shader and a setting.
    pub fn new(setting: Setting, demand: &Demand) -> Self {
        let fits = 2 * demand.registers <= BUDGET;
        let packed = (LANES / (demand.vertices as usize).clamp(1, LANES)).min(SUBWARPS);
        let (mode, why) = match setting {
            _ if demand.stores => (Mode::Single, Why::StoresInOrder),
            Setting::Single => (Mode::Single, Why::Asked),
            _ if demand.inputs > MAX_INPUTS => (Mode::Single, Why::InputsExceedLimit),
            Setting::DualInstanced => (Mode::DualInstanced, Why::Asked),
            Setting::DualObject => (Mode::DualObject, Why::Asked),
            Setting::Auto if fits && packed > DUAL => (Mode::Packed, Why::FewVertices),
            Setting::Auto if fits => (Mode::DualObject, Why::Fits),
            Setting::Auto => (Mode::DualInstanced, Why::RegistersExceedBudget),
        };
        let subwarps = match mode {
            Mode::Single => 1,
            Mode::DualInstanced | Mode::DualObject => DUAL,
            Mode::Packed => packed,
        };
        let lanes = if demand.stores { 1 } else { LANES / subwarps };
        let objects = subwarps.min(DUAL) as u32;
        let spills = (objects * demand.registers).saturating_sub(BUDGET);
        Self { mode, why, subwarps, lanes, spills }
    }

    /// Returns a message when the mode that the setting requires is not used.
    pub fn refusal(&self, setting: Setting, demand: &Demand) -> Option<String> {
        let asked = matches!(setting, Setting::DualInstanced | Setting::DualObject);
        (asked && self.why == Why::InputsExceedLimit).then(|| {
            let inputs = demand.inputs;
            format!("dual dispatch of {inputs} input components, more than {MAX_INPUTS} (ran single)")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Demand = Demand { registers: 8, inputs: 12, vertices: 16, stores: false };

    fn choose(setting: Setting, demand: Demand) -> (Mode, Why) {
        let choice = Choice::new(setting, &demand);
        (choice.mode, choice.why)
    }

    #[test]
    fn two_objects_run_together_while_their_registers_fit() {
        assert_eq!(choose(Setting::Auto, SMALL), (Mode::DualObject, Why::Fits));
        let full = Demand { registers: 24, ..SMALL };
        assert_eq!(choose(Setting::Auto, full), (Mode::DualObject, Why::Fits));
        let more = Demand { registers: 25, ..SMALL };
        assert_eq!(choose(Setting::Auto, more), (Mode::DualInstanced, Why::RegistersExceedBudget));
        assert_eq!(Choice::new(Setting::Auto, &more).spills, 2);
        assert_eq!(Choice::new(Setting::Single, &more).spills, 0);
    }

    #[test]
    fn many_inputs_are_refused_for_the_dual_modes_only() {
        let wide = Demand { inputs: 65, ..SMALL };
        for setting in [Setting::Auto, Setting::DualInstanced, Setting::DualObject] {
            assert_eq!(choose(setting, wide), (Mode::Single, Why::InputsExceedLimit));
        }
        assert_eq!(choose(Setting::Single, wide), (Mode::Single, Why::Asked));
        let choice = Choice::new(Setting::DualObject, &wide);
        let message = choice.refusal(Setting::DualObject, &wide).expect("refused");
        assert!(message.contains("65 input components, more than 64"), "{message}");
        assert_eq!(choice.refusal(Setting::Auto, &wide), None);
    }

    #[test]
    fn few_vertices_leave_lanes_for_more_than_two() {
        let shape = |vertices| {
            let Choice { mode, subwarps, lanes, spills, .. } =
                Choice::new(Setting::Auto, &Demand { vertices, ..SMALL });
            (mode, subwarps, lanes, spills)
        };
        assert_eq!(shape(1), (Mode::Packed, 8, 4, 0));
        assert_eq!(shape(4), (Mode::Packed, 8, 4, 0));
        assert_eq!(shape(5), (Mode::Packed, 6, 5, 0));
        assert_eq!(shape(10), (Mode::Packed, 3, 10, 0));
        assert_eq!(shape(11), (Mode::DualObject, 2, 16, 0));
        assert_eq!(shape(1024), (Mode::DualObject, 2, 16, 0));
        let few = Demand { vertices: 3, ..SMALL };
        assert_eq!(choose(Setting::Auto, few), (Mode::Packed, Why::FewVertices));
        assert_eq!(choose(Setting::DualObject, few), (Mode::DualObject, Why::Asked));
        let more = Demand { registers: 25, ..few };
        assert_eq!(choose(Setting::Auto, more), (Mode::DualInstanced, Why::RegistersExceedBudget));
    }

    #[test]
    fn stores_keep_runs_in_order() {
        let storing = Demand { stores: true, ..SMALL };
        let choice = Choice::new(Setting::DualObject, &storing);
        assert_eq!((choice.mode, choice.subwarps, choice.lanes), (Mode::Single, 1, 1));
    }
}
