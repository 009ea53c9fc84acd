//! How the invocations of geometry shaders are laid on the 32 lanes.
//!
//! The three modes are those of Intel's i965 driver (docs/hardware/geometry-and-tessellation.md,
//! section 4), there for two halves of a vec4 register, here for two halves of a warp: a geometry shader
//! seldom makes 32 vertices, so one invocation leaves lanes idle that a second can use.
//! Nothing of it can be seen in what is drawn, fed back or stored.
//!
//! The budget: a warp has the 48 vec4 registers that an ir3 program can name (r0 to r47,
//! [`REGISTERS`] / 4), and each of two objects wants the shader's own footprint. What does not
//! fit would live in private memory. This executor has a row of 32 words for every register
//! whatever the mode, so a spill is counted, as what a machine with that budget would have to
//! move, and costs nothing.
//!
//! [`REGISTERS`]: a4emu_shader
use serde::Serialize;

use a4emu_shader::LANES;

/// Vec4 registers of a warp.
pub const BUDGET: u32 = 48;

/// Input components of a vertex that the dual modes take: the limit of the i965 note, and
/// the least that OpenGL asks for.
pub const MAX_INPUTS: usize = 64;

/// Invocations in a warp at most.
pub const SUBWARPS: usize = 2;

/// What is laid on a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// One invocation of one primitive.
    Single,
    /// Two invocations of one primitive.
    DualInstanced,
    /// Two invocations of any primitives.
    DualObject,
}

/// What `--gs-dispatch` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Setting {
    /// What suits the shader
    #[default]
    Auto,
    /// One invocation in a warp
    Single,
    /// Two invocations of one primitive in a warp
    DualInstanced,
    /// Two invocations of any primitives in a warp
    DualObject,
}

/// Why a mode was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// It was asked for.
    Asked,
    /// The registers of two objects fit.
    Fits,
    /// They do not: two instances share their inputs, and may spill.
    RegistersExceedBudget,
    /// More than 64 input components: the dual modes refuse.
    InputsExceedLimit,
    /// The shader stores to memory that other runs see, so that none may come before another's kill is known.
    StoresInOrder,
}

/// What a shader needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Vec4 registers.
    pub registers: u32,
    /// Varying components of an input vertex.
    pub inputs: usize,
    /// Whether it stores, be it to local memory: only private memory is seen by nobody else.
    pub stores: bool,
}

/// A mode, and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The mode.
    pub mode: Mode,
    /// Its reason.
    pub why: Why,
    /// Invocations in a warp.
    pub subwarps: usize,
    /// Lanes of each.
    pub lanes: usize,
    /// Vec4 registers beyond the budget, in a warp.
    pub spills: u32,
}

impl Choice {
    /// The mode for a shader, given what was asked for.
    pub fn new(setting: Setting, demand: &Demand) -> Self {
        let fits = 2 * demand.registers <= BUDGET;
        let (mode, why) = match setting {
            _ if demand.stores => (Mode::Single, Why::StoresInOrder),
            Setting::Single => (Mode::Single, Why::Asked),
            _ if demand.inputs > MAX_INPUTS => (Mode::Single, Why::InputsExceedLimit),
            Setting::DualInstanced => (Mode::DualInstanced, Why::Asked),
            Setting::DualObject => (Mode::DualObject, Why::Asked),
            Setting::Auto if fits => (Mode::DualObject, Why::Fits),
            Setting::Auto => (Mode::DualInstanced, Why::RegistersExceedBudget),
        };
        let subwarps = if mode == Mode::Single { 1 } else { SUBWARPS };
        let lanes = if demand.stores { 1 } else { LANES / subwarps };
        let spills = (subwarps as u32 * demand.registers).saturating_sub(BUDGET);
        Self { mode, why, subwarps, lanes, spills }
    }

    /// What there is to say when a mode that was asked for is not used.
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

    const SMALL: Demand = Demand { registers: 8, inputs: 12, stores: false };

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
    fn stores_keep_runs_in_order() {
        let storing = Demand { stores: true, ..SMALL };
        let choice = Choice::new(Setting::DualObject, &storing);
        assert_eq!((choice.mode, choice.subwarps, choice.lanes), (Mode::Single, 1, 1));
    }
}
