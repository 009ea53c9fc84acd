//! `--model`: the board or the specification, where the two differ.

/// Whose behaviour is asked for where a real board does otherwise than OpenGL says.
///
/// What differs, with the evidence, is in docs/hardware/board-a420.md, sections 3 and 4: the rules that
/// a driver can see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// That of an A420 board, as far as its results show it
    #[default]
    Board,
    /// What OpenGL says
    StrictGl,
}

impl Model {
    /// All there are.
    pub const ALL: [Self; 2] = [Self::Board, Self::StrictGl];

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|model| model.name() == name)
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
        for model in Model::ALL {
            assert_eq!(Model::named(model.name()), Some(model));
        }
        assert_eq!(Model::named("gl"), None);
    }
}
