//! `--model`: the board or the specification, where the two differ.

use clap::ValueEnum;

/// Whose behaviour is asked for where a real board does otherwise than OpenGL says.
///
/// What differs, with the evidence, is in docs/hardware/board-a420.md, sections 3 and 4: the rules that
/// a driver can see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Model {
    /// That of an A420 board, as far as its results show it
    #[default]
    Board,
    /// What OpenGL says
    StrictGl,
}

impl Model {
    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::from_str(name, false).ok()
    }

    /// As the option has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Board => "board",
            Self::StrictGl => "strict-gl",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_option() {
        for model in Model::value_variants() {
            assert_eq!(Model::named(model.name()), Some(*model));
        }
        assert_eq!(Model::named("gl"), None);
    }
}
