//! The registers and constants of a lane, as scopes and variables of the protocol.

use serde_json::{Value, json};

use crate::debug::scalar::Scalar;
use crate::debug::session::Session;
use a4emu_shader::LANES;

/// A group of variables of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Full registers that the program names.
    Registers,
    /// Half registers that the program names.
    Half,
    /// Constants up to the last one that is not zero.
    Constants,
    /// a0.x and p0.
    Predicates,
    /// Initial values of the program's input registers.
    Inputs,
}

/// The scopes, in the order of the display.
const SCOPES: [(Scope, &str); 5] = [
    (Scope::Registers, "Registers"),
    (Scope::Half, "Half registers"),
    (Scope::Constants, "Constants"),
    (Scope::Predicates, "Predicates and address"),
    (Scope::Inputs, "Inputs"),
];

/// The scopes of `lane`.
pub fn scopes(lane: usize) -> Vec<Value> {
    let scope = |(index, (scope, name)): (usize, &(Scope, &str))| {
        let mut value = json!({
            "name": name, "expensive": false, "variablesReference": lane * SCOPES.len() + index + 1,
        });
        if *scope == Scope::Registers {
            value["presentationHint"] = "registers".into();
        }
        value
    };
    SCOPES.iter().enumerate().map(scope).collect()
}

/// The lane and the scope of a reference.
pub fn resolve(reference: u64) -> Option<(usize, Scope)> {
    let index = usize::try_from(reference.checked_sub(1)?).ok()?;
    let lane = index / SCOPES.len();
    (lane < LANES).then(|| (lane, SCOPES[index % SCOPES.len()].0))
}

/// The variables of a scope.
pub fn variables(session: &Session<'_>, lane: usize, scope: Scope) -> Vec<Value> {
    let [full, half] = session.program().vec4s();
    let scalars: Vec<Scalar> = match scope {
        Scope::Registers => (0..4 * full).map(Scalar::Full).collect(),
        Scope::Half => (0..4 * half).map(Scalar::Half).collect(),
        Scope::Constants => {
            let last = session.warp().constants().iter().rposition(|word| *word != 0);
            (0..last.map_or(0, |last| last as u32 + 1)).map(Scalar::Constant).collect()
        }
        Scope::Predicates => [Scalar::Address].into_iter().chain((0..4).map(Scalar::Predicate)).collect(),
        Scope::Inputs => {
            let inputs = session.inputs(lane);
            return inputs.into_iter().map(|(scalar, bits)| variable(scalar, bits)).collect();
        }
    };
    scalars.into_iter().map(|scalar| variable(scalar, session.value(scalar, lane))).collect()
}

fn variable(scalar: Scalar, bits: u32) -> Value {
    let name = scalar.to_string();
    let mut variable =
        json!({ "name": name, "value": scalar.text(bits), "evaluateName": name, "variablesReference": 0 });
    // A value of 32 bits may be an address, of which a client can show the memory.
    if matches!(scalar, Scalar::Full(_) | Scalar::Constant(_)) {
        variable["memoryReference"] = format!("{bits:#x}").into();
    }
    variable
}
