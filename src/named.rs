//! Options whose values are names of types in the lower crates, which do not depend on clap.

use anstream::ColorChoice;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use a4emu_gpu::draw::gs::dispatch::Setting;
use a4emu_gpu::gpu::Model;
use a4emu_inspect::decode::{Format, QueryMode};
use a4emu_inspect::describe::mesh::Side;
use a4emu_inspect::describe::stages::Part;
use a4emu_shader::Jit;

/// A parser of values by name. Each value has its own help text.
fn parser<T: Copy + Send + Sync + 'static>(
    values: &'static [(&'static str, T, &'static str)],
) -> impl TypedValueParser<Value = T> {
    let possible = values.iter().map(|(name, _, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(possible.collect::<Vec<_>>()).map(move |given| {
        let found = values.iter().find(|(name, ..)| *name == given);
        found.expect("the parser takes nothing else").1
    })
}

/// The parser of `--model`.
pub fn model() -> impl TypedValueParser<Value = Model> {
    parser(&[
        ("board", Model::Board, "That of an A420 board, as far as its results show it"),
        ("strict-gl", Model::StrictGl, "That of the specification"),
    ])
}

/// The parser of `--jit`.
pub fn jit() -> impl TypedValueParser<Value = Jit> {
    parser(&[
        ("off", Jit::Off, "None: the interpreter runs all"),
        ("on", Jit::On, "All, before they run"),
        ("avx2", Jit::Avx2, "As on, for AVX2 also where AVX-512 would be used: to compare both"),
        ("auto", Jit::Auto, "Shaders that run often"),
    ])
}

/// The parser of `--color`.
pub fn color() -> impl TypedValueParser<Value = ColorChoice> {
    parser(&[
        ("auto", ColorChoice::Auto, "On a terminal, unless `NO_COLOR` says otherwise"),
        ("always", ColorChoice::AlwaysAnsi, "Also into a file or pipe"),
        ("never", ColorChoice::Never, "Never"),
    ])
}

/// The parser of `decode --format`.
pub fn decode_format() -> impl TypedValueParser<Value = Format> {
    parser(&[
        ("text", Format::Text, "For people"),
        ("jsonl", Format::Jsonl, "One JSON object a line, in execution order"),
        ("summary", Format::Summary, "What changed from draw to draw"),
    ])
}

/// The parser of `decode --query-mode`.
pub fn query_mode() -> impl TypedValueParser<Value = QueryMode> {
    parser(&[
        ("all", QueryMode::All, "Every draw"),
        ("written", QueryMode::Written, "Draws before which the register was written"),
        ("delta", QueryMode::Delta, "Draws before which its value changed"),
        (
            "values",
            QueryMode::Values,
            "Each value once, with the number of its draws, the first and the last",
        ),
    ])
}

/// The parser of the option of `show` that selects vertices.
pub fn side() -> impl TypedValueParser<Value = Side> {
    parser(&[
        ("inputs", Side::Inputs, "As they are fetched"),
        ("outputs", Side::Outputs, "As they reach the rasteriser"),
        (
            "vs",
            Side::Stage(Part::Vs),
            "Of a draw with further stages: as the vertex shader takes and makes them",
        ),
        ("hs-inputs", Side::Stage(Part::HsInputs), "Those of the patches that the hull shader takes"),
        ("hs", Side::Stage(Part::Hs), "What each invocation of the hull shader stores"),
        ("factors", Side::Stage(Part::Factors), "The tessellation factors of each patch"),
        ("ds", Side::Stage(Part::Ds), "The points that the domain shader takes, and what it makes of them"),
        ("gs-inputs", Side::Stage(Part::GsInputs), "Those of the primitives that the geometry shader takes"),
        ("gs", Side::Stage(Part::Gs), "Those that the geometry shader makes, with their primitive words"),
    ])
}

/// A value of `--gs-dispatch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GsDispatch {
    /// Run with this setting.
    One(Setting),
    /// Run with each setting, and compare the costs.
    Compare,
}

/// The parser of `--gs-dispatch`.
pub fn gs_dispatch() -> impl TypedValueParser<Value = GsDispatch> {
    parser(&[
        ("auto", GsDispatch::One(Setting::Auto), "Chosen for each shader"),
        ("single", GsDispatch::One(Setting::Single), "One invocation in a warp"),
        (
            "dual-instanced",
            GsDispatch::One(Setting::DualInstanced),
            "Two invocations of one primitive in a warp",
        ),
        ("dual-object", GsDispatch::One(Setting::DualObject), "Two invocations of any primitives in a warp"),
        ("compare", GsDispatch::Compare, "Run with each, and print a table of what they cost"),
    ])
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn every_value_has_its_name() {
        let command = clap::Command::new("x");
        for value in Model::ALL {
            assert_eq!(model().parse_ref(&command, None, OsStr::new(value.name())).unwrap(), value);
        }
        for value in Setting::ALL {
            let parsed = gs_dispatch().parse_ref(&command, None, OsStr::new(value.name()));
            assert_eq!(parsed.unwrap(), GsDispatch::One(value));
        }
        for value in Jit::ALL {
            assert_eq!(jit().parse_ref(&command, None, OsStr::new(value.name())).unwrap(), value);
        }
    }
}
